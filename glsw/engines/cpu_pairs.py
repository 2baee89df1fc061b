"""Pairs by the library parasail, one after the other: for engine ``cpu``."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.engines.cpu_tables import Walked, best_path
from glsw.paths import BestCells, Ends, Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences, distinct

MAX_TABLE = 2**24
"""Cells of a table that is kept for an alignment, 4 bytes each."""
_LARGEST_SUM = 2**30
_LARGE_TABLE, _LARGE_AT_ONCE = 2**22, 8  # so that many threads do not take many GiB
_SMALL_TABLE = 2**16  # cells, on average, which take no longer than the walk back
_SMALLEST, _LARGEST = 2**20, 2**28  # cells of a job

_Pairs: TypeAlias = npt.NDArray[np.intp]
_PairTexts: TypeAlias = "Iterator[tuple[str, str]]"
_FoundT = TypeVar("_FoundT")

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future


class SinglePairs:
    """Scores in all modes and local alignments of pairs, by SIMD instructions along the query.

    The library is parasail (Daily 2016, "Parasail: SIMD C library for global, semi-global, and
    local pairwise sequence alignments", BMC Bioinformatics 17): its prefix scans in 32 bits. Those
    in 8 and 16 bits do not see when gap costs leave the type, and its striped functions are wrong
    now and then where opening a gap costs no more than extending it.

    Parameters
    ----------
    scoring : Scoring
    letters : str
        What codes are called, one letter each.
    """

    def __init__(self, scoring: Scoring, letters: str) -> None:
        self._scoring, self._letters = scoring, letters
        self._costs = scoring.gap_open, scoring.gap_extend
        self._function = function_of(scoring)
        self._room = threading.Semaphore(_LARGE_AT_ONCE)

    @cached_property
    def _scores(self) -> list[list[int]]:
        """The scores of letters by their numbers as characters."""
        first = ord(min(self._letters))
        scores: list[list[int]] = np.pad(self._scoring.matrix, (first, 0)).tolist()
        return scores

    @property
    def version(self) -> str:
        """The version of the library."""
        known = getattr(sys.modules.get("parasail"), "__version__", None)
        if known is None:
            from importlib.metadata import version

            known = version("parasail")
        return str(known)

    @cached_property
    def _library(self) -> tuple[Any, Any]:
        """The library and its matrix; to import it takes 50 ms."""
        import parasail

        matrix = parasail.matrix_create(self._letters[: len(self._scoring.alphabet)], 0, 0)
        for (query, target), score in np.ndenumerate(self._scoring.matrix):
            matrix.set_value(target, query, int(score))  # its rows are of the second
        return parasail, matrix

    def takes(self, batch: Batch) -> bool:
        """Tell whether all numbers stay far from 2**31, where the library gives up."""
        largest = max(int(np.abs(self._scoring.matrix).max()), *self._costs)
        return largest * (int(batch.lengths.sum(axis=1).max(initial=0)) + 2) < _LARGEST_SUM

    def begin(
        self, pool: Executor, batch: Batch, pairs: _Pairs, threads: int, *, ends: bool
    ) -> list[Future[tuple[_Pairs, BestCells]]]:
        """Begin with scores, or conventional ends too; jobs return numbers of pairs and cells."""

        def best(some: _Pairs, texts: _PairTexts) -> tuple[_Pairs, BestCells]:
            if ends:
                cells = np.array([self._path(*each)[0] for each in texts], np.int64)
                return some, BestCells.of(*cells.reshape(-1, 3).T)
            scores = np.array([self._score(*each) for each in texts], np.int64)
            scores += self._scoring.score_offset(*batch.lengths[some].T)
            return some, BestCells.of(scores, 0 * scores, 0 * scores)

        return self._begin(best, pool, batch, pairs, threads)

    def paths(
        self,
        pool: Executor,
        batch: Batch,
        pairs: _Pairs,
        threads: int,
        progress: Callable[[int], None],
    ) -> Paths:
        """Return the alignments of pairs, in order."""

        def walk(some: _Pairs, texts: _PairTexts) -> list[Walked]:
            return [self._path(*each) for each in texts]

        cells = batch.query_lengths * batch.target_lengths
        if int(cells[pairs].sum()) < _SMALL_TABLE * len(pairs):
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
        do: Callable[[_Pairs, _PairTexts], _FoundT],
        pool: Executor,
        batch: Batch,
        pairs: _Pairs,
        threads: int,
    ) -> list[Future[_FoundT]]:
        """Begin with jobs for some pairs each, in order."""
        if not len(pairs):
            return []
        cells = np.cumsum((batch.query_lengths * batch.target_lengths)[pairs])
        jobs = 8 * threads if threads > 1 else 1
        size = min(max(int(cells[-1]) // jobs, _SMALLEST), _LARGEST)
        bounds = distinct(np.searchsorted(cells, np.arange(size, cells[-1], size)))
        queries, targets = self._texts(batch.queries), self._texts(batch.targets)
        _ = self._library  # before there are threads

        def job(some: _Pairs) -> _FoundT:
            return do(some, ((queries[q], targets[t]) for q, t in batch.index[some].tolist()))

        return [pool.submit(job, some) for some in np.split(pairs, bounds)]

    def _score(self, query: str, target: str) -> int:
        library, matrix = self._library
        align = getattr(library, self._function)
        return int(align(query, target, *self._costs, matrix).score)

    def _path(self, query: str, target: str) -> Walked:
        library, matrix = self._library
        large = len(query) * len(target) > _LARGE_TABLE
        with self._room if large else nullcontext():
            result = library.sw_table_scan_32(query, target, *self._costs, matrix)
            pair = query.encode(), target.encode()
            costs = self._scoring.deletion
            return best_path(result.score_table, result.score, pair, self._scores, costs)

    def _texts(self, sequences: Sequences) -> _Texts:
        table = self._letters.encode().ljust(256)
        letters = sequences.residues.tobytes().translate(table).decode("ascii")
        return _Texts(letters, sequences.offsets.tolist())


def function_of(scoring: Scoring) -> str:
    """Return the name of the library's function for the scores of a mode, "" if it has none."""
    if scoring.local:
        return "sw_scan_32"
    ends = {
        "nw": scoring.in_mode("global"),
        "sg": scoring.in_mode("semiglobal"),
        "sg_qx": scoring.in_mode("semiglobal", free="query"),
        "sg_dx": scoring.in_mode("semiglobal", free="target"),
    }
    found = [name for name, each in ends.items() if each.end_gaps == scoring.end_gaps]
    return f"{found[0]}_scan_32" if found else ""


class _Texts:
    """The letters of all sequences, and where each begins."""

    def __init__(self, letters: str, offsets: list[int]) -> None:
        self._letters, self._offsets = letters, offsets

    def __getitem__(self, k: int) -> str:
        return self._letters[self._offsets[k] : self._offsets[k + 1]]


def takes(scoring: Scoring) -> bool:
    """Return whether the library is installed and computes scores in the mode of a scoring."""
    return is_installed() and function_of(scoring) != ""


@cache
def is_installed() -> bool:
    """Return whether the library is installed."""
    return importlib.util.find_spec("parasail") is not None
