"""The best local alignment of a pair by the library parasail, with residue pairs excluded.

A table of H is bound by memory, so as little of it as possible is kept, by passes over the whole
table that keep nothing. They find

1. the best score S, and a cell A that has it;
2. from A backwards, the pair B of residues with which a best alignment up to A begins. Before B it
   has no positive score, which it would have from B on in addition;
3. from B on, with scores times a large factor, plus 1 per residue: the longest of the best
   alignments that align B. Its end has the largest i + j; as the library finds the first of several
   rows, it has the smallest i;
4. the best score where B is forbidden. If it is S too, there are best alignments that do not align
   B: then this begins again with their A, until all of them align one of the B.

The conventional end C is the best one of those found. The table is that of the rows and columns
from the first of those B that are not behind C, to C. None of its numbers is larger than in the
whole table. A best alignment that ends in C aligns one of these B, and so is in it from there on:
H along the path that `glsw.alignment.traceback` walks from C is the same in both, and a move from
there that is one of a best alignment in the whole table is one in the part, and the other way
round. So the path is the same.

If there are more than `CpuSizes.begins` such B, or the table is small, all columns are kept that
best alignments may have. The pass of 1 has the first column in which one ends, and a pass from the
last row and column backwards the last in which one begins; none spans more than its score allows.

The library has letters for `CpuSizes.forbidden` pairs of a mask, at equal distances on it. With
these forbidden no score is lower than with the mask. So if the path has no pair of the mask, it is
that of the mask too, by the same argument. If it has, some of these are forbidden too, and so on.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import NamedTuple, TypeAlias

import numpy as np

from glsw.alignment.batch import Mask
from glsw.alignment.paths import DIAGONAL, LEFT, UP, Runs
from glsw.alignment.traceback import PathBack
from glsw.arrays import Codes, Int32, UInt32
from glsw.engines.cpu_lanes import CpuSizes
from glsw.engines.cpu_letters import Lettering, Places, Texts
from glsw.engines.parasail_calls import Best, best, table
from glsw.scoring.scoring import Scoring

LARGEST_16 = 2**14
"""Above all scores in 16 bits, and twice the costs."""
_LARGEST_LONG = 2**29  # of scores that say lengths too
_USUAL_COLUMNS = 4  # that best alignments may have, for each row

Walked: TypeAlias = "tuple[tuple[int, int, int], UInt32]"
"""Score, i and j of the best cell, and the runs of the path to it, see `Paths`."""


class Region(NamedTuple):
    """The first row and column of the table to keep, and its end, exclusive."""

    first: tuple[int, int]
    end: tuple[int, int]
    score: int = 0  # of alignments that end there


class Tables:
    """Tables of H by the library, of which so many large ones are kept at once.

    Parameters
    ----------
    costs : (int, int)
        To open and to extend a gap.
    limits : CpuSizes
    """

    def __init__(self, costs: tuple[int, int], limits: CpuSizes) -> None:
        self._costs, self._limits = costs, limits
        self._large, self._huge = threading.Semaphore(limits.large_tables), threading.Lock()

    @contextmanager
    def of(self, mode: str, texts: Texts) -> Iterator[Int32]:
        """Return H of i, j from 1 for a ``with`` block, shape (m, n); neither is empty."""
        limits, cells = self._limits, len(texts.query) * len(texts.target)
        alone = self._huge if cells > limits.huge_table else self._large
        turned = cells > limits.by_diagonals  # then its matrix has the rows of the first sequence
        name, matrix = "diag" if turned else "scan", texts.matrices.matrix(swapped=turned)
        pair = texts.query, texts.target, self._costs, matrix
        with (
            alone if cells > limits.large_table else nullcontext(),
            table(f"{mode}_table_{name}_32", *pair) as found,
        ):
            yield found


class LocalPaths:
    """Best local alignments of pairs, by the rules of `glsw.alignment.traceback`.

    Parameters
    ----------
    scoring : Scoring
        A local one without positions; opening a gap costs something.
    limits : CpuSizes, optional
    """

    def __init__(self, scoring: Scoring, limits: CpuSizes | None = None) -> None:
        self._scoring, self._limits = scoring, limits or CpuSizes()
        self._costs = scoring.gap_open, scoring.gap_extend
        self._lettering = Lettering(scoring)
        self._tables = Tables(self._costs, self._limits)
        # The library's striped functions are wrong where opening costs no more than extending.
        self._striped = scoring.gap_open > scoring.gap_extend
        self._method = "sw_striped" if self._striped else "sw_scan"
        self._highest = np.maximum(scoring.matrix.max(axis=1), 0).astype(np.int64)
        self._largest = max(int(np.abs(scoring.matrix).max()), scoring.gap_open)

    def best(
        self, query: Codes, target: Codes, mask: Mask | None = None, *, most: int = 2**62
    ) -> Walked | Region | None:
        """Return the best alignment of a pair, or where it is if the table would be larger.

        The codes are not empty. Tables that may be kept have ``most`` cells. None if the library
        has not enough letters for the mask, or the table would be larger and there is a mask, or
        best alignments begin with many different pairs.
        """
        if mask is None or not len(mask.columns):
            return self._best(query, target, np.empty((2, 0), np.int64), most)
        if len(mask.columns) > self._limits.sparse and len(query) * len(target) > most:
            return None
        places = np.stack([mask.rows, mask.columns.astype(np.int64)])
        forbidden = _spread(places, self._limits.forbidden)
        while self._lettering.can_forbid(forbidden):
            found = self._best(query, target, forbidden, most)
            if found is None or isinstance(found, Region) or forbidden.shape == places.shape:
                return found
            used = _common(places, _aligned(found))
            if not used.shape[1]:
                return found
            again = _spread(used, self._limits.forbidden_again)
            forbidden = np.concatenate([forbidden, again], axis=1)
        return None

    def region(self, query: Codes, target: Codes, most: int) -> Region | None:
        """Return the part of the table that has the best alignment, which ends with it.

        None if that has more than ``most`` cells, or if it is not found, see `best`.
        """
        forbidden = np.empty((2, 0), np.int64)
        texts = self._lettering.texts(query, target, forbidden)
        return self._region(query, target, forbidden, texts, most)

    def _best(
        self, query: Codes, target: Codes, forbidden: Places, most: int = 2**62
    ) -> Walked | Region | None:
        """Return the best alignment without pairs that are forbidden, see `best`."""
        texts, region = self._lettering.texts(query, target, forbidden), None
        usual = len(query) * min(len(target), _USUAL_COLUMNS * len(query))
        if usual > self._limits.column_table:
            region = self._region(query, target, forbidden, texts)
        if region is None:
            first, stop = 0, len(target)
            if len(query) * len(target) > self._limits.whole_table:
                first, stop = self._columns(query, texts)
            if len(query) * (min(stop, len(target)) - first) > most:
                return None
            (score, i, j), runs = self._path(texts._replace(target=texts.target[first:stop]))
            return (score, i, first + j), runs
        (row, column), (i, j) = region.first, region.end
        if (i - row) * (j - column) > most:
            return None if forbidden.shape[1] else region
        part = texts._replace(query=texts.query[row:i], target=texts.target[column:j])
        (score, *_), runs = self._path(part, ends_last=True)
        return (score, i, j), runs

    def _path(self, texts: Texts, *, ends_last: bool = False) -> Walked:
        """Return the best alignment by a table, the last cell of which may be its end."""
        query, target, matrices = texts
        m, n = len(query), len(target)
        if not m or not n:
            return (0, 0, 0), np.empty(0, np.uint32)
        with self._tables.of("sw", texts) as cells:
            score = int(cells[-1, -1] if ends_last else cells.max())
            if not score:
                return (0, 0, 0), np.empty(0, np.uint32)
            end = (m, n) if ends_last else best_cell(cells, score)
            costs = self._scoring.insertion, self._scoring.deletion
            way = PathBack((query, target), matrices.listed, costs, end, highest=score)
            way.go(cells)
            return (score, *end), np.array(way.runs, np.uint32)

    def _columns(self, query: Codes, texts: Texts) -> tuple[int, int]:
        """Return the first column that a best alignment may have, and the last one, exclusive."""
        bits, found = self._first_end(texts)
        if not found.score:
            return 0, 0
        span = self._longest_span(query, found.score)
        first = max(0, found.j - span)
        last = self._run(Texts(texts.query[::-1], texts.target[first:][::-1], texts.matrices), bits)
        return first, len(texts.target) - last.j + span

    def _region(
        self, query: Codes, target: Codes, forbidden: Places, texts: Texts, most: int = 2**62
    ) -> Region | None:
        """Return the table to keep; None if best alignments begin with many different pairs.

        Also None if it has more than ``most`` cells, which is seen before its end is searched for:
        with large scores that takes as long as all else.
        """
        bits, found = self._first_end(texts)
        score = found.score
        if not score:
            return Region((0, 0), (0, 0))
        span = self._longest_span(query, score)
        begins: list[tuple[int, int]] = []
        ends: list[tuple[int, int]] = []
        while found.score == score:
            _, i, j = found
            ends_there = texts.query[:i], texts.target[max(0, j - span) : j]
            back = texts._replace(query=ends_there[0][::-1], target=ends_there[1][::-1])
            last = self._run(back, bits)
            row, column = i - last.i, j - last.j
            if last.i * last.j > most:
                return None
            following = texts.target[column : column + span]
            rest = texts._replace(query=texts.query[row:], target=following)
            end = self._longest(rest, score)
            if len(begins) == self._limits.begins or last.score != score or end is None:
                return None
            begins.append((row, column))
            ends.append((row + end[0], column + end[1]))
            forbidden = np.append(forbidden, [[row], [column]], axis=1)
            if not self._lettering.can_forbid(forbidden):
                return None
            texts = self._lettering.texts(query, target, forbidden)
            found = self._run(texts, bits)
        end = max(ends, key=lambda cell: (sum(cell), -cell[0]))
        rows, columns = zip(*(b for b in begins if b[0] < end[0] and b[1] < end[1]), strict=True)
        return Region((min(rows), min(columns)), end, score)

    def _first_end(self, texts: Texts) -> tuple[int, Best]:
        """Return the first end of a best alignment, and the bits that its score needs."""
        if self._striped and 2 * self._largest <= LARGEST_16:
            found = self._run(texts, 16)
            if found.score < LARGEST_16:
                return 16, found
        return 32, self._run(texts)

    def _longest_span(self, query: Codes, score: int) -> int:
        """Return how many columns alignments of a score span at most; more gaps would cost more."""
        room = int(self._highest[query].sum()) - score - self._costs[0]
        if not self._costs[1]:
            return 2**62
        return len(query) + (1 + room // self._costs[1] if room >= 0 else 0)

    def _longest(self, texts: Texts, score: int) -> tuple[int, int] | None:
        """Return the end of the longest of the best alignments, which all begin at the corner.

        None if numbers would be too large.
        """
        both = len(texts.query) + len(texts.target)
        factor = 1 << both.bit_length()
        reach = 2 if self._striped else both + 2
        if not self._costs[1] or factor * self._largest * reach > _LARGEST_LONG:
            return None
        bits = 32 if factor * score <= _LARGEST_LONG else 64  # where only the end counts
        # The library finds the first column; where the sequences are exchanged, the first row.
        costs = factor * self._costs[0] - 1, factor * self._costs[1] - 1
        matrix = texts.matrices.matrix(32, factor, swapped=True)
        found = best(f"{self._method}_{bits}", texts.target, texts.query, costs, matrix)
        return found.j, found.i

    def _run(self, texts: Texts, bits: int = 32) -> Best:
        matrix = texts.matrices.matrix(bits)
        return best(f"{self._method}_{bits}", texts.query, texts.target, self._costs, matrix)


def walked(runs: Runs) -> UInt32:
    """Return the runs of one alignment as `Walked` has them, the last one first."""
    return (runs.lengths << 2 | runs.moves)[::-1].astype(np.uint32)


def best_cell(table: Int32, score: int) -> tuple[int, int]:
    """Return i and j of the conventional end, given the best score, which is not 0.

    >>> best_cell(np.array([[4, 0, 0], [0, 2, 4], [1, 4, 0]], np.int32), 4)
    (2, 3)
    """
    n = table.shape[1]
    cells = np.flatnonzero(table.reshape(-1) == score)
    if len(cells) == 1:
        return int(cells[0]) // n + 1, int(cells[0]) % n + 1
    rows, columns = np.divmod(cells[cells // n + cells % n == (cells // n + cells % n).max()], n)
    return int(rows[0]) + 1, int(columns[0]) + 1


def _spread(places: Places, count: int) -> Places:
    """Return at most so many of some pairs, at equal distances."""
    return places[:, :: max(1, -(-places.shape[1] // count))]


def _aligned(found: Walked) -> Places:
    """Return the rows and columns of the pairs of an alignment."""
    (_, i, j), runs = found
    lengths, moves = runs.astype(np.int64) >> 2, runs & 3
    used = np.stack([lengths * (moves != LEFT), lengths * (moves != UP)])
    last = np.array([[i], [j]]) - np.cumsum(used, axis=1) + used - 1
    pairs = moves == DIAGONAL
    lengths, last = lengths[pairs], last[:, pairs]
    steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places: Places = np.repeat(last, lengths, axis=1) - steps
    return places


def _common(places: Places, others: Places) -> Places:
    """Return those pairs that are in both."""
    one, other = (each[0] << 32 | each[1] for each in (places, others))
    found: Places = places[:, np.isin(one, other)]
    return found
