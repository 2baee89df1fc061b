"""What columns of three score and cost."""

import naive3
import numpy as np
import pytest
from cases3 import DECIMALS

from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, PROTEIN, custom
from glsw.wings.three.scoring import SCHEMES, Costs, Scoring3

AB = custom("AB")


@pytest.mark.parametrize("scoring", [Scoring3.identity(2, -1, 7, 3), Scoring3.sum_of_pairs()])
def test_costs_are_those_of_columns_after_each_other(scoring):
    # Letters of no worth in any column with gaps: C and N score -2 or -3 in BLOSUM62.
    letters = (0, 0, 0)
    gained = {3: (0, 1), 5: (0, 2), 6: (1, 2)}
    for column in range(1, 7):
        pairs = int(scoring.pairs.matrix[0, 0]) if column in gained else 0
        worth = 0 if scoring.scheme == "identity" else pairs
        costs = scoring.costs
        for previous in (None, *range(1, 8)):
            if previous == column:
                expected = costs.extends
            elif previous and previous != 7 and bin(previous ^ column).count("1") == 1:
                expected = costs.mixed
            else:
                expected = costs.opens
            found = naive3.column_score(scoring, letters, column, previous)
            assert found == worth - expected, (column, previous)


def test_cost_of_two_gaps():
    scoring = Scoring3.sum_of_pairs(Scoring.named("GONNET1992", 9.5, 0.5), gap_gap=1.5)
    assert scoring.gap_gap == 15
    assert naive3.column_score(scoring, (0, 0, 0), 1) == -95 * 2 - 15
    assert scoring.in_mode("global").gap_gap == 15
    assert Scoring3.sum_of_pairs().gap_gap == 0
    for wrong in (-1, 0.5, 10**7, float("nan")):
        with pytest.raises(ValueError, match="gap_gap must be"):
            Scoring3.sum_of_pairs(gap_gap=wrong)
    with pytest.raises(ValueError, match="gap_gap is the cost of a pair: scheme 'sum-of-pairs'"):
        Scoring3("identity", scoring.pairs, gap_gap=3)


def test_modes():
    scoring = Scoring3.identity(2, -1, 3, 1)
    assert (scoring.mode, scoring.local, scoring.whole) == ("local", True, 0)
    lengths = np.array([3, 4, 5])
    assert scoring.score_offset(lengths) == 0
    for mode, whole in (("global", 3), ("semiglobal", 1)):
        other = scoring.in_mode(mode)
        assert (other.local, other.whole, other.scheme) == (False, whole, "identity")
        assert other.score_offset(lengths) == 1 + 3 * 3 + 12
        assert other.in_mode("local").score_offset(lengths) == 0
    with pytest.raises(ValueError, match="mode 'overlap': 'local', 'global', 'semiglobal' exp"):
        scoring.in_mode("overlap")


def test_identity():
    scoring = Scoring3.identity()
    assert scoring.costs == Costs(1, 1, 1)
    assert scoring.linear
    assert scoring.maximum == 1
    assert not scoring.pairs_gain
    assert scoring.alphabet is DNA
    assert scoring.name == "identity match 1 mismatch -1"
    affine = Scoring3.identity(5, -4, 10, 1)
    assert affine.costs == Costs(10, 1, 10)
    assert not affine.linear
    assert Scoring3.identity(gap_open=3).costs == Costs(3, 3, 3)
    assert Scoring3.identity(alphabet=AB).alphabet is AB


def test_sum_of_pairs():
    scoring = Scoring3.sum_of_pairs()
    assert (scoring.pairs.name, scoring.pairs.gap_open, scoring.pairs.gap_extend) == (
        *("BLOSUM62", 12, 1),
    )
    assert scoring.costs == Costs(24, 2, 13)
    assert scoring.maximum == 33
    assert scoring.alphabet is PROTEIN
    assert scoring.name == "sum-of-pairs BLOSUM62"
    linear = Scoring3.sum_of_pairs(Scoring.named("BLOSUM62", 8, 8))
    assert linear.linear
    assert linear.costs == Costs(16, 16, 16)


@pytest.mark.parametrize(
    ("gaps", "gain"),
    [
        *(((5, 5), True), ((6, 6), False), ((0, 0), True)),
        # A run of pairs against a gap gains by what goes on, whatever its beginning costs.
        *(((6, 5), True), ((12, 1), True), ((12, 6), False), ((12, 0), True)),
    ],
)
def test_pairs_gain(gaps, gain):
    scoring = Scoring3.sum_of_pairs(Scoring.named("BLOSUM62", *gaps))
    assert scoring.pairs_gain is gain
    w = np.full(40, PROTEIN.letters.index("W"), np.uint8)
    moves = [3] * 40
    assert (naive3.alignment_score((w, w, w[:0]), (40, 40, 0), moves, scoring) > 0) is gain
    assert not Scoring3.identity(100, -1, *gaps).pairs_gain


def test_scores_are_shown_in_units_of_the_matrix():
    assert Scoring3.identity(1.5, -1, 0.5).display(35) == 3.5
    assert Scoring3.sum_of_pairs(DECIMALS).display(-67) == -0.67
    shown = Scoring3.sum_of_pairs().display(np.int32(7))
    assert (shown, type(shown)) == (7, int)


def test_ambiguous_letters_equal_none():
    scoring = Scoring3.identity(3, -2)
    a, n = DNA.letters.index("A"), DNA.letters.index("N")
    assert naive3.column_score(scoring, (a, a, a), 7) == 3
    for letters in ((n, n, n), (a, a, n), (n, a, a), (a, n, a)):
        assert naive3.column_score(scoring, letters, 7) == -2


@pytest.mark.parametrize(
    "make",
    [
        lambda: Scoring3("pairs", Scoring.blast()),
        lambda: Scoring3("", Scoring.blast()),
    ],
)
def test_unknown_scheme(make):
    with pytest.raises(ValueError, match="'identity' or 'sum-of-pairs' expected"):
        make()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_pairs_are_a_scoring(scheme):
    with pytest.raises(TypeError, match="pairs must be a Scoring, not str"):
        Scoring3(scheme, "BLOSUM62")


def test_identity_has_one_match_and_one_mismatch():
    with pytest.raises(ValueError, match=r"has one match and one mismatch, .*BLOSUM62 has more"):
        Scoring3("identity", Scoring.blast())
    by_matrix = Scoring.from_array([[2, -1], [-1, 2]], "AB", 3, 1)
    assert Scoring3("identity", by_matrix).costs == Costs(3, 1, 3)


def test_costs_and_scores_are_checked():
    with pytest.raises(ValueError, match="gap_open must be between"):
        Scoring3.identity(gap_open=-1)
    with pytest.raises(ValueError, match="gap_open 1 must not be less than gap_extend 2"):
        Scoring3.identity(1, -1, 1, 2)
    with pytest.raises(ValueError, match="match -1 must be more than mismatch -1"):
        Scoring3.identity(-1, -1)
    with pytest.raises(ValueError, match="mismatch 1 must not be more than 0"):
        Scoring3.identity(2, 1)
    with pytest.raises(TypeError, match="match must be a number"):
        Scoring3.identity("1")


def test_largest_scores():
    million = Scoring3.identity(10**6, -(10**6), 10**6)
    million.check(np.array([(8, 9999, 9999)]))
    million.check(np.array([(9999, 9999, 8)]))
    with pytest.raises(ValueError, match=r"lengths 9, 300, 9 could score 9000000 .* 8388607"):
        million.check(np.array([(9, 300, 9)]))
    pairs = Scoring3.sum_of_pairs(Scoring.match_mismatch(10**5, -1, 10**6, 10**6))
    pairs.check(np.array([(27, 9999, 9999)]))
    with pytest.raises(ValueError, match="could score 8400000"):
        pairs.check(np.array([(9999, 28, 9999)]))
    # Nothing that scores, and nothing to align.
    Scoring3.sum_of_pairs(Scoring.from_array([[-1]], "A", 1, 1)).check(np.array([(10**9,) * 3]))
    pairs.check(np.array([(0, 0, 0)]))


@pytest.mark.parametrize("gaps", [(100, 100), (10**6, 100)])
def test_pairs_that_gain_count_for_the_largest_score(gaps):
    scoring = Scoring3.sum_of_pairs(Scoring.match_mismatch(10**5, -1, *gaps))
    with pytest.raises(ValueError, match="could score"):
        scoring.check(np.array([(0, 9999, 9999)]))
    scoring.check(np.array([(0, 80, 9999)]))
