"""Dot plots from Python and from the command line: maps, strands, records, files."""

from __future__ import annotations

import base64
import json
import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from naive_map import score_map, scores_of_cells

import glsw
from glsw.cli import main
from glsw.device.device import open_device
from glsw.sequences.nucleic import reversed_strand
from glsw.wings.dotplot.axis import Axis, Segment
from glsw.wings.dotplot.colours import LINES, Scale
from glsw.wings.dotplot.figure import draw
from glsw.wings.dotplot.plot import ARRAYS, SUFFIXES
from glsw.wings.dotplot.score_map import UNCAPPED

SCORING = glsw.Scoring.nucleotide()
RNG = np.random.default_rng(11)


def letters(length):
    return "".join(RNG.choice(list("ACGT"), length))


SHARED, OTHER = letters(60), letters(70)
QUERY = letters(20) + SHARED + letters(30) + OTHER
TARGET = letters(40) + SHARED + reversed_strand(OTHER, False) + letters(9)


def encoded(text):
    return SCORING.alphabet.encode(text)


@pytest.fixture(scope="module")
def plot():
    return glsw.dotplot(QUERY, TARGET, side=8, scoring=SCORING, max_alignments=2)


def test_both_strands_have_the_maps_of_whole_tables(plot):
    query, target = encoded(QUERY), encoded(TARGET)
    assert plot.cap == 80
    expected = score_map(query, target, SCORING, 8, 80, "through")
    np.testing.assert_array_equal(plot.plus, expected)
    # The tiles of the minus strand are those of the plus strand: they begin at the last residue.
    missing = -len(target) % 8
    turned = np.concatenate(
        [np.full(missing, 15, np.uint8), encoded(reversed_strand(TARGET, False))]
    )
    expected = score_map(query, turned, SCORING, 8, 80, "through")[:, ::-1]
    np.testing.assert_array_equal(plot.minus, expected)


def test_a_cell_is_the_corner_behind_its_residues():
    """As DOTPLOT.md says: what begins with the next pair counts, also behind letters that fill."""
    options = {"cap": None, "scoring": glsw.Scoring.match_mismatch(5, -1, 5, 2)}
    found = glsw.dotplot("AC", "GC", side=1, strand="plus", **options)
    assert found.plus.tolist() == [[5, 0], [0, 5]]
    rng, more = np.random.default_rng(44), 0
    for _ in range(40):
        query, target = ("".join(rng.choice(list("ACGT"), n)) for n in rng.integers(9, 40, 2))
        found = glsw.dotplot(query, target, side=4, strand="minus", **options).minus
        codes, turned = encoded(query), encoded(reversed_strand(target, False))
        filling = np.full(-len(turned) % 4, 15, np.uint8)
        filled = np.concatenate([filling, turned])
        expected = score_map(codes, filled, options["scoring"], 4, UNCAPPED, "through")
        np.testing.assert_array_equal(found, expected[:, ::-1])
        cells = scores_of_cells(codes, turned, options["scoring"], UNCAPPED, "through")
        edge = [cells[i : i + 4, : 4 - len(filling)].max() for i in range(0, len(codes), 4)]
        assert (expected[:, 0] >= edge).all()
        more += (expected[:, 0] > edge).sum()
    assert more  # paths that begin behind a letter that fills the tile


def test_the_best_alignments_of_both_strands_are_its_lines(plot):
    found = {line.sign: line for line in plot.lines}
    assert found["+"].score == 120
    assert found["-"].score == 140
    assert found["+"].coordinates.tolist() == [[40, 100], [20, 80]]
    (first, last), queries = found["-"].coordinates.tolist()
    assert (first, last) == (170, 100)
    assert queries == [110, 180]


def test_a_tile_has_its_residues_and_scores(plot):
    tile = plot.at(3, 6)
    assert tile[:4] == ("query", "target", (24, 32), (48, 56))
    assert (tile.plus, tile.minus) == (plot.plus[3, 6], plot.minus[3, 6])
    assert plot.at(22, 0).query_range == (176, len(QUERY))


def test_a_sequence_with_itself_is_symmetric():
    plot = glsw.dotplot(QUERY, side=8, scoring=SCORING, strand="plus")
    assert list(plot.maps) == ["+"]
    np.testing.assert_array_equal(plot.plus, plot.plus.T)
    assert (plot.plus.diagonal()[:-1] == 80).all()


@pytest.mark.parametrize("value", ["through", "end"])
def test_records_in_one_map_are_kept_apart(value):
    queries, targets = [QUERY, SHARED, letters(30)], [OTHER[:40], TARGET, ""]
    options = {"side": 8, "scoring": SCORING, "value": value, "cap": 90, "strand": "plus"}
    found = glsw.dotplot(queries, targets, **options)
    single = [
        [glsw.dotplot(query, target, **options).plus for target in targets[:2]] for query in queries
    ]
    np.testing.assert_array_equal(found.plus, np.block(single))
    assert [each.name for each in found.target.segments] == ["target 1", "target 2"]
    first = found.target.starts[1]
    assert found.at(0, first).target == "target 2"
    assert found.at(0, first - 1).target_range == (32, 40)


def test_alignments_are_those_of_the_pairs_with_the_best_tiles():
    found = glsw.dotplot(
        [letters(30), QUERY], [OTHER, SHARED], side=8, scoring=SCORING, max_alignments=2
    )
    assert [(line.query, line.target, line.score) for line in found.lines] == [
        (1, 0, 140),
        (1, 1, 120),
    ]


def test_of_strands_with_the_cap_the_one_with_more_tiles_is_aligned_first():
    long = letters(120)
    query, target = OTHER[:50] + letters(9) + long, OTHER[:50] + reversed_strand(long, False)
    found = glsw.dotplot(query, target, side=8, scoring=SCORING, max_alignments=1)
    assert found.plus.max() == found.minus.max() == 80
    assert [(line.sign, line.score) for line in found.lines] == [("-", 240)]


def test_proteins_have_one_strand():
    plot = glsw.dotplot("HEAGAWGHEE", "PAWHEAE", side=1, cap=None)
    query, target = (glsw.PROTEIN.encode(each) for each in ("HEAGAWGHEE", "PAWHEAE"))
    expected = score_map(query, target, glsw.Scoring.blast(), 1, 2**30, "through")
    np.testing.assert_array_equal(plot.plus, expected)
    assert plot.plus.max() == 17


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"value": "best"}, "value 'best': 'through' or 'end' expected"),
        ({"cap": 0}, "cap 0: a score above 0"),
        ({"tiles": 0}, "tiles 0: a whole number of 1 or more"),
        ({"side": 0}, "side 0: a whole number of 1 or more"),
        ({"strand": "both"}, "only nucleic acid has a minus strand"),
        ({"mode": "global"}, "local alignments only"),
    ],
)
def test_wrong_options_are_errors(options, message):
    with pytest.raises(ValueError, match=message):
        glsw.dotplot("HEAGAWGHEE", "PAWHEAE", **options)


def test_several_records_need_a_cap():
    with pytest.raises(ValueError, match="need a cap"):
        glsw.dotplot(["HEAG", "AWGHEE"], cap=None)


def test_places_of_an_axis():
    axis = Axis((Segment(0, "a", 5, 12), Segment(3, "b", 0, 4)), 4)
    assert axis.tiles == 3
    assert [axis.place(tile) for tile in (0, 1.99, 2, 2.75, 99)] == [
        (0, 5),
        (0, 11),
        (1, 0),
        (1, 3),
        (1, 3),
    ]
    assert axis.tile(1, 2) == 2.5


def test_colours_are_white_by_chance_and_full_at_the_best():
    tiles = np.full((4, 4), 20, np.int32)
    tiles[1, 2] = 100
    scale = Scale.of({"+": tiles})
    picture = scale.picture({"+": tiles})
    assert (picture[tiles == 20] == 255).all()
    assert picture[1, 2].tolist() == [0, 84, 168]
    assert Scale.of({"+": tiles}, 400).high == 400
    assert Scale.of({}).picture({"+": np.zeros((1, 1), np.int32)}).tolist() == [[[255] * 3]]


def page_data(text):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])


def test_the_page_has_the_map_and_needs_nothing_else(plot):
    text = plot.html()
    data = page_data(text)
    unpacked = zlib.decompress(base64.b64decode(data["maps"]["-"]))
    tiles = np.frombuffer(unpacked, f"<u{data['bytes']}").reshape(data["shape"])
    np.testing.assert_array_equal(tiles, plot.minus)
    assert [line["texts"][0] for line in data["lines"]] == ["140", "120"]
    assert data["lines"][0]["texts"][3:] == ["target 101 - 170", "100.0%"]
    assert data["strands"]
    assert not re.search(r"https?://|src=|href=|@import|url\(", text)


def test_alignments_are_coloured_by_identity():
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    query = "HEAGAWGHEEMKVLAW"
    found = glsw.dotplot([query, query.replace("A", "S")], query, max_alignments=2)
    assert [line.identity for line in found.lines] == [1.0, 13 / 16]
    data = page_data(found.html())
    assert [(line["kind"], line["texts"][-1]) for line in data["lines"]] == [
        (0, "100.0%"),
        (1, "81.2%"),
    ]
    assert not data["strands"]
    assert {len(line["texts"]) for line in data["lines"]} == {4}
    figure = draw(found)
    shown = {line.get_label(): line.get_color() for line in figure.axes[0].lines}
    for _, text, colour in LINES[:2]:
        np.testing.assert_allclose(255 * shown[f"alignments {text}"], colour)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        f"alignments {text}" for _, text, _ in LINES[:2]
    ]


def test_hostile_names_are_text():
    name = "</script><script>alert(1)</script>&\"'$x$"
    plot = glsw.dotplot([glsw.Record(name, "", SHARED), SHARED], side=16, scoring=SCORING)
    text = plot.html()
    assert text.count("<script") == 2
    assert page_data(text)["query"][0]["name"] == name
    single = glsw.dotplot(glsw.Record(name, "", SHARED), side=16, scoring=SCORING)
    assert "<script>alert" not in single.html()


def test_pictures_with_any_names_are_well_formed(tmp_path):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    strange = ["\x01", "\x1b[2J", "\x7f", "\ufffe", "\ud800", "<&", "$x$"]
    records = [glsw.Record(f"one{each}two", "", SHARED) for each in strange]
    for side in (records[0], records):
        plot = glsw.dotplot(side, side=32, scoring=SCORING)
        plot.write(tmp_path / "plot.html")
        plot.write(tmp_path / "plot.svg")
        ElementTree.parse(tmp_path / "plot.svg")


def test_files_of_all_kinds(plot, tmp_path):
    for suffix in SUFFIXES:
        plot.write(tmp_path / f"plot{suffix}")
    assert (tmp_path / "plot.png").read_bytes()[:4] == b"\x89PNG"
    assert b"<svg" in (tmp_path / "plot.svg").read_bytes()
    arrays = np.load(tmp_path / "plot.npz")
    assert [*arrays] == [*ARRAYS]
    np.testing.assert_array_equal(arrays["minus"], plot.minus)
    assert arrays["query_ranges"].tolist() == [[0, len(QUERY)]]
    assert arrays["target_names"].tolist() == ["target"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"plot{suffix}" for suffix in SUFFIXES
    )
    with pytest.raises(ValueError, match="must be named"):
        plot.write(tmp_path / "plot.gif")


def test_notebooks_show_it(plot, monkeypatch):
    assert plot._repr_png_()[:4] == b"\x89PNG"
    said = "<DotPlot of 23 x 23 tiles of 8 residues, strand + and -, alignments: 2>"
    assert repr(plot) == said
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert plot._repr_png_() is None


@pytest.mark.parametrize("upright", [False, True], ids=["wide", "upright"])
def test_a_short_sequence_against_several_is_a_picture_with_all_names(upright):
    several = [glsw.Record(f"sp|P0000{k}|LONG_NAME", "", letters(700)) for k in range(3)]
    sides = (several, letters(40)) if upright else (letters(40), several)
    drawn = draw(glsw.dotplot(*sides, side=8, scoring=SCORING))
    drawn.draw_without_rendering()
    axes = drawn.axes[0]
    box = axes.get_window_extent()
    assert min(box.width, box.height) > 1.2 * drawn.dpi
    assert box.width * box.height > 0.3 * drawn.bbox.width * drawn.bbox.height
    for tick in axes.get_yticklabels() if upright else axes.get_xticklabels():
        place = tick.get_window_extent()
        assert min(place.x0, place.y0) >= 0


def test_pictures_without_matplotlib_are_an_error(plot, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"need matplotlib: pip install 'glsw\[plot\]'"):
        plot.write(tmp_path / "plot.png")


def test_the_command_writes_what_the_library_gives(plot, tmp_path, capsys):
    for name, text in (("a", QUERY), ("b", TARGET)):
        (tmp_path / f"{name}.fasta").write_text(f">{name} x\n{text}\n")
    paths = [str(tmp_path / f"{name}.fasta") for name in "ab"]
    output = tmp_path / "plot.npz"
    picture = tmp_path / "plot.png"
    status = main(
        ["dotplot", *paths, "--side", "8", "--output", str(output), "--output", str(picture)]
    )
    assert status == 0
    np.testing.assert_array_equal(np.load(output)["plus"], plot.plus)
    assert picture.stat().st_size > 1000
    said = capsys.readouterr().err
    assert ("is a software renderer on the CPU\n" in said) == open_device().info.software
    assert "23 x 23 tiles of 8 residues" in said
    assert "DNA scoring" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--output", "a.gif"], "--output a.gif: a dot plot must be named .png"),
        (["--output", "a.png", "--side", "0"], "--side: 0: a whole number of 1 or more"),
        (["--output", "a.png", "--cap", "-3"], "-3: a score above 0, auto or none"),
        (["--output", "a.png", "--strand", "minus"], "--strand 'minus': only nucleic acid"),
        ([], "the following arguments are required: --output"),
    ],
)
def test_bad_options_are_one_line(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.fasta").write_text(">a\nHEAGAWGHEE\n")
    assert main(["dotplot", "a.fasta", *words]) == 2
    (line,) = [each for each in capsys.readouterr().err.splitlines() if "software" not in each]
    assert message in line


def test_a_file_without_residues_is_an_error(tmp_path, capsys):
    (tmp_path / "a.fasta").write_text(">a\n\n")
    assert main(["dotplot", str(tmp_path / "a.fasta"), "--output", str(tmp_path / "a.png")]) == 2
    assert "it has no residues" in capsys.readouterr().err
