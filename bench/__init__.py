"""Benchmarks, run from the checkout, see README.md; here what the command lines have in common."""

import argparse
from collections.abc import Callable
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

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
