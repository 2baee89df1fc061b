"""Rescores hits, each with a matrix for the compositions of its two sequences.

Of a profile, each has the profile scaled for the composition of its target.

The first stage is the exact search with the matrix as it is. Its hits with at most 10 times the
wanted E-value (`RELAXED`) are scored again, exactly, each with its own matrix
in units of 1/32, and selected by what that gives. As in blastp, segments of low complexity in
targets are masked for it (SEG with window 10, locut 1.8, hicut 2.1), unless the two sequences are
nearly identical.

Where sequences are translated, each context of a query and each frame of a target is scored again,
and has the composition around its best alignment with the matrix as it is.
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
from glsw.caller import stage
from glsw.cores import cores, in_threads
from glsw.engines import Engine
from glsw.engines.base import Progress, Ties
from glsw.options import Composition
from glsw.pairs.align_pairs import aligned
from glsw.scoring.scoring import Scoring
from glsw.search.limits import Limits, evalue_of
from glsw.search.select import Selection, pair_numbers
from glsw.search.stages import Stage
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
from glsw.wings.composition.own_matrices import (
    OwnMatrices,
    OwnProfiles,
    OwnScores,
    scores_on_device,
)

RELAXED = 10
"""Hits are scored again that have at most so many times the E-value; blastp has 5."""
_SEG_OF_TARGETS = Seg(10, 1.8, 2.1)
_MATRICES_TOGETHER = 2**8, 2**10  # of a thread: in a cache, or fewer steps that exclude others
_MANY_CORES = 8

# Pairs are nearly identical, and their targets not masked, if the best alignment has this many
# bits per column and this part of identities, and is not shorter than this.
_NEAR_BITS, _NEAR_IDENTITY, _NEAR_LENGTH = 1.74, 0.95, 50

_Int32 = npt.NDArray[np.int32]
_Int64 = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rescoring(Stage):
    """Scores the hits of a search again, each with a matrix or a profile of its own.

    Parameters
    ----------
    composition : {1, 2}
        The mode, see `glsw.wings.composition.adjustment`.
    """

    composition: Composition
    one_place = "scores adjusted for composition do not compare places: --composition 0"

    def first(self, limits: Limits) -> Limits:
        """Return limits with more E-values, which no other number narrows."""
        assert limits.evalue is not None
        ranking = limits.ranking._replace(top=None, min_score=1)
        return limits._replace(ranking=ranking, evalue=RELAXED * limits.evalue, order="score")

    def rescored(self, engine: Engine, pairs: Selection, limits: Limits, ties: Ties) -> Selection:
        """Return pairs with their own matrices; scores are in units of 1/32 of the matrix.

        The least score is rounded to the given one.
        """
        numbers = pair_numbers(pairs.table.query, pairs.table.target)
        rows = np.flatnonzero(pairs.within())
        hits = pairs.select(rows[np.argsort(numbers[rows])])
        with stage("composition", len(hits.table)) as progress:
            known, own, scores = self._scored(engine, hits, ties, progress)
            progress(len(hits.table) - len(known))
        adjusted = {
            id(one): Rescaled(one, self.composition) if one.available else one
            for one in hits.statistics
        }
        least = SCALE * (limits.ranking.min_score - 0.5)
        hits = replace(
            hits,
            statistics=[adjusted[id(one)] for one in hits.statistics],
            limits=limits._replace(ranking=limits.ranking._replace(min_score=least)),
            table=replace(hits.table.select(known), units=scores),
            scores=own,
        )
        return replace(hits, table=hits.with_significance(hits.table))

    def _scored(
        self, engine: Engine, hits: Selection, ties: Ties, progress: Progress
    ) -> tuple[_Int64, OwnScores, _Int32]:
        """Return which hits are scored again, how, and their best scores in scaled units."""
        scoring, owners, database = engine.scoring.letters, hits.table.query, hits.database
        pairs = pair_numbers(owners, hits.table.target)
        sequences = hits.queries.sequences
        numbers, place = np.unique(hits.table.target, return_inverse=True)
        plain = database.select(database.places(numbers).tolist())
        masked = _masked(plain, scoring)
        differs = np.flatnonzero(plain.residues != masked.residues)
        changed = np.unique(np.searchsorted(plain.offsets, differs, "right") - 1)
        given, few = place.astype(np.int32), np.flatnonzero(np.isin(place, changed))
        near = _nearly_identical(engine, hits.select(few), plain.select(place[few]), ties)
        place[few[near]] += len(plain)
        both = Sequences.concatenated([masked, plain])
        targets = Compositions.of(both, scoring).part(place)
        if engine.scoring.wide_queries:
            known, of_all = _profiles(engine, hits, both.select(place), targets)
            return known, of_all, of_all.scores(engine, sequences, owners[known], progress)
        queries = Compositions.of(sequences, scoring).part(owners)
        if hits.queries.frame.any() or len(database.frames) > 1:
            _, runs = aligned(
                engine, Batch.indexed(sequences, plain, owners.astype(np.int32), given), ties
            )
            start, end = runs.start.T, runs.end.T
            if hits.queries.frame.any():
                queries = Compositions.around(sequences, owners, start[0], end[0], scoring)
            if len(database.frames) > 1:
                targets = Compositions.around(both, place, start[1], end[1], scoring)
        known = np.flatnonzero((targets.residues > 0) & (queries.residues > 0))
        size = _MATRICES_TOGETHER[cores() >= _MANY_CORES]
        parts = [known[start : start + size] for start in range(0, len(known), size)]
        at_once = not scores_on_device(engine)

        def made(some: _Int64) -> tuple[OwnScores, _Int32 | None]:
            two = queries.part(some), targets.part(some)
            matrices = adjusted_matrices(scoring, *two, self.composition)
            own = OwnMatrices(both.select(place[some]), SCALE, pairs[some], matrices)
            if not at_once:
                return own, None
            return own, own.scores(engine, sequences, owners[some], lambda _: None)

        def report(found: tuple[OwnScores, _Int32 | None]) -> None:
            progress(len(found[0].pairs) if at_once else 0)

        done = in_threads(made, parts, found=report)
        nothing = np.empty((0, *scoring.matrix.shape), np.int16)
        none = OwnMatrices(both.select(known[:0]), SCALE, pairs[:0], nothing)
        own = OwnMatrices.concatenated([none, *(each for each, _ in done)])
        if not at_once:
            return known, own, own.scores(engine, sequences, owners[known], progress)
        scores = [each for _, each in done if each is not None]
        return known, own, np.concatenate([np.empty(0, np.int32), *scores])


def stage_of(scoring: Scoring, settings: Mapping[str, Any]) -> Stage:
    """Return the stage that settings ask for; with "auto" mode 2, or none where it cannot be.

    Raises
    ------
    ValueError
        If the mode is given, and cannot be for this scoring or these settings.
    """
    automatic = settings["composition"] == "auto"
    composition: Composition = 2 if automatic else settings["composition"]
    try:
        _check(scoring, settings, composition)
    except ValueError:
        if automatic:
            return Stage()
        raise
    if scoring.wide_queries:  # of profiles both modes are the same
        return Stage() if automatic else Rescoring(1)
    return Rescoring(composition)


def _check(scoring: Scoring, settings: Mapping[str, Any], composition: Composition) -> None:
    """Raise ValueError if a mode cannot be for this scoring or these settings."""
    check_composition(scoring, composition)
    if scoring.wide_queries and settings["target_genetic_code"] is not None:
        raise ValueError("composition of profiles: proteins expected, not translated targets")
    if (method := settings["statistics"]) not in ("auto", "karlin-altschul"):
        raise ValueError(f"composition: published statistics expected, not {method!r}")
    if evalue_of(settings["evalue"]) is None:
        raise ValueError("composition: an E-value expected, which decides what is rescored")


def _profiles(
    engine: Engine, hits: Selection, targets: Sequences, compositions: Compositions
) -> tuple[_Int64, OwnScores]:
    """Return which hits of profiles are scored again, and their scores."""
    scoring, known, rates = engine.scoring.letters, list[_Int64](), list[_Floats]()
    unknown = scoring.matrix[scoring.alphabet.encode("X")]
    for query, codes in enumerate(hits.queries.sequences):
        rows = engine.scoring.matrix[codes]
        rows = rows[(rows != unknown).any(axis=1)]
        of_query = (hits.table.query == query) & (compositions.residues > 0) & (len(rows) > 0)
        known.append(np.flatnonzero(of_query))
        rates.append(profile_rates(scoring, rows, compositions.part(known[-1])))
    every = np.concatenate([np.empty(0, np.int64), *known])
    own = np.concatenate([np.empty(0), *rates]), compositions.frequencies[every]
    numbers = pair_numbers(hits.table.query[every], hits.table.target[every])
    return every, OwnProfiles(targets.select(every), SCALE, numbers, *own)


def _masked(targets: Sequences, scoring: Scoring) -> Sequences:
    """Return targets with segments of low complexity masked."""
    alphabet = scoring.alphabet
    letters = np.frombuffer("".join(alphabet.letters).encode("ascii"), np.uint8)
    begin, end = _SEG_OF_TARGETS.segments(letters[targets.residues], targets.offsets)
    codes = targets.residues.copy()
    codes[ranges(begin, end - begin)] = alphabet.encode(alphabet.wildcard or "")
    return Sequences(codes, targets.offsets)


def _nearly_identical(
    engine: Engine, hits: Selection, targets: Sequences, ties: Ties
) -> npt.NDArray[np.bool_]:
    """Return which targets are nearly identical with their query where they are aligned."""
    found = np.zeros(len(targets), bool)
    queries, owners, scores = hits.queries.sequences, hits.table.query, hits.table.units
    letters = hits.queries.shown if engine.scoring.wide_queries else queries
    constants = published(engine.scoring.letters)
    assert constants
    per_column = _NEAR_BITS * math.log(2) / constants.lambda_
    shortest = np.minimum(queries.lengths[owners], _NEAR_LENGTH)
    possible = np.flatnonzero(scores >= per_column * (shortest - 1))
    if not len(possible):
        return found
    some, of_some = targets.select(possible), owners[possible]
    index = of_some.astype(np.int32), np.arange(len(some), dtype=np.int32)
    _, runs = aligned(engine, Batch.indexed(queries, some, *index), ties)
    spans, pairs = runs.residues, runs.total(runs.lengths * (runs.moves == DIAGONAL))
    of_pair, (i, j) = np.repeat(np.arange(len(runs)), pairs), runs.pairs()
    rows = letters.residues[letters.offsets[of_some[of_pair]] + i]
    equal = rows == some.residues[some.offsets[of_pair] + j]
    same = np.bincount(of_pair[equal], minlength=len(runs))
    lengths = spans.min(axis=1)
    long_enough = (spans[:, 1] >= shortest[possible]) & (scores[possible] >= per_column * lengths)
    found[possible] = long_enough & (same > _NEAR_IDENTITY * lengths)
    return found
