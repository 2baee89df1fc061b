"""Papers as data: their workloads, their published figures, and claims that rows decide."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bench.row import Row, rate_of, state

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
        return "holds in part" if any(reached) and not self.claim.best else "does not hold"

    @property
    def by(self) -> str:
        if not self.ratios:
            return "-"
        found = [each.ratio for each in self.ratios]
        low, high = (f"{x:.0f}" if x >= 99.5 else f"{x:.2g}" for x in (min(found), max(found)))
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
