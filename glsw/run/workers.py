"""Workers carry out tasks: one process per device, an executor of the user, or this process.

A task is a callable that takes an engine. It is pickled for another process, which makes its engine
once and keeps it for the next task. `remote` has what runs on other hosts.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from glsw.device.current import forked_after_gl, signals_held
from glsw.device.device import Device, DeviceError, DeviceMemoryError
from glsw.device.info import DeviceInfo
from glsw.engines.spec import EngineSpec

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from queue import SimpleQueue


AnswerT = TypeVar("AnswerT")
Task: TypeAlias = Callable[[Any], AnswerT]


@dataclass(frozen=True)
class Answer(Generic[AnswerT]):
    """What a task returns, and what it took.

    Parameters
    ----------
    value : object
    seconds : float
        Wall time of the task itself, without waiting and without making an engine.
    thread : str
        The process and the thread that did it.
    """

    value: AnswerT
    seconds: float = 0.0
    thread: str = ""


# in the other process


def run_task(spec: bytes, parent: int, task: Task[AnswerT]) -> Answer[AnswerT]:
    """Carry out a task of process ``parent`` with the engine of a pickled spec."""
    return answer(task, kept_engine(spec, parent))


def answer(task: Task[AnswerT], engine: Any, host: str = "") -> Answer[AnswerT]:
    """Carry out a task, and measure it."""
    start = time.perf_counter()
    value = task(engine)
    thread = f"{host}:{os.getpid()}:{threading.get_ident()}"
    return Answer(value, time.perf_counter() - start, thread)


def _start_engine(spec: bytes, parent: int) -> tuple[str, DeviceInfo | None]:
    """Make the engine; return the name of its device, and the device if it is one of OpenGL."""
    engine = kept_engine(spec, parent)
    return engine.where, info_of(engine)


def info_of(engine: Any) -> DeviceInfo | None:
    """Return the OpenGL device of an engine, if it has one."""
    info: DeviceInfo | None = engine.device.info if engine.capabilities.requires else None
    return info


class _EngineOfThread(threading.local):
    """The engine of a thread, and the pickled spec that it was made of."""

    spec: bytes = b""
    engine: Any


_kept = _EngineOfThread()


def kept_engine(pickled: bytes, parent: int = 0) -> Any:
    """Return the engine of a pickled spec, which this thread keeps; ValueError after a fork."""
    if _kept.spec != pickled:
        spec: EngineSpec = pickle.loads(pickled)
        if spec.requires and (parent == os.getpid() or forked_after_gl()):
            raise ValueError(
                f"engine {spec.name!r} on an executor needs processes started by 'spawn': threads "
                "take turns on an OpenGL device, and no driver survives a fork"
            )
        _kept.spec, _kept.engine = b"", spec.make(quiet=True)
        _kept.spec = pickled
    return _kept.engine


# in this process


class Worker(ABC):
    """Base class of workers."""

    name: str
    slots: float = 1
    """Maximum number of tasks it accepts at a time."""
    concurrency: int = 1
    """How many of these run at the same time, as far as known."""
    rate: float | None = None
    """Cells per second of each of these, once measured."""
    max_failures: int = 1
    """How often a task that it has lost is repeated."""

    @abstractmethod
    def submit(self, task: Task[AnswerT]) -> Future[Any]:
        """Begin with a task; the future has an `Answer`."""

    def measured(self, cells: int, answer: Answer[Any]) -> None:
        """Learn from a task that is done."""
        if answer.seconds > 0:
            rate = cells / answer.seconds
            if self.rate is None or rate > 2 * self.rate:  # earlier tasks were too small to tell
                self.rate = rate
            else:
                self.rate = (self.rate + rate) / 2

    def failure(self, error: BaseException) -> str | None:
        """Return what failed if another worker may repeat the task; None for its own errors."""
        from concurrent.futures import BrokenExecutor, CancelledError

        if isinstance(error, BrokenExecutor | CancelledError):
            return self.end
        repeatable = isinstance(error, DeviceError) and not isinstance(error, DeviceMemoryError)
        return str(error) if repeatable else None

    def replacement(self, engine: Any, broken: bool) -> Worker:
        """Return the worker that takes over if this one has failed and there is no other."""
        return self

    def abandon(self) -> bool:
        """Stop what is running, as far as possible; return whether nothing comes of it."""
        return False

    def look(self) -> None:  # noqa: B027
        """End a process that does not run any more; called now and then while it is waited for."""

    @property
    def end(self) -> str:
        """How its process ended, for messages."""
        return "its process died"


class Workers(list[Worker]):
    """The workers that there are at present; failed ones are removed from the list."""

    def follow(self) -> None:
        """Add new workers and remove lost ones; called about once a second."""

    def revive(self, failed: Worker, engine: Any, broken: bool) -> None:
        """Add what takes over if there is no worker any more; DeviceError if nothing can."""
        self.append(failed.replacement(engine, broken))


SECONDS_BETWEEN_LOOKS = 1.0
_LOOKS_AT_A_STOPPED_PROCESS = 10
"""After so many it is ended; after Ctrl-Z and `fg` parent and child do not go on at once."""


class DeviceProcess(Worker):
    """A process for one device, started by "spawn"; it may end at any moment, also by a signal.

    A thread hands it its tasks one by one over a pipe of which this process has only its own end,
    so that nobody waits for the rest of an answer when the process has died.
    """

    slots = 2  # so that the next task is there when the answer of a task is used
    where = ""
    """The name of the device, once `wait` has returned."""
    info: DeviceInfo | None = None
    """The device, likewise."""

    def __init__(self, spec: EngineSpec) -> None:
        self._spec = pickled(spec)
        self.name = f"device {spec.device}"
        self._start()

    def _start(self) -> None:
        from queue import SimpleQueue

        self._parent = os.getpid()
        self._process, mine = spawned(serve)
        self._closed = False
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        threading.Thread(target=hand_over, args=(mine, self._calls), daemon=True).start()
        self._ready = self._call(_start_engine, self._spec, os.getpid())
        self.failed = False
        self._looks = 0

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        from concurrent.futures import Future

        if self._closed:
            raise RuntimeError(f"{self.name}: its process has been closed")
        answer: Future[Any] = Future()
        self._calls.put((partial(function, *arguments), answer))
        return answer

    def submit(self, task: Task[AnswerT]) -> Future[Any]:
        """Begin with a task."""
        return self._call(run_task, self._spec, os.getpid(), task)

    def wait(self) -> None:
        """Wait until the engine is made; DeviceError if it cannot be."""
        from concurrent.futures import BrokenExecutor, wait

        while not wait([self._ready], SECONDS_BETWEEN_LOOKS).done:
            self.look()
        try:
            self.where, self.info = self._ready.result()
        except BrokenExecutor:
            raise DeviceError(
                f"{self.name}: {self.end} at the start; a script that uses several devices "
                'has to be importable, with its work below if __name__ == "__main__"'
            ) from None

    def replacement(self, engine: Any, broken: bool) -> DeviceProcess:
        """Return this worker with a new process."""
        self.restart()
        return self

    def restart(self) -> None:
        """Go on with a new process."""
        self.close()
        self._start()

    def abandon(self) -> bool:
        """End the process; `restart` starts another one."""
        self.failed = True
        self.close()
        return True

    def look(self) -> None:
        """End the process if a signal has stopped it for some time; a slow one is left alone."""
        if not self._was_stopped:
            self._looks = self._looks + 1 if _is_stopped(self._process.pid) else 0
            if self._looks == _LOOKS_AT_A_STOPPED_PROCESS:
                self._process.kill()

    @property
    def _was_stopped(self) -> bool:
        return self._looks >= _LOOKS_AT_A_STOPPED_PROCESS

    @property
    def end(self) -> str:
        """How its process ended, for messages."""
        return "its process was stopped by a signal" if self._was_stopped else super().end

    def kill(self) -> None:
        """Have the process end, even during a task; `close` waits until it has."""
        if os.getpid() == self._parent:
            self._closed = True
            self._process.kill()

    def close(self) -> None:
        """End the process, even during a task; safe to repeat."""
        self.kill()
        if os.getpid() == self._parent:
            self._process.join()
            self._calls.put(None)


class UserExecutor(Worker):
    """An executor of the user; if it breaks, the engine of this process takes over."""

    name = "executor"

    def __init__(self, executor: Executor, spec: EngineSpec) -> None:
        self._executor, self._spec = executor, pickled(spec)
        known = getattr(executor, "num_workers", getattr(executor, "_max_workers", None))
        self._known = known if isinstance(known, int) else None
        self._seen: set[str] = set()
        self._grow()

    def _grow(self) -> None:
        """Keep a task running and one waiting per worker, those that have answered if unknown."""
        self.concurrency = self._known or max(1, len(self._seen))
        self.slots = 2 * self.concurrency + (0 if self._known else 2)

    def measured(self, cells: int, answer: Answer[Any]) -> None:
        """Learn from a task that is done, also how many workers there are."""
        super().measured(cells, answer)
        self._seen.add(answer.thread)
        self._grow()

    def submit(self, task: Task[AnswerT]) -> Future[Any]:
        """Begin with a task."""
        return self._executor.submit(run_task, self._spec, os.getpid(), task)

    def replacement(self, engine: Any, broken: bool) -> Worker:
        """Return the engine of this process if the executor is broken."""
        return ThisProcess(engine) if broken else self


class ThisProcess(Worker):
    """The process itself, for the tasks that a broken executor leaves."""

    name = "this process"

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def submit(self, task: Task[AnswerT]) -> Future[Any]:
        """Carry out a task at once."""
        from concurrent.futures import Future

        done: Future[Any] = Future()
        try:
            done.set_result(answer(task, self._engine))
        except DeviceError as error:
            done.set_exception(error)
        return done


def pickled(spec: EngineSpec) -> bytes:
    """Return a spec for other processes, in which an open device has the same number."""
    if isinstance(spec.device, Device):
        spec = replace(spec, device=spec.device.info.index)
    return pickle.dumps(spec)


def _is_stopped(pid: int | None) -> bool:
    """Return whether a signal such as SIGSTOP has stopped a process, as far as can be known."""
    if pid is None or sys.platform == "win32":
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].strip()
    except OSError:
        if Path("/proc/self/stat").exists():
            return False  # it has ended
        import subprocess

        words = ["ps", "-o", "stat=", "-p", str(pid)]
        state = subprocess.run(words, capture_output=True, text=True).stdout.strip()
    return state.startswith("T")


Call: TypeAlias = "tuple[Callable[[], Any], Future[Any]]"
"""What to call, and what gets the answer."""

_BLOCKED = {signal.SIGINT, signal.SIGTERM}


# in the other process


def follow_parent() -> None:
    """Leave Ctrl-C to the parent, and exit when it exits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _BLOCKED)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def serve(pipe: Connection) -> None:
    """Carry out the calls that come."""
    follow_parent()
    while True:
        try:
            todo = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            answer = pickle.dumps((True, pickle.loads(todo)()))
        except Exception as error:
            answer = _pickled_error(error)
        try:
            pipe.send_bytes(answer)
        except OSError:  # the parent has ended
            return
        del todo, answer  # they may be large


def _pickled_error(error: Exception) -> bytes:
    try:
        return pickle.dumps((False, error))
    except Exception:  # it has something that cannot be pickled
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _exit_with_parent() -> None:
    import multiprocessing

    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


# in this process

_starting = threading.Lock()


def spawned(target: Callable[..., None], *arguments: Any) -> tuple[BaseProcess, Connection]:
    """Start a process by "spawn", which calls the target with its end of a pipe first.

    Return the process and this end. The process should begin with `follow_parent`.
    """
    import multiprocessing

    spawn = multiprocessing.get_context("spawn")
    mine, its = spawn.Pipe()
    with _starting, signals_blocked():
        process = spawn.Process(target=target, args=(its, *arguments), daemon=True)
        process.start()
    its.close()
    return process, mine


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM, also from processes that are started meanwhile."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which would let signals pass when it starts
    with signals_held():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def hand_over(pipe: Connection, calls: SimpleQueue[Call | None]) -> None:
    """Have a process carry out calls, until None comes; when it has died they are broken.

    They are sent at once, so that the next one is there when the process has answered.
    """
    from queue import SimpleQueue

    sent: SimpleQueue[Future[Any] | None] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, sent), daemon=True).start()
    while call := calls.get():
        _send(pipe, *call, sent)
        del call  # it may be large
    sent.put(None)


def _send(
    pipe: Connection, todo: Callable[[], Any], answer: Future[Any], sent: SimpleQueue[Any]
) -> None:
    if not answer.set_running_or_notify_cancel():
        return
    try:
        data = pickle.dumps(todo)
    except Exception as error:
        answer.set_exception(error)
        return
    with suppress(OSError):  # it has died, and there is no answer
        pipe.send_bytes(data)
    sent.put(answer)


def _receive(pipe: Connection, sent: SimpleQueue[Future[Any] | None]) -> None:
    """Give answers to the futures of the calls that were sent, until None comes."""
    from concurrent.futures import BrokenExecutor

    with pipe:
        while answer := sent.get():
            try:
                try:
                    data = pipe.recv_bytes()
                except (EOFError, OSError) as error:
                    raise BrokenExecutor from error
                succeeded, found = pickle.loads(data)
            except Exception as error:
                answer.set_exception(error)
                continue
            if succeeded:
                answer.set_result(found)
            else:
                answer.set_exception(found)
