"""The verbs: modes, units of scores, options, and aligners that are closed."""

import gc
import inspect
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import glsw
from glsw import Aligner, Scoring
from glsw.options import AlignerOptions, SearchOptions, defaults_of
from glsw.scoring.gaps import MODES

ROOT = Path(__file__).parents[1]
DNA = Scoring.match_mismatch(2, -3, 5, 2)
PAIR = "HEAGAWGHEE", "PAWHEAE"


# Modes.


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_its_scoring(mode):
    scoring = Scoring.blast().in_mode(mode)
    expected = Aligner(scoring, engine="reference")
    aligner = Aligner(mode=mode, engine="reference")
    assert aligner.scoring.end_gaps == scoring.end_gaps
    score = expected.score(*PAIR)
    assert aligner.score(*PAIR) == score == aligner.align(*PAIR).score
    assert glsw.score(*PAIR, mode=mode, engine="reference") == score
    assert glsw.align(*PAIR, mode=mode, engine="reference").score == score
    assert glsw.score_matrix([PAIR[0]], [PAIR[1]], mode=mode, engine="reference") == [[score]]
    (hits,) = glsw.search([PAIR[0]], ["PAWHEAE"], mode=mode, engine="reference", composition=0)
    assert [hit.score for hit in hits] == ([score] if score > 0 else [])
    assert next(glsw.alignments(*PAIR, mode=mode, engine="reference")).score == score


def test_modes_contain_what_they_say():
    found = {
        mode: glsw.align("CCACGT", "ACGTTT", scoring=DNA, mode=mode, engine="reference")
        for mode in MODES
    }
    assert found["local"].cigar == "4="
    assert found["semiglobal"].cigar == "4="
    assert (found["semiglobal"].score, found["local"].score) == (8, 8)
    assert (found["global"].query_end, found["global"].target_end) == (6, 6)
    assert found["global"].score < 0


@pytest.mark.parametrize("mode", ["global", "semiglobal"])
def test_the_first_global_alignment_may_score_below_0(mode):
    aligner = Aligner(DNA, mode=mode, engine="reference")
    found = [each.score for each in aligner.alignments("AAAAAA", "CC")]
    assert found == ([-17] if mode == "global" else [])  # of free end gaps only: none
    assert [each.score for each in aligner.alignments("ACGT", "ACGT", max_alignments=1)] == [8]
    assert list(aligner.alignments("AAAAAA", "CC", min_score=1)) == []
    if mode == "global":
        with pytest.raises(ValueError, match=r"^max_alignments 2: 1 expected, as an alignment"):
            aligner.alignments("ACGT", "ACGT", max_alignments=2)


def test_modes_that_are_refused():
    with pytest.raises(ValueError, match=r"mode 'glocal': 'local', 'global', 'semiglobal' expec"):
        Aligner(mode="glocal")
    with pytest.raises(
        ValueError, match="mode 'local' and a scoring with end gaps cannot be combined"
    ):
        Aligner(DNA.in_mode("global"), mode="local")
    with pytest.raises(ValueError, match=r"engine 'scan'.*local"):
        Aligner(mode="global", engine="scan")


# Units.


@pytest.mark.parametrize(
    ("scoring", "kind", "expected"),
    [
        (Scoring.blast(), np.int32, [17, 17]),
        (Scoring.named("GONNET1992", 10, 0.5), np.float64, [19.2, 12]),
    ],
)
def test_all_scores_have_the_units_of_the_matrix(scoring, kind, expected):
    aligner = Aligner(scoring, engine="reference")
    query, targets = "HEAGAWGHEE", ["PAWHEAE", "HEAE"]
    scores = aligner.score(query, targets)
    for found in (
        scores,
        aligner.ends(query, targets).score,
        aligner.score_matrix([query], targets)[0],
    ):
        assert found.dtype == kind
        assert found.tolist() == expected
    assert aligner.score(query, targets[0]) == aligner.align(query, targets[0]).score == expected[0]


# Batches.


def test_batches_of_codes_score_as_their_letters():
    aligner = Aligner(Scoring.named("GONNET1992", 10, 0.5), engine="reference")
    encode = aligner.scoring.alphabet.encode
    queries, targets = ["HEAGAWGHEE", "MKV"], ["PAWHEAE", "MKVAW"]
    batch = glsw.Batch.pairwise(map(encode, queries), map(encode, targets))
    assert aligner.score(batch).tolist() == aligner.score(queries, targets).tolist()
    assert aligner.ends(batch).end.tolist() == aligner.ends(queries, targets).end.tolist()
    with pytest.raises(ValueError, match="code"):
        aligner.score(glsw.Batch.pairwise([np.array([99], np.uint8)], [encode("MKV")]))
    for wrong in ((batch, targets), (queries,), (glsw.Batch.of([[encode("MKV")] * 3]),)):
        with pytest.raises(TypeError, match=r"queries and targets, or a Batch of pairs alone"):
            aligner.score(*wrong)


# Options.


def test_options_are_those_of_the_aligner():
    parameters = inspect.signature(Aligner).parameters
    assert {name: each.default for name, each in parameters.items()} == defaults_of(AlignerOptions)
    for verb in (glsw.score, glsw.align, glsw.search, glsw.alignments, glsw.score_matrix):
        with pytest.raises(TypeError, match="engin"):
            verb(["MKV"], ["MKV"], engin="reference")


def test_signatures_list_all_options():
    of_aligner, of_search = defaults_of(AlignerOptions), defaults_of(SearchOptions)
    for verb, options in (
        (glsw.align, of_aligner),
        (Aligner.search, of_search),
        (glsw.search, of_aligner | of_search),
    ):
        parameters = inspect.signature(verb).parameters.values()
        listed = {each.name: each.default for each in parameters if each.kind == each.KEYWORD_ONLY}
        assert listed == options
    for name in glsw.__all__:
        if inspect.isfunction(verb := getattr(glsw, name)):
            kinds = {each.kind for each in inspect.signature(verb).parameters.values()}
            assert inspect.Parameter.VAR_KEYWORD not in kinds, name
    text = inspect.getdoc(glsw.search) or ""
    assert {*of_search} <= {*re.findall(r"^(\w+) : ", text, re.MULTILINE)}


def test_a_new_option_of_a_search_is_declared_in_three_places(tmp_path):
    shutil.copytree(ROOT / "glsw", tmp_path / "glsw", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "shaders", tmp_path / "shaders")
    for name, place, added in (
        (
            "options.py",
            '    composition: Annotated[Composition, "auto"]\n',
            "    fewest: Annotated[int, 0]\n",
        ),
        (
            "search/limits.py",
            "        within.check(name, settings[name])\n",
            '    if settings["fewest"] > 9:\n        raise ValueError("fewest: too many")\n',
        ),
        (
            "cli/search.py",
            '    """Which hits are listed."""\n\n',
            '    fewest: int | None = option("N: a new option")\n',
        ),
    ):
        path = tmp_path / "glsw" / name
        text = path.read_text(encoding="utf-8")
        assert text.count(place) == 1
        path.write_text(text.replace(place, place + added), encoding="utf-8")
    (tmp_path / "q.fasta").write_text(">q\nHEAGAWGHEE\n", encoding="utf-8")
    code = """
import glsw, inspect
from glsw.cli import main
assert inspect.signature(glsw.search).parameters["fewest"].default == 0
for call in (glsw.search, glsw.Aligner(engine="reference").search):
    try:
        call("MKV", ["MKV"], fewest=10)
    except ValueError as error:
        print(error)
words = ["search", "q.fasta", "q.fasta", "--engine", "reference", "--fewest"]
print(main([*words, "10"]), main([*words, "9", "--output", "found"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == ["fewest: too many"] * 2 + ["2 0"], done.stderr


# Closing.


@pytest.fixture
def closed(monkeypatch):
    """How often an aligner was closed."""
    times = []
    close = Aligner.close
    monkeypatch.setattr(Aligner, "close", lambda self: (times.append(1), close(self)))
    return times


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        (glsw.score, (PAIR[0], [PAIR[1]])),
        (glsw.score_matrix, [PAIR]),
        (glsw.search, PAIR),
        (glsw.alignments, PAIR),
    ],
)
def test_verbs_close_their_aligner(closed, verb, arguments):
    verb(*arguments, engine="reference")
    assert closed == [1]
    with pytest.raises(ValueError, match="letter '1'"):
        verb("M1V", arguments[-1], engine="reference")
    assert closed == [1, 1]


@pytest.mark.parametrize("verb", [glsw.score, glsw.align])
def test_an_aligner_for_single_pairs_is_kept_until_it_fails(monkeypatch, verb):
    made = []
    create = Aligner.__init__

    def counted(self, *args, **options):
        made.append(options)
        create(self, *args, **options)

    monkeypatch.setattr(Aligner, "__init__", counted)
    options = {"scoring": DNA, "engine": "reference"}
    found = [str(verb("ACGTACGT", "ACGTTACGT", **options)) for _ in range(3)]
    assert len(set(found)) == len(made) == 1
    assert str(verb("ACGTACGT", "ACGTTACGTCC", mode="global", **options)) not in found
    assert len(made) == 2
    with pytest.raises(ValueError, match="letter '1'"):
        verb("ACGTACG1", "ACGTTACGT", **options)
    verb("ACGTACGT", "ACGTTACGT", **options)
    assert len(made) == 3
    with pytest.raises(TypeError, match="scoring must be a Scoring"):
        verb("ACGT", "ACGT", scoring=[1])


def test_iterators_close_their_aligner(closed):
    search = partial(glsw.search, ["HEAGAWGHEE", "MKV"], ["PAWHEAE"], engine="reference")
    exhausted = search()
    assert closed == []
    list(exhausted)
    assert closed == [1]
    stopped = search()
    next(stopped)
    stopped.close()
    assert closed == [1, 1]
    dropped = search()
    next(dropped)
    del dropped
    gc.collect()
    assert closed == [1, 1, 1]


@pytest.mark.parametrize(
    ("verb", "wrong"),
    [(glsw.search, {"top": 0}), (glsw.alignments, {"max_alignments": 0})],
)
def test_errors_close_the_aligner(closed, verb, wrong):
    with pytest.raises(ValueError, match=r"1 or more|at least 1"):
        verb(*PAIR, engine="reference", **wrong)
    assert closed == [1]


# letters that count as others


RARE = "WUKWOLWJW", "WUKWOLWJW"


@pytest.mark.parametrize(
    "verb",
    [
        lambda: glsw.score(*RARE, engine="reference"),
        lambda: glsw.score_matrix([RARE[0]], [RARE[1]], engine="reference")[0, 0],
        lambda: glsw.align(*RARE, engine="reference").score,
        lambda: next(glsw.alignments(*RARE, engine="reference")).score,
        lambda: glsw.search(RARE[0], [RARE[1]], evalue=None, engine="reference").hits[0].score,
        lambda: next(glsw.search([RARE[0]], [RARE[1]], composition=0, engine="reference"))[0].score,
    ],
)
def test_rare_letters_are_one_warning(verb):
    said = "^2 letters U scored as C, 2 letters O as X, 2 letters J as X$"
    with pytest.warns(RuntimeWarning, match=said) as warned:
        score = verb()
    assert len(warned) == 1
    assert score == glsw.score("WCKWXLWXW", "WCKWXLWXW", engine="reference")


def test_rare_letters_stay_in_alignments():
    with pytest.warns(RuntimeWarning, match="scored as"):
        alignment = glsw.align("WUKWOLWJW", "WCKWuLWJW", engine="reference")
    assert alignment.rows() == ("WUKWOLWJW", "|:||.||||", "WCKWuLWJW")
    assert (alignment.identities, alignment.positives) == (7, 7)
    with pytest.warns(RuntimeWarning, match="scored as"):
        (hit,) = glsw.search("WUKWOLWJW", ["WCKWuLWJW"], engine="reference")
    assert hit.alignment.rows() == alignment.rows()
    with pytest.warns(RuntimeWarning, match="scored as"):
        pairs = glsw.align_pairs(["WUKWOLWJW", "WUW"], ["WCKWuLWJW", "WuW"], engine="reference")
    assert pairs.cigars() == [alignment.cigar, "3="] == ["1=1X2=1X4=", "3="]
    assert (pairs.identities.tolist(), pairs.positives.tolist()) == ([7, 3], [7, 3])


def test_help_lists_all_parameters():
    methods = "score ends score_pairs score_matrix align align_pairs alignments search prepare"
    calls = {name: getattr(glsw, name) for name in glsw.__all__}
    calls = {name: call for name, call in calls.items() if inspect.isfunction(call)}
    calls |= {f"Aligner.{name}": getattr(Aligner, name) for name in methods.split()}
    for name, call in calls.items():
        entries = re.findall(r"^([\w, *]+?)(?: :.*)?$", inspect.getdoc(call), re.MULTILINE)
        described = {word.strip(" *") for entry in entries for word in entry.split(",")}
        wanted = {*inspect.signature(call).parameters} - {"self", "options"}
        assert wanted <= described, f"help(glsw.{name}) does not describe {wanted - described}"
