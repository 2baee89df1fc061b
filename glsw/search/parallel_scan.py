"""The scan of a database by several workers: each takes queries and a part of the database."""

from __future__ import annotations

import pickle
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np

from glsw.engines import Engine
from glsw.engines.base import ComingScan
from glsw.engines.windows import WindowScores
from glsw.run.pool import Runner, counted
from glsw.run.tasks import Pace, run_tasks
from glsw.run.workers import Worker
from glsw.search.ranking import RankedHits, Ranking
from glsw.search.scan import (
    FEW_QUERIES,
    Part,
    ScanResult,
    added,
    large_first,
    max_pending,
    scan,
    shares,
)
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.sequences.tiles import Tile
from glsw.statistics import ScoreHistogram

_ALL = slice(None)
_MAX_PENDING_QUERIES = 256  # that meet all parts before the first results are there
_MAX_PENDING_HITS = 2**22  # of a task, if all are kept
_RESIDUES_TOGETHER, _FEW_RESIDUES_TOGETHER = 4096, 512
"""Residues of queries that meet a part, so that their cells outweigh its upload, or need not."""


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
            ScanResult(
                *(each.hits, each.seconds, *ran, each.histogram, each.places),
                windows=each.windows,
            )
            for each in found
        ]


@dataclass(frozen=True)
class _TaskPart:
    """A part of a database; other processes read it from the file, or get it if that is gone."""

    database: Database
    chosen: slice
    loads_all: bool

    def __call__(self) -> Part:
        return Part.of(self.database, self.chosen, loads_all=self.loads_all)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.database.reopens:
            place = pickle.dumps(self.database), self.chosen.start, self.chosen.stop
            return partial, (_part_of_file, *place, self.loads_all)
        return partial, (Part, *self().loaded())


@lru_cache(maxsize=1)
def _part_of_file(database: bytes, start: int, stop: int, loads_all: bool) -> Part:
    return Part.of(_opened(database), slice(start, stop), loads_all=loads_all)


@lru_cache(maxsize=1)
def _opened(pickled: bytes) -> Database:
    database: Database = pickle.loads(pickled)
    return database


def scan_database(
    run: Runner, queries: Sequences, database: Database, ranking: Ranking, within: slice = _ALL
) -> Iterator[ScanResult]:
    """Yield the hits of each query, found by workers or by the engine of this process.

    Only those ``within`` a slice of the sorted sequences of the database are looked at.
    """
    engine = run.engine
    start, stop, _ = within.indices(len(database))
    if not run.workers or start == stop:
        slices = list(database.parts(engine.hints.part, within))
        parts = [Part.of(database, each) for each in slices]
        residues = int(database.offsets[stop] - database.offsets[start])
        first = 0
        if len(parts) == 1:
            parts = [parts[0].kept()]
            if large_first(engine, queries, residues):
                first = FEW_QUERIES
                if not database.reads_residues:
                    parts = [parts[0].ahead()]
        engine.get_ready(ComingScan(queries.lengths, residues, first))
        return scan(engine, queries, parts, ranking, run.progress)
    within = slice(start, stop)
    cut = _Pieces(run.workers, engine, queries, database, ranking, within)
    return _scan_by(run, cut, queries, database, ranking, within)


class _Pieces:
    """Cuts pieces of the size that the rates of the workers ask for.

    If the engine has room for the whole database, queries meet all of it, or a few queries a part
    after the other while a task has no time for more: large parts keep engines busy. If it has not,
    as many queries as may be pending meet a part after the other, so that each is read once.
    """

    def __init__(
        self,
        workers: list[Worker],
        engine: Engine,
        queries: Sequences,
        database: Database,
        ranking: Ranking,
        within: slice,
    ) -> None:
        self._pace, self._queries = Pace(workers, engine.hints.cells_at_once), queries
        self._within = within
        self._targets = database.offsets
        self._residues = int(self._targets[within.stop] - self._targets[within.start])
        self._pending = max(1, max_pending(ranking, min(len(queries), _MAX_PENDING_QUERIES)))
        most = _MAX_PENDING_HITS // max(1, len(database))
        self._pending_whole = max(most, max_pending(ranking, len(queries)))
        self._whole_fits = bool(database.path) and self._residues <= engine.hints.part
        self._most = engine.hints.part
        self._together = (
            _FEW_RESIDUES_TOGETHER if engine.hints.keeps_targets else _RESIDUES_TOGETHER
        )
        self._some, self._target = slice(0, 0), within.stop  # what is cut, and the next target

    def __call__(self, worker: Worker) -> Tile | None:
        """Return the next piece for a worker; None if there is no more."""
        offsets, targets, last = self._queries.offsets, self._targets, self._within.stop
        if self._target == last and self._some.stop == len(self._queries):
            return None
        left = int(offsets[-1] - offsets[self._some.stop]) * self._residues
        left += int(targets[last] - targets[self._target]) * self._residues_of(self._some)
        cells = self._pace.cells(worker, left)
        if self._target == last:
            first = self._some.stop
            stop = min(first + self._pending, len(self._queries))
            if self._whole_fits:
                want = offsets[first] + cells // max(1, self._residues)
                fitting = int(np.searchsorted(offsets, want, "right")) - 1
                if 2 * cells >= self._residues_of(slice(first, first + 1)) * self._residues:
                    fitting = max(fitting, first + 1)
                if fitting > first:
                    self._some = slice(first, min(fitting, first + self._pending_whole))
                    return Tile(self._some, self._within)
                few = int(np.searchsorted(offsets, offsets[first] + self._together))
                stop = min(stop, few)
            self._some = slice(first, stop)
            self._target = self._within.start
        start = self._target
        size = min(self._most, cells // max(1, self._residues_of(self._some)))
        stop = int(np.searchsorted(targets, targets[start] + size, "right")) - 1
        self._target = min(max(stop, start + 1), last)
        return Tile(self._some, slice(start, self._target))

    def _residues_of(self, queries: slice) -> int:
        offsets = self._queries.offsets
        return int(offsets[queries.stop] - offsets[queries.start])


def _scan_by(
    run: Runner,
    cut: Callable[[Worker], Tile | None],
    queries: Sequences,
    database: Database,
    ranking: Ranking,
    within: slice,
) -> Iterator[ScanResult]:
    engine, total = run.engine, int(database.offsets[-1])
    loads_all = engine.hints.keeps_targets and bool(database.path) and total <= engine.hints.part

    def task(worker: Worker) -> tuple[Tile, _ScanTask] | None:
        if (piece := cut(worker)) is None:
            return None
        part = _TaskPart(database, piece.targets, loads_all)
        return piece, _ScanTask(part, queries.part(piece.queries), ranking)

    merges: dict[int, Merge] = defaultdict(Merge)
    missing = np.full(len(queries) + 1, within.stop - within.start)
    start, done = time.perf_counter(), 0  # since the last results, how many there have been
    assert run.workers
    for piece, worker, answer in run_tasks(task, run.workers, "search"):
        some, part = piece
        for q, found in zip(range(some.start, some.stop), answer.value, strict=True):
            merges[q].add(found, answer.thread, ranking)
        cells = piece.cells(queries.offsets, database.offsets)
        worker.measured(cells, answer)
        run.report(cells)
        missing[some] -= part.stop - part.start
        ready = done + int(missing[done:].astype(bool).argmax())
        seconds = shares(time.perf_counter() - start, queries.part(slice(done, ready)))
        for q, share in zip(range(done, ready), seconds, strict=True):
            yield merges.pop(q).result(share, ready - q - 1)
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
    windows: dict[int, WindowScores] = field(default_factory=dict)

    def add(self, found: ScanResult, worker: Hashable, ranking: Ranking) -> None:
        """Add the result with a part."""
        self.hits = ranking.merged(self.hits, found.hits)
        self.histogram = added(self.histogram, found.histogram)
        self.places |= found.places or {}
        self.windows |= found.windows or {}
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
            self.windows or None,
        )
