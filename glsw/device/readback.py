"""Downloads behind which the device goes on: it copies into host memory, which is read later."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.device.context import gl_function
from glsw.device.staging import READING, copy, mapped

if TYPE_CHECKING:
    from glsw.device.device import Device

_LEAST_BYTES, _MOST_BYTES = 2**20, 2**28  # together, that are worth it


class Readback:
    """Host memory that the device writes: one download at a time.

    Parameters
    ----------
    device : Device
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._name, self._size = 0, 0
        self._memory: npt.NDArray[np.uint8] | None = None

    def begin(
        self, wanted: Sequence[tuple[moderngl.Buffer, int]]
    ) -> Callable[[], list[npt.NDArray[np.uint8]]]:
        """Queue the copies of the first bytes of some buffers; return what gives them.

        What is queued afterwards is not waited for. Where memory cannot stay mapped, and for a few
        bytes, the device is waited for at once.
        """
        total = sum(size for _, size in wanted)
        worth = not self._device.info.software and _LEAST_BYTES <= total <= _MOST_BYTES
        if not worth or not self._has_room(total):
            self._device.wait()
            found = [
                np.frombuffer(buffer.read(size) if size else b"", np.uint8)
                for buffer, size in wanted
            ]
            return lambda: found
        place, memory, bounds = 0, self._memory, [0]
        for buffer, size in wanted:
            copy(self._device, buffer.glo, self._name, 0, place, size)
            place += size
            bounds.append(place)
        fence = self._device.fence()
        assert memory is not None

        def taken() -> list[npt.NDArray[np.uint8]]:
            fence.wait()
            return [memory[a:b].copy() for a, b in pairwise(bounds)]

        return taken

    def reserve(self, total: int) -> None:
        """Have memory for so many bytes, while the device is busy: drivers take time for it."""
        if not self._device.info.software and _LEAST_BYTES <= total <= _MOST_BYTES:
            self._has_room(total)

    def _has_room(self, total: int) -> bool:
        if self._size < total:
            self._release()
            self._size = 1 << (total - 1).bit_length()
            self._name, self._memory = mapped(self._device, self._size, READING)
        return self._memory is not None

    def _release(self) -> None:
        if self._name:
            delete = gl_function(self._device.ctx, "glDeleteBuffers", ctypes.c_int, ctypes.c_void_p)
            delete(1, ctypes.addressof(ctypes.c_uint(self._name)))
        self._name, self._memory = 0, None
