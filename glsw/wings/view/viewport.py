"""Which part of a table a window shows, and which tiles have to be computed for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

_PIXELS_PER_RESIDUE = 40.0
"""The closest that a window zooms in."""
_LETTERS_FROM = 9.0
"""Pixels per residue from which on letters are shown."""
_MARGIN, _MIN_MARGIN = 1 / 8, 128
"""What is computed on each side beyond the window: a part of it, or more residues."""


class Part(NamedTuple):
    """Residues of all queries and of all targets, each taken as one sequence; half-open."""

    query_start: int
    query_end: int
    target_start: int
    target_end: int

    def covers(self, other: Part) -> bool:
        """Return whether another part lies inside this one.

        >>> Part(0, 9, 0, 9).covers(Part(3, 9, 0, 4)), Part(0, 9, 0, 9).covers(Part(3, 10, 0, 4))
        (True, False)
        """
        return (
            self.query_start <= other.query_start
            and self.target_start <= other.target_start
            and self.query_end >= other.query_end
            and self.target_end >= other.target_end
        )

    @property
    def cells(self) -> int:
        """Cells of the table."""
        return (self.query_end - self.query_start) * (self.target_end - self.target_start)


class Request(NamedTuple):
    """A map to compute: a part of the table, and about how many residues a tile has."""

    part: Part
    side: int


@dataclass(frozen=True)
class Viewport:
    """The part of a table in a rectangle of a window. Each method returns another viewport.

    Parameters
    ----------
    query_length, target_length : int
        Residues.
    width, height : int
        Pixels of the rectangle.
    x, y : float
        The target's and the query's position at its upper left corner, in residues.
    pixels : float
        Pixels per residue.

    Examples
    --------
    >>> view = Viewport(1000, 2000, 500, 500).whole()
    >>> view.pixels, view.visible(), view.request(2)
    (0.25, Part(query_start=0, query_end=1000, target_start=0, target_end=2000), \
Request(part=Part(query_start=0, query_end=1000, target_start=0, target_end=2000), side=8))
    >>> closer = view.zoomed(4, 250, 250)
    >>> closer.visible()
    Part(query_start=250, query_end=750, target_start=750, target_end=1250)
    """

    query_length: int
    target_length: int
    width: int
    height: int
    x: float = 0.0
    y: float = 0.0
    pixels: float = 1.0

    @property
    def least(self) -> float:
        """Pixels per residue at which the whole table fits."""
        return min(
            _PIXELS_PER_RESIDUE,
            self.width / max(1, self.target_length),
            self.height / max(1, self.query_length),
        )

    def whole(self) -> Viewport:
        """Show the whole table, in the middle."""
        return replace(self, pixels=self.least)._kept_inside()

    def sized(self, width: int, height: int) -> Viewport:
        """Keep the place in a rectangle of another size."""
        sized = replace(self, width=max(1, width), height=max(1, height))
        at_least = self.pixels <= self.least
        return sized.whole() if at_least else sized._kept_inside()

    def zoomed(self, factor: float, x: float, y: float) -> Viewport:
        """Zoom in by a factor; what is at pixel x, y stays there."""
        pixels = min(max(self.pixels * factor, self.least), _PIXELS_PER_RESIDUE)
        shift = 1 / self.pixels - 1 / pixels
        moved = replace(self, pixels=pixels, x=self.x + x * shift, y=self.y + y * shift)
        return moved._kept_inside()

    def moved(self, x: float, y: float) -> Viewport:
        """Move what is shown by pixels to the right and down."""
        moved = replace(self, x=self.x - x / self.pixels, y=self.y - y / self.pixels)
        return moved._kept_inside()

    def close(self) -> Viewport:
        """Zoom in around the middle until letters are shown."""
        factor = 2 * _LETTERS_FROM / self.pixels
        return self.zoomed(factor, self.width / 2, self.height / 2) if factor > 1 else self

    def at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the query's and the target's residue at a pixel, None outside the table."""
        j, i = math.floor(self.x + x / self.pixels), math.floor(self.y + y / self.pixels)
        inside = 0 <= i < self.query_length and 0 <= j < self.target_length
        return (i, j) if inside and 0 <= x < self.width and 0 <= y < self.height else None

    def pixel(self, i: float, j: float) -> tuple[float, float]:
        """Return where the query's position i and the target's position j are: x, y."""
        return (j - self.x) * self.pixels, (i - self.y) * self.pixels

    @property
    def letters(self) -> bool:
        """Whether residues are wide enough to show their letters."""
        return self.pixels >= _LETTERS_FROM

    def visible(self) -> Part:
        """Return the part of the table in the rectangle."""
        return self._part(0.0, 0)

    def request(self, pixels_per_tile: float) -> Request:
        """Return the map to compute: the visible part and a margin, with tiles of such a size."""
        side = max(1, round(pixels_per_tile / self.pixels))
        return Request(self._part(_MARGIN, _MIN_MARGIN), side)

    def needs(self, computed: Request | None, pixels_per_tile: float) -> bool:
        """Return whether another map has to be computed to show this at full resolution.

        >>> view = Viewport(1000, 1000, 500, 500).whole()
        >>> made = view.request(2)
        >>> view.needs(None, 2), view.needs(made, 2), view.zoomed(4, 0, 0).needs(made, 2)
        (True, False, True)
        >>> near = view.zoomed(4, 250, 250)
        >>> made = near.request(2)
        >>> near.moved(30, 0).needs(made, 2), near.moved(400, 0).needs(made, 2)
        (False, True)
        """
        if computed is None or not computed.part.covers(self.visible()):
            return True
        return not 0.5 < computed.side / self.request(pixels_per_tile).side < 2

    def _part(self, share: float, least: int) -> Part:
        """Return the visible part with a margin of a share of it, or at least so many residues."""
        ends = []
        for start, pixels, length in (
            (self.y, self.height, self.query_length),
            (self.x, self.width, self.target_length),
        ):
            shown = pixels / self.pixels
            margin = max(share * shown, least)
            low, high = start - margin, start + shown + margin
            ends += [min(max(0, math.floor(low)), length), max(0, min(math.ceil(high), length))]
        return Part(*ends)

    def _kept_inside(self) -> Viewport:
        """Keep the table in the rectangle: at its border, or in its middle if it is smaller."""
        places = []
        for start, pixels, length in (
            (self.x, self.width, self.target_length),
            (self.y, self.height, self.query_length),
        ):
            shown = pixels / self.pixels
            low, high = min(0.0, (length - shown) / 2), max(length - shown, (length - shown) / 2)
            places.append(min(max(start, low), high))
        return replace(self, x=places[0], y=places[1])
