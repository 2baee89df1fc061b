"""Output streams, and the thread that writes results while others are computed."""

from __future__ import annotations

import errno
import io
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TextIO, TypeVar

from glsw.cli.messages import drop

_ERRORS_OF_FILES = errno.ENOSPC, errno.EFBIG, errno.EIO


class PlainStream:
    """A stream that is written directly, with the methods of a `ResultFile`."""

    stream: TextIO
    left = False

    def __init__(self, output: str) -> None:
        self._output = output

    def __enter__(self) -> PlainStream:
        if self._output != "-":
            self.stream = open(self._output, "w", encoding="utf-8", errors="backslashreplace")
            return self
        if sys.stdout is None:
            raise ValueError("standard output is closed")
        if isinstance(sys.stdout, io.TextIOWrapper):  # descriptions may hold any letter
            encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
            sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
        self.stream = sys.stdout
        return self

    def is_due(self) -> bool:
        """Return False: there is no resuming, so no need to mark."""
        return False

    def mark(self, results: int) -> None:
        """Flush what was written."""
        self.stream.flush()

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        failed = error if isinstance(error, OSError) else None
        try:
            if self._output != "-":
                self.stream.close()
            elif error is None:
                self.stream.flush()
        except OSError as late:
            failed = failed or late
        if failed is None:
            return
        if self._output == "-":
            drop(sys.stdout)
        if failed.errno in _ERRORS_OF_FILES and failed.filename is None:
            failed.filename = "standard output" if self._output == "-" else self._output
        if failed is not error:
            raise failed


_MAX_PENDING = 2**16  # hits of results that wait to be written, or one result
_SWITCH_INTERVAL = 5e-4  # seconds until a thread that waited for a device may go on

ResultT = TypeVar("ResultT")


class WritingThread(Generic[ResultT]):
    """Writes results in turn, in a thread that starts with the first one.

    At the end of a ``with`` block all results are written, also if the block ends with an error or
    an interrupt keeps the thread from starting; an error of the thread is raised by `put` or at the
    end.

    Parameters
    ----------
    write : callable
        ``write(result)`` writes one result.
    flush : callable
        Called whenever no result waits.

    Examples
    --------
    >>> with WritingThread(print, lambda: None) as writing:
    ...     for word in ("one", "two"):
    ...         writing.put(word, 1)
    one
    two
    """

    def __init__(self, write: Callable[[ResultT], object], flush: Callable[[], object]) -> None:
        self._write, self._flush = write, flush
        self._changed = threading.Condition()
        self._waiting: deque[tuple[ResultT, int]] = deque()
        self._pending = 0
        self._begun = self._ended = False
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._interval = sys.getswitchinterval()

    def __enter__(self) -> WritingThread[ResultT]:
        return self

    def put(self, result: ResultT, hits: int) -> None:
        """Queue a result with that many hits for writing; wait if too many are queued."""
        hits = max(1, hits)
        with self._changed:
            self._changed.wait_for(
                lambda: self._error or not self._pending or self._pending + hits <= _MAX_PENDING
            )
            if self._error:
                raise self._error
            self._waiting.append((result, hits))
            self._pending += hits
            self._changed.notify_all()
        if not self._thread:
            sys.setswitchinterval(_SWITCH_INTERVAL)
            self._thread = threading.Thread(target=self._run, name="glsw output")
            self._thread.start()

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        try:
            if not (self._thread and self._thread.is_alive()):  # an interrupt came as it started
                self._run()
            if self._thread and self._thread.is_alive():
                self._thread.join()
        finally:
            sys.setswitchinterval(self._interval)
        if self._error and error is None:
            raise self._error

    def _run(self) -> None:
        """Write until the end, unless another thread has begun with it."""
        with self._changed:
            if self._begun:
                return
            self._begun = True
        try:
            while (item := self._next()) is not None:
                result, hits = item
                self._write(result)
                with self._changed:
                    self._pending -= hits
                    idle = not self._waiting
                    self._changed.notify_all()
                if idle:
                    self._flush()
        except BaseException as error:
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _next(self) -> tuple[ResultT, int] | None:
        """Wait for a result; None after the last one."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            return self._waiting.popleft() if self._waiting else None
