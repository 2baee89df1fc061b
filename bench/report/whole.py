"""The whole report: all sections, written as Markdown and as a page."""

from __future__ import annotations

from pathlib import Path

from bench.report import (
    aymone2022,
    changes,
    devices,
    engines,
    lin2015,
    liu2006,
    others,
    rates,
    roofline,
    scan2014,
    search,
    sudo2012,
)
from bench.report.blocks import Section, joined
from bench.report.documents import Collection
from bench.report.figures import Colours
from bench.report.markdown import FIGURES, markdown
from bench.report.page import page

NAMES = ("report.md", "report.html")


def sections(files: Collection) -> list[Section]:
    """Return all sections that these files have something for."""
    colours = Colours(files.devices)
    papers = (liu2006, aymone2022, lin2015, scan2014, sudo2012, search)
    found = [
        devices.section(files),
        engines.section(files, colours),
        *(paper.section(files, colours) for paper in papers),
        rates.micro(files),
        roofline.section(files, colours),
        rates.energy(files),
        others.section(files),
        changes.section(files),
    ]
    return [each for each in found if each is not None]


def write(files: Collection, folder: Path) -> list[Path]:
    """Write both forms and the figures; return the paths of the two."""
    found = sections(files)
    title = "glsw benchmarks"
    days = sorted(each.date[:10] for each in files.documents)
    count = len(files.documents)
    lead = (
        f"{count} file{'s' if count > 1 else ''} of {joined(files.devices)}, measured "
        f"{' to '.join(dict.fromkeys((days[0], days[-1])))}. Every result was checked before "
        "it was timed; times are medians."
    )
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    for section in found:
        for picture in section.pictures():
            head = '<?xml version="1.0" encoding="utf-8"?>\n'
            path = folder / FIGURES / f"{picture.name}.svg"
            path.write_text(head + picture.svg, encoding="utf-8")
    texts = (markdown(title, lead, found), page(title, lead, found))
    paths = [folder / name for name in NAMES]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return paths
