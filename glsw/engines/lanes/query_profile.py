"""The query profile of engine ``lanes``: the scores of the rows of a query with each letter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from glsw.engines.lanes.geometry import (
    COMPARE,
    COST_LETTERS,
    HEAD,
    INT32,
    LIMIT,
    Geometry,
    profile_letters,
)
from glsw.engines.lanes.streams import Streams, lane_infos, lengths_of
from glsw.scoring.gaps import PositionalGaps
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.encoded import offsets_of

IntT = TypeVar("IntT", bound=np.integer)

PADDING = -(2**30)
"""Score of rows of no letter, and of no letter, with any letter."""


def query_profile(
    groups: Sequence[Streams[npt.NDArray[np.uint8]]],
    scoring: Scoring,
    geometry: Geometry,
    first: npt.ArrayLike = 0,
) -> npt.NDArray[np.uint32]:
    """Return the profiles as query_profile.glsl reads them, shape (strips, words of 4 bytes).

    Parameters
    ----------
    groups : sequence of streams of ndarray of uint8, shape (m,)
        Of ``geometry.queries`` streams each; unless they have several queries, of as many strips.
    scoring : Scoring
    geometry : Geometry
    first : ndarray of int, shape (groups,), or int
        The first work group of targets that meets each group.
    """
    letters, heads = profile_letters(scoring), profile_heads(groups, geometry, first)
    words = np.zeros((len(heads), geometry.size(letters) // 4), np.uint32)
    words[:, : geometry.head] = heads
    rows = _rows(groups, geometry, np.int64)
    if geometry.profile_memory == COMPARE:
        codes = rows[:, 0]
        ambiguous = scoring.match_and_mismatch[2] if scoring.match_and_mismatch else letters
        alike = np.where((codes > 0) & (codes <= ambiguous), codes, -1).astype(np.int32)
        words[:, geometry.head :] = alike.reshape(len(words), -1).view(np.uint32)
        return words
    stored = stored_scores(scoring, geometry)
    table = words[:, geometry.head :].reshape(len(words), letters + 1, -1).view(stored.dtype)
    order = _in_order_of_words(rows, geometry)
    for letter, scores in enumerate(stored.T):
        table[:, letter, : order.shape[1]] = scores.take(order)
    if gaps := scoring.gaps:
        costs = _costs(rows, gaps, geometry)
        table[:, -COST_LETTERS:, : costs.shape[2]] = costs
    return words


def _costs(
    rows: npt.NDArray[np.int64], gaps: PositionalGaps, geometry: Geometry
) -> npt.NDArray[np.int32]:
    """Return the gap costs of rows as row_costs.glsl reads them, shape (strips, 4, words).

    A word of 16 bytes has what it costs in a row to open and to extend a gap, then in the next row.
    """
    below = np.pad(rows[..., 1:], ((0, 0), (0, 0), (0, 1)))
    columns = zip(gaps.most, (gaps.opens, gaps.extends), strict=True)
    tables = [np.insert(each, 0, largest) for largest, each in columns]
    costs = np.stack([each[some] for some in (rows, below) for each in tables], axis=-1)
    shape = -1, geometry.chain, geometry.parts, COST_LETTERS, len(tables) * 2
    ordered = costs.reshape(shape).transpose(0, 3, 2, 1, 4)
    return ordered.reshape(len(ordered), COST_LETTERS, -1)


def profile_heads(
    groups: Sequence[Streams[npt.NDArray[np.uint8]]], geometry: Geometry, first: npt.ArrayLike
) -> npt.NDArray[np.uint32]:
    """Return what stands before the scores of each strip, shape (strips, words)."""
    lengths = lengths_of(groups)
    strips = [geometry.strips_of(group) for group in lengths]
    heads = np.zeros((len(groups), max(strips), geometry.head), np.uint32)
    heads[..., 0], heads[..., 1] = np.arange(max(strips)), np.reshape(strips, (-1, 1))
    heads[..., 2] = np.reshape(first, (-1, 1))
    if geometry.stream:
        counts = [sum(map(len, group)) for group in groups]
        heads[..., 0] = np.reshape(counts, (-1, 1))
        heads[..., 3] = offsets_of(counts)[:-1, None]
        heads[..., HEAD:] = lane_infos(lengths, geometry).reshape(*heads.shape[:2], -1)
    return heads.reshape(-1, geometry.head)


def _rows(
    groups: Sequence[Streams[npt.NDArray[np.uint8]]], geometry: Geometry, dtype: type[IntT]
) -> npt.NDArray[IntT]:
    """Return the code + 1 of each row, 0 of those of no letter, shape (groups, streams, rows)."""
    count = max(geometry.strips_of(group) for group in lengths_of(groups)) * geometry.strip
    found = np.zeros((len(groups), geometry.queries, count), dtype)
    for rows, group in zip(found, groups, strict=True):
        for own, stream in zip(rows, group, strict=True):
            begin = 0
            for query in stream:
                np.add(query, 1, out=own[begin : begin + len(query)], dtype=dtype)
                begin += -(-len(query) // geometry.rows) * geometry.rows
    return found


def row_letters(
    groups: Sequence[Streams[npt.NDArray[np.uint8]]], geometry: Geometry
) -> npt.NDArray[np.uint8]:
    """Return the letters + 1 of the rows of each strip, 0 for none, in the order of their scores.

    The shape is (strips, rows of all streams of a group).
    """
    return _in_order_of_words(_rows(groups, geometry, np.uint8), geometry)


def stored_scores(scoring: Scoring, geometry: Geometry) -> npt.NDArray[np.generic]:
    """Return the score of each letter + 1 of a query with each of a target, and of none.

    The letters of a profile are its positions.
    """
    scores = scoring.by_track if isinstance(scoring, TwoTrackScoring) else scoring.matrix
    rows, letters = scores.shape
    matrix = np.full((rows + 1, letters + 1), PADDING, np.int64)
    matrix[1:, 1:] = scores
    if geometry.number == INT32:
        return matrix.astype(np.int32)
    # what is clipped makes no difference below LIMIT
    return (np.clip(matrix, -LIMIT, LIMIT) / LIMIT).astype(np.float16)


def _in_order_of_words(rows: npt.NDArray[IntT], geometry: Geometry) -> npt.NDArray[IntT]:
    """Return the letters + 1 of each strip by part, lane of the chain, row of the part, and query.

    From rows of shape (groups, queries, rows) they get the shape (strips, letters).
    """
    groups, queries, _ = rows.shape
    chain = geometry.chain, geometry.parts, geometry.rows // geometry.parts
    ordered = rows.reshape(groups, queries, -1, *chain).transpose(0, 2, 4, 3, 5, 1)
    return ordered.reshape(-1, geometry.strip * queries)
