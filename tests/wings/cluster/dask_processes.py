"""A Dask scheduler and its workers on this host, in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import distributed
from program import ROOT, wait_until

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error",
}


class Cluster:
    """A scheduler, and workers that are started and killed by name."""

    def __init__(self, folder: Path) -> None:
        self.file, self._log = folder / "scheduler.json", folder / "log"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        wait_until(self.file.exists, self._processes["scheduler"])
        self.client = distributed.Client(scheduler_file=str(self.file))
        self.address = json.loads(self.file.read_text())["address"]

    def _start(self, name: str, *words: str) -> None:
        kind = "scheduler" if name == "scheduler" else "worker"
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", str(self.file), *words]
        with self._log.open("ab") as log:
            self._processes[name] = subprocess.Popen(
                command, env=ENVIRONMENT, cwd=self.file.parent, stdout=log, stderr=log
            )

    def start(self, *names: str, **codes: str) -> None:
        """Start workers, some with Python code of their own, and wait until they are known."""
        for name in (*names, *codes):
            words = []
            if name in codes:
                file = self.file.with_name(f"{name}.py")
                file.write_text(codes[name])
                words = ["--preload", str(file)]
            self._start(
                name, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard",
                "--memory-limit", "0", "--name", name, *words,
            )  # fmt: skip
        for name in (*names, *codes):
            wait_until(partial(self._knows, name), self._processes[name])

    def _knows(self, name: str) -> bool:
        return name in self.names()

    def end_workers(self) -> None:
        """Kill all workers and wait until the scheduler knows it."""
        for name in [name for name in self._processes if name != "scheduler"]:
            self.kill(name)
            del self._processes[name]
        wait_until(lambda: not self.names())

    def names(self) -> list[str]:
        info = self.client.scheduler_info()
        return [each["name"] for each in info["workers"].values()]

    def addresses(self) -> set[str]:
        return set(self.client.scheduler_info()["workers"])

    def kill(self, name: str) -> None:
        process = self._processes[name]
        process.send_signal(signal.SIGKILL)
        process.wait()

    def stop(self, name: str) -> None:
        """Stop a process by a signal, so that it keeps its tasks until it is killed."""
        self._processes[name].send_signal(signal.SIGSTOP)

    def resume(self, name: str) -> None:
        """Let a stopped process go on."""
        self._processes[name].send_signal(signal.SIGCONT)

    def close(self) -> None:
        with suppress(TimeoutError):  # the scheduler may be lost
            self.client.close(timeout=1)
        for process in self._processes.values():
            process.kill()
            process.wait()
