"""Measurements by row and column: the newest of each, where it comes from, and a table of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from bench import rows
from bench.report.blocks import NOT_RUN, WRONG, Notes, Table, number
from bench.report.documents import Part

Row = TypeVar("Row", bound=Hashable)
Column = TypeVar("Column", bound=Hashable)


class Entry(NamedTuple):
    """A measurement and the part it stands in."""

    found: Mapping[str, Any]
    part: Part


class Grid(Generic[Row, Column]):
    """What was measured, by row and column. What comes later takes the place of what is there.

    Something that was not run does not take the place of a measurement.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[Row, Column], Entry] = {}

    def __bool__(self) -> bool:
        return bool(self._entries)

    def put(self, row: Row, column: Column, found: Mapping[str, Any], part: Part) -> None:
        """Add a measurement."""
        old = self._entries.get((row, column))
        if old is None or rows.state(found) != "not run" or rows.state(old.found) == "not run":
            self._entries[row, column] = Entry(found, part)

    def get(self, row: Row, column: Column) -> Mapping[str, Any] | None:
        """Return a measurement."""
        entry = self._entries.get((row, column))
        return entry and entry.found

    def rows(self, order: Callable[[Row], Any] | None = None) -> list[Row]:
        """Return all rows, as they came or in order."""
        found = list(dict.fromkeys(row for row, _ in self._entries))
        return sorted(found, key=order) if order else found

    def columns(self, order: Sequence[Column] | None = None) -> list[Column]:
        """Return all columns, as they came or in order."""
        found = list(dict.fromkeys(column for _, column in self._entries))
        return found if order is None else [column for column in order if column in found]

    def files(self, rows: Iterable[Row] | None = None) -> list[str]:
        """Return the files that these rows come from."""
        chosen = None if rows is None else set(rows)
        return files_of(
            entry.part
            for (row, _), entry in self._entries.items()
            if chosen is None or row in chosen
        )

    def values(
        self, rows: Sequence[Row], column: Column, value: Callable[[Mapping[str, Any]], Any]
    ) -> list[tuple[Row, float]]:
        """Return rows and numbers of a column, without what has none."""
        found = ((row, self.get(row, column)) for row in rows)
        pairs = [(row, value(each)) for row, each in found if each is not None]
        return [(row, number) for row, number in pairs if number is not None]

    def parts(self) -> list[Part]:
        """Return what the measurements stand in, each once."""
        found = {id(entry.part): entry.part for entry in self._entries.values()}
        return list(found.values())


def files_of(parts: Iterable[Part]) -> list[str]:
    """Return the names of the files of parts."""
    return sorted({part.document.file for part in parts})


def cell(
    found: Mapping[str, Any] | None,
    notes: Notes,
    value: Callable[[Mapping[str, Any]], float | None],
    text: Callable[[float | None, str], str] = number,
) -> str:
    """Return a measurement as text: its value, WRONG, or a sign with the reason in a note."""
    if found is None:
        return ""
    state = rows.state(found)
    if state == "wrong":
        check = found["check"]
        why = f"{check['wrong']} of {check['pairs']} differ from {check['judge']}"
        return WRONG + notes.mark(f"wrong: {why}; {check['first']}")
    if state == "not run":
        return NOT_RUN + notes.mark(f"not run: {rows.reason(found) or 'no reason is given'}")
    return text(value(found), "~" if found.get("scaled") else "")


def times_and_rates(
    grid: Grid[Row, Column],
    row: Row,
    columns: Iterable[Column],
    notes: Notes,
    time: Callable[[Mapping[str, Any]], float | None],
) -> list[str]:
    """Return the time and the GCUPS of a row in each column, as text."""
    cells = []
    for column in columns:
        found = grid.get(row, column)
        rate = found and found.get("gcups")
        cells += [cell(found, notes, time), number(rate) if rate else NOT_RUN if found else ""]
    return cells


def table(
    grid: Grid[Any, Any],
    caption: str,
    head: Sequence[str],
    lines: Sequence[Sequence[str]],
    notes: Notes,
    *,
    extra: Iterable[str] = (),
    folded: bool = False,
) -> Table:
    """Return a table of what is in a grid."""
    every = [*notes.lines(), *extra]
    return Table(caption, list(head), [list(line) for line in lines], every, grid.files(), folded)


def gcups(found: Mapping[str, Any]) -> float | None:
    """Return billions of cells per second of wall time."""
    return found.get("gcups")


def seconds(found: Mapping[str, Any]) -> float | None:
    """Return seconds of wall time; those of the whole pair where a part was measured."""
    if found.get("seconds") is not None and not isinstance(found["seconds"], list):
        return float(found["seconds"])
    return found["wall"]["median"] if found.get("wall") else None


def device_seconds(found: Mapping[str, Any]) -> float | None:
    """Return seconds by the clock of the device."""
    return found["device"]["median"] if found.get("device") else None


def grouped(
    rows: Sequence[Row],
    group: Callable[[Row], str],
    line: Callable[[Row], list[str]],
) -> list[list[str]]:
    """Return a line per row, and a heading wherever the group is another one."""
    lines: list[list[str]] = []
    latest: str | None = None
    for row in rows:
        if (name := group(row)) != latest:
            lines.append([name])
            latest = name
        lines.append(line(row))
    return lines
