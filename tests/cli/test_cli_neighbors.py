"""The command ``glsw neighbors``: files of pairs, and errors in one line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from program import refused
from scipy.io import mmread

import glsw

WORDS = {"a b": "HEAGAWGHEE", "b": "PAWHEAE", "c": "HEAE"}
NEIGHBORS = "neighbors words.fasta --engine reference"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of small inputs."""
    text = "".join(f">{name}\n{word}\n" for name, word in WORDS.items())
    (tmp_path / "words.fasta").write_text(text)
    (tmp_path / "dna.fasta").write_text(">x\nACGTACGTTT\n>y\nACGTACG\n")
    return tmp_path


def test_tsv(run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"{NEIGHBORS} --cutoff 20")
    assert done.out.splitlines() == [
        "query\ttarget\tscore",
        "a\ta\t62",
        "b\tb\t44",
        "b\tc\t22",
        "c\tb\t22",
        "c\tc\t22",
    ]
    assert done.err.startswith("glsw: 5 of 9 pairs, ")
    done = run("neighbors words.fasta words.fasta --cutoff 17 --top 1 --engine reference")
    assert [line.split()[:2] for line in done.out.splitlines()[1:]] == [
        *map(list, ("aa", "bb", "cb"))
    ]


@pytest.mark.parametrize("distance", ["score", "self", "identity", "evalue"])
def test_matrix_market(
    run: Callable[..., SimpleNamespace], files: Path, distance: glsw.distances.Distance
) -> None:
    assert (
        run(f"{NEIGHBORS} --cutoff 1 --distance {distance} --format mtx --output o.mtx").status == 0
    )
    expected = glsw.neighbors(list(WORDS.values()), cutoff=1, distance=distance, engine="reference")
    found = mmread(files / "o.mtx", spmatrix=False)
    assert found.nnz == expected.nnz > 0
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    assert sorted(path.name for path in files.iterdir()) == ["dna.fasta", "o.mtx", "words.fasta"]


def test_dna_is_detected(run: Callable[..., SimpleNamespace]) -> None:
    done = run("neighbors dna.fasta --cutoff 14 --mode semiglobal --engine reference")
    assert done.out.splitlines()[2] == "x\ty\t14"
    assert done.err.endswith("DNA scoring, as the query is nucleic acid\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"{NEIGHBORS}", "required: --cutoff"),
        (f"{NEIGHBORS} --cutoff 5 --distance identity", "cutoff 5: a fraction from 0 to 1"),
        (f"{NEIGHBORS} --cutoff 5 --output words.fasta", "it is an input"),
        ("neighbors dna.fasta words.fasta --cutoff 5", "words.fasta has proteins"),
        ("neighbors - - --cutoff 5", "standard input"),
    ],
)
def test_errors_are_one_line(
    run: Callable[..., SimpleNamespace], files: Path, words: str, message: str
) -> None:
    refused(run, words, message, files)


def test_without_scipy(
    run: Callable[..., SimpleNamespace], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    refused(run, f"{NEIGHBORS} --cutoff 5", "pip install 'glsw[sparse]'", files)
