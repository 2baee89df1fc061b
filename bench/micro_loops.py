"""Loops and copies on a device, as `bench.work.micro` times them: run, and compare with NumPy.

Each has a ``run`` that takes how often to do something, the most that it can, the ``work`` of one
of it, a ``check``, ``by_wall`` (whether the wall clock counts, since the host takes part), and
``form``: what distinguishes it from others for the same purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import moderngl
import numpy as np

from bench import micro_kernels
from bench.measure import Check, compare
from bench.micro_kernels import SHADERS, Found, Kernel
from glsw.device import shader
from glsw.device.device import Device, DeviceError

PLACES = 4096
"""Places in which invocations add up what they find, see results.glsl."""

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
    cached: int  # of one that stays in a cache
    copied: int  # of an upload or a download
    seconds: float  # that a run should take


HARDWARE = Size(128, 2048, 512, 256, 2**29, 2**22, 2**26, 0.06)
SOFTWARE = Size(16, 256, 64, 64, 2**26, 2**17, 2**24, 0.03)


class Loop(Protocol):
    """Something that is done again and again."""

    most: int
    work: float
    by_wall: bool
    form: str

    def run(self, times: int) -> Any: ...

    def check(self, times: int, found: Any) -> Check: ...


class Computed:
    """A kernel of a compute shader, in a number of work groups."""

    most, by_wall = _MOST_GROUPS, False

    def __init__(self, device: Device, kernel: Kernel, size: Size) -> None:
        self._device, self._workgroup = device, size.workgroup
        self.work, self.form = float(kernel.work * size.workgroup), kernel.form
        defines = {"WORKGROUP": size.workgroup, **kernel.defines}
        self._program = shader.compute(device, kernel.shader, SHADERS, **defines)
        _set(self._program, kernel.uniforms)
        self._table = device.ctx.buffer(micro_kernels.block_table())
        self._expected = np.resize(kernel.expected(), PLACES)
        self._results = device.ctx.buffer(reserve=4 * PLACES)

    def run(self, times: int) -> Found:
        self._results.clear()
        self._results.bind_to_storage_buffer(0)
        self._table.bind_to_uniform_block(0)
        self._program.run(times)
        self._device.ctx.memory_barrier()
        return np.frombuffer(self._results.read(), np.uint32)

    def check(self, times: int, found: Found) -> Check:
        whole, rest = divmod(times * self._workgroup, PLACES)
        each = whole + (np.arange(PLACES) < rest).astype(np.uint32)
        self._device.check("computing")
        return compare(found, self._expected * each, JUDGE)


class Drawn:
    """A kernel of a fragment shader, in a number of rows of pixels."""

    most, by_wall = 8192, False

    def __init__(self, device: Device, kernel: Kernel, size: Size) -> None:
        self._device, self._width = device, size.width
        self.work, self.form = float(kernel.work * size.width), kernel.form
        self._program = shader.render(device, "quad.vert", kernel.shader, SHADERS, **kernel.defines)
        _set(self._program, kernel.uniforms)
        self._expected = kernel.expected().astype(np.int32)
        self._vertices = device.ctx.vertex_array(self._program, [])
        table = micro_kernels.texture_table()
        self._table = device.ctx.texture(table.shape[:2], 4, table, dtype="i4")
        self._table.filter = moderngl.NEAREST, moderngl.NEAREST
        self._target: moderngl.Framebuffer | None = None

    def run(self, times: int) -> moderngl.Framebuffer:
        ctx, target = self._device.ctx, self._target
        if target is None or target.size[1] != times:
            self._target = None
            with self._device.checked(f"allocating {times} rows of pixels"):
                target = ctx.framebuffer([ctx.texture((self._width, times), 1, dtype="i4")])
            self._target = target
        self._table.use(0)
        self._vertices.scope = ctx.scope(target, moderngl.NOTHING)
        self._vertices.render(moderngl.TRIANGLE_STRIP, vertices=4)
        ctx.finish()
        return target

    def check(self, times: int, found: moderngl.Framebuffer) -> Check:
        data = found.read(components=1, dtype="i4", alignment=1)
        self._device.check("drawing")
        seeds = np.arange(self._width) + np.arange(times)[:, None] * 8 & micro_kernels.SEEDS - 1
        return compare(np.frombuffer(data, np.int32), self._expected[seeds].ravel(), JUDGE)


class Memory:
    """Two storage buffers, larger than caches, and a program that fills, reads or copies them.

    ``cached`` reads as much, from the first part of the source over and over again. What is written
    changes from run to run; the source holds what was written last, so it is filled first.
    """

    most, by_wall, form = 4096, False, ""

    def __init__(self, device: Device, kind: str, size: Size) -> None:
        self._device, self._kind, self._workgroup = device, kind, size.workgroup
        group = 16 * _EACH * size.workgroup
        limit = min(size.memory, device.info.limits["max_storage_block"], _MOST_GROUPS * group)
        self._size = 1 << (limit.bit_length() - 1)
        self._source, self._destination = self._buffers()
        self._results = device.ctx.buffer(reserve=4 * PLACES)
        self._groups, self._shift = self._size // group, 1
        self._part = min(size.cached, self._size) if kind == "cached" else self._size
        self.work = float(self._size * (2 if kind == "copy" else 1))
        self._run("write", 1)

    def _buffers(self) -> list[moderngl.Buffer]:
        """Return both; half as large, and so on, where there is not enough memory."""
        while True:
            try:
                with self._device.checked(f"allocating twice {self._size} bytes"):
                    return [self._device.ctx.buffer(reserve=self._size) for _ in range(2)]
            except DeviceError:
                if self._size <= _LEAST_MEMORY:
                    raise
                self._size //= 2

    def _run(self, name: str, times: int) -> None:
        defines = {"WORKGROUP": self._workgroup, "EACH": _EACH}
        program = shader.compute(self._device, f"micro/{name}.comp", SHADERS, **defines)
        _set(program, {"shift": self._shift, "words": self._part // 16})
        self._results.clear()
        for binding, buffer in enumerate((self._results, self._source, self._destination)):
            buffer.bind_to_storage_buffer(binding)
        for _ in range(times):
            program.run(self._groups)
        self._device.ctx.memory_barrier()

    def run(self, times: int) -> Found | None:
        if self._kind in ("read", "cached"):
            self._run("read", times)
            return np.frombuffer(self._results.read(), np.uint32)
        self._shift += 1
        self._run(self._kind, times)
        self._device.ctx.finish()
        return None

    def check(self, times: int, found: Found | None) -> Check:
        """Compare the sums that were found, or look at a buffer here and there."""
        self._device.check(f"moving {self._size} bytes")
        if found is not None:
            words = self._part // 16, self._groups, _EACH, self._workgroup, self._shift
            sums = micro_kernels.summed(micro_kernels.read(*words), PLACES)
            return compare(found, sums * np.uint32(times), JUDGE)
        copied = self._kind == "copy"  # what was written first, and the shift once more
        buffer, shift = (self._destination, 1) if copied else (self._source, 0)
        places = range(0, self._size // 4, max(_SAMPLE, self._size // 256))
        got = [np.frombuffer(buffer.read(4 * _SAMPLE, offset=4 * at), np.uint32) for at in places]
        right = [micro_kernels.written(at, _SAMPLE, shift + self._shift) for at in places]
        return compare(np.concatenate(got), np.concatenate(right), JUDGE)


class Transfer:
    """A buffer that is written from the host, a little of it changed, or read back."""

    most, by_wall, form = 1, True, ""

    def __init__(self, device: Device, size: Size, *, upload: bool) -> None:
        self._device, self._upload = device, upload
        self._content = np.arange(size.copied // 4, dtype=np.int32)
        self._found = np.zeros_like(self._content)
        self._buffer = device.ctx.buffer(self._content)
        self.work = float(self._content.nbytes)

    def run(self, times: int) -> None:
        if self._upload:
            self._content[:: self._content.size // 64] += 1
            self._buffer.write(self._content)
            self._device.ctx.finish()
        else:
            self._buffer.read_into(self._found)

    def check(self, times: int, found: None) -> Check:
        if self._upload:
            self._buffer.read_into(self._found)
        self._device.check("transferring")
        judged = compare(self._found, self._content, JUDGE)
        self._found[:] = -1
        return judged


class Dispatches:
    """Dispatches of next to nothing, each of which needs what the one before has written."""

    most, work, by_wall, form = 2**14, 1.0, True, ""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._program = shader.compute(device, "micro/dispatch.comp", SHADERS)
        self._buffer = device.ctx.buffer(reserve=4)

    def run(self, times: int) -> int:
        self._buffer.clear()
        self._buffer.bind_to_storage_buffer(0)
        for _ in range(times):
            self._program.run(1)
            self._device.ctx.memory_barrier(moderngl.SHADER_STORAGE_BARRIER_BIT)
        self._device.ctx.memory_barrier()
        return int(np.frombuffer(self._buffer.read(), np.int32)[0])

    def check(self, times: int, found: int) -> Check:
        self._device.check("dispatching")
        return compare([found], [times], JUDGE)


class Draws:
    """Draws of next to nothing into two targets by turns, each from what was drawn before."""

    most, work, by_wall, form = 2**14, 1.0, True, ""

    def __init__(self, device: Device, rows: int = _SIDE) -> None:
        self._device, self._rows, ctx = device, rows, device.ctx
        self._program = shader.render(device, "quad.vert", "micro/draw.frag", SHADERS)
        self._program["before"] = 0
        self._textures = [ctx.texture((_SIDE, _SIDE), 1, dtype="i4") for _ in range(2)]
        self._framebuffers = [ctx.framebuffer([each]) for each in self._textures]
        for each in self._framebuffers:
            each.viewport = (0, 0, _SIDE, rows)
        self._scopes = [ctx.scope(each, moderngl.NOTHING) for each in self._framebuffers]
        self._vertices = ctx.vertex_array(self._program, [])

    def run(self, times: int) -> Found:
        self._textures[1].write(bytes(4 * _SIDE**2))
        for number in range(times):
            self._textures[1 - number % 2].use(0)
            self._program["number"] = number
            self._vertices.scope = self._scopes[number % 2]
            self._vertices.render(moderngl.TRIANGLE_STRIP, vertices=4)
        drawn, part = self._framebuffers[1 - times % 2], (0, 0, _SIDE, self._rows)
        data = drawn.read(viewport=part, components=1, dtype="i4", alignment=1)
        return np.frombuffer(data, np.uint32)

    def check(self, times: int, found: Found) -> Check:
        self._device.check("drawing")
        total = times * (times - 1) // 2
        return compare(found, np.full(_SIDE * self._rows, total, np.uint32), JUDGE)


def _set(program: Any, uniforms: Mapping[str, int]) -> None:
    for name, value in uniforms.items():
        if name in program:
            program[name] = value
