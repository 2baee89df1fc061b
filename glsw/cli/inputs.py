"""Files of sequences that a command reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from glsw.align import Aligner
    from glsw.align3 import Aligner3
    from glsw.sequences.database import Database
    from glsw.sequences.records import Record

FILES = "FASTA or FASTQ, plain or gzip; - is standard input"
"""Kinds of files, for help on arguments."""

Targets: TypeAlias = "list[Record] | Database"
"""The sequences that queries are compared with."""


def check_standard_input(*paths: str) -> None:
    """Raise an error if several of the files are standard input."""
    if paths.count("-") > 1:
        raise ValueError("standard input ('-') can be read only once, not as several files")


def only(path: str, records: Targets) -> Record:
    """Return the only sequence of a file."""
    if len(records) != 1:
        raise ValueError(f"{path}: one sequence expected, {len(records)} found")
    return records[0]


def lengths(aligner: Aligner | Aligner3, *records: Record) -> list[int]:
    """Return the number of letters of each sequence in the alphabet of the aligner."""
    return [len(record) // aligner.scoring.alphabet.width for record in records]
