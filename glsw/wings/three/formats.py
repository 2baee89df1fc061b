"""Output formats for alignments of three sequences, by name.

As in `glsw.output`, coordinates count from 1 and include the last residue in text, from 0 and
half-open in the format "tsv".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TextIO

from glsw.alignment.text import NumberedRow, counted, in_lines, titled
from glsw.sequences.records import Record
from glsw.wings.three.results import Alignment3
from glsw.words import in_a_line, visible

if TYPE_CHECKING:
    import Bio.Align

_OF_SEQUENCE = {
    "": "id of the sequence",
    "_start": "first aligned letter, counted from 0",
    "_end": "end, exclusive",
    "_length": "length of the sequence",
}
DESCRIPTIONS: Mapping[str, str] = {
    "rank": "rank of the alignment, 1 for the best",
    "score": "score of the alignment",
    "identity": "fraction of columns with three equal letters, from 0 to 1",
    "identities": "columns with three equal letters",
    "gaps": "columns with one gap or two",
    "columns": "columns of the alignment",
    **{f"{row}{what}": text for row in "abc" for what, text in _OF_SEQUENCE.items()},
    **{f"{row}_row": "its aligned letters, `-` for a gap" for row in "abc"},
}
"""What the columns of the format "tsv" say."""

COLUMNS = tuple(DESCRIPTIONS)
"""The first line of the format "tsv"."""

_NAME = 30  # characters of a name in a Clustal file


@dataclass(frozen=True, eq=False)
class Result3:
    """An alignment of three sequences, or that there is none, and what it took to find out.

    Parameters
    ----------
    records : tuple of Record
        The three whole sequences.
    rank : int
        1 for the best alignment.
    alignment : Alignment3 or None
    cells : int
        Of the table.
    seconds : float
        Wall time.
    engine, device : str
        What found it.
    memory : int
        Bytes that the engine kept on the device beside the sequences, where counted.
    """

    records: tuple[Record, Record, Record]
    rank: int
    alignment: Alignment3 | None
    cells: int
    seconds: float
    engine: str
    device: str
    memory: int = 0


class Format3(NamedTuple):
    """How alignments are written.

    Parameters
    ----------
    write : callable
        ``write(result, stream)`` writes one result, after those before it.
    header : str
        What stands once before all results.
    """

    write: Callable[[Result3, TextIO], None]
    header: str = ""


def write_text(result: Result3, stream: TextIO) -> None:
    """Write three rows, residue under residue, and below them the marks, see `Alignment3`.

    Examples
    --------
    >>> import sys
    >>> from glsw.wings.three.aligner import Aligner3, disjoint
    >>> words = "HEAGAWGHEE", "PAWHEAE", "GAWHEE"
    >>> records = tuple(Record(f"q{k}", "", word) for k, word in enumerate(words))
    >>> found = next(disjoint(Aligner3(engine="reference"), records, 1, None, None))
    >>> write_text(Result3(records, 1, found, 420, 0.1, "reference", "CPU"), sys.stdout)
    a q0
    b q1
    c q2
    score 65, identities 4/7 (57.1%), gaps 1/7 (14.3%)
    <BLANKLINE>
    a  4 GAWGHEE 10
    b  1 PAW-HEA 6
    c  1 GAW-HEE 6
         .** **.
    <BLANKLINE>
    """
    found = result.alignment
    if found is None:
        names = ", ".join(record.id for record in result.records)
        stream.write(f"{visible(names)}: no alignment\n\n")
        return
    starts = (found.coordinates[:, 0] + 1).tolist()
    rows = [
        NumberedRow(row, first, width=found.width)
        for row, first in zip(found.rows(), starts, strict=True)
    ]
    lines = titled(dict(zip("abc", result.records, strict=True)))
    lines.append(f"score {found.score}, {counted(found.identities, found.gaps, found.columns)}")
    for block in in_lines(dict(zip("abc", rows, strict=True)), found.marks, 3):
        lines += ["", *block]
    stream.write("\n".join([*lines, "", ""]))


def write_clustal(result: Result3, stream: TextIO) -> None:
    """Write a whole Clustal file of one alignment, or nothing if there is none.

    Rows are named as ``id/start-end``, since only what is aligned is written. Several such files
    after one another are what `Bio.AlignIO.parse` reads as several alignments.
    """
    if alignment := _named(result, _NAME):
        stream.write(f"CLUSTAL multiple sequence alignment by glsw\n\n\n{alignment:clustal}")


def write_fasta(result: Result3, stream: TextIO) -> None:
    """Write three FASTA records with gaps, named as ``id/start-end``, or nothing.

    Several alignments are read by `Bio.AlignIO.parse` with ``seq_count=3``.
    """
    if alignment := _named(result):
        stream.write(format(alignment, "fasta"))


def write_tsv(result: Result3, stream: TextIO) -> None:
    """Write the `COLUMNS` of an alignment, without the header, or nothing."""
    found = result.alignment
    if found is None:
        return
    identity = f"{found.identities / found.columns:.4f}"
    values: list[object] = [result.rank, found.score, identity]
    values += [found.identities, found.gaps, found.columns]
    for record, at in zip(result.records, found.coordinates, strict=True):
        values += [record.id, at[0], at[-1], len(record) // found.width]
    values += found.rows()
    stream.write("\t".join(map(in_a_line, values)) + "\n")


FORMATS3 = {
    "text": Format3(write_text),
    "clustal": Format3(write_clustal),
    "fasta": Format3(write_fasta),
    "tsv": Format3(write_tsv, "\t".join(COLUMNS) + "\n"),
}
"""For three sequences: rows with marks below, files of other programs, a line of columns."""


def _named(result: Result3, room: int | None = None) -> Bio.Align.Alignment | None:
    """Return the alignment with names that say where it is, perhaps of so many characters."""
    found = result.alignment
    if found is None:
        return None
    named = []
    for record, at in zip(result.records, found.coordinates.tolist(), strict=True):
        place = f"/{at[0] + 1}-{at[-1]}"
        name = visible(record.id)
        name = name if room is None else name[: room - len(place)]
        named.append(Record(f"{name}{place}", visible(record.description), record.letters))
    return found.biopython(named)
