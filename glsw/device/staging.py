"""Uploads of large arrays: several threads copy them into memory that the device reads itself."""

from __future__ import annotations

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.device.context import gl_function

if TYPE_CHECKING:
    from glsw.device.device import Device
    from glsw.device.fence import Fence

_BLOCK, _BLOCKS = 2**24, 6  # bytes of a block, and blocks in turn
_LEAST_BYTES = 2**20  # of an array that is worth it
_MOST_THREADS = 4
_STORAGE = (4, 4)  # the OpenGL version that can keep memory mapped
_COPY_READ, _COPY_WRITE = 0x8F36, 0x8F37
_MAPPED = 0x2 | 0x40 | 0x80  # for writing, persistent, coherent
_IN_HOST_MEMORY = 0x200


class Staging:
    """Blocks of mapped memory, which are filled and copied to buffers in turn.

    Drivers copy what is written to a buffer by one thread. Where memory cannot stay mapped, they
    still do.

    Parameters
    ----------
    device : Device
    block : int
        Bytes of a block.
    """

    def __init__(self, device: Device, block: int = _BLOCK) -> None:
        self._device, self._block = device, block
        self._mapped = [self._map() for _ in range(_BLOCKS)]
        self._copied: list[Fence | None] = [None] * _BLOCKS
        self._next = 0
        threads = max(1, min(_MOST_THREADS, (os.cpu_count() or 1) // 2))
        self._threads = ThreadPoolExecutor(threads, "glsw-upload")
        self._parts = threads

    @property
    def works(self) -> bool:
        """Whether memory is mapped."""
        return all(memory is not None for _, memory in self._mapped)

    def write(self, buffer: moderngl.Buffer, array: npt.NDArray[Any]) -> None:
        """Write a contiguous array to the start of a buffer.

        The array may be changed afterwards.
        """
        if array.nbytes < _LEAST_BYTES or not self.works:
            buffer.write(array)
            return
        content = array.reshape(-1).view(np.uint8)
        copy = self._function("glCopyBufferSubData", *[ctypes.c_uint] * 2, *[ctypes.c_ssize_t] * 3)
        for start in range(0, len(content), self._block):
            part = content[start : start + self._block]
            slot, self._next = self._next, (self._next + 1) % _BLOCKS
            fence, self._copied[slot] = self._copied[slot], None
            if fence is not None:
                fence.wait()
            name, memory = self._mapped[slot]
            assert memory is not None
            self._fill(memory[: len(part)], part)
            self._bind(_COPY_READ, name)
            self._bind(_COPY_WRITE, buffer.glo)
            copy(_COPY_READ, _COPY_WRITE, 0, start, len(part))
            self._copied[slot] = self._device.fence()
        self._device.check("uploading")

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()

    def _fill(self, memory: npt.NDArray[np.uint8], part: npt.NDArray[np.uint8]) -> None:
        """Copy a part by several threads, which need no lock of Python's for that."""
        cuts = [len(part) * k // self._parts for k in range(self._parts + 1)]
        pieces = [slice(*cuts[k : k + 2]) for k in range(self._parts)]
        list(self._threads.map(lambda each: np.copyto(memory[each], part[each]), pieces))

    def _map(self) -> tuple[int, npt.NDArray[np.uint8] | None]:
        """Make a buffer whose memory stays mapped; return its name and the memory, if there is."""
        if self._device.info.version < _STORAGE:
            return 0, None
        ctx, name = self._device.ctx, ctypes.c_uint()
        size, flags, pointer = ctypes.c_ssize_t, ctypes.c_uint, ctypes.c_void_p
        self._function("glGenBuffers", ctypes.c_int, pointer)(1, ctypes.addressof(name))
        self._bind(_COPY_READ, name.value)
        store = self._function("glBufferStorage", flags, size, pointer, flags)
        store(_COPY_READ, self._block, None, _MAPPED | _IN_HOST_MEMORY)
        mapping = gl_function(
            ctx, "glMapBufferRange", flags, size, size, flags, result=ctypes.c_void_p
        )
        address = mapping(_COPY_READ, 0, self._block, _MAPPED)
        if not address or ctx.error != "GL_NO_ERROR":
            return name.value, None
        memory = (ctypes.c_uint8 * self._block).from_address(address)
        return name.value, np.ctypeslib.as_array(memory)

    def _bind(self, target: int, name: int) -> None:
        self._function("glBindBuffer", ctypes.c_uint, ctypes.c_uint)(target, name)

    def _function(self, name: str, *arguments: Any) -> Any:
        return gl_function(self._device.ctx, name, *arguments)
