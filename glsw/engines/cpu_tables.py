"""The best alignment of a pair from the table of H, in all modes, for engine ``cpu``.

H alone says all: F of a cell is the best of the cells above it minus the cost of the gap between,
and the gap that `glsw.alignment.traceback` walks is the shortest of those that give H.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np

from glsw.alignment.paths import DIAGONAL, LEFT, UP, Runs
from glsw.arrays import Int32, Int64, UInt32
from glsw.scoring.gaps import EndGaps, GapCost

Walked: TypeAlias = "tuple[tuple[int, int, int], UInt32]"
"""Score, i and j of the best cell, and the runs of the path to it, see `Paths`."""


class Borders(NamedTuple):
    """H in row 0 and in column 0 of a global or semi-global table.

    Parameters
    ----------
    above, left : ndarray of int64, shapes (n + 1,), (m + 1,)
    """

    above: Int64
    left: Int64

    @classmethod
    def of(cls, ends: EndGaps, m: int, n: int) -> Borders:
        """Return the borders of a table of m rows and n columns."""
        return cls(ends.above(np.arange(n + 1)), ends.left(np.arange(m + 1)))

    def end(self, table: Int32, ends: EndGaps) -> tuple[int, int, int]:
        """Return the score and the end of the best alignment, see `Engine.ends`.

        >>> borders = Borders.of(EndGaps(), 1, 2)
        >>> borders.end(np.array([[2, -1]], np.int32), EndGaps())
        (2, 1, 1)
        """
        m, n = table.shape
        last_row = np.append(self.left[m], table[-1]) if m else self.above
        last_column = np.append(self.above[n], table[:, -1]) if n else self.left
        rows = np.append(np.full(n + 1, m), np.arange(m + 1))
        columns = np.append(np.arange(n + 1), np.full(m + 1, n))
        scores = np.append(last_row, last_column) + ends.behind(m - rows, n - columns)
        best = int(scores.max())
        at = np.flatnonzero(scores == best)
        k = at[np.lexsort((rows[at], -(rows[at] + columns[at])))[0]]
        return best, int(rows[k]), int(columns[k])


def walked(runs: Runs) -> UInt32:
    """Return the runs of one alignment as `Walked` has them, the last one first."""
    return (runs.lengths << 2 | runs.moves)[::-1].astype(np.uint32)


def best_cell(table: Int32, score: int) -> tuple[int, int]:
    """Return i and j of the conventional end, given the best score, which is not 0.

    >>> best_cell(np.array([[4, 0, 0], [0, 2, 4], [1, 4, 0]], np.int32), 4)
    (2, 3)
    """
    n = table.shape[1]
    cells = np.flatnonzero(table.reshape(-1) == score)
    if len(cells) == 1:
        return int(cells[0]) // n + 1, int(cells[0]) % n + 1
    rows, columns = np.divmod(cells[cells // n + cells % n == (cells // n + cells % n).max()], n)
    return int(rows[0]) + 1, int(columns[0]) + 1


def path_to(
    table: Int32,
    end: tuple[int, int],
    pair: tuple[bytes, bytes],
    scores: Sequence[Sequence[int]],
    costs: GapCost,
    borders: Borders | None = None,
) -> UInt32:
    """Return the runs of the best alignment that ends at a cell, see `glsw.alignment.traceback`.

    The table has H(i, j) of i, j from 1, C order; the end is i and j, where H is positive in local
    alignments. The pair has the codes of the query and the target, ``scores`` those of each code
    with each. Gaps are not free. With borders the alignment is one from end to end, whose path
    begins in row 0 or column 0.

    Examples
    --------
    >>> table = np.array([[0, 0], [2, 1], [1, 4]], np.int32)
    >>> scores = [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]]
    >>> path_to(table, (3, 2), (bytes([0, 1, 2]), bytes([1, 2])), scores, GapCost(1, 1))
    array([11], dtype=uint32)
    """
    i, j = end
    runs: list[int] = []
    if not i or not j:
        return np.array(runs, np.uint32)
    score = value = int(table[i - 1, j - 1])
    flat, n = table.reshape(-1), table.shape[1]
    gaps = costs.open + costs.extend * np.arange(max(i, j) - 1, -1, -1)
    while i and j and (value or borders):
        last, step = (i - 1) * n + j - 1, 0
        before = flat[last - n - 1 :: -n - 1][: min(i, j) - 1] if min(i, j) > 1 else flat[:0]
        corner = _border(borders, max(0, i - j), max(0, j - i))
        letters = zip(reversed(pair[0][:i]), reversed(pair[1][:j]), strict=False)
        for (row, column), h in zip(letters, chain(before.data, (corner,)), strict=False):
            if h + scores[row][column] != value:
                break
            value, step = h, step + 1
            if not (value or borders):
                break
        runs += [step << 2 | DIAGONAL] if step else []
        i, j = i - step, j - step
        if not (i and j and (value or borders)):
            break
        most = 2**62 if borders else _longest_gap(score - value, costs)
        above = table[max(0, i - 1 - most) : i - 1, j - 1]
        if step := _gap(above, value, gaps) or _gap_from(borders, 0, j, i, value, costs):
            runs.append(step << 2 | UP)
            i -= step
        else:
            left = table[i - 1, max(0, j - 1 - most) : j - 1]
            step = _gap(left, value, gaps) or j
            runs.append(step << 2 | LEFT)
            j -= step
        value = int(table[i - 1, j - 1]) if i and j else _border(borders, i, j)
    return np.array(runs, np.uint32)


def _border(borders: Borders | None, i: int, j: int) -> int:
    """Return H of a cell in row 0 or column 0."""
    if borders is None:
        return 0
    return int(borders.left[i] if i else borders.above[j])


def _longest_gap(room: int, costs: GapCost) -> int:
    """Return how long a gap is at most that costs no more than ``room``."""
    return max(0, 1 + (room - costs.open) // costs.extend) if costs.extend else 2**62


def _gap(values: Int32, value: int, gaps: Int64) -> int:
    """Return the length of the shortest gap to a value from one of those before it; 0 if none.

    ``gaps`` has the costs of gaps, the longest first.
    """
    fits = (values == gaps[len(gaps) - len(values) :] + value).nonzero()[0]
    return len(values) - int(fits[-1]) if len(fits) else 0


def _gap_from(
    borders: Borders | None, i: int, j: int, length: int, value: int, costs: GapCost
) -> int:
    """Return the length of a gap if it leads from a border to a value, else 0."""
    found = borders and _border(borders, i, j) - costs.open - costs.extend * (length - 1) == value
    return length if found else 0
