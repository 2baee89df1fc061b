"""What is one sequence and what is several: all kinds of input to all verbs."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from Bio.Seq import MutableSeq, Seq
from Bio.SeqRecord import SeqRecord
from subtests import with_subtests

import glsw
from glsw.sequences.records import is_single, read_all
from glsw.wings.three.aligner import alignments3, score3

A, B, TARGET = "HEAGAWGHEE", "PAWHEAEMKV", "PAWHEAE"
CODES = glsw.PROTEIN.encode(A), glsw.PROTEIN.encode(B)
ONE: dict[str, Callable[[Path], Any]] = {
    "str": lambda folder: A,
    "bytes": lambda folder: A.encode(),
    "bytearray": lambda folder: bytearray(A.encode()),
    "Record": lambda folder: glsw.Record("a", "", A),
    "Seq": lambda folder: Seq(A),
    "MutableSeq": lambda folder: MutableSeq(A),
    "SeqRecord": lambda folder: SeqRecord(Seq(A), id="a"),
    "codes": lambda folder: CODES[0],
    "codes of 64 bits": lambda folder: CODES[0].astype(np.int64),
    "tuple of numbers": lambda folder: tuple(CODES[0].tolist()),
    "tuple of NumPy's numbers": lambda folder: tuple(CODES[0]),
    "array of Python": lambda folder: array("B", CODES[0].tolist()),
    "memoryview": lambda folder: memoryview(CODES[0].tobytes()),
}
SEVERAL: dict[str, Callable[[Path], Any]] = {
    "list": lambda folder: [A, B],
    "tuple": lambda folder: (A, B),
    "list of bytes": lambda folder: [A.encode(), B.encode()],
    "generator": lambda folder: (each for each in (A, B)),
    "iterator": lambda folder: iter([A, B]),
    "keys": lambda folder: {A: 0, B: 0}.keys(),
    "list of Record": lambda folder: [glsw.Record("a", "", A), glsw.Record("b", "", B)],
    "list of Seq": lambda folder: [Seq(A), MutableSeq(B)],
    "tuple of Seq": lambda folder: (Seq(A), Seq(B)),
    "list of SeqRecord": lambda folder: [SeqRecord(Seq(each), id=each) for each in (A, B)],
    "list of codes": lambda folder: list(CODES),
    "tuple of codes": lambda folder: CODES,
    "list of tuples": lambda folder: [tuple(each.tolist()) for each in CODES],
    "codes of two dimensions": lambda folder: np.stack(CODES),
    "array of S": lambda folder: np.array([A.encode(), B.encode()]),
    "array of U": lambda folder: np.array([A, B]),
    "array of objects": lambda folder: np.array([A, B], object),
    "Sequences": lambda folder: glsw.Sequences.of(CODES),
    "Arrow's strings": lambda folder: pa.array([A, B]),
    "Arrow's binaries": lambda folder: pa.array([A.encode(), B.encode()]),
    "Arrow's lists": lambda folder: pa.array([c.tolist() for c in CODES], pa.list_(pa.uint8())),
    "path": lambda folder: folder / "two.fa",
    "list of paths": lambda folder: [folder / "a.fa", folder / "b.fa"],
    "mixed list": lambda folder: [A, Seq(B)],
    "records of a file": lambda folder: read_all(folder / "two.fa"),
}
NEITHER: dict[str, Callable[[Path], Any]] = {
    "list of numbers": lambda folder: CODES[0].tolist(),
    "array of floats": lambda folder: CODES[0].astype(float),
    "number": lambda folder: 5,
    "dict": lambda folder: {"a": A},
    "list of None": lambda folder: [None],
    "None": lambda folder: None,
    "array without axes": lambda folder: np.array(3),
}
OPTIONS: dict[str, Any] = {"engine": "reference"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of both sequences, and one of each."""
    for name, letters in (("two", [A, B]), ("a", [A]), ("b", [B])):
        text = "".join(f">{each}\n{each}\n" for each in letters)
        (tmp_path / f"{name}.fa").write_text(text)
    return tmp_path


# What each verb makes of a source with the one target: numbers for each sequence.
VERBS: dict[str, Callable[[Any], Any]] = {
    "score": lambda given: glsw.score(given, [TARGET, TARGET], **OPTIONS),
    "score, as target": lambda given: glsw.score(TARGET, given, **OPTIONS),
    "score_pairs": lambda given: glsw.score_pairs(given, TARGET, **OPTIONS),
    "score_matrix": lambda given: glsw.score_matrix(given, TARGET, **OPTIONS)[:, 0],
    "align_pairs": lambda given: glsw.align_pairs(given, TARGET, **OPTIONS).score,
    "search": lambda given: [
        result[0].score
        for result in _listed(glsw.search(given, [TARGET], statistics="none", **OPTIONS))
    ],
    "search, as database": lambda given: [
        hit.score
        for hit in sorted(
            glsw.search(TARGET, given, statistics="none", **OPTIONS), key=lambda hit: hit.score
        )
    ],
    "neighbors": lambda given: glsw.neighbors(given, TARGET, cutoff=1, **OPTIONS).data,
    "clusters": lambda given: 17 + 27 * np.arange(len(glsw.clusters(given, cutoff=1, **OPTIONS))),
}
ONE_ONLY: dict[str, Callable[[Any], Any]] = {
    "align": lambda given: glsw.align(given, TARGET, **OPTIONS).score,
    "align, as target": lambda given: glsw.align(TARGET, given, **OPTIONS).score,
    "alignments": lambda given: next(glsw.alignments(given, TARGET, **OPTIONS)).score,
    "iterate": lambda given: (
        glsw.iterate(given, [TARGET], iterations=1, inclusion=1.0, **OPTIONS)[0].result[0].score
    ),
}
THREE: dict[str, Callable[[Any], Any]] = {
    "score3": lambda given: score3(given, TARGET, TARGET, **OPTIONS),
    "align3": lambda given: glsw.align3(TARGET, given, TARGET, **OPTIONS).score,
    "alignments3": lambda given: next(alignments3(TARGET, TARGET, given, **OPTIONS)).score,
}


def _listed(found: Any) -> list[Any]:
    return [found] if isinstance(found, glsw.SearchResult) else list(found)


@pytest.mark.parametrize("verb", VERBS)
@with_subtests("kind", ONE)
def test_one_sequence(verb: str, kind: str, folder: Path) -> None:
    expected = [17, 17] if verb == "score" else [17]
    assert np.ravel(VERBS[verb](ONE[kind](folder))).tolist() == expected


@pytest.mark.parametrize("verb", VERBS)
@with_subtests("kind", SEVERAL)
def test_several_sequences(verb: str, kind: str, folder: Path) -> None:
    assert np.ravel(VERBS[verb](SEVERAL[kind](folder))).tolist() == [17, 44]


@pytest.mark.parametrize("verb", ONE_ONLY | THREE)
@with_subtests("kind", ONE)
def test_one_sequence_where_one_is_expected(verb: str, kind: str, folder: Path) -> None:
    expected = 17 if verb in ONE_ONLY else 74
    assert (ONE_ONLY | THREE)[verb](ONE[kind](folder)) == expected
    assert (ONE_ONLY | THREE)[verb](folder / "a.fa") == expected


@pytest.mark.parametrize("verb", ONE_ONLY | THREE)
@with_subtests("kind", SEVERAL)
def test_several_sequences_where_one_is_expected(verb: str, kind: str, folder: Path) -> None:
    with pytest.raises((TypeError, ValueError), match="one sequence"):
        (ONE_ONLY | THREE)[verb](SEVERAL[kind](folder))


@pytest.mark.parametrize("verb", VERBS | ONE_ONLY | THREE)
@with_subtests("kind", NEITHER)
def test_no_sequence(verb: str, kind: str, folder: Path) -> None:
    if kind == "None" and verb == "clusters":
        return
    with pytest.raises(TypeError) as found:
        (VERBS | ONE_ONLY | THREE)[verb](NEITHER[kind](folder))
    assert "\n" not in str(found.value)
    if kind == "list of numbers" and verb in VERBS:
        assert "a tuple or an array of numbers is one" in str(found.value)


def test_scores_of_one_are_numbers(folder: Path) -> None:
    for kind, made in ONE.items():
        assert isinstance(glsw.score(made(folder), made(folder), **OPTIONS), int), kind
    for kind, made in SEVERAL.items():
        assert glsw.score(made(folder), made(folder), **OPTIONS).tolist() == [62, 58], kind


def test_dot_plots(device: Any, folder: Path) -> None:
    options = {"side": 5, "device": device}
    for expected, kinds in ((1, ONE), (2, SEVERAL)):
        for kind, made in kinds.items():
            plot = glsw.dotplot(made(folder), TARGET, **options)
            assert len(plot.query.segments) == expected, kind


# edit distances: letters are any objects, numbers too

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


@with_subtests("kind", ONE | SEVERAL)
def test_the_rule(kind: str, folder: Path) -> None:
    given = (ONE | SEVERAL)[kind](folder)
    assert is_single(given) == (kind in ONE)
    assert is_single(given, any_letters=True) == (kind in ONE or kind == "tuple")
