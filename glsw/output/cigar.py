"""Alignments letter by letter, and tags, for formats of mapped reads, which know no codons."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from glsw.results import HspTable

_OPERATION = re.compile(r"\d+\D")


class Compared(NamedTuple):
    """What CIGAR and tags say about each row of a table; letters of codons are compared one by one.

    Parameters
    ----------
    equal, columns : list of int
        Equal letters, and all columns in letters.
    cigars : list of str
    mismatches : list of str
        The tag MD: letters of the target that differ, and how many are equal between.

    Examples
    --------
    >>> from glsw import Aligner, Scoring
    >>> aligner = Aligner(Scoring.named("SCHNEIDER", 10, 5), engine="reference")
    >>> result = aligner.search("ATGGCCTGG", ["ATGGCTTGG"])
    >>> compared(result.listed.table)
    Compared(equal=[8], columns=[9], cigars=['5=1X3='], mismatches=['5T3'])
    """

    equal: list[int]
    columns: list[int]
    cigars: list[str]
    mismatches: list[str]


def compared(table: HspTable, stranger: str = "N") -> Compared:
    """Compare the letters of alignments; ``stranger`` is shown for those that are none in MD."""
    found = Compared([], [], [], [])
    for rows in table.chunks():
        operations = table.operations(rows, of_letters=True)
        target = table.target_letters(rows)
        known = (target >= ord("A")) & (target <= ord("Z")) | (target == ord("-"))
        found.equal.extend(operations.equal.tolist())
        found.columns.extend(np.diff(operations.offsets).tolist())
        found.cigars.extend(operations.cigars())
        found.mismatches.extend(
            operations.mismatches(np.where(known, target, np.uint8(ord(stranger))))
        )
    return found


def significance(table: HspTable) -> list[str]:
    """Return the tags of E-value, bits and frames of each row, as far as they are known."""
    frames = table.query_contexts.frames.tolist(), table.target_contexts.frames.tolist()
    columns = table.evalues.tolist(), table.bits.tolist(), *frames
    return [
        ("" if math.isnan(evalue) else f"\tZE:f:{evalue:.3g}")
        + ("" if math.isnan(bits) else f"\tZB:f:{bits:.1f}")
        + (f"\tZF:i:{frame}" if frame else "")
        + (f"\tZG:i:{of_target}" if of_target else "")
        for evalue, bits, frame, of_target in zip(*columns, strict=True)
    ]


def reversed_cigar(cigar: str) -> str:
    """Return the CIGAR from the other end.

    >>> reversed_cigar("10=1I2X")
    '2X1I10='
    """
    return "".join(reversed(_OPERATION.findall(cigar)))
