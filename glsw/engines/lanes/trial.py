"""The proof of a program of engine ``lanes``: a small batch of just its geometry."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.engines.base import ignore
from glsw.engines.lanes.geometry import INT32, LIMIT, OF_PAIRS, TOO_HIGH, Geometry
from glsw.engines.lanes.own_queries import scores_of_each
from glsw.engines.lanes.rows import group_of
from glsw.engines.proof import Proofs, best_of_prefixes, scoring_of_trials, work_for
from glsw.engines.tiles import BoundedTile, Passing
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    from glsw.engines.lanes.engine import Lanes

_MEMORY = 2**26
_MORE = 5  # rows of a second strip, at least
_LEAST_ROWS = 70  # so that there are long gaps
PREFIXES = _ROWS, _LONGEST = 200, 300
"""Rows of the longest query of most geometries, and of all."""
_JOINED = 9, 7  # rows of the other queries of streams


def trial_of(proofs: Proofs, engine: Lanes, geometry: Geometry) -> bool:
    """Tell whether an engine like this one computes right scores with a geometry."""
    prover = type(engine)(scoring_of_trials(engine.scoring), engine.device, memory=_MEMORY)
    if geometry.profile_memory == OF_PAIRS:
        return _pairs(proofs, prover, geometry)
    scoring = prover.scoring
    work = work_for(scoring)
    longest = min(max(geometry.strip + _MORE, _LEAST_ROWS), _LONGEST)
    least = _ROWS if longest <= _ROWS else _LONGEST
    best = proofs.expected(
        scoring, f"{least} prefixes", lambda: best_of_prefixes(scoring, work, least)
    )
    streams = [[(longest - 2 * k, k)] for k in range(geometry.queries)]  # each of them a prefix
    if geometry.joined:
        streams = [[*each, (_JOINED[k], 1 - k)] for k, each in enumerate(streams)]
    every = [each for stream in streams for each in stream]
    numbers = iter(range(len(every)))
    rows = group_of([[(m, next(numbers)) for m, _ in stream] for stream in streams])
    targets = prover.targets_of(Sequences.of(work.targets), longest)
    (share, _), *_ = targets.shares
    for other in (1, 0):  # other queries come first: a device may go on with those
        order = [((q + other) % 2, m) for m, q in every]
        queries = Sequences.of([work.queries[q][:m] for q, m in order])
        expected = np.array([best[q, m] for q, m in order])
        large = 0 if other else engine.limits.profile  # one is made on the device, one uploaded
        prover.limits = replace(prover.limits, profile=large)
        job = prover.job(queries, rows, share, geometry)
        for _ in prover.queue.slices_of([job], ignore):
            pass
        (found,) = prover.reading([job])()
        if not _same(found, expected[:, share.positions], geometry):
            return False
    return True


def passes(proofs: Proofs, engine: Lanes) -> bool:
    """Tell whether an engine like this one selects the right pairs by their scores."""
    prover = type(engine)(scoring_of_trials(engine.scoring), engine.device, memory=_MEMORY)
    prover.geometries = engine.geometries
    scoring = prover.scoring
    work = work_for(scoring)
    best = proofs.expected(
        scoring, f"{_ROWS} prefixes", lambda: best_of_prefixes(scoring, work, _ROWS)
    )
    queries = Sequences.of([query[:_LEAST_ROWS] for query in work.queries])
    scores = best[:, _LEAST_ROWS].astype(np.int32)
    middle = np.median(scores, axis=1).astype(np.int32)
    targets = Sequences.of(work.targets)
    for more in (0, 1):  # once with the bounds of one query exchanged with those of the other
        bounds = np.roll(middle, more), np.full(len(targets), int(scores.max()), np.int32)
        tile = BoundedTile(queries, targets, *bounds)
        (found,) = prover.passing([tile])
        expected = Passing.of(tile, scores)
        if not all(map(np.array_equal, found, expected)):
            return False
    return True


def _pairs(proofs: Proofs, prover: Lanes, geometry: Geometry) -> bool:
    """Tell the same of pairs that each have their own query."""
    scoring, real = prover.scoring, prover.geometries.of_pairs
    work = work_for(scoring, geometry.letters)
    longest = min(max(geometry.strip + _MORE, _LEAST_ROWS), _ROWS)
    best = proofs.expected(
        scoring,
        f"prefixes of {geometry.letters} letters",
        lambda: best_of_prefixes(scoring, work, _ROWS),
    )
    lengths = [m for m in (1, 7, longest // 2, longest - 1, longest) if m]
    queries = [work.queries[q][:m] for q in (0, 1) for m in lengths]
    pairs = np.indices((len(queries), len(work.targets))).reshape(2, -1).T.astype(np.int32)
    batch = Batch((Sequences.of(queries), Sequences.of(work.targets)), pairs)
    expected = best[:, lengths].reshape(-1)

    def chosen(m: int, number: int, letters: int) -> Geometry:
        return geometry if number == geometry.number else real(m, number, letters)

    prover.geometries.of_pairs = chosen  # type: ignore[method-assign]
    prover.geometries.number = geometry.number
    (found,) = scores_of_each(prover, [batch], ignore)
    return bool(np.array_equal(found, expected))


def _same(
    found: npt.NDArray[np.integer], expected: npt.NDArray[np.integer], geometry: Geometry
) -> bool:
    """Compare scores; floats may be wrong from `LIMIT` on, end to end where they are `TOO_HIGH`."""
    if geometry.end_to_end:
        there = found < TOO_HIGH
        return bool(np.array_equal(found[there], expected[there]))
    if geometry.number != INT32:
        found, expected = np.minimum(found, LIMIT), np.minimum(expected, LIMIT)
    return bool(np.array_equal(found, expected))
