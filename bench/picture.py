"""The picture of ``bench report``: devices by workload, with other programs beside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from bench.page import Column, tag
from bench.row import Row, rate_of, state
from bench.table import number, where

PICTURE = {
    "search": "Search a protein database",
    "search-uniform": "Search, equal proteins (peak)",
    "pairs": "Align many short DNA pairs",
    "long": "Align one long DNA pair",
    "three": "Align three sequences",
    "edit": "Edit distances",
}
"""Workloads of the picture, and what they are for a stranger."""

OTHERS, GREY = 4, "#9a9a9a"
"""How many other programs are shown, and their colour."""


class Bar(NamedTuple):
    """A bar of the picture."""

    rate: float
    label: str
    place: str
    colour: str


NONE = Bar(0.0, "", "", GREY)


def bars(workload: str, columns: Sequence[Column]) -> list[Bar]:
    """Return the bars of a workload: the best of glsw on each device, and the best others."""
    ours: dict[str, Bar] = {}
    others: dict[str, Bar] = {}
    for column in columns:
        for row in column.rows:
            if row["workload"] == workload and _shown(row):
                rate, place, kind = rate_of(row) or 0.0, column.place(row), where(row)
                if row["ours"]:
                    bar = Bar(rate, f"glsw on {column.name}", place, column.colour)
                    ours[column.mark] = max(bar, ours.get(column.mark, bar))
                    continue
                cores = f"{row['cores']} cores" if kind == "all cores" else kind
                label = f"{row['program']}, {f'on {column.name}' if kind == 'GPU' else cores}"
                kind += row["program"].partition(" ")[0] * (kind == "GPU")
                others[kind] = max(Bar(rate, label, place, GREY), others.get(kind, NONE))
    return sorted(ours.values(), reverse=True) + sorted(others.values(), reverse=True)[:OTHERS]


def _shown(row: Row) -> bool:
    """Tell whether a row is a rate in cells of whole work, and not of our engine on the CPU."""
    rate = state(row) == "timed" and row.get("unit", "cell/s") == "cell/s"
    whole = not str(row["task"]).endswith(("command", "devices"))
    on_cpu = row["program"] == "cpu" or "auto: cpu" in (row.get("note") or "")
    return rate and whole and not on_cpu


def picture(columns: Sequence[Column]) -> str:
    """Return the picture: a panel per workload, longer bars are faster, ten times per mark."""
    panels = {name: bars(name, columns) for name in PICTURE}
    panels = {name: some for name, some in panels.items() if some and some[0].colour != GREY}
    rates = [bar.rate for some in panels.values() for bar in some if bar.rate]
    if not rates:
        return ""
    low, high = 10 ** (len(str(int(min(rates)))) - 1) / 3, max(rates) * 1.1
    parts = [
        tag("h3", escape(PICTURE[name])) + "".join(_bar(bar, low, high) for bar in some)
        for name, some in panels.items()
    ]
    caption = (
        "Billions of table cells per second; a mark more to the right is ten times faster. "
        '<span class="key ours"></span> glsw, a colour per device '
        '<span class="key other"></span> other programs, the fastest of each kind. '
        "Click a bar for its measurement."
    )
    shown = "".join(tag("section", part, class_="panel") for part in parts)
    content = tag("div", shown, class_="panels") + tag("figcaption", caption)
    return tag("figure", content, class_="picture")


def _bar(bar: Bar, low: float, high: float) -> str:
    span = math.log10(high / low)
    width = max(1.5, 100 * math.log10(max(bar.rate, low * 1.01) / low) / span)
    fill = tag("span", "", class_="fill", style=f"width:{width:.2f}%;background:{bar.colour}")
    content = (
        tag("span", escape(bar.label), class_="name")
        + tag("span", fill, class_="track", style=f"--step:{100 / span:.3f}%")
        + tag("span", _short(bar.rate / 1e9), class_="value")
    )
    kind = "other" if bar.colour == GREY else "ours"
    return tag("a", content, class_=f"bar {kind}", href=f"#{bar.place}")


def _short(rate: float) -> str:
    """Return a rate with two digits where it is small.

    >>> _short(0.002787), _short(12.345), _short(3898.1)
    ('0.0028', '12.3', '3,898')
    """
    return f"{rate:.2g}" if rate < 0.1 else number(rate)
