"""The 2014 paper: figures 8 and 9, and whether the scan beats anti-diagonals."""

from __future__ import annotations

from typing import Any

from bench import scan2014
from bench.report import figures, single
from bench.report.blocks import Block, Notes, Section, Table
from bench.report.documents import Collection
from bench.report.figures import Band, Colours
from bench.report.grid import Grid, grouped, table
from bench.report.single import CORES, Row

_PLAIN = CORES["plain"]
_SCANS = ("single-stage", "blocks", "fused")


def section(files: Collection, colours: Colours) -> Section | None:
    """Return tables and both figures; None without results."""
    grid = single.collected(files, "scan2014")
    if not grid:
        return None
    devices = grid.columns(files.devices)
    rows = grid.rows(single.order(scan2014.METHODS))
    shown: list[Block] = [
        "Score and end of one pair of DNA sequences of 512 to 8000 letters, 5/-3, with constant "
        "gaps (8 at every position) and affine ones (8 and 1). The paper's figures are lost; its "
        "text gives the ranges of its scan on a GTX 480 against a core of an i3-550.",
        *_figures(grid, rows, devices, colours),
        _answer(grid, rows, devices),
        _speed_ups(grid, rows, devices),
        single.rates(grid, rows, devices, "Seconds and GCUPS of one pair, by length and method"),
    ]
    title = "Parallel scan 2014: anti-diagonals, blocks and scans"
    return Section("scan2014", title, shown)


def _source(gaps: str) -> str:
    return f"figure {scan2014.FIGURES[gaps]} of the paper"


def _speed_ups(grid: Grid[Row, str], rows: list[Row], devices: list[str]) -> Table:
    def line(row: Row) -> list[str]:
        low, high = scan2014.PAPER[row[0]]
        paper = f"{low:g} to {high:g}" if row[2] in _SCANS else ""
        return [row[2], *(single.speed_up(grid, row, device, _PLAIN) for device in devices), paper]

    chosen = [row for row in rows if row[2] not in CORES.values()]
    head = ["method", *devices, "paper, its scan"]
    extra = [f"paper, {gaps} gaps: {_source(gaps)}, any length" for gaps in scan2014.PAPER]
    extra += [
        "one core: parasail, a cell at a time, on the machine of the device; ~: scaled from a part",
        "-: one of the two was not run or is wrong, see the table of seconds",
    ]
    caption = "Figures 8 and 9 redone: times as fast as one core"
    lines = grouped(chosen, single.heading, line)
    return table(grid, caption, head, lines, Notes(), extra=extra)


def _answer(grid: Grid[Row, str], rows: list[Row], devices: list[str]) -> Table:
    """Return how many times as fast the scans are as plain anti-diagonals."""
    wave = scan2014.METHODS[0]
    chosen = [row for row in rows if row[2] in _SCANS]
    lines = []
    for device in devices:
        ratios = {
            row: found for row in chosen if (found := single.ratio(grid, row, device, wave)[0])
        }
        lines.append([device])
        for gaps, length in dict.fromkeys(row[:2] for row in chosen):
            own = [(gaps, length, name) for name in _SCANS]
            if any(grid.get(row, device) for row in own):
                texts = (single.speed_up(grid, row, device, wave) for row in own)
                lines.append([f"{length:,}, {gaps} gaps", *texts])
        won = [[found > 1 for row, found in ratios.items() if row[2] == name] for name in _SCANS]
        lines.append(
            ["faster in", *(f"{sum(each)} of {len(each)}" if each else "-" for each in won)]
        )
    caption = "Does the scan beat plain anti-diagonals? Times as fast as wavefront"
    extra = ["above 1 the scan is faster, as the paper claims", "-: not run, or wrong"]
    return table(grid, caption, ["length", *_SCANS], lines, Notes(), extra=extra)


def _figures(
    grid: Grid[Row, str], rows: list[Row], devices: list[str], colours: Colours
) -> list[Any]:
    drawn = []
    for gaps, (low, high) in scan2014.PAPER.items():
        own = [row for row in rows if row[0] == gaps]
        lines = single.curves(
            own,
            devices,
            scan2014.METHODS,
            lambda row, device: single.ratio(grid, row, device, _PLAIN)[0],
        )
        drawn.append(
            figures.curves(
                f"scan2014-{gaps}",
                f"2014, figure {scan2014.FIGURES[gaps]} redone: times as fast as one core, "
                f"{gaps} gaps",
                f"Grey: the range of the paper's scan ({_source(gaps)}).",
                lines,
                colours,
                x="letters of each sequence",
                y="times as fast as one core",
                bands=[Band(f"the paper's scan, {low:g} to {high:g}", low, high)],
                files=grid.files(),
            )
        )
    return [each for each in drawn if each]
