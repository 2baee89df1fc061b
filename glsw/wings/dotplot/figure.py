"""A dot plot as a picture, by matplotlib."""

from __future__ import annotations

import importlib.util
import io
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from glsw.wings.dotplot.axis import Axis
from glsw.wings.dotplot.colours import COLOURS, LINES, NAMES, Scale, kind_of
from glsw.words import in_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from glsw.wings.dotplot.plot import DotPlot

_LONGER_INCHES, _SHORTER_INCHES = 6.4, 1.6
_MAX_NAMED = 40  # of the sequences on an axis
_LETTER_INCHES = 0.075  # of a name, about


def check(path: str | os.PathLike[str]) -> None:
    """Raise ValueError if matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError(f"{path}: pictures need matplotlib: pip install 'glsw[plot]'")


def save(plot: DotPlot, path: str | os.PathLike[str], dpi: int = 160) -> None:
    """Draw a dot plot into a file of the format that its name ends with."""
    check(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # letters that the font lacks
        draw(plot).savefig(
            path, dpi=dpi, bbox_inches="tight", metadata=_undated(Path(path).suffix.lower())
        )


def png(plot: DotPlot) -> bytes | None:
    """Return a dot plot as the bytes of a PNG file, None if matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        return None
    stream = io.BytesIO()
    draw(plot).savefig(stream, dpi=90, bbox_inches="tight")
    return stream.getvalue()


def draw(plot: DotPlot) -> Figure:
    """Return a matplotlib figure of a dot plot: its map, its alignments, a bar of scores."""
    from matplotlib.figure import Figure

    rows, columns = max(plot.query.tiles, 1), max(plot.target.tiles, 1)
    longer = max(rows, columns)
    height, width = (max(_SHORTER_INCHES, _LONGER_INCHES * n / longer) for n in (rows, columns))
    left, below = _room(plot.query), _room(plot.target)
    figure = Figure(figsize=(left + width + 2.0, height + below + 0.9), layout="constrained")
    axes = figure.add_subplot()
    scale = Scale.of(plot.maps, plot.cap)
    axes.imshow(
        scale.picture(plot.maps)
        if plot.maps and plot.query.tiles and plot.target.tiles
        else np.full((1, 1, 3), 255, np.uint8),
        extent=(0, columns, rows, 0),
        interpolation="nearest" if longer < 300 else "antialiased",
        # Narrow tables are stretched: a line of tiles is not a picture.
        aspect="equal"
        if min(rows, columns) * _LONGER_INCHES >= _SHORTER_INCHES * longer
        else "auto",
    )
    labels = dict.fromkeys(sorted(kind_of(line.identity) for line in plot.lines))
    for line in sorted(plot.lines, key=lambda line: -line.identity):
        kind = kind_of(line.identity)
        targets, queries = line.coordinates
        places = [
            [axis.tile(segment, x) for x in positions.tolist()]
            for axis, segment, positions in (
                (plot.target, line.target, targets),
                (plot.query, line.query, queries),
            )
        ]
        axes.plot(
            *places,
            color=np.array(LINES[kind][2]) / 255,
            linewidth=0.7 if kind == 0 else 1.1,
            solid_capstyle="butt",
            label=None if kind not in labels else f"alignments {LINES[kind][1]}",
        )
        labels.pop(kind, None)
    if plot.lines:
        figure.legend(loc="outside lower center", ncols=len(LINES), fontsize=8, frameon=False)
    _label(axes, plot.target, "x")
    _label(axes, plot.query, "y")
    axes.tick_params(labelsize=8)
    _bars(figure, axes, plot, scale)
    return figure


def _names(axis: Axis) -> list[str]:
    """Return the names that an axis shows: at most 40, none if it has a single sequence."""
    several = len(axis.segments) > 1
    return [each.name for each in axis.segments[:: _step(axis)]] if several else []


def _step(axis: Axis) -> int:
    """Return of how many sequences of an axis one is named."""
    return max(1, -(-len(axis.segments) // _MAX_NAMED))


def _room(axis: Axis) -> float:
    """Return the inches that the names along an axis need."""
    return _LETTER_INCHES * max(map(len, _names(axis)), default=0)


def _label(axes: Axes, axis: Axis, which: str) -> None:
    """Put positions on an axis, or with several sequences their names and borders."""
    segments = axis.segments
    set_ticks = getattr(axes, f"set_{which}ticks")
    if len(segments) != 1:
        starts = axis.starts.tolist()
        ends = [*starts[1:], axis.tiles]
        middles = [(a + b) / 2 for a, b in zip(starts, ends, strict=True)]
        shown = middles[:: _step(axis)], [in_figure(name) for name in _names(axis)]
        set_ticks(*shown, **({"rotation": 90} if which == "x" else {}))
        draw = axes.axvline if which == "x" else axes.axhline
        linewidth = min(0.5, 50 / len(segments))  # many borders must not hide the map
        for start in starts[1:]:
            draw(start, color="0.6", linewidth=linewidth)
        return
    (segment,) = segments
    from matplotlib.ticker import MaxNLocator

    found = MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(segment.start, segment.end)
    ticks = [tick for tick in map(float, found) if segment.start <= tick <= segment.end]
    if ticks and axis.tile(0, ticks[-1]) < 0.2 * axis.tiles:  # a sequence shorter than its tile
        ticks = ticks[:1]
    length = segment.end - segment.start
    unit, letter = next(
        (each for each in ((10**6, " M"), (10**3, " k")) if length >= 2 * each[0]), (1, "")
    )
    texts = [f"{tick / unit:g}{letter if tick else ''}" for tick in ticks]
    set_ticks([axis.tile(0, tick) for tick in ticks], texts)
    getattr(axes, f"set_{which}label")(in_figure(segment.name), fontsize=9)


def _bars(figure: Figure, axes: Axes, plot: DotPlot, scale: Scale) -> None:
    """Add a bar of colours and scores for each strand."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    scores = np.linspace(scale.low, scale.high, 256)
    several = len(plot.maps) > 1
    for k, sign in enumerate(reversed(plot.maps)):
        colours = scale.picture({sign: scores[None]})[0] / 255
        unit = plot.scoring.scale
        bar = figure.colorbar(
            ScalarMappable(Normalize(scale.low / unit, scale.high / unit), ListedColormap(colours)),
            ax=axes,
            fraction=0.04,
            pad=0.01,
            aspect=30,
        )
        bar.ax.tick_params(labelsize=7)
        if several:
            bar.ax.set_title(sign, color=np.array(COLOURS[sign]) / 255, fontsize=11)
            bar.ax.set_xlabel(NAMES[sign].split()[0], fontsize=7)
        if k == 0:
            limit = f", capped at {plot.scoring.display(plot.cap)}" if plot.capped else ""
            what = "through" if plot.value == "through" else "that ends in"
            tile = (
                f"each tile of {plot.side} residues" if plot.side > 1 else "each pair of residues"
            )
            bar.set_label(f"best local score {what} {tile}{limit}", fontsize=8)


def _undated(suffix: str) -> dict[str, None]:
    """Return metadata without a date, so that equal pictures are equal files."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
