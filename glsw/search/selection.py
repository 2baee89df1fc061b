"""Selection of hits: ranked by score, with bits and E-values, before anything is aligned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.scoring.scoring import Scoring
from glsw.search.limits import Limits, least_score
from glsw.search.ranking import RankedHits, scores_of, target_numbers
from glsw.search.scan import ScanResult, added
from glsw.sequences.database import Database
from glsw.sequences.query import PreparedQuery
from glsw.sequences.records import Record
from glsw.statistics import Statistics, Unavailable, for_search

_MIN_HITS_TO_PREFILTER = 2**14  # by the least score that can have the E-value


class Query(NamedTuple):
    """A query as given, and its contexts; it has none if all its residues are masked."""

    record: Record
    contexts: list[PreparedQuery]


@dataclass(frozen=True, eq=False)
class HitList:
    """The hits of one query.

    Parameters
    ----------
    query : Query
    scans : list of ScanResult
        One per context of the query.
    hits : ndarray of int64, shape (hits,)
        See `glsw.search.ranking.RankedHits`.
    contexts : ndarray of int64, shape (hits,)
        The context with the best score of each hit.
    bits, evalues : list of float or None
        Of each hit.
    statistics : Statistics
    """

    query: Query
    scans: list[ScanResult]
    hits: RankedHits
    contexts: npt.NDArray[np.int64]
    bits: Sequence[float | None]
    evalues: Sequence[float | None]
    statistics: Statistics


def select_hits(
    query: Query, scans: list[ScanResult], database: Database, limits: Limits, scoring: Scoring
) -> HitList:
    """Return the hits of a query within the limits, given the scans with its contexts.

    Raises
    ------
    ValueError
        If E-values are required and there are no statistics, see `Limits.strict`.
    """
    statistics = _statistics(query, scans, database, limits, scoring)
    lengths = np.array([len(each.codes) for each in query.contexts], np.int64)
    by_context, top = [each.hits for each in scans], limits.ranking.top
    if limits.evalue is not None:
        top = None if statistics.available else 0
        if statistics.available and sum(map(len, by_context)) > _MIN_HITS_TO_PREFILTER:
            targets = database.sequences.lengths
            least = least_score(statistics, limits.evalue, lengths, targets, scoring)
            by_context = [each[scores_of(each) >= least] for each in by_context]
    hits, contexts = (each[:top] for each in best_contexts(by_context))
    bits: Sequence[float | None] = [None] * len(hits)
    evalues = bits
    if statistics.available:
        targets = database.sequences.lengths[database.rank[target_numbers(hits)]]
        expected = statistics.evalue(scores_of(hits), lengths[contexts], targets)
        limit = np.inf if limits.evalue is None else limits.evalue
        chosen = np.flatnonzero(expected <= limit)[: limits.ranking.top]
        hits, contexts = hits[chosen], contexts[chosen]
        bits = statistics.bits(scores_of(hits), targets[chosen]).tolist()
        evalues = expected[chosen].tolist()
    return HitList(query, scans, hits, contexts, bits, evalues, statistics)


def best_contexts(hits: Sequence[RankedHits]) -> tuple[RankedHits, npt.NDArray[np.int64]]:
    """Return the hits of a query, each target once, and the context with its best score.

    Of contexts with equal scores the first one counts. If each list has the ``top`` best hits of a
    context, the first ``top`` returned are the best of all: every hit ranked above X in X's best
    context is also ranked above X here.

    Examples
    --------
    >>> from glsw.search.ranking import Ranking
    >>> ranking = Ranking(top=None, min_score=1)
    >>> rows = [np.array(row, np.int32) for row in ([5, 7, 0], [6, 7, 1])]
    >>> hits, contexts = best_contexts([ranking.best(row, np.arange(3)) for row in rows])
    >>> target_numbers(hits).tolist(), scores_of(hits).tolist(), contexts.tolist()
    ([1, 0, 2], [7, 6, 1], [0, 1, 1])
    """
    joined = np.concatenate([np.empty(0, np.int64), *hits])
    contexts = np.repeat(np.arange(len(hits)), np.array([len(each) for each in hits], np.int64))
    order = np.lexsort((contexts, joined))
    _, first = np.unique(target_numbers(joined[order]), return_index=True)
    chosen = order[np.sort(first)]
    return joined[chosen], contexts[chosen]


def _statistics(
    query: Query, scans: Sequence[ScanResult], database: Database, limits: Limits, scoring: Scoring
) -> Statistics:
    """Return the statistics of a query; an error or a warning if they are required and missing.

    There is one fit per query, to the scores of all its contexts.
    """
    if not query.contexts:
        return Unavailable("all residues of the query are masked")
    histogram = reduce(added, (each.histogram for each in scans), None)
    longest = max(len(each.codes) for each in query.contexts)
    size = len(database), database.residues
    try:
        made = for_search(scoring, longest, *size, histogram=histogram, method=limits.statistics)
    except ValueError as error:
        made = Unavailable(str(error))
    if isinstance(made, Unavailable):
        if limits.evalue is not None or limits.statistics == "fit":
            limits.missing_statistics(query.record, f"no E-values: {made.reason}")
        elif limits.hsp_evalue is not None:
            limits.missing_statistics(
                query.record, f"max_hsps None without min_score or E-values: {made.reason}"
            )
    return made
