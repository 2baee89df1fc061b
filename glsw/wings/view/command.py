"""The command ``glsw view``: a window on the dot plot of two genomes."""

from __future__ import annotations

import argparse
import re
from contextlib import closing
from importlib.util import find_spec

from glsw.cli.command import Group, group, option
from glsw.wings.dotplot.command import Map, Plot
from glsw.wings.view.scene import KEYS, Scene

_SIZE = 1100, 860


def _size(text: str) -> tuple[int, int]:
    """Return the width and the height of a window.

    >>> _size("640x480")
    (640, 480)
    """
    words = text.lower().split("x")
    if len(words) != 2 or not all(each.isascii() and each.isdecimal() for each in words):
        raise argparse.ArgumentTypeError(f"{text!r}: two numbers such as 1100x860 expected")
    width, height = map(int, words)
    if not (300 <= width <= 16384 and 200 <= height <= 16384):
        raise argparse.ArgumentTypeError(f"{text}: from 300x200 to 16384x16384 expected")
    return width, height


class _Window(Map):
    size: tuple[int, int] = option(
        f"WxH: pixels of the window ({_SIZE[0]}x{_SIZE[1]})", _SIZE, type=_size
    )


class _Keys(Group, title="keys"):
    about = "; ".join(re.split(" {3}", "   ".join(KEYS)))


class View(Plot):
    """Show a dot plot in a window."""

    examples = (
        "glsw view genome1.fa genome2.fa",
        "glsw view genome1.fa --strand plus --size 1600x1200",
    )
    map: _Window = group(_Window)
    keys: _Keys = group(_Keys)

    def run(self) -> None:
        """Show the window until it is closed."""
        if find_spec("PIL") is None:
            raise ValueError("a window needs Pillow: pip install 'glsw[view]'")
        from glsw.wings.view.window import Window

        scoring, queries, targets, _ = self.read_inputs()
        with self.aligner(scoring) as aligner:
            mapper = self.prepared(aligner, queries, targets).mapper
            title = f"glsw view {self.query} {self.target or ''}".rstrip()
            with closing(Scene(aligner, mapper, *self.map.size)) as scene:
                Window(scene, title).run()
