"""Loops and copies on a device, as `bench.work.micro` times them: run, and compare with NumPy.

Each has a ``run`` that takes how much to do, ``work`` for one of it, and a ``check``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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


class Loop:
    """A kernel of a compute shader, in a number of work groups."""

    most = _MOST_GROUPS

    def __init__(self, device: Device, kernel: Kernel, size: Size) -> None:
        self._device, self._workgroup = device, size.workgroup
        self.work = float(kernel.work * size.workgroup)
        defines = {"WORKGROUP": size.workgroup, **kernel.defines}
        self._program = shader.compute(device, kernel.shader, SHADERS, **defines)
        _set(self._program, kernel.uniforms)
        self._table = device.ctx.buffer(micro_kernels.block_table())
        self._expected = np.resize(kernel.expected(), PLACES)
        self._results = device.ctx.buffer(reserve=4 * PLACES)

    def run(self, groups: int) -> Found:
        self._results.clear()
        self._results.bind_to_storage_buffer(0)
        self._table.bind_to_uniform_block(0)
        self._program.run(groups)
        self._device.ctx.memory_barrier()
        return np.frombuffer(self._results.read(), np.uint32)

    def check(self, groups: int, found: Found) -> Check:
        whole, rest = divmod(groups * self._workgroup, PLACES)
        times = np.full(PLACES, whole, np.uint32)
        times[:rest] += np.uint32(1)
        self._device.check("computing")
        return compare(found, self._expected * times, JUDGE)

    def release(self) -> None:
        self._table.release()
        self._results.release()


class Drawn:
    """A kernel of a fragment shader, in a number of rows of pixels."""

    most = 8192

    def __init__(self, device: Device, kernel: Kernel, size: Size) -> None:
        self._device, self._width = device, size.width
        self.work = float(kernel.work * size.width)
        self._program = shader.render(device, "quad.vert", kernel.shader, SHADERS, **kernel.defines)
        _set(self._program, kernel.uniforms)
        self._expected = kernel.expected().astype(np.int32)
        self._vertices = device.ctx.vertex_array(self._program, [])
        table = micro_kernels.texture_table()
        self._table = device.ctx.texture(table.shape[:2], 4, table, dtype="i4")
        self._table.filter = moderngl.NEAREST, moderngl.NEAREST
        self._targets: dict[int, tuple[moderngl.Texture, moderngl.Framebuffer]] = {}

    def run(self, rows: int) -> moderngl.Framebuffer:
        if rows not in self._targets:
            self._release_targets()
            with self._device.checked(f"allocating {rows} rows of pixels"):
                texture = self._device.ctx.texture((self._width, rows), 1, dtype="i4")
                self._targets[rows] = texture, self._device.ctx.framebuffer([texture])
        framebuffer = self._targets[rows][1]
        self._table.use(0)
        self._vertices.scope = self._device.ctx.scope(framebuffer, moderngl.NOTHING)
        self._vertices.render(moderngl.TRIANGLE_STRIP, vertices=4)
        self._device.ctx.finish()
        return framebuffer

    def check(self, rows: int, drawn: moderngl.Framebuffer) -> Check:
        data = drawn.read(components=1, dtype="i4", alignment=1)
        self._device.check("drawing")
        seeds = np.arange(self._width) + np.arange(rows)[:, None] * 8 & micro_kernels.SEEDS - 1
        return compare(np.frombuffer(data, np.int32), self._expected[seeds].ravel(), JUDGE)

    def _release_targets(self) -> None:
        for texture, framebuffer in self._targets.values():
            framebuffer.release()
            texture.release()
        self._targets.clear()

    def release(self) -> None:
        self._release_targets()
        self._table.release()


class Memory:
    """Two storage buffers, larger than caches, and programs that fill, read and copy them.

    The source holds what was written last, so `write` comes first. Numbers change from run to run.
    """

    most = 4096

    def __init__(self, device: Device, size: Size) -> None:
        self._device, self._workgroup = device, size.workgroup
        group = 16 * _EACH * size.workgroup
        limit = min(size.memory, device.info.limits["max_storage_block"], _MOST_GROUPS * group)
        self.bytes = 1 << (limit.bit_length() - 1)
        self._source, self._destination = self._buffers()
        self._groups = self.bytes // group
        self._cached = min(size.cached, self.bytes)
        self._results = device.ctx.buffer(reserve=4 * PLACES)
        self._written = self._added = 0

    def _buffers(self) -> list[moderngl.Buffer]:
        """Return both; half as large, and so on, where there is not enough memory."""
        while True:
            try:
                with self._device.checked(f"allocating twice {self.bytes} bytes"):
                    return [self._device.ctx.buffer(reserve=self.bytes) for _ in range(2)]
            except DeviceError:
                if self.bytes <= _LEAST_MEMORY:
                    raise
                self.bytes //= 2

    def write(self, times: int) -> None:
        self._written += 1
        self._run("write", times, self._written)
        self._device.ctx.finish()

    def check_write(self, times: int, _: None) -> Check:
        return self._compare(self._source, self._written)

    def copy(self, times: int) -> None:
        self._added += 1
        self._run("copy", times, self._added)
        self._device.ctx.finish()

    def check_copy(self, times: int, _: None) -> Check:
        return self._compare(self._destination, self._written + self._added)

    def read(self, times: int) -> Found:
        return self._found(times, self.bytes)

    def check_read(self, times: int, found: Found) -> Check:
        return self._compare_found(times, self.bytes, found)

    def cached(self, times: int) -> Found:
        """Read as much, from the first part of the source over and over again."""
        return self._found(times, self._cached)

    def check_cached(self, times: int, found: Found) -> Check:
        return self._compare_found(times, self._cached, found)

    def _run(self, name: str, times: int, shift: int = 0, size: int = 0) -> None:
        defines = {"WORKGROUP": self._workgroup, "EACH": _EACH}
        program = shader.compute(self._device, f"micro/{name}.comp", SHADERS, **defines)
        _set(program, {"shift": shift, "words": (size or self.bytes) // 16})
        for binding, buffer in enumerate((self._results, self._source, self._destination)):
            buffer.bind_to_storage_buffer(binding)
        for _ in range(times):
            program.run(self._groups)
        self._device.ctx.memory_barrier()

    def _found(self, times: int, size: int) -> Found:
        self._results.clear()
        self._run("read", times, size=size)
        return np.frombuffer(self._results.read(), np.uint32)

    def _compare_found(self, times: int, size: int, found: Found) -> Check:
        self._device.check("reading a storage buffer")
        each = micro_kernels.read(size // 16, self._groups, _EACH, self._workgroup, self._written)
        return compare(found, micro_kernels.summed(each, PLACES) * np.uint32(times), JUDGE)

    def _compare(self, buffer: moderngl.Buffer, shift: int) -> Check:
        """Look at a buffer here and there."""
        self._device.check("writing a storage buffer")
        total = self.bytes // 4
        places = range(0, total, max(_SAMPLE, total // 64))
        found = [np.frombuffer(buffer.read(4 * _SAMPLE, offset=4 * at), np.uint32) for at in places]
        expected = [micro_kernels.written(at, _SAMPLE, shift) for at in places]
        return compare(np.concatenate(found), np.concatenate(expected), JUDGE)

    def release(self) -> None:
        for buffer in (self._source, self._destination, self._results):
            buffer.release()


class Transfer:
    """A buffer that is written from the host, a little of it changed, and read back."""

    def __init__(self, device: Device, size: Size) -> None:
        self._device = device
        self._content = np.arange(size.copied // 4, dtype=np.int32)
        self._found = np.zeros_like(self._content)
        self._buffer = device.ctx.buffer(self._content)
        self.bytes = self._content.nbytes

    def upload(self) -> None:
        self._content[:: self._content.size // 64] += 1
        self._buffer.write(self._content)
        self._device.ctx.finish()

    def check_upload(self, _: None) -> Check:
        self._device.check("uploading")
        return compare(np.frombuffer(self._buffer.read(), np.int32), self._content, JUDGE)

    def download(self) -> None:
        self._buffer.read_into(self._found)

    def check_download(self, _: None) -> Check:
        self._device.check("downloading")
        judged = compare(self._found, self._content, JUDGE)
        self._found[:] = -1
        return judged

    def release(self) -> None:
        self._buffer.release()


class Dispatches:
    """Dispatches of next to nothing, each of which needs what the one before has written."""

    most = 2**14

    def __init__(self, device: Device) -> None:
        self._device = device
        self._program = shader.compute(device, "micro/dispatch.comp", SHADERS)
        self._buffer = device.ctx.buffer(reserve=4)

    def run(self, count: int) -> int:
        self._buffer.clear()
        self._buffer.bind_to_storage_buffer(0)
        for _ in range(count):
            self._program.run(1)
            self._device.ctx.memory_barrier(moderngl.SHADER_STORAGE_BARRIER_BIT)
        self._device.ctx.memory_barrier()
        return int(np.frombuffer(self._buffer.read(), np.int32)[0])

    def check(self, count: int, found: int) -> Check:
        self._device.check("dispatching")
        return compare([found], [count], JUDGE)

    def release(self) -> None:
        self._buffer.release()


class Draws:
    """Draws of next to nothing into two targets by turns, each from what was drawn before.

    Of 64 x 64 pixels, or ``rows`` rows of them.
    """

    most = 2**14

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

    def run(self, count: int) -> Found:
        self._textures[1].write(bytes(4 * _SIDE**2))
        for number in range(count):
            self._textures[1 - number % 2].use(0)
            self._program["number"] = number
            self._vertices.scope = self._scopes[number % 2]
            self._vertices.render(moderngl.TRIANGLE_STRIP, vertices=4)
        drawn, part = self._framebuffers[1 - count % 2], (0, 0, _SIDE, self._rows)
        data = drawn.read(viewport=part, components=1, dtype="i4", alignment=1)
        return np.frombuffer(data, np.uint32)

    def check(self, count: int, found: Found) -> Check:
        self._device.check("drawing")
        total = count * (count - 1) // 2
        return compare(found, np.full(_SIDE * self._rows, total, np.uint32), JUDGE)

    def release(self) -> None:
        kept: list[Any] = [*self._scopes, *self._framebuffers, *self._textures]
        for each in kept:
            each.release()


def _set(program: Any, uniforms: Mapping[str, int]) -> None:
    for name, value in uniforms.items():
        if name in program:
            program[name] = value
