"""Engine `lanes` beyond what every engine is judged by: overflow, shares, parts, two queries."""

import threading
import time
from dataclasses import replace
from functools import partial
from itertools import product

import moderngl
import numpy as np
import pytest
from cases import CASES, GAP_CASES, groups_in, lanes_options, standing_in
from smaller import smaller

from glsw.alignment.batch import Batch
from glsw.cores import in_threads, limited
from glsw.device.device import DeviceMemoryError
from glsw.engines import auto, engine_of
from glsw.engines.base import ComingScan, Pairs
from glsw.engines.cpu import Cpu
from glsw.engines.lanes import pipeline as of_pipeline, targets as of_targets
from glsw.engines.lanes.engine import Lanes
from glsw.engines.lanes.geometry import (
    BLOCK,
    COMPARE,
    F16,
    F32,
    INT32,
    LIMIT,
    SHARED,
    STORAGE,
    Geometries,
    Geometry,
    LaneSizes,
)
from glsw.engines.lanes.jobs import Queue
from glsw.engines.lanes.own_queries import shares_of
from glsw.engines.lanes.pipeline import Matrices, mirror
from glsw.engines.lanes.rows import (
    PADDING,
    Placed,
    group_of,
    joined,
    profile_heads,
    query_profiles,
    together,
)
from glsw.engines.lanes.targets import Buffers, SortedTargets
from glsw.engines.reference import Reference
from glsw.engines.tiles import ScanTile
from glsw.pairs import many_pairs
from glsw.pairs.many_pairs import index_of
from glsw.run.pool import Runner
from glsw.scoring.positional import PositionalScoring
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, PROTEIN, custom
from glsw.sequences.encoded import Sequences

BLOSUM62 = Scoring.blast("BLOSUM62", 11, 1)
NUMBERS = ("int32", "f32")


def database(seed, count=60, longest=90, letters=20, empty=True):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0 if empty else 1, longest, count)
    return [rng.integers(0, letters, n).astype(np.uint8) for n in lengths]


def expected(scoring, queries, targets):
    return next(Cpu(scoring).answers([ScanTile(queries, targets)]))


@pytest.fixture(params=NUMBERS)
def number(request):
    return request.param


def test_trials_of_what_hardware_computes(device, number):
    """A trial has joined queries where its geometry has; else every device would be at fault."""
    scoring = Scoring.nucleotide()
    engine = Lanes(scoring, device, number=number)
    made = Geometries(scoring, standing_in(device).info, number)
    given = product((60, 3000), range(1, 2 + made.pairs_queries), (False, True), (False, True))
    geometries = {made.of(*shape, joins=joins) for *shape, joins in given}
    assert {each.joined for each in geometries} == {False, True}
    assert all(map(engine.holds, geometries))


@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
def test_mediump_floats_of_opengl_es(device, mode):
    """Scores that need all bits of 16-bit floats, and more."""
    if not device.info.es and device.info.version < (4, 5):
        pytest.skip("takes no shaders of OpenGL ES")
    rng = np.random.default_rng(11)
    base = rng.integers(0, 20, 450)
    sides = []
    for _ in range(2):
        lengths = rng.integers(1, 450, 12)
        changed = [rng.random(n) < 0.1 * k for k, n in enumerate(lengths.tolist())]
        sides.append([np.where(c, rng.integers(0, 20, len(c)), base[: len(c)]) for c in changed])
    queries, targets = (Sequences.of([x.astype(np.uint8) for x in side]) for side in sides)
    scoring = BLOSUM62.in_mode(mode)
    right = expected(scoring, queries, targets)
    assert ((right > 1023) & (right < 2048)).any()
    options = {"rows": 8, "chain": 1, "workgroup": 8, "query_profile": "shared"}
    engine = Lanes(scoring, device, number="mediump", **options)
    (found,) = engine.answers([ScanTile(queries, targets)])
    assert found.tolist() == right.tolist()


def test_scan_in_parts_equals_the_cpu(device, number):
    every = database(1)
    rng = np.random.default_rng(2)
    queries = Sequences.of([*database(3, 5), every[7], rng.integers(0, 20, 300).astype(np.uint8)])
    parts = [Sequences.of(part) for part in (every[:20], [], every[20:21], every[21:])]
    asked = []

    def listed():
        for part in parts:
            asked.append(len(part))
            yield part

    engine, cells = Lanes(BLOSUM62, device, number=number), []
    found = []
    tiles = (ScanTile(queries, part) for part in listed())
    for part in engine.answers(tiles, progress=cells.append):
        found.append(part)
        assert len(asked) <= len(found) + 1, "parts are read ahead by one"
    assert [part.shape for part in found] == [(7, 20), (7, 0), (7, 1), (7, 39)]
    whole = Sequences.of(every)
    assert np.concatenate(found, axis=1).tolist() == expected(BLOSUM62, queries, whole).tolist()
    assert sum(cells) == queries.lengths.sum() * whole.lengths.sum()
    assert engine.memory_used > 0


def test_no_parts_and_no_queries(device, number):
    engine = Lanes(BLOSUM62, device, number=number)
    assert list(engine.answers([])) == []
    (found,) = engine.answers([ScanTile(Sequences.of([]), Sequences.of(database(1, 3)))])
    assert found.shape == (0, 3)


@pytest.mark.parametrize("mode", ["local", "global"])
@pytest.mark.parametrize("number", ["int32", "f32"])
def test_threads_put_scores_in_place(device, mode, number):
    """Those of empty sequences, and those that floats do not hold, too."""
    scoring = Scoring.match_mismatch(100, -60, 90, 30).in_mode(mode)
    rng = np.random.default_rng(6)
    words = [rng.integers(0, 4, n).astype(np.uint8) for n in rng.integers(0, 40, 30)]
    tile = ScanTile(Sequences.of(words), Sequences.of([*words[::-1], words[0][:0], words[0]]))
    engine = Lanes(scoring, standing_in(device), number=number, limits=LaneSizes(block=64))
    with limited(3):
        (found,) = engine.answers([tile])
    (expected,) = Reference(scoring).answers([tile])
    assert found.tolist() == expected.tolist()
    assert (expected >= LIMIT).any()
    assert (expected == 0).any()


def test_an_interrupt_waits_for_threads_that_put_scores_in_place(device, monkeypatch):
    """They read memory that the next download overwrites or frees."""
    slices_of, rounds, ended, interrupted = Queue.slices_of, [], [], threading.Event()

    def late(put, blocks):
        assert interrupted.wait(20)
        time.sleep(0.1)
        ended.append(in_threads(put, blocks))
        return ended[-1]

    def interrupt(self, *given):
        rounds.append(given)
        if len(rounds) == 3:  # while the second one runs, and the scores of the first are put
            interrupted.set()
            raise KeyboardInterrupt
        return slices_of(self, *given)

    monkeypatch.setattr(of_pipeline, "in_threads", late)
    monkeypatch.setattr(Queue, "slices_of", interrupt)
    targets = Sequences.of(database(3))
    queries = Sequences.of([targets.residues[k : k + 20] for k in range(9)])
    limits = LaneSizes(block=64, first_cells=4 * 20 * len(targets.residues))
    engine = Lanes(BLOSUM62, standing_in(device), limits=limits)
    with pytest.raises(KeyboardInterrupt):
        list(engine.answers([ScanTile(queries, targets)] * 2))
    count = len(ended)
    for thread in threading.enumerate():
        if thread.name.startswith("glsw-scores"):
            thread.join()
    assert count == len(ended) > 0


def test_threads_mirror_scores():
    scores = np.random.default_rng(7).integers(0, 99, (1100, 1100)).astype(np.int32)
    expected = np.maximum(scores, scores.T)
    with limited(3):
        mirror(scores)
    assert np.array_equal(scores, expected)


def test_queries_of_similar_length_share_lanes(device):
    queries = Sequences.of(database(4, 8, 60, empty=False))
    engine = Lanes(BLOSUM62, device, number="f32")
    groups = groups_in(together(engine.geometries, queries.lengths, 100))
    assert sorted(joined(groups)["query"].tolist()) == list(range(8))
    assert any(len(each) == 2 for each in groups)
    assert all(
        len(each) == 1
        for each in groups_in(
            together(Lanes(BLOSUM62, device, number="int32").geometries, queries.lengths, 100)
        )
    )


@pytest.mark.parametrize("few", [0, 100])
@pytest.mark.parametrize("large", [1, 2**40])
def test_scores_beyond_the_floats_are_exact(device, large, few):
    rng = np.random.default_rng(5)
    query = rng.integers(0, 20, 900).astype(np.uint8)
    # Scores below, at and above 2048, and far above.
    targets = [query[:n] for n in (*range(330, 420, 3), 900)] + database(6, 20)
    scoring = BLOSUM62
    want = expected(scoring, Sequences.of([query, query[:880]]), Sequences.of(targets))
    assert (want >= LIMIT).sum() > 20
    assert (want < LIMIT).sum() > 20
    queries = Sequences.of([query, query[:880]])
    for small, kind in product((2**25, 1), (Lanes, partial(engine_of, Lanes))):
        limits = LaneSizes(large_pair=large, few_pairs=few, small_part=small)
        engine = kind(scoring, device, number="f32", limits=limits)
        (found,) = engine.answers([ScanTile(queries, Sequences.of(targets))])
        assert found.tolist() == want.tolist()
        assert engine.scores(Batch.one_to_many(query, targets)).tolist() == want[0].tolist()
        parts = [Sequences.of(targets[:20]), Sequences.of(targets[20:])]  # or only uploaded
        found = np.concatenate([*engine.answers(ScanTile(queries, part) for part in parts)], axis=1)
        assert found.tolist() == want.tolist()


def test_exactly_the_limit(device):
    scoring = Scoring.match_mismatch(16, -16, 40, 8)
    query = np.resize(np.array([0, 1, 2, 3, 3, 1], np.uint8), 140)
    targets = [query[:n] for n in (126, 127, 128, 129, 130)]
    found = Lanes(scoring, device, number="f32").scores(Batch.one_to_many(query, targets))
    assert found.tolist() == [16 * n for n in (126, 127, 128, 129, 130)]


def test_matrix_with_scores_of_200(device, number):
    matrix = np.full((24, 24), -150)
    np.fill_diagonal(matrix, 200)
    scoring = Scoring.from_array(matrix, PROTEIN.letters, 300, 20)
    targets = database(8, 40, 60)
    query = np.concatenate(targets[:5])
    found = Lanes(scoring, device, number=number).scores(Batch.one_to_many(query, targets))
    assert found.max() > LIMIT
    want = Reference(scoring).scores(Batch.one_to_many(query, targets))
    assert found.tolist() == want.tolist()


@pytest.mark.parametrize("mismatch", [-3, 0])
def test_nucleotides_with_ambiguous_letters(device, number, mismatch):
    scoring = Scoring.match_mismatch(2, mismatch, 7, 2)
    targets = database(9, 40, 70, letters=len(DNA))
    query = np.concatenate(targets[:4])
    engine = Lanes(scoring, device, number=number)
    assert engine.geometries.profile_memory == (
        COMPARE if mismatch < 0 and device.info.software else engine.geometries.profile_memory
    )
    batch = Batch.one_to_many(query, targets)
    assert engine.scores(batch).tolist() == Reference(scoring).scores(batch).tolist()


@pytest.mark.parametrize("options", [{}, {"query_profile": "shared"}, {"query_profile": "storage"}])
def test_long_targets_get_chains_or_go_elsewhere(device, number, options):
    limits = LaneSizes(longest=80, long_target=40, in_flight=2**10, long_chains=(2, 4))
    hardware = standing_in(device)
    targets = database(10, 80, 100)
    query = np.concatenate(targets[:3])
    batch = Batch.one_to_many(query, targets)
    options = options | {"number": number, "rows": 8, "workgroup": 8, "limits": limits}
    with pytest.raises(ValueError, match="residues: engine 'lanes' takes at most 80"):
        Lanes(BLOSUM62, hardware, **options).scores(batch)
    router = engine_of(Lanes, BLOSUM62, hardware, **options)
    assert router.scores(batch).tolist() == Cpu(BLOSUM62).scores(batch).tolist()
    sorted_targets = router.engine(Lanes).targets.present
    assert [long for _, long in sorted_targets.shares] == [True, False]
    assert len(sorted_targets.beyond) > 0


@pytest.mark.parametrize(
    ("lengths", "queries", "long"),
    [
        ([9000] * 1000, 10**4, 0),  # windows of a genome
        ([400] * 50_000 + [9000] * 10, 10**4, 10),
        ([400] * 50_000 + [8000] * 10, 10**4, 0),
        ([400] * 50_000 + [8000] * 10, 1, 10),
    ],
)
def test_few_targets_are_long(lengths, queries, long):
    targets = Sequences(np.zeros(sum(lengths), np.uint8), np.cumsum([0, *lengths]))
    found = SortedTargets.of(targets, long_apart=True, queries=queries)
    assert [len(share.order) for share, is_long in found.shares if is_long] == [long][: long > 0]


def test_an_engine_that_is_ready_has_the_same_scores(device, number):
    queries, targets = Sequences.of(database(11, 9, 300)), Sequences.of(database(12, 40))
    engine = Lanes(BLOSUM62, standing_in(device), number=number, limits=LaneSizes(first_use=16))
    engine.get_ready(ComingScan(queries.lengths, len(targets.residues), len(queries)))
    (found,) = engine.answers([ScanTile(queries, targets)])
    assert found.tolist() == expected(BLOSUM62, queries, targets).tolist()


def test_residues_that_lay_in_the_memory_of_borders_are_there_for_other_queries(device):
    targets, first = database(12, 40), Sequences.of([np.concatenate(database(11, 9, 300))])
    targets = Sequences.of(targets)
    engine = Lanes(BLOSUM62, standing_in(device), limits=LaneSizes(first_use=16))
    engine.get_ready(ComingScan(first.lengths, len(targets.residues), 1))
    residues = len(targets.residues)
    assert engine.queue.unused_borders.size >= residues
    for queries in first, Sequences.of(database(13, 5, 120)), first:
        (found,) = engine.answers([ScanTile(queries, targets)])
        assert found.tolist() == expected(BLOSUM62, queries, targets).tolist()
        assert -(-residues // 4) * 4 not in [each.size for each in engine.targets.buffers]


@pytest.mark.parametrize(("most", "times"), [(0, 3), (2**16, 1)])
def test_scores_that_may_be_wrong_wait_for_those_of_the_next_queries(
    device, most, times, monkeypatch
):
    smaller(monkeypatch, wrong=most)
    smaller(monkeypatch, groups_of_round=1)  # groups in a round, as on software
    again, exact = [], Lanes.exact

    def watched(engine, pairs, query, target, *progress):
        again.append(len(query))
        return exact(engine, pairs, query, target, *progress)

    monkeypatch.setattr(Lanes, "exact", watched)
    queries = Sequences.of([np.concatenate(database(k, 9, 60)) for k in range(14, 19)])
    targets = Sequences.of([*database(15, 20), *queries])
    engine = Lanes(BLOSUM62, device, number="f32", limits=LaneSizes(floats=100))
    (found,) = engine.answers([ScanTile(queries, targets)])
    assert found.tolist() == expected(BLOSUM62, queries, targets).tolist()
    assert len([count for count in again if count]) == times


def test_ends_and_alignments_come_from_the_router(device):
    batch = Batch.pairwise(database(14, 9), database(15, 9))
    engine = Lanes(BLOSUM62, device)
    with pytest.raises(ValueError, match="engine 'lanes' computes scores only"):
        engine.ends(batch)
    assert engine.paths(batch) is None
    router = engine_of(Lanes, BLOSUM62, device)
    assert router.label == "lanes"
    expected = Reference(BLOSUM62).ends(batch)
    assert router.ends(batch).query_end.tolist() == expected.query_end.tolist()
    assert router.paths(batch).ends.target_end.tolist() == expected.target_end.tolist()


def test_little_memory_changes_nothing(device, number):
    targets = Sequences.of(database(11, 150, 120))
    query = np.concatenate(list(targets)[:8])
    batch = Batch.one_to_many(query, targets)
    want = Cpu(BLOSUM62).scores(batch).tolist()
    for memory in (2**31, 2**16, 2**12):
        engine = Lanes(BLOSUM62, device, number=number, rows=8, memory=memory)
        assert engine.scores(batch).tolist() == want
        assert engine.hints.part <= memory


@pytest.mark.parametrize("workgroup", [1, 2, 128])
def test_any_work_group(device, workgroup):
    targets = database(13, 70)
    batch = Batch.one_to_many(np.concatenate(targets[:3]), targets)
    engine = Lanes(BLOSUM62, device, workgroup=workgroup, rows=8)
    assert engine.scores(batch).tolist() == Cpu(BLOSUM62).scores(batch).tolist()


def test_batches_in_any_order_and_repeated(device, number):
    case = CASES["asymmetric 7 2"]
    engine = Lanes(case.scoring, device, number=number)
    rng = np.random.default_rng(12)
    for chosen in (rng.permutation(len(case.batch)), rng.integers(0, len(case.batch), 50)):
        found = engine.scores(case.batch.select(chosen))
        assert found.tolist() == case.expected.score[chosen].tolist()


def test_options_that_cannot_be(device):
    with pytest.raises(ValueError, match="number 'int8': auto, int32, f16, f32, mediump expected"):
        Lanes(BLOSUM62, device, number="int8")
    with pytest.raises(ValueError, match="query_profile 'cloud': block, shared, storage expected"):
        Lanes(BLOSUM62, device, query_profile="cloud")
    with pytest.raises(ValueError, match="rows 48: 8, 12, 16, 20, 24, 28, 32 expected"):
        Lanes(BLOSUM62, device, rows=48)
    with pytest.raises(ValueError, match=r"workgroup 48: 1, 2, 4, .* 1024 expected"):
        Lanes(BLOSUM62, device, workgroup=48)
    with pytest.raises(ValueError, match="workgroup 4: at least the chain of 8 lanes expected"):
        Lanes(BLOSUM62, device, workgroup=4, chain=8)
    with pytest.raises(ValueError, match=r"chain 3: 1, 2, 4, .* 256 expected"):
        Lanes(BLOSUM62, device, chain=3)
    if not device.info.half:
        with pytest.raises(ValueError, match=r"number 'f16': .* has no 16-bit floats"):
            Lanes(BLOSUM62, device, number="f16")


def profiles_by_definition(queries, placed, scoring, first):
    """Return the words of query_profile.glsl, number by number."""
    layout, letters, strips = placed.geometry, len(scoring.alphabet), int(placed.strips.max())
    heads = profile_heads(placed, first)
    words = np.zeros((len(heads), layout.size(letters) // 4), np.uint32)
    words[:, : layout.head] = heads
    kind = np.int32 if layout.number == INT32 else np.float16
    numbers = words[:, layout.head :].reshape(len(heads), letters + 1, -1).view(kind)
    numbers[:] = PADDING if layout.number == INT32 else -1
    for row, lane in zip(placed.rows, placed.first, strict=True):
        for i, code in enumerate(queries[row["query"]], lane * layout.rows):
            lane_of_all, r = divmod(i, layout.rows)
            strip, lane_of_chain = divmod(lane_of_all, layout.chain)
            word = (r // layout.part_rows * layout.chain + lane_of_chain) * layout.part_rows
            place = (word + r % layout.part_rows) * layout.queries + row["side"]
            scores = scoring.matrix[code]
            scores = scores if layout.number == INT32 else scores / LIMIT
            numbers[row["group"] * strips + strip, 1:, place] = scores
    return words


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("joins", [False, True])
@pytest.mark.parametrize(
    "layout",
    [
        Geometry(INT32, 8, 2, 8, STORAGE, at_once=True),
        Geometry(INT32, 32, 2, 8, SHARED, at_once=True),
        Geometry(F16, 16, 1, 32, SHARED, at_once=True),
        Geometry(F16, 24, 8, 64, SHARED, at_once=True),
        Geometry(F16, 12, 4, 32, SHARED, at_once=True),
        Geometry(F16, 12, 4, 32, SHARED, queries=2, at_once=True),
        Geometry(F32, 8, 8, 32, STORAGE, at_once=True),
        Geometry(F32, 20, 2, 32, SHARED, queries=2, at_once=True),
    ],
)
def test_profiles_are_what_the_shader_says(device, layout, joins, wide):
    rng = np.random.default_rng(7)
    lengths = rng.integers(1, 150, (9, layout.queries)) + 2 * layout.strip
    lengths = np.minimum(lengths, 3 * layout.strip)  # three strips each
    groups = [[[m] for m in some] for some in lengths.tolist()]
    if joins:
        for k, group in enumerate(groups):
            group[k % layout.queries].append(5 + 20 * k)
    first, number = np.arange(9), iter(range(99))
    rows = joined(
        [group_of([[(m, next(number)) for m in stream] for stream in group]) for group in groups]
    )
    scoring = BLOSUM62
    queries = Sequences.of(rng.integers(0, 24, m).astype(np.uint8) for m in rows["length"])
    if wide:  # codes are positions: most of them do not occur
        scoring = PositionalScoring.of(rng.integers(-9, 9, (999, 24)), BLOSUM62)
        queries = Sequences.of(rng.choice(999, m).astype(np.uint16) for m in rows["length"])
    engine = Lanes(scoring, device, limits=LaneSizes(groups=7))
    with device:
        (whole,) = query_profiles(engine, queries, Placed(rows, layout), first)
        found = np.frombuffer(whole.buffer.read(whole.size), np.uint32)
    expected = profiles_by_definition(queries, Placed(rows, layout), scoring, first)
    assert joins or len(expected) == 3 * 9
    assert np.array_equal(found, expected.ravel())


@pytest.mark.parametrize(
    "layout",
    [
        Geometry(INT32, 8, 2, 8, BLOCK),
        Geometry(F16, rows=8, chain=2, workgroup=4, profile_memory=BLOCK),
    ],
)
def test_profiles_of_strips_that_are_bound_one_by_one(device, layout):
    rows = group_of([[(70, 0)]])
    queries = Sequences.of([np.arange(70, dtype=np.uint8) % 24])
    with device:
        apart = query_profiles(Lanes(BLOSUM62, device), queries, Placed(rows, layout), [0])
        found = np.frombuffer(apart[0].buffer.read(), np.uint8)
    expected = profiles_by_definition(queries, Placed(rows, layout), BLOSUM62, [0])
    assert len(apart) == len(expected) == 5
    for section, words in zip(apart, expected, strict=True):
        assert section.start % 256 == 0
        assert np.array_equal(found[section.start :][: section.size].view(np.uint32), words)


@pytest.mark.parametrize("rows", [8, 16, 24, 32])
@pytest.mark.parametrize("chain", [8, 16, 32])
def test_lanes_served_at_once_meet_in_no_bank(chain, rows):
    layout = Geometry(INT32, rows=rows, chain=chain, workgroup=64, profile_memory=SHARED)
    rng = np.random.default_rng(rows)
    for first in range(0, chain, 8):
        letters = rng.integers(0, 25, 8)
        words = 1 + letters * layout.stride + first + np.arange(8)
        assert len(np.unique(words % 8)) == 8


@pytest.mark.parametrize("options", [{}, {"query_profile": "storage"}, {"rows": 12, "chain": 2}])
def test_many_queries_in_one_dispatch(device, number, options, monkeypatch):
    engine = Lanes(BLOSUM62, standing_in(device), number=number, **options)
    ran = []
    slices = Queue.slices_of
    monkeypatch.setattr(
        Queue, "slices_of", lambda self, jobs, *rest: ran.append(jobs) or slices(self, jobs, *rest)
    )
    queries = Sequences.of([*database(21, 60, 40), np.empty(0, np.uint8), *database(22, 2, 200)])
    parts = [Sequences.of(database(23, 50)), Sequences.of(database(24, 3))]
    for part, found in zip(
        parts, engine.answers(ScanTile(queries, part) for part in parts), strict=True
    ):
        assert found.tolist() == expected(BLOSUM62, queries, part).tolist()
    together = [(job.groups, job.strips) for jobs in ran for job in jobs]
    assert max(together)[0] > 2
    if options.get("chain"):
        assert max(groups for groups, strips in together if strips > 1) > 2
    tiles = [ScanTile(queries.part(slice(0, k)), parts[0]) for k in (60, 3, 20, 1)]
    for tile, found in zip(tiles, engine.answers(tiles), strict=True):
        assert found.tolist() == expected(BLOSUM62, tile.queries, tile.targets).tolist()


def test_the_first_round_of_a_scan_is_small(device, number, monkeypatch):
    engine = Lanes(BLOSUM62, standing_in(device), number=number)
    queries, part = Sequences.of(database(61, 12, 60, empty=False)), Sequences.of(database(62, 50))
    groups = groups_in(together(engine.geometries, queries.lengths, len(part)))
    letters = [int(group["length"].sum()) for group in groups]
    rounds, reading = [], Matrices.reading

    def watched(self, done):
        rounds.append(int(done.rows["group"][-1]) + 1)
        return reading(self, done)

    monkeypatch.setattr(Matrices, "reading", watched)
    for cells, first in ((1, 1), (sum(letters[:2]) * len(part.residues) + 1, 3), (2**40, None)):
        limits = LaneSizes(first_cells=cells)
        engine = Lanes(BLOSUM62, standing_in(device), number=number, limits=limits)
        rounds.clear()
        (found,) = engine.answers([ScanTile(queries, part)])
        assert found.tolist() == expected(BLOSUM62, queries, part).tolist()
        assert rounds == ([first, len(groups) - first] if first else [len(groups)])


@pytest.mark.parametrize("at_once", [1, 3])
def test_tasks_follow_one_another_whatever_the_caller_does_between(device, number, at_once):
    engine = Lanes(BLOSUM62, device, number=number)
    queries = Sequences.of([*database(31, 8, 60, empty=False), *[np.full(400, 17, np.uint8)] * 2])
    parts = [Sequences.of([*database(k, 40), np.full(500, 17, np.uint8)]) for k in (32, 33)]
    groups = [queries.part(slice(k, k + at_once)) for k in range(0, len(queries), at_once)]
    tasks = [(some, part) for part in parts for some in groups]
    other = Batch.one_to_many(queries[0], database(34, 30))
    want = Reference(BLOSUM62).scores(other).tolist()
    tiles = (ScanTile(*task) for task in tasks)
    for k, found in enumerate(engine.answers(tiles)):
        assert found.tolist() == expected(BLOSUM62, *tasks[k]).tolist()
        if k % 3 == 1:
            assert engine.scores(other).tolist() == want
    assert k == len(tasks) - 1
    assert found.max() > LIMIT


@pytest.mark.parametrize("room", [2**16, 2**14])  # of shared memory: two rows a word, or one
@pytest.mark.parametrize("scoring", [BLOSUM62, Scoring.match_mismatch(2, -3, 5, 2)])
@pytest.mark.parametrize("options", [{"rows": 8, "chain": 2}, {"rows": 24, "workgroup": 4}])
def test_pairs_that_each_have_their_own_query(device, number, options, scoring, room):
    limits = device.info.limits | {
        "max_shared_memory": min(room, device.info.limits["max_shared_memory"])
    }
    hardware = standing_in(device, limits=limits)
    engine = Lanes(scoring, hardware, number=number, own_queries=True, **options)
    letters = len(scoring.alphabet.letters)
    queries = Sequences.of([*database(41, 50, 70, letters), *database(42, 3, 400, letters)])
    every = [*database(43, 40, 90, letters), *database(44, 3, 300, letters)]
    if number == "f32" and scoring is BLOSUM62:  # a score beyond the floats
        every.append(np.full(250, 17, np.uint8))
        queries = Sequences.of([*queries, np.full(260, 17, np.uint8)])
    targets = Sequences.of(every)
    rng = np.random.default_rng(45)
    index = rng.integers(0, (len(queries), len(targets)), (150, 2)).astype(np.int32)
    index[-1] = len(queries) - 1, len(targets) - 1
    batch = Batch((queries, targets), index)
    done = []
    found = engine.scores(batch, progress=done.append)
    assert found.tolist() == Cpu(scoring).scores(batch).tolist()
    assert sum(done) == batch.cells
    assert not engine.targets.present
    if number == "f32" and scoring is BLOSUM62:
        assert found[-1] > LIMIT
    options = options | {"number": number, "own_queries": False}
    engine = Lanes(scoring, hardware, **options)
    assert engine.scores(batch).tolist() == found.tolist()


@pytest.fixture
def sizes(monkeypatch):
    """The sizes of the buffers that were made."""
    made, make = [], Buffers.make
    monkeypatch.setattr(Buffers, "make", lambda pool, size: made.append(size) or make(pool, size))
    return made


def assert_each_is_given_once(pool, sizes):
    """Nobody else gets a buffer that somebody has taken."""
    taken = [pool.take(size) for size in [*sizes] for _ in "ab"]
    assert len({id(buffer) for buffer in taken}) == len(taken) > 0


def test_batches_follow_one_another(device, number, monkeypatch, sizes):
    """Of equal and other lengths, of queries with many targets, and with targets too long."""
    limits = LaneSizes(longest=120)
    scoring, rng = Scoring.match_mismatch(2, -3, 5, 2), np.random.default_rng(46)
    equal = [Sequences.of(rng.integers(0, 4, (90, 30), np.uint8)) for _ in "ab"]
    other = [Sequences.of(database(seed, 90, 50, 4)) for seed in (47, 48)]
    in_order = index_of(None, 90, 90)
    long = Sequences.of([*other[1], np.zeros(130, np.uint8)])
    batches = [
        Batch(tuple(equal), in_order),
        Batch((equal[0].part(slice(20, 90)),) * 2, in_order[:70]),
        Batch(tuple(other), in_order),
        Batch(tuple(other), rng.integers(0, 90, (70, 2)).astype(np.int32)),
        Batch((other[1], equal[0]), in_order),
        Batch((equal[1], Sequences.of([np.empty(0, np.uint8)] * 90)), in_order),
        Batch.one_to_many(equal[0][0], other[0]),
        Batch((other[0], long), np.stack([in_order[:, 0], in_order[::-1, 0] + 1], axis=1)),
        Batch(tuple(equal[::-1]), rng.permutation(90)[:, None].repeat(2, 1).astype(np.int32)),
        Batch(tuple(equal), in_order[:0]),
    ]
    hardware = standing_in(device)
    options = {"number": number, "limits": limits, "own_queries": True}
    engine = Lanes(scoring, hardware, **options)
    engine.rest = lambda batch, progress: Reference(scoring).scores(batch)
    expected = [Reference(scoring).scores(batch).tolist() for batch in batches]
    done = []
    found = list(engine.answers(map(Pairs, batches), progress=done.append))
    assert [each.tolist() for each in found] == expected
    assert sum(done) >= sum(batch.cells for batch in batches[:4])
    assert_each_is_given_once(engine.pool, sizes)
    router = auto.Auto(scoring, hardware, scores_by=Lanes, **options)
    monkeypatch.setattr(
        "glsw.engines.choice.seconds", lambda name, *rest: not name.startswith("lanes")
    )
    found = list(router.answers(map(Pairs, batches)))
    assert [each.tolist() for each in found] == expected


@pytest.mark.parametrize("mode", ["local", "global"])
def test_pairs_out_of_a_table_are_one_tile(device, mode, monkeypatch):
    smaller(monkeypatch, pairs=70)
    scoring, rng = BLOSUM62.in_mode(mode), np.random.default_rng(51)
    some, others = (Sequences.of(database(seed, 40, 90, 20)) for seed in (52, 53))
    some = Sequences.of([*some, np.empty(0, np.uint8)])
    table = np.indices((41, 40)).reshape(2, -1).T.astype(np.int32)
    triangle = np.stack(np.triu_indices(41, 1)).T.astype(np.int32)
    apart = np.indices((20, 20)).reshape(2, -1).T.astype(np.int32) + np.int32([0, 20])
    engine = Lanes(scoring, standing_in(device), own_queries=False)
    tiles, answers = [], engine.answers

    def scanning(each, **options):
        every = list(each)
        tiles.extend(asked for asked in every if isinstance(asked, ScanTile))
        return answers(every, **options)

    monkeypatch.setattr(engine, "answers", scanning)
    for sequences, index, sizes in [
        ((some, others), table, (41, 40)),
        ((some, others), rng.permutation(table)[:500], (41, 40)),
        ((some, others), table[rng.integers(0, 400, 900)], (10, 40)),
        ((some, some), triangle, (41, 41)),
        ((some, some), apart, (20, 20)),
    ]:
        batch = Batch(sequences, index)
        assert engine.is_table(batch)
        done = []
        found = many_pairs.score_pairs(Runner(engine, progress=done.append), batch)
        assert found.tolist() == Cpu(scoring).scores(batch).tolist()
        assert engine.scores(batch).tolist() == found.tolist()
        assert sum(done) == batch.cells
        for tile in tiles:
            assert (len(tile.queries), len(tile.targets)) == sizes
            assert (tile.queries is tile.targets) == (index is triangle)
        assert len(tiles) == 2
        tiles.clear()
    smaller(monkeypatch, table=1639)
    batch = Batch((some, others), table)
    assert (
        many_pairs.score_pairs(Runner(engine), batch).tolist()
        == Cpu(scoring).scores(batch).tolist()
    )
    assert len(tiles) > 10  # the table would need more memory: a tile for each chunk
    engine = Lanes(scoring, standing_in(device))
    assert not engine.is_table(Batch.pairwise(*[Sequences.of(database(54, 9000, 3, 20))] * 2))


LARGE = Scoring.match_mismatch(900_000, -3, 5, 2)


@pytest.mark.parametrize(
    ("scoring", "longest"), [(BLOSUM62, 50), (BLOSUM62.in_mode("global"), 50), (LARGE, 6000)]
)
def test_a_query_that_is_too_long_for_a_target_is_none(device, scoring, longest):
    """Sequences are compared with each other, but for the longest one, which is a query alone."""
    rng = np.random.default_rng(55)
    words = Sequences.of(rng.integers(0, 4, n, np.uint8) for n in (longest, *[20] * 12))
    index = np.indices((13, 12)).reshape(2, -1).T.astype(np.int32) + np.int32([0, 1])
    limits = LaneSizes() if scoring is LARGE else LaneSizes(longest=30)
    engine = Lanes(scoring, standing_in(device), limits=limits, own_queries=False)
    batch = Batch((words, words), index)
    assert engine.is_table(batch)
    assert engine.scores(batch).tolist() == Reference(scoring).scores(batch).tolist()


def test_letters_of_pairs_that_floats_do_not_hold_are_uploaded_once(device, monkeypatch, sizes):
    rng = np.random.default_rng(49)
    scoring = Scoring.match_mismatch(10, -9, 20, 5)  # few letters: floats fit shared memory
    queries, targets = (
        Sequences.of([np.full(n, 1, np.uint8) for n in rng.integers(150, 300, 40)]) for _ in "ab"
    )
    shuffled = rng.permutation(40)[:, None].repeat(2, 1).astype(np.int32)
    every = [Batch((queries, targets), each) for each in (index_of(None, 40, 40), shuffled)]
    every += [Batch((targets, queries), shuffled[:30]), Batch((queries, queries), shuffled)]
    uploaded, filled = [], Buffers.filled

    def counting(self, content, **options):
        uploaded.append(id(content))
        return filled(self, content, **options)

    monkeypatch.setattr(Buffers, "filled", counting)
    engine = Lanes(scoring, standing_in(device), number="f32", own_queries=True)
    shares = shares_of(engine, every[0], engine.geometries.number)
    assert {part.geometry.number for share in shares for part in share.parts} == {F32}
    found = [each.tolist() for each in engine.answers(map(Pairs, every))]
    assert found == [Cpu(scoring).scores(batch).tolist() for batch in every]
    assert min(map(min, found)) < LIMIT < max(map(max, found))
    assert [uploaded.count(id(each.residues)) for each in (queries, targets)] == [1, 1]
    assert_each_is_given_once(engine.pool, sizes)


@pytest.mark.parametrize("seed", range(10))
def test_pairs_with_their_own_queries_by_any_geometry(device, seed):
    rng = np.random.default_rng(seed)
    scoring = BLOSUM62 if seed % 2 else Scoring.match_mismatch(2, -3, 5, 2)
    letters = len(scoring.alphabet)
    queries = Sequences.of(database(seed + 100, 20, 60, letters))
    targets = Sequences.of(database(seed + 200, 20, 90, letters))
    index = rng.integers(0, 20, (60, 2)).astype(np.int32)
    batch = Batch((queries, targets), index)
    options = lanes_options(rng) | {"rows": 8, "workgroup": 2 ** (seed % 6)}
    options["chain"] = min(options.get("chain", 1), options["workgroup"])
    engine = engine_of(Lanes, scoring, standing_in(device), **options, own_queries=True)
    assert engine.scores(batch).tolist() == Cpu(scoring).scores(batch).tolist(), options


@pytest.mark.parametrize("workgroup", [1, 2, 4, 32, 256, None])
@pytest.mark.parametrize("subgroup_size", [0, 4, 32, 64])
def test_work_groups_hold_whole_chains(device, workgroup, subgroup_size):
    info = replace(standing_in(device).info, subgroup_size=subgroup_size)
    for scoring, number, m in product(
        (BLOSUM62, Scoring.match_mismatch(2, -3, 5, 2)), NUMBERS, (1, 30, 70, 500, 9000)
    ):
        made = Geometries(scoring, info, number, workgroup=workgroup)
        chosen = made.of_pairs(m, made.number, 20)
        assert chosen.workgroup % chosen.chain == 0
        assert chosen.subgroups == (subgroup_size >= chosen.chain)
        for queries, long in product((1, 2), (False, True)):
            usual = made.of(m, queries, long)
            assert usual.workgroup % usual.chain == 0


@pytest.mark.parametrize(
    ("vendor", "most"),
    [("Intel", (40, 32, 32, 24)), ("Apple", (40, 40, 32, 32)), ("AMD", (64, 64, 64, 64))],
)
@pytest.mark.parametrize("subgroup_size", [0, 32])
def test_lanes_have_no_more_cells_than_registers_hold(device, vendor, most, subgroup_size):
    """More rows, or columns of a step, would spill: see tools/vendors/rows.ndjson."""
    info = replace(standing_in(device).info, vendor=vendor, subgroup_size=subgroup_size)
    positional = GAP_CASES["profiles, gaps by position"].scoring
    scorings = product((BLOSUM62, positional), ("local", "global"))
    for (scoring, mode), cells in zip(scorings, most, strict=True):
        made = Geometries(scoring.in_mode(mode), info, "int32")
        for m, long in product((1, 60, 200, 500, 9000), (False, True)):
            chosen = made.of(m, 1, long)
            assert chosen.rows * chosen.step <= cells
        for m in (1, 60, 200, 500):
            chosen = made.of_pairs(m, INT32, 21)
            assert chosen.rows * chosen.step <= cells


def test_buffers_that_queued_work_reads_are_not_used_again(device):
    buffers = Buffers(device)
    read, free = buffers.take(2000), buffers.take(2000)
    buffers.give_when_read([read])
    buffers.give([free])
    assert buffers.take(2000) is free
    assert buffers.take(2000) is not read
    buffers.give(buffers.behind())
    assert buffers.take(2000) is read
    assert buffers.behind() == []


@pytest.mark.parametrize("number", NUMBERS)
def test_targets_that_do_not_fit_beside_others_are_uploaded_later(device, number, monkeypatch):
    queries, first, second = (Sequences.of(database(seed)) for seed in (5, 6, 7))
    engine = Lanes(BLOSUM62, standing_in(device), number=number, limits=LaneSizes(small_part=0))
    take, refused = engine.pool.take, []

    def short(size):
        if size == second.size and engine.targets.present.sequences is first:
            refused.append(size)
            raise DeviceMemoryError("no memory")
        return take(size)

    monkeypatch.setattr(engine.pool, "take", short)
    tiles = [ScanTile(queries, first), ScanTile(queries, second)]
    for tile, found in zip(tiles, engine.answers(iter(tiles)), strict=True):
        assert found.tolist() == expected(BLOSUM62, tile.queries, tile.targets).tolist()
    assert len(refused) == 1


def test_free_buffers_are_released_for_new_ones(device, monkeypatch):
    made, buffers = of_targets.new_buffer, Buffers(device)
    free = buffers.take(4000)
    buffers.give([free])

    def short(device, size):
        if not isinstance(free.mglo, moderngl.InvalidObject):
            raise DeviceMemoryError("no memory")
        return made(device, size)

    monkeypatch.setattr(of_targets, "new_buffer", short)
    assert buffers.make(2000).size == 2000
    assert buffers.take(2000).size >= 2000


def test_the_longest_unused_buffers_are_released(device):
    buffers = Buffers(device, 11_000)
    first, second, other, last = [buffers.take(size) for size in (4000, 4000, 2000, 4000)]
    buffers.give([first, second, other])
    assert buffers.take(4000) is first
    buffers.give([first, last])  # together too large by the second
    assert isinstance(second.mglo, moderngl.InvalidObject)
    assert buffers.take(2000) is other
    assert [buffers.take(4000), buffers.take(4000)] == [first, last]
    buffers.give([first, last])
    buffers.release_down_to(0)
    assert isinstance(last.mglo, moderngl.InvalidObject)
    assert buffers.take(4000) not in (first, last)


@pytest.mark.parametrize("letters", [24, 60, 255])
def test_pairs_have_own_queries_if_scores_of_letters_fit(device, letters):
    matrix = np.eye(letters, dtype=np.int32)
    scoring = Scoring(matrix, custom([f"{k:03}" for k in range(letters)]), 2, 1, "many")
    info = standing_in(device).info
    assert Geometries(scoring, info, "int32").own_queries == (letters < 255)
