"""What the benchmarks have in common on the command line."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from glsw.device.device import DeviceError
from glsw.device.shader import ShaderError

INPUT = (OSError, ImportError, ValueError, DeviceError, ShaderError)
"""What input that cannot be used raises."""

CANNOT = (ValueError, DeviceError, ShaderError, MemoryError)
"""What an engine raises when it cannot do some work."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong; exit with status 2."""
        self.exit(2, f"{self.prog}: {message} (see --help)\n")

    def add_count(self, name: str, text: str, default: int | None = None) -> None:
        """Add an option that takes a number from 1."""
        self.add_argument(name, type=count, default=default, metavar="N", help=text)

    def add_counts(self, name: str, default: Sequence[int], text: str) -> None:
        """Add an option that takes numbers with commas between them; the help says the default."""
        shown = ",".join(map(str, default))
        self.add_argument(
            name,
            type=counts,
            default=list(default),
            metavar="N,N,...",
            help=f"{text} (default {shown})",
        )

    def add_choices(
        self,
        name: str,
        known: Iterable[str],
        default: Sequence[str] | None = None,
        text: str = "",
    ) -> None:
        """Add an option that takes some of these words with commas between them, default all."""
        words = list(known)
        shown = "all" if default is None else ",".join(default)
        self.add_argument(
            name,
            type=choices(words),
            default=words if default is None else list(default),
            metavar="NAME,...",
            help=f"of {', '.join(words)} (default {shown}){text}",
        )

    def add_devices(self, text: str) -> None:
        """Add an option that takes indices of devices with commas between them, default none."""
        self.add_argument("--devices", type=indices, default=[], metavar="N,N,...", help=text)


def parser(
    module: str,
    text: str | None,
    budget: float | None = None,
    budget_help: str = "",
    *,
    device: bool = True,
) -> Parser:
    """Return a parser with the options that every benchmark takes.

    Parameters
    ----------
    module : str
        Of `bench`.
    text : str or None
        Its docstring, of which the first line is shown.
    budget : float, optional
        Default of ``--budget`` in seconds; without it there is no such option.
    budget_help : str
        What the seconds are for.
    device : bool
        Whether there is an option ``--device``.
    """
    made = Parser(prog=f"python -m bench.{module}", description=(text or "").partition("\n")[0])
    if device:
        made.add_argument("--device", type=device_of, help="index, or part of the name")
    made.add_argument("--output", type=Path, metavar="FILE.json", help="write the results")
    if budget is not None:
        made.add_argument(
            "--budget", type=float, default=budget, metavar="SECONDS", help=budget_help
        )
    made.add_argument("--commit", help="commit to write down where there is no git history")
    return made


def run(
    parser: argparse.ArgumentParser,
    work: Callable[[argparse.Namespace], int],
    argv: Sequence[str] | None,
) -> int:
    """Do the work of a command line; return its exit status, 2 for input that cannot be used."""
    arguments = parser.parse_args(argv)
    try:
        return work(arguments)
    except (*INPUT, subprocess.SubprocessError) as error:
        name = parser.prog.removeprefix("python -m ")
        print(f"{name}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


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


def one_of(known: Iterable[str]) -> Callable[[str], str]:
    """Return what reads one of these words."""
    read = choices(known)

    def word(text: str) -> str:
        (found,) = read(text)
        return found

    return word


def positive(text: str) -> float:
    """Read seconds above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: seconds above 0 are expected")
    return number


def device_of(text: str) -> int | str:
    """Read a device: its index, or part of its name."""
    return int(text) if text.isdigit() else text
