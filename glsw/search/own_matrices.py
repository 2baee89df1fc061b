"""Pairs that have a matrix of their own each: their scores and alignments.

On a device they are pairs of queries by position, for which each letter of each pair is a position.
On the host scores are computed in NumPy, row by row of many pairs together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, starmap

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.engines.spec import EngineSpec
from glsw.mask import Mask
from glsw.paths import Runs
from glsw.rows import best_end
from glsw.scoring.positional import MAX_POSITIONS, PositionalScoring
from glsw.scoring.scoring import Scoring
from glsw.search.align_pairs import aligned
from glsw.sequences.encoded import Sequences
from glsw.traceback import trace

_MAX_COLUMNS_TOGETHER = 2**15  # of all pairs of a group, which a cache should hold
_PADDING = -(2**20)

_Int32 = npt.NDArray[np.int32]
_Int64 = npt.NDArray[np.int64]


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

    def select(self, chosen: npt.NDArray[np.intp]) -> OwnMatrices:
        """Return some of the pairs, in this order."""
        return OwnMatrices(self.matrices[chosen], self.targets.select(chosen), self.scale)

    @staticmethod
    def concatenated(parts: Sequence[OwnMatrices]) -> OwnMatrices:
        """Return the pairs of all parts, of which there is at least one."""
        return OwnMatrices(
            np.concatenate([each.matrices for each in parts]),
            Sequences.concatenated([each.targets for each in parts]),
            parts[0].scale,
        )

    def scores(self, engine: Engine, queries: Sequences, owners: _Int64) -> _Int32:
        """Return the best score of each pair, in scaled units.

        ``owners`` says which query a pair has: pairs of a query are neighbours.
        """
        if on_device(engine):
            numbers = np.arange(len(owners))
            found = [
                each.scores(batch)
                for each, batch in self._groups(engine, [queries[k] for k in owners], numbers)
            ]
            return np.concatenate([np.empty(0, np.int32), *found])
        scaled = self._scaled(engine.scoring)
        costs = scaled.gap_open, scaled.gap_extend
        bounds = np.searchsorted(owners, np.arange(len(queries) + 1)).tolist()
        parts = [
            own_scores(query, self.targets.part(some), self.matrices[some], *costs)
            for query, some in zip(queries, starmap(slice, pairwise(bounds)), strict=True)
        ]
        return np.concatenate([np.empty(0, np.int32), *parts])

    def aligned(
        self, engine: Engine, batch: Batch, numbers: _Int64, ties: Ties
    ) -> tuple[_Int32, Runs]:
        """Return the score of each pair, in scaled units, and the columns of its best alignment.

        ``batch`` has the queries and masks, ``numbers`` says which matrix and target a pair has.
        """
        queries = [batch.pair(p)[0] for p in range(len(batch))]
        if on_device(engine):
            groups = self._groups(engine, queries, numbers, batch.masks)
            found = [aligned(each, some, ties) for each, some in groups]
            units = np.concatenate([np.empty(0, np.int32), *(each[0] for each in found)])
            return units, Runs.concatenated([Runs.of_coordinates([]), *(each[1] for each in found)])
        scores, traces = [], []
        for p, number in enumerate(numbers.tolist()):
            matrix = self.matrices[number].astype(np.int32)
            own = replace(self._scaled(engine.scoring), matrix=matrix)
            pair, mask = (queries[p], self.targets[number]), batch.mask(p)
            score, *end = best_end(*pair, own, mask)
            scores.append(score)
            traces.append(trace(*pair, own, *end, mask=mask)[0])
        return np.array(scores, np.int32), Runs.of_coordinates(traces)

    def _groups(
        self,
        engine: Engine,
        queries: Sequence[npt.NDArray[np.uint8]],
        numbers: _Int64,
        masks: Sequence[Mask] | None = None,
    ) -> Iterator[tuple[Engine, Batch]]:
        """Yield pairs with an engine for them: each letter of each pair is a position."""
        letters = self.matrices.shape[1]
        for start in range(0, len(queries), MAX_POSITIONS // letters):
            some = slice(start, start + MAX_POSITIONS // letters)
            rows = self.matrices[numbers[some]].reshape(-1, letters).astype(np.int32)
            scaled = self._scaled(engine.scoring)
            positions = [query + np.uint16(letters * k) for k, query in enumerate(queries[some])]
            batch = Batch.pairwise(positions, self.targets.select(numbers[some]))
            batch = batch if masks is None else batch.masked(masks[some])
            made = EngineSpec(engine.name, PositionalScoring.of(rows, scaled), engine.device)
            yield made.make(), batch

    def _scaled(self, scoring: Scoring) -> Scoring:
        """Return a scoring whose gap costs are in units of the matrices."""
        opening, extension = self.scale * scoring.gap_open, self.scale * scoring.gap_extend
        return replace(scoring, gap_open=opening, gap_extend=extension)


def on_device(engine: Engine) -> bool:
    """Return whether an engine uses hardware other than this processor."""
    return engine.capabilities.requires is not None and not engine.device.info.software


def own_scores(
    query: npt.NDArray[np.uint8],
    targets: Sequences,
    matrices: npt.NDArray[np.integer],
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
    matrices: npt.NDArray[np.integer],
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
