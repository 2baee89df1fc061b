"""Engine ``reference``: the definition, in NumPy and plain Python, without OpenGL."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch, Mask
from glsw.alignment.paths import BestCells
from glsw.arrays import Codes, Int64
from glsw.engines.base import ALL_MODES, Capabilities, Engine, Pairs, Progress, ScanHints
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import padded

MINUS_INFINITY = -(2**62)
"""Below every value of a table, and far enough from the end of int64 to subtract costs from it."""

_MAX_CELLS_PER_ROW = 2**15
"""Cells of one row of the tables of all pairs that are computed together."""


class TableRow(NamedTuple):
    """TableRow i of the tables, columns 0..n: int64 arrays of shape (..., n + 1).

    ``aligned`` is H(i-1, j-1) + s(i, j), the best of the paths whose last column is the pair i, j.
    """

    aligned: Int64
    h: Int64
    e: Int64
    f: Int64


class Reference(Engine):
    """Compute every cell by its definition, see `rows`: slow, obvious, the oracle for the others.

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
    capabilities = Capabilities(
        modes=ALL_MODES, masks=True, separate_gaps=True, positional_gaps=True, workloads=()
    )

    def best(self, asked: Pairs, progress: Progress) -> BestCells:
        """Return the best cell of each pair, see `Engine.best`; ``"any"`` is the first found."""
        batch = asked.batch
        found = np.zeros((3, len(batch)), np.int64)
        for chosen, queries, targets in alike(batch):
            lengths = batch.query_lengths[chosen], batch.target_lengths[chosen]
            mask = None if batch.masks is None else batch.mask(int(chosen[0]))
            first = asked.ends != "conventional"
            cells = best_cells(queries, targets, *lengths, self.scoring, mask, first=first)
            found[:, chosen] = cells
            found[0, chosen] += self.scoring.score_offset(*lengths)
            progress(int((lengths[0] * lengths[1]).sum()))
        return BestCells.of(*found.astype(np.int32))

    @property
    def hints(self) -> ScanHints:
        """Few cells at once, since each takes long."""
        return ScanHints(cells_at_once=2**20)


def alike(batch: Batch) -> Iterator[tuple[Int64, Codes, Codes]]:
    """Yield groups of pairs of similar lengths: their numbers, queries (p, m), targets (p, n).

    Shorter sequences are filled up with zeros: no cell depends on letters behind it. A pair with a
    mask is a group of its own.
    """
    lengths = np.stack([batch.query_lengths, batch.target_lengths], axis=1)
    # Lengths between the same powers of 8: a row of ten short pairs takes as long as one.
    _, group = np.unique(np.frexp(lengths)[1] // 3, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    for chosen in np.split(order, np.flatnonzero(np.diff(group.ravel()[order])) + 1):
        longest = int(lengths[chosen].max(initial=1))
        most = 1 if batch.masks is not None else max(1, _MAX_CELLS_PER_ROW // longest)
        for start in range(0, len(chosen), most):
            part = chosen[start : start + most]
            yield part, *both_padded(batch.select(part))


def both_padded(batch: Batch) -> tuple[Codes, Codes]:
    """Return the queries of pairs, and their targets, as rows with zeros behind them."""
    m, n = batch.lengths.max(axis=0, initial=0).tolist()
    return (
        padded(batch.queries, batch.query_index, m, 0),
        padded(batch.targets, batch.target_index, n, 0),
    )


def rows(
    query: Codes, target: Codes, scoring: Scoring, mask: Mask | None = None
) -> Iterator[TableRow]:
    """Yield rows 0..m of the tables (Gotoh 1982; Liu et al. 2006, section 2).

    ::

        E(i, j) = max(H(i, j-1) - gap_open, E(i, j-1) - gap_extend)
        F(i, j) = max(H(i-1, j) - gap_open, F(i-1, j) - gap_extend)
        H(i, j) = max(0, H(i-1, j-1) + s(i, j), E(i, j), F(i, j))

    In row 0 and column 0, H is 0 and the others are minus infinity. So is H(i-1, j-1) + s(i, j)
    for a pair that the mask forbids. From end to end there is no 0 in the third equation, and H
    in row 0 and column 0 is what gaps at the left ends score; F has the costs of insertions.
    Gap costs by position are those of position i in row i, of E and of F; see `PositionalEndGaps`.

    E is computed as ``max over k < j of (max(0, H(i-1, k-1) + s(i, k), F(i, k)) - gap_open
    - (j-k-1) gap_extend)``, a running maximum. This is the same, as a gap after a gap never pays:
    ``gap_open >= gap_extend``.

    Parameters
    ----------
    query : ndarray of uint8 or uint16, shape (..., m)
    target : ndarray of uint8 or uint16, shape (..., n)
        Several pairs have the same leading axes, and sequences of equal lengths.
    scoring : Scoring
    mask : Mask, optional
        That of all pairs.
    """
    deletion, insertion, gaps = scoring.deletion, scoring.insertion, scoring.gaps
    open_e, extend_e, open_f, extend_f = (np.array([cost]) for cost in (*deletion, *insertion))
    matrix = scoring.matrix.astype(np.int64)
    (*pairs, m), n = query.shape, target.shape[-1]
    nothing = np.full((*pairs, n + 1), MINUS_INFINITY, np.int64)
    floor, top, left = 0, np.zeros_like(nothing), np.zeros(m + 1, np.int64)
    first = m * np.arange(math.prod(pairs)).reshape(*pairs, 1)
    if ends := scoring.ends_of(query.ravel(), first, np.full_like(first, m)):
        floor = MINUS_INFINITY
        top[...] = ends.above(range(n + 1))
        left = ends.left(range(m + 1))
    above = TableRow(nothing, top, nothing, nothing)
    yield above
    for i in range(m):
        aligned, f, e = nothing.copy(), nothing.copy(), nothing.copy()
        aligned[..., 1:] = above.h[..., :-1] + matrix[query[..., i, None], target]
        if mask is not None:
            aligned[..., mask[i] + 1] = MINUS_INFINITY
        if gaps:
            open_e = open_f = gaps.opens[query[..., i, None]].astype(np.int64)
            extend_e = extend_f = gaps.extends[query[..., i, None]].astype(np.int64)
        f[..., 1:] = np.maximum(above.h[..., 1:] - open_f, above.f[..., 1:] - extend_f)
        h = np.maximum(floor, np.maximum(aligned, f))
        h[..., 0] = left[..., i + 1]
        extended = np.arange(n) * extend_e
        best = np.maximum.accumulate(h[..., :-1] + extended, axis=-1)
        e[..., 1:] = best - (open_e + extended)
        h[..., 1:] = np.maximum(h[..., 1:], e[..., 1:])
        above = TableRow(aligned, h, e, f)
        yield above


def fill(
    query: Codes, target: Codes, scoring: Scoring, mask: Mask | None = None
) -> tuple[Int64, Int64, Int64]:
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


def best_cells(
    queries: Codes,
    targets: Codes,
    m: npt.NDArray[np.integer],
    n: npt.NDArray[np.integer],
    scoring: Scoring,
    mask: Mask | None = None,
    *,
    first: bool = False,
) -> tuple[Int64, Int64, Int64]:
    """Return score, i and j of the best pair to end with, by the conventional rule.

    Among pairs of equal score it is the one with the largest i + j, then with the smallest i;
    i and j count from 1, all three are 0 if no alignment scores more than 0.

    From end to end it is the cell of the last row or column behind which an alignment only has a
    gap, the cost of which is in the score.

    Parameters
    ----------
    queries, targets : ndarray, shapes (p, longest m) and (p, longest n)
    m, n : ndarray, shape (p,)
        Their lengths.
    scoring : Scoring
    mask : Mask, optional
        That of all pairs.
    first : bool
        Take the first of pairs of equal score, row by row; local alignments only.
    """
    lengths, columns = n[:, None], np.arange(targets.shape[-1] + 1)
    inside, begin = columns <= lengths, queries.shape[1] * np.arange(len(queries))
    gaps = scoring.ends_of(queries.ravel(), begin[:, None], m[:, None])
    best_i, best_j = np.zeros((2, len(queries)), np.int64)
    score = np.full(len(queries), MINUS_INFINITY if gaps else 0, np.int64)
    for i, row in enumerate(rows(queries, targets, scoring, mask)):
        if gaps is None:
            values, there = row.aligned, inside & (i <= m[:, None]) & (row.aligned > 0)
        else:
            behind = gaps.behind(np.maximum(m - i, 0)[:, None], np.maximum(lengths - columns, 0))
            values = row.h + behind
            there = inside & ((i == m[:, None]) | (i < m[:, None]) & (columns == lengths))
        values = np.where(there, values, MINUS_INFINITY)
        top = values.max(axis=1)
        better = top > score
        if first and gaps is None:
            j = values.argmax(axis=1)
        else:
            j = columns[-1] - values[:, ::-1].argmax(axis=1)
            better |= (top == score) & (i + j > best_i + best_j)
        score, best_i, best_j = (
            np.where(better, new, old) for new, old in ((top, score), (i, best_i), (j, best_j))
        )
    return score, best_i, best_j


def best_cell(
    query: Codes,
    target: Codes,
    scoring: Scoring,
    mask: Mask | None = None,
    *,
    first: bool = False,
) -> tuple[int, int, int]:
    """Return score, i and j of the best cell of one pair, see `best_cells`."""
    m, n = np.array([len(query)]), np.array([len(target)])
    cells = best_cells(query[None], target[None], m, n, scoring, mask, first=first)
    score, i, j = (int(each[0]) for each in cells)
    return score, i, j
