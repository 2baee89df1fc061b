"""Alignments of one pair on the host, in NumPy and linear memory: rows of tables, the walk back.

A row is computed at once: E as a running maximum over the row (the scan of Lin et al. 2015), the
rest by its definition. Several alignments may have the same score; `trace` gives one, always the
same. Going back from the end cell,

* in H: stop where H = 0, else take the pair of letters (diagonal) if it gives H, else F (up),
  else E (left);
* in a gap (E or F): close it if that gives its value, else extend it.

A global or semi-global alignment stops at row 0 or column 0; the residues left there, and those
behind the end cell, are opposite a gap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Mask
from glsw.alignment.paths import DIAGONAL, LEFT, UP, Runs
from glsw.scoring.gaps import GapCost, PositionalGaps
from glsw.scoring.scoring import Scoring

# Direction bits of a cell: where H comes from (SOURCE: STOP, or the move of a path) ...
STOP = 0
SOURCE = 3
# ... and whether the gap that leaves this cell in E (F) begins here, that is, returns to H.
E_CLOSES, F_CLOSES = 4, 8

_NO_CROSSING = -1
_MAX_PROFILE_BYTES = 2**29  # of the longer sequence as target

_Numbers = npt.NDArray[np.signedinteger]
_Bytes = npt.NDArray[np.uint8]


class PathNode(NamedTuple):
    """A place in the tables where a path is: a value of H, or of F, in a column."""

    column: int
    in_f: bool
    value: int


FREE_START = PathNode(0, False, 0)  # as first corner of a part: the path may begin anywhere


class TablePart(NamedTuple):
    """A part of the tables, computed on its own: rows 0..m, columns 0..n.

    Row 0 and column 0 have no aligned pairs. The path may begin anywhere, or at the node
    ``first`` in row 0, column 0. Values are those of the whole tables, and so
    no larger anywhere and equal on every path of the whole that lies in the part: what is preferred
    there is preferred here. Zero serves as negative infinity, because all of H, E and F
    are positive along a path.
    """

    profile: _Numbers | _RowsWhenAsked  # (letters, n): score of a letter with each of the target
    rows: npt.NDArray[np.intp]  # (m,): which letter each row has
    insertion: GapCost
    deletion: GapCost
    first: PathNode
    mask: Mask | None
    borders: GlobalBorders | None = None
    gaps: PositionalGaps | None = None  # by letter, as the profile

    @property
    def cells(self) -> int:
        """Cells, row 0 and column 0 included."""
        return (len(self.rows) + 1) * (int(self.profile.shape[1]) + 1)

    def above(self, row: int, column: int) -> TablePart:
        """Return the rows and columns up to these."""
        return self._part(slice(row), slice(column))

    def below(self, row: int, first: PathNode) -> TablePart:
        """Return the rows from this one on, where the path begins at a node."""
        borders = self.borders and self.borders.moved(row, first.column)
        part = self._part(slice(row, None), slice(first.column, None))
        return part._replace(first=first, borders=borders)

    def _part(self, rows: slice, columns: slice) -> TablePart:
        mask = None if self.mask is None else self.mask.part(rows, columns)
        return self._replace(profile=self.profile[:, columns], rows=self.rows[rows], mask=mask)


class _RowsWhenAsked:
    """The scores of the positions of profiles with each letter of a target, row by row.

    All rows together would take as much room as the table.
    """

    def __init__(self, scores: _Numbers, target: npt.NDArray[np.uint8]) -> None:
        self._scores, self._target, self.dtype = scores, target, scores.dtype
        self.shape = len(scores), len(target)

    @overload
    def __getitem__(self, key: int | np.intp) -> _Numbers: ...
    @overload
    def __getitem__(self, key: tuple[slice, slice]) -> _RowsWhenAsked: ...
    def __getitem__(self, key: int | np.intp | tuple[slice, slice]) -> _Numbers | _RowsWhenAsked:
        if isinstance(key, tuple):
            return _RowsWhenAsked(self._scores[key[0]], self._target[key[1]])
        row: _Numbers = self._scores[key].take(self._target)
        return row


class GlobalBorders(NamedTuple):
    """For global alignments: where in the whole table a part begins, and H at its borders."""

    above: _Numbers  # (n + 1,): H in row 0
    left: _Numbers  # (m + 1,): H in column 0
    row: int = 0
    column: int = 0

    def moved(self, row: int, column: int) -> GlobalBorders:
        """Return the borders as seen from a part that begins further on."""
        return self._replace(row=self.row + row, column=self.column + column)


def whole_table(
    query: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8], scoring: Scoring, mask: Mask | None
) -> TablePart:
    """Return the part that is the whole table."""
    letters, rows = np.unique(query, return_inverse=True)
    m, n = len(query), len(target)
    dtype = _number_type(scoring, m, n)
    scores = scoring.matrix[letters].astype(dtype)
    profile = _RowsWhenAsked(scores, target) if scoring.wide_queries else scores[:, target]
    borders = None
    if ends := scoring.ends_of(query):
        origin = scoring.score_offset(m, n)
        above, left = ends.above(np.arange(n + 1)), ends.left(np.arange(m + 1))
        borders = GlobalBorders((above + origin).astype(dtype), (left + origin).astype(dtype))
    costs, gaps = (scoring.insertion, scoring.deletion), scoring.gaps
    if gaps:
        gaps = gaps.at(letters)
        costs = gaps.most, gaps.most  # of row 0, on which no path goes on
    return TablePart(profile, rows, *costs, FREE_START, mask, borders, gaps)


class TableRow:
    """A row of H, E and F, from row 0 of a part downward, and what each cell comes from.

    ``aligned`` is H(i-1, j-1) + s(i, j) in the columns 1..n, 0 for a pair that the mask forbids.
    """

    def __init__(self, part: TablePart) -> None:
        columns, dtype = part.profile.shape[1] + 1, part.profile.dtype
        self._profile, self._insertion, self._deletion = part.profile, part.insertion, part.deletion
        self._letters, self._mask, self._borders = part.rows, part.mask, part.borders
        self._count, self._gaps = 0, part.gaps
        self.h, self.e, self.f, self._diagonal = np.zeros((4, columns), dtype)
        self.aligned = self._diagonal[1:]
        self._opened, self._closed, self._scan = np.zeros((3, columns), dtype)
        self._columns = np.arange(columns, dtype=dtype)
        self._decay()
        self._opened_left = np.empty(columns - 1, dtype)
        self.source, self._flag = np.zeros((2, columns), np.uint8)
        self.e_closes, self.f_closes = np.zeros((2, columns), bool)
        if part.first.in_f:
            self.f[0] = part.first.value
        self._closed[0] = part.first.value
        if self._borders and not self._borders.row:
            self._closed[:] = self._borders.above[self._borders.column :][:columns]
        self._finish()

    @property
    def _at_left_end(self) -> bool:
        """Whether column 0 is that of the whole table, of a global alignment."""
        return self._borders is not None and not self._borders.column

    def next(self) -> None:
        """Go to the next row."""
        i, self._count = self._count, self._count + 1
        np.add(self.h[:-1], self._profile[self._letters[i]], out=self.aligned)
        if self._gaps:
            opening, extension = (
                self._gaps.opens[self._letters[i]],
                self._gaps.extends[self._letters[i]],
            )
            self._insertion = self._deletion = GapCost(int(opening), int(extension))
            self._decay()
        if self._mask is not None:
            self.aligned[self._mask[i]] = 0
        np.subtract(self.h, self._insertion.open, out=self._opened)
        self.f -= self._insertion.extend
        np.maximum(self.f, self._opened, out=self.f)
        np.maximum(self._diagonal, self.f, out=self._closed)
        if self._borders and self._at_left_end:
            self._closed[0] = self._borders.left[self._borders.row + self._count]
        self._finish()

    def _decay(self) -> None:
        """Set what a gap along the row costs, by column."""
        self._ramp = self._deletion.extend * self._columns
        self._lag = self._ramp[1:] + (self._deletion.open - self._deletion.extend)

    def _finish(self) -> None:
        """Compute E and H from ``closed``, what H is without E.

        E(j) = max over k < j of closed(k) - gap_open - (j - 1 - k) gap_extend: to open a gap
        where another has just closed never beats extending that one.
        """
        np.maximum(self._closed, 0, out=self._scan)
        self._scan += self._ramp
        np.maximum.accumulate(self._scan, out=self._scan)
        np.subtract(self._scan[:-1], self._lag, out=self.e[1:])
        if self._borders and not self._borders.row and not self._count:
            self.e[:] = 0  # row 0 is what gaps at the left end score
        np.maximum(self._closed, self.e, out=self.h)
        np.maximum(self.h, 0, out=self.h)

    def decide(self) -> None:
        """Set ``source``, ``e_closes`` and ``f_closes`` of this row."""
        positive, flag = np.maximum(self.h, 1, out=self._scan), self._flag.view(bool)
        # Each of these holds if the one before does: counted, they give the first that holds.
        np.equal(self._diagonal, positive, out=self.source.view(bool))
        np.equal(self._closed, positive, out=flag)
        self.source += self._flag
        np.equal(self.h, positive, out=flag)
        self.source += self._flag
        if self._borders and not self._borders.row and not self._count:
            self.source[:] = STOP
        if self._at_left_end:
            self.source[0] = STOP
        np.subtract(self.h[:-1], self._deletion.open, out=self._opened_left)
        np.equal(self.e[1:], self._opened_left, out=self.e_closes[1:])
        np.equal(self.f, self._opened, out=self.f_closes)


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


def directions_of(part: TablePart, in_f: bool) -> tuple[_Bytes, int]:
    """Return the direction bits of all cells, and the value in the last."""
    row = TableRow(part)
    bits = np.empty((len(part.rows) + 1, len(row.h)), np.uint8)
    shifted = np.empty(len(row.h), np.uint8)
    for i in range(len(bits)):
        if i:
            row.next()
        row.decide()
        np.multiply(row.e_closes, np.uint8(E_CLOSES), out=bits[i])
        np.multiply(row.f_closes, np.uint8(F_CLOSES), out=shifted)
        bits[i] |= shifted
        bits[i] |= row.source
    return bits, int((row.f if in_f else row.h)[-1])


def crossing(part: TablePart, middle: int, in_f: bool) -> tuple[PathNode, int]:
    """Return the node where the path to the last cell leaves row ``middle``, and the last value.

    A path that begins further down has no such node: the answer is then ``FREE_START``.
    """
    row = TableRow(part)
    for _ in range(middle):
        row.next()
    h, f = row.h.copy(), row.f.copy()
    columns = np.arange(len(h))
    # A node of row ``middle`` is known by the number 2 * column + in_f.
    via_h, via_f, last_via_h = 2 * columns, 2 * columns + 1, np.empty_like(columns)
    anchor = np.zeros_like(columns)
    for _ in range(middle, len(part.rows)):
        row.next()
        row.decide()
        via_h, last_via_h = last_via_h, via_h
        np.copyto(via_f, last_via_h, where=row.f_closes)
        np.copyto(via_h, via_f)
        np.copyto(via_h[1:], last_via_h[:-1], where=row.source[1:] == DIAGONAL)
        np.copyto(via_h, _NO_CROSSING, where=row.source == STOP)
        # A gap along the row comes from the nearest cell to its left at which it closes.
        left = row.source == LEFT
        closes = row.e_closes[1:] & ~left[:-1]
        np.maximum.accumulate(np.multiply(columns[:-1], closes, out=anchor[1:]), out=anchor[1:])
        ends = np.flatnonzero(left)
        via_h[ends] = via_h[anchor[ends]]
    number = int((via_f if in_f else via_h)[-1])
    value = int((row.f if in_f else row.h)[-1])
    if number == _NO_CROSSING:
        return FREE_START, value
    column, in_f_there = divmod(number, 2)
    return PathNode(column, bool(in_f_there), int((f if in_f_there else h)[column])), value


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
        Bytes that the table of directions may take, one a cell. A larger table is cut at its
        middle row, again and again, until its parts fit: memory is then linear in ``target_end``,
        time about twice as long, and the alignment the same.

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

    Notes
    -----
    A row is computed at once: E as a running maximum over the row (the scan of Lin et al. 2015),
    the rest by its definition. The division is that of Myers and Miller (1988), but the middle row
    is not crossed at the best sum of two halves: it is crossed where the one path described above
    does so, which cells further down learn from the cell that they come from.

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
    table = whole_table(query[rows], target[columns], scoring, mask)
    moves, value = _path(table, False, memory)
    score = value - int(scoring.score_offset(query_end, target_end))
    return Runs.of_moves((query_end, target_end), np.frombuffer(moves, np.uint8)[::-1]), score


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


def walk(directions: npt.NDArray[np.uint8], *, in_f: bool = False) -> bytes:
    """Follow direction bits from the last cell, and return the moves, the last one first.

    Parameters
    ----------
    directions : ndarray of uint8, shape (m + 1, n + 1), C order
        The bits of every cell, row 0 and column 0 included.
    in_f : bool
        Whether the path ends inside a gap along the column, rather than in H.

    Returns
    -------
    bytes
        DIAGONAL, UP (a letter of the query opposite a gap) and LEFT (one of the target).
    """
    m, n = directions.shape[0] - 1, directions.shape[1] - 1
    cells = directions.reshape(-1).data
    moves = bytearray()
    at, gap = m * (n + 1) + n, UP if in_f else STOP
    while at:
        cell = cells[at]
        if gap == UP:
            moves.append(UP)
            gap = STOP if cell & F_CLOSES else UP
            at -= n + 1
        elif gap == LEFT:
            moves.append(LEFT)
            gap = STOP if cell & E_CLOSES else LEFT
            at -= 1
        elif cell & SOURCE == DIAGONAL:
            moves.append(DIAGONAL)
            at -= n + 2
        elif cell & SOURCE == STOP:
            break
        else:
            gap = cell & SOURCE
    return bytes(moves)


def _path(part: TablePart, in_f: bool, memory: int) -> tuple[bytes, int]:
    """Return the moves to the last cell of a part, last move first, and the value there."""
    if len(part.rows) < 2 or part.cells <= memory:
        directions, value = directions_of(part, in_f)
        return walk(directions, in_f=in_f), value
    middle = len(part.rows) // 2
    node, value = crossing(part, middle, in_f)
    moves, _ = _path(part.below(middle, node), in_f, memory)
    if node.value:
        moves += _path(part.above(middle, node.column), node.in_f, memory)[0]
    return moves, value
