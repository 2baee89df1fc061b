"""The command ``glsw verify``: whether a database is as it was written."""

from __future__ import annotations

import argparse
import time

from glsw.cli.stream import PlainStream
from glsw.cli.words import add_rows, positive
from glsw.sequences.database import Database
from glsw.words import numbered

_ARGUMENTS = {
    ("database", None, None, "DB"): "a database of makedb",
    ("--threads", positive, None, "N"): "CPU threads (all cores)",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    add_rows(parser, _ARGUMENTS)


def run(arguments: argparse.Namespace) -> None:
    """Read the whole file, and print its size; damage is an error."""
    start = time.perf_counter()
    database = Database.open(arguments.database)
    database.verify()
    with PlainStream("-") as to:
        to.stream.write(
            f"{arguments.database}: undamaged, {numbered(len(database), 'sequence')}, "
            f"{numbered(database.residues, 'residue')}, {database.alphabet.name} alphabet, "
            f"format {database.version}, checked in {time.perf_counter() - start:.2f} s\n"
        )
