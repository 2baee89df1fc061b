"""From hits to results: the hits of many queries are aligned together, round by round."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from glsw.alignment.hits import Hits, SearchResult, joined
from glsw.alignment.table import HitTable
from glsw.device.device import DeviceError
from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.search.hit_pairs import HitPairs
from glsw.search.limits import Limits
from glsw.search.ranking import scores_of, target_numbers
from glsw.search.rounds import FoundAlignments, align_hits
from glsw.search.selection import HitLists, together
from glsw.sequences.database import Database
from glsw.sequences.encoded import offsets_of
from glsw.sequences.query import InContext
from glsw.sequences.tiles import cut

_MAX_PAIRS_PER_BATCH = 2**14
_MAX_RESIDUES_PER_BATCH = 2**25  # of pairs, so that there is room for their masks


class DifferentScoreError(DeviceError):
    """A hit has another score than its best alignment: the scan or the alignment is wrong."""


def search_results(
    engine: Engine, hit_lists: HitLists, database: Database, limits: Limits, ties: Ties
) -> Iterator[list[SearchResult]]:
    """Yield the results of queries, their hits aligned, those together that were aligned so.

    Hits of several queries are aligned together: hardware takes no longer than for those of one.
    """
    pairs = np.diff(hit_lists.offsets)
    if limits.max_hsps != 1:
        pairs *= np.diff(hit_lists.queries.offsets)
    for chosen in cut([offsets_of(pairs)], [_MAX_PAIRS_PER_BATCH]):
        yield _results(engine, hit_lists.part(chosen), database, limits, ties)


def _results(
    engine: Engine, hit_lists: HitLists, database: Database, limits: Limits, ties: Ties
) -> list[SearchResult]:
    start = time.perf_counter()
    table, bounds = _table(engine, hit_lists, database, limits, ties)
    seconds = (time.perf_counter() - start) / max(1, len(hit_lists.hits))
    offsets = hit_lists.offsets.tolist()
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
            pairwise(offsets),
            hit_lists.queries.given,
            hit_lists.queries.residues.tolist(),
            hit_lists.scans,
            hit_lists.statistics,
            hit_lists.more,
            strict=True,
        )
    ]


def _table(
    engine: Engine, hit_lists: HitLists, database: Database, limits: Limits, ties: Ties
) -> tuple[HitTable, list[int]]:
    """Return the alignments of the hits of queries, and the first row of each hit."""
    pairs = HitPairs.of(hit_lists, database)
    sizes = pairs.sizes(best_only=limits.max_hsps == 1)
    bounds = _MAX_PAIRS_PER_BATCH, _MAX_RESIDUES_PER_BATCH
    found = FoundAlignments.concatenated(
        [
            align_hits(engine, pairs, chosen, limits, ties)
            for chosen in cut(list(map(offsets_of, sizes)), bounds)
        ]
    )
    hits = np.arange(len(hit_lists.hits))
    rank = hits - np.repeat(hit_lists.offsets[:-1], np.diff(hit_lists.offsets)) + 1
    first = np.searchsorted(found.hit, np.arange(len(hits) + 1))
    _check_scores(hit_lists, found.units[first[:-1]], database)
    hidden = _hidden_bits(hit_lists, found, database, limits)
    table = HitTable(
        engine.scoring.shown,
        hit_lists.queries,
        _Shown(database),
        found.context,
        database.order[found.place],
        rank[found.hit],
        np.arange(len(found.hit)) - first[found.hit] + 1,
        found.units,
        found.bits,
        found.evalues,
        found.runs,
        hidden,
        None if hidden is None else _bits_beyond(hit_lists, found, first, limits),
    )
    return hit_lists.scores.listed(table), first.tolist()


def _check_scores(hit_lists: HitLists, units: npt.NDArray[np.integer], database: Database) -> None:
    """Raise DifferentScoreError if a hit has another score than its best alignment."""
    expected = scores_of(hit_lists.hits)
    for hit in np.flatnonzero(units != expected)[:1].tolist():
        owner = int(np.searchsorted(hit_lists.offsets, hit, "right")) - 1
        query = hit_lists.queries.given[owner]
        target = database.shown(int(target_numbers(hit_lists.hits)[hit])).given
        raise DifferentScoreError(
            f"query {query.id}, target {target.id}: the scan found the score "
            f"{expected[hit]} in integer units, their best alignment has {units[hit]}"
        )


def _hidden_bits(
    hit_lists: HitLists, found: FoundAlignments, database: Database, limits: Limits
) -> npt.NDArray[np.float64] | None:
    """Return the most bits of alignments that are not listed, see `HitTable`; None if unknown."""
    if 1 in (limits.max_hsps, limits.ranking.top):
        return None
    hidden = np.full(len(found.hit), np.nan)
    owners = np.searchsorted(hit_lists.offsets, found.hit, "right") - 1
    lengths = database.lengths[found.place]
    below = np.array([limits.ranking.min_score - 1])
    for statistics, rows in together(hit_lists.statistics, owners):
        if statistics.available:
            hidden[rows] = statistics.bits(below, lengths[rows])
    if limits.evalue is not None:
        with np.errstate(divide="ignore"):
            at_limit = found.bits + np.log2(found.evalues / limits.evalue)
        hidden = np.maximum(hidden, at_limit)
    return hidden


def _bits_beyond(
    hit_lists: HitLists, found: FoundAlignments, first: npt.NDArray[np.int64], limits: Limits
) -> npt.NDArray[np.float64]:
    """Return the most bits of alignments beyond the number that is listed, see `HitTable`.

    ``first`` has the first row of each hit, and the end.
    """
    counts = np.diff(first)
    full = counts == limits.max_hsps  # never if there is no maximum
    of_hit = np.where(full, found.bits[first[1:] - 1], -np.inf)
    beyond = np.full(len(hit_lists), -np.inf)
    for k, (start, stop) in enumerate(pairwise(hit_lists.offsets.tolist())):
        if start < stop:
            last = found.bits[first[stop - 1]] if hit_lists.more[k] != 0 else -np.inf
            beyond[k] = max(last, of_hit[start:stop].max())
    return np.repeat(np.repeat(beyond, np.diff(hit_lists.offsets)), counts)


class _Shown(dict[int, InContext]):
    """Sequences of a database by their original numbers, each made when it is first needed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __missing__(self, number: int) -> InContext:
        shown = self[number] = self._database.shown(number)
        return shown
