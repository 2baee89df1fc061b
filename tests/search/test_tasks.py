"""Which worker gets which task, and when."""

from __future__ import annotations

import pickle
from concurrent.futures import Future
from functools import partial
from multiprocessing import Pipe
from operator import mul
from queue import SimpleQueue
from threading import Thread
from typing import Any

from glsw.run.tasks import in_order, run_tasks
from glsw.run.workers import Answer, Call, Task, Worker, hand_over, posted


class Recorded(Worker):
    """Answers at once, and notes whose turn it was."""

    slots = 2

    def __init__(self, name: str, turns: list[str]) -> None:
        self.name, self._turns = name, turns

    def submit(self, task: Task[Any]) -> Future[Any]:
        self._turns.append(self.name)
        done: Future[Any] = Future()
        done.set_result(Answer(task(None)))
        return done

    def lost(self, error: BaseException) -> str:
        raise error


def number(k: int, engine: Any) -> int:
    return k


def test_each_worker_gets_a_task_before_any_gets_one_to_wait() -> None:
    turns: list[str] = []
    workers: list[Worker] = [Recorded(name, turns) for name in ("one", "two", "three")]
    found = run_tasks(in_order([partial(number, k) for k in range(4)]), workers, "work")
    assert sorted(answer.value for _, _, answer in found) == [0, 1, 2, 3]
    assert turns == ["one", "two", "three", "one"]


def test_the_next_call_is_there_before_the_answer() -> None:
    mine, its = Pipe()
    calls: SimpleQueue[Call | None] = SimpleQueue()
    answers: list[Future[Any]] = [Future(), Future()]
    Thread(target=hand_over, args=(mine, calls), daemon=True).start()
    for k, answer in enumerate(answers):
        calls.put((posted(mul, 7, k), answer))
    came = [its.recv_bytes() for _ in answers if its.poll(60)]
    for call in came:
        its.send_bytes(pickle.dumps(pickle.loads(call)))
    assert [answer.result(60) for answer in answers] == [0, 7]
    calls.put(None)
