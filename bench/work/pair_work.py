"""Who judges pairs, and which parts of them other programs get.

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

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import rivals
from bench.measure import Check
from bench.programs import Method, ParasailPairs, Scores
from bench.work.alignments import Right, Work, cells_of
from bench.work.base import Case, portion, rival_cases, start_of
from glsw.batch import Batch
from glsw.engines import Blocked, Reference
from glsw.paths import Paths
from glsw.rows import best_end
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import ranges
from glsw.traceback import trace

BY_REFERENCE, BY_TRACE, BY_PARASAIL, BY_BLOCKED = 2e6, 1e7, 2e10, 2e12
"""Cells up to which each of these judges; beyond, the first result judges the later ones."""


class PairWork(Work):
    """A batch of pairs."""

    _paths: list[Any] | None = None

    # other programs

    def rival_cases(self, cores: int, methods: Sequence[Method] = ("simd",)) -> Iterator[Case]:
        found = rivals.aligning(self.setup.rivals, self.scoring, cores, methods)
        return rival_cases(found, lambda: self, {}, **self.fields)

    @property
    def cells(self) -> int:
        return self.batch.cells

    @property
    def judge(self) -> str:
        return self.first[0] if self.first else (self._right or ("nobody",))[0]

    def cut(self, cells: float) -> tuple[Batch, Scores]:
        """Return a part of about this number of cells, and its scores."""
        if len(self.batch) == 1:
            part = start_of(self.batch, cells)
            judge = (
                self if part is self.batch else PairWork(self.setup, self.scoring, lambda: part, {})
            )
            if judge._right is None:
                raise ValueError("not judged: the pair is too long")
            return part, judge._right[2][:, 0]
        if self.first is None:
            assert self._right is not None
            return self.batch.select(self._right[1]), self._right[2][:, 0]
        chosen = portion(self.batch, cells)
        return self.batch.select(chosen), self.first[1][chosen, 0]

    # judges

    @cached_property
    def scores(self) -> Scores | None:  # type: ignore[override]
        if self.batch.cells > BY_PARASAIL or not ParasailPairs.available(self.scoring):
            return None
        return ParasailPairs(self.scoring).scores_of(self.batch)

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

    def path_scores(self, paths: Paths) -> list[int]:
        batch = self.batch
        return [
            path_score(self.scoring, *batch.pair(p), paths.coordinates(p))
            for p in range(len(batch))
        ]

    def check_paths(self, paths: Paths, right: Right) -> Check:
        """Compare alignments with those of `trace`, of long pairs with the first."""
        _, chosen, ends = right
        found, part = [paths.coordinates(p).tolist() for p in chosen], self.batch.select(chosen)
        if self._paths is None and part.cells <= BY_TRACE:
            self._paths = [
                trace(*part.pair(p), self.scoring, int(i), int(j))[0].tolist()
                for p, (_, i, j) in enumerate(ends)
            ]
        self._paths = self._paths or found
        same = [path == known for path, known in zip(found, self._paths, strict=True)]
        first = None if all(same) else f"pair {chosen[same.index(False)]}: another alignment"
        return Check("traceback", len(same), same.count(False), first)


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
