"""20 queries and 52,608 proteins by a Dask cluster: the bytes of one process in each format."""

from __future__ import annotations

from pathlib import Path

import pytest
from dask_processes import Cluster
from test_dask import executor, written

import glsw


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.filterwarnings("ignore:.* letters U scored as C:RuntimeWarning")
def test_three_workers_of_which_one_dies_and_one_is_late(data: Path, tmp_path: Path) -> None:
    queries = data / "queries" / "standard20.fasta"
    database = tmp_path / "proteins.glswdb"
    glsw.makedb(data / "proteins" / "swissprot_2014_01_subset.fasta.gz", database, unknown="X")
    options = {"unknown": "X", "engine": "cpu"}
    cluster = Cluster(tmp_path)
    calls: list[int] = []

    def progress(cells: int) -> None:
        calls.append(cells)
        if len(calls) == 10:
            cluster.kill("first")
        if len(calls) == 20:
            cluster.start("late")

    try:
        cluster.start("first")
        cluster.start("second")
        workers = executor(cluster)
        found = list(glsw.search(queries, database, progress=progress, executor=workers, **options))
        assert sorted(cluster.names()) == ["late", "second"]
    finally:
        cluster.close()
    assert len(found) == 20
    assert any(result.device.startswith(("2 x ", "3 x ")) for result in found)
    assert written(found) == written(glsw.search(queries, database, **options))
