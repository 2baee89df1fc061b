"""An alignment of two sequences, as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glsw.alignment import text
from glsw.alignment.operations import (
    AlignedColumns,
    Counted,
    Covered,
    Over,
    given,
)
from glsw.alignment.paths import Runs
from glsw.arrays import Codes
from glsw.scoring.scoring import Scoring
from glsw.sequences.nucleic import is_rna
from glsw.sequences.records import EncodedRecord, Record
from glsw.words import package

if TYPE_CHECKING:
    import Bio.Align

_Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Alignment:
    """An alignment of two sequences: local, semi-global or global.

    Parameters
    ----------
    units : int
        The score in integer units of the scoring.
    query, target : EncodedRecord
        The whole sequences.
    runs : Runs
        Its columns.
    scoring : Scoring
        The scoring that gave the score.

    Examples
    --------
    >>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
    >>> query, target = (
    ...     EncodedRecord(name, "", scoring.alphabet.encode(letters), scoring.alphabet)
    ...     for name, letters in (("q", "ATCTCGTATGAT"), ("t", "GTCTATCAC"))
    ... )
    >>> runs = Runs.of_coordinates([np.array([[1, 3, 3, 8], [3, 5, 6, 11]])])
    >>> alignment = Alignment(10, query, target, runs, scoring)
    >>> alignment.query_start, alignment.query_end, alignment.cigar
    (3, 11, '2=1I3=1X1=')
    >>> print(alignment)
    query  q
    target t
    score 10, identities 6/8 (75.0%), gaps 1/8 (12.5%)
    <BLANKLINE>
    query   4 TCGTATGA 11
              || |||.|
    target  2 TC-TATCA 8
    """

    units: int
    query: EncodedRecord
    target: EncodedRecord
    runs: Runs
    scoring: Scoring

    def __getstate__(self) -> dict[str, Any]:
        return given(self)

    @cached_property
    def coordinates(self) -> _Int64:
        """Where the K - 1 runs of aligned pairs and gaps begin and end, shape (2, K).

        In residues from 0: row 0 in the target, row 1 in the query, as in
        `Bio.Align.Alignment`. K = 1 for an empty alignment.
        """
        return self.runs.coordinates()

    @property
    def score(self) -> int | float:
        """The score in units of the matrix, see `Scoring.display`."""
        return self.scoring.display(self.units)

    @property
    def query_start(self) -> int:
        """First aligned residue of the query, counted from 0."""
        return int(self.runs.start[0, 0])

    @property
    def query_end(self) -> int:
        """End of the aligned part of the query, exclusive, counted from 0."""
        return int(self._end[0])

    @property
    def target_start(self) -> int:
        """First aligned residue of the target, counted from 0."""
        return int(self.runs.start[0, 1])

    @property
    def target_end(self) -> int:
        """End of the aligned part of the target, exclusive, counted from 0."""
        return int(self._end[1])

    @property
    def columns(self) -> int:
        """Length of the alignment: aligned pairs and residues opposite gaps."""
        return self._count("columns")

    @property
    def gaps(self) -> int:
        """Columns with a gap."""
        return self._count("gaps")

    @property
    def identities(self) -> int:
        """Columns with equal letters: masks, case, and U for T of nucleic acid, are ignored.

        A letter outside the alphabet counts as its replacement; letters with `substitutes`, such as
        U and O of proteins, as themselves.
        """
        return self._count("identities")

    @property
    def identity(self) -> float:
        """Fraction of columns with equal letters; 0 for an empty alignment."""
        return self.identities / max(1, self.columns)

    def identity_over(self, over: Over = "columns") -> float:
        """Return the identity with another denominator, as other programs define it.

        Parameters
        ----------
        over : {"columns", "inner", "pairs", "shorter", "longer", "query", "target"}
            "columns": all columns, as `identity`. "inner": those from the first aligned pair to
            the last. "pairs": those without a gap. The others: residues of a whole sequence,
            aligned or not. ``docs/PAIRS.md`` says which program uses which.

        Returns
        -------
        float
            From 0 to 1; 0 for an empty alignment.

        Raises
        ------
        ValueError
            For any other value.

        Examples
        --------
        >>> scoring = Scoring.match_mismatch(1, -1, 1, 1).in_mode("global")
        >>> query, target = (
        ...     EncodedRecord(name, "", scoring.alphabet.encode(letters), scoring.alphabet)
        ...     for name, letters in (("q", "ACGTAC"), ("t", "GATAC"))
        ... )
        >>> runs = Runs.of_coordinates([np.array([[0, 0, 5], [0, 1, 6]])])
        >>> alignment = Alignment(2, query, target, runs, scoring)
        >>> [round(alignment.identity_over(over), 2) for over in ("columns", "pairs", "query")]
        [0.5, 0.6, 0.5]
        """
        table, row = self._row
        return float(table.identity_over(over)[row])

    def coverage(self, of: Covered = "query") -> float:
        """Return the part of a sequence between the first aligned pair and the last.

        Parameters
        ----------
        of : {"query", "target", "both"}
            "both": the lesser of the two parts.

        Returns
        -------
        float
            From 0 to 1; 0 for an empty alignment.

        Raises
        ------
        ValueError
            For any other value.
        """
        table, row = self._row
        return float(table.coverage(of)[row])

    @property
    def positives(self) -> int:
        """Columns with two letters that score above 0, masked or not."""
        return self._count("positives")

    @property
    def cigar(self) -> str:
        """The query relative to the target.

        ``=`` equal, ``X`` different, ``I`` only in the query, ``D`` only in the target.
        """
        table, row = self._row
        return table._cigars[row]

    def rows(self) -> tuple[str, str, str]:
        """Return the query, the line between and the target, equally long.

        The line between has ``|`` for equal letters, ``:`` for others that score above 0, ``.``
        for other pairs and a space opposite a gap. A gap is ``-``. A codon takes three characters.
        """
        table, row = self._row
        return table._texts[row]

    def to_biopython(self) -> Bio.Align.Alignment:
        """Return the alignment of the target (row 0) and the query with its score."""
        width = self.scoring.alphabet.width
        return biopython_alignment((self.target, self.query), self.coordinates * width, self.score)

    def to_biotite(self) -> Any:
        """Return a `biotite.sequence.align.Alignment` of the query and the target.

        Both are whole sequences: of proteins or nucleic acid if biotite has their letters,
        otherwise general ones.

        Raises
        ------
        ModuleNotFoundError
            If biotite is not installed.
        ValueError
            For codons.
        """
        sequence = package("biotite.sequence", "to_biotite")
        width = self.scoring.alphabet.width
        if width > 1:
            raise ValueError("biotite has no alphabet for codons")
        kinds = [sequence.ProteinSequence, sequence.NucleotideSequence]
        shown = [
            _of_biotite(sequence, record.letters, kinds[self.scoring.alphabet.nucleotides])
            for record in (self.query, self.target)
        ]
        trace = np.concatenate([np.empty((0, 2), np.int64), *self._places()])
        align = package("biotite.sequence.align", "to_biotite")
        return align.Alignment(shown, trace, self.score)

    def to_skbio(self) -> Any:
        """Return a `skbio.TabularMSA` of the aligned letters of the query and the target.

        They are DNA, RNA or Protein; their metadata has id and description, and that of the
        alignment the score.

        Raises
        ------
        ModuleNotFoundError
            If scikit-bio is not installed.
        ValueError
            For letters that scikit-bio does not support.
        """
        skbio = package("skbio", "to_skbio")
        rows = self.rows()[::2]
        kind = skbio.Protein
        if self.scoring.alphabet.nucleotides or self.scoring.alphabet.width > 1:
            kind = skbio.RNA if is_rna("".join(rows)) else skbio.DNA
        sequences = [
            kind(row.upper(), metadata={"id": record.id, "description": record.description})
            for row, record in zip(rows, (self.query, self.target), strict=True)
        ]
        return skbio.TabularMSA(sequences, metadata={"score": self.score})

    def _places(self) -> Iterator[_Int64]:
        """Yield for each run the places in query and target of its columns, -1 for a gap."""
        target, query = self.coordinates
        for q, t, next_q, next_t in zip(query, target, query[1:], target[1:], strict=False):
            both = np.full((max(next_q - q, next_t - t), 2), -1)
            both[: next_q - q, 0] = np.arange(q, next_q)
            both[: next_t - t, 1] = np.arange(t, next_t)
            yield both

    def __repr__(self) -> str:
        return f"<Alignment: {in_a_line(self)}>"

    def __str__(self) -> str:
        shown = f"no alignment, score {self.score}"
        if self.columns:
            shown = f"score {self.score}, {counts_of(self)}"
        return "\n".join([*names_of(self), shown, *lines_of(self)])

    def _repr_html_(self) -> str:
        return text.preformatted(self)

    @cached_property
    def _end(self) -> list[int]:
        table, row = self._row
        end: list[int] = table._end[row].tolist()
        return end

    def _count(self, name: str) -> int:
        table, row = self._row
        return int(getattr(table, name)[row])

    @cached_property
    def _row(self) -> tuple[AlignedColumns, int]:
        """A table with the alignment, and its row there."""
        return _OwnColumns(self), 0


def alignment_of_row(
    table: AlignedColumns, row: int, units: int, query: EncodedRecord, target: EncodedRecord
) -> Alignment:
    """Return the alignment of a row of a table, which counts and spells many rows together."""
    made = Alignment(units, query, target, table.runs[row : row + 1], table.scoring)
    made.__dict__["_row"] = table._block(row)
    return made


class _OwnColumns(AlignedColumns):
    """The columns of one alignment."""

    def __init__(self, alignment: Alignment) -> None:
        self.scoring, self.runs = alignment.scoring, alignment.runs
        sides = zip(
            (alignment.query, alignment.target), self.runs.start[0], self._end[0], strict=True
        )
        self._aligned = [(record, int(first), int(end)) for record, first, end in sides]
        self._lengths = [len(record.codes) for record, _, _ in self._aligned]

    @property
    def sequence_lengths(self) -> _Int64:
        """Residues of both whole sequences, shape (1, 2)."""
        return np.array([self._lengths])

    def aligned_codes(self, rows: slice) -> list[Codes]:
        """Return the codes of the aligned parts of both sequences."""
        return [record.compared[first:end] for record, first, end in self._aligned]

    def _shown(self, rows: slice) -> list[str]:
        return [record.part(first, end) for record, first, end in self._aligned]

    def _counts(self, counted: Counted) -> _Int64:
        return np.array([np.count_nonzero(counted(*self._paired_codes(slice(None))))])

    def _paired_codes(self, rows: slice) -> list[Codes]:
        return self._every_pair

    @cached_property
    def _every_pair(self) -> list[Codes]:
        return super()._paired_codes(slice(None))


def _of_biotite(sequence: Any, letters: str, kind: Any) -> Any:
    """Return a sequence of biotite, of a kind that may lack some letters."""
    with suppress(sequence.AlphabetError):
        return kind(letters)
    alphabet = sequence.LetterAlphabet(sorted(set(letters)))
    return sequence.GeneralSequence(alphabet, letters)


def biopython_alignment(
    records: Sequence[Record], coordinates: _Int64, score: float
) -> Bio.Align.Alignment:
    """Return an alignment of Biopython's, with a row per record and a score."""
    from Bio.Align import Alignment as BiopythonAlignment
    from Bio.Seq import Seq
    from Bio.SeqRecord import SeqRecord

    rows = [
        SeqRecord(Seq(record.letters), id=record.id, description=record.description)
        for record in records
    ]
    made = BiopythonAlignment(rows, coordinates)  # type: ignore[no-untyped-call]
    made.score = score  # type: ignore[attr-defined]
    return made


def in_a_line(alignment: Alignment) -> str:
    """Return names, places counted from 1, and the score of an alignment."""
    if not alignment.columns:
        names = f"{text.short_name(alignment.query)} with {text.short_name(alignment.target)}"
        return f"{names}, no alignment, score {alignment.score}"
    query, target = (
        f"{text.short_name(record)} {first + 1}-{end}"
        for record, first, end in (
            (alignment.query, alignment.query_start, alignment.query_end),
            (alignment.target, alignment.target_start, alignment.target_end),
        )
    )
    return f"{query} with {target}, score {alignment.score}"


def names_of(alignment: Alignment) -> list[str]:
    """Return the lines that name the sequences."""
    return text.titled({"query": alignment.query, "target": alignment.target})


def counts_of(alignment: Alignment) -> str:
    """Return the counts of its columns, see `text.counted`."""
    return text.counted(alignment.identities, alignment.gaps, alignment.columns)


def lines_of(
    alignment: Alignment,
    of_query: tuple[int, int] | None = None,
    of_target: tuple[int, int] | None = None,
) -> list[str]:
    """Return the rows in lines, given the first number and step of each, see `text.NumberedRow`."""
    if not alignment.columns:
        return []
    width = alignment.scoring.alphabet.width
    query, between, target = alignment.rows()
    rows = {
        "query": text.NumberedRow(query, *(of_query or (alignment.query_start + 1, 1)), width),
        "target": text.NumberedRow(target, *(of_target or (alignment.target_start + 1, 1)), width),
    }
    return [line for block in text.in_lines(rows, between, 1) for line in ("", *block)]
