"""The command ``glsw makedb``: an index of sequences."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from glsw.cli.inputs import FILES
from glsw.cli.messages import add_progress, progress_bar
from glsw.cli.words import alphabet
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.database import makedb


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    parser.add_argument("source", metavar="FILE", nargs="+", help=FILES)
    parser.add_argument("out", metavar="OUT", help="the database to write")
    parser.add_argument(
        "--alphabet",
        metavar="NAME",
        type=alphabet,
        default=PROTEIN,
        help="protein, dna (for --dna, --match and --mismatch), or the name of a matrix with other "
        "letters, such as GONNET1992 (protein)",
    )
    parser.add_argument(
        "--unknown",
        metavar="X",
        help="replace letters outside the alphabet by this one; without it they are an error",
    )
    parser.add_argument(
        "--lower-case-mask",
        action="store_true",
        help="store lower-case letters as X or N, so that they score nothing, for searches with "
        "--lower-case-mask",
    )
    parser.add_argument(
        "--force", action="store_true", help="overwrite OUT even if it is no database"
    )
    add_progress(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the database, and its size to stderr."""
    start = time.perf_counter()
    with progress_bar(arguments, _bytes(arguments.source), "B") as bar:
        database = makedb(
            arguments.source,
            arguments.out,
            alphabet=arguments.alphabet,
            unknown=arguments.unknown,
            lower_case_mask=arguments.lower_case_mask,
            force=arguments.force,
            progress=bar.update,
        )
    print(
        f"glsw: {arguments.out}: {len(database)} sequences, {database.residues} residues, "
        f"{database.alphabet.name} alphabet, in {time.perf_counter() - start:.2f} s",
        file=sys.stderr,
    )


def _bytes(paths: Iterable[str]) -> int | None:
    """Return the size of files, None if it is not known in advance."""
    files = [Path(path) for path in paths]
    return sum(f.stat().st_size for f in files) if all(f.is_file() for f in files) else None
