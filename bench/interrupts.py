"""What a suite does around a step: a deadline, Ctrl-C, and keeping what the step prints."""

from __future__ import annotations

import io
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from types import FrameType
from typing import TextIO


class LateError(BaseException):
    """A step takes too long; no benchmark catches it."""


@contextmanager
def captured(out: TextIO | None, told: io.StringIO, verbose: bool) -> Iterator[None]:
    """Keep what is printed to stderr, and to stdout unless ``out`` is None."""
    with redirect_stdout(out or sys.stdout), redirect_stderr(_Both(told) if verbose else told):
        yield


class _Both(io.TextIOBase):
    """Writes to the real stderr and to a buffer."""

    def __init__(self, buffer: io.StringIO) -> None:
        self._buffer, self._stream = buffer, sys.stderr

    def write(self, text: str) -> int:
        self._stream.write(text)
        return self._buffer.write(text)

    def flush(self) -> None:
        self._stream.flush()


@dataclass
class Interrupts:
    """Whether Ctrl-C was pressed, also where a benchmark took it for an error of its own."""

    pressed: bool = False
    later: bool = False
    """Do not interrupt now."""

    def check(self) -> None:
        """Raise KeyboardInterrupt if it was pressed."""
        if self.pressed:
            raise KeyboardInterrupt

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Take the signal."""
        self.pressed = True
        if not self.later:
            raise KeyboardInterrupt


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Take Ctrl-C in this block, unless somebody else does."""
    found = Interrupts()
    default = signal.getsignal(signal.SIGINT)
    ours = default is signal.default_int_handler and _in_main()
    if ours:
        signal.signal(signal.SIGINT, found.handle)
    try:
        yield found
    finally:
        if ours:
            signal.signal(signal.SIGINT, default)


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise `LateError` in the block after this time, where the system has a timer."""
    if not hasattr(signal, "setitimer") or not _in_main():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise LateError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _in_main() -> bool:
    return threading.current_thread() is threading.main_thread()
