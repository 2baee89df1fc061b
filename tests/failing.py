"""Devices that fail: what takes the place of `glsw.run.workers.run_task` in other processes."""

from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from glsw.device.device import DeviceError
from glsw.run.workers import Answer, run_task


def _begins(*task: Any) -> bool:
    """Whether a task only makes the engine of a process."""
    return b"_described" in task[-1]


def fails_once(flag: str, how: str, *task: Any) -> object:
    """Fail where the flag is not yet set."""
    if _begins(*task):
        return run_task(*task)
    try:
        Path(flag).touch(exist_ok=False)
    except FileExistsError:
        return run_task(*task)
    if how == "dies":
        os._exit(1)
    if how == "stops":
        os.kill(os.getpid(), signal.SIGSTOP)
    return Answer(None, thread="here:0:0", error=DeviceError("the driver is lost"))


def always_fails(how: str, *task: Any) -> object:
    if _begins(*task):
        return run_task(*task)
    if how == "dies":
        os._exit(1)
    return Answer(None, thread="here:0:0", error=DeviceError("the driver is lost"))


def dies_while_it_answers(flag: str, *task: Any) -> object:
    """Die with half of the answer on its way, where the flag is not yet set."""
    if not (_begins(*task) or Path(flag).exists()):
        Path(flag).touch()
        Connection._send = _send_half  # type: ignore[attr-defined]
    return run_task(*task)


def _send_half(connection: Connection, data: bytes) -> None:
    os.write(connection.fileno(), memoryview(data)[: len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


REASONS = {"dies": "its process died", "raises": "the driver is lost"}
