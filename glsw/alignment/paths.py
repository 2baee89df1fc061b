"""Results of engines: best cells, ends of alignments, and paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.scoring.gaps import FREE, EndGaps
from glsw.sequences.encoded import offsets_of, ranges

LEFT, UP, DIAGONAL = 1, 2, 3
"""Moves of a pair: a letter of the target opposite a gap, one of the query, or one of each."""

_Int64: TypeAlias = npt.NDArray[np.int64]
_Chosen: TypeAlias = "npt.NDArray[np.intp] | slice"


@dataclass(frozen=True, eq=False)
class BestCells:
    """The best cell of each of N tables of k dimensions, as an engine finds it.

    Parameters
    ----------
    score : ndarray of int32, shape (N,)
        In integer units of the scoring; of global and semi-global alignments higher by
        `Scoring.score_offset`.
    cell : ndarray of int32, shape (N, k)
        Where the cell is: i, j (and k) of the table. The first residues are at 1, since row 0 and
        column 0 lie before them. Meaningless for a score of 0 of a local alignment, and if only
        scores were asked for.
    """

    score: npt.NDArray[np.int32]
    cell: npt.NDArray[np.int32]

    @classmethod
    def of(cls, score: npt.ArrayLike, *index: npt.ArrayLike) -> BestCells:
        """Return cells from their scores and one array of indices per dimension.

        >>> BestCells.of([5, 7], [1, 2], [4, 3]).cell.tolist()
        [[1, 4], [2, 3]]
        """
        return cls(np.asarray(score, np.int32), np.stack(index, axis=1).astype(np.int32))

    @classmethod
    def zeros(cls, count: int, k: int = 2) -> BestCells:
        """Return ``count`` scores of 0, which `put` replaces."""
        return cls(np.zeros(count, np.int32), np.zeros((count, k), np.int32))

    def put(self, chosen: _Chosen, cells: BestCells) -> None:
        """Write the cells of the tables ``chosen``."""
        self.score[chosen], self.cell[chosen] = cells.score, cells.cell

    @property
    def i(self) -> npt.NDArray[np.int32]:
        """Row of each cell, from 1, shape (N,)."""
        return self.cell[:, 0]

    @property
    def j(self) -> npt.NDArray[np.int32]:
        """Column of each cell, from 1, shape (N,)."""
        return self.cell[:, 1]

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True, eq=False)
class Ends:
    """The best alignment of each of N pairs or triples: its score and where it ends.

    Parameters
    ----------
    score : ndarray of int32, shape (N,)
        In integer units of the scoring; from `glsw.Aligner.ends` in units of the matrix, float64
        if the matrix or the gap costs have decimals.
    end : ndarray of int32, shape (N, k)
        End of the alignment in each sequence, exclusive, in the order of `Batch.index` (pairs:
        query, target); 0 if the score is 0. In global and semi-global alignments it does not
        include the end gap.
    """

    score: npt.NDArray[np.int32] | npt.NDArray[np.float64]
    end: npt.NDArray[np.int32]

    @property
    def query_end(self) -> npt.NDArray[np.int32]:
        """Ends in the queries of pairs, shape (N,)."""
        return self.end[:, 0]

    @property
    def target_end(self) -> npt.NDArray[np.int32]:
        """Ends in the targets of pairs, shape (N,)."""
        return self.end[:, 1]

    def __len__(self) -> int:
        return len(self.score)

    @staticmethod
    def merged(shape: tuple[int, ...], parts: Iterable[tuple[_Chosen, Ends]]) -> Ends:
        """Return the ends of a batch, with an index of shape (N, k), from those of its parts.

        Each part is the numbers of its pairs or triples, and their ends.
        """
        merged = Ends(np.zeros(shape[0], np.int32), np.zeros(shape, np.int32))
        for chosen, part in parts:
            merged.score[chosen], merged.end[chosen] = part.score, part.end
        return merged


@dataclass(frozen=True, eq=False)
class Paths:
    """The best alignment of each of N pairs or triples, as runs of moves from its end to its start.

    A move is a column of an alignment, as a mask: bit r is set if row r of the alignment has a
    residue in it, and no gap. Row 0 of a pair is the target and row 1 the query, as in
    `Bio.Align`: 1 is a gap in the query, 2 a gap in the target, 3 an aligned pair. In a triple 1 is
    a residue of the first sequence, 2 of the second, 4 of the third, and sums of these.

    Parameters
    ----------
    ends : Ends
    runs : ndarray of uint32, shape (total,)
        ``length << k | move``; equal moves may follow each other.
    offsets : ndarray of int64, shape (N + 1,)
        The runs of path ``p`` are ``runs[offsets[p]:offsets[p + 1]]``.
    """

    ends: Ends
    runs: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]

    @staticmethod
    def empty(ends: Ends, counts: npt.NDArray[np.int64]) -> Paths:
        """Return paths with room for this number of runs each."""
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        return Paths(ends, np.zeros(offsets[-1], np.uint32), offsets)

    @staticmethod
    def of(ends: Ends, runs: Sequence[npt.NDArray[np.uint32]]) -> Paths:
        """Return the paths with these runs, an array per path."""
        paths = Paths.empty(ends, np.array([len(part) for part in runs], np.int64))
        paths.runs[:] = np.concatenate([*runs, np.empty(0, np.uint32)])
        return paths

    @staticmethod
    def of_moves(ends: Ends, moves: Sequence[npt.NDArray[np.uint8]]) -> Paths:
        """Return the paths with these moves, an array per path, from its start to its end."""
        one = np.uint32(1 << ends.end.shape[1])
        return Paths.of(ends, [one | each[::-1].astype(np.uint32) for each in moves])

    @staticmethod
    def merged(shape: tuple[int, ...], parts: Sequence[tuple[_Chosen, Paths]]) -> Paths:
        """Return the paths of a batch from those of its parts, see `Ends.merged`."""
        if 1 == shape[0] == len(parts) == len(parts[0][1]):  # quicker
            return parts[0][1]
        counts = np.zeros(shape[0], np.int64)
        for chosen, part in parts:
            counts[chosen] = np.diff(part.offsets)
        ends = Ends.merged(shape, [(chosen, part.ends) for chosen, part in parts])
        paths = Paths.empty(ends, counts)
        for chosen, part in parts:
            paths.runs[ranges(paths.offsets[:-1][chosen], counts[chosen])] = part.runs
        return paths

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, p: int) -> npt.NDArray[np.uint32]:
        return self.runs[self.offsets[p] : self.offsets[p + 1]]

    def moves(self, p: int) -> npt.NDArray[np.uint8]:
        """Return the moves of path p from its start to its end, shape (columns,)."""
        moves, lengths = self._moves_and_lengths(p)
        return np.repeat(moves, lengths)

    def coordinates(self, p: int) -> npt.NDArray[np.int64]:
        """Return where the runs of equal columns of path p begin and end, shape (k, K).

        As in `Bio.Align.Alignment`, from 0: row 0 of a pair is the target, row 1 the query.
        """
        end = self.ends.end[p]
        return coordinates(*self._moves_and_lengths(p), end[::-1] if len(end) == 2 else end)

    @property
    def residues(self) -> _Int64:
        """Residues of each path in each sequence, in the order of `Ends.end`, shape (N, k)."""
        k = self.ends.end.shape[1]
        lengths = self.runs >> k
        rows = (1, 0) if k == 2 else range(k)
        sums = [offsets_of((self.runs >> r & 1) * lengths)[self.offsets] for r in rows]
        return np.diff(sums, axis=1).T

    def forwards(self) -> Runs:
        """Return the columns of all pairs as runs from the starts of the paths to their ends."""
        last = np.repeat(self.offsets[:-1] + self.offsets[1:] - 1, np.diff(self.offsets))
        runs = self.runs[last - np.arange(len(last))]
        moves = (runs & DIAGONAL).astype(np.uint8)
        return Runs.ending(self.ends.end, moves, (runs >> 2).astype(np.int64), self.offsets)

    def _moves_and_lengths(self, p: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
        runs, k = self[p][::-1], self.ends.end.shape[1]
        return (runs & ((1 << k) - 1)).astype(np.uint8), runs >> k


@dataclass(frozen=True, eq=False)
class Runs:
    """The columns of the alignments of N pairs as runs of moves, from start to end.

    Parameters
    ----------
    start : ndarray of int64, shape (N, 2)
        Residues of the query and of the target before the first column.
    moves : ndarray of uint8, shape (runs,)
        The move of each run, see `Paths`; neighbouring runs of an alignment differ.
    lengths : ndarray of int64, shape (runs,)
        The columns of each run, 1 or more.
    offsets : ndarray of int64, shape (N + 1,)
        The runs of alignment ``p`` are those from ``offsets[p]`` to ``offsets[p + 1]``.

    Examples
    --------
    >>> runs = Runs.of_coordinates([np.array([[2, 5, 9], [2, 5, 5]]), np.array([[4], [7]])])
    >>> runs.moves.tolist(), runs.lengths.tolist(), runs.offsets.tolist()
    ([3, 1], [3, 4], [0, 2, 2])
    >>> runs.start.tolist(), runs.end.tolist(), runs.columns.tolist()
    ([[2, 2], [7, 4]], [[5, 9], [7, 4]], [7, 0])
    >>> runs.coordinates(0).tolist()
    [[2, 5, 9], [2, 5, 5]]
    """

    start: _Int64
    moves: npt.NDArray[np.uint8]
    lengths: _Int64
    offsets: _Int64

    @staticmethod
    def ending(
        end: npt.NDArray[np.integer],
        moves: npt.NDArray[np.uint8],
        lengths: _Int64,
        offsets: _Int64,
    ) -> Runs:
        """Return the runs of alignments that end there, given runs that may be empty or equal."""
        if (some := lengths > 0).sum() < len(some):
            moves, lengths, offsets = moves[some], lengths[some], offsets_of(some)[offsets]
        first = np.append(True, moves[1:] != moves[:-1])[: len(moves)]
        first[offsets[:-1][np.diff(offsets) > 0]] = True
        at = np.flatnonzero(first)
        merged = np.add.reduceat(lengths, at) if len(at) else lengths
        runs = Runs(np.empty((0, 2), np.int64), moves[at], merged, offsets_of(first)[offsets])
        return replace(runs, start=end.astype(np.int64) - runs.residues)

    @staticmethod
    def nothing(count: int) -> Runs:
        """Return this number of alignments without columns."""
        offsets, no = np.zeros(count + 1, np.int64), np.empty(0, np.int64)
        return Runs(np.zeros((count, 2), np.int64), no.astype(np.uint8), no, offsets)

    @staticmethod
    def of_moves(end: tuple[int, int], moves: npt.NDArray[np.uint8]) -> Runs:
        """Return the one alignment with a move per column, given its ends in query and target."""
        lengths, offsets = np.ones(len(moves), np.int64), np.array([0, len(moves)])
        return Runs.ending(np.array([end]), moves, lengths, offsets)

    @staticmethod
    def of_coordinates(each: Sequence[_Int64]) -> Runs:
        """Return the runs of pairs with these coordinates, see `glsw.Alignment`."""
        if not each:
            return Runs.nothing(0)
        offsets = offsets_of([one.shape[1] - 1 for one in each])
        target, query = np.concatenate([np.diff(one) for one in each], axis=1)
        moves = (LEFT * (target > 0) + UP * (query > 0)).astype(np.uint8)
        end = np.array([one[::-1, -1] for one in each])
        return Runs.ending(end, moves, np.maximum(target, query), offsets)

    @staticmethod
    def concatenated(parts: Sequence[Runs]) -> Runs:
        """Return the alignments of all parts."""
        parts = parts or [Runs.nothing(0)]
        return Runs(
            np.concatenate([part.start for part in parts]),
            np.concatenate([part.moves for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, chosen: slice | _Int64 | npt.NDArray[np.bool_]) -> Runs:
        """Return these alignments: a slice of step 1, their numbers in any order, or which."""
        some: slice | _Int64
        if isinstance(chosen, slice):
            first, stop, _ = chosen.indices(len(self))
            offsets = self.offsets[first : stop + 1]
            some, offsets = slice(offsets[0], offsets[-1]), offsets - offsets[0]
        else:
            counts = np.diff(self.offsets)[chosen]
            some, offsets = ranges(self.offsets[:-1][chosen], counts), offsets_of(counts)
        return Runs(self.start[chosen], self.moves[some], self.lengths[some], offsets)

    def shifted(self, residues: _Int64) -> Runs:
        """Return the alignments shifted by this many residues, shape (N, 2)."""
        return replace(self, start=self.start + residues)

    def total(self, values: npt.NDArray[np.integer]) -> _Int64:
        """Return the sums over the runs of each alignment, shape (N,)."""
        if len(self) == 1:  # quicker
            return np.array([values.sum(dtype=np.int64)])
        sums = offsets_of(values)[self.offsets]
        return sums[1:] - sums[:-1]

    @property
    def residues(self) -> _Int64:
        """Residues of the query and the target in each alignment, shape (N, 2)."""
        query, target = self.moves >> 1, self.moves & 1
        return np.stack([self.total(side * self.lengths) for side in (query, target)], axis=1)

    @property
    def end(self) -> _Int64:
        """Residues of the query and the target up to and including the last column."""
        return self.start + self.residues

    @property
    def columns(self) -> _Int64:
        """Columns of each alignment, shape (N,)."""
        return self.total(self.lengths)

    def without_end_gaps(self) -> Runs:
        """Return the alignments from their first aligned pair to their last.

        >>> runs = Runs.of_coordinates([np.array([[0, 3, 5, 6, 8], [0, 0, 2, 2, 4]])])
        >>> runs.without_end_gaps().coordinates().tolist()
        [[3, 5, 6, 8], [0, 2, 2, 4]]
        """
        before = offsets_of(self.moves == DIAGONAL)
        bounds = before[self.offsets]
        which = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        begun, more = before[1:] > bounds[which], before[:-1] < bounds[which + 1]
        end = self.start + replace(self, lengths=self.lengths * more).residues
        return Runs.ending(end, self.moves, self.lengths * (begun & more), self.offsets)

    @property
    def paired(self) -> _Int64:
        """Aligned pairs of each alignment, shape (N,)."""
        return self.total(self.lengths * (self.moves == DIAGONAL))

    def pairs(self) -> tuple[_Int64, _Int64]:
        """Return the residues of queries and of targets that are aligned with each other.

        >>> runs = Runs.of_coordinates([np.array([[1, 3, 3, 5], [3, 5, 6, 8]])])
        >>> [each.tolist() for each in runs.pairs()]
        [[3, 4, 6, 7], [1, 2, 3, 4]]
        """
        paired, found = self.moves == DIAGONAL, []
        lengths = self.lengths[paired]
        which = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        for side, has in enumerate((self.moves >> 1, self.moves & 1)):
            before = offsets_of(has * self.lengths)
            first = before[:-1] - before[self.offsets[:-1]][which] + self.start[which, side]
            found.append(ranges(first[paired], lengths))
        return found[0], found[1]

    def coordinates(self, p: int = 0) -> _Int64:
        """Return the coordinates of pair p, see `glsw.Alignment`."""
        chosen = slice(self.offsets[p], self.offsets[p + 1])
        moves, lengths = self.moves[chosen], self.lengths[chosen]
        steps = (moves >> np.arange(2, dtype=np.uint8)[:, None] & 1) * lengths
        at = np.zeros((2, len(moves) + 1), np.int64)
        np.cumsum(steps, axis=1, out=at[:, 1:])
        return at + self.start[p, ::-1, None]

    def with_end_gaps(self, lengths: _Int64, ends: EndGaps | None = None) -> Runs:
        """Return alignments with the gaps before their first and behind their last cell.

        Parameters
        ----------
        lengths : ndarray of int64, shape (N, 2)
            Residues of the queries and the targets.
        ends : EndGaps, optional
            What end gaps cost: free ones are left out.

        Examples
        --------
        >>> from glsw.scoring.gaps import GapCost
        >>> inside, lengths = Runs.of_coordinates([np.array([[0, 2], [1, 3]])]), np.array([[5, 2]])
        >>> inside.with_end_gaps(lengths).coordinates(0).tolist()
        [[0, 0, 2, 2], [0, 1, 3, 5]]
        >>> inside.with_end_gaps(lengths, EndGaps(right_insertion=GapCost(2, 1))).end.tolist()
        [[5, 2]]
        """
        gaps = np.stack([self.start[:, 0], self.start[:, 1], *(lengths - self.end).T], axis=1)
        if ends:
            gaps = gaps * np.array([cost != FREE for cost in ends])
        counts = np.diff(self.offsets)
        offsets = self.offsets + 4 * np.arange(len(self) + 1)
        at = offsets[:-1, None] + [0, 1, 0, 1]
        at[:, 2:] += 2 + counts[:, None]
        moves, sizes = np.empty(offsets[-1], np.uint8), np.empty(offsets[-1], np.int64)
        moves[at], sizes[at] = np.array([UP, LEFT, UP, LEFT], np.uint8), gaps
        inner = ranges(offsets[:-1] + 2, counts)
        moves[inner], sizes[inner] = self.moves, self.lengths
        return Runs.ending(self.end + gaps[:, 2:], moves, sizes, offsets)


def coordinates(
    moves: npt.NDArray[np.uint8], lengths: npt.NDArray[np.integer], end: npt.NDArray[np.integer]
) -> npt.NDArray[np.int64]:
    """Return where the runs of equal columns of a path begin and end, shape (k, K), from 0.

    Parameters
    ----------
    moves : ndarray of uint8, shape (runs,)
        The move of each run, see `Paths`, from the start of the path; equal ones are merged.
    lengths : ndarray of int, shape (runs,)
        The columns of each run.
    end : ndarray of int, shape (k,)
        Where the path ends in each row.

    Examples
    --------
    >>> coordinates(np.array([3, 3, 1], np.uint8), np.array([2, 1, 4]), np.array([9, 5])).tolist()
    [[2, 5, 9], [2, 5, 5]]
    """
    last = np.flatnonzero(np.diff(moves, append=0))  # of equal moves
    columns = np.cumsum(lengths, dtype=np.int64)[last]
    steps = (moves[last] >> np.arange(len(end))[:, None] & 1) * np.diff(columns, prepend=0)
    at = np.zeros((len(end), len(last) + 1), np.int64)
    np.cumsum(steps, axis=1, out=at[:, 1:])
    return at + (end - at[:, -1])[:, None]
