import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import glsw
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import custom
from glsw.wings.series.mindist import distances, mindist_scoring
from glsw.wings.series.sax import (
    alphabet,
    breakpoints,
    paa,
    sax,
    sax_codes,
    znormalize,
)

ABC = "abcdefghijklmnopqrstuvwxyz"
NAN, INFINITY = math.nan, math.inf
LETTERS = st.integers(2, 26)
# Hundredths: far enough from each other that deviations are well above rounding.
SAMPLES = st.integers(-(10**6), 10**6).map(lambda k: k / 100)
SERIES = st.lists(SAMPLES, min_size=1, max_size=40)

# Words of (37 k^2 + 11 k) mod 101, k = 0 .. samples - 1, by samples, segments and letters.
# saxpy 2.0.1 gave all of them; tslearn 0.10.0 and pyts 0.14.1, which take no fractional
# segments, gave those of the first five as well.
PUBLISHED = {
    (64, 16, 4): "bccaccbbbbbbbbdd",
    (96, 32, 8): "ceffbdeffagdddbdeddfgggfddedbddd",
    (60, 12, 3): "bcbbcabbabbb",
    (100, 20, 26): "ksjlshpmhniqtumogkkp",
    (50, 10, 2): "abaababbab",
    (50, 16, 5): "bdddadddbcccbcbc",
    (37, 10, 7): "ceebdeebed",
    (23, 7, 26): "iqqjepu",
    (17, 16, 4): "acdcbddccdcaabac",
    (1000, 128, 10): "fdgeedegiedfegdgeedehhededgdgeeddhhedeegdgeecehhedeegdgeedehheceegdgeedehhdd"
    "eegdgdedehhedeegdgefdeigedeegdfeedeifedfegeffddfifed",
}


@st.composite
def series_and_segments(draw):
    series = draw(SERIES)
    return series, draw(st.integers(1, len(series)))


def naive_paa(series, segments):
    """Repeat every sample so often that segments are whole, and average exactly."""
    repeated = [Fraction(x) for x in series for _ in range(segments)]
    size = len(series)
    return [sum(repeated[k * size : (k + 1) * size]) / size for k in range(segments)]


def naive_sax(series, segments, letters):
    """SAX by its definition, in exact fractions but for root and breakpoints.

    Returns None if a mean lies so near to a breakpoint that rounding decides.
    """
    exact = [Fraction(x) for x in series]
    mean = sum(exact) / len(exact)
    variance = sum((x - mean) ** 2 for x in exact) / len(exact)
    if not variance:
        return ABC[letters // 2] * segments
    word = ""
    for value in naive_paa(exact, segments):
        height = float(value - mean) / math.sqrt(variance)
        share = NormalDist().cdf(height) * letters
        if abs(share - round(share)) < 1e-6:
            return None
        word += ABC[int(share)]
    return word


def test_worked_example():
    # Mean 4, variance 34/8: the means lie -0.97, -0.24, 1.21 and 0 deviations from 4.
    series = [2, 2, 4, 3, 4, 9, 4, 4]
    expected = np.array([-2, -2, 0, -1, 0, 5, 0, 0]) / math.sqrt(4.25)
    assert np.allclose(znormalize(series), expected)
    assert paa(series, 4).tolist() == [2, 3.5, 6.5, 4]
    assert sax(series, 4, 3) == "abcb"
    assert sax(series, 4, 4) == "abdc"
    assert sax_codes(series, 4, 4).tolist() == [0, 1, 3, 2]


def test_published_breakpoints():
    # Table 3 of the paper, two decimals.
    assert breakpoints(3).round(2).tolist() == [-0.43, 0.43]
    assert breakpoints(5).round(2).tolist() == [-0.84, -0.25, 0.25, 0.84]
    assert breakpoints(10).round(2).tolist() == [
        -1.28, -0.84, -0.52, -0.25, 0, 0.25, 0.52, 0.84, 1.28,
    ]  # fmt: skip


@pytest.mark.parametrize("letters", range(2, 27))
def test_breakpoints_are_equiprobable(letters):
    borders = breakpoints(letters)
    assert borders.shape == (letters - 1,)
    below = [0.0, *(0.5 * math.erfc(-b / math.sqrt(2)) for b in borders), 1.0]
    assert np.allclose(np.diff(below), 1 / letters, rtol=0, atol=1e-12)
    assert np.allclose(borders, -borders[::-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("samples", "segments", "letters"), PUBLISHED)
def test_words_of_other_packages(samples, segments, letters):
    series = [(37 * k * k + 11 * k) % 101 for k in range(samples)]
    assert sax(series, segments, letters) == PUBLISHED[samples, segments, letters]


@given(series_and_segments(), LETTERS)
def test_naive_definition(given_series, letters):
    series, segments = given_series
    expected = naive_sax(series, segments, letters)
    assume(expected is not None)
    assert sax(series, segments, letters) == expected


@given(series_and_segments())
def test_paa_of_fractional_segments_is_exact(given_series):
    series, segments = given_series
    expected = [float(x) for x in naive_paa(series, segments)]
    means = paa(series, segments)
    assert means.dtype == np.float64
    assert np.allclose(means, expected, rtol=1e-12, atol=1e-8)
    assert math.isclose(means.mean(), np.mean(series), rel_tol=1e-12, abs_tol=1e-8)


def test_paa_by_hand():
    assert paa([1, 2, 3, 4, 5, 6, 7], 7).tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert paa([1, 2, 3, 4, 5, 6, 7], 1).tolist() == [4]
    # 5/3 samples each: 1, 2/3 of 4; 1/3 of 4, 1, 1/3 of 16; 2/3 of 16, 1.
    expected = np.array([1 + 8 / 3, 4 / 3 + 9 + 16 / 3, 32 / 3 + 25]) * 3 / 5
    assert np.allclose(paa([1, 4, 9, 16, 25], 3), expected)


@given(SERIES)
def test_znormalize_gives_mean_0_and_deviation_1(series):
    normal = znormalize(series)
    assert normal.shape == (len(series),)
    if len(set(series)) == 1:
        assert not normal.any()
    else:
        assert math.isclose(normal.mean(), 0, abs_tol=1e-9)
        assert math.isclose(normal.std(), 1, rel_tol=1e-9)


@given(
    series_and_segments(),
    LETTERS,
    st.sampled_from([1e-9, 0.1, 1 / 3, 7, 1000]),
    st.integers(-1000, 1000),
)
def test_scaling_and_shifting_change_nothing(given_series, letters, factor, offset):
    series, segments = given_series
    assume(len(set(series)) == 1 or np.std(series) > 0.01)
    changed = (np.array(series) + offset) * factor
    assert np.allclose(znormalize(changed), znormalize(series), rtol=1e-6, atol=1e-6)
    heights = paa(znormalize(series), segments)[:, None] - breakpoints(letters)
    assume(not ((np.abs(heights) < 1e-6) & (np.abs(heights) > 1e-12)).any())
    assert sax(changed, segments, letters) == sax(series, segments, letters)


@given(series_and_segments(), LETTERS, st.integers(-1000, 1000))
def test_powers_of_two_change_no_bit(given_series, letters, exponent):
    series, segments = given_series
    scaled = np.ldexp(series, exponent)
    assert np.array_equal(znormalize(scaled), znormalize(series))
    assert sax(scaled, segments, letters) == sax(series, segments, letters)


@pytest.mark.parametrize("letters", range(2, 27))
@pytest.mark.parametrize("factor", [1, 0.1, 1e-7, 1e9])
def test_means_on_a_breakpoint_take_the_upper_letter(letters, factor):
    series = np.array([1, 2, 3, 4, 5]) * factor
    word = sax(series, 5, letters)
    assert word[2] == ABC[letters // 2]


@pytest.mark.parametrize("value", [0, 7, -3, 0.1, 1e-300, 1e300])
@pytest.mark.parametrize("letters", [2, 3, 4, 5, 26])
def test_constants_have_the_middle_letter(value, letters):
    assert sax([value] * 10, 4, letters) == ABC[letters // 2] * 4
    assert sax([value], 1, letters) == ABC[letters // 2]


def test_constants_but_for_rounding():
    noise = np.tile([0.1 + 0.2, 0.3], 20)
    assert len(set(noise.tolist())) == 2
    assert sax(noise, 10, 5) == "c" * 10
    assert sax(noise * 1e-7, 10, 5) == "c" * 10
    assert sax([1e-12, 2e-12, 3e-12], 3, 3) == "abc"


def test_threshold_is_in_the_unit_of_the_series():
    series = [1.0, 3.0]  # standard deviation 1
    assert sax(series, 2, 4, threshold=0.99) == "ad"
    assert sax(series, 2, 4, threshold=1) == "cc"
    assert sax([[1, 3], [10, 30]], 2, 4, threshold=1) == ["cc", "ad"]
    assert sax(np.tile([0.1 + 0.2, 0.3], 5), 10, 2, threshold=0) == "ba" * 5
    assert znormalize([2, 2], threshold=0).tolist() == [0, 0]
    assert sax([1e-300, -1e-300], 2, 2, threshold=1) == "bb"


def test_one_stretch_may_be_constant():
    assert sax([0, 0, 0, 0, 0, 0, 9, 0], 4, 3) == "bbbc"


def test_extreme_numbers():
    assert sax([1e308, -1e308, 1e308, -1e308], 4, 4) == "dada"
    assert sax([5e-324, 0, 5e-324, 0], 4, 4) == "dada"


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint16, np.float32, np.float64])
def test_kinds_of_numbers(kind):
    series = [100, 3, 5, 120, 90, 0, 1, 77]
    expected = sax([float(x) for x in series], 3, 6)
    assert sax(np.array(series, dtype=kind), 3, 6) == expected
    assert sax(series, np.int64(3), np.int32(6)) == expected
    assert sax(tuple(series), 3, 6) == expected


@given(st.integers(1, 5), series_and_segments(), LETTERS, st.randoms())
def test_channels_are_treated_one_by_one(channels, given_series, letters, random):
    series, segments = given_series
    rows = [random.sample(series, len(series)) for _ in range(channels)]
    assert sax(rows, segments, letters) == [sax(row, segments, letters) for row in rows]
    codes = sax_codes(rows, segments, letters)
    assert codes.dtype == np.uint8
    assert codes.shape == (channels, segments)
    assert znormalize(rows).shape == (channels, len(series))
    assert paa(rows, segments).shape == (channels, segments)


def test_memory_order_does_not_matter():
    rows = np.arange(60.0).reshape(5, 12) ** 2 % 17
    expected = [sax(row.tolist(), 5, 6) for row in rows]
    assert sax(np.asfortranarray(rows), 5, 6) == expected
    assert sax(rows[::-1, ::-1], 5, 6)[::-1] == [sax(row[::-1], 5, 6) for row in rows]


def test_the_series_stays_as_it_is():
    series = np.array([1.0, NAN, 3.0])
    for function in (znormalize, lambda s, **k: paa(s, 1, **k), lambda s, **k: sax(s, 1, 3, **k)):
        function(series, missing="skip")
        assert np.array_equal(series, [1.0, NAN, 3.0], equal_nan=True)


def test_no_channels():
    assert sax(np.empty((0, 8)), 4, 3) == []
    assert sax_codes(np.empty((0, 8)), 4, 3).shape == (0, 4)


@pytest.mark.parametrize("function", [znormalize, lambda s, **k: paa(s, 2, **k)])
def test_what_is_not_finite_is_named(function):
    with pytest.raises(
        ValueError, match=r'^series: sample 3 is nan; missing="skip" leaves nan out'
    ):
        function([1, 2, NAN, 4])
    with pytest.raises(ValueError, match=r"^channel 2: sample 4 is nan"):
        function([[1, 2, 3, 4], [1, 2, 3, NAN]])
    with pytest.raises(ValueError, match=r"^channel 1: sample 2 is inf$"):
        function([[1, INFINITY, 3], [1, 2, NAN]])
    with pytest.raises(ValueError, match=r"^series: sample 2 is -inf$"):
        function([NAN, -INFINITY, 3], missing="skip")


def test_nan_may_be_left_out():
    series = [1, NAN, 3, NAN, 5, 7]
    normal = znormalize(series, missing="skip")
    assert np.isnan(normal).tolist() == [False, True, False, True, False, False]
    assert np.allclose(normal[[0, 2, 4, 5]], znormalize([1, 3, 5, 7]))
    assert paa(series, 3, missing="skip").tolist() == [1, 3, 6]
    # 3/2 samples a segment: 1; 3; 5; and half of 5 with 7.
    assert np.allclose(paa(series, 4, missing="skip"), [1, 3, 5, (2.5 + 7) / 1.5])
    assert sax(series, 3, 4, missing="skip") == "abd"
    constant = znormalize([5, NAN, 5], missing="skip")
    assert np.array_equal(constant, [0, NAN, 0], equal_nan=True)
    assert sax([5, NAN, 5], 1, 3, missing="skip") == "b"
    with pytest.raises(ValueError, match=r"^series: samples 2 to 2, those of segment 2, are all"):
        sax([5, NAN, 5], 3, 3, missing="skip")


def test_what_nan_leaves_nothing_of_is_named():
    with pytest.raises(
        ValueError, match=r"^channel 2: samples 3 to 4, those of segment 2, are all"
    ):
        sax([[1, 2, 3, 4], [1, 2, NAN, NAN]], 2, 3, missing="skip")
    with pytest.raises(ValueError, match=r"^series: samples 3 to 6, those of segment 2, are all"):
        paa([1, 2, NAN, NAN, NAN, NAN, 4, 4], 3, missing="skip")
    with pytest.raises(ValueError, match=r"^series is nan throughout$"):
        sax([NAN, NAN], 1, 3, missing="skip")
    with pytest.raises(ValueError, match=r"^channel 2 is nan throughout$"):
        znormalize([[1, 2], [NAN, NAN]], missing="skip")


@given(series_and_segments(), LETTERS)
def test_skip_changes_nothing_where_nothing_is_missing(given_series, letters):
    series, segments = given_series
    assert sax(series, segments, letters, missing="skip") == sax(series, segments, letters)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1, 2], 3, 4), ValueError, "a series of 2 samples has 1 to 2 segments, not 3"),
        (([1, 2], 0, 4), ValueError, "has 1 to 2 segments, not 0"),
        (([1, 2], 1.0, 4), TypeError, "segments must be a whole number, got float"),
        (([1, 2], True, 4), TypeError, "segments must be a whole number, got bool"),
        (([1, 2], 1, 1), ValueError, "letters 1: a whole number from 2 to 26 expected"),
        (([1, 2], 1, 27), ValueError, "letters 27: a whole number from 2 to 26 expected"),
        (([1, 2], 1, "4"), TypeError, "letters must be a whole number, not str"),
        (([], 1, 4), ValueError, r"series has no samples: shape \(0,\)"),
        (([[], []], 1, 4), ValueError, r"series has no samples: shape \(2, 0\)"),
        ((3.0, 1, 4), ValueError, r"shape \(samples,\) or \(channels, samples\), got \(\)"),
        (([[[1]]], 1, 4), ValueError, r"got \(1, 1, 1\)"),
        (([[1, 2], [3]], 1, 4), ValueError, "channels must have as many samples each"),
        (("abc", 1, 4), TypeError, "series must hold integers or floats, got <U3"),
        (([1j, 2], 1, 4), TypeError, "got complex128"),
        (([True, False], 1, 4), TypeError, "got bool"),
        (([None, 1], 1, 4), TypeError, "got object"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        sax(*arguments)


def test_wrong_options():
    with pytest.raises(ValueError, match='missing must be "error" or "skip", got \'drop\''):
        sax([1, 2], 1, 3, missing="drop")
    with pytest.raises(ValueError, match=r"threshold must not be negative, got -0\.1"):
        sax([1, 2], 1, 3, threshold=-0.1)
    with pytest.raises(ValueError, match="threshold must not be negative, got nan"):
        sax([1, 2], 1, 3, threshold=NAN)
    with pytest.raises(TypeError, match="threshold must be a number, got str"):
        sax([1, 2], 1, 3, threshold="0.01")


def test_distances_of_the_paper():
    # Table 4 of the paper, for four letters.
    assert distances(4).round(2).tolist() == [
        [0, 0, 0.67, 1.35],
        [0, 0, 0, 0.67],
        [0.67, 0, 0, 0],
        [1.35, 0.67, 0, 0],
    ]


@pytest.mark.parametrize("letters", range(2, 27))
def test_distances_by_definition(letters):
    borders, cells = breakpoints(letters), distances(letters)
    for row in range(letters):
        for column in range(letters):
            low, high = sorted((row, column))
            expected = borders[high - 1] - borders[low] if high - low > 1 else 0
            assert cells[row, column] == expected


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(
            st.lists(SAMPLES, min_size=n, max_size=n),
            st.lists(SAMPLES, min_size=n, max_size=n),
            st.integers(1, n),
        )
    ),
    LETTERS,
)
def test_distances_are_a_lower_bound(pair, letters):
    first, second, segments = pair
    codes = [sax_codes(each, segments, letters) for each in (first, second)]
    means = [paa(znormalize(each), segments) for each in (first, second)]
    assert (distances(letters)[tuple(codes)] <= np.abs(means[0] - means[1]) + 1e-6).all()


def test_alphabet():
    assert alphabet(5).letters == "abcde"
    assert alphabet(26).letters == ABC
    assert alphabet(3) == custom("abc", "SAX")
    assert alphabet(3).decode(sax_codes([1, 2, 3], 3, 3)) == "abc"


@pytest.mark.parametrize("letters", range(2, 27))
def test_scoring_by_distance(letters):
    scoring = mindist_scoring(letters, 1.5, 2, 0.5)
    assert scoring.alphabet == alphabet(letters)
    assert scoring.gap_open == 2 * scoring.scale
    assert scoring.gap_extend == scoring.scale / 2
    shown = scoring.matrix / scoring.scale
    expected = 1.5 * np.eye(letters) - distances(letters)
    assert np.abs(shown - expected).max() <= 0.005 + 1e-9
    assert np.array_equal(scoring.matrix, scoring.matrix.T)


def test_scoring_expects_less_than_nothing():
    means = [mindist_scoring(letters).matrix.mean() for letters in range(2, 27)]
    assert [mean < 0 for mean in means] == [False] * 2 + [True] * 23


def test_decimals_of_a_scoring():
    assert mindist_scoring(4, decimals=0).matrix[0].tolist() == [1, 0, -1, -1]
    assert mindist_scoring(4, decimals=0).scale == 1
    assert mindist_scoring(4, decimals=1).matrix[0].tolist() == [10, 0, -7, -13]
    assert mindist_scoring(4, decimals=4).matrix[0].tolist() == [10000, 0, -6745, -13490]
    with pytest.raises(ValueError, match="decimals must be from 0 to 4, got 5"):
        mindist_scoring(4, decimals=5)
    with pytest.raises(TypeError, match="decimals must be a whole number, got float"):
        mindist_scoring(4, decimals=1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, 0), "match 0 must be more than"),
        ((4, -1), "match -1 must be more than"),
        ((4, NAN), "match must be finite"),
        ((4, 1, -1), "gap_open must be between"),
        ((4, 1, 1, 2), "gap_open 1 must not be less than gap_extend 2"),
        ((4, 1.00001), "more than 4 decimals"),
        ((27,), "letters 27: a whole number from 2 to 26 expected"),
    ],
)
def test_absurd_scorings(arguments, message):
    with pytest.raises(ValueError, match=message):
        mindist_scoring(*arguments)


def test_words_align():
    first = sax(np.sin(np.arange(64) / 5), 32, 6)
    second = first[8:24]
    aligner = glsw.Aligner(mindist_scoring(6), engine="reference")
    assert aligner.score(first, second) == 16
    identity = Scoring.match_mismatch(1, -1, 1, 1, alphabet=alphabet(6))
    assert glsw.Aligner(identity, engine="reference").score(first, second) == 16
