"""BLAST's tabular output (its formats 6 and 7), columns by the names that it gives them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, TextIO

from glsw.output.blast import Shown, bits_text, evalue_text, is_nucleic, percent
from glsw.output.format import Format, in_a_line, program
from glsw.results import Hit, Hsp, SearchResult

STANDARD = (
    "qaccver",
    "saccver",
    "pident",
    "length",
    "mismatch",
    "gapopen",
    "qstart",
    "qend",
    "sstart",
    "send",
    "evalue",
    "bitscore",
)
"""The columns called ``std``, which are the default."""


def tabular_format(columns: Sequence[str] = ("std",), *, comments: bool = False) -> Format:
    """Return the format with some columns: `COLUMNS`, or ``std`` for `STANDARD`.

    Raises
    ------
    ValueError
        If a column does not exist.

    Notes
    -----
    Numbers look as BLAST's do. The query ascends; on its minus strand the target descends instead.
    The query descends where it was translated from its minus strand. Bit scores and E-values
    that are not known are ``nan``. Accessions are the whole ids. Coverage is that of the query as
    given, also where it was translated.

    Examples
    --------
    >>> import sys
    >>> from glsw import Aligner
    >>> result = Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"])
    >>> tabular_format(["qseqid", "sseqid", "score", "btop"]).write(result, sys.stdout)
    query	target 1	16	2G-2
    """
    names = [name for word in columns for name in (STANDARD if word == "std" else (word,))]
    for name in names:
        if name not in COLUMNS:
            raise ValueError(f"blast-tab: unknown column {name!r}")
    if not names:
        raise ValueError("blast-tab: no columns")

    def write(result: SearchResult, stream: TextIO) -> None:
        for hit in result:
            for hsp in hit.hsps:
                line = _Line(result, hit, hsp)
                stream.write("\t".join(in_a_line(COLUMNS[name].value(line)) for name in names))
                stream.write("\n")

    def write_with_comments(result: SearchResult, stream: TextIO) -> None:
        pairs = sum(len(hit.hsps) for hit in result)
        lines = [
            " ".join(program()),
            f"Query: {in_a_line(f'{result.query.id} {result.query.description}')}",
            f"Database: {result.sequences} sequences, {result.residues} residues",
            *[f"Fields: {', '.join(COLUMNS[name].title for name in names)}"] * bool(pairs),
            f"{pairs} hits found",
        ]
        stream.write("".join(f"# {line}\n" for line in lines))
        write(result, stream)

    def footer(results: int) -> str:
        return f"# {program()[0]} processed {results} queries\n"

    return Format(write_with_comments, footer=footer) if comments else Format(write)


@dataclass(frozen=True, eq=False)
class _Line:
    """The pair that a line shows."""

    result: SearchResult
    hit: Hit
    hsp: Hsp

    @cached_property
    def shown(self) -> Shown:
        return Shown.of(self.hsp)

    @property
    def nucleic(self) -> bool:
        return is_nucleic(self.hsp.alignment.scoring.alphabet)

    @property
    def gap_opens(self) -> int:
        rows = (self.shown.query.text, self.shown.target.text)
        return sum(gap for row in rows for gap, _ in groupby(row, "-".__eq__))

    @property
    def mismatches(self) -> int:
        found = self.hsp.alignment
        return found.columns - found.identities - found.gaps

    @property
    def frames(self) -> tuple[int, int]:
        context = self.hsp.context
        if context.frame:
            return context.frame, 0
        return 1, context.strand

    @property
    def strand(self) -> str:
        if not self.nucleic:
            return "N/A"
        return "plus" if self.hsp.context.strand > 0 else "minus"

    @property
    def btop(self) -> str:
        """Numbers of equal pairs, and the letters of others: of the query, then of the target."""
        parts = []
        for equal, run in groupby(self.shown.pairs(), lambda pair: pair[2]):
            pairs = list(run)
            parts.append(str(len(pairs)) if equal else "".join(q + t for q, t, _ in pairs))
        return "".join(parts)


def _percentage(part: int, whole: int, decimals: int) -> str:
    return f"{100 * part / max(1, whole):.{decimals}f}"


def _coverage(hsps: Sequence[Hsp]) -> int:
    """Return how much of the query they cover together, in percent."""
    covered = end = 0
    for first, last in sorted((min(place), max(place)) for place in (h.query_place for h in hsps)):
        covered += max(0, last - max(end, first - 1))
        end = max(end, last)
    return percent(covered, hsps[0].context.length)


class _Column(NamedTuple):
    """The title of a column in the comments, and its value."""

    title: str
    value: Callable[[_Line], object]


def _length(line: _Line) -> int:
    return len(line.hsp.alignment.target.codes)


def _evalue(line: _Line) -> str:
    known = math.nan if line.hsp.evalue is None else line.hsp.evalue
    return evalue_text(known, digits=2)


def _bits(line: _Line) -> str:
    return "nan" if line.hsp.bits is None else bits_text(line.hsp.bits)


COLUMNS: Mapping[str, _Column] = {
    "qseqid": _Column("query id", lambda line: line.result.query.id),
    "qacc": _Column("query acc.", lambda line: line.result.query.id),
    "qaccver": _Column("query acc.ver", lambda line: line.result.query.id),
    "qlen": _Column("query length", lambda line: line.hsp.context.length),
    "sseqid": _Column("subject id", lambda line: line.hit.target.id),
    "sallseqid": _Column("subject ids", lambda line: line.hit.target.id),
    "sacc": _Column("subject acc.", lambda line: line.hit.target.id),
    "saccver": _Column("subject acc.ver", lambda line: line.hit.target.id),
    "sallacc": _Column("subject accs.", lambda line: line.hit.target.id),
    "slen": _Column("subject length", _length),
    "qstart": _Column("q. start", lambda line: line.shown.query_place[0]),
    "qend": _Column("q. end", lambda line: line.shown.query_place[1]),
    "sstart": _Column("s. start", lambda line: line.shown.target_place[0]),
    "send": _Column("s. end", lambda line: line.shown.target_place[1]),
    "qseq": _Column("query seq", lambda line: line.shown.query.text),
    "sseq": _Column("subject seq", lambda line: line.shown.target.text),
    "evalue": _Column("evalue", _evalue),
    "bitscore": _Column("bit score", _bits),
    "score": _Column("score", lambda line: line.hsp.score),
    "length": _Column("alignment length", lambda line: line.hsp.alignment.columns),
    "pident": _Column(
        "% identity",
        lambda line: _percentage(line.hsp.alignment.identities, line.hsp.alignment.columns, 3),
    ),
    "nident": _Column("identical", lambda line: line.hsp.alignment.identities),
    "mismatch": _Column("mismatches", lambda line: line.mismatches),
    "positive": _Column("positives", lambda line: line.hsp.alignment.positives),
    "gapopen": _Column("gap opens", lambda line: line.gap_opens),
    "gaps": _Column("gaps", lambda line: line.hsp.alignment.gaps),
    "ppos": _Column(
        "% positives",
        lambda line: _percentage(line.hsp.alignment.positives, line.hsp.alignment.columns, 2),
    ),
    "frames": _Column("query/sbjct frames", lambda line: "{}/{}".format(*line.frames)),
    "qframe": _Column("query frame", lambda line: line.frames[0]),
    "sframe": _Column("sbjct frame", lambda line: line.frames[1]),
    "btop": _Column("BTOP", lambda line: line.btop),
    "stitle": _Column("subject title", lambda line: line.hit.target.description or "N/A"),
    "salltitles": _Column("subject titles", lambda line: line.hit.target.description or "N/A"),
    "sstrand": _Column("subject strand", lambda line: line.strand),
    "qcovs": _Column("% query coverage per subject", lambda line: _coverage(line.hit.hsps)),
    "qcovhsp": _Column("% query coverage per hsp", lambda line: _coverage([line.hsp])),
}
"""Columns by NCBI's names; those about GI numbers and taxonomy are not among them."""
