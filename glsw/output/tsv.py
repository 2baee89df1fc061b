"""Tab-separated values: one line per high-scoring pair."""

from __future__ import annotations

from typing import TextIO

from glsw.alignment.columns import COLUMNS, TABLE
from glsw.alignment.hits import SearchResult
from glsw.output.format import of_columns

HEADER = "\t".join(COLUMNS) + "\n"
"""The first line: `glsw.alignment.columns` describes its columns."""

_lines = of_columns(TABLE.values())


def write(result: SearchResult, stream: TextIO) -> None:
    r"""Write the lines without the header; unknown values are empty.

    Examples
    --------
    >>> import io
    >>> from glsw import Aligner
    >>> stream = io.StringIO()
    >>> write(Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"], composition=0), stream)
    >>> stream.getvalue().split("\t")[:5]
    ['query', '1', '1', 'target 1', '16']
    """
    stream.write("".join(_lines(result)))
