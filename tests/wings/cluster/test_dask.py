"""A search by a Dask cluster: the same bytes as in one process, whoever dies meanwhile."""

from __future__ import annotations

import io
import os
import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import pytest
from dask_processes import ENVIRONMENT, Cluster
from program import ROOT, in_threads, process
from smaller import smaller

import glsw
from glsw import Record
from glsw.alignment.hits import SearchResult
from glsw.device.device import DeviceError
from glsw.output import FORMATS
from glsw.run import tasks
from glsw.run.workers import Answer, UserExecutor
from glsw.sequences.fasta import read_all
from glsw.wings.cluster.addresses import cluster as cluster_of

ENGINES = {"cpu": {"engine": "cpu"}, "llvmpipe": {"engine": "lanes", "device": "llvmpipe"}}
PROTEINS = ROOT / "demo" / "proteins.fasta"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.close()


@pytest.fixture
def cluster(shared: Cluster) -> Cluster:
    """A cluster without workers."""
    shared.end_workers()
    return shared


@pytest.fixture
def pair(shared: Cluster) -> Cluster:
    """A cluster of two workers."""
    if sorted(shared.names()) != ["one", "two"]:
        shared.end_workers()
        shared.start("one", "two")
    return shared


@pytest.fixture
def many_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks take a tenth of a second, and workers are looked for as often."""
    smaller(monkeypatch, first_share=2**7, task_seconds=0.1, least_task_seconds=0.03, rounds=4)
    monkeypatch.setattr(tasks, "SECONDS_BETWEEN_LOOKS", 0.05)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The folder in which ``run`` works."""
    return tmp_path


def executor(cluster: Cluster) -> Executor:
    found: Executor = cluster.client.get_executor()  # type: ignore[no-untyped-call]
    return found


def written(results: Iterable[SearchResult]) -> dict[str, str]:
    """Return results in each format."""
    found = list(results)
    texts = {}
    for name in FORMATS:
        stream = io.StringIO()
        glsw.write(found, stream, name)
        texts[name] = stream.getvalue()
    return texts


@pytest.fixture(scope="module")
def queries() -> list[Record]:
    return list(read_all(str(PROTEINS)))[:60:20]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("db") / "proteins.glswdb"
    glsw.makedb(PROTEINS, file, unknown="X")
    return file


@pytest.fixture(scope="module")
def expected(queries: list[Record], database: Path) -> dict[str, str]:
    return written(glsw.search(queries, database, unknown="X", engine="cpu"))


def test_command_lines(
    pair: Cluster, run: Callable[..., SimpleNamespace], expected: dict[str, str], database: Path
) -> None:
    words = f"search {ROOT / 'demo' / 'query.fasta'} {database} --unknown X --engine cpu"
    here = run(words)
    there = run(f"{words} --cluster {pair.address}")
    assert there.out == here.out != ""
    assert run(f"{words} --cluster {pair.file}").out == here.out
    assert "engine cpu on " in there.err


def test_no_device(pair: Cluster, run: Callable[..., SimpleNamespace]) -> None:
    missing = "device 'auto': no hardware device, found "
    with (
        pytest.warns(RuntimeWarning, match=f"^worker on .*: {missing}.* is computed again$"),
        pytest.raises(DeviceError, match=f"^worker on .*: {missing}.*; a part of the search has "),
    ):
        list(glsw.search(["HEAE"], ["HEAE"], engine="lanes", executor=executor(pair)))
    words = f"search {ROOT / 'demo' / 'query.fasta'} {PROTEINS} --unknown X --engine lanes"
    done = run(f"{words} --device voodoo --cluster {pair.address}")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    said = r"glsw: no worker of the cluster can do the work; tcp://\S+: no device 'voodoo'"
    assert re.match(said, done.err)


def test_matrices_triples_and_motifs(
    pair: Cluster,
    queries: list[Record],
    run: Callable[..., SimpleNamespace],
) -> None:
    some = [each.letters[:90] for each in queries]
    for sides in ((some,), (some[:2], some)):
        expected = glsw.score_matrix(*sides, engine="cpu")
        found = glsw.score_matrix(*sides, engine="cpu", executor=executor(pair))
        assert found.tolist() == expected.tolist()
    words = f"motifs {ROOT / 'demo' / 'recording.csv'} --segments 8 --engine reference --format tsv"
    assert run(f"{words} --cluster {pair.address}").out == run(words).out != ""
    assert "--cluster is for --of 3" in run(f"{words} --of 2 --cluster mpi").err


def test_clients_that_are_no_executors(pair: Cluster) -> None:
    with pytest.raises(TypeError, match=r"not Client; Dask's is client\.get_executor\(\)$"):
        glsw.score_matrix(["HEAE"], engine="cpu", executor=pair.client)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_worker_is_killed_and_one_comes_late(
    cluster: Cluster,
    queries: list[Record],
    database: Path,
    expected: dict[str, str],
    engine: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster.start("first", "second")
    early = set(cluster.client.run(os.getpid).values())
    monkeypatch.setattr(tasks, "SECONDS_BETWEEN_LOOKS", 0.05)
    calls: list[int] = []
    answered: set[int] = set()
    measured = UserExecutor.measured

    def progress(cells: int) -> None:
        calls.append(cells)
        if len(calls) == 1:
            cluster.stop("first")
        if len(calls) == 3:
            cluster.start("late")
            cluster.stop("second")  # until the late one has done a task

    def answer(worker: UserExecutor, cells: int, done: Answer[Any]) -> None:
        measured(worker, cells, done)
        pid = int(done.thread.split(":")[1])
        if pid not in early | answered:
            cluster.kill("first")
            cluster.resume("second")
        answered.add(pid)

    table = sum(map(len, queries)) * sum(map(len, read_all(str(PROTEINS))))
    monkeypatch.setattr(tasks.Pace, "cells", lambda *_: table // 40)
    monkeypatch.setattr(UserExecutor, "measured", answer)
    options = {"unknown": "X", "executor": executor(cluster), **ENGINES[engine]}
    found = list(glsw.search(queries, database, progress=progress, **options))
    assert written(found) == expected
    assert sorted(cluster.names()) == ["late", "second"]
    assert sum(calls) == sum(result.cells for result in found)
    assert len(calls) > 10
    assert len(answered - early) == 1


def test_the_last_worker_is_killed_and_another_comes(
    cluster: Cluster,
    many_tasks: None,
    queries: list[Record],
    database: Path,
    expected: dict[str, str],
) -> None:
    cluster.start("only")
    calls: list[int] = []

    def progress(cells: int) -> None:
        calls.append(cells)
        if len(calls) == 1:
            cluster.kill("only")

    options = {"unknown": "X", "engine": "cpu", "executor": executor(cluster)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.showwarning = lambda text, *_: said.append(str(text)) or cluster.start("new")
        warnings.simplefilter("always", RuntimeWarning)
        said: list[str] = []
        assert written(glsw.search(queries, database, progress=progress, **options)) == expected
    assert said == ["the executor has no worker; waiting for one"]


def test_workers_that_cannot_do_it(
    cluster: Cluster, run: Callable[..., SimpleNamespace], database: Path
) -> None:
    words = f"search {ROOT / 'demo' / 'query.fasta'} {database} --unknown X --engine cpu"
    cluster.start(
        old="import glsw._version as v; v.__version__ = '0.0'",
        blind="import glsw.sequences.database as d; d.Database.open = lambda _: open('/no/such')",
    )
    faults = {r"it has glsw 0\.0, and \d+\.\d+\.\d+ is needed", r".*directory: '/no/such'"}
    none = run(f"{words} --cluster {cluster.address}")
    assert (none.status, none.out, none.err.count("\n")) == (2, "", 1)
    assert none.err.startswith("glsw: no worker of the cluster can do the work; tcp://")
    cluster.start("good")
    some = run(f"{words} --cluster {cluster.address}")
    assert (some.status, some.out) == (0, run(words).out)
    said = some.err.splitlines()[:-1]
    for fault in faults:
        assert sum(bool(re.fullmatch(rf"glsw: tcp:\S+: {fault}; it is left out", x)) for x in said)
    assert len(said) == len(faults)


def test_a_worker_that_comes_late_and_cannot_do_it(
    cluster: Cluster, queries: list[Record], database: Path
) -> None:
    cluster.start(
        blind="import glsw.sequences.database as d; d._reopen = lambda *_: open('/no/such')"
    )
    said = "^worker on .*: .*No such file or directory: '/no/such'; a part of the search "
    options = {"unknown": "X", "engine": "cpu", "executor": executor(cluster)}
    with (
        pytest.warns(RuntimeWarning, match=f"{said}is computed again$"),
        pytest.raises(DeviceError, match=f"{said}has failed twice$"),
    ):
        list(glsw.search(queries, database, **options))


def test_a_task_that_kills_its_workers(
    tmp_path: Path, queries: list[Record], database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENVIRONMENT, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    with closing(Cluster(tmp_path)) as cluster:
        cluster.start(
            mortal="import os, glsw.run.workers as w; w.kept_engine = lambda *_: os._exit(1)"
        )
        options = {"unknown": "X", "engine": "cpu", "executor": executor(cluster)}
        with pytest.raises(DeviceError, match=r"^executor: Attempted to run task .* died while"):
            list(glsw.search(queries, database, **options))


def test_a_lost_scheduler_is_one_line(
    many_tasks: None, queries: list[Record], database: Path, tmp_path: Path
) -> None:
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "5s"}),  # how long it is looked for
        closing(Cluster(tmp_path)) as cluster,
    ):
        cluster.start("only")
        calls: list[int] = []

        def progress(cells: int) -> None:
            calls.append(cells)
            if len(calls) == 1:
                cluster.kill("scheduler")

        options = {"engine": "cpu", "unknown": "X", "executor": executor(cluster)}
        message = "^executor: it has cancelled a task; its scheduler may be lost$"
        with pytest.raises(DeviceError, match=message):
            list(glsw.search(queries, database, progress=progress, **options))


def test_a_command_whose_scheduler_is_lost_says_one_line(tmp_path: Path) -> None:
    with closing(Cluster(tmp_path)) as cluster:
        cluster.start("only")
        pid = cluster.client.run_on_scheduler(os.getpid)
        code = (
            "import os\nfrom glsw.run.workers import UserExecutor\n"
            f"UserExecutor.measured = lambda *_: os.kill({pid}, {signal.SIGKILL:d})"
        )
        words = f"search {PROTEINS} {PROTEINS} --unknown X --engine cpu --cluster {cluster.address}"
        said = process(words, tmp_path, code=code).communicate()[1].decode()
        assert said == "glsw: executor: it has cancelled a task; its scheduler may be lost\n"


def test_a_scheduler_file_may_come_late(pair: Cluster, tmp_path: Path) -> None:
    late = tmp_path / "late.json"
    waiting = threading.Timer(0.5, lambda: late.write_bytes(pair.file.read_bytes()))
    waiting.start()
    opened = cluster_of(str(late))
    with pytest.warns(RuntimeWarning, match=r"late\.json is not there yet; waiting for it$"):
        found: Any = opened.__enter__()
    assert found.submit(os.getpid).result() in pair.client.run(os.getpid).values()
    opened.__exit__(None, None, None)
    waiting.join()


def test_addresses_that_are_none(run: Callable[..., SimpleNamespace]) -> None:
    words = f"search {PROTEINS} {PROTEINS} --engine cpu --cluster"
    assert "expected local:N; tcp://HOST:PORT" in run(f"{words} four").err
    for address in ("tcp://127.0.0.1", "tls://127.0.0.1:1", "foo://x", "inproc://x"):
        said = run(f"{words} {address}").err  # "tls" lacks certificates
        assert said.startswith(f"glsw: cluster '{address}': ")
        assert said.count("\n") == 1
    assert (
        "--cluster and several devices cannot be combined" in run(f"{words} mpi --device all").err
    )
    assert "one process; the first one leads, so start" in run(f"{words} mpi").err


BROKEN = [b"", b"[]", b"{", b"\xff", b"{}", b'{"address": 7}', b'{"address": "no"}', b"[" * 100_000]


def test_a_broken_scheduler_file(tmp_path: Path) -> None:
    def check(number: int) -> None:
        path = tmp_path / f"{number}.json"
        path.write_bytes(BROKEN[number])
        with pytest.raises(ValueError, match=rf"^cluster '.*{number}\.json': \w.*$"):
            cluster_of(str(path)).__enter__()

    in_threads(len(BROKEN), check)
