"""Files without any sequence: as queries an empty result, as targets an error; without letters."""

from __future__ import annotations

import gzip
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from program import rows
from subtests import with_subtests
from wing import of_wing

from glsw.output import FORMATS


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (
        ("query.fasta", ">q1 first\nHEAGAWGHEE\n"),
        ("db.fasta", ">t1 far\nPPPPPP\n>t2 near\nPAWHE\n>t3\nMKVLAWHEAG\n"),
        ("dna.fasta", ">d\nACGTACGTTT\n"),
        ("empty.fasta", ""),
        ("blank.fasta", "\n\n"),
    ):
        (tmp_path / name).write_text(text)
    (tmp_path / "empty.gz").write_bytes(gzip.compress(b""))
    return tmp_path


@pytest.mark.parametrize("query", ["empty.fasta", "blank.fasta", "empty.gz", "-"])
@pytest.mark.parametrize(
    "options",
    ["", "--top 0 --max-hsps 2", "--translated", *of_wing("profiles", ["--iterations 2"])],
)
def test_no_query_is_an_empty_result(
    query: str,
    options: str,
    run: Callable[..., SimpleNamespace],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run("makedb db.fasta proteins.glsw")
    run("makedb dna.fasta dna.glsw")
    for target in ("db.fasta", "proteins.glsw", "dna.glsw"):
        if (target, options) == ("dna.glsw", "--translated"):  # wrong, whatever the query is
            continue
        empty = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"")))
        monkeypatch.setattr(sys, "stdin", empty)
        words = f"search {query} {target} --engine reference --format tsv {options}"
        done = run(words)
        assert (done.status, rows(done.out)) == (0, [])
        name = "standard input" if query == "-" else query
        assert re.match(rf"glsw: {name}: (empty file|no sequences, only blank lines): ", done.err)


@pytest.mark.parametrize("form", FORMATS)
def test_no_query_in_all_formats(form: str, run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"search empty.fasta db.fasta --engine reference --format {form}")
    assert done.status == 0
    assert done.err.startswith("glsw: empty.fasta: empty file: there is nothing to compare\n")
    assert "q1" not in done.out


NO_TARGET = (
    "search query.fasta {}",
    "search query.fasta {} --statistics fit",
    "search empty.fasta {}",
    "neighbors {} --cutoff 10",
    "neighbors query.fasta {} --cutoff 10",
    "align query.fasta {}",
    "makedb {} out",
    "makedb db.fasta {} out",
    *of_wing("profiles", ["search query.fasta {} --iterations 2"]),
    *of_wing("shards", ["search query.fasta {} --shard 1/2 --output out"]),
    *of_wing("three", ["align3 query.fasta query.fasta {}"]),
    *of_wing("dotplot", ["dotplot query.fasta {} --output out.npz"]),
)


@with_subtests("words", NO_TARGET)
@with_subtests("target", ["empty.fasta", "blank.fasta", "empty.gz"])
def test_no_target_is_an_error(
    words: str, target: str, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    """As a download that has failed is."""
    done = run(words.format(target))
    assert (done.status, done.out) == (2, "")
    *_, last = done.err.splitlines()
    assert re.fullmatch(rf"glsw: {target}: (empty file|no sequences, only blank lines)", last)
    assert not (files / "out").exists()


def test_no_row_has_no_neighbors(run: Callable[..., SimpleNamespace]) -> None:
    done = run("neighbors empty.fasta db.fasta --cutoff 10 --engine reference")
    assert (done.status, rows(done.out)) == (0, [])
    assert "there is nothing to compare" in done.err


WITHOUT_LETTERS = {
    "search none.fasta db.fasta": "none.fasta: 1 sequence without letters: a",
    "search query.fasta none.fasta": "none.fasta: 1 sequence without letters: a",
    "search query.fasta some.fasta": "some.fasta: 2 sequences without letters, the first is b",
    "search reads.fastq dna.fasta": "reads.fastq: 1 sequence without letters: r2",
    "neighbors some.fasta --cutoff 10": "some.fasta: 2 sequences without letters, the first is b",
    "align query.fasta none.fasta": "none.fasta: 1 sequence without letters: a",
    "makedb some.fasta out --force": "some.fasta: 2 sequences without letters, the first is b",
    **of_wing(
        "shards",
        {
            "search none.fasta db.fasta --shard 1/2 --output shards": (
                "none.fasta: 1 sequence without letters: a"
            )
        },
    ),
    **of_wing(
        "three",
        {
            "align3 none.fasta query.fasta query.fasta": (
                "none.fasta: 1 sequence without letters: a"
            )
        },
    ),
}


@with_subtests("words, message", WITHOUT_LETTERS.items())
def test_sequences_without_letters_are_named(
    words: str, message: str, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (files / "none.fasta").write_text(">a\n")
    (files / "some.fasta").write_text(">a\nHEAG\n>b\n>c\nWGHE\n>d nothing\n\n")
    (files / "reads.fastq").write_text("@r1\nACGT\n+\nIIII\n@r2\n\n+\n\n")
    done = run(words if words.startswith("makedb") else f"{words} --engine reference")
    assert done.status == 0
    assert f"glsw: {message}" in done.err.splitlines()


def test_places_on_a_sequence_without_letters(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (files / "none.fasta").write_text(">none\n\n")
    words = "align query.fasta none.fasta --mode global --engine reference --format"
    paf = run(f"{words} paf").out.split("\t")
    assert paf[:9] == ["q1", "10", "0", "10", "+", "none", "0", "0", "0"]
    (tsv,) = rows(run(f"{words} tsv").out)
    assert (tsv["target_start"], tsv["target_end"]) == ("0", "0")
