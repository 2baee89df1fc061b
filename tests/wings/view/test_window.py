"""The window itself, under Xvfb: what is on the screen; without a display."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from glsw.wings.dotplot.colours import COLOURS

pytest.importorskip("PIL", reason="the extra view is not installed")

from PIL import Image

LETTERS = "ACGTTGCATTCAGGAC" * 12
ROOT = Path(__file__).parents[3]
WINDOW = """
import time, warnings
import glfw, numpy as np
from PIL import ImageGrab
warnings.simplefilter("ignore")
import glsw
from glsw.aligner import Aligner
from glsw.wings.dotplot.mapper import Settings
from glsw.wings.dotplot.plot import prepare
from glsw.wings.view.picture import picture
from glsw.wings.view.scene import LEFT, TOP, Scene
from glsw.wings.view.window import Window

rng = np.random.default_rng(1)
letters = "".join(rng.choice(list("ACGT"), 900))
aligner = Aligner(glsw.Scoring.nucleotide())
scene = Scene(aligner, prepare(aligner, letters[:600], letters[300:], Settings()).mapper, 640, 560)
window = Window(scene, "test")
shown = window._window

def settled():
    glfw.poll_events()
    for now in (0.0, 1.0, 2.0):
        scene.tick(now)
        while scene.busy:
            time.sleep(0.01)
    window.draw()
    window._ctx.finish()
    x, y = glfw.get_window_pos(shown)
    screen = ImageGrab.grab((x, y, x + scene.size[0], y + scene.size[1]), xdisplay="")
    assert screen.tobytes() == picture(scene).tobytes(), "it shows the picture"

def callback(name):
    change = getattr(glfw, f"set_{name}_callback")
    found = change(shown, None)
    change(shown, found)
    return lambda *values: found(shown, *values)

settled()
callback("cursor_pos")(LEFT + scene.pixel(1, 150.5), TOP + scene.pixel(0, 450.5))
callback("scroll")(0.0, 4.0)
settled()
pointed = scene.pointed()
callback("scroll")(0.0, 5.4)
assert scene.letters
assert scene.pointed() == pointed
settled()
glfw.get_mouse_button, corner = lambda *_: glfw.PRESS, scene.corner
callback("cursor_pos")(scene.mouse[1] - 30, scene.mouse[0] - 20)
assert np.allclose(scene.corner, corner + np.array((20, 30)) / scene.pixels)
callback("char")(ord("W"))
assert scene.running
callback("key")(glfw.KEY_END, 0, glfw.PRESS, 0)
callback("key")(glfw.KEY_HOME, 0, glfw.RELEASE, 0)
assert scene.k + 1 == scene.passes
settled()
glfw.set_window_size(shown, 700, 400)
while scene.size != (700, 400):
    glfw.wait_events_timeout(0.1)
settled()
window._drawn = "the same"
callback("window_refresh")()
assert window._drawn == ()
scene.closed = True
window.run()
scene.close()
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.fasta").write_text(f">a\n{LETTERS}\n")
    return tmp_path


def python(folder, code, *words):
    """Run Python code under Xvfb."""
    if shutil.which("xvfb-run") is None or shutil.which("Xvfb") is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("Xvfb is not installed (Debian: xvfb)")
    done = subprocess.run(
        ["xvfb-run", "-a", sys.executable, "-c", code, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "LP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr


def test_a_window_shows_the_picture_and_follows_its_keys_and_mouse(tmp_path):
    python(tmp_path, WINDOW)


COMMAND = """
import sys
from glsw.cli import main
from glsw.wings.view.scene import Scene
from glsw.wings.view.window import press

tick = Scene.tick


def tick_and_close(scene, now):
    tick(scene, now)
    if scene.map and not scene.busy:
        press(scene, "q" if scene.message.startswith("saved") else "s")


Scene.tick = tick_and_close
sys.exit(main(["view", *sys.argv[1:]]))
"""


def test_the_command_shows_a_window_until_it_is_closed(files):
    python(files, COMMAND, "a.fasta", "--size", "500x400")
    with Image.open(files / "glsw-view-1.png") as picture:
        assert picture.size == (500, 400)
        assert (np.asarray(picture) == COLOURS["+"]).all(axis=-1).mean() > 0.05


def test_without_a_display_there_is_one_line(files):
    hidden = "DISPLAY", "WAYLAND_DISPLAY"
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-m", "glsw", "view", "a.fasta"],
        cwd=files,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    said = [line for line in done.stderr.splitlines() if "software renderer" not in line]
    assert done.returncode == 2
    assert len(said) == 1, done.stderr
    assert "a window needs a display" in said[0]


def test_what_no_window_can_be_is_one_line(run, monkeypatch):
    assert "20x20: from 300x200" in run("view a.fasta --size 20x20").err
    assert "'big': two numbers" in run("view a.fasta --size big").err
    monkeypatch.setattr("glsw.wings.view.command.find_spec", lambda name: None)
    done = run("view a.fasta")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "a window needs Pillow: pip install 'glsw[view]'" in done.err
