"""A search by the ranks of an MPI job: the same bytes as in one process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from program import HANGS_AFTER, ROOT

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
FILES = [str(ROOT / "demo" / "query.fasta"), str(ROOT / "demo" / "proteins.fasta")]


def ranks(count: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command line with that many ranks, or without MPI for 0."""
    if count and not shutil.which("mpiexec"):
        assert not os.environ.get("CI"), "no mpiexec"
        pytest.skip("no mpiexec")
    mpi = ["mpiexec", "-n", str(count)] if count else []
    return subprocess.run(
        [*mpi, sys.executable, "-m", "glsw", *words],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER,
        check=False,
    )


def test_four_ranks(tmp_path: Path) -> None:
    words = ["search", *FILES, "--unknown", "X", "--engine", "cpu", "--format", "sam"]
    here = ranks(0, *words, "--output", str(tmp_path / "here"))
    there = ranks(4, *words, "--output", str(tmp_path / "there"), "--cluster", "mpi")
    assert (here.returncode, there.returncode) == (0, 0), there.stderr
    assert there.stderr.count("GCUPS") == 1
    headers = [(tmp_path / name).read_text().splitlines() for name in ("here", "there")]
    kept = [[line for line in lines if not line.startswith("@PG")] for lines in headers]
    assert kept[0] == kept[1] != []


def test_ranks_without_a_device() -> None:
    done = ranks(2, "search", *FILES, "--engine", "lanes", "--device", "voodoo", "--cluster", "mpi")
    assert done.returncode == 2
    assert "glsw: no rank of the MPI job can do the work; rank 1 on " in done.stderr
    assert "no device 'voodoo'" in done.stderr
    assert done.stderr.count("glsw: ") == 1
