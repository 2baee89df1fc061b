"""Searches by simulated clusters: glsw's cutting and merging, workers of Dask that sleep."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np

from bench.measure import Check, Measurement, Spread
from bench.work.base import Case, Workload
from glsw import Scoring, Sequences
from glsw.engines.base import ScanHints
from glsw.engines.spec import EngineSpec
from glsw.run.pool import Runner
from glsw.search import parallel_scan
from glsw.search.ranking import Ranking
from glsw.search.scan import ScanResult
from glsw.wings.cluster.dask_workers import DaskWorkers

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


RATE, UPLOAD, OPENING, TASK = 3.5e12, 5e9, 2.0, 0.01
"""What a device and a task cost: cells per second, bytes per second, seconds, seconds."""
_opened = threading.local()


class _Database(SimpleNamespace):
    """The lengths of a database, all that the cutting needs."""

    def __len__(self) -> int:
        return len(self.offsets) - 1


class SleepingTask:
    """A task of a search that sleeps and returns hits; it has the arguments of a true one."""

    made: ClassVar = itertools.count()  # how many

    def __init__(self, part: Any, queries: Sequences, ranking: Ranking) -> None:
        next(self.made)
        offsets, chosen = part.database.offsets, part.chosen
        residues = int(offsets[chosen.stop] - offsets[chosen.start])
        self._seconds = residues * len(queries.residues) / RATE + TASK
        self._upload, self._part = residues / UPLOAD, (chosen.start, chosen.stop)
        self._queries, self._top, self._count = queries.residues, ranking.top, len(queries)

    def __call__(self, engine: Any) -> list[ScanResult]:
        known = getattr(_opened, "part", None)
        upload = 0 if known == self._part else self._upload
        time.sleep(self._seconds + upload + (0 if known else OPENING))
        _opened.part = self._part
        hits = np.arange(self._top or 0, dtype=np.int64) + (self._part[0] << 8)
        return [ScanResult(hits, 0.0, "lanes", "simulated") for _ in range(self._count)]


@contextmanager
def cluster(devices: int) -> Iterator[Any]:
    """Return a client of a scheduler with that many workers, in processes of their own."""
    import distributed

    client: Any = distributed.Client
    with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
        file = Path(folder, "scheduler.json")
        scheduler = ["scheduler", "--scheduler-file", str(file), "--port", "0"]
        scheduler += ["--dashboard-address", ":0", "--host", "127.0.0.1"]
        options = {"scheduler_file": str(file), "nthreads": 1, "memory_limit": 0}
        worker = {"cls": "distributed.Worker", "opts": {**options, "dashboard": False}}
        firsts = range(0, devices, _WORKERS_PER_PROCESS)
        counts = [min(_WORKERS_PER_PROCESS, devices - first) for first in firsts]
        specs = [json.dumps(dict.fromkeys(range(count), worker)) for count in counts]
        quiet = {**os.environ, **{f"DASK_DISTRIBUTED__{name}": _QUIET[name] for name in _QUIET}}
        processes = []
        try:
            for words in (scheduler, *(["spec", "--spec", spec] for spec in specs)):
                command = [sys.executable, "-m", "dask", *words]
                processes.append(subprocess.Popen(command, env=quiet))
                while not file.exists():
                    time.sleep(0.1)
            with client(scheduler_file=str(file)) as one:
                one.wait_for_workers(devices)
                one.run(import_module, __name__)
                yield one
        finally:
            for process in reversed(processes):
                process.kill()
                process.wait()


class Scaling(Workload, called="scaling"):
    """Searches by clusters of 8 to 1,000 devices that sleep as long as an H100 computes."""

    residues: Mapping[str, float]
    """Swiss-Prot 2014_01; NR of March 2021 (DIAMOND's issue 446); UniRefs, rounded."""
    queries: Mapping[str, int]
    """Residues of the 20 standard queries, and of the proteins of E. coli K12."""
    part, longest = 2**33, 30.0
    """Residues that a device has room for; seconds, for which larger databases are cut."""

    def cases(self) -> Iterator[Case]:
        for devices in self.chosen("devices"):
            for name, count in itertools.product(self.chosen("databases"), self.queries):
                yield Case(
                    "glsw and Dask",
                    partial(self._start, devices, name, int(count)),
                    task="simulated",
                    grace=600.0,
                    sizes=(self.queries[count], round(self.residues[name])),
                    count=devices,
                    options=f"{name}, {count} queries, {devices} devices",
                )

    def _start(self, devices: int, name: str, count: int, seconds: float) -> Measurement:
        """Search once; the rate is the efficiency, the note has the processor time."""
        residues, asked = self.residues[name], self.queries[str(count)]
        alone = residues * asked / RATE
        fraction = min(1.0, self.longest * devices / alone)
        ideal, part = alone * fraction / devices, int(self.part * fraction)
        offsets = np.linspace(0, asked, count + 1).astype(np.int64)
        queries = Sequences(np.zeros(asked, np.uint8), offsets)  # of equal lengths
        offsets = np.linspace(0, residues * fraction, _TARGETS + 1).astype(np.int64)
        database: Any = _Database(offsets=offsets, path="simulated")
        engine = SimpleNamespace(hints=ScanHints(part, cells_at_once=2**40))
        SleepingTask.made = itertools.count()
        with cluster(devices) as client, patch.object(parallel_scan, "_ScanTask", SleepingTask):
            workers = DaskWorkers(client, {}, EngineSpec("reference", Scoring.blast()))
            run = Runner(engine, workers)

            def used() -> np.ndarray:
                """Return the processor time of this process and of the scheduler."""
                return np.array([time.process_time(), client.run_on_scheduler(time.process_time)])

            start, before = time.perf_counter(), used()
            found = parallel_scan.scan_database(run, queries, database, Ranking(10, 1))
            assert sum(1 for _ in found) == count
            took, spent = time.perf_counter() - start, used() - before
        tasks = next(SleepingTask.made)
        note = f"one device {alone:.4g} s, part {fraction:.3g}, ideal {ideal:.4g} s, {tasks} tasks,"
        note += f" client {spent[0]:.1f} s, scheduler {spent[1]:.1f} s of processor time"
        facts = {"rate": ideal / took, "unit": "efficiency", "note": note}
        check = Check("number of results", count, 0)
        return Measurement(check, wall=Spread.of([took]), facts=facts)
