"""Engines by device: rates of each workload, other programs, memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench import rows
from bench.report import figures
from bench.report.blocks import Block, Notes, Section, Table, number
from bench.report.documents import Collection, Part
from bench.report.figures import Bar, Colours
from bench.report.grid import Grid, cell, gcups, grouped, table

Work = tuple[str, str, str]
"""Workload, task, scoring."""

_MEANING = {
    "search": "one query against many targets",
    "pairs": "many pairs of equal lengths",
    "long": "one long pair",
    "three": "three sequences",
}


def section(files: Collection, colours: Colours) -> Section | None:
    """Return a table of engines and devices, and bars; None if nothing has a rate."""
    grid: Grid[tuple[Work, str], str] = Grid()
    sizes: dict[Work, dict[str, None]] = {}
    for part in files.parts("engines"):
        device = files.name(part)
        for result in part.results:
            work = (result["workload"], result["task"], result["scoring"])
            grid.put((work, name_of(result)), device, result, part)
            size = f"{device}: {result['count']:,} x {rows.lengths(result['lengths'])}"
            sizes.setdefault(work, {})[size] = None
    if not grid:
        return _from_others(files, colours)
    devices = grid.columns(files.devices)
    shown: list[Block] = [
        "The same work for each engine, checked before it is timed; sizes are those of the run. "
        "GCUPS are billions of cells per second by wall time, from call to results. Other "
        "programs run on the processor of the device's machine, on one core and on all.",
        _rates(grid, sizes, devices),
        *_figures(grid, devices, colours),
    ]
    if memory := _memory(grid, devices):
        shown.append(memory)
    return Section("engines", "Engines by device", shown)


def name_of(result: Mapping[str, Any]) -> str:
    """Return an engine, or another program and its cores."""
    cores = result.get("cores")
    if not cores:
        return str(result["engine"])
    return f"{result['engine']}, " + ("one core" if cores == 1 else "all cores")


def work_text(work: Work) -> str:
    """Return what was done, in words."""
    name, task, scoring = work
    return f"{_MEANING.get(name, name)}: {task}, {scoring}"


def _rows(grid: Grid[tuple[Work, str], str]) -> list[tuple[Work, str]]:
    """Return rows by workload, engines before other programs."""
    works = list(dict.fromkeys(work for work, _ in grid.rows()))
    peers = {
        row
        for row in grid.rows()
        for device in grid.columns()
        if (found := grid.get(row, device)) and found.get("peer")
    }
    return grid.rows(lambda row: (works.index(row[0]), row in peers))


def _rates(
    grid: Grid[tuple[Work, str], str], sizes: Mapping[Work, Mapping[str, None]], devices: list[str]
) -> Table:
    notes = Notes()

    def line(row: tuple[Work, str]) -> list[str]:
        return [row[1], *(cell(grid.get(row, each), notes, gcups) for each in devices)]

    lines = grouped(_rows(grid), lambda row: work_text(row[0]), line)
    extra = ["~: by its rate on a part of the work"]
    extra += [f"{work_text(work)}: {'; '.join(each)}" for work, each in sizes.items()]
    return table(grid, "GCUPS by engine", ["engine", *devices], lines, notes, extra=extra)


def _figures(grid: Grid[tuple[Work, str], str], devices: list[str], colours: Colours) -> list[Any]:
    drawn = []
    rows = _rows(grid)
    for k, work in enumerate(dict.fromkeys(work for work, _ in rows)):
        own = [row for row in rows if row[0] == work]
        bars = [
            Bar(row[1], device, rate, _beside(grid.get(row, device)))
            for row in own
            for device in devices
            for _, rate in grid.values([row], device, gcups)
        ]
        drawn.append(
            figures.bars(
                f"engines-{k + 1}",
                f"GCUPS: {work_text(work)}",
                "By wall time; sizes are below the table. Pale: other programs, on the "
                "processor of the device's machine.",
                bars,
                colours,
                x="GCUPS",
                files=grid.files(own),
            )
        )
    return [each for each in drawn if each]


def _beside(found: Mapping[str, Any] | None) -> bool:
    return found is not None and bool(found.get("peer"))


def _memory(grid: Grid[tuple[Work, str], str], devices: list[str]) -> Table | None:
    notes = Notes()
    rows = [
        row
        for row in _rows(grid)
        if any((found := grid.get(row, each)) and found.get("memory") for each in devices)
    ]
    if not rows:
        return None

    def line(row: tuple[Work, str]) -> list[str]:
        return [row[1], *(cell(grid.get(row, each), notes, _mebibytes) for each in devices)]

    lines = grouped(rows, lambda row: work_text(row[0]), line)
    caption = "Memory of the device that the engine says it used, MiB"
    return table(grid, caption, ["engine", *devices], lines, notes, folded=True)


def _mebibytes(found: Mapping[str, Any]) -> float | None:
    return found["memory"] / 2**20 if found.get("memory") else None


# without the benchmark `engines`


def _from_others(files: Collection, colours: Colours) -> Section | None:
    """Return the highest rate of each engine in the other benchmarks."""
    grid: Grid[tuple[str, str], str] = Grid()
    for part in files.parts():
        device = files.name(part)
        for work, engine, peer, measured in _engines_of(part):
            found = {**measured, "peer": peer}
            old = grid.get((work, engine), device)
            if gcups(found) and (old is None or (gcups(old) or 0) < (gcups(found) or 0)):
                grid.put((work, engine), device, found, part)
    if not grid:
        return None
    devices = grid.columns(files.devices)
    notes = Notes()

    def line(row: tuple[str, str]) -> list[str]:
        return [row[1], *(cell(grid.get(row, each), notes, gcups, _text) for each in devices)]

    order = list(dict.fromkeys(row[0] for row in grid.rows()))
    rows = grid.rows(lambda row: order.index(row[0]))
    head = ["engine", *devices]
    shown: list[Block] = [
        "Highest rate of each engine in each benchmark, whatever the size: the same work for all "
        "is what the benchmark engines measures, of which there are no results in these files.",
        table(
            grid, "Highest GCUPS, by wall time", head, grouped(rows, lambda r: r[0], line), notes
        ),
    ]
    for work in order:
        own = [row for row in rows if row[0] == work]
        name = work.partition(":")[0]
        drawn = figures.bars(
            f"engines-{name}",
            f"Highest GCUPS: {work}",
            "By wall time, whatever the size. Pale: other programs, on the processor.",
            [
                Bar(row[1], device, rate, _beside(grid.get(row, device)))
                for row in own
                for device in devices
                for _, rate in grid.values([row], device, gcups)
            ],
            colours,
            x="GCUPS",
            files=grid.files(own),
        )
        if drawn:
            shown.append(drawn)
    return Section("engines", "Engines by device", shown)


def _text(value: float | None, _: str) -> str:
    """Return a rate: that of the part that was measured holds for the whole."""
    return number(value)


def _engines_of(part: Part) -> Iterator[tuple[str, str, bool, Mapping[str, Any]]]:
    """Yield workload, engine, whether it is another program, and measurement."""
    if part.benchmark == "liu2006":
        for result in part.results:
            yield "liu2006: a query, a database", part.settings["engine"], False, result["engine"]
            for name, each in result["peers"].items():
                yield "liu2006: a query, a database", f"{name}, one core", True, each
    elif part.benchmark == "aymone2022":
        for result in part.results:
            if result["task"] not in ("trace", "simd"):
                name = f"diagonal, {result['task']}"
                yield "aymone2022: many pairs", name, False, result
    elif part.benchmark in ("lin2015", "scan2014"):
        for result in part.results:
            for name, each in result["engines"].items():
                yield f"{part.benchmark}: one pair, score and end", name, False, each
            for name, each in result["cpu"].items():
                yield f"{part.benchmark}: one pair, score and end", f"one core, {name}", True, each
    elif part.benchmark == "sudo2012":
        for result in part.results:
            if result["part"] == "lengths" and result["task"] == "ends":
                for name, each in result["engines"].items():
                    yield "sudo2012: three sequences, score and end", name, name == "cpu", each
    elif part.benchmark == "search":
        for result in part.results:
            for run in result["runs"]:
                for each in run["queries"]:
                    yield "search: a query, a database", run["label"], False, each
            for each in result.get("peers", ()):
                cores = "one core" if each["cores"] == 1 else "all cores"
                yield "search: a query, a database", f"{each['peer']}, {cores}", True, each
