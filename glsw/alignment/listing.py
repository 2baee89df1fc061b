"""The ranked list of hits as text and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from glsw.alignment.columns import TABLE, Column, Values, array, of_target
from glsw.alignment.table import HitTable
from glsw.alignment.text import escaped, frames_text
from glsw.sequences.records import Record
from glsw.words import visible

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
    shown = {title: column.texts(table) for title, column in _COLUMNS.items()}
    strands, frames, _ = table.query_contexts
    known = {title: any(shown[title]) for title in ("bits", "E-value", "frame")}
    known["strand"] = bool(((strands < 0) & (frames == 0)).any())
    chosen = {title: cells for title, cells in shown.items() if known.get(title, True)}
    return [list(chosen), *map(list, zip(*chosen.values(), strict=True))]


def _of_best(values: Values) -> Values:
    """Return the values of a column, None where a pair is not the best of its hit."""
    return lambda table: [
        value if number == 1 else None
        for value, number in zip(values(table), table.number.tolist(), strict=True)
    ]


def _ranges(name: str) -> Values:
    """Return places as text."""
    get = attrgetter(name)
    return lambda table: list(map("{}-{}".format, *(each.tolist() for each in get(table))))


_COLUMNS: Mapping[str, Column] = {
    "rank": Column("rank of the hit", _of_best(array("rank")), str),
    "score": TABLE["score"],
    "bits": TABLE["bits"],
    "E-value": TABLE["evalue"]._replace(text="{:.2g}".format),
    "identity": TABLE["identity"]._replace(text="{:.1%}".format),
    "frame": Column(
        "frames of query and target",
        lambda table: list(
            map(
                frames_text,
                table.query_contexts.frames.tolist(),
                table.target_contexts.frames.tolist(),
            )
        ),
    ),
    "strand": TABLE["strand"]._replace(text={"+": "plus", "-": "minus"}.__getitem__),
    "query": Column("first and last letter of the query, from 1", _ranges("query_places")),
    "target": Column("the same of the target", _ranges("target_places")),
    "length": Column("of the target", _of_best(TABLE["target_length"].values), str),
    "name": Column("id of the target", _of_best(of_target("id")), visible),
}
"""The columns of the list by their titles, without descriptions."""


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
