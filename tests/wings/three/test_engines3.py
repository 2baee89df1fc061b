"""Every engine of three sequences, on every case, by the judgement of the reference.

And the reference, by that of the definition: see `naive3`.
"""

import functools
import os
import subprocess
import sys
from dataclasses import replace
from itertools import islice, permutations, product

import cases3
import naive3
import numpy as np
import pytest
from Bio.Align import PairwiseAligner
from cases import AB, able, array, codes, mutated
from cases3 import CASES, CORE, DECIMALS, WHOLE_CASES, Case, build, judge, label, mostly, same
from hypothesis import given, settings, strategies as st
from subtests import with_subtests

from glsw.alignment.batch import Batch
from glsw.device.device import DeviceError
from glsw.engines import Reference
from glsw.engines.gl import LETTERS_IN_BLOCK
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import custom
from glsw.sequences.encoded import Sequences
from glsw.wings.three.engines import ENGINES3, Subtable
from glsw.wings.three.engines.gl import DeviceTriples, letter_count
from glsw.wings.three.engines.reference import Reference3
from glsw.wings.three.engines.tiles import CubeSizes, TileForms, TileShape
from glsw.wings.three.scoring import SCHEMES, Scoring3

CONFIGURATIONS = cases3.configurations()
NAMES = sorted({name for name, _ in CONFIGURATIONS})
SOME = [
    CASES[name] for name in ("identity 3 1", "BLOSUM62 8 8", "two letters 2 1", "pairs gain 4 2")
]
SYMMETRIC = [
    case
    for name, case in CASES.items()
    if (case.scoring.pairs.matrix == case.scoring.pairs.matrix.T).all()
][::3]
# Alphabets of few sizes: each is a program of its own.
SMALL = {2: AB, 4: custom("ABCD")}
ONE_EACH = (("reference", {}), *((name, {}) for name in NAMES))


def available(name, device):
    able(device, ENGINES3[name].capabilities.requires)


@pytest.fixture(params=CONFIGURATIONS, ids=label)
def configuration(request, device):
    available(request.param[0], device)
    return request.param


@pytest.fixture
def make(configuration, device):
    """``make(scoring)``: the engine under test, other than the reference."""
    return lambda scoring: build(configuration, scoring, device)


@pytest.fixture
def some(configuration):
    """Which triples of a case: of `plane`, which dispatches each plane of each, every other one."""
    return slice(None, None, 2 if configuration[0] == "plane" else 1)


@pytest.fixture(params=ONE_EACH, ids=label)
def usual(request, device):
    """``usual(scoring)``: each engine by its usual options, also the reference."""
    available(request.param[0], device)
    return lambda scoring: build(request.param, scoring, device)


def alignments(paths):
    """Return score, end and columns of each alignment, as `naive3.path` does."""
    ends, scores = map(tuple, paths.ends.end.tolist()), paths.ends.score.tolist()
    moves = [paths.moves(t).tolist() for t in range(len(paths))]
    return list(zip(scores, ends, moves, strict=True))


def disjoint(engine, triples, most=None):
    """Return up to so many disjoint alignments of each triple, see `alignments`."""
    found = [[] for _ in range(len(triples))]
    if most is None:
        for t, paths in engine.disjoint(triples):
            found[t] += alignments(paths)
        return found
    for t, each in enumerate(found):
        for number, paths in islice(engine.disjoint(triples.select(slice(t, t + 1))), most):
            assert number == 0
            each += alignments(paths)
    return found


# The oracle and the reference


def oracle_scorings():
    rng = np.random.default_rng(3)
    matrix = rng.integers(-6, 9, (4, 4))
    yield Scoring3.identity()
    yield Scoring3.identity(2, -1, 3, 1)
    yield Scoring3.identity(2, 0, 1, 0, alphabet=AB)
    yield Scoring3.identity(1, -1, 0, alphabet=AB)
    yield Scoring3.identity(1, -1, 1, 1, alphabet=AB)
    for gaps in ((4, 1), (2, 2), (2, 0), (0, 0), (3, 2), (1, 1)):
        yield Scoring3.sum_of_pairs(array(matrix, "ABCD", *gaps))
    yield Scoring3.sum_of_pairs(Scoring.match_mismatch(1, -1, 2, 1, alphabet=AB))
    yield Scoring3.sum_of_pairs(Scoring.match_mismatch(1, -1, 1, 1, alphabet=AB))
    yield Scoring3.sum_of_pairs(Scoring.match_mismatch(5, -4, 2, 1))
    yield Scoring3.sum_of_pairs(array(matrix, "ABCD", 3, 1), gap_gap=2)
    yield Scoring3.sum_of_pairs(array(matrix, "ABCD", 2, 2), gap_gap=3)
    yield Scoring3.sum_of_pairs(replace(DECIMALS, gap_open=60, gap_extend=20))
    yield Scoring3.sum_of_pairs()


def name_of(value):
    if isinstance(value, Scoring3):
        costs = "-".join(map(str, value.costs))
        return f"{value.name}-{costs}".replace(" ", "-")
    return None


ORACLE = list(oracle_scorings())


def random_words(rng, scoring, lengths):
    """Return three words; letters are few, and now and then any."""
    letters = len(scoring.alphabet)
    few = rng.integers(2, 5)
    return [
        np.where(
            rng.random(n) < 0.1, rng.integers(0, letters, n), rng.integers(0, min(few, letters), n)
        ).astype(np.uint8)
        for n in lengths
    ]


def test_enumeration_is_complete():
    # Columns to go from one corner to the other: 3-dimensional Delannoy numbers, 1, 13, 409.
    for n, expected in enumerate((1, 13, 409)):
        whole = 0
        for end, moves in naive3.enumerate_alignments((n, n, n)):
            steps = [sum(naive3.has_letter(move, s) for move in moves) for s in range(3)]
            whole += steps == [n, n, n] == list(end)
        assert whole == (expected if n else 0)


@pytest.mark.parametrize("scoring", ORACLE[::2], ids=name_of)
def test_oracle_equals_all_alignments(scoring):
    rng = np.random.default_rng(4)
    for lengths in ((2, 2, 2), (3, 2, 1), (1, 3, 2), (2, 1, 3), (3, 0, 3), (0, 2, 0), (3, 3, 1)):
        words = random_words(rng, scoring, lengths)
        h = np.zeros([n + 1 for n in lengths], int)
        for end, moves in naive3.enumerate_alignments(lengths):
            h[end] = max(h[end], naive3.alignment_score(words, end, moves, scoring))
        assert (
            h.tolist()
            == naive3.heights(words, naive3.columns_table(words, scoring), scoring).tolist()
        )


@pytest.mark.parametrize("scoring", [each for each in oracle_scorings() if not each.linear][1:4:2])
def test_oracle_equals_all_alignments_of_longer_words(scoring):
    words = random_words(np.random.default_rng(5), scoring, (3, 3, 2))
    best = max(
        naive3.alignment_score(words, end, moves, scoring)
        for end, moves in naive3.enumerate_alignments((3, 3, 2))
    )
    assert max(best, 0) == naive3.path(words, scoring)[0]


@pytest.mark.parametrize("scoring", ORACLE, ids=name_of)
def test_reference_equals_the_oracle(scoring):
    rng, engine, scores = np.random.default_rng(6), Reference3(scoring), []
    for lengths in rng.integers(0, 8, (13, 3)):
        words = random_words(rng, scoring, lengths)
        triples = Batch.of([words])
        table = naive3.columns_table(words, scoring)
        expected = naive3.path(words, scoring, table=table)
        assert alignments(engine.paths(triples)) == [expected]
        ends = engine.ends(triples)
        assert (int(ends.score[0]), tuple(ends.end[0].tolist())) == expected[:2]
        h = naive3.heights(words, table, scoring)
        assert next(engine.tables(triples)).tolist() == h[1:, 1:, 1:].tolist()
        assert naive3.best_of_pencils(words, scoring) == expected[:2]
        scores.append(expected[0])
    assert sum(score > 0 for score in scores) > 3


@pytest.mark.parametrize("scoring", ORACLE[1::2], ids=name_of)
def test_disjoint_alignments_of_the_reference_equal_those_of_the_oracle(scoring):
    rng, count = np.random.default_rng(7), 0
    for lengths in ((5, 3, 4), (2, 6, 4), (4, 0, 5)):
        words = random_words(rng, scoring, lengths)
        expected = list(naive3.disjoint(words, scoring))
        assert disjoint(Reference3(scoring), Batch.of([words])) == [expected]
        count += len(expected)
    assert count >= 2


def test_example_by_hand():
    # ACGT   Score of the columns, all letters equal: 5; a gap: 3, or 1 if it goes on.
    # A--T
    # ACGT
    scoring = Scoring3.identity(5, -4, 3, 1)
    words = [scoring.alphabet.encode(word) for word in ("TTTACGTTT", "RRATRR", "GGACGTG")]
    assert naive3.alignment_score(words, (7, 4, 6), [7, 5, 5, 7], scoring) == 5 - 3 - 1 + 5
    found = alignments(Reference3(scoring).paths(Batch.of([words])))
    assert found == [(6, (7, 4, 6), [7, 5, 5, 7])] == [naive3.path(words, scoring)]


def test_order_of_columns_by_hand():
    # Gaps cost nothing: on the way back three letters come first, then first and second, ...
    scoring = Scoring3.sum_of_pairs(Scoring.match_mismatch(1, -9, 0, 0, alphabet=AB))
    for words, expected in (
        (("A", "A", ""), (1, (1, 1, 0), [3])),
        (("A", "A", "A"), (3, (1, 1, 1), [7])),
        # A with A, or B with B: the end is the one earlier in the first sequence.
        (("AB", "BA", ""), (1, (1, 2, 0), [3])),
        (("AB", "AB", "B"), (4, (2, 2, 1), [3, 7])),
        (("AB", "B", "AB"), (4, (2, 1, 2), [5, 7])),
        (("AAB", "ABA", "BAA"), (6, (2, 3, 3), [7, 2, 7])),
    ):
        encoded = [AB.encode(word) for word in words]
        found = alignments(Reference3(scoring).paths(Batch.of([encoded])))
        assert found == [expected] == [naive3.path(encoded, scoring)]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_cases_have_every_column(scheme):
    chosen = [case for case in CASES.values() if case.scoring.scheme == scheme]
    seen = [set((case.paths.runs & 7).tolist()) for case in chosen]
    assert set.union(*seen) == set(range(1, 8))
    linear = [case.scoring.linear for case in chosen]
    assert any(len(each) == 7 for each, one in zip(seen, linear, strict=True) if one)
    assert any(len(each) == 7 for each, one in zip(seen, linear, strict=True) if not one)


# All engines


@pytest.mark.parametrize("name", NAMES)
def test_first_look(device, name):
    """A few triples, for `make check`."""
    available(name, device)
    case = CASES["BLOSUM62 12 1"].part(slice(5, None, 8))
    judge(build((name, {}), case.scoring, device), case)


@with_subtests("case", CASES.values())
def test_equals_the_reference(make, some, case):
    judge(make(case.scoring), case.part(some))


@with_subtests("case", SOME)
def test_small_chunks(configuration, device, case):
    more = cases3.CHUNKED.get(configuration[0], {})
    judge(build(configuration, case.scoring, device, **more), case)


def test_engines_with_triples_of_all_lengths_in_turn(configuration, device):
    cases3.judge_in_turn(configuration, device)


def test_triples_too_many_to_keep_their_plan(device):
    cases3.judge_in_turn(("subtable", {"limits": CubeSizes(planned_triples=3)}), device)


@with_subtests("case", SOME)
def test_one_triple_at_a_time(make, case):
    engine = make(case.scoring)
    for t in range(0, len(case.triples), 3):
        judge(engine, case.part(slice(t, t + 1)))


@with_subtests(
    "name, chosen",  # each scheme has all triples, and so have linear gaps and affine ones
    [
        *(("identity 1 1", [0, 3]), ("identity 3 1", [1, 2])),
        *(("BLOSUM62 8 8", [1, 2]), ("BLOSUM62 12 1", [0, 3])),
    ],
)
def test_longer_sequences(make, name, chosen):
    scoring = CASES[name].scoring
    rng = np.random.default_rng(8)
    ancestor = rng.integers(0, 4, 140).astype(np.uint8)
    triples = Batch.of(
        [mutated(rng, 4, ancestor[part]) for part in parts]
        for parts in (
            (slice(0, 65), slice(0, 64), slice(0, 66)),
            (slice(0, 140), slice(30, 110), slice(60, 100)),
            (slice(50, 60), slice(20, 120), slice(0, 140)),
            (slice(0, 20), slice(0, 140), slice(0, 30)),
        )
    )
    case = Case(name, scoring, triples.select(chosen))
    for t, (score, end) in enumerate(zip(case.ends.score, case.ends.end, strict=True)):
        assert (score, tuple(end)) == naive3.best_of_pencils(case.triples[t], scoring)
    assert case.ends.score.min() > 4
    judge(make(scoring), case)


@with_subtests("gaps", [(10**6, 10**6), (10**6, 10**5), (10**5, 50_000)])
def test_largest_scores(usual, gaps):
    # 2**23 = 8388608
    engine = usual(
        Scoring3.sum_of_pairs(Scoring.match_mismatch(10**5, -(10**6), *gaps, alphabet=AB))
    )
    letters = np.zeros(28, np.uint8)
    triples = Batch.of([[letters[:27]] * 3, [letters[:27], letters[:26], letters[:27]]])
    ends = engine.ends(triples)
    assert ends.score.tolist() == [8_100_000, 7_800_000]
    assert ends.end.tolist() == [[27] * 3, [26] * 3]
    for method in (engine.scores, engine.ends, engine.paths, engine.tables, engine.disjoint):
        with pytest.raises(ValueError, match="8400000"):
            list(method(Batch.of([[letters] * 3])))


NVIDIA, INTEL = "NVIDIA Corporation", "Intel"


def hardware(device, vendor, kib=48, **fields):
    """Return what a device would tell if it were of this vendor and had so much shared memory."""
    limits = {**device.info.limits, "max_shared_memory": kib << 10}
    return replace(device.info, software=False, vendor=vendor, limits=limits, **fields)


def choosing(scoring, info, *, shape=None, packed=None, polling=None):
    return TileForms(scoring, info, shape, None, packed, polling)


def test_many_triples_get_larger_tiles_on_hardware(device):
    scoring = Scoring3.identity()
    chooser = choosing(scoring, hardware(device, NVIDIA))
    software = choosing(scoring, replace(device.info, software=True))
    assert chooser.shapes(False, 1, True)[0] == TileShape(4, 16, 16, 1)
    assert software.shapes(False, 1, True)[0] == TileShape(4, 8, 8, 1)
    assert chooser.shapes(True, 1, True)[0] == TileShape(4, 16, 8, 2)
    rng = np.random.default_rng(16)
    triples = Batch.of(
        [rng.integers(0, 3, n).astype(np.uint8) for n in rng.integers(0, 90, 3)] for _ in range(9)
    )
    for vendor in (NVIDIA, INTEL):
        limits = CubeSizes(many_triples=5, info=hardware(device, vendor))
        engine = Subtable(scoring, device, limits=limits)
        expected, found = Reference3(scoring).ends(triples), engine.ends(triples)
        assert found.score.tolist() == expected.score.tolist()
        assert found.end.tolist() == expected.end.tolist()


def test_tiles_fit_the_shared_memory(device):
    scoring = Scoring3.sum_of_pairs(Scoring.blast("BLOSUM62", 11, 1))
    for vendor, kib, expected in (
        (NVIDIA, 48, (3, 16, 16, 1)),
        (NVIDIA, 32, (4, 16, 8, 1)),
        (NVIDIA, 24, (4, 8, 8, 1)),
        (INTEL, 64, (2, 16, 16, 1)),
        (INTEL, 32, (2, 16, 8, 1)),
    ):
        form = choosing(scoring, hardware(device, vendor, kib)).form(False, 1, 100, many=True)
        assert form.shape == expected
        assert form.polling == (vendor == NVIDIA)
        assert form.shared_memory(scoring) <= kib << 10


def many_letters(gap_open, gap_extend):
    """Return a scoring of the most letters whose scores are in shared memory."""
    letters = LETTERS_IN_BLOCK // 8 * 8 - 1
    rng = np.random.default_rng(letters)
    words = tuple(f"{k:03}" for k in range(letters))
    scoring = Scoring3.sum_of_pairs(
        array(rng.integers(-9, 10, (letters, letters)), words, gap_open, gap_extend)
    )
    assert letter_count(scoring) <= LETTERS_IN_BLOCK < letter_count(scoring) + 8
    return scoring


@pytest.mark.parametrize("vendor", [NVIDIA, INTEL, "Apple"])
@pytest.mark.parametrize("polling", [False, True])
def test_all_forms_fit_32_kib(vendor, polling, device):
    info, seen = hardware(device, vendor, 32), set()
    kinds = many_letters(9, 1), many_letters(9, 9), Scoring3.identity(), Scoring3.identity(5, -4, 3)
    for scoring, trace, packed, many in product(kinds, (False, True), (0, 1, 2), (False, True)):
        for rows in (1, 16, 17, 5000):
            form = choosing(scoring, info, polling=polling).form(trace, packed, rows, many)
            assert form.shared_memory(scoring) <= 32 << 10
            assert form.polling == polling
            assert form.tile_rows >= min(8, rows)
            seen.add(form.shape)
    assert len(seen) > 3


@pytest.mark.parametrize("vendor", [NVIDIA, "Apple"])
def test_tiles_of_small_shared_memory_equal_the_reference(vendor, device):
    """Of sides that are not packed, which once took 34,064 bytes and more."""
    scoring, rng = many_letters(9, 1), np.random.default_rng(11)
    limits = CubeSizes(info=hardware(device, vendor, 32))
    engine = Subtable(scoring, device, packed=False, limits=limits)
    triples = Batch.of(
        [mostly(rng, 55, n).astype(np.uint8) for n in lengths]
        for lengths in ((40, 35, 33), (7, 50, 21), (70, 17, 18))
    )
    form = engine.forms.of(engine.device_triples(triples).extents, [0], True)
    assert form.packed == 0
    assert max(form.shape.width) < 33
    judge(engine, Case("32 KiB", scoring, triples))


@with_subtests("name", CORE)
def test_tiles_for_other_vendors_equal_the_reference(name, device):
    case = CASES[name].part(slice(None, None, 3))
    limits = CubeSizes(info=hardware(device, INTEL, 32))
    judge(Subtable(case.scoring, device, limits=limits), case)


@with_subtests(
    "case", [case for case in CASES.values() if 0 < case.scoring.costs.opens < 1023][::2]
)
def test_sides_packed_as_differences(case, device):
    """As of scores above 2^16, which short sequences do not have."""
    options = {"shape": TileShape(2, 2, 2, 1), "spacing": 8, "limits": CubeSizes(packed=0)}
    engine = build(("subtable", options), case.scoring, device)
    judge(engine, case.part(slice(None, None, 2)))
    chosen = engine.forms.of(engine.device_triples(case.triples).extents, [0], True)
    assert chosen.packed == (0 if case.scoring.linear else 2)


def test_differences_are_for_cheap_gaps_and_high_scores(device):
    for opens, length, packed in ((1022, 6000, 2), (1022, 60, 1), (1024, 60, 1), (1024, 6000, 0)):
        scoring = Scoring3.sum_of_pairs(Scoring.match_mismatch(5, -4, opens // 2, 1))
        engine = Subtable(scoring, device)
        extents = DeviceTriples.of(Batch.of([[np.zeros(length, np.uint8)] * 3]), None).extents
        assert engine.forms.of(extents, [0], False).packed == packed
    with pytest.raises(ValueError, match="gaps that cost less than 1023 to open, these cost 1024"):
        Subtable(scoring, device, packed=True).forms.of(extents, [0], False)


@pytest.mark.parametrize("vendor", [NVIDIA, INTEL, "AMD", "Apple", "Mesa", "Qualcomm"])
def test_tiles_wait_on_nvidia_only_unless_asked_to(vendor, device):
    scoring, info = Scoring3.identity(), hardware(device, vendor)
    assert choosing(scoring, info).polling == (vendor == NVIDIA)
    assert choosing(scoring, info, polling=True).polling
    assert not choosing(scoring, info, polling=False).polling
    assert not choosing(scoring, replace(info, software=True)).polling


WAITING = """
import cases3
from glsw.device.device import open_device
from glsw.wings.three.engines.tiles import TileShape

small = {"shape": TileShape(2, 2, 2, 1), "packed": False}
deep = {"shape": TileShape(2, 4, 2, 2), "depth": 4, "spacing": 8}
device = open_device(quiet=True)
shapes = [{"shape": TileShape(*each)} for each in ((1, 4, 8, 1), (3, 4, 2, 1), (2, 4, 4, 1))]
for first, options in enumerate((small, shapes[0], shapes[1], shapes[2], deep)):
    for case in list(cases3.CASES.values())[first::8]:
        part = case.part(slice(0, 40, 6))
        engine = cases3.build(("subtable", {"polling": True, **options}), case.scoring, device)
        cases3.judge(engine, part)
for case in list(cases3.WHOLE_CASES.values())[::9]:
    engine = cases3.build(("subtable", {"polling": True, **small}), case.scoring, device)
    cases3.judge(engine, case.part(slice(0, 40, 8)))
cases3.judge_in_turn(("subtable", {"polling": True, **small}), device)

# Tiles that wait in vain, but not at once: where paths are computed again, and after other paths.
import warnings
from itertools import islice
from glsw.wings.three.engines import Subtable

class Impatient(Subtable):
    def _fill(self, *given, AGAIN=0, **others):
        self.fills = getattr(self, "fills", 0) + 1
        self._most_polls = 0 if AGAIN or self.fills > 9 else 2**22
        super()._fill(*given, AGAIN=AGAIN, **others)

def first(paths):
    return [(t, *each.moves(0)) for t, each in islice(paths, 100)]

case = cases3.CASES["BLOSUM62 12 1"].part(slice(0, 40, 8)).part([0, 2])  # a small one, a large one
for spacing in (8, None):
    engine = Impatient(case.scoring, device, polling=True, spacing=spacing, **small)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cases3.judge_paths(case, engine.paths(case.triples))
        found = first(engine.disjoint(case.triples))
    assert len(caught) == 1 and "waited in vain" in str(caught[0].message), caught
    sure = Subtable(case.scoring, device, polling=False)
    assert found == first(sure.disjoint(case.triples))
"""


def test_tiles_that_wait_for_one_another(device):
    """One work group at a time: llvmpipe ends the loops of those that wait."""
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WAITING],
        env={**os.environ, "LP_NUM_THREADS": "0", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-2000:]


@with_subtests("name", CORE[:6])
def test_what_tiles_waited_for_in_vain_is_computed_again(name, device):
    """Here none may wait at all."""
    case = CASES[name].part(slice(0, 40, 6))
    options = {"shape": TileShape(2, 2, 2, 1), "polling": True, "most_polls": 0}
    for method, check in (
        ("scores", lambda case, found: same(case, "score", found, case.ends.score)),
        ("ends", cases3.judge_ends),
        ("tables", cases3.judge_tables),
        ("paths", cases3.judge_paths),
    ):
        engine, done = build(("subtable", options), case.scoring, device), []
        with pytest.warns(RuntimeWarning, match="waited in vain") as caught:
            check(case, getattr(engine, method)(case.triples, progress=done.append))
        assert len(caught) == 1
        assert sum(done) == case.triples.cells
        assert not engine.forms.polling
        judge(engine, case)  # without a warning, which would be an error
    engine = build(("subtable", options), case.scoring, device)
    chosen, expected = disjoint_of_reference(CASES[name])
    with pytest.warns(RuntimeWarning, match="computed again"):
        assert disjoint(engine, chosen, 3) == expected


def test_tiles_that_waited_in_vain_are_an_error(device):
    extents = DeviceTriples.of(Batch.of([[np.zeros(3, np.uint8)] * 3] * 2), None).extents
    cells = np.array([[3, 6, 2, 2], [2**31 - 1, 0, 0, 0], [0, 0, 0, 0]], np.int32)
    counts = np.array([1, 2])
    with pytest.raises(DeviceError, match="waited in vain"):
        extents.best(cells, counts)
    cells[1] = 1, 2, 0, 1
    best = extents.best(cells, counts)
    assert best.score.tolist() == [3, 1]
    assert best.cell.tolist() == [[3, 3, 3], [1, 2, 2]]


def test_nothing_to_align(usual):
    engine = usual(Scoring3.sum_of_pairs())
    nothing = Batch.of([], 3)
    assert engine.scores(nothing).shape == (0,)
    assert engine.scores(nothing).dtype == np.int32
    assert engine.ends(nothing).end.shape == (0, 3)
    assert len(engine.paths(nothing)) == len(engine.paths(nothing).ends) == 0
    assert list(engine.tables(nothing)) == list(engine.disjoint(nothing)) == []


def test_empty_sequences_score_nothing(usual):
    engine = usual(Scoring3.identity())
    words = [codes(), codes(0, 1, 2)]
    triples = Batch.of(list(product(words, repeat=3))[:-1])
    assert len(triples) == 7
    paths = engine.paths(triples)
    assert alignments(paths) == [(0, (0, 0, 0), [])] * 7
    assert paths.runs.dtype == np.uint32
    assert paths.ends.score.dtype == paths.ends.end.dtype == np.int32
    shapes = [table.shape for table in engine.tables(triples)]
    assert shapes == [tuple(map(len, triples[t])) for t in range(7)]
    assert list(engine.disjoint(triples)) == []


@with_subtests("case", CASES.values())
def test_columns_add_up_to_the_score(case):
    """Those of the reference: all engines are judged by the same ones."""
    for t, (score, end, moves) in enumerate(alignments(case.paths)):
        words = case.triples[t]
        assert naive3.alignment_score(words, end, moves, case.scoring) == score, case.describe(t)
        if score and not case.scoring.pairs_gain:
            assert moves[0] == moves[-1] == 7, case.describe(t)


@with_subtests("case", SYMMETRIC)
def test_order_of_the_three_changes_no_score(usual, case):
    engine = usual(case.scoring)
    triples = case.part(slice(1, None, 4)).triples
    expected = case.ends.score[1::4].tolist()
    for order in permutations(range(3)):
        turned = Batch(triples.sequences, triples.index[:, order].copy())
        assert engine.scores(turned).tolist() == expected, order


@with_subtests("case", SOME)
def test_order_of_the_triples_and_repetition(usual, case):
    order = np.random.default_rng(3).permutation(len(case.triples))
    order = np.append(order, order[:20])
    ends = usual(case.scoring).ends(case.triples.select(order))
    assert ends.score.tolist() == case.ends.score[order].tolist()
    assert ends.end.tolist() == case.ends.end[order].tolist()


def test_triples_share_sequences(make):
    for scoring in (Scoring3.identity(2, -1, 2, 1), Scoring3.identity()):
        judge(make(scoring), Case("shared", scoring, cases3.shared(9)))


@with_subtests("place", range(3))
@with_subtests(
    "pairs",
    [
        Scoring.named("BLOSUM62", 3, 3),
        Scoring.named("BLOSUM62", 1, 1),
        Scoring.match_mismatch(5, -4, 2, 2),
        Scoring.match_mismatch(1, -1, 0, 0),
        Scoring.named("BLOSUM62", 8, 8),
        array(np.random.default_rng(0).integers(-6, 10, (4, 4)), "ABCD", 2, 2),
    ],
)
def test_an_empty_sequence_leaves_the_pair(usual, pairs, place):
    # Each column of two letters has two gaps against the third sequence, one letter has two too.
    rng = np.random.default_rng(place)
    scoring = Scoring3.sum_of_pairs(pairs)
    best = np.unravel_index(pairs.matrix.argmax(), pairs.matrix.shape)
    two = []
    for lengths in rng.integers(1, 40, (8, 2)):
        words = random_words(rng, scoring, (*lengths, 0))
        two.append([np.append(word, best[s]).astype(np.uint8) for s, word in enumerate(words[:2])])
    cost = 2 * pairs.gap_open
    flat = Scoring(pairs.matrix - cost, pairs.alphabet, cost, cost, "pairs against a gap")
    expected = Reference(flat).scores(Batch.pairwise(*zip(*two, strict=True))).tolist()
    assert bool(max(expected)) == (pairs.maximum > cost)
    triples = Batch.of([*each[:place], codes(), *each[place:]] for each in two)
    engine = usual(scoring)
    paths = engine.paths(triples)
    assert engine.scores(triples).tolist() == paths.ends.score.tolist() == expected
    for t, (score, end, moves) in enumerate(alignments(paths)):
        assert end[place] == 0
        assert naive3.alignment_score(triples[t], end, moves, scoring) == score


def test_long_pairs_score_where_short_ones_do_not(usual):
    # W with W and a gap: 11 - 24, then 11 - 2 each.
    scoring = Scoring3.sum_of_pairs()
    w, none = scoring.alphabet.encode("WWWWW"), codes()
    engine = usual(scoring)
    for place in range(3):
        words = [w, w, w]
        words[place] = none
        end = tuple(0 if s == place else 5 for s in range(3))
        paths = engine.paths(Batch.of([words]))
        assert alignments(paths) == [(-13 + 4 * 9, end, [7 - 2**place] * 5)]
        # The same within sequences that have letters, before and after a column of three.
        words[place] = scoring.alphabet.encode("CC")
        around = [np.concatenate([word, words[place], word]) for word in (w, w)]
        around.insert(place, words[place])
        triples = Batch.of([around])
        (found,) = alignments(engine.paths(triples))
        assert found[0] == 2 * 27 + 2 * 23
        assert found[2] == [7 - 2**place] * 5 + [7, 7] + [7 - 2**place] * 5
        assert engine.ends(triples).score.tolist() == [found[0]]


def test_progress_is_all_cells(usual):
    case = SOME[0]
    engine = usual(case.scoring)
    for method in (
        engine.scores,
        engine.ends,
        lambda *args, **to: list(engine.tables(*args, **to)),
    ):
        finished = []
        method(case.triples, progress=finished.append)
        assert sum(finished) == case.triples.cells
        assert min(finished) >= 0


def test_engines_take_turns_on_a_device(make):
    first, second = (
        CASES[name].part(slice(None, None, 2)) for name in ("BLOSUM62 12 1", "asymmetric 2 1")
    )
    others = Case("others", second.scoring, first.triples)
    engines = [make(first.scoring), make(second.scoring)]
    for _ in range(2):
        judge(engines[0], first)
        judge(engines[1], others)
    judge(engines[0], first.part(slice(3, 7)))
    judge(engines[1], second)
    judge(engines[0], first)


def test_scoring_of_two_is_no_scoring_of_three(usual):
    with pytest.raises(TypeError, match="scoring must be a Scoring3, not Scoring"):
        usual(Scoring.named("BLOSUM62"))


@pytest.mark.parametrize("name", NAMES)
def test_device_is_needed(name):
    scoring = SOME[0].scoring
    if ENGINES3[name].capabilities.requires is None:
        assert ENGINES3[name](scoring, None)
    else:
        with pytest.raises(TypeError, match=f"engine '{name}' needs a device"):
            ENGINES3[name](scoring, None)


# Disjoint alignments


@functools.cache
def disjoint_of_reference(case):
    """Return triples of short sequences, and three disjoint alignments of each."""
    chosen = case.triples.select(np.flatnonzero(case.triples.lengths.max(axis=1) <= 20))
    return chosen, disjoint(Reference3(case.scoring), chosen, 3)


@with_subtests("case", CASES.values())
def test_disjoint_alignments_equal_those_of_the_reference(make, case):
    chosen, expected = disjoint_of_reference(case)
    found = disjoint(make(case.scoring), chosen, 3)
    assert found == expected
    assert max(map(len, found)) > 1 or case.ends.score.max() == 0


@functools.cache
def all_disjoint_alignments(case):
    """Return the smallest triples that are alike, and all others as small; and what is right."""
    cells = case.triples.lengths.prod(axis=1)
    limit = np.sort(cells[case.ends.score > 0])[:2].max()
    triples = case.triples.select(np.flatnonzero(cells <= limit))
    return triples, [list(naive3.disjoint(words, case.scoring)) for words in triples]


@with_subtests("case", SOME)
def test_all_disjoint_alignments(usual, case):
    triples, expected = all_disjoint_alignments(case)
    found = disjoint(usual(case.scoring), triples)
    assert found == expected
    assert max(map(len, found)) > 1
    for t, each in enumerate(found):
        words, taken = triples[t], set()
        for score, end, moves in each:
            assert naive3.alignment_score(words, end, moves, case.scoring) == score > 0
            cells = naive3.column_ends(end, moves)
            assert not cells & taken
            taken |= cells
        scores = [score for score, _, _ in each]
        assert scores == sorted(scores, reverse=True)
        assert naive3.path(words, case.scoring, taken)[0] == 0


def test_first_disjoint_alignment_is_that_of_paths(usual):
    case = SOME[1].part(slice(2, 8))
    found = disjoint(usual(case.scoring), case.triples, 1)
    assert [each[0] for each in found] == alignments(case.paths)


def test_a_repeat_is_found_twice(usual):
    scoring = Scoring3.identity(1, -2, 2)
    words = ["ACGTCATTGACC" * 2, "ACGTCATTGACC", "ACGTCATTGACC"]
    triples = Batch.of([[scoring.alphabet.encode(word) for word in words]])
    first, second = disjoint(usual(scoring), triples, 2)[0]
    assert first == (12, (12, 12, 12), [7] * 12)
    assert second == (12, (24, 12, 12), [7] * 12)


# Hypothesis


@st.composite
def small_cases(draw, longest=12):
    """Any matrix, any gap costs, numbers beyond 16 bits now and then, and a few short triples."""
    letters = draw(st.sampled_from(sorted(SMALL)))
    unit = draw(st.sampled_from((1, 1, 1, 300, 4000, 13_000)))
    extend = draw(st.integers(0, 5))
    gaps = extend + draw(st.sampled_from((0, 0, 1, 2, 5))), extend
    if draw(st.booleans()):
        match = draw(st.integers(1, 10))
        mismatch = draw(st.integers(-10, 0))
        costs = (number * unit for number in (match, mismatch, *gaps))
        scoring = Scoring3.identity(*costs, alphabet=SMALL[letters])
    else:
        row = st.lists(st.integers(-10, 10), min_size=letters, max_size=letters)
        matrix = np.array(draw(st.lists(row, min_size=letters, max_size=letters))) * unit
        gap_open, gap_extend = (gap * unit for gap in gaps)
        pairs = Scoring(matrix, SMALL[letters], gap_open, gap_extend, "drawn")
        scoring = Scoring3.sum_of_pairs(pairs)
    sequence = st.lists(st.integers(0, letters - 1), max_size=longest).map(lambda x: codes(*x))
    words = Sequences.of(draw(st.lists(sequence, min_size=1, max_size=5)))
    index = st.tuples(*[st.integers(0, len(words) - 1)] * 3)
    chosen = np.array(draw(st.lists(index, min_size=1, max_size=4)), np.int32)
    return Case("drawn", scoring, Batch((words,) * 3, chosen))


@settings(max_examples=100)
@given(case=small_cases(longest=5))
def test_reference_equals_the_oracle_on_drawn_cases(case):
    expected = [naive3.path(case.triples[t], case.scoring) for t in range(len(case.triples))]
    assert alignments(case.paths) == expected
    ends = Reference3(case.scoring).ends(case.triples)
    assert ends.score.tolist() == [score for score, _, _ in expected]
    assert ends.end.tolist() == [list(end) for _, end, _ in expected]


def judge_drawn(device, name, data):
    options = [each for each in CONFIGURATIONS if each[0] == name]
    configuration, case = data.draw(st.sampled_from(options)), data.draw(small_cases())
    engine = build(configuration, case.scoring, device)
    judge(engine, case)
    if data.draw(st.booleans()):
        triples = case.triples.select(slice(0, 1))
        assert disjoint(engine, triples, 4) == disjoint(Reference3(case.scoring), triples, 4)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60)
@given(data=st.data())
def test_drawn_cases(device, name, data):
    available(name, device)
    judge_drawn(device, name, data)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=1000)
@given(data=st.data())
def test_many_drawn_cases(device, name, data):
    available(name, device)
    judge_drawn(device, name, data)


@pytest.mark.parametrize("memory", [2**21, 2**22])
def test_triples_too_large_for_a_chunk_stand_in_no_ones_place(memory, device):
    rng = np.random.default_rng(8)
    lengths = [(4000, 12, 12), (4, 300, 300), (300, 40, 40), (5, 6, 7), (90, 90, 4)]
    words = [[rng.integers(0, 4, n).astype(np.uint8) for n in each] for each in lengths]
    case = Case("unlike lengths", Scoring3.identity(), Batch.of(words))
    engine = build(("subtable", {}), case.scoring, device, memory=memory)
    cases3.judge_ends(case, engine.ends(case.triples))
    cases3.judge_paths(case, engine.paths(case.triples))


@pytest.mark.parametrize("shape", [(8, 4, 4, 4), (2, 4, 4, 20), (4, 3, 5, 4), (0, 8, 8, 1)])
def test_tiles_that_shaders_cannot_have(shape, device):
    with pytest.raises(ValueError, match="a power of two of lanes"):
        build(("subtable", {"shape": TileShape(*shape)}), Scoring3.identity(), device)
    with pytest.raises(ValueError, match="depth -1: at least 1"):
        build(("subtable", {"depth": -1}), Scoring3.identity(), device)


@pytest.mark.parametrize("name", ["subtable", "plane"])
def test_progress_counts_no_faces(name, device):
    scoring = Scoring3.sum_of_pairs(Scoring.match_mismatch(5, -4, 2, 1))
    assert scoring.pairs_gain
    triples = Batch.of([[np.zeros(n, np.uint8) for n in (9, 8, 9)]])
    counted = []
    build((name, {}), scoring, device).ends(triples, progress=counted.append)
    assert sum(counted) == 9 * 8 * 9


def test_auto(device):
    """Engines that compute cells only leave alignments to the router."""
    available("auto", device)
    case = CASES["identity 3 1"].part(slice(0, 12))
    judge(build(("auto", {}), case.scoring, device), case)
    assert build(("auto", {}), case.scoring, device).label == "auto: subtable"
    assert build(("plane", {"memory": 2**20}), case.scoring, device).label == "plane"
    plane = ENGINES3["plane"](case.scoring, device)
    assert "alignment" not in plane.capabilities.tasks
    for verb in (plane.paths, plane.disjoint):
        with pytest.raises(ValueError, match="'plane' computes scores, ends and tables only"):
            verb(case.triples)


# Global and semi-global alignment

MODES = ("global", "semiglobal")
# The costs of PA-Star for DNA: transitions 2, transversions 5, gaps 5.
COSTS = [[0, 5, 2, 5], [5, 0, 5, 2], [2, 5, 0, 5], [5, 2, 5, 0]]
DNA_COSTS = Scoring.from_array(-np.array(COSTS), "ACGT", 5, 5)


def least_cost(words, gap=5):
    """Return the least cost of aligning three sequences from end to end: pairs of a column add up.

    Cell by cell from the definition, costs rather than scores, and linear gaps only.
    """
    costs = np.full((5, 5), gap)
    costs[:4, :4], costs[4, 4] = COSTS, 0
    a, b, c = ([*word.tolist(), 4] for word in words)  # 4: a gap
    best = np.full([len(word) + 1 for word in words], np.iinfo(int).max // 2)
    best[0, 0, 0] = 0
    steps = [step for step in product((0, 1), repeat=3) if any(step)]
    for i, j, k in np.ndindex(*best.shape):
        for di, dj, dk in steps:
            if di <= i and dj <= j and dk <= k:
                x, y, z = a[i - 1 if di else -1], b[j - 1 if dj else -1], c[k - 1 if dk else -1]
                cost = costs[x, y] + costs[x, z] + costs[y, z]
                best[i, j, k] = min(best[i, j, k], best[i - di, j - dj, k - dk] + cost)
    return int(best[-1, -1, -1])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scoring", ORACLE, ids=name_of)
def test_reference_equals_the_oracle_in_other_modes(scoring, mode):
    rng, scoring = np.random.default_rng(16), scoring.in_mode(mode)
    engine = Reference3(scoring)
    for lengths in rng.integers(0, 7, (9, 3)):
        words = random_words(rng, scoring, lengths)
        triples = Batch.of([words])
        table = naive3.columns_table(words, scoring)
        expected = naive3.path(words, scoring, table=table)
        assert alignments(engine.paths(triples)) == [expected]
        ends = engine.ends(triples)
        assert (int(ends.score[0]), tuple(ends.end[0].tolist())) == expected[:2]
        h = naive3.heights(words, table, scoring)
        assert next(engine.tables(triples)).tolist() == h[1:, 1:, 1:].tolist()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scoring", ORACLE[::2], ids=name_of)
def test_oracle_equals_all_alignments_in_other_modes(scoring, mode):
    rng, scoring = np.random.default_rng(4), scoring.in_mode(mode)
    for lengths in ((2, 2, 2), (3, 2, 1), (1, 3, 2), (3, 0, 3), (0, 2, 0), (0, 0, 0)):
        words = random_words(rng, scoring, lengths)
        scores = [0] if mode == "semiglobal" or not any(lengths) else []
        for end, moves in naive3.enumerate_alignments(lengths):
            start = end
            for move in moves:
                start = naive3.before(start, move)
            if naive3.may_begin(start, scoring) and naive3.may_end(end, words, scoring):
                scores.append(naive3.alignment_score(words, end, moves, scoring))
        assert max(scores) == naive3.path(words, scoring)[0]


@with_subtests("case", WHOLE_CASES.values())
def test_equals_the_reference_in_other_modes(make, some, case):
    judge(make(case.scoring), case.part(some))


@with_subtests("case", list(WHOLE_CASES.values())[1::4])
def test_small_chunks_in_other_modes(configuration, device, case):
    more = cases3.CHUNKED.get(configuration[0], {})
    judge(build(configuration, case.scoring, device, **more), case)
    engine = build(configuration, case.scoring, device)
    for t in range(0, len(case.triples), 4):
        judge(engine, case.part(slice(t, t + 1)))


@with_subtests("case", WHOLE_CASES.values())
def test_columns_add_up_to_the_score_in_other_modes(case):
    for t, (score, end, moves) in enumerate(alignments(case.paths)):
        words = case.triples[t]
        assert naive3.alignment_score(words, end, moves, case.scoring) == score, case.describe(t)
        start = end
        for move in moves:
            start = naive3.before(start, move)
        assert naive3.may_begin(start, case.scoring)
        assert naive3.may_end(end, words, case.scoring)


def test_least_costs_of_dna(usual):
    rng = np.random.default_rng(8)
    lengths = [(0, 0, 0), (1, 0, 2), (9, 9, 9), (12, 5, 8), (20, 17, 23), (3, 21, 14)]
    triples = Batch.of([rng.integers(0, 4, n).astype(np.uint8) for n in each] for each in lengths)
    engine = usual(Scoring3.sum_of_pairs(DNA_COSTS).in_mode("global"))
    expected = [-least_cost(triples[t]) for t in range(len(triples))]
    assert engine.scores(triples).tolist() == expected
    for order in permutations(range(3)):
        turned = Batch.of([triples[t][s] for s in order] for t in range(len(triples)))
        assert engine.scores(turned).tolist() == expected


# The costs of PA-Star 1.1, a half of a symmetric matrix; gaps and pairs of gaps 30.
PA_STAR = """
C 5 17 19 20 19 20 21 22 22 22 20 21 22 22 19 23 19 21 17 25
S 15 16 16 16 16 16 17 17 18 18 17 17 19 18 20 18 20 20 19
T 14 17 16 17 17 17 17 18 18 18 17 18 17 19 17 20 20 22
P 11 16 18 18 18 18 17 17 17 18 19 19 20 18 22 22 23
A 15 16 17 17 17 17 18 19 18 18 18 19 17 21 20 23
G 12 17 16 17 18 19 20 19 20 20 21 18 22 22 24
N 15 15 16 16 15 17 16 19 19 20 19 21 19 21
D 13 14 15 16 18 17 20 19 21 19 23 21 24
E 13 15 16 18 17 19 19 20 19 22 21 24
Q 13 14 16 16 18 19 19 19 22 21 22
H 11 15 17 19 19 19 19 19 17 20
R 11 14 17 19 20 19 21 21 15
K 12 17 19 20 19 22 21 20
M 11 15 13 15 17 19 21
I 12 15 13 16 18 22
L 11 15 15 18 19
V 13 18 19 23
F 8 10 17
Y 7 17
W 0
"""
# Its example seqs/3/synthetic_easy.fasta: globins with tails of few letters.
SYNTHETIC_EASY = (
    "A" * 90 + "VLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHGKKVADALTNAVAHVDDMPNALS"
    "ALSDLHAHKLRVDPVNFKLLSHCLLVTLAAHLPAEFTPAVHASLDKFLASVSTVLTSKYR",
    "A" * 5
    + "P" * 25
    + "A" * 30
    + "P" * 8
    + "EKSAVTAL"
    + "P" * 14
    + "VHLTPEEKSAVTALWGKVNVDEVGGEALGR"
    "LLVVYPWTQRFFESFGDLSTPDAVMGNPKVKAHGKKVLGAFSDGLAHLDNLKGTFATLSELHCDKLHVDPENFRLLGNVLVCVLAHHFGK"
    "EFTPPVQAAYQKVVAGVANALAHKYH" + "D" * 55 + "P" * 5 + "AAAAAAAAADDDDDAAADDDDAPPPPADDD" + "A" * 90,
    "D" * 55
    + "P" * 5
    + "AAAAAAAAADDDDDAAADDDDAPPPPADDD"
    + "A" * 90
    + "VASAPADKTNVKAAWGKVGAHAGEYAAAAA"
    "GLSDGEWQLVLNVWGKVEADIPGHGQEVLIRLFKGHPETLEKFDKFKHLKSEDEMKASEDLKKHGATVLTALGGILKKKGHHEAEIKPLA"
    "QSHATKHKIPVKYLEFISECIIQVLQSKHPGDFGADAQGAMNKALELFRKDMASNYKELGFQG",
)


def test_optimum_of_pa_star(device):
    """Sundfeld et al. 2018: the program prints "Final Score: (231 416 363) g - 26109"."""
    available("subtable", device)
    rows = [line.split() for line in PA_STAR.split("\n")[1:-1]]
    letters, costs = "".join(row[0] for row in rows), np.zeros((20, 20), int)
    for k, row in enumerate(rows):
        costs[k, k:] = costs[k:, k] = row[1:]
    pairs = Scoring.from_array(-costs, letters, 30, 30)
    scoring = Scoring3.sum_of_pairs(pairs, gap_gap=30).in_mode("global")
    triples = Batch.of([[scoring.alphabet.encode(word) for word in SYNTHETIC_EASY]])
    assert triples.lengths.tolist() == [[231, 416, 363]]
    ((score, end, moves),) = alignments(build(("subtable", {}), scoring, device).paths(triples))
    assert score == naive3.alignment_score(triples[0], end, moves, scoring) == -26109


@pytest.mark.parametrize("mode", MODES)
def test_two_sequences_and_nothing(usual, mode):
    """Each column then has a gap: the scores of pairs are lower by that, a gap costs double."""
    rng, gap = np.random.default_rng(9), 3
    engine = usual(Scoring3.sum_of_pairs(Scoring.match_mismatch(5, -4, gap, gap)).in_mode(mode))
    settings = {"match_score": 5 - 2 * gap, "mismatch_score": -4 - 2 * gap, "gap_score": -2 * gap}
    biopython = PairwiseAligner(**settings)
    for lengths in rng.integers(1, 40, (4, 2)):
        a, b = (rng.integers(0, 4, n).astype(np.uint8) for n in lengths)
        texts = ["".join("ACGT"[code] for code in word) for word in (a, b)]
        expected = biopython.score(*texts) if mode == "global" else 0
        for words in permutations([a, b, a[:0]]):
            if [len(w) for w in words if len(w)] == [len(a), len(b)]:
                assert engine.scores(Batch.of([words])).tolist() == [expected]


def test_semi_global_by_hand(usual):
    # CCACGT---   The ends of the first and second sequence, and all of the third, by identity.
    # --ACGTGG-
    # ---CGTGGT
    scoring = Scoring3.identity(5, -4, 3, 1).in_mode("semiglobal")
    words = [scoring.alphabet.encode(word) for word in ("CCACGT", "ACGTGG", "CGTGGT")]
    found = alignments(usual(scoring).paths(Batch.of([words])))
    assert found == [(15, (6, 4, 3), [7, 7, 7])] == [naive3.path(words, scoring)]


def test_disjoint_alignments_are_local(usual):
    engine = usual(Scoring3.identity().in_mode("global"))
    with pytest.raises(ValueError, match=r"^mode 'global': disjoint alignments are local$"):
        list(engine.disjoint(Batch.of([[np.zeros(3, np.uint8)] * 3])))


def test_scores_too_far_apart(usual):
    scoring = Scoring3.identity(1, -1, 10**6, 10**6)
    engine = usual(scoring.in_mode("global"))
    with pytest.raises(ValueError, match="could have scores that differ by 9000003 with"):
        engine.scores(Batch.of([[np.zeros(2, np.uint8)] * 3]))


@pytest.mark.parametrize("name", NAMES)
def test_batches_of_tables(device, name):
    """Tables of one batch are not changed by work on another in between."""
    available(name, device)
    case, other = (WHOLE_CASES[f"{mode} identity 3 1"] for mode in MODES)
    engine = build((name, {}), case.scoring, device)
    tables = engine.tables(case.triples)
    for expected in case.tables:
        assert next(tables).tolist() == expected.tolist()
        assert engine.scores(other.triples.select(slice(0, 1))).shape == (1,)
