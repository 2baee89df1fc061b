"""The roofline: what each engine could reach at most, and how near it comes."""

from __future__ import annotations

from typing import Any

from bench.report import figures
from bench.report.blocks import Block, Notes, Section, Table, number
from bench.report.documents import Collection
from bench.report.engines import Work, name_of, work_text
from bench.report.figures import Colours, Curve
from bench.report.grid import Grid, table

_PERCENT = "{:.0f} %"


def section(files: Collection, colours: Colours) -> Section | None:
    """Return table and roofline; None without both `micro` and `engines` of one device."""
    rates: dict[str, dict[str, float]] = {}
    sources: dict[str, list[str]] = {}
    found: Grid[tuple[Work, str], str] = Grid()
    if not files.parts("micro"):
        return None
    from bench import roofline

    for part in files.parts("micro"):
        device = files.name(part)
        rates.setdefault(device, {}).update(roofline.rates_of(part.results))
        sources.setdefault(device, []).append(part.document.file)
    for part in files.parts("engines"):
        device = files.name(part)
        for result in part.results:
            limit = roofline.bound(result, rates.get(device, {}), part.document.device)
            if limit is not None and limit.cells_per_second is not None:
                work = (result["workload"], result["task"], result["scoring"])
                entry = {"check": result["check"], "limit": limit}
                found.put((work, name_of(result)), device, entry, part)
    if not found:
        return None
    devices = found.columns(files.devices)
    shown: list[Block] = [
        "What an engine could reach if only one thing limited it, from the rates above and from "
        "what a cell needs at least: operations, bytes, dispatches or draws. The lowest of these "
        "ceilings is what to look at first. A value that several invocations read counts once and "
        "a fast cache counts as memory, so that the ceilings lie above what is possible.",
    ]
    for device in devices:
        drawn = _roofline(found, device, roofline.roofs(rates[device]), colours, sources[device])
        shown += [drawn] if drawn else []
    micro = sorted({name for each in sources.values() for name in each})
    shown.append(_table(found, devices, micro))
    return Section("ceilings", "Ceilings of the engines", shown)


def _table(grid: Grid[tuple[Work, str], str], devices: list[str], micro: list[str]) -> Table:
    """Return engine, measured, ceiling, what limits and the share, a group a device."""
    lines: list[list[str]] = []
    for device in devices:
        lines.append([device])
        for row in grid.rows():
            entry = grid.get(row, device)
            if entry is None:
                continue
            limit = entry["limit"]
            lines.append(
                [
                    f"{row[1]}: {row[0][0]}",
                    number(limit.cells_per_second / 1e9),
                    number(limit.lowest.cells_per_second / 1e9),
                    _PERCENT.format(limit.share * 100),
                    f"{limit.lowest.resource}: {limit.lowest.reason}",
                ]
            )
    head = ["engine: workload", "measured, GCUPS", "ceiling, GCUPS", "share", "what limits"]
    extra = [
        "measured: by the device's clock where it has one, else by wall time",
        *(f"{row[0][0]}: {work_text(row[0])}" for row in _firsts(grid)),
        f"rates from {', '.join(micro)}",
    ]
    caption = "How near the engines come to their lowest ceiling"
    return table(grid, caption, head, lines, Notes(), extra=extra)


def _firsts(grid: Grid[tuple[Work, str], str]) -> list[tuple[Work, str]]:
    """Return one row of each kind of work."""
    return list({row[0]: row for row in grid.rows()}.values())


def _roofline(
    grid: Grid[tuple[Work, str], str],
    device: str,
    roofs: list[Any],
    colours: Colours,
    micro: list[str],
) -> Any:
    entries = [(row, entry) for row in grid.rows() if (entry := grid.get(row, device))]
    points = [
        (device, f"{row[1]}: {row[0][0]}", entry["limit"].intensity, rate)
        for row, entry in entries
        if (rate := entry["limit"].operations_per_second)
    ]
    if not points:
        return None
    across = [point[2] for point in points]
    left, right = min(across) / 4, max(across) * 4
    # A memory's roof ends where it meets the highest recurrence.
    top = max((roof.height for roof in roofs if not roof.slope), default=0.0)
    lines = []
    for roof in roofs:
        end = right if not roof.slope or not top else min(right, max(left * 2, top / roof.height))
        ends = [(x, roof.at(x)) for x in (left, end)]
        lines.append(Curve(device, roof.name, ends))
    number_of = sorted(grid.columns()).index(device) + 1
    return figures.roofline(
        f"roofline-{number_of}",
        f"Roofline: {device}",
        "Lines: what arithmetic and each memory allow, by operations of the recurrence a byte; "
        "signs: what engines reached.",
        points,
        lines,
        colours,
        x="operations per byte",
        y="operations per second",
        files=[*grid.files(), *micro],
    )
