"""Formats of other programs: read back by readers that are not ours, and as those write them."""

from __future__ import annotations

import io
import json
import math
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import Bio.Align
import numpy as np
import pytest
from Bio import SearchIO
from Bio.Seq import reverse_complement, reverse_complement_rna, translate
from tqdm import tqdm

from glsw import Aligner, Alignment, Hit, Hsp, Record, Scoring, SearchResult
from glsw.alignment.columns import COLUMNS
from glsw.alignment.paths import Runs
from glsw.cli import main, outputs
from glsw.output import ALIGNMENT_FORMATS, FORMATS, format_of, sam, write
from glsw.output.blast_tab import COLUMNS as TABULAR, STANDARD
from glsw.output.result_file import ResultFile
from glsw.sequences.query import Context
from glsw.sequences.records import EncodedRecord

BLOSUM62 = Scoring.blast("BLOSUM62", 11, 1)
DNA = Scoring.match_mismatch(2, -3, 7, 2)

# What BLAST+ 2.12.0 wrote: alignments as text, and lines of its format 6.
BLASTN = """\
 Score = 115 bits (127),  Expect = 2e-31
 Identities = 73/77 (95%), Gaps = 3/77 (4%)
 Strand=Plus/Minus

Query  9    CAATTACATAACATACACGTCAGCACGAAACTTGTTGGCCCAGTGTGAAT-CGCTTAAGG  67
            ||||||||||||||||||||  ||||||||||||||| |||||||||||| |||||||||
Sbjct  116  CAATTACATAACATACACGT--GCACGAAACTTGTTGACCCAGTGTGAATACGCTTAAGG  59

Query  68   GTTAAGTAAGTGTGATG  84
            |||||||||||||||||
Sbjct  58   GTTAAGTAAGTGTGATG  42
"""
BLASTN_LINE = (
    "d1 m 94.805 77 1 2 9 84 116 42 2.39e-31 115 90 121 127 73 3 1/-1 1 -1 minus "
    "20C-A-15GA12-A26 84 84"
)
BLASTX = """\
 Score = 102 bits (254),  Expect = 2e-36
 Identities = 49/54 (91%), Positives = 50/54 (93%), Gaps = 3/54 (6%)
 Frame = -3

Query  160  KRLAEIHNDCYFTQPGVS--SIKMWERTYHPLADFGCVNQIKRWMEPLTYHDSA  5
            +RLAEIHNDCYFTQPGVS  SIKMWERTYH LADFGCVNQ KRWMEPLTYHDSA
Sbjct  5    QRLAEIHNDCYFTQPGVSGGSIKMWERTYHVLADFGCVNQ-KRWMEPLTYHDSA  57
"""
BLASTX_LINE = (
    "d1 m 90.741 54 2 2 160 5 5 57 1.62e-36 102 168 59 254 49 3 -3/0 -3 0 N/A "
    "KQ17-G-G10PV9I-13 93 93"  # coverage: see the test
)
BLASTP = """\
 Score = 102 bits (254),  Expect = 4e-36
 Identities = 49/54 (91%), Positives = 50/54 (93%), Gaps = 3/54 (6%)

Query  3   KRLAEIHNDCYFTQPGVS--SIKMWERTYHPLADFGCVNQIKRWMEPLTYHDSA  54
           +RLAEIHNDCYFTQPGVS  SIKMWERTYH LADFGCVNQ KRWMEPLTYHDSA
Sbjct  5   QRLAEIHNDCYFTQPGVSGGSIKMWERTYHVLADFGCVNQ-KRWMEPLTYHDSA  57
"""
BLASTP_LINE = (
    "d1 m 90.741 54 2 2 3 54 5 57 3.92e-36 102 54 84 254 49 3 1/1 1 1 N/A KQ17-G-G10PV9I-13 96 96"
)
BLASTP_SECOND = """\
 Score = 40.8 bits (94),  Expect = 8e-12
 Identities = 18/20 (90%), Positives = 18/20 (90%), Gaps = 2/20 (10%)

Query  9   HNDCYFTQPGVS--SIKMWE  26
           HNDCYFTQPGVS  SIKMWE
Sbjct  63  HNDCYFTQPGVSGGSIKMWE  82
"""
BLASTP_SECOND_LINE = (
    "d1 m 90.000 20 0 1 9 26 63 82 8.49e-12 40.8 54 84 94 18 2 1/1 1 1 N/A 12-G-G6 96 33"
)
BLASTP_LONG_GAP = """\
 Score = 252 bits (590),  Expect = 2e-84
 Identities = 142/272 (52%), Positives = 142/272 (52%), Gaps = 130/272 (48%)

Query  1    MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHG  60
            MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHG
Sbjct  1    MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHG  60

Query  61   KKVADALTNA--------------------------------------------------  70
            KKVADALTNA
Sbjct  61   KKVADALTNASDGTGNNNQNSGNGNNDGQNTQSDGTGGGQDGNQSNQGDSNNDSTSQSNT  120

Query       ------------------------------------------------------------

Sbjct  121  GNDQGSQQTGQTQQDNDQSTTDNDNDGNSQNNQSTDQQQTGNQDGSDNTNQGNGTQDDDN  180

Query  71   --------------------VAHVDDMPNALSALSDLHAHKLRVDPVNFKLLSHCLLVTL  110
                                VAHVDDMPNALSALSDLHAHKLRVDPVNFKLLSHCLLVTL
Sbjct  181  QSSDSGSDDSNDTDTNTQDDVAHVDDMPNALSALSDLHAHKLRVDPVNFKLLSHCLLVTL  240

Query  111  AAHLPAEFTPAVHASLDKFLASVSTVLTSKYR  142
            AAHLPAEFTPAVHASLDKFLASVSTVLTSKYR
Sbjct  241  AAHLPAEFTPAVHASLDKFLASVSTVLTSKYR  272
"""
WANTED = (
    *("std", "qlen", "slen", "score", "nident", "gaps", "frames", "qframe", "sframe"),
    *("sstrand", "btop", "qcovs", "qcovhsp"),
)
LINES = {
    "plus and minus": (BLASTN, BLASTN_LINE),
    "translated": (BLASTX, BLASTX_LINE),
    "proteins": (BLASTP, BLASTP_LINE),
}


def of_blast(text: str, line: str) -> tuple[Hsp, Record, Record]:
    """Return what a block of BLAST's and its line in format 6 say, with the sequences.

    Letters outside of the alignment are not known: they are A.
    """
    query, target = (
        "".join(re.findall(rf"^{name} +[0-9]* +([A-Z-]+)", text, re.MULTILINE))
        for name in ("Query", "Sbjct")
    )
    values = dict(zip([*STANDARD, *WANTED[1:]], line.split(), strict=True))
    q_start, q_end, s_start, s_end = (int(values[k]) for k in ("qstart", "qend", "sstart", "send"))
    lengths = {"query": int(values["qlen"]), "target": int(values["slen"])}
    context = Context(lengths["query"])
    if frame := re.search(r"Frame = ([+-]\d)", text):
        number = int(frame[1])
        context = Context(lengths["query"], 1 if number > 0 else -1, number)
        first = lengths["query"] - q_start if number < 0 else q_start - 1
        q_start = (first - (abs(number) - 1)) // 3 + 1
        lengths["query"] = (lengths["query"] - abs(number) + 1) // 3
    elif s_start > s_end:
        context = Context(lengths["query"], -1)
        query, target = reverse_complement(query), reverse_complement(target)
        q_start, s_start = lengths["query"] - q_end + 1, s_end
    records, at = [], (q_start, s_start)
    for (what, length), row, start in zip(lengths.items(), (query, target), at, strict=True):
        letters = row.replace("-", "")
        whole = ("A" * (start - 1) + letters).ljust(length, "A")
        records.append(Record({"query": "d1", "target": "m"}[what], "", whole))
    runs = [(0, 0)]
    for q, t in zip(query, target, strict=True):
        runs.append((runs[-1][0] + (t != "-"), runs[-1][1] + (q != "-")))
    coordinates = np.transpose(runs) + np.array([[s_start - 1], [q_start - 1]])
    scoring = DNA if "Strand" in text else BLOSUM62
    encoded = (EncodedRecord.of(each, scoring.alphabet) for each in records)
    found = Alignment(int(values["score"]), *encoded, Runs.of_coordinates([coordinates]), scoring)
    given = Record("d1", "", "A" * context.length)
    if not context.frame:
        letters = records[0].letters
        given = Record("d1", "", letters if context.strand > 0 else reverse_complement(letters))
    hsp = Hsp(found, context, float(values["bitscore"]), float(values["evalue"]))
    return hsp, given, records[1]


def _joined(coordinates: np.ndarray) -> np.ndarray:
    """Return coordinates without those where one run of pairs or gaps goes on."""
    steps = np.sign(np.diff(coordinates))
    turns = np.any(steps[:, 1:] != steps[:, :-1], axis=0)
    return coordinates[:, np.concatenate([[True], turns, [True]])]


def result_of(query: Record, *hits: Hit, statistics: str | None = None) -> SearchResult:
    source = SimpleNamespace(name=statistics) if statistics else None
    return SearchResult(query, hits, 1, 1.0, "reference", "CPU", 9, 1000, statistics=source)


def text_of(*results: SearchResult, form: str, targets: list[Record] | None = None) -> str:
    stream = io.StringIO()
    write(results, stream, form, targets=targets)
    return stream.getvalue()


@pytest.mark.parametrize("kind", LINES)
def test_pairwise_rows_are_those_of_blast(kind: str) -> None:
    text, line = LINES[kind]
    hsp, query, target = of_blast(text, line)
    ours = text_of(result_of(query, Hit(1, target, (hsp,))), form="pairwise")
    assert f"\n>m\nLength={len(target)}\n\n{text}\n\n" in ours


def test_pairwise_of_a_line_of_nothing_but_gap() -> None:
    line = "d1 m 1 1 1 1 1 142 1 272 2e-84 252 142 272 590 1 1 1 1 1 1 1 1 1"
    hsp, query, target = of_blast(BLASTP_LONG_GAP, line)
    ours = text_of(result_of(query, Hit(1, target, (hsp,))), form="pairwise")
    assert BLASTP_LONG_GAP in re.sub(r" +$", "", ours, flags=re.MULTILINE)


def test_pairwise_as_a_whole() -> None:
    first, query, target = of_blast(BLASTP, BLASTP_LINE)
    second, _, _ = of_blast(BLASTP_SECOND, BLASTP_SECOND_LINE)
    target = replace(target, description="a protein with a long description " * 3)
    result = result_of(query, Hit(1, target, (first, second)), statistics="NCBI's for BLOSUM62")
    lines = text_of(result, form="pairwise").splitlines()
    assert lines[:8] == [
        "Query= d1",
        "",
        "Length=54",
        f"{'':70}Score     E",
        f"{'Sequences producing significant alignments:':69}(Bits)  Value",
        "",
        "m a protein with a long description a protein with a long descri...   102     4e-36",
        "",
    ]
    assert lines.count(">m " + " ".join(target.description.split())) == 1
    assert "\n".join(["", BLASTP, "", BLASTP_SECOND]) in "\n".join(lines)
    assert lines[-4:-2] == [
        "  Database: 9 sequences, 1000 residues",
        "  E-values: NCBI's for BLOSUM62",
    ]


def test_pairwise_without_statistics_and_without_hits() -> None:
    hsp, query, target = of_blast(BLASTP, BLASTP_LINE)
    hsp = Hsp(hsp.alignment, hsp.context)
    lines = text_of(result_of(query, Hit(1, target, (hsp,))), form="pairwise").splitlines()
    assert lines[4].endswith("   (Raw)")
    assert lines[6].split() == ["m", "254"]
    assert " Score = 254" in lines
    assert not any("Expect" in line for line in lines)
    assert "***** No hits found *****" in text_of(result_of(query), form="pairwise")


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("AAGGCUUACCGAUUC", "AAGGCUUACCGAUUC"),
        ("GGCCUUCGUUGCCU", "GGCCTTCGTTGCCT"),  # its reverse complement has no U
        ("aaggcuuaCCGAUUC", "AAGGCTTACCGATTC"),
        ("AAGGCTTACCGATTC", "AAGGCUUACCGAUUC"),
        ("AAGGCTUACCGAUTC", "AAGGCUUACCGAUUC"),  # neither RNA nor DNA: taken for DNA
    ],
)
def test_minus_strands_are_rna_where_the_query_is(query: str, target: str) -> None:
    strand = str(reverse_complement_rna(target) if "U" in target else reverse_complement(target))
    (hit,) = (result := Aligner(DNA, engine="reference").search(query, [f"CC{strand}UC"]))
    (hsp,) = hit.hsps
    assert hsp.context.strand == -1
    mixed = query.replace("U", "T") if "T" in query else query
    rows = text_of(result, form="pairwise").splitlines()
    above = next(row for row in rows if row.startswith("Query "))
    assert above.split() == ["Query", "1", mixed, str(len(query))]
    theirs = hsp.to_biopython()
    assert str(theirs.query.seq) == mixed
    if "U" in mixed and "U" in target and query.isupper():
        below = next(row for row in rows if row.startswith("Sbjct"))
        assert below.split()[2] == target
        assert theirs[1] == theirs[0]
        assert theirs.counts().mismatches == 0


def test_rows_of_a_target_of_rna_are_rna_also_where_they_have_no_u() -> None:
    (hit,) = (result := Aligner(DNA, engine="reference").search("GGTCCGGATTTT", ["AAAAUCCGGACCUU"]))
    assert hit.context.strand == -1
    assert "Sbjct  12  GGUCCGGAUUUU  1" in text_of(result, form="pairwise")
    (hit,) = (result := Aligner(DNA, engine="reference").search("CACCACCAGGAC", ["GUCCUGGUGGUGAA"]))
    assert "Sbjct  12  CACCACCAGGAC  1" in text_of(result, form="pairwise")


@pytest.mark.parametrize("kind", LINES)
def test_blast_tab_is_the_line_of_blast(kind: str) -> None:
    text, line = LINES[kind]
    hsp, query, target = of_blast(text, line)
    result = result_of(query, Hit(1, target, (hsp,)))
    ours = text_of(result, form=f"blast-tab {' '.join(WANTED)}")
    assert ours == line.replace(" ", "\t") + "\n"
    assert text_of(result, form="6") == "\t".join(line.split()[:12]) + "\n"


def test_blast_tab_of_several_pairs() -> None:
    first, query, target = of_blast(BLASTP, BLASTP_LINE)
    second, _, _ = of_blast(BLASTP_SECOND, BLASTP_SECOND_LINE)
    result = result_of(query, Hit(1, target, (first, second)))
    ours = text_of(result, form=f"blast-tab {' '.join(WANTED)}").splitlines()
    assert [line.split("\t") for line in ours] == [
        BLASTP_LINE.split(),
        BLASTP_SECOND_LINE.split(),
    ]


@pytest.mark.parametrize("form", ["blast-tab", "blast-tab-comments"])
@pytest.mark.parametrize("columns", ["", " qseqid sseqid std qseq sseq btop frames score"])
def test_blast_tab_is_read_by_biopython(form: str, columns: str) -> None:
    first, query, target = of_blast(BLASTP, BLASTP_LINE)
    second, _, _ = of_blast(BLASTP_SECOND, BLASTP_SECOND_LINE)
    minus, dna, chromosome = of_blast(BLASTN, BLASTN_LINE)
    chromosome = replace(chromosome, id="m2")
    results = [
        result_of(query, Hit(1, target, (first, second)), Hit(2, chromosome, (second,))),
        result_of(Record("none", "nothing found", "MKV")),
        result_of(replace(dna, id="d2"), Hit(1, chromosome, (minus,))),
    ]
    text = text_of(*results, form=form + columns)
    options = {"comments": True} if "comments" in form else {"fields": columns.split() or ["std"]}
    back = list(SearchIO.parse(io.StringIO(text), "blast-tab", **options))
    ours = [result for result in results if len(result) or "comments" in form]
    assert [each.id for each in back] == [result.query.id for result in ours]
    for theirs, result in zip(back, ours, strict=True):
        assert [hit.id for hit in theirs] == [hit.target.id for hit in result]
        for hit, own in zip(theirs, result, strict=True):
            assert len(hit.hsps) == len(own.hsps)
            for hsp, pair in zip(hit.hsps, own.hsps, strict=True):
                found = pair.alignment
                first_letter, last_letter = sorted(pair.query_place)
                assert (hsp.query_start, hsp.query_end) == (first_letter - 1, last_letter)
                assert (hsp.hit_start, hsp.hit_end) == (found.target_start, found.target_end)
                assert hsp.hit_strand == pair.context.strand
                assert (hsp.evalue, hsp.bitscore) == (pair.evalue, pair.bits)
                assert hsp.mismatch_num == found.columns - found.identities - found.gaps
                assert hsp.ident_pct == pytest.approx(100 * found.identity, abs=0.0005)
                if columns:
                    assert len(hsp.query.seq) == len(hsp.hit.seq) == found.columns


def test_comments_of_blast_tab() -> None:
    _, query, _ = of_blast(BLASTP, BLASTP_LINE)
    lines = text_of(result_of(replace(query, description="is it")), form="7").splitlines()
    assert lines[0].startswith("# glsw ")
    assert lines[1:] == [
        "# Query: d1 is it",
        "# Database: 9 sequences, 1000 residues",
        "# 0 hits found",
        "# glsw processed 1 queries",
    ]


def test_blast_tab_of_unknown_statistics_and_of_every_column() -> None:
    hsp, query, target = of_blast(BLASTP, BLASTP_LINE)
    result = result_of(
        query, Hit(1, replace(target, description=""), (Hsp(hsp.alignment, hsp.context),))
    )
    values = text_of(result, form=f"blast-tab {' '.join(TABULAR)}").rstrip("\n").split("\t")
    row = dict(zip(TABULAR, values, strict=True))
    assert math.isnan(float(row["evalue"]))
    assert math.isnan(float(row["bitscore"]))
    assert row["stitle"] == "N/A"
    assert (row["positive"], row["ppos"]) == ("50", "92.59")
    assert all(values)


def random_dna(rng: random.Random, length: int) -> str:
    return "".join(rng.choices("ACGT", k=length))


def mutated(rng: random.Random, letters: str) -> str:
    """Return letters with some others, lost and new ones."""
    return "".join(
        rng.choice(["", letter * 2, rng.choice("ACGT")]) if rng.random() < 0.15 else letter
        for letter in letters
    )


def best(query: Record, target: Record, context: Context, scoring: Scoring) -> Hsp:
    found = Aligner(scoring, engine="reference").align(query, target)
    return Hsp(found, context, found.score / 2, 2.0**-found.score)


def searched(seed: int, scoring: Scoring = DNA) -> tuple[SearchResult, list[Record]]:
    """Return a result with both strands of a query, and what was searched."""
    rng = random.Random(seed)
    query = Record("read 1", "of noise", random_dna(rng, 80).lower())
    turned = replace(query, letters=reverse_complement(query.letters))
    targets = [
        Record(
            f"chr{k}<{k}>",
            "a part",
            random_dna(rng, 30) + mutated(rng, each.letters.upper()) + "ACG",
        )
        for k, each in enumerate((query, turned, query, turned))
    ]
    hits = [
        Hit(
            1,
            targets[0],
            tuple(
                best(q, targets[0], Context(80, sign), scoring)
                for q, sign in ((query, 1), (turned, -1))
            ),
        ),
        Hit(2, targets[1], (best(turned, targets[1], Context(80, -1), scoring),)),
        Hit(3, targets[2], (best(query, targets[2], Context(80), scoring),)),
    ]
    return result_of(query, *hits), targets


def pairs(result: SearchResult) -> Iterator[Hsp]:
    return (hsp for hit in result for hsp in hit.hsps)


def test_small_evalues_are_known_in_bam(tmp_path: Path) -> None:
    """Numbers of BAM have 32 bits: the E-value is 0 there, its logarithm is not."""
    pysam = pytest.importorskip("pysam")
    letters = "".join(np.random.default_rng(5).choice(list("ARNDCQEGHILKMFPSTWYV"), 300))
    result = Aligner(engine="reference").search(letters, [letters, letters[:30]])
    write(result, tmp_path / "out.sam", "sam", targets=[result[k].target for k in range(2)])
    with (
        pysam.AlignmentFile(tmp_path / "out.sam") as file,
        pysam.AlignmentFile(tmp_path / "out.bam", "wb", template=file) as copy,
    ):
        for record in file:
            copy.write(record)
    with pysam.AlignmentFile(tmp_path / "out.bam") as file:
        tags = [dict(record.get_tags()) for record in file]
    assert tags[0]["ZE"] == 0 < tags[1]["ZE"]
    for tag, hit in zip(tags, result, strict=True):
        assert hit.evalue is not None
        assert tag["ZL"] == pytest.approx(np.log10(hit.evalue), abs=0.01)
    assert tags[0]["ZL"] < -100


@pytest.mark.parametrize("seed", range(5))
def test_sam_is_read_by_pysam(seed: int, tmp_path: Path) -> None:
    pysam = pytest.importorskip("pysam")
    result, targets = searched(seed)
    none = result_of(Record("none", "", "ACGT*"))
    path = tmp_path / "out.sam"
    write([result, none], path, "sam", targets=targets)
    with pysam.AlignmentFile(path) as file:
        assert file.lengths == tuple(map(len, targets))
        assert file.references == tuple(f"chr{k}_{k}_" for k in range(4))
        assert file.header["PG"][0]["PN"] == "glsw"
        *records, unmapped = list(file)
    assert (unmapped.query_name, unmapped.flag, unmapped.query_sequence) == ("none", 4, "ACGTN")
    assert not records[0].is_secondary
    assert all(record.is_secondary or record.is_supplementary for record in records[1:])
    for record, hsp in zip(records, pairs(result), strict=True):
        found = hsp.alignment
        assert record.query_name == "read_1"
        assert record.is_reverse == (hsp.context.strand < 0)
        assert record.get_forward_sequence() == result.query.letters.upper()
        assert record.reference_start == found.target_start
        assert record.reference_end == found.target_end
        assert record.query_alignment_start == found.query_start
        assert record.query_alignment_end == found.query_end
        assert record.get_tag("AS") == hsp.score
        assert record.get_tag("NM") == found.columns - found.identities
        assert record.get_tag("ZE") == pytest.approx(hsp.evalue, rel=1e-2)
        assert record.get_tag("ZL") == pytest.approx(np.log10(hsp.evalue), abs=0.01)
        assert record.get_tag("ZB") == pytest.approx(hsp.bits)
        aligned = found.target.letters[found.target_start : found.target_end]
        assert record.get_reference_sequence().upper() == aligned
        theirs = record.get_aligned_pairs(matches_only=True)
        runs = found.coordinates.T.tolist()
        ours = [
            (q + k, t + k)
            for (t, q), (t_end, q_end) in pairwise(runs)
            if t_end - t == q_end - q
            for k in range(t_end - t)
        ]
        assert theirs == ours


@pytest.mark.parametrize("seed", range(3))
def test_sam_is_read_by_biopython(seed: int) -> None:
    result, targets = searched(seed)
    text = text_of(result, form="sam", targets=targets)
    back = list(Bio.Align.parse(io.StringIO(text), "sam"))
    for theirs, hsp in zip(back, pairs(result), strict=True):
        ours = hsp.to_biopython()
        assert _joined(theirs.coordinates).tolist() == ours.coordinates.tolist()
        assert theirs.query.seq == result.query.letters
        assert theirs.score == hsp.score


def test_pairs_elsewhere_on_the_query_are_supplementary() -> None:
    query, target = Record("q", "", "ACGT" * 10), Record("t", "", "ACGT" * 20)

    def at(start: int, end: int, strand: int = 1) -> Hsp:
        if strand < 0:
            start, end = 40 - end, 40 - start
        runs = Runs.of_coordinates([np.array([[0, end - start], [start, end]])])
        encoded = (EncodedRecord.of(each, DNA.alphabet) for each in (query, target))
        return Hsp(Alignment(1, *encoded, runs, DNA), Context(40, strand))

    def flags(*hits: Hit) -> list[int]:
        lines = text_of(result_of(query, *hits), form="sam").splitlines()
        return [int(line.split("\t")[1]) for line in lines if not line.startswith("@")]

    assert flags(Hit(1, target, (at(0, 20), at(25, 40), at(5, 21), at(16, 26, -1)))) == [
        0,
        sam.SUPPLEMENTARY,
        sam.SECONDARY,
        sam.SUPPLEMENTARY | sam.REVERSE,
    ]
    assert flags(Hit(1, target, (at(0, 20),)), Hit(2, target, (at(0, 20),))) == [0, sam.SECONDARY]
    assert flags(Hit(2, target, (at(0, 20),))) == [sam.SECONDARY]


def test_alignments_elsewhere_on_the_pair_are_supplementary(tmp_path: Path) -> None:
    """Each alignment of ``glsw align`` is a result of its own, of one and the same query."""
    one, other = "ACGTTGCAACGGTCA", "GGATCCTTAGCCATA"
    for name, letters in (("q", f"{one}{other}"), ("t", f"{other}CCC{one}AA{one}")):
        (tmp_path / name).write_text(f">{name}\n{letters}\n")
    path = tmp_path / "out.sam"
    words = ["--dna", "--engine", "reference", "--max-alignments", "3", "--min-score", "15"]
    files = [str(tmp_path / "q"), str(tmp_path / "t")]
    assert main(["align", *files, *words, "--format", "sam", "--output", str(path)]) == 0
    lines = [line.split("\t") for line in path.read_text().splitlines() if line[0] != "@"]
    flags = [int(flag) for _, flag, *_ in lines]
    assert flags[0] == 0
    assert sorted(flags) == [0, sam.SECONDARY, sam.SUPPLEMENTARY]
    found = Aligner(DNA, engine="reference").search(Record("q", "", one), [Record("t", "", one)])
    twice = replace(found, query=Record("q", "", one))
    flags = [
        int(line.split("\t")[1]) for line in text_of(found, twice, form="sam").splitlines()[3:]
    ]
    assert flags == [0, 0]


def test_sam_of_proteins_and_of_a_translated_query() -> None:
    dna = "CCATGTGGTAACATATTTGC"
    frames = translate(reverse_complement(dna)[1:][:18])
    query, target = Record("q", "", frames), Record("t", "", f"MM{frames}K")
    hsp = best(query, target, Context(20, -1, -2), BLOSUM62)
    assert frames == "QICYHM"
    text = text_of(result_of(Record("q", "", dna), Hit(1, target, (hsp,))), form="sam")
    (back,) = Bio.Align.parse(io.StringIO(text), "sam")
    assert back.coordinates.tolist() == [[2, 8], [0, 6]]
    assert back.query.seq == frames
    fields = text.splitlines()[-1].split("\t")
    assert fields[:6] == ["q", "0", "t", "3", "255", "6="]
    assert fields[-2:] == ["ZF:i:-2", "ZS:i:19"]
    starred = best(Record("q", "", "MKW*WW"), Record("t", "", "MKW*WY"), Context(6), BLOSUM62)
    line = text_of(result_of(Record("q", "", "MKW*WW"), Hit(1, target, (starred,))), form="sam")
    fields = line.splitlines()[-1].split("\t")
    assert (fields[5], fields[9], fields[13]) == ("5=1X", "MKWXWW", "MD:Z:5Y0")


def test_header_of_sam() -> None:
    lines = sam.header([("=a(b)", 3), ("*", 4)], "glsw search a\tb").splitlines()
    assert lines[1:3] == ["@SQ\tSN:_=a_b_\tLN:3", "@SQ\tSN:_*\tLN:4"]
    assert lines[3].split("\t")[-1] == "CL:glsw search a b"
    with pytest.raises(ValueError, match="different names, a_b_ is the name of two targets"):
        sam.header([("a(b)", 3), ("a[b]", 4)], "")


def test_a_header_that_cannot_be_comes_before_the_search(tmp_path: Path) -> None:
    started = []

    def results() -> Iterator[SearchResult]:
        started.append(True)
        yield from ()

    path, targets = tmp_path / "out", [Record("t", "", "A"), Record("t", "", "C")]
    with tqdm(disable=True) as bar, pytest.raises(ValueError, match="the name of two targets"):
        outputs.write(results(), format_of("sam"), ResultFile(path), bar, targets)
    assert not started
    assert not path.exists()


def test_the_command_line_writes_headers_and_footers(tmp_path: Path) -> None:
    result, targets = searched(0)
    path = tmp_path / "out"
    for form, first, last in (
        ("sam", "@HD\tVN:1.6", "read_1\t"),
        ("7", "# glsw ", "# glsw processed 2 queries"),
        ("tsv", "query\trank", "read 1\t3"),
    ):
        with tqdm(disable=True) as bar:
            outputs.write([result, result], format_of(form), ResultFile(path), bar, targets)
        lines = path.read_text().splitlines()
        assert lines[0].startswith(first)
        assert lines[-1].startswith(last)
        if form == "sam":
            assert [line[:3] for line in lines[:6]] == ["@HD", *["@SQ"] * 4, "@PG"]


@pytest.mark.parametrize("seed", range(5))
def test_paf_reads_back(seed: int) -> None:
    result, targets = searched(seed)
    letters = {record.id: record.letters for record in targets}
    lines = text_of(result, form="paf").splitlines()
    for line, hsp in zip(lines, pairs(result), strict=True):
        fields = line.split("\t")
        name, length, start, end, strand, target, target_length, first, last, equal, columns = (
            int(field) if field.isdigit() else field for field in fields[:11]
        )
        tags = {tag[:2]: tag[5:] for tag in fields[12:]}
        assert (name, length, strand) == ("read 1", 80, "+-"[hsp.context.strand < 0])
        assert target_length == len(letters[target])
        query = result.query.letters.upper()[start:end]
        query = query if strand == "+" else reverse_complement(query)
        aligned, at_query, at_target, seen = letters[target][first:last], 0, 0, {}
        for size, letter in re.findall(r"(\d+)(.)", tags["cg"]):
            seen[letter] = seen.get(letter, 0) + int(size)
            if letter in "=X":
                ours = query[at_query : at_query + int(size)]
                theirs = aligned[at_target : at_target + int(size)]
                assert {q == t for q, t in zip(ours, theirs, strict=True)} == {letter == "="}
            at_query += int(size) * (letter in "=XI")
            at_target += int(size) * (letter in "=XD")
        assert (at_query, at_target) == (len(query), len(aligned))
        assert (equal, columns) == (seen["="], sum(seen.values()))
        assert (int(tags["AS"]), int(tags["NM"])) == (hsp.score, columns - equal)


def features(text: str) -> list[tuple[list[str], dict[str, str]]]:
    """Return the columns of GFF3 and its attributes, as the specification has them read."""
    head, *lines = text.splitlines()
    assert head == "##gff-version 3"
    found = []
    for line in lines:
        *fields, attributes = line.split("\t")
        named = dict(each.split("=") for each in attributes.split(";"))
        assert len(fields) == 8
        fields[0] = unquote(fields[0])
        found.append((fields, named))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_gff3_reads_back(seed: int) -> None:
    result, targets = searched(seed)
    letters = {record.id: record.letters for record in targets}
    text = text_of(result, form="gff3")
    assert text.isascii()
    assert ">" not in text
    for (fields, named), hsp in zip(features(text), pairs(result), strict=True):
        target, source, kind, start, end, _, strand, phase = fields
        assert (source, kind, phase) == ("glsw", "nucleotide_match", ".")
        assert strand == "+-"[hsp.context.strand < 0]
        name, first, last, of_query = named["Target"].split(" ")
        assert (unquote(name), unquote(named["Name"]), of_query) == ("read 1", "read 1", "+")
        query = result.query.letters.upper()[int(first) - 1 : int(last)]
        query = query if strand == "+" else reverse_complement(query)
        aligned, at_query, at_target, equal, columns = (
            letters[target][int(start) - 1 : int(end)], 0, 0, 0, 0,
        )  # fmt: skip
        for letter, size in re.findall(r"([MID])([0-9]+)(?: |$)", named["Gap"]):
            count = int(size)
            if letter == "M":
                ours, theirs = query[at_query:][:count], aligned[at_target:][:count]
                equal += sum(map(str.__eq__, ours, theirs))
            at_query += count * (letter != "D")
            at_target += count * (letter != "I")
            columns += count
        assert (at_query, at_target) == (len(query), len(aligned))
        assert float(named["score"]) == hsp.score
        assert float(named["identity"]) == pytest.approx(equal / columns, abs=1e-4)


def test_gff3_of_proteins_and_of_a_translated_query() -> None:
    hsp, _, target = of_blast(BLASTX, BLASTX_LINE)
    name = "d;1=&,%\u03b1"
    result = result_of(Record(name, "", "A" * 168), Hit(1, target, (hsp,)))
    ((fields, named),) = features(text_of(result, form="gff3"))
    assert fields[2:5] + fields[6:] == ["translated_nucleotide_match", "5", "57", "-", "."]
    assert named["Target"] == "d%3B1%3D%26%2C%25%CE%B1 5 160 +"
    assert named["Gap"] == "M18 D2 M20 I1 M13"
    found = Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"], composition=0)
    ((fields, named),) = features(text_of(found, form="gff3"))
    assert (fields[2], fields[5]) == ("protein_match", f"{found[0].evalue:.3g}")
    assert (named["bits"], named["Gap"]) == (f"{found[0].bits:.1f}", "M2 I1 M2")


def test_paf_of_a_translated_query() -> None:
    hsp, _, target = of_blast(BLASTX, BLASTX_LINE)
    line = text_of(result_of(Record("d1", "", "A" * 168), Hit(1, target, (hsp,))), form="paf")
    assert line.split("\t")[:12] == [
        "d1",
        "168",
        "4",
        "160",
        "-",
        "m",
        "59",
        "4",
        "57",
        "49",
        "54",
        "255",
    ]
    assert "\tZF:i:-3\tcg:Z:1X17=2D10=1X9=1I13=\n" in line


def test_codons_are_letters_in_sam_and_paf() -> None:
    scoring = Scoring.named("SCHNEIDER", 10, 5)
    query, target = Record("q", "", "CCCATGGCCTGG"), Record("t", "", "AAAATGGCTTGG")
    hsp = best(query, target, Context(4), scoring)
    result = result_of(query, Hit(1, target, (hsp,)))
    fields = text_of(result, form="sam", targets=[target]).splitlines()[-1].split("\t")
    assert (fields[3], fields[5], fields[12]) == ("4", "3S5=1X3=", "NM:i:1")
    fields = text_of(result, form="paf").split("\t")
    assert fields[1:4] + fields[6:11] == ["12", "3", "12", "12", "3", "12", "8", "9"]


def test_json_lines_read_back() -> None:
    result, _ = searched(1)
    hsp, query, target = of_blast(BLASTX, BLASTX_LINE)
    unknown = Hsp(hsp.alignment, hsp.context)
    results = [
        result,
        result_of(query, Hit(1, target, (unknown,)), statistics="none"),
        result_of(Record("é", "line\u2028end", "MKV")),
    ]
    lines = text_of(*results, form="jsonl").split("\n")
    assert lines.pop() == ""
    for line, own in zip(map(json.loads, lines), results, strict=True):
        assert line["query"] == {
            "id": own.query.id,
            "description": own.query.description,
            "length": len(own.query),
        }
        assert line["database"] == {"sequences": 9, "residues": 1000}
        rows = [
            {
                "query": line["query"]["id"],
                "rank": hit["rank"],
                "target": hit["target"]["id"],
                "query_length": None,
                "target_length": hit["target"]["length"],
                "description": hit["target"]["description"],
                "hsp": number,
                **hsp,
            }
            for hit in line["hits"]
            for number, hsp in enumerate(hit["hsps"], start=1)
        ]
        expected = list(own.rows())
        assert len(rows) == len(expected)
        for row, values, pair in zip(rows, expected, pairs(own), strict=True):
            rows_shown = row.pop("query_row"), row.pop("target_row")
            assert rows_shown == pair.alignment.rows()[::2]
            row["query_length"] = values["query_length"]
            assert row == values
            assert set(row) == set(COLUMNS)
    assert [json.loads(line)["statistics"] for line in lines] == [None, "none", None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown format ''. There are pairwise, table"),
        ("blastab", "unknown format 'blastab', did you mean blast-tab?"),
        ("blast-tab qseqid evaleu", "unknown column of blast-tab 'evaleu', did you mean evalue?"),
        ("7 qseqid staxid", "unknown column of blast-tab-comments 'staxid'"),
        ("sam qseqid", "format sam has no columns to choose, got 'qseqid'"),
    ],
)
def test_unknown_formats(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        format_of(text)
    assert "\n" not in str(error.value)


def test_formats_of_a_pair_are_fewer() -> None:
    assert format_of("blast-tab std", ALIGNMENT_FORMATS)
    with pytest.raises(ValueError, match="unknown format 'table'"):
        format_of("table", ALIGNMENT_FORMATS)
    with pytest.raises(ValueError, match="unknown format 'blast-tab-comments'"):
        format_of("7", ALIGNMENT_FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_ids_and_descriptions_do_not_break_lines(name: str) -> None:
    hsp, query, target = of_blast(BLASTP, BLASTP_LINE)
    clean = text_of(result_of(query, Hit(1, target, (hsp,))), form=name)
    evil = replace(target, description="tab\tnew\nline\r\n", id="m\tm")
    encoded = EncodedRecord.of(evil, BLOSUM62.alphabet)
    odd = Hsp(replace(hsp.alignment, target=encoded), hsp.context, hsp.bits, hsp.evalue)
    shown = text_of(result_of(replace(query, id="q\tq"), Hit(1, evil, (odd,))), form=name)
    assert shown.count("\n") == clean.count("\n")
    if name in ("tsv", "blast-tab", "paf", "sam"):
        assert shown.count("\t") == clean.count("\t")
