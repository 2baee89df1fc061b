"""Workers of a Dask cluster: as many as there are at present, each with tasks of its own."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glsw import caller
from glsw.device.device import DeviceError
from glsw.engines.spec import EngineSpec
from glsw.run.remote import WorkerError, remote_call, remote_spec
from glsw.run.workers import Answer, Task, Worker, Workers

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from distributed import Client

_SECONDS_BETWEEN_LOOKS = 0.2  # while there is no worker
_TASKS_TO_LEARN = 2
_SECONDS_FOR_AN_ANSWER = 60  # of the scheduler, about its workers


def workers_of(executor: Any, spec: EngineSpec) -> DaskWorkers:
    """Return the workers of a client of Dask, or of its executor with what that says of them."""
    from distributed import Client
    from distributed.cfexecutor import ClientExecutor

    if isinstance(executor, ClientExecutor):
        return DaskWorkers(executor._client, dict(executor._kwargs), spec)
    if not isinstance(executor, Client):
        raise TypeError(f"executor must be a Client of Dask, not {type(executor).__name__}")
    return DaskWorkers(executor, {}, spec)


class DaskWorker(Worker):
    """A worker of a Dask cluster; its tasks run nowhere else."""

    max_failures = 3

    def __init__(
        self,
        executor: Executor,
        spec: bytes,
        address: str,
        threads: int,
        check: Callable[[], object],
    ) -> None:
        self._executor, self._spec, self._check = executor, spec, check
        self.address, self.name = address, f"worker {address}"
        self.concurrency = self.slots = threads
        self._done = 0
        self.fault = ""
        """Why it can do nothing at all, once known."""
        self._running: set[Future[Any]] = set()

    def submit(self, task: Task[Any]) -> Future[Any]:
        """Begin with a task."""
        call = remote_call(self._spec, task)
        future: Future[Any] = self._executor.submit(pickle.loads, call)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    def measured(self, cells: int, answer: Answer[Any]) -> None:
        """Learn from a task that is done; tasks may wait there once its rate is known.

        Its first task says little about the rate: it opens the device and the database.
        """
        super().measured(cells, answer)
        self._done += 1
        if self._done == _TASKS_TO_LEARN:
            self.slots = 2 * self.concurrency

    def failure(self, error: BaseException) -> str | None:
        """Return what failed if another worker may repeat the task; None for its own errors."""
        from concurrent.futures import CancelledError

        from distributed.scheduler import KilledWorker

        if isinstance(error, CancelledError | KilledWorker):
            self._check()  # a lost scheduler cancels all
            return "it is gone"
        if isinstance(error, WorkerError | ImportError):
            self.fault = str(error)
        return self.fault or super().failure(error)

    @property
    def busy(self) -> bool:
        """Whether it has tasks."""
        return bool(self._running)

    def abandon(self) -> bool:
        """Give up its tasks; what it has begun ends there unheard."""
        for future in list(self._running):
            future.cancel()
        return True


class DaskWorkers(Workers):
    """The workers of a Dask cluster, followed as they come and go.

    Parameters
    ----------
    client : distributed.Client
    options : dict
        Of `distributed.Client.get_executor`, such as ``resources``.
    spec : EngineSpec

    Raises
    ------
    TypeError
        If the client is an asynchronous one.
    ConnectionError
        If the scheduler does not answer.
    """

    def __init__(self, client: Client, options: dict[str, Any], spec: EngineSpec) -> None:
        if client.asynchronous:
            raise TypeError("executor: a Client with asynchronous=False expected")
        self._client: Any = client  # its methods have no types
        self._spec = remote_spec(spec)
        self._options = {**options, "pure": False, "allow_other_workers": False}
        self._chosen = options.get("workers")
        self._address = client.scheduler.address if client.scheduler else "of the cluster"
        self._known: dict[str, DaskWorker] = {}
        self.follow()

    def follow(self) -> None:
        """Add new workers; what lost ones have is repeated. Wait if there is no worker.

        DeviceError if all that there are cannot do the work.
        """
        self._update()
        waits = False
        while not self:
            faults = [f"{each.name}: {each.fault}" for each in self._known.values() if each.fault]
            if faults and len(faults) == len(self._known):
                raise DeviceError(f"no worker of the cluster can do the work; {faults[0]}")
            if not waits:
                waits = True
                text = f"the cluster of {self._address} has no worker; waiting for one"
                caller.warn(text, RuntimeWarning)
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            self._update()

    def revive(self, failed: Worker, engine: Any, broken: bool) -> None:
        """Wait for a worker."""
        self.follow()

    def _update(self) -> None:
        present = self._present()
        for address in self._known.keys() - present.keys():
            lost = self._known.pop(address)
            if lost.busy:
                lost.abandon()  # its tasks are repeated by others
            elif lost in self:
                self.remove(lost)
        for address in present.keys() - self._known.keys():
            executor = self._client.get_executor(**{**self._options, "workers": [address]})
            worker = DaskWorker(executor, self._spec, address, present[address], self._check)
            self._known[address] = worker
            self.append(worker)

    def _check(self) -> None:
        if self._client.status != "running":
            raise self._lost()

    def _present(self) -> dict[str, int]:
        """Return the addresses of the workers, and how many tasks each runs at the same time."""
        self._check()
        try:
            ask = self._client.scheduler.ncores
            found: dict[str, int] = self._client.sync(
                ask, workers=self._chosen, callback_timeout=_SECONDS_FOR_AN_ANSWER
            )
        except (OSError, TimeoutError, ValueError, RuntimeError):
            raise self._lost() from None
        return found

    def _lost(self) -> ConnectionError:
        return ConnectionError(f"the scheduler {self._address} of the cluster is lost")
