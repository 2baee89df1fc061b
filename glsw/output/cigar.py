"""Alignments letter by letter, for formats that know no codons."""

from __future__ import annotations

from itertools import groupby

from glsw.results import Alignment


def operations(alignment: Alignment) -> list[tuple[str, int]]:
    """Return what a CIGAR says, each operation with its length in characters.

    Letters of codons are compared one by one.

    Examples
    --------
    >>> from glsw import Aligner, Scoring
    >>> codons = Aligner(Scoring.named("SCHNEIDER", 10, 5), engine="reference")
    >>> operations(codons.align("ATGGCCTGG", "ATGGCTTGG"))
    [('=', 5), ('X', 1), ('=', 3)]
    """
    query, between, target = alignment.rows()
    if alignment.scoring.alphabet.width > 1:
        pairs = zip(query.upper(), target.upper(), strict=True)
        between = "".join("|" if q == t else "." for q, t in pairs)

    def kind(column: tuple[str, str, str]) -> str:
        q, mark, t = column
        return "D" if q == "-" else "I" if t == "-" else "=" if mark == "|" else "X"

    columns = map(kind, zip(query, between, target, strict=True))
    return [(letter, len(list(run))) for letter, run in groupby(columns)]


def cigar(alignment: Alignment) -> str:
    """Return the operations as text."""
    return "".join(f"{length}{letter}" for letter, length in operations(alignment))


def edits(alignment: Alignment) -> int:
    """Return how many letters differ or are opposite gaps: the edit distance of the alignment."""
    return sum(length for letter, length in operations(alignment) if letter != "=")
