"""Processes of several devices: stopped ones are replaced, and none is left behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from failing import dies_while_it_answers, fails_once
from program import ROOT, wait_until
from smaller import smaller
from wing import of_wing, wing

import glsw
from glsw import Aligner
from glsw.device.device import Device, DeviceError
from glsw.engines.spec import EngineSpec
from glsw.run import pool, tasks, workers
from glsw.run.workers import AnswerT, Task

QUERIES = ["HEAGAWGHEE", "PAWHEAE", "MKVLAAGIAHEAE"]
TARGETS = ["PAWHEAE" * k for k in range(1, 9)]
TRIPLE = "HEAGAWGHEE", "PAWHEAE", "GAWHEE"


def shown(results: Iterator[glsw.SearchResult]) -> list[list[tuple[str, float]]]:
    return [[(hit.target.id, hit.score) for hit in result] for result in results]


# processes that a signal stops


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped process is seen at the second look, and looks follow one another quickly."""
    smaller(monkeypatch, looks=2)
    for module in (workers, tasks):
        monkeypatch.setattr(module, "SECONDS_BETWEEN_LOOKS", 0.05)


def test_a_stopped_process_is_replaced(
    device: Device, soon: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = device.info.index
    expected = shown(glsw.search(QUERIES, TARGETS, engine="reference"))
    monkeypatch.setattr(workers, "run_task", partial(fails_once, str(tmp_path / "flag"), "stops"))
    said = rf"^device {index}: its process was stopped by a signal; a part of the search is"
    with Aligner(engine="diagonal", device=[index, index]) as aligner:
        with pytest.warns(RuntimeWarning, match=said) as warned:
            assert shown(aligner.search(QUERIES, TARGETS)) == expected
        assert len(warned) == 1
        assert shown(aligner.search(QUERIES, TARGETS)) == expected


def test_a_process_that_dies_while_it_answers(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = device.info.index
    expected = shown(glsw.search(QUERIES, TARGETS, engine="reference"))
    dying = partial(dies_while_it_answers, str(tmp_path / "flag"))
    monkeypatch.setattr(workers, "run_task", dying)
    with (
        Aligner(engine="diagonal", device=[index, index]) as aligner,
        pytest.warns(RuntimeWarning, match=r"^device \d+: its process died; a part of "),
    ):
        assert shown(aligner.search(QUERIES, TARGETS)) == expected


class UnfitError(ValueError):
    """An error that another process cannot make."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} {other}")


def unfit(engine: Any) -> None:
    raise UnfitError("not", "fit")


def answers(engine: Any, what: Any) -> Any:
    return lambda: what


def test_what_cannot_be_pickled_is_an_error(device: Device) -> None:
    process = workers.DeviceProcess(EngineSpec("diagonal", glsw.Scoring.blast(), device.info.index))
    try:
        process.wait()
        for task, error in (
            (lambda engine: 1, "lambda"),  # a task, an answer, and an error
            (partial(answers, what=1), "answers.<locals>"),
            (unfit, "UnfitError|argument"),
        ):
            with pytest.raises(Exception, match=error):
                process.failure(process.submit(task))
        assert process.submit(type).result(60).value.__name__ == "Diagonal"
    finally:
        process.close()


BLOCKED = """
import signal
from multiprocessing import get_context
from glsw.run.workers import signals_blocked
with signals_blocked():
    get_context("spawn").Process(target=int).start()
    print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be held back")
def test_signals_are_held_back_until_the_first_process_has_started() -> None:
    code = [sys.executable, "-c", BLOCKED]
    done = subprocess.run(code, cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == f"{[signal.SIGINT, signal.SIGTERM]}\n"


STRUCK = """
import os, signal, threading
from multiprocessing.popen_spawn_posix import Popen
from glsw.run import workers
come, end = os.pipe(), threading.Event()
os.set_blocking(come[1], False)
signal.set_wakeup_fd(come[1])
def launch(self, process, launch=Popen._launch):
    os.kill(os.getpid(), signal.SIGINT)
    os.read(come[0], 1)
    launch(self, process)
    print("started")
threading.Thread(target=end.wait).start()  # takes the signal
Popen._launch = launch
try:
    workers.spawned(workers.serve)
except KeyboardInterrupt:
    print("interrupted")
end.set()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be held back")
def test_a_signal_that_another_thread_takes_does_not_leave_half_a_process() -> None:
    code = [sys.executable, "-c", STRUCK]
    done = subprocess.run(code, cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("started\ninterrupted\n", "")


def test_a_closed_aligner_does_not_wait_for_its_processes(device: Device) -> None:
    aligner = Aligner(engine="diagonal", device=[device.info.index] * 2)
    aligner.close()
    with pytest.raises(RuntimeError, match=r"^device \d+: its process has been closed$"):
        shown(aligner.search(QUERIES, TARGETS))


def stopped_process() -> subprocess.Popen[bytes]:
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    started.send_signal(signal.SIGSTOP)
    return started


def test_a_stopped_process_is_known_from_a_slow_one() -> None:
    assert not workers.is_stopped(os.getpid())
    assert not workers.is_stopped(None)
    started = stopped_process()
    try:
        wait_until(lambda: workers.is_stopped(started.pid))
        started.send_signal(signal.SIGCONT)
        wait_until(lambda: not workers.is_stopped(started.pid))
    finally:
        started.kill()
        started.wait()
    assert not workers.is_stopped(started.pid)


def test_a_process_that_is_stopped_at_the_start(
    device: Device, soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned = workers.spawned

    def stopped(serve: Any) -> Any:
        process, pipe = spawned(serve)
        assert process.pid
        os.kill(process.pid, signal.SIGSTOP)
        return process, pipe

    monkeypatch.setattr(workers, "spawned", stopped)
    before = set(active_children())
    index = device.info.index
    with pytest.raises(DeviceError, match=r"device \d+: its process was stopped by a signal at "):
        Aligner(engine="diagonal", device=[index, index])
    assert set(active_children()) <= before


# no process is left


class FakeProcess(workers.Worker):
    """Counts the processes that there are, and works in this one."""

    running = 0
    failed = False
    where = "here"

    def __init__(self, spec: EngineSpec) -> None:
        self.name, self._engine = "fake", spec.make(quiet=True)
        self.restart()

    def restart(self) -> None:
        self._runs, self.failed = True, False
        FakeProcess.running += 1

    def submit(self, task: Task[AnswerT]) -> Future[workers.Answer[AnswerT]]:
        assert self._runs
        done: Future[workers.Answer[AnswerT]] = Future()
        try:
            done.set_result(workers.Answer(task(self._engine)))
        except Exception as error:
            done.set_exception(error)
        return done

    def lost(self, error: BaseException) -> str:
        raise error

    def wait(self) -> None:
        pass

    def abandon(self) -> bool:
        self.failed = True
        self.close()
        return True

    def kill(self) -> None:
        FakeProcess.running -= self._runs
        self._runs = False

    def close(self) -> None:
        self.kill()


@pytest.fixture
def devices(device: Device, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Options for two devices, without processes."""
    monkeypatch.setattr(pool, "DeviceProcess", FakeProcess)
    monkeypatch.setattr(FakeProcess, "running", 0)
    return {"device": [device.info.index] * 2}


def interrupted(cells: int) -> None:
    raise KeyboardInterrupt


def abandoned(results: Iterator[Any]) -> None:
    next(results)


SEARCH: Callable[..., Any] = partial(glsw.search, QUERIES, TARGETS, engine="diagonal")
WAYS: dict[str, Callable[..., object]] = {
    "score": partial(glsw.score, *QUERIES[:2]),
    "score_matrix": partial(glsw.score_matrix, QUERIES),
    "align": partial(glsw.align, *QUERIES[:2]),
    "alignments": lambda **given: list(glsw.alignments(*QUERIES[:2], max_alignments=2, **given)),
    "alignments, abandoned": lambda **given: abandoned(glsw.alignments(*QUERIES[:2], **given)),
    "search": partial(glsw.search, QUERIES[0], TARGETS, engine="diagonal"),
    "searches": lambda **given: list(SEARCH(**given)),
    "searches, abandoned": lambda **given: abandoned(SEARCH(**given)),
    "searches, not begun": lambda **given: SEARCH(**given) and None,
    "searches, closed": lambda **given: SEARCH(**given).close(),
    "an aligner, dropped": lambda **given: shown(Aligner(**given).search(QUERIES, TARGETS)) and 0,
}
WAYS |= of_wing(
    "three",
    {
        "score3": lambda **given: wing("three.aligner").score3(*TRIPLE, **given),
        "align3": lambda **given: glsw.align3(*TRIPLE, **given),
        "alignments3": lambda **given: abandoned(
            wing("three.aligner").alignments3(*TRIPLE, **given)
        ),
        "three sequences, dropped": lambda **given: glsw.Aligner3(**given).score(*TRIPLE),
    },
)
ERRORS: dict[str, Callable[..., object]] = {
    "wrong letters": partial(glsw.score, "M1V", "MKV"),
    "wrong option": lambda **given: SEARCH(top=0, **given),
    "wrong query": lambda **given: list(glsw.search([*QUERIES, "M1V"], TARGETS, **given)),
    "interrupted": lambda **given: list(SEARCH(progress=interrupted, **given)),
    "interrupted while one is searched": partial(
        glsw.search, QUERIES[0], TARGETS, progress=interrupted
    ),
    "an executor too": lambda **given: SEARCH(executor=4, **given),
    "no such device": lambda device: SEARCH(device=[*device, 99]),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_process_is_left(devices: dict[str, Any], way: str) -> None:
    WAYS[way](**devices)
    gc.collect()
    assert FakeProcess.running == 0


@pytest.mark.parametrize("way", ERRORS)
def test_no_process_is_left_by_errors(devices: dict[str, Any], way: str) -> None:
    with pytest.raises((ValueError, TypeError, KeyboardInterrupt, DeviceError)):
        ERRORS[way](**devices)
    gc.collect()
    assert FakeProcess.running == 0


def test_no_real_process_is_left(device: Device) -> None:
    before = set(active_children())
    results = SEARCH(device=[device.info.index] * 2)
    next(results)
    started = set(active_children()) - before
    assert len(started) == 2
    del results
    gc.collect()
    for process in started:
        process.join(60)
        assert not process.is_alive()
