"""JSON Lines: one JSON object per query."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, TextIO

from glsw.alignment.columns import TABLE, Column, Values
from glsw.alignment.hits import SearchResult
from glsw.alignment.table import HitTable
from glsw.output.format import of_rows
from glsw.sequences.records import Record
from glsw.words import UNSEEN

_UNSAFE = re.compile(rf"[{UNSEEN}\ud800-\udfff]")  # what `json` leaves, also surrogates


def _row_of_each(number: int) -> Values:
    """Return a row of each alignment, see `HitTable.texts`."""
    return lambda table: [rows[number] for rows in table.made(HitTable.texts)]


_OF_HIT = ("query", "rank", "hsp", "target", "query_length", "target_length", "description")
_HSP: Mapping[str, Column] = {name: each for name, each in TABLE.items() if name not in _OF_HIT} | {
    "query_row": Column(
        "aligned letters of the query as in the CIGAR, `-` for gaps", _row_of_each(0)
    ),
    "target_row": Column("the same for the target", _row_of_each(2)),
}
KEYS: Mapping[str, str] = {
    "query": "object with `id`, `description` and `length` in letters",
    "database": "object with the numbers of `sequences` and `residues`",
    "statistics": "source of bit scores and E-values, or why there are none",
    "max_evalue": "the E-value limit of the hits, null for no limit",
    "more_hits": "number of further hits that are not listed; null if unknown, without an E-value "
    "limit",
    "more_places": "number of listed hits with further alignments that are not listed; null if "
    "not counted",
    "hits": "array of hits, best first",
    "hits[].rank": "1 for the best",
    "hits[].target": "object like `query`",
    "hits[].hsps": "array of the alignments of a hit, best first; empty values are null",
    **{f"hits[].hsps[].{name}": each.about for name, each in _HSP.items()},
}
"""The members of an object, and what they are."""


def write(result: SearchResult, stream: TextIO) -> None:
    """Write the object of one query, of `KEYS`.

    Control and invisible characters are escaped, and all characters outside ASCII if the stream is
    not UTF-8.

    Examples
    --------
    >>> import io
    >>> from glsw import Aligner
    >>> stream = io.StringIO()
    >>> write(Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"], composition=0), stream)
    >>> json.loads(stream.getvalue())["hits"][0]["target"]
    {'id': 'target 1', 'description': '', 'length': 5}
    """
    shown = {
        "query": _record(result.query),
        "database": {"sequences": result.sequences, "residues": result.residues},
        "statistics": result.statistics.name if result.statistics else None,
        "max_evalue": result.evalue,
        "more_hits": result.more,
        "more_places": result.more_places,
        "hits": _hits(result) if len(result) else [],
    }
    text = json.dumps(shown, ensure_ascii=not _is_unicode(stream), allow_nan=False)
    stream.write(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def _is_unicode(stream: TextIO) -> bool:
    encoding = getattr(stream, "encoding", None)
    return encoding is None or codecs.lookup(encoding).name.startswith("utf")


def _record(record: Record) -> dict[str, Any]:
    return {"id": record.id, "description": record.description, "length": len(record)}


def _hits(result: SearchResult) -> list[dict[str, Any]]:
    table, bounds, hsps = result.listed.table, result.listed.bounds, of_rows(result, _hsps)
    first = list(bounds[:-1])
    of_each = zip(pairwise(bounds), table.rank[first].tolist(), table.target[first], strict=True)
    return [
        {
            "rank": rank,
            "target": _record(table.targets[int(target)].given),
            "hsps": hsps[start - first[0] : stop - first[0]],
        }
        for (start, stop), rank, target in of_each
    ]


def _hsps(table: HitTable) -> list[dict[str, Any]]:
    """Return the object of the alignment of each row."""
    columns = (each.values(table) for each in _HSP.values())
    return [dict(zip(_HSP, values, strict=True)) for values in zip(*columns, strict=True)]
