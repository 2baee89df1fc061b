"""Karlin-Altschul constants of a scoring, as published by NCBI."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt

from glsw.scoring.scoring import Scoring
from glsw.statistics.ungapped_constants import AMINO_ACIDS, NUCLEOTIDES, codes_of, ungapped

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
    """Return the target frequencies implied by a matrix, shape (20, 20).

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


@dataclass(frozen=True)
class Constants:
    """Parameters of the score distribution of random sequences.

    Parameters
    ----------
    name : str
        Matrix and gap costs, in BLAST's convention.
    lambda_, k, h : float
        lambda per unit of score, K, and H in nats per aligned pair.
    alpha, beta : float
        A random alignment of score s is about ``alpha * s + beta`` residues long.
    unit : int
        Integer units of the scoring per unit of score here: `Scoring.scale`, or the factor between
        its matrix and the published one.
    spread : FiniteSize, optional
        Further parameters of the finite-size correction, if known.
    even : bool
        Whether odd scores are rounded down for E-values.
    """

    name: str
    lambda_: float
    k: float
    h: float
    alpha: float
    beta: float
    unit: int = 1
    spread: FiniteSize | None = None
    even: bool = False

    def __str__(self) -> str:
        return f"{self.name}: lambda {self.lambda_:.3g}, K {self.k:.3g}, H {self.h:.2g}"


@dataclass(frozen=True)
class FiniteSize:
    """The distribution of the lengths of random alignments of score s (Park et al. 2012).

    Their mean is ``alpha * s + shift``, their variance ``variance * s + variance_shift``, and the
    covariance of the lengths in both sequences ``covariance * s + covariance_shift``.
    """

    shift: float
    variance: float
    variance_shift: float
    covariance: float
    covariance_shift: float

    @staticmethod
    def of(row: Row, without_gaps: Row) -> FiniteSize:
        """Return the parameters of a row of the protein table and its row without gaps.

        The shifts are twice the cost of the first position of a gap times the difference between
        the slope without gaps and the slope with gaps.
        """
        gap = 2 * (row[0] + row[1])
        return FiniteSize(
            shift=gap * (without_gaps[5] - row[5]),
            variance=row[7],
            variance_shift=gap * (without_gaps[7] - row[7]),
            covariance=row[8],
            covariance_shift=gap * (without_gaps[7] - row[8]),
        )


def published(scoring: Scoring) -> Constants | None:
    """Return NCBI's constants for a scoring, None if there are none.

    A matrix is recognised by its scores of unambiguous letters, not by its name; common factors of
    matrix and gap costs are removed.

    Examples
    --------
    >>> print(published(Scoring.blast("BLOSUM62", 11, 1)))
    BLOSUM62 11/1: lambda 0.267, K 0.041, H 0.14
    >>> published(Scoring.blast("BLOSUM62", 3, 3)) is None
    True
    >>> print(published(Scoring.match_mismatch(4, -6, 14, 4)))
    2/-3 5/2: lambda 0.625, K 0.41, H 0.78
    """
    if scoring.separate or not scoring.local:
        return None
    return _protein(scoring) or _nucleotide(scoring)


def costs_published_for(scoring: Scoring) -> tuple[str, list[str]] | None:
    """Return the name of the matrix and the gap costs with published constants.

    None if there are none for the matrix.
    """
    if protein := _recognised(scoring):
        return protein[0], [f"{row[0]:g}/{row[1]:g}" for row in protein_rows()[protein[0]][1:]]
    if nucleotide := _substitution(scoring):
        (match, mismatch), _ = nucleotide
        rows = nucleotide_rows()[match, mismatch].rows
        costs = [f"{row[0]:g}/{row[1]:g}" for row in rows if row[:2] != (0, 0)]
        return f"{match}/{mismatch}", costs
    return None


@cache
def _matrices() -> dict[bytes, str]:
    """Return the names of the protein matrices by their scores."""
    found = {}
    for name in protein_rows():
        matrix = np.zeros((20, 20), np.int32)
        if name == "BLOSUM80":
            for k, row in enumerate(blosum80()):
                matrix[k, : k + 1] = matrix[: k + 1, k] = row
        else:
            matrix[:] = Scoring.named(name).matrix[:20, :20]
        found[matrix.tobytes()] = name
    return found


def _divided(scoring: Scoring, letters: str) -> tuple[npt.NDArray[np.int32], int] | None:
    """Return the scores of unambiguous letters and their greatest common divisor, if not 0."""
    codes = codes_of(scoring.alphabet, letters)
    scores = scoring.matrix[np.ix_(codes, codes)]
    unit = int(np.gcd.reduce(scores, axis=None))
    return (scores, unit) if unit else None


def _recognised(scoring: Scoring) -> tuple[str, int] | None:
    """Return the name of a protein matrix and the factor of its scores."""
    found = _divided(scoring, AMINO_ACIDS) if scoring.alphabet.amino_acids else None
    if found is None:
        return None
    scores, unit = found
    name = _matrices().get(np.ascontiguousarray(scores // unit, np.int32).tobytes())
    return None if name is None else (name, unit)


def _protein(scoring: Scoring) -> Constants | None:
    found = _recognised(scoring)
    if found is None:
        return None
    name, unit = found
    costs = (scoring.gap_open - scoring.gap_extend) / unit, scoring.gap_extend / unit
    without_gaps, *rows = protein_rows()[name]
    for row in rows:
        if row[:2] == costs:
            lambda_, k, h, alpha, beta = row[2:7]
            spread = FiniteSize.of(row, without_gaps)
            label = f"{name} {row[0]}/{row[1]}"
            return Constants(label, lambda_, k, h, alpha, beta, unit=unit, spread=spread)
    return None


def _substitution(scoring: Scoring) -> tuple[tuple[int, int], int] | None:
    """Return match and mismatch without their common divisor, and that divisor."""
    found = _divided(scoring, NUCLEOTIDES) if scoring.alphabet.nucleotides else None
    if found is None:
        return None
    scores, unit = found
    match, mismatch = int(scores[0, 0]), int(scores[0, 1])
    if not np.array_equal(scores, np.where(np.eye(4, dtype=bool), match, mismatch)):
        return None
    pair = match // unit, mismatch // unit
    return (pair, unit) if pair in nucleotide_rows() else None


def _nucleotide(scoring: Scoring) -> Constants | None:
    found = _substitution(scoring)
    if found is None:
        return None
    (match, mismatch), unit = found
    known = nucleotide_rows()[match, mismatch]
    costs = (scoring.gap_open - scoring.gap_extend) / unit, scoring.gap_extend / unit
    name = f"{match}/{mismatch} {costs[0]:g}/{costs[1]:g}"
    greedy = 0, match / 2 - mismatch
    for row in known.rows:
        if costs == (greedy if row[:2] == (0, 0) else row[:2]):
            lambda_, k, h, alpha, beta = row[2:]
            return Constants(name, lambda_, k, h, alpha, beta, unit=unit, even=known.even)
    if costs[0] < known.enough[0] or costs[1] < known.enough[1]:
        return None
    lambda_, k, h = ungapped(scoring)
    beta = -2.0 if (match, mismatch) in ((1, -1), (2, -3)) else 0.0
    return Constants(
        f"{name}, as without gaps",
        lambda_ * unit,
        k,
        h,
        alpha=lambda_ * unit / h,
        beta=beta,
        unit=unit,
        even=known.even,
    )
