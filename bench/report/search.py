"""Database search: rates by query length and engine, whole databases, other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bench import search_tables
from bench.report import figures
from bench.report.blocks import Block, Notes, Section, Table, number
from bench.report.documents import Collection, Part
from bench.report.figures import Band, Colours, Curve
from bench.report.grid import Grid, cell, gcups, grouped, seconds, table, times_and_rates
from bench.rows import database_name

SOURCE = (
    "CUDASW++4.0 (Schmidt et al. 2024): measured on another day on an H100 SXM, driver 580.159, "
    "a million targets of 512, the 20 standard query lengths; constants of bench/search_tables.py"
)

Column = tuple[str, str]
"""Device, engine with its number type."""

Base = tuple[str, int]
"""A database: name, sequences."""


def section(files: Collection, colours: Colours) -> Section | None:
    """Return tables of all databases, curves over query length, and peers; None without results."""
    queries: Grid[tuple[Base, int], Column] = Grid()
    whole: Grid[tuple[Base, str], Column] = Grid()
    peers: Grid[tuple[Base, int], Column] = Grid()
    rest: Grid[tuple[Base, str], str] = Grid()
    for part in files.parts("search"):
        device = files.name(part)
        for result in part.results:
            base = (database_name(result), result["database"]["sequences"])
            for run in result["runs"]:
                column = (device, run["label"])
                if run["refused"]:
                    whole.put((base, _EACH), column, _refused(run), part)
                    continue
                for each in run["queries"]:
                    queries.put((base, each["length"]), column, each, part)
                if "kernel_gcups" in run:
                    whole.put((base, _EACH), column, _summed(run), part)
                if run["together"]:
                    whole.put((base, _ONCE), column, run["together"], part)
            for each in result.get("peers", ()):
                cores = "one core" if each["cores"] == 1 else "all cores"
                peers.put((base, each["length"]), (device, f"{each['peer']}, {cores}"), each, part)
            if "command" in result:
                rest.put((base, "glsw search, whole command"), device, _command(result), part)
            if "devices" in result:
                _devices(rest, base, device, result["devices"], part)
    if not (queries or whole or peers or rest):
        return None
    shown: list[Block] = [
        "Protein queries against equal targets and against the lengths of Swiss-Prot, BLOSUM62, "
        "12 for the first position of a gap and 1 for each further one. GCUPS are by the device's "
        "clock where it has one, else by wall time.",
    ]
    order = [(device, label) for device in files.devices for label in _labels(queries, whole)]
    if whole:
        shown.append(_whole(whole, whole.columns(order)))
    shown += [_curve(queries, base, order, colours) for base in _drawn(queries)]
    if queries:
        shown.append(_queries(queries, queries.columns(order)))
    if peers:
        columns = sorted(peers.columns(), key=lambda column: files.devices.index(column[0]))
        shown.append(_peers(peers, columns))
    if rest:
        shown.append(_rest(rest, rest.columns(files.devices)))
    return Section("search", "Database search", [block for block in shown if block])


_EACH, _ONCE = "query by query", "all queries at once"


def _labels(*grids: Grid[Any, Column]) -> list[str]:
    return sorted({label for grid in grids for _, label in grid.columns()})


def _kernel(found: Mapping[str, Any]) -> float | None:
    return found.get("kernel_gcups")


def _refused(run: Mapping[str, Any]) -> dict[str, Any]:
    return {"check": None, "wall": None, "left_out": run["refused"]}


def _summed(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return all queries of a run as one measurement."""
    check = {"judge": "see the queries", "pairs": 1, "wrong": 0, "first": None}
    wall = {"median": run["wall"]}
    return {
        "check": check,
        "wall": wall,
        "gcups": run["gcups"],
        "kernel_gcups": run["kernel_gcups"],
    }


def _command(result: Mapping[str, Any]) -> dict[str, Any]:
    command = result["command"]
    wall = {"median": min(command["seconds"])}
    return {"check": command["check"], "wall": wall, "gcups": None}


def _devices(
    rest: Grid[tuple[Base, str], str], base: Base, device: str, found: Mapping[str, Any], part: Part
) -> None:
    numbers = found["devices"]
    for name, count in (("one", 1), ("all", len(numbers))):
        each = _refused(found) if found["refused"] else found[name]
        label = f"search on {count} device" + ("s" if count > 1 else "")
        rest.put((base, label), device, each, part)


def _base(base: Base) -> str:
    return f"{base[0]}, {base[1]:,} sequences"


def _head(columns: list[Column]) -> list[str]:
    return [f"{device}: {label}" for device, label in columns]


def _by_database(
    grid: Grid[Any, Any], line: Callable[[Any], list[str]], *, by_length: bool = False
) -> list[list[str]]:
    """Return the lines of a table: by database, its queries as they come or by length."""
    bases = list(dict.fromkeys(row[0] for row in grid.rows()))
    rows = grid.rows(lambda row: (bases.index(row[0]), row[1] if by_length else 0))
    return grouped(rows, lambda row: _base(row[0]), line)


def _whole(grid: Grid[tuple[Base, str], Column], columns: list[Column]) -> Table:
    notes = Notes()

    def line(row: tuple[Base, str]) -> list[str]:
        return [row[1], *(cell(grid.get(row, each), notes, _kernel) for each in columns)]

    lines = _by_database(grid, line)
    theirs = ", ".join(f"{number(rate)} ({name})" for name, rate in search_tables.CUDASW.items())
    extra = [f"compare: {theirs} GCUPS. {SOURCE}"]
    return table(
        grid, "GCUPS with all queries", ["queries", *_head(columns)], lines, notes, extra=extra
    )


def _queries(grid: Grid[tuple[Base, int], Column], columns: list[Column]) -> Table:
    notes = Notes()

    def line(row: tuple[Base, int]) -> list[str]:
        return [f"{row[1]:,}", *(cell(grid.get(row, each), notes, _kernel) for each in columns)]

    lines = _by_database(grid, line, by_length=True)
    caption = "GCUPS by query length, all databases"
    return table(grid, caption, ["query length", *_head(columns)], lines, notes, folded=True)


def _drawn(grid: Grid[tuple[Base, int], Column]) -> list[tuple[str, list[Base]]]:
    """Return the databases of each figure: those of one name, for each column the largest."""
    names = dict.fromkeys(base[0] for base, _ in grid.rows())
    wanted = [name for name in names if name.endswith(" 512") or "Swiss-Prot" in name]
    found = []
    for name in wanted or list(names)[:1]:
        bases = {base for base, _ in grid.rows() if base[0] == name}
        found.append((name, sorted(bases, key=lambda base: base[1])))
    return found


def _curve(
    grid: Grid[tuple[Base, int], Column],
    chosen: tuple[str, list[Base]],
    order: list[Column],
    colours: Colours,
) -> Any:
    name, bases = chosen
    lines = []
    used: set[tuple[Base, int]] = set()
    for column in grid.columns(order):
        for base in reversed(bases):  # the largest that this device has
            rows = [row for row in grid.rows() if row[0] == base]
            if points := grid.values(rows, column, _kernel):
                used.update(row for row, _ in points)
                lines.append(Curve(*column, [(row[1], rate) for row, rate in points]))
                break
    sizes = ", ".join(f"{base[1]:,}" for base in bases if any(row[0] == base for row in used))
    bands = []
    if name.endswith(" 512"):
        bands = [
            Band(f"CUDASW++4.0 {each}, H100", rate, rate)
            for each, rate in search_tables.CUDASW.items()
        ]
    return figures.curves(
        "search-" + ("512" if bands else "swissprot" if "Swiss-Prot" in name else "database"),
        f"GCUPS by query length: {name}",
        f"Sequences: {sizes} (of each device the largest). "
        + (f"Black: {SOURCE}." if bands else "By the device's clock where it has one."),
        lines,
        colours,
        x="query length, residues",
        y="GCUPS",
        bands=bands,
        files=grid.files(used),
    )


def _peers(grid: Grid[tuple[Base, int], Column], columns: list[Column]) -> Table:
    notes = Notes()

    def line(row: tuple[Base, int]) -> list[str]:
        return [
            f"{row[1]:,}",
            *(cell(grid.get(row, each), notes, gcups, _rate) for each in columns),
        ]

    lines = _by_database(grid, line, by_length=True)
    caption = "Other programs on the device's machine: GCUPS by wall time"
    return table(grid, caption, ["query length", *_head(columns)], lines, notes)


def _rate(value: float | None, _: str) -> str:
    """Return a rate: that of the part that was measured holds for the whole."""
    return number(value)


def _rest(grid: Grid[tuple[Base, str], str], devices: list[str]) -> Table:
    notes = Notes()

    def line(row: tuple[Base, str]) -> list[str]:
        return [row[1], *times_and_rates(grid, row, devices, notes, seconds)]

    lines = _by_database(grid, line)
    head = ["what", *(f"{each}: {what}" for each in devices for what in ("seconds", "GCUPS"))]
    caption = "The whole command, and several devices: seconds by wall time, all queries"
    extra = ["whole command: from its start to its end, the shorter of two runs"]
    return table(grid, caption, head, lines, notes, extra=extra)
