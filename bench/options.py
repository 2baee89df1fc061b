"""What the benchmarks have in common on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong; exit with status 2."""
        self.exit(2, f"{self.prog}: {message} (see --help)\n")


def parser(module: str, text: str, budget: float, budget_help: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark takes."""
    made = Parser(prog=f"python -m bench.{module}", description=text)
    made.add_argument("--device", type=device, help="index, or part of the name")
    made.add_argument("--output", type=Path, metavar="FILE.json", help="write the results")
    made.add_argument("--budget", type=float, default=budget, metavar="SECONDS", help=budget_help)
    made.add_argument("--commit", help="commit to write down where there is no git history")
    return made


def count(text: str) -> int:
    """Read a number from 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: a number from 1 is expected")
    return int(text)


def counts(text: str) -> list[int]:
    """Read numbers with commas between them.

    >>> counts("63,127")
    [63, 127]
    """
    return [count(word) for word in text.split(",")]


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
        chosen = text.split(",")
        for word in chosen:
            if word not in words:
                raise argparse.ArgumentTypeError(f"{word!r}: {', '.join(words)} are known")
        return chosen

    return read


def device(text: str) -> int | str:
    """Read a device: its index, or part of its name."""
    return int(text) if text.isdigit() else text
