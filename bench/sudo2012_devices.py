"""Sudo et al. 2012, figure 13: several devices, each with the same triple, and a shared batch."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from bench import options
from bench.measure import WARM_UP, Check, Measurement, both, measure, second_run
from bench.sudo2012_runs import (
    PAPER,
    TASKS,
    TIMED,
    VERSIONS,
    Keep,
    Runner,
    checkable,
    missing,
    not_run,
    number_text,
    reason,
    run_task,
    too_large,
)
from bench.triples import Data, Task, Work, engine_on, kind_of
from glsw.align3 import Aligner3
from glsw.batch import Batch
from glsw.device.device import open_device
from glsw.engines.three import Engine3
from glsw.scoring.three import Scoring3

BUSY = 0.5
"""Seconds that devices work at least, for the speed-up of several."""

ROUNDS = 3
"""How often one device and all of them are compared."""


def measure_devices(runner: Runner, data: Data, keep: Keep) -> None:
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
            why = too_large(length, len(pools)) if task == "table" else None
            for name in arguments.engines:
                result = {"part": "devices", "work": "same", "task": task, "engine": name}
                result |= {"devices": arguments.devices, **work.facts}
                if why:
                    result |= not_run(work.triples.cells, why)
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
        why, _ = runner.too_long(partial(run_task, engine, task), work.triples)
        if why:
            return not_run(cells, why)
        asked = [
            pool.submit(_prepare, number, name, work.scoring, task, work.triples)
            for pool, number in zip(pools, runner.arguments.devices, strict=True)
        ]
        ready = [each.result() for each in asked]
        check = reduce(both, (work.check(name, task, outcome) for outcome, _ in ready))
        if not check.passed:
            return _speed_up(cells, check, [])
        count = math.ceil(BUSY / max(seconds for _, seconds in ready))
        rates = []
        for _ in range(ROUNDS):
            one, every = (_seconds(some, count) for some in (pools[:1], pools))
            rates.append((count * cells / one, count * cells * len(pools) / every))
        outcomes = [pool.submit(_last).result() for pool in pools]
        check = reduce(both, (work.check(name, task, outcome) for outcome in outcomes))
    except (*options.CANNOT, BrokenExecutor) as error:
        return not_run(cells, reason(error))
    return _speed_up(cells, check, rates) | {"copies": count}


def _speed_up(cells: int, check: Check, rates: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return cells per second with the first device and with all of them, and their ratio."""
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
                        return not_run(triples.cells, why)
                    seconds = second_run(partial(aligner.scores, triples))
                    copies = math.ceil(BUSY / seconds)
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
    except options.CANNOT as error:
        return not_run(triples.cells, reason(error))
    check = both(*(each.check for each in measured))
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
    _found = run_task(*_ready)
    warm_up = 0.0 if device is None or device.info.software else WARM_UP
    begin = time.perf_counter()
    while True:
        start = time.perf_counter()
        _found = run_task(*_ready)
        end = time.perf_counter()
        if end - begin >= warm_up:
            return _last(), end - start


def _repeat(count: int, start: float) -> float:
    """Do ``count`` runs from a moment on; return when they are done."""
    global _found
    time.sleep(max(0.0, start - time.time()))
    for _ in range(count):
        _found = run_task(*_ready)
    return time.time()


def _last() -> Any:
    """Return what the last run found, as `Work.check` judges it."""
    return checkable(_ready.task, _found)


def _print_device(label: str, result: Mapping[str, Any]) -> None:
    rates = [result.get(key) for key in ("one_gcups", "all_gcups", "speed_up")]
    if rates[0] is None:
        print(f"{label:>40}  {missing(result)}", flush=True)
    else:
        _print_speed_up(label, [number_text(rate) for rate in rates])


def _print_speed_up(label: str, texts: Sequence[str]) -> None:
    print(f"{label:>40}" + "".join(f"{text:>9}" for text in texts), flush=True)
