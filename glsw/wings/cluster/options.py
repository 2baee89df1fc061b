"""The option ``--cluster``: the workers of a cluster as the executor of a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from glsw.cli.command import Group, option
from glsw.cli.options import Running
from glsw.cli.signals import Served
from glsw.engines import ENGINES
from glsw.engines.spec import EngineSpec
from glsw.scoring.scoring import Scoring
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from glsw.cli.neighbors import Neighbors
    from glsw.cli.search import Search


class Options(Group, notes={"threads": "; of each worker of a cluster"}):
    """The option ``--cluster``."""

    cluster: str | None = option(
        "ADDRESS: compute on the workers of a cluster, each with its own device: local:N, N "
        "processes on this host; tcp://HOST:PORT or a Dask scheduler file; mpi, under mpiexec",
        type=str,
    )

    def apply(self, command: Search | Neighbors) -> None:
        """Compute on the cluster."""
        if self.cluster is not None:
            command.running.executor = partial(executor, self.cluster, command.running)


@contextmanager
def executor(address: str, running: Running, database: str) -> Iterator[Executor]:
    """Return the executor of a cluster; `Served` if this process is a part of it.

    ``database`` is the path of what other processes read.
    """
    if running.several:
        raise ValueError("--cluster and several devices cannot be combined: a worker has one")
    from glsw.wings.cluster.addresses import cluster

    served = True
    check = partial(_fault, running.engine, running.device, database)
    with cluster(address, check) as workers:
        if workers is not None:
            served = False
            if running.device == "auto":  # of the workers; this process may have none
                running.device = None
            yield workers
    if served:  # such a block swallows what is raised in it
        raise Served


def _fault(engine: str | None, device: Any, database: str) -> str:
    """Return why this process cannot serve, or "".

    An engine of a wing needs what `lanes` does.
    """
    name = "auto" if engine is None else engine if engine in ENGINES else "lanes"
    try:
        EngineSpec(name, Scoring.blast(), device, of_rank=True).make(quiet=True)
        if database and is_database(database):
            Database.open(database)
    except Exception as error:
        return str(error)
    return ""
