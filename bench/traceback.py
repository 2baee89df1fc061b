"""What alignments cost in time and memory: all directions, or kept rows and computing again.

    python -m bench.traceback --output FILE.json --plot FILE.png

The report of Aymone 2022 (section VI.ii) leaves this open. The engine `diagonal` keeps a row of the
table every c rows; the engine `blocked` keeps rows and columns as a memory allows. One pair of
relatives of each length is aligned in every way; exit status 1 if two ways differ.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench import options, pairs, workloads
from bench.document import Results
from bench.measure import Check, compare, measure, tell_wrong
from glsw.batch import Batch
from glsw.device.device import Device, DeviceError, open_device
from glsw.engines import Blocked, Diagonal
from glsw.engines.gl import ROWS
from glsw.paths import Paths
from glsw.scoring.scoring import Scoring
from glsw.traceback import trace

SCORING = Scoring.match_mismatch(5, -4, 11, 1)
ALL = 2**30
"""A spacing in strips, and more than any table has: all directions are kept."""
MEMORIES = tuple(2**exponent for exponent in (20, 22, 24, 26, 28, 30))
"""Bytes that `blocked` may take."""
BY_HOST = 1e7
"""Cells up to which the traceback of the host judges the alignment too."""


class Way(NamedTuple):
    """How a pair is aligned; without ``spacing`` and ``memory``, score and end only."""

    engine: str
    spacing: int | None = None  # strips
    rows: int | None = None  # c, None if all directions are kept
    memory: int | None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(4, 3))
    workgroup = arguments.workgroup or (8 if device.info.software else 64)
    settings = {
        "lengths": arguments.lengths,
        "scoring": {"match": 5, "mismatch": -4, "gap_open": 11, "gap_extend": 1},
        "strip": workgroup * ROWS,
        "memories": list(MEMORIES),
        "budget": arguments.budget,
    }
    print(
        f"one pair of related DNA sequences, 5/-4, gaps 11, 1, on {device.info.name}\n"
        f"c: rows between two that are kept; a strip of diagonal has {workgroup * ROWS}\n"
    )
    print(HEADING)
    results = Results("traceback", device, settings, arguments)
    for length in arguments.lengths:
        sequences = workloads.dna([length], length)
        batch = Batch.pairwise(sequences, workloads.relatives(sequences, 4, length))
        judge = _Judge(batch, device, arguments.budget)
        for way in _ways(length, workgroup):
            found = _measured(way, batch, judge, device, workgroup, arguments.budget)
            results.keep({"length": length, **way._asdict(), **found})
            _print_row(results[-1])
        print()
    print(f"~: estimated from a part; what would take more than {arguments.budget:g} s is not run")
    if arguments.plot:
        plot(results, arguments.plot, device.info.name)
    return tell_wrong((_name(each), each["check"]) for each in results)


def _ways(length: int, workgroup: int) -> Iterator[Way]:
    """Yield ends only, then c = 1, 2, 4 ... strips and all directions; then memories."""
    strip = workgroup * ROWS
    strips = -(-length // strip)
    yield Way("diagonal")
    spacing = 1
    while spacing < strips:
        yield Way("diagonal", spacing, spacing * strip)
        spacing *= 2
    yield Way("diagonal", ALL)
    yield Way("blocked")
    for memory in MEMORIES:
        yield Way("blocked", memory=memory)
        if memory >= 8 * length**2:  # no kept rows from here on
            return


class _Judge:
    """Judges alignments: score, the score recomputed from the path, and one path for all ways."""

    def __init__(self, batch: Batch, device: Device, budget: float) -> None:
        self._batch = batch
        self.name, self.cell = pairs.expected_cell(SCORING, batch, device, budget)
        self._first: npt.NDArray[np.int64] | None = None
        if batch.cells <= BY_HOST:
            self.name += ", traceback (alignment)"
            _, i, j = self.cell[0]
            self._first = trace(*batch.pair(0), SCORING, int(i), int(j))[0]

    def end(self, found: pairs.Found) -> Check:
        """Judge score and end cell."""
        return compare(found, self.cell, self.name)

    def path(self, paths: Paths) -> Check:
        """Judge an alignment; the first right one is what the next are compared with."""
        coordinates = paths.coordinates(0)
        score = pairs.path_score(SCORING, *self._batch.pair(0), coordinates)
        found = np.append(pairs.cells_of(paths.ends), score)[None]
        check = compare(found, np.append(self.cell, self.cell[0, 0])[None], self.name)
        if not check.passed:
            return check
        if self._first is None:
            self._first = coordinates
        if not np.array_equal(coordinates, self._first):
            return Check(check.judge, 1, 1, "pair 0: another alignment than before")
        return check


def _measured(
    way: Way, batch: Batch, judge: _Judge, device: Device, workgroup: int, budget: float
) -> dict[str, Any]:
    """Measure one way, or estimate it if it would take too long or too large a buffer."""
    engine: Diagonal | Blocked
    if way.engine == "diagonal":
        # The spacing, not the memory, decides what is kept.
        engine = Diagonal(
            SCORING, device, workgroup=workgroup, spacing=way.spacing, memory=ALL * ALL
        )
    else:
        engine = Blocked(SCORING, device, memory=way.memory or MEMORIES[-1])
    run: Callable[[Batch], Any] = engine.paths
    if not way.spacing and not way.memory:
        run = partial(_cells, engine)
    nothing = {"check": None, "cells": batch.cells, "wall": None, "device": None, "gcups": None}
    nothing |= {"memory_used": None, "estimate": None}
    check: Callable[[Any], Check] = judge.end if run != engine.paths else judge.path
    try:
        seconds = pairs.estimate(run, batch, budget)
        if seconds > budget:
            return nothing | {"estimate": seconds}
        timed = measure(lambda: run(batch), check, cells=batch.cells, device=device, budget=budget)
    except DeviceError as error:
        return nothing | {"refused": str(error)}
    return timed.as_dict() | {"memory_used": engine.memory_used, "estimate": None}


def _cells(engine: Diagonal | Blocked, batch: Batch) -> pairs.Found:
    return pairs.cells_of(engine.ends(batch))


HEADING = f"{'length':>8}  {'way':<42}{'seconds':>11}{'GCUPS':>9}{'spread':>8}{'memory':>12}"


def _name(result: Mapping[str, Any]) -> str:
    if result["memory"]:
        return f"blocked, at most {_bytes(result['memory'])}"
    if not result["spacing"]:
        return f"{result['engine']}, score and end only"
    return f"diagonal, c = {result['rows']}" if result["rows"] else "diagonal, all directions"


def _print_row(result: Mapping[str, Any]) -> None:
    line = f"{result['length']:>8}  {_name(result):<42}"
    if result.get("refused"):
        print(f"{line}  {result['refused']}", flush=True)
        return
    seconds, mark = pairs.seconds_of(result)
    if seconds is None:
        print(f"{line}{'WRONG':>11}", flush=True)
        return
    spread = result["wall"] and result["wall"]["spread"]
    used = result["memory_used"]
    print(
        f"{line}{mark + format(seconds, '.4g'):>11}{result['cells'] / seconds / 1e9:>9.3g}"
        + (f"{'-':>8}" if spread is None else f"{spread * 100:>7.1f}%")
        + f"{'-' if used is None else _bytes(used):>12}",
        flush=True,
    )


def _bytes(count: int) -> str:
    """Return bytes as text.

    >>> _bytes(2**18), _bytes(3 * 2**20), _bytes(2**30)
    ('256 KiB', '3 MiB', '1 GiB')
    """
    unit, size = next(
        (word, 2**power)
        for word, power in (("GiB", 30), ("MiB", 20), ("KiB", 10), ("bytes", 0))
        if count >= 2**power or not power
    )
    return f"{count / size:.3g} {unit}"


def plot(results: Sequence[Mapping[str, Any]], path: Path, device: str) -> None:
    """Draw time and memory against c, and time against memory, for every length."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    timed = [result for result in results if result["wall"]]
    lengths = sorted({result["length"] for result in timed})
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    by_time, by_memory, trade = figure.subplots(1, 3)
    shades = np.linspace(0.3, 1.0, len(lengths))
    for length, shade in zip(lengths, shades, strict=True):
        of_length = [result for result in timed if result["length"] == length]
        kept = [result for result in of_length if result["spacing"]]
        rows = [result["rows"] or length for result in kept]
        times = [result["wall"]["median"] for result in kept]
        memory = [result["memory_used"] / 2**20 for result in kept]
        blue, orange = (0.12, 0.47, 0.71, shade), (0.85, 0.37, 0.01, shade)
        line = {"color": blue, "marker": "o", "markersize": 4}
        if kept:
            by_time.plot(rows, times, label=f"{length:,} letters", **line)
            by_memory.plot(rows, memory, **line)
            trade.plot(memory, times, label=f"diagonal, {length:,}", **line)
        if others := [result for result in of_length if result["memory"]]:
            trade.plot(
                [result["memory_used"] / 2**20 for result in others],
                [result["wall"]["median"] for result in others],
                **{**line, "color": orange, "marker": "s"},
                label=f"blocked, {length:,}",
            )
    for axes, across, up in (
        (by_time, "c, rows between two that are kept", "seconds"),
        (by_memory, "c, rows between two that are kept", "memory, MiB"),
        (trade, "memory, MiB", "seconds"),
    ):
        axes.set(xscale="log", yscale="log", xlabel=across, ylabel=up)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 3)))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.grid(color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
    by_time.legend(frameon=False, fontsize=8, title="diagonal")
    trade.legend(frameon=False, fontsize=7, ncols=2)
    figure.suptitle(f"Alignment of one pair: time and memory, {device}", fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def _parser() -> argparse.ArgumentParser:
    parser = options.parser(
        "traceback",
        __doc__,
        5,
        "a way that would take longer is left out (default 5); the others are run twice at least, "
        "for about this long",
    )
    parser.add_counts("--lengths", [1000, 3000, 10_000, 30_000], "of both sequences")
    parser.add_count(
        "--workgroup",
        "invocations of a work group of diagonal, each with 8 rows of a strip (default: 64, or 8 "
        "on a software renderer)",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw it with matplotlib")
    return parser


if __name__ == "__main__":
    sys.exit(main())
