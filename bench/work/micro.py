"""What a device can do at most: operations, bytes, cells per second; the cost of commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from bench import micro_kernels, micro_loops
from bench.measure import WARM_UP, Measurement, measure
from bench.micro_kernels import Kernel
from bench.micro_loops import HARDWARE, SOFTWARE, Loop
from bench.work.base import Case, Setup, Told, Workload

CHAINS = 16
"""Numbers that an invocation computes at once."""

SHAPES = {
    "cells": ((8, 2), (16, 2)),
    "rows": ((16, 2), (32, 2)),
    "half": ((24, 2), (32, 2)),
    "float": ((16, 2),),
    "drawn": ((8, 2), (16, 2)),
}
"""Rows and columns per turn of `micro_kernels.recurrence`: the fastest shapes that were found."""

_WARM_UP_AGAIN = 0.25  # seconds before each but the first is timed: clocks fall meanwhile


class Micro(Workload):
    """The rates from which `bench.roofline` says what limits an engine; judged by NumPy."""

    name = "micro"
    rates: Mapping[str, tuple[str, str, str]]
    """Their units, what the device needs, and what they are."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.size = SOFTWARE if setup.software else HARDWARE
        if setup.size == "tiny":
            self.size = replace(self.size, memory=2**22, copied=2**22)
        self._warm = False

    def cases(self) -> Iterator[Case]:
        loops, size = self._loops(), self.size
        sizes = {"memory": size.memory / 2**20, "cached": size.cached / 2**10}
        for name, (unit, needs, what) in self.rates.items():
            start = partial(self._start, unit, needs, what.format(**sizes), loops[name])
            yield Case(name, start, task="rate", device=self.device)

    def _loops(self) -> dict[str, list[Callable[[], Loop]]]:
        """Return the loops of each rate, of which the fastest counts."""
        size, device, of = self.size, self.device, partial(partial, self._loop)
        chains = partial(of, micro_kernels.chains, CHAINS, size.rounds)
        found: dict[str, list[Callable[[], Loop]]] = {
            "int32 add": [chains("add")],
            "int32 max": [chains("max")],
            "int32 add max": [chains("add max")],
            "fragment int32 add max": [chains("add max", shader="chains.frag")],
            "half add max": [chains("add max", half=True)],
            "shared bandwidth": [of(micro_kernels.shared, size.workgroup, size.rounds)],
            "uniform block lookup": [of(micro_kernels.uniform_block, 1, size.rounds)],
            "uniform block words": [of(micro_kernels.uniform_block, 4, size.rounds)],
            "texture lookup": [of(micro_kernels.texture, size.rounds)],
            "dispatch": [partial(micro_loops.dispatches, device)],
            "draw": [partial(micro_loops.draws, device)],
            "draw thin": [partial(micro_loops.draws, device, 1)],
            "upload": [partial(micro_loops.transfer, device, size, upload=True)],
            "download": [partial(micro_loops.transfer, device, size, upload=False)],
        }
        for kind in ("write", "read", "copy", "cached"):
            found[f"storage {kind}"] = [partial(micro_loops.memory, device, kind, size)]
        for gaps, tail, linear in (("linear", " linear", True), ("affine", "", False)):
            kinds = {f"recurrence {gaps}": "cells rows", f"fragment recurrence {gaps}": "drawn"}
            kinds |= {f"recurrence half{tail}": "half", f"recurrence float{tail}": "float"}
            recurrence = partial(of, micro_kernels.recurrence, size.turns, linear)
            for name, some in kinds.items():
                shapes = [(kind, *shape) for kind in some.split() for shape in SHAPES[kind]]
                found[name] = [recurrence(*shape) for shape in shapes]
            recurrence3 = partial(of, micro_kernels.recurrence3, size.turns, linear)
            found[f"recurrence3 {gaps}"] = [recurrence3(side) for side in (2, 4)]
        return found

    def _loop(self, build: Callable[..., Kernel], *words: Any, **options: Any) -> Loop:
        kernel = build(*words, **options)
        fragment = kernel.shader.endswith(".frag")
        kind = micro_loops.drawn if fragment else micro_loops.computed
        return kind(self.device, kernel, self.size)

    # how each is measured

    def _start(
        self, unit: str, needs: str, what: str, loops: list[Callable[[], Loop]], seconds: float
    ) -> Told:
        info = self.device.info
        if needs and not info.compute:
            raise ValueError("no compute shaders: they need OpenGL 4.3")
        if needs == "half" and not info.half:
            raise ValueError("no 16-bit floats in shaders")
        self.device.activate()  # frees what the last one dropped
        budget = max(seconds, 0.0 if self.setup.software else 0.3)
        found = []
        for make in loops:
            loop = make()
            checked = loop.check(1, loop.run(1))
            if not checked.passed:  # if one of them is wrong, only that it is
                return Told(Measurement(checked, 0), {"note": what})
            count, speed = self._enough(loop, budget)
            found.append((speed * loop.work, count, loop))
        _, count, loop = max(found, key=lambda each: each[0])
        warm_up = 0.0 if self.setup.software else _WARM_UP_AGAIN if self._warm else WARM_UP
        self._warm = True
        words: dict[str, Any] = {"budget": budget + warm_up, "warm_up": warm_up, "cells": 0}
        run, check = partial(loop.run, count), partial(loop.check, count)
        measured = measure(run, check, device=self.device, **words)
        note = f"{what} ({loop.form})" if loop.form else what
        facts: dict[str, Any] = {"unit": unit, "note": note, "cells": None}
        clock = measured.wall if loop.by_wall else measured.device or measured.wall
        if clock:
            each = clock.median / (count * loop.work)
            facts |= {"rate": each if unit == "s" else 1 / each, "spread": clock.spread}
        return Told(measured, facts)

    def _enough(self, loop: Loop, budget: float) -> tuple[int, float]:
        """Return how much of something takes a suitable time, and its rate per second."""

        def timed(count: int) -> float:
            start = time.perf_counter()
            loop.run(count)
            return time.perf_counter() - start

        seconds, count = min(self.size.seconds, budget / 4), 1
        while (taken := timed(count)) < seconds / 4 and count < loop.most:
            count = min(loop.most, 4 * count)
        if not self.setup.software:  # again, since the clocks have risen by now
            loop.run(max(1, min(loop.most, round(count * seconds / taken))))
            taken = timed(count)
        return max(1, min(loop.most, round(count * seconds / taken))), count / taken
