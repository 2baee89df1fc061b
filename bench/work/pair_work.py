"""Pairs with a scoring: engines and other programs that compute them, and who judges these.

parasail judges scores, the reference end cells of a part, `blocked` in other tiles those of a long
pair; an alignment has to score what its letters and gaps score, and conventional ties have to give
the one alignment of `glsw.traceback`.

>>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
>>> encode = scoring.alphabet.encode
>>> query, target = encode("ATCTCGTATGAT"), encode("GTCTATCAC")  # Liu et al. 2006, figure 2
>>> path_score(scoring, query, target, trace(query, target, scoring, 11, 8)[0])
10
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial, reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bench import rivals
from bench.measure import Check, both, compare
from bench.programs import Method, ParasailPairs, Scores
from bench.work.base import (
    Case,
    Entry,
    Run,
    Setup,
    estimated,
    facts_of,
    portion,
    rival_cases,
    square,
)
from glsw.batch import Batch
from glsw.engines import Blocked, Reference
from glsw.paths import Ends, Paths
from glsw.rows import best_end
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import ranges
from glsw.traceback import trace

BY_REFERENCE, BY_TRACE, BY_PARASAIL, BY_BLOCKED = 2e6, 1e7, 2e10, 2e12
"""Cells up to which each of these judges; beyond, the first result judges the later ones."""

Outcome: TypeAlias = "Scores | Ends | Paths"


class PairWork:
    """A batch of pairs, which ``make`` returns when they are needed; ``fields`` are of its rows."""

    def __init__(
        self, setup: Setup, scoring: Scoring, make: Callable[[], Batch], fields: Mapping[str, Any]
    ) -> None:
        self.setup, self.scoring, self.make, self.fields = setup, scoring, make, fields
        self._first: tuple[str, npt.NDArray[np.int32]] | None = None
        self._paths: list[Any] | None = None

    @cached_property
    def batch(self) -> Batch:
        return self.make()

    # who does the work

    def case(self, entry: Entry, task: str, ties: str | None = None, **fields: Any) -> Case:
        """Return the case of an engine; ``ties`` are those of `Engine.ends`, if they are chosen."""
        start = partial(self._start, entry, task, {"ties": ties} if ties else {})
        return entry.case(self.setup.device, start, task=task, **{**self.fields, **fields})

    def rival_cases(self, cores: int, methods: Sequence[Method] = ("simd",)) -> Iterator[Case]:
        found = rivals.aligning(self.setup.rivals, self.scoring, cores, methods)
        return rival_cases(found, lambda: self, {}, **self.fields)

    def _start(self, entry: Entry, task: str, words: Any, seconds: float) -> Run:
        engine = entry.made(self.scoring, self.setup.device)
        run = partial(getattr(engine, task), **words)
        check = once(partial(self.check, entry.label, words.get("ties", "conventional")))
        facts = facts_of(engine)
        return Run(
            *(partial(run, self.batch), check, self.batch.cells, estimated(run, self.batch)),
            facts=lambda: {**facts(), "note": facts()["note"] or self._note()},
        )

    def _note(self) -> str | None:
        if self._first is None or len(self.batch) > 1:
            return None
        return "score {}, ends {}, {}".format(*self._first[1][0])

    # what other programs get

    @property
    def cells(self) -> int:
        return self.batch.cells

    @property
    def judge(self) -> str:
        return self._first[0] if self._first else (self.ends or ("nobody",))[0]

    def cut(self, cells: float) -> tuple[Batch, Scores]:
        """Return a part of about this number of cells, and its scores."""
        if len(self.batch) == 1:
            part = square(self.batch, cells)
            judge = (
                self if part is self.batch else PairWork(self.setup, self.scoring, lambda: part, {})
            )
            if judge.ends is None:
                raise ValueError("not judged: the pair is too long")
            return part, judge.ends[2][:, 0]
        if self._first is None:
            assert self.ends is not None
            return self.batch.select(self.ends[1]), self.ends[2][:, 0]
        chosen = portion(self.batch, cells)
        return self.batch.select(chosen), self._first[1][chosen, 0]

    # judges

    @cached_property
    def scores(self) -> Scores | None:
        """The scores of all pairs by parasail, None where there is none or it takes too long."""
        if self.batch.cells > BY_PARASAIL or not ParasailPairs.available(self.scoring):
            return None
        return ParasailPairs(self.scoring).scores_of(self.batch)

    @cached_property
    def ends(self) -> tuple[str, npt.NDArray[Any], npt.NDArray[np.int32]] | None:
        """Who judges end cells, of which pairs, and these; None for a pair that is too long."""
        batch, info = self.batch, self.setup.device.info
        chosen = portion(batch, BY_REFERENCE)
        if len(batch) > 1 or batch.cells <= BY_REFERENCE:
            engine: Any = Reference(self.scoring)
        elif not info.compute:
            cell = best_end(*batch.pair(0), self.scoring)
            return "rows of NumPy", chosen, np.array([cell], np.int32)
        elif batch.cells <= BY_BLOCKED:
            tiles: dict[str, Any] = {"workgroup": 16 if info.software else 64, "columns": 384}
            engine = Blocked(self.scoring, self.setup.device, prune=False, **tiles)
        else:
            return None
        name = engine.name if isinstance(engine, Reference) else "blocked in other tiles"
        return name, chosen, cells_of(engine.ends(batch.select(chosen)))

    def check(self, name: str, ties: str, found: Outcome) -> Check:
        """Judge what an engine of this name found with these ties."""
        ends = found.ends if isinstance(found, Paths) else found
        cells = cells_of(ends) if isinstance(ends, Ends) else ends[:, None]
        judge, chosen, expected = self.ends or self._of_first(cells)
        checks = []
        if self.scores is not None:
            checks.append(compare(cells[:, 0], self.scores, "parasail"))
        if self._first is not None and len(cells) > 1:
            checks.append(compare(cells[:, 0], self._first[1][:, 0], self._first[0]))
        if isinstance(ends, Ends) and ties == "conventional":
            checks.append(compare(cells[chosen], expected, judge))
        elif self.scores is None:
            checks.append(compare(cells[chosen, 0], expected[:, 0], judge))
        if isinstance(found, Paths):
            again = path_scores(self.scoring, self.batch, found)
            checks.append(compare(again, cells[:, 0], "scores of the alignments"))
            if ties == "conventional" and all(each.passed for each in checks):
                checks.append(self._check_paths(found, chosen, expected))
        check = reduce(both, checks)
        if check.passed and self._first is None:
            self._first = name, cells
        return check

    def _of_first(self, cells: npt.NDArray[np.int32]) -> tuple[str, Any, npt.NDArray[np.int32]]:
        first = self._first or ("the first run", cells)
        return first[0], np.arange(len(cells)), first[1]

    def _check_paths(self, found: Paths, chosen: Any, ends: npt.NDArray[np.int32]) -> Check:
        """Compare the alignments with those of `trace`, of long pairs with the first."""
        paths = [found.coordinates(p).tolist() for p in chosen]
        part = self.batch.select(chosen)
        if self._paths is None and part.cells <= BY_TRACE:
            self._paths = [
                trace(*part.pair(p), self.scoring, int(i), int(j))[0].tolist()
                for p, (_, i, j) in enumerate(ends)
            ]
        self._paths = self._paths or paths
        same = [path == right for path, right in zip(paths, self._paths, strict=True)]
        first = None if all(same) else f"pair {chosen[same.index(False)]}: another alignment"
        return Check("traceback", len(same), same.count(False), first)


def cells_of(ends: Ends) -> npt.NDArray[np.int32]:
    """Return score, query_end and target_end of each pair, shape (N, 3)."""
    return np.stack([ends.score, ends.query_end, ends.target_end], axis=1).astype(np.int32)


def path_score(
    scoring: Scoring,
    query: npt.NDArray[np.uint8],
    target: npt.NDArray[np.uint8],
    coordinates: npt.NDArray[np.int64],
) -> int:
    """Return what an alignment scores, letter by letter and gap by gap; -1 if it is none.

    ``coordinates``, shape (2, K): see `glsw.traceback.trace`.
    """
    along_target, along_query = np.diff(coordinates)
    aligned = (along_target > 0) & (along_query > 0)
    outside = (coordinates < 0).any() or (coordinates[:, -1] > [len(target), len(query)]).any()
    if outside or (along_target != along_query)[aligned].any():
        return -1
    runs = along_query[aligned]
    j, i = (ranges(first, runs) for first in coordinates[:, :-1][:, aligned])
    gaps = np.maximum(along_target, along_query)[~aligned]
    costs = scoring.gap_open * len(gaps) + scoring.gap_extend * (gaps - 1).sum()
    return int(scoring.matrix[query[i], target[j]].sum(dtype=np.int64) - costs)


def path_scores(scoring: Scoring, batch: Batch, paths: Paths) -> list[int]:
    """Return the recomputed score of each alignment."""
    return [path_score(scoring, *batch.pair(p), paths.coordinates(p)) for p in range(len(batch))]


def once(judge: Callable[[Outcome], Check]) -> Callable[[Outcome], Check]:
    """Return a check that judges in full only what differs from the last result that was right."""
    right: list[Any] = []

    def check(found: Outcome) -> Check:
        held = arrays(found)
        if right and all(map(np.array_equal, held, right[0])):
            checked: Check = right[1]
            return checked
        checked = judge(found)
        if checked.passed:
            right[:] = held, checked
        return checked

    return check


def arrays(outcome: Outcome) -> Iterable[npt.NDArray[Any]]:
    """Return all that a result holds."""
    if isinstance(outcome, Paths):
        return *arrays(outcome.ends), outcome.runs, outcome.offsets
    return (outcome.score, outcome.end) if isinstance(outcome, Ends) else (outcome,)
