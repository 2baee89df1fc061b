"""The command ``glsw devices``: a list of the OpenGL devices."""

from __future__ import annotations

import argparse

from glsw.cli.options import Command
from glsw.cli.outputs import opened
from glsw.device.device import devices


def add(command: Command) -> None:
    """Add the command."""
    command("devices", run, "list the OpenGL devices")


def run(_: argparse.Namespace) -> None:
    """List the devices."""
    with opened("-") as stream:
        stream.writelines(f"{info}\n" for info in devices())
