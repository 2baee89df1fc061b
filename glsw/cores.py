"""The number of CPU threads that this process uses."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from glsw.words import POSITIVE

if TYPE_CHECKING:
    from concurrent.futures import Future

_MAX_THREADS = 8  # for memory and files, which more do not make faster
_BESIDE, _AHEAD = 8, 12  # threads beside one that makes items, and items that wait for them
_SWITCH_INTERVAL = 1e-4  # seconds
_switching, _intervals = Lock(), list[float]()
_limit: int | None = None
ItemT = TypeVar("ItemT")
FoundT = TypeVar("FoundT")


def cores() -> int:
    """Return the limit of threads, or else the cores that this process may use."""
    if _limit is not None:
        return _limit
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(
    work: Callable[[ItemT], FoundT],
    items: Iterable[ItemT],
    least: int = 2,
    count: int | None = None,
    found: Callable[[FoundT], object] = lambda _: None,
) -> list[FoundT]:
    """Return what ``work`` returns for each item; from ``least`` items on threads share them.

    Items that an iterator makes, ``count`` of them, are made meanwhile in this thread, few ahead.
    This thread calls ``found`` with each result.

    >>> in_threads(len, ["a", "bc"])
    [1, 2]
    """
    number = len(items) if isinstance(items, Sequence) else count or 0
    threads = min(_MAX_THREADS, cores(), number)
    if threads < 2 or number < least:
        return _collected(map(work, items), found)
    from concurrent.futures import ThreadPoolExecutor

    if isinstance(items, Sequence):
        with ThreadPoolExecutor(threads) as pool:
            return _collected(pool.map(work, items), found)
    return _collected(beside(work, items), found)


def _collected(results: Iterable[FoundT], found: Callable[[FoundT], object]) -> list[FoundT]:
    every = []
    for each in results:
        every.append(each)
        found(each)
    return every


def beside(work: Callable[[ItemT], FoundT], items: Iterable[ItemT]) -> Iterator[FoundT]:
    """Yield what ``work`` returns for each item; threads do it while this one makes the next few.

    An error of the iterator is raised behind what comes before it.

    >>> [*beside(len, iter(["a", "bc"]))]
    [1, 2]
    """
    from concurrent.futures import ThreadPoolExecutor

    pending: deque[Future[FoundT]] = deque()
    errors: list[Exception] = []

    def until_an_error() -> Iterator[ItemT]:
        try:
            yield from items
        except Exception as error:
            errors.append(error)

    with _quick_switches(), ThreadPoolExecutor(min(_BESIDE, cores())) as pool:
        for each in until_an_error():
            pending.append(pool.submit(work, each))
            if len(pending) > _AHEAD:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    for error in errors:
        raise error


def ahead(items: Iterable[ItemT]) -> Iterator[ItemT]:
    """Yield items, which are not None; a thread makes the next one.

    >>> [*ahead(["a", "bc"])]
    ['a', 'bc']
    """
    from concurrent.futures import ThreadPoolExecutor

    rest = iter(items)
    with ThreadPoolExecutor(1, "glsw-ahead") as thread:
        following = thread.submit(next, rest, None)
        while (current := following.result()) is not None:
            following = thread.submit(next, rest, None)
            yield current


@contextmanager
def _quick_switches() -> Iterator[None]:
    """Have threads wait for Python's lock 0.1 ms, not 5, where another one goes on without end."""
    with _switching:
        _intervals.append(sys.getswitchinterval())
        sys.setswitchinterval(_SWITCH_INTERVAL)
    try:
        yield
    finally:
        with _switching:  # the last thread to leave has the first one's
            sys.setswitchinterval(_intervals.pop())


@contextmanager
def limited(threads: int | None) -> Iterator[None]:
    """Limit the threads of this process in a ``with`` block, unless there is None.

    Each piece of work for the processor has at most so many at a time: what engine ``cpu``
    computes, what is uploaded to a device, the checksums of a database.

    >>> with limited(3):
    ...     cores()
    3
    """
    global _limit
    before = _limit
    _limit = threads if threads is not None else before
    try:
        yield
    finally:
        _limit = before


def check_threads(threads: object) -> None:
    """Raise TypeError or ValueError unless this is a number of threads, or None.

    >>> check_threads(0)
    Traceback (most recent call last):
        ...
    glsw.words.ParameterError: threads 0: a whole number of 1 or more expected
    """
    if threads is not None:
        POSITIVE.check("threads", threads)
