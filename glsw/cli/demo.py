"""The command ``glsw demo``: a first search, in proteins that it generates."""

from __future__ import annotations

import random
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path

from glsw import cli
from glsw.cli.command import Command, argument
from glsw.cli.messages import say
from glsw.statistics.ungapped_constants import ROBINSON

_NAMES = "demo_query.fasta", "demo_database.fasta"
_LENGTH, _UNRELATED = 240, 195
_KEPT = 90, 70, 50, 35, 25
"""Percentages of the query's residues that its relatives keep."""
_INDELS = 0.01
"""The probability that a relative lacks a residue of the query, and that it has one more."""


class Demo(Command):
    """Search proteins that it generates."""

    examples = "glsw demo", "glsw demo first_search"
    folder: str = argument(
        "DIR: the folder for both files, which is created if needed (the current one)",
        ".",
        nargs="?",
    )

    def run(self) -> None:
        """Write a query and a database, and search: the files are the same on every machine."""
        folder = Path(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / name for name in _NAMES]
        query, *database = _proteins(random.Random(1982))
        for path, proteins in zip(paths, ([query], database), strict=True):
            lines = (f">{title}\n{textwrap.fill(letters, 60)}\n" for title, letters in proteins)
            text = "".join(lines)
            if path.exists() and path.read_text(encoding="utf-8", errors="replace") != text:
                raise ValueError(f"{path} has other content: give another folder, glsw demo DIR")
            path.write_text(text, encoding="utf-8")
        words = ["search", *map(str, paths), "--evalue", "1e-3", "--format", "table"]
        say(f"wrote {paths[0]} and {paths[1]} ({len(database)} generated proteins)")
        say(f"running glsw {shlex.join(words)}")
        cli.parsed(words).run()


def _proteins(rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yield title and letters: of the query, of its relatives, and of unrelated proteins."""

    def generated(length: int) -> str:
        return "".join(rng.choices([*ROBINSON], [*ROBINSON.values()], k=length))

    query = generated(_LENGTH)
    yield "demo_query a generated protein", query
    for kept in _KEPT:
        letters = ""
        for letter in query:
            if rng.random() >= _INDELS:
                letters += letter if rng.random() < kept / 100 else generated(1)
            if rng.random() < _INDELS:
                letters += generated(1)
        yield f"relative_{kept} {kept} % of the query kept", letters
    for number in range(1, _UNRELATED + 1):
        yield f"unrelated_{number}", generated(rng.randint(60, 600))
