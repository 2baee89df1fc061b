"""Pixels that the host draws with Pillow: text, rectangles, lines."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Colour: TypeAlias = tuple[int, int, int, int]
"""Red, green, blue and opacity, each up to 255."""
BLACK: Colour = (0, 0, 0, 255)
WHITE: Colour = (255, 255, 255, 255)
_EM, _LARGE = 12, 6  # pixels, and those more of large letters
ADVANCE = 6
"""Pixels of a usual character."""


class Canvas:
    """Pixels, at first transparent; what is drawn outside is left out.

    Parameters
    ----------
    width, height : int

    Examples
    --------
    >>> canvas = Canvas(4, 2)
    >>> canvas.fill(1, 0, 9, 1, BLACK)
    >>> canvas.pixels[:, :, 3].tolist()
    [[0, 255, 255, 255], [0, 0, 0, 0]]
    """

    def __init__(self, width: int, height: int) -> None:
        from PIL import Image, ImageDraw

        self.height = height
        self._image = Image.new("RGBA", (width, height), (255, 255, 255, 0))
        self._draw: Any = ImageDraw.Draw(self._image)

    @property
    def pixels(self) -> npt.NDArray[np.uint8]:
        """What was drawn, shape (height, width, 4)."""
        return np.array(self._image)

    def fill(self, x0: float, y0: float, x1: float, y1: float, colour: Colour) -> None:
        """Fill a rectangle, up to before x1 and y1."""
        x0, y0, x1, y1 = map(round, (x0, y0, x1, y1))
        if x0 < x1 and y0 < y1:
            self._draw.rectangle((x0, y0, x1 - 1, y1 - 1), colour)

    def text(
        self, x: float, y: float, text: str, colour: Colour = BLACK, *, upwards: bool = False
    ) -> None:
        """Write a text; the upper left corner of its capitals, turned or not, is at x, y."""
        if not upwards:
            self._draw.text((round(x), round(y) - _above()), text, colour, font(1))
            return
        turned = Canvas(width(text), 2 * _EM)
        turned.text(0, _above(), text, colour)
        image = turned._image.rotate(90, expand=True)
        at = max(0, round(x) - _above()), max(0, round(y))
        self._image.alpha_composite(image, at)

    def centred(self, x: float, y: float, text: str, colour: Colour = BLACK, size: int = 1) -> None:
        """Write a text around a point."""
        self._draw.text((x, y), text, colour, font(size), anchor="mm")

    def line(self, x0: float, y0: float, x1: float, y1: float, colour: Colour, size: int) -> None:
        """Draw a line of ``size`` pixels."""
        self._draw.line((x0, y0, x1, y1), colour, size)

    def paste(self, x: int, y: int, picture: npt.NDArray[np.uint8]) -> None:
        """Lay a picture over pixels, shape (height, width, 3)."""
        from PIL import Image

        self._image.paste(Image.fromarray(picture), (x, y))


@cache
def font(size: int) -> Any:
    """Return the font that Pillow contains, in two sizes."""
    from PIL import ImageFont

    return ImageFont.load_default(_EM + _LARGE * (size - 1))


@cache
def _above() -> int:
    """Return the pixels above capitals."""
    return int(font(1).getbbox("H")[1])


def width(text: str) -> int:
    """Return how many pixels wide a text is."""
    return int(font(1).getlength(text) + 0.5)
