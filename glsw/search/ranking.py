"""Which hits are kept, whatever order and parts they are found in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.statistics import ScoreHistogram

Keys = npt.NDArray[np.int64]
_BLOCK = 64  # scores of which only the largest is looked at when there are many
_LARGEST = 2**31 - 1
_SHIFT = 32


class Ranking(NamedTuple):
    """Which hits are kept: those of at least a score, and of these the best.

    A hit is one number, its key: the larger the score the smaller the key, and among equal scores
    the order is that of the database. So the best hits are the same in whatever order and parts
    they are found.

    Parameters
    ----------
    top : int or None
        How many at most, None for all.
    least : int or float
        The least score, 1 or more, in integer units.
    counted : int, optional
        If the scores of all sequences are wanted too, for statistics: units in a cell of their
        `ScoreHistogram`.

    Examples
    --------
    >>> ranking = Ranking(top=2, least=1)
    >>> keys = ranking.best(np.array([7, 0, 9, 9], np.int32), np.array([3, 2, 1, 0]))
    >>> numbers_of(keys).tolist()
    [0, 1]
    """

    top: int | None
    least: float
    counted: int | None = None

    def best(self, scores: npt.NDArray[np.int32], numbers: npt.NDArray[np.int64]) -> Keys:
        """Return the keys to keep, ascending, of sequences with these scores and numbers."""
        chosen = np.flatnonzero(scores >= self._bound(scores))
        keys = (_LARGEST - scores[chosen].astype(np.int64)) << _SHIFT | numbers[chosen]
        return np.sort(keys)[: self.top]

    def merged(self, *keys: Keys) -> Keys:
        """Return the keys to keep of several lists of them."""
        return np.sort(np.concatenate(keys))[: self.top]

    def histogram(self) -> ScoreHistogram | None:
        """Return an empty histogram if one is wanted."""
        return None if self.counted is None else ScoreHistogram(self.counted)

    def _bound(self, scores: npt.NDArray[np.int32]) -> float:
        """Return a score that all hits to keep reach, and not many others."""
        if self.top is None or len(scores) <= self.top:
            return self.least
        blocks = len(scores) // _BLOCK
        if blocks >= self.top:
            scores = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
        return max(self.least, int(np.partition(scores, -self.top)[-self.top]))


def numbers_of(keys: Keys) -> npt.NDArray[np.int64]:
    """Return the original numbers in the database of hits."""
    return keys & ((1 << _SHIFT) - 1)


def scores_of(keys: Keys) -> npt.NDArray[np.int64]:
    """Return the scores of hits, in integer units."""
    return _LARGEST - (keys >> _SHIFT)
