"""One pair, several methods and one core: what the sections of 2014 and 2015 share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from bench.pairs import MEANING
from bench.report.blocks import NOT_RUN, Notes, Table, times
from bench.report.documents import Collection
from bench.report.figures import Curve
from bench.report.grid import Grid, grouped, seconds, table, times_and_rates

Row: TypeAlias = tuple[str, int, str]
"""Gaps (empty if there is one kind), length, method."""

LONG = 40
"""Rows of a table that the reader has to open."""

CORES = {"plain": "one core, plain", "simd": "one core, SIMD"}


def collected(files: Collection, benchmark: str) -> Grid[Row, str]:
    """Return all measurements of pairs by gaps, length and method, and by device."""
    grid: Grid[Row, str] = Grid()
    for part in files.parts(benchmark):
        for result in part.results:
            gaps, length = result.get("gaps", ""), result["length"]
            for name, each in result["engines"].items():
                grid.put((gaps, length, name), files.name(part), each, part)
            for name, each in result["cpu"].items():
                grid.put((gaps, length, CORES[name]), files.name(part), each, part)
    return grid


def order(methods: Sequence[str]) -> Any:
    """Return what sorts rows: by gaps as they come, length, method; cores last."""
    names = [*methods, *(name for name in MEANING if name not in methods), *CORES.values()]

    def key(row: Row) -> tuple[int, int, int]:
        return (["", "constant", "affine"].index(row[0]), row[1], names.index(row[2]))

    return key


def heading(row: Row) -> str:
    """Return the group that a row is in."""
    return f"{row[1]:,} x {row[1]:,}" + (f", {row[0]} gaps" if row[0] else "")


def ratio(grid: Grid[Row, str], row: Row, device: str, than: str) -> tuple[float | None, str]:
    """Return how many times as fast a row is as another method, "~" if one was scaled."""
    ours, theirs = grid.get(row, device), grid.get((row[0], row[1], than), device)
    if not ours or not theirs:
        return None, ""
    mark = "~" if ours.get("scaled") or theirs.get("scaled") else ""
    one, other = seconds(ours), seconds(theirs)
    return (other / one if one and other else None), mark


def curves(
    rows: Sequence[Row],
    devices: Sequence[str],
    methods: Sequence[str],
    value: Callable[[Row, str], float | None],
) -> list[Curve]:
    """Return a curve per device and method: ``value`` of a row and a device, by length."""
    return [
        Curve(
            device,
            method,
            [
                (row[1], found)
                for row in rows
                if row[2] == method and (found := value(row, device)) is not None
            ],
        )
        for device in devices
        for method in methods
    ]


def speed_up(grid: Grid[Row, str], row: Row, device: str, than: str) -> str:
    """Return `ratio` as text; nothing where the device did not do this, or with itself."""
    if row[2] == than or grid.get(row, device) is None:
        return ""
    found, mark = ratio(grid, row, device, than)
    return times(found, mark) if found else NOT_RUN


def rates(grid: Grid[Row, str], rows: Sequence[Row], devices: Sequence[str], caption: str) -> Table:
    """Return seconds and GCUPS of each method and device."""
    notes = Notes()

    def line(row: Row) -> list[str]:
        return [row[2], *times_and_rates(grid, row, devices, notes, seconds)]

    head = ["method", *(f"{each}: {what}" for each in devices for what in ("seconds", "GCUPS"))]
    extra = [f"{name}: {MEANING[name]}" for name in MEANING if any(row[2] == name for row in rows)]
    extra.append(
        "one core: parasail, plain (a cell at a time, as in the papers) and with SIMD; "
        "~: measured on the start of the pair and scaled"
    )
    lines = grouped(rows, heading, line)
    return table(grid, caption, head, lines, notes, extra=extra, folded=len(lines) > LONG)


def speed_ups(
    grid: Grid[Row, str],
    rows: Sequence[Row],
    devices: Sequence[str],
    caption: str,
    than: Mapping[str, str],
    *,
    extra: Sequence[str] = (),
) -> Table:
    """Return how many times as fast methods are as others, which ``than`` names by heading."""
    notes = Notes()

    def line(row: Row) -> list[str]:
        cells = []
        for device in devices:
            for other in than.values():
                cells.append(speed_up(grid, row, device, other))
        return [row[2], *cells]

    head = ["method", *(f"{device}: x {what}" for device in devices for what in than)]
    lines = grouped(rows, heading, line)
    extra = [*extra, "-: one of the two was not run or is wrong, see the table of seconds"]
    return table(grid, caption, head, lines, notes, extra=extra)
