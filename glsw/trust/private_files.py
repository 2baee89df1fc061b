"""Cache files that only the user can write, for what was found out about a device.

Files are read and written in a folder that belongs to the user and that nobody else can open, mode
0700. Whatever is wrong with a file, it counts as missing.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path


def folder() -> Path | None:
    """Return the folder of glsw in the user's cache; None if the user has no home."""
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
    return base / "glsw"


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


def open_private(file: Path, flags: int) -> int:
    """Open a file in a folder that is private; OSError if it is a link, a pipe or a device."""
    for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY"):  # of Unix two, of Windows one
        flags |= getattr(os, name, 0)
    if not is_private(file.parent):
        raise OSError(f"others can open {file.parent}")
    handle = os.open(file, flags, 0o600)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{file} is no plain file")
    return handle


def append_private(file: Path, content: bytes) -> bool:
    """Append at once to such a file; tell whether that worked."""
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = open_private(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            return os.write(handle, content) == len(content)
        finally:
            os.close(handle)
    return False
