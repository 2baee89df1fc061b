"""Profile files: the format is detected from the first lines."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from glsw.scoring.scoring import Scoring
from glsw.sequences.lines import naming
from glsw.wings.profiles import FORMATS, blast, hmmer, text
from glsw.wings.profiles.alignment import rows_of
from glsw.wings.profiles.background import Gaps
from glsw.wings.profiles.text import Parts

_Reader: TypeAlias = Callable[[str, str, "Scoring | None", Gaps], Parts]
_READERS: tuple[tuple[str, _Reader], ...] = (
    (text.BEGINS, lambda content, path, scoring, _: text.read_text(content, path, scoring)),
    (blast.ASCII_BEGINS, lambda *words: _of_blast(blast.read_ascii, *words)),
    (blast.ASN_BEGINS, lambda *words: _of_blast(blast.read_asn, *words)),
    (hmmer.BEGINS, hmmer.read_hmm),
)
_ALIGNMENTS = (("# STOCKHOLM", "stockholm"), ("CLUSTAL", "clustal"), (">", "fasta"))
_CONSENSUS = re.compile(r"^ [ \t*:.]*$", re.MULTILINE)
"""A line of Clustal that is not needed, and may be missing; Biopython wants all of them or none."""
_MOST_OF_A_REASON = 200


def read_profile(path: Path, scoring: Scoring | None, gaps: Gaps = "fixed") -> Parts | Any:
    """Return the profile of a file, or the alignment in it; errors as `glsw.Profile.read`."""
    try:
        with naming(path):
            content = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a profile: it is not text") from None
    begin = content.lstrip()
    for begins, reader in _READERS:
        if begin.startswith(begins):
            try:
                found = reader(content, str(path), scoring, gaps)
            except OverflowError:
                raise ValueError(f"{path}: a number is too large") from None
            except ValueError as error:
                if str(error).startswith(str(path)):
                    raise
                raise ValueError(f"{path}: {error}") from None
            return found if found.id else found._replace(id=path.stem)
    for begins, kind in _ALIGNMENTS:
        if begin.startswith(begins):
            if kind == "stockholm" and begin.rstrip().rpartition("\n")[2] != "//":
                raise ValueError(f"{path}: cut off: no line // at its end")
            if not begin.partition("\n")[2].strip():  # Biopython would wait for a row for ever
                raise ValueError(f"{path}: no alignment of format {kind}: there are no rows")
            if kind != "fasta":
                skipped = content[: -len(begin)].count("\n")
                return _of_biopython(_CONSENSUS.sub("", begin), str(path), kind, skipped)
            rows = list(_fasta_rows(content))
            try:
                rows_of(rows)  # of one length
            except ValueError as error:
                raise ValueError(f"{path}: no alignment of format {kind}: {error}") from None
            return rows
    raise ValueError(f"{path}: not a profile, which is {FORMATS}")


def _of_biopython(content: str, path: str, kind: str, skipped: int) -> Any:
    """Return the alignment that Biopython reads; ValueError with the line where it gave up.

    That many lines were ``skipped`` before.
    """
    from Bio import AlignIO

    stream = io.StringIO(content)
    try:
        return AlignIO.read(stream, kind)  # type: ignore[no-untyped-call]
    except Exception as error:  # its readers raise any kind for damaged files
        reason = "rows that do not fit together"
        if isinstance(error, ValueError):
            reason = " ".join(str(error).split())[:_MOST_OF_A_REASON]
        line = skipped + max(1, content.count("\n", 0, stream.tell()))
        raise ValueError(f"{path}:{line}: no alignment of format {kind}: {reason}") from None


class _Row(NamedTuple):
    id: str
    seq: str


def _fasta_rows(content: str) -> Iterator[_Row]:
    """Yield the rows of FASTA; Biopython's readers take 0.1 s to import."""
    for block in f"\n{content.lstrip()}".split("\n>")[1:]:
        title, _, letters = block.partition("\n")
        yield _Row(next(iter(title.split()), ""), "".join(letters.split()))


def _of_blast(
    reader: Callable[[str, str, Scoring | None], Parts],
    content: str,
    path: str,
    scoring: Scoring | None,
    gaps: Gaps,
) -> Parts:
    """Return the profile of a file of PSI-BLAST, which has no gap costs by position."""
    if gaps == "positional":
        raise ValueError(f"{path}: files of PSI-BLAST have no gap costs by position")
    return reader(content, path, scoring)
