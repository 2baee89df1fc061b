"""The best alignment of a pair from the table of H, for engine ``cpu``.

H alone says all: F of a cell is the best of the cells above it minus the cost of the gap between,
and the gap that `glsw.traceback` walks is the shortest of those that give H.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.paths import DIAGONAL, LEFT, UP
from glsw.scoring.scoring import Scoring

Walked: TypeAlias = "tuple[tuple[int, int, int], npt.NDArray[np.uint32]]"
"""Score, i and j of the best cell, and the runs of the path to it, see `glsw.paths.Paths`."""

_FIRST_LOOK = 16  # pairs of which is seen whether they are aligned; then twice as many each time

_Codes: TypeAlias = npt.NDArray[np.uint8]
_Table: TypeAlias = npt.NDArray[np.int32]


def best_path(table: _Table, score: int, query: _Codes, target: _Codes, scoring: Scoring) -> Walked:
    """Return the best local alignment of a pair, by the rules of `glsw.traceback`.

    Parameters
    ----------
    table : ndarray of int32, shape (m, n), C order
        H(i, j) of i, j from 1.
    score : int
        Its maximum, or 0.
    query, target : ndarray of uint8, shapes (m,) and (n,)
    scoring : Scoring
        A local one with the same gap costs in both sequences and at each position.

    Examples
    --------
    >>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
    >>> codes = [scoring.alphabet.encode(text) for text in ("ACG", "CG")]
    >>> table = np.array([[0, 0], [2, 1], [1, 4]], np.int32)
    >>> best_path(table, 4, *codes, scoring)
    ((4, 3, 2), array([11], dtype=uint32))
    """
    if score <= 0:
        return (0, 0, 0), np.empty(0, np.uint32)
    n = table.shape[1]
    flat = table.reshape(-1)
    rows, columns = np.divmod(np.flatnonzero(flat == score), n)
    last = (rows + columns).max()
    i = int(rows[rows + columns == last].min()) + 1
    j = int(last) - i + 2
    best = score, i, j
    runs: list[int] = []
    while True:
        step = _aligned(flat, n, i, j, query, target, scoring)
        runs += [step << 2 | DIAGONAL] if step else []
        i, j = i - step, j - step
        if not i or not j or not table[i - 1, j - 1]:
            return best, np.array(runs, np.uint32)
        value = table[i - 1, j - 1]
        most = _longest_gap(score - int(value), scoring)
        if step := _gap(table[max(0, i - 1 - most) : i - 1, j - 1], value, scoring):
            runs.append(step << 2 | UP)
            i -= step
        else:
            step = _gap(table[i - 1, max(0, j - 1 - most) : j - 1], value, scoring)
            runs.append(step << 2 | LEFT)
            j -= step


def _aligned(
    flat: _Table, n: int, i: int, j: int, query: _Codes, target: _Codes, scoring: Scoring
) -> int:
    """Return how many pairs are aligned up to a cell, one below the other."""
    done, size, most = 0, _FIRST_LOOK, min(i, j)
    while done < most:
        size = min(2 * size, most - done)
        at = np.arange(done, done + size)
        values = flat[(i - 1) * n + j - 1 - at * (n + 1)]
        before = np.append(values[1:], 0)
        if done + size < most:
            before[-1] = flat[(i - 1) * n + j - 1 - (done + size) * (n + 1)]
        pairs = scoring.matrix[query[i - 1 - at], target[j - 1 - at]]
        other = (values <= 0) | (before + pairs != values)
        first = int(other.argmax())
        if other[first]:
            return done + first
        done += size
    return most


def _longest_gap(room: int, scoring: Scoring) -> int:
    """Return how long a gap is at most that costs no more than ``room``."""
    extend = scoring.gap_extend
    return max(0, 1 + (room - scoring.gap_open) // extend) if extend else 2**62


def _gap(values: _Table, value: int, scoring: Scoring) -> int:
    """Return the length of the shortest gap to a value from one of those before it; 0 if none."""
    lengths = np.arange(len(values), 0, -1)
    fits = values - scoring.gap_open - scoring.gap_extend * (lengths - 1) == value
    return int(lengths[fits][-1]) if fits.any() else 0
