"""A report as one HTML page without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from bench.report.blocks import NOT_RUN, WRONG, Picture, Section, Table

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1rem; max-width: 84rem; color: #1c1c1c; background: #fff;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.8rem 0 .6rem; padding-top: .6rem;
  border-top: 2px solid #d8d8d8; }
p { max-width: 46rem; margin: .5rem 0; }
a { color: #00558c; }
nav ul { list-style: none; margin: 1rem 0; padding: 0; display: flex; flex-wrap: wrap;
  gap: .5rem .6rem; }
nav a { display: block; padding: .25rem .7rem; border: 1px solid #cfd6dc; border-radius: 1rem;
  text-decoration: none; font-size: .9rem; }
.tables, .figures { display: grid; gap: 1.2rem 2rem; margin: 1rem 0; }
.figures { grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); }
figure { margin: 0; max-width: 33rem; }
svg { display: block; width: 100%; height: auto; }
svg text { font-family: "DejaVu Sans", Verdana, Arial, sans-serif !important; }
figcaption, caption, summary { font-weight: 600; font-size: .95rem; text-align: left;
  margin: .3rem 0; }
figcaption span, .notes { font-weight: 400; color: #555; font-size: .8rem; }
figcaption span { display: block; }
.notes { margin: .4rem 0 1.6rem; padding: 0; list-style: none; max-width: 60rem; }
.caption { font-weight: 600; font-size: .95rem; margin: 1.4rem 0 .4rem; }
details { margin: 1rem 0; }
summary { cursor: pointer; padding: .3rem 0; }
.box { overflow-x: auto; max-width: 100%; width: fit-content; border: 1px solid #d8d8d8;
  border-radius: .3rem; -webkit-overflow-scrolling: touch; }
.box:focus-visible { outline: 2px solid #00558c; }
table { border-collapse: separate; border-spacing: 0; font-size: .85rem; line-height: 1.35;
  font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .65rem; border-bottom: 1px solid #ececec; text-align: right;
  vertical-align: top; white-space: nowrap; }
thead th { background: #f2f4f6; border-bottom: 1px solid #cfd6dc; vertical-align: bottom;
  white-space: normal; min-width: 4.2rem; max-width: 11rem; }
tbody tr:last-child > * { border-bottom: 0; }
th:first-child, .words { text-align: left; }
td.words { white-space: normal; min-width: 5.5rem; max-width: 30rem; }
td.long { min-width: 15rem; }
tbody th, thead th:first-child { position: sticky; left: 0; background: #fff; font-weight: 500;
  white-space: normal; min-width: 6.5rem; max-width: 19rem; border-right: 1px solid #e0e0e0; }
thead th:first-child { background: #f2f4f6; }
tr.group th { background: #f8f9fa; font-weight: 600; border-right: 0; position: static;
  max-width: none; }
tr.group th span { position: sticky; left: .65rem; }
.wrong { color: #b00020; font-weight: 700; }
.none { color: #777; }
@media (max-width: 40rem) {
  body { padding: .8rem; }
  tbody th, thead th:first-child { max-width: 9.5rem; }
  th, td { padding: .3rem .5rem; }
}
@media print { .box { overflow: visible; } details > * { display: block; } }
"""

_WORDS = ' class="words"'
_LONG = 30


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return the whole page."""
    links = "".join(
        f'<li><a href="#{escape(each.name)}">{escape(each.title)}</a></li>' for each in sections
    )
    body = "".join(f"{text}\n" for section in sections for text in _section(section))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n<p>{escape(lead)}</p>\n"
        f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n<main>\n{body}</main>\n'
        "</body>\n</html>\n"
    )


def _section(section: Section) -> Iterator[str]:
    yield f'<section id="{escape(section.name)}">\n<h2>{escape(section.title)}</h2>'
    figures: list[Picture] = []
    for block in section.blocks:
        if isinstance(block, Picture):
            figures.append(block)
            continue
        yield from _figures(figures)
        figures = []
        yield _table(block) if isinstance(block, Table) else f"<p>{escape(block)}</p>"
    yield from _figures(figures)
    yield "</section>"


def _figures(figures: Sequence[Picture]) -> Iterator[str]:
    """Yield figures that follow each other, side by side where there is room."""
    if figures:
        yield '<div class="figures">' + "".join(map(_figure, figures)) + "</div>"


def _figure(block: Picture) -> str:
    text = f"{block.text} {_from(block.files)}".strip()
    return (
        f'<figure id="figure-{escape(block.name)}">{block.svg}<figcaption>{escape(block.title)}'
        f"<span>{escape(text)}</span></figcaption></figure>\n"
    )


def _from(files: Sequence[str]) -> str:
    return f"From {', '.join(files)}" if files else ""


def _table(block: Table) -> str:
    wordy = block.wordy()
    head = "".join(
        f'<th scope="col"{_WORDS if words else ""}>{escape(text)}</th>'
        for text, words in zip(block.head, wordy, strict=True)
    )
    rows = "\n".join(_row(row, wordy) for row in block.rows)
    found = (
        f'<div class="box" role="region" tabindex="0" aria-label="{escape(block.caption)}">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n"
    )
    notes = [text for text in (*block.notes, _from(block.files)) if text]
    if notes:
        items = "".join(f"<li>{escape(note)}</li>" for note in notes)
        found += f'<ul class="notes">{items}</ul>\n'
    if block.folded:
        return f"<details><summary>{escape(block.caption)}</summary>\n{found}</details>"
    return f'<p class="caption">{escape(block.caption)}</p>\n{found}'


def _row(row: Sequence[str], wordy: Sequence[bool]) -> str:
    width = len(wordy)
    if len(row) == 1 < width:
        text = f'<th scope="rowgroup" colspan="{width}"><span>{escape(row[0])}</span></th>'
        return f'<tr class="group">{text}</tr>'
    cells = "".join(
        f"<td{_kind(text, words)}>{escape(text)}</td>"
        for text, words in zip(row[1:], wordy[1:], strict=True)
    )
    return f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>'


def _kind(text: str, words: bool) -> str:
    if text.startswith(WRONG):
        return ' class="wrong"'
    if text.startswith(NOT_RUN) and len(text) < 4:
        return ' class="none"'
    if not words:
        return ""
    return ' class="words long"' if len(text) > _LONG else _WORDS
