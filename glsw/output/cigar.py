"""Alignments letter by letter, and tags, for formats of mapped reads, which know no codons."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from glsw.alignment.table import HitTable, compete
from glsw.output.blast import is_nucleic

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


def compared(table: HitTable) -> Compared:
    """Compare the letters of alignments; in MD, U is T, what is no letter N, or X in proteins."""
    found, nucleic = Compared([], [], [], []), is_nucleic(table.scoring.alphabet)
    for rows in table.chunks():
        operations = table.operations(rows, of_letters=True)
        target = table.target_letters(rows)
        known = (target >= ord("A")) & (target <= ord("Z")) | (target == ord("-"))
        shown = np.where(known, target, np.uint8(ord("N" if nucleic else "X")))
        if nucleic:
            shown[shown == ord("U")] = ord("T")
        found.equal.extend(operations.equal.tolist())
        found.columns.extend(np.diff(operations.offsets).tolist())
        found.cigars.extend(operations.cigars())
        found.mismatches.extend(operations.mismatches(shown))
    return found


def along_target(table: HitTable) -> list[str]:
    """Return the CIGAR of each row along the target as given, on both strands."""
    turned = zip(table.made(compared).cigars, table.target_contexts.strands.tolist(), strict=True)
    return [reversed_cigar(cigar) if strand < 0 else cigar for cigar, strand in turned]


def strands(table: HitTable) -> list[str]:
    """Return the strand of each query relative to its target as given."""
    product = table.query_contexts.strands * table.target_contexts.strands
    return ["+" if strand > 0 else "-" for strand in product.tolist()]


NOT_KNOWN, _BEST_QUALITY = 255, 60


def mapping_qualities(table: HitTable) -> list[int]:
    """Return MAPQ of each row: -10 log10 of the probability that its place is wrong.

    A query comes from a place with a probability proportional to 2 to the power of the bits of its
    alignment: scores are log-odds (Frith, Wan and Horton 2010, "Incorporating sequence quality data
    into alignment improves DNA read mapping", Nucleic Acids Research 38:e100). Those places count
    that share more than half of the query's letters, of the shorter alignment, with this one, and
    of places that limits hide one with the most bits it can have; so does one
    that ``max_hsps`` or ``top`` leave out, if it may be the second place. Numbers are rounded, 60
    at most;
    255 if another place would not be listed (``max_hsps`` or ``top`` is 1), if there are no bits,
    and with ``composition``. A place that shares half with a better one is secondary, and has 0.

    Examples
    --------
    >>> from glsw import Aligner, Scoring
    >>> aligner = Aligner(Scoring.nucleotide(), engine="reference")
    >>> gene, other = "ATGGCTAGCAAAGGAGAAGAACTT", "ATGGCTAGCAAAGGACAAGAACTT"
    >>> for targets in ([gene], [gene, other], [gene, gene]):
    ...     mapping_qualities(aligner.search(gene, targets, max_hsps=2).listed.table)[:1]
    [60]
    [14]
    [3]
    """
    qualities = np.full(len(table), NOT_KNOWN)
    if table.hidden is None:
        return qualities.tolist()
    first, last = np.sort(table.query_places, axis=0)
    starts = np.flatnonzero((table.rank == 1) & (table.number == 1)).tolist()
    for start, stop in pairwise([*starts, len(table)]):
        bits, hidden = table.bits[start:stop], table.hidden[start:stop]
        beyond = None if table.beyond is None else table.beyond[start:stop]
        if np.isnan(hidden).any():
            continue
        begin, end = first[start:stop], last[start:stop]
        qualities[start:stop] = 0
        primary = np.ones(stop - start, bool)
        while primary.any():
            k = 0 if primary[0] else int(np.where(primary, bits, -np.inf).argmax())
            rivals = compete(begin, end, begin[k], end[k])
            primary &= ~rivals
            rivals[k] = False
            unseen = hidden[k]
            if beyond is not None and bits[rivals].max(initial=-np.inf) < beyond[k]:
                unseen = max(unseen, beyond[k])
            others = float(np.exp2(np.append(bits[rivals], unseen) - bits[k]).sum())
            wrong = others / (1 + others)
            most = wrong <= 10 ** (-_BEST_QUALITY / 10)
            qualities[start + k] = _BEST_QUALITY if most else round(-10 * math.log10(wrong))
    return qualities.tolist()


def significance(table: HitTable) -> list[str]:
    """Return the tags of E-value, its logarithm, bits and frames of each row, where known.

    BAM has 32 bits for a number, with which an E-value below 1e-45 is 0; its logarithm is not.
    """
    frames = table.query_contexts.frames.tolist(), table.target_contexts.frames.tolist()
    columns = table.evalues.tolist(), table.bits.tolist(), *frames
    return [
        ("" if math.isnan(evalue) else f"\tZE:f:{evalue:.3g}")
        + (f"\tZL:f:{math.log10(evalue):.2f}" if evalue > 0 else "")
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
