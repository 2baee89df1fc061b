"""Selection of hits: ranked by score, with bits and E-values, before anything is aligned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.alignment.paths import Runs
from glsw.alignment.table import HitTable, TableT
from glsw.caller import stage
from glsw.engines import Engine
from glsw.engines.base import Progress, Ties
from glsw.pairs.align_pairs import aligned
from glsw.scoring.scoring import Scoring
from glsw.search.limits import Limits
from glsw.search.ranking import (
    NO_HITS,
    NOTHING,
    Found,
    RankedHits,
    hits_of,
    scores_of,
    target_numbers,
)
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

    def known(self, pairs: _Int64) -> npt.NDArray[np.bool_]:
        """Return which pairs have scores; the others have none that counts."""
        return np.ones(len(pairs), bool)

    def of_contexts(self, contexts: slice) -> PairScores:
        """Return those of the pairs of a slice of the contexts, of step 1."""
        return self

    def of_hits(self, keys: _Int64, hits: _Int64) -> PairScores:
        """Return those of the pairs whose keys are those of some hits, given by rows."""
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


def pair_numbers(contexts: _Int64, targets: _Int64) -> _Int64:
    """Return the numbers of pairs: by context of a query, then by original number of the target.

    >>> pair_numbers(np.array([0, 2]), np.array([3, 1])).tolist()
    [3, 8589934593]
    """
    return contexts << 32 | targets


@dataclass(frozen=True, eq=False)
class Selection:
    """The hits of several queries as rows of a table, and what else is known of each query.

    Parameters
    ----------
    queries : QuerySet
    database : Database
    scans : sequence of ScanResult
        Of each context.
    statistics : sequence of Statistics
        Of each query.
    limits : Limits
        Of hits and alignments; scores in the units of ``scores``.
    table : HitTable
        A row for each hit, or for each pair of a context and a target. Not aligned yet.
    scores : PairScores
        How pairs are scored when they are aligned; scores of hits are in its units.
    more : sequence of (int or None)
        Of each query, the hits within the limits beyond their maximum number; None if there may be
        some, which nobody counted.
    """

    queries: QuerySet
    database: Database
    scans: Sequence[ScanResult]
    statistics: Sequence[Statistics]
    limits: Limits
    table: HitTable
    scores: PairScores = AS_SCANNED
    more: Sequence[int | None] = ()

    @cached_property
    def owners(self) -> _Int64:
        """The query of each hit."""
        return self.queries.owner[self.table.query]

    @cached_property
    def offsets(self) -> _Int64:
        """The hits of query ``q`` are those from ``offsets[q]`` to ``offsets[q + 1]``."""
        return np.searchsorted(self.owners, np.arange(len(self.statistics) + 1))

    def part(self, chosen: slice) -> Selection:
        """Return the hits of a slice of the queries, of step 1."""
        first, stop, _ = chosen.indices(len(self.statistics))
        contexts = slice(*self.queries.offsets[[first, stop]].tolist())
        queries = self.queries.part(chosen)
        table = self.table.select(slice(*self.offsets[[first, stop]].tolist()))
        return replace(
            self,
            queries=queries,
            scans=self.scans[contexts],
            statistics=self.statistics[chosen],
            table=replace(table, queries=queries, query=table.query - contexts.start),
            scores=self.scores.of_contexts(contexts),
            more=self.more[chosen],
        )

    def select(self, hits: _Int64) -> Selection:
        """Return some of the hits, in this order, of the same queries, with ranks from 1."""
        owners, table = self.owners[hits], self.table.select(hits)
        rank = np.arange(len(hits)) - np.searchsorted(owners, owners) + 1
        return replace(self, table=replace(table, rank=rank))

    def with_significance(self, table: TableT) -> TableT:
        """Return rows with bits and E-values, NaN where unknown or where the score is too low."""
        bits, evalues = np.full((2, len(table)), np.nan)
        queries, database = self.queries, self.database
        owners = queries.owner[table.query]
        order = np.argsort(owners, kind="stable")
        order = order[table.units[order] >= self.limits.ranking.min_score]
        for known, rows in together(self.statistics, owners[order]):
            if known.available:
                own = order[rows]
                m = queries.sequences.lengths[table.query[own]]
                n, units = database.lengths_at(database.places(table.target[own])), table.units[own]
                bits[own] = known.bits(units, n)
                evalues[own] = known.evalue(units, m, n)
        return replace(table, bits=bits, evalues=evalues)

    def within(self) -> npt.NDArray[np.bool_]:
        """Tell which rows are within the limits of scores and E-values."""
        limits, table = self.limits, self.table
        within: npt.NDArray[np.bool_] = table.units >= limits.ranking.min_score
        if limits.needs_statistics:
            significant = table.evalues <= (np.inf if limits.evalue is None else limits.evalue)
            if not limits.requires_statistics:
                known = np.array([each.available for each in self.statistics], bool)
                significant |= ~known[self.owners]
            within &= significant
        return within

    def listed(self) -> Selection:
        """Return the hits that are listed, in order, given the rows of all pairs.

        Each target is there once, with its best context and frame. ``more`` counts what the number
        of hits leaves out.
        """
        limits, table, frames = self.limits, self.table, len(self.database.frames)
        best = best_contexts(table.units, table.target, table.query, self.owners, frames)
        best = best[self.within()[best]]
        key, owners = hits_of(table.units[best], table.target[best]), self.owners[best]
        by = (key, table.evalues[best]) if limits.order == "evalue" else (key,)
        order = np.lexsort((*by, owners))
        few = _first(owners[order], limits.ranking.top)
        kept, count = best[order[few]], len(self.statistics)
        more: list[int | None] = np.bincount(owners[order[~few]], minlength=count).tolist()
        if not limits.needs_statistics:  # the scan has counted no others
            full = limits.ranking.top
            full = None if full == len(self.database.given) else full
            number = np.bincount(owners[order[few]], minlength=count)
            more = [None if each == full else 0 for each in number.tolist()]
        # Other contexts and frames of a hit may have further alignments.
        of_hits = pair_numbers(self.owners, table.target // frames)
        scores = self.scores.of_hits(of_hits, kept)
        return replace(self.select(kept), scores=scores, more=more)

    def scanned(self, pairs: _Int64) -> Found:
        """Return what the scan has found of pairs, by their numbers; of others nothing."""
        known = self._scanned
        if known.columns is None:
            return known
        at = np.searchsorted(known.key[:-1], pairs)
        return known.select(np.where(known.key[at] == pairs, at, -1))

    @cached_property
    def _scanned(self) -> Found:
        """What the scan has found, by pairs, which ascend, and behind them nothing of no pair."""
        every = [each.found for each in self.scans]
        if self.scores is not AS_SCANNED or all(each.columns is None for each in every):
            return NOTHING
        found = Found.concatenated(every)
        contexts = np.repeat(np.arange(len(every)), list(map(len, every)))
        found = replace(found, key=pair_numbers(contexts, target_numbers(found.key)))
        found = found.select(np.argsort(found.key))
        return Found.concatenated([found, Found(np.array([-1]))])


def scanned_pairs(
    queries: QuerySet,
    database: Database,
    scans: Sequence[ScanResult],
    limits: Limits,
    scoring: Scoring,
) -> Selection:
    """Return what the scans of contexts have found, a row for each pair.

    Raises
    ------
    ValueError
        If E-values are required and there are no statistics, see `Limits.strict`.
    """
    statistics = _Statistics(queries, database, limits, scoring)
    bounds = [slice(*each) for each in pairwise(queries.offsets.tolist())]
    known = [statistics.of(q, scans[some]) for q, some in enumerate(bounds)]
    each = zip(range(len(known)), bounds, known, strict=True)
    keys = [key for q, some, made in each for key in statistics.possible(q, scans[some], made)]
    hits = np.concatenate([NO_HITS, *keys])
    contexts = np.repeat(np.arange(len(keys)), list(map(len, keys)))
    rows = contexts, target_numbers(hits), scores_of(hits)
    table = HitTable.of_scores(scoring.shown, queries, _Targets(database), *rows)
    found = Selection(queries, database, scans, known, limits, table)
    return replace(found, table=found.with_significance(table))


def best_contexts(
    units: npt.NDArray[np.integer], targets: _Int64, contexts: _Int64, owners: _Int64, frames: int
) -> _Int64:
    """Return which pairs have the best score of a query and a target, by query, the best first.

    Of contexts with equal scores the first one counts. If the hits of each context are its ``top``
    best, the first ``top`` of a query are the best of all: every hit ranked above X in X's best
    context is also ranked above X here.

    Parameters
    ----------
    units, targets, contexts, owners : ndarray of int, shape (pairs,)
        Scores, original numbers of targets, contexts, and their queries.
    frames : int
        The frames of each target, which have numbers of their own: its best one counts.

    Examples
    --------
    >>> pairs = [5, 7, 6, 7, 1, 3], [0, 1, 0, 1, 2, 2], [0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 1]
    >>> best_contexts(*map(np.array, pairs), frames=1).tolist()
    [1, 2, 4, 5]
    """
    order = np.lexsort((contexts, hits_of(units, targets), owners))
    keys = pair_numbers(owners[order], targets[order] // frames)
    _, first = np.unique(keys, return_index=True)
    best: _Int64 = order[np.sort(first)]
    return best


def filtered(hits: Selection, table: HitTable) -> tuple[Selection, HitTable]:
    """Return the hits and the alignments whose columns are within the limits, counted again.

    The best alignment of a hit decides about the hit.
    """
    limits, first = hits.limits, np.append(np.flatnonzero(table.number == 1), len(table))
    start, end = table.query_places
    within = table.identities / np.maximum(1, table.columns) >= limits.min_identity
    within &= (abs(end - start) + 1) / table.query_contexts.lengths >= limits.min_coverage
    kept = np.flatnonzero(within[first[:-1]])
    few = _first(hits.owners[kept], limits.top)
    more = np.bincount(hits.owners[kept[~few]], minlength=len(hits.statistics)).tolist()
    kept = kept[few]
    rows = ranges(first[kept], np.diff(first)[kept])
    hits = replace(hits.select(kept), more=more)
    hit = np.repeat(np.arange(len(kept)), np.diff(first)[kept])[within[rows]]
    number = ranges(np.ones(len(kept), np.int64), np.bincount(hit, minlength=len(kept)))
    table = replace(table.select(rows[within[rows]]), rank=hits.table.rank[hit], number=number)
    return hits, replace(table, hidden=None, beyond=None)


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
        hits, limit = [each.found.key for each in scans], self._limits.evalue
        if not self._limits.needs_statistics:
            return hits
        if not statistics.available:
            few = slice(0 if self._limits.requires_statistics else None)
            return [each[few] for each in hits]
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
        targets = self._database.lengths_at(self._database.places(target_numbers(few)))
        return float(statistics.evalue(scores_of(few), length, targets).max())


class _Targets(dict[int, InContext]):
    """Sequences of a database by their original numbers, each made when it is first needed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __missing__(self, number: int) -> InContext:
        shown = self[number] = self._database.shown(number)
        return shown
