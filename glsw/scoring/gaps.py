"""Gap costs, inside an alignment and at the ends of the sequences, and the modes of alignment.

An *insertion* is a run of query letters opposite a gap in the target, a *deletion* one of target
letters opposite a gap in the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from glsw.scoring.matrices import MAX_UNITS, checked_number
from glsw.words import ParameterError, one_of

Mode = Literal["local", "global", "semiglobal"]
MODES: tuple[Mode, ...] = get_args(Mode)
FreeEnds = Literal["both", "query", "target"]
"""The sequences whose ends may stay opposite gaps at no cost."""


class GapCost(NamedTuple):
    """The cost of a gap of k positions: ``open + (k - 1) * extend``, and 0 for k = 0."""

    open: int
    extend: int

    def of(self, positions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the costs of gaps of these numbers of positions.

        >>> GapCost(12, 1).of([0, 1, 5]).tolist()
        [0, 12, 16]
        """
        k = np.asarray(positions, np.int64)
        return np.where(k > 0, self.open + (k - 1) * self.extend, 0)


FREE = GapCost(0, 0)


class EndGaps(NamedTuple):
    """The costs of gaps before the first and after the last letter of a sequence.

    Alignments with end gap costs contain all letters of both sequences: they are global, or
    semi-global if some of the costs are 0.

    Parameters
    ----------
    left_insertion, left_deletion : GapCost
        Costs, in integer units, of query letters before the first target letter, and of target
        letters before the first query letter.
    right_insertion, right_deletion : GapCost
        Costs of query letters after the last target letter, and of target letters after the last
        query letter.
    """

    left_insertion: GapCost = FREE
    left_deletion: GapCost = FREE
    right_insertion: GapCost = FREE
    right_deletion: GapCost = FREE

    @staticmethod
    def for_mode(
        mode: Mode, insertion: GapCost, deletion: GapCost, free: FreeEnds = "both"
    ) -> EndGaps | None:
        """Return the end gaps of a mode, None for local alignment.

        Parameters
        ----------
        mode : {"local", "global", "semiglobal"}
        insertion, deletion : GapCost
            The costs inside an alignment.
        free : {"both", "query", "target"}
            Whose ends are free in semi-global alignment.
        """
        one_of("mode", mode, MODES)
        one_of("free", free, get_args(FreeEnds))
        if mode == "local":
            return None
        if mode == "semiglobal":
            insertion = insertion if free == "target" else FREE
            deletion = deletion if free == "query" else FREE
        return EndGaps(insertion, deletion, insertion, deletion)

    def turned(self) -> EndGaps:
        """Return the costs when query and target change places."""
        return EndGaps(
            self.left_deletion, self.left_insertion, self.right_deletion, self.right_insertion
        )

    def left(self, rows: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return H in column 0, after these numbers of query letters."""
        return -self.left_insertion.of(rows)

    def above(self, columns: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return H in row 0, after these numbers of target letters."""
        return -self.left_deletion.of(columns)

    def behind(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the (negative) score of the rest: this many rows or columns, one of both 0."""
        return -(self.right_insertion.of(rows) + self.right_deletion.of(columns))

    def alone(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the scores of these numbers of letters that are all opposite gaps."""
        query_first = self.left(rows) + self.behind(0, columns)
        target_first = self.above(columns) + self.behind(rows, 0)
        return np.where(query_first > target_first, query_first, target_first)

    def at_most(self, insertion: GapCost, deletion: GapCost) -> bool:
        """Tell whether end gaps are simple beside those inside.

        At left ends they cost at most as much; query letters after the last target letter cost
        as much, or the same at each position.
        """
        sides = (self.left_insertion, insertion), (self.left_deletion, deletion)
        cheap = all(a <= b for side, inside in sides for a, b in zip(side, inside, strict=True))
        right = self.right_insertion
        return cheap and (right == insertion or right.open == right.extend)

    def score_offset_terms(self, insertion: GapCost, deletion: GapCost) -> tuple[int, int, int]:
        """Return the terms of `Scoring.score_offset`: a constant, one per row, one per column."""
        rows, columns = (self.left_insertion, insertion), (self.left_deletion, deletion)
        constant = 1 + sum(cost.open for cost in (*rows, *columns, insertion, deletion))
        return constant, sum(cost.extend for cost in rows), sum(cost.extend for cost in columns)

    def check(self, insertion: GapCost, deletion: GapCost, scale: int) -> None:
        """Raise ValueError if a cost is out of range, or more at a right end than inside."""
        for name, cost in zip(self._fields, self, strict=True):
            for number in cost:
                if not 0 <= number <= MAX_UNITS:
                    raise ValueError(
                        f"{name} must cost between 0 and {MAX_UNITS / scale:.15g}, "
                        f"got {number / scale:.15g}"
                    )
        for name, right, inside in (
            ("right_insertion", self.right_insertion, insertion),
            ("right_deletion", self.right_deletion, deletion),
        ):
            if right.open > inside.open or right.extend > inside.extend:
                raise ValueError(
                    f"{name} costs {right.open / scale:g} and {right.extend / scale:g}: "
                    f"not more than inside expected ({inside.open / scale:g}, "
                    f"{inside.extend / scale:g})"
                )


@dataclass(frozen=True, eq=False)
class PositionalGaps:
    """Gap costs that depend on the position of a profile.

    Each position i has a pair of costs, for gaps in the target and gaps in the profile (Gribskov,
    McLachlan and Eisenberg 1987, "Profile analysis: detection of distantly related proteins", PNAS
    84:4355). A gap in the target that skips positions i ... k costs
    ``opens[i] + extends[i + 1] + ... + extends[k]``. A gap in the profile, k target letters after
    position i, costs ``opens[i] + (k - 1) * extends[i]``.

    Parameters
    ----------
    opens, extends : ndarray of int32, shape (P,), read-only
        Costs of the first and of each further position of a gap: positive, in integer units.

    Raises
    ------
    TypeError, ValueError
        If costs are not integers or out of range, or opening costs less than extending.

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


def checked_cost(name: str, value: object) -> float:
    """Return a gap cost from 0 to `MAX_UNITS` as float."""
    cost = checked_number(name, value)
    if not 0 <= cost <= MAX_UNITS:
        hint = "; costs are positive numbers" if cost < 0 else ""
        text = f"must be between 0 and {MAX_UNITS}, got {value}{hint}"
        raise ParameterError(name, text)
    return cost


def check_gap(cost: GapCost, scale: int, kind: str = "gap") -> None:
    """Raise ValueError if a cost in integer units is out of range, or opening costs too little."""
    opening, extension = (number / scale for number in cost)
    for name, number in ((f"{kind}_open", opening), (f"{kind}_extend", extension)):
        if not 0 <= number <= MAX_UNITS / scale:
            raise ValueError(
                f"{name} must be between 0 and {MAX_UNITS / scale:.15g}, got {number:.15g}"
            )
    if opening < extension:
        raise ValueError(
            f"{kind}_open {opening:g} must not be less than {kind}_extend {extension:g}"
        )


def from_blast(
    existence: float, extension: float, others: Iterable[str] = ()
) -> tuple[float, float]:
    """Return ``gap_open`` and ``gap_extend`` from BLAST's costs.

    Raises
    ------
    TypeError
        If there are ``others``, keyword arguments such as ``gapopen``.

    Examples
    --------
    >>> from_blast(11, 1)
    (12.0, 1.0)
    """
    if names := ", ".join(others):
        raise TypeError(
            f"{names}: BLAST's costs are existence and extension, a gap of k positions costs "
            "existence + k * extension; gap_open and gap_extend are the costs of its first and of "
            "each further position, so that 11 and 1 of BLAST are gap_open=12, gap_extend=1"
        )
    costs = checked_cost("existence", existence), checked_cost("extension", extension)
    return round(sum(costs), 8), costs[1]
