"""Position-specific scores and gap costs: `PositionalScoring`, how engines see profiles.

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

from glsw.scoring.gaps import FREE, EndGaps, GapCost, PositionalEndGaps, PositionalGaps
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.encoded import Sequences as EncodedSequences
from glsw.sequences.records import ProfileRecord
from glsw.sequences.seg import Masked

MAX_POSITIONS = 2**15 - 1
"""Rows of a matrix, so that a position has 16 bits, also with a sign."""


@dataclass(frozen=True, eq=False)
class PositionalScoring(Scoring):
    """A scoring whose matrix has one row per position of one or more profiles.

    Parameters
    ----------
    matrix : ndarray of int32, shape (P, A), read-only
        Score of each position with each letter of a target.
    underlying : Scoring
        The scoring of letters on which the scores are based: the statistics are its own, and
        letters that score above 0 in it are similar.
    gaps : PositionalGaps, optional
        Gap costs by position. ``gap_open`` and ``gap_extend`` are then the least of them, so that
        bounds that follow from these hold for all positions. Of ``end_gaps`` each is then free, or
        `largest_costs` and stands for the costs of positions, see `PositionalEndGaps`; `in_mode`
        sets them. From end to end the positions of a query follow each other.
    others
        As of `Scoring`.

    Raises
    ------
    ValueError
        For more than `MAX_POSITIONS` positions; for gap costs by position with other costs of
        insertions or of end gaps; otherwise as `Scoring`.

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
        if self.separate:
            raise ValueError("gap costs by position apply to insertions and deletions alike")
        if not {*(self.end_gaps or ())} <= {FREE, *self.largest_costs}:
            raise ValueError(
                "with gap costs by position, end gaps are free or cost as much as other gaps"
            )

    @property
    def letters(self) -> Scoring:
        """The scoring of letters on which the scores are based, in the mode of this one."""
        ends = self.end_gaps
        if ends and self.gaps:
            ends = _with_costs(ends, self.largest_costs, (self.underlying.deletion,) * 2)
        same = ends == self.underlying.end_gaps
        return self.underlying if same else replace(self.underlying, end_gaps=ends)

    @property
    def largest_costs(self) -> tuple[GapCost, GapCost]:
        """What the costs of no position exceed, and those of a query without positions."""
        if self.gaps is None:
            return super().largest_costs
        opening, extension = zip(self.gaps.most, self.underlying.deletion, strict=True)
        return (GapCost(max(opening), max(extension)),) * 2

    def ends_of(
        self,
        queries: npt.NDArray[np.integer],
        first: int | npt.NDArray[np.integer] = 0,
        lengths: int | npt.NDArray[np.integer] | None = None,
    ) -> EndGaps | PositionalEndGaps | None:
        """Return the end gaps of queries, see `Scoring.ends_of`."""
        if self.end_gaps is None or self.gaps is None:
            return self.end_gaps
        costs = self.gaps.at(queries)
        counts = len(queries) if lengths is None else lengths
        return PositionalEndGaps(self.end_gaps, costs, first, counts, self.underlying.deletion)

    def with_ends_of(self, scoring: Scoring) -> PositionalScoring:
        """Return this scoring in the mode of another one, with its end gaps.

        Where these cost as much as the other's gaps inside, they cost as much as its own.

        Raises
        ------
        ValueError
            For gap costs by position and end gaps that are neither free nor cost what others do.

        Examples
        --------
        >>> blosum, row = Scoring.blast(), np.zeros((2, 24), np.int32)
        >>> gaps = PositionalGaps(np.array([9, 5]), np.array([2, 2]))
        >>> made = PositionalScoring.of(row, blosum, gaps)
        >>> ends = made.with_ends_of(blosum.in_mode("semiglobal", free="target")).end_gaps
        >>> ends.left_insertion == made.largest_costs[0], ends.left_deletion == FREE
        (True, True)
        """
        ends = scoring.end_gaps
        if ends:
            ends = _with_costs(ends, scoring.largest_costs, self.largest_costs)
        return replace(self, end_gaps=ends)

    def check_positions(self, queries: EncodedSequences) -> None:
        """Raise ValueError if positions of a query do not follow each other, but should."""
        if self.gaps is None or self.local:
            return
        step = np.diff(queries.residues.astype(np.int32), prepend=0)
        step[queries.offsets[:-1][queries.lengths > 0]] = 1
        if (step != 1).any():
            raise ValueError(
                "a query with gap costs by position, from end to end, has positions that follow "
                "each other"
            )

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
        """Whether every position of a gap costs the same; gap costs by position do not."""
        return self.gaps is None and super().linear

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
        ends = underlying.end_gaps if gaps is not None else None
        if gaps is not None:
            if underlying.separate:
                raise ValueError("gap costs by position apply to insertions and deletions alike")
            others["gap_open"], others["gap_extend"] = gaps.least
            others["insertion_open"] = others["insertion_extend"] = others["end_gaps"] = None
            gaps = None if gaps.constant else gaps
        made = cls(**others | {"matrix": matrix, "underlying": underlying, "gaps": gaps})
        return made.with_ends_of(underlying) if ends else made


def _with_costs(
    ends: EndGaps, inside: tuple[GapCost, GapCost], instead: tuple[GapCost, GapCost]
) -> EndGaps:
    """Return end gaps of which those that cost as much as gaps inside, and something, cost this."""
    sides = zip(ends, 2 * inside, 2 * instead, strict=True)
    return EndGaps(*(new if side == old != FREE else side for side, old, new in sides))


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
        """The alphabet of targets."""
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
