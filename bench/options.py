"""What the command lines have in common."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from glsw.device.device import DeviceError
from glsw.device.shader import ShaderError

INPUT = (OSError, ImportError, ValueError, DeviceError, ShaderError, subprocess.SubprocessError)
"""What input that cannot be used raises."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see --help)\n")


def run(
    parser: argparse.ArgumentParser,
    work: Callable[[argparse.Namespace], int],
    argv: Sequence[str] | None,
) -> int:
    """Do the work of a command line; return its exit status, 2 for input that cannot be used."""
    arguments = parser.parse_args(argv)
    try:
        return work(arguments)
    except INPUT as error:
        name = parser.prog.removeprefix("python -m ")
        print(f"{name}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


def count(text: str) -> int:
    """Read a number from 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: a number from 1 is expected")
    return int(text)


def indices(text: str) -> list[int]:
    """Read indices of devices with commas between them.

    >>> indices("0,1")
    [0, 1]
    """
    if not all(word.isdigit() for word in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r}: numbers with commas between are expected")
    return [int(word) for word in text.split(",")]


def choices(known: Iterable[str]) -> Callable[[str], list[str]]:
    """Return what reads some of these words, with commas between them.

    >>> choices(["up", "left"])("left")
    ['left']
    """
    words = tuple(known)

    def read(text: str) -> list[str]:
        for word in text.split(","):
            if word not in words:
                raise argparse.ArgumentTypeError(f"{word!r}: {', '.join(words)} are known")
        return text.split(",")

    return read


def one_of(known: Iterable[str]) -> Callable[[str], str]:
    """Return what reads one of these words."""
    read = choices(known)
    return lambda text: read(text)[0]


def positive(text: str) -> float:
    """Read a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: a number above 0 is expected")
    return number


def device_of(text: str) -> int | str:
    """Read a device: its index, or part of its name."""
    return int(text) if text.isdigit() else text
