"""What was typed, what came: nucleic acid and proteins on either side of every verb."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord
from subtests import with_subtests
from wing import of_wing, wing

import glsw
from glsw.inputs.source import Source
from glsw.sequences.fasta import read_all
from glsw.sequences.nucleic import Kind, KindWarning, kind_of

PROTEIN = "MKVLAWHEAGAWGHEEPLQNRSTV"
DNA = "ACGTTGCATGCAAGCTTACGGATC"
LETTERS = {
    "protein": PROTEIN,
    "dna": DNA,
    "rna": DNA.lower().replace("t", "u"),
    "iupac": f"{DNA[:20]}RYKM",
    "short": "GATTACA",
}
BLAST, NUCLEOTIDE = glsw.Scoring.blast(), glsw.Scoring.nucleotide()


def _search(query: Any, target: Any, **options: Any) -> Any:
    return [(hit.score, hit.alignment.cigar) for hit in glsw.search(query, [target], **options)]


VERBS: dict[str, Callable[..., Any]] = {
    "score": glsw.score,
    "score_matrix": lambda q, t, **o: glsw.score_matrix([q], [t], **o).tolist(),
    "score_pairs": lambda q, t, **o: glsw.score_pairs([q], [t], **o).tolist(),
    "align_pairs": lambda q, t, **o: glsw.align_pairs([q], [t], **o).cigars(),
    "align": lambda q, t, **o: glsw.align(q, t, **o).cigar,
    "alignments": lambda q, t, **o: [a.score for a in glsw.alignments(q, t, **o)],
    "search": _search,
    "neighbors": lambda q, t, **o: glsw.neighbors([q], [t], cutoff=1, **o).data.tolist(),
    "reciprocal_best_hits": lambda q, t, **o: glsw.reciprocal_best_hits(
        [q], [t], **o
    ).value.tolist(),
}
VERBS3: dict[str, Callable[..., Any]] = of_wing(
    "three",
    {
        "score3": lambda q, t, **o: wing("three.aligner").score3(q, q, t, **o),
        "align3": lambda q, t, **o: list(glsw.align3(q, q, t, **o)),
        "alignments3": lambda q, t, **o: [
            int(a.score) for a in wing("three.aligner").alignments3(q, q, t, max_alignments=2, **o)
        ],
    },
)
FEW = "(query|target|a|b|c) has fewer than 10 letters, too few to tell nucleic acid from protein"
SCORED = (
    ("dna", "dna", "nucleotide"),
    ("rna", "dna", "nucleotide"),
    ("iupac", "dna", "nucleotide"),
    ("dna", "iupac", "nucleotide"),
    ("short", "dna", "nucleotide"),
    ("dna", "short", "nucleotide"),
    ("short", "short", "nucleotide"),
    ("protein", "protein", "protein"),
    ("short", "protein", "few"),
    ("protein", "short", "few"),
)
REFUSED = (
    ("protein", "dna"),
    ("protein", "rna"),
    ("protein", "iupac"),
    ("dna", "protein"),
    ("iupac", "protein"),
)


def told(call: Callable[[], Any]) -> tuple[Any, list[warnings.WarningMessage]]:
    """Return what a call returns, and its warnings of kinds."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KindWarning)
        value = call()
    return value, [each for each in caught if issubclass(each.category, KindWarning)]


def compared(verb: Callable[..., Any], query: str, target: str, came: str, scoring: Any) -> None:
    """Check what a verb computes without a scoring, and what it says, at the line of the call."""
    given, options = (LETTERS[query], LETTERS[target]), {"engine": "reference"}
    found, caught = told(lambda: verb(*given, **options))
    assert repr(found) == repr(verb(*given, scoring=scoring, **options))
    expected = {"nucleotide": "look like nucleic acid", "few": "fewer than 10 letters"}
    if came == "protein":
        assert not caught
    else:
        assert caught
        assert all(expected[came] in str(each.message) for each in caught)
        assert all(each.filename == __file__ for each in caught)
        assert came == "few" or len(caught) == 1


@pytest.mark.parametrize("verb", VERBS)
@with_subtests("query, target, came", SCORED)
def test_what_is_scored(verb: str, query: str, target: str, came: str) -> None:
    scoring = NUCLEOTIDE if came == "nucleotide" else BLAST
    compared(VERBS[verb], query, target, came, scoring)


@pytest.mark.parametrize("verb", VERBS3)
@with_subtests("query, target, came", SCORED)
def test_what_is_scored_of_three(verb: str, query: str, target: str, came: str) -> None:
    scoring = NUCLEOTIDE if came == "nucleotide" else BLAST
    compared(VERBS3[verb], query, target, came, glsw.Scoring3.sum_of_pairs(scoring))


@pytest.mark.parametrize("verb", VERBS | VERBS3)
@with_subtests("query, target", REFUSED)
def test_what_is_refused(verb: str, query: str, target: str) -> None:
    given = LETTERS[query], LETTERS[target]
    call = (VERBS | VERBS3)[verb]
    with pytest.raises(
        ValueError, match=r"looks like nucleic acid, but \w+ like protein: "
    ) as found:
        call(*given, engine="reference")
    assert str(found.value).endswith("scoring=glsw.Scoring.blast() takes both for proteins")
    offer = f"{'target_' if query == 'protein' else ''}genetic_code=1"
    of_pairs = verb in (
        "score",
        "score_pairs",
        "align",
        "alignments",
        "align_pairs",
        "score_matrix",
    )
    assert (f" {offer} translates" in str(found.value)) == (verb == "search")
    assert (f"glsw.search(..., {offer}) translates" in str(found.value)) == of_pairs
    with warnings.catch_warnings():  # what is asked for counts, and is said
        warnings.simplefilter("error")
        scoring = glsw.Scoring3.sum_of_pairs(BLAST) if verb in VERBS3 else BLAST
        with pytest.raises(KindWarning, match=r"looks like nucleic acid, but BLOSUM62 scores prot"):
            call(*given, scoring=scoring, engine="reference")


@with_subtests("letters, came", [(DNA, "dna"), ("GATTACA", "dna"), (PROTEIN, "protein")])
def test_one_side(letters: str, came: str) -> None:
    scoring = NUCLEOTIDE if came == "dna" else BLAST
    options: dict[str, Any] = {"cutoff": 20, "distance": "self", "engine": "reference"}
    for verb in (glsw.clusters, glsw.neighbors):
        found, caught = told(lambda verb=verb: verb([letters, letters[:-2]], **options))
        expected = verb([letters, letters[:-2]], scoring=scoring, **options)
        assert repr(found) == repr(expected)
        assert len(caught) == (came == "dna")


def test_translated_queries() -> None:
    options: dict[str, Any] = {"genetic_code": 1, "engine": "reference"}
    found, caught = told(lambda: glsw.search("ATGAAAGTTCTGGCTTGGCATGAA", [PROTEIN], **options))
    assert (found[0].alignment.target.letters, caught) == (PROTEIN, [])
    with pytest.raises(ValueError, match="target looks like nucleic acid, but query is translated"):
        glsw.search(DNA, [DNA], **options)
    _, caught = told(lambda: glsw.search(DNA, ["GATTACA"], **options))
    assert [str(each.message).startswith("target has fewer than 10") for each in caught] == [True]


def test_an_aligner_without_a_scoring_is_for_proteins() -> None:
    aligner = glsw.Aligner(engine="reference")
    calls: list[Callable[[], Any]] = [
        lambda: aligner.score(DNA, DNA),
        lambda: aligner.ends(DNA, DNA),
        lambda: aligner.align(DNA, DNA),
        lambda: aligner.alignments(DNA, DNA),
        lambda: aligner.search(DNA, [DNA]),
        lambda: aligner.score_pairs([DNA], [DNA]),
        lambda: aligner.align_pairs([DNA], [DNA]),
        lambda: aligner.score_matrix([DNA]),
        lambda: aligner.neighbors([DNA], cutoff=1),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"like nucleic acid.*glsw.Aligner\(glsw.Scoring.nucl"):
            call()
    with pytest.raises(ValueError, match="target looks like nucleic acid, but query like protein"):
        aligner.score(PROTEIN, DNA)
    with pytest.warns(KindWarning, match="query and target look like nucleic acid, but an aligner"):
        aligner.score("GATTACA", "GCATGCT")
    assert aligner.score(PROTEIN, "GATTACA") > 0  # it is for proteins, and a peptide may be one


def test_a_scoring_is_not_second_guessed() -> None:
    match = glsw.Scoring.match_mismatch(2, -1, 1, 1, alphabet=glsw.PROTEIN)
    _, caught = told(lambda: glsw.score(DNA, DNA, scoring=BLAST, engine="reference"))
    assert not caught
    for scoring in (NUCLEOTIDE, match, glsw.Scoring.from_array(np.eye(4), "ACGT", 1, 1)):
        value, caught = told(
            lambda scoring=scoring: glsw.score(DNA, DNA, scoring=scoring, engine="reference")
        )
        assert value == scoring.matrix[0, 0] * len(DNA) / scoring.scale
        assert not caught


def test_it_is_said_once_for_a_line() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            glsw.score(DNA, DNA, engine="reference")
    assert len(caught) == 1
    assert issubclass(caught[0].category, UserWarning)
    assert (caught[0].filename, caught[0].lineno) == (__file__, _line_of("for _ in range(3)") + 1)


def _line_of(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(k for k, line in enumerate(lines, start=1) if text in line)


FORMS: dict[str, Callable[[str, Path], Any]] = {
    "str": lambda text, path: text,
    "bytes": lambda text, path: text.encode(),
    "Record": lambda text, path: glsw.Record("a", "", text),
    "Seq": lambda text, path: Seq(text),
    "SeqRecord": lambda text, path: SeqRecord(Seq(text), id="a"),
    "list": lambda text, path: [text],
    "list of Seq": lambda text, path: [Seq(text)],
    "tuple": lambda text, path: (text,),
    "iterator": lambda text, path: iter([text]),
    "array of str": lambda text, path: np.array([text]),
    "array of bytes": lambda text, path: np.array([text.encode()]),
    "Arrow": lambda text, path: pa.array([text]),
    "path": lambda text, path: path,
    "list of paths": lambda text, path: [path],
    "records of a file": lambda text, path: read_all(path),
}


@with_subtests("form", FORMS)
@with_subtests("name", LETTERS)
def test_all_forms_are_looked_at(form: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "sequences.fa"
    path.write_text(f">a\n{LETTERS[name]}\n")
    kind = Source(FORMS[form](LETTERS[name], path)).kind
    assert kind.nucleic is (name != "protein")
    assert kind.sure is (name != "short")


@with_subtests("form", FORMS)
def test_all_forms_are_refused_as_a_target(form: str, tmp_path: Path) -> None:
    path = tmp_path / "genome.fa"
    path.write_text(f">a\n{DNA}\n")
    for verb in (glsw.score, glsw.search, glsw.score_pairs, glsw.score_matrix):
        with pytest.raises(
            ValueError, match=r"target.* looks like nucleic acid, but query like pro"
        ):
            verb(PROTEIN, FORMS[form](DNA, path), engine="reference")


@with_subtests(
    "source",
    [
        glsw.DNA.encode(DNA),
        [glsw.DNA.encode(DNA)],
        np.zeros((2, 30), np.uint8),
        tuple(range(20)),
        glsw.Sequences.of([np.zeros(30, np.uint8)]),
        pa.array([[0, 1]], pa.list_(pa.uint8())),
        [],
        [5],
        {"a": DNA},
        None,
        [Seq(None, 30)],
        Path("no such file"),
        np.array(3),
    ],
)
def test_nothing_is_guessed(source: Any) -> None:
    assert Source(source).kind.nucleic is None


def test_codes_are_of_proteins() -> None:
    codes = glsw.PROTEIN.encode(PROTEIN)
    for verb in (glsw.score, glsw.score_pairs):
        found, caught = told(lambda verb=verb: verb(codes, codes, engine="reference"))
        assert (int(np.ravel(found)[0]), caught) == (glsw.score(PROTEIN, PROTEIN), [])


def test_databases_say_what_they_are(tmp_path: Path) -> None:
    for name in ("dna", "protein"):
        (tmp_path / f"{name}.fa").write_text(f">{name}\n{LETTERS[name]}\n")
    with pytest.warns(KindWarning, match=r"dna.fa looks like nucleic acid, so .* glsw.DNA: pass"):
        dna = glsw.makedb(tmp_path / "dna.fa", tmp_path / "dna.db")
    protein = glsw.makedb(tmp_path / "protein.fa", tmp_path / "protein.db")
    assert (dna.alphabet, protein.alphabet) == (glsw.DNA, glsw.PROTEIN)
    for database in (dna, tmp_path / "dna.db"):
        assert Source(database).kind == Kind(True)
        with pytest.warns(KindWarning, match="look like nucleic acid"):
            assert glsw.search(DNA, database, engine="reference")[0].score == 2 * len(DNA)
        with pytest.raises(ValueError, match="looks like nucleic acid, but query like protein"):
            glsw.search(PROTEIN, database, engine="reference")
    with pytest.raises(ValueError, match="query looks like nucleic acid, but target like protein"):
        glsw.search(DNA, protein, engine="reference")
    with pytest.raises(ValueError, match="give the alphabet, or make two databases"):
        glsw.makedb([tmp_path / "protein.fa", tmp_path / "dna.fa"], tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe, text = tmp_path / "pipe", f">a\n{DNA}\n".encode()
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[text])
    writer.start()
    with pytest.warns(KindWarning, match="look like nucleic acid"):
        assert glsw.score(DNA, pipe, engine="reference").tolist() == [2 * len(DNA)]
    writer.join()


def test_file_names_are_still_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r'Path\("queries.fasta"\) reads the file of that name'):
        glsw.search("queries.fasta", [DNA], engine="reference")


def test_the_rule() -> None:
    def of(common: int, ambiguous: int, others: int) -> bool | None:
        return kind_of(["A" * common, "R" * ambiguous, "E" * others]).nucleic

    assert (of(75, 25, 0), of(74, 26, 0)) == (True, False)
    assert (of(95, 0, 5), of(94, 0, 6)) == (True, False)
    assert (of(80, 15, 5), of(80, 14, 6)) == (True, False)
    assert kind_of(["A" * 100_000, "E" * 100_000]) == Kind(True, 100_000)
    assert kind_of(["acgtunACGTUN", b"ryswkm"[:3], bytearray(b"B")]) == Kind(True, 16)
    assert kind_of(["é" * 10 + "A" * 10]).nucleic is False


@pytest.mark.realdata
def test_the_rule_tells_real_sequences(data: Path) -> None:
    for path in sorted((data / "dna").glob("*.f*")):
        assert kind_of(each.letters for each in glsw.read(path)) == Kind(
            True, min(100_000, sum(map(len, glsw.read(path))))
        )
    for name in ("proteins/ecoli_K12_sprot_4403.fasta.gz", "scop/scop20_half.fasta.gz"):
        assert not any(kind_of([each.letters]).nucleic for each in glsw.read(data / name))


def test_strands_that_are_not_compared() -> None:
    for verb in (glsw.score, glsw.align, glsw.alignments, glsw.score_pairs, glsw.align_pairs):
        with pytest.warns(KindWarning, match=r"only the given strands are compared, glsw\.search"):
            verb(DNA, [DNA] if "pairs" in verb.__name__ else DNA, engine="reference")
    with pytest.warns(KindWarning) as caught:
        glsw.search(DNA, [DNA], engine="reference")
    assert "strands" not in str(caught[0].message)


def test_nucleic_acid_among_proteins_is_named() -> None:
    """Of queries and of targets, one and several; not without need."""
    protein, dna = "MKVLAWHEAGAWGHEEPLQNRSTVHEAGAW", "ACGTTGCATGCAAGCTTACGGATCACGTNN"
    proteins, mixed = [protein] * 3, [protein, protein, dna]
    options: dict[str, Any] = {"engine": "reference", "statistics": "none"}

    def said(queries: Any, targets: Any, **more: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            list(glsw.search(queries, targets, **options, **more))
        return [str(each.message) for each in caught]

    one = "target target 3 looks like nucleic acid, but is scored as protein"
    assert said(proteins, mixed) == said(protein, mixed) == [one]
    two = "query query 4 and 1 other look like nucleic acid, but are scored as protein"
    assert said([*proteins, dna, dna.lower()], proteins) == [two]
    named = [glsw.Record("evil\u202e", "", dna), *proteins]
    assert said(proteins, named)[0].startswith(r"target evil\u202e looks")
    for quiet in (proteins, [protein, protein, dna[:29]], [protein, protein, "A" * 29 + "W" * 60]):
        assert not said(proteins, quiet)
    assert not said([dna, dna], [dna], scoring=glsw.Scoring.nucleotide())
