"""Selection on the device in engine ``lanes``: only pairs that pass are read back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from glsw.arrays import UInt32
from glsw.engines.answers import check_found, check_range, impossible
from glsw.engines.lanes.pipeline import Pipeline, Round
from glsw.engines.lanes.targets import OF_PASSING, PASSING, QUERY_BOUNDS, SCORES, TARGET_BOUNDS
from glsw.engines.tiles import NEVER, BoundedTile, Passing
from glsw.sequences.encoded import offsets_of

_NO_TARGET = -(2**31)  # as in compact.comp
_Round: TypeAlias = Round[BoundedTile, list[Passing]]


class Selecting(Pipeline[BoundedTile, list[Passing]]):
    """Computes tiles one after the other, and keeps the pairs that pass: at last as one list."""

    _layout: _Layout | None = None

    def room(self, tile: BoundedTile) -> list[Passing]:
        """Return what collects the pairs of a tile."""
        return []

    def get_ready_to_read(self, current: _Round) -> None:
        """Have the layout of the scores."""
        if current.jobs and (self._layout is None or self._layout.round is not current):
            self._layout = _Layout(current)

    def reading(self, done: _Round) -> Callable[[], None]:
        """Begin to read the pairs that pass; some scores may be too high for their numbers."""
        self.get_ready_to_read(done)
        if not done.jobs or not self._layout:
            return lambda: self._keep(done, Passing(*np.empty((3, 0), np.int32)))
        used = [each for job in done.jobs for each in job.buffers]
        read = self._engine.reading_of(partial(self._listed, self._layout), used)
        return lambda: self._keep(done, read())

    def _keep(self, done: _Round, stored: Passing) -> None:
        """Collect them; of the last queries of a tile add those that lanes do not compute."""
        done.make_room().append(stored)
        if done.last:
            done.make_room()[:] = [self._all(done)]

    def _all(self, done: _Round) -> Passing:
        engine, tile = self._engine, done.tile
        query, target, score = (
            np.concatenate(each) for each in zip(*done.make_room(), strict=True)
        )
        high = np.flatnonzero(score >= engine.wrong_from)
        score[high] = engine.exact(tile, query[high], target[high])
        found = zip((query, target, score), self._others(done), strict=True)
        query, target, score = (np.append(*each) for each in found)
        passes = score >= np.minimum(tile.query_bounds[query], tile.target_bounds[target])
        query, target, score = query[passes], target[passes], score[passes]
        longest = (each.longest for each in (tile.queries, tile.targets))
        check_found(engine, score, *longest)
        order = np.lexsort((target, query))
        query, target = query[order], target[order]
        if ((query[1:] == query[:-1]) & (target[1:] == target[:-1])).any():
            raise impossible(engine, "a pair twice")
        return Passing(query, target, score[order])

    def _others(self, done: _Round) -> Passing:
        """Return pairs with a sequence without residues, which score 0, or a too long target."""
        m, n = done.tile.queries.lengths, done.tile.targets.lengths
        some, others = np.flatnonzero(m), np.append(done.targets.beyond, np.flatnonzero(n == 0))
        empty, queries = np.flatnonzero(m == 0), done.tile.queries
        query = np.append(np.repeat(some, len(others)), np.repeat(empty, len(n))).astype(np.int32)
        target = np.append(np.tile(others, len(some)), np.tile(np.arange(len(n)), len(empty)))
        score = np.zeros(len(query), np.int32)
        long = (m[query] > 0) & (n[target] > 0)
        alone = query[~long]
        first = queries.offsets[alone]
        if ends := self._engine.scoring.ends_of(queries.residues, first, m[alone]):
            score[~long] = ends.alone(m[alone], n[target[~long]])
        pairs = query[long], target[long]
        score[long] = self._engine.exact(done.tile, *pairs, done.progress)
        return Passing(query, target.astype(np.int32), score)

    def _listed(self, layout: _Layout) -> Callable[[], Passing]:
        """Have the device list the scores that pass; return what gives their pairs."""
        engine, usual = self._engine, self._engine.limits.passing
        engine.upload(QUERY_BOUNDS, layout.query_bounds)
        engine.upload(TARGET_BOUNDS, layout.target_bounds)
        room = max(usual, engine.reserve(PASSING, 0).size // 8 - 1)
        listed = self._listing(layout, room)

        def taken() -> Passing:
            words = listed()
            count = int(words[0])
            check_range(engine, "a number of pairs of", count, 0, layout.scores)
            if count > room:
                words = self._listing(layout, layout.scores)()
                check_range(engine, "a number of pairs of", int(words[0]), count, count)
            entries = words[2 : 2 * count + 2].copy()
            if count > usual:
                size, offset = 8 * (count - usual), 8 * (usual + 1)
                rest = engine.device.readback.read(engine.reserve(PASSING, 0), size, offset)
                entries = np.append(entries, rest.view(np.uint32))
            check_range(engine, "a pair with number", entries[::2], 0, layout.scores - 1)
            return layout.pairs(entries.reshape(-1, 2))

        return taken

    def _listing(self, layout: _Layout, room: int) -> Callable[[], UInt32]:
        """Have so many scores listed, at most; return what gives their number and usual ones."""
        engine, limits = self._engine, self._engine.limits
        buffer = engine.reserve(PASSING, 8 * (room + 1))
        buffer.write(np.array([0, room], np.uint32).tobytes())
        program = engine.program("compact.comp", WORKGROUP=limits.passing_lanes)
        program["limit"] = min(engine.wrong_from, NEVER)
        for binding in OF_PASSING:
            engine.reserve(binding, 0)
        for k, job in enumerate(layout.round.jobs):
            job.scores.bind_to_storage_buffer(SCORES.number)
            for name in ("targets", "first_score", "first_query", "first_target"):
                program[name] = int(getattr(layout, name)[k])
            along = -(-int(layout.targets[k]) // limits.passing_lanes)
            program.run(min(along, limits.passing_groups), len(job.rows))
        engine.device.ctx.memory_barrier()
        contents = engine.device.readback.begin([(buffer, 8 * (limits.passing + 1))])
        return lambda: contents()[0].view(np.uint32)


class _Layout:
    """Which query and target each score of a round has, and their bounds, in the order of the jobs.

    Jobs with the same targets share these.
    """

    def __init__(self, done: _Round) -> None:
        self.round, jobs, tile = done, done.jobs, done.tile
        self.targets = np.array([job.row_size for job in jobs], np.int64)
        counts = np.array([len(job.rows) for job in jobs], np.int64)
        *first_score, self.scores = offsets_of(self.targets * counts).tolist()
        self.first_score = np.array(first_score, np.int64)
        self.first_query = offsets_of(counts)[:-1]
        self._query = np.concatenate([job.rows["query"] for job in jobs])
        self.query_bounds = tile.query_bounds[self._query]
        none = np.int32(-1)  # the target of the last score of a row
        shares = {id(job.targets): np.append(np.r_[job.targets.positions], none) for job in jobs}
        before = offsets_of([*map(len, shares.values())]).tolist()
        first = dict(zip(shares, before, strict=False))
        self.first_target = np.array([first[id(job.targets)] for job in jobs], np.int64)
        self._target = np.concatenate([*shares.values()]).astype(np.int32)
        bounds = np.append(tile.target_bounds, np.int32(_NO_TARGET))
        self.target_bounds = bounds[self._target]

    def pairs(self, entries: UInt32) -> Passing:
        """Return the pairs of the entries of compact.comp, shape (N, 2)."""
        numbers = entries[:, 0].astype(np.int64)
        job = np.searchsorted(self.first_score, numbers, "right") - 1
        row, stored = np.divmod(numbers - self.first_score[job], self.targets[job])
        query = self._query[self.first_query[job] + row]
        target = self._target[self.first_target[job] + stored]
        return Passing(query, target, entries[:, 1].astype(np.int32))
