"""Pairs in the SIMD lanes of the library Opal, spread over threads, for engine ``cpu``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells
from glsw.arrays import Int32, Intp
from glsw.engines import opal
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Job: TypeAlias = "Future[tuple[Intp, BestCells]]"


@dataclass(frozen=True)
class CpuSizes:
    """Sizes by which engine ``cpu`` cuts work, and at which it changes what it does."""

    lanes: int = 32  # targets computed together in 8 bits, with AVX2; others have half as many
    job: int = 2**22  # cells of a job in lanes, at least
    job_of_singles: int = 2**20  # the same of single pairs
    largest_job: int = 2**28
    long: int = 2**32  # cells of a pair: seconds in a lane, in which nothing can interrupt
    together: int = 2**14  # pairs of several queries whose jobs are made at once
    few_targets: int = 512  # of a query, of which one that is repeated takes much of the time
    parts_of_whole: int = 64  # parts of sequences that are all copied: others probably follow
    # Cells of a table that is kept for an alignment, 4 bytes each, and of a pair of which such a
    # table is a part, found by passes in a second or two.
    table: int = 2**27
    passes: int = 2**32
    windows: int = 2**24  # cells of a pair from which windows replace its target
    walked: int = 2**16  # mean cells of tables, which take no longer than the walk back
    whole_table: int = 2**15  # cells of a local table of which all is kept
    column_table: int = 2**18  # the same of which whole columns are kept
    # Cells of a table of which so many are kept at once, so that threads do not take many GiB; and
    # of which one is.
    large_table: int = 2**22
    large_tables: int = 8
    huge_table: int = 2**24
    # Cells from which the library writes a table sooner by diagonals than by columns, of which each
    # is another line of the cache for each row: 16000 x 16000 take 1.6 s instead of 5.6.
    by_diagonals: int = 2**21
    begins: int = 6  # pairs of residues with which the best local alignments of a pair may begin
    # Letters of the library for pairs of a mask, and for more of them on a path that has some.
    forbidden: int = 160
    forbidden_again: int = 16
    # Pairs of a mask up to which alignments do not find ways between those with letters.
    sparse: int = 640


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
        pairs: Intp,
        ends: bool,
        limits: CpuSizes,
    ) -> None:
        self._limits = limits
        order = np.lexsort((-batch.target_lengths[pairs], batch.query_index[pairs]))
        self._pairs = pairs[order]
        self._query = batch.query_index[self._pairs]
        self._cells = (batch.query_lengths * batch.target_lengths)[self._pairs]
        targets = batch.target_index[self._pairs] + np.int32(first)
        encoded = library.encoded(whole, batch.queries)
        database = encoded.database
        if not np.array_equal(targets, np.arange(len(whole))):
            database = library.extracted(encoded.database, targets)
        self._queries, self._ends = batch.queries, ends
        self._align = partial(
            encoded.aligner.align,
            database=database,
            algorithm=library.algorithm,
            mode="end" if ends else "score",
            # With "buckets" the library loses memory at each overflow.
            overflow="simple",
        )
        self._offset = library.scoring.score_offset(*batch.lengths[self._pairs].T)

    def begin(self, pool: Executor, threads: int) -> list[Job]:
        """Begin; return the jobs, whose results are numbers of pairs and their best cells."""
        return [pool.submit(self._do, job) for job in self._jobs(threads)]

    def _jobs(self, threads: int) -> Iterator[list[range]]:
        before = np.append(0, np.cumsum(self._cells))
        size = min(
            max(int(before[-1]) // (4 * threads), self._limits.job), self._limits.largest_job
        )
        lanes = self._limits.lanes
        groups = np.flatnonzero(np.diff(self._query, prepend=-1, append=-1)).tolist()
        job: list[range] = []
        begun = 0
        for start, stop in pairwise(groups):
            while start < stop:
                full = int(np.searchsorted(before, before[start] + size))
                rounds = max(1, (full - start) // lanes)  # of full lanes
                job.append(range(start, min(stop, start + rounds * lanes)))
                start = job[-1].stop
                if before[start] - begun >= size:
                    yield job
                    job, begun = [], before[start]
        if job:
            yield job

    def _do(self, job: list[range]) -> tuple[Intp, BestCells]:
        some = slice(job[0].start, job[-1].stop)
        found = np.concatenate([self._cells_of(pairs) for pairs in job], axis=1)
        ends = found[1:] + 1 if self._ends else np.zeros((2, found.shape[1]), np.int32)
        return self._pairs[some], BestCells.of(found[0] + self._offset[some], *ends)

    def _cells_of(self, pairs: range) -> Int32:
        """Return scores, or rows of scores and ends, of pairs that have the same query."""
        query = opal.text_of(self._queries[int(self._query[pairs.start])])
        hits = self._align(query, start=pairs.start, end=pairs.stop)
        names = ("score", "query_end", "target_end") if self._ends else ("score",)
        columns = (np.fromiter(map(attrgetter(name), hits), np.int32, len(hits)) for name in names)
        return np.stack([*columns])
