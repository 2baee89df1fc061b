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
