"""Distances of pairs by their scores: which scores a pair needs, and the value that it has."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.engines.base import Engine
from glsw.engines.tiles import ALWAYS, NEVER
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.statistics import Statistics, for_search
from glsw.statistics.least_scores import least_score

Distance = Literal["score", "self", "identity", "evalue"]
DISTANCES: tuple[Distance, ...] = ("score", "self", "identity", "evalue")

_Int32 = npt.NDArray[np.int32]
_Int64 = npt.NDArray[np.int64]
Values = npt.NDArray[Any]


class Found(NamedTuple):
    """Pairs that score enough: their numbers, their scores in integer units, their identities.

    Without identities, those are an empty array.
    """

    query: _Int32
    target: _Int32
    score: _Int32
    identity: npt.NDArray[np.float64]


class Rule(ABC):
    """Which pairs pass, and the value of each.

    Parameters
    ----------
    scoring : Scoring
    cutoff : float
        Of the value.
    least : int
        The least score of a pair, in integer units; `ALWAYS` for none.
    sizes : (int, int)
        Numbers of queries and targets.
    """

    aligns = False
    """Whether pairs have to be aligned."""
    ascending = False
    """Whether the best pairs have the least values."""

    def __init__(self, scoring: Scoring, cutoff: float, least: int, sizes: tuple[int, int]) -> None:
        self.scoring, self.cutoff, self.least, self._sizes = scoring, cutoff, least, sizes

    def bounds(self) -> tuple[_Int32, _Int32]:
        """Return the bounds of queries and targets, see `Tile`; no pair that passes is below."""
        return tuple(np.full(count, self.least, np.int32) for count in self._sizes)  # type: ignore[return-value]

    @abstractmethod
    def values(self, found: Found) -> Values:
        """Return the values of pairs, shape (N,)."""

    def passes(self, values: Values) -> npt.NDArray[np.bool_]:
        """Return which pairs pass of those that reach the bounds, given their values."""
        return np.ones(len(values), bool)


class ByScore(Rule):
    """Pairs of at least a score."""

    def values(self, found: Found) -> Values:
        """Return scores in units of the matrix."""
        return self.scoring.in_matrix_units(found.score)


class BySelf(Rule):
    """Pairs whose score is not much less than the lesser of those of each with itself."""

    ascending = True

    def __init__(self, *given: Any, own: tuple[_Int32, _Int32]) -> None:
        super().__init__(*given)
        self._own = own

    def bounds(self) -> tuple[_Int32, _Int32]:
        """Return the scores that are not too much less than those with itself."""
        room = -least_units(-self.cutoff, self.scoring)
        query, target = (np.maximum(own.astype(np.int64) - room, self.least) for own in self._own)
        return _int32(query), _int32(target)

    def values(self, found: Found) -> Values:
        """Return the differences in units of the matrix."""
        query, target = self._own
        own = np.minimum(query[found.query], target[found.target])
        return self.scoring.in_matrix_units(own - found.score)


class ByIdentity(Rule):
    """Pairs whose best alignments have at least this fraction of equal columns."""

    aligns = True

    def values(self, found: Found) -> Values:
        """Return the identities."""
        return found.identity

    def passes(self, values: Values) -> npt.NDArray[np.bool_]:
        """Return which identities are large enough."""
        return values >= self.cutoff


class ByEvalue(Rule):
    """Pairs of at most an E-value."""

    ascending = True

    def __init__(
        self,
        *given: Any,
        statistics: Statistics,
        lengths: tuple[_Int64, _Int64],
        symmetric: bool,
    ) -> None:
        super().__init__(*given)
        self._statistics, self._lengths, self._symmetric = statistics, lengths, symmetric

    def bounds(self) -> tuple[_Int32, _Int32]:
        """Return the least score that can have the E-value with any target."""
        queries, targets = self._lengths
        lengths, place = np.unique(queries, return_inverse=True)
        given = self._statistics, self.cutoff
        least = [
            least_score(*given, lengths[k : k + 1], targets, self.scoring)
            for k in range(len(lengths))
        ]
        bounds = _int32(np.maximum(np.array(least, np.int64), self.least)[place])
        return bounds, bounds if self._symmetric else np.full(len(targets), NEVER, np.int32)

    def values(self, found: Found) -> Values:
        """Return the E-values."""
        queries, targets = self._lengths
        lengths = queries[found.query], targets[found.target]
        evalues: Values = self._statistics.evalue(found.score, *lengths)
        return evalues

    def passes(self, values: Values) -> npt.NDArray[np.bool_]:
        """Return which E-values are small enough."""
        return values <= self.cutoff


RULES: dict[Distance, type[Rule]] = {
    "score": ByScore,
    "self": BySelf,
    "identity": ByIdentity,
    "evalue": ByEvalue,
}


def rule_of(
    engine: Engine,
    queries: Sequences,
    targets: Sequences | None,
    distance: Distance,
    cutoff: float,
    min_score: float | None,
) -> Rule:
    """Return the rule of a distance, see `Aligner.neighbors`.

    Raises
    ------
    ValueError
        For another distance or cutoff, and for E-values if there are no statistics.
    """
    scoring = engine.scoring
    if distance not in DISTANCES:
        raise ValueError(f"distance {distance!r}: {', '.join(map(repr, DISTANCES))} expected")
    for name, number in (("cutoff", cutoff), ("min_score", min_score)):
        if number is not None and not math.isfinite(number):
            raise ValueError(f"{name} {number}: a finite number expected")
    if (distance == "self" and cutoff < 0) or (distance == "evalue" and cutoff <= 0):
        least_one = "0 or more" if distance == "self" else "more than 0"
        raise ValueError(f"cutoff {cutoff}: {least_one} expected for distance {distance!r}")
    if distance == "identity" and not 0 <= cutoff <= 1:
        raise ValueError(f"cutoff {cutoff}: a fraction from 0 to 1 expected for identities")
    least = ALWAYS if min_score is None else least_units(min_score, scoring)
    if distance == "identity" and scoring.local:
        least = max(least, 1)
    others = queries if targets is None else targets
    given = scoring, float(cutoff), least, (len(queries), len(others))
    if distance == "score":
        return ByScore(scoring, cutoff, max(least, least_units(cutoff, scoring)), given[-1])
    if distance == "identity":
        return ByIdentity(*given)
    if distance == "self":
        own = own_scores(engine, queries)
        return BySelf(*given, own=(own, own if targets is None else own_scores(engine, targets)))
    if not scoring.local:
        raise ValueError("E-values exist for local alignments only")
    longest = int(queries.lengths.max(initial=1))
    size = longest, len(others), len(others.residues)
    try:  # a fit would need all scores before the first one is chosen
        statistics = for_search(scoring, *size, method="karlin-altschul")
    except ValueError as error:
        raise ValueError(f"no E-values: {error}") from None
    symmetric = targets is None and scoring.symmetric
    lengths = queries.lengths, others.lengths
    return ByEvalue(*given, statistics=statistics, lengths=lengths, symmetric=symmetric)


def own_scores(engine: Engine, sequences: Sequences) -> _Int32:
    """Return the score of each sequence with itself, in integer units, shape (N,)."""
    each = np.arange(len(sequences), dtype=np.int32)
    return engine.scores(Batch.indexed(sequences, sequences, each, each))


def least_units(score: float, scoring: Scoring) -> int:
    """Return the least score of at least this one, in integer units.

    >>> least_units(19.2, Scoring.named("GONNET1992", 10, 0.5)), least_units(7.5, Scoring.blast())
    (192, 8)
    """
    units = score * scoring.scale
    return int(np.clip(math.ceil(units - 1e-9 * max(1, abs(units))), ALWAYS, NEVER))


def _int32(bounds: _Int64) -> _Int32:
    return np.clip(bounds, ALWAYS, NEVER).astype(np.int32)
