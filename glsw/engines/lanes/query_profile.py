"""The query profile of engine ``lanes``: the scores of the rows of a query with each letter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from glsw.engines.lanes.geometry import COMPARE, F16, HEAD, INT32, LIMIT, Geometry
from glsw.scoring.scoring import Scoring

_PADDING = -(2**30)  # score of padding with any letter


def query_profile(
    queries: Sequence[npt.NDArray[np.uint8]], scoring: Scoring, geometry: Geometry
) -> npt.NDArray[np.uint32]:
    """Return the profile as query_profile.glsl reads it, shape (strips, words of 4 bytes).

    Parameters
    ----------
    queries : sequence of ndarray of uint8, shape (m,)
        As many as ``geometry.queries``.
    scoring : Scoring
    geometry : Geometry
    """
    letters, strips = len(scoring.alphabet), geometry.strips(max(map(len, queries)))
    words = np.zeros((strips, geometry.size(letters) // 4), np.uint32)
    words[:, 0] = np.arange(strips)
    words[:, 1] = strips
    words[:, 2] = strips if geometry.at_once else 1
    if geometry.profile_memory == COMPARE:
        codes = _rows(queries[0], strips * geometry.strip)
        ambiguous = scoring.match_and_mismatch[2] if scoring.match_and_mismatch else letters
        alike = np.where((codes > 0) & (codes <= ambiguous), codes, -1).astype(np.int32)
        words[:, HEAD:] = alike.reshape(strips, -1).view(np.uint32)
        return words
    tables = [_table(query, scoring, geometry, strips) for query in queries]
    if geometry.queries == 2:
        tables = [np.stack(tables, axis=-1)]
    lanes = np.ascontiguousarray(tables[0]).view(np.uint32).reshape(strips, letters + 1, -1)
    table = np.zeros((strips, letters + 1, 4 * geometry.stride), np.uint32)
    table[..., : lanes.shape[-1]] = lanes
    words[:, HEAD:] = table.reshape(strips, -1)
    return words


def _rows(query: npt.NDArray[np.uint8], count: int) -> npt.NDArray[np.int64]:
    """Return the code + 1 of each row, 0 below the last one."""
    codes = np.zeros(count, np.int64)
    codes[: len(query)] = query + np.int64(1)
    return codes


def _table(
    query: npt.NDArray[np.uint8], scoring: Scoring, geometry: Geometry, strips: int
) -> npt.NDArray[np.generic]:
    """Return the scores by strip, letter, part, lane of the chain, and row of the part."""
    letters = len(scoring.alphabet)
    matrix = np.full((letters + 1, letters + 1), _PADDING, np.int64)
    matrix[1:, 1:] = scoring.matrix
    if geometry.number == INT32:
        stored: npt.NDArray[np.generic] = matrix.astype(np.int32)
    else:  # what is clipped makes no difference below LIMIT
        kind = np.float16 if geometry.number == F16 or geometry.queries == 2 else np.float32
        stored = (np.clip(matrix, -LIMIT, LIMIT) / LIMIT).astype(kind)
    scores = stored[_rows(query, strips * geometry.strip)]
    return scores.reshape(strips, geometry.chain, geometry.parts, -1, letters + 1).transpose(
        0, 4, 2, 1, 3
    )
