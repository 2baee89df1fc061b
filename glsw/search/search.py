"""The search of a database: queries are scanned, their hits selected and aligned."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice, pairwise

import numpy as np

from glsw import caller
from glsw.alignment.hits import Hits, SearchResult, joined
from glsw.alignment.table import HitTable
from glsw.caller import stage
from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.run.pool import EnginePool, Runner
from glsw.search.align import align_hits, bounds_of, parts_to_align
from glsw.search.limits import Limits
from glsw.search.ranking import Ranking
from glsw.search.scan import ScanResult, check_longest, scan_database
from glsw.search.select import Selection, select_hits
from glsw.search.stages import Stage
from glsw.sequences.database import Database
from glsw.sequences.encoded import offsets_of, ranges
from glsw.sequences.query import QuerySet, low_complexity
from glsw.sequences.seg import Seg

_SIGNIFICANT = 1e-3  # E-value up to which hits within regions of low complexity mislead
_HITS_TOGETHER = 2**14
_SECONDS_TOGETHER = 2.0


@dataclass(frozen=True, eq=False)
class PreparedSearch:
    """A search that has not begun.

    Parameters
    ----------
    pool : EnginePool
    queries : QuerySet
    database : Database
    limits : Limits
    ties : str
    settings : dict of str to object
        What else decides the results, as it was given, by name.
    stage : Stage
        What scores hits again before they are aligned.
    """

    pool: EnginePool
    queries: QuerySet
    database: Database
    limits: Limits
    ties: Ties
    settings: Mapping[str, object]
    stage: Stage

    @property
    def ranking(self) -> Ranking:
        """The ranking of the scan."""
        scoring = self.pool.engine.scoring
        limits = self.stage.first(self.limits)
        return limits.scan_ranking(scoring, self.queries.sequences, self.database)

    def results(self, scans: Iterator[ScanResult]) -> Iterator[list[SearchResult]]:
        """Yield the results of queries, those together that are, given the scans of contexts."""
        for some, ready in _scanned(self.queries, scans):
            yield from self.aligned(self._selected(some, ready))

    def hits(self, run: Runner) -> Selection:
        """Return the hits of all queries, not aligned yet; errors as of `search_database`."""
        groups = _scanned(self.queries, _scans(self, run))
        return self._selected(self.queries, [each for _, ready in groups for each in ready])

    def aligned(self, hits: Selection) -> Iterator[list[SearchResult]]:
        """Yield the results of queries, those together that are, given the hits to align."""
        last = self.stage.last(self.limits)
        for part in parts_to_align(hits, last):
            results = _results(self.pool.engine, part, self.database, last, self.ties)
            if type(self.stage) is Stage and len(part.table):
                _warn_of_low_complexity(part.queries, results[0].listed.table)
            yield results

    def _selected(self, queries: QuerySet, scans: Sequence[list[ScanResult]]) -> Selection:
        """Return the hits within the limits; the time that it takes is that of the scans too."""
        start = time.perf_counter()
        database, limits, after = self.database, self.limits, self.stage
        engine = self.pool.engine  # of the pool, whose processes the scans need
        within, every = after.first(limits), after.every_context
        first = select_hits(queries, scans, database, within, engine.scoring, every_context=every)
        hits = after.rescored(engine, first, database, limits, self.ties)
        of_hit = (time.perf_counter() - start) / max(1, len(first.table))
        counts = np.diff(first.offsets).tolist()
        return replace(
            hits,
            scans=[
                [scan._replace(seconds=scan.seconds + of_hit * count / len(own)) for scan in own]
                for own, count in zip(hits.scans, counts, strict=True)
            ],
        )


def search_database(search: PreparedSearch, run: Runner) -> Iterator[list[SearchResult]]:
    """Return an iterator over results, those of queries aligned together; see `glsw.search`.

    Raises
    ------
    ValueError
        At once if a query and a target are too long together; later if E-values are required and
        there are no statistics.
    """
    return search.results(_scans(search, run))


def _scans(search: PreparedSearch, run: Runner) -> Iterator[ScanResult]:
    codes, database = search.queries.sequences, search.database
    check_longest(run.engine, codes, database)
    return scan_database(run, codes, database, search.ranking)


def _scanned(
    queries: QuerySet, scans: Iterator[ScanResult]
) -> Iterator[tuple[QuerySet, list[list[ScanResult]]]]:
    """Yield queries whose scans are ready, and the scans with the contexts of each.

    While scans are fast, several groups of queries are yielded together: to align hits interrupts
    the scan.
    """
    ready: deque[ScanResult] = deque()
    of_each: list[list[ScanResult]] = []
    start, hits, began = 0, 0, time.perf_counter()
    per_letter = 0.0  # seconds that the last scan took
    sizes = np.diff(queries.offsets).tolist(), queries.residues.tolist()
    for contexts, letters in zip(*sizes, strict=True):
        while len(ready) < contexts:
            now = time.perf_counter()
            expected = now - began + per_letter * letters
            if of_each and (hits >= _HITS_TOGETHER or expected > _SECONDS_TOGETHER):
                yield queries.part(slice(start, start + len(of_each))), of_each
                start, hits, began = start + len(of_each), 0, time.perf_counter()
                of_each, now = [], began
            try:
                ready.append(next(scans))
            except BaseException:  # an interrupt too: what is done comes first
                if of_each:
                    yield queries.part(slice(start, start + len(of_each))), of_each
                raise
            per_letter = ready[-1].seconds / max(1, letters)
            ready += islice(scans, ready[-1].following)
        own = [ready.popleft() for _ in range(contexts)]
        hits += sum(len(scan.hits) for scan in own)
        of_each.append(own)
    if of_each:
        yield queries.part(slice(start, None)), of_each


def _results(
    engine: Engine, hits: Selection, database: Database, limits: Limits, ties: Ties
) -> list[SearchResult]:
    """Return the results of queries, whose hits are aligned together."""
    start = time.perf_counter()
    with stage("alignments", len(hits.table)):
        table = align_hits(engine, hits, database, limits, ties)
    seconds = (time.perf_counter() - start) / max(1, len(hits.table))
    bounds = bounds_of(table).tolist()
    return [
        SearchResult(
            query=query,
            hits=Hits(bounds[first : stop + 1], table),
            cells=residues * database.residues,
            seconds=sum(scan.seconds for scan in scans) + seconds * (stop - first),
            engine=joined(scan.engine for scan in scans) or engine.label,
            device=joined(scan.device for scan in scans) or engine.where,
            sequences=len(database.given),
            residues=database.given.residues,
            memory=max([engine.memory_used, *(scan.memory for scan in scans)]),
            statistics=statistics,
            evalue=limits.evalue if statistics.available else None,
            more=more,
        )
        for (first, stop), query, residues, scans, statistics, more in zip(
            pairwise(hits.offsets.tolist()),
            hits.queries.given,
            hits.queries.residues.tolist(),
            hits.scans,
            hits.statistics,
            hits.more,
            strict=True,
        )
    ]


def _warn_of_low_complexity(queries: QuerySet, table: HitTable) -> None:
    """Warn of queries with significant alignments that lie mostly in regions of low complexity.

    Those of DNA are found by the library pydustmasker, if it is installed.
    """
    alphabet, rows = queries.alphabet, np.flatnonzero(table.evalues <= _SIGNIFICANT)
    option = "mask_low_complexity=True (--mask-low-complexity)"
    if alphabet.amino_acids:
        option = "seg='query' (--seg yes)"
    elif not (alphabet.nucleotides and find_spec("pydustmasker")):
        return
    few, contexts = np.unique(table.query[rows], return_inverse=True)
    if not len(few):
        return
    each = [queries.letters[k].upper() for k in few.tolist()]
    offsets = offsets_of([len(letters) for letters in each])
    if alphabet.amino_acids:
        letters = np.frombuffer("".join(each).encode("ascii"), np.uint8)
        begin, end = Seg().segments(letters, offsets)
    else:
        found = [low_complexity(letters, alphabet) for letters in each]
        begin, end = np.array([pair for some in found for pair in some], np.int64).reshape(-1, 2).T
        begin, end = (at + np.repeat(offsets[:-1], list(map(len, found))) for at in (begin, end))
    low = np.zeros(offsets[-1], bool)
    low[ranges(begin, end - begin)] = True
    inside, runs = offsets_of(low), table.runs[rows]
    first, stop = (offsets[contexts] + at[:, 0] for at in (runs.start, runs.end))
    mostly = 2 * (inside[stop] - inside[first]) > stop - first
    for query in np.unique(queries.owner[table.query[rows[mostly]]]).tolist():
        caller.warn(
            f"query {queries.given[query].id}: hits with E-values of at most {_SIGNIFICANT:g} lie "
            f"in regions of low complexity and may be spurious; {option} masks these regions",
            RuntimeWarning,
        )
