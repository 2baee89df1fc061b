"""The thread that writes results: order, bounds, errors and interrupts."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest
from program import wait_until

from glsw.cli import stream
from glsw.cli.stream import WritingThread


def thread_names() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    before = sys.getswitchinterval()
    yield
    assert sys.getswitchinterval() == before
    assert "glsw output" not in thread_names()


def nothing() -> None:
    """Flush nothing."""


def test_results_are_written_in_order_by_another_thread() -> None:
    written: list[int] = []
    threads: set[str] = set()
    flushed: list[int] = []

    def write(result: int) -> None:
        written.append(result)
        threads.add(threading.current_thread().name)

    with WritingThread(write, lambda: flushed.append(len(written))) as thread:
        for k in range(1000):
            thread.put(k, k % 3)
    assert written == list(range(1000))
    assert threads == {"glsw output"}
    assert flushed[-1] == 1000


def test_without_results_there_is_no_thread() -> None:
    with WritingThread(pytest.fail, nothing):
        assert "glsw output" not in thread_names()


def blocked(ready: threading.Event) -> Callable[[int], object]:
    return lambda _: ready.wait(30)


def test_results_that_wait_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_MAX_PENDING", 10)
    ready, put = threading.Event(), []
    with WritingThread(blocked(ready), nothing) as thread:

        def fill() -> None:
            for k in range(5):
                thread.put(k, 4)
                put.append(k)

        filler = threading.Thread(target=fill)
        filler.start()
        filler.join(0.5)
        assert put == [0, 1]
        ready.set()
        filler.join()
        thread.put(5, 1000)  # more than may wait, but alone
    assert put == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("late", [False, True])
def test_errors_of_writing_are_raised(late: bool) -> None:
    failed = threading.Event()

    def write(result: int) -> None:
        if result == 3:
            failed.set()
            raise BrokenPipeError

    put: list[int] = []

    def put_all() -> None:
        with WritingThread(write, nothing) as thread:
            for k in range(4 if late else 10**6):
                thread.put(k, 1)
                put.append(k)

    with pytest.raises(BrokenPipeError):
        put_all()
    assert failed.is_set()
    assert len(put) < 10**6
    assert put[:4] == [0, 1, 2, 3]


def test_what_is_computed_is_written_if_the_next_fails() -> None:
    written: list[int] = []

    def put_all() -> None:
        with WritingThread(written.append, nothing) as thread:
            for k in range(100):
                thread.put(k, 1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put_all()
    assert written == list(range(100))


@pytest.mark.parametrize("launched", [False, True])
def test_an_interrupt_while_the_thread_starts(
    launched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        if launched:
            monkeypatch.setattr(thread._started, "wait", nothing)  # type: ignore[attr-defined]
            start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), WritingThread(written.append, nothing) as thread:
        thread.put(1, 1)
    assert written == [1]
    wait_until(lambda: "glsw output" not in thread_names())
