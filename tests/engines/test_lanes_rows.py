"""Rows of engine `lanes`: queries one behind another in the same lanes."""

import numpy as np
import pytest
from cases import by_reference, groups_in, standing_in

from glsw.engines.lanes.engine import Lanes
from glsw.engines.lanes.geometry import Geometries, LaneSizes
from glsw.engines.lanes.pipeline import Matrices
from glsw.engines.lanes.rows import Placed, joined, together
from glsw.engines.tiles import BoundedTile, ScanTile
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

BLOSUM62 = Scoring.blast()
NUMBERS = ["int32", "f32"]
ALL = 2**30  # targets, for which groups are as large as they may be


def sequences(seed, lengths, letters=20):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, letters, n).astype(np.uint8) for n in lengths]


def on_hardware(device, number, limits=LaneSizes(work=1), **options):  # noqa: B008
    """Return an engine that works as on hardware, with groups as large as they may be."""
    return Lanes(BLOSUM62, standing_in(device), number=number, limits=limits, **options)


def joins(rows):
    """Tell whether a stream of a table has several queries."""
    return len({*rows[["group", "side"]].tolist()}) < len(rows)


def expected(queries, targets):
    """Return all scores by the reference."""
    return by_reference(BLOSUM62, ScanTile(Sequences.of(queries), targets))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("count", [1, 2])
def test_groups_have_each_query_once_and_few_empty_rows(device, seed, count):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, int(rng.choice([100, 400, 3000])), rng.integers(1, 800))
    number = "f32" if count == 2 else "int32"
    made = Geometries(BLOSUM62, standing_in(device).info, number)
    shape = made.of_streams
    groups = groups_in(together(made, lengths, ALL))
    assert sorted(joined(groups)["query"].tolist()) == list(range(len(lengths)))
    assert all(group["side"].max() < count for group in groups)
    rows = used = 0
    for group in groups:
        own = group["length"]
        assert own.tolist() == lengths[group["query"]].tolist()
        assert own[0] == own.max()
        assert not joins(group) or own.min() > 0
        assert not joins(group) or own[0] > shape.strip
        if joins(group) and len(groups) > 1 and group is not groups[-1]:
            rows += Placed(group, shape).strips[0] * shape.strip * (group["side"].max() + 1)
            used += own.sum()
    if rows > 2**15 and lengths.max() > 300:
        assert used > 0.9 * rows


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "options", [{}, {"query_profile": "storage"}, {"rows": 8, "chain": 4}, {"rows": 16, "chain": 8}]
)
def test_scores_are_those_of_the_reference(device, number, options):
    engine = on_hardware(device, number, **options)
    lengths = np.random.default_rng(7).integers(1, 220, 30)
    queries = Sequences.of([*sequences(8, lengths), np.empty(0, np.uint8)])
    groups = groups_in(together(engine.geometries, queries.lengths, 40))
    assert any(joins(group) for group in groups)
    related = [np.concatenate([queries[k][-40:], queries[k + 1][:50]]) for k in range(9)]
    parts = [Sequences.of([*sequences(9, range(40)), *related]), Sequences.of(sequences(10, [700]))]
    for part, found in zip(
        parts, engine.answers(ScanTile(queries, part) for part in parts), strict=True
    ):
        assert found.tolist() == expected(queries, part).tolist()


@pytest.mark.parametrize("number", NUMBERS)
def test_alike_queries_do_not_go_on_in_one_another(device, number):
    """A target of two queries, one behind the other, has no better score than with each of them."""
    engine = on_hardware(device, number, rows=8, chain=2)
    (whole,) = sequences(11, [96])
    queries = Sequences.of([whole[:48], whole[48:], whole[:32], whole[32:64], whole[64:], whole])
    targets = Sequences.of([whole, whole[20:70], whole[::-1].copy()])
    groups = groups_in(together(engine.geometries, queries.lengths, 3))
    assert any(joins(group) for group in groups)
    (found,) = engine.answers([ScanTile(queries, targets)])
    assert found.tolist() == expected(queries, targets).tolist()


@pytest.mark.parametrize("number", NUMBERS)
def test_each_pair_once_and_pairs_that_pass(device, number, monkeypatch):
    own = Sequences.of(sequences(12, np.random.default_rng(13).integers(1, 130, 60)))
    want, reading = expected(own, own), Matrices.reading
    for cells in (1, 2**40):  # several rounds, or one
        limits = LaneSizes(work=1, first_cells=cells)
        engine = on_hardware(device, number, limits, rows=8, chain=2)
        ran = []
        monkeypatch.setattr(
            Matrices,
            "reading",
            lambda self, done, of=reading, to=ran: to.append(done.rows) or of(self, done),
        )
        (found,) = engine.answers([ScanTile(own, own)])
        assert found.tolist() == want.tolist()
        assert any(map(joins, ran))
    bounds = np.full(60, 25, np.int32)
    (found,) = engine.answers([BoundedTile(own, own, bounds, bounds)])
    query, target = np.nonzero(want >= 25)
    assert found.query.tolist() == query.tolist()
    assert found.target.tolist() == target.tolist()
    assert found.score.tolist() == want[query, target].tolist()


def test_scores_that_floats_do_not_hold(device):
    engine = on_hardware(device, "f32")
    queries = sequences(14, [900, 800, 500, 300, 40, 30])
    targets = Sequences.of([*queries, *sequences(15, range(50))])
    want = expected(queries, targets)
    assert want.max() > 2048
    (found,) = engine.answers([ScanTile(Sequences.of(queries), targets)])
    assert found.tolist() == want.tolist()


def test_long_targets_have_chains_of_their_own(device):
    engine = on_hardware(device, "f32", LaneSizes(work=1, long_target=60, in_flight=2**20))
    queries = Sequences.of(sequences(16, [90, 80, 70, 30, 20]))
    targets = Sequences.of(sequences(17, [300, 200, 150, *range(60)]))
    (found,) = engine.answers([ScanTile(queries, targets)])
    assert found.tolist() == expected(queries, targets).tolist()
