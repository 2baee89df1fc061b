"""The self-test of a device in processes of their own: a driver that crashes ends one of them.

Several of them compile side by side, which takes most of the time.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from glsw.cores import cores
from glsw.device.device import open_device
from glsw.device.info import DeviceInfo
from glsw.engines import provable
from glsw.engines.speeds import measured
from glsw.run.workers import follow_parent, spawned
from glsw.trust.check import Test, Tested, tests_for
from glsw.trust.verdicts import Verdicts

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_MOST_PROCESSES = 16
_SPEEDS = -1  # what is asked for in place of a test

Rates = dict[str, float]  # cells per second of engines


class SelfTest:
    """The tests of a device, and the speeds that are measured after them.

    Verdicts and speeds that are known of it are forgotten first.

    Parameters
    ----------
    info : DeviceInfo
    """

    def __init__(self, info: DeviceInfo) -> None:
        self._info, self._tests = info, tests_for(info, provable(info))

    def rows(self) -> Iterator[Tested]:
        """Yield the results of the tests in order; DeviceError if the device does not open."""
        Verdicts.of(self._info).clear()
        sharing = dict[tuple[str, str, str], list[int]]()  # programs, so in one process
        for number, test in enumerate(self._tests):
            given = test.trial.work.partition(":")[0]
            sharing.setdefault((test.kind.name, test.variant.name, given), []).append(number)
        left = deque(sharing.values())
        found: list[Future[Tested]] = [Future() for _ in self._tests]
        count = min(_MOST_PROCESSES, cores(), len(left))
        testers = [_Tester(self._info.index, self._tests, left, found) for _ in range(count)]
        try:
            for tester in testers:
                tester.start()
            for result in found:
                yield result.result()
        finally:
            for tester in testers:
                tester.stop()

    def speeds(self) -> Rates:
        """Return the cells per second of engines, measured when nothing else runs, and keep them.

        Empty if the driver crashes.
        """
        process = _Process(self._info.index)
        try:
            rates: Rates = process.ask(_SPEEDS)
        except _CrashedError:
            return {}
        finally:
            process.end()
        return rates


class _CrashedError(Exception):
    """A process has ended."""


class _Process:
    """A process that has opened the device, and does what it is asked."""

    def __init__(self, index: int) -> None:
        self._process: BaseProcess
        self._pipe: Connection
        self._process, self._pipe = spawned(answer, index)

    def ask(self, number: int) -> Any:
        """Have it carry out a test, or measure speeds; _CrashedError if that ends it."""
        try:
            self._pipe.send(number)
            found = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode or 0
            name = str(code)
            with suppress(ValueError):
                name = signal.Signals(-code).name
            raise _CrashedError(f"the driver crashed ({name})") from None
        if isinstance(found, Exception):
            raise found
        return found

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


class _Tester(threading.Thread):
    """Has a process do tests, group after group; one that crashes is replaced."""

    def __init__(
        self, index: int, tests: list[Test], left: deque[list[int]], found: list[Future[Tested]]
    ) -> None:
        super().__init__(name="glsw-self-test", daemon=True)
        self._index, self._tests, self._left, self._found = index, tests, left, found
        self._process: _Process | None = None
        self._stopped = False
        self._turn = threading.Lock()

    def run(self) -> None:
        """Carry out tests until none are left."""
        while True:
            try:
                numbers = self._left.popleft()
            except IndexError:
                return
            for number in numbers:
                try:
                    self._found[number].set_result(self._row(number))
                except BaseException as error:
                    self._found[number].set_exception(error)
                    return

    def _row(self, number: int) -> Tested:
        start = time.perf_counter()
        with self._turn:
            if self._stopped:
                raise _CrashedError("it was stopped")
            self._process = self._process or _Process(self._index)
        try:
            row: Tested = self._process.ask(number)
        except _CrashedError as error:
            self._process = None
            row = self._tests[number].row(str(error), time.perf_counter() - start)
        return row

    def stop(self) -> None:
        """End its process, and begin no other one."""
        with self._turn:
            self._stopped = True
            if self._process:
                self._process.end()


# in the other process


def answer(pipe: Connection, index: int) -> None:
    """Carry out the tests of a device whose numbers come, until none do."""
    follow_parent()
    serve(pipe, index)


def serve(pipe: Connection, index: int) -> None:
    """Answer with rows, speeds or exceptions."""
    tests: list[Test] = []
    while True:
        try:
            number = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            with open_device(index, quiet=True) as device:
                tests = tests or tests_for(device.info, provable(device.info))
                found = measured(device) if number == _SPEEDS else tests[number].on(device)
        except Exception as error:
            found = error
        try:
            pipe.send(found)
        except OSError:  # the parent has ended
            return
