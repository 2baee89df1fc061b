"""Engine `lanes` selects the pairs that pass: the same as the host selects of all scores."""

from dataclasses import replace

import numpy as np
import pytest
from cases import standing_in

from glsw.engines import Auto, Lanes, Reference
from glsw.engines.base import Engine
from glsw.engines.lanes.geometry import LaneSizes
from glsw.engines.lanes.jobs import Job
from glsw.engines.tiles import ALWAYS, NEVER, BoundedTile, ScanTile
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

BLOSUM62 = Scoring.blast()
LENGTHS = (31, 0, 7, 60, 7, 1, 44, 12, 59, 3, 28, 33, 2, 16, 16, 25, 50, 9)


def sequences(lengths, seed=3):
    random = np.random.default_rng(seed)
    return Sequences.of(random.integers(0, 20, n, dtype=np.uint8) for n in lengths)


def tile(queries, targets, bound, seed=5):
    random = np.random.default_rng(seed)
    bounds = [
        random.integers(bound - 8, bound + 8, len(s), dtype=np.int32) for s in (queries, targets)
    ]
    return BoundedTile(queries, targets, *bounds)


def tiles():
    """Parts that stay and parts that change; bounds that few, all or no pairs reach."""
    queries, targets, more = (
        sequences(LENGTHS),
        sequences(LENGTHS[::2], 4),
        sequences((70, 5, 0), 9),
    )
    every = [tile(queries, targets, 22), tile(more, targets, 18), tile(targets, queries, 20)]
    never, always = (
        replace(every[0], query_bounds=np.full(18, b, np.int32)) for b in (NEVER, ALWAYS)
    )
    none = replace(never, target_bounds=np.full(9, NEVER, np.int32))
    nothing = sequences(())
    return [*every, none, always, tile(nothing, targets, 1), tile(more, nothing, 1)]


def check(engine, given):
    expected = list(Engine.answers(Reference(BLOSUM62), given))
    for found, right in zip(engine.answers(iter(given)), expected, strict=True):
        for name in ("query", "target", "score"):
            np.testing.assert_array_equal(getattr(found, name), getattr(right, name))
            assert getattr(found, name).dtype == np.int32
    assert [len(each.query) for each in expected][3:5] == [0, 162]


@pytest.fixture
def nothing_downloaded(monkeypatch):
    def scores_of(self, content):
        raise AssertionError("all scores are read")

    monkeypatch.setattr(Job, "scores_of", scores_of)


@pytest.mark.parametrize("number", ["int32", "f32"])
@pytest.mark.parametrize("software", [True, False])
def test_as_on_the_host(device, monkeypatch, nothing_downloaded, number, software):
    check(Lanes(BLOSUM62, standing_in(device, software=software), number=number), tiles())


def test_auto(device, nothing_downloaded):
    check(Auto(BLOSUM62, device), tiles())


def test_more_pass_than_there_is_room_for(device):
    limits = LaneSizes(passing=3, passing_groups=1, passing_lanes=16)
    check(Lanes(BLOSUM62, device, limits=limits), tiles())


def test_scores_and_lists_of_many_queries_fit_a_small_buffer(device):
    """OpenGL promises 128 MiB: scores of 400 queries, or the list of all, may be more."""
    limits = {**device.info.limits, "max_storage_block": 2**16}
    small = standing_in(device, limits=limits)
    engine = Lanes(BLOSUM62, small, limits=LaneSizes(passing=3))
    queries, targets = sequences([9] * 120), sequences([9] * 300, 4)
    every, reference = ScanTile(queries, targets), Reference(BLOSUM62)
    bounds = np.full(120, ALWAYS, np.int32), np.full(300, NEVER, np.int32)
    for asked in (every, BoundedTile(queries, targets, *bounds)):
        (found,) = engine.answers([asked])
        np.testing.assert_array_equal(found, reference.answer(asked, None))


def test_scores_that_floats_do_not_hold(device):
    """They pass on the device, and are computed again."""
    check(Lanes(BLOSUM62, device, number="f32", limits=LaneSizes(floats=20)), tiles())
    rest = Lanes(BLOSUM62, device, number="f32", limits=LaneSizes(floats=20))
    rest.rest = lambda batch, progress: Reference(BLOSUM62).scores(batch)
    check(rest, tiles())


def test_targets_that_are_too_long(device):
    engine = Lanes(BLOSUM62, device, limits=LaneSizes(longest=40))
    engine.rest = lambda batch, progress: Reference(BLOSUM62).scores(batch)
    check(engine, tiles())


def test_memory_is_counted(device):
    engine = Lanes(BLOSUM62, device)
    list(engine.answers(tiles()[:1]))
    assert engine.memory_used > 0
