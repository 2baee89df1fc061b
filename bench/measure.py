"""Check, warm up, time: in that order, so that no number comes from a wrong engine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from glsw.device.device import Device

WARM_UP, AGAIN = 1.0, 0.1  # seconds of work before hardware is timed: an idle card clocks low
COOLS = 1.0  # seconds without work after which it does: an H100 is at half its speed after 2
ENOUGH, LEAST = 0.02, 0.3  # repeats end when the spread is this small, after these seconds
FEWEST, MOST = 3, 200  # repeats, unless the budget ends them earlier
SHORT = 0.25  # seconds of a run up to which the budget ends no repeats before the fewest
LONG = 10.0  # seconds from which a command is run once
Result = TypeVar("Result")


@dataclass(frozen=True)
class Check:
    """How many of the pairs that were compared had another result than ``judge`` gave."""

    judge: str
    pairs: int
    wrong: int
    first: str | None = None

    @property
    def passed(self) -> bool:
        return self.pairs > 0 and self.wrong == 0


@dataclass(frozen=True)
class Spread:
    """Seconds of the repeats; ``spread`` is their interquartile range over their median."""

    median: float
    minimum: float
    maximum: float
    spread: float | None
    repeats: int

    @classmethod
    def of(cls, seconds: list[float]) -> Spread:
        low, median, high = (float(x) for x in np.percentile(seconds, [25, 50, 75]))
        spread = (high - low) / median if len(seconds) > 1 else None
        return cls(median, min(seconds), max(seconds), spread, len(seconds))


@dataclass(frozen=True)
class Measurement:
    """What a program needed for ``cells`` cells; without times when a result was wrong.

    ``device`` is by the device's own clock, from the first command to the last one, and None where
    it has none or a run was too long for it. ``wall`` includes upload, download and Python.
    ``facts`` are other fields of the row.
    """

    check: Check
    cells: int = 0
    wall: Spread | None = None
    device: Spread | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rate(self) -> float | None:
        timed = self.wall and self.cells and self.check.passed
        return self.cells / self.wall.median if self.wall and timed else None

    def fields(self) -> dict[str, Any]:
        check = self.check
        found = {"judge": check.judge, "judged": check.pairs, "wrong": check.wrong}
        found |= {"first": check.first, "cells": self.cells or None}
        for name, times in (("wall", self.wall), ("clock", self.device)):
            if times and check.passed:
                found |= {name: times.median, f"{name}_min": times.minimum}
                found |= {f"{name}_max": times.maximum}
        if self.wall and check.passed:
            found |= {"spread": self.wall.spread, "repeats": self.wall.repeats}
        if self.rate:
            found |= {"rate": self.rate, "unit": "cell/s"}
        return found | {**self.facts}


def compare(found: npt.ArrayLike, expected: npt.ArrayLike, judge: str = "reference") -> Check:
    """Compare results, shape (N,) or (N, K), pair by pair."""
    got, want = np.asarray(found), np.asarray(expected)
    if got.shape != want.shape:
        return Check(judge, len(want), len(want), f"shape {got.shape}, expected {want.shape}")
    different = got != want
    if different.ndim > 1:
        different = different.any(axis=1)
    first = None
    if different.any():
        at = int(different.argmax())
        first = f"pair {at}: {got[at].tolist()}, expected {want[at].tolist()}"
    return Check(judge, len(want), int(different.sum()), first)


def both(first: Check, second: Check) -> Check:
    """Join two checks of the same work."""
    judges = dict.fromkeys(f"{first.judge}, {second.judge}".split(", "))
    return Check(
        ", ".join(judges),
        min(first.pairs, second.pairs) and max(first.pairs, second.pairs),
        first.wrong + second.wrong,
        first.first or second.first,
    )


def measure(
    run: Callable[[], Result],
    check: Callable[[Result], Check],
    *,
    cells: int,
    device: Device | None = None,
    budget: float = 10.0,
    warm_at: float = -math.inf,
    trusted: bool = False,
) -> Measurement:
    """Run, check what came out, warm up, and repeat until the spread is small.

    ``check`` judges the result of the first run and of each timed one: if one is wrong, no time is
    reported. After ``budget`` seconds, the first run and the warm-up included, no further repeat
    begins; one is always timed, and of short runs `FEWEST`. On hardware the warm-up takes
    `WARM_UP` seconds, or `AGAIN` if it was warm at ``warm_at``, no longer than `COOLS` ago. Work
    that is ``trusted`` was run and checked before: then the first run is timed.
    """
    start = time.perf_counter()
    if not trusted:
        checked = check(run())
        if not checked.passed:
            return Measurement(checked, cells)
    checked_at = time.perf_counter()
    warm_up = WARM_UP if checked_at - warm_at > COOLS else AGAIN
    while device and not device.info.software and time.perf_counter() - checked_at < warm_up:
        run()
    wall: list[float] = []
    clock: list[float] = []
    while not _settled(wall, time.perf_counter() - start, budget):
        begin = time.perf_counter()
        with device.timer() if device else nullcontext() as timer:
            result = run()
        wall.append(timer.wall if timer else time.perf_counter() - begin)
        if timer and timer.measured:
            clock.append(timer.seconds)
        checked = check(result)
        if not checked.passed:
            return Measurement(checked, cells)
    times = Spread.of(clock) if len(clock) == len(wall) else None
    return Measurement(checked, cells, Spread.of(wall), times)


def _settled(wall: list[float], elapsed: float, budget: float) -> bool:
    if not wall:
        return False
    few = len(wall) < FEWEST
    if len(wall) >= MOST or (elapsed + wall[-1] > budget and not (few and wall[-1] <= SHORT)):
        return True
    return not few and sum(wall) >= LEAST and (Spread.of(wall).spread or 0.0) <= ENOUGH


def commands(
    run: Callable[[], Result], check: Callable[[Result], Check], budget: float = math.inf
) -> tuple[Check, list[float]]:
    """Run a command once, and time it `FEWEST` times; one that is `LONG` only the first time.

    ``check`` judges each of them. After ``budget`` seconds one is timed. Return the last check and
    all seconds, the first included.
    """
    times: list[float] = []
    while not times or (times[0] <= LONG and len(times) <= FEWEST and sum(times[1:]) < budget):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
        checked = check(result)
        if not checked.passed:
            break
    return checked, times


def second_run(run: Callable[[], object]) -> float:
    """Return the seconds of the second of two runs: the first one may compile."""
    run()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
