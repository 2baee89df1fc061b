"""Scans a database: the best targets of each query by score, before anything is aligned."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import tee
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.hits import joined
from glsw.arrays import Int64
from glsw.engines import Engine
from glsw.engines.base import ComingScan, Progress
from glsw.engines.tiles import ScanTile
from glsw.engines.windows import Places, scan_windows
from glsw.run.pool import Runner
from glsw.run.tasks import Pace, run_tasks
from glsw.run.workers import Worker, this_worker
from glsw.search.ranking import NOTHING, Found, RankedHits, Ranking, target_numbers
from glsw.sequences.database import Database, Numbers
from glsw.sequences.encoded import Sequences, bounds_of
from glsw.sequences.tiles import Tile
from glsw.statistics import ScoreHistogram

_MAX_PENDING_SCORES = 2**26  # of queries with one part of a database
FEW_QUERIES = 64
"""Queries that may share a second of the device."""
_SECONDS_AT_ONCE = 1.5
_FIRST_CELLS = 2**43  # of few queries while the rate of a GPU is not known
_LARGE_CELLS, _LARGE_RESIDUES = 2**40, 2**25
_MAX_PENDING_QUERIES = 64  # if each has a histogram, or keeps the hits of all targets
_FEW_HITS = 32  # times as many, if few targets are expected to be hits


class Part(NamedTuple):
    """Sequences of a database, sorted.

    Parameters
    ----------
    load : callable
        Returns them; reads those of a file.
    numbers : ndarray of integers, shape (sequences,)
        Their original numbers.
    offsets : ndarray of int64, shape (sequences + 1,)
        Where each begins in the database, and where the last one ends.
    """

    load: Callable[[], Sequences]
    numbers: Numbers
    offsets: Int64

    @property
    def lengths(self) -> Int64:
        """The residues of each."""
        return np.diff(self.offsets)

    @classmethod
    def of(cls, database: Database, chosen: slice, *, loads_all: bool = False) -> Part:
        """Return a slice of the sorted sequences; all of them are always the same object.

        If it ``loads_all`` sequences, they stay in memory, and the slice is a part of them.
        """

        def load() -> Sequences:
            if loads_all or (chosen.start, chosen.stop) == (0, len(database)):
                return database.sequences.part(chosen)
            return database.part(chosen)

        return cls(load, database.order[chosen], bounds_of(database.offsets, chosen))

    def kept(self) -> Part:
        """Return this part, which loads its sequences once."""
        return self._replace(load=cache(self.load))

    def loaded(self) -> Part:
        """Return this part with its sequences, which other processes can have."""
        return self._replace(load=partial(self.load().part, slice(None)))


class ScanResult(NamedTuple):
    """The hits of one query, and what it took to find them.

    Parameters
    ----------
    found : Found
    seconds : float
        Wall time.
    engine : str
        What found them, if it was not the engine of this process.
    devices : dict of hashable to str
        Likewise, of each worker.
    memory : int
        Bytes of device memory, likewise.
    histogram : ScoreHistogram, optional
        The scores of all sequences, if they are needed.
    following : int
        The results behind this one that are ready too.
    """

    found: Found = NOTHING
    seconds: float = 0.0
    engine: str = ""
    devices: Mapping[Hashable, str] = {}
    memory: int = 0
    histogram: ScoreHistogram | None = None
    following: int = 0

    def merged(self, other: ScanResult, ranking: Ranking) -> ScanResult:
        """Return the result of the query with two parts of the database."""
        return ScanResult(
            ranking.merged(self.found, other.found),
            self.seconds + other.seconds,
            joined([self.engine, other.engine]),
            {**self.devices, **other.devices},
            max(self.memory, other.memory),
            added(self.histogram, other.histogram),
        )


def check_longest(engine: Engine, queries: Sequences, database: Database) -> None:
    """Raise ValueError if the longest query and target are too long together for the engine."""
    if len(queries) and len(database):
        engine.check_lengths(queries.longest, int(database.offsets[1]))


def scan(
    engine: Engine,
    queries: Sequences,
    parts: Sequence[Part],
    ranking: Ranking,
    progress: Progress | None = None,
) -> Iterator[ScanResult]:
    """Yield the hits of each query.

    If there is one part, it takes as many queries at a time as the engine computes together. If
    there are several, all queries meet a part before the next part is loaded, or as many queries as
    there is room for the scores of.
    """
    residues = sum(int(part.offsets[-1] - part.offsets[0]) for part in parts)
    room = _MAX_PENDING_SCORES // max([1, *(len(part.numbers) for part in parts)])

    def groups() -> Iterator[Sequences]:
        first = 0
        while first < len(queries):
            at_once = queries_at_once(engine, queries.offsets[first:], residues)
            if len(parts) > 1:
                at_once = max_pending(ranking, max(at_once, room))
            at_once = max(1, min(at_once, room))
            yield queries.part(slice(first, first + at_once))
            first += at_once

    ours, theirs = tee(groups())  # a group is cut when the engine is ready for it
    tiles = (ScanTile(some, part.load()) for some in theirs for part in parts)
    scores_of_tiles = scan_windows(engine, tiles, progress=progress)
    for some in ours:
        start = time.perf_counter()
        hits = [NOTHING] * len(some)
        histograms = [ranking.histogram() for _ in some]
        for part in parts:
            scores, places = next(scores_of_tiles)
            best_of_each = ranking.best_of_each(scores, part.numbers, some.lengths)
            for q, (row, best) in enumerate(zip(scores, best_of_each, strict=True)):
                found = Found(best)
                if places is not None:
                    found = _placed(best, q, int(some.lengths[q]), places, part.numbers, ranking)
                hits[q] = ranking.merged(hits[q], found) if len(hits[q]) else found
                if (histogram := histograms[q]) is not None:
                    histogram.add(row, part.lengths)
        seconds = shares(time.perf_counter() - start, some.lengths)
        following = range(len(some) - 1, -1, -1)
        of_each = zip(hits, seconds, histograms, following, strict=True)
        for each, share, histogram, k in of_each:
            yield ScanResult(each, share, histogram=histogram, following=k)


def queries_at_once(engine: Engine, offsets: npt.NDArray[np.int64], residues: int) -> int:
    """Return how many of the next queries the engine should see together.

    Few queries may take it a second: they share its lanes best if their lengths are similar.

    Parameters
    ----------
    engine : Engine
    offsets : ndarray of int64, shape (queries + 1,)
        Of queries in their residues.
    residues : int
        Of all targets.
    """
    cells = (offsets[1:] - offsets[0]) * residues
    many = int(np.searchsorted(cells, engine.hints.cells_at_once, "right"))
    rate = engine.hints.rate
    most = _FIRST_CELLS if rate is None else rate * _SECONDS_AT_ONCE
    return max(1, many, int(np.searchsorted(cells[:FEW_QUERIES], most, "right")))


def large_first(engine: Engine, queries: Sequences, residues: int) -> bool:
    """Tell whether a scan is the first of an engine that may be fast, and large, or to read."""
    large = residues >= _LARGE_RESIDUES or len(queries.residues) * residues >= _LARGE_CELLS
    return engine.hints.rate is None and large


def _placed(
    hits: RankedHits,
    query: int,
    letters: int,
    places: Places,
    numbers: Numbers,
    ranking: Ranking,
) -> Found:
    """Return the hits of a query in a part, with the windows of the targets that were cut."""
    cut = numbers[places.targets]
    _, rows, which = np.intersect1d(target_numbers(hits), cut, return_indices=True)
    if not len(rows):
        return Found(hits)
    columns, windows = np.zeros((len(hits), 2), np.int64), np.full(len(hits), None)
    for row, target in zip(rows.tolist(), places.targets[which].tolist(), strict=True):
        windows[row] = own = places.windows(query, target)
        columns[row] = own.columns(letters)
    return Found(hits, columns, windows if ranking.keeps_windows else None)


def max_pending(ranking: Ranking, queries: int) -> int:
    """Return how many of these queries may be scanned before the first results are taken."""
    if ranking.bin_width is None and ranking.top is not None:
        return queries
    return min(queries, _MAX_PENDING_QUERIES * (_FEW_HITS if ranking.keeps_few else 1))


def added(one: ScoreHistogram | None, other: ScoreHistogram | None) -> ScoreHistogram | None:
    """Return the sum of two histograms, of which either may be missing."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def shares(seconds: float, work: npt.NDArray[np.int64]) -> list[float]:
    """Divide a time among queries by the work that each was."""
    parts: list[float] = (seconds / max(1, work.sum()) * work).tolist()
    return parts


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
        where: dict[Hashable, str] = {this_worker(): engine.where}
        memory = engine.memory_used
        return [
            each._replace(engine=engine.label, devices=where, memory=memory, following=0)
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

    found: dict[int, ScanResult] = {}
    missing = np.full(len(queries) + 1, within.stop - within.start)
    start, done = time.perf_counter(), 0  # since the last results, how many there have been
    assert run.workers
    for piece, worker, answer in run_tasks(task, run.workers, "search"):
        some, part = piece
        for q, each in zip(range(some.start, some.stop), answer.value, strict=True):
            found[q] = found[q].merged(each, ranking) if q in found else each
        cells = piece.cells(queries.offsets, database.offsets)
        worker.measured(cells, answer)
        run.report(cells)
        missing[some] -= part.stop - part.start
        ready = done + int(missing[done:].astype(bool).argmax())
        seconds = shares(time.perf_counter() - start, queries.lengths[done:ready])
        for q, share in zip(range(done, ready), seconds, strict=True):
            yield found.pop(q)._replace(seconds=share, following=ready - q - 1)
            start = time.perf_counter()
        done = ready
