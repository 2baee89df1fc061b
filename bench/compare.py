"""Two runs on one device: what became slower or faster beyond what its own repeats differ by.

    python -m bench.compare OLD.json NEW.json

Measurements are paired by name and cells. One is slower (or faster, the other way round) if all of
these hold; then it is marked:

- the new median is larger by more than the floor: 10 % on hardware, 25 % on software, three times
  that if one of the two was measured once only;
- it is larger by more than `APART` times what our measurements differ by between the two runs,
  which their repeats do not show: the median of all changes, up or down, as a normal spread, `MOST`
  at most;
- it is larger by more than what the repeats of both runs differ by, added: the interquartile range,
  or, of fewer than ten repeats, the whole range;
- even the shortest of the new times is longer than the old median.

Times are the device's where both runs have them, else the wall's. Other programs are not
marked: how much they changed tells what the machine did. Exit status 1 if something is slower or
wrong, 2 if the files cannot be compared.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bench import options, rows
from bench.report.documents import Document, DocumentError, load

FLOOR = {"hardware": 0.10, "software": 0.25}
"""Changes that are never marked, by where the work is done."""

APART, MOST = 4.0, 0.18
"""Spreads between two runs that a change has to exceed, and the largest spread (a logarithm)."""

ENOUGH = 8
"""Measurements from which a spread between two runs is made."""

ONCE = 3.0
"""Times the floor, where a run has one time only and nothing is known of its noise."""

FEW = 10
"""Repeats from which the interquartile range is what they differ by."""


class Times(NamedTuple):
    """Seconds of the repeats; of a rate, those of one of its units."""

    median: float
    minimum: float
    noise: float
    """By how many seconds they differ; 0 if there is only one."""
    repeats: int


class Delta(NamedTuple):
    """A measurement that both runs have."""

    key: str
    peer: bool
    clock: str
    """``device``, ``wall`` or the unit of a rate."""
    old: Times
    new: Times
    verdict: str

    @property
    def ratio(self) -> float:
        """New time over old time: above 1 is slower."""
        return self.new.median / self.old.median

    @property
    def noise(self) -> float:
        """What the repeats of both differ by, as a part of the old median."""
        return (self.old.noise + self.new.noise) / self.old.median


@dataclass(frozen=True)
class Comparison:
    """All that two runs have in common, the slowest change first, and what they have not.

    Attributes
    ----------
    wrong, was_wrong : dict
        By name, what was wrong in the new run, and in the old one.
    only_old, only_new, other_cells, not_timed : list of str
        Names that cannot be compared: in one run only; of different sizes; without times in one.
    """

    deltas: list[Delta] = field(default_factory=list)
    wrong: dict[str, str] = field(default_factory=dict)
    was_wrong: dict[str, str] = field(default_factory=dict)
    only_old: list[str] = field(default_factory=list)
    only_new: list[str] = field(default_factory=list)
    other_cells: list[str] = field(default_factory=list)
    not_timed: list[str] = field(default_factory=list)

    @property
    def ours(self) -> list[Delta]:
        """Without other programs."""
        return [delta for delta in self.deltas if not delta.peer]

    @property
    def marked(self) -> list[Delta]:
        """What is slower or faster."""
        return [delta for delta in self.deltas if delta.verdict in ("slower", "faster")]

    @property
    def failed(self) -> bool:
        """Something is slower, or wrong."""
        return bool(self.wrong) or any(delta.verdict == "slower" for delta in self.deltas)


def times(measurement: Mapping[str, Any], clock: str) -> Times:
    """Return the times of a measurement by ``wall`` or ``device``, or those of a rate.

    >>> times({"value": 4e9, "unit": "op/s", "spread": 0.01, "repeats": 20}, "op/s").median
    2.5e-10
    """
    if measurement.get("value") is not None:
        value, spread = measurement["value"], measurement.get("spread") or 0.0
        seconds = value if measurement["unit"] == "s" else 1 / value
        return Times(seconds, seconds * (1 - spread), seconds * spread, measurement["repeats"])
    told = measurement[clock]
    if told["repeats"] >= FEW:
        noise = (told["spread"] or 0.0) * told["median"]
    else:
        noise = told["maximum"] - told["minimum"]
    return Times(told["median"], told["minimum"], noise, told["repeats"])


def judge(old: Times, new: Times, floor: float) -> str:
    """Return ``slower``, ``faster`` or ``same``; see the head of the module.

    >>> quiet, late = Times(1.0, 0.98, 0.03, 20), Times(1.2, 1.17, 0.05, 20)
    >>> judge(quiet, late, 0.05), judge(late, quiet, 0.05), judge(quiet, late, 0.25)
    ('slower', 'faster', 'same')
    >>> judge(quiet, Times(1.2, 0.99, 0.3, 20), 0.05)  # its repeats differ by more
    'same'
    >>> judge(Times(1.0, 1.0, 0.0, 1), Times(1.14, 1.14, 0.0, 1), 0.05)  # nothing known of noise
    'same'
    """
    if min(old.repeats, new.repeats) < 2:
        floor *= ONCE
    low, high = sorted((old, new), key=lambda each: each.median)
    beyond = (
        high.median > low.median * (1 + floor)
        and high.median - low.median > old.noise + new.noise
        and high.minimum > low.median
    )
    if not beyond:
        return "same"
    return "slower" if high is new else "faster"


def compare(old: Document, new: Document, floor: float | None = None) -> Comparison:
    """Compare all that two runs on one device have in common."""
    if floor is None:
        floor = FLOOR["software" if new.software else "hardware"]
    before, after = _named(old), _named(new)
    found = Comparison(
        only_old=[key for key in before if key not in after],
        only_new=[key for key in after if key not in before],
    )
    for wrong, named in ((found.wrong, after), (found.was_wrong, before)):
        for key, measurement in named.items():
            if rows.state(measurement) == "wrong":
                check = measurement["check"]
                wrong[key] = f"{check['wrong']} of {check['pairs']}, {check['judge']}: " + str(
                    check["first"]
                )
    for key, first in before.items():
        if key in after:
            _pair(found, key, first, after[key], floor)
    floor = max(floor, math.expm1(APART * between(found.ours)))
    found.deltas[:] = [
        delta if delta.peer else delta._replace(verdict=judge(delta.old, delta.new, floor))
        for delta in found.deltas
    ]
    found.deltas.sort(key=lambda delta: delta.ratio, reverse=True)
    return found


def _named(document: Document) -> dict[str, dict[str, Any]]:
    return {key: found for part in document.parts for key, found in rows.measurements(part)}


def _pair(
    found: Comparison, key: str, old: dict[str, Any], new: dict[str, Any], floor: float
) -> None:
    """Put a measurement that both have where it belongs."""
    states = {rows.state(old), rows.state(new)}
    if states != {"timed"}:
        if states != {"checked"} and "wrong" not in states:
            found.not_timed.append(key)
    elif old["cells"] != new["cells"] or old.get("unit") != new.get("unit"):
        found.other_cells.append(key)
    else:
        clock = new.get("unit") or ("device" if old.get("device") and new.get("device") else "wall")
        before, after = times(old, clock), times(new, clock)
        verdict = "beside" if new["peer"] else judge(before, after, floor)
        found.deltas.append(Delta(key, new["peer"], clock, before, after, verdict))


def between(deltas: Sequence[Delta]) -> float:
    """Return by how much two runs differ: the spread of the logarithms of the ratios, robustly.

    >>> quiet = Times(1.0, 1.0, 0.0, 20)
    >>> ratios = 1.0, 0.98, 1.02, 0.99, 1.01, 1.0, 1.03, 2.0
    >>> late = [Times(ratio, ratio, 0.0, 20) for ratio in ratios]
    >>> round(between([Delta("", False, "wall", quiet, each, "") for each in late]), 3)
    0.029
    """
    if len(deltas) < ENOUGH:
        return 0.0
    changes = sorted(abs(math.log(delta.ratio)) for delta in deltas)
    return min(MOST, 1.4826 * changes[len(changes) // 2])


def mean(deltas: Iterable[Delta]) -> float | None:
    """Return the geometric mean of the ratios, None if there are none."""
    logs = [math.log(delta.ratio) for delta in deltas]
    return math.exp(sum(logs) / len(logs)) if logs else None


def by_benchmark(deltas: Iterable[Delta]) -> dict[str, list[Delta]]:
    """Return the changes of each benchmark."""
    found: dict[str, list[Delta]] = {}
    for delta in deltas:
        found.setdefault(delta.key.partition(" / ")[0], []).append(delta)
    return dict(sorted(found.items()))


def check(old: Document, new: Document) -> None:
    """Raise DocumentError if two documents cannot be compared."""
    if old.renderer != new.renderer:
        raise DocumentError(
            f"{old.file} is of {old.renderer}, {new.file} of {new.renderer}: one device is expected"
        )
    if old.identity != new.identity:
        one, other = (f"{each.cpu['model']}, {each.cpu['cores']} cores" for each in (old, new))
        raise DocumentError(
            f"{old.file} is of {old.renderer} on {one}, {new.file} on {other}: one is expected"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Compare two files; return 0, 1 if something is slower or wrong, 2 if that cannot be told."""
    arguments = _parser().parse_args(argv)
    try:
        old, new = load(arguments.old), load(arguments.new)
        check(old, new)
    except DocumentError as error:
        print(f"bench.compare: {error}", file=sys.stderr)
        return 2
    found = compare(old, new, arguments.floor)
    if not found.deltas and not found.wrong and not set(_named(old)) & set(_named(new)):
        print(f"bench.compare: {old.file} and {new.file} have nothing in common", file=sys.stderr)
        return 2
    floor = FLOOR["software" if new.software else "hardware"]
    floor = floor if arguments.floor is None else arguments.floor
    _print(old, new, found, floor, arguments.all)
    return 1 if found.failed else 0


def _print(old: Document, new: Document, found: Comparison, floor: float, every: bool) -> None:
    print(f"{new.renderer}: {old.version} ({old.file}), then {new.version} ({new.file})")
    print(f"new time / old time; changes up to {floor * 100:g} % are never marked\n")
    shown = found.deltas if every else found.marked
    if shown:
        print(f"{'ratio':>7}{'old ms':>11}{'new ms':>11}{'noise':>8}  {'':<7}name")
    for delta in shown:
        unit = 1e3 if delta.clock in ("wall", "device") else math.nan
        old_ms, new_ms = (f"{each.median * unit:.4g}" for each in (delta.old, delta.new))
        print(
            f"{delta.ratio:>7.3f}{old_ms.replace('nan', '-'):>11}{new_ms.replace('nan', '-'):>11}"
            f"{delta.noise * 100:>7.1f}%  {_word(delta):<7}{delta.key}"
        )
    if shown:
        print()
    for name, deltas in by_benchmark(found.ours).items():
        slow, fast = (sum(each.verdict == word for each in deltas) for word in ("slower", "faster"))
        line = f"{name:<16}{mean(deltas):>7.3f} on average of {len(deltas)}"
        print(f"{line}; {slow} slower, {fast} faster")
    if beside := [delta for delta in found.deltas if delta.peer]:
        print(f"{'others':<16}{mean(beside):>7.3f} on average of {len(beside)}: other programs")
    for what, keys in (
        (f"only in {old.file}", found.only_old),
        (f"only in {new.file}", found.only_new),
        ("of other sizes", found.other_cells),
        ("not timed in one of them", found.not_timed),
    ):
        if keys:
            print(f"{what}: {len(keys)}")
    for key, text in found.was_wrong.items():
        print(f"was WRONG: {key}: {text}")
    for key, text in found.wrong.items():
        print(f"WRONG: {key}: {text}")


def _word(delta: Delta) -> str:
    return {"same": "", "beside": "other"}.get(delta.verdict, delta.verdict)


def _parser() -> argparse.ArgumentParser:
    parser = options.Parser(
        prog="python -m bench.compare", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("old", type=Path, metavar="OLD.json")
    parser.add_argument("new", type=Path, metavar="NEW.json")
    parser.add_argument("--all", action="store_true", help="print what is not marked as well")
    parser.add_argument(
        "--floor",
        type=_share,
        metavar="PERCENT",
        help="changes that are never marked (default {hardware:.0%} on hardware, {software:.0%} on "
        "software)".format(**FLOOR).replace("%", "%%"),
    )
    return parser


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


if __name__ == "__main__":
    sys.exit(main())
