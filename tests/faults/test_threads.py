"""Threads, asyncio and a notebook: any thread may call what a user calls."""

from __future__ import annotations

import asyncio
import gc
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from program import in_threads

import glsw
from glsw.device.context import routes
from glsw.device.current import current_device
from glsw.device.device import Device, DeviceError

ROOT = Path(__file__).parents[2]
HANGS_AFTER = 300  # seconds
PAIRS = [("HEAGAWGHEE" * (1 + k % 5), "PAWHEAE" * (1 + k % 7)) for k in range(12)]
random.seed(20)
TARGETS = ["".join(random.choices("ACDEFGHIKLMNPQRSTVWY", k=5 + 6 * k)) for k in range(12)]
QUERIES = TARGETS[3:12:4]


@pytest.fixture(params=[5, pytest.param(200, marks=pytest.mark.slow)])
def calls(request: pytest.FixtureRequest) -> int:
    """How many calls each of eight threads makes: few, or many."""
    return request.param


def test_eight_threads_call_the_module(free: Device, calls: int) -> None:
    expected = [glsw.score(*pair, engine="reference") for pair in PAIRS]

    def work(number: int) -> None:
        for k in range(number, number + calls):
            assert glsw.score(*PAIRS[k % 12], device=free) == expected[k % 12]

    in_threads(8, work)


def found(results: Iterator[glsw.SearchResult]) -> list[str]:
    return [
        f"{result.query.id} {hit.target.id} {hit.score} {hit.alignment.cigar}"
        for result in results
        for hit in result
    ]


@pytest.mark.parametrize("engine", ["auto", "lanes", "diagonal", "blocked", "fragment", "cpu"])
def test_four_threads_share_an_aligner(free: Device, engine: str) -> None:
    judge = glsw.Aligner(engine="reference")
    hits = found(judge.search(QUERIES, TARGETS, top=3))
    scores = judge.score(QUERIES[0], TARGETS).tolist()
    cigar = judge.align(*PAIRS[3]).cigar
    several = [each.cigar for each in judge.alignments(*PAIRS[0], max_alignments=3)]
    aligner = glsw.Aligner(engine=engine, device=None if engine == "cpu" else free)

    def work(number: int) -> None:
        seen = []
        results = aligner.search(QUERIES, TARGETS, top=3)
        for result in results:  # between which the other threads search too
            seen += found(iter([result]))
            assert aligner.score(QUERIES[0], TARGETS).tolist() == scores
            assert aligner.ends(QUERIES[0], TARGETS).score.tolist() == scores
        assert seen == hits
        assert aligner.align(*PAIRS[3]).cigar == cigar
        found_here = [each.cigar for each in aligner.alignments(*PAIRS[0], max_alignments=3)]
        assert found_here == several
        assert aligner.score_matrix(QUERIES[:2], TARGETS)[0].tolist() == scores

    in_threads(4, work)


@pytest.mark.parametrize("engine", ["lanes", "reference"])
def test_four_threads_share_an_iterator(free: Device, engine: str) -> None:
    device = free if engine == "lanes" else None
    expected = found(glsw.search(QUERIES, TARGETS, engine="reference"))
    results = glsw.search(QUERIES, TARGETS, engine=engine, device=device)
    seen: list[str] = []
    in_threads(4, lambda _: seen.extend(found(results)))
    assert sorted(seen) == sorted(expected)


def test_asyncio(free: Device) -> None:
    async def main() -> list[float]:
        calls = (asyncio.to_thread(glsw.score, *pair, device=free) for pair in PAIRS)
        return await asyncio.gather(*calls)

    expected = [glsw.score(*pair, engine="reference") for pair in PAIRS]
    assert asyncio.run(main()) == expected


def test_what_threads_drop_is_freed(free: Device) -> None:
    def work(number: int) -> None:
        glsw.Aligner(engine="diagonal", device=free).score(*PAIRS[0])
        gc.collect()

    in_threads(4, work)
    gc.collect()
    with free:
        assert not free.ctx.objects


# what cannot be, and nested blocks


def in_a_thread(work: Callable[[], object]) -> object:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def test_a_device_that_is_active_elsewhere(free: Device) -> None:
    free.activate()
    with pytest.raises(
        DeviceError, match=r"^device \d+ \(.*\) is active in thread 'MainThread', w"
    ):
        in_a_thread(lambda: glsw.score(*PAIRS[0], device=free))
    assert glsw.score(*PAIRS[0], device=free) == 17
    free.check("still active")
    free.deactivate()
    assert in_a_thread(lambda: glsw.score(*PAIRS[0], device=free)) == 17


def test_a_thread_that_ended_does_not_keep_a_device(free: Device) -> None:
    thread = threading.Thread(target=free.activate)
    thread.start()
    thread.join()
    assert glsw.score(*PAIRS[0], device=free) == 17


def test_blocks_of_two_devices(free: Device) -> None:
    route = next(route for route in routes() if route.index == free.info.index)
    other = Device(route.index, *route.open())
    assert current_device() is None
    with free:
        mine = free.ctx.buffer(b"mine")
        with other:
            theirs = other.ctx.buffer(b"them")
            with free, free:
                assert mine.read() == b"mine"
            assert current_device() is other
            assert theirs.read() == b"them"
            with pytest.raises(KeyError), free:
                raise KeyError
            other.deactivate()  # not in a block
            assert theirs.read() == b"them"
        assert current_device() is free
        assert mine.read() == b"mine"
        with other:
            other.close()
        assert current_device() is free
        mine.release()
    assert current_device() is None


def test_a_thread_waits_for_the_block_of_another(free: Device) -> None:
    said = []
    with free:
        thread = threading.Thread(
            target=lambda: said.append(glsw.score(*PAIRS[0], device=free)), daemon=True
        )
        thread.start()
        assert glsw.score(*PAIRS[0], device=free) == 17
        said.append("block ends")
    thread.join(60)
    assert said == ["block ends", 17]


def test_an_interrupted_call_frees_the_device(free: Device) -> None:
    def interrupt(cells: int) -> None:
        raise KeyboardInterrupt

    aligner = glsw.Aligner(engine="diagonal", device=free)
    with pytest.raises(KeyboardInterrupt):
        aligner.score_matrix(QUERIES, progress=interrupt)
    assert in_a_thread(lambda: aligner.score(*PAIRS[0])) == 17


WAITS = """
import signal, sys, threading, warnings
warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)
import glsw
from glsw.device.device import open_device
device = open_device(quiet=True)
glsw.score("HEAGAWGHEE", "PAWHEAE", device=device)  # nothing is left to import or to prove
taken, end = threading.Event(), threading.Event()
def take():
    with device:
        taken.set()
        end.wait()
threading.Thread(target=take, daemon=True).start()
taken.wait()
try:
    print("waits", flush=True)
    glsw.score("HEAGAWGHEE", "PAWHEAE", device=device)
except KeyboardInterrupt:
    end.set()
    print(glsw.score("HEAGAWGHEE", "PAWHEAE", device=device))
"""


def test_waiting_for_another_thread_can_be_interrupted() -> None:
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", WAITS], cwd=ROOT, **pipes) as waiting:
        assert waiting.stdout
        assert waiting.stdout.readline() == "waits\n"
        waiting.send_signal(signal.SIGINT)
        assert waiting.communicate(timeout=HANGS_AFTER) == ("17\n", "")


# a notebook


CELLS = [
    "import glsw, asyncio, warnings; warnings.simplefilter('ignore')\n"
    "aligner = glsw.Aligner(); aligner.score('HEAGAWGHEE', 'PAWHEAE')",
    "await asyncio.gather(*(asyncio.to_thread(glsw.score, 'HEAGAWGHEE', 'PAWHEAE')"
    " for _ in range(8)))",
    "from concurrent.futures import ThreadPoolExecutor\n"
    "with ThreadPoolExecutor(4) as pool:\n"
    "    found = list(pool.map(lambda k: aligner.score('HEAGAWGHEE', 'PAWHEAE'), range(8)))\n"
    "found",
    "[hit.score for hit in aligner.search('HEAGAWGHEE', ['PAWHEAE', 'PPPPPP'])]",
]


@pytest.mark.filterwarnings("ignore")  # those of the notebook's own packages
def test_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in CELLS])
    resources = {"metadata": {"path": str(ROOT)}}
    NotebookClient(notebook, timeout=HANGS_AFTER, resources=resources).execute()
    said = [cell.outputs[-1]["data"]["text/plain"] for cell in notebook.cells]
    assert said == ["17", str([17] * 8), str([17] * 8), "[13]"]  # a search adjusts
