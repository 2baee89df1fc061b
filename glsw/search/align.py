"""The alignments of hits: the best ones, then rounds of further ones that share no pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch, Masks
from glsw.alignment.paths import DIAGONAL, Runs
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
from glsw.words import visible

_MAX_PAIRS_PER_BATCH = 2**14
_MAX_RESIDUES_PER_BATCH = 2**25  # of pairs, so that there is room for their masks

_Int64 = npt.NDArray[np.int64]
_Float = npt.NDArray[np.float64]


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
    found = _HitAlignments(pairs, chosen, limits)
    hits, contexts, places = found.hits, found.contexts, found.places
    units, runs, whole = _first_round(engine, pairs, hits, contexts, places, ties)
    if whole is None:
        whole = pairs.whole(places)
        known = pairs.known_windows(whole)
        if known and engine.long_targets:
            engine.long_targets.keep(pairs.contexts, whole.sequences, known)
    todo = np.arange(len(hits))
    while len(todo):
        found.add(todo, units, runs)
        todo, masks = found.accept()
        if len(todo):
            batch = pairs.batch(contexts[todo], places[todo], whole).masked(masks)
            units, runs = pairs.hits.scores.aligned(engine, batch, hits[todo], ties)
    return found.table()


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


class _HitAlignments:
    """The alignments of some hits so far, and of each of their pairs the next one.

    A pair is a context of the query and a frame of the target. Its next alignment is the best one
    that shares no aligned residues with those accepted so far.
    """

    def __init__(self, pairs: _HitPairs, chosen: slice, limits: Limits) -> None:
        self.hits, self.contexts, self.places = pairs.pairs(chosen, best_only=False)
        self._pairs, self._limits, count = pairs, limits, len(self.hits)
        hits, owners = pairs.hits, pairs.hits.queries.owner[self.contexts]
        self._first, stop, _ = chosen.indices(len(hits.table))
        self._hit = self.hits - self._first
        m, n = pairs.contexts.lengths[self.contexts], pairs.database.lengths[self.places]
        self._lengths = m, n
        # What sorts equal scores of a hit, as in `best_contexts`.
        self._order = pairs.database.order[self.places], self.contexts
        self._statistics = list(together(hits.statistics, owners))
        self._units, self._waits = np.zeros(count, np.int64), np.zeros(count, bool)
        self._bits, self._evalues = np.full((2, count), np.nan)
        self._runs: list[Runs] = []
        self._part, self._place = np.zeros((2, count), np.int64)  # where its runs are
        self._accepted: list[tuple[_Int64, _Int64, _Float, _Float, Runs]] = []
        self._forbidden = np.empty((3, 0), np.int64)  # pair, row and column
        self._listed = np.zeros(stop - self._first, np.int64)  # alignments of each hit
        self._ended = np.zeros(stop - self._first, bool)
        self._endless = np.zeros(len(self._listed), bool)
        for statistics, some in self._statistics:
            if limits.endless and not statistics.available:
                self._endless[self._hit[some]] = True

    def add(self, some: _Int64, units: npt.NDArray[np.int32], runs: Runs) -> None:
        """Take the next alignments of some pairs, and compute their statistics."""
        self._units[some], self._waits[some] = units, True
        self._part[some], self._place[some] = len(self._runs), np.arange(len(some))
        self._runs.append(runs)
        self._bits[some] = self._evalues[some] = np.nan
        m, n = self._lengths
        for statistics, rows in self._statistics:
            first, stop = np.searchsorted(some, [rows.start, rows.stop])
            own = some[first:stop]
            own = own[self._units[own] >= self._limits.ranking.min_score]
            if statistics.available and len(own):
                self._bits[own] = statistics.bits(self._units[own], n[own])
                self._evalues[own] = statistics.evalue(self._units[own], m[own], n[own])

    def accept(self) -> tuple[_Int64, Masks]:
        """Accept the best alignment of each hit; return the pairs that may have another one.

        With their masks. If no number limits the alignments, those of one pair do not depend on
        those of others: all within the limits are accepted at once.
        """
        limits = self._limits
        some = np.flatnonzero(self._waits & ~self._ended[self._hit])
        some = some[self._by_rank(self._hit[some], self._units[some], some)]
        hit = self._hit[some]
        best = _leads(hit) & (self._listed[hit] == 0)
        fails = self._units[some] < limits.ranking.min_score
        if limits.evalue is not None:
            fails |= self._evalues[some] > limits.evalue
        self._waits[some[fails & ~best]] = False
        self._bits[some[best]] = self._pairs.hits.table.bits[self._first + hit[best]]
        self._evalues[some[best]] = self._pairs.hits.table.evalues[self._first + hit[best]]
        some = some[best | ~fails]
        hit = self._hit[some]
        chosen = _leads(hit)
        if limits.max_hsps is None:
            chosen |= ~self._endless[hit]
        some = np.sort(some[chosen])
        hit = self._hit[some]
        runs = self._runs_of(some)
        self._waits[some] = False
        self._listed += np.bincount(hit, minlength=len(self._listed))
        self._ended[hit] = self._endless[hit] | (self._listed[hit] == (limits.max_hsps or 0))
        figures = self._units[some], self._bits[some], self._evalues[some]
        self._accepted.append((some, *figures, runs))
        todo = some[~self._ended[hit]]
        return todo, self._masks(some, runs, todo)

    def table(self) -> HitTable:
        """Return the rows of all that was accepted: of each hit the best first."""
        *columns, runs = zip(*self._accepted, strict=True)
        some, units, bits, evalues = (np.concatenate(each) for each in columns)
        order = self._by_rank(self._hit[some], units, some)
        some, pairs = some[order], self._pairs
        return replace(
            pairs.hits.table.select(self.hits[some]),
            query=self.contexts[some],
            target=pairs.database.order[self.places[some]],
            units=units[order],
            bits=bits[order],
            evalues=evalues[order],
            number=ranges(np.ones_like(self._listed), self._listed),
            runs=Runs.concatenated(runs)[order],
        )

    def _by_rank(self, hit: _Int64, units: _Int64, some: _Int64) -> _Int64:
        """Return what sorts alignments of pairs: by hit, the best first, those of a pair as is."""
        number, context = (each[some] for each in self._order)
        return np.lexsort((context, number, -units, hit))

    def _runs_of(self, some: _Int64) -> Runs:
        """Return the next alignments of some pairs."""
        part, place = self._part[some], self._place[some]
        parts = distinct(part).tolist()
        runs = Runs.concatenated([self._runs[k][place[part == k]] for k in parts])
        return runs if len(parts) < 2 else runs[np.argsort(np.argsort(part, kind="stable"))]

    def _masks(self, some: _Int64, runs: Runs, todo: _Int64) -> Masks:
        """Return the masks of the pairs to do, which ascend, after these alignments of some."""
        counts = runs.total(runs.lengths * (runs.moves == DIAGONAL))
        new = np.stack([np.repeat(some, counts), *runs.pairs()])
        every = np.concatenate([self._forbidden, new], axis=1)
        which = np.full(len(self.hits), -1)
        which[todo] = np.arange(len(todo))
        wanted = self._waits & ~self._ended[self._hit]
        wanted[todo] = True
        self._forbidden = every[:, wanted[every[0]]]
        masked = every[:, which[every[0]] >= 0]
        lengths = self._lengths[0][todo]
        return Masks.of_pairs(which[masked[0]], masked[1], masked[2], lengths)


def _leads(hit: _Int64) -> npt.NDArray[np.bool_]:
    """Tell which alignments are the first of their hits, which ascend."""
    return np.diff(hit, prepend=-1) > 0


def _check_scores(hits: Selection, table: HitTable) -> None:
    """Raise DifferentScoreError if a hit has another score than its best alignment."""
    expected, units = hits.table.units, table.units[table.number == 1]
    for hit in np.flatnonzero(units != expected)[:1].tolist():
        query = hits.queries[int(hits.table.query[hit])].given
        target = table.targets[int(hits.table.target[hit])].given
        raise DifferentScoreError(
            f"query {visible(query.id)}, target {visible(target.id)}: the scan found the score "
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
