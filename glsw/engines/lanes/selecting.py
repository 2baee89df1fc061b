"""Scores of engine ``lanes`` that never leave the device: only the pairs that pass are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from itertools import chain
from typing import TYPE_CHECKING

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.engines.answers import check_found, check_range, impossible
from glsw.engines.gl import Binding
from glsw.engines.lanes.geometry import INT32
from glsw.engines.lanes.pipeline import Pipeline, Round
from glsw.engines.lanes.targets import BORDERS, COLUMNS, SCORES, SLOTS, Targets
from glsw.engines.tiles import NEVER, BoundedTile, Passing
from glsw.frozen import dataclass
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import offsets_of

if TYPE_CHECKING:
    from glsw.engines.base import Progress
    from glsw.engines.lanes.engine import Lanes

BINDINGS = QUERY_BOUNDS, TARGET_BOUNDS, PASSING = (
    Binding("QUERY_BOUNDS", COLUMNS.number),  # which `compact` does not read
    Binding("TARGET_BOUNDS", SLOTS.number),
    Binding("PASSING", BORDERS.number),
)
_NO_TARGET = -(2**31)  # as in compact.comp


class Selecting(Pipeline[BoundedTile, "Selected", Passing]):
    """Computes tiles one after the other, and keeps the pairs that pass."""

    _layout: _Layout | None = None

    def room(self, tile: BoundedTile) -> Selected:
        """Return what collects the pairs of a tile."""
        return Selected(tile)

    def get_ready_to_read(self, current: Round[Selected]) -> None:
        """Have the layout of the scores."""
        if current.jobs and (self._layout is None or self._layout.round is not current):
            self._layout = _Layout(current)

    def reading(self, done: Round[Selected]) -> Callable[[], Passing]:
        """Begin to read the pairs that pass; some scores may be too high for their numbers."""
        if not done.jobs:
            return lambda: Passing(*np.empty((3, 0), np.int32))
        self.get_ready_to_read(done)
        assert self._layout
        layout, entries = self._layout, _compacting(self._engine, self._layout)
        return lambda: layout.pairs(entries())

    def keep(self, done: Round[Selected], stored: Passing) -> None:
        """Collect them."""
        done.work.found.parts.append(stored)
        done.work.found.beyond = done.targets.beyond


@dataclass(eq=False)
class Selected:
    """The pairs of a tile that pass, round by round, and which targets lanes do not compute."""

    tile: BoundedTile
    parts: list[Passing] = field(default_factory=list)
    beyond: npt.NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))

    def all(self, engine: Lanes, progress: Progress) -> Passing:
        """Return all, with those that lanes do not compute."""
        tile = self.tile
        found = [
            *self.parts,
            *_of_empty(tile, engine.scoring),
            _of_long(engine, tile, self.beyond, progress),
        ]
        query, target, score = (np.concatenate(each) for each in zip(*found, strict=True))
        if engine.geometries.number != INT32:
            high = np.flatnonzero(score >= engine.wrong_from)
            score[high] = engine.exact(tile.queries, tile.targets, query[high], target[high])
            bounds = np.minimum(tile.query_bounds[query], tile.target_bounds[target])
            passes = score >= bounds
            query, target, score = query[passes], target[passes], score[passes]
        longest = (int(each.lengths.max(initial=0)) for each in (tile.queries, tile.targets))
        check_found(engine, score, *longest)
        order = np.lexsort((target, query))
        query, target = query[order], target[order]
        if ((query[1:] == query[:-1]) & (target[1:] == target[:-1])).any():
            raise impossible(engine, "a pair twice")
        return Passing(query, target, score[order])


class _Layout:
    """Which query and target each score of a round has, and their bounds, in the order of the jobs.

    Jobs with the same targets share these.
    """

    def __init__(self, done: Round[Selected]) -> None:
        self.round, jobs, tile = done, done.jobs, done.work.found.tile
        self.targets = np.array([job.row_size for job in jobs], np.int64)
        counts = np.array([len(job.rows) for job in jobs], np.int64)
        *first_score, self.scores = offsets_of(self.targets * counts).tolist()
        self.first_score = np.array(first_score, np.int64)
        self.first_query = offsets_of(counts)[:-1]
        self._query = np.concatenate([job.rows["query"] for job in jobs])
        self.query_bounds = tile.query_bounds[self._query]
        shares = {id(job.targets): _targets_of(job.targets) for job in jobs}
        before = offsets_of([*map(len, shares.values())]).tolist()
        first = dict(zip(shares, before, strict=False))
        self.first_target = np.array([first[id(job.targets)] for job in jobs], np.int64)
        self._target = np.concatenate([*shares.values()])
        bounds = np.append(tile.target_bounds, np.int32(_NO_TARGET))
        self.target_bounds = bounds[self._target]

    def pairs(self, entries: npt.NDArray[np.uint32]) -> Passing:
        """Return the pairs of the entries of compact.comp, shape (N, 2)."""
        numbers = entries[:, 0].astype(np.int64)
        job = np.searchsorted(self.first_score, numbers, "right") - 1
        row, stored = np.divmod(numbers - self.first_score[job], self.targets[job])
        query = self._query[self.first_query[job] + row]
        target = self._target[self.first_target[job] + stored]
        return Passing(query, target, entries[:, 1].astype(np.int32))


def _targets_of(share: Targets) -> npt.NDArray[np.int32]:
    """Return the number of the target of each score of a row, -1 of that of none."""
    positions = share.positions
    if isinstance(positions, slice):
        positions = np.arange(positions.start, positions.stop)
    return np.append(positions, -1).astype(np.int32)


def _compacting(engine: Lanes, layout: _Layout) -> Callable[[], npt.NDArray[np.uint32]]:
    """Have the device list the scores that pass; return what gives the list and frees these."""
    device, jobs, usual = engine.device, layout.round.jobs, engine.limits.passing
    device.ctx.memory_barrier()
    device.check("computing lanes")
    engine.count_memory(each for job in jobs for each in job.buffers)
    engine.upload(QUERY_BOUNDS, layout.query_bounds)
    engine.upload(TARGET_BOUNDS, layout.target_bounds)
    room = max(usual, engine.reserve(PASSING, 0).size // 8 - 1)
    listed = _listing(engine, layout, room)
    used = [*engine.pool.behind(), *chain(*(job.buffers for job in jobs))]

    def taken() -> npt.NDArray[np.uint32]:
        buffer, first = listed
        (words,) = (each.view(np.uint32) for each in first())
        count = int(words[0])
        check_range(engine, "a number of pairs of", count, 0, layout.scores)
        if count > room:
            buffer, first = _listing(engine, layout, layout.scores)
            (words,) = (each.view(np.uint32) for each in first())
            check_range(engine, "a number of pairs of", int(words[0]), count, count)
        entries = words[2 : 2 * count + 2].copy()
        if count > usual:
            rest = buffer.read(8 * (count - usual), offset=8 * (usual + 1))
            entries = np.append(entries, np.frombuffer(rest, np.uint32))
        device.check("reading pairs")
        engine.pool.give(used)
        check_range(engine, "a pair with number", entries[::2], 0, layout.scores - 1)
        return entries.reshape(-1, 2)

    return taken


def _listing(
    engine: Lanes, layout: _Layout, room: int
) -> tuple[moderngl.Buffer, Callable[[], list[npt.NDArray[np.uint8]]]]:
    """Have scores listed, so many at most; return where, and what gives their number and some."""
    buffer = engine.reserve(PASSING, 8 * (room + 1))
    buffer.write(np.array([0, room], np.uint32).tobytes())
    _dispatch(engine, layout)
    device = engine.device
    device.ctx.memory_barrier()
    return buffer, device.readback.begin([(buffer, 8 * (engine.limits.passing + 1))])


def _dispatch(engine: Lanes, layout: _Layout) -> None:
    limits = engine.limits
    program = engine.program("compact.comp", WORKGROUP=limits.passing_lanes)
    program["limit"] = NEVER if engine.geometries.number == INT32 else engine.wrong_from
    for binding in BINDINGS:
        engine.reserve(binding, 0)
    for k, job in enumerate(layout.round.jobs):
        job.scores.bind_to_storage_buffer(SCORES.number)
        for name in ("targets", "first_score", "first_query", "first_target"):
            program[name] = int(getattr(layout, name)[k])
        along = -(-int(layout.targets[k]) // limits.passing_lanes)
        program.run(min(along, limits.passing_groups), len(job.rows))


def _of_empty(tile: BoundedTile, scoring: Scoring) -> Iterator[Passing]:
    """Yield the pairs with a sequence without residues that pass: local alignments score 0."""
    queries, targets = (each.lengths == 0 for each in (tile.queries, tile.targets))
    first, m = tile.queries.offsets[:-1, None], tile.queries.lengths[:, None]
    for rows, those in ((~queries, targets), (queries, np.ones(len(targets), np.bool_))):
        if not rows.any() or not those.any():
            continue
        query, columns = np.flatnonzero(rows), np.flatnonzero(those)
        score = np.zeros((len(query), len(columns)), np.int32)
        if ends := scoring.ends_of(tile.queries.residues, first[query], m[query]):
            score[:] = ends.alone(m[query], tile.targets.lengths[columns])
        bounds = np.minimum(tile.query_bounds[query, None], tile.target_bounds[columns])
        q, t = np.nonzero(bounds <= score)
        yield _pairs(query[q], columns[t], score[q, t])


def _of_long(
    engine: Lanes, tile: BoundedTile, beyond: npt.NDArray[np.intp], progress: Progress
) -> Passing:
    """Return the pairs with targets that are too long for lanes that pass."""
    some = np.flatnonzero(tile.queries.lengths)
    if not len(beyond) or not len(some):
        return _pairs(beyond[:0], beyond[:0], np.empty(0, np.int32))
    query, target = np.repeat(some, len(beyond)), np.tile(beyond, len(some))
    score = engine.exact(tile.queries, tile.targets, query, target, progress)
    passes = score >= np.minimum(tile.query_bounds[query], tile.target_bounds[target])
    return _pairs(query[passes], target[passes], score[passes])


def _pairs(
    query: npt.NDArray[np.integer], target: npt.NDArray[np.integer], score: npt.NDArray[np.int32]
) -> Passing:
    return Passing(query.astype(np.int32), target.astype(np.int32), score)
