"""The order of work of scans by engine ``lanes``: the device is busy while the host prepares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from glsw.cores import in_threads
from glsw.engines.answers import check_found
from glsw.engines.base import Progress, Proportion
from glsw.engines.lanes.geometry import INT32, profile_letters
from glsw.engines.lanes.jobs import Job
from glsw.engines.lanes.rows import Placed, Rows, bounds_of, joined, only, stacked, stacks, together
from glsw.engines.lanes.targets import SortedTargets
from glsw.engines.tiles import ScanTile
from glsw.frozen import dataclass
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.tiles import cut

if TYPE_CHECKING:
    from glsw.engines.lanes.engine import Lanes

_MAX_SCORE_BYTES = 2**28
_MAX_STACKED_BYTES = 2**28  # of scores, and of profiles, of queries in one dispatch
_LEAST_BLOCK, _BLOCKS = 2**20, 8  # bytes of scores that a thread puts in place, and such blocks
_NO_SCORE = -(2**31) + 1  # of global alignments, which may be negative
_MAX_QUERIES = 2048
_FIRST_QUERIES = 256  # so that the device has work soon
_MIRRORED = 128  # rows and columns that lie in the cache of a processor
_MANY = 8  # of these rows, from which on threads share them
Scores: TypeAlias = npt.NDArray[np.int32]
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


@dataclass(frozen=True, eq=False)
class Round(Generic[FoundT]):
    """The jobs that compute the scores of some queries of a task.

    Parameters
    ----------
    work : Work
    targets : SortedTargets
    jobs : list of Job
    slices : iterator
        Queues a slice of time at each step; the device has done all when it ends.
    progress : callable
    """

    work: Work[FoundT]
    targets: SortedTargets
    jobs: list[Job]
    slices: Iterator[None]
    progress: Progress


class Pipeline(ABC, Generic[TileT, FoundT, StoredT]):
    """Computes tiles one after the other, and prepares the next one meanwhile.

    While a round of queries is being computed, the jobs of the next one are made, or its targets
    are uploaded; its first slice of work is queued as soon as the scores of the last one are read.
    """

    def __init__(self, engine: Lanes, tiles: Iterable[TileT], progress: Progress) -> None:
        self._engine, self._progress = engine, progress
        self._works = self._work_of(tiles)
        self._next: tuple[Work[FoundT] | None, Round[FoundT] | None] = None, None
        self._begun = engine.on_software

    @abstractmethod
    def room(self, tile: TileT) -> FoundT:
        """Return what is to be filled by a tile."""

    def get_ready_to_read(self, current: Round[FoundT]) -> None:
        """Do what `reading` needs while the device is busy; called several times."""

    @abstractmethod
    def reading(self, done: Round[FoundT]) -> Callable[[], StoredT]:
        """Begin to read what some queries of a task have found; return what returns it."""

    @abstractmethod
    def keep(self, done: Round[FoundT], stored: StoredT) -> None:
        """Take what has been read."""

    def run(self) -> Iterator[FoundT]:
        """Yield what each task has found."""
        engine, work = self._engine, next(self._works, None)
        current = self._started(work) if work else None
        while current:
            work = current.work
            ahead = self._look_ahead(work.part)
            while True:  # two slices are queued
                if engine.hints.rate is not None:  # it decides how many queries follow
                    next(ahead, None)
                    self.get_ready_to_read(current)
                if next(current.slices, self) is self:
                    break
            for _ in ahead:
                pass
            following, prepared = self._next
            read = self.reading(current)
            if prepared:
                engine.queue.ahead(prepared.slices)
            self.keep(current, read())
            engine.targets.forget_before()
            current = prepared
            if following and not current:
                current = self._started(following)
            if work.last:
                yield work.found
            if following and current and current.targets is not engine.targets.present:
                # The caller has used the engine.
                current = self._started(following)

    def _started(self, work: Work[FoundT]) -> Round[FoundT]:
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

    def _begin(self, work: Work[FoundT]) -> Round[FoundT]:
        """Make the jobs of some queries; nothing is queued yet but the packing of targets."""
        engine, rows = self._engine, work.rows
        engine.device.activate()
        longest = int(work.queries.lengths.max(initial=0))
        targets = engine.targets_of(work.part, longest, work.stacked)
        if not self.halved(work.queries, work.part):
            jobs = self._jobs_of(work, targets, np.zeros(len(bounds_of(rows)) - 1, np.intp))
            report = self._progress
        else:
            jobs = self._jobs_of(work, targets, targets.first_needed(rows))
            letters = int(rows["length"].sum())
            long = letters * int(work.part.lengths[targets.beyond].sum())
            whole = letters * len(work.part.residues)
            report = expected = Proportion(self._progress)
            expected.expect(sum(job.useful for job in jobs), whole - long)
            expected.expect(long, long)
        return Round(work, targets, jobs, engine.queue.slices_of(jobs, report), report)

    def _jobs_of(
        self, work: Work[FoundT], targets: SortedTargets, needed: npt.NDArray[np.intp]
    ) -> list[Job]:
        """Make the jobs of groups of queries, whose work overlaps.

        ``needed`` has the first target that each group needs, see `SortedTargets.first_needed`;
        targets before it score 0.
        """
        engine, rows, jobs, before = self._engine, work.rows, [], 0
        for share, long in targets.shares:
            first = np.maximum(needed - before, 0)
            before += len(share.order)
            for some, geometry in stacks(engine.geometries, rows, long):
                numbers = [k for k in some if first[k] < len(share.order)]
                if not numbers:
                    continue
                packed, own = engine.pack(share, geometry), only(rows, numbers)
                strips = int(Placed(own, geometry).strips.max())
                profile = geometry.size(profile_letters(engine.scoring)) * strips
                columns = int(packed.columns.max()) * geometry.chains * (strips > 1)
                scores = 4 * packed.row_size * int(np.bincount(own["group"]).max())
                size = max(profile, scores, columns * geometry.border)
                most = max(1, min(_MAX_STACKED_BYTES // size, engine.limits.groups))
                for start in range(0, len(numbers), most):
                    stack = numbers[start : start + most]
                    each = only(rows, stack)
                    jobs.append(engine.job(work.queries, each, share, geometry, first[stack]))
        for job in jobs:  # loading a program takes milliseconds: not between two slices
            engine.program("lanes.comp", **job.geometry.defines)
        return jobs

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


class Matrices(Pipeline[ScanTile, Scores, list[Scores]]):
    """Computes all scores of each task, shape (queries, targets).

    Threads put those of a round in place while the next one is prepared.
    """

    _keeping: Generator[None] | None = None

    def run(self) -> Iterator[Scores]:
        """Yield all scores of each task."""
        try:
            yield from super().run()
        finally:
            if self._keeping:
                self._keeping.close()

    def room(self, tile: ScanTile) -> Scores:
        """Return room for all scores, with those of sequences without letters.

        Where a pair is computed in one order only, the other one has less than any score.
        """
        m, n, ends_of = tile.queries.lengths, tile.targets.lengths, self._engine.scoring.ends_of
        found, residues = np.empty((len(m), len(n)), np.int32), tile.queries.residues
        ends, of_empty = ends_of(residues, tile.queries.offsets[:-1], m), ends_of(residues[:0])
        if self.halved(tile.queries, tile.targets):
            found[:] = _NO_SCORE if ends else 0
        found[m == 0] = of_empty.alone(0, n) if of_empty else 0
        found[:, n == 0] = ends.alone(m, 0)[:, None] if ends else 0
        return found

    def get_ready_to_read(self, current: Round[Scores]) -> None:
        """Have memory for the scores, when nothing that is there is needed any more."""
        self._end()
        self._engine.device.readback.reserve(sum(job.score_bytes for job in current.jobs))

    def reading(self, done: Round[Scores]) -> Callable[[], list[Scores]]:
        """Begin to read the scores of the jobs of a round."""
        self._end()
        return self._engine.reading(done.jobs)

    def keep(self, done: Round[Scores], stored: list[Scores]) -> None:
        """Begin to put the scores in place; of the last queries of a task end it."""
        self._keeping = self._kept(done, stored)
        next(self._keeping)
        if done.work.last:
            self._end()

    def _end(self) -> None:
        """Have the scores in place that were read last."""
        keeping, self._keeping = self._keeping, None
        for _ in keeping or ():
            pass

    def _kept(self, done: Round[Scores], stored: list[Scores]) -> Generator[None]:
        """Begin to put scores in place, and end it."""
        engine, work, beyond = self._engine, done.work, done.targets.beyond
        rows, found = work.rows[work.rows["length"] > 0], work.found
        numbers, halved = rows["query"], self.halved(work.queries, work.part)
        can = np.zeros(len(found), np.bool_)  # whether a query has scores that floats do not hold
        if engine.geometries.number != INT32:
            most = rows["length"].astype(np.int64) * engine.scoring.maximum
            can[numbers] = (most >= engine.wrong_from) if engine.scoring.local else True
        total = sum(each.nbytes for each in stored)
        block = min(engine.limits.block, max(_LEAST_BLOCK, total // _BLOCKS))
        blocks = [
            (job.targets.positions, job.rows["query"][some], scores[some])
            for job, scores in zip(done.jobs, stored, strict=True)
            for some in cut([offsets_of(np.full(len(scores), scores[0].nbytes))], [block])
        ]
        put = partial(_put, found, can, engine.wrong_from)
        if len(blocks) > len(stored):
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(1, "glsw-scores") as thread:
                putting = thread.submit(in_threads, put, blocks)
                yield
                parts = putting.result()
        else:
            parts = [*map(put, blocks)]
            yield
        if parts:
            extremes, query, target = (np.concatenate(each) for each in zip(*parts, strict=True))
            found[query, target] = engine.exact(work.queries, work.part, query, target)
            longest = max(int(share.lengths[0]) for share, _ in done.targets.shares)
            size = int(rows["length"].max(initial=0)), longest
            check_found(engine, extremes, *size, all_there=not halved)
        query, target = np.repeat(numbers, len(beyond)), np.tile(beyond, len(numbers))
        exact = engine.exact(work.queries, work.part, query, target, done.progress)
        found[query, target] = exact
        if work.last and halved:
            mirror(found)

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


def _put(
    found: Scores,
    can: npt.NDArray[np.bool_],
    wrong_from: int,
    block: tuple[npt.NDArray[np.intp] | slice, npt.NDArray[np.int32], Scores],
) -> tuple[Scores, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Put some scores in their place; ``block`` has where they belong in a row, queries, and them.

    Return the least and the highest one, and the queries and targets of those that may be wrong,
    of the queries that ``can`` have such: these do not count.
    """
    positions, query, scores = block
    if isinstance(positions, slice):
        found[query, positions] = scores
    elif len(positions) == found.shape[1]:  # to gather takes a third of the time of scattering
        found[query] = np.take(scores, np.argsort(positions), axis=1)
    else:
        found[query[:, None], positions] = scores
    high, extremes = np.empty((2, 0), np.intp), [scores.min(), scores.max()]
    if extremes[1] >= wrong_from and can[query].any():
        wrong = (scores >= wrong_from) & can[query][:, None]
        high = np.array(np.nonzero(wrong))
        scores = scores[~wrong]
        targets = np.arange(found.shape[1])[positions]
        high[0], high[1] = query[high[0]], targets[high[1]]
        extremes = [scores.min(), scores.max()] if scores.size else []
    return np.array(extremes, np.int32), high[0], high[1]
