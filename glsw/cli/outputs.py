"""Output of results, on standard output or in a file."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, overload

from glsw.cli.messages import Bar
from glsw.cli.stream import opened
from glsw.cli.writing import WritingThread
from glsw.output import Format, names_and_lengths
from glsw.output.three import Format3, Result3
from glsw.results import SearchResult
from glsw.sequences.database import Database
from glsw.sequences.records import Record


def check_output(output: str, *inputs: str) -> None:
    """Raise an error if a file for results could not be opened later."""
    if output == "-":
        return
    path = Path(output)
    if not path.parent.is_dir():
        raise ValueError(f"--output {output}: there is no folder {path.parent}")
    if path.is_dir():
        raise ValueError(f"--output {output}: it is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"--output {output}: no permission to write")
    for other in inputs:
        if other != "-" and path.exists() and path.samefile(other):
            raise ValueError(f"--output {output}: it is an input, and would be overwritten")


@overload
def write(
    results: Iterable[SearchResult],
    form: Format,
    output: str,
    bar: Bar,
    targets: Iterable[Record] | Database = (),
    *,
    note: str = "",
) -> None: ...
@overload
def write(
    results: Iterable[Result3], form: Format3, output: str, bar: Bar, *, note: str = ""
) -> None: ...
def write(
    results: Iterable[Any],
    form: Any,
    output: str,
    bar: Bar,
    targets: Iterable[Record] | Database = (),
    *,
    note: str = "",
) -> None:
    """Write each result when it is computed, and after the last one a summary to stderr.

    A thread writes while the next results are computed.

    The summary ends with ``note``.

    The file is opened when the first result is there. Some formats list all ``targets`` before it.
    """
    header = form.header
    if not isinstance(header, str):
        header = header(names_and_lengths(targets), shlex.join(["glsw", *sys.argv[1:]]))
    rest = iter(results)
    first = next(rest)
    write_one = form.begin() if isinstance(form, Format) else form.write
    cells, seconds, written = 0, 0.0, 0
    with opened(output) as stream:
        stream.write(header)

        def write_result(result: Any) -> None:
            bar.clear()
            write_one(result, stream)

        with WritingThread(write_result, stream.flush) as writing:
            for result in chain([first], rest):
                writing.put(result, len(result) if isinstance(result, SearchResult) else 1)
                cells += result.cells
                seconds += result.seconds
                written += 1
        if isinstance(form, Format) and form.footer:
            stream.write(form.footer(written))
    bar.close()
    rate = cells / seconds / 1e9 if seconds else 0
    memory = f", {result.memory / 2**20:.1f} MiB" if result.memory else ""
    print(
        f"glsw: {cells} cells in {seconds:.2f} s, {rate:.3g} GCUPS, "
        f"engine {result.engine} on {result.device}{memory}{note}",
        file=sys.stderr,
    )
