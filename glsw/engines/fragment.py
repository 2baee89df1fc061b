"""Engine ``fragment``: anti-diagonals drawn into textures (Liu et al. 2006), on OpenGL 3.3."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells
from glsw.device import shader
from glsw.device.device import Device, DeviceError
from glsw.engines.base import (
    ALL_MODES,
    USUAL,
    Capabilities,
    Engine,
    Progress,
    Ties,
    Variant,
    ignore,
)
from glsw.engines.chunks import chunks
from glsw.engines.gl import best_cells
from glsw.engines.recurrence import recurrence_of
from glsw.engines.throttle import Throttle
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import padded

TILES = 8, 4, 1
"""Cells along a tile, from the fastest to what every device draws."""
NARROW, WIDE = 16, 32
"""Bits of a value in the borders of tiles."""
NARROW_LIMIT = 2**15 - 1
_APPLE_BITS = 512
"""Bits of a pixel at most on Apple's GPUs (Metal feature set tables, from Apple4)."""

# Texture units.
_BEST, _COLUMN_H, _ROW_H, _COLUMN_E, _ROW_F, _CORNER = range(6)
_PAIRS, _TARGETS, _QUERY_PROFILE, _QUERIES, _SUBSTITUTION = range(6, 11)


class Fragment(Engine):
    """Draw one anti-diagonal of many tables a pass (Liu et al. 2006, section 5).

    Three buffers of textures change roles cyclically (diagonals k, k - 1, k - 2); pass k draws one
    quad of N pairs x L(k) live tiles; the best cell of a pair flows to its last tile, so that one
    texel a pair comes back. Borders of tiles have 16 bits first; pairs whose score leaves them are
    repeated with 32 bits, in tiles of half the side. Metal draws 512 bits a pixel on Apple's GPUs;
    this engine draws, for ends (96 bits fewer for scores), and takes sequences up to:

    =====  ========  ===========  ===========  =======================
    tile   repeated  affine gaps  linear gaps  longest sequence
    =====  ========  ===========  ===========  =======================
    8 x 8  4 x 4     640 bits     384 bits     4 x the texture limit
    4 x 4  2 x 2     384 bits     256 bits     2 x the texture limit
    1 x 1  (paper)   256 bits     192 bits     the texture limit
    =====  ========  ===========  ===========  =======================

    Parameters
    ----------
    tile : {8, 4, 1}
        Cells along a tile; a smaller one is taken if the device does not draw so many bits. 1, the
        layout of the paper, has 32 bits from the start.
    texels : int
        Texels of a quad at most, N x L(k): what one pass works on.
    """

    name = "fragment"
    variants = (USUAL, Variant("smaller tiles", {"tile": 4}), Variant("single cells", {"tile": 1}))
    capabilities = Capabilities(
        requires=(3, 3),
        modes=ALL_MODES,
        separate_gaps=True,
        positional_gaps=True,
        workloads=("search", "pairs", "long pairs"),
    )

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        tile: int = TILES[0],
        texels: int = 2**18,
    ) -> None:
        super().__init__(scoring, device)
        if tile not in TILES:
            raise ValueError(f"tile {tile}: 8, 4 or 1 expected")
        gaps = scoring.gaps
        costs = gaps.most if gaps else (scoring.insertion.open, scoring.deletion.open)
        # What query_profile.frag looks up, and of how many letters its profiles are.
        self._table = (
            np.column_stack([scoring.matrix, gaps.opens, gaps.extends])
            if gaps
            else (scoring.matrix)
        )
        self._profile_letters = self._table.shape[1] + 1
        self._asked = tile
        self._fits_narrow = max(-scoring.minimum, scoring.maximum, *costs) <= NARROW_LIMIT
        self._texels = texels
        self._letters = len(scoring.alphabet)
        self._inputs: dict[int, moderngl.Texture] = {}
        self._query_profile_of: tuple[Any, ...] = ()
        self._buffers: _Buffers | None = None
        self._throttle = Throttle(self.device)

    @cached_property
    def tile(self) -> int:
        """Cells along a tile of 16-bit borders: as asked for, or what the device draws."""
        linear = self.scoring.linear
        smaller = (each for each in TILES if each <= self._asked)
        return next((t for t in smaller if _draws(self.device, _words(t), linear)), TILES[-1])

    @property
    def longest(self) -> int:
        """Residues of the longest sequence that fits the textures of the device."""
        return self.device.info.limits["max_texture_size"] * _words(self.tile)

    def largest_buffer(self, m: int, n: int, *, alignment: bool = False) -> int:
        """Return 0, or more than any device has if a sequence exceeds the textures."""
        rows = len(self.scoring.matrix) <= self.device.info.limits["max_texture_size"]
        return 0 if max(m, n) <= self.longest and rows else 2**62

    def check(self, batch: Batch) -> None:
        """Raise ValueError if a score could leave int32, or a sequence the textures."""
        super().check(batch)
        rows, most = len(self.scoring.matrix), self.device.info.limits["max_texture_size"]
        if rows > most:
            raise ValueError(f"engine 'fragment' takes profiles of {most} positions, not {rows}")
        for what, lengths in (("query", batch.query_lengths), ("target", batch.target_lengths)):
            if len(lengths) and lengths.max() > self.longest:
                raise ValueError(
                    f"{what} of {lengths.max()} residues: engine 'fragment' takes at most "
                    f"{self.longest} on {self.device.info.name} (texture limit "
                    f"{self.device.info.limits['max_texture_size']})"
                )

    def best(
        self, batch: Batch, ends: bool, progress: Progress, *, ties: Ties = "conventional"
    ) -> BestCells:
        """Return the best cell of each pair, see `Engine.best`; ties are always conventional."""
        found = BestCells.zeros(len(batch))
        todo = np.flatnonzero((batch.query_lengths > 0) & (batch.target_lengths > 0))
        if self.tile == 1 or not self._fits_narrow:
            self._draw(batch, todo, WIDE, found, ends, progress)
        elif self.scoring.local:
            self._draw(batch, todo, NARROW, found, ends, progress)
            overflowed = todo[found.score[todo] > NARROW_LIMIT]
            self._draw(batch, overflowed, WIDE, found, ends, ignore)
        else:  # a cell may be higher than the last one
            fits = self._highest(batch)[todo] <= NARROW_LIMIT
            self._draw(batch, todo[fits], NARROW, found, ends, progress)
            self._draw(batch, todo[~fits], WIDE, found, ends, progress)
        return found

    def _highest(self, batch: Batch) -> npt.NDArray[np.int64]:
        """Return what no value of the tables exceeds."""
        m, n = batch.query_lengths, batch.target_lengths
        gain = max(0, self.scoring.maximum) * np.minimum(m, n)
        highest: npt.NDArray[np.int64] = self.scoring.score_offset(m, n) + gain
        return highest

    def _draw(
        self,
        batch: Batch,
        todo: npt.NDArray[np.intp],
        bits: int,
        found: BestCells,
        ends: bool,
        progress: Progress,
    ) -> None:
        """Fill ``found`` for the pairs ``todo``, a quad of pairs of similar lengths at a time."""
        size, words = self.device.info.limits["max_texture_size"], _words(self.tile)
        for chosen in chunks(
            batch.select(todo),
            area=self._texels * words * WIDE // bits,
            pairs=size,
            queries=size // self._profile_letters,
        ):
            quad = _Quad(batch.select(todo[chosen]), words, bits, ends)
            self._upload(quad)
            last = self._passes(quad, progress)
            found.put(todo[chosen], self._download(quad, last))

    def _upload(self, quad: _Quad) -> None:
        """Put the lengths and residues of the pairs and the query profile into textures."""
        batch = quad.batch
        queries, row = np.unique(batch.query_index, return_inverse=True)
        pairs = np.stack([batch.query_lengths, batch.target_lengths, row, row], axis=1)
        targets = padded(batch.targets, batch.target_index, quad.width, self._letters)
        self._texture(_PAIRS, (1, len(batch)), "i4", pairs.astype(np.int32))
        self._texture(_TARGETS, (quad.columns, len(batch)), "u4", quad.texels(targets), quad.words)
        drawn = (quad.tile, quad.rows, batch.queries, queries.tobytes())
        if drawn == self._query_profile_of:
            self._inputs[_QUERY_PROFILE].use(_QUERY_PROFILE)
        else:
            self._draw_query_profile(quad, queries)
            self._query_profile_of = drawn

    def _draw_query_profile(self, quad: _Quad, queries: npt.NDArray[np.int32]) -> None:
        """Draw the scores of every letter against these queries, see query_profile.frag."""
        rows, columns = self._table.shape
        residues = padded(quad.batch.queries, queries, quad.height, rows)
        self._texture(_QUERIES, (quad.rows, len(queries)), "u4", quad.texels(residues), quad.words)
        self._texture(_SUBSTITUTION, (columns, rows), "i4", self._table, components=1)
        size = quad.rows, len(queries) * self._profile_letters
        query_profile = self._texture(_QUERY_PROFILE, size, "u4", components=quad.words)
        defines = {"TILE": quad.tile, "BITS": quad.bits, "LETTERS": self._letters}
        if columns > self._letters:
            defines["POSITIONAL_GAPS"] = 1
        program = shader.render(self.device, "quad.vert", "query_profile.frag", **defines)
        program["queries"], program["substitution"] = _QUERIES, _SUBSTITUTION
        program["query_letters"] = rows
        # H is at most 2**15 - 1 or 2**31 - 1: a letter of padding ends every alignment.
        program["padding"] = -(2 ** (quad.bits - 1))
        canvas = self.device.ctx.framebuffer([query_profile])
        canvas.viewport = (0, 0, *size)
        with self.device.ctx.scope(canvas, moderngl.NOTHING):
            self.device.ctx.vertex_array(program, []).render(moderngl.TRIANGLE_STRIP, vertices=4)
        canvas.release()
        self.device.check("drawing the query profile")

    def _texture(
        self,
        unit: int,
        size: tuple[int, int],
        dtype: str,
        data: npt.NDArray[Any] | None = None,
        components: int = 4,
    ) -> moderngl.Texture:
        """Bind a new texture to a unit instead of the one that it had."""
        if unit in self._inputs:
            self._inputs[unit].release()
        with self.device.checked(f"allocating a texture of {size[0]} x {size[1]}"):
            texture = self.device.ctx.texture(_uneven(self.device, size), components, dtype=dtype)
            if data is not None:
                content = np.ascontiguousarray(data)
                texture.write(content, viewport=(0, 0, *size), alignment=1)
        texture.use(unit)
        self._inputs[unit] = texture
        return texture

    def _passes(self, quad: _Quad, progress: Progress) -> moderngl.Framebuffer:
        """Draw all diagonals; return the framebuffer of the last one."""
        program = self._program(quad)
        buffers = self._buffers
        if buffers is None or not buffers.fit(quad):
            if buffers is not None:
                buffers.release()
            size = quad.rows, len(quad.batch)
            formats = _formats(quad.components, quad.words, self.scoring.linear)
            buffers = self._buffers = _Buffers(self.device, size, formats)
        vertices = self.device.ctx.vertex_array(program, [])
        count = quad.rows + quad.columns - 1

        def draw(k: int) -> None:
            first = max(0, k - quad.columns + 1)
            live = min(quad.rows, k + 1) - first
            program["diagonal"] = k
            vertices.scope = buffers.role(k, (first, 0, live, len(quad.batch)))
            vertices.render(moderngl.TRIANGLE_STRIP, vertices=4)

        self._throttle.run(count, draw, cells=quad.batch.cells, progress=progress)
        self.device.check("drawing the diagonals")
        return buffers.framebuffer(count - 1)

    def _program(self, quad: _Quad) -> moderngl.Program:
        """Compile the schedule and set what stays the same over all passes."""
        defines = {"TILE": quad.tile, "BITS": quad.bits, "LETTERS": self._letters}
        units = {"best_cells": _BEST, "column_h": _COLUMN_H, "row_h": _ROW_H, "corner_h": _CORNER}
        units |= {"pairs": _PAIRS, "targets": _TARGETS, "query_profile": _QUERY_PROFILE}
        macros, costs = recurrence_of(self.scoring)
        if quad.ends:
            defines["ENDS"] = 1
        if not self.scoring.linear:
            units |= {"column_e": _COLUMN_E, "row_f": _ROW_F}
        program = shader.render(self.device, "quad.vert", "fragment.frag", **defines, **macros)
        for name, value in (units | costs).items():
            if name in program:
                program[name] = value
        return program

    def _download(self, quad: _Quad, last: moderngl.Framebuffer) -> BestCells:
        """Read the best cell of each pair, which has flowed to its last tile."""
        self.device.wait()
        column = last.read(
            viewport=(quad.rows - 1, 0, 1, len(quad.batch)),
            components=quad.components,
            attachment=_BEST,
            alignment=1,
            dtype="i4",
        )
        self.device.check("reading the scores")
        stored = np.frombuffer(column, np.int32).reshape(len(quad.batch), quad.components)
        return best_cells(stored if quad.ends else stored.repeat(3, axis=1))


def _words(tile: int) -> int:
    """Return the 32-bit words of a border: 16 bits for each cell, but 32 for the only one."""
    return max(1, tile // 2)


def _formats(components: int, words: int, linear: bool) -> list[tuple[int, str]]:
    """Return components and type of what a pixel has: the best cell, then the borders."""
    return [(components, "i4")] + [(words, "u4")] * (2 if linear else 4)


def _draws(device: Device, words: int, linear: bool) -> bool:
    """Tell whether a device draws tiles with borders of so many words."""
    formats = _formats(4, words, linear)
    bits = 32 * sum(components for components, _ in formats)
    if bits > _APPLE_BITS and "Apple" in device.info.vendor + device.info.name:
        return False
    with device:
        try:
            _Buffers(device, (1, 1), formats).release()
        except DeviceError:
            return False
    return True


def _uneven(device: Device, size: tuple[int, int]) -> tuple[int, int]:
    """Return a size that has room for this one and no power of two in it, if the device allows.

    llvmpipe compiles a shader anew for each combination of sizes that are powers of two or not.
    """
    limit = device.info.limits["max_texture_size"]
    width, height = (min(limit, n + 1 + (n == 1)) if n & (n - 1) == 0 else n for n in size)
    return width, height


@dataclass(frozen=True)
class _Quad:
    """N pairs that are drawn together: rows x columns tiles each."""

    batch: Batch
    words: int  # of 32 bits in a border
    bits: int  # of a value
    ends: bool

    @property
    def tile(self) -> int:
        return self.words * WIDE // self.bits

    @property
    def rows(self) -> int:
        return -(-int(self.batch.query_lengths.max()) // self.tile)

    @property
    def columns(self) -> int:
        return -(-int(self.batch.target_lengths.max()) // self.tile)

    @property
    def height(self) -> int:
        return self.rows * self.tile

    @property
    def width(self) -> int:
        return self.columns * self.tile

    @property
    def components(self) -> int:
        return 4 if self.ends else 1

    def texels(self, letters: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
        """Pack rows of letters, TILE a texel, as texel.glsl unpacks them."""
        return letters.astype(np.uint16 if self.bits == NARROW else np.uint32).view(np.uint32)


class _Buffers:
    """Three buffers of diagonals that change roles: k is drawn from k - 1 and k - 2 (figure 6)."""

    def __init__(
        self, device: Device, size: tuple[int, int], formats: list[tuple[int, str]]
    ) -> None:
        ctx = device.ctx
        self._size = _uneven(device, size)
        self._components = formats[_BEST][0]
        with device.checked(f"allocating buffers of {self._size[0]} x {self._size[1]} tiles"):
            self._planes = [
                [ctx.texture(self._size, components, dtype=dtype) for components, dtype in formats]
                for _ in range(3)
            ]
            self._framebuffers = [ctx.framebuffer(planes) for planes in self._planes]
            self._scopes = [ctx.scope(each, moderngl.NOTHING) for each in self._framebuffers]

    def fit(self, quad: _Quad) -> bool:
        """Tell whether the buffers are large enough."""
        rows, pairs = self._size
        return (
            quad.components == self._components and quad.rows <= rows and len(quad.batch) <= pairs
        )

    def role(self, k: int, viewport: tuple[int, int, int, int]) -> moderngl.Scope:
        """Bind the textures that diagonal k is drawn from; return where to draw these pixels."""
        for unit, plane in enumerate(self._planes[(k - 1) % 3]):
            plane.use(unit)
        self._planes[(k - 2) % 3][_ROW_H].use(_CORNER)
        self._framebuffers[k % 3].viewport = viewport
        return self._scopes[k % 3]

    def framebuffer(self, k: int) -> moderngl.Framebuffer:
        """Return where diagonal k was drawn."""
        return self._framebuffers[k % 3]

    def release(self) -> None:
        """Free the textures."""
        for scope in self._scopes:
            scope.release()
        for framebuffer, planes in zip(self._framebuffers, self._planes, strict=True):
            framebuffer.release()
            for plane in planes:
                plane.release()
