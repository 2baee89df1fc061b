"""Clusters by their addresses: a Dask scheduler, Dask workers of this host, or the ranks of MPI."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from glsw import caller
from glsw.device.device import DeviceError
from glsw.output.part_file import check_regular
from glsw.rank import assign
from glsw.run.pool import AnyExecutor
from glsw.search.fingerprint import json_object

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from distributed import Client

ADDRESSES = "tcp://HOST:PORT of a Dask scheduler, or its scheduler file; local:N; mpi"
_ADDRESS = r"\w+://.+"
_TRIES, _SECONDS_BETWEEN_TRIES = 5, 0.1


@contextmanager
def cluster(address: str, check: Callable[[], str] = str) -> Iterator[AnyExecutor | None]:
    """Return the workers of a cluster as an executor, for a ``with`` block.

    Parameters
    ----------
    address : str
        ``"tcp://HOST:PORT"``, or another address of a Dask scheduler, or the path of its scheduler
        file, which ends with ``.json``; ``"local:N"`` for N Dask workers of this host, which end
        with the block; ``"mpi"`` for the ranks of an MPI job but the first.
    check : callable, optional
        Called on the other ranks of an MPI job; returns why this one can do nothing, or "". It is
        left out then, with a warning. Also called by workers of this host when they start, so that
        what it opens is open for their first tasks. It has to be one that can be pickled.

    Yields
    ------
    Executor, distributed.Client or None
        For ``executor=``. None on the other ranks of an MPI job, when the first has left its block.

    Raises
    ------
    ValueError
        If it is no address, or the package is not installed; if there is one MPI process.
    ConnectionError
        If the scheduler does not answer.
    DeviceError
        If no MPI process can do the work.
    """
    if address == "mpi":
        with _ranks(check) as ranks:
            yield ranks
    else:
        with _dask(address, check) as client:
            yield client


@contextmanager
def _dask(address: str, prepare: Callable[[], object]) -> Iterator[Client]:
    local = re.fullmatch(r"local:([1-9]\d*)", address)
    scheduler_file = address.endswith(".json")
    if not (local or scheduler_file or re.fullmatch(_ADDRESS, address)):
        raise ValueError(f"cluster {address!r}: expected {ADDRESSES}")
    if find_spec("distributed") is None:
        raise ValueError(
            f"cluster {address!r} needs the package distributed: pip install 'glsw[dask]'"
        )
    import distributed

    from glsw.wings.cluster.local_dask import local_cluster, quiet

    if local:
        with local_cluster(int(local[1]), prepare) as client:
            yield client
        return
    dask: Any = distributed  # its classes have no types
    quiet()
    scheduler = _of_file(address) if scheduler_file else address
    try:
        client = dask.Client(scheduler)
    except (OSError, TimeoutError) as error:
        text = f"the scheduler {address} of the cluster does not answer: {error}"
        raise ConnectionError(text) from None
    except Exception as error:  # such as an address without a port, or TLS without certificates
        text = f"cluster {address!r}: {error}"
        error.__traceback__ = None
        gc.collect()  # what is left of this client could stop the next one, if it ended meanwhile
        raise ValueError(text) from None
    with client:
        yield client


def _of_file(path: str) -> str:
    """Return the address in a scheduler file, once it is there; ValueError if it has none."""
    if not Path(path).exists():
        text = f"the scheduler file {path} is not there yet; waiting for it"
        caller.warn(text, RuntimeWarning)
    while not Path(path).exists():
        time.sleep(_SECONDS_BETWEEN_TRIES)
    check_regular(path, links=True)
    for _ in range(_TRIES):
        with suppress(ValueError, KeyError):
            address = json_object(Path(path).read_bytes())["address"]
            if isinstance(address, str) and re.fullmatch(_ADDRESS, address):
                return address
        time.sleep(_SECONDS_BETWEEN_TRIES)  # it may be written now
    raise ValueError(f"cluster {path!r}: it names no scheduler of Dask")


@contextmanager
def _ranks(check: Callable[[], str]) -> Iterator[AnyExecutor | None]:
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPICommExecutor
    except (ImportError, RuntimeError) as error:
        raise ValueError(
            f"cluster 'mpi' needs an MPI library and the package mpi4py: pip install 'glsw[mpi]' "
            f"({error})"
        ) from None
    from glsw._version import __version__

    world: MPI.Intracomm = MPI.COMM_WORLD
    if world.size < 2:
        raise ValueError("cluster 'mpi': one process; the first one leads, so start at least two")
    needed = world.bcast(__version__)
    fault = f"it has glsw {__version__}, and {needed} is needed" if needed != __version__ else ""
    serving = world.Split(bool(world.rank), world.rank)
    assign(serving.Split_type(MPI.COMM_TYPE_SHARED).rank, f"rank {world.rank} of MPI")
    if world.rank and not fault:
        fault = check()
    faults = world.gather((MPI.Get_processor_name(), fault)) or []
    some: Any = world.Split(MPI.UNDEFINED if fault else 0, world.rank)
    said = [f"rank {rank} on {host}: {text}" for rank, (host, text) in enumerate(faults) if text]
    if fault:
        yield None
        return
    if len(said) and len(said) == world.size - 1:
        raise DeviceError(f"no rank of the MPI job can do the work; {said[0]}")
    for text in said:
        caller.warn(f"{text}; it is left out", RuntimeWarning)
    with MPICommExecutor(some, root=0) as executor:
        yield cast("Executor | None", executor)
