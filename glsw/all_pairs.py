"""Score matrices: every sequence of one collection against every one of another, or of itself."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.engines.base import Engine, Progress
from glsw.search.pool import task_count
from glsw.search.tasks import in_order, run_tasks
from glsw.search.workers import Workers
from glsw.sequences.encoded import Sequences

_BLOCKS_OF_SYMMETRIC_MATRIX = 16
"""Blocks of queries: each meets itself and shorter ones, so that nearly half is saved."""


def score_matrix(
    engine: Engine,
    queries: Sequences,
    targets: Sequences | None = None,
    *,
    progress: Progress | None = None,
) -> npt.NDArray[np.int32]:
    """Return the score of each query with each target, in integer units.

    Parameters
    ----------
    engine : Engine
    queries, targets : Sequences
        N and M of them. Without targets the queries are compared with each other, each pair once
        if the scoring does not depend on the order of a pair.
    progress : callable, optional
        As in `Engine.scan`.

    Returns
    -------
    ndarray of int32, shape (N, M)

    Raises
    ------
    ValueError
        As `Engine.scores`.
    """
    if targets is not None:
        order = np.argsort(-targets.lengths, kind="stable")
        found = np.empty((len(queries), len(targets)), np.int32)
        (found[:, order],) = engine.scan(queries, [targets.select(order)], progress=progress)
        return found
    order = np.argsort(-queries.lengths, kind="stable")
    ordered = queries.select(order)
    if not (engine.scoring.symmetric and len(queries)):
        return score_matrix(engine, queries, queries, progress=progress)
    found = np.empty((len(queries), len(queries)), np.int32)
    # The longest first: each block meets itself and all shorter ones.
    cells = np.cumsum(ordered.lengths)
    bounds = np.searchsorted(
        cells, cells[-1] * np.arange(1, _BLOCKS_OF_SYMMETRIC_MATRIX) / _BLOCKS_OF_SYMMETRIC_MATRIX
    ).tolist()
    bounds = sorted({0, *bounds, len(queries)})
    for start, stop in pairwise(bounds):
        block, rest = ordered.part(slice(start, stop)), ordered.part(slice(start, None))
        (scores,) = engine.scan(block, [rest], progress=progress)
        found[np.ix_(order[start:stop], order[start:])] = scores
        found[np.ix_(order[start:], order[start:stop])] = scores.T
    return found


def score_matrix_by(
    workers: Workers,
    engine: Engine,
    queries: Sequences,
    targets: Sequences | None = None,
    *,
    progress: Progress | None = None,
) -> npt.NDArray[np.int32]:
    """Return what `score_matrix` does, computed by workers: blocks of queries, a task each."""
    own = targets is None and engine.scoring.symmetric
    others = queries if targets is None else targets
    order = np.argsort(-queries.lengths, kind="stable")
    ordered = queries.select(order)
    found = np.empty((len(queries), len(others)), np.int32)
    cells = np.cumsum(ordered.lengths)
    count = _BLOCKS_OF_SYMMETRIC_MATRIX * task_count(workers) if len(queries) else 0
    cut = np.searchsorted(cells, cells[-1:] * np.arange(1, count) / max(count, 1))
    bounds = np.unique([0, *cut, len(queries)]).tolist()
    blocks = list(pairwise(bounds))
    tasks = [
        _Block(ordered.part(slice(*each)), ordered.part(slice(each[0], None)) if own else others)
        for each in blocks
    ]
    for k, worker, answer in run_tasks(in_order(tasks), workers, engine, "matrix", len(tasks)):
        start, stop = blocks[k]
        if own:
            found[np.ix_(order[start:stop], order[start:])] = answer.value
            found[np.ix_(order[start:], order[start:stop])] = answer.value.T
        else:
            found[order[start:stop]] = answer.value
        done = len(tasks[k].queries.residues) * len(tasks[k].targets.residues)
        worker.measured(done, answer)
        if progress:
            progress(done)
    return found


@dataclass(frozen=True)
class _Block:
    """Some queries, and the targets that they meet."""

    queries: Sequences
    targets: Sequences

    def __call__(self, engine: Any) -> npt.NDArray[np.int32]:
        return score_matrix(engine, self.queries, self.targets)
