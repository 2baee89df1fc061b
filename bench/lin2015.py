"""Lin, Zhong and Lin 2015: one pair of 200 to 10^6 letters, the row scan against other methods.

    python -m bench.lin2015 --lengths 200,1000,10000 --output bench/results/lin2015-llvmpipe.json

Score and end cell of two unrelated DNA sequences of equal length. Prints seconds and CUPS, and how
many times as fast each method is as one core of the CPU and as the single-stage scan. Exit status 1
if a result was wrong: it has no time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from bench import options, pairs, workloads
from bench.document import Results
from bench.measure import tell_wrong
from glsw.device.device import open_device
from glsw.scoring.scoring import Scoring

LENGTHS = (200, 1000, 10_000, 100_000, 1_000_000)
"""Section 2.1 of the paper."""

PAPER = {
    "GT 520M": {"Lin": 90, "SWAT": 10},
    "GTX 650 Ti Boost": {"Lin": 262, "SWAT": 50},
}
"""Times as fast as one core of an i3-2310, at most: sections 2.3 and 3, figure 8."""

METHODS = ("blocks", "single-stage", "fused", "blocked", "diagonal")

SCORING = Scoring.match_mismatch(5, -4, 11, 1)
"""The paper does not give its scores."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(4, 3))
    scoring = {"match": 5, "mismatch": -4, "gap_open": 11, "gap_extend": 1}
    settings = pairs.settings_of(arguments, scoring, PAPER)
    print(f"score and end of one pair of DNA sequences, 5/-4, gaps 11, 1, on {device.info.name}")
    pairs.print_methods(arguments.methods)
    print(f"\n{HEADING}")
    results = Results("lin2015", device, settings, arguments)
    for length in arguments.lengths:
        batch = workloads.unrelated_pair(length)
        found = pairs.race(arguments.methods, SCORING, batch, device, arguments.budget)
        results.keep({"length": length, **found})
        _print_length(results[-1])
    _print_notes(arguments.budget)
    return tell_wrong(pairs.checks(results))


HEADING = (
    f"{'length':>9}  {'method':<13}{'seconds':>12}{'GCUPS':>10}{'spread':>8}"
    f"{'x core':>9}{'x SIMD':>9}{'x single-stage':>16}"
)


def _print_length(result: dict[str, Any]) -> None:
    cpu, engines = result["cpu"], result["engines"]
    cells = result["length"] ** 2
    for name, timed in {**engines, **{f"core, {key}": each for key, each in cpu.items()}}.items():
        seconds, mark = pairs.seconds_of(timed)
        line = f"{result['length']:>9}  {name:<13}"
        if seconds is None:
            print(f"{line}{'WRONG':>12}", flush=True)
            continue
        spread = timed["wall"] and timed["wall"]["spread"]
        ratios = [
            "" if other is timed else pairs.faster(timed, other)
            for other in (cpu.get("plain"), cpu.get("simd"), engines.get("single-stage"))
        ]
        print(
            f"{line}{mark + format(seconds, '.3g'):>12}{cells / seconds / 1e9:>10.3g}"
            + (f"{'-':>8}" if spread is None else f"{spread * 100:>7.1f}%")
            + f"{ratios[0]:>9}{ratios[1]:>9}{ratios[2]:>16}",
            flush=True,
        )
    print()


def _print_notes(budget: float) -> None:
    print(f"~: estimated from a part; methods that would take more than {budget:g} s are not run")
    print("core: parasail on one core, plain (a cell at a time, as in the papers) and with SIMD")
    print("paper, times as fast as one core of an i3-2310, at most:")
    for device, most in PAPER.items():
        print(f"  {device:<17} Lin {most['Lin']:>4}   Khajeh-Saeed's SWAT {most['SWAT']:>3}")
    print(
        "Khajeh-Saeed's scan goes up and down in 2 log2 n launches per row over global memory.\n"
        "None of our forms is that; the nearest is single-stage, with log2 n launches."
    )


def _parser() -> argparse.ArgumentParser:
    return pairs.parser("lin2015", __doc__, 10, LENGTHS, METHODS)


if __name__ == "__main__":
    sys.exit(main())
