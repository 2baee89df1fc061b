"""Benchmarks, run from the checkout, see README.md; here what the command lines have in common."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn


def data(name: str) -> Any:
    """Return what is in a JSON file of this folder."""
    return json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


def without_comments(source: str) -> str:
    """Return the lines of a shader that have code."""
    lines = (line.partition("//")[0].strip() for line in source.splitlines())
    return "\n".join(filter(None, lines))


class Parser(argparse.ArgumentParser):
    """The parser of a command, whose errors are one line."""

    def __init__(self, command: str, description: str | None) -> None:
        super().__init__(prog=f"python -m bench{command}", description=description)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see --help)\n")


def at_least(kind: Callable[[str], Any], least: float, what: str) -> Callable[[str], Any]:
    """Return what reads a number from ``least`` on."""

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = float("nan")
        if not least <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text!r}: {what} is expected")
        return value

    return read
