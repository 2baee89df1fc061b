"""Processes of this host as a cluster: the same bytes, a number for each, and none is left."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from failing import always_fails
from program import ROOT

from glsw import Scoring
from glsw.engines.spec import EngineSpec
from glsw.rank import local_rank
from glsw.run import workers
from glsw.run.workers import UserExecutor
from glsw.wings.cluster.addresses import cluster

SEARCH = f"search {ROOT / 'demo' / 'query.fasta'} {ROOT / 'demo' / 'proteins.fasta'} --unknown X"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The folder in which ``run`` works."""
    return tmp_path


def test_command_lines(run: Callable[..., SimpleNamespace]) -> None:
    words = f"{SEARCH} --engine lanes --device llvmpipe"
    here, there = run(words), run(f"{words} --cluster local:2")
    assert there.out == here.out != ""
    assert there.err.count("\n") == 1
    assert not active_children()


def test_without_a_gpu_the_processor_searches_as_without_a_cluster(
    run: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESA_GL_VERSION_OVERRIDE", "4.1")  # of the processes, if they have a GPU
    monkeypatch.setenv("LIBGL_ALWAYS_SOFTWARE", "1")
    there = run(f"{SEARCH} --cluster local:2 --format tsv")
    assert there.status == 0, there.err
    assert there.out == run(f"{SEARCH} --engine cpu --format tsv").out


def test_each_process_has_its_number() -> None:
    with cluster("local:3") as executor:
        assert executor
        found: dict[int, Any] = {}
        while len(found) < 3:
            found |= dict(each.result() for each in [executor.submit(numbered) for _ in range(3)])
    assert sorted(found.values()) == [(k, "local:3") for k in range(3)]
    assert not active_children()


def numbered() -> tuple[int, object]:
    return os.getpid(), local_rank()


def test_each_process_takes_the_device_of_its_number() -> None:
    spec = EngineSpec("lanes", Scoring.blast())
    with cluster("local:1") as numbered, ProcessPoolExecutor(1) as others:
        given = [UserExecutor(each, spec)._spec for each in (numbered, others)]
    assert [pickle.loads(each).of_rank for each in given] == [True, False]


def test_a_process_that_dies_is_one_line(
    run: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "run_task", partial(always_fails, "dies"))
    done = run(f"{SEARCH} --engine cpu --cluster local:2")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("glsw: executor: A process in the process pool was terminated ")
    assert not active_children()


def test_the_end_of_the_block_ends_what_the_processes_do() -> None:
    with cluster("local:2") as executor:
        assert executor
        endless = executor.submit(signal.pause)
    assert not active_children()
    with pytest.raises(BrokenExecutor):
        endless.result()
