"""The chunks of triples of the engine ``subtable``, and their share of its buffers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.engines.gl import Binding
from glsw.engines.three import gl
from glsw.engines.three.forms import BATCH, HELPERS, NEVER, TileForm
from glsw.sequences.encoded import offsets_of

_LEAST_ROWS = 32  # at once, for want of memory

_Int64 = npt.NDArray[np.int64]


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

    Parameters
    ----------
    layout : Layout
    chosen : ndarray of intp, shape (N,)
        Numbers of the triples, none with an empty sequence.
    form : TileForm
    trace, masked : bool
        Whether paths are traced, and cells forbidden.
    spacing : int
        Rows between two planes that are kept, a multiple of those of a sub-table.
    most_rows : int
        Rows whose sides there is room for, likewise.
    """

    layout: gl.Layout
    chosen: npt.NDArray[np.intp]
    form: TileForm
    trace: bool = False
    masked: bool = False
    spacing: int = NEVER
    most_rows: int = NEVER

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
    def lengths(self) -> _Int64:
        """Letters of the three, shape (N, 3)."""
        return self.layout.lengths[self.chosen]

    @cached_property
    def all_rows(self) -> _Int64:
        """Rows of the sub-tables of each triple."""
        rows: _Int64 = _whole(self.lengths[:, 0], self.form.shape.deep)
        return rows

    @cached_property
    def patches(self) -> _Int64:
        """Patches along j and k, shape (N, 2)."""
        patches: _Int64 = -(-self.lengths[:, 1:] // np.array(self.form.shape.width))
        return patches

    @cached_property
    def rows(self) -> int:
        """The most rows."""
        return int(self.all_rows.max())

    @cached_property
    def rows_at_once(self) -> int:
        """Rows from one dispatch, or several that follow one another, to the next."""
        return min(self.rows, self.spacing, self.most_rows)

    @cached_property
    def cells(self) -> int:
        """Cells of all tables, for progress."""
        return int((self.lengths - self.layout.before).prod(axis=1).sum())

    def cells_before(self, row: int) -> int:
        """Cells of all tables before a row, about; exact behind the last one."""
        return self.cells * row // self.rows

    def rows_of(self, cells: int) -> int:
        """Return the rows, whole sub-tables, that have about so many cells."""
        deep = self.form.shape.deep
        return max(deep, cells * self.rows // max(1, self.cells) // deep * deep)

    @cached_property
    def everything(self) -> RowRange:
        """All rows."""
        return RowRange(0, self.rows)

    def most_patches(self, part: RowRange) -> tuple[int, int]:
        """Return the most patches along j and k in a part."""
        (j, k), (most_j, most_k) = self._most_patches, part.patches
        return min(j, most_j), min(k, most_k)

    @cached_property
    def _most_patches(self) -> tuple[int, int]:
        j, k = self.patches.max(axis=0).tolist()
        return j, k

    @cached_property
    def counts(self) -> _Int64:
        """Patches of each triple, each of which has a best cell."""
        counts: _Int64 = self.patches.prod(axis=1)
        return counts

    def part_above(self, at: npt.NDArray[np.int32]) -> RowRange:
        """Return the rows from the last kept plane to the cell at (i, j, k), from 1."""
        i, j, k = (max(1, int(x)) for x in at)
        width = self.form.shape.width
        first = (i - 1) // self.spacing * self.spacing
        return RowRange(
            first, _whole(i, self.form.shape.deep), (-(-j // width[0]), -(-k // width[1]))
        )

    # what is kept: sides in units of `side_bytes`, the rest in words of 4 bytes

    @cached_property
    def _plane(self) -> _Int64:
        cells: _Int64 = self._columns * (self.form.shape.side + 1) ** 2
        return cells

    @cached_property
    def sides(self) -> _Int64:
        """Planes between tiles, across i, j and k, shape (3, N)."""
        shape, (j_row, k_row) = self.form.shape, self.form.row_words
        rows: Any = np.minimum(self.all_rows, self.rows_at_once)
        j, k = self.patches.T
        places = (j * k, j * k)
        if not self.form.polling:
            tiles = -(-rows // self.form.tile_rows)
            places, rows = (tiles * k, tiles * j), self.form.tile_rows
        across_j = places[0] * (rows + (shape.lanes_k - 1) * shape.deep) * j_row
        across_k = places[1] * (rows + (shape.lanes_j - 1) * shape.deep) * k_row
        return np.array([self._plane, across_j, across_k])

    @cached_property
    def empty_words(self) -> dict[str, int]:
        """Where the sides are that tiles wait for: the first word of 4 bytes, and how many."""
        across_i, *others = (self.sides.sum(axis=1) * self.form.side_bytes // 4).tolist()
        return {"first_word": across_i, "words": sum(others)}

    @property
    def side_count(self) -> int:
        """All of them, and two batches of steps that a tile asks for behind the last one."""
        behind = 2 * BATCH * self.form.shape.deep * max(self.form.row_words) + HELPERS
        return int(self.sides.sum()) + behind

    @cached_property
    def kept(self) -> _Int64:
        """Planes across i that stay."""
        return self.trace * (self.all_rows // self.spacing) * self._plane

    @cached_property
    def _columns(self) -> _Int64:
        return self.counts * self.form.shape.lanes

    @cached_property
    def directions(self) -> _Int64:
        """Directions of the cells from one kept plane to the next."""
        words = -(-(self.form.shape.cells * (3 if self.form.linear else 16)) // 32)
        rows = np.minimum(self.all_rows, self.spacing)
        return self.trace * rows // self.form.shape.deep * words * self._columns

    @cached_property
    def masks(self) -> _Int64:
        """A bit for each cell."""
        words = -(-self.form.shape.cells // 32)
        return self.masked * self.all_rows // self.form.shape.deep * words * self._columns

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
        total: _Int64 = sides + words + 16 * self.counts + gl.TRIPLE.itemsize + 36
        return total

    @cached_property
    def sizes(self) -> dict[Binding, int]:
        """Bytes of the buffers of tiles; masks have their own."""
        return {
            gl.SIDES: self.form.side_bytes * self.side_count,
            gl.BEST: 16 * int(self.counts.sum()),
            gl.KEPT: self.form.side_bytes * int(self.kept.sum()),
            gl.DIRECTIONS: 4 * int(self.directions.sum()),
        }

    @property
    def largest(self) -> int:
        """Bytes of the largest buffer."""
        return max(*self.sizes.values(), 4 * int(self.masks.sum()))

    @cached_property
    def bytes(self) -> int:
        """Bytes of all triples."""
        return int(self.each.sum())

    @cached_property
    def records(self) -> npt.NDArray[np.void]:
        """The triples as triples.glsl has them, shape (N,)."""
        records = self.layout.records(self.chosen)
        starts = offsets_of(self.sides.ravel())[:-1].reshape(self.sides.shape)
        for name, start in zip(("i_sides", "j_sides", "k_sides"), starts, strict=True):
            records[name] = start
        for name, sizes in (
            ("best", self.counts),
            ("kept", self.kept),
            ("directions", self.directions),
            ("mask", self.masks),
            ("path", self.paths),
        ):
            records[name] = sizes.cumsum() - sizes
        return records


def _whole(rows: Any, deep: int) -> Any:
    """Return numbers of rows, rounded up to whole sub-tables."""
    return -(-rows // deep) * deep
