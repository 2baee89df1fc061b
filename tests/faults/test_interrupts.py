"""Signals at moments when no command runs yet, and where Python ignores exceptions."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from program import ROOT
from subtests import with_subtests
from wing import of_wing

from glsw import cli
from glsw.cli.signals import EXCEPTIONS, interrupts_raised

if sys.version_info >= (3, 11):
    import tomllib

INTERRUPTED = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)

class Finder:
    def find_spec(name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
from glsw.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["argparse", "glsw.cli", "glsw.cli.search", "numpy"])
def test_while_modules_are_imported(module: str, tmp_path: Path) -> None:
    code = INTERRUPTED.format(module=module)
    words = ["search", "q.fasta", "db.fasta", "--engine", "reference"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "glsw: interrupted\n")


def test_an_ignored_interrupt_stays_ignored(tmp_path: Path) -> None:
    code = INTERRUPTED.format(module="numpy").replace(
        "signal.default_int_handler", "signal.SIG_IGN"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "search", "no.fasta", "db.fasta"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python has no tomllib")
def test_the_program_is_the_guarded_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"glsw": "glsw.__main__:main"}


def in_finalizer(number: int) -> None:
    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(number)

    Finalized()


def in_generator(number: int) -> None:
    def numbers() -> Iterator[int]:
        try:
            yield 1
        finally:
            signal.raise_signal(number)

    next(numbers())


def in_weak_reference(number: int) -> None:
    some = {1}
    _ = weakref.ref(some, lambda _: signal.raise_signal(number))
    del some


def in_callback_of_c(number: int) -> None:
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(number))()


def dropped(number: int) -> None:
    with suppress(BaseException):
        signal.raise_signal(number)


def replaced(number: int) -> None:
    try:
        signal.raise_signal(number)
    finally:
        raise ValueError


def in_a_block(work: Callable[[int], None], number: int, seconds: float) -> None:
    with interrupts_raised(program=False):
        work(number)
        time.sleep(seconds)


@with_subtests("number", EXCEPTIONS)
@with_subtests(
    "work, seconds",
    [
        *product((in_finalizer, in_generator, in_weak_reference, in_callback_of_c), [3600.0]),
        *product((dropped, replaced), [0.0]),
    ],
)
def test_a_signal_ends_the_block_even_if_its_exception_is_ignored(
    number: int,
    work: Callable[[int], None],
    seconds: float,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Soon where Python ignores the exception, at the end where other code drops it."""
    before = signal.getsignal(number), sys.unraisablehook
    with pytest.raises(EXCEPTIONS[number]):
        in_a_block(work, number, seconds)
    assert (signal.getsignal(number), sys.unraisablehook) == before
    assert capfd.readouterr().err == ""


def test_other_errors_that_python_ignores_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def __del__(self) -> None:
            raise KeyboardInterrupt  # of no signal

    reported: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: reported.append(error.exc_type))
    with interrupts_raised(program=False):
        Failing()
    assert reported == [KeyboardInterrupt]


COMMANDS = [
    "search q.fasta db.fasta --engine reference --output out",
    "align q.fasta q.fasta --engine reference --output out",
    "neighbors db.fasta --cutoff 1 --engine reference --output out",
    "makedb db.fasta out",
    "verify db",
    "devices",
    "demo out",
    *of_wing("shards", ["search q.fasta db.fasta --engine cpu --shard 1/2 --output new"]),
    *of_wing("shards", ["merge shards --engine reference --output out"]),
    *of_wing("three", ["align3 q.fasta q.fasta q.fasta --engine reference"]),
    *of_wing("dotplot", ["dotplot d.fasta d.fasta --output out.npz"]),
    *of_wing("series", ["motifs r.csv --segments 9 --rate 1 --engine reference"]),
    *of_wing("view", ["view q.fasta q.fasta"]),
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "q.fasta").write_text(">q\nHEAGAWGHEE\n")
    (tmp_path / "db.fasta").write_text(">t\nPAWHEAE\n>u\nMKVLAWHEAG\n")
    (tmp_path / "d.fasta").write_text(">d\nACGTACGTTT\n")
    (tmp_path / "r.csv").write_text("a,b,c\n" + "1,2,3\n4,3,1\n2,2,5\n" * 20)
    return tmp_path


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_every_command_ends_by_a_signal_that_python_ignores(
    run: Callable[..., SimpleNamespace], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal may come between the opening of a file and its ``with``, or while a package waits.

    So Python closes a file or forgets a process, of which it would warn: here, not in a later test.
    """
    assert {words.split()[0] for words in COMMANDS} == cli._commands().keys()
    run("makedb db.fasta db")
    if of_wing("shards", [1]):
        run("search q.fasta db.fasta --engine reference --shard 1/1 --output shards")
    limited = cli.limited
    for number, words in product([signal.SIGTERM, signal.SIGINT], COMMANDS):

        def struck(threads: int | None, number: int = number) -> object:
            in_finalizer(number)
            return limited(threads)

        monkeypatch.setattr(cli, "limited", struck)
        done = run(words)
        assert done.status == 128 + number, (words, done)
        ended = "terminated" if number == signal.SIGTERM else "interrupted"
        assert re.search(rf"^glsw: {ended}(; .*)?\n\Z", done.err, re.MULTILINE), (words, done)
        assert all(line.startswith("glsw: ") for line in done.err.splitlines()), (words, done)
    gc.collect()
