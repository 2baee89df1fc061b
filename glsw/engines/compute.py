"""What the engines of compute shaders share: pairs, scores and results in buffers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt

from glsw import shader
from glsw.batch import Batch, Sequences
from glsw.device import Device, DeviceError
from glsw.engines.base import Engine
from glsw.engines.pace import Pace
from glsw.scoring import Scoring

# Storage buffers.
QUERIES, TARGETS, PAIRS, TOPS, BEST, DIRECTIONS, WALKS, PATHS = range(8)
_SUBSTITUTION = 0  # uniform block, or texture unit
_LETTERS_IN_BLOCK = 62  # whose scores fit the 16 KiB that every uniform block may have
COMPUTE = (4, 3)
"""The OpenGL version that has compute shaders."""
ROWS = 8
"""Rows of an invocation: as many directions of 4 bits as a word holds."""
STEP = 2
"""Columns that an invocation computes between two barriers."""

PAIR = np.dtype(
    [
        ("query_length", np.int32),
        ("target_length", np.int32),
        ("query", np.uint32),
        ("target", np.uint32),
        ("tops", np.uint32),
        ("directions", np.uint32),
        ("path", np.uint32),
        ("mask", np.uint32),
    ]
)
"""A pair as pairs.glsl has it."""


class ComputeEngine(Engine):
    """Base of the engines that need OpenGL 4.3.

    Parameters
    ----------
    workgroup : int, optional
        Invocations in a work group; by default what suits the device.
    """

    requires = COMPUTE

    def __init__(
        self, scoring: Scoring, device: Device | None = None, *, workgroup: int | None = None
    ) -> None:
        super().__init__(scoring, device)
        self._workgroup = workgroup
        self._pace = Pace(self.device, first=1)
        self._buffers: dict[int, moderngl.Buffer] = {}
        self._uploaded: dict[int, Sequences] = {}
        self._substitution: moderngl.Buffer | moderngl.Texture | None = None
        letters = len(scoring.alphabet)
        self._defines: dict[str, int] = {"LETTERS": letters, "ROWS": ROWS, "STEP": STEP}
        self._uniforms: dict[str, int] = {"gap_open": scoring.gap_open}
        if scoring.linear:
            self._defines["LINEAR"] = 1
        else:
            self._uniforms["gap_extend"] = scoring.gap_extend
        if scoring.match_and_mismatch and self.device.info.software:
            self._defines |= {"SCORES": 0, "AMBIGUOUS": scoring.match_and_mismatch[2]}
            self._uniforms["match"], self._uniforms["mismatch"] = scoring.match_and_mismatch[:2]
        else:
            self._defines["SCORES"] = self._upload_scores()

    def _upload_scores(self) -> int:
        """Put the matrix where scoring.glsl finds it; return which place that is."""
        letters, ctx = len(self.scoring.alphabet), self.device.ctx
        padded = np.full((letters, letters + 1), -(2**31), np.int32)
        padded[:, :letters] = self.scoring.matrix.T
        words = np.zeros(-(-padded.size // 4) * 4, np.int32)
        words[: padded.size] = padded.ravel()
        if letters > _LETTERS_IN_BLOCK:
            self._substitution = ctx.texture((letters + 1, letters), 1, padded, dtype="i4")
            return 3
        self._substitution = ctx.buffer(words.tobytes())
        return 1 if self.device.info.software else 2

    def program(self, name: str, **defines: int | None) -> moderngl.ComputeShader:
        """Return a compiled shader with the costs set that its text declares."""
        program = shader.compute(self.device, name, **(self._defines | defines))
        self.set(program, {key: self._uniforms[key] for key in self._uniforms if key in program})
        if isinstance(self._substitution, moderngl.Buffer):
            self._substitution.bind_to_uniform_block(_SUBSTITUTION)
        elif self._substitution is not None:
            self._substitution.use(_SUBSTITUTION)
        return program

    @staticmethod
    def set(program: moderngl.ComputeShader, uniforms: Mapping[str, int]) -> None:
        """Set uniforms by name."""
        for name, value in uniforms.items():
            program[name] = value

    def upload_sequences(self, batch: Batch) -> None:
        """Put the residues of queries and targets into their buffers, once."""
        for binding, sequences in ((QUERIES, batch.queries), (TARGETS, batch.targets)):
            if self._uploaded.get(binding) is not sequences:
                self.upload(binding, sequences.residues)
                self._uploaded[binding] = sequences
            else:
                self._buffers[binding].bind_to_storage_buffer(binding)

    def upload(self, binding: int, data: npt.NDArray[Any]) -> None:
        """Write an array to the start of a buffer, and zeros up to a whole word."""
        content = np.ascontiguousarray(data).tobytes()
        content += bytes(-len(content) % 4)
        buffer = self.reserve(binding, len(content))
        if content:
            buffer.write(content)

    def reserve(self, binding: int, size: int) -> moderngl.Buffer:
        """Return the buffer of a binding, bound, with room for ``size`` bytes."""
        limit = self.device.info.limits["max_storage_block"]
        if size > limit:
            raise DeviceError(
                f"a buffer of {size} bytes is needed, {self.device.info.name} binds {limit}"
            )
        buffer = self._buffers.get(binding)
        if buffer is None or buffer.size < size:
            if buffer is not None:
                buffer.release()
            buffer = self.device.ctx.buffer(reserve=max(16, -(-size // 4) * 4))
            self.device.check(f"allocating {size} bytes")
            self._buffers[binding] = buffer
        buffer.bind_to_storage_buffer(binding)
        return buffer

    def zero(self, binding: int, size: int) -> None:
        """Reserve a buffer and set its first bytes to 0."""
        self.reserve(binding, size).clear(size=size) if size else None

    def download(self, binding: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Read the first values of a buffer."""
        kind = np.dtype(dtype)
        data = self._buffers[binding].read(count * kind.itemsize) if count else b""
        self.device.check("reading results")
        return np.frombuffer(data, kind)
