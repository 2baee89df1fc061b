"""Files of compiled programs: what they contain, and which of them are read.

Programs go to the driver as they are, so they must be the user's own: files are read and written
in a folder that belongs to the user and that nobody else can open, mode 0700, and only regular
files of the user are read. Whatever is wrong with a file, it counts as missing.
"""

from __future__ import annotations

import json
import os
import stat
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

MAX_FOLDER_BYTES = 64 << 20
"""Size limit of the folder; the least recently used files are deleted."""
FORMAT = 1
"""Version of the files and their names."""

_MAGIC = b"glsw program\n"
_DIGEST = 32
# A link is not followed, and a named pipe is not waited for; Windows has neither flag.
_READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_READING |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Uniform(NamedTuple):
    """A uniform of a linked program: its GL type, its location, and its initial value."""

    name: str
    kind: int
    location: int
    value: float | tuple[float, ...]


class Block(NamedTuple):
    """A uniform or storage block: its GL interface, its name, and its binding in the text."""

    interface: int
    name: str
    binding: int


@dataclass(frozen=True)
class Binary:
    """A linked compute program.

    Attributes
    ----------
    form : int
        The number of the binary format of the driver.
    group : tuple of int
        Invocations of a work group in x, y and z.
    uniforms : tuple of Uniform
    blocks : tuple of Block
    code : bytes
    """

    form: int
    group: tuple[int, ...]
    uniforms: tuple[Uniform, ...]
    blocks: tuple[Block, ...]
    code: bytes


def folder() -> Path | None:
    """Return the folder of the binaries in the user's cache; None if the user has no home."""
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME", ""))
            if not base.is_absolute():
                base = Path.home() / ".cache"
    except RuntimeError:
        return None
    return base / "glsw" / "programs"


def is_private(cache: Path) -> bool:
    """Return whether a folder belongs to this user and only this user can open it, or is not there.

    Always true where there are no user numbers (Windows).
    """
    try:
        found = os.stat(cache)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    if not hasattr(os, "geteuid"):
        return True
    private = stat.S_IMODE(found.st_mode) & 0o077 == 0
    return stat.S_ISDIR(found.st_mode) and private and found.st_uid == os.geteuid()


def digest(content: bytes) -> bytes:
    """Return the SHA-256 of some bytes."""
    import hashlib

    return hashlib.sha256(content).digest()


def read(file: Path) -> Binary | None:
    """Read a binary from its file; None if there is none or anything is wrong with it."""
    if not is_private(file.parent):
        return None
    try:
        content = _content(file)
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST
    body = content[start:]
    if content[:start] != _MAGIC + digest(body):
        return None
    try:
        return _parsed(body)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError, struct.error):
        return None


def _content(file: Path) -> bytes:
    """Return what a regular file of this user contains; OSError for others and large ones."""
    handle = os.open(file, _READING)
    try:
        found = os.fstat(handle)
        own = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
        if not (stat.S_ISREG(found.st_mode) and own and found.st_size <= MAX_FOLDER_BYTES):
            raise OSError(f"{file} is not a regular file of this user")
        with os.fdopen(handle, "rb", closefd=False) as stream:
            return stream.read(found.st_size)
    finally:
        os.close(handle)


def _parsed(body: bytes) -> Binary:
    """Return the binary that a body describes; an error of any kind if it describes none."""
    (size,) = struct.unpack_from("<I", body)
    header = json.loads(body[4 : 4 + size])
    uniforms = tuple(
        Uniform(name, kind, location, tuple(value) if isinstance(value, list) else value)
        for name, kind, location, value in header["uniforms"]
    )
    blocks = tuple(Block(*values) for values in header["blocks"])
    binary = Binary(header["form"], tuple(header["group"]), uniforms, blocks, body[4 + size :])
    texts: list[Any] = [each.name for each in uniforms] + [each.name for each in blocks]
    numbers: list[Any] = [binary.form, *binary.group]
    numbers += [number for each in uniforms for number in (each.kind, each.location)]
    numbers += [number for each in blocks for number in (each.interface, each.binding)]
    if {*map(type, texts)} - {str} or {*map(type, numbers)} - {int} or len(binary.group) != 3:
        raise TypeError(header)
    values = [each.value if isinstance(each.value, tuple) else (each.value,) for each in uniforms]
    if not all(isinstance(number, int | float) for value in values for number in value):
        raise TypeError(header)
    if not all(each.name.isidentifier() for each in uniforms):
        raise ValueError(header)
    if not all(-(2**31) <= number < 2**32 for number in numbers):
        raise ValueError(header)
    "".join(texts).encode()  # a lone surrogate is no name
    return binary


def write(file: Path, binary: Binary, *, limit: int = MAX_FOLDER_BYTES) -> None:
    """Write a binary to its file atomically; do nothing if that is not possible.

    Parameters
    ----------
    file : Path
    binary : Binary
    limit : int, optional
        Size limit of the folder in bytes.
    """
    described = {field: value for field, value in vars(binary).items() if field != "code"}
    header = json.dumps(described).encode()
    body = struct.pack("<I", len(header)) + header + binary.code
    content = _MAGIC + digest(body) + body
    if len(content) <= limit and write_private(file, content):
        with suppress(OSError):
            _trim(file.parent, limit)


def write_private(file: Path, content: bytes) -> bool:
    """Write a file atomically into a folder that only this user opens; tell whether that worked."""
    import tempfile

    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_private(file.parent):
            return False
        handle, written = tempfile.mkstemp(dir=file.parent, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            os.replace(written, file)
        except BaseException:
            with suppress(OSError):
                os.unlink(written)
            raise
        return True
    return False


def _trim(cache: Path, limit: int) -> None:
    """Delete the least recently used files until the others are within the limit."""
    found = []
    for file in cache.iterdir():
        with suppress(OSError):  # another process may have deleted it
            state = file.stat()
            found.append((state.st_mtime_ns, state.st_size, file))
    total = 0
    for _, size, file in sorted(found, reverse=True):
        total += size
        if total > limit:
            with suppress(OSError):
                file.unlink()
