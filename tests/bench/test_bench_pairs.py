"""The benchmarks of pairs: tiny sizes, judges that find what is wrong, estimates."""

import json
import time

import numpy as np
import pytest
from test_bench import check_document, check_timed

from bench import (
    aymone2022,
    lin2015,
    measure,
    options,
    pairs,
    programs,
    scan2014,
    traceback,
    workloads,
)
from glsw.batch import Batch
from glsw.engines import Diagonal, Reference
from glsw.paths import Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA
from glsw.traceback import trace

LINEAR = Scoring.match_mismatch(1, -1, 2, 2)
AFFINE = Scoring.named("BLOSUM62", 12, 1)


@pytest.fixture
def bench(device, tmp_path, one_repeat):
    """Run a benchmark: exit status and the document that it wrote."""

    def bench(module, *arguments):
        output = tmp_path / "out.json"
        common = ["--device", str(device.info.index), "--output", str(output)]
        status = module.main([*arguments, *common])
        return status, json.loads(output.read_text())

    return bench


def related(scoring, count=3, length=60):
    some = workloads.dna if scoring.alphabet == DNA else workloads.proteins
    queries = some([length] * count, 1)
    return Batch.pairwise(queries, workloads.relatives(queries, 4, 2))


def test_aymone2022(bench, capsys):
    status, document = bench(aymone2022, "--pairs", "4", "--length", "40", "--budget", "0.1")
    assert status == 0
    check_document(document, "aymone2022")
    assert document["settings"]["paper"][4]["gcups"] == pytest.approx(25.08, abs=0.01)
    found = {(each["workload"], each["task"], each["ties"]): each for each in document["results"]}
    assert len(found) == len(document["results"]) == 4 * (4 + 2)
    for (_, task, ties), result in found.items():
        check_timed(result)
        if task == "paths" and ties == "conventional":
            assert "traceback" in result["check"]["judge"]
            assert result["memory"] > 0
    printed = capsys.readouterr().out
    assert "A100-SXM4-40GB, pure" in printed
    assert "10.453" in printed


def test_lin2015(bench, capsys):
    status, document = bench(lin2015, "--lengths", "30,150", "--budget", "60")
    assert status == 0
    check_document(document, "lin2015")
    assert [result["length"] for result in document["results"]] == [30, 150]
    for result in document["results"]:
        assert list(result["engines"]) == list(lin2015.METHODS)
        assert result["engines"]["fused"]["wall"]
        for core in result["cpu"].values():
            check_timed(core)
    assert "SWAT  50" in capsys.readouterr().out


def test_too_long_is_estimated_and_not_run(bench, capsys):
    status, document = bench(
        lin2015, "--lengths", "300", "--budget", "0.0001", "--methods", "blocks,single-stage"
    )
    assert status == 0
    (result,) = document["results"]
    for timed in result["engines"].values():
        assert timed["check"] is timed["wall"] is timed["gcups"] is None
        assert timed["estimate"] > 0.0001
    assert "single-stage" in (out := capsys.readouterr().out)
    assert "~" in out


def test_scan2014(bench, capsys):
    status, document = bench(scan2014, "--lengths", "33", "--budget", "60")
    assert status == 0
    check_document(document, "scan2014")
    assert [result["gaps"] for result in document["results"]] == ["constant", "affine"]
    for result in document["results"]:
        assert list(result["engines"]) == list(scan2014.METHODS)
    printed = capsys.readouterr().out
    assert "figure 9: the scan 1.5 to 4.5 times" in printed
    assert "fused: " in printed


def test_traceback(bench, capsys):
    status, document = bench(traceback, "--lengths", "70", "--workgroup", "2", "--budget", "0.3")
    assert status == 0
    check_document(document, "traceback")
    results = document["results"]
    assert [each["rows"] for each in results if each["spacing"]] == [16, 32, 64, None]
    assert [each["memory"] for each in results] == [None] * 6 + [2**20]
    used = [each["memory_used"] for each in results]
    assert used[0] == min(used[:5]) < used[4]
    for result in results:
        check_timed(result)
    assert "diagonal, all directions" in capsys.readouterr().out


def test_traceback_plot(bench, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra bench is not installed")
    plot = tmp_path / "plot.png"
    words = ("--lengths", "20,40", "--workgroup", "2", "--budget", "0.1", "--plot", str(plot))
    assert bench(traceback, *words)[0] == 0
    assert plot.read_bytes().startswith(b"\x89PNG")


class WrongPaths(Diagonal):
    def paths(self, batch, *, ties="conventional", progress=None):
        paths = super().paths(batch, ties=ties, progress=progress)
        runs = paths.runs.copy()
        runs[0] -= 4  # an aligned pair less at the end
        return Paths(paths.ends, runs, paths.offsets)


def test_wrong_alignments_are_not_timed(bench, monkeypatch, capsys):
    monkeypatch.setattr(aymone2022, "Diagonal", WrongPaths)
    status, document = bench(aymone2022, "--pairs", "3", "--length", "30", "--budget", "0.1")
    assert status == 1
    for result in document["results"]:
        assert (result["wall"] is None) == (result["task"] == "paths")
    assert "scores of the alignments" in capsys.readouterr().err


def test_wrong_ends_are_not_timed(bench, monkeypatch, capsys):
    class WrongEnds(Reference):
        def __init__(self, scoring, device):
            super().__init__(scoring)

        def best(self, *arguments, **more):
            found = super().best(*arguments, **more)
            found.cell[:, 0] += 1
            return found

    monkeypatch.setitem(pairs.METHODS, "wavefront", WrongEnds)
    status, document = bench(scan2014, "--lengths", "20", "--budget", "0.1")
    assert status == 1
    assert document["results"][0]["engines"]["wavefront"]["check"]["wrong"] == 1
    printed = capsys.readouterr()
    assert (
        "WRONG: wavefront, 400 cells: 1 of 1 differ from parasail (score), reference (end)"
        in printed.err
    )
    assert "WRONG" in printed.out


@pytest.mark.parametrize("module", [aymone2022, lin2015, scan2014, traceback])
def test_bad_input_is_one_line(module, capsys):
    assert module.main(["--device", "no such device"]) == 2
    error = capsys.readouterr().err
    assert "no such device" in error
    assert error.count("\n") == 1


def test_choices():
    assert options.choices(pairs.METHODS)("fused,blocked") == ["fused", "blocked"]
    with pytest.raises(options.argparse.ArgumentTypeError, match="'scan': wavefront, blocked"):
        options.choices(pairs.METHODS)("scan")


@pytest.mark.parametrize("scoring", [LINEAR, AFFINE], ids=["linear", "affine"])
def test_path_scores(scoring):
    batch = related(scoring)
    ends = Reference(scoring).ends(batch)
    for p, score in enumerate(ends.score):
        query, target = batch.pair(p)
        path, _ = trace(query, target, scoring, int(ends.query_end[p]), int(ends.target_end[p]))
        assert pairs.path_score(scoring, query, target, path) == score
        assert pairs.path_score(scoring, query, target, path[:, :-1]) != score
        assert pairs.path_score(scoring, query[:-30], target, path) == -1
        assert pairs.path_score(scoring, query, target, path - 50) == -1


def test_a_gap_costs_its_length():
    query, target = DNA.encode("ACGTACGT"), DNA.encode("ACGTTTTACGT")
    path = np.array([[0, 4, 7, 11], [0, 4, 4, 8]])
    for scoring, cost in ((LINEAR, 6), (Scoring.match_mismatch(1, -1, 4, 1), 6)):
        assert pairs.path_score(scoring, query, target, path) == 8 - cost
    crooked = np.array([[0, 4, 7, 11], [0, 4, 4, 7]])
    assert pairs.path_score(LINEAR, query, target, crooked) == -1


@pytest.mark.parametrize("method", ["plain", "simd", "trace"])
@pytest.mark.parametrize("scoring", [LINEAR, AFFINE], ids=["linear", "affine"])
def test_parasail_of_pairs_equals_the_reference(scoring, method):
    batch = related(scoring, 5)
    peer = programs.ParasailPairs(scoring, method)
    with peer.prepared(batch) as work:
        assert peer.scores(work).tolist() == Reference(scoring).scores(batch).tolist()


def test_expected_cell_of_a_larger_pair(device, monkeypatch):
    batch = related(AFFINE, 1, 500)
    judge, cell = pairs.expected_cell(AFFINE, batch, device, 1)
    assert judge == "parasail (score), reference (end)"
    monkeypatch.setattr(pairs, "BY_REFERENCE", 0)
    judge, other = pairs.expected_cell(AFFINE, batch, device, 0)
    assert judge == "blocked in other tiles"
    assert other.tolist() == cell.tolist()


def test_estimate(monkeypatch):
    clock = [0.0]
    rows = []

    def run(part):
        rows.append(len(part.pair(0)[0]))
        clock[0] += 1 + rows[-1] / 100  # a second whatever the rows

    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    batch = related(LINEAR, 1, 1000)
    assert pairs.estimate(run, batch, budget=1000) == pytest.approx(1.64 * 1000 / 64)
    assert pairs.estimate(run, batch, budget=20) == pytest.approx(3.56 * 1000 / 256)
    assert pairs.estimate(run, batch, budget=1) == pytest.approx(1.64 * 1000 / 64)
    assert rows == [64, 64, 64, 64, 256, 256, 64, 64]


def test_square():
    batch = related(LINEAR, 1, 100)
    assert pairs.square(batch, 10**4) is batch
    assert pairs.square(batch, 400).cells == 400
    assert pairs.first_rows(batch, 7).cells == 700


def test_once_judges_changes_only():
    judged = []

    def judge(result):
        judged.append(result)
        return measure.Check("nobody", 1, int(result > 2))

    check = pairs.once(judge, lambda result: (np.array(result),))
    assert [check(result).wrong for result in (1, 1, 2, 2, 3, 3, 2)] == [0, 0, 0, 0, 1, 1, 0]
    assert judged == [1, 2, 3, 3]


def test_relatives():
    queries = workloads.dna([1000, 1])
    found = workloads.relatives(queries, 4)
    assert found.lengths.tolist() == [1000, 1]
    batch = Batch.pairwise(queries, found).select([0])
    assert 0.6 < Reference(LINEAR).scores(batch)[0] / 1000 < 0.9
    assert found.residues.max() < 4
