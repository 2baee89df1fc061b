"""A scene without a window: what is visible and computed, keys, the wavefront, pictures."""

from __future__ import annotations

from concurrent.futures import CancelledError
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest
from program import wait_until

import glsw
from glsw.aligner import Aligner
from glsw.sequences.nucleic import reversed_strand
from glsw.wings.dotplot.colours import COLOURS
from glsw.wings.dotplot.mapper import Settings
from glsw.wings.dotplot.plot import prepare
from glsw.wings.view.scene import BOTTOM, KEYS, LEFT, RIGHT, TOP, Scene

pytest.importorskip("PIL", reason="the extra view is not installed")

from PIL import Image

from glsw.wings.view.picture import picture, status
from glsw.wings.view.window import press

RNG = np.random.default_rng(4)


def letters(length):
    return "".join(RNG.choice(list("ACGT"), length))


SHARED = letters(120)
QUERIES = [letters(200) + SHARED + letters(180), letters(100)]
TARGETS = [letters(90) + SHARED + letters(190) + reversed_strand(SHARED, False)]


@pytest.fixture(scope="module")
def work():
    aligner = Aligner(glsw.Scoring.nucleotide())
    return aligner, prepare(aligner, QUERIES, TARGETS, Settings()).mapper


@pytest.fixture
def scene(work, device):
    device.deactivate()
    with closing(Scene(*work, 700, 604)) as made:
        made.pixels_per_tile = 3.0  # on any device
        yield made


def settled(scene, now=0.0):
    """Return a scene whose map is that of its place."""
    scene.tick(now)
    scene.tick(now + 1)
    wait_until(lambda: not scene.busy)
    scene.tick(now + 1)
    return scene


def computed(scene, *part):
    """Return the map of a part."""
    scene.wanted = part, 8
    scene.compute(scene.wanted)
    return scene.map


def pixels(scene):
    """Return those of the map in its picture."""
    shown = np.asarray(picture(scene))
    assert shown.shape == (scene.size[1], scene.size[0], 3)
    return shown[TOP : shown.shape[0] - BOTTOM, LEFT : shown.shape[1] - RIGHT]


def test_the_whole_table_is_computed_first(scene):
    settled(scene)
    assert scene.wanted == ((range(600), range(520)), 4)
    assert [*scene.map.maps] == ["+", "-"]
    assert scene.map.maps["+"].shape == (125 + 25, 130)
    assert scene.map.tiles(0, [0, 499, 500, 599, 600, -1]).tolist() == [0, 124, 125, 149, -1, -1]


def test_a_settled_view_is_computed_at_its_resolution(scene):
    whole = settled(scene).wanted
    scene.zoom(5.0, (300.0, 300.0))
    scene.tick(2.0)
    scene.tick(2.1)
    assert scene.wanted is whole, "it may still move"
    scene.tick(2.2)
    part, side = closer = scene.wanted
    assert side == 1
    assert len(part[0]) * len(part[1]) < 600 * 520
    scene.move(20, 0)
    settled(scene, 3.0)
    assert scene.wanted is closer, "the margin has it"
    scene.move(1000, 1000)
    assert settled(scene, 5.0).wanted is not closer


def test_a_part_has_the_map_of_its_sequences_and_the_best_alignment_of_each_strand(scene):
    expected = glsw.dotplot(
        QUERIES[0][180:340], TARGETS[0][60:240], side=8, scoring=glsw.Scoring.nucleotide()
    )
    found = computed(scene, range(180, 340), range(60, 240))
    for sign in "+-":
        np.testing.assert_array_equal(found.maps[sign], expected.maps[sign])
    paths = {sign: (score, path.tolist()) for sign, score, path in found.paths}
    assert paths["+"] == (240, [[200, 320], [90, 210]])
    found = computed(scene, range(190, 330), range(380, 520))
    paths = {sign: (score, path.tolist()) for sign, score, path in found.paths}
    assert paths["-"] == (240, [[200, 320], [520, 400]])
    assert computed(scene, range(450, 550), range(100)).paths == (), "two queries"


def test_each_pixel_has_the_colour_of_its_tile(scene):
    """Of two queries, at places where tiles, sequences and the table end."""
    settled(scene)
    found, shown = scene.map, pixels(scene)
    colours = found.scale.picture(found.maps)
    for y, x in np.ndindex(*(scene.area // 7)):
        i, j = np.floor(scene.corner + (np.array((y, x)) * 7 + 0.5) / scene.pixels).astype(int)
        row = i // 4 if i < 500 else 125 + (i - 500) // 4
        inside = 0 <= i < 600 and 0 <= j < 520
        expected = colours[row, j // 4] if inside else (232, 232, 232)
        if abs(scene.pixel(0, 500) - 7 * y) > 1:  # the border of the queries
            assert (shown[7 * y, 7 * x] == expected).all(), (i, j)
    press(scene, "m")
    assert (pixels(scene) != shown).any()
    press(scene, "f")
    assert (pixels(scene)[10:400, 90:500] == 255).all()


def test_the_status_says_what_is_under_the_pointer(scene):
    settled(scene)
    said = {260.5: "query 1 261   target 1 151   plus strand 80 or more, ", 500.5: "query 2 1   "}
    for i, start in said.items():
        scene.mouse = TOP + scene.pixel(0, i), LEFT + scene.pixel(1, 150.5)
        assert status(scene).startswith(start)
        assert status(scene).endswith("(tiles of 4)")
    scene.mouse = 1.0, 1.0
    assert status(scene) == f"{scene.pixels:.3g} pixels per residue"


def test_keys(scene, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settled(scene)
    least, before = scene.least, scene.shown
    press(scene, "+")
    assert scene.pixels == pytest.approx(1.5 * least)
    press(scene, "-")
    assert scene.pixels == pytest.approx(least)
    press(scene, "1")
    assert scene.letters
    assert scene.shown != before
    corner = scene.corner
    for key in ("right", "down"):
        press(scene, key)
    assert (scene.corner > corner).all()
    for key in ("left", "up", "?"):
        press(scene, key)
    assert scene.corner == pytest.approx(corner)
    for key in ("0", "m", "a", "f", "f"):
        press(scene, key)
    assert (scene.pixels, scene.hidden) == (least, {"-", "paths"})
    (tmp_path / "glsw-view-1.png").touch()
    shown = picture(scene)
    press(scene, "s")
    assert status(scene) == "saved glsw-view-2.png"
    with Image.open("glsw-view-2.png") as saved:
        assert saved.tobytes() == shown.tobytes()
    press(scene, "q")
    press(scene, "0")
    assert scene.closed
    for word in ("wheel", "drag", "arrows", *"01AFMSQWNP", "space", "Home", "End"):
        assert word in " ".join(KEYS)


def test_another_size_keeps_the_whole_or_the_place(scene):
    for size in ((900, 900), (300, 300)):
        scene.resize(*size)
        assert scene.part() == (range(600), range(520))
        assert scene.size == size
    press(scene, "1")
    before = scene.pixels, *scene.corner
    scene.resize(320, 310)
    assert (scene.pixels, *scene.corner) == before


def test_the_wavefront_goes_on_by_itself_and_by_steps(scene):
    settled(scene)
    for key in ("n", "space", "w"):
        press(scene, key)
        assert (scene.wavefront, scene.running) == (None, False)
    assert "at most 256 residues" in status(scene)
    press(scene, "1")
    scene.tick(10.0)
    press(scene, "w")
    scene.tick(10.5)
    assert scene.k == 6
    press(scene, "space")
    scene.tick(11.5)
    for key in ("n", "n", "p"):
        press(scene, key)
    assert (scene.k, scene.running) == (7, False)
    roles = "B: writes diagonal 7   A: reads diagonal 6   C: reads diagonal 5"
    assert status(scene).startswith(f"pass 8 of {scene.passes}   {roles}   best score ")
    press(scene, "home")
    assert "   A: writes diagonal 0   best score" in status(scene)
    press(scene, "space")
    scene.tick(12.0)
    scene.tick(1000.0)
    assert (scene.k, scene.running) == (scene.passes - 1, False), "the last pass"
    parts = zip((QUERIES[0], TARGETS[0]), scene.wavefront.part, strict=True)
    pair = (text[part.start : part.stop] for text, part in parts)
    best = glsw.score(*pair, scoring=glsw.Scoring.nucleotide())
    assert status(scene).endswith(f"   best score {best}")
    press(scene, "w")
    assert scene.wavefront is None


def test_the_picture_of_a_wavefront_has_what_each_pass_knows(scene):
    settled(scene)
    for key in "1w":
        press(scene, key)
    scene.step(9)
    rows, columns = scene.wavefront.part
    h, shown = scene.wavefront.maps["+"], pixels(scene)
    expected = {0: (230, 120, 0), 1: (0, 110, 190), 2: (110, 180, 230)}
    for i, j in np.ndindex(12, 12):
        y, x = int(scene.pixel(0, rows[i]) + 2), int(scene.pixel(1, columns[j]) + 2)
        if min(x, y) >= 0:
            age, colour = 9 - i - j, tuple(shown[y, x].tolist())
            if age > 2:
                assert (colour == (255, 255, 255)) == (h[i, j] == 0)
            else:
                assert colour == expected.get(age, (244, 244, 244))
    assert len(np.unique(shown[-40:].reshape(-1, 3), axis=0)) == 2, "cells are apart"
    with_numbers = len(np.unique(shown.reshape(-1, 3), axis=0))
    scene.zoom(0.9)
    assert with_numbers > len(np.unique(pixels(scene).reshape(-1, 3), axis=0)) + 10, "H"


def test_close_up_there_are_letters_pairs_and_paths(scene):
    settled(scene)
    scene.zoom(40, (TOP + scene.pixel(0, 260), LEFT + scene.pixel(1, 150)))
    settled(scene, 2.0)
    with_path = pixels(scene)
    press(scene, "a")
    assert (with_path != pixels(scene)).any()
    shown = np.asarray(picture(scene))
    for i, j in ((260, 150), (261, 153), (261, 149)):
        y, x = TOP + int(scene.pixel(0, i + 0.5)), LEFT + int(scene.pixel(1, j + 0.5))
        marked = shown[y, x].tolist() == [250, 200, 60]
        assert marked == (QUERIES[0][i] == TARGETS[0][j])
        assert (shown[y - 9 : y + 9, LEFT - 20 : LEFT - 2] < 100).any(), "its letter"


def test_a_wide_window_has_a_legend_of_scores(scene):
    for width, has in ((1100, True), (900, False)):
        scene.resize(width, 600)
        settled(scene)
        bars = np.asarray(picture(scene))[600 - BOTTOM + 20 :]
        for colour in COLOURS.values():
            assert (bars == colour).all(axis=2).any() == has


def test_a_thread_computes_the_last_map_only(scene):
    scene.tick(0.0)
    first = scene.wanted
    press(scene, "1")
    last = settled(scene, 1.0).map
    assert last.part == scene.wanted[0]
    with pytest.raises(CancelledError):
        scene.compute(first)
    assert scene.map is last


def test_errors_of_the_thread_are_raised_by_the_window(scene, monkeypatch):
    monkeypatch.setattr(scene, "mapper", SimpleNamespace(tile=lambda side: 1 / 0))
    scene.tick(0.0)
    wait_until(lambda: not scene.busy)
    with pytest.raises(ZeroDivisionError):
        scene.tick(0.1)


def test_zooming_keeps_what_is_under_the_pointer_and_the_table_in_sight(scene):
    rng = np.random.default_rng(5)
    for _ in range(300):
        scene.lengths = rng.integers(1, 10**7, 2)
        scene.whole()
        for factor, at in zip(rng.uniform(0.5, 3, 9), rng.uniform(80, 500, (9, 2)), strict=True):
            where = scene.corner + (at - (TOP, LEFT)) / scene.pixels
            scene.zoom(factor, tuple(at))
            free = (scene.corner > 0) & (scene.corner < scene.lengths - scene.area / scene.pixels)
            after = scene.corner + (at - (TOP, LEFT)) / scene.pixels
            np.testing.assert_allclose(where[free], after[free], rtol=1e-6)
            assert all(scene.part())
