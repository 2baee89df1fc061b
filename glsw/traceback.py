"""From an end cell to the alignment: direction bits, the walk along them, and linear memory.

Where an engine takes no masks, the end cell of masked tables is found here too.

Several alignments may have the same score; this module gives one, always the same. Going back
from the end cell,

* in H: stop where H = 0, else take the pair of letters (diagonal) if it gives H, else F (up),
  else E (left);
* in a gap (E or F): close it if that gives its value, else extend it.

From end to end the walk stops at row 0 or column 0; what is left there, and behind the end cell, is
opposite a gap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.mask import Mask
from glsw.scoring.gaps import GapCost
from glsw.scoring.scoring import Scoring

# Direction bits of a cell, and the moves of a path: where H comes from ...
STOP, LEFT, UP, DIAGONAL = 0, 1, 2, 3
SOURCE = 3
# ... and whether the gap that leaves this cell in E (F) begins here, that is, returns to H.
E_CLOSES, F_CLOSES = 4, 8

_NO_CROSSING = -1

_Numbers = npt.NDArray[np.signedinteger]
_Bytes = npt.NDArray[np.uint8]


class _Node(NamedTuple):
    """A place in the tables where a path is: a value of H, or of F, in a column."""

    column: int
    in_f: bool
    value: int


_FREE = _Node(0, False, 0)  # as first corner of a box: the path may begin anywhere


def trace(
    query: npt.NDArray[np.uint8],
    target: npt.NDArray[np.uint8],
    scoring: Scoring,
    query_end: int,
    target_end: int,
    *,
    mask: Mask | None = None,
    memory: int = 64 * 2**20,
) -> tuple[npt.NDArray[np.int64], int]:
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
    coordinates : ndarray of int64, shape (2, K)
        Where the K - 1 runs of aligned pairs and gaps begin and end: row 0 in the target, row 1
        in the query, as in :class:`Bio.Align.Alignment`. K = 1 if nothing is aligned.
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
    >>> coordinates, score = trace(query, target, scoring, 11, 8)
    >>> coordinates.tolist(), score
    ([[1, 3, 3, 8], [3, 5, 6, 11]], 10)
    """
    for word, end, codes in (("query", query_end, query), ("target", target_end, target)):
        if not 0 <= end <= len(codes):
            raise ValueError(f"{word}_end must be between 0 and {len(codes)}, got {end}")
    rows = slice(max(0, query_end - _reach(scoring, scoring.insertion, target_end)), query_end)
    columns = slice(max(0, target_end - _reach(scoring, scoring.deletion, query_end)), target_end)
    if mask is not None:
        mask = mask.part(rows, columns)
    table = _table(query[rows], target[columns], scoring, mask)
    moves, value = _path(table, False, memory)
    score = value - int(scoring.score_offset(query_end, target_end))
    return _coordinates(moves, query_end, target_end), score


def _reach(scoring: Scoring, gap: GapCost, letters: int) -> int:
    """Return how many letters an alignment has at most that has so many of the other sequence.

    Locally it scores more than 0, so that gaps cost less than its pairs can score.

    >>> scoring = Scoring.match_mismatch(2, -1, 5, 2)
    >>> [_reach(scoring, scoring.insertion, letters) for letters in (1, 2, 3, 10)]
    [1, 2, 4, 18]
    """
    gain = max(0, scoring.maximum) * letters - 1
    if not scoring.local or gap.extend == 0:
        return 2**62
    return letters + (0 if gain < gap.open else (gain - gap.open) // gap.extend + 1)


def best_end(
    query: npt.NDArray[np.uint8],
    target: npt.NDArray[np.uint8],
    scoring: Scoring,
    mask: Mask | None = None,
) -> tuple[int, int, int]:
    """Return the best score, and the query_end and target_end of its alignment.

    The end is the conventional one, see `glsw.engines.Engine.ends`; all three are 0 if no
    alignment scores more than 0. Parameters as in `trace`; memory is linear in ``len(target)``.

    Examples
    --------
    >>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
    >>> encode = scoring.alphabet.encode
    >>> best_end(encode("ATCTCGTATGAT"), encode("GTCTATCAC"), scoring)
    (10, 11, 8)
    """
    row = _Row(_table(query, target, scoring, mask))
    best = 0, 0, 0
    for i in range(1, len(query) + 1 if len(target) else 0):
        row.next()
        top = int(row.aligned.max())
        if top >= max(1, best[0]):
            j = len(target) - int(row.aligned[::-1].argmax())
            best = max(best, (top, i + j, -i))
    score, diagonal, minus_i = best
    return score, -minus_i, diagonal + minus_i


def walk(directions: _Bytes, *, in_f: bool = False) -> bytes:
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


class _Box(NamedTuple):
    """A part of the tables, computed on its own: rows 0..m, columns 0..n.

    Row 0 and column 0 have no aligned pairs. The path may begin anywhere, or at the node
    ``first`` in row 0, column 0. Values are those of the whole tables, and so
    no larger anywhere and equal on every path of the whole that lies in the box: what is preferred
    there is preferred here. Zero serves as negative infinity, because all of H, E and F
    are positive along a path.
    """

    profile: _Numbers  # (letters, n): score of a letter of the query with each of the target
    rows: npt.NDArray[np.intp]  # (m,): which letter each row has
    insertion: GapCost
    deletion: GapCost
    first: _Node
    mask: Mask | None
    span: _Span | None = None

    @property
    def cells(self) -> int:
        return (len(self.rows) + 1) * (int(self.profile.shape[1]) + 1)

    def above(self, row: int, column: int) -> _Box:
        return self._part(slice(row), slice(column))

    def below(self, row: int, first: _Node) -> _Box:
        span = self.span and self.span.moved(row, first.column)
        part = self._part(slice(row, None), slice(first.column, None))
        return part._replace(first=first, span=span)

    def _part(self, rows: slice, columns: slice) -> _Box:
        mask = None if self.mask is None else self.mask.part(rows, columns)
        return self._replace(profile=self.profile[:, columns], rows=self.rows[rows], mask=mask)


class _Span(NamedTuple):
    """For alignments from end to end: where in the whole table a box begins, and H there."""

    above: _Numbers  # (n + 1,): H in row 0
    left: _Numbers  # (m + 1,): H in column 0
    row: int = 0
    column: int = 0

    def moved(self, row: int, column: int) -> _Span:
        return self._replace(row=self.row + row, column=self.column + column)


def _table(
    query: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8], scoring: Scoring, mask: Mask | None
) -> _Box:
    """Return the box that is the whole table."""
    letters, rows = np.unique(query, return_inverse=True)
    m, n = len(query), len(target)
    dtype = _number_type(scoring, m, n)
    profile = scoring.matrix[letters][:, target].astype(dtype)
    span = None
    if ends := scoring.end_gaps:
        origin = scoring.score_offset(m, n)
        above, left = ends.above(np.arange(n + 1)), ends.left(np.arange(m + 1))
        span = _Span((above + origin).astype(dtype), (left + origin).astype(dtype))
    return _Box(profile, rows, scoring.insertion, scoring.deletion, _FREE, mask, span)


class _Row:
    """A row of H, E and F, from row 0 of a box downward, and what each cell comes from.

    ``aligned`` is H(i-1, j-1) + s(i, j) in the columns 1..n, 0 for a pair that the mask forbids.
    """

    def __init__(self, box: _Box) -> None:
        columns, dtype = box.profile.shape[1] + 1, box.profile.dtype
        self._profile, self._insertion, self._deletion = box.profile, box.insertion, box.deletion
        self._letters, self._mask, self._count, self._span = box.rows, box.mask, 0, box.span
        self.h, self.e, self.f, self._diagonal = np.zeros((4, columns), dtype)
        self.aligned = self._diagonal[1:]
        self._opened_above, self._opened, self._closed, self._scan = np.zeros((4, columns), dtype)
        self._ramp = box.deletion.extend * np.arange(columns, dtype=dtype)
        self._lag = self._ramp[1:] + (box.deletion.open - box.deletion.extend)
        self._opened_left = np.empty(columns - 1, dtype)
        self.source, self._flag = np.zeros((2, columns), np.uint8)
        self.e_closes, self.f_closes = np.zeros((2, columns), bool)
        if box.first.in_f:
            self.f[0] = box.first.value
        self._closed[0] = box.first.value
        if self._span and not self._span.row:
            self._closed[:] = self._span.above[self._span.column :][:columns]
        self._finish()

    @property
    def _at_left_end(self) -> bool:
        """Whether column 0 is that of the whole table, from end to end."""
        return self._span is not None and not self._span.column

    def next(self) -> None:
        """Go to the next row."""
        i, self._count = self._count, self._count + 1
        np.add(self.h[:-1], self._profile[self._letters[i]], out=self.aligned)
        if self._mask is not None:
            self.aligned[self._mask[i]] = 0
        self.f -= self._insertion.extend
        np.maximum(self.f, self._opened, out=self.f)
        np.maximum(self._diagonal, self.f, out=self._closed)
        if self._span and self._at_left_end:
            self._closed[0] = self._span.left[self._span.row + self._count]
        self._finish()

    def _finish(self) -> None:
        """Compute E and H from ``closed``, what H is without E.

        E(j) = max over k < j of closed(k) - gap_open - (j - 1 - k) gap_extend: to open a gap
        where another has just closed never beats extending that one.
        """
        self._opened_above, self._opened = self._opened, self._opened_above
        np.maximum(self._closed, 0, out=self._scan)
        self._scan += self._ramp
        np.maximum.accumulate(self._scan, out=self._scan)
        np.subtract(self._scan[:-1], self._lag, out=self.e[1:])
        if self._span and not self._span.row and not self._count:
            self.e[:] = 0  # row 0 is what gaps at the left end score
        np.maximum(self._closed, self.e, out=self.h)
        np.maximum(self.h, 0, out=self.h)
        np.subtract(self.h, self._insertion.open, out=self._opened)

    def decide(self) -> None:
        """Set ``source``, ``e_closes`` and ``f_closes`` of this row."""
        positive, flag = np.maximum(self.h, 1, out=self._scan), self._flag.view(bool)
        # Each of these holds if the one before does: counted, they give the first that holds.
        np.equal(self._diagonal, positive, out=self.source.view(bool))
        np.equal(self._closed, positive, out=flag)
        self.source += self._flag
        np.equal(self.h, positive, out=flag)
        self.source += self._flag
        if self._span and not self._span.row and not self._count:
            self.source[:] = STOP
        if self._at_left_end:
            self.source[0] = STOP
        np.subtract(self.h[:-1], self._deletion.open, out=self._opened_left)
        np.equal(self.e[1:], self._opened_left, out=self.e_closes[1:])
        np.equal(self.f, self._opened_above, out=self.f_closes)


def _path(box: _Box, in_f: bool, memory: int) -> tuple[bytes, int]:
    """Return the moves to the last cell of a box, last move first, and the value there."""
    if len(box.rows) < 2 or box.cells <= memory:
        directions, value = _directions(box, in_f)
        return walk(directions, in_f=in_f), value
    middle = len(box.rows) // 2
    crossing, value = _crossing(box, middle, in_f)
    moves, _ = _path(box.below(middle, crossing), in_f, memory)
    if crossing.value:
        moves += _path(box.above(middle, crossing.column), crossing.in_f, memory)[0]
    return moves, value


def _directions(box: _Box, in_f: bool) -> tuple[_Bytes, int]:
    """Return the direction bits of all cells, and the value in the last."""
    row = _Row(box)
    bits = np.empty((len(box.rows) + 1, len(row.h)), np.uint8)
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


def _crossing(box: _Box, middle: int, in_f: bool) -> tuple[_Node, int]:
    """Return the node where the path to the last cell leaves row ``middle``, and the last value.

    A path that begins further down has no such node: the answer is then ``_FREE``.
    """
    row = _Row(box)
    for _ in range(middle):
        row.next()
    h, f = row.h.copy(), row.f.copy()
    columns = np.arange(len(h))
    # A node of row ``middle`` is known by the number 2 * column + in_f.
    via_h, via_f, last_via_h = 2 * columns, 2 * columns + 1, np.empty_like(columns)
    anchor = np.zeros_like(columns)
    for _ in range(middle, len(box.rows)):
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
        return _FREE, value
    column, crossing_in_f = divmod(number, 2)
    return _Node(column, bool(crossing_in_f), int((f if crossing_in_f else h)[column])), value


def _number_type(scoring: Scoring, m: int, n: int) -> npt.DTypeLike:
    """Return int32 if no number of a table of this size can leave it, else int64."""
    costs = (n + 1) * scoring.deletion.extend + scoring.deletion.open + scoring.insertion.open
    largest = int(scoring.score_offset(m, n)) + scoring.bound(m, n) + costs
    return np.int32 if largest - min(0, scoring.minimum) < 2**31 else np.int64


def global_coordinates(
    coordinates: npt.NDArray[np.int64], query_length: int, target_length: int
) -> npt.NDArray[np.int64]:
    """Return coordinates with the gaps before their first and behind their last cell.

    >>> global_coordinates(np.array([[0, 2], [1, 3]]), 5, 2).tolist()
    [[0, 0, 2, 2], [0, 1, 3, 5]]
    """
    first, last = np.zeros((2, 1), np.int64), np.array([[target_length], [query_length]])
    parts = [coordinates]
    if coordinates[:, 0].any():
        parts.insert(0, first)
    if (coordinates[:, -1:] != last).any():
        parts.append(last)
    points = np.concatenate(parts, axis=1)
    kept = np.ones(points.shape[1], bool)  # a gap before the last cell is one with that behind it
    kept[1:-1] = np.diff(np.sign(np.diff(points))).any(axis=0)
    return points[:, kept]


def _coordinates(moves: bytes, query_end: int, target_end: int) -> npt.NDArray[np.int64]:
    """Return the ends of the runs of equal moves, shape (2, K), given the moves, last one first."""
    steps = np.frombuffer(moves, np.uint8)[::-1]
    last = np.flatnonzero(np.diff(steps, append=STOP)) + 1
    run = np.diff(last, prepend=0)
    kind = steps[last - 1]
    target = np.cumsum(np.append(0, np.where(kind != UP, run, 0)))
    query = np.cumsum(np.append(0, np.where(kind != LEFT, run, 0)))
    return np.stack([target + target_end - target[-1], query + query_end - query[-1]])
