"""The benchmark of edit distances: tiny shares, and judges that find what is wrong."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from test_bench import check_document, check_timed

from bench import edit, schema
from bench.rows import measurements
from glsw.engines.bit_parallel import BitParallel

pytestmark = pytest.mark.usefixtures("one_repeat")
OPTIONS = ["--share", "0.00001", "--budget", "0.01"]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(edit, "_SAMPLE_CELLS", 1e5)


def test_all_works(tmp_path, capsys):
    output = tmp_path / "out.json"
    assert edit.main([*OPTIONS, "--words", "2", "--output", str(output)]) == 0
    document = json.loads(output.read_text())
    check_document(document, "edit")
    assert {result["work"] for result in document["results"]} == {work.name for work in edit.WORKS}
    for result in document["results"]:
        check_timed(result)
    assert schema.main([str(output)]) == 0
    part = SimpleNamespace(benchmark="edit", settings={}, results=document["results"])
    keys = dict(measurements(part))
    assert len(keys) == len(document["results"])
    assert next(key for key, each in keys.items() if not each["peer"]).startswith(
        "edit / each 1000"
    )
    assert "each 1000  glsw, texts" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["each 10-20", "pairs 300"])
def test_wrong_distances_have_no_time(name, monkeypatch, capsys):
    download = BitParallel.download

    def wrong(self, binding, dtype, count):
        return download(self, binding, dtype, count) + np.int32(1)

    monkeypatch.setattr(BitParallel, "download", wrong)
    assert edit.main([*OPTIONS, "--works", name]) == 1
    shown = capsys.readouterr()
    assert "WRONG" in shown.out
    assert f"glsw, codes, {name}" in shown.err
