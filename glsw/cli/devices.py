"""The command ``glsw devices``: a list of the OpenGL devices."""

from __future__ import annotations

import argparse

from glsw.cli.stream import PlainStream
from glsw.device.device import devices


def add(_: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no options."""


def run(_: argparse.Namespace) -> None:
    """List the devices."""
    with PlainStream("-") as to:
        to.stream.writelines(f"{info}\n" for info in devices())
