"""Alignments as text, residue under residue."""

from __future__ import annotations

from typing import TextIO

from glsw.result import SearchResult


def write(result: SearchResult, stream: TextIO) -> None:
    """Write the alignment of each hit, the best first, and a blank line after it.

    Between the rows stand ``|`` for equal residues, ``:`` for others that score above 0 and ``.``
    for other pairs; a gap is ``-``. Coordinates count from 1 and include the last residue.

    Examples
    --------
    >>> import sys
    >>> from glsw import Aligner
    >>> write(Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"]), sys.stdout)
    query  query
    target target 1
    score 16, identities 4/5 (80.0%), gaps 1/5 (20.0%)
    <BLANKLINE>
    query  5 AWGHE 9
             || ||
    target 2 AW-HE 5
    <BLANKLINE>
    """
    if result.hits:
        stream.write("".join(f"{hit.alignment}\n\n" for hit in result))
    else:
        stream.write(f"query {result.query.id}: no alignment\n\n")
