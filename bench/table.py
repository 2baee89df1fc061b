"""Rows as text: the columns that ``bench run``, ``bench show`` and ``bench report`` have."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bench import Parser
from bench.row import File, Row, older, seconds_of, state


def title(row: Row) -> str:
    """Return what a row is, in one line."""
    parts = [row["workload"], who(row), row["task"], row.get("scoring"), sizes(row)]
    return ", ".join(str(part) for part in (*parts, row.get("options")) if part)


def label(row: Row) -> str:
    """Return what tells a row from others of its workload and scoring."""
    task = row["task"] if row["task"] != "scores" else None
    parts = who(row), task, "x".join(map(str, row.get("sizes") or ())), row.get("options")
    return ", ".join(part for part in (*parts, remark(row)) if part)


def remark(row: Row) -> str:
    """Return what is to be known of a row: it is not of a run, dirty, or older than its shader."""
    said = {"not of this run": row.get("source"), "dirty": row.get("dirty"), "older": older(row)}
    return ", ".join(text for text, true in said.items() if true)


def who(row: Row) -> str:
    """Return the program, and how many cores it used."""
    cores = row.get("cores")
    return str(row["program"]) + (f", {cores} core{'s' * (cores > 1)}" if cores else "")


def where(row: Row) -> str:
    """Return where another program ran: ``one core``, ``all cores`` or ``GPU``; "" for glsw."""
    cores = row.get("cores")
    return "" if row["ours"] else "GPU" if not cores else "one core" if cores == 1 else "all cores"


def sizes(row: Row) -> str:
    """Return the count and the sizes of a row."""
    first = [count] if (count := row.get("count") or 1) != 1 else []
    return " x ".join(f"{size:,}" for size in (*first, *row.get("sizes", ())))


def number(value: float | None) -> str:
    """Return a number with three digits."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.3g}"


def gcups(rate: float | None) -> str:
    """Return a rate in billions of cells per second."""
    return number(None if rate is None else rate / 1e9)


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _scaled(value: float | None, units: Mapping[str, float]) -> str:
    """Return a number in the largest unit that it reaches, or in the last one."""
    if value is None:
        return "-"
    unit = next((unit for unit, size in units.items() if value >= size), [*units][-1])
    return f"{number(value / units[unit])} {unit}"


def seconds(value: float | None) -> str:
    return _scaled(value, {"s": 1.0, "ms": 1e-3, "us": 1e-6})


def size_text(size: int | None) -> str:
    return _scaled(size or None, {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1})


def amount(value: float | None, unit: str | None) -> str:
    """Return a rate with a prefix."""
    if unit == "s":
        return seconds(value)
    if unit == "cell/s":
        return "-" if value is None else f"{gcups(value)} GCUPS"
    return _scaled(value, {f"T{unit}": 1e12, f"G{unit}": 1e9, f"M{unit}": 1e6, f"{unit}": 1})


def rate(row: Row) -> str:
    if row.get("rate"):
        return amount(row["rate"], row.get("unit"))
    return "-" if row.get("wall") else "right"


def energy(row: Row) -> str:
    if not row.get("joules") or not row.get("cells"):
        return "-"
    return f"{number(row['joules'] / row['cells'] * 1e12)} pJ per cell"


COLUMNS: Mapping[str, tuple[int, Callable[[Row], str]]] = {
    "wall": (10, lambda row: "~" * bool(row.get("part")) + seconds(seconds_of(row))),
    "device": (10, lambda row: seconds(row.get("clock"))),
    "rate": (14, rate),
    "spread": (8, lambda row: percent(row.get("spread"))),
    "passes": (8, lambda row: percent(row.get("between"))),
    "memory": (10, lambda row: size_text(row.get("memory"))),
}
"""Their widths, and what they have of a row; a tilde is before the time of a part."""


def width_of(rows: Iterable[Row]) -> int:
    """Return the width of the first column of a table."""
    return max([37, *(len(label(row)) for row in rows)]) + 1


def heading(width: int) -> str:
    return " " * width + "".join(f" {name:>{each - 1}}" for name, (each, _) in COLUMNS.items())


def line(row: Row, width: int) -> str:
    """Return a row for a terminal."""
    name = f"{label(row):<{width}}"
    if state(row) == "not run":
        return f"{name}  -: {row['skipped']}"
    if state(row) == "wrong":
        first = f"; {row['first']}" if row.get("first") else ""
        return f"{name}  WRONG: {row.get('wrong')} of {row.get('judged')}{first}"
    return name + "".join(f" {text(row):>{each - 1}}" for each, text in COLUMNS.values())


def markdown(*cells: str) -> str:
    """Return a line of a table of Markdown."""
    return f"| {' | '.join(cells)} |"


def head(first: str, *names: str) -> str:
    """Return the head of a table of which all columns but the first are numbers."""
    return f"{markdown(first, *names)}\n|---|{'---:|' * len(names)}"


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of rows, workload by workload, scoring by scoring."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["workload"], row.get("scoring") or ""), []).append(row)
    for (workload, scoring), some in groups.items():
        width = width_of(some)
        yield f"\n{workload}{': ' * bool(scoring)}{scoring}"
        yield heading(width)
        yield from (line(row, width) for row in some)


def main(argv: Sequence[str]) -> int:
    """Show files; return 0, 1 if a row is wrong."""
    parser = Parser(" show", "Show the rows of files.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--workload", action="append", metavar="NAME", help="these only")
    arguments, status = parser.parse_args(argv), 0
    for file in map(File.read, arguments.files):
        device, wanted = file.header["device"], arguments.workload
        whose = f"{device['renderer']}, {device['driver']}" if device else file.header["cpu"]
        chosen = [row for row in file.rows.values() if not wanted or row["workload"] in wanted]
        print(f"{file.path.name}: {len(file.rows)} rows of {whose}", *lines(chosen), sep="\n")
        status |= any(state(row) == "wrong" for row in chosen)
    return status
