"""How engine `lanes` lays out pairs that each have their own query."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from cases import standing_in

from glsw.alignment.batch import Batch
from glsw.engines import Lanes, engine_of
from glsw.engines.auto import Auto
from glsw.engines.base import ScanHints
from glsw.engines.cpu import Cpu
from glsw.engines.lanes import own_queries
from glsw.engines.lanes.geometry import INT32, Geometries, Limits, rows_of_strips
from glsw.engines.lanes.own_queries import shares_of
from glsw.pairs import many_pairs
from glsw.run.pool import Runner
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

BLOSUM62 = Scoring.blast("BLOSUM62", 11, 1)


def planner(device, number, limits=Limits()):  # noqa: B008
    info = standing_in(
        device,
        subgroup_size=32,
        limits=device.info.limits | {"max_shared_memory": 2**16},
    ).info
    geometries = Geometries(BLOSUM62, info, number, limits=limits)
    return SimpleNamespace(scoring=BLOSUM62, geometries=geometries)


def random_batch(seed, count, queries, targets, together=False):
    rng = np.random.default_rng(seed)
    sides = [
        Sequences.of([rng.integers(0, 20, n, np.uint8) for n in rng.integers(*each, count)])
        for each in (queries, targets)
    ]
    index = rng.integers(0, count, (2 * count, 2)).astype(np.int32)
    return Batch.pairwise(*sides) if together else Batch(tuple(sides), index)


def section(share, number):
    start, size = share.bounds[number]
    assert start % 256 == 0
    return share.content[start // 4 : (start + size) // 4]


CASES = {
    "several numbers": random_batch(1, 3000, (0, 500), (0, 300)),
    "in order": random_batch(2, 800, (30, 90), (20, 700), together=True),
    "equal": random_batch(3, 100, (50, 51), (60, 61), together=True),
    "too many lengths for short keys": random_batch(4, 90, (1, 900), (0, 20_000)),
    "no letters": random_batch(5, 50, (20, 30), (0, 1)),
    "no pairs": random_batch(6, 50, (20, 30), (9, 10)).select(slice(0)),
}


@pytest.mark.parametrize("number", ["int32", "f32"])
@pytest.mark.parametrize("name", CASES)
def test_every_pair_with_letters_has_one_place(device, name, number):
    batch, engine = CASES[name], planner(device, number)
    shares = shares_of(engine, batch, engine.geometries.number)
    placed = [share.order[share.order < len(batch)] for share in shares]
    wanted = np.flatnonzero(batch.lengths.all(axis=1))
    assert np.sort(np.concatenate([[], *placed])).tolist() == wanted.tolist()
    assert len(shares) <= 2
    for share in shares:
        _check_places(batch, share)
        for k, (part, first, places) in enumerate(parts_of(share)):
            assert first % 64 == 0
            _check_part(batch, part, places)
            assert section(share, 5 + k).tolist() == part.border_columns.tolist()


def _check_places(batch, share):
    """Places and slots of queries and of targets."""
    geometry = share.parts[0].geometry
    there = share.order < len(batch)
    for side in range(2):
        places = section(share, 3 + side).reshape(-1, 2)
        assert places[there, 1].tolist() == batch.lengths[share.order[there], side].tolist()
        offsets = batch.sequences[side].offsets[batch.index[:, side]]
        assert places[there, 0].tolist() == offsets[share.order[there]].tolist()
        assert not places[~there, 1].any()
        slots = section(share, 1 + side).reshape(-1, 4)
        assert (
            slots[:, 2:].tolist()
            == np.broadcast_to(places[:, 1].reshape(-1, geometry.targets), (len(slots), 2)).tolist()
        )
        longest = places[:, 1].reshape(-1, geometry.targets).max(axis=1)
        assert slots[:, 1].tolist() == (-(-longest.astype(int) // geometry.step)).tolist()
        assert slots[:, 0].tolist() == [0, *np.cumsum(slots[:, 1] + 1)[:-1].tolist()]
        assert share.words[side] >= slots[-1, :2].sum() + 1


def parts_of(share):
    """Yield the parts of a share, the first slot of each, and the pairs in its places."""
    first = 0
    for part in share.parts:
        targets = part.geometry.targets
        yield part, first, share.order[first * targets :][: part.slots * targets]
        first += part.slots


def _check_part(batch, part, places):
    geometry, strips = part.geometry, part.strips
    own = places[places < len(batch)]
    assert len(own) > 0
    m, n = batch.lengths[own].T
    assert m.max() <= strips * geometry.strip
    assert (np.diff(n) <= 0).all()
    assert part.useful == m @ n
    assert part.slots % max(64, geometry.chains) == 0
    groups = np.resize(np.append(n, np.zeros(len(places) - len(own), int)), len(places))
    longest = groups.reshape(-1, geometry.group).max(axis=1)
    columns = -(-longest // geometry.step) * geometry.step * geometry.chains
    assert np.diff(part.border_columns).tolist() == columns.tolist()


def test_kinds_that_cost_little_more_are_joined(device):
    batch = random_batch(7, 4000, (10, 600), (50, 90))
    number = planner(device, "f32").geometries.number

    def kinds(**limits):
        engine = planner(device, "f32", Limits(**limits))
        return [
            (part.geometry, part.strips, np.count_nonzero(places < len(batch)))
            for share in shares_of(engine, batch, engine.geometries.number)
            for part, _, places in parts_of(share)
        ]

    def cost(some):
        return sum(rows_of_strips(geometry, strips) * pairs for geometry, strips, pairs in some)

    joined = kinds()
    alone = kinds(waste=0)
    assert len(joined) < 0.7 * len(alone)
    assert sum(pairs for *_, pairs in joined) == sum(pairs for *_, pairs in alone) == len(batch)
    assert cost(alone) < cost(joined) < 1.04 * cost(alone)
    assert {geometry.number for geometry, *_ in joined} == {INT32, number}


def test_a_thread_lays_out_the_chunks_of_many_pairs(device, monkeypatch):
    monkeypatch.setattr(many_pairs, "_MAX_PAIRS", 70)
    batch = random_batch(8, 100, (0, 60), (0, 90))
    options = {"number": "f32", "rows": 8, "workgroup": 8, "own_queries": True}
    router = engine_of(Lanes, BLOSUM62, standing_in(device), **options)
    threads, laid_out = [], own_queries._kinds

    def kinds(*args):
        threads.append(threading.current_thread().name)
        return laid_out(*args)

    monkeypatch.setattr(own_queries, "_kinds", kinds)
    found = many_pairs.score_pairs(Runner(router), batch)
    assert found.tolist() == Cpu(BLOSUM62).scores(batch).tolist()
    assert threads == ["glsw-ahead_0"] * 3
    options["own_queries"] = False  # there is nothing to lay out
    router = engine_of(Lanes, BLOSUM62, standing_in(device), **options)
    assert many_pairs.score_pairs(Runner(router), batch).tolist() == found.tolist()
    assert len(threads) == 3


def test_auto_has_small_pairs_join_larger_ones(device, monkeypatch):
    router = Auto(BLOSUM62, standing_in(device))

    def engine(kind):
        hints = ScanHints(targets_at_once=2**16)
        way = kind(BLOSUM62, standing_in(device)).way if kind is Lanes else None
        return SimpleNamespace(name=kind.name, hints=hints, fits=lambda asked: True, way=way)

    monkeypatch.setattr(router, "engine", engine)

    def chosen(batch, ends=False):
        choices = router._choices(batch, "ends" if ends else "score")
        every = np.arange(len(batch))
        pairs = np.sort(np.concatenate([every[pairs] for _, pairs in choices]))
        assert pairs.tolist() == list(range(len(batch)))
        return {name for name, _ in choices}

    many = random_batch(9, 20_000, (10, 500), (10, 500), together=True)
    assert chosen(many) == {"lanes"}
    assert "lanes" not in chosen(many, ends=True)
    assert chosen(many.select(np.flatnonzero(many.lengths.max(axis=1) < 20))) == {"scan"}
    sizes = {}
    for longest in (600, 9000):  # a few pairs, which others join or not
        few = Sequences.of([np.zeros(longest, np.uint8)] * 3)
        sides = [Sequences.concatenated([side, few]) for side in many.sequences]
        sizes[longest] = chosen(Batch.pairwise(*sides))
    assert sizes[600] == {"lanes"}
    assert len(sizes[9000]) > 1
    one = Batch.one_to_many(np.zeros(200, np.uint8), many.targets)  # with a query profile
    assert chosen(one) == {"lanes"}
    assert router._choices(many.select(slice(0)), "score") == []
