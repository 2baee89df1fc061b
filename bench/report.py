"""``bench report``: rows of any number of devices as two self-contained pages.

The first opens with one picture, devices by workload with other programs beside, then has a table
per workload (click a head to sort, choose workloads), how near the engines come to what the device
can do, and every row. The second page says what holds today of the five papers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from bench import claims, options, roofline, table
from bench.picture import Column, columns_of, picture
from bench.row import File, Row, rate_of, seconds_of, state
from bench.work import WORKLOADS

STYLE = Path(__file__).with_name("report.css")
SCRIPT = Path(__file__).with_name("report.js")


# tables


def html_table(
    head: Sequence[str], rows: Sequence[Sequence[tuple[str, float | None]]], name: str
) -> str:
    """Return a table that can be sorted; a cell is HTML and the number to sort by."""
    numbers = [any(row[k][1] is not None for row in rows) for k in range(len(head))]
    heads = "".join(
        f'<th scope="col"{" class=n" * number}>{escape(text)}</th>'
        for text, number in zip(head, numbers, strict=True)
    )
    lines = []
    for row in rows:
        cells = []
        for k, (text, value) in enumerate(row):
            tag = "th" if k == 0 else "td"
            data = " class=n" * numbers[k] + ("" if value is None else f' data-v="{value:.6g}"')
            cells.append(f"<{tag}{data}>{text}</{tag}>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(lines)
    return (
        f'<div class="box" role="region" tabindex="0" aria-label="{escape(name)}">'
        f'<table class="sortable"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(row: Row | None, column: Column) -> tuple[str, float | None]:
    """Return what a row says, linked to it."""
    if row is None:
        return "", None
    kind = state(row)
    link = f'<a href="#{column.link(row)}"'
    if kind == "wrong":
        return f'{link} class="wrong">WRONG</a>', -1.0
    if kind == "not run":
        return f'{link} class="none" title="{escape(row["skipped"])}">-</a>', None
    if kind == "right":
        return f"{link}>right</a>", None
    rate = rate_of(row)
    if row.get("unit", "cell/s") != "cell/s":
        return f"{link}>{escape(table.amount(rate, row['unit']))}</a>", rate
    return f"{link}>{table.number((rate or 0.0) / 1e9)}</a>", rate


def by_workload(columns: Sequence[Column]) -> Iterator[tuple[str, str]]:
    """Yield each workload and its table: a line per measurement, a column per device."""
    names = [*WORKLOADS]
    names += sorted({row["workload"] for c in columns for row in c.rows} - set(names))
    for workload in names:
        lines: dict[str, dict[str, Row]] = {}
        for column in columns:
            for row in column.rows:
                if row["workload"] == workload:
                    cores = {**row, "cores": row.get("cores") and (row["cores"] > 1) + 1}
                    who = row["program"] + ("", ", one core", ", all cores")[cores["cores"] or 0]
                    parts = [who, row["task"], row.get("scoring"), table.sizes(row)]
                    parts.append(row.get("options"))
                    label = ", ".join(str(part) for part in parts if part)
                    lines.setdefault(label, {})[column.mark] = row
        if lines:
            rows = [
                [(escape(label), None), *(_cell(found.get(c.mark), c) for c in columns)]
                for label, found in lines.items()
            ]
            units = {row.get("unit") for found in lines.values() for row in found.values()}
            unit = "GCUPS" if units <= {"cell/s", None} else "rates with their units"
            head = [f"{workload}: {unit}", *(column.name for column in columns)]
            yield workload, html_table(head, rows, workload)


def rooflines(columns: Sequence[Column]) -> str:
    """Return how near the engines of each device come to its own limits."""
    rows = []
    for column in columns:
        rates = roofline.rates_of(column.rows)
        for row in column.rows:
            limit = roofline.bound(row, rates, column.file.header["device"])
            if state(row) != "timed" or limit is None or limit.share is None:
                continue
            lowest = limit.lowest
            text = f"{table.label(row)}, {row['workload']}"
            link = f'<a href="#{column.link(row)}">{table.number((limit.reached or 0) / 1e9)}</a>'
            rows.append(
                [
                    (f"{escape(column.name)}: {escape(text)}", None),
                    (link, limit.reached),
                    (table.number(lowest.cells_per_second / 1e9), lowest.cells_per_second),
                    (f"{limit.share:.1%}", limit.share),
                    (escape(f"{lowest.resource}: {lowest.reason}"), None),
                ]
            )
    if not rows:
        return ""
    rows.sort(key=lambda row: -(row[3][1] or 0.0))
    head = ["engine, workload", "GCUPS", "of at most", "share", "what limits"]
    return html_table(head, rows, "share of the device's own limits")


def every_row(columns: Sequence[Column]) -> str:
    """Return all rows, each with its place on the page."""
    lines = []
    for column in columns:
        for row in column.rows:
            between = row.get("between")
            cells = [
                escape(column.name),
                escape(row["workload"]),
                escape(table.label(row)),
                escape(row.get("scoring") or ""),
                _cell(row, column)[0].replace("<a href", "<span data-h").replace("</a>", "</span>"),
                table.seconds(seconds_of(row)) + (" (part)" if row.get("part") else ""),
                table.seconds(row.get("clock")),
                f"{between:.1%}" if between is not None else "-",
                table.size_text(row.get("memory")),
                table.energy(row),
                escape(
                    f"{row.get('judge') or '-'}: {row.get('wrong', 0)} of {row.get('judged', 0)}"
                ),
                escape(row.get("skipped") or row.get("note") or ""),
                escape(f"{(row.get('commit') or '')[:9]}{' (dirty)' * bool(row.get('dirty'))}"),
            ]
            lines.append(f'<tr id="{column.link(row)}"><td>' + "<td>".join(cells))
    head = ["device", "workload", "program", "scoring", "rate", "wall", "device clock"]
    head += ["between passes", "memory", "energy", "wrong, by judge", "note", "commit"]
    heads = "".join(f"<th>{text}</th>" for text in head)
    body = "\n".join(lines)
    return (
        '<div class="box rows" role="region" tabindex="0" aria-label="every row"><table '
        f'class="sortable"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def machines(columns: Sequence[Column]) -> str:
    """Return the devices as a table."""
    rows = []
    for column in columns:
        header, device = column.file.header, column.file.header["device"] or {}
        commits = {(row.get("commit") or "unknown")[:9] for row in column.rows}
        rows.append(
            [
                (
                    f'<span class="dot" style="background:{column.colour}"></span>'
                    f"{escape(column.name)}",
                    None,
                ),
                (escape(str(device.get("renderer", "-"))), None),
                (escape(f"{device.get('gl', '-')}, {device.get('driver', '-')}"), None),
                (escape(f"{header['cpu']}, {header['cores']} cores"), None),
                (str(len(column.rows)), float(len(column.rows))),
                (escape(", ".join(sorted(commits))), None),
                (escape(column.file.path.name), None),
            ]
        )
    head = ["device", "renderer", "OpenGL, driver", "processor", "rows", "commits", "file"]
    return html_table(head, rows, "devices")


# pages


def page(title: str, lead: str, body: str, link: tuple[str, str]) -> str:
    """Return a whole page."""
    style, script = STYLE.read_text(encoding="utf-8"), SCRIPT.read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>\n<p>{escape(lead)} "
        f'<a href="{link[0]}">{escape(link[1])}</a></p></header>\n<main>\n{body}\n</main>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def results_page(files: Sequence[File]) -> str:
    """Return the page of the devices."""
    columns = columns_of(files)
    tables = dict(by_workload(columns))
    choices = "".join(
        f'<button type="button" data-w="{escape(name)}">{escape(name)}</button>' for name in tables
    )
    sections = "".join(
        f'<section class="workload" data-w="{escape(name)}"><h3>{escape(name)}</h3>'
        f"<p>{escape(_text(name))}</p>{text}</section>"
        for name, text in tables.items()
    )
    limits = rooflines(columns)
    near = (
        "<h2>How near to the device's own limits</h2><p>A ceiling is what an engine could reach if "
        "only one thing limited it, by the rates of <code>micro</code> on the same device.</p>"
    )
    body = (
        picture(columns)
        + f"<h2>Devices</h2>{machines(columns)}"
        + f'<h2>Every workload</h2><div class="choose"><button type="button" data-w="" '
        f'class="on">all</button>{choices}<input type="search" placeholder="filter lines" '
        f'aria-label="filter lines"></div>{sections}'
        + (near + limits if limits else "")
        + f"<h2>Every row</h2>{every_row(columns)}"
    )
    names = ", ".join(column.name for column in columns)
    lead = f"{names}. Every result was checked before it was timed; every number links to its row."
    return page("glsw on these devices", lead, body, ("papers.html", "What holds of five papers"))


def _text(name: str) -> str:
    text = WORKLOADS[name].text if name in WORKLOADS else ""
    for word in ("{count:,} ", "{count:,}", "{0:,} x {1:,}", "{0:,}", "{1}"):
        text = text.replace(word, "")
    return " ".join(text.replace(" of  ", " ").split()).strip(" ,:")


def papers_page(files: Sequence[File]) -> str:
    """Return the page of the papers."""
    columns, parts = columns_of(files), []
    for paper in claims.papers():
        rows = []
        decided = [[claims.decide(each, c.rows) for each in paper.claims] for c in columns]
        measured = [k for k, some in enumerate(decided) if any(each.ratios for each in some)]
        for n, claim in enumerate(paper.claims):
            cells: list[tuple[str, float | None]] = [
                (escape(claim.text), None),
                (escape(claim.place), None),
            ]
            for column, found in ((columns[k], decided[k][n]) for k in measured):
                kind = found.verdict.replace(" ", "-")
                by = f" ({found.by})" if found.ratios else ""
                links = " ".join(
                    f'<a href="report.html#{column.link(each.left)}" '
                    f'title="{each.ratio:.3g} times">{escape(each.size)}</a>'
                    for each in found.ratios
                )
                small = f"<small>{links}</small>" if links else ""
                text = f'<span class="{kind}">{escape(found.verdict)}</span>{escape(by)}{small}'
                cells.append((text, None))
            rows.append(cells)
        head = ["the paper says", "place", *(columns[k].name for k in measured)]
        figures: list[list[tuple[str, float | None]]] = [
            [
                (escape(f.what), None),
                (escape(f.machine), None),
                (escape(f"{f.value:.4g} {f.unit}"), f.value),
                (escape(f.place), None),
            ]
            for f in paper.figures
        ]
        parts.append(
            f'<section id="{paper.name}"><h2>{escape(paper.title)}</h2>'
            + html_table(head, rows, paper.title)
            + f"<p>{escape(paper.differs)}</p>"
            + "<details><summary>What it prints</summary>"
            + html_table(["what", "machine", "value", "place"], figures, "figures")
            + "</details></section>"
        )
    lead = "Claims as comparisons between rows; the sizes link to what was measured."
    title = "What holds today of five papers"
    return page(title, lead, "".join(parts), ("report.html", "All measurements"))


def main(argv: Sequence[str] | None = None) -> int:
    """Write the pages; return 0, 2 if a file cannot be read."""
    parser = options.Parser(prog="python -m bench report", description="Write two pages of files.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--output", type=Path, default=Path("bench-report"), metavar="FOLDER")
    arguments = parser.parse_args(argv)
    try:
        files = [File.read(path) for path in arguments.files]
    except (OSError, ValueError) as error:
        print(f"bench report: {error}", file=sys.stderr)
        return 2
    pages: Mapping[str, Any] = {"report.html": results_page, "papers.html": papers_page}
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, made in pages.items():
        (arguments.output / name).write_text(made(files), encoding="utf-8")
        print(arguments.output / name)
    return 0
