"""The oracle: local alignment from its definition, with gaps of any length tried one by one.

No E, no F, no rows at once: H(i, j) looks at every gap that could end at i, j (Waterman, Smith and
Beyer 1976). Cubic time, so for short sequences only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

DIAGONAL, UP, LEFT = (1, 1), (1, 0), (0, 1)


def gap_cost(scoring, length):
    return scoring.gap_open + (length - 1) * scoring.gap_extend


def table(query, target, scoring):
    """Return H as lists, (m + 1) x (n + 1)."""
    h = [[0] * (len(target) + 1) for _ in range(len(query) + 1)]
    for i in range(1, len(query) + 1):
        for j in range(1, len(target) + 1):
            values = [0, h[i - 1][j - 1] + int(scoring.matrix[query[i - 1], target[j - 1]])]
            values += [h[i - k][j] - gap_cost(scoring, k) for k in range(1, i + 1)]
            values += [h[i][j - k] - gap_cost(scoring, k) for k in range(1, j + 1)]
            h[i][j] = max(values)
    return h


def score(query, target, scoring):
    return max(max(row) for row in table(query, target, scoring))


def ends(query, target, scoring):
    """Return all (i, j) whose pair is the last of a best alignment; i and j count from 1."""
    h = table(query, target, scoring)
    best = max(max(row) for row in h)
    return [
        (i, j)
        for i in range(1, len(query) + 1)
        for j in range(1, len(target) + 1)
        if h[i - 1][j - 1] + int(scoring.matrix[query[i - 1], target[j - 1]]) == best > 0
    ]


def conventional_end(query, target, scoring):
    """Return the end with the largest i + j, then the smallest i; (0, 0) without alignment."""
    return max(ends(query, target, scoring), key=lambda end: (sum(end), -end[0]), default=(0, 0))


def paths(query, target, scoring, end) -> Iterator[list[tuple[int, int]]]:
    """Yield the steps of every best alignment that ends at ``end``, the preferred one first.

    Alignments begin where H was last 0. Preferred, going back: the pair, then a gap along the
    column (short before long), then a gap along the row.
    """
    h = table(query, target, scoring)

    def back(i, j):
        here = h[i][j]
        if here == 0:
            yield []
            return
        if h[i - 1][j - 1] + int(scoring.matrix[query[i - 1], target[j - 1]]) == here:
            yield from ([*path, DIAGONAL] for path in back(i - 1, j - 1))
        for k in range(1, i + 1):
            if h[i - k][j] - gap_cost(scoring, k) == here:
                yield from ([*path, *[UP] * k] for path in back(i - k, j))
        for k in range(1, j + 1):
            if h[i][j - k] - gap_cost(scoring, k) == here:
                yield from ([*path, *[LEFT] * k] for path in back(i, j - k))

    return back(*end)


def coordinates(path, end):
    """Return the ends of the runs of equal steps, shape (2, K): row 0 target, row 1 query."""
    i, j = end
    points = [(j, i)]
    for step, earlier in zip(path[::-1], [*path[-2::-1], None], strict=False):
        i, j = i - step[0], j - step[1]
        if step != earlier:
            points.append((j, i))
    return np.array(points[::-1]).T


def gap(scoring, kind, place):
    """Return what a gap costs there: `kind` insertion or deletion, `place` left, right or None."""
    if place is None or scoring.local:
        return getattr(scoring, kind)
    return getattr(scoring.end_gaps, f"{place}_{kind}")


def cost(query, scoring, kind, i, k, place):
    """Return what a gap costs: opposite k rows from i on, or opposite k letters behind i rows."""
    one = gap(scoring, kind, place)
    free = place is not None and not scoring.local and one == (0, 0)
    if scoring.gaps is None or free or not k or not len(query):
        one = one if scoring.gaps is None or free else scoring.underlying.deletion
        return one.open + (k - 1) * one.extend if k else 0
    rows = query[i : i + k] if kind == "insertion" else query[[max(i - 1, 0)] * k]
    return int(scoring.gaps.opens[rows[0]]) + int(scoring.gaps.extends[rows[1:]].sum())


def path_score(query, target, scoring, coordinates):
    """Score an alignment, letter by letter and gap by gap."""
    m, n, total = len(query), len(target), 0
    for (j, i), (j_end, i_end) in pairwise(np.asarray(coordinates).T.tolist()):
        if i < i_end and j < j_end:
            assert i_end - i == j_end - j
            total += sum(int(scoring.matrix[query[i + k], target[j + k]]) for k in range(i_end - i))
            continue
        kind, at, end = ("deletion", i, m) if i == i_end else ("insertion", j, n)
        place = "left" if at == 0 else "right" if at == end else None
        total -= cost(query, scoring, kind, i, max(i_end - i, j_end - j), place)
    return total
