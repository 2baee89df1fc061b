"""The option ``--cluster``: the workers of a cluster as the executor of a command."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from glsw.cli.signals import Served
from glsw.cli.words import add_rows
from glsw.engines import ENGINES
from glsw.engines.spec import EngineSpec
from glsw.scoring.scoring import Scoring
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database

if TYPE_CHECKING:
    from concurrent.futures import Executor

_ADD = {
    ("--cluster", None, None, "ADDRESS"): (
        "compute on the workers of a cluster, each with its own device: local:N, N processes on "
        "this host; tcp://HOST:PORT or a Dask scheduler file; mpi, under mpiexec"
    ),
}


def add(_: argparse.ArgumentParser, group: argparse._ArgumentGroup) -> None:
    """Add the option."""
    add_rows(group, _ADD)


def apply(arguments: argparse.Namespace) -> None:
    """Let the cluster compute."""
    if arguments.cluster is not None:
        arguments.executor = executor


@contextmanager
def executor(arguments: argparse.Namespace, database: str) -> Iterator[Executor]:
    """Return the executor of a cluster; `Served` if this process is a part of it.

    ``database`` is the path of what other processes read.
    """
    if arguments.device == "all" or isinstance(arguments.device, list):
        raise ValueError("--cluster and several devices cannot be combined: a worker has one")
    from glsw.wings.cluster.addresses import cluster

    served = True
    check = partial(_fault, arguments.engine, arguments.device, database)
    with cluster(arguments.cluster, check) as workers:
        if workers is not None:
            served = False
            if arguments.device == "auto":  # of the workers; this process may have none
                arguments.device = None
            yield workers
    if served:  # such a block swallows what is raised in it
        raise Served


def _fault(engine: str, device: int | str | None, database: str) -> str:
    """Return why this process cannot serve, or "".

    An engine of a wing needs what `lanes` does.
    """
    name = engine if engine in ENGINES else "lanes"
    try:
        EngineSpec(name, Scoring.blast(), device or "auto").make(quiet=True)
        if database and is_database(database):
            Database.open(database)
    except Exception as error:
        return str(error)
    return ""
