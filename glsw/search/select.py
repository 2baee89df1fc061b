"""Selection of hits: ranked by score, with bits and E-values, before anything is aligned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.alignment.paths import Runs
from glsw.alignment.table import HitTable
from glsw.caller import stage
from glsw.engines import Engine
from glsw.engines.base import Progress, Ties
from glsw.pairs.align_pairs import aligned
from glsw.scoring.scoring import Scoring
from glsw.search.limits import Limits
from glsw.search.ranking import RankedHits, scores_of, target_numbers
from glsw.search.scan import ScanResult, added
from glsw.sequences.database import Database
from glsw.sequences.encoded import ranges
from glsw.sequences.query import InContext, QuerySet
from glsw.statistics import ScoreHistogram, Statistics, Unavailable, for_search
from glsw.statistics.least_scores import least_score

_MIN_HITS_TO_PREFILTER = 2**14  # by the least score that can have the E-value

_Int64 = npt.NDArray[np.int64]


class PairScores:
    """How pairs of hits are scored when they are aligned: as the scan did.

    A stage gives hits others, such as a matrix for each pair. Scores of hits are in their units.
    """

    def known(self, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which pairs of hits have scores; the others have none that counts."""
        return np.ones(len(pairs), bool)

    def part(self, hits: slice) -> PairScores:
        """Return those of a slice of the hits, of step 1."""
        return self

    def select(self, hits: npt.NDArray[np.int64]) -> PairScores:
        """Return those of some hits, in this order."""
        return self

    def concatenated(self, parts: Sequence[PairScores]) -> PairScores:
        """Return those of the hits of all parts, of which this is one and which are of its kind."""
        return self

    def aligned(
        self, engine: Engine, batch: Batch, pairs: npt.NDArray[np.int64], ties: Ties
    ) -> tuple[npt.NDArray[np.int32], Runs]:
        """Return the score of each pair and the columns of its best alignment.

        ``batch`` has the queries, the targets and the masks, ``pairs`` the number of each pair, see
        `pair_numbers`.
        """
        with stage(
            "further alignments" if batch.masks is not None else "alignments", batch.cells
        ) as progress:
            return self._aligned(engine, batch, pairs, ties, progress)

    def _aligned(
        self,
        engine: Engine,
        batch: Batch,
        pairs: npt.NDArray[np.int64],
        ties: Ties,
        progress: Progress,
    ) -> tuple[npt.NDArray[np.int32], Runs]:
        """Return what `aligned` does; progress is in cells."""
        return aligned(engine, batch, ties, progress)

    def listed(self, table: HitTable) -> HitTable:
        """Return alignments with scores in integer units of the scoring, as results list them."""
        return table


AS_SCANNED = PairScores()
"""The scores of hits that no stage has scored again."""


def pair_numbers(
    hits: npt.NDArray[np.int64],
    contexts: npt.NDArray[np.int64] | int = 0,
    frames: npt.NDArray[np.int64] | int = 0,
) -> npt.NDArray[np.int64]:
    """Return numbers of pairs, by hit, context of its query and frame of its target, from 0 each.

    >>> pair_numbers(np.array([0, 1]), 2, 3).tolist()
    [35, 291]
    """
    return hits << 8 | contexts << 4 | frames


@dataclass(frozen=True, eq=False)
class Selection:
    """The hits of several queries, the best of each first, and what else is known of each query.

    Parameters
    ----------
    queries : QuerySet
    scans : sequence of list of ScanResult
        Of each query, one per context.
    statistics : sequence of Statistics
        Of each query.
    more : sequence of (int or None)
        Of each query, the hits within the limits beyond their maximum number; None if there may be
        some, which nobody counted.
    offsets : ndarray of int64, shape (queries + 1,)
        The hits of query ``q`` are those from ``offsets[q]`` to ``offsets[q + 1]``.
    table : HitTable
        A row for each hit: the context with the best score. Not aligned yet.
    scores : PairScores
        How hits are scored when they are aligned; scores of hits are in its units.
    """

    queries: QuerySet
    scans: Sequence[list[ScanResult]]
    statistics: Sequence[Statistics]
    more: Sequence[int | None]
    offsets: _Int64
    table: HitTable
    scores: PairScores = AS_SCANNED

    @classmethod
    def of(
        cls,
        queries: QuerySet,
        scans: Sequence[list[ScanResult]],
        statistics: Sequence[Statistics],
        more: Sequence[int | None],
        table: HitTable,
        scores: PairScores = AS_SCANNED,
    ) -> Selection:
        """Return a selection of hits in their order, which get their ranks."""
        owners = queries.owner[table.query]
        offsets = np.searchsorted(owners, np.arange(len(scans) + 1))
        table = replace(table, rank=np.arange(len(owners)) - offsets[owners] + 1)
        return cls(queries, scans, statistics, more, offsets, table, scores)

    def part(self, chosen: slice) -> Selection:
        """Return the hits of a slice of the queries, of step 1."""
        first, stop, _ = chosen.indices(len(self.scans))
        offsets = self.offsets[first : stop + 1]
        hits = slice(offsets[0], offsets[-1])
        queries, table = self.queries.part(chosen), self.table.select(hits)
        context = table.query - self.queries.offsets[first]
        return Selection(
            queries,
            self.scans[chosen],
            self.statistics[chosen],
            self.more[chosen],
            offsets - offsets[0],
            replace(table, queries=queries, query=context),
            self.scores.part(hits),
        )

    def select(self, hits: _Int64) -> Selection:
        """Return some of the hits, in their order, of the same queries."""
        known = self.queries, self.scans, self.statistics, self.more
        return Selection.of(*known, self.table.select(hits), self.scores.select(hits))


def select_hits(
    queries: QuerySet,
    scans: Sequence[list[ScanResult]],
    database: Database,
    limits: Limits,
    scoring: Scoring,
    *,
    every_context: bool = False,
) -> Selection:
    """Return the hits of queries within the limits, given the scans with the contexts of each.

    Raises
    ------
    ValueError
        If E-values are required and there are no statistics, see `Limits.strict`.
    """
    statistics = _Statistics(queries, database, limits, scoring)
    known = [statistics.of(*each) for each in enumerate(scans)]
    lists = [
        statistics.possible(q, some, made)
        if limits.needs_statistics
        else [one.hits for one in some]
        for q, (some, made) in enumerate(zip(scans, known, strict=True))
    ]
    counts = np.array([len(each) for each in lists], np.int64)
    found = [one for each in lists for one in each]
    hits, contexts, owners = _joined(found, counts)
    if not every_context:
        best = best_contexts(hits, contexts, owners, len(database.frames))
        hits, contexts, owners = hits[best], contexts[best], owners[best]
    more: list[int | None]
    if not limits.needs_statistics:
        few = _first(owners, limits.ranking.top)
        hits, contexts, owners = hits[few], contexts[few], owners[few]
        full = limits.ranking.top
        full = None if full == len(database.given) else full
        number = np.bincount(owners, minlength=len(scans))
        more = [None if each == full else 0 for each in number.tolist()]
    contexts = queries.offsets[owners] + contexts
    rows = contexts, target_numbers(hits), scores_of(hits)
    table = HitTable.of_scores(scoring.shown, queries, _Targets(database), *rows)
    table = with_significance(table, known, queries, database)
    if limits.needs_statistics:
        within = table.evalues <= (np.inf if limits.evalue is None else limits.evalue)
        if not limits.requires_statistics:
            within |= ~np.array([each.available for each in known], bool)[owners]
        kept, more = listed(within, table.evalues, hits, owners, limits, len(scans))
        table = table.select(kept)
    return Selection.of(queries, scans, known, more, table)


def with_significance(
    table: HitTable, statistics: Sequence[Statistics], queries: QuerySet, database: Database
) -> HitTable:
    """Return hits with bits and E-values, given the statistics of each query."""
    bits, evalues = np.full((2, len(table)), np.nan)
    targets = database.lengths[database.rank[table.target]]
    lengths = queries.sequences.lengths[table.query]
    for made, rows in together(statistics, queries.owner[table.query]):
        if made.available:
            bits[rows] = made.bits(table.units[rows], targets[rows])
            evalues[rows] = made.evalue(table.units[rows], lengths[rows], targets[rows])
    return replace(table, bits=bits, evalues=evalues)


def listed(
    within: npt.NDArray[np.bool_],
    evalues: npt.NDArray[np.float64],
    hits: RankedHits,
    owners: _Int64,
    limits: Limits,
    queries: int,
) -> tuple[_Int64, list[int | None]]:
    """Return which hits of queries are listed, in order, and how many more each query has.

    Parameters
    ----------
    within : ndarray of bool, shape (hits,)
        Which are within the limits but for their number.
    evalues, hits, owners : ndarray, shape (hits,)
        Their E-values, they, and their queries.
    limits : Limits
    queries : int
    """
    kept = np.flatnonzero(within)
    by = (hits[kept], evalues[kept]) if limits.order == "evalue" else (hits[kept],)
    kept = kept[np.lexsort((*by, owners[kept]))]
    few = _first(owners[kept], limits.ranking.top)
    return kept[few], np.bincount(owners[kept[~few]], minlength=queries).tolist()


def _first(owners: npt.NDArray[np.int64], top: int | None) -> npt.NDArray[np.bool_]:
    """Return which hits are among the first ``top`` of their query.

    >>> _first(np.array([0, 0, 0, 2, 2]), 2).tolist()
    [True, True, False, True, True]
    """
    if top is None:
        return np.ones(len(owners), bool)
    return np.arange(len(owners)) - np.searchsorted(owners, owners) < top


def together(
    statistics: Sequence[Statistics], owners: npt.NDArray[np.int64]
) -> Iterator[tuple[Statistics, slice]]:
    """Yield statistics with the hits of neighbouring queries that share them."""
    start = 0
    for _, group in groupby(statistics, id):
        some = list(group)
        stop = start + len(some)
        yield some[0], slice(*np.searchsorted(owners, [start, stop]).tolist())
        start = stop


def best_contexts(hits: RankedHits, contexts: _Int64, queries: _Int64, frames: int = 1) -> _Int64:
    """Return which hits of queries, each target once, have its best score.

    Of contexts with equal scores the first one counts. If the hits of each context are its ``top``
    best, the first ``top`` of a query are the best of all: every hit ranked above X in X's best
    context is also ranked above X here.

    Parameters
    ----------
    hits : RankedHits
    contexts, queries : ndarray of int64, shape (hits,)
        Where they were found. Queries ascend.
    frames : int
        The frames of each target, which have numbers of their own: its best one counts.

    Examples
    --------
    >>> from glsw.search.ranking import Ranking
    >>> ranking = Ranking(top=None, min_score=1)
    >>> rows = [np.array(row, np.int32) for row in ([5, 7, 0], [6, 7, 1], [0, 0, 3])]
    >>> lists = [ranking.best(row, np.arange(3)) for row in rows]
    >>> hits, contexts, queries = _joined(lists, np.array([2, 1]))
    >>> best = best_contexts(hits, contexts, queries)
    >>> target_numbers(hits[best]).tolist(), scores_of(hits[best]).tolist()
    ([1, 0, 2, 2], [7, 6, 1, 3])
    >>> contexts[best].tolist(), queries[best].tolist()
    ([0, 1, 1, 0], [0, 0, 0, 1])
    """
    if frames == 1 and not contexts.any():
        return np.arange(len(hits))
    order = np.lexsort((contexts, hits, queries))
    keys = queries[order] << 32 | target_numbers(hits[order]) // frames
    _, first = np.unique(keys, return_index=True)
    best: _Int64 = order[np.sort(first)]
    return best


def _joined(hits: Sequence[RankedHits], counts: _Int64) -> tuple[RankedHits, _Int64, _Int64]:
    """Return the hits of all contexts, the context of its query that each was found in, the query.

    ``counts`` are the contexts of each query.
    """
    lengths = np.array([len(each) for each in hits], np.int64)
    contexts = np.repeat(ranges(np.zeros_like(counts), counts), lengths)
    queries = np.repeat(np.repeat(np.arange(len(counts)), counts), lengths)
    return np.concatenate([np.empty(0, np.int64), *hits]), contexts, queries


class _Statistics:
    """Makes the statistics of queries: one for all unless they are fitted to scores."""

    def __init__(
        self, queries: QuerySet, database: Database, limits: Limits, scoring: Scoring
    ) -> None:
        self._queries, self._database = queries, database
        self._limits, self._scoring = limits, scoring
        self._shared: Statistics | None = None

    def of(self, query: int, scans: Sequence[ScanResult]) -> Statistics:
        """Return the statistics of a query; an error or a warning if required and missing.

        There is one fit per query, to the scores of all its contexts.
        """
        if not len(self._queries.lengths_of(query)):
            return Unavailable("all residues of the query are masked")
        histogram = reduce(added, (each.histogram for each in scans), None)
        if histogram is not None or self._shared is None:
            made = self._made(query, histogram)
            if histogram is None:
                self._shared = made
        else:
            made = self._shared
        limits, record = self._limits, self._queries.given[query]
        if isinstance(made, Unavailable) and len(self._database):
            if limits.requires_statistics or limits.statistics == "fit":
                limits.missing_statistics(record, f"no E-values: {made.reason}")
            elif limits.endless:
                limits.missing_statistics(
                    self._queries.given[query],
                    f"max_hsps None without min_score or E-values: {made.reason}",
                )
        return made

    def _made(self, query: int, histogram: ScoreHistogram | None) -> Statistics:
        longest = int(self._queries.lengths_of(query).max())
        size = self._database.size
        method = self._limits.statistics
        try:
            return for_search(self._scoring, longest, *size, histogram=histogram, method=method)
        except ValueError as error:
            return Unavailable(str(error))

    def possible(
        self, query: int, scans: Sequence[ScanResult], statistics: Statistics
    ) -> list[RankedHits]:
        """Return the hits of each context that may have the E-value of the limits."""
        if not statistics.available:
            few = slice(0 if self._limits.requires_statistics else None)
            return [each.hits[few] for each in scans]
        hits, limit = [each.hits for each in scans], self._limits.evalue
        if sum(map(len, hits)) > _MIN_HITS_TO_PREFILTER:
            lengths = self._queries.lengths_of(query)
            targets = self._database.lengths
            limit = self._worst(hits[0], int(lengths[0]), statistics) if limit is None else limit
            least = 1
            if limit < np.inf:
                least = least_score(statistics, limit, lengths, targets, self._scoring)
            hits = [each[scores_of(each) >= least] for each in hits]
        return hits

    def _worst(self, hits: RankedHits, length: int, statistics: Statistics) -> float:
        """Return an E-value that the best hits by E-value do not exceed."""
        top = self._limits.ranking.top
        if top is not None:
            top *= len(self._database.frames)
        if top is None or len(hits) < top:
            return np.inf
        few = hits[:top]
        targets = self._database.lengths[self._database.rank[target_numbers(few)]]
        return float(statistics.evalue(scores_of(few), length, targets).max())


class _Targets(dict[int, InContext]):
    """Sequences of a database by their original numbers, each made when it is first needed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __missing__(self, number: int) -> InContext:
        shown = self[number] = self._database.shown(number)
        return shown
