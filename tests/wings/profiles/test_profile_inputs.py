"""What was typed, what came: nucleic acid, proteins and two tracks in searches by profiles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import glsw
from glsw.sequences.nucleic import KindWarning

PROTEIN = "MKVLAWHEAGAWGHEEPLQNRSTV"
DNA = "ACGTTGCATGCAAGCTTACGGATC"
HAS_DNA = (
    "dna.fa has DNA, but the query is scored as protein: give --translated-target to search DNA "
    "with proteins, or --protein if it has proteins\n"
)
LOOKS = "dna.fa looks like DNA, but is scored as protein\n"
REFUSED = "target looks like nucleic acid, but query like protein"


def test_iterated_searches() -> None:
    options: dict[str, Any] = {"iterations": 1, "inclusion": 1.0, "engine": "reference"}
    with pytest.warns(KindWarning, match="query and target look like nucleic acid"):
        (found,) = glsw.iterate(DNA * 2, [DNA * 2], strand="plus", **options)
    assert found.result[0].score == 4 * len(DNA)
    with pytest.raises(ValueError, match=REFUSED):
        glsw.iterate(PROTEIN, [DNA], **options)
    scoring = glsw.TwoTrackScoring.of(glsw.Scoring.blast(), glsw.Scoring.blast())
    with pytest.raises(ValueError, match="an iterated search does not support two tracks"):
        list(glsw.iterate("MDKV", ["MDKV"], scoring=scoring))


def test_profiles_are_of_proteins() -> None:
    profile = glsw.Profile.from_alignment([PROTEIN, PROTEIN])
    assert glsw.search(profile, [PROTEIN], engine="reference", statistics="none")
    with pytest.raises(ValueError, match=REFUSED):
        glsw.search(profile, [DNA], engine="reference")


def test_profiles_search_frames() -> None:
    """A gene on the minus strand, between others."""
    profile = glsw.Profile.from_alignment(["MASKGEELFTGVVPILVELD"] * 2)
    gene = "ATGGCTAGCAAAGGAGAAGAACTTTTCACTGGAGTTGTCCCAATTCTTGTTGAATTAGAT"
    targets = [f"AC{gene[:30]}T", f"G{gene.translate(str.maketrans('ACGT', 'TGCA'))[::-1]}CA"]
    options: dict[str, Any] = {"engine": "reference", "target_genetic_code": 1}
    for query in (profile, "MASKGEELFTGVVPILVELD"):
        best = glsw.search(query, targets, **options)[0]
        assert (best.target.letters, best.hsps[0].target_context.frame) == (targets[1], -3)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, letters in {"protein": PROTEIN, "dna": DNA}.items():
        (tmp_path / f"{name}.fa").write_text(f">{name}\n{letters}\n")
    return tmp_path


def test_a_profile_does_not_search_dna(files: Path, run: Callable[..., SimpleNamespace]) -> None:
    (files / "family.fa").write_text(f">a\n{PROTEIN}\n>b\n{PROTEIN[:-1]}W\n")
    words = "search family.fa {} --profile --engine reference --statistics none"
    assert run(words.format("protein.fa")).status == 0
    done = run(words.format("dna.fa"))
    assert (done.status, done.err) == (2, f"glsw: {HAS_DNA}")
    done = run(words.format("dna.fa --protein"))
    assert (done.status, done.err.endswith(LOOKS)) == (0, True)
