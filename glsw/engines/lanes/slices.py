"""Which work groups of engine ``lanes`` are queued together, and where their borders are.

The work groups of all jobs stand in one row. A slice is a range of it that takes about
`glsw.engines.throttle.SECONDS`. The device has two slices at once, each with a part of the buffer
of borders, unless that has room for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.engines.lanes.jobs import WorkGroups
from glsw.engines.lanes.targets import MAX_GROUPS_PER_DISPATCH
from glsw.engines.throttle import SLICES_AT_ONCE, Throttle
from glsw.sequences.encoded import offsets_of


class Dispatch(NamedTuple):
    """Some work groups of a job, and the bytes of the buffer before their borders."""

    job: WorkGroups
    groups: range
    start: int


class Slices:
    """The work groups of some jobs, one after the other.

    Attributes
    ----------
    cells, borders : ndarray of int64, shape (work groups + 1,)
        Cells and bytes of borders before each.
    """

    def __init__(self, jobs: Sequence[WorkGroups]) -> None:
        self._jobs = jobs
        self._first = offsets_of([len(job.cells) - 1 for job in jobs])
        self.cells = _joined([job.cells for job in jobs])
        self.borders = _joined([job.border_bytes for job in jobs])

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
            for group in range(max(first - before, 0), end, MAX_GROUPS_PER_DISPATCH):
                groups = range(group, min(group + MAX_GROUPS_PER_DISPATCH, end))
                found.append(Dispatch(job, groups, start))
                start += int(job.border_bytes[groups.stop] - job.border_bytes[group])
        return found


def _joined(before: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return what is before each work group of all jobs, given the same of each job."""
    return offsets_of(np.concatenate([np.zeros(0, np.int64), *map(np.diff, before)]))
