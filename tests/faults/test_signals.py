"""Signals to a command and to its processes, at random moments."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from judge import Job, Running, fasta, judge, judge_resumed, struck

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are found as on Linux"
)
FILES = {"q.fasta": fasta("q", 8, 20, 40), "db.fasta": fasta("t", 8, 20, 40, 2)}
SEARCH = "search q.fasta db.fasta --engine reference --format tsv"
# Results are handed on at once, and so often that many moments differ.
SOON = "from glsw.output import result_file; result_file._SECONDS_BETWEEN_MARKS = 0"
LOOKS = "from glsw.run import workers; workers._LOOKS_AT_A_STOPPED_PROCESS = 2"
SEVERAL = {"q.fasta": fasta("q", 20, 20, 60), "db.fasta": fasta("t", 150, 50, 150, 2)}
ONE = {"a.fasta": fasta("a", 1, 2500, 2500), "b.fasta": fasta("b", 1, 2500, 2500, 2)}
JOBS = {
    "file": Job(f"{SEARCH} --output out", "out", FILES, code=SOON),
    "pipe": Job(SEARCH, "", FILES),
    "resume": Job(f"{SEARCH} --output out --resume", "out", FILES, code=SOON),
    "makedb": Job("makedb in.fasta db --force", "db", {"in.fasta": fasta("t", 5_000, 50, 150)}),
    "align": Job("align a.fasta b.fasta --format tsv --output out", "out", ONE),
    "devices": Job(
        "search q.fasta db.fasta --engine diagonal --device 0,0 --format tsv --output out",
        "out",
        SEVERAL,
        code=f"{SOON}; {LOOKS}",
    ),
}


def test_each_fault_of_the_table_has_a_test() -> None:
    from judge import ALLOWED

    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert len(ALLOWED) > 25
    assert [fault for fault in ALLOWED if f'"{fault}"' not in tests] == []


def to_command(number: int) -> Callable[[Running, random.Random], None]:
    return lambda running, chance: running.process.send_signal(number)


def to_all(number: int) -> Callable[[Running, random.Random], None]:
    def strike(running: Running, chance: random.Random) -> None:
        with suppress(ProcessLookupError):
            os.killpg(running.process.pid, number)

    return strike


def to_worker(number: int) -> Callable[[Running, random.Random], None]:
    def strike(running: Running, chance: random.Random) -> None:
        if workers := running.workers:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(workers), number)

    return strike


def stopped(first: Callable[[int], Callable[[Running, random.Random], None]]) -> Callable:
    """Stop what the function of a signal meets, and let it go on."""

    def strike(running: Running, chance: random.Random) -> None:
        state = chance.getstate()
        first(signal.SIGSTOP)(running, chance)
        running.wait_until(time.monotonic() + chance.uniform(0, 0.5))
        chance.setstate(state)
        first(signal.SIGCONT)(running, chance)

    return strike


FAULTS = {
    "SIGINT to the command": to_command(signal.SIGINT),
    "SIGTERM to the command": to_command(signal.SIGTERM),
    "SIGHUP to the command": to_command(signal.SIGHUP),
    "SIGKILL of the command": to_command(signal.SIGKILL),
    "SIGSTOP of the command, and SIGCONT": stopped(to_command),
}
OF_SEVERAL = {
    "SIGINT to all its processes": to_all(signal.SIGINT),
    "SIGTERM to all its processes": to_all(signal.SIGTERM),
    "SIGINT to the process of a device": to_worker(signal.SIGINT),
    "SIGTERM to the process of a device": to_worker(signal.SIGTERM),
    "SIGKILL of the process of a device": to_worker(signal.SIGKILL),
    "SIGSTOP of the process of a device": to_worker(signal.SIGSTOP),
    "SIGSTOP of the process of a device, and SIGCONT": stopped(to_worker),
}


def try_fault(name: str, fault: str, seed: int, folder: Path) -> None:
    job = JOBS[name]
    job.measure(folder / "usual")
    chance = random.Random(f"{name} {fault} {seed}")
    (folder / "struck").mkdir()
    job.prepare(folder / "struck")
    strike = {**FAULTS, **OF_SEVERAL}[fault]
    for _ in range(2 if name == "resume" else 1):
        with struck(job, folder / "struck", strike, chance) as running:
            judge(running, fault)
    if name in ("file", "resume", "devices"):
        judge_resumed(job, folder / "struck")


@pytest.mark.seeds(4)
def test_a_signal_at_a_random_moment(seed: int, tmp_path: Path) -> None:
    jobs = [name for name in JOBS if name != "devices"]
    name, fault = list(product(jobs, FAULTS))[7 * seed % (len(jobs) * len(FAULTS))]
    try_fault(name, fault, seed, tmp_path)


@pytest.mark.seeds(2)
def test_a_signal_to_one_of_several(seed: int, tmp_path: Path) -> None:
    faults = [*FAULTS, *OF_SEVERAL]
    try_fault("devices", faults[(5 + 3 * seed) % len(faults)], seed, tmp_path)
