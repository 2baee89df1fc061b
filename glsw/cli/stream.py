"""The stream of results: standard output or a file."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


@contextmanager
def opened(output: str) -> Iterator[TextIO]:
    """Open a file for results; '-' is standard output, which is flushed at the end."""
    if output != "-":
        with open(output, "w", encoding="utf-8") as stream:
            yield stream
        return
    if sys.stdout is None:
        raise ValueError("standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # descriptions may hold any letter
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError:
        _drop_stdout()
        raise


def _drop_stdout() -> None:
    """Discard the rest of the buffer: Python flushes it at exit, which would fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
