"""BLAST's tabular output (its formats 6 and 7), columns by the names that it gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import NamedTuple, TextIO

import numpy as np
import numpy.typing as npt

from glsw.alignment.hits import SearchResult, table_hsp
from glsw.alignment.hsp_table import HspTable
from glsw.output.blast import Shown, bits_text, evalue_text, is_nucleic, percent
from glsw.output.format import Format, in_a_line, named, of_rows, program

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

    def lines(table: HspTable) -> list[str]:
        columns = [COLUMNS[name].values(table) for name in names]
        rows = ["\t".join(cells) + "\n" for cells in zip(*columns, strict=True)]
        return [f"\\x23{row[1:]}" if row.startswith("#") else row for row in rows]

    def write(result: SearchResult, stream: TextIO) -> None:
        stream.write("".join(of_rows(result, lines)))

    def write_with_comments(result: SearchResult, stream: TextIO) -> None:
        pairs = len(of_rows(result, lines))
        comments = [
            " ".join(program()),
            f"Query: {in_a_line(f'{result.query.id} {result.query.description}')}",
            f"Database: {result.sequences} sequences, {result.residues} residues",
            *[f"Fields: {', '.join(COLUMNS[name].title for name in names)}"] * bool(pairs),
            f"{pairs} hits found",
            *[result.unlisted] * bool(result.unlisted),
        ]
        stream.write("".join(f"# {line}\n" for line in comments))
        write(result, stream)

    def footer(results: int) -> str:
        return f"# {program()[0]} processed {results} queries\n"

    return Format(write_with_comments, footer=footer) if comments else Format(write)


class _Column(NamedTuple):
    """The title of a column in the comments, and its values, one per row of a table."""

    title: str
    values: Callable[[HspTable], list[str]]


def _numbers(values: npt.NDArray[np.integer]) -> list[str]:
    return list(map(str, values.tolist()))


def _percentages(
    part: npt.NDArray[np.integer], whole: npt.NDArray[np.integer], form: str
) -> list[str]:
    return list(map(form.format, (100 * part / np.maximum(1, whole)).tolist()))


def _query_ids(table: HspTable) -> list[str]:
    return named(table.queries[k].given.id for k in table.query.tolist())


def _target_ids(table: HspTable) -> list[str]:
    return named(table.targets[k].given.id for k in table.target.tolist())


def _titles(table: HspTable) -> list[str]:
    return named(table.targets[k].given.description or "N/A" for k in table.target.tolist())


def _places(table: HspTable, end: int, *, of_query: bool) -> list[str]:
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
    return _numbers(shown)


def _frames(table: HspTable) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the frames of queries and of targets: of what is a protein 0, if the other is not."""
    strands, frames, _ = table.query_contexts
    of_targets = table.target_contexts.frames
    nucleic = (frames == 0) & (of_targets == 0)
    return np.where(nucleic, 1, frames), np.where(nucleic, strands, of_targets)


def _strands(table: HspTable) -> list[str]:
    if not is_nucleic(table.scoring.alphabet):
        return ["N/A"] * len(table)
    return ["plus" if strand > 0 else "minus" for strand in table.query_contexts.strands.tolist()]


def _of_rows(value: Callable[[Shown], str]) -> Callable[[HspTable], list[str]]:
    """Return a column that is made of the rows of each alignment."""

    def values(table: HspTable) -> list[str]:
        return [value(shown) for shown in map(partial(_shown, table), range(len(table)))]

    return values


def _shown(table: HspTable, row: int) -> Shown:
    return Shown.of(table_hsp(table, row))


def _btop(shown: Shown) -> str:
    """Return numbers of equal pairs, and the letters of others, those of the query first."""
    parts = []
    for equal, run in groupby(shown.pairs(), lambda pair: pair[2]):
        pairs = list(run)
        parts.append(str(len(pairs)) if equal else "".join(q + t for q, t, _ in pairs))
    return "".join(parts)


def _coverages(table: HspTable, *, of_hits: bool) -> list[str]:
    """Return how much of the query each pair covers, or those of its hit together, in percent."""
    places = np.sort(table.query_places, axis=0).T.tolist()
    starts = np.flatnonzero(table.number == 1) if of_hits else np.arange(len(table))
    shown: list[str] = []
    lengths = table.query_contexts.lengths.tolist()
    for start, stop in pairwise([*starts.tolist(), len(table)]):
        covered = end = 0
        for first, last in sorted(places[start:stop]):
            covered += max(0, last - max(end, first - 1))
            end = max(end, last)
        shown += [str(percent(covered, lengths[start]))] * (stop - start)
    return shown


COLUMNS: Mapping[str, _Column] = {
    "qseqid": _Column("query id", _query_ids),
    "qacc": _Column("query acc.", _query_ids),
    "qaccver": _Column("query acc.ver", _query_ids),
    "qlen": _Column("query length", lambda table: _numbers(table.query_contexts.lengths)),
    "sseqid": _Column("subject id", _target_ids),
    "sallseqid": _Column("subject ids", _target_ids),
    "sacc": _Column("subject acc.", _target_ids),
    "saccver": _Column("subject acc.ver", _target_ids),
    "sallacc": _Column("subject accs.", _target_ids),
    "slen": _Column("subject length", lambda table: _numbers(table.target_contexts.lengths)),
    "qstart": _Column("q. start", partial(_places, end=0, of_query=True)),
    "qend": _Column("q. end", partial(_places, end=1, of_query=True)),
    "sstart": _Column("s. start", partial(_places, end=0, of_query=False)),
    "send": _Column("s. end", partial(_places, end=1, of_query=False)),
    "qseq": _Column("query seq", _of_rows(lambda shown: shown.query.text)),
    "sseq": _Column("subject seq", _of_rows(lambda shown: shown.target.text)),
    "evalue": _Column(
        "evalue", lambda table: [evalue_text(each, digits=2) for each in table.evalues.tolist()]
    ),
    "bitscore": _Column("bit score", lambda table: list(map(bits_text, table.bits.tolist()))),
    "score": _Column(
        "score", lambda table: [str(table.scoring.display(each)) for each in table.units.tolist()]
    ),
    "length": _Column("alignment length", lambda table: _numbers(table.columns)),
    "pident": _Column(
        "% identity", lambda table: _percentages(table.identities, table.columns, "{:.3f}")
    ),
    "nident": _Column("identical", lambda table: _numbers(table.identities)),
    "mismatch": _Column(
        "mismatches", lambda table: _numbers(table.columns - table.gaps - table.identities)
    ),
    "positive": _Column("positives", lambda table: _numbers(table.positives)),
    "gapopen": _Column("gap opens", lambda table: _numbers(table.gap_opens)),
    "gaps": _Column("gaps", lambda table: _numbers(table.gaps)),
    "ppos": _Column(
        "% positives", lambda table: _percentages(table.positives, table.columns, "{:.2f}")
    ),
    "frames": _Column(
        "query/sbjct frames",
        lambda table: [f"{q}/{s}" for q, s in np.stack(_frames(table), axis=1).tolist()],
    ),
    "qframe": _Column("query frame", lambda table: _numbers(_frames(table)[0])),
    "sframe": _Column("sbjct frame", lambda table: _numbers(_frames(table)[1])),
    "btop": _Column("BTOP", _of_rows(_btop)),
    "stitle": _Column("subject title", _titles),
    "salltitles": _Column("subject titles", _titles),
    "sstrand": _Column("subject strand", _strands),
    "qcovs": _Column("% query coverage per subject", partial(_coverages, of_hits=True)),
    "qcovhsp": _Column("% query coverage per hsp", partial(_coverages, of_hits=False)),
}
"""Columns by NCBI's names; those about GI numbers and taxonomy are not among them."""
