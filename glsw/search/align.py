"""The alignments of hits: the best ones, then rounds of further ones that share no pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch, Mask
from glsw.alignment.paths import Runs
from glsw.alignment.table import HitTable
from glsw.device.device import DeviceError
from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.engines.windows import WindowScores
from glsw.search.limits import Limits
from glsw.search.select import Selection, together
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences, distinct, offsets_of, ranges
from glsw.sequences.tiles import cut
from glsw.statistics import Statistics

_MAX_PAIRS_PER_BATCH = 2**14
_MAX_RESIDUES_PER_BATCH = 2**25  # of pairs, so that there is room for their masks

_Int64 = npt.NDArray[np.int64]
_Pair = tuple[int, int]


class DifferentScoreError(DeviceError):
    """A hit has another score than its best alignment: the scan or the alignment is wrong."""


def parts_to_align(hits: Selection, limits: Limits) -> Iterator[Selection]:
    """Yield the hits of queries that are aligned together.

    Hardware takes no longer for those of several queries than for those of one.
    """
    pairs = np.diff(hits.offsets)
    if limits.max_hsps != 1:
        pairs *= np.diff(hits.queries.offsets)
    yield from map(hits.part, cut([offsets_of(pairs)], [_MAX_PAIRS_PER_BATCH]))


def align_hits(
    engine: Engine, hits: Selection, database: Database, limits: Limits, ties: Ties
) -> HitTable:
    """Return the alignments of hits: one each, or as many as the limits allow, the best first.

    Raises
    ------
    DifferentScoreError
    """
    pairs = _HitPairs(hits, database)
    one = limits.max_hsps == 1
    sizes = list(map(offsets_of, pairs.sizes(best_only=one)))
    some = cut(sizes, (_MAX_PAIRS_PER_BATCH, _MAX_RESIDUES_PER_BATCH))
    align = _best if one else _in_rounds
    parts = [align(engine, pairs, chosen, limits, ties) for chosen in some]
    table = HitTable.concatenated([hits.table.select(slice(0)), *parts])
    _check_scores(hits, table)
    if 1 not in (limits.max_hsps, limits.ranking.top):
        hidden = _hidden_bits(hits, table, database, limits)
        table = replace(table, hidden=hidden, beyond=_bits_beyond(hits, table, limits))
    return hits.scores.listed(table)


def bounds_of(table: HitTable) -> _Int64:
    """Return the first row of each hit, and the row behind the last one."""
    return np.append(np.flatnonzero(table.number == 1), len(table))


def _best(engine: Engine, pairs: _HitPairs, chosen: slice, limits: Limits, ties: Ties) -> HitTable:
    """Return the best alignments of some hits."""
    units, runs, _ = _first_round(engine, pairs, *pairs.pairs(chosen, best_only=True), ties)
    return replace(pairs.hits.table.select(chosen), units=units, runs=runs)


def _first_round(
    engine: Engine, pairs: _HitPairs, hits: _Int64, contexts: _Int64, places: _Int64, ties: Ties
) -> tuple[npt.NDArray[np.int32], Runs, _Targets | None]:
    """Return the best alignments of pairs; with the whole targets, unless parts are enough."""
    scores = pairs.hits.scores
    if of_scan := pairs.columns(contexts, places):
        batch, first = of_scan
        units, runs = scores.aligned(engine, batch, hits, ties)
        return units, runs.shifted(np.stack([0 * first, first], axis=1)), None
    whole = pairs.whole(places)
    return *scores.aligned(engine, pairs.batch(contexts, places, whole), hits, ties), whole


def _in_rounds(
    engine: Engine, pairs: _HitPairs, chosen: slice, limits: Limits, ties: Ties
) -> HitTable:
    """Return the alignments of some hits, each round with what those before it forbid."""
    hits, contexts, places = pairs.pairs(chosen, best_only=False)
    units, runs, whole = _first_round(engine, pairs, hits, contexts, places, ties)
    first, stop, _ = chosen.indices(len(pairs.hits.table))
    targets = [_Target.of(pairs, hit) for hit in range(first, stop)]
    if whole is None:
        whole = pairs.whole(places)
        known = pairs.known_windows(whole)
        if known and engine.long_targets:
            engine.long_targets.keep(pairs.contexts, whole.sequences, known)
    while len(hits):
        each = zip(hits.tolist(), contexts.tolist(), places.tolist(), strict=True)
        for p, (hit, context, place) in enumerate(each):
            candidate = _Candidate(context, place, int(units[p]), runs[p : p + 1])
            targets[hit - first].candidates[candidate.pair] = candidate
        todo = [
            (hit, *pair)
            for hit in distinct(hits).tolist()
            for pair in targets[hit - first].accept(limits)
        ]
        hits, contexts, places = np.array(todo, np.int64).reshape(-1, 3).T
        if todo:
            masks = (targets[hit - first].mask(*pair) for hit, *pair in todo)
            batch = pairs.batch(contexts, places, whole).masked(masks)
            units, runs = pairs.hits.scores.aligned(engine, batch, hits, ties)
    return _accepted(pairs, targets)


class _Targets(NamedTuple):
    """Sequences, and their places in the database, which ascend."""

    sequences: Sequences
    places: _Int64


@dataclass(frozen=True, eq=False)
class _HitPairs:
    """Hits as pairs of the contexts of their queries and their targets."""

    hits: Selection
    database: Database

    @property
    def contexts(self) -> Sequences:
        """The codes of the contexts of all queries."""
        return self.hits.queries.sequences

    @cached_property
    def places(self) -> _Int64:
        """The place of the target of each hit among the sorted sequences of the database.

        Of a translated one that of the frame with the best score.
        """
        return self.database.rank[self.hits.table.target]

    @cached_property
    def bounds(self) -> _Int64:
        """The first context of the query of each hit, and the end of its contexts."""
        queries = self.hits.queries
        owners = queries.owner[self.hits.table.query]
        return np.stack([queries.offsets[owners], queries.offsets[owners + 1]])

    def sizes(self, *, best_only: bool) -> tuple[_Int64, _Int64]:
        """Return the pairs of each hit in the first round, and their residues; shapes (hits,).

        A target that several hits share counts once, as it is uploaded once.
        """
        targets, best = self.database.lengths[self.places], self.hits.table.query
        if best_only:
            bounds = self._columns(best, self.places)
            if bounds is not None:
                targets = np.where(bounds[:, 1] > 0, bounds[:, 1] - bounds[:, 0], targets)
            return np.ones_like(targets), self.contexts.lengths[best] + targets
        first, stop = self.bounds
        queries = self.contexts.offsets[stop] - self.contexts.offsets[first]
        again = np.ones(len(self.places), bool)
        again[np.unique(self.places, return_index=True)[1]] = False
        frames = len(self.database.frames)
        counts = frames * (stop - first)
        return counts, frames * queries + counts * np.where(again, 0, targets)

    def pairs(self, chosen: slice, *, best_only: bool) -> tuple[_Int64, _Int64, _Int64]:
        """Return the hit, the context and the place of each pair of the first round of some hits.

        Unless it is the best one only, each context meets each frame of the target.
        """
        hits, places = np.arange(len(self.places))[chosen], self.places[chosen]
        if best_only:
            return hits, self.hits.table.query[chosen], places
        first, stop = self.bounds[:, chosen]
        frames = len(self.database.frames)
        of_context = np.repeat(np.arange(len(hits)), stop - first)
        contexts = ranges(first, stop - first)
        if frames > 1:
            numbers = self.database.order[places] // frames * frames
            places = self.database.rank[numbers[:, np.newaxis] + np.arange(frames)]
            pair = np.repeat(of_context, frames)
            return hits[pair], np.repeat(contexts, frames), places[of_context].ravel()
        return hits[of_context], contexts, places[of_context]

    def whole(self, places: _Int64) -> _Targets:
        """Return the targets at some places, each once."""
        places = distinct(places)
        if len(places) < len(self.database):
            return _Targets(self.database.select(places.tolist()), places)
        return _Targets(self.database.sequences, places)

    def batch(self, contexts: _Int64, places: _Int64, targets: _Targets) -> Batch:
        """Return the pairs of contexts and whole targets."""
        return Batch.indexed(
            self.contexts,
            targets.sequences,
            contexts.astype(np.int32),
            np.searchsorted(targets.places, places).astype(np.int32),
        )

    def columns(self, contexts: _Int64, places: _Int64) -> tuple[Batch, _Int64] | None:
        """Return the pairs of contexts and the columns of targets that have the best alignments.

        None if the scan has found such columns of no target. The other array has the first column
        of each pair.
        """
        bounds = self._columns(contexts, places)
        if bounds is None:
            return None
        known = bounds[:, 1] > 0
        database = self.database
        whole, index = np.unique(places[~known], return_inverse=True)
        pieces = zip(places[known].tolist(), bounds[known].tolist(), strict=True)
        parts = [database.codes(k, slice(start, stop)) for k, (start, stop) in pieces]
        selected = database.select(whole.tolist())
        targets = Sequences.concatenated([selected, Sequences.of(parts)]) if parts else selected
        of_pair = np.empty(len(places), np.int32)
        of_pair[~known], of_pair[known] = index, len(whole) + np.arange(int(known.sum()))
        batch = Batch.indexed(self.contexts, targets, contexts.astype(np.int32), of_pair)
        return batch, bounds[:, 0]

    def known_windows(self, targets: _Targets) -> dict[tuple[int, int], WindowScores]:
        """Return the scores of windows that the scan has kept, by context and target."""
        rank, places = self.database.rank, targets.places
        known = {}
        for context, scan in enumerate(each for scans in self.hits.scans for each in scans):
            for number, windows in (scan.windows or {}).items():
                target = int(np.searchsorted(places, rank[number]))
                if target < len(places) and places[target] == rank[number]:
                    known[context, target] = windows
        return known

    def _columns(self, contexts: _Int64, places: _Int64) -> _Int64 | None:
        """Return the columns of each pair that the scan has found, shape (pairs, 2), or (0, 0)."""
        known = [each.places for scans in self.hits.scans for each in scans]
        if not any(known):
            return None
        numbers = self.database.order[places].tolist()
        found = zip(contexts.tolist(), numbers, strict=True)
        nothing = 0, 0
        return np.array(
            [(known[context] or {}).get(number, nothing) for context, number in found], np.int64
        ).reshape(-1, 2)


class _Candidate(NamedTuple):
    """An alignment of a context and the target at a place: its score in units, its columns."""

    context: int
    place: int
    units: int
    runs: Runs
    bits: float = np.nan
    evalue: float = np.nan

    @property
    def pair(self) -> _Pair:
        return self.context, self.place


@dataclass(eq=False)
class _Target:
    """A target of a query, in all its frames, with the alignments found so far.

    Parameters
    ----------
    hit : int
        Its number.
    lengths : dict of int to int
        The residues of each context of the query.
    database : Database
    statistics : Statistics
    bits, evalue : float
        Of the best alignment.
    accepted : list
        The alignments so far, of all contexts.
    candidates : dict
        By context and place, the best alignment that shares no pair with those so far.
    """

    hit: int
    lengths: dict[int, int]
    database: Database
    statistics: Statistics
    bits: float
    evalue: float
    accepted: list[_Candidate] = field(default_factory=list)
    candidates: dict[_Pair, _Candidate] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: _HitPairs, hit: int) -> _Target:
        """Return the target of a hit."""
        hits, lengths = pairs.hits, pairs.contexts.lengths
        first, stop = pairs.bounds[:, hit].tolist()
        return cls(
            hit,
            {context: int(lengths[context]) for context in range(first, stop)},
            pairs.database,
            hits.statistics[int(hits.queries.owner[first])],
            float(hits.table.bits[hit]),
            float(hits.table.evalues[hit]),
        )

    def mask(self, context: int, place: int) -> Mask:
        """Return the aligned pairs of the alignments of a context and a place so far."""
        pair = context, place
        found = Runs.concatenated([each.runs for each in self.accepted if each.pair == pair])
        return Mask.of(*found.pairs(), self.lengths[context])

    def accept(self, limits: Limits) -> list[_Pair]:
        """Accept the best candidate; return its pair if there may be another alignment.

        If no number limits the alignments, those of one pair do not depend on those of others: all
        candidates within the limits are accepted at once.
        """
        todo: list[_Pair] = []
        while self.candidates:
            pair = min(self.candidates, key=lambda pair: self._rank(self.candidates[pair]))
            found = self.candidates.pop(pair)
            if not self.accepted:
                found = found._replace(bits=self.bits, evalue=self.evalue)
            elif found.units < limits.ranking.min_score:
                self.candidates.clear()
                break
            else:
                found = self._with_statistics(found)
                if limits.evalue is not None and found.evalue > limits.evalue:
                    continue
            self.accepted.append(found)
            endless = limits.endless and not self.statistics.available
            if endless or len(self.accepted) == limits.max_hsps:
                return []
            todo.append(pair)
            if limits.max_hsps is not None:
                break
        return todo

    def ranked(self) -> list[_Candidate]:
        """Return what was accepted, the best first; that of a pair is in order."""
        return sorted(self.accepted, key=self._rank)

    def _rank(self, found: _Candidate) -> tuple[int, int, int]:
        """Return what sorts alignments: the best first, of equal ones as in `best_contexts`."""
        return -found.units, int(self.database.order[found.place]), found.context

    def _with_statistics(self, found: _Candidate) -> _Candidate:
        if not self.statistics.available:
            return found
        length = int(self.database.lengths[found.place])
        bits = self.statistics.bits(found.units, length)
        evalue = self.statistics.evalue(found.units, self.lengths[found.context], length)
        return found._replace(bits=bits, evalue=evalue)


def _accepted(pairs: _HitPairs, targets: Sequence[_Target]) -> HitTable:
    """Return the rows of all alignments that were accepted."""
    counts = np.array([len(each.accepted) for each in targets], np.int64)
    hits = np.array([each.hit for each in targets], np.int64)
    every = list(chain.from_iterable(each.ranked() for each in targets))
    places = np.array([each.place for each in every], np.int64)
    return replace(
        pairs.hits.table.select(np.repeat(hits, counts)),
        query=np.array([each.context for each in every], np.int64),
        target=pairs.database.order[places],
        units=np.array([each.units for each in every], np.int64),
        bits=np.array([each.bits for each in every]),
        evalues=np.array([each.evalue for each in every]),
        number=ranges(np.ones_like(counts), counts),
        runs=Runs.concatenated([each.runs for each in every]),
    )


def _check_scores(hits: Selection, table: HitTable) -> None:
    """Raise DifferentScoreError if a hit has another score than its best alignment."""
    expected, units = hits.table.units, table.units[table.number == 1]
    for hit in np.flatnonzero(units != expected)[:1].tolist():
        query = hits.queries[int(hits.table.query[hit])].given
        target = table.targets[int(hits.table.target[hit])].given
        raise DifferentScoreError(
            f"query {query.id}, target {target.id}: the scan found the score "
            f"{expected[hit]} in integer units, their best alignment has {units[hit]}"
        )


def _hidden_bits(
    hits: Selection, table: HitTable, database: Database, limits: Limits
) -> npt.NDArray[np.float64]:
    """Return the most bits of alignments that limits hide, see `HitTable`."""
    hidden = np.full(len(table), np.nan)
    lengths = database.lengths[database.rank[table.target]]
    below = np.array([limits.ranking.min_score - 1])
    for statistics, rows in together(hits.statistics, hits.queries.owner[table.query]):
        if statistics.available:
            hidden[rows] = statistics.bits(below, lengths[rows])
    if limits.evalue is not None:
        with np.errstate(divide="ignore"):
            at_limit = table.bits + np.log2(table.evalues / limits.evalue)
        hidden = np.maximum(hidden, at_limit)
    return hidden


def _bits_beyond(hits: Selection, table: HitTable, limits: Limits) -> npt.NDArray[np.float64]:
    """Return the most bits of alignments beyond the number that is listed, see `HitTable`."""
    first = bounds_of(table)
    counts = np.diff(first)
    full = counts == limits.max_hsps  # never if there is no maximum
    of_hit = np.where(full, table.bits[first[1:] - 1], -np.inf)
    beyond = np.full(len(hits.scans), -np.inf)
    for k, (start, stop) in enumerate(pairwise(hits.offsets.tolist())):
        if start < stop:
            last = table.bits[first[stop - 1]] if hits.more[k] != 0 else -np.inf
            beyond[k] = max(last, of_hit[start:stop].max())
    return beyond[hits.queries.owner[table.query]]
