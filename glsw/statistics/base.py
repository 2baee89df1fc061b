"""The interface of all statistics: bits, E-values, and the score that an E-value requires."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Numbers = float | npt.NDArray[np.integer] | Floats


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

    def bits(self, score: Numbers, target_length: Numbers) -> Any:
        """Return the score in bits: one more bit halves the E-value.

        Parameters
        ----------
        score : int, or array of int
        target_length : int, or array of int
            Residues of the target; only a fit depends on them.
        """
        return _plain(self._bits(*_floats(score, target_length)))

    def evalue(self, score: Numbers, query_length: Numbers, target_length: Numbers) -> Any:
        """Return the number of scores this high or higher expected by chance in the search.

        Parameters
        ----------
        score : int, or array of int
        query_length : int, or array of int
            Residues of the query: of a translated frame, its amino acids.
        target_length : int, or array of int
            Residues of the target.
        """
        return _plain(self._evalue(*_floats(score, query_length, target_length)))

    def cutoff(self, evalue: float, query_length: Numbers, target_length: Numbers) -> Any:
        """Return the least score, 1 or more, with at most this E-value: int, or array of int64.

        Parameters
        ----------
        evalue : float
            More than 0.
        query_length, target_length : int, or array of int
            The result is found by bisection: give each length of a database once.
        """
        if not evalue > 0:
            raise ValueError(f"an E-value must be more than 0, got {evalue:g}")
        lengths = np.broadcast_arrays(*_floats(query_length, target_length))
        below = np.zeros(lengths[0].shape, np.int64)  # the largest score that is not enough
        for step in (2**k for k in reversed(range(31))):
            below += step * (self._evalue(np.asarray(below + step, np.float64), *lengths) > evalue)
        return _plain(below + 1)

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


def _floats(*numbers: Numbers) -> list[Floats]:
    return [np.asarray(number, np.float64) for number in numbers]


def _plain(result: npt.NDArray[Any]) -> Any:
    """Return a number of Python for one, an array for an array."""
    return result if np.ndim(result) else result.item()
