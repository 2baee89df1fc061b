"""Clusters by address: processes on this host, a Dask scheduler, or MPI ranks."""

from __future__ import annotations

import gc
import logging
import os
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from multiprocessing import active_children, current_process, get_context
from typing import TYPE_CHECKING, Any, cast

from glsw import caller
from glsw._version import __version__
from glsw.device.device import DeviceError
from glsw.output.part_file import check_regular
from glsw.rank import assign
from glsw.run.workers import follow_parent, other_version, posted, signals_blocked

if TYPE_CHECKING:
    from concurrent.futures import Executor

ADDRESSES = "local:N; tcp://HOST:PORT of a Dask scheduler, or its scheduler file; mpi"


def cluster(
    address: str, check: Callable[[], str] = str
) -> AbstractContextManager[Executor | None]:
    """Return the executor of a cluster, for a ``with`` block.

    Parameters
    ----------
    address : str
        ``"local:N"`` for N processes of this host, which end with the block; ``"tcp://HOST:PORT"``,
        or another address of a Dask scheduler, or the path of its scheduler file, which ends with
        ``.json``; ``"mpi"`` for the ranks of an MPI job but the first.
    check : callable, optional
        Called on each Dask worker that is there, and on the other ranks of an MPI job; returns why
        it can do nothing, or "". It is left out then, with a warning. Processes of this host call
        it when they start, so that what it opens is open for their first tasks. It has to be one
        that can be pickled.

    Yields
    ------
    Executor or None
        None on the other ranks of an MPI job, when the first has left its block.

    Raises
    ------
    ValueError
        If it is no address, or the package is not installed; if there is one MPI process.
    ConnectionError
        If the scheduler does not answer.
    DeviceError
        If nobody can do the work.
    """
    if address == "mpi":
        return _ranks(check)
    if local := re.fullmatch(r"local:([1-9]\d*)", address):
        return _Processes(int(local[1]), check)
    if address.endswith(".json") or re.fullmatch(r"\w+://.+", address):
        return _dask(address, check)
    raise ValueError(f"cluster {address!r}: expected {ADDRESSES}")


class _Processes(ProcessPoolExecutor):
    """Processes of this host, each with a number; a ``with`` block ends what they do."""

    def __init__(self, count: int, prepare: Callable[[], object]) -> None:
        super().__init__(count, get_context("spawn"), _begin, (count,))
        self._others = {*active_children()}
        with signals_blocked():
            for _ in range(count):  # each starts one
                self.submit(prepare)

    def __exit__(self, *error: Any) -> None:
        for process in {*active_children()} - self._others:
            process.kill()
        super().__exit__(*error)


def _begin(count: int) -> None:
    """Give this process its number from 0: names of processes end with theirs."""
    follow_parent()
    assign(int(current_process().name.rpartition("-")[2]) % count, f"local:{count}")


@contextmanager
def _dask(address: str, check: Callable[[], str]) -> Iterator[Executor]:
    if find_spec("distributed") is None:
        raise ValueError(
            f"cluster {address!r} needs the package distributed: pip install 'glsw[dask]'"
        )
    import distributed

    logging.disable()  # what matters of Dask, glsw says in a line
    place = "scheduler_file" if address.endswith(".json") else "address"
    if place == "scheduler_file":
        if os.path.exists(address):
            check_regular(address, links=True)
        else:
            text = f"the scheduler file {address} is not there yet; waiting for it"
            caller.warn(text, RuntimeWarning)
    dask: Any = distributed  # its classes have no types
    try:
        client = dask.Client(**{place: address})
    except (OSError, TimeoutError) as error:
        text = f"the scheduler {address} of the cluster does not answer: {error}"
        raise ConnectionError(text) from None
    except Exception as error:  # such as an address without a port, or TLS without certificates
        text = f"cluster {address!r}: {str(error) or 'it names no scheduler of Dask'}"
        error.__traceback__ = None
        gc.collect()  # what is left of this client could stop the next one, if it ended meanwhile
        raise ValueError(text) from None
    with client:
        if not client.ncores():
            text = f"the cluster {address} has no worker; waiting for one"
            caller.warn(text, RuntimeWarning)
            client.wait_for_workers(1)
        faults = client.run(pickle.loads, posted(_fault, __version__, check), on_error="return")
        able = _able(faults)
        yield client.get_executor(pure=False, workers=None if len(able) == len(faults) else able)


def _fault(version: str, check: Callable[[], str]) -> str:
    return other_version(version) or check()


def _able(faults: Mapping[str, object]) -> list[str]:
    """Return who has no fault, and warn of the others; DeviceError if there is nobody."""
    able = [name for name, fault in faults.items() if not fault]
    said = [f"{name}: {fault}" for name, fault in faults.items() if fault]
    if not able:
        raise DeviceError(f"no worker of the cluster can do the work; {said[0]}")
    for text in said:
        caller.warn(f"{text}; it is left out", RuntimeWarning)
    return able


@contextmanager
def _ranks(check: Callable[[], str]) -> Iterator[Executor | None]:
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPICommExecutor
    except (ImportError, RuntimeError) as error:
        raise ValueError(
            f"cluster 'mpi' needs an MPI library and the package mpi4py: pip install 'glsw[mpi]' "
            f"({error})"
        ) from None
    world: MPI.Intracomm = MPI.COMM_WORLD
    if world.size < 2:
        raise ValueError("cluster 'mpi': one process; the first one leads, so start at least two")
    serving = world.Split(bool(world.rank), world.rank)
    assign(serving.Split_type(MPI.COMM_TYPE_SHARED).rank, f"rank {world.rank} of MPI")
    needed = world.bcast(__version__)
    fault = _fault(needed, check) if world.rank else ""
    name = f"rank {world.rank} on {MPI.Get_processor_name()}"
    faults = dict(world.gather((name, fault)) or ())
    some: Any = world.Split(MPI.UNDEFINED if fault else 0, world.rank)
    if fault:
        yield None
        return
    if faults:
        _able(dict([*faults.items()][1:]))
    with MPICommExecutor(some, root=0) as executor:
        yield cast("Executor | None", executor)
