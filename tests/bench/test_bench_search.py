"""The benchmark of searches: tiny sizes, judges that find what is wrong, devices side by side."""

import json
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from test_bench import check_document, check_timed

from bench import (
    competitors,
    measure,
    nucleotides,
    search,
    search_comparisons,
    search_work,
    workloads,
)
from glsw.align import Aligner
from glsw.batch import Batch
from glsw.engines import ENGINES, Diagonal, Reference
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN

SCORING = Scoring.named("BLOSUM62", 12, 1)
TINY = ("--lengths", "12", "--sequences", "9", "--entries", "8", "--budget", "60")
EACH = ("--engines", "diagonal", "--tasks", "each,together")


@pytest.fixture
def bench(device, tmp_path, one_repeat):
    """Run the benchmark with two short queries: exit status and the document that it wrote."""
    fasta = tmp_path / "queries.fasta"
    search_comparisons._write_fasta(fasta, "q", workloads.queries([34, 20]))

    def bench(*arguments):
        output = tmp_path / "out.json"
        common = ["--device", str(device.info.index), "--output", str(output)]
        status = search.main([*TINY, "--queries", str(fasta), *arguments, *common])
        return status, json.loads(output.read_text())

    return bench


def check_kernel(measurement):
    check_timed(measurement)
    assert measurement["kernel"] > 0
    assert measurement["kernel_gcups"] == pytest.approx(
        measurement["cells"] / measurement["kernel"] / 1e9
    )


def test_engines_side_by_side(bench, capsys):
    status, document = bench("--engines", "diagonal,reference", "--tasks", "each,together")
    assert status == 0
    check_document(document, "search")
    assert document["settings"]["queries"] == {"origin": "queries.fasta", "lengths": [20, 34]}
    uniform, swissprot = document["results"]
    assert uniform["database"]["kind"] == "uniform"
    assert uniform["database"]["residues"] == 9 * 12
    assert uniform["database"]["planted"] == 2
    assert swissprot["database"]["sequences"] == 8
    for result in document["results"]:
        assert [run["label"] for run in result["runs"]] == ["diagonal", "reference"]
        assert not {"peers", "command", "devices"} & set(result)
        for run in result["runs"]:
            assert [each["length"] for each in run["queries"]] == [20, 34]
            for each in [*run["queries"], run["together"]]:
                check_kernel(each)
            for each in run["queries"]:
                assert each["cells"] == each["length"] * result["database"]["residues"]
                assert each["first"] > 0
            assert run["kernel"] == pytest.approx(sum(each["kernel"] for each in run["queries"]))
            assert run["together"]["cells"] == sum(each["cells"] for each in run["queries"])
        judges = [run["queries"][0]["check"]["judge"] for run in result["runs"]]
        assert judges == ["parasail, its first run", "parasail, diagonal"]
    printed = capsys.readouterr().out
    assert "lengths of Swiss-Prot: 8 sequences" in printed
    assert "these 20 lengths: 5000 (DPX), 4200 (half2)" in printed


def test_peers_and_command(bench, monkeypatch, capsys):
    monkeypatch.setattr(search_comparisons, "cores", lambda: 1)
    words = ("--lengths", "none", "--tasks", "each,peers,command", "--engines", "diagonal")
    status, document = bench(*words, "--competitor-queries", "1")
    assert status == 0
    (result,) = document["results"]
    for each in result["peers"]:
        check_timed(each)
        assert (each["length"], each["cores"], each["scaled"]) == (34, 1, False)
    assert "parasail" in {each["peer"] for each in result["peers"]}
    command = result["command"]
    assert command["check"] == {**{"judge": "the engines", "pairs": 2, "wrong": 0, "first": None}}
    assert len(command["seconds"]) == search_comparisons.COMMANDS
    assert command["allowed"] == pytest.approx(1.5 * result["runs"][0]["kernel"] + 2)
    assert command["indexed"] == (command["makedb"] is not None)
    assert "1.5 x kernels + 2 s" in capsys.readouterr().out


class WrongLast(Diagonal):
    """Wrong for a subject that is in no sample."""

    at = -1

    def scan_each(self, tasks, *, progress=None):
        for found in super().scan_each(tasks, progress=progress):
            found[-1, self.at] += 1
            yield found


def test_wrong_score_is_not_timed(bench, monkeypatch, capsys):
    monkeypatch.setitem(ENGINES, "diagonal", WrongLast)
    status, document = bench(*EACH)
    assert status == 1
    for result in document["results"]:
        (run,) = result["runs"]
        assert run["together"] is None
        assert "kernel" not in run
        for each in run["queries"]:
            assert each["check"]["wrong"] == 1
            assert each["wall"] is each["gcups"] is each["kernel_gcups"] is None
    printed = capsys.readouterr()
    assert "WRONG" in printed.out
    assert "diagonal, query q1: 1 of 9 differ from parasail" in printed.err


def test_engines_judge_one_another(bench, monkeypatch, capsys):
    # The sample has the first and the last subject, and those that are planted.
    words = ("--sequences", "60", "--entries", "none", "--sample", "1")
    monkeypatch.setitem(ENGINES, "diagonal", WrongLast)
    monkeypatch.setattr(WrongLast, "at", 20)
    status, document = bench(*words, "--engines", "reference,diagonal", "--tasks", "each,together")
    assert status == 1
    good, bad = document["results"][0]["runs"]
    assert good["queries"][0]["wall"]
    assert bad["queries"][0]["wall"] is bad["together"]["wall"] is None
    assert "diagonal, all queries" in capsys.readouterr().err


class Narrow(Reference):
    """Has numbers to choose from."""

    capabilities = replace(Reference.capabilities, number_types=("int32", "f16"))

    def __init__(self, scoring, device=None, *, number="auto"):
        if number == "f16":
            raise ValueError("number 'f16': no 16-bit floats here")
        super().__init__(scoring)
        self.number = number


def test_numbers(bench, monkeypatch, capsys):
    monkeypatch.setitem(ENGINES, "reference", Narrow)
    words = ("--engines", "reference,diagonal", "--numbers", "int32,f16", "--tasks", "each")
    status, document = bench(*words, "--lengths", "none")
    assert status == 0
    runs = document["results"][0]["runs"]
    assert [run["label"] for run in runs] == ["reference int32", "reference f16", "diagonal"]
    assert [run["refused"] for run in runs] == [None, "number 'f16': no 16-bit floats here", None]
    assert "reference f16: number 'f16'" in capsys.readouterr().out


def several(wrong):
    """Return what stands for an Aligner that takes a list of devices."""

    def made(scoring, *, engine, device):
        many = isinstance(device, list)
        aligner = Aligner(scoring, engine=engine, device=device[0] if many else device)
        if many and wrong:
            aligner.search = lambda *_, **__: iter(())
        return aligner

    return made


@pytest.mark.parametrize("wrong", [False, True])
def test_devices(bench, device, monkeypatch, capsys, wrong):
    monkeypatch.setattr(search_comparisons, "Aligner", several(wrong))
    index = str(device.info.index)
    words = ("--engines", "diagonal", "--tasks", "devices", "--devices", f"{index},{index}")
    status, document = bench(*words, "--lengths", "none")
    assert status == wrong
    (result,) = document["results"]
    assert result["runs"] == []
    devices = result["devices"]
    assert devices["bytes"] > 100
    check_timed(devices["one"])
    if wrong:
        assert devices["ratio"] is devices["all"]["wall"] is None
        assert "devices, all: 1 of 1 differ from one device; other bytes" in capsys.readouterr().err
    else:
        assert devices["ratio"] > 0
        assert f"the same {devices['bytes']} bytes" in capsys.readouterr().out


def test_command_is_judged(bench, monkeypatch, capsys):
    def glsw(*words):
        text = "query\trank\ttarget\tscore\nquery0\t1\tsubject1\t7\n"
        return subprocess.CompletedProcess(words, int(words[0] == "makedb"), text, "glsw: no\n")

    monkeypatch.setattr(search_comparisons, "_glsw", glsw)
    words = ("--engines", "diagonal", "--tasks", "command", "--lengths", "none")
    status, document = bench(*words)
    assert status == 1
    command = document["results"][0]["command"]
    assert not command["indexed"]
    assert command["check"]["wrong"] == 2
    error = capsys.readouterr().err
    assert "not indexed: glsw: no" in error
    assert "glsw search: 2 of 2 differ from the engines; query 0: [7], expected [" in error


def test_database_of_a_file(bench, tmp_path):
    fasta = tmp_path / "db.fasta"
    search_comparisons._write_fasta(fasta, "s", workloads.proteins([5, 40, 17]))
    status, document = bench(
        *EACH, "--lengths", "none", "--entries", "none", "--database", str(fasta)
    )
    assert status == 0
    (result,) = document["results"]
    assert result["database"] == {
        **{"name": "db.fasta", "kind": "file", "sequences": 3, "residues": 62},
        **{"mean": pytest.approx(62 / 3), "median": 17, "longest": 40, "planted": 0},
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--queries", "missing.fasta"], "No such file"),
        (["--device", "no such device"], "no such device"),
        (["--database", "missing.fasta", "--lengths", "none", "--entries", "none"], "No such file"),
    ],
)
def test_bad_input_is_one_line(arguments, message, capsys):
    assert search.main([*EACH, "--queries-subset", "1", *arguments]) == 2
    error = capsys.readouterr().err.splitlines()
    assert message in error[-1]
    assert error[-1].startswith("bench.search: ")


def test_parts_have_all_subjects():
    made = workloads.many([9, 7, 7, 5, 3, 1])
    subjects = search_work.Targets("", "", made, np.empty(0, np.intp))
    assert subjects.parts(32)[0] is made
    for limit in (1, 8, 14, 31):
        parts = subjects.parts(limit)
        assert [len(s) for part in parts for s in part] == [9, 7, 7, 5, 3, 1]
        assert np.array_equal(np.concatenate([part.residues for part in parts]), made.residues)
        assert all(len(part.residues) <= limit or len(part) == 1 for part in parts)


def test_many_are_those_of_swissprot():
    database = workloads.many(workloads.swissprot_lengths(3000))
    assert (np.diff(database.lengths) <= 0).all()
    assert database.lengths.mean() == pytest.approx(361, rel=0.02)
    share = np.bincount(database.residues, minlength=24) / len(database.residues)
    for letter, percent in workloads.COMPOSITION.items():
        assert 100 * share[PROTEIN.letters.index(letter)] == pytest.approx(percent, abs=0.1)
    assert np.array_equal(workloads.letters(100), workloads.letters(1000)[:100])
    assert sorted(workloads.STANDARD) == list(workloads.STANDARD)
    assert len(workloads.STANDARD) == 20


@pytest.mark.parametrize("lengths", [[150] * 20, workloads.swissprot_lengths(12)])
def test_planted_score_high(lengths):
    database, queries = workloads.many(lengths), workloads.queries([300, 120])
    planted = workloads.plant(database, queries)
    assert len(planted) == 2
    best = np.zeros(len(database), np.int32)
    for query in queries:
        best = np.maximum(best, Reference(SCORING).scores(Batch.one_to_many(query, database)))
    assert sorted(np.argsort(best)[-2:]) == planted.tolist()
    assert best[planted].min() > 2 * np.delete(best, planted).max()


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("scoring", [SCORING, Scoring.named("BLOSUM62", 8, 8)])
def test_peers_equal_the_reference(cores, scoring):
    batch = Batch.one_to_many(workloads.queries([50])[0], workloads.many([90, 60, 60, 33, 9]))
    expected = Reference(scoring).scores(batch)
    for narrow in (True, False):
        _, scores = competitors.judge(scoring, batch, in_32_bits=not narrow)
        assert scores.tolist() == expected.tolist()
    for peer in competitors.on_cores(scoring, cores):
        with peer.prepared(batch) as work:
            scores = peer.scores(work)
        best = np.sort(expected)[::-1] if peer.name == "ssearch36" else expected
        assert scores.tolist() == best.tolist()


def test_pyopal_is_for_every_matrix():
    scoring = Scoring.named("PAM30", 9, 2)
    names = [peer.name for peer in competitors.on_cores(scoring, 1)]
    assert names == ["pyopal"]
    batch = Batch.one_to_many(workloads.queries([50])[0], workloads.many([30, 20]))
    (peer,) = competitors.on_cores(scoring, 1)
    with peer.prepared(batch) as work:
        assert peer.scores(work).tolist() == Reference(scoring).scores(batch).tolist()


def test_standard_queries_of_the_data(tmp_path, monkeypatch):
    folder = tmp_path / "queries"
    folder.mkdir()
    search_comparisons._write_fasta(folder / "standard20.fasta", "q", workloads.queries([9, 5, 7]))
    arguments = search._parser().parse_args(["--queries-subset", "2"])
    monkeypatch.setenv("GLSW_DATA", str(tmp_path))
    queries, origin = search_work.queries_of(arguments)
    assert [len(query.codes) for query in queries] == [5, 9]
    assert origin == "standard20.fasta"
    monkeypatch.delenv("GLSW_DATA")
    queries, origin = search_work.queries_of(search._parser().parse_args([]))
    assert tuple(len(query.codes) for query in queries) == workloads.STANDARD
    assert origin == "generated"


def test_judge_repeats_its_first_run():
    query = search_work.Query("q", workloads.queries([30])[0])
    made = workloads.many([20] * 10)
    targets = search_work.Targets("", "", made, np.empty(0, np.intp))
    judge = search_work.ScoreJudge(query, targets, 1)
    assert judge.chosen.tolist() == [0, 9]
    scores = Reference(SCORING).scores(Batch.one_to_many(query.codes, made))
    assert judge.judge(scores, "a") == measure.Check("parasail", 2, 0)
    other = scores + (np.arange(10) == 2)
    assert judge.judge(other, "a").wrong == 1
    assert judge.judge(scores, "b") == measure.Check("parasail, a", 10, 0)


def test_nucleotides(tmp_path):
    output = tmp_path / "out.json"
    options = ["--queries", "40,90", "--sequences", "30", "--length", "70", "--budget", "0.1"]
    assert nucleotides.main([*options, "--output", str(output)]) == 0
    results = json.loads(output.read_text())["results"]
    assert [result["length"] for result in results] == [40, 90]
    for result in results:
        for engine in ("lanes", "cpu"):
            check = result[engine]["check"]
            assert (check["pairs"], check["wrong"]) == (30, 0)
            assert result[engine]["gcups"] > 0
