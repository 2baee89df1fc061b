"""Pipelined scans of engine ``lanes``: the device computes while the host prepares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

import numpy as np

from glsw.arrays import Int32, Intp
from glsw.cores import in_threads
from glsw.engines.answers import check_found
from glsw.engines.base import Progress, Proportion
from glsw.engines.lanes.geometry import BORDER, profile_letters
from glsw.engines.lanes.jobs import Job
from glsw.engines.lanes.rows import Placed, Rows, bounds_of, only, stacked, stacks, together
from glsw.engines.lanes.targets import SortedTargets
from glsw.engines.tiles import ScanTile
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.tiles import cut

if TYPE_CHECKING:
    from concurrent.futures import Future

    from glsw.engines.lanes.engine import Lanes

_MOST_BYTES = 2**28  # of scores of a round; of scores, and of profiles, of a dispatch
_LEAST_BLOCK, _BLOCKS = 2**20, 8  # bytes of scores that a thread puts in place, and such blocks
_NO_SCORE = -(2**31) + 1  # of global alignments, which may be negative
_MAX_QUERIES = 2048
_MOST_WRONG = 2**16  # scores that wait to be computed again
_FIRST_QUERIES = 256  # so that the device has work soon
_MIRRORED = 128  # rows and columns that lie in the cache of a processor
_MANY = 8  # of these rows, from which on threads share them
_SLICES_AHEAD = 2  # so many can be queued before one is waited for, see `Throttle.overlapping`
_Put: TypeAlias = tuple[Int32, Intp, Intp]
TileT = TypeVar("TileT", bound=ScanTile)
FoundT = TypeVar("FoundT")


@dataclass(eq=False)
class Round(Generic[TileT, FoundT]):
    """Some queries of a tile that are computed together, and once it has begun by what jobs."""

    tile: TileT
    rows: Rows  # the queries
    stacked: int
    """About how many groups one dispatch takes: the same for all tiles with the same targets, so
    that these are packed once."""
    make_room: Callable[[], FoundT]
    """Returns what the tile yields, the same each time; it takes time, better while the device is
    busy."""
    last: bool  # whether these are the last queries of the tile
    begun: bool = field(default=False, init=False)
    targets: SortedTargets = field(init=False)
    jobs: list[Job] = field(init=False)
    progress: Progress = field(init=False)
    slices: Iterator[None] = field(init=False)
    """Queues a slice of time at each step; the device has done all when it ends."""


class Pipeline(ABC, Generic[TileT, FoundT]):
    """Computes tiles one after the other, and prepares the next one meanwhile.

    While a round of queries is being computed, the jobs of the next one are made, or its targets
    are uploaded; its first slice of work is queued as soon as the scores of the last one are read.
    """

    def __init__(self, engine: Lanes, tiles: Iterable[TileT], progress: Progress) -> None:
        self._engine, self._progress = engine, progress
        self._rounds = self._rounds_of(tiles)
        self._following: Round[TileT, FoundT] | None = None

    @abstractmethod
    def room(self, tile: TileT) -> FoundT:
        """Return what is to be filled by a tile."""

    def get_ready_to_read(self, current: Round[TileT, FoundT]) -> None:
        """Do what `reading` needs while the device is busy; called several times."""

    @abstractmethod
    def reading(self, done: Round[TileT, FoundT]) -> Callable[[], None]:
        """Begin to read what a round has found; return what takes it."""

    def run(self) -> Iterator[FoundT]:
        """Yield what each tile has found."""
        engine, current = self._engine, next(self._rounds, None)
        self._start(current)
        while current:
            ahead, rate = self._look_ahead(current.tile.targets), engine.hints.rate
            while True:  # two slices are queued, after which the rate is known longer ones
                if rate is not None:  # it decides how many queries follow
                    next(ahead, None)
                    self.get_ready_to_read(current)
                rate = engine.hints.rate
                if next(current.slices, self) is self:
                    break
            for _ in ahead:
                pass
            following, take = self._following, self.reading(current)
            if begun := following and following.begun:
                self._start(following)
            take()
            found, last, current = current.make_room(), current.last, following
            if not begun:
                self._start(current)
            if last:
                yield found

    def _start(self, work: Round[TileT, FoundT] | None) -> None:
        """Begin a round unless it has begun, and queue its first slices."""
        if work:
            if not work.begun:
                self._begin(work)
            for _ in islice(work.slices, _SLICES_AHEAD):
                pass

    def _look_ahead(self, part: Sequences) -> Iterator[None]:
        """Prepare the next queries, or upload the residues of their targets, in some steps."""
        following = self._following = next(self._rounds, None)
        if not following:
            return
        targets, small = following.tile.targets, self._engine.limits.small_part
        large = targets.size > small
        if large and targets is not part:
            yield from self._engine.targets.prefetch(targets)
        if targets is part or not large or part.size <= small:
            self._begin(following)

    def _begin(self, work: Round[TileT, FoundT]) -> None:
        """Make the jobs of some queries; only the packing of targets is queued."""
        engine, rows, queries, part = self._engine, work.rows, work.tile.queries, work.tile.targets
        engine.device.activate()
        longest = queries.longest
        work.targets = targets = engine.targets.sorted(part, longest, work.stacked)
        halved, once = self.halved(work.tile), len(rows) == len(queries)
        needed = targets.first_needed(rows) if halved else np.zeros(len(bounds_of(rows)) - 1, int)
        with engine.targets.borrowing(engine.queue.unused_borders if once else None):
            work.jobs = self._jobs_of(work, needed)
        work.progress = self._progress
        if halved:
            letters = int(rows["length"].sum())
            long = letters * int(part.lengths[targets.beyond].sum())
            work.progress = expected = Proportion(self._progress)
            computed = sum(job.useful for job in work.jobs)
            expected.expect(computed, letters * part.size - long)
            expected.expect(long, long)
        work.slices, work.begun = engine.queue.slices_of(work.jobs, work.progress), True

    def _jobs_of(self, work: Round[TileT, FoundT], needed: Intp) -> list[Job]:
        """Make the jobs of groups of queries, whose work overlaps.

        ``needed`` has the first target that each group needs, see `SortedTargets.first_needed`;
        targets before it score 0.
        """
        engine, rows, jobs, before = self._engine, work.rows, [], 0
        room = min(_MOST_BYTES, engine.device.info.limits["max_storage_block"])
        for share, long in work.targets.shares:
            first = np.maximum(needed - before, 0)
            before += len(share.order)
            for some, geometry in stacks(engine.geometries, rows, long):
                numbers = [k for k in some if first[k] < len(share.order)]
                if not numbers:
                    continue
                packed, own = engine.targets.pack(share, geometry), only(rows, numbers)
                strips = int(Placed(own, geometry).strips.max())
                profile = geometry.size(profile_letters(engine.scoring)) * strips
                columns = packed.most_columns * geometry.chains * (strips > 1)
                scores = 4 * share.row_size * int(np.bincount(own["group"]).max())
                size = max(profile, scores, columns * BORDER)
                letters = int(np.bincount(own["group"], own["length"]).max())
                cells = packed.most_columns * geometry.group * letters
                most = min(engine.limits.groups, engine.queue.undivided(max(cells, 1)))
                most = max(1, min(room // size, most))
                for start in range(0, len(numbers), most):
                    stack = numbers[start : start + most]
                    each = only(rows, stack)
                    jobs.append(engine.job(work.tile.queries, each, share, geometry, first[stack]))
        for job in jobs:  # loading a program takes milliseconds: not between two slices
            engine.program("lanes.comp", **job.geometry.defines)
        return jobs

    def halved(self, tile: TileT) -> bool:
        """Tell whether each pair is computed in one order only."""
        return False

    def _rounds_of(self, tiles: Iterable[TileT]) -> Iterator[Round[TileT, FoundT]]:
        engine, last, at_once, count = self._engine, None, 1, _FIRST_QUERIES
        cells: float = np.inf if engine.on_software else engine.limits.first_cells
        # A list of all pairs, which may all pass, takes a buffer twice as large as their scores.
        room = min(_MOST_BYTES, engine.device.info.limits["max_storage_block"] // 4)
        for tile in tiles:
            part = tile.targets
            if len(tile.queries) and len(part):
                engine.check_lengths(tile.queries.longest, part.longest)
            most = min(room // (4 * max(1, len(part))), _MAX_QUERIES)
            most = 1 if engine.on_software else max(1, most)
            rows = together(engine.geometries, tile.queries.lengths, len(part))
            bounds, make_room, start = bounds_of(rows), cache(partial(self.room, tile)), 0
            letters, groups = offsets_of(rows["length"])[bounds], len(bounds) - 1
            while not start or start < groups:
                count, most_letters = min(most, count), cells / max(1, part.size)
                stop = int(np.searchsorted(bounds, bounds[start] + count))
                stop = min(stop, int(np.searchsorted(letters, letters[start] + most_letters)))
                stop, cells = min(stop, groups), np.inf
                some = rows[bounds[start] : bounds[stop]].copy()
                some["group"] -= start
                if part is not last:
                    at_once, last = stacked(engine.geometries, some), part
                yield Round(tile, some, at_once, make_room, stop == groups)
                count *= 2
                start = max(1, stop)


class Matrices(Pipeline[ScanTile, Int32]):
    """Computes all scores of each tile, shape (queries, targets).

    Threads put those of a round in place while the next one is prepared.
    """

    _ending: Callable[[], None] | None = None
    _putting: Future[list[_Put]] | None = None
    _wrong: Sequence[tuple[Intp, ...]] = ()  # queries and targets, so far

    def run(self) -> Iterator[Int32]:
        """Yield the scores of each tile."""
        try:
            yield from super().run()
        finally:
            if self._putting:  # before what was read is overwritten, or its memory freed
                self._putting.exception()

    def room(self, tile: ScanTile) -> Int32:
        """Return room for all scores, with those of sequences without letters.

        Where a pair is computed in one order only, the other one has less than any score.
        """
        m, n, ends_of = tile.queries.lengths, tile.targets.lengths, self._engine.scoring.ends_of
        found, residues = tile.room(), tile.queries.residues
        ends, of_empty = ends_of(residues, tile.queries.offsets[:-1], m), ends_of(residues[:0])
        if self.halved(tile):
            found[:] = _NO_SCORE if ends else 0
        found[m == 0] = of_empty.alone(0, n) if of_empty else 0
        found[:, n == 0] = ends.alone(m, 0)[:, None] if ends else 0
        return found

    def get_ready_to_read(self, current: Round[ScanTile, Int32]) -> None:
        """Have memory for the scores, when nothing that is there is needed any more."""
        self._end()
        current.make_room()
        self._engine.device.readback.reserve(sum(job.score_bytes for job in current.jobs))

    def reading(self, done: Round[ScanTile, Int32]) -> Callable[[], None]:
        """Begin to read the scores of the jobs of a round."""
        self._end()
        read = self._engine.reading(done.jobs)
        return lambda: self._keep(done, read())

    def _keep(self, done: Round[ScanTile, Int32], stored: list[Int32]) -> None:
        """Begin to put the scores in place; of the last queries of a tile end it."""
        engine, found = self._engine, done.make_room()
        share = sum(each.nbytes for each in stored) // _BLOCKS
        block = min(engine.limits.block, max(_LEAST_BLOCK, share))
        blocks = [
            (job.targets.positions, job.rows["query"][some], scores[some])
            for job, scores in zip(done.jobs, stored, strict=True)
            for some in cut([offsets_of(np.full(len(scores), scores[0].nbytes))], [block])
        ]
        put = partial(_put, found, engine.wrong_from)
        parts: Callable[[], list[_Put]]
        if len(blocks) > len(stored):
            from concurrent.futures import ThreadPoolExecutor

            thread = ThreadPoolExecutor(1, "glsw-scores")
            self._putting = thread.submit(in_threads, put, blocks)
            thread.shutdown(wait=False)
            parts = self._putting.result
        else:
            parts = [*map(put, blocks)].copy
        self._ending = partial(self._kept, done, parts)
        if done.last:
            self._end()

    def _end(self) -> None:
        """Have the scores in place that were read last."""
        ending, self._ending = self._ending, None
        if ending:
            ending()

    def _kept(self, done: Round[ScanTile, Int32], parts: Callable[[], list[_Put]]) -> None:
        """Have the scores in place, and compute those again that may be wrong.

        They wait for those of the next rounds: what they need would be queued behind two slices.
        """
        engine, tile, found = self._engine, done.tile, done.make_room()
        beyond = done.targets.beyond
        rows, halved = done.rows[done.rows["length"] > 0], self.halved(tile)
        if some := parts():
            extremes, *wrong = (np.concatenate(each) for each in zip(*some, strict=True))
            self._wrong = [*self._wrong, tuple(wrong)]
            longest = max(int(share.lengths[0]) for share, _ in done.targets.shares)
            size = int(rows["length"].max(initial=0)), longest
            check_found(engine, extremes, *size, all_there=not halved)
        if self._wrong and (done.last or sum(len(each[0]) for each in self._wrong) > _MOST_WRONG):
            query, target = (np.concatenate(each) for each in zip(*self._wrong, strict=True))
            found[query, target] = engine.exact(tile, query, target)
            self._wrong = ()
        query, target = np.repeat(rows["query"], len(beyond)), np.tile(beyond, len(rows))
        found[query, target] = engine.exact(tile, query, target, done.progress)
        if done.last and halved:
            mirror(found)

    def halved(self, tile: ScanTile) -> bool:
        """Tell whether the queries are the targets, and the order of a pair makes no difference.

        Scores of short ones take longer to be mirrored than to be computed.
        """
        part, hints = tile.targets, self._engine.hints
        short = part.size <= self._engine.limits.short * len(part)
        return tile.queries is part and hints.halves and not short


def mirror(scores: Int32) -> None:
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


def _put(found: Int32, wrong_from: int, block: tuple[Intp | slice, Intp, Int32]) -> _Put:
    """Put some scores in their place; ``block`` has where they belong in a row, queries, and them.

    Return the least and the highest one, and the queries and targets of those that may be wrong:
    these do not count.
    """
    positions, query, scores = block
    if isinstance(positions, slice):
        found[query, positions] = scores
    else:
        found[query[:, None], positions] = scores
    high, extremes = np.empty((2, 0), np.intp), [scores.min(), scores.max()]
    if extremes[1] >= wrong_from:
        wrong = scores >= wrong_from
        high = np.array(np.nonzero(wrong))
        scores = scores[~wrong]
        targets = np.arange(found.shape[1])[positions]
        high[0], high[1] = query[high[0]], targets[high[1]]
        extremes = [scores.min(), scores.max()] if scores.size else []
    return np.array(extremes, np.int32), high[0], high[1]
