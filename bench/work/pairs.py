"""Pairs: many short ones (the engines' and Aymone's), and the layout of the engine fragment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from bench import generated, rivals
from bench.measure import Check, both, compare
from bench.programs import Parasail, ParasailPairs, Scores
from bench.work.base import (
    Case,
    Entry,
    Run,
    Workload,
    cells_of,
    engines_for,
    estimated,
    facts_of,
    portion,
    rival_cases,
)
from bench.work.judges import once, path_scores
from glsw.batch import Batch
from glsw.engines import Diagonal, Reference
from glsw.engines.fragment import Fragment
from glsw.paths import Ends, Paths
from glsw.scoring.scoring import Scoring
from glsw.traceback import trace

LENGTH = 512
PAPERS = Scoring.match_mismatch(1, -1, 2, 2)


class Pairs(Workload):
    """Short pairs of unrelated DNA: scores and ends, by all engines."""

    name, weight = "pairs", 12
    text = "{count:,} pairs of DNA, {0:,} x {1:,}: scores and ends"
    counts: ClassVar = {"tiny": 2, "small": 100, "medium": 1000, "large": 4096}
    scoring_name = "DNA 1/-1, gaps 2, 2"

    @cached_property
    def batch(self) -> Batch:
        count = self.setup.chosen(self.counts)
        sides = (generated.dna([LENGTH] * count, seed) for seed in (LENGTH, LENGTH + 1))
        return Batch.pairwise(*sides)

    @cached_property
    def judged(self) -> tuple[Any, Any]:
        chosen = portion(self.batch, 1.5e6)
        return chosen, cells_of(Reference(PAPERS).ends(self.batch.select(chosen)))

    def cases(self) -> Iterator[Case]:
        count = self.setup.chosen(self.counts)
        fields: dict[str, Any] = {"scoring": self.scoring_name, "sizes": (LENGTH, LENGTH)}
        fields["count"] = count
        self._scores: Scores | None = None
        self._first = "reference"
        for entry in engines_for("pairs"):
            if self.setup.wants(entry.engine):
                yield entry.case(self.device, partial(self._start, entry), task="ends", **fields)
        found = rivals.aligning(self.setup.rivals, PAPERS, self.setup.cores)
        cells = count * LENGTH**2
        yield from rival_cases(found, self._cut, lambda: cells, lambda: self._first, {}, **fields)

    def _start(self, entry: Entry, seconds: float) -> Run:
        engine, batch = entry.made(PAPERS, self.device), self.batch

        def check(found: Any) -> Check:
            chosen, expected = self.judged
            checked = compare(found[chosen], expected, "reference")
            if self._scores is None and checked.passed:
                self._scores, self._first = found[:, 0], entry.label
            elif self._scores is not None:
                checked = both(checked, compare(found[:, 0], self._scores, self._first))
            return checked

        def part(cells: float) -> tuple[Callable[[], object], int]:
            some = batch.select(portion(batch, cells))
            return partial(engine.ends, some), some.cells

        run = partial(_cells, engine, batch)
        estimate = estimated(part, batch.cells)
        return Run(run, check, batch.cells, estimate, facts=facts_of(engine))

    def _cut(self, cells: float) -> tuple[Batch, Scores]:
        chosen, expected = self.judged
        if self._scores is None:
            return self.batch.select(chosen), expected[:, 0]
        some = portion(self.batch, cells)
        return self.batch.select(some), self._scores[some]


def _cells(engine: Any, batch: Batch) -> Any:
    return cells_of(engine.ends(batch))


# Aymone 2022


@dataclass(frozen=True)
class _Kind:
    """What is aligned, and how it is scored."""

    name: str
    scoring: Scoring
    related: bool = False

    def batch(self, count: int, length: int) -> Batch:
        dna = self.scoring.alphabet.name == "DNA"
        some = generated.dna if dna else generated.proteins
        queries = some(np.full(count, length), 512)
        if self.related:
            return Batch.pairwise(queries, generated.relatives(queries, 4 if dna else 20))
        return Batch.pairwise(queries, some(np.full(count, length), 513))


class Aymone2022(Workload):
    """Aymone 2022, Table 1: pairs of 512 x 512 with traceback on the device; other scorings."""

    name, weight, requires = "aymone2022", 14, (4, 3)
    text = "{count:,} pairs, {0:,} x {1:,}: alignments, by two tie rules"
    counts: ClassVar = {"tiny": 4, "small": 40, "medium": 1000}
    lengths: ClassVar = {"tiny": 128, "small": 256, "medium": 512}
    kinds: ClassVar = (
        _Kind("DNA 1/-1, gaps 2, 2", PAPERS),
        _Kind("DNA 1/-1, gaps 2, 2, relatives", PAPERS, related=True),
        _Kind("DNA 2/-3, gaps 7, 2", Scoring.match_mismatch(2, -3, 7, 2)),
        _Kind("BLOSUM62, gaps 12, 1", Scoring.named("BLOSUM62", 12, 1)),
    )
    """The first is the paper's; unrelated sequences have short alignments, relatives long ones."""
    tasks: ClassVar = (
        *(("paths", "ties: any"), ("paths", "ties: conventional")),
        *(("ends", "ties: conventional"), ("scores", None)),
    )

    def cases(self) -> Iterator[Case]:
        """Yield the tasks with each scoring, and parasail with and without traceback."""
        count, length = self.setup.chosen(self.counts), self.setup.chosen(self.lengths)
        kinds = self.kinds if self.setup.size in ("large", "full") else self.kinds[:2]
        entry = Entry("diagonal", "diagonal")
        for kind in kinds:
            judge = _Judge(kind, count, length)
            fields: dict[str, Any] = {"scoring": kind.name, "sizes": (length, length)}
            fields["count"] = count
            for task, ties in self.tasks:
                start = partial(self._start, judge, task, ties)
                yield entry.case(self.device, start, task=task, **fields | {"options": ties})
            found = rivals.aligning(self.setup.rivals, kind.scoring, 1, ("trace", "simd"))
            yield from rival_cases(
                found,
                judge.cut,
                lambda: count * length**2,
                lambda: Diagonal.name,
                {},
                **fields,
            )

    def _start(self, judge: _Judge, task: str, ties: str | None, seconds: float) -> Run:
        engine, batch = Diagonal(judge.kind.scoring, self.device), judge.batch
        rule: Any = (ties or "ties: any").removeprefix("ties: ")
        judge.device = self.device

        def run() -> Any:
            if task == "scores":
                return engine.scores(batch)
            return getattr(engine, task)(batch, ties=rule)

        def part(cells: float) -> tuple[Callable[[], object], int]:
            some = batch.select(portion(batch, cells))
            return partial(engine.ends, some), 2 * some.cells

        check = once(partial(judge.check, ties=rule), _arrays)
        estimate = estimated(part, 2 * batch.cells)
        return Run(run, check, batch.cells, estimate, facts=facts_of(engine))


class _Judge:
    """Judges results of a batch: all scores, alignments by recomputing them, a part in full."""

    def __init__(self, kind: _Kind, count: int, length: int) -> None:
        self.kind, self._shape = kind, (count, length)
        self.device: Any = None

    @cached_property
    def batch(self) -> Batch:
        return self.kind.batch(*self._shape)

    @cached_property
    def chosen(self) -> Any:
        return portion(self.batch, 5e6)

    @cached_property
    def ends(self) -> Any:
        return cells_of(Reference(self.kind.scoring).ends(self.batch.select(self.chosen)))

    @cached_property
    def paths(self) -> list[Any]:
        part = self.batch.select(self.chosen)
        return [
            trace(*part.pair(p), self.kind.scoring, int(i), int(j))[0].tolist()
            for p, (_, i, j) in enumerate(self.ends)
        ]

    @cached_property
    def scores(self) -> tuple[str, Scores]:
        if ParasailPairs.available(self.kind.scoring):
            return "parasail", ParasailPairs(self.kind.scoring).scores_of(self.batch)
        return Reference.name, Reference(self.kind.scoring).scores(self.batch)

    def cut(self, cells: float) -> tuple[Batch, Scores]:
        part = self.batch.select(portion(self.batch, cells))
        scores: Scores = Diagonal(self.kind.scoring, self.device).scores(part)
        return part, scores

    def check(self, outcome: Any, ties: str) -> Check:
        name, scores = self.scores
        if isinstance(outcome, np.ndarray):
            return compare(outcome, scores, name)
        ends = outcome.ends if isinstance(outcome, Paths) else outcome
        check = compare(ends.score, scores, name)
        if ties == "conventional":
            found = cells_of(ends)[self.chosen]
            check = both(check, compare(found, self.ends, Reference.name))
        if isinstance(outcome, Paths):
            again = path_scores(self.kind.scoring, self.batch, outcome)
            check = both(check, compare(again, scores, "scores of the alignments"))
            if ties == "conventional":
                paths = [outcome.coordinates(p).tolist() for p in self.chosen]
                other = [k for k, path in enumerate(paths) if path != self.paths[k]]
                first = f"pair {self.chosen[other[0]]}: another alignment" if other else None
                check = both(check, Check("traceback", len(paths), len(other), first))
        return check


def _arrays(outcome: Any) -> tuple[Any, ...]:
    """Return all that a result holds."""
    if isinstance(outcome, Paths):
        return (*_arrays(outcome.ends), outcome.runs, outcome.offsets)
    if isinstance(outcome, Ends):
        return (outcome.score, outcome.query_end, outcome.target_end)
    return (outcome,)


# the layout of fragment


class FragmentTiles(Workload):
    """The engine fragment: cells per texel, bits of borders, texels of a quad."""

    name, weight = "fragment-tiles", 0
    text = "a full quad of proteins of {0:,}, by tile and texels"
    bits: ClassVar = {8: 16, 4: 32, 1: 32}
    exponents: ClassVar = {"tiny": [8], "small": [14, 16], "large": [14, 16, 17, 18, 19, 20]}

    def cases(self) -> Iterator[Case]:
        for gaps in ((12, 1), (8, 8)):
            for task in ("scores", "ends"):
                for tile, bits in self.bits.items():
                    for exponent in self.setup.chosen(self.exponents):
                        yield self._case(gaps, task, tile, bits, 2**exponent)

    def _case(self, gaps: tuple[int, int], task: str, tile: int, bits: int, texels: int) -> Case:
        length = 361 if self.setup.size != "tiny" else 32
        pairs = min(texels // -(-length // tile), self.device.info.limits["max_texture_size"])
        case = Case(
            *("fragment", partial(self._start, gaps, task, tile, texels, pairs, length)),
            task=task,
            scoring=f"BLOSUM62, gaps {gaps[0]}, {gaps[1]}",
            sizes=(length, length),
            count=pairs,
            options=f"tile {tile}, {bits} bits, {texels} texels",
        )
        return replace(case, device=self.device)

    def _start(
        self, gaps: Any, task: str, tile: int, texels: int, pairs: int, length: int, seconds: float
    ) -> Run:
        if not pairs:
            raise ValueError("the quad is too small for a pair")
        scoring = Scoring.named("BLOSUM62", *gaps)
        engine = Fragment(scoring, self.device, tile=tile, texels=texels)
        query = generated.queries([length])[0]
        batch = Batch.one_to_many(query, generated.uniform(pairs, length))
        chosen = np.arange(len(batch))
        if task == "scores" and Parasail.available(scoring):
            judge, expected = "parasail", Parasail(scoring, in_32_bits=True).scores_of(batch)
        else:
            chosen, judge = portion(batch, 5e5), Reference.name
            cells = cells_of(Reference(scoring).ends(batch.select(chosen)))
            expected = cells[:, 0] if task == "scores" else cells

        def run() -> Any:
            return cells_of(engine.ends(batch)) if task == "ends" else engine.scores(batch)

        def part(cells: float) -> tuple[Callable[[], object], int]:
            some = batch.select(portion(batch, cells))
            return partial(engine.scores, some), some.cells

        return Run(
            *(run, lambda found: compare(found[chosen], expected, judge), batch.cells),
            estimated(part, batch.cells),
            facts=facts_of(engine),
        )


WORKLOADS = (Pairs, Aymone2022, FragmentTiles)
