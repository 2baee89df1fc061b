"""Buffers that jobs of engine ``lanes`` use one after the other: drivers make large ones slowly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.device.device import Device, DeviceMemoryError

_LEAST_BYTES = 2**10


class Section(NamedTuple):
    """Some bytes of a buffer, bound as if they were one; ``start`` is a multiple of 256."""

    buffer: moderngl.Buffer
    start: int
    size: int

    def bind_to_storage_buffer(self, number: int) -> None:
        """Bind these bytes."""
        self.buffer.bind_to_storage_buffer(number, self.start, self.size)

    def bind(self, number: int, *, in_block: bool) -> None:
        """Bind these bytes as a uniform block, or to a storage buffer."""
        buffer = self.buffer
        bind = buffer.bind_to_uniform_block if in_block else buffer.bind_to_storage_buffer
        bind(number, self.start, self.size)

    def part(self, start: int, size: int) -> Section:
        """Return some bytes of these."""
        return Section(self.buffer, self.start + start, size)


Bindable: TypeAlias = moderngl.Buffer | Section


class Buffers:
    """Buffers of a device that have been used, and can be used again.

    Parameters
    ----------
    device : Device
    most : int
        Bytes of those that are kept for their next use.
    """

    def __init__(self, device: Device, most: int = 2**31) -> None:
        self._device, self._most = device, most
        self._free: list[moderngl.Buffer] = []  # the longest unused first
        self._queued: list[moderngl.Buffer] = []  # that queued work reads

    def make(self, size: int) -> moderngl.Buffer:
        """Return a new buffer, which does not go back to the pool."""
        return self._made(self._checked(size))

    def filled(
        self, content: npt.NDArray[np.unsignedinteger], *, pooled: bool = True
    ) -> moderngl.Buffer:
        """Return a buffer with this content, see `take` and `make`."""
        buffer = self.take(content.nbytes) if pooled else self.make(content.nbytes)
        if content.size:
            self._device.write(buffer, np.ascontiguousarray(content))
        return buffer

    def take(self, size: int) -> moderngl.Buffer:
        """Return a buffer of ``size`` bytes or up to a quarter more, with any content."""
        size = self._checked(size)
        step = max(_LEAST_BYTES, 1 << max(0, size.bit_length() - 3))
        size = max(
            size, min(-(-size // step) * step, self._device.info.limits["max_storage_block"])
        )
        for k, buffer in enumerate(self._free):
            if buffer.size == size:
                return self._free.pop(k)
        try:
            return self._made(size)
        except DeviceMemoryError:
            self.clear()
            return self._made(size)

    def give(self, buffers: Iterable[moderngl.Buffer]) -> None:
        """Take buffers back that nobody uses any more; the longest unused are released."""
        self._free += buffers
        self._release_down_to(self._most)

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
        self._release_down_to(0)

    def _release_down_to(self, most: int) -> None:
        total = sum(buffer.size for buffer in self._free)
        while total > most:
            total -= self._free[0].size
            self._free.pop(0).release()

    def _checked(self, size: int) -> int:
        limit = self._device.info.limits["max_storage_block"]
        if size > limit:
            raise DeviceMemoryError(
                f"a buffer of {size} bytes is needed, {self._device.info.name} binds {limit}"
            )
        return max(16, -(-size // 4) * 4)

    def _made(self, size: int) -> moderngl.Buffer:
        with self._device.checked(f"allocating {size} bytes"):
            return self._device.ctx.buffer(reserve=size)
