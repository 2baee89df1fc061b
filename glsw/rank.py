"""The local rank of this process, its number on its host."""

from __future__ import annotations

import os
import re
import sys

RANKS = (
    "OMPI_COMM_WORLD_LOCAL_RANK",  # Open MPI
    "MPI_LOCALRANKID",  # MPICH, Intel MPI
    "MV2_COMM_WORLD_LOCAL_RANK",  # MVAPICH
    "PMIX_LOCAL_RANK",
    "PMI_LOCAL_RANK",  # Cray MPICH
    "PALS_LOCAL_RANKID",
    "SLURM_LOCALID",
    "LOCAL_RANK",
)
"""The variables that tell a process its number on its host; those of `srun` reach into the
processes of an `mpiexec`, so they come last."""
_assigned: list[tuple[int, str]] = []


def assign(number: int, source: str) -> None:
    """Set the local rank of this process; it takes precedence over the launcher's."""
    _assigned[:] = [(number, source)]


def local_rank() -> tuple[int, str] | None:
    """Return the local rank of this process, from 0, and its source; None if unknown.

    A Dask worker says it by a resource ``device`` or by its name, a number or one behind a hyphen
    as those of ``dask worker --nworkers``; others by the variables of Slurm, Open MPI or MPICH.
    """
    if _assigned:
        return _assigned[0]
    if found := _of_dask():
        return found
    for name in RANKS:
        if (text := os.environ.get(name, "")).isdecimal():
            return int(text), name
    return None


def _of_dask() -> tuple[int, str] | None:
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return None
    resources = worker.state.total_resources
    if "device" in resources:
        return int(resources["device"]), "the resource 'device' of the Dask worker"
    number = re.fullmatch(r"(?:.*-)?(\d+)", str(worker.name), re.DOTALL)
    return (int(number[1]), f"the Dask worker {worker.name}") if number else None
