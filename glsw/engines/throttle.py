"""Work in short slices, so that no watchdog kills it and progress can be shown."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from glsw.arrays import Int64
from glsw.device.device import Device, EndlessError
from glsw.device.transfer import Fence
from glsw.trust.proofs import Proofs

SECONDS = 0.1
"""Work that is queued before the device is waited for; watchdogs end work from 0.5 s on."""
SLICES_AT_ONCE = 2
"""Of `Throttle.overlapping`, side by side: each may take so many times `SECONDS`."""

LONGEST = 0.4
"""Seconds that a dispatch may take which cannot be divided, by the stored speed of the device."""

_ASSUMED = 1e9  # cells per second of a GPU whose speed is not stored
_LEAST_SECONDS = 1e-3  # of which a rate can be said
_LONG_SECONDS = SECONDS / 4  # that are spent on the work itself


class Throttle:
    """Queue as many passes or dispatches at once as take about `SECONDS`, as the last ones did.

    The first ones, as long as nothing is measured, by the stored speed of the device.

    Parameters
    ----------
    device : Device
    first : int
        How many to try with, at most.
    """

    def __init__(self, device: Device, first: int = 16) -> None:
        self._device = device
        self._count = first
        self.new = True  # nothing has been measured yet
        self.rate: float | None = None
        """Work per second of the last overlapping slice; None before the second one."""
        self.full_rate: float | None = None
        """The highest one of those that took long, not counting the first of each work, for which
        programs may have been compiled; None before."""

    @property
    def speed(self) -> float | None:
        """Cells per second of a GPU, as they are stored with its verdicts; None if they are not."""
        if self._device.info.software:
            return None
        speeds = Proofs.of(self._device).verdicts.speeds.items()
        return max((rate for name, rate in speeds if name != "cpu"), default=None)

    def _begin(self, cells: float) -> None:
        """Begin with fewer units of so many cells, if the device may take too long for them."""
        if self.new and cells and not self._device.info.software:
            most = int((self.speed or _ASSUMED) * SECONDS / cells)
            self._count = max(1, min(self._count, most))

    def run(
        self,
        steps: int,
        step: Callable[[int], None],
        *,
        cells: int = 0,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Call ``step(k)`` for each k below ``steps``, slice by slice.

        Parameters
        ----------
        steps : int
        step : callable
            Queues step k.
        cells : int
            Cells of all steps, which ``progress`` hears of; by them the first slice is sized.
        progress : callable, optional
            Called after each slice with the cells finished since the last call.
        """

        def queue(part: range) -> None:
            for k in part:
                step(k)

        self.run_slices(steps, queue, cells=cells, progress=progress)

    def run_slices(
        self,
        steps: int,
        queue: Callable[[range], None],
        *,
        cells: int = 0,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Call ``queue`` for slices of the steps that each take about `SECONDS`; see `run`."""
        start = 0
        self._begin(cells / max(steps, 1))
        while start < steps:
            began = time.perf_counter()
            part = range(start, min(start + self._count, steps))
            queue(part)
            if progress:
                progress(cells * part.stop // steps - cells * start // steps)
            self._device.finish()
            self._learn(len(part), time.perf_counter() - began)
            start = part.stop

    def overlapping(self, work: Int64, room: Int64, most: int) -> Iterator[range]:
        """Cut ``range(N)`` as `run_slices`, and wait when there are `SLICES_AT_ONCE`.

        So the device has work while the next slice is prepared, and while the last work groups of
        a slice end, which may take longer than all others of it. When all are queued, an empty one
        follows, after which they are waited for.

        Parameters
        ----------
        work, room : ndarray of int64, shape (N + 1,)
            The work, cells that are counted here instead of steps, and the memory before each.
        most : int
            The memory that a slice may need, at most, unless one alone needs more.
        """
        total = len(work) - 1
        self._begin(1)
        start, done = 0, time.perf_counter()
        running: deque[tuple[int, Fence]] = deque()
        ended: deque[tuple[int, float]] = deque(maxlen=SLICES_AT_ONCE)
        while start < total or running:
            if start < total:
                enough = int(np.searchsorted(work, work[start] + self._count))
                fitting = int(np.searchsorted(room, room[start] + most, "right")) - 1
                part = range(start, min(max(min(enough, fitting), start + 1), total))
                yield part
                running.append((int(work[part.stop] - work[start]), self._device.fence()))
                start = part.stop
                if start == total:
                    yield range(total, total)
            if len(running) == SLICES_AT_ONCE or start == total:
                count, fence = running.popleft()
                late = fence.passed()  # then the device has been faster than this will say
                if not fence.wait(self._device.patience or math.inf):
                    raise EndlessError(f"{self._device.info.name} does not finish")
                now, before = time.perf_counter(), done
                done, rate = now, count / max(now - before, _LEAST_SECONDS)
                if ended and not late and now - before >= _LONG_SECONDS:
                    self.full_rate = max(rate, self.full_rate or 0)
                if late and rate < (self.rate or 0):
                    continue
                ended.append((count, now - before))
                if not self.new:  # the first one has waited for its program too
                    self.rate = rate
                counts, seconds = zip(*ended, strict=True)  # of several, because they overlap
                each = sum(seconds) / len(ended) / SLICES_AT_ONCE
                self._learn(sum(counts) // len(ended), each, most=16.0)

    def _learn(self, count: int, seconds: float, *, most: float = 4.0) -> None:
        """Change the size of slices after one of ``count``; a small rest says little about it.

        It grows ``most`` times at once: of overlapping slices, which are alike, more than of steps
        that may become larger.
        """
        self.new = False
        if count >= self._count or seconds > SECONDS:
            self._count = max(1, int(count * min(most, SECONDS / max(seconds, 1e-6))))
