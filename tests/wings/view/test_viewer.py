"""The view without a window: what is visible, what is computed for it, keys, the wavefront."""

from __future__ import annotations

import numpy as np
import pytest
from program import wait_until

import glsw
from glsw.aligner import Aligner
from glsw.sequences.nucleic import reversed_strand
from glsw.wings.dotplot.colours import COLOURS
from glsw.wings.dotplot.mapper import Settings
from glsw.wings.dotplot.plot import prepare
from glsw.wings.view import scene
from glsw.wings.view.canvas import BLACK, Canvas, width
from glsw.wings.view.computer import Cancelled, Computer, ThreadedWorker
from glsw.wings.view.viewer import KEYS, MARGINS, Viewer
from glsw.wings.view.viewport import Part, Request, Viewport
from glsw.wings.view.wavefront import Wavefront

RNG = np.random.default_rng(4)


def letters(length):
    return "".join(RNG.choice(list("ACGT"), length))


SHARED = letters(120)
QUERIES = [letters(200) + SHARED + letters(180), letters(100)]
TARGETS = [letters(90) + SHARED + letters(190) + reversed_strand(SHARED, False)]


@pytest.fixture(scope="module")
def computer():
    aligner = Aligner(glsw.Scoring.nucleotide())
    made = Computer(aligner, prepare(aligner, QUERIES, TARGETS, Settings()).mapper)
    made.pixels_per_tile = 3.0  # on any device
    return made


class AtOnce:
    """A worker that computes when it is asked."""

    busy = False

    def __init__(self, computer):
        self.computer, self.found, self.requests = computer, None, []

    def submit(self, request):
        self.requests.append(request)
        self.found = self.computer.compute(request, lambda found: None)

    def latest(self):
        return self.found


@pytest.fixture
def viewer(computer):
    made = Viewer(computer, AtOnce(computer), 700, 600)
    made.tick(0.0)
    made.tick(0.0)
    return made


def test_the_whole_table_is_computed_first(viewer):
    assert viewer.worker.requests == [Request(Part(0, 600, 0, 520), 4)]
    assert viewer.computed.complete
    assert viewer.computed.maps["+"].shape == (125 + 25, 130)


def test_a_settled_view_is_computed_at_its_resolution(viewer):
    viewer.mouse = 300.0, 300.0
    viewer.scroll(4, now=1.0)
    viewer.tick(1.05)
    assert len(viewer.worker.requests) == 1, "it may still move"
    viewer.tick(1.2)
    (_, closer) = viewer.worker.requests
    assert closer.side == 1
    assert closer.part.covers(viewer.viewport.visible())
    assert closer.part.cells < 600 * 520
    viewer.key("right", now=2.0)
    viewer.tick(3.0)
    assert len(viewer.worker.requests) == 2 + (not closer.part.covers(viewer.viewport.visible()))


def test_a_part_has_the_map_of_its_sequences(computer):
    request = Request(Part(180, 340, 60, 240), 8)
    found = computer.compute(request, lambda found: None)
    expected = glsw.dotplot(
        QUERIES[0][180:340], TARGETS[0][60:240], side=8, scoring=glsw.Scoring.nucleotide()
    )
    for sign in "+-":
        np.testing.assert_array_equal(found.maps[sign], expected.maps[sign])
    ((sign, score, path),) = [each for each in found.paths if each[0] == "+"]
    assert (sign, score) == ("+", 240)
    assert path.tolist() == [[200, 320], [90, 210]]


def test_paths_of_the_minus_strand_are_on_the_plus_strand(computer):
    found = computer.compute(Request(Part(190, 330, 380, 520), 8), lambda found: None)
    ((_, score, path),) = [each for each in found.paths if each[0] == "-"]
    assert score == 240
    assert path.tolist() == [[200, 320], [520, 400]]


def test_blocks_and_tiles_are_those_of_the_sequences(viewer):
    first, second = scene.blocks(viewer)
    assert (first.rows, second.rows, second.first_row) == (125, 25, 125)
    assert second.y - first.y == pytest.approx(500 * viewer.viewport.pixels)
    assert scene.tile_at(viewer, 499, 0) == (124, 0)
    assert scene.tile_at(viewer, 500, 519) == (125, 129)
    assert scene.tile_at(viewer, 600, 0) is None


def test_the_status_says_what_is_under_the_pointer(viewer):
    x, y = viewer.viewport.pixel(260.5, 150.5)
    viewer.move(x + MARGINS.left, y + MARGINS.top)
    status = scene._status(viewer)
    assert status.startswith("query 1 261   target 1 151   plus strand 80 or more, minus strand")
    viewer.move(1, 1)
    assert "pixels per residue" in scene._status(viewer)


def test_keys(viewer):
    whole = viewer.viewport
    viewer.key("+")
    assert viewer.viewport.pixels == pytest.approx(1.5 * whole.pixels)
    viewer.key("-")
    assert viewer.viewport.pixels == pytest.approx(whole.pixels)
    viewer.key("1")
    assert viewer.viewport.letters
    before = viewer.viewport.x
    viewer.key("right")
    assert viewer.viewport.x > before
    viewer.key("0")
    assert viewer.viewport == whole
    viewer.key("m")
    assert viewer.hidden == {"-"}
    viewer.key("m")
    viewer.key("a")
    assert not viewer.shows_paths
    viewer.key("s")
    viewer.key("q")
    assert viewer.wants_picture
    assert viewer.closed
    shown = " ".join(KEYS)
    words = "wheel|drag|arrows|0|1|A|F|M|S|Q|W|space|N|P|Home|End"
    assert all(f"{word}" in shown for word in words.split("|"))


def test_dragging_moves_what_is_held(viewer):
    viewer.key("1")
    x = viewer.viewport.x
    viewer.move(300, 300)
    viewer.hold(True)
    viewer.move(264, 300)
    assert viewer.viewport.x == pytest.approx(x + 36 / viewer.viewport.pixels)
    viewer.hold(False)
    viewer.move(100, 100)
    assert viewer.viewport.x == pytest.approx(x + 36 / viewer.viewport.pixels)


def test_another_size_keeps_all_of_the_whole(viewer):
    viewer.resize(900, 900)
    part = viewer.viewport.visible()
    assert part == Part(0, 600, 0, 520)


def test_the_wavefront_goes_on_by_itself_and_by_steps(viewer):
    viewer.key("w")
    assert viewer.wavefront is None
    assert "at most 256 residues" in scene._status(viewer)
    viewer.key("1")

    def wave():
        return viewer.wavefront

    viewer.key("w", now=10.0)
    viewer.tick(10.5)
    assert wave().k == 6
    viewer.key("space", now=10.5)
    viewer.tick(11.5)
    assert wave().k == 6
    viewer.key("n")
    viewer.key("n")
    viewer.key("p")
    assert wave().k == 7
    assert scene._status(viewer).startswith(
        f"pass 8 of {wave().passes}   B: writes diagonal 7   A: reads diagonal 6   "
        "C: reads diagonal 5"
    )
    viewer.key("end")
    assert wave().k == wave().passes - 1
    part = viewer.viewport.visible()
    rows = glsw.score(
        QUERIES[0][part.query_start : part.query_end],
        TARGETS[0][part.target_start : part.target_end],
        scoring=glsw.Scoring.nucleotide(),
    )
    assert wave().best == rows
    viewer.key("w")
    assert wave() is None


def test_a_wavefront_has_each_cell_once():
    wave = Wavefront(Part(0, 3, 0, 5), np.arange(15).reshape(3, 5))
    cells = [cell for k in range(wave.passes) for cell in wave.diagonal(k)]
    assert sorted(cells) == [(i, j) for i in range(3) for j in range(5)]
    assert wave.stepped(-5).k == 0
    assert wave.stepped(99).best == 14


def test_the_overlay_has_letters_and_paths(viewer):
    viewer.viewport = viewer.viewport.zoomed(40, *viewer.viewport.pixel(260, 150))
    viewer.tick(0.0)
    viewer.tick(1.0)
    viewer.tick(1.0)
    assert viewer.computed.request.side == 1
    with_paths = scene.overlay(viewer).pixels
    viewer.key("a")
    without = scene.overlay(viewer).pixels
    assert (with_paths != without).any()
    y = int(viewer.viewport.pixel(260.5, 0)[1]) + MARGINS.top
    cell = without[y - 7 : y + 7, MARGINS.left - 19 : MARGINS.left - 7]
    alone = Canvas(12, 14)
    alone.centred(6, 7, QUERIES[0][260], size=2)
    ink = (255.0 - cell[..., 0]).sum()
    assert ink == pytest.approx(alone.pixels[..., 3].sum(), rel=0.1)


def test_a_thread_computes_the_last_request_only(computer, device):
    device.deactivate()
    worker = ThreadedWorker(computer)
    try:
        wanted = Request(Part(0, 64, 0, 64), 4)
        worker.submit(Request(Part(0, 600, 0, 520), 1))
        worker.submit(wanted)
        wait_until(lambda: not worker.busy)
        assert worker.latest().request == wanted
        assert worker.latest().complete
    finally:
        worker.close()


def test_what_is_not_wanted_is_cancelled(computer):
    seen = []

    def show(found):
        seen.append(found)
        raise Cancelled

    with pytest.raises(Cancelled):
        computer.compute(Request(Part(0, 600, 0, 520), 4), show)
    assert len(seen) == 1
    again = computer.compute(Request(Part(0, 600, 0, 520), 4), lambda found: None)
    assert again.complete


def test_errors_of_the_thread_are_raised_by_the_window(computer, device, monkeypatch):
    device.deactivate()

    def fail(request, show):
        raise ValueError("no")

    monkeypatch.setattr(computer, "compute", fail)
    worker = ThreadedWorker(computer)
    worker.submit(Request(Part(0, 64, 0, 64), 4))
    with pytest.raises(ValueError, match="no"):
        wait_until(worker.latest)
    worker.close()


@pytest.mark.parametrize("seed", range(20))
def test_zooming_keeps_what_is_under_the_pointer_and_the_table_in_sight(seed):
    rng = np.random.default_rng(seed)
    view = Viewport(int(rng.integers(1, 10**7)), int(rng.integers(1, 10**7)), 640, 480).whole()
    for _ in range(30):
        x, y = rng.uniform(0, 640), rng.uniform(0, 480)
        at = view.at(x, y)
        closer = view.zoomed(1.4, x, y)
        if at and view.pixels < closer.pixels and closer.at(x, y):
            near = np.abs(np.subtract(closer.at(x, y), at))
            free = closer.x not in (0.0,) and closer.y not in (0.0,)
            if free and closer.at(x, y) and view.x > 0 and view.y > 0:
                assert near.max() <= 1 + 640 / view.pixels
        view = closer.moved(*rng.uniform(-200, 200, 2))
        part = view.visible()
        assert part.cells > 0
        assert not view.needs(view.request(2), 2)


@pytest.mark.parametrize("upwards", [False, True])
def test_a_text_lies_where_its_capitals_begin(upwards):
    canvas = Canvas(80, 60)
    canvas.text(7, 9, "HAG", BLACK, upwards=upwards)
    rows, columns = np.nonzero(canvas.pixels[..., 3] > 128)
    assert abs(columns.min() - 7) <= 1
    assert abs(rows.min() - 9) <= 1
    long = (rows if upwards else columns).max() - 8
    assert abs(long - width("HAG")) <= 3
    assert 6 <= (columns.max() - 6 if upwards else rows.max() - 8) <= 11


def test_a_wide_window_has_a_legend_of_scores(computer):
    viewer = Viewer(computer, AtOnce(computer), 1100, 600)
    viewer.tick(0.0)
    viewer.tick(0.0)
    bars = scene.overlay(viewer).pixels[600 - MARGINS.bottom + 20 :]
    for colour in COLOURS.values():
        assert (bars[..., :3] == colour).all(axis=2).any()
