"""A picture of a scene: its map or its wavefront, with coordinates, letters, scores and keys."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from glsw.wings.dotplot.axis import segments_of
from glsw.wings.dotplot.colours import NAMES, Scale
from glsw.wings.dotplot.mapper import Sign
from glsw.wings.view.scene import BOTTOM, KEYS, LEFT, RIGHT, TOP, Map, Scene

_Colours = npt.NDArray[np.uint8]

_BLACK, _WHITE, _GREY, _LIGHT = (0, 0, 0), (255, 255, 255), (110, 110, 110), (200, 200, 200)
_OUTSIDE, _EMPTY = (232, 232, 232), (244, 244, 244)
"""Outside the table, and cells that a wavefront has not reached."""
_FRONT = (230, 120, 0), (0, 110, 190), (110, 180, 230)
"""The anti-diagonals k, k - 1 and k - 2 of a wavefront."""
_PAIR = 250, 200, 60
_PATHS: dict[Sign, tuple[int, int, int]] = {"+": _BLACK, "-": (90, 0, 60)}
_TEXT, _CHARACTER = 11, 7
"""Pixels of the em of texts, and about of a character."""
_GAPS_FROM, _NUMBERS_FROM = 4.0, 18.0
"""Pixels per residue from which on a wavefront shows cells apart, and their H."""
_PIXELS_PER_TICK = 130
_BAR = 90
"""Pixels of the bar of colours."""
_WIDE = 1000
"""Pixels of a window from which on the bar does not cover the keys."""


def picture(scene: Scene) -> Image.Image:
    """Return the picture of a scene, as large as its window."""
    image = Image.new("RGB", scene.size, _WHITE)
    right, bottom = image.width - RIGHT, image.height - BOTTOM
    draw = _pen(image)
    image.paste(_table(scene), (LEFT, TOP))
    draw.rectangle((LEFT - 1, TOP - 1, right, bottom), outline=_BLACK)
    for side in (0, 1):
        _axis(draw, scene, side)
    draw.text((8, bottom + 12), status(scene), _BLACK, anchor="lm")
    for k, line in enumerate(KEYS):
        draw.text((8, bottom + 32 + 15 * k), line, _GREY, anchor="lm")
    if scene.map and image.width >= _WIDE:
        _legend(image, draw, scene, scene.map)
    return image


@cache
def _font(size: int = _TEXT) -> ImageFont.FreeTypeFont:
    """Return the font that Pillow contains."""
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


def _pen(image: Image.Image) -> ImageDraw.ImageDraw:
    draw = ImageDraw.Draw(image)
    draw.font = _font()
    return draw


def _table(scene: Scene) -> Image.Image:
    """Return the map or the wavefront, and what is drawn over it."""
    shown, (height, width) = scene.wavefront or scene.map, scene.area.tolist()
    if shown is None:
        return Image.new("RGB", (width, height), _OUTSIDE)
    places = []
    for side, pixels in enumerate((height, width)):
        at = np.floor(scene.corner[side] + (np.arange(pixels) + 0.5) / scene.pixels).astype(int)
        places.append(shown.tiles(side, at))
        if scene.wavefront and scene.pixels >= _GAPS_FROM:
            places[side][:-1][np.diff(at) > 0] = -1
    colours = _front(scene, shown) if scene.wavefront else _coloured(shown, scene.hidden)
    image = Image.fromarray(colours[places[0]][:, places[1]])
    draw = _pen(image)
    if scene.wavefront and scene.pixels >= _NUMBERS_FROM:
        _numbers(draw, scene, shown)
    if scene.letters and not scene.wavefront:
        _pairs(draw, scene)
    for sign, _, path in shown.paths:
        if not {sign, "paths"} & scene.hidden:
            y, x = (path - scene.corner[:, None]) * scene.pixels
            draw.line(np.stack([x, y], 1).ravel().tolist(), _PATHS[sign], 1 + scene.letters)
    return image


def _framed(colours: _Colours, frame: tuple[int, int, int]) -> _Colours:
    """Return colours with a row and a column more, the last ones, so -1 is what lies outside."""
    framed = np.full((colours.shape[0] + 1, colours.shape[1] + 1, 3), frame, np.uint8)
    framed[:-1, :-1] = colours
    return framed


@lru_cache(maxsize=1)
def _coloured(found: Map, hidden: frozenset[str]) -> _Colours:
    """Return the colours of the strands that are not hidden."""
    shown = {sign: tiles * (sign not in hidden) for sign, tiles in found.maps.items()}
    return _framed(found.scale.picture(shown), _OUTSIDE)


def _front(scene: Scene, found: Map) -> _Colours:
    """Return the colours of the table as far as it is computed; three anti-diagonals stand out."""
    age = _age(scene, found)
    faint = Scale(0, max(1, int(found.maps["+"].max())) / 0.36)  # at most 0.6 of the colour
    colours = faint.picture(found.maps)
    colours[age < 0] = _EMPTY
    for k, colour in enumerate(_FRONT):
        colours[age == k] = colour
    return _framed(colours, _WHITE)


def _age(scene: Scene, found: Map) -> npt.NDArray[np.int_]:
    """Return how many passes ago each cell was computed, below 0 if it is not yet."""
    m, n = found.maps["+"].shape
    return scene.k - np.arange(m)[:, None] - np.arange(n)


def _numbers(draw: ImageDraw.ImageDraw, scene: Scene, found: Map) -> None:
    """Write H into the visible cells of a wavefront."""
    age, h, part = _age(scene, found), found.maps["+"], found.part
    rows, columns = (
        range(max(a.start, b.start), min(a.stop, b.stop))
        for a, b in zip(scene.part(), part, strict=True)
    )
    for row, column in product(rows, columns):
        cell = row - part[0].start, column - part[1].start
        if age[cell] >= 0:
            at = scene.pixel(1, column + 0.5), scene.pixel(0, row + 0.5)
            text = f"{scene.mapper.scoring.display(int(h[cell]))}"
            ink = _WHITE if age[cell] < 2 else _BLACK
            draw.text(at, text, ink, _font(9), "mm")


def _pairs(draw: ImageDraw.ImageDraw, scene: Scene) -> None:
    """Mark the cells of pairs of residues that score more than 0."""
    part, size = scene.part(), scene.pixels / 8
    scores = scene.mapper.scoring.matrix[np.ix_(*scene.codes(part))]
    for pair in np.argwhere(scores > 0).tolist():
        y, x = (scene.pixel(k, part[k][at] + 0.5) for k, at in enumerate(pair))
        draw.rectangle((x - size, y - size, x + size, y + size), _PAIR)


def _axis(draw: ImageDraw.ImageDraw, scene: Scene, side: int) -> None:
    """Write names, positions and letters of the queries (0) on the left, the targets (1) above."""
    collection, part, pixels = scene.sides[side], scene.part()[side], int(scene.area[side])
    step, anchor = _step(_PIXELS_PER_TICK / scene.pixels), "mm" if side else "rm"
    turned = _font() if side else ImageFont.TransposedFont(_font(), Image.Transpose.ROTATE_90)

    def place(along: float, across: float) -> tuple[float, float]:
        return (LEFT + along, TOP + across) if side else (LEFT + across, TOP + along)

    for segment in segments_of(collection, part.start, part.stop):
        first = int(collection.sequences.offsets[segment.record])
        begin = max(0.0, scene.pixel(side, first + segment.start))
        end = min(pixels, scene.pixel(side, first + segment.end))
        name = segment.name[: int((end - begin) / _CHARACTER)]
        if len(name) > 2 or name == segment.name:
            low = (begin + end - draw.textlength(name)) / 2
            draw.text(place(low, -43 if side else -90), name, _GREY, turned)
        ticks = {*range(-(-(segment.start + 1) // step) * step, segment.end + 1, step)}
        if not segment.start and end - begin >= _PIXELS_PER_TICK / 2:
            ticks.add(1)
        for tick in ticks:
            at = scene.pixel(side, first + tick - 0.5)
            if not scene.letters:
                draw.line((place(at, -6), place(at, -1)), _BLACK)
            draw.text(place(at, -24), f"{tick:,}", _BLACK, anchor=anchor)
        if segment.record and not segment.start:  # where a sequence begins that is not the first
            draw.line((place(begin, 0), place(begin, int(scene.area[1 - side]) - 1)), _LIGHT)
    if scene.letters:
        letters = scene.mapper.scoring.alphabet.decode(scene.codes(scene.part())[side])
        font = _font(min(16, int(scene.pixels)))
        for residue, letter in zip(part, letters, strict=True):
            if 0 <= (at := scene.pixel(side, residue + 0.5)) < pixels:
                draw.text(place(at, -10), letter, _BLACK, font, "mm")


def _legend(image: Image.Image, draw: ImageDraw.ImageDraw, scene: Scene, found: Map) -> None:
    """Draw a bar of colours with its scores for each strand, at the lower right."""
    scale, display, right = found.scale, scene.mapper.scoring.display, image.width - RIGHT
    high = f"{display(round(scale.high))}{' or more' * (scale.high >= found.cap)}"
    x = right - int(draw.textlength(high)) - _BAR - 6
    scores = np.linspace(scale.low, scale.high, _BAR)[None].repeat(9, axis=0)
    for k, sign in enumerate(reversed(found.maps)):
        y = image.height - BOTTOM + 32 + 15 * k
        low = f"{_strand(found, sign)}score {display(round(scale.low))}"
        image.paste(Image.fromarray(scale.picture({sign: scores})), (x, y - 4))
        draw.text((right, y), high, _GREY, anchor="rm")
        draw.text((x - 6, y), low, _GREY, anchor="rm")


def status(scene: Scene) -> str:
    """Return the line below the map: what the wavefront does, or what is under the pointer."""
    display, found, texts = scene.mapper.scoring.display, scene.map, []
    if scene.message:
        return scene.message
    if wave := scene.wavefront:
        texts.append(f"pass {scene.k + 1} of {scene.passes}")
        for d in range(scene.k, max(-1, scene.k - 3), -1):
            texts.append(f"{'ABC'[d % 3]}: {'reads' if d < scene.k else 'writes'} diagonal {d}")
        best = int(wave.maps["+"][_age(scene, wave) >= 0].max())
        return "   ".join([*texts, f"best score {display(best)}"])
    if found is None or (place := scene.pointed()) is None:
        texts.append(f"{scene.pixels:.3g} pixels per residue")
        if found and found.paths:
            scores = [f"{_strand(found, sign)}{score}" for sign, score, _ in found.paths]
            texts.append(f"best alignment here: {', '.join(scores)}")
    else:
        for collection, at in zip(scene.sides, place, strict=True):
            (here,) = segments_of(collection, at, at + 1)
            texts.append(f"{here.name[:24]} {here.end:,}")
        i, j = (int(found.tiles(side, at)) for side, at in enumerate(place))
        if min(i, j) >= 0:
            scores = []
            for sign, tiles in found.maps.items():
                more = " or more" if tiles[i, j] >= found.cap else ""
                name = _strand(found, sign) or "score "
                scores.append(f"{name}{display(int(tiles[i, j]))}{more}")
            residues = found.axes[0].side
            texts.append(", ".join(scores) + f" (tiles of {residues})" * (residues > 1))
    return "   ".join([*texts, *["computing"] * scene.busy])


def _strand(found: Map, sign: Sign) -> str:
    """Return the name of a strand before a score, nothing if there is only one."""
    return f"{NAMES[sign]} " if "-" in found.maps else ""


def _step(least: float) -> int:
    """Return a round number of residues, at least this many.

    >>> [_step(least) for least in (0.3, 7, 130, 4000)]
    [1, 10, 200, 5000]
    """
    power: int = 10 ** max(0, math.floor(math.log10(max(least, 1))))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
