"""Text as pixels: DejaVu Sans Mono, by the FreeType of matplotlib.

Without matplotlib it is a font of 5 x 7 pixels, in which small letters look like capitals. Both
have the same advance and the same height of capitals, so the layout is the same.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

WIDTH, HEIGHT = 5, 7
ADVANCE = WIDTH + 1
"""Pixels from one character to the next."""
ABOVE, _BELOW = 2, 3
"""Rows of pixels above capitals and below the baseline, for other characters."""
_EM = 10
"""Pixels of the em of DejaVu Sans Mono: its advance is 0.602 of it, its capitals 0.729."""

# Seven rows of each character; the bits of a number are pixels, the highest one on the left.
_ROWS = """
A 0e 11 11 1f 11 11 11|B 1e 11 11 1e 11 11 1e|C 0e 11 10 10 10 11 0e|D 1e 11 11 11 11 11 1e
E 1f 10 10 1e 10 10 1f|F 1f 10 10 1e 10 10 10|G 0e 11 10 17 11 11 0f|H 11 11 11 1f 11 11 11
I 0e 04 04 04 04 04 0e|J 07 02 02 02 02 12 0c|K 11 12 14 18 14 12 11|L 10 10 10 10 10 10 1f
M 11 1b 15 15 11 11 11|N 11 19 19 15 13 13 11|O 0e 11 11 11 11 11 0e|P 1e 11 11 1e 10 10 10
Q 0e 11 11 11 15 12 0d|R 1e 11 11 1e 14 12 11|S 0f 10 10 0e 01 01 1e|T 1f 04 04 04 04 04 04
U 11 11 11 11 11 11 0e|V 11 11 11 11 11 0a 04|W 11 11 11 15 15 1b 11|X 11 11 0a 04 0a 11 11
Y 11 11 0a 04 04 04 04|Z 1f 01 02 04 08 10 1f|0 0e 11 13 15 19 11 0e|1 04 0c 04 04 04 04 0e
2 0e 11 01 06 08 10 1f|3 1f 02 04 02 01 11 0e|4 02 06 0a 12 1f 02 02|5 1f 10 1e 01 01 11 0e
6 06 08 10 1e 11 11 0e|7 1f 01 02 04 08 08 08|8 0e 11 11 0e 11 11 0e|9 0e 11 11 0f 01 02 0c
. 00 00 00 00 00 0c 0c|, 00 00 00 00 0c 04 08|: 00 0c 0c 00 0c 0c 00|; 00 0c 0c 00 0c 04 08
- 00 00 00 1f 00 00 00|+ 00 04 04 1f 04 04 00|* 00 04 15 0e 15 04 00|/ 01 01 02 04 08 10 10
= 00 00 1f 00 1f 00 00|( 02 04 08 08 08 04 02|) 08 04 02 02 02 04 08|_ 00 00 00 00 00 00 1f
| 04 04 04 04 04 04 04|< 02 04 08 10 08 04 02|> 08 04 02 01 02 04 08|% 18 19 02 04 08 13 03
! 04 04 04 04 04 00 04|? 0e 11 01 02 04 00 04|# 0a 0a 1f 0a 1f 0a 0a|' 04 04 08 00 00 00 00
[ 0e 08 08 08 08 08 0e|] 0e 02 02 02 02 02 0e|& 0c 12 14 08 15 12 0d|@ 0e 11 17 15 17 10 0e
"""
_UNKNOWN = "1f 11 11 11 11 11 1f"


def _glyphs() -> dict[str, str]:
    found = {" ": "00 00 00 00 00 00 00"}
    for line in _ROWS.strip().splitlines():
        # A line that begins with "|" has the bar itself as its first character.
        entries = (line[1:].split("|")) if line[0] == "|" else line.split("|")
        for k, entry in enumerate(entries):
            if line[0] == "|" and k == 0:
                found["|"] = entry.strip()
            else:
                found[entry[0]] = entry[2:]
    return found


_GLYPHS = _glyphs()


@cache
def _face() -> Any:
    """Return the face of the font, None without matplotlib."""
    try:
        from matplotlib import get_data_path
        from matplotlib.ft2font import FT2Font
    except ImportError:
        return None
    return FT2Font(str(Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSansMono.ttf"))


@lru_cache(maxsize=4096)
def mask(text: str, size: int = 1) -> npt.NDArray[np.uint8]:
    """Return how much of each pixel a text covers, up to 255.

    Its shape is (12 size, 6 size per character); capitals are in rows 2 to 8, times the size.

    >>> mask("I").shape, mask("Ig", 2).shape
    ((12, 6), (24, 24))
    """
    rows = ABOVE + HEIGHT + _BELOW
    pixels = np.zeros((rows * size, ADVANCE * size * len(text)), np.uint8)
    face = _face()
    if face is None:
        small = np.zeros((rows, ADVANCE * len(text)), np.uint8)
        for k, character in enumerate(text.upper()):
            bits = [int(row, 16) for row in _GLYPHS.get(character, _UNKNOWN).split()]
            for x in range(WIDTH):
                small[ABOVE : ABOVE + HEIGHT, k * ADVANCE + x] = [
                    255 * (row >> (WIDTH - 1 - x) & 1) for row in bits
                ]
        return small.repeat(size, axis=0).repeat(size, axis=1)
    face.set_size(_EM * size, 72)
    for k, character in enumerate(text):  # one by one, so that the advance is a whole number
        face.set_text(character)
        face.draw_glyphs_to_bitmap(antialiased=True)
        glyph = np.asarray(face.get_image())
        height, across = glyph.shape
        top = (ABOVE + HEIGHT) * size + face.get_descent() // 64 - height
        left = max(0, k * ADVANCE * size + face.get_bitmap_offset()[0] // 64)
        glyph = glyph[max(0, -top) :, : max(0, pixels.shape[1] - left)]
        top = max(0, top)
        part = pixels[top : top + glyph.shape[0], left : left + across]
        np.maximum(part, glyph[: part.shape[0]], out=part)
    return pixels


def width(text: str, size: int = 1) -> int:
    """Return how many pixels wide a text is."""
    return ADVANCE * size * len(text)
