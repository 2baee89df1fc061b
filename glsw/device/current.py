"""Which context is current in which thread, also after forks and signals.

GL calls go to the context that is current in the calling thread, and a context is current in at
most one thread. So threads take turns: a ``with`` block of a device waits for the blocks of other
threads, makes the context current, and gives it up at its end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import moderngl
    from typing_extensions import Self


class DeviceError(Exception):
    """No device, not the device asked for, or a GL error on it."""


class DeviceMemoryError(DeviceError):
    """The task exceeds the memory of the device, or the limit set for it."""


class UnreliableError(DeviceError):
    """The host received different results from those that the device stored."""


class _Process:
    """What this process, or one that it was forked from, has done with OpenGL."""

    used_gl = False
    forked = False


def note_use_of_gl() -> None:
    """Note that a context was created: processes forked from now on are rejected."""
    _Process.used_gl = True


def uses_gl() -> bool:
    """Return whether this process, or one it was forked from, has created a context."""
    return _Process.used_gl


def forked_after_gl() -> bool:
    """Return whether this process was forked from one that had used OpenGL.

    It has the state of its parent's driver, but not its threads: a GL call may wait for ever.
    """
    return _Process.forked


def check_fork() -> None:
    """Raise `DeviceError` if this process was forked from one that had used OpenGL."""
    if _Process.forked:
        raise DeviceError(
            "this process was forked from one that had used OpenGL, which no driver survives: "
            "start processes with 'spawn', as multiprocessing.get_context('spawn') does"
        )


@contextmanager
def signals_held() -> Iterator[None]:
    """Call handlers of signals, which may raise exceptions, only at the end of the block.

    The main thread runs them, whichever thread takes a signal. moderngl crashes where one raises an
    exception while it makes a program, as Ctrl-C does.
    """
    handlers, come = dict[int, Callable[..., object]](), list[int]()
    if threading.current_thread() is threading.main_thread():
        for each in signal.valid_signals():
            if callable(handler := signal.getsignal(each)):
                handlers[each] = handler
    for number in handlers:
        signal.signal(number, lambda number, _: come.append(number))
    try:
        yield
    finally:
        for number, held in handlers.items():
            signal.signal(number, held)
        for number in come:
            handlers[number](number, None)


def _after_fork() -> None:
    _Process.forked = _Process.used_gl
    _here.current.device = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Current:
    """The device whose context is current in a thread; the thread gives it up when it ends."""

    device: ThreadSafeContext | None = None

    def __init__(self) -> None:
        self._process = os.getpid()

    def __del__(
        self,
        at_exit: Callable[[], bool] = sys.is_finalizing,  # when modules are no longer there
        process: Callable[[], int] = os.getpid,
    ) -> None:
        if self.device and not at_exit() and process() == self._process:
            self.device._thread = None
            self.device._leave()


class _Here(threading.local):
    def __init__(self) -> None:
        self.current = _Current()


_here = _Here()


def current_device() -> ThreadSafeContext | None:
    """Return the device that is current in this thread."""
    return _here.current.device


def restore_current() -> None:
    """Make the device current again that was current before other contexts were tried."""
    if _here.current.device:
        _here.current.device._ctx.__enter__()  # type: ignore[no-untyped-call]


class ThreadSafeContext:
    """A context for which threads take turns.

    In a ``with`` block no other thread uses the context. Blocks may be nested, also those of
    several devices. `activate`, and `ctx` outside a block, make the context current in this thread
    until `deactivate`: other threads then get a `DeviceError`.

    Parameters
    ----------
    ctx : moderngl.Context
        Current in this thread.
    leave : callable
        Makes no context current in the calling thread.
    name : str
        For messages.
    """

    def __init__(self, ctx: moderngl.Context, leave: Callable[[], object], name: str) -> None:
        self.closed, self._end = False, "is closed"
        self._ctx, self._leave, self._name = ctx, leave, name
        self._lock = threading.RLock()
        self._before: list[ThreadSafeContext | None] = []  # current before each block
        self._thread: threading.Thread | None = None  # in which the context is current
        leave()
        restore_current()
        # Freeing at once would free in whichever context is current then.
        ctx.gc_mode = "context_gc"

    @property
    def ctx(self) -> moderngl.Context:
        """The context, made current in this thread unless it is."""
        if _here.current.device is not self:
            self.activate()
        return self._ctx

    def __enter__(self) -> Self:
        self._check()
        self._lock.acquire()
        try:
            before = _here.current.device
            if before is not self:
                self._make_current()
            self._free_dropped()
            self._before.append(before)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            before = self._before.pop()
            if before is not self:
                self._give_up()
            if before and before is not self and not before.closed and not before._thread:
                before._make_current()
        finally:
            self._lock.release()

    def activate(self) -> None:
        """Make this context the current one of this thread; costs a few microseconds."""
        self._check()
        with self._lock:
            if not (_here.current.device is self and self._before):
                self._make_current()
            self._free_dropped()

    def deactivate(self) -> None:
        """Give up the context, unless in a ``with`` block, so that other threads can use it."""
        if not self._before:
            self._give_up()

    def _give_up(self) -> None:
        if _here.current.device is self:
            self._thread = _here.current.device = None
            self._leave()

    def _check(self) -> None:
        check_fork()
        if self.closed:
            raise DeviceError(f"{self._name} {self._end}")

    def _make_current(self) -> None:
        this = threading.current_thread()
        if self._thread not in (None, this) and self._thread.is_alive():
            raise DeviceError(
                f"{self._name} is active in thread {self._thread.name!r}, which has to call its "
                "deactivate(), or to use it in a `with` block"
            )
        try:
            self._ctx.__enter__()  # type: ignore[no-untyped-call]
        except Exception as error:  # backends raise any
            raise DeviceError(f"{self._name}: {error}") from None
        before = _here.current.device
        if before is not None:
            before._thread = None
        self._thread, _here.current.device = this, self

    def _free_dropped(self) -> None:
        """Free GL objects that were dropped without ``release()``, in any thread."""
        dropped = self._ctx.objects
        while dropped:
            # ctx.gc() fails on objects that were released before: they have no such method
            if release := getattr(dropped.popleft(), "release", None):
                release()
