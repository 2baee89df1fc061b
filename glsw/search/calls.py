"""Calls that another process carries out, one by one over a pipe, until either of them ends.

The process may end at any moment, also in the middle of an answer: each side has only its own end
of the pipe, so that the other one notices.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from queue import SimpleQueue

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
