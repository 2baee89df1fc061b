"""Databases that are changed, and file systems that are slow or fail, while a search runs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from judge import Job, Running, fasta, judge

from glsw import makedb

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are found as on Linux"
)
# Blocks are read where they are needed, and one by one.
SMALL = """
from glsw.sequences import sections, database_file
sections._MAX_WHOLE = 0
sections._KEPT_BLOCKS = 1
read, reads = sections.read_at, 0
def read_at(file, lock, buffer, at):
    global reads
    reads += 1
    if reads == {when}:
        {what}
    return read(file, lock, buffer, at)
sections.read_at = read_at
"""
CHANGES = {
    "a database that is truncated": "os.truncate('db', {at})",
    "a database with flipped bits": (
        "file = open('db', 'r+b'); file.seek({at}); byte = file.read(1)[0]; "
        "file.seek({at}); file.write(bytes([byte ^ {bit}])); file.close()"
    ),
    "a database that is overwritten": "data = open('other', 'rb').read(); "
    "file = open('db', 'r+b'); file.write(data); file.close()",
    "a database that is replaced by another": "os.replace('other', 'db')",
    "a database that is deleted": "os.unlink('db')",
    "a slow file system": "import time; time.sleep({at} % 10 / 10)",
    "an error of the disk": "raise OSError(5, 'Input/output error')",
}
WORDS = {
    "here": "search q.fasta db --engine cpu --format tsv",
    "devices": "search q.fasta db --engine diagonal --device 0,0 --format tsv",
}
FILES = {"q.fasta": fasta("q", 3, 10, 20)}
JOBS = {name: Job(words, "", FILES) for name, words in WORDS.items()}


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("databases")
    for seed, name in enumerate(("db", "other")):
        (folder / "in.fasta").write_text(fasta("t", 900, 50, 150, seed))
        makedb(folder / "in.fasta", folder / name)
    return {name: (folder / name).read_bytes() for name in ("db", "other")}


@pytest.mark.seeds(1)
@pytest.mark.parametrize("fault", CHANGES)
@pytest.mark.parametrize("name", ["here", pytest.param("devices", marks=pytest.mark.slow)])
def test_a_database_in_use(
    name: str, fault: str, seed: int, databases: dict[str, bytes], tmp_path: Path
) -> None:
    chance = random.Random(f"{name} {fault} {seed}")
    job = JOBS[name]
    for folder in (tmp_path / "usual", tmp_path / "run"):
        if folder.name == "usual" and job.usual:
            continue
        folder.mkdir()
        for each, data in databases.items():
            (folder / each).write_bytes(data)
        job.prepare(folder)
    if not job.usual:
        with Running(job, tmp_path / "usual", code=SMALL.format(when=0, what="pass")) as running:
            job.usual["whole"], _ = running.end()
        assert running.status == 0, running.err
    when = chance.randint(1, 9)
    if fault == "an error of the disk":
        when = 1
    what = CHANGES[fault].format(at=chance.randrange(len(databases["db"])), bit=1 << seed % 8)
    with Running(job, tmp_path / "run", code=SMALL.format(when=when, what=what)) as running:
        running.end()
        judge(running, fault)
