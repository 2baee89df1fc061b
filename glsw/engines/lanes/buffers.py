"""Buffers that jobs of engine ``lanes`` use one after the other: drivers make large ones slowly."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import moderngl

from glsw.device.device import Device, DeviceMemoryError

_MAX_FREE_BYTES = 2**31
_LEAST_BYTES = 2**10


class Buffers:
    """Buffers of a device that have been used, and can be used again.

    Parameters
    ----------
    device : Device
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._free: deque[moderngl.Buffer] = deque()  # the longest unused first
        self._queued: list[moderngl.Buffer] = []  # that queued work reads

    def take(self, size: int) -> moderngl.Buffer:
        """Return a buffer of ``size`` bytes or up to a quarter more, with any content."""
        step = max(_LEAST_BYTES, 1 << max(0, size.bit_length() - 3))
        size = max(
            size, min(-(-size // step) * step, self._device.info.limits["max_storage_block"])
        )
        for k, buffer in enumerate(self._free):
            if buffer.size == size:
                del self._free[k]
                return buffer
        try:
            return self._made(size)
        except DeviceMemoryError:
            self.clear()
            return self._made(size)

    def give(self, buffers: Iterable[moderngl.Buffer]) -> None:
        """Take buffers back that nobody uses any more; the longest unused are released."""
        self._free.extend(buffers)
        while sum(buffer.size for buffer in self._free) > _MAX_FREE_BYTES:
            self._free.popleft().release()

    def give_when_read(self, buffers: Iterable[moderngl.Buffer]) -> None:
        """Keep buffers that only queued work still reads, for `behind`.

        To write to them at once is not safe: NVIDIA's driver may do so while a shader reads them.
        """
        self._queued.extend(buffers)

    def behind(self) -> list[moderngl.Buffer]:
        """Return those kept, to `give` them when all that is queued by now has ended."""
        queued, self._queued = self._queued, []
        return queued

    def clear(self) -> None:
        """Release all that are free."""
        for buffer in self._free:
            buffer.release()
        self._free.clear()

    def _made(self, size: int) -> moderngl.Buffer:
        with self._device.checked(f"allocating {size} bytes"):
            return self._device.ctx.buffer(reserve=size)
