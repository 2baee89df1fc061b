"""``--summary FILE.json``: valid by its schema, equal to the results, whole or not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from program import refused

from glsw.alignment.hits import SearchResult
from glsw.output import FORMATS, summary

SEARCH = "search queries.fasta db.fasta --engine reference --format tsv"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of small inputs."""
    (tmp_path / "queries.fasta").write_text(">q1\nHEAGAWGHEE\n>q2\x1b\nPPPPP\n>none\nDD\n")
    (tmp_path / "db.fasta").write_text(">a\nPAWHEAE\n>b\nPPPP\n>c\nHEAE\n")
    (tmp_path / "one.fasta").write_text(">one\nHEAGAWGHEE\n")
    (tmp_path / "other.fasta").write_text(">other\nPAWHEAEHEAGAWGHEE\n")
    return tmp_path


def read(folder: Path, name: str = "run.json") -> dict[str, Any]:
    document = json.loads((folder / name).read_text(encoding="utf-8"))
    schema = json.loads(summary.SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def test_summary_for_multiqc(run: Callable[..., SimpleNamespace], files: Path) -> None:
    assert run(f"{SEARCH} --min-score 8 --summary run.json").status == 0
    totals = read(files)["totals"]
    assert run(f"{SEARCH} --min-score 8 --summary run_mqc.json").status == 0
    document = json.loads((files / "run_mqc.json").read_text(encoding="utf-8"))
    assert (document["id"], document["plot_type"]) == ("glsw", "generalstats")
    ((sample, values),) = document["data"].items()
    assert (sample, values["engine"], values["device"]) == ("queries", "reference", "CPU")
    assert {*values} == {*document["headers"]}
    for name in ("queries", "hits", "alignments"):
        assert values[name] == totals[name] > 0


def test_search(run: Callable[..., SimpleNamespace], files: Path) -> None:
    done = run(f"{SEARCH} --min-score 8 --max-hsps 2 --summary run.json")
    assert done.status == 0
    found = read(files)
    rows = [line.split("\t") for line in done.out.splitlines()[1:]]
    by_query = {row["id"]: row for row in found["queries"]}
    assert [*by_query] == ["q1", "q2\x1b", "none"]
    for name, row in by_query.items():
        own = [cells for cells in rows if cells[0] == name.replace("\x1b", "\\x1b")]
        assert row["hits"] == len({cells[1] for cells in own})
        assert row["alignments"] == len(own)
        assert row["best_score"] == max((int(cells[4]) for cells in own), default=None)
    assert by_query["none"]["best_evalue"] is None
    assert "lambda 0.267" in by_query["q1"]["statistics"]
    totals = found["totals"]
    assert totals["queries"] == 3
    assert totals["alignments"] == len(rows)
    assert totals["cells"] == (10 + 5 + 2) * 15 == sum(row["cells"] for row in by_query.values())
    assert totals["seconds"] > 0
    assert found["command"].startswith("glsw search queries.fasta")
    assert found["database"] == {
        "path": "db.fasta",
        "sequences": 3,
        "residues": 15,
        "checksum": None,
    }
    assert (found["engine"], found["ran_on"], found["devices"]) == ("reference", ["CPU"], [])
    assert f"glsw: {totals['cells']} cells" in done.err
    assert run(SEARCH + " --min-score 8 --max-hsps 2").out == done.out


def test_device_and_database(run: Callable[..., SimpleNamespace], files: Path) -> None:
    run("makedb db.fasta db.glsw")
    assert run("search queries.fasta db.glsw --engine fragment --summary run.json").status == 0
    found = read(files)
    (device,) = found["devices"]
    assert found["ran_on"] == [device["name"]]
    assert device["driver"].startswith(("3.", "4."))
    assert len(found["database"]["checksum"]) == 8


def test_align_has_one_line_per_query(run: Callable[..., SimpleNamespace], files: Path) -> None:
    command = "align one.fasta other.fasta --engine reference --max-alignments 2"
    assert run(f"{command} --summary run.json").status == 0
    (row,) = read(files)["queries"]
    assert (row["hits"], row["alignments"], row["cells"]) == (1, 2, 2 * 10 * 17)


def test_neighbors(run: Callable[..., SimpleNamespace], files: Path) -> None:
    done = run("neighbors db.fasta --cutoff 20 --engine reference --summary run.json")
    assert done.status == 0
    found = read(files)
    lines = [line.split("\t")[0] for line in done.out.splitlines()[1:]]
    assert {row["id"]: row["hits"] for row in found["queries"]} == {
        name: lines.count(name) for name in "abc"
    }
    assert found["totals"]["hits"] == len(lines)


def test_after_an_error_the_old_one_remains(
    run: Callable[..., SimpleNamespace], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (files / "run.json").write_text("old")

    def fail(result: SearchResult, stream: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(FORMATS, "tsv", FORMATS["tsv"]._replace(write=fail))
    assert run(f"{SEARCH} --summary run.json").status == 2
    assert (files / "run.json").read_text() == "old"
    assert [path.name for path in files.glob("run.json*")] == ["run.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--summary queries.fasta", "--summary queries.fasta: it is an input"),
        ("--output x.tsv --summary x.tsv", "--summary x.tsv: it is --output"),
        ("--summary no/run.json", "--summary no/run.json: there is no folder no"),
        ("--summary /dev/stderr", "--summary /dev/stderr: a regular file"),
        ("--summary -", "--summary -: it names no file"),
    ],
)
def test_refused(
    run: Callable[..., SimpleNamespace], files: Path, words: str, message: str
) -> None:
    refused(run, f"{SEARCH} {words}", message, files)
