"""What a device can do at most: operations, bytes, cells per second; the cost of commands.

Loops and copies are run on the device, and compared with what NumPy says of them.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import moderngl
import numpy as np

from bench import micro_kernels
from bench.measure import AGAIN, WARM_UP, Check, Measurement, compare, measure
from bench.micro_kernels import SEEDS, Found, Kernel, texture_table, word
from bench.row import SHADERS
from bench.work.base import Case, Setup, Workload
from glsw import Device, DeviceError
from glsw.device import shader

PLACES = 4096  # places in which invocations add up what they find, see results.glsl
JUDGE = "NumPy"
_MOST_GROUPS = 65535
_EACH = 8  # words of 16 bytes that an invocation moves
_SAMPLE = 1024  # numbers looked at here and there in a large buffer
_LEAST_MEMORY = 2**22
_SIDE = 64  # pixels of the target of draws


@dataclass(frozen=True)
class Size:
    """How much to do at once: invocations of a work group, rounds of loops, bytes of buffers."""

    workgroup: int
    rounds: int
    turns: int  # of loops of cells
    width: int  # pixels in a row of a target
    memory: int  # bytes of a storage buffer
    copied: int  # of an upload or a download
    seconds: float  # that a run should take


HARDWARE = Size(128, 2048, 512, 256, 2**29, 2**26, 0.04)
SOFTWARE = Size(16, 256, 64, 64, 2**26, 2**24, 0.03)


@dataclass
class Loop:
    """Something that is done again and again, at most ``most`` times at once."""

    run: Callable[[int], Any]
    check: Callable[[int, Any], Check]
    most: int
    work: float = 1.0  # of one time
    by_wall: bool = False  # the wall clock counts, since the host takes part
    form: str = ""  # what distinguishes it from others for the same purpose


def computed(device: Device, kernel: Kernel, size: Size) -> Loop:
    """Return a kernel of a compute shader, in a number of work groups."""
    defines = {"WORKGROUP": size.workgroup, **kernel.defines}
    program = shader.compute(device, kernel.shader, SHADERS, **defines)
    _set(program, **kernel.uniforms)
    results = device.ctx.buffer(reserve=4 * PLACES)

    def run(times: int) -> Found:
        results.clear()
        results.bind_to_storage_buffer(0)
        program.run(times)
        device.ctx.memory_barrier()
        return np.frombuffer(results.read(), np.uint32)

    def check(times: int, found: Found) -> Check:
        whole, rest = divmod(times * size.workgroup, PLACES)
        each = whole + (np.arange(PLACES) < rest).astype(np.uint32)
        device.check("computing")
        return compare(found, np.resize(kernel.expected, PLACES) * each, JUDGE)

    return Loop(run, check, _MOST_GROUPS, kernel.work * size.workgroup, form=kernel.form)


def drawn(device: Device, kernel: Kernel, size: Size) -> Loop:
    """Return a kernel of a fragment shader, in a number of rows of pixels."""
    ctx = device.ctx
    program = shader.render(device, "quad.vert", kernel.shader, SHADERS, **kernel.defines)
    _set(program, **kernel.uniforms)
    vertices = ctx.vertex_array(program, [])
    table = ctx.texture((len(texture_table()),) * 2, 4, texture_table(), dtype="i4")
    table.filter = moderngl.NEAREST, moderngl.NEAREST
    target: moderngl.Framebuffer | None = None

    def run(times: int) -> moderngl.Framebuffer:
        nonlocal target
        if target is None or target.size[1] != times:
            target = None
            with device.checked(f"allocating {times} rows of pixels"):
                target = ctx.framebuffer([ctx.texture((size.width, times), 1, dtype="i4")])
        table.use(0)
        vertices.scope = ctx.scope(target, moderngl.NOTHING)
        vertices.render(moderngl.TRIANGLE_STRIP, vertices=4)
        ctx.finish()
        return target

    def check(times: int, found: moderngl.Framebuffer) -> Check:
        data = found.read(components=1, dtype="i4", alignment=1)
        device.check("drawing")
        seeds = np.arange(size.width) + np.arange(times)[:, None] * 8 & SEEDS - 1
        return compare(np.frombuffer(data, np.uint32), kernel.expected[seeds].ravel(), JUDGE)

    return Loop(run, check, 8192, kernel.work * size.width, form=kernel.form)


def memory(size: Size, device: Device, kind: str) -> Loop:
    """Return a program that fills, reads or copies storage buffers that are larger than caches.

    What is written changes from run to run; the source holds what was written last, so it is filled
    first.
    """
    group = 16 * _EACH * size.workgroup
    limit = min(size.memory, device.info.limits["max_storage_block"], _MOST_GROUPS * group)
    length = 1 << (limit.bit_length() - 1)
    while True:  # half as large, and so on, where there is not enough memory
        try:
            with device.checked(f"allocating twice {length} bytes"):
                source, copied = (device.ctx.buffer(reserve=length) for _ in range(2))
            break
        except DeviceError:
            if length <= _LEAST_MEMORY:
                raise
            length //= 2
    results = device.ctx.buffer(reserve=4 * PLACES)
    groups, shift = length // group, 1

    def do(name: str, times: int) -> None:
        defines = {"WORKGROUP": size.workgroup, "EACH": _EACH}
        program = shader.compute(device, f"micro/{name}.comp", SHADERS, **defines)
        _set(program, shift=shift, words=length // 16)
        results.clear()
        for binding, buffer in enumerate((results, source, copied)):
            buffer.bind_to_storage_buffer(binding)
        for _ in range(times):
            program.run(groups)
        device.ctx.memory_barrier()

    def run(times: int) -> Found | None:
        nonlocal shift
        if kind == "read":
            do("read", times)
            return np.frombuffer(results.read(), np.uint32)
        shift += 1
        do(kind, times)
        device.ctx.finish()
        return None

    def check(times: int, found: Found | None) -> Check:
        """Compare the sums that were found, or look at a buffer here and there."""
        device.check(f"moving {length} bytes")
        if found is not None:  # each word has four numbers, to which read.comp adds 0, 3, 10, 21
            begin = np.arange(groups, dtype=np.int64)[:, None] * _EACH * size.workgroup
            words = _EACH * (begin + np.arange(size.workgroup))
            words += size.workgroup * (_EACH * (_EACH - 1) // 2)
            each = word(16 * (4 * words + _EACH * shift) + 34 * _EACH).ravel()
            sums = np.zeros(PLACES, np.uint32)
            np.add.at(sums, np.arange(each.size) % PLACES, each)
            return compare(found, sums * np.uint32(times), JUDGE)
        # What write.comp writes; a copy has what was written first, and the shift once more.
        buffer, first = (copied, 1 + shift) if kind == "copy" else (source, shift)
        places = range(0, length // 4, max(_SAMPLE, length // 256))
        got = [np.frombuffer(buffer.read(4 * _SAMPLE, offset=4 * at), np.uint32) for at in places]
        right = word(np.add.outer(places, np.arange(_SAMPLE)) + first)
        return compare(np.concatenate(got), right.ravel(), JUDGE)

    do("write", 1)
    return Loop(run, check, 4096, length * (2 if kind == "copy" else 1))


def transfer(size: Size, device: Device, upload: bool) -> Loop:
    """Return a buffer that is written from the host, a little of it changed, or read back."""
    content = np.arange(size.copied // 4, dtype=np.int32)
    found, buffer = np.zeros_like(content), device.ctx.buffer(content)

    def run(times: int) -> None:
        if upload:
            content[:: content.size // 64] += 1
            buffer.write(content)
            device.ctx.finish()
        else:
            buffer.read_into(found)

    def check(times: int, nothing: None) -> Check:
        if upload:
            buffer.read_into(found)
        device.check("transferring")
        judged = compare(found, content, JUDGE)
        found[:] = -1
        return judged

    return Loop(run, check, 1, content.nbytes, by_wall=True)


def dispatches(device: Device) -> Loop:
    """Return dispatches of next to nothing, each of which needs what the one before has written."""
    program = shader.compute(device, "micro/dispatch.comp", SHADERS)
    buffer = device.ctx.buffer(reserve=4)

    def run(times: int) -> Found:
        buffer.clear()
        buffer.bind_to_storage_buffer(0)
        for _ in range(times):
            program.run(1)
            device.ctx.memory_barrier(moderngl.SHADER_STORAGE_BARRIER_BIT)
        device.ctx.memory_barrier()
        return np.frombuffer(buffer.read(), np.uint32)

    def check(times: int, found: Found) -> Check:
        device.check("dispatching")
        return compare(found, [times], JUDGE)

    return Loop(run, check, 2**14, by_wall=True)


def draws(device: Device, rows: int = _SIDE) -> Loop:
    """Return draws of next to nothing into two targets by turns, each from what was drawn last."""
    ctx, program = device.ctx, shader.render(device, "quad.vert", "micro/draw.frag", SHADERS)
    program["before"] = 0
    textures = [ctx.texture((_SIDE, _SIDE), 1, dtype="i4") for _ in range(2)]
    targets = [ctx.framebuffer([each]) for each in textures]
    for each in targets:
        each.viewport = (0, 0, _SIDE, rows)
    scopes = [ctx.scope(each, moderngl.NOTHING) for each in targets]
    vertices = ctx.vertex_array(program, [])

    def run(times: int) -> Found:
        textures[1].write(bytes(4 * _SIDE**2))
        for number in range(times):
            textures[1 - number % 2].use(0)
            program["number"] = number
            vertices.scope = scopes[number % 2]
            vertices.render(moderngl.TRIANGLE_STRIP, vertices=4)
        drawn, part = targets[1 - times % 2], (0, 0, _SIDE, rows)
        data = drawn.read(viewport=part, components=1, dtype="i4", alignment=1)
        return np.frombuffer(data, np.uint32)

    def check(times: int, found: Found) -> Check:
        device.check("drawing")
        total = times * (times - 1) // 2
        return compare(found, np.full(_SIDE * rows, total, np.uint32), JUDGE)

    return Loop(run, check, 2**14, by_wall=True)


def _set(program: Any, **uniforms: int) -> None:
    for name in uniforms.keys() & {*program}:
        program[name] = uniforms[name]


class Micro(Workload, called="micro"):
    """The rates from which `bench.roofline` says what limits an engine; judged by NumPy."""

    rates: Mapping[str, Sequence[Any]]
    """Units, what the device needs, what they are; then loops, of which the fastest counts."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.size = SOFTWARE if setup.software else HARDWARE
        if setup.size == "tiny":
            self.size = replace(self.size, memory=2**22, copied=2**22)
        self._warm = False

    def cases(self) -> Iterator[Case]:
        for name, (unit, needs, what, *loops) in self.rates.items():
            text = what.format(memory=self.size.memory / 2**20)
            start = partial(self._start, unit, needs, text, loops)
            yield Case(name, start, task="rate", device=self.device)

    def _loop(self, name: str, *words: Any) -> Loop:
        """Return a loop: of a kernel, of copies, or of commands."""
        size, device = self.size, self.device
        kernels: dict[str, tuple[int, ...]] = {"chains": (16, size.rounds)}  # numbers at once
        kernels |= {"shared": (size.workgroup, size.rounds), "recurrence": (size.turns,)}
        kernels |= {"texture": (size.rounds,), "recurrence3": (size.turns,)}
        if name in kernels:
            kernel = getattr(micro_kernels, name)(*kernels[name], *words)
            return (drawn if kernel.shader.endswith(".frag") else computed)(device, kernel, size)
        others: dict[str, Callable[..., Loop]] = {"dispatches": dispatches, "draws": draws}
        others |= {"memory": partial(memory, size), "transfer": partial(transfer, size)}
        return others[name](device, *words)

    def _start(
        self, unit: str, needs: str, what: str, loops: list[list[Any]], seconds: float
    ) -> Measurement:
        info = self.device.info
        if needs and not info.compute:
            raise ValueError("no compute shaders: they need OpenGL 4.3")
        if needs == "half" and not info.half:
            raise ValueError("no 16-bit floats in shaders")
        self.device.activate()  # frees what the last one dropped
        budget = max(seconds, 0.0 if self.setup.software else 0.2)
        found = []
        for words in loops:
            loop = self._loop(*words)
            checked = loop.check(1, loop.run(1))
            if not checked.passed:  # if one of them is wrong, only that it is
                return Measurement(checked, facts={"note": what})
            count, speed = self._enough(loop, budget)
            found.append((speed * loop.work, count, loop))
        _, count, loop = max(found, key=lambda each: each[0])
        warm_at = time.perf_counter() if self._warm else -math.inf  # it has just worked
        warm_up = 0.0 if self.setup.software else AGAIN if self._warm else WARM_UP
        self._warm = True
        run, check = partial(loop.run, count), partial(loop.check, count)
        times: dict[str, Any] = {"budget": budget + warm_up, "warm_at": warm_at}
        measured = measure(run, check, cells=0, device=self.device, **times)
        note = f"{what} ({loop.form})" if loop.form else what
        facts: dict[str, Any] = {"unit": unit, "note": note, "cells": None}
        clock = measured.wall if loop.by_wall else measured.device or measured.wall
        if clock:
            each = clock.median / (count * loop.work)
            facts |= {"rate": each if unit == "s" else 1 / each, "spread": clock.spread}
        return replace(measured, facts=facts)

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
