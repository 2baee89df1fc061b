"""What a window draws: blocks of tiles for the device, and an overlay of text, letters, paths."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from glsw.sequences.named import NamedSequences
from glsw.wings.dotplot.colours import COLOURS, NAMES
from glsw.wings.dotplot.mapper import Sign
from glsw.wings.view.canvas import ADVANCE, BLACK, WHITE, Canvas, Colour, width
from glsw.wings.view.computer import Computed
from glsw.wings.view.viewer import KEYS, MARGINS, Viewer
from glsw.wings.view.wavefront import Wavefront

_GREY: Colour = (110, 110, 110, 255)
_LIGHT: Colour = (200, 200, 200, 255)
_PAIR: Colour = (250, 200, 60, 255)
_PATHS: dict[str, Colour] = {"+": (0, 0, 0, 255), "-": (90, 0, 60, 255)}
_FRONT: tuple[Colour, ...] = ((230, 120, 0, 235), (0, 110, 190, 215), (110, 180, 230, 215))
"""Of the anti-diagonals k, k - 1 and k - 2 of a wavefront."""
_NUMBERS_FROM = 18.0
"""Pixels per residue from which on the wavefront shows H."""
_PIXELS_PER_TICK = 130
_BAR = 90
"""Pixels of the bar of colours."""
_WIDE = 1000
"""Pixels of a window from which on the bar does not cover the keys."""
_OUTSIDE = MARGINS.top + MARGINS.bottom


class Block(NamedTuple):
    """Tiles of one query and one target, as the device draws them.

    Parameters
    ----------
    x, y : float
        Pixel of the first tile's corner, from the upper left corner of the window.
    rows, columns : int
        The number of tiles.
    first_row, first_column : int
        The first tile in the maps.
    tile : float
        Pixels per tile.
    width, height : float
        Pixels of all residues; the last tiles may not be full.
    """

    x: float
    y: float
    rows: int
    columns: int
    first_row: int
    first_column: int
    tile: float
    width: float
    height: float


def blocks(viewer: Viewer) -> Iterator[Block]:
    """Yield the blocks of tiles of the map that is shown."""
    found, view = viewer.computed, viewer.viewport
    if found is None:
        return
    part = found.request.part
    down = part.query_start
    for i, query in enumerate(found.rows.segments):
        rows, across = query.end - query.start, part.target_start
        for j, target in enumerate(found.columns.segments):
            columns = target.end - target.start
            x, y = view.pixel(down, across)
            yield Block(
                x + MARGINS.left,
                y + MARGINS.top,
                -(-rows // found.rows.side),
                -(-columns // found.columns.side),
                int(found.rows.starts[i]),
                int(found.columns.starts[j]),
                found.rows.side * view.pixels,
                columns * view.pixels,
                rows * view.pixels,
            )
            across += columns
        down += rows


def overlay(viewer: Viewer) -> Canvas:
    """Return what is drawn over the map, in pixels of the window."""
    canvas = Canvas(viewer.width, viewer.height)
    right, bottom = viewer.width - MARGINS.right, viewer.height - MARGINS.bottom
    if viewer.wavefront:
        _wavefront(canvas, viewer, viewer.wavefront)
    else:
        if viewer.viewport.letters:
            _pairs(canvas, viewer)
        if viewer.shows_paths:
            _paths(canvas, viewer)
    for area in (
        (0, 0, viewer.width, MARGINS.top),
        (0, 0, MARGINS.left, viewer.height),
        (right, 0, viewer.width, viewer.height),
        (0, bottom, viewer.width, viewer.height),
    ):
        canvas.fill(*area, WHITE)
    canvas.fill(MARGINS.left - 1, MARGINS.top - 1, right + 1, MARGINS.top, BLACK)
    canvas.fill(MARGINS.left - 1, bottom, right + 1, bottom + 1, BLACK)
    canvas.fill(MARGINS.left - 1, MARGINS.top - 1, MARGINS.left, bottom, BLACK)
    canvas.fill(right, MARGINS.top - 1, right + 1, bottom + 1, BLACK)
    _axes(canvas, viewer)
    if viewer.viewport.letters:
        _letters(canvas, viewer)
    canvas.text(8, bottom + 8, _status(viewer), BLACK)
    _legend(canvas, viewer)
    for k, line in enumerate(KEYS):
        canvas.text(8, bottom + 28 + 14 * k, line, _GREY)
    return canvas


def _legend(canvas: Canvas, viewer: Viewer) -> None:
    """Draw a bar of colours with its scores for each strand, at the lower right."""
    found = viewer.computed
    if found is None or viewer.width < _WIDE:
        return
    right, y = viewer.width - MARGINS.right, viewer.height - MARGINS.bottom + 25
    for sign in reversed(found.maps):
        scale, display = found.scale, viewer.computer.mapper.scoring.display
        high = display(round(scale.high)), " or more" if scale.high >= found.cap else ""
        texts = f"{_strand(found, sign)}score {display(round(scale.low))}", f"{high[0]}{high[1]}"
        x = right - width(texts[1]) - _BAR - 6
        canvas.text(right - width(texts[1]), y, texts[1], _GREY)
        scores = np.linspace(scale.low, scale.high, _BAR)[None]
        colours = scale.picture({sign: scores}).repeat(9, axis=0)
        canvas.paste(x, y - 1, colours)
        canvas.text(x - width(texts[0]) - 6, y, texts[0], _GREY)
        y += 13


def _paths(canvas: Canvas, viewer: Viewer) -> None:
    """Draw the best alignments of the part that is shown, through the middle of their cells."""
    for sign, _, path in viewer.computed.paths if viewer.computed else ():
        if sign in viewer.hidden:
            continue
        queries, targets = path.tolist()
        size = 2 if viewer.viewport.letters else 1
        points = []
        for i, j in zip(queries, targets, strict=True):
            x, y = viewer.viewport.pixel(i, j)
            points.append((x + MARGINS.left, y + MARGINS.top))
        for (x0, y0), (x1, y1) in pairwise(points):
            canvas.line(x0, y0, x1, y1, _PATHS[sign], size)


def _pairs(canvas: Canvas, viewer: Viewer) -> None:
    """Mark the cells of pairs of residues that score more than 0."""
    view, part = viewer.viewport, viewer.viewport.visible()
    query, target = viewer.computer.codes(part)
    size = view.pixels / 8
    for i, j in np.argwhere(viewer.computer.mapper.scoring.matrix[np.ix_(query, target)] > 0):
        x, y = view.pixel(part.query_start + i + 0.5, part.target_start + j + 0.5)
        x, y = x + MARGINS.left, y + MARGINS.top
        canvas.fill(x - size, y - size, x + size, y + size, _PAIR)


def _axes(canvas: Canvas, viewer: Viewer) -> None:
    """Write positions, and the names of the sequences."""
    view, part = viewer.viewport, viewer.viewport.visible()
    for vertical, collection, start, end in (
        (False, viewer.computer.mapper.targets, part.target_start, part.target_end),
        (True, viewer.computer.mapper.queries, part.query_start, part.query_end),
    ):
        for number, name, first, low, high in _parts(collection, start, end):
            place = view.pixel(first + low, first + low)[vertical]
            size = view.pixel(first + high, first + high)[vertical] - place
            step = _step(_PIXELS_PER_TICK / view.pixels)
            _name(canvas, vertical, place, size, name)
            for position in {low + 1} | set(range(-(-(low + 1) // step) * step, high + 1, step)):
                if position == low + 1 and (low or size < _PIXELS_PER_TICK / 2):
                    continue  # the first one that is seen is no round number
                middle = first + position - 0.5
                at = view.pixel(middle, middle)[vertical]
                at += MARGINS.top if vertical else MARGINS.left
                _tick(canvas, vertical, at, f"{position:,}" if step < 1000 else _si(position))
            if number:  # where a sequence begins that is not the first
                at = place + (MARGINS.top if vertical else MARGINS.left)
                _border(canvas, viewer, vertical, at)


def _parts(
    collection: NamedSequences, start: int, end: int
) -> Iterator[tuple[int, str, int, int, int]]:
    """Yield number, name, first residue of all, and the range of each sequence that is shown."""
    offsets = collection.sequences.offsets.tolist()
    for k, (first, last) in enumerate(pairwise(offsets)):
        if max(first, start) < min(last, end):
            yield k, collection.name(k), first, max(first, start) - first, min(last, end) - first


def _tick(canvas: Canvas, vertical: bool, at: float, text: str) -> None:
    if vertical:
        canvas.fill(MARGINS.left - 6, at, MARGINS.left - 1, at + 1, BLACK)
        left = MARGINS.left - 26 - width(text)
        canvas.fill(left - 1, at - 5, MARGINS.left - 24, at + 6, WHITE)
        canvas.text(left, at - 3, text)
    else:
        canvas.fill(at, MARGINS.top - 6, at + 1, MARGINS.top - 1, BLACK)
        canvas.text(at - width(text) / 2, MARGINS.top - 27, text)


def _border(canvas: Canvas, viewer: Viewer, vertical: bool, at: float) -> None:
    right, bottom = viewer.width - MARGINS.right, viewer.height - MARGINS.bottom
    if vertical:
        canvas.fill(MARGINS.left, at, right, at + 1, _LIGHT)
    else:
        canvas.fill(at, MARGINS.top, at + 1, bottom, _LIGHT)


def _name(canvas: Canvas, vertical: bool, place: float, size: float, name: str) -> None:
    """Write the name of a sequence beside its positions."""
    if vertical:
        low, high = max(place, 0), min(place + size, canvas.height - _OUTSIDE)
        text = name[: int((high - low) // ADVANCE)]
        if len(text) > 2 or text == name:
            middle = (low + high - width(text)) / 2 + MARGINS.top
            canvas.text(4, middle, text, _GREY, upwards=True)
    elif (fitting := int(size // ADVANCE)) > 2:
        canvas.text(max(place, 0) + MARGINS.left + 4, 3, name[:fitting], _GREY)


def _letters(canvas: Canvas, viewer: Viewer) -> None:
    """Write the letters of both sequences beside the cells."""
    view, part = viewer.viewport, viewer.viewport.visible()
    query, target = viewer.computer.codes(part)
    decode = viewer.computer.mapper.scoring.alphabet.decode
    size = 2 if view.pixels >= 2 * ADVANCE else 1
    for k, letter in enumerate(decode(target)):
        x = view.pixel(0, part.target_start + k + 0.5)[0]
        if 0 <= x < view.width:
            canvas.centred(x + MARGINS.left, MARGINS.top - 11, letter, size=size)
    for k, letter in enumerate(decode(query)):
        y = view.pixel(part.query_start + k + 0.5, 0)[1]
        if 0 <= y < view.height:
            canvas.centred(MARGINS.left - 13, y + MARGINS.top, letter, size=size)


def _wavefront(canvas: Canvas, viewer: Viewer, wave: Wavefront) -> None:
    """Draw the table as far as it is computed, and the three anti-diagonals in the buffers."""
    view = viewer.viewport
    canvas.fill(MARGINS.left, MARGINS.top, viewer.width, viewer.height, (255, 255, 255, 235))
    best = max(1, int(wave.h.max(initial=0)))
    ink = COLOURS["+"]
    for k in range(wave.k + 1):
        front = wave.k - k
        for i, j in wave.diagonal(k):
            x, y = view.pixel(wave.part.query_start + i, wave.part.target_start + j)
            x, y = x + MARGINS.left, y + MARGINS.top
            h = int(wave.h[i, j])
            depth = math.sqrt(h / best)
            shade = tuple(round(255 - depth * 0.6 * (255 - c)) for c in ink)
            colour = _FRONT[front] if front < 3 else (shade[0], shade[1], shade[2], 255)
            gap = 1 if view.pixels >= 4 else 0
            canvas.fill(x, y, x + view.pixels - gap, y + view.pixels - gap, colour)
            if view.pixels >= _NUMBERS_FROM:
                ink_of_text = WHITE if front < 2 else BLACK
                canvas.centred(x + view.pixels / 2, y + view.pixels / 2, str(h), ink_of_text)


def _status(viewer: Viewer) -> str:
    """Return the line below the map: what the wavefront does, or what is under the pointer."""
    if viewer.message:
        return viewer.message
    if wave := viewer.wavefront:
        names = {0: "writes", 1: "reads", 2: "reads"}
        roles = "   ".join(
            f"{buffer}: {names[wave.k - d]} diagonal {d}" for d, buffer in wave.roles.items()
        )
        return f"pass {wave.k + 1} of {wave.passes}   {roles}   best score {wave.best}"
    state = "   computing" if viewer.worker.busy else ""
    found, place = viewer.computed, viewer.pointed()
    if found is None or place is None:
        scores = [
            f"{_strand(found, sign)}{score}" for sign, score, _ in (found.paths if found else ())
        ]
        best = f"   best alignment here: {', '.join(scores)}" if scores else ""
        return f"{viewer.viewport.pixels:.3g} pixels per residue{best}{state}"
    texts = [
        _position(collection, at)
        for collection, at in zip(
            (viewer.computer.mapper.queries, viewer.computer.mapper.targets), place, strict=True
        )
    ]
    tile = tile_at(viewer, *place)
    scores = []
    if tile is not None:
        for sign, tiles in found.maps.items():
            score = int(tiles[tile])
            more = " or more" if score >= found.cap else ""
            display = viewer.computer.mapper.scoring.display(score)
            scores.append(f"{_strand(found, sign) or 'score '}{display}{more}")
    side = f" (tiles of {found.rows.side})" if scores and found.rows.side > 1 else ""
    return f"{texts[0]}   {texts[1]}   {', '.join(scores)}{side}{state}"


def _strand(found: Computed | None, sign: Sign) -> str:
    """Return the name of a strand before a score, nothing if there is only one."""
    return f"{NAMES[sign]} " if found and "-" in found.maps else ""


def tile_at(viewer: Viewer, i: int, j: int) -> tuple[int, int] | None:
    """Return the tile of the map that has two residues, None if it does not have them."""
    found = viewer.computed
    if found is None:
        return None
    places = []
    for axis, start, at in (
        (found.rows, found.request.part.query_start, i),
        (found.columns, found.request.part.target_start, j),
    ):
        for segment, first in zip(axis.segments, axis.starts.tolist(), strict=True):
            length = segment.end - segment.start
            if start <= at < start + length:
                places.append(first + (at - start) // axis.side)
                break
            start += length
    return (places[0], places[1]) if len(places) == 2 else None


def _position(collection: NamedSequences, at: int) -> str:
    offsets = collection.sequences.offsets
    k = int(offsets.searchsorted(at, "right")) - 1
    return f"{collection.name(k)[:24]} {at - int(offsets[k]) + 1:,}"


def _step(least: float) -> int:
    """Return a round number of residues, at least this many.

    >>> [_step(least) for least in (0.3, 7, 130, 4000)]
    [1, 10, 200, 5000]
    """
    power: int = 10 ** max(0, math.floor(math.log10(max(least, 1))))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)


def _si(position: int) -> str:
    """Return a position in thousands or millions.

    >>> _si(1), _si(25000), _si(1200000)
    ('1', '25 k', '1.2 M')
    """
    if position < 1000:
        return f"{position}"
    return f"{position / 1e6:g} M" if position >= 10**6 else f"{position / 1e3:g} k"
