"""Sequence files that commands read, and the option for letters outside the alphabet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from glsw.cli.command import option
from glsw.cli.messages import say
from glsw.sequences.alphabet import UnknownLetterError
from glsw.sequences.fasta import EmptyFileError, read_all
from glsw.sequences.records import Record, Records

if TYPE_CHECKING:
    from glsw.scoring.scoring import Scoring
    from glsw.sequences.alphabet import Alphabet
    from glsw.sequences.database import Database

FILES = "FASTA or FASTQ, plain or gzip; - is standard input"
"""Kinds of files, for help on arguments."""


def unknown_letters() -> Any:
    """Return the option for letters outside the alphabet."""
    return option(
        "LETTER: replace letters outside the alphabet by this one; without it they are an error, "
        "but in proteins U counts as C, and O and J as X",
        decides=True,
        avoids=(UnknownLetterError, "--unknown LETTER maps such letters"),
    )


Targets: TypeAlias = "Records | Database"
"""The sequences that queries are compared with."""


def queries_of(path: str) -> Records:
    """Return the queries of a file; an empty file gives none, with a message."""
    try:
        return read_all(path)
    except EmptyFileError as error:
        say(f"{error}: there is nothing to compare")
        return Records.of([])


def check_standard_input(*paths: str) -> None:
    """Raise an error if more than one of the files is standard input."""
    if paths.count("-") > 1:
        raise ValueError("standard input ('-') can be read only once, not as several files")


def only(path: str, records: Targets) -> Record:
    """Return the only sequence of a file."""
    if len(records) != 1:
        raise ValueError(f"{path}: one sequence expected, {len(records)} found")
    return records[0]


def residues(side: Targets, scoring: Scoring) -> int:
    """Return the total number of residues of the sequences, in the alphabet of a scoring."""
    if isinstance(side, Records):
        return int(side.offsets[-1]) // scoring.alphabet.width
    return side.residues


def lengths(alphabet: Alphabet, *records: Record) -> list[int]:
    """Return the number of letters of each sequence in an alphabet."""
    return [len(record) // alphabet.width for record in records]
