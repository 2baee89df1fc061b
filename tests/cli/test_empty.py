"""Files without any sequence: an empty result, with a line and status 0, as pipelines need it."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from program import rows
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
def test_no_sequence_in_all_formats(form: str, run: Callable[..., SimpleNamespace]) -> None:
    """A query without a database is one without hits, no query no result."""
    for words, results in (("empty.fasta db.fasta", 0), ("query.fasta empty.fasta", 1)):
        done = run(f"search {words} --engine reference --format {form}")
        assert done.status == 0
        assert done.err.startswith("glsw: empty.fasta: empty file: there is nothing to compare\n")
        if form == "jsonl":
            assert [json.loads(line)["hits"] for line in done.out.splitlines()] == [[]] * results
        if form in ("pairwise", "table"):
            assert done.out.count("q1") == results
        if form == "sam":
            assert done.out.count("q1\t4\t") == results


@pytest.mark.parametrize("options", ["--statistics fit", "--evalue 1 --statistics fit --seg yes"])
def test_no_statistics_of_no_sequence(options: str, run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"search query.fasta empty.fasta --engine reference --format tsv {options}")
    assert (done.status, rows(done.out)) == (0, [])


def test_no_sequence_has_no_neighbors(run: Callable[..., SimpleNamespace]) -> None:
    for words in ("empty.fasta", "empty.fasta db.fasta", "db.fasta blank.fasta"):
        done = run(f"neighbors {words} --cutoff 10 --engine reference")
        assert (done.status, rows(done.out)) == (0, [])
        assert "there is nothing to compare" in done.err


def test_places_on_a_sequence_without_letters(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (files / "none.fasta").write_text(">none\n\n")
    words = "align query.fasta none.fasta --mode global --engine reference --format"
    paf = run(f"{words} paf").out.split("\t")
    assert paf[:9] == ["q1", "10", "0", "10", "+", "none", "0", "0", "0"]
    (tsv,) = rows(run(f"{words} tsv").out)
    assert (tsv["target_start"], tsv["target_end"]) == ("0", "0")
