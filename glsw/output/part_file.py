"""A file that is written under a temporary name until it is complete."""

from __future__ import annotations

import errno
import io
import os
import stat
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any


class BusyFileError(ValueError):
    """Another process is writing the file."""


def check_regular(path: str | os.PathLike[str], links: bool = False) -> None:
    """Raise OSError if a path is there, and is no regular file or, with ``links``, a link to one.

    A process that opens a pipe may wait for ever.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(path, follow_symlinks=links).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))


def open_regular(path: str, flags: int) -> int:
    """Open a regular file, but no link: the ``opener`` of files that have names of their own."""
    check_regular(path)
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


class PartFile(io.FileIO):
    """A file that is appended to, and knows the size and checksum of its contents.

    It is locked where the system can do so: two runs do not write one file. If ``size`` is None, it
    stays as it is until `keep` is called.
    """

    def __init__(self, path: Path, size: int | None = 0, crc: int = 0) -> None:
        self._path = path
        super().__init__(path, "ab", opener=open_regular)
        try:
            self._lock()
            if size is not None:
                self.keep(size, crc)
        except BaseException:
            self.close()
            raise

    def keep(self, size: int, crc: int = 0) -> None:
        """Go on after this many bytes, which have this checksum; drop the others."""
        self.size, self.crc = size, crc
        self.truncate(size)

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # Windows lets nobody replace an open file
            return
        try:
            fcntl.flock(self.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = self._path.exists() and os.path.samestat(
                os.fstat(self.fileno()), self._path.stat()
            )
        except BlockingIOError:
            free = False
        except OSError:  # a file system without locks
            return
        if not free:
            raise BusyFileError(f"{self._path}: another run is writing it")

    def adopt(self, mode: int) -> None:
        """Take the permissions of another file."""
        os.chmod(self.fileno() if os.chmod in os.supports_fd else self._path, stat.S_IMODE(mode))

    def drop_if_empty(self) -> None:
        """Remove the name of a file without contents: no run can go on with it."""
        if not os.fstat(self.fileno()).st_size:
            with suppress(OSError):  # Windows removes no open file
                self._path.unlink()

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        """Close the file; after an error an empty one vanishes."""
        if kind:
            self.drop_if_empty()
        super().__exit__(kind, *error)

    def write_all(self, data: bytes) -> None:
        """Write all these bytes."""
        left = memoryview(data)
        while left:
            left = left[self.write(left) :]

    def write(self, data: Any, /) -> int:
        """Write as many bytes as the system accepts; return how many."""
        try:
            count = super().write(data)
        except OSError as error:
            error.filename = str(self._path)
            raise
        self.crc = zlib.crc32(memoryview(data)[:count], self.crc)
        self.size += count
        return count
