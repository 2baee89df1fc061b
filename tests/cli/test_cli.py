"""The command line: what it prints, and that bad input is one line and status 2."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from failing import fails_once
from program import (
    ROOT,
    SUMMARY,
    output_without_reader,
    process,
    refused,
    rows,
    standard_error_of_terminal,
    wait_until,
)
from wing import of_wing

import glsw
import glsw.cli.devices
import glsw.cli.pairs
from glsw.cli import main, parsed, with_all_options
from glsw.cli.scoring import Costs
from glsw.cli.signals import EXCEPTIONS, STATUSES
from glsw.device.device import Device, DeviceError
from glsw.device.shader import ShaderError
from glsw.engines import Reference
from glsw.engines.base import ScanHints
from glsw.output import FORMATS
from glsw.run import workers
from glsw.scoring.scoring import Scoring
from glsw.search import search as flow
from glsw.statuses import MEANINGS

DEMO = ROOT / "demo"
QUERIES = ">q1 first\nHEAGAWGHEE\n>q2 second\nMKVLAW\n"
DATABASE = ">t1 far\nPPPPPP\n>t2 near\nPAWHE\n>t3\nMKVLAWHEAG\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of small inputs, good and bad."""
    contents = {
        "queries.fasta": QUERIES,
        "query.fasta": ">q1 first\nHEAGAWGHEE\n",
        "db.fasta": DATABASE,
        "dna.fasta": ">d\nACGTACGTTT\n",
        "masked.fasta": ">soft\npawhe\n",
        "letter.fasta": ">bad one\nMKVL-AW\n",
        "empty.fasta": "",
        "blank.fasta": "\n\n",
        "not.fasta": "hello\n",
        "half.fastq": "@r\nACGT\n+\nII\n",
        "long.fasta": ">long\n" + "A" * 200_000 + "\n",
    }
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "db.fasta.gz").write_bytes(gzip.compress(DATABASE.encode()))
    (tmp_path / "cut.fasta.gz").write_bytes(gzip.compress(DATABASE.encode() * 99)[:60])
    (tmp_path / "folder").mkdir()
    return tmp_path


# results


def test_search_prints_what_the_library_finds(run: Callable[..., SimpleNamespace]) -> None:
    done = run("search queries.fasta db.fasta --engine reference --format tsv")
    aligner = glsw.Aligner(engine="reference")
    expected = [
        (result.query.id, str(hit.rank), hit.target.id, str(hit.score), hit.alignment.cigar)
        for result in aligner.search(Path("queries.fasta"), Path("db.fasta"))
        for hit in result
    ]
    keys = ("query", "rank", "target", "score", "cigar")
    assert done.status == 0
    assert [tuple(row[key] for key in keys) for row in rows(done.out)] == expected
    assert len(expected) > 3


def test_default_format_is_the_list_and_the_alignments(
    run: Callable[..., SimpleNamespace],
) -> None:
    search = "search queries.fasta db.fasta --engine reference"
    table, both = run(f"{search} --format table").out, run(search).out
    hits = len(rows(run(f"{search} --format tsv").out))
    assert [table.count("query q1"), table.count("query q2")] == [1, 1]
    assert [both.count("Query= q1"), both.count("Query= q2")] == [1, 1]
    assert (table.count("Identities = "), both.count("Identities = ")) == (0, hits)


def test_summary_counts_the_cells_of_all_queries(run: Callable[..., SimpleNamespace]) -> None:
    summary = SUMMARY.fullmatch(run("search queries.fasta db.fasta --engine reference").err)
    assert summary
    assert int(summary[1]) == (10 + 6) * (6 + 5 + 10)


@pytest.mark.parametrize(
    ("options", "targets"),
    [
        ("--top 1", ["t3"]),
        ("--top 2", ["t3", "t2"]),
        ("--top 0", ["t3", "t2"]),
        ("--min-score 17", ["t3"]),
        ("--min-score 1000", []),
    ],
)
def test_hits_are_limited(
    options: str, targets: list[str], run: Callable[..., SimpleNamespace]
) -> None:
    done = run(f"search query.fasta db.fasta --engine reference --format tsv {options}")
    assert [row["target"] for row in rows(done.out)] == targets


def test_all_hits_are_listed_or_counted(run: Callable[..., SimpleNamespace], files: Path) -> None:
    """Ten of them without a word is what a search gave before."""
    (files / "many.fasta").write_text(
        "".join(f">t{k}\nHEAGAWGHEE\n" for k in range(502)) + ">far\nWWW\n"
    )
    search = "search query.fasta many.fasta --engine reference --format tsv"
    done = run(search)
    assert len(rows(done.out)) == 500
    said = "glsw: 500 of 502 hits with E-values of at most 10 are listed; --top 0 lists all\n"
    assert done.err.startswith(said)
    for options in ("--top 0", "--evalue 10", "--evalue 1e-3"):
        done = run(f"{search} {options}")
        assert len(rows(done.out)) == 502
        assert "listed" not in done.err
    done = run(f"{search} --evalue 1e-3 --top 3")
    assert len(rows(done.out)) == 3
    assert done.err.startswith("glsw: 3 of 502 hits with E-values of at most 0.001 are listed; ")
    assert len(rows(run(f"{search} --evalue inf").out)) == 503


def test_without_evalues_the_number_of_hits_is_the_limit(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (files / "many.fasta").write_text("".join(f">t{k}\nHEAGAWGHEE\n" for k in range(502)))
    search = "search query.fasta many.fasta --engine reference"
    done = run(f"{search} --statistics none --format table")
    said = "No E-value limits this list: the other 2 sequences, not listed, have scores of at most"
    assert f"\n{said} 62\n" in done.out
    assert done.err.startswith(
        "glsw: no E-values limit the hits: at most 500 are listed per query; --top 0 lists all\n"
    )
    done = run(f"{search} --mode global --format tsv --top 0")
    assert len(rows(done.out)) == 502
    assert "listed" not in done.err


@pytest.mark.parametrize("count", [1, 12])
def test_every_format_says_how_many_hits_there_are(
    count: int, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    database = "".join(f">t{k}\nHEAGAWGHEE\n" for k in range(3 + count))
    (files / "many.fasta").write_text(database)
    for name in FORMATS:
        search = f"search query.fasta many.fasta --engine reference --format {name}"
        done = run(f"{search} --top 3 --summary run.json")
        assert json.loads(Path("run.json").read_text())["queries"][0]["more_hits"] == count
        hits, are = ("hit", "is") if count == 1 else ("hits", "are")
        said = f"{count} more {hits} with E-values of at most 10 {are} not listed"
        if name in ("sam", "paf"):
            tagged = [line for line in done.out.splitlines() if f"\tZN:i:{count}" in line]
            assert [line.count("t0") for line in tagged] == [1]
        elif name == "jsonl":
            found = json.loads(done.out)
            assert (found["more_hits"], found["max_evalue"]) == (count, 10)
        elif name in ("tsv", "blast-tab"):
            assert done.out.count("\n") == 3 + (name == "tsv")
        else:
            assert said in done.out
        assert f"glsw: 3 of {3 + count} hits with E-values of at most 10 are listed;" in done.err
        both = run(search)
        assert "not listed" not in both.out
        assert "ZN:i" not in both.out


def test_several_queries_are_counted_together(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (files / "q").write_text(">one\nHEAGAWGHEE\n>two\nHEAGAWGHEE\n>far\nCCCCCCCCCC\n")
    (files / "many.fasta").write_text("".join(f">t{k}\nHEAGAWGHEE\n" for k in range(9)))
    done = run("search q many.fasta --engine reference --top 4 --format tsv")
    assert (
        "glsw: 2 of 3 queries have more hits than are listed: 8 of 18 hits with E-values of at "
        "most 10 are listed; --top 0 lists all\n"
    ) in done.err


def test_alignments_of_the_best_hits(run: Callable[..., SimpleNamespace], files: Path) -> None:
    (files / "many.fasta").write_text("".join(f">t{k}\nHEAGAWGHEE\n" for k in range(12)))
    search = "search query.fasta many.fasta --engine reference"
    text = run(search).out
    assert (text.count("\nt"), text.count("\n>t")) == (12, 10)
    assert "\n  Alignments: those of the 10 best hits\n" in text
    assert run(f"{search} --alignments 3").out.count("\n>t") == 3
    every = run(f"{search} --alignments 0").out
    assert every.count("\n>t") == 12
    assert "Alignments:" not in every
    table = run(f"{search} --format table").out
    below = run(f"{search} --format table --alignments 2").out
    assert below.startswith(table)
    assert below.count("\nquery   1 HEAGAWGHEE 10\n") == 2
    assert run(f"{search} --format table --alignments 0").out.count("target  1 HEAG") == 12
    assert run(f"{search} --format 'table 2'").out == below
    done = run(f"{search} --format tsv --alignments 2")
    assert done.status == 2
    assert done.err == "glsw: --alignments is for --format table or pairwise, not tsv\n"
    done = run(f"{search} --format 'pairwise x'")
    assert done.status == 2
    assert "format pairwise x: one number of alignments expected, 0 for all" in done.err


def test_a_terminal_shows_the_list(
    run: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch, files: Path
) -> None:
    search = "search query.fasta db.fasta --engine reference"
    piped, table = run(search).out, run(f"{search} --format table").out
    assert piped == run(f"{search} --format pairwise").out
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True)
    monkeypatch.setenv("COLUMNS", "100")
    assert run(search).out == table
    assert run(f"{search} --alignments 1").out.startswith(table)
    assert run(f"{search} --output hits").status == 0
    assert Path("hits").read_text() == piped


def test_the_demonstration_fits_a_screen(
    run: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The alignments of ten hits each were 742 lines."""
    (command,) = re.findall(
        r"^\t\$\(BIN\)/glsw (search .*)$", (ROOT / "Makefile").read_text(), re.M
    )
    monkeypatch.chdir(ROOT)
    done = run(f"{command} --engine cpu")
    lines = f"{done.out}{done.err}".splitlines()
    assert done.status == 0
    assert len(lines) <= 24
    assert done.out.count("sp|P05093|CP17A_HUMAN") == 2


def test_align_prints_one_alignment(run: Callable[..., SimpleNamespace]) -> None:
    done = run("align query.fasta letter.fasta --engine reference --unknown X")
    aligner = glsw.Aligner(engine="reference", unknown="X")
    assert done.status == 0
    assert done.out == f"{aligner.align(Path('query.fasta'), Path('letter.fasta'))}\n\n"
    assert SUMMARY.fullmatch(done.err)
    (row,) = rows(
        run("align query.fasta letter.fasta --engine reference --unknown X --format tsv").out
    )
    assert (row["query"], row["target"]) == ("q1", "bad")


def test_align_of_nothing_in_common(run: Callable[..., SimpleNamespace], files: Path) -> None:
    (files / "other.fasta").write_text(">other\nCCC\n")
    done = run("align query.fasta other.fasta --engine reference")
    assert (done.status, done.out) == (0, "query q1: no alignment\n\n")


REPEATS = "align copies.fasta unit.fasta --engine reference --match 2 --mismatch -3 --gapopen 9"


@pytest.fixture
def repeats(files: Path) -> None:
    unit = "ACCGTTAGCATG"
    (files / "copies.fasta").write_text(f">copies\n{unit}TTT{unit}CC{unit}\n")
    (files / "unit.fasta").write_text(f">unit\n{unit}\n")


@pytest.mark.parametrize(
    ("options", "starts"),
    [
        ("", ["29"]),
        ("--max-alignments 2", ["29", "15"]),
        ("--max-alignments 3 --min-score 20", ["29", "15", "0"]),
        ("--max-alignments 0 --min-score 20", ["29", "15", "0"]),
        ("--max-alignments 0 --min-score 24.5", []),
    ],
)
@pytest.mark.usefixtures("repeats")
def test_align_several_times(
    options: str, starts: list[str], run: Callable[..., SimpleNamespace]
) -> None:
    done = run(f"{REPEATS} {options} --format tsv")
    found = rows(done.out)
    assert [row["query_start"] for row in found] == starts
    assert [row["rank"] for row in found] == [str(k + 1) for k in range(len(starts))]
    summary = SUMMARY.fullmatch(done.err)
    assert summary
    assert int(summary[1]) == 41 * 12 * (1 + max(1, len(starts)))  # of both strands at first


@pytest.mark.usefixtures("repeats")
def test_several_alignments_as_text(run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"{REPEATS} --max-alignments 2")
    aligner = glsw.Aligner(Scoring.match_mismatch(2, -3, 11, 2), engine="reference")
    found = aligner.alignments(Path("copies.fasta"), Path("unit.fasta"), max_alignments=2)
    assert done.out == "".join(f"{alignment}\n\n" for alignment in found)


@pytest.mark.parametrize("number", ["-1", "1.5", "many"])
def test_bad_number_of_alignments(number: str, run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"{REPEATS} --max-alignments {number}")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert "--max-alignments" in done.err


def captured_scoring(words: str, monkeypatch: pytest.MonkeyPatch) -> Scoring:
    kept = []

    def aligner(scoring: Scoring, **_: object) -> None:
        kept.append(scoring)
        raise ValueError("enough")

    monkeypatch.setattr(glsw.cli.pairs, "Aligner", aligner)
    assert main(words.split()) == 2
    return kept[0]


@pytest.mark.parametrize(
    ("options", "name", "gaps"),
    [
        ("", "BLOSUM62", (12, 1)),
        ("--matrix pam250 --gapopen 10 --gapextend 2", "PAM250", (12, 2)),
        ("--gapopen 0 --gapextend 8", "BLOSUM62", (8, 8)),
        ("--match 2 --mismatch -3", "match 2 mismatch -3", (7, 2)),
        ("--match 5 --mismatch -4 --gapopen 8 --gapextend 6", "match 5 mismatch -4", (14, 6)),
        ("--dna", "DNA 2/-3", (7, 2)),
        ("--dna --match 1 --mismatch -2 --gapopen 0 --gapextend 3", "DNA 1/-2", (3, 3)),
    ],
)
@pytest.mark.usefixtures("run")
def test_gap_costs_are_in_the_words_of_blast(
    options: str, name: str, gaps: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    scoring = captured_scoring(f"search query.fasta db.fasta {options}", monkeypatch)
    assert (scoring.name, (scoring.gap_open, scoring.gap_extend)) == (name, gaps)


OF_BLAST = {
    "BLOSUM45": (14, 2), "BLOSUM50": (13, 2), "BLOSUM62": (11, 1), "BLOSUM80": (15, 2),
    "BLOSUM90": (10, 1), "PAM30": (9, 1), "PAM70": (10, 1), "PAM250": (14, 2), "pam30": (9, 1),
    "GONNET1992": (11, 1),
}  # fmt: skip


@pytest.mark.parametrize("command", ["search", "align", "neighbors --cutoff 9"])
def test_gap_costs_depend_on_the_matrix(command: str, subtests: pytest.Subtests) -> None:
    files = ["q.fa", "d.fa"][: 1 if "neighbors" in command else 2]
    for matrix, (existence, extension) in OF_BLAST.items():
        with subtests.test(matrix):
            words = [*command.split(), *files, "--matrix", matrix]
            given = Scoring.blast(matrix, existence, extension)
            scale = given.scale
            for more, cost in (
                ([], given.deletion),
                (["--gapopen", "20"], ((20 + extension) * scale, extension * scale)),
                (["--gapextend", "3"], ((existence + 3) * scale, 3 * scale)),
            ):
                parts = parsed([*words, *more]).parts()
                (costs,) = (part for part in parts if isinstance(part, Costs))
                assert costs.given.deletion == cost
            assert Scoring.blast(matrix).deletion == given.deletion
            assert Scoring.blast(matrix, extension=3).deletion == (
                (existence + 3) * scale,
                3 * scale,
            )


COMMANDS = ["search query.fasta db.fasta", "align query.fasta query.fasta"]
COMMANDS += ["neighbors db.fasta --cutoff 9"]
COMMANDS += of_wing("dotplot", ["dotplot query.fasta db.fasta --output plot.png"])


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_asks_for_its_scoring_once(
    words: str, run: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, original = list[bool](), Costs.scoring

    def counted(self: Costs, nucleic: bool = False) -> Scoring:
        asked.append(nucleic)
        return original(self, nucleic)

    monkeypatch.setattr(Costs, "scoring", counted)
    assert run(f"{words} --matrix BLOSUM50").status == 0
    assert asked == [False]


PEPTIDE = "SLLQHLIGL"


def test_a_short_query_without_hits_names_the_task(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    letters = np.random.default_rng(3).choice(list("ARNDCQEGHILKMFPSTWYV"), (300, 400))
    others = ["".join(each) for each in letters]
    others[7] = others[7][:100] + PEPTIDE.replace("H", "Q") + others[7][100:]
    (files / "many.fasta").write_text("".join(f">t{k}\n{t}\n" for k, t in enumerate(others)))
    (files / "peptide.fasta").write_text(f">short\n{PEPTIDE}\n")
    (files / "long.fasta").write_text(f">long\n{PEPTIDE}{'W' * 40}\n")
    hint = "no hits for 1 sequence of fewer than 30 letters: --task blastp-short is for short"
    search, tsv = "search {}.fasta many.fasta --engine reference", "--format tsv --evalue {}"
    words = f"{search} {tsv}".format
    assert hint in run(words("peptide", "1e-9")).err
    assert hint not in run(words("long", "1e-9")).err
    assert hint not in run(words("peptide", "1e-9") + " --task blastp-short").err
    assert hint not in run(words("peptide", "1e-9") + " --mode global --statistics none").err
    found = run(search.format("peptide") + " --format tsv --task blastp-short").out.splitlines()
    assert found[1].split("\t")[3] == "t7"
    assert len(found) == 301  # to an E-value of 200,000
    expected = glsw.search(
        PEPTIDE,
        others,
        scoring=Scoring.blast("PAM30"),
        evalue=2e5,
        top=500,
        engine="reference",
        composition=0,
    )
    scores = [int(line.split("\t")[4]) for line in found[1:]]
    assert scores == [hit.score for hit in expected]


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ("", "matrix", "PAM30"),
        ("", "evalue", 2e5),
        ("", "top", 500),
        ("", "seg", "no"),
        ("--matrix BLOSUM62", "matrix", "BLOSUM62"),
        ("--evalue 10", "evalue", 10),
        ("--top 3", "top", 3),
        ("--seg yes", "seg", "query"),
    ],
)
def test_a_task_sets_defaults_that_options_override(given: str, name: str, value: object) -> None:
    for task in ("--task blastp-short {}", "{} --task blastp-short"):
        command = parsed(["search", "q.fa", "d.fa", *task.format(given).split()])
        assert command.named([name]) == {name: value}
    plain = ["search", "q.fa", "d.fa"]
    assert parsed(plain).named([name]) == parsed([*plain, "--task", "blastp"]).named([name])


def test_decimal_costs_make_decimal_scores(run: Callable[..., SimpleNamespace]) -> None:
    options = "--matrix GONNET1992 --gapopen 9.5 --gapextend 0.5 --engine reference --format tsv"
    (row, *_) = rows(run(f"search query.fasta db.fasta {options}").out)
    assert re.fullmatch(r"\d+\.\d", row["score"])


def test_dna_is_searched_by_match_and_mismatch(run: Callable[..., SimpleNamespace]) -> None:
    options = "--match 2 --mismatch -3 --engine reference --format tsv"
    (row,) = rows(run(f"search dna.fasta dna.fasta {options}").out)
    assert (row["score"], row["cigar"]) == ("20", "10=")


GENE = "CCGGCGTGGCATGAAGCAGAA"  # PAWHEAE
TURNED = "TTCTGCTTCATGCCACGCCGG"


@pytest.fixture
def gene(files: Path) -> None:
    (files / "gene.fasta").write_text(f">gene\n{TURNED}\n")
    (files / "genome.fasta").write_text(f">far\n{'AT' * 9}\n>near\nAT{GENE}TA{TURNED[:15]}\n")
    (files / "proteins.fasta").write_text(">t1\nMKVPAWHEAEG\n>t2\nPAWHEKPAWHE\n")


def tabular(done: SimpleNamespace) -> list[list[str]]:
    assert done.status == 0, done.err
    return [line.split("\t") for line in done.out.splitlines()]


@pytest.mark.usefixtures("gene")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", [["near", "42", "1", "21", "23", "3"]]),
        ("--strand both", [["near", "42", "1", "21", "23", "3"]]),
        ("--strand minus", [["near", "42", "1", "21", "23", "3"]]),
        ("--strand plus", [["near", "30", "1", "15", "26", "40"]]),
        (
            "--max-hsps 2",
            [["near", "42", "1", "21", "23", "3"], ["near", "30", "1", "15", "26", "40"]],
        ),
        ("--max-hsps 0 --min-score 43", []),
        ("--evalue 1e-9", []),
    ],
)
def test_strands(options: str, expected: list[list[str]], run: Callable[..., Any]) -> None:
    words = "search gene.fasta genome.fasta --dna --engine reference --min-score 20"
    columns = "--format 'blast-tab sseqid score qstart qend sstart send'"
    assert tabular(run(f"{words} {columns} {options}")) == expected


@pytest.mark.usefixtures("gene")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", ["t1 44 21 1 -1", "t2 35 21 7 -1"]),
        ("--strand minus --evalue 1e-5", ["t1 44 21 1 -1"]),
        ("--genetic-code 2 --top 1", ["t1 44 21 1 -1"]),
        ("--strand plus", []),
        ("--max-hsps 2", ["t1 44 21 1 -1", "t2 35 21 7 -1", "t2 35 21 7 -1"]),
    ],
)
def test_translated(options: str, expected: list[str], run: Callable[..., Any]) -> None:
    words = "search gene.fasta proteins.fasta --translated --engine reference --min-score 30"
    words += "".join(of_wing("composition", [" --composition 0"]))
    columns = "--format 'blast-tab sseqid score qstart qend qframe'"
    assert [" ".join(line) for line in tabular(run(f"{words} {columns} {options}"))] == expected


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("", "Karlin-Altschul"),
        ("--statistics karlin-altschul", "Karlin-Altschul"),
        ("--statistics none", "not asked for"),
    ],
)
def test_statistics_are_named(options: str, name: str, run: Callable[..., Any]) -> None:
    done = run(f"search query.fasta db.fasta --engine reference --format table {options}")
    assert done.status == 0
    assert name in done.out
    assert (" bits  E-value " in done.out) == (name != "not asked for")


def test_lower_case_is_masked(run: Callable[..., Any], files: Path) -> None:
    (files / "soft.fasta").write_text(">soft\nPAwhe\n>plain\nPAWHE\n")
    search = "search query.fasta soft.fasta --engine reference --format tsv --evalue inf"
    assert [row["score"] for row in rows(run(search).out)] == ["16", "16"]
    masked = rows(run(f"{search} --lower-case-mask").out)
    assert masked[0]["target"] == "plain"
    assert all(int(row["score"]) < 16 for row in masked[1:])
    assert run("makedb --lower-case-mask soft.fasta soft").status == 0
    assert rows(run(search.replace("soft.fasta", "soft")).out)[0]["target"] == "plain"
    assert glsw.Database.open("soft")[0].letters == "PAXXX"
    align = "align query.fasta one.fasta --engine reference --format tsv --lower-case-mask"
    (files / "one.fasta").write_text(">soft\nPAwhe\n")
    every = rows(run(f"{search} --lower-case-mask --evalue inf").out)
    assert rows(run(align).out)[0]["score"] == every[1]["score"]


def test_low_complexity_is_masked(run: Callable[..., Any], files: Path) -> None:
    (files / "low.fasta").write_text(f">low\n{TURNED}{'A' * 40}\n")
    (files / "poly.fasta").write_text(f">poly\n{'A' * 50}\n")
    search = "search low.fasta poly.fasta --dna --engine reference --format tsv --min-score 20"
    assert len(rows(run(search).out)) == 1
    assert rows(run(f"{search} --mask-low-complexity").out) == []


def test_seg_in_the_words_of_blastp(run: Callable[..., Any], files: Path) -> None:
    letters = "MKTAYIAKQRQISFVKSHFSRQPAPAPAPPAPAAPAPLEERLGLIEVQAPILSRVG"
    (files / "seg.fasta").write_text(f">seg\n{letters}\n")
    search = "search seg.fasta seg.fasta --engine reference --format tsv"
    yes, query, no = (run(f"{search} --seg {word}").out for word in ("yes", "query", "no"))
    assert yes == query != no == run(search).out
    assert run("makedb --seg seg.fasta seg").status == 0
    assert glsw.Database.open("seg")[0].letters == letters[:22] + "X" * 15 + letters[37:]


def test_demo_data(run: Callable[..., SimpleNamespace]) -> None:
    files = f"{DEMO / 'query.fasta'} {DEMO / 'proteins.fasta'}"
    done = run(f"search {files} --format tsv --top 3 --evalue inf")
    found = [(row["query"].split("|")[1], row["target"].split("|")[1]) for row in rows(done.out)]
    assert found[:3] == [("P05093", "P05093"), ("P05093", "Q95328"), ("P05093", "Q9GMC8")]
    assert found[3] == ("O35495", "O35495")
    assert len(found) == 6
    assert f"{(508 + 469) * 237892} cells" in done.err


def test_the_demo_ranks_its_relatives(run: Callable[..., SimpleNamespace], files: Path) -> None:
    done = run("demo shown/here")
    names = [line.split()[8] for line in done.out.splitlines() if "relative" in line]
    assert names == [f"relative_{kept}" for kept in (90, 70, 50, 35, 25)]
    assert "5 hits in 200 sequences" in done.out
    shown = re.search(r"running glsw (.+)", done.err)
    assert shown is not None
    assert run(shown[1]).out == done.out  # it is the search that it names
    assert run("demo shown/here").out == done.out
    folder = files / "shown" / "here"
    query = folder / "demo_query.fasta"
    assert query.read_text().startswith(">demo_query a generated protein\n")
    query.write_text("mine")
    refused(run, "demo shown/here", "demo_query.fasta has other content", folder)


def test_devices_are_listed(run: Callable[..., SimpleNamespace]) -> None:
    done = run("devices")
    assert done.out == "".join(f"{info}\n" for info in glsw.devices())
    assert done.status == 0


# input and output


def test_gzip_is_read(run: Callable[..., SimpleNamespace]) -> None:
    search = "search queries.fasta {} --engine reference --format tsv"
    assert run(search.format("db.fasta.gz")).out == run(search.format("db.fasta")).out


@pytest.mark.parametrize("inputs", ["queries.fasta -", "- db.fasta"])
def test_standard_input_is_read(inputs: str, files: Path) -> None:
    words = f"search {inputs} --engine reference --format tsv"
    piped = gzip.compress(DATABASE.encode()) if inputs.endswith("-") else QUERIES.encode()
    with process(words, files, stdin=subprocess.PIPE) as started:
        out, err = started.communicate(piped)
    assert started.returncode == 0, err
    assert [row["target"] for row in rows(out.decode())][:3] == ["t3", "t2", "t3"]


def test_output_file_holds_what_would_be_printed(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    search = "search queries.fasta db.fasta --engine reference --format tsv"
    printed = run(search).out
    done = run(f"{search} --output folder/höhe.tsv")
    assert (done.status, done.out) == (0, "")
    assert (files / "folder" / "höhe.tsv").read_text(encoding="utf-8") == printed


def test_names_and_descriptions_hold_any_letter(files: Path) -> None:
    (files / "größe 1.fasta").write_text(">é µ-opioid → β\nPAWHEAE\n", encoding="utf-8")
    words = "search query.fasta 'größe 1.fasta' --engine reference"
    for encoding in ("utf-8", "ascii"):
        with process(words, files, env={"PYTHONIOENCODING": encoding}) as started:
            out, err = started.communicate()
        assert started.returncode == 0, err
        assert "→ β" in out.decode("utf-8")


def test_finished_queries_are_written_before_the_next_starts(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.chdir(files)
    answers = Reference.answers

    def written() -> str:
        return Path("out.part").read_text() if Path("out.part").exists() else ""

    def watched(self: Reference, tiles: Any, **options: Any) -> Any:
        for tile in tiles:
            if seen:
                wait_until(written)  # a thread writes
            seen.append(written() or "none")
            yield from answers(self, [tile], **options)

    monkeypatch.setattr(Reference, "answers", watched)
    monkeypatch.setattr(Reference, "hints", ScanHints(cells_at_once=1))
    monkeypatch.setattr(flow, "_SECONDS_TOGETHER", -1)
    words = "search queries.fasta db.fasta --engine reference --format table --output out"
    assert main(words.split()) == 0
    assert seen[0] == "none"
    assert seen[1].startswith("query q1 (10 letters)")
    assert Path("out").read_text().startswith(seen[1])


@pytest.mark.parametrize("silenced", [False, True])
def test_progress_bar_is_shown_on_a_terminal(silenced: bool, files: Path) -> None:
    words = "search queries.fasta db.fasta --engine reference"
    shown = standard_error_of_terminal(words + " --no-progress" * silenced, files)
    assert ("cell/s" in shown) is not silenced
    assert shown.splitlines()[-1].lstrip("\r ").startswith("glsw: 336 cells in ")


# bad input

TRANSLATED = "--translated to search proteins with DNA, or "
PROTEINS = (
    f"has proteins, but the query is scored as DNA: give {TRANSLATED}--protein if it is a protein"
)
SEARCH = "search query.fasta db.fasta --engine reference"
BAD = {
    "missing file": ("search missing.fasta db.fasta", "missing.fasta: No such file or directory"),
    "missing database": ("search query.fasta no/db", "no/db: No such file or directory"),
    "folder": ("search query.fasta folder", "folder: Is a directory"),
    "empty file": ("align query.fasta empty.fasta", "empty.fasta: empty file"),
    "blank lines": ("align blank.fasta query.fasta", "blank.fasta: no sequences"),
    "empty file to index": ("makedb empty.fasta out.glsw", "empty.fasta: empty file"),
    "not FASTA": ("search not.fasta db.fasta", "not.fasta: not FASTA or FASTQ"),
    "malformed FASTQ": ("search half.fastq db.fasta", "half.fastq: truncated or malformed FASTQ"),
    "truncated gzip": ("search query.fasta cut.fasta.gz", "cut.fasta.gz: truncated gzip"),
    "standard input twice": ("search - -", "standard input ('-') can be read only once"),
    "letter": (
        "search query.fasta letter.fasta --engine reference",
        "(ARNDCQEGHILKMFPSTWYVBZX*); remove the gaps of an alignment first",
    ),
    "letter of a query": (
        "search letter.fasta db.fasta --engine reference",
        "bad: letter '-' at position 5 is not in the protein alphabet",
    ),
    "protein as DNA": (
        f"{SEARCH} --match 2 --mismatch -3",
        "q1: letter 'E' at position 2 is not in the DNA alphabet",
    ),
    "unknown not in the alphabet": (f"{SEARCH} --unknown J", "unknown letter 'J' is not in"),
    "unknown matrix": (f"{SEARCH} --matrix BLOSUM26", "did you mean BLOSUM62?"),
    "match with DNA and a matrix": (
        f"{SEARCH} --dna --matrix PAM30",
        "PAM30 and --dna cannot be combined",
    ),
    "protein and DNA": (f"{SEARCH} --dna --protein", "--protein and --dna cannot be combined"),
    "protein and match": (
        f"{SEARCH} --protein --match 2 --mismatch -3",
        "--protein and --match, --mismatch cannot be combined",
    ),
    "advice on proteins": (f"{SEARCH} --dna", "; --protein scores proteins; --unknown LETTER maps"),
    "advice to makedb": (
        "makedb --alphabet dna db.fasta out",
        "; --alphabet protein scores proteins; --unknown LETTER maps such letters",
    ),
    "protein to translate": (
        "search query.fasta db.fasta --translated",
        "; a query to translate is DNA; --unknown LETTER maps",
    ),
    "DNA match of a half": (f"{SEARCH} --dna --match 1.5 --mismatch -2", "match 1.5: a whole num"),
    "protein as DNA of blastn": (f"{SEARCH} --dna", "q1: letter 'E' at position 2 is not in the D"),
    "protein translated": (
        f"{SEARCH} --translated",
        "q1: letter 'E' at position 2 is not in the D",
    ),
    "DNA translated into DNA": (
        "search dna.fasta dna.fasta --dna --translated",
        "translation needs a protein scoring, not of the DNA alphabet",
    ),
    "unknown genetic code": (
        "search dna.fasta db.fasta --translated --genetic-code 8",
        "--genetic-code: 8: there are 1, 2, 3, 4, 5, 6, 9,",
    ),
    "genetic code of nothing": (f"{SEARCH} --genetic-code 1", "--genetic-code 1 requires --transl"),
    "half a genetic code": (f"{SEARCH} --genetic-code 1.5", "--genetic-code: 1.5: there are 1, 2"),
    "unknown strand": (f"{SEARCH} --strand top", "argument --strand: invalid choice: 'top'"),
    "strand of a protein": (f"{SEARCH} --strand minus", "the protein alphabet has no complements"),
    "negative E-value": (
        f"{SEARCH} --evalue -1",
        "--evalue: -1: a number above 0, or inf,",
    ),
    "E-value that is no number": (f"{SEARCH} --evalue low", "--evalue: 'low' is not a number"),
    "E-value without statistics": (
        f"{SEARCH} --evalue 1 --statistics none",
        "evalue 1: statistics are 'none'",
    ),
    "E-value of too few scores": (
        f"{SEARCH} --evalue 1 --gapopen 5 --gapextend 3",
        "query q1: no E-values: 1 score, too few to fit",
    ),
    "E-value of global scores": (
        "search dna.fasta dna.fasta --evalue 1 --match 5 --mismatch -1 --engine reference",
        "no local statistics exist: the expected score of two random residues is",
    ),
    "constants that nobody published": (
        f"{SEARCH} --statistics karlin-altschul --gapopen 5 --gapextend 3",
        "no Karlin-Altschul constants are published for BLOSUM62 with gapopen 5",
    ),
    "unknown statistics": (f"{SEARCH} --statistics best", "--statistics: invalid choice: 'best'"),
    "negative number of alignments": (f"{SEARCH} --max-hsps -1", "--max-hsps: -1: a whole number"),
    "only masked letters": (
        "search masked.fasta db.fasta --engine reference --lower-case-mask",
        "query soft: all 5 residues are masked",
    ),
    "masks that the alphabet has no letter for": (
        f"{SEARCH} --matrix GONNET1992 --lower-case-mask",
        "the GONNET1992 alphabet (ACDEFGHIKLMNPQRSTVWY) has no X or N",
    ),
    "masks to index": (
        "makedb --alphabet GONNET1992 --lower-case-mask db.fasta out",
        "the GONNET1992 alphabet (ACDEFGHIKLMNPQRSTVWY) has no X or N",
    ),
    "columns of a format without": (f"{SEARCH} --format 'sam score'", "format sam has no columns"),
    "negative penalty": (f"{SEARCH} --gapopen -11", "--gapopen: -11: a number from 0 to 1000000"),
    "negative extension": (
        f"{SEARCH} --gapextend -1",
        "--gapextend: -1: a number from 0 to",
    ),
    "absurd penalty": (
        f"{SEARCH} --gapopen 1e12",
        "--gapopen: 1e12: a number from 0 to",
    ),
    "infinite penalty": (f"{SEARCH} --gapopen inf", "argument --gapopen: 'inf' is not a number"),
    "penalty of too many decimals": (f"{SEARCH} --gapopen 0.123456", "more than 4 decimals"),
    "penalty of letters": (f"{SEARCH} --gapextend one", "'one' is not a number"),
    "positive mismatch": (f"{SEARCH} --match 2 --mismatch 3", "such as -3"),
    "match without mismatch": (f"{SEARCH} --match 2", "give both --match and --mismatch"),
    "match with matrix": (f"{SEARCH} --match 2 --mismatch -3 --matrix PAM30", "cannot be combined"),
    "no match": (f"{SEARCH} --match 0 --mismatch -3", "match 0 must be more than 0"),
    "absurd match": (f"{SEARCH} --match 1e300 --mismatch -3", "from -1000000 to 1000000"),
    "query beyond the texture limit": (
        "search long.fasta db.fasta --protein --engine fragment",
        "texture l",
    ),
    "unknown engine": (f"{SEARCH} --engine warp", "unknown engine 'warp'; there are auto, ref"),
    "unknown device": ("search query.fasta db.fasta --device voodoo", "no device 'voodoo'"),
    "unknown device number": ("search query.fasta db.fasta --device 99", "no device 99"),
    "output folder missing": (f"{SEARCH} --output no/out", "--output no/out: there is no folder"),
    "output is a folder": (f"{SEARCH} --output folder", "--output folder: it is a folder"),
    "output is an input": (f"{SEARCH} --output db.fasta", "it is an input"),
    "unknown format": (f"{SEARCH} --format xml", "argument --format: unknown format 'xml'"),
    "unknown ties": (f"{SEARCH} --ties all", "argument --ties: invalid choice: 'all'"),
    "negative number of hits": (f"{SEARCH} --top -1", "argument --top: -1: a whole number"),
    "half a hit": (f"{SEARCH} --top 1.5", "argument --top: 1.5: a whole number of 0 or more"),
    "score that is no number": (f"{SEARCH} --min-score nan", "'nan' is not a number"),
    "unknown option": (f"{SEARCH} --speed 9", "unrecognized arguments: --speed 9"),
    "abbreviated option": (f"{SEARCH} --gapo 9", "unrecognized arguments: --gapo 9"),
    "unknown command": ("find query.fasta", "invalid choice: 'find'"),
    "mistyped command": ("serch query.fasta db.fasta", ", did you mean search? (see glsw --help)"),
    "mistyped option": (f"{SEARCH} --evlaue 1", "--evlaue 1, did you mean --evalue? (see glsw sea"),
    "mistyped needed option": (
        "neighbors query.fasta --cutfof=3",
        "are required: --cutoff; --cutfof, did you mean --cutoff?",
    ),
    "mistyped choice": (f"{SEARCH} --mode golbal", ", did you mean global?"),
    "mistyped engine": (f"{SEARCH} --engine refrence", "'refrence', did you mean reference? There"),
    "no database": ("search query.fasta", "required: DB (see glsw search --help)"),
    "no file to index": ("makedb none.fasta out", "none.fasta: No such file or directory"),
    "only a file to index": ("makedb db.fasta", "required: OUT (see glsw makedb --help)"),
    "letter to index": ("makedb db.fasta letter.fasta out", "bad: letter '-' at position 5"),
    "index over a file": (
        "makedb db.fasta query.fasta",
        "query.fasta: it exists, but is not a data",
    ),
    "index over another file": (
        "makedb db.fasta query.fasta",
        "not a database; --force overwrites it",
    ),
    "index over the input": ("makedb --force db.fasta db.fasta", "db.fasta: it is an input"),
    "index to standard output": ("makedb db.fasta -", "cannot go to standard output"),
    "unknown alphabet": (
        "makedb --alphabet BLOSUM26 db.fasta out",
        "neither protein nor dna, and unknown matrix 'BLOSUM26', did you mean BLOSUM62?",
    ),
    "several queries to align": (
        "align queries.fasta query.fasta",
        "queries.fasta: one sequence expected, 2 found",
    ),
    "several targets to align": (
        "align query.fasta db.fasta",
        "db.fasta: one sequence expected, 3 found",
    ),
}


@pytest.mark.parametrize(("words", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line_and_status_2(
    words: str, message: str, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    if words.startswith(("search", "align")) and "--output" not in words:
        words += " --output out"
    refused(run, words, message, files)


def test_bad_input_leaves_an_old_file_as_it_is(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (files / "out").write_text("old")
    assert run("search letter.fasta db.fasta --engine reference --output out").status == 2
    assert (files / "out").read_text() == "old"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (DeviceError("no OpenGL 3.3 device;\ninstall one"), "no OpenGL 3.3 device; install one"),
        (ShaderError("fragment.frag:7: oh\nthe log\n"), "fragment.frag:7: oh"),
        (MemoryError(), "out of memory"),
        (MemoryError("cannot allocate 9 TiB"), "out of memory: cannot allocate 9 TiB"),
        (PermissionError(13, "Permission denied", "db"), "db: Permission denied"),
        (FileNotFoundError(2, "No such file or directory", ""), "'': No such file or directory"),
        (OSError(28, "No space left on device"), "No space left on device"),
    ],
)
def test_other_errors_are_one_line(
    error: Exception,
    line: str,
    run: Callable[..., SimpleNamespace],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(glsw.cli.pairs, "Aligner", fail)
    done = run("search query.fasta db.fasta")
    assert (done.status, done.out, done.err) == (2, "", f"glsw: {line}\n")


def test_output_without_permission(
    run: Callable[..., SimpleNamespace], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)  # the superuser may write anywhere
    done = run(f"{SEARCH} --output out")
    assert (done.status, done.err) == (2, "glsw: --output out: no permission to write\n")
    assert not (files / "out").exists()


def test_no_device_at_all(
    run: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> None:
        raise DeviceError("no OpenGL 3.3 device")

    monkeypatch.setattr(glsw.cli.devices, "devices_and_refusals", none)
    done = run("devices")
    assert (done.status, done.err) == (2, "glsw: no OpenGL 3.3 device\n")


# databases


@pytest.mark.parametrize(
    ("words", "alphabet"),
    [
        ("db.fasta", "protein"),
        ("--unknown X db.fasta.gz letter.fasta", "protein"),
        ("--alphabet DNA dna.fasta", "DNA"),
        ("dna.fasta", "DNA"),
        ("--alphabet protein dna.fasta", "protein"),
        ("--force --alphabet nuc.4.4 dna.fasta", "NUC.4.4"),
    ],
)
def test_makedb(
    words: str, alphabet: str, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    if "--force" in words:
        (files / "out").write_text("not needed any more")
    done = run(f"makedb {words} out")
    assert (done.status, done.out) == (0, "")
    database = glsw.Database.open(files / "out")
    assert database.alphabet.name == alphabet
    sequences = "1 sequence" if len(database) == 1 else f"{len(database)} sequences"
    counts = f"{sequences}, {database.residues} residues, {alphabet} alphabet"
    assert re.fullmatch(rf"glsw: out: {counts}, in [\d.]+ s\n", done.err)
    assert not list(files.glob("*.part"))


@pytest.fixture
def indexed(run: Callable[..., SimpleNamespace]) -> None:
    assert run("makedb db.fasta db").status == 0


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize("form", FORMATS)
def test_a_database_is_searched_like_its_file(
    form: str, run: Callable[..., SimpleNamespace]
) -> None:
    words = f"search queries.fasta {{}} --engine reference --format {form}"
    done = run(words.format("db"))
    assert (done.status, done.out) == (0, run(words.format("db.fasta")).out)
    others, said = re.subn("glsw: MAPQ is 255, .*\n", "", done.err)
    assert said == (form in ("sam", "paf"))
    summary = SUMMARY.fullmatch(others)
    assert summary
    assert int(summary[1]) == (10 + 6) * (6 + 5 + 10)


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("search query.fasta cut", "cut: truncated database"),
        ("search query.fasta db --matrix GONNET1992", "db: its alphabet is protein"),
        ("search dna.fasta db", f"db {PROTEINS}; makedb --alphabet dna indexes DNA"),
        ("search dna.fasta db --match 2 --mismatch -3", f"db {PROTEINS}"),
        ("search dna.fasta db --dna", f"db {PROTEINS}"),
        ("search dna.fasta db.fasta", f"db.fasta {PROTEINS}\n"),
        (
            "align dna.fasta query.fasta",
            f"{PROTEINS.replace(TRANSLATED, '')}; glsw search --translated searches proteins "
            "with DNA\n",
        ),
        (
            "search query.fasta genes",
            "genes has DNA, but the query is scored as protein: give --translated-target",
        ),
        ("search dna.fasta genes --protein", "genes has DNA, but the query is scored as protein"),
        (
            "search dna.fasta genes --translated",
            "as protein: --translated is for proteins, with --translated-target it is for DNA\n",
        ),
        ("search db db.fasta", "db is a database of makedb: the query comes first"),
        ("align query.fasta db", "db: not FASTA or FASTQ"),
        ("search query.fasta db --output db", "--output db: it is an input"),
    ],
)
def test_databases_that_cannot_be_searched(
    words: str, message: str, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (files / "cut").write_bytes((files / "db").read_bytes()[:-9])
    assert run("makedb dna.fasta genes").status == 0
    done = run(f"{words} --engine reference")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err


# letters that count as others

RARE = {"query": ">q\nHEAGAUGHEEOWW\n", "target": ">t\nWWPHEAGAuGJEEOWW\n"}
ROWS = "HEAGAUGHEEOWW", ("HEAGAuGJEEOWW", "HEAGAUGJEEOWW")
SAID = "glsw: 2 letters U scored as C, 2 letters O as X, 1 letter J as X\n"


@pytest.fixture
def rare(files: Path) -> Path:
    for name, text in RARE.items():
        (files / f"{name}.fasta").write_text(text)
    return files


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("indexed", [False, True])
def test_rare_letters_are_shown_as_written(
    form: str, indexed: bool, rare: Path, run: Callable[..., SimpleNamespace]
) -> None:
    target = "target.fasta"
    if indexed:
        done = run(f"makedb {target} index")
        assert done.err.startswith("glsw: 1 letter U scored as C, 1 letter O as X, 1 letter J as X")
        assert done.err.count("scored as") == 1
        target = "index"
    done = run(f"search query.fasta {target} --engine reference --format {form}")
    assert done.status == 0
    assert done.err.startswith(SAID)
    assert done.err.count("\n") == 2 + (form in ("sam", "paf"))  # which say why MAPQ is 255
    query, row = ROWS[0], ROWS[1][indexed]
    if form in ("pairwise", "html"):
        assert re.search(rf"Query +1 +{query} .*\n.*\nSbjct +4 +{row} ", done.out)
    elif form == "jsonl":
        assert f'"query_row": "{query}"' in done.out
        assert f'"target_row": "{row}"' in done.out
    elif form == "sam":
        assert f"\t{query}\t" in done.out
    # As blastp 2.12.0 has them with -comp_based_stats 0, where U and C, or O and X, are different.
    (rare / "target.fasta").write_text(">t\nWWPHEAGACGHEEXWW\n")
    if indexed:
        assert run("makedb target.fasta index").status == 0
    columns = "'blast-tab nident mismatch positive btop'"
    if form == "blast-tab":
        found = run(f"search query.fasta {target} --engine reference --format {columns}")
        assert found.out == "11\t2\t12\t5UC4OX2\n"
    if form == "sam":
        found = run(f"search query.fasta {target} --engine reference --format sam")
        assert "\t5=1X4=1X2=\t" in found.out
        assert "\tNM:i:2\tMD:Z:5C4X2\t" in found.out
    mapped = {"query": ">q\nHEAGACGHEEXWW\n", "target": ">t\nWWPHEAGACGXEEXWW\n"}
    for name, text in mapped.items():
        (rare / f"{name}.fasta").write_text(text)
    plain = run(f"search query.fasta target.fasta --engine reference --format {form}").out
    table = str.maketrans("Uu", "CC")
    if form not in ("pairwise", "jsonl", "sam", "html"):  # no letters in these
        assert done.out.translate(table) == plain.translate(table)


def test_rare_letters_in_the_columns_of_blast_tab(
    rare: Path, run: Callable[..., SimpleNamespace]
) -> None:
    words = "search query.fasta target.fasta --engine reference --format"
    (query, target), *_ = (
        line.split("\t") for line in run(f"{words} 'blast-tab qseq sseq'").out.splitlines()
    )
    assert (query, target) == (ROWS[0], ROWS[1][0])


@pytest.mark.usefixtures("rare")
@pytest.mark.parametrize("form", ["pairwise", "tsv", "sam", "paf", "jsonl", "blast-tab"])
def test_rare_letters_of_a_pair(form: str, run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"align query.fasta target.fasta --engine reference --format {form}")
    assert (done.status, done.err.startswith(SAID), done.err.count("scored as")) == (0, True, 1)
    if form == "pairwise":
        assert ROWS[0] in done.out
        assert ROWS[1][0] in done.out


@pytest.mark.usefixtures("rare")
def test_rare_letters_of_matrices_that_have_them(run: Callable[..., SimpleNamespace]) -> None:
    words = "search query.fasta target.fasta --engine reference --format tsv --matrix"
    done = run(f"{words} blastp")
    assert (done.status, "scored as" in done.err) == (0, False)
    done = run(f"{words} gonnet1992")
    assert done.status == 2
    assert "letter 'O' at position 11 is not in the GONNET1992 alphabet" in done.err


# DNA without --dna


def scored_as(done: SimpleNamespace) -> str:
    assert done.status == 0
    return "DNA" if done.err.endswith("; DNA scoring, as the query is nucleic acid\n") else ""


@pytest.mark.parametrize("command", ["search", "align"])
@pytest.mark.parametrize(
    ("letters", "options", "dna"),
    [
        ("ACGT" * 5, "", True),
        ("acgu" * 5, "", True),
        ("ACGTN" * 4, "", True),
        ("A" * 15 + "RYSWK", "", True),
        ("ACGT" * 5, "--protein", False),
        ("ACGT" * 5, "--matrix PAM30", False),
        ("ACGT" * 5, "--dna", None),
        ("ACGT" * 5, "--match 1 --mismatch -2", None),
    ],
)
def test_dna_is_known_by_its_letters(
    command: str,
    letters: str,
    options: str,
    dna: bool | None,
    files: Path,
    run: Callable[..., SimpleNamespace],
) -> None:
    (files / "q").write_text(f">q\n{letters}\n")
    (files / "t").write_text(">t\nTTTACGTACGTTTTACGTAAAAAAAA\n")
    words = f"{command} q t --engine reference --format tsv"
    done = run(f"{words} {options}")
    assert bool(scored_as(done)) is bool(dna)
    if dna:
        assert done.out == run(f"{words} --dna").out
    elif dna is False:
        assert done.out == run(f"{words} {options} --protein").out != run(f"{words} --dna").out


def test_dna_of_standard_input_is_known(files: Path) -> None:
    query = (files / "dna.fasta").read_bytes()
    words = "search - dna.fasta --engine reference --format tsv"
    out, err = process(words, files, stdin=subprocess.PIPE).communicate(query)
    assert err.endswith(b"; DNA scoring, as the query is nucleic acid\n")
    assert out == process(f"{words} --dna", files, stdin=subprocess.PIPE).communicate(query)[0]


def test_an_index_of_dna_is_searched_without_options(run: Callable[..., SimpleNamespace]) -> None:
    assert run("makedb dna.fasta genes").status == 0
    words = "search dna.fasta {} --engine reference --format tsv"
    done = run(words.format("genes"))
    assert scored_as(done) == "DNA"
    assert done.out == run(words.format("dna.fasta --dna")).out


def test_minus_strand_without_more_options(run: Callable[..., SimpleNamespace]) -> None:
    done = run("search dna.fasta dna.fasta --strand minus --engine reference --format tsv")
    assert {row["strand"] for row in rows(done.out)} == {"-"}


# devices


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize("database", ["db", "db.fasta"])
def test_two_devices_write_the_same(
    database: str, run: Callable[..., SimpleNamespace], device: Device
) -> None:
    search = f"search queries.fasta {database} --engine diagonal --format tsv --device"
    one = run(f"{search} {device.info.index}")
    two = run(f"{search} {device.info.index},{device.info.index}")
    assert (two.status, two.out) == (0, one.out)
    assert two.out.count("\n") > 3
    cells = f"{(10 + 6) * (6 + 5 + 10)} cells"
    assert cells in two.err


@pytest.mark.parametrize("words", ["--device 0,77", "--device 77", "--device 0,x"])
def test_devices_that_are_not_there(words: str, run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"search query.fasta db.fasta --engine diagonal {words}")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert "glsw: no device " in done.err


def test_alignments_take_one_device(run: Callable[..., SimpleNamespace]) -> None:
    done = run("align query.fasta query.fasta --device 0,0")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "no device '0,0'" in done.err


def test_a_process_that_dies_is_reported(
    run: Callable[..., SimpleNamespace],
    device: Device,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = "search queries.fasta db.fasta --engine diagonal --format tsv --device"
    expected = run(f"{words} {device.info.index}").out
    monkeypatch.setattr(workers, "run_task", partial(fails_once, str(tmp_path / "flag"), "dies"))
    done = run(f"{words} {device.info.index},{device.info.index}")
    assert (done.status, done.out) == (0, expected)
    first, summary = done.err.splitlines()
    assert re.fullmatch(
        r"glsw: device \d+: its process died; a part of the search is computed again",
        first,
    )
    assert "cells in" in summary


def children_of(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in listed.read_text().split()] if listed.exists() else []


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system has no /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_the_program(number: int, files: Path, device: Device) -> None:
    (files / "long.fasta").write_text(f">q\n{'HEAGAWGHEE' * 300}\n")
    (files / "many.fasta").write_text("".join(f">{k}\n{'PAWHEAE' * 300}\n" for k in range(3000)))
    index = device.info.index
    words = f"search long.fasta many.fasta --engine diagonal --device {index},{index} --output out"
    with process(words, files, start_new_session=True) as started:
        # Two, and one that tracks resources.
        wait_until(lambda: len(children_of(started.pid)) >= 3, started)
        children = children_of(started.pid)
        time.sleep(1)  # by then they compute, unless the machine is slow
        if number == signal.SIGINT:
            os.killpg(started.pid, number)  # as a terminal does
        else:
            started.kill()
        _, err = started.communicate()
    if number == signal.SIGINT:
        lines = [line for line in err.splitlines() if b"software renderer" not in line]
        assert (started.returncode, lines) == (130, [b"glsw: interrupted"])
    assert not (files / "out").exists()
    wait_until(lambda: not any(map(alive, children)))


def alive(process: int) -> bool:
    """Return whether a process runs; one that has ended may still be listed."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


WITHOUT_GPU = """
import os, sys
from glsw.cli import main
from glsw.engines import cpu
cpu.is_installed = lambda: {installed}
os.chdir({files!r})
sys.stdout, sys.stderr = open(os.devnull, "w"), sys.stdout
assert main({words!r}) == 0
"""


@pytest.mark.parametrize(
    ("installed", "words", "said", "engine"),
    [
        (True, "", "; engine 'cpu' computes searches and pairs", "auto: cpu"),
        (False, "", "; engine 'cpu' is faster: pip install 'glsw[cpu]'", "auto: lanes"),
        (True, "--device 0", "", "auto: lanes, diagonal"),
        (True, "--memory 64M", "; engine 'cpu' computes searches and pairs", "auto: cpu"),
        (True, "--engine lanes", "", "lanes"),
    ],
)
def test_cpu_scores_searches_without_a_gpu(
    installed: bool,
    words: str,
    said: str,
    engine: str,
    files: Path,
    run_under: Callable[..., str],
) -> None:
    (files / "many.fasta").write_text("".join(f">t{k}\nPAWHEAE\n" for k in range(20)))
    every = f"search query.fasta many.fasta --no-progress --evalue inf {words}".split()
    code = WITHOUT_GPU.format(installed=installed, files=str(files), words=every)
    software, summary = run_under("llvmpipe", code).splitlines()
    told = rf"glsw: no GPU is used: llvmpipe .* is a software renderer on the CPU{re.escape(said)}"
    assert re.fullmatch(told, software)
    assert f"GCUPS, engine {engine}" in summary
    assert (", pyopal " in summary) == ("cpu" in engine)


def test_a_software_renderer_is_one_line(files: Path, run_under: Callable[..., str]) -> None:
    words = "align query.fasta query.fasta --engine fragment --no-progress --format tsv"
    code = f"""
import os, sys
from glsw.cli import main
os.chdir({str(files)!r})
sys.stdout, sys.stderr = open(os.devnull, "w"), sys.stdout
assert main({words.split()!r}) == 0
"""
    lines = [line for line in run_under("llvmpipe", code).splitlines() if "cells" not in line]
    assert len(lines) == 1
    assert re.fullmatch(
        r"glsw: no GPU is used: llvmpipe .* is a software renderer on the CPU", lines[0]
    )


# ends


@pytest.mark.parametrize("words", ["--version", "--help", "search --help"])
def test_help_and_version(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(words.split())
    out = " ".join(capsys.readouterr().out.split())
    if words == "--version":
        assert out == f"glsw {glsw.__version__}"
    else:
        assert "exit status: 0 on success" in out
    if words.startswith("search"):
        assert "at 11/1 the first residue costs 12" in out


def test_the_help_states_defaults() -> None:
    _, commands = with_all_options()
    for command, parser in commands.items():
        for action in parser._actions:
            default = getattr(action.default, "name", action.default)
            if type(default) in (str, int, float) and default not in ("==SUPPRESS==", "-", "."):
                (*_, stated) = re.findall(r"\(([^()]*)\)", action.help or "") or [""]
                assert re.split("[,;:]", stated)[0] == f"{default}", f"{command} --{action.dest}"


def test_exit_statuses_are_declared_once() -> None:
    """The page lists them, and 137 of SIGKILL, which no program can answer."""
    page = (ROOT / "docs" / "FAULTS.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\d+)` \|", page, re.MULTILINE)
    assert {*map(int, listed)} == {*MEANINGS, 137}
    assert all(STATUSES[kind] == 128 + number for number, kind in EXCEPTIONS.items())
    folder = ROOT / "glsw"
    files = [folder / "__main__.py", *(folder / "cli").glob("*.py")]
    bare = re.compile(
        r"[eE]xit\(\d|128 \+|\b(129|130|141|143)\b|^        return [12]$", re.MULTILINE
    )
    for path in [*files, *(folder / "wings").rglob("command.py")]:
        assert not bare.search(path.read_text(encoding="utf-8")), path


def test_it_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "glsw", "--version"], capture_output=True, text=True, cwd=ROOT
    )
    assert (done.returncode, done.stdout) == (0, f"glsw {glsw.__version__}\n")


@pytest.mark.parametrize("form", ["tsv", "pairwise"])
def test_a_reader_that_is_gone_is_no_error(form: str, files: Path) -> None:
    words = f"search queries.fasta db.fasta --engine reference --format {form}"
    assert output_without_reader(words, files) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("words", [SEARCH, "--version", "--version --verbose", "makedb --help"])
def test_full_disk(words: str, files: Path) -> None:
    with (
        open("/dev/full", "w") as full,
        process(words, files, stdout=full) as started,
    ):
        _, err = started.communicate()
    assert (started.returncode, err) == (2, b"glsw: standard output: No space left on device\n")


def test_interrupt_keeps_finished_queries(files: Path) -> None:
    (files / "two.fasta").write_text(f">short\nHEAGAWGHEE\n>endless\n{'HEAGAWGHEE' * 2000}\n")
    (files / "db.fasta").write_text(f">t\n{'PAWHEAE' * 2000}\n")
    words = "search two.fasta db.fasta --engine reference --format tsv --evalue inf --output out"
    with process(words, files) as started:
        written = files / "out.part"
        wait_until(lambda: written.exists() and "short" in written.read_text(), started)
        started.send_signal(signal.SIGINT)
        out, err = started.communicate()
    assert (started.returncode, out) == (130, b"")
    assert err.decode() == (
        "glsw: interrupted; out.part has the results so far, --resume continues from them\n"
    )
    assert not (files / "out").exists()
    assert [row["query"] for row in rows(written.read_text())] == ["short"]


def test_interrupt_before_the_first_result_leaves_no_file(files: Path) -> None:
    # The signal comes while the device is being opened.
    code = (
        "import os, glsw.engines.spec\n"
        "def interrupted(*_, **__): os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.modules['glsw.engines.spec'].open_device = interrupted"
    )
    words = "search query.fasta db.fasta --engine fragment --output out"
    with process(words, files, code=code) as started:
        _, err = started.communicate()
    assert (started.returncode, err) == (130, b"glsw: interrupted\n")
    assert not (files / "out").exists()


# Modes.


def test_a_matrix_may_be_a_file(run: Callable[..., Any], files: Path) -> None:
    named = glsw.Scoring.named("BLOSUM50", 15, 2)
    lines = ["# of the user", "   ".join(named.alphabet.letters)]
    for letter, row in zip(named.alphabet.letters, named.matrix.tolist(), strict=True):
        lines.append(f"{letter} {' '.join(map(str, row))}")
    (files / "mine.mat").write_text("\n".join(lines))
    gaps = "--gapopen 13 --gapextend 2 --engine reference"
    for words in ("search query.fasta db.fasta --format table", "align query.fasta query.fasta"):
        mine, theirs = (run(f"{words} {gaps} --matrix {of}") for of in ("mine.mat", "BLOSUM50"))
        assert mine.status == theirs.status == 0
        assert mine.out == theirs.out
        assert mine.out != run(f"{words} --engine reference").out
    done = run("search query.fasta db.fasta --matrix mine.mat --output mine.mat")
    assert done.err == "glsw: --output mine.mat: it is an input, and would be overwritten\n"
    done = run("search query.fasta db.fasta --matrix query.fasta")
    assert (done.status, len(done.err.splitlines())) == (2, 1)
    assert "query.fasta:" in done.err


def test_no_format_has_free_end_gaps(run: Callable[..., Any], files: Path) -> None:
    (files / "read.fa").write_text(">read\nACGTACGATTGCAACCCC\n")
    (files / "genome.fa").write_text(">genome\nTTTACGTACGTTGCAA\n")
    words = "align read.fa genome.fa --dna --mode semiglobal --strand plus --engine reference"
    record = run(f"{words} --format sam").out.splitlines()[-1].split("\t")
    assert record[3:6] == ["4", "255", "7=1I6=4S"]
    assert {"NM:i:1", "MD:Z:13"} <= set(record)
    line = run(f"{words} --format paf").out.split("\t")
    assert line[1:4] + line[6:11] == ["18", "0", "14", "16", "3", "16", "13", "14"]
    assert line[-1] == "cg:Z:7=1I6=\n"
    line = run(f"{words} --format gff3").out.splitlines()[-1].split("\t")
    assert line[3:5] == ["4", "16"]
    assert "Target=read 1 14 +;Gap=M7 I1 M6;" in line[-1]
    assert run(f"{words} --format tsv").out.split("\t")[-2] == "7=1I6="
    listed = run(f"{words.replace('align', 'search')} --format table").out.splitlines()
    assert listed[2].split()[3:6] == ["1-14", "4-16", "16"]
    (files / "none.fa").write_text(">none\nGGGG\n")  # all columns are gaps
    words = "align none.fa read.fa --match 1 --mismatch -9 --mode global --strand plus"
    assert run(f"{words} --format sam --engine reference").out.splitlines()[-1].split("\t")[5]


def test_a_search_of_whole_sequences_lists_positive_scores(run: Callable[..., Any]) -> None:
    words = "search query.fasta db.fasta --engine reference --mode global"
    assert "\nE-values: none: no local statistics exist: the alignments are not" in (
        run(f"{words} --format table").out
    )
    assert "E-values: none: not asked for\n" in (
        run(f"{words} --format table --statistics none").out
    )
    done = run(f"{words} --min-score -5")
    assert (done.status, done.out) == (2, "")
    assert done.err == "glsw: min_score -5: a search lists positive scores only\n"


@pytest.mark.parametrize(("mode", "cigar"), [("local", "4="), ("semiglobal", "4=")])
def test_modes(tmp_path, capsys, mode, cigar):
    query, target = tmp_path / "q.fa", tmp_path / "t.fa"
    query.write_text(">q\nCCACGT\n")
    target.write_text(">t\nACGTTT\n")
    options = ["--dna", "--mode", mode, "--engine", "reference", "--format", "jsonl"]
    for command in ("align", "search"):
        assert main([command, str(query), str(target), *options, "--no-progress"]) == 0
        assert f'"{cigar}"' in capsys.readouterr().out


def test_global_alignments_may_score_below_0(tmp_path, capsys):
    query, target = tmp_path / "q.fa", tmp_path / "t.fa"
    query.write_text(">q\nAAAAAA\n")
    target.write_text(">t\nCC\n")
    options = ["--dna", "--mode", "global", "--engine", "reference", "--format", "tsv"]
    assert main(["align", str(query), str(target), *options]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 2
    assert "\t-19\t" in rows[1]
    assert main(["align", str(query), str(target), *options, "--min-score", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_engines_that_align_locally_only(tmp_path, capsys):
    query = tmp_path / "q.fa"
    query.write_text(">q\nACGT\n")
    options = ["--mode", "global", "--engine", "scan", "--dna"]
    assert main(["align", str(query), str(query), *options]) == 2
    assert "'scan' supports local alignment only" in capsys.readouterr().err
