"""Tasks on other hosts: what a worker of a cluster runs, and what it refuses to do.

A task travels as bytes that only the worker reads, so that schedulers need no glsw.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from glsw.device.device import DeviceError, DeviceMemoryError
from glsw.engines.spec import EngineSpec
from glsw.run.workers import Answer, Task, UserExecutor, answer, kept_engine, pickled

if TYPE_CHECKING:
    from concurrent.futures import Future


class WorkerError(DeviceError):
    """A worker cannot do the work, whatever the task; another one may be able to."""


class _Call:
    """A call, which happens when it is unpickled."""

    def __init__(self, *parts: Any) -> None:
        self._parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return self._parts[0], self._parts[1:]


class RemoteExecutor(UserExecutor):
    """An executor of the user whose workers may be on other hosts."""

    max_failures = 3

    def __init__(self, executor: Any, spec: EngineSpec) -> None:
        super().__init__(executor, spec)
        self._spec = remote_spec(spec)

    def submit(self, task: Task[Any]) -> Future[Any]:
        """Begin with a task."""
        return self._executor.submit(pickle.loads, remote_call(self._spec, task))


def remote_call(spec: bytes, task: Task[Any]) -> bytes:
    """Return a task as bytes; ``pickle.loads`` of a worker carries it out."""
    from glsw._version import __version__

    return pickle.dumps(_Call(run_remote_task, __version__, spec, pickle.dumps(task)))


def remote_spec(spec: EngineSpec) -> bytes:
    """Return a spec as bytes; a worker uses the device of its rank if none is named."""
    if spec.device is None and spec.requires:
        spec = replace(spec, device="auto")
    return pickled(spec)


def run_remote_task(version: str, spec: bytes, task: bytes) -> Answer[Any] | WorkerError:
    """Carry out a pickled task with the engine of a pickled spec.

    It returns an error, as schedulers log those that are raised, if this is another version of
    glsw, the engine cannot be made, or a file cannot be read.
    """
    import socket

    from glsw._version import __version__
    from glsw.sequences.sections import DatabaseError

    if version != __version__:
        return WorkerError(f"it has glsw {__version__}, and {version} is needed")
    try:
        engine = kept_engine(spec)
    except (DeviceError, ValueError, ImportError) as error:
        return WorkerError(str(error))
    try:
        return answer(pickle.loads(task), engine, socket.gethostname())
    except DeviceMemoryError:
        raise
    except (DatabaseError, OSError) as error:
        return WorkerError(str(error))
