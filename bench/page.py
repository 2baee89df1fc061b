"""Pages of ``bench report``: devices, tags, sortable tables, and the whole document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple

from bench.row import File, Row, name_of

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#7f3fbf", "#7a7a00")
"""Of devices, to be told apart by the colour-blind too (after Okabe and Ito)."""


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

    def place(self, row: Row) -> str:
        """Return the place of a row on the page."""
        return f"{self.mark}-{name_of(row)}"


def columns_of(files: Sequence[File]) -> list[Column]:
    """Return the devices, each with a name that no other has."""
    names = [short_name(file) for file in files]
    return [
        Column(
            *(file, name if names.count(name) == 1 else f"{name} ({file.path.stem})"),
            *(COLOURS[k % len(COLOURS)], f"d{k}"),
        )
        for k, (file, name) in enumerate(zip(files, names, strict=True))
    ]


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


# HTML


def tag(name: str, content: str, **attributes: object) -> str:
    """Return an element; ``content`` is HTML, and ``class_`` the attribute of that name.

    >>> tag("a", "5", class_="wrong", href="#d0", title=None)
    '<a class="wrong" href="#d0">5</a>'
    """
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{words}>{content}</{name}>"


class Cell(NamedTuple):
    """A cell of a table: HTML, and the number to sort by."""

    html: str
    value: float | None = None


def text(words: object, value: float | None = None) -> Cell:
    return Cell(escape(str(words)), value)


def table(
    name: str,
    head: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    places: Sequence[str] | None = None,
) -> str:
    """Return a table that can be sorted; ``places`` are those of its rows on the page."""
    numbers = [
        "n" if any(row[k].value is not None for row in rows) else None for k in range(len(head))
    ]
    heads = [
        tag("th", escape(each), scope="col", class_=n)
        for each, n in zip(head, numbers, strict=True)
    ]
    lines = []
    for k, row in enumerate(rows):
        cells = [
            tag("td" if j else "th", cell.html, class_=numbers[j], data_v=_short(cell.value))
            for j, cell in enumerate(row)
        ]
        lines.append(tag("tr", "".join(cells), id=places[k] if places else None))
    thead, tbody = tag("thead", tag("tr", "".join(heads))), tag("tbody", "\n".join(lines))
    return tag(
        "div",
        tag("table", thead + tbody, class_="sortable"),
        class_="box rows" if places else "box",
        role="region",
        tabindex=0,
        aria_label=name,
    )


def _short(value: float | None) -> str | None:
    return None if value is None else f"{value:.6g}"


def page(title: str, lead: str, body: str, link: str, linked: str) -> str:
    """Return a whole page, with a link to the other one."""
    style, script = (
        Path(__file__).with_name(name).read_text(encoding="utf-8")
        for name in ("report.css", "report.js")
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>\n"
        f"<p>{escape(lead)} {tag('a', escape(linked), href=link)}</p></header>\n"
        f"<main>\n{body}\n</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )
