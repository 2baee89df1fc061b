"""Sequences and alignments of biotite and of scikit-bio."""

import sys

import biotite.sequence as biotite
import numpy as np
import pytest
import skbio
from biotite.sequence import align as biotite_align

import glsw
from glsw import Record, Scoring
from glsw.sequences.nucleic import KindWarning

QUERY, TARGET = "HEAGAWGHEE", "PAWHEAE"
SCORING = Scoring.blast()
GENE = "ACGTTGCATTGCANACG"


@pytest.fixture
def aligner() -> glsw.Aligner:
    return glsw.Aligner(SCORING, engine="reference")


@pytest.mark.parametrize("kind", [biotite.ProteinSequence, skbio.Protein])
def test_a_sequence_is_one_sequence(kind: type, aligner: glsw.Aligner) -> None:
    query, target = kind(QUERY), kind(TARGET)
    score = aligner.score(QUERY, TARGET)
    assert aligner.score(query, target) == score
    assert aligner.score_pairs([query, query], target).tolist() == [score, score]
    assert len(aligner.search(query, [target])) == 1
    assert glsw.edit_distance(query, target) == glsw.edit_distance(QUERY, TARGET)
    assert str(aligner.align(query, target)) == str(aligner.align(QUERY, TARGET))


def test_letters_of_others_decide_the_kind() -> None:
    for kind in (biotite.NucleotideSequence, skbio.DNA):
        with pytest.warns(KindWarning, match="nucleic acid"):
            assert glsw.score(kind(GENE), kind(GENE), engine="reference") == 30


def test_names_of_scikit_bio(aligner: glsw.Aligner) -> None:
    named = skbio.Protein(TARGET, metadata={"id": "t", "description": "of a test"})
    found = aligner.align(skbio.Protein(QUERY), named)
    assert (found.target.id, found.target.description) == ("t", "of a test")
    assert found.query.id == "query"


def test_symbols_that_are_no_letters() -> None:
    alphabet = biotite.Alphabet(["the", "cat", "rat"])
    one, other = (biotite.GeneralSequence(alphabet, words) for words in (["the", "cat"], ["the"]))
    assert glsw.edit_distance(one, other) == 1
    with pytest.raises(ValueError, match="not in the protein alphabet"):
        glsw.score(one, other, scoring=SCORING)


def test_alignment_of_biotite(aligner: glsw.Aligner) -> None:
    found = aligner.align("MKVAWGHEEW", "KVAWHEEW")
    shown = found.to_biotite()
    assert [str(each) for each in shown.sequences] == ["MKVAWGHEEW", "KVAWHEEW"]
    assert shown.get_gapped_sequences() == list(found.rows()[::2])
    matrix = biotite_align.SubstitutionMatrix.std_protein_matrix()
    assert shown.score == found.score == biotite_align.score(shown, matrix, (-12, -1), False)
    assert isinstance(shown.sequences[0], biotite.ProteinSequence)
    there = found.coordinates[::-1]
    assert np.array_equal(shown.trace[0], there[:, 0])
    assert np.array_equal(shown.trace[-1], there[:, -1] - 1)


def test_other_alignments_of_biotite() -> None:
    nucleic = glsw.Aligner(Scoring.nucleotide(), engine="reference")
    assert isinstance(
        nucleic.align(GENE, GENE).to_biotite().sequences[1], biotite.NucleotideSequence
    )
    with pytest.warns(RuntimeWarning, match="J scored as X"):
        rare = glsw.Aligner(SCORING, engine="reference").align("MKJVW", "MKJVW").to_biotite()
    assert [str(each) for each in rare.sequences] == ["MKJVW", "MKJVW"]  # biotite has no J
    empty = glsw.Aligner(SCORING, engine="reference").align("W", "P").to_biotite()
    assert empty.trace.shape == (0, 2)


def test_alignment_of_scikit_bio(aligner: glsw.Aligner) -> None:
    found = aligner.align(Record("q", "a query", "MKVAWGHEEW"), "kvawheew")
    shown = found.to_skbio()
    assert [str(each) for each in shown] == ["KVAWGHEEW", "KVAW-HEEW"]
    assert shown[0].metadata == {"id": "q", "description": "a query"}
    assert shown.metadata["score"] == found.score
    nucleic = glsw.Aligner(Scoring.nucleotide(), engine="reference")
    assert isinstance(nucleic.align("ACGUUGCA", "ACGUUGCA").to_skbio()[0], skbio.RNA)
    assert isinstance(nucleic.align("ACGTTGCA", "ACGTTGCA").to_skbio()[0], skbio.DNA)


@pytest.mark.parametrize(("method", "name"), [("to_biotite", "biotite"), ("to_skbio", "skbio")])
def test_a_package_that_is_not_there(
    method: str, name: str, aligner: glsw.Aligner, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (name, "biotite.sequence"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=f"{method} needs {name}"):
        getattr(aligner.align(QUERY, TARGET), method)()
