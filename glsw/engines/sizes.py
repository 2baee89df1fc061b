"""What pairwise programs depend on: the sizes of pairs, and features of the scoring."""

from __future__ import annotations

from bisect import bisect_left
from itertools import product
from typing import NamedTuple

import numpy as np

from glsw.alignment.batch import Batch
from glsw.arrays import Int64, Intp
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.encoded import Sequences, distinct

_BOUNDS = (128, 256)  # lengths up to which pairs are of a size
_USUAL_LENGTHS = (123, 251, 530)  # of the largest pair of a size
SIDES = range(len(_USUAL_LENGTHS))
"""Numbers of the bounds of a size."""


class Size(NamedTuple):
    """Which programs a pair needs: engines choose these by lengths, about as these bounds do.

    Parameters
    ----------
    m, n : int
        The numbers of the bounds of the query and of the target.
    """

    m: int
    n: int

    @classmethod
    def of(cls, m: int, n: int) -> Size:
        """Return the size of pairs with at most so many residues.

        >>> Size.of(128, 2000)
        Size(m=0, n=2)
        """
        return cls(bisect_left(_BOUNDS, m), bisect_left(_BOUNDS, n))

    @classmethod
    def each_of(cls, pairs: Batch | tuple[Sequences, Sequences]) -> list[Size]:
        """Return the sizes of the pairs of a batch, or of some sequences, each with each."""
        if not isinstance(pairs, Batch):
            sides = (distinct(sides_of(each.lengths)).tolist() for each in pairs)
            return [cls(*each) for each in product(*sides)]
        shortest, longest = (cls.of(*lengths) for lengths in pairs.extent.tolist())
        if shortest == longest:
            return [longest] * (len(pairs) > 0)
        numbers = sum((pairs.lengths > bound).astype(np.int64) for bound in _BOUNDS)
        found = np.flatnonzero(np.bincount(numbers @ np.array([len(SIDES), 1])))
        return [cls(*divmod(number, len(SIDES))) for number in found.tolist()]

    @property
    def lengths(self) -> tuple[int, int]:
        """Residues of the largest pair of the proof."""
        return _USUAL_LENGTHS[self.m], _USUAL_LENGTHS[self.n]


SIZES = SMALLEST, *_, LARGEST = [Size(k, k) for k in SIDES]
"""Sizes in which each engine uses all of its programs."""


def sides_of(lengths: Int64) -> Intp:
    """Return the numbers of the bounds of lengths, see `Size`."""
    return np.searchsorted(_BOUNDS, lengths)


def family_of(scoring: Scoring) -> str:
    """Return the features of a scoring on which programs depend.

    >>> family_of(Scoring.match_mismatch(2, -3, 5, 2))
    'match, affine, local, 15 letters'
    """
    kind = "match" if scoring.match_and_mismatch else "matrix"
    if isinstance(scoring, TwoTrackScoring):
        kind = f"two tracks of {len(scoring.first.matrix)} and {len(scoring.weighted)}"
    elif scoring.wide_queries:
        kind = "positions"
    gaps = "linear" if scoring.linear else "affine"
    if scoring.gaps:
        gaps = "gaps by position"
    elif scoring.separate:
        gaps = f"separate {gaps}"
    mode = "local" if scoring.local else "end to end"
    return f"{kind}, {gaps}, {mode}, {scoring.matrix.shape[1]} letters"
