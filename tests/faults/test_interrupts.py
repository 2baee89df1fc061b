"""Ctrl-C at moments when no command runs yet."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from program import ROOT

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
