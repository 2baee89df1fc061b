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
from glsw.engines.base import Ties
from glsw.run.pool import EnginePool, Runner, counted
from glsw.search.align import align_hits, bounds_of, parts_to_align
from glsw.search.limits import Limits
from glsw.search.ranking import Ranking
from glsw.search.scan import ScanResult, check_longest, scan_database, shares
from glsw.search.select import Selection, filtered, scanned_pairs
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
    """A search that is prepared but not started.

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

    def scans(self, run: Runner) -> Iterator[ScanResult]:
        """Return an iterator over the scans of contexts.

        Raises
        ------
        ValueError
            At once if a query and a target are too long together.
        """
        codes, database = self.queries.sequences, self.database
        check_longest(run.engine, codes, database)
        return scan_database(run, codes, database, self.ranking)

    def results(self, scans: Iterator[ScanResult]) -> Iterator[list[SearchResult]]:
        """Yield the results of queries, those together that are, given the scans of contexts.

        Raises
        ------
        ValueError
            If E-values are required and there are no statistics.
        """
        for queries, ready in _ready(self.queries, scans):
            yield from self.aligned(self.selected(queries, ready))

    def selected(self, queries: QuerySet, scans: Sequence[ScanResult]) -> Selection:
        """Return the hits of queries; the time that it takes is that of the scans too."""
        start, engine = time.perf_counter(), self.pool.engine  # whose processes the scans need
        first = self.stage.first(self.limits)
        pairs = scanned_pairs(queries, self.database, scans, first, engine.scoring)
        hits = self.stage.rescored(engine, pairs, self.limits, self.ties).listed()
        of_each = np.bincount(pairs.table.query, minlength=len(scans))
        taken = zip(scans, shares(time.perf_counter() - start, of_each), strict=True)
        each = [scan._replace(seconds=scan.seconds + more) for scan, more in taken]
        return replace(hits, scans=each)

    def aligned(self, hits: Selection) -> Iterator[list[SearchResult]]:
        """Yield the results of queries, those together that are, given the hits to align."""
        for part in parts_to_align(hits):
            results = self._results(part)
            if type(self.stage) is Stage and len(part.table):
                _warn_of_low_complexity(part.queries, results[0].listed.table)
            yield results

    def _results(self, hits: Selection) -> list[SearchResult]:
        """Return the results of queries, whose hits are aligned together and then filtered."""
        start, engine, database = time.perf_counter(), self.pool.engine, self.database
        with stage("alignments", len(hits.table)):
            table = align_hits(engine, hits, self.ties)
        seconds = (time.perf_counter() - start) / max(1, len(hits.table))
        bounds, limit = bounds_of(table).tolist(), self.limits.evalue
        if self.limits.filters:
            hits, table = filtered(hits, table)
            bounds, limit = bounds_of(table).tolist(), None
        contexts = [hits.scans[slice(*each)] for each in pairwise(hits.queries.offsets.tolist())]
        return [
            SearchResult(
                query=query,
                hits=Hits(bounds[first : stop + 1], table),
                cells=residues * database.residues,
                seconds=sum(scan.seconds for scan in scans) + seconds * (stop - first),
                engine=joined(scan.engine for scan in scans) or engine.label,
                device=joined(counted(scan.devices.values()) for scan in scans) or engine.where,
                sequences=len(database.given),
                residues=database.given.residues,
                memory=max([engine.memory_used, *(scan.memory for scan in scans)]),
                statistics=statistics,
                evalue=limit if statistics.available else None,
                more=more,
            )
            for (first, stop), query, residues, scans, statistics, more in zip(
                pairwise(hits.offsets.tolist()),
                hits.queries.given,
                hits.queries.residues.tolist(),
                contexts,
                hits.statistics,
                hits.more,
                strict=True,
            )
        ]


def _ready(
    queries: QuerySet, scans: Iterator[ScanResult]
) -> Iterator[tuple[QuerySet, list[ScanResult]]]:
    """Yield queries whose scans are ready, and the scans of their contexts.

    While scans are fast, several groups of queries are yielded together: to align hits interrupts
    the scan.
    """
    ready: deque[ScanResult] = deque()
    whole: list[ScanResult] = []  # of the queries from start on whose scans are ready
    start, hits, began = 0, 0, time.perf_counter()
    per_letter = 0.0  # seconds that the last scan took
    sizes = np.diff(queries.offsets).tolist(), queries.residues.tolist()
    for k, (contexts, letters) in enumerate(zip(*sizes, strict=True)):
        while len(ready) < contexts:
            now = time.perf_counter()
            expected = now - began + per_letter * letters
            if k > start and (hits >= _HITS_TOGETHER or expected > _SECONDS_TOGETHER):
                yield queries.part(slice(start, k)), whole
                start, hits, began, whole = k, 0, time.perf_counter(), []
            try:
                ready.append(next(scans))
            except BaseException:  # an interrupt too: what is done comes first
                if k > start:
                    yield queries.part(slice(start, k)), whole
                raise
            per_letter = ready[-1].seconds / max(1, letters)
            ready += islice(scans, ready[-1].following)
        own = [ready.popleft() for _ in range(contexts)]
        hits += sum(len(scan.found) for scan in own)
        whole += own
    if start < len(queries.given):
        yield queries.part(slice(start, None)), whole


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
