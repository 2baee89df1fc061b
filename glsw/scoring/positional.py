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

from glsw.scoring.gaps import PositionalGaps
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.records import ProfileRecord
from glsw.sequences.seg import Masked

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
    >>> made.matrix.shape, made.in_mode("global").wide_queries, made.letters is blosum
    ((3, 24), True, True)
    """

    wide_queries: ClassVar[bool] = True
    underlying: Scoring = field(kw_only=True)
    gaps: PositionalGaps | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.matrix) > MAX_POSITIONS:
            raise ValueError(
                f"profiles of {len(self.matrix)} positions in total, at most {MAX_POSITIONS} "
                "expected"
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
            raise ValueError("gap costs by position apply to insertions and deletions alike")

    @property
    def letters(self) -> Scoring:
        """The scoring of letters on which the scores are based, in the mode of this one."""
        same = self.end_gaps == self.underlying.end_gaps
        return self.underlying if same else replace(self.underlying, end_gaps=self.end_gaps)

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
                raise ValueError("gap costs by position apply to insertions and deletions alike")
            others["gap_open"], others["gap_extend"] = gaps.least
            gaps = None if gaps.constant else gaps
        return cls(**others | {"matrix": matrix, "underlying": underlying, "gaps": gaps})


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
