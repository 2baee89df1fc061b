"""What limits an engine on a device, and how near it comes: from rows of `micro` and of engines.

A ceiling is what an engine could reach if only one thing limited it, see bench/README.md: the
operations of the recurrence, the bytes that a cell reads beside registers, the dispatches or draws
that a table needs. `TRAFFIC` has what each engine needs at least, counted in its shader and its
Python. Storage buffers are left out: their bytes are a few per strip of rows, and the engines that
keep whole tables in them need a dispatch per row or diagonal, which is less than they could read.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from bench.row import Row, rate_of, state

_LEAN = 2**18  # letters from which `blocked` leaves out tiles, and so has no ceiling
_STRIP = 8  # rows of an invocation of a sweep
_TEXELS = 2**22  # pairs times rows of a quad of `fragment`


@dataclass(frozen=True)
class EngineRun:
    """A row, as far as it says what was done where."""

    engine: str
    lengths: tuple[float, ...]  # of query and target (mean), or of three sequences
    count: int
    linear: bool = True
    best: float = 1  # the highest score
    extend: float = 1  # what a further gap position costs
    ends: bool = True  # end cells were asked for
    software: bool = False
    subgroup: int = 0  # lanes of one, 0 without

    @property
    def gaps(self) -> str:
        return "linear" if self.linear else "affine"


class Traffic(NamedTuple):
    """What an engine needs at least: bytes per cell, and commands for all cells."""

    compute: str  # the rate of `micro` that is its recurrence alone
    shared: float = 0.0
    texture: float = 0.0
    dispatches: int = 0
    draws: int = 0


def _sweep(run: EngineRun) -> float:
    """Return the bytes per cell of sweep.glsl from shared memory.

    For a column an invocation of 8 rows reads H and F above it, writes those below (8 bytes each),
    and reads a letter (4); on hardware it reads a score for a cell (4), see scoring.glsl.
    """
    return (8 + 8 + 4) / _STRIP + (0.0 if run.software else 4.0)


def _diagonal(run: EngineRun) -> Traffic:
    """Count a dispatch for a strip of at most 4096 pairs (32 on software), see `Diagonal._fill`."""
    m, _ = run.lengths
    fitting = next((size for size in (16, 32, 64) if size * _STRIP >= m), 64)
    strips = math.ceil(m / (_STRIP * (8 if run.software else fitting)))
    dispatches = strips * math.ceil(run.count / (32 if run.software else 4096))
    return Traffic(f"recurrence {run.gaps}", _sweep(run), dispatches=dispatches)


def _blocked(run: EngineRun) -> Traffic:
    """Count the block anti-diagonals of tiles, of as many pairs as are computed together."""
    m, n = run.lengths
    lanes = 8 if run.software else 32 if m < 2**11 else 64 if m < 2**13 else 128
    steps = 256 if run.software else lanes
    strip = 24 if run.software and m >= 4 * 24 * lanes else _STRIP  # `Tiled._rows_of_strips`
    rows = math.ceil(m / (lanes * strip))
    total = math.ceil(n / 2) + lanes - 1
    together = max(1, min(2**10, 2**18 // math.ceil(m)))  # pairs, see `Blocked._tables`
    diagonals = math.ceil((total + (rows - 1) * (steps + lanes)) / steps)
    dispatches = math.ceil(run.count / together) * diagonals
    return Traffic(f"recurrence {run.gaps}", _sweep(run), dispatches=dispatches)


def _fragment(run: EngineRun) -> Traffic:
    """Count texels of 16 bytes for 16 x 8 cells: the pair, 8 letters, 16 of the profile."""
    m, n = run.lengths
    rows, columns = math.ceil(m / 16), math.ceil(n / 8)
    beside, above = (columns - 1) / columns, (rows - 1) / rows
    # Of its neighbours: H, with affine gaps another, best cells (16 bytes, of scores 4); a corner.
    border, best = 16 * (1 if run.linear else 2), 16 if run.ends else 4
    texels = 16 * 18 + (2 * border + best) * beside + (border + best) * above + 16 * beside * above
    # A quad has at most 2**22 / m pairs and takes a draw per diagonal of tiles.
    draws = math.ceil(run.count * m / _TEXELS) * (rows + math.floor(n / 8) - 1)
    return Traffic(f"fragment recurrence {run.gaps}", texture=texels / 128, draws=draws)


def _scan(form: str, run: EngineRun) -> Traffic:
    """Count two dispatches per row; of form single-stage one, and one per doubling; or those fused.

    Doublings go up to the last column, or where a gap costs more than any score, see
    `Scan._rows_in_steps`; fused are strips of blocks, as `Scan._shape` cuts them.
    """
    m, n = run.lengths
    each = 2
    if form == "single-stage":
        farthest = min(n - 1, run.best * min(m, n) // run.extend) if run.extend else n - 1
        each = 1 + int(farthest).bit_length()
    if form != "fused":
        return Traffic(f"recurrence {run.gaps}", dispatches=math.floor(m) * each)
    group = run.subgroup or (8 if run.software else 32)
    width = max(4, 1 << (math.ceil(n / group) - 1).bit_length())
    blocks = math.ceil(n / (group * min(32 if run.software else 16, width)))
    strips = math.ceil(m / ((256 if run.software else 64) if blocks > 1 else 512))
    return Traffic(f"recurrence {run.gaps}", dispatches=strips + blocks - 1)


def _diagonals(run: EngineRun) -> int:
    """Return how many diagonals, or diagonal planes, a table has."""
    return math.floor(sum(run.lengths)) - len(run.lengths) + 1


def _lanes(number: str, run: EngineRun) -> Traffic:
    """Count a score of query_profile.glsl on hardware, on software a dispatch per 32 rows."""
    profile = 2.0 if number == "f16" else 4.0
    kind = {"int32": f"recurrence {run.gaps}", "f16": "recurrence half", "f32": "recurrence float"}
    return Traffic(
        kind[number] + " linear" * (run.linear and number != "int32"),
        shared=0.0 if run.software else profile,
        dispatches=math.ceil(run.lengths[0] / 32) if run.software else 1,
    )


def _subtable(run: EngineRun) -> Traffic:
    """Count the words of a row of a sub-table along j and along k, from shared memory and back."""
    # The tiles that `TileForms` chooses for scores; on hardware they have all rows.
    side = 2 if run.software and not run.linear else 4
    lanes_j, lanes_k = (8, 8) if run.software else (16, 8)
    rows = 128 if run.lengths[0] > 32 else 16
    rows = rows if run.software else math.ceil(run.lengths[0])
    size = 4 if run.linear else 8
    j_words, k_words = ((side + 2) // 2, (side + 1) // 2) if run.linear else (side + 1, side)
    tile = rows, side * lanes_j, side * lanes_k
    tiles = [math.ceil(x / y) for x, y in zip(run.lengths, tile, strict=True)]
    return Traffic(
        f"recurrence3 {run.gaps}",
        shared=2 * size * (j_words + k_words) / side**2,
        dispatches=sum(tiles) - 2 if run.software else 1,  # a diagonal plane of tiles
    )


TRAFFIC: Mapping[str, Callable[[EngineRun], Traffic]] = {
    "diagonal": _diagonal,
    "blocked": _blocked,
    "fragment": _fragment,
    "wavefront": lambda run: Traffic(f"recurrence {run.gaps}", dispatches=_diagonals(run)),
    **{f"scan {form}": partial(_scan, form) for form in ("blocks", "single-stage", "fused")},
    **{f"lanes {number}": partial(_lanes, number) for number in ("int32", "f16", "f32")},
    "subtable": _subtable,
    "plane": lambda run: Traffic(f"recurrence3 {run.gaps}", dispatches=_diagonals(run)),
}
"""What each engine needs at least; those without OpenGL, and other programs, have no entry."""


class Ceiling(NamedTuple):
    resource: str
    cells_per_second: float
    reason: str


class Bound(NamedTuple):
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
    micro = (row for row in rows if row["workload"] == "micro" and state(row) == "timed")
    return {row["program"]: row["rate"] for row in micro}


def bound(row: Row, rates: Mapping[str, float], device: Mapping[str, Any] | None) -> Bound | None:
    """Return what limits an engine on the device of a header; None where that is not known."""
    run = None if device is None or not row.get("ours") else run_of(row, device)
    if run is None or run.engine not in TRAFFIC:
        return None
    if run.engine == "blocked" and min(run.lengths) >= _LEAN:
        return None
    need = TRAFFIC[run.engine](run)
    found = sorted(ceilings(need, rates, int(row["cells"])), key=lambda x: x.cells_per_second)
    return Bound(tuple(found), rate_of(row, clock=True)) if found else None


def bounds(rows: Iterable[Row], device: Mapping[str, Any] | None) -> Iterator[tuple[Row, Bound]]:
    """Yield the timed rows of a device whose limits are known, and these."""
    timed = [row for row in rows if state(row) == "timed"]
    rates = rates_of(timed)
    for row in timed:
        limit = bound(row, rates, device)
        if limit is not None and limit.share is not None:
            yield row, limit


def ceilings(need: Traffic, rates: Mapping[str, float], cells: int) -> Iterator[Ceiling]:
    """Yield the ceilings for this number of cells, by the resources whose rate is known."""
    if need.compute in rates:
        yield Ceiling("compute", rates[need.compute], f"the {need.compute} alone")
    for resource, size, name in (
        ("shared memory", need.shared, "shared bandwidth"),
        ("textures", need.texture, "texture lookup"),
    ):
        if size > 0 and name in rates:
            reason = f"{size:.3g} bytes per cell, at the rate of {name}"
            yield Ceiling(resource, rates[name] / size, reason)
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
        best=float(pair[1]) if pair else 1.0,
        extend=float(gaps[2]),
        ends=row["task"] != "scores",
        software=device["software"],
        subgroup=device["subgroup_size"],
    )
