"""Alignments traced back on the device: the same as the host's, whatever is kept on the way."""

from itertools import product

import cases
import naive
import numpy as np
import pytest
from cases import (
    CASES,
    COMPUTE,
    Case,
    able,
    build,
    judge,
    judge_paths,
    label,
    long_pairs_by_blocked,
)
from hypothesis import given, settings, strategies as st
from subtests import with_subtests
from test_engines import small_cases

import glsw.engines.choice
from glsw.alignment.batch import Batch, Mask
from glsw.alignment.paths import DIAGONAL, LEFT, UP
from glsw.alignment.traceback import best_end
from glsw.device.info import DeviceInfo
from glsw.engines import ENGINES, Auto, Blocked, Diagonal, Reference, tiled
from glsw.engines.base import ComingScan, Pairs
from glsw.engines.reference import rows
from glsw.engines.regions import enclosing
from glsw.engines.scan import Scan
from glsw.engines.tiled import kept_binding
from glsw.pairs.align_pairs import aligned
from glsw.scoring.scoring import Scoring

NAMES = sorted({name for name, _ in cases.path_configurations()})
# Every pair of these cases with all options; every third pair of the others with the usual ones.
THOROUGH = (
    *("BLOSUM62 12 1", "BLOSUM62 8 8", "asymmetric 7 2", "two letters 2 1", "two letters 0 0"),
    *("mismatch 0, 2 1", "mismatch 0, 0 0"),
)
SOME = [CASES[name] for name in ("BLOSUM62 12 1", "two letters 2 1")]
# Memory, spacing and the like, of the same programs: none of them may change a result.
KEPT = {
    "diagonal": [
        *({"workgroup": 2, "spacing": spacing} for spacing in (1, 2, 3, 5, 100)),
        *({"workgroup": 2, "memory": memory} for memory in (1, 10_000, 30_000, 100_000, 10**6)),
    ],
    "blocked": [
        {"workgroup": 2, "columns": 8, "memory": memory, "prune": prune, "ahead": ahead}
        for memory, (prune, ahead) in product(
            (1000, 3000, 8000, 20_000, 60_000, 10**6),
            ((False, 1), (True, 1), (False, 7), (True, 99)),
        )
    ],
    "scan": [
        {"workgroup": 4, "columns": 8, "rows": rows, "memory": memory}
        for rows, memory in product((8, 40), (1, 40_000, 10**7))
    ],
}
SHAPES = {
    "diagonal": [{"workgroup": workgroup} for workgroup in (1, 2, 4, 16)],
    "blocked": [
        {"workgroup": workgroup, "columns": columns, "rows": rows}
        for workgroup, columns, rows in ((1, 4, 8), (2, 8, 4), (1, 6, 8), (4, 32, 8), (8, 16, 2))
    ],
    "scan": [
        {"workgroup": workgroup, "columns": columns, "rows": rows}
        for workgroup, columns, rows in ((2, 4, 8), (8, 32, 24), (16, 1, 100))
    ],
}


@pytest.fixture(params=cases.path_configurations(), ids=label)
def make(request, device):
    """``make(scoring)``: the engine under test."""
    able(device, COMPUTE)
    return lambda scoring: build(request.param, scoring, device)


@pytest.fixture(params=NAMES)
def usual(request, device):
    """``usual(scoring, **options)``: the engine under test, by default with its own options."""
    able(device, COMPUTE)
    return lambda scoring, **options: build((request.param, options), scoring, device)


def relatives(seed, lengths, letters=20):
    """Return a batch of pairs of such lengths, each with gaps here and there and a long one."""
    rng = np.random.default_rng(seed)
    pairs = []
    for length in lengths:
        query = rng.integers(0, letters, length).astype(np.uint8)
        target = np.delete(query, np.arange(length // 3, length // 2))
        target = np.insert(target, length // 5, rng.integers(0, letters, length // 8))
        pairs.append((query, cases.mutated(rng, letters, target)))
        pairs.append(pairs[-1][::-1])
    return Batch.pairwise(*zip(*pairs, strict=True))


def coordinates(paths):
    """Return the coordinates of all alignments as lists."""
    return [paths.coordinates(p).tolist() for p in range(len(paths))]


def everything(paths):
    """Return what may not change."""
    return paths.ends.score.tolist(), coordinates(paths)


@with_subtests("name", THOROUGH)
def test_equal_those_of_the_host(make, name):
    judge_paths(make(CASES[name].scoring), CASES[name])


@with_subtests("name", [name for name in CASES if name not in THOROUGH])
def test_equal_those_of_the_host_with_any_scoring(usual, name):
    case = CASES[name].part(slice(name.startswith("limit"), None, 3))
    judge_paths(usual(case.scoring), case)


@with_subtests("name", ["DNA 10 1", "two letters 0 0", "asymmetric 7 2"])
def test_scores_recomputed_from_the_paths(make, name):
    case = CASES[name]
    engine = make(case.scoring)
    paths = engine.paths(case.batch)
    for p, found in enumerate(coordinates(paths)):
        alignment = *case.batch.pair(p), case.scoring, np.array(found)
        assert naive.path_score(*alignment) == case.expected.score[p], case.describe(p)


def test_runs_are_moves_from_the_end_to_the_start(make):
    case = CASES["two letters 2 1"]
    paths = make(case.scoring).paths(case.batch)
    assert paths.runs.dtype == np.uint32
    assert set((paths.runs & 3).tolist()) == {LEFT, UP, DIAGONAL}
    assert (paths.runs >> 2).min() > 0
    for p, score in enumerate(case.expected.score):
        assert bool(len(paths[p])) == bool(score)
        assert not score or {int(paths[p][k]) & 3 for k in (0, -1)} == {DIAGONAL}


def test_ends_are_those_of_ends(make):
    case = CASES["two letters 1 1"]
    engine = make(case.scoring)
    paths, ends = engine.paths(case.batch), engine.ends(case.batch)
    for field in ("score", "query_end", "target_end"):
        assert getattr(paths.ends, field).tolist() == getattr(ends, field).tolist()


def test_nothing_to_align(usual):
    engine = usual(SOME[0].scoring)
    nothing = engine.paths(SOME[0].batch.select([]))
    assert len(nothing.ends) == len(nothing.runs) == 0
    empty, letter, other = np.zeros(0, np.uint8), cases.codes(0), cases.codes(4)
    batch = Batch.pairwise(
        [empty, empty, letter, letter, letter], [empty, letter, empty, other, letter]
    )
    paths = engine.paths(batch)
    assert paths.ends.score.tolist()[:4] == [0, 0, 0, 0]
    assert coordinates(paths) == [[[0], [0]]] * 4 + [[[0, 1], [0, 1]]]


def test_bad_arguments(usual):
    engine = usual(Scoring.match_mismatch(10**6, -(10**6), 10**6, 10**6))
    letters = np.zeros(2148, np.uint8)
    with pytest.raises(ValueError, match="2148000000"):
        engine.paths(Batch.pairwise([letters], [letters]))


# What changes no result.


@with_subtests("case", SOME)
def test_order_of_the_pairs_and_repetition(make, case):
    order = np.random.default_rng(4).permutation(len(case.batch))[::2]
    order = np.append(order, order[:10])
    engine = make(case.scoring)
    expected = coordinates(engine.paths(case.batch))
    shuffled = coordinates(engine.paths(case.batch.select(order)))
    assert shuffled == [expected[p] for p in order]


@with_subtests("case", SOME)
def test_one_pair_at_a_time(make, case):
    engine = make(case.scoring)
    for p in range(0, len(case.batch), 3):
        paths = engine.paths(case.batch.select([p]))
        end = int(case.expected.query_end[p]), int(case.expected.target_end[p])
        assert coordinates(paths) == [case.alignment(p, end).tolist()], case.describe(p)


@with_subtests("gaps", [(12, 1), (6, 6)])
@pytest.mark.parametrize("name", KEPT)
def test_memory_and_spacing_change_nothing(device, name, gaps):
    able(device, COMPUTE)
    scoring = Scoring.named("BLOSUM62", *gaps)
    batch = relatives(gaps, (40, 130, 300, 301))
    host = Case("relatives", scoring, batch)
    judge_paths(build((name, KEPT[name][0]), scoring, device), host)
    found = [
        everything(build((name, options), scoring, device).paths(batch)) for options in KEPT[name]
    ]
    for options, other in zip(KEPT[name], found, strict=True):
        assert other == found[0], options


@with_subtests("name, options", [(name, options) for name in SHAPES for options in SHAPES[name]])
def test_shapes_of_tiles_change_nothing(device, name, options):
    able(device, COMPUTE)
    scoring = Scoring.named("BLOSUM62", *(6, 6) if options["workgroup"] == 2 else (12, 1))
    case = Case("relatives", scoring, relatives(10, (33, 140, 250)))
    judge_paths(build((name, options), scoring, device), case)
    judge_paths(build((name, options | {"memory": 10_000}), scoring, device), case)


def test_progress_is_all_cells(usual):
    case = SOME[0]
    finished = []
    usual(case.scoring).paths(case.batch, progress=finished.append)
    assert sum(finished) == case.batch.cells
    assert min(finished) >= 0


def test_engines_take_turns_on_a_device(make):
    first, second = (CASES[name] for name in ("BLOSUM62 12 1", "two letters 2 1"))
    engines = [make(case.scoring) for case in (first, second)]
    for k in range(2):
        judge_paths(engines[0], first.part(slice(80 + k, None, 2)))
        judge_paths(engines[1], second.part(slice(80 + k, None, 2)))
    part = first.part(slice(90, 100))
    assert engines[0].scores(part.batch).tolist() == part.expected.score.tolist()
    judge_paths(engines[0], part)


def test_auto_mixes_engines(device, monkeypatch):
    able(device, COMPUTE)
    monkeypatch.setattr(glsw.engines.choice, "seconds", long_pairs_by_blocked)
    for case in SOME:
        engine = Auto(case.scoring, device)
        judge_paths(engine, case)
        assert "diagonal" in engine.label
        assert "blocked" in engine.label


# Memory.


@with_subtests("memory", [1, 1000, 20_000])
def test_too_little_memory(usual, memory):
    case = SOME[0].part(slice(100, None, 4))
    judge_paths(usual(case.scoring, memory=memory), case)


@pytest.mark.parametrize("memory", [60_000, 100_000, 10**6])
def test_scan_keeps_rows_where_directions_do_not_fit(device, memory, loaded):
    able(device, COMPUTE)
    case = Case("relatives", SOME[0].scoring, relatives(4, (500,)))
    engine = Scan(case.scoring, device, workgroup=8, columns=8, rows=16, memory=memory)
    judge_paths(engine, case)
    assert any(macros.get("AGAIN") for _, macros in loaded) == (memory < 10**6)
    assert engine.memory_used <= memory or memory < 10**6


@pytest.mark.parametrize("name", ["diagonal", "scan"])
def test_a_trace_of_several_dispatches_leaves_each_block_once(device, monkeypatch, name):
    able(device, COMPUTE)
    monkeypatch.setattr(f"glsw.engines.{name}.MAX_ROUNDS", 400)  # lengths of 1000: three of them
    case = Case("relatives", SOME[0].scoring, relatives(4, (500,)))
    words = {"diagonal": {"workgroup": 8}, "scan": {"workgroup": 8, "columns": 8, "rows": 16}}
    engine = ENGINES[name](case.scoring, device, memory=60_000, **words[name])
    judge_paths(engine, case)


@pytest.mark.parametrize("memory", [40_000, 60_000, 100_000, 10**6])
def test_diagonal_stays_under_its_memory(device, memory):
    able(device, COMPUTE)
    scoring = Scoring.named("BLOSUM62", 12, 1)
    batch = relatives(8, (30, 90, 200, 300))
    engine = Diagonal(scoring, device, workgroup=1, memory=memory)
    paths = engine.paths(batch)
    assert 0 < engine.memory_used <= memory
    case = Case("relatives", scoring, batch)
    assert paths.ends.score.tolist() == case.expected.score.tolist()
    ample = Diagonal(scoring, device, workgroup=1)
    assert everything(ample.paths(batch)) == everything(paths)
    assert ample.memory_used > 100_000


def test_blocked_reports_its_memory(device):
    able(device, COMPUTE)
    scoring = Scoring.named("BLOSUM62", 12, 1)
    batch = relatives(7, (300,))
    engine = Blocked(scoring, device)
    engine.paths(batch)
    # All directions, 4 bits a cell, fit here.
    assert (batch.query_lengths * batch.target_lengths).max() / 2 < engine.memory_used < 10**6


@pytest.mark.parametrize(("memory", "levels"), [(10**7, 0), (200_000, 1), (20_000, 2), (5000, 3)])
def test_blocked_divides_boxes_again_and_again(device, memory, levels):
    able(device, COMPUTE)
    scoring = Scoring.named("BLOSUM62", 12, 1)
    case = Case("relatives", scoring, relatives(9, (600,)))
    engine = Blocked(scoring, device, workgroup=1, columns=4, memory=memory)
    judge_paths(engine, case)
    kept = [level for level in range(9) if engine.room(kept_binding(level)) > 16]
    assert len(kept) >= levels, kept


@pytest.mark.parametrize("mode", ["local", "global"])
def test_blocked_computes_regions_ahead_at_once(device, monkeypatch, mode):
    able(device, COMPUTE)
    rng = np.random.default_rng(3)
    query = rng.integers(0, 4, 3000).astype(np.uint8)
    target = cases.mutated(rng, 4, query)
    batch = Batch.pairwise([query, query], [target, np.delete(target, np.arange(900, 1700))])
    scoring = Scoring.match_mismatch(5, -4, 10, 1).in_mode(mode)
    filled = []

    def counted(regions):
        filled.append(len(regions))
        return enclosing(regions)

    monkeypatch.setattr(tiled, "enclosing", counted)
    found = {}
    for ahead in (1, 9, 10_000):
        filled.clear()
        engine = Blocked(scoring, device, workgroup=2, columns=16, memory=300_000, ahead=ahead)
        found[ahead] = everything(engine.paths(batch)), len(filled), max(filled)
        assert engine.memory_used <= 300_000
    paths, fills, most = zip(*found.values(), strict=True)
    assert paths[0] == paths[1] == paths[2]
    assert fills[0] > 2 * fills[1] > 2 * fills[2]
    assert most[:2] == (1, 9)
    assert most[2] > 9


def test_blocked_knows_what_a_path_scores_at_kept_borders(device, monkeypatch):
    able(device, COMPUTE)
    scoring = Scoring.named("BLOSUM62", 12, 1)
    seen, score_at = [], Blocked._score_at

    def noted(self, kept, trace, known):
        found = score_at(self, kept, trace, known)
        seen.append((trace, found))
        return found

    monkeypatch.setattr(Blocked, "_score_at", noted)
    batch = relatives(10, (700,))
    for p in range(len(batch)):
        seen.clear()
        options = {"workgroup": 1, "columns": 4, "memory": 20_000}
        Blocked(scoring, device, **options).paths(batch.select([p]))
        h = [row.h for row in rows(*batch.pair(p), scoring)]
        assert len(seen) > 3
        for at, found in seen:
            value = h[at.i][at.j]
            assert found == value if at.gap == 0 else value - 40 < found < value, (p, at)


# Hypothesis


def judge_drawn(device, name, data):
    options = [options for each, options in cases.path_configurations() if each == name]
    options = dict(data.draw(st.sampled_from(options)))
    if data.draw(st.booleans()):
        options["memory"] = data.draw(st.integers(1, 5000))
    case = data.draw(small_cases())
    judge_paths(build((name, options), case.scoring, device), case)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100)
@given(data=st.data())
def test_drawn_cases(device, name, data):
    able(device, COMPUTE)
    judge_drawn(device, name, data)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=2000)
@given(data=st.data())
def test_many_drawn_cases(device, name, data):
    able(device, COMPUTE)
    judge_drawn(device, name, data)


# Software renderers end loops after 65535 rounds.


@pytest.mark.parametrize("kind", [Diagonal, Blocked])
def test_paths_of_many_columns(device, kind):
    able(device, COMPUTE)
    random = np.random.default_rng(2)
    query, target = (random.integers(0, 4, n).astype(np.uint8) for n in (40, 100_000))
    target[100:120], target[90_000:90_020] = query[:20], query[20:]
    scoring = Scoring.match_mismatch(2, -3, 7, 2).in_mode("global")
    batch = Batch.one_to_many(query, [target])
    paths = kind(scoring, device).paths(batch)
    want = Reference(scoring).ends(batch)
    assert paths.ends.score.tolist() == want.score.tolist()
    assert paths.ends.end.tolist() == want.end.tolist()
    coordinates, _ = cases.traced(query, target, scoring, *want.end[0].tolist())
    assert paths.coordinates(0).tolist() == coordinates.tolist()


def test_targets_of_many_columns(device):
    able(device, COMPUTE)
    random = np.random.default_rng(3)
    query, target = (random.integers(0, 4, n).astype(np.uint8) for n in (20, 150_000))
    target[140_000:140_020] = query
    scoring = Scoring.match_mismatch(2, -3, 7, 2)
    batch = Batch.one_to_many(query, [target])
    want = best_end(query, target, scoring)
    auto = Auto(scoring, device)
    assert auto.scores(batch).tolist() == [want[0]]
    ends = auto.ends(batch)
    assert (ends.score[0], ends.query_end[0], ends.target_end[0]) == want
    paths = auto.paths(batch)
    assert paths is not None
    assert (
        paths.coordinates(0).tolist() == cases.traced(query, target, scoring, *want[1:])[0].tolist()
    )
    if device.info.software:
        with pytest.raises(ValueError, match="engine 'diagonal' takes at most 120000 on"):
            Diagonal(scoring, device).scores(batch)
        mask = Mask.nothing(20).with_runs(paths.forwards())
        masked = batch.masked([mask])
        assert auto.fits(Pairs(masked))
        scores, _ = aligned(auto, masked, "conventional")
        assert scores.tolist() == [best_end(query, target, scoring, mask)[0]]


def test_masks_of_many_columns(device):
    """On software renderers a step with masks takes two rounds, and a forbidden pair one more."""
    able(device, COMPUTE)
    random = np.random.default_rng(4)
    query, target = (random.integers(0, 4, n).astype(np.uint8) for n in (64, 100_000))
    target[500:564] = target[99_900:99_964] = query
    batch = Batch.one_to_many(query, [target])
    scoring = Scoring.match_mismatch(2, -3, 7, 2)
    for engine in (Diagonal(scoring, device), Auto(scoring, device)):
        found, masked = [], batch.masked([Mask.nothing(64)])
        for _ in range(2):
            (score,), runs = aligned(engine, masked, "conventional")
            masked = batch.masked([masked.mask(0).with_runs(runs)])
            found.append(score)
        assert found == [128, 128]
    diagonal, many = Diagonal(scoring, device), Mask.of(*np.indices((64, 40)).reshape(2, -1), 64)
    short = Batch.one_to_many(query, [target[:59_000]])
    assert diagonal.fits(Pairs(short.masked([Mask.nothing(64)])))
    assert diagonal.fits(Pairs(short.masked([many]))) == (not device.info.software)
    if device.info.software:
        with pytest.raises(ValueError, match="engine 'diagonal' takes at most 59872 on"):
            diagonal.scores(masked)


def test_scan_traces_many_rows_in_little_memory(device):
    able(device, COMPUTE)
    random = np.random.default_rng(5)
    query, target = (random.integers(0, 4, n).astype(np.uint8) for n in (300_000, 20))
    query[200_000:200_020] = target
    scoring = Scoring.match_mismatch(2, -3, 7, 2)
    paths = Scan(scoring, device, memory=4000).paths(Batch.one_to_many(query, [target]))
    assert paths.ends.score.tolist() == [40]
    assert paths.ends.end.tolist() == [[200_020, 20]]


@pytest.mark.parametrize("registers", [63, 128])
@pytest.mark.parametrize("name", ["diagonal", "blocked"])
def test_devices_of_few_registers(device, monkeypatch, registers, name, loaded):
    """An invocation then computes one column between two barriers, where two would spill."""
    able(device, COMPUTE)
    monkeypatch.setattr(DeviceInfo, "registers", registers)
    every = CASES | cases.END_CASES
    for case in ("BLOSUM62 12 1", "two letters 2 1", cases.END_FEW[0], "DNA 4 4"):
        some = every[case].part(slice(0, None, 3))
        for options in cases.PATH_OPTIONS[name][:3]:
            loaded.clear()
            engine = build((name, options), some.scoring, device)
            judge(engine, some)
            judge_paths(engine, some)
            assert any(macros.get("STEP") == 1 for _, macros in loaded)


@pytest.mark.parametrize(("name", "m"), [("diagonal", 70), ("blocked", 2100)])
def test_programs_are_loaded_before_there_is_anything_to_align(device, name, m, loaded):
    able(device, COMPUTE)
    engine = build((name, {}), CASES["BLOSUM62 12 1"].scoring, device)
    for file, macros in engine.programs(ComingScan(np.array([m]), 0)):
        engine.program(file, **macros)
    assert loaded
    loaded.clear()
    query = np.resize(np.arange(20, dtype=np.uint8), m)
    engine.paths(Batch.one_to_many(query, [query[5:60], query[:7]]))
    assert {name for name, _ in loaded} <= {"checksum.comp"}  # of what is read back
