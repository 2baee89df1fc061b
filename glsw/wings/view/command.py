"""The command ``glsw view``: a window on the dot plot of two genomes."""

from __future__ import annotations

import argparse
import re
from contextlib import closing

from glsw.cli.words import add_rows
from glsw.wings.dotplot.command import add_map, add_sequences, aligner_for, prepared_of, read_inputs
from glsw.wings.dotplot.figure import check
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


_ADD = {
    ("--size", _size, _SIZE, "WxH"): f"pixels of the window ({_SIZE[0]}x{_SIZE[1]})",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    add_sequences(parser)
    group = add_map(parser)
    add_rows(group, _ADD)
    parser.add_argument_group("keys", "; ".join(re.split(" {3}", "   ".join(KEYS))))


def run(arguments: argparse.Namespace) -> None:
    """Show the window until it is closed."""
    title = f"glsw view {arguments.query} {arguments.target or ''}".rstrip()
    check(title)
    from glsw.wings.view.window import Window

    scoring, queries, targets, _ = read_inputs(arguments)
    with aligner_for(arguments, scoring) as aligner:
        mapper = prepared_of(arguments, aligner, queries, targets).mapper
        with closing(Scene(aligner, mapper, *arguments.size)) as scene:
            Window(scene, title).run()
