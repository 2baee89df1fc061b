"""Scores and gap costs by position: `PositionalScoring`, what engines get of profiles.

The "letters" of a query are then its positions, numbered from 0 over all profiles of a search, and
the matrix has a row for each. So every engine that looks scores up by the letters of a query
computes profiles by the same code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from glsw.scoring.gaps import GapCost, check_gap
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.records import ProfileRecord
from glsw.sequences.seg import Masked

MAX_POSITIONS = 2**15 - 1
"""Rows of a matrix, so that a position has 16 bits, also with a sign."""


@dataclass(frozen=True, eq=False)
class PositionalGaps:
    """Gap costs that depend on the position of a profile.

    A position i has one pair of costs, for gaps in the target and for gaps in the profile
    (Gribskov, McLachlan and Eisenberg 1987, "Profile analysis: detection of distantly related
    proteins", PNAS 84:4355). A gap in the target that leaves out positions i ... k costs
    ``opens[i] + extends[i + 1] + ... + extends[k]``. A gap in the profile, k letters of the target
    behind position i, costs ``opens[i] + (k - 1) * extends[i]``.

    Parameters
    ----------
    opens, extends : ndarray of int32, shape (P,), read-only
        Costs, positive numbers in integer units, of the first and of each further position of a
        gap.

    Raises
    ------
    TypeError, ValueError
        If costs are no integers, out of range, or opening costs less than extending.

    Examples
    --------
    >>> gaps = PositionalGaps(np.array([12, 5, 12]), np.array([1, 1, 2]))
    >>> gaps.least, gaps.most, gaps.turned().extends.tolist()
    (GapCost(open=5, extend=1), GapCost(open=12, extend=2), [2, 1, 1])
    """

    opens: npt.NDArray[np.int32]
    extends: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        for word, attribute in (("gap_open", "opens"), ("gap_extend", "extends")):
            given = np.asarray(getattr(self, attribute))
            if given.dtype.kind not in "iu":
                raise TypeError(f"{word} by position must be integers, got {given.dtype}")
            if given.ndim != 1:
                raise ValueError(f"{word} by position has shape {given.shape}, not (positions,)")
            costs = np.array(given, np.int64)
            for cost in (costs.min(initial=0), costs.max(initial=0)):
                check_gap(GapCost(int(cost), int(cost)), 1)
            costs = costs.astype(np.int32)
            costs.setflags(write=False)
            object.__setattr__(self, attribute, costs)
        if len(self.opens) != len(self.extends):
            raise ValueError(f"{len(self.opens)} costs to open and {len(self.extends)} to extend")
        if len(low := np.flatnonzero(self.opens < self.extends)):
            at = int(low[0])
            raise ValueError(
                f"gap_open {self.opens[at]} of position {at + 1} must not be less than its "
                f"gap_extend {self.extends[at]}"
            )

    @property
    def least(self) -> GapCost:
        """The smallest costs, each by itself: no gap costs less than with these."""
        return GapCost(*(int(min(each, default=0)) for each in (self.opens, self.extends)))

    @property
    def most(self) -> GapCost:
        """The largest costs, each by itself."""
        return GapCost(int(self.opens.max(initial=0)), int(self.extends.max(initial=0)))

    @property
    def constant(self) -> bool:
        """Whether all positions have the same costs."""
        return self.least == self.most

    def at(self, positions: npt.NDArray[np.integer] | slice) -> PositionalGaps:
        """Return the costs of some positions."""
        return PositionalGaps(self.opens[positions], self.extends[positions])

    def turned(self) -> PositionalGaps:
        """Return the costs of the positions from the last to the first."""
        return self.at(slice(None, None, -1))

    @staticmethod
    def joined(parts: Sequence[PositionalGaps]) -> PositionalGaps:
        """Return the costs of the positions of all parts; there is at least one."""
        costs = ([each.opens for each in parts], [each.extends for each in parts])
        return PositionalGaps(*map(np.concatenate, costs))


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
    gaps : PositionalGaps, optional
        Gap costs by position. ``gap_open`` and ``gap_extend`` are then the least of them, so that
        bounds that follow from these hold for all positions.
    others
        As of `Scoring`.

    Raises
    ------
    ValueError
        For more than `MAX_POSITIONS` positions; for gap costs by position from end to end, or with
        other costs of insertions; otherwise as `Scoring`.

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
    gaps: PositionalGaps | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.matrix) > MAX_POSITIONS:
            raise ValueError(
                f"profiles of {len(self.matrix)} positions in all, {MAX_POSITIONS} are the most"
            )

        if self.gaps is None:
            return
        if len(self.gaps.opens) != len(self.matrix):
            raise ValueError(
                f"gap costs of {len(self.gaps.opens)} positions, scores of {len(self.matrix)}"
            )
        if self.deletion != self.gaps.least:
            raise ValueError("gap_open and gap_extend are the least of the gap costs by position")
        if not self.local:
            raise ValueError("gap costs by position are for local alignments")
        if self.separate:
            raise ValueError("gap costs by position are those of insertions and of deletions")

    def gaps_at(self, positions: npt.NDArray[np.integer]) -> PositionalGaps | None:
        """Return the gap costs of some positions, None if they are those of the scoring under it.

        >>> scoring, row = Scoring.blast(), np.zeros((1, 24), np.int32)
        >>> made = PositionalScoring.of(row, scoring, PositionalGaps(np.array([9]), np.array([2])))
        >>> made.gaps, made.deletion, made.gaps_at(np.array([0]))
        (None, GapCost(open=9, extend=2), PositionalGaps(opens=array([9], dtype=int32), \
extends=array([2], dtype=int32)))
        """
        if self.gaps is not None:
            return self.gaps.at(positions)
        if self.deletion == self.underlying.deletion:
            return None
        return PositionalGaps(*(np.full(len(positions), cost) for cost in self.deletion))

    @property
    def linear(self) -> bool:
        """Whether every position of a gap costs the same."""
        if self.gaps is None:
            return super().linear
        return bool((self.gaps.opens == self.gaps.extends).all())

    @classmethod
    def of(
        cls,
        matrix: npt.NDArray[np.int32],
        underlying: Scoring,
        gaps: PositionalGaps | None = None,
    ) -> PositionalScoring:
        """Return a scoring with these scores, shape (P, A), and all else of another scoring.

        Gap costs that are the same at all positions are those of the scoring then.
        """
        others = {each.name: getattr(underlying, each.name) for each in fields(Scoring)}
        if gaps is not None:
            if underlying.separate:
                raise ValueError("gap costs by position are those of insertions and of deletions")
            others["gap_open"], others["gap_extend"] = gaps.least
            gaps = None if gaps.constant else gaps
        return cls(**others | {"matrix": matrix, "underlying": underlying, "gaps": gaps})


def gaps_by_position(scoring: Scoring) -> PositionalGaps | None:
    """Return the gap costs that depend on the position, None if there are none.

    >>> gaps_by_position(Scoring.blast()) is None
    True
    """
    return scoring.gaps if isinstance(scoring, PositionalScoring) else None


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


class PositionalQuery(ABC):
    """A query that brings its own scores by position, such as a `glsw.Profile`.

    Attributes
    ----------
    scoring : Scoring
        The scoring of letters on which the scores are based.
    """

    scoring: Scoring

    @property
    def alphabet(self) -> Alphabet:
        """The letters of targets."""
        return self.scoring.alphabet

    @classmethod
    @abstractmethod
    def by_position(
        cls,
        queries: Sequence[Any],
        lower_case_mask: bool = False,
        mask_low_complexity: bool = False,
        seg: Masked = "no",
    ) -> tuple[PositionalScoring, list[ProfileRecord]]:
        """Return the scoring of the positions of all queries, and their records.

        Parameters
        ----------
        queries : sequence of the class
            At least one.
        lower_case_mask, mask_low_complexity, seg
            Which letters of queries are masked, as for `glsw.Aligner`.

        Raises
        ------
        ValueError
            If queries have different matrices or gap costs; for more than `MAX_POSITIONS`
            positions.
        """


def positional_queries(queries: object) -> list[PositionalQuery] | None:
    """Return the queries if they bring their own scores, None if they are sequences.

    Raises
    ------
    TypeError
        If some of them do and others do not.
    """
    if isinstance(queries, PositionalQuery):
        return [queries]
    if not isinstance(queries, list | tuple):
        return None
    some = [each for each in queries if isinstance(each, PositionalQuery)]
    if some and len(some) < len(queries):
        raise TypeError("queries must be profiles or sequences, not both in one list")
    return some or None
