"""What ends a command early: SIGTERM as an exception, so that files and processes are tidied."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Terminated(BaseException):
    """SIGTERM has come."""


class Served(BaseException):
    """The work of a process that serves the first one of an MPI job is done."""


@contextmanager
def termination_raised() -> Iterator[None]:
    """Raise `Terminated` where SIGTERM would end the process; a second one does end it."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def terminate(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
