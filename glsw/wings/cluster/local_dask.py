"""A Dask cluster on this host: its workers start while this process imports Dask.

All its sockets listen on the loopback interface only. Where the package cryptography is installed
they speak TLS by a certificate that lasts as long as the cluster, so that only its processes get
in; without it other users of the host could run code on the workers.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from glsw.device.current import DeviceError
from glsw.run.workers import follow_parent, spawned

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from distributed import Client

_ON_THIS_HOST = "127.0.0.1"


def quiet() -> None:
    """Have Dask log nothing: what matters of it, glsw says in a line.

    Some of its loggers have levels of their own, by Dask's configuration.
    """
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _without_http(node: Any) -> Any:
    """Return a class of Dask's without its HTTP server, which asks nobody for a password."""
    return type(node.__name__, (node,), {"start_http_server": lambda *_, **options: None})


# in the other processes


def _serve(pipe: Connection, number: int, folder: str) -> None:
    """Be a worker of the scheduler whose address comes, until the parent ends this process."""
    follow_parent()
    import dask
    import distributed

    quiet()
    make = _without_http(distributed.Worker)
    # Dask's profiler would stop the work every 10 ms.
    settings = {"distributed.worker.profile.enabled": False, "temporary-directory": folder}

    async def work(address: str, security: object) -> None:
        options = {"nthreads": 1, "memory_limit": 0, "host": _ON_THIS_HOST, "security": security}
        async with make(address, name=number, **options) as worker:
            await worker.finished()

    with dask.config.set(settings):
        asyncio.run(work(*pipe.recv()))


# in this process


@contextmanager
def local_cluster(count: int, prepare: Callable[[], object]) -> Iterator[Client]:
    """Return the client of a scheduler and of workers that end with the ``with`` block.

    A worker that dies is replaced.

    Parameters
    ----------
    count : int
        How many workers; the names are numbers from 0.
    prepare : callable
        What each worker calls at once, such as to open its device; errors come up again with the
        first task. It has to be one that can be pickled.

    Raises
    ------
    DeviceError
        If a worker ends at its start.
    """
    with tempfile.TemporaryDirectory(prefix="glsw-", ignore_cleanup_errors=True) as folder:
        workers = [_LocalWorker(number, folder) for number in range(count)]
        try:
            import distributed

            quiet()
            dask: Any = distributed  # its classes have no types
            make = dask.Security.temporary if find_spec("cryptography") else dask.Security
            security = make()
            options = {"host": _ON_THIS_HOST, "port": 0, "dashboard": False, "security": security}
            options["protocol"] = "tls://" if security.require_encryption else "tcp://"
            options["local_directory"] = folder
            scheduler = dask.SpecCluster(
                scheduler={"cls": _without_http(distributed.Scheduler), "options": options},
                security=security,
                silence_logs=logging.CRITICAL,
            )
            with scheduler, dask.Client(scheduler) as client:
                for worker in workers:
                    worker.join(scheduler.scheduler_address, security)
                _wait_for(client, workers)
                for address in client.ncores():
                    future = client.submit(prepare, workers=[address], pure=False)
                    distributed.fire_and_forget(future)  # type: ignore[no-untyped-call]
                yield client
        finally:
            for worker in workers:  # they leave their devices side by side
                worker.kill()
            for worker in workers:
                worker.close()


def _wait_for(client: Any, workers: list[_LocalWorker]) -> None:
    while True:
        try:
            client.wait_for_workers(len(workers), timeout=1)
        except TimeoutError:
            if any(worker.replaced for worker in workers):
                raise DeviceError(
                    "a Dask worker of this host ended at its start; a script that starts a local "
                    'cluster has to be importable, with its work below if __name__ == "__main__"'
                ) from None
        else:
            return


class _LocalWorker:
    """The process of a worker, and the thread that replaces it when it has died."""

    def __init__(self, number: int, folder: str) -> None:
        self._number, self._folder = number, folder
        self._ends, self._lock = False, threading.Lock()
        self.replaced = 0
        """How often the process has died."""
        self._start()

    def _start(self) -> None:
        self._process, self._pipe = spawned(_serve, self._number, self._folder)

    def join(self, address: str, security: object) -> None:
        """Join the scheduler."""
        threading.Thread(target=self._follow, args=(address, security), daemon=True).start()

    def _follow(self, *scheduler: object) -> None:
        from multiprocessing.connection import wait

        while True:
            with suppress(OSError):  # it has died
                self._pipe.send(scheduler)
            wait([self._process.sentinel])
            with self._lock:
                if self._ends:
                    return
                self.replaced += 1
                self._start()

    def kill(self) -> None:
        """Have the process end."""
        with self._lock:
            self._ends = True
            self._process.kill()

    def close(self) -> None:
        """End the process."""
        self.kill()
        self._process.join()
