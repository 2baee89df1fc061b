"""All engines on the same work, so that devices and engines compare, and other programs.

    python -m bench.engines --output bench/results/engines-llvmpipe.json

Four workloads: the scores of a protein with a database, scores and ends of many short pairs of DNA,
of one long pair, and of three sequences. Sizes are fixed (``--size``), so that the same size is
the same work on every device. The other programs get the same cells and the same scoring, or a
part of them, on one core and on all. Exit status 1 if a result was wrong: it has no time.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bench import options, workloads
from bench.document import Results
from bench.energy import EnergyMeter, meter_for
from bench.engines_three import Three
from bench.engines_work import (
    LENGTH,
    NAMES,
    PROBE,
    QUERY,
    Entry,
    Long,
    Pairs,
    Search,
    Workload,
)
from bench.measure import measure, second_run, tell_wrong
from glsw.batch import Batch
from glsw.device.device import Device, open_device
from glsw.engines import Auto

SIZES: Mapping[str, Mapping[str, int]] = {
    "tiny": {"search": 3, "pairs": 2, "long": 500, "three": 32},
    "small": {"search": 1000, "pairs": 100, "long": 4096, "three": 256},
    "large": {"search": 200_000, "pairs": 4096, "long": 32_768, "three": 512},
}
"""Proteins of the database, pairs, letters of each of two and of each of three sequences.

Tiny is for renderers with less than a million cells per second, small for llvmpipe and slow cards,
large for cards.
"""

WORDS = {
    "search": "proteins with Swiss-Prot's lengths, a query of 375",
    "pairs": "pairs of DNA of 512",
    "long": "letters of DNA, twice",
    "three": "letters of a generated recording, three times",
}
"""What `SIZES` counts."""

AGAIN = 0.25
"""Seconds of warm-up after the first engine, which keeps a card's clocks up."""

SLOW, FAST = 1e7, 5e9
"""Cells per second: below the first a device gets the tiny size, from the second on the large."""

ENERGY = 2.0
"""Seconds of runs whose energy is measured, at most."""

PATIENCE = 1.5
"""An engine is left out if a run takes this multiple of its share of the budget."""

SHORT = 0.6
"""Seconds up to which an engine is run in any case."""


LEAST = 1 / 4
"""Of an equal share of the budget, which everything has, whatever the others took."""

WORKLOADS: Mapping[str, Callable[[int, Device], Workload]] = {
    "search": Search,
    "pairs": Pairs,
    "long": Long,
    "three": Three,
}

# runs


@dataclass
class Clock:
    """Divides what is left of the budget among what is left to do."""

    end: float
    left: int

    def __post_init__(self) -> None:
        self.least = LEAST * self._equal()

    def _equal(self) -> float:
        return max(0.0, self.end - time.perf_counter()) / max(1, self.left)

    def share(self) -> float:
        """Return the seconds of the next one."""
        share = max(self.least, self._equal())
        self.left -= 1
        return share


@dataclass
class Runner:
    """Measures the engines and the other programs on workloads, and keeps the results."""

    device: Device
    engines: Sequence[str]
    meter: EnergyMeter | None
    results: Results
    warm: bool = field(default=False)

    def measured(self, work: Workload, end: float, energy: float) -> None:
        """Measure all on one workload until about ``end``."""
        entries = [each for each in work.entries() if each.asked(self.engines)]
        if not entries:
            print(f"\n{work.name}: none of these engines")
            return
        refused: str | None = None
        try:
            work.prepare()
        except options.CANNOT as error:
            refused = f"not judged: {_reason(error)}"
        print(f"\n{_described(work)}\n{HEADING}", flush=True)
        others = [] if refused else work.competitors()
        clock = Clock(end - (1.5 * energy if self.meter else 0), len(entries) + len(others))
        passed: list[tuple[float, Entry, dict[str, Any]]] = []
        self.warm = False
        for entry in entries:
            result = self._row(work, entry.label)
            why = refused or entry.refused(self.device)
            share = clock.share()
            result |= _not_run(work, why) if why else self._engine(work, entry, share)
            gc.collect()  # the next engine needs the buffers of this one
            if result["gcups"]:
                passed.append((result["gcups"], entry, result))
            self._done(result)
        first = passed[0][1] if passed else None
        metered = [
            each
            for each in passed
            if each[1].kind.capabilities.requires or self.device.info.software
        ]
        if metered and self.meter:
            _, entry, result = max(metered, key=lambda each: each[0])
            result["energy"] = self._energy(work, entry, energy)
            _print_energy(result)
        for other in others:
            result = self._row(work, other.label, other.cores)
            try:
                result |= other.measured(first, clock.share())
            except (*options.CANNOT, OSError, RuntimeError) as error:
                result |= _not_run(work, _reason(error))
            self._done(result)

    def _engine(self, work: Workload, entry: Entry, share: float) -> dict[str, Any]:
        """Measure an engine, or say why not."""
        on = self.device if entry.kind.capabilities.requires else None
        seconds = None
        try:
            engine = entry.made(work.scoring, self.device)
            if work.cells <= PROBE:
                work.run(engine)  # compiles
            else:
                longest = max(PATIENCE * share, SHORT)
                seconds = work.estimate(engine, longest)
                if seconds > longest:
                    return _not_run(work, f"about {seconds:.2g} s", seconds)
            timed = measure(
                partial(work.run, engine),
                partial(work.check, entry.label),
                cells=work.cells,
                device=on,
                budget=share,
                warm_up=AGAIN if self.warm and on and not on.info.software else None,
            )
        except options.CANNOT as error:
            return _not_run(work, _reason(error), seconds)
        self.warm |= on is not None
        memory, used = engine.memory_used or None, engine.label
        return {**timed.as_dict(), "memory": memory, "used": used, "estimate": seconds}

    def _energy(self, work: Workload, entry: Entry, seconds: float) -> dict[str, Any] | None:
        """Measure the energy of an engine whose result was right."""
        assert self.meter
        try:
            engine = entry.made(work.scoring, self.device)
            if not work.check(entry.label, work.run(engine)).passed:
                return None
            found = self.meter.measure(partial(work.run, engine), seconds)
        except options.CANNOT:
            return None
        return found.as_dict(work.cells) if found else None

    def _row(self, work: Workload, label: str, cores: int | None = None) -> dict[str, Any]:
        who = {"engine": label, "peer": cores is not None, "cores": cores, "refused": None}
        return {**work.facts, **who, "memory": None, "energy": None}

    def _done(self, result: dict[str, Any]) -> None:
        _print_row(result)
        self.results.keep(result)


def _not_run(work: Workload, why: str, estimate: float | None = None) -> dict[str, Any]:
    nothing = dict.fromkeys(("check", "wall", "device", "gcups"))
    return {**nothing, "cells": work.cells, "refused": why, "estimate": estimate}


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    start = time.perf_counter()
    device = open_device(arguments.device, require=(3, 3))
    size = size_for(device) if arguments.size == "auto" else arguments.size
    energy = not device.info.software if arguments.energy is None else arguments.energy
    meter = meter_for(device) if energy else None
    settings = {
        "size": size,
        "asked": arguments.size,
        "sizes": {name: SIZES[size][name] for name in arguments.workloads},
        "words": {name: WORDS[name] for name in arguments.workloads},
        "workloads": arguments.workloads,
        "engines": arguments.engines,
        "budget": arguments.budget,
        "energy": energy,
        "meter": meter and meter.tool,
    }
    print(f"all engines on {device.info.name}, size {size}")
    results = Results("engines", device, settings, arguments)

    results.save()
    runner = Runner(device, arguments.engines, meter, results)
    count = len(arguments.workloads)
    for k, name in enumerate(arguments.workloads, 1):
        end = start + arguments.budget * k / count
        runner.measured(
            WORKLOADS[name](SIZES[size][name], device),
            end,
            min(ENERGY, arguments.budget / count / 8),
        )
        results.save()
    print("\n~: by its rate on a part; device: by the device's own clock, with the gaps between")
    return tell_wrong((f"{each['workload']}, {_named(each)}", each["check"]) for each in results)


def size_for(device: Device) -> str:
    """Return the size for a device, from the rate of the engine `auto` with a few pairs."""
    software = device.info.software
    for count, length, least, size in ((16, 128, SLOW, "tiny"), (256, LENGTH, FAST, "small")):
        if size == "small" and software:
            return "small"
        batch = Batch.pairwise(*(workloads.dna([length] * count, seed) for seed in (1, 2)))
        engine = Auto(Pairs.scoring, device)
        if batch.cells / second_run(partial(engine.ends, batch)) < least:
            return size
    return "large"


# tables

HEADING = f"{'':<26}{'wall ms':>12}{'device ms':>12}{'GCUPS':>10}{'spread':>8}{'MiB':>9}"


def _described(work: Workload) -> str:
    what = {
        "search": f"{QUERY} x {work.count:,} proteins",
        "pairs": f"{work.count:,} pairs of {LENGTH} x {LENGTH}",
        "long": " x ".join(f"{length:,}" for length in work.lengths),
        "three": " x ".join(map(str, work.lengths)),
    }[work.name]
    asked = {"scores": "scores", "ends": "scores and ends"}[work.task]
    return f"{work.name}: {what}, {work.scoring_name}: {asked}, {work.cells:,} cells"


def _named(result: Mapping[str, Any]) -> str:
    if not result["peer"]:
        return str(result["engine"])
    count = result["cores"]
    return f"{result['engine']}, {count} core{'s' if count > 1 else ''}"


def _print_row(result: Mapping[str, Any]) -> None:
    name, wall = _named(result), result["wall"]
    if result["refused"]:
        print(f"{name:<26}  -: {result['refused']}", flush=True)
        return
    if wall is None:
        print(f"{name:<26}{'WRONG':>12}", flush=True)
        return
    seconds, mark = wall["median"], ""
    if result.get("scaled"):
        seconds, mark = result["seconds"], "~"
    clock, spread, memory = result["device"], wall["spread"], result["memory"]
    print(
        f"{name:<26}{mark + format(seconds * 1e3, '.4g'):>12}"
        + (f"{clock['median'] * 1e3:>12.4g}" if clock else f"{'-':>12}")
        + f"{result['gcups']:>10.3g}"
        + (f"{'-':>8}" if spread is None else f"{spread * 100:>7.1f}%")
        + (f"{memory / 2**20:>9.1f}" if memory else f"{'-':>9}"),
        flush=True,
    )


def _print_energy(result: Mapping[str, Any]) -> None:
    found = result["energy"]
    if found:
        idle = "" if found["idle_watts"] is None else f" ({found['idle_watts']:.0f} W before)"
        print(
            f"  {result['engine']}: {found['picojoules_per_cell']:.3g} pJ per cell, "
            f"{found['watts']:.0f} W{idle}, by {found['tool']}",
            flush=True,
        )


def _parser() -> argparse.ArgumentParser:
    parser = options.parser(
        "engines",
        __doc__,
        60,
        "about this long in all (default 60); what is run is run twice at least, what would take "
        "too long is left out",
    )
    parser.add_choices("--workloads", WORKLOADS)
    parser.add_choices("--engines", NAMES)
    parser.add_argument(
        "--size",
        choices=[*SIZES, "auto"],
        default="auto",
        help="of the work; auto: by what the device does with a few pairs (default)",
    )
    parser.add_argument(
        "--energy",
        action=argparse.BooleanOptionalAction,
        help="measure the energy of the fastest engine of each workload where a tool tells it "
        "(default: with hardware)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
