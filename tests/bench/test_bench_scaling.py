"""A small simulation of a cluster: Dask's scheduler is real, the devices sleep."""

from __future__ import annotations

import csv
import io

import pytest

from bench import scaling


def test_two_devices(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--devices 2 --databases Swiss-Prot NR --queries 20 --longest 0.2 --opening 0"
    assert scaling.main(words.split()) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter="\t"))
    assert [row["database"] for row in rows] == ["Swiss-Prot", "NR"]
    assert all(float(row["s"]) >= float(row["ideal_s"]) > 0 for row in rows)
    assert all(int(row["tasks"]) > 2 for row in rows)
