import gc
import pickle
import re
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from subtests import with_subtests

from glsw.scoring.matrices import matrix_names
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, PROTEIN, Alphabet, UnknownLetterError, custom

CODONS = tuple(a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT")


def test_protein_has_the_letters_of_blosum62():
    assert PROTEIN.letters == "ARNDCQEGHILKMFPSTWYVBZX*"
    assert len(PROTEIN) == 24
    assert PROTEIN.encode("ARND").tolist() == [0, 1, 2, 3]


@given(st.text(PROTEIN.letters))
def test_decode_undoes_encode(text):
    codes = PROTEIN.encode(text)
    assert codes.dtype == np.uint8
    assert codes.shape == (len(text),)
    assert PROTEIN.decode(codes) == text


@given(st.lists(st.sampled_from(CODONS)).map("".join))
def test_decode_undoes_encode_of_codons(text):
    codons = custom(CODONS, "codons")
    codes = codons.encode(text.lower())
    assert codes.shape == (len(text) // 3,)
    assert codons.decode(codes) == text


@given(st.text())
def test_any_text_is_encoded_or_refused_with_its_first_stranger(text):
    known = set(DNA.letters + DNA.letters.lower() + "uU")
    strangers = [k for k, letter in enumerate(text) if letter not in known]
    mapped = DNA.encode(text, unknown="N")
    assert mapped.shape == (len(text),)
    if not strangers:
        assert np.array_equal(mapped, DNA.encode(text))
        return
    assert (mapped[strangers] == DNA.letters.index("N")).all()
    with pytest.raises(ValueError, match=f"at position {strangers[0] + 1} is not in the DNA"):
        DNA.encode(text)


def test_bytes_and_str_encode_alike():
    assert np.array_equal(DNA.encode(b"acgtn"), DNA.encode("ACGTN"))


def test_rna_is_dna():
    assert np.array_equal(DNA.encode("ACGUacgu"), DNA.encode("ACGTACGT"))


def test_thymine_is_uracil_where_the_alphabet_is_rna():
    assert custom("ACGU").encode("tT").tolist() == [3, 3]


def test_u_is_not_t_in_other_alphabets():
    with pytest.raises(ValueError, match="'U'"):
        custom("RST").encode("U")


def test_uracil_in_codons():
    codons = custom(CODONS, "codons")
    assert codons.encode("UUUuuTACG").tolist() == [63, 63, CODONS.index("ACG")]


def test_a_stranger_is_named_with_record_letter_and_position():
    with pytest.raises(ValueError, match="P1: letter '-' at position 4 is not in") as caught:
        PROTEIN.encode("MKU-V", name="P1")
    message = str(caught.value)
    assert f"the protein alphabet ({PROTEIN.letters})" in message
    assert message.endswith("; remove the gaps of an alignment first")
    assert "\n" not in message


@pytest.mark.parametrize("text", ["AC\nGT", "AC GT", "ACé", "AC\0GT", "AC\udc80", b"AC\xe9"])
def test_what_is_no_letter_is_refused(text):
    with pytest.raises(ValueError, match="at position 3") as caught:
        DNA.encode(text)
    assert "\n" not in str(caught.value)


def test_unknown_letters_become_the_letter_given():
    assert PROTEIN.decode(PROTEIN.encode("MUé-k", unknown="x")) == "MCXXK"


# letters that count as others


@with_subtests("name", [each for each in matrix_names() if each != "SCHNEIDER"])
def test_what_selenocysteine_pyrrolysine_and_j_count_as(name):
    alphabet = Scoring.named(name).alphabet
    letters = alphabet.letters
    proteins = set("ACDEFGHIKLMNPQRSTVWY") <= set(letters)
    for letter, other in (("U", "C"), ("O", "X"), ("J", "X")):
        for spelled in (letter, letter.lower()):
            counted = Counter()
            if letter in letters:  # its own row
                code = alphabet.encode(spelled, substituted=counted)
                assert (code.tolist(), counted) == ([letters.index(letter)], {})
                assert alphabet.substituted(spelled) == []
            elif proteins and other in letters:
                code = alphabet.encode(spelled, substituted=counted)
                assert (code.tolist(), counted) == ([letters.index(other)], {letter: 1})
                assert alphabet.substituted("A" + spelled) == [(1, letter)]
                assert np.array_equal(alphabet.encode(spelled, unknown="A"), code)
            elif letter == "U" and alphabet.nucleotides:
                assert alphabet.decode(alphabet.encode(spelled)) == "T"
            else:
                with pytest.raises(UnknownLetterError, match=f"letter '{spelled}' at position 1"):
                    alphabet.encode(spelled)
                assert alphabet.encode(spelled, unknown="A").tolist() == [letters.index("A")]


@given(st.text(PROTEIN.letters + "UOJuoj"))
def test_letters_that_count_as_others_are_found(text):
    counted = Counter()
    codes = PROTEIN.encode(text, substituted=counted)
    table = str.maketrans("UOJuoj", "CXXCXX")
    assert np.array_equal(codes, PROTEIN.encode(text.translate(table)))
    found = [(k, letter.upper()) for k, letter in enumerate(text) if letter in "UOJuoj"]
    assert PROTEIN.substituted(text) == PROTEIN.substituted(text.encode()) == found
    assert counted == Counter(letter for _, letter in found)


def test_an_alias_is_the_letter_that_it_stands_for():
    own = Alphabet("own", PROTEIN.letters, {"U": "X"})
    assert own.substitutes == {"O": "X", "J": "X"}
    assert own.decode(own.encode("UOu")) == "XXX"


def test_letters_that_count_as_others_are_a_warning():
    text = re.escape("2 letters U scored as C, 1 letter J as X")
    with pytest.warns(RuntimeWarning, match=f"^{text}$"):
        PROTEIN.warn_of_substitutes(Counter("JUU"))
    with pytest.warns(RuntimeWarning, match="^1 letter O scored as X$"):
        PROTEIN.warn_of_substitutes(Counter("O"))
    PROTEIN.warn_of_substitutes(Counter())


@pytest.mark.parametrize(
    ("alphabet", "text", "advice"),
    [
        (DNA, "MKVLAE", "; glsw.Scoring.blast() scores proteins"),
        (DNA, "MKLU", "; glsw.Scoring.blast() scores proteins"),
        (DNA, "ACGT" * 9 + "X", ""),
        (DNA, "AC!", ""),
        (custom("ACGT"), "ACGN", "; glsw.Scoring.nucleotide() scores DNA"),
        (Scoring.named("GONNET1992").alphabet, "MKLX", ""),
        (PROTEIN, "MK!", ""),
        (PROTEIN, "MK-", "; remove the gaps of an alignment first"),
        (DNA, "AC.GT", "; remove the gaps of an alignment first"),
        (custom("AC-"), "A-G", ""),
    ],
)
def test_an_unknown_letter_names_the_scoring_that_takes_all(alphabet, text, advice):
    with pytest.raises(UnknownLetterError, match="is not in the") as caught:
        alphabet.encode(text)
    assert str(caught.value).endswith(f"({alphabet.letters}){advice}")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("unknown", ["J", "", "XX", "é"])
def test_unknown_must_be_in_the_alphabet(unknown):
    with pytest.raises(ValueError, match="unknown letter"):
        PROTEIN.encode("MK", unknown=unknown)


@pytest.mark.parametrize("text", [5, None, ["A"], np.zeros(3, np.uint8), bytearray(b"A")])
def test_only_letters_are_encoded(text):
    with pytest.raises(TypeError, match="expected letters"):
        DNA.encode(text)


def test_unknown_must_be_a_str():
    with pytest.raises(TypeError, match="unknown"):
        PROTEIN.encode("MK", unknown=3)


def test_a_codon_alphabet_wants_whole_codons():
    with pytest.raises(ValueError, match="length 4 is not a multiple of 3"):
        custom(CODONS, "codons").encode("ACGT")


def test_a_strange_codon_is_named():
    codons = custom(CODONS, "codons")
    with pytest.raises(ValueError, match="letter 'ANA' at position 4"):
        codons.encode("AAAANATTT")
    assert codons.encode("AAAANATTT", unknown="ttt").tolist() == [0, 63, 63]


def test_case_matters_where_the_alphabet_has_both():
    both = custom("aA")
    assert both.encode("aAa").tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="'B'"):
        custom("ab").encode("aB")


def test_empty_text():
    assert DNA.encode("").shape == (0,)
    assert DNA.decode([]) == ""
    assert custom(CODONS).encode("").shape == (0,)


def test_an_alphabet_of_one_letter():
    assert custom("Q").encode("qQ").tolist() == [0, 0]


def test_decode_refuses_other_numbers_than_codes():
    with pytest.raises(ValueError, match="code 15 at position 2 is not in the DNA"):
        DNA.decode([0, 15])
    with pytest.raises(ValueError, match="code -1"):
        DNA.decode([-1])
    with pytest.raises(ValueError, match="one dimension"):
        DNA.decode([[0], [1]])
    with pytest.raises(TypeError, match="float64"):
        DNA.decode([0.0])
    with pytest.raises(TypeError, match="bool"):
        DNA.decode([True])


@pytest.mark.parametrize(
    ("letters", "message"),
    [
        ("", "0 letters"),
        ("AA", "'A' occurs twice"),
        (("A", "BB"), "all one character wide"),
        (("AB", "CD"), "all one character wide"),
        ("A B", "' '"),
        ("Aé", "'é'"),
        (("A B", "ABC"), "'A B'"),
        (tuple(f"{k:03}" for k in range(256)), "256 letters"),
    ],
)
def test_bad_alphabets_are_refused(letters, message):
    with pytest.raises(ValueError, match=message):
        custom(letters)


def test_bad_letters_aliases_and_ambiguous_letters_are_refused():
    with pytest.raises(TypeError, match="must be str"):
        Alphabet("numbers", (1, 2))
    for alias, letter in (("C", "D"), ("→", "A"), ("C", "AB"), ("CC", "A"), ("C", "")):
        with pytest.raises(ValueError, match="alias"):
            Alphabet("a", "AB", {alias: letter})
    with pytest.raises(ValueError, match="ambiguous letter 'N'"):
        custom("ACGT", ambiguous="N")


def test_alphabets_compare_hash_and_pickle():
    assert custom("ACGT") == custom(tuple("ACGT"))
    assert len({custom("ACGT"), custom("ACGT"), DNA}) == 2
    copy = pickle.loads(pickle.dumps(DNA))
    assert copy == DNA
    assert np.array_equal(copy.encode("ACGU"), DNA.encode("ACGU"))


def steps_of_python(function, *arguments):
    """Return how many instructions of the Python interpreter a call takes."""
    steps = 0

    def trace(frame, event, _):
        nonlocal steps
        frame.f_trace_opcodes = True
        steps += event == "opcode"
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # which Python 3.12 looks for when it begins
    gc.disable()  # a collection runs the finalizers of whatever earlier tests left
    sys.settrace(trace)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
        gc.enable()
    return steps


def test_encoding_runs_no_python_for_each_letter():
    few, many = "MKVLAWGCQRSTYPHIFDEN", "MKVLAWGCQRSTYPHIFDEN" * 1000
    PROTEIN.encode(few)  # which makes its tables
    assert 0 < steps_of_python(PROTEIN.encode, few) == steps_of_python(PROTEIN.encode, many)
