"""What the engines of compute shaders share: pairs, scores and results in buffers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device import shader
from glsw.device.device import Device, DeviceMemoryError
from glsw.engines.base import Engine
from glsw.engines.recurrence import Uniform, recurrence_of
from glsw.engines.throttle import Throttle
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

# Storage buffers.
QUERIES, TARGETS, PAIRS, ROW_ABOVE, BEST, DIRECTIONS, TRACES, PATHS = range(8)
_SUBSTITUTION = 0  # uniform block, or texture unit
LETTERS_IN_BLOCK = 62  # whose scores fit the 16 KiB that every uniform block may have
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
        ("row_above", np.uint32),
        ("directions", np.uint32),
        ("path", np.uint32),
        ("mask", np.uint32),
    ]
)
"""A pair as pairs.glsl has it."""


def upload_scores(
    device: Device, matrix: npt.NDArray[np.int32], padding: int
) -> tuple[int, moderngl.Buffer | moderngl.Texture]:
    """Put a matrix, shape (A, A), where scoring.glsl finds it; return which place that is, and it.

    A query letter A scores ``padding`` with every target letter.
    """
    letters = len(matrix)
    padded = np.full((letters, letters + 1), padding, np.int32)
    padded[:, :letters] = matrix.T
    if letters > LETTERS_IN_BLOCK:
        texture = device.ctx.texture((letters + 1, letters), 1, padded, dtype="i4")
        return 3, texture
    words = np.zeros(-(-padded.size // 4) * 4, np.int32)
    words[: padded.size] = padded.ravel()
    return 1 if device.info.software else 2, device.ctx.buffer(words.tobytes())


def bind_scores(substitution: moderngl.Buffer | moderngl.Texture | None) -> None:
    """Bind what `upload_scores` has made."""
    if isinstance(substitution, moderngl.Buffer):
        substitution.bind_to_uniform_block(_SUBSTITUTION)
    elif substitution is not None:
        substitution.use(_SUBSTITUTION)


class Storage:
    """The storage buffers of an engine by binding, or by name where several share a binding."""

    def __init__(self, device: Device) -> None:
        self._device_of_buffers = device
        self._buffers: dict[Hashable, moderngl.Buffer] = {}

    def reserve(self, binding: int, size: int, *, name: Hashable = None) -> moderngl.Buffer:
        """Return the buffer of a binding or name, bound, with room for ``size`` bytes."""
        device, key = self._device_of_buffers, binding if name is None else name
        limit = device.info.limits["max_storage_block"]
        if size > limit:
            raise DeviceMemoryError(
                f"a buffer of {size} bytes is needed, {device.info.name} binds {limit}"
            )
        buffer = self._buffers.get(key)
        if buffer is None or buffer.size < size:
            if buffer is not None:
                del self._buffers[key]
                buffer.release()
            buffer = device.ctx.buffer(reserve=max(16, -(-size // 4) * 4))
            device.check(f"allocating {size} bytes")
            self._buffers[key] = buffer
        buffer.bind_to_storage_buffer(binding)
        return buffer

    def upload(self, binding: int, data: npt.NDArray[Any], *, name: Hashable = None) -> None:
        """Write an array to the start of a buffer, and zeros up to a whole word."""
        content = np.ascontiguousarray(data).tobytes()
        content += bytes(-len(content) % 4)
        buffer = self.reserve(binding, len(content), name=name)
        if content:
            buffer.write(content)

    def download_into(self, binding: int, array: npt.NDArray[Any]) -> None:
        """Fill a contiguous array from the start of a buffer."""
        if array.size:
            self._buffers[binding].read_into(array, array.nbytes)
        self._device_of_buffers.check("reading results")

    def zero(self, binding: int, size: int, *, name: Hashable = None) -> None:
        """Reserve a buffer and set its first bytes to 0."""
        buffer = self.reserve(binding, size, name=name)
        if size:
            buffer.clear(size=size)

    def download(
        self, binding: int, dtype: npt.DTypeLike, count: int, *, name: Hashable = None
    ) -> npt.NDArray[Any]:
        """Read the first values of a buffer."""
        kind = np.dtype(dtype)
        buffer = self._buffers[binding if name is None else name]
        data = buffer.read(count * kind.itemsize) if count else b""
        self._device_of_buffers.check("reading results")
        return np.frombuffer(data, kind)


class Programs(Storage):
    """What engines of compute shaders compile, with their scoring."""

    _defines: dict[str, int]
    _uniforms: dict[str, Uniform]
    _substitution: moderngl.Buffer | moderngl.Texture | None

    def program(self, name: str, **defines: int | None) -> moderngl.ComputeShader:
        """Return a compiled shader with the scores set that its text declares."""
        program = shader.compute(self._device_of_buffers, name, **(self._defines | defines))
        self.set(program, {key: self._uniforms[key] for key in self._uniforms if key in program})
        bind_scores(self._substitution)
        return program

    @staticmethod
    def set(program: moderngl.ComputeShader, uniforms: Mapping[str, Uniform]) -> None:
        """Set uniforms by name."""
        for name, value in uniforms.items():
            program[name] = value


class ComputeEngine(Programs, Engine):
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
        Engine.__init__(self, scoring, device)
        Storage.__init__(self, self.device)
        self._workgroup = workgroup
        self._throttle = Throttle(self.device, first=1)
        self._uploaded: dict[int, Sequences] = {}
        self._substitution: moderngl.Buffer | moderngl.Texture | None = None
        letters = len(scoring.alphabet)
        self._defines: dict[str, int] = {"LETTERS": letters, "ROWS": ROWS, "STEP": STEP}
        defines, self._uniforms = recurrence_of(scoring)
        self._defines |= defines
        if scoring.match_and_mismatch and self.device.info.software:
            self._defines |= {"SCORES": 0, "AMBIGUOUS": scoring.match_and_mismatch[2]}
            self._uniforms["match"], self._uniforms["mismatch"] = scoring.match_and_mismatch[:2]
        else:
            self._defines["SCORES"] = self._upload_scores()

    def _upload_scores(self) -> int:
        """Put the matrix where scoring.glsl finds it; return which place that is."""
        place, self._substitution = upload_scores(self.device, self.scoring.matrix, -(2**31))
        return place

    def upload_sequences(self, batch: Batch) -> None:
        """Put the residues of queries and targets into their buffers, once."""
        for binding, sequences in ((QUERIES, batch.queries), (TARGETS, batch.targets)):
            if self._uploaded.get(binding) is not sequences:
                self.upload(binding, sequences.residues)
                self._uploaded[binding] = sequences
            else:
                self._buffers[binding].bind_to_storage_buffer(binding)
