"""Tiles of the engine ``subtable``: their form, and the chunks of triples and their buffers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.engines.gl import LETTERS_IN_BLOCK
from glsw.engines.three.gl import TRIPLE, DeviceTriples, letter_count
from glsw.scoring.three import Scoring3

NEVER = 2**30
NUMBERS = 256
"""Cells that best3.glsl can tell apart in a sub-table, by their distance from its corner."""

_Int64 = npt.NDArray[np.int64]


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
        if min(self) < 1 or lanes & (lanes - 1) or behind > NUMBERS:
            raise ValueError(
                f"{self}: numbers from 1 on, a power of two of lanes and sub-tables of not much "
                "more than 4 x 4 x 4 cells expected"
            )

    @property
    def width(self) -> tuple[int, int]:
        """Cells of a work group along j and k."""
        return self.side * self.lanes_j, self.side * self.lanes_k

    @property
    def defines(self) -> dict[str, int]:
        """The defines of the shaders."""
        return {
            "SIDE": self.side,
            "DEEP": self.deep,
            "LANES_J": self.lanes_j,
            "LANES_K": self.lanes_k,
        }

    @property
    def cells(self) -> int:
        """Cells of a sub-table."""
        return self.deep * self.side**2


class TileForm(NamedTuple):
    """The form of tiles, all of it compiled into the shaders.

    Parameters
    ----------
    shape : TileShape
    linear : bool
        Whether gaps are linear.
    packed : bool
        Whether sides have two values in a word.
    depth : int
        Sub-tables of a tile along the first sequence.
    """

    shape: TileShape
    linear: bool
    packed: bool
    depth: int

    @property
    def rows(self) -> int:
        """Cells of a tile along i."""
        return self.depth * self.shape.deep

    @property
    def side_bytes(self) -> int:
        """Bytes of a side of a cell; with linear gaps and packed, of two."""
        return 4 if self.linear else 8 if self.packed else 16

    @property
    def words(self) -> tuple[int, int]:
        """Words of a row of a sub-table, across j and across k."""
        side = self.shape.side
        halves = self.packed and self.linear
        return ((side + 2) // 2, (side + 1) // 2) if halves else (side + 1, side)

    @property
    def defines(self) -> dict[str, int | None]:
        """The defines of the shaders."""
        lanes = self.shape.lanes_j * self.shape.lanes_k
        packed = 1 if self.packed else None
        return {**self.shape.defines, "WORKGROUP": lanes, "ROWS": self.rows, "PACKED": packed}

    def most_rows(self, scoring: Scoring3, shared: int) -> int:
        """Return the most rows along i of a tile, given the bytes of shared memory."""
        shape, (j_words, k_words) = self.shape, self.words
        lanes = shape.lanes_j * shape.lanes_k
        between = j_words * (lanes - shape.lanes_k) + k_words * (lanes - shape.lanes_j) + 32
        count = letter_count(scoring)
        shared_scores = scoring.scheme != "identity" and count <= LETTERS_IN_BLOCK
        scores = 4 * count * (count + 1) if shared_scores else 0
        fixed = 2 * shape.deep * between * self.side_bytes + 16 * lanes + scores + 16
        row = self.side_bytes * (j_words * shape.lanes_k + k_words * shape.lanes_j) + 4
        return (shared - fixed) // row


class TileRange(NamedTuple):
    """Tiles from first to stop - 1 along i, and at most ``patches`` along j and k."""

    first: int
    stop: int
    patches: tuple[int, int] = (NEVER, NEVER)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Triples that are computed together, and their share of each buffer; arrays are per triple.

    A patch is what a tile has along j and k.

    Parameters
    ----------
    data : DeviceTriples
    chosen : ndarray of intp, shape (N,)
        Numbers of the triples, none with an empty sequence.
    form : TileForm
    trace, masked : bool
        Whether paths are traced, and cells forbidden.
    spacing : int
        Tiles along i between two planes that are kept.
    """

    data: DeviceTriples
    chosen: npt.NDArray[np.intp]
    form: TileForm
    trace: bool = False
    masked: bool = False
    spacing: int = NEVER

    def spaced(self, spacing: int) -> Chunk:
        """Return the chunk with another spacing."""
        return replace(self, spacing=spacing)

    @cached_property
    def lengths(self) -> _Int64:
        """Letters of the three, shape (N, 3)."""
        return self.data.lengths[self.chosen]

    @cached_property
    def tiles_along(self) -> _Int64:
        """Tiles along i."""
        return -(-self.lengths[:, 0] // (self.form.rows))

    @cached_property
    def patches(self) -> _Int64:
        """Patches along j and k, shape (N, 2)."""
        patches: _Int64 = -(-self.lengths[:, 1:] // np.array(self.form.shape.width))
        return patches

    @cached_property
    def tiles(self) -> int:
        """The most tiles along i."""
        return int(self.tiles_along.max())

    @property
    def cells(self) -> int:
        """Cells of all tables, for progress."""
        return int((self.lengths - self.data.before).prod(axis=1).sum())

    @property
    def everything(self) -> TileRange:
        """All tiles."""
        return TileRange(0, self.tiles)

    def most_patches(self, part: TileRange) -> tuple[int, int]:
        """Return the most patches along j and k in a part."""
        j, k = np.minimum(self.patches.max(axis=0), part.patches).tolist()
        return j, k

    def waves(self, part: TileRange) -> int:
        """Return the number of diagonal planes of tiles in a part."""
        return part.stop - part.first + sum(self.most_patches(part)) - 2

    def part_above(self, at: npt.NDArray[np.int32]) -> TileRange:
        """Return the tiles from the last kept plane to the cell at (i, j, k), from 1."""
        rows = self.form.rows
        i, j, k = (max(1, int(x)) for x in at)
        tile = (i - 1) // rows
        width = self.form.shape.width
        patches = -(-j // width[0]), -(-k // width[1])
        return TileRange(tile // self.spacing * self.spacing, tile + 1, patches)

    # what is kept: sides in units of `side_bytes`, the rest in words of 4 bytes

    @cached_property
    def _plane(self) -> _Int64:
        cells: _Int64 = self._columns * (self.form.shape.side + 1) ** 2
        return cells

    @cached_property
    def sides(self) -> _Int64:
        """Planes between tiles, across i, j and k, shape (3, N)."""
        rows = self.tiles_along * self.form.rows
        shape, (j_words, k_words) = self.form.shape, self.form.words
        across_j = self.patches[:, 1] * rows * j_words * shape.lanes_k
        across_k = self.patches[:, 0] * rows * k_words * shape.lanes_j
        return np.stack([self._plane, across_j, across_k])

    @cached_property
    def kept(self) -> _Int64:
        """Planes across i that stay."""
        return self.trace * (self.tiles_along // self.spacing) * self._plane

    @cached_property
    def _columns(self) -> _Int64:
        lanes: _Int64 = (
            self.patches.prod(axis=1) * self.form.shape.lanes_j * self.form.shape.lanes_k
        )
        return lanes

    @cached_property
    def directions(self) -> _Int64:
        """Directions of the cells from one kept plane to the next."""
        words = -(-(self.form.shape.cells * (3 if self.form.linear else 16)) // 32)
        tiles = np.minimum(self.tiles_along, self.spacing)
        return self.trace * tiles * self.form.depth * words * self._columns

    @cached_property
    def masks(self) -> _Int64:
        """A bit for each cell."""
        words = -(-self.form.shape.cells // 32)
        return self.masked * self.tiles_along * self.form.depth * words * self._columns

    @cached_property
    def paths(self) -> _Int64:
        """Runs of a path."""
        runs: _Int64 = self.trace * self.lengths.sum(axis=1)
        return runs

    @cached_property
    def each(self) -> _Int64:
        """Bytes of each triple, sequences not counted."""
        sides = self.form.side_bytes * (self.sides.sum(axis=0) + self.kept)
        words = 4 * (self.directions + self.masks + self.paths)
        total: _Int64 = sides + words + 16 * self.patches.prod(axis=1) + TRIPLE.itemsize + 36
        return total

    @property
    def largest(self) -> int:
        """Bytes of the largest buffer."""
        sides = self.form.side_bytes * max(int(self.sides.sum()), int(self.kept.sum()))
        return max(sides, 4 * int(self.directions.sum()), 4 * int(self.masks.sum()))

    @cached_property
    def bytes(self) -> int:
        """Bytes of all triples."""
        return int(self.each.sum())

    @cached_property
    def records(self) -> npt.NDArray[np.void]:
        """The triples as triples.glsl has them, shape (N,)."""
        records = self.data.records(self.chosen)
        sides = np.cumsum(self.sides.sum(axis=0)) - self.sides.sum(axis=0)
        for name, size in zip(("i_sides", "j_sides", "k_sides"), self.sides, strict=True):
            records[name] = sides
            sides = sides + size
        for name, sizes in (
            ("best", self.patches.prod(axis=1)),
            ("kept", self.kept),
            ("directions", self.directions),
            ("mask", self.masks),
            ("path", self.paths),
        ):
            records[name] = np.cumsum(sizes) - sizes
        return records
