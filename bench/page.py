"""Parts of the pages of ``bench report``: devices, sortable tables, the picture, the document."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import zip_longest
from pathlib import Path
from string import Template
from typing import NamedTuple

from bench.row import File, Row, name_of, rate_of, state
from bench.table import number, where

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#7f3fbf", "#7a7a00")
"""Of devices, to be told apart by the colour-blind too (after Okabe and Ito)."""


class Column(NamedTuple):
    """A device of the page: its file, its name, its colour, the start of its places."""

    file: File
    name: str
    colour: str
    mark: str

    @property
    def rows(self) -> list[Row]:
        return list(self.file.rows.values())

    def place(self, row: Row) -> str:
        return f"{self.mark}-{name_of(row)}"


def columns_of(files: Sequence[File]) -> list[Column]:
    """Return the devices, each with a name that no other has."""
    names = [short_name(file) for file in files]
    found = []
    for k, (file, name) in enumerate(zip(files, names, strict=True)):
        own = name if names.count(name) == 1 else f"{name} ({file.path.stem})"
        found.append(Column(file, own, COLOURS[k % len(COLOURS)], f"d{k}"))
    return found


def short_name(file: File) -> str:
    """Return a short name of the device of a file."""
    device = file.header["device"]
    if not device:
        return "processor"
    name = str(device["renderer"]).partition("/")[0]
    for word in ("NVIDIA ", "Mesa ", "AMD ", " 80GB HBM3", "Graphics"):
        name = name.replace(word, "")
    if name.startswith("zink"):
        return "zink on lavapipe" if "llvmpipe" in name else "zink"
    cores = f", {file.header['cores']} cores" if device.get("software") else ""
    return name.partition(" (")[0].strip() + cores


def tag(name: str, content: str, **attributes: object) -> str:
    """Return an element; ``content`` is HTML, and ``class_`` the attribute of that name."""
    told = {key.rstrip("_").replace("_", "-"): each for key, each in attributes.items()}
    words = [f' {key}="{escape(str(each))}"' for key, each in told.items() if each is not None]
    return f"<{name}{''.join(words)}>{content}</{name}>"


class Cell(NamedTuple):
    """A cell of a table: HTML, and the number to sort by."""

    html: str
    value: float | None = None


def text(words: object, value: float | None = None) -> Cell:
    return Cell(escape(str(words)), value)


def table(
    name: str, head: Sequence[str], lines: Iterable[Sequence[object]], places: Sequence[str] = ()
) -> str:
    """Return a table that can be sorted, of cells or texts; ``places`` are those of its lines."""
    rows = [[each if isinstance(each, Cell) else text(each) for each in line] for line in lines]
    columns = [*zip(*rows, strict=True)] or [()] * len(head)
    kinds = ["n" if any(cell.value is not None for cell in each) else None for each in columns]
    heads = "".join(
        tag("th", escape(each), scope="col", class_=n) for each, n in zip(head, kinds, strict=True)
    )
    body = []
    for place, row in zip_longest(places, rows):
        cells = ""
        for k, (html, value) in enumerate(row):
            short = None if value is None else f"{value:.6g}"
            cells += tag("td" if k else "th", html, class_=kinds[k], data_v=short)
        body.append(tag("tr", cells, id=place))
    thead, tbody = tag("thead", tag("tr", heads)), tag("tbody", "\n".join(body))
    shown, kind = tag("table", thead + tbody, class_="sortable"), "box rows" if places else "box"
    return tag("div", shown, class_=kind, role="region", tabindex=0, aria_label=name)


PICTURE = {
    "search": "Search a protein database",
    "search-uniform": "Search, equal proteins (peak)",
    "pairs": "Align many short DNA pairs",
    "long": "Align one long DNA pair",
    "three": "Align three sequences",
    "edit": "Edit distances",
}
"""Workloads of the picture, and what they are for a stranger."""

OTHERS, GREY = 4, "#9a9a9a"  # how many other programs are shown, and their colour


class Bar(NamedTuple):
    """A bar of the picture."""

    rate: float
    label: str
    place: str
    colour: str


def bars(workload: str, columns: Sequence[Column]) -> list[Bar]:
    """Return the bars of a workload: the best of glsw on each device, and the best others."""
    best: dict[bool, dict[str, Bar]] = {True: {}, False: {}}
    for column in columns:
        for row in column.rows:
            # Rates in cells of whole work, and not of our engine on the CPU.
            cells = state(row) == "timed" and row.get("unit", "cell/s") == "cell/s"
            part = str(row["task"]).endswith(("command", "devices"))
            on_cpu = row["program"] == "cpu" or "auto: cpu" in (row.get("note") or "")
            if row["workload"] != workload or not cells or part or on_cpu:
                continue
            who, kind, group = row["program"], where(row), best[row["ours"]]
            places = {"GPU": f"on {column.name}", "all cores": f"{row.get('cores')} cores"}
            label = f"{who}, {places.get(kind, kind)}" if kind else f"glsw on {column.name}"
            kind = f"GPU {who.partition(' ')[0]}" if kind == "GPU" else kind or column.mark
            colour = column.colour if row["ours"] else GREY
            bar = Bar(rate_of(row) or 0.0, label, column.place(row), colour)
            group[kind] = max(bar, group.get(kind, bar))
    ours, others = (sorted(best[own].values(), reverse=True) for own in (True, False))
    return ours + others[:OTHERS]


def picture(columns: Sequence[Column]) -> str:
    """Return the picture: a panel per workload, longer bars are faster, ten times per mark."""
    panels = {name: bars(name, columns) for name in PICTURE}
    panels = {name: some for name, some in panels.items() if some and some[0].colour != GREY}
    rates = [bar.rate for some in panels.values() for bar in some if bar.rate]
    if not rates:
        return ""
    low, high = 10 ** (len(str(int(min(rates)))) - 1) / 3, max(rates) * 1.1
    span, shown = math.log10(high / low), ""
    for name, some in panels.items():
        part = tag("h3", escape(PICTURE[name]))
        for bar in some:
            width = max(1.5, 100 * math.log10(max(bar.rate, low * 1.01) / low) / span)
            style = f"width:{width:.2f}%;background:{bar.colour}"
            fill, step = tag("span", "", class_="fill", style=style), f"--step:{100 / span:.3f}%"
            content = tag("span", escape(bar.label), class_="name")
            content += tag("span", fill, class_="track", style=step)
            content += tag("span", few_digits(bar.rate / 1e9), class_="value")
            kind = "bar other" if bar.colour == GREY else "bar ours"
            part += tag("a", content, class_=kind, href=f"#{bar.place}")
        shown += tag("section", part, class_="panel")
    caption = (
        "Billions of table cells per second; a mark more to the right is ten times faster. "
        '<span class="key ours"></span> glsw, a colour per device '
        '<span class="key other"></span> other programs, the fastest of each kind. '
        "Click a bar for its measurement."
    )
    content = tag("div", shown, class_="panels") + tag("figcaption", caption)
    return tag("figure", content, class_="picture")


def few_digits(rate: float) -> str:
    """Return a rate with two digits where it is small."""
    return f"{rate:.2g}" if rate < 0.1 else number(rate)


def page(title: str, lead: str, body: str, link: str, linked: str) -> str:
    """Return a whole page, with a link to the other one."""
    template, style, script = (
        Path(__file__).with_name(name).read_text(encoding="utf-8")
        for name in ("page.html", "report.css", "report.js")
    )
    words = {"title": title, "lead": lead, "link": link, "linked": linked}
    words = {name: escape(each) for name, each in words.items()}
    return Template(template).substitute(words, style=style, script=script, body=body)
