"""Benchmarks that are of no paper's table: every measurement with its name."""

from __future__ import annotations

from bench import rows
from bench.report.blocks import Notes, Section, Table, number
from bench.report.documents import Collection
from bench.report.grid import Grid, cell, grouped, seconds, table

_SHOWN = ("liu2006", "aymone2022", "lin2015", "scan2014", "sudo2012", "search", "micro", "engines")


def section(files: Collection) -> Section | None:
    """Return a table for each benchmark that no other section shows; None if there is none."""
    names = sorted({part.benchmark for part in files.parts()} - {*_SHOWN})
    tables = [_table(files, name) for name in names]
    if not tables:
        return None
    text = "Name by name: sizes and engine are in it; seconds and GCUPS are by wall time."
    return Section("others", "Other benchmarks", [text, *tables])


def _table(files: Collection, benchmark: str) -> Table:
    grid: Grid[str, str] = Grid()
    for part in files.parts(benchmark):
        for key, found in rows.measurements(part):
            grid.put(key.partition(" / ")[2], files.name(part), found, part)
    devices = grid.columns(files.devices)
    notes = Notes()

    def line(key: str) -> list[str]:
        cells = []
        for device in devices:
            found = grid.get(key, device)
            if found is not None and rows.state(found) == "checked":
                cells += [f"{found['check']['pairs']:,} right", ""]
                continue
            cells.append(cell(found, notes, seconds))
            cells.append(number(found.get("gcups")) if found else "")
        return [_last(key), *cells]

    head = ["measurement"]
    head += [f"{each}: {what}" for each in devices for what in ("seconds", "GCUPS")]
    lines = grouped(grid.rows(), _first, line)
    return table(grid, benchmark, head, lines, notes, folded=len(lines) > 12)


def _first(key: str) -> str:
    return key.partition(" / ")[0]


def _last(key: str) -> str:
    return key.partition(" / ")[2].replace(" / ", ", ") or key
