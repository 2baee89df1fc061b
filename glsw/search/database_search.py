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
from glsw.search.scan import ScanResult, check_longest
from glsw.search.selection import Query, select_hits
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    from concurrent.futures import Executor


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

    def results() -> Iterator[SearchResult]:  # refers to the pool, whose processes it needs
        for some, ready in _scanned(queries, scans):
            hit_lists = select_hits(some, ready, database, limits, pool.engine.scoring)
            yield from search_results(pool.engine, hit_lists, database, limits, ties)

    return results()


def _scanned(
    queries: Sequence[Query], scans: Iterator[ScanResult]
) -> Iterator[tuple[Sequence[Query], list[list[ScanResult]]]]:
    """Yield the queries whose scans are ready, and the scans with the contexts of each."""
    ready: list[ScanResult] = []
    start = 0
    while start < len(queries):
        stop, of_each = start, []
        while stop < len(queries) and (count := len(queries[stop].contexts)) <= len(ready):
            of_each.append(ready[:count])
            del ready[:count]
            stop += 1
        if stop > start:
            yield queries[start:stop], of_each
            start = stop
        else:
            ready.append(next(scans))
            ready += islice(scans, ready[-1].following)
