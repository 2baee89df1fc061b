"""Scores by position instead of letter: `PositionalScoring`, what engines get of profiles.

The "letters" of a query are then its positions, numbered from 0 over all profiles of a search, and
the matrix has a row for each. So every engine that looks scores up by the letters of a query
computes profiles by the same code.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring

MAX_POSITIONS = 2**15 - 1
"""Rows of a matrix, so that a position has 16 bits, also with a sign."""


@dataclass(frozen=True, eq=False)
class PositionalScoring(Scoring):
    """A scoring whose matrix has a row for each position of one or several profiles.

    Parameters
    ----------
    matrix : ndarray of int32, shape (P, A), read-only
        Score of each position with each letter of a target.
    underlying : Scoring
        The scoring of letters on which the scores are based: the statistics are its own, and
        letters that score above 0 in it are similar.
    others
        As of `Scoring`.

    Raises
    ------
    ValueError
        For more than `MAX_POSITIONS` positions; otherwise as `Scoring`.

    Examples
    --------
    >>> blosum = Scoring.blast()
    >>> rows = blosum.matrix[blosum.alphabet.encode("MKV")]
    >>> made = PositionalScoring.of(rows, blosum)
    >>> made.matrix.shape, made.in_mode("global").positional, letter_scoring(made) is blosum
    ((3, 24), True, True)
    """

    positional: ClassVar[bool] = True
    underlying: Scoring = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.matrix) > MAX_POSITIONS:
            raise ValueError(
                f"profiles of {len(self.matrix)} positions in all, {MAX_POSITIONS} are the most"
            )

    @classmethod
    def of(cls, matrix: npt.NDArray[np.int32], underlying: Scoring) -> PositionalScoring:
        """Return a scoring with these scores, shape (P, A), and all else of another scoring."""
        others = {each.name: getattr(underlying, each.name) for each in fields(Scoring)}
        return cls(**others | {"matrix": matrix, "underlying": underlying})


def letter_scoring(scoring: Scoring) -> Scoring:
    """Return the scoring of letters under a scoring of positions, in its mode; others as is.

    Of two tracks it is that of the first if the second scores nothing.
    """
    if isinstance(scoring, TwoTrackScoring):
        return scoring.of_letters
    if not isinstance(scoring, PositionalScoring):
        return scoring
    same = scoring.end_gaps == scoring.underlying.end_gaps
    return scoring.underlying if same else replace(scoring.underlying, end_gaps=scoring.end_gaps)


def shown_scoring(scoring: Scoring) -> Scoring:
    """Return the scoring whose letters results show: of two tracks that of the first."""
    return scoring.shown if isinstance(scoring, TwoTrackScoring) else scoring
