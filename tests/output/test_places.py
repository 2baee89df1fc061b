"""Places of reads: by part of a read, by default, as RNA, semi-global, and what is not listed."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path

import pytest
from Bio.Seq import reverse_complement
from wing import of_wing

from glsw import Aligner, Record, Scoring, SearchResult, write
from glsw.cli import main
from glsw.output import sam

ALIGNER = Aligner(Scoring.nucleotide(), engine="reference")
CPU = Aligner(Scoring.nucleotide(), engine="cpu")
GENOME = "".join(random.Random(7).choices("ACGT", k=300))
ONE, OTHER, APART = GENOME[:60], GENOME[100:160], "T" * 80
COPIES = APART.join([ONE, ONE, ONE, reverse_complement(OTHER), OTHER, OTHER])


def records(result: SearchResult) -> list[list[str]]:
    stream = io.StringIO()
    write(result, stream, "sam")
    return [line.split("\t") for line in stream.getvalue().splitlines() if line[0] != "@"]


def changed(letters: str, rate: float, rng: random.Random) -> str:
    return "".join(rng.choice("ACGT") if rng.random() < rate else letter for letter in letters)


def test_places_count_by_part_of_a_read() -> None:
    target = [Record("t", "", COPIES)]
    options = {"max_hsps": 2, "min_score": 40}
    for read in (f"{ONE}{OTHER}", reverse_complement(f"{ONE}{OTHER}")):
        found = ALIGNER.search(read, target, per_part=True, **options)
        parts = [sorted(hsp.query_place) for hsp in found[0].hsps]
        assert sorted(map(tuple, parts)) == [(1, 60)] * 2 + [(61, 120)] * 2
        assert len({hsp.target_place for hsp in found[0].hsps}) == 4
        flags = [int(fields[1]) & ~sam.REVERSE for fields in records(found)]
        assert sorted(flags) == [0, sam.SECONDARY, sam.SECONDARY, sam.SUPPLEMENTARY]
        assert sorted(int(fields[4]) for fields in records(found)) == [0, 0, 3, 3]
    per_hit = ALIGNER.search(f"{ONE}{OTHER}", target, **options)
    assert {tuple(sorted(hsp.query_place)) for hsp in per_hit[0].hsps} == {(61, 120)}


def test_other_parts_are_in_a_tag() -> None:
    found = ALIGNER.search(
        f"{ONE}{OTHER}", [Record("t", "", COPIES)], max_hsps=2, min_score=40, per_part=True
    )
    for fields in records(found):
        tags = [field[5:-1].split(",") for field in fields if field.startswith("SA:Z:")]
        others = [
            [name, position, "-" if int(flag) & sam.REVERSE else "+", cigar, quality, "0"]
            for _, flag, name, position, quality, cigar, *_ in records(found)
            if not int(flag) & sam.SECONDARY and position != fields[3]
        ]
        assert tags == ([] if int(fields[1]) & sam.SECONDARY else others)
        assert len(others) == 1 or int(fields[1]) & sam.SECONDARY


def test_parts_need_limits() -> None:
    """Where nothing tells places from chance, they count by hit."""
    target = [Record("t", "", COPIES)]
    for options in ({"evalue": None}, {"statistics": "none"}):
        found = ALIGNER.search(f"{ONE}{OTHER}", target, max_hsps=2, per_part=True, **options)
        assert len(found[0].hsps) == 2


def mapped(words: list[str], read: str, genome: str) -> list[list[str]]:
    Path("read.fa").write_text(f">read\n{read}\n")
    Path("genome.fa").write_text(f">chr1\n{genome}\n")
    form = [] if "--format" in words else ["--format", "sam"]
    command = ["search", "read.fa", "genome.fa", "--engine", "cpu", *form, *words]
    assert main([*command, "--output", "out"]) == 0
    return [line.split("\t") for line in Path("out").read_text().splitlines() if line[0] != "@"]


def test_defaults_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = mapped([], f"{ONE}{OTHER}", COPIES)
    assert sorted(int(fields[4]) for fields in rows) == [0, 0, 3, 3]
    assert "MAPQ" not in capfd.readouterr().err
    assert len(mapped(["--format", "paf"], f"{ONE}{OTHER}", COPIES)) == 4
    capfd.readouterr()
    for words, reason in (
        (["--max-hsps", "1"], "only one place per sequence was looked for"),
        (["--top", "1"], "--top 1 lists no second place"),
        (["--statistics", "none"], "there are no bit scores"),
        *of_wing(
            "composition",
            [
                (["--protein"], "scores adjusted for composition do not compare places"),
                (["--protein", "--composition", "0"], "only one place per sequence was looked for"),
            ],
        ),
    ):
        assert {fields[4] for fields in mapped(words, ONE, COPIES)} == {"255"}
        assert f"MAPQ is 255, unknown, for 1 query: {reason}" in capfd.readouterr().err
    for more in of_wing("composition", [[], ["--max-hsps", "2"]]):
        translated = ["--translated", "--translated-target", "--format", "paf", *more]
        assert {fields[11] for fields in mapped(translated, ONE, COPIES)} == {"255"}
        assert "for 1 query: scores adjusted for composition do not" in capfd.readouterr().err
    assert main(["align", "read.fa", "genome.fa", "--engine", "cpu", "--format", "paf"]) == 0
    assert "255, unknown, for 1 query: glsw align does not" in capfd.readouterr().err


def test_rna_is_written_with_t(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    read = f"{GENOME[:40]}{GENOME[41:80]}".replace("T", "U")
    for target in (GENOME, reverse_complement(GENOME)):
        for given in (target, target.replace("T", "U")):
            (fields, *_) = mapped([], read, given)
            expected = read.replace("U", "T")
            plus = not int(fields[1]) & sam.REVERSE
            assert fields[9] == (expected if plus else reverse_complement(expected))
            assert "U" not in "".join(field for field in fields if field.startswith("MD:Z"))
    (fields,) = mapped([], "ACGUACGUAC", "T" * 300)
    assert (fields[1], fields[9]) == ("4", "ACGTACGTAC")
    with pytest.warns(RuntimeWarning, match="U scored as C"):
        protein = Aligner(engine="reference").search("MKUVLAW", [Record("t", "", "MKVLAW")])
    assert records(protein)[0][9] == "MKUVLAW"


def test_mapping_quality_of_simulated_reads() -> None:
    """Among repeats, places of quality 10 or more are right."""
    rng = random.Random(5)
    unit = rng.choices("ACGT", k=600)
    pieces = []
    for k in range(5):
        pieces += rng.choices("ACGT", k=600)
        pieces += changed("".join(unit), 0.027 * (k % 2), rng)
    genome = "".join(pieces)
    starts = [rng.randrange(len(genome) - 100) for _ in range(60)]
    reads = [Record(str(at), "", changed(genome[at : at + 100], 0.02, rng)) for at in starts]
    sure = wrong = 0
    for result in CPU.search(reads, [Record("g", "", genome)], max_hsps=2, per_part=True):
        best = records(result)[0]
        clipped = int((re.match(r"(\d+)S", best[5]) or [0, "0"])[1])
        if int(best[4]) >= 10:
            sure += 1
            wrong += int(best[1]) != 0 or abs(int(best[3]) - clipped - int(best[0]) - 1) > 5
    assert (sure > 30, wrong) == (True, 0)


# semi-global places


def test_semiglobal_places_of_a_primer() -> None:
    rng = random.Random(3)
    primer = "".join(rng.choices("ACGT", k=20))
    sites = [primer, reverse_complement(primer), primer[:9] + primer[10:], primer]
    between = ["".join(rng.choices("ACGT", k=200)) for _ in range(5)]
    target = between[0] + "".join(f"{s}{b}" for s, b in zip(sites, between[1:], strict=True))
    scoring = Scoring.nucleotide()
    for free in ("both", "target"):
        for engine in ("cpu", "reference"):
            aligner = Aligner(scoring.in_mode("semiglobal", free=free), engine=engine)
            (hit,) = aligner.search(primer, [target], max_hsps=None, min_score=30)
            assert [hsp.score for hsp in hit.hsps] == [40, 40, 40, 31]
            assert {hsp.context.strand for hsp in hit.hsps} == {1, -1}
            several = aligner.alignments(primer, target, min_score=30)
            plus = [hsp.score for hsp in hit.hsps if hsp.context.strand > 0]
            assert [each.score for each in several] == plus


@pytest.mark.parametrize("free", ["both", "query", "target"])
def test_semiglobal_places_share_no_pair_and_end(free: str) -> None:
    scoring = Scoring.nucleotide().in_mode("semiglobal", free=free)
    given = ("GGACGTTAACGTA", "ACGTTA") if free == "query" else ("ACGTTA", "GGACGTTAACGTA")
    found = list(Aligner(scoring, engine="cpu").alignments(*given))
    assert len(found) > 1
    assert all(each.score > 0 for each in found[1:])
    pairs = [
        (q + d, t + d)
        for each in found
        for (t, q), (t2, q2) in zip(each.coordinates.T[:-1], each.coordinates.T[1:], strict=True)
        if t2 - t == q2 - q
        for d in range(int(q2 - q))
    ]
    assert len(pairs) == len(set(pairs))


def test_global_alignments_are_one() -> None:
    aligner = Aligner(Scoring.nucleotide(), mode="global", engine="reference")
    for call in (
        lambda: aligner.search("ACGT", ["ACGT"], max_hsps=2),
        lambda: aligner.alignments("ACGT", "ACGT", max_alignments=2),
    ):
        with pytest.raises(ValueError, match=r"2: 1 expected, as an alignment without free ends"):
            call()


# places that are not listed


@pytest.mark.parametrize("engine", ["reference", "cpu"])
def test_further_places_are_said(engine: str) -> None:
    twice = f"{ONE}{APART}{OTHER}"
    worse = changed(ONE, 0.05, random.Random(1))
    with Aligner(Scoring.nucleotide(), engine=engine) as aligner:
        for target, most, expected in (
            (f"{ONE}{APART}{ONE}", 1, 1),
            (f"{ONE}{APART}{reverse_complement(ONE)}", 1, 1),
            (f"{ONE}{APART}{worse}", 1, 1),
            (f"{ONE}{APART}{ONE}", 2, 0),
            (f"{ONE}{APART}{ONE}{APART}{ONE}", 2, 1),
            (f"{ONE}{APART}{ONE}", None, 0),
            (twice, 1, 0),
        ):
            found = aligner.search(ONE, [Record("t", "", target)], max_hsps=most)
            assert found.more_places == expected
            assert ("further alignments, not listed" in found.unlisted) == (expected > 0)
            stream = io.StringIO()
            write(found, stream, "jsonl")
            assert json.loads(stream.getvalue())["more_places"] == expected
            stream = io.StringIO()
            write(found, stream, "paf")
            assert ("\tZP:i:1" in stream.getvalue().splitlines()[0]) == (expected > 0)


def test_nobody_claims_what_was_not_looked_for() -> None:
    aligner = Aligner(engine="reference")
    once, many = (aligner.search("HEAGAWGHEE", ["PAWHE"], max_hsps=k) for k in (1, None))
    assert (once.more_places, many.more_places) == (None, 0)
    parts = ALIGNER.search(ONE, [Record("t", "", COPIES)], max_hsps=2, per_part=True)
    assert parts.more_places is None
    assert ALIGNER.search("A", ["CCCC"], min_score=2).more_places == 0


def test_the_command_says_that_there_are_further_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mapped(["--format", "tsv", "--summary", "run.json"], ONE, f"{ONE}{APART}{ONE}")
    said = "1 hit with further alignments not listed; --max-hsps 0 lists all"
    assert said in capfd.readouterr().err
    assert json.loads(Path("run.json").read_text())["queries"][0]["more_places"] == 1
