"""Uploads of large arrays: several threads copy them into memory that the device reads itself."""

from __future__ import annotations

import ctypes
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.cores import cores
from glsw.device.context import gl_function

if TYPE_CHECKING:
    from glsw.device.device import Device
    from glsw.device.fence import Fence

_BLOCK, _BLOCKS = 2**24, 6  # bytes of a block, and blocks in turn
_LEAST_BYTES = 2**20  # of an array that is worth it
_MOST_THREADS = 8
_STORAGE = (4, 4)  # the OpenGL version that can keep memory mapped
_COPY_READ, _COPY_WRITE = 0x8F36, 0x8F37
READING, WRITING = 1, 2
_MAPPED, _IN_HOST_MEMORY = 0x40 | 0x80, 0x200  # persistent, coherent


class _Block(NamedTuple):
    """A buffer with its memory, and the fence behind the last copy of it."""

    name: int
    memory: npt.NDArray[np.uint8] | None
    copied: Fence | None = None


class Staging:
    """Blocks of mapped memory, which are filled and copied to buffers in turn.

    They are made when the others are still being copied: a driver takes milliseconds for one.

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
        self._blocks: deque[_Block] = deque([_Block(*mapped(device, block, WRITING))])
        threads = max(1, min(_MOST_THREADS, cores() // 2))
        self._threads = ThreadPoolExecutor(threads, "glsw-upload")
        self._parts = threads

    @property
    def works(self) -> bool:
        """Whether memory is mapped."""
        return self._blocks[0].memory is not None

    def write(self, buffer: moderngl.Buffer, array: npt.NDArray[Any]) -> None:
        """Write a contiguous array to the start of a buffer.

        The array may be changed afterwards.
        """
        if array.nbytes < _LEAST_BYTES or not self.works:
            buffer.write(array)
            return
        content = array.reshape(-1).view(np.uint8)
        for start in range(0, len(content), self._block):
            part = content[start : start + self._block]
            self._free_first()
            name, memory, _ = self._blocks[0]
            assert memory is not None
            self._fill(memory[: len(part)], part)
            copy(self._device, name, buffer.glo, 0, start, len(part))
            self._blocks[0] = _Block(name, memory, self._device.fence())
            self._blocks.rotate(-1)
        self._device.check("uploading")

    def _free_first(self) -> None:
        """Have a block first that nothing is copied from, perhaps a new one."""
        name, memory, fence = self._blocks[0]
        if fence is None:
            return
        if len(self._blocks) < _BLOCKS and not fence.passed():
            made = _Block(*mapped(self._device, self._block, WRITING))
            if made.memory is not None:
                self._blocks.appendleft(made)
                return
        fence.wait()
        self._blocks[0] = _Block(name, memory)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()

    def _fill(self, memory: npt.NDArray[np.uint8], part: npt.NDArray[np.uint8]) -> None:
        """Copy a part by several threads, which need no lock of Python's for that."""
        cuts = [len(part) * k // self._parts for k in range(self._parts + 1)]
        pieces = [slice(*cuts[k : k + 2]) for k in range(self._parts)]
        list(self._threads.map(lambda each: np.copyto(memory[each], part[each]), pieces))


def mapped(device: Device, size: int, access: int) -> tuple[int, npt.NDArray[np.uint8] | None]:
    """Make a buffer whose memory stays mapped; return its name and the memory, if there is.

    ``access`` is `READING` or `WRITING`.
    """
    if device.info.version < _STORAGE:
        return 0, None
    ctx, name = device.ctx, ctypes.c_uint()
    ssize, flags, pointer = ctypes.c_ssize_t, ctypes.c_uint, ctypes.c_void_p
    gl_function(ctx, "glGenBuffers", ctypes.c_int, pointer)(1, ctypes.addressof(name))
    _bind(device, _COPY_READ, name.value)
    store = gl_function(ctx, "glBufferStorage", flags, ssize, pointer, flags)
    store(_COPY_READ, size, None, access | _MAPPED | _IN_HOST_MEMORY)
    words = flags, ssize, ssize, flags
    mapping = gl_function(ctx, "glMapBufferRange", *words, result=pointer)
    address = mapping(_COPY_READ, 0, size, access | _MAPPED)
    if not address or ctx.error != "GL_NO_ERROR":
        return name.value, None
    return name.value, np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def copy(device: Device, source: int, target: int, begin: int, at: int, size: int) -> None:
    """Queue a copy from a place in a buffer to a place in another, by their names."""
    _bind(device, _COPY_READ, source)
    _bind(device, _COPY_WRITE, target)
    words = ctypes.c_uint, ctypes.c_uint, *[ctypes.c_ssize_t] * 3
    gl_function(device.ctx, "glCopyBufferSubData", *words)(_COPY_READ, _COPY_WRITE, begin, at, size)


def _bind(device: Device, target: int, name: int) -> None:
    gl_function(device.ctx, "glBindBuffer", ctypes.c_uint, ctypes.c_uint)(target, name)
