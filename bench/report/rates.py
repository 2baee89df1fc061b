"""What devices can do (`micro`), what that allows each engine (`ceilings`), and energy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench import rows
from bench.report.blocks import Notes, Section, number
from bench.report.documents import Collection
from bench.report.grid import Grid, cell, table

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SMALL = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def quantity(value: float | None, unit: str) -> str:
    """Return a rate with a prefix that leaves few digits.

    >>> quantity(1.234e13, "op/s"), quantity(7.6e-6, "s"), quantity(2.5e9, "byte/s")
    ('12.3 Top/s', '7.6 µs', '2.5 Gbyte/s')
    """
    if value is None:
        return ""
    scales = _SMALL if unit == "s" else _PREFIXES
    size, prefix = next(((s, p) for s, p in scales if abs(value) >= s), scales[-1])
    return f"{number(value / size)} {prefix}{unit}"


def micro(files: Collection) -> Section | None:
    """Return the rates of each device; None without them."""
    grid: Grid[str, str] = Grid()
    words: dict[str, str] = {}
    for part in files.parts("micro"):
        for result in part.results:
            grid.put(result["name"], files.name(part), {"wall": None, **result}, part)
            words[result["name"]] = result["what"]
    if not grid:
        return None
    devices = grid.columns(files.devices)
    notes = Notes()
    lines = []
    for name in grid.rows():
        line = [name]
        for device in devices:
            found = grid.get(name, device)
            text = cell(found, notes, lambda each: each["value"], _kept)
            if found and found.get("value") is not None and rows.state(found) == "timed":
                text = quantity(found["value"], found["unit"])
                if found.get("spread") is not None:
                    text += f" ± {found['spread'] * 100:.0f} %"
            line.append(text)
        lines.append([*line, words[name]])
    extra = ["±: interquartile range of the repeats over their median"]
    rates = table(grid, "Rates", ["what", *devices, "meaning"], lines, notes, extra=extra)
    text = (
        "Short programs that do one thing only, checked before they are timed. They bound what an "
        "engine can reach on the device."
    )
    return Section("micro", "What the devices can do", [text, rates])


def _kept(value: float | None, _: str) -> str:
    return number(value)


def energy(files: Collection) -> Section | None:
    """Return what a cell costs, where the vendor's tool told; None if nowhere."""
    grid: Grid[str, str] = Grid()
    for part in files.parts():
        for key, found in rows.measurements(part):
            told = found.get("energy")
            if told and told.get("picojoules_per_cell") and rows.state(found) == "timed":
                grid.put(key, files.name(part), found, part)
    if not grid:
        return None
    devices = grid.columns(files.devices)
    notes = Notes()
    lines = [
        [key, *(text for each in devices for text in _energy(grid.get(key, each), notes))]
        for key in grid.rows()
    ]
    head = [
        "measurement",
        *(f"{each}: {what}" for each in devices for what in ("pJ per cell", "W")),
    ]
    extra = ["W: while it ran, the idle device included"]
    text = "Energy by the tool of the device's vendor, over the cells of the run."
    shown = table(grid, "Picojoules per cell", head, lines, notes, extra=extra)
    return Section("energy", "Energy", [text, shown])


def _energy(found: Mapping[str, Any] | None, notes: Notes) -> tuple[str, str]:
    if found is None:
        return "", ""
    told = found["energy"]
    idle = "" if told.get("idle_watts") is None else f" (idle {number(told['idle_watts'])})"
    mark = notes.mark(f"by {told['tool']}") if told.get("tool") else ""
    return number(told["picojoules_per_cell"]) + mark, number(told.get("watts")) + idle
