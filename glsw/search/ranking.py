"""Ranks hits as they are found, in whatever order and parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.statistics import ScoreHistogram
from glsw.statistics.least_scores import Floors

RankedHits = npt.NDArray[np.int64]
"""Hits, best first, shape (hits,): each is one number made of its score and its target, see
`Ranking`, `scores_of` and `target_numbers`."""

NO_HITS: RankedHits = np.empty(0, np.int64)

_BLOCK_SIZE = 64  # scores per block, of which only the largest counts where there are many
_LARGEST_SCORE = 2**31 - 1
_SCORE_SHIFT = 32


@dataclass(frozen=True, eq=False)
class Found:
    """The hits of one context of a query as columns, the best first.

    Parameters
    ----------
    key : RankedHits
    columns : ndarray of int64, shape (hits, 2), optional
        The columns of the target, from 0 and half-open, that contain the best alignment with the
        conventional end; (0, 0) of a target that was not cut. None if none was.
    windows : ndarray of (WindowScores or None), shape (hits,), optional
        The scores of all windows of a target that was cut, if the ranking wants them.
    """

    key: RankedHits
    columns: npt.NDArray[np.int64] | None = None
    windows: npt.NDArray[np.object_] | None = None

    def __len__(self) -> int:
        return len(self.key)

    def select(self, rows: slice | npt.NDArray[Any]) -> Found:
        """Return these hits, in this order."""
        others: list[Any] = [self.columns, self.windows]
        return Found(self.key[rows], *(None if each is None else each[rows] for each in others))

    @staticmethod
    def concatenated(parts: Sequence[Found]) -> Found:
        """Return the hits of all parts, in this order."""

        def joined(of_parts: Sequence[Any], nothing: Any) -> Any:
            if all(each is None for each in of_parts):
                return None
            of_each = zip(of_parts, map(len, parts), strict=True)
            return np.concatenate([nothing[[0] * n] if a is None else a for a, n in of_each])

        return Found(
            np.concatenate([NO_HITS, *(each.key for each in parts)]),
            joined([each.columns for each in parts], np.zeros((1, 2), np.int64)),
            joined([each.windows for each in parts], np.array([None])),
        )


NOTHING = Found(NO_HITS)


class Ranking(NamedTuple):
    """Which hits are kept: those of at least a score, and of these the best.

    A hit is one number: the larger the score the smaller the number, and among equal scores the
    order is that of the database. So sorted numbers are ranked hits, and the best hits are the same
    in whatever order and parts they are found.

    Parameters
    ----------
    top : int or None
        Maximum number of hits, None for all.
    min_score : int or float
        The least score, 1 or more, in integer units.
    bin_width : int, optional
        If statistics need the scores of all sequences: integer units per bin of their
        `ScoreHistogram`.
    floors : Floors, optional
        The least scores of queries by their lengths, if they are higher.
    keeps_few : bool
        Whether few scores of unrelated sequences are expected to be that high.
    keeps_windows : bool
        Whether a scan should return the scores of the windows of hits, for further alignments.

    Examples
    --------
    >>> ranking = Ranking(top=2, min_score=1)
    >>> hits = ranking.best(np.array([7, 0, 9, 9], np.int32), np.array([3, 2, 1, 0]))
    >>> target_numbers(hits).tolist(), scores_of(hits).tolist()
    ([0, 1], [9, 9])
    """

    top: int | None
    min_score: float
    bin_width: int | None = None
    floors: Floors | None = None
    keeps_few: bool = False
    keeps_windows: bool = False

    def best(self, scores: npt.NDArray[np.int32], targets: npt.NDArray[np.integer]) -> RankedHits:
        """Return the hits to keep, given the scores of targets and their original numbers."""
        chosen = np.flatnonzero(scores >= self._bound(scores))
        return np.sort(hits_of(scores[chosen], targets[chosen]))[: self.top]

    def best_of_each(
        self,
        scores: npt.NDArray[np.int32],
        targets: npt.NDArray[np.integer],
        lengths: npt.NDArray[np.int64],
    ) -> list[RankedHits]:
        """Return the hits of each query to keep, given scores, shape (queries, targets).

        ``lengths``, shape (queries,), are those of the queries.
        """
        least = np.full(len(scores), self.min_score)
        if self.floors:
            least = np.maximum(least, self.floors.of(lengths))
        if len(targets) > _BLOCK_SIZE:
            rankings = (self._replace(min_score=score) for score in least.tolist())
            return [each.best(row, targets) for each, row in zip(rankings, scores, strict=True)]
        # in global alignments scores are below 0 too, for which there is no number of a hit
        hits = np.sort(hits_of(np.maximum(scores, 0), targets), axis=1)
        counts = (scores >= least[:, np.newaxis]).sum(axis=1).tolist()
        return [row[:count][: self.top] for row, count in zip(hits, counts, strict=True)]

    def merged(self, *parts: Found) -> Found:
        """Return the hits to keep of several parts of the database."""
        found = Found.concatenated(parts)
        if found.columns is None:
            return Found(np.sort(found.key)[: self.top])
        return found.select(np.argsort(found.key)[: self.top])

    def histogram(self) -> ScoreHistogram | None:
        """Return an empty histogram if one is needed."""
        return None if self.bin_width is None else ScoreHistogram(self.bin_width)

    def _bound(self, scores: npt.NDArray[np.int32]) -> float:
        """Return a score that all hits to keep reach, and not many others."""
        if self.top is None or len(scores) <= self.top:
            return self.min_score
        blocks = len(scores) // _BLOCK_SIZE
        if blocks >= self.top:
            scores = scores[: blocks * _BLOCK_SIZE].reshape(blocks, _BLOCK_SIZE).max(axis=1)
        return max(self.min_score, int(np.partition(scores, -self.top)[-self.top]))


def hits_of(scores: npt.NDArray[np.integer], targets: npt.NDArray[np.integer]) -> RankedHits:
    """Return hits, not sorted, of scores in integer units and original numbers of targets."""
    return (_LARGEST_SCORE - scores.astype(np.int64)) << _SCORE_SHIFT | targets


def target_numbers(hits: RankedHits) -> npt.NDArray[np.int64]:
    """Return the original numbers in the database of the targets of hits."""
    return hits & ((1 << _SCORE_SHIFT) - 1)


def scores_of(hits: RankedHits) -> npt.NDArray[np.int64]:
    """Return the scores of hits, in integer units."""
    return _LARGEST_SCORE - (hits >> _SCORE_SHIFT)
