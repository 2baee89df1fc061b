"""What follows from sparse matrices of all pairs, without an aligner to keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glsw.align import Aligner
from glsw.distances import Distance
from glsw.engines.base import Progress
from glsw.kinds import chosen
from glsw.neighbors import BestHits
from glsw.search.pool import AnyExecutor
from glsw.sequences.collections import ManySequences

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from glsw.verbs import AlignerOptions


def reciprocal_best_hits(
    a: ManySequences,
    b: ManySequences,
    *,
    cutoff: float = 1,
    distance: Distance = "score",
    min_score: float | None = None,
    progress: Progress | None = None,
    executor: AnyExecutor | None = None,
    **options: Unpack[AlignerOptions],
) -> BestHits:
    """Return the pairs of sequences of which each is the best hit of the other.

    All pairs are computed, once; memory is needed for the pairs that pass of some tiles only. It
    needs SciPy, the extra ``glsw[sparse]``.

    Parameters
    ----------
    a, b : path, list or array of sequences
        Such as the proteins of two species, given as for `score_pairs`.
    cutoff, distance, min_score, progress, executor, **options
        Which pairs can be hits, and their values: as for `glsw.neighbors`. The E-value of a pair is
        that of a search with the sequence of ``a`` in a database of all of ``b``, on both ways.

    Returns
    -------
    BestHits
        The numbers of both, and the value. The best of equal values is the one with the lowest
        number.

    Raises
    ------
    ModuleNotFoundError, ValueError
        As `glsw.neighbors`.

    Examples
    --------
    >>> import glsw
    >>> found = glsw.reciprocal_best_hits(["HEAGAWGHEE", "MKVLAT"], ["MKVIAT", "GAWGHE", "HEAE"])
    >>> list(zip(*(each.tolist() for each in found)))
    [(0, 1, 40), (1, 0, 25)]
    """
    given, (a, b) = chosen(options, a=a, b=b)
    with Aligner(**given) as aligner:
        return aligner.reciprocal_best_hits(
            a,
            b,
            cutoff=cutoff,
            distance=distance,
            min_score=min_score,
            progress=progress,
            executor=executor,
        )


def clusters(
    sequences: ManySequences,
    *,
    cutoff: float,
    distance: Distance = "score",
    min_score: float | None = None,
    progress: Progress | None = None,
    executor: AnyExecutor | None = None,
    **options: Unpack[AlignerOptions],
) -> npt.NDArray[np.int64]:
    """Return the number of the cluster of each sequence, by single linkage at a cutoff.

    Two sequences are in one cluster if a chain of pairs that pass leads from one to the other: the
    connected components of `glsw.neighbors`. It needs SciPy, the extra ``glsw[sparse]``.

    Parameters
    ----------
    sequences : path, list or array of sequences
        Given as for `score_pairs`.
    cutoff, distance, min_score, progress, executor, **options
        Which pairs pass: as for `glsw.neighbors`.

    Returns
    -------
    ndarray of int64, shape (sequences,)
        Clusters are numbered from 0 in the order of their first sequences.

    Raises
    ------
    ModuleNotFoundError, ValueError
        As `glsw.neighbors`.

    Examples
    --------
    >>> import glsw
    >>> words = ["CASSLGQAYEQYF", "CSARDRTGNGYTF", "CASSLGQGYEQYF", "CASSLGQGYEQFF"]
    >>> glsw.clusters(words, cutoff=6, distance="self")
    array([0, 1, 0, 0])
    """
    given, (sequences,) = chosen(options, sequences=sequences)
    with Aligner(**given) as aligner:
        return aligner.clusters(
            sequences,
            cutoff=cutoff,
            distance=distance,
            min_score=min_score,
            progress=progress,
            executor=executor,
        )
