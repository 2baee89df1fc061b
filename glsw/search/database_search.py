"""The search of a database: queries are scanned, their hits selected and aligned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from glsw.engines.base import Progress, Ties
from glsw.results import SearchResult
from glsw.search.assemble import search_results
from glsw.search.limits import Limits
from glsw.search.parallel_scan import scan_database
from glsw.search.pool import EnginePool
from glsw.search.scan import check_longest, queries_at_once
from glsw.search.selection import Query, select_hits
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    from concurrent.futures import Executor

_CONTEXTS_ALIGNED_TOGETHER = 16  # if several devices have scanned the database


def search_database(
    pool: EnginePool,
    queries: Sequence[Query],
    database: Database,
    limits: Limits,
    ties: Ties,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Iterator[SearchResult]:
    """Return an iterator over the results of queries; parameters as of `glsw.search`.

    Raises
    ------
    ValueError
        At once if a query and a target are too long together, or ``executor`` and several devices
        are given; later if E-values are required and there are no statistics.
    """
    engine = pool.engine
    codes = Sequences.of([each.codes for query in queries for each in query.contexts])
    check_longest(engine, codes, database)
    ranking = limits.scan_ranking(engine.scoring, codes, database)
    scans = scan_database(pool, codes, database, ranking, progress, executor)
    together = queries_at_once(engine, codes, database.residues)
    if pool.several:
        together = _CONTEXTS_ALIGNED_TOGETHER
    at_once = max(1, together // max([1, *(len(query.contexts) for query in queries)]))

    def results() -> Iterator[SearchResult]:  # refers to the pool, whose processes it needs
        hit_lists = (
            select_hits(
                query, list(islice(scans, len(query.contexts))), database, limits, engine.scoring
            )
            for query in queries
        )
        while some := list(islice(hit_lists, at_once)):
            yield from search_results(pool.engine, some, database, limits, ties)

    return results()
