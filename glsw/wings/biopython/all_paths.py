"""All equally good alignments of a pair, from tables on the host: their number, and each of them.

A path has three states: it ends in a pair of letters (M), in a gap along the row (E) or in one
along the column (F). For each state of each cell the table keeps from which states of the cell
before it the best paths come (Gotoh 1982; Altschul and Erickson 1986 on why three are needed).

Biopython counts and lists them too, but README.md promises that glsw never uses its implementation.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.paths import DIAGONAL, LEFT, UP, coordinates
from glsw.scoring.gaps import GapCost
from glsw.wings.biopython.scoring import PairScoring

MAX_CELLS = 2**27
"""The largest table that is kept, two bytes per cell."""

_MOST_AT_ONCE = 2**24  # cells of three tables of numbers

_M, _E, _F = range(3)
_MOVES = DIAGONAL, LEFT, UP
_STATES_OF_BITS = [[s for s in (_M, _E, _F) if bits >> s & 1] for bits in range(8)]
_NEVER = -(2**60)
_MANY = np.uint64(2**63)  # counts end here
_FEW = 2**13
"""Cells and states on paths that are looked at one by one."""

_Codes = npt.NDArray[np.uint8]
_Int64 = npt.NDArray[np.int64]
_Counts = npt.NDArray[np.uint64]
_Table = npt.NDArray[np.signedinteger]


class _Best(NamedTuple):
    """The best of three values per cell, the number of paths that have it, and their states."""

    values: _Int64
    counts: _Counts
    bits: npt.NDArray[np.uint16]

    @classmethod
    def of(cls, values: _Int64, counts: _Counts) -> _Best:
        """Return the best of values of the states M, E and F, shape (3, cells)."""
        best = values.max(axis=0)
        chosen = (values == best) & (counts > 0)
        bits = chosen[_M] + 2 * chosen[_E].astype(np.uint16) + 4 * chosen[_F].astype(np.uint16)
        few = np.where(chosen, counts, np.uint64(0))
        return cls(best, _sum(_sum(few[_M], few[_E]), few[_F]), bits)

    def replace(self, where: npt.NDArray[np.bool_], value: int, count: int) -> None:
        """Forget the paths of some cells, which have this value and count instead."""
        self.values[where], self.counts[where], self.bits[where] = value, count, 0


class _Costs:
    """The costs to open and to extend a gap, by its row or column in the whole table."""

    def __init__(self, inside: GapCost, left: GapCost, right: GapCost, length: int) -> None:
        self.opens, self.extends = np.full((2, length + 1), [[inside.open], [inside.extend]])
        self.opens[0], self.extends[0] = left
        self.opens[-1], self.extends[-1] = right

    def of(self, at: slice, state: int) -> _Int64:
        """Return what a gap of this state costs after each state, shape (3, cells)."""
        costs = np.stack([self.opens[at]] * 3)
        costs[state] = self.extends[at]
        return costs


class Paths(ABC):
    """The best paths of a pair.

    Attributes
    ----------
    count : int
        How many there are; 2**63 or more if that does not fit.
    """

    count: int
    _ends: list[tuple[int, int]]  # cells, by number, and states

    def __init__(self, query: _Codes, target: _Codes) -> None:
        self._shape = len(query), len(target)

    @abstractmethod
    def _before(self, at: int, state: int) -> Sequence[int]:
        """Return the states of the cell before from which paths come; none where they begin."""

    def paths(self, linear: bool) -> Iterator[_Int64]:
        """Yield the coordinates of each path, as in `glsw.Alignment`, in Biopython's order.

        Parameters
        ----------
        linear : bool
            Whether the order is that of its algorithms for linear gaps: from the end on, first an
            insertion, then a deletion, then a pair of letters; else the reverse.
        """
        n = self._shape[1]
        sign = 1 if linear else -1  # the last of a list comes first
        steps = n + 2, 1, n + 1
        ends = sorted(self._ends, key=lambda end: (end[0] % (n + 1), end[0], -sign * end[1]))
        for end, last in ends:
            moves: list[int] = []
            todo = [(0, end, last)]
            while todo:
                depth, at, state = todo.pop()
                del moves[depth:]
                while states := self._before(at, state)[::sign]:
                    moves.append(_MOVES[state])
                    at -= steps[state]
                    state = states[-1]
                    if len(states) > 1:
                        todo.extend((len(moves), at, other) for other in states[:-1])
                columns = np.array(moves[::-1], np.uint8)
                corner = np.array([end % (n + 1), end // (n + 1)])
                yield coordinates(columns, np.ones(len(moves), np.uint8), corner)


class FewPaths(Paths):
    """The best paths of a pair, from the table of H, where they go through few cells.

    H says what E and F are, as for `glsw.wings.biopython.first_path`, and so do they where paths
    come from. Only cells on paths are looked at, going back from the ends.

    Parameters
    ----------
    query, target : ndarray of uint8, shapes (m,) and (n,)
    scoring : PairScoring
    table : ndarray of int, shape (m + 1, n + 1)
        H.
    """

    def __init__(
        self,
        query: _Codes,
        target: _Codes,
        scoring: PairScoring,
        table: _Table,
    ) -> None:
        super().__init__(query, target)
        inside, ends = (scoring.deletion, scoring.insertion), scoring.end_gaps
        self._local = ends is None
        left = (ends.left_deletion, ends.left_insertion) if ends else inside
        right = (ends.right_deletion, ends.right_insertion) if ends else inside
        self._costs = tuple(zip(left, inside, right, strict=True))  # of E by row, of F by column
        self._query, self._target, self._matrix = query, target, scoring.matrix.tolist()
        e = _gaps(table, *self._costs[0][1:], self._local)
        f = _gaps(table.T, *self._costs[1][1:], self._local).T
        self._tables = [np.ascontiguousarray(each).reshape(-1).data for each in (table, e, f)]
        self._nodes: dict[tuple[int, int], list[int]] = {}
        self._best = int(table.max() if self._local else table[-1, -1])
        if self._local:
            cells = np.flatnonzero(table == self._best).tolist()
            found = [(at, _M) for at in cells[: _FEW + 1] if self._pair(at) == self._best]
        else:
            last = table.size - 1
            found = [(last, state) for state in self._states(last, *[self._best] * 3)]
        self.few = len(found) <= _FEW and self._look(found)
        counts = self._counts() if self.few else {}
        self._ends = [end for end in found if counts.get(end)]
        self.count = sum(counts[end] for end in self._ends)

    def _look(self, ends: list[tuple[int, int]]) -> bool:
        """Find all cells and states on paths; tell whether they are few."""
        todo, steps = list(ends), (self._shape[1] + 2, 1, self._shape[1] + 1)
        while todo and len(self._nodes) <= _FEW:
            node = todo.pop()
            if node not in self._nodes:
                at, state = node
                self._nodes[node] = states = self._from(at, state)
                todo += ((at - steps[state], each) for each in states)
        return not todo

    def _counts(self) -> dict[tuple[int, int], int]:
        """Return the number of paths to each cell and state, which lose those without any."""
        counts: dict[tuple[int, int], int] = {}
        steps = self._shape[1] + 2, 1, self._shape[1] + 1
        for at, state in sorted(self._nodes):
            before = at - steps[state]
            states = [s for s in self._nodes[at, state] if counts[before, s]]
            begins = state == _M and not self._nodes[at, state] and self._begins(at)
            counts[at, state] = int(begins) + sum(counts[before, s] for s in states)
            self._nodes[at, state] = states
        return counts

    def _begins(self, at: int) -> bool:
        """Tell whether paths begin in a cell."""
        return self._pair(at) == 0 if self._local else not at

    def _before(self, at: int, state: int) -> Sequence[int]:
        return self._nodes[at, state]

    def _from(self, at: int, state: int) -> list[int]:
        """Return the states of the cell before from which a state comes, dead ends as well."""
        h = self._tables[0]
        if state == _M:
            if not at or (self._local and not self._pair(at)):
                return []
            at -= self._shape[1] + 2
            if self._local and not h[at]:
                return [_M]
            return self._states(at, h[at], h[at], h[at])
        line = divmod(at, self._shape[1] + 1)[state == _F]
        place = 0 if not line else 2 if line == self._shape[state == _F] else 1
        opening, extension = self._costs[state - 1][place]
        value = self._tables[state][at]
        if state == _E:
            return self._states(at - 1, value + opening, value + extension, value + opening)
        above = at - self._shape[1] - 1
        return self._states(above, value + opening, value + opening, value + extension)

    def _states(self, at: int, m: int, e: int, f: int) -> list[int]:
        """Return the states of a cell that have these values; no path goes on from a local best."""
        is_best = self._local and m == self._best
        same = (
            not is_best and self._pair(at) == m,
            self._tables[_E][at] == e,
            self._tables[_F][at] == f,
        )
        return [state for state in (_M, _E, _F) if same[state]]

    def _pair(self, at: int) -> int:
        """Return M of a cell."""
        i, j = divmod(at, self._shape[1] + 1)
        if not i or not j:
            return 0 if self._local or not at else _NEVER
        score: int = self._tables[0][at - self._shape[1] - 2]
        score += self._matrix[self._query[i - 1]][self._target[j - 1]]
        return max(0, score) if self._local else score


def _gaps(table: _Table, inside: GapCost, last: GapCost, local: bool) -> _Table:
    """Return E of all cells, given H and the costs of rows but the last and of the last."""
    never = np.iinfo(table.dtype).min // 2
    found = np.full(table.shape, never, table.dtype)
    columns = np.arange(table.shape[1], dtype=table.dtype)
    for rows, cost in ((slice(0, -1), inside), (slice(-1, None), last)):
        ramp = cost.extend * columns
        opened = np.maximum.accumulate(table[rows, :-1] + ramp[:-1], axis=1)
        found[rows, 1:] = opened - ramp[1:] + (cost.extend - cost.open)
    found[0, 1:] = never if local else table[0, 1:]
    return found


class PathTable(Paths):
    """The best paths of a pair, from tables of what each cell comes from.

    Parameters
    ----------
    query, target : ndarray of uint8, shapes (m,) and (n,)
        Codes of the rows and of the columns.
    scoring : PairScoring
    best : int, optional
        The score of the best local alignments, if it is known: their paths end where they first
        have it. Without it, or with ``keep`` False, only `score` counts.
    keep : bool
        Whether to keep the states of all cells.

    Attributes
    ----------
    score : int
        In integer units.
    """

    def __init__(
        self,
        query: _Codes,
        target: _Codes,
        scoring: PairScoring,
        best: int | None = None,
        keep: bool = True,
    ) -> None:
        super().__init__(query, target)
        m, n = self._shape
        self._local = scoring.end_gaps is None
        self._best = best
        self._bits = np.zeros((m + 1) * (n + 1) if keep else 0, np.uint16)
        self._bits_of = self._bits.data
        self._ends = []
        self.score, self.count = 0, 0
        ends = scoring.end_gaps
        insertion, deletion = scoring.insertion, scoring.deletion
        left, right = (insertion, deletion), (insertion, deletion)
        if ends is not None:
            left = ends.left_insertion, ends.left_deletion
            right = ends.right_insertion, ends.right_deletion
        self._in_row = _Costs(deletion, left[1], right[1], m)
        self._in_column = _Costs(insertion, left[0], right[0], n)
        self._fill(query, target, scoring.matrix)

    def _fill(self, query: _Codes, target: _Codes, matrix: npt.NDArray[np.int32]) -> None:
        """Compute the table by anti-diagonals d = i + j, of which three are in memory by row i."""
        m, n = self._shape
        values = np.full((3, 3, m + 1), _NEVER, np.int64)  # by d modulo 3, state, row
        counts = np.zeros((3, 3, m + 1), np.uint64)
        turned = target[::-1]
        for d in range(m + n + 1):
            first, last = max(0, d - n), min(d, m)
            v, c = values[d % 3], counts[d % 3]
            v[:], c[:] = _NEVER, 0
            border = [i for i in {first, last} if i in (0, d)] if self._local or not d else []
            v[_M, border], c[_M, border] = 0, 1
            before, two_before = (d - 1) % 3, (d - 2) % 3
            bits = np.zeros(last - first + 1, np.uint16)
            if (low := max(first, 1)) <= (high := min(last, d - 1)):  # cells of a pair of letters
                found = _Best.of(
                    values[two_before, :, low - 1 : high], counts[two_before, :, low - 1 : high]
                )
                pairs = matrix[query[low - 1 : high], turned[n - d + low : n - d + high + 1]]
                found.values[:] += pairs
                self._put(_M, found, v, c, bits, low, first)
            if first <= (high := min(last, d - 1)):  # from the left
                rows = slice(first, high + 1)
                after = values[before, :, rows] - self._in_row.of(rows, _E)
                found = _Best.of(after, counts[before, :, rows])
                self._put(_E, found, v, c, bits, first, first)
            if (low := max(first, 1)) <= last:  # from above
                rows = slice(low - 1, last)
                costs = self._in_column.of(slice(d - last, d - low + 1), _F)[:, ::-1]
                found = _Best.of(values[before, :, rows] - costs, counts[before, :, rows])
                self._put(_F, found, v, c, bits, low, first)
            if self._local:
                self._end_local(d, first, v[_M, first : last + 1], c[_M, first : last + 1])
            if self._bits.size:
                at = first * (n + 1) + d - first
                self._bits[at : at + n * len(bits) : n][: len(bits)] = bits
        if not self._local:
            self._end_global(v[:, m], c[:, m])

    def _put(
        self,
        state: int,
        found: _Best,
        values: _Int64,
        counts: _Counts,
        bits: npt.NDArray[np.uint16],
        low: int,
        first: int,
    ) -> None:
        """Write a state of the cells of an anti-diagonal from row ``low`` on."""
        if self._local:  # a path begins where it scores 0, and no gap does
            nothing = found.values <= 0
            found.replace(nothing, *((0, 1) if state == _M else (_NEVER, 0)))
        high = low + len(found.values)
        values[state, low:high], counts[state, low:high] = found.values, found.counts
        bits[low - first : high - first] |= found.bits << (3 * state)

    def _end_local(self, d: int, first: int, values: _Int64, counts: _Counts) -> None:
        """Note the ends of local alignments among cells of an anti-diagonal; no path goes on."""
        self.score = max(self.score, int(values.max()))
        if self._best is not None and self._best > 0:
            ends = np.flatnonzero((values == self._best) & (counts > 0))
            for k in ends.tolist():
                self._ends.append(((first + k) * (self._shape[1] + 1) + d - first - k, _M))
            self.count += sum(counts[ends].tolist())
            counts[ends] = 0

    def _end_global(self, values: _Int64, counts: _Counts) -> None:
        self.score = int(values.max())
        last = (self._shape[0] + 1) * (self._shape[1] + 1) - 1
        states = np.flatnonzero((values == self.score) & (counts > 0)).tolist()
        self._ends = [(last, state) for state in states]
        self.count = sum(counts[states].tolist())

    def _before(self, at: int, state: int) -> Sequence[int]:
        return _STATES_OF_BITS[self._bits_of[at] >> 3 * state & 7]


class AllPaths:
    """The paths of all best alignments of a pair, for Biopython's `PairwiseAlignments`.

    The table is computed when more than the first path, or their number, is asked for.

    Parameters
    ----------
    query, target : ndarray of uint8
        Codes of the rows and of the columns.
    scoring : PairScoring
    score : int
        That of the best alignments, in integer units.
    first : callable, optional
        Returns the coordinates of the path to give first, without a table. If the table is too
        large, it is the only one.
    few : callable, optional
        Returns what to take instead of the table, if that is enough.
    linear : bool
        As for `PathTable.paths`.
    turned : bool
        Whether the coordinates of the query count from its end.
    """

    def __init__(
        self,
        query: _Codes,
        target: _Codes,
        scoring: PairScoring,
        score: int,
        *,
        first: Callable[[], _Int64] | None,
        few: Callable[[], FewPaths] | None,
        linear: bool,
        turned: bool,
    ) -> None:
        self._pair, self._scoring, self._score = (query, target), scoring, score
        self._cells = (len(query) + 1) * (len(target) + 1)
        self._fits = self._cells <= MAX_CELLS
        self._first, self._few = first, few
        self._linear, self._turned = linear, turned
        self.reset()

    @property
    def _none(self) -> bool:
        return self._scoring.end_gaps is None and self._score <= 0

    @cached_property
    def _table(self) -> Paths | None:
        if not self._fits:
            return None
        if self._few and self._cells <= _MOST_AT_ONCE and (few := self._few()).few:
            return few
        return PathTable(*self._pair, self._scoring, self._score)

    def __len__(self) -> int:
        if self._none:
            return 0
        count = 1 if self._table is None else self._table.count
        if count > sys.maxsize:
            raise OverflowError(f"number of optimal alignments is larger than {sys.maxsize}")
        return count

    def __iter__(self) -> Iterator[_Int64]:
        if self._none:
            return
        first = self._first() if self._first else None
        if first is not None:
            yield self._seen(first)
        if self._table is not None:
            for each in self._table.paths(self._linear):
                if first is None or not np.array_equal(each, first):
                    yield self._seen(each)

    def _seen(self, path: _Int64) -> _Int64:
        return np.stack([path[0], len(self._pair[0]) - path[1]]) if self._turned else path

    def __next__(self) -> _Int64:
        return next(self._left)

    def reset(self) -> None:
        """Begin again."""
        self._left = iter(self)


def best_score(query: _Codes, target: _Codes, scoring: PairScoring) -> int:
    """Return the score of the best alignment in integer units, where no engine has the scoring."""
    return PathTable(query, target, scoring, keep=False).score


def _sum(a: _Counts, b: _Counts) -> _Counts:
    """Return the sum of counts, at most `_MANY`."""
    total: _Counts = np.minimum(a, _MANY - b) + b
    return total
