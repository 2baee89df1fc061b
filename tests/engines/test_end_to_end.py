"""Engine `lanes` from end to end: what hardware computes, streams, numbers that are too high."""

from dataclasses import replace

import numpy as np
import pytest
from cases import by_reference, standing_in

from glsw.alignment.batch import Batch
from glsw.engines.lanes.engine import Lanes
from glsw.engines.lanes.geometry import INT32, TOO_HIGH, Geometries, LaneSizes
from glsw.engines.reference import Reference
from glsw.engines.tiles import ALWAYS, BoundedTile, ScanTile
from glsw.scoring.gaps import EndGaps, GapCost
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

BLOSUM62 = Scoring.blast()
SCORINGS = {
    "global": BLOSUM62.in_mode("global"),
    "semi-global": BLOSUM62.in_mode("semiglobal"),
    "free ends of the query": BLOSUM62.in_mode("semiglobal", free="query"),
    "free ends of the target": BLOSUM62.in_mode("semiglobal", free="target"),
    "linear, semi-global": Scoring.blast("BLOSUM62", 0, 4).in_mode("semiglobal"),
    "each end another": replace(
        BLOSUM62,
        end_gaps=EndGaps(GapCost(3, 1), GapCost(5, 0), GapCost(1, 1), GapCost(6, 1)),
    ),
}
SHAPES = {"short": (20, 15, 0, 30), "middling": (6, 8, 0, 400), "long": (2, 3, 500, 700)}


@pytest.fixture(params=SCORINGS)
def scoring(request):
    return SCORINGS[request.param]


def relatives(seed, count, least, most):
    """Return sequences of which every other one is related to all others of this kind."""
    base = np.random.default_rng(7).integers(0, 20, most)
    rng = np.random.default_rng(seed)
    found = []
    for k, length in enumerate(rng.integers(least, most, count).tolist()):
        letters = rng.integers(0, 20, length)
        kept = (rng.random(length) < 0.8) & (k % 2 == 0)
        found.append(np.where(kept, base[:length], letters).astype(np.uint8))
    return Sequences.of(found)


@pytest.mark.parametrize("number", ["int32", "f32"])
@pytest.mark.parametrize("shape", SHAPES)
def test_scans_of_hardware(device, scoring, shape, number):
    queries, targets, *lengths = SHAPES[shape]
    tile = ScanTile(relatives(1, queries, *lengths), relatives(2, targets, *lengths))
    expected = by_reference(scoring, tile)
    (found,) = Lanes(scoring, standing_in(device), number=number).answers([tile])
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("number", ["int32", "f32"])
def test_pairs_of_hardware(device, scoring, number):
    queries, targets = relatives(3, 20, 0, 150), relatives(4, 20, 0, 150)
    pairs = Batch.indexed(queries, targets, *np.indices((20, 20), np.int32).reshape(2, -1))
    engine = Lanes(scoring, standing_in(device), number=number)
    assert engine.scores(pairs).tolist() == by_reference(scoring, pairs).score.tolist()


@pytest.mark.parametrize("number", ["int32", "f32"])
def test_queries_with_themselves(device, scoring, number):
    """On hardware: work groups of targets before a query are left out."""
    every = relatives(5, 40, 0, 60)
    engine = Lanes(
        scoring, standing_in(device), number=number, workgroup=1, limits=LaneSizes(short=0)
    )
    assert engine.hints.halves == scoring.symmetric
    (found,) = engine.answers([ScanTile(every, every)])
    expected = by_reference(scoring, ScanTile(every, every))
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("number", ["int32", "f32"])
def test_pairs_that_pass(device, scoring, number):
    queries, targets = relatives(6, 12, 0, 60), relatives(7, 30, 0, 60)
    scores = by_reference(scoring, ScanTile(queries, targets))
    for bound in (ALWAYS, int(np.median(scores))):
        bounds = (np.full(len(each), bound, np.int32) for each in (queries, targets))
        tile = BoundedTile(queries, targets, *bounds)
        (found,) = Lanes(scoring, device, number=number).answers([tile])
        expected = tile.answer(scores)
        assert [each.tolist() for each in found] == [each.tolist() for each in expected]


def test_numbers_that_are_too_high(device, monkeypatch):
    """Of one pair alone they are: it is computed again, and only it."""
    scoring = BLOSUM62.in_mode("global")
    rng = np.random.default_rng(8)
    queries = Sequences.of([rng.integers(0, 20, 900).astype(np.uint8)])
    others = [rng.integers(0, 20, n).astype(np.uint8) for n in (40, 900, 880, 0)]
    targets = Sequences.of([*others, queries[0]])
    again = []
    exact = Lanes.exact
    monkeypatch.setattr(
        Lanes,
        "exact",
        lambda engine, pairs, query, target, *more: (
            again.extend(target.tolist()) or exact(engine, pairs, query, target, *more)
        ),
    )
    engine = Lanes(scoring, device, number="f32")
    (found,) = engine.answers([ScanTile(queries, targets)])
    (expected,) = Reference(scoring).answers([ScanTile(queries, targets)])
    assert found.tolist() == expected.tolist()
    assert again == [4]
    assert engine.wrong_from == TOO_HIGH > scoring.bound(2**15, 2**15)


def test_costs_that_floats_do_not_hold(device):
    for opens in (0, 12, 200):
        scoring = Scoring.named(gap_open=opens, gap_extend=min(opens, 1)).in_mode("global")
        assert (Geometries(scoring, device.info, "f32").number == INT32) == (opens != 12)


def test_long_targets_beside_numbers_that_are_too_high(device):
    scoring = BLOSUM62.in_mode("global")
    rng = np.random.default_rng(9)
    query, long = (rng.integers(0, 20, n).astype(np.uint8) for n in (900, 2**15 + 5))
    engine = Lanes(scoring, device, number="f32")
    engine.rest = lambda batch, progress: Reference(scoring).scores(batch)
    tile = ScanTile(Sequences.of([query]), Sequences.of([query, long, query[:40]]))
    (found,) = engine.answers([tile])
    assert found.tolist() == next(Reference(scoring).answers([tile])).tolist()


@pytest.mark.parametrize(
    "scoring",
    [
        Scoring.match_mismatch(2, -1, 2.5, 2.5).in_mode("global"),
        Scoring.named("BLOSUM62", 60, 60).in_mode("semiglobal"),
    ],
    ids=str,
)
def test_trials_in_which_numbers_are_too_high(device, scoring):
    engine = Lanes(scoring, device, number="f32")
    made = Geometries(scoring, standing_in(device).info, "f32")
    for geometry in {made.of(*each, joins=False) for each in ((60, 1), (60, 2), (900, 2))}:
        assert engine.holds(geometry)


def test_integers_that_are_as_low_as_a_score_that_is_too_high_is_high(device):
    """Lanes without the last row have no score: it wraps around to TOO_HIGH here."""
    m, n = 40, 1281
    extend, rest = divmod(2**30 + 1, m + n)
    assert not rest
    scoring = Scoring.match_mismatch(2, -1, extend, extend).in_mode("semiglobal", free="target")
    rng = np.random.default_rng(10)
    sides = (Sequences.of([rng.integers(0, 4, size).astype(np.uint8)]) for size in (m, n))
    tile = ScanTile(*sides)
    engine = Lanes(scoring, standing_in(device), number="int32", rows=8)
    (found,) = engine.answers([tile])
    assert found.tolist() == next(Reference(scoring).answers([tile])).tolist()
