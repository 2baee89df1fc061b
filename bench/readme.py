"""The tables of speeds in README.md, made of the files in bench/results.

python -m bench.readme          # writes them
python -m bench.readme --check  # exit status 1 if README.md has others
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bench import options

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
BEGIN = "<!-- made by `make readme-tables` from bench/results: do not edit -->"
END = "<!-- end of what is made -->"

DEVICES = {
    "H100": "suite-h100.json",
    "H200": "suite-h200.json",
    "2 CPU cores, llvmpipe": "suite-llvmpipe.json",
    "the same, zink on lavapipe": "suite-zink.json",
    "the same, softpipe (OpenGL 3.3)": "suite-softpipe.json",
}
"""Columns, and the files of the suite that they come from."""

JOURNEYS = {
    "reads-lambda": "1,000 reads against the genome of phage lambda, both strands, SAM",
    "reads-genome": "10,000 reads of 150 against the genome of E. coli, both strands, SAM",
    "genes-hsps": "100 genes of 1,000 against the genome of E. coli, both strands, 5 HSPs each",
    "proteome": "4,403 proteins of E. coli against 52,608 of Swiss-Prot, top 10",
    "proteome-self": "the 4,403 proteins with themselves, all hits to E-value 1e-5",
    "query": "one protein of 375 against the 52,608",
    "entries-index": "20 proteins against 500,000 with Swiss-Prot's lengths, indexed, top 10",
}
"""Whole commands of ``journeys``."""

WORKLOADS = {
    "search": "a protein of 375 against {count:,} with Swiss-Prot's lengths: scores",
    "pairs": "{count:,} pairs of DNA, {0} x {1}: scores and ends",
    "long": "one pair of DNA, {0:,} x {1:,}: score and end",
    "three": "three sequences of {0}: score and end",
}
"""The benchmark ``engines``."""


class Entry(NamedTuple):
    """A row of the table of headlines."""

    what: str
    ours: str
    others: str


@cache
def load(name: str) -> dict[str, Any]:
    """Return a document of bench/results."""
    document: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return document


def results(name: str, benchmark: str | None = None, **fields: Any) -> list[dict[str, Any]]:
    """Return the results of a document, or of a benchmark in a suite, with these fields."""
    document = load(name)
    every = document["results"]
    if document["benchmark"] == "suite":
        steps = [step for step in every if step["benchmark"] == benchmark]
        every = [result for step in steps for result in step["results"] or ()]
    return [each for each in every if all(each.get(key) == value for key, value in fields.items())]


def one(name: str, benchmark: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return the only such result."""
    (found,) = results(name, benchmark, **fields)
    return found


def number(value: float | None) -> str:
    """Return a rate with three digits.

    >>> number(3711.8), number(97.68), number(0.0123), number(None)
    ('3,712', '97.7', '0.0123', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.3g}"


def seconds(value: float) -> str:
    """Return a time in words.

    >>> seconds(44.96), seconds(0.00133), seconds(1.446)
    ('45 s', '1.3 ms', '1.4 s')
    """
    return f"{value * 1e3:.2g} ms" if value < 0.1 else f"{value:.2g} s"


def mebibytes(size: int) -> str:
    """Return a size in MiB."""
    return f"{size / 2**20:.0f} MiB"


# by device


def by_device() -> Iterator[str]:
    """Yield the lines of the table that compares devices."""
    names = [name for name, file in DEVICES.items() if (RESULTS / file).exists()]
    yield "| GCUPS by wall time | " + " | ".join(names) + " |"
    yield "|---|" + "---:|" * len(names)
    for workload, text in WORKLOADS.items():
        found = {name: _rows(DEVICES[name], workload) for name in names}
        sizes = [rows[0] for rows in found.values() if rows]
        large = text.format(*sizes[0]["lengths"], count=sizes[0]["count"])
        same = {(*size["lengths"], size["count"]) for size in sizes}
        yield f"| **{large}**{'' if len(same) == 1 else ' (software: less)'} |" + " |" * len(names)
        for label, chosen in (
            ("glsw", lambda row: not row["peer"] and row["engine"] not in ("cpu", "auto")),
            ("others, one core", lambda row: row["peer"] and row["cores"] == 1),
            ("others, all cores", lambda row: row["peer"] and row["cores"] != 1),
        ):
            cells = [_best(found[name], chosen) for name in names]
            if any(cells):
                yield f"| {label} | " + " | ".join(cell or "" for cell in cells) + " |"


def _rows(file: str, workload: str) -> list[dict[str, Any]]:
    return results(file, "engines", workload=workload)


def _best(
    rows: Sequence[Mapping[str, Any]], chosen: Callable[[Mapping[str, Any]], bool]
) -> str | None:
    """Return the highest rate, and whose it is."""
    timed = [row for row in rows if chosen(row) and row["gcups"]]
    if not timed:
        return None
    row = max(timed, key=lambda row: row["gcups"])
    return f"{number(row['gcups'])} {row['engine']}"


# headlines


def headlines() -> Iterator[str]:
    """Yield the lines of the table of what an H100 does."""
    yield "| what | GCUPS, H100 | other programs on that machine |"
    yield "|---|---|---|"
    for what, ours, others in (*_searches(), *_journeys(), *_pairs(), *_triples()):
        yield f"| {what} | {ours} | {others} |"


def _searches() -> Iterator[Entry]:
    file = "search-h100.json"
    uniform, _, swissprot = results(file)
    queries = "20 queries of 144 to 5478"
    half, whole = _run(uniform, "lanes f16"), _run(uniform, "lanes int32")
    theirs = load(file)["settings"]["cudasw4"]
    yield Entry(
        f"`lanes`, {queries} against a million proteins of 512, 16-bit floats",
        f"{number(half['kernel_gcups'])} one by one, "
        f"{number(half['together']['kernel_gcups'])} together",
        f"CUDASW++4.0 on such a card, another day: {number(theirs['half2'])} (half2), "
        f"{number(theirs['DPX'])} (dpx)",
    )
    yield Entry(
        "the same in 32-bit integers, as on any vendor's device",
        number(whole["kernel_gcups"]),
        "",
    )
    peers = swissprot["peers"]
    every = max(peer["cores"] for peer in peers)
    rates = {
        cores: ", ".join(f"{p['peer']} {number(p['gcups'])}" for p in peers if p["cores"] == cores)
        for cores in (1, every)
    }
    yield Entry(
        "`lanes`, 500,000 proteins with Swiss-Prot's lengths, 16-bit floats; integers",
        f"{number(_run(swissprot, 'lanes f16')['kernel_gcups'])}; "
        f"{number(_run(swissprot, 'lanes int32')['kernel_gcups'])}",
        f"one core: {rates[1]}; {every} cores: {rates[every]}",
    )
    pairs = max(results("all_pairs-h100.json"), key=lambda each: each["gcups"])
    count = load("all_pairs-h100.json")["settings"]["sequences"]["count"]
    yield Entry(
        f"`glsw.score_matrix`: {count:,} proteins of E. coli, each with each",
        f"{number(pairs['gcups'])} ({seconds(pairs['wall']['median'])})",
        "",
    )


def _journeys() -> Iterator[Entry]:
    for journey, text in JOURNEYS.items():
        found = one("journeys-h100.json", journey=journey, program="glsw")
        took, rate = seconds(found["wall"]["median"]), number(found["gcups"])
        yield Entry(f"`glsw search`, the whole command: {text}", f"{rate} ({took})", "")


def _run(result: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    found: Mapping[str, Any]
    (found,) = (run for run in result["runs"] if run["label"] == label)
    return found


def _pairs() -> Iterator[Entry]:
    for length in (511, 4092):
        found = one("liu2006-h100.json", length=length)
        others = ", ".join(f"{name} {number(p['gcups'])}" for name, p in found["peers"].items())
        yield Entry(
            f"`fragment`, a query of {length} against 20,000 proteins",
            number(found["engine"]["gcups"]),
            f"one core: {others}",
        )
    linear = {"workload": "DNA 1/-1, linear gaps 2"}
    ours = one("aymone2022-h100.json", **linear, task="paths", ties="conventional")
    core = one("aymone2022-h100.json", **linear, task="trace")
    clock = ours["cells"] / ours["device"]["median"] / 1e9
    yield Entry(
        "`diagonal`, 1000 DNA pairs of 512 x 512 with traceback",
        f"{number(clock)} (device), {number(ours['gcups'])} (wall)",
        f"one core: parasail with traceback {number(core['gcups'])}",
    )
    for length in (100_000, 1_000_000):
        found = one("megabase-h100.json", pair=f"{length}, dissimilar", task="ends")
        core = one("lin2015-h100.json", length=length)["cpu"]["simd"]["gcups"]
        yield Entry(
            f"`blocked`, one pair of DNA, {length:,} x {length:,}: score and ends",
            number(found["gcups"]),
            f"one core: parasail {number(core)}",
        )
    (_, _, coli) = results("megabase-ecoli-h100.json")[6:]
    yield Entry(
        "`blocked`, E. coli K12 x E. coli 536: the whole alignment",
        f"{seconds(coli['wall']['median'])}, {mebibytes(coli['memory'])}",
        "",
    )


def _triples() -> Iterator[Entry]:
    file = "sudo2012-h100.json"
    code = one(file, part="lengths", task="ends", lengths=[512] * 3)["engines"]["cpu"]
    yield Entry(
        "`subtable`, three sequences of 512, identity: score and end; with alignment",
        f"{number(_aim('identity', 512, 'ends')['gcups'])} "
        f"({seconds(_aim('identity', 512, 'ends')['wall']['median'])}); "
        f"{seconds(_aim('identity', 512, 'paths')['wall']['median'])}",
        f"one core: C {number(code['gcups'])}",
    )
    schemes = "identity", "sum of pairs", "sum of pairs, affine"
    yield Entry(
        "the same of 1024: identity; sum of pairs with linear gaps; with affine ones",
        "; ".join(number(_aim(scheme, 1024, "ends")["gcups"]) for scheme in schemes),
        "",
    )
    many = one(file, part="aims", scoring="identity", triples=2024)
    yield Entry(
        "all 2,024 triples of 24 channels, 128 letters each, identity",
        f"{number(many['gcups'])} ({seconds(many['wall']['median'])})",
        "",
    )


def _aim(scoring: str, length: int, task: str) -> dict[str, Any]:
    return one(
        "sudo2012-h100.json",
        part="aims",
        scoring=scoring,
        task=task,
        triples=1,
        lengths=[length] * 3,
    )


# README.md


def made() -> str:
    """Return what stands between the two marks."""
    two = one("search-2xh200.json")["devices"]["ratio"]
    three = one("sudo2012-2xh200.json", part="devices", work="shared")["speed_up"]
    lines = [
        *headlines(),
        "",
        f"Two H200 search 500,000 proteins {two:.2f} times as fast as one, with the same output "
        f"bytes, and score triples {three:.2f} times as fast.",
        "",
        "The same work on every device, in one run of `python -m bench run`, and the "
        "fastest other program on the processor of that machine:",
        "",
        *by_device(),
    ]
    return "\n".join(lines)


def updated(text: str) -> str:
    """Return README.md with the tables as they are to be.

    Raises
    ------
    ValueError
        If the two marks are not there, once each.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"README.md: {BEGIN} and {END} are expected, once each")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{made()}\n\n{END}{after}"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the tables, or check them; return 0, 1 if they differ, 2 if they cannot be made."""
    parser = options.Parser(prog="python -m bench.readme", description=__doc__)
    parser.add_argument("--check", action="store_true", help="do not write; 1 if they differ")
    arguments = parser.parse_args(argv)
    path = ROOT / "README.md"
    old = path.read_text(encoding="utf-8")
    try:
        new = updated(old)
    except (OSError, KeyError, ValueError) as error:
        print(f"bench.readme: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    if arguments.check:
        if old != new:
            print("bench.readme: README.md differs: make readme-tables", file=sys.stderr)
        return int(old != new)
    path.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
