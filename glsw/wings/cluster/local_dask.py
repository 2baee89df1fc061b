"""A Dask cluster on this host, which ends with a ``with`` block.

All its sockets listen on the loopback interface only, and there is no HTTP server, which would ask
nobody for a password. Where the package cryptography is installed the sockets speak TLS by a
certificate that lasts as long as the cluster, so that only its processes get in; without it other
users of the host could run code on the workers. This module imports Dask: import it late.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import dask.config
import distributed

from glsw.device.current import DeviceError

_ON_THIS_HOST = "127.0.0.1"
_DASK: Any = distributed
"""The same without its types, as most of its functions have none."""


def quiet() -> None:
    """Have Dask log nothing: what matters of it, glsw says in a line.

    Some of its loggers have levels of their own, by Dask's configuration.
    """
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


class _Scheduler(distributed.Scheduler):
    def start_http_server(self, *_: object, **options: object) -> None:
        """Start none."""


class _Worker(distributed.Worker):
    def start_http_server(self, *_: object, **options: object) -> None:
        """Start none."""


@contextmanager
def local_cluster(count: int, prepare: Callable[[], object]) -> Iterator[distributed.Client]:
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
    quiet()
    security = (_DASK.Security.temporary if find_spec("cryptography") else _DASK.Security)()
    # Dask's profiler would stop the work every 10 ms.
    settings = {"distributed.worker.profile.enabled": False}
    with (
        tempfile.TemporaryDirectory(prefix="glsw-", ignore_cleanup_errors=True) as folder,
        dask.config.set(settings),
    ):
        node = {
            "host": _ON_THIS_HOST,
            "protocol": "tls://" if security.require_encryption else "tcp://",
            "security": security,
            "local_directory": folder,
        }
        worker = {"worker_class": _Worker, "nthreads": 1, "memory_limit": 0, **node}
        worker["silence_logs"] = logging.CRITICAL
        try:
            cluster = _DASK.SpecCluster(
                {k: {"cls": distributed.Nanny, "options": worker} for k in range(count)},
                {"cls": _Scheduler, "options": {**node, "port": 0, "dashboard": False}},
                security=security,
                silence_logs=logging.CRITICAL,
            )
        except RuntimeError as error:
            raise DeviceError(
                "a Dask worker of this host ended at its start; a script that starts a local "
                'cluster has to be importable, with its work below if __name__ == "__main__"'
            ) from error
        with cluster, _DASK.Client(cluster) as client:
            for address in client.ncores():
                _DASK.fire_and_forget(client.submit(prepare, workers=[address], pure=False))
            yield client
