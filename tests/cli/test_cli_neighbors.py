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
from glsw.pairs.distances import Distance

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
    done = run(f"{NEIGHBORS} --cutoff 20 --both --self")
    assert done.out.splitlines() == [
        "query\ttarget\tscore",
        "a\ta\t62",
        "b\tb\t44",
        "b\tc\t22",
        "c\tb\t22",
        "c\tc\t22",
    ]
    assert done.err.startswith("glsw: 5 of 9 pairs, ")
    assert run(f"{NEIGHBORS} --cutoff 20").out == "query\ttarget\tscore\nb\tc\t22\n"
    done = run("neighbors words.fasta words.fasta --cutoff 17 --top 1 --engine reference")
    assert [line.split()[:2] for line in done.out.splitlines()[1:]] == [
        *map(list, ("aa", "bb", "cb"))
    ]


@pytest.mark.parametrize("distance", ["score", "self", "identity", "evalue"])
def test_matrix_market(
    run: Callable[..., SimpleNamespace], files: Path, distance: Distance
) -> None:
    words = f"{NEIGHBORS} --cutoff 1 --distance {distance} --format mtx --output o.mtx"
    assert run(f"{words} --both --self").status == 0
    expected = glsw.neighbors(list(WORDS.values()), cutoff=1, distance=distance, engine="reference")
    found = mmread(files / "o.mtx", spmatrix=False)
    assert found.nnz == expected.nnz > 0
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    assert sorted(path.name for path in files.iterdir()) == ["dna.fasta", "o.mtx", "words.fasta"]
    assert run(words).status == 0
    once, best = mmread(files / "o.mtx", spmatrix=False).toarray(), expected.toarray()
    np.fill_diagonal(best, 0)
    best = np.minimum(best, best.T) if distance in ("self", "evalue") else np.maximum(best, best.T)
    np.testing.assert_array_equal(once, best)


@pytest.mark.parametrize("options", ["", "--top 1", "--top 2 --min-score 20"])
@pytest.mark.parametrize("distance", ["score", "self", "identity", "evalue"])
def test_each_pair_once(
    run: Callable[..., SimpleNamespace], files: Path, distance: str, options: str
) -> None:
    """The better of both orders, no sequence with itself, unless these are asked for."""
    rng = np.random.default_rng(5)
    families = ["".join(rng.choice(list("ARNDCQEGHILK"), 30)) for _ in range(3)]
    texts = [
        f">s{k}\n{families[k % 3][k % 4 : 30 - k]}{families[(k + 1) % 3][:k]}\n" for k in range(9)
    ]
    (files / "many.fasta").write_text("".join(texts))
    cutoff = {"score": 12, "self": 140, "identity": 0.1, "evalue": 1}[distance]
    words = f"neighbors many.fasta --engine reference --distance {distance} --cutoff {cutoff}"

    def entries(more: str) -> tuple[dict[tuple[str, str], float], str]:
        done = run(f"{words} {options} {more}")
        lines = [line.split("\t") for line in done.out.splitlines()[1:]]
        found = {(query, target): float(value) for query, target, value in lines}
        assert len(found) == len(lines) > 0
        return found, done.err

    whole, said = entries("--both --self")
    assert said.startswith(f"glsw: {len(whole)} of 81 pairs, ")
    both, said = entries("--both")
    assert both == {pair: value for pair, value in whole.items() if pair[0] != pair[1]}
    assert said.startswith(f"glsw: {len(both)} of 72 pairs, ")
    own, said = entries("--self")
    once, said = entries("")
    assert said.startswith(f"glsw: {len(once)} of 36 pairs, ")
    assert own == once | {pair: value for pair, value in whole.items() if pair[0] == pair[1]}
    sign = 1 if distance in ("self", "evalue") else -1
    expected: dict[frozenset[str], tuple[str, str]] = {}
    for pair in sorted(both, key=lambda pair: (sign * both[pair], pair)):
        expected.setdefault(frozenset(pair), pair)
    assert once == {pair: both[pair] for pair in expected.values()}
    assert len(once) < len(both)


def test_dna_is_detected(run: Callable[..., SimpleNamespace]) -> None:
    done = run("neighbors dna.fasta --cutoff 14 --mode semiglobal --engine reference")
    assert done.out.splitlines()[1:] == ["x\ty\t14"]
    assert done.err.endswith("DNA scoring, as the query is nucleic acid\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"{NEIGHBORS}", "required: --cutoff"),
        (f"{NEIGHBORS} --cutoff 5 --distance identity", "--cutoff 5: a number from 0 to 1"),
        ("neighbors words.fasta --cutoff 90 --distance identity", "cutoff 90: a number"),
        (f"{NEIGHBORS} --cutoff 5 --output words.fasta", "it is an input"),
        ("neighbors dna.fasta words.fasta --cutoff 5", "words.fasta has proteins"),
        ("neighbors - - --cutoff 5", "standard input"),
        (
            "neighbors words.fasta words.fasta --cutoff 5 --both",
            "--both is for one FASTA; with two,",
        ),
        (
            "neighbors words.fasta words.fasta --cutoff 5 --self",
            "--self is for one FASTA; with two,",
        ),
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
