"""``bench report``: a page of the rows of any number of devices, and of five papers."""

import math
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from bench import Parser, check, compare, roofline, table
from bench.row import File, Row, name_of, rate_of, seconds_of, state
from bench.work import WORKLOADS
from bench.work.base import TABLE

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#7f3fbf", "#7a7a00")
"""Of devices, to be told apart by the colour-blind too (after Okabe and Ito)."""
MARK = "\u2020"  # a dagger, at numbers whose rows have a remark
PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("pages")),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
OTHERS, GREY = 4, "#9a9a9a"  # how many other programs the picture shows, and their colour


class Column(NamedTuple):
    """A device of the page: its file, its name, its colour, the start of its places."""

    file: File
    name: str
    colour: str
    mark: str

    @property
    def rows(self) -> list[Row]:
        return list(self.file.rows.values())

    @property
    def commits(self) -> int:
        return len({row.get("commit") for row in self.rows})

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


class Cell(NamedTuple):
    """A cell of a table: its text or `Markup`, the number to sort by, attributes of its link."""

    shown: str
    value: float | None = None
    link: Mapping[str, str | None] = {}

    @property
    def sorted_by(self) -> str | None:
        return None if self.value is None else f"{self.value:.6g}"


class Table:
    """A table of cells or texts that can be sorted; ``places`` are those of its lines."""

    def __init__(
        self, name: str, head: Sequence[str], lines: Iterable[Iterable[Any]], *places: str
    ) -> None:
        self.name, self.places = name, places
        self.lines = [[x if isinstance(x, Cell) else Cell(x) for x in line] for line in lines]
        columns = [*zip(*self.lines, strict=True)] or [()] * len(head)
        numbers = [any(cell.value is not None for cell in each) for each in columns]
        self.head = [(text, "n" if n else None) for text, n in zip(head, numbers, strict=True)]


def rate_cell(row: Row) -> Cell:
    """Return what a row says: its rate, or why there is none."""
    kind, rate = state(row), rate_of(row)
    if kind != "timed":
        return {"wrong": Cell("WRONG", -1.0), "not run": Cell("-"), "right": Cell("right")}[kind]
    if not rate and row.get("wall"):
        return Cell(table.seconds(seconds_of(row)))
    cells = row.get("unit", "cell/s") == "cell/s"
    return Cell(table.gcups(rate or 0.0) if cells else table.amount(rate, row["unit"]), rate)


def linked(row: Row | None, column: Column) -> Cell:
    """Return what a row says, linked to it."""
    if row is None:
        return Cell("")
    kind = {"wrong": "wrong", "not run": "none"}.get(state(row))
    title = row.get("skipped") or table.remark(row) or None
    link = {"href": f"#{column.place(row)}", "class": kind, "title": title}
    cell = rate_cell(row)
    return cell._replace(link=link, shown=cell.shown + MARK * bool(table.remark(row)))


def by_workload(columns: Sequence[Column]) -> Iterator[tuple[str, str, Table]]:
    """Yield each workload and its table: a line per measurement, a column per device."""
    found: dict[str, dict[str, dict[str, Row]]] = {}
    for column in columns:
        for row in column.rows:
            # What rows of several devices have in common; their processors may differ.
            cores = table.where(row).replace("GPU", "")
            parts = [row["program"], cores, row["task"], row.get("scoring"), table.sizes(row)]
            line = ", ".join(filter(None, [*parts, row.get("options")]))
            found.setdefault(row["workload"], {}).setdefault(line, {})[column.mark] = row
    for workload in sorted(found, key=lambda name: ([*WORKLOADS, name].index(name), name)):
        lines = found[workload]
        marks = set(chain(*lines.values()))
        shown = [column for column in columns if column.mark in marks]
        rows = [
            [name, *(linked(each.get(column.mark), column) for column in shown)]
            for name, each in lines.items()
        ]
        units = {row.get("unit") for each in lines.values() for row in each.values()}
        unit = "GCUPS" if units <= {"cell/s", None} else "rates with their units"
        head = [f"{workload}: {unit}", *(column.name for column in shown)]
        text = WORKLOADS[workload].described() if workload in WORKLOADS else ""
        yield workload, text, Table(workload, head, rows)


def rooflines(columns: Sequence[Column]) -> Table:
    """Return how near the engines of each device come to its own limits."""
    found = []
    for column in columns:
        lines = []
        for row, limit in roofline.bounds(column.rows, column.file.header["device"]):
            low = limit.lowest
            numbers = [(x, table.gcups(x)) for x in (limit.reached, low.cells_per_second)]
            numbers.append((limit.share, table.percent(limit.share)))
            lines.append(_line(row, column, numbers, f"{low.resource}: {low.reason}"))
        found += sorted(lines, key=lambda line: -line[3].value)
    head = ["engine, workload", "GCUPS", "of at most", "share", "what limits"]
    return Table("share of the device's own limits", head, found)


def energy(columns: Sequence[Column]) -> Table:
    """Return what a cell and a second of each row cost whose energy was metered."""
    lines = []
    for column, row in ((each, row) for each in columns for row in each.rows):
        if row.get("joules") and row.get("cells"):
            numbers = row["joules"] / row["cells"] * 1e12, row["watts"], row.get("idle_watts")
            cells = [(x, table.number(x)) for x in numbers]
            lines.append(_line(row, column, cells, row["meter"]))
    lines.sort(key=lambda line: line[1].value)
    head = ["engine, workload", "pJ per cell", "watts", "idle", "told by"]
    return Table("energy", head, lines)


def _line(row: Row, column: Column, numbers: Iterable[tuple[float | None, str]], last: str) -> Any:
    """Return a row's line: its name, numbers and their texts, linked to it, and a last text."""
    link = {"href": f"#{column.place(row)}"}
    name = f"{column.name}: {table.label(row)}, {row['workload']}"
    return name, *(Cell(text, value, link) for value, text in numbers), last


def every_row(columns: Sequence[Column]) -> Table:
    """Return all rows, each with its place on the page."""
    rows = [(column, row) for column in columns for row in column.rows]
    head = ["device", "workload", "program", "scoring", "rate", "wall", "device clock"]
    head += ["between passes", "memory", "energy", "wrong, by judge", "note", "commit"]
    lines = []
    for column, row in rows:
        clock, passes, memory = row.get("clock"), row.get("between"), row.get("memory")
        part, remark = " (part)" * bool(row.get("part")), table.remark(row)
        judged = f"{row.get('judge') or '-'}: {row.get('wrong', 0)} of {row.get('judged', 0)}"
        lines.append(
            [
                *(column.name, row["workload"], table.label(row), row.get("scoring") or ""),
                *(rate_cell(row), Cell(table.seconds(seconds_of(row)) + part, seconds_of(row))),
                *(Cell(table.seconds(clock), clock), Cell(table.percent(passes), passes)),
                *(Cell(table.size_text(memory), memory), table.energy(row), judged),
                "; ".join(filter(None, (row.get("source"), row.get("skipped") or row.get("note")))),
                (row.get("commit") or "")[:9] + f" ({remark})" * bool(remark),
            ]
        )
    return Table("every row", head, lines, *(column.place(row) for column, row in rows))


class Bar(NamedTuple):
    rate: float
    label: str
    place: str
    colour: str
    mark: str = ""

    @property
    def ours(self) -> bool:
        return self.colour != GREY

    @property
    def value(self) -> str:
        return few_digits(self.rate / 1e9) + self.mark


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
            who, kind, group = row["program"], table.where(row), best[row["ours"]]
            places = {"GPU": f"on {column.name}", "all cores": f"{row.get('cores')} cores"}
            label = f"{who}, {places.get(kind, kind)}" if kind else f"glsw on {column.name}"
            kind = f"GPU {who.partition(' ')[0]}" if kind == "GPU" else kind or column.mark
            colour = column.colour if row["ours"] else GREY
            mark = MARK * bool(table.remark(row))
            bar = Bar(rate_of(row) or 0.0, label, column.place(row), colour, mark)
            group[kind] = max(bar, group.get(kind, bar))
    ours, others = (sorted(best[own].values(), reverse=True) for own in (True, False))
    return ours + others[:OTHERS]


def picture(columns: Sequence[Column]) -> dict[str, Any]:
    """Return the panels of the picture, and their scale: ten times the rate per ``step``."""
    texts = {name: each["picture"] for name, each in TABLE.items() if "picture" in each}
    panels = {text: bars(name, columns) for name, text in texts.items()}
    panels = {text: some for text, some in panels.items() if some and some[0].ours}
    rates = [bar.rate for some in panels.values() for bar in some if bar.rate]
    if not rates:
        return {}
    low = math.floor(math.log10(min(rates)))
    step = 100 / (math.log10(max(rates) * 1.1) - low)

    def width(bar: Bar) -> str:
        return f"{max(1.5, step * (math.log10(max(bar.rate, 1)) - low)):.2f}"

    labels = {7: "0.01", 9: "1", 11: "100", 13: "10k"}  # of powers of ten, in GCUPS
    ticks = {
        text: f"{step * (k - low):.2f}" for k, text in labels.items() if 0 <= k - low < 100 / step
    }
    return {"panels": panels, "width": width, "step": f"{step:.3f}", "ticks": ticks}


def few_digits(rate: float) -> str:
    """Return a rate with two digits where it is small."""
    return f"{rate:.2g}" if rate < 0.1 else table.number(rate)


def page(files: Sequence[File], *, site: bool = False) -> str:
    """Return the page of the devices; that for the web says how to send a file, too."""
    columns = columns_of(files)
    return PAGES.get_template("report.html").render(
        columns=columns,
        **picture(columns),
        marked=any(map(table.remark, chain(*(column.rows for column in columns)))),
        workloads=[*by_workload(columns)],
        limits=rooflines(columns),
        energy=energy(columns),
        papers=papers(columns),
        rows=every_row(columns),
        site=site,
    )


def papers(columns: Sequence[Column]) -> list[tuple[Any, Table, Table]]:
    """Return the papers, what rows say of their claims, and what they print."""
    papers = []
    for paper in compare.papers():
        decided = [[compare.decide(each, c.rows) for each in paper["claims"]] for c in columns]
        measured = [k for k, some in enumerate(decided) if any(each.ratios for each in some)]
        rows = [
            [_claim(claim), *(_decision(decided[k][n], columns[k]) for k in measured)]
            for n, claim in enumerate(paper["claims"])
        ]
        figures = [
            (what, machine, Cell(f"{value:.4g} {unit}", value), place)
            for what, machine, value, unit, place in paper["figures"]
        ]
        head = ["the paper says", *(columns[k].name for k in measured)]
        prints = Table("figures", ["what", "machine", "value", "place"], figures)
        papers.append((paper, Table(paper["title"], head, rows), prints))
    return papers


def _claim(claim: compare.Claim) -> Cell:
    """Return what a paper says, where, and the rule."""
    below = f"{claim.place}: " if claim.place != "-" else ""
    return Cell(Markup("{}<small>{}holds if {}</small>").format(claim.text, below, claim.rule))


def _decision(found: compare.Decision, column: Column) -> Cell:
    """Return what the rows of a device say of a claim, linked to them."""
    by, shown = f" ({found.by})" if found.ratios else "", Markup('<span class="{}">{}</span>{}')
    shown = shown.format(found.verdict.replace(" ", "-"), found.verdict, by)
    link = Markup('<a href="#{}" title="{:.3g} times">{}</a>')
    links = [link.format(column.place(each.left), each.ratio, each.size) for each in found.ratios]
    return Cell(shown + Markup("<small>{}</small>").format(Markup(" ").join(links)) * bool(links))


def _rank(file: File) -> int:
    """Return the place of a file: hardware first, what has no device last."""
    device = file.header["device"]
    return int(device["software"]) if device else 2


def main(argv: Sequence[str]) -> int:
    """Write the page, and the files beside it; return 0."""
    parser = Parser(" report", "Write a page of files.")
    add = parser.add_argument
    add("files", nargs="*", type=Path, metavar="FILE", help="default: bench/results")
    add("--output", type=Path, default=Path("bench-report"), metavar="FOLDER")
    add("--site", action="store_true", help="for the web: also how to send a file")
    arguments = parser.parse_args(argv)
    paths = arguments.files or check.results()
    if twice := {a.name for a, b in combinations(paths, 2) if a.name == b.name}:
        raise ValueError(f"several files are named {', '.join(twice)}: rename all but one")
    files = sorted(map(File.read, paths), key=_rank)
    arguments.output.mkdir(parents=True, exist_ok=True)
    made = arguments.output / "index.html"
    made.write_text(page(files, site=arguments.site), encoding="utf-8")
    for path in paths:
        with suppress(shutil.SameFileError):  # make bench measures into the folder of the page
            shutil.copyfile(path, arguments.output / path.name)
    print(made)
    return 0
