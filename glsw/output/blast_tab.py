"""BLAST's tabular output (formats 6 and 7), with the columns under BLAST's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise
from operator import attrgetter
from typing import TextIO

import numpy as np
import numpy.typing as npt

from glsw.alignment.columns import TABLE, Column, Values, array, of_target
from glsw.alignment.hits import SearchResult, table_hsp
from glsw.alignment.table import HitTable
from glsw.output.blast import BlastHsp, bits_text, evalue_text, is_nucleic, percent
from glsw.output.format import Format, of_columns, program
from glsw.words import in_a_line

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
    r"""Return the format with some columns: `COLUMNS`, or ``std`` for `STANDARD`.

    Raises
    ------
    ValueError
        If a column does not exist.

    Notes
    -----
    Numbers look as BLAST's do. The query ascends; on its minus strand the target descends instead.
    What was translated from its minus strand descends. Bit scores and E-values
    that are not known are ``nan``. Accessions are the whole ids. Coverage is that of the query as
    given, also where it was translated. A ``#`` at the start of a line, which would make it a
    comment, is ``\x23``.

    Examples
    --------
    >>> import sys
    >>> from glsw import Aligner
    >>> result = Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"], composition=0)
    >>> tabular_format(["qseqid", "sseqid", "score", "btop"]).write(result, sys.stdout)
    query	target 1	16	2G-2
    """
    names = [name for word in columns for name in (STANDARD if word == "std" else (word,))]
    for name in names:
        if name not in COLUMNS:
            raise ValueError(f"blast-tab: unknown column {name!r}")
    if not names:
        raise ValueError("blast-tab: no columns")

    lines = of_columns(map(COLUMNS.__getitem__, names))

    def write(result: SearchResult, stream: TextIO) -> None:
        for line in lines(result):
            stream.write(f"\\x23{line[1:]}" if line.startswith("#") else line)

    def write_with_comments(result: SearchResult, stream: TextIO) -> None:
        pairs = len(lines(result))
        comments = [
            " ".join(program()),
            f"Query: {in_a_line(f'{result.query.id} {result.query.description}')}",
            f"Database: {result.sequences} sequences, {result.residues} residues",
            *[f"Fields: {', '.join(COLUMNS[name].about for name in names)}"] * bool(pairs),
            f"{pairs} hits found",
            *[result.unlisted] * bool(result.unlisted),
        ]
        stream.write("".join(f"# {line}\n" for line in comments))
        write(result, stream)

    def footer(results: int) -> str:
        return f"# {program()[0]} processed {results} queries\n"

    return Format(write_with_comments, footer=footer) if comments else Format(write)


def _places(table: HitTable, end: int, *, of_query: bool) -> list[int]:
    """Return the first (0) or the last (1) letters, the way round that BLAST shows them."""
    strands, frames, _ = table.query_contexts
    minus = (strands < 0) & (frames == 0)
    place = table.query_places if of_query else table.target_places
    first, last = np.where(minus, place[::-1], place)
    shown = last if end else first
    gap_only = (table.ends == table.runs.start)[:, 0 if of_query else 1]
    if gap_only.any():  # the number before, which an alignment without columns has not
        step = np.where(minus & (not of_query), -1, 1)
        shown = np.where(gap_only, first - step * (table.columns > 0), shown)
    numbers: list[int] = shown.tolist()
    return numbers


def _frames(table: HitTable) -> npt.NDArray[np.int64]:
    """Return the frames of queries and of targets: of what is a protein 0, if the other is not."""
    strands, frames, _ = table.query_contexts
    of_targets = table.target_contexts.frames
    nucleic = (frames == 0) & (of_targets == 0)
    return np.where(nucleic, (np.ones_like(strands), strands), (frames, of_targets))


def _strands(table: HitTable) -> list[str]:
    if not is_nucleic(table.scoring.alphabet):
        return ["N/A"] * len(table)
    return ["plus" if strand > 0 else "minus" for strand in table.query_contexts.strands.tolist()]


def _of_rows(value: Callable[[BlastHsp], str]) -> Values:
    """Return a column that is made of the rows of each alignment."""
    return lambda table: [value(BlastHsp.of(table_hsp(table, k))) for k in range(len(table))]


def _btop(shown: BlastHsp) -> str:
    """Return numbers of equal pairs, and the letters of others, those of the query first."""
    parts = []
    for equal, run in groupby(shown.pairs(), lambda pair: pair[2]):
        pairs = list(run)
        parts.append(str(len(pairs)) if equal else "".join(q + t for q, t, _ in pairs))
    return "".join(parts)


def _coverages(table: HitTable, *, of_hits: bool) -> list[int]:
    """Return how much of the query each pair covers, or those of its hit together, in percent."""
    places = np.sort(table.query_places, axis=0).T.tolist()
    starts = np.flatnonzero(table.number == 1) if of_hits else np.arange(len(table))
    shown: list[int] = []
    lengths = table.query_contexts.lengths.tolist()
    for start, stop in pairwise([*starts.tolist(), len(table)]):
        covered = end = 0
        for first, last in sorted(places[start:stop]):
            covered += max(0, last - max(end, first - 1))
            end = max(end, last)
        shown += [percent(covered, lengths[start])] * (stop - start)
    return shown


def _percentages(name: str) -> Values:
    """Return an array of a table in per cent of the columns."""
    counts = attrgetter(name)
    return lambda table: (100 * counts(table) / np.maximum(1, table.columns)).tolist()


_QUERY, _TARGET = TABLE["query"], TABLE["target"]
_TITLE = Column("subject title", of_target("description"), lambda text: in_a_line(text or "N/A"))

COLUMNS: Mapping[str, Column] = {
    "qseqid": _QUERY._replace(about="query id"),
    "qacc": _QUERY._replace(about="query acc."),
    "qaccver": _QUERY._replace(about="query acc.ver"),
    "qlen": TABLE["query_length"]._replace(about="query length"),
    "sseqid": _TARGET._replace(about="subject id"),
    "sallseqid": _TARGET._replace(about="subject ids"),
    "sacc": _TARGET._replace(about="subject acc."),
    "saccver": _TARGET._replace(about="subject acc.ver"),
    "sallacc": _TARGET._replace(about="subject accs."),
    "slen": TABLE["target_length"]._replace(about="subject length"),
    "qstart": Column("q. start", partial(_places, end=0, of_query=True)),
    "qend": Column("q. end", partial(_places, end=1, of_query=True)),
    "sstart": Column("s. start", partial(_places, end=0, of_query=False)),
    "send": Column("s. end", partial(_places, end=1, of_query=False)),
    "qseq": Column("query seq", _of_rows(lambda shown: shown.query.text)),
    "sseq": Column("subject seq", _of_rows(lambda shown: shown.target.text)),
    "evalue": Column(
        "evalue", lambda table: [evalue_text(each, digits=2) for each in table.evalues.tolist()]
    ),
    "bitscore": Column("bit score", array("bits"), bits_text),
    "score": TABLE["score"]._replace(about="score"),
    "length": Column("alignment length", array("columns")),
    "pident": Column("% identity", _percentages("identities"), "%.3f"),
    "nident": Column("identical", array("identities")),
    "mismatch": Column(
        "mismatches", lambda table: (table.columns - table.gaps - table.identities).tolist()
    ),
    "positive": Column("positives", array("positives")),
    "gapopen": Column("gap opens", array("gap_opens")),
    "gaps": Column("gaps", array("gaps")),
    "ppos": Column("% positives", _percentages("positives"), "%.2f"),
    "frames": Column(
        "query/sbjct frames", lambda table: [f"{q}/{s}" for q, s in _frames(table).T.tolist()]
    ),
    "qframe": Column("query frame", lambda table: _frames(table)[0].tolist()),
    "sframe": Column("sbjct frame", lambda table: _frames(table)[1].tolist()),
    "btop": Column("BTOP", _of_rows(_btop)),
    "stitle": _TITLE,
    "salltitles": _TITLE._replace(about="subject titles"),
    "sstrand": Column("subject strand", _strands),
    "qcovs": Column("% query coverage per subject", partial(_coverages, of_hits=True)),
    "qcovhsp": Column("% query coverage per hsp", partial(_coverages, of_hits=False)),
}
"""Columns by NCBI's names; those about GI numbers and taxonomy are not among them."""
