"""What a device can do at most: operations, bytes, cells per second; the cost of commands.

    python -m bench.micro --output bench/results/micro-llvmpipe.json

From these numbers `bench.roofline` says what limits an engine. What every loop finds is compared
with NumPy's before it is timed. Exit status 1 if something was wrong: it has no value.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from bench import options
from bench.document import Results
from bench.measure import Check, tell_wrong
from bench.micro_loops import HARDWARE, JUDGE, SOFTWARE
from bench.micro_rates import NAMES, Rate, Runner, rates
from glsw.device.device import DeviceError, open_device
from glsw.device.shader import ShaderError

_LEAST = 0.3  # seconds for each on hardware, whatever the budget


def result_of(rate: Rate, runner: Runner, budget: float) -> dict[str, Any]:
    """Measure one rate within these seconds, if possible."""
    found: dict[str, Any] = {
        "name": rate.name,
        "unit": rate.unit,
        "value": None,
        "spread": None,
        "repeats": 0,
        "check": asdict(Check(JUDGE, 0, 0)),
        "left_out": rate.missing or None,
        "what": rate.what,
        "form": None,
    }
    if rate.missing:
        return found
    try:
        timed = rate.run(runner, budget)
    except (DeviceError, ShaderError) as error:
        return found | {"left_out": str(error).splitlines()[0]}
    measured = timed.measured
    found["check"] = asdict(measured.check)
    found["form"] = timed.form or None
    clock = measured.wall if timed.wall else measured.device or measured.wall
    if clock:
        value = clock.median / timed.work if rate.unit == "s" else timed.work / clock.median
        found |= {"value": value, "spread": clock.spread, "repeats": clock.repeats}
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device)
    size = SOFTWARE if device.info.software else HARDWARE
    if arguments.memory:
        size = replace(
            size, memory=arguments.memory << 20, copied=min(size.copied, arguments.memory << 20)
        )
    every = list(rates(device.info, size))
    chosen = [rate for rate in every if rate.name in arguments.names]
    settings = {
        "names": [rate.name for rate in chosen],
        "budget": arguments.budget,
        "size": asdict(size),
    }
    print(f"what {device.info.name} can do\n\n{'':<24}{'a second, or seconds':>22}{'spread':>8}")
    runner, results = Runner(device, size), Results("micro", device, settings, arguments)
    end = time.perf_counter() + arguments.budget
    for number, rate in enumerate(chosen):
        rest = sum(not each.missing for each in chosen[number:])
        least = 0.0 if device.info.software else _LEAST
        share = max(least, (end - time.perf_counter()) / max(1, rest))
        print(_line(results.keep(result_of(rate, runner, share))), flush=True)
    runner.close()
    ran = (each for each in results if not each["left_out"])
    return tell_wrong((each["name"], each["check"]) for each in ran)


def _line(result: Mapping[str, Any]) -> str:
    name = f"{result['name']:<24}"
    if result["left_out"]:
        return f"{name}{'-':>22}{'':>8}  {result['left_out']}"
    if result["value"] is None:
        return f"{name}{'WRONG':>22}"
    spread = "-" if result["spread"] is None else f"{result['spread'] * 100:.1f}%"
    what = result["what"] + (f" ({result['form']})" if result["form"] else "")
    return f"{name}{_shown(result['value'], result['unit']):>22}{spread:>8}  {what}"


def _shown(value: float, unit: str) -> str:
    """Return a number with a prefix.

    >>> _shown(1.5e12, "op/s"), _shown(2.5e-6, "s"), _shown(12.0, "byte/s")
    ('1.5 Top/s', '2.5 us', '12 byte/s')
    """
    if unit == "s":
        return f"{value * 1e6:.3g} us"
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def _parser() -> argparse.ArgumentParser:
    text = "in all (default 20); everything is run twice at least"
    parser = options.parser("micro", __doc__, 20, text)
    parser.add_choices("--names", NAMES)
    parser.add_argument(
        "--memory",
        type=options.count,
        metavar="MIB",
        help="of each storage buffer at most (default 512, on software 64)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
