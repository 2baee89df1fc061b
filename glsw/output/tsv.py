"""One line for each high-scoring pair, columns apart by tabs, for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TextIO

from glsw.alignment.columns import COLUMNS, columns_of
from glsw.alignment.hits import SearchResult
from glsw.alignment.hsp_table import HspTable
from glsw.output.format import named, of_rows

HEADER = "\t".join(COLUMNS) + "\n"
"""The first line: `glsw.alignment.columns` describes its columns."""

_TEXTS = ("query", "target", "description")
_SHOWN: Mapping[str, Callable[[Any], str]] = {
    "bits": "{:.1f}".format,
    "evalue": "{:.3g}".format,
    "identity": "{:.4f}".format,
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
    stream.write("".join(of_rows(result, _lines)))


def _lines(table: HspTable) -> list[str]:
    columns = [
        named(values) if name in _TEXTS else _shown(values, _SHOWN.get(name, str))
        for name, values in zip(COLUMNS, columns_of(table), strict=True)
    ]
    return ["\t".join(cells) + "\n" for cells in zip(*columns, strict=True)]


def _shown(values: list[Any], show: Callable[[Any], str]) -> list[str]:
    return ["" if value is None else show(value) for value in values]
