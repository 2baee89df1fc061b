"""One line for each high-scoring pair, columns apart by tabs, for programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from glsw.alignment.columns import COLUMNS, TABLE, Column
from glsw.alignment.hits import SearchResult
from glsw.alignment.table import HitTable
from glsw.output.format import of_rows

HEADER = "\t".join(COLUMNS) + "\n"
"""The first line: `glsw.alignment.columns` describes its columns."""


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
    stream.write("".join(of_rows(result, _lines)))


def lines_of(columns: Iterable[Column], table: HitTable) -> list[str]:
    """Return a line of some columns for each row of a table."""
    texts = (column.texts(table) for column in columns)
    return ["\t".join(cells) + "\n" for cells in zip(*texts, strict=True)]


def _lines(table: HitTable) -> list[str]:
    return lines_of(TABLE.values(), table)
