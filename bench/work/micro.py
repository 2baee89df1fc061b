"""What a device can do at most: operations, bytes, cells per second; the cost of commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

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


class Rate(NamedTuple):
    """Unit, what the device needs, what it is, and loops of which the fastest counts."""

    name: str
    unit: str
    needs: str
    what: str
    loops: Sequence[Callable[[], Loop]]


class Micro(Workload):
    """The rates from which `bench.roofline` says what limits an engine; judged by NumPy."""

    name = "micro"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.size = SOFTWARE if setup.software else HARDWARE
        if setup.size == "tiny":
            self.size = replace(self.size, memory=2**22, copied=2**22)
        self._warm = False

    def cases(self) -> Iterator[Case]:
        """Yield what is measured, the same names on every device."""
        for rates in (self._operations, self._recurrences, self._memory, self._commands):
            for rate in rates():
                start = partial(self._start, rate)
                yield Case(rate.name, start, task="rate", device=self.device)

    def _of(self, build: Callable[..., Kernel], *words: Any, **options: Any) -> Callable[[], Loop]:
        def made() -> Loop:
            kernel = build(*words, **options)
            kind = "drawn" if kernel.shader.endswith(".frag") else "computed"
            loop: Loop = getattr(micro_loops, kind)(self.device, kernel, self.size)
            return loop

        return made

    def _operations(self) -> Iterator[Rate]:
        where = "on 32-bit integers in registers of a compute shader"
        chains = partial(self._of, micro_kernels.chains, CHAINS, self.size.rounds)
        yield Rate("int32 add", "op/s", "compute", f"x + y {where}", [chains("add")])
        yield Rate("int32 max", "op/s", "compute", f"max(x, y) {where}", [chains("max")])
        what = f"max(x - z, y), which counts as two operations, {where}"
        yield Rate("int32 add max", "op/s", "compute", what, [chains("add max")])
        loops = [chains("add max", shader="chains.frag")]
        yield Rate("fragment int32 add max", "op/s", "", "the same in a fragment shader", loops)
        what = "the same on pairs of 16-bit floats, which counts as four operations"
        yield Rate("half add max", "op/s", "half", what, [chains("add max", half=True)])

    def _recurrences(self) -> Iterator[Rate]:
        turns = self.size.turns
        for gaps, linear in (("linear", True), ("affine", False)):
            what = f"the recurrence with {gaps} gaps, in registers without loads and stores"
            tail = " linear" * linear
            for name, kinds, text, needs in (
                (f"recurrence {gaps}", ("cells", "rows"), "32-bit integers", "compute"),
                (f"fragment recurrence {gaps}", ("drawn",), "fragment shader", ""),
                (f"recurrence half{tail}", ("half",), "pairs of 16-bit floats", "half"),
                (f"recurrence float{tail}", ("float",), "pairs of 32-bit floats", "compute"),
            ):
                shapes = [(kind, *shape) for kind in kinds for shape in SHAPES[kind]]
                loops = [
                    self._of(micro_kernels.recurrence, turns, linear, *each) for each in shapes
                ]
                yield Rate(name, "cell/s", needs, f"{what}, {text}", loops)
            what = f"the same of three sequences, by identity, with {gaps} gaps"
            loops = [self._of(micro_kernels.recurrence3, turns, linear, side) for side in (2, 4)]
            yield Rate(f"recurrence3 {gaps}", "cell/s", "compute", what, loops)

    def _memory(self) -> Iterator[Rate]:
        size, of = self.size, self._of
        loops = [of(micro_kernels.shared, size.workgroup, size.rounds)]
        what = "reads of shared memory, 16 bytes"
        yield Rate("shared bandwidth", "byte/s", "compute", what, loops)
        for name, width in (("lookup", 1), ("words", 4)):
            what = f"reads of a uniform block, {4 * width} bytes, places that differ in a subgroup"
            loops = [of(micro_kernels.uniform_block, width, size.rounds)]
            yield Rate(f"uniform block {name}", "byte/s", "compute", what, loops)
        what = "texelFetch of 16 bytes in a fragment shader, from a texture of 16 KiB"
        yield Rate("texture lookup", "byte/s", "", what, [of(micro_kernels.texture, size.rounds)])
        buffer = f"a storage buffer of up to {size.memory / 2**20:g} MiB"
        for kind, what in (
            *(("write", f"writes to {buffer}"), ("read", f"reads of {buffer}")),
            ("copy", f"reads and writes of a copy of {buffer}"),
            ("cached", f"reads of a storage buffer of {size.cached / 2**10:g} KiB"),
        ):
            loops = [partial(micro_loops.memory, self.device, kind, size)]
            yield Rate(f"storage {kind}", "byte/s", "compute", what, loops)

    def _commands(self) -> Iterator[Rate]:
        dispatches, draws, transfer = (
            partial(loop, self.device)
            for loop in (micro_loops.dispatches, micro_loops.draws, micro_loops.transfer)
        )
        each = "of next to nothing, each needs the one before"
        yield Rate("dispatch", "s", "compute", f"a dispatch and a barrier, {each}", [dispatches])
        yield Rate("draw", "s", "", f"a draw into a target of 64 x 64, {each}", [draws])
        what = f"a draw into a row of 64 pixels, {each}"
        yield Rate("draw thin", "s", "", what, [partial(draws, 1)])
        for name, what in (
            *(("upload", "from an array to a buffer"), ("download", "from a buffer to an array")),
        ):
            loops = [partial(transfer, self.size, upload=name == "upload")]
            yield Rate(name, "byte/s", "", what, loops)

    # how each is measured

    def _start(self, rate: Rate, seconds: float) -> Told:
        info = self.device.info
        if rate.needs and not info.compute:
            raise ValueError("no compute shaders: they need OpenGL 4.3")
        if rate.needs == "half" and not info.half:
            raise ValueError("no 16-bit floats in shaders")
        self.device.activate()  # frees what the last one dropped
        budget = max(seconds, 0.0 if self.setup.software else 0.3)
        found = []
        for make in rate.loops:
            loop = make()
            checked = loop.check(1, loop.run(1))
            if not checked.passed:  # if one of them is wrong, only that it is
                return Told(Measurement(checked, 0), {"note": rate.what})
            count, speed = self._enough(loop, budget)
            found.append((speed * loop.work, count, loop))
        _, count, loop = max(found, key=lambda each: each[0])
        warm_up = 0.0 if self.setup.software else _WARM_UP_AGAIN if self._warm else WARM_UP
        self._warm = True
        words: dict[str, Any] = {"budget": budget + warm_up, "warm_up": warm_up, "cells": 0}
        run, check = partial(loop.run, count), partial(loop.check, count)
        measured = measure(run, check, device=self.device, **words)
        note = f"{rate.what} ({loop.form})" if loop.form else rate.what
        facts: dict[str, Any] = {"unit": rate.unit, "note": note, "cells": None}
        clock = measured.wall if loop.by_wall else measured.device or measured.wall
        if clock:
            each = clock.median / (count * loop.work)
            facts |= {"rate": each if rate.unit == "s" else 1 / each, "spread": clock.spread}
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
