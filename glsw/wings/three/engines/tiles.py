"""Tiles of the engine ``subtable``: their shape, which ones fit, and the bytes of each buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from glsw.arrays import Int32, Int64, Intp, Structured
from glsw.device.info import DeviceInfo
from glsw.engines.chunks import Layout
from glsw.engines.gl import LETTERS_IN_BLOCK, Binding
from glsw.wings.three.engines import gl
from glsw.wings.three.engines.gl import Extents, letter_count
from glsw.wings.three.scoring import Scoring3

NEVER = 2**30
_NUMBERS = 256  # cells that cube.glsl can tell apart in a sub-table, by how far behind they lie
_ENOUGH_ROWS = 16
_TILE_ROWS = {False: (8, 32), True: (16, 128)}  # of few and many rows, on software renderers or not
_LEAST_ROWS = 32  # at once, for want of memory
_PACKED_COST = 2**10 - 1  # what the cost to open an affine gap has to be less than, see cube.glsl
_BATCH = 4  # steps whose sides a tile gets at once
_HELPERS = 32  # invocations that get sides; as many others leave them
_AHEAD = 2  # steps before the first of a batch, when tiles ask for it
_MOST_INVOCATIONS = 1024  # that OpenGL promises


@dataclass(frozen=True)
class CubeSizes:
    """Sizes at which engines of three sequences change what they do."""

    many_triples: int = 256  # whose tiles keep a large device busy
    packed: int = 2**16 - 1  # what scores have to be less than for packed sides
    planned_triples: int = 2**12  # of a batch whose chunks are kept
    plans: int = 8  # such batches
    info: DeviceInfo | None = None  # of the device that tiles are for, if not the engine's


class TileShape(NamedTuple):
    """The shape of tiles, compiled into the shaders.

    Parameters
    ----------
    side : int
        Cells of a sub-table along the second and the third sequence.
    lanes_j, lanes_k : int
        Columns of sub-tables in a work group along these.
    deep : int
        Cells of a sub-table along the first sequence.
    """

    side: int
    lanes_j: int
    lanes_k: int
    deep: int = 4

    def check(self) -> None:
        """Raise ValueError if there are no such tiles."""
        side, lanes_j, lanes_k, deep = self
        lanes, behind = lanes_j * lanes_k, ((deep + 2 * side - 3) * deep + deep - 1) * side + side
        if min(self) < 1 or lanes & (lanes - 1) or behind > _NUMBERS:
            raise ValueError(
                f"{self}: numbers from 1 on, a power of two of lanes and sub-tables of not much "
                "more than 4 x 4 x 4 cells expected"
            )

    @property
    def width(self) -> tuple[int, int]:
        """Cells of a work group along j and k."""
        return self.side * self.lanes_j, self.side * self.lanes_k

    @property
    def lanes(self) -> int:
        """Invocations that compute, in a work group."""
        return self.lanes_j * self.lanes_k

    @property
    def defines(self) -> dict[str, int]:
        """The defines of the shaders."""
        names = "SIDE", "LANES_J", "LANES_K", "DEEP"
        return dict(zip(names, self, strict=True))

    def words(self, bits: int) -> int:
        """Words of a sub-table that has so many bits for each cell."""
        return -(-self.deep * self.side**2 * bits // 32)


class TileForm(NamedTuple):
    """The form of tiles, all of it compiled into the shaders."""

    shape: TileShape
    linear: bool  # whether gaps are linear
    packed: int  # how sides have several values in a word, see cube.glsl; 0: not at all
    polling: bool  # whether tiles wait for the sides of others: all are computed in one dispatch
    tile_rows: int  # rows of a tile; with `polling` those of a dispatch

    @property
    def side_bytes(self) -> int:
        """Bytes of a side of a cell; with linear gaps and packed, of two."""
        return 4 if self.linear else 8 if self.packed else 16

    @property
    def row_words(self) -> tuple[int, int]:
        """Sides of a row that a tile hands on, along j and along k."""
        side, per_word = self.shape.side, 2 if self.packed == 1 and self.linear else 1
        return (
            -(-(side + 1) // per_word) * self.shape.lanes_k,
            -(-side // per_word) * self.shape.lanes_j,
        )

    @property
    def defines(self) -> dict[str, int | None]:
        """The defines of the shaders."""
        defines = {"PACKED": self.packed or None, **self.shape.defines}
        if not self.polling:
            return defines | {"WORKGROUP": self.shape.lanes, "TILE_ROWS": self.tile_rows}
        asked = sum(-(-_BATCH * self.shape.deep * row // _HELPERS) for row in self.row_words)
        return defines | {
            "WORKGROUP": self.shape.lanes + 2 * _HELPERS,
            "HELPERS": _HELPERS,
            "BATCH": _BATCH,
            "AHEAD": _AHEAD,
            "HELD": max((self.shape.side + 1) ** 2, asked),
            "LETTERS_AT_ONCE": self._letters,
            # No H is negative, and of several values in a word one is below its highest.
            "EMPTY": -1 if self.linear or self.packed else 1 - 2**31,
        }

    @property
    def _letters(self) -> int:
        """Letters of the first sequence in shared memory; where tiles wait, a power of two."""
        if not self.polling:
            return self.tile_rows
        steps = self.shape.lanes_j + self.shape.lanes_k + 2 * _BATCH
        return 1 << (steps * self.shape.deep - 1).bit_length()

    def shared_memory(self, scoring: Scoring3) -> int:
        """Return the bytes of shared memory that a work group takes."""
        (_, lanes_j, lanes_k, deep), (j_row, k_row) = self.shape, self.row_words
        steps = 2 * _BATCH if self.polling else self.tile_rows // deep + max(lanes_j, lanes_k) - 1
        between = 2 * (j_row * lanes_j + (k_row + 32 // lanes_k) * lanes_k)
        sides = deep * (steps * (j_row + k_row) + between) * self.side_bytes
        count = letter_count(scoring)
        shared_scores = scoring.scheme != "identity" and count <= LETTERS_IN_BLOCK
        scores = 4 * count * (count + 1) if shared_scores else 0
        return sides + scores + 16 * self.shape.lanes + 4 * self._letters + 16

    @property
    def behind(self) -> int:
        """Sides behind the last ones that a tile asks for: two batches of steps."""
        return 2 * _BATCH * self.shape.deep * max(self.row_words) + _HELPERS


_LINEAR = [TileShape(4, 16, 8, 1), TileShape(4, 8, 8, 1)]
_TRACED_LINEAR = [TileShape(3, *lanes, 1) for lanes in ((16, 16), (16, 8), (8, 8))]  # 27 bits
_AFFINE = [TileShape(2, *lanes, 1) for lanes in ((16, 16), (16, 8), (8, 8), (8, 4))]


def is_nvidia(info: DeviceInfo) -> bool:
    """Tell whether a device has NVIDIA's own driver.

    Work groups that have begun go on there, also while others wait for them. No vendor promises
    that; elsewhere it has to be proved, see `Subtable.variants`.
    """
    return info.vendor.startswith("NVIDIA") and not info.software


class TileForms:
    """Choose the form of tiles for triples: as requested, else as suits device and scoring."""

    def __init__(
        self,
        scoring: Scoring3,
        info: DeviceInfo,
        shape: TileShape | None = None,
        depth: int | None = None,
        packed: bool | None = None,
        polling: bool | None = None,
        limits: CubeSizes = CubeSizes(),
    ) -> None:
        self._scoring, self._limits, self._info = scoring, limits, limits.info or info
        self._shape, self._depth, self._packed = shape, depth, packed
        self._shared = self._info.limits["max_shared_memory"]
        # Whether tiles wait for one another, where they are not too large for that.
        self.polling = is_nvidia(info) if polling is None else polling
        for trace in (False, True):
            self.form(trace, int(packed is not False), 1)

    def of(self, extents: Extents, chosen: Intp, trace: bool) -> TileForm:
        """Return the form for some triples."""
        lengths, opens = extents.lengths[chosen], self._scoring.costs.opens
        bound = extents.origin + int(self._scoring.bounds(lengths).max()) + opens
        by_cost = not self._scoring.linear and opens < _PACKED_COST
        packed = 1 if bound < self._limits.packed else 2 if by_cost else 0
        if self._packed and not packed:
            raise ValueError(
                f"packed sides need scores below {self._limits.packed}, {bound} is possible; or "
                f"affine gaps that cost less than {_PACKED_COST} to open, these cost {opens}"
            )
        packed *= self._packed is not False
        many = len(chosen) >= self._limits.many_triples
        return self.form(trace, packed, int(lengths[:, 0].max()), many)

    def form(self, trace: bool, packed: int, rows: int, many: bool = False) -> TileForm:
        """Return a form for so many rows; ValueError if none fits the shared memory."""
        software = self._info.software
        short, long = _TILE_ROWS[software]
        usual = long if rows > 2 * short else short
        enough = 0 if self._depth or software else min(usual, _ENOUGH_ROWS)
        low: TileForm | None = None
        for shape in self.shapes(trace, packed, many):
            form = self._form_of(shape, packed, NEVER if self.polling else usual)
            if (needed := form.shared_memory(self._scoring)) <= self._shared:
                if form.tile_rows >= enough:  # else a tile is mostly its begin and end
                    return form
                low = low or form
        if low:
            return low
        raise ValueError(
            f"{shape} takes {needed} bytes of shared memory, {self._info.name} has {self._shared}"
        )

    def _form_of(self, shape: TileShape, packed: int, rows: int) -> TileForm:
        """Return the form of a shape, with fewer rows of a tile where they do not fit."""
        depth = self._depth or max(1, rows // shape.deep)
        polling = self.polling and shape.lanes + 2 * _HELPERS <= _MOST_INVOCATIONS
        form = TileForm(shape, self._scoring.linear, packed, polling, depth * shape.deep)
        while form.shared_memory(self._scoring) > self._shared and not self._depth and depth > 1:
            depth = max(1, depth * 3 // 4)
            form = form._replace(tile_rows=depth * shape.deep)
        return form

    def shapes(self, trace: bool, packed: int, many: bool) -> list[TileShape]:
        """Return the requested shape, or several, the fastest of ``many`` triples first.

        Those for NVIDIA were measured. Elsewhere lanes have so few cells that they find room in 128
        registers: compilers for Intel take seconds to find none.
        """
        if self._shape:
            return [self._shape]
        linear, identity = self._scoring.linear, self._scoring.scheme == "identity"
        deep = 2 if trace and linear else 1  # of which directions fill words
        if self._info.software:
            return [TileShape(4 if linear else 2, 8, 8, deep)]
        small = _TRACED_LINEAR if trace and linear else _LINEAR if linear else _AFFINE
        if not is_nvidia(self._info):
            return small
        shapes = [TileShape(4, 16, 8, deep), TileShape(4, 8, 8, deep), *small]
        if many and not trace and linear and identity:
            return [TileShape(4, 16, 16, deep), *shapes]
        if many and not trace and packed and not linear and not identity:
            return [TileShape(3, 16, 16, deep), *shapes]
        return shapes if linear or packed else shapes[1:]


class RowRange(NamedTuple):
    """Rows from first to stop - 1, and at most ``patches`` along j and k."""

    first: int
    stop: int
    patches: tuple[int, int] = (NEVER, NEVER)

    def parts(self, most: int) -> Iterator[RowRange]:
        """Yield ranges of at most so many rows; of all of them if there are no more."""
        for first in range(self.first, self.stop, most):
            yield self._replace(first=first, stop=min(first + most, self.stop))


@dataclass(frozen=True, eq=False)
class Chunk:
    """Triples that are computed together, and their share of each buffer; arrays are per triple.

    A patch is what a tile has along j and k.
    """

    extents: Extents
    chosen: Intp  # numbers of the triples, none with an empty sequence
    form: TileForm
    trace: bool = False  # whether paths are traced
    masked: bool = False  # and cells forbidden
    spacing: int = NEVER  # rows between two planes that are kept, a multiple of a sub-table's
    most_rows: int = NEVER  # rows whose sides there is room for, likewise

    def smaller(self, keeps_planes: bool) -> Iterator[Chunk]:
        """Yield the same with fewer and fewer rows at once, if tiles wait for one another.

        Then with more and more planes that are kept, if they may be.
        """
        deep, rows = self.form.shape.deep, self.rows_at_once
        yield self
        while self.form.polling and rows > _LEAST_ROWS:
            rows = _whole(-(-rows // 2), deep)
            yield replace(self, most_rows=rows)
        if keeps_planes:
            for spacing in dict.fromkeys(
                _whole(-(-self.rows // k), deep) for k in range(2, self.rows + 1)
            ):
                yield from replace(self, spacing=spacing).smaller(False)

    @cached_property
    def lengths(self) -> Int64:
        """Letters of the three, shape (N, 3)."""
        return self.extents.lengths[self.chosen]

    @cached_property
    def patches(self) -> Int64:
        """Patches along j and k, shape (N, 2)."""
        patches: Int64 = -(-self.lengths[:, 1:] // np.array(self.form.shape.width))
        return patches

    @cached_property
    def rows(self) -> int:
        """The most rows of sub-tables."""
        return int(_whole(self.lengths[:, 0].max(), self.form.shape.deep))

    @property
    def rows_at_once(self) -> int:
        """Rows from one dispatch, or several that follow one another, to the next."""
        return min(self.rows, self.spacing, self.most_rows)

    @cached_property
    def cells(self) -> int:
        """Cells of all tables, for progress."""
        return int((self.lengths - self.extents.before).prod(axis=1).sum())

    def cells_before(self, row: int) -> int:
        """Cells of all tables before a row, about; exact behind the last one."""
        return self.cells * row // self.rows

    def rows_of(self, cells: int) -> int:
        """Return the rows, whole sub-tables, that have about so many cells."""
        deep = self.form.shape.deep
        return max(deep, cells * self.rows // max(1, self.cells) // deep * deep)

    def part_above(self, at: Int32) -> RowRange:
        """Return the rows from the last kept plane to the cell at (i, j, k), from 1."""
        i, j, k = (max(1, int(x)) for x in at)
        width, deep = self.form.shape.width, self.form.shape.deep
        first = (i - 1) // self.spacing * self.spacing
        return RowRange(first, _whole(i, deep), (-(-j // width[0]), -(-k // width[1])))

    # the layout of buffers

    @cached_property
    def layout(self) -> Layout:
        """What each triple has: sides, best cells, else words of 4 bytes.

        ``i_sides``, ``j_sides`` and ``k_sides`` are the planes between tiles; ``kept`` are those
        across i that stay.
        """
        (side, lanes_j, lanes_k, deep), (j_row, k_row) = self.form.shape, self.form.row_words
        all_rows = _whole(self.lengths[:, 0], deep)
        j, k = self.patches.T
        columns = j * k * self.form.shape.lanes
        plane = columns * (side + 1) ** 2
        rows: Any = np.minimum(all_rows, self.rows_at_once)
        j_places = k_places = j * k
        if not self.form.polling:
            tiles = -(-rows // self.form.tile_rows)
            j_places, k_places, rows = tiles * k, tiles * j, self.form.tile_rows
        bits = self.form.shape.words(3 if self.form.linear else 16)
        between = np.minimum(all_rows, self.spacing) // deep
        units = {
            "i_sides": plane,
            "j_sides": j_places * (rows + (lanes_k - 1) * deep) * j_row,
            "k_sides": k_places * (rows + (lanes_j - 1) * deep) * k_row,
            "kept": self.trace * (all_rows // self.spacing) * plane,
            "best": j * k,
            "directions": self.trace * between * bits * columns,
            "mask": self.masked * (all_rows // deep) * self.form.shape.words(1) * columns,
            "path": self.trace * self.lengths.sum(axis=1),
        }
        sides = dict.fromkeys(("i_sides", "j_sides", "k_sides", "kept"), self.form.side_bytes)
        unit_bytes = dict.fromkeys(units, 4) | sides | {"best": 16}
        return Layout(units, unit_bytes, fixed=gl.TRIPLE.itemsize + 36)

    @cached_property
    def sizes(self) -> dict[Binding, int]:
        """Bytes of the buffers of tiles; masks have their own."""
        size = self.layout.size
        sides = size("i_sides") + size("j_sides") + size("k_sides")
        return {
            gl.SIDES: sides + self.form.side_bytes * self.form.behind,
            gl.BEST: size("best"),
            gl.KEPT: size("kept"),
            gl.DIRECTIONS: size("directions"),
        }

    @property
    def empty_words(self) -> dict[str, int]:
        """Where the sides are that tiles wait for: the first word of 4 bytes, and how many."""
        size = self.layout.size
        waited_for = size("j_sides") + size("k_sides")
        return {"first_word": size("i_sides") // 4, "words": waited_for // 4}

    @property
    def largest(self) -> int:
        """Bytes of the largest buffer."""
        return max(*self.sizes.values(), self.layout.size("mask"))

    @property
    def bytes(self) -> int:
        """Bytes of all triples, sequences not counted."""
        return self.layout.bytes

    @cached_property
    def records(self) -> Structured:
        """The triples as triples.glsl has them, shape (N,)."""
        records, total = self.layout.put(self.extents.records(self.chosen)), self.layout.totals
        records["j_sides"] += np.uint32(total["i_sides"])
        records["k_sides"] += np.uint32(total["i_sides"] + total["j_sides"])
        return records


def _whole(rows: Any, deep: int) -> Any:
    """Return numbers of rows, rounded up to whole sub-tables."""
    return -(-rows // deep) * deep
