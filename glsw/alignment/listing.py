"""The ranked list of hits as text and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

import numpy as np
import numpy.typing as npt

from glsw.alignment.table import HitTable
from glsw.alignment.text import escaped, frames_text
from glsw.sequences.records import Record
from glsw.words import visible

_Bools = npt.NDArray[np.bool_]
_Int64 = npt.NDArray[np.int64]

WIDTH = 100
"""Characters of a line of a list of hits, unless its reader's terminal is known."""

_MAX_HTML_ROWS = 100


def lines_of(table: HitTable, width: int = WIDTH) -> Iterator[str]:
    """Yield a line of titles and one for each high-scoring pair, see `SearchResult.table`."""
    rows = _listing(table)
    *widths, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    for row, record in zip(rows, [None, *_described(table)], strict=True):
        aligned = [f"{cell:>{size}}" for cell, size in zip(row[:-1], widths, strict=True)]
        line = "  ".join([*aligned, row[-1]]).rstrip()
        yield _with_description(line, record.description, width) if record else line


def html_of(table: HitTable) -> Iterator[str]:
    """Yield the same as lines of HTML, long lists cut."""
    heads, *rows = _listing(table)
    yield "<table>"
    yield _html_row("th", [*heads, "description"])
    for row, record in list(zip(rows, _described(table), strict=True))[:_MAX_HTML_ROWS]:
        yield _html_row("td", [*row, record.description if record else ""])
    yield "</table>"
    if len(rows) > _MAX_HTML_ROWS:
        yield f"<p>and {len(rows) - _MAX_HTML_ROWS} more</p>"


def _described(table: HitTable) -> Iterator[Record | None]:
    """Yield the target for the first pair of each hit, None for the others."""
    for target, number in zip(table.target.tolist(), table.number, strict=True):
        yield table.targets[target].given if number == 1 else None


def _listing(table: HitTable) -> list[list[str]]:
    """Return titles and cells of the ranked list, without descriptions."""
    query, target = table.query_contexts, table.target_contexts
    best = table.number == 1
    names = (table.targets[k].given.id for k in table.target.tolist())
    columns = {
        "rank": _of_best(best, table.rank),
        "score": [str(table.scoring.display(units)) for units in table.units.tolist()],
        "bits": ["" if isnan(x) else f"{x:.1f}" for x in table.bits.tolist()],
        "E-value": ["" if isnan(x) else f"{x:.2g}" for x in table.evalues.tolist()],
        "identity": [
            f"{equal / max(1, every):.1%}"
            for equal, every in zip(table.identities.tolist(), table.columns.tolist(), strict=True)
        ],
        "frame": list(map(frames_text, query.frames.tolist(), target.frames.tolist())),
        "strand": ["plus" if strand > 0 else "minus" for strand in query.strands.tolist()],
        "query": _ranges(table.query_places),
        "target": _ranges(table.target_places),
        "length": _of_best(best, target.lengths),
        "name": [visible(name) if first else "" for name, first in zip(names, best, strict=True)],
    }
    shown = {
        "bits": any(columns["bits"]),
        "E-value": any(columns["E-value"]),
        "frame": any(columns["frame"]),
        "strand": bool(((query.strands < 0) & (query.frames == 0)).any()),
    }
    chosen = {title: cells for title, cells in columns.items() if shown.get(title, True)}
    return [list(chosen), *map(list, zip(*chosen.values(), strict=True))]


def _of_best(best: _Bools, numbers: _Int64) -> list[str]:
    """Return numbers as text, nothing where a pair is not the best of its hit."""
    return [f"{n}" if first else "" for n, first in zip(numbers.tolist(), best, strict=True)]


def _ranges(places: tuple[_Int64, _Int64]) -> list[str]:
    first, last = (each.tolist() for each in places)
    return [f"{a}-{b}" for a, b in zip(first, last, strict=True)]


def _with_description(line: str, description: str, width: int) -> str:
    """Append as much of the description as fits.

    >>> _with_description("1 P69905", "hemoglobin subunit alpha", 30)
    '1 P69905 hemoglobin subunit...'
    """
    whole = f"{line} {visible(' '.join(description.split()))}".rstrip()
    if len(whole) <= width:
        return whole
    room = width - len("...")
    return f"{whole[:room].rstrip()}..." if room > len(line) + 1 else line


def _html_row(kind: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{kind}>{escaped(cell)}</{kind}>' for cell in cells)}</tr>"
