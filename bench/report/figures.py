"""Figures as SVG text: one colour a device everywhere, what is compared by line and sign."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from bench.report.blocks import Picture, number

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#7f3fbf", "#7a7a00")
"""Of devices, to be told apart by the colour-blind too (after Okabe and Ito)."""

PAPER = "#000000"
"""Colour of what papers say."""

BESIDE = "#777777"

STYLES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 4)))
_LEVELS = ("--", ":", "-.")
SIGNS = ("o", "s", "^", "D", "v", "P", "X")
_MORE = (*SIGNS, "*", "<", ">", "p", "d", "1", "2", "+", "x", "3", "4", "|", "_")

_WIDTH, _HEIGHT = 4.4, 2.8  # inches; of a phone's width, so that letters can be read there
_DECADES = {"x": 0.8, "y": 1.2}
"""What values span on a logarithmic axis at least, as powers of ten."""

_RC: dict[str, Any] = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Arial", "sans-serif"],
    "font.size": 9,
    "axes.titlesize": 9,
    "legend.fontsize": 8,
    "text.parse_math": False,
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e2e2e2",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
}


class Curve(NamedTuple):
    """A line: whose it is (None: a paper's), what it shows, and its points."""

    device: str | None
    what: str
    points: Sequence[tuple[float, float]]


class Band(NamedTuple):
    """A range that a paper gives, from left to right."""

    label: str
    low: float
    high: float


class Bar(NamedTuple):
    """A bar: its group, whose it is (None: a paper's or that of others), and how long."""

    group: str
    device: str | None
    value: float
    beside: bool = False
    """Of another program."""


class Colours:
    """A colour for each device, the same in all figures of a report."""

    def __init__(self, devices: Sequence[str]) -> None:
        self._of = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(devices)}

    def __getitem__(self, device: str | None) -> str:
        return PAPER if device is None else self._of.get(device, BESIDE)


def curves(
    name: str,
    title: str,
    text: str,
    lines: Sequence[Curve],
    colours: Colours,
    *,
    x: str,
    y: str,
    bands: Sequence[Band] = (),
    files: Sequence[str] = (),
) -> Picture | None:
    """Draw curves, on logarithmic axes where they span much; None if there is no point."""
    lines = [line for line in lines if line.points]
    if not any(line.device for line in lines):
        return None
    with _figure(name) as figure:
        axes = figure.add_subplot()
        kinds = list(dict.fromkeys(line.what for line in lines if line.device))
        for k, band in enumerate(bands):
            if band.low == band.high:
                axes.axhline(band.low, color=PAPER, lw=1, ls=_LEVELS[k % len(_LEVELS)])
            else:
                axes.axhspan(band.low, band.high, color=PAPER, alpha=0.12, lw=0)
        papers = list(dict.fromkeys(line.what for line in lines if not line.device))
        for line in lines:
            k = papers.index(line.what) if line.device is None else kinds.index(line.what)
            style: dict[str, Any] = {
                "color": colours[line.device],
                "ls": STYLES[k % len(STYLES)],
                "marker": SIGNS[k % len(SIGNS)],
                "ms": 4 if line.device else 3,
                "lw": 1.4 if line.device else 1.0,
            }
            across, up = zip(*sorted(line.points), strict=True)
            axes.plot(across, up, **style)
        _scale(axes, "x", [point[0] for line in lines for point in line.points])
        heights = [point[1] for line in lines for point in line.points]
        _scale(axes, "y", [*heights, *(end for band in bands for end in band[1:])])
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        _legend(figure, lines, kinds, papers, bands, colours)
        return _picture(figure, name, title, text, files)


def bars(
    name: str,
    title: str,
    text: str,
    found: Sequence[Bar],
    colours: Colours,
    *,
    x: str,
    files: Sequence[str] = (),
) -> Picture | None:
    """Draw bars in groups, a colour a device, with their numbers; None if there is none."""
    if not any(bar.device for bar in found):
        return None
    groups = list(dict.fromkeys(bar.group for bar in found))
    with _figure(name, 0.5 + 0.17 * len(found) + 0.14 * len(groups)) as figure:
        axes = figure.add_subplot()
        values = [bar.value for bar in found if bar.value > 0]
        logarithmic = max(values) > 30 * min(values)
        left = 10 ** _floor(min(values) / 2) if logarithmic else 0.0
        place, ticks = 0.0, []
        for group in groups:
            own = [bar for bar in found if bar.group == group]
            ticks.append(place + (len(own) - 1) / 2)
            for bar in own:
                alpha = 0.45 if bar.beside else 1.0
                style: dict[str, Any] = {"color": colours[bar.device], "alpha": alpha}
                axes.barh(place, bar.value - left, left=left, height=0.8, **style)
                axes.annotate(
                    number(bar.value),
                    (bar.value, place),
                    xytext=(2, 0),
                    textcoords="offset points",
                    va="center",
                    size=7,
                )
                place += 1
            place += 0.8
        axes.set_yticks(ticks, [_label(group) for group in groups])
        axes.set_ylim(place - 0.8, -0.8)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        if logarithmic:
            axes.set_xscale("log")
            axes.set_xlim(left, max(values) * 3)
        else:
            axes.set_xlim(0, max(values) * 1.15)
        _numbers(axes.xaxis, logarithmic, axes.get_xlim(), 40)
        axes.set_xlabel(x)
        devices = list(dict.fromkeys(bar.device for bar in found))
        handles = [
            Line2D([], [], color=colours[device], lw=5, label=_label(device or "the paper"))
            for device in devices
        ]
        _under(figure, handles)
        return _picture(figure, name, title, text, files)


def roofline(
    name: str,
    title: str,
    text: str,
    points: Sequence[tuple[str, str, float, float]],
    roofs: Sequence[Curve],
    colours: Colours,
    *,
    x: str,
    y: str,
    files: Sequence[str] = (),
) -> Picture | None:
    """Draw roofs and, below them, what was measured: (device, engine, across, up)."""
    if not points:
        return None
    with _figure(name, _HEIGHT * 1.25) as figure:
        axes = figure.add_subplot()
        kinds = list(dict.fromkeys(engine for _, engine, *_ in points))
        handles: list[Any] = []
        for k, roof in enumerate(roofs):
            ends = zip(*sorted(roof.points), strict=True)
            style: dict[str, Any] = {"color": BESIDE, "ls": STYLES[k % len(STYLES)], "lw": 1.2}
            handles += axes.plot(*ends, label=_label(roof.what), **style)
        for device, engine, across, up in points:
            sign = _MORE[kinds.index(engine) % len(_MORE)]
            edge: dict[str, Any] = {} if sign in "12+x34|_" else {"mec": "white", "mew": 0.4}
            axes.plot([across], [up], sign, color=colours[device], ms=6, **edge)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            _numbers(axis, True, list(axis.get_view_interval()))
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        colour = colours[points[0][0]]
        handles += [
            Line2D([], [], color=colour, ls="", marker=_MORE[k % len(_MORE)], label=_label(engine))
            for k, engine in enumerate(kinds)
        ]
        _under(figure, handles)
        return _picture(figure, name, title, text, files)


@contextmanager
def _figure(name: str, height: float = _HEIGHT) -> Iterator[Figure]:
    # The salt keeps identifiers of two figures in one page apart, and the same in every run.
    settings: Any = {**_RC, "svg.hashsalt": name}
    with matplotlib.rc_context(settings):
        yield Figure(figsize=(_WIDTH, height), layout="constrained")


def _floor(value: float) -> int:
    text = f"{value:.6e}"
    return int(text.partition("e")[2])


def _scale(axes: Axes, name: str, values: Sequence[float]) -> None:
    """Make an axis logarithmic where the values span more than a decade or so."""
    above = [value for value in values if value > 0]
    logarithmic = len(above) == len(values) and max(above) > 10 ** _DECADES[name] * min(above)
    if logarithmic:
        axes.set(**{f"{name}scale": "log"})
    elif name == "y":
        axes.set_ylim(bottom=0)
    _numbers(axes.yaxis if name == "y" else axes.xaxis, logarithmic, above)


def _numbers(axis: Any, logarithmic: bool, values: Sequence[float], dense: float = 300) -> None:
    """Write plain numbers on an axis: 1, 2 and 5 of each decade where it spans little."""
    if logarithmic:
        few = max(values) < dense * min(values)
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=12))
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))


def _tick(value: float) -> str:
    """Return a short number for an axis.

    >>> [_tick(value) for value in (0, 0.001, 0.5, 20, 5000, 1e6, 2e9, 1e-7)]
    ['0', '0.001', '0.5', '20', '5k', '1M', '2G', '1e-07']
    """
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _legend(
    figure: Figure,
    lines: Sequence[Curve],
    kinds: Sequence[str],
    papers: Sequence[str],
    bands: Sequence[Band],
    colours: Colours,
) -> None:
    """Tell devices by colour and what is compared by line, below the figure."""
    devices = list(dict.fromkeys(line.device for line in lines if line.device))
    style: dict[str, Any]
    handles: list[Any] = [
        Line2D([], [], color=colours[device], lw=4, label=_label(device)) for device in devices
    ]
    for group, colour in ((kinds, BESIDE), (papers, PAPER)):
        for k, what in enumerate(group):
            style = {"ls": STYLES[k % len(STYLES)], "marker": SIGNS[k % len(SIGNS)], "ms": 4}
            handles.append(Line2D([], [], color=colour, label=_label(what), **style))
    for k, band in enumerate(bands):
        wide = band.low < band.high
        alpha = 0.12 if wide else 1.0
        style = {"lw": 6 if wide else 1, "ls": "-" if wide else _LEVELS[k % len(_LEVELS)]}
        handles.append(Line2D([], [], color=PAPER, alpha=alpha, label=_label(band.label), **style))
    _under(figure, handles)


def _under(figure: Figure, handles: list[Any]) -> None:
    longest = max(len(handle.get_label()) for handle in handles)
    columns = min(3 if longest <= 14 else 2 if longest <= 28 else 1, len(handles))
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + 0.17 * -(-len(handles) // columns))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        handlelength=2.4,
        columnspacing=1.2,
    )


def _label(text: str) -> str:
    """Return a label of one line; matplotlib leaves out those that begin with an underscore."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return (line.lstrip("_") or "?")[:60]


def _picture(
    figure: Figure, name: str, title: str, text: str, files: Sequence[str]
) -> Picture | None:
    file = io.StringIO()
    figure.savefig(
        file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    return Picture(name, title, text, _inlined(file.getvalue(), name, title, text), list(files))


def _inlined(svg: str, name: str, title: str, text: str) -> str:
    """Return an SVG element for a page: no prologue, no metadata, no rule for others, a title."""
    element = svg[svg.index("<svg") :].strip()
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r"<title>.*?</title>", "", element, flags=re.DOTALL)
    element = re.sub(r"<style[^>]*>.*?</style>", "", element, flags=re.DOTALL)
    element = re.sub(r'<g id="[^"]*"', "<g", element)  # the same in every figure
    head, _, rest = element.partition(">")
    head = re.sub(r'\s(width|height)="[^"]*"', "", head)
    head += f' role="img" aria-labelledby="title-{name} text-{name}"'
    head += ' style="stroke-linejoin:round;stroke-linecap:butt">'
    named = f'<title id="title-{name}">{escape(title)}</title>'
    return f'{head}{named}<desc id="text-{name}">{escape(text)}</desc>{rest}\n'
