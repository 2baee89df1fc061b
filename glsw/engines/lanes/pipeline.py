"""The order of work of scans by engine ``lanes``: the device is busy while the host prepares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from glsw.cores import in_threads
from glsw.engines.base import Proportion
from glsw.engines.lanes.jobs import Round
from glsw.engines.lanes.rows import Rows, bounds_of, joined, only, stacked, together
from glsw.engines.tiles import ScanTile
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    from glsw.engines.base import Progress
    from glsw.engines.lanes.engine import Lanes

_MAX_SCORE_BYTES = 2**28
_MAX_QUERIES = 2048
_FIRST_QUERIES = 256  # so that the device has work soon
_MIRRORED = 128  # rows and columns that lie in the cache of a processor
_MANY = 8  # of these rows, from which on threads share them
TileT = TypeVar("TileT", bound=ScanTile)
FoundT = TypeVar("FoundT")
StoredT = TypeVar("StoredT")


@dataclass(frozen=True, eq=False)
class Work(Generic[FoundT]):
    """Queries of a task that are computed together.

    Parameters
    ----------
    queries, part : Sequences
        Of the task.
    rows : Rows
        The queries.
    stacked : int
        About how many groups one dispatch takes: the same for all tiles with one part, so that its
        targets are packed once.
    found : object
        What the task yields.
    last : bool
        Whether these are the last queries of the task.
    """

    queries: Sequences
    part: Sequences
    rows: Rows
    stacked: int
    found: FoundT
    last: bool


class Pipeline(ABC, Generic[TileT, FoundT, StoredT]):
    """Computes tiles one after the other, and prepares the next one meanwhile.

    While a round of queries is being computed, the jobs of the next one are made, or its targets
    are uploaded; its first slice of work is queued as soon as the scores of the last one are read.
    """

    def __init__(self, engine: Lanes, tiles: Iterable[TileT], progress: Progress) -> None:
        self._engine, self._progress = engine, progress
        self._works = self._work_of(tiles)
        self._next: tuple[Work[FoundT] | None, Round | None] = None, None
        self._begun = engine.on_software

    @abstractmethod
    def room(self, tile: TileT) -> FoundT:
        """Return what is to be filled by a tile."""

    def get_ready_to_read(self, work: Work[FoundT], current: Round) -> None:
        """Do what `reading` needs while the device is busy; called several times."""

    @abstractmethod
    def reading(self, work: Work[FoundT], done: Round) -> Callable[[], StoredT]:
        """Begin to read what some queries of a task have found; return what returns it."""

    @abstractmethod
    def keep(self, work: Work[FoundT], done: Round, stored: StoredT) -> None:
        """Take what has been read."""

    def run(self) -> Iterator[FoundT]:
        """Yield what each task has found."""
        engine = self._engine
        work = next(self._works, None)
        current = self._started(work) if work else None
        while work and current:
            part = work.part
            engine.meanwhile = self._look_ahead(part)
            while True:  # two slices are queued
                if engine.hints.rate is not None:  # it decides how many queries follow
                    engine.do_meanwhile()
                    self.get_ready_to_read(work, current)
                if next(current.slices, self) is self:
                    break
            while engine.do_meanwhile():
                pass
            following, prepared = self._next
            read = self.reading(work, current)
            if prepared:
                engine.queue.ahead(prepared.slices)
            self.keep(work, current, read())
            engine.targets.forget_before()
            current = prepared
            if following and not current:
                current = self._started(following)
            packings = engine.targets.packings
            if work.last:
                yield work.found
            if following and packings != engine.targets.packings:  # the caller has used the engine
                current = self._started(following)
            work = following

    def _started(self, work: Work[FoundT]) -> Round:
        """Make the jobs of some queries, and queue the first slices of their work."""
        found = self._begin(work)
        self._engine.queue.ahead(found.slices)
        return found

    def _look_ahead(self, part: Sequences) -> Iterator[None]:
        """Prepare the next queries, or upload the residues of their targets, in some steps."""
        following = next(self._works, None)
        self._next = following, None
        if not following:
            return
        same = following.part is part
        small = self._engine.limits.small_part
        large = len(following.part.residues) > small
        if large and not same:
            yield from self._engine.targets.prefetch(following.part)
        if same or not large or len(part.residues) <= small:
            self._next = following, self._begin(following)

    def _begin(self, work: Work[FoundT]) -> Round:
        """Make the jobs of some queries; nothing is queued yet but the packing of targets."""
        engine = self._engine
        engine.device.activate()
        which = np.arange(len(work.part), dtype=np.int32)
        longest = int(work.queries.lengths.max(initial=0))
        targets = engine.targets_of(work.part, which, longest, work.stacked)
        rows = work.rows
        if not self.halved(work.queries, work.part):
            return engine.round_of(work.queries, rows, targets, self._progress)
        report, needed = Proportion(self._progress), targets.first_needed(rows)
        found = engine.round_of(work.queries, rows, targets, report, needed)
        letters = int(rows["length"].sum())
        beyond = targets.beyond
        long = letters * int(work.part.lengths[beyond].sum())
        whole = letters * len(work.part.residues)
        report.expect(sum(job.useful for job in found.jobs), whole - long)
        report.expect(long, long)
        return found

    def halved(self, queries: Sequences, part: Sequences) -> bool:
        """Tell whether each pair is computed in one order only."""
        return False

    def _work_of(self, tiles: Iterable[TileT]) -> Iterator[Work[FoundT]]:
        last, at_once, count = None, 1, _FIRST_QUERIES
        for tile in tiles:
            queries, part = tile.queries, tile.targets
            engine = self._engine
            engine.check_lengths(queries, part)
            found, lengths, left = self.room(tile), queries.lengths, len(queries)
            most = min(_MAX_SCORE_BYTES // (4 * max(1, len(part))), _MAX_QUERIES)
            most = 1 if engine.on_software else max(1, most)
            tables = together(engine.geometries, lengths, len(part))
            while True:
                count = min(most, count)
                cells = np.inf if self._begun else engine.limits.first_cells
                self._begun = True
                some, rest = _first_of(tables, count, cells / max(1, len(part.residues)))
                tables = chain(rest, tables)
                left -= len(some)
                if part is not last:
                    at_once, last = stacked(engine.geometries, some), part
                yield Work(queries, part, some, at_once, found, not left)
                count *= 2
                if not left:
                    break


def _first_of(tables: Iterator[Rows], queries: int, letters: float) -> tuple[Rows, list[Rows]]:
    """Return the next groups until they have so many queries, or letters; and a table's rest."""
    found: list[Rows] = []
    for table in tables:
        ends = bounds_of(table)[1:]
        sums = np.cumsum(table["length"], dtype=np.int64)[ends - 1]
        enough = np.flatnonzero((ends >= queries) | (sums >= letters))
        if len(enough):
            last, total = int(enough[0]), len(ends)
            found.append(only(table, range(last + 1)))
            rest = [only(table, range(last + 1, total))] if last + 1 < total else []
            return joined(found), rest
        found.append(table)
        queries, letters = queries - len(table), letters - int(sums[-1])
    return joined(found), []


class Matrices(Pipeline[ScanTile, npt.NDArray[np.int32], list[npt.NDArray[np.int32]]]):
    """Computes all scores of each task, shape (queries, targets)."""

    def room(self, tile: ScanTile) -> npt.NDArray[np.int32]:
        """Return room for all scores."""
        whole = not self.halved(tile.queries, tile.targets)
        return self._engine.room_for(tile.queries.lengths, tile.targets.lengths, whole=whole)

    def get_ready_to_read(self, work: Work[npt.NDArray[np.int32]], current: Round) -> None:
        """Have memory for the scores."""
        self._engine.device.readback.reserve(sum(job.score_bytes for job in current.jobs))

    def reading(
        self, work: Work[npt.NDArray[np.int32]], done: Round
    ) -> Callable[[], list[npt.NDArray[np.int32]]]:
        """Begin to read the scores of the jobs of a round."""
        return self._engine.reading(done.jobs)

    def keep(
        self,
        work: Work[npt.NDArray[np.int32]],
        done: Round,
        stored: list[npt.NDArray[np.int32]],
    ) -> None:
        """Put the scores in place."""
        self._engine.finish(done, stored, work.found)
        if work.last and self.halved(work.queries, work.part):
            mirror(work.found)

    def halved(self, queries: Sequences, part: Sequences) -> bool:
        """Tell whether the queries are the targets, and the order of a pair makes no difference.

        Scores of short ones take longer to be mirrored than to be computed.
        """
        same = queries is part and self._engine.hints.halves
        return same and len(part.residues) > self._engine.limits.short * len(part)


def mirror(scores: npt.NDArray[np.int32]) -> None:
    """Give each pair the higher one of its two scores, in a square matrix.

    >>> scores = np.array([[7, 3], [0, 5]], np.int32)
    >>> mirror(scores)
    >>> scores.tolist()
    [[7, 3], [3, 5]]
    """

    def mirror_rows(i: int) -> None:
        rows = slice(i, i + _MIRRORED)
        for j in range(0, i + 1, _MIRRORED):
            columns = slice(j, j + _MIRRORED)
            higher = np.maximum(scores[rows, columns], scores[columns, rows].T)
            scores[rows, columns], scores[columns, rows] = higher, higher.T

    in_threads(mirror_rows, range(0, len(scores), _MIRRORED)[::-1], _MANY)
