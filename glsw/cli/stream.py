"""Streams that are written in place: standard output, or a pipe or device by its name."""

from __future__ import annotations

import errno
import io
import sys
from types import TracebackType
from typing import TextIO

from glsw.cli.messages import drop

_ERRORS_OF_FILES = errno.ENOSPC, errno.EFBIG, errno.EIO


class PlainStream:
    """A stream that is written in place, with the methods of a `ResultFile`."""

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
        """Return False: nobody waits."""
        return False

    def mark(self, results: int) -> None:
        """Hand what was written to the system."""
        self.stream.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
