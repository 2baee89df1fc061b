"""One search: queries, targets, who judges the scores, engines and other programs."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial, reduce
from typing import Any, ClassVar

import numpy as np

from bench import generated, rivals
from bench.measure import Check, Measurement, Spread, both, compare
from bench.programs import Parasail, ParasailPairs, Scores
from bench.work.base import (
    Case,
    Entry,
    Run,
    Setup,
    Told,
    Workload,
    estimated,
    facts_of,
    portion,
    rival_cases,
)
from glsw.batch import Batch
from glsw.engines import Engine, Reference
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

BLOSUM = Scoring.named("BLOSUM62", 12, 1)
MEAN = 361
"""Letters of a target with Swiss-Prot's lengths."""


def judge(scoring: Scoring, batch: Batch) -> tuple[str, Scores]:
    """Return who judges these pairs of one query, parasail or the reference, and its scores."""
    if Parasail.available(scoring):
        program = Parasail(scoring, in_32_bits=True)
        return program.name, program.scores_of(batch)
    if ParasailPairs.available(scoring):
        pairs = ParasailPairs(scoring)
        return pairs.name, pairs.scores_of(batch)
    return Reference.name, Reference(scoring).scores(batch)


class ScoreJudge:
    """Judges the scores of a query: a sample by parasail, the rest by the first engine.

    The sample has evenly spaced targets, the longest, the shortest, and those that are planted.

    Attributes
    ----------
    scores : ndarray of int32, shape (targets,), or None
        Those of the first engine whose sample was right.
    """

    def __init__(self, scoring: Scoring, batch: Batch, planted: Any, cells: float) -> None:
        ends = [0, len(batch) - 1]
        self.chosen = np.unique(np.concatenate([portion(batch, cells), ends, planted]))
        self.chosen = self.chosen.astype(np.intp)
        self.batch = batch
        self.name, self.expected = judge(scoring, batch.select(self.chosen))
        self.scores: Scores | None = None
        self.first = ""

    def check(self, scores: Scores, engine: str) -> Check:
        found = compare(scores[self.chosen], self.expected, self.name)
        if self.scores is None:
            if found.passed:
                self.scores, self.first = scores, engine
            return found
        other = "its first run" if engine == self.first else self.first
        return both(found, compare(scores, self.scores, other))

    def cut(self, cells: float) -> tuple[Batch, Scores]:
        if self.scores is None:
            return self.batch.select(self.chosen), self.expected
        chosen = portion(self.batch, cells)
        return self.batch.select(chosen), self.scores[chosen]


class Database:
    """Queries and targets of one search, who judges them, and the engine that was used last.

    Parameters
    ----------
    lengths : sequence of int
        Of the queries; a relative of each is planted among the targets.
    count, mean : int
        Of the targets; ``length`` is that of all of them, None for Swiss-Prot's lengths.
    sample : float
        Cells of each query that are judged by other programs.
    """

    def __init__(
        self,
        setup: Setup,
        scoring: Scoring,
        lengths: Sequence[int],
        count: int,
        length: int | None,
        sample: float = 3e7,
    ) -> None:
        self.setup, self.scoring, self.lengths = setup, scoring, list(lengths)
        self.count, self.length, self.sample = count, length, sample
        self._judges: dict[int, ScoreJudge] = {}
        self._engine: tuple[Entry, Engine] | None = None
        self.rates: dict[str, float] = {}
        self._asked: set[tuple[str, tuple[int, ...]]] = set()

    @cached_property
    def queries(self) -> Sequences:
        return generated.queries(self.lengths)

    @cached_property
    def targets(self) -> Sequences:
        self.planted = np.empty(0, np.intp)
        if self.length is None:
            made = generated.many(generated.swissprot_lengths(self.count))
        else:
            made = generated.many(np.full(self.count, self.length))
        self.planted = generated.plant(made, self.queries)
        return made

    @property
    def mean(self) -> int:
        return self.length or MEAN

    def cells(self, queries: Sequence[int]) -> int:
        return sum(self.lengths[q] for q in queries) * len(self.targets.residues)

    def judge(self, q: int) -> ScoreJudge:
        if q not in self._judges:
            batch = Batch.one_to_many(self.queries[q], self.targets)
            self._judges[q] = ScoreJudge(self.scoring, batch, self.planted, self.sample)
        return self._judges[q]

    def fields(self, queries: Sequence[int]) -> dict[str, Any]:
        many = f"{len(queries)} queries" if len(queries) > 1 else None
        sizes = (sum(self.lengths[q] for q in queries), self.mean)
        return {"sizes": sizes, "count": self.count, "options": many}

    def engine(self, entry: Entry) -> Engine:
        if self._engine is None or self._engine[0] != entry:
            self._engine = None
            gc.collect()
            self._engine = entry, entry.made(self.scoring, self.setup.device)
        return self._engine[1]

    def start(self, entry: Entry, queries: Sequence[int], seconds: float) -> Run:
        engine = self.engine(entry)
        some = Sequences.of([self.queries[q] for q in queries])
        targets = self.targets
        parts = [targets.part(part) for part in targets.parts(engine.part)]
        judges = [self.judge(q) for q in queries]
        first: list[float] = []

        def run() -> Scores:
            start = time.perf_counter()
            found = list(engine.scan(some, parts))
            first.append(time.perf_counter() - start)
            return found[0] if len(found) == 1 else np.concatenate(found, axis=1)

        def check(found: Scores) -> Check:
            each = (one.check(row, entry.label) for one, row in zip(judges, found, strict=True))
            return reduce(both, each)

        def part(cells: float) -> tuple[Any, int]:
            batch = judges[0].batch
            batch = batch.select(portion(batch, cells))
            return partial(engine.scores, batch), batch.cells * len(some)

        cells = self.cells(queries)
        facts = facts_of(engine)
        return Run(
            *(run, check, cells),
            estimate=None
            if any(each.scores is not None for each in judges) and entry.engine == "lanes"
            else estimated(part, cells),
            facts=lambda: {"setup": first[0], **facts()},
        )

    def drop(self) -> None:
        self._engine = None
        gc.collect()

    @cached_property
    def cudasw4(self) -> rivals.Cudasw4:
        self.drop()
        path = self.setup.rivals["CUDASW++4.0"]
        return rivals.Cudasw4(path, self.scoring, self.queries, self.targets, self.setup.folder)

    def told(self, kind: str, queries: Sequence[int], seconds: float) -> Told:
        if (kind, tuple(queries)) in self._asked:  # another pass
            self._asked = {each for each in self._asked if each[0] != kind}
            self.cudasw4.forget(kind)
        self._asked.add((kind, tuple(queries)))
        scans = self.cudasw4.scans(kind)
        checks, seconds_, low, high = [], 0.0, 0.0, 0.0
        for q in queries:
            scores = self.judge(q).scores
            if scores is None:
                raise ValueError("not judged: no engine has the scores of all targets")
            checks.append(self.cudasw4.check(q, scans[q].scores, scores))
            seconds_ += scans[q].seconds.median
            low, high = low + scans[q].seconds.minimum, high + scans[q].seconds.maximum
        repeats = scans[0].seconds.repeats
        wall = Spread(seconds_, low, high, (high - low) / seconds_, repeats)
        check = reduce(both, checks)
        cells = self.cells(queries)
        return Told(Measurement(check, cells, wall if check.passed else None))

    def cases_of_cudasw4(self, groups: Iterable[Sequence[int]], **fields: Any) -> Iterator[Case]:
        """Yield the scans of CUDASW++4.0 by its own clock, for groups of queries."""
        if "CUDASW++4.0" not in self.setup.rivals:
            return
        for kind in rivals.Cudasw4.kinds:
            for queries in groups:
                start = partial(self.told, kind, queries)
                yield Case(
                    *(f"CUDASW++4.0 {kind}", start),
                    ours=False,
                    grace=300.0,
                    **self.fields(queries) | fields,
                )


class Searching(Workload):
    """A search: engines, and other programs, with databases."""

    scoring: ClassVar[Scoring] = BLOSUM
    scoring_name: ClassVar[str] = "BLOSUM62, gaps 12, 1"

    def engine_cases(
        self, base: Database, entries: Iterable[Entry], groups: Sequence[Sequence[int]]
    ) -> Iterator[Case]:
        for entry in entries:
            if self.setup.wants(entry.engine):
                for queries in groups:
                    start = partial(base.start, entry, queries)
                    fields = base.fields(queries) | {"scoring": self.scoring_name}
                    yield entry.case(self.device, start, **fields)

    def rival_cases(
        self, base: Database, queries: Iterable[int], *, slow: bool = False
    ) -> Iterator[Case]:
        for q in queries:
            found = rivals.searching(self.setup.rivals, self.scoring, self.setup.cores, slow=slow)
            yield from rival_cases(
                found,
                lambda cells, q=q: base.judge(q).cut(cells),  # type: ignore[misc]
                lambda q=q: base.cells([q]),  # type: ignore[misc]
                lambda q=q: base.judge(q).first or base.judge(q).name,  # type: ignore[misc]
                base.rates,
                scoring=self.scoring_name,
                **base.fields([q]),
            )
