"""Hits scored again, each with a matrix for the compositions of its two sequences.

Of a profile, each has the profile scaled for the composition of its target.

The first stage is the exact search with the matrix as it is. Its hits with at most 30 times the
wanted E-value (`RELAXED`) are scored again, exactly, each with its own matrix
in units of 1/32, and selected by what that gives. As in blastp, segments of low complexity in
targets are masked for it (SEG with window 10, locut 1.8, hicut 2.1), unless the two sequences are
nearly identical.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.alignment.paths import DIAGONAL
from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.options import Composition
from glsw.pairs.align_pairs import aligned
from glsw.scoring.scoring import Scoring
from glsw.search.limits import Limits, evalue_of
from glsw.search.ranking import hits_of
from glsw.search.select import Selection, listed, with_significance
from glsw.search.stages import Stage
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences, ranges
from glsw.sequences.seg import Seg
from glsw.statistics.published_constants import published
from glsw.wings.composition.adjustment import (
    SCALE,
    Compositions,
    Rescaled,
    adjusted_matrices,
    check_composition,
    profile_rates,
)
from glsw.wings.composition.own_matrices import OwnMatrices, OwnProfiles, OwnScores

RELAXED = 30
"""Hits are scored again that have at most so many times the E-value."""
_SEG_OF_TARGETS = Seg(10, 1.8, 2.1)
_MAX_MATRICES_TOGETHER = 2**12  # which are of float64 while they are made

# Pairs are nearly identical, and their targets not masked, if the best alignment has this many
# bits per column and this part of identities, and is not shorter than this.
_NEAR_BITS, _NEAR_IDENTITY, _NEAR_LENGTH = 1.74, 0.95, 50

_Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rescoring(Stage):
    """Scores the hits of a search again, each with a matrix or a profile of its own.

    Parameters
    ----------
    composition : {1, 2}
        The mode, see `glsw.wings.composition.adjustment`.
    """

    composition: Composition
    name = "composition"

    def first(self, limits: Limits) -> Limits:
        """Return limits with more E-values, which no other number narrows."""
        assert limits.evalue is not None
        ranking = limits.ranking._replace(top=None, min_score=1)
        return limits._replace(ranking=ranking, evalue=RELAXED * limits.evalue, order="score")

    def rescored(
        self, engine: Engine, hits: Selection, database: Database, limits: Limits, ties: Ties
    ) -> Selection:
        """Return hits with their own matrices: those within the limits, in the order of the limits.

        Scores of hits are in units of 1/32 of the matrix.
        """
        each = [hits.part(slice(q, q + 1)) for q in range(len(hits.scans))]
        if not each:
            return hits
        known, pairs = zip(
            *(_pairs(engine, some, database, self.composition, ties) for some in each), strict=True
        )
        first = hits.offsets[:-1].tolist()
        rows = np.concatenate([some + row for some, row in zip(known, first, strict=True)])
        table, own = hits.table.select(rows), pairs[0].concatenated(pairs)
        # each query has one context or none
        scores = own.scores(engine, hits.queries.sequences, table.query)
        statistics = [
            Rescaled(one) if len(some) else one
            for one, some in zip(hits.statistics, known, strict=True)
        ]
        table = replace(table, units=scores)
        table = with_significance(table, statistics, hits.queries, database)
        assert limits.evalue is not None
        least = self.last(limits).ranking.min_score
        kept, more = listed(
            (scores >= least) & (table.evalues <= limits.evalue),
            table.evalues,
            hits_of(scores, table.target),
            hits.queries.owner[table.query],
            limits,
            len(each),
        )
        scans = [[scan._replace(places=None, windows=None) for scan in some] for some in hits.scans]
        table, own = table.select(kept), own.select(kept)
        return Selection.of(hits.queries, scans, statistics, more, table, own)

    def last(self, limits: Limits) -> Limits:
        """Return limits whose least score is in units of 1/32, and is rounded to the given one."""
        least = SCALE * (limits.ranking.min_score - 0.5)
        return limits._replace(ranking=limits.ranking._replace(min_score=least))


def stage_of(scoring: Scoring, settings: Mapping[str, Any]) -> Rescoring:
    """Return the stage that settings ask for.

    Raises
    ------
    ValueError
        If it cannot be for this scoring or these settings.
    """
    check_composition(scoring, settings["composition"])
    if (settings["genetic_code"], settings["target_genetic_code"]) != (None, None):
        raise ValueError("composition is for proteins, not for translated sequences")
    if (method := settings["statistics"]) not in ("auto", "karlin-altschul"):
        raise ValueError(f"composition: published statistics expected, not {method!r}")
    if evalue_of(settings["evalue"]) is None:
        raise ValueError("composition: an E-value expected, which decides what is rescored")
    return Rescoring(settings["composition"])


def _codes(hits: Selection) -> npt.NDArray[np.uint8]:
    """Return the codes of the one query of hits, none if all its residues are masked."""
    return hits.queries.sequences.residues


def _pairs(
    engine: Engine, hits: Selection, database: Database, composition: Composition, ties: Ties
) -> tuple[_Int64, OwnScores]:
    """Return which hits of a query are scored again, and their scores."""
    scoring, codes = engine.scoring.letters, _codes(hits)
    targets = database.select(database.rank[hits.table.target].tolist())
    near = _nearly_identical(engine, hits, targets, ties)
    masked = _masked(targets, near, scoring)
    compositions = Compositions.of(masked, scoring)
    if engine.scoring.wide_queries:
        rows = engine.scoring.matrix[codes]
        rows = rows[(rows != scoring.matrix[scoring.alphabet.encode("X")]).any(axis=1)]
        known = np.flatnonzero((compositions.residues > 0) & (len(rows) > 0))
        compositions = compositions.part(known)
        rates = profile_rates(scoring, rows, compositions)
        own = OwnProfiles(masked.select(known), SCALE, rates, compositions.frequencies)
        return known, own
    queries = Compositions.of(Sequences.of([codes]), scoring)
    known = np.flatnonzero((compositions.residues > 0) & (queries.residues > 0))
    matrices = np.empty((len(known), *scoring.matrix.shape), np.int16)
    for start in range(0, len(known), _MAX_MATRICES_TOGETHER):
        some = known[start : start + _MAX_MATRICES_TOGETHER]
        same = queries.part(np.zeros(len(some), np.intp))
        made = adjusted_matrices(scoring, same, compositions.part(some), composition)
        matrices[start : start + len(some)] = made
    return known, OwnMatrices(masked.select(known), SCALE, matrices)


def _masked(targets: Sequences, near: npt.NDArray[np.bool_], scoring: Scoring) -> Sequences:
    """Return targets with segments of low complexity masked, unless they are near the query."""
    alphabet = scoring.alphabet
    letters = np.frombuffer("".join(alphabet.letters).encode("ascii"), np.uint8)
    begin, end = _SEG_OF_TARGETS.segments(letters[targets.residues], targets.offsets)
    others = ~near[np.searchsorted(targets.offsets, begin, "right") - 1]
    codes = targets.residues.copy()
    codes[ranges(begin[others], (end - begin)[others])] = alphabet.encode(alphabet.wildcard or "")
    return Sequences(codes, targets.offsets)


def _nearly_identical(
    engine: Engine, hits: Selection, targets: Sequences, ties: Ties
) -> npt.NDArray[np.bool_]:
    """Return which targets are nearly identical with the query where they are aligned."""
    found = np.zeros(len(targets), bool)
    query, scores = _codes(hits), hits.table.units
    letters = hits.queries.shown[0] if engine.scoring.wide_queries else query
    constants = published(engine.scoring.letters)
    assert constants
    per_column = _NEAR_BITS * math.log(2) / constants.lambda_
    shortest = min(len(query), _NEAR_LENGTH)
    possible = np.flatnonzero(scores >= per_column * (shortest - 1))
    if not len(possible):
        return found
    some = targets.select(possible)
    _, runs = aligned(engine, Batch.one_to_many(query, some), ties)
    spans, pairs = runs.residues, runs.total(runs.lengths * (runs.moves == DIAGONAL))
    of_pair, (i, j) = np.repeat(np.arange(len(runs)), pairs), runs.pairs()
    equal = letters[i] == some.residues[some.offsets[of_pair] + j]
    same = np.bincount(of_pair[equal], minlength=len(runs))
    lengths = spans.min(axis=1)
    long_enough = (spans[:, 1] >= shortest) & (scores[possible] >= per_column * lengths)
    found[possible] = long_enough & (same > _NEAR_IDENTITY * lengths)
    return found
