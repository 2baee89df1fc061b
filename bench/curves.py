"""The curves of the workload ``sensitivity``: relatives found beside errors, by program."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench.page import COLOURS
from bench.row import Row
from bench.work.sensitivity import CURVE, ERRORS

_LINES = {"1 round": ":", "2 rounds": "--", "3 rounds": "-"}

Shares = dict[str, dict[tuple[str, str], float]]
"""Of each program what it finds, by task and options."""


def shares_of(rows: Iterable[Row]) -> Shares:
    """Return what rows of the workload say."""
    found: Shares = {}
    for row in rows:
        if row["workload"] == "sensitivity":
            found.setdefault(row["program"], {})[row["task"], row["options"]] = row["rate"]
    return found


def draw(shares: Shares, path: Path) -> None:
    """Draw a line per program: colours are programs, dots and dashes the number of rounds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.add_subplot()
    names = [*dict.fromkeys(program.partition(",")[0] for program in shares)]
    for program, found in shares.items():
        name, _, rounds = program.partition(", ")
        points = [(x, 100 * found[y]) for x, y in zip(ERRORS, CURVE, strict=True) if y in found]
        (line,) = axes.plot(*zip(*points, strict=True), _LINES[rounds], linewidth=2, label=program)
        line.set_color(COLOURS[names.index(name)])
    axes.set(xscale="log", xlim=(ERRORS[0], ERRORS[-1]), ylim=(0, None))
    axes.set(xlabel="errors (pairs of different folds) per query")
    axes.set(ylabel="pairs of a superfamily that are found, %")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    figure.savefig(path, dpi=120, metadata={"Software": None})
