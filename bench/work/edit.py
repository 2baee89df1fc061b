"""Edit distances by engine `bit_parallel`, glsw from texts, StringZilla and edlib, which judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import glsw
from bench import programs
from bench.measure import Check, compare
from bench.work.base import Case, Run, Workload, facts_of
from bench.work.collections import Sides
from glsw.batch import Batch
from glsw.engines.bit_parallel import BitParallel
from glsw.scoring.unit_costs import unit_costs
from glsw.sequences.items import code_alphabet

_SAMPLE_CELLS = 1e8  # that edlib judges, and is measured on
_LETTERS = np.frombuffer(b"ACGTBDEFHIKLMNPQRSVWXYZ", np.uint8)


@dataclass
class Work(Sides):
    """Texts of which edlib and StringZilla judge the distances."""

    seed: int = 1965
    infix: bool = False
    known: npt.NDArray[np.int64] | None = None  # all distances, once a sample of them was right

    def part(self, share: float) -> Work:
        """Return a work of a share of the cells: of the length, if there is one long target."""
        share = share**0.5 if self.each else share
        count, low, high = self.targets
        targets = max(1, int(count * share)), low, high
        if count == 1:
            targets = 1, int(low * share) + 1, int(high * share) + 1
        queries = (max(1, int(self.queries[0] * share)), *self.queries[1:])
        return replace(self, queries=queries, targets=targets)

    @cached_property
    def texts(self) -> list[list[str]]:
        return [[_LETTERS[codes].tobytes().decode() for codes in side] for side in self.sides]

    @cached_property
    def sampled(self) -> list[tuple[str, str]]:
        """The pairs that edlib gets."""
        queries, targets = self.texts
        index = self.sample(_SAMPLE_CELLS).tolist()
        return [(queries[q], targets[t]) for q, t in zip(*index, strict=True)]

    def by_edlib(self) -> npt.NDArray[np.int64]:
        import edlib

        mode = "HW" if self.infix else "NW"
        return np.array([edlib.align(*pair, mode=mode)["editDistance"] for pair in self.sampled])

    @cached_property
    def expected(self) -> npt.NDArray[np.int64]:
        return self.by_edlib()

    def check(self, found: Any, *, on_all: bool = False) -> Check:
        checked = compare(self.chosen(found, _SAMPLE_CELLS), self.expected, "edlib")
        if not checked.passed:
            return checked
        flat = np.asarray(found).reshape(-1).astype(np.int64)
        self.known = flat if self.known is None else self.known
        return compare(flat, self.known, "bit_parallel") if on_all else checked


WORKS = (
    Work("each 1000", 4, (2000, 1000, 1000), (2000, 1000, 1000)),
    Work("proteins 1000", 20, (2000, 1000, 1000), (2000, 1000, 1000)),
    Work("each 100-600", 4, (3000, 100, 600), (3000, 100, 600)),
    Work("each 10-20", 20, (20_000, 10, 20), (20_000, 10, 20)),
    Work("pairs 300", 4, (1_000_000, 300, 300), (1_000_000, 300, 300), each=False),
    Work("pairs 1-5000", 4, (50_000, 1, 5000), (50_000, 1, 5000), each=False),
    Work("infix 1000", 4, (5000, 150, 150), (5000, 1000, 1000), infix=True),
    Work("infix 5000000", 4, (1000, 150, 150), (1, 5_000_000, 5_000_000), infix=True),
)


class Edit(Workload):
    """Edit distances of eight kinds of work."""

    name, weight, requires = "edit", 16, (4, 3)
    text = "edit distances: each with each, pairs, parts of longer targets"
    shares: ClassVar = {"tiny": 2**-16, "small": 2**-11, "medium": 2**-4, "large": 0.25}
    shares |= {"full": 1.0}

    def cases(self) -> Iterator[Case]:
        several = {"bit_parallel": {}, "bit_parallel, 8 words": {"words": 8}}
        if self.setup.size != "full":
            del several["bit_parallel, 8 words"]
        for whole in WORKS if self.setup.size in ("large", "full") else WORKS[::2]:
            work = whole.part(self.setup.chosen(self.shares))
            fields = {"task": "distances", **work.fields("edit distance", work.pairs, work.name)}
            ours = {"device": self.device, "metered": True, **fields}
            if self.setup.wants("bit_parallel"):
                for name, options in several.items():
                    yield Case(name, partial(self._codes, work, options), **ours)
                yield Case("glsw from texts", partial(self._texts, work), **ours)
            fields |= {"ours": False, "cores": 1}
            if work.each and not work.infix and "StringZilla" in self.setup.rivals:
                _, on_gpu, version = programs.stringzilla_scope()
                theirs = {**fields, "version": version, "cores": None if on_gpu else 1}
                start = partial(self._stringzilla, work)
                yield Case(programs.stringzilla_name(), start, **theirs)
            if "edlib" in self.setup.rivals:
                yield Case("edlib", partial(self._edlib, work), **fields)

    def _codes(self, work: Work, options: dict[str, Any], seconds: float) -> Run:
        scoring = unit_costs(code_alphabet(max(2, work.letters)), infix=work.infix)
        engine, (queries, targets) = BitParallel(scoring, self.device, **options), work.sides

        def run() -> Any:
            if work.each:
                (scores,) = engine.scan(queries, [targets])
            else:
                scores = engine.scores(Batch.pairwise(queries, targets))
            return -scores.astype(np.int64)

        return Run(run, work.check, work.cells, facts=facts_of(engine))

    def _texts(self, work: Work, seconds: float) -> Run:
        call = glsw.edit_distance_matrix if work.each else glsw.edit_distance
        mode: Any = "infix" if work.infix else "global"
        run = partial(call, *work.texts, mode=mode, device=self.device)
        return Run(run, work.check, work.cells)

    def _stringzilla(self, work: Work, seconds: float) -> Run:
        import stringzillas

        scope, _, _ = programs.stringzilla_scope()
        engine = stringzillas.LevenshteinDistances(capabilities=scope)
        sides = [programs.strings(texts) for texts in work.texts]
        run = lambda: np.asarray(engine(*sides, device=scope))  # noqa: E731
        return Run(run, partial(work.check, on_all=True), work.cells)

    def _edlib(self, work: Work, seconds: float) -> Run:
        cells = sum(len(query) * len(target) for query, target in work.sampled)
        check = partial(compare, expected=work.expected)
        return Run(work.by_edlib, check, cells, whole=work.cells)
