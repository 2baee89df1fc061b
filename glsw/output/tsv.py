"""One line for each high-scoring pair, columns apart by tabs, for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TextIO

from glsw.output.format import in_a_line
from glsw.results import COLUMNS, SearchResult

HEADER = "\t".join(COLUMNS) + "\n"
"""The first line: `glsw.results.COLUMNS`, which says what they are."""

_SHOWN: Mapping[str, Callable[[Any], str]] = {
    "bits": "{:.1f}".format,
    "evalue": "{:.3g}".format,
    "identity": "{:.2f}".format,
}


def write(result: SearchResult, stream: TextIO) -> None:
    r"""Write the lines without the header; unknown values are empty.

    Examples
    --------
    >>> import io
    >>> from glsw import Aligner
    >>> stream = io.StringIO()
    >>> write(Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"]), stream)
    >>> stream.getvalue().split("\t")[:5]
    ['query', '1', '1', 'target 1', '16']
    """
    for row in result.rows():
        cells = (
            "" if value is None else _SHOWN.get(name, in_a_line)(value)
            for name, value in row.items()
        )
        stream.write("\t".join(cells) + "\n")
