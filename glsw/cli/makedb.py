"""The command ``glsw makedb``: an index of sequences."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path

from glsw.cli.inputs import FILES
from glsw.cli.messages import progress_bar, say
from glsw.cli.words import MATRIX, PROGRESS, UNKNOWN, Rows, add_rows, alphabet, matrix_of, name
from glsw.sequences.database import makedb
from glsw.sequences.database_file import is_database
from glsw.sequences.paired_alphabet import STRUCTURE
from glsw.words import numbered

_OPTIONS: Rows = {
    ("out", None, None, "OUT"): "the database to write",
    ("--alphabet", alphabet, None, "NAME"): (
        "protein, dna (for --dna, --match and --mismatch), or the name of a matrix with other "
        "letters, such as GONNET1992 (dna if all files look like DNA, otherwise protein)"
    ),
    **UNKNOWN,
    ("--lower-case-mask", bool): (
        "store lower-case letters as X or N, for searches with --lower-case-mask"
    ),
    ("--seg", bool): "mask low-complexity segments of proteins with SEG: store them as X",
    ("--second-track", name, None, "FILE"): (
        "a second letter for each position, such as its structural state: records with the same "
        "names and lengths in the same order as in FILE, of which there is one"
    ),
    ("--second-matrix", name, None, "FILE"): (
        f"a matrix with the letters of the second track, {MATRIX} (the 20 letters of the "
        "structure alphabet 3Di, and X)"
    ),
    ("--force", bool): "overwrite OUT even if it is not a database",
    **PROGRESS,
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    parser.add_argument("source", metavar="FILE", nargs="+", help=FILES)
    add_rows(parser, _OPTIONS)


def run(arguments: argparse.Namespace) -> None:
    """Write the database, and its size to stderr."""
    start = time.perf_counter()
    matrix, second = arguments.second_matrix, arguments.second_track
    if matrix is not None and second is None:
        raise ValueError("--second-matrix requires --second-track")
    letters = STRUCTURE if matrix is None else "".join(matrix_of(matrix).alphabet.letters)
    _check_order(arguments.source[0], arguments.out)
    sources = [*arguments.source, *([] if second is None else [second])]
    with progress_bar(arguments, _bytes(sources), "B") as bar:
        database = makedb(
            arguments.source,
            arguments.out,
            alphabet=arguments.alphabet,
            unknown=arguments.unknown,
            lower_case_mask=arguments.lower_case_mask,
            seg=arguments.seg,
            second_track=second,
            second_letters=letters,
            force=arguments.force,
            progress=bar.update,
        )
    say(
        f"{arguments.out}: {numbered(len(database), 'sequence')}, "
        f"{numbered(database.residues, 'residue')}, "
        f"{database.alphabet.name} alphabet, in {time.perf_counter() - start:.2f} s"
    )


def _check_order(first: str, out: str) -> None:
    """Raise an error if the first file of sequences seems to be the database to write."""
    missing = first != "-" and not Path(first).exists()
    if is_database(first):
        raise ValueError(
            f"{first} is a database of makedb: the sequence files come first, then the database"
        )
    if missing and Path(out).is_file() and not is_database(out):
        raise ValueError(
            f"{first} does not exist, and {out} is not a database: the sequence files come "
            "first, then the database"
        )


def _bytes(paths: Iterable[str]) -> int | None:
    """Return the size of files, None if it is not known in advance."""
    files = [Path(path) for path in paths]
    return sum(f.stat().st_size for f in files) if all(f.is_file() for f in files) else None
