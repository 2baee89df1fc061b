"""Jobs of engine ``lanes``: which of their work groups are queued together, and their borders.

The work groups of all jobs stand in one row. A slice is a range of it that takes about
`glsw.engines.throttle.SECONDS`. The device has two slices at once, each with a part of the buffer
of borders, unless that has room for all. No `Layout` cuts these slices: they are ranges of time,
of a length measured as they run, and their memory is sized for them, not they for the memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.arrays import Int32, Int64
from glsw.engines.gl import Binding
from glsw.engines.lanes.geometry import BLOCK, BORDER, COMPARE, Geometry, LaneSizes
from glsw.engines.lanes.rows import Rows
from glsw.engines.lanes.targets import BORDERS, QUERY_PROFILE, Bindable, Section, Targets
from glsw.engines.throttle import LONGEST, SLICES_AT_ONCE, Throttle
from glsw.sequences.encoded import offsets_of

if TYPE_CHECKING:
    from glsw.engines.base import Progress
    from glsw.engines.lanes.engine import Lanes

_SOFTWARE_CELLS = 2**26  # of the first slice of time
_SHORT_CELLS = 2**36  # of the shortest targets, which show how many a slice of time takes
_RATE, _SLOW_RATE = 4e12, 1e11  # assumed with 16-bit floats, and without
_LEAST_BORDER_BYTES = 2**26
_BORDER_BYTES_OF_A_SLICE = 2**24  # so many are cleared and freed while a slice runs out


@dataclass(frozen=True, eq=False)
class WorkGroups:
    """Work groups of lanes that a dispatch can compute, with one geometry."""

    geometry: Geometry
    groups: int  # of queries, in work groups along y
    strips: int
    border_columns: Int64  # places of borders before each work group, and behind the last one
    cells: Int64  # with their padding, before each work group
    useful: int  # cells without padding
    bound: Sequence[tuple[Binding, Bindable]] = ()  # what it needs, besides the next
    profiles: Sequence[Section] = ()  # of all strips, or of each, which then has its own dispatch
    row_size: int = 0  # scores of a query, unless each target has its own

    @property
    def slots(self) -> int:
        """Slots of all work groups: chains of lanes."""
        return (len(self.cells) - 1) * self.geometry.chains

    @cached_property
    def border_bytes(self) -> Int64:
        """Bytes of borders before each work group, of all groups of queries."""
        return self.border_columns * (self.groups * BORDER * (self.strips > 1))


@dataclass(frozen=True, eq=False, kw_only=True)
class Job(WorkGroups):
    """Groups of queries against targets with chains of one length."""

    rows: Rows  # the queries of all groups
    targets: Targets
    scores: moderngl.Buffer
    buffers: tuple[moderngl.Buffer, ...]  # what it alone takes on the device

    @property
    def score_bytes(self) -> int:
        """Bytes of its scores, of padding too."""
        return 4 * self.row_size * len(self.rows)

    def scores_of(self, content: npt.NDArray[np.uint8]) -> Int32:
        """Return the scores in what was read, shape (queries, targets)."""
        return content.view(np.int32).reshape(len(self.rows), -1)[:, :-1]


class Dispatch(NamedTuple):
    """Some work groups of a job, and the bytes of the buffer before their borders."""

    job: WorkGroups
    groups: range
    start: int


class Slices:
    """The work groups of some jobs, one after the other, and so many of them in a dispatch.

    Attributes
    ----------
    cells, borders : ndarray of int64, shape (work groups + 1,)
        Cells and bytes of borders before each.
    """

    def __init__(self, jobs: Sequence[WorkGroups], groups: int = LaneSizes.groups) -> None:
        self._jobs, self._groups = jobs, groups
        self._first = offsets_of([len(job.cells) - 1 for job in jobs])
        self.cells, self.borders = (
            offsets_of(np.concatenate([np.zeros(0, np.int64), *map(np.diff, before)]))
            for before in ([job.cells for job in jobs], [job.border_bytes for job in jobs])
        )

    def run(
        self,
        some: range,
        throttle: Throttle,
        room: int,
        reserve: Callable[[int], object],
        wait: Callable[[], None],
    ) -> Iterator[list[Dispatch]]:
        """Yield the dispatches of each slice of some work groups.

        ``room`` is the most bytes of borders, ``reserve`` makes room for so many, and ``wait``
        waits until the device has done what was yielded.
        """
        cells = self.cells[some.start : some.stop + 1]
        borders = self.borders[some.start : some.stop + 1] - self.borders[some.start]
        fits = borders[-1] <= room
        part = int(borders[-1]) if fits else room // SLICES_AT_ONCE // 16 * 16
        reserve(part if fits else part * SLICES_AT_ONCE)
        for number, each in enumerate(throttle.overlapping(cells, borders, part)):
            size = int(borders[each.stop] - borders[each.start])
            start = int(borders[each.start]) if fits else number % SLICES_AT_ONCE * part
            if size > part:  # of one work group, which is alone on the device then
                wait()
                reserve(size)
                start = 0
            yield self._dispatches(some.start + each.start, some.start + each.stop, start)
            if size > part:
                wait()

    def _dispatches(self, first: int, stop: int, start: int) -> list[Dispatch]:
        found = []
        for job, before in zip(self._jobs, self._first.tolist(), strict=False):
            end = min(stop - before, len(job.cells) - 1)
            for group in range(max(first - before, 0), end, self._groups):
                groups = range(group, min(group + self._groups, end))
                found.append(Dispatch(job, groups, start))
                start += int(job.border_bytes[groups.stop] - job.border_bytes[group])
        return found


class Queue:
    """Queues work groups slice by slice of time, and has the borders of their strips.

    Parameters
    ----------
    engine : Lanes
        Has the programs, and the buffer of borders.
    memory : int
        Bytes of device memory that the engine may use.
    """

    def __init__(self, engine: Lanes, memory: int) -> None:
        self._engine, self._memory, self._device = engine, memory, engine.device
        software = engine.device.info.software
        first = _SOFTWARE_CELLS if software else engine.limits.first_slice
        self._short = 0 if software else _SHORT_CELLS
        self.throttle = Throttle(engine.device, first)
        self._running: Slices | None = None  # what may be on the device
        self._border_bytes = 0  # of all slices so far

    @property
    def rate(self) -> float | None:
        """Cells per second, about; None if it is not known."""
        return self.throttle.rate

    @property
    def full_rate(self) -> float:
        """Cells per second of much work, as measured or else assumed for the device."""
        assumed = _RATE if self._device.info.half else _SLOW_RATE
        return self.throttle.full_rate or assumed

    def undivided(self, cells: int) -> int:
        """Return of how many queries a work group of targets can compute so many cells at once."""
        speed = self.throttle.speed
        return max(1, int(speed * LONGEST / cells)) if speed else self._engine.limits.groups

    @property
    def unused_borders(self) -> moderngl.Buffer | None:
        """The buffer of borders, if there is one and nothing runs that needs it."""
        engine = self._engine
        return None if self._running or not engine.room(BORDERS) else engine.reserve(BORDERS)

    def border_room(self, size: int, largest: int = 0) -> int:
        """Return the most bytes of rows between strips, given those of the slices to come.

        Many slices take time, and so does a large buffer, which is worth it for much work. Work
        groups need ``largest`` bytes at most.
        """
        bound = self._device.info.limits["max_storage_block"]
        enough = math.isqrt(_BORDER_BYTES_OF_A_SLICE * (self._border_bytes + size))
        enough = max(_LEAST_BORDER_BYTES, 1 << enough.bit_length(), SLICES_AT_ONCE * largest)
        return min(self._memory // 2, self._engine.limits.borders, bound, enough)

    def slices_of(self, jobs: Sequence[WorkGroups], progress: Progress) -> Iterator[None]:
        """Queue the jobs slice by slice of time: one starts when the one before it runs out."""
        return self._run(Slices(jobs, self._engine.limits.groups), progress)

    def _run(self, slices: Slices, progress: Progress) -> Iterator[None]:
        self._device.ctx.memory_barrier()
        # The first slices are small. They have short targets: a few long ones would take as long.
        count, total = len(slices.cells) - 1, int(slices.cells[-1])
        short = min(total // 2, self._short) if self.throttle.new else 0
        rest = int(np.searchsorted(slices.cells, total - short))
        reserve, wait = partial(self._engine.reserve, BORDERS), self._device.finish
        largest = int(np.diff(slices.borders).max(initial=0))
        room = max(self._engine.room(BORDERS), self.border_room(int(slices.borders[-1]), largest))
        self._border_bytes += int(slices.borders[-1])
        for part in filter(None, (range(rest, count), range(rest))):
            for some in slices.run(part, self.throttle, room, reserve, wait):
                if self._running not in (None, slices):  # others use the same borders
                    self._device.finish()
                self._running = slices
                for each in some:
                    self._dispatch(each)
                    job, groups = each.job, each.groups
                    ends = (int(job.cells[k]) for k in (groups.start, groups.stop))
                    before, done = (job.useful * cells // int(job.cells[-1]) for cells in ends)
                    progress(done - before)
                yield
        self._running = None

    def _dispatch(self, some: Dispatch) -> None:
        """Queue a dispatch of all strips, or one for each."""
        job, groups, first = some.job, some.groups, some.groups.start
        at_once, border = job.geometry.at_once, some.start // BORDER
        program = self._engine.program("lanes.comp", **job.geometry.defines)
        for binding, buffer in job.bound:
            buffer.bind_to_storage_buffer(binding.number)
        self._engine.reserve(BORDERS, 0)
        if job.row_size:
            program["row_size"] = job.row_size
        program["strip_count"] = job.strips if at_once else 1
        program["border_stride"] = int(job.border_columns[groups.stop] - job.border_columns[first])
        program["first_group"] = first
        program["first_border"] = (int(job.border_columns[first]) - border) % 2**32
        in_block = job.geometry.profile_memory in (COMPARE, BLOCK)
        for strip, profile in enumerate(job.profiles):
            program["first_strip"] = strip
            bind = profile.bind_to_uniform_block if in_block else profile.bind_to_storage_buffer
            bind(QUERY_PROFILE.number)
            program.run(len(groups), job.groups)
            if not at_once:
                self._device.ctx.memory_barrier()
