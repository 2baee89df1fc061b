"""Engine ``bit_parallel`` and the distances of the host, judged by the reference and by edlib."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import cases
import edlib
import numpy as np
import pytest
from cases import EDIT_CASES, build, judge, label

from glsw.aligner import Aligner
from glsw.alignment.batch import Batch
from glsw.engines import Auto, engine_of
from glsw.engines.reference import Reference
from glsw.engines.tiles import ScanTile
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, custom
from glsw.sequences.encoded import Sequences, in_whole_words
from glsw.wings.edit.bit_integers import edit_distances
from glsw.wings.edit.bit_parallel import SOFTWARE, BitParallel
from glsw.wings.edit.bit_planes import Strips, bit_planes
from glsw.wings.edit.items import code_alphabet
from glsw.wings.edit.unit_costs import has_unit_costs, unit_costs

ACGT = custom("ACGT")
EDGES = (0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 97, 129)


def by_edlib(query, target, infix):
    """Return the distance and the target letters before the first end."""
    sides = (bytes(side).decode("latin-1") for side in (query, target))
    found = edlib.align(*sides, mode="HW" if infix else "NW")
    distance, ends = found["editDistance"], found["locations"]
    if infix and distance == len(query):
        return distance, 0  # edlib leaves this end out if the length is a multiple of 64
    return distance, ends[0][1] + 1


def some_pairs(rng, count, longest, letters):
    """Return unrelated pairs, and relatives inside or outside of others."""
    found = []
    for _ in range(count):
        m, n = rng.integers(1, longest, 2)
        query, target = (rng.integers(0, letters, each).astype(np.uint8) for each in (m, n))
        kind = rng.integers(0, 4)
        if kind == 1:
            target = cases.mutated(rng, letters, query)
        if kind == 2:
            target = np.concatenate([target[: n // 2], cases.mutated(rng, letters, query)])
        if kind == 3:
            query = target[n // 3 : n // 2]
        found.append((query, target))
    return found


def assert_as_edlib(pairs, found, infix):
    for k, (query, target) in enumerate(pairs):
        expected = by_edlib(query, target, infix)
        assert (found.distance[k], found.target_end[k]) == expected, (k, query, target)


@pytest.mark.parametrize("configuration", cases.configurations(cases.OF_EDITS), ids=label)
def test_equals_the_reference(device, configuration, subtests):
    for name, case in EDIT_CASES.items():
        with subtests.test(name):
            judge(build(configuration, case.scoring, device), case)


@pytest.mark.parametrize("infix", [False, True])
@pytest.mark.parametrize("letters", [2, 4, 20, 250])
def test_equals_edlib(device, letters, infix):
    pairs = some_pairs(np.random.default_rng(letters), 150, 300, letters)
    batch = Batch.pairwise(*zip(*pairs, strict=True))
    engine = BitParallel(unit_costs(code_alphabet(letters), infix=infix), device)
    cells = []
    found = engine.distances(batch, progress=cells.append)
    assert_as_edlib(pairs, found, infix)
    assert sum(cells) == batch.cells
    host = edit_distances(pairs, infix)
    assert np.array_equal(host, np.stack(found, axis=1))


@pytest.mark.parametrize("infix", [False, True])
def test_lengths_around_words_and_strips(device, infix):
    rng = np.random.default_rng(5)
    pairs = [
        tuple(rng.integers(0, 3, each).astype(np.uint8) for each in lengths)
        for lengths in product(EDGES, EDGES)
    ]
    batch = Batch.pairwise(*zip(*pairs, strict=True))
    for words, columns in ((1, 32), (2, 64), (3, 2048)):
        engine = BitParallel(unit_costs(ACGT, infix=infix), device, words=words, columns=columns)
        assert_as_edlib(pairs, engine.distances(batch), infix)
    sides = [Sequences.of(side) for side in zip(*pairs, strict=True)]
    each = engine.distances_of_each(*sides)
    for k in range(len(pairs)):
        assert (each.distance[k, k], each.target_end[k, k]) == by_edlib(*pairs[k], infix)


@pytest.mark.parametrize("infix", [False, True])
def test_long_targets(device, infix):
    """Software renderers end loops after 65535 rounds; columns are cut before."""
    rng = np.random.default_rng(6)
    target = rng.integers(0, 4, 70_000).astype(np.uint8)
    queries = [target[60_000:60_500], target[10:20], rng.integers(0, 4, 2000).astype(np.uint8)]
    pairs = [(query, target) for query in queries]
    engine = BitParallel(unit_costs(ACGT, infix=infix), device)
    found = engine.distances(Batch.pairwise(*zip(*pairs, strict=True)))
    assert_as_edlib(pairs, found, infix)


def test_long_targets_are_cut_into_windows(device):
    rng = np.random.default_rng(10)
    for least in (2**26, 1):
        limits = replace(SOFTWARE, cells=least, window=64, lengths=1)
        engine = BitParallel(unit_costs(ACGT, infix=True), device, memory=2000, limits=limits)
        pairs = some_pairs(rng, 40, 60, 4)
        pairs = [(a, rng.integers(0, 4, rng.integers(1, 900)).astype(np.uint8)) for a, _ in pairs]
        pairs += [(a[::-1], np.concatenate([b, a[::-1], b, a[::-1]])) for a, b in pairs]
        pairs += [(np.repeat(a, 2) % 2, b % 2 + 2) for a, b in pairs[:9]]  # nothing matches
        batch = Batch.pairwise(*zip(*pairs, strict=True))
        assert_as_edlib(pairs, engine.distances(batch), infix=True)
        found = engine.distances_of_each(batch.queries, batch.targets)
        for k, (query, target) in enumerate(pairs):
            expected = by_edlib(query, target, True)
            assert (found.distance[k, k], found.target_end[k, k]) == expected


@pytest.mark.parametrize("infix", [False, True])
def test_each_with_each_in_many_tiles(device, infix):
    rng = np.random.default_rng(7)
    sides = [
        Sequences.of(rng.integers(0, 4, n).astype(np.uint8) for n in rng.integers(0, 90, count))
        for count in (14, 16)
    ]
    scoring = unit_costs(ACGT, infix=infix)
    expected = BitParallel(scoring, device).distances_of_each(*sides)
    small = BitParallel(scoring, device, words=1, memory=2000).distances_of_each(*sides)
    assert np.array_equal(expected, small)
    by_reference = next(Reference(scoring).answers([ScanTile(sides[0], sides[1])]))
    assert np.array_equal(-expected.distance, by_reference)
    (scanned,) = engine_of(BitParallel, scoring, device).answers([ScanTile(sides[0], sides[1])])
    assert np.array_equal(scanned, by_reference)


@pytest.mark.parametrize("infix", [False, True])
def test_queries_of_few_pairs_share_strips(device, infix):
    limits = replace(SOFTWARE, lanes=10**6)
    pairs = some_pairs(np.random.default_rng(11), 60, 400, 4)
    batch = Batch.pairwise(*zip(*pairs, strict=True))
    for options in ({"words": 2, "columns": 96}, {"words": 3, "memory": 9999}, {}):
        engine = BitParallel(unit_costs(ACGT, infix=infix), device, **options, limits=limits)
        assert_as_edlib(pairs, engine.distances(batch), infix)
        found = engine.distances_of_each(batch.queries, batch.targets)
        assert np.array_equal(found.distance.diagonal(), engine.distances(batch).distance)
        assert np.array_equal(found.target_end.diagonal(), engine.distances(batch).target_end)


def test_ambiguous_letters_never_match(device):
    batch = Batch.pairwise([DNA.encode("ANGT")], [DNA.encode("ANGT")])
    assert BitParallel(unit_costs(), device).scores(batch).tolist() == [-1]


def test_large_pairs_are_left_to_the_rest(device):
    rng = np.random.default_rng(8)
    pairs = [tuple(rng.integers(0, 4, (2, n)).astype(np.uint8)) for n in (10, 90)]
    batch = Batch.pairwise(*zip(*pairs, strict=True))
    limits = replace(SOFTWARE, large=2000)
    engine, left = BitParallel(unit_costs(ACGT), device, limits=limits), []

    def rest(batch, progress):
        left.append(len(batch))
        return Reference(engine.scoring).scores(batch, progress=progress)

    engine.rest = rest
    expected = [-by_edlib(*pair, False)[0] for pair in pairs]
    assert engine.scores(batch).tolist() == expected
    assert left == [1]
    routed = engine_of(BitParallel, engine.scoring, device)
    assert routed.scores(batch).tolist() == expected


def test_auto_takes_it_and_others_align(device):
    scoring = unit_costs(ACGT)
    batch = Batch.pairwise([np.zeros(5, np.uint8)], [np.ones(4, np.uint8)])
    assert engine_of(BitParallel, scoring, device).label == "bit_parallel"
    router = engine_of(Auto, scoring, device)
    assert router.label == "auto"
    router.scores(batch)
    assert router.label == "auto: bit_parallel"
    aligning = engine_of(Auto, scoring, device)
    aligning.ends(batch)
    assert aligning.label.startswith("auto: ")
    assert "bit_parallel" not in aligning.label
    with Aligner(scoring, device=device) as aligner:
        assert aligner.score("ACGT", ["ACT", "AGGT", ""]).tolist() == [-1, -1, -4]
        found = aligner.align("ACGTT", "AGTC")
        assert (found.score, found.cigar) == (-2, "1=1I2=1X")


@pytest.mark.parametrize(
    "scoring",
    [
        Scoring.match_mismatch(1, -1, 1, 1).in_mode("global"),
        unit_costs().in_mode("local"),
        unit_costs().in_mode("semiglobal"),
        unit_costs().in_mode("semiglobal", free="query"),
        Scoring.named("BLOSUM62", 12, 1),
    ],
)
def test_other_scorings_are_refused(device, scoring):
    assert not has_unit_costs(scoring)
    with pytest.raises(ValueError, match=r"^engine 'bit_parallel' computes edit distances only: "):
        BitParallel(scoring, device)


@pytest.mark.parametrize("options", [{"words": 0}, {"words": 17}, {"columns": 33}])
def test_wrong_options(device, options):
    (name,) = options
    with pytest.raises(ValueError, match=f"^{name} {options[name]}: "):
        BitParallel(unit_costs(), device, **options)


@pytest.mark.slow
@pytest.mark.parametrize("infix", [False, True])
def test_many_pairs_equal_edlib(device, infix):
    """10^5 pairs of 1 to 5,000 letters, half of them relatives."""
    rng = np.random.default_rng(9)
    engine = BitParallel(unit_costs(ACGT, infix=infix), device)
    for _ in range(100):
        pairs = some_pairs(rng, 1000, 5001, 4)
        assert_as_edlib(pairs, engine.distances(Batch.pairwise(*zip(*pairs, strict=True))), infix)


@pytest.mark.parametrize("infix", [False, True])
def test_short_targets_stay_in_order(device, infix):
    """Tiles of some rows of the result, of all columns or some."""
    rng = np.random.default_rng(8)
    left, right = (
        Sequences.of(rng.integers(0, 4, k, np.uint8) for k in rng.integers(1, 31, count))
        for count in (40, 50)
    )
    scoring = unit_costs(code_alphabet(4), infix=infix)
    every = np.indices((40, 50)).reshape(2, -1).T.astype(np.int32)
    expected = -Reference(scoring).scores(Batch((left, right), every)).reshape(40, 50)
    for memory in (2**28, 12 * 300, 12 * 20):
        found = BitParallel(scoring, device, memory=memory).distances_of_each(left, right)
        np.testing.assert_array_equal(found.distance, expected)


@pytest.mark.parametrize(("least", "most"), [(40, 40), (1, 40), (1, 900)])
@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_letters_of_many_are_those_of_each(least, most, step):
    rng = np.random.default_rng(6)
    lengths = rng.integers(least, most + 1, 50_000 // most)
    every = Sequences.of([rng.integers(0, 5, length, np.uint8) for length in lengths])
    which, cut = np.arange(len(every))[::step], Strips(2, 16)
    together = bit_planes(every, which, cut, 3, 4)
    assert together.shape == (len(which), 32, 4)
    for k, number in enumerate(which):
        assert np.array_equal(together[k], bit_planes(every, np.array([number]), cut, 3, 4)[0])
    words = [np.append(each, np.full(-len(each) % 4, 9, np.uint8)) for each in every]
    assert np.array_equal(in_whole_words(every, 9), np.concatenate(words))
