"""What comes out: ends of the best alignments, an alignment, the ranked hits of a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import Bio.Align
import numpy as np
import numpy.typing as npt
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord

from glsw.scoring import Scoring
from glsw.sequences import Record

if TYPE_CHECKING:
    from glsw.statistics import Statistics

_LINE = 60  # characters of a row in a line of text
_GAP = -1  # as the index of a residue

_Int64 = npt.NDArray[np.int64]
_Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ends:
    """The best local alignment of each of N pairs: its score and where it ends.

    Parameters
    ----------
    score : ndarray of int32, shape (N,)
        In integer units of the scoring.
    query_end, target_end : ndarray of int32, shape (N,)
        Residues of the sequence up to and including the last aligned pair, that is, the end of a
        half-open interval; 0 where the score is 0.
    """

    score: npt.NDArray[np.int32]
    query_end: npt.NDArray[np.int32]
    target_end: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True, eq=False)
class Paths:
    """The best local alignment of each of N pairs, as runs of moves from its end to its start.

    Parameters
    ----------
    ends : Ends
    runs : ndarray of uint32, shape (total,)
        ``length << 2 | move``, the moves being those of `glsw.traceback`; equal moves may follow
        each other.
    offsets : ndarray of int64, shape (N + 1,)
        The runs of pair ``k`` are ``runs[offsets[k]:offsets[k + 1]]``.
    """

    ends: Ends
    runs: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]

    @staticmethod
    def empty(ends: Ends, counts: npt.NDArray[np.int64]) -> Paths:
        """Make room for so many runs of each pair."""
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        return Paths(ends, np.zeros(offsets[-1], np.uint32), offsets)

    @staticmethod
    def of(ends: Ends, runs: Sequence[npt.NDArray[np.uint32]]) -> Paths:
        """Join the runs of each pair."""
        paths = Paths.empty(ends, np.array([len(part) for part in runs], np.int64))
        paths.runs[:] = np.concatenate([*runs, np.empty(0, np.uint32)])
        return paths

    @staticmethod
    def merged(count: int, parts: Sequence[tuple[npt.NDArray[np.intp], Paths]]) -> Paths:
        """Put the paths of some pairs and those of others together, by their numbers."""
        score, query_end, target_end = np.zeros((3, count), np.int32)
        runs = [np.empty(0, np.uint32)] * count
        for chosen, part in parts:
            score[chosen] = part.ends.score
            query_end[chosen] = part.ends.query_end
            target_end[chosen] = part.ends.target_end
            for k, p in enumerate(chosen):
                runs[p] = part[k]
        return Paths.of(Ends(score, query_end, target_end), runs)

    def __getitem__(self, k: int) -> npt.NDArray[np.uint32]:
        return self.runs[self.offsets[k] : self.offsets[k + 1]]


@dataclass(frozen=True, eq=False)
class Alignment:
    """A local alignment of two sequences.

    Parameters
    ----------
    score : int or float
        In units of the matrix, see `Scoring.display`.
    query, target : Record
        The whole sequences.
    coordinates : ndarray of int64, shape (2, K)
        Where the K - 1 runs of aligned pairs and gaps begin and end, counted in residues from 0:
        row 0 in the target, row 1 in the query, as in :class:`Bio.Align.Alignment`. K = 1 for an
        empty alignment.
    scoring : Scoring
        What it was scored with.
    unknown : str, optional
        The letter of the alphabet for which letters outside it were taken.

    Examples
    --------
    >>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
    >>> query, target = Record("q", "", "ATCTCGTATGAT"), Record("t", "", "GTCTATCAC")
    >>> runs = np.array([[1, 3, 3, 8], [3, 5, 6, 11]])
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

    score: int | float
    query: Record
    target: Record
    coordinates: _Int64
    scoring: Scoring
    unknown: str | None = None

    @property
    def query_start(self) -> int:
        """First residue of the query, counted from 0."""
        return int(self.coordinates[1, 0])

    @property
    def query_end(self) -> int:
        """Residue after the last of the query, counted from 0."""
        return int(self.coordinates[1, -1])

    @property
    def target_start(self) -> int:
        """First residue of the target, counted from 0."""
        return int(self.coordinates[0, 0])

    @property
    def target_end(self) -> int:
        """Residue after the last of the target, counted from 0."""
        return int(self.coordinates[0, -1])

    @property
    def columns(self) -> int:
        """Length of the alignment: aligned pairs and residues opposite gaps."""
        return int(np.diff(self.coordinates).max(axis=0).sum())

    @property
    def gaps(self) -> int:
        """Columns with a gap."""
        return int((self._gap_in_query | self._gap_in_target).sum())

    @property
    def identities(self) -> int:
        """Columns with equal letters, as the alphabet reads them: case and U for T do not count."""
        return int(self._identical.sum())

    @property
    def identity(self) -> float:
        """Fraction of the columns that have equal letters; 0 for an empty alignment."""
        return self.identities / max(1, self.columns)

    @property
    def positives(self) -> int:
        """Columns with two letters that score above 0."""
        return int(self._positive.sum())

    @property
    def cigar(self) -> str:
        """The query relative to the target.

        ``=`` equal, ``X`` different, ``I`` only in the query, ``D`` only in the target.
        """
        letters = np.full(self.columns, "X")
        letters[self._identical] = "="
        letters[self._gap_in_target] = "I"
        letters[self._gap_in_query] = "D"
        return "".join(f"{len(list(run))}{letter}" for letter, run in groupby(letters.tolist()))

    def rows(self) -> tuple[str, str, str]:
        """Return the query, the line between and the target, equally long.

        The line between has ``|`` for equal letters, ``:`` for others that score above 0, ``.``
        for other pairs and a space opposite a gap. A gap is ``-``. A codon takes three characters.
        """
        between = np.full(self.columns, ".")
        between[self._positive] = ":"
        between[self._identical] = "|"
        between[self._gap_in_query | self._gap_in_target] = " "
        width = self.scoring.alphabet.width
        query, target = (
            "".join(
                "-" * width if k == _GAP else record.letters[k * width : (k + 1) * width]
                for k in residues.tolist()
            )
            for record, residues in zip((self.query, self.target), self._residues, strict=True)
        )
        return query, "".join(symbol * width for symbol in between.tolist()), target

    def to_biopython(self) -> Bio.Align.Alignment:
        """Return the alignment of the target (row 0) and the query with its score."""
        records = [
            SeqRecord(Seq(record.letters), id=record.id, description=record.description)
            for record in (self.target, self.query)
        ]
        coordinates = self.coordinates * self.scoring.alphabet.width
        alignment = Bio.Align.Alignment(records, coordinates)  # type: ignore[no-untyped-call]
        alignment.score = self.score  # type: ignore[attr-defined]
        return alignment

    def __str__(self) -> str:
        columns = self.columns
        lines = [
            f"query  {self.query.id} {self.query.description}".rstrip(),
            f"target {self.target.id} {self.target.description}".rstrip(),
            f"score {self.score}, "
            f"identities {self.identities}/{columns} ({self.identity:.1%}), "
            f"gaps {self.gaps}/{columns} ({self.gaps / max(1, columns):.1%})",
        ]
        width = self.scoring.alphabet.width
        rows, step = self.rows(), _LINE // width
        digits = len(str(max(self.query_end, self.target_end)))
        at = [self.query_start, self.target_start]
        for first in range(0, columns, step):
            query, between, target = (row[first * width :][: step * width] for row in rows)
            text = []
            for k, (name, row) in enumerate((("query ", query), ("target", target))):
                residues = int((self._residues[k][first : first + step] != _GAP).sum())
                begin, at[k] = at[k], at[k] + residues
                text.append(f"{name} {begin + bool(residues):>{digits}} {row} {at[k]}")
            lines += ["", text[0], f"{'':{digits + 8}}{between}".rstrip(), text[1]]
        return "\n".join(lines)

    @cached_property
    def _residues(self) -> tuple[_Int64, _Int64]:
        """Which residue of query and target is in each column, or _GAP."""
        runs = np.diff(self.coordinates)
        columns = runs.max(axis=0)
        offset = np.arange(columns.sum()) - np.repeat(np.cumsum(columns) - columns, columns)
        return tuple(  # type: ignore[return-value]
            np.where(np.repeat(run > 0, columns), np.repeat(first, columns) + offset, _GAP)
            for first, run in zip(self.coordinates[::-1, :-1], runs[::-1], strict=True)
        )

    @property
    def _gap_in_query(self) -> _Bool:
        return np.equal(self._residues[0], _GAP)

    @property
    def _gap_in_target(self) -> _Bool:
        return np.equal(self._residues[1], _GAP)

    @cached_property
    def _pair_codes(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Codes of query and target in each column; of no meaning in a gap."""
        alphabet = self.scoring.alphabet
        codes = []
        for record, first, end, residues in (
            (self.query, self.query_start, self.query_end, self._residues[0]),
            (self.target, self.target_start, self.target_end, self._residues[1]),
        ):
            part = record.letters[first * alphabet.width : end * alphabet.width]
            encoded = alphabet.encode(part, name=record.id, unknown=self.unknown)
            codes.append(encoded[np.maximum(residues - first, 0)])
        return codes[0], codes[1]

    @cached_property
    def _identical(self) -> _Bool:
        equal: _Bool = np.equal(*self._pair_codes)
        return equal & ~self._gap_in_query & ~self._gap_in_target

    @cached_property
    def _positive(self) -> _Bool:
        positive: _Bool = self.scoring.matrix[self._pair_codes] > 0
        return positive & ~self._gap_in_query & ~self._gap_in_target


@dataclass(frozen=True)
class View:
    """How what was searched was made of the query as given.

    Parameters
    ----------
    length : int
        Letters of the query as given.
    strand : {1, -1}
        -1 for the reverse complement.
    frame : int
        0 if the query was not translated; 1, 2, 3 for the frames of the plus strand, which begin
        at its first, second and third letter, -1, -2, -3 for those of the minus strand.

    Examples
    --------
    >>> View(100).place(0, 10), View(100, -1).place(0, 10)
    ((1, 10), (100, 91))
    >>> View(100, 1, frame=2).place(0, 10), View(100, -1, frame=-1).place(0, 10)
    ((2, 31), (100, 71))
    """

    length: int
    strand: int = 1
    frame: int = 0

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and last letter of the query as given, counted from 1.

        ``start`` and ``end`` are half-open, counted from 0 in what was searched; on the minus
        strand the first letter stands behind the last.
        """
        if self.frame:
            shift = abs(self.frame) - 1
            start, end = shift + 3 * start, shift + 3 * end
        if self.strand < 0:
            return self.length - start, self.length - end + 1
        return start + 1, end


@dataclass(frozen=True, eq=False)
class Hsp:
    """A high-scoring pair: one alignment of a hit, and how significant it is.

    Parameters
    ----------
    alignment : Alignment
        Of what was searched, see ``view``, and the target.
    view : View
    bits : float, optional
        Score in bits, None if no statistics are known.
    evalue : float, optional
        How many such scores are expected by chance in a search like this one.
    """

    alignment: Alignment
    view: View
    bits: float | None = None
    evalue: float | None = None

    @property
    def score(self) -> int | float:
        """In units of the matrix."""
        return self.alignment.score

    @property
    def query_place(self) -> tuple[int, int]:
        """First and last letter of the query as given, counted from 1, see `View.place`."""
        return self.view.place(self.alignment.query_start, self.alignment.query_end)

    @property
    def target_place(self) -> tuple[int, int]:
        """First and last letter of the target, counted from 1."""
        return self.alignment.target_start + 1, self.alignment.target_end


@dataclass(frozen=True, eq=False)
class Hit:
    """A sequence of the database that a search found.

    Parameters
    ----------
    rank : int
        1 for the best.
    target : Record
    hsps : tuple of Hsp
        The best alignment, then those that share no aligned pair with the ones before.
    """

    rank: int
    target: Record
    hsps: tuple[Hsp, ...]

    @property
    def score(self) -> int | float:
        """Of the best alignment, in units of the matrix."""
        return self.hsps[0].score

    @property
    def alignment(self) -> Alignment:
        """The best one."""
        return self.hsps[0].alignment

    @property
    def bits(self) -> float | None:
        """Score in bits of the best alignment, None if no statistics are known."""
        return self.hsps[0].bits

    @property
    def evalue(self) -> float | None:
        """How many scores as good as the best one are expected by chance."""
        return self.hsps[0].evalue

    @property
    def view(self) -> View:
        """Strand and frame of the query in the best alignment."""
        return self.hsps[0].view

    def __str__(self) -> str:
        places = (
            f"{first}-{last}"
            for first, last in (self.hsps[0].query_place, self.hsps[0].target_place)
        )
        query, target = places
        significance = "" if self.evalue is None else f", E {self.evalue:.2g}"
        return (
            f"{self.rank}. {self.target.id}: score {self.score}{significance}, "
            f"identity {self.alignment.identity:.1%}, query {query}, target {target}"
        )


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The hits of one query, the best first; among equal scores in the order of the database.

    Parameters
    ----------
    query : Record
    hits : tuple of Hit
    cells : int
        Query residues times database residues.
    seconds : float
        Wall time of scoring and alignment.
    engine, device : str
        What computed the scores.
    sequences, residues : int
        Size of the database.
    memory : int
        Bytes of device memory that the largest chunk took beside the sequences, where counted.
    statistics : Statistics, optional
        What bit scores and E-values come from.
    """

    query: Record
    hits: tuple[Hit, ...]
    cells: int
    seconds: float
    engine: str
    device: str
    sequences: int
    residues: int
    memory: int = 0
    statistics: Statistics | None = None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, k: int) -> Hit:
        return self.hits[k]

    @property
    def gcups(self) -> float:
        """Giga (10^9) cells of the tables per second."""
        return self.cells / self.seconds / 1e9 if self.seconds else 0.0

    def __str__(self) -> str:
        title = f"query {self.query.id}: {len(self)} of {self.sequences} sequences"
        return "\n".join([title, *map(str, self.hits)])
