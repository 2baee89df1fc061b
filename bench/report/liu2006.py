"""Liu et al. 2006: Table 1 and the rates over query length."""

from __future__ import annotations

from typing import Any

from bench import liu2006
from bench.report import figures
from bench.report.blocks import Block, Notes, Picture, Section, number
from bench.report.documents import Collection, Part
from bench.report.figures import Colours, Curve
from bench.report.grid import Grid, cell, gcups, seconds, table

_PAPER = {row.length: row for row in liu2006.PAPER}
_NAMES = {"parasail": "parasail, one core", "ssearch36": "ssearch36, one core"}
TABLE = "the paper's Table 1"
RATIO = "the paper's section 6"

Column = tuple[str, str]
"""Device, program."""


def section(files: Collection, colours: Colours) -> Section | None:
    """Return the paper's table with our results, and the curves; None without results."""
    grid: Grid[int, Column] = Grid()
    sizes: dict[str, None] = {}
    for part in files.parts("liu2006"):
        device = files.name(part)
        for result in part.results:
            length = result["length"]
            # Two of the paper's queries have been revised since, by a few residues.
            row = next((n for n in _PAPER if abs(n - length) <= 0.01 * n), length)
            grid.put(row, (device, part.settings["engine"]), result["engine"], part)
            for name, peer in result["peers"].items():
                grid.put(row, (device, _NAMES.get(name, name)), peer, part)
    if not grid:
        return None
    for part in grid.parts():
        sizes[_size(files, part)] = None
    columns = sorted(grid.columns(), key=lambda column: files.devices.index(column[0]))
    shown: list[Block] = [
        "Eight queries of 63 to 4095 residues against Swiss-Prot. The paper drew quads on a "
        "GeForce 7800 GTX; the engine fragment does the same with more cells a texel. Its scores "
        "are not given; here BLOSUM62, 12 for the first position of a gap and 1 for each further "
        "one.",
    ]
    if drawn := _figure(grid, columns, colours):
        shown.append(drawn)
    shown += [_rates(grid, columns, list(sizes)), _seconds(grid, columns, list(sizes))]
    return Section("liu2006", "Liu et al. 2006: queries against a protein database", shown)


def _size(files: Collection, part: Part) -> str:
    facts = part.settings["database"]
    return (
        f"{files.name(part)}: {facts['name']}; {facts['sequences']:,} sequences, "
        f"{facts['residues']:,} residues"
    )


def _rates(
    grid: Grid[int, tuple[str, str]], columns: list[tuple[str, str]], sizes: list[str]
) -> Any:
    notes = Notes()
    at_most = liu2006.GPU_RATIO["osearch"]
    head = ["query length", "OSEARCH 2006", "SSEARCH 2006", "GPU 2006, at most"]
    head += [f"{device}: {name}" for device, name in columns]
    lines = []
    for row in grid.rows(int):
        paper = _PAPER.get(row)
        rates = paper.mcups if paper else {}
        line = [f"{row:,}", number(rates.get("osearch")), number(rates.get("ssearch"))]
        line.append(number(at_most * rates["osearch"], "<") if rates else "")
        found = (cell(grid.get(row, each), notes, _mcups, _plain) for each in columns)
        lines.append([*line, *found])
    extra = [
        f"2006: OSEARCH34 and SSEARCH34 on a Pentium 4 of 3.0 GHz, seconds of {TABLE} and "
        f"{liu2006.SWISSPROT:,} residues of Swiss-Prot 46.3; GPU: at most {at_most:g} times "
        f"OSEARCH ({RATIO}), its own seconds are in a figure only",
        "MCUPS are by wall time, from call to scores; one core: of the machine of the device",
        *sizes,
    ]
    return table(grid, "MCUPS by query length", head, lines, notes, extra=extra)


def _mcups(found: Any) -> float | None:
    rate = gcups(found)
    return None if rate is None else rate * 1e3


def _plain(value: float | None, _: str) -> str:
    """Return a rate: that of the part that was measured holds for the whole."""
    return number(value)


def _seconds(
    grid: Grid[int, tuple[str, str]], columns: list[tuple[str, str]], sizes: list[str]
) -> Any:
    notes = Notes()
    head = ["query length", "OSEARCH 2006", "SSEARCH 2006"]
    head += [f"{device}: {name}" for device, name in columns]
    lines = []
    for row in grid.rows(int):
        paper = _PAPER.get(row)
        times = [paper.osearch, paper.ssearch] if paper else [None, None]
        line = [f"{row:,}", *map(number, times)]
        lines.append([*line, *(cell(grid.get(row, each), notes, seconds) for each in columns)])
    extra = [
        f"2006: {TABLE}, against Swiss-Prot 46.3; ours against the databases below, "
        "so that only MCUPS compare",
        "~: measured on a part of the database and scaled to all of it",
        *sizes,
    ]
    return table(grid, "Seconds by query length", head, lines, notes, extra=extra)


def _figure(grid: Grid[int, Column], columns: list[Column], colours: Colours) -> Picture | None:
    rows = grid.rows(int)
    at_most = liu2006.GPU_RATIO["osearch"]
    lines = [
        Curve(None, "OSEARCH 2006", [(n, row.mcups["osearch"]) for n, row in _PAPER.items()]),
        Curve(None, "SSEARCH 2006", [(n, row.mcups["ssearch"]) for n, row in _PAPER.items()]),
        Curve(
            None,
            "GPU 2006, at most",
            [(n, at_most * row.mcups["osearch"]) for n, row in _PAPER.items()],
        ),
    ]
    lines += [
        Curve(device, name, grid.values(rows, (device, name), _mcups)) for device, name in columns
    ]
    return figures.curves(
        "liu2006-mcups",
        "Liu et al. 2006, figure 11 redone: MCUPS over query length",
        f"Black: {TABLE} and {RATIO}.",
        lines,
        colours,
        x="query length, residues",
        y="MCUPS",
        files=grid.files(),
    )
