"""The window itself, under Xvfb: what is in its pixels at three zoom levels; no display."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from glsw.cli import main
from glsw.wings.view import command

ROOT = Path(__file__).parents[3]
WINDOW = """
import sys, time, warnings
import moderngl, numpy as np
warnings.simplefilter("ignore")
import glsw
from glsw.aligner import Aligner
from glsw.wings.dotplot.mapper import Settings
from glsw.wings.dotplot.plot import prepare
from glsw.wings.view.computer import Computer, ThreadedWorker
from glsw.wings.view.viewer import Viewer
from glsw.wings.view.window import Painter, glfw_window, save

rng = np.random.default_rng(1)
letters = "".join(rng.choice(list("ACGT"), 900))
aligner = Aligner(glsw.Scoring.nucleotide())
computer = Computer(aligner, prepare(aligner, letters[:600], letters[300:], Settings()).mapper)
with glfw_window(640, 560, "test") as window:
    painter, worker = Painter(moderngl.create_context(require=330)), ThreadedWorker(computer)
    viewer = Viewer(computer, worker, 640, 560)

    def settled():
        viewer.tick(time.monotonic())
        time.sleep(0.2)
        viewer.tick(time.monotonic())
        while worker.busy:
            time.sleep(0.01)
        viewer.tick(time.monotonic())
        painter.draw(viewer)
        return painter.pixels(viewer)

    found = [settled()]
    viewer.viewport = viewer.viewport.zoomed(5, *viewer.viewport.pixel(450, 150))
    found.append(settled())
    viewer.viewport = viewer.viewport.zoomed(9, *viewer.viewport.pixel(450, 150))
    assert viewer.viewport.letters
    found.append(settled())
    viewer.key("w")
    viewer.running = False
    viewer.key("end")
    found.append(settled())
    np.save(sys.argv[1], np.stack(found))
    print(save(painter, viewer))
    worker.close()
"""


def needs_xvfb():
    if shutil.which("xvfb-run") is None or shutil.which("Xvfb") is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("Xvfb is not installed (Debian: xvfb)")


def blue(pixels):
    """Return which pixels have the full colour of the plus strand."""
    return (np.abs(pixels.astype(int) - (0, 84, 168)) < 6).all(axis=-1)


def test_three_zoom_levels_and_the_wavefront_in_a_window(tmp_path):
    needs_xvfb()
    done = subprocess.run(
        ["xvfb-run", "-a", sys.executable, "-c", WINDOW, tmp_path / "found.npy"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "LP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    whole, closer, close, wavefront = np.load(tmp_path / "found.npy")
    # The shared half is a diagonal of 300: a tenth as wide as long, then as wide as the window.
    shares = [blue(each[60:480, 110:620]).mean() for each in (whole, closer, close)]
    assert 0.01 < shares[0] < 0.2
    assert shares[1] > 2 * shares[0]
    assert shares[2] > 1.5 * shares[1]
    orange = (np.abs(wavefront.astype(int) - (230, 120, 0)) < 25).all(axis=-1)
    assert orange.any()
    assert (whole[-60:] < 150).any(), "keys are shown"
    assert "glsw-view-1.png" in done.stdout
    assert (tmp_path / "glsw-view-1.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "a window needs a display"),
        (["--size", "20x20"], "20x20: from 300x200"),
        (["--size", "big"], "'big': two numbers"),
    ],
)
def test_without_a_display_there_is_one_line(words, message, tmp_path):
    (tmp_path / "a.fasta").write_text(">a\nACGTTGCA\n")
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY")
    }
    done = subprocess.run(
        [sys.executable, "-m", "glsw", "view", tmp_path / "a.fasta", *words],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    said = [line for line in done.stderr.splitlines() if "software renderer" not in line]
    assert done.returncode == 2
    assert len(said) == 1, done.stderr
    assert message in said[0]


def test_without_pillow_one_line_says_what_to_install(tmp_path, monkeypatch, capsys):
    (tmp_path / "a.fasta").write_text(">a\nACGTTGCA\n")
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert main(["view", str(tmp_path / "a.fasta")]) == 2
    assert capsys.readouterr().err == "glsw: a window needs Pillow: pip install 'glsw[view]'\n"


COMMAND = """
import sys
from glsw.cli import main
from glsw.wings.view.viewer import Viewer

tick = Viewer.tick


def tick_and_close(viewer, now):
    tick(viewer, now)
    if viewer.computed and viewer.computed.complete and not viewer.worker.busy:
        viewer.key("q" if viewer.message.startswith("saved") else "s")


Viewer.tick = tick_and_close
sys.exit(main(["view", *sys.argv[1:]]))
"""


def test_the_command_shows_a_window_until_it_is_closed(tmp_path):
    needs_xvfb()
    (tmp_path / "a.fasta").write_text(">a\n" + "ACGTTGCATTCAGGAC" * 12 + "\n")
    done = subprocess.run(
        ["xvfb-run", "-a", sys.executable, "-c", COMMAND, "a.fasta", "--size", "500x400"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "LP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    picture = matplotlib.image.imread(tmp_path / "glsw-view-1.png")
    assert picture.shape == (400, 500, 3)
    assert blue(np.rint(picture * 255)).mean() > 0.05
