"""Devices without memory, and drivers that lose their context, as a user of commands meets them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from judge import Job, Running, fasta, judge

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are found as on Linux"
)
FILES = {"q.fasta": fasta("q", 6, 30, 60), "db.fasta": fasta("t", 60, 50, 150, 2)}
LITTLE = """
from glsw.device import device
made = device.Device.__init__
def little(self, *arguments, **options):
    made(self, *arguments, **options)
    self.info.limits["max_storage_block"] = {limit}
device.Device.__init__ = little
"""
LOST = """
import moderngl
from glsw.device import device
check, checks = device.Device.check, 0
def lost(self, *arguments):
    global checks
    checks += 1
    if checks == {when}:
        self._reset_status = lambda: 0x8253
        self.ctx.texture((10 * self.limit("max_texture_size"), 1), 4)
    return check(self, *arguments)
device.Device.check = lost
"""
RESET = """
import os, sys
os.environ["XDG_CACHE_HOME"] = {cache!r}
from glsw.engines.lanes.engine import Lanes
holds, trials = Lanes.holds, 0
def trial(lanes, kind):
    global trials
    trials += 1
    with open({tried!r}, "a") as file:
        file.write("x")
    if trials == {when}:
        lanes.device._reset_status = lambda: {status}
        try:
            lanes.device._fail("computing lanes", "context lost", False)
        finally:
            del lanes.device._reset_status
    return holds(lanes, kind)
Lanes.holds = trial
"""
DAMAGED = """
import moderngl
import numpy as np
from glsw.device.transfer import Readback
read_into, reads = moderngl.Buffer.read_into, 0
def damaged(buffer, array, *sizes, **places):
    global reads
    read_into(buffer, array, *sizes, **places)
    reads += 1
    if reads == {when}:
        content = array.reshape(-1).view(np.uint8)
        content[:] = np.roll(content, 4)
        content[0] ^= 1
moderngl.Buffer.read_into = damaged
"""
ENGINES = ["auto", "lanes", "diagonal", "blocked", "scan", "wavefront"]
JOBS = {
    engine: Job(
        f"search q.fasta db.fasta --format tsv --engine {engine} --output out", "out", FILES
    )
    for engine in ENGINES
}


def struck(job: Job, code: str, fault: str, folder: Path) -> Running:
    job.measure(folder / "usual")
    (folder / "run").mkdir()
    job.prepare(folder / "run")
    with Running(job, folder / "run", code=code) as running:
        running.end()
        judge(running, fault)
    return running


@pytest.mark.seeds(1)
def test_too_little_memory(seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"memory {seed}")
    limit = 1 << chance.randint(5, 18)
    engine = chance.choice(ENGINES)
    struck(JOBS[engine], LITTLE.format(limit=limit), "too little device memory", tmp_path)


@pytest.mark.seeds(1)
def test_a_lost_context(seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"context {seed}")
    engine = chance.choice(ENGINES[1:])
    code = LOST.format(when=chance.randint(1, 4))
    running = struck(JOBS[engine], code, "a lost context", tmp_path)
    assert "has lost its context, which its own work has reset" in running.err


@pytest.mark.parametrize("status", [0x8253, 0x8254])
def test_a_context_that_a_self_test_loses(status: int, tmp_path: Path) -> None:
    """By its own work the trial is a verdict, and the next variant is used; else it is none."""
    words = {"cache": str(tmp_path / "cache"), "tried": str(tmp_path / "tried"), "status": status}
    guilty = status == 0x8253
    fault = "a context lost by a self-test" if guilty else "a lost context"
    counts = []
    for when in (1, 0) if guilty else (1,):
        (folder := tmp_path / f"{when}").mkdir()
        running = struck(JOBS["lanes"], RESET.format(**words, when=when), fault, folder)
        assert ("engine 'lanes': fails: it resets the device" in running.err) == guilty
        counts.append(len((tmp_path / "tried").read_text()))
    assert len({*counts}) == 1, "the next process tries again"


@pytest.mark.seeds(1)
def test_a_result_that_is_damaged_on_its_way(seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"damaged {seed}")
    engine = chance.choice(ENGINES[1:])
    code = DAMAGED.format(when=chance.randint(1, 4))
    fault = "a result damaged on its way from the device"
    running = struck(JOBS[engine], code, fault, tmp_path)
    assert "did not arrive as it had stored them" in running.err
