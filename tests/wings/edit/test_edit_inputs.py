"""Edit distances of all kinds of input: letters are any objects, numbers too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from Bio.Seq import Seq
from kinds_of_input import CODES, NEITHER, ONE, SEVERAL, A, B, files_of_two
from subtests import with_subtests

import glsw
from glsw.sequences.file_names import FileNameError
from glsw.wings.edit.items import codes_together


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return files_of_two(tmp_path)


_NUMBERS = {"codes", "codes of 64 bits", "tuple of numbers", "tuple of NumPy's numbers"}
_NUMBERS |= {"array of Python", "memoryview", "list of codes", "tuple of codes", "list of tuples"}
_NUMBERS |= {"codes of two dimensions", "Sequences", "Arrow's lists"}
HOST: dict[str, Any] = {"engine": "host"}


@with_subtests("kind", ONE | SEVERAL)
def test_edit_distances(kind: str, folder: Path) -> None:
    made = (ONE | SEVERAL)[kind]
    if kind == "tuple":
        assert glsw.edit_distance(made(folder), made(folder)[:1], **HOST) == 1
        return
    target = CODES[0] if kind in _NUMBERS else A
    found = glsw.edit_distance(target, made(folder), **HOST)
    far = glsw.edit_distance(A, B, **HOST)
    if kind in ONE:
        assert (found, type(found)) == (0, int)
        assert glsw.edit_distance(made(folder), made(folder), **HOST) == 0
        assert glsw.edit_distance_matrix(made(folder), **HOST).tolist() == [[0]]
    else:
        assert found.tolist() == [0, far]
        assert glsw.edit_distance(made(folder), made(folder), **HOST).tolist() == [0, 0]
        assert glsw.edit_distance_matrix(made(folder), **HOST).tolist() == [[0, far], [far, 0]]


@with_subtests("kind", NEITHER)
def test_edit_distances_of_no_sequence(kind: str, folder: Path) -> None:
    with pytest.raises(TypeError, match=r"^(queries|targets): ") as found:
        glsw.edit_distance(NEITHER[kind](folder), A, **HOST)
    assert ("a tuple or an array of numbers is one" in str(found.value)) == (
        kind == "list of numbers"
    )


@with_subtests(
    "left, right, expected",
    [
        (("the", "cat"), ("the", "dog"), 1),
        (("the", "cat"), ("the", "old", "cat"), 1),
        ((1, 2, 3), (1, 3), 1),
        ((1, 2, 3), np.array([1, 3]), 1),
        ((), ("the",), 1),
        ((), (), 0),
        ((None, 1.5, "x"), (None, 1.5), 1),
        ((b"the", b"cat"), (b"cat",), 1),
        (("the", "cat"), [("the", "dog"), ("cat",)], [1, 1]),
        ([np.array([2**61], np.uint64), np.array([-1])], [np.array([2**61 + 1]), "a"], [1, 1]),
        ([np.array([2**63 + 7, 2**63], np.uint64)], [np.array([2**63], np.uint64)], [1]),
        ([np.array([-128, 127], np.int8)], [np.array([127, 255])], [2]),
        (["the", "cat"], ["the", "dog"], [0, 3]),
        ([["the", "cat"]], [["the", "dog"]], [1]),
        ((("the", "cat"), ("a",)), (("the", "dog"), ("a",)), [1, 0]),
        ((Seq("AC"), Seq("GT")), (Seq("AC"), Seq("GA")), [0, 1]),
        ((each for each in ("the", "cat")), ["the", "dog"], [0, 3]),
    ],
)
def test_words(left: Any, right: Any, expected: Any) -> None:
    found = glsw.edit_distance(left, right, **HOST)
    assert (found if isinstance(expected, int) else found.tolist()) == expected
    assert isinstance(found, int) == isinstance(expected, int)


@with_subtests("other", ["", "N", "n\u00e9", "\U00010400", np.array([78, 65]), ["A", "N"], "abc"])
def test_codes_of_many_texts(other: Any) -> None:
    """Codes of both sides are equal if letters are, also of a text that no sample has."""
    letters = np.random.default_rng(4).choice(np.frombuffer(b"ACGT", np.uint8), 18 * 2**20)
    text = letters.tobytes().decode()
    texts: list[Any] = [text[at : at + 1000] for at in range(0, len(text), 1000)]
    sides = [texts[::2], texts[1::2]]
    sides[1][-2] = other
    if isinstance(other, str) and other == "abc":
        sides[0] = [each.replace("A", "B") for each in sides[0]]
    coded, count = codes_together(sides)
    pairs = []
    for side, codes in zip(sides, coded, strict=True):
        assert codes.lengths.tolist() == [*map(len, side)]
        spelled = [[*map(chr, each)] if isinstance(each, np.ndarray) else each for each in side]
        points = np.frombuffer("".join(map("".join, spelled)).encode("utf-32-le"), "<u4")
        numbers = points.astype(np.int64) * 256 + codes.residues
        pairs.append([divmod(number, 256) for number in np.unique(numbers).tolist()])
    assert all((p == q) == (a == b) for p, a in pairs[0] for q, b in pairs[1])
    assert max(code for side in pairs for _, code in side) < count <= 7


def test_text_may_be_the_name_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("queries.fasta", "reads"):
        Path(name).write_text(">a\nMKV\n")
    with pytest.raises(FileNameError, match=r'Path\("queries.fasta"\) reads it'):
        glsw.edit_distance("queries.fasta", ["MKV"], engine="host")
    assert glsw.edit_distance("missing.fasta", "reads", engine="host") > 0
    assert glsw.edit_distance(["queries.fasta"], ["queries.fast"], engine="host") == [1]


def test_mistyped_option() -> None:
    with pytest.raises(TypeError, match=r"edit_distance\(\) has no option 'mod'"):
        glsw.edit_distance("a", "b", mod="infix")
