"""Many devices: parts of a database, or of a batch, go to processes and answers come back.

Each device has a process of its own, started by "spawn", which makes its engine once. A process
gets its next part when it is done with the last, so that a slow device gets less. Instead of these
processes any `concurrent.futures.Executor` may do the work.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from glsw.device.device import Device, DeviceError, DeviceMemoryError, devices
from glsw.engines import Engine, Progress
from glsw.engines.spec import PROCESSES, EngineChoice
from glsw.search.ranking import Keys, Ranking
from glsw.search.scan import Found, Part, added, most_at_once, scan, shares
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.statistics import ScoreHistogram

Devices: TypeAlias = int | str | Device | Sequence[int | str] | None
AnswerT = TypeVar("AnswerT")
ChoiceT = TypeVar("ChoiceT", bound=EngineChoice)

SHARES = 4
"""How many parts of the work there are for each device."""

_QUERIES = 256  # that meet the whole database before the next ones, so that results come
_PAIRS = 4  # queries for a device, from which not the database is divided but they are


def chosen_devices(device: Devices, requires: tuple[int, int]) -> list[int | str | Device | None]:
    """Return the devices meant by ``"all"``, a list, or the name or number of one.

    All are those with hardware, or the first one if there is none.
    """
    if isinstance(device, Sequence) and not isinstance(device, str):
        if not device:
            raise ValueError(f"device {device!r}: at least one expected")
        return list(device)
    if device == "all":
        fit = [info for info in devices() if info.version >= requires]
        return [info.index for info in fit if not info.software] or [None]
    return [device]


def choices_for(choice: ChoiceT, device: Devices) -> list[ChoiceT]:
    """Return the choice for each of the devices; one without any for engines that need none.

    Raises
    ------
    ValueError
        If the engine cannot be made like this, or takes no device.
    """
    if choice.requires is None:
        if device is not None:
            raise ValueError(f"engine {choice.name!r} runs on the CPU and takes no device")
        return [choice]
    return [choice._replace(device=each) for each in chosen_devices(device, choice.requires)]


# what is done in other processes


@dataclass(frozen=True)
class Task(ABC, Generic[AnswerT]):
    """What another process does with the engine that it keeps.

    Parameters
    ----------
    parent : int
        The id of the process that asks.
    """

    parent: int = field(default_factory=os.getpid, kw_only=True)

    @abstractmethod
    def answer(self, engine: Any) -> AnswerT:
        """Carry it out."""


class Answer(NamedTuple):
    """The hits to keep of each query and what they cost, as in `Found`."""

    keys: list[Keys]
    engine: str
    device: str
    memory: int
    histograms: list[ScoreHistogram | None]


@dataclass(frozen=True)
class _PartTask(Task[Answer]):
    """A part of a database that queries meet."""

    part: Callable[[], Part]
    queries: Sequences
    ranking: Ranking

    def answer(self, engine: Engine) -> Answer:
        found = list(scan(engine, self.queries, [self.part()], self.ranking))
        keys, histograms = [each.keys for each in found], [each.histogram for each in found]
        return Answer(keys, engine.label, engine.where, engine.memory_used, histograms)


def answer(choice: bytes, task: Task[AnswerT]) -> AnswerT:
    """Carry out a task with the engine of a pickled choice, which is kept for the next task."""
    return task.answer(_engine(choice, task.parent))


class _Kept(threading.local):
    """The engine of a thread: engines do one thing at a time."""

    choice: bytes = b""
    engine: Any


_kept = _Kept()


def _engine(pickled: bytes, parent: int | None = None) -> Any:
    if _kept.choice != pickled:
        choice: EngineChoice = pickle.loads(pickled)
        here = os.getpid()
        if choice.requires and (parent == here or PROCESSES - {here}):
            raise ValueError(
                f"engine {choice.name!r} on an executor needs processes started by 'spawn': "
                "threads and forks cannot share an OpenGL device"
            )
        _kept.choice, _kept.engine = b"", choice.make(quiet=True)
        _kept.choice = pickled
    return _kept.engine


@lru_cache(maxsize=16)
def _mapped(database: bytes, start: int, stop: int) -> Part:
    return Part.of(_opened(database), slice(start, stop))


@lru_cache(maxsize=1)
def _opened(pickled: bytes) -> Database:
    database: Database = pickle.loads(pickled)
    return database


def _prepare(pickled: bytes) -> str:
    """Make the engine; return what runs it."""
    where: str = _engine(pickled).where
    return where


def _begin() -> None:
    """Leave Ctrl-C to the parent, and end with it however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


# who does it


def _pickled(choice: EngineChoice) -> bytes:
    """Return a choice for other processes, where an open device has the same number."""
    if isinstance(choice.device, Device):
        choice = choice._replace(device=choice.device.info.index)
    return pickle.dumps(choice)


class Place(ABC):
    """Where tasks are carried out, so many at a time."""

    name: str
    slots: float = 1
    workers: int = 1
    """How many tasks are carried out at a time, as far as known."""

    @abstractmethod
    def submit(self, task: Task[AnswerT]) -> Future[AnswerT]:
        """Begin with a task."""

    def renewed(self, engine: Any, broken: bool) -> Place:
        """Return what takes over where this place has failed and there is no other."""
        return self

    def abandon(self) -> None:  # noqa: B027
        """Stop what is running, as far as possible."""


class _Worker(Place):
    """A process of its own for a device."""

    where = ""

    def __init__(self, choice: EngineChoice) -> None:
        self.name = f"device {choice.device}"
        self._choice = _pickled(choice)
        self._start()

    def _start(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(1, mp_context=spawn, initializer=_begin)
        before = set(multiprocessing.active_children())
        with _uninterrupted():
            self._ready = self._pool.submit(_prepare, self._choice)
        self._processes = set(multiprocessing.active_children()) - before
        self.failed = False

    def wait(self) -> None:
        """Wait until the engine is made."""
        try:
            self.where = self._ready.result()
        except BrokenExecutor:
            raise DeviceError(
                f"{self.name}: its process died at the start; a script that uses several devices "
                'has to be importable, with its work below if __name__ == "__main__"'
            ) from None

    def submit(self, task: Task[AnswerT]) -> Future[AnswerT]:
        return self._pool.submit(answer, self._choice, task)

    def renewed(self, engine: Any, broken: bool) -> _Worker:
        self.restart()
        return self

    def restart(self) -> None:
        self.close()
        self._start()

    def abandon(self) -> None:
        self.failed = True
        self.close()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        for process in self._processes:
            process.kill()
        self._pool.shutdown(cancel_futures=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back, also from processes that are started meanwhile."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Given(Place):
    """An executor of the user's; if it breaks, the engine here takes over."""

    name = "executor"
    slots = float("inf")

    def __init__(self, executor: Executor, choice: EngineChoice) -> None:
        if not isinstance(executor, Executor):
            raise TypeError(f"executor must be an Executor, not {type(executor).__name__}")
        self._executor = executor
        self._choice = _pickled(choice)
        self.workers = getattr(executor, "_max_workers", 4)

    def submit(self, task: Task[AnswerT]) -> Future[AnswerT]:
        return self._executor.submit(answer, self._choice, task)

    def renewed(self, engine: Any, broken: bool) -> Place:
        return _Here(engine) if broken else self


class _Here(Place):
    """The process itself, for what an executor has left."""

    name = "this process"

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def submit(self, task: Task[AnswerT]) -> Future[AnswerT]:
        done: Future[AnswerT] = Future()
        try:
            done.set_result(task.answer(self._engine))
        except DeviceError as error:
            done.set_exception(error)
        return done


class Workers:
    """Processes for several devices, which start now and stay until closed.

    Parameters
    ----------
    choices : list of EngineChoice
        The engine of each device.
    """

    def __init__(self, choices: Sequence[EngineChoice]) -> None:
        self._workers: list[_Worker] = []
        try:
            for choice in choices:
                self._workers.append(_Worker(choice))
        except BaseException:
            self.close()
            raise

    def wait(self) -> None:
        """Wait until all are ready; DeviceError if one has no such device, or dies."""
        try:
            for worker in self._workers:
                worker.wait()
        except BaseException:
            self.close()
            raise

    @property
    def where(self) -> str:
        """The names of the devices, equal ones counted."""
        return _counted(worker.where for worker in self._workers)

    def places(self) -> list[Place]:
        """Return where tasks can be carried out, those that have failed with a new process."""
        for worker in self._workers:
            if worker.failed:
                worker.restart()
        return list(self._workers)

    def scan(
        self,
        engine: Engine,
        queries: Sequences,
        database: Database,
        ranking: Ranking,
        progress: Progress | None,
    ) -> Iterator[Found]:
        """Yield the hits to keep of each query, as `glsw.search.scan.scan`.

        ``engine`` is one of this process, for its limits.
        """
        slices = [slice(0, len(database))]
        fits = int(database.sequences.offsets[-1]) <= engine.part
        # Enough queries to divide among devices that each have the whole database, or parts of it.
        if len(queries) < _PAIRS * len(self._workers) or not fits or not database.path:
            slices = _slices(database, len(self._workers), engine.part)
        return _found(self.places(), slices, engine, queries, database, ranking, progress)

    def close(self) -> None:
        """End the processes; safe to repeat."""
        for worker in self._workers:
            worker.close()


def places_of(executor: Executor, choice: EngineChoice) -> list[Place]:
    """Return where tasks can be carried out: on an executor, with the engine of a choice."""
    return [_Given(executor, choice)]


def scan_on(
    executor: Executor,
    choice: EngineChoice,
    engine: Engine,
    queries: Sequences,
    database: Database,
    ranking: Ranking,
    progress: Progress | None,
) -> Iterator[Found]:
    """Yield the hits to keep of each query, found by tasks on an executor."""
    places = places_of(executor, choice)
    slices = _slices(database, places[0].workers, engine.part)
    return _found(places, slices, engine, queries, database, ranking, progress)


def _slices(database: Database, workers: int, limit: int) -> list[slice]:
    """Cut the sorted sequences into equal parts, several for each worker.

    Whoever is free takes the next one, so that a slow device does less and none waits for long.
    """
    size = min(limit, max(database.residues // (SHARES * workers), 1))
    return list(database.sequences.parts(size))


def _found(
    places: Sequence[Place],
    slices: Sequence[slice],
    engine: Engine,
    queries: Sequences,
    database: Database,
    ranking: Ranking,
    progress: Progress | None,
) -> Iterator[Found]:
    if database.path:
        pickled = pickle.dumps(database)
        parts = [partial(_mapped, pickled, each.start, each.stop) for each in slices]
    else:  # records stay here
        parts = [partial(Part, *Part.of(database, each)) for each in slices]
    residues = [int(np.diff(database.sequences.offsets[[s.start, s.stop]])[0]) for s in slices]
    places = list(places)
    at_once = most_at_once(ranking, _QUERIES)
    for first in range(0, len(queries), at_once):
        start = time.perf_counter()
        some = queries.part(slice(first, first + at_once))
        keys = [np.empty(0, np.int64)] * len(some)
        histograms: list[ScoreHistogram | None] = [None] * len(some)
        engines: dict[str, None] = {}
        names: dict[Place, str] = {}
        memory = 0
        shared = _shared(some, len(slices))
        chosen = [(part, numbers) for part in range(len(slices)) for numbers in shared]
        tasks = [_PartTask(parts[part], some.select(numbers), ranking) for part, numbers in chosen]
        for k, place, found in carried_out(tasks, places, engine, "search"):
            part, numbers = chosen[k]
            for q, each, histogram in zip(numbers, found.keys, found.histograms, strict=True):
                keys[q] = ranking.merged(keys[q], each)
                histograms[q] = added(histograms[q], histogram)
            engines[found.engine] = None
            names[place] = found.device
            memory = max(memory, found.memory)
            if progress:
                progress(residues[part] * len(tasks[k].queries.residues))
        ran = " and ".join(engines), _counted(names.values()), memory
        seconds = shares(time.perf_counter() - start, some)
        yield from (
            Found(each, share, *ran, histogram)
            for each, share, histogram in zip(keys, seconds, histograms, strict=True)
        )


def _shared(queries: Sequences, parts: int) -> list[list[int]]:
    """Return the numbers of the queries of each task: all, or two by two the longest first."""
    if parts > 1:
        return [list(range(len(queries)))]
    order = np.argsort(-queries.lengths, kind="stable").tolist()
    return [order[k : k + 2] for k in range(0, len(order), 2)]


def carried_out(
    tasks: Sequence[Task[AnswerT]], places: list[Place], engine: Any, what: str
) -> Iterator[tuple[int, Place, AnswerT]]:
    """Yield the number of each task, in any order, who did it and the answer.

    A place that fails gets no more tasks as long as there are others, and is taken off the list.

    Parameters
    ----------
    tasks : list of Task
    places : list of Place
    engine : Engine or Engine3
        One of this process, for what a broken executor leaves.
    what : str
        What the tasks are parts of, for messages.

    Raises
    ------
    DeviceError
        If a task has failed at two places; other errors of tasks as they are.

    Warns
    -----
    RuntimeWarning
        If a device fails, or its process dies: another one repeats its task.
    """
    waiting = deque(range(len(tasks)))
    running: dict[Future[AnswerT], tuple[int, Place]] = {}
    failed: set[int] = set()
    try:
        while waiting or running:
            for place in places:
                busy = sum(other is place for _, other in running.values())
                while waiting and busy < place.slots:
                    k = waiting.popleft()
                    running[_submitted(place, tasks[k])] = k, place
                    busy += 1
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                k, place = running.pop(future)
                error = future.exception()
                if error is None:
                    yield k, place, future.result()
                    continue
                fits = not isinstance(error, DeviceMemoryError)
                if not fits or not isinstance(error, BrokenExecutor | DeviceError):
                    raise error
                waiting.appendleft(k)
                if place not in places:  # it failed with another task
                    continue
                places.remove(place)
                place.abandon()
                broken = isinstance(error, BrokenExecutor)
                text = f"{place.name}: {'its process died' if broken else error}; "
                if k in failed:
                    raise DeviceError(f"{text}a part of the {what} has failed twice")
                failed.add(k)
                text += f"part {k + 1} of {len(tasks)} of the {what} is computed again"
                warnings.warn(text, RuntimeWarning, stacklevel=2)
                if not places:
                    places.append(place.renewed(engine, broken))
    finally:
        for future, (_, place) in running.items():
            future.cancel()
            place.abandon()


def _submitted(place: Place, task: Task[AnswerT]) -> Future[AnswerT]:
    """Begin with a task; that the place is broken is found when the answer is asked for."""
    try:
        return place.submit(task)
    except BrokenExecutor as error:
        broken: Future[AnswerT] = Future()
        broken.set_exception(error)
        return broken


def _counted(names: Iterable[str]) -> str:
    """Return names, equal ones once with their number.

    >>> _counted(["NVIDIA H200", "NVIDIA H200", "llvmpipe"])
    '2 x NVIDIA H200, llvmpipe'
    """
    counted = Counter(names).items()
    return ", ".join(f"{count} x {name}" if count > 1 else name for name, count in counted)
