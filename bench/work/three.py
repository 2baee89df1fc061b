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
from bench.work.base import Case, Run, Setup, Told, Workload, facts_of
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
    if task == "table":
        return table_of(engine, triples)
    return engine.paths(triples) if task == "paths" else engine.ends(triples)


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
            make = self.data.triples if every else self.data.triple
            triples = make(scheme, lengths[0] if every else lengths)  # type: ignore[arg-type]
            self._works[name] = Work(self.data.scorings[scheme], triples, self.judges)
        return self._works[name]

    def case(
        self, engine: str, task: Task, scheme: str, lengths: Sequence[int], *, every: bool = False
    ) -> Case:
        fields: dict[str, Any] = {"task": task, "sizes": lengths, "count": 2024 if every else 1}
        fields["scoring"] = described(self.data.scorings[scheme])
        if engine == "cpu":
            start = partial(self._code, task, scheme, lengths)
            return Case(cpu3.NAME, start, cores=1, ours=False, **fields)
        start = partial(self._engine, engine, task, scheme, lengths, every)
        needs = kind_of(engine).capabilities.requires
        on = self.device if needs else None
        return Case(engine, start, device=on, metered=on is not None, **fields)

    def _engine(
        self, name: str, task: Task, scheme: str, lengths: Any, every: bool, seconds: float
    ) -> Run:
        needs, there = kind_of(name).capabilities.requires, self.device.info.version
        if needs and there < needs:
            raise ValueError(f"needs OpenGL {needs[0]}.{needs[1]}")
        work = self.work(scheme, lengths, every=every)
        if task == "table":
            _room(lengths[0])
        engine = engine_on(name, work.scoring, self.device)
        run = partial(run_task, engine, task)
        check = lambda found: work.check(name, task, checkable(task, found))  # noqa: E731
        return Run(
            *(partial(run, work.triples), check, work.triples.cells, _estimate(run, work)),
            facts=facts_of(engine),
        )

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

        facts = lambda: {"note": cpu3.compiler()}  # noqa: E731
        cells, estimate = work.triples.cells, _estimate(run, work)
        return Run(partial(run, work.triples), check, cells, estimate, facts=facts)


def _estimate(run: Callable[[Batch], Any], work: Work) -> Callable[[float], float] | None:
    """Return what tells the seconds of a work from a part of it."""
    most, triples = PROBE**3, work.triples
    if triples.cells <= 2 * most:
        return None
    if len(triples) > 1:
        part = triples.select(slice(0, max(1, len(triples) * most // triples.cells)))
    else:
        part = Batch.of([[word[:PROBE] for word in triples[0]]])
    return lambda limit: second_run(partial(run, part)) * triples.cells / part.cells


def _room(length: int, at_once: int = 1) -> None:
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
        for name in ("subtable", "plane", GPUI, "cpu"):
            if name == "cpu" or self.setup.wants(name):
                yield self.case(name, "ends", "identity", length)


class Sudo2012(Triples):
    """Sudo et al. 2012, figures 12 and 13: tables and ends by length; two devices."""

    name, weight, requires = "sudo2012", 18, (4, 3)
    text = "three sequences of 8 to 1024: the whole table on the host; score and end"
    lengths: ClassVar = {
        **{"tiny": [8], "small": [16, 128], "medium": [16, 128, 256]},
        **{"large": [16, 128, 512], "full": [8, 16, 128, 256, 512, 1024]},
    }

    def cases(self) -> Iterator[Case]:
        for task in ("table", "ends"):
            for length in self.setup.chosen(self.lengths):
                for name in ("subtable", GPUI, "plane", "cpu"):
                    if name == "cpu" or self.setup.wants(name):
                        yield self.case(name, task, "identity", [length] * 3)
        if len(self.setup.devices) > 1:
            yield from self._on_devices()

    def _on_devices(self) -> Iterator[Case]:
        """Yield the first device and all, each with the same triple; and a shared batch."""
        chosen = list(self.setup.devices)
        scoring = described(self.data.scorings["identity"])
        for length in (128, 512):
            for task in ("table", "ends"):
                for name in ("subtable", GPUI, "plane"):
                    group = _Same(self, chosen, name, task, length)
                    for some in (chosen[:1], chosen):
                        words = f"the same triple on devices {','.join(map(str, some))}"
                        yield Case(
                            *(name, partial(group.told, len(some)), f"{task}, devices", scoring),
                            sizes=[length] * 3,
                            count=len(some),
                            options=words,
                        )
        for some in (chosen[:1], chosen):
            words = f"all triples, devices {','.join(map(str, some))}"
            start = partial(self._shared, some)
            yield Case(
                *("subtable", start, "scores, devices", scoring),
                sizes=[128] * 3,
                count=2024,
                options=words,
            )

    def _shared(self, devices: Sequence[int], seconds: float) -> Run:
        """Return the scores of a batch, several times over, shared out among devices."""
        work = self.work("identity", [128], every=True)
        copies = 50
        index = np.tile(work.triples.index, (copies, 1))
        many = Batch(work.triples.sequences, index)
        aligner = Aligner3(work.scoring, engine="subtable", device=list(devices))
        run, check = partial(aligner.scores, many), partial(work.check_scores, "subtable")
        begin = time.perf_counter()
        while time.perf_counter() - begin < WARM_UP:
            run()
        return Run(run, check, many.cells, close=aligner.close)


class _Same:
    """One device, and several that begin at one moment, with the same triple each."""

    busy, rounds = 0.5, 3

    def __init__(
        self, work: Triples, devices: Sequence[int], name: str, task: Task, length: int
    ) -> None:
        self._work, self._devices, self._name = work, devices, name
        self._task, self._length = task, length

    @cached_property
    def _found(self) -> tuple[Check, int, dict[int, list[float]]]:
        """Return the check, the runs of each device, and seconds by the number of devices."""
        if self._task == "table":
            _room(self._length, len(self._devices))
        work = self._work.work("identity", [self._length] * 3)
        spawn = multiprocessing.get_context("spawn")
        with ExitStack() as stack:
            pools = [
                stack.enter_context(ProcessPoolExecutor(1, mp_context=spawn)) for _ in self._devices
            ]
            words = self._name, work.scoring, self._task, work.triples
            asked = [
                pool.submit(_prepare, number, *words)
                for pool, number in zip(pools, self._devices, strict=True)
            ]
            ready = [each.result() for each in asked]
            checks = [work.check(self._name, self._task, outcome) for outcome, _ in ready]
            count = math.ceil(self.busy / max(seconds for _, seconds in ready))
            times: dict[int, list[float]] = {1: [], len(pools): []}
            for _ in range(self.rounds):
                for some in (pools[:1], pools):
                    start = time.time() + 0.1
                    ran = [pool.submit(_repeat, count, start) for pool in some]
                    times[len(some)].append(max(each.result() for each in ran) - start)
            last = [pool.submit(_last).result() for pool in pools]
            checks += [work.check(self._name, self._task, outcome) for outcome in last]
        return reduce(both, checks), count, times

    def told(self, devices: int, seconds: float) -> Told:
        check, count, times = self._found
        cells = count * devices * self._length**3
        wall = Spread.of(times[devices]) if check.passed else None
        return Told(Measurement(check, cells, wall))


_ready: tuple[Engine3, Task, Batch]
_outcome: Any


def _prepare(
    number: int, name: str, scoring: Scoring3, task: Task, triples: Batch
) -> tuple[Any, float]:
    """Make the engine of a process; return what it finds and the seconds it needs, warmed up."""
    global _ready, _outcome
    device = open_device(number, quiet=True)
    _ready = engine_on(name, scoring, device), task, triples
    _outcome = run_task(*_ready)
    begin = time.perf_counter()
    while True:
        start = time.perf_counter()
        _outcome = run_task(*_ready)
        end = time.perf_counter()
        if device.info.software or end - begin >= WARM_UP:
            return _last(), end - start


def _repeat(count: int, start: float) -> float:
    """Do ``count`` runs from a moment on; return when they are done."""
    global _outcome
    time.sleep(max(0.0, start - time.time()))
    for _ in range(count):
        _outcome = run_task(*_ready)
    return time.time()


def _last() -> Any:
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
        full = self.setup.size == "full"
        for scheme in self.data.scorings if full else ("identity", "sum of pairs, affine"):
            for task, lengths in (
                *(("ends", (n, n, n)), ("paths", (n, n, n)), ("ends", (2 * n,) * 3)),
                *(("ends", (8 * n, n, n)), ("paths", (8 * n, n, n))),
            ):
                yield self.case("subtable", task, scheme, lengths)  # type: ignore[arg-type]
            yield self.case("subtable", "ends", scheme, [word] * 3, every=True)


WORKLOADS = (Three, Sudo2012, ThreeLarge)
