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

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

_STRIP = 8  # rows of an invocation of a sweep
_BLOCK = 256  # columns of a block of scan
_LEAN = 2**18  # letters from which `blocked` leaves out tiles, and so has no ceiling
_TEXELS = 2**21  # pairs times rows of a quad of `fragment`

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
class EngineRun:
    """A result of `bench.engines`, as far as it says what was done where.

    Parameters
    ----------
    engine : str
        As in `TRAFFIC`.
    lengths : tuple of float
        Letters of the query and, on average, of a target; or of three sequences.
    count : int
        Pairs or triples.
    linear : bool
    matching : bool
        Whether scores are two numbers, a match and a mismatch.
    best : float
        The highest score of a pair of letters.
    extend : float
        What a further gap position costs.
    ends : bool
        Whether end cells were asked for.
    software : bool
    subgroup : int
        Lanes of a subgroup, 0 without.
    """

    engine: str
    lengths: tuple[float, ...]
    count: int
    linear: bool = True
    matching: bool = True
    best: float = 1
    extend: float = 1
    ends: bool = True
    software: bool = False
    subgroup: int = 0

    @property
    def gaps(self) -> str:
        """Linear or affine."""
        return "linear" if self.linear else "affine"


class Traffic(NamedTuple):
    """What an engine needs at least: bytes a cell, and commands for all cells.

    Parameters
    ----------
    compute : str
        The rate of `bench.micro` that is its recurrence alone.
    shared, block, storage, texture : float
        Bytes a cell from and to shared memory, uniform blocks, storage buffers, and textures.
    dispatches, draws : int
    words : bool
        Whether it reads 16 bytes at a time from uniform blocks.
    """

    compute: str
    shared: float = 0.0
    block: float = 0.0
    storage: float = 0.0
    texture: float = 0.0
    dispatches: int = 0
    draws: int = 0
    words: bool = False


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
        """Operations a byte."""
        return self.operations / self.bytes

    @property
    def operations_per_second(self) -> float | None:
        """What it reached, in operations of the recurrence."""
        return None if self.cells_per_second is None else self.operations * self.cells_per_second


class Roof(NamedTuple):
    """A roof of a roofline: operations a second, or bytes a second times operations a byte."""

    name: str
    height: float
    slope: bool

    def at(self, intensity: float) -> float:
        """Return the operations a second that it allows with so many operations a byte.

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
    """Return the ceilings for so many cells, of those resources whose rate is known."""
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
            reason = f"{size:.3g} bytes a cell, at the rate of {fastest}"
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


# what engines need


def _sweep(run: EngineRun) -> tuple[float, float]:
    """Return the bytes a cell of sweep.glsl from shared memory and uniform blocks.

    For a column an invocation of 8 rows reads H and F above it, writes those below (8 bytes each),
    and reads a letter (4). Scores: of a match and a mismatch nothing on software, else 4 bytes,
    from a uniform block on software and from shared memory on hardware.
    """
    shared, block = _scores(run)
    return (8 + 8 + 4) / _STRIP + shared, block


def _scores(run: EngineRun) -> tuple[float, float]:
    """Return the bytes of a score from shared memory and uniform blocks, see scoring.glsl."""
    if not run.software:
        return 4.0, 0.0
    return 0.0, 0.0 if run.matching else 4.0


def _diagonal(run: EngineRun) -> Traffic:
    """Return what diagonal.comp needs.

    A column of a strip: H and F of the strip above (8 bytes, but for the first strip), those below
    (8), a letter. A dispatch has a strip of at most 4096 pairs (32 on software), see
    `Diagonal._fill`.
    """
    m, _ = run.lengths
    fitting = next((size for size in (16, 32, 64) if size * _STRIP >= m), 64)
    height = _STRIP * (8 if run.software else fitting)
    strips, together = math.ceil(m / height), 32 if run.software else 4096
    shared, block = _sweep(run)
    return Traffic(
        f"recurrence {run.gaps}",
        shared=shared,
        block=block,
        storage=(8 * (strips - 1) + 9 * strips) / m,
        dispatches=strips * math.ceil(run.count / together),
    )


def _blocked(run: EngineRun) -> Traffic:
    """Return what blocked_leaning.comp needs.

    A column of a strip: H and F above and below (8 bytes each), a letter. A tile of STEPS steps:
    the 8 rows, 2 columns and the corner of each invocation, 8 bytes, in and out. Dispatches: see
    `Blocked._lean`, for every pair.
    """
    m, n = run.lengths
    lanes = 8 if run.software else 32 if m < 2**11 else 64 if m < 2**13 else 128
    steps = 256 if run.software else lanes
    rows = math.ceil(m / (lanes * _STRIP))
    columns = math.ceil((math.ceil(n / 2) + lanes - 1) / steps)
    shared, block = _sweep(run)
    tile = 2 * 8 * (_STRIP + 2 + 1) / (2 * steps * _STRIP)
    return Traffic(
        f"recurrence {run.gaps}",
        shared=shared,
        block=block,
        storage=(8 * (rows - 1) + 9 * rows) / m + tile * (columns - 1) / columns,
        dispatches=run.count * (columns + 2 * (rows - 1)),
    )


def _fragment(run: EngineRun) -> Traffic:
    """Return what fragment.frag needs, with tiles of 8 x 8 cells.

    A tile fetches texels of 16 bytes: the pair, 8 letters, 8 of the profile; from its neighbours
    left and above their borders (H, with affine gaps another) and best cells (16 bytes, of scores
    4), and a corner. A quad has at most 2**21 / m pairs and takes a draw a diagonal of tiles.
    """
    m, n = run.lengths
    rows, columns = math.ceil(m / 8), math.ceil(n / 8)
    beside = (columns - 1) / columns
    above = (rows - 1) / rows
    border = 16 * (1 if run.linear else 2) + (16 if run.ends else 4)
    texels = 16 * 10 + border * (beside + above) + 16 * beside * above
    quads = math.ceil(run.count * m / _TEXELS)
    return Traffic(
        f"fragment recurrence {run.gaps}",
        texture=texels / 64,
        draws=quads * (rows + math.floor(n / 8) - 1),
    )


def _columns(run: EngineRun) -> float:
    """Return the bytes a cell of row_columns.glsl.

    H', F and the prefix of the row above, and of this one: six times 4. The best score of the
    column (4), a letter.
    """
    return 6 * 4 + 4 + 1


def _scan_blocks(run: EngineRun) -> Traffic:
    """Return what scan_blocks.comp and scan_carries.comp need: two dispatches a row.

    Shared memory of up_down.glsl: an invocation writes 4 bytes and reads 4; UP takes 12 bytes for
    each of 255 sums of 256 columns, DOWN 16.
    """
    shared, block = _scores(run)
    return Traffic(
        f"recurrence {run.gaps}",
        shared=shared + 8 + 28 * (_BLOCK - 1) / _BLOCK,
        block=block,
        storage=_columns(run),
        dispatches=2 * math.floor(run.lengths[0]),
    )


def _scan_single(run: EngineRun) -> Traffic:
    """Return what scan_single.comp and scan_step.comp need.

    A row takes a dispatch, and one for each doubling of the reach up to the last column or to where
    a gap costs more than any score, see `Scan._rows_in_steps`; each reads and writes 4 bytes a
    cell.
    """
    m, n = run.lengths
    farthest = n - 1
    if run.extend:
        farthest = min(farthest, run.best * min(m, n) // run.extend)
    steps = int(farthest).bit_length()
    shared, block = _scores(run)
    return Traffic(
        f"recurrence {run.gaps}",
        shared=shared,
        block=block,
        storage=_columns(run) + 8 * steps,
        dispatches=math.floor(m) * (1 + steps),
    )


def _scan_fused(run: EngineRun) -> Traffic:
    """Return what scan.comp needs, with blocks as `Scan._plan` cuts them.

    A strip of rows of a block: H and F of the columns in and out (8 bytes each, not into the
    first strip), a letter. A row of a block: H and E of the block before it, and its own. Without
    subgroups a row of an invocation passes its last column in shared memory: it writes 8 bytes and
    reads 4 numbers and one more, and as many as there are doublings.
    """
    m, n = run.lengths
    group = run.subgroup or (8 if run.software else 32)
    most = 32 if run.software else 16
    each = min(most, max(4, 1 << (math.ceil(n / group) - 1).bit_length()))
    blocks = math.ceil(n / (group * each))
    rows = (256 if run.software else 64) if blocks > 1 else 512
    strips = math.ceil(m / rows)
    shared, block = _scores(run)
    if not run.subgroup:
        shared += (8 + 4 * 4 + 4 + 8 * max(0, (group // 4 - 1).bit_length())) / each
    return Traffic(
        f"recurrence {run.gaps}",
        shared=shared,
        block=block,
        storage=(8 * (strips - 1) + 9 * strips) / m + (8 * blocks + 8 * (blocks - 1)) / n,
        dispatches=strips + blocks - 1,
    )


def _wavefront(run: EngineRun) -> Traffic:
    """Return what wavefront.comp needs: a dispatch a diagonal.

    A cell is 16 bytes; it is written, and read as a neighbour (H, E, F) and as a corner (H). The
    best score of the row: 4 bytes.
    """
    m, n = run.lengths
    shared, block = _scores(run)
    return Traffic(
        f"recurrence {run.gaps}",
        shared=shared,
        block=block,
        storage=16 + 12 + 4 + 4,
        dispatches=math.floor(m + n) - 1,
    )


def _lanes(number: str) -> Callable[[EngineRun], Traffic]:
    """Return what lanes.comp needs with some kind of number; subjects share a lane but for int32.

    Between strips H and F of a column, 8 bytes for a lane (16 with 32-bit floats), go out and come
    in again; a strip reads each letter once. Rows of a strip as `Lanes._geometry` chooses them. A
    row of a column reads its score from the query profile, see query_profile.glsl: 4 bytes, for two
    subjects with 16-bit floats 2 each; from shared memory on hardware, on software from a uniform
    block, where a match and a mismatch need nothing. On software a strip is a dispatch.
    """
    subjects = 1 if number == "int32" else 2
    rate = {"int32": "recurrence", "f16": "recurrence half", "f32": "recurrence float"}[number]
    border = 16 if number == "f32" else 8

    def lanes(run: EngineRun) -> Traffic:
        m, _ = run.lengths
        if run.software:
            height = 32
        else:
            chain = 8 if run.subgroup >= 8 else 1
            options = range(8, 40 if number == "f16" else 32, 8)
            height = chain * min(
                options, key=lambda rows: (math.ceil(m / (rows * chain)) * (rows + 3), -rows)
            )
        strips = math.ceil(m / height)
        profile = 2.0 if number == "f16" else 4.0
        name = f"{rate} {run.gaps}" if number == "int32" else rate + " linear" * run.linear
        return Traffic(
            name,
            shared=0.0 if run.software else profile,
            block=profile if run.software and not run.matching else 0.0,
            storage=(2 * border * (strips - 1) / subjects + strips) / m,
            dispatches=strips if run.software else 1,
            words=True,
        )

    return lanes


def _subtable(run: EngineRun) -> Traffic:
    """Return what subtable.comp needs, with the tiles that `_Forms` and `Form` choose for scores.

    A row of a sub-table takes its words along j and along k from shared memory and leaves as many.
    A tile loads and stores sides across j and k, and a plane of each invocation across i. A
    dispatch is a diagonal plane of tiles, see `Plan.waves`.
    """
    length = run.lengths
    side = 2 if run.software and not run.linear else 4
    lanes_j, lanes_k = (8, 8) if run.software else (16, 8)
    short, long = (16, 128) if run.software else (8, 32)
    rows = long if length[0] > 2 * short else short
    size = 4 if run.linear else 8
    j_words, k_words = ((side + 2) // 2, (side + 1) // 2) if run.linear else (side + 1, side)
    tile = rows, side * lanes_j, side * lanes_k
    tiles = [math.ceil(x / y) for x, y in zip(length, tile, strict=True)]
    across = [
        (side + 1) ** 2 * lanes_j * lanes_k,
        rows * j_words * lanes_k,
        rows * k_words * lanes_j,
    ]
    stored = sum(each * (2 - 1 / count) for each, count in zip(across, tiles, strict=True))
    return Traffic(
        f"recurrence3 {run.gaps}",
        shared=2 * size * (j_words + k_words) / side**2,
        storage=size * stored / math.prod(tile),
        dispatches=sum(tiles) - 2,
    )


def _plane(run: EngineRun) -> Traffic:
    """Return what plane.comp needs: a dispatch a diagonal plane.

    A cell is 4 bytes, with affine gaps 32, and is written once; of the three planes before, H is
    read once from each, or what the seven moves need: one, three and three numbers. The best score
    of a j and k: 4 bytes.
    """
    cell, moves = (4, 3 * 4) if run.linear else (32, 7 * 4)
    return Traffic(
        f"recurrence3 {run.gaps}",
        storage=cell + moves + 4,
        dispatches=math.floor(sum(run.lengths)) - 2,
    )


TRAFFIC: Mapping[str, Callable[[EngineRun], Traffic]] = {
    "diagonal": _diagonal,
    "blocked": _blocked,
    "fragment": _fragment,
    "scan blocks": _scan_blocks,
    "scan single-stage": _scan_single,
    "scan fused": _scan_fused,
    "wavefront": _wavefront,
    "lanes int32": _lanes("int32"),
    "lanes f16": _lanes("f16"),
    "lanes f32": _lanes("f32"),
    "subtable": _subtable,
    "plane": _plane,
}
"""What each engine needs at least; those without OpenGL, and programs of others, have no entry."""
