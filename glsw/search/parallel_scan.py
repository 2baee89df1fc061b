"""The scan of a database by several workers: each takes queries and a part of the database."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from glsw.engines import Engine, Progress
from glsw.search.pool import EnginePool, counted, run_tasks, task_count
from glsw.search.ranking import Ranking
from glsw.search.scan import Part, ScanResult, added, max_pending, scan, shares
from glsw.search.workers import Worker
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.statistics import ScoreHistogram

if TYPE_CHECKING:
    from concurrent.futures import Executor

_MAX_PENDING_QUERIES = 256  # that meet the whole database before the first results are there
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


@lru_cache(maxsize=16)
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
) -> Iterator[ScanResult]:
    """Yield the hits of each query, found by the workers of a pool, by an executor or here."""
    engine = pool.engine
    workers = pool.workers(executor)
    if not workers:
        parts = [Part.of(database, each) for each in database.sequences.parts(engine.part)]
        return scan(engine, queries, parts, ranking, progress)
    tasks = task_count(workers)
    slices = list(database.sequences.parts(min(engine.part, max(database.residues // tasks, 1))))
    # Devices that can map the whole database share the queries, if there are enough of them.
    enough = len(queries) >= _MIN_QUERIES_PER_DEVICE * len(workers)
    if pool.several and enough and database.path and database.residues <= engine.part:
        slices = [slice(0, len(database))]
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
    if database.path:
        pickled = pickle.dumps(database)
        parts = [partial(_part_of_file, pickled, each.start, each.stop) for each in slices]
    else:  # the records stay here
        parts = [partial(Part, *Part.of(database, each)) for each in slices]
    offsets = database.sequences.offsets
    at_once = max_pending(ranking, _MAX_PENDING_QUERIES)
    for first in range(0, len(queries), at_once):
        start = time.perf_counter()
        some = queries.part(slice(first, first + at_once))
        hits = [np.empty(0, np.int64)] * len(some)
        histograms: list[ScoreHistogram | None] = [None] * len(some)
        places: list[dict[int, tuple[int, int]]] = [{} for _ in some]
        engines: dict[str, None] = {}
        devices: dict[Worker, str] = {}
        memory = 0
        shared = _query_groups(some, len(slices))
        chosen = [(part, numbers) for part in range(len(slices)) for numbers in shared]
        tasks = [_ScanTask(parts[part], some.select(numbers), ranking) for part, numbers in chosen]
        for k, worker, found in run_tasks(tasks, workers, engine, "search"):
            part, numbers = chosen[k]
            for q, each in zip(numbers, found, strict=True):
                hits[q] = ranking.merged(hits[q], each.hits)
                histograms[q] = added(histograms[q], each.histogram)
                places[q] |= each.places or {}
                engines[each.engine] = None
                devices[worker] = each.device
                memory = max(memory, each.memory)
            if progress:
                residues = int(offsets[slices[part].stop] - offsets[slices[part].start])
                progress(residues * len(tasks[k].queries.residues))
        ran = " and ".join(engines), counted(devices.values()), memory
        seconds = shares(time.perf_counter() - start, some)
        following = range(len(some) - 1, -1, -1)
        found_of_each = zip(hits, seconds, histograms, places, following, strict=True)
        for one, share, histogram, place, k in found_of_each:
            yield ScanResult(one, share, *ran, histogram, place or None, k)


def _query_groups(queries: Sequences, parts: int) -> list[list[int]]:
    """Return the numbers of the queries of each task: all, or pairs from the longest on."""
    if parts > 1:
        return [list(range(len(queries)))]
    order = np.argsort(-queries.lengths, kind="stable").tolist()
    return [order[k : k + 2] for k in range(0, len(order), 2)]
