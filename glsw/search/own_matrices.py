"""Pairs that have a matrix of their own each: their scores and alignments, on the host in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.paths import Runs
from glsw.rows import best_end
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.traceback import trace

_MAX_COLUMNS_TOGETHER = 2**15  # of all pairs of a group, which a cache should hold
_PADDING = -(2**20)

_Int32 = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class OwnMatrices:
    """The matrices of pairs, and their targets, of which letters may be masked.

    Parameters
    ----------
    matrices : ndarray of int16, shape (N, A, A)
        In ``scale`` units per unit of the matrix as it is; rows are of the query's letter.
    targets : Sequences
        Of N pairs.
    scale : int
    """

    matrices: npt.NDArray[np.int16]
    targets: Sequences
    scale: int

    def part(self, chosen: slice) -> OwnMatrices:
        """Return a slice of the pairs, of step 1."""
        return OwnMatrices(self.matrices[chosen], self.targets.part(chosen), self.scale)

    @staticmethod
    def concatenated(parts: Sequence[OwnMatrices]) -> OwnMatrices:
        """Return the pairs of all parts, of which there is at least one."""
        return OwnMatrices(
            np.concatenate([each.matrices for each in parts]),
            Sequences.concatenated([each.targets for each in parts]),
            parts[0].scale,
        )

    def aligned(
        self, scoring: Scoring, batch: Batch, numbers: npt.NDArray[np.int64]
    ) -> tuple[_Int32, Runs]:
        """Return the score of each pair, in scaled units, and the columns of its best alignment.

        ``batch`` has the queries and masks, ``numbers`` says which matrix and target a pair has.
        """
        scores, traces = [], []
        costs = {name: self.scale * getattr(scoring, name) for name in ("gap_open", "gap_extend")}
        for p, number in enumerate(numbers.tolist()):
            of_pair = replace(scoring, matrix=self.matrices[number].astype(np.int32), **costs)
            sequences, mask = (batch.pair(p)[0], self.targets[number]), batch.mask(p)
            score, *end = best_end(*sequences, of_pair, mask)
            scores.append(score)
            traces.append(trace(*sequences, of_pair, *end, mask=mask)[0])
        return np.array(scores, np.int32), Runs.of_coordinates(traces)


def own_scores(
    query: npt.NDArray[np.uint8],
    targets: Sequences,
    matrices: _Int32,
    gap_open: int,
    gap_extend: int,
) -> _Int32:
    """Return the best local score of each pair, row by row of many pairs together.

    Parameters
    ----------
    query : ndarray of uint8, shape (m,)
    targets : Sequences
        Of N pairs.
    matrices : ndarray of int32, shape (N, A, A)
        The matrix of each pair: rows are of the query's letter.
    gap_open, gap_extend : int
        Costs of the first and of each further position of a gap.

    Returns
    -------
    ndarray of int32, shape (N,)

    Examples
    --------
    >>> codes = np.array([0, 1, 1, 0], np.uint8)
    >>> same = np.where(np.eye(2), 5, -4).astype(np.int32)
    >>> own_scores(codes, Sequences.of([codes, codes[1:]]), np.stack([same, 2 * same]), 6, 1)
    array([20, 30], dtype=int32)
    """
    found = np.zeros(len(targets), np.int32)
    order = np.argsort(-targets.lengths, kind="stable")
    start = 0
    while start < len(order) and targets.lengths[order[start]]:
        width = int(targets.lengths[order[start]])
        some = order[start : start + max(1, _MAX_COLUMNS_TOGETHER // width)]
        found[some] = _together(query, targets.select(some), matrices[some], gap_open, gap_extend)
        start += len(some)
    return found


def _together(
    query: npt.NDArray[np.uint8],
    targets: Sequences,
    matrices: _Int32,
    gap_open: int,
    gap_extend: int,
) -> _Int32:
    """Return the scores of pairs, the longest target first, whose columns are arrays."""
    pairs, letters, _ = matrices.shape
    width = int(targets.lengths[0])
    columns = np.full((pairs, width), letters)  # one letter more, behind the end
    columns[np.arange(width) < targets.lengths[:, np.newaxis]] = targets.residues
    padded = np.full((pairs, letters, letters + 1), _PADDING, np.int32)
    padded[:, :, :letters] = matrices
    profiles = {
        letter: np.take_along_axis(padded[:, letter], columns, axis=1)
        for letter in np.unique(query).tolist()
    }
    h, f, e = np.zeros((3, pairs, width + 1), np.int32)
    ramp = gap_extend * np.arange(width + 1, dtype=np.int32)
    aligned, opened = np.empty((2, pairs, width), np.int32)
    best = np.zeros(pairs, np.int32)
    for letter in query.tolist():
        np.add(h[:, :-1], profiles[letter], out=aligned)
        np.maximum(best, aligned.max(axis=1), out=best)
        f -= gap_extend
        np.subtract(h[:, 1:], gap_open, out=opened)
        np.maximum(f[:, 1:], opened, out=f[:, 1:])
        np.maximum(aligned, f[:, 1:], out=h[:, 1:])
        np.maximum(h, 0, out=h)
        # A gap from column k to j costs gap_open + (j - k - 1) gap_extend.
        np.add(h, ramp, out=e)
        np.maximum.accumulate(e, axis=1, out=e)
        e -= ramp + (gap_open - gap_extend)
        np.maximum(h[:, 1:], e[:, :-1] - gap_extend, out=h[:, 1:])
    return best
