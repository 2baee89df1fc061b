"""Engine ``reference``: the definition, in NumPy and plain Python, without OpenGL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.engines.base import ALL_MODES, Capabilities, Engine, Progress, Ties
from glsw.mask import Mask
from glsw.paths import BestCells
from glsw.scoring.scoring import Scoring

MINUS_INFINITY = -(2**62)
"""Below every value of a table, and far enough from the end of int64 to subtract costs from it."""

_Int64 = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.uint8]


class TableRow(NamedTuple):
    """TableRow i of the tables, columns 0..n: int64 arrays of shape (n + 1,).

    ``aligned`` is H(i-1, j-1) + s(i, j), the best of the paths whose last column is the pair i, j.
    """

    aligned: _Int64
    h: _Int64
    e: _Int64
    f: _Int64


class Reference(Engine):
    """Compute every cell by its definition, see `rows`: slow, obvious, the judge of the others.

    Examples
    --------
    >>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
    >>> encode = scoring.alphabet.encode
    >>> batch = Batch.one_to_many(encode("ATCTCGTATGAT"), [encode("GTCTATCAC"), encode("TTTT")])
    >>> ends = Reference(scoring).ends(batch)
    >>> ends.score.tolist(), ends.query_end.tolist(), ends.target_end.tolist()
    ([10, 4], [11, 9], [8, 4])
    """

    name = "reference"
    capabilities = Capabilities(modes=ALL_MODES, masks=True, separate_gaps=True, workloads=())

    def best(
        self, batch: Batch, ends: bool, progress: Progress, *, ties: Ties = "conventional"
    ) -> BestCells:
        """Return the best cell of each pair, see `Engine.best`; ``"any"`` is the first found."""
        found = []
        for p in range(len(batch)):
            query, target = batch.pair(p)
            cell = best_cell if ends and ties == "conventional" else first_best_cell
            if not self.scoring.local:
                cell = best_end_cell
            score, i, j = cell(query, target, self.scoring, batch.mask(p))
            origin = int(self.scoring.score_offset(len(query), len(target)))
            found.append((score + origin, i, j))
            progress(len(query) * len(target))
        return BestCells.of(*np.array(found, np.int32).reshape(len(batch), 3).T)

    @property
    def cells_at_once(self) -> int:
        """Few cells, since each takes long."""
        return 2**20


def rows(
    query: _Codes, target: _Codes, scoring: Scoring, mask: Mask | None = None
) -> Iterator[TableRow]:
    """Yield rows 0..m of the tables (Gotoh 1982; Liu et al. 2006, section 2).

    ::

        E(i, j) = max(H(i, j-1) - gap_open, E(i, j-1) - gap_extend)
        F(i, j) = max(H(i-1, j) - gap_open, F(i-1, j) - gap_extend)
        H(i, j) = max(0, H(i-1, j-1) + s(i, j), E(i, j), F(i, j))

    In row 0 and column 0, H is 0 and the others are minus infinity. So is H(i-1, j-1) + s(i, j)
    for a pair that the mask forbids. From end to end there is no 0 in the third equation, and H
    in row 0 and column 0 is what gaps at the left ends score; F has the costs of insertions.

    Parameters
    ----------
    query : ndarray of uint8, shape (m,)
    target : ndarray of uint8, shape (n,)
    scoring : Scoring
    mask : Mask, optional
    """
    deletion, insertion = scoring.deletion, scoring.insertion
    matrix = scoring.matrix.astype(np.int64)
    nothing = np.full(len(target) + 1, MINUS_INFINITY, np.int64)
    floor, top, left = 0, np.zeros_like(nothing), np.zeros(len(query) + 1, np.int64)
    if scoring.end_gaps:
        floor = MINUS_INFINITY
        top, left = (
            scoring.end_gaps.above(range(len(nothing))),
            scoring.end_gaps.left(range(len(left))),
        )
    above = TableRow(nothing, top, nothing, nothing)
    yield above
    for i, letter in enumerate(query):
        aligned, f = nothing.copy(), nothing.copy()
        aligned[1:] = above.h[:-1] + matrix[letter, target]
        if mask is not None:
            aligned[mask[i] + 1] = MINUS_INFINITY
        f[1:] = np.maximum(above.h[1:] - insertion.open, above.f[1:] - insertion.extend)
        without_e = np.maximum(floor, np.maximum(aligned, f)).tolist()
        h, e = [int(left[i + 1])], [MINUS_INFINITY]
        for j in range(1, len(target) + 1):
            e.append(max(h[j - 1] - deletion.open, e[j - 1] - deletion.extend))
            h.append(max(without_e[j], e[j]))
        above = TableRow(aligned, np.array(h, np.int64), np.array(e, np.int64), f)
        yield above


def fill(
    query: _Codes, target: _Codes, scoring: Scoring, mask: Mask | None = None
) -> tuple[_Int64, _Int64, _Int64]:
    """Return the tables H, E and F, each of shape (m + 1, n + 1); see `rows`.

    >>> scoring = Scoring.match_mismatch(1, -1, 1, 1)  # Sudo et al. 2012, figure 3
    >>> encode = scoring.alphabet.encode
    >>> fill(encode("ACAC"), encode("AGCA"), scoring)[0]
    array([[0, 0, 0, 0, 0],
           [0, 1, 0, 0, 1],
           [0, 0, 0, 1, 0],
           [0, 1, 0, 0, 2],
           [0, 0, 0, 1, 1]])
    """
    table = list(rows(query, target, scoring, mask))
    h, e, f = (np.stack([getattr(row, name) for row in table]) for name in ("h", "e", "f"))
    return h, e, f


def best_cell(
    query: _Codes, target: _Codes, scoring: Scoring, mask: Mask | None = None
) -> tuple[int, int, int]:
    """Return score, i and j of the best pair to end with, by the conventional rule.

    Among pairs of equal score it is the one with the largest i + j, then with the smallest i;
    i and j count from 1, all three are 0 if no alignment scores more than 0.
    """
    best = (0, 0, 0)
    for i, row in enumerate(rows(query, target, scoring, mask)):
        top = int(row.aligned.max())
        if top > 0:
            j = int(np.flatnonzero(row.aligned == top)[-1])
            best = max(best, (top, i + j, -i))
    score, diagonal, minus_i = best
    return score, -minus_i, diagonal + minus_i


def first_best_cell(
    query: _Codes, target: _Codes, scoring: Scoring, mask: Mask | None = None
) -> tuple[int, int, int]:
    """Return what `best_cell` does, but among pairs of equal score the first, row by row."""
    best = (0, 0, 0)
    for i, row in enumerate(rows(query, target, scoring, mask)):
        j = int(row.aligned.argmax())
        if row.aligned[j] > best[0]:
            best = int(row.aligned[j]), i, j
    return best


def best_end_cell(
    query: _Codes, target: _Codes, scoring: Scoring, mask: Mask | None = None
) -> tuple[int, int, int]:
    """Return score, i and j of the cell behind which an alignment from end to end only has a gap.

    It is one of the last row or column; what the gap behind it costs is in the score. Among cells
    of equal score it is the one with the largest i + j, then with the smallest i.
    """
    assert scoring.end_gaps is not None
    m, n = len(query), len(target)
    best = []
    for i, row in enumerate(rows(query, target, scoring, mask)):
        for j in range(n + 1) if i == m else [n]:
            score = int(row.h[j] + scoring.end_gaps.behind(m - i, n - j))
            best.append((score, i + j, -i))
    score, diagonal, minus_i = max(best)
    return score, -minus_i, diagonal + minus_i
