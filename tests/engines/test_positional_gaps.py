"""Gap costs by position: engines by the judgement of the reference, paths in any memory.

tests/wings/profiles/test_profile_gaps.py judges the reference, and engines, by the definition.
"""

import dataclasses
from itertools import product

import cases
import numpy as np
import pytest
from cases import (
    COMPUTE,
    GAP_CASES,
    able,
    build,
    judge,
    judge_paths,
    label,
    quick,
    standing_in,
    takes,
    traced_with_any_memory,
)
from subtests import with_subtests

from glsw.engines import ENGINES
from glsw.engines.auto import engine_of
from glsw.engines.lanes.engine import Lanes
from glsw.engines.reference import Reference
from glsw.engines.tiles import BoundedTile, ScanTile
from glsw.scoring.gaps import FREE, EndGaps
from glsw.sequences.encoded import Sequences

SCORING = GAP_CASES["profiles, gaps by position"].scoring
ABLE = [each for each in cases.configurations() if takes(each, SCORING)]
PATHS = [each for each in cases.path_configurations() if takes(each, SCORING)]


def built(configuration, scoring, device):
    """Return an engine; skip, or in continuous integration fail, where the device lacks it."""
    able(device, configuration[0])
    return build(configuration, scoring, device)


def path_score(query, target, scoring, coordinates):
    """Return the score of an alignment, column by column."""
    total = 0
    for (j, i), (j_end, i_end) in zip(coordinates.T[:-1], coordinates.T[1:], strict=True):
        if i < i_end and j < j_end:
            total += int(scoring.matrix[query[i:i_end], target[j:j_end]].sum())
        elif i < i_end:
            total -= int(scoring.gaps.opens[query[i]])
            total -= int(scoring.gaps.extends[query[i + 1 : i_end]].sum())
        else:
            total -= int(scoring.gaps.opens[query[i - 1]])
            total -= int(scoring.gaps.extends[query[i - 1]]) * int(j_end - j - 1)
    return total


@with_subtests("name", GAP_CASES)
@pytest.mark.parametrize("configuration", ABLE, ids=label)
def test_equals_the_reference(configuration, name, device):
    case = GAP_CASES[name].part(slice(0, None, 2))
    judge(built(configuration, case.scoring, device), quick(configuration, case))


@with_subtests("name", GAP_CASES)
@pytest.mark.parametrize("configuration", PATHS, ids=label)
def test_paths_are_those_of_the_host(configuration, name, device):
    able(device, COMPUTE)
    case = GAP_CASES[name].part(slice(1, None, 3))
    judge_paths(built(configuration, case.scoring, device), case)


@with_subtests("name", GAP_CASES)
def test_trace_with_any_memory(name):
    case = GAP_CASES[name]
    for p in range(0, len(case.batch), 2):
        query, target = case.batch.pair(p)
        coordinates = traced_with_any_memory(case, p)
        if case.expected.score[p]:
            assert path_score(query, target, case.scoring, coordinates) == case.expected.score[p]


def test_long_pairs_with_pruned_and_kept_tiles(device):
    """Long related sequences: windows, tiles that are left out, kept rows, long gaps."""
    rng = np.random.default_rng(3)
    count = 1500
    target = rng.integers(0, 20, count).astype(np.uint8)
    target = np.concatenate([target[:700], rng.integers(0, 20, 90).astype(np.uint8), target[760:]])
    base = cases.CASES["BLOSUM62 12 1"].scoring
    letters = rng.integers(0, 20, count).astype(np.uint8)
    letters[:] = np.concatenate([target[:700], letters[:60], target[790:]])[:count]
    opens, extends = np.full(count, 12), np.full(count, 1)
    opens[690:770], extends[690:770] = rng.integers(0, 4, 80), 0
    gaps = cases.PositionalGaps(np.maximum(opens, extends), extends)
    scoring = cases.PositionalScoring.of(base.matrix[letters], base, gaps)
    batch = cases.Batch.pairwise([np.arange(count, dtype=np.uint16)], [target])
    case = cases.Case("long", scoring, batch)
    for configuration in (
        ("blocked", {"workgroup": 4, "columns": 64, "memory": 60_000, "prune": True}),
        ("blocked", {"workgroup": 4, "columns": 64, "memory": 30_000, "prune": False}),
        ("diagonal", {"workgroup": 8, "memory": 100_000}),
    ):
        engine = built(configuration, scoring, device)
        judge(engine, case)
        judge_paths(engine, case)
    coordinates = case.alignment(0, tuple(case.expected.end[0].tolist()))
    assert np.diff(coordinates).max() > 600
    assert (np.diff(coordinates) == 0).any()


@with_subtests("options", [{}, {"rows": 8, "chain": 4, "workgroup": 8}])
def test_lanes_with_the_layouts_of_hardware(options, device):
    """All strips in a dispatch, profiles in shared memory."""
    able(device, COMPUTE)
    case = GAP_CASES["profiles, gaps by position"].part(slice(0, None, 2))
    engine = Lanes(case.scoring, standing_in(device), **options)
    assert engine.geometries.of(40).at_once
    assert engine.scores(case.batch).tolist() == case.expected.score.tolist()


COSTS = {  # by position, of so many: to extend a gap, and how much more to open one
    "small": lambda rng, count: (rng.integers(0, 3, count), rng.integers(0, 12, count)),
    "linear": lambda rng, count: (rng.integers(0, 9, count), np.zeros(count, int)),
    "large": lambda rng, count: (rng.integers(0, 9 * 10**5, count), rng.choice([0, 10**5], count)),
}
LENGTHS = 0, 1, 2, 15, 16, 17, 33, 64, 150, 3, 70
"""Of queries: rows of a strip of two lanes are 16, and those after the first 3 share lanes."""


def tile_of(costs):
    """Return queries and targets, each with each, some of them related, and their scoring."""
    rng = np.random.default_rng(21)
    count, base = sum(LENGTHS), cases.CASES["BLOSUM62 12 1"].scoring
    letters = rng.integers(0, 20, count)
    extends, more = COSTS[costs](rng, count)
    gaps = cases.PositionalGaps(extends + more, extends)
    scoring = cases.PositionalScoring.of(base.matrix[letters], base, gaps)
    begin = np.cumsum(LENGTHS) - LENGTHS
    queries = [np.arange(i, i + m, dtype=np.uint16) for i, m in zip(begin, LENGTHS, strict=True)]
    targets = [rng.integers(0, 20, n).astype(np.uint8) for n in (0, 1, 2, 7, 40)]
    for i, m in zip(begin[-5:].tolist(), LENGTHS[-5:], strict=True):
        like = np.where(rng.random(m) < 0.8, letters[i : i + m], 0).astype(np.uint8)
        targets += [like, np.concatenate([like[: m // 3], like[m // 2 :], targets[4]])]
    return scoring, ScanTile(Sequences.of(queries), Sequences.of(targets))


@pytest.mark.parametrize("costs", COSTS)
@with_subtests("free", product((False, True), repeat=4))
def test_lanes_with_each_kind_of_free_ends(device, costs, free):
    """As matrices and as pairs that pass; of many strips, and of queries one behind another."""
    able(device, COMPUTE)
    scoring, tile = tile_of(costs)
    ends = (FREE if each else scoring.largest_costs[0] for each in free)
    scoring = dataclasses.replace(scoring, end_gaps=EndGaps(*ends))
    (expected,) = Reference(scoring).answers([tile])
    for options in ({}, {"rows": 8, "chain": 2, "workgroup": 4}, {"number": "f32", "chain": 1}):
        (found,) = Lanes(scoring, standing_in(device), **options).answers([tile])
        assert found.tolist() == expected.tolist()
    bounds = [np.full(n, np.median(expected), np.int32) for n in expected.shape]
    bounded = BoundedTile(tile.queries, tile.targets, *bounds)
    (passing,) = Lanes(scoring, device).answers([bounded])
    assert all(map(np.array_equal, passing, bounded.answer(expected)))


@with_subtests("mode, free", [("global", "both"), ("semiglobal", "query")])
def test_lanes_prove_their_programs(device, mode, free):
    able(device, COMPUTE)
    scoring = tile_of("small")[0].in_mode(mode, free=free)
    for each in (device, standing_in(device)):
        engine = Lanes(scoring, each)
        assert engine.holds(BoundedTile)
        for geometry in (engine.geometries.of(60), engine.geometries.of(900)):
            assert engine.holds(geometry)


@pytest.mark.parametrize("name", ["diagonal", "blocked", "fragment", "lanes", "auto"])
def test_end_gaps_whose_sums_leave_32_bits(name, device):
    """Costs near the largest, of many positions: each end gap fits, the sum of all does not."""
    able(device, name)
    rng = np.random.default_rng(12)
    count, base = 6000, cases.CASES["BLOSUM62 12 1"].scoring
    letters = rng.integers(0, 20, count)
    extends = rng.integers(800_000, 900_000, count)
    gaps = cases.PositionalGaps(extends + rng.integers(0, 100_000, count), extends)
    scoring = cases.PositionalScoring.of(base.matrix[letters], base, gaps)
    assert int(gaps.extends.sum(dtype=np.int64)) > 2**32
    first = [0, 2700, 4500, count - 61, count - 1, count - 9, 10]
    lengths = [40, 61, 7, 61, 1, 9, 0]
    queries = [np.arange(i, i + m, dtype=np.uint16) for i, m in zip(first, lengths, strict=True)]
    targets = [rng.integers(0, 20, n).astype(np.uint8) for n in (70, 9, 1, 80, 30, 0, 12)]
    batch = cases.Batch.pairwise(queries, targets)
    for mode, free in (("global", "both"), ("semiglobal", "query"), ("semiglobal", "target")):
        case = cases.Case("sums", scoring.in_mode(mode, free=free), batch)
        engine = engine_of(ENGINES[name], case.scoring, device)
        judge(engine, case)
        if name in ("diagonal", "blocked"):
            judge_paths(engine, case)
    longer = cases.Batch.pairwise([np.arange(700, dtype=np.uint16)], [np.zeros(700, np.uint8)])
    with pytest.raises(ValueError, match="too far below 0 for 32 bits"):
        ENGINES[name](scoring.in_mode("global"), device).scores(longer)
