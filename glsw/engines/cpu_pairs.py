"""Pairs by the library parasail, one after the other: for engine ``cpu``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.engines.cpu_tables import Walked, best_path
from glsw.paths import BestCells, Ends, Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences, distinct

MAX_TABLE = 2**24
"""Cells of a table that is kept for an alignment, 4 bytes each."""
_SMALLEST, _LARGEST = 2**20, 2**28  # cells of a job

_Pairs: TypeAlias = npt.NDArray[np.intp]
_FoundT = TypeVar("_FoundT")


class SinglePairs:
    """Scores and alignments of pairs, by SIMD instructions along the query.

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
        from importlib.metadata import version

        self.version = version("parasail")
        self._scoring, self._letters = scoring, letters
        self._costs = scoring.gap_open, scoring.gap_extend

    @cached_property
    def _library(self) -> tuple[Any, Any]:
        """The library and its matrix; to import it takes 50 ms."""
        import parasail

        matrix = parasail.matrix_create(self._letters[: len(self._scoring.alphabet)], 0, 0)
        for (query, target), score in np.ndenumerate(self._scoring.matrix):
            matrix.set_value(target, query, int(score))  # its rows are of the second
        return parasail, matrix

    def scores(
        self, batch: Batch, pairs: _Pairs, threads: int
    ) -> Iterator[tuple[_Pairs, BestCells]]:
        """Yield numbers of pairs and their scores, with cells at 0, in any order."""
        for done, found in self._run(self._score, batch, pairs, threads):
            yield done, BestCells.of(found, [0] * len(found), [0] * len(found))

    def cells(
        self, batch: Batch, pairs: _Pairs, threads: int
    ) -> Iterator[tuple[_Pairs, BestCells]]:
        """Yield numbers of pairs and their conventional ends, in any order."""
        for done, found in self._run(self._path, batch, pairs, threads):
            yield done, BestCells.of(*zip(*(cell for cell, _ in found), strict=True))

    def paths(
        self, batch: Batch, pairs: _Pairs, threads: int, progress: Callable[[int], None]
    ) -> Paths:
        """Return the alignments of pairs, in order."""
        walked: dict[int, Walked] = {}
        cells = batch.query_lengths * batch.target_lengths
        for done, found in self._run(self._path, batch, pairs, threads):
            walked.update(zip(done.tolist(), found, strict=True))
            progress(int(cells[done].sum()))
        score, i, j = np.array([walked[p][0] for p in pairs.tolist()], np.int32).reshape(-1, 3).T
        ends = Ends(score, np.stack([i, j], axis=1))
        return Paths.of(ends, [walked[p][1] for p in pairs.tolist()])

    def _run(
        self, do: Callable[[Any, str, str], _FoundT], batch: Batch, pairs: _Pairs, threads: int
    ) -> Iterator[tuple[_Pairs, list[_FoundT]]]:
        """Yield numbers of pairs and what is found for them, in any order."""
        from concurrent.futures import ThreadPoolExecutor, as_completed

        if not len(pairs):
            return
        cells = np.cumsum((batch.query_lengths * batch.target_lengths)[pairs])
        size = min(max(int(cells[-1]) // (8 * threads), _SMALLEST), _LARGEST)
        bounds = distinct(np.searchsorted(cells, np.arange(size, cells[-1], size)))
        queries, targets = self._texts(batch.queries), self._texts(batch.targets)
        library, _ = self._library  # before there are threads

        def job(some: _Pairs) -> tuple[_Pairs, list[_FoundT]]:
            index = batch.index[some].tolist()
            return some, [do(library, queries[q], targets[t]) for q, t in index]

        with ThreadPoolExecutor(threads) as pool:
            jobs = [pool.submit(job, some) for some in np.split(pairs, bounds)]
            try:
                for done in as_completed(jobs):
                    yield done.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _score(self, library: Any, query: str, target: str) -> int:
        result = library.sw_scan_32(query, target, *self._costs, self._library[1])
        return int(result.score)

    def _path(self, library: Any, query: str, target: str) -> Walked:
        result = library.sw_table_scan_32(query, target, *self._costs, self._library[1])
        first = ord(self._letters[0])
        rows, columns = (np.frombuffer(text.encode(), np.uint8) - first for text in (query, target))
        return best_path(result.score_table, result.score, rows, columns, self._scoring)

    def _texts(self, sequences: Sequences) -> _Texts:
        table = self._letters.encode().ljust(256)
        letters = sequences.residues.tobytes().translate(table).decode("ascii")
        return _Texts(letters, sequences.offsets.tolist())


class _Texts:
    """The letters of all sequences, and where each begins."""

    def __init__(self, letters: str, offsets: list[int]) -> None:
        self._letters, self._offsets = letters, offsets

    def __getitem__(self, k: int) -> str:
        return self._letters[self._offsets[k] : self._offsets[k + 1]]


@cache
def is_installed() -> bool:
    """Return whether the library is installed."""
    return importlib.util.find_spec("parasail") is not None
