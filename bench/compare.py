"""``bench compare A B``: what became slower or faster, beyond what is explained otherwise.

Rows are paired by workload, program and sizes. One is marked if its time by the device's clock,
where both have it, else by the wall, changed by more than the floor (10 % on hardware, 25 % on
software; three times that with one repeat only), by more than the repeats and passes of both rows
differ by, by more than `APART` times what all our rows differ by, and if even the shortest of the
slower times is above the median of the faster ones. Other programs are never marked: how much they
changed tells what the host did.

A change of another host is not marked but named: rows of the wall time of small dispatches or draws
follow the launch latency, and up- and downloads the bus, as `micro` measured them in both files.
Exit status 1 if something is slower or wrong, 2 if the files cannot be compared.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import options, roofline, table
from bench.row import File, Row, state

FLOOR = {"hardware": 0.10, "software": 0.25}
APART, MOST = 4.0, 0.18
"""Spreads between two files that a change has to exceed, and the largest spread (a logarithm)."""

ENOUGH = 8
"""Rows from which a spread between two files is made."""

ONCE = 3.0
"""Times the floor, where a row has one time only and nothing is known of its noise."""

HOST = ("dispatch", "draw", "draw thin", "upload", "download")
"""Rates of `micro` that the host decides."""

SMALL = 0.25
"""Share of a ceiling of dispatches or draws from which a row counts as launched."""

NAME = ("workload", "program", "task", "scoring", "number", "sizes", "count", "options", "cores")


class Times(NamedTuple):
    """Seconds: the median, the shortest, what repeats and passes differ by, how many there are."""

    median: float
    minimum: float
    noise: float
    repeats: int


class Delta(NamedTuple):
    """A row that both files have, and what is said of it."""

    row: Row
    clock: str
    old: Times
    new: Times
    verdict: str = ""

    @property
    def ratio(self) -> float:
        return self.new.median / self.old.median


class Comparison(NamedTuple):
    """All that two files have in common, the slowest change first, and what they have not."""

    deltas: list[Delta]
    wrong: list[Row]
    only: tuple[int, int]

    @property
    def failed(self) -> bool:
        return bool(self.wrong) or any(each.verdict == "slower" for each in self.deltas)


def times(row: Row, clock: str) -> Times:
    """Return the times of a row by ``wall``, ``clock`` or its rate.

    >>> times({"rate": 4e9, "unit": "op/s", "spread": 0.01, "repeats": 20}, "rate").median
    2.5e-10
    """
    between = row.get("between") or 0.0
    if clock == "rate":
        seconds = row["rate"] if row.get("unit") == "s" else 1 / row["rate"]
        noise = seconds * max(row.get("spread") or 0.0, between)
        return Times(seconds, seconds - noise, noise, row.get("repeats") or 1)
    median, low, high = row[clock], row[f"{clock}_min"], row[f"{clock}_max"]
    noise = max((row.get("spread") or 0.0) * median, between * median)
    if (row.get("repeats") or 1) < 10:
        noise = max(noise, high - low)
    return Times(median, low, noise, row.get("repeats") or 1)


def judge(old: Times, new: Times, floor: float) -> str:
    """Return ``slower``, ``faster`` or nothing; see the head of the module.

    >>> quiet, late = Times(1.0, 0.98, 0.03, 20), Times(1.2, 1.17, 0.05, 20)
    >>> judge(quiet, late, 0.05), judge(late, quiet, 0.05), judge(quiet, late, 0.25)
    ('slower', 'faster', '')
    >>> judge(quiet, Times(1.2, 0.99, 0.3, 20), 0.05)  # its repeats differ by more
    ''
    """
    if min(old.repeats, new.repeats) < 2:
        floor *= ONCE
    low, high = sorted((old, new), key=lambda each: each.median)
    beyond = (
        high.median > low.median * (1 + floor)
        and high.median - low.median > old.noise + new.noise
        and high.minimum > low.median
    )
    return "" if not beyond else "slower" if high is new else "faster"


def compare(old: File, new: File, floor: float | None = None) -> Comparison:
    """Compare all rows that two files of one device have in common."""
    before, after = (
        {tuple(map(str, (row.get(x) for x in NAME))): row for row in file.rows.values()}
        for file in (old, new)
    )
    software = bool((new.header["device"] or {}).get("software", True))
    floor = FLOOR["software" if software else "hardware"] if floor is None else floor
    found = []
    for name, row in after.items():
        other = before.get(name)
        if other and state(row) == state(other) == "timed":
            clock = _clock(other, row)
            if clock and (clock == "rate" or bool(row.get("part")) == bool(other.get("part"))):
                found.append(Delta(row, clock, times(other, clock), times(row, clock)))
    ours = [each for each in found if each.row["ours"] and each.row["workload"] != "micro"]
    floor = max(floor, math.expm1(APART * between(ours)))
    hosts = _host(found)
    launches = roofline.rates_of(new.rows.values())
    marked = [each._replace(verdict=_verdict(each, floor, hosts, launches, new)) for each in found]
    marked.sort(key=lambda each: each.ratio, reverse=True)
    wrong: list[Row] = [row for row in new.rows.values() if state(row) == "wrong"]
    return Comparison(marked, wrong, (len(before.keys() - after), len(after.keys() - before)))


def _clock(old: Row, new: Row) -> str | None:
    if old.get("cells") == new.get("cells"):
        for name in ("clock", "wall"):
            if old.get(name) and new.get(name) and new.get("unit") in (None, "cell/s"):
                return name
    same = old.get("unit") == new.get("unit")
    return "rate" if same and old.get("rate") and new.get("rate") else None


def _host(deltas: Sequence[Delta]) -> dict[str, float]:
    """Return by how much what the host decides changed: new time over old time."""
    return {
        each.row["program"]: each.ratio
        for each in deltas
        if each.row["workload"] == "micro" and each.row["program"] in HOST
    }


def _verdict(
    delta: Delta,
    floor: float,
    hosts: Mapping[str, float],
    rates: Mapping[str, float],
    file: File,
) -> str:
    """Return what is said of a change; ``host: ...`` names what explains it."""
    row = delta.row
    word = judge(delta.old, delta.new, floor)
    if not row["ours"]:
        return "other"
    if row["workload"] == "micro" and row["program"] in HOST:
        return "host" if word else ""
    if not word:
        return ""
    if why := _explained(delta, hosts, rates, file):
        return f"host: {why}"
    return word


def _explained(
    delta: Delta, hosts: Mapping[str, float], rates: Mapping[str, float], file: File
) -> str | None:
    """Return which rate of the host explains a change, None if none does.

    The rate has to have changed the same way, and the row to need it: its dispatches or draws take
    `SMALL` of its time, or its wall time differs from that of the device's clock by as much.
    """
    limit = roofline.bound(delta.row, rates, file.header["device"])
    needs = {"dispatches": ("dispatch",), "draws": ("draw thin", "draw")}
    for ceiling in limit.ceilings if limit else ():
        for name in needs.get(ceiling.resource, ()):
            share = (limit.reached or 0.0) / ceiling.cells_per_second if limit else 0.0
            if share >= SMALL and _same_way(hosts.get(name), delta.ratio):
                return "launch latency"
    wall, clock = delta.row.get("wall") or 0.0, delta.row.get("clock")
    if delta.clock == "wall" and clock and wall - clock > SMALL * wall:
        for name in ("upload", "download"):
            if _same_way(hosts.get(name), delta.ratio):
                return "bus"
        if _same_way(hosts.get("dispatch"), delta.ratio):
            return "launch latency"
    return None


def _same_way(host: float | None, ratio: float) -> bool:
    return host is not None and (host - 1) * (ratio - 1) > 0 and abs(host - 1) > 0.05


def between(deltas: Sequence[Delta]) -> float:
    """Return by how much two files differ: the spread of the logarithms of the ratios, robustly.

    >>> quiet = Times(1.0, 1.0, 0.0, 20)
    >>> ratios = 1.0, 0.98, 1.02, 0.99, 1.01, 1.0, 1.03, 2.0
    >>> late = [Times(ratio, ratio, 0.0, 20) for ratio in ratios]
    >>> round(between([Delta({}, "wall", quiet, each) for each in late]), 3)
    0.029
    """
    if len(deltas) < ENOUGH:
        return 0.0
    changes = sorted(abs(math.log(delta.ratio)) for delta in deltas)
    return min(MOST, 1.4826 * changes[len(changes) // 2])


def mean(deltas: Sequence[Delta]) -> float:
    """Return the geometric mean of the ratios."""
    return math.exp(sum(math.log(delta.ratio) for delta in deltas) / len(deltas))


def main(argv: Sequence[str] | None = None) -> int:
    """Compare two files; return 0, 1 if something is slower or wrong, 2 if that cannot be told."""
    parser = options.Parser(prog="python -m bench compare", description=(__doc__ or "")[:70])
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    parser.add_argument("--all", action="store_true", help="print what is not marked as well")
    parser.add_argument("--floor", type=_share, metavar="PERCENT", help="never marked")
    arguments = parser.parse_args(argv)
    try:
        old, new = File.read(arguments.old), File.read(arguments.new)
        devices = [(file.header["device"] or {}).get("renderer") for file in (old, new)]
        if devices[0] != devices[1]:
            raise ValueError(f"{old.path.name} is of {devices[0]}, {new.path.name} of {devices[1]}")
        found = compare(old, new, arguments.floor)
        if not found.deltas and not found.wrong:
            raise ValueError(f"{old.path.name} and {new.path.name} have nothing in common")
    except (OSError, ValueError) as error:
        print(f"bench compare: {error}", file=sys.stderr)
        return 2
    _print(found, devices[0], every=arguments.all)
    return int(found.failed)


def _print(found: Comparison, device: Any, *, every: bool) -> None:
    print(f"{device}: new time / old time")
    for delta in found.deltas:
        if every or delta.verdict in ("slower", "faster"):
            seconds = [table.seconds(each.median) for each in (delta.old, delta.new)]
            noise = (delta.old.noise + delta.new.noise) / delta.old.median
            line = f"{delta.ratio:>7.3f}{seconds[0]:>11}{seconds[1]:>11}{noise:>8.1%}"
            print(f"{line}  {delta.verdict:<8} {table.title(delta.row)}")
    explained = [each for each in found.deltas if each.verdict.startswith("host")]
    if explained:
        print(f"\n{len(explained)} rows differ by the host, not marked:")
        for delta in explained:
            print(f"{delta.ratio:>7.3f}  {delta.verdict:<22} {table.title(delta.row)}")
    groups: dict[str, list[Delta]] = {}
    for delta in found.deltas:
        name = delta.row["workload"] if delta.row["ours"] else "other programs"
        groups.setdefault(name, []).append(delta)
    print()
    for name, some in groups.items():
        slow, fast = (sum(each.verdict == word for each in some) for word in ("slower", "faster"))
        counts = f"{slow} slower, {fast} faster"
        print(f"{name:<18}{mean(some):>7.3f} on average of {len(some)}; {counts}")
    if any(found.only):
        print(f"only in the old file: {found.only[0]} rows; only in the new one: {found.only[1]}")
    for row in found.wrong:
        print(f"WRONG: {table.title(row)}: {row.get('first')}")


def _share(text: str) -> float:
    """Read percent.

    >>> _share("20")
    0.2
    """
    try:
        value = float(text) / 100
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: percent from 0 are expected")
    return value
