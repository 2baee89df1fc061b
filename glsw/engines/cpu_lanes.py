"""Pairs in lanes of the library Opal: jobs for threads, for engine ``cpu``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells
from glsw.engines import opal
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Job: TypeAlias = "Future[tuple[npt.NDArray[np.intp], BestCells]]"

LANES = 32
"""Targets that are computed together in 8 bits, with AVX2; others have half as many."""
_SMALLEST, _LARGEST = 2**22, 2**28  # cells of a job


class LaneJobs:
    """Pairs of a batch, sorted by query and then length, cut into jobs for threads.

    A job is a list of ranges of pairs, each range with one query: the long targets come first, so
    that the lanes of a range, and the threads, end at about the same time. Target 0 of the batch is
    sequence ``first`` of ``whole``, which the library keeps.
    """

    def __init__(
        self,
        library: opal.Opal,
        whole: Sequences,
        first: int,
        batch: Batch,
        pairs: npt.NDArray[np.intp],
        ends: bool,
    ) -> None:
        order = np.lexsort((-batch.target_lengths[pairs], batch.query_index[pairs]))
        self._pairs = pairs[order]
        self._query = batch.query_index[self._pairs]
        self._cells = (batch.query_lengths * batch.target_lengths)[self._pairs]
        targets = batch.target_index[self._pairs] + np.int32(first)
        encoded = library.encoded(whole, batch.queries)
        self._aligner, self._database = encoded.aligner, encoded.database
        if not np.array_equal(targets, np.arange(len(whole))):
            self._database = library.extracted(encoded.database, targets)
        self._queries, self._ends = batch.queries, ends

    def begin(self, pool: Executor, threads: int) -> list[Job]:
        """Begin; return the jobs, whose results are numbers of pairs and their best cells."""
        return [pool.submit(self._do, job) for job in self._jobs(threads)]

    def _jobs(self, threads: int) -> Iterator[list[range]]:
        before = np.append(0, np.cumsum(self._cells))
        size = min(max(int(before[-1]) // (4 * threads), _SMALLEST), _LARGEST)
        groups = np.flatnonzero(np.diff(self._query, prepend=-1, append=-1)).tolist()
        job: list[range] = []
        begun = 0
        for start, stop in pairwise(groups):
            while start < stop:
                full = int(np.searchsorted(before, before[start] + size))
                rounds = max(1, (full - start) // LANES)  # of full lanes
                job.append(range(start, min(stop, start + rounds * LANES)))
                start = job[-1].stop
                if before[start] - begun >= size:
                    yield job
                    job, begun = [], before[start]
        if job:
            yield job

    def _do(self, job: list[range]) -> tuple[npt.NDArray[np.intp], BestCells]:
        first, last = job[0].start, job[-1].stop
        best = np.concatenate([self._cells_of(pairs) for pairs in job])
        return self._pairs[first:last], BestCells.of(*best.T)

    def _cells_of(self, pairs: range) -> npt.NDArray[np.int32]:
        """Return score, i and j of pairs that have the same query, shape (pairs, 3)."""
        query = opal.text_of(self._queries[int(self._query[pairs.start])])
        align = partial(
            self._aligner.align,
            query,
            self._database,
            # With "buckets" the library loses memory at each overflow.
            overflow="simple",
            start=pairs.start,
            end=pairs.stop,
        )
        best = np.zeros((len(pairs), 3), np.int32)
        if self._ends:
            hits = align(mode="end")
            best[:, 1] = [hit.query_end + 1 for hit in hits]
            best[:, 2] = [hit.target_end + 1 for hit in hits]
        else:
            hits = align(mode="score")
        best[:, 0] = [hit.score for hit in hits]
        return best
