"""The methods of aligners for sparse matrices of all pairs, and what follows from these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glsw.distances import Distance, rule_of
from glsw.engines.base import Progress
from glsw.near_pairs import near_pairs, scipy_sparse
from glsw.pair_collections import PairCollections
from glsw.search.pool import AnyExecutor
from glsw.sequences.collections import ManySequences

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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
