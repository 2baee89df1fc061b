"""The stream of results: a file of results, standard output, or a pipe or device by its name."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TextIO, TypeAlias

from glsw.output.result_file import Fingerprint, ResultFile, is_replaced

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
            _drop_stdout()
        if failed.errno in _ERRORS_OF_FILES and failed.filename is None:
            failed.filename = "standard output" if self._output == "-" else self._output
        if failed is not error:
            raise failed


Destination: TypeAlias = ResultFile | PlainStream


def destination(
    arguments: argparse.Namespace,
    fingerprint: Callable[[], Fingerprint] | None = None,
    patience: float = 0.0,
) -> Destination:
    """Return where the results of a command go, see `ResultFile`; `main` looks for what is left."""
    output: str = arguments.output
    arguments.destination = (
        ResultFile(output, fingerprint, patience)
        if output != "-" and is_replaced(Path(output))
        else PlainStream(output)
    )
    made: Destination = arguments.destination
    return made


def _drop_stdout() -> None:
    """Discard the rest of the buffer: Python flushes it at exit, which would fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
