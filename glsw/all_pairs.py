"""Score matrices: every sequence of one collection against every one of another, or of itself."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from glsw.engines.base import Engine, Progress
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
