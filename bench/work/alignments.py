"""Pairs or triples to align: engines that do it, in whole or in part, and what is compared.

parasail judges scores, the reference end cells of a part, `blocked` in other tiles those of a long
pair; an alignment has to score what its letters and gaps score, and conventional ties have to give
the one alignment of `glsw.alignment.traceback`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial, reduce
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bench import rivals
from bench.measure import Check, both, compare
from bench.programs import Method, Parasail, Scores
from bench.work import base
from bench.work.base import Case, Entry, Part, Run, Setup, estimated, named, portion
from glsw import Batch, Scoring3
from glsw.alignment.paths import Ends, Paths
from glsw.alignment.traceback import best_end, trace
from glsw.engines import Blocked, Reference
from glsw.sequences.encoded import ranges

Cells: TypeAlias = npt.NDArray[np.int32]
Right: TypeAlias = "tuple[str, npt.NDArray[Any], Cells]"
"""Who judges, which pairs or triples, and the score and end of each, shape (N, k + 1)."""
BY_REFERENCE, BY_TRACE, BY_PARASAIL, BY_BLOCKED = 2e6, 1e7, 2e10, 2e12
"""Cells up to which each of these judges; beyond, the first result judges the later ones."""


class Work(ABC):
    """A batch to align, which ``make`` returns when it is needed; ``fields`` are of its rows."""

    scores: Scores | None = None  # of all, by a fast program

    def __init__(
        self, setup: Setup, scoring: Any, make: Callable[[], Batch], /, **fields: Any
    ) -> None:
        self.setup, self.scoring, self._make = setup, scoring, make
        self.fields = {"scoring": named(scoring), **fields}
        self.first: tuple[str, Cells] | None = None
        """The engine whose result was the first that was right, and its scores and ends."""

    @cached_property
    def batch(self) -> Batch:
        return self._make()

    def case(self, entry: Entry, task: str, ties: str | None = None, **fields: Any) -> Case:
        """Return the case of an engine; ``ties`` are those of `Engine.ends`, if they are chosen."""
        start = partial(self._start, entry, task, {"ties": ties} if ties else {})
        return entry.case(self.setup.device, start, task=task, **{**self.fields, **fields})

    def _start(self, entry: Entry, task: str, words: Mapping[str, Any], seconds: float) -> Run:
        engine, batch = entry.made(self.scoring, self.setup.device), self.batch
        run = partial(self.call, engine, task, **words)
        ties = words.get("ties", "conventional")
        right: list[Any] = []  # the last result that was right is not judged again

        def check(found: Any) -> Check:
            held = arrays(found)
            if not right or not all(map(np.array_equal, held, right[0])):
                checked = self.check(entry.label, ties, found)
                if not checked.passed:
                    return checked
                right[:] = held, checked
            known: Check = right[1]
            return known

        facts = base.facts_of(engine)
        return Run(
            *(partial(run, batch), check, batch.cells, estimated(run, batch)),
            facts=lambda: {**facts(), "note": facts()["note"] or self._note()},
        )

    def call(self, engine: Any, task: str, batch: Batch, **words: Any) -> Any:
        """Do what is timed."""
        return getattr(engine, task)(batch, **words)

    def _note(self) -> str | None:
        if self.first is None or len(self.batch) > 1:
            return None
        score, *ends = self.first[1][0].tolist()
        return f"score {score}, ends {', '.join(map(str, ends))}"

    @abstractmethod
    def right(self, name: str) -> Right | None:
        """Return what is right, for an engine of this name; None for a batch that is too large."""

    def check_paths(self, paths: Paths, right: Right) -> Check | None:
        """Compare alignments with the conventional ones; None where these are not known."""
        return None

    def check(self, name: str, ties: str, found: Any) -> Check:
        """Judge what an engine of this name found with these ties: scores, `Ends` or `Paths`."""
        ends = found.ends if isinstance(found, Paths) else found
        cells = cells_of(ends) if isinstance(ends, Ends) else ends[:, None]
        of_first = self.first or ("the first run", cells)
        right = self.right(name) or (of_first[0], np.arange(len(cells)), of_first[1])
        judge, chosen, expected = right
        checks: list[Check | None] = []
        if self.scores is not None:
            checks.append(compare(cells[:, 0], self.scores, "parasail"))
        if self.first is not None and len(cells) > 1:
            checks.append(compare(cells[:, 0], self.first[1][:, 0], self.first[0]))
        if isinstance(ends, Ends) and ties == "conventional":
            checks.append(compare(cells[chosen], expected, judge))
        elif self.scores is None:
            checks.append(compare(cells[chosen, 0], expected[:, 0], judge))
        if isinstance(found, Paths):
            again = [
                path_score(self.scoring, self.batch[p], found.coordinates(p))
                for p in range(len(self.batch))
            ]
            checks.append(compare(again, cells[:, 0], "scores of the alignments"))
            if ties == "conventional" and checks[-1] and checks[-1].passed:
                checks.append(self.check_paths(found, right))
        check = reduce(both, filter(None, checks))
        if check.passed and self.first is None:
            self.first = name, cells
        return check


def cells_of(ends: Ends) -> Cells:
    """Return the score and the end of each pair or triple, shape (N, k + 1)."""
    return np.concatenate([ends.score[:, None], ends.end], axis=1).astype(np.int32)


def arrays(found: Any) -> list[npt.NDArray[Any]]:
    """Return the arrays that a result holds."""
    if isinstance(found, np.ndarray):
        return [found]
    return [array for each in vars(found).values() for array in arrays(each)]


def path_score(
    scoring: Any, sequences: Sequence[npt.NDArray[np.uint8]], coordinates: npt.NDArray[np.int64]
) -> int:
    """Return what an alignment scores, letter by letter and gap by gap; -1 if it is none.

    ``sequences`` are a query and a target, or three; ``coordinates`` are as in `Paths`.
    """
    rows = sequences[::-1] if len(sequences) == 2 else sequences
    steps = np.diff(coordinates)
    there, lengths = steps != 0, steps.max(axis=0, initial=0)
    outside = (coordinates < 0).any() or (coordinates[:, -1] > [*map(len, rows)]).any()
    if outside or (steps != there * lengths).any() or (lengths < 1).any():
        return -1
    before = np.hstack([np.zeros((len(rows), 1), bool), there[:, :-1]])

    def aligned(some: Sequence[int], runs: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.uint8]]:
        return [rows[r][ranges(coordinates[r, :-1][runs], lengths[runs])] for r in some]

    def gaps(some: Sequence[int], runs: npt.NDArray[np.bool_]) -> Any:
        opened = runs & (there[some] != before[some]).any(axis=0)
        more = pairs.gap_open - pairs.gap_extend
        return pairs.gap_extend * lengths[runs].sum() + more * opened.sum()

    pairs, everyone = (scoring.pairs, [0, 1, 2]) if len(rows) == 3 else (scoring, [0, 1])
    if isinstance(scoring, Scoring3) and scoring.scheme == "identity":
        match, mismatch, matching = pairs.match_and_mismatch
        runs = there.all(axis=0)
        first, *others = aligned(everyone, runs)
        same = np.all([each == first for each in others], axis=0) & (first < matching)
        return int(np.where(same, match, mismatch).sum() - gaps(everyone, ~runs))
    score = 0
    for two in map(list, combinations(everyone, 2)):
        letters = tuple(reversed(aligned(two, there[two].all(axis=0))))
        score += pairs.matrix[letters].sum(dtype=np.int64)
        score -= gaps(two, there[two[0]] != there[two[1]])
    return int(score)


class PairWork(Work):
    """A batch of pairs."""

    _paths: list[Any] | None = None

    def rival_cases(self, cores: int, methods: Sequence[Method] = ("simd",)) -> Iterator[Case]:
        found = rivals.aligning(self.setup.rivals, self.scoring, cores, methods)
        return base.rival_cases(found, self.cut, {}, **self.fields)

    def cut(self, cells: float) -> Part:
        """Return a part of about this number of cells, judged by an engine if one was right."""
        batch, chosen, first = self.batch, portion(self.batch, cells), self.first
        judge = first[0] if first else (self._right or ("nobody",))[0]
        if len(batch) == 1:
            part = base.start_of(batch, cells)
            whole = part is batch
            right = (self if whole else PairWork(self.setup, self.scoring, lambda: part))._right
            if right is None:
                raise ValueError("not judged: the pair is too long")
            return Part(part, right[2][:, 0], judge, batch.cells)
        if first is None:
            assert self._right is not None
            _, chosen, known = self._right
            return Part(batch.select(chosen), known[:, 0], judge, batch.cells)
        return Part(batch.select(chosen), first[1][chosen, 0], judge, batch.cells)

    @cached_property
    def scores(self) -> Scores | None:  # type: ignore[override]
        if self.batch.cells > BY_PARASAIL or not Parasail.available(self.scoring):
            return None
        return Parasail(self.scoring).scores_of(self.batch)

    def right(self, name: str) -> Right | None:
        return self._right

    @cached_property
    def _right(self) -> Right | None:
        batch, info = self.batch, self.setup.device.info
        chosen = portion(batch, BY_REFERENCE)
        if len(batch) > 1 or batch.cells <= BY_REFERENCE:
            part = batch.select(chosen)
            return Reference.name, chosen, cells_of(Reference(self.scoring).ends(part))
        if not info.compute:
            cell = best_end(*batch.pair(0), self.scoring)
            return "rows of NumPy", chosen, np.array([cell], np.int32)
        if batch.cells > BY_BLOCKED:
            return None
        tiles: dict[str, Any] = {"workgroup": 16 if info.software else 64, "columns": 384}
        engine = Blocked(self.scoring, self.setup.device, prune=False, **tiles)
        return "blocked in other tiles", chosen, cells_of(engine.ends(batch))

    def check_paths(self, paths: Paths, right: Right) -> Check:
        """Compare alignments with those of `trace`, of long pairs with the first."""
        _, chosen, ends = right
        found, part = [paths.coordinates(p).tolist() for p in chosen], self.batch.select(chosen)
        if self._paths is None and part.cells <= BY_TRACE:
            self._paths = [
                trace(*part.pair(p), self.scoring, int(i), int(j))[0].coordinates().tolist()
                for p, (_, i, j) in enumerate(ends)
            ]
        self._paths = self._paths or found
        same = [path == known for path, known in zip(found, self._paths, strict=True)]
        first = None if all(same) else f"pair {chosen[same.index(False)]}: another alignment"
        return Check("traceback", len(same), same.count(False), first)
