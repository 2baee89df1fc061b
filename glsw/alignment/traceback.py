"""From an end cell to the alignment: the walk along direction bits, in linear memory.

Several alignments may have the same score; this module gives one, always the same. Going back
from the end cell,

* in H: stop where H = 0, else take the pair of letters (diagonal) if it gives H, else F (up),
  else E (left);
* in a gap (E or F): close it if that gives its value, else extend it.

A global or semi-global alignment stops at row 0 or column 0; the residues left there, and those
behind the end cell, are opposite a gap.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Mask
from glsw.alignment.paths import DIAGONAL, LEFT, UP, Runs
from glsw.alignment.rows import (
    E_CLOSES,
    F_CLOSES,
    SOURCE,
    STOP,
    TablePart,
    crossing,
    directions_of,
    whole_table,
)
from glsw.scoring.gaps import GapCost
from glsw.scoring.scoring import Scoring


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
