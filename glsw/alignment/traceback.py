"""Alignments of one pair on the host: H, E and F by rows in linear memory, and the traceback.

A row is computed at once: E as a running maximum over the row (the scan of Lin et al. 2015), the
rest by its definition. Several alignments may have the same score; there is one way back, always
the same, and `PathBack` follows it. Going back from the end cell,

* in H: stop where H = 0, else take the pair of letters (diagonal) if it gives H, else F (up),
  else E (left);
* in a gap (E or F): close it if that gives its value, else extend it.

A global or semi-global alignment stops at row 0 or column 0; the residues left there, and those
behind the end cell, are opposite a gap. H alone says all: F of a cell is the best of the cells
above it minus the cost of the gap between, and of the gaps that give H the shortest is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Mask
from glsw.alignment.paths import DIAGONAL, LEFT, UP, Runs
from glsw.scoring.gaps import EndGaps, GapCost, PositionalEndGaps, PositionalGaps
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import offsets_of

_MAX_PROFILE_BYTES = 2**29  # of the longer sequence as target

_Numbers = npt.NDArray[np.signedinteger]


class Borders(NamedTuple):
    """H in row 0 and in column 0 of a global or semi-global table.

    Parameters
    ----------
    above, left : ndarray of int, shapes (n + 1,), (m + 1,)
    """

    above: _Numbers
    left: _Numbers

    @classmethod
    def of(cls, ends: EndGaps | PositionalEndGaps, m: int, n: int) -> Borders:
        """Return the borders of a table of m rows and n columns."""
        return cls(ends.above(np.arange(n + 1)), ends.left(np.arange(m + 1)))

    def end(self, table: _Numbers, ends: EndGaps) -> tuple[int, int, int]:
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


class Table(NamedTuple):
    """What the tables of a pair are computed from, rows 0..m and columns 0..n.

    Row 0 and column 0 have no aligned pairs. Zero serves as negative infinity, because all of H, E
    and F are positive along a path: from end to end they are higher by `Scoring.score_offset`.
    """

    scores: _Numbers  # (letters, A), or (letters, N, A): of N pairs, each with its own
    rows: npt.NDArray[np.intp]  # (m,): which letter each row has
    target: npt.NDArray[np.integer]  # (n,), or (N, n)
    insertion: GapCost
    deletion: GapCost
    mask: Mask | None
    borders: Borders | None
    gaps: PositionalGaps | None  # by letter, as the scores
    wide: bool  # so many letters that their scores with all of a target are not kept


def whole_table(
    query: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8], scoring: Scoring, mask: Mask | None
) -> Table:
    """Return what the tables of a pair are computed from."""
    letters, rows = np.unique(query, return_inverse=True)
    m, n = len(query), len(target)
    dtype = _number_type(scoring, m, n)
    scores = scoring.matrix[letters].astype(dtype)
    borders = None
    if ends := scoring.ends_of(query):
        origin = scoring.score_offset(m, n)
        borders = Borders(*((each + origin).astype(dtype) for each in Borders.of(ends, m, n)))
    costs, gaps = (scoring.insertion, scoring.deletion), scoring.gaps
    if gaps:
        gaps = gaps.at(letters)
        costs = gaps.most, gaps.most  # of row 0, on which no path goes on
    return Table(scores, rows, target, *costs, mask, borders, gaps, scoring.wide_queries)


class SavedRow(NamedTuple):
    """Row i of the tables, from which the rows below it follow."""

    i: int
    h: _Numbers
    f: _Numbers


class TableRow:
    """A row of H, E and F, first row 0 or one that was saved, then one after the other below it.

    Of the columns only the first ``columns + 1`` are computed. ``aligned`` is H(i-1, j-1) + s(i, j)
    in the columns 1..n, 0 for a pair that the mask forbids. Those of several pairs have the shape
    (N, n + 1), and are of local alignments without a mask.
    """

    def __init__(
        self, table: Table, saved: SavedRow | None = None, columns: int | None = None
    ) -> None:
        scores, target = table.scores, table.target[..., :columns]
        (*pairs, count), dtype = target.shape, scores.dtype
        self._of_letter: Callable[[Any], _Numbers] = (
            (lambda letter: _profile(scores[letter], target))
            if table.wide
            else _profile(scores, target).__getitem__
        )
        self._mask = table.mask and table.mask.part(slice(None), slice(count))
        self._insertion, self._deletion = table.insertion, table.deletion
        self._letters, self._borders, self._gaps = table.rows, table.borders, table.gaps
        self.i = 0
        self.h, self.e, self.f, self._diagonal = np.zeros((4, *pairs, count + 1), dtype)
        self.aligned = self._diagonal[..., 1:]
        self._opened, self._closed, self._scan = np.zeros((3, *pairs, count + 1), dtype)
        self._columns = np.arange(count + 1, dtype=dtype)
        self._decay()
        if saved:
            self.i, self.h[:], self.f[:] = saved.i, saved.h[: count + 1], saved.f[: count + 1]
        elif self._borders:
            self.h[:] = self._borders.above[: count + 1]

    def saved(self) -> SavedRow:
        """Return this row."""
        return SavedRow(self.i, self.h.copy(), self.f.copy())

    def next(self) -> None:
        """Go to the next row."""
        i, self.i, letter = self.i, self.i + 1, self._letters[self.i]
        np.add(self.h[..., :-1], self._of_letter(letter), out=self.aligned)
        if self._gaps:
            costs = self._gaps.opens[letter], self._gaps.extends[letter]
            self._insertion = self._deletion = GapCost(*map(int, costs))
            self._decay()
        if self._mask is not None:
            self.aligned[self._mask[i]] = 0
        np.subtract(self.h, self._insertion.open, out=self._opened)
        self.f -= self._insertion.extend
        np.maximum(self.f, self._opened, out=self.f)
        np.maximum(self._diagonal, self.f, out=self._closed)
        if self._borders:
            self._closed[0] = self._borders.left[self.i]
        # E(j) = max over k < j of closed(k) - gap_open - (j - 1 - k) gap_extend: to open a gap
        # where another has just closed never beats extending that one.
        np.maximum(self._closed, 0, out=self._scan)
        self._scan += self._ramp
        np.maximum.accumulate(self._scan, axis=-1, out=self._scan)
        np.subtract(self._scan[..., :-1], self._lag, out=self.e[..., 1:])
        np.maximum(self._closed, self.e, out=self.h)
        np.maximum(self.h, 0, out=self.h)

    def _decay(self) -> None:
        """Set what a gap along the row costs, by column."""
        self._ramp = self._deletion.extend * self._columns
        self._lag = self._ramp[1:] + (self._deletion.open - self._deletion.extend)


def _profile(scores: _Numbers, target: npt.NDArray[np.integer]) -> _Numbers:
    """Return the scores of letters with each of a target."""
    if target.ndim == 1:
        return scores.take(target, axis=-1)
    return np.take_along_axis(scores, target if scores.ndim == 2 else target[np.newaxis], -1)


def best_end(
    query: npt.NDArray[np.uint8],
    target: npt.NDArray[np.uint8],
    scoring: Scoring,
    mask: Mask | None = None,
) -> tuple[int, int, int]:
    """Return the best score, and the query_end and target_end of its alignment.

    The end is the conventional one, see `glsw.engines.Engine.ends`; all three are 0 if no
    alignment scores more than 0. Parameters as in
    `glsw.alignment.traceback.trace`; memory is linear in ``len(target)``.

    Examples
    --------
    >>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
    >>> encode = scoring.alphabet.encode
    >>> best_end(encode("ATCTCGTATGAT"), encode("GTCTATCAC"), scoring)
    (10, 11, 8)
    """
    # The fewer rows, the faster.
    swapped = mask is None and scoring.local and _is_better_swapped(query, target, scoring)
    if swapped:
        query, target, scoring = target, query, _swapped(scoring)
    row = TableRow(whole_table(query, target, scoring, mask))
    best = 0, 0, 0
    for i in range(1, len(query) + 1 if len(target) else 0):
        row.next()
        top = int(row.aligned.max())
        if top >= max(1, best[0]):
            j = len(target) - int(row.aligned[::-1].argmax())
            best = max(best, (top, i + j, i if swapped else -i))
    score, diagonal, i = best
    return (score, diagonal - i, i) if swapped else (score, -i, diagonal + i)


def _is_better_swapped(
    query: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8], scoring: Scoring
) -> bool:
    letters = min(len(target), len(scoring.alphabet))
    fits = len(query) * letters * np.dtype(np.int64).itemsize <= _MAX_PROFILE_BYTES
    return len(target) < len(query) and fits and not scoring.wide_queries


def _swapped(scoring: Scoring) -> Scoring:
    """Return a local scoring with the roles of query and target exchanged."""
    deletion, insertion = scoring.deletion, scoring.insertion
    return replace(
        scoring,
        matrix=scoring.matrix.T,
        gap_open=insertion.open,
        gap_extend=insertion.extend,
        insertion_open=deletion.open,
        insertion_extend=deletion.extend,
    )


def _number_type(scoring: Scoring, m: int, n: int) -> npt.DTypeLike:
    """Return int32 if no number of a table of this size can leave it, else int64."""
    gaps = scoring.gaps
    deletion, insertion = (gaps.most,) * 2 if gaps else (scoring.deletion, scoring.insertion)
    costs = (n + 1) * deletion.extend + deletion.open + insertion.open
    largest = int(scoring.score_offset(m, n)) + scoring.bound(m, n) + costs
    return np.int32 if largest - min(0, scoring.minimum) < 2**31 else np.int64


def trace(
    query: npt.NDArray[np.uint8],
    target: npt.NDArray[np.uint8],
    scoring: Scoring,
    query_end: int,
    target_end: int,
    *,
    mask: Mask | None = None,
    memory: int = 64 * 2**20,
) -> tuple[Runs, int]:
    """Return the alignment that ends at a cell, and its score.

    Parameters
    ----------
    query : ndarray of uint8, shape (m,)
        Codes of the rows.
    target : ndarray of uint8, shape (n,)
        Codes of the columns.
    scoring : Scoring
    query_end, target_end : int
        Residues up to and including the last aligned pair, as engines return them.
    mask : Mask, optional
        Pairs that are not aligned.
    memory : int
        Bytes that a table of H may take. Of a larger one some rows are kept, from which parts that
        fit are computed again, from the last to the first: memory is then linear in
        ``target_end``, time at most about twice as long, and the alignment the same.

    Returns
    -------
    runs : Runs
        The columns of the alignment, none if nothing is aligned.
    score : int
        H(query_end, target_end), in integer units of the scoring.

    Raises
    ------
    ValueError
        If the end is outside the sequences.

    Examples
    --------
    >>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
    >>> encode = scoring.alphabet.encode
    >>> query, target = encode("ATCTCGTATGAT"), encode("GTCTATCAC")  # Liu et al. 2006, figure 2
    >>> runs, score = trace(query, target, scoring, 11, 8)
    >>> runs.coordinates().tolist(), score
    ([[1, 3, 3, 8], [3, 5, 6, 11]], 10)
    """
    for word, end, codes in (("query", query_end, query), ("target", target_end, target)):
        if not 0 <= end <= len(codes):
            raise ValueError(f"{word}_end must be between 0 and {len(codes)}, got {end}")
    rows = slice(max(0, query_end - _reach(scoring, scoring.insertion, target_end)), query_end)
    columns = slice(max(0, target_end - _reach(scoring, scoring.deletion, query_end)), target_end)
    if mask is not None:
        mask = mask.part(rows, columns)
    query, target = query[rows], target[columns]
    table = whole_table(query, target, scoring, mask)
    way = PathBack(
        (np.ascontiguousarray(query).data, np.ascontiguousarray(target).data),
        _Scores(scoring.matrix),
        (table.insertion, table.deletion),
        (len(query), len(target)),
        gaps=table.gaps and table.gaps.at(table.rows),
        mask=mask,
        from_end_to_end=table.borders is not None,
    )
    value = _follow(way, table, TableRow(table).saved(), len(query), memory)
    score = value - int(scoring.score_offset(query_end, target_end))
    found = np.array(way.runs[::-1], np.int64)
    ends, moves = np.array([[query_end, target_end]]), (found & DIAGONAL).astype(np.uint8)
    return Runs.ending(ends, moves, found >> 2, offsets_of([len(found)])), score


class _Scores(dict[int, list[int]]):
    """The scores of each code of a query, as lists."""

    def __init__(self, matrix: npt.NDArray[np.integer]) -> None:
        super().__init__()
        self._matrix = matrix

    def __missing__(self, code: int) -> list[int]:
        row: list[int] = self._matrix[code].tolist()
        self[code] = row
        return row


def _reach(scoring: Scoring, gap: GapCost, letters: int) -> int:
    """Return the most letters that an alignment with ``letters`` of the other sequence can have.

    A local alignment scores more than 0: its gaps cost less than its pairs can score.

    >>> scoring = Scoring.match_mismatch(2, -1, 5, 2)
    >>> [_reach(scoring, scoring.insertion, letters) for letters in (1, 2, 3, 10)]
    [1, 2, 4, 18]
    """
    gain = max(0, scoring.maximum) * letters - 1
    if not scoring.local or gap.extend == 0:
        return 2**62
    return letters + (0 if gain < gap.open else (gain - gap.open) // gap.extend + 1)


def _follow(way: PathBack, table: Table, first: SavedRow, last: int, memory: int) -> int:
    """Follow a path from row ``last`` up to the first one; return H of the cell where it is."""
    row, count = TableRow(table, first, way.j), last - first.i
    size = row.h.nbytes
    if count < 2 or count * size <= memory:
        cells = np.empty((count, len(row.h) - 1), row.h.dtype)
        for each in cells:
            row.next()
            each[:] = row.h[1:]
        left = table.borders.left if table.borders else np.zeros(last + 1, row.h.dtype)
        way.go(cells, first.i, Borders(first.h, left[first.i :]), first.f)
        return int(row.h[-1])
    parts = max(2, min(count * size // max(1, memory) + 1, memory // (2 * size)))
    saved, step = [first], -(-count // parts)
    while row.i + step < last:
        for _ in range(step):
            row.next()
        saved.append(row.saved())
    value = _follow(way, table, saved.pop(), last, memory)
    while saved and not way.ended:
        _follow(way, table, saved.pop(), way.i, memory)
    return value


class PathBack:
    """The traceback of one alignment through tables of H, from its last row to its first.

    Parameters
    ----------
    pair : tuple of sequence of int
        The codes of the query and the target.
    scores : mapping or sequence
        ``scores[code][other]``: the score of each code of the query with each of the target.
    costs : tuple of GapCost
        Of insertions and of deletions.
    end : tuple of int
        Rows and columns up to the cell in which the path ends.
    highest : int
        No H of a local table is higher, so that no gap costs more than the rest.
    gaps : PositionalGaps, optional
        The costs of gaps in each row, in place of ``costs``.
    mask : Mask, optional
    from_end_to_end : bool
        Whether the path begins in row 0 or column 0, not where H is 0.

    Examples
    --------
    >>> scores = [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]]
    >>> costs = GapCost(1, 1), GapCost(1, 1)
    >>> way = PathBack((bytes([0, 1, 2]), bytes([1, 2])), scores, costs, (3, 2))
    >>> way.go(np.array([[0, 0], [2, 1], [1, 4]], np.int32))
    >>> way.i, way.j, way.runs == [2 << 2 | DIAGONAL], way.ended
    (1, 0, True, True)
    """

    def __init__(
        self,
        pair: tuple[Sequence[int], Sequence[int]],
        scores: Mapping[int, Sequence[int]] | Sequence[Sequence[int]],
        costs: tuple[GapCost, GapCost],
        end: tuple[int, int],
        *,
        highest: int = 2**62,
        gaps: PositionalGaps | None = None,
        mask: Mask | None = None,
        from_end_to_end: bool = False,
    ) -> None:
        self.i, self.j = end
        self.runs: list[int] = []
        """The runs so far, the last one first, see `glsw.alignment.paths.Paths`."""
        self.ended = False
        self._pair, self._scores, self._highest = pair, scores, highest
        self._whole, self._gaps = from_end_to_end, gaps
        self._insertion, self._deletion = insertion, deletion = costs
        # A gap opposite the rows from r + 1 to i costs opened[r] + extended[i - 1].
        steps = np.arange(max(end) + 1)
        self._extended = np.cumsum(gaps.extends) if gaps else insertion.extend * steps[1:]
        self._opened = (gaps.opens if gaps else insertion.open) - self._extended
        self._more = steps[: self.j][::-1]
        self._of_columns = deletion.open + deletion.extend * self._more
        self._forbidden = set[tuple[int, int]]()
        if mask is not None:
            self._forbidden.update(zip(mask.rows.tolist(), mask.columns.tolist(), strict=True))
        self._value = 0  # H where the path is, or F in a gap that begins further up
        self._in_f = False

    def go(
        self,
        cells: _Numbers,
        top: int = 0,
        borders: Borders | None = None,
        f: _Numbers | None = None,
    ) -> None:
        """Follow the path up to row ``top``, or to where it begins.

        Parameters
        ----------
        cells : ndarray of int, shape (rows, columns), C order
            H of the rows below ``top``, down to where the path is, and of the columns from 1 on.
        top : int
        borders : Borders, optional
            H in row ``top`` and, from there on, in column 0; all 0 by default.
        f : ndarray of int, shape (columns + 1,), optional
            F in row ``top``.
        """
        self._cells, self._flat, self._top, self._borders = cells, cells.reshape(-1), top, borders
        if not self._in_f:
            self._value = self._h(self.i, self.j)
        goes_on = bool(self.i and self.j and (self._in_f or self._value or self._whole))
        while goes_on and self.i > top:
            if self._in_f or self._pairs():
                if step := self._up():
                    self._move(UP, step)
                elif top and f is not None and f[self.j] == self._value + self._sum(top):
                    self._move(UP, self.i - top)
                    self._value, self._in_f = int(f[self.j]), True
                else:
                    self._move(LEFT, self._left())
            goes_on = bool(self.i and self.j and (self._value or self._whole))
        self.ended = not goes_on

    def _sum(self, top: int) -> int:
        """Return the cost to extend a gap from row ``top`` to this one."""
        return int(self._extended[self.i - 1] - self._extended[top - 1])

    def _h(self, i: int, j: int) -> int:
        """Return H of a cell."""
        i -= self._top
        if i and j:
            return int(self._cells[i - 1, j - 1])
        if self._borders is None:
            return 0
        return int(self._borders.left[i] if i else self._borders.above[j])

    def _move(self, move: int, step: int) -> None:
        self.runs.append(step << 2 | move)
        self.i, self.j = self.i - step * (move >> 1), self.j - step * (move & 1)
        self._value, self._in_f = self._h(self.i, self.j), False

    def _pairs(self) -> bool:
        """Follow pairs of letters while they give H; tell whether a gap does where they end."""
        i, j, value, whole, step = self.i, self.j, self._value, self._whole, 0
        n, scores, forbidden = self._cells.shape[1], self._scores, self._forbidden
        last, most = (i - self._top - 1) * n + j - 1, min(i - self._top, j)
        letters = zip(reversed(self._pair[0][:i]), reversed(self._pair[1][:j]), strict=False)
        corner = self._h(i - most, j - most)
        before = self._flat[last - n - 1 :: -n - 1][: most - 1].data if most > 1 else ()
        for (row, column), h in zip(letters, chain(before, (corner,)), strict=False):
            if h + scores[row][column] != value:
                break
            if forbidden and (i - 1 - step, j - 1 - step) in forbidden:
                break
            value, step = h, step + 1
            if not (value or whole):
                break
        if step:
            self.runs.append(step << 2 | DIAGONAL)
            self.i, self.j, self._value = i - step, j - step, value
        return step < most and bool(value or whole)

    def _up(self) -> int:
        """Return the length of the shortest gap to a cell above it, 0 if there is none."""
        i, value, rows = self.i, self._value, self.i - self._top
        extended = int(self._extended[i - 1])
        near = self._cells[max(0, rows - 1 - self._longest(self._insertion)) : rows - 1, self.j - 1]
        fits = (near == self._opened[i - len(near) : i] + (value + extended)).nonzero()[0]
        if len(fits):
            return len(near) - int(fits[-1])
        found = (
            self._borders
            and self._borders.above[self.j] - self._opened[self._top] - extended == value
        )
        return rows if found else 0

    def _left(self) -> int:
        """Return the length of the shortest gap to a cell on the left."""
        j = self.j
        near = self._cells[
            self.i - self._top - 1, max(0, j - 1 - self._longest(self._deletion)) : j - 1
        ]
        costs = self._of_columns
        if self._gaps:
            costs = self._gaps.opens[self.i - 1] + self._gaps.extends[self.i - 1] * self._more
        fits = (near == costs[len(costs) - len(near) :] + self._value).nonzero()[0]
        return len(near) - int(fits[-1]) if len(fits) else j

    def _longest(self, cost: GapCost) -> int:
        """Return how long a gap is at most that costs no more than would be left."""
        room = self._highest - self._value - cost.open
        return max(0, 1 + room // cost.extend) if cost.extend and not self._whole else 2**62
