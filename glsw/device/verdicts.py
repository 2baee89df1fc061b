"""What is known of the programs of a device: a file in the user's cache.

A verdict belongs to a device as its driver of this version runs it for this version of glsw: with
another one all is tried again.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from glsw.device import private_files
from glsw.device.info import DeviceInfo

RIGHT = "right"
_TRIES, _PAUSE = 500, 0.01  # seconds between two
_MOST_BYTES = 2**22  # of a file
_FASTEST = 1e18  # cells per second
_BEGUN = re.compile(r"begun (again )?by process ([1-9]\d{0,8}) on (.{0,200})")
ENDLESS = "did not end"
_KNOWN = re.compile(f"{RIGHT}|wrong results|{ENDLESS}|fails: .{{1,4000}}|{_BEGUN.pattern}")


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
            self._file = folder / f"{name}-{zlib.crc32(words.encode()):08x}.json"
        self._known = self._read()

    @classmethod
    def of(cls, info: DeviceInfo) -> Verdicts:
        """Return those in the user's cache."""
        cache = private_files.folder()
        return cls(info, cache and cache / "devices")

    def get(self, family: str) -> str | None:
        """Return the verdict on a family, None if there is none.

        A program with which processes began twice, and that ended them, did not end.
        """
        if _BEGUN.fullmatch(self._known["verdicts"].get(family, "")):
            self._known = self._read()  # it may have ended since then
        verdict = self._known["verdicts"].get(family)
        if verdict is None or not (begun := _BEGUN.fullmatch(verdict)):
            return verdict
        return ENDLESS if begun[1] and _has_ended(begun) else None

    def put(self, family: str, verdict: str) -> None:
        """Keep the verdict on a family."""
        self._keep("verdicts", family, verdict)

    def begin(self, family: str) -> bool:
        """Note that this process tries a family: of two that do not come back, it is the fault.

        Return whether one before has not.
        """
        begun = _BEGUN.fullmatch(self._known["verdicts"].get(family, ""))
        again = bool(begun and _has_ended(begun))
        process = f"by process {os.getpid()} on {_machine()}"
        self._keep("verdicts", family, f"begun {'again ' * again}{process}")
        return again

    def forget(self, family: str) -> None:
        """Keep no verdict on a family."""
        self._keep("verdicts", family, None)

    def clear(self) -> None:
        """Forget all verdicts and speeds."""
        with self._alone():
            self._known = {"verdicts": {}, "speeds": {}}
            self._write()

    @property
    def speeds(self) -> dict[str, float]:
        """Cells per second of engines, as `glsw devices --test` measured them, by their names."""
        return dict(self._known["speeds"])

    def put_speed(self, engine: str, cells_per_second: float) -> None:
        """Keep the measured speed of an engine."""
        self._keep("speeds", engine, cells_per_second)

    def _keep(self, kind: str, name: str, value: object) -> None:
        with self._alone():
            if self._file is not None:
                self._known = self._read()  # other processes write too
            self._known[kind][name] = value
            if value is None:
                del self._known[kind][name]
            self._write()

    def _write(self) -> None:
        """Write the file; one that cannot be written is not read again either."""
        content = json.dumps(self._known, indent=1).encode()
        if self._file is not None and not private_files.write_private(self._file, content):
            self._file = None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """In this block no other process changes the file, where files can be locked.

        Without that, what one of them notes as begun could come back when it has ended.
        """
        file = self._file
        with ExitStack() as stack:
            if file is not None and private_files.is_private(file.parent):
                with suppress(ImportError, OSError):
                    import fcntl  # Windows has none

                    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    flags = os.O_WRONLY | os.O_CREAT
                    lock = private_files.open_private(file.with_suffix(".lock"), flags)
                    stack.callback(os.close, lock)
                    _wait_for(lambda: fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB))
            yield

    def _read(self) -> dict[str, dict[str, Any]]:
        """Return what the file says, nothing of it that is missing or damaged."""
        known: dict[str, dict[str, Any]] = {"verdicts": {}, "speeds": {}}
        if self._file is None or not private_files.is_private(self._file.parent):
            return known
        with suppress(OSError, ValueError, AttributeError, LookupError, RecursionError, TypeError):
            handle = private_files.open_private(self._file, os.O_RDONLY)
            with open(handle, "rb") as file:
                found = json.loads(file.read(_MOST_BYTES))
            verdicts, speeds = found["verdicts"].items(), found["speeds"].items()
            known["verdicts"] = {name: verdict for name, verdict in verdicts if _is_known(verdict)}
            known["speeds"] = {name: float(rate) for name, rate in speeds if _is_speed(rate)}
        return known


def _is_known(verdict: object) -> bool:
    """Tell whether a verdict may be one that glsw has written."""
    text = verdict if isinstance(verdict, str) else ""
    return bool(_KNOWN.fullmatch(text)) and text.isprintable()


def _is_speed(rate: object) -> bool:
    return isinstance(rate, int | float) and rate is not True and 0 < rate < _FASTEST


def _wait_for(lock: Callable[[], object]) -> None:
    """Call until there is no BlockingIOError, for some seconds at most: others write quickly."""
    for _ in range(_TRIES):
        with suppress(BlockingIOError):
            lock()
            return
        time.sleep(_PAUSE)


def _version() -> str:
    """Return the version of glsw, and the time when its shaders were last changed."""
    import glsw
    from glsw.device.shader import root

    changed = max(path.stat().st_mtime_ns for path in root().rglob("*"))
    return f"{glsw.__version__} {changed}"


@cache
def _machine() -> str:
    """Return what tells this start of this machine from others, which have other processes."""
    start = ""
    with suppress(OSError):
        start = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{platform.node()} {start}".strip()


def _has_ended(begun: re.Match[str]) -> bool:
    """Tell whether a process that began is no longer there, since this machine was started."""
    return begun[3] == _machine() and not _is_alive(int(begun[2]))


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
