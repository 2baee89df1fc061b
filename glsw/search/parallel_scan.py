"""The scan of a database by several workers: each takes queries and a part of the database."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glsw.engines import Engine, Progress
from glsw.search.pool import EnginePool, counted, run_tasks, task_count
from glsw.search.ranking import RankedHits, Ranking
from glsw.search.scan import Part, ScanResult, added, max_pending, scan, shares
from glsw.search.workers import Worker
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.statistics import ScoreHistogram

if TYPE_CHECKING:
    from concurrent.futures import Executor

_ALL = slice(None)
_MAX_PENDING_QUERIES = 256  # that meet all parts before the first results are there
_MIN_QUERIES_PER_DEVICE = 4  # for a task to be some queries and the whole database


@dataclass(frozen=True)
class _ScanTask:
    """Some queries and a part of a database, which the worker loads."""

    part: Callable[[], Part]
    queries: Sequences
    ranking: Ranking

    def __call__(self, engine: Engine) -> list[ScanResult]:
        found = list(scan(engine, self.queries, [self.part()], self.ranking))
        ran = engine.label, engine.where, engine.memory_used
        return [
            ScanResult(each.hits, each.seconds, *ran, each.histogram, each.places) for each in found
        ]


@dataclass(frozen=True)
class _TaskPart:
    """A part of a database; other processes read it from the file, or get it if that is gone."""

    database: Database
    chosen: slice

    def __call__(self) -> Part:
        return Part.of(self.database, self.chosen)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.database.reopens:
            place = pickle.dumps(self.database), self.chosen.start, self.chosen.stop
            return partial, (_part_of_file, *place)
        return partial, (Part, *self().loaded())


@lru_cache(maxsize=1)
def _part_of_file(database: bytes, start: int, stop: int) -> Part:
    return Part.of(_opened(database), slice(start, stop))


@lru_cache(maxsize=1)
def _opened(pickled: bytes) -> Database:
    database: Database = pickle.loads(pickled)
    return database


def scan_database(
    pool: EnginePool,
    queries: Sequences,
    database: Database,
    ranking: Ranking,
    progress: Progress | None = None,
    executor: Executor | None = None,
    within: slice = _ALL,
) -> Iterator[ScanResult]:
    """Yield the hits of each query, found by the workers of a pool, by an executor or here.

    Only those ``within`` a slice of the sorted sequences of the database are looked at.
    """
    engine = pool.engine
    start, stop, _ = within.indices(len(database))
    total = int(database.offsets[stop] - database.offsets[start])
    workers = pool.workers(executor)
    if not workers:
        parts = [Part.of(database, each) for each in database.parts(engine.part, within)]
        if len(parts) == 1:
            parts = [parts[0].kept()]
        return scan(engine, queries, parts, ranking, progress)
    tasks = task_count(workers)
    slices = list(database.parts(min(engine.part, max(total // tasks, 1)), within))
    # Devices that can map the whole database share the queries, if there are enough of them.
    enough = len(queries) >= _MIN_QUERIES_PER_DEVICE * len(workers)
    if pool.several and enough and database.path and total <= engine.part:
        slices = [slice(start, stop)]
    slices = slices or [slice(0, 0)]
    return _scan_by(workers, slices, engine, queries, database, ranking, progress)


def _scan_by(
    workers: list[Worker],
    slices: Sequence[slice],
    engine: Engine,
    queries: Sequences,
    database: Database,
    ranking: Ranking,
    progress: Progress | None,
) -> Iterator[ScanResult]:
    parts = [_TaskPart(database, each) for each in slices]
    residues = np.diff(database.offsets[[[each.start, each.stop] for each in slices]])
    size = engine.cells_at_once // max(1, int(residues.sum()))
    pending = len(queries) if len(slices) == 1 else _MAX_PENDING_QUERIES
    at_once = max(1, max_pending(ranking, pending))
    for first in range(0, len(queries), at_once):
        some = queries.part(slice(first, first + at_once))
        shared = [slice(0, len(some))]
        if len(slices) == 1:
            shared = list(_shares(some.offsets, size, len(workers)))
        merges = [Merge() for _ in some]
        chosen = [(part, numbers) for numbers in shared for part in range(len(slices))]
        tasks = [_ScanTask(parts[part], some.part(numbers), ranking) for part, numbers in chosen]
        missing = np.repeat(len(slices), len(some))
        start, done = time.perf_counter(), 0  # since the last results, how many there have been
        for k, worker, found in run_tasks(tasks, workers, engine, "search"):
            part, numbers = chosen[k]
            for merge, each in zip(merges[numbers], found, strict=True):
                merge.add(each, worker, ranking)
            if progress:
                progress(int(residues[part, 0]) * len(tasks[k].queries.residues))
            missing[numbers] -= 1
            ready = done + int(np.append(missing[done:], 1).argmax())
            seconds = shares(time.perf_counter() - start, some.part(slice(done, ready)))
            for q, share in zip(range(done, ready), seconds, strict=True):
                yield merges[q].result(share, ready - q - 1)
                start = time.perf_counter()
            done = ready


@dataclass
class Merge:
    """The results of one query with parts of the database, from any workers or shards."""

    hits: RankedHits = field(default_factory=lambda: np.empty(0, np.int64))
    histogram: ScoreHistogram | None = None
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    engines: dict[str, None] = field(default_factory=dict)
    devices: dict[Hashable, str] = field(default_factory=dict)
    memory: int = 0

    def add(self, found: ScanResult, worker: Hashable, ranking: Ranking) -> None:
        """Add the result with a part."""
        self.hits = ranking.merged(self.hits, found.hits)
        self.histogram = added(self.histogram, found.histogram)
        self.places |= found.places or {}
        self.engines[found.engine] = None
        self.devices[worker] = found.device
        self.memory = max(self.memory, found.memory)

    def result(self, seconds: float, following: int) -> ScanResult:
        """Return the result with the whole database."""
        return ScanResult(
            self.hits,
            seconds,
            " and ".join(self.engines),
            counted(self.devices.values()),
            self.memory,
            self.histogram,
            self.places or None,
            following,
        )


def _shares(offsets: npt.NDArray[np.int64], most: int, workers: int) -> Iterator[slice]:
    """Yield slices of queries, a task each: smaller ones near the end, so that all end together.

    Parameters
    ----------
    offsets : ndarray of int64, shape (queries + 1,)
        Of the residues of the queries.
    most : int
        The residues of a task, about.
    workers : int

    Examples
    --------
    >>> [each.stop for each in _shares(np.arange(0, 1300, 100), 300, 2)]
    [3, 5, 6, 7, 8, 9, 10, 11, 12]
    """
    start, count = 0, len(offsets) - 1
    while start < count:
        size = min(most, int(offsets[-1] - offsets[start]) // (2 * workers))
        stop = int(np.searchsorted(offsets, offsets[start] + size, "right")) - 1
        yield slice(start, stop := min(count, max(start + 1, stop)))
        start = stop
