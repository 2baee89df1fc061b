"""Alignments that would run over the end of a sequence: corrections of the search space.

A random alignment of score s is about ``alpha s + beta`` letters long, so it cannot begin anywhere
in a sequence. BLAST corrects for this in two ways, and so does this module: blastn takes one length
off the query and off every sequence of the database; blastp, since version 2.2.24, computes the
expected number of places from the distribution of the two lengths.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from glsw.statistics.published_constants import Constants, FiniteSize

_Float = npt.NDArray[np.float64]

_ROOT_2 = math.sqrt(2)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def length_adjustment(constants: Constants, query: int, sequences: int, residues: int) -> int:
    """Return how many letters BLAST takes off the query and off every sequence.

    It is the largest whole number l that is not above

        ``beta + alpha / lambda * ln(K (m - l) (n - N l))``,

    the length of the alignments that are expected once in what remains of the query (m letters)
    and the database (n letters in N sequences), and for which ``K (m - l) (n - N l)`` is still more
    than both m and n. The first falls with l, so that it is found by halving.

    Parameters
    ----------
    constants : Constants
    query : int
        Letters m of the query.
    sequences, residues : int
        Size N and n of the database.

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


def expected_places(
    score: _Float, constants: Constants, spread: FiniteSize, query: _Float, target: _Float
) -> _Float:
    """Return in how many places alignments of a score may lie in a query and a target.

    Equation 4 and the appendix of Park et al. 2012: the lengths I and J of the alignment in the two
    sequences are normal with the means and variances of ``spread``; the number of places is the
    expectation of ``(m - I)+ (n - J)+``, to first order in the covariance of I and J. (The matrix
    is taken as symmetric.) All arrays have one shape, or shapes that broadcast.
    """
    mean = constants.alpha * score + spread.shift
    # Where the lines go below that, at low scores, twice the slope over lambda is taken.
    variance = np.maximum(
        2 * spread.variance / constants.lambda_, spread.variance * score + spread.variance_shift
    )
    covariance = np.maximum(
        2 * spread.covariance / constants.lambda_,
        spread.covariance * score + spread.covariance_shift,
    )
    deviation = np.sqrt(variance)
    room_in_query, chance_in_query = _room(query - mean, deviation)
    room_in_target, chance_in_target = _room(target - mean, deviation)
    return room_in_query * room_in_target + covariance * chance_in_query * chance_in_target


def _room(free: _Float, deviation: _Float) -> tuple[_Float, _Float]:
    """Return expectation of the positive part, and chance to be positive, of a normal variable."""
    at = free / deviation
    chance = np.asarray(_erfc(-at / _ROOT_2) / 2, np.float64)
    density = np.exp(-(at**2) / 2) / math.sqrt(2 * math.pi)
    # The difference of two nearly equal numbers may fall below 0 far out.
    return np.maximum(deviation * (at * chance + density), 0.0), chance
