"""NCBI's published constants of gapped alignments, read from the tables in ``data/``.

The numbers are those in BLAST's source (``blast_stat.c`` of the NCBI C++ toolkit 2.12, public
domain), where they stand as facts for each matrix and gap costs. Those of proteins were estimated
by simulation: S. F. Altschul and W. Gish 1996, "Local alignment statistics", Methods in Enzymology
266; S. F. Altschul et al. 2001, "The estimation of statistical parameters for local alignment score
distributions", Nucleic Acids Research 29; Y. Park et al. 2012, "New finite-size correction for
local alignment score distributions", BMC Research Notes 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt

Row = tuple[float, ...]


@dataclass(frozen=True)
class Substitution:
    """Rows of blastn for a match and a mismatch score.

    Parameters
    ----------
    rows : tuple
        gapopen, gapextend, lambda, K, H, alpha, beta. Costs 0, 0 stand for those of megablast: no
        opening cost, and half the match less the mismatch at each position.
    enough : tuple of int
        Gap costs from which on gaps are too rare to matter: without gaps.
    even : bool
        Whether the row holds for even scores only; odd ones are rounded down.
    """

    rows: tuple[Row, ...]
    enough: tuple[int, int]
    even: bool = False


@cache
def protein_rows() -> dict[str, tuple[Row, ...]]:
    """Return the rows of blastp per matrix, the first one without gaps.

    A row has existence and extension cost, lambda, K, H, alpha and beta, then alpha and sigma of
    the finite-size correction.
    """
    lines = groupby(_lines("blastp.tsv"), key=lambda line: line[0])
    return {name: tuple(_numbers(line[1:]) for line in some) for name, some in lines}


@cache
def nucleotide_rows() -> dict[tuple[int, int], Substitution]:
    """Return the rows of blastn per match and mismatch score, both without a common divisor."""
    tables = {}
    for key, lines in groupby(_lines("blastn.tsv"), key=lambda line: tuple(map(int, line[:5]))):
        match, mismatch, existence, extension, even = key
        rows = tuple(_numbers(line[5:]) for line in lines)
        tables[match, mismatch] = Substitution(rows, (existence, extension), bool(even))
    return tables


@cache
def blosum80() -> tuple[tuple[int, ...], ...]:
    """Return the lower triangle of NCBI's BLOSUM80, in half bits.

    Biopython's matrix of that name is in thirds of a bit: these constants are not for it.
    """
    return tuple(tuple(map(int, line)) for line in _lines("blosum80.tsv"))


@cache
def joint_frequencies(matrix: str) -> npt.NDArray[np.float64]:
    """Return the frequencies of aligned amino acids that a matrix stands for, shape (20, 20).

    They are known for all matrices of `protein_rows`.
    """
    lower = [_numbers(row) for name, *row in _lines("joint.tsv") if name == matrix]
    table = np.zeros((len(lower), len(lower)))
    for i, row in enumerate(lower):
        table[i, : i + 1] = table[: i + 1, i] = row
    return table


def _lines(name: str) -> Iterator[list[str]]:
    """Yield the fields of each line of a table that is not a comment."""
    text = (Path(__file__).parent / "data" / name).read_text(encoding="ascii")
    return (line.split("\t") for line in text.splitlines() if not line.startswith("#"))


def _numbers(fields: list[str]) -> Row:
    return tuple(int(text) if text.lstrip("-").isdigit() else float(text) for text in fields)
