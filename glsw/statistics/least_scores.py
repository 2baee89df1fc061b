"""The least scores that have an E-value, of many lengths together."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import distinct
from glsw.statistics.base import Statistics

_MAX_EVALUES_TOGETHER = 2**20
_FEW = 16  # lengths of targets, of which one is looked at first
_LENGTHS_ALIKE = 1.25  # of queries that share a least score


class Floors(NamedTuple):
    """Minimum scores for some query lengths; other lengths take that of the next shorter one.

    Parameters
    ----------
    lengths, scores : ndarray of int64
        Both ascend; no query is shorter than the first length.
    """

    lengths: npt.NDArray[np.int64]
    scores: npt.NDArray[np.int64]

    def of(self, lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the least scores of queries of some lengths, 1 of empty ones.

        >>> Floors(np.array([10, 20]), np.array([40, 45])).of(np.array([0, 10, 19, 99])).tolist()
        [1, 40, 40, 45]
        """
        return np.append(1, self.scores)[np.searchsorted(self.lengths, lengths, "right")]


def least_score(
    statistics: Statistics,
    evalue: float,
    queries: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    scoring: Scoring,
    known: int = 1,
) -> int:
    """Return the least score that has this E-value for any of the lengths.

    It is the minimum of `Statistics.cutoff`, found for all lengths together; it is ``known`` to be
    at least so high.

    Examples
    --------
    >>> from glsw.statistics import for_search
    >>> scoring = Scoring.blast()
    >>> statistics = for_search(scoring, 218, 4403, 1354446)
    >>> lengths = np.array([100, 201, 350])
    >>> least_score(statistics, 0.027, np.array([218]), lengths, scoring)
    68
    >>> statistics.cutoff(0.027, 218, lengths).tolist()
    [68, 70, 71]
    """
    some, others = (distinct(each[each > 0]) for each in (queries, targets))
    if not len(some) or not len(others):
        return 1
    step = max(1, _MAX_EVALUES_TOGETHER // len(others))
    rows = [some[k : k + step, np.newaxis] for k in range(0, len(some), step)]
    limit = evalue * (1 + 1e-9)  # rounding must not exclude any

    def enough(score: int, targets: npt.NDArray[np.int64] = others) -> bool:
        scores = np.array([score])
        return any(bool((statistics.evalue(scores, row, targets) <= limit).any()) for row in rows)

    few = partial(enough, targets=others[::-_FEW])  # seldom have others a lower score
    low, found, step = known, scoring.bound(int(some[-1]), int(others[-1])), 1
    while known > 1 and low + step < found and not few(low + step):
        low, step = low + step + 1, 2 * step
    if known > 1:
        found = min(found, low + step)
    found = low + bisect_left(range(low, found + 1), True, key=few)
    if found > known and enough(found - 1):
        found = known + bisect_left(range(known, found), True, key=enough)
    return found


def least_scores(
    statistics: Statistics,
    evalue: float,
    queries: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    scoring: Scoring,
) -> Floors:
    """Return `least_score` of queries by their lengths, not above it where there are many of these.

    Examples
    --------
    >>> from glsw.statistics import for_search
    >>> scoring = Scoring.blast()
    >>> statistics = for_search(scoring, 218, 4403, 1354446)
    >>> targets = np.array([100, 201, 350])
    >>> least_scores(statistics, 0.027, np.array([218, 50, 400, 50]), targets, scoring)
    Floors(lengths=array([ 50, 218, 400]), scores=array([59, 68, 70]))
    """
    lengths = distinct(queries[queries > 0])
    if statistics.grows_with_query:
        steps = np.floor(np.log(np.maximum(1, lengths)) / math.log(_LENGTHS_ALIKE))
        lengths = lengths[np.unique(steps, return_index=True)[1]]
    scores: list[int] = []
    targets = distinct(targets)
    for length in lengths.tolist():
        known = scores[-1] if scores and statistics.grows_with_query else 1
        some = np.array([length])
        scores.append(least_score(statistics, evalue, some, targets, scoring, known))
    return Floors(lengths, np.array(scores, np.int64))
