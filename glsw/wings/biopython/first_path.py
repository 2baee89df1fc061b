"""The first of all equally good alignments in Biopython's order, from the table of H alone.

Where a gap costs no more to extend than to open, E(i, j) is the best of H(i, j - k) minus the cost
of k positions, and F likewise. So H tells which of the states M (a pair of letters), E and F a path
may have, and a run of equal moves is found at once.

Biopython prefers, going back from the end, a pair of letters, then a deletion, then an insertion;
where all gaps are linear the reverse.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glsw.alignment.paths import DIAGONAL, LEFT, UP, coordinates
from glsw.alignment.traceback import TableRow, whole_table
from glsw.engines import cpu_pairs
from glsw.scoring.gaps import EndGaps, GapCost
from glsw.scoring.scoring import Scoring

_TOGETHER = 256  # pairs of letters that are looked at together

_Codes = npt.NDArray[np.uint8]
_Int64 = npt.NDArray[np.int64]
_Table = npt.NDArray[np.signedinteger]


class FirstPaths:
    """The first paths of pairs.

    Parameters
    ----------
    scoring : Scoring
        One that it `takes`.
    linear : bool
        Whether the order is that of the algorithms for linear gaps.
    """

    def __init__(self, scoring: Scoring, linear: bool) -> None:
        self._scoring, self._linear = scoring, linear
        self._single = cpu_pairs.single_pairs(scoring) if cpu_pairs.takes_tables(scoring) else None

    def of(self, query: _Codes, target: _Codes) -> tuple[int, _Int64]:
        """Return the score of a pair in integer units, and the coordinates of its first path."""
        return _Walk(query, target, self._scoring, self._table(query, target), self._linear).path()

    def path(self, query: _Codes, target: _Codes) -> _Int64:
        """Return the coordinates of the first path of a pair."""
        return self.of(query, target)[1]

    def score(self, query: _Codes, target: _Codes) -> int | None:
        """Return the score of a pair, if it takes no table."""
        m, n, ends = len(query), len(target), self._scoring.end_gaps
        if not self._single or not cpu_pairs.fits(self._scoring, m + n):
            return None
        score = self._single.score(query, target)
        return max(score, int(ends.alone(m, n))) if ends else score

    def _table(self, query: _Codes, target: _Codes) -> _Table:
        """Return H of all cells, where gaps at right ends cost as much as others."""
        m, n, ends = len(query), len(target), self._scoring.end_gaps
        if self._single and cpu_pairs.fits(self._scoring, m + n):
            table: _Table = np.zeros((m + 1, n + 1), np.int32)
            if ends:
                table[0], table[:, 0] = ends.above(np.arange(n + 1)), ends.left(np.arange(m + 1))
            with self._single.table(query, target) as inside:
                table[1:, 1:] = inside
            return table
        row = TableRow(whole_table(query, target, self._scoring, None))
        table = np.empty((m + 1, n + 1), row.h.dtype)
        for i in range(m + 1):
            if i:
                row.next()
            table[i] = row.h
        table -= int(self._scoring.score_offset(m, n))
        return table


def takes(ends: EndGaps | None) -> bool:
    """Tell whether no gap at a right end costs more to extend than to open."""
    right = (ends.right_insertion, ends.right_deletion) if ends else ()
    return all(cost.open >= cost.extend for cost in right)


class _Walk:
    """The way back along the first path of a pair."""

    def __init__(
        self, query: _Codes, target: _Codes, scoring: Scoring, table: _Table, linear: bool
    ) -> None:
        self._query, self._target, self._matrix = query, target, scoring.matrix
        self._linear, self._ends = linear, scoring.end_gaps
        self._deletion, self._insertion = scoring.deletion, scoring.insertion
        if self._ends:
            _put_right_ends(table, self._ends)
        self._h, self._cells = table, table.data

    def path(self) -> tuple[int, _Int64]:
        """Return the best score, and the coordinates of the first path, see `glsw.Alignment`."""
        i, j = len(self._query), len(self._target)
        if not self._ends:
            at = np.flatnonzero(self._h == self._h.max())
            rows, columns = np.divmod(at, j + 1)
            first = int((columns * (i + 1) + rows).argmin())
            i, j = int(rows[first]), int(columns[first])
        runs = (self._steps if self._linear else self._runs)(i, j)
        path = coordinates(runs[0][::-1], runs[1][::-1], np.array([j, i]))
        return int(self._cells[i, j]), path

    def _steps(self, i: int, j: int) -> tuple[npt.NDArray[np.uint8], _Int64]:
        """Return the moves from an end, where a gap costs the same at each position."""
        cells, width, last = self._h.reshape(-1).data, len(self._target) + 1, (i, j)
        moves, at, ends = bytearray(), i * width + j, self._ends is not None
        up, left = self._insertion.open, self._deletion.open
        up_at_end, left_at_end = self._cost(UP, i, j).open, self._cost(LEFT, i, j).open
        while i and j and ((value := cells[at]) or ends):
            if cells[at - width] - (up if j < last[1] else up_at_end) == value:
                move = UP
            elif cells[at - 1] - (left if i < last[0] else left_at_end) == value:
                move = LEFT
            else:
                move = DIAGONAL
            i, j = i - (move >> 1), j - (move & 1)
            at = i * width + j
            moves.append(move)
        if ends:
            moves += bytes([UP]) * i + bytes([LEFT]) * j
        return np.frombuffer(moves, np.uint8), np.ones(len(moves), np.int64)

    def _runs(self, i: int, j: int) -> tuple[npt.NDArray[np.uint8], _Int64]:
        """Return moves from an end and their numbers: a pair of letters, else LEFT, else UP."""
        found: list[tuple[int, int]] = []
        while (i or j) and (self._ends or self._cells[i, j]):
            move, length = run = self._pairs(i, j) or self._gap(i, j)
            i, j = i - length * (move >> 1), j - length * (move & 1)
            found.append(run)
        moves, lengths = np.array(found, np.int64).reshape(-1, 2).T
        return moves.astype(np.uint8), lengths

    def _pairs(self, i: int, j: int) -> tuple[int, int] | None:
        """Return the pairs of letters that end at a cell one after the other, if there are any."""
        if not (length := min(i, j, _TOGETHER)):
            return None
        width = len(self._target) + 1
        values = self._h.reshape(-1)[i * width + j :: -width - 1][: length + 1]
        rows, columns = self._query[i - length : i], self._target[j - length : j]
        stop = values[1:] + self._matrix[rows, columns][::-1] != values[:-1]
        if not self._ends:
            stop[1:] |= values[1:-1] == 0
        count = int(stop.argmax()) if stop.any() else length
        return (DIAGONAL, count) if count else None

    def _gap(self, i: int, j: int) -> tuple[int, int]:
        """Return the move and the length of the gap that ends at a cell.

        In a deletion a pair of letters comes before more of it, and an insertion behind; in an
        insertion both come before more of it.
        """
        if not i or not j:
            return (LEFT, j) if j else (UP, i)
        if lengths := self._lengths(LEFT, i, j):
            return LEFT, next((k for k in lengths if self._aligns(i, j - k)), lengths[-1])
        lengths = self._lengths(UP, i, j)
        others = (k for k in lengths if self._aligns(i - k, j) or self._lengths(LEFT, i - k, j))
        return UP, next(others, lengths[-1])

    def _aligns(self, i: int, j: int) -> bool:
        """Tell whether a pair of letters gives H of a cell, or it is where paths begin."""
        if not i or not j:
            return i == j
        score = self._matrix[self._query[i - 1], self._target[j - 1]]
        return bool(self._cells[i - 1, j - 1] + score == self._cells[i, j])

    def _lengths(self, move: int, i: int, j: int) -> list[int]:
        """Return the lengths of all gaps that give H of a cell, the shortest first."""
        line = self._h[i, :j] if move == LEFT else self._h[:i, j]
        cost = self._cost(move, i, j)
        costs = cost.open - cost.extend + cost.extend * np.arange(len(line), 0, -1)
        lengths: list[int] = (
            len(line) - np.flatnonzero(line - costs == self._cells[i, j])[::-1]
        ).tolist()
        return lengths

    def _cost(self, move: int, i: int, j: int) -> GapCost:
        """Return the cost of a gap that ends at a cell."""
        if self._ends:
            if move == LEFT and i == len(self._query):
                return self._ends.right_deletion
            if move == UP and j == len(self._target):
                return self._ends.right_insertion
        return self._deletion if move == LEFT else self._insertion


def _put_right_ends(table: _Table, ends: EndGaps) -> None:
    """Put what gaps at the right ends score into the last row and the last column."""
    found = []
    lines = table[-1], table[:, -1]
    for line, cost in zip(lines, (ends.right_deletion, ends.right_insertion), strict=True):
        ramp = cost.extend * np.arange(len(line))
        opened = np.maximum.accumulate(line[:-1] + ramp[:-1])
        found.append(opened - ramp[1:] + (cost.extend - cost.open))
    for line, best in zip(lines, found, strict=True):
        np.maximum(line[1:], best, out=line[1:], casting="same_kind")
