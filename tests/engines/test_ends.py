"""Alignments from end to end, and insertions with costs of their own: engines, reference, paths.

The reference is judged by the definition, with gaps of any length tried one by one, and by
Biopython with twelve gap scores; the engines by the reference; each path by its score counted
again.
"""

import dataclasses

import cases
import naive
import numpy as np
import pytest
from Bio.Align import PairwiseAligner
from Bio.Align.substitution_matrices import Array
from cases import (
    CHUNKED,
    COMPUTE,
    END_CASES,
    Case,
    able,
    build,
    codes,
    judge,
    judge_paths,
    label,
    long_pairs_by_blocked,
    takes,
    traced_with_any_memory,
)
from hypothesis import given, settings, strategies as st
from subtests import with_subtests

import glsw.engines.choice
from glsw.alignment.batch import Batch, Mask
from glsw.alignment.paths import Runs
from glsw.engines import ENGINES, Auto, Blocked, Diagonal, Fragment, Reference
from glsw.engines.reference import fill
from glsw.engines.tiles import ScanTile
from glsw.scoring.gaps import FREE, EndGaps, GapCost, PositionalGaps
from glsw.scoring.positional import PositionalScoring
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import custom

ABLE = [
    name for name in cases.GENERAL if name != "cpu" and "global" in ENGINES[name].capabilities.modes
]
# `cpu` has tests of its own; of the others the first alone has no OpenGL.
LOCAL_ONLY = sorted({*cases.GENERAL} - {*ABLE, "cpu"})
# What is pruned is local: the last of `blocked` is as the one before.
CONFIGURATIONS = [
    each for each in cases.configurations() if each[0] in ABLE and "prune" not in each[1]
]
PATHS = [each for each in cases.path_configurations(1) if each[0] in ABLE]
# With little memory rows (and columns) are kept for a second pass.
KEPT = [
    ("diagonal", {"workgroup": 2, "spacing": 1}),
    ("diagonal", {"workgroup": 2, "memory": 2000}),
    ("blocked", {"workgroup": 2, "columns": 16, "memory": 1000}),
]
SOME = (
    "insertions, ends of their own",
    "semi-global, linear",
    "profiles, gaps by position, global",
)
ABCD = custom("ABCD")
GLOBAL = END_CASES["global"].scoring


@pytest.fixture(params=CONFIGURATIONS, ids=label)
def configuration(request, device):
    able(device, request.param[0])
    return request.param


@pytest.fixture
def make(configuration, device):
    """``make(scoring)``: the engine under test, or `auto` if that takes no such scoring."""
    others = "auto", {}
    return lambda scoring: build(
        configuration if takes(configuration, scoring) else others, scoring, device
    )


def pair(query, target):
    return Batch.pairwise([codes(*query)], [codes(*target)])


# The reference.


def table(query, target, scoring):
    """Return H by its definition: every gap that could end at a cell is looked at."""
    m, n = len(query), len(target)
    start = [[0] * (n + 1) for _ in range(m + 1)]
    h = start if scoring.local else [[-(10**9)] * (n + 1) for _ in range(m + 1)]
    if not scoring.local:
        h[0] = [-naive.cost(query, scoring, "deletion", 0, j, "left") for j in range(n + 1)]
        for i in range(m + 1):
            h[i][0] = -naive.cost(query, scoring, "insertion", 0, i, "left")
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            values = [h[i - 1][j - 1] + int(scoring.matrix[query[i - 1], target[j - 1]])]
            for k in range(1, i + 1):
                values.append(h[i - k][j] - naive.cost(query, scoring, "insertion", i - k, k, None))
            for k in range(1, j + 1):
                values.append(h[i][j - k] - naive.cost(query, scoring, "deletion", i, k, None))
            h[i][j] = max([0, *values] if scoring.local else values)
    return h


def best_end(query, target, scoring):
    """Return the score and the conventional end of alignments from end to end."""
    m, n, h = len(query), len(target), table(query, target, scoring)
    last = [(i, n) for i in range(m)] + [(m, j) for j in range(n + 1)]
    if not m or not n:
        last = [(0, 0), (m, n)]  # one gap is not cut in two
    scores = {
        (i, j): h[i][j]
        - naive.cost(query, scoring, "insertion", i, m - i, "right")
        - naive.cost(query, scoring, "deletion", i, n - j, "right")
        for i, j in last
    }
    end = max(scores, key=lambda end: (scores[end], sum(end), -end[0]))
    return scores[end], *end


@st.composite
def costs(draw, most=4):
    extend = draw(st.integers(0, most))
    return GapCost(extend + draw(st.integers(0, most)), extend)


def no_more_than(cost):
    return st.builds(GapCost, st.integers(0, cost.open), st.integers(0, cost.extend))


@st.composite
def scorings(draw, local=False):
    """Draw small numbers: asymmetric, gaps of each kind and place with costs of their own."""
    matrix = np.array(draw(st.lists(st.integers(-4, 5), min_size=16, max_size=16)))
    deletion = draw(costs())
    insertion = draw(st.one_of(st.just(deletion), costs()))
    if draw(st.booleans()):
        deletion, insertion = (GapCost(each.open, each.open) for each in (deletion, insertion))
    scoring = Scoring.from_array(matrix.reshape(4, 4), "ABCD", *deletion)
    scoring = dataclasses.replace(
        scoring, insertion_open=insertion.open, insertion_extend=insertion.extend
    )
    if local:
        return scoring
    anything = st.builds(GapCost, st.integers(0, 8), st.integers(0, 8))
    choice = draw(st.sampled_from(["global", "semi-global", "own"]))
    if choice == "global":
        return scoring.in_mode("global")
    if choice == "semi-global":
        return scoring.in_mode(
            "semiglobal", free=draw(st.sampled_from(("both", "query", "target")))
        )
    left = draw(anything), draw(anything)
    right = draw(no_more_than(insertion)), draw(no_more_than(deletion))
    return dataclasses.replace(scoring, end_gaps=EndGaps(*left, *right))


@st.composite
def profiles(draw, longest=7):
    """Draw a profile with gap costs by position, not only locally, and one of its queries."""
    under = draw(scorings().filter(lambda each: not each.separate))
    under = dataclasses.replace(under, end_gaps=None)
    every = draw(
        st.lists(costs(), min_size=2, max_size=longest + 3).filter(lambda each: len({*each}) > 1)
    )
    matrix = under.matrix[
        draw(st.lists(st.integers(0, 3), min_size=len(every), max_size=len(every)))
    ]
    scoring = PositionalScoring.of(matrix, under, PositionalGaps(*np.array(every).T))
    free = draw(st.sampled_from([None, "both", "query", "target"]))
    scoring = scoring.in_mode(*("semiglobal",) if free else ("global",), free=free or "both")
    first = draw(st.integers(0, len(every)))
    return scoring, np.arange(first, draw(st.integers(first, len(every))), dtype=np.uint16)


def letters(longest, shortest=0):
    return st.lists(st.integers(0, 3), min_size=shortest, max_size=longest).map(
        lambda x: np.array(x, np.uint8)
    )


@settings(max_examples=200)
@given(letters(7), letters(7), scorings())
def test_reference_is_the_definition(query, target, scoring):
    assert fill(query, target, scoring)[0].tolist() == table(query, target, scoring)
    ends = Reference(scoring).ends(Batch.pairwise([query], [target]))
    found = int(ends.score[0]), int(ends.query_end[0]), int(ends.target_end[0])
    assert found == best_end(query, target, scoring)


@settings(max_examples=300)
@given(profiles(), letters(7))
def test_reference_is_the_definition_by_position(profile, target):
    scoring, query = profile
    assert fill(query, target, scoring)[0].tolist() == table(query, target, scoring)
    ends = Reference(scoring).ends(Batch.pairwise([query], [target]))
    found = int(ends.score[0]), int(ends.query_end[0]), int(ends.target_end[0])
    assert found == best_end(query, target, scoring)


@settings(max_examples=100)
@given(letters(7), letters(7), scorings(local=True))
def test_reference_has_insertions_of_their_own(query, target, scoring):
    h = table(query, target, scoring)
    assert fill(query, target, scoring)[0].tolist() == h
    found = Reference(scoring).scores(Batch.pairwise([query], [target]))
    assert found.tolist() == [max(map(max, h))]


def biopython(scoring):
    """Return Biopython's aligner with the same scores."""
    matrix = Array(scoring.alphabet.letters, dims=2, data=scoring.matrix.T.astype(float))
    aligner = PairwiseAligner(mode="local" if scoring.local else "global")
    aligner.substitution_matrix = matrix
    for kind in ("insertion", "deletion"):
        for place in ("internal", "left", "right"):
            cost = naive.gap(scoring, kind, None if place == "internal" else place)
            setattr(aligner, f"open_{place}_{kind}_score", -cost.open)
            setattr(aligner, f"extend_{place}_{kind}_score", -cost.extend)
    # Its code for linear gaps is wrong where left ends cost more: take that for affine ones.
    aligner.open_internal_insertion_score -= 1e-9
    return aligner


@settings(max_examples=200)
@given(letters(30, 1), letters(30, 1), st.one_of(scorings(), scorings(local=True)))
def test_reference_equals_biopython(query, target, scoring):
    decode = scoring.alphabet.decode
    expected = biopython(scoring).score(decode(target), decode(query))
    scores = Reference(scoring).scores(Batch.pairwise([query], [target]))
    assert scores[0] == pytest.approx(expected, abs=1e-6)


@with_subtests(
    "name", [name for name in END_CASES if not name.startswith(("profiles", "two tracks"))]
)
def test_reference_equals_biopython_in_every_case(name):
    case = END_CASES[name]
    aligner, decode = biopython(case.scoring), case.scoring.alphabet.decode
    for p in range(len(case.batch)):
        query, target = case.batch.pair(p)
        if len(query) and len(target):
            expected = aligner.score(decode(target), decode(query))
            assert case.expected.score[p] == pytest.approx(expected, abs=1e-6), case.describe(p)


def test_reference_of_nothing():
    # Biopython aligns no empty sequences.
    scoring = GLOBAL
    empty, three = [], [0, 1, 2]
    for sides, expected in ((empty, empty), 0), ((empty, three), -11), ((three, empty), -11):
        found = Reference(scoring).ends(pair(*sides))
        assert found.score.tolist() == [expected]


# The engines.


@with_subtests("number, name", enumerate(END_CASES))
def test_equals_the_reference(configuration, device, number, name):
    case = END_CASES[name]
    if not takes(configuration, case.scoring):
        return
    at = cases.OPTIONS.get(configuration[0], ({},)).index(configuration[1])
    if at:  # half of the pairs, in turn
        case = case.part(slice((number + at) % 2, None, 2))
    judge(build(configuration, case.scoring, device), case)


@pytest.mark.parametrize("configuration", PATHS, ids=label)
@with_subtests("name", END_CASES)
def test_paths_equal_those_of_the_host(device, configuration, name):
    able(device, COMPUTE)
    case = END_CASES[name].part(slice(None, None, 3))
    judge_paths(build(configuration, case.scoring, device), case)


@pytest.mark.parametrize("configuration", KEPT, ids=label)
@with_subtests("name", [*SOME, "insertions, linear"])
def test_paths_with_little_memory(device, configuration, name):
    able(device, COMPUTE)
    case = END_CASES[name].part(slice(1, None, 5))
    judge_paths(build(configuration, case.scoring, device), case)


@with_subtests("name", SOME)
@pytest.mark.parametrize("engine", [Diagonal, Blocked, Fragment], ids=lambda each: each.name)
def test_small_chunks(device, engine, name):
    able(device, engine.name)
    case = END_CASES[name]
    judge(engine(case.scoring, device, **CHUNKED[engine.name]), case)


@with_subtests("name", SOME)
def test_order_of_the_pairs_and_repetition(make, name):
    case = END_CASES[name]
    order = np.random.default_rng(3).permutation(len(case.batch))
    order = np.append(order, order[:20])
    engine = make(case.scoring)
    ends = engine.ends(case.batch.select(order))
    for field in ("score", "query_end", "target_end"):
        assert getattr(ends, field).tolist() == getattr(case.expected, field)[order].tolist()
    for p in order[:5].tolist():
        assert engine.scores(case.batch.select([p])).tolist() == [case.expected.score[p]]


def test_shared_sequences_and_progress(make):
    batch = cases.shared(5, alphabet=ABCD)
    case = Case("shared", GLOBAL, batch)
    finished = []
    assert make(GLOBAL).scores(batch, progress=finished.append).tolist() == (
        case.expected.score.tolist()
    )
    assert sum(finished) == batch.cells


def test_nothing_to_align(make):
    nothing = GLOBAL, Batch.pairwise([], [])
    assert make(nothing[0]).scores(nothing[1]).tolist() == []
    assert len(make(nothing[0]).ends(nothing[1])) == 0
    both = Batch.pairwise([codes(), codes(), codes(1, 2, 3)], [codes(), codes(1, 2, 3), codes()])
    judge(make(GLOBAL), Case("empty", GLOBAL, both))


def test_gaps_alone(make):
    """Nothing is aligned: all of one sequence and then all of the other, the cheaper way round."""
    scoring = Scoring.from_array(np.full((4, 4), -9), "ABCD", 3, 1)
    cost, costly = GapCost(1, 0), GapCost(7, 7)
    query_first = EndGaps(cost, costly, FREE, cost), (-2, 3, 0)
    target_first = EndGaps(costly, cost, cost, FREE), (-2, 0, 4)
    batch = pair([0, 1, 2], [0, 1, 2, 3])
    for ends, expected in (query_first, target_first):
        found = make(dataclasses.replace(scoring, end_gaps=ends)).ends(batch)
        assert (found.score[0], found.query_end[0], found.target_end[0]) == expected


def test_auto_has_long_pairs_too(device, monkeypatch):
    able(device, "blocked")
    monkeypatch.setattr(glsw.engines.choice, "seconds", long_pairs_by_blocked)
    for name in SOME:
        case = END_CASES[name]
        engine = Auto(case.scoring, device)
        judge(engine, case)
        judge_paths(engine, case)
        assert "blocked" in engine.label


@pytest.mark.parametrize("name", ["global", "insertions, global", "ends of their own"])
def test_auto_has_lanes_where_they_take_the_scoring(device, name):
    case = cases.shared(9, queries=1, targets=40, count=100, alphabet=ABCD)
    scoring = END_CASES[name].scoring
    engine = Auto(scoring, device)
    assert engine.scores(case).tolist() == Reference(scoring).scores(case).tolist()
    if name != "global":
        assert engine.scanner is None
    else:
        (found,) = engine.answers([ScanTile(case.queries, case.targets)])
        many = Batch.one_to_many(case.queries[0], case.targets)
        assert found.tolist() == [Reference(scoring).scores(many).tolist()]


def test_relatives_across_many_tiles(make):
    rng = np.random.default_rng(8)
    letters = [rng.integers(0, 4, m).astype(np.uint8) for m in (63, 64, 65, 129, 300, 400)]
    for name in SOME:
        scoring, queries, alike = END_CASES[name].scoring, letters, letters
        if scoring.wide_queries:  # of positions
            queries = [np.arange(len(each), dtype=np.uint16) for each in letters]
            alike = [scoring.matrix[each].argmax(axis=1).astype(np.uint8) for each in queries]
        targets = [cases.mutated(rng, 4, each[20:]) for each in alike]
        judge(make(scoring), Case("relatives", scoring, Batch.pairwise(queries, targets)))


@pytest.mark.parametrize("tile", [8, 4, 1])
def test_fragment_beyond_16_bits(device, tile):
    # No score leaves 16 bits here, but cells inside do, or the origin.
    steep = Scoring.from_array(np.full((4, 4), 300), "ABCD", 300, 300)
    dear = Scoring.from_array(np.full((4, 4), 1), "ABCD", 2000, 1000)
    batch = cases.shared(10, alphabet=ABCD)
    first = np.zeros(120, np.uint8)
    batch = Batch.pairwise(
        [*(batch.pair(p)[0] for p in range(20)), first, first[:8]],
        [*(batch.pair(p)[1] for p in range(20)), np.append(first, first), first[:9]],
    )
    for scoring in (steep.in_mode("global"), dear.in_mode("global"), dear.in_mode("semiglobal")):
        case = Case("16 bits", scoring, batch)
        judge(Fragment(scoring, device, tile=tile), case)
    assert int(steep.in_mode("global").score_offset(120, 240)) + steep.bound(120, 240) > 2**15
    assert Reference(steep.in_mode("global")).scores(batch.select([20])).tolist() == [0]


def test_range(make):
    """The lowest values that fit 32 bits, and the first that do not."""
    scoring = Scoring.from_array(np.full((2, 2), -(10**6)), "AB", 10**6, 10**6).in_mode("global")
    letters = np.zeros(600, np.uint8)
    fitting = Batch.pairwise([letters[:535]], [letters[:535]])
    assert 2**31 - 2 * 10**6 < int(scoring.score_offset(535, 535)) < 2**31
    engine = make(scoring)
    assert engine.scores(fitting).tolist() == [-535 * 10**6]
    with pytest.raises(ValueError, match=r"too far below 0 for 32 bits"):
        engine.scores(Batch.pairwise([letters], [letters]))
    # Free gaps at the left leave more.
    assert make(scoring.in_mode("semiglobal")).scores(fitting).tolist() == [0]


# Paths.


def global_coordinates(coordinates, query_length, target_length):
    runs = Runs.of_coordinates([coordinates])
    return runs.with_end_gaps(np.array([[query_length, target_length]])).coordinates(0)


@with_subtests("number, name", enumerate(END_CASES))
def test_trace_with_any_memory(number, name):
    case = END_CASES[name]
    for p in range(number % 5, len(case.batch), 5):
        query, target = case.batch.pair(p)
        coordinates = traced_with_any_memory(case, p)
        if not case.scoring.local:
            coordinates = global_coordinates(coordinates, len(query), len(target))
            assert coordinates[:, -1].tolist() == [len(target), len(query)]
        if len(query) and len(target):
            assert (
                naive.path_score(query, target, case.scoring, coordinates) == case.expected.score[p]
            )


@settings(max_examples=100)
@given(letters(9, 1), letters(9, 1), scorings(), st.integers(0, 100))
def test_path_is_one_of_biopythons(query, target, scoring, memory):
    ends = Reference(scoring).ends(Batch.pairwise([query], [target]))
    score, *end = int(ends.score[0]), int(ends.query_end[0]), int(ends.target_end[0])
    found, _ = cases.traced(query, target, scoring, *end, memory=memory)
    found = global_coordinates(found, len(query), len(target))
    assert naive.path_score(query, target, scoring, found) == score
    decode = scoring.alphabet.decode
    theirs = biopython(scoring).align(decode(target), decode(query))
    if len(theirs) < 200:
        assert found.tolist() in [each.coordinates.tolist() for each in theirs]


def test_ends_are_added():
    inside = np.array([[2, 4], [0, 2]])
    assert global_coordinates(inside, 3, 4).tolist() == [[0, 2, 4, 4], [0, 0, 2, 3]]
    assert global_coordinates(inside, 2, 4).tolist() == [[0, 2, 4], [0, 0, 2]]
    nothing = np.array([[4], [0]])
    assert global_coordinates(nothing, 3, 4).tolist() == [[0, 4, 4], [0, 0, 3]]
    # A gap before the end cell is one with that behind it.
    assert global_coordinates(np.array([[0, 1, 1], [0, 1, 2]]), 3, 1).tolist() == [
        [0, 1, 1],
        [0, 1, 3],
    ]
    assert global_coordinates(np.array([[0, 1, 3], [0, 1, 1]]), 1, 4).tolist() == [
        [0, 1, 4],
        [0, 1, 1],
    ]


# Wrong use.


@pytest.mark.parametrize("name", LOCAL_ONLY)
def test_engines_that_align_locally_only(device, name):
    with pytest.raises(ValueError, match=f"^engine '{name}' supports local alignment only$"):
        ENGINES[name](GLOBAL, device)
    with pytest.raises(
        ValueError, match="does not support different gap costs in queries and targets"
    ):
        ENGINES[name](END_CASES["insertions"].scoring, device)


def test_lanes_take_simple_end_gaps(device):
    able(device, "lanes")
    for name in ("ends of their own", "free right ends"):
        with pytest.raises(ValueError, match="'lanes' does not support these end gap costs"):
            ENGINES["lanes"](END_CASES[name].scoring, device)


def test_cpu_has_one_cost_of_gaps():
    pytest.importorskip("pyopal")
    with pytest.raises(ValueError, match="engine 'cpu' does not support different"):
        ENGINES["cpu"](END_CASES["insertions"].scoring)


def test_engines_named_are_all():
    assert {*ABLE, *LOCAL_ONLY, "cpu", *cases.OF_EDITS} == set(ENGINES)
    for configuration in cases.configurations():
        assert takes(configuration, GLOBAL) == (configuration[0] in (*ABLE, "cpu"))


@pytest.mark.parametrize("name", ["reference", "diagonal", "auto"])
def test_masks_are_for_local_alignments(device, name):
    able(device, None if name == "reference" else COMPUTE)
    batch = pair([0, 1], [0, 1]).masked([Mask.nothing(2)])
    engine = ENGINES[name](GLOBAL, device)
    with pytest.raises(
        ValueError, match="does not support masks in global and semi-global alignments"
    ):
        engine.scores(batch)
    assert ENGINES[name](END_CASES["insertions"].scoring, device).scores(batch).shape == (1,)


# Every engine with anything.


@settings(max_examples=40)
@given(data=st.data())
@pytest.mark.parametrize("name", [name for name in ABLE if name != "reference"])
def test_drawn_cases(device, name, data):
    able(device, name)
    drawn = st.one_of(scorings(), scorings(local=True))
    scoring = data.draw(drawn.filter(ENGINES[name].capabilities.takes))
    pairs = data.draw(st.lists(st.tuples(letters(20), letters(20)), min_size=1, max_size=5))
    _judge_drawn(device, name, data, scoring, pairs)


@settings(max_examples=20)
@given(data=st.data())
@pytest.mark.parametrize("name", [each for each in ABLE if each not in ("reference", "lanes")])
def test_drawn_profiles(device, name, data):
    able(device, name)
    scoring, query = data.draw(profiles(30))
    pairs = [
        (query[k:], target)
        for k, target in enumerate(data.draw(st.lists(letters(20), min_size=1, max_size=5)))
    ]
    _judge_drawn(device, name, data, scoring, pairs)


def _judge_drawn(device, name, data, scoring, pairs):
    case = Case("drawn", scoring, Batch.pairwise(*zip(*pairs, strict=True)))
    options = data.draw(st.sampled_from([each[1] for each in CONFIGURATIONS if each[0] == name]))
    judge(build((name, options), scoring, device), case)
    options = [each[1] for each in PATHS + KEPT if each[0] == name]
    if options and device.info.compute:
        judge_paths(ENGINES[name](scoring, device, **data.draw(st.sampled_from(options))), case)


def test_runs_of_paths_are_inside(device):
    """Gaps at the ends are no part of what a device traces back."""
    able(device, "diagonal")
    scoring = Scoring.match_mismatch(2, -1, 2, 1).in_mode("semiglobal")
    encode = scoring.alphabet.encode
    batch = Batch.pairwise([encode("GGACGT")], [encode("ACGTTT")])
    paths = Diagonal(scoring, device).paths(batch)
    assert (paths.ends.score[0], paths.ends.query_end[0], paths.ends.target_end[0]) == (8, 6, 4)
    assert paths.coordinates(0).tolist() == [[0, 4], [2, 6]]
