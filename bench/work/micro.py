"""What a device can do at most: operations, bytes, cells per second; the cost of commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from bench import micro_kernels
from bench.measure import WARM_UP, Check, Measurement, measure
from bench.micro_kernels import Kernel
from bench.micro_loops import HARDWARE, SOFTWARE, Dispatches, Drawn, Draws, Loop, Memory, Transfer
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


class Timed(NamedTuple):
    """A measurement and how much a run did; the form of the loop; whether the wall clock counts."""

    measured: Measurement
    work: float
    form: str = ""
    wall: bool = False


@dataclass(frozen=True)
class Rate:
    """What is measured: its name and unit, what it is, and what the device needs for it."""

    name: str
    unit: str
    what: str
    run: Callable[[float], Timed]
    needs: str = ""


class Micro(Workload):
    """The rates from which `bench.roofline` says what limits an engine; judged by NumPy."""

    name, weight = "micro", 20
    text = "the device itself: operations, recurrences, bytes, dispatches, draws"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.size = SOFTWARE if setup.software else HARDWARE
        if setup.size == "tiny":
            self.size = replace(self.size, memory=2**22, copied=2**22)
        self._warm = False
        self._kept: Memory | None = None

    def cases(self) -> Iterator[Case]:
        for rate in self.rates():
            yield Case(rate.name, partial(self._start, rate), task="rate", device=self.device)

    def _start(self, rate: Rate, seconds: float) -> Told:
        info = self.device.info
        if rate.needs and not info.compute:
            raise ValueError("no compute shaders: they need OpenGL 4.3")
        if rate.needs == "half" and not info.half:
            raise ValueError("no 16-bit floats in shaders")
        timed = rate.run(max(seconds, 0.0 if self.setup.software else 0.3))
        form = f" ({timed.form})" if timed.form else ""
        facts: dict[str, Any] = {"unit": rate.unit, "note": rate.what + form, "cells": None}
        measured = timed.measured
        clock = measured.wall if timed.wall else measured.device or measured.wall
        if clock:
            work = timed.work
            facts["rate"] = clock.median / work if rate.unit == "s" else work / clock.median
            facts["spread"] = clock.spread
        return Told(measured, facts)

    def rates(self) -> Iterator[Rate]:
        """Yield what is measured, the same names on every device."""
        yield from self._operations()
        yield from self._recurrences()
        yield from self._memory()
        each = "of next to nothing, each needs the one before"
        for name, what, make, needs in (
            ("dispatch", f"a dispatch and a barrier, {each}", Dispatches, "compute"),
            ("draw", f"a draw into a target of 64 x 64, {each}", Draws, ""),
            ("draw thin", f"a draw into a row of 64 pixels, {each}", partial(Draws, rows=1), ""),
        ):
            yield Rate(name, "s", what, partial(self._in_turn, make), needs)
        for name, what in (
            ("upload", "an array to a buffer"),
            ("download", "a buffer to an array"),
        ):
            yield Rate(name, "byte/s", f"from {what}", partial(self._transferred, name))

    def _operations(self) -> Iterator[Rate]:
        def chains(operation: str, **options: Any) -> Callable[[float], Timed]:
            rounds = self.size.rounds
            return self._loops(partial(micro_kernels.chains, operation, CHAINS, rounds, **options))

        where = "on 32-bit integers in registers of a compute shader"
        both = "max(x - z, y), which counts as two operations,"
        yield Rate("int32 add", "op/s", f"x + y {where}", chains("add"), "compute")
        yield Rate("int32 max", "op/s", f"max(x, y) {where}", chains("max"), "compute")
        yield Rate("int32 add max", "op/s", f"{both} {where}", chains("add max"), "compute")
        drawn = chains("add max", shader="chains.frag")
        yield Rate("fragment int32 add max", "op/s", "the same in a fragment shader", drawn)
        packed = "the same on pairs of 16-bit floats, which counts as four operations"
        yield Rate("half add max", "op/s", packed, chains("add max", half=True), "half")

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
                forms = [
                    partial(micro_kernels.recurrence, kind, *shape, turns, linear=linear)
                    for kind in kinds
                    for shape in SHAPES[kind]
                ]
                yield Rate(name, "cell/s", f"{what}, {text}", self._loops(*forms), needs)
            planes = [
                partial(micro_kernels.recurrence3, side, turns, linear=linear) for side in (2, 4)
            ]
            three = f"the same of three sequences, by identity, with {gaps} gaps"
            yield Rate(f"recurrence3 {gaps}", "cell/s", three, self._loops(*planes), "compute")

    def _memory(self) -> Iterator[Rate]:
        size, unit = self.size, "byte/s"
        shared = self._loops(partial(micro_kernels.shared, size.workgroup, size.rounds))
        yield Rate("shared bandwidth", unit, "reads of shared memory, 16 bytes", shared, "compute")
        for name, width in (("lookup", 1), ("words", 4)):
            text = f"reads of a uniform block, {4 * width} bytes, places that differ in a subgroup"
            block = self._loops(partial(micro_kernels.uniform_block, width, size.rounds))
            yield Rate(f"uniform block {name}", unit, text, block, "compute")
        texture = self._loops(partial(micro_kernels.texture, size.rounds))
        text = "texelFetch of 16 bytes in a fragment shader, from a texture of 16 KiB"
        yield Rate("texture lookup", unit, text, texture)
        shown = f"a storage buffer of up to {size.memory / 2**20:g} MiB"
        kept = f"a storage buffer of {size.cached / 2**10:g} KiB"
        for kind, text in (
            *(("write", f"writes to {shown}"), ("read", f"reads of {shown}")),
            *(("copy", f"reads and writes of a copy of {shown}"), ("cached", f"reads of {kept}")),
        ):
            yield Rate(f"storage {kind}", unit, text, partial(self._moved, kind), "compute")

    # how each is measured

    def _loops(self, *made: Callable[[], Kernel]) -> Callable[[float], Timed]:
        return lambda budget: self._best([make() for make in made], budget)

    def _best(self, made: Sequence[Kernel], budget: float) -> Timed:
        """Measure the kernel with the highest rate; if one of them is wrong, only that it is."""
        best: tuple[float, Any, int, str] | None = None
        for kernel in made:
            kind: Any = Drawn if kernel.shader.endswith(".frag") else Loop
            work = kind(self.device, kernel, self.size)
            checked = work.check(1, work.run(1))
            if not checked.passed:
                return Timed(Measurement(checked, 0), 1, kernel.form)
            count, rate = self._enough(work.run, work.most, budget)
            if best is None or rate * work.work > best[0]:
                best, old = (rate * work.work, work, count, kernel.form), best
                work = old and old[1]
            if work:
                work.release()
        assert best is not None
        _, work, count, form = best
        found = self._measure(work.run, work.check, count, budget)
        work.release()
        return Timed(found, count * work.work, form)

    def _moved(self, kind: str, budget: float) -> Timed:
        if self._kept is None:
            self._kept = Memory(self.device, self.size)
            self._kept.write(1)
        memory = self._kept
        run, check = getattr(memory, kind), getattr(memory, f"check_{kind}")
        count, _ = self._enough(run, memory.most, budget)
        found = self._measure(run, check, count, budget)
        return Timed(found, float(count * memory.bytes * (2 if kind == "copy" else 1)))

    def _transferred(self, kind: str, budget: float) -> Timed:
        transfer = Transfer(self.device, self.size)
        run, check = getattr(transfer, kind), getattr(transfer, f"check_{kind}")
        found = self._measure(lambda _: run(), lambda _, done: check(done), 1, budget)
        transfer.release()
        return Timed(found, float(transfer.bytes), wall=True)

    def _in_turn(self, make: Callable[..., Any], budget: float) -> Timed:
        """Measure many dispatches or draws, one after the other."""
        work = make(self.device)
        count, _ = self._enough(work.run, work.most, budget)
        found = self._measure(work.run, work.check, count, budget)
        work.release()
        return Timed(found, float(count), wall=True)

    def _measure(
        self,
        run: Callable[[int], Any],
        check: Callable[[int, Any], Check],
        count: int,
        budget: float,
    ) -> Measurement:
        warm_up = 0.0 if self.setup.software else _WARM_UP_AGAIN if self._warm else WARM_UP
        self._warm = True
        some, judged = partial(run, count), partial(check, count)
        words: dict[str, Any] = {"cells": 0, "device": self.device, "warm_up": warm_up}
        return measure(some, judged, budget=budget + warm_up, **words)

    def _enough(self, run: Callable[[int], Any], most: int, budget: float) -> tuple[int, float]:
        """Return how much of something takes a suitable time, and its rate per second."""
        seconds, count = min(self.size.seconds, budget / 4), 1
        run(1)
        while True:
            taken = _seconds(run, count)
            if taken >= seconds / 4 or count == most:
                break
            count = min(most, 4 * count)
        if not self.setup.software:  # again, since the clocks have risen by now
            run(max(1, min(most, round(count * seconds / taken))))
            taken = _seconds(run, count)
        return max(1, min(most, round(count * seconds / taken))), count / taken


def _seconds(run: Callable[[int], Any], count: int) -> float:
    start = time.perf_counter()
    run(count)
    return time.perf_counter() - start


WORKLOADS = (Micro,)
