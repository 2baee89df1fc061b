import json
import re
from pathlib import Path

import numpy as np
import pytest
from Bio.Seq import Seq
from Bio.SeqIO import write
from Bio.SeqRecord import SeqRecord

from bench import competitors, fragment_tiles, liu2006, measure, programs, workloads
from bench.document import SCHEMA
from glsw.batch import Batch
from glsw.engines import ENGINES, Fragment, Reference
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN

SCORING = Scoring.named("BLOSUM62", 12, 1)
DOCUMENT = {
    *("schema", "benchmark", "date", "commit", "dirty", "device", "cpu", "os", "versions"),
    *("settings", "results"),
}
MEASUREMENT = {"check", "cells", "wall", "device", "gcups"}
SPREAD = {"median", "minimum", "maximum", "spread", "repeats"}


@pytest.fixture
def bench(device, tmp_path, one_repeat):
    """Run a benchmark with tiny sizes: exit status and the document that it wrote."""

    def bench(module, *arguments):
        output = tmp_path / "results" / "out.json"
        common = ["--device", str(device.info.index), "--output", str(output), "--budget", "60"]
        status = module.main([*arguments, *common])
        return status, json.loads(output.read_text())

    return bench


def check_document(document, benchmark):
    assert set(document) == DOCUMENT
    assert document["schema"] == SCHEMA
    assert document["benchmark"] == benchmark
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", document["date"])
    assert {"renderer", "vendor", "gl", "driver", "limits"} <= set(document["device"])
    assert {"glsw", "python", "moderngl", "numpy"} <= set(document["versions"])
    assert set(document["cpu"]) == {"model", "cores"}
    assert set(document["os"]) == {"system", "machine"}
    text = json.dumps(document)
    assert str(Path.home()) not in text
    assert str(Path(__file__).parents[2]) not in text


def check_timed(measurement):
    assert set(measurement) >= MEASUREMENT
    assert measurement["check"]["pairs"] > 0
    assert measurement["check"]["wrong"] == 0
    assert set(measurement["wall"]) == SPREAD
    assert measurement["wall"]["minimum"] <= measurement["wall"]["median"]
    assert measurement["gcups"] == pytest.approx(
        measurement["cells"] / measurement["wall"]["median"] / 1e9
    )


def test_liu2006_generated(bench, capsys):
    status, document = bench(liu2006, "--sequences", "20", "--lengths", "63,40")
    assert status == 0
    check_document(document, "liu2006")
    assert document["settings"]["database"]["sequences"] == 20
    first, second = document["results"]
    assert (first["length"], second["length"]) == (63, 40)
    assert first["paper"]["accession"] == "O29181"
    assert first["paper"]["osearch"] == 90.9
    assert first["paper"]["mcups"]["osearch"] == pytest.approx(44.15, abs=0.01)
    assert second["paper"] is None
    for result in document["results"]:
        check_timed(result["engine"])
        assert result["engine"]["check"]["judge"] == "parasail"
        assert result["engine"]["cells"] == (
            result["length"] * document["settings"]["database"]["residues"]
        )
        assert "parasail" in result["peers"]
        for peer in result["peers"].values():
            check_timed(peer)
    assert "90.9" in capsys.readouterr().out


def test_liu2006_files(bench, tmp_path):
    names = ["a", "b", "c", "d", "e", "f"]
    proteins = workloads.proteins([30, 40, 50, 60, 70, 80])
    records = [
        SeqRecord(Seq(PROTEIN.decode(codes) + "U"), id=name, description="")
        for name, codes in zip(names, proteins, strict=True)
    ]
    write(records, tmp_path / "db.fasta", "fasta")
    write(records[:2], tmp_path / "q.fasta", "fasta")
    files = ["--database", str(tmp_path / "db.fasta"), "--queries", str(tmp_path / "q.fasta")]
    status, document = bench(liu2006, *files, "--sequences", "3", "--engine", "reference")
    assert status == 0
    assert document["device"] is None
    assert document["settings"]["database"] == {
        "name": "db.fasta",
        "sequences": 3,
        "residues": 31 + 51 + 71,
        "longest": 71,
    }
    assert [result["query"] for result in document["results"]] == ["a", "b"]


class OffByOne(Fragment):
    runs = 0

    def scores(self, batch, *, progress=None):
        type(self).runs += 1
        scores = super().scores(batch, progress=progress)
        scores[-1] += 1
        return scores


def test_wrong_engine_is_not_timed(bench, monkeypatch, capsys):
    monkeypatch.setitem(ENGINES, "fragment", OffByOne)
    monkeypatch.setattr(OffByOne, "runs", 0)
    status, document = bench(liu2006, "--sequences", "5", "--lengths", "30")
    assert status == 1
    assert OffByOne.runs == 1
    (result,) = document["results"]
    assert result["engine"]["check"]["wrong"] == 1
    assert result["engine"]["check"]["first"].startswith("pair 4: ")
    assert result["engine"]["wall"] is result["engine"]["gcups"] is None
    printed = capsys.readouterr()
    assert "WRONG" in printed.out
    assert "1 of 5 differ from parasail" in printed.err


def test_fragment_tiles(bench, capsys):
    status, document = bench(fragment_tiles, "--lengths", "20", "--exponents", "4,6")
    assert status == 0
    check_document(document, "fragment_tiles")
    layouts = [
        (result["task"], result["gaps"], result["tile"], result["texels"])
        for result in document["results"]
    ]
    assert len(layouts) == len(set(layouts)) == 2 * 2 * 3 * 2 - 4  # 20 rows leave 16 texels
    for result in document["results"]:
        check_timed(result)
        assert result["bits"] == (16 if result["tile"] == 8 else 32)
        assert result["pairs"] == result["texels"] // -(-20 // result["tile"])
    assert "20 x 20, ends, linear gaps" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--database", "missing.fasta"], "No such file"),
        (["--queries", "missing.fasta"], "No such file"),
        (["--device", "no such device"], "no such device"),
    ],
)
def test_bad_input_is_one_line(arguments, message, capsys):
    assert liu2006.main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_measure_repeats_within_its_budget(monkeypatch):
    runs = []
    timed = measure.measure(
        lambda: runs.append(0), lambda _: measure.Check("nobody", 1, 0), cells=1, budget=0
    )
    assert len(runs) == 4  # one to check; of short runs three are timed in any case
    assert timed.wall.repeats == measure.FEWEST
    monkeypatch.setattr(measure, "SHORT", 0)
    runs.clear()
    timed = measure.measure(
        lambda: runs.append(0), lambda _: measure.Check("nobody", 1, 0), cells=1, budget=0
    )
    assert len(runs) == 2  # one to check, one to time
    assert timed.wall.repeats == 1
    assert timed.wall.spread is None


def test_measure_warms_up_and_judges_every_timed_run():
    runs = []

    def check(run):
        return measure.compare([run], [1 if run == 1 else -1])

    timed = measure.measure(lambda: runs.append(0) or len(runs), check, cells=1, warm_up=0.01)
    assert len(runs) > 3
    assert timed.wall is None
    assert timed.check.wrong == 1


def test_nothing_compared_is_not_right():
    assert not measure.compare([], []).passed
    assert (
        measure.compare([[1, 2], [3, 4]], [[1, 2], [3, 5]]).first
        == "pair 1: [3, 4], expected [3, 5]"
    )
    assert measure.compare([1], [1, 2]).wrong == 2


def test_peers_equal_the_reference():
    batch = Batch.one_to_many(workloads.queries([50])[0], workloads.swissprot_like(12))
    expected = Reference(SCORING).scores(batch)
    for peer in (programs.Parasail, programs.Ssearch36):
        if peer.available(SCORING):
            with peer(SCORING).prepared(batch) as work:
                scores = peer(SCORING).scores(work)
            best = np.sort(expected)[::-1] if peer is programs.Ssearch36 else expected
            assert scores.tolist() == best[: len(scores)].tolist()
            assert len(scores) >= 10


def test_peers_are_for_their_matrix_only():
    assert not programs.Parasail.available(Scoring.named("BLOSUM50", 12, 1))


@pytest.mark.parametrize("cells", [1, 500, 10**9])
def test_portion(cells):
    batch = Batch.one_to_many(np.zeros(10, np.uint8), [np.zeros(5, np.uint8)] * 40)
    chosen = competitors.portion(batch, cells)
    assert 1 <= len(chosen) <= 40
    assert batch.select(chosen).cells <= max(cells, 50)


def test_workloads_are_those_of_swissprot():
    database = workloads.swissprot_like(5000)
    assert database.lengths.mean() == pytest.approx(361, rel=0.02)
    assert np.median(database.lengths) == pytest.approx(297, rel=0.02)
    share = np.bincount(database.residues, minlength=24) / len(database.residues)
    for letter, percent in workloads.COMPOSITION.items():
        assert 100 * share[PROTEIN.letters.index(letter)] == pytest.approx(percent, abs=0.1)
    assert np.array_equal(database.residues, workloads.swissprot_like(5000).residues)
    assert set(workloads.uniform(4, 7).lengths) == {7}


def test_parasail_judges_linear_gaps():
    # Three of these scores are too low with parasail's striped functions.
    scoring = Scoring.named("BLOSUM62", 8, 8)
    targets = workloads.uniform(2849, 361)
    batch = Batch.one_to_many(workloads.queries([361])[0], targets).select([2021, 2392, 2456])
    assert competitors.judge(scoring, batch)[1].tolist() == [39, 39, 43]
    assert Reference(scoring).scores(batch).tolist() == [39, 39, 43]
