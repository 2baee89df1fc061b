"""The 2014 paper, figures 8 and 9: anti-diagonals, blocked anti-diagonals and scan, one pair.

    python -m bench.scan2014 --output bench/results/scan2014-llvmpipe.json

Score and end cell of two unrelated DNA sequences of 512 to 8000 letters, with constant and with
affine gaps; how many times as fast as one core each method is, and whether the scan beats plain
anti-diagonals over global memory. Exit status 1 if a result was wrong: it has no time.
("Optimizing Parallel Scan Smith Waterman Algorithm On GPU", IJACEN 2(9), 2014.)
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

LENGTHS = (512, 1024, 2048, 4096, 8000)
"""Section V: from 512 to 8000."""

GAPS = {
    "constant": Scoring.match_mismatch(5, -3, 8, 8),
    "affine": Scoring.match_mismatch(5, -3, 8, 1),
}
"""The scores of the paper's figure 3; a constant gap costs 8 at every position."""

PAPER = {"constant": (2.0, 6.0), "affine": (1.5, 4.5)}
"""How many times as fast as a core of an i3-550 the scan was on a GTX 480: figures 8 and 9."""

FIGURES = {"constant": 8, "affine": 9}

METHODS = ("wavefront", "blocked", "single-stage", "blocks", "fused")
_PLAIN = "wavefront"
_SCANS = ("single-stage", "blocks", "fused")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(4, 3))
    costs = {gaps: [each.gap_open, each.gap_extend] for gaps, each in GAPS.items()}
    scoring = {"match": 5, "mismatch": -3, "gaps": costs}
    settings = pairs.settings_of(arguments, scoring, PAPER)
    print(f"score and end of one pair of DNA sequences, 5/-3, on {device.info.name}")
    pairs.print_methods(arguments.methods)
    results = Results("scan2014", device, settings, arguments)
    for gaps, scores in GAPS.items():
        print(f"\n{gaps} gaps, {scores.gap_open} and {scores.gap_extend}: milliseconds")
        _print_line("length", [*arguments.methods, "core", "SIMD"])
        for length in arguments.lengths:
            batch = workloads.unrelated_pair(length)
            found = pairs.race(arguments.methods, scores, batch, device, arguments.budget)
            results.keep({"gaps": gaps, "length": length, **found})
            timed = [*found["engines"].values(), *found["cpu"].values()]
            _print_line(str(length), [_milliseconds(each) for each in timed])
        _print_figure(gaps, [result for result in results if result["gaps"] == gaps])
    _print_answer(results)
    print(
        "core: parasail on one core, plain (a cell at a time, as in the paper), SIMD: with SIMD\n"
        f"~: estimated from a part; what would take more than {arguments.budget:g} s is not run"
    )
    return tell_wrong(pairs.checks(results))


def _print_figure(gaps: str, results: list[dict[str, Any]]) -> None:
    low, high = PAPER[gaps]
    print(f"times as fast as one core (figure {FIGURES[gaps]}: the scan {low:g} to {high:g} times)")
    _print_line("length", list(results[0]["engines"]))
    for result in results:
        core = result["cpu"].get("plain")
        ratios = [pairs.faster(each, core) for each in result["engines"].values()]
        _print_line(str(result["length"]), ratios)


def _print_answer(results: list[dict[str, Any]]) -> None:
    scans = [name for name in _SCANS if name in results[0]["engines"]]
    if _PLAIN not in results[0]["engines"] or not scans:
        return
    print("\nDoes the scan beat plain anti-diagonals over global memory here?")
    _print_line("length", scans)
    for result in results:
        engines = result["engines"]
        ratios = [pairs.faster(engines[name], engines[_PLAIN]) for name in scans]
        _print_line(f"{result['length']}, {result['gaps']}", ratios)
    for name in scans:
        runs = [
            (each["engines"][name]["wall"], each["engines"][_PLAIN]["wall"]) for each in results
        ]
        won = [scan["median"] < plain["median"] for scan, plain in runs if scan and plain]
        word = "not run" if not won else "yes" if all(won) else "sometimes" if any(won) else "no"
        print(f"  {name}: {word}, in {sum(won)} of the {len(won)} pairs that both were run with")


def _print_line(first: str, cells: Sequence[str]) -> None:
    print(f"{first:>15}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


def _milliseconds(result: dict[str, Any]) -> str:
    seconds, mark = pairs.seconds_of(result)
    return "WRONG" if seconds is None else f"{mark}{seconds * 1e3:.4g}"


def _parser() -> argparse.ArgumentParser:
    return pairs.parser("scan2014", __doc__, 2, LENGTHS, METHODS)


if __name__ == "__main__":
    sys.exit(main())
