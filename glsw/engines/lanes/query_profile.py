"""How engine ``lanes`` deals out the rows of a query, and the query profile that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glsw.scoring.scoring import Scoring

INT32, F16, F32 = range(3)
"""Number types, as number.glsl has them."""
COMPARE, BLOCK, SHARED, STORAGE = range(4)
"""Places of the profile, as query_profile.glsl has them."""
LIMIT = 2048
"""Scores from which floats may be wrong: they are stored as multiples of 1 / LIMIT."""
_PADDING = -(2**30)  # score with what is no letter
_HEAD = 4  # words of 4 bytes before the scores of a strip


@dataclass(frozen=True)
class Geometry:
    """What a chain of lanes computes at once.

    Parameters
    ----------
    number : int
        Type of the scores: `INT32`, `F16` or `F32`.
    rows : int
        Rows of the query in a lane, a multiple of 8.
    chain : int
        Lanes of a chain, one below the other: a power of two.
    workgroup : int
        Lanes of a work group.
    profile_memory : int
        Where the profile lies: `COMPARE`, `BLOCK`, `SHARED` or `STORAGE`.
    queries : int
        Queries at once; two of them share a pair of floats.
    at_once : bool
        All strips in one dispatch, not each in its own.
    subgroups : bool
        Chains hand on their last row by subgroup operations.
    step : int
        Columns that a lane computes between two meetings with its neighbours.
    """

    number: int
    rows: int
    chain: int
    workgroup: int
    profile_memory: int
    queries: int = 1
    at_once: bool = False
    subgroups: bool = False
    step: int = 2

    @property
    def strip(self) -> int:
        """Rows of a chain."""
        return self.rows * self.chain

    @property
    def results(self) -> int:
        """Scores of a lane: targets times queries."""
        return 1 if self.number == INT32 else 2

    @property
    def targets(self) -> int:
        """Targets of a lane."""
        return self.results // self.queries

    @property
    def chains(self) -> int:
        """Chains of a work group."""
        return self.workgroup // self.chain

    @property
    def group(self) -> int:
        """Targets of a work group."""
        return self.chains * self.targets

    @property
    def border(self) -> int:
        """Bytes of H and F of a column below a strip."""
        return 16 if self.number == F32 else 8

    @property
    def halves(self) -> bool:
        """Whether a word of 4 bytes has the scores of two rows."""
        return self.number == F16 and self.queries == 1

    @property
    def parts(self) -> int:
        """Words of 16 bytes in which a lane has its scores with a letter."""
        return self.rows // (8 if self.halves else 4)

    @property
    def stride(self) -> int:
        """Words of 16 bytes from letter to letter.

        Shared memory serves 8 lanes at once, which have different letters: no two of them should
        meet in one of its 8 banks of 16 bytes.
        """
        words = self.parts * self.chain
        apart = self.profile_memory != SHARED or self.chain >= 8 or words % (2 * self.chain)
        return words if apart else words + self.chain

    def size(self, letters: int) -> int:
        """Return the bytes of the profile of a strip for an alphabet of so many letters."""
        if self.profile_memory == COMPARE:
            return 4 * _HEAD + 4 * self.rows
        return 4 * _HEAD + 16 * (letters + 1) * self.stride

    def strips(self, m: int) -> int:
        """Return the strips of a query of m letters."""
        return -(-m // self.strip)

    @property
    def defines(self) -> dict[str, int | None]:
        """Return the macros of lanes.comp."""
        return {
            "NUMBER": self.number,
            "ROWS": self.rows,
            "CHAIN": self.chain,
            "STRIDE": self.stride,
            "WORKGROUP": self.workgroup,
            "STEP": self.step,
            "QUERY_PROFILE": self.profile_memory,
            "TWO_QUERIES": 1 if self.queries == 2 else None,
            "SUBGROUPS": 1 if self.subgroups and self.chain > 1 else None,
        }


def query_profile(
    queries: Sequence[npt.NDArray[np.uint8]], scoring: Scoring, geometry: Geometry
) -> npt.NDArray[np.uint32]:
    """Return what query_profile.glsl reads, shape (strips, words of 4 bytes).

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
        words[:, _HEAD:] = alike.reshape(strips, -1).view(np.uint32)
        return words
    tables = [_table(query, scoring, geometry, strips) for query in queries]
    if geometry.queries == 2:
        tables = [np.stack(tables, axis=-1)]
    lanes = np.ascontiguousarray(tables[0]).view(np.uint32).reshape(strips, letters + 1, -1)
    table = np.zeros((strips, letters + 1, 4 * geometry.stride), np.uint32)
    table[..., : lanes.shape[-1]] = lanes
    words[:, _HEAD:] = table.reshape(strips, -1)
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
