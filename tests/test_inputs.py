"""What is one sequence and what is several: all kinds of input to all verbs."""

from __future__ import annotations

import re
import sys
import warnings
from collections import UserString
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from kinds_of_input import NEITHER, ONE, SEVERAL, A, B, files_of_two
from subtests import with_subtests
from wing import of_wing, wing

import glsw
from glsw.inputs import source
from glsw.inputs.source import Source, is_single
from glsw.sequences import alphabet
from glsw.sequences.nucleic import Kind

TARGET = "PAWHEAE"
OPTIONS: dict[str, Any] = {"engine": "reference"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return files_of_two(tmp_path)


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
}
ONE_ONLY |= of_wing(
    "profiles",
    {
        "iterate": lambda given: (
            glsw.iterate(given, [TARGET], iterations=1, inclusion=1.0, **OPTIONS)[0].result[0].score
        ),
    },
)
_MODULE = "three.aligner"
THREE: dict[str, Callable[[Any], Any]] = of_wing(
    "three",
    {
        "score3": lambda given: wing(_MODULE).score3(given, TARGET, TARGET, **OPTIONS),
        "align3": lambda given: glsw.align3(TARGET, given, TARGET, **OPTIONS).score,
        "alignments3": lambda given: (
            next(wing(_MODULE).alignments3(TARGET, TARGET, given, **OPTIONS)).score
        ),
    },
)


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


@with_subtests("kind", ONE | SEVERAL)
def test_the_rule(kind: str, folder: Path) -> None:
    given = (ONE | SEVERAL)[kind](folder)
    assert is_single(given) == (kind in ONE)
    assert is_single(given, any_letters=True) == (kind in ONE or kind == "tuple")


class Sequence(UserString):
    """Sequences of a package that nobody has heard of."""


@pytest.mark.parametrize("verb", VERBS | ONE_ONLY | THREE)
def test_a_new_kind_of_input_is_one_entry(
    verb: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("unheard")
    monkeypatch.setattr(module, "Sequence", Sequence, raising=False)
    monkeypatch.setitem(sys.modules, "unheard", module)
    monkeypatch.setitem(source._TYPES, "unheard", ("Sequence",))
    several = Sequence(A), Sequence(B)
    assert Source(several[0]).single
    assert Source(several).kind == Kind(False, len(A + B))
    compute = (VERBS | ONE_ONLY | THREE)[verb]
    assert np.array_equal(compute(several[0]), compute(A))
    if verb in VERBS:
        assert np.array_equal(compute(several), compute([A, B]))


def test_only_the_inputs_package_walks_what_users_pass() -> None:
    package = Path(glsw.__file__).parent
    walks = re.compile(
        r"as_py|\bis_single\(|sequence_types\("
        r"|isinstance\(.*(SeqRecord|pyarrow|skbio|biotite|PositionalQuery\))"
    )
    others = "inputs", "wings/biopython", "wings/series"  # by Biopython's rules; recordings
    found = {}
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        if not name.startswith(others) and (walk := walks.search(path.read_text("utf-8"))):
            found[name] = walk[0]
    assert not found
    imports = {
        name
        for path in package.rglob("*.py")
        if not path.relative_to(package).as_posix().startswith("inputs")
        for names in re.findall(r"from glsw\.inputs\.source import (.+)", path.read_text("utf-8"))
        for name in names.split(", ")
    }
    assert imports <= {"Source", "Many", "One", "Single", "Queries", "NUMBERS", "letters_of_item"}


@pytest.mark.parametrize("given", [("PAWHEAE",), ("HEAGAWGHEE", "PAWHEAE")])
def test_each_sequence_is_encoded_once(
    given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    aligner, put = glsw.Aligner(engine="reference"), list[bytes]()
    translate, encode = alphabet.translate, alphabet.Alphabet.encode

    def counted(letters: Any, *table_and_codes: Any) -> None:
        put.append(bytes(letters))
        translate(letters, *table_and_codes)

    def encoded(self: Any, letters: str, **options: Any) -> Any:
        put.append(letters.encode())
        return encode(self, letters, **options)

    monkeypatch.setattr(alphabet, "translate", counted)
    monkeypatch.setattr(alphabet.Alphabet, "encode", encoded)
    query, target = Source(given[0]), Source(given[-1])
    for compute in (aligner.align, aligner.score, aligner.score_pairs, aligner.align_pairs):
        put.clear()
        compute(query, target)
        assert sorted(put) == sorted([given[0].encode(), given[-1].encode()])


@pytest.mark.parametrize("verb", ["score_pairs", "score_matrix", "score", "align_pairs"])
def test_iterators_are_read_once(verb: str) -> None:
    compute: Any = getattr(glsw.Aligner(engine="reference"), verb)
    found, expected = compute(iter([A, B]), iter([B, A])), compute([A, B], [B, A])
    if verb == "align_pairs":
        found, expected = found.score, expected.score
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("options", [{}, {"unknown": "X"}, {"lower_case_mask": True}])
@pytest.mark.parametrize("text", ["MKVUAWJ", "PAW1EAE", "pawheae", "PAWXEA*", ""])
def test_two_texts_score_as_records_do(text: str, options: dict[str, Any]) -> None:
    """They become codes without records: the same scores, warnings and errors."""
    aligner = glsw.Aligner(glsw.Scoring.blast(), **OPTIONS, **options)

    def scored(*pair: Any) -> tuple[Any, list[str]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found: Any = aligner.score(*pair)
            except ValueError as error:
                found = str(error)
        return found, [str(each.message) for each in caught]

    for pair in ((text, TARGET), (TARGET, text)):
        records = [
            glsw.Record(*each) for each in zip(("query", "target"), ("", ""), pair, strict=True)
        ]
        assert scored(*pair) == scored(*records)
