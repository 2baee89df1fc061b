"""What the command lines have in common."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from glsw.device.device import DeviceError
from glsw.device.shader import ShaderError

INPUT = (OSError, ImportError, ValueError, DeviceError, ShaderError, subprocess.SubprocessError)
"""What input that cannot be used raises."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see --help)\n")

    def run(self, work: Callable[[argparse.Namespace], int], argv: Sequence[str] | None) -> int:
        """Do the work of a command line; return its exit status, 2 for input that is no use."""
        arguments = self.parse_args(argv)
        try:
            return work(arguments)
        except INPUT as error:
            name = self.prog.removeprefix("python -m ")
            print(f"{name}: {' '.join(str(error).split())}", file=sys.stderr)
            return 2


def number(kind: Callable[[str], Any], least: float, what: str) -> Callable[[str], Any]:
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
