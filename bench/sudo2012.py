"""Sudo et al. 2012, figures 12 and 13: three sequences, with and without sub-tables, two devices.

    python -m bench.sudo2012 --output bench/results/sudo2012-llvmpipe.json

The paper's versions side by side by length: GPUI (engine `subtable` with sub-tables of 4 x 4 x 4),
GPUN (engine `plane`) and CPU (C code on one core), beside our form of the sub-tables, with the
whole table copied back as the paper times it, and score and end alone. Then larger tables, other
scorings, alignments and all triples of 24 channels; with ``--devices`` how much faster several
devices are. Exit status 1 if a result was wrong: it has no
time. (Sudo, Yoshimi, Miki, Hiroyasu: performance evaluation of three-dimensional Smith-Waterman
with multiple GPUs, 2012.)
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial, reduce
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bench import cpu3, options, pairs
from bench.measure import WARM_UP, Check, Measurement, measure, report, write
from bench.triples import (
    GPUI,
    Data,
    Judges,
    Task,
    Work,
    checksums,
    engine_on,
    kind_of,
    table_of,
)
from glsw.align3 import Aligner3
from glsw.batch import Batch
from glsw.device.device import Device, DeviceError, devices, open_device
from glsw.device.shader import ShaderError
from glsw.engines.spec import device_for
from glsw.engines.three import ENGINES3, Engine3, Reference3
from glsw.paths import Ends
from glsw.scoring.three import Scoring3

Keep: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]

LENGTHS = (8, 16, 128, 256, 512, 1024)
"""Section 7.1, and one more."""

VERSIONS = {"subtable": "ours", "gpui": "GPUI", "plane": "GPUN", "cpu": "CPU"}
"""What the paper calls them, and the best form of its sub-tables that we found."""

PAPER: dict[str, Any] = {
    "gpu": "GeForce GTX 460",
    "cpu": "Core i5-2400, 3.10 GHz, -O3",
    "gpui_gcups": {"highest": 0.172, "lowest": 0.004},
    "at_most": {"GPUI/CPU": 1.53, "GPUN/CPU": 1.01, "GPUI/GPUN": 1.50},
    "two_devices": 1.8,
    "derived": {"cpu_gcups": 0.172 / 1.53, "gpun_gcups": 0.172 / 1.50},
}
"""Section 7.2, table copied to the host; its figures themselves are lost.

Derived: that the highest ratios belong to the highest rate.
"""

TABLES = 512
"""Letters up to which whole tables are always made; longer ones if memory is large."""

BUSY = 0.5
"""Seconds that devices work at least, for the speed-up of several."""

ROUNDS = 3
"""How often one device and all of them are compared."""

PROBE = 192
"""Letters of each sequence from which it is estimated how long a run takes."""

PARTS = ("lengths", "aims", "devices")
SCORINGS = {
    "identity": "identity",
    "identity-affine": "identity, affine",
    "sum": "sum of pairs",
    "sum-affine": "sum of pairs, affine",
}
"""Of `Data.scorings`, by the words of the command line."""

TASKS: dict[Task, str] = {
    "table": "table on the host",
    "ends": "score and end",
    "paths": "alignment",
}
TIMED: tuple[Task, Task] = ("table", "ends")
"""By length: as in the paper, and what is needed."""

_FAILURES = (ValueError, DeviceError, ShaderError, MemoryError)
"""What an engine raises when it cannot do a run, which is then left out with the reason."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 2 if the input cannot be used."""
    arguments = _parser().parse_args(argv)
    try:
        return _run(arguments)
    except (OSError, ValueError, ImportError, DeviceError, ShaderError) as error:
        print(f"bench.sudo2012: {error}", file=sys.stderr)
        return 2


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
            name: _described(each)
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
    results: list[dict[str, Any]] = []

    def keep(result: dict[str, Any]) -> dict[str, Any]:
        results.append(result)
        if arguments.output:
            document = report("sudo2012", device, settings, results, commit=arguments.commit)
            write(arguments.output, document)
        return result

    where = "the CPU" if device is None else device.info.name
    print(f"three sequences on {where}; identity {_described(data.scorings['identity'])},")
    print(f"a letter a sample of {data.origin}, {arguments.letters} letters")
    keep({"part": "judge", "refused": judges.refused, "check": judges.check})
    if judges.refused:
        print(f"no column CPU: {judges.refused}")
    runner = Runner(device, judges, arguments)
    if "lengths" in arguments.parts:
        _lengths(runner, data, keep)
    if "aims" in arguments.parts:
        _aims(runner, data, keep)
    if "devices" in arguments.parts and len(arguments.devices) > 1:
        _devices(runner, data, keep)
    return _tell_wrong(results)


# runs


def _outcome(engine: Engine3, task: Task, triples: Batch) -> Any:
    """Do what is timed."""
    if task == "table":
        return table_of(engine, triples)
    return engine.paths(triples) if task == "paths" else engine.ends(triples)


def _judged(task: Task, outcome: Any) -> Any:
    """Return what `Work.check` judges."""
    return checksums(outcome) if task == "table" else outcome


def _not_run(cells: int, why: str, estimate: float | None = None) -> dict[str, Any]:
    return {
        **dict.fromkeys(("check", "wall", "device", "gcups", "memory")),
        "cells": cells,
        "left_out": why,
        "estimate": estimate,
    }


@dataclass(frozen=True)
class Runner:
    """Measures what is not too long; what is left out has the reason instead of times."""

    device: Device | None
    judges: Judges
    arguments: argparse.Namespace

    def engine(self, name: str, task: Task, work: Work) -> dict[str, Any]:
        """Measure an engine."""
        engine = engine_on(name, work.scoring, self.device)
        run = partial(_outcome, engine, task)
        on = self.device if kind_of(name).capabilities.requires else None
        result = self._measured(name, run, task, work, on)
        return result | {"memory": None if result["left_out"] else engine.memory_used}

    def code(self, task: Task, work: Work, engines: Mapping[str, Any]) -> dict[str, Any]:
        """Measure the C code on one core; it is judged by the reference, or by the engines."""
        if self.judges.refused:
            return _not_run(work.triples.cells, self.judges.refused)
        room: list[npt.NDArray[np.int32]] = []

        def run(triples: Batch) -> Any:
            if task != "table":
                cells = cpu3.best(work.scoring, triples)
                return Ends(cells[:, 0], cells[:, 1:])
            if not room or room[0].size < (triples.lengths[0] + 1).prod():
                room[:] = [np.empty(triples.lengths[0] + 1, np.int32)]
            return cpu3.table(work.scoring, triples, out=room[0])

        result = self._measured("cpu", run, task, work, None)
        # It was compared with itself; so were they that gave the same, and all on small triples.
        passed = [name for name, each in engines.items() if each["wall"]]
        if result["check"]:
            result["check"]["judge"] = ", ".join([*passed, f"{Reference3.name} (small triples)"])
        return result

    def _measured(
        self,
        name: str,
        run: Callable[[Batch], Any],
        task: Task,
        work: Work,
        device: Device | None,
    ) -> dict[str, Any]:
        cells = work.triples.cells
        try:
            why, seconds = self.too_long(run, work.triples)
            if why:
                return _not_run(cells, why, seconds)
            timed = measure(
                lambda: run(work.triples),
                lambda found: work.check(name, task, _judged(task, found)),
                cells=cells,
                device=device,
                budget=self.arguments.budget,
            )
        except _FAILURES as error:
            return _not_run(cells, _reason(error))
        return {**timed.as_dict(), "left_out": None, "estimate": seconds, "memory": None}

    def too_long(
        self, run: Callable[[Batch], Any], triples: Batch
    ) -> tuple[str | None, float | None]:
        """Return why a run is left out, and about how many seconds it takes; None if it is short.

        That is told from a part, which cannot keep a fast device busy: such a one is thought to be
        slower than it is.
        """
        most = PROBE**3
        if triples.cells <= 2 * most:
            return None, None
        if len(triples) > 1:
            part = triples.select(slice(0, max(1, len(triples) * most // triples.cells)))
        else:
            part = Batch.of([[word[:PROBE] for word in triples[0]]])
        run(part)  # compiles
        start = time.perf_counter()
        run(part)
        seconds = (time.perf_counter() - start) * triples.cells / part.cells
        limit = self.arguments.longest
        return (f"about {seconds:.0f} s" if seconds > limit else None), seconds


def _reason(error: Exception) -> str:
    return str(error) or "not enough memory"


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
            why = _too_large(length) if task == "table" else None
            for name in names:
                if why:
                    engines[name] = _not_run(work.triples.cells, why)
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


def _too_large(length: int, at_once: int = 1) -> str | None:
    """Return why tables are left out: several times as much does not fit the memory of the host."""
    needed, there = 6 * at_once * 4 * length**3, _memory()
    if length <= TABLES or (there is not None and there >= needed):
        return None
    room = "how much is there is not known" if there is None else f"{there >> 30} GiB are free"
    return f"the table needs {-(-needed >> 30)} GiB of memory, {room}"


def _memory() -> int | None:
    """Return the bytes of memory that are free, None where that is not told."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return None


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
        print(f"\n{scheme}: {_described(scoring)}; engine {name}")
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
        print(f"{label:>36}  {_missing(result)}", flush=True)
        return
    clock = result["device"]
    times = f"{_text(result['wall']['median'] * 1e3):>11}"
    times += f"{_text(clock['median'] * 1e3) if clock else '-':>11}"
    memory = f"{result['memory'] / 2**20:.1f}" if result["memory"] else "-"
    words = {"gcups": "{:g} GCUPS", "seconds": "{:g} s"}
    aim = ", ".join(words[key].format(value) for key, value in result["aim"].items())
    aim += {True: ": reached", False: ": not reached", None: ""}[reached(result)]
    line = f"{label:>36}{times}{_text(result['gcups']):>9}{memory:>9}  {aim}"
    print(line.rstrip(), flush=True)


# figure 13


def _devices(runner: Runner, data: Data, keep: Keep) -> None:
    """Measure several devices: each with the same triple as in the paper, and a shared batch."""
    arguments = runner.arguments
    print(f"\ndevices {','.join(map(str, arguments.devices))}, the same triple on each; the paper,")
    print(f"{VERSIONS['plane']} with its table: {PAPER['two_devices']} times as fast with two")
    _print_speed_up("", ("first", "all", "times"))
    spawn = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        pools = [
            stack.enter_context(ProcessPoolExecutor(1, mp_context=spawn)) for _ in arguments.devices
        ]
        for length, task in product(arguments.lengths, TIMED):
            work = Work.single(data, runner.judges, "identity", [length] * 3)
            why = _too_large(length, len(pools)) if task == "table" else None
            for name in arguments.engines:
                result = {"part": "devices", "work": "same", "task": task, "engine": name}
                result |= {"devices": arguments.devices, **work.facts}
                if why:
                    result |= _not_run(work.triples.cells, why)
                else:
                    result |= _same(runner, pools, work, task, name)
                keep(result)
                _print_device(f"{length}, {TASKS[task]}, {name}", result)
    work = Work.every(data, runner.judges, "identity", arguments.word)
    name = arguments.engines[0]
    result = {"part": "devices", "work": "shared", "task": "scores", "engine": name}
    result |= {"devices": arguments.devices, **work.facts} | _shared(runner, work, name)
    keep(result)
    print("\nall triples of the channels, several times over, shared out")
    _print_device(f"{result.get('copies', 1)} x {len(work.triples)}, {name}", result)


def _same(
    runner: Runner, pools: Sequence[ProcessPoolExecutor], work: Work, task: Task, name: str
) -> dict[str, Any]:
    """Measure the first device, and all at once with the same triple each.

    All begin at one moment; their time is that to the end of the last one.
    """
    cells = work.triples.cells
    try:
        engine = engine_on(name, work.scoring, runner.device)
        why, _ = runner.too_long(partial(_outcome, engine, task), work.triples)
        if why:
            return _not_run(cells, why)
        asked = [
            pool.submit(_prepare, number, name, work.scoring, task, work.triples)
            for pool, number in zip(pools, runner.arguments.devices, strict=True)
        ]
        ready = [each.result() for each in asked]
        check = reduce(pairs.both, (work.check(name, task, outcome) for outcome, _ in ready))
        if not check.passed:
            return _speed_up(cells, check, [])
        count = math.ceil(BUSY / max(seconds for _, seconds in ready))
        rates = []
        for _ in range(ROUNDS):
            one, every = (_seconds(some, count) for some in (pools[:1], pools))
            rates.append((count * cells / one, count * cells * len(pools) / every))
        outcomes = [pool.submit(_last).result() for pool in pools]
        check = reduce(pairs.both, (work.check(name, task, outcome) for outcome in outcomes))
    except (*_FAILURES, BrokenExecutor) as error:
        return _not_run(cells, _reason(error))
    return _speed_up(cells, check, rates) | {"copies": count}


def _speed_up(cells: int, check: Check, rates: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return cells a second with the first device and with all of them, and their ratio."""
    found: dict[str, Any] = {"cells": cells, "left_out": None, "check": asdict(check)}
    found |= dict.fromkeys(("one_gcups", "all_gcups", "speed_up"))
    if check.passed:
        one, every = np.median(rates, axis=0).tolist()
        ratio = float(np.median([all_ / first for first, all_ in rates]))
        found |= {"one_gcups": one / 1e9, "all_gcups": every / 1e9, "speed_up": ratio}
    return found


def _seconds(pools: Sequence[ProcessPoolExecutor], count: int) -> float:
    """Return the time from the common start to the end of the last process."""
    start = time.time() + 0.1
    ran = [pool.submit(_repeat, count, start) for pool in pools]
    return max(each.result() for each in ran) - start


def _shared(runner: Runner, work: Work, name: str) -> dict[str, Any]:
    """Measure a batch on the first device, and shared out among all of them."""
    triples, numbers = work.triples, runner.arguments.devices
    measured: list[Measurement] = []
    try:
        for chosen in (numbers[:1], numbers):
            with Aligner3(work.scoring, engine=name, device=chosen) as aligner:
                if not measured:
                    why, _ = runner.too_long(aligner.scores, triples)
                    if why:
                        return _not_run(triples.cells, why)
                    aligner.scores(triples)
                    start = time.perf_counter()
                    aligner.scores(triples)
                    copies = math.ceil(BUSY / (time.perf_counter() - start))
                    many = Batch(triples.sequences, np.tile(triples.index, (copies, 1)))
                measured.append(
                    measure(
                        partial(aligner.scores, many),
                        partial(work.check_scores, name),
                        cells=many.cells,
                        budget=2 * runner.arguments.budget,
                        warm_up=WARM_UP,
                    )
                )
    except _FAILURES as error:
        return _not_run(triples.cells, _reason(error))
    check = pairs.both(*(each.check for each in measured))
    one, every = ((each.gcups or 0) * 1e9 for each in measured)
    return _speed_up(many.cells, check, [(one, every)]) | {"copies": copies}


class _Ready(NamedTuple):
    """What a process of a device does."""

    engine: Engine3
    task: Task
    triples: Batch


_ready: _Ready
_found: Any


def _prepare(
    number: int, name: str, scoring: Scoring3, task: Task, triples: Batch
) -> tuple[Any, float]:
    """Make the engine of a process; return what it finds and the seconds it needs, warmed up."""
    global _ready, _found
    device = open_device(number, quiet=True) if kind_of(name).capabilities.requires else None
    _ready = _Ready(engine_on(name, scoring, device), task, triples)
    _found = _outcome(*_ready)
    warm_up = 0.0 if device is None or device.info.software else WARM_UP
    begin = time.perf_counter()
    while True:
        start = time.perf_counter()
        _found = _outcome(*_ready)
        end = time.perf_counter()
        if end - begin >= warm_up:
            return _last(), end - start


def _repeat(count: int, start: float) -> float:
    """Do so many runs from a moment on; return when they are done."""
    global _found
    time.sleep(max(0.0, start - time.time()))
    for _ in range(count):
        _found = _outcome(*_ready)
    return time.time()


def _last() -> Any:
    """Return what the last run found, as `Work.check` judges it."""
    return _judged(_ready.task, _found)


def _print_device(label: str, result: Mapping[str, Any]) -> None:
    rates = [result.get(key) for key in ("one_gcups", "all_gcups", "speed_up")]
    if rates[0] is None:
        print(f"{label:>40}  {_missing(result)}", flush=True)
    else:
        _print_speed_up(label, [_text(rate) for rate in rates])


def _print_speed_up(label: str, texts: Sequence[str]) -> None:
    print(f"{label:>40}" + "".join(f"{text:>9}" for text in texts), flush=True)


# tables


def _described(scoring: Scoring3) -> str:
    pairs = scoring.pairs
    kinds = pairs.match_and_mismatch
    identity = scoring.scheme == "identity"
    scores = "/".join(map(str, kinds[:2])) if identity and kinds else pairs.name
    return f"{scores}, gaps {pairs.gap_open} and {pairs.gap_extend}"


def _text(number: float | None) -> str:
    """Return a number with three digits, or as an integer if it has more.

    >>> _text(0.000123), _text(0.5), _text(1234.5), _text(None)
    ('0.00012', '0.5', '1234', '-')
    """
    if number is None:
        return "-"
    if number < 0.001:
        return f"{number:.5f}"
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def _missing(result: Mapping[str, Any]) -> str:
    return f"-: {result['left_out']}" if result["left_out"] else "WRONG"


def _cell(result: Mapping[str, Any]) -> str:
    if result["wall"]:
        return f"{_text(result['wall']['median'] * 1e3):>12}{_text(result['gcups']):>9}"
    return f"{'-' if result['left_out'] else 'WRONG':>12}{'':>9}"


def _tell_wrong(results: Sequence[Mapping[str, Any]]) -> int:
    """Say on stderr what was wrong; return the exit status."""
    status = 0
    for what, check in _checks(results):
        if check["wrong"] or not check["pairs"]:
            status = 1
            print(
                f"WRONG: {what}: {check['wrong']} of {check['pairs']} differ from "
                f"{check['judge']}; {check['first']}",
                file=sys.stderr,
            )
    return status


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


# the command line


def _check_devices(numbers: Sequence[int]) -> None:
    known = {info.index for info in devices()} if numbers else set()
    for number in numbers:
        if number not in known:
            raise ValueError(f"device {number}: there are {', '.join(map(str, sorted(known)))}")


def _parser() -> argparse.ArgumentParser:
    parser = options.parser(
        "sudo2012",
        (__doc__ or "").splitlines()[0],
        3,
        "for each measurement (default 3); everything is run twice at least",
    )
    parser.add_argument(
        "--devices",
        type=options.indices,
        default=[],
        metavar="N,N,...",
        help="compare the first of these with all of them",
    )
    parser.add_argument(
        "--lengths",
        type=options.counts,
        default=list(LENGTHS),
        metavar="N,N,...",
        help=f"of all three words (default {','.join(map(str, LENGTHS))})",
    )
    parser.add_argument(
        "--engines",
        type=options.choices([*ENGINES3, GPUI]),
        default=["subtable", "gpui", "plane"],
        metavar="NAME,...",
        help="the first one also beyond the paper (default subtable,gpui,plane)",
    )
    parser.add_argument(
        "--parts",
        type=options.choices(PARTS),
        default=list(PARTS),
        metavar="NAME,...",
        help=f"of {', '.join(PARTS)} (default all): the paper's lengths, larger tables and other "
        "scorings, several devices (with --devices)",
    )
    parser.add_argument(
        "--scorings",
        type=_scorings,
        default=[*SCORINGS.values()],
        metavar="NAME,...",
        help=f"beyond the paper, of {', '.join(SCORINGS)} (default all)",
    )
    parser.add_argument("--recording", metavar="FILE", help="of fNIRS, instead of a generated one")
    parser.add_argument(
        "--letters", type=options.count, default=8, metavar="N", help="of SAX (default 8)"
    )
    parser.add_argument(
        "--size",
        type=options.count,
        default=512,
        metavar="N",
        help="beyond the paper: N^3, (2N)^3 and 8N x N x N (default 512)",
    )
    parser.add_argument(
        "--word",
        type=options.count,
        default=128,
        metavar="N",
        help="letters of a channel, of which all triples are aligned (default 128)",
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
