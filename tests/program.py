"""The program in a process of its own, and waiting for it, however slow the machine is."""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[1]
HANGS_AFTER = 3600  # seconds: a program that is only slow has done everything long before
SUMMARY = re.compile(
    r"glsw: (\d+) cells in [\d.]+ s, (?:under )?[\d.,]+ GCUPS, engine reference on CPU\n", re.ASCII
)


def process(
    words: str,
    folder: Path,
    *,
    code: str = "",
    env: Mapping[str, str] | None = None,
    **streams: int,
) -> subprocess.Popen[bytes]:
    """Start the program after ``code``; Ctrl-C works there even if it is ignored here."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"{code}\nfrom glsw.cli import main\nsys.exit(main())"
    )
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-c", code, *shlex.split(words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        **(pipes | streams),
    )


def wait_until(
    condition: Callable[[], object], running: subprocess.Popen[bytes] | None = None
) -> None:
    """Wait for a condition; the process must go on running until then."""
    limit = time.monotonic() + HANGS_AFTER
    while not condition():
        assert running is None or running.poll() is None, running.communicate()
        assert time.monotonic() < limit, "it hangs"
        time.sleep(0.02)


def standard_error_of_terminal(words: str, folder: Path) -> str:
    """Run the program with standard error on a terminal; return what the terminal shows."""
    import fcntl  # Windows has none of these
    import pty
    import termios

    terminal, its_end = pty.openpty()
    fcntl.ioctl(its_end, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    with process(words, folder, stderr=its_end) as started:
        started.communicate()
    os.close(its_end)
    shown = os.read(terminal, 1 << 16).decode()
    os.close(terminal)
    assert started.returncode == 0
    return shown


def output_without_reader(words: str, folder: Path) -> tuple[int, bytes]:
    """Run the program with standard output to nobody; return its status and standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    with process(words, folder, stdout=writer) as started:
        os.close(writer)
        _, err = started.communicate()
    return started.returncode, err


def refused(run: Callable[..., SimpleNamespace], words: str, message: str, folder: Path) -> None:
    """Check that a command line is refused in one line and changes no file of its folder."""
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = run(words)
    assert done.status == 2
    assert done.err.startswith("glsw: ")
    assert done.err.count("\n") == 1
    assert message in done.err
    assert done.out == ""
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def rows(text: str) -> list[dict[str, str]]:
    """Return the rows of a table of tab-separated values by the names of its columns."""
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Do some work in threads that begin together."""
    together = threading.Barrier(count)

    def begin(number: int) -> None:
        together.wait()
        work(number)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(begin, range(count)))
