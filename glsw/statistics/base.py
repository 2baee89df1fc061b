"""The interface of all statistics: bits, E-values, and the score that an E-value requires."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import overload

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.integer] | Floats

_LARGEST = 2**31 - 1


class Statistics(ABC):
    """The significance of scores of one query against one database.

    Scores are in integer units of the scoring, see `Scoring.scale`. All methods take numbers or
    arrays whose shapes broadcast; they return a float for numbers and an array for arrays.
    """

    @property
    def available(self) -> bool:
        """Whether bits and E-values exist."""
        return True

    @property
    @abstractmethod
    def name(self) -> str:
        """The method and its parameters, as shown in outputs."""

    @property
    def grows_with_query(self) -> bool:
        """Whether no E-value is lower for a longer query."""
        return False

    @overload
    def bits(self, score: float, target_length: int) -> float: ...

    @overload
    def bits(self, score: Scores, target_length: int | Scores) -> Floats: ...

    def bits(self, score: float | Scores, target_length: int | Scores) -> float | Floats:
        """Return the score in bits: one more bit halves the E-value.

        Parameters
        ----------
        score : int, or array of int
        target_length : int, or array of int
            Residues of the target; only a fit depends on them.
        """
        return _float(self._bits(*_arrays(score, target_length)))

    @overload
    def evalue(self, score: float, query_length: int, target_length: int) -> float: ...

    @overload
    def evalue(
        self, score: Scores, query_length: int | Scores, target_length: int | Scores
    ) -> Floats: ...

    def evalue(
        self, score: float | Scores, query_length: int | Scores, target_length: int | Scores
    ) -> float | Floats:
        """Return the number of scores this high or higher expected by chance in the search.

        Parameters
        ----------
        score : int, or array of int
        query_length : int, or array of int
            Residues of the query: of a translated frame, its amino acids.
        target_length : int, or array of int
            Residues of the target.
        """
        return _float(self._evalue(*_arrays(score, query_length, target_length)))

    @overload
    def cutoff(self, evalue: float, query_length: int, target_length: int) -> int: ...

    @overload
    def cutoff(
        self, evalue: float, query_length: int, target_length: Scores
    ) -> npt.NDArray[np.int64]: ...

    def cutoff(
        self, evalue: float, query_length: int, target_length: int | Scores
    ) -> int | npt.NDArray[np.int64]:
        """Return the least score, 1 or more, with at most this E-value.

        Parameters
        ----------
        evalue : float
            More than 0.
        query_length : int
        target_length : int, or array of int
            The result is found by bisection: give each length of a database once.
        """
        if not evalue > 0:
            raise ValueError(f"an E-value must be more than 0, got {evalue:g}")
        lengths = np.asarray(target_length, np.float64)
        query = np.asarray(query_length, np.float64)

        def enough(score: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
            return self._evalue(score.astype(np.float64), query, lengths) <= evalue

        low = np.zeros(lengths.shape, np.int64)  # not known to be enough
        high = np.ones(lengths.shape, np.int64)
        while not (done := enough(high) | (high > _LARGEST)).all():
            low, high = np.where(done, low, high), np.where(done, high, 2 * high)
        while (high - low > 1).any():
            middle = (low + high + 1) // 2
            done = enough(middle)
            low, high = np.where(done, low, middle), np.where(done, middle, high)
        return high if isinstance(target_length, np.ndarray) else int(high)

    @abstractmethod
    def _bits(self, score: Floats, target_length: Floats) -> Floats: ...

    @abstractmethod
    def _evalue(self, score: Floats, query_length: Floats, target_length: Floats) -> Floats: ...


class Unavailable(Statistics):
    """No statistics, with the reason.

    Examples
    --------
    >>> nothing = Unavailable("not asked for")
    >>> nothing.available, nothing.name
    (False, 'none: not asked for')
    >>> nothing.evalue(50, 100, 100)
    Traceback (most recent call last):
        ...
    ValueError: there are no statistics: not asked for
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"Unavailable({self.reason!r})"

    @property
    def available(self) -> bool:
        """False."""
        return False

    @property
    def name(self) -> str:
        """The reason."""
        return f"none: {self.reason}"

    def _bits(self, score: Floats, target_length: Floats) -> Floats:
        raise ValueError(f"there are no statistics: {self.reason}")

    def _evalue(self, score: Floats, query_length: Floats, target_length: Floats) -> Floats:
        raise ValueError(f"there are no statistics: {self.reason}")


def in_bits(nats: Floats) -> Floats:
    """Convert natural to binary logarithms."""
    return nats / math.log(2)


def _arrays(*numbers: float | Scores) -> list[Floats]:
    return [np.asarray(number, np.float64) for number in numbers]


def _float(result: Floats) -> float | Floats:
    """Return a float for a number, an array for an array."""
    return result if np.ndim(result) else float(result)
