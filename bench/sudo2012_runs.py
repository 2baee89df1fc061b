"""The runs of `bench.sudo2012`: what is timed, what is left out, and how numbers are shown."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bench import cpu3, options
from bench.measure import measure, second_run
from bench.triples import Judges, Task, Work, checksums, engine_on, kind_of, table_of
from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines.three import Engine3, Reference3
from glsw.paths import Ends
from glsw.scoring.three import Scoring3

Keep: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]

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

PROBE = 192
"""Letters of each sequence from which it is estimated how long a run takes."""

TASKS: dict[Task, str] = {
    "table": "table on the host",
    "ends": "score and end",
    "paths": "alignment",
}
TIMED: tuple[Task, Task] = ("table", "ends")
"""By length: as in the paper, and what is needed."""


def run_task(engine: Engine3, task: Task, triples: Batch) -> Any:
    """Do what is timed."""
    if task == "table":
        return table_of(engine, triples)
    return engine.paths(triples) if task == "paths" else engine.ends(triples)


def checkable(task: Task, outcome: Any) -> Any:
    """Return what `Work.check` judges."""
    return checksums(outcome) if task == "table" else outcome


def not_run(cells: int, why: str, estimate: float | None = None) -> dict[str, Any]:
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
        run = partial(run_task, engine, task)
        on = self.device if kind_of(name).capabilities.requires else None
        result = self._measured(name, run, task, work, on)
        return result | {"memory": None if result["left_out"] else engine.memory_used}

    def code(self, task: Task, work: Work, engines: Mapping[str, Any]) -> dict[str, Any]:
        """Measure the C code on one core; it is judged by the reference, or by the engines."""
        if self.judges.refused:
            return not_run(work.triples.cells, self.judges.refused)
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
                return not_run(cells, why, seconds)
            timed = measure(
                lambda: run(work.triples),
                lambda found: work.check(name, task, checkable(task, found)),
                cells=cells,
                device=device,
                budget=self.arguments.budget,
            )
        except options.CANNOT as error:
            return not_run(cells, reason(error))
        return {**timed.as_dict(), "left_out": None, "estimate": seconds, "memory": None}

    def too_long(
        self, run: Callable[[Batch], Any], triples: Batch
    ) -> tuple[str | None, float | None]:
        """Return why a run is left out, and about how many seconds it takes; None if it is short.

        That is told from a part, which cannot keep a fast device busy: it seems slower than it is.
        """
        most = PROBE**3
        if triples.cells <= 2 * most:
            return None, None
        if len(triples) > 1:
            part = triples.select(slice(0, max(1, len(triples) * most // triples.cells)))
        else:
            part = Batch.of([[word[:PROBE] for word in triples[0]]])
        seconds = second_run(partial(run, part)) * triples.cells / part.cells
        limit = self.arguments.longest
        return (f"about {seconds:.0f} s" if seconds > limit else None), seconds


def reason(error: Exception) -> str:
    return str(error) or "not enough memory"


def too_large(length: int, at_once: int = 1) -> str | None:
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


def described(scoring: Scoring3) -> str:
    pairs = scoring.pairs
    kinds = pairs.match_and_mismatch
    identity = scoring.scheme == "identity"
    scores = "/".join(map(str, kinds[:2])) if identity and kinds else pairs.name
    return f"{scores}, gaps {pairs.gap_open} and {pairs.gap_extend}"


def number_text(number: float | None) -> str:
    """Return a number with three digits, or as an integer if it has more.

    >>> number_text(0.000123), number_text(0.5), number_text(1234.5), number_text(None)
    ('0.00012', '0.5', '1234', '-')
    """
    if number is None:
        return "-"
    if number < 0.001:
        return f"{number:.5f}"
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def missing(result: Mapping[str, Any]) -> str:
    return f"-: {result['left_out']}" if result["left_out"] else "WRONG"
