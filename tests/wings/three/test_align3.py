"""The verbs of three sequences: alignments against the oracle, batches on several devices."""

from __future__ import annotations

import io
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from itertools import islice, permutations
from multiprocessing import active_children, get_context
from typing import Any

import Bio.Align
import cases3
import naive3
import numpy as np
import pytest
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord
from cases import able
from failing import REASONS, always_fails, fails_once
from hypothesis import given, settings, strategies as st

from glsw import Record, Scoring
from glsw.alignment.batch import Batch
from glsw.alignment.paths import Ends, Paths
from glsw.device.device import Device, DeviceError
from glsw.run import workers
from glsw.sequences.alphabet import DNA, custom
from glsw.wings.three.aligner import Aligner3, align3, alignments3, score3
from glsw.wings.three.engines import ENGINES3, Spec3
from glsw.wings.three.engines.reference import Reference3
from glsw.wings.three.engines.tiles import is_nvidia
from glsw.wings.three.results import MARKS, Alignment3
from glsw.wings.three.scoring import Scoring3

WORDS = "HEAGAWGHEE", "PAWHEAE", "GAWHEE"
TOY = custom("ABC")


def toy(match, mismatch, opening, extension, scheme="sum-of-pairs"):
    pairs = Scoring.match_mismatch(match, mismatch, opening, extension, alphabet=TOY)
    return Scoring3(scheme, pairs)


TOYS = [
    toy(2, -1, 1, 1),
    toy(1, -1, 1, 1, "identity"),
    toy(3, -2, 3, 1, "identity"),
    toy(3, -1, 2, 1),
    toy(5, -4, 2, 0),
]
REAL = [
    Scoring3.sum_of_pairs(),
    Scoring3.identity(),
    Scoring3.identity(5, -4, 6, 1),
    Scoring3.sum_of_pairs(Scoring.named("BLOSUM62", 6, 6)),
    Scoring3.sum_of_pairs(Scoring.named("GONNET1992", 9.5, 0.5)),
    Scoring3.sum_of_pairs(Scoring.named("SCHNEIDER", 20, 3)),
]
LINEAR = Scoring3.identity(2, -1, 2)
DEVICES3 = [name for name, engine in ENGINES3.items() if engine.capabilities.requires]


def on_engines(scorings, count):
    """Return pairs for the reference of all scorings, for engines on devices of the first few.

    Those have programs to compile for each scoring, and tests of their own.
    """
    pairs = [("reference", scoring) for scoring in scorings]
    pairs += [(name, scoring) for name in DEVICES3 for scoring in scorings[:count]]
    ids = [f"{name} {scoring.name} {scoring.costs[:2]}" for name, scoring in pairs]
    return pytest.mark.parametrize(("engine", "scoring"), pairs, ids=ids)


@pytest.fixture
def on(device):
    """``on(engine, scoring)``: the verbs on an engine and the device under test."""

    def on(engine, scoring=None, **options):
        requires = ENGINES3[engine].capabilities.requires
        able(device, requires)
        where = device if requires else None
        return Aligner3(scoring, engine=engine, device=where, **options)

    return on


@pytest.fixture(params=ENGINES3)
def aligner(request, on):
    """``aligner(scoring)``: the verbs on each engine in turn."""
    return partial(on, request.param)


def related(seed, scoring, length):
    """Return three sequences of letters that have much in common."""
    rng = np.random.default_rng(seed)
    count = len(scoring.alphabet)
    ancestor = rng.integers(0, count, length)
    words = []
    for _ in range(3):
        word = np.delete(ancestor, rng.integers(0, length, length // 8))
        word = np.insert(word, len(word) // 3, rng.integers(0, count, length // 6))
        wrong = rng.random(len(word)) < 0.15
        word[wrong] = rng.integers(0, count, wrong.sum())
        words.append(scoring.alphabet.decode(word))
    return words


def score_of_rows(alignment, scoring):
    """Score the three rows column by column."""
    width, total, previous = scoring.alphabet.width, 0, None
    rows = [alignment[k] for k in range(3)]
    assert {len(row) for row in rows} == {alignment.shape[1]}
    for at in range(0, alignment.shape[1], width):
        letters = [row[at : at + width] for row in rows]
        codes = [
            None if each == "-" * width else int(scoring.alphabet.encode(each)[0])
            for each in letters
        ]
        column = sum(1 << k for k, code in enumerate(codes) if code is not None)
        assert column
        total += naive3.column_score(scoring, codes, column, previous)
        previous = column
    return scoring.display(total)


def rows_and_coordinates(words, end, moves):
    """Return the rows of a path, and its coordinates from a cell for each column."""
    cells = [tuple(end)]
    for move in reversed(moves):
        cells.append(naive3.before(cells[-1], move))
    cells.reverse()
    rows = [
        "".join(
            words[s][cell[s]] if naive3.has_letter(move, s) else "-"
            for cell, move in zip(cells, moves, strict=False)
        )
        for s in range(3)
    ]
    kept = [
        k for k in range(len(cells)) if k in (0, len(moves)) or moves[k - 1 : k] != moves[k : k + 1]
    ]
    return rows, np.array([cells[k] for k in kept]).T.tolist()


def shown(alignment):
    return alignment.score, [alignment[k] for k in range(3)], alignment.coordinates.tolist()


def oracle(words, scoring):
    codes = [scoring.alphabet.encode(word) for word in words]
    for score, end, moves in naive3.disjoint(codes, scoring):
        yield scoring.display(score), *rows_and_coordinates(words, end, moves)


# one triple


@on_engines(TOYS, 1)
@pytest.mark.parametrize("mode", ["global", "semiglobal"])
def test_global_alignments_are_those_of_the_oracle(on, engine, scoring, mode):
    verbs, scoring = on(engine, scoring, mode=mode), scoring.in_mode(mode)
    for seed, length in ((0, 4), (1, 7)):
        words = related(seed, scoring, length)
        score, end, moves = naive3.path([scoring.alphabet.encode(word) for word in words], scoring)
        expected = scoring.display(score), *rows_and_coordinates(words, end, moves)
        assert shown(verbs.align(*words)) == expected
        assert list(map(shown, verbs.alignments(*words))) == [expected]
        assert list(verbs.alignments(*words, min_score=score + 1)) == []
        assert verbs.score(*words) == score == score_of_rows(verbs.align(*words), scoring)
        if mode == "global":
            assert ["".join(row).replace("-", "") for row in expected[1]] == words


def test_modes():
    aligner = Aligner3(engine="reference", mode="global")
    assert aligner.scoring.mode == "global"
    assert Aligner3(aligner.scoring, engine="reference").scoring.mode == "global"
    assert Aligner3(aligner.scoring, mode="local", engine="reference").score(*WORDS) == 65
    assert (aligner.score(*WORDS), aligner.align(*WORDS).score) == (25, 25)
    assert score3(*WORDS, mode="semiglobal", engine="reference") == 65
    score, table = score3(*WORDS, mode="global", table=True, engine="reference")
    assert score == table[-1, -1, -1] == 25
    assert list(aligner.align("", "", "")) == ["", "", ""]
    with pytest.raises(ValueError, match="mode 'overlap': 'local', 'global', 'semiglobal' exp"):
        align3(*WORDS, mode="overlap", engine="reference")
    with pytest.raises(ValueError, match="max_alignments 2: there is one global or semi-global"):
        aligner.alignments(*WORDS, max_alignments=2)


@on_engines(TOYS, 1)
def test_alignments_are_those_of_the_oracle(on, engine, scoring):
    verbs = on(engine, scoring)
    for seed, length in ((0, 4), (1, 7)):
        words = related(seed, scoring, length)
        expected = list(islice(oracle(words, scoring), 7))
        found = list(verbs.alignments(*words, max_alignments=7))
        assert list(map(shown, found)) == expected
        assert len(found) > 3
        assert shown(verbs.align(*words)) == expected[0]
        for alignment in found:
            assert alignment.score == score_of_rows(alignment, scoring)


@settings(max_examples=60)
@given(st.tuples(*[st.text("ABC", max_size=5)] * 3), st.sampled_from(TOYS))
def test_verbs_agree(words, scoring):
    verbs = Aligner3(scoring, engine="reference")
    table, alignment = verbs.table(*words), verbs.align(*words)
    assert table.shape == tuple(map(len, words))
    assert table.dtype == np.int32
    assert verbs.score(*words) == alignment.score == score_of_rows(alignment, scoring)
    best = next(oracle(words, scoring), (0, ["", "", ""], [[0], [0], [0]]))
    assert shown(alignment) == best
    if scoring.scheme == "identity":  # it ends with three letters
        assert table.max(initial=0) == alignment.score


@on_engines(REAL, 2)
def test_rows_score_what_they_should(on, engine, scoring):
    words = related(7, scoring, 40)
    width = scoring.alphabet.width
    verbs = on(engine, scoring)
    found = list(verbs.alignments(*words, max_alignments=3))
    assert [found[0].score, found[0].score] == [verbs.score(*words), verbs.align(*words).score]
    cells: set[tuple[int, ...]] = set()
    for alignment in found:
        assert isinstance(alignment, Bio.Align.Alignment)
        assert alignment.score == score_of_rows(alignment, scoring)
        assert alignment.coordinates.shape[0] == 3
        assert not (alignment.coordinates % width).any()
        for word, row, at in zip(words, map(alignment.__getitem__, range(3)), alignment.coordinates,
                                 strict=True):  # fmt: skip
            assert row.replace("-", "") == word[at[0] : at[-1]]
        ends = {
            (i, j, k)
            for i, j, k in zip(*_letters_before(alignment, width), strict=True)
            if sum(letter is not None for letter in (i, j, k)) > 1
        }
        assert ends
        assert not ends & cells
        cells |= ends
    scores = [alignment.score for alignment in found]
    assert scores == sorted(scores, reverse=True)
    reference = Aligner3(scoring, engine="reference").alignments(*words, max_alignments=3)
    assert list(map(shown, found)) == list(map(shown, reference))


def _letters_before(alignment, width):
    """Yield for each sequence the number of the letter in each column, None for a gap."""
    for k in range(3):
        at, row = int(alignment.coordinates[k, 0]) // width, alignment[k]
        numbers = []
        for letter in row[::width]:
            numbers.append(None if letter == "-" else at)
            at += letter != "-"
        yield numbers


def test_score_of_permuted_sequences(aligner):
    for scoring in REAL[:2]:
        words = related(3, scoring, 12)
        verbs = aligner(scoring)
        assert len({verbs.score(*each) for each in permutations(words)}) == 1


@pytest.mark.parametrize(("opening", "extension", "score"), [(2, 2, 3), (4, 4, 0), (3, 1, 5)])
def test_an_empty_sequence_leaves_a_pair(aligner, opening, extension, score):
    """Three columns of two equal letters against a gap; the first of the last kind costs."""
    scoring = Scoring3.sum_of_pairs(Scoring.match_mismatch(5, -4, opening, extension))
    verbs = aligner(scoring)
    for k in range(3):
        words = ["ACGT", "TACGA"]
        words.insert(k, "")
        alignment = verbs.align(*words)
        assert alignment.score == verbs.score(*words) == score
        assert [alignment[s] for s in range(3)] == [
            ("" if not score else "---" if s == k else "ACG") for s in range(3)
        ]
        assert verbs.table(*words).shape == tuple(map(len, words))


@pytest.mark.parametrize("words", [("", "", ""), ("", "ACG", ""), ("AAA", "CCC", "GGG")])
def test_nothing_in_common(aligner, words):
    verbs = aligner(Scoring3.identity())
    alignment = verbs.align(*words)
    assert shown(alignment) == (0, ["", "", ""], [[0], [0], [0]])
    assert alignment.column_annotations == {MARKS: ""}
    assert list(verbs.alignments(*words)) == []
    assert verbs.score(*words) == 0
    assert not verbs.table(*words).any()


def test_kinds_of_sequences(tmp_path):
    verbs = Aligner3(engine="reference")
    path = tmp_path / "a.fasta"
    path.write_text(">named with words\nHEAGAWGHEE\n")
    a, b, c = WORDS
    codes = verbs.scoring.alphabet.encode(b)
    expected = shown(verbs.align(*WORDS))
    for kinds in (
        (path, codes, Seq(c)),
        (SeqRecord(Seq(a), id="x"), b.encode(), Record("y", "", c)),
        (a.lower(), Seq(b), c),
    ):
        score, rows, coordinates = shown(verbs.align(*kinds))
        assert (score, [row.upper() for row in rows], coordinates) == expected
    alignment = verbs.align(path, codes, Record("y", "some more", c))
    names = [(row.id, row.description) for row in alignment.sequences]
    assert names == [("named", "with words"), ("b", ""), ("y", "some more")]
    assert [str(row.seq) for row in alignment.sequences] == list(WORDS)


def test_biopython_reads_it_back():
    alignment = Aligner3(engine="reference").align(*WORDS)
    rows = [alignment[k] for k in range(3)]
    marked = f"CLUSTAL\n\n\n{alignment:clustal}"
    for text, form in ((marked, "clustal"), (format(alignment, "fasta"), "fasta")):
        again = Bio.Align.read(io.StringIO(text), form)
        assert [again[k] for k in range(3)] == rows
        moved = alignment.coordinates - alignment.coordinates[:, :1]
        assert again.coordinates.tolist() == moved.tolist()
        assert [row.id for row in again.sequences] == ["a", "b", "c"]
    assert again.shape == alignment.shape == (3, 7)
    again = Bio.Align.read(io.StringIO(marked), "clustal")
    assert again.column_annotations == alignment.column_annotations == {MARKS: ".** **."}


def test_marks():
    """Three W; I, V and L, all similar; two L; nothing; a gap; X is like nothing; gaps; N and D."""
    moves = np.array([7, 7, 7, 7, 3, 7, 1, 7], np.uint8)
    scoring = Scoring3.sum_of_pairs()
    words = "MWILKAXRN", "WVLDANN", "WLKIXDD"
    codes = [scoring.alphabet.encode(word) for word in words]
    paths = Paths.of_moves(Ends(np.zeros(1, np.int32), np.array([[9, 7, 6]], np.int32)), [moves])
    records = [Record(name, "", word) for name, word in zip("abc", words, strict=True)]
    found = Alignment3.of(paths, Batch.of([codes]), records, scoring)
    assert (found.marks, found.identities, found.columns, found.gaps) == ("*:.    :", 1, 8, 2)
    assert found.rows() == [found.biopython()[k] for k in range(3)]


def test_unknown_letters():
    with pytest.raises(ValueError, match="b: letter '1' at position 2 is not in the protein"):
        Aligner3(engine="reference").score("MKV", "M1V", "MKV")
    verbs = Aligner3(engine="reference", unknown="X")
    assert verbs.score("MKV", "M1V", "MKV") == verbs.score("MKV", "MXV", "MKV") == 30
    assert verbs.align("MKV", "M1V", "MKV")[1] == "M1V"


def test_limits(aligner):
    verbs = aligner(TOYS[0])
    words = "ABCABA", "ABBA", "CABA"
    every = [each.score for each in verbs.alignments(*words)]
    assert every[-1] > 0
    assert len(every) > 3
    for k in (1, 2, len(every), len(every) + 10):
        found = verbs.alignments(*words, max_alignments=k)
        assert [each.score for each in found] == every[:k]
    for least in (every[0] + 1, every[0], every[0] - 0.5, 3, 1, 0, -5):
        found = verbs.alignments(*words, min_score=least)
        assert [each.score for each in found] == [score for score in every if score >= least]


def test_least_score_is_in_units_of_the_matrix():
    verbs = Aligner3(Scoring3.identity(1.5, -0.25, 0.5), engine="reference")
    scores = [each.score for each in verbs.alignments("ACGTAC", "ACGAC", "ACTAC")]
    assert any(score != int(score) for score in scores)
    least = scores[2]
    found = [each.score for each in verbs.alignments("ACGTAC", "ACGAC", "ACTAC", min_score=least)]
    assert found == [score for score in scores if score >= least]


def test_each_is_computed_when_asked_for(aligner):
    finished: list[int] = []
    found = aligner(TOYS[0]).alignments("ABCABA", "ABBA", "CABA", progress=finished.append)
    assert finished == []
    before = 0
    for _ in range(3):
        next(found)
        assert sum(finished) > before
        before = sum(finished)


def test_two_iterators_at_a_time(aligner):
    verbs = aligner(TOYS[0])
    first, second = ("ABCABA", "ABBA", "CABA"), ("CCBAB", "CBBAB", "ACBABB")
    expected = [list(map(shown, verbs.alignments(*words))) for words in (first, second)]
    one, two = verbs.alignments(*first), verbs.alignments(*second)
    for k in range(3):
        assert shown(next(one)) == expected[0][k]
        assert verbs.score(*second) == expected[1][0][0]
        assert shown(next(two)) == expected[1][k]


def test_functions():
    options = {"scoring": TOYS[2], "engine": "reference"}
    words = "ABCABA", "ABBA", "CABA"
    verbs = Aligner3(TOYS[2], engine="reference")
    assert score3(*words, **options) == verbs.score(*words)
    assert shown(align3(*words, **options)) == shown(verbs.align(*words))
    some = alignments3(*words, max_alignments=4, min_score=2, **options)
    expected = verbs.alignments(*words, max_alignments=4, min_score=2)
    assert list(map(shown, some)) == list(map(shown, expected))


# batches


@pytest.fixture(scope="module")
def batch():
    """Triples that share sequences, of very different sizes, and what the reference finds."""
    triples = cases3.shared(5, count=40)
    assert len(triples) == 40
    assert not triples.lengths.all()
    return triples, Reference3(LINEAR).paths(triples)


def check(verbs, batch, **options):
    """Compare scores, ends and paths."""
    triples, expected = batch
    assert verbs.scores(triples, **options).tolist() == expected.ends.score.tolist()
    ends, paths = verbs.ends(triples, **options), verbs.paths(triples, **options)
    assert verbs.scores(triples, **options).dtype == np.int32
    for found in (ends, paths.ends):
        assert found.score.tolist() == expected.ends.score.tolist()
        assert found.end.tolist() == expected.ends.end.tolist()
    assert [paths.moves(t).tolist() for t in range(len(paths))] == [
        expected.moves(t).tolist() for t in range(len(expected))
    ]
    for t in range(len(triples)):
        assert paths.coordinates(t).tolist() == expected.coordinates(t).tolist()


def test_batches(aligner, batch):
    check(aligner(LINEAR), batch)


def test_batch_of_nothing(aligner):
    verbs = aligner(Scoring3.identity())
    nothing = cases3.shared(5).select(slice(0))
    assert verbs.scores(nothing).shape == (0,)
    assert verbs.ends(nothing).end.shape == (0, 3)
    assert len(verbs.paths(nothing)) == 0


# several processes


@pytest.fixture(scope="module", params=DEVICES3)
def two(request: pytest.FixtureRequest, device: Device) -> Iterator[Aligner3]:
    """Two processes on the device under test."""
    able(device, ENGINES3[request.param].capabilities.requires)
    index = device.info.index
    with Aligner3(LINEAR, engine=request.param, device=[index, index]) as aligner:
        yield aligner


def test_two_processes_find_the_same(two, batch):
    check(two, batch)
    assert two.where == f"2 x {two.engine.where}"
    done: list[int] = []
    two.scores(batch[0], progress=done.append)
    assert len(done) > 2
    assert sum(done) == batch[0].cells


def test_other_verbs_use_the_first_device(two):
    words = "ACGTTACG", "ACGACG", "GGACGTTACG"
    one = Aligner3(two.scoring, engine="reference")
    assert two.score(*words) == one.score(*words) == 8
    assert shown(two.align(*words)) == shown(one.align(*words))
    assert two.scores(Batch.of([[DNA.encode(word) for word in words]])).tolist() == [8]


@pytest.mark.parametrize("how", REASONS)
def test_a_failed_share_is_repeated(how, two, batch, tmp_path, monkeypatch):
    triples, expected = batch
    monkeypatch.setattr(workers, "run_task", partial(fails_once, str(tmp_path / "flag"), how))
    text = rf"^device \d+: {REASONS[how]}; part \d+ of \d+ of the triples is computed again$"
    with pytest.warns(RuntimeWarning, match=text) as warned:
        assert two.scores(triples).tolist() == expected.ends.score.tolist()
    assert len(warned) == 1
    check(two, batch)  # with a new process


@pytest.mark.parametrize("how", REASONS)
def test_a_share_that_fails_twice_is_an_error(how, two, batch, monkeypatch):
    with monkeypatch.context() as patched, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        patched.setattr(workers, "run_task", partial(always_fails, how))
        text = f"^device .*: {REASONS[how]}; a part of the triples has failed twice$"
        with pytest.raises(DeviceError, match=text):
            two.paths(batch[0])
    check(two, batch)


def test_processes_end(batch, device):
    index = device.info.index
    before = set(active_children())
    with Aligner3(TOYS[1], engine=DEVICES3[0], device=[index, index]) as verbs:
        processes = set(active_children()) - before
        assert len(processes) == 2
    for process in processes:
        process.join(10)
        assert not process.is_alive()
    verbs.close()


def test_devices_that_are_not_there(device):
    engine, index = DEVICES3[0], device.info.index
    with pytest.raises(DeviceError, match="no device 99; found device 0: "):
        Aligner3(engine=engine, device=[index, 99])
    with pytest.raises(ValueError, match="at least one expected"):
        Aligner3(engine=engine, device=[])
    with pytest.raises(ValueError, match="engine 'reference' runs on the CPU: omit the device"):
        Aligner3(engine="reference", device="all")


# executors


EXECUTORS: dict[str, Callable[[], Executor]] = {
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
}


@pytest.mark.parametrize("kind", EXECUTORS)
def test_executors(kind, batch):
    with EXECUTORS[kind]() as executor:
        verbs = Aligner3(LINEAR, engine="reference")
        check(verbs, batch, executor=executor)


def test_an_engine_on_a_device_needs_processes(device, batch):
    verbs = Aligner3(engine=DEVICES3[0], device=device)
    with (
        EXECUTORS["threads"]() as executor,
        pytest.raises(ValueError, match=f"'{DEVICES3[0]}' on an executor needs processes started"),
    ):
        verbs.scores(batch[0], executor=executor)


def test_executors_that_cannot_be(two, batch):
    with pytest.raises(TypeError, match="executor must be an Executor, not int"):
        Aligner3(engine="reference").scores(batch[0], executor=4)
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(ValueError, match="an executor and several devices cannot be combined"),
    ):
        two.scores(batch[0], executor=executor)


# what is refused


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda verbs: verbs.alignments(*WORDS, max_alignments=0),
            ValueError,
            "max_alignments 0: at least 1, or None for all, expected",
        ),
        (
            lambda _: alignments3(*WORDS, max_alignments=-1, engine="reference"),
            ValueError,
            "max_alignments -1: at least 1",
        ),
        (lambda verbs: verbs.alignments("MV", "MV", "1"), ValueError, "c: letter '1' at position"),
        (lambda verbs: verbs.align("MV", ["MV"], "V"), TypeError, "b must be one sequence, not li"),
        (lambda verbs: verbs.score("MV", "V", 7), TypeError, "c must be one sequence, not int"),
        (lambda _: Aligner3(Scoring.blast()), TypeError, "scoring must be a Scoring3, not Scoring"),
        (
            lambda verbs: verbs.scores([WORDS]),
            TypeError,
            "triples must be a Batch, not list",
        ),
        (lambda _: Aligner3(unknown="J"), ValueError, "unknown letter 'J' is not in the protein"),
        (
            lambda _: Aligner3(engine="best"),
            ValueError,
            f"unknown engine 'best'; there are {', '.join(ENGINES3)}",
        ),
        (
            lambda _: Aligner3(engine="reference", memory=2**30),
            ValueError,
            "engine 'reference' has no memory limit",
        ),
        (lambda _: Aligner3(memory=9), ValueError, "memory 9: at least 1 MiB expected"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        call(Aligner3(engine="reference"))


def test_files_of_several_sequences(tmp_path):
    path = tmp_path / "two.fasta"
    path.write_text(">a\nMKV\n>b\nMKV\n")
    with pytest.raises(ValueError, match=r"two.fasta: one sequence expected, 2 found$"):
        score3(path, "MKV", "MKV", engine="reference")
    with pytest.raises(FileNotFoundError):
        score3("MKV", tmp_path / "none.fasta", "MKV", engine="reference")


def test_codes_that_are_no_letters():
    verbs = Aligner3(Scoring3.identity(), engine="reference")
    words = [np.zeros(4, np.uint8) for _ in range(3)]
    words[1][2] = 15
    text = r"^sequence 2: code 15 at position 3 is not in the DNA alphabet \(0 to 14\)$"
    for verb in (verbs.scores, verbs.ends, verbs.paths):
        with pytest.raises(ValueError, match=text):
            verb(Batch.of([words]))
    with pytest.raises(ValueError, match=r"^b: code 15 at position 3 is not in the DNA alphabet"):
        verbs.score(*words)


def test_scores_beyond_the_limit():
    scoring = Scoring3.identity(10**6, -1, 1)
    words = ["A" * 300] * 3
    verbs = Aligner3(scoring, engine="reference")
    for verb in (verbs.score, verbs.align, verbs.table, verbs.alignments):
        with pytest.raises(ValueError, match=r"^lengths 300, 300, 300 could score 300000000"):
            verb(*words)


def test_choice_is_the_same_in_another_process():
    choice = Spec3("reference", TOYS[1])
    again = pickle.loads(pickle.dumps(choice))
    assert isinstance(again, Spec3)
    assert isinstance(again.make(), Reference3)


@pytest.mark.parametrize("engine", ["subtable", "auto", "plane"])
@pytest.mark.parametrize("polling", [None, False, True])
def test_polling_reaches_the_engine(engine: str, polling: bool | None, device: Device) -> None:
    aligner = Aligner3(engine=engine, device=device, polling=polling)
    made: Any = aligner.engine
    tracer = made.engine_for("alignment") if made.name == "auto" else made
    assert tracer.forms.polling == (is_nvidia(device.info) if polling is None else polling)
    assert aligner.score(*WORDS) == 65


@pytest.mark.parametrize("polling", [False, True])
def test_reference_does_not_poll(polling: bool) -> None:
    with pytest.raises(ValueError, match=r"^engine 'reference' does not support polling"):
        Aligner3(engine="reference", polling=polling)


def test_scores_have_one_unit() -> None:
    scoring = Scoring3.sum_of_pairs(Scoring.named("GONNET1992", 9.5, 0.5))
    aligner = Aligner3(scoring, engine="reference")
    triples = Batch.of([map(scoring.alphabet.encode, WORDS)])
    best, table = aligner.score(*WORDS, table=True)
    assert isinstance(best, float)
    assert aligner.align(*WORDS).score == best
    assert table.max() == aligner.table(*WORDS).max() == best
    assert aligner.scores(triples).tolist() == aligner.ends(triples).score.tolist() == [best]
    assert aligner.paths(triples).ends.score.tolist() == [best]
    assert Aligner3(engine="reference").scores(triples).dtype == np.int32


def columns_of(alignment: Any) -> list[tuple[tuple[bool, ...], tuple[int, ...]]]:
    """Return for each column which sequences have a residue, and where it ends in all three."""
    found, at = [], alignment.coordinates[:, 0].copy()
    for column in zip(*alignment, strict=True):
        has = np.array([letter != "-" for letter in column])
        at += has
        found.append((tuple(has.tolist()), tuple(at.tolist())))
    return found


def test_further_alignments_share_pairs_at_other_places_only() -> None:
    """As THREE.md says: here two columns of the same two residues stand at different places."""
    scoring = Scoring3.sum_of_pairs(Scoring.match_mismatch(2, -1, 1, 1))
    aligner = Aligner3(scoring, engine="reference")
    every = [columns_of(each) for each in aligner.alignments("AACA", "CAAAA", "ACACAA")]
    places = [{end for has, end in each if sum(has) > 1} for each in every]
    assert len(every) > 2
    assert sum(map(len, places)) == len(set.union(*places))
    pair = (True, False, True), (3, 4)
    assert [
        [end for has, end in each if (has, (end[0], end[2])) == pair] for each in every[:2]
    ] == [[(3, 3, 4)], [(3, 4, 4)]]
