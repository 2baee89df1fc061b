"""The oracle of three sequences: alignment from the definition of what columns score.

Nothing here knows H with its affine companions: `columns_table` holds the best score of the
alignments that end in a cell with one of the seven columns, found by trying each of the seven, or
none, before it. Slow; `enumerate_alignments` judges it in turn. `best_of_pencils` is for real
sequences: independent of the engines too, by another order of the cells.

Columns are numbers as in `glsw.alignment.batch`: 1 the first sequence has a letter, 2 the second,
4 the third, and sums of these. Cells count letters: (i, j, k) is after so many of each sequence.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

COLUMNS = range(1, 8)
NONE = -(2**30)
# On the way back.
PREFERRED = (7, 3, 5, 6, 1, 2, 4)


def has_letter(column, sequence):
    return bool(column >> sequence & 1)


def before(cell, column):
    """Return the cell that a column which ends in ``cell`` comes from."""
    return tuple(at - has_letter(column, s) for s, at in enumerate(cell))


def column_score(scoring, letters, column, previous=None):
    """Score a column, given the one before it in the alignment, None at the beginning.

    ``letters`` are the codes of the three sequences; those of sequences with a gap do not count.
    """
    pairs = scoring.pairs
    if scoring.scheme == "identity":
        if column == 7:
            x, y, z = letters
            return int(pairs.matrix[x, x] if x == y == z else pairs.matrix[0, 1])
        return -(pairs.gap_extend if previous == column else pairs.gap_open)
    total = 0
    for p, q in combinations(range(3), 2):
        here = has_letter(column, p), has_letter(column, q)
        if all(here):
            total += int(pairs.matrix[letters[p], letters[q]])
        elif any(here):
            goes_on = previous and here == (has_letter(previous, p), has_letter(previous, q))
            total -= pairs.gap_extend if goes_on else pairs.gap_open
        else:
            total -= scoring.gap_gap
    return total


def letters_at(words, cell):
    """Return the last letter of each sequence before a cell, None where there is none."""
    return [int(word[at - 1]) if at else None for word, at in zip(words, cell, strict=True)]


def alignment_score(words, end, moves, scoring):
    """Score an alignment column by column; ``end`` is the cell in which its last one ends."""
    total, cell = 0, tuple(end)
    moves = [int(move) for move in moves]
    for move, previous in reversed(list(zip(moves, [None, *moves], strict=False))):
        total += column_score(scoring, letters_at(words, cell), move, previous)
        cell = before(cell, move)
        assert min(cell) >= 0, f"{moves} begins before the sequences"
    return total


def may_begin(cell, scoring):
    """Say whether an alignment may begin after a cell: before so many of the sequences."""
    return cell.count(0) >= {"local": 0, "semiglobal": 1, "global": 3}[scoring.mode]


def may_end(cell, words, scoring):
    return may_begin(tuple(len(word) - at for word, at in zip(words, cell, strict=True)), scoring)


def columns_table(words, scoring, forbidden=frozenset()):
    """Return by (cell, column) the best score of the alignments that end so.

    ``forbidden`` are cells in which no column of two or three letters may end.
    """
    table = {}
    for cell in product(*(range(len(word) + 1) for word in words)):
        for column in COLUMNS:
            p = before(cell, column)
            if min(p) < 0 or (cell in forbidden and column not in (1, 2, 4)):
                continue
            letters = letters_at(words, cell)
            scores = [
                table.get((p, previous), 0) + column_score(scoring, letters, column, previous)
                for previous in (None, *COLUMNS)
                if (may_begin(p, scoring) if previous is None else (p, previous) in table)
            ]
            if scores:
                table[cell, column] = max(scores)
    return table


def heights(words, table, scoring):
    """Return H, shape (l + 1, m + 1, n + 1), of a `columns_table`."""
    h = np.zeros([len(word) + 1 for word in words], int)
    for cell in np.ndindex(*h.shape):
        h[cell] = 0 if may_begin(cell, scoring) else NONE
    for (cell, _), score in table.items():
        h[cell] = max(h[cell], score)
    return h


def best_end(h, words, scoring):
    """Return score and cell: the first by i + j + k, then i, then j; (0, 0, 0) without score."""
    ends = [cell for cell in np.ndindex(*h.shape) if may_end(cell, words, scoring)]
    best = min(ends, key=lambda cell: (-h[cell], sum(cell), cell))
    return int(h[best]), best if h[best] > 0 or scoring.mode != "local" else (0, 0, 0)


def path(words, scoring, forbidden=frozenset(), table=None):
    """Return score, end and columns of the best alignment, by the rules of `Engine3`."""
    table = table or columns_table(words, scoring, forbidden)
    h = heights(words, table, scoring)
    score, end = best_end(h, words, scoring)
    moves, cell, column = [], end, None
    while column or not (h[cell] == 0 and may_begin(cell, scoring)):
        if column is None:
            column = next(c for c in PREFERRED if table.get((cell, c)) == h[cell])
        value, letters = table[cell, column], letters_at(words, cell)
        moves.append(column)
        cell = before(cell, column)
        if h[cell] + column_score(scoring, letters, column) == value:
            column = None
            continue
        # Those with one sequence's letter more or less, then the same again.
        related = [c for c in range(1, 7) if bin(c ^ column).count("1") == 1] + [column]
        column = next(
            c
            for c in related
            if (cell, c) in table
            and table[cell, c] + column_score(scoring, letters, column, c) == value
        )
    return score, end, moves[::-1]


def column_ends(end, moves):
    """Return the cells in which the columns of two and three letters end."""
    found, cell = set(), tuple(end)
    for move in map(int, moves[::-1]):
        if move not in (1, 2, 4):
            found.add(cell)
        cell = before(cell, move)
    return found


def disjoint(words, scoring):
    """Yield score, end and columns: the best alignment, the best without its cells, and so on."""
    forbidden = set()
    while True:
        score, end, moves = path(words, scoring, forbidden)
        if score == 0:
            return
        yield score, end, moves
        forbidden |= column_ends(end, moves)


def enumerate_alignments(lengths):
    """Yield (end, columns) of every local alignment that is not empty, of such lengths."""

    def going_on(cell, moves):
        for column in COLUMNS:
            after = tuple(at + has_letter(column, s) for s, at in enumerate(cell))
            if all(at <= length for at, length in zip(after, lengths, strict=True)):
                yield after, (*moves, column)
                yield from going_on(after, (*moves, column))

    for start in product(*(range(length + 1) for length in lengths)):
        yield from going_on(start, ())


# Real sequences


def best_of_pencils(words, scoring):
    """Return score and end of the best local alignment, by rows along k.

    All rows with the same i + j are computed at once: columns with a letter of the first or second
    sequence come from rows finished before; gaps along a row are a running maximum, of each cell's
    score plus what the way to it would have cost from the start of the row.
    """
    a, b, c = (word.astype(int) for word in words)
    step = np.arange(len(c) + 1, dtype=np.int32)
    ac, bc = _beside(scoring, a, c), _beside(scoring, b, c)
    kinds = (1, 2, 3, 5, 6) if not scoring.linear else ()
    # By how much i + j was less; row i of the array is i - 1, so that there is one before.
    past = [_nothing(len(a), len(c), kinds) for _ in range(3)]
    best = 0, (0, 0, 0)
    for e in range(len(a) + len(b) + 1):
        i = np.arange(max(0, e - len(b)), min(e, len(a)) + 1)
        j = e - i
        there = slice(i[0] + 1, i[-1] + 2), slice(i[0], i[-1] + 1)
        ab = scoring.pairs.matrix[a[i - 1], b[j - 1]][:, None] if len(a) and len(b) else 0
        score = {**dict.fromkeys((1, 2, 4), -scoring.gap_gap), 3: 0, 5: 0, 6: 0}
        if scoring.scheme == "identity":
            same = (a[i - 1] == b[j - 1])[:, None] if len(a) and len(b) else False
            score[7] = np.where(same, ac[i], scoring.pairs.matrix[0, -1])
        else:
            score |= {3: ab, 5: ac[i], 6: bc[j], 7: ab + ac[i] + bc[j]}
        here = _nothing(len(a), len(c), kinds)
        h = np.zeros((len(i), len(c) + 1), np.int32)
        for column, back, row, k in (
            *((1, 1, 1, 0), (2, 1, 0, 0), (3, 2, 1, 0)),
            *((5, 1, 1, 1), (6, 1, 0, 1), (7, 2, 1, 1)),
        ):
            source = {name: table[there[row]] for name, table in past[back].items()}
            value = source["h"] if column == 7 else _leave(scoring, source, column)
            if k:
                value = np.concatenate([np.full((len(i), 1), NONE, np.int32), value[:, :-1]], 1)
            value = np.maximum(value + score[column], NONE)
            h = np.maximum(h, value)
            if column in kinds:
                here[column][there[0]] = value
        here["h"][there[0]] = h
        source = {name: table[there[0]] for name, table in here.items()}
        left = _leave(scoring, source, 4) - np.int32(scoring.gap_gap)
        extends = np.int32(scoring.costs.extends + scoring.gap_gap)
        running = np.maximum.accumulate(left + step * extends, axis=1)
        source[4][:, 1:] = (running - step * extends)[:, :-1]
        np.maximum(source["h"], source[4], out=source["h"])
        past = [here, here, past[1]]
        best = max(best, _best_of(source["h"], i, j, best[0]), key=_rank)
    return best


def _beside(scoring, x, z):
    """Return the score of letters x(i) and z(k), row and column 0 being of no meaning."""
    table = np.zeros((len(x) + 1, len(z) + 1), np.int32)
    table[1:, 1:] = scoring.pairs.matrix[x][:, z]
    return table


def _nothing(rows, last, kinds):
    return {name: np.full((rows + 2, last + 1), NONE, np.int32) for name in ("h", 4, *kinds)}


def _leave(scoring, source, column):
    """Return the best before a column with gaps, less its cost; D of 4 must be known, or none."""
    costs = scoring.costs
    best = source["h"] - np.int32(costs.opens)
    if scoring.linear:
        return best
    best = np.maximum(best, source[column] - np.int32(costs.extends))
    if scoring.scheme == "sum-of-pairs":
        for other in range(1, 7):
            if bin(other ^ column).count("1") == 1:
                best = np.maximum(best, source[other] - np.int32(costs.mixed))
    return best


def _best_of(h, i, j, least):
    top = int(h.max())
    if top < max(least, 1):
        return 0, (0, 0, 0)
    found = [(int(i[r]), int(j[r]), int(k)) for r, k in np.argwhere(h == top)]
    return top, min(found, key=lambda cell: (sum(cell), cell))


def _rank(best):
    score, cell = best
    return score, -sum(cell), *(-at for at in cell)
