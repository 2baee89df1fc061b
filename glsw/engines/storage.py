"""Storage buffers of an engine: made when first needed, kept for the next batch."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.device import Device, DeviceMemoryError


class Storage:
    """The storage buffers of an engine by binding, or by name where several share a binding."""

    def __init__(self, device: Device) -> None:
        self._device_of_buffers = device
        self._buffers: dict[Hashable, moderngl.Buffer] = {}

    def reserve(self, binding: int, size: int, *, name: Hashable = None) -> moderngl.Buffer:
        """Return the buffer of a binding or name, bound, with room for ``size`` bytes."""
        device, key = self._device_of_buffers, binding if name is None else name
        limit = device.info.limits["max_storage_block"]
        if size > limit:
            raise DeviceMemoryError(
                f"a buffer of {size} bytes is needed, {device.info.name} binds {limit}"
            )
        buffer = self._buffers.get(key)
        if buffer is None or buffer.size < size:
            if buffer is not None:
                del self._buffers[key]
                buffer.release()
            buffer = device.ctx.buffer(reserve=max(16, -(-size // 4) * 4))
            device.check(f"allocating {size} bytes")
            self._buffers[key] = buffer
        buffer.bind_to_storage_buffer(binding)
        return buffer

    def upload(self, binding: int, data: npt.NDArray[Any], *, name: Hashable = None) -> None:
        """Write an array to the start of a buffer, and zeros up to a whole word."""
        content = np.ascontiguousarray(data).tobytes()
        content += bytes(-len(content) % 4)
        buffer = self.reserve(binding, len(content), name=name)
        if content:
            buffer.write(content)

    def download_into(self, binding: int, array: npt.NDArray[Any]) -> None:
        """Fill a contiguous array from the start of a buffer."""
        if array.size:
            self._buffers[binding].read_into(array, array.nbytes)
        self._device_of_buffers.check("reading results")

    def zero(self, binding: int, size: int, *, name: Hashable = None) -> None:
        """Reserve a buffer and set its first bytes to 0."""
        buffer = self.reserve(binding, size, name=name)
        if size:
            buffer.clear(size=size)

    def download(
        self, binding: int, dtype: npt.DTypeLike, count: int, *, name: Hashable = None
    ) -> npt.NDArray[Any]:
        """Read the first values of a buffer."""
        kind = np.dtype(dtype)
        buffer = self._buffers[binding if name is None else name]
        data = buffer.read(count * kind.itemsize) if count else b""
        self._device_of_buffers.check("reading results")
        return np.frombuffer(data, kind)
