"""Karlin-Altschul constants of alignments without gaps, computed from the matrix.

S. Karlin and S. F. Altschul 1990, "Methods for assessing the statistical significance of molecular
sequence features by using general scoring schemes", PNAS 87.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.paired_alphabet import PairedAlphabet

AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
NUCLEOTIDES = "ACGT"

ROBINSON = {
    **{"A": 78.05, "R": 51.29, "N": 44.87, "D": 53.64, "C": 19.25, "Q": 42.64, "E": 62.95},
    **{"G": 73.77, "H": 21.99, "I": 51.42, "L": 90.19, "K": 57.44, "M": 22.43, "F": 38.56},
    **{"P": 52.03, "S": 71.20, "T": 58.41, "W": 13.30, "Y": 32.16, "V": 64.41},
}
"""Amino acids per thousand residues: A. B. Robinson and L. R. Robinson 1991, PNAS 88:8880."""

_PRECISION = 1e-10
_MAX_TERMS = 5000
_MAX_SCORE_RANGE = 100_000

_Float = npt.NDArray[np.float64]


class Ungapped(NamedTuple):
    """lambda per integer unit of the scoring, K, and H in nats per aligned pair."""

    lambda_: float
    k: float
    h: float


def codes_of(alphabet: Alphabet, letters: str) -> npt.NDArray[np.int64]:
    """Return the codes of letters of an alphabet, T also if it has U instead.

    >>> from glsw.sequences.alphabet import DNA
    >>> codes_of(DNA, "ACGU")
    array([0, 1, 2, 3])
    """
    return alphabet.encode(letters).astype(np.int64)


def background(alphabet: Alphabet) -> tuple[npt.NDArray[np.int64], _Float]:
    """Return the codes of the unambiguous letters of an alphabet and their frequencies.

    Amino acids have the frequencies of Robinson and Robinson; nucleotides, and the letters of any
    other alphabet, are equally frequent. Of two tracks the second has equally frequent letters, X
    and * apart, whatever they are, and letters of both are independent.
    """
    if isinstance(alphabet, PairedAlphabet):
        tracks = background(alphabet.first), _equally_frequent(alphabet.second, "X*")
        (first, of_first), (second, of_second) = tracks
        codes = len(alphabet.second) * first[:, None] + second
        return codes.ravel(), np.outer(of_first, of_second).ravel()
    if alphabet.amino_acids:
        counts = np.array([ROBINSON[letter] for letter in AMINO_ACIDS])
        return codes_of(alphabet, AMINO_ACIDS), counts / counts.sum()
    if alphabet.nucleotides:
        plain = codes_of(alphabet, NUCLEOTIDES)
        return plain, np.full(len(plain), 1 / len(plain))
    return _equally_frequent(alphabet)


def _equally_frequent(alphabet: Alphabet, others: str = "") -> tuple[npt.NDArray[np.int64], _Float]:
    """Return the codes of the letters that are neither ambiguous nor among others."""
    letters = enumerate(alphabet.letters)
    codes = [k for k, x in letters if x not in alphabet.ambiguous and x not in others]
    plain = np.array(codes, np.int64)
    return plain, np.full(len(plain), 1 / max(1, len(plain)))


def score_probabilities(scoring: Scoring) -> tuple[npt.NDArray[np.int64], _Float]:
    """Return the scores of two random letters, ascending, and their probabilities."""
    codes, frequencies = background(scoring.alphabet)
    entries = scoring.matrix[np.ix_(codes, codes)].astype(np.int64).ravel()
    scores, at = np.unique(entries, return_inverse=True)
    both = np.outer(frequencies, frequencies).ravel()
    return scores, np.bincount(at.ravel(), both).astype(np.float64)


def check(scoring: Scoring) -> None:
    """Raise ValueError if the scores of a scoring have no extreme value distribution.

    >>> check(Scoring.match_mismatch(3, -1, 4, 1))
    Traceback (most recent call last):
        ...
    ValueError: no local statistics exist: the expected score of two random residues is +0 \
(must be negative)
    """
    if not scoring.local:
        raise ValueError("no local statistics exist: the alignments are not local")
    scores, probabilities = score_probabilities(scoring)
    expected = float(scores @ probabilities)
    if expected > -_PRECISION * max(1, abs(int(scores[0]))):
        raise ValueError(
            "no local statistics exist: the expected score of two random residues is "
            f"{max(0.0, expected) / scoring.scale:+.3g} (must be negative)"
        )
    if scores[-1] <= 0:
        raise ValueError("no local statistics exist: no two residues have a positive score")


def ungapped(scoring: Scoring) -> Ungapped:
    """Return lambda, K and H of alignments without gaps.

    lambda solves ``sum p(s) exp(lambda s) = 1``; H is the entropy of aligned pairs relative to
    random ones; K is from the series in the appendix of the paper.

    Raises
    ------
    ValueError
        If no statistics exist, see `check`; if the range of scores is too large for K.

    Examples
    --------
    >>> found = ungapped(Scoring.blast("BLOSUM62"))
    >>> f"lambda {found.lambda_:.4f}, K {found.k:.3f}, H {found.h:.4f}"
    'lambda 0.3176, K 0.134, H 0.4012'
    """
    check(scoring)
    return _constants(*score_probabilities(scoring))


def ungapped_lambda(scoring: Scoring) -> float:
    """Return lambda per integer unit, without gaps; errors as `check`."""
    check(scoring)
    return lambda_of(*score_probabilities(scoring))


def _constants(scores: npt.NDArray[np.int64], probabilities: _Float) -> Ungapped:
    lambda_ = lambda_of(scores, probabilities)
    relative = float(np.sum(scores * probabilities * np.exp(lambda_ * scores)))
    span = int(np.gcd.reduce(scores))
    sum_ = _series(scores // span, probabilities, lambda_ * span)
    k = math.exp(-2 * sum_) * span / (relative * -math.expm1(-lambda_ * span))
    return Ungapped(lambda_, k, lambda_ * relative)


def lambda_of(scores: npt.NDArray[np.int64], probabilities: _Float) -> float:
    """Return the positive solution of ``sum p(s) exp(lambda s) = 1``, by bisection."""

    def excess(rate: float) -> float:
        return float(np.sum(probabilities * np.expm1(rate * scores)))

    highest = float(scores[-1])
    # At this rate the highest score alone makes the sum 1.
    high = -math.log(probabilities[-1]) / highest + _PRECISION / highest
    low = high
    while excess(low) >= 0:
        low /= 2
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return (low + high) / 2


def _series(scores: npt.NDArray[np.int64], probabilities: _Float, lambda_: float) -> float:
    """Return the sum over k of (P(S_k >= 0) + E(exp(lambda S_k); S_k < 0)) / k.

    S_k is the sum of k random scores; its distribution is that of S_(k-1) convolved with one score.
    """
    low, high = int(scores[0]), int(scores[-1])
    if high - low > _MAX_SCORE_RANGE:
        raise ValueError(f"scores from {low} to {high} are too many to compute K from")
    step = np.zeros(high - low + 1)
    step[scores - low] = probabilities
    walk, first, total = np.ones(1), 0, 0.0
    for k in range(1, _MAX_TERMS + 1):
        walk, first = np.convolve(walk, step), first + low
        sums = first + np.arange(len(walk))
        term = float(np.sum(walk * np.exp(lambda_ * np.minimum(sums, 0)))) / k
        total += term
        if term < _PRECISION:
            break
        # Drop both tails where they are negligible.
        kept = np.flatnonzero(walk * np.exp(lambda_ * np.minimum(sums, 0)) > 1e-18)
        walk, first = walk[kept[0] : kept[-1] + 1], first + int(kept[0])
    return total
