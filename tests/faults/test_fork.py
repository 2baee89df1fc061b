"""Processes that are forked after OpenGL was used: refused at once where a device is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HANGS_AFTER = 300  # seconds
REFUSED = (
    "DeviceError: this process was forked from one that had used OpenGL, which no driver survives: "
    "start processes with 'spawn', as multiprocessing.get_context('spawn') does"
)
# What a forked process does after `before` in its parent; `said` is its result or its error.
FORK = """
import gc, multiprocessing, os, sys, threading, warnings
warnings.simplefilter("ignore")
import glsw
from glsw.device import egl
from glsw.device.device import open_device

def said(work):
    try:
        return work()
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}"

PAIR = "HEAGAWGHEE", "PAWHEAE"
{before}

def child(_):
    return said(lambda: {work})

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(*{{str(each) for each in pool.map(child, range(4))}}, sep="; ")
{after}
"""
USED = "aligner = glsw.Aligner(); aligner.score(*PAIR)"


def forked(before: str, work: str, after: str = "") -> str:
    code = FORK.format(before=before, work=work, after=after)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("before", "work"),
    [
        ("glsw.score(*PAIR)", "glsw.score(*PAIR)"),
        (USED, "aligner.score(*PAIR)"),
        (
            # Results that are ready need no device, so the hits of each query are aligned alone.
            "from glsw.search import align; align._MAX_PAIRS_PER_BATCH = 1\n"
            + USED
            + "; found = aligner.search([PAIR[0]] * 9, [PAIR[1]]); next(found)",
            "next(found)",
        ),
        ("device = open_device(); device.activate()", "glsw.devices() and device.ctx.finish()"),
        ("egl.prepare()", "glsw.score(*PAIR, engine='diagonal')"),
        (
            "from glsw.device.current import _Process\n"
            "thread = threading.Thread(target=glsw.score, args=PAIR)\n"
            "thread.start()\n"
            "while thread.is_alive() and not _Process.used_gl: thread.join(0.001)",
            "glsw.score(*PAIR, engine='diagonal')",
        ),
    ],
)
def test_a_device_in_a_forked_process(before: str, work: str) -> None:
    assert forked(before, work) == REFUSED


@pytest.mark.parametrize("engine", ["reference", "cpu"])
def test_engines_without_a_device_work_in_forked_processes(engine: str) -> None:
    before = f"{USED}; other = glsw.Aligner(engine={engine!r}); other.score(*PAIR)"
    search = "other.search(PAIR[0], [PAIR[1]], composition=0).hits[0].score"
    assert forked(before, f"glsw.score(*PAIR, engine={engine!r}) + {search}") == "34"


def test_the_parent_goes_on() -> None:
    after = "    print(aligner.score(*PAIR))"
    assert forked(USED, "aligner.score(*PAIR)", after) == f"{REFUSED}\n17"


def test_a_process_that_opens_no_device_may_fork() -> None:
    assert forked("", "glsw.score(*PAIR, engine='diagonal')") == "17"


def test_a_forked_process_ends_with_what_it_inherited() -> None:
    before = f"{USED}; device = open_device(); device.activate()"
    work = "[globals().pop(name, 0) for name in ('aligner', 'device')] and gc.collect() * 0"
    assert forked(before, work) == "0"
    assert forked(before, "device.close() or device.closed") == "True"
