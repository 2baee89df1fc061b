"""Verdicts on the programs of a device: a file of lines in the user's cache.

A line is a name, a tab and what is known of it, and the last line of a name counts: processes only
append whole lines, and need no lock. A verdict belongs to a device as its driver of this version
runs it for this version of glsw: with another one all is tried again.
"""

from __future__ import annotations

import os
import platform
import re
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

from glsw.device.info import DeviceInfo
from glsw.trust import private_files

RIGHT = "right"
_MOST_BYTES = 2**22  # of a file, at its end
_SPEED = re.compile(r"([1-9]\d{0,17}) cells per second")
_BEGUN = re.compile(r"begun (again )?by process ([1-9]\d{0,8}) on (.{0,200})")
ENDLESS = "did not end"
_KNOWN = re.compile(
    f"|{RIGHT}|wrong results|{ENDLESS}|fails: .{{1,4000}}|{_BEGUN.pattern}|{_SPEED.pattern}"
)


class Verdicts:
    """The verdicts on families of programs, and the measured speeds of engines, of a device.

    A verdict is `RIGHT`, or says what is wrong.

    Parameters
    ----------
    info : DeviceInfo
    folder : Path or None
        Where files are kept; None keeps verdicts for this process only.
    """

    def __init__(self, info: DeviceInfo, folder: Path | None) -> None:
        self._file: Path | None = None
        if folder is not None:
            words = f"{info.name}\n{info.vendor}\n{info.version_string}\n{_version()}"
            name = re.sub(r"\W+", "-", info.name)[:40].strip("-")
            self._file = folder / f"{name}-{zlib.crc32(words.encode()):08x}.txt"
        self.known: dict[str, str] = {}
        """What is known, "" where that is to be forgotten."""
        self._read()

    @classmethod
    def of(cls, info: DeviceInfo) -> Verdicts:
        """Return those in the user's cache."""
        cache = private_files.folder()
        return cls(info, cache and cache / "devices")

    def get(self, family: str) -> str | None:
        """Return the verdict on a family, None if there is none.

        A program with which processes began twice, and that ended them, did not end.
        """
        begun = _BEGUN.fullmatch(self.known.get(family, ""))
        if begun or not self.known.get(family):
            self._read()  # others may know more
            begun = _BEGUN.fullmatch(self.known.get(family, ""))
        if begun:
            return ENDLESS if begun[1] and _has_ended(begun) else None
        return self.known.get(family) or None

    def put(self, family: str, verdict: str) -> None:
        """Keep the verdict on a family; a file that cannot be written is not read again either."""
        self.known[family] = verdict
        line = f"\n{family}\t{verdict}\n".encode(errors="replace")  # behind what may be damaged
        if self._file is not None and not private_files.append_private(self._file, line):
            self._file = None

    def begin(self, family: str) -> bool:
        """Note that this process tries a family: of two that do not come back, it is the fault.

        Return whether one before has not.
        """
        begun = _BEGUN.fullmatch(self.known.get(family, ""))
        again = bool(begun and _has_ended(begun))
        self.put(family, f"begun {'again ' * again}by process {os.getpid()} on {this_machine()}")
        return again

    def forget(self, family: str) -> None:
        """Keep no verdict on a family."""
        self.put(family, "")

    @property
    def kept(self) -> bool:
        """Whether others can read what is known here, as far as is known."""
        return self._file is not None

    def clear(self) -> None:
        """Forget all verdicts and speeds."""
        self.known = {}
        if self._file is not None and private_files.is_private(self._file.parent):
            try:
                self._file.unlink(missing_ok=True)
            except OSError:
                self._file = None

    @property
    def speeds(self) -> dict[str, float]:
        """Cells per second of engines, as `glsw devices --test` measured them, by their names."""
        found = {name: _SPEED.fullmatch(said) for name, said in self.known.items()}
        return {name: float(rate[1]) for name, rate in found.items() if rate}

    def put_speed(self, engine: str, cells_per_second: float) -> None:
        """Keep the measured speed of an engine."""
        self.put(engine, f"{cells_per_second:.0f} cells per second")

    def _read(self) -> None:
        """Read the file, all of it that glsw may have written."""
        with suppress(OSError):
            if self._file is None:
                return
            handle = private_files.open_private(self._file, os.O_RDONLY)
            with open(handle, "rb") as file:
                file.seek(max(0, os.fstat(handle).st_size - _MOST_BYTES))
                lines = file.read(_MOST_BYTES).decode(errors="replace").split("\n")
            pairs = (line.partition("\t") for line in lines)
            self.known = {
                name: said
                for name, tab, said in pairs
                if tab and _KNOWN.fullmatch(said) and said.isprintable()  # glsw may have written it
            }


def _version() -> str:
    """Return the version of glsw, and the time when its shaders were last changed."""
    import glsw
    from glsw.device.shader import root

    changed = max(path.stat().st_mtime_ns for path in root().rglob("*"))
    return f"{glsw.__version__} {changed}"


@cache
def this_machine() -> str:
    """Return what tells this start of this machine from others, which have other processes."""
    start = ""
    with suppress(OSError):
        start = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{platform.node()} {start}".strip()


def _has_ended(begun: re.Match[str]) -> bool:
    """Tell whether a process that began is no longer there, since this machine was started."""
    return begun[3] == this_machine() and not _is_alive(int(begun[2]))


def _is_alive(process: int) -> bool:
    """Tell whether a process of this number, or perhaps another one, is running."""
    if process == os.getpid() or os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
