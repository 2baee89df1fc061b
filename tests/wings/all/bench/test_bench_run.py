"""Rows, files and the runner: what is wrong is reported, what is there is not measured again."""

import json
import os
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bench import __main__, row, run as bench_run, runner, table
from bench.compare import Claim, decide, matches, papers
from bench.measure import Check, Measurement, commands, compare, measure
from bench.rivals import PROGRAMS, Hit, hits
from bench.row import File, check, key, state
from bench.work import WORKLOADS
from bench.work.base import Case, Run, Workload
from bench.work.journeys import JOURNEYS, Journeys
from bench.work.pairs import PAPERS, made
from glsw.engines import Diagonal

HEADER = {
    **{"schema": 4, "licence": "CC0-1.0", "device": None, "cpu": "x", "cores": 1, "os": "Linux"},
    **{"versions": {}, "size": "tiny"},
}
ROW = {
    **{"workload": "w", "program": "p", "ours": True, "task": "scores", "device": "d"},
    **{"driver": "1", "cpu": "x, 1 cores", "commit": "c", "date": "2026-01-01"},
}
TIMED = {**ROW, "judge": "j", "judged": 1, "wrong": 0, "cells": 10, "wall": 0.5, "rate": 20.0}


# rows and files


def test_a_file_keeps_the_last_row_of_each_key(tmp_path):
    file = File(tmp_path / "x.ndjson", HEADER)
    file.write()
    file.keep(TIMED)
    file.keep(TIMED | {"wall": 0.25})
    file.keep(TIMED | {"driver": "2"})
    read = File.read(file.path)
    assert [each["wall"] for each in read.rows.values()] == [0.25, 0.5]
    assert len(file.path.read_text().splitlines()) == 4
    read.write()
    assert len(file.path.read_text().splitlines()) == 3
    assert File.read(file.path).rows == read.rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"wall": "1 s"}, "wall: '1 s' is not of type 'number', 'null'"),
        ({"ours": 1}, "ours: 1 is not of type 'boolean'"),
        ({"cells": True}, "cells: True is not of type 'integer'"),
        ({"wrong": -1}, "wrong: -1 is less than the minimum of 0"),
        ({"speed": 1}, "'speed' was unexpected"),
        ({"note": "/home/ada/x"}, "'/home/ada' is personal"),
    ],
)
def test_what_the_schema_forbids(tmp_path, change, message):
    path = tmp_path / "x.ndjson"
    path.write_text("\n".join(map(json.dumps, (HEADER, ROW, ROW | change))) + "\n")
    with pytest.raises(ValueError, match=r"x.ndjson, line 3: ") as error:
        File.read(path)
    assert message in str(error.value)


def test_the_schema_is_one():
    jsonschema = pytest.importorskip("jsonschema")
    text = row.Path(row.__file__).with_name("schema.json").read_text()
    kinds = json.loads(text)["$defs"]
    for name, value in (("header", HEADER), ("row", TIMED)):
        jsonschema.Draft202012Validator.check_schema(kinds[name])
        jsonschema.validate(value, kinds[name])
        check(value, name)


@pytest.mark.parametrize("name", ["cpu", "h100", "h200", "llvmpipe", "zink", "softpipe"])
def test_the_results_are_valid(name):
    from bench.readme import RESULTS

    file = File.read(RESULTS / f"{name}.ndjson")
    assert file.header["licence"] == "CC0-1.0"
    assert not [row for row in file.rows.values() if state(row) == "wrong" and _timed(row)]
    assert {row["workload"] for row in file.rows.values()} <= set(WORKLOADS)


def test_rows_are_older_than_a_changed_shader(fake, device, monkeypatch):
    def start(seconds):
        return Run(lambda: Diagonal(PAPERS, device).scores(batch), lambda found: right, 10)

    batch, right = made(PAPERS, 2, 20), Check("j", 2, 0)
    engine = Case("diagonal", start)
    _, file = fake(engine, replace(engine, program="theirs", ours=False), case("none"))
    mine, theirs, none = file.rows.values()
    assert {name.partition(".")[0] for name in mine["shaders"]} == {"checksum", "diagonal_leaning"}
    assert none["shaders"] == {}
    assert "shaders" not in theirs
    assert [row.older(each) for each in (mine, theirs, none)] == [False] * 3
    told = {name: each for name, each in mine.items() if name != "shaders"}
    assert row.older(told)
    assert not row.older(told | {"unit": "share of relatives found"}), "not what a shader decides"
    monkeypatch.setattr(row, "digest", lambda name: "changed")
    assert [row.older(each) for each in (mine, theirs, none)] == [True, False, False]
    assert table.label(mine).endswith("older")


def test_comments_make_no_other_shader(tmp_path, monkeypatch):
    shader = tmp_path / "x.comp"
    monkeypatch.setattr(row, "SHADERS", tmp_path)
    texts = "a;\nb;", "a; // one\n\n  b;", "a;\nc;"
    found = []
    for text in texts:
        row.digest.cache_clear()
        shader.write_text(f"#version 430\n{text}\n")
        found.append(row.digest("x.comp"))
    assert (found[0] == found[1], found[0] == found[2]) == (True, False)
    row.digest.cache_clear()
    assert row.digest("nothing.comp") == ""


def _timed(row):
    return "wall" in row


def test_columns_stay_below_their_heads():
    long = TIMED | {"options": "the same triple on devices 0,1,2,3,4,5,6,7"}
    _, head, *lines = table.lines([TIMED, long])
    assert {line.index("500 ms") + len("500 ms") for line in lines} == {
        head.index("wall") + len("wall")
    }


# measuring


def test_measure_judges_every_timed_run():
    found = iter([1, 1, 2])
    result = measure(lambda: next(found), lambda x: compare([x], [1]), cells=1)
    assert result.check.wrong == 1
    assert result.wall is None
    assert not Check("nobody", 0, 0).passed


# the runner


class Fake(Workload, called="search"):
    """Works of which a test says what comes out."""

    text, weight = "fake", 1.0
    made: tuple[Case, ...] = ()

    def cases(self):
        return self.made


def case(name, result=1, expected=1, **words):
    def start(seconds):
        if isinstance(result, BaseException):
            raise result
        if isinstance(result, Measurement):
            return result
        run = partial(np.array, [result])
        return Run(run, lambda found: compare(found, [expected]), 10, **words)

    return Case(name, start)


@pytest.fixture
def fake(bench, monkeypatch):
    monkeypatch.setitem(WORKLOADS, "search", Fake)

    def fake(*cases, **words):
        Fake.made = cases
        return bench("search", **words)

    return fake


def test_wrong_results_have_no_time(fake, capsys):
    status, file = fake(case("right"), case("wrong", result=2))
    right, wrong = file.rows.values()
    assert status == 1
    assert (state(right), state(wrong)) == ("timed", "wrong")
    assert not {"wall", "rate", "clock"} & wrong.keys()
    printed = capsys.readouterr()
    assert "WRONG: 1 of 1" in printed.out
    assert "WRONG: search, wrong" in printed.err


def test_what_cannot_be_done_is_told(fake):
    told = Measurement(Check("j", 1, 0), facts={"rate": 0.9, "unit": "share"})
    status, file = fake(
        *(case("no", ValueError("too old\nor new")), case("told", told)),
        case("long", estimate=lambda limit: 99.0),
    )
    no, tells, long = file.rows.values()
    assert status == 0
    assert no["skipped"] == "too old"
    assert (tells["rate"], tells["unit"], state(tells)) == (0.9, "share", "timed")
    assert (long["skipped"], long["estimate"], state(long)) == ("about 99 s", 99.0, "not run")


def test_other_programs_may_fail_as_they_like(fake):
    theirs = replace(case("theirs", KeyError("no")), ours=False)
    status, file = fake(theirs, case("a"))
    assert status == 0
    assert [state(row) for row in file.rows.values()] == ["not run", "timed"]
    with pytest.raises(KeyError):
        fake(case("ours", KeyError("no")))


def test_a_case_is_stopped(fake, monkeypatch):
    monkeypatch.setattr(runner, "GRACE", 0.05)
    monkeypatch.setattr(runner, "OVERTIME", 0.0)
    status, file = fake(case("slow", estimate=lambda limit: runner.time.sleep(9) or 0.0))
    (slow,) = file.rows.values()
    assert status == 0
    assert slow["skipped"].startswith("stopped after")


def test_two_passes_of_a_command_without_a_rate():
    row = {"judged": 1, "wrong": 0, "wall": 2.0, "wall_min": 2.0, "wall_max": 2.0}
    found = runner.joined(row, row | {"wall": 1.0, "wall_min": 1.0})
    assert (found["between"], found["wall"], found["wall_min"]) == (1.0, 1.5, 1.0)
    assert "rate" not in found


def test_two_passes_give_the_spread_between_them(fake):
    _, file = fake(case("a"), case("b", ValueError("no")), passes=2)
    first, second = file.rows.values()
    assert (first["passes"], first["repeats"]) == (2, 2)
    assert first["between"] >= 0
    assert first["wall_min"] <= first["wall"] <= first["wall_max"]
    assert (second["passes"], state(second)) == (1, "not run")


def test_no_pass_begins_after_the_seconds(fake, capsys, monkeypatch):
    monkeypatch.setattr(runner, "FIRST", 1.0)
    slow = case("a", estimate=lambda limit: runner.time.sleep(0.3) or 0.0)
    _, file = fake(slow, passes=2, seconds=0.2)
    (row,) = file.rows.values()
    assert (row["passes"], state(row)) == (1, "timed")
    assert "pass 2 left out" in capsys.readouterr().err


def test_an_interrupted_run_goes_on(fake, capsys):
    status, file = fake(case("a"), case("b", KeyboardInterrupt()), case("c"))
    assert status == 130
    assert [row["program"] for row in file.rows.values()] == ["a"]
    status, file = fake(case("a", ValueError("measured again")), case("b"), case("c"))
    assert status == 0
    assert [state(row) for row in file.rows.values()] == ["timed"] * 3
    assert "interrupted; the same command goes on" in capsys.readouterr().err


def test_rows_of_another_commit_are_replaced(fake, monkeypatch):
    fake(case("a"), case("gone"))
    monkeypatch.setattr(bench_run.machine, "git", lambda *words: "other")
    _, file = fake(case("a"))
    commits = {row["program"]: row["commit"] == "other" for row in file.rows.values()}
    assert commits == {"a": True, "gone": False}


def test_the_list_has_a_line_of_words_per_workload(capsys):
    assert __main__.main(["run", "--list"]) == 0
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == len(WORKLOADS)
    assert "{" not in printed


def test_some_rows_of_a_workload(bench, fake, capsys):
    Fake.made = case("a"), case("b"), case("ab")
    _, file = bench("search", "--only", ", a")
    assert {row["program"] for row in file.rows.values()} == {"a", "ab"}
    with pytest.raises(SystemExit):
        bench("search", "--only", "(")
    assert bench("search", "--only", "nothing")[0] == 2
    said = "bench run: --only nothing: there is no such row in search\n"
    assert capsys.readouterr().err.endswith(said)


def test_bad_input_is_one_line(bench, tmp_path, capsys):
    for words in (["no such"], ["--engines", "no"], ["--competitor", "x"]):
        with pytest.raises(SystemExit) as error:
            bench(*words)
        assert error.value.code == 2
    path = tmp_path / "missing" / "align"
    assert __main__.main(["run", "--competitor", f"cudasw4={path}"]) == 2
    assert __main__.main(["run", "--data", str(path)]) == 2
    assert capsys.readouterr().err.endswith(f"--data {path}: there is no such folder\n")
    other = tmp_path / "other.ndjson"
    device = {"renderer": "another"}
    File(other, HEADER | {"device": device}).write()
    assert bench("pairs", path=other)[0] == 2
    assert "of another device" in capsys.readouterr().err
    assert __main__.main(["no such"]) == 2
    capsys.readouterr()
    assert __main__.main(["check", "none.ndjson"]) == 2
    assert capsys.readouterr().err == "bench check: none.ndjson: No such file or directory\n"
    other.write_text('{"schema": 1}\n', encoding="utf-8")
    assert __main__.main(["report", str(other)]) == 2
    said = f"bench report: {other.name}, not a file of bench run: line 1: 'licence' is a required"
    assert capsys.readouterr().err.startswith(said)
    assert __main__.main([]) == 2


def test_size_for_a_device(device, monkeypatch):
    for seconds, size in ((10.0, "tiny"), (1e-2, "small"), (1e-9, "small")):
        monkeypatch.setattr(bench_run, "second_run", lambda run, seconds=seconds: seconds)
        if device.info.software:
            assert bench_run.size_for(device) == size


# the workloads

QUICK = ("search", "search-swissprot", "liu2006", "nucleotides", "pairs", "aymone2022", "long")
QUICK += ("scan2014", "megabase", "traceback", "three", "sudo2012", "three-large", "all-pairs")
QUICK += ("many-pairs", "neighbors", "edit", "calibration")


@pytest.mark.parametrize("name", QUICK)
def test_every_workload_is_right(bench, name, monkeypatch):
    monkeypatch.setattr("bench.machine.cores", lambda: 1)
    monkeypatch.setattr("bench.work.three.TRIED", 4)
    status, file = bench(name)
    rows = list(file.rows.values())
    assert status == 0, [row for row in rows if state(row) == "wrong"]
    assert {row["workload"] for row in rows} == {name}
    assert any(state(row) == "timed" and row["ours"] for row in rows)
    assert all(row["judged"] for row in rows if state(row) == "timed")
    assert "\n".join(table.lines(rows))
    assert __main__.main(["show", str(file.path)]) == 0


def test_devices_share_the_triples(bench, device):
    twice = ",".join([str(device.info.index)] * 2)
    status, file = bench("sudo2012", "--devices", twice, "--only", "devices", seconds=20)
    one, two = file.rows.values()
    assert (status, one["count"], two["count"], one["cells"]) == (0, 1, 2, two["cells"])
    assert one["judged"] == two["judged"] == 2024
    assert {state(one), state(two)} == {"timed"}


def test_a_wrong_engine_is_reported_by_every_judge(bench, monkeypatch):
    ends = Diagonal.ends

    def wrong(self, *words, **options):
        found = ends(self, *words, **options)
        found.score[-1] += 1
        return found

    monkeypatch.setattr(Diagonal, "ends", wrong)
    status, file = bench("pairs", "--engines", "diagonal")
    rows = {row["program"]: row for row in file.rows.values() if row["ours"]}
    assert status == 1
    assert state(rows["diagonal"]) == "wrong"


def test_keys_of_a_workload_are_all_different(device, tmp_path):
    from bench.work.base import SIZES, Setup

    for size in SIZES:
        setup = Setup(device, size, None, {"edlib": ""}, None, [0, 1], 4, tmp_path)
        for name, kind in WORKLOADS.items():
            keys = [key({"workload": name, **each.fields()}) for each in kind(setup).cases()]
            assert len(keys) == len(set(keys)), (size, name)


# papers


def test_claims_name_what_is_measured(device, tmp_path):
    from bench.work.base import Setup

    everything = {name: name for name in ("parasail", "ssearch36", "Biopython")}
    setup = Setup(device, "full", None, everything, None, [0, 1], 1, tmp_path)
    for paper in papers():
        assert set(paper["workloads"]) <= set(WORKLOADS)
        for claim in paper["claims"]:
            for side in ({**claim.rows, **each} for each in (claim.left, claim.right)):
                cases = WORKLOADS[side["workload"]](setup).cases()
                fields = ({"workload": side["workload"], **each.fields()} for each in cases)
                assert any(matches(each, side) for each in fields) or _absent(side), side


def _absent(side):
    """Tell whether it needs 16-bit floats or a program that is not here."""
    import shutil

    program = side["program"]
    return program == "ssearch36" and shutil.which(program) is None


def test_decisions():
    def timed(program, size, wall):
        return TIMED | {"program": program, "sizes": [size], "wall": wall}

    rows = [timed("a", 1, 1.0), timed("b", 1, 3.0), timed("a", 2, 1.0), timed("b", 2, 1.5)]
    for least, best, verdict in (
        *((1.0, False, "holds"), (2.0, False, "holds in part"), (2.0, True, "holds")),
        *((4.0, False, "does not hold"), (4.0, True, "does not hold")),
    ):
        claim = Claim("", "", {"program": "a"}, {"program": "b"}, least, best)
        found = decide(claim, rows)
        assert found.verdict == verdict
        assert found.by == ("at most 3 times" if best else "1.5 to 3 times")
    assert decide(claim, []).verdict == "not measured"
    assert claim.rule == "the largest ratio is 4 or more"
    assert [claim.shown(ratio) for ratio in (3.9999, 3.96, 4.0, 4.04, 266.4)] == [
        *("3.9999", "3.96", "4", "4", "266"),
    ], "on the side of the rule where it is"


KILLED = """
import multiprocessing, sys, time
from functools import partial
from bench.programs import Biopython, Processes
from glsw.alignment.batch import Batch
from glsw.scoring.scoring import Scoring
if __name__ == "__main__":
    scoring = Scoring.match_mismatch(2, -1, 1, 1)
    encode = scoring.alphabet.encode
    batch = Batch.one_to_many(encode("ATCTC"), [encode("GTCTA")] * 8)
    with Processes(partial(Biopython, scoring), 2).prepared(batch):
        print(*(each.pid for each in multiprocessing.active_children()), flush=True)
        time.sleep(600)
"""


def test_processes_end_with_a_killed_run(tmp_path):
    (tmp_path / "killed.py").write_text(KILLED, encoding="utf-8")
    root = str(Path(__file__).parents[4])
    command = [sys.executable, str(tmp_path / "killed.py")]
    env = os.environ | {"PYTHONPATH": root}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) as run:
        pids = [int(pid) for pid in run.stdout.readline().split()]
        assert len(pids) == 2
        run.kill()
    late = time.monotonic() + 60
    while any(map(running, pids)):
        assert time.monotonic() < late
        time.sleep(0.1)


def running(pid):
    """Tell whether a process is there, and no zombie that nobody waits for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_hits_of_every_kind_of_output():
    blast = "q\tt\t50.0\t8\t4\t0\t1\t8\t1\t8\t1e-5\t30.1"
    sam = "q\t0\tt\t1\t255\t8M\t*\t0\t0\tACGT\t*\tAS:i:70"
    hmmer = "t - q - 1e-5 30.1 0.0 2e-5 29.0 0.0 1.1 1 0 0 1 1 1 1 a long name"
    lines, told = (
        ["# q", blast, sam, hmmer, "", "Has CONVERGED!"],
        Hit("q", "t", None, "1e-5", "30.1"),
    )
    assert [*hits(lines)] == [told, Hit("q", "t", 70), told]
    assert [*hits([blast + "\t70\n"], scores=True)] == [told._replace(score=70)]


def test_every_journey_has_a_rival():
    kinds = {
        kind
        for name, each in PROGRAMS.items()
        if name != "glsw" and each.search
        for kind in each.kind.split()
    }
    assert {each.kind for each in JOURNEYS.values() if each.query} == kinds


@pytest.mark.parametrize(
    "name", ["proteins-genome", "domains-sums", "domains-hits", "domains-composition"]
)
def test_what_is_wrong_in_a_journey_is_told(bench, monkeypatch, name):
    monkeypatch.setattr("bench.work.journeys.JOURNEYS", {name: JOURNEYS[name]})
    monkeypatch.setattr("bench.measure.LONG", 0.0)
    monkeypatch.setattr("bench.rivals.COMMANDS", {})
    status, file = bench("journeys")
    (mine,) = file.rows.values()
    assert (status, mine["wrong"], mine["judged"] > 1, state(mine)) == (0, 0, True, "timed")

    def others(*given, **options):
        return [hit._replace(score=hit.score + 1) for hit in hits(*given, **options)]

    monkeypatch.setattr("bench.work.journeys.hits", others)
    status, file = bench("journeys", "--fresh")
    assert (status, state(next(iter(file.rows.values())))) == (1, "wrong")


@pytest.mark.parametrize(("idle", "least"), [(None, 1.0), (0.5, 0.1), (0.9, 1.0)])
def test_a_card_is_warmed_up_for_as_long_as_it_has_cooled(monkeypatch, idle, least):
    now, ran = [100.0], []
    monkeypatch.setattr("bench.measure.time.perf_counter", lambda: now[0])

    def run():
        ran.append(now[0])
        now[0] += 0.01

    def judge(_):
        now[0] += 0.2  # in which the card is idle, too
        return Check("j", 1, 0)

    device = SimpleNamespace(info=SimpleNamespace(software=False), timer=nullcontext)
    words = {} if idle is None else {"warm_at": now[0] - idle}
    measure(run, judge, cells=1, device=device, budget=0.0, **words)
    warm = [at for at in ran[1:] if at - ran[1] < least - 1e-9]
    assert len(warm) == pytest.approx(least / 0.01, abs=1)
    assert ran[1 + len(warm)] - ran[len(warm)] == pytest.approx(0.01)
    assert all(later - at > 0.2 for at, later in pairwise(ran[1 + len(warm) :]))


@pytest.mark.parametrize(
    ("long", "budget", "runs"), [(10.0, 60.0, 4), (10.0, 1e-9, 2), (0.0, 60.0, 1)]
)
def test_a_command_is_timed_after_one_that_warms_up(monkeypatch, long, budget, runs):
    monkeypatch.setattr("bench.measure.LONG", long)
    ran = []
    check, times = commands(lambda: ran.append(0), lambda _: Check("j", 1, 0), budget)
    assert (check.passed, len(ran), len(times)) == (True, runs, runs)


@pytest.mark.parametrize(("lines", "right"), [([1, 1, 1, 1], True), ([1, 1, 2], False)])
def test_each_command_of_a_journey_is_judged(bench, monkeypatch, lines, right):
    left = iter(lines)

    def seconds(self, command, output):
        output.write_text("a line\n" * next(left))

    monkeypatch.setattr(Journeys, "_seconds", seconds)
    _, file = bench("journeys", "--only", "devices$")
    (mine,) = file.rows.values()
    assert (next(left, None), mine["wrong"]) == (None, not right)
    assert mine.get("repeats") == (3 if right else None)


def test_the_lines_of_other_programs_may_vary(bench, monkeypatch):
    left = iter([3, 4, 3, 4])
    monkeypatch.setattr("bench.rivals.find", lambda paths: {"ssearch36": "ssearch36"})
    monkeypatch.setattr("bench.work.journeys.version_of", lambda *words: "36")
    monkeypatch.setattr("bench.work.journeys._lines", lambda path: next(left))
    monkeypatch.setattr(Journeys, "_seconds", lambda self, command, output: output.touch() or 1.0)
    _, file = bench("journeys", "--only", "ssearch36.*domains-hits$")
    (theirs,) = file.rows.values()
    assert (next(left, None), theirs["wrong"], theirs["repeats"]) == (None, 0, 3)
