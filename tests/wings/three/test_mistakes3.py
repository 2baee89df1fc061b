"""What is printed of mistakes in triples, of hostile names, and of columns."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from program import rows

import glsw
from glsw.cli import main

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
HOSTILE = "a\x1b]0;title\x07b\x08c\x9b2J\x7f"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "q.fasta").write_text(">#q first\nHEAGAWGHEE\n")
    (tmp_path / "hostile.fasta").write_text(f">{HOSTILE} {HOSTILE}\nPAWHE\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("form", ["text", "clustal", "fasta", "tsv"])
def test_no_format_of_three_has_control_characters(
    form: str, run: Callable[..., SimpleNamespace]
) -> None:
    done = run(f"align3 hostile.fasta q.fasta q.fasta --engine reference --format {form}")
    assert done.status == 0
    assert not CONTROL.search(done.out)


def test_the_columns_of_align3_are_like_them(tmp_path: Path) -> None:
    for name, letters in (("a", "WWMKVLAW"), ("b", "MKVLAW"), ("c", "CMKVLAWC")):
        (tmp_path / name).write_text(f">{name}\n{letters}\n")
    paths = [str(tmp_path / name) for name in "abc"]
    output = tmp_path / "found"
    words = ["--protein", "--engine", "reference", "--format", "tsv", "--output", str(output)]
    assert main(["align3", *paths, *words]) == 0
    (row,) = rows(output.read_text())
    assert row["identity"] == "1.0000"
    places = [(int(row[f"{k}_start"]), int(row[f"{k}_end"])) for k in "abc"]
    assert places == [(2, 8), (0, 6), (1, 7)]


@pytest.mark.parametrize("most", ["1e30", str(2**63)])
def test_more_alignments_than_there_can_be(most: str, run: Callable[..., SimpleNamespace]) -> None:
    words = f"--max-alignments {most} --engine reference"
    assert run(f"align3 q.fasta q.fasta q.fasta {words}").status == 0


def test_representation() -> None:
    three = glsw.Aligner3(engine="reference")
    assert repr(three).startswith("<Aligner3 sum-of-pairs of BLOSUM62, gaps 12/1, local, engine re")


def test_mistyped_option() -> None:
    with pytest.raises(TypeError, match=r"Aligner3\(\) has no option 'engin'"):
        glsw.align3("MKV", "MKV", "MKV", engin="plane")


def test_an_aligner_without_a_scoring_is_for_proteins() -> None:
    three, dna = glsw.Aligner3(engine="reference"), "ACGTTGCATGCAAGCTTACGGATC"
    with pytest.raises(ValueError, match=r"glsw.Aligner3\(glsw.Scoring3.sum_of_pairs\(glsw.Scor"):
        three.score(dna, dna, dna)
