"""Signals as exceptions, so that a command that is interrupted cleans up files and processes."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from glsw.statuses import HUNG_UP, INTERRUPTED, TERMINATED

_SECONDS_TO_END = 10.0  # for cleaning up; the reader of a pipe may take nothing for ever
_SECONDS_UNTIL_AGAIN = 0.1
_said = threading.Event()


class Terminated(BaseException):
    """SIGTERM has come."""


class HungUp(Terminated):
    """SIGHUP has come: the terminal is closed."""


class Served(BaseException):
    """The work for the first rank of an MPI job, which this process served, is done."""


EXCEPTIONS: dict[int, type[BaseException]] = {
    signal.SIGINT: KeyboardInterrupt,
    signal.SIGTERM: Terminated,
}
if hasattr(signal, "SIGHUP"):  # not on Windows
    EXCEPTIONS[signal.SIGHUP] = HungUp
STATUSES: dict[type[BaseException], int] = {
    KeyboardInterrupt: INTERRUPTED,
    Terminated: TERMINATED,
    HungUp: HUNG_UP,
}
"""The exit status after each exception."""


@contextmanager
def interrupts_raised(*, program: bool) -> Iterator[None]:
    """Raise exceptions where these signals would end the process; a second signal does end it.

    Python ignores an exception that a handler raises in a finalizer, and other code may replace it
    by its own. So one that is ignored is raised again soon, and whatever happens, the block ends
    with the exception of the signal.

    A ``program`` is ended some time after the first signal, if what waits for it does not end.
    After the block signals end it at once, there is nothing left to do.
    """
    before: dict[int, object] = {}
    if threading.current_thread() is threading.main_thread():
        before = {each: signal.getsignal(each) for each in EXCEPTIONS}
        before = {
            each: handler
            for each, handler in before.items()  # else it is ignored, as in the background
            if handler is signal.SIG_DFL or (each == signal.SIGINT and callable(handler))
        }
    come: list[int] = []
    over = threading.Event()
    main, report = threading.get_ident(), sys.unraisablehook

    def stop(number: int, _: object) -> None:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        if program and not come:
            _thread.start_new_thread(_end_late, (number,))
        come.append(number)
        raise EXCEPTIONS[number]

    def ignored(error: sys.UnraisableHookArgs) -> None:
        if come and error.exc_type is EXCEPTIONS[come[-1]]:
            signal.signal(come[-1], stop)
            _thread.start_new_thread(raise_again, (come[-1],))
        else:
            report(error)

    def raise_again(number: int) -> None:
        while not over.wait(_SECONDS_UNTIL_AGAIN):
            if signal.getsignal(number) is stop:  # else signals are held
                return _interrupt(main, number)

    for each in before:
        signal.signal(each, stop)
    sys.unraisablehook = ignored
    try:
        yield
    finally:
        over.set()
        for each, handler in before.items():
            signal.signal(each, signal.SIG_DFL if program else handler)  # type: ignore[arg-type]
        sys.unraisablehook = report
        if come:
            raise EXCEPTIONS[come[0]]


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
    os._exit(STATUSES[EXCEPTIONS[number]])


def _interrupt(thread: int, number: int) -> None:
    """Send a signal to a thread, which may wait for something."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread, number)
    else:
        _thread.interrupt_main(signal.Signals(number))
