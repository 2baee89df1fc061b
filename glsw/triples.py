"""Triples of sequences that an engine aligns, and what comes out: ends and paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from glsw.batch import Sequences


@dataclass(frozen=True, eq=False)
class Triples:
    """N triples of encoded sequences: i runs over the first, j the second, k the third.

    Parameters
    ----------
    sequences : Sequences
        Each is there once, in however many triples it is.
    index : ndarray of int32, shape (N, 3)
        Triple t aligns ``sequences[index[t, 0]]``, ``[index[t, 1]]`` and ``[index[t, 2]]``.

    Examples
    --------
    >>> words = Sequences.of([np.zeros(n, np.uint8) for n in (4, 5, 6, 7)])
    >>> triples = Triples.all_of(words)
    >>> triples.index.tolist()
    [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    >>> triples.lengths[0].tolist(), triples.cells
    ([4, 5, 6], 638)
    """

    sequences: Sequences
    index: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        if self.index.ndim != 2 or self.index.shape[1] != 3 or self.index.dtype != np.int32:
            kind = f"{self.index.dtype} of shape {self.index.shape}"
            raise ValueError(f"index must be int32 of shape (N, 3), got {kind}")
        if self.index.size and not 0 <= self.index.min() <= self.index.max() < len(self.sequences):
            raise ValueError(f"index must be from 0 to {len(self.sequences) - 1}")

    @staticmethod
    def of(triples: Iterable[Sequence[npt.NDArray[np.uint8]]]) -> Triples:
        """Return triples of arrays of codes, each of shape (length,)."""
        parts = [tuple(each) for each in triples]
        for t, each in enumerate(parts):
            if len(each) != 3:
                raise ValueError(f"triple {t + 1} has {len(each)} sequences")
        sequences = Sequences.of([part for each in parts for part in each])
        return Triples(sequences, np.arange(3 * len(parts), dtype=np.int32).reshape(-1, 3))

    @staticmethod
    def all_of(sequences: Sequences) -> Triples:
        """Return every choice of three different sequences, in lexicographic order."""
        chosen = list(combinations(range(len(sequences)), 3))
        return Triples(sequences, np.array(chosen, np.int32).reshape(-1, 3))

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Residues of the three, shape (N, 3)."""
        return self.sequences.lengths[self.index]

    @property
    def cells(self) -> int:
        """Sum of the products of the lengths."""
        return int(self.lengths.prod(axis=1).sum())

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, t: int) -> tuple[npt.NDArray[np.uint8], ...]:
        return tuple(self.sequences[k] for k in self.index[t].tolist())

    def select(self, chosen: npt.NDArray[np.intp] | slice) -> Triples:
        """Return some of the triples."""
        return replace(self, index=self.index[chosen])


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
