"""What limits an engine on a device, and how near it comes: from rows of `micro` and of engines.

A ceiling is what an engine could reach if only one thing limited it, see bench/README.md: the
operations of the recurrence, the bytes that a cell moves, the dispatches or draws that a table
needs. `TRAFFIC` has what each engine needs at least, counted in its shader and its Python.
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
_BLOCK = 256  # columns of a block of scan
_TEXELS = 2**22  # pairs times rows of a quad of `fragment`


@dataclass(frozen=True)
class EngineRun:
    """A row, as far as it says what was done where."""

    engine: str
    lengths: tuple[float, ...]  # of query and target (mean), or of three sequences
    count: int
    linear: bool = True
    matching: bool = True  # scores are a match and a mismatch
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
    block: float = 0.0
    storage: float = 0.0
    texture: float = 0.0
    dispatches: int = 0
    draws: int = 0
    words: bool = False  # it reads 16 bytes at a time from uniform blocks


def _scores(run: EngineRun) -> tuple[float, float]:
    """Return the bytes of a score from shared memory and uniform blocks, see scoring.glsl."""
    if not run.software:
        return 4.0, 0.0
    return 0.0, 0.0 if run.matching else 4.0


def _sweep(run: EngineRun) -> tuple[float, float]:
    """Return the bytes per cell of sweep.glsl from shared memory and uniform blocks.

    For a column an invocation of 8 rows reads H and F above it, writes those below (8 bytes each),
    and reads a letter (4), besides a score for each cell.
    """
    shared, block = _scores(run)
    return (8 + 8 + 4) / _STRIP + shared, block


def _diagonal(run: EngineRun) -> Traffic:
    """Count a column of a strip: H and F above, but for the first strip, and below; a letter."""
    m, _ = run.lengths
    fitting = next((size for size in (16, 32, 64) if size * _STRIP >= m), 64)
    strips = math.ceil(m / (_STRIP * (8 if run.software else fitting)))
    # A dispatch has a strip of at most 4096 pairs (32 on software), see `Diagonal._fill`.
    dispatches = strips * math.ceil(run.count / (32 if run.software else 4096))
    storage = (8 * (strips - 1) + 9 * strips) / m
    return Traffic(f"recurrence {run.gaps}", *_sweep(run), storage, dispatches=dispatches)


def _blocked(run: EngineRun) -> Traffic:
    """Count a column of a strip: H and F above and below (8 bytes each), a letter."""
    m, n = run.lengths
    lanes = 8 if run.software else 32 if m < 2**11 else 64 if m < 2**13 else 128
    steps = 256 if run.software else lanes
    strip = 24 if run.software and m >= 4 * 24 * lanes else _STRIP  # `Tiled._rows_of_strips`
    rows = math.ceil(m / (lanes * strip))
    total = math.ceil(n / 2) + lanes - 1
    columns = math.ceil(total / steps)
    # A tile of STEPS steps: the rows, 2 columns, corner of each invocation, 8 bytes, in and out.
    tile = 2 * 8 * (strip + 2 + 1) / (2 * steps * strip)
    storage = (8 * (rows - 1) + 9 * rows) / m + tile * (columns - 1) / columns
    together = max(1, min(2**10, 2**18 // math.ceil(m)))  # pairs, see `Blocked._tables`
    diagonals = math.ceil((total + (rows - 1) * (steps + lanes)) / steps)
    dispatches = math.ceil(run.count / together) * diagonals
    return Traffic(f"recurrence {run.gaps}", *_sweep(run), storage, dispatches=dispatches)


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


_COLUMNS = 6 * 4 + 4 + 1
"""Bytes per cell of row_columns.glsl: H', F and the prefix of the row above and of this one, the
best score of the column, a letter."""


def _scan_blocks(run: EngineRun) -> Traffic:
    """Count two dispatches per row: scan_blocks.comp and scan_carries.comp."""
    shared, block = _scores(run)
    # scan_blocks.comp: 4 bytes in and out; of each 255 sums of 256 columns UP takes 12, DOWN 16.
    shared += 8 + 28 * (_BLOCK - 1) / _BLOCK
    dispatches = 2 * math.floor(run.lengths[0])
    return Traffic(f"recurrence {run.gaps}", shared, block, _COLUMNS, dispatches=dispatches)


def _scan_single(run: EngineRun) -> Traffic:
    """Count for a row a dispatch of scan_single.comp, and one of scan_step.comp per doubling."""
    m, n = run.lengths
    # Up to the last column, or where a gap costs more than any score, see `Scan._rows_in_steps`;
    # each step reads and writes 4 bytes a cell.
    farthest = min(n - 1, run.best * min(m, n) // run.extend) if run.extend else n - 1
    steps = int(farthest).bit_length()
    storage, dispatches = _COLUMNS + 8 * steps, math.floor(m) * (1 + steps)
    return Traffic(f"recurrence {run.gaps}", *_scores(run), storage, dispatches=dispatches)


def _scan_fused(run: EngineRun) -> Traffic:
    """Count for a strip of a block H and F of columns in and out, not into the first; a letter."""
    m, n = run.lengths
    group = run.subgroup or (8 if run.software else 32)
    each = max(4, 1 << (math.ceil(n / group) - 1).bit_length())
    each = min(32 if run.software else 16, each)
    blocks = math.ceil(n / (group * each))
    strips = math.ceil(m / ((256 if run.software else 64) if blocks > 1 else 512))
    shared, block = _scores(run)
    if not run.subgroup:
        # A row of an invocation passes its last column in shared memory: it writes 8 bytes and
        # reads 4 numbers and one more, and as many as there are doublings.
        shared += (8 + 4 * 4 + 4 + 8 * max(0, (group // 4 - 1).bit_length())) / each
    # A row of a block, as `Scan._plan` cuts them: H and E of the block before it, and its own.
    storage = (8 * (strips - 1) + 9 * strips) / m + (8 * blocks + 8 * (blocks - 1)) / n
    dispatches = strips + blocks - 1
    return Traffic(f"recurrence {run.gaps}", shared, block, storage, dispatches=dispatches)


def _wavefront(run: EngineRun) -> Traffic:
    """Count a dispatch per diagonal; a cell is 16 bytes."""
    # Written, read as a neighbour (H, E, F) and as a corner (H); the best score of the row.
    storage, dispatches = 16 + 12 + 4 + 4, math.floor(sum(run.lengths)) - 1
    return Traffic(f"recurrence {run.gaps}", *_scores(run), storage, dispatches=dispatches)


def _lanes(number: str, run: EngineRun) -> Traffic:
    """Count H and F of a column between strips, out and in: 8 bytes for a lane, 16 with f32."""
    m, _ = run.lengths
    targets, border = 1 if number == "int32" else 2, 16 if number == "f32" else 8
    height = 32  # rows of a strip as `Lanes._geometry` chooses them; it reads each letter once
    if not run.software:
        chain = 8 if run.subgroup >= 8 else 1
        options = range(8, 40 if number == "f16" else 32, 8)
        height = chain * min(options, key=lambda x: (math.ceil(m / (x * chain)) * (x + 3), -x))
    strips = math.ceil(m / height)
    # A score of query_profile.glsl, from shared memory on hardware, on software from a uniform
    # block, where a match and a mismatch need nothing. On software a strip is a dispatch.
    profile = 2.0 if number == "f16" else 4.0
    kind = {"int32": f"recurrence {run.gaps}", "f16": "recurrence half", "f32": "recurrence float"}
    return Traffic(
        kind[number] + " linear" * (run.linear and number != "int32"),
        shared=0.0 if run.software else profile,
        block=profile if run.software and not run.matching else 0.0,
        storage=(2 * border * (strips - 1) / targets + strips) / m,
        dispatches=strips if run.software else 1,
        words=True,
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
    # A tile loads and stores sides across j and k, and a plane of each invocation across i.
    i_words = (side + 1) ** 2 * lanes_j * lanes_k
    across = i_words, rows * j_words * lanes_k, rows * k_words * lanes_j
    stored = sum(each * (2 - 1 / count) for each, count in zip(across, tiles, strict=True))
    return Traffic(
        f"recurrence3 {run.gaps}",
        shared=2 * size * (j_words + k_words) / side**2,
        storage=size * stored / math.prod(tile),
        dispatches=sum(tiles) - 2 if run.software else 1,  # a diagonal plane of tiles
    )


def _plane(run: EngineRun) -> Traffic:
    """Count a dispatch per diagonal plane; a cell is 4 bytes, with affine gaps 32."""
    # It is written once; of the three planes before, H is read once from each, or what the seven
    # moves need: one, three and three numbers. The best score of a j and k: 4 bytes.
    cell, moves = (4, 3 * 4) if run.linear else (32, 7 * 4)
    dispatches = math.floor(sum(run.lengths)) - 2
    return Traffic(f"recurrence3 {run.gaps}", storage=cell + moves + 4, dispatches=dispatches)


TRAFFIC: Mapping[str, Callable[[EngineRun], Traffic]] = {
    "diagonal": _diagonal,
    "blocked": _blocked,
    "fragment": _fragment,
    "scan blocks": _scan_blocks,
    "scan single-stage": _scan_single,
    "scan fused": _scan_fused,
    "wavefront": _wavefront,
    **{f"lanes {number}": partial(_lanes, number) for number in ("int32", "f16", "f32")},
    "subtable": _subtable,
    "plane": _plane,
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
        fastest = max(filter(rates.__contains__, names), key=rates.__getitem__, default="")
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
