"""Lin, Zhong and Lin 2015: seconds, CUPS and speed-ups by length."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bench import lin2015
from bench.report import figures, single
from bench.report.blocks import Block, Section, Table, number
from bench.report.documents import Collection
from bench.report.figures import Band, Colours, Curve
from bench.report.grid import Grid, gcups, seconds
from bench.report.single import CORES, Row

SOURCE = "the paper's sections 2.3 and 3, figure 8"
_PLAIN = CORES["plain"]


def section(files: Collection, colours: Colours) -> Section | None:
    """Return tables and curves of times, rates and speed-ups; None without results."""
    grid = single.collected(files, "lin2015")
    if not grid:
        return None
    devices = grid.columns(files.devices)
    rows = grid.rows(single.order(lin2015.METHODS))
    ours = [row for row in rows if row[2] not in CORES.values()]
    than = {"one core": _PLAIN, "core with SIMD": CORES["simd"], "single-stage": "single-stage"}
    shown: list[Block] = [
        "Score and end of one pair of DNA sequences of 200 to 10^6 letters, 5/-4, gaps 11 and 1; "
        "the paper does not give its scores, nor the numbers of its Table 1. Its method is blocks "
        "here; fused is our form of it.",
        *_figures(grid, rows, devices, colours),
        _paper(),
        single.speed_ups(
            grid, ours, devices, "Times as fast as one core and as the single-stage scan", than
        ),
        single.rates(grid, rows, devices, "Seconds and GCUPS of one pair, by length and method"),
    ]
    return Section("lin2015", "Lin, Zhong and Lin 2015: the row scan, one pair", shown)


def _paper() -> Table:
    head = ["device of 2015", *(f"{name}, at most" for name in next(iter(lin2015.PAPER.values())))]
    rows = [[device, *map(number, most.values())] for device, most in lin2015.PAPER.items()]
    notes = [
        f"Times as fast as one core of an i3-2310, {SOURCE}; SWAT: Khajeh-Saeed's scan, to which "
        "single-stage is the nearest here",
        "The paper's own numbers, constants of bench/lin2015.py",
    ]
    return Table("The paper: times as fast as one core", head, rows, notes)


def _figures(
    grid: Grid[Row, str], rows: list[Row], devices: list[str], colours: Colours
) -> list[Any]:
    methods = list(dict.fromkeys(row[2] for row in rows))
    ours = [method for method in methods if method not in CORES.values()]

    def value(of: Callable[[Mapping[str, Any]], float | None]) -> list[Curve]:
        def found(row: Row, device: str) -> float | None:
            each = grid.get(row, device)
            return of(each) if each else None

        return single.curves(rows, devices, methods, found)

    def ratio(row: Row, device: str) -> float | None:
        return single.ratio(grid, row, device, _PLAIN)[0]

    bands = [
        Band(f"Lin on a {device}, at most {most['Lin']}", most["Lin"], most["Lin"])
        for device, most in lin2015.PAPER.items()
    ]
    common: dict[str, Any] = {"x": "letters of each sequence", "files": grid.files()}
    drawn = [
        figures.curves(
            "lin2015-seconds",
            "Lin 2015: seconds by length",
            "Wall time of score and end of one pair.",
            value(seconds),
            colours,
            y="seconds",
            **common,
        ),
        figures.curves(
            "lin2015-gcups",
            "Lin 2015: GCUPS by length",
            "Cells of the table over wall time.",
            value(gcups),
            colours,
            y="GCUPS",
            **common,
        ),
        figures.curves(
            "lin2015-speedup",
            "Lin 2015, figure 8 redone: times as fast as one core, plain",
            f"Black: the most that the paper reports ({SOURCE}), against an i3-2310.",
            single.curves(rows, devices, ours, ratio),
            colours,
            y="times as fast",
            bands=bands,
            **common,
        ),
    ]
    return [each for each in drawn if each]
