"""``bench report``: rows of any number of devices as two pages, of results and of five papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from bench import claims, options, roofline
from bench.page import Cell, Column, columns_of, page, picture, table, tag, text
from bench.row import File, Row, rate_of, seconds_of, state
from bench.table import amount, energy, gcups, label, percent, seconds, size_text, sizes, where
from bench.work import WORKLOADS


def rate_cell(row: Row) -> Cell:
    """Return what a row says: its rate, or why there is none."""
    kind, rate = state(row), rate_of(row)
    if kind != "timed":
        return {"wrong": Cell("WRONG", -1.0), "not run": Cell("-"), "right": Cell("right")}[kind]
    cells = row.get("unit", "cell/s") == "cell/s"
    return text(gcups(rate or 0.0) if cells else amount(rate, row["unit"]), rate)


def linked(row: Row | None, column: Column) -> Cell:
    """Return what a row says, linked to it."""
    if row is None:
        return Cell("")
    cell, kind = rate_cell(row), {"wrong": "wrong", "not run": "none"}.get(state(row))
    title, href = row.get("skipped"), f"#{column.place(row)}"
    return Cell(tag("a", cell.html, href=href, class_=kind, title=title), cell.value)


def by_workload(columns: Sequence[Column]) -> Iterator[tuple[str, str]]:
    """Yield each workload and its table: a line per measurement, a column per device."""
    found: dict[str, dict[str, dict[str, Row]]] = {}
    for column in columns:
        for row in column.rows:
            # What rows of several devices have in common; their processors may differ.
            cores = where(row).replace("GPU", "")
            parts = [row["program"], cores, row["task"], row.get("scoring"), sizes(row)]
            line = ", ".join(filter(None, [*parts, row.get("options")]))
            found.setdefault(row["workload"], {}).setdefault(line, {})[column.mark] = row
    for workload in sorted(found, key=lambda name: ([*WORKLOADS, name].index(name), name)):
        lines = found[workload]
        shown = [
            column for column in columns if any(column.mark in each for each in lines.values())
        ]
        rows = [
            [name, *(linked(each.get(column.mark), column) for column in shown)]
            for name, each in lines.items()
        ]
        units = {row.get("unit") for each in lines.values() for row in each.values()}
        unit = "GCUPS" if units <= {"cell/s", None} else "rates with their units"
        head = [f"{workload}: {unit}", *(column.name for column in shown)]
        yield workload, table(workload, head, rows)


def rooflines(columns: Sequence[Column]) -> str:
    """Return how near the engines of each device come to its own limits."""
    rows = []
    for column in columns:
        rates = roofline.rates_of(column.rows)
        for row in column.rows:
            limit = roofline.bound(row, rates, column.file.header["device"])
            if state(row) == "timed" and limit is not None and limit.share is not None:
                most = limit.lowest.cells_per_second
                link = tag("a", gcups(limit.reached), href=f"#{column.place(row)}")
                shown = f"{column.name}: {label(row)}, {row['workload']}", Cell(link, limit.reached)
                share = text(percent(limit.share), limit.share)
                why = f"{limit.lowest.resource}: {limit.lowest.reason}"
                rows.append((*shown, text(gcups(most), most), share, why))
    rows.sort(key=lambda row: -(row[3].value or 0.0))
    head = ["engine, workload", "GCUPS", "of at most", "share", "what limits"]
    return table("share of the device's own limits", head, rows) if rows else ""


def every_row(columns: Sequence[Column]) -> str:
    """Return all rows, each with its place on the page."""
    rows = [(column, row) for column in columns for row in column.rows]
    head = ["device", "workload", "program", "scoring", "rate", "wall", "device clock"]
    head += ["between passes", "memory", "energy", "wrong, by judge", "note", "commit"]
    lines = []
    for column, row in rows:
        clock, passes, memory = row.get("clock"), row.get("between"), row.get("memory")
        part, dirty = " (part)" * bool(row.get("part")), " (dirty)" * bool(row.get("dirty"))
        judged = f"{row.get('judge') or '-'}: {row.get('wrong', 0)} of {row.get('judged', 0)}"
        lines.append(
            [
                *(column.name, row["workload"], label(row), row.get("scoring") or ""),
                *(rate_cell(row), text(seconds(seconds_of(row)) + part, seconds_of(row))),
                *(text(seconds(clock), clock), text(percent(passes), passes)),
                *(text(size_text(memory), memory), energy(row), judged),
                row.get("skipped") or row.get("note") or "",
                (row.get("commit") or "")[:9] + dirty,
            ]
        )
    return table("every row", head, lines, [column.place(row) for column, row in rows])


def machines(columns: Sequence[Column]) -> str:
    """Return the devices as a table."""
    rows = []
    for column in columns:
        header, device = column.file.header, column.file.header["device"] or {}
        commits = {(row.get("commit") or "unknown")[:9] for row in column.rows}
        dot = tag("span", "", class_="dot", style=f"background:{column.colour}")
        rows.append(
            [
                Cell(dot + escape(column.name)),
                device.get("renderer", "-"),
                f"{device.get('gl', '-')}, {device.get('driver', '-')}",
                f"{header['cpu']}, {header['cores']} cores",
                text(len(column.rows), len(column.rows)),
                ", ".join(sorted(commits)),
                column.file.path.name,
            ]
        )
    head = ["device", "renderer", "OpenGL, driver", "processor", "rows", "commits", "file"]
    return table("devices", head, rows)


def results_page(files: Sequence[File]) -> str:
    """Return the page of the devices."""
    columns = columns_of(files)
    tables, limits = dict(by_workload(columns)), rooflines(columns)
    buttons = [tag("button", "all", type="button", data_w="", class_="on")]
    buttons += [tag("button", escape(name), type="button", data_w=name) for name in tables]
    search = '<input type="search" placeholder="filter lines" aria-label="filter lines">'
    parts = [picture(columns), tag("h2", "Devices"), machines(columns)]
    parts += [tag("h2", "Every workload"), tag("div", "".join(buttons) + search, class_="choose")]
    for name, shown in tables.items():
        said = WORKLOADS[name].described() if name in WORKLOADS else ""
        content = tag("h3", escape(name)) + tag("p", escape(said)) + shown
        parts.append(tag("section", content, class_="workload", data_w=name))
    if limits:
        near = "A ceiling is what an engine could reach if only one thing limited it, by the rates "
        near += "of <code>micro</code> on the same device."
        parts += [tag("h2", "How near to the device's own limits"), tag("p", near), limits]
    parts += [tag("h2", "Every row"), every_row(columns)]
    names = ", ".join(column.name for column in columns)
    lead = f"{names}. Every result was checked before it was timed; every number links to its row."
    words = "papers.html", "What holds of five papers"
    return page("glsw on these devices", lead, "".join(parts), *words)


def papers_page(files: Sequence[File]) -> str:
    """Return the page of the papers."""
    columns, parts = columns_of(files), []
    for paper in claims.papers():
        decided = [[claims.decide(each, c.rows) for each in paper.claims] for c in columns]
        measured = [k for k, some in enumerate(decided) if any(each.ratios for each in some)]
        rows = [
            [claim.text, claim.place, *(_decision(decided[k][n], columns[k]) for k in measured)]
            for n, claim in enumerate(paper.claims)
        ]
        figures = [
            (what, machine, text(f"{value:.4g} {unit}", value), place)
            for what, machine, value, unit, place in paper.figures
        ]
        head = ["the paper says", "place", *(columns[k].name for k in measured)]
        prints = table("figures", ["what", "machine", "value", "place"], figures)
        content = tag("h2", escape(paper.title)) + table(paper.title, head, rows)
        content += tag("p", escape(paper.differs))
        content += tag("details", tag("summary", "What it prints") + prints)
        parts.append(tag("section", content, id=paper.name))
    lead = "Claims as comparisons between rows; the sizes link to what was measured."
    words = "report.html", "All measurements"
    return page("What holds today of five papers", lead, "".join(parts), *words)


def _decision(found: claims.Decision, column: Column) -> Cell:
    """Return what the rows of a device say of a claim, linked to them."""
    links = " ".join(
        tag(
            *("a", escape(each.size)),
            href=f"report.html#{column.place(each.left)}",
            title=f"{each.ratio:.3g} times",
        )
        for each in found.ratios
    )
    verdict = tag("span", escape(found.verdict), class_=found.verdict.replace(" ", "-"))
    by = f" ({found.by})" if found.ratios else ""
    return Cell(verdict + escape(by) + (tag("small", links) if links else ""))


def main(argv: Sequence[str]) -> int:
    """Write the pages; return 0."""
    parser = options.Parser(prog="python -m bench report", description="Write two pages of files.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--output", type=Path, default=Path("bench-report"), metavar="FOLDER")
    arguments = parser.parse_args(argv)
    files = [File.read(path) for path in arguments.files]
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, made in (("report.html", results_page), ("papers.html", papers_page)):
        (arguments.output / name).write_text(made(files), encoding="utf-8")
        print(arguments.output / name)
    return 0
