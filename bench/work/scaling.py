"""Searches by simulated clusters: glsw's cutting and merging, workers of Dask that sleep."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple
from unittest.mock import patch

import numpy as np

from bench.measure import Check, Measurement, Spread
from bench.work.base import Case, Told, Workload
from glsw.engines.spec import EngineSpec
from glsw.scoring.scoring import Scoring
from glsw.search import parallel_scan
from glsw.search.dask_workers import DaskWorkers
from glsw.search.ranking import Ranking
from glsw.search.scan import ScanResult
from glsw.sequences.encoded import Sequences

DATABASES = {"Swiss-Prot": 187e6, "UniRef50": 19e9, "UniRef100": 150e9, "NR": 133e9}
"""Residues: Swiss-Prot 2014_01; NR of March 2021 (DIAMOND's issue 446); UniRefs, rounded."""
QUERIES = {20: 41752, 4403: 1353274}
"""Residues of the 20 standard queries, and of the proteins of E. coli K12."""
_TARGETS = 2**20  # that a database is cut at
_WORKERS_PER_PROCESS = 250
_QUIET = {
    "LOGGING__DISTRIBUTED": "error",
    "WORKER__PROFILE__ENABLED": "False",
    "ADMIN__TICK__INTERVAL": "10s",
    "ADMIN__TICK__CYCLE": "10s",
    "ADMIN__SYSTEM_MONITOR__INTERVAL": "60s",
}
"""Settings of Dask for many workers in a process: what each does in between is left out."""


class Costs(NamedTuple):
    """What a device and a task cost, in cells per second, bytes per second and seconds."""

    rate: float
    upload: float
    opening: float
    task: float


@dataclass(frozen=True)
class _Database:
    """The lengths of a database, all that the cutting needs."""

    offsets: Any
    path: str = "simulated"

    def __len__(self) -> int:
        return len(self.offsets) - 1


_opened = threading.local()


class SleepingTask:
    """A task of a search that sleeps and returns hits; it has the arguments of a true one."""

    costs: Costs

    def __init__(self, part: Any, queries: Sequences, ranking: Ranking) -> None:
        offsets, chosen = part.database.offsets, part.chosen
        residues = int(offsets[chosen.stop] - offsets[chosen.start])
        cells = residues * len(queries.residues)
        self._seconds = cells / self.costs.rate + self.costs.task
        self._upload = residues / self.costs.upload
        self._part, self._opening = (chosen.start, chosen.stop), self.costs.opening
        self._queries, self._top, self._count = queries.residues, ranking.top, len(queries)

    def __call__(self, engine: Any) -> list[ScanResult]:
        opening = 0 if hasattr(_opened, "part") else self._opening
        upload = 0 if getattr(_opened, "part", None) == self._part else self._upload
        time.sleep(self._seconds + opening + upload)
        _opened.part = self._part
        hits = np.arange(self._top or 0, dtype=np.int64) + (self._part[0] << 8)
        return [ScanResult(hits, 0.0, "lanes", "simulated") for _ in range(self._count)]


def search(client: Any, queries: Sequences, residues: float, costs: Costs, part: int) -> int:
    """Search a simulated database; return the number of tasks."""
    offsets = np.linspace(0, residues, _TARGETS + 1).astype(np.int64)
    database: Any = _Database(offsets)
    spec = EngineSpec("reference", Scoring.blast())
    engine: Any = SimpleNamespace(part=part, keeps_targets=False, cells_at_once=2**40)
    whole, ranking, tasks = slice(0, _TARGETS), Ranking(10, 1), itertools.count()
    SleepingTask.costs = costs
    workers = DaskWorkers(client, {}, spec)
    cut = parallel_scan._Pieces(workers, engine, queries, database, ranking, whole)

    def counted(worker: Any) -> Any:
        piece = cut(worker)
        if piece:
            next(tasks)
        return piece

    with patch.object(parallel_scan, "_ScanTask", SleepingTask):
        found = parallel_scan._scan_by(
            counted, workers, engine, queries, database, ranking, whole, None
        )
        assert sum(1 for _ in found) == len(queries)
    return next(tasks)


async def serve(file: str, count: int) -> None:
    """Be workers of a scheduler until it ends."""
    from distributed import Worker

    make: Any = Worker
    options = {"nthreads": 1, "memory_limit": 0, "dashboard": False}
    workers = [make(scheduler_file=file, **options) for _ in range(count)]
    await asyncio.gather(*workers)
    await asyncio.gather(*(each.finished() for each in workers))


@contextmanager
def cluster(devices: int) -> Iterator[Any]:
    """Return a client of a scheduler with that many workers, in processes of their own."""
    import distributed

    client: Any = distributed.Client
    with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
        file = Path(folder, "scheduler.json")
        scheduler = ["dask", "scheduler", "--scheduler-file", str(file), "--port", "0"]
        scheduler += ["--dashboard-address", ":0", "--host", "127.0.0.1"]
        counts = [_WORKERS_PER_PROCESS] * (devices // _WORKERS_PER_PROCESS)
        counts += [devices % _WORKERS_PER_PROCESS] * bool(devices % _WORKERS_PER_PROCESS)
        quiet = {**os.environ, **{f"DASK_DISTRIBUTED__{name}": _QUIET[name] for name in _QUIET}}
        processes = []
        try:
            for words in (scheduler, *([__name__, str(file), str(count)] for count in counts)):
                processes.append(subprocess.Popen([sys.executable, "-m", *words], env=quiet))
                while not file.exists():
                    time.sleep(0.1)
            with client(scheduler_file=str(file)) as one:
                one.wait_for_workers(devices)
                yield one
        finally:
            for process in reversed(processes):
                process.kill()
                process.wait()


class Scaling(Workload):
    """Searches by clusters of 8 to 1,000 devices that sleep as long as an H100 computes."""

    name, weight = "scaling", 0
    text = "searches by simulated clusters: Dask's scheduler is real, the devices sleep"
    devices: ClassVar = {"tiny": [8], "medium": [8, 64], "large": [8, 64, 1000]}
    databases: ClassVar = {"tiny": ["Swiss-Prot"], "large": list(DATABASES)}
    costs = Costs(3.5e12, 5e9, 2.0, 0.01)
    part, longest = 2**33, 30.0
    """Residues that a device has room for; seconds, for which larger databases are cut."""

    def cases(self) -> Iterator[Case]:
        for devices in self.setup.chosen(self.devices):
            for name, count in itertools.product(self.setup.chosen(self.databases), QUERIES):
                yield Case(
                    "glsw and Dask",
                    partial(self._start, devices, name, count),
                    task="simulated",
                    grace=600.0,
                    sizes=(QUERIES[count], round(DATABASES[name])),
                    count=devices,
                    options=f"{name}, {count} queries, {devices} devices",
                )

    def _start(self, devices: int, name: str, count: int, seconds: float) -> Told:
        """Search once; the rate is the efficiency, the note has the processor time."""
        alone = DATABASES[name] * QUERIES[count] / self.costs.rate
        fraction = min(1.0, self.longest * devices / alone)
        ideal, part = alone * fraction / devices, int(self.part * fraction)
        offsets = np.linspace(0, QUERIES[count], count + 1).astype(np.int64)
        queries = Sequences(np.zeros(QUERIES[count], np.uint8), offsets)  # of equal lengths
        with cluster(devices) as client:

            def used() -> np.ndarray:
                """Return the processor time of this process and of the scheduler."""
                return np.array([time.process_time(), client.run_on_scheduler(time.process_time)])

            start, before = time.perf_counter(), used()
            tasks = search(client, queries, DATABASES[name] * fraction, self.costs, part)
            took, spent = time.perf_counter() - start, used() - before
        note = f"one device {alone:.4g} s, part {fraction:.3g}, ideal {ideal:.4g} s, {tasks} tasks,"
        note += f" client {spent[0]:.1f} s, scheduler {spent[1]:.1f} s of processor time"
        measured = Measurement(Check("number of results", count, 0), 0, Spread.of([took]))
        return Told(measured, {"rate": ideal / took, "unit": "efficiency", "note": note})


if __name__ == "__main__":  # workers of a scheduler, see `cluster`
    asyncio.run(serve(sys.argv[1], int(sys.argv[2])))
