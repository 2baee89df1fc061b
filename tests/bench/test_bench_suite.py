"""The suite: ends in time, goes on after an interruption, names what is wrong, leaves out."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import glsw.device.shader
from bench import __main__, lin2015, liu2006, machine, plan, scan2014, schema, speeds, suite

pytest.importorskip("jsonschema", reason="the extra bench is not installed")

ROOT = Path(__file__).parents[2]
WRONG = ("better(best, most, i,", "better(best, most + 1, i,")
"""What makes scores of the fused scan too high by one."""

SPEEDS = {"fragment": 5e8, "diagonal": 3e8, "lanes": 2e9}
SLOW = dict.fromkeys(SPEEDS, 1e5)
"""So slow that steps of a generous budget are small."""

RUN = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from bench import __main__, measure, pairs, speeds
pairs.BY_REFERENCE = 1e5
speeds.speeds = lambda device: {SLOW}
measure.MOST = 1
sys.exit(__main__.main(sys.argv[1:] or WORDS))
"""
"""``bench run`` in a process of its own, small as with `SLOW`."""

STEPS_OF_LIN = ["lin2015 200", "lin2015 1000", "lin2015 10000", "lin2015 100000"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "suite.json"


@pytest.fixture
def bench(device, path, monkeypatch, capsys):
    """``bench(words)``: status, document or None, stdout and stderr of ``bench run``."""
    monkeypatch.setattr(speeds, "speeds", lambda device: dict(SPEEDS))

    def bench(words):
        common = ["--device", str(device.info.index), "--output", str(path)]
        status = __main__.main(["run", *words.split(), *common])
        whole = path.exists() and path.read_text().endswith("}\n")
        document = json.loads(path.read_text()) if whole else None
        return status, document, *capsys.readouterr()

    return bench


@pytest.fixture
def lin(monkeypatch):
    """``lin2015`` that does nothing but note its lengths, and what ``lin.does`` says."""

    class Fake:
        def __init__(self):
            self.ran = []
            self.does = {}

        def main(self, words):
            arguments = lin2015._parser().parse_args(words)
            (length,) = arguments.lengths
            self.ran.append(length)
            found = {"settings": {"lengths": [length]}, "results": []}
            arguments.output.write_text(json.dumps(found))
            return self.does.get(length, lambda: 0)()

    fake = Fake()
    monkeypatch.setattr(lin2015, "main", fake.main)
    return fake


@pytest.fixture
def interruptible():
    """Ctrl-C as Python has it: a test runner may ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def by_step(document):
    return {result["step"]: result for result in document["results"]}


def raises(error):
    def run():
        raise error

    return run


@pytest.fixture
def clock(monkeypatch):
    """The suite's clock, which goes on only when ``clock.wait(seconds)`` is called."""

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

        def wait(self, seconds):
            self.now += seconds
            return 0

    clock = Clock()
    monkeypatch.setattr(suite, "time", clock)
    return clock


def test_suite(bench, path, monkeypatch, one_repeat):
    monkeypatch.setattr(speeds, "speeds", lambda device: dict(SLOW))
    status, document, out, err = bench("--budget 600 lin2015 liu2006")
    assert status == 0
    schema.validate(document)
    assert document["settings"] == {
        **{"suite": "quick", "names": ["liu2006", "lin2015"], "engines": None},
        **{"budget": 600.0, "devices": []},
    }
    found = by_step(document)
    assert list(found) == ["liu2006", *STEPS_OF_LIN]
    assert found["liu2006"]["settings"]["engine"] == "fragment"
    assert found["lin2015 200"]["results"][0]["engines"]["fused"]["wall"]
    assert found["lin2015 100000"]["left_out"]
    for result in document["results"]:
        assert not any(str(path.parent) in word for word in result["arguments"])
        if not result["left_out"]:
            module = {"liu2006": liu2006, "lin2015": lin2015}[result["benchmark"]]
            module._parser().parse_args(result["arguments"])
            assert result["seconds"] > 0
    assert f"step 1 of {len(found)}: liu2006, about " in err
    assert re.search(r"liu2006 +\d+\.\d  right", out)
    assert str(path) in err
    before = path.read_bytes()
    status, _, out, err = bench("--budget 600 lin2015 liu2006")
    assert status == 0
    assert "finished" in err
    assert path.read_bytes() == before


def test_goes_on(bench, lin):
    lin.does[1000] = raises(KeyboardInterrupt)
    status, document, _, err = bench("--budget 50 lin2015")
    assert status == 130
    assert err.splitlines()[-1] == "interrupted after 1 of 4 steps; the same command goes on"
    schema.validate(document)
    assert list(by_step(document)) == ["lin2015 200"]
    del lin.does[1000]
    status, document, _, err = bench("--budget 50 lin2015")
    assert status == 0
    assert "1 are there already" in err
    assert lin.ran == [200, 1000, 1000, 10_000]  # the next takes long to judge
    assert list(by_step(document)) == STEPS_OF_LIN
    assert bench("--budget 50 lin2015 --fresh")[0] == 0
    assert lin.ran[4:] == [200, 1000, 10_000]


def test_a_benchmark_that_catches_the_interrupt(bench, lin, interruptible):
    def pressed():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            return 1

    lin.does[200] = pressed
    status, document, _, err = bench("--budget 50 lin2015")
    assert (status, document) == (130, None)
    assert "interrupted after 0 of 4 steps" in err


def test_ctrl_c(device, path, interruptible):
    words = [sys.executable, "-c", RUN, "run", "--budget", "600"]
    words += ["lin2015", "scan2014", "--engines", "fused"]
    words += ["--device", str(device.info.index), "--output", str(path)]
    running = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    for line in running.stderr:
        if re.search(r"step [2-5] of 6: [^:]*, about ", line):
            break
    running.send_signal(signal.SIGINT)
    rest = running.communicate(timeout=600)[1].splitlines()
    assert running.returncode == 130
    told = re.fullmatch(r"interrupted after (\d) of 6 steps; the same command goes on", rest[-1])
    done = int(told[1])
    document = json.loads(path.read_text())
    schema.validate(document)
    assert len(document["results"]) == done > 0
    assert list(by_step(document))[:1] == STEPS_OF_LIN[:1]
    again = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert again.returncode == 0, again.stderr
    assert f"{done} are there already" in again.stderr
    finished = json.loads(path.read_text())
    schema.validate(finished)
    assert finished["results"][:done] == document["results"]
    assert len(finished["results"]) == 6


def test_wrong_engine(bench, device, monkeypatch, one_repeat):
    monkeypatch.setattr(speeds, "speeds", lambda device: dict(SLOW))
    real = glsw.device.shader.assemble

    def assemble(name, *words):
        source, origins = real(name, *words)
        if name == "scan.comp":
            assert WRONG[0] in source
            source = source.replace(*WRONG)
        return source, origins

    monkeypatch.setattr(glsw.device.shader, "assemble", assemble)
    monkeypatch.setattr(device, "programs", {})
    status, document, _, err = bench("--budget 600 lin2015 --engines fused,diagonal")
    assert status == 1
    schema.validate(document)
    for name in ("lin2015 200", "lin2015 1000"):
        step = by_step(document)[name]
        assert step["status"] == 1
        assert "fused" in step["message"]
        assert f"{name}: WRONG: fused" in err
        wrong = step["results"][0]["engines"]["fused"]
        assert wrong["check"]["wrong"] == 1
        assert wrong["wall"] is wrong["device"] is wrong["gcups"] is None
        assert step["results"][0]["engines"]["diagonal"]["wall"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"commit": "0" * 40}, "is of commit 0000"),
        ({"dirty": None}, "is of a checkout with changes: none"),
        ({"device": {"renderer": "Voodoo"}}, "is of another device, renderer Voodoo, this is "),
        ({"device": {"driver": "1.0"}}, "is of another device, driver 1.0, this is "),
        ({"settings": {"budget": 60.0}}, "is of another suite, budget 60.0, this is 50.0"),
        ({"settings": {"engines": ["scan"]}}, "is of another suite, engines scan, this is none"),
        ({"benchmark": "lin2015", "results": []}, "is no document of a suite"),
        ({"schema": 1}, "is not valid"),
    ],
)
def test_another_document(bench, lin, path, monkeypatch, change, message):
    monkeypatch.setattr(machine, "dirty", lambda commit: False)
    monkeypatch.setattr(machine, "git", lambda *words: "1" * 40)
    assert bench("--budget 50 lin2015")[0] == 0
    document = json.loads(path.read_text())
    for key, value in change.items():
        document[key] = document[key] | value if isinstance(value, dict) else value
    path.write_text(json.dumps(document) + "\n")
    status, after, _, err = bench("--budget 50 lin2015")
    assert status == 2
    assert after == document
    assert message in err or message == "is not valid"
    assert err.count("\n") == 1
    assert "--fresh" in err
    assert "--output" in err
    assert bench("--budget 50 lin2015 --fresh")[0] == 0


def test_no_document(bench, lin, path):
    path.write_text("{")
    status, _, _, err = bench("--budget 50 lin2015")
    assert status == 2
    assert "--fresh" in err
    assert not lin.ran


def test_budget_is_used_up(bench, lin, clock):
    lin.does[1000] = lambda: clock.wait(1.6)
    status, document, out, err = bench("--budget 2 lin2015")
    assert status == 0
    found = by_step(document)
    assert found["lin2015 1000"]["left_out"] is None
    for name in STEPS_OF_LIN[2:]:
        assert found[name]["left_out"] == "the 2 s are used up"
        assert found[name]["arguments"] == []
        assert f"{name}: left out, " in err
    assert lin.ran == [200, 1000]
    assert "left out: the 2 s are used up" in out


def test_a_slow_step_is_stopped(bench, lin, clock, monkeypatch):
    monkeypatch.setattr(suite, "GRACE", 0.1)
    lin.does[200] = lambda: time.sleep(600)
    status, document, _, _ = bench("--budget 2 lin2015")
    found = by_step(document)
    assert status == 0
    assert re.fullmatch(r"the rest was stopped after \d s", found["lin2015 200"]["left_out"])
    assert found["lin2015 200"]["settings"] == {"lengths": [200]}


def test_a_step_that_fails(bench, lin):
    home = Path.home() / "secret"
    lin.does[200] = raises(RuntimeError(f"no {home} here\nmore"))
    lin.does[1000] = lambda: sys.exit(2)
    lin.does[10_000] = lambda: print("bench.lin2015: out of order", file=sys.stderr) or 2
    status, document, out, err = bench("--budget 50 lin2015")
    assert status == 2
    schema.validate(document)
    found = by_step(document)
    assert [each["status"] for each in found.values()] == [2, 2, 2, 0]
    assert found["lin2015 200"]["message"] == "RuntimeError: no ~/secret here"
    assert found["lin2015 10000"]["message"] == "bench.lin2015: out of order"
    assert "lin2015 10000: bench.lin2015: out of order" in err
    assert re.search(r"lin2015 10000 +\d\.\d  failed", out)
    lin.does[1000] = lambda: print("WRONG: all\nmore", file=sys.stderr) or 1
    status, document, _, err = bench("--budget 50 lin2015 --fresh")
    assert status == 1
    assert by_step(document)["lin2015 1000"]["message"] == "WRONG: all"


def test_a_benchmark_that_is_missing(bench, monkeypatch):
    monkeypatch.setitem(sys.modules, "bench.lin2015", None)
    status, document, _, _ = bench("--budget 50 lin2015")
    assert status == 2
    assert "lin2015" in by_step(document)["lin2015 200"]["message"]


def test_verbose(bench, lin):
    lin.does[200] = lambda: print("a table") or print("a remark", file=sys.stderr) or 0
    _, _, out, err = bench("--budget 50 lin2015")
    assert "a table" not in out
    assert "a remark" not in err
    _, _, out, err = bench("--budget 50 lin2015 --fresh --verbose")
    assert "a table" in out
    assert "a remark" in err


def test_engines(bench, lin):
    status, document, _, _ = bench("--budget 50 lin2015 aymone2022 sudo2012 --engines scan")
    assert status == 0
    found = by_step(document)
    words = found["lin2015 200"]["arguments"]
    assert words[words.index("--methods") + 1] == "blocks,single-stage,fused"
    for name in ("aymone2022", "sudo2012 lengths", "sudo2012 aims"):
        assert found[name]["left_out"] == "has none of the engines scan"


def test_list(bench, lin, path):
    status, document, out, _ = bench("--budget 50 lin2015 micro --list")
    assert (status, document, lin.ran) == (0, None, [])
    lines = out.splitlines()
    assert lines[0].startswith("python -m bench.micro --budget ")
    assert lines[1].startswith("python -m bench.lin2015 --lengths 200 --methods blocks,single")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("lin2016", "'lin2016': micro, engines, liu2006"),
        ("--budget 0", "'0': seconds above 0"),
        ("--budget x", "'x': seconds above 0"),
        ("--engines fast", "'fast': auto, reference"),
        ("--devices 0,x", "'0,x': numbers with commas"),
    ],
)
def test_bad_words(words, message, capsys):
    with pytest.raises(SystemExit):
        __main__.main(["run", *words.split()])
    assert message in capsys.readouterr().err


def test_no_device(capsys):
    assert __main__.main(["run", "--device", "no such device"]) == 2
    err = capsys.readouterr().err
    assert "no such device" in err
    assert err.count("\n") == 1


def test_commands(capsys):
    assert __main__.main([]) == 2
    assert __main__.main(["--help"]) == 0
    assert capsys.readouterr().out.count("python -m bench validate") == 2
    assert __main__.main(["measure"]) == 2
    assert (
        "'measure': run, journeys, report, compare, validate are known" in capsys.readouterr().err
    )


# steps


@pytest.fixture
def info(device):
    """``info(software, version)``: a device like the tested one."""

    def info(*, software=True, version=(4, 6), half=False):
        compute = version >= (4, 3)
        traits = {"software": software, "version": version, "compute": compute, "half": half}
        return dataclasses.replace(device.info, **traits)

    return info


def lines(budget, step):
    """The command line of a step as its benchmark reads it, None if it is left out."""
    try:
        words = step.arguments(budget)
    except plan.LeftOutError:
        return None
    if step.benchmark in ("micro", "engines"):
        return words
    return import_module(f"bench.{step.benchmark}")._parser().parse_args(words)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("speed", [1e5, 1e8, 1e10, 3e12])
@pytest.mark.parametrize("seconds", [0.1, 10, 100])
def test_every_step_has_a_command_line(info, full, speed, seconds):
    speeds = dict.fromkeys(SPEEDS, speed)
    fast = speed > 1e9
    names = set()
    for step in plan.steps(plan.NAMES, full=full, devices=[0, 1]):
        names.add(step.name)
        engines = step.wanted(None)
        here = info(software=not fast, half=fast)
        lines(plan.Budget(seconds, speeds, here, engines, False, full, [0, 1]), step)
    assert len(names) >= 16
    assert {"sudo2012 devices", "search devices"} <= names
    assert {step.benchmark for step in plan.steps(plan.NAMES, full=full)} == set(plan.NAMES)


def test_sizes_are_those_of_the_papers_on_hardware(info):
    budget = plan.Budget(150, dict.fromkeys(SPEEDS, 1e11), info(software=False), (), full=True)
    found = {}
    for step in plan.steps(plan.NAMES, full=True):
        found[step.name] = lines(dataclasses.replace(budget, engines=step.wanted(None)), step)
    assert found["liu2006"].lengths == [row.length for row in liu2006.PAPER]
    assert found["liu2006"].sequences == plan.ENTRIES
    assert (found["aymone2022"].pairs, found["aymone2022"].length) == (1000, 512)
    assert {int(name.split()[1]) for name in found if "lin2015" in name} == set(lin2015.LENGTHS)
    assert {int(name.split()[1]) for name in found if "scan2014" in name} == set(scan2014.LENGTHS)
    assert found["sudo2012 lengths"].lengths == [8, 16, 128, 256, 512, 1024]
    assert (found["sudo2012 aims"].size, found["sudo2012 aims"].word) == (512, 128)


def test_without_compute_shaders(info):
    old = info(version=(3, 3))
    left = {
        step.name: step.refused(old, None)
        for step in plan.steps(plan.NAMES, full=False)
        if step.refused(old, None)
    }
    assert set(left.values()) == {"needs OpenGL 4.3, the device has 3.3"}
    kept = {step.name for step in plan.steps(plan.NAMES, full=False)} - set(left)
    assert {"micro", "liu2006", "engines search"} <= kept
    assert not any(name.startswith(("lin2015", "scan2014", "sudo2012")) for name in kept)


def test_speeds(device):
    found = speeds.speeds(device, seconds=0.05)
    assert set(found) == {"fragment", "diagonal", "lanes"}
    assert all(speed > 1e4 for speed in found.values())


def test_without_compute_shaders_for_real(run_under, tmp_path):
    path = tmp_path / "suite.json"
    words = ["run", "--budget", "600", "liu2006", "lin2015", "--output", str(path)]
    run_under("gl33", RUN.replace("WORDS", repr(words)))
    document = json.loads(path.read_text())
    schema.validate(document)
    found = by_step(document)
    assert found["liu2006"]["results"][0]["engine"]["wall"]
    assert found["lin2015 200"]["left_out"] == "needs OpenGL 4.3, the device has 3.3"
