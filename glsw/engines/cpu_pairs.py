"""Pairs that share no query, by the library parasail: for engine ``cpu``."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences, distinct

_SMALLEST, _LARGEST = 2**20, 2**28  # cells of a job


class SinglePairs:
    """Scores of pairs, one after the other, by SIMD instructions along the query.

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
        """Its function and its matrix; to import it takes 50 ms."""
        import parasail

        matrix = parasail.matrix_create(self._letters[: len(self._scoring.alphabet)], 0, 0)
        for (query, target), score in np.ndenumerate(self._scoring.matrix):
            matrix.set_value(target, query, int(score))  # its rows are of the second
        return parasail.sw_scan_32, matrix

    def run(
        self, batch: Batch, pairs: npt.NDArray[np.intp], threads: int
    ) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.int32]]]:
        """Yield numbers of pairs and their scores, in any order."""
        from concurrent.futures import ThreadPoolExecutor, as_completed

        cells = np.cumsum((batch.query_lengths * batch.target_lengths)[pairs])
        size = min(max(int(cells[-1]) // (8 * threads), _SMALLEST), _LARGEST)
        bounds = distinct(np.searchsorted(cells, np.arange(size, cells[-1], size)))
        queries, targets = self._texts(batch.queries), self._texts(batch.targets)
        _ = self._library  # before there are threads
        with ThreadPoolExecutor(threads) as pool:
            jobs = [
                pool.submit(self._do, queries, targets, batch.index[some], some)
                for some in np.split(pairs, bounds)
            ]
            try:
                for job in as_completed(jobs):
                    yield job.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _do(
        self,
        queries: _Texts,
        targets: _Texts,
        index: npt.NDArray[np.int32],
        pairs: npt.NDArray[np.intp],
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int32]]:
        costs, (align, matrix) = self._costs, self._library
        scores = [align(queries[q], targets[t], *costs, matrix).score for q, t in index.tolist()]
        return pairs, np.array(scores, np.int32)

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
