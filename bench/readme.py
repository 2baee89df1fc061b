"""``bench readme``: tables of README.md and of other pages, and a picture, from bench/results."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from bench import Parser, roofline
from bench.compare import matches
from bench.compilers import rows as compiled, table as compilers
from bench.report import COLOURS
from bench.row import File, Row, rate_of, seconds_of, state
from bench.table import gcups, number, percent, seconds, size_text, where
from bench.work.accuracy import CURVE, ERRORS, FIRST

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
BEGIN = "<!-- made by `make readme-tables` from bench/results: do not edit -->"
END = "<!-- end of what is made -->"
TABLES = json.loads(Path(__file__).with_name("readme.json").read_text(encoding="utf-8"))
"""What the tables show: ``devices``, columns and their files; ``rates`` of `micro` by unit, with
what the unit is of that of the rows; ``workloads``, with lines for ``places``, see `where`.

``headlines``, what an H100 does: the text, our rows and how they are shown, the rows of other
programs. ``rows`` are fields that all of them have. Of rows whose ``options`` are null, single
queries, the sum is shown. ``journeys`` are whole commands, by the options of their rows.

``bounds`` are GPUs, their relatives among the compilers, their 32-bit lanes and boost clocks in
GHz.
"""
DEVICES: Mapping[str, str] = TABLES["devices"]
_LINES = {"1 round": ":", "2 rounds": "--", "3 rounds": "-"}


@cache
def _file(name: str) -> File:
    return File.read(RESULTS / f"{name}.ndjson")


@cache
def load(name: str) -> list[Row]:
    """Return the timed rows of a file of bench/results."""
    return [row for row in _file(name).rows.values() if state(row) == "timed"]


def line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def head(first: str, *names: str) -> str:
    return f"{line(first, *names)}\n|---|{'---:|' * len(names)}"


def headlines() -> Iterator[str]:
    """Yield the lines of the table of what an H100 does."""
    yield "| what | GCUPS, H100 | other programs on that machine |\n|---|---|---|"
    for each in TABLES["headlines"]:
        for name, text in each.get("journeys", {}).items():
            for row in _found({"workload": "journeys", "program": "glsw", "options": name}):
                time = f"{gcups(_rate(row))} ({seconds(seconds_of(row))})"
                yield line(f"`glsw search`, the whole command: {text}", time, "")
        shown = []
        for form, fields in each.get("ours", ()):
            found = _found(each["rows"] | fields)
            if not found:
                continue
            row = max(found, key=_rate)
            if fields.get("options", "") is None:
                names = ("wall", "clock", "cells")
                total = {name: sum(each.get(name) or 0.0 for each in found) for name in names}
                row = {**found[0], **total}
            rates = {"clock": gcups(rate_of(row, clock=True) or 0.0), "wall": gcups(_rate(row))}
            memory = size_text(row.get("memory"))
            shown.append(form.format(**rates, time=seconds(seconds_of(row)), memory=memory))
        others = _found(each["rows"] | each["others"]) if "others" in each else []
        others.sort(key=lambda row: (row.get("cores") or 0, -_rate(row)))
        groups: dict[str, dict[str, str]] = {}  # the best rate of each program, by where it ran
        for row in others:
            cores, name = row.get("cores"), row["program"].partition(" sw")[0]
            place = "" if not cores else "one core: " if cores == 1 else f"{cores} cores: "
            groups.setdefault(place, {}).setdefault(name, f"{name} {gcups(_rate(row))}")
        best = [place + ", ".join(some.values()) for place, some in groups.items()]
        if shown:
            yield line(each["text"], "; ".join(shown), "; ".join(best))


def _found(fields: Mapping[str, Any]) -> list[Row]:
    """Return the rows of an H100 with these fields; ``mean`` is the second of the sizes."""
    own = {name: value for name, value in fields.items() if name != "mean"}
    found = [row for row in load("h100") if matches(row, own)]
    return [row for row in found if "mean" not in fields or row["sizes"][1] == fields["mean"]]


def _rate(row: Row) -> float:
    return rate_of(row) or 0.0


def by_device() -> Iterator[str]:
    """Yield the lines of the table that compares devices."""
    files = DEVICES.values()
    yield head("GCUPS by wall time", *DEVICES)
    for workload, text in TABLES["workloads"].items():
        every = [[row for row in load(file) if row["workload"] == workload] for file in files]
        # Of glsw not `auto`, no engine of its own, and not `cpu`, none of OpenGL.
        found = [[row for row in rows if row["program"] not in ("auto", "cpu")] for rows in every]
        first = [rows[0] for rows in found if rows]
        large = text.format(*first[0]["sizes"], count=first[0]["count"])
        same = len({(*row["sizes"], row["count"]) for row in first}) == 1
        yield f"| **{large}**{'' if same else ' (software: less)'} |" + " |" * len(DEVICES)
        for label, place in TABLES["places"].items():
            there = [[row for row in rows if where(row) == place] for rows in found]
            best = [max(rows, key=_rate, default=None) for rows in there]
            if any(best):
                yield line(label, *(f"{gcups(_rate(r))} {r['program']}" if r else "" for r in best))


def limits() -> Iterator[str]:
    """Yield the lines of the tables of what limits the engines: rates, and shares of ceilings."""
    rates = {file: roofline.rates_of(load(file)) for file in DEVICES.values()}
    yield head("rate", *DEVICES)
    for unit, (scale, names) in TABLES["rates"].items():
        for name in names:
            found = [each[name] * scale if name in each else None for each in rates.values()]
            yield line(f"{name}, {unit}", *map(number, found))
    yield "\n| engine: workload | H100: GCUPS of its ceiling | what limits | llvmpipe |"
    yield "|---|---|---|---|"

    def bound(file: str, row: Row) -> roofline.Bound | None:
        return roofline.bound(row, rates[file], _file(file).header["device"])

    for row in load("h100"):
        limit = bound("h100", row) if row["workload"] in TABLES["workloads"] else None
        if limit is None or limit.share is None:
            continue
        own = f"{gcups(limit.reached)} of {gcups(limit.lowest.cells_per_second)}"
        same = {name: row[name] for name in ("workload", "program", "task")}
        others = [bound("llvmpipe", each) for each in load("llvmpipe") if matches(each, same)]
        other = next((f"{each.share:.0%}" for each in others if each and each.share), "-")
        name, reason = f"`{row['program']}`: {row['workload']}", limit.lowest.reason
        yield line(name, f"{own}, {limit.share:.0%}", reason, other)


def relatives() -> Iterator[str]:
    """Yield the lines of the table of what the programs of ``sensitivity`` find."""
    wanted = [*FIRST, *(CURVE[ERRORS.index(errors)] for errors in (0.01, 0.1, 1.0, 10.0))]
    yield head("", *(f"{task}, {options}" for task, options in wanted))
    for program, found in shares_of(load("llvmpipe")).items():
        yield line(program, *(percent(found.get(each)) for each in wanted))


def shares_of(rows: Iterable[Row]) -> dict[str, dict[tuple[str, str], float]]:
    """Return what each program of ``sensitivity`` finds, by task and options."""
    found: dict[str, dict[tuple[str, str], float]] = {}
    for row in rows:
        if row["workload"] == "sensitivity":
            found.setdefault(row["program"], {})[row["task"], row["options"]] = row["rate"]
    return found


def draw(shares: Mapping[str, Mapping[tuple[str, str], float]], path: Path) -> None:
    """Draw a line per program: colours are programs, dots and dashes the number of rounds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.add_subplot()
    names = [*dict.fromkeys(program.partition(",")[0] for program in shares)]
    colours = *COLOURS, "#333333", "#aaaaaa"  # programs are more than devices of a report
    for program, found in shares.items():
        name, _, rounds = program.partition(", ")
        points = [(x, 100 * found[y]) for x, y in zip(ERRORS, CURVE, strict=True) if y in found]
        words: Any = {"linewidth": 2, "label": program, "color": colours[names.index(name)]}
        axes.plot(*zip(*points, strict=True), _LINES[rounds], **words)
    axes.set(xscale="log", xlim=(ERRORS[0], ERRORS[-1]), ylim=(0, None))
    axes.set_xlabel("errors (pairs of different folds) per query")
    axes.set_ylabel("pairs of a superfamily that are found, %")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    figure.savefig(path, dpi=120, metadata={"Software": None})


def two_devices() -> str:
    """Return how much faster two devices are than one."""
    rows = sorted(load("2xh200"), key=lambda row: row.get("count") or 0)
    found = {(row["task"], row.get("options")): row for row in rows}  # the largest
    one, both = (found["devices", f"devices {some}"] for some in ("0", "0,1"))
    kind = "scores, devices", "all triples, devices"
    first, all_ = (found[kind[0], f"{kind[1]} {some}"] for some in ("0", "0,1"))
    return (
        f"Two H200 search {one['count']:,} proteins {one['wall'] / both['wall']:.2f} times as fast "
        f"as one, with the same output bytes, and score triples "
        f"{all_['rate'] / first['rate']:.2f} times as fast."
    )


def made() -> dict[str, str]:
    """Return what stands between the two marks, by file."""
    intro = (
        "The same work on every device, in one run of `python -m bench run`, and the fastest other "
        "programs on the processor of that machine:"
    )
    lines = [*headlines(), "", two_devices(), "", intro, "", *by_device()]
    rows = compiled.Rows.read()
    devices = *compilers.by_device(rows), "", *compilers.bounds(rows, TABLES["bounds"])
    tables = {"README.md": lines, "bench/README.md": limits(), "docs/SENSITIVITY.md": relatives()}
    tables |= {"docs/DEVICES.md": devices}
    return {name: "\n".join(some) for name, some in tables.items()}


def main(argv: Sequence[str]) -> int:
    """Write the tables, or check them; return 0, 1 if they differ."""
    parser = Parser(prog="python -m bench readme", description=__doc__)
    parser.add_argument("--check", action="store_true", help="do not write; 1 if they differ")
    arguments, status = parser.parse_args(argv), 0
    for name, tables in made().items():
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        if text.count(BEGIN) != 1 or text.count(END) != 1:
            raise ValueError(f"{name}: {BEGIN} and {END} are expected, once each")
        start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        new = f"{text[:start]}\n\n{tables}\n\n{text[end:]}"
        if not arguments.check:
            path.write_text(new, encoding="utf-8")
        elif new != text:
            print(f"bench readme: {name} differs: make readme-tables", file=sys.stderr)
            status = 1
    if not arguments.check:
        draw(shares_of(load("llvmpipe")), ROOT / "docs" / "figures" / "sensitivity.png")
    return status
