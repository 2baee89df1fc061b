"""Measures workloads on a device, row by row, within a time, in passes; goes on where it was."""

import gc
import math
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import FrameType
from typing import Any, TypeAlias

from bench import machine, table
from bench.machine import Sampler
from bench.measure import Measurement, measure
from bench.row import File, Key, digest, key, state, tidy
from bench.work.base import CANNOT, Case, Setup, Workload, require
from glsw.words import numbered

FIRST = 0.6  # share of the seconds that is for the first pass: it compiles, and makes the data
LEAST = 1 / 4  # of an equal share of the seconds, which every case has, whatever the others took
ENERGY = 2.0  # seconds of runs whose energy is measured, at most
PATIENCE, SHORT = 1.5, 0.6
"""A case is left out if a run takes this multiple of its share, and more than these seconds."""
OVERTIME, GRACE = 4.0, 20.0
"""A case is stopped after this multiple of its share and a grace in seconds; of full sizes four."""

UNABLE = (*CANNOT, OSError, RuntimeError, ImportError, subprocess.SubprocessError)
"""What our cases may raise; another program may fail as it likes."""
Todo: TypeAlias = tuple[Case, dict[str, Any]]  # a case, and the row that it will be


class LateError(BaseException):
    """A case takes too long; nothing catches it but the runner."""


class Programs(dict[Any, Any]):
    """The programs of a device; ``used`` are the files of their shaders, once they were asked."""

    def __init__(self, programs: dict[Any, Any]) -> None:
        super().__init__(programs)
        self.used: set[str] = set()

    def get(self, key: Any, default: Any = None) -> Any:
        self.used.update(key[: len(key) // 2])  # the other half are texts
        return super().get(key, default)


@dataclass
class Runner:
    """Measures cases and keeps their rows; ``common`` are fields that all rows have."""

    setup: Setup
    file: File
    common: dict[str, Any]
    meter: Sampler | None = None
    only: re.Pattern[str] | None = None  # of titles of rows, see `table.title`
    measured: int = 0
    _chosen: bool = False  # whether there was a case that is not left out by ``only``
    _warm_at: float = -math.inf
    _width: int = 0
    _own: set[Key] = field(default_factory=set)
    _used: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """Shaders by workload and program: an engine may be kept from case to case."""

    def __post_init__(self) -> None:
        self._programs = self.setup.device.programs = Programs(self.setup.device.programs)

    def run(self, workloads: Sequence[Workload], seconds: float, passes: int) -> None:
        """Go over all workloads so many times; each has its weight's share of the seconds."""
        begin = time.perf_counter()
        for number in range(1, passes + 1):
            end = begin + seconds * (1.0 if number == passes else FIRST)
            if number > 1 and time.perf_counter() >= end:
                say(f"pass {number} left out: the {seconds:.0f} s are over")
                break
            todo = [(work, cases) for work in workloads if (cases := self._todo(work, number))]
            if not self._chosen and self.only:
                names = ", ".join(work.name for work in workloads)
                raise ValueError(f"--only {self.only.pattern}: there is no such row in {names}")
            if todo:
                count, left = sum(len(cases) for _, cases in todo), end - time.perf_counter()
                measurements = numbered(count, "measurement")
                say(f"pass {number} of {passes}: {measurements} in {left:.0f} s")
            weights = sum(work.weight or 1.0 for work, _ in todo)
            for work, cases in todo:
                part = max(0.0, end - time.perf_counter()) * (work.weight or 1.0) / weights
                weights -= work.weight or 1.0
                self._workload(work, cases, time.perf_counter() + part, number)
                gc.collect()

    def _todo(self, work: Workload, number: int) -> list[Todo]:
        found = []
        for case in work.cases():
            row = {"workload": work.name, **case.fields(), **self.common}
            if self.only and not self.only.search(table.title(row)):
                continue
            self._chosen = True
            old = self.file.rows.get(name := key(tidy(row)), {})
            same = old.get("commit") == self.common["commit"] and not self.common["dirty"]
            known = name in self._own or (same and not old.get("dirty"))
            done = old.get("passes", 0) >= number or (number > 1 and state(old) != "timed")
            if not (old and known and done):
                found.append((case, row))
        return found

    def _workload(self, work: Workload, cases: Sequence[Todo], end: float, number: int) -> None:
        """Divide the seconds among the cases; measure the energy of the fastest."""
        metered = self.meter if number == 1 and any(case.metered for case, _ in cases) else None
        seconds = min(ENERGY, (end - time.perf_counter()) / 8)
        end -= seconds if metered else 0
        least = LEAST * max(0.0, end - time.perf_counter()) / len(cases)
        count = max(case.count or 0 for case, _ in cases)
        self._width = table.width_of(row for _, row in cases)
        print(f"\n{work.name}: {work.text.format(*(cases[0][0].sizes or (0,)), count=count)}")
        print(table.heading(self._width), flush=True)
        rated: dict[float, Todo] = {}
        for k, (case, fields) in enumerate(cases):
            equal = max(0.0, end - time.perf_counter()) / (len(cases) - k)
            row = self._case(work, case, fields, max(least, equal, 0.02), number)
            if case.metered and row.get("rate") and row.get("unit") == "cell/s":
                rated[row["rate"]] = case, row
        if metered and rated:
            self._energy(*rated[max(rated)], seconds, metered)

    def _case(
        self, work: Workload, case: Case, row: dict[str, Any], share: float, number: int
    ) -> dict[str, Any]:
        name = key(tidy(row))
        limit = OVERTIME * share + case.grace + GRACE * (4 if self.setup.size == "full" else 1)
        old = self.file.rows.get(name) if number > 1 else None
        used = self._programs.used = self._used.setdefault((work.name, case.program), set())
        try:
            require(self.setup.device, work.requires)
            with deadline(limit):
                row |= self._measured(case, share, old)
        except LateError:
            row["skipped"] = f"stopped after {limit:.0f} s"
        except Exception as error:
            if case.ours and not isinstance(error, UNABLE):
                raise
            row["skipped"] = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if case.ours and state(row) == "timed":
            row.setdefault("shaders", {name: digest(name) for name in sorted(used)})
        row = joined(old, row) | {"passes": number}
        self.file.keep(row)
        self._own.add(name)
        self.measured += 1
        print(table.line(row, self._width), flush=True)
        gc.collect()  # the next one needs the buffers of this one
        return row

    def _measured(self, case: Case, share: float, old: dict[str, Any] | None) -> dict[str, Any]:
        longest = max(PATIENCE * share, SHORT)
        if old and (old.get("wall") or 0.0) > longest:
            return {"skipped": "the seconds are used up"}
        work = case.start(share)
        if isinstance(work, Measurement):
            return work.fields()
        try:
            if not old and work.estimate and (seconds := work.estimate(longest)) > longest:
                return {"skipped": f"about {seconds:.2g} s", "estimate": seconds}
            device = case.device
            words: dict[str, Any] = {"cells": work.cells, "device": device, "budget": share}
            words["warm_at"] = self._warm_at
            words["trusted"] = bool(old and device and device.info.software)
            found = measure(work.run, work.check, **words)
            self._warm_at = time.perf_counter() if device else self._warm_at
            part = work.cells / work.whole if work.cells < work.whole else None
            return {**found.fields(), "part": part, **work.facts()}
        finally:
            work.close()

    @cached_property
    def _idle(self) -> float | None:
        return machine.idle_watts(self.meter) if self.meter else None

    def _energy(self, case: Case, row: dict[str, Any], seconds: float, meter: Sampler) -> None:
        try:
            work = case.start(seconds)
            if isinstance(work, Measurement) or not work.check(work.run()).passed:
                return
            found = machine.energy(meter, work.run, seconds)
            work.close()
        except CANNOT:
            return
        if found:
            found |= {"idle_watts": self._idle}
            self.file.keep(row | found)
            text = f"{found['watts']:.0f} W, {table.energy(row | found)}"
            print(f"  {case.program}: {text}", flush=True)


def joined(old: dict[str, Any] | None, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with what an earlier pass found: the mean of the passes, their limits."""
    if not old or state(old) != "timed" or state(row) == "wrong":
        return row
    if state(row) != "timed":
        return old
    rates = sorted(each["rate"] if "rate" in each else 1 / each["wall"] for each in (old, row))
    more, less = (row, old) if (row.get("cells") or 0) > (old.get("cells") or 0) else (old, row)
    found = {**less, **more, "between": rates[1] / rates[0] - 1 if rates[0] else None}
    if old.get("cells") != row.get("cells"):
        return found  # of another program, which had more seconds in one of the passes
    if "rate" in row:
        found["rate"] = sum(rates) / 2
    for name in ("wall", "clock"):
        if old.get(name) and row.get(name):
            found[name] = (old[name] + row[name]) / 2
            for limit, chosen in ((f"{name}_min", min), (f"{name}_max", max)):
                found[limit] = chosen(old[limit], row[limit])
    if old.get("repeats") and row.get("repeats"):
        found["repeats"] = old["repeats"] + row["repeats"]
    return found


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise `LateError` in the block after this time, where the system has a timer."""
    in_main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not in_main:
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise LateError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
