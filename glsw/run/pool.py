"""An engine and its workers: one process per device, or the user's executor.

Work is divided into more tasks than there are workers. A worker gets its next task when it has
finished the last one, so that a slow device gets less to do.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from glsw.device.device import Device, devices
from glsw.device.info import DeviceInfo
from glsw.engines.base import AnyEngine, Progress, Ties
from glsw.engines.spec import EngineSpec
from glsw.run.tasks import in_order, run_tasks
from glsw.run.workers import DeviceProcess, Task, UserExecutor, Worker, info_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from typing_extensions import Self

Devices: TypeAlias = int | str | Device | Sequence[int | str] | None
SpecT = TypeVar("SpecT", bound=EngineSpec)
ItemT = TypeVar("ItemT")

_TASKS_PER_WORKER = 4


def specs_for(spec: SpecT, device: Devices) -> list[SpecT]:
    """Return one spec per device; a single one without a device for engines of the CPU.

    ``"all"`` stands for all hardware devices, or the first device if there are none.

    Raises
    ------
    ValueError
        If the engine cannot be made like this, or takes no device.
    """
    requires = spec.requires
    if requires is None:
        if device not in (None, "auto"):
            raise ValueError(f"engine {spec.name!r} runs on the CPU: omit the device")
        return [spec]
    chosen: Sequence[int | str | Device | None]
    if device == "all":
        fit = [info for info in devices() if info.offers(requires) and not info.software]
        chosen = [info.index for info in fit] or [None]
    elif isinstance(device, Sequence) and not isinstance(device, str):
        chosen = device
    else:
        chosen = [device]
    if not chosen:
        raise ValueError(f"device {device!r}: at least one expected")
    return [replace(spec, device=each) for each in chosen]


@dataclass(frozen=True)
class Runner:
    """Executes one call and reports its progress.

    Parameters
    ----------
    engine : AnyEngine
        Of this process.
    workers : list of Worker, optional
        What computes instead of it.
    ties : str
        As in `Engine.ends`.
    progress : callable, optional
        Called now and then with the number of cells finished since the last call.
    """

    engine: Any
    workers: list[Worker] | None = None
    ties: Ties = "conventional"
    progress: Progress | None = None

    def results(
        self, tasks: Sequence[Task[Any]], cells: Sequence[int], whole: str
    ) -> Iterator[tuple[int, Any]]:
        """Yield the number of each task and what workers return for it, in any order.

        Parameters
        ----------
        tasks : sequence of Task
        cells : sequence of int
            The cells of each task, by which the rates of workers are measured.
        whole : str
            Name of the work, for messages.
        """
        assert self.workers
        done = run_tasks(in_order(tasks), self.workers, whole, len(tasks))
        for k, worker, answer in done:
            worker.measured(cells[k], answer)
            yield k, answer.value

    def report(self, cells: int) -> None:
        """Report finished cells."""
        if self.progress:
            self.progress(cells)

    def iterate(self, groups: Iterator[Sequence[ItemT]]) -> SharedIterator[ItemT]:
        """Return an iterator over items that are ready in groups; each takes the engine's turn."""
        return SharedIterator(groups, self.engine)


class EnginePool:
    """An engine in this process and, for several devices, a process with an engine for each.

    The processes start with the pool. They end with `close`, or when the pool is no longer used.

    Parameters
    ----------
    spec : EngineSpec
    device : int, str, Device, or list of int or str, optional
        As for `glsw.Aligner`. The engine of this process is on the first one.

    Attributes
    ----------
    engine : AnyEngine

    Raises
    ------
    DeviceError, ValueError
        If the engine cannot be made, here or in one of the processes.
    """

    def __init__(self, spec: EngineSpec, device: Devices) -> None:
        specs = specs_for(spec, device)
        self.spec = specs[0]
        self._processes: list[DeviceProcess] = []
        weakref.finalize(self, _close, self._processes)
        try:
            if len(specs) > 1:
                for each in specs:
                    self._processes.append(DeviceProcess(each))
            self.engine: Any = self.spec.make()
            for process in self._processes:
                process.wait()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the processes; safe to repeat."""
        _close(self._processes)

    @property
    def where(self) -> str:
        """The names of the devices, equal ones counted."""
        return counted(process.where for process in self._processes) or str(self.engine.where)

    @property
    def devices(self) -> list[DeviceInfo]:
        """The OpenGL devices of the pool; none of an engine of the CPU, or of an executor."""
        found = [process.info for process in self._processes] or [info_of(self.engine)]
        return [info for info in found if info is not None]

    def workers(self, executor: Executor | None = None) -> list[Worker]:
        """Return the workers; none if the engine of this process is to do the work.

        Processes that have failed are restarted. TypeError if ``executor`` is no executor,
        ValueError if there are several devices as well.
        """
        if executor is not None:
            if self._processes:
                raise ValueError("an executor and several devices cannot be combined")
            return [UserExecutor(executor, self.spec)]
        for process in self._processes:
            if process.failed:
                process.restart()
        return [*self._processes]

    @contextmanager
    def running(
        self,
        progress: Progress | None = None,
        executor: Executor | None = None,
        ties: Ties = "conventional",
    ) -> Iterator[Runner]:
        """Give who carries out one call, while the engine has its turn; errors as of `workers`."""
        with self.engine.turn:
            yield Runner(self.engine, self.workers(executor), ties, progress)


class SharedIterator(Iterator[ItemT]):
    """An iterator that several threads may advance, one at a time.

    Parameters
    ----------
    groups : iterator of sequences
        Items that are ready together: a turn of the device is taken for a group, not for an item.
    engine : AnyEngine
        What computes the items.
    """

    def __init__(self, groups: Iterator[Sequence[ItemT]], engine: AnyEngine) -> None:
        self._groups = groups
        self._ready: deque[ItemT] = deque()
        self._end: Callable[[], object] | None = None
        self._turn = engine.turn if engine.capabilities.requires else threading.RLock()

    def before_end(self, end: Callable[[], object]) -> Self:
        """Have something called after the last item, an error, or `close`; return self."""
        self._end = end
        return self

    def __next__(self) -> ItemT:
        try:
            while True:
                with suppress(IndexError):
                    return self._ready.popleft()
                with self._turn:
                    if not self._ready:  # another thread may have been here
                        self._ready.extend(next(self._groups))
        except BaseException:
            self._finish()
            raise

    def close(self) -> None:
        """Stop; there are no more items. Safe to repeat."""
        with self._turn:
            if isinstance(self._groups, Generator):
                self._groups.close()
            self._groups = iter(())
            self._ready.clear()
        self._finish()

    def __del__(self) -> None:
        self._finish()

    def _finish(self) -> None:
        end, self._end = self._end, None
        if end:
            end()


class PoolUser:
    """Base class of the aligners: `close` or a ``with`` block ends their processes.

    Attributes
    ----------
    engine : AnyEngine
        The engine of this process.
    """

    def __init__(self, spec: EngineSpec, device: Devices) -> None:
        self._pool = EnginePool(spec, device)

    def close(self) -> None:
        """End the processes of several devices; safe to repeat, and not needed for one device."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def where(self) -> str:
        """The names of the devices, for results."""
        return self._pool.where

    @property
    def devices(self) -> list[DeviceInfo]:
        """The OpenGL devices; empty for engines that run on the CPU."""
        return self._pool.devices


def _close(processes: Sequence[DeviceProcess]) -> None:
    for process in processes:  # they leave their devices side by side
        process.kill()
    for process in processes:
        process.close()


def task_count(workers: Iterable[Worker]) -> int:
    """Return the number of tasks into which to divide work among workers."""
    return _TASKS_PER_WORKER * sum(worker.concurrency for worker in workers)


def counted(names: Iterable[str]) -> str:
    """Return names, equal ones once with their number.

    >>> counted(["NVIDIA H200", "NVIDIA H200", "llvmpipe"])
    '2 x NVIDIA H200, llvmpipe'
    """
    numbers = Counter(names).items()
    return ", ".join(f"{count} x {name}" if count > 1 else name for name, count in numbers)
