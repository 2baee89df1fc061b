"""What an aligner does with collections of sequences: many pairs, and each with each."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.engines.base import Engine, Progress, Ties
from glsw.inputs import InputEncoder
from glsw.profiles.profile import Profile
from glsw.results import PairAlignments
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import check_one_track
from glsw.search.pool import AnyExecutor, PoolUser
from glsw.sequences.collections import Collection, ManySequences
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    from typing_extensions import Self

    from glsw.many_pairs import Index

Scores: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.float64]
"""In units of the matrix: float64 where it or the gap costs have decimals."""


def checked_most(max_alignments: int | None) -> int | None:
    """Return a number of alignments as `itertools.islice` takes it; ValueError if it is none."""
    if max_alignments is None:
        return None
    if max_alignments < 1 or max_alignments != int(max_alignments):
        raise ValueError(f"max_alignments {max_alignments}: at least 1, or None for all, expected")
    return min(int(max_alignments), sys.maxsize)


class PairCollections(PoolUser):
    """Base of `glsw.Aligner`: its methods for collections of pairs."""

    scoring: Scoring
    engine: Engine
    ties: Ties
    _inputs: InputEncoder

    def score_matrix(
        self,
        queries: ManySequences | Profile | list[Profile],
        targets: ManySequences | None = None,
        *,
        out: npt.NDArray[Any] | None = None,
        progress: Progress | None = None,
        executor: AnyExecutor | None = None,
    ) -> Scores:
        """Return the score of every query with every target.

        Parameters
        ----------
        queries, targets : path, list or array of sequences
            As for `score_pairs`, and queries may be `glsw.Profile`. Without targets, the queries
            are compared with each other, each pair once if the scoring does not depend on the order
            of a pair.
        out : ndarray, shape (queries, targets), optional
            Where to put the result, such as a memory map: of int32 or wider, of floats if the
            matrix or the gap costs have decimals. Besides it there is a tile of 2**25 scores.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.
        executor : concurrent.futures.Executor or distributed.Client, optional
            Computes blocks of the matrix, as in `search`.

        Returns
        -------
        ndarray of int32, shape (queries, targets)
            In units of the matrix: float64 if it or the gap costs have decimals.

        Raises
        ------
        ValueError
            As in `score`; for an ``out`` of another shape or of another kind of numbers.

        Examples
        --------
        >>> from glsw import Aligner
        >>> Aligner(engine="reference").score_matrix(["HEAGAWGHEE", "PAWHEAE", "HEAE"])
        array([[62, 17, 17],
               [17, 44, 22],
               [17, 22, 22]], dtype=int32)
        """
        from glsw.all_pairs import score_matrix

        aligner, given = self._for(queries)
        if targets is None and aligner is not self:
            raise ValueError("profiles are compared with targets, not with each other")
        sides = aligner._sides(given, targets)
        with aligner.engine.turn:
            workers = aligner._pool.workers(executor)
            options: Any = {"workers": workers, "progress": progress, "out": out}
            return score_matrix(aligner.engine, *sides, **options)

    def _for(self, queries: Any) -> tuple[Self, Any]:
        """Return the aligner that computes queries, and these."""
        return self, queries

    def _sides(
        self, queries: ManySequences, targets: ManySequences | None
    ) -> tuple[Sequences, Sequences | None]:
        """Return the codes of one or two collections."""
        first, second = self._inputs.collections(queries, targets)
        return first.sequences, None if targets is None else second.sequences

    def score_pairs(
        self,
        queries: ManySequences,
        targets: ManySequences | None = None,
        *,
        pairs: Index | None = None,
        progress: Progress | None = None,
        executor: AnyExecutor | None = None,
    ) -> Scores:
        """Return the score of each of many pairs.

        Parameters
        ----------
        queries, targets : path, list of sequences, Sequences, or array
            Without ``pairs`` the first query belongs to the first target and so on; one sequence
            belongs to all of the other side. Without targets ``pairs`` are of the queries. Text is
            a list of str or bytes, an array of dtype ``S`` or ``U``, or Arrow's strings; codes are
            `Sequences`, an array of uint8, shape (N, length), or Arrow's lists of uint8.
        pairs : array of int, shape (N, 2), or two of shape (N,), optional
            The query and the target of each pair, counted from 0.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.
        executor : concurrent.futures.Executor or distributed.Client, optional
            Computes chunks of pairs, as in `search`.

        Returns
        -------
        ndarray of int32, shape (N,)
            In units of the matrix: float64 if it or the gap costs have decimals.

        Raises
        ------
        TypeError
            If ``pairs`` are not integers, or missing where they are needed.
        ValueError
            For letters or codes outside the alphabet, lists that do not pair up, and numbers of
            sequences that do not exist.

        Notes
        -----
        Pairs are computed in chunks, so that the memory of a device bounds neither their number nor
        their lengths. With several devices each computes a part of them.

        Examples
        --------
        >>> from glsw import Aligner
        >>> aligner = Aligner(engine="reference")
        >>> aligner.score_pairs(["HEAGAWGHEE", "HEAE"], ["PAWHEAE", "HEAGE"])
        array([17, 17], dtype=int32)
        >>> aligner.score_pairs(["HEAGAWGHEE", "PAWHEAE", "HEAE"], pairs=[[0, 1], [2, 1]])
        array([17, 22], dtype=int32)
        """
        from glsw.many_pairs import score_pairs

        _, batch = self._many(queries, targets, pairs)
        with self.engine.turn:
            workers = self._pool.workers(executor)
            scores = score_pairs(self.engine, batch, workers, progress)
        return self.scoring.in_matrix_units(scores)

    def align_pairs(
        self,
        queries: ManySequences,
        targets: ManySequences | None = None,
        *,
        pairs: Index | None = None,
        progress: Progress | None = None,
        executor: AnyExecutor | None = None,
    ) -> PairAlignments:
        """Return the best alignment of each of many pairs, as arrays.

        Parameters and errors as of `score_pairs`; each alignment is the one that `align` returns.

        Examples
        --------
        >>> from glsw import Aligner
        >>> found = Aligner(engine="reference").align_pairs(["HEAGAWGHEE"], ["PAWHEAE", "HEAGE"])
        >>> found.score.tolist(), found.identities.tolist(), found.cigars()
        ([17, 23], [3, 4], ['2=3X1=', '4='])
        >>> found.alignment(1).shape
        (2, 4)
        """
        from glsw.many_pairs import align_pairs

        check_one_track(self.scoring, "align_pairs")
        sides, batch = self._many(queries, targets, pairs)
        with self.engine.turn:
            workers = self._pool.workers(executor)
            found = align_pairs(self.engine, batch, self.ties, workers, progress)
        return PairAlignments(self.scoring, *sides, batch.index, *found)

    def _many(
        self, queries: ManySequences, targets: ManySequences | None, pairs: Index | None
    ) -> tuple[tuple[Collection, Collection], Batch]:
        from glsw.many_pairs import index_of

        sides = self._inputs.collections(queries, targets)
        if targets is None and pairs is None:
            raise TypeError("targets, or pairs of the queries, expected")
        both = sides[0].sequences, sides[1].sequences
        return sides, Batch(both, index_of(pairs, *map(len, both)))
