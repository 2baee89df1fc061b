"""Reads: qualities, read groups and mapping qualities in SAM, and both strands of a pair."""

from __future__ import annotations

import io
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from Bio import SeqIO
from Bio.Seq import Seq, reverse_complement
from Bio.SeqRecord import SeqRecord

from glsw import Aligner, Record, Scoring, SearchResult, read
from glsw.alignment.hits import Hsp
from glsw.cli import main
from glsw.output import format_of, sam, write
from glsw.sequences.fasta import read_all

ALIGNER = Aligner(Scoring.nucleotide(), engine="reference")
GENOME = "".join(random.Random(7).choices("ACGT", k=300))
READS = (
    ("plus", f"TT{GENOME[40:90]}CCC"),
    ("minus", f"GG{reverse_complement(GENOME[100:160])}A"),
    ("none", "A"),
)


def qualities(count: int) -> str:
    """Return qualities, each other than those beside it, that begin with @ as a title does."""
    return "".join(chr(64 - k % 31) for k in range(count))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    records = (f"@{name} x\n{letters}\n+\n{qualities(len(letters))}\n" for name, letters in READS)
    Path("reads.fq").write_text("".join(records))
    Path("genome.fa").write_text(f">chr1\n{GENOME}\n")
    return tmp_path


def lines(path: str = "out.sam") -> list[list[str]]:
    return [line.split("\t") for line in Path(path).read_text().splitlines() if line[0] != "@"]


def searched(*words: str) -> list[list[str]]:
    words = "reads.fq", "genome.fa", "--engine", "reference", "--min-score", "40", *words
    assert main(["search", *words, "--format", "sam", "--output", "out.sam"]) == 0
    return lines()


@pytest.mark.usefixtures("files")
def test_qualities_are_those_of_the_letters() -> None:
    plus, minus, none = searched()
    given = {record.id: record for record in read("reads.fq")}
    for fields, reverse in ((plus, False), (minus, True), (none, False)):
        record = given[fields[0]]
        letters = reverse_complement(record.letters) if reverse else record.letters
        assert fields[9:11] == [letters, record.quality[::-1] if reverse else record.quality]
        assert int(fields[1]) & sam.REVERSE == sam.REVERSE * reverse
    assert (plus[5], minus[5], none[1]) == ("2S50=3S", "1S60=2S", "4")


@pytest.mark.usefixtures("files")
def test_qualities_are_read_by_pysam() -> None:
    pysam = pytest.importorskip("pysam")
    searched("--read-group", r"@RG\tID:run 1\tSM:both")
    with open("reads.fq") as given:
        theirs = {record.id: record for record in SeqIO.parse(given, "fastq")}
    with pysam.AlignmentFile("out.sam") as file:
        assert file.header.to_dict()["RG"] == [{"ID": "run 1", "SM": "both"}]
        (program,) = file.header.to_dict()["PG"]
        assert (program["ID"], program["PN"], program["CL"][:4]) == ("glsw", "glsw", "glsw")
        found = list(file)
    assert len(found) == 3
    for record in found:
        expected = theirs[record.query_name]
        assert record.get_forward_sequence() == str(expected.seq)
        assert list(record.get_forward_qualities()) == expected.letter_annotations["phred_quality"]
        assert record.get_tag("RG") == "run 1"


@pytest.mark.usefixtures("files")
def test_qualities_of_a_pair_and_of_records_of_biopython() -> None:
    Path("read.fq").write_text("".join(Path("reads.fq").read_text().splitlines(keepends=True)[4:8]))
    words = ["align", "read.fq", "genome.fa", "--engine", "reference"]
    assert main([*words, "--format", "sam", "--output", "out.sam"]) == 0
    (fields,) = lines()
    assert fields[10] == qualities(63)[::-1]
    with open("read.fq") as given:
        (record,) = SeqIO.parse(given, "fastq")
    stream = io.StringIO()
    write(ALIGNER.search(record, [Record("chr1", "", GENOME)]), stream, "sam")
    assert stream.getvalue().splitlines()[-1].split("\t")[10] == fields[10]


def test_qualities_that_sam_does_not_have() -> None:
    target = [Record("t", "", "ACGTACGT")]

    def quality(query: Record, **options: int) -> str:
        stream = io.StringIO()
        aligner = Aligner(engine="reference") if options else ALIGNER
        found = aligner.search(query, [Record("t", "", "MKV")] if options else target, **options)
        write(found, stream, "sam")
        return stream.getvalue().splitlines()[-1].split("\t")[10]

    assert quality(Record("q", "", "ACGTAC", "IIIIIJ")) == "IIIIIJ"
    assert quality(Record("q", "", "ACGTAC")) == "*"
    assert quality(Record("q", "", "ACGTAC", "III II")) == "*"
    assert quality(Record("q", "", "ATGAAAGTT", "I" * 9), genetic_code=1) == "*"


def test_qualities_of_files(tmp_path: Path) -> None:
    path = tmp_path / "reads.fq"
    path.write_text("@a\nACGT\n+\nAB\u00e9D\n@b\nAC\nGT\n+\nAB\nCD\n@c\n\n+\n\n", encoding="utf-8")
    assert [record.quality for record in read(path)] == ["AB D", "ABCD", ""]
    records = read_all(path)
    assert [records[k].quality for k in range(3)] == ["AB D", "ABCD", ""]
    path.write_text("@a\nAC\x0bGT\n+\nABCDE\n")
    with pytest.raises(ValueError, match="malformed FASTQ: white space between letters"):
        list(read(path))
    path.write_text("@a\nACGT\n+\nABCD\n@b\nAC\u00e9T\n+\nABCD\n", encoding="utf-8")
    before = read(path)
    assert next(before).quality == "ABCD"
    with pytest.raises(ValueError, match="is not a letter"):
        next(before)
    phred = SeqRecord(Seq("ACG"), "s", letter_annotations={"phred_quality": [0, 40, 99]})
    assert ALIGNER.search(phred, ["ACGT"]).query.quality == "!I~"


@pytest.mark.usefixtures("files")
def test_other_qualities_are_another_run(capfd: pytest.CaptureFixture[str]) -> None:
    """``--resume`` does not join results of reads that differ in qualities alone."""
    from glsw.search.fingerprint import fingerprint

    one, other = ([Record("q", "", "ACGT", quality)] for quality in ("IIII", "IIIJ"))
    before, now = (fingerprint(each, [], Scoring.nucleotide()) for each in (one, other))
    assert [name for name in before if before[name] != now[name]] == ["queries"]


@pytest.mark.usefixtures("files")
def test_read_groups(capfd: pytest.CaptureFixture[str]) -> None:
    for given in (r"@RG\tID:a\tSM:b c", "@RG\tID:a\tSM:b c"):
        records = searched("--read-group", given)
        assert [fields[-1] for fields in records] == ["RG:Z:a"] * 3
        assert Path("out.sam").read_text().splitlines()[2] == "@RG\tID:a\tSM:b c"
    found = ALIGNER.search("ACGT", [Record("t", "", "ACGT")])
    write(found, "library.sam", r"sam @RG\tID:a")
    assert "RG:Z:a" in lines("library.sam")[0]
    assert "RG:Z" not in "".join(map("".join, searched()))
    capfd.readouterr()
    for given, form, message in (
        ("@RG ID:a", "sam", r"read group '@RG ID:a': '@RG\tID:name', perhaps with further fields,"),
        ("run1", "sam", r"read group 'run1': '@RG\tID:name', perhaps"),
        (r"@RG\tSM:a", "sam", r"read group '@RG\tSM:a': '@RG\tID:name', perhaps"),
        (r"@RG\tID:a", "paf", "--read-group is for --format sam, not paf"),
    ):
        words = ["reads.fq", "genome.fa", "--format", form, "--read-group", given]
        for command in ("search", "align"):
            assert main([command, *words]) == 2
            assert message in capfd.readouterr().err
    with pytest.raises(ValueError, match="format sam has no columns to choose, got 'qseqid'"):
        format_of("sam qseqid")


# mapping qualities


def mapq(result: SearchResult) -> list[int]:
    stream = io.StringIO()
    write(result, stream, "sam")
    records = [line.split("\t") for line in stream.getvalue().splitlines() if line[0] != "@"]
    stream = io.StringIO()
    write(result, stream, "paf")
    found = [int(fields[4]) for fields in records]
    assert [int(line.split("\t")[11]) for line in stream.getvalue().splitlines()] == found
    secondary = [bool(int(fields[1]) & sam.SECONDARY) for fields in records]
    assert all(
        quality in (0, 255) for quality, other in zip(found, secondary, strict=True) if other
    )
    return found


def places(result: SearchResult) -> list[Hsp]:
    return [hsp for hit in result for hsp in hit.hsps]


@pytest.mark.parametrize("seed", range(4))
def test_mapping_quality_is_the_probability_of_another_place(seed: int) -> None:
    """Of all alignments, found without a limit, the formula of Frith, Wan and Horton."""
    rng = random.Random(seed)
    unit = rng.choices("ACGT", k=60)

    def copy(changes: int) -> str:
        letters = list(unit)
        for at in rng.sample(range(60), changes):
            letters[at] = rng.choice("ACGT")
        return "".join(letters)

    targets = [
        Record(f"t{k}", "", f"{copy(rng.randrange(3))}TTTTTT{reverse_complement(copy(k))}")
        for k in range(4)
    ]
    found = ALIGNER.search(Record("read", "", "".join(unit)), targets, max_hsps=None, min_score=24)
    best = places(found)[0]
    low, high = sorted(best.query_place)
    others = 0.0
    for each in places(found)[1:]:
        start, end = sorted(each.query_place)
        common = min(end, high) - max(start, low) + 1
        if 2 * common > min(high - low, end - start) + 1:
            others += 2 ** (each.bits - best.bits)
    expected = -10 * math.log10(others / (1 + others))
    assert abs(mapq(found)[0] - min(60, expected)) <= 0.5 + 1e-3
    assert mapq(found)[0] < 30


def test_mapping_quality_of_one_place_and_of_equal_ones() -> None:
    read_, other = GENOME[:60], GENOME[100:160]

    def qualities_of(*targets: str, **options: float) -> list[int]:
        records = [Record(f"t{k}", "", letters) for k, letters in enumerate(targets)]
        return mapq(ALIGNER.search(read_, records, **{"max_hsps": 2, "min_score": 40, **options}))

    assert qualities_of(GENOME) == [60]
    assert qualities_of(f"{read_}{other}", f"{other}{read_}") == [3, 0]
    assert qualities_of(f"{read_}{other}{read_}") == [3, 0]
    assert qualities_of(f"{read_}{other}{reverse_complement(read_)}") == [3, 0]
    assert qualities_of(*[read_] * 40, top=40) == [0] * 40
    changed = read_[:30] + ("A" if read_[30] != "A" else "C") + read_[31:]
    bits = 5 * 0.625 / math.log(2)  # match 2 to mismatch -3
    assert qualities_of(read_, changed) == [round(-10 * math.log10(1 / (1 + 2**bits))), 0]


def test_mapping_quality_of_two_parts_of_a_read() -> None:
    """A place of other letters of the read is no rival."""
    one, other = GENOME[:60], GENOME[100:160]
    targets = [Record("a", "", one), Record("b", "", other[:55]), Record("c", "", other[:55])]
    found = ALIGNER.search(f"{one}{other}", targets, max_hsps=2, min_score=40)
    assert mapq(found) == [60, 3, 0]


def test_mapping_quality_where_a_number_may_hide_the_second_place() -> None:
    """Of a read of two parts, a limit on alignments or hits leaves out a copy of the second."""
    one, other, apart = GENOME[:60], GENOME[100:140], "T" * 80
    read_, twice = f"{one}{other}", apart.join([one, other, other])
    for most, expected in ((2, [60, 3]), (3, [60, 3, 0])):
        found = ALIGNER.search(read_, [twice], max_hsps=most, min_score=40)
        assert mapq(found) == expected
    targets = [Record("a", "", one), Record("b", "", other), Record("c", "", other)]
    for top, expected in ((2, [60, 3]), (3, [60, 3, 0])):
        assert mapq(ALIGNER.search(read_, targets, max_hsps=2, top=top, min_score=40)) == expected


def test_a_weak_alignment_of_the_best_hit_is_secondary_to_a_better_one_of_another() -> None:
    one, other = GENOME[:60], GENOME[100:140]
    targets = [Record("a", "", f"{one}{'T' * 80}{other[10:22]}"), Record("b", "", other)]
    found = ALIGNER.search(f"{one}{other}", targets, max_hsps=2, evalue=10)
    assert [hsp.score for hsp in places(found)][:3] == [120, 24, 80]
    assert mapq(found)[:3] == [60, 0, 60]
    text = io.StringIO()
    write(found, text, "sam")
    flags = [int(row.split("\t")[1]) for row in text.getvalue().splitlines() if row[0] != "@"]
    assert flags[:3] == [0, 256, 2048]


def test_mapping_quality_that_is_not_known() -> None:
    targets = [Record("a", "", GENOME), Record("b", "", GENOME)]
    for options in (
        {"max_hsps": 1},
        {"max_hsps": 2, "top": 1},
        {"max_hsps": 2, "statistics": "none", "min_score": 40},
    ):
        assert set(mapq(ALIGNER.search(GENOME[:60], targets, **options))) == {255}
    found = ALIGNER.search(GENOME[:60], targets, max_hsps=2)
    assert mapq(found)[0] == 3
    again = replace(found, hits=tuple(found))  # of which nothing is known
    assert set(mapq(again)) == {255}


@pytest.mark.parametrize("limit", ["evalue", "min_score"])
def test_a_limit_that_may_hide_the_second_place_lowers_the_quality(limit: str) -> None:
    read_ = GENOME[:60]
    changed = read_[:20] + "".join("A" if c != "A" else "C" for c in read_[20:22]) + read_[22:]
    targets = [Record("a", "", read_), Record("b", "", changed)]
    both = ALIGNER.search(read_, targets, max_hsps=2, min_score=40)
    (best, second) = places(both)
    between = {
        "evalue": math.sqrt(best.evalue * second.evalue),
        "min_score": (best.score + second.score) / 2,
    }
    found = ALIGNER.search(read_, targets, max_hsps=2, **{limit: between[limit]})
    assert len(places(found)) == 1
    assert 3 <= mapq(found)[0] < mapq(both)[0] < 60
    far = {"evalue": 10.0, "min_score": 2}
    assert mapq(ALIGNER.search(read_, targets[:1], max_hsps=2, **{limit: far[limit]}))[0] == 60


# both strands of a pair


def aligned(*words: str) -> Iterator[tuple[str, ...]]:
    command = ["align", "q.fa", "t.fa", "--engine", "reference", "--format", "tsv", *words]
    assert main([*command, "--output", "out.tsv"]) == 0
    names, *rows = (line.split("\t") for line in Path("out.tsv").read_text().splitlines())
    for row in rows:
        found = dict(zip(names, row, strict=True))
        yield tuple(found[key] for key in ("score", "strand", "query_start", "query_end", "cigar"))


@pytest.mark.parametrize("seed", range(3))
def test_align_searches_both_strands(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The alignments are those of a search with as many per hit."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(seed)
    query, target = ("".join(rng.choices("ACGT", k=k)) for k in (40, 80))
    target = f"{target}{reverse_complement(query[5:25])}{target[:9]}{query[20:36]}"
    Path("q.fa").write_text(f">q\n{query}\n")
    Path("t.fa").write_text(f">t\n{target}\n")
    for strand in ("both", "plus", "minus"):
        found = ALIGNER.search(query, [target], max_hsps=6, strand=strand, evalue=None)
        expected = [
            (row["score"], row["strand"], row["query_start"], row["query_end"])
            for row in found.rows()
        ]
        several = list(aligned("--max-alignments", "6", "--strand", strand))
        assert [each[:4] for each in several] == [tuple(map(str, each)) for each in expected]
        assert [each[4] for each in several] == [hsp.alignment.cigar for hsp in places(found)]
        assert list(aligned("--strand", strand)) == several[:1]
    assert next(aligned())[1] == "-"
    assert list(aligned("--mode", "global", "--strand", "both")) == [
        max(
            (next(aligned("--mode", "global", "--strand", each)) for each in ("plus", "minus")),
            key=lambda each: float(each[0]),
        )
    ]


def test_strands_of_a_pair_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.fa").write_text(">q\nGGGAUUACACCA\n")
    Path("t.fa").write_text(">t\nCCCCTGGTGTAATCCCAAAA\n")
    assert main(["align", "q.fa", "t.fa", "--engine", "reference"]) == 0
    text = capfd.readouterr().out
    assert "minus" in text
    assert "q 12 UGGUGUAAUCCC 1" in " ".join(text.split()).replace("query", "q")
    Path("p.fa").write_text(">p\nMKVLAW\n")
    assert main(["align", "p.fa", "p.fa", "--strand", "both"]) == 2
    assert "only DNA has two strands" in capfd.readouterr().err
    assert np.array([*aligned("--dna")]).shape == (1, 5)
