"""One alignment for each end, whatever the memory: the one that the oracle prefers."""

import cases
import naive
import numpy as np
import parasail
import pytest
from Bio.Align import PairwiseAligner
from hypothesis import example, given, settings, strategies as st

from glsw.alignment import traceback
from glsw.alignment.traceback import best_end, trace
from glsw.engines.reference import best_cell, fill
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import custom
from glsw.sequences.fasta import read

TOY = custom("ABC")
MEMORY = [0, 20, 60, 2**20]  # bytes: from one row at a time to the whole table


def toy(match, mismatch, extend, more):
    return Scoring.match_mismatch(match, mismatch, extend + more, extend, alphabet=TOY)


toy_scorings = st.builds(
    toy, st.integers(1, 4), st.integers(-3, 0), st.integers(0, 2), st.integers(0, 3)
)


def codes(letters, longest):
    return st.lists(st.integers(0, letters - 1), max_size=longest).map(
        lambda x: np.array(x, np.uint8)
    )


def mutated(rng, letters, length):
    """Return two related sequences of codes, with long and short gaps in both."""
    query = rng.integers(0, letters, length).astype(np.uint8)
    target = np.delete(query, rng.integers(0, length, length // 20))
    target = np.insert(target, len(target) // 3, rng.integers(0, letters, length // 6))
    query = np.insert(query, length // 2, rng.integers(0, letters, length // 8))
    wrong = rng.random(len(target)) < 0.15
    target[wrong] = rng.integers(0, letters, wrong.sum())
    return query, target


def walk_of_tables(query, target, scoring, end):
    """Follow the same preferences through the reference's H, E and F."""
    h, e, f = fill(query, target, scoring)
    (i, j), path, table = end, [], "H"
    while table != "H" or h[i, j] > 0:
        if table == "H":
            if h[i, j] == h[i - 1, j - 1] + scoring.matrix[query[i - 1], target[j - 1]]:
                path.append(naive.DIAGONAL)
                i, j = i - 1, j - 1
            else:
                table = "F" if h[i, j] == f[i, j] else "E"
        elif table == "F":
            path.append(naive.UP)
            table = "H" if f[i, j] == h[i - 1, j] - scoring.gap_open else "F"
            i -= 1
        else:
            path.append(naive.LEFT)
            table = "H" if e[i, j] == h[i, j - 1] - scoring.gap_open else "E"
            j -= 1
    return naive.coordinates(path[::-1], end)


@settings(max_examples=300)
@given(codes(3, 9), codes(3, 9), toy_scorings)
@example(np.array([0, 1, 0], np.uint8), np.array([0, 1, 1, 0], np.uint8), toy(1, 0, 0, 0))
def test_equals_the_oracle(query, target, scoring):
    for end in naive.ends(query, target, scoring):
        expected = naive.coordinates(next(naive.paths(query, target, scoring, end)), end)
        for memory in MEMORY:
            coordinates, score = cases.traced(query, target, scoring, *end, memory=memory)
            assert coordinates.tolist() == expected.tolist()
            assert score == naive.score(query, target, scoring)
            assert score == naive.path_score(query, target, scoring, coordinates)


@settings(max_examples=100)
@given(codes(2, 60), codes(2, 60), toy_scorings, st.integers(0, 1000))
def test_memory_does_not_matter(query, target, scoring, memory):
    """From any cell, not only the best."""
    for end in {(len(query), len(target)), best_cell(query, target, scoring)[1:]}:
        coordinates, score = cases.traced(query, target, scoring, *end)
        divided, same = cases.traced(query, target, scoring, *end, memory=memory)
        assert divided.tolist() == coordinates.tolist()
        expected = walk_of_tables(query, target, scoring, end)
        assert coordinates.tolist() == expected.tolist()
        assert same == score == fill(query, target, scoring)[0][end]


@pytest.mark.parametrize(
    "scoring",
    [
        Scoring.match_mismatch(2, -3, 5, 2),
        Scoring.match_mismatch(2, -3, 5, 0),
        Scoring.match_mismatch(1, -1, 1, 1),
        Scoring.match_mismatch(1, -1, 0, 0),
        Scoring.match_mismatch(1, 0, 2, 1),
        Scoring.match_mismatch(1000, -1000, 40_000, 0),
        Scoring.match_mismatch(1_000_000, -1_000_000, 1_000_000, 1_000_000),
    ],
    ids=lambda scoring: f"{scoring.name} {scoring.gap_open} {scoring.gap_extend}",
)
@pytest.mark.parametrize("letters", [2, 4])
def test_related_sequences(scoring, letters):
    rng = np.random.default_rng(letters)
    query, target = mutated(rng, letters, 200)
    for first in (False, True):
        best, *end = best_cell(query, target, scoring, first=first)
        expected = walk_of_tables(query, target, scoring, tuple(end))
        for memory in (0, 1000, 10_000, 2**20):
            coordinates, score = cases.traced(query, target, scoring, *end, memory=memory)
            assert coordinates.tolist() == expected.tolist()
            assert score == best == naive.path_score(query, target, scoring, coordinates)


def test_numbers_beyond_int32():
    """The cost of a gap along the whole target leaves int32, no score does."""
    scoring = Scoring.match_mismatch(1000, -1000, 1_000_000, 1_000_000)
    rng = np.random.default_rng(1)
    query = rng.integers(0, 4, 60).astype(np.uint8)
    target = np.concatenate([rng.integers(0, 4, 2500).astype(np.uint8), query])
    best, *end = best_cell(query, target, scoring)
    for memory in (0, 2**20):
        coordinates, score = cases.traced(query, target, scoring, *end, memory=memory)
        assert (coordinates.tolist(), score) == ([[2500, 2560], [0, 60]], best)


@pytest.mark.parametrize("gaps", [(3, 1), (2, 2)])
def test_is_one_of_biopythons(gaps):
    scoring = Scoring.match_mismatch(3, -2, *gaps)
    aligner = PairwiseAligner(
        mode="local",
        match_score=3,
        mismatch_score=-2,
        open_gap_score=-gaps[0],
        extend_gap_score=-gaps[1],
    )
    rng = np.random.default_rng(3)
    compared = 0
    for _ in range(100):
        query, target = (rng.integers(0, 4, 14).astype(np.uint8) for _ in range(2))
        _, *end = best_cell(query, target, scoring)
        decode = scoring.alphabet.decode
        theirs = aligner.align(decode(target), decode(query))
        # Biopython leaves out alignments that begin with another one of the same score.
        if len(naive.ends(query, target, scoring)) == 1 and len(theirs) < 200:
            coordinates, score = cases.traced(query, target, scoring, *end)
            assert score == theirs.score
            assert coordinates.tolist() in [a.coordinates.tolist() for a in theirs]
            compared += 1
    assert compared > 40


def test_nothing_aligned():
    scoring = Scoring.match_mismatch(2, -1, 1, 1)
    query = scoring.alphabet.encode("ACGT")
    for memory in (0, 2**20):
        for target in (query, query[:0]):
            coordinates, score = cases.traced(query, target, scoring, 0, 0, memory=memory)
            assert (coordinates.tolist(), score) == ([[0], [0]], 0)
        # H is 0 here although the cell is not on the border.
        coordinates, score = cases.traced(query, query[::-1], scoring, 4, 4, memory=memory)
        assert (coordinates.tolist(), score) == ([[4], [4]], 0)


def test_end_outside():
    scoring = Scoring.match_mismatch(2, -1, 1, 1)
    query = scoring.alphabet.encode("ACGT")
    with pytest.raises(ValueError, match="query_end must be between 0 and 4, got 5"):
        trace(query, query, scoring, 5, 4)
    with pytest.raises(ValueError, match="target_end must be between 0 and 4, got -1"):
        trace(query, query, scoring, 4, -1)


@pytest.mark.realdata
def test_mitochondria(data):
    scoring = Scoring.match_mismatch(5, -4, 12, 2)
    human, mouse, *_ = read(data / "dna" / "mito_human_mouse_chicken_fugu.fasta")
    matrix = parasail.matrix_create("ACGT", 5, -4)
    query, target = human.letters[:6000].upper(), mouse.letters[:6000].upper()
    best = parasail.sw_striped_32(query, target, 12, 2, matrix)
    query, target = scoring.alphabet.encode(query), scoring.alphabet.encode(target)
    end = best.end_query + 1, best.end_ref + 1
    coordinates, score = cases.traced(query, target, scoring, *end)
    divided, _ = cases.traced(query, target, scoring, *end, memory=2**20)
    assert score == best.score == naive.path_score(query, target, scoring, coordinates)
    assert divided.tolist() == coordinates.tolist()


def test_rows_that_no_alignment_reaches_are_left_out(monkeypatch):
    """A short target in a long query: few rows above the end are computed, the path is the same."""
    random = np.random.default_rng(6)
    scorings = (
        Scoring.blast(),
        Scoring.match_mismatch(2, -3, 7, 2),
        Scoring.match_mismatch(1, -1, 1, 1),
        Scoring.match_mismatch(1, -1, 1, 0),  # a gap of any length
    )
    for scoring, letters in zip(scorings, (20, 4, 4, 4), strict=True):
        long, short = (random.integers(0, letters, n, dtype=np.uint8) for n in (900, 12))
        long[700:705] = short[:5]
        long[713:720] = short[5:]
        for query, target in ((long, short), (short, long)):
            _, i, j = best_end(query, target, scoring)
            found = cases.traced(query, target, scoring, i, j)
            with monkeypatch.context() as patched:
                patched.setattr(traceback, "_reach", lambda *_: 2**62)
                whole = cases.traced(query, target, scoring, i, j)
            np.testing.assert_array_equal(found[0], whole[0])
            assert found[1] == whole[1]
