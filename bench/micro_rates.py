"""The rates that `bench.micro` measures, and how each is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from bench import micro_kernels
from bench.measure import WARM_UP, Check, Measurement, measure
from bench.micro_kernels import Kernel
from bench.micro_loops import SOFTWARE, Dispatches, Drawn, Draws, Loop, Memory, Size, Transfer
from glsw.device.device import Device, DeviceInfo

CHAINS = 16
"""Numbers that an invocation computes at once."""

# Rows and columns per turn of `micro_kernels.recurrence`: the fastest shapes that were found.
SHAPES: dict[str, tuple[tuple[int, int], ...]] = {
    "cells": ((8, 2), (16, 2)),
    "rows": ((16, 2), (32, 2)),
    "half": ((24, 2), (32, 2)),
    "float": ((16, 2),),
    "drawn": ((8, 2), (16, 2)),
}

_WARM_UP_AGAIN = 0.25
"""Seconds of work before each but the first is timed: clocks fall meanwhile."""

Kind = Literal["write", "read", "copy", "cached"]


class Timed(NamedTuple):
    """A measurement and how much a run did; the form of the loop; whether the wall clock counts."""

    measured: Measurement
    work: float
    form: str = ""
    wall: bool = False


@dataclass(frozen=True)
class Rate:
    """What is measured: its name, its unit, what it is, and why it cannot be measured if so."""

    name: str
    unit: Literal["op/s", "byte/s", "cell/s", "s"]
    what: str
    run: Callable[[Runner, float], Timed]
    missing: str = ""


class Runner:
    """Measures one thing after the other on a device.

    Parameters
    ----------
    device : Device
    size : Size
    """

    def __init__(self, device: Device, size: Size) -> None:
        self.device, self.size = device, size
        self._warm = False
        self._memory: Memory | None = None

    def loops(self, made: Sequence[Kernel], budget: float) -> Timed:
        """Measure the kernel with the highest rate; if one of them is wrong, only that it is."""
        best: tuple[float, Loop | Drawn, int, str] | None = None
        for kernel in made:
            kind = Drawn if kernel.shader.endswith(".frag") else Loop
            work = kind(self.device, kernel, self.size)
            checked = work.check(1, work.run(1))  # type: ignore[arg-type]
            if not checked.passed:
                return Timed(Measurement(checked, 1), 1, kernel.form)
            count, rate = self._enough(work.run, work.most, budget)
            if best is None or rate * work.work > best[0]:
                if best is not None:
                    best[1].release()
                best = rate * work.work, work, count, kernel.form
            else:
                work.release()
        assert best is not None
        _, work, count, form = best
        found = self._measure(work.run, work.check, count, budget)
        work.release()
        return Timed(found, count * work.work, form)

    def moved(self, kind: Kind, budget: float) -> Timed:
        """Measure memory."""
        if self._memory is None:
            self._memory = Memory(self.device, self.size)
            self._memory.write(1)
        memory = self._memory
        run, check = getattr(memory, kind), getattr(memory, f"check_{kind}")
        count, _ = self._enough(run, memory.most, budget)
        found = self._measure(run, check, count, budget)
        return Timed(found, float(count * memory.bytes * (2 if kind == "copy" else 1)))

    def transferred(self, kind: Literal["upload", "download"], budget: float) -> Timed:
        """Measure the way to the device or back."""
        transfer = Transfer(self.device, self.size)
        run, check = getattr(transfer, kind), getattr(transfer, f"check_{kind}")
        found = self._measure(lambda _: run(), lambda _, done: check(done), 1, budget)
        transfer.release()
        return Timed(found, float(transfer.bytes), wall=True)

    def in_turn(self, make: Callable[[Device], Dispatches | Draws], budget: float) -> Timed:
        """Measure many dispatches or draws, one after the other."""
        work = make(self.device)
        count, _ = self._enough(work.run, work.most, budget)
        found = self._measure(work.run, work.check, count, budget)
        work.release()
        return Timed(found, float(count), wall=True)

    def close(self) -> None:
        """Free what is kept."""
        if self._memory is not None:
            self._memory.release()
            self._memory = None

    def _measure(
        self,
        run: Callable[[int], Any],
        check: Callable[[int, Any], Check],
        count: int,
        budget: float,
    ) -> Measurement:
        """Measure so much of something, after a warm-up."""
        warm_up = 0.0 if self.device.info.software else _WARM_UP_AGAIN if self._warm else WARM_UP
        self._warm = True
        return measure(
            partial(run, count),
            partial(check, count),
            cells=1,
            device=self.device,
            budget=budget + warm_up,
            warm_up=warm_up,
        )

    def _enough(self, run: Callable[[int], Any], most: int, budget: float) -> tuple[int, float]:
        """Return how much of something takes a suitable time, and its rate per second."""
        seconds = min(self.size.seconds, budget / 4)
        run(1)
        count = 1
        while True:
            start = time.perf_counter()
            run(count)
            taken = time.perf_counter() - start
            if taken >= seconds / 4 or count == most:
                break
            count = min(most, 4 * count)
        if not self.device.info.software:  # again, since the clocks have risen by now
            run(max(1, min(most, round(count * seconds / taken))))
            start = time.perf_counter()
            run(count)
            taken = time.perf_counter() - start
        return max(1, min(most, round(count * seconds / taken))), count / taken


def rates(info: DeviceInfo, size: Size) -> Iterator[Rate]:
    """Return what is measured on a device."""
    compute = "" if info.compute else "no compute shaders: they need OpenGL 4.3"
    half = compute or ("" if info.half else "no 16-bit floats in shaders")
    return _rates(size, compute, half)


def _rates(size: Size, compute: str, half: str) -> Iterator[Rate]:
    yield from _operations(size, compute, half)
    yield from _recurrences(size, compute, half)
    yield from _lookups(size, compute)
    yield from _memory(size, compute)
    yield from _commands(compute)


def _operations(size: Size, compute: str, half: str) -> Iterator[Rate]:
    def chains(
        operation: micro_kernels.Operation, **options: Any
    ) -> Callable[[Runner, float], Timed]:
        return _loops(partial(micro_kernels.chains, operation, CHAINS, size.rounds, **options))

    where = "on 32-bit integers in registers of a compute shader"
    both = "max(x - z, y), which counts as two operations,"
    yield Rate("int32 add", "op/s", f"x + y {where}", chains("add"), compute)
    yield Rate("int32 max", "op/s", f"max(x, y) {where}", chains("max"), compute)
    yield Rate("int32 add max", "op/s", f"{both} {where}", chains("add max"), compute)
    drawn = chains("add max", shader="micro/chains.frag")
    yield Rate("fragment int32 add max", "op/s", "the same in a fragment shader", drawn)
    packed = "the same on pairs of 16-bit floats, which counts as four operations"
    yield Rate("half add max", "op/s", packed, chains("add max", half=True), half)


def _recurrences(size: Size, compute: str, half: str) -> Iterator[Rate]:
    def forms(*kinds: micro_kernels.Form, linear: bool) -> Callable[[Runner, float], Timed]:
        return _loops(
            *(
                partial(micro_kernels.recurrence, kind, *shape, size.turns, linear=linear)
                for kind in kinds
                for shape in SHAPES[kind]
            )
        )

    def forms3(linear: bool) -> Callable[[Runner, float], Timed]:
        planes = partial(micro_kernels.recurrence3, turns=size.turns, linear=linear)
        return _loops(partial(planes, 2), partial(planes, 4))

    for gaps, linear in (("linear", True), ("affine", False)):
        alone = f"the recurrence with {gaps} gaps, in registers without loads and stores"
        whole = forms("cells", "rows", linear=linear)
        yield Rate(f"recurrence {gaps}", "cell/s", f"{alone}, 32-bit integers", whole, compute)
        drawn = forms("drawn", linear=linear)
        yield Rate(f"fragment recurrence {gaps}", "cell/s", f"{alone}, fragment shader", drawn)
        for name, text, missing in (
            ("half", "pairs of 16-bit floats", half),
            ("float", "pairs of 32-bit floats", compute),
        ):
            label = f"recurrence {name}" + " linear" * linear
            numbers = forms("half" if name == "half" else "float", linear=linear)
            yield Rate(label, "cell/s", f"{alone}, {text}", numbers, missing)
        of_three = f"the same of three sequences, by identity, with {gaps} gaps"
        yield Rate(f"recurrence3 {gaps}", "cell/s", of_three, forms3(linear), compute)


def _lookups(size: Size, compute: str) -> Iterator[Rate]:
    shared = _loops(partial(micro_kernels.shared, size.workgroup, size.rounds))
    yield Rate("shared bandwidth", "byte/s", "reads of shared memory, 16 bytes", shared, compute)
    for name, width in (("lookup", 1), ("words", 4)):
        text = f"reads of a uniform block, {4 * width} bytes, places that differ in a subgroup"
        block = _loops(partial(micro_kernels.uniform_block, width, size.rounds))
        yield Rate(f"uniform block {name}", "byte/s", text, block, compute)
    texture = _loops(partial(micro_kernels.texture, size.rounds))
    text = "texelFetch of 16 bytes in a fragment shader, from a texture of 16 KiB"
    yield Rate("texture lookup", "byte/s", text, texture)


def _memory(size: Size, compute: str) -> Iterator[Rate]:
    shown = f"a storage buffer of up to {size.memory / 2**20:g} MiB"
    kept = f"a storage buffer of {size.cached / 2**10:g} KiB"
    kinds: tuple[tuple[str, Kind, str], ...] = (
        ("storage write", "write", f"writes to {shown}"),
        ("storage read", "read", f"reads of {shown}"),
        ("storage copy", "copy", f"reads and writes of a copy of {shown}"),
        ("storage cached", "cached", f"reads of {kept}"),
    )
    for name, kind, text in kinds:
        yield Rate(name, "byte/s", text, partial(_moved, kind), compute)


def _commands(compute: str) -> Iterator[Rate]:
    def in_turn(
        make: Callable[[Device], Dispatches | Draws],
    ) -> Callable[[Runner, float], Timed]:
        return lambda runner, budget: runner.in_turn(make, budget)

    def transferred(kind: Literal["upload", "download"]) -> Callable[[Runner, float], Timed]:
        return lambda runner, budget: runner.transferred(kind, budget)

    each = "of next to nothing, each needs the one before"
    yield Rate("dispatch", "s", f"a dispatch and a barrier, {each}", in_turn(Dispatches), compute)
    yield Rate("draw", "s", f"a draw into a target of 64 x 64, {each}", in_turn(Draws))
    thin = in_turn(partial(Draws, rows=1))
    yield Rate("draw thin", "s", f"a draw into a row of 64 pixels, {each}", thin)
    yield Rate("upload", "byte/s", "from an array to a buffer", transferred("upload"))
    yield Rate("download", "byte/s", "from a buffer to an array", transferred("download"))


def _loops(*made: Callable[[], Kernel]) -> Callable[[Runner, float], Timed]:
    return lambda runner, budget: runner.loops([make() for make in made], budget)


def _moved(kind: Kind, runner: Runner, budget: float) -> Timed:
    return runner.moved(kind, budget)


# Whatever the device and the sizes are, the names are the same.
NAMES = tuple(rate.name for rate in _rates(SOFTWARE, "", ""))
