"""Sudo et al. 2012, figures 12 and 13: three sequences, with and without sub-tables, two devices.

    python -m bench.sudo2012 --output bench/results/sudo2012-llvmpipe.json

The paper's versions side by side by length: GPUI (engine `subtable` with sub-tables of 4 x 4 x 4),
GPUN (engine `plane`) and CPU (C code on one core), our own form of the sub-tables, with the
whole table copied back as the paper times it, and score and end alone. Then larger tables, other
scorings, alignments and all triples of 24 channels; with ``--devices`` how much faster several
devices are. Exit status 1 if a result was wrong: it has no
time. (Sudo, Yoshimi, Miki, Hiroyasu: performance evaluation of three-dimensional Smith-Waterman
with multiple GPUs, 2012.)
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bench import cpu3, options
from bench.document import Results
from bench.measure import tell_wrong
from bench.sudo2012_devices import measure_devices
from bench.sudo2012_runs import (
    PAPER,
    TASKS,
    TIMED,
    VERSIONS,
    Keep,
    Runner,
    described,
    missing,
    not_run,
    number_text,
    too_large,
)
from bench.triples import GPUI, Data, Judges, Task, Work, kind_of
from glsw.device.device import devices
from glsw.engines.spec import device_for
from glsw.engines.three import ENGINES3
from glsw.scoring.three import Scoring3

LENGTHS = (8, 16, 128, 256, 512, 1024)
"""Section 7.1, and one more."""

PARTS = ("lengths", "aims", "devices")
SCORINGS = {
    "identity": "identity",
    "identity-affine": "identity, affine",
    "sum": "sum of pairs",
    "sum-affine": "sum of pairs, affine",
}
"""Of `Data.scorings`, by the words of the command line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    _check_devices(arguments.devices)
    kinds = [kind_of(name) for name in arguments.engines]
    device = device_for(*kinds, device=arguments.device)
    data = Data.of(arguments.recording, arguments.letters)
    judges = Judges.of(device, data, arguments.judge)
    settings = {
        "engines": arguments.engines,
        "versions": VERSIONS,
        "scorings": {
            name: described(each)
            for name, each in data.scorings.items()
            if name in ("identity", *arguments.scorings)
        },
        "lengths": arguments.lengths,
        "size": arguments.size,
        "word": arguments.word,
        "recording": {
            "origin": data.origin,
            "channels": len(data.values),
            "samples": data.values.shape[1],
            "letters": arguments.letters,
        },
        "compiler": None if judges.refused else [" ".join(cpu3.COMPILER), cpu3.compiler()],
        "parts": arguments.parts,
        "devices": arguments.devices,
        "budget": arguments.budget,
        "longest": arguments.longest,
        "judge": arguments.judge,
        "paper": PAPER,
    }
    results = Results("sudo2012", device, settings, arguments)

    where = "the CPU" if device is None else device.info.name
    print(f"three sequences on {where}; identity {described(data.scorings['identity'])},")
    print(f"a letter a sample of {data.origin}, {arguments.letters} letters")
    results.keep({"part": "judge", "refused": judges.refused, "check": judges.check})
    if judges.refused:
        print(f"no column CPU: {judges.refused}")
    runner = Runner(device, judges, arguments)
    if "lengths" in arguments.parts:
        _lengths(runner, data, results.keep)
    if "aims" in arguments.parts:
        _aims(runner, data, results.keep)
    if "devices" in arguments.parts and len(arguments.devices) > 1:
        measure_devices(runner, data, results.keep)
    return tell_wrong(_checks(results))


# figure 12


def _lengths(runner: Runner, data: Data, keep: Keep) -> None:
    """Measure the paper's versions by length."""
    names = [*runner.arguments.engines, "cpu"]
    works = [
        Work.single(data, runner.judges, "identity", [length] * 3)
        for length in runner.arguments.lengths
    ]
    for task in TIMED:
        print(f"\n{TASKS[task]}, identity: milliseconds and GCUPS")
        heads = [VERSIONS.get(name, name) for name in names]
        print(f"{'length':>8}" + "".join(f"{head:>12}{'GCUPS':>9}" for head in heads), flush=True)
        rows = []
        for length, work in zip(runner.arguments.lengths, works, strict=True):
            engines: dict[str, Any] = {}
            why = too_large(length) if task == "table" else None
            for name in names:
                if why:
                    engines[name] = not_run(work.triples.cells, why)
                elif name == "cpu":
                    engines[name] = runner.code(task, work, engines)
                else:
                    engines[name] = runner.engine(name, task, work)
            rows.append(keep({"part": "lengths", "task": task, **work.facts, "engines": engines}))
            line = f"{length:>8}" + "".join(map(_cell, engines.values()))
            print(line.rstrip(), flush=True)
            for why in dict.fromkeys(each["left_out"] for each in engines.values()):
                if why and why != runner.judges.refused:
                    print(f"{'':>8}  -: {why}")
        _print_ratios(rows)
    _print_paper()


def _ratios(engines: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return how many times as fast one version is as another, by the paper's names."""
    rates = {VERSIONS.get(name, name): each["gcups"] for name, each in engines.items()}
    return {
        f"{one}/{other}": rates[one] / rates[other]
        for one, other in (("GPUI", "CPU"), ("GPUN", "CPU"), ("GPUI", "GPUN"), ("ours", "GPUI"))
        if rates.get(one) and rates.get(other)
    }


def _print_ratios(rows: Sequence[Mapping[str, Any]]) -> None:
    for name in (*PAPER["at_most"], "ours/GPUI"):
        found = {
            row["lengths"][0]: ratio[name]
            for row in rows
            if name in (ratio := _ratios(row["engines"]))
        }
        if found:
            texts = ", ".join(f"{ratio:.3g} ({length})" for length, ratio in found.items())
            print(f"  {name}: {texts}")


def _print_paper() -> None:
    rates, most, derived = PAPER["gpui_gcups"], PAPER["at_most"], PAPER["derived"]
    print(f"\nthe paper, table on the host, {PAPER['gpu']} and {PAPER['cpu']}, lengths 8 to 512:")
    print(f"  GPUI {rates['lowest']} to {rates['highest']} GCUPS; at most", end=" ")
    print(", ".join(f"{name} {ratio:.2f}" for name, ratio in most.items()))
    print(
        f"  derived, if that is at the highest rate: CPU {derived['cpu_gcups']:.3f}, "
        f"GPUN {derived['gpun_gcups']:.3f} GCUPS, {512**3 / rates['highest'] / 1e9:.2f} s for 512^3"
    )


# aims


class SpeedTarget(NamedTuple):
    """What is measured beyond the paper, and how fast it is meant to be."""

    label: str
    task: Task
    lengths: tuple[int, int, int]
    every: bool = False
    """All triples of the channels."""

    def target(self, scoring: Scoring3, software: bool) -> dict[str, float]:
        """Return what is aimed at: GCUPS at least, or seconds at most; empty where nothing is."""
        share = 1.0 if scoring.scheme == "identity" else 0.5
        n = self.lengths[0]
        if self.every and n == 128:
            if software:
                return {"seconds": 60.0}
            return {"gcups": 200 * share, "seconds": 2.0}
        if self.every or n not in (512, 1024) or self.lengths != (n, n, n):
            return {}
        if software:
            return {"gcups": 0.5} if self.task == "ends" and share == 1.0 else {}
        if self.task == "paths":
            return {"seconds": 0.05}
        return {"gcups": (100 if n == 512 else 200) * share}


def _aims(runner: Runner, data: Data, keep: Keep) -> None:
    """Measure large tables, alignments and batches with each scoring."""
    n, word = runner.arguments.size, runner.arguments.word
    channels = len(data.values)
    aims = [
        SpeedTarget(f"{n} x {n} x {n}", "ends", (n, n, n)),
        SpeedTarget(f"{n} x {n} x {n}", "paths", (n, n, n)),
        SpeedTarget(f"{2 * n} x {2 * n} x {2 * n}", "ends", (2 * n, 2 * n, 2 * n)),
        SpeedTarget(f"{8 * n} x {n} x {n}", "ends", (8 * n, n, n)),
        SpeedTarget(f"{8 * n} x {n} x {n}", "paths", (8 * n, n, n)),
        SpeedTarget(
            f"{channels * (channels - 1) * (channels - 2) // 6} x {word}^3",
            *("ends", (word, word, word), True),
        ),
    ]
    name = runner.arguments.engines[0]
    software = runner.device is None or runner.device.info.software
    for scheme in runner.arguments.scorings:
        scoring = data.scorings[scheme]
        print(f"\n{scheme}: {described(scoring)}; engine {name}")
        heads = f"{'wall ms':>11}{'device ms':>11}{'GCUPS':>9}{'MiB':>9}"
        print(f"{'':>36}{heads}  aim", flush=True)
        works: dict[tuple[int, int, int], Work] = {}
        for aim in aims:
            if aim.every:
                work = Work.every(data, runner.judges, scheme, word)
            elif aim.lengths in works:
                work = works[aim.lengths]
            else:
                work = Work.single(data, runner.judges, scheme, aim.lengths)
                works[aim.lengths] = work
            result = {"part": "aims", "task": aim.task, "engine": name, **work.facts}
            result |= {"aim": aim.target(scoring, software)}
            result |= runner.engine(name, aim.task, work)
            keep(result)
            _print_aim(f"{aim.label}, {TASKS[aim.task]}", result)


def reached(result: Mapping[str, Any]) -> bool | None:
    """Tell whether a result is what is aimed at; None if nothing is, or it was not measured.

    >>> result = {"aim": {"gcups": 100, "seconds": 2}, "wall": {"median": 1.5}, "gcups": 90}
    >>> reached(result), reached(result | {"gcups": 100})
    (False, True)
    """
    aim, wall = result["aim"], result["wall"]
    if not aim or not wall:
        return None
    fast = result["gcups"] >= aim.get("gcups", 0)
    return bool(fast and wall["median"] <= aim.get("seconds", math.inf))


def _print_aim(label: str, result: Mapping[str, Any]) -> None:
    if not result["wall"]:
        print(f"{label:>36}  {missing(result)}", flush=True)
        return
    clock = result["device"]
    times = f"{number_text(result['wall']['median'] * 1e3):>11}"
    times += f"{number_text(clock['median'] * 1e3) if clock else '-':>11}"
    memory = f"{result['memory'] / 2**20:.1f}" if result["memory"] else "-"
    words = {"gcups": "{:g} GCUPS", "seconds": "{:g} s"}
    aim = ", ".join(words[key].format(value) for key, value in result["aim"].items())
    aim += {True: ": reached", False: ": not reached", None: ""}[reached(result)]
    line = f"{label:>36}{times}{number_text(result['gcups']):>9}{memory:>9}  {aim}"
    print(line.rstrip(), flush=True)


def _checks(results: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what was checked and how it went."""
    for result in results:
        if result["part"] == "judge":
            named = {cpu3.NAME: result}
        elif result["part"] == "lengths":
            named = result["engines"]
        else:
            named = {result["engine"]: result}
        for name, each in named.items():
            if each["check"]:
                words = [result.get("scoring"), result.get("task"), result.get("lengths"), name]
                yield ", ".join(str(word) for word in words if word), each["check"]


def _cell(result: Mapping[str, Any]) -> str:
    if result["wall"]:
        return f"{number_text(result['wall']['median'] * 1e3):>12}{number_text(result['gcups']):>9}"
    return f"{'-' if result['left_out'] else 'WRONG':>12}{'':>9}"


# the command line


def _check_devices(numbers: Sequence[int]) -> None:
    known = {info.index for info in devices()} if numbers else set()
    for number in numbers:
        if number not in known:
            raise ValueError(f"device {number}: there are {', '.join(map(str, sorted(known)))}")


def _parser() -> argparse.ArgumentParser:
    text = "for each measurement (default 3); everything is run twice at least"
    parser = options.parser("sudo2012", __doc__, 3, text)
    parser.add_devices("compare the first of these with all of them")
    parser.add_counts("--lengths", LENGTHS, "of all three words")
    engines = ["subtable", "gpui", "plane"]
    parser.add_choices(
        "--engines", [*ENGINES3, GPUI], engines, "; the first one also beyond the paper"
    )
    parser.add_choices(
        "--parts",
        PARTS,
        text=": the paper's lengths, larger tables and other scorings, several devices (with "
        "--devices)",
    )
    parser.add_argument(
        "--scorings",
        type=_scorings,
        default=[*SCORINGS.values()],
        metavar="NAME,...",
        help=f"beyond the paper, of {', '.join(SCORINGS)} (default all)",
    )
    parser.add_argument("--recording", metavar="FILE", help="of fNIRS, instead of a generated one")
    parser.add_count("--letters", "of SAX (default 8)", 8)
    parser.add_count("--size", "beyond the paper: N^3, (2N)^3 and 8N x N x N (default 512)", 512)
    parser.add_count(
        "--word", "letters of a channel, of which all triples are aligned (default 128)", 128
    )
    parser.add_argument(
        "--longest",
        type=float,
        default=60,
        metavar="SECONDS",
        help="what would take longer is left out (default 60)",
    )
    parser.add_argument(
        "--judge",
        type=float,
        default=30,
        metavar="SECONDS",
        help="that the C code may take to judge, otherwise another engine does (default 30)",
    )
    return parser


def _scorings(text: str) -> list[str]:
    """Read scorings.

    >>> _scorings("identity,sum-affine")
    ['identity', 'sum of pairs, affine']
    """
    return [SCORINGS[word] for word in options.choices(SCORINGS)(text)]


if __name__ == "__main__":
    sys.exit(main())
