"""The benchmark of whole commands: small sizes, a judge of scores, other programs."""

import json
import stat
import sys
from argparse import Namespace

import pytest
from test_bench import check_document

import glsw
from bench import __main__, journeys, schema
from bench.journeys_work import JOURNEYS, RIVALS, Hit, Inputs, command_line, hits, judged, records
from bench.rows import measurements, state

FAKE = """#!{python}
import sys, time
if sys.argv[1] == "-version":
    print("fake: 9.1+")
elif "-task" in sys.argv:
    {act}
    open(sys.argv[sys.argv.index("-out") + 1], "w").write({text!r})
"""
LINE = "piece0\tgenome0\t100\t20\t0\t0\t1\t20\t1\t20\t1e-9\t40\n"


@pytest.fixture
def bench(device, tmp_path, monkeypatch):
    """Run the benchmark with generated sequences: exit status, and the document as written."""
    monkeypatch.delenv("GLSW_DATA", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def bench(*arguments):
        output = tmp_path / "out.json"
        words = ["journeys", "--quick", "--repeat", "1", "--output", str(output), *arguments]
        status = __main__.main(words)
        return status, json.loads(output.read_text())

    return bench


def install(tmp_path, name, text=LINE, act="pass"):
    """Put a program on PATH that writes this text."""
    (tmp_path / "bin").mkdir(exist_ok=True)
    for each in (name, "makeblastdb"):
        path = tmp_path / "bin" / each
        path.write_text(FAKE.format(python=sys.executable, text=text, act=act))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_rows(bench, capsys):
    status, document = bench("--journeys", "primer,devices")
    assert status == 0
    check_document(document, "journeys")
    schema.validate(document)
    primer, devices = document["results"]
    assert primer["generated"] == ["genomes", "primer"]
    assert primer["cells"] == 2 * 20 * primer["target_letters"] > 10**6
    assert (primer["lines"], primer["check"]["wrong"]) == (2, 0)
    assert primer["wall"]["repeats"] == 1
    assert primer["gcups"] == pytest.approx(primer["cells"] / primer["wall"]["median"] / 1e9)
    assert (devices["lines"], devices["gcups"]) == (1, None)
    assert "primer x 2 genomes" in capsys.readouterr().out


def test_another_program(bench, tmp_path):
    install(tmp_path, "blastn")
    status, document = bench("--journeys", "primer")
    assert status == 0
    schema.validate(document)
    ours, theirs = document["results"]
    assert (ours["program"], ours["exact"], ours["recall"]) == ("glsw", True, None)
    assert (theirs["program"], theirs["version"], theirs["exact"]) == ("blastn", "9.1+", False)
    assert (theirs["lines"], theirs["gcups"]) == (1, None)
    assert theirs["recall"] in (0, 0.5, 1)
    assert str(tmp_path) not in json.dumps(document)


def test_another_program_that_fails_is_left_out(bench, tmp_path):
    install(tmp_path, "blastn", act="sys.exit('no such task')")
    status, document = bench("--journeys", "primer")
    assert status == 0
    schema.validate(document)
    assert document["results"][1]["left_out"] == "failed: no such task"
    assert document["results"][1]["wall"] is None


@pytest.mark.usefixtures("bench")
def test_another_program_that_takes_too_long_is_left_out(tmp_path):
    install(tmp_path, "blastn", act="time.sleep(99)")
    arguments = Namespace(data=None, quick=True, limit=3.0, repeat=1, device=None, engine="auto")
    row = journeys.Work(tmp_path, arguments).row("primer", "blastn")
    assert row["left_out"] == "stopped after 3 s"
    assert row["check"] is None


def test_our_failure_is_wrong(bench, monkeypatch, capsys):
    broken = JOURNEYS["gene"]._replace(words="--matrix NONE")
    monkeypatch.setitem(JOURNEYS, "gene", broken)
    status, document = bench("--journeys", "gene")
    assert status == 1
    schema.validate(document)
    assert "NONE" in document["results"][0]["check"]["first"]
    assert "WRONG: gene, glsw" in capsys.readouterr().err


def test_wrong_scores_are_found(tmp_path):
    inputs, journey = Inputs(tmp_path, None, True), JOURNEYS["proteome-self"]
    same = [Hit(each.id, each.id, 0, 0.0) for each in records(inputs.path("proteome"))]
    check = judged(journey, inputs, same)
    assert check.wrong == check.pairs == len(same)
    right = [hit._replace(score=int(score)) for hit, score in zip(same, own(inputs), strict=True)]
    assert judged(journey, inputs, right).wrong == 0
    right[3] = right[3]._replace(score=right[3].score - 1)
    check = judged(journey, inputs, right)
    assert check.wrong == 1
    assert right[3].query in check.first


def own(inputs):
    """Return the score of each protein with itself."""
    return [
        glsw.score(each.letters, each.letters, engine="reference")
        for each in records(inputs.path("proteome"))
    ]


def test_real_sequences_are_found_at_any_depth(tmp_path):
    (tmp_path / "data" / "dna").mkdir(parents=True)
    (tmp_path / "data" / "dna" / "lambda_virus.fa").write_text(">phage\nACGT\n")
    (tmp_path / "work").mkdir()
    inputs = Inputs(tmp_path / "work", tmp_path / "data", True)
    assert inputs.path("lambda").read_text() == ">phage\nACGT\n"
    assert len(records(inputs.path("proteome"))) == 20
    assert inputs.generated == {"proteome"}


def test_hits_of_sam_and_tables(tmp_path):
    path = tmp_path / "out"
    path.write_text("@HD\tVN:1.6\nr1\t16\tgenome\t" + "x\t" * 8 + "AS:i:42\tNM:i:0\n")
    assert list(hits(path)) == [Hit("r1", "genome", 42, None)]
    path.write_text("# x\n" + LINE.rstrip("\n") + "\t33\n")
    assert list(hits(path, scores=True)) == [Hit("piece0", "genome0", 33, 1e-9)]
    assert list(hits(path)) == [Hit("piece0", "genome0", None, 1e-9)]


@pytest.mark.parametrize("program", ["glsw", *RIVALS])
def test_command_lines(program):
    for journey in JOURNEYS.values():
        prepare, command = command_line(journey, program, cores=2, engine="auto", device="")
        assert "{" not in prepare + command
        if program == "glsw":
            assert bool(prepare) == journey.indexed


def test_states_of_rows(bench):
    _, document = bench("--journeys", "gene", "--rivals", "blastn")

    class Part:
        benchmark, settings, results = "journeys", document["settings"], document["results"]

    ((name, found),) = measurements(Part)
    assert name == "journeys / gene / 300 x 100000 / generated / glsw"
    assert state(found) == "timed"
    assert not found["peer"]
