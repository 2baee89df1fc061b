"""The methods of aligners for sparse matrices of all pairs, and what follows from these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.engines.base import Progress
from glsw.pair_collections import PairCollections
from glsw.scoring.two_tracks import check_one_track
from glsw.search.pool import AnyExecutor
from glsw.sequences.collections import ManySequences

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from glsw.distances import Distance


class BestHits(NamedTuple):
    """Pairs of sequences of which each is the best hit of the other.

    Parameters
    ----------
    a, b : ndarray of int64, shape (N,)
        Their numbers, those of ``a`` ascending.
    value : ndarray, shape (N,)
        See `glsw.neighbors`.
    """

    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    value: npt.NDArray[Any]


class Neighbors(PairCollections):
    """Base of `glsw.Aligner`: sparse matrices of all pairs."""

    def neighbors(
        self,
        sequences: ManySequences,
        other: ManySequences | None = None,
        *,
        cutoff: float,
        k: int | None = None,
        distance: Distance = "score",
        min_score: float | None = None,
        progress: Progress | None = None,
        executor: AnyExecutor | None = None,
    ) -> csr_array:
        """Return the pairs of sequences that are near enough, of all pairs, as a sparse matrix.

        Parameters, results and errors are those of `glsw.neighbors`.

        Examples
        --------
        >>> from glsw import Aligner
        >>> aligner = Aligner(engine="reference")
        >>> aligner.neighbors(["HEAGAWGHEE", "PAWHEAE", "HEAE"], cutoff=20).toarray()
        array([[62,  0,  0],
               [ 0, 44, 22],
               [ 0, 22, 22]], dtype=int32)
        """
        return self._near(sequences, other, cutoff, k, distance, min_score, progress, executor)

    def reciprocal_best_hits(
        self,
        a: ManySequences,
        b: ManySequences,
        *,
        cutoff: float = 1,
        distance: Distance = "score",
        min_score: float | None = None,
        progress: Progress | None = None,
        executor: AnyExecutor | None = None,
    ) -> BestHits:
        """Return the pairs of sequences of which each is the best hit of the other.

        Parameters, results and errors are those of `glsw.reciprocal_best_hits`.

        Examples
        --------
        >>> from glsw import Aligner
        >>> found = Aligner(engine="reference").reciprocal_best_hits(["HEAG", "PAWH"], ["PAW"])
        >>> found.a.tolist(), found.b.tolist(), found.value.tolist()
        ([1], [0], [22])
        """
        found = self._near(
            a, b, cutoff, 1, distance, min_score, progress, executor, reciprocal=True
        )
        rows = np.flatnonzero(np.diff(found.indptr))
        return BestHits(rows, found.indices.astype(np.int64), found.data)

    def clusters(
        self,
        sequences: ManySequences,
        *,
        cutoff: float,
        distance: Distance = "score",
        min_score: float | None = None,
        progress: Progress | None = None,
        executor: AnyExecutor | None = None,
    ) -> npt.NDArray[np.int64]:
        """Return the number of the cluster of each sequence, by single linkage at a cutoff.

        Parameters, results and errors are those of `glsw.clusters`.

        Examples
        --------
        >>> from glsw import Aligner
        >>> Aligner(engine="reference").clusters(["HEAG", "PAWH", "HEAA"], cutoff=17)
        array([0, 1, 0])
        """
        from glsw.near_pairs import scipy_sparse

        sparse = scipy_sparse()
        found = self._near(sequences, None, cutoff, None, distance, min_score, progress, executor)
        found.data = np.ones(found.nnz, np.int8)  # distances of 0 are edges too
        _, labels = sparse.csgraph.connected_components(found, connection="weak")
        _, first, label = np.unique(labels, return_index=True, return_inverse=True)
        numbers: npt.NDArray[np.int64] = np.argsort(np.argsort(first))[label]
        return numbers

    def _near(
        self,
        sequences: ManySequences,
        other: ManySequences | None,
        cutoff: float,
        k: int | None,
        distance: Distance,
        min_score: float | None,
        progress: Progress | None,
        executor: AnyExecutor | None,
        *,
        reciprocal: bool = False,
    ) -> csr_array:
        from glsw.distances import rule_of
        from glsw.near_pairs import near_pairs, scipy_sparse

        check_one_track(self.scoring, "a matrix of neighbors")
        scipy_sparse()  # an error before anything is computed
        if k is not None and k < 1:
            raise ValueError(f"k {k}: at least 1, or None for all, expected")
        queries, targets = self._sides(sequences, other)
        with self.engine.turn:
            workers = self._pool.workers(executor)
            return near_pairs(
                self.engine,
                queries,
                targets,
                rule_of(self.engine, queries, targets, distance, cutoff, min_score),
                k=k,
                reciprocal=reciprocal,
                ties=self.ties,
                workers=workers,
                progress=progress,
            )
