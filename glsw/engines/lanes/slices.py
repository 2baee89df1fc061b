"""How jobs of engine ``lanes`` share the time of the device and the memory of borders.

Work groups are queued slice by slice of time. The device has two slices at once, each with a part
of the buffer of borders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from glsw.engines.lanes.jobs import WorkGroups
from glsw.engines.lanes.targets import MAX_GROUPS_PER_DISPATCH
from glsw.engines.throttle import SLICES_AT_ONCE, Throttle
from glsw.sequences.encoded import offsets_of

Run: TypeAlias = tuple[WorkGroups, range]
"""Some work groups of a job, one after the other."""


class Dispatch(NamedTuple):
    """Some work groups of a job that are queued together.

    Parameters
    ----------
    job : WorkGroups
    groups : range
    start : int
        Bytes of the buffer before the borders.
    """

    job: WorkGroups
    groups: range
    start: int


class Units:
    """The work groups of jobs in portions of about equal time, the units.

    Parameters
    ----------
    jobs : sequence of WorkGroups
    cells : int
        Of a unit, about.
    """

    def __init__(self, jobs: Sequence[WorkGroups], cells: int) -> None:
        self.jobs = jobs
        self._stops = [job.portions(cells) for job in jobs]
        self._first = offsets_of([len(stops) for stops in self._stops])
        sizes = [
            np.diff(job.border_bytes_before(np.concatenate([[0], stops])))
            for job, stops in zip(jobs, self._stops, strict=True)
        ]
        self.borders = offsets_of(np.concatenate(sizes) if sizes else [])
        """Bytes of borders before each unit, and behind all."""

    def __len__(self) -> int:
        return int(self._first[-1])

    def runs(self, units: range) -> Iterator[Run]:
        """Yield the work groups of some units."""
        first, last = np.searchsorted(self._first, [units.start, units.stop - 1], "right") - 1
        for k in range(int(first), int(last) + 1):
            stops, before = self._stops[k], int(self._first[k])
            start, stop = max(units.start - before, 0), min(units.stop - before, len(stops))
            yield self.jobs[k], range(int(stops[start - 1]) if start else 0, int(stops[stop - 1]))


class Slices:
    """The slices of some units, one after the other.

    Parameters
    ----------
    units : Units
    throttle : Throttle
    room : int
        Bytes of borders that the device has at most.
    reserve : callable
        Makes room for so many bytes.
    wait : callable
        Waits until the device has done what was yielded.
    """

    def __init__(
        self,
        units: Units,
        throttle: Throttle,
        room: int,
        reserve: Callable[[int], object],
        wait: Callable[[], None],
    ) -> None:
        self._units, self._throttle, self._room = units, throttle, room
        self._reserve, self._wait = reserve, wait

    def run(self, some: range) -> Iterator[Iterator[Dispatch]]:
        """Yield the dispatches of each slice of some units."""
        if not some:
            return
        before = self._units.borders[some.start : some.stop + 1] - self._units.borders[some.start]
        whole = int(before[-1])
        parts = 1 if whole <= self._room else SLICES_AT_ONCE
        part = whole if parts == 1 else self._room // parts // 16 * 16
        self._reserve(parts * part)
        for number, each in enumerate(self._throttle.overlapping(before, part)):
            first = int(before[each.start]) if parts == 1 else number % parts * part
            runs = self._units.runs(range(some.start + each.start, some.start + each.stop))
            yield self._dispatches(runs, first, part)

    def _dispatches(self, runs: Iterator[Run], first: int, part: int) -> Iterator[Dispatch]:
        filled, stop = first, first + part
        for job, groups in runs:
            start = groups.start
            while start < groups.stop:
                most = min(groups.stop, start + MAX_GROUPS_PER_DISPATCH)
                end = min(most, job.fitting(start, stop - filled))
                if end <= start:  # there is no room left
                    self._wait()
                    filled = first
                    end = min(most, max(start + 1, job.fitting(start, part)))
                size = job.border_bytes(start, end)
                if size > part:  # of one work group, which is alone on the device then
                    self._reserve(size)
                yield Dispatch(job, range(start, end), 0 if size > part else filled)
                if size > part:
                    self._wait()
                filled += size
                start = end
