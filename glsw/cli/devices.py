"""The command ``glsw devices``: a list of the OpenGL devices."""

from __future__ import annotations

import argparse

from glsw.cli.stream import opened
from glsw.device.device import devices


def add(_: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no options."""


def run(_: argparse.Namespace) -> None:
    """List the devices."""
    with opened("-") as stream:
        stream.writelines(f"{info}\n" for info in devices())
