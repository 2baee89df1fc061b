"""Streams of engine ``lanes``: queries one behind another, so that few rows of lanes are empty.

A group of queries is what lanes compute together: one stream of rows, or two side by side, whose
rows share lanes. A stream has one query, or several, of which each begins in a lane of its own. So
only the last strip of a group has empty rows, and its streams are about equally long, whatever the
lengths of its queries.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence, Sized
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from glsw.sequences.encoded import offsets_of

if TYPE_CHECKING:
    from glsw.engines.lanes.geometry import Geometry

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Indexed(Protocol[T_co]):
    """Has something for each query, by its number."""

    def __getitem__(self, query: int, /) -> T_co:
        """Return it."""


Streams: TypeAlias = Sequence[Sequence[T]]
"""The queries of a group, or something that each of them has: of one stream, or of two."""

Group: TypeAlias = list[list[int]]
"""The numbers of the queries of a group."""
Query: TypeAlias = tuple[int, int]
"""The length and the number of a query."""
LANE_INFO = 4
"""Words of 4 bytes that a lane of a strip has in the profile, see `lane_infos`."""
_FULL = 0.97  # of the rows of a group, from which on it takes no more queries
_MOST_LETTERS = 2**12  # of a stream, from which on it takes none anyway
_LEAST_LETTERS = 2**10  # less would need many rows between strips, and many small groups


def every(group: Streams[T]) -> list[T]:
    """Return what the queries of a group have, the first stream first.

    >>> every([[3, 1], [2]])
    [3, 1, 2]
    """
    return [each for stream in group for each in stream]


def nested(some: Indexed[T], groups: Iterable[Streams[int]]) -> list[list[list[T]]]:
    """Return what the queries of groups have, by their numbers.

    >>> nested("abcd", [[[3, 1], [2]], [[0]]])
    [[['d', 'b'], ['c']], [['a']]]
    """
    return [[[some[q] for q in stream] for stream in group] for group in groups]


def joins(group: Streams[T]) -> bool:
    """Tell whether a stream of a group has several queries."""
    return any(len(stream) > 1 for stream in group)


def lengths_of(groups: Iterable[Streams[Sized]]) -> list[list[list[int]]]:
    """Return the lengths of the queries of groups."""
    return [[list(map(len, stream)) for stream in group] for group in groups]


def taken(
    left: list[Query], count: int, rows: int, strip: int, most: int = _MOST_LETTERS
) -> list[list[Query]]:
    """Take queries for a group, the longest first, and then those that fit into its last strip.

    Parameters
    ----------
    left : list of (int, int)
        Lengths and numbers of queries, ascending; those that are taken are removed.
    count : int
        Streams.
    rows, strip : int
        Of a lane, and of a strip.
    most : int
        Letters from which on a stream takes no more queries, if these are fewer than usual.

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
            full = sum(sums) >= _FULL * whole * count and min(sums) >= min(most, _LEAST_LETTERS)
            if whole and (full or min(sums) >= most):
                break
            place = len(left) - 1
        streams[k].append(left.pop(place))
        sums[k] += -(-streams[k][-1][0] // rows) * rows
    return [stream for stream in streams if stream]


def lane_infos(lengths: Sequence[Streams[int]], geometry: Geometry) -> npt.NDArray[np.uint32]:
    """Return what the profiles of strips tell each lane, see stream.glsl.

    Parameters
    ----------
    lengths : sequence of streams of int
        Of the queries of each group.
    geometry : Geometry

    Returns
    -------
    ndarray of uint32, shape (groups, strips, chain, LANE_INFO)
        Of each lane: a mask, without half of a word where a query of a stream begins; the rows of
        scores of its queries; whether its next strip has others. Of a group with fewer strips the
        last ones are not used.
    """
    chain, rows = geometry.chain, geometry.rows
    strips = np.array([geometry.strips_of(group) for group in lengths])
    streams = [(g, k, stream) for g, group in enumerate(lengths) for k, stream in enumerate(group)]
    groups, sides = np.array([each[:2] for each in streams]).T
    queries = offsets_of([len(stream) for *_, stream in streams])  # before each stream
    lanes = np.array([-(-m // rows) for *_, stream in streams for m in stream])
    before = offsets_of(lanes)
    owner = np.repeat(np.arange(len(streams)), np.diff(queries))  # the stream of each query
    begins = before[:-1] - before[queries[owner]] + groups[owner] * strips.max() * chain

    found = np.zeros((len(lengths), strips.max() * chain, LANE_INFO), np.uint32)
    found[groups, :, 1 + sides] = queries[1:, None] - 1  # also behind the last query
    found[..., 0] = 2**32 - 1
    flat = found.reshape(-1, LANE_INFO)
    each = np.repeat(np.arange(len(lanes)), lanes)
    flat[begins[each] + np.arange(len(each)) - before[each], 1 + sides[owner[each]]] = each
    for side in range(2):
        flat[begins[sides[owner] == side], 0] &= 0xFFFF0000 >> 16 * side
    alone = np.bincount(groups) == 1
    found[alone, :, 0] *= found[alone, :, 0] == 2**32 - 1
    found[alone, :, 2] = found[alone, :, 1]
    found[:, :-chain, 3] = (found[:, :-chain, 1:3] != found[:, chain:, 1:3]).any(axis=2)
    found[np.arange(found.shape[1]) >= (strips[:, None] - 1) * chain, 3] = 1
    return found.reshape(len(lengths), -1, chain, LANE_INFO)
