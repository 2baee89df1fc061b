"""Workers, which run tasks: one process per device, or the user's executor.

A task is a callable that takes an engine. It travels as bytes that only the worker reads, so that
schedulers need no glsw. The worker makes its engine once and keeps it for the next task.
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
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeAlias, TypeVar

from glsw import caller
from glsw.device.current import forked_after_gl, signals_held
from glsw.device.device import Device, DeviceError, DeviceMemoryError
from glsw.device.info import DeviceInfo
from glsw.engines.spec import EngineSpec
from glsw.sequences.sections import DatabaseError

if TYPE_CHECKING:
    from concurrent.futures import Future
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
        The host, the process and the thread that did it.
    error : Exception, optional
        What the task raised; schedulers would log it.
    """

    value: AnswerT
    seconds: float = 0.0
    thread: str = ""
    error: Exception | None = None


# in the other process


def run_task(number: int, version: str, parent: str, spec: bytes, task: bytes) -> Answer[Any]:
    """Run a pickled task of the process ``parent`` with the engine of a pickled spec.

    By its number a task differs from all others, as Dask answers equal calls once.
    """
    thread = this_worker()
    try:
        if fault := other_version(version):
            raise DeviceError(fault)
        engine = kept_engine(spec, parent)
        do, start = pickle.loads(task), time.perf_counter()
        return Answer(do(engine), time.perf_counter() - start, thread)
    except Exception as error:
        if isinstance(error, DeviceError):
            _kept.spec = b""  # the next task opens the device again
        return Answer(None, thread=thread, error=error)


def other_version(needed: str) -> str:
    """Return why this process cannot work for another version of glsw, or ""."""
    from glsw._version import __version__

    return "" if needed == __version__ else f"it has glsw {__version__}, and {needed} is needed"


def this_worker() -> str:
    """Return the host, the process and the thread that call this."""
    return f"{_this_process()}:{threading.get_ident()}"


def _this_process() -> str:
    import socket

    return f"{socket.gethostname()}:{os.getpid()}"


def _described(engine: Any) -> tuple[str, DeviceInfo | None]:
    """Return the name of the device of an engine, and the device if it is one of OpenGL."""
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


def kept_engine(pickled: bytes, parent: str) -> Any:
    """Return the engine of a pickled spec, which this thread keeps; ValueError after a fork."""
    if _kept.spec != pickled:
        spec: EngineSpec = pickle.loads(pickled)
        if spec.requires and (parent == _this_process() or forked_after_gl()):
            raise ValueError(
                f"engine {spec.name!r} on an executor needs processes started by 'spawn': threads "
                "take turns on an OpenGL device, and no driver survives a fork"
            )
        _kept.spec, _kept.engine = b"", spec.make(quiet=True)
        _kept.spec = pickled
    return _kept.engine


# in this process


class _Call:
    """A call, which happens when it is unpickled."""

    def __init__(self, *parts: Any) -> None:
        self._parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return self._parts[0], self._parts[1:]


def posted(function: Callable[..., Any], *arguments: Any) -> bytes:
    """Return a call, which `pickle.loads` makes elsewhere."""
    return pickle.dumps(_Call(function, *arguments))


_numbers = count()


def _posted_task(spec: bytes, task: Task[Any]) -> bytes:
    from glsw._version import __version__

    whose = next(_numbers), __version__, _this_process()
    return posted(run_task, *whose, spec, pickle.dumps(task))


class Worker(ABC):
    """Base class of workers."""

    name: str
    slots: int = 1
    """How many tasks it gets at a time."""
    concurrency: int = 1
    """How many of these run at the same time, as far as known."""
    rate: float | None = None
    """Cells per second of each of these, once measured."""
    repeatable: ClassVar[tuple[type[Exception], ...]] = (DeviceError,)
    """Errors of a task that another process may not have."""

    @abstractmethod
    def submit(self, task: Task[AnswerT]) -> Future[Answer[AnswerT]]:
        """Begin with a task."""

    @abstractmethod
    def lost(self, error: BaseException) -> str:
        """Return why there is no answer if the task may be repeated; else raise a DeviceError."""

    def measured(self, cells: int, answer: Answer[Any]) -> None:
        """Learn from a task that is done."""
        if answer.seconds > 0:
            rate = cells / answer.seconds
            if self.rate is None or rate > 2 * self.rate:  # earlier tasks were too small to tell
                self.rate = rate
            else:
                self.rate = (self.rate + rate) / 2

    def failure(self, future: Future[Answer[Any]]) -> str:
        """Return what failed if the task can be retried, "" if nothing did; raise other errors."""
        from concurrent.futures import CancelledError

        try:
            answer = future.result()
        except (Exception, CancelledError) as error:
            return f"{self.name}: {self.lost(error)}"
        if (failed := answer.error) is None:
            return ""
        if not isinstance(failed, self.repeatable) or isinstance(failed, DeviceMemoryError):
            raise failed
        return f"{self.name_in(answer)}: {failed}"

    def name_in(self, answer: Answer[Any]) -> str:
        """Return the worker's name, for messages."""
        return self.name

    def abandon(self) -> bool:
        """Stop what is running, as far as possible; return whether nothing comes of it."""
        return False

    def restart(self) -> None:  # noqa: B027
        """Go on after `abandon`."""

    def look(self) -> None:  # noqa: B027
        """Look after its processes; called now and then while it is waited for."""


SECONDS_BETWEEN_LOOKS = 1.0
_SECONDS_FOR_AN_ANSWER = 60  # of a scheduler, about its workers
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
        self._ready = self.submit(_described)
        self.failed = False
        self._looks = 0

    def submit(self, task: Task[AnswerT]) -> Future[Answer[AnswerT]]:
        """Begin with a task."""
        from concurrent.futures import Future

        if self._closed:
            raise RuntimeError(f"{self.name}: its process has been closed")
        answer: Future[Answer[AnswerT]] = Future()
        self._calls.put((_posted_task(self._spec, task), answer))
        return answer

    def wait(self) -> None:
        """Wait until the engine is made; DeviceError if it cannot be."""
        from concurrent.futures import BrokenExecutor, wait

        while not wait([self._ready], SECONDS_BETWEEN_LOOKS).done:
            self.look()
        try:
            described = self._ready.result()
        except BrokenExecutor:
            raise DeviceError(
                f"{self.name}: {self.end} at the start; a script that uses several devices "
                'has to be importable, with its work below if __name__ == "__main__"'
            ) from None
        if described.error:
            raise described.error
        self.where, self.info = described.value

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
            self._looks = self._looks + 1 if is_stopped(self._process.pid) else 0
            if self._looks == _LOOKS_AT_A_STOPPED_PROCESS:
                self._process.kill()

    @property
    def _was_stopped(self) -> bool:
        return self._looks >= _LOOKS_AT_A_STOPPED_PROCESS

    @property
    def end(self) -> str:
        """How its process ended, for messages."""
        return "its process was stopped by a signal" if self._was_stopped else "its process died"

    def lost(self, error: BaseException) -> str:
        """Return how its process ended; other errors are raised as they are."""
        from concurrent.futures import BrokenExecutor, CancelledError

        if isinstance(error, BrokenExecutor | CancelledError):
            return self.end
        raise error

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
    """The user's executor: it assigns tasks to processes, and replaces lost ones or fails.

    Parameters
    ----------
    executor : Executor
    spec : EngineSpec
        If it names no device, processes that may be on other hosts take that of their rank.

    Raises
    ------
    TypeError
        If it is no executor, or belongs to an asynchronous client of Dask.
    """

    name = "executor"
    repeatable = DeviceError, DatabaseError, OSError, ImportError

    def __init__(self, executor: Any, spec: EngineSpec) -> None:
        from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

        if not isinstance(executor, Executor):
            hint = "; Dask's is client.get_executor()" * hasattr(executor, "get_executor")
            raise TypeError(f"executor must be an Executor, not {type(executor).__name__}{hint}")
        here = type(executor) in (ThreadPoolExecutor, ProcessPoolExecutor)
        if spec.device is None and spec.requires and not here:
            spec = replace(spec, of_rank=True)
        self._executor, self._spec = executor, pickled(spec)
        self._seen: set[str] = set()
        self._known = tasks_at_once(executor)

    @property
    def concurrency(self) -> int:  # type: ignore[override]
        """How many tasks run at the same time: what it says, or as many as have answered."""
        return max(1, self._known or 0, len(self._seen))

    @property
    def slots(self) -> int:  # type: ignore[override]
        """A task to run and one to wait for each of these, and two for those that are unknown."""
        return 2 * self.concurrency + 2 * (self._known is None)

    def measured(self, cells: int, answer: Answer[Any]) -> None:
        """Learn from a task that is done, also how many workers there are."""
        super().measured(cells, answer)
        self._seen.add(answer.thread)

    def submit(self, task: Task[AnswerT]) -> Future[Answer[AnswerT]]:
        """Begin with a task; DeviceError if the executor takes none."""
        call = _posted_task(self._spec, task)
        try:
            return self._executor.submit(pickle.loads, call)
        except Exception as error:
            self.lost(error)

    def lost(self, error: BaseException) -> NoReturn:
        """Raise a DeviceError of one line."""
        text = str(error) or "it has cancelled a task; its scheduler may be lost"
        raise DeviceError(f"{self.name}: {text}") from None

    def name_in(self, answer: Answer[Any]) -> str:
        """Return who has failed, by its host."""
        return f"worker on {answer.thread.partition(':')[0]}"

    def look(self) -> None:
        """Count the workers again; say so when the last one has gone."""
        before, self._known = self._known, tasks_at_once(self._executor)
        if self._known == 0 != before:
            caller.warn("the executor has no worker; waiting for one", RuntimeWarning)


def tasks_at_once(executor: Any) -> int | None:
    """Return how many tasks an executor runs at the same time, None if it does not say."""
    client = getattr(executor, "_client", None)
    if client is None:  # not Dask's
        known = getattr(executor, "num_workers", getattr(executor, "_max_workers", None))
        return known if isinstance(known, int) else None
    if client.asynchronous:
        raise TypeError("executor: that of a Client with asynchronous=False expected")
    chosen = executor._kwargs.get("workers")
    try:
        return sum(
            map(int, client.ncores(chosen, callback_timeout=_SECONDS_FOR_AN_ANSWER).values())
        )
    except Exception:
        return None  # its scheduler is lost: the tasks will say so


def pickled(spec: EngineSpec) -> bytes:
    """Return a spec for other processes, in which an open device has the same number."""
    if isinstance(spec.device, Device):
        spec = replace(spec, device=spec.device.info.index)
    return pickle.dumps(spec)


def is_stopped(pid: int | None) -> bool:
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


Call: TypeAlias = "tuple[bytes, Future[Any]]"
"""A call, see `posted`, and what gets the answer."""

_BLOCKED = {signal.SIGINT, signal.SIGTERM}


# in the other process


def follow_parent() -> None:
    """Leave Ctrl-C to the parent, and exit when it exits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _BLOCKED)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def serve(pipe: Connection) -> None:
    """Make the calls that come, see `posted`."""
    follow_parent()
    while True:
        try:
            call = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            data = pickle.dumps(pickle.loads(call))
        except Exception as error:
            failed = RuntimeError(f"{type(error).__name__}: {error}")
            data = pickle.dumps(Answer(None, error=failed))
        try:
            pipe.send_bytes(data)
        except OSError:  # the parent has ended
            return
        del call, data  # they may be large


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
        data, answer = call
        if answer.set_running_or_notify_cancel():
            with suppress(OSError):  # it has died, and there is no answer
                pipe.send_bytes(data)
            sent.put(answer)
        del call, data  # they may be large
    sent.put(None)


def _receive(pipe: Connection, sent: SimpleQueue[Future[Any] | None]) -> None:
    """Give answers to the futures of the calls that were sent, until None comes."""
    from concurrent.futures import BrokenExecutor

    with pipe:
        while answer := sent.get():
            try:
                answer.set_result(pickle.loads(pipe.recv_bytes()))
            except (EOFError, OSError) as error:
                answer.set_exception(BrokenExecutor(error))
            except Exception as error:
                answer.set_exception(error)
