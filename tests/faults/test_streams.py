"""Full disks, pipes without a reader, closed streams, and folders that are taken away."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import product
from pathlib import Path

import pytest
from judge import Job, Running, fasta, judge, judge_resumed, wait

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are found as on Linux"
)
FILES = {"q.fasta": fasta("q", 5, 10, 20), "db.fasta": fasta("t", 8, 10, 20, 2)}
SEARCH = "search q.fasta db.fasta --engine reference --format tsv"
OUT, PRINTED = Job(f"{SEARCH} --output out", "out", FILES), Job(SEARCH, "", FILES)
MAKEDB = Job("makedb in.fasta db --force", "db", {"in.fasta": fasta("t", 300, 50, 150)})
ALIGN = "align one.fasta one.fasta"
# More than a pipe holds.
NAME = "n" * 200
LONG = Job(
    f"{SEARCH} --top 0",
    "",
    {"q.fasta": fasta(f"q{NAME}", 15, 1, 3), "db.fasta": fasta(f"t{NAME}", 30, 1, 3, 2)},
)
SEARCHES = pytest.mark.parametrize(
    "job", [OUT, pytest.param(MAKEDB, marks=pytest.mark.slow)], ids=["search", "makedb"]
)
LIMITED = """
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, resource.RLIM_INFINITY))
from glsw.output import result_file; result_file._SECONDS_BETWEEN_MARKS = 0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def prepared(job: Job, folder: Path) -> None:
    job.measure(folder.parent / "usual")
    job.prepare(folder)


# full disks


@pytest.mark.seeds(1)
@pytest.mark.parametrize("job", [OUT, MAKEDB], ids=["search", "makedb"])
def test_a_full_disk(job: Job, seed: int, folder: Path) -> None:
    prepared(job, folder)
    limit = random.Random(seed).randrange(len(job.usual["bytes"]))  # of a file, also of its journal
    with Running(job, folder, code=LIMITED.format(size=limit)) as running:
        running.end()
        judge(running, "a full disk")
    assert "File too large" in running.err
    assert job.output in running.err
    if job is OUT:
        judge_resumed(job, folder)


@contextmanager
def small_disk(folder: Path, size: int | str) -> Iterator[Path]:
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    if os.geteuid() or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize(
    "job", [pytest.param(LONG, marks=pytest.mark.slow), MAKEDB], ids=["search", "makedb"]
)
def test_a_small_disk(job: Job, folder: Path) -> None:
    if job is LONG:
        job = Job(f"{job.words} --output out", "out", job.inputs)
    job.measure(folder.parent / "usual")
    used = sum(len(text) // 4096 + 1 for text in job.inputs.values()) + 4
    with small_disk(folder, 4096 * used):
        job.prepare(folder)
        with Running(job, folder) as running:
            running.end()
            judge(running, "a full disk")
        assert "No space left on device" in running.err
        assert job.output in running.err


@pytest.mark.parametrize(
    "words",
    [
        SEARCH,
        "verify db",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("devices", ALIGN)),
    ],
)
def test_a_full_device(words: str, folder: Path) -> None:
    prepared(MAKEDB, folder)
    for name, text in {**FILES, "one.fasta": fasta("one", 1, 9, 9)}.items():
        (folder / name).write_text(text)
    if words.startswith("verify"):
        (folder / "db").write_bytes(MAKEDB.usual["bytes"])
    with open("/dev/full", "w") as full, Running(PRINTED, folder, words=words, stdout=full) as run:
        run.end()
        judge(run, "a full disk", whole=b"")
    assert run.err.endswith("glsw: standard output: No space left on device\n")


@SEARCHES
def test_messages_on_a_full_disk(job: Job, folder: Path) -> None:
    prepared(job, folder)
    with open("/dev/full", "w") as full, Running(job, folder, stderr=full) as running:
        running.end()
        judge(running, "a full disk for messages")


# pipes


@pytest.mark.seeds(1)
def test_a_reader_that_goes_away(seed: int, folder: Path) -> None:
    prepared(LONG, folder)
    size = random.Random(seed).randrange(2, len(LONG.usual["whole"]))
    reader, writer = os.pipe()
    with Running(LONG, folder, stdout=writer) as running:
        os.close(writer)
        got = b""
        while len(got) < size:
            got += os.read(reader, size - len(got))
        os.close(reader)
        running.end()
        running.out = LONG.usual["whole"] if running.status == 0 else got
        judge(running, "a reader of the output that goes away")


# The writer is about to wait for the reader, for which a signal comes soon enough.
WRITES = """
from glsw.cli import signals, stream
signals._SECONDS_TO_END = 1
enter = stream.PlainStream.__enter__
def begin(self):
    open("writes", "w").close()
    return enter(self)
stream.PlainStream.__enter__ = begin
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_reader_that_does_not_read(name: str, folder: Path) -> None:
    prepared(PRINTED, folder)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while os.write(writer, bytes(4096)):  # until it is full
            pass
    os.set_blocking(writer, True)
    with Running(PRINTED, folder, stdout=writer, code=WRITES) as running:
        wait(lambda: (folder / "writes").exists() or running.process.poll() is not None)
        running.process.send_signal(getattr(signal, name))
        running.end()
        judge(running, WAITS[name])
    os.close(reader)
    os.close(writer)
    assert running.err in ("glsw: interrupted\n", "glsw: terminated\n")


WAITS = {
    "SIGINT": "SIGINT while the reader of a pipe does not read",
    "SIGTERM": "SIGTERM while the reader of a pipe does not read",
}


# closed streams


STREAMS = "standard input is closed", "standard output is closed", "standard error is closed"
FEW_CLOSED = [(OUT, 0), (PRINTED, 1), (MAKEDB, 2)]
MANY_CLOSED = [each for each in product((OUT, PRINTED, MAKEDB), range(3)) if each not in FEW_CLOSED]


@pytest.mark.parametrize(
    ("job", "closed"),
    [*FEW_CLOSED, *(pytest.param(*each, marks=pytest.mark.slow) for each in MANY_CLOSED)],
)
def test_closed_streams(job: Job, closed: int, folder: Path) -> None:
    prepared(job, folder)
    words = job.words if closed else job.words.replace("db.fasta", "-").replace("in.fasta", "-")
    streams = {["stdin", "stdout", "stderr"][closed]: subprocess.DEVNULL}
    with Running(job, folder, words=words, code=f"{CLOSED}close({closed})", **streams) as running:
        running.end()
        judge(running, STREAMS[closed])


# As a shell closes them: before Python starts.
CLOSED = """
def close(number):
    if "again" not in os.environ:
        os.close(number)
        os.environ["again"] = "yes"
        os.unlink("ready") if os.path.exists("ready") else None
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
"""


# folders


@pytest.mark.parametrize("job", [OUT, MAKEDB], ids=["search", "makedb"])
def test_a_folder_without_permission(job: Job, folder: Path) -> None:
    prepared(job, folder)
    (folder / job.output).unlink()
    (folder / "locked").mkdir(mode=0o500)
    words = job.words.replace("--output out", "--output locked/out").replace(" db ", " locked/db ")
    job = Job(words, f"locked/{job.output}", job.inputs, b"", usual=job.usual)
    # The mode does not keep root from writing.
    with ExitStack() as stack:
        if not os.geteuid():
            stack.enter_context(small_disk(folder / "locked", "4k,ro"))
        with Running(job, folder) as running:
            running.end()
            judge(running, "a folder for results without permission to write")
        assert list((folder / "locked").iterdir()) == []


@pytest.mark.seeds(1)
@SEARCHES
def test_a_folder_that_is_deleted(job: Job, seed: int, folder: Path) -> None:
    prepared(job, folder)
    (folder / job.output).unlink()
    (folder / "sub").mkdir()
    words = job.words.replace("--output out", "--output sub/out").replace(" db ", " sub/db ")
    # Where the results are complete, but do not have their name yet.
    deleting = (
        "import shutil\nreplace = os.replace\n"
        "def deleted(*names, **more):\n"
        "    shutil.rmtree('sub'); return replace(*names, **more)\n"
        "os.replace = deleted"
    )
    gone = Job(words, f"sub/{job.output}", job.inputs, b"", usual=job.usual)
    with Running(gone, folder, code=deleting) as running:
        running.end()
        judge(running, "a folder for results that is deleted")
    assert "sub/" in running.err
    assert not (folder / "sub").exists()
