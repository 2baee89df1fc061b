"""Sequences and alignments of biotite and of scikit-bio, distances of scirpy."""

import sys
from typing import Any

import biotite.sequence as biotite
import doc_examples
import numpy as np
import pytest
import skbio
from biotite.sequence import align as biotite_align
from program import ROOT

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


@pytest.mark.parametrize(
    ("method", "name", "found"),
    [("to_biotite", "biotite", "biotite"), ("to_skbio", "skbio", "scikit-bio")],
)
def test_a_package_that_is_not_there(
    method: str, name: str, found: str, aligner: glsw.Aligner, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (name, "biotite.sequence"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=f"^{method} needs {found}: pip install {found}$"):
        getattr(aligner.align(QUERY, TARGET), method)()


@pytest.fixture
def adapted() -> Any:
    """The class of docs/NEIGHBORS.md; scirpy brings too much to be a dependency of the tests."""
    pytest.importorskip("scirpy", reason="scirpy is not installed: pip install scirpy")
    blocks = doc_examples.blocks(ROOT / "docs" / "NEIGHBORS.md")
    (code,) = (each.code for each in blocks if "class Exact" in each.code)
    names: dict[str, Any] = {}
    exec(code, names)
    return names["Exact"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"subst_mat": "pam120", "gap_open": 12, "gap_extend": 1}])
def test_alignment_distances_of_scirpy(adapted: Any, options: dict[str, Any]) -> None:
    from scirpy.ir_dist.metrics import AlignmentDistanceCalculator

    random = np.random.default_rng(4)
    letters = list("ACDEFGHIKLMNPQRSTVWY")
    drawn = {"".join(random.choice(letters[:5], n)) for n in random.integers(1, 20, 150)}
    some, others = np.array(sorted(drawn))[:100], np.array(sorted(drawn))[80:]
    for cutoff in (0, 10, 40):
        own = AlignmentDistanceCalculator(cutoff, n_jobs=1, **options)
        new = adapted(cutoff, n_jobs=1, **options)
        for pair in ((some,), (some, others)):
            expected, found = own.calc_dist_mat(*pair), new.calc_dist_mat(*pair)
            assert expected.nnz > 0
            assert found.dtype == expected.dtype
            assert (found != expected).nnz == 0
