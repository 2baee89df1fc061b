"""Every engine, on every case, by the judgement of the reference."""

import dataclasses
import functools

import cases
import numpy as np
import parasail
import pytest
from cases import CASES, able, build, judge, label
from hypothesis import given, settings, strategies as st
from subtests import with_subtests

from glsw.alignment.batch import Batch
from glsw.engines import ENGINES
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import custom
from glsw.sequences.encoded import Sequences

SOME = [CASES[name] for name in ("BLOSUM62 12 1", "asymmetric 3 3", "limit 900 1", "DNA 4 4")]
THIRDS = [case.part(slice(k % 3, None, 3)) for k, case in enumerate(SOME)]
NAMES = sorted({name for name, _ in cases.configurations()})
USUAL = [(name, {}) for name in NAMES]
SMALL_TILES = [(name, cases.OPTIONS.get(name, ({},))[-1]) for name in NAMES]
DRAWING = [each for each in cases.configurations() if each[0] in ("fragment", "auto")]
# Alphabets of few sizes: each is a program of its own.
SMALL = {2: custom("AB"), 4: custom("ABCD")}


@pytest.fixture(params=cases.configurations(), ids=label)
def configuration(request, device):
    able(device, request.param[0])
    return request.param


@pytest.fixture
def make(configuration, device):
    """``make(scoring)``: the engine under test."""
    return lambda scoring: build(configuration, scoring, device)


@pytest.fixture(params=USUAL, ids=label)
def usual(request, device):
    """``usual(scoring)``: each engine with its usual options."""
    able(device, request.param[0])
    return functools.partial(build, request.param, device=device)


@pytest.fixture(params=SMALL_TILES, ids=label)
def small(request, device):
    """``small(scoring)``: each engine with options by which short sequences cross many tiles."""
    able(device, request.param[0])
    return functools.partial(build, request.param, device=device)


@with_subtests("case", [CASES[name].part(slice(90, 140, 3)) for name in cases.FEW])
def test_first_look(usual, case):
    """A few pairs, for `make check`."""
    judge(usual(case.scoring), case)


def test_a_failure_names_all_that_is_needed(device, monkeypatch):
    able(device, "diagonal")
    case = cases.END_CASES["insertions, ends of their own"]
    engine = build(("diagonal", {"workgroup": 2}), case.scoring, device)
    ends = engine.ends

    def wrong(batch):
        found = ends(batch)
        found.query_end[7] += 1
        return found

    monkeypatch.setattr(engine, "ends", wrong)
    words = "query_end .* pair 7 of .*, query '.*', target '.*insertion GapCost.open=4, extend=3.*"
    words += "left_insertion=.*engine diagonal-workgroup2 on .*leaning.comp.*'WORKGROUP': 2"
    with pytest.raises(AssertionError, match="(?s)" + words):
        judge(engine, case)


def test_equals_the_reference(configuration, make, subtests):
    for case in cases.cases_of(configuration):
        with subtests.test(case.name):
            judge(make(case.scoring), case)


def test_largest_scores(usual):
    # 2**31 - 1 = 2147483647; the reference would take its time.
    letters = np.zeros(2147, np.uint8)
    engine = usual(Scoring.match_mismatch(10**6, -(10**6), 10**6, 10**6, alphabet=SMALL[2]))
    ends = engine.ends(Batch.one_to_many(letters, [letters, letters[:2146]]))
    assert ends.score.tolist() == [2147000000, 2146000000]
    assert ends.query_end.tolist() == [2147, 2147]
    assert ends.target_end.tolist() == [2147, 2146]
    with pytest.raises(ValueError, match="2148000000"):
        engine.scores(Batch.one_to_many(np.zeros(2148, np.uint8), [np.zeros(2148, np.uint8)]))


@with_subtests("gaps", [(12, 1), (8, 8)])
def test_long_sequences_equal_parasail(usual, gaps):
    rng = np.random.default_rng(gaps)
    scoring = Scoring.named("BLOSUM62", *gaps)
    queries = [rng.integers(0, 20, m).astype(np.uint8) for m in rng.integers(100, 600, 40)]
    targets = [cases.mutated(rng, 20, query[50:]) for query in queries]
    decode = scoring.alphabet.decode
    # With linear gaps some scores of parasail's striped functions are too low.
    expected = [
        parasail.sw_scan_32(decode(q), decode(t), *gaps, parasail.blosum62).score
        for q, t in zip(queries, targets, strict=True)
    ]
    assert usual(scoring).scores(Batch.pairwise(queries, targets)).tolist() == expected


def test_nothing_to_align(usual):
    case = SOME[0]
    engine = usual(case.scoring)
    nothing, empty = case.batch.select([]), np.zeros(0, np.uint8)
    assert engine.scores(nothing).shape == (0,)
    assert engine.scores(nothing).dtype == np.int32
    assert len(engine.ends(nothing)) == len(engine.ends(nothing, ties="any")) == 0
    for pair in ((empty, empty), (empty, cases.codes(1, 2)), (cases.codes(1, 2), empty)):
        ends = engine.ends(Batch.one_to_many(pair[0], [pair[1]]))
        assert (ends.score[0], ends.query_end[0], ends.target_end[0]) == (0, 0, 0)


@with_subtests("case", SOME)
def test_query_and_target_can_be_swapped(small, case):
    batch = case.batch
    swapped = Batch.indexed(batch.targets, batch.queries, batch.target_index, batch.query_index)
    scoring = dataclasses.replace(case.scoring, matrix=case.scoring.matrix.T.copy())
    assert small(scoring).scores(swapped).tolist() == case.expected.score.tolist()


@with_subtests("case", THIRDS)
def test_order_of_the_pairs_and_repetition(small, case):
    order = np.random.default_rng(3).permutation(len(case.batch))
    order = np.append(order, order[:20])
    engine = small(case.scoring)
    for ties in cases.tie_rules(engine):
        ends = engine.ends(case.batch, ties=ties)
        shuffled = engine.ends(case.batch.select(order), ties=ties)
        for field in ("score", "query_end", "target_end"):
            assert getattr(shuffled, field).tolist() == getattr(ends, field)[order].tolist()


@with_subtests("case", THIRDS)
def test_small_chunks(configuration, device, case):
    name, options = configuration
    judge(build((name, options | cases.CHUNKED.get(name, {})), case.scoring, device), case)


@pytest.mark.parametrize("name", ["diagonal", "scan", "wavefront", *cases.OF_EDITS])
def test_chunks_fill_a_memory_and_obey_it(device, name):
    able(device, name)
    rng = np.random.default_rng(12)
    pairs = ([rng.integers(0, 4, n).astype(np.uint8) for n in each] for each in ([70] * 40,) * 2)
    batch = Batch.pairwise(*pairs)
    edits = name in cases.OF_EDITS
    scoring = cases.unit_costs(custom("ACGT")) if edits else CASES["DNA 10 1"].scoring
    ample = ENGINES[name](scoring, device)
    expected = ample.scores(batch).tolist()
    for parts in (2, 3, 7):
        memory = ample.memory_used // parts
        engine = ENGINES[name](scoring, device, memory=memory)
        assert engine.scores(batch).tolist() == expected
        assert memory - ample.memory_used // 40 < engine.memory_used <= memory


@with_subtests("case", SOME)
def test_one_pair_at_a_time(small, case):
    engine = small(case.scoring)
    for p in range(0, len(case.batch), 3):
        ends = engine.ends(case.batch.select([p]))
        expected = case.expected
        assert ends.score[0] == expected.score[p], case.describe(p)
        assert ends.query_end[0] == expected.query_end[p], case.describe(p)
        assert ends.target_end[0] == expected.target_end[p], case.describe(p)


def test_scores_are_those_of_ends(make):
    batch = cases.shared(5)
    engine = make(CASES["DNA 10 1"].scoring)
    scores = engine.scores(batch).tolist()
    assert (
        scores == engine.ends(batch).score.tolist() == engine.ends(batch, ties="any").score.tolist()
    )


def test_one_query_against_many_is_pairwise(make):
    batch = cases.shared(6)
    query = batch.queries[int(batch.queries.lengths.argmax())]
    engine = make(CASES["DNA 10 1"].scoring)
    many = engine.ends(Batch.one_to_many(query, batch.targets))
    each = engine.ends(Batch.pairwise([query] * len(batch.targets), batch.targets))
    for field in ("score", "query_end", "target_end"):
        assert getattr(many, field).tolist() == getattr(each, field).tolist()


@with_subtests("gaps", [(5, 2), (3, 3)])
def test_match_and_mismatch_equal_their_matrix(small, gaps):
    batch = cases.shared(7)
    by_match = Scoring.match_mismatch(5, -4, *gaps)
    by_matrix = Scoring.from_array(by_match.matrix, by_match.alphabet.letters, *gaps)
    assert small(by_match).scores(batch).tolist() == small(by_matrix).scores(batch).tolist()


@pytest.mark.parametrize("configuration", DRAWING, ids=label, indirect=True)
def test_any_limit_of_textures(configuration, device):
    # More distinct queries, and more pairs, than fit into textures of this size.
    batch = cases.shared(8, queries=100, targets=100, count=400)
    scoring, small = CASES["DNA 10 1"].scoring, cases.limited(device, max_texture_size=64)
    expected = build(configuration, scoring, device).ends(batch)
    judge(build(configuration, scoring, small), cases.Case("small textures", scoring, batch))
    found = build(configuration, scoring, small).ends(batch)
    for field in ("score", "query_end", "target_end"):
        assert getattr(found, field).tolist() == getattr(expected, field).tolist()


def test_progress_is_all_cells(small):
    case = SOME[0]
    engine = small(case.scoring)
    for method in (engine.scores, engine.ends):
        finished = []
        method(case.batch, progress=finished.append)
        assert sum(finished) == case.batch.cells
        assert min(finished) >= 0


def test_engines_take_turns_on_a_device(small):
    first, second = (
        CASES[name].part(slice(2, None, 3)) for name in ("BLOSUM62 12 1", "asymmetric 7 2")
    )
    others = cases.Case("others", second.scoring, first.batch)
    engines = [small(first.scoring), small(second.scoring)]
    for _ in range(2):
        judge(engines[0], first)
        judge(engines[1], others)
    judge(engines[0], first.part(slice(13, 20)))
    judge(engines[1], second)
    judge(engines[1], others)
    judge(engines[0], first)


def test_unknown_tie_rule(usual):
    case = SOME[0]
    with pytest.raises(ValueError, match="ties 'first': 'conventional' or 'any' expected"):
        usual(case.scoring).ends(case.batch, ties="first")


def test_device_is_needed(configuration):
    scoring = SOME[0].scoring
    name, _ = configuration
    if ENGINES[name].capabilities.requires is None:
        assert ENGINES[name](scoring, None)
    else:
        with pytest.raises(TypeError, match=f"engine '{name}' needs a device"):
            ENGINES[name](scoring, None)


# Hypothesis


@st.composite
def small_cases(draw):
    """Any matrix, any gap costs, numbers beyond 16 bits now and then, and a few short pairs."""
    letters = draw(st.sampled_from(sorted(SMALL)))
    unit = draw(st.sampled_from((1, 1, 1, 300, 4000, 70_000)))
    row = st.lists(st.integers(-10, 10), min_size=letters, max_size=letters)
    matrix = draw(st.lists(row, min_size=letters, max_size=letters))
    gap_extend = draw(st.integers(0, 8))
    gap_open = gap_extend + draw(st.sampled_from((0, 0, 1, 2, 5)))
    scoring = Scoring(
        np.array(matrix) * unit, SMALL[letters], gap_open * unit, gap_extend * unit, "drawn"
    )
    sequence = st.lists(st.integers(0, letters - 1), max_size=20).map(lambda x: cases.codes(*x))
    both = [Sequences.of(draw(st.lists(sequence, min_size=1, max_size=4))) for _ in range(2)]
    index = st.tuples(*(st.integers(0, len(each) - 1) for each in both))
    chosen = np.array(draw(st.lists(index, min_size=1, max_size=6)), np.int32)
    return cases.Case("drawn", scoring, Batch(tuple(both), chosen))


def judge_drawn(device, name, data):
    able(device, name)
    options = [each for each in cases.configurations() if each[0] == name]
    configuration, case = data.draw(st.sampled_from(options)), data.draw(small_cases())
    judge(build(configuration, case.scoring, device), case)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=50)
@given(data=st.data())
def test_drawn_cases(device, name, data):
    judge_drawn(device, name, data)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=2000)
@given(data=st.data())
def test_many_drawn_cases(device, name, data):
    judge_drawn(device, name, data)
