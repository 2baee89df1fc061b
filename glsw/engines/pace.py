"""Work in slices of time, so that no watchdog ends it and progress can be shown."""

from __future__ import annotations

import time
from collections.abc import Iterator

from glsw.device import Device

SECONDS = 0.1
"""What is queued before the device is waited for; watchdogs bite from 0.5 s on."""


class Pace:
    """How many passes or dispatches to queue at once, learnt from the last ones.

    Parameters
    ----------
    device : Device
    first : int
        How many to try with.
    """

    def __init__(self, device: Device, first: int = 16) -> None:
        self._device = device
        self._count = first

    def slices(self, total: int) -> Iterator[range]:
        """Cut ``range(total)`` into slices that each take about `SECONDS`.

        When the next slice is asked for, what was queued for the last one is waited for.
        """
        start = 0
        while start < total:
            began = time.perf_counter()
            part = range(start, min(start + self._count, total))
            yield part
            self._device.ctx.finish()
            elapsed = max(time.perf_counter() - began, 1e-6)
            self._count = max(1, int(len(part) * min(4.0, SECONDS / elapsed)))
            start = part.stop
