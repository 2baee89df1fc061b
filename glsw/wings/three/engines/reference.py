"""Engine ``reference`` for three sequences: the definition, in NumPy, without OpenGL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells, Ends, Paths
from glsw.arrays import Bool, Codes, Int32, Int64
from glsw.engines.base import Capabilities, Progress
from glsw.wings.three.engines.base import Engine3
from glsw.wings.three.scoring import Scoring3

MOVES = (7, 3, 5, 6, 1, 2, 4)
"""The columns there are, those preferred on the way back first: 1 is a letter of the first
sequence, 2 of the second, 4 of the third, and sums of these."""
STEPS = {t: (t & 1, t >> 1 & 1, t >> 2) for t in MOVES}
"""How far a column goes in i, j and k."""
NEIGHBOURS = {t: [s for s in range(1, 7) if (s ^ t) in (1, 2, 4)] for t in range(1, 7)}
"""The columns with gaps that differ from such a column in one sequence."""
MINUS_INFINITY = -(2**30)
"""Below every score, and so far from the end of int32 that one column cannot reach it; no more
than one is ever added, since the next cell may follow an empty alignment instead."""

_Cell = tuple[int, int, int]


class Tables(NamedTuple):
    """H and D of cells, whole tables or one plane of them.

    Parameters
    ----------
    h : ndarray of int32
        The best score of alignments that end in a cell, or 0.
    gaps : ndarray of int32, shape (7, shape of h) or, with linear gaps, (0, shape of h)
        ``gaps[t]``: the best score of those whose last column is t, one with gaps.
    """

    h: Int32
    gaps: Int32


class Reference3(Engine3):
    """Compute every cell by its definition, see `planes`: the oracle for the others.

    Scores need memory for a few planes; tables, paths and disjoint alignments for the whole table:
    4 bytes per cell with linear gaps, 32 with affine gaps.

    Examples
    --------
    >>> scoring = Scoring3.identity()
    >>> words = [scoring.alphabet.encode(word) for word in ("TACGTT", "ACCGT", "GACGA")]
    >>> paths = Reference3(scoring).paths(Batch.of([words]))
    >>> paths.ends.score.tolist(), paths.ends.end.tolist(), paths.moves(0).tolist()
    ([2], [[3, 2, 3]], [7, 7])
    """

    name = "reference"
    capabilities = Capabilities(tasks=("score", "ends", "alignment"))

    def best(self, triples: Batch, progress: Progress) -> BestCells:
        """Return the best cell of each triple, see `Engine3.best`."""
        found = np.zeros((len(triples), 4), np.int32)
        for t in range(len(triples)):
            found[t] = best_cell(*_words(triples, t), self.scoring)
            progress(_cells(triples, t))
        return BestCells(found[:, 0], found[:, 1:])

    def tables_of(self, triples: Batch, progress: Progress) -> Iterator[Int32]:
        """Yield H of each triple, see `Engine3.tables`."""
        for t in range(len(triples)):
            h = fill(*_words(triples, t), self.scoring).h
            progress(_cells(triples, t))
            yield h[1:, 1:, 1:] - self.scoring.score_offset(triples.lengths[t])

    def paths_of(self, triples: Batch, progress: Progress) -> Paths:
        """Return the best alignment of each triple, see `Engine3.paths`."""
        found = []
        for t in range(len(triples)):
            words = _words(triples, t)
            found.append(trace(*words, self.scoring, fill(*words, self.scoring)))
            progress(_cells(triples, t))
        return _paths(found)

    def disjoint_of(self, triples: Batch, progress: Progress) -> Iterator[tuple[int, Paths]]:
        """Yield local alignments of each triple, one triple after the other.

        See `Engine3.disjoint`. The whole table is filled anew for each.
        """
        for t in range(len(triples)):
            words = _words(triples, t)
            forbidden = np.zeros([len(word) + 1 for word in words], np.bool_)
            while True:
                tables = fill(*words, self.scoring, forbidden)
                progress(_cells(triples, t))
                score, end, moves = trace(*words, self.scoring, tables, forbidden)
                if score == 0:
                    break
                yield t, _paths([(score, end, moves)])
                forbidden[tuple(ends_of_columns(end, moves).T)] = True


def planes(
    a: Codes, b: Codes, c: Codes, scoring: Scoring3, forbidden: Bool | None = None
) -> Iterator[Tables]:
    """Yield the planes i + j + k = 0, 1, ... of the tables (Sudo et al. 2012, eq. 2).

    A column t that ends in a cell comes from the cell p before it, by a step in each sequence that
    has a letter in it. With ``opens``, ``extends`` and ``mixed`` of `Scoring3.costs`::

        D_t = score(t) + max(H(p) - opens, D_t(p) - extends, D_s(p) - mixed)   t with gaps
        H = max(least, H(p) + score(7), D_1, ..., D_6)

    where s are the `NEIGHBOURS` of t, and ``least`` is 0 unless an alignment that is not local
    begins there: H of such tables is higher by `Scoring3.score_offset`, and so above 0. With linear
    gaps ``H(p) - opens`` is the only term. What is outside the table is minus infinity; so are, in
    cells that are forbidden, the columns of two and three letters.

    Parameters
    ----------
    a, b, c : ndarray of uint8, shapes (l,), (m,), (n,)
    scoring : Scoring3
    forbidden : ndarray of bool, shape (l + 1, m + 1, n + 1), optional

    Yields
    ------
    Tables
        Of plane d, arrays of shape (l + 1, m + 1): entry (i, j) is that of the cell
        (i, j, d - i - j), minus infinity if there is none.
    """
    i_last, j_last, k_last = len(a), len(b), len(c)
    x, y, z = _padded(a)[:, None], _padded(b)[None, :], _padded(c)
    # A row and a column of nothing before the first ones, for the steps out of the table.
    shape = i_last + 2, j_last + 2
    nothing = Tables(
        np.full(shape, MINUS_INFINITY, np.int32),
        np.full((0 if scoring.linear else 7, *shape), MINUS_INFINITY, np.int32),
    )
    earlier = [nothing, nothing, nothing]
    origin = scoring.score_offset(np.array([i_last, j_last, k_last]))
    for d in range(i_last + j_last + k_last + 1):
        # A box around the cells of the plane.
        rows = slice(max(0, d - j_last - k_last), min(i_last, d) + 1)
        first = max(0, d - k_last - rows.stop + 1)
        columns = slice(first, min(j_last, d - rows.start) + 1)
        i, j = np.ogrid[rows, columns]
        k = d - i - j
        outside = (k < 0) | (k > k_last)
        k = k.clip(0, k_last)
        here = Tables(nothing.h.copy(), nothing.gaps.copy())
        h = np.where(_at(scoring, i == 0, j == 0, k == 0), np.int32(origin), np.int32(0))
        score = column_scores(x[rows], y[:, columns], z[k], scoring)
        closed = None if forbidden is None else forbidden[i, j, k]
        for t, (da, db, dc) in STEPS.items():
            before = earlier[da + db + dc - 1]
            p = _moved(rows, 1 - da), _moved(columns, 1 - db)
            value = (before.h[p] if t == 7 else entered(before, t, p, scoring)) + score[t]
            if closed is not None and t in (3, 5, 6, 7):
                value[closed] = MINUS_INFINITY
            np.maximum(h, value, out=h)
            if t != 7 and not scoring.linear:
                value[outside] = MINUS_INFINITY
                here.gaps[t, 1:, 1:][rows, columns] = value
        h[outside] = MINUS_INFINITY
        here.h[1:, 1:][rows, columns] = h
        earlier = [here, *earlier[:2]]
        yield Tables(here.h[1:, 1:], here.gaps[:, 1:, 1:])


def entered(tables: Tables, t: int, p: Any, scoring: Scoring3) -> Any:
    """Return the best score before a column t with gaps, less its cost, at an index or slices p."""
    costs = scoring.costs
    best = tables.h[p] - np.int32(costs.opens)
    if scoring.linear:
        return best
    best = np.maximum(best, tables.gaps[t][p] - np.int32(costs.extends))
    if scoring.scheme == "sum-of-pairs":
        for s in NEIGHBOURS[t]:
            best = np.maximum(best, tables.gaps[s][p] - np.int32(costs.mixed))
    return best


def column_scores(x: Any, y: Any, z: Any, scoring: Scoring3) -> dict[int, Any]:
    """Return the score of each kind of column, costs of gaps apart, where these letters are next.

    ``x``, ``y`` and ``z`` are codes of the first, second and third sequence, arrays or not, whose
    shapes fit together.
    """
    matrix = scoring.pairs.matrix
    if scoring.scheme == "sum-of-pairs":
        pairs = {3: matrix[x, y], 5: matrix[x, z], 6: matrix[y, z]}
        return {
            **dict.fromkeys((1, 2, 4), -scoring.gap_gap),
            **pairs,
            7: pairs[3] + pairs[5] + pairs[6],
        }
    kinds = scoring.pairs.match_and_mismatch
    assert kinds is not None
    match, mismatch, matching = kinds
    equal = (x == y) & (y == z) & (x < matching)
    return {**dict.fromkeys(range(1, 7), 0), 7: np.where(equal, match, mismatch).astype(np.int32)}


def fill(a: Codes, b: Codes, c: Codes, scoring: Scoring3, forbidden: Bool | None = None) -> Tables:
    """Return the whole tables H, shape (l + 1, m + 1, n + 1), and D; see `planes`.

    All of them are in memory: 4 bytes a cell with linear gaps, 32 with affine ones.

    >>> scoring = Scoring3.identity()
    >>> a, b, c = map(scoring.alphabet.encode, ("ACA", "AC", "CAC"))
    >>> fill(a, b, c, scoring).h[1:, 1:, 1:].tolist()
    [[[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [1, 0, 2]], [[0, 1, 0], [0, 0, 1]]]
    """
    shape = len(a) + 1, len(b) + 1, len(c) + 1
    whole = Tables(
        np.zeros(shape, np.int32), np.zeros((0 if scoring.linear else 7, *shape), np.int32)
    )
    for d, plane in enumerate(planes(a, b, c, scoring, forbidden)):
        i, j = np.nonzero(plane.h >= 0)
        k = d - i - j
        whole.h[i, j, k] = plane.h[i, j]
        whole.gaps[:, i, j, k] = plane.gaps[:, i, j]
    return whole


def best_cell(a: Codes, b: Codes, c: Codes, scoring: Scoring3) -> tuple[int, int, int, int]:
    """Return score, i, j and k of the best cell: with the smallest i + j + k, then i, then j."""
    best = 0, 0, 0, 0
    rows, columns = np.ogrid[: len(a) + 1, : len(b) + 1]
    for d, plane in enumerate(planes(a, b, c, scoring)):
        last = rows == len(a), columns == len(b), d - rows - columns == len(c)
        h = np.where(_at(scoring, *last), plane.h, MINUS_INFINITY)
        i, j = map(int, np.unravel_index(h.argmax(), h.shape))
        if h[i, j] > best[0]:
            best = int(h[i, j]), i, j, d - i - j
    return best[0] - scoring.score_offset(np.array([len(a), len(b), len(c)])), *best[1:]


def _at(scoring: Scoring3, i: Bool, j: Bool, k: Bool) -> Bool:
    """Return where enough of the sequences have ended, or not begun, for an alignment to do so."""
    count = i.astype(np.int8) + j + k
    return count >= scoring.whole


def trace(
    a: Codes,
    b: Codes,
    c: Codes,
    scoring: Scoring3,
    tables: Tables,
    forbidden: Bool | None = None,
) -> tuple[int, _Cell, Codes]:
    """Return score, end and columns of the best alignment, by the rules of `Engine3`."""
    letters = _padded(a), _padded(b), _padded(c)
    shape = tables.h.shape
    grid = np.ogrid[: shape[0], : shape[1], : shape[2]]
    last = [at == size - 1 for at, size in zip(grid, shape, strict=True)]
    h = np.where(_at(scoring, *last), tables.h, MINUS_INFINITY)
    best = np.argwhere(h == h.max())
    i, j, k = best[np.lexsort((best[:, 1], best[:, 0], best.sum(axis=1)))[0]].tolist()
    end = i, j, k
    origin = scoring.score_offset(np.array(shape) - 1)
    score = int(tables.h[end]) - origin
    if score == 0 and scoring.local:
        return 0, (0, 0, 0), np.empty(0, np.uint8)
    cell, column, moves = end, 0, []
    while column or not _begins(scoring, cell, int(tables.h[cell]), origin):
        if not column:
            column = _last_column(letters, scoring, tables, cell, forbidden)
        moves.append(column)
        cell = _before(cell, column)
        column = _column_before(tables, column, cell, scoring)
    return score, end, np.array(moves[::-1], np.uint8)


def _begins(scoring: Scoring3, cell: _Cell, h: int, origin: int) -> bool:
    """Return whether the best alignment that ends in a cell has no column."""
    return h == origin and cell.count(0) >= scoring.whole


def _last_column(
    letters: tuple[Codes, Codes, Codes],
    scoring: Scoring3,
    tables: Tables,
    cell: _Cell,
    forbidden: Bool | None,
) -> int:
    """Return the first of the columns that give a cell its H."""
    x, y, z = (codes[at] for codes, at in zip(letters, cell, strict=True))
    scores = column_scores(x, y, z, scoring)
    closed = forbidden is not None and forbidden[cell]
    for t in MOVES:
        p = _before(cell, t)
        if min(p) < 0 or (closed and t in (3, 5, 6, 7)):
            continue
        value = tables.h[p] if t == 7 else entered(tables, t, p, scoring)
        if value + scores[t] == tables.h[cell]:
            return t
    raise AssertionError(f"no column gives cell {cell} its score")


def _column_before(tables: Tables, t: int, p: _Cell, scoring: Scoring3) -> int:
    """Return the column that must end in p for the column t after it, or 0 if any may."""
    if t == 7 or scoring.linear:
        return 0
    best, costs = entered(tables, t, p, scoring), scoring.costs
    if best == tables.h[p] - costs.opens:
        return 0
    if scoring.scheme == "sum-of-pairs":
        for s in NEIGHBOURS[t]:
            if best == tables.gaps[s][p] - costs.mixed:
                return s
    return t


def ends_of_columns(end: _Cell, moves: Codes) -> Int64:
    """Return the cells in which columns of two and three letters end, shape (count, 3)."""
    steps = np.array([STEPS[t] for t in moves.tolist()]).reshape(-1, 3)
    cells = np.array(end, np.int64) - steps.sum(axis=0) + np.cumsum(steps, axis=0)
    several: Int64 = cells[steps.sum(axis=1) > 1]
    return several


def _before(cell: _Cell, t: int) -> _Cell:
    (i, j, k), (da, db, dc) = cell, STEPS[t]
    return i - da, j - db, k - dc


def _moved(part: slice, by: int) -> slice:
    return slice(part.start + by, part.stop + by)


def _padded(codes: Codes) -> Codes:
    """Return codes that count from 1; what is at 0 is never used."""
    return np.concatenate([np.zeros(1, np.uint8), codes])


def _words(triples: Batch, t: int) -> tuple[Codes, Codes, Codes]:
    a, b, c = triples[t]
    return a, b, c


def _cells(triples: Batch, t: int) -> int:
    return int(triples.lengths[t].prod())


def _paths(found: list[tuple[int, _Cell, Codes]]) -> Paths:
    score = np.array([each[0] for each in found], np.int32)
    end = np.array([each[1] for each in found], np.int32).reshape(-1, 3)
    return Paths.of_moves(Ends(score, end), [each[2] for each in found])
