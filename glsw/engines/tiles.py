"""Tiles of the table of all pairs: what engines compute of them, and which pairs pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from glsw.arrays import Int32
from glsw.sequences.encoded import Sequences

ALWAYS, NEVER = -(2**31) + 1, 2**31 - 1
"""Bounds that every score reaches, and none."""


@dataclass(frozen=True, eq=False)
class ScanTile:
    """Some queries and some targets, each with each.

    Parameters
    ----------
    queries, targets : Sequences
    into : ndarray of int32, shape (queries, targets), optional
        Where the scores go, see `room`.
    """

    queries: Sequences
    targets: Sequences
    into: Int32 | None = field(default=None, kw_only=True)

    def room(self) -> Int32:
        """Return an array for the scores, with any numbers in it."""
        if self.into is not None:
            return self.into
        return np.empty((len(self.queries), len(self.targets)), np.int32)

    def answer(self, scores: Int32) -> Any:
        """Return what `Engine.answers` yields, given all scores, shape (queries, targets)."""
        return scores


@dataclass(frozen=True, eq=False)
class BoundedTile(ScanTile):
    """A tile whose pairs pass if they reach the lesser bound.

    Parameters
    ----------
    queries, targets : Sequences
    query_bounds : ndarray of int32, shape (queries,)
        In integer units of the scoring, from `ALWAYS` to `NEVER`.
    target_bounds : ndarray of int32, shape (targets,)
    """

    query_bounds: Int32
    target_bounds: Int32

    def answer(self, scores: Int32) -> Passing:
        """Return the pairs that pass.

        Examples
        --------
        >>> nothing = Sequences.of([])
        >>> bounds = np.array([5, 3], np.int32), np.array([9, 4, 9], np.int32)
        >>> tile = BoundedTile(nothing, nothing, *bounds)
        >>> found = tile.answer(np.array([[5, 4, 4], [3, 3, 2]]))
        >>> [values.tolist() for values in found]
        [[0, 0, 1, 1], [0, 1, 0, 1], [5, 4, 3, 3]]
        """
        bounds = np.minimum(self.query_bounds[:, None], self.target_bounds)
        query, target = np.nonzero(scores >= bounds)
        found = scores[query, target].astype(np.int32)
        return Passing(query.astype(np.int32), target.astype(np.int32), found)


class Passing(NamedTuple):
    """The pairs of a tile that pass, in the order of the queries, then the targets.

    Parameters
    ----------
    query, target : ndarray of int32, shape (N,)
        Their numbers in the tile.
    score : ndarray of int32, shape (N,)
        In integer units.
    """

    query: Int32
    target: Int32
    score: Int32
