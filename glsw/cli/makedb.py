"""The command ``glsw makedb``: indexes sequences."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from glsw.cli.command import Command, argument, option
from glsw.cli.inputs import FILES, unknown_letters
from glsw.cli.messages import progress_bar, say
from glsw.cli.words import MATRIX, NO_PROGRESS, alphabet, matrix_of
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.database import makedb
from glsw.sequences.database_file import is_database
from glsw.sequences.database_writer import NoDatabaseError
from glsw.sequences.paired_alphabet import STRUCTURE
from glsw.words import numbered


class Makedb(Command):
    """Index sequence files as a database."""

    examples = (
        "glsw makedb uniprot_sprot.fasta.gz sprot.glsw",
        "glsw makedb chr1.fa chr2.fa genome.glsw --alphabet dna",
        "glsw makedb proteins.fasta masked.glsw --seg",
        "glsw makedb proteins.fasta pairs.glsw --second-track proteins_3di.fasta",
    )
    source: list[str] = argument(f"FILE: {FILES}", nargs="+")
    out: str = argument("OUT: the database to write")
    alphabet: Alphabet | None = option(
        "NAME: protein, dna (for --dna, --match and --mismatch), or the name of a matrix with "
        "other letters, such as GONNET1992 (dna if all files look like DNA, otherwise protein)",
        type=alphabet,
    )
    unknown: str | None = unknown_letters()
    lower_case_mask: bool = option(
        "store lower-case letters as X or N, for searches with --lower-case-mask"
    )
    seg: bool = option("mask low-complexity segments of proteins with SEG: store them as X")
    second_track: str | None = option(
        "FILE: a second letter for each position, such as its structural state: records with the "
        "same names and lengths in the same order as in FILE, of which there is one",
    )
    second_matrix: str | None = option(
        f"FILE: a matrix with the letters of the second track, {MATRIX} (the 20 letters of the "
        "structure alphabet 3Di, and X)",
    )
    force: bool = option(
        "overwrite OUT even if it is not a database",
        avoids=(NoDatabaseError, "--force overwrites it"),
    )
    no_progress: bool = option(NO_PROGRESS)

    def run(self) -> None:
        """Write the database, and its size to stderr."""
        start = time.perf_counter()
        matrix, second = self.second_matrix, self.second_track
        if matrix is not None and second is None:
            raise ValueError("--second-matrix requires --second-track")
        letters = STRUCTURE if matrix is None else "".join(matrix_of(matrix).alphabet.letters)
        _check_order(self.source[0], self.out)
        sources = [*self.source, *([] if second is None else [second])]
        with progress_bar(self.no_progress, _bytes(sources), "B") as bar:
            database = makedb(
                self.source,
                self.out,
                alphabet=self.alphabet,
                unknown=self.unknown,
                lower_case_mask=self.lower_case_mask,
                seg=self.seg,
                second_track=second,
                second_letters=letters,
                force=self.force,
                progress=bar.update,
            )
        say(
            f"{self.out}: {numbered(len(database), 'sequence')}, "
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
