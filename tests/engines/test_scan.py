"""Engines ``scan``, in its three forms, and ``wavefront``: tables in many dispatches."""

import dataclasses

import cases
import numpy as np
import parasail
import pytest
from cases import AB, CASES, Case, judge
from hypothesis import given, settings, strategies as st
from subtests import with_subtests

from glsw.alignment.batch import Batch
from glsw.engines.scan import FORMS, Scan
from glsw.engines.wavefront import Wavefront
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import custom

# Work groups so small that short sequences cross many of their edges.
SMALL = {
    "fused": (Scan, {"workgroup": 4, "columns": 2, "rows": 3}),
    "fused-one-row": (Scan, {"workgroup": 8, "columns": 1, "rows": 1}),
    "blocks": (Scan, {"form": "blocks", "workgroup": 4}),
    "single-stage": (Scan, {"form": "single-stage", "workgroup": 4}),
    "wavefront": (Wavefront, {"workgroup": 4}),
}
USUAL = {form: (Scan, {"form": form}) for form in FORMS} | {"wavefront": (Wavefront, {})}
NAMES = (*("BLOSUM62 12 1", "BLOSUM62 8 8", "two letters 0 0", "two letters 1 0", "limit 900 1"),)
TEN = custom("ABCDEFGHIJ")
SHORT_GAPS = Scoring.match_mismatch(3, -2, 4, 1, alphabet=TEN)


@pytest.fixture(params=SMALL)
def make(request, device):
    """``make(scoring)``: an engine of small work groups."""
    engine, options = SMALL[request.param]
    return lambda scoring, **more: engine(scoring, device, **options, **more)


@pytest.fixture(params=USUAL)
def make_usual(request, device):
    engine, options = USUAL[request.param]
    return lambda scoring: engine(scoring, device, **options)


def letters(rng, length, of):
    return rng.integers(0, of, length).astype(np.uint8)


@with_subtests("name", NAMES)
def test_equals_the_reference(make, name):
    judge(make(CASES[name].scoring), CASES[name])


def test_usual_work_groups(make_usual):
    case = CASES["mismatch 0, 2 1"].part(slice(50, None))
    judge(make_usual(case.scoring), case)


def test_edges_of_blocks(make_usual):
    rng = np.random.default_rng(256)
    lengths = ((9, 255), (9, 256), (9, 257), (255, 9), (256, 257), (257, 513), (1, 1025), (1025, 1))
    pairs = []
    for m, n in lengths:
        query = letters(rng, m, 4)
        pairs.append((query, np.resize(cases.mutated(rng, 4, query), n)))
    scoring = Scoring.match_mismatch(5, -4, 10, 1)
    judge(make_usual(scoring), Case("edges", scoring, Batch.pairwise(*zip(*pairs, strict=True))))


@with_subtests("gaps", [(4, 0), (4, 1)])
def test_gaps_across_many_blocks(make, gaps):
    rng = np.random.default_rng(gaps)
    query = letters(rng, 60, 5)
    pairs = []
    for inserted in (7, 8, 9, 120):
        target = np.concatenate([query[:30], np.full(inserted, 9, np.uint8), query[30:]])
        pairs += [(query, target), (target, query)]
    scoring = dataclasses.replace(SHORT_GAPS, gap_open=gaps[0], gap_extend=gaps[1])
    judge(make(scoring), Case("gaps", scoring, Batch.pairwise(*zip(*pairs, strict=True))))


@with_subtests("gaps", [(12, 1), (8, 8)])
def test_long_sequences_equal_parasail(make_usual, gaps):
    rng = np.random.default_rng(gaps)
    scoring = Scoring.named("BLOSUM62", *gaps)
    query = letters(rng, 900, 20)
    target = np.concatenate([cases.mutated(rng, 20, query[100:]), letters(rng, 300, 20)])
    decode = scoring.alphabet.decode
    expected = parasail.sw_scan_32(decode(query), decode(target), *gaps, parasail.blosum62).score
    assert make_usual(scoring).scores(Batch.one_to_many(query, [target])).tolist() == [expected]


@pytest.mark.parametrize("gap_extend", [0, 10**6])
def test_largest_costs(make, device, gap_extend):
    a = np.zeros(90, np.uint8)
    scoring = Scoring.match_mismatch(10**6, -(10**6), 10**6, gap_extend, alphabet=AB)
    batch = Batch.one_to_many(a, [a, np.concatenate([a[:40], a[:60] + 1, a[:50]])])
    judge(make(scoring), Case("costs", scoring, batch))
    wide = Scan(scoring, device, workgroup=64, columns=128)
    judge(wide, Case("a gap across a block beyond int32", scoring, batch))


@pytest.mark.parametrize("form", ["fused", "blocks"])
def test_largest_scores(device, form):
    # 2**31 - 1 = 2147483647
    a = np.zeros(2147, np.uint8)
    scoring = Scoring.match_mismatch(10**6, -(10**6), 10**6, 10**6, alphabet=AB)
    ends = Scan(scoring, device, form=form).ends(Batch.one_to_many(a, [a, a[:2146]]))
    assert ends.score.tolist() == [2147000000, 2146000000]
    assert ends.target_end.tolist() == [2147, 2146]


def test_chunks_of_a_memory(make):
    case = CASES["BLOSUM62 12 1"].part(slice(70, None))
    judge(make(case.scoring, memory=4096), case)


def test_memory_is_linear(make):
    engine = make(SHORT_GAPS)
    rng = np.random.default_rng(1)
    used = []
    for length in (64, 128, 256, 512):
        pair = Batch.one_to_many(letters(rng, length, 10), [letters(rng, length, 10)])
        engine.scores(pair)
        used.append(engine.memory_used)
    assert np.allclose(np.diff(used), np.diff(used)[0] * np.array([1, 2, 4]))
    assert used[-1] < 512 * 100


def test_progress_is_all_cells(make):
    case = CASES["DNA 2 0"]
    finished = []
    make(case.scoring).ends(case.batch, progress=finished.append)
    assert sum(finished) == case.batch.cells
    assert min(finished) >= 0


def test_nothing_to_align(make):
    batch = CASES["DNA 2 0"].batch
    engine = make(CASES["DNA 2 0"].scoring)
    assert engine.scores(batch.select([])).shape == (0,)
    empty = np.zeros(0, np.uint8)
    ends = engine.ends(Batch.pairwise([empty, empty, empty + 1], [empty, cases.codes(1), empty]))
    assert not any((*ends.score, *ends.query_end, *ends.target_end))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "rows"}, "form 'rows': 'fused', 'blocks', 'single-stage' expected"),
        ({"workgroup": 12}, "workgroup 12: a power of two from 2 to "),
        ({"workgroup": 1}, "workgroup 1: a power of two from 2 to "),
        ({"columns": 0}, "columns 0: 1 or more expected"),
        ({"rows": -1}, "rows -1: 1 or more expected"),
    ],
    ids=str,
)
def test_options(device, options, message):
    with pytest.raises(ValueError, match=message):
        Scan(SHORT_GAPS, device, **options)


@st.composite
def drawn(draw):
    """Tie-rich pairs: two letters, small costs."""
    gap_extend = draw(st.integers(0, 3))
    gap_open = gap_extend + draw(st.integers(0, 3))
    match, mismatch = draw(st.integers(2, 4)), draw(st.integers(-4, 1))
    scoring = Scoring.match_mismatch(match, mismatch, gap_open, gap_extend, alphabet=AB)
    sequence = st.lists(st.integers(0, 1), max_size=40).map(lambda x: cases.codes(*x))
    pairs = draw(st.lists(st.tuples(sequence, sequence), min_size=1, max_size=5))
    return Case("drawn", scoring, Batch.pairwise(*zip(*pairs, strict=True)))


@pytest.mark.parametrize("configuration", SMALL.items(), ids=lambda value: value[0])
@settings(max_examples=60)
@given(case=drawn())
def test_drawn_cases(device, configuration, case):
    engine, options = configuration[1]
    judge(engine(case.scoring, device, **options), case)
