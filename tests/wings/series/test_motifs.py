"""Motifs: what channels have in common is found where it was planted, and said and drawn."""

from __future__ import annotations

import csv
import importlib.util
import io
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import glsw
import glsw.wings.series.command
from glsw.aligner import Aligner
from glsw.cli import main
from glsw.device.device import Device
from glsw.scoring.scoring import Scoring
from glsw.wings.series import figure, motifs as module, words as words_module
from glsw.wings.series.motifs import Comparison, Motif, cells_of, scoring_of, trace
from glsw.wings.series.readers import read
from glsw.wings.series.recording import Recording
from glsw.wings.series.table import MOTIF_FORMATS
from glsw.wings.series.words import Words
from glsw.wings.three.aligner import Aligner3
from glsw.wings.three.scoring import Scoring3

ROOT = Path(__file__).parents[3]
compare = partial(module.compare, surrogates=0)
words_of = partial(words_module.words_of, detrend=0)
PLAIN_WORDS = "--detrend", "0", "--surrogates", "0"
PLAIN: dict[str, Any] = {"detrend": 0, "surrogates": 0}
SEGMENTS, LETTERS, SAMPLES, PERIOD = 60, 8, 5, 0.2  # a letter is 1 s long
PLANTED = {"left": 7, "right": 19, "front": 33}
LENGTH = 20
CHANCE = 6  # letters on either side that are similar by chance, at most
SUMMARY = re.compile(
    r"glsw: (\d+) (triples|pairs), (\d+) cells in [\d.]+ s, (?:under )?[\d.,]+ GCUPS, "
    r"engine reference on CPU\n",
    re.ASCII,
)


def planted(seed: int = 3) -> Recording:
    """Three channels with one stretch in common, at different times, and two without.

    All channels have the same samples in another order, so that all are normalised alike.
    """
    random = np.random.default_rng(seed)
    levels = np.repeat(np.linspace(-2, 2, LETTERS), -(-SEGMENTS // LETTERS))[:SEGMENTS]
    random.shuffle(levels)
    motif, rest = levels[:LENGTH], levels[LENGTH:]
    series = []
    for begin in (*PLANTED.values(), None, None):
        if begin is None:
            words = random.permutation(levels)
        else:
            other = random.permutation(rest)
            words = np.concatenate([other[:begin], motif, other[begin:]])
        series.append(np.repeat(words, SAMPLES))
    values = np.array(series) * 0.01 + 7
    times = np.arange(values.shape[1]) * PERIOD
    return Recording("planted", (*PLANTED, "other 1", "other 2"), values, times)


@pytest.fixture
def words() -> Words:
    return words_of(planted(), SEGMENTS, LETTERS)


def aligner_of(of: int, **options: Any) -> Aligner3 | Aligner:
    scoring = scoring_of(LETTERS, of=of, **options)
    if isinstance(scoring, Scoring3):
        return Aligner3(scoring, engine="reference")
    return Aligner(scoring, engine="reference")


# words


def test_words_are_those_of_the_channels(words: Words) -> None:
    assert words.codes.shape == (5, SEGMENTS)
    assert words.left_out == {}
    assert words.edges.tolist() == pytest.approx(list(range(SEGMENTS + 1)))
    stretches = [words.codes[k, at : at + LENGTH] for k, at in enumerate(PLANTED.values())]
    assert len(set(stretches[0].tolist())) > 4
    np.testing.assert_array_equal(stretches[0], stretches[1])
    np.testing.assert_array_equal(stretches[0], stretches[2])


def test_edges_of_letters_where_samples_are_uneven() -> None:
    times = np.array([0, 1, 2, 3, 10, 11, 12, 13.0])
    recording = Recording("r", ("a",), np.arange(8.0)[None], times)
    assert words_of(recording, 4).edges.tolist() == [0, 2, 10, 12, 14]
    assert words_of(recording, 3).edges.tolist() == pytest.approx([0, 2 + 2 / 3, 10 + 4 / 3, 14])


def test_a_word_is_no_longer_than_its_series() -> None:
    recording = planted().select(end=10)
    assert words_of(recording).codes.shape == (5, 50)
    assert words_of(planted()).codes.shape == (5, 200)
    with pytest.raises(ValueError, match="planted: a series of 50 samples has 1 to 50 segments"):
        words_of(recording, 51)


def test_channels_that_say_nothing_are_left_out() -> None:
    recording = planted()
    recording.values[1] = np.nan
    recording.values[3] = 0.1 + 0.2
    with pytest.raises(
        ValueError, match='planted: nan in all 300 samples of channel right; missing="skip"'
    ):
        words_of(recording)
    words = words_of(recording, SEGMENTS, missing="skip")
    assert words.recording.channels == ("left", "front", "other 2")
    assert words.left_out == {"right": "all nan", "other 1": "constant"}
    with pytest.raises(ValueError, match="planted: all channels are constant"):
        words_of(recording.select("other 1"))


def test_samples_that_a_segment_lacks_are_named_with_the_channel() -> None:
    recording = planted()
    recording.values[2, 3:7] = np.nan
    assert words_of(recording, SEGMENTS, missing="skip").codes.shape == (5, SEGMENTS)
    recording.values[2, 5:11] = np.nan
    expected = "planted: channel front: samples 6 to 10, those of segment 2, are all nan"
    with pytest.raises(ValueError, match=expected):
        words_of(recording, SEGMENTS, missing="skip")
    recording.values[2, 0] = np.inf
    with pytest.raises(ValueError, match="planted: channel front: sample 1 is inf"):
        words_of(recording, missing="skip")


# scores and motifs


STRICT = {
    "identity": {"mismatch": -2, "gap_open": 2, "gap_extend": 2},
    "mindist": {"match": 0.7, "gap_open": 2, "gap_extend": 2},
}


@pytest.mark.parametrize("rule", STRICT)
def test_a_planted_motif_is_found_in_three_channels(words: Words, rule: Any) -> None:
    aligner = aligner_of(3, rule=rule, **STRICT[rule])
    comparison = compare(words, aligner)
    best = next(trace(comparison, aligner))
    assert best.channels == tuple(PLANTED)
    assert comparison.count == 10
    for (start, end), begin in zip(best.seconds.tolist(), PLANTED.values(), strict=True):
        assert begin - CHANCE < start < begin + 0.1
        assert begin + LENGTH - 0.1 < end < begin + LENGTH + CHANCE
    assert best.equal >= LENGTH
    assert best.score >= LENGTH * (1 if rule == "identity" else 3 * 0.7)
    assert int(comparison.scores[0]) > 2 * int(comparison.scores[1])


@pytest.mark.parametrize("rule", STRICT)
def test_a_planted_motif_is_found_in_pairs(words: Words, rule: Any) -> None:
    aligner = aligner_of(2, rule=rule, **STRICT[rule])
    comparison = compare(words, aligner, top=3)
    motifs = list(trace(comparison, aligner))
    assert {motif.channels for motif in motifs} == set(combinations(PLANTED, 2))
    for motif in motifs:
        for channel, (start, end) in zip(motif.channels, motif.seconds.tolist(), strict=True):
            assert PLANTED[channel] - CHANCE < start < PLANTED[channel] + 0.1
            assert PLANTED[channel] + LENGTH - 0.1 < end < PLANTED[channel] + LENGTH + CHANCE


@pytest.mark.parametrize("of", [2, 3])
def test_triples_and_pairs_on_the_device(words: Words, device: Device, of: int) -> None:
    expected = compare(words, aligner_of(of))
    scoring = scoring_of(LETTERS, of=of)
    aligner = (
        Aligner3(scoring, device=device.info.index)
        if isinstance(scoring, Scoring3)
        else Aligner(scoring, device=device.info.index)
    )
    found = compare(words, aligner)
    np.testing.assert_array_equal(found.similarity, expected.similarity)
    np.testing.assert_array_equal(found.best, expected.best)
    pairs = zip(trace(found, aligner), trace(expected, aligner_of(of)), strict=True)
    assert all(a.rows == b.rows and a.seconds.tolist() == b.seconds.tolist() for a, b in pairs)
    assert len(expected.best) == 10


def test_rows_are_the_letters_of_the_segments_with_gaps(words: Words) -> None:
    for of in (2, 3):
        aligner = aligner_of(of, rule="mindist", gap_open=0.5, gap_extend=0.5)
        comparison = compare(words, aligner)
        gaps = 0
        for rank, motif in enumerate(trace(comparison, aligner), start=1):
            assert motif.rank == rank
            assert len({len(row) for row in motif.rows}) == 1
            for channel, (start, end), row in zip(
                motif.channels, motif.letters.tolist(), motif.rows, strict=True
            ):
                k = words.recording.channels.index(channel)
                letters = "".join("abcdefgh"[code] for code in words.codes[k, start:end])
                assert row.replace("-", "") == letters
                gaps += row.count("-")
            columns = list(zip(*motif.rows, strict=True))
            assert motif.columns == len(columns)
            assert motif.equal == sum(len(set(column)) == 1 for column in columns)
            assert motif.score == pytest.approx(score_of(columns))
        assert gaps


def score_of(columns: list[tuple[str, ...]]) -> float:
    """Score columns under MINDIST with linear gaps of 0.5, on its own."""
    from glsw.wings.series.mindist import distances

    cells = distances(LETTERS).round(2)
    total = 0.0
    for column in columns:
        for a, b in combinations(column, 2):
            if "-" in (a, b):
                total -= 0.5 * (a != b)
            else:
                total += 0.35 if a == b else -cells[ord(a) - 97, ord(b) - 97]
    return total


def test_similarity_is_that_of_the_best_triple_with_both_channels(words: Words) -> None:
    comparison = compare(words, aligner_of(3), top=None)
    assert len(comparison.best) == 10
    expected = np.full((5, 5), np.nan)
    for channels, score in zip(comparison.best.tolist(), comparison.scores.tolist(), strict=True):
        for a in channels:
            for b in channels:
                if a != b:
                    expected[a, b] = np.nanmax([expected[a, b], score])
    np.testing.assert_array_equal(comparison.similarity, expected)


def test_the_best_are_in_order_whatever_is_compared_together(
    words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = compare(words, aligner_of(2), top=6, min_score=4)
    expected = sorted(
        ((-whole.similarity[a, b], a, b) for a, b in combinations(range(5), 2)),
    )
    kept = [(a, b) for score, a, b in expected if -score >= 4][:6]
    assert [tuple(pair) for pair in whole.best.tolist()] == kept
    assert len(kept) > 2
    monkeypatch.setattr("glsw.wings.series.motifs._MAX_SCORED_TOGETHER", 3)
    monkeypatch.setattr("glsw.wings.series.motifs._MAX_TRACED_TOGETHER", 2)
    parts = compare(words, aligner_of(2), top=6, min_score=4)
    np.testing.assert_array_equal(parts.best, whole.best)
    np.testing.assert_array_equal(parts.similarity, whole.similarity)
    ranks = [motif.rank for motif in trace(parts, aligner_of(2))]
    assert ranks == list(range(1, len(kept) + 1))


def test_cells_are_counted_and_reported(words: Words) -> None:
    for of, count in ((2, 10 * SEGMENTS**2), (3, 10 * SEGMENTS**3)):
        seen: list[int] = []
        comparison = compare(words, aligner_of(of), progress=seen.append)
        assert cells_of(words, of) == comparison.cells == sum(seen) == count


def test_no_motif_scores_0(words: Words) -> None:
    comparison = compare(words, aligner_of(3), min_score=-5)
    assert len(comparison.best) == 10
    comparison = compare(words, aligner_of(3), min_score=10_000)
    assert (len(comparison.best), list(trace(comparison, aligner_of(3)))) == (0, [])


def test_what_cannot_be_compared_is_refused(words: Words) -> None:
    with pytest.raises(ValueError, match="planted: 2 channels to compare, at least 3 expected"):
        compare(words_of(planted().select("1,2")), aligner_of(3))
    with pytest.raises(ValueError, match=r"words of 8 letters, an aligner for the alphabet abcd$"):
        compare(words, Aligner(scoring_of(4, of=2), engine="reference"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="of must be 3 or 2 channels, got 4"):
        scoring_of(of=4)
    with pytest.raises(ValueError, match="rule must be 'identity' or 'mindist', got 'same'"):
        scoring_of(rule="same")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="letters 27: a whole number from 2 to 26 expected"):
        scoring_of(27)


def test_scorings_have_the_scores_of_the_paper() -> None:
    pairs, triples = scoring_of(of=2), scoring_of(of=3)
    assert isinstance(pairs, Scoring)
    assert isinstance(triples, Scoring3)
    for scoring, letters in ((pairs, 12), (triples.pairs, 8)):
        assert scoring.matrix[:2, :2].tolist() == [[1, -1], [-1, 1]]
        assert (scoring.gap_open, scoring.linear, len(scoring.alphabet)) == (1, True, letters)


@pytest.mark.parametrize("of", [2, 3])
def test_random_words_are_not_similar_everywhere(of: int) -> None:
    random = np.random.default_rng(8)
    recording = Recording("r", tuple("abcdef"), random.normal(size=(6, 100)), np.arange(100.0))
    few = compare(words_of(recording, 100, 3), reference_of(of, 3))
    many = compare(words_of(recording, 100, 8), reference_of(of, 8))
    assert np.nanmean(many.similarity) < 7
    assert np.nanmean(few.similarity) > 2 * np.nanmean(many.similarity)


def reference_of(of: int, letters: int) -> Aligner3 | Aligner:
    scoring = scoring_of(letters, of=of)
    if isinstance(scoring, Scoring3):
        return Aligner3(scoring, engine="reference")
    return Aligner(scoring, engine="reference")


# what is written


def found(words: Words, of: int = 3, **options: Any) -> tuple[Comparison, list[Motif]]:
    aligner = aligner_of(of, **options)
    comparison = compare(words, aligner, top=4)
    return comparison, list(trace(comparison, aligner))


@pytest.mark.parametrize("of", [2, 3])
@pytest.mark.parametrize("rule", ["identity", "mindist"])
def test_lines_of_a_table_are_aligned(words: Words, of: int, rule: Any) -> None:
    comparison, motifs = found(words, of, rule=rule)
    form = MOTIF_FORMATS["table"]
    title, about, compared, names = form.header(comparison).splitlines()
    assert title == "planted: 5 channels, 0.0 to 60.0 s"
    assert about == "words of 60 letters, each one of 8 and 1 s"
    kind, name = ("pairs", "match 1") if of == 2 else ("triples", "identity match 1")
    name = name if rule == "identity" else "MINDIST of 8 letters, match 0.35"
    assert compared.startswith(f"10 {kind} by ")
    assert name in compared
    assert compared.endswith(", gap 1: the best 4")
    lines = [form.line(comparison, motif) for motif in motifs]
    assert len({len(line) for line in lines}) == 1
    ends = [
        match.end() for match in re.finditer(r"rank|score|E-value|p-value|columns|equal", names)
    ]
    for line, motif in zip(lines, motifs, strict=True):
        digits = 0 if rule == "identity" else 2
        score = f"{motif.score:.{digits}f}"
        values = [motif.rank, score, "-", "-", motif.columns, motif.equal]
        cells = [line[:end].split()[-1] for end in ends]
        assert cells == [str(value) for value in values]
        assert len(re.findall(r"[a-z]+( \d)? +\d+\.\d - \d+\.\d", line)) == of


def test_lines_for_programs(words: Words) -> None:
    comparison, motifs = found(words)
    form = MOTIF_FORMATS["tsv"]
    text = form.header(comparison) + "".join(form.line(comparison, motif) for motif in motifs)
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == len(motifs) == 4
    for row, motif in zip(rows, motifs, strict=True):
        assert (row["rank"], row["score"]) == (str(motif.rank), str(motif.score))
        for k in range(3):
            assert row[f"channel_{k + 1}"] == motif.channels[k]
            assert row[f"row_{k + 1}"] == motif.rows[k]
            times = [float(row[f"{end}_{k + 1}"]) for end in ("start", "end")]
            assert times == pytest.approx(motif.seconds[k])
            first, last = int(row[f"first_letter_{k + 1}"]), int(row[f"last_letter_{k + 1}"])
            assert [first - 1, last] == motif.letters[k].tolist()


# pictures


@pytest.mark.parametrize("of", [2, 3])
def test_a_figure_marks_the_segments_and_the_map(words: Words, of: int) -> None:
    pytest.importorskip("matplotlib", reason="the extra series is not installed")
    comparison, motifs = found(words, of)
    drawn = figure.draw(comparison, motifs[0])
    left, right, bar = drawn.axes
    marks = [each for each in left.collections if each.get_label() == "segment"]
    boxes = [mark.get_datalim(left.transData) for mark in marks]
    spans = np.array([(box.x0, box.x1) for box in boxes])
    np.testing.assert_allclose(spans, motifs[0].seconds)
    assert [label.get_text() for label in left.get_yticklabels()] == list(motifs[0].channels)
    assert len([line for line in left.lines if len(line.get_xdata()) == 300]) == of
    assert left.get_xlabel() == "time (s)"
    [image] = right.images
    np.testing.assert_array_equal(np.asarray(image.get_array()), comparison.similarity)
    for labels in (right.get_xticklabels(), right.get_yticklabels()):
        assert [label.get_text() for label in labels] == list(words.recording.channels)
    assert len(right.patches) == of * (of - 1)
    assert bar.get_ylabel() == "score"
    assert ("best triple" in right.get_title()) == (of == 3)


@pytest.mark.parametrize("suffix", figure.SUFFIXES)
def test_figures_of_every_kind_are_written(words: Words, tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib", reason="the extra series is not installed")
    comparison, motifs = found(words)
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix]
    sizes = []
    for name, motif in (("some", motifs[0]), ("none", None)):
        path = tmp_path / f"{name}{suffix}"
        figure.write(comparison, motif, str(path))
        assert path.read_bytes().startswith(start)
        sizes.append(path.stat().st_size)
    assert sizes[0] > sizes[1] > 3000


@pytest.mark.parametrize("channels", [3, 24, 44, 90])
def test_names_in_a_figure_do_not_overlap(channels: int) -> None:
    pytest.importorskip("matplotlib", reason="the extra series is not installed")
    random = np.random.default_rng(4)
    names = tuple(f"S{k}_D{k % 7} $850$ nm" for k in range(channels))
    recording = Recording("r", names, random.normal(size=(channels, 40)), np.arange(40.0))
    aligner = reference_of(2, LETTERS)
    comparison = compare(words_of(recording, 20), aligner, top=1)
    drawn = figure.draw(comparison, next(trace(comparison, aligner)))
    drawn.draw_without_rendering()
    left, right, _ = drawn.axes
    for axis, low, high in ((right.yaxis, "y0", "y1"), (right.xaxis, "x0", "x1")):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
        ends = sorted((getattr(box, low), getattr(box, high)) for box in boxes)
        assert len(ends) == min(channels, 45 if channels == 90 else channels)
        assert all(a[1] <= b[0] + 1 for a, b in pairwise(ends))
    whole = drawn.get_window_extent()
    for text in (left.title, right.title, *left.texts, *left.get_yticklabels()):
        box = text.get_window_extent()
        assert box.x0 >= whole.x0
        assert box.x1 <= whole.x1
    assert left.get_tightbbox().x1 <= right.get_tightbbox().x0 + 1


def test_names_that_the_font_lacks_do_no_harm(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra series is not installed")
    recording = planted()
    names = tuple(f"{name} \ue777" for name in recording.channels)
    comparison = compare(
        words_of(replace(recording, channels=names), 20), reference_of(2, LETTERS), top=1
    )
    figure.write(comparison, next(trace(comparison, reference_of(2, LETTERS))), f"{tmp_path}/r.pdf")
    assert (tmp_path / "r.pdf").stat().st_size > 3000


def test_a_map_of_zeros_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra series is not installed")
    values = np.array([[0.0, 1], [1, 0], [0.0, 1]])
    recording = Recording("r", ("a", "b", "c"), values, np.arange(2.0))
    comparison = compare(words_of(recording, 2, 2), reference_of(3, 2), min_score=9)
    figure.write(comparison, None, str(tmp_path / "r.png"))
    assert (tmp_path / "r.png").stat().st_size > 3000


# the command line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of recordings, good and bad."""
    recording = planted()
    lines = [",".join(["time", *recording.channels])]
    for time, sample in zip(recording.times, recording.values.T, strict=True):
        lines.append(",".join(f"{value:.6f}" for value in (time, *sample)))
    (tmp_path / "planted.csv").write_text("\n".join(lines))
    lines[4] = re.sub(",[^,]*,", ",,", lines[4], count=1)
    (tmp_path / "hole.csv").write_text("\n".join(lines))
    dead = [f"{line},{'dead' if not k else 0.5}" for k, line in enumerate(lines) if k != 4]
    (tmp_path / "dead.csv").write_text("\n".join(dead))
    (tmp_path / "text.csv").write_text("time,a,b\n0,1,2\n1,x,2\n")
    (tmp_path / "plain.csv").write_text("a,b,c\n0,1,2\n1,2,1\n")
    (tmp_path / "two.csv").write_text("time,a,b\n0,1,2\n1,2,1\n2,1,0\n")
    (tmp_path / "r.xls").write_text("?")
    (tmp_path / "sub").mkdir()
    return tmp_path


@pytest.fixture
def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., SimpleNamespace]:
    """``run(words)``: status, output and error of a command line, without E-values by default."""
    monkeypatch.chdir(folder)

    def run(words: str) -> SimpleNamespace:
        status = main(["motifs", *PLAIN_WORDS, *shlex.split(words)])
        out, err = capsys.readouterr()
        return SimpleNamespace(status=status, out=out, err=err)

    return run


def test_the_command_prints_what_the_library_finds(run: Callable[..., SimpleNamespace]) -> None:
    options = "--engine reference --segments 60"
    done = run(f"planted.csv {options}")
    comparison = compare(words_of(read("planted.csv"), 60), aligner_of(3))
    motifs = list(trace(comparison, aligner_of(3)))
    form = MOTIF_FORMATS["table"]
    expected = form.header(comparison) + "".join(form.line(comparison, each) for each in motifs)
    assert (done.status, done.out) == (0, expected)
    assert SUMMARY.fullmatch(done.err).groups() == ("10", "triples", "2160000")
    done = run("planted.csv --of 2 --channels 1,2 --engine reference")
    assert "\n1 pair by " in done.out
    assert done.err.startswith("glsw: 1 pair, ")
    tsv = run(f"planted.csv {options} --format tsv --output out.tsv")
    assert (tsv.status, tsv.out) == (0, "")
    lines = Path("out.tsv").read_text().splitlines()
    assert [line.split("\t")[1] for line in lines[1:]] == [str(each.score) for each in motifs]


def test_options_reach_the_library(run: Callable[..., SimpleNamespace]) -> None:
    done = run(
        "planted.csv --of 2 --engine reference --segments 30 --letters 5 --scoring mindist "
        "--match 1.5 --gapopen 1 --gapextend 0.5 --top 2 --min-score 2 --channels 1-3,5 "
        "--from 2 --to 50 --format tsv"
    )
    recording = read("planted.csv").select("1-3,5", start=2, end=50)
    scoring = scoring_of(5, of=2, rule="mindist", match=1.5, gap_open=1.5, gap_extend=0.5)
    assert isinstance(scoring, Scoring)
    aligner = Aligner(scoring, engine="reference")
    comparison = compare(words_of(recording, 30, 5), aligner, top=2, min_score=2)
    lines = [MOTIF_FORMATS["tsv"].line(comparison, each) for each in trace(comparison, aligner)]
    assert len(lines) == 2
    assert done.out == MOTIF_FORMATS["tsv"].header(comparison) + "".join(lines)
    mismatch = "planted.csv --engine reference --segments 30 --channels 1-4 --format tsv --top 0"
    assert run(f"{mismatch} --mismatch 0").out != run(mismatch).out


@pytest.mark.parametrize("of", [3, 2])
def test_one_call_finds_what_the_command_prints(
    run: Callable[..., SimpleNamespace], of: int
) -> None:
    done = run(f"planted.csv --of {of} --engine reference --segments 60 --top 3 --letters 8")
    options: dict[str, Any] = {"of": of, "segments": 60, "letters": 8, "top": 3} | PLAIN
    options["engine"] = "reference"
    found = glsw.motifs("planted.csv", **options)
    assert f"{found}\n" == done.out
    assert repr(found) == "<3 motifs of planted.csv>"
    size = "<Recording planted.csv: [0-9]+ channels, [0-9]+ samples, 0 to [0-9.]+ s>"
    assert re.fullmatch(size, repr(found.comparison.words.recording))
    assert [motif.rank for motif in found[:2]] == [1, 2]
    recording = read("planted.csv")
    for each in (recording, recording.to_dataframe()):
        same = glsw.motifs(each, **options)
        assert [str(line) for line in str(same).splitlines()[1:]] == done.out.splitlines()[1:]
    array = glsw.motifs(recording.values, rate=1 / PERIOD, start=2, channels="1-4", **options)
    assert {*chain(*(motif.channels for motif in array))} <= {"CH1", "CH2", "CH3", "CH4"}
    assert min(motif.seconds.min() for motif in array) >= 2


def test_motifs_as_a_data_frame_and_a_figure() -> None:
    found = glsw.motifs(planted(), segments=SEGMENTS, top=2, engine="reference", **PLAIN)
    frame = found.to_dataframe()
    assert " ".join(frame.columns) == (
        "rank score evalue pvalue columns equal channel start end row"
    )
    first = frame[frame["rank"] == 1]
    assert first["channel"].tolist() == list(found[0].channels)
    assert first[["start", "end"]].to_numpy().tolist() == found[0].seconds.tolist()
    assert [len(row) for row in first["row"]] == [found[0].columns] * 3
    assert found.plot().axes[0].get_title().startswith("Best motif: score")
    nothing = glsw.motifs(planted(), segments=SEGMENTS, min_score=999, engine="reference", **PLAIN)
    assert (len(nothing), nothing.to_dataframe().shape) == (0, (0, 10))
    assert nothing.plot().axes[0].get_title() == "no motif scores enough"
    assert str(nothing).endswith("none scores enough")
    with pytest.raises(ValueError, match="of must be 3 or 2 channels, got 4"):
        glsw.motifs(planted(), of=4)
    with pytest.raises(ValueError, match="pairs are compared on one device"):
        glsw.motifs(planted(), of=2, device="all")


def test_a_figure_comes_with_the_results(run: Callable[..., SimpleNamespace]) -> None:
    pytest.importorskip("matplotlib", reason="the extra series is not installed")
    options = "planted.csv --of 2 --engine reference --segments 60"
    done = run(f"{options} --figure sub/out.png")
    assert (done.status, done.out) == (0, run(options).out)
    assert Path("sub/out.png").read_bytes().startswith(b"\x89PNG")
    done = run(f"{options} --figure none.svg --min-score 999")
    assert done.out.endswith("none scores enough\n")
    assert "no motif scores enough" in re.sub(r"<!--|-->", "", Path("none.svg").read_text())


def test_notes_go_to_standard_error(run: Callable[..., SimpleNamespace]) -> None:
    done = run("dead.csv --of 2 --engine reference --segments 60")
    assert done.status == 0
    notes = done.err.splitlines()[:-1]
    assert notes == [
        "glsw: dead.csv: constant, left out: dead",
        "glsw: dead.csv: no samples from 0.4 to 0.8 s, time is taken to go on",
    ]
    assert run("hole.csv --missing skip --of 2 --engine reference --segments 60").status == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("none.csv", "none.csv: No such file or directory"),
        ("sub", "sub: Is a directory"),
        ("r.xls", "r.xls: MNE cannot read it: Unsupported file type (.xls)"),
        ("text.csv", "text.csv:3: column 'a': 'x' is not a number"),
        ("two.csv", "two.csv: 2 channels to compare, at least 3 expected"),
        ("hole.csv", "hole.csv: nan in sample 4 of channel left; --missing skip goes on"),
        ("plain.csv", "plain.csv: no times; --rate HZ gives the samples per second"),
        ("planted.csv --channels 9", "planted.csv: no channel '9'; its 5 channels: left, right"),
        ("planted.csv --from 59.9", "planted.csv: 0 samples from 59.9 to inf s, at least 2"),
        ("planted.csv --from x", "argument --from: 'x' is not a number (see glsw motifs --help)"),
        (
            "planted.csv --segments 0",
            "argument --segments: 0: a whole number of 1 or more expected",
        ),
        ("planted.csv --segments 999", "planted.csv: a series of 300 samples has 1 to 300"),
        ("planted.csv --letters 1", "--letters: 1: a whole number from 2 to 26 expected"),
        ("planted.csv --rate 5", "planted.csv: column 'time' has times, no rate"),
        ("planted.csv --of 2 --device all", "pairs are compared on one device, triples on several"),
        (
            "planted.csv --mismatch 1",
            "argument --mismatch: 1: a number from -1000000 to 0 expected",
        ),
        ("planted.csv --match 0", "match"),
        ("planted.csv --scoring mindist --mismatch -1", "--scoring mindist has distances for a"),
        ("planted.csv --engine lanes", "engine 'lanes': with --of 3 there are auto, subtable, "),
        ("planted.csv --of 2 --engine subtable", "engine 'subtable': with --of 2 there are auto"),
        ("planted.csv --of 4", "argument --of: invalid choice: '4'"),
        ("planted.csv --output no/r.tsv", "--output no/r.tsv: there is no folder no"),
        ("planted.csv --output planted.csv", "--output planted.csv: it is an input, and would be"),
        ("planted.csv --figure no/r.png", "--figure no/r.png: there is no folder no"),
        ("planted.csv --figure r.jpeg", "--figure r.jpeg: a figure must be named .png, .svg, .pdf"),
        ("planted.csv --figure a.svg --output sub/../a.svg", "--figure a.svg: it is --output too"),
        ("", "the following arguments are required: RECORDING"),
    ],
)
def test_errors_are_one_line(run: Callable[..., SimpleNamespace], words: str, message: str) -> None:
    done = run(words)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"glsw: {message}") or message in done.err
    assert len(done.err.splitlines()) == 1
    assert sorted(path.name for path in Path().iterdir()) == sorted(
        ["dead.csv", "hole.csv", "plain.csv", "planted.csv", "r.xls", "sub", "text.csv", "two.csv"]
    )


def test_without_matplotlib_it_says_so_before_anything(
    run: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else real(name)
    )
    monkeypatch.setattr(glsw.wings.series.command, "compare", None)
    done = run("planted.csv --figure r.png")
    expected = "glsw: --figure r.png: figures need matplotlib: pip install 'glsw[series]'\n"
    assert (done.status, done.err) == (2, expected)


def test_motifs_that_were_written_stay_when_interrupted(
    run: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any) -> Iterator[Motif]:
        motifs = trace(*arguments)
        yield next(motifs)
        yield next(motifs)
        assert Path("out.tsv.part").read_text().count("\n") == 3
        raise KeyboardInterrupt

    monkeypatch.setattr(glsw.wings.series.command, "trace", interrupted)
    done = run("planted.csv --of 2 --engine reference --format tsv --output out.tsv")
    assert done.status == 130
    assert done.err == "glsw: interrupted; out.tsv.part has the results so far\n"
    assert Path("out.tsv.part").read_text().count("\n") == 3
    assert not Path("out.tsv").exists()


def test_ctrl_c_while_it_compares(folder: Path) -> None:
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from glsw.wings.series import command as motifs\n"
        "old = motifs.compare\n"
        "def compare(*arguments, progress, **options):\n"
        "    def tell(cells):\n"
        "        progress(cells); print('busy', file=sys.stderr, flush=True)\n"
        "    return old(*arguments, progress=tell, **options)\n"
        "motifs.compare = compare\n"
        "from glsw.cli import main\n"
        "sys.exit(main())"
    )
    words = "motifs planted.csv --engine reference --segments 250 --surrogates 0 --output out.tsv"
    started = subprocess.Popen(
        [sys.executable, "-c", code, *words.split()],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stderr is not None
    line = started.stderr.readline()
    started.send_signal(signal.SIGINT)
    _, rest = started.communicate()
    assert line == "busy\n"
    assert started.returncode == 130, rest
    assert rest.splitlines()[-1] == "glsw: interrupted"
    assert not (folder / "out.tsv").exists()


# real recordings


@pytest.mark.realdata
@pytest.mark.filterwarnings("ignore:.*only contains 2D location:RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "options", "count", "pattern"),
    [
        ("fnirsr_Hitachi_ETG4000_24Ch_Total.dataonly.csv", "--letters 12", 276, r"CH4 .*CH6 "),
        ("snirfsamples_Simple_Probe.snirf", "", 28, r"S1_D1 690 .*S1_D1 830 "),
        ("snirfsamples_neuro_run01.snirf", "--to 200", 153, r"S\d_D\d \d{3} "),
        ("mne_nirsport2_2021-10-01_002.snirf", "--channels *850*", 231, r"S\d_D\d 850 "),
        ("mne_kernel_flow50_hb.snirf", "--missing skip --channels *hbo", 14365, r"hbo .*hbo "),
    ],
)
def test_pairs_of_real_recordings(
    run: Callable[..., SimpleNamespace],
    data: Path,
    device: Device,
    name: str,
    options: str,
    count: int,
    pattern: str,
) -> None:
    done = run(f"{data / 'fnirs' / name} --of 2 {options} --device {device.info.index}")
    assert done.status == 0, done.err
    assert f"glsw: {count} pairs, " in done.err
    lines = done.out.splitlines()
    assert len(lines) == 14
    assert re.search(pattern, lines[4])
    scores = [float(line.split()[1]) for line in lines[4:]]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 3


@pytest.mark.realdata
def test_triples_of_a_real_recording(
    run: Callable[..., SimpleNamespace], data: Path, device: Device
) -> None:
    path = data / "fnirs/fnirsr_Hitachi_ETG4000_24Ch_Total.dataonly.csv"
    done = run(f"{path} --channels 2,4-7 --segments 64 --device {device.info.index} --format tsv")
    assert (done.status, len(done.out.splitlines())) == (0, 11)
    words = words_of(read(path).select("2,4-7"), 64)
    comparison = compare(words, aligner_of(3))
    form = MOTIF_FORMATS["tsv"]
    lines = [form.line(comparison, each) for each in trace(comparison, aligner_of(3))]
    assert done.out == form.header(comparison) + "".join(lines)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("snirfsamples_minimum_example.snirf", "MNE cannot read it: "),
        ("mne_kernel_flow50_hb.snirf", "nan in all 14 samples of 20 channels (S4_D43 hbo, "),
    ],
)
def test_real_recordings_that_give_one_line(
    run: Callable[..., SimpleNamespace], data: Path, name: str, message: str
) -> None:
    done = run(str(data / "fnirs" / name))
    assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert f"{name}: {message}" in done.err


def test_a_number_of_segments_is_suggested(
    run: Callable[..., SimpleNamespace], folder: Path
) -> None:
    (folder / "few.csv").write_text(
        "time,a,b,c\n0,1,2,3\n1,2,3,1\n2,3,1,2\n3,nan,1,2\n4,nan,2,1\n5,2,2,1\n"
    )
    words = "few.csv --engine reference --missing skip"
    for channels, segments, fitting in (("b-c", 9, 6), ("a-c", 6, 2), ("a-c", 9, 2)):
        of = "--of 2" if channels == "b-c" else ""
        done = run(f"{words} {of} --channels {channels} --segments {segments}")
        assert done.status == 2
        assert done.err.endswith(f"; --segments {fitting} fits\n")
        assert run(f"{words} {of} --channels {channels} --segments {fitting}").status == 0
