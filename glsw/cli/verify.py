"""The command ``glsw verify``: checks a database against its checksums."""

from __future__ import annotations

import time

from glsw.cli.command import Command, argument, option
from glsw.cli.stream import PlainStream
from glsw.sequences.database import Database
from glsw.words import POSITIVE, numbered


class Verify(Command):
    """Check a database against its checksums."""

    examples = "glsw verify sprot.glsw", "glsw verify sprot.glsw --threads 4"
    database: str = argument("DB: a database of makedb")
    threads: int | None = option("N: CPU threads (all cores)", within=POSITIVE)

    def run(self) -> None:
        """Read the whole file, and print its size; damage is an error."""
        start = time.perf_counter()
        database = Database.open(self.database)
        database.verify()
        with PlainStream("-") as to:
            to.stream.write(
                f"{self.database}: undamaged, {numbered(len(database), 'sequence')}, "
                f"{numbered(database.residues, 'residue')}, {database.alphabet.name} alphabet, "
                f"format {database.version}, checked in {time.perf_counter() - start:.2f} s\n"
            )
