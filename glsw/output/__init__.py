"""Output formats by name: a writer takes one result at a time and writes it in one go.

Coordinates leave the program here. In tsv and jsonl they count from 0 and are half-open, as inside.
In text for people, in GFF3 and in BLAST's formats they count from 1 and include the last residue;
SAM and PAF have their own convention.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TextIO

from glsw.alignment.hits import SearchResult
from glsw.output import blast_tab, gff3, html, jsonl, paf, pairwise, sam, tsv
from glsw.output.format import Format, Header
from glsw.output.result_file import ResultFile, is_replaced
from glsw.sequences.database import Database
from glsw.sequences.records import Record, Records
from glsw.words import did_you_mean

_TABULAR = {"blast-tab": False, "blast-tab-comments": True}
_NUMBERS = {"6": "blast-tab", "7": "blast-tab-comments"}
_WITH_ALIGNMENTS: Mapping[str, Callable[..., None]] = {
    "pairwise": pairwise.write,
    "table": pairwise.write_list,
}

FORMATS: Mapping[str, Format] = {
    "pairwise": Format(pairwise.write),
    "table": Format(pairwise.write_list),
    "tsv": Format(tsv.write, tsv.HEADER),
    **{name: blast_tab.tabular_format(comments=comments) for name, comments in _TABULAR.items()},
    "sam": sam.sam_format(),
    "paf": Format(paf.write, maps=True),
    "gff3": Format(gff3.write, gff3.HEADER),
    "jsonl": Format(jsonl.write),
    "html": html.page_format(),
}
"""For searches: the list and its alignments, the list alone, and formats for programs."""

ALIGNMENT_FORMATS: Mapping[str, Format] = {
    "pairwise": Format(pairwise.write_alignments),
    **{name: FORMATS[name] for name in ("tsv", "blast-tab", "sam", "paf", "gff3", "jsonl")},
}
"""For one pair of sequences."""


def format_of(text: str, formats: Mapping[str, Format] = FORMATS) -> Format:
    """Return a format by its name, perhaps followed by the columns of a tabular one.

    Parameters
    ----------
    text : str
        For example ``"sam"`` or ``"blast-tab qseqid sseqid evalue"``, see `glsw.output.blast_tab`;
        BLAST's numbers 6 and 7 work too. ``"html"`` may be followed by a link, see
        `glsw.output.html.page_format`, ``"sam"`` by a read group, see `glsw.output.sam.sam_format`,
        ``"pairwise"`` and ``"table"`` by the number of hits whose alignments they show, 0 for all.
    formats : mapping of str to Format
        The formats to choose from.

    Raises
    ------
    ValueError
        If the format or column does not exist, naming the nearest; if the format has no columns.

    Examples
    --------
    >>> format_of("tabel")
    Traceback (most recent call last):
        ...
    ValueError: unknown format 'tabel', did you mean table? There are pairwise, table, tsv, \
blast-tab, blast-tab-comments, sam, paf, gff3, jsonl, html
    """
    name, *columns = text.split() or [""]
    name = _NUMBERS.get(name, name)
    if name not in formats:
        raise ValueError(_unknown("format", name, formats))
    rest = text.strip()[len(name) :].strip()
    if name == "sam" and rest.startswith("@"):
        return sam.sam_format(rest)._replace(name=f"{name} {rest}")
    full = " ".join([name, *columns])
    if not columns:
        return formats[name]._replace(name=full)
    if name == "html":
        return html.page_format(" ".join(columns))._replace(name=full)
    if name in _WITH_ALIGNMENTS and formats[name].write is _WITH_ALIGNMENTS[name]:
        if len(columns) > 1 or not (columns[0].isascii() and columns[0].isdecimal()):
            raise ValueError(f"format {full}: one number of alignments expected, 0 for all")
        return Format(partial(_WITH_ALIGNMENTS[name], alignments=int(columns[0])), name=full)
    if name not in _TABULAR:
        raise ValueError(f"format {name} has no columns to choose, got {' '.join(columns)!r}")
    for column in columns:
        if column not in (known := ["std", *blast_tab.COLUMNS]):
            raise ValueError(_unknown(f"column of {name}", column, known))
    return blast_tab.tabular_format(columns, comments=_TABULAR[name])._replace(name=full)


def write(
    results: SearchResult | Iterable[SearchResult],
    to: TextIO | str | os.PathLike[str],
    format: str = "pairwise",  # noqa: A002
    *,
    targets: Iterable[Record] | Database | None = None,
) -> None:
    """Write the results of one query or of several, each as soon as it is computed.

    Parameters
    ----------
    results : SearchResult or iterable of SearchResult
    to : text stream or path
        The output; a file is replaced once all results are written, see
        `glsw.output.result_file`.
    format : str
        See `format_of`.
    targets : Database or iterable of Record, optional
        The searched sequences, for a format whose header names all targets (SAM). Without them
        the header waits for all results and names their targets.

    Examples
    --------
    >>> import sys
    >>> from glsw import Aligner
    >>> queries, aligner = ["HEAGAWGHEE", "WHEAT"], Aligner(engine="reference")
    >>> results = aligner.search(queries, ["PAWHE"], composition=0)
    >>> write(results, sys.stdout, "blast-tab qseqid sseqid length sstart send")
    query 1	target 1	5	2	5
    query 2	target 1	3	3	5
    """
    chosen = format_of(format)
    if isinstance(results, SearchResult):
        results = [results]
    results = _checked(results)
    header = chosen.header
    if not isinstance(header, str):
        if targets is None and chosen.lists_targets:
            results = list(results)
            targets = list({hit.target.id: hit.target for each in results for hit in each}.values())
        header = header(names_and_lengths(targets or ()), "")
    if isinstance(to, str | os.PathLike):
        if is_replaced(Path(to)):
            with ResultFile(to) as file:
                _write_all(results, file.stream, chosen, header)
            return
        with open(to, "w", encoding="utf-8", errors="backslashreplace") as stream:
            _write_all(results, stream, chosen, header)
    else:
        _write_all(results, to, chosen, header)


def _checked(results: Iterable[SearchResult]) -> Iterator[SearchResult]:
    """Yield the results; TypeError at one that is something else."""
    for result in results if isinstance(results, Iterable) else (results,):
        if not isinstance(result, SearchResult):
            raise TypeError(f"results of a search expected, got {type(result).__name__}")
        yield result


def names_and_lengths(targets: Iterable[Record] | Database) -> Iterator[tuple[str, int]]:
    """Yield the name and the length of each target, which a `Header` needs."""
    named = targets if isinstance(targets, Database) else Records.of(targets)
    return named.names_and_lengths()


def _write_all(
    results: Iterable[SearchResult], stream: TextIO, chosen: Format, header: str
) -> None:
    stream.write(header)
    written, write_one = 0, chosen.begin()
    for result in results:
        write_one(result, stream)
        written += 1
    if chosen.footer:
        stream.write(chosen.footer(written))


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    known = list(known)
    return f"unknown {kind} {name!r}{did_you_mean(name, known) or '.'} There are {', '.join(known)}"


__all__ = [
    "ALIGNMENT_FORMATS",
    "FORMATS",
    "Format",
    "Header",
    "format_of",
    "names_and_lengths",
    "write",
]
