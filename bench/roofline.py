"""What limits an engine on a device, and how near it comes: from rows of `micro` and of engines.

A ceiling is what an engine could reach at most if only one thing limited it: the operations of the
recurrence, the bytes that a cell moves, the dispatches or draws that a table needs. `TRAFFIC` has
what each engine needs, counted in its shader and its Python. Counted is what cannot be avoided: a
value that several invocations of a dispatch read counts once, and a fast cache counts as memory. So
the ceilings lie above what is possible, and the lowest one says what to look at first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench.row import Row, rate_of, state
from bench.traffic import TRAFFIC, EngineRun, Traffic

_LEAN = 2**18  # letters from which `blocked` leaves out tiles, and so has no ceiling


@dataclass(frozen=True)
class Ceiling:
    """What one resource allows."""

    resource: str
    cells_per_second: float
    reason: str


@dataclass(frozen=True)
class Bound:
    """The ceilings of a row, the lowest first, and what it reached, in cells per second."""

    ceilings: tuple[Ceiling, ...]
    reached: float | None

    @property
    def lowest(self) -> Ceiling:
        return self.ceilings[0]

    @property
    def share(self) -> float | None:
        return None if self.reached is None else self.reached / self.lowest.cells_per_second


def rates_of(rows: Iterable[Row]) -> dict[str, float]:
    """Return what `micro` found, by name, without what has no value."""
    return {
        row["program"]: row["rate"]
        for row in rows
        if row["workload"] == "micro" and state(row) == "timed"
    }


def bound(row: Row, rates: Mapping[str, float], device: Mapping[str, Any] | None) -> Bound | None:
    """Return what limits an engine, by the rates of the device of a header.

    None for what does not run on the device, for several engines together, for a pair of which
    parts are left out, and where no rate is known.
    """
    run = None if device is None or not row.get("ours") else run_of(row, device)
    if run is None or run.engine not in TRAFFIC:
        return None
    if run.engine == "blocked" and min(run.lengths) >= _LEAN:
        return None
    need = TRAFFIC[run.engine](run)
    found = sorted(ceilings(need, rates, int(row["cells"])), key=lambda x: x.cells_per_second)
    return Bound(tuple(found), rate_of(row, clock=True)) if found else None


def ceilings(need: Traffic, rates: Mapping[str, float], cells: int) -> Iterator[Ceiling]:
    """Yield the ceilings for this number of cells, by the resources whose rate is known."""
    if need.compute in rates:
        yield Ceiling("compute", rates[need.compute], f"the {need.compute} alone")
    memory = [f"storage {kind}" for kind in ("cached", "read", "write", "copy")]
    for resource, size, names in (
        ("shared memory", need.shared, ["shared bandwidth"]),
        ("uniform block", need.block, [f"uniform block {'words' if need.words else 'lookup'}"]),
        ("storage", need.storage, memory),
        ("textures", need.texture, ["texture lookup"]),
    ):
        fastest = max((name for name in names if name in rates), key=rates.__getitem__, default="")
        if size > 0 and fastest:
            reason = f"{size:.3g} bytes per cell, at the rate of {fastest}"
            yield Ceiling(resource, rates[fastest] / size, reason)
    for resource, count, names in (
        ("dispatches", need.dispatches, ["dispatch"]),
        ("draws", need.draws, ["draw thin", "draw"]),
    ):
        seconds = min((rates[name] for name in names if name in rates), default=0.0)
        if count and seconds:
            reason = f"{count} {resource} of {seconds * 1e6:.3g} us"
            yield Ceiling(resource, cells / (count * seconds), reason)


def run_of(row: Row, device: Mapping[str, Any]) -> EngineRun | None:
    """Return what was done; None for several engines together and other tasks."""
    engine = row["program"]
    if engine == "auto":
        engine = str(row.get("note") or "").removeprefix("auto: ")
    if engine == "lanes":
        engine = "lanes f16" if device["half"] else "lanes int32"
    scoring = row.get("scoring") or ""
    gaps = re.search(r"gaps (\d+), (\d+)", scoring)
    pair = re.search(r"(\d+)/-?\d+", scoring)
    if gaps is None or not row.get("cells") or row["task"] not in ("scores", "ends"):
        return None
    return EngineRun(
        engine,
        tuple(row["sizes"]),
        row["count"],
        linear=gaps[1] == gaps[2],
        matching=pair is not None,
        best=float(pair[1]) if pair else 1.0,
        extend=float(gaps[2]),
        ends=row["task"] != "scores",
        software=device["software"],
        subgroup=device["subgroup_size"],
    )
