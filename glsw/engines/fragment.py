"""Engine ``fragment``: anti-diagonals drawn into textures (Liu et al. 2006), on OpenGL 3.3."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch, Masks
from glsw.alignment.paths import BestCells
from glsw.arrays import Bool, Int32, Int64, Intp, UInt8, UInt32
from glsw.device import shader
from glsw.device.device import Device, DeviceError
from glsw.engines.base import ALL_MODES, Capabilities, Engine, Pairs, Progress, Ties, ignore
from glsw.engines.chunks import runs
from glsw.engines.gl import best_cells, recurrence_of
from glsw.engines.throttle import Throttle
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import padded
from glsw.trust.provable import USUAL, Variant

NARROW, WIDE = 16, 32
"""Bits of a value in the borders of tiles."""
NARROW_LIMIT = 2**15 - 1
_MOST_PADDED = 1.25  # cells of all tables, as large as the largest one, to those without padding
_APPLE_BITS = 512
"""Bits of a pixel at most on Apple's GPUs (Metal feature set tables, from Apple4)."""

# Texture units.
_BEST, _ROW_H, *_, _CORNERS = range(8)  # of diagonals; from _ROW_H on borders of tiles
_PAIRS, _TARGETS, _QUERY_PROFILE, _QUERIES, _SUBSTITUTION = range(8, 13)


@dataclass(frozen=True)
class FragmentTile:
    """The cells that one fragment computes, and what is stored of them."""

    words: int  # of 32 bits in a texel, of which a row of the tile is one: 4, 2 or 1
    bits: int  # of a value, `NARROW` or `WIDE`

    @property
    def columns(self) -> int:
        """Cells of a row, which is a texel."""
        return self.words * WIDE // self.bits

    @property
    def texels(self) -> int:
        """Texels of a column: two for tiles that are large anyway."""
        return 2 if self.words == 4 else 1

    @property
    def rows(self) -> int:
        """Cells of a column."""
        return self.columns * self.texels

    @property
    def macros(self) -> dict[str, int]:
        """What texel.glsl and fragment.frag need to know."""
        return {"TILE": self.columns, "BITS": self.bits, "TEXELS": self.texels}

    def packed(self, letters: UInt8) -> UInt32:
        """Return rows of letters as texels of the texture that texel.glsl reads."""
        return letters.astype(np.uint16 if self.bits == NARROW else np.uint32).view(np.uint32)

    def formats(self, ends: bool, linear: bool) -> list[tuple[int, str]]:
        """Return components and type of what a pixel has: the best cell, then the borders."""
        borders = (1 + self.texels) * (1 if linear else 2)
        return [(4 if ends else 1, "i4")] + [(self.words, "u4")] * borders


TILES = {8: FragmentTile(4, NARROW), 4: FragmentTile(2, NARROW), 1: FragmentTile(1, WIDE)}
"""Tiles by their columns, from the fastest to what every device draws: the cell of the paper."""


class Fragment(Engine):
    """Draw one anti-diagonal of many tables per pass (Liu et al. 2006, section 5).

    Three texture buffers rotate (diagonals k, k - 1, k - 2); pass k draws one quad of N pairs x
    L(k) live tiles; the best cell of a pair flows to its last tile, so one texel per pair is read
    back. Tile borders have 16 bits at first; pairs whose scores overflow are repeated with 32 bits,
    in tiles of half the side. Metal allows 512 bits per pixel on Apple's GPUs. This engine draws
    the following bits for ends (96 fewer for scores), and accepts sequences up to:

    ======  ========  ===========  ===========  =======================
    tile    repeated  affine gaps  linear gaps  longest sequence
    ======  ========  ===========  ===========  =======================
    16 x 8  8 x 4     896 bits     512 bits     4 x the texture limit
    4 x 4   2 x 2     384 bits     256 bits     2 x the texture limit
    1 x 1   (paper)   256 bits     192 bits     the texture limit
    ======  ========  ===========  ===========  =======================

    Parameters
    ----------
    tile : {8, 4, 1}
        Columns of a tile, fewer if the device does not draw that many bits. 1, the layout of the
        paper, uses 32 bits from the start.
    texels : int
        Maximum texels of a quad, N x L(k), i.e. the work of one pass.
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
        tile: int = 8,
        texels: int = 2**18,
    ) -> None:
        super().__init__(scoring, device)
        if tile not in TILES:
            raise ValueError(f"tile {tile}: 8, 4 or 1 expected")
        gaps = scoring.gaps
        costs = gaps.most if gaps else (scoring.insertion.open, scoring.deletion.open)
        # What query_profile.frag looks up, and of how many letters its profiles are.
        costs_by_row = [gaps.opens, gaps.extends, gaps.sums] if gaps else []
        self._table = np.column_stack([scoring.matrix, *costs_by_row])
        self._profile_letters = self._table.shape[1] + 1
        self._asked = tile
        self._fits_narrow = max(-scoring.minimum, scoring.maximum, *costs) <= NARROW_LIMIT and (
            scoring.local or not gaps  # of which there are sums
        )
        self._texels = texels
        self._letters, self._linear = len(scoring.alphabet), scoring.linear
        self._inputs: dict[int, moderngl.Texture] = {}
        self._query_profile_of: tuple[Any, ...] = ()
        self._buffers: _Buffers | None = None
        self._throttle, self._opened = Throttle(self.device), self.device.opened

    @cached_property
    def tile(self) -> FragmentTile:
        """The tile of 16-bit borders: as asked for, or what the device draws."""
        tiles = [tile for columns, tile in TILES.items() if columns <= self._asked]
        drawn = (tile for tile in tiles if _draws(self.device, tile.formats(True, self._linear)))
        return next(drawn, tiles[-1])

    @property
    def longest(self) -> int:
        """Residues of the longest sequence that fits the textures of the device."""
        return self.device.info.limits["max_texture_size"] * self.tile.words

    def fits(self, asked: Pairs) -> bool:
        """Tell whether no sequence exceeds the textures, nor the positions of profiles."""
        rows = len(self.scoring.matrix) <= self.device.info.limits["max_texture_size"]
        longest = int(asked.batch.extent[1].max())
        return super().fits(asked) and rows and longest <= self.longest

    def check_lengths(self, m: int, n: int, masks: Masks | None = None) -> None:
        """Raise ValueError as of `Engine.check_lengths`, and for what exceeds the textures."""
        super().check_lengths(m, n)
        rows, most = len(self.scoring.matrix), self.device.info.limits["max_texture_size"]
        if rows > most:
            raise ValueError(f"engine 'fragment' takes profiles of {most} positions, not {rows}")
        for what, length in (("query", m), ("target", n)):
            if length > self.longest:
                raise ValueError(
                    f"{what} of {length} residues: engine 'fragment' takes at most "
                    f"{self.longest} on {self.device.info.name} (texture limit "
                    f"{self.device.info.limits['max_texture_size']})"
                )

    def best(self, asked: Pairs, progress: Progress) -> BestCells:
        """Return the best cell of each pair, see `Engine.best`; ties are always conventional."""
        batch, ends = asked.batch, asked.ends
        found = BestCells.zeros(len(batch))
        todo = np.flatnonzero((batch.query_lengths > 0) & (batch.target_lengths > 0))
        if self.tile.bits == WIDE or not self._fits_narrow:
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

    def _highest(self, batch: Batch) -> Int64:
        """Return what no value of the tables exceeds."""
        m, n = batch.query_lengths, batch.target_lengths
        gain = max(0, self.scoring.maximum) * np.minimum(m, n)
        highest: Int64 = self.scoring.score_offset(m, n) + gain
        return highest

    def _draw(
        self,
        batch: Batch,
        todo: Intp,
        bits: int,
        found: BestCells,
        ends: Ties | None,
        progress: Progress,
    ) -> None:
        """Fill ``found`` for the pairs ``todo``, a quad of pairs of similar lengths at a time."""
        size, tile = (
            self.device.info.limits["max_texture_size"],
            FragmentTile(self.tile.words, bits),
        )
        formats = tile.formats(bool(ends), self._linear)
        area, queries = self._texels * tile.rows, size // self._profile_letters
        # Queries within a quarter of each other's length share a bin; targets are sorted inside it.
        bins = np.floor(np.log(batch.query_lengths[todo]) / np.log(1.25))
        todo = todo[np.lexsort((batch.target_lengths[todo], bins))]
        lengths, query = batch.lengths[todo], batch.query_index[todo]

        def too_much(some: slice, count: Int64, m: Int64, n: Int64) -> Bool:
            cells, full = m * n * count, m * count > area // 16
            full |= cells > 16 * area
            full &= cells > _MOST_PADDED * np.cumsum(lengths[some].prod(axis=1))
            full |= m * count > area
            first = np.unique(query[some], return_index=True)[1]
            full[np.sort(first)[queries:]] = True
            return full

        for run in runs(lengths, too_much, size):
            chosen = todo[run]
            quad = _Quad(batch.select(chosen), tile, formats)
            self._upload(quad)
            last = self._passes(quad, progress)
            found.put(chosen, self._download(quad, last))

    def _upload(self, quad: _Quad) -> None:
        """Put the lengths and residues of the pairs and the query profile into textures."""
        batch = quad.batch
        queries, row = np.unique(batch.query_index, return_inverse=True)
        pairs = np.stack([batch.query_lengths, batch.target_lengths, row, row], axis=1)
        width, tile = quad.columns * quad.tile.columns, quad.tile
        targets = padded(batch.targets, batch.target_index, width, self._letters)
        self._texture(_PAIRS, (1, len(batch)), "i4", pairs.astype(np.int32))
        self._texture(_TARGETS, (quad.columns, len(batch)), "u4", tile.packed(targets), tile.words)
        drawn = (tile, quad.rows, batch.queries, queries.tobytes())
        if drawn != self._query_profile_of:
            self._query_profile_of = ()  # if drawing fails
            self._draw_query_profile(quad, queries)
            self._query_profile_of = drawn
        self._inputs[_QUERY_PROFILE].use(_QUERY_PROFILE)  # after it is drawn

    def _draw_query_profile(self, quad: _Quad, queries: Int32) -> None:
        """Draw the scores of every letter against these queries, see query_profile.frag."""
        rows, columns = self._table.shape
        tile, width = quad.tile, quad.rows * quad.tile.texels
        residues = padded(quad.batch.queries, queries, quad.rows * tile.rows, rows)
        self._texture(_QUERIES, (width, len(queries)), "u4", tile.packed(residues), tile.words)
        self._texture(_SUBSTITUTION, (columns, rows), "i4", self._table, components=1)
        size = width, len(queries) * self._profile_letters
        query_profile = self._texture(_QUERY_PROFILE, size, "u4", components=tile.words)
        defines = tile.macros | {"LETTERS": self._letters}
        if columns > self._letters:
            defines["POSITIONAL_GAPS"] = 1
        program = shader.render(self.device, "quad.vert", "query_profile.frag", **defines)
        program["queries"], program["substitution"] = _QUERIES, _SUBSTITUTION
        program["query_letters"] = rows
        # H is at most 2**15 - 1 or 2**31 - 1: a letter of padding ends every alignment.
        program["padding"] = -(2 ** (tile.bits - 1))
        canvas = self.device.ctx.framebuffer([query_profile])
        canvas.viewport = (0, 0, *size)
        with _drawing(self.device):
            canvas.use()
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
        self.device.since(self._opened)
        program = self._program(quad)
        buffers = self._buffers
        if buffers is None or not buffers.fit(quad.size, quad.formats):
            if buffers is not None:
                buffers.release()
            buffers = self._buffers = _Buffers(self.device, quad.size, quad.formats)
        vertices = self.device.ctx.vertex_array(program, [])
        count = quad.rows + quad.columns - 1

        def draw(k: int) -> None:
            first = max(0, k - quad.columns + 1)
            live = min(quad.rows, k + 1) - first
            program["diagonal"] = k
            buffers.use(k, (first, 0, live, len(quad.batch)))
            vertices.render(moderngl.TRIANGLE_STRIP, vertices=4)

        with _drawing(self.device):
            self._throttle.run(count, draw, cells=quad.batch.cells, progress=progress)
        self.device.check("drawing the diagonals")
        return buffers.framebuffer(count - 1)

    def _program(self, quad: _Quad) -> moderngl.Program:
        """Compile the schedule and set what stays the same over all passes."""
        borders = tuple(range(_ROW_H, len(quad.formats)))
        units = {"best_cells": _BEST, "borders": borders, "corners": _CORNERS}
        units |= {"pairs": _PAIRS, "targets": _TARGETS, "query_profile": _QUERY_PROFILE}
        macros, costs = recurrence_of(self.scoring)
        macros |= quad.tile.macros | {"LETTERS": self._letters}
        if quad.components > 1:
            macros["ENDS"] = 1
        program = shader.render(self.device, "quad.vert", "fragment.frag", **macros)
        for name, value in (units | costs).items():
            if name in program:
                program[name] = value
        return program

    def _download(self, quad: _Quad, last: moderngl.Framebuffer) -> BestCells:
        """Read the best cell of each pair, which has flowed to its last tile."""
        column = self.device.readback.pixels(
            last,
            viewport=(quad.rows - 1, 0, 1, len(quad.batch)),
            components=4,  # as OpenGL ES always reads them
            attachment=_BEST,
            alignment=1,
            dtype="i4",
        )
        self.device.check("reading the scores")
        stored = np.frombuffer(column, np.int32).reshape(len(quad.batch), 4)
        return best_cells(stored if quad.components > 1 else stored[:, :1].repeat(3, axis=1))


@contextmanager
def _drawing(device: Device) -> Iterator[None]:
    """Use framebuffers in a ``with`` block, which may be released after it.

    moderngl's scopes would disable what OpenGL ES does not know.
    """
    try:
        yield
    finally:
        device.ctx.detect_framebuffer(0).use()


def _draws(device: Device, formats: list[tuple[int, str]]) -> bool:
    """Tell whether a device draws pixels of these formats."""
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
    tile: FragmentTile
    formats: list[tuple[int, str]]

    @property
    def rows(self) -> int:
        return -(-int(self.batch.query_lengths.max()) // self.tile.rows)

    @property
    def columns(self) -> int:
        return -(-int(self.batch.target_lengths.max()) // self.tile.columns)

    @property
    def size(self) -> tuple[int, int]:
        return self.rows, len(self.batch)

    @property
    def components(self) -> int:
        return self.formats[_BEST][0]


class _Buffers:
    """Three buffers of diagonals that change roles: k is drawn from k - 1 and k - 2 (figure 6)."""

    def __init__(
        self, device: Device, size: tuple[int, int], formats: list[tuple[int, str]]
    ) -> None:
        ctx = device.ctx
        self._size, self._formats = _uneven(device, size), formats
        with device.checked(f"allocating buffers of {self._size[0]} x {self._size[1]} tiles"):
            self._planes = [
                [ctx.texture(self._size, components, dtype=dtype) for components, dtype in formats]
                for _ in range(3)
            ]
            self._framebuffers = [ctx.framebuffer(planes) for planes in self._planes]

    def fit(self, size: tuple[int, int], formats: list[tuple[int, str]]) -> bool:
        """Tell whether the buffers have these formats and are large enough."""
        return formats == self._formats and size[0] <= self._size[0] and size[1] <= self._size[1]

    def use(self, k: int, viewport: tuple[int, int, int, int]) -> None:
        """Bind the textures that diagonal k is drawn from, and its framebuffer with a viewport."""
        for unit, plane in enumerate(self._planes[(k - 1) % 3]):
            plane.use(unit)
        self._planes[(k - 2) % 3][_ROW_H].use(_CORNERS)
        self._framebuffers[k % 3].viewport = viewport
        self._framebuffers[k % 3].use()

    def framebuffer(self, k: int) -> moderngl.Framebuffer:
        """Return where diagonal k was drawn."""
        return self._framebuffers[k % 3]

    def release(self) -> None:
        """Free the textures."""
        for framebuffer, planes in zip(self._framebuffers, self._planes, strict=True):
            framebuffer.release()
            for plane in planes:
                plane.release()
