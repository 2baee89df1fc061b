"""Two tracks: scores by an independent code, databases, files, the command line and errors."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from database_bytes import contents
from wing import of_wing

import glsw
from glsw import Aligner, Database, Record, Scoring, TwoTrackScoring, interleaved
from glsw.engines import ENGINES
from glsw.engines.lanes.geometry import INT32, Geometries
from glsw.sequences.database import makedb
from glsw.sequences.paired_alphabet import STRUCTURE, PairedAlphabet
from glsw.sequences.sections import DatabaseError
from glsw.sequences.tracks import paired_blocks, read_tracks
from glsw.wings import registered

AMINO_ACIDS, STATES = "ACDEFGHIKLMNPQRSTVWY", STRUCTURE[:20]
NAMES = [name for name in ENGINES if name not in registered("ENGINES")]
WEIGHT = 1.4
TRACKS = "--second-track q.states --second-matrix states.mat"


def made_up_matrix() -> npt.NDArray[np.int64]:
    """Return a matrix of 20 states and X, which is not symmetric."""
    matrix = np.random.default_rng(3).integers(-6, 3, (21, 21))
    matrix[range(20), range(20)] = np.random.default_rng(4).integers(3, 8, 20)
    matrix[20], matrix[:, 20] = -1, -1
    return matrix


MATRIX = made_up_matrix()
BLOSUM62 = Scoring.blast()
BOTH = TwoTrackScoring.of(BLOSUM62, Scoring.from_array(MATRIX, STRUCTURE, 1, 1), WEIGHT)


def some(seed: int, length: int) -> str:
    random = np.random.default_rng(seed)
    tracks = (random.choice(list(letters), length) for letters in (AMINO_ACIDS, STATES))
    return interleaved(*("".join(each) for each in tracks))


@cache
def best_score(query: str, target: str) -> int:
    """Return the best local score by NumPy alone, from the letters and both matrices."""
    low = -(10**9)
    m, n = len(query) // 2, len(target) // 2
    of_first, letters = BLOSUM62.matrix, str(BLOSUM62.alphabet.letters)
    h = np.zeros((m + 1, n + 1), np.int64)
    e, f = np.full_like(h, low), np.full_like(h, low)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            a, b = query[2 * i - 2 : 2 * i], target[2 * j - 2 : 2 * j]
            score = int(of_first[letters.index(a[0]), letters.index(b[0])])
            score += round(WEIGHT * MATRIX[STRUCTURE.index(a[1]), STRUCTURE.index(b[1])])
            e[i, j] = max(h[i, j - 1] - 12, e[i, j - 1] - 1)
            f[i, j] = max(h[i - 1, j] - 12, f[i - 1, j] - 1)
            h[i, j] = max(0, h[i - 1, j - 1] + score, e[i, j], f[i, j])
    return int(h.max())


# the engines, which tests/cases.py has cases for too


@pytest.mark.parametrize("engine", NAMES)
def test_scores_are_those_of_numpy(engine: str) -> None:
    queries = [some(seed, length) for seed, length in enumerate((1, 7, 33, 70))]
    targets = [some(9 + seed, length) for seed, length in enumerate((1, 2, 30, 65, 20))]
    targets.append(targets[2] + queries[3][20:100] + some(8, 5) + queries[3][100:])
    expected = [[best_score(query, target) for target in targets] for query in queries]
    with Aligner(BOTH, engine=engine) as aligner:
        assert aligner.score_matrix(queries, targets).tolist() == expected
        assert aligner.score(queries[3], targets).tolist() == expected[3]
        for query, row in zip(queries, expected, strict=True):
            for hit in aligner.search(query, targets, top=None):
                number = int(hit.target.id.split()[-1]) - 1
                assert hit.score == row[number]
                assert path_score(query, targets[number], hit.alignment.coordinates) == hit.score
                assert hit.target.letters == targets[number][::2]
                assert hit.alignment.query.letters == query[::2]


def path_score(query: str, target: str, coordinates: npt.NDArray[np.int64]) -> int:
    """Return the score of the columns of an alignment."""
    codes = [BOTH.alphabet.encode(each).astype(np.intp) for each in (query, target)]
    total = 0
    for (t, q), (t_end, q_end) in zip(coordinates.T[:-1], coordinates.T[1:], strict=True):
        if t < t_end and q < q_end:
            total += int(BOTH.matrix[codes[0][q:q_end], codes[1][t:t_end]].sum())
        else:
            total -= 11 + (t_end - t) + (q_end - q)
    return total


def test_modes_and_several_alignments() -> None:
    query, target = some(1, 40), some(2, 20) + some(1, 40)[20:70] + some(3, 30)
    found = list(glsw.alignments(query, target, scoring=BOTH, max_alignments=3))
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert [path_score(query, target, each.coordinates) for each in found] == scores
    whole = glsw.align(query, target, scoring=BOTH, mode="global")
    assert whole.score == path_score(query, target, whole.coordinates)
    assert (whole.query_start, whole.query_end) == (0, 40)
    assert glsw.score(query, target, scoring=BOTH, mode="global") == whole.score
    reference = glsw.align(query, target, scoring=BOTH, engine="reference")
    assert found[0].coordinates.tolist() == reference.coordinates.tolist()


def test_scores_beyond_16_bit_floats_are_of_integers(device: glsw.Device) -> None:
    for size, number in ((2048, "f32"), (2049, "int32")):
        large = Scoring.from_array([[size, -9], [-9, size]], "xy", 1, 1)
        scoring = TwoTrackScoring.of(BLOSUM62, large)
        geometries = Geometries(scoring, device.info, "f32")
        assert (geometries.number == INT32) == (number == "int32")


# the scoring


def test_each_weighted_score_is_rounded_once() -> None:
    second = Scoring.from_array([[1, 3], [-1, 5]], "yx", 1, 1)
    made = TwoTrackScoring.of(Scoring.match_mismatch(2, -3, 5, 2), second, 0.5)
    assert made.alphabet.second.letters == "xy"  # in order, the matrix too
    assert made.weighted.tolist() == [[2, 0], [2, 0]]  # 2.5, -0.5, 1.5 and 0.5: halves to even
    assert made.matrix.shape == (30, 30)
    gonnet = TwoTrackScoring.of(Scoring.named("GONNET1992", 10, 0.5), second, 0.25)
    assert gonnet.weighted.tolist() == [[12, -2], [8, 2]]  # tenths
    assert gonnet.display(123) == 12.3
    shown = gonnet.in_mode("global").shown
    assert (shown.name, shown.end_gaps) == ("GONNET1992", gonnet.in_mode("global").end_gaps)


def test_weight_0_gives_the_results_of_one_track() -> None:
    none = TwoTrackScoring.of(BLOSUM62, "BLOSUM45", 0)
    queries, targets = ([some(10 * k + seed, 60) for seed in range(9)] for k in (1, 2))
    targets += [each[:80] for each in queries]
    both = [
        [str(each) for each in Aligner(scoring).search(*sides, evalue=1e3, composition=0)]
        for scoring, sides in (
            (none, (queries, targets)),
            (BLOSUM62, ([q[::2] for q in queries], [t[::2] for t in targets])),
        )
    ]
    assert both[0] == both[1]
    (result,) = Aligner(none).search(queries[:1], targets)
    assert "BLOSUM62 11/1: lambda 0.267" in result.statistics.name


def test_statistics_are_fitted() -> None:
    targets = [some(seed, 80 + seed % 100) for seed in range(300)]
    targets[7] = targets[7][:40] + some(999, 60)[:80] + targets[7][40:]
    query = some(999, 60)
    result = glsw.search(query, targets, scoring=BOTH, evalue=10)
    assert result.hits[0].target.id == "target 8"
    assert result.hits[0].evalue < 1e-10
    assert result.statistics.available
    assert "fit" in result.statistics.name
    with pytest.raises(ValueError, match=r"no Karlin-Altschul constants .* BLOSUM62 \+ 1.4 array"):
        glsw.search(query, targets, scoring=BOTH, statistics="karlin-altschul")


def test_errors_of_scorings_say_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="weight -1: a number of 0 or more expected"):
        TwoTrackScoring.of(BLOSUM62, "BLOSUM62", -1)
    with pytest.raises(ValueError, match="weight nan: a number of 0 or more"):
        TwoTrackScoring.of(BLOSUM62, "BLOSUM62", float("nan"))
    with pytest.raises(TypeError, match="first must be a Scoring, not TwoTrackScoring"):
        TwoTrackScoring.of(BOTH, "BLOSUM62")
    with pytest.raises(TypeError, match="second must be a Scoring, not int"):
        TwoTrackScoring.of(BLOSUM62, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown matrix 'nothing'"):
        TwoTrackScoring.of(BLOSUM62, "nothing")
    with pytest.raises(OSError, match="nothing"):
        TwoTrackScoring.of(BLOSUM62, tmp_path / "nothing")
    with pytest.raises(ValueError, match="letters of one character, not SCHNEIDER"):
        TwoTrackScoring.of(Scoring.named("SCHNEIDER", 20.5, 3), "BLOSUM62")


def test_what_two_tracks_exclude() -> None:
    query = some(1, 30)
    for options, message in (
        ({"lower_case_mask": True}, "no X or N for masked letters"),
        ({"seg": "query"}, "SEG is for proteins, not for the protein and structure alphabet"),
        ({"mask_low_complexity": True}, "no X or N for masked letters"),
        *of_wing("edit", [({"engine": "bit_parallel"}, "edit distances only")]),
    ):
        with pytest.raises(ValueError, match=message):
            Aligner(BOTH, **options)  # type: ignore[arg-type]
    for options, message in (
        ({"strand": "both"}, "alphabet has no complements"),
        ({"genetic_code": 1}, "translation needs a protein scoring"),
    ):
        with pytest.raises(ValueError, match=message):
            glsw.search(query, [query], scoring=BOTH, **options)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="query: two letters per position expected, got 3 letters"):
        glsw.score("MDK", query, scoring=BOTH)
    with pytest.raises(
        ValueError, match="second track: letter 'U' at position 2 is not in the stru"
    ):
        glsw.score("MDKU", query, scoring=BOTH)
    aligner = Aligner(BOTH)
    with pytest.raises(
        ValueError, match="align_pairs does not support two tracks: search, score, align"
    ):
        aligner.align_pairs([query], [query])
    with pytest.raises(ValueError, match="a matrix of neighbors does not support two tracks"):
        aligner.neighbors([query], cutoff=3)


# files and databases


def files_of_tracks(folder: Path) -> Path:
    """Write files of queries, of targets, of their states, and of the matrix; return the folder."""
    sides = {"q": [some(k, 40 + 10 * k) for k in range(3)]}
    sides["t"] = [some(50 + k, 30 + 7 * k % 90) for k in range(200)]
    sides["t"] += [some(7, 30) + each[20:] + some(8, 9) for each in sides["q"]]
    for name, sequences in sides.items():
        for track, ending in enumerate(("fasta", "states")):
            text = "".join(
                f">{name}{k} a title\n{each[track::2]}\n" for k, each in enumerate(sequences)
            )
            (folder / f"{name}.{ending}").write_text(text)
    rows = [f"{x} {' '.join(map(str, row))}" for x, row in zip(STRUCTURE, MATRIX, strict=True)]
    (folder / "states.mat").write_text("\n".join(["# made up", " ".join(STRUCTURE), *rows, ""]))
    return folder


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return files_of_tracks(tmp_path)


def test_database_is_read_back_the_same(files: Path) -> None:
    made = makedb(files / "t.fasta", files / "t.glsw", second_track=files / "t.states")
    records = list(read_tracks(files / "t.fasta", files / "t.states"))
    in_memory = Database.of(records, made.alphabet)
    assert (len(made), made.version, made.residues) == (203, 5, in_memory.residues)
    made.verify()
    for each in (made, Database.open(files / "t.glsw")):
        assert np.array_equal(each.sequences.residues, in_memory.sequences.residues)
        assert list(each) == [Record(r.id, r.description, r.letters[::2]) for r in records]
        assert list(each) == list(in_memory)
        assert list(each.names_and_lengths()) == [(r.id, len(r) // 2) for r in records]
    assert np.array_equal(made.part(slice(3, 9)).residues, in_memory.part(slice(3, 9)).residues)
    one = makedb(files / "t.fasta", files / "one.glsw")
    assert list(one) == list(made)
    tracks = made.alphabet.tracks(made.sequences.residues)  # type: ignore[attr-defined]
    assert np.array_equal(tracks[0], one.sequences.residues)


def test_letters_that_count_as_others_are_shown(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(">short\nMU\n>long one\nUMKVO\n")
    (tmp_path / "b").write_text(">short\nDX\n>long\nAACCD\n")
    with pytest.warns(RuntimeWarning, match="2 letters U scored as C, 1 letter O as X"):
        made = makedb(tmp_path / "a", tmp_path / "db", second_track=tmp_path / "b")
    assert [each.letters for each in made] == ["MU", "UMKVO"]
    assert made.alphabet.decode(made.sequences.residues) == "CAMAKCVCXDMDCX"


@pytest.mark.parametrize("track", [0, 1])
def test_damage_to_a_track_is_found(files: Path, track: int) -> None:
    makedb(files / "t.fasta", files / "t.glsw", second_track=files / "t.states")
    data = bytearray((files / "t.glsw").read_bytes())
    data[contents(data)["sections"]["residues"]["offset"] + 100 + track] ^= 1
    (files / "t.glsw").write_bytes(data)
    with pytest.raises(DatabaseError, match=r"corrupt database \(residues\)"):
        Database.open(files / "t.glsw").verify()
    with pytest.raises(DatabaseError, match=r"corrupt database \(residues\)"):
        list(Aligner(BOTH).search([some(1, 9)], files / "t.glsw"))


def test_files_are_cut_into_blocks_of_their_own(tmp_path: Path) -> None:
    # Long titles in one file: its blocks have other records than those of the other file.
    lengths = np.random.default_rng(1).integers(1, 3000, 500).tolist()
    sequences = [some(seed, length) for seed, length in enumerate(lengths)]
    for track, title in ((0, "x" * 900), (1, "")):
        text = "".join(f">s{k} {title}\n{each[track::2]}\n" for k, each in enumerate(sequences))
        (tmp_path / f"track{track}").write_text(text)
    paths = tmp_path / "track0", tmp_path / "track1"
    assert len(list(paired_blocks(*paths))) > 2
    assert [each.letters for each in read_tracks(*paths)] == sequences


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (">a\nDV\n>b\nP\n", "second: a has 2 letters, 3 in .*first$"),
        (">a\nDVP\n>c\nP\n", "second: c stands where .*first has b$"),
        (">a\nDVP\n", "second: b, which .*first has, is missing at the end$"),
        (">a\nDVP\n>b\nP\n>c\nP\n", "second: c is not in .*first$"),
        (">a\nDVP\n>b\nB\n", "b, second track: letter 'B' at position 1 is not in the structure"),
        ("", "second: "),
    ],
)
def test_errors_of_files_are_one_line(tmp_path: Path, second: str, message: str) -> None:
    (tmp_path / "first").write_text(">a\nMKV\n>b\nL\n")
    (tmp_path / "second").write_text(second)
    with pytest.raises(ValueError, match=message) as caught:
        makedb(tmp_path / "first", tmp_path / "db", second_track=tmp_path / "second")
    assert "\n" not in str(caught.value)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["first", "second"]


def test_letters_outside_the_alphabets() -> None:
    pairs = BOTH.alphabet
    assert pairs.decode(pairs.encode("J?MUUX", unknown="X")) == "XXMXCX"
    without_x = PairedAlphabet.of(BLOSUM62.alphabet, glsw.sequences.alphabet.custom("AB"))
    with pytest.raises(ValueError, match="letter '\\?' at position 1"):
        without_x.encode("J?", unknown="X")


def test_databases_of_other_alphabets(files: Path) -> None:
    makedb(files / "t.fasta", files / "t.glsw", second_track=files / "t.states")
    with pytest.raises(
        ValueError, match=r"protein \(ARND.*\) and structure \(ACDE.*scoring is prot"
    ):
        glsw.search("MKV", files / "t.glsw")
    with pytest.raises(ValueError, match=r"scoring is protein .* and structure \(\*AB"):
        glsw.search("MDKV", files / "t.glsw", scoring=TwoTrackScoring.of(BLOSUM62, "BLOSUM62"))
    both, out, states = [files / "t.fasta", files / "q.fasta"], files / "two", files / "t.states"
    with pytest.raises(ValueError, match="a second track is of one source, not of 2"):
        makedb(both, out, second_track=states)
    with pytest.raises(ValueError, match="SEG is for proteins, not for the protein and structure"):
        makedb(both[0], out, second_track=states, seg=True)
    with pytest.raises(ValueError, match=r"the protein and structure alphabet .* has no X or N"):
        makedb(both[0], out, second_track=states, lower_case_mask=True)


# the command line

Run = Callable[[str], SimpleNamespace]


def test_command_line_is_the_library(run: Run, files: Path) -> None:
    assert run("makedb t.fasta t.glsw --second-track t.states").status == 0
    assert "protein and structure alphabet, format 5" in run("verify t.glsw").out
    done = run(f"search q.fasta t.glsw {TRACKS} --weight 1.4 --format tsv --evalue 10")
    assert done.status == 0, done.err
    rows = [line.split("\t") for line in done.out.splitlines()[1:]]
    queries = list(read_tracks(files / "q.fasta", files / "q.states"))
    expected = list(glsw.search(queries, files / "t.glsw", scoring=BOTH, evalue=10))
    assert [(row[0], row[3], row[4]) for row in rows] == [
        (result.query.id, hit.target.id, str(hit.score)) for result in expected for hit in result
    ]
    assert [rows[0][k] for k in (3, 7, 15)] == ["t200", "0.7561", "40"]
    by_parts = run(
        f"search q.fasta t.glsw {TRACKS} --weight 1.4 --format tsv --evalue 10 --memory 1M"
    )
    assert by_parts.out == done.out


@pytest.mark.parametrize("form", ["blast-tab", "pairwise", "paf", "tsv"])
def test_weight_0_gives_the_bytes_of_one_track(run: Run, form: str) -> None:
    run("makedb t.fasta t.glsw --second-track t.states")
    run("makedb t.fasta one.glsw")
    both = run(f"search q.fasta t.glsw {TRACKS} --weight 0 --format {form}")
    one = run(f"search q.fasta one.glsw --composition 0 --format {form}")
    assert (both.status, both.out) == (0, one.out)


def test_matrix_of_other_letters(run: Run, files: Path) -> None:
    (files / "coin.mat").write_text("  h t\nh 2 -1\nt -1 2\n")
    for name in ("q", "t"):
        text = (files / f"{name}.states").read_text().replace("title", "")
        lines = (
            line if line[0] == ">" else "".join("h" if x < "L" else "t" for x in line)
            for line in text.splitlines()
        )
        (files / f"{name}.coins").write_text("\n".join([*lines, ""]))
    words = "--second-matrix coin.mat"
    assert run(f"makedb t.fasta c.glsw --second-track t.coins {words}").status == 0
    done = run(f"search q.fasta c.glsw --second-track q.coins {words} --format blast-tab")
    assert (done.status, done.out.split("\t")[1]) == (0, "t200")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("q.fasta t.glsw --second-track q.states", "--second-track needs --second-matrix"),
        ("q.fasta t.glsw --second-matrix BLOSUM62", "--second-matrix requires --second-track"),
        ("q.fasta t.glsw --weight 2", "--weight requires --second-track"),
        ("q.fasta t.glsw", "t.glsw: it has two tracks; give --second-track and --second-matrix"),
        (f"q.fasta one.glsw {TRACKS}", "one.glsw: it has one track; makedb --second-track"),
        (f"q.fasta t.fasta {TRACKS}", "t.fasta: it has one track; makedb --second-track"),
        (f"t.fasta t.glsw {TRACKS}", "q.states: q0 stands where t.fasta has t0"),
        (f"q.fasta t.glsw {TRACKS} --output q.states", "it is an input"),
        (f"- t.glsw {TRACKS.replace('q.states', '-')}", "standard input"),
        *(
            (
                f"q.fasta t.glsw {TRACKS} {word}",
                f"--second-track and {word.split()[0]} cannot be combined",
            )
            for word in (
                "--translated",
                *of_wing("profiles", ["--profile", "--iterations 2"]),
                *of_wing("composition", ["--composition 1"]),
            )
        ),
        *(
            (
                f"q.fasta t.glsw {TRACKS} {word}",
                f"--second-track and {word.split()[0]} cannot be combined",
            )
            for word in ("--seg yes", "--lower-case-mask", "--mask-low-complexity")
        ),
    ],
)
def test_errors_of_the_command_line(run: Run, files: Path, words: str, message: str) -> None:
    makedb(files / "t.fasta", files / "t.glsw", second_track=files / "t.states")
    makedb(files / "t.fasta", files / "one.glsw")
    done = run(f"search {words}")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert shlex.split(words)


def test_a_scoring_of_two_tracks_is_shown_in_a_line():
    assert repr(BOTH) == "<TwoTrackScoring BLOSUM62 + 1.4 array, gaps 12/1, local>"
