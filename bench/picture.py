"""The picture of ``bench report``: devices by workload, with other programs beside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bench import table
from bench.row import File, Row, name_of, rate_of, state

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#7f3fbf", "#7a7a00")
"""Of devices, to be told apart by the colour-blind too (after Okabe and Ito)."""

PICTURE = {
    "search": "Search a protein database",
    "search-uniform": "Search, equal proteins (peak)",
    "pairs": "Align many short DNA pairs",
    "long": "Align one long DNA pair",
    "three": "Align three sequences",
    "edit": "Edit distances",
}
"""Workloads of the picture, and what they are for a stranger."""


@dataclass(frozen=True)
class Column:
    """A device of the page: its file, its name and its colour."""

    file: File
    name: str
    colour: str
    mark: str

    @property
    def rows(self) -> list[Row]:
        return list(self.file.rows.values())

    def link(self, row: Row) -> str:
        return f"{self.mark}-{name_of(row)}"


def columns_of(files: Sequence[File]) -> list[Column]:
    """Return the devices, each with a name that no other has."""
    found: list[Column] = []
    for k, file in enumerate(files):
        name = short_name(file)
        if any(each.name == name for each in found):
            name = f"{name} ({file.path.stem})"
        found.append(Column(file, name, COLOURS[k % len(COLOURS)], f"d{k}"))
    return found


def short_name(file: File) -> str:
    """Return a short name of the device of a file."""
    device = file.header["device"]
    if not device:
        return "processor"
    name = str(device["renderer"]).partition("/")[0]
    for word in ("NVIDIA ", "Mesa ", "AMD ", " 80GB HBM3", "Graphics"):
        name = name.replace(word, "")
    head = name.partition(" (")[0].strip()
    if name.startswith("zink"):
        return "zink on lavapipe" if "llvmpipe" in name else "zink"
    cores = f", {file.header['cores']} cores" if device.get("software") else ""
    return f"{head}{cores}"


# the picture


@dataclass(frozen=True)
class Bar:
    """A bar of the picture."""

    label: str
    rate: float
    link: str
    colour: str
    ours: bool


def bars(workload: str, columns: Sequence[Column]) -> list[Bar]:
    """Return the bars of a workload: the best of glsw on each device, and the best others."""
    found, others = [], dict[str, tuple[float, Bar]]()
    for column in columns:
        rows = [row for row in column.rows if row["workload"] == workload]
        timed = [
            row for row in rows if state(row) == "timed" and row.get("unit", "cell/s") == "cell/s"
        ]
        alone = [row for row in timed if not str(row["task"]).endswith(("command", "devices"))]
        ours = [row for row in alone if row["ours"] and not _on_cpu(row)]
        if ours:
            row = max(ours, key=lambda row: rate_of(row) or 0.0)
            label = f"glsw on {column.name}"
            found.append(
                Bar(label, rate_of(row) or 0.0, column.link(row), column.colour, ours=True)
            )
        for row in alone:
            if not row["ours"]:
                kind = "GPU" if not row.get("cores") else "1" if row["cores"] == 1 else "all"
                text = f"{row['program']}, {_cores(row, column)}"
                rate = rate_of(row) or 0.0
                bar = Bar(text, rate, column.link(row), "#9a9a9a", ours=False)
                name = f"{row['program'].partition(' ')[0]} GPU" if kind == "GPU" else kind
                if name not in others or others[name][0] < rate:
                    others[name] = rate, bar
    found.sort(key=lambda bar: -bar.rate)
    rest = sorted((bar for _, bar in others.values()), key=lambda bar: -bar.rate)
    return [*found, *rest[:4]]


def _on_cpu(row: Row) -> bool:
    return row["program"] == "cpu" or "auto: cpu" in (row.get("note") or "")


def _cores(row: Row, column: Column) -> str:
    if not row.get("cores"):
        return f"on {column.name}"
    return "one core" if row["cores"] == 1 else f"{row['cores']} cores"


def picture(columns: Sequence[Column]) -> str:
    """Return the picture: a panel per workload, longer bars are faster, ten times per mark."""
    panels = {name: bars(name, columns) for name in PICTURE}
    panels = {name: found for name, found in panels.items() if any(bar.ours for bar in found)}
    if not panels:
        return ""
    rates = [bar.rate for found in panels.values() for bar in found if bar.rate]
    low = 10 ** (len(str(int(min(rates)))) - 1) / 3
    high = max(rates) * 1.1
    parts = []
    for name, found in panels.items():
        lines = "".join(_bar(bar, low, high) for bar in found)
        parts.append(f'<section class="panel"><h3>{escape(PICTURE[name])}</h3>{lines}</section>')
    legend = "Billions of table cells per second; a mark more to the right is ten times faster."
    return (
        f'<figure class="picture"><div class="panels">{"".join(parts)}</div>'
        f'<figcaption>{legend} <span class="key ours"></span> glsw, a colour per device '
        '<span class="key other"></span> other programs, the fastest of each kind. '
        "Click a bar for its measurement.</figcaption></figure>"
    )


def _bar(bar: Bar, low: float, high: float) -> str:
    span = math.log10(high / low)
    width = max(1.5, 100 * math.log10(max(bar.rate, low * 1.01) / low) / span)
    step = 100 / span
    kind = "ours" if bar.ours else "other"
    return (
        f'<a class="bar {kind}" href="#{bar.link}"><span class="name">{escape(bar.label)}</span>'
        f'<span class="track" style="--step:{step:.3f}%"><span class="fill" '
        f'style="width:{width:.2f}%;background:{bar.colour}"></span></span>'
        f'<span class="value">{_short(bar.rate / 1e9)}</span></a>'
    )


def _short(rate: float) -> str:
    """Return a rate with two digits where it is small.

    >>> _short(0.002787), _short(12.345), _short(3898.1)
    ('0.0028', '12.3', '3,898')
    """
    return f"{rate:.2g}" if rate < 0.1 else table.number(rate)
