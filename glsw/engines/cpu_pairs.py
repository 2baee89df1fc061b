"""Pairs computed one at a time by the library parasail, for engine ``cpu``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch, Mask
from glsw.alignment.paths import BestCells, Ends, Paths
from glsw.alignment.traceback import Borders, PathBack, best_end, trace
from glsw.arrays import Codes, Int32, Int64, Intp
from glsw.engines import parasail_calls
from glsw.engines.cpu_lanes import CpuSizes
from glsw.engines.cpu_letters import LETTERS, Lettering, Matrices, Texts, text_of
from glsw.engines.cpu_local import LARGEST_16, LocalPaths, Region, Tables, Walked, walked
from glsw.engines.reference import best_cell
from glsw.scoring.gaps import EndGaps
from glsw.scoring.scoring import Scoring, mode_among
from glsw.sequences.encoded import Sequences, distinct

_LARGEST_SUM = 2**30
_KEPT = 8  # scorings
_MODES = {"sw": ("local",), "nw": ("global",), "sg": ("semiglobal",)} | {
    f"sg_{letter}x": ("semiglobal", free) for letter, free in (("q", "query"), ("d", "target"))
}

_FoundT = TypeVar("_FoundT")

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future


class SinglePairs:
    """Scores and alignments of pairs in all modes, by SIMD instructions along the query.

    The library is parasail (Daily 2016, "Parasail: SIMD C library for global, semi-global, and
    local pairwise sequence alignments", BMC Bioinformatics 17). Local scores are those of its
    striped functions, in 16 bits if none can leave these, else in 32. Others are those of its
    prefix scans in 32 bits: those in 8 and 16 bits do not see when gap costs leave the type, and
    striped functions are wrong now and then where opening a gap costs no more than extending it.
    Local alignments, also with masks, are those of `glsw.engines.cpu_local`. Others come from the
    whole table of H, in linear time.

    Parameters
    ----------
    scoring : Scoring
    limits : CpuSizes, optional
    """

    def __init__(self, scoring: Scoring, limits: CpuSizes | None = None) -> None:
        self._scoring, self._limits = scoring, limits or CpuSizes()
        self._costs = scoring.gap_open, scoring.gap_extend
        striped = scoring.local and scoring.gap_open > scoring.gap_extend
        scan = function_of(scoring)
        self._function, self._mode = "sw_striped_32" if striped else scan, scan[: -len("_scan_32")]
        self._tables = Tables(self._costs, self._limits)
        self._longest_16 = longest_in_16_bits(scoring)

    @property
    def version(self) -> str:
        """The version of the library."""
        return parasail_calls.version()

    @cached_property
    def _plain(self) -> Matrices:
        return Lettering(self._scoring).plain

    @cached_property
    def _matrices(self) -> tuple[parasail_calls.Matrix, parasail_calls.Matrix]:
        return self._plain.matrix(16), self._plain.matrix()

    @cached_property
    def _local(self) -> LocalPaths:
        return LocalPaths(self._scoring, self._limits)

    def begin(
        self, pool: Executor, batch: Batch, pairs: Intp, threads: int, *, ends: bool
    ) -> list[Future[tuple[Intp, BestCells]]]:
        """Begin with scores, or conventional ends too; jobs return numbers of pairs and cells."""
        if ends or batch.masks is not None:

            def best(some: Intp) -> tuple[Intp, BestCells]:
                pairs = ((*batch.pair(p), batch.mask(p)) for p in some.tolist())
                cells = np.array([_end_of(self._found(*pair)) for pair in pairs], np.int64)
                score, i, j = cells.reshape(-1, 3).T
                score = score + self._scoring.score_offset(*batch.lengths[some].T)
                return some, BestCells.of(score, i, j)

            return self._begin(best, pool, batch, pairs, threads)
        texts = _Letters.of(batch.queries), _Letters.of(batch.targets)

        def scored(some: Intp) -> tuple[Intp, BestCells]:
            scores = np.empty(len(some), np.int64)
            for k, (q, t) in enumerate(batch.index[some].tolist()):
                scores[k] = self._score(texts[0][q], texts[1][t])
            scores += self._scoring.score_offset(*batch.lengths[some].T)
            return some, BestCells.of(scores, 0 * scores, 0 * scores)

        return self._begin(scored, pool, batch, pairs, threads)

    def alone(self, batch: Batch) -> BestCells:
        """Return the score of the only pair of a batch, computed at once."""
        query, target = batch.pair(0)
        score = self.score(query, target)
        score += int(self._scoring.score_offset(len(query), len(target)))
        return BestCells(np.array([score], np.int32), np.zeros((1, 2), np.int32))

    def score(self, query: Codes, target: Codes) -> int:
        """Return the score of a pair, of which at least one pair of residues is aligned."""
        return self._score(text_of(query), text_of(target))

    def _score(self, query: bytes, target: bytes) -> int:
        narrow, wide = self._matrices
        if min(len(query), len(target)) <= self._longest_16:
            return parasail_calls.best("sw_striped_16", query, target, self._costs, narrow).score
        return parasail_calls.best(self._function, query, target, self._costs, wide).score

    def paths(
        self,
        pool: Executor,
        batch: Batch,
        pairs: Intp,
        threads: int,
        progress: Callable[[int], None],
    ) -> Paths:
        """Return the alignments of pairs, in order."""

        def walk(some: Intp) -> list[Walked]:
            return [self.path(*batch.pair(p), batch.mask(p)) for p in some.tolist()]

        cells = batch.query_lengths * batch.target_lengths
        if int(cells[pairs].sum()) < self._limits.walked * len(pairs):
            threads = 1  # they would wait for each other's Python
        walked: list[Walked] = []
        for job in self._begin(walk, pool, batch, pairs, threads):
            some = job.result()
            progress(int(cells[pairs[len(walked) : len(walked) + len(some)]].sum()))
            walked += some
        score, i, j = np.array([cell for cell, _ in walked], np.int32).reshape(-1, 3).T
        return Paths.of(Ends(score, np.stack([i, j], axis=1)), [runs for _, runs in walked])

    def _begin(
        self,
        do: Callable[[Intp], _FoundT],
        pool: Executor,
        batch: Batch,
        pairs: Intp,
        threads: int,
    ) -> list[Future[_FoundT]]:
        """Begin with jobs for some pairs each, in order."""
        if not len(pairs):
            return []
        _ = self._local if self._scoring.local else self._matrices  # before there are threads
        if len(pairs) == 1:
            return [pool.submit(do, pairs)]
        cells = np.cumsum((batch.query_lengths * batch.target_lengths)[pairs])
        jobs = 8 * threads if threads > 1 else 1
        size = min(
            max(int(cells[-1]) // jobs, self._limits.job_of_singles), self._limits.largest_job
        )
        bounds = distinct(np.searchsorted(cells, np.arange(size, cells[-1], size)))
        return [pool.submit(do, some) for some in np.split(pairs, bounds)]

    def path(self, query: Codes, target: Codes, mask: Mask | None) -> Walked:
        """Return the best alignment of a pair; by rows of NumPy if it or its mask is too large."""
        found = self._found(query, target, mask)
        if not isinstance(found, Region):
            return found
        (row, column), (i, j) = found.first, found.end
        aligned, score = trace(query[row:i], target[column:j], self._scoring, i - row, j - column)
        return (score, i, j), walked(aligned)

    def region(self, pair: tuple[Codes, Codes]) -> Region:
        """Return the part of a table that has the local alignment; the whole if it is large."""
        found = self._local.region(*pair, self._limits.table) if min(map(len, pair)) else None
        return found or Region((0, 0), (len(pair[0]), len(pair[1])))

    def _found(self, query: Codes, target: Codes, mask: Mask | None) -> Walked | Region:
        """Return the best alignment of a pair, or the region that it is in if that is large."""
        cells, ends = len(query) * len(target), self._scoring.end_gaps
        if ends and cells <= self._limits.table:
            return self._from_end_to_end(query, target, ends)
        if not ends and cells <= self._limits.passes:
            found = self._local.best(query, target, mask, most=self._limits.table)
            if found is not None:
                return found
        score, i, j = (best_cell if ends else best_end)(query, target, self._scoring, mask)
        runs, _ = trace(query, target, self._scoring, i, j, mask=mask)
        return (score, i, j), walked(runs)

    def _from_end_to_end(self, query: Codes, target: Codes, ends: EndGaps) -> Walked:
        """Return the best alignment of a pair, all of it but gaps at both ends."""
        borders = Borders.of(ends, len(query), len(target))
        if not len(query) or not len(target):
            nothing = np.empty((len(query), len(target)), np.int32)
            return borders.end(nothing, ends), np.empty(0, np.uint32)
        pair, listed = (text_of(query), text_of(target)), self._plain.listed
        with self.table(query, target) as table:
            found = borders.end(table, ends)
            costs = self._scoring.insertion, self._scoring.deletion
            way = PathBack(pair, listed, costs, found[1:], from_end_to_end=True)
            way.go(table, borders=borders)
            return found, np.array(way.runs, np.uint32)

    def table(self, query: Codes, target: Codes) -> AbstractContextManager[Int32]:
        """Return H of i, j from 1 for a ``with`` block, shape (m, n); neither is empty."""
        return self._tables.of(self._mode, Texts(text_of(query), text_of(target), self._plain))


def _end_of(found: Walked | Region) -> tuple[int, int, int]:
    """Return the score, i and j of the best cell."""
    return (found.score, *found.end) if isinstance(found, Region) else found[0]


@lru_cache(_KEPT)
def single_pairs(scoring: Scoring, limits: CpuSizes | None = None) -> SinglePairs:
    """Return the `SinglePairs` of a scoring; those of the last ones are kept."""
    return SinglePairs(scoring, limits)


def longest_in_16_bits(scoring: Scoring) -> int:
    """Return the residues up to which a striped local alignment stays in 16 bits; -1 if none do.

    >>> linear = Scoring.match_mismatch(2, -1, 1, 1)
    >>> longest_in_16_bits(Scoring.blast("BLOSUM62", 11, 1)), longest_in_16_bits(linear)
    (1489, -1)
    """
    largest = max(int(np.abs(scoring.matrix).max()), scoring.gap_open)
    if not scoring.local or scoring.gap_open <= scoring.gap_extend or 2 * largest > LARGEST_16:
        return -1
    return (LARGEST_16 - 1) // max(1, int(scoring.matrix.max()))


def own_scores(
    pairs: Iterable[tuple[bytes, bytes]],
    matrices: npt.NDArray[np.integer],
    costs: tuple[int, int],
) -> Int64:
    """Return the local scores of pairs in 16 bits, each with its matrix; -1 if it may leave these.

    The matrices have the shape (N, A, A), pairs are letters of the library, see `text_of`.
    """
    highest = int(matrices.max())
    if costs[0] <= costs[1] or 2 * max(highest, -int(matrices.min()), costs[0]) > LARGEST_16:
        return np.full(len(matrices), -1)
    letters = LETTERS[: matrices.shape[1]]
    found = np.array(
        parasail_calls.best_of_own("sw_striped_16", pairs, costs, letters, matrices), np.int64
    )
    return np.where(found < LARGEST_16 - highest, found, -1)  # sums stop at the largest number


@lru_cache(_KEPT)
def function_of(scoring: Scoring) -> str:
    """Return the name of the library's function for the scores of a mode, "" if it has none."""
    mode = mode_among(_MODES, scoring)
    return f"{mode}_scan_32" if mode else ""


class _Letters:
    """The letters of all sequences, and where each begins."""

    def __init__(self, letters: bytes, offsets: list[int]) -> None:
        self._letters, self._offsets = letters, offsets

    @classmethod
    def of(cls, sequences: Sequences) -> _Letters:
        return cls(text_of(sequences.residues), sequences.offsets.tolist())

    def __getitem__(self, k: int) -> bytes:
        return self._letters[self._offsets[k] : self._offsets[k + 1]]


is_installed = cache(parasail_calls.is_installed)


def fits(scoring: Scoring, residues: int) -> bool:
    """Tell whether all numbers of a pair stay far from 2**31, where the library gives up."""
    largest = max(scoring.maximum, -scoring.minimum, *scoring.deletion)
    return largest * (residues + 2) < _LARGEST_SUM


def takes(scoring: Scoring) -> bool:
    """Return whether the library is installed and computes scores in the mode of a scoring."""
    return is_installed() and function_of(scoring) != ""


def takes_tables(scoring: Scoring) -> bool:
    """Return whether it has tables too, also of alphabets for which engine ``cpu`` has no lanes."""
    return takes(scoring) and len(scoring.alphabet) <= len(LETTERS) and not scoring.separate
