"""Sections of a file, verified by checksums block by block whenever they are read.

Nothing is mapped: what was read and checked stays as it is when the file is overwritten, and a file
that became shorter is an error, not a signal that ends the process.
"""

from __future__ import annotations

import os
import stat
import threading
import weakref
import zlib
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.arrays import Int64, UInt8
from glsw.cores import in_threads

Path: TypeAlias = str | os.PathLike[str]

BLOCK = 1 << 16
"""Bytes of a section that have a checksum in common."""

SLAB = 1 << 21
"""Bytes that a thread reads and checks at a time, in the cache of its processor."""
_BLOCKS_OF_SLAB = SLAB // BLOCK
_MIN_SLABS_FOR_THREADS = 4
_KEPT_BLOCKS = 1024  # of a section, 64 MiB, for reads of a few bytes
_MAX_WHOLE = 1 << 29  # bytes of a section that is read as a whole when a quarter was read in blocks


class DatabaseError(ValueError):
    """A database is damaged, has changed since it was opened, or is of another version."""


def read_at(file: Any, lock: threading.Lock, buffer: memoryview, at: int) -> int:
    """Read bytes from ``at`` on into a buffer; return how many. Several threads may do so."""
    if hasattr(os, "preadv"):
        return os.preadv(file.fileno(), [buffer], at)
    with lock:
        file.seek(at)
        return file.readinto(buffer) or 0


class OpenFile:
    """A regular file that is read at any place and by any thread, open while it is used.

    Raises
    ------
    OSError
        If it cannot be opened.
    DatabaseError
        If it is a pipe or a device.
    """

    def __init__(self, path: Path) -> None:
        self.path = os.path.abspath(path)
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise DatabaseError(f"{self.path}: not a regular file")
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed with this object
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        status = os.fstat(self._file.fileno())
        self.size, self._state = status.st_size, _state(status)

    def read(self, at: int, length: int) -> bytearray:
        """Return bytes; errors as `fill`."""
        data = bytearray(length)
        self.fill(memoryview(data), at)
        return data

    def fill(self, buffer: memoryview, at: int) -> None:
        """Fill a buffer with the bytes from ``at`` on.

        Raises
        ------
        OSError
            If the system cannot read them, naming the file.
        DatabaseError
            If the file has become too short.
        """
        while len(buffer):
            try:
                count = read_at(self._file, self._lock, buffer, at)
            except OSError as error:
                error.filename = self.path
                raise
            if not count:
                raise self.corrupt(f"ends at byte {at}")
            buffer, at = buffer[count:], at + count

    def read_ahead(self, at: int, length: int) -> None:
        """Have the system read some bytes, where it can."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._file.fileno(), at, length, os.POSIX_FADV_WILLNEED)

    def has_its_name(self) -> bool:
        """Return whether the path still leads to this file."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except OSError:
            return False

    def corrupt(self, what: str) -> DatabaseError:
        """Return the error of damaged bytes, or of a file that was changed while it was open."""
        try:
            self.check_unchanged()
        except DatabaseError as error:
            return error
        return DatabaseError(f"{self.path}: corrupt database ({what})")

    def check_unchanged(self) -> None:
        """Raise DatabaseError if the file was written to since it was opened."""
        if _state(os.fstat(self._file.fileno())) != self._state:
            raise DatabaseError(f"{self.path}: the database was overwritten while it was in use")


def _state(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


class Section:
    """Bytes of a file with their checksums.

    Parameters
    ----------
    file : OpenFile
    name : str
        For errors.
    start, length : int
        Its place in the file, in bytes.
    checksums : ndarray of uint32, shape (blocks,)
        The CRC-32 of each block of `BLOCK` bytes; only the last one is shorter.

    Notes
    -----
    All methods that read raise DatabaseError if checksums differ, and OSError.
    """

    def __init__(
        self,
        file: OpenFile,
        name: str,
        start: int,
        length: int,
        checksums: npt.NDArray[np.uint32],
    ) -> None:
        self._file, self.name, self._start, self.length = file, name, start, length
        self._checksums = checksums
        self._type: Any = np.dtype(np.uint8)
        self._limit = 256
        self._of_slabs: npt.NDArray[np.uint32] | None = None
        self._whole: UInt8 | None = None
        self._kept: dict[int, UInt8] = {}
        self._read_blocks = 0
        self._lock, self._reading = threading.Lock(), threading.Lock()

    def limit(self, limit: int, kind: npt.DTypeLike) -> None:
        """Accept no numbers of this value or above, of a type."""
        self._limit, self._type = limit, np.dtype(kind)

    def corrupt(self) -> DatabaseError:
        """Return the error of this section."""
        return self._file.corrupt(self.name)

    def read(self, start: int, stop: int) -> UInt8:
        """Return bytes, read-only, which may be part of a larger array."""
        if self._whole is not None:
            return self._whole[start:stop]
        first, last = start // BLOCK, -(-stop // BLOCK)
        self._read_blocks += last - first if first not in self._kept else 0
        if 4 * self._read_blocks > self.blocks and self.length <= _MAX_WHOLE:
            return self.whole()[start:stop]
        found = self._loaded(first, last) if last - first > 1 else self._kept_block(first)
        return found[start - first * BLOCK : stop - first * BLOCK]

    def read_ahead(self) -> None:
        """Have the system read all of it, where it can."""
        self._file.read_ahead(self._start, self.length)

    def numbers(self, start: int, stop: int) -> Int64:
        """Return numbers of 8 bytes."""
        return self.read(8 * start, 8 * stop).view(np.int64)

    def fill(self, found: UInt8, start: int) -> None:
        """Fill an array with the bytes from ``start`` on, by way of the cache of a processor.

        Arrays of `SLAB` bytes from multiples of this on are the fastest.
        """
        stop = start + len(found)
        first, last = start // BLOCK, -(-stop // BLOCK)
        slab = np.empty(min(SLAB, (last - first) * BLOCK), np.uint8)
        while first < last:
            end = min(first - first % _BLOCKS_OF_SLAB + _BLOCKS_OF_SLAB, last)
            begin, size = first * BLOCK, self._bytes(first, end)
            self._load(slab[:size], first, end)
            some = slice(max(start, begin), min(stop, begin + size))
            found[some.start - start : some.stop - start] = slab[some.start - begin :][
                : some.stop - some.start
            ]
            first = end

    def whole(self) -> UInt8:
        """Return all bytes, read-only, and keep them; another thread may be reading them."""
        with self._reading:
            if self._whole is None:
                self._whole = self._loaded(0, self.blocks)
                with self._lock:
                    self._kept.clear()
            return self._whole

    def check(self) -> None:
        """Read everything and keep nothing."""

        def check_slab(first: int) -> None:
            last = min(first + _BLOCKS_OF_SLAB, self.blocks)
            self._load(np.empty(self._bytes(first, last), np.uint8), first, last)

        in_threads(check_slab, range(0, self.blocks, _BLOCKS_OF_SLAB), _MIN_SLABS_FOR_THREADS)

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.length // BLOCK)

    def _bytes(self, first: int, last: int) -> int:
        return min(last * BLOCK, self.length) - first * BLOCK

    def _kept_block(self, k: int) -> UInt8:
        """Return a block, perhaps one that was read before."""
        found = self._kept.get(k)
        if found is None:
            found = self._loaded(k, min(k + 1, self.blocks))
            with self._lock:
                if len(self._kept) >= _KEPT_BLOCKS:
                    del self._kept[next(iter(self._kept))]
                self._kept[k] = found
        return found

    def _loaded(self, first: int, last: int) -> UInt8:
        """Return blocks, checked."""
        found = np.empty(self._bytes(first, last), np.uint8)

        def load_slab(at: int) -> None:
            end = min(at - at % _BLOCKS_OF_SLAB + _BLOCKS_OF_SLAB, last)
            start = (at - first) * BLOCK
            self._load(found[start : start + self._bytes(at, end)], at, end)

        slabs = range(first - first % _BLOCKS_OF_SLAB + _BLOCKS_OF_SLAB, last, _BLOCKS_OF_SLAB)
        in_threads(load_slab, [first, *slabs], _MIN_SLABS_FOR_THREADS)
        found.flags.writeable = False
        return found

    def _load(self, found: UInt8, first: int, last: int) -> None:
        """Fill an array with blocks, checked."""
        view = found.data
        self._file.fill(view, self._start + first * BLOCK)
        expected, size = self._expected(first, last)
        for k, each in enumerate(expected.tolist()):
            if zlib.crc32(view[k * size : (k + 1) * size]) != each:
                raise self.corrupt()
        if found.view(self._type).max(initial=0) >= self._limit:
            raise self.corrupt()

    def _expected(self, first: int, last: int) -> tuple[npt.NDArray[np.uint32], int]:
        """Return the checksums of blocks, and the bytes of each, or else those of their slab.

        For each that it computes, a thread waits for Python's lock again.
        """
        slab, checksums = _BLOCKS_OF_SLAB, self._checksums
        whole = self.length // (slab * BLOCK) * slab
        if first % slab or last - first != slab or last > whole:
            return checksums[first:last], BLOCK
        with self._lock:
            if self._of_slabs is None:
                self._of_slabs = joined_checksums(checksums[:whole].reshape(-1, slab))
        return self._of_slabs[first // slab :][:1], slab * BLOCK


def joined_checksums(checksums: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return the CRC-32 of all blocks of each row, given that of each block.

    Parameters
    ----------
    checksums : ndarray of uint32, shape (rows, 2**k)

    Examples
    --------
    >>> blocks = bytes(BLOCK), bytes(range(256)) * (BLOCK // 256)
    >>> found = joined_checksums(np.array([[zlib.crc32(each) for each in blocks]], np.uint32))
    >>> int(found[0]) == zlib.crc32(b"".join(blocks))
    True
    """
    # What bytes of 0 behind them make of the checksum is linear: a matrix of bits, one row for each
    # bit of the checksum. That of twice as many is its square.
    rows = [zlib.crc32(b"\0", 1 << bit) ^ zlib.crc32(b"\0") for bit in range(32)]
    zeros = np.array(rows, np.uint32)
    for _ in range(BLOCK.bit_length() - 1):
        zeros = _product(zeros, zeros)
    while checksums.shape[1] > 1:
        checksums = _product(checksums[:, ::2], zeros) ^ checksums[:, 1::2]
        zeros = _product(zeros, zeros)
    return checksums[:, 0]


def _product(
    values: npt.NDArray[np.uint32], matrix: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint32]:
    """Return the products of rows of 32 bits and a matrix of bits."""
    bits = values[..., None] >> np.arange(32, dtype=np.uint32) & 1
    product: npt.NDArray[np.uint32] = np.bitwise_xor.reduce(bits * matrix, axis=-1)
    return product


class BlockChecksums:
    """The CRC-32 of each block of bytes that come in pieces.

    >>> checksums = BlockChecksums()
    >>> checksums.add(b"some"), checksums.add(b" bytes"), checksums.values
    (None, None, [2673442645])
    """

    def __init__(self) -> None:
        self.values: list[int] = []
        self.length = 0

    def add(self, piece: Any) -> None:
        """Go on with these bytes, or this array."""
        view = np.frombuffer(piece, np.uint8).data
        filled = self.length % BLOCK
        self.length += len(view)
        if filled:
            some, view = view[: BLOCK - filled], view[BLOCK - filled :]
            self.values[-1] = zlib.crc32(some, self.values[-1])

        def checksums(start: int) -> list[int]:
            slab = view[start : start + SLAB]
            return [zlib.crc32(slab[at : at + BLOCK]) for at in range(0, len(slab), BLOCK)]

        in_threads(checksums, range(0, len(view), SLAB), found=self.values.extend)
