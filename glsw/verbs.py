"""The functions score, score_pairs, align, search and others, which create an aligner per call.

If no scoring is given, letters decide: `glsw.Scoring.nucleotide()` for nucleic acid, with a
`KindWarning`, and `glsw.Scoring.blast()` for proteins; one with the other is a ValueError.
``docs/INPUTS.md`` has the rule.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import NoneType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from glsw.aligner import Aligner, BestHits, Scores
from glsw.alignment.alignment import Alignment
from glsw.alignment.hits import SearchResult
from glsw.alignment.table import PairAlignments
from glsw.engines.base import Progress
from glsw.inputs.kinds import chosen
from glsw.inputs.source import Many, One, Queries, Single
from glsw.options import (
    AlignerOptions,
    AlignerSearchOptions,
    HitOptions,
    SearchOptions,
    apart,
    listing,
)
from glsw.pairs.distances import Distance
from glsw.pairs.many_pairs import Index
from glsw.run.pool import SharedIterator
from glsw.scoring.positional import PositionalQuery
from glsw.sequences.database import Database

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from scipy.sparse import csr_array
    from typing_extensions import Unpack


_KEPT = 8  # aligners for single pairs
_OFFERS = {
    "query": "genetic_code=1 translates the query",
    "target": "target_genetic_code=1 translates the targets",
}
"""What a search can do if one side is nucleic acid and the other is not, by its name."""
_OFFERS_OF_PAIRS = {
    "query": "glsw.search(..., genetic_code=1) translates the query",
    "target": "glsw.search(..., target_genetic_code=1) translates the target",
}
"""The same, of what is no search."""


def _for_pairs(options: Mapping[str, Any], query: Any, target: Any) -> tuple[Any, list[Any]]:
    """Return the options of verbs that take sequences as they are given, see `chosen`."""
    return chosen(options, offers=_OFFERS_OF_PAIRS, one_strand=True, query=query, target=target)


@lru_cache(_KEPT, typed=True)
def _kept(process: int, **options: Any) -> Aligner:
    """Return an aligner with these options, one of the last."""
    return Aligner(**options)


@contextmanager
def _ready(options: Any, query: Any, target: Any) -> Iterator[tuple[Aligner, Any]]:
    """Give an aligner, for a pair of single sequences a kept one, and the queries as it gets them.

    It is kept unless it failed, or its buffers take memory of a device.
    """
    single = query and target and query.single and target.single and query.profiles is None
    keys = all(isinstance(each, Hashable) for each in options.values())
    if not single or not keys or type(options.get("device")) not in (int, NoneType):
        aligner, queries = Aligner.for_queries(query, **options)
        with aligner:
            yield aligner, queries
        return
    aligner = _kept(os.getpid(), **options)
    fine = False
    try:
        yield aligner, query
        fine = not aligner.engine.memory_used
    finally:
        if not fine:
            _kept.cache_clear()


@overload
def score(  # type: ignore[overload-overlap]
    queries: Single | PositionalQuery, targets: Single, **options: Unpack[AlignerOptions]
) -> int | float: ...
@overload
def score(queries: Queries, targets: Many, **options: Unpack[AlignerOptions]) -> Scores: ...
@listing(AlignerOptions, Aligner.score, Aligner)
def score(
    queries: Queries, targets: Many, **options: Unpack[AlignerOptions]
) -> int | float | Scores:
    """Return the best score of each pair: `Aligner.score` of an `Aligner` with these options.

    Examples
    --------
    >>> import glsw
    >>> glsw.score("ACGT", ["ACGT", "AGT"], scoring=glsw.Scoring.match_mismatch(2, -1, 1, 1))
    array([8, 5], dtype=int32)
    """
    given, (queries, targets) = _for_pairs(options, queries, targets)
    with _ready(given, queries, targets) as (aligner, queries):
        return aligner.score(queries, targets)


@listing(AlignerOptions, Aligner.score_matrix, Aligner)
def score_matrix(
    queries: Queries,
    targets: Many | None = None,
    *,
    out: npt.NDArray[Any] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    **options: Unpack[AlignerOptions],
) -> Scores:
    """Return the score of every query with every target: `Aligner.score_matrix`.

    Examples
    --------
    >>> import glsw
    >>> glsw.score_matrix(["ACGT", "AGT"], scoring=glsw.Scoring.match_mismatch(2, -1, 1, 1))
    array([[8, 5],
           [5, 6]], dtype=int32)
    """
    given, (queries, targets) = _for_pairs(options, queries, targets)
    with Aligner(**given) as aligner:
        return aligner.score_matrix(queries, targets, out=out, progress=progress, executor=executor)


@listing(AlignerOptions, Aligner.score_pairs, Aligner)
def score_pairs(
    queries: Many,
    targets: Many | None = None,
    *,
    pairs: Index | None = None,
    scores: Iterable[npt.ArrayLike] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    **options: Unpack[AlignerOptions],
) -> Scores:
    """Return the score of each of many pairs: `Aligner.score_pairs`.

    Examples
    --------
    >>> import glsw
    >>> glsw.score_pairs(["HEAGAWGHEE", "PAWHEAE", "HEAE"], pairs=[[0, 1], [2, 1]])
    array([17, 22], dtype=int32)
    """
    given, (queries, targets) = _for_pairs(options, queries, targets)
    with Aligner(**given) as aligner:
        return aligner.score_pairs(
            queries,
            targets,
            pairs=pairs,
            scores=scores,
            progress=progress,
            executor=executor,
        )


@listing(AlignerOptions, Aligner.align_pairs, Aligner)
def align_pairs(
    queries: Many,
    targets: Many | None = None,
    *,
    pairs: Index | None = None,
    scores: Iterable[npt.ArrayLike] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    **options: Unpack[AlignerOptions],
) -> PairAlignments:
    """Return the best alignment of each of many pairs, as arrays: `Aligner.align_pairs`.

    Examples
    --------
    >>> import glsw
    >>> glsw.align_pairs(["HEAGAWGHEE", "HEAE"], ["PAWHEAE", "HEAGE"], mode="global").cigars()
    ['3I1X2=3X1=', '3=1D1=']
    """
    given, (queries, targets) = _for_pairs(options, queries, targets)
    with Aligner(**given) as aligner:
        return aligner.align_pairs(
            queries,
            targets,
            pairs=pairs,
            scores=scores,
            progress=progress,
            executor=executor,
        )


@listing(AlignerOptions, Aligner.neighbors, Aligner)
def neighbors(
    sequences: Many,
    other: Many | None = None,
    *,
    cutoff: float,
    k: int | None = None,
    distance: Distance = "score",
    min_score: float | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    **options: Unpack[AlignerOptions],
) -> csr_array:
    """Return all pairs of sequences within a cutoff, as a sparse matrix.

    Without ``other`` this is the whole matrix: it contains each pair in both orders, and each
    sequence with itself. The command ``glsw neighbors`` lists each pair once, as does
    ``scipy.sparse.triu(found, 1)`` if the order of a pair does not matter.

    Every pair is computed exactly; only pairs within the cutoff take memory. Of a list of devices
    all compute. Needs SciPy, the extra ``glsw[sparse]``.

    Returns
    -------
    scipy.sparse.csr_array, shape (sequences, other)
        The values of the pairs within the cutoff, with sorted indices. Scores and differences are
        int32, or float64 if the matrix or the gap costs have decimals; identities and E-values are
        float64. ``scipy.sparse.csr_matrix(found)`` converts it to a matrix.

    Raises
    ------
    ModuleNotFoundError
        If SciPy is not installed.
    ValueError
        As in `score`; for a ``cutoff`` that excludes or includes every pair; for E-values without
        published constants for the scoring.

    Notes
    -----
    Without ``other``, a sequence and itself are a pair like any other, on the diagonal if within
    the cutoff, with the value of its alignment with itself.

    A difference of 0 is stored as 0. SciPy keeps such entries until `eliminate_zeros` is called,
    but some operations drop them. scirpy stores distances plus 1, so that 0 means no entry:
    ``found.data += 1`` gives that form.

    Without ``other`` and with a symmetric scoring, both entries of a pair have the identity of the
    alignment whose query has the lower index.

    Examples
    --------
    >>> import glsw
    >>> words = ["CASSLGQAYEQYF", "CASSLGQGYEQYF", "CASSPTGGYEQYF"]
    >>> found = glsw.neighbors(words, cutoff=10, distance="self")
    >>> found.indices.tolist(), found.indptr.tolist(), found.data.tolist()
    ([0, 1, 0, 1, 2], [0, 2, 4, 5], [0, 4, 4, 0, 0])
    """
    given, (sequences, other) = chosen(options, one_strand=True, sequences=sequences, other=other)
    with Aligner(**given) as aligner:
        return aligner.neighbors(
            sequences,
            other,
            cutoff=cutoff,
            k=k,
            distance=distance,
            min_score=min_score,
            progress=progress,
            executor=executor,
        )


@listing(AlignerOptions, Aligner.align, Aligner)
def align(
    query: One | PositionalQuery, target: One, **options: Unpack[AlignerOptions]
) -> Alignment:
    """Return the best alignment: `Aligner.align` of an `Aligner` with these options.

    Examples
    --------
    >>> import glsw
    >>> glsw.align("HEAGAWGHEE", "PAWHEAE").cigar
    '2=3X1='
    >>> glsw.align("HEAGAWGHEE", "PAWHEAE", mode="global").score
    1
    """
    given, (query, target) = _for_pairs(options, query, target)
    with _ready(given, query, target) as (aligner, query):
        return aligner.align(query, target)


@listing(AlignerOptions, Aligner.alignments, Aligner)
def alignments(
    query: One | PositionalQuery,
    target: One,
    *,
    max_alignments: int | None = None,
    min_score: float | None = None,
    scores: npt.ArrayLike | None = None,
    progress: Progress | None = None,
    **options: Unpack[AlignerOptions],
) -> Iterator[Alignment]:
    """Return alignments that share no aligned pair: `Aligner.alignments` with these options.

    Examples
    --------
    >>> import glsw
    >>> for found in glsw.alignments("HEAGAWGHEE", "PAWHEAE", max_alignments=3):
    ...     print(found.score, found.cigar)
    17 2=3X1=
    17 3=
    13 2=
    """
    given, (query, target) = _for_pairs(options, query, target)
    with Aligner(**given) as aligner:  # all is computed in this process
        return aligner.alignments(
            query,
            target,
            max_alignments=max_alignments,
            min_score=min_score,
            scores=scores,
            progress=progress,
        )


@overload
def search(  # type: ignore[overload-overlap]
    query: Single | PositionalQuery,
    database: Many | Database,
    **options: Unpack[AlignerSearchOptions],
) -> SearchResult: ...
@overload
def search(
    query: Queries, database: Many | Database, **options: Unpack[AlignerSearchOptions]
) -> Iterator[SearchResult]: ...
@listing(AlignerSearchOptions, HitOptions, SearchOptions, Aligner)
def search(
    query: Queries, database: Many | Database, **options: Unpack[AlignerSearchOptions]
) -> SearchResult | Iterator[SearchResult]:
    """Rank the sequences of a database by their best alignment with a query.

    DNA is searched with both strands of a query. With ``genetic_code``, proteins are searched
    with the translations of a DNA query in the frames +1, +2, +3, -1, -2, -3, as by blastx; with
    ``target_genetic_code`` a protein searches the translations of DNA targets, as by tblastn; with
    both, translations are compared with translations, as by tblastx. The best alignment of any
    strand or frame counts; among equal ones, the first.

    Parameters
    ----------
    query : sequence, path or list of sequences
        Or a `glsw.Profile`, or a list of them, with their own scores and gap costs.
    database : Database, path or list of sequences
        A path may lead to a database written by `glsw.makedb`.
    **options
        Of `glsw.options.SearchOptions`, and of `Aligner`.

    Returns
    -------
    SearchResult or iterator of SearchResult
        One result for a single query. For a file or a list of queries an iterator, which computes
        results on demand, several at a time if the database is searched in parts. Hits with equal
        scores are in the order of the database.

    Raises
    ------
    OSError, TypeError, ValueError
        If a file cannot be read, a sequence has letters outside the alphabet, no scoring is given
        and some are nucleic acid and others proteins, all letters of the only query are masked, the
        database has another alphabet or is not masked, there is no such genetic code, or there are
        no statistics for the requested E-values.
    DeviceError
        If a part of the database fails on two devices, or on four workers of a cluster; if no
        worker of a cluster has the device, this version of glsw and the database.
    ConnectionError
        If the scheduler of a cluster is lost.

    Warns
    -----
    RuntimeWarning
        If letters count as others, see `Alphabet.substitutes`: once, with their number. If a device
        fails or its process dies: another one repeats its part. If one of several queries is
        masked completely, or has too few scores for the requested E-values: it gets no hits.

    Examples
    --------
    >>> import glsw
    >>> result = glsw.search("HEAGAWGHEE", ["PPPPPP", "PAWHEAE"], top=5, composition=0)
    >>> [(hit.rank, hit.target.id, hit.score) for hit in result]
    [(1, 'target 2', 17)]

    The complement of a gene for the second one:

    >>> gene = "TTCTGCTTCATGCCACGCCGG"
    >>> (hit,) = glsw.search(gene, ["PPPPPP", "PAWHEAE"], top=1, genetic_code=1, composition=0)
    >>> hit.score, hit.context.frame, hit.hsps[0].query_place, hit.alignment.query.letters
    (44, -1, (21, 1), 'PAWHEAE')
    """
    of_aligner, of_search = apart("search", options)
    codes = ("query", "genetic_code"), ("target", "target_genetic_code")
    translated = [side for side, code in codes if of_search.get(code) is not None]
    of_aligner, (query, database) = chosen(
        of_aligner, translated=translated, offers=_OFFERS, query=query, target=database
    )
    aligner, query = Aligner.for_queries(query, **of_aligner)
    try:
        found: Any = aligner.search(query, database, **of_search)
    except BaseException:
        aligner.close()
        raise
    if isinstance(found, SearchResult):
        aligner.close()
        return found
    several: SharedIterator[SearchResult] = found
    return several.before_end(aligner.close)


@listing(AlignerOptions, Aligner.reciprocal_best_hits, Aligner)
def reciprocal_best_hits(
    a: Many,
    b: Many,
    *,
    cutoff: float = 1,
    distance: Distance = "score",
    min_score: float | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    **options: Unpack[AlignerOptions],
) -> BestHits:
    """Return the pairs of sequences that are each other's best hit.

    Every pair is computed exactly, once. Memory does not grow with the number of all pairs. Needs
    SciPy, the extra ``glsw[sparse]``.

    Returns
    -------
    BestHits
        The indices of both sequences, and the value. Among equal values the lowest index wins.

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


@listing(AlignerOptions, Aligner.clusters, Aligner)
def clusters(
    sequences: Many,
    *,
    cutoff: float,
    distance: Distance = "score",
    min_score: float | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    **options: Unpack[AlignerOptions],
) -> npt.NDArray[np.int64]:
    """Cluster sequences by single linkage at a cutoff.

    Two sequences are in the same cluster if a chain of pairs within the cutoff connects them:
    clusters are the connected components of `glsw.neighbors`. Needs SciPy, the extra
    ``glsw[sparse]``.

    Returns
    -------
    ndarray of int64, shape (sequences,)
        The cluster of each sequence, numbered from 0 in the order of their first sequences.

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
