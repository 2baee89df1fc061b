"""Writers of results by name: each takes one result at a time and writes it in one go.

Coordinates leave the program here: inside they count from 0 and are half-open, in what is written
they count from 1 and include the last residue.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TextIO

from glsw.output import pairwise, table, tsv
from glsw.result import SearchResult


class Format(NamedTuple):
    """How results are written.

    Parameters
    ----------
    write : callable
        ``write(result, stream)`` writes one result, after those before it.
    header : str
        What stands once before all results.
    """

    write: Callable[[SearchResult, TextIO], None]
    header: str = ""


def _list_and_alignments(result: SearchResult, stream: TextIO) -> None:
    table.write(result, stream)
    if result.hits:
        pairwise.write(result, stream)


_TSV = Format(tsv.write, tsv.HEADER)

FORMATS = {
    "pairwise": Format(_list_and_alignments),
    "table": Format(table.write),
    "tsv": _TSV,
}
"""For searches: the ranked list with its alignments, the list alone, a line of columns a hit."""

ALIGNMENT_FORMATS = {"pairwise": Format(pairwise.write), "tsv": _TSV}
"""For one pair of sequences."""

__all__ = ["ALIGNMENT_FORMATS", "FORMATS", "Format"]
