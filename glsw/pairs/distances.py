"""Distances of pairs, computed from scores: which scores they need, and their values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.engines.base import Engine
from glsw.engines.tiles import ALWAYS, NEVER
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.sequences.named import NamedSequences
from glsw.statistics import for_search
from glsw.statistics.least_scores import least_score
from glsw.words import Range, one_of

Distance = Literal["score", "self", "identity", "evalue"]
DISTANCES: tuple[Distance, ...] = ("score", "self", "identity", "evalue")

_Int32 = npt.NDArray[np.int32]
Values = npt.NDArray[Any]


class ScoredPairs(NamedTuple):
    """Pairs that score enough: indices, scores in integer units, and identities.

    Without identities, those are an empty array.
    """

    query: _Int32
    target: _Int32
    score: _Int32
    identity: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rule:
    """Which pairs pass, and the value of each.

    Parameters
    ----------
    bounds : two arrays of int32
        The least scores of queries and of targets, see `BoundedTile`; no pair that passes is below.
    values : callable
        Returns the values of pairs that reach the bounds, shape (N,).
    least, most : float
        The values that pass.
    letters : two Sequences, optional
        What is compared of aligned queries and targets, see `Alphabet.compared`; None if pairs need
        not be aligned.
    ascending : bool
        Whether the best pairs have the least values.
    """

    bounds: tuple[_Int32, _Int32]
    values: Callable[[ScoredPairs], Values]
    least: float = -math.inf
    most: float = math.inf
    letters: tuple[Sequences, Sequences] | None = None
    ascending: bool = False


ASCENDING = "self", "evalue"
"""Distances of which the least are the best."""


def check_cutoff(distance: Distance, cutoff: float, min_score: float | None = None) -> None:
    """Raise TypeError or ValueError if a distance has no such cutoff or minimum score."""
    one_of("distance", distance, DISTANCES)
    cutoffs = {"evalue": Range(0, above=True), "identity": Range(0, 1)}
    cutoffs.get(distance, Range()).check("cutoff", cutoff)
    Range(also="None").check("min_score", min_score)


def rule_of(
    engine: Engine,
    first: NamedSequences,
    second: NamedSequences | None,
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
    scoring, sides = engine.scoring, (first, first if second is None else second)
    queries, others = (each.sequences for each in sides)
    check_cutoff(distance, cutoff, min_score)
    least = ALWAYS if min_score is None else least_units(min_score, scoring)
    if distance == "identity" and scoring.local:
        least = max(least, 1)
    if distance == "score":
        least = max(least, least_units(cutoff, scoring))
    bounds = _bounds(len(queries), least), _bounds(len(others), least)
    if distance == "score":
        return Rule(bounds, lambda pairs: scoring.in_matrix_units(pairs.score))
    if distance == "identity":
        letters = sides[0].letters, sides[1].letters
        return Rule(bounds, lambda pairs: pairs.identity, least=cutoff, letters=letters)
    if distance == "self":
        own = own_scores(engine, queries)
        other = own if second is None else own_scores(engine, others)
        slack = -least_units(-float(cutoff), scoring)
        return Rule(
            (_bounds(own - np.int64(slack), least), _bounds(other - np.int64(slack), least)),
            lambda pairs: scoring.in_matrix_units(
                np.minimum(own[pairs.query], other[pairs.target]) - pairs.score
            ),
            ascending=True,
        )
    if not scoring.local:
        raise ValueError("E-values exist for local alignments only")
    longest = int(queries.lengths.max(initial=1))
    size = longest, len(others), len(others.residues)
    try:  # a fit would need all scores before the first one is chosen
        statistics = for_search(scoring, *size, method="karlin-altschul")
    except ValueError as error:
        raise ValueError(f"no E-values: {error}") from None
    m, n = queries.lengths, others.lengths
    lengths, place = np.unique(m, return_inverse=True)
    enough = [least_score(statistics, cutoff, each, n, scoring) for each in lengths[:, np.newaxis]]
    rows = _bounds(np.array(enough, np.int64)[place], least)
    symmetric = second is None and scoring.symmetric
    return Rule(
        (rows, rows if symmetric else _bounds(len(n), NEVER)),
        lambda pairs: statistics.evalue(pairs.score, m[pairs.query], n[pairs.target]),
        most=cutoff,
        ascending=True,
    )


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


def _bounds(scores: int | npt.NDArray[np.int64], least: int) -> _Int32:
    """Return bounds of at least ``least``; those of a number of sequences are all the same."""
    wanted = np.full(scores, least) if isinstance(scores, int) else np.maximum(scores, least)
    return np.clip(wanted, ALWAYS, NEVER).astype(np.int32)
