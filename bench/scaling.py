"""Searches by simulated clusters: glsw's cutting and merging, Dask's scheduler, tasks that sleep.

The workers are those of Dask, in a few processes; each sleeps as long as a device would compute.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

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
        """Sleep, and return hits."""
        time.sleep(
            self._seconds
            + (0 if hasattr(_opened, "part") else self._opening)
            + (0 if getattr(_opened, "part", None) == self._part else self._upload)
        )
        _opened.part = self._part
        hits = np.arange(self._top or 0, dtype=np.int64) + (self._part[0] << 8)
        return [ScanResult(hits, 0.0, "lanes", "simulated") for _ in range(self._count)]


def queries_of(count: int, residues: int) -> Sequences:
    """Return queries with as many residues together, of equal lengths."""
    offsets = np.linspace(0, residues, count + 1).astype(np.int64)
    return Sequences(np.zeros(residues, np.uint8), offsets)


def search(client: Any, queries: Sequences, residues: float, costs: Costs, part: int) -> int:
    """Search a simulated database; return the number of tasks."""
    offsets = np.linspace(0, residues, _TARGETS + 1).astype(np.int64)
    database: Any = _Database(offsets)
    spec = EngineSpec("reference", Scoring.blast())
    engine: Any = SimpleNamespace(part=part)
    whole, ranking, tasks = slice(0, _TARGETS), Ranking(10, 1), itertools.count()
    SleepingTask.costs = costs
    workers = DaskWorkers(client, {}, spec)
    cut = parallel_scan._PiecesByPace(workers, engine, queries, database, ranking, whole)

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
    for worker in workers:
        await worker
    await asyncio.gather(*(each.finished() for each in workers))


@contextmanager
def cluster(devices: int) -> Iterator[Any]:
    """Return a client of a scheduler with that many workers, in processes of their own."""
    import distributed

    client: Any = distributed.Client
    with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
        file = Path(folder, "scheduler.json")
        words = ["dask", "scheduler", "--scheduler-file", str(file), "--port", "0"]
        counts = [_WORKERS_PER_PROCESS] * (devices // _WORKERS_PER_PROCESS)
        counts += [devices % _WORKERS_PER_PROCESS] * bool(devices % _WORKERS_PER_PROCESS)
        words_of_workers = [["bench.scaling", "--serve", str(file), str(each)] for each in counts]
        quiet = {**os.environ, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"}
        quiet["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"  # as costly as the rest
        processes = []
        try:
            for each in (
                [*words, "--dashboard-address", ":0", "--host", "127.0.0.1"],
                *words_of_workers,
            ):
                processes.append(subprocess.Popen([sys.executable, "-m", *each], env=quiet))
                while not file.exists():
                    time.sleep(0.1)
            with client(scheduler_file=str(file)) as one:
                one.wait_for_workers(devices)
                yield one
        finally:
            for process in reversed(processes):
                process.kill()
                process.wait()


def _used(client: Any) -> tuple[float, float]:
    """Return the processor time of this process and of the scheduler, in seconds."""
    return time.process_time(), client.run_on_scheduler(time.process_time)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.scaling", description=__doc__)
    number: dict[str, Any] = {"type": float, "metavar": "NUMBER"}
    parser.add_argument("--devices", type=int, nargs="+", default=[8, 64, 1000])
    parser.add_argument("--rate", **number, default=3.5e12, help="cells per second")
    parser.add_argument("--upload", **number, default=5e9, help="residues per second")
    parser.add_argument("--opening", **number, default=2.0, help="seconds of a first task")
    parser.add_argument("--task", **number, default=0.01, help="seconds of any task, more")
    parser.add_argument(
        "--part", type=int, default=2**33, help="residues that a device has room for"
    )
    parser.add_argument(
        "--longest", **number, default=30.0, help="seconds; larger databases are cut"
    )
    parser.add_argument("--databases", nargs="+", choices=DATABASES, default=list(DATABASES))
    parser.add_argument("--queries", nargs="+", type=int, choices=QUERIES, default=list(QUERIES))
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.serve:
        asyncio.run(serve(args.serve[0], int(args.serve[1])))
        return 0
    costs = Costs(args.rate, args.upload, args.opening, args.task)
    print(
        "devices\tdatabase\tqueries\tone_device_s\tpart\tideal_s\ts\tefficiency\ttasks\tclient_s\tscheduler_s"
    )
    for devices in args.devices:
        with cluster(devices) as client:
            for name, count in itertools.product(args.databases, args.queries):
                alone = DATABASES[name] * QUERIES[count] / args.rate
                fraction = min(1.0, args.longest * devices / alone)
                ideal, part = alone * fraction / devices, int(args.part * fraction)
                start, used = time.perf_counter(), _used(client)
                queries = queries_of(count, QUERIES[count])
                tasks = search(client, queries, DATABASES[name] * fraction, costs, part)
                took = time.perf_counter() - start
                row = [f"{alone:.4g}", f"{fraction:.3g}", f"{ideal:.4g}", f"{took:.2f}"]
                row += [f"{ideal / took:.0%}", str(tasks)]
                row += [
                    f"{after - before:.1f}"
                    for before, after in zip(used, _used(client), strict=True)
                ]
                print(devices, name, count, *row, sep="\t", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
