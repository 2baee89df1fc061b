"""Transfers between host and device: uploads, checked downloads, and fences to wait for them."""

from __future__ import annotations

import ctypes
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.cores import cores, in_threads
from glsw.device.context import gl_function, read_integer
from glsw.device.current import UnreliableError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from glsw.device.device import Device

Fill: TypeAlias = Callable[[npt.NDArray[np.uint8], int], object]
"""Fills an array with the bytes from some place on; threads call it."""

_BLOCK, _BLOCKS = 2**24, 8  # bytes of a block, and blocks in turn
PIECE = 2**21
"""Bytes that a thread fills at a time."""
_LEAST_BYTES = 2**20  # of an array, or of arrays that are read together, that are worth it
_MOST_BYTES = 2**28  # that are read together
_MOST_THREADS = 8
_STORAGE = 440  # the OpenGL version that can keep memory mapped
_STORAGE_BINDINGS, _OF_ENGINES = 0x90DD, 8  # places of buffers, and those that engines use
_SUMMING, _MOST_GROUPS = 64, 64  # invocations of a work group that sums words, and such groups
_BYTES_OF_A_GROUP = 2**16
_NONCES = 0x9E3779B9  # from one to the next
_COLUMNS, _WORDS_OF_A_THREAD = 2**12, 2**20  # that the host sums together
_COPY_READ, _COPY_WRITE = 0x8F36, 0x8F37
_READING, _WRITING = 1, 2
_MAPPED, _IN_HOST_MEMORY = 0x40 | 0x80, 0x200  # persistent, coherent
_GPU_COMMANDS_COMPLETE, _FLUSH_COMMANDS, _TIMEOUT_EXPIRED = 0x9117, 1, 0x911B


class Fence:
    """A fence: a point in the device's command queue that can be waited for; moderngl has none."""

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


class _Filling(NamedTuple):
    """A block that threads fill with some bytes of a buffer."""

    name: int
    memory: npt.NDArray[np.uint8]
    buffer: moderngl.Buffer
    start: int
    stop: int
    pieces: list[Future[object]]


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

    Attributes
    ----------
    works : bool
        Whether memory is mapped.
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
        self._made, self.works = 1, self._blocks[0].memory is not None
        threads = max(1, min(_MOST_THREADS, cores() // 2))
        self._threads = ThreadPoolExecutor(threads, "glsw-upload")

    def write(self, buffer: moderngl.Buffer, array: npt.NDArray[Any]) -> None:
        """Write a contiguous array to the start of a buffer.

        The array may be changed afterwards.
        """
        if array.nbytes < self._least or not self.works:
            buffer.write(array)
            return
        content = array.reshape(-1).view(np.uint8)

        def fill(found: npt.NDArray[np.uint8], start: int) -> None:
            np.copyto(found, content[start : start + len(found)])

        for _ in self.uploads(buffer, len(content), fill):
            pass

    def uploads(
        self, buffer: moderngl.Buffer, size: int, fill: Fill, first: int = 0
    ) -> Iterator[None]:
        """Write so many bytes to the start of a buffer, a block at each step.

        Threads fill arrays with the bytes from some place on; ends of these arrays are where the
        sum of the place and ``first`` is a multiple of `PIECE`.
        """
        if not self.works:
            yield from uploads(buffer, size, fill)
            return
        waiting = deque[_Filling]()
        try:
            for start, stop in _blocks(size, self._block, first):
                while (block := self._free()) is None:
                    self._copied(waiting)
                name, memory = block.name, block.memory
                assert memory is not None
                pieces = (
                    self._threads.submit(fill, memory[a - start : b - start], a)
                    for a, b in _blocks(stop, min(PIECE, self._block), first, start)
                )
                waiting.append(_Filling(name, memory, buffer, start, stop, [*pieces]))
                if len(waiting) > 1:
                    self._copied(waiting)
                yield
            while waiting:
                self._copied(waiting)
        finally:
            from concurrent.futures import wait

            for each in waiting:  # after an error: threads still write there
                wait(each.pieces)
                self._blocks.appendleft(_Block(each.name, each.memory))
        self._check("uploading")

    def _copied(self, waiting: deque[_Filling]) -> None:
        """Queue the copy of the first block that waits, when threads have filled it."""
        name, memory, buffer, start, stop, pieces = waiting[0]
        for each in pieces:
            each.result()
        _copy(self._ctx, name, buffer.glo, 0, start, stop - start)
        self._blocks.append(_Block(name, memory, Fence(self._ctx)))
        waiting.popleft()

    def _free(self) -> _Block | None:
        """Return a block that nothing is copied from, perhaps a new one; None if all wait."""
        ready = self._blocks and (not (fence := self._blocks[0].copied) or fence.passed())
        if not ready and self._made < _BLOCKS:
            made = _Block(*_mapped(self._ctx, self._block, _WRITING))
            if made.memory is not None:
                self._made += 1
                return made
        if not self._blocks:
            return None
        block = self._blocks.popleft()
        if block.copied:
            block.copied.wait()
        return block

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()


def _blocks(stop: int, size: int, first: int, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield bounds of pieces of a range; after ``first`` more they are multiples of the size.

    >>> list(_blocks(9, 4, 2)), list(_blocks(9, 4, 2, 2))
    ([(0, 2), (2, 6), (6, 9)], [(2, 6), (6, 9)])
    """
    while start < stop:
        end = min(start + size - (start + first) % size, stop)
        yield start, end
        start = end


def uploads(buffer: moderngl.Buffer, size: int, fill: Fill) -> Iterator[None]:
    """Write so many bytes to the start of a buffer by way of the driver, a block at each step."""
    block = np.empty(min(size, _BLOCK), np.uint8)
    for start in range(0, size, _BLOCK):
        some = block[: size - start]
        fill(some, start)
        buffer.write(some, offset=start)
        yield


class Readback:
    """Reads results of a device, checked; one download to mapped memory at a time.

    Before a read the device sums what it has stored, and the host sums what has arrived: each word
    times two factors of its place, modulo 2**32, behind a number that changes from read to read. So
    zeros, earlier contents, words at other places and single bits are found. Pixels are read twice.
    OpenGL promises no places for two more buffers, but all known drivers have them.

    Parameters
    ----------
    device : Device
    software : bool, optional
        Whether it is a software renderer, which has nothing to gain from mapped memory.
    least, most : int
        Bytes read together that are worth mapped memory, and that get it.

    Attributes
    ----------
    digest : int
        Of the words of all reads so far, in the order of the reads, not of the words.
    """

    def __init__(
        self,
        device: Device,
        software: bool | None = None,
        least: int = _LEAST_BYTES,
        most: int = _MOST_BYTES,
    ) -> None:
        self._device, self._ctx = device, device.ctx
        self._software = device.info.software if software is None else software
        self._least, self._most = least, most
        self._name, self._size = 0, 0
        self._memory: npt.NDArray[np.uint8] | None = None
        self._places = read_integer(self._ctx, _STORAGE_BINDINGS) if device.info.compute else 0
        self._sums: moderngl.Buffer | None = None
        self._nonce = self.digest = 0

    def read(self, buffer: moderngl.Buffer, size: int, offset: int = 0) -> npt.NDArray[np.uint8]:
        """Return so many bytes of a buffer, whole words; `UnreliableError` as of `begin`."""
        content = np.empty(size, np.uint8)
        self._read([(buffer, size, offset)], [content])
        return content

    def read_into(self, buffer: moderngl.Buffer, array: npt.NDArray[Any]) -> None:
        """Fill a contiguous array of whole words from a buffer; `UnreliableError` as of `begin`."""
        self._read([(buffer, array.nbytes, 0)], [array.reshape(-1).view(np.uint8)])

    def pixels(self, framebuffer: moderngl.Framebuffer, **which: Any) -> bytes:
        """Return pixels; keywords as of moderngl, errors as of `begin`."""
        self._device.wait()
        found, again = (framebuffer.read(**which) for _ in range(2))
        self._trust(found, same=found == again)
        return found

    def begin(
        self, wanted: Sequence[tuple[moderngl.Buffer, int]]
    ) -> Callable[[], list[npt.NDArray[np.uint8]]]:
        """Queue the copies of the first bytes of some buffers; return what gives them.

        They are only there until the next ones are wanted. What is queued afterwards is not waited
        for. Where memory cannot stay mapped, and for a few bytes, the device is waited for at once.

        Raises
        ------
        UnreliableError
            What has arrived is not what the device has stored.
        """
        each = [(buffer, size, 0) for buffer, size in wanted]
        if not self.reserve(sum(size for _, size in wanted)) or not (sums := self._summed(each)):
            contents = [np.empty(size, np.uint8) for _, size in wanted]
            self._read(each, contents)
            return lambda: contents
        self.reserve(sum(size for _, size in (*wanted, sums)))
        place, memory, bounds = 0, self._memory, [0]
        for buffer, size in (*wanted, sums):
            _copy(self._ctx, buffer.glo, self._name, 0, place, size)
            place += size
            bounds.append(place)
        fence, nonce = Fence(self._ctx), self._nonce
        assert memory is not None

        def taken() -> list[npt.NDArray[np.uint8]]:
            fence.wait()
            *found, stored = (memory[a:b] for a, b in pairwise(bounds))
            self._check(found, stored, nonce)
            return found

        return taken

    def _read(
        self,
        wanted: Sequence[tuple[moderngl.Buffer, int, int]],
        contents: Sequence[npt.NDArray[np.uint8]],
    ) -> None:
        """Fill arrays from some buffers, given with numbers of bytes and offsets."""
        sums = self._summed(wanted)
        self._device.wait()
        for (buffer, size, offset), content in zip(wanted, contents, strict=True):
            if size:
                buffer.read_into(content, size, offset=offset)
        if sums:
            self._check(contents, np.frombuffer(sums[0].read(sums[1]), np.uint8), self._nonce)

    def _summed(
        self, wanted: Sequence[tuple[moderngl.Buffer, int, int]]
    ) -> tuple[moderngl.Buffer, int] | None:
        """Have the device sum bytes of some buffers, given with their numbers and offsets.

        Return the buffer of the sums, and its bytes in use; None if it cannot, or of nothing.
        """
        if not wanted or self._places < _OF_ENGINES + 2:
            return None
        from glsw.device.shader import compute  # which imports this module's users

        words, sums = _OF_ENGINES, _OF_ENGINES + 1
        program = compute(
            *(self._device, "checksum.comp"),
            **{"WORKGROUP": _SUMMING, "COLUMNS": f"{_COLUMNS}u"},
            **{"WORDS_BINDING": words, "SUMS_BINDING": sums},
        )
        groups = [min(max(1, size // _BYTES_OF_A_GROUP), _MOST_GROUPS) for _, size, _ in wanted]
        size, at, row = 8 * _SUMMING * sum(groups), 0, 0
        if self._sums is None or self._sums.size < size:
            self._sums = self._ctx.buffer(reserve=size)
        self._sums.bind_to_storage_buffer(sums)
        self._nonce = program["nonce"] = (self._nonce + _NONCES) % 2**32
        for (buffer, length, offset), count in zip(wanted, groups, strict=True):
            buffer.bind_to_storage_buffer(words)
            program["first"], program["count"] = offset // 4, length // 4
            program["row"], program["at"] = row, at
            program.run(count)
            row, at = row + -(-length // (4 * _COLUMNS)), at + _SUMMING * count
        self._ctx.memory_barrier()
        return self._sums, size

    def _check(
        self, found: Sequence[npt.NDArray[np.uint8]], stored: npt.NDArray[np.uint8], nonce: int
    ) -> None:
        """Compare what has arrived with the sums that the device stored."""
        *arrived, plain = sums_of(found)
        sums = stored.view(np.uint32).reshape(-1, 2) - np.uint32(nonce)
        self._trust(plain, same=arrived == sums.sum(axis=0, dtype=np.uint32).tolist())

    def _trust(self, found: object, *, same: bool) -> None:
        self.digest = hash((self.digest, found))
        if not same:
            self._device.trouble = "its results did not arrive as it had stored them"
            raise UnreliableError(f"{self._device.info.name}: {self._device.trouble}")

    def reserve(self, total: int) -> bool:
        """Have memory for so many bytes, if they are worth it, and tell whether there is.

        Drivers take time for it: better while the device is busy.
        """
        if self._software or not self._least <= total <= self._most:
            return False
        if self._size < total:
            self._release()
            self._size = 1 << (total + total // 64).bit_length()  # with sums
            self._name, self._memory = _mapped(self._ctx, self._size, _READING)
        return self._memory is not None

    def _release(self) -> None:
        if self._name:
            delete = gl_function(self._ctx, "glDeleteBuffers", ctypes.c_int, ctypes.c_void_p)
            delete(1, ctypes.addressof(ctypes.c_uint(self._name)))
        self._name, self._memory = 0, None


def sums_of(contents: Sequence[npt.NDArray[np.uint8]]) -> tuple[int, ...]:
    """Return the sums of the words of some arrays as checksum.comp has them, and the plain one."""
    parts, row = list[tuple[npt.NDArray[np.uint32], int]](), 0
    for words in (content.view(np.uint32) for content in contents):
        for start in range(0, len(words), _WORDS_OF_A_THREAD):
            parts.append((words[start : start + _WORDS_OF_A_THREAD], row + start // _COLUMNS))
        row += -(-len(words) // _COLUMNS)
    every = in_threads(_sums, parts, least=3)  # two begin and end no faster
    return tuple(sum(each) % 2**32 for each in zip(*every, strict=True)) if every else (0, 0, 0)


def _sums(part: tuple[npt.NDArray[np.uint32], int]) -> tuple[int, ...]:
    words, row = part
    table, rest = np.split(words, [len(words) // _COLUMNS * _COLUMNS])
    table = table.reshape(-1, _COLUMNS)
    columns, rows = (table.sum(axis=axis, dtype=np.uint32) for axis in (0, 1))
    columns[: len(rest)] += rest
    rows = np.append(rows, rest.sum(dtype=np.uint32))
    factors = _factors(np.arange(_COLUMNS + row, _COLUMNS + row + len(rows), dtype=np.uint32))
    return int(_OF_COLUMNS @ columns), int(factors @ rows), int(rows.sum())


def _factors(x: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return the factors of columns or rows, see checksum.comp."""
    some = x * np.uint32(0x9E3779B9)
    some = (some ^ some >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    return some ^ some >> np.uint32(13) | np.uint32(1)


_OF_COLUMNS = _factors(np.arange(_COLUMNS, dtype=np.uint32))


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
