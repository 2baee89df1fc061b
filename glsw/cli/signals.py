"""What ends a command early: signals as exceptions, so that files and processes are tidied."""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_SECONDS_TO_END = 10.0  # for cleaning up; the reader of a pipe may take nothing for ever
_said = threading.Event()


class Terminated(BaseException):
    """SIGTERM has come."""


class Served(BaseException):
    """The work of a process that serves the first one of an MPI job is done."""


EXCEPTIONS: dict[int, type[BaseException]] = {
    signal.SIGINT: KeyboardInterrupt,
    signal.SIGTERM: Terminated,
}
STATUSES = {KeyboardInterrupt: 128 + signal.SIGINT, Terminated: 128 + signal.SIGTERM}
"""The exit statuses, as a shell has them."""


@contextmanager
def interrupts_raised(*, program: bool) -> Iterator[None]:
    """Raise exceptions where SIGINT and SIGTERM would end the process; a second signal does end it.

    A ``program`` is ended some time after the first one, if what waits for it does not end. After
    the block signals end it at once, there is nothing left to do.
    """
    before: dict[int, object] = {}
    if threading.current_thread() is threading.main_thread():
        before = {each: signal.getsignal(each) for each in EXCEPTIONS}
        if not callable(before[signal.SIGINT]):  # ignored, as in the background
            del before[signal.SIGINT]
        if before[signal.SIGTERM] is not signal.SIG_DFL:
            del before[signal.SIGTERM]

    def stop(number: int, _: object) -> None:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        if program:
            _thread.start_new_thread(_end_late, (number,))
        raise EXCEPTIONS[number]

    for each in before:
        signal.signal(each, stop)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, signal.SIG_DFL if program else handler)  # type: ignore[arg-type]


def end_is_said() -> None:
    """Note that the user knows of the interrupt."""
    _said.set()


def _end_late(number: int) -> None:
    """End the process although something still waits."""
    time.sleep(_SECONDS_TO_END)
    if not _said.is_set():
        text = "interrupted" if number == signal.SIGINT else "terminated"
        with suppress(OSError):  # if nobody can receive it
            os.write(2, f"glsw: {text}\n".encode("ascii"))
    os._exit(128 + number)
