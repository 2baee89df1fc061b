"""Three sequences: Sudo et al. 2012, larger tables, scorings, alignments, several devices."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial, reduce
from typing import Any, ClassVar

import numpy as np

from bench.measure import WARM_UP, Check, Measurement, Spread, both, second_run
from bench.work.base import Case, Run, Told, Workload
from bench.work.triples import Gpui, TripleWork, entry, scorings
from glsw.align3 import Aligner3
from glsw.batch import Batch
from glsw.device.device import open_device

ENGINES = ("subtable", Gpui.name, "plane")


class Three(Workload):
    """Three sequences: score and end, by all engines."""

    name, weight = "three", 10
    text = "three sequences of {0:,}: score and end"
    lengths: ClassVar = {"tiny": [32], "small": [256], "large": [512]}
    tasks: ClassVar = ["ends"]

    def cases(self) -> Iterator[Case]:
        for length in self.setup.chosen(self.lengths):
            work = TripleWork(self.setup, "identity", [length] * 3)
            for task in self.tasks:
                for name in filter(self.setup.wants, ENGINES):
                    yield work.case(entry(name), task)
                yield work.code_case(task)


class Sudo2012(Three):
    """Sudo et al. 2012, figures 12 and 13: tables and ends by length; two devices."""

    name, weight, requires = "sudo2012", 18, (4, 3)
    text = "three sequences of 8 to 1024: the whole table on the host; score and end"
    lengths: ClassVar = {
        **{"tiny": [8], "small": [16, 128], "medium": [16, 128, 256]},
        **{"large": [16, 128, 512], "full": [8, 16, 128, 256, 512, 1024]},
    }
    tasks: ClassVar = ["table", "ends"]

    def cases(self) -> Iterator[Case]:
        yield from super().cases()
        if len(self.setup.devices) > 1:
            for some in (self.setup.devices[:1], self.setup.devices):
                yield from self._on_devices(some, f"devices {','.join(map(str, some))}")

    def _on_devices(self, some: Sequence[int], words: str) -> Iterator[Case]:
        """Yield the same triple on each of some devices, and a batch that they share."""
        for length in (128, 512):
            work = TripleWork(self.setup, "identity", [length] * 3)
            fields = {**work.fields, "count": len(some), "options": f"the same triple on {words}"}
            for task in self.tasks:
                for name in ENGINES:
                    start = partial(self._same, some, name, task, work)
                    yield Case(name, start, f"{task}, devices", **fields)
        work = TripleWork(self.setup, "identity", [128] * 3, every=True)
        fields = {**work.fields, "options": f"all triples, {words}"}
        yield Case("subtable", partial(self._shared, some, work), "scores, devices", **fields)

    def _same(
        self, devices: Sequence[int], name: str, task: str, work: TripleWork, seconds: float
    ) -> Told:
        """Run an engine on devices that begin at one moment, each in a process, three times."""
        spawn = multiprocessing.get_context("spawn")
        with ExitStack() as stack:
            pools = [stack.enter_context(ProcessPoolExecutor(1, mp_context=spawn)) for _ in devices]
            words = name, task, work.scoring, work.batch
            pairs = zip(pools, devices, strict=True)
            ready = [pool.submit(_prepare, number, *words) for pool, number in pairs]
            count = math.ceil(0.5 / max(each.result() for each in ready))
            times = []
            for _ in range(3):
                start = time.time() + 0.1
                ran = [pool.submit(_repeat, count, start) for pool in pools]
                times.append(max(each.result() for each in ran) - start)
            found = [pool.submit(_found).result() for pool in pools]
        check = reduce(both, (work.check(name, "conventional", outcome) for outcome in found))
        cells = count * len(devices) * work.batch.cells
        return Told(Measurement(check, cells, Spread.of(times) if check.passed else None))

    def _shared(self, devices: Sequence[int], work: TripleWork, seconds: float) -> Run:
        """Return the scores of a batch, several times over, shared out among devices."""
        triples, copies = work.batch, 50
        many = Batch(triples.sequences, np.tile(triples.index, (copies, 1)))
        aligner = Aligner3(work.scoring, engine="subtable", device=list(devices))

        def check(found: Any) -> Check:
            parts = np.split(found, copies)
            return reduce(both, (work.check("subtable", "conventional", part) for part in parts))

        begin = time.perf_counter()
        while time.perf_counter() - begin < WARM_UP:
            aligner.scores(many)
        return Run(partial(aligner.scores, many), check, many.cells, close=aligner.close)


_run: Any
_outcome: Any


def _prepare(number: int, name: str, task: str, scoring: Any, triples: Batch) -> float:
    """Make the engine of a process; return the seconds that a run needs, warmed up."""
    global _run
    device = open_device(number, quiet=True)
    engine = entry(name).made(scoring, device)

    def run() -> Any:
        return next(iter(engine.tables(triples))) if task == "table" else engine.ends(triples)

    _run, begin = run, time.perf_counter()
    while True:
        seconds = second_run(run)
        if device.info.software or time.perf_counter() - begin >= WARM_UP:
            return seconds


def _repeat(count: int, start: float) -> float:
    """Do ``count`` runs from a moment on; return when they are done."""
    global _outcome
    time.sleep(max(0.0, start - time.time()))
    for _ in range(count):
        _outcome = _run()
    return time.time()


def _found() -> Any:
    """Return what the last run found."""
    return _outcome


class ThreeLarge(Workload):
    """Beyond the paper: large tables, alignments, all triples of 24 channels, other scorings."""

    name, weight, requires = "three-large", 12, (4, 3)
    text = "three sequences: large tables, alignments, many triples, four scorings"
    lengths: ClassVar = {"tiny": (8, 4), "small": (64, 16), "medium": (128, 64)}
    lengths |= {"large": (512, 128)}

    def cases(self) -> Iterator[Case]:
        n, word = self.setup.chosen(self.lengths)
        full, engine = self.setup.size == "full", entry("subtable")
        for scheme in scorings() if full else ("identity", "sum of pairs, affine"):
            for tasks, lengths in (
                (("ends", "paths"), (n, n, n)),
                (("ends",), (2 * n, 2 * n, 2 * n)),
                (("ends", "paths"), (8 * n, n, n)),
            ):
                work = TripleWork(self.setup, scheme, lengths)
                for task in tasks:
                    yield work.case(engine, task)
            yield TripleWork(self.setup, scheme, [word] * 3, every=True).case(engine, "ends")
