"""Search results as text: the list of hits, then their alignments."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import TextIO

import numpy as np

from glsw.alignment.columns import TABLE, Column
from glsw.alignment.hits import Hsp, SearchResult
from glsw.alignment.listing import WIDTH
from glsw.alignment.table import HitTable
from glsw.alignment.text import in_lines
from glsw.output.blast import BlastHsp, bits_text, evalue_text, is_nucleic, percent
from glsw.output.format import of_rows
from glsw.sequences.records import Record
from glsw.words import in_a_line, visible

ALIGNMENTS = 10
"""The hits whose alignments are shown unless told."""
_WIDTH = 68  # of a target's name and description in the list


def write(result: SearchResult, stream: TextIO, alignments: int = ALIGNMENTS) -> None:
    r"""Write a search as BLAST does: the list of targets, then the alignments of the best.

    Of so many targets ``alignments`` are shown, 0 for all.

    Between the rows stand ``|`` for equal nucleotides, and for amino acids the letter, or ``+``
    for others that score above 0. Places are those on the query as given; of an alignment with its
    minus strand, the target's descend (Strand=Plus/Minus), and those of what was translated from
    its minus strand (Frame = -1; of both Frame = +2/-1). A line of nothing but gap has no places.
    At the end stands where bit scores and E-values come from; where there are none, scores are in
    units of the matrix.

    Examples
    --------
    >>> import io
    >>> from glsw import Aligner
    >>> stream = io.StringIO()
    >>> write(Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"], composition=0), stream)
    >>> block = stream.getvalue().partition(" Identities")[2].splitlines()
    >>> print("\n".join(block[:5]))
     = 4/5 (80%), Positives = 4/5 (80%), Gaps = 1/5 (20%)
    <BLANKLINE>
    Query  5  AWGHE  9
              AW HE
    Sbjct  2  AW-HE  5
    """
    query = result.query
    lines = [f"Query= {_title(query)}", "", f"Length={len(query)}"]
    lines += [*_list(result), ""] if result.hits else ["", "", "***** No hits found *****", ""]
    if result.unlisted:
        lines += [f"{result.unlisted}.", ""]
    shown = result.hits[: alignments or None]
    for hit in shown:
        lines += ["", f">{_title(hit.target)}", f"Length={hit.hsps[0].of_target.length}", ""]
        for hsp in hit.hsps:
            lines += [*hsp_lines(hsp), ""]
    if len(shown) < len(result):
        lines += ["", f"  Alignments: those of the {len(shown)} best hits"]
    lines += ["", f"  Database: {result.sequences} sequences, {result.residues} residues"]
    if result.statistics:
        lines.append(f"  E-values: {result.statistics.name}")
    stream.write("\n".join([*lines, "", "", ""]))


def write_list(result: SearchResult, stream: TextIO, alignments: int | None = None) -> None:
    """Write the list, see `SearchResult.table`, as wide as the terminal, and a blank line.

    Of so many hits ``alignments`` follow, 0 for all.

    Examples
    --------
    >>> import io
    >>> from glsw import Aligner, Record
    >>> database = [Record("far", "", "PPPPPP"), Record("near", "by far", "PAWHE")]
    >>> stream = io.StringIO()
    >>> result = Aligner(engine="reference").search("HEAGAWGHEE", database, composition=0)
    >>> write_list(result, stream)
    >>> stream.getvalue().splitlines()[0]
    'query query (10 letters): 1 hit in 2 sequences of 11 residues'
    >>> stream.getvalue().splitlines()[2].split()[-5:]
    ['2-5', '5', 'near', 'by', 'far']
    """
    width = shutil.get_terminal_size((WIDTH, 24)).columns if stream.isatty() else WIDTH
    hits = () if alignments is None else result.hits[: alignments or None]
    stream.write("".join(f"{part}\n\n" for part in (result.table(width), *hits)))


def write_alignments(result: SearchResult, stream: TextIO) -> None:
    """Write the alignments of one pair of sequences, the best first, and a blank line after each.

    Between the rows stand ``|`` for equal residues, ``:`` for others that score above 0 and ``.``
    for other pairs; a gap is ``-``. Coordinates count from 1 and include the last residue.

    Examples
    --------
    >>> import sys
    >>> from glsw import Aligner
    >>> result = Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"], composition=0)
    >>> write_alignments(result, sys.stdout)
    ... # doctest: +ELLIPSIS
    query  query
    target target 1
    score 16, ...identities 4/5 (80.0%), gaps 1/5 (20.0%)
    <BLANKLINE>
    query  5 AWGHE 9
             || ||
    target 2 AW-HE 5
    <BLANKLINE>
    """
    if result.hits:
        stream.write("".join(f"{hsp}\n\n" for hit in result for hsp in hit.hsps))
    else:
        stream.write(f"query {visible(result.query.id)}: no alignment\n\n")


def _title(record: Record) -> str:
    return in_a_line(f"{record.id} {record.description}")


def _list(result: SearchResult) -> list[str]:
    listed, lines = result.listed, of_rows(result, _lines)
    first = np.array(listed.bounds[:-1], np.int64)
    known = (listed.table.bits, listed.table.evalues)
    in_bits, with_evalues = (not np.isnan(each[first]).all() for each in known)
    title = "Sequences producing significant alignments:"
    return [
        f"{'':{_WIDTH}}  Score{'     E' * with_evalues}",
        f"{title:{_WIDTH}} {'(Bits)' if in_bits else ' (Raw)'}{'  Value' * with_evalues}",
        "",
        *(lines[k] for k in (first - first[0]).tolist()),
    ]


def _lines(table: HitTable) -> list[str]:
    """Return the line of each row in a list of hits."""
    return [line.rstrip() for line in Column.lines(_LIST, table, "  ", "")]


def _titles(table: HitTable) -> list[str]:
    titles = {k: _short_title(table.targets[k].given) for k in set(table.target.tolist())}
    return [titles[k] for k in table.target.tolist()]


def _bits_or_scores(table: HitTable) -> list[str]:
    each = zip(*(TABLE[name].values(table) for name in ("bits", "score")), strict=True)
    return [str(score) if bits is None else bits_text(bits) for bits, score in each]


_LIST = (
    Column("name and description of the target", _titles, f"%-{_WIDTH}s"),
    Column("score", _bits_or_scores, "%-6s"),
    TABLE["evalue"]._replace(text=evalue_text),
)
"""The columns of the list."""


def _short_title(record: Record) -> str:
    title = _title(record)
    if len(title) <= _WIDTH - 1:
        return title
    return title[: max(_WIDTH - 4, len(record.id))].rstrip() + "..."


def hsp_lines(hsp: Hsp, evalue_text: Callable[[float], str] = evalue_text) -> list[str]:
    """Return the lines about a pair: scores, counts, and its rows."""
    return [*_scores(hsp, evalue_text), "", *_rows(hsp)]


def _scores(hsp: Hsp, evalue_text: Callable[[float], str]) -> Iterator[str]:
    found, context = hsp.alignment, hsp.context
    nucleic, columns = is_nucleic(found.scoring.alphabet), max(1, found.columns)
    score = str(hsp.score) if hsp.bits is None else f"{bits_text(hsp.bits)} bits ({hsp.score})"
    evalue = "" if hsp.evalue is None else f",  Expect = {evalue_text(hsp.evalue)}"
    counts = {"Identities": found.identities, "Positives": found.positives, "Gaps": found.gaps}
    if nucleic:
        del counts["Positives"]
    yield f" Score = {score}{evalue}"
    yield " " + ", ".join(
        f"{name} = {count}/{columns} ({percent(count, columns)}%)" for name, count in counts.items()
    )
    if frames := [frame for frame in (context.frame, hsp.of_target.frame) if frame]:
        yield f" Frame = {'/'.join(f'{frame:+}' for frame in frames)}"
    elif nucleic:
        yield f" Strand=Plus/{'Plus' if context.strand > 0 else 'Minus'}"


def _rows(hsp: Hsp) -> Iterator[str]:
    """Yield the lines of the rows, each three followed by a blank one."""
    shown = BlastHsp.of(hsp)
    rows = {"Query": shown.query, "Sbjct": shown.target}
    for block in in_lines(rows, shown.midline(hsp.alignment.scoring.alphabet), 1, blast=True):
        yield from (*block, "")
