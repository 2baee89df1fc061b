"""Bits and E-values from published constants."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glsw.statistics.base import Floats, Statistics, in_bits
from glsw.statistics.published_constants import Constants, FiniteSize

_Float = npt.NDArray[np.float64]

_ROOT_2 = math.sqrt(2)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def length_adjustment(constants: Constants, query: int, sequences: int, residues: int) -> int:
    """Return the number of residues that BLAST subtracts from the query and every sequence.

    It is the largest whole number l that does not exceed

        ``beta + alpha / lambda * ln(K (m - l) (n - N l))``,

    the length of alignments expected once in the remaining query (of m residues) and database (of
    n residues in N sequences), and for which ``K (m - l) (n - N l)`` exceeds both m and n. Both
    expressions decrease with l, so bisection finds it.

    Parameters
    ----------
    constants : Constants
    query : int
        Length m of the query.
    sequences, residues : int
        Sizes N and n of the database.

    Examples
    --------
    >>> from glsw.scoring.scoring import Scoring
    >>> from glsw.statistics.published_constants import published
    >>> length_adjustment(published(Scoring.blast("BLOSUM62")), 218, 4403, 1354446)
    80
    """
    ratio = constants.alpha / constants.lambda_

    def fits(length: int) -> bool:
        if length >= query or sequences * length >= residues:
            return False
        space = constants.k * (query - length) * (residues - sequences * length)
        if space <= max(query, residues):
            return False
        return constants.beta + ratio * math.log(space) >= length

    low, high = 0, query
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def search_space(constants: Constants, query: int, sequences: int, residues: int) -> int:
    """Return BLAST's effective search space: ``(m - l) (n - N l)``, see `length_adjustment`.

    Examples
    --------
    >>> from glsw.scoring.scoring import Scoring
    >>> from glsw.statistics.published_constants import published
    >>> search_space(published(Scoring.blast("BLOSUM62")), 218, 4403, 1354446)
    138304428
    """
    length = length_adjustment(constants, query, sequences, residues)
    return (query - length) * max(1, residues - sequences * length)


def expected_starts(
    score: _Float, constants: Constants, spread: FiniteSize, query: _Float, target: _Float
) -> _Float:
    """Return the expected number of start positions of alignments of a score.

    Park et al. 2012, equation 4 and appendix: the lengths I and J of an alignment in query and
    target are normal with the means and variances of ``spread``; the number is the expectation of
    ``(m - I)+ (n - J)+``, to first order in the covariance of I and J. (The matrix is taken as
    symmetric.) The shapes of the arrays broadcast.
    """
    mean = constants.alpha * score + spread.shift
    # Not below twice the slope over lambda, which matters at low scores.
    variance = np.maximum(
        2 * spread.variance / constants.lambda_, spread.variance * score + spread.variance_shift
    )
    covariance = np.maximum(
        2 * spread.covariance / constants.lambda_,
        spread.covariance * score + spread.covariance_shift,
    )
    deviation = np.sqrt(variance)
    free_in_query, chance_in_query = _positive_part(query - mean, deviation)
    free_in_target, chance_in_target = _positive_part(target - mean, deviation)
    return free_in_query * free_in_target + covariance * chance_in_query * chance_in_target


def _positive_part(free: _Float, deviation: _Float) -> tuple[_Float, _Float]:
    """Return the expected positive part of a normal variable and its chance to be positive."""
    at = free / deviation
    each, which = np.unique(at, return_inverse=True)  # many hits share a score and a length
    chance = np.asarray(_erfc(-each / _ROOT_2) / 2, np.float64)[which].reshape(at.shape)
    density = np.exp(-(at**2) / 2) / math.sqrt(2 * math.pi)
    # In the tail, rounding may make this difference negative.
    return np.maximum(deviation * (at * chance + density), 0.0), chance


@dataclass(frozen=True)
class KarlinAltschul(Statistics):
    """E-values as BLAST computes them.

    ``E = K * space * exp(-lambda S)`` and ``bits = (lambda S - ln K) / ln 2``. For proteins the
    space is that of blastp without composition-based statistics: n / n_t times the expected number
    of start positions (`glsw.statistics.karlin_altschul.expected_starts`), where n is the number of
    residues in the database and n_t the length of the target. For nucleotides it is that of blastn
    (`glsw.statistics.karlin_altschul.search_space`).

    Parameters
    ----------
    constants : Constants
    sequences, residues : int
        Size of the database.

    Examples
    --------
    >>> from glsw.scoring.scoring import Scoring
    >>> from glsw.statistics.published_constants import published
    >>> statistics = KarlinAltschul(published(Scoring.blast("BLOSUM62")), 4403, 1354446)
    >>> print(statistics.name)
    Karlin-Altschul, NCBI's BLOSUM62 11/1: lambda 0.267, K 0.041, H 0.14
    >>> round(statistics.bits(70, 201), 1), round(statistics.evalue(70, 218, 201), 3)
    (31.6, 0.027)
    >>> statistics.cutoff(0.027, 218, 201)
    70
    """

    constants: Constants
    sequences: int
    residues: int

    @property
    def name(self) -> str:
        """Matrix, gap costs in BLAST's convention, and constants."""
        return f"Karlin-Altschul, NCBI's {self.constants}"

    @property
    def grows_with_query(self) -> bool:
        """Whether no E-value is lower for a longer query: for proteins, by the start positions."""
        return self.constants.spread is not None

    def search_space(self, query_length: int) -> int:
        """Return the effective search space, as BLAST prints it."""
        return search_space(self.constants, query_length, self.sequences, self.residues)

    def _bits(self, score: Floats, target_length: Floats) -> Floats:
        nats = self.constants.lambda_ * score / self.constants.unit - math.log(self.constants.k)
        return in_bits(np.broadcast_to(nats, np.broadcast_shapes(nats.shape, target_length.shape)))

    def _evalue(self, score: Floats, query_length: Floats, target_length: Floats) -> Floats:
        constants = self.constants
        units = score / constants.unit
        if constants.even:
            units = 2 * np.floor(units / 2)
        if constants.spread:
            starts = expected_starts(
                units, constants, constants.spread, query_length, target_length
            )
            space = starts * self.residues / target_length
        else:
            space = self._spaces(query_length) + 0 * target_length
        found: Floats = constants.k * space * np.exp(-constants.lambda_ * units)
        return found

    def _spaces(self, query_length: Floats) -> Floats:
        lengths, at = np.unique(query_length, return_inverse=True)
        spaces = np.array([self.search_space(int(length)) for length in lengths], np.float64)
        found: Floats = spaces[at].reshape(query_length.shape)
        return found
