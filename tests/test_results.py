"""What an alignment says of itself, and the same as Biopython says it."""

import io
import re
import sys
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import Bio.Align
import numpy as np
import pyopal
import pytest
from biotite.sequence.align import get_sequence_identity
from skbio.sequence.distance import pdist

from glsw.alignment.alignment import Alignment
from glsw.alignment.columns import COLUMNS
from glsw.alignment.hits import Hit, Hsp, SearchResult
from glsw.alignment.paths import Ends, Runs
from glsw.alignment.traceback import trace
from glsw.scoring.scoring import Scoring
from glsw.sequences.query import Context
from glsw.sequences.records import EncodedRecord, Record

BLOSUM62 = Scoring.blast("BLOSUM62", 11, 1)
DNA = Scoring.match_mismatch(5, -4, 8, 1)


def alignment(query, target, coordinates, scoring=BLOSUM62, score=0, unknown=None):
    records = Record("Q1", "a query", query), Record("T1", "", target)
    encoded = [EncodedRecord.of(each, scoring.alphabet, unknown) for each in records]
    return Alignment(score, *encoded, Runs.of_coordinates([np.array(coordinates)]), scoring)


def test_columns():
    found = alignment("MKVLAWPPGG", "QQMKILAWGG", [[2, 8, 8, 10], [0, 6, 8, 10]])
    assert found.rows() == ("MKVLAWPPGG", "||:|||  ||", "MKILAW--GG")
    assert found.cigar == "2=1X3=2I2="
    assert (found.query_start, found.query_end) == (0, 10)
    assert (found.target_start, found.target_end) == (2, 10)
    assert (found.columns, found.identities, found.positives, found.gaps) == (10, 7, 8, 2)
    assert found.identity == 0.7


def test_gap_in_the_query_and_pairs_that_score_0_or_less():
    found = alignment("AAGWW", "ACCCWW", [[0, 1, 4, 6], [1, 2, 2, 4]])
    assert found.rows() == ("A---GW", "|   .|", "ACCCWW")
    assert found.cigar == "1=3D1X1="


def test_gaps_side_by_side():
    found = alignment("AAWW", "AACC", [[0, 2, 2, 4], [0, 2, 4, 4]])
    assert found.rows() == ("AAWW--", "||    ", "AA--CC")
    assert found.cigar == "2=2I2D"
    assert found.gaps == 4


def test_equal_letters_are_those_of_the_alphabet():
    found = alignment("acguN", "ACTTN", [[0, 5], [0, 5]], DNA)
    assert found.rows() == ("acguN", "||.||", "ACTTN")
    assert found.identities == 4


def test_letters_outside_the_alphabet():
    options = {"coordinates": [[0, 3], [0, 3]]}
    assert alignment("M1K", "MXK", unknown="X", **options).rows()[1] == "|||"
    with pytest.raises(ValueError, match="Q1: letter '1'"):
        alignment("M1K", "MXK", **options).rows()[1]
    assert alignment("MK1", "MK", [[0, 2], [0, 2]], unknown="X").identities == 2


def test_codons():
    scoring = Scoring.named("SCHNEIDER", 10, 1)
    found = alignment("CCCATGAAATTT", "ATGTTT", [[0, 1, 1, 2], [1, 2, 3, 4]], scoring)
    assert found.rows() == ("ATGAAATTT", "|||   |||", "ATG---TTT")
    assert (found.columns, found.cigar) == (3, "1=1I1=")
    assert found.to_biopython()[1] == "ATGAAATTT"
    assert "query  2 ATGAAATTT 4" in str(found)


def test_nothing_aligned():
    found = alignment("MK", "", [[0], [0]])
    assert found.rows() == ("", "", "")
    assert found.cigar == ""
    assert (found.columns, found.identities, found.gaps, found.identity) == (0, 0, 0, 0.0)
    assert (found.query_start, found.query_end, found.target_end) == (0, 0, 0)
    assert str(found).endswith("\nno alignment, score 0")
    assert repr(found).endswith(", no alignment, score 0>")
    assert str(found.to_biopython())


def test_identity_and_coverage_by_hand():
    # query   --MK-LAWP-
    # target  QQMKILA--G
    found = alignment("MKLAWP", "QQMKILAG", [[0, 2, 4, 5, 7, 7, 8], [0, 0, 2, 2, 4, 6, 6]])
    assert (found.identities, found.columns, found.gaps) == (4, 10, 6)
    over = {"columns": 10, "inner": 5, "pairs": 4, "shorter": 6, "longer": 8}
    over |= {"query": 6, "target": 8}
    assert {name: found.identity_over(name) for name in over} == {
        name: 4 / length for name, length in over.items()
    }
    covered = {"query": 4 / 6, "target": 5 / 8, "both": 5 / 8}
    assert {name: found.coverage(name) for name in covered} == covered
    with pytest.raises(ValueError, match=r"over 'columsn': 'columns', 'inner', .* expected"):
        found.identity_over("columsn")
    with pytest.raises(ValueError, match="of 'all': 'query', 'target', 'both' expected"):
        found.coverage("all")
    nothing = alignment("MK", "", [[0], [0]])
    assert nothing.identity_over("pairs") == nothing.identity_over("target") == 0
    assert nothing.coverage("both") == nothing.coverage("target") == 0


@pytest.mark.parametrize("algorithm", ["sw", "nw"])
def test_identity_and_coverage_are_those_of_other_programs(algorithm):
    rng, compared = np.random.default_rng(7), 0
    for _ in range(40):
        query, target = ("".join(rng.choice(list("ACDEW"), rng.integers(6, 30))) for _ in range(2))
        theirs = pyopal.Aligner().align(
            query, pyopal.Database([target]), mode="full", algorithm=algorithm
        )[0]
        steps = np.array([[each != "D", each != "I"] for each in theirs.alignment], int)
        start = np.array([theirs.target_start, theirs.query_start])
        found = alignment(query, target, np.vstack([start, start + steps.cumsum(axis=0)]).T)
        assert found.identity_over("pairs") == pytest.approx(theirs.identity())
        assert found.identity_over("pairs") == pytest.approx(1 - pdist(*found.to_skbio()))
        shown = found.to_biotite()
        assert found.identity_over("columns") == get_sequence_identity(shown, "all")
        assert found.identity_over("shorter") == get_sequence_identity(shown, "shortest")
        if re.search("^I+D|^D+I|ID+$|DI+$", theirs.alignment):
            continue  # of two gaps at the same end they leave out one
        compared += 1
        assert found.identity_over("inner") == get_sequence_identity(shown, "not_terminal")
        for side in ("query", "target"):
            assert found.coverage(side) == pytest.approx(theirs.coverage(side))
    assert compared > 30


@pytest.mark.parametrize("seed", range(5))
def test_equals_biopython(seed):
    rng = np.random.default_rng(seed)
    query, target = (rng.integers(0, 4, 80).astype(np.uint8) for _ in range(2))
    runs, score = trace(query, target, DNA, 80, 80)
    decode = DNA.alphabet.decode
    ours = alignment(decode(query), decode(target), runs.coordinates(), DNA, score)
    theirs = ours.to_biopython()
    counts = theirs.counts()
    assert theirs.score == score
    assert (theirs.target.id, theirs.query.id) == ("T1", "Q1")
    assert theirs.query.description == "a query"
    assert ours.rows()[::2] == (theirs[1], theirs[0])
    assert theirs.length == ours.columns
    assert (counts.identities, counts.gaps) == (ours.identities, ours.gaps)
    assert "T1" in str(theirs)


def test_text_of_a_long_alignment():
    query = "MKVLAWGT" * 10
    target = query[:50] + "C" * 20 + query[50:]
    lines = str(alignment(query, target, [[0, 50, 70, 100], [0, 50, 50, 80]])).splitlines()
    assert lines[0] == "query  Q1 a query"
    assert lines[1] == "target T1"
    assert lines[2] == "score 0, identities 80/100 (80.0%), gaps 20/100 (20.0%)"
    assert lines[4] == f"query    1 {query[:50]}{'-' * 10} 50"
    assert lines[5] == f"           {'|' * 50}"
    assert lines[6] == f"target   1 {target[:60]} 60"
    assert lines[8] == f"query   51 {'-' * 10}{query[50:]} 80"
    assert lines[9] == f"           {' ' * 10}{'|' * 30}"
    assert lines[10] == f"target  61 {target[60:]} 100"
    assert len(lines) == 11


def test_a_line_with_nothing_but_gap():
    query, target = "A" + "W" * 10, "A" + "C" * 150 + "W" * 10
    lines = str(alignment(query, target, [[0, 1, 151, 161], [0, 1, 1, 11]])).splitlines()
    assert lines[4] == f"query    1 A{'-' * 59} 1"
    assert lines[8] == f"query    1 {'-' * 60} 1"
    assert lines[12] == f"query    2 {'-' * 31}WWWWWWWWWW 11"


def search_result(*hsps, **options):
    found = hsps[0].alignment
    hits = tuple(Hit(k, found.target, hsps) for k in (1, 2))
    options = {"sequences": 9, "residues": 1_000_000} | options
    return SearchResult(found.query, hits, 3_000_000, 0.5, "reference", "CPU", **options)


def test_search_result():
    result = search_result(Hsp(alignment("MKV", "MKV", [[0, 3], [0, 3]], score=14), Context(3)))
    assert (len(result), list(result), result[1].rank) == (2, list(result.hits), 2)
    assert result.gcups == 0.006
    assert str(result).splitlines() == [
        "query Q1 (3 letters): 2 hits in 9 sequences of 1000000 residues",
        "rank  score  identity  query  target  length  name",
        "   1     14    100.0%    1-3     1-3       3  T1",
        "   2     14    100.0%    1-3     1-3       3  T1",
    ]
    assert str(result[0]).splitlines() == [
        "1. T1 (3 letters)",
        "score 14, identities 3/3 (100.0%), gaps 0/3 (0.0%)",
        "",
        "query  1 MKV 3",
        "         |||",
        "target 1 MKV 3",
    ]


def test_a_pair_is_shown_where_it_is_on_the_query_as_given():
    found = alignment("MKLV", "MKLV", [[1, 4], [1, 4]], score=14)
    text = str(Hsp(found, Context(20, -1, -3), 20.44, 0.00123)).splitlines()
    assert text[:3] == [
        "query  Q1 a query",
        "target T1",
        "score 14, 20.4 bits, E 0.0012, identities 3/3 (100.0%), gaps 0/3 (0.0%), frame -3",
    ]
    assert text[4:] == ["query  15 KLV 7", "          |||", "target  2 KLV 4"]
    minus = str(Hsp(alignment("ACGT", "ACGT", [[0, 4], [0, 4]], DNA), Context(10, -1)))
    assert "minus strand" in minus
    assert "query  10 ACGT 7" in minus


def minus_strand():
    """Return a pair of the reverse complement of AACCGTTACG."""
    return Hsp(
        alignment("CGTAACGGTT", "TTCGTACGG", [[2, 5, 5, 9], [0, 3, 4, 8]], DNA), Context(10, -1)
    )


def test_biopython_has_the_query_as_given():
    hsp = minus_strand()
    theirs = hsp.to_biopython()
    assert str(theirs.query.seq) == "AACCGTTACG"
    assert theirs.coordinates.tolist() == [[2, 5, 5, 9], [10, 7, 6, 2]]
    assert (theirs[0], theirs[1]) == ("CGT-ACGG", "CGTAACGG")
    assert theirs.query.description == "a query"
    translated = Hsp(alignment("MKV", "MKV", [[0, 3], [0, 3]]), Context(11, -1, -2)).to_biopython()
    assert translated.coordinates.tolist() == [[0, 3], [0, 3]]


def test_biopython_has_rna_as_given():
    found = alignment("GGCC", "GGCC", [[0, 4], [0, 4]], DNA)
    for rna in (False, True):
        assert str(Hsp(found, Context(4, -1, rna=rna)).to_biopython().query.seq) == "GGCC"
    found = alignment("CGUAAC", "CGUAAC", [[0, 6], [0, 6]], DNA)
    assert str(Hsp(found, Context(6, -1, rna=True)).to_biopython().query.seq) == "GUUACG"
    found = alignment("GAGA", "GAGA", [[0, 4], [0, 4]], DNA)  # of UCUC
    assert str(Hsp(found, Context(4, -1, rna=True)).to_biopython().query.seq) == "UCUC"
    assert str(Hsp(found, Context(4, -1)).to_biopython().query.seq) == "TCTC"


@pytest.mark.parametrize("form", ["sam", "psl", "fasta", "clustal", "bed", "chain", "maf"])
@pytest.mark.parametrize("strand", [1, -1])
def test_biopython_writes_and_reads_it(form, strand):
    hsp = minus_strand() if strand < 0 else Hsp(minus_strand().alignment, Context(10))
    theirs = hsp.to_biopython()
    stream = io.StringIO()
    Bio.Align.write([theirs], stream, form)
    stream.seek(0)
    (back,) = Bio.Align.parse(stream, form)
    if form in ("sam", "psl", "chain", "maf"):
        assert back.coordinates.tolist() == theirs.coordinates.tolist()
    if form in ("sam", "fasta", "clustal", "maf"):
        rows = [back[0], back[1]] if form != "sam" else [str(back[1]).upper()]
        assert rows == [theirs[0], theirs[1]][-len(rows) :]


def test_html_is_escaped_and_short():
    found = alignment("MKV", "MKV", [[0, 3], [0, 3]], score=14)
    evil = EncodedRecord.of(Record("<b>", "a & b", "MKV"), BLOSUM62.alphabet)
    hsp = Hsp(Alignment(14, evil, evil, found.runs, BLOSUM62), Context(3), 20.0, 1e-9)
    result = search_result(hsp, statistics=SimpleNamespace(name="1 < 2"))
    for shown in (result, result[0], hsp, hsp.alignment):
        html = shown._repr_html_()
        assert "<b>" not in html
        assert "&lt;b&gt;" in html
        ElementTree.fromstring(f"<div>{html}</div>")
    table = ElementTree.fromstring(f"<div>{result._repr_html_()}</div>")
    assert table.find("table/tr[3]/td[1]").text == "2"
    assert table.find("table/tr[2]/td[last()]").text == "a & b"
    assert table.find("p[2]").text == "E-values: 1 < 2"
    many = replace(result, hits=result.hits * 500)
    assert many._repr_html_().count("<tr>") < 200
    assert "<p>and 900 more</p>" in many._repr_html_()


def test_dataframe():
    pandas = pytest.importorskip("pandas")
    found = alignment("MKV", "MKV", [[0, 3], [0, 3]], score=14)
    result = search_result(Hsp(found, Context(3), 20.0, 1e-9), Hsp(found, Context(3)))
    frame = result.to_dataframe()
    assert tuple(frame.columns) == COLUMNS
    assert frame["rank"].tolist() == [1, 1, 2, 2]
    assert frame["hsp"].tolist() == [1, 2, 1, 2]
    assert frame["evalue"][0] == 1e-9
    assert frame["evalue"].isna().tolist() == [False, True] * 2
    assert frame["query_start"].dtype.kind == "i"
    empty = replace(result, hits=()).to_dataframe()
    assert (len(empty), tuple(empty.columns)) == (0, COLUMNS)
    assert isinstance(frame, pandas.DataFrame)


def test_dataframe_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = alignment("MKV", "MKV", [[0, 3], [0, 3]], score=14)
    with pytest.raises(ModuleNotFoundError, match="needs pandas: pip install pandas"):
        search_result(Hsp(found, Context(3))).to_dataframe()


def test_decimal_scores_are_shown_as_such():
    scoring = Scoring.named("GONNET1992", 10, 0.5)
    found = alignment("MKV", "MKV", [[0, 3], [0, 3]], scoring, 109)
    assert "score 10.9," in str(found)


def test_ends():
    ends = Ends(np.zeros(3, np.int32), np.zeros((3, 2), np.int32))
    assert len(ends) == 3
