"""``bench readme``: the tables of README.md and bench/README.md, made from bench/results.

With ``--check`` nothing is written, and the exit status is 1 if a table differs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from bench import options, roofline
from bench.claims import matches
from bench.row import File, Row, rate_of, seconds_of, state
from bench.table import number, seconds, size_text

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
BEGIN = "<!-- made by `make readme-tables` from bench/results: do not edit -->"
END = "<!-- end of what is made -->"

DEVICES = {
    "H100": "h100",
    "H200": "h200",
    "2 CPU cores, llvmpipe": "llvmpipe",
    "the same, zink on lavapipe": "zink",
    "the same, softpipe (OpenGL 3.3)": "softpipe",
}
"""Columns, and the files that they come from."""

_TABLES = json.loads(Path(__file__).with_name("readme.json").read_text(encoding="utf-8"))
HEADLINES: Sequence[Mapping[str, Any]] = _TABLES["headlines"]
"""What an H100 does: the text, our rows and how they are shown, the rows of other programs.

Of rows whose ``options`` are null, single queries, the sum is shown.
"""

WORKLOADS: Mapping[str, str] = _TABLES["workloads"]


@cache
def load(name: str) -> list[Row]:
    """Return the timed rows of a file of bench/results."""
    rows = File.read(RESULTS / f"{name}.ndjson").rows.values()
    return [row for row in rows if state(row) == "timed"]


def headlines() -> Iterator[str]:
    """Yield the lines of the table of what an H100 does."""
    yield "| what | GCUPS, H100 | other programs on that machine |"
    yield "|---|---|---|"
    for each in HEADLINES:
        shown = []
        for form, fields in each["ours"]:
            found = _found(fields)
            if found and fields.get("options", "") is None:
                shown.append(_shown(form, _summed(found)))
            elif found:
                shown.append(_shown(form, max(found, key=lambda row: rate_of(row) or 0.0)))
        beside = _found(each["others"]) if each["others"] else []
        beside.sort(key=lambda row: (row.get("cores") or 0, -(rate_of(row) or 0.0)))
        if shown:
            yield f"| {each['text']} | {'; '.join(shown)} | {_others(beside)} |"


def _found(fields: Mapping[str, Any]) -> list[Row]:
    """Return the rows of an H100 with these fields; ``mean`` is the second of the sizes."""
    own = {name: value for name, value in fields.items() if name != "mean"}
    found = [row for row in load("h100") if matches(row, own)]
    return [row for row in found if "mean" not in fields or row["sizes"][1] == fields["mean"]]


def _summed(rows: Sequence[Row]) -> Row:
    """Return single queries as if they were one measurement."""
    total = {name: sum(row.get(name) or 0.0 for row in rows) for name in ("wall", "clock", "cells")}
    return {**rows[0], **total}


def _shown(form: str, row: Row) -> str:
    return form.format(
        clock=number((rate_of(row, clock=True) or 0.0) / 1e9),
        wall=number((rate_of(row) or 0.0) / 1e9),
        time=seconds(seconds_of(row)),
        memory=size_text(row.get("memory")),
    )


def _others(rows: Sequence[Row]) -> str:
    groups: dict[str, list[str]] = {}
    for row in rows:
        cores = row.get("cores")
        where = "" if not cores else "one core: " if cores == 1 else f"{cores} cores: "
        name = row["program"].partition(" sw")[0]
        if any(each.startswith(f"{name} ") for each in groups.get(where, ())):
            continue  # the best rate of each program
        groups.setdefault(where, []).append(f"{name} {number((rate_of(row) or 0.0) / 1e9)}")
    return "; ".join(where + ", ".join(dict.fromkeys(some)) for where, some in groups.items())


def by_device() -> Iterator[str]:
    """Yield the lines of the table that compares devices."""
    names = [name for name, file in DEVICES.items() if (RESULTS / f"{file}.ndjson").exists()]
    yield "| GCUPS by wall time | " + " | ".join(names) + " |"
    yield "|---|" + "---:|" * len(names)
    for workload, text in WORKLOADS.items():
        found = {
            name: [row for row in load(DEVICES[name]) if row["workload"] == workload]
            for name in names
        }
        sizes = [rows[0] for rows in found.values() if rows]
        large = text.format(*sizes[0]["sizes"], count=sizes[0]["count"])
        same = {(*size["sizes"], size["count"]) for size in sizes}
        yield f"| **{large}**{'' if len(same) == 1 else ' (software: less)'} |" + " |" * len(names)
        kinds: tuple[tuple[str, Callable[[Row], bool]], ...] = (
            ("glsw", lambda row: row["ours"] and row["program"] not in ("cpu", "auto")),
            ("others, one core", lambda row: not row["ours"] and row.get("cores") == 1),
            ("others, all cores", lambda row: not row["ours"] and row.get("cores", 1) > 1),
            ("others on the GPU", lambda row: not row["ours"] and "cores" not in row),
        )
        for label, chosen in kinds:
            cells = [_best(filter(chosen, found[name])) for name in names]
            if any(cells):
                yield f"| {label} | " + " | ".join(cells) + " |"


def _best(rows: Iterator[Row]) -> str:
    """Return the highest rate, and whose it is."""
    row = max(rows, key=lambda row: rate_of(row) or 0.0, default=None)
    return f"{number((rate_of(row) or 0.0) / 1e9)} {row['program']}" if row else ""


def limits() -> Iterator[str]:
    """Yield the lines of the tables of what limits the engines: rates, and shares of ceilings."""
    files = {name: DEVICES[name] for name in DEVICES}
    rates = {name: roofline.rates_of(load(file)) for name, file in files.items()}
    yield "| rate | " + " | ".join(files) + " |"
    yield "|---|" + "---:|" * len(files)
    for what, unit, scale in (
        *(("int32 add max", "Gop/s", 1e-9), ("fragment int32 add max", "Gop/s", 1e-9)),
        *(("half add max", "Gop/s", 1e-9), ("recurrence affine", "GCUPS", 1e-9)),
        *(("fragment recurrence affine", "GCUPS", 1e-9), ("recurrence half", "GCUPS", 1e-9)),
        *(("shared bandwidth", "GB/s", 1e-9), ("texture lookup", "GB/s", 1e-9)),
        *(("storage read", "GB/s", 1e-9), ("dispatch", "us", 1e6), ("draw", "us", 1e6)),
    ):
        cells = [number(found[what] * scale if what in found else None) for found in rates.values()]
        yield f"| {what}, {unit} | " + " | ".join(cells) + " |"
    yield ""
    yield "| engine: workload | H100: GCUPS of its ceiling | what limits | llvmpipe |"
    yield "|---|---|---|---|"
    headers = {name: File.read(RESULTS / f"{name}.ndjson").header for name in ("h100", "llvmpipe")}
    shown = [row for row in load("h100") if row["workload"] in WORKLOADS and row["ours"]]
    for row in shown:
        limit = roofline.bound(row, rates["H100"], headers["h100"]["device"])
        if limit is None or limit.share is None:
            continue
        own = f"{number((limit.reached or 0) / 1e9)} of "
        own += f"{number(limit.lowest.cells_per_second / 1e9)}, {limit.share:.0%}"
        other = "-"
        for each in load("llvmpipe"):
            if all(each[name] == row[name] for name in ("workload", "program", "task")):
                found = roofline.bound(each, rates["2 CPU cores, llvmpipe"], _device(headers))
                other = f"{found.share:.0%}" if found and found.share else "-"
        reason = limit.lowest.reason
        yield f"| `{row['program']}`: {row['workload']} | {own} | {reason} | {other} |"


def _device(headers: Mapping[str, Any]) -> Any:
    return headers["llvmpipe"]["device"]


def two_devices() -> str:
    """Return how much faster two devices are than one."""
    rows = [row for row in load("2xh200") if row["task"] == "devices"]
    most = max(row["count"] for row in rows)
    found = {row["options"]: row for row in rows if row["count"] == most}
    one, both = found["devices 0"], found["devices 0,1"]
    triples = {row["options"]: row for row in load("2xh200") if row["task"] == "scores, devices"}
    first, all_ = triples["all triples, devices 0"], triples["all triples, devices 0,1"]
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
    return {"README.md": "\n".join(lines), "bench/README.md": "\n".join(limits())}


def updated(name: str, text: str) -> str:
    """Return a file with the tables as they are to be; raise ValueError without the two marks."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"{name}: {BEGIN} and {END} are expected, once each")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{made()[name]}\n\n{END}{after}"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the tables, or check them; return 0, 1 if they differ, 2 if they cannot be made."""
    parser = options.Parser(prog="python -m bench readme", description=__doc__)
    parser.add_argument("--check", action="store_true", help="do not write; 1 if they differ")
    arguments = parser.parse_args(argv)
    status = 0
    try:
        for name in ("README.md", "bench/README.md"):
            path = ROOT / name
            old = path.read_text(encoding="utf-8")
            new = updated(name, old)
            if arguments.check:
                if old != new:
                    print(f"bench readme: {name} differs: make readme-tables", file=sys.stderr)
                status |= int(old != new)
            else:
                path.write_text(new, encoding="utf-8")
    except (OSError, KeyError, ValueError) as error:
        print(f"bench readme: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return status
