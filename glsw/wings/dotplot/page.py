"""A dot plot as one self-contained HTML page."""

from __future__ import annotations

import base64
import html
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glsw.wings.dotplot.axis import Axis
from glsw.wings.dotplot.colours import COLOURS, LINES, NAMES, Scale, kind_of
from glsw.wings.dotplot.lines import Line

if TYPE_CHECKING:
    from glsw.wings.dotplot.plot import DotPlot

_TEMPLATE = Path(__file__).with_name("page.html")


def page(plot: DotPlot) -> str:
    """Return the page of a dot plot: its map to zoom into, a read-out, its alignments."""
    title = f"{_names(plot.query)} × {_names(plot.target)}"
    # A name may contain what ends the script element.
    data = json.dumps(_data(plot, title), separators=(",", ":")).replace("<", "\\u003c")
    text = _TEMPLATE.read_text(encoding="utf-8")
    head, tail = text.split("{{data}}")
    return head.replace("{{title}}", html.escape(title)) + data + tail


def _data(plot: DotPlot, title: str) -> dict[str, Any]:
    scale = Scale.of(plot.maps, plot.cap)
    highest = max((int(tiles.max(initial=0)) for tiles in plot.maps.values()), default=0)
    kind = "<u2" if highest < 2**16 else "<u4"
    return {
        "title": title,
        "what": _description(plot),
        "shape": [plot.query.tiles, plot.target.tiles],
        "side": plot.side,
        "cap": plot.cap,
        "capped": plot.capped,
        "unit": plot.scoring.scale,
        "bytes": np.dtype(kind).itemsize,
        "low": scale.low,
        "high": scale.high,
        "colours": COLOURS,
        "names": NAMES,
        "kinds": [{"text": text, "colour": colour} for _, text, colour in LINES],
        "strands": "-" in plot.maps,
        "query": _segments(plot.query),
        "target": _segments(plot.target),
        "maps": {
            sign: base64.b64encode(zlib.compress(tiles.astype(kind).tobytes(), 9)).decode()
            for sign, tiles in plot.maps.items()
        },
        "lines": [_line(plot, line) for line in plot.lines],
    }


def _description(plot: DotPlot) -> str:
    what = "that passes through" if plot.value == "through" else "that ends in"
    limit = f" Scores are capped at {plot.scoring.display(plot.cap)}." if plot.capped else ""
    tile = "Each pair of residues" if plot.side == 1 else f"Each tile of {plot.side} x {plot.side}"
    return (
        f"{tile} shows the best score of a local alignment {what} it ({plot.scoring.name}; "
        f"the first residue of a gap costs {plot.scoring.display(plot.scoring.gap_open)}, each "
        f"further one {plot.scoring.display(plot.scoring.gap_extend)}).{limit}"
    )


def _segments(axis: Axis) -> list[dict[str, Any]]:
    return [
        {"name": each.name, "start": each.start, "end": each.end, "first": first}
        for each, first in zip(axis.segments, axis.starts.tolist(), strict=True)
    ]


def _line(plot: DotPlot, line: Line) -> dict[str, Any]:
    targets, queries = line.coordinates.tolist()
    points = [
        [round(plot.target.tile(line.target, x), 3), round(plot.query.tile(line.query, y), 3)]
        for x, y in zip(targets, queries, strict=True)
    ]
    first, last = sorted((targets[0], targets[-1]))
    texts = [
        f"{line.score}",
        *([NAMES[line.sign]] if "-" in plot.maps else []),
        f"{plot.query.segments[line.query].name} {queries[0] + 1} - {queries[-1]}",
        f"{plot.target.segments[line.target].name} {first + 1} - {last}",
        f"{line.identity:.1%}",
    ]
    return {"points": points, "texts": texts, "kind": kind_of(line.identity)}


def _names(axis: Axis) -> str:
    """Return the name of a sequence, or how many there are."""
    count = len(axis.segments)
    return axis.segments[0].name if count == 1 else f"{count} sequences"
