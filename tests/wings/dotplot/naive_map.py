"""The oracle of score maps: whole tables from the definition, in NumPy and plain Python.

A cell (i, j) of a table is the node behind the i-th residue of the query and the j-th of the
target. A path through it is the best one that ends there and the best one that begins there, which
the tables of the reversed sequences have; one that is in a gap there opens that gap once.
"""

from __future__ import annotations

import numpy as np

NOTHING = -(10**9)


def tables(query, target, scoring, cap):
    """Return H, E and F, each of shape (m + 1, n + 1); codes beyond the alphabet match nothing."""
    letters = len(scoring.alphabet)
    matrix = np.full((letters + 1, letters + 1), NOTHING, np.int64)
    matrix[:letters, :letters] = scoring.matrix
    deletion, insertion = scoring.deletion, scoring.insertion
    m, n = len(query), len(target)
    h, e, f = (np.zeros((m + 1, n + 1), np.int64) for _ in range(3))
    e[:], f[:] = NOTHING, NOTHING
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            e[i, j] = max(h[i, j - 1] - deletion.open, e[i, j - 1] - deletion.extend)
            f[i, j] = max(h[i - 1, j] - insertion.open, f[i - 1, j] - insertion.extend)
            aligned = h[i - 1, j - 1] + matrix[query[i - 1], target[j - 1]]
            h[i, j] = min(cap, max(0, aligned, e[i, j], f[i, j]))
    return h, e, f


def scores_of_cells(query, target, scoring, cap, value):
    """Return the score of each cell, shape (m, n)."""
    h, e, f = tables(query, target, scoring, cap)
    if value == "through":
        behind = tables(query[::-1], target[::-1], scoring, cap)
        h_behind, e_behind, f_behind = (each[::-1, ::-1] for each in behind)
        deletion, insertion = scoring.deletion, scoring.insertion
        in_deletion = e + e_behind + deletion.open - deletion.extend
        in_insertion = f + f_behind + insertion.open - insertion.extend
        h = np.maximum(h + h_behind, np.maximum(in_deletion, in_insertion))
    return np.minimum(h, cap)[1:, 1:]


def score_map(query, target, scoring, side, cap, value):
    """Return the best score of the cells of each tile, also of tiles that are not full."""
    cells = scores_of_cells(query, target, scoring, cap, value)
    rows, columns = (range(0, length, side) for length in cells.shape)
    return np.array([[cells[i : i + side, j : j + side].max() for j in columns] for i in rows])
