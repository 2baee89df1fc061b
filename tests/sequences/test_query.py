"""Contexts of a query: strands and frames as Biopython makes them, masks, and what is refused."""

from __future__ import annotations

import sys
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from Bio.Data import CodonTable
from Bio.Seq import reverse_complement, reverse_complement_rna, translate
from hypothesis import example, given, strategies as st

from glsw import Aligner, Record, Scoring
from glsw.sequences.alphabet import DNA, PROTEIN, custom
from glsw.sequences.query import Context, QueryPreparation, low_complexity
from glsw.sequences.records import EncodedRecord

IUPAC = "ACGTURYSWKMBDHVN"
CODES = sorted(CodonTable.unambiguous_dna_by_id)
dna = st.text(IUPAC + IUPAC.lower(), max_size=40)
ORDER = [(1, 1), (1, 2), (1, 3), (-1, -1), (-1, -2), (-1, -3)]


class Prepared(NamedTuple):
    context: Context
    record: EncodedRecord
    codes: np.ndarray


def read(letters: str, alphabet=DNA, **options) -> list[Prepared]:
    preparation = QueryPreparation(alphabet, **options)
    queries = preparation.query_set([Record("q", "a query", letters)])
    each = zip(queries, queries.sequences, strict=True)
    return [Prepared(shown.context, shown.record, codes) for shown, codes in each]


# strands


@given(dna)
def test_two_strands(letters: str) -> None:
    plus, minus = read(letters)
    assert (plus.context, minus.context) == (Context(len(letters), 1), Context(len(letters), -1))
    assert plus.record == Record("q", "a query", letters)
    rna = set("UT") & set(letters.upper()) == {"U"}
    assert plus.context.rna == minus.context.rna == rna
    turned = reverse_complement_rna if rna else reverse_complement
    expected = turned(letters)
    assert minus.record.letters == expected
    assert minus.codes.tolist() == DNA.encode(expected).tolist()
    for start in range(len(letters)):
        first, last = minus.context.place(start, start + 1)
        assert first == last
        assert turned(letters[first - 1]) == minus.record.letters[start]


@pytest.mark.parametrize(
    ("alphabet", "strand", "strands"),
    [
        (DNA, None, [1, -1]),
        (DNA, "both", [1, -1]),
        (DNA, "plus", [1]),
        (DNA, "minus", [-1]),
        (custom("ACGU"), None, [1, -1]),
        (Scoring.named("NUC.4.4", 10, 1).alphabet, None, [1, -1]),
        (custom("ACGTR"), None, [1]),  # no complement of R
        (PROTEIN, None, [1]),
        (PROTEIN, "plus", [1]),
        (custom("ab"), None, [1]),
    ],
)
def test_strands_of_an_alphabet(alphabet, strand, strands) -> None:
    letters = alphabet.decode([0, 1, 1])
    contexts = read(letters, alphabet, strand=strand)
    assert [each.context.strand for each in contexts] == strands
    preparation = QueryPreparation(alphabet, strand)
    assert preparation.count == len(strands)
    assert preparation.residues(3) == sum(len(each.codes) for each in contexts)


def test_minus_alone_names_positions_on_the_query_as_given() -> None:
    with pytest.raises(ValueError, match="q: letter 'E' at position 2"):
        read("AETTTT", strand="minus")
    (minus,) = read("AEéT", strand="minus", unknown="N")
    assert DNA.decode(minus.codes) == "ANNT"


# frames


@given(dna, st.sampled_from(CODES), st.sampled_from([None, "both", "plus", "minus"]))
@example("TAAtgaTAGacR", 27, None)
@example("AC", 1, None)
@pytest.mark.filterwarnings("ignore:This table contains")
def test_frames(letters: str, code: int, strand: str | None) -> None:
    contexts = read(letters, PROTEIN, strand=strand, genetic_code=code)
    sign = {"plus": 1, "minus": -1}.get(strand or "")
    assert [(v.context.strand, v.context.frame) for v in contexts] == [
        each for each in ORDER if sign in (None, each[0])
    ]
    given = letters.upper().replace("U", "T")
    for context, record, codes in contexts:
        strand_letters = given if context.strand > 0 else reverse_complement(given)
        codons = strand_letters[abs(context.frame) - 1 :]
        expected = translate(codons[: len(codons) // 3 * 3], table=code).replace("J", "X")
        assert record.letters == expected
        assert codes.tolist() == PROTEIN.encode(expected).tolist()
        assert context.length == len(letters)
        for k, amino in enumerate(expected):
            first, last = context.place(k, k + 1)
            codon = given[first - 1 : last]
            if context.strand < 0:
                codon = reverse_complement(given[last - 1 : first])
            assert len(codon) == 3
            assert translate(codon, table=code).replace("J", "X") == amino
    preparation = QueryPreparation(PROTEIN, strand, code)
    assert preparation.residues(len(letters)) == sum(len(each.codes) for each in contexts)
    assert preparation.count == len(contexts)


def test_letters_that_a_matrix_lacks_become_x() -> None:
    alphabet = custom("ACDEFGHIKLMNPQRSTVWYX", "no stop")
    letters = [each.record.letters for each in read("TAAAARATGMTT", alphabet, genetic_code=1)]
    assert letters[0] == "XKMX"
    assert QueryPreparation(Scoring.named("BLASTP", 10, 1).alphabet, None, 1).count == 6


# what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strand": "top"}, "strand 'top': both, plus, minus expected"),
        ({"strand": "minus"}, "strand 'minus': the protein alphabet has no complements"),
        ({"strand": "both"}, "only DNA has two strands"),
        ({"genetic_code": 7}, "genetic code 7: there are 1, 2, 3, 4, 5, 6, 9, 10, 11"),
        ({"genetic_code": 0}, "genetic code 0"),
        ({"alphabet": DNA, "genetic_code": 1}, "needs a protein scoring, not of the DNA alph"),
        (
            {"alphabet": Scoring.named("GONNET1992").alphabet, "genetic_code": 1},
            r"needs the letters \* and X, the GONNET1992 alphabet",
        ),
        ({"alphabet": custom("ACGT"), "lower_case_mask": True}, "has no X or N for masked"),
        ({"alphabet": custom("abX"), "lower_case_mask": True}, "has no X or N for masked"),
        ({"alphabet": custom("abX"), "mask_low_complexity": True}, "has no X or N for masked"),
        ({"alphabet": custom("ABX"), "mask_low_complexity": True}, "defined for DNA and proteins"),
    ],
)
def test_readings_that_cannot_be(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        QueryPreparation(**{"alphabet": PROTEIN, **options})


@pytest.mark.parametrize("code", [True, "1", 1.0])
def test_genetic_codes_are_numbers(code) -> None:
    with pytest.raises(TypeError, match="genetic_code must be a number, not"):
        QueryPreparation(PROTEIN, None, code)


# masks


def masked(each) -> str:
    """Letters as they are compared."""
    alphabet = PROTEIN if each.context.frame else DNA
    return alphabet.decode(each.codes)


def test_lower_case_of_strands() -> None:
    plus, minus = read("ACgtACCn", lower_case_mask=True)
    assert (plus.record.letters, masked(plus)) == ("ACgtACCn", "ACNNACCN")
    assert (minus.record.letters, masked(minus)) == ("nGGTacGT", "NGGTNNGT")
    plus, minus = read("ACgtACCn")
    assert (masked(plus), masked(minus)) == ("ACGTACCN", "NGGTACGT")


def test_lower_case_of_frames() -> None:
    contexts = read("ATGgCTTGG", PROTEIN, genetic_code=1, lower_case_mask=True)
    assert [each.record.letters for each in contexts] == ["MaW", "wL", "gL", "PsH", "Qa", "Kp"]
    assert [masked(each) for each in contexts] == ["MXW", "XL", "XL", "PXH", "QX", "KX"]
    plain = read("ATGgCTTGG", PROTEIN, genetic_code=1)
    assert [each.record.letters for each in plain] == ["MAW", "WL", "GL", "PSH", "QA", "KP"]


RANDOM = "GACTTGCATCGGATCCATTGACGTAC"


def test_low_complexity_of_dna() -> None:
    letters = f"{RANDOM}{'a' * 30}{RANDOM}"
    ((start, end),) = low_complexity(letters, DNA)
    assert abs(start - len(RANDOM)) <= 2
    assert abs(end - len(RANDOM) - 30) <= 2
    plus, minus = read(letters, mask_low_complexity=True)
    lower = [letter.islower() for letter in plus.record.letters]
    assert np.flatnonzero(lower).tolist() == list(range(start, end))
    assert masked(plus) == letters[:start].upper() + "N" * (end - start) + letters[end:].upper()
    assert masked(minus) == reverse_complement(masked(plus))
    assert low_complexity("ACU", DNA) == low_complexity("", DNA) == ()


def test_low_complexity_and_lower_case() -> None:
    letters = f"{RANDOM[:5].lower()}{RANDOM[5:]}{'A' * 30}{RANDOM}"
    plus, _ = read(letters, mask_low_complexity=True, lower_case_mask=True)
    only, _ = read(letters, mask_low_complexity=True)
    assert masked(plus) == "N" * 5 + masked(only)[5:]
    assert masked(only)[:5] == RANDOM[:5]


def test_low_complexity_of_proteins() -> None:
    letters = "MKWVTFISLLFLFSSAYSRGVF" + "PQ" * 12 + "DAHKSEVAHRFKDLGEENFKAL"
    (found,) = read(letters, PROTEIN, mask_low_complexity=True)
    assert "X" * 15 in PROTEIN.decode(found.codes)
    assert PROTEIN.decode(found.codes).startswith("MKWVTF")
    assert found.record.letters.upper() == letters
    assert low_complexity("", PROTEIN) == ()
    gene = "ATGAAATGGGTTACT" + "CCTCAA" * 14 + "GATGCTCATAAATCTGAA"
    frame = read(gene, PROTEIN, genetic_code=1, mask_low_complexity=True)[0]
    assert frame.record.letters.upper() == translate(gene)
    assert "X" * 15 in PROTEIN.decode(frame.codes)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydustmasker", None)
    message = r"^masking low complexity needs pydustmasker .*: pip install 'glsw\[mask\]'$"
    with pytest.raises(ValueError, match=message):
        Aligner(engine="reference", mask_low_complexity=True)


@pytest.mark.parametrize(
    ("letters", "alphabet", "options", "count"),
    [
        ("acgtacgt", DNA, {"lower_case_mask": True}, 8),
        ("acgtNNgt", DNA, {"lower_case_mask": True}, 8),
        ("mkvla", PROTEIN, {"lower_case_mask": True}, 5),
        ("acgtacgt", PROTEIN, {"lower_case_mask": True, "genetic_code": 1}, 8),
        ("A" * 40, DNA, {"mask_low_complexity": True}, 40),
    ],
)
def test_a_query_of_only_masked_letters(letters, alphabet, options, count) -> None:
    with pytest.raises(ValueError, match=f"^query q: all {count} residues are masked$"):
        read(letters, alphabet, **options)


@pytest.mark.parametrize("letters", ["", "A"])
def test_short_queries_are_not_masked(letters: str) -> None:
    contexts = read(
        letters, PROTEIN, genetic_code=1, lower_case_mask=True, mask_low_complexity=True
    )
    assert [len(each.codes) for each in contexts] == [0] * 6


def test_masked_alphabets() -> None:
    once = PROTEIN.lower_case_masked()
    assert once.lower_case_masked() == once
    assert once.letters == PROTEIN.letters
    assert PROTEIN.decode(once.encode("MkVx*")) == "MXVX*"
    rna = custom("ACGUN").lower_case_masked()
    assert rna.decode(rna.encode("ACTUactu")) == "ACUUNNNN"
    counted = Counter()
    assert PROTEIN.decode(once.encode("MUuOoJj", substituted=counted)) == "MCXXXXX"
    assert counted == {"U": 1, "O": 1, "J": 1}
    with pytest.raises(ValueError, match="letter '-' at position 2"):
        once.encode("M-")


# the scores of DNA


def test_ambiguous_letters_score_as_in_blastn() -> None:
    """From the sets of bases, by another way than the module's."""
    bases = {"A": "A", "C": "C", "G": "G", "T": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT"}
    bases |= {"K": "GT", "M": "AC", "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT"}
    for match, mismatch in ((2, -3), (1, -1), (5, -4), (1, -3), (4, -5)):
        scoring = Scoring.nucleotide(match, mismatch)
        for i, a in enumerate(DNA.letters):
            for j, b in enumerate(DNA.letters):
                many = max(len(bases[a]), len(bases[b]))
                expected = mismatch
                if set(bases[a]) & set(bases[b]):
                    mean = abs(match + (many - 1) * mismatch) / many
                    sign = 1 if match + (many - 1) * mismatch > 0 else -1
                    expected = sign * int(mean + 0.5)
                assert scoring.matrix[i, j] == expected, (a, b, match, mismatch)
    assert Scoring.nucleotide(9, -1).matrix[-1].max() == 0  # N stands for what is masked


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((2.5, -3), ValueError, "match 2.5: a whole number expected, as in blastn"),
        ((2, 3), ValueError, "match 2 must be more than mismatch 3"),
        ((0, -3), ValueError, "match 0 must be more than 0"),
        (("2", -3), TypeError, "match must be a number"),
        ((2, -3, -1), ValueError, "existence must be between 0"),
    ],
)
def test_bad_scores_of_dna(arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        Scoring.nucleotide(*arguments)


# many queries


QUERIES = [Record("a", "first", "AACG"), Record("b", "", "nnn"), Record("c", "", "gaTTA")]


def test_a_query_set_is_the_contexts_of_one_query_after_the_other() -> None:
    preparation = QueryPreparation(DNA, lower_case_mask=True)
    with pytest.warns(RuntimeWarning, match="query b: all 3 residues are masked; it has no hits"):
        queries = preparation.query_set(QUERIES, lenient=True)
    assert [each.id for each in queries.given] == ["a", "b", "c"]
    assert queries.offsets.tolist() == [0, 2, 2, 4]
    assert queries.owner.tolist() == [0, 0, 2, 2]
    assert queries.residues.tolist() == [8, 0, 10]
    assert [queries.lengths_of(q).tolist() for q in range(3)] == [[4, 4], [], [5, 5]]
    assert [DNA.decode(codes) for codes in queries.sequences] == ["AACG", "CGTT", "NNTTA", "TAANN"]
    assert [DNA.decode(codes) for codes in queries.shown] == ["AACG", "CGTT", "GATTA", "TAATC"]
    assert [each.record.letters for each in queries] == ["AACG", "CGTT", "gaTTA", "TAAtc"]
    assert [each.context.strand for each in queries] == [1, -1, 1, -1]
    assert [each.given.id for each in queries] == ["a", "a", "c", "c"]
    with pytest.raises(ValueError, match="query b: all 3"):
        preparation.query_set(QUERIES)


@pytest.mark.filterwarnings("ignore:query b")
def test_a_part_of_a_query_set_is_the_set_of_these_queries() -> None:
    preparation = QueryPreparation(DNA, lower_case_mask=True)
    whole = preparation.query_set(QUERIES, lenient=True)
    for start in range(4):
        for stop in range(start, 4):
            part = whole.part(slice(start, stop))
            expected = whole.owner.tolist()
            kept = [k for k, q in enumerate(expected) if start <= q < stop]
            assert [each.record for each in part] == [whole[k].record for k in kept]
            assert [each.context for each in part] == [whole[k].context for k in kept]
            assert list(part.given) == QUERIES[start:stop]
            assert part.owner.tolist() == [expected[k] - start for k in kept]
            assert part.residues.tolist() == whole.residues[start:stop].tolist()
            assert not len(part) or np.shares_memory(
                part.sequences.residues, whole.sequences.residues
            )


def test_letters_are_encoded_once_and_together(monkeypatch) -> None:
    encoded = []
    encode = type(PROTEIN).encode

    def counted(alphabet, text, **options):
        encoded.append(text)
        return encode(alphabet, text, **options)

    monkeypatch.setattr(type(PROTEIN), "encode", counted)
    found: Counter[str] = Counter()
    records = [Record("p", "", "MKU"), Record("q", "", "MKVLU")]
    queries = QueryPreparation(PROTEIN).query_set(records, found)
    assert encoded == [b"MKUMKVLU"]
    assert found == {"U": 2}
    assert queries.shown is queries.sequences
