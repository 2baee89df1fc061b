"""Papers as data: their workloads, their published figures, and claims that rows decide."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bench.row import Row, rate_of, state

SAME = ("workload", "scoring", "sizes", "count", "device", "cpu")
"""Fields that both rows of a claim share, unless the claim names them."""


class Figure(NamedTuple):
    """What a paper prints: what, on which machine, its value and unit, and where."""

    what: str
    machine: str
    value: float
    unit: str
    place: str


@dataclass(frozen=True)
class Claim:
    """One side is so many times as fast as another, in our words."""

    text: str
    place: str
    left: Mapping[str, Any]  # fields of the rows; ``program`` may be a list: one of these
    right: Mapping[str, Any]
    least: float  # the ratio of the rates that the claim needs
    best: bool = False  # the largest ratio decides ("up to"), not each of them
    clock: bool = False  # the device's own clock counts where there is one


@dataclass(frozen=True)
class Paper:
    """A paper: its workloads, figures and claims, and what our measurements do otherwise."""

    name: str
    title: str
    workloads: Sequence[str]
    figures: Sequence[Figure]
    claims: Sequence[Claim]
    differs: str


def papers() -> list[Paper]:
    """Return the papers of the folder ``papers``, by year."""
    made = []
    for path in Path(__file__).with_name("papers").glob("*.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        found["figures"] = [Figure(*each) for each in found["figures"]]
        found["claims"] = [Claim(**each) for each in found["claims"]]
        made.append(Paper(**found))
    return sorted(made, key=lambda paper: (paper.name[-4:], paper.name))


class Ratio(NamedTuple):
    """A pair of rows: what they share, their ratio, and themselves."""

    size: str
    ratio: float
    left: Row
    right: Row


@dataclass(frozen=True)
class Decision:
    """What rows say of a claim."""

    claim: Claim
    ratios: list[Ratio] = field(default_factory=list)

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
        found = sorted(each.ratio for each in self.ratios)
        if not found:
            return "-"
        low, high = (f"{x:.0f}" if x >= 99.5 else f"{x:.2g}" for x in (found[0], found[-1]))
        return f"{low} times" if low == high else f"{low} to {high} times"


def matches(row: Row, fields: Mapping[str, Any]) -> bool:
    """Tell whether a row has these fields."""
    wanted = {name: [value] for name, value in fields.items()}
    if not isinstance(fields.get("program", ""), str):
        wanted["program"] = fields["program"]
    return all(row.get(name) in values for name, values in wanted.items())


def decide(claim: Claim, rows: Iterable[Row]) -> Decision:
    """Return what the rows of one device say of a claim."""
    timed = [row for row in rows if state(row) == "timed"]
    same = [name for name in SAME if name not in claim.left or name not in claim.right]

    def shared(row: Row) -> str:
        return str([row.get(name) for name in same])

    rights = {shared(row): row for row in timed if matches(row, claim.right)}
    found: dict[str, Ratio] = {}
    for row in timed:
        other = rights.get(shared(row)) if matches(row, claim.left) else None
        if other is None:
            continue
        left, right = (rate_of(each, clock=claim.clock) for each in (row, other))
        if left and right:
            size = str(next(iter(row.get("sizes", ())), ""))
            ratio = Ratio(size, left / right, row, other)
            best = found.get(shared(row), ratio)
            found[shared(row)] = max(best, ratio, key=lambda each: each.ratio)
    return Decision(claim, list(found.values()))
