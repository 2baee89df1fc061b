"""Sudo et al. 2012: figure 12 by length and version, figure 13 with several devices; aims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.report import figures
from bench.report.blocks import Block, Notes, Section, Table, number, times
from bench.report.documents import Collection
from bench.report.figures import Band, Colours, Curve
from bench.report.grid import Grid, cell, gcups, grouped, table, times_and_rates
from bench.sudo2012 import reached
from bench.sudo2012_runs import PAPER, TASKS, VERSIONS

SOURCE = "section 7.2 of the paper"
_NAMES = {**VERSIONS, "subtable": "ours", "cpu": "CPU, one core"}
_ORDER = ("gpui", "plane", "cpu", "subtable")
_RATIOS = {
    "GPUI/CPU": ("gpui", "cpu"),
    "GPUN/CPU": ("plane", "cpu"),
    "GPUI/GPUN": ("gpui", "plane"),
    "ours/CPU": ("subtable", "cpu"),
    "ours/GPUI": ("subtable", "gpui"),
}

Row = tuple[str, int, str]
"""Task, length, version."""


def section(files: Collection, colours: Colours) -> Section | None:
    """Return both figures as tables and pictures, and what goes beyond; None without results."""
    grid: Grid[Row, str] = Grid()
    aims: Grid[tuple[str, str], str] = Grid()
    several: Grid[tuple[str, str, str], str] = Grid()
    for part in files.parts("sudo2012"):
        device = files.name(part)
        for result in part.results:
            if result["part"] == "lengths":
                for name, each in result["engines"].items():
                    grid.put((result["task"], result["lengths"][0], name), device, each, part)
            elif result["part"] == "aims":
                size = " x ".join(map(str, result["lengths"]))
                size = (
                    size if result["triples"] == 1 else f"{result['triples']:,} triples of {size}"
                )
                row = (result["scoring"], f"{size}, {TASKS[result['task']]}")
                aims.put(row, device, result, part)
            elif result["part"] == "devices":
                count = len(result["devices"])
                work = f"{result['work']} work: {result['task']}"
                length = str(result["lengths"][0])
                if result["work"] == "shared":
                    length = f"{result.get('copies', 1)} x {result['triples']:,} triples"
                several.put((work, length, result["engine"]), f"{count} x {device}", result, part)
    if not grid and not aims and not several:
        return None
    devices = grid.columns(files.devices)
    shown: list[Block] = [
        "Three sequences of 8 to 1024 letters: sub-tables of 4 x 4 x 4 (GPUI), none (GPUN), and "
        "one core (CPU), with the whole table copied to the host as the paper times it, and score "
        "and end alone. GCUPS are billions of l x m x n cells per second of wall time.",
    ]
    if grid:
        shown += [_paper(), *_figures(grid, devices, colours)]
        shown += [_ratios(grid, devices), _rates(grid, devices)]
    if several:
        shown.append(_several(several))
        if drawn := _speed_up(several, colours):
            shown.append(drawn)
    if aims:
        shown.append(_aims(aims, aims.columns(files.devices)))
    return Section("sudo2012", "Sudo et al. 2012: three sequences", shown)


def _paper() -> Table:
    facts = PAPER
    rates, derived = facts["gpui_gcups"], facts["derived"]
    rows = [
        ["GPUI, GCUPS", f"{number(rates['lowest'])} to {number(rates['highest'])}", SOURCE],
        *(
            [f"{name}, times as fast, at most", f"{ratio:.2f}", SOURCE]
            for name, ratio in facts["at_most"].items()
        ),
        ["two devices, times as fast", f"about {facts['two_devices']:g}", "figure 13, section 7.2"],
        [
            "CPU, GCUPS",
            f"about {number(derived['cpu_gcups'])}",
            "derived: highest GPUI over highest GPUI/CPU",
        ],
        [
            "GPUN, GCUPS",
            f"about {number(derived['gpun_gcups'])}",
            "derived: highest GPUI over highest GPUI/GPUN",
        ],
    ]
    notes = ["Constants of bench/sudo2012_runs.py; the paper's figures themselves are lost"]
    caption = f"The paper: {facts['gpu']}, {facts['cpu']}, lengths 8 to 512, table on the host"
    return Table(caption, ["what", "the paper", "source"], rows, notes)


def _sorted(grid: Grid[Row, str]) -> list[Row]:
    tasks: list[str] = list(TASKS)

    def key(row: Row) -> tuple[int, int, int]:
        return (tasks.index(row[0]), row[1], _ORDER.index(row[2]) if row[2] in _ORDER else 9)

    return grid.rows(key)


def _heading(row: Row) -> str:
    return f"{TASKS[row[0]]}, {row[1]:,} letters"  # type: ignore[index]


def _rates(grid: Grid[Row, str], devices: list[str]) -> Table:
    notes = Notes()

    def line(row: Row) -> list[str]:
        cells = times_and_rates(grid, row, devices, notes, _milliseconds)
        return [_NAMES.get(row[2], row[2]), *cells]

    head = ["version", *(f"{each}: {what}" for each in devices for what in ("ms", "GCUPS"))]
    lines = grouped(_sorted(grid), _heading, line)
    return table(grid, "Figure 12 redone: wall time by length and version", head, lines, notes)


def _milliseconds(found: Mapping[str, Any]) -> float | None:
    return found["wall"]["median"] * 1e3 if found["wall"] else None


def _ratio(grid: Grid[Row, str], task: str, length: int, name: str, device: str) -> float | None:
    one, other = (grid.get((task, length, each), device) for each in _RATIOS[name])
    if not one or not other or not one["gcups"] or not other["gcups"]:
        return None
    return float(one["gcups"] / other["gcups"])


def _ratios(grid: Grid[Row, str], devices: list[str]) -> Table:
    names = [name for name in _RATIOS if _any(grid, name, devices)]
    at_most = PAPER["at_most"]
    head = ["length", *(f"{device}: {name}" for device in devices for name in names)]
    lines = []
    for task in dict.fromkeys(row[0] for row in _sorted(grid)):
        lines.append([TASKS[task]])  # type: ignore[index]
        if task == "table":
            paper = (at_most.get(name) for name in names)
            texts = ["" if ratio is None else f"{ratio:.2f}" for ratio in paper]
            lines.append(["paper, at most", *(text for _ in devices for text in texts)])
        for length in sorted({row[1] for row in grid.rows() if row[0] == task}):
            found = [_ratio(grid, task, length, name, each) for each in devices for name in names]
            lines.append([f"{length:,}", *(times(each) or "-" for each in found)])
    extra = [f"paper: {SOURCE}, lengths 8 to 512", "-: one of the two was not run, or is wrong"]
    caption = "Times as fast, by length: sub-tables, none, and one core"
    return table(grid, caption, head, lines, Notes(), extra=extra)


def _any(grid: Grid[Row, str], name: str, devices: list[str]) -> bool:
    rows = {row[:2] for row in grid.rows()}
    return any(_ratio(grid, *row, name, device) for row in rows for device in devices)


def _figures(grid: Grid[Row, str], devices: list[str], colours: Colours) -> list[Any]:
    drawn = []
    rows = _sorted(grid)
    rates = PAPER["gpui_gcups"]
    for task in dict.fromkeys(row[0] for row in rows):
        lines = [
            Curve(
                device,
                _NAMES.get(name, name),
                [
                    (row[1], rate)
                    for row, rate in grid.values(
                        [row for row in rows if (row[0], row[2]) == (task, name)], device, gcups
                    )
                ],
            )
            for device in devices
            for name in dict.fromkeys(row[2] for row in rows)
        ]
        label = f"GPUI in 2012, {number(rates['lowest'])} to {number(rates['highest'])}"
        bands = [Band(label, rates["lowest"], rates["highest"])] if task == "table" else []
        drawn.append(
            figures.curves(
                f"sudo2012-{task}",
                f"Sudo 2012, figure 12 redone: GCUPS by length, {TASKS[task]}",  # type: ignore[index]
                f"Grey: the range of GPUI on a {PAPER['gpu']} ({SOURCE})."
                if bands
                else "By wall time; the paper has only times with the whole table.",
                lines,
                colours,
                x="letters of each of three sequences",
                y="GCUPS",
                bands=bands,
                files=grid.files(),
            )
        )
    return [each for each in drawn if each]


def _several(grid: Grid[tuple[str, str, str], str]) -> Table:
    notes = Notes()
    columns = grid.columns()

    def line(row: tuple[str, str, str]) -> list[str]:
        cells = []
        for column in columns:
            found = grid.get(row, column)
            timed = None if found is None else {**found, "wall": {"median": 1.0}}
            for key in ("one_gcups", "all_gcups", "speed_up"):
                cells.append(cell(timed, notes, lambda each, key=key: each.get(key)))  # type: ignore[misc]
        return [f"{row[1]}, {_NAMES.get(row[2], row[2])}", *cells]

    head = ["letters, version"]
    head += [
        f"{each}: {what}" for each in columns for what in ("one, GCUPS", "all, GCUPS", "times")
    ]
    most = PAPER["two_devices"]
    extra = [
        f"the paper, two devices, GPUN with its table: about {most:g} times at all lengths "
        "(figure 13, section 7.2)",
        "same work: each device does the same triple, as in the paper; shared: a batch is divided",
    ]
    works = list(dict.fromkeys(row[0] for row in grid.rows()))
    rows = grid.rows(lambda row: works.index(row[0]))
    lines = grouped(rows, lambda row: row[0], line)
    return table(grid, "Figure 13 redone: several devices", head, lines, notes, extra=extra)


def _speed_up(grid: Grid[tuple[str, str, str], str], colours: Colours) -> Any:
    lines = []
    for column in grid.columns():
        for work, engine in dict.fromkeys((row[0], row[2]) for row in grid.rows()):
            rows = [row for row in grid.rows() if (row[0], row[2]) == (work, engine)]
            if not work.startswith("same"):
                continue
            points = grid.values(rows, column, lambda each: each.get("speed_up"))
            name = f"{_NAMES.get(engine, engine)}, {work.partition(': ')[2]}"
            device = column.partition(" x ")[2]
            lines.append(Curve(device, name, [(int(row[1]), ratio) for row, ratio in points]))
    most = PAPER["two_devices"]
    return figures.curves(
        "sudo2012-devices",
        "Sudo 2012, figure 13 redone: times as fast with several devices, the same triple on each",
        f"Dashed: about {most:g} with two devices, at all lengths (figure 13, section 7.2).",
        lines,
        colours,
        x="letters of each of three sequences",
        y="times as fast as one device",
        bands=[Band(f"the paper, two devices, {most:g}", most, most)],
        files=grid.files(),
    )


def _aims(grid: Grid[tuple[str, str], str], devices: list[str]) -> Table:
    notes = Notes()

    def line(row: tuple[str, str]) -> list[str]:
        cells = []
        for device in devices:
            found = grid.get(row, device)
            rate = cell(found, notes, gcups)
            cells.append(rate + _reached(found))
        return [row[1], *cells]

    lines = grouped(grid.rows(), lambda row: row[0], line)
    extra = ["✓ ✗: what this project aimed at is reached, or not; no sign: nothing is aimed at"]
    caption = "Beyond the paper: larger tables, four scorings, all triples; GCUPS by wall time"
    return table(grid, caption, ["work", *devices], lines, notes, extra=extra)


def _reached(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return ""
    return {True: " ✓", False: " ✗", None: ""}[reached(found)]
