"""Regions of a table that engine ``blocked`` computes again to trace back, and where a path is."""

from __future__ import annotations

from typing import NamedTuple

_NOTHING_KEPT = 2**30  # as a spacing of kept rows and columns


class Region(NamedTuple):
    """Rows i .. i + m - 1 and columns j .. j + n - 1 of a table, and H above and left of them."""

    query: int  # first residue of the query in its buffer
    target: int
    i: int
    j: int
    m: int
    n: int
    corner: int = 0


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
