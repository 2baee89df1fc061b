"""``--shard K/N`` and ``glsw merge`` with all that a search can do: as one search to the byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from program import refused
from test_two_tracks import TRACKS, files_of_tracks

from glsw import Aligner, Record
from glsw.wings import opened
from glsw.wings.shards.verbs import merge, scan_shard

SEARCH = "search queries.fasta db.fasta --engine reference --format tsv"
LINK = "--format html --link 'https://example.org/{accession}?all={id}'"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of small inputs."""
    (tmp_path / "queries.fasta").write_text(">q1 <i>\nHEAGAWGHEE\n>q2\x1b\nPPPPP\n>none\nDD\n")
    (tmp_path / "db.fasta").write_text(">sp|P1|A\nPAWHEAE\n>b\nPPPP\n>c\nHEAE\n")
    (tmp_path / "empty.fasta").write_text("")
    return tmp_path


def read(folder: Path, name: str) -> dict[str, Any]:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_no_query_in_shards(run: Callable[..., SimpleNamespace]) -> None:
    words = "search empty.fasta db.fasta --engine reference --format sam"
    for k in (1, 2):
        assert run(f"{words} --shard {k}/2 --output parts").status == 0
    done = run("merge parts --engine reference")
    assert (done.status, done.out.count("@SQ")) == (0, 3)


@pytest.mark.skipif("cluster" not in opened(), reason="the wing is closed")
def test_a_cluster_computes_a_shard(run: Callable[..., SimpleNamespace]) -> None:
    whole = run(f"{SEARCH} --format sam")
    for k in (1, 2):
        done = run(f"{SEARCH} --format sam --shard {k}/2 --output run --cluster local:{k}")
        assert (done.status, "engine reference on " in done.err) == (0, True)
    merged = run("merge run").out
    kept = [
        [line for line in text.splitlines() if not line.startswith("@PG")]
        for text in (merged, whole.out)
    ]
    assert kept[0] == kept[1] != []
    assert "--cluster" not in merged
    assert run(f"{SEARCH} --shard 1/2 --output other --cluster local:0").status == 2


def test_the_summary_of_a_merge(run: Callable[..., SimpleNamespace], files: Path) -> None:
    whole = run(f"{SEARCH} --summary whole.json")
    for k in (1, 2):
        assert run(f"{SEARCH} --shard {k}/2 --output run").status == 0
    merged = run("merge run --summary run.json")
    assert merged.out == whole.out
    rows, of_whole = ([*read(files, name)["queries"]] for name in ("run.json", "whole.json"))
    for each in (*rows, *of_whole):
        del each["seconds"]
    assert rows == of_whole
    words = f"{SEARCH} --shard 1/2 --output run --summary run.json"
    refused(run, words, "glsw merge has --summary", files)


def test_pages_have_the_same_bytes(run: Callable[..., SimpleNamespace], files: Path) -> None:
    whole = run(f"{SEARCH} {LINK}")
    for k in (1, 2):
        assert run(f"{SEARCH} {LINK} --shard {k}/2 --output run").status == 0
    pages = (each.out.partition("<main>")[2] for each in (run("merge run"), whole))
    assert len({*pages}) == 1
    assert run("merge run --format tsv").out.startswith("query\t")


def test_shards_have_two_tracks(run: Callable[..., SimpleNamespace], files: Path) -> None:
    files_of_tracks(files)
    run("makedb t.fasta t.glsw --second-track t.states")
    words = f"search q.fasta t.glsw {TRACKS} --format blast-tab"
    for number in (1, 2):
        assert run(f"{words} --shard {number}/2 --output parts").status == 0
    assert run("merge parts").out == run(words).out


def test_shards_of_translated_targets(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    gene = "ATGGCTAGCAAAGGAGAAGAACTTTTCACTGGAGTTGTCCCAATTCTTGTTGAATTAGAT"
    dna = ["".join(rng.choice(list("ACGT"), 70 + k)) for k in range(6)]
    targets = [Record(f"t{k}", "", f"{gene[3 * k :]}{each}") for k, each in enumerate(dna)]
    options: dict[str, Any] = {"top": 4, "max_hsps": 2, "target_genetic_code": 1}
    with Aligner(engine="reference") as aligner:
        queries = ["MASKGEELFTGVV", "PILVELD"]
        expected = [[*map(str, result)] for result in aligner.search(queries, targets, **options)]
        search = aligner.prepare(queries, targets, **options)
        for k in range(1, 4):
            scan_shard(search, k, 3, tmp_path)
        assert [[*map(str, result)] for result in merge(search, tmp_path)] == expected
        assert [len(each) for each in expected] == [4, 4]
