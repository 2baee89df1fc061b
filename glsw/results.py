"""What comes out: ends of the best alignments, an alignment, the ranked hits of a search."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

import Bio.Align
import numpy as np
import numpy.typing as npt
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord

from glsw.scoring.scoring import Scoring
from glsw.sequences.query import Context, reversed_strand
from glsw.sequences.records import Record

if TYPE_CHECKING:
    from glsw.statistics import Statistics


WIDTH = 100
"""Characters of a line of a list of hits, unless its reader's terminal is known."""

_LINE = 60  # characters of a row in a line of text
_LISTED = 100  # hits that a notebook shows
_GAP = -1  # as the index of a residue

_Int64 = npt.NDArray[np.int64]
_Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Row:
    """A sequence of an alignment with its gaps, and where its residues are.

    Parameters
    ----------
    text : str
        Letters, and ``-`` for gaps.
    first : int
        Number of the first letter.
    step : int
        By how much numbers grow with each residue: -1 on the minus strand, 3 or -3 where a residue
        stands for three letters.
    width : int
        Characters of a residue.

    Examples
    --------
    >>> Row("MK--V", first=30, step=-3).lines(3)
    [('MK-', 30, 25), ('-V', 24, 22)]
    """

    text: str
    first: int
    step: int = 1
    width: int = 1

    def lines(self, characters: int) -> list[tuple[str, int, int]]:
        """Cut the text; return with each part its first and its last number.

        Both are the last number so far where there is nothing but gap.
        """
        parts, at = [], self.first
        characters -= characters % self.width
        sign = 1 if self.step > 0 else -1
        for k in range(0, len(self.text), characters):
            part = self.text[k : k + characters]
            begin = at
            at += self.step * ((len(part) - part.count("-")) // self.width)
            parts.append((part, begin if at != begin else at - sign, at - sign))
        return parts


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
        return "\n".join([*self._names, f"score {self.score}, {self._counts}", *self._lines()])

    def _repr_html_(self) -> str:
        return _preformatted(self)

    @property
    def _names(self) -> list[str]:
        return [
            f"query  {self.query.id} {self.query.description}".rstrip(),
            f"target {self.target.id} {self.target.description}".rstrip(),
        ]

    @property
    def _counts(self) -> str:
        columns = self.columns
        return (
            f"identities {self.identities}/{columns} ({self.identity:.1%}), "
            f"gaps {self.gaps}/{columns} ({self.gaps / max(1, columns):.1%})"
        )

    def _lines(self, first: int | None = None, step: int = 1) -> list[str]:
        """Return the rows in lines, with ``first`` and ``step`` of the query as in `Row`."""
        width = self.scoring.alphabet.width
        query, between, target = self.rows()
        above = Row(query, self.query_start + 1 if first is None else first, step, width)
        below = Row(target, self.target_start + 1, 1, width)
        pairs = list(zip(above.lines(_LINE), below.lines(_LINE), strict=True))
        numbers = [number for pair in pairs for part in pair for number in part[1:]]
        digits = len(str(max(numbers, default=0)))
        text, at = [], 0
        for (upper, *q), (lower, *t) in pairs:
            middle, at = between[at : at + len(upper)], at + len(upper)
            text += [
                "",
                f"query  {q[0]:>{digits}} {upper} {q[1]}",
                f"{'':{digits + 8}}{middle}".rstrip(),
                f"target {t[0]:>{digits}} {lower} {t[1]}",
            ]
        return text

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


@dataclass(frozen=True, eq=False)
class Hsp:
    """A high-scoring pair: one alignment of a hit, and how significant it is.

    Parameters
    ----------
    alignment : Alignment
        Of what was searched, see ``context``, and the target.
    context : Context
    bits : float, optional
        Score in bits, None if no statistics are known.
    evalue : float, optional
        How many such scores are expected by chance in a search like this one.
    """

    alignment: Alignment
    context: Context
    bits: float | None = None
    evalue: float | None = None

    @property
    def score(self) -> int | float:
        """In units of the matrix."""
        return self.alignment.score

    @property
    def query_place(self) -> tuple[int, int]:
        """First and last letter of the query as given, counted from 1, see `Context.place`."""
        return self.context.place(self.alignment.query_start, self.alignment.query_end)

    @property
    def target_place(self) -> tuple[int, int]:
        """First and last letter of the target, counted from 1."""
        return self.alignment.target_start + 1, self.alignment.target_end

    @property
    def query_step(self) -> int:
        """By how much places on the query grow with each residue: 1 or -1, translated 3 or -3."""
        return self.context.strand * (3 if self.context.frame else 1)

    def to_biopython(self) -> Bio.Align.Alignment:
        """Return the alignment of the target (row 0) and the query as given, with its score.

        On the minus strand the coordinates of the query descend, as Biopython has it, which counts
        and returns the complement of RNA as RNA but prints it as DNA. A translated query is the
        protein of its frame.
        """
        found = self.alignment
        if self.context.strand > 0 or self.context.frame:
            return found.to_biopython()
        query = replace(found.query, letters=reversed_strand(found.query.letters, self.context.rna))
        coordinates = found.coordinates.copy()
        coordinates[1] = len(query) // found.scoring.alphabet.width - coordinates[1]
        turned = replace(found, query=query, coordinates=coordinates).to_biopython()
        if self.context.rna:
            turned.query.annotations["molecule_type"] = "RNA"
        return turned

    def __str__(self) -> str:
        return "\n".join([*self.alignment._names, self._text()])

    def _repr_html_(self) -> str:
        return _preformatted(self)

    def _text(self) -> str:
        parts = [f"score {self.score}"]
        if self.bits is not None:
            parts.append(f"{self.bits:.1f} bits")
        if self.evalue is not None:
            parts.append(f"E {self.evalue:.2g}")
        parts.append(self.alignment._counts)
        if self.context.frame:
            parts.append(f"frame {self.context.frame:+}")
        elif self.context.strand < 0:
            parts.append("minus strand")
        lines = self.alignment._lines(self.query_place[0], self.query_step)
        return "\n".join([", ".join(parts), *lines])


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
    def context(self) -> Context:
        """Strand and frame of the query in the best alignment."""
        return self.hsps[0].context

    def __str__(self) -> str:
        target = self.target
        title = f"{self.rank}. {target.id} {target.description}".rstrip()
        letters = len(target) // self.alignment.scoring.alphabet.width
        text = "\n\n".join(hsp._text() for hsp in self.hsps)
        return f"{title} ({letters} letters)\n{text}"

    def _repr_html_(self) -> str:
        return _preformatted(self)


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

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield for each high-scoring pair its values by the names of `COLUMNS`."""
        for hit in self:
            width = hit.alignment.scoring.alphabet.width
            for number, hsp in enumerate(hit.hsps, start=1):
                found = hsp.alignment
                values = (
                    self.query.id,
                    hit.rank,
                    number,
                    hit.target.id,
                    hsp.score,
                    hsp.bits,
                    hsp.evalue,
                    100 * found.identity,
                    found.identities,
                    found.positives,
                    found.gaps,
                    found.columns,
                    "+" if hsp.context.strand > 0 else "-",
                    hsp.context.frame,
                    *hsp.query_place,
                    hsp.context.length,
                    *hsp.target_place,
                    len(hit.target) // width,
                    found.cigar,
                    hit.target.description,
                )
                yield dict(zip(COLUMNS, values, strict=True))

    def to_dataframe(self) -> Any:
        """Return a :class:`pandas.DataFrame` with a row for each high-scoring pair.

        Its columns are `COLUMNS`; what is not known of bits and E-values is NaN.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ModuleNotFoundError:
            raise ModuleNotFoundError("to_dataframe needs pandas: pip install pandas") from None
        frame = pandas.DataFrame(list(self.rows()), columns=list(COLUMNS))
        return frame.astype({"bits": float, "evalue": float})

    def table(self, width: int = WIDTH) -> str:
        """Return the ranked list: a line about the query and one for each high-scoring pair.

        The columns are rank, score, bits and E-value where known, identical columns of the
        alignment in percent, strand or frame unless all are plus, ranges of the query as given and
        of the target (the first residue is 1, the last is included; on the minus strand they
        descend), residues of the whole target, its id and description. Descriptions are cut at
        ``width``, ids never. Further pairs of a hit have no rank.
        """
        title, *rows = self._title, *self._listing
        lines = [title]
        if self.hits:
            *widths, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
            for row, record in zip(rows, [None, *self._described], strict=True):
                aligned = [f"{cell:>{size}}" for cell, size in zip(row[:-1], widths, strict=True)]
                line = "  ".join([*aligned, row[-1]]).rstrip()
                if record:
                    line = _with_description(line, record.description, width)
                lines.append(line)
        if self.statistics:
            lines.append(f"E-values: {self.statistics.name}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        title, (heads, *rows) = self._title, self._listing
        text = [f"<p>{escape(title)}</p>"]
        if rows:
            text += ["<table>", _html_row("th", [*heads, "description"])]
            for row, record in list(zip(rows, self._described, strict=True))[:_LISTED]:
                text.append(_html_row("td", [*row, record.description if record else ""]))
            text.append("</table>")
        if len(rows) > _LISTED:
            text.append(f"<p>and {len(rows) - _LISTED} more</p>")
        if self.statistics:
            text.append(f"<p>E-values: {escape(self.statistics.name)}</p>")
        return "\n".join(text)

    @property
    def _title(self) -> str:
        query = self.query
        return (
            f"query {query.id} ({len(query)} letters): {len(self)} hit{'s' * (len(self) != 1)} "
            f"in {self.sequences} sequences of {self.residues} residues"
        )

    @property
    def _described(self) -> Iterator[Record | None]:
        """Yield the target for the first pair of each hit, None for the others."""
        for hit in self:
            yield hit.target
            yield from [None] * (len(hit.hsps) - 1)

    @property
    def _listing(self) -> list[list[str]]:
        """Titles and cells of the ranked list, without descriptions."""
        hsps = [hsp for hit in self for hsp in hit.hsps]
        shown = {
            "bits": any(hsp.bits is not None for hsp in hsps),
            "E-value": any(hsp.evalue is not None for hsp in hsps),
            "frame": any(hsp.context.frame for hsp in hsps),
            "strand": any(hsp.context.strand < 0 and not hsp.context.frame for hsp in hsps),
        }
        rows = [_cells(hit, number) for hit in self for number in range(len(hit.hsps))]
        titles = [title for title in _TITLES if shown.get(title, True)]
        return [titles, *([row[title] for title in titles] for row in rows)]


COLUMNS = (
    "query",
    "rank",
    "hsp",
    "target",
    "score",
    "bits",
    "evalue",
    "identity",
    "identities",
    "positives",
    "gaps",
    "columns",
    "strand",
    "frame",
    "query_start",
    "query_end",
    "query_length",
    "target_start",
    "target_end",
    "target_length",
    "cigar",
    "description",
)
"""What `SearchResult.rows` and the format tsv say of each high-scoring pair.

``hsp`` numbers the pairs of a hit from 1, the best. ``bits`` and ``evalue`` may be unknown.
``identity`` is in percent of the ``columns`` of the alignment; ``positives`` score above 0;
``gaps`` counts columns. ``strand`` is that of the query, + or -, ``frame`` its reading frame, 0 if
it was not translated. Starts and ends count from 1 and include the last residue; those of the query
are places on the query as given, where on the minus strand the start stands behind the end.
Lengths are those of the whole sequences. ``cigar`` reads what was searched, which on the minus
strand is the reverse complement of the query, relative to the target (``=`` equal, ``X`` different,
``I`` only in the query, ``D`` only in the target). ``description`` is the target's.
"""

_TITLES = (
    "rank",
    "score",
    "bits",
    "E-value",
    "identity",
    "frame",
    "strand",
    "query",
    "target",
    "length",
    "name",
)


def _cells(hit: Hit, number: int) -> dict[str, str]:
    """Return what the ranked list says of a pair, by title."""
    hsp, best = hit.hsps[number], not number
    query, target = (f"{first}-{last}" for first, last in (hsp.query_place, hsp.target_place))
    return {
        "rank": str(hit.rank) if best else "",
        "score": str(hsp.score),
        "bits": "" if hsp.bits is None else f"{hsp.bits:.1f}",
        "E-value": "" if hsp.evalue is None else f"{hsp.evalue:.2g}",
        "identity": f"{hsp.alignment.identity:.1%}",
        "frame": f"{hsp.context.frame:+}",
        "strand": "plus" if hsp.context.strand > 0 else "minus",
        "query": query,
        "target": target,
        "length": str(len(hit.target) // hsp.alignment.scoring.alphabet.width) if best else "",
        "name": hit.target.id if best else "",
    }


def _with_description(line: str, description: str, width: int) -> str:
    """Append as much of the description as fits.

    >>> _with_description("1 P69905", "hemoglobin subunit alpha", 30)
    '1 P69905 hemoglobin subunit...'
    """
    whole = f"{line} {' '.join(description.split())}".rstrip()
    if len(whole) <= width:
        return whole
    room = width - len("...")
    return f"{whole[:room].rstrip()}..." if room > len(line) + 1 else line


def _html_row(kind: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{kind}>{escape(cell)}</{kind}>' for cell in cells)}</tr>"


def _preformatted(shown: object) -> str:
    return f"<pre>{escape(str(shown))}</pre>"
