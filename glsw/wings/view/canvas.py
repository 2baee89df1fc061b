"""Pixels that the host draws: text, rectangles, lines; and PNG files of pixels."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.wings.view import font

Colour: TypeAlias = tuple[int, int, int, int]
"""Red, green, blue and opacity, each up to 255."""
BLACK: Colour = (0, 0, 0, 255)
WHITE: Colour = (255, 255, 255, 255)


class Canvas:
    """Pixels, at first transparent; what is drawn outside is left out.

    Parameters
    ----------
    width, height : int

    Attributes
    ----------
    pixels : ndarray of uint8, shape (height, width, 4)

    Examples
    --------
    >>> canvas = Canvas(4, 2)
    >>> canvas.fill(1, 0, 9, 1, BLACK)
    >>> canvas.pixels[:, :, 3].tolist()
    [[0, 255, 255, 255], [0, 0, 0, 0]]
    """

    def __init__(self, width: int, height: int) -> None:
        self.pixels = np.zeros((height, width, 4), np.uint8)

    def fill(self, x0: float, y0: float, x1: float, y1: float, colour: Colour) -> None:
        """Fill a rectangle, up to before x1 and y1."""
        height, width = self.pixels.shape[:2]
        left, right = (int(np.clip(round(x), 0, width)) for x in (x0, x1))
        upper, lower = (int(np.clip(round(y), 0, height)) for y in (y0, y1))
        self.pixels[upper:lower, left:right] = colour

    def text(
        self,
        x: float,
        y: float,
        text: str,
        colour: Colour = BLACK,
        size: int = 1,
        *,
        upwards: bool = False,
    ) -> None:
        """Write a text; the upper left corner of its capitals, turned or not, is at x, y."""
        mask, above = font.mask(text, size), font.ABOVE * size
        if upwards:
            self._paint(np.rot90(mask), round(x) - above, round(y), colour)
        else:
            self._paint(mask, round(x), round(y) - above, colour)

    def centred(self, x: float, y: float, text: str, colour: Colour = BLACK, size: int = 1) -> None:
        """Write a text around a point."""
        pixels = font.width(text, size) - size
        self.text(x - pixels / 2, y - font.HEIGHT * size / 2, text, colour, size)

    def line(self, x0: float, y0: float, x1: float, y1: float, colour: Colour, size: int) -> None:
        """Draw a line of ``size`` pixels."""
        height, width = self.pixels.shape[:2]
        part = clipped((x0, y0), (x1, y1), width, height)
        if part is None:
            return
        (x0, y0), (x1, y1) = part
        steps = int(max(abs(x1 - x0), abs(y1 - y0))) + 1
        across, down = np.linspace(x0, x1, steps), np.linspace(y0, y1, steps)
        for dx in range(size):
            for dy in range(size):
                x = np.rint(across + dx - (size - 1) / 2).astype(int)
                y = np.rint(down + dy - (size - 1) / 2).astype(int)
                inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
                self.pixels[y[inside], x[inside]] = colour

    def _paint(self, mask: npt.NDArray[np.uint8], x: int, y: int, colour: Colour) -> None:
        """Lay a colour over pixels, as much as ``mask`` covers of each."""
        height, width = self.pixels.shape[:2]
        left, upper = max(0, -x), max(0, -y)
        part = mask[upper : max(0, height - y), left : max(0, width - x)]
        if part.size:
            x, y = x + left, y + upper
            below = self.pixels[y : y + part.shape[0], x : x + part.shape[1]]
            share = part[..., None] / 255 * (colour[3] / 255)
            under = below[..., 3:] / 255 * (1 - share)
            total = np.maximum(share + under, 1e-9)
            mixed = (share * np.array(colour[:3]) + under * below[..., :3]) / total
            below[...] = np.rint(np.concatenate([mixed, 255 * (share + under)], axis=2))


def clipped(
    start: tuple[float, float], end: tuple[float, float], width: float, height: float
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the part of a line in a rectangle from 0, 0 on, None if there is none.

    >>> clipped((-10, 5), (30, 5), 20, 10)
    ((0.0, 5.0), (20.0, 5.0))
    >>> clipped((-10, 5), (-1, 5), 20, 10) is None
    True
    """
    low, high = 0.0, 1.0
    for k, limit in enumerate((width, height)):
        step = end[k] - start[k]
        if step == 0:
            if not 0 <= start[k] <= limit:
                return None
            continue
        first, last = sorted((-start[k] / step, (limit - start[k]) / step))
        low, high = max(low, first), min(high, last)
    if low > high:
        return None
    x, y = end[0] - start[0], end[1] - start[1]
    return (
        (start[0] + low * x, start[1] + low * y),
        (start[0] + high * x, start[1] + high * y),
    )


def write_png(path: str | os.PathLike[str], pixels: npt.NDArray[np.uint8]) -> None:
    """Write pixels, shape (height, width, 3), as a PNG file (RFC 2083)."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter, none
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    Path(path).write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6))
        + chunk(b"IEND", b"")
    )
