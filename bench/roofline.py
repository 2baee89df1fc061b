"""What limits an engine on a device, and how near it comes: from `bench.micro` and `bench.engines`.

A ceiling is what an engine could reach at most if only one thing limited it: the operations of the
recurrence, the bytes that a cell moves, the dispatches or draws that a table needs. `TRAFFIC` has
what each engine needs, counted in its shader and its Python. Counted is what cannot be avoided: a
value that several invocations of a dispatch read counts once, and a fast cache counts as memory. So
the ceilings lie above what is possible, and the lowest one says what to look at first.

>>> rates = {"recurrence linear": 1e10, "storage read": 1e9, "dispatch": 1e-4}
>>> result = {
...     "engine": "wavefront", "scoring": "DNA 1/-1, linear gaps 2", "lengths": [1000, 1000],
...     "count": 1, "cells": 10**6, "task": "ends", "wall": {"median": 0.5}, "device": None,
... }
>>> limit = bound(result, rates, {"software": True, "subgroup_size": 0, "half": False})
>>> [(each.resource, round(each.cells_per_second)) for each in limit.ceilings]
[('dispatches', 5002501), ('storage', 27777778), ('compute', 10000000000)]
>>> limit.lowest.resource, round(limit.share, 2)
('dispatches', 0.4)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from bench.traffic import TRAFFIC, EngineRun, Traffic

_LEAN = 2**18  # letters from which `blocked` leaves out tiles, and so has no ceiling

OPERATIONS: Mapping[str, int] = {
    "linear": 6,
    "affine": 10,
    "three linear": 10,
    "three affine": 22,
}
"""Additions and maxima of a cell, the best one included.

Linear: M, H without E and F, two more maxima, H - gap_open, the best. Affine: another subtraction
and maximum for each of E and F. Three sequences by identity: a sum, seven maxima, a difference, the
best; affine: another subtraction and maximum for each of the six X, and H - opens.
"""


@dataclass(frozen=True)
class Ceiling:
    """What one resource allows."""

    resource: str
    cells_per_second: float
    reason: str


@dataclass(frozen=True)
class Bound:
    """The ceilings of an engine, the lowest first, and what it reached.

    Parameters
    ----------
    engine : str
        As the result has it.
    ceilings : tuple of Ceiling
    cells_per_second : float or None
        Measured, by the device's clock where there is one; None for a result without a time.
    operations : int
        Of a cell.
    bytes : float
        That a cell moves to and from storage buffers or textures.
    """

    engine: str
    ceilings: tuple[Ceiling, ...]
    cells_per_second: float | None
    operations: int
    bytes: float

    @property
    def lowest(self) -> Ceiling:
        """What limits it."""
        return self.ceilings[0]

    @property
    def share(self) -> float | None:
        """How much of the lowest ceiling was reached."""
        if self.cells_per_second is None:
            return None
        return self.cells_per_second / self.lowest.cells_per_second

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.operations / self.bytes

    @property
    def operations_per_second(self) -> float | None:
        """What it reached, in operations of the recurrence."""
        return None if self.cells_per_second is None else self.operations * self.cells_per_second


class Roof(NamedTuple):
    """A roof: operations per second, or bytes per second times operations per byte."""

    name: str
    height: float
    slope: bool

    def at(self, intensity: float) -> float:
        """Return the operations per second that it allows at this number of operations per byte.

        >>> Roof("storage", 1e9, True).at(3), Roof("compute", 1e10, False).at(3)
        (3000000000.0, 10000000000.0)
        """
        return self.height * intensity if self.slope else self.height


def rates_of(results: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return what `bench.micro` found, by name, without what has no value."""
    return {each["name"]: each["value"] for each in results if each["value"]}


def bound(
    result: Mapping[str, Any], rates: Mapping[str, float], device: Mapping[str, Any] | None
) -> Bound | None:
    """Return what limits an engine.

    Parameters
    ----------
    result : mapping
        Of `bench.engines`.
    rates : mapping
        From `rates_of`, on the same device.
    device : mapping or None
        Of the document.

    Returns
    -------
    Bound or None
        None for what does not run on the device, for several engines together, for a pair of which
        parts are left out, and where no rate is known.
    """
    run = None if device is None or result.get("peer") else run_of(result, device)
    if run is None or run.engine not in TRAFFIC or _pruned(run):
        return None
    need = TRAFFIC[run.engine](run)
    found = sorted(ceilings(need, rates, int(result["cells"])), key=lambda x: x.cells_per_second)
    if not found:
        return None
    clock = result.get("device") or result.get("wall")
    reached = result["cells"] / clock["median"] if clock else None
    three = "three " if len(run.lengths) == 3 else ""
    return Bound(
        result["engine"],
        tuple(found),
        reached,
        OPERATIONS[three + run.gaps],
        need.texture or need.storage,
    )


def ceilings(need: Traffic, rates: Mapping[str, float], cells: int) -> list[Ceiling]:
    """Return the ceilings for this number of cells, by the resources whose rate is known."""
    memory = ("storage cached", "storage read", "storage write", "storage copy")
    block = "uniform block words" if need.words else "uniform block lookup"
    found = []
    if need.compute in rates:
        found.append(Ceiling("compute", rates[need.compute], f"the {need.compute} alone"))
    moved: tuple[tuple[str, float, tuple[str, ...]], ...] = (
        ("shared memory", need.shared, ("shared bandwidth",)),
        ("uniform block", need.block, (block,)),
        ("storage", need.storage, memory),
        ("textures", need.texture, ("texture lookup",)),
    )
    for resource, size, names in moved:
        known = [name for name in names if name in rates]
        if size > 0 and known:
            fastest = max(known, key=lambda name: rates[name])
            reason = f"{size:.3g} bytes per cell, at the rate of {fastest}"
            found.append(Ceiling(resource, rates[fastest] / size, reason))
    commands: tuple[tuple[str, int, tuple[str, ...]], ...] = (
        ("dispatches", need.dispatches, ("dispatch",)),
        ("draws", need.draws, ("draw thin", "draw")),
    )
    for resource, count, names in commands:
        known = [name for name in names if name in rates]
        if count and known:
            seconds = min(rates[name] for name in known)
            reason = f"{count} {resource} of {seconds * 1e6:.3g} us"
            found.append(Ceiling(resource, cells / (count * seconds), reason))
    return found


def roofs(rates: Mapping[str, float], gaps: str = "affine") -> list[Roof]:
    """Return the roofs of a device: its recurrences in operations, its memories by their bytes."""
    found = []
    for name, label in (
        (f"recurrence half{' linear' * (gaps == 'linear')}", "recurrence, pairs of 16-bit floats"),
        (f"recurrence {gaps}", "recurrence, 32-bit integers"),
        (f"fragment recurrence {gaps}", "recurrence, fragment shader"),
    ):
        if name in rates:
            found.append(Roof(label, OPERATIONS[gaps] * rates[name], slope=False))
    for name in ("storage cached", "storage read", "texture lookup"):
        if name in rates:
            found.append(Roof(name, rates[name], slope=True))
    return found


def run_of(result: Mapping[str, Any], device: Mapping[str, Any]) -> EngineRun | None:
    """Return what was done; None for several engines together.

    >>> device = {"software": False, "subgroup_size": 32, "half": True}
    >>> result = {"engine": "auto", "used": "auto: lanes", "scoring": "BLOSUM62, gaps 12, 1",
    ...           "lengths": [375], "count": 10, "cells": 375 * 3000, "task": "scores"}
    >>> run = run_of(result, device)
    >>> run.engine, run.lengths, run.linear
    ('lanes f16', (375, 300.0), False)
    """
    engine = result["engine"]
    if engine == "auto":
        engine = str(result.get("used") or "").removeprefix("auto: ")
    if engine == "lanes":
        engine = "lanes f16" if device["half"] else "lanes int32"
    if engine == "scan":
        engine = "scan fused"
    lengths = tuple(result["lengths"])
    if len(lengths) == 1:
        lengths += (result["cells"] / (lengths[0] * result["count"]),)
    scoring = result["scoring"]
    gaps = re.search(r"gaps? (\d+)(?:, (\d+))?", scoring)
    pair = re.search(r"(\d+)/-?\d+", scoring)
    if gaps is None:
        return None
    extend = float(gaps[2] or gaps[1])
    return EngineRun(
        engine,
        lengths,
        result["count"],
        linear=extend == float(gaps[1]),
        matching=pair is not None,
        best=float(pair[1]) if pair else 1.0,
        extend=extend,
        ends=result["task"] != "scores",
        software=device["software"],
        subgroup=device["subgroup_size"],
    )


def _pruned(run: EngineRun) -> bool:
    return run.engine == "blocked" and min(run.lengths) >= _LEAN
