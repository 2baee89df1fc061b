import itertools
import math

import numpy as np
import pytest
from Bio.Align import substitution_matrices
from hypothesis import given, strategies as st
from scoring_matrices import ScoringMatrix

from glsw.scoring import matrices
from glsw.scoring.matrices import matrix_names
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, PROTEIN, custom

DECIMAL = {
    "BENNER22": 10,
    "BENNER6": 10,
    "BENNER74": 10,
    "DAYHOFF": 10,
    "GENETIC": 10,
    "GONNET1992": 10,
    "JOHNSON": 100,
    "JONES": 10,
    "MDM78": 100,
    "RISLER": 10,
    "SCHNEIDER": 10,
}


@pytest.mark.parametrize("name", matrix_names())
def test_every_matrix_of_biopython(name):
    published = substitution_matrices.load(name)
    scoring = Scoring.named(name.lower(), 20, 2)
    assert scoring.name == name
    assert scoring.scale == DECIMAL.get(name, 1)
    assert tuple(scoring.alphabet.letters) == tuple(published.alphabet)
    assert scoring.matrix.dtype == np.int32
    for (i, a), (j, b) in itertools.product(enumerate(published.alphabet), repeat=2):
        assert scoring.display(scoring.matrix[i, j]) == published[a, b]
    assert scoring.gap_open == 20 * scoring.scale
    assert scoring.gap_extend == 2 * scoring.scale


def test_blosum62_is_of_proteins():
    assert Scoring.named().alphabet is PROTEIN
    assert Scoring.named("PAM30").alphabet is PROTEIN


@pytest.mark.parametrize("name", ["NUC.4.4", "BLASTN", "MEGABLAST", "HOXD70", "TRANS"])
def test_matrices_of_nucleotides_take_rna(name):
    alphabet = Scoring.named(name, 10, 10).alphabet
    assert np.array_equal(alphabet.encode("acgu"), alphabet.encode("ACGT"))


@pytest.mark.filterwarnings("ignore:.* scored as")
@pytest.mark.parametrize(("letter", "like"), ["UC", "OX", "JX"])
def test_blosum62_scores_rare_residues_like_others(letter, like):
    encode = Scoring.named().alphabet.encode
    assert encode(f"M{letter}K").tolist() == encode(f"M{like}K").tolist()


def test_the_codon_matrix_counts_in_threes():
    scoring = Scoring.named("SCHNEIDER", 100, 10)
    assert len(scoring.alphabet) == 64
    assert scoring.alphabet.encode("AAAUUU").tolist() == [0, 63]
    with pytest.raises(ValueError, match="not a multiple of 3"):
        scoring.alphabet.encode("AAAT")


def test_matrices_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        Scoring.named().matrix[0, 0] = 1


def test_blast_counts_the_first_position_twice():
    scoring = Scoring.blast("BLOSUM62", 11, 1)
    assert (scoring.gap_open, scoring.gap_extend) == (12, 1)
    assert Scoring.blast("BLOSUM62", 0, 2).linear
    assert Scoring.blast("GONNET1992", 9.9, 0.2).gap_open == 101


def test_gaps_may_be_free():
    scoring = Scoring.named("BLOSUM62", 0, 0)
    assert (scoring.gap_open, scoring.gap_extend, scoring.linear) == (0, 0, True)


def test_decimal_gaps_scale_a_matrix_of_integers():
    scoring = Scoring.named("BLOSUM62", 10, 0.5)
    assert (scoring.scale, scoring.gap_open, scoring.gap_extend) == (10, 100, 5)
    assert scoring.maximum == 110
    assert scoring.display(215) == 21.5


def test_scores_of_integers_are_shown_as_integers():
    shown = Scoring.named().display(np.int32(7))
    assert shown == 7
    assert type(shown) is int


def test_matrices_of_scoring_matrices():
    """Where both packages have a matrix it is Biopython's."""
    other = ScoringMatrix.from_name("VTML80")
    scoring = Scoring.named("vtml80", 10, 1)
    assert (scoring.name, "".join(scoring.alphabet.letters)) == ("VTML80", other.alphabet)
    assert scoring.matrix.tolist() == [list(other[k]) for k in range(len(other))]
    assert Scoring.named("PFASUM60").scale > 1
    assert Scoring.named("BLOSUM62").alphabet is PROTEIN
    with pytest.raises(ValueError, match="PAM1 with its gap costs: finite numbers expected"):
        Scoring.named("PAM1")


def test_without_scoring_matrices(monkeypatch):
    found = matrices.find_spec
    monkeypatch.setattr(matrices, "find_spec", lambda name: name == "Bio" and found(name))
    assert not matrices.is_published("VTML80")
    with pytest.raises(ValueError, match=r"unknown matrix 'VTML80'\. There are BENNER"):
        Scoring.named("VTML80")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("BLOSUM26", "BLOSUM62"), ("gonnet1991", "GONNET1992"), ("vtml81", "VTML80")],
)
def test_an_unknown_matrix_names_the_nearest(name, nearest):
    with pytest.raises(ValueError, match=f"unknown matrix '{name}', did you mean {nearest}"):
        Scoring.named(name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("", r"\."),
        ("../BLOSUM62", r", did you mean BLOSUM62\?"),
        ("zzzz", r"\."),
        ("/dev/null", r"\."),
    ],
)
def test_names_of_no_matrix_are_one_line(name, hint):
    with pytest.raises(ValueError, match=f"unknown matrix '{name}'{hint}") as caught:
        Scoring.named(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("gap_open", "gap_extend", "message"),
    [
        (-12, 1, "gap_open must be between 0 and 1000000, got -12; costs are positive numbers"),
        (12, -1, "gap_extend must be between 0 and 1000000, got -1"),
        (1, 12, "gap_open 1 must not be less than gap_extend 12"),
        (1_000_001, 1, "gap_open must be between 0 and 1000000, got 1000001"),
        (math.nan, 1, "gap_open must be finite, got nan"),
        (12, math.inf, "gap_extend must be finite, got inf"),
        (12.000001, 1, "BLOSUM62 with its gap costs: 12.000001 has more than 4 decimals"),
        (1e-7, 0, "more than 4 decimals"),
    ],
)
def test_absurd_gaps_are_refused(gap_open, gap_extend, message):
    with pytest.raises(ValueError, match=message):
        Scoring.named("BLOSUM62", gap_open, gap_extend)


def test_the_limit_counts_scaled_units():
    with pytest.raises(
        ValueError, match=r"200000 is beyond 100000, the limit of numbers with 1 decimal$"
    ):
        Scoring.named("GONNET1992", 200_000, 1)


@pytest.mark.parametrize("wrong", ["12", None, True, [12], 1j])
def test_gaps_of_another_kind_are_refused(wrong):
    with pytest.raises(TypeError, match="gap_open must be a number"):
        Scoring.named("BLOSUM62", wrong, 1)
    if wrong is not None:  # that of the matrix
        with pytest.raises(TypeError, match="extension must be a number"):
            Scoring.blast("BLOSUM62", 11, wrong)


def test_a_matrix_name_is_a_str():
    with pytest.raises(TypeError, match="by name"):
        Scoring.named(62)


@pytest.mark.parametrize("alphabet", [DNA, PROTEIN, custom("abcde"), custom("Q")])
def test_match_and_mismatch(alphabet):
    scoring = Scoring.match_mismatch(5, -4, 10, 2, alphabet=alphabet)
    for i, a in enumerate(alphabet.letters):
        for j, b in enumerate(alphabet.letters):
            expected = 5 if a == b and a not in alphabet.ambiguous else -4
            assert scoring.matrix[i, j] == expected
    assert scoring.linear is False
    assert scoring.name == "match 5 mismatch -4"


def test_n_does_not_match_n():
    n = DNA.letters.index("N")
    assert Scoring.match_mismatch(1, -1, 1, 1).matrix[n, n] == -1


def test_decimal_match_and_mismatch():
    scoring = Scoring.match_mismatch(1, -0.33, 1.5, 0.5)
    assert (scoring.scale, scoring.gap_open, scoring.maximum, scoring.minimum) == (
        100,
        150,
        100,
        -33,
    )


@pytest.mark.parametrize(
    ("match", "mismatch", "message"),
    [
        (1, 1, "match 1 must be more than mismatch 1"),
        (-3, 2, "match -3 must be more than mismatch 2"),
        (0, -1, "match 0 must be more than 0"),
        (math.nan, -1, "match must be finite"),
        (2_000_000, -1, "2000000 is beyond 1000000, the limit of whole numbers$"),
    ],
)
def test_absurd_match_and_mismatch_are_refused(match, mismatch, message):
    with pytest.raises(ValueError, match=message):
        Scoring.match_mismatch(match, mismatch, 5, 2)


def test_match_and_mismatch_are_numbers():
    with pytest.raises(TypeError, match="match must be a number, got str"):
        Scoring.match_mismatch("1", -1, 5, 2)
    with pytest.raises(TypeError, match="mismatch must be a number, got bool"):
        Scoring.match_mismatch(1, False, 5, 2)
    with pytest.raises(TypeError, match="alphabet must be an Alphabet, got str"):
        Scoring.match_mismatch(1, -1, 5, 2, alphabet="ACGT")


def test_from_array_keeps_rows_and_columns():
    scoring = Scoring.from_array([[1, 2], [3, 4]], "xy", 5, 5)
    assert scoring.matrix.tolist() == [[1, 2], [3, 4]]
    assert scoring.alphabet.letters == "xy"


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64, np.float16])
def test_from_array_of_any_number_type(dtype):
    scoring = Scoring.from_array(np.array([[4, -1], [-1, 5]], dtype), "xy", 5, 5)
    assert scoring.matrix.tolist() == [[4, -1], [-1, 5]]


def test_short_floats_are_read_as_decimals():
    scoring = Scoring.from_array(np.array([[15.7]], np.float32), "Q", np.float32(0.1), 0)
    assert (scoring.scale, scoring.maximum, scoring.gap_open) == (10, 157, 1)


@given(st.lists(st.integers(-99999, 99999), min_size=4, max_size=4), st.sampled_from([1, 10, 100]))
def test_scaling_is_exact(units, scale):
    matrix = np.reshape(units, (2, 2)) / scale
    scoring = Scoring.from_array(matrix, "xy", 3, 1)
    assert scale % scoring.scale == 0
    assert [scoring.display(x) for x in scoring.matrix.ravel()] == matrix.ravel().tolist()


@pytest.mark.parametrize(
    ("matrix", "letters", "message"),
    [
        ([[1, 2]], "xy", r"shape \(1, 2\), its 2 letters need \(2, 2\)"),
        ([[1, 2], [3]], "xy", "rows of different lengths"),
        ([[1, 2], [3, 4]], "xyz", "3 letters need"),
        ([[1, 2], [3, 4]], "xx", "'x' occurs twice"),
        ([[1, 2], [math.nan, 4]], "xy", "has nan for y to x"),
        ([[1, -math.inf], [0, 4]], "xy", "has -inf for x to y"),
        ([[1, -1_000_001], [0, 4]], "xy", "array with its gap costs: -1000001 is beyond 1000000"),
        (
            [[1, 0.5], [0, 500_000]],
            "xy",
            "500000 is beyond 100000, the limit of numbers with 1 decimal$",
        ),
        ([[1, 1 / 3], [0, 4]], "xy", "more than 4 decimals"),
        ([], "", "0 letters"),
    ],
)
def test_bad_arrays_are_refused(matrix, letters, message):
    with pytest.raises(ValueError, match=message):
        Scoring.from_array(matrix, letters, 5, 2)


@pytest.mark.parametrize(
    "matrix", [[["1", "2"], ["3", "4"]], [[True, False]] * 2, [[None] * 2] * 2]
)
def test_arrays_hold_numbers(matrix):
    with pytest.raises(TypeError, match="must hold numbers"):
        Scoring.from_array(matrix, "xy", 5, 2)


def test_letters_are_str():
    with pytest.raises(TypeError, match="letters must be str"):
        Scoring.from_array([[1]], 5, 5, 2)


@pytest.mark.parametrize("name", ["BLOSUM62", "GONNET1992", "SCHNEIDER", "NUC.4.4"])
def test_a_file_that_biopython_wrote(name, tmp_path):
    path = tmp_path / "MINE"
    path.write_text(substitution_matrices.load(name).format())
    fresh, named = Scoring.from_file(path, 12, 1), Scoring.named(name, 12, 1)
    assert fresh.name == "MINE"
    assert fresh.scale == named.scale
    assert fresh.alphabet.letters == named.alphabet.letters
    assert np.array_equal(fresh.matrix, named.matrix)


def test_a_file_with_comments_and_windows_line_ends(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"# mine\r\n   A  B\r\n\r\nA  1 -2\r\nB -3  4\r\n")
    scoring = Scoring.from_file(str(path), 5, 2)
    assert scoring.matrix.tolist() == [[1, -2], [-3, 4]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "no matrix in it"),
        (b"# only words\n", "no matrix in it"),
        (b"A B\nA 1 2\n", "2 letters need as many rows, there are 1"),
        (b"A B\nB 1 2\nA 1 2\n", "m:2: expected A and 2 scores, got B and 2"),
        (b"A B\nA 1 2\nB 1\n", "m:3: expected B and 2 scores, got B and 1"),
        (b"A B\nA 1 two\nB 1 2\n", "m:2: could not convert string to float: 'two'"),
        (b"A B\nA 1 nan\nB 1 2\n", "matrix m has nan for A to B"),
        (b"A A\nA 1 2\nA 1 2\n", "'A' occurs twice"),
        (b"\xff\xfe\x00", "not a matrix: it is not text"),
        (b">P1\nMKV\n", "m: 1 letters need|expected >P1"),
    ],
)
def test_bad_files_are_refused(text, message, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=message) as caught:
        Scoring.from_file(path, 5, 2)
    assert "\n" not in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        Scoring.from_file(tmp_path / "none", 5, 2)


def test_the_bound_is_reached_by_equal_sequences_of_the_best_letter():
    scoring = Scoring.named()
    assert scoring.bound(10, 3) == 33
    assert scoring.bound(0, 5) == 0
    assert Scoring.from_array([[-1]], "Q", 1, 1).bound(10, 10) == 0


def test_check_refuses_scores_beyond_int32():
    scoring = Scoring.match_mismatch(1000, -1, 1, 1)
    scoring.check(2_147_483, 10**9)
    with pytest.raises(ValueError, match="lengths 2147484 and 3000000 could score 2147484000"):
        scoring.check(2_147_484, 3_000_000)


def test_the_plain_constructor_checks_too():
    good = np.array([[1, 0], [0, 1]])
    alphabet = custom("xy")
    assert Scoring(good, alphabet, 3, 1, "mine").matrix.dtype == np.int32
    with pytest.raises(TypeError, match="array of integers, got float64"):
        Scoring(good / 2, alphabet, 3, 1, "mine")
    with pytest.raises(TypeError, match="array of integers, got list"):
        Scoring([[1]], alphabet, 3, 1, "mine")
    with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
        Scoring(good[:1], alphabet, 3, 1, "mine")
    with pytest.raises(ValueError, match="entry of size 2000000"):
        Scoring(good * 2_000_000, alphabet, 3, 1, "mine")
    with pytest.raises(ValueError, match="gap_open must be a whole number"):
        Scoring(good, alphabet, 3.5, 1, "mine")
    with pytest.raises(ValueError, match="power of ten"):
        Scoring(good, alphabet, 3, 1, "mine", 7)
    with pytest.raises(TypeError, match="must be an Alphabet"):
        Scoring(good, "xy", 3, 1, "mine")


def test_the_constructor_does_not_freeze_the_callers_matrix():
    matrix = np.array([[1]], dtype=np.int32)
    Scoring(matrix, custom("Q"), 3, 1, "mine")
    matrix[0, 0] = 2


@pytest.mark.parametrize("make", [Scoring.blast, Scoring.nucleotide])
@pytest.mark.parametrize(
    "costs", [{"gapopen": 11}, {"gapextend": 1}, {"gap_open": 12, "gap_extend": 1}]
)
def test_gap_costs_of_blast_have_names_of_their_own(make, costs):
    with pytest.raises(TypeError, match=r"existence \+ k \* extension; gap_open .*") as caught:
        make(**costs)
    assert str(caught.value).startswith(", ".join(costs))
    assert "\n" not in str(caught.value)


def test_scores_in_units_of_the_matrix():
    scores = np.array([192, -3], np.int32)
    whole = Scoring.blast().in_matrix_units(scores)
    decimal = Scoring.named("GONNET1992", 10, 0.5).in_matrix_units(scores)
    assert (whole.dtype, whole.tolist()) == (np.int32, [192, -3])
    assert (decimal.dtype, decimal.tolist()) == (np.float64, [19.2, -0.3])
