"""Runs commands under faults; one judge says whether they ended as docs/FAULTS.md allows."""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from program import ROOT

from glsw.sequences.database import Database

HANGS_AFTER = 300  # seconds
LETTERS = "ARNDCQEGHILKMFPSTWYV"
RULES = (ROOT / "docs" / "FAULTS.md").read_text("utf-8")
ALLOWED = {
    fault: [int(each) for each in statuses.split(",")]
    for fault, statuses in re.findall(r"^\| ([aSst][^|`]+) \| ([\d, ]+) \|$", RULES, re.MULTILINE)
}
"""The exit statuses that docs/FAULTS.md allows, by fault."""
SUMMARY = r"\d+ cells in .*|.*: \d+ sequences?, .*"
DONE = f"({SUMMARY})?"
LAST_LINES = {
    0: DONE,
    2: r".+",
    129: rf"terminated(; .*)?|{DONE}",
    130: rf"interrupted(; .*)?|{DONE}",
    137: DONE,
    141: r"",
    143: rf"terminated(; .*)?|{DONE}",
}
"""What may follow "glsw: " in the last line of standard error; nothing stands for no line."""
WARNINGS = (
    r".* is a software renderer .*|device \d+: .*; (a part|part \d+ of \d+) of .* is computed again"
    r"|.*; (the variant with .*|another engine|engine '\w+') is used instead .*"
    r"|no hits for \d+ sequences? of fewer than 30 letters: .*"
)
# The command as its users start it, after other code; `ready` exists when the work can begin.
PROGRAM = """
import os, signal, sys
class Ready:
    def find_spec(name, *_):
        if name == "glsw.cli":
            open("ready", "x").close()
sys.meta_path.insert(0, Ready)
signal.signal(signal.SIGINT, signal.default_int_handler)
{code}
from glsw.__main__ import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Job:
    """A command in a folder of its own, and what it writes if nothing happens.

    Parameters
    ----------
    words : str
        The command line.
    output : str
        The file that it writes; "" for standard output.
    inputs : dict of str to str
        Its files by name.
    old : bytes
        What the file for output has before.
    code : str
        Python that runs before the command.
    """

    words: str
    output: str
    inputs: dict[str, str]
    old: bytes = b"old\n"
    code: str = ""
    usual: dict[str, Any] = field(default_factory=dict)

    @property
    def makes_database(self) -> bool:
        return self.words.startswith("makedb")

    def prepare(self, folder: Path) -> None:
        """Write the inputs, and the old output."""
        for name, text in self.inputs.items():
            (folder / name).write_text(text)
        if self.output:
            (folder / self.output).write_bytes(self.old)

    def read(self, folder: Path) -> Any:
        """Return what the output says."""
        path = folder / self.output
        if self.makes_database and path.read_bytes() != self.old:
            database = Database.open(path)
            database.verify()
            return [(each.id, each.letters) for each in database]
        return path.read_bytes()

    def measure(self, folder: Path) -> None:
        """Run it without a fault, for its results and its time."""
        if self.usual:
            return
        folder.mkdir()
        self.prepare(folder)
        start = time.monotonic()
        with Running(self, folder) as running:
            running.wait_until_ready()
            since_ready = time.monotonic()
            out, _ = running.end()
            assert running.status == 0, running.err
        self.usual["seconds"] = time.monotonic() - since_ready
        self.usual["from start"] = time.monotonic() - start
        self.usual["whole"] = self.read(folder) if self.output else out
        self.usual["bytes"] = (folder / self.output).read_bytes() if self.output else out
        assert self.usual["whole"] not in (b"", self.old)


class Running:
    """A command that runs, the leader of a session, so that all its processes are known.

    A context whose end kills what is left.
    """

    def __init__(
        self, job: Job, folder: Path, *, words: str = "", code: str | None = None, **streams: Any
    ) -> None:
        self.job, self.folder, self.words = job, folder, words or job.words
        code = PROGRAM.format(code=job.code if code is None else code)
        (folder / "ready").unlink(missing_ok=True)
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *shlex.split(self.words)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},
            start_new_session=True,
            **(pipes | streams),
        )
        self.out, self.err = b"", ""

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in (*processes(self.process.pid), self.process.pid):
            with suppress(ProcessLookupError):
                if self.process.returncode is None or pid != self.process.pid:
                    os.kill(pid, signal.SIGKILL)
        self.process.communicate()

    @property
    def status(self) -> int:
        """The exit status, as a shell counts it."""
        code = self.process.returncode
        return code if code >= 0 else 128 - code

    @property
    def workers(self) -> list[int]:
        """The processes of devices."""
        return [pid for pid in processes(self.process.pid) if b"spawn_main" in command(pid)]

    def wait_until_ready(self) -> None:
        """Wait until a signal meets the command rather than the start of Python."""
        wait(lambda: (self.folder / "ready").exists() or self.process.poll() is not None)

    def wait_until(self, moment: float) -> None:
        """Wait until a moment of the monotonic clock, or the end."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0, moment - time.monotonic()))

    def end(self) -> tuple[bytes, str]:
        """Wait for the end; return standard output and standard error."""
        self.out, err = self.process.communicate(timeout=HANGS_AFTER)
        self.err = (err or b"").decode("utf-8", "backslashreplace")
        return self.out, self.err


def wait(condition: Callable[[], object]) -> None:
    """Wait for a condition."""
    limit = time.monotonic() + HANGS_AFTER
    while not condition():
        assert time.monotonic() < limit, "it hangs"
        time.sleep(0.002)


def processes(session: int) -> list[int]:
    """Return the processes of a session that have not ended."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                text = Path(entry.path, "stat").read_text("ascii", "replace")
                state, _, _, of = text.rpartition(")")[2].split()[:4]
                if int(of) == session and state not in "ZX":
                    found.append(int(entry.name))
    return sorted(found)


def command(pid: int) -> bytes:
    """Return the command line of a process; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def judge(running: Running, fault: str, *, whole: Any = None) -> None:
    """Check that a command has ended as docs/FAULTS.md allows after a fault.

    Parameters
    ----------
    running : Running
        It has ended, and its output was read.
    fault : str
        As the table of faults names it.
    whole : object, optional
        What the complete output says; by default that of the run without a fault.
    """
    job, folder, status = running.job, running.folder, running.status
    whole = job.usual["whole"] if whole is None else whole
    about = f"{fault}: {running.words}: status {status}, {running.err!r}"
    assert status in ALLOWED[fault], about
    done = _judge_messages(running.err, status, about)
    wait(lambda: not processes(running.process.pid))
    if job.output:
        _judge_file(job, folder, status, whole, about, done=done)
    elif status == 0 or done:
        assert running.out == whole, about
    else:
        assert whole.startswith(running.out or b""), about


def _judge_messages(err: str, status: int, about: str) -> bool:
    """Return whether a summary says that all results are there, perhaps before a signal came."""
    *before, last = err.split("\n")
    assert last == "", about  # lines are whole
    assert all(line.startswith("glsw: ") for line in before), about
    lines = [line.removeprefix("glsw: ") for line in before]
    final = lines.pop() if lines and not re.fullmatch(WARNINGS, lines[-1]) else ""
    assert re.fullmatch(LAST_LINES[status], final), about
    after = status in (129, 130, 143) and lines and re.fullmatch(SUMMARY, lines[-1])
    if after:
        lines.pop()
    assert all(re.fullmatch(WARNINGS, line) for line in lines), about
    return bool(after or re.fullmatch(SUMMARY, final))


def _judge_file(
    job: Job, folder: Path, status: int, whole: Any, about: str, *, done: bool = False
) -> None:
    if not folder.exists():
        assert status != 0, about
        return
    name = job.output
    exists = (folder / name).exists()
    assert exists or not job.old, about
    found = job.read(folder) if exists else b""
    assert found == whole or (status != 0 and found == job.old and not done), about
    known = {*job.inputs, name.partition("/")[0], "ready"}
    beside = {path.name for path in folder.iterdir()} - known
    if status == 0:
        assert not beside, (about, beside)
        return
    allowed = set() if job.makes_database else {f"{name}.part", f"{name}.part.journal"}
    if status == 137:
        allowed |= {each for each in beside if each.startswith(f"{name}.")}
        allowed = {each for each in allowed if each.endswith((".part", ".journal", ".journal.new"))}
    assert beside <= allowed, (about, beside)
    part = folder / f"{name}.part"
    if not job.makes_database and part.exists():
        assert whole.startswith(part.read_bytes()), about


def judge_resumed(job: Job, folder: Path) -> None:
    """Check that the same search goes on with what was left, to the same bytes."""
    words = job.words.removesuffix(" --resume") + " --resume"
    with Running(job, folder, words=words) as running:
        running.end()
        assert running.status == 0, running.err
        _judge_file(job, folder, 0, job.usual["whole"], f"{words} after a fault: {running.err!r}")


@contextmanager
def struck(
    job: Job, folder: Path, strike: Callable[[Running, random.Random], None], chance: random.Random
) -> Iterator[Running]:
    """Run a job, strike at a random moment, and give the command when it has ended."""
    with Running(job, folder) as running:
        running.wait_until_ready()
        running.wait_until(time.monotonic() + chance.uniform(0, 1.1 * job.usual["seconds"]))
        strike(running, chance)
        running.end()
        yield running


def fasta(name: str, count: int, shortest: int, longest: int, seed: int = 1) -> str:
    """Return random proteins."""
    draw = random.Random(seed)
    return "".join(
        f">{name}{k} the number {k}\n"
        f"{''.join(draw.choices(LETTERS, k=draw.randint(shortest, longest)))}\n"
        for k in range(count)
    )
