"""Regions of a table that engine ``blocked`` recomputes along the path, for traceback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from glsw.alignment.batch import Mask

_NOTHING_KEPT = 2**30  # as a spacing of kept rows and columns
_SIDES = ((0, 0), (1, 0), (0, 1))  # of a step of a band: on the diagonal, above it, left of it


class Region(NamedTuple):
    """Rows i .. i + m - 1 and columns j .. j + n - 1 of a table."""

    query: int  # first residue of the query in its buffer
    target: int
    i: int
    j: int
    m: int
    n: int
    corner: int = 0  # H above and left of the whole table
    mask: Mask | None = None  # of the whole table

    @property
    def forbidden(self) -> Mask:
        """The mask of these rows and columns."""
        if self.mask is None:
            return Mask.nothing(self.m)
        return self.mask.part(slice(self.i, self.i + self.m), slice(self.j, self.j + self.n))


class Grid(NamedTuple):
    """Tile rows between two kept rows, tile columns between two kept columns."""

    level: int = 0
    rows: int = _NOTHING_KEPT
    columns: int = _NOTHING_KEPT

    @property
    def empty(self) -> bool:
        """Whether nothing is kept."""
        return self.rows == _NOTHING_KEPT


class Trace(NamedTuple):
    """Residues of query and target still ahead, and the gap that the path is in."""

    i: int
    j: int
    gap: int


class Kept(NamedTuple):
    """Where the kept rows and columns of a region are, in values of H and E or F.

    H above and left of the region is the first value. Then come rows, then columns, each the border
    of the region and then those of the grid.
    """

    region: Region
    grid: Grid
    cell: tuple[int, int]  # rows and columns between those that are kept
    rows: int  # that are kept
    columns: int
    height: int  # of a kept column
    start: int = 0

    def inside(self, trace: Trace) -> tuple[int, int]:
        """Return how many rows and columns of the region are still ahead."""
        return trace.i - self.region.i, trace.j - self.region.j

    @property
    def first_row(self) -> int:
        """Where the rows begin."""
        return self.start + 1

    @property
    def first_column(self) -> int:
        """Where the columns begin."""
        return self.first_row + self.rows * self.region.n

    @property
    def size(self) -> int:
        """Values of a region as wide as this one.

        >>> Kept(Region(0, 0, 0, 0, 20, 30), Grid(0, 1, 1), (8, 10), 3, 4, 24).size
        187
        """
        return self.rows * self.region.n + self.columns * self.height + 1


class Band(NamedTuple):
    """Regions between kept rows and columns that a path enters if it follows the diagonal.

    They are those on the diagonal, and above and left of each, see band.glsl. No path goes below
    row i or right of column j of the region around them, where they end.
    """

    around: Region
    cell: tuple[int, int]
    i: int
    j: int
    size: int

    @property
    def last(self) -> tuple[int, int]:
        """The row and column of the last region in the grid."""
        return (self.i - 1) // self.cell[0], (self.j - 1) // self.cell[1]

    @property
    def steps(self) -> int:
        """How many regions are on the diagonal."""
        return -(-self.size // len(_SIDES))

    @property
    def extent(self) -> tuple[int, int]:
        """The most rows and columns that a path can have in these regions."""
        height, width = self.cell
        return min(self.i, (self.steps + 1) * height), min(self.j, (self.steps + 1) * width)

    def find(self, i: int, j: int) -> int | None:
        """Return which region has the cell that row i and column j of the table end with."""
        (height, width), (row, column) = self.cell, self.last
        down, right = i - 1 - self.around.i, j - 1 - self.around.j
        if down < 0 or right < 0:
            return None
        up, left = row - down // height, column - right // width
        if (side := (up - min(up, left), left - min(up, left))) not in _SIDES:
            return None
        region = len(_SIDES) * min(up, left) + _SIDES.index(side)
        return region if region < self.size else None

    def regions(self) -> list[Region]:
        """Return the regions; those outside of the region around them have no cells.

        >>> whole = Region(0, 0, 100, 200, 20, 30)
        >>> [each[2:6] for each in Band(whole, (8, 8), 13, 14, 3).regions()]
        [(108, 208, 5, 6), (100, 208, 8, 6), (108, 200, 5, 8)]
        """
        (height, width), (last_row, last_column) = self.cell, self.last
        found = []
        for region in range(self.size):
            step, side = divmod(region, len(_SIDES))
            row, column = last_row - step - _SIDES[side][0], last_column - step - _SIDES[side][1]
            inside = row >= 0 and column >= 0
            found.append(
                self.around._replace(
                    i=self.around.i + row * height,
                    j=self.around.j + column * width,
                    m=min(height, self.i - row * height) * inside,
                    n=min(width, self.j - column * width) * inside,
                )
            )
        return found


def enclosing(regions: Sequence[Region]) -> Region:
    """Return a region as high as the highest and as wide as the widest."""
    m, n = (max(sizes) for sizes in zip(*((each.m, each.n) for each in regions), strict=True))
    return regions[0]._replace(m=m, n=n)
