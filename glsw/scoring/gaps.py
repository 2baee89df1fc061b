"""Gap costs, inside an alignment and at the ends of sequences, and alignment modes.

An *insertion* is a run of query letters opposite a gap in the target, a *deletion* one of target
letters opposite a gap in the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from glsw.scoring.matrices import MAX_UNITS, checked_number, in_integer_units
from glsw.words import ParameterError, one_of

Mode = Literal["local", "global", "semiglobal"]
MODES: tuple[Mode, ...] = get_args(Mode)
_Numbers: TypeAlias = npt.NDArray[np.int64]
FreeEnds = Literal["both", "query", "target"]
"""The sequences whose ends may stay opposite gaps at no cost."""


class GapCost(NamedTuple):
    """The cost of a gap of k positions: ``open + (k - 1) * extend``, and 0 for k = 0."""

    open: int
    extend: int

    def of(self, positions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the costs of gaps of these lengths.

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
        """Return the costs with query and target swapped."""
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
        right = self.right_insertion
        simple = right == insertion or right.open == right.extend
        return simple and self.cheap_at_left(insertion, deletion)

    def cheap_at_left(self, insertion: GapCost, deletion: GapCost) -> bool:
        """Tell whether gaps at left ends cost at most as much as those inside.

        Then a gap that goes on at a left end costs no more than another one inside.
        """
        sides = (self.left_insertion, insertion), (self.left_deletion, deletion)
        return all(a <= b for side, inside in sides for a, b in zip(side, inside, strict=True))

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
    position i, costs ``opens[i] + (k - 1) * extends[i]``; before the first position, where only
    global and semi-global alignments have gaps, it costs what it would cost after that position.

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
    def sums(self) -> npt.NDArray[np.int32]:
        """The sum of ``extends`` up to and including each position, modulo 2**32."""
        return np.cumsum(self.extends, dtype=np.int64).astype(np.int32)

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


class PositionalEndGaps:
    """End gaps of queries with gap costs by position: free, or at the costs of their positions.

    With the methods of `EndGaps`. Letters of a target before the first position of a query cost as
    much as after it, and those opposite a query without positions what `of_empty` says.

    Parameters
    ----------
    ends : EndGaps
        Those that are not `FREE` cost as much as other gaps there.
    gaps : PositionalGaps
        The costs of all positions of the queries.
    first, lengths : int or ndarray of int64
        The number of the first position of each query in ``gaps``, and its positions.
    of_empty : GapCost

    Examples
    --------
    >>> costs = PositionalGaps(np.array([12, 5, 9]), np.array([1, 3, 2]))
    >>> ends = EndGaps.for_mode("global", costs.most, costs.most)
    >>> found = PositionalEndGaps(ends, costs, 0, 3, GapCost(12, 1))
    >>> found.left(range(4)).tolist(), found.above(range(4)).tolist()
    ([0, -12, -15, -17], [0, -12, -13, -14])
    >>> found.behind(range(4), 0).tolist(), found.behind(0, range(4)).tolist()
    ([0, -9, -7, -17], [0, -9, -11, -13])
    """

    def __init__(
        self,
        ends: EndGaps,
        gaps: PositionalGaps,
        first: int | npt.NDArray[np.integer],
        lengths: int | npt.NDArray[np.integer],
        of_empty: GapCost,
    ) -> None:
        self._ends, self._first, self._behind = ends, first, np.add(first, lengths)
        self._opens = np.append(gaps.opens, of_empty.open).astype(np.int64)
        self._extends = np.append(gaps.extends, of_empty.extend).astype(np.int64)
        self._sums = np.cumsum(self._extends)
        self._empty = np.equal(lengths, 0)

    def _skipped(self, first: _Numbers, behind: _Numbers) -> _Numbers:
        """Return the cost of a gap opposite the positions from one to before another."""
        some = first < behind
        first, last = np.where(some, first, 0), np.where(some, behind, 1) - 1
        cost: _Numbers = some * (self._opens[first] - self._sums[first] + self._sums[last])
        return cost

    def _added(self, position: _Numbers, letters: npt.ArrayLike) -> _Numbers:
        """Return the cost of so many letters of a target after a position."""
        at = np.where(self._empty, -1, position)
        k = np.asarray(letters, np.int64)
        return np.where(k > 0, self._opens[at] + (k - 1) * self._extends[at], 0)

    def left(self, rows: npt.ArrayLike) -> _Numbers:
        """Return H in column 0, after these numbers of query letters."""
        first = np.add(self._first, 0 * np.asarray(rows))
        return -self._skipped(first, first + rows) * (self._ends.left_insertion != FREE)

    def above(self, columns: npt.ArrayLike) -> _Numbers:
        """Return H in row 0, after these numbers of target letters."""
        first = np.asarray(self._first, np.int64)
        return -self._added(first, columns) * (self._ends.left_deletion != FREE)

    def behind(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> _Numbers:
        """Return the (negative) score of the rest: this many rows or columns, one of both 0."""
        end = np.add(self._behind, 0 * np.asarray(rows))
        cost = self._skipped(end - rows, end) * (self._ends.right_insertion != FREE)
        cost = cost + self._added(self._behind - 1, columns) * (self._ends.right_deletion != FREE)
        return -cost

    def alone(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> _Numbers:
        """Return the scores of these numbers of letters that are all opposite gaps."""
        query_first = self.left(rows) + self.behind(0, columns)
        target_first = self.above(columns) + self.behind(rows, 0)
        return np.where(query_first > target_first, query_first, target_first)


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
    TypeError, ValueError
        If there are ``others``, keyword arguments such as ``gapopen``; for a cost out of range.

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
    units, scale = in_integer_units(np.array(costs), "gap costs")
    if units.sum() > MAX_UNITS:
        text = f"{costs[0]:.15g} plus {costs[1]:.15g} for each position: the first position of a "
        raise ParameterError("existence", f"{text}gap costs more than {MAX_UNITS / scale:.15g}")
    return float(units.sum() / scale), costs[1]
