"""Tables of rows: what each compiler made of the programs that engines ask for."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

from bench.compilers.rows import ASKED, SAMPLE, Row, Rows, devices, per_cell, spills
from bench.table import head, markdown
from glsw import ShaderError

HEAD = (
    "| device | programs | failed | median compile | slowest | spilling | lanes at once "
    "| instructions per cell |\n"
    "|---|---:|---:|---:|---|---:|---|---:|"
)
SLOW = 1000.0
"""Milliseconds from which a program is listed as slow."""


def lines(path: Path) -> Iterator[str]:
    """Yield a table of the devices of a file, and the programs that fail, are slow or spill."""
    rows = Rows.read(path)
    yield from by_device(rows)
    yield ""
    for name in devices():
        yield from _remarks(name, rows)
    asked = [row for name in devices() for row in rows.of(name, ASKED)]
    if old := sum(_is_old(row) for row in asked):
        yield f"{old} of {len(asked)} rows are older than their shaders: make vendors"


def _is_old(row: Row) -> bool:
    from bench.compilers.driver import digest  # not for the tables alone

    try:
        return row.get("text") != digest(row["program"], row["macros"])
    except ShaderError:
        return True


def by_device(rows: Rows) -> Iterator[str]:
    """Yield the lines of the table of devices."""
    yield HEAD
    for name, what in devices().items():
        asked = rows.of(name, ASKED)
        right = [row for row in asked if "error" not in row]
        if not right:
            continue
        slowest = max(right, key=lambda row: float(row["ms"]))
        told = any(row.keys() & {"spills", "scratch"} for row in right)
        least = min(per_cell(right), default=None)
        yield markdown(
            what,
            f"{len(asked)}",
            f"{len(asked) - len(right)}",
            f"{median(row['ms'] for row in right):.0f} ms",
            f"{slowest['ms'] / 1000:.2f} s, `{slowest['program']}`",
            f"{sum(map(spills, right))}" if told else "not reported",
            _widths(right),
            f"{least:.1f}" if least else "",
        )


def bounds(rows: Rows, gpus: Iterable[tuple[str, str, int, float]]) -> Iterator[str]:
    """Yield the lines of the table of what GPUs can reach at most, by their lanes and GHz."""
    yield head("GPU", "lanes x clock", "instructions per cell", "GCUPS at most")
    for what, device, lanes, clock in gpus:
        least = min(per_cell(rows.of(device, ASKED)), default=None)
        if least:
            rate = lanes * clock / least
            yield markdown(what, f"{lanes} x {clock:g} GHz", f"{least:.1f}", f"{rate:,.0f}")


def _widths(rows: Iterable[Row]) -> str:
    found = Counter(row["width"] for row in rows if "width" in row)
    return (
        ", ".join(f"{width}: {count}" for width, count in sorted(found.items())) or "not reported"
    )


def _remarks(name: str, rows: Rows) -> Iterator[str]:
    """Yield a line per program that fails, is slow, or spills."""
    groups: dict[str, list[Row]] = {}
    for row in rows.of(name, ASKED):
        groups.setdefault(row["program"], []).append(row)
    for program, some in groups.items():
        parts = []
        if errors := [row["error"] for row in some if "error" in row]:
            parts.append(f"{len(errors)} of {len(some)} fail: {min(errors)}")
        if (slowest := max(row.get("ms", 0.0) for row in some)) >= SLOW:
            parts.append(f"{slowest / 1000:.1f} s")
        if spilling := [row for row in some if spills(row)]:
            most = max(row.get("spills") or row.get("scratch", 0) for row in spilling)
            parts.append(f"{len(spilling)} of {len(some)} spill, up to {most}")
        if parts:
            yield f"{name}: {program}: {'; '.join(parts)}"
    for row in rows.of(name, SAMPLE):
        if row.get("failed") or row.get("ms", 0.0) >= SLOW:
            failed = f"{row.get('failed', 0)} of {row['programs']} fail"
            slowest = row.get("ms", 0.0) / 1000
            reasons = "; ".join(row.get("errors", ()))
            yield f"{name}: {row['program']}, permutations: {failed}, {slowest:.1f} s {reasons}"
