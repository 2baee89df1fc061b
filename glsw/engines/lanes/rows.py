"""Rows of lanes: their queries, and the query profiles from which lanes read scores.

A group of queries is what lanes compute together: one stream of rows, or two side by side, whose
rows share lanes. A stream has one query, or several, of which each begins in a lane of its own. So
only the last strip of a group has empty rows, and its streams are about equally long, whatever the
lengths of its queries. A table has a record per query, by group and side.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.arrays import Int32, Int64, Intp, Structured, UInt32
from glsw.engines.lanes.geometry import (
    COMPARE,
    COST_LETTERS,
    HEAD,
    INT32,
    LANE_INFO,
    LIMIT,
    TWO_QUERY_COST,
    Geometries,
    Geometry,
    profile_letters,
)
from glsw.engines.lanes.targets import OF_PROFILES, QUERY_PROFILE, Section
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.encoded import Sequences, offsets_of, ranges

if TYPE_CHECKING:
    from glsw.engines.lanes.engine import Lanes

ROW = np.dtype([("query", np.int32), ("length", np.int32), ("group", np.int32), ("side", np.int32)])
"""A query in a table: its number, its letters, its group, and which stream of the group has it."""
Rows: TypeAlias = Structured
"""A table of `ROW`, ascending by group, and then by side."""
Query: TypeAlias = tuple[int, int]
"""The length and the number of a query."""
_MOST_LETTERS = 2**12  # of a stream, from which on it takes none anyway
_FULL = 0.97  # of the rows of a group, from which on it takes no more queries
_LEAST_LETTERS = 2**10  # less would need many rows between strips, and many small groups


def group_of(streams: Iterable[Iterable[Query]]) -> Rows:
    """Return a table of one group."""
    return np.array([(q, m, 0, k) for k, stream in enumerate(streams) for m, q in stream], ROW)


def joined(tables: Sequence[Rows]) -> Rows:
    """Return one table of the groups of all tables."""
    found = np.concatenate([np.empty(0, ROW), *tables])
    groups = [int(table["group"][-1]) + 1 if len(table) else 0 for table in tables]
    found["group"] += np.repeat(offsets_of(groups)[:-1], [*map(len, tables)]).astype(np.int32)
    return found


def bounds_of(rows: Rows) -> Intp:
    """Return where each group begins, and where the last one ends."""
    groups = int(rows["group"][-1]) + 1 if len(rows) else 0
    return np.searchsorted(rows["group"], np.arange(groups + 1))


def only(rows: Rows, groups: Sequence[int] | range) -> Rows:
    """Return the table of some groups, numbered in this order."""
    bounds = bounds_of(rows)
    if list(groups) == list(range(len(bounds) - 1)):
        return rows
    counts = np.diff(bounds)[groups]
    found = rows[ranges(bounds[:-1][groups], counts)]
    found["group"] = np.repeat(np.arange(len(groups)), counts)
    return found


class Placed:
    """Where the queries of a table are in lanes of a geometry."""

    def __init__(self, rows: Rows, geometry: Geometry) -> None:
        self.rows, self.geometry, self.bounds = rows, geometry, bounds_of(rows)
        self.lanes = -(-rows["length"] // geometry.rows)  # of each query
        streams = 2 * rows["group"] + rows["side"]
        self.begins = np.ones(len(rows), np.bool_)  # whether a query is the first one of its stream
        self.begins[1:] = streams[1:] != streams[:-1]
        ends = np.cumsum(self.lanes)
        before = ends - self.lanes
        # The first lane of each query in its stream, and the strips of each group.
        self.first = before - np.maximum.accumulate(np.where(self.begins, before, 0))
        longest = np.maximum.reduceat(self.first + self.lanes, self.bounds[:-1])
        self.strips = -(-longest // geometry.chain)


def together(geometries: Geometries, queries: Int64, targets: int) -> Rows:
    """Return a table of groups of queries, given their lengths and how many targets.

    Queries of more than one strip share streams, others lanes if that pays off.
    """
    order = np.lexsort((-np.arange(len(queries)), queries))
    empty, some = np.split(order, [np.count_nonzero(queries == 0)])
    shape, limits, groups = geometries.of_streams, geometries.limits, list[Rows]()
    short = len(some)
    if shape.at_once:
        short = int(np.searchsorted(queries[some], shape.strip, "right"))
    if short < len(some):
        left = list(zip(queries[some].tolist(), some.tolist(), strict=True))
        most = int(queries.sum()) * targets // (limits.work * shape.queries)
        window: list[Query] = []
        while window or left:
            if len(window) < limits.window // 2:
                window[:0] = left[-limits.window :]
                del left[-limits.window :]
            if window[-1][0] <= shape.strip:
                break
            groups.append(group_of(_stream(geometries, window, most)))
        some = np.array([number for _, number in (*left, *window)], np.intp)
    groups.append(_pairs(geometries, queries, some[::-1]))
    return joined([*groups, *(group_of([[(0, q)]]) for q in empty.tolist())])


def _stream(geometries: Geometries, window: list[Query], most: int) -> list[list[Query]]:
    """Take the longest query, and perhaps others, from the last ones of ``window``."""
    shape = geometries.of_streams
    group = taken(window, shape.queries, shape.rows, shape.strip, most)
    sums = [sum(length for length, _ in stream) for stream in group]
    if len(sums) == 1 or max(sums) * 2 * TWO_QUERY_COST < sum(sums):  # about equally long
        return group
    longest, *others = [query for stream in group for query in stream]
    for query in others:
        insort(window, query)
    return [[longest]]


def _pairs(geometries: Geometries, queries: Int64, order: Intp) -> Rows:
    """Return a table of queries in this order, by descending length: each two of them together.

    Those alone with which that does not pay off.
    """
    lengths = queries[order]
    changes = np.flatnonzero(np.diff(lengths, prepend=-1, append=-1))  # of the length
    pays = np.zeros(len(order), np.bool_)  # with the one before
    for start, stop in pairwise(changes.tolist()):
        m = int(lengths[start])
        pays[start + 1 : stop] = stop - start > 1 and geometries.pays_off(m, m)
        pays[start] = start > 0 and geometries.pays_off(int(lengths[start - 1]), m)
    alone = np.maximum.accumulate(np.where(pays, 0, np.arange(len(order))))
    side = (np.arange(len(order)) - alone) % 2
    found = np.empty(len(order), ROW)
    found["query"], found["length"], found["side"] = order, lengths, side
    found["group"] = np.cumsum(side == 0) - 1
    return found


def taken(
    left: list[Query], count: int, rows: int, strip: int, most: int = _MOST_LETTERS
) -> list[list[Query]]:
    """Take queries for a group, the longest first, and then those that fit into its last strip.

    ``left`` has lengths and numbers of queries, ascending; those that are taken are removed. The
    group has ``count`` streams, a lane ``rows`` rows, and a strip ``strip``. A stream takes no more
    from ``most`` letters on, if these are fewer than usual, a group none from `_FULL` of its rows.

    >>> left = [(10, 4), (20, 3), (190, 2), (300, 1), (480, 0)]
    >>> taken(left, 2, 10, 100)
    [[(480, 0), (20, 3)], [(300, 1), (190, 2), (10, 4)]]
    """
    streams: list[list[Query]] = [[] for _ in range(count)]
    sums, most = [0] * count, min(most, _MOST_LETTERS)
    while left:
        k = sums.index(min(sums))
        whole = -(-max(sums) // strip) * strip
        place = bisect_right(left, ((whole - sums[k]) // rows * rows, 2**62)) - 1
        if place < 0:  # none fits
            enough = sum(sums) >= _FULL * whole * count and min(sums) >= min(most, _LEAST_LETTERS)
            if whole and (enough or min(sums) >= most):
                break
            place = len(left) - 1
        streams[k].append(left.pop(place))
        sums[k] += -(-streams[k][-1][0] // rows) * rows
    return [stream for stream in streams if stream]


def stacks(
    geometries: Geometries, rows: Rows, long: bool = False
) -> Iterator[tuple[list[int], Geometry]]:
    """Yield the numbers of groups that one dispatch can take, and how it computes them.

    Those of a dispatch are of as many strips, unless queries are joined; empty ones are left out.
    """
    found: dict[tuple[Geometry, int], list[int]] = {}
    bounds = bounds_of(rows)
    starts, counts = bounds[:-1], np.diff(bounds)
    sides = np.maximum.reduceat(rows["side"], starts) + 1 if len(rows) else starts
    streams = 2 * rows["group"] + rows["side"]
    letters = np.bincount(streams, rows["length"], 2 * len(starts)).reshape(-1, 2).max(axis=1)
    shapes = letters.astype(np.intp) << 2 | (sides - 1) << 1 | (counts > sides)
    alike, first, shape_of = np.unique(shapes, return_index=True, return_inverse=True)
    members = np.split(np.argsort(shape_of, kind="stable"), np.cumsum(np.bincount(shape_of))[:-1])
    for k in np.argsort(first).tolist():
        m, queries, joins = int(alike[k] >> 2), int(alike[k] >> 1 & 1) + 1, bool(alike[k] & 1)
        if not m:
            continue
        geometry, numbers = geometries.of(m, queries, long, joins=joins), members[k].tolist()
        if geometry.at_once:
            found.setdefault((geometry, 0 if joins else geometry.strips(m)), []).extend(numbers)
        else:
            yield from (([number], geometry) for number in numbers)
    for (geometry, _), numbers in found.items():
        yield sorted(numbers), geometry


def stacked(geometries: Geometries, rows: Rows) -> int:
    """Return a power of two: about how many groups one dispatch takes, if it takes all."""
    groups = len(bounds_of(rows)) - 1
    alone = 2 * sum(1 for _ in stacks(geometries, rows)) > groups
    return 1 if alone else 2 ** (groups.bit_length() - 1)


def lane_infos(placed: Placed) -> UInt32:
    """Return what the profiles of strips tell each lane where queries are joined.

    See query_profile.glsl.

    Returns
    -------
    ndarray of uint32, shape (groups, strips, words)
        Of each lane: a mask, without half of a word where a query of a stream begins; the rows of
        scores of its queries; whether its next strip has others. Of a group with fewer strips the
        last ones are not used. From end to end then again of each lane: where its rows begin in
        its two queries, and their letters.
    """
    rows, geometry, strips, lanes = placed.rows, placed.geometry, placed.strips, placed.lanes
    chain, group, side, own = geometry.chain, rows["group"], rows["side"], np.arange(len(rows))
    found = np.zeros((len(strips), strips.max() * chain, LANE_INFO), np.uint32)
    last = np.append(placed.begins[1:], True)
    found[group[last], :, 1 + side[last]] = own[last, None]  # also behind the last query
    found[..., 0] = 2**32 - 1
    flat, begins = found.reshape(-1, LANE_INFO), group * found.shape[1] + placed.first
    each = np.repeat(own, lanes)
    flat[ranges(begins, lanes), 1 + side[each]] = each
    for number in range(2):
        flat[begins[side == number], 0] &= 0xFFFF0000 >> 16 * number
    alone = np.maximum.reduceat(side, placed.bounds[:-1]) == 0
    found[alone, :, 0] *= found[alone, :, 0] == 2**32 - 1
    found[alone, :, 2] = found[alone, :, 1]
    found[:, :-chain, 3] = (found[:, :-chain, 1:3] != found[:, chain:, 1:3]).any(axis=2)
    found[np.arange(found.shape[1]) >= (strips[:, None] - 1) * chain, 3] = 1
    infos = [found]
    if geometry.end_to_end:
        query = found[..., 1:3].astype(np.intp)
        lane = np.arange(found.shape[1])[:, None] - placed.first[query]
        letters = rows["length"][query]
        begins = letters - (placed.lanes[query] - lane) * geometry.rows
        infos.append(np.concatenate([begins, letters], axis=2).astype(np.int32).view(np.uint32))
    shape = len(strips), -1, chain * LANE_INFO
    return np.concatenate([each.reshape(shape) for each in infos], axis=2)


PADDING = -(2**30)
"""Score of rows of no letter, and of no letter, with any letter."""


def profile_heads(placed: Placed, first: npt.ArrayLike) -> UInt32:
    """Return what stands before the scores of each strip, shape (strips, words)."""
    strips, bounds, geometry = placed.strips, placed.bounds, placed.geometry
    heads = np.zeros((len(strips), strips.max(), geometry.head), np.uint32)
    heads[..., 0], heads[..., 1] = np.diff(bounds)[:, None], strips[:, None]
    heads[..., 2], heads[..., 3] = np.reshape(first, (-1, 1)), bounds[:-1, None]
    if geometry.joined:
        heads[..., HEAD:] = lane_infos(placed)
    return heads.reshape(-1, geometry.head)


def _codes(queries: Sequences, placed: Placed) -> UInt32:
    """Return the code + 1 of each row, 0 of those of no letter, shape (groups, streams, rows)."""
    rows, geometry, strips = placed.rows, placed.geometry, placed.strips
    size = int(strips.max()) * geometry.strip
    found = np.zeros((len(strips), geometry.queries, size), np.uint32)
    begins = placed.first * geometry.rows
    if geometry.end_to_end:  # the last letter is in the last row of its lane
        begins += placed.lanes * geometry.rows - rows["length"]
    begins += (rows["group"].astype(np.intp) * geometry.queries + rows["side"]) * size
    letters = queries.residues[ranges(queries.offsets[rows["query"]], rows["length"])]
    found.ravel()[ranges(begins, rows["length"])] = letters.astype(np.uint32) + np.uint32(1)
    return found


def score_bits(scores: Int32, scoring: Scoring, number: int) -> UInt32:
    """Return the bits of scores as lanes have them, shape (letters of targets, letters of queries).

    Each side has a letter more, the first one: none. What is clipped makes no difference. From end
    to end scores are higher by what a further position of a gap costs, in the query and in the
    target. A letter of a query with none is one behind the end of the target, and scores of none
    with a letter are how row -1 changes, see end_to_end.glsl. With gap costs by position none are
    higher, and where gaps in row -1 are not free, their costs are how it changes.
    """
    rows, letters = scores.shape
    matrix = np.full((letters + 1, rows + 1), PADDING, np.int64)
    matrix[1:, 1:] = scores.T
    if ends := scoring.end_gaps:
        more = 0 if scoring.gaps else scoring.gap_extend
        matrix[1:, 1:] += 2 * more
        matrix[0, 1:] = more - ends.right_insertion.extend
        left = ends.left_deletion
        matrix[:, 0] = more - (left.open if scoring.gaps else left.extend)
        matrix[0, 0] = 0
    if number == INT32:
        return matrix.astype(np.int32).view(np.uint32)
    lowest = LIMIT if scoring.local else 2 * LIMIT
    floats = (np.clip(matrix, -lowest, LIMIT) / LIMIT).astype(np.float16)
    return floats.view(np.uint16).astype(np.uint32)


def _in_order_of_words(rows: UInt32, geometry: Geometry) -> UInt32:
    """Return the codes of each strip by part, lane of the chain, row of the part, and query.

    From the shape (groups, queries, rows) they get the shape (strips, codes).
    """
    groups, queries, _ = rows.shape
    chain, parts, part_rows = geometry.chain, geometry.parts, geometry.part_rows
    lanes = rows.reshape(groups, queries, -1, chain, geometry.rows)
    if rest := -geometry.rows % part_rows:
        lanes = np.pad(lanes, ((0, 0),) * 4 + ((0, rest),))
    ordered = lanes.reshape(groups, queries, -1, chain, parts, part_rows)
    return ordered.transpose(0, 2, 4, 3, 5, 1).reshape(-1, chain * parts * part_rows * queries)


ALIGNMENT = 64
"""Words of 4 bytes, of which the start of a part of a buffer that is bound alone is a multiple."""
_WORKGROUP = 64


def query_profiles(
    engine: Lanes, queries: Sequences, placed: Placed, first: npt.ArrayLike
) -> list[Section]:
    """Have the device make the profiles that query_profile.glsl reads: of strips, group by group.

    The groups are of as many strips, unless streams have several queries; ``first`` has the first
    work group of targets that meets each group. Returned is the profile of all strips, or of each
    where these are not read together.
    """
    geometry, scoring = placed.geometry, engine.scoring
    codes, heads = _codes(queries, placed), profile_heads(placed, first)
    numbers, table = _scores_of_rows(codes, geometry, scoring)
    around = [heads]
    if scoring.gaps:
        around.append(_gap_costs(queries, placed, codes, heads, scoring))
    size = geometry.size(profile_letters(scoring))
    if not geometry.at_once:
        around.append(np.zeros((len(heads), -size // 4 % ALIGNMENT), np.uint32))
    contents = numbers, table, np.concatenate(around, axis=1)
    inputs = [engine.pool.filled(each) for each in contents]
    words = geometry.rows if geometry.profile_memory == COMPARE else 4 * geometry.stride
    step = 4 * (contents[2].shape[1] + len(table) * words)
    made = engine.pool.take(len(heads) * step)
    for binding, buffer in zip((QUERY_PROFILE, *OF_PROFILES), (made, *inputs), strict=True):
        buffer.bind_to_storage_buffer(binding.number)
    program = engine.program("lanes_profile.comp", **profile_macros(geometry))
    program["letters"], program["codes"] = table.shape
    program["words"], program["rows"] = words, numbers.shape[1]
    program["head"], program["given"] = geometry.head, contents[2].shape[1]
    for start in range(0, len(heads), engine.limits.groups):
        program["first_strip"] = start
        program.run(min(engine.limits.groups, len(heads) - start))
    engine.device.check("making query profiles")
    engine.pool.give_when_read(inputs)
    if geometry.at_once:
        return [Section(made, 0, len(heads) * step)]
    return [Section(made, start, size) for start in range(0, len(heads) * step, step)]


def _scores_of_rows(codes: UInt32, geometry: Geometry, scoring: Scoring) -> tuple[UInt32, UInt32]:
    """Return the column of a table for each row, in the order of words, and the table.

    The shapes are (strips, rows of all streams of a group) and (letters, columns): the bits of the
    scores of each letter, and before them of none. Where letters are compared with those of a
    query, the table has what they are compared with instead.
    """
    if geometry.profile_memory == COMPARE:
        assert scoring.match_and_mismatch
        own = np.arange(len(scoring.matrix) + 1, dtype=np.int32)
        own[own > scoring.match_and_mismatch[2]] = own[0] = -1
        return _in_order_of_words(codes, geometry), own[None].view(np.uint32)
    scores = scoring.by_track if isinstance(scoring, TwoTrackScoring) else scoring.matrix
    if scoring.wide_queries:  # most rows are of other queries
        present = np.bincount(codes.ravel(), minlength=len(scores) + 1)[1:] > 0
        codes = np.append(0, np.cumsum(present)).astype(np.uint32)[codes]
        scores = scores[present]
    return _in_order_of_words(codes, geometry), score_bits(scores, scoring, geometry.number)


def _gap_costs(
    queries: Sequences, placed: Placed, codes: UInt32, heads: UInt32, scoring: Scoring
) -> UInt32:
    """Return the gap costs of rows as recurrence_column.glsl reads them, shape (strips, words).

    A word of 16 bytes has what it costs in a row to open and to extend a gap, then in the next row.
    From end to end H left of the rows comes before them; what gaps score above the rows is put
    into ``heads``, see end_to_end.glsl.
    """
    geometry, gaps = placed.geometry, scoring.gaps
    words = list[npt.NDArray[np.integer]]()
    shape = len(heads), geometry.chain, geometry.parts
    assert gaps
    if geometry.end_to_end:
        head, second = geometry.head, HEAD + LANE_INFO * geometry.chain
        query = placed.rows[heads[:, HEAD + 1 : second : LANE_INFO]]
        first, letters = queries.offsets[query["query"]], query["length"][..., None]
        ends = scoring.ends_of(queries.residues, first[..., None], letters)
        assert ends
        begin = heads[:, second:head:LANE_INFO, None].view(np.int32)
        left = ends.left(np.clip(begin + np.arange(geometry.rows + 1), 0, letters))
        above, longer = np.moveaxis(ends.above([1, 2]), -1, 0)
        heads[:, HEAD + 2 : second : LANE_INFO] = left[..., 0].astype(np.uint32)
        heads[:, second + 1 : head : LANE_INFO] = (-above).astype(np.uint32)
        heads[:, second + 3 : head : LANE_INFO] = (above - longer).astype(np.uint32)
        words.append(left[..., 1:].reshape(*shape, 1, COST_LETTERS))
        # Rows of no letter have the costs of the first one.
        own = codes.reshape(*shape[:2], -1)
        own = np.where(own, own, queries.residues[first][..., None] + np.uint32(1))
        codes = own.reshape(codes.shape)
    below = np.pad(codes[..., 1:], ((0, 0), (0, 0), (0, 1)))
    columns = zip(gaps.most, (gaps.opens, gaps.extends), strict=True)
    tables = [np.insert(each, 0, largest) for largest, each in columns]
    costs = np.stack([each[some] for some in (codes, below) for each in tables], axis=-1)
    words.append(costs.reshape(*shape, COST_LETTERS, -1))
    ordered = np.concatenate(words, axis=3).transpose(0, 3, 2, 1, 4).astype(np.int32)
    of_letters = ordered.reshape(len(heads), ordered.shape[1], -1)
    spare = 4 * geometry.stride - of_letters.shape[2]
    return np.pad(of_letters, ((0, 0), (0, 0), (0, spare))).reshape(len(heads), -1).view(np.uint32)


def profile_macros(geometry: Geometry) -> dict[str, int | None]:
    """Return the macros of lanes_profile.comp."""
    whole = geometry.number == INT32 or geometry.profile_memory == COMPARE
    return {"BITS": 32 if whole else 16, "WORKGROUP": _WORKGROUP}
