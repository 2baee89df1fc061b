"""How engine ``lanes`` lays out a query: what a chain of lanes computes at once."""

from __future__ import annotations

from dataclasses import dataclass

from glsw.engines.lanes.streams import LANE_INFO, Streams
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring

INT32, F16, F32 = range(3)
"""Number types, as number.glsl has them."""
COMPARE, BLOCK, SHARED, STORAGE, OF_PAIRS = range(5)
"""Kinds of memory of the query profile, as query_profile.glsl has them."""
LIMIT = 2048
"""Scores from which floats may be wrong: they are stored as multiples of 1 / LIMIT."""
HEAD = 4
"""Words of 4 bytes that tell of a strip in the query profile."""
COST_LETTERS = 4
"""Letters of a profile in whose place the gap costs of rows are, see row_costs.glsl."""


@dataclass(frozen=True)
class Geometry:
    """What a chain of lanes computes at once.

    Parameters
    ----------
    number : int
        Type of the scores: `INT32`, `F16` or `F32`.
    rows : int
        Rows of the query in a lane, a multiple of 8, or of 4 with two queries.
    chain : int
        Lanes of a chain, one below the other: a power of two.
    workgroup : int
        Lanes of a work group.
    profile_memory : int
        Where the profile lies: `COMPARE`, `BLOCK`, `SHARED` or `STORAGE`; `OF_PAIRS` if there is
        none, because each target has its own query.
    queries : int
        Queries at once; two of them share a pair of floats.
    at_once : bool
        All strips in one dispatch, not each in its own.
    subgroups : bool
        Chains hand on their last row by subgroup operations.
    step : int
        Columns that a lane computes between two meetings with its neighbours.
    letters : int
        Of pairs that each have their own query: how many different ones occur.
    stream : bool
        Lanes have the rows of several queries one behind another, see `glsw.engines.lanes.streams`.
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
    letters: int = 0
    stream: bool = False

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
        return 8

    @property
    def handed(self) -> int:
        """Bytes of shared memory for what lanes hand on; shuffles may turn out to be unusable."""
        return 2 * self.step * self.border * self.workgroup if self.chain > 1 else 0

    @property
    def halves(self) -> bool:
        """Whether a word of 4 bytes has the scores of two rows."""
        return self.number != INT32 and self.queries == 1

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

    @property
    def head(self) -> int:
        """Words of 4 bytes before the scores of a strip in the query profile."""
        return HEAD + LANE_INFO * self.chain * self.stream

    def size(self, letters: int) -> int:
        """Return the bytes of the profile of a strip for an alphabet of so many letters."""
        if self.profile_memory == COMPARE:
            return 4 * self.head + 4 * self.rows
        return 4 * self.head + 16 * (letters + 1) * self.stride

    @property
    def scores_of_letter(self) -> int:
        """Words with the scores of a letter of the target, of pairs that each have their own query.

        With floats a letter has a score with each two letters of the query.
        """
        side = self.letters + 1
        return side if self.number == INT32 else side**2

    def strips(self, m: int) -> int:
        """Return the strips of a query of m letters."""
        return -(-m // self.strip)

    def strips_of(self, group: Streams[int]) -> int:
        """Return the strips of a group of queries of these lengths."""
        rows = (sum(-(-m // self.rows) for m in stream) * self.rows for stream in group)
        return self.strips(max(rows))

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
            "STREAM": 1 if self.stream else None,
        } | self._of_pairs

    @property
    def _of_pairs(self) -> dict[str, int | None]:
        if self.profile_memory != OF_PAIRS:
            return {}
        return {"OWN_QUERIES": 1, "LETTERS": self.letters}


def profile_letters(scoring: Scoring) -> int:
    """Return the letters of a query profile: of two tracks those of the one and of the other.

    Gap costs by position take the place of `COST_LETTERS` letters more.
    """
    if isinstance(scoring, TwoTrackScoring):
        return len(scoring.first.matrix) + len(scoring.weighted)
    return len(scoring.alphabet) + (COST_LETTERS if scoring.gaps else 0)
