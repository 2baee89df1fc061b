"""Schedules tasks on workers: each takes the next one when it is free.

A task that fails is repeated once. Its size may depend on its worker, see `Cutter` and `Pace`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from glsw import caller
from glsw.device.device import DeviceError
from glsw.run.workers import SECONDS_BETWEEN_LOOKS, Answer, Task, Worker

if TYPE_CHECKING:
    from concurrent.futures import Future

ItemT = TypeVar("ItemT")
Cutter: TypeAlias = Callable[[Worker], tuple[ItemT, Task[Any]] | None]
"""Returns what the next task of a worker stands for, and the task; None if there is no more."""

_FIRST_SHARE = 16  # of the cells that an engine computes at once, while no rate is known
_SECONDS_PER_TASK = 3.0  # between two of them a device waits for some hundredths of a second
_TASKS_PER_SECOND = 100  # of all workers together: more would keep caller and scheduler busy
_LEAST_SECONDS_PER_TASK = 0.25
_ROUNDS = 1.5  # near the end a worker gets its share of what is left, divided by this


def in_order(tasks: Sequence[Task[Any]]) -> Cutter[int]:
    """Return a cutter for tasks that do not depend on the worker; their numbers stand for them."""
    rest = iter(enumerate(tasks))
    return lambda worker: next(rest, None)


class Pace:
    """Sizes of tasks in cells: 3 seconds each, less near the end, so that all end together.

    With many workers tasks are longer: more than 100 per second would keep the caller busy.

    Parameters
    ----------
    workers : list of Worker
        Those that there are when a size is asked for; their rates are measured meanwhile.
    at_once : int
        Cells that their engines should compute at once, about, see `ScanHints`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> workers = [SimpleNamespace(rate=None, concurrency=1) for _ in range(2)]
    >>> pace = Pace(workers, 2**32)
    >>> [pace.cells(workers[0], cells) for cells in (10**12, 10**8)]
    [268435456, 25000000]
    >>> workers[0].rate, workers[1].rate = 1e9, 3e9
    >>> [pace.cells(workers[0], cells) for cells in (10**12, 4 * 10**9, 10**6)]
    [3000000000, 666666666, 250000000]
    """

    def __init__(self, workers: list[Worker], at_once: int) -> None:
        self._workers, self._first = workers, at_once // _FIRST_SHARE

    def cells(self, worker: Worker, left: int) -> int:
        """Return the size of the next task of a worker, given how many cells are left in all."""
        at_once = sum(each.concurrency for each in self._workers)
        usual = worker.rate
        if usual is None:
            known = [each.rate for each in self._workers if each.rate]
            if not known:
                return max(min(self._first, left // (2 * at_once)), self._first // 16)
            usual = min(known)
        size = max(_SECONDS_PER_TASK, at_once / _TASKS_PER_SECOND) * usual
        least = max(_LEAST_SECONDS_PER_TASK, at_once / (2 * _TASKS_PER_SECOND)) * usual
        if at_once > 1 and left < 4 * size * at_once:
            rates = sum((each.rate or usual) * each.concurrency for each in self._workers)
            size = min(size, left * usual / (_ROUNDS * max(rates, usual)))
        return int(max(size, least))


def run_tasks(
    cut: Cutter[ItemT], workers: list[Worker], whole: str, count: int | None = None
) -> Iterator[tuple[ItemT, Worker, Answer[Any]]]:
    """Yield what each task stands for, its worker and its answer, in any order.

    A worker that fails is removed from the list while there are others.

    Parameters
    ----------
    cut : callable
        See `Cutter`; `in_order` for a list of tasks.
    workers : list of Worker
    whole : str
        Name of the work, for messages.
    count : int, optional
        The number of tasks, if it is known.

    Raises
    ------
    DeviceError
        If a task has failed twice, or an executor fails. Other errors of tasks as they are.

    Warns
    -----
    RuntimeWarning
        If a device fails, or its process dies or is stopped: another worker repeats its task.
    """
    again: deque[tuple[int, ItemT, Task[Any]]] = deque()
    running: dict[Future[Any], tuple[int, ItemT, Task[Any], Worker]] = {}
    ended: SimpleQueue[Future[Any]] = SimpleQueue()
    busy: Counter[Worker] = Counter()
    failures: Counter[int] = Counter()
    numbers = 0
    more = True
    try:
        while more or again or running:
            # Each worker gets a task before any gets one to wait.
            for share, worker in product((0.5, 1.0), workers):
                while busy[worker] < share * worker.slots and (more or again):
                    if again:
                        k, item, task = again.popleft()
                    elif (piece := cut(worker)) is None:
                        more = False
                        break
                    else:
                        k, (item, task) = numbers, piece
                        numbers += 1
                    future = worker.submit(task)
                    running[future] = k, item, task, worker
                    busy[worker] += 1
                    future.add_done_callback(ended.put)
            if not (more or again or running):
                break
            try:
                future = ended.get(timeout=SECONDS_BETWEEN_LOOKS)
            except Empty:
                for worker in workers:
                    worker.look()
                continue
            if future not in running:  # its worker has been given up
                continue
            k, item, task, worker = running.pop(future)
            busy[worker] -= 1
            if not (text := worker.failure(future)):
                yield item, worker, future.result()
                continue
            again.appendleft((k, item, task))
            if worker.abandon():
                for other in [each for each in running if running[each][-1] is worker]:
                    again.append(running.pop(other)[:3])
                busy[worker] = 0
            failures[k] += 1
            if failures[k] > 1:
                raise DeviceError(f"{text}; a part of the {whole} has failed twice")
            if len(workers) > 1:
                workers.remove(worker)
            else:
                worker.restart()
            part = f"part {k + 1} of {count}" if count else "a part"
            caller.warn(f"{text}; {part} of the {whole} is computed again", RuntimeWarning)
    finally:
        for future, (*_, worker) in running.items():
            future.cancel()
            worker.abandon()
