"""Alignments of hits: the best ones, then rounds of further ones that share no aligned pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch, Masks
from glsw.alignment.paths import Runs
from glsw.alignment.table import HitTable, compete
from glsw.device.device import DeviceError
from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.pairs.align_pairs import best_scores
from glsw.scoring.scoring import Scoring
from glsw.search.limits import SIGNIFICANT
from glsw.search.ranking import Found
from glsw.search.select import AS_SCANNED, Selection, pair_numbers, together
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences, distinct, offsets_of, ranges
from glsw.sequences.tiles import cut
from glsw.words import visible

_MAX_PAIRS_PER_BATCH = 2**14
_MAX_RESIDUES_PER_BATCH = 2**25  # of pairs, so that there is room for their masks

_Int64 = npt.NDArray[np.int64]


class DifferentScoreError(DeviceError):
    """A hit and its best alignment differ in score: the scan or the alignment is wrong."""


def parts_to_align(hits: Selection) -> Iterator[Selection]:
    """Yield the hits of queries that are aligned together.

    Hardware takes no longer for those of several queries than for those of one.
    """
    pairs = np.diff(hits.offsets)
    if hits.limits.max_hsps != 1:
        pairs *= np.diff(hits.queries.offsets)
    yield from map(hits.part, cut([offsets_of(pairs)], [_MAX_PAIRS_PER_BATCH]))


def align_hits(engine: Engine, hits: Selection, ties: Ties) -> HitTable:
    """Return the alignments of hits: one each, or as many as the limits allow, the best first.

    Raises
    ------
    DifferentScoreError
    """
    pairs, limits = _HitPairs(hits), hits.limits
    one = limits.max_hsps == 1
    sizes = list(map(offsets_of, pairs.sizes(best_only=one)))
    some = cut(sizes, (_MAX_PAIRS_PER_BATCH, _MAX_RESIDUES_PER_BATCH))
    align, parts = _best if one else _in_rounds, []
    for chosen in some:
        part = align(engine, pairs, chosen, ties)
        parts.append(replace(part, further=_further(engine, pairs, chosen, part)))
    table = HitTable.concatenated(parts) if parts else hits.table.select(slice(0))
    _check_scores(hits, table)
    if 1 not in (limits.max_hsps, limits.ranking.top):
        hidden, beyond = _hidden_bits(hits, table), _bits_beyond(hits, table)
        table = replace(table, hidden=hidden, beyond=beyond)
    return hits.scores.listed(table)


def bounds_of(table: HitTable) -> _Int64:
    """Return the first row of each hit, and the row behind the last one."""
    return np.append(np.flatnonzero(table.number == 1), len(table))


def _best(engine: Engine, pairs: _HitPairs, chosen: slice, ties: Ties) -> HitTable:
    """Return the best alignments of some hits."""
    _, contexts, places = pairs.pairs(chosen, best_only=True)
    units, runs, _ = _first_round(engine, pairs, contexts, places, ties)
    return replace(pairs.hits.table.select(chosen), units=units, runs=runs)


def _first_round(
    engine: Engine, pairs: _HitPairs, contexts: _Int64, places: _Int64, ties: Ties
) -> tuple[npt.NDArray[np.int32], Runs, _Targets | None]:
    """Return the best alignments of pairs; with the whole targets, unless parts are enough."""
    scores, numbers = pairs.hits.scores, pairs.numbers(contexts, places)
    columns = pairs.scanned(contexts, places).columns
    if columns is not None:
        batch = pairs.cut_out(contexts, places, columns)
        units, runs = scores.aligned(engine, batch, numbers, ties)
        return units, runs.shifted(columns[:, :1] * np.array([0, 1])), None
    whole = pairs.whole(places)
    return *scores.aligned(engine, pairs.batch(contexts, places, whole), numbers, ties), whole


def _in_rounds(engine: Engine, pairs: _HitPairs, chosen: slice, ties: Ties) -> HitTable:
    """Return the alignments of some hits, each round with what those before it forbid."""
    rounds = _Rounds(pairs, chosen, engine.scoring)
    every = rounds.every
    contexts, places = every.query, pairs.places_of(every)
    units, runs, whole = _first_round(engine, pairs, contexts, places, ties)
    whole = whole or pairs.whole_known(engine, contexts, places)
    rounds.add(every, units, runs)
    while len(todo := rounds.accept()):
        for pieces in (False, True):  # scores of windows are known of whole contexts
            some = todo.select(todo.is_cut == pieces)
            if len(some):
                batch, numbers = rounds.batch(some, whole), pair_numbers(some.query, some.target)
                units, runs = pairs.hits.scores.aligned(engine, batch, numbers, ties)
                rounds.add(some, units, runs)
    return rounds.table()


def _further(
    engine: Engine, pairs: _HitPairs, chosen: slice, table: HitTable
) -> npt.NDArray[np.int8]:
    """Return whether the hits have further alignments than these, see `HitTable`.

    It is looked for between nucleotides. Elsewhere it would cost more than all that is listed.
    """
    limits = pairs.hits.limits
    bounds, most = bounds_of(table), limits.max_hsps or 2**31
    counts, last = np.diff(bounds), bounds[1:] - 1
    ended = np.isnan(table.evalues[last]) & limits.endless
    found = np.where((counts < most) & ~ended, 0, -1).astype(np.int8)
    full = np.flatnonzero(counts == most)
    if len(full) and limits.looks_further(engine.scoring):
        hits, contexts, places = pairs.pairs(full + chosen.start, best_only=False)
        whole = pairs.whole_known(engine, contexts, places)
        of_row = np.repeat(np.arange(len(counts)), counts)
        rows = np.flatnonzero(np.isin(of_row, full))
        of_pair = hits - chosen.start
        pair = np.searchsorted(of_pair << 32 | contexts, of_row[rows] << 32 | table.query[rows])
        runs, lengths = table.runs[rows], pairs.contexts.lengths[contexts]
        masks = Masks.of_pairs(np.repeat(pair, runs.paired), *runs.pairs(), lengths)
        batch = pairs.batch(contexts, places, whole).masked(masks)
        units = best_scores(engine, batch)
        again = pairs.hits.with_significance(pairs.rows(hits, contexts, places, units))
        largest = min(SIGNIFICANT, np.inf if limits.evalue is None else limits.evalue)
        within = (units >= table.units[bounds[:-1]][of_pair]) | (again.evalues <= largest)
        found[full] = np.logical_or.reduceat(within, np.searchsorted(of_pair, full))
    return np.repeat(found, counts)


class _Targets(NamedTuple):
    """Sequences, and their places in the database, which ascend."""

    sequences: Sequences
    places: _Int64


@dataclass(frozen=True, eq=False)
class _HitPairs:
    """Hits as pairs of the contexts of their queries and their targets."""

    hits: Selection

    @property
    def database(self) -> Database:
        """The database."""
        return self.hits.database

    @property
    def contexts(self) -> Sequences:
        """The codes of the contexts of all queries."""
        return self.hits.queries.sequences

    @cached_property
    def places(self) -> _Int64:
        """The place of the target of each hit among the sorted sequences of the database.

        Of a translated one that of the frame with the best score.
        """
        return self.places_of(self.hits.table)

    @cached_property
    def bounds(self) -> _Int64:
        """The first context of the query of each hit, and the end of its contexts."""
        return np.stack([self.hits.queries.offsets[self.hits.owners + k] for k in (0, 1)])

    def sizes(self, *, best_only: bool) -> tuple[_Int64, _Int64]:
        """Return the pairs of each hit in the first round, and their residues; shapes (hits,).

        A target that several hits share counts once, as it is uploaded once.
        """
        targets, best = self.database.lengths_at(self.places), self.hits.table.query
        if best_only:
            columns = self.scanned(best, self.places).columns
            if columns is not None:
                targets = np.where(columns[:, 1] > 0, columns[:, 1] - columns[:, 0], targets)
            return np.ones_like(targets), self.contexts.lengths[best] + targets
        first, stop = self.bounds
        queries = self.contexts.offsets[stop] - self.contexts.offsets[first]
        again = np.ones(len(self.places), bool)
        again[np.unique(self.places, return_index=True)[1]] = False
        frames = len(self.database.frames)
        counts = frames * (stop - first)
        return counts, frames * queries + counts * np.where(again, 0, targets)

    def pairs(self, chosen: slice | _Int64, *, best_only: bool) -> tuple[_Int64, _Int64, _Int64]:
        """Return the hit, the context and the place of each pair of the first round of some hits.

        Unless it is the best one only, each context meets each frame of the target, if they have
        a score that counts.
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
            places = self.database.places(numbers[:, np.newaxis] + np.arange(frames))
            pair = np.repeat(of_context, frames)
            every = hits[pair], np.repeat(contexts, frames), places[of_context].ravel()
        else:
            every = hits[of_context], contexts, places[of_context]
        known = self.hits.scores.known(self.numbers(*every[1:]))
        return every if known.all() else (every[0][known], every[1][known], every[2][known])

    def numbers(self, contexts: _Int64, places: _Int64) -> _Int64:
        """Return the numbers of pairs, see `pair_numbers`."""
        return pair_numbers(contexts, self.database.order[places].astype(np.int64))

    def scanned(self, contexts: _Int64, places: _Int64) -> Found:
        """Return what the scan has found of pairs."""
        return self.hits.scanned(self.numbers(contexts, places))

    def rows(
        self, hits: _Int64, contexts: _Int64, places: _Int64, units: npt.NDArray[np.integer]
    ) -> HitTable:
        """Return pairs of hits with scores as rows, without statistics of their own."""
        numbers, table = self.database.order[places].astype(np.int64), self.hits.table.select(hits)
        return replace(table, query=contexts, target=numbers, units=units)

    def places_of(self, table: HitTable) -> _Int64:
        """Return the places of the targets of rows, as `places`."""
        return self.database.places(table.target)

    def whole(self, places: _Int64) -> _Targets:
        """Return the targets at some places, each once."""
        places = distinct(places)
        if len(places) < len(self.database):
            return _Targets(self.database.select(places.tolist()), places)
        return _Targets(self.database.sequences, places)

    def whole_known(self, engine: Engine, contexts: _Int64, places: _Int64) -> _Targets:
        """Return the same; the engine learns what the scan has found of windows of the pairs."""
        targets = self.whole(places)
        windows = self.scanned(contexts, places).windows
        if windows is not None and engine.long_targets:
            numbers = np.searchsorted(targets.places, places).tolist()
            each = zip(contexts.tolist(), numbers, windows, strict=True)
            known = {(context, target): one for context, target, one in each if one is not None}
            engine.long_targets.keep(self.contexts, targets.sequences, known)
        return targets

    def batch(self, contexts: _Int64, places: _Int64, targets: _Targets) -> Batch:
        """Return the pairs of contexts and whole targets."""
        return Batch.indexed(
            self.contexts,
            targets.sequences,
            contexts.astype(np.int32),
            np.searchsorted(targets.places, places).astype(np.int32),
        )

    def cut_out(self, contexts: _Int64, places: _Int64, columns: _Int64) -> Batch:
        """Return the pairs of contexts and columns of targets; all columns where these are 0."""
        known, database = columns[:, 1] > 0, self.database
        whole, index = np.unique(places[~known], return_inverse=True)
        pieces = zip(places[known].tolist(), columns[known].tolist(), strict=True)
        parts = [database.codes(k, slice(start, stop)) for k, (start, stop) in pieces]
        selected = database.select(whole.tolist())
        targets = Sequences.concatenated([selected, Sequences.of(parts)]) if parts else selected
        of_pair = np.empty(len(places), np.int32)
        of_pair[~known], of_pair[known] = index, len(whole) + np.arange(int(known.sum()))
        return Batch.indexed(self.contexts, targets, contexts.astype(np.int32), of_pair)


@dataclass(frozen=True, eq=False, kw_only=True)
class _NextAlignments(HitTable):
    """The next alignments of some pairs, a row each, with further columns of int64, shape (N,).

    A pair is a context of the query, or a piece of one, and a frame of the target. Its next
    alignment is the best one that shares no aligned residues with those accepted so far. The score
    of a row that is not aligned yet is the most that it can have.

    Parameters
    ----------
    hit : ndarray
        Its number among those that are aligned together.
    root, piece : ndarray
        The number of the pair of the whole context, and its own, in the order that they are made.
    start, stop : ndarray
        The residues of the context that are the piece.
    """

    hit: _Int64
    root: _Int64
    piece: _Int64
    start: _Int64
    stop: _Int64

    @property
    def is_cut(self) -> npt.NDArray[np.bool_]:
        """Whether rows are of pieces."""
        cut: npt.NDArray[np.bool_] = self.root != self.piece
        return cut


class _Rounds:
    """The alignments of some hits so far, and the next ones of their pairs.

    Where alignments are counted by part, see `Limits.by_part`, one that competes with no other
    begins a part. When it is full, what is left of the query on either side becomes pieces.
    """

    def __init__(self, pairs: _HitPairs, chosen: slice, scoring: Scoring) -> None:
        hits, contexts, places = pairs.pairs(chosen, best_only=False)
        first, stop, _ = chosen.indices(len(pairs.hits.table))
        number, zeros = np.arange(len(hits)), np.zeros(len(hits), np.int64)
        self.every = _NextAlignments(
            **_columns_of(pairs.rows(hits, contexts, places, zeros)),
            hit=hits - first,
            root=number,
            piece=number,
            start=zeros,
            stop=pairs.contexts.lengths[contexts],
        )
        limits = pairs.hits.limits
        self._pairs, self._limits, self._hits = pairs, limits, pairs.hits.table.select(chosen)
        self._next, self._made = self.every.select(slice(0)), len(hits)
        self._accepted: list[_NextAlignments] = []
        self._forbidden = np.empty((3, 0), np.int64)  # root, row and column
        self._listed = np.zeros(stop - first, np.int64)  # alignments of each hit
        self._ended = np.zeros(stop - first, bool)
        known = np.array([each.available for each in pairs.hits.statistics], bool)
        known = known[pairs.hits.owners[chosen]]
        self._endless = limits.endless & ~known
        self._by_part = limits.by_part & (known | (limits.ranking.min_score > 1))
        self._parts: dict[int, list[list[int]]] = {}  # of hits: first, last letter, alignments
        # The most that a letter can score, by which short pieces are left out.
        self._most = scoring.maximum if pairs.hits.scores is AS_SCANNED else 2**31

    def batch(self, some: _NextAlignments, whole: _Targets) -> Batch:
        """Return some pairs, of whole contexts or of pieces, without what is forbidden."""
        roots, first, index = np.unique(some.root, return_index=True, return_inverse=True)
        root, rows, columns = self._forbidden[:, np.isin(self._forbidden[0], roots)]
        lengths = self._pairs.contexts.lengths[some.query[first]]
        masks = Masks.of_pairs(np.searchsorted(roots, root), rows, columns, lengths).select(index)
        batch = self._pairs.batch(some.query, self._pairs.places_of(some), whole)
        if not some.is_cut.any():
            return batch.masked(masks)
        pieces = list(map(slice, some.start.tolist(), some.stop.tolist()))
        queries = [batch.pair(p)[0][piece] for p, piece in enumerate(pieces)]
        every = np.arange(len(some), dtype=np.int32)
        batch = Batch.indexed(Sequences.of(queries), whole.sequences, every, batch.target_index)
        left = zip(masks, pieces, strict=True)
        return batch.masked(mask.part(piece, slice(None)) for mask, piece in left)

    def add(self, some: _NextAlignments, units: npt.NDArray[np.integer], runs: Runs) -> None:
        """Take the next alignments of some pairs, and compute their statistics."""
        runs = runs.shifted(np.stack([some.start, 0 * some.start], axis=1))
        found = self._pairs.hits.with_significance(replace(some, units=units, runs=runs))
        self._next = _NextAlignments.concatenated([self._next, found])

    def _fails(self, found: _NextAlignments) -> npt.NDArray[np.bool_]:
        """Tell which scores are not within the limits."""
        fails = found.units < self._limits.ranking.min_score
        if self._limits.evalue is not None:
            fails |= found.evalues > self._limits.evalue
        return fails

    def accept(self) -> _NextAlignments:
        """Accept the best alignment of each hit; return the pairs that may have another one.

        If no number limits the alignments, those of one pair do not depend on those of others: all
        within the limits are accepted at once.
        """
        limits, found = self._limits, self._next
        # Equal scores of a hit as in `best_contexts`.
        order = np.lexsort((found.piece, found.query, found.target, -found.units, found.hit))
        hit = found.hit[order]
        best = _leads(hit) & (self._listed[hit] == 0)
        kept = best | ~self._fails(found)[order]
        order, best, hit = order[kept], best[kept], hit[kept]
        chosen = _leads(hit)
        if limits.max_hsps is None:
            chosen |= ~self._endless[hit]
        accepted, found = found.select(order[chosen]), found.select(order[~chosen])
        best, hit = best[chosen], accepted.hit
        bits = np.where(best, self._hits.bits[hit], accepted.bits)
        evalues = np.where(best, self._hits.evalues[hit], accepted.evalues)
        accepted = replace(accepted, bits=bits, evalues=evalues)
        self._accepted.append(accepted)
        self._listed += np.bincount(hit, minlength=len(self._listed))
        full = (self._listed[hit] == (limits.max_hsps or 0)) & ~self._by_part[hit]
        self._ended[hit] = self._endless[hit] | full
        todo, found = (each.select(~self._ended[each.hit]) for each in (accepted, found))
        new = np.stack([np.repeat(accepted.root, accepted.runs.paired), *accepted.runs.pairs()])
        self._forbidden = np.concatenate([self._forbidden, new], axis=1)
        if self._by_part.any():
            found, todo = self._cut(accepted, found, todo)
        wanted = np.isin(self._forbidden[0], np.append(found.root, todo.root))
        self._next, self._forbidden = found, self._forbidden[:, wanted]
        return todo

    def _cut(
        self, accepted: _NextAlignments, found: _NextAlignments, todo: _NextAlignments
    ) -> tuple[_NextAlignments, _NextAlignments]:
        """Count alignments by part; return those found and to do, those of full parts cut."""
        first, last = np.sort(accepted.query_places, axis=0).tolist()
        full = np.zeros((2, len(self._listed)), np.int64)  # letters of parts
        for k, *place in zip(accepted.hit.tolist(), first, last, strict=True):
            parts = self._parts.setdefault(k, [])
            part = next((each for each in parts if compete(*place, *each[:2])), [*place, 0])
            parts += [part] * (part[2] == 0)
            part[2] += 1
            if self._by_part[k] and part[2] == self._limits.max_hsps:
                full[:, k] = part[0] - 1, part[1]
        every = _NextAlignments.concatenated([found, todo])
        cut = np.flatnonzero(full[1, every.hit] > 0)
        if not len(cut):
            return found, todo
        parents = every.select(cut[np.argsort(every.piece[cut])])
        queries, of = self._pairs.hits.queries, parents.query
        start, stop = full[:, parents.hit]
        length, frame = queries.length[of], queries.frame[of]
        minus, step = queries.strand[of] < 0, np.where(frame, 3, 1)
        start, stop = np.where(minus, [length - stop, length - start], [start, stop])
        shift = np.maximum(abs(frame) - 1, 0)
        start, stop = (start - shift) // step, -((shift - stop) // step)  # residues of the part
        left = replace(parents, stop=np.minimum(parents.stop, start))
        right = replace(parents, start=np.maximum(parents.start, stop))
        pieces = _NextAlignments.concatenated([left, right])
        lengths = np.maximum(0, pieces.stop - pieces.start)
        units = np.minimum(pieces.units, lengths * self._most)
        pieces = replace(pieces, units=units, piece=self._made + np.arange(len(pieces)))
        pieces = self._pairs.hits.with_significance(pieces)
        self._made += len(pieces)
        pieces = pieces.select(~self._fails(pieces) & (lengths > 0))
        found, todo = (each.select(full[1, each.hit] == 0) for each in (found, todo))
        return found, _NextAlignments.concatenated([todo, pieces])

    def table(self) -> HitTable:
        """Return the rows of all that was accepted: of each hit the best first."""
        table = _NextAlignments.concatenated(self._accepted)
        order = np.lexsort((table.query, table.target, -table.units, table.hit))
        number = ranges(np.ones_like(self._listed), self._listed)
        return replace(HitTable(**_columns_of(table)).select(order), number=number)


def _columns_of(table: HitTable) -> dict[str, Any]:
    """Return what makes a table."""
    return {each.name: getattr(table, each.name) for each in fields(HitTable)}


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


def _hidden_bits(hits: Selection, table: HitTable) -> npt.NDArray[np.float64]:
    """Return the most bits of alignments that limits hide, see `HitTable`."""
    hidden, database, limits = np.full(len(table), np.nan), hits.database, hits.limits
    lengths = database.lengths_at(database.places(table.target))
    below = np.array([limits.ranking.min_score - 1])
    for statistics, rows in together(hits.statistics, hits.queries.owner[table.query]):
        if statistics.available:
            hidden[rows] = statistics.bits(below, lengths[rows])
    if limits.evalue is not None:
        with np.errstate(divide="ignore"):
            at_limit = table.bits + np.log2(table.evalues / limits.evalue)
        hidden = np.maximum(hidden, at_limit)
    return hidden


def _bits_beyond(hits: Selection, table: HitTable) -> npt.NDArray[np.float64]:
    """Return the most bits of alignments beyond the number that is listed, see `HitTable`."""
    first, limits = bounds_of(table), hits.limits
    counts = np.diff(first)
    full = (counts == limits.max_hsps) & (not limits.by_part)  # never if there is no maximum
    of_hit = np.where(full, table.bits[first[1:] - 1], -np.inf)
    beyond = np.full(len(hits.statistics), -np.inf)
    for k, (start, stop) in enumerate(pairwise(hits.offsets.tolist())):
        if start < stop:
            last = table.bits[first[stop - 1]] if hits.more[k] != 0 else -np.inf
            beyond[k] = max(last, of_hit[start:stop].max())
    return beyond[hits.queries.owner[table.query]]
