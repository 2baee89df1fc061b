"""A search by the ranks of an MPI job: the same bytes as in one process."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from program import HANGS_AFTER, ROOT

import glsw
from glsw.output import FORMATS

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
FILES = [str(ROOT / "demo" / "query.fasta"), str(ROOT / "demo" / "proteins.fasta")]

EVERY_FORMAT = """
import sys
import glsw
from pathlib import Path
from glsw.output import FORMATS
from glsw.wings.cluster.addresses import cluster
queries, database, folder = map(Path, sys.argv[1:])
with cluster("mpi") as ranks:
    if ranks:
        found = list(glsw.search(queries, database, unknown="X", engine="cpu", executor=ranks))
        for name in FORMATS:
            with (folder / name).open("w") as file:
                glsw.write(found, file, name)
"""


def ranks(count: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with that many ranks, or without MPI for 0."""
    if count and not shutil.which("mpiexec"):
        assert not os.environ.get("CI"), "no mpiexec"
        pytest.skip("no mpiexec")
    mpi = ["mpiexec", "-n", str(count)] if count else []
    return subprocess.run(
        [*mpi, sys.executable, *words],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER,
        check=False,
    )


def test_four_ranks(tmp_path: Path) -> None:
    words = ["-m", "glsw", "search", *FILES, "--unknown", "X", "--engine", "cpu", "--format", "sam"]
    here = ranks(0, *words, "--output", str(tmp_path / "here"))
    there = ranks(4, *words, "--output", str(tmp_path / "there"), "--cluster", "mpi")
    assert (here.returncode, there.returncode) == (0, 0), there.stderr
    assert there.stderr.count("GCUPS") == 1
    headers = [(tmp_path / name).read_text().splitlines() for name in ("here", "there")]
    kept = [[line for line in lines if not line.startswith("@PG")] for lines in headers]
    assert kept[0] == kept[1] != []


def test_each_format(tmp_path: Path) -> None:
    done = ranks(3, "-c", EVERY_FORMAT, *FILES, str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = list(glsw.search(*map(Path, FILES), unknown="X", engine="cpu"))
    for name in FORMATS:
        stream = io.StringIO()
        glsw.write(found, stream, name)
        assert (tmp_path / name).read_text() == stream.getvalue() != ""


def test_ranks_without_a_device() -> None:
    words = ["-m", "glsw", "search", *FILES, "--engine", "lanes", "--device", "voodoo"]
    done = ranks(2, *words, "--cluster", "mpi")
    assert done.returncode == 2
    assert "glsw: no worker of the cluster can do the work; rank 1 on " in done.stderr
    assert "no device 'voodoo'" in done.stderr
    assert done.stderr.count("glsw: ") == 1
