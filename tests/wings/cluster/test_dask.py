"""A search by a Dask cluster: the same bytes as in one process, whoever dies meanwhile."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import distributed
import psutil
import pytest
from dask_processes import ENVIRONMENT, Cluster
from program import ROOT, in_threads, process

import glsw
from glsw import Record
from glsw.alignment.hits import SearchResult
from glsw.device.device import DeviceError
from glsw.output import FORMATS
from glsw.run import tasks
from glsw.run.workers import Answer
from glsw.sequences.fasta import read_all
from glsw.wings.cluster import local_dask
from glsw.wings.cluster.addresses import cluster as cluster_of
from glsw.wings.cluster.dask_workers import DaskWorker

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
    monkeypatch.setattr(tasks, "_FIRST_SHARE", 2**7)
    monkeypatch.setattr(tasks, "_SECONDS_PER_TASK", 0.1)
    monkeypatch.setattr(tasks, "_LEAST_SECONDS_PER_TASK", 0.03)
    monkeypatch.setattr(tasks, "_ROUNDS", 4)
    monkeypatch.setattr(tasks, "SECONDS_BETWEEN_LOOKS", 0.05)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The folder in which ``run`` works."""
    return tmp_path


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


def test_no_device(pair: Cluster, queries: list[Record]) -> None:
    with (
        pytest.warns(
            RuntimeWarning, match=r"^worker tcp://.*: device 'auto': no hardware device, "
        ),
        pytest.raises(DeviceError, match=r"^no worker of the cluster can do the work; worker tcp"),
    ):
        list(glsw.search(["HEAE"], ["HEAE"], engine="lanes", executor=pair.client))


def test_matrices_triples_and_motifs(
    pair: Cluster,
    queries: list[Record],
    run: Callable[..., SimpleNamespace],
) -> None:
    client, some = pair.client, [each.letters[:90] for each in queries]
    for sides in ((some,), (some[:2], some)):
        expected = glsw.score_matrix(*sides, engine="cpu")
        found = glsw.score_matrix(*sides, engine="cpu", executor=client)
        assert found.tolist() == expected.tolist()
    words = f"motifs {ROOT / 'demo' / 'recording.csv'} --segments 8 --engine reference --format tsv"
    assert run(f"{words} --cluster {pair.address}").out == run(words).out != ""
    assert "--cluster is for --of 3" in run(f"{words} --of 2 --cluster mpi").err


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
    early = cluster.addresses()
    monkeypatch.setattr(tasks, "SECONDS_BETWEEN_LOOKS", 0.05)
    calls: list[int] = []
    answered: set[str] = set()
    measured = DaskWorker.measured

    def progress(cells: int) -> None:
        calls.append(cells)
        if len(calls) == 1:
            cluster.stop("first")
        if len(calls) == 3:
            cluster.start("late")
            cluster.stop("second")  # until the late one has done a task

    def answer(worker: DaskWorker, cells: int, done: Answer[Any]) -> None:
        measured(worker, cells, done)
        if worker.address not in early | answered:
            cluster.kill("first")
            cluster.resume("second")
        answered.add(worker.address)

    table = sum(map(len, queries)) * sum(map(len, read_all(str(PROTEINS))))
    monkeypatch.setattr(tasks.Pace, "cells", lambda *_: table // 40)
    monkeypatch.setattr(DaskWorker, "measured", answer)
    options = {"unknown": "X", "executor": cluster.client, **ENGINES[engine]}
    with pytest.warns(RuntimeWarning, match=r"^worker tcp://.*: it is gone; a part of the search"):
        found = list(glsw.search(queries, database, progress=progress, **options))
    assert written(found) == expected
    assert sorted(cluster.names()) == ["late", "second"]
    assert sum(calls) == sum(result.cells for result in found)
    assert len(calls) > 10
    assert answered - early == cluster.addresses() - early


def test_workers_that_cannot_do_it(
    cluster: Cluster, many_tasks: None, queries: list[Record], database: Path
) -> None:
    cluster.start(
        old="import glsw._version as v; v.__version__ = '0.0'",
        blind="import glsw.sequences.database as d; d._reopen = lambda *_: open('/no/such')",
    )

    def search() -> list[SearchResult]:
        return list(
            glsw.search(queries[:2], database, executor=cluster.client, engine="cpu", unknown="X")
        )

    with (
        pytest.warns(RuntimeWarning, match=r"^worker tcp"),
        pytest.raises(DeviceError, match="no worker of the cluster can do the work; worker tcp:"),
    ):
        search()
    cluster.start("good")
    with pytest.warns(RuntimeWarning, match=r"^worker tcp://") as warned:
        found = search()
    said = " ".join(str(each.message) for each in warned)
    assert re.search(
        r"it has glsw 0\.0, and \d+\.\d+\.\d+ is needed; a part of the search is", said
    )
    assert "No such file or directory: '/no/such'; a part of the search is computed again" in said
    expected = list(glsw.search(queries[:2], database, engine="cpu", unknown="X"))
    assert written(found) == written(expected)


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

        options = {"engine": "cpu", "unknown": "X", "executor": cluster.client}
        message = r"^the scheduler tcp://.* of the cluster is lost$"
        with pytest.raises(ConnectionError, match=message):
            list(glsw.search(queries, database, progress=progress, **options))


def test_a_command_whose_scheduler_is_lost_says_one_line(tmp_path: Path) -> None:
    with closing(Cluster(tmp_path)) as cluster:
        cluster.start("only")
        pid = cluster.client.run_on_scheduler(os.getpid)
        code = (
            "import os\nfrom glsw.wings.cluster.dask_workers import DaskWorker\n"
            f"DaskWorker.measured = lambda *_: os.kill({pid}, {signal.SIGKILL:d})"
        )
        words = f"search {PROTEINS} {PROTEINS} --unknown X --engine cpu --cluster {cluster.address}"
        said = process(words, tmp_path, code=code).communicate()[1].decode()
        assert said == f"glsw: the scheduler {cluster.address} of the cluster is lost\n"


def test_a_scheduler_file_may_come_late(cluster: Cluster, tmp_path: Path) -> None:
    late = tmp_path / "late.json"
    waiting = threading.Timer(0.5, lambda: late.write_bytes(cluster.file.read_bytes()))
    waiting.start()
    opened = cluster_of(str(late))
    with pytest.warns(RuntimeWarning, match=r"late\.json is not there yet; waiting for it$"):
        client = opened.__enter__()
    assert isinstance(client, distributed.Client)
    assert client.scheduler.address == cluster.address
    opened.__exit__(None, None, None)
    waiting.join()


def test_addresses_that_are_none(run: Callable[..., SimpleNamespace]) -> None:
    words = f"search {PROTEINS} {PROTEINS} --engine cpu --cluster"
    assert "expected tcp://HOST:PORT" in run(f"{words} four").err
    for address in ("tcp://127.0.0.1", "tls://127.0.0.1:1", "foo://x", "inproc://x"):
        said = run(f"{words} {address}").err  # "tls" lacks certificates
        assert said.startswith(f"glsw: cluster '{address}': ")
        assert said.count("\n") == 1
    assert (
        "--cluster and several devices cannot be combined" in run(f"{words} mpi --device all").err
    )
    assert "one process; the first one leads, so start" in run(f"{words} mpi").err


def test_local_workers_are_as_many_as_asked_for() -> None:
    with cluster_of("local:1") as client:
        assert isinstance(client, distributed.Client)
        assert len(client.ncores()) == 1


def test_local_workers_leave_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with cluster_of("local:1"):
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("encrypted", [True, False])
def test_local_workers_listen_for_this_host_only(
    encrypted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listening(pid: int) -> set[tuple[str, int]]:
        found = psutil.Process(pid).net_connections()
        return {tuple(each.laddr) for each in found if each.status == psutil.CONN_LISTEN}

    if not encrypted:
        monkeypatch.setattr(local_dask, "find_spec", lambda name: None)
    before = listening(os.getpid())
    with cluster_of("local:2") as client:
        opened = [listening(os.getpid()) - before]
        opened += [listening(pid) for pid in client.run(os.getpid).values()]
        assert [len(each) for each in opened] == [3, 1, 1]  # this process has a nanny of each
        assert {host for each in opened for host, _ in each} == {"127.0.0.1"}
        address = client.scheduler.address
        assert address.startswith("tls://" if encrypted else "tcp://")
        if encrypted:
            other = distributed.Security.temporary()
            with pytest.raises(OSError, match=r"Timed out|handshake|certificate"):
                distributed.Client(address, security=other, timeout=1)


def test_a_local_worker_that_dies_is_replaced(
    many_tasks: None, queries: list[Record], database: Path, expected: dict[str, str]
) -> None:
    killed: list[int] = []
    with cluster_of("local:1", partial(glsw.score, "HEAG", "HEAG", engine="cpu")) as client:

        def progress(cells: int) -> None:
            if not killed:
                killed.extend(client.run(os.getpid).values())
                os.kill(killed[0], signal.SIGKILL)

        options = {"unknown": "X", "engine": "cpu", "executor": client, "progress": progress}
        with pytest.warns(RuntimeWarning, match=" has no worker; waiting for one|it is gone; a p"):
            assert written(glsw.search(queries, database, **options)) == expected
        assert [*client.run(os.getpid).values()] != killed


def test_local_workers_that_cannot_start(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from glsw.wings.cluster.addresses import cluster\nwith cluster('local:1'): pass\n"
    )
    ended = subprocess.run(
        [sys.executable, script], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert "a Dask worker of this host ended at its start; a script" in ended.stderr


BROKEN = [b"", b"[]", b"{", b"\xff", b"{}", b'{"address": 7}', b'{"address": "no"}', b"[" * 100_000]


def test_a_broken_scheduler_file(tmp_path: Path) -> None:
    """Each of them is looked at for half a second, as it may be written now."""

    def check(number: int) -> None:
        path = tmp_path / f"{number}.json"
        path.write_bytes(BROKEN[number])
        with pytest.raises(ValueError, match="it names no scheduler of Dask"):
            cluster_of(str(path)).__enter__()

    in_threads(len(BROKEN), check)
