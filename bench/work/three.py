"""Three sequences: Sudo et al. 2012, larger tables, scorings, alignments, several devices."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bench import cpu3
from bench.measure import WARM_UP, Check, Measurement, Spread, both, second_run
from bench.triples import GPUI, Data, Judges, Task, Work, checksums, engine_on, kind_of, table_of
from bench.work.base import Case, Run, Setup, Told, Workload, facts_of, require
from glsw.align3 import Aligner3
from glsw.batch import Batch
from glsw.device.device import open_device
from glsw.engines.three import Engine3
from glsw.paths import Ends
from glsw.scoring.three import Scoring3

PROBE = 192
"""Letters of each sequence from which it is estimated how long a run takes."""


def run_task(engine: Engine3, task: Task, triples: Batch) -> Any:
    """Do what is timed."""
    return table_of(engine, triples) if task == "table" else getattr(engine, task)(triples)


def checkable(task: Task, outcome: Any) -> Any:
    """Return what `Work.check` judges."""
    return checksums(outcome) if task == "table" else outcome


def described(scoring: Scoring3) -> str:
    """Return a scoring as rows have it."""
    pairs = scoring.pairs
    kinds = pairs.match_and_mismatch
    identity = scoring.scheme == "identity"
    scores = "/".join(map(str, kinds[:2])) if identity and kinds else pairs.name
    scheme = "identity" if identity else "sum of pairs"
    return f"{scheme} {scores}, gaps {pairs.gap_open}, {pairs.gap_extend}"


class Triples(Workload):
    """Base of the workloads of three sequences."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._works: dict[Any, Work] = {}

    @cached_property
    def data(self) -> Data:
        folder = self.setup.data
        found = sorted(folder.rglob("fnirsr*24Ch*.csv")) if folder else []
        return Data(found[0] if found else None, 8)

    @cached_property
    def judges(self) -> Judges:
        return Judges(self.device, self.data, 30.0 if self.setup.size == "full" else 6.0)

    def work(self, scheme: str, lengths: Sequence[int], *, every: bool = False) -> Work:
        name = (scheme, tuple(lengths), every)
        if name not in self._works:
            data = self.data
            triples = data.triples(scheme, lengths[0]) if every else data.triple(scheme, lengths)
            self._works[name] = Work(data.scorings[scheme], triples, self.judges)
        return self._works[name]

    def engine_cases(
        self,
        names: Sequence[str],
        task: Task,
        scheme: str,
        lengths: Sequence[int],
        *,
        every: bool = False,
    ) -> Iterator[Case]:
        """Yield engines with one triple or with all; if there are several, the C code as well."""
        fields: dict[str, Any] = {"sizes": lengths, "count": 2024 if every else 1}
        fields["scoring"] = described(self.data.scorings[scheme])
        for name in filter(self.setup.wants, names):
            start = partial(self._engine, name, task, scheme, lengths, every)
            on = self.device if kind_of(name).capabilities.requires else None
            yield Case(name, start, task, device=on, metered=on is not None, **fields)
        if len(names) > 1:
            start = partial(self._code, task, scheme, lengths)
            yield Case(cpu3.NAME, start, task, cores=1, ours=False, **fields)

    def _engine(
        self, name: str, task: Task, scheme: str, lengths: Any, every: bool, seconds: float
    ) -> Run:
        require(self.device, kind_of(name).capabilities.requires)
        if task == "table":
            require_memory(lengths[0])
        work = self.work(scheme, lengths, every=every)
        engine = engine_on(name, work.scoring, self.device)
        run, triples = partial(run_task, engine, task), work.triples
        check = lambda found: work.check(name, task, checkable(task, found))  # noqa: E731
        words = (partial(run, triples), check, triples.cells, estimated(run, triples))
        return Run(*words, facts=facts_of(engine))

    def _code(self, task: Task, scheme: str, lengths: Any, seconds: float) -> Run:
        """Return the C code on one core; it is judged by the reference on small triples."""
        if self.judges.refused:
            raise ValueError(self.judges.refused)
        work = self.work(scheme, lengths)
        room: list[Any] = []

        def run(triples: Batch) -> Any:
            if task != "table":
                cells = cpu3.best(work.scoring, triples)
                return Ends(cells[:, 0], cells[:, 1:])
            if not room or room[0].size < (triples.lengths[0] + 1).prod():
                room[:] = [np.empty(triples.lengths[0] + 1, np.int32)]
            return cpu3.table(work.scoring, triples, out=room[0])

        def check(found: Any) -> Check:
            judged = self.judges.check or Check("nobody", 0, 0)
            return both(work.check("cpu", task, checkable(task, found)), judged)

        triples = work.triples
        words = (partial(run, triples), check, triples.cells, estimated(run, triples))
        return Run(*words, facts=lambda: {"note": cpu3.compiler()})


def estimated(run: Callable[[Batch], Any], triples: Batch) -> Callable[[float], float] | None:
    """Return what tells the seconds of triples from a part of them."""
    most = PROBE**3
    if triples.cells <= 2 * most:
        return None
    if len(triples) > 1:
        part = triples.select(slice(0, max(1, len(triples) * most // triples.cells)))
    else:
        part = Batch.of([[word[:PROBE] for word in triples[0]]])
    return lambda limit: second_run(partial(run, part)) * triples.cells / part.cells


def require_memory(length: int, at_once: int = 1) -> None:
    """Raise ValueError where tables do not fit the memory of the host several times over."""
    needed = 6 * at_once * 4 * length**3
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        free = next(int(line.split()[1]) << 10 for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration):
        free = 0
    if length > 512 and needed > free:
        raise ValueError(f"the table needs {-(-needed >> 30)} GiB, {free >> 30} are free")


class Three(Triples):
    """Three sequences: score and end, by all engines."""

    name, weight = "three", 10
    text = "three sequences of {0:,}: score and end"
    lengths: ClassVar = {"tiny": 32, "small": 256, "large": 512}

    def cases(self) -> Iterator[Case]:
        length = [self.setup.chosen(self.lengths)] * 3
        yield from self.engine_cases(("subtable", "plane", GPUI), "ends", "identity", length)


class Sudo2012(Triples):
    """Sudo et al. 2012, figures 12 and 13: tables and ends by length; two devices."""

    name, weight, requires = "sudo2012", 18, (4, 3)
    text = "three sequences of 8 to 1024: the whole table on the host; score and end"
    lengths: ClassVar = {
        **{"tiny": [8], "small": [16, 128], "medium": [16, 128, 256]},
        **{"large": [16, 128, 512], "full": [8, 16, 128, 256, 512, 1024]},
    }
    engines = ("subtable", GPUI, "plane")
    tasks: ClassVar[tuple[Task, ...]] = ("table", "ends")

    def cases(self) -> Iterator[Case]:
        for task in self.tasks:
            for length in self.setup.chosen(self.lengths):
                yield from self.engine_cases(self.engines, task, "identity", [length] * 3)
        if len(self.setup.devices) > 1:
            for some in (self.setup.devices[:1], self.setup.devices):
                yield from self._on_devices(some, f"devices {','.join(map(str, some))}")

    def _on_devices(self, some: Sequence[int], words: str) -> Iterator[Case]:
        """Yield the same triple on each of some devices, and a batch that they share."""
        fields: dict[str, Any] = {"scoring": described(self.data.scorings["identity"])}
        for length in (128, 512):
            for task in self.tasks:
                for name in self.engines:
                    yield Case(
                        *(name, partial(self._same, some, name, task, length), f"{task}, devices"),
                        **{**fields, "sizes": [length] * 3, "count": len(some)},
                        options=f"the same triple on {words}",
                    )
        fields |= {"sizes": [128] * 3, "count": 2024, "options": f"all triples, {words}"}
        yield Case("subtable", partial(self._shared, some), "scores, devices", **fields)

    def _same(
        self, devices: Sequence[int], name: str, task: Task, length: int, seconds: float
    ) -> Told:
        """Run an engine on devices that begin at one moment, each in a process, three times."""
        if task == "table":
            require_memory(length, len(devices))
        work = self.work("identity", [length] * 3)
        spawn = multiprocessing.get_context("spawn")
        with ExitStack() as stack:
            pools = [stack.enter_context(ProcessPoolExecutor(1, mp_context=spawn)) for _ in devices]
            words = name, work.scoring, task, work.triples
            ready = [
                pool.submit(_prepare, number, *words)
                for pool, number in zip(pools, devices, strict=True)
            ]
            count = math.ceil(0.5 / max(each.result() for each in ready))
            times = []
            for _ in range(3):
                start = time.time() + 0.1
                ran = [pool.submit(_repeat, count, start) for pool in pools]
                times.append(max(each.result() for each in ran) - start)
            found = [pool.submit(_found).result() for pool in pools]
        check = reduce(both, (work.check(name, task, outcome) for outcome in found))
        cells = count * len(devices) * length**3
        return Told(Measurement(check, cells, Spread.of(times) if check.passed else None))

    def _shared(self, devices: Sequence[int], seconds: float) -> Run:
        """Return the scores of a batch, several times over, shared out among devices."""
        work = self.work("identity", [128], every=True)
        many = Batch(work.triples.sequences, np.tile(work.triples.index, (50, 1)))
        aligner = Aligner3(work.scoring, engine="subtable", device=list(devices))
        run, check = partial(aligner.scores, many), partial(work.check_scores, "subtable")
        begin = time.perf_counter()
        while time.perf_counter() - begin < WARM_UP:
            run()
        return Run(run, check, many.cells, close=aligner.close)


_ready: tuple[Engine3, Task, Batch]
_outcome: Any


def _prepare(number: int, name: str, scoring: Scoring3, task: Task, triples: Batch) -> float:
    """Make the engine of a process; return the seconds that a run needs, warmed up."""
    global _ready
    device = open_device(number, quiet=True)
    _ready = engine_on(name, scoring, device), task, triples
    begin = time.perf_counter()
    while True:
        seconds = second_run(partial(run_task, *_ready))
        if device.info.software or time.perf_counter() - begin >= WARM_UP:
            return seconds


def _repeat(count: int, start: float) -> float:
    """Do ``count`` runs from a moment on; return when they are done."""
    global _outcome
    time.sleep(max(0.0, start - time.time()))
    for _ in range(count):
        _outcome = run_task(*_ready)
    return time.time()


def _found() -> Any:
    """Return what the last run found, as `Work.check` judges it."""
    return checkable(_ready[1], _outcome)


class ThreeLarge(Triples):
    """Beyond the paper: large tables, alignments, all triples of 24 channels, other scorings."""

    name, weight, requires = "three-large", 12, (4, 3)
    text = "three sequences: large tables, alignments, many triples, four scorings"
    lengths: ClassVar = {"tiny": (8, 4), "small": (64, 16), "medium": (128, 64)}
    lengths |= {"large": (512, 128)}

    def cases(self) -> Iterator[Case]:
        n, word = self.setup.chosen(self.lengths)
        tasks: tuple[tuple[Task, tuple[int, int, int]], ...] = (
            *(("ends", (n, n, n)), ("paths", (n, n, n)), ("ends", (2 * n, 2 * n, 2 * n))),
            *(("ends", (8 * n, n, n)), ("paths", (8 * n, n, n))),
        )
        full = self.setup.size == "full"
        for scheme in self.data.scorings if full else ("identity", "sum of pairs, affine"):
            for task, lengths in tasks:
                yield from self.engine_cases(["subtable"], task, scheme, lengths)
            yield from self.engine_cases(["subtable"], "ends", scheme, [word] * 3, every=True)


WORKLOADS = (Three, Sudo2012, ThreeLarge)
