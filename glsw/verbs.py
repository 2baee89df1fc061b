"""The verbs score, score_pairs, align, search and others, without an aligner to keep.

If no scoring is given, letters decide: `glsw.Scoring.nucleotide()` for nucleic acid, with a
`KindWarning`, and `glsw.Scoring.blast()` for proteins; one with the other is a ValueError.
``docs/INPUTS.md`` has the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from glsw.aligner import Aligner, BestHits, Scores
from glsw.alignment.alignment import Alignment
from glsw.alignment.hits import SearchResult
from glsw.alignment.table import PairAlignments
from glsw.engines.base import Progress
from glsw.inputs import Queries
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
from glsw.run.pool import AnyExecutor, SharedIterator
from glsw.scoring.kinds import chosen
from glsw.scoring.positional import PositionalQuery
from glsw.sequences.database import Database
from glsw.sequences.named import Many, One, Single

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from typing_extensions import Unpack


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
    aligner, queries = Aligner.for_queries(queries, **given)
    with aligner:
        return aligner.score(queries, targets)


@listing(AlignerOptions, Aligner.score_matrix, Aligner)
def score_matrix(
    queries: Queries,
    targets: Many | None = None,
    *,
    out: npt.NDArray[Any] | None = None,
    progress: Progress | None = None,
    executor: AnyExecutor | None = None,
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
    progress: Progress | None = None,
    executor: AnyExecutor | None = None,
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
            queries, targets, pairs=pairs, progress=progress, executor=executor
        )


@listing(AlignerOptions, Aligner.align_pairs, Aligner)
def align_pairs(
    queries: Many,
    targets: Many | None = None,
    *,
    pairs: Index | None = None,
    progress: Progress | None = None,
    executor: AnyExecutor | None = None,
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
            queries, targets, pairs=pairs, progress=progress, executor=executor
        )


@listing(AlignerOptions, Aligner)
def neighbors(
    sequences: Many,
    other: Many | None = None,
    *,
    cutoff: float,
    k: int | None = None,
    distance: Distance = "score",
    min_score: float | None = None,
    progress: Progress | None = None,
    executor: AnyExecutor | None = None,
    **options: Unpack[AlignerOptions],
) -> csr_array:
    """Return all pairs of sequences within a cutoff, as a sparse matrix.

    Without ``other`` it is the whole matrix: a pair stands in it in both orders, and each sequence
    with itself. The command ``glsw neighbors`` lists each pair once; so has
    ``scipy.sparse.triu(found, 1)`` where the order does not matter.

    All pairs are computed, exactly; only those that pass take memory. It needs SciPy, the extra
    ``glsw[sparse]``.

    Parameters
    ----------
    sequences : path, list or array of sequences
        The rows of the matrix, given as for `score_pairs`.
    other : path, list or array of sequences, optional
        The columns; without it the sequences themselves. Then each pair is computed once if the
        scoring does not depend on the order of a pair.
    cutoff : float
        The least score or identity, or the largest difference or E-value.
    k : int, optional
        The number of pairs to keep of each row, the best by their values; of equal ones those with
        the lowest columns. Without ``other`` a sequence itself is not counted.
    distance : {"score", "self", "identity", "evalue"}
        The value of a pair. ``"score"``: its best score. ``"self"``: the lesser of the scores of
        both with themselves, minus its score, the distance of scirpy. ``"identity"``: the equal
        columns of its best alignment, divided by all columns, from 0 to 1. ``"evalue"``: that of a
        search with the sequence of the row in a database of all columns, with the published
        constants of the scoring.
    min_score : float, optional
        The least score of a pair, whatever its value; only pairs that reach it are aligned for
        their identities. For local identities it is 1 unless given.
    progress : callable, optional
        Called now and then with the number of cells finished since the last call.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Computes parts of the table of all pairs, as in `search`.
    **options
        Of `Aligner`. Of a list of devices all compute.

    Returns
    -------
    scipy.sparse.csr_array, shape (sequences, other)
        The values of the pairs that pass, with sorted indices. Scores and differences are int32, or
        float64 if the matrix or the gap costs have decimals; identities and E-values float64.
        ``scipy.sparse.csr_matrix(found)`` is the same as a matrix.

    Raises
    ------
    ModuleNotFoundError
        If SciPy is not installed.
    ValueError
        As in `score`; for a ``cutoff`` that no pair or every pair has, and E-values without
        published constants for the scoring.

    Notes
    -----
    The diagonal: without ``other`` each sequence is a pair with itself like any other, so it is
    there if it passes. Its value is that of its alignment with itself.

    A difference of 0 is stored as 0. SciPy keeps such entries until `eliminate_zeros` is called,
    but some operations drop them. scirpy stores distances plus 1, so that 0 means no entry:
    ``found.data += 1`` gives that form.

    Without ``other`` and with a symmetric scoring, the identity of a pair is in both places that of
    the alignment whose query has the lower number.

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
    with Aligner(**given) as aligner:
        return aligner.align(query, target)


@listing(AlignerOptions, Aligner.alignments, Aligner)
def alignments(
    query: One | PositionalQuery,
    target: One,
    *,
    max_alignments: int | None = None,
    min_score: float | None = None,
    progress: Progress | None = None,
    **options: Unpack[AlignerOptions],
) -> Iterator[Alignment]:
    """Return alignments without a common aligned pair: `Aligner.alignments` with these options.

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
            query, target, max_alignments=max_alignments, min_score=min_score, progress=progress
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
    both translations meet translations, as by tblastx. The best alignment of any strand or frame
    counts, the first one of equal ones.

    Parameters
    ----------
    query : sequence, path or list of sequences
        Or a `glsw.Profile`, or a list of them, with their own scores and gap costs.
    database : Database, path or list of sequences
        A path may be that of a file of `glsw.makedb`.
    **options
        Of `glsw.options.SearchOptions`, and of `Aligner`.

    Returns
    -------
    SearchResult or iterator of SearchResult
        One result for a single query. For a file or a list of queries an iterator, which
        computes each result when it is asked for, several at a time if the database is searched
        in parts. Hits with equal scores are in the order of the database.

    Raises
    ------
    OSError, TypeError, ValueError
        If a file cannot be read, a sequence has letters outside the alphabet, no scoring is given
        and some are nucleic acid and others proteins, all letters of the only query are masked, the
        database has another alphabet or is not masked, there is no such genetic code, or there are
        no statistics for the requested E-values.
    DeviceError
        If a part of the database has failed on two devices, or on four workers of a cluster; if no
        worker of a cluster has the device, the version of glsw and the database.
    ConnectionError
        If the scheduler of a cluster is lost.

    Warns
    -----
    RuntimeWarning
        If letters count as others, see `Alphabet.substitutes`: once, how many. If a device fails,
        or its process dies: another one repeats its part. If one of several queries
        is masked as a whole, or has too few scores for the requested E-values: it has no hits.

    Examples
    --------
    >>> import glsw
    >>> result = glsw.search("HEAGAWGHEE", ["PPPPPP", "PAWHEAE"], top=5)
    >>> [(hit.rank, hit.target.id, hit.score) for hit in result]
    [(1, 'target 2', 17)]

    The complement of a gene for the second one:

    >>> gene = "TTCTGCTTCATGCCACGCCGG"
    >>> (hit,) = glsw.search(gene, ["PPPPPP", "PAWHEAE"], top=1, genetic_code=1)
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


@listing(AlignerOptions, Aligner, neighbors)
def reciprocal_best_hits(
    a: Many,
    b: Many,
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


@listing(AlignerOptions, Aligner, neighbors)
def clusters(
    sequences: Many,
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
