"""What a command says on stderr while it runs: a progress bar, and warnings in a line each."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, TextIO

from tqdm import tqdm

from glsw.device.device import SoftwareRendererWarning


def progress_bar(arguments: argparse.Namespace, cells: int) -> tqdm[NoReturn]:
    """Return a progress bar in cells, which shows nothing unless stderr is a terminal."""
    return tqdm(
        total=cells,
        unit="cell",
        unit_scale=True,
        leave=False,
        dynamic_ncols=True,
        disable=arguments.no_progress or None,
    )


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Print warnings as messages of the program, that of a software renderer once."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        tqdm.write(f"glsw: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        warnings.simplefilter("once", SoftwareRendererWarning)
        warnings.showwarning = show
        yield
