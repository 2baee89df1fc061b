"""What rows say: claims of papers, and ``bench compare A B``: what became slower or faster.

Papers are data: their workloads, their published figures, and claims that rows decide. Of two files
bench/README.md says what is marked, and what is named instead since the host explains it. Other
programs are never marked: how much they changed tells what the host did.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean, median_high
from typing import Any, NamedTuple

from bench import Parser, at_least, roofline, table
from bench.row import KEY, File, Row, rate_of, state

SAME = ("workload", "scoring", "sizes", "count", "device", "cpu")
"""Fields that both rows of a claim share, unless the claim names them."""


@dataclass(frozen=True)
class Claim:
    """One side is so many times as fast as another, in our words.

    ``rows`` are fields of both sides; ``program`` may be a list: one of these.
    """

    text: str
    place: str
    left: Mapping[str, Any]
    right: Mapping[str, Any]
    least: float  # the ratio of the rates that the claim needs
    best: bool = False  # the largest ratio decides ("up to"), not each of them
    clock: bool = False  # the device's own clock counts where there is one
    rows: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rule(self) -> str:
        """What its ratios have to be."""
        return f"{'the largest' if self.best else 'each'} ratio is {self.least:g} or more"

    def shown(self, ratio: float) -> str:
        """Return a ratio as text, with two digits, or as many as tell on which side it is."""
        texts = (f"{ratio:.0f}" if ratio >= 99.5 else f"{ratio:.{n}g}" for n in range(2, 18))
        return next(x for x in texts if (float(x) >= self.least) == (ratio >= self.least))


def papers() -> list[dict[str, Any]]:
    """Return the papers of the folder ``papers``, by year.

    Each has a name, a title, its ``workloads``, ``claims`` and ``figures`` (what, machine, value,
    unit, place), and how our measurements ``differ``.
    """
    files = Path(__file__).with_name("papers").glob("*.json")
    found = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    for paper in found:
        paper["claims"] = [Claim(**each) for each in paper["claims"]]
    return sorted(found, key=lambda paper: (paper["name"][-4:], paper["name"]))


class Ratio(NamedTuple):
    """The first of the sizes that two rows share, their ratio, and the row of the left side."""

    size: str
    ratio: float
    left: Row


class Decision(NamedTuple):
    claim: Claim
    ratios: list[Ratio]

    @property
    def verdict(self) -> str:
        if not self.ratios:
            return "not measured"
        reached = [each.ratio >= self.claim.least for each in self.ratios]
        if all(reached) or (self.claim.best and any(reached)):
            return "holds"
        return "holds in part" if any(reached) else "does not hold"

    @property
    def by(self) -> str:
        """The ratios that decide: the largest alone, or the range of all."""
        if not self.ratios:
            return "-"
        found = [each.ratio for each in self.ratios]
        low, high = (self.claim.shown(ratio) for ratio in (min(found), max(found)))
        if self.claim.best:
            return f"at most {high} times"
        return f"{low} times" if low == high else f"{low} to {high} times"


def matches(row: Row, fields: Mapping[str, Any]) -> bool:
    """Tell whether a row has these fields."""
    wanted = dict(fields)
    if not isinstance(some := wanted.get("program", ""), str) and row["program"] in some:
        wanted["program"] = row["program"]
    return all(row.get(name) == value for name, value in wanted.items())


def decide(claim: Claim, rows: Iterable[Row]) -> Decision:
    """Return what the rows of one device say of a claim."""
    timed = [row for row in rows if state(row) == "timed"]
    sides = {**claim.rows, **claim.left}, {**claim.rows, **claim.right}
    same = [name for name in SAME if not all(name in side for side in sides)]

    def shared(row: Row) -> str:
        return str([row.get(name) for name in same])

    rights = {shared(row): row for row in timed if matches(row, sides[1])}
    found: dict[str, Ratio] = {}
    for row in (each for each in timed if matches(each, sides[0])):
        name = shared(row)
        left, right = (rate_of(each, clock=claim.clock) for each in (row, rights.get(name, {})))
        if left and right:
            ratio = Ratio(str([*row.get("sizes", ()), ""][0]), left / right, row)
            found[name] = max(found.get(name, ratio), ratio, key=lambda each: each.ratio)
    return Decision(claim, list(found.values()))


FLOOR = {"hardware": 0.10, "software": 0.25}
ONCE = 3.0  # times the floor, where a row has one time only and nothing is known of its noise
APART, MOST = 4.0, 0.18  # spreads that a change has to exceed, and the largest (a logarithm)
ENOUGH = 8  # rows from which a spread between two files is made
HOST = ("dispatch", "draw", "draw thin", "upload", "download")  # what the host decides of `micro`
SMALL = 0.25  # share of a ceiling of dispatches or draws from which a row counts as launched


class Times(NamedTuple):
    """Seconds: the median, the shortest, what repeats and passes differ by, how many there are."""

    median: float
    minimum: float
    noise: float
    repeats: int


class Delta(NamedTuple):
    """A row that both files have, by which clock it is compared, and what is said of it."""

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
    """Return the times of a row by ``wall``, ``clock`` or its rate."""
    share, repeats = max(row.get("spread") or 0.0, row.get("between") or 0.0), row.get("repeats")
    if clock == "rate":
        seconds = row["rate"] if row.get("unit") == "s" else 1 / row["rate"]
        return Times(seconds, seconds * (1 - share), seconds * share, repeats or 1)
    median, low, high = row[clock], row[f"{clock}_min"], row[f"{clock}_max"]
    noise = max(share * median, high - low if (repeats or 1) < 10 else 0.0)
    return Times(median, low, noise, repeats or 1)


def judge(old: Times, new: Times, floor: float) -> str:
    """Return ``slower`` or ``faster``, or nothing if noise may explain it."""
    if min(old.repeats, new.repeats) < 2:
        floor *= ONCE
    low, high = sorted((old, new))  # by their medians
    least = max(low.median * (1 + floor), low.median + old.noise + new.noise)
    if high.median <= least or high.minimum <= low.median:
        return ""
    return "slower" if high is new else "faster"


def compare(old: File, new: File, floor: float | None = None) -> Comparison:
    """Compare all rows that two files of one device have in common."""
    names = [name for name in KEY if name not in ("device", "driver", "cpu")]
    before, after = (
        {str([row.get(name) for name in names]): row for row in file.rows.values()}
        for file in (old, new)
    )
    found = []
    for name, row in after.items():
        if clock := _clock(first := before.get(name, {}), row):
            found.append(Delta(row, clock, times(first, clock), times(row, clock)))
    software = bool((new.header["device"] or {}).get("software", True))
    floor = FLOOR["software" if software else "hardware"] if floor is None else floor
    ours = [each for each in found if each.row["ours"] and each.row["workload"] != "micro"]
    floor = max(floor, math.expm1(APART * between(ours)))
    micro = [each for each in found if each.row["workload"] == "micro"]
    hosts = {each.row["program"]: each.ratio for each in micro if each.row["program"] in HOST}
    rates = roofline.rates_of(new.rows.values())
    marked = []
    for each in found:
        word = judge(each.old, each.new, floor) if each.row["ours"] else "other"
        if word in ("slower", "faster"):
            limit = roofline.bound(each.row, rates, new.header["device"])
            own = each in micro and each.row["program"] in hosts
            word = "host" if own else _explained(each, hosts, limit) or word
        marked.append(each._replace(verdict=word))
    marked.sort(key=lambda each: each.ratio, reverse=True)
    wrong: list[Row] = [row for row in new.rows.values() if state(row) == "wrong"]
    return Comparison(marked, wrong, (len(before.keys() - after), len(after.keys() - before)))


def _clock(old: Row, new: Row) -> str | None:
    """Return by which clock two rows can be compared, None if they cannot."""
    if not state(old) == state(new) == "timed":
        return None
    if old.get("cells") == new.get("cells") and bool(old.get("part")) == bool(new.get("part")):
        for name in ("clock", "wall"):
            if old.get(name) and new.get(name) and new.get("unit") in (None, "cell/s"):
                return name
    same = old.get("unit") == new.get("unit")
    return "rate" if same and old.get("rate") and new.get("rate") else None


def _explained(delta: Delta, hosts: dict[str, float], limit: roofline.Bound | None) -> str | None:
    """Return which rate of the host explains a change, None if none does.

    The rate has to have changed the same way, and the row to need it: its dispatches or draws take
    `SMALL` of its time, or its wall time differs from that of the device's clock by as much.
    """
    alike = {name for name, host in hosts.items() if (host - 1) * (delta.ratio - 1) > 0}
    alike = {name for name in alike if abs(hosts[name] - 1) > 0.05}
    needs = {"dispatches": {"dispatch"}, "draws": {"draw thin", "draw"}}
    for ceiling in limit.ceilings if limit else ():
        taken = ((limit and limit.reached) or 0.0) / ceiling.cells_per_second
        if taken >= SMALL and alike & needs.get(ceiling.resource, set()):
            return "host: launch latency"
    wall, clock = delta.row.get("wall") or 0.0, delta.row.get("clock")
    if delta.clock == "wall" and clock and wall - clock > SMALL * wall:
        if alike & {"upload", "download"}:
            return "host: bus"
        return "host: launch latency" if "dispatch" in alike else None
    return None


def between(deltas: Sequence[Delta]) -> float:
    """Return by how much two files differ: the spread of the logarithms of the ratios, robustly."""
    if len(deltas) < ENOUGH:
        return 0.0
    return min(MOST, 1.4826 * median_high(abs(math.log(delta.ratio)) for delta in deltas))


def main(argv: Sequence[str]) -> int:
    """Compare two files; return 0, 1 if something is slower or wrong."""
    about = "Show what became slower or faster, beyond what is explained otherwise."
    parser = Parser(" compare", about)
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    parser.add_argument("--all", action="store_true", help="print what is not marked as well")
    percent = at_least(float, 0, "percent from 0")
    parser.add_argument("--floor", type=percent, metavar="PERCENT", help="never marked")
    arguments = parser.parse_args(argv)
    old, new = File.read(arguments.old), File.read(arguments.new)
    devices = [(file.header["device"] or {}).get("renderer", "no device") for file in (old, new)]
    if devices[0] != devices[1]:
        raise ValueError(f"{old.path.name} is of {devices[0]}, {new.path.name} of {devices[1]}")
    found = compare(old, new, None if arguments.floor is None else arguments.floor / 100)
    if not found.deltas and not found.wrong:
        raise ValueError(f"{old.path.name} and {new.path.name} have nothing in common")
    print(f"{devices[0]}: new time / old time")
    for delta in found.deltas:
        if arguments.all or delta.verdict in ("slower", "faster"):
            seconds = [table.seconds(each.median) for each in (delta.old, delta.new)]
            noise = (delta.old.noise + delta.new.noise) / delta.old.median
            line = f"{delta.ratio:>7.3f}{seconds[0]:>11}{seconds[1]:>11}{noise:>8.1%}"
            print(f"{line}  {delta.verdict:<8} {table.title(delta.row)}")
    explained = [each for each in found.deltas if each.verdict.startswith("host")]
    if explained:
        print(f"\n{len(explained)} rows differ by the host, not marked:")
    for delta in explained:
        print(f"{delta.ratio:>7.3f}  {delta.verdict:<22} {table.title(delta.row)}")
    print()
    names = [
        each.row["workload"] if each.row["ours"] else "other programs" for each in found.deltas
    ]
    for name in dict.fromkeys(names):
        some = [each for each, its in zip(found.deltas, names, strict=True) if its == name]
        mean, words = geometric_mean(each.ratio for each in some), [each.verdict for each in some]
        counts = f"{words.count('slower')} slower, {words.count('faster')} faster"
        print(f"{name:<18}{mean:>7.3f} on average of {len(some)}; {counts}")
    if any(found.only):
        print(f"only in the old file: {found.only[0]} rows; only in the new one: {found.only[1]}")
    for row in found.wrong:
        print(f"WRONG: {table.title(row)}: {row.get('first')}")
    return int(found.failed)
