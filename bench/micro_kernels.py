"""Loops of shaders for `bench.work.micro`, and what NumPy says that they must find."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Found = npt.NDArray[np.uint32]
SEEDS = 64  # invocations differ in their last six bits only, see results.glsl
OPEN, EXTEND, COSTS3 = 12, 2, {"opens": 9, "extends": 2}
SCORES = {"match": 5, "mismatch": -4}
_FIRST, _COST, _FACTOR = 101, 3, 40503
_OPERATIONS: Mapping[str, tuple[int, int, Callable[[Any, Any], Any]]] = {
    "add": (0, 1, np.add),
    "max": (1, 1, np.maximum),
    "add max": (2, 2, lambda x, y: np.maximum(x - _COST, y)),
}
"""Their numbers in chains.glsl, how many operations each is, and what it does."""
_INT, _HALF, _FLOAT = 0, 1, 2  # as number.glsl has them
_TEXELS = 32  # along both sides of the table of texture.frag


@dataclass(frozen=True)
class Kernel:
    """A loop of a shader, and what it finds."""

    shader: str
    work: int  # operations, bytes or cells of an invocation
    expected: Found  # by an invocation of each seed, shape (SEEDS,); the next find the same
    defines: Mapping[str, int | None]
    uniforms: Mapping[str, int] = field(default_factory=dict)
    form: str = ""  # what distinguishes it from others for the same purpose


def chains(
    count: int, rounds: int, operation: str, half: bool = False, shader: str = "chains.comp"
) -> Kernel:
    """Return ``count`` numbers, each computed from itself and the next one in every round."""
    parts = 2 if half else 1
    number, cost, step = _OPERATIONS[operation]
    start = (np.arange(SEEDS)[:, None] * 37 + np.arange(count) * _FIRST) & 1023
    x = np.stack([start, start ^ 341][:parts], axis=-1).astype(np.int32)
    for _ in range(rounds):
        x[:, :-1] = step(x[:, :-1], x[:, 1:])
        x[:, -1] = step(x[:, -1], x[:, 0])
    defines = {"NUMBER": _HALF if half else _INT, "OPERATION": number}
    defines |= {"CHAINS": count, "ROUNDS": rounds}
    uniforms = {"first": _FIRST, "cost": _COST}
    found = _mixed(x.reshape(SEEDS, -1))
    return Kernel(f"micro/{shader}", count * rounds * cost * parts, found, defines, uniforms)


def recurrence(turns: int, linear: bool, form: str, rows: int, step: int) -> Kernel:
    """Return the recurrence alone.

    Forms: ``cells`` as `sweep.glsl`, ``drawn`` the same in a fragment shader; ``rows``, ``half``
    and ``float`` as `lanes.comp` with these numbers.
    """
    files = {"cells": "micro/cells.comp", "drawn": "micro/cells.frag"}
    numbers = {"rows": _INT, "half": _HALF, "float": _FLOAT}
    parts = 2 if form in ("half", "float") else 1
    defines = {"NUMBER": numbers.get(form), "ROWS": rows, "STEP": step, "TURNS": turns}
    return Kernel(
        files.get(form, "micro/rows.comp"),
        rows * step * turns * parts,
        tables(rows, step, turns, linear, parts)[0],
        {**defines, "LINEAR": 1 if linear else None},
        {**SCORES, **gap_costs(linear)},
        f"{rows} rows x {step} column{'s' * (step > 1)}",
    )


def gap_costs(linear: bool) -> dict[str, int]:
    """Return the uniforms of gap_costs.glsl."""
    extend = OPEN if linear else EXTEND
    return {
        f"{gap}_{word}": cost
        for gap in ("gap", "insertion")
        for word, cost in (("open", OPEN), ("extend", extend))
    }


def tables(rows: int, step: int, turns: int, linear: bool, parts: int) -> tuple[Found, int]:
    """Return what is found, and the best score; F is a prefix maximum, not as in the shaders."""
    costs = gap_costs(linear)
    opened, extended = costs["gap_open"], costs["gap_extend"]
    seeds = np.arange(SEEDS * parts)
    scores, fall = made_up(seeds, rows), np.arange(rows) * extended
    h = np.zeros((len(seeds), rows), np.int64)
    e, best = np.zeros_like(h), np.zeros(len(seeds), np.int64)
    corner = np.zeros_like(best)
    below = [(np.zeros_like(best), np.zeros_like(best))] * step
    for column in range(turns * step):
        above_h, above_f = below[column % step]
        diagonal = np.column_stack([corner, h[:, :-1]])
        m = diagonal + scores[:, (np.arange(rows) + 5 * (column % step)) % rows]
        e = np.maximum(h - opened, e - extended)
        without_f = np.maximum(np.maximum(m, e), 0)
        opens = np.maximum.accumulate(without_f + fall, axis=1)[:, :-1] - fall[:-1] - opened
        f = above_f[:, None] - fall
        f[:, 1:] = np.maximum(f[:, 1:], opens)
        h = np.maximum(without_f, f)
        best = np.maximum(best, m.max(axis=1))
        corner = above_h
        below[column % step] = h[:, -1], np.maximum(h[:, -1] - opened, f[:, -1] - extended)
    found = np.column_stack([best, h]).reshape(parts, SEEDS, rows + 1)
    return _mixed(found.transpose(1, 0, 2).reshape(SEEDS, -1)), int(best.max())


def made_up(seeds: npt.NDArray[np.int64], rows: int) -> npt.NDArray[np.int64]:
    """Return the scores of the rows of each seed as scores.glsl has them, shape (S, rows)."""
    mixed = (seeds[:, None] * 64 + np.arange(rows) + 1) * 2654435761 % 2**32
    return np.where(mixed >> 13 & 3 == 0, SCORES["match"], SCORES["mismatch"])


def recurrence3(turns: int, linear: bool, side: int) -> Kernel:
    """Return the recurrence of three sequences alone, by identity: as `cube.glsl`."""
    defines = {"SIDE": side, "ROWS": side * side, "TURNS": turns, "IDENTITY": 1}
    return Kernel(
        "micro/cells3.comp",
        side * side * turns,
        _planes(side, turns, linear),
        {**defines, "LINEAR": 1 if linear else None},
        {**SCORES, **COSTS3},
        f"planes of {side} x {side}",
    )


def _planes(side: int, turns: int, linear: bool) -> Found:
    opens = COSTS3["opens"]
    extends = opens if linear else COSTS3["extends"]
    scores = made_up(np.arange(SEEDS), side * side)
    # H and X of ab, ac, bc, a, b, c; with linear gaps X is H - opens.
    before = np.full((7, side + 1, side + 1, SEEDS), -opens, np.int64)
    before[0] = 0
    best = np.zeros(SEEDS, np.int64)
    for _ in range(turns):
        here = np.zeros_like(before)
        here[:, 0] = before[:, side]
        here[:, :, 0] = before[:, :, side]
        for y in range(1, side + 1):
            for z in range(1, side + 1):
                two = before[1, y - 1, z], before[2, y, z - 1], here[3, y - 1, z - 1]
                gaps = np.stack([*two, before[4, y, z], here[5, y - 1, z], here[6, y, z - 1]])
                aligned = before[0, y - 1, z - 1] + scores[:, (y - 1) * side + z - 1]
                h = np.maximum(np.maximum(aligned, 0), gaps.max(axis=0))
                here[0, y, z] = h
                here[1:, y, z] = h - opens if linear else np.maximum(h - opens, gaps - extends)
                best = np.maximum(best, h)
        before = here
    return _mixed(np.column_stack([best, before[0, 1:, 1:].reshape(-1, SEEDS).T]))


def shared(workgroup: int, turns: int) -> Kernel:
    """Return reads of shared memory; what is found depends on the place in the work group."""
    places = np.arange(4 * workgroup, dtype=np.int64)
    words = (((places * _FACTOR)[:, None] + np.arange(4)) % 2**32).reshape(4, workgroup, 4)
    found = np.zeros((workgroup, 4), np.int64)
    for turn in range(turns):
        found ^= np.bitwise_xor.reduce(np.roll(words, -turn, axis=1), axis=0)
    uniforms = {"factor": _FACTOR}
    return Kernel("micro/shared.comp", 64 * turns, _weighted(found), {"TURNS": turns}, uniforms)


def texture(turns: int) -> Kernel:
    """Return fetches of texels of 16 bytes, see `texture_table`."""
    at, table = _places(turns), texture_table().astype(np.int64)
    found = _weighted(table[(at >> 5) % _TEXELS, at % _TEXELS].sum(axis=1))
    return Kernel("micro/texture.frag", 16 * turns, found, {"TURNS": turns})


def texture_table() -> npt.NDArray[np.int32]:
    """Return what is in the texture, shape (32, 32, 4)."""
    return np.random.default_rng(2).integers(-1000, 1000, (_TEXELS, _TEXELS, 4), np.int32)


def _places(turns: int) -> npt.NDArray[np.int64]:
    """Return where the lookups of each seed look, shape (SEEDS, turns)."""
    turn = np.arange(turns)
    return np.arange(SEEDS)[:, None] * 37 + turn // 4 * 101 + turn % 4 * 67


def _weighted(sums: npt.NDArray[np.int64]) -> Found:
    """Return the four numbers of each row, shape (S, 4), as one."""
    return word((sums * [1, 3, 5, 7]).sum(axis=1))


def _mixed(values: npt.NDArray[np.integer]) -> Found:
    """Mix the values of each row into one number as the shaders do, shape (S, N) to (S,)."""
    found = np.zeros(len(values), np.uint32)
    for column in word(values).T:
        found = found * np.uint32(31) + column
    return found


def word(numbers: npt.NDArray[np.integer]) -> Found:
    """Return numbers as 32 bits hold them."""
    return numbers.astype(np.uint32)
