"""What engines return: best cells, where alignments end, and their paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class Ends:
    """The best alignment of each of N pairs: its score and where it ends.

    Parameters
    ----------
    score : ndarray of int32, shape (N,)
        In integer units of the scoring.
    query_end, target_end : ndarray of int32, shape (N,)
        Residues of the sequence up to and including the last aligned pair, that is, the end of a
        half-open interval; 0 where the score is 0. From end to end: up to the gap at the right end.
    """

    score: npt.NDArray[np.int32]
    query_end: npt.NDArray[np.int32]
    target_end: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True, eq=False)
class Paths:
    """The best alignment of each of N pairs, as runs of moves from its end to its start.

    Parameters
    ----------
    ends : Ends
    runs : ndarray of uint32, shape (total,)
        ``length << 2 | move``, the moves being those of `glsw.traceback`; equal moves may follow
        each other.
    offsets : ndarray of int64, shape (N + 1,)
        The runs of pair ``k`` are ``runs[offsets[k]:offsets[k + 1]]``.
    """

    ends: Ends
    runs: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]

    @staticmethod
    def empty(ends: Ends, counts: npt.NDArray[np.int64]) -> Paths:
        """Make room for so many runs of each pair."""
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        return Paths(ends, np.zeros(offsets[-1], np.uint32), offsets)

    @staticmethod
    def of(ends: Ends, runs: Sequence[npt.NDArray[np.uint32]]) -> Paths:
        """Join the runs of each pair."""
        paths = Paths.empty(ends, np.array([len(part) for part in runs], np.int64))
        paths.runs[:] = np.concatenate([*runs, np.empty(0, np.uint32)])
        return paths

    @staticmethod
    def merged(count: int, parts: Sequence[tuple[npt.NDArray[np.intp], Paths]]) -> Paths:
        """Put the paths of some pairs and those of others together, by their numbers."""
        score, query_end, target_end = np.zeros((3, count), np.int32)
        runs = [np.empty(0, np.uint32)] * count
        for chosen, part in parts:
            score[chosen] = part.ends.score
            query_end[chosen] = part.ends.query_end
            target_end[chosen] = part.ends.target_end
            for k, p in enumerate(chosen):
                runs[p] = part[k]
        return Paths.of(Ends(score, query_end, target_end), runs)

    def __getitem__(self, k: int) -> npt.NDArray[np.uint32]:
        return self.runs[self.offsets[k] : self.offsets[k + 1]]


@dataclass(frozen=True, eq=False)
class Ends3:
    """The best local alignment of each of N triples: its score and where it ends.

    Parameters
    ----------
    score : ndarray of int32, shape (N,)
        In integer units of the scoring.
    end : ndarray of int32, shape (N, 3)
        Residues of the three sequences up to and including the last column, that is, ends of
        half-open intervals; 0 where the score is 0.
    """

    score: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True, eq=False)
class Paths3:
    """The best local alignment of each of N triples, column by column from its start.

    Parameters
    ----------
    ends : Ends3
    moves : sequence of N ndarrays of uint8, shape (columns,)
        Which sequences have a letter in a column: 1 the first, 2 the second, 4 the third, and
        sums of these.
    """

    ends: Ends3
    moves: Sequence[npt.NDArray[np.uint8]]

    def coordinates(self, t: int) -> npt.NDArray[np.int64]:
        """Return where the runs of equal columns begin and end, shape (3, K), from 0.

        As in `Bio.Align.Alignment`; K is 1 for an empty alignment.
        """
        moves = self.moves[t]
        steps = moves >> np.arange(3, dtype=np.uint8)[:, None] & 1
        at = np.zeros((3, len(moves) + 1), np.int64)
        np.cumsum(steps, axis=1, out=at[:, 1:])
        at += (self.ends.end[t] - at[:, -1])[:, None]
        borders = np.flatnonzero(np.diff(moves)) + 1
        return at[:, np.unique(np.concatenate([[0], borders, [len(moves)]])).astype(np.intp)]
