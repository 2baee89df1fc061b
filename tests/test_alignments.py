"""All local alignments of a pair: against an oracle that tries every gap; their properties."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

import cases
import naive
import numpy as np
import pytest
from cases import GENERAL, able
from hypothesis import example, given, settings, strategies as st
from smaller import smaller

from glsw.aligner import Aligner
from glsw.alignment.batch import Batch, Mask, Masks
from glsw.alignment.traceback import best_end
from glsw.engines import ENGINES
from glsw.engines.blocked import Blocked
from glsw.engines.diagonal import Diagonal
from glsw.engines.reference import Reference, best_cell, fill
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import custom
from glsw.verbs import alignments

TOY = custom("ABC")
# Work groups so small that short sequences take several strips, and checkpoints between them.
# Tiles, too, of which several are kept and computed again.
WITH_MASKS = (
    (Diagonal, {}),
    (Diagonal, {"workgroup": 1}),
    (Diagonal, {"workgroup": 2, "spacing": 1}),
    (Diagonal, {"workgroup": 1, "spacing": 2}),
    (Blocked, {}),
    (Blocked, {"workgroup": 1, "columns": 4, "memory": 3000}),
    (Blocked, {"workgroup": 2, "columns": 6, "rows": 4, "memory": 1000, "prune": True}),
    (Blocked, {"workgroup": 1, "columns": 8, "memory": 60_000, "ahead": 30}),
)


def toy(match, mismatch, extend, more):
    return Scoring.match_mismatch(match, mismatch, extend + more, extend, alphabet=TOY)


# Few, so that programs are compiled once.
TOYS = [
    toy(2, -1, 1, 0),
    toy(1, -1, 0, 0),
    toy(3, -2, 1, 2),
    toy(2, -3, 0, 2),
    toy(1, 0, 2, 0),
    Scoring.from_array(np.array([[2, -1, 0], [-1, 3, 1], [0, -2, 1]]), "ABC", 2, 1),
]
toys = st.sampled_from(TOYS)


def codes(longest, letters=3):
    return st.lists(st.integers(0, letters - 1), max_size=longest).map(
        lambda x: np.array(x, np.uint8)
    )


# The oracle: in the manner of naive.py, with pairs (i, j), counted from 1, that are forbidden.


def aligned(h, query, target, scoring, forbidden, i, j):
    if (i, j) in forbidden:
        return -(10**9)
    return h[i - 1][j - 1] + int(scoring.matrix[query[i - 1], target[j - 1]])


def masked_table(query, target, scoring, forbidden):
    cost = naive.gap_cost
    h = [[0] * (len(target) + 1) for _ in range(len(query) + 1)]
    for i in range(1, len(query) + 1):
        for j in range(1, len(target) + 1):
            values = [0, aligned(h, query, target, scoring, forbidden, i, j)]
            values += [h[i - k][j] - cost(scoring, k) for k in range(1, i + 1)]
            values += [h[i][j - k] - cost(scoring, k) for k in range(1, j + 1)]
            h[i][j] = max(values)
    return h


def first_path(h, query, target, scoring, forbidden, end):
    """Return the preferred steps, first one first: a pair, a short gap before a long one, F, E."""
    (i, j), steps = end, []
    while h[i][j]:
        if aligned(h, query, target, scoring, forbidden, i, j) == h[i][j]:
            move, length = naive.DIAGONAL, 1
        else:
            gaps = [(naive.UP, k, h[i - k][j]) for k in range(1, i + 1)]
            gaps += [(naive.LEFT, k, h[i][j - k]) for k in range(1, j + 1)]
            move, length = next(
                (move, k)
                for move, k, before in gaps
                if before - naive.gap_cost(scoring, k) == h[i][j]
            )
        steps += [move] * length
        i, j = i - move[0] * length, j - move[1] * length
    return steps[::-1]


def oracle(query, target, scoring):
    """Yield (score, coordinates) of each alignment until none scores more than 0."""
    forbidden = set()
    while True:
        h = masked_table(query, target, scoring, forbidden)
        cells = [
            (aligned(h, query, target, scoring, forbidden, i, j), i + j, -i)
            for i in range(1, len(query) + 1)
            for j in range(1, len(target) + 1)
        ]
        score, d, minus_i = max(cells, default=(0, 0, 0))
        if score <= 0:
            return
        end = -minus_i, d + minus_i
        path = first_path(h, query, target, scoring, forbidden, end)
        coordinates = naive.coordinates(path, end)
        yield score, coordinates.tolist()
        forbidden |= {(i + 1, j + 1) for i, j in pairs_of(coordinates)}


def pairs_of(coordinates):
    """Return the aligned residues (of the query, of the target), counted from 0."""
    pairs = set()
    for (j, i), (j_end, i_end) in pairwise(np.array(coordinates).T.tolist()):
        pairs |= set(zip(range(i, i_end), range(j, j_end), strict=False))
    return pairs


# Engines.


@pytest.fixture(params=GENERAL)
def aligner(request, device):
    """``aligner(scoring)``: the public verb on each engine in turn."""
    able(device, request.param)

    def aligner(scoring, **options):
        where = device if ENGINES[request.param].capabilities.requires else None
        return Aligner(scoring, engine=request.param, device=where, **options)

    return aligner


@pytest.fixture(scope="module")
def with_masks(device):
    """``with_masks(scoring)``: the engines `WITH_MASKS`."""
    if not device.info.compute:
        pytest.skip(f"{device.info.name} has no compute shaders")
    made = {}

    def with_masks(scoring):
        if scoring not in made:
            made[scoring] = [kind(scoring, device, **options) for kind, options in WITH_MASKS]
        return made[scoring]

    return with_masks


def letters(scoring, sequence):
    return scoring.alphabet.decode(sequence)


def found_by(aligner, query, target, **options):
    both = (letters(aligner.scoring, each) for each in (query, target))
    return [
        (each.score, each.coordinates.tolist()) for each in aligner.alignments(*both, **options)
    ]


def related(seed, letters, length):
    rng = np.random.default_rng(seed)
    query = rng.integers(0, letters, length).astype(np.uint8)
    target = np.delete(query, rng.integers(0, length, length // 8))
    target = np.insert(target, length // 3, rng.integers(0, letters, length // 5))
    wrong = rng.random(len(target)) < 0.2
    target[wrong] = rng.integers(0, letters, wrong.sum())
    return query, target


@cache
def first_five(scoring):
    aligner = Aligner(scoring, engine="reference")
    return found_by(aligner, *related(5, 20, 120), max_alignments=5)


# The definition.


@settings(max_examples=150)
@given(codes(8), codes(8), toys)
@example(np.array([0, 0, 0], np.uint8), np.array([0, 0, 0, 0], np.uint8), toy(1, 0, 0, 0))
def test_reference_equals_the_oracle(query, target, scoring):
    aligner = Aligner(scoring, engine="reference")
    assert found_by(aligner, query, target) == list(oracle(query, target, scoring))


@given(codes(7), codes(7), toys, st.data())
def test_tables_of_any_mask(query, target, scoring, data):
    cells = [(i, j) for i in range(len(query)) for j in range(len(target))]
    forbidden = data.draw(st.sets(st.sampled_from(cells))) if cells else set()
    mask = Mask.of(*zip(*forbidden, strict=True), len(query)) if forbidden else None
    h = masked_table(query, target, scoring, {(i + 1, j + 1) for i, j in forbidden})
    assert fill(query, target, scoring, mask)[0].tolist() == h


# The host.


@settings(max_examples=100)
@given(codes(25), codes(25), toys, st.sampled_from((0, 20, 100)))
def test_host_equals_the_reference(query, target, scoring, memory):
    mask = Mask.nothing(len(query))
    for _ in range(6):
        score, *end = best_cell(query, target, scoring, mask)
        assert best_end(query, target, scoring, mask) == (score, *end)
        coordinates, value = cases.traced(query, target, scoring, *end, mask=mask)
        divided, same = cases.traced(query, target, scoring, *end, mask=mask, memory=memory)
        assert value == same == score
        assert divided.tolist() == coordinates.tolist()
        mask = cases.with_path(mask, coordinates)


# All engines.


@pytest.mark.parametrize("scoring", TOYS, ids=lambda s: f"{s.name} {s.gap_open} {s.gap_extend}")
def test_engines_equal_the_oracle(aligner, scoring):
    engine = aligner(scoring)
    for seed in range(2):
        query, target = related(seed, 2 + seed, 9 + seed)
        assert found_by(engine, query, target) == list(oracle(query, target, scoring))


@pytest.mark.parametrize(
    "scoring",
    [
        Scoring.named("BLOSUM62", 12, 1),
        Scoring.named("BLOSUM62", 6, 6),
        Scoring.named("GONNET1992", 9.5, 0.5),
    ],
    ids=lambda s: f"{s.name} {s.gap_open} {s.gap_extend}",
)
def test_alignments_share_no_pair_and_get_no_better(aligner, scoring):
    query, target = related(5, 20, 120)
    found = found_by(aligner(scoring), query, target, max_alignments=5)
    assert found == first_five(scoring)
    assert len(found) == 5
    seen = set()
    for score, coordinates in found:
        array = np.array(coordinates)
        assert score == scoring.display(naive.path_score(query, target, scoring, array))
        pairs = pairs_of(coordinates)
        assert pairs
        assert not pairs & seen
        seen |= pairs
    scores = [score for score, _ in found]
    assert scores == sorted(scores, reverse=True)
    one = aligner(scoring).align(letters(scoring, query), letters(scoring, target))
    assert (one.score, one.coordinates.tolist()) == found[0]


def test_any_ties_share_no_pair(aligner):
    query, target = related(6, 3, 20)
    for scoring in TOYS[:3]:
        seen, scores = set(), []
        for score, coordinates in found_by(aligner(scoring, ties="any"), query, target):
            assert score == naive.path_score(query, target, scoring, np.array(coordinates))
            assert not pairs_of(coordinates) & seen
            seen |= pairs_of(coordinates)
            scores.append(score)
        assert scores == sorted(scores, reverse=True)
        assert scores[0] == naive.score(query, target, scoring)


def test_tandem_repeats(aligner):
    """One copy aligns with each of three in turn; what lies between costs a gap too long."""
    scoring = Scoring.match_mismatch(2, -3, 9, 2)
    repeat = "ACCGTTAGCATG"
    found = list(
        aligner(scoring).alignments(f"{repeat}TTT{repeat}CC{repeat}", repeat, min_score=20)
    )
    assert [each.query_start for each in found] == [29, 15, 0]
    assert [each.cigar for each in found] == ["12="] * 3


def test_a_repeat_against_itself(aligner):
    """The main diagonal first; its pairs forbidden, copies shifted by one, then by two."""
    scoring = Scoring.match_mismatch(2, -3, 9, 2)
    sequence = "ACCGTTAGCATG" * 3
    found = list(aligner(scoring).alignments(sequence, sequence, min_score=20))
    assert [each.score for each in found] == [72, 48, 48, 24, 24]
    shifts = [each.query_start - each.target_start for each in found]
    assert sorted(shifts) == [-24, -12, 0, 12, 24]
    assert shifts[1:3] == [-12, 12]


def test_limits(aligner):
    engine = aligner(Scoring.match_mismatch(2, -1, 1, 1))
    every = [each.score for each in engine.alignments("ACGTACGT", "ACGGT")]
    assert every[-1] > 0
    assert len(every) > 2
    for k in (1, 2, len(every), len(every) + 10):
        found = engine.alignments("ACGTACGT", "ACGGT", max_alignments=k)
        assert [each.score for each in found] == every[:k]
    for least in (every[0] + 1, every[0], 3, 1, 0, -5):
        found = engine.alignments("ACGTACGT", "ACGGT", min_score=least)
        assert [each.score for each in found] == [score for score in every if score >= least]


@pytest.mark.parametrize(("query", "target"), [("", ""), ("", "AC"), ("AC", ""), ("AA", "CC")])
def test_nothing_in_common(aligner, query, target):
    assert list(aligner(Scoring.match_mismatch(2, -1, 1, 1)).alignments(query, target)) == []


def test_each_is_computed_when_asked_for(aligner):
    engine = aligner(Scoring.match_mismatch(2, -1, 1, 1))
    finished = []
    found = engine.alignments("ACGTACGT", "ACGGT", progress=finished.append)
    assert finished == []
    for k in (1, 2, 3):
        next(found)
        assert sum(finished) == k * 8 * 5


# Masks on the device.


@settings(max_examples=60)
@given(st.lists(st.tuples(codes(40), codes(30)), min_size=1, max_size=5), toys, st.data())
def test_masks_of_many_pairs(with_masks, pairs, scoring, data):
    """Any sets of pairs, not only those of alignments; rows and columns forbidden as a whole."""
    batch = Batch.pairwise(*zip(*pairs, strict=True))
    masks = []
    for query, target in pairs:
        density = data.draw(st.sampled_from((0, 0.1, 0.5, 1)))
        seed = data.draw(st.integers(0, 99))
        chosen = np.random.default_rng(seed).random((len(query), len(target))) < density
        masks.append(Mask.of(*np.nonzero(chosen), len(query)))
    masked = batch.masked(masks)
    expected = Reference(scoring).ends(masked)
    for engine in with_masks(scoring):
        paths = engine.paths(masked)
        for name in ("score", "query_end", "target_end"):
            assert getattr(paths.ends, name).tolist() == getattr(expected, name).tolist()
        assert engine.scores(masked).tolist() == expected.score.tolist()
        for p, (query, target) in enumerate(pairs):
            end = int(expected.query_end[p]), int(expected.target_end[p])
            coordinates, _ = cases.traced(query, target, scoring, *end, mask=masks[p])
            assert paths.coordinates(p).tolist() == coordinates.tolist()


def test_masks_come_and_go(with_masks):
    scoring = TOYS[2]
    query, target = related(7, 3, 60)
    batch = Batch.pairwise([query] * 3, [target] * 3)
    coordinates, _ = cases.traced(query, target, scoring, *best_cell(query, target, scoring)[1:])
    nothing = Mask.nothing(len(query))
    some = cases.with_path(nothing, coordinates)
    best, second = (best_cell(query, target, scoring, mask)[0] for mask in (nothing, some))
    assert best > second
    for engine in with_masks(scoring):
        for masks in ([nothing, some, nothing], [some] * 3, [nothing] * 3):
            expected = [second if mask is some else best for mask in masks]
            assert engine.scores(batch.masked(masks)).tolist() == expected
            assert engine.scores(batch).tolist() == [best] * 3
            chosen = batch.masked(masks).select([1, 0])
            assert engine.paths(chosen).ends.score.tolist() == [expected[1], expected[0]]
    assert all(engine.memory_used for engine in with_masks(scoring))


# Masks as data, and what is refused.


def test_mask_of_alignments():
    coordinates = np.array([[1, 3, 3, 5, 7], [2, 4, 5, 7, 7]])  # 2 pairs, a gap, 2 pairs, a gap
    mask = cases.with_path(Mask.nothing(8), coordinates)
    assert [mask[i].tolist() for i in range(8)] == [[], [], [1], [2], [], [3], [4], []]
    more = cases.with_path(cases.with_path(mask, np.array([[0, 2], [2, 4]])), coordinates)
    assert [more[i].tolist() for i in range(8)] == [[], [], [0, 1], [1, 2], [], [3], [4], []]
    assert more.rows.tolist() == [2, 2, 3, 3, 5, 6]
    part = more.part(slice(3, 6), slice(2, None))
    assert [part[i].tolist() for i in range(len(part))] == [[0], [], [1]]
    assert len(Mask.nothing(0)) == 0
    assert cases.with_path(Mask.nothing(3), np.array([[0], [0]])).columns.tolist() == []


@pytest.mark.parametrize(
    ("columns", "offsets", "message"),
    [
        ([0, 1], [0, 1], "offsets must go from 0 to the 2 columns"),
        ([0, 1], [0, 2, 1, 2], "offsets must not decrease"),
        ([1, 0], [0, 2], "columns must ascend in each row"),
        ([1, 1], [0, 2], "columns must ascend in each row"),
        ([-1], [0, 1], "columns must ascend in each row, from 0"),
    ],
)
def test_bad_masks(columns, offsets, message):
    with pytest.raises(ValueError, match=message):
        Mask(np.array(columns, np.int32), np.array(offsets, np.int64))


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 3), max_size=60), st.permutations(range(6)))
def test_masks_of_pairs(pairs, order):
    """Pairs in any order, some twice, are the masks of each."""
    which, rows, columns = np.array(pairs, np.int64).reshape(-1, 3).T
    masks = Masks.of_pairs(which, rows, columns, [6] * 6)
    expected = [Mask.of(rows[which == p], columns[which == p], 6) for p in range(6)]
    for found in (masks, Masks.of(expected), masks.select(np.arange(6))):
        assert len(found) == 6
        assert [list(map(np.ndarray.tolist, each)) for each in found] == [
            list(map(np.ndarray.tolist, each)) for each in expected
        ]
    for p, mask in zip(order, masks.select(np.array(order)), strict=True):
        assert mask.offsets.tolist() == expected[p].offsets.tolist()
        assert mask.columns.tolist() == expected[p].columns.tolist()


def test_masks_that_do_not_fit():
    batch = Batch.pairwise([np.zeros(3, np.uint8)], [np.zeros(2, np.uint8)])
    for masks, message in (
        ([], "0 masks for 1 pairs"),
        ([Mask.nothing(2)], "a mask of 2 rows for a query of 3 residues"),
        ([Mask.of([0], [2], 3)], "a mask forbids column 2, the target has 2 residues"),
    ):
        with pytest.raises(ValueError, match=message):
            batch.masked(masks)
    with pytest.raises(TypeError, match="columns must be an array of int32, got int64"):
        Mask(np.zeros(0, np.int64), np.zeros(1, np.int64))


def test_engines_refuse_masks_or_obey(aligner):
    engine = aligner(TOYS[0]).engine
    letters = np.zeros(4, np.uint8)
    everything = Mask.of(*np.nonzero(np.ones((4, 4))), 4)
    batch = Batch.pairwise([letters], [letters]).masked([everything])
    if engine.capabilities.masks:
        assert engine.scores(batch).tolist() == [0]
    else:
        with pytest.raises(ValueError, match=f"engine '{engine.name}' does not support masks"):
            engine.scores(batch)


@pytest.mark.parametrize("gaps", [(12, 1), (9.5, 0.5)])
def test_scores_of_the_matrix_as_own_scores(gaps):
    scoring = Scoring.named("BLOSUM62", *gaps)
    query, target = related(5, 20, 120)
    of_letters = scoring.matrix[np.ix_(query, target)] // scoring.scale
    engine = Aligner(scoring, engine="reference")
    expected = found_by(engine, query, target, max_alignments=5)
    for scores in (of_letters.astype(np.int8), of_letters.astype(np.float32)):
        assert found_by(engine, query, target, max_alignments=5, scores=scores) == expected


def best_by_definition(scores, opening, extension, mode):
    """Return the score of the best alignment, by plain loops over the tables."""
    m, n = scores.shape
    h, e, f = np.full((3, m + 1, n + 1), -np.inf)
    for line in (h[0], h[:, 0]):
        line[0] = 0
        line[1:] = -(opening + extension * np.arange(len(line) - 1)) if mode == "global" else 0
    for i, j in np.ndindex(m, n):
        e[i + 1, j + 1] = max(h[i + 1, j] - opening, e[i + 1, j] - extension)
        f[i + 1, j + 1] = max(h[i, j + 1] - opening, f[i, j + 1] - extension)
        best = max(h[i, j] + scores[i, j], e[i + 1, j + 1], f[i + 1, j + 1])
        h[i + 1, j + 1] = max(0, best) if mode == "local" else best
    return {"local": h.max(), "global": h[-1, -1], "semiglobal": max(h[-1].max(), h[:, -1].max())}[
        mode
    ]


def path_score(coordinates, scores, costs, free_ends=False):
    """Return the score of the columns of an alignment, gaps at its ends free or not."""
    runs = np.diff(coordinates).T.tolist()
    total, (j, i) = 0.0, coordinates[:, 0].tolist()
    for k, (columns, rows) in enumerate(runs):
        if columns and rows:
            total += scores[range(i, i + rows), range(j, j + columns)].sum()
        elif not (free_ends and k in (0, len(runs) - 1)):
            total -= costs[0] + costs[1] * (columns + rows - 1)
        i, j = i + rows, j + columns
    return total


@pytest.mark.parametrize("shape", [(1, 1), (7, 40), (40, 7), (300, 310)])
def test_own_scores_by_smith_waterman(shape):
    """Scores equal those of plain tables, and of the columns that are returned."""
    rng = np.random.default_rng(shape)
    scores = rng.normal(-0.4, 1, shape)
    costs = 0.75, 0.25
    engine = Aligner(Scoring.named("BLOSUM62", *costs), engine="reference")
    best = best_by_definition(scores, *costs, "local")
    found = list(engine.alignments("A" * shape[0], "C" * shape[1], scores=scores, max_alignments=3))
    assert bool(found) == bool(best > 0)
    seen = set()
    for each in found:
        assert each.score == pytest.approx(path_score(each.coordinates, scores, costs), abs=0.02)
        pairs = {*zip(*(side.tolist() for side in each.runs.pairs()), strict=True)}
        assert not pairs & seen
        seen |= pairs
    if found:
        assert found[0].score == pytest.approx(best, abs=0.02)
        assert [each.score for each in found] == sorted(
            (each.score for each in found), reverse=True
        )


@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
@pytest.mark.parametrize("kind", [np.int8, np.float32])
def test_own_scores_of_many_pairs(mode, kind, monkeypatch):
    smaller(monkeypatch, own_positions=50)
    rng, costs = np.random.default_rng(1), (3, 1)
    queries = ["A" * n for n in (1, 13, 60, 7)]
    targets = ["C" * n for n in (1, 300, 20, 0, 9)]
    pairs = [(0, 0), (1, 1), (2, 2), (1, 3), (3, 4), (2, 1), (0, 4)]
    shapes = [(len(queries[q]), len(targets[t])) for q, t in pairs]
    scores = [rng.normal(-1, 3, shape).astype(kind) for shape in shapes]
    aligner = Aligner(Scoring.named("BLOSUM62", *costs), mode=mode, engine="reference")
    expected = [best_by_definition(each, *costs, mode) for each in scores]
    given = {"pairs": pairs, "scores": scores}
    found = aligner.score_pairs(queries, targets, **given)
    assert found.dtype == (np.int32 if kind == np.int8 else np.float64)
    assert found == pytest.approx(expected, abs=0.01)
    with ThreadPoolExecutor(2) as executor:
        by_workers = aligner.score_pairs(queries, targets, executor=executor, **given)
        assert by_workers.tolist() == found.tolist()
        aligned = aligner.align_pairs(queries, targets, executor=executor, **given)
    assert aligned.score.tolist() == found.tolist()
    free = mode == "semiglobal"
    for k, each in enumerate(scores):
        if each.size and aligned.columns[k]:
            by_columns = path_score(aligned.runs[k : k + 1].coordinates(), each, costs, free)
            assert by_columns == pytest.approx(found[k], abs=0.01)
        if mode == "global":
            assert aligned.query_end[k] - aligned.query_start[k] == each.shape[0]
    for k, (q, t) in enumerate(pairs):
        one = [*aligner.alignments(queries[q], targets[t], scores=scores[k], max_alignments=1)]
        assert [each.cigar for each in one] == [aligned.cigar(k)] * len(one)


def test_own_scores_as_one_array():
    """Of a matrix they give what the matrix gives, in a process as well."""
    rng = np.random.default_rng(2)
    scoring = Scoring.blast()
    codes = rng.integers(0, 20, (2, 5, 40)).astype(np.uint8)
    scores = scoring.matrix[codes[0, :, :, None], codes[1, :, None, :]]
    aligner = Aligner(engine="reference")
    expected = aligner.align_pairs(*codes)
    found = aligner.align_pairs(*codes, scores=scores)
    assert (found.score.tolist(), found.cigars()) == (expected.score.tolist(), expected.cigars())
    assert found.positives.tolist() == expected.positives.tolist()
    assert aligner.score_pairs(codes[0][:0], codes[1][:0], scores=scores[:0]).tolist() == []


def test_bad_own_scores():
    local = Aligner(engine="reference")
    for scores, error, message in (
        (np.zeros((2, 3)), ValueError, r"scores have shape \(2, 3\), the sequences need \(3, 2\)"),
        (
            [[1, 2]] * 2 + [[1, np.nan]],
            ValueError,
            "finite numbers from -1000000 to 1000000 expected, got nan",
        ),
        (np.full((3, 2), -2e6), ValueError, "to 1000000 expected, got -2000000"),
        (np.full((3, 2), 9e5), ValueError, "lengths 3 and 2 could score .*, more than 2147483647"),
        ([["a", "b"]] * 3, TypeError, "scores must be numbers, got <U1"),
    ):
        with pytest.raises(error, match=message):
            local.alignments("MKV", "MK", scores=scores)
        with pytest.raises(error, match=message):
            local.score_pairs(["MKV"], ["MK"], scores=[scores])
    with pytest.raises(ValueError, match="1 matrices for 2 pairs"):
        local.align_pairs(["MKV"] * 2, ["MK"] * 2, scores=[np.zeros((3, 2))])
    with pytest.raises(ValueError, match="of 32768 letters: at most 32767 expected"):
        local.score_pairs(["M" * 2**15], ["M"], scores=[np.zeros((2**15, 1))])


def test_bad_arguments():
    aligner = Aligner(engine="reference")
    with pytest.raises(ValueError, match="max_alignments 0: at least 1, or None for all"):
        aligner.alignments("MKV", "MKV", max_alignments=0)
    with pytest.raises(ValueError, match="letter '-'"):
        aligner.alignments("M-V", "MKV")
    with pytest.raises(ValueError, match="max_alignments -1"):
        alignments("MKV", "MKV", max_alignments=-1, engine="reference")
