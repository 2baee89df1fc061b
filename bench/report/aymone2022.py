"""Aymone 2022: Table 1, and the same pairs without traceback and with other scores."""

from __future__ import annotations

from typing import Any

from bench import aymone2022
from bench.report import figures
from bench.report.blocks import Block, Notes, Section, Table, number
from bench.report.documents import Collection
from bench.report.figures import Bar, Colours
from bench.report.grid import Grid, cell, device_seconds, gcups, grouped, seconds, table

_FIRST = next(iter(aymone2022.WORKLOADS.values())).name
_VERSIONS = {"any": "pure", "conventional": "conventional"}
_CORE = {"trace": "one core, parasail with traceback", "simd": "one core, parasail, scores"}
_TASKS = {"paths": "alignments", "ends": "score and end", "scores": "scores"}
TABLE = "Aymone 2022, Table 1"

Row = tuple[str, str, str | None]
"""Workload, task, ties."""


def section(files: Collection, colours: Colours) -> Section | None:
    """Return the table with ours below it, the other tasks, and bars; None without results."""
    grid: Grid[Row, str] = Grid()
    for part in files.parts("aymone2022"):
        for result in part.results:
            row = (result["workload"], result["task"], result["ties"])
            found = {"lot": f"{part.settings['length']} x {part.settings['length']}"} | result
            grid.put(row, files.name(part), found, part)
    if not grid:
        return None
    devices = grid.columns(files.devices)
    shown: list[Block] = [
        "1000 pairs of 512 x 512 nucleotides, match 1, mismatch -1, linear gaps of 2, with "
        "traceback on the device. Its pure version follows any path of the best score, its "
        "conventional one the path that the usual rules choose. The report's clock has the kernel "
        "alone; our device time has the copies too, our wall time all from the call to the paths.",
        _first(grid, devices),
    ]
    if drawn := _figure(grid, devices, colours):
        shown.append(drawn)
    shown.append(_others(grid, devices))
    return Section("aymone2022", "Aymone 2022: many pairs, with traceback", shown)


def _first(grid: Grid[Row, str], devices: list[str]) -> Table:
    notes = Notes()
    lines = [[TABLE]]
    for paper in aymone2022.PAPER:
        version = "" if paper.version == "-" else paper.version
        line = [paper.device, version, "1,000", number(paper.seconds * 1e3), ""]
        line.append(number(paper.gcups))
        lines.append([*line, "", ""])
    for device in devices:
        lines.append([device])
        for row in grid.rows():
            found = grid.get(row, device)
            if row[0] != _FIRST or row[1] not in ("paths", *_CORE) or found is None:
                continue
            name = _CORE.get(row[1], device)
            line = [name, _VERSIONS.get(row[2] or "", ""), f"{found['pairs']:,}"]
            line.append(cell(found, notes, lambda each: _ms(device_seconds(each))) or "-")
            line.append(cell(found, notes, lambda each: _ms(seconds(each))))
            line.append(cell(found, notes, _by_clock) or "-")
            line.append(cell(found, notes, gcups))
            spread = found["wall"] and found["wall"]["spread"]
            line.append("" if spread is None else f"{spread * 100:.1f} %")
            lines.append(line)
    head = ["where", "version", "pairs", "device ms", "wall ms", "GCUPS, device", "GCUPS, wall"]
    sizes = {each["lot"] for row in grid.rows() for d in devices if (each := grid.get(row, d))}
    extra = [
        f"pairs of {', '.join(sorted(sizes))}; GCUPS of the report: 1000 pairs of 512 x 512 "
        "over its seconds",
        "spread: interquartile range of the wall times over their median; empty after one run",
    ]
    return table(
        grid, "Alignments of the report's pairs", [*head, "spread"], lines, notes, extra=extra
    )


def _ms(value: float | None) -> float | None:
    return None if value is None else value * 1e3


def _by_clock(found: Any) -> float | None:
    clock = device_seconds(found)
    return found["cells"] / clock / 1e9 if clock else None


def _others(grid: Grid[Row, str], devices: list[str]) -> Table:
    notes = Notes()

    def line(row: Row) -> list[str]:
        name = _CORE.get(row[1]) or f"{_TASKS.get(row[1], row[1])}, ties {row[2]}"
        return [name, *(cell(grid.get(row, each), notes, gcups) for each in devices)]

    lines = grouped(grid.rows(), lambda row: row[0], line)
    caption = "GCUPS by wall time: other tasks and scores, equally many pairs"
    return table(grid, caption, ["task", *devices], lines, notes)


def _figure(grid: Grid[Row, str], devices: list[str], colours: Colours) -> Any:
    found = [
        Bar(_short(f"{row.device}, {row.version}"), None, row.gcups) for row in aymone2022.PAPER
    ]
    for row in grid.rows():
        if row[0] == _FIRST and (row[1] == "paths" or row[1] in _CORE):
            for device in devices:
                for _, rate in grid.values([row], device, gcups):
                    name = _CORE.get(row[1]) or f"ours, {_VERSIONS.get(row[2] or '', '')}"
                    label = name.replace("parasail, ", "")
                    found.append(Bar(label, device, rate, row[1] in _CORE))
    return figures.bars(
        "aymone2022-table1",
        "Aymone 2022, Table 1 redone: GCUPS of many pairs, with traceback",
        f"Ours by wall time. Black: {TABLE}. Pale: parasail on the device's machine.",
        found,
        colours,
        x="GCUPS",
        files=grid.files(),
    )


def _short(text: str) -> str:
    return text.replace("-SXM4-40GB", "").replace("'s machine, -", "'s machine")
