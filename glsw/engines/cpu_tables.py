"""The best alignment of a pair from the table of H, for engine ``cpu``.

H alone says all: F of a cell is the best of the cells above it minus the cost of the gap between,
and the gap that `glsw.traceback` walks is the shortest of those that give H.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.paths import DIAGONAL, LEFT, UP
from glsw.scoring.gaps import GapCost

Walked: TypeAlias = "tuple[tuple[int, int, int], npt.NDArray[np.uint32]]"
"""Score, i and j of the best cell, and the runs of the path to it, see `glsw.paths.Paths`."""

_Table: TypeAlias = npt.NDArray[np.int32]


def best_cell(table: _Table, score: int) -> tuple[int, int]:
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
    table: _Table,
    end: tuple[int, int],
    pair: tuple[bytes, bytes],
    scores: Sequence[Sequence[int]],
    costs: GapCost,
) -> npt.NDArray[np.uint32]:
    """Return the runs of the best local alignment that ends at a cell, see `glsw.traceback`.

    Parameters
    ----------
    table : ndarray of int32, shape (m, n), C order
        H(i, j) of i, j from 1.
    end : (int, int)
        i and j; H is positive there.
    pair : tuple of bytes
        The codes of the query, m, and of the target, n.
    scores : sequence of sequence of int
        Of each code of a query with each code of a target.
    costs : GapCost
        Of gaps in both sequences; not free.

    Examples
    --------
    >>> table = np.array([[0, 0], [2, 1], [1, 4]], np.int32)
    >>> scores = [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]]
    >>> path_to(table, (3, 2), (bytes([0, 1, 2]), bytes([1, 2])), scores, GapCost(1, 1))
    array([11], dtype=uint32)
    """
    i, j = end
    score = int(table[i - 1, j - 1])
    flat, n, value = table.reshape(-1), table.shape[1], score
    runs: list[int] = []
    while True:
        last, step = (i - 1) * n + j - 1, 0
        above = flat[last - n - 1 :: -n - 1][: min(i, j) - 1] if min(i, j) > 1 else flat[:0]
        letters = zip(reversed(pair[0][:i]), reversed(pair[1][:j]), strict=False)
        for (row, column), before in zip(letters, chain(above.data, (0,)), strict=False):
            if before + scores[row][column] != value:
                break
            value, step = before, step + 1
            if not value:
                break
        runs += [step << 2 | DIAGONAL] if step else []
        if not value:
            return np.array(runs, np.uint32)
        i, j = i - step, j - step
        most = _longest_gap(score - value, costs)
        if step := _gap(table[max(0, i - 1 - most) : i - 1, j - 1], value, costs):
            runs.append(step << 2 | UP)
            i -= step
        else:
            step = _gap(table[i - 1, max(0, j - 1 - most) : j - 1], value, costs)
            runs.append(step << 2 | LEFT)
            j -= step
        value = int(table[i - 1, j - 1])


def _longest_gap(room: int, costs: GapCost) -> int:
    """Return how long a gap is at most that costs no more than ``room``."""
    return max(0, 1 + (room - costs.open) // costs.extend) if costs.extend else 2**62


def _gap(values: _Table, value: int, costs: GapCost) -> int:
    """Return the length of the shortest gap to a value from one of those before it; 0 if none."""
    lengths = np.arange(len(values), 0, -1)
    fits = values - costs.open - costs.extend * (lengths - 1) == value
    return int(lengths[fits][-1]) if fits.any() else 0
