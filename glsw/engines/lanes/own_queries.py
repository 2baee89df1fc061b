"""Arbitrary pairs in engine ``lanes``: each target with its own query, without query profiles.

Instead, shared memory has the scores of the letters that occur: with floats of each letter with
each two that may follow one another in a query; where there is no room for these, scores are
integers.

Pairs are grouped by the rows and strips of their queries, and sorted by the lengths of their
targets, so that the lanes of a work group have equal work. Groups whose scores are of the same
type share buffers. What a batch needs on the device is laid out by NumPy alone: in any thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import moderngl
import numpy as np

from glsw.alignment.batch import Batch
from glsw.arrays import Int32, Intp, UInt32, UInt64
from glsw.engines.answers import check_found
from glsw.engines.base import ignore
from glsw.engines.gl import Binding
from glsw.engines.lanes.geometry import INT32, Geometries, Geometry, rows_of_strips
from glsw.engines.lanes.jobs import WorkGroups
from glsw.engines.lanes.rows import ALIGNMENT, score_bits
from glsw.engines.lanes.targets import (
    COLUMNS,
    GROUPS,
    OWN_QUERIES,
    QUERY_PROFILE,
    QUERY_WORDS,
    SCORES,
    SLOTS,
    Bindable,
    Section,
    slots_of,
)
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences, offsets_of

if TYPE_CHECKING:
    from glsw.engines.base import Progress
    from glsw.engines.lanes.engine import Lanes

_SLOT_BYTES = 16


def scores_of_each(engine: Lanes, batches: Iterable[Batch], progress: Progress) -> Iterator[Int32]:
    """Yield the scores of batches; one is uploaded while the device computes the one before."""
    current: Iterator[Any] = iter(())
    letters: dict[Sequences, moderngl.Buffer] = {}  # of the sequences of a batch
    for batch in batches:
        for each in {*batch.sequences} - {*letters}:
            letters[each] = engine.pool.filled(each.residues)
        following = _computed(engine, batch, engine.geometries.number, letters, progress)
        next(following)
        yield from current
        next(following)
        current = following
        engine.pool.give_when_read(letters.pop(each) for each in {*letters} - {*batch.sequences})
    found = [*current]
    engine.pool.give_when_read(letters.values())
    yield from found


def _computed(
    engine: Lanes,
    batch: Batch,
    number: int,
    letters: Mapping[Sequences, moderngl.Buffer],
    progress: Progress,
) -> Iterator[Any]:
    """Yield the best score of each pair, shape (N,), as the third of three.

    When the first one is asked for, all is uploaded, then the first slice of time is queued. Pairs
    whose scores floats, if that is ``number``, do not hold are computed again.
    """
    shares = engine.prepared.pop(batch, []) or shares_of(engine, batch, number)
    scores = [(engine.pool.take(size), size) for size in (4 * len(each.order) for each in shares)]
    used, jobs = [buffer for buffer, _ in scores], list[WorkGroups]()
    for share, (buffer, _) in zip(shares, scores, strict=True):
        jobs += _jobs_of(engine, batch, share, letters, buffer, used)
    yield
    slices = engine.queue.slices_of(jobs, progress)
    next(slices, None)
    yield
    for _ in slices:
        pass
    places = np.zeros(len(batch) + 1, np.int32)  # behind the pairs: places without one
    contents = engine.reading_of(partial(engine.device.readback.begin, scores), used)()
    for share, content in zip(shares, contents, strict=True):
        places[share.order] = content.view(np.int32)
    found = places[:-1]
    floats = any(share.parts[0].geometry.number != INT32 for share in shares)
    if floats and found.max(initial=0) >= engine.wrong_from:
        high = np.flatnonzero(found >= engine.wrong_from)
        *_, found[high] = _computed(engine, batch.select(high), INT32, letters, ignore)
    if engine.scoring.end_gaps:
        empty = np.flatnonzero((batch.lengths == 0).any(axis=1))
        found[empty] = engine.scoring.end_gaps.alone(*batch.lengths[empty].T)
    check_found(engine, found, *batch.extent[1].tolist())
    yield found


def _jobs_of(
    engine: Lanes,
    batch: Batch,
    share: Share,
    letters: Mapping[Sequences, moderngl.Buffer],
    scores: moderngl.Buffer,
    used: list[moderngl.Buffer],
) -> Iterator[WorkGroups]:
    """Upload a share, and have its letters packed; add the buffers to ``used``."""
    engine.prove(part.geometry for part in share.parts)
    content = engine.pool.filled(share.content)
    sections = [Section(content, *bounds) for bounds in share.bounds]
    table, query_slots, target_slots, query_places, target_places, *borders = sections
    geometry, slots = share.parts[0].geometry, offsets_of([part.slots for part in share.parts])
    table.bind_to_storage_buffer(QUERY_PROFILE.number)
    sides = (query_slots, query_places), (target_slots, target_places)
    words = [engine.pool.take(4 * count) for count in share.words]
    used += content, *words
    ends, size = (not engine.scoring.local, False), 4 * geometry.targets
    for sequences, side, packed, end in zip(batch.sequences, sides, words, ends, strict=True):
        given = *side, letters[sequences], packed
        engine.targets.pack_letters(geometry, int(slots[-1]), *given, from_end=end)
    for part, border, first in zip(share.parts, borders, slots.tolist(), strict=False):
        places = _SLOT_BYTES * first, _SLOT_BYTES * part.slots
        bound: list[tuple[Binding, Bindable]] = [
            (OWN_QUERIES, query_slots.part(*places)),
            (QUERY_WORDS, words[0]),
            (SLOTS, target_slots.part(*places)),
            (COLUMNS, words[1]),
            (GROUPS, border),
            (SCORES, Section(scores, size * first, size * part.slots)),
        ]
        yield replace(part, bound=bound, profiles=[table])


_SLOTS = 64  # their number is a multiple of this
_USUAL_LETTERS = 20
_CODES = 256
_SHORT_KEYS = 2**16  # sorted by digits


class Kind(NamedTuple):
    """How lanes compute pairs with queries of some lengths, the cost of one, and how many."""

    geometry: Geometry
    strips: int
    lengths: list[int]
    cost: int
    pairs: int


@dataclass(frozen=True, eq=False)
class Share:
    """Pairs whose scores are of one type: what they need on the device, as one array."""

    parts: list[WorkGroups]  # pairs of one kind each
    order: Intp
    """The pair of each place, two of them in a slot if scores are floats; N if there is none."""
    content: UInt32
    """The scores of letters, as columns.glsl has them; slots of queries and of targets, as
    columns.glsl has them; places of queries and of targets, as lanes_columns.comp has them; borders
    of each part."""
    bounds: list[tuple[int, int]]  # where each of these begins, and its size, in bytes
    words: list[int]  # that the letters of the queries, and of the targets, will take


def shares_of(
    engine: Lanes, batch: Batch, number: int, geometry: Geometry | None = None
) -> list[Share]:
    """Return the pairs with letters; ``number`` is the type of the scores where it pays off.

    By default the engine chooses the geometry.
    """
    codes = _used_codes(batch)
    m, n = batch.query_lengths, batch.target_lengths
    counts = np.bincount(m if batch.extent[0, 1] else m[n > 0], minlength=1)
    counts[0] = 0
    asked = engine.geometries, counts, number, len(codes), geometry
    of_numbers, shares = _kinds(*asked), list[Share]()
    rank = np.full(len(counts), -1, np.int32)
    kinds = [*chain(*of_numbers)]
    for k, kind in enumerate(kinds):
        rank[kind.lengths] = k
    order = _sorted(batch, rank, len(kinds))
    bounds = len(order) - np.sum(counts) + offsets_of([kind.pairs for kind in kinds])
    chosen = iter([order[slice(*each)] for each in pairwise(bounds.tolist())])
    tables = [_places(*each) for each in zip(batch.sequences, batch.runs, strict=True)]
    for alike in of_numbers:
        scores = _letter_scores(engine.scoring, codes, alike[0].geometry.number)
        shares.append(_share(alike, [*islice(chosen, len(alike))], tables, scores))
    return shares


def _share(
    kinds: Sequence[Kind], pairs: Sequence[Intp], tables: Sequence[UInt64], scores: UInt32
) -> Share:
    """Lay out pairs by kind; ``tables`` have the places of the sequences of all pairs."""
    targets, step = kinds[0].geometry.targets, kinds[0].geometry.step
    multiples = [max(_SLOTS, kind.geometry.chains) for kind in kinds]
    slots = [-(-k.pairs // (targets * of)) * of for k, of in zip(kinds, multiples, strict=True)]
    first = offsets_of(slots).tolist()
    order = np.full(first[-1] * targets, len(tables[0]) - 1)
    for start, own in zip(first, pairs, strict=False):
        order[start * targets :][: len(own)] = own
    groups = [count // kind.geometry.chains for kind, count in zip(kinds, slots, strict=True)]
    sizes = [len(scores), *[4 * first[-1]] * 2, *[2 * len(order)] * 2, *(k + 1 for k in groups)]
    begins = offsets_of([-(-size // ALIGNMENT) * ALIGNMENT for size in sizes]).tolist()
    content = np.empty(begins[-1], np.uint32)  # in sections that can each be bound alone
    bounds = [(4 * begin, 4 * size) for begin, size in zip(begins, sizes, strict=False)]
    sections = [content[begin : begin + size] for begin, size in zip(begins, sizes, strict=False)]
    sections[0][:] = scores
    sides, lengths = [], []
    for table, slot, place in zip(tables, sections[1:3], sections[3:5], strict=True):
        np.take(table, order, out=place.view(np.uint64), mode="clip")
        lengths.append(place[1::2])
        sides.append(slots_of(lengths[-1], targets, step, out=slot.reshape(-1, 4)))
    starts = np.array(first[:-1]) * targets
    cells = np.add.reduceat(np.multiply(*lengths, dtype=np.int64), starts).tolist()
    parts = []
    every = zip(kinds, first, slots, cells, sections[5:], strict=False)
    for (geometry, strips, *_), start, count, own, border in every:
        columns = sides[1][start : start + count : geometry.chains, 1].astype(np.int64) * step
        border[:] = before = offsets_of(columns * geometry.chains)
        each = before * geometry.targets * strips * geometry.strip
        parts.append(WorkGroups(geometry, 1, strips, before, each, own))
    words = [int(each[-1, :2].sum(dtype=np.int64)) + 1 for each in sides]
    return Share(parts, order, content, bounds, words)


def _places(sequences: Sequences, which: slice | Int32) -> UInt64:
    """Return the first letter and, in the high half, the length of each; 0 behind all."""
    lengths, first = sequences.lengths[which], sequences.offsets[:-1][which]
    places = np.zeros(len(lengths) + 1, np.int64)
    np.left_shift(lengths, 32, out=places[:-1])
    places[:-1] |= first
    return places.view(np.uint64)


def _kinds(
    geometries: Geometries, counts: Intp, number: int, letters: int, asked: Geometry | None
) -> list[list[Kind]]:
    """Return the kinds of pairs of each type of scores, ascending.

    ``counts`` has the pairs with queries of each length.
    """
    found: dict[int, dict[tuple[Geometry, int], list[int]]] = {}
    for length in np.flatnonzero(counts).tolist():
        geometry = asked or geometries.of_pairs(length, number, letters)
        alike = found.setdefault(geometry.number, {})
        alike.setdefault((geometry, geometry.strips(length)), []).append(length)
    return [
        _fewer(
            [Kind(*key, m, rows_of_strips(*key), int(counts[m].sum())) for key, m in alike.items()],
            geometries.limits.waste,
        )
        for alike in found.values()
    ]


def _fewer(kinds: list[Kind], waste: float) -> list[Kind]:
    """Have a larger kind, where that costs little more, compute the pairs of one, too.

    Small kinds do not fill a device, and each of them takes a dispatch.
    """
    room = waste * sum(kind.cost * kind.pairs for kind in kinds)
    while len(kinds) > 1:
        extra = [one.pairs * (other.cost - one.cost) for one, other in pairwise(kinds)]
        k = extra.index(min(extra))
        room -= extra[k]
        if room < 0:
            break
        one, larger = kinds[k : k + 2]
        lengths, pairs = one.lengths + larger.lengths, one.pairs + larger.pairs
        kinds[k : k + 2] = [larger._replace(lengths=lengths, pairs=pairs)]
    return kinds


def _sorted(batch: Batch, rank: Int32, kinds: int) -> Intp:
    """Return the pairs by kind, those without letters first, and then the longest targets first."""
    m, n = batch.query_lengths, batch.target_lengths
    if (batch.extent[0] == batch.extent[1]).all():
        return np.arange(len(batch))
    longest = int(batch.extent[1, 1])
    short = (kinds + 1) * (longest + 1) <= _SHORT_KEYS
    dtype = np.uint16 if short else np.int64
    last = ((rank + np.int64(1)) * (longest + 1) + longest).astype(dtype)  # of a length: keys
    keys = np.take(last, m, mode="clip")
    keys -= n.astype(dtype)
    if not batch.extent[0, 1]:
        keys[n == 0] = 0
    return np.argsort(keys, kind="stable" if short else None)


def _used_codes(batch: Batch) -> list[int]:
    """Return the codes of letters that may occur, ascending: all of the usual ones."""
    used: set[int] = set()
    for sequences in {batch.queries, batch.targets}:
        used |= set(range(min(sequences.code_bound + 1, _USUAL_LETTERS)))
        used |= set(sequences.codes_in_use(_USUAL_LETTERS))
    return sorted(used)


def _letter_scores(scoring: Scoring, codes: list[int], number: int) -> UInt32:
    """Return the letters and their scores as columns.glsl has them, shape (words,)."""
    numbers = np.zeros(_CODES, np.uint8)
    numbers[codes] = np.arange(1, len(codes) + 1)
    words = score_bits(scoring.matrix[np.ix_(codes, codes)], scoring, number)
    if number != INT32:
        words = words[:, :, None] | words[:, None, :] << np.uint32(16)  # the first in the low half
    return np.concatenate([numbers.view(np.uint32), words.ravel()])
