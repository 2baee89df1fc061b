"""Memory that host and device share: large uploads and downloads, and fences to wait for them."""

from __future__ import annotations

import ctypes
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.cores import cores
from glsw.device.context import gl_function

_BLOCK, _BLOCKS = 2**24, 6  # bytes of a block, and blocks in turn
_LEAST_BYTES = 2**20  # of an array, or of arrays that are read together, that are worth it
_MOST_BYTES = 2**28  # that are read together
_MOST_THREADS = 8
_STORAGE = 440  # the OpenGL version that can keep memory mapped
_COPY_READ, _COPY_WRITE = 0x8F36, 0x8F37
_READING, _WRITING = 1, 2
_MAPPED, _IN_HOST_MEMORY = 0x40 | 0x80, 0x200  # persistent, coherent
_GPU_COMMANDS_COMPLETE, _FLUSH_COMMANDS, _TIMEOUT_EXPIRED = 0x9117, 1, 0x911B


class Fence:
    """A place in the command queue of a device that can be waited for, which moderngl lacks."""

    def __init__(self, ctx: moderngl.Context) -> None:
        queue = gl_function(
            ctx, "glFenceSync", ctypes.c_uint, ctypes.c_uint, result=ctypes.c_void_p
        )
        words = ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint64
        self._wait = gl_function(ctx, "glClientWaitSync", *words, result=ctypes.c_uint)
        self._delete = gl_function(ctx, "glDeleteSync", ctypes.c_void_p)
        self._sync = queue(_GPU_COMMANDS_COMPLETE, 0)

    def passed(self) -> bool:
        """Tell whether the device has reached the fence, without waiting."""
        return self._passes(0)

    def wait(self, seconds: float = math.inf) -> bool:
        """Wait until the device has reached the fence, and tell whether it has; only once."""
        end = time.monotonic() + seconds
        while not (passed := self._passes(10**8)) and time.monotonic() < end:
            pass  # now and then, so that Python can be interrupted
        self._delete(self._sync)
        return passed

    def _passes(self, nanoseconds: int) -> bool:
        state = self._wait(self._sync, _FLUSH_COMMANDS, nanoseconds)
        return bool(state != _TIMEOUT_EXPIRED)


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
    ctx : moderngl.Context
    check : callable
        Raises an error of the context, of an action that it is given.
    block, least : int
        Bytes of a block, and of an array that is worth it.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        check: Callable[[str], None],
        block: int = _BLOCK,
        least: int = _LEAST_BYTES,
    ) -> None:
        from concurrent.futures import ThreadPoolExecutor  # only for large work

        self._ctx, self._check, self._block, self._least = ctx, check, block, least
        self._blocks: deque[_Block] = deque([_Block(*_mapped(ctx, block, _WRITING))])
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
        if array.nbytes < self._least or not self.works:
            buffer.write(array)
            return
        content = array.reshape(-1).view(np.uint8)
        for start in range(0, len(content), self._block):
            part = content[start : start + self._block]
            self._free_first()
            name, memory, _ = self._blocks[0]
            assert memory is not None
            self._fill(memory[: len(part)], part)
            _copy(self._ctx, name, buffer.glo, 0, start, len(part))
            self._blocks[0] = _Block(name, memory, Fence(self._ctx))
            self._blocks.rotate(-1)
        self._check("uploading")

    def _free_first(self) -> None:
        """Have a block first that nothing is copied from, perhaps a new one."""
        name, memory, fence = self._blocks[0]
        if fence is None:
            return
        if len(self._blocks) < _BLOCKS and not fence.passed():
            made = _Block(*_mapped(self._ctx, self._block, _WRITING))
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


class Readback:
    """Host memory that the device writes: one download at a time.

    Parameters
    ----------
    ctx : moderngl.Context
    wait : callable
        Called before something waits for the device without a bound.
    software : bool
        Whether it is a software renderer, which has nothing to gain.
    least, most : int
        Bytes read together that are worth it, and that get memory.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        wait: Callable[[], None],
        software: bool,
        least: int = _LEAST_BYTES,
        most: int = _MOST_BYTES,
    ) -> None:
        self._ctx, self._wait, self._software = ctx, wait, software
        self._least, self._most = least, most
        self._name, self._size = 0, 0
        self._memory: npt.NDArray[np.uint8] | None = None

    def begin(
        self, wanted: Sequence[tuple[moderngl.Buffer, int]]
    ) -> Callable[[], list[npt.NDArray[np.uint8]]]:
        """Queue the copies of the first bytes of some buffers; return what gives them.

        They are only there until the next ones are wanted. What is queued afterwards is not waited
        for. Where memory cannot stay mapped, and for a few bytes, the device is waited for at once.
        """
        if not self.reserve(sum(size for _, size in wanted)):
            self._wait()
            found = [
                np.frombuffer(buffer.read(size) if size else b"", np.uint8)
                for buffer, size in wanted
            ]
            return lambda: found
        place, memory, bounds = 0, self._memory, [0]
        for buffer, size in wanted:
            _copy(self._ctx, buffer.glo, self._name, 0, place, size)
            place += size
            bounds.append(place)
        fence = Fence(self._ctx)
        assert memory is not None

        def taken() -> list[npt.NDArray[np.uint8]]:
            fence.wait()
            return [memory[a:b] for a, b in pairwise(bounds)]

        return taken

    def reserve(self, total: int) -> bool:
        """Have memory for so many bytes, if they are worth it, and tell whether there is.

        Drivers take time for it: better while the device is busy.
        """
        if self._software or not self._least <= total <= self._most:
            return False
        if self._size < total:
            self._release()
            self._size = 1 << (total - 1).bit_length()
            self._name, self._memory = _mapped(self._ctx, self._size, _READING)
        return self._memory is not None

    def _release(self) -> None:
        if self._name:
            delete = gl_function(self._ctx, "glDeleteBuffers", ctypes.c_int, ctypes.c_void_p)
            delete(1, ctypes.addressof(ctypes.c_uint(self._name)))
        self._name, self._memory = 0, None


def _mapped(
    ctx: moderngl.Context, size: int, access: int
) -> tuple[int, npt.NDArray[np.uint8] | None]:
    """Make a buffer whose memory stays mapped; return its name and the memory, if there is.

    ``access`` is `_READING` or `_WRITING`.
    """
    if ctx.version_code < _STORAGE:
        return 0, None
    name = ctypes.c_uint()
    ssize, flags, pointer = ctypes.c_ssize_t, ctypes.c_uint, ctypes.c_void_p
    gl_function(ctx, "glGenBuffers", ctypes.c_int, pointer)(1, ctypes.addressof(name))
    _bind(ctx, _COPY_READ, name.value)
    store = gl_function(ctx, "glBufferStorage", flags, ssize, pointer, flags)
    store(_COPY_READ, size, None, access | _MAPPED | _IN_HOST_MEMORY)
    words = flags, ssize, ssize, flags
    mapping = gl_function(ctx, "glMapBufferRange", *words, result=pointer)
    address = mapping(_COPY_READ, 0, size, access | _MAPPED)
    if not address or ctx.error != "GL_NO_ERROR":
        return name.value, None
    return name.value, np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def _copy(ctx: moderngl.Context, source: int, target: int, begin: int, at: int, size: int) -> None:
    """Queue a copy from a place in a buffer to a place in another, by their names."""
    _bind(ctx, _COPY_READ, source)
    _bind(ctx, _COPY_WRITE, target)
    words = ctypes.c_uint, ctypes.c_uint, *[ctypes.c_ssize_t] * 3
    gl_function(ctx, "glCopyBufferSubData", *words)(_COPY_READ, _COPY_WRITE, begin, at, size)


def _bind(ctx: moderngl.Context, target: int, name: int) -> None:
    gl_function(ctx, "glBindBuffer", ctypes.c_uint, ctypes.c_uint)(target, name)
