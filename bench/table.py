"""Rows as text: the lines that ``bench run`` prints, and ``bench show``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import options
from bench.row import File, Row, rate_of, seconds_of, state

HEADING = f"{'':<38}{'wall':>10}{'device':>10}{'rate':>14}{'spread':>8}{'passes':>8}{'memory':>10}"


def text_of(work: Any, sizes: Sequence[int], count: int) -> str:
    """Return what a workload is, with the sizes of this run."""
    text: str = work.text.format(*(sizes or (0,)), count=count)
    return text


def title(row: Row) -> str:
    """Return what a row is, in one line."""
    parts = [row["workload"], who(row), row["task"], row.get("scoring"), sizes(row)]
    return ", ".join(str(part) for part in (*parts, row.get("options")) if part)


def who(row: Row) -> str:
    """Return the program, and how many cores it used."""
    cores = row.get("cores")
    return str(row["program"]) + (f", {cores} core{'s' * (cores > 1)}" if cores else "")


def sizes(row: Row) -> str:
    """Return the sizes of a row.

    >>> sizes({"sizes": [375, 512], "count": 1000000}), sizes({"sizes": [8, 8, 8]}), sizes({})
    ('1,000,000 x 375 x 512', '8 x 8 x 8', '')
    """
    count = row.get("count")
    first = [f"{count:,}"] if count and count != 1 else []
    return " x ".join(first + [f"{size:,}" for size in row.get("sizes", ())])


def number(value: float | None) -> str:
    """Return a number with three digits.

    >>> number(3711.8), number(97.68), number(0.0123), number(None)
    ('3,712', '97.7', '0.0123', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.3g}"


def seconds(value: float | None) -> str:
    """Return a time in words.

    >>> seconds(44.96), seconds(0.00133), seconds(1.446), seconds(2e-6), seconds(None)
    ('45 s', '1.33 ms', '1.45 s', '2 us', '-')
    """
    if value is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size or unit == "us":
            return f"{number(value / size)} {unit}"
    return "-"


def amount(value: float | None, unit: str | None) -> str:
    """Return a rate with a prefix.

    >>> amount(1.5e12, "op/s"), amount(2.5e-6, "s"), amount(5e9, "cell/s"), amount(0.9, "recall")
    ('1.5 Top/s', '2.5 us', '5 GCUPS', '0.9 recall')
    """
    if value is None:
        return "-"
    if unit == "s":
        return seconds(value)
    if unit == "cell/s":
        return f"{number(value / 1e9)} GCUPS"
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return f"{number(value / factor)} {prefix}{unit}"
    return f"{number(value)} {unit}"


def size_text(size: int | None) -> str:
    """Return bytes as text.

    >>> size_text(2**18), size_text(3 * 2**20), size_text(None)
    ('256 KiB', '3 MiB', '-')
    """
    if not size:
        return "-"
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 2**power:
            return f"{number(size / 2**power)} {unit}"
    return f"{size} B"


def energy(row: Row) -> str:
    """Return the energy per cell."""
    if not row.get("joules") or not row.get("cells"):
        return "-"
    return f"{number(row['joules'] / row['cells'] * 1e12)} pJ per cell"


def line(row: Row) -> str:
    """Return a row for a terminal."""
    name = f"{label(row):<38}"
    if state(row) == "not run":
        return f"{name}  -: {row['skipped']}"
    if state(row) == "wrong":
        first = f"; {row['first']}" if row.get("first") else ""
        return f"{name}  WRONG: {row.get('wrong')} of {row.get('judged')}{first}"
    part = "~" if row.get("part") else ""
    rate = (
        amount(row.get("rate"), row.get("unit"))
        if row.get("rate")
        else "-"
        if row.get("wall")
        else "right"
    )
    between = f"{row['between'] * 100:.1f}%" if row.get("between") is not None else "-"
    spread = f"{row['spread'] * 100:.1f}%" if row.get("spread") is not None else "-"
    return (
        f"{name}{part + seconds(seconds_of(row)):>10}{seconds(row.get('clock')):>10}{rate:>14}"
        f"{spread:>8}{between:>8}{size_text(row.get('memory')):>10}"
    )


def label(row: Row) -> str:
    """Return what tells a row from others of its workload."""
    own = [who(row)] + [row["task"]] * (row["task"] != "scores")
    own += ["x".join(map(str, row["sizes"]))] if row.get("sizes") else []
    return ", ".join([*own, *([row["options"]] if row.get("options") else [])])


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of rows, workload by workload, scoring by scoring."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["workload"], row.get("scoring") or ""), []).append(row)
    for (workload, scoring), some in groups.items():
        yield f"\n{workload}{': ' * bool(scoring)}{scoring}"
        yield HEADING
        yield from map(line, some)


def main(argv: Sequence[str] | None = None) -> int:
    """Show files; return 0, 1 if a row is wrong, 2 if a file cannot be read."""
    parser = options.Parser(prog="python -m bench show", description="Show the rows of files.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--workload", action="append", metavar="NAME", help="these only")
    arguments = parser.parse_args(argv)
    status = 0
    for path in arguments.files:
        try:
            file = File.read(path)
        except (OSError, ValueError) as error:
            print(f"bench show: {error}", file=sys.stderr)
            return 2
        chosen: list[Mapping[str, Any]] = [
            row
            for row in file.rows.values()
            if not arguments.workload or row["workload"] in arguments.workload
        ]
        print(f"{path.name}: {len(file.rows)} rows of {_whose(file)}")
        for text in lines(chosen):
            print(text)
        status |= any(state(row) == "wrong" for row in chosen)
    return status


def _whose(file: File) -> str:
    device = file.header["device"]
    return f"{device['renderer']}, {device['driver']}" if device else str(file.header["cpu"])


__all__ = ["line", "lines", "rate_of"]
