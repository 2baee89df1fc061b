"""All engines side by side: tiny sizes, judges that find what is wrong, peers, energy."""

import json
import sys
import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from test_bench import check_document, check_timed

from bench import (
    competitors,
    cpu3,
    energy,
    engines,
    engines_work,
    pairs,
    power_meters,
    programs,
    workloads,
)
from glsw.batch import Batch
from glsw.device.device import DeviceError
from glsw.engines import ENGINES, Diagonal, Fragment, Reference
from glsw.engines.three import ENGINES3, Reference3
from glsw.scoring.scoring import Scoring

AFFINE_DNA = Scoring.match_mismatch(5, -4, 11, 1)
ROW = {
    *("workload", "task", "scoring", "lengths", "count", "engine", "peer", "cores", "refused"),
    *("check", "cells", "wall", "device", "gcups", "memory", "energy"),
}
ENERGY = {"joules_per_run", "watts", "idle_watts", "picojoules_per_cell", "tool", "seconds"}


@pytest.fixture
def bench(device, tmp_path, monkeypatch, one_repeat):
    """Run the benchmark with tiny sizes on one core: exit status and the document it wrote."""
    monkeypatch.setattr(engines_work, "cores", lambda: 1)
    for module in (engines, engines_work):
        monkeypatch.setattr(module, "LENGTH", 64)
    sizes = {"search": 3, "pairs": 2, "long": 100, "three": 8}
    monkeypatch.setitem(engines.SIZES, "tiny", sizes)

    def bench(*arguments):
        output = tmp_path / "out.json"
        common = ["--device", str(device.info.index), "--output", str(output)]
        common += ["--size", "tiny", "--budget", "600"]
        status = engines.main([*common, *arguments])
        return status, json.loads(output.read_text())

    return bench


def rows(document, workload, peer=False):
    return {
        each["engine"]: each
        for each in document["results"]
        if each["workload"] == workload and each["peer"] == peer
    }


def test_all_workloads(bench, device, capsys):
    status, document = bench()
    assert status == 0
    check_document(document, "engines")
    assert document["settings"]["sizes"] == engines.SIZES["tiny"]
    assert document["settings"]["meter"] is None
    for each in document["results"]:
        assert set(each) >= ROW
        assert each["energy"] is None
        assert each["refused"] is None
        check_timed(each)
        assert (each["cores"] == 1) == each["peer"]
    lanes = ["lanes int32", "lanes f16"] if device.info.half else ["lanes int32"]
    assert set(rows(document, "search")) == {*lanes, "fragment", "diagonal", "auto", "cpu"}
    assert set(rows(document, "pairs")) == {"diagonal", "fragment", "blocked", "auto"}
    assert set(rows(document, "long")) == {
        *("blocked", "diagonal", "fragment", "wavefront"),
        *("scan fused", "scan blocks", "scan single-stage"),
    }
    assert list(rows(document, "three")) == ["subtable", "plane", "gpui"]
    search = rows(document, "search")
    assert search["fragment"]["check"]["judge"] == "parasail, lanes int32"
    assert search["lanes int32"]["memory"] > 0
    assert search["fragment"]["memory"] is None
    assert search["auto"]["used"].startswith("auto: ")
    assert search["cpu"]["cells"] == search["auto"]["cells"]
    assert (search["cpu"]["lengths"], search["cpu"]["count"]) == ([375], 3)
    assert {"pyopal", "parasail", "Biopython"} <= set(rows(document, "search", peer=True))
    assert set(rows(document, "pairs", peer=True)) == {"parasail", "Biopython"}
    assert set(rows(document, "long", peer=True)) == {"parasail plain", "parasail simd"}
    assert rows(document, "long", peer=True)["parasail plain"]["function"] == "sw"
    if cpu3.available():
        code = rows(document, "three", peer=True)["C code"]
        assert code["check"]["judge"] == "subtable, reference"
    printed = capsys.readouterr().out
    assert "pairs: 2 pairs of 64 x 64, DNA 1/-1, linear gaps 2: scores and ends" in printed
    assert "parasail simd, 1 core" in printed


def test_all_cores(bench, monkeypatch):
    monkeypatch.setattr(engines_work, "cores", lambda: 2)
    status, document = bench("--workloads", "pairs", "--engines", "diagonal")
    assert status == 0
    found = [(each["engine"], each["cores"]) for each in document["results"]]
    assert found == [
        ("diagonal", None),
        *((name, cores) for cores in (1, 2) for name in ("parasail", "Biopython")),
    ]
    for each in document["results"]:
        check_timed(each)
        assert each["check"]["judge"] == ("diagonal" if each["peer"] else "reference")


class WrongFragment(Fragment):
    """Wrong for the last pair."""

    def best(self, *arguments, **more):
        return last_raised(super().best(*arguments, **more))


class WrongDiagonal(Diagonal):
    """Wrong for the last pair."""

    def best(self, *arguments, **more):
        return last_raised(super().best(*arguments, **more))


def last_raised(found):
    found.score[-1] += 1
    return found


class WrongTriple(Reference3):
    def best(self, triples, progress):
        found = super().best(triples, progress)
        found.score[:] += 1
        return found


def test_wrong_engines_have_no_time(bench, monkeypatch, capsys):
    monkeypatch.setitem(ENGINES, "fragment", WrongFragment)
    monkeypatch.setitem(ENGINES3, "plane", WrongTriple)
    words = ("--engines", "fragment,diagonal,subtable,plane")
    status, document = bench(*words)
    assert status == 1
    wrong = [each for each in document["results"] if each["wall"] is None]
    assert [(each["workload"], each["engine"]) for each in wrong] == [
        *(("search", "fragment"), ("pairs", "fragment"), ("long", "fragment"), ("three", "plane"))
    ]
    for each in wrong:
        assert each["check"]["wrong"] > 0
        assert each["gcups"] is each["device"] is each["energy"] is None
    for name in ("search", "pairs", "long", "three"):
        for each in rows(document, name, peer=True).values():
            check_timed(each)
    printed = capsys.readouterr()
    assert "WRONG" in printed.out
    assert "WRONG: long, fragment: 1 of 1 differ from parasail (score), reference" in printed.err


def test_engines_judge_one_another(bench, monkeypatch):
    monkeypatch.setitem(ENGINES, "diagonal", WrongDiagonal)
    monkeypatch.setattr(engines_work, "SAMPLE", {"search": 1.0, "pairs": 1.0})
    status, document = bench("--workloads", "pairs", "--engines", "diagonal,fragment")
    assert status == 1
    pairs = rows(document, "pairs")
    assert pairs["fragment"]["wall"]
    assert pairs["diagonal"]["check"]["judge"] == "reference, fragment"


def test_wrong_peers_have_no_time(bench, monkeypatch, capsys):
    monkeypatch.setattr(
        programs.Biopython, "scores", lambda self, work: np.zeros(len(work), np.int32)
    )
    status, document = bench("--workloads", "pairs", "--engines", "diagonal")
    assert status == 1
    found = rows(document, "pairs", peer=True)
    assert found["Biopython"]["wall"] is found["Biopython"]["seconds"] is None
    assert found["parasail"]["wall"]
    assert "WRONG: pairs, Biopython, 1 core: 2 of 2 differ from diagonal" in capsys.readouterr().err


class Newer(Diagonal):
    capabilities = replace(Diagonal.capabilities, requires=(9, 9))


class Fails(Fragment):
    def best(self, *arguments, **more):
        raise DeviceError("not enough memory on the card\nfor this")


def test_refused(bench, device, monkeypatch, capsys):
    monkeypatch.setitem(ENGINES, "diagonal", Newer)
    monkeypatch.setitem(ENGINES, "fragment", Fails)
    status, document = bench("--workloads", "pairs,long", "--engines", "diagonal,fragment")
    assert status == 0
    have = "{}.{}".format(*device.info.version)
    for name in ("pairs", "long"):
        found = rows(document, name)
        assert found["diagonal"]["refused"] == f"needs OpenGL 9.9, the device has {have}"
        assert found["fragment"]["refused"] == "not enough memory on the card"
        for each in found.values():
            assert set(each) >= ROW
            assert each["check"] is each["wall"] is each["gcups"] is None
        # Without an engine the judge of the engines judges the others.
        for each in rows(document, name, peer=True).values():
            check_timed(each)
            assert "reference" in each["check"]["judge"]
    assert "-: needs OpenGL 9.9" in capsys.readouterr().out


def test_too_long_is_refused(bench, monkeypatch):
    monkeypatch.setattr(engines, "PROBE", 1)
    monkeypatch.setattr(engines, "PATIENCE", 0)
    monkeypatch.setattr(engines, "SHORT", 0)
    status, document = bench("--engines", "diagonal,fragment,plane,reference")
    assert status == 0
    for name in ("search", "pairs", "long", "three"):
        for each in rows(document, name).values():
            assert each["refused"].startswith("about ")
            assert each["estimate"] > 0


def test_long_estimates_follow_the_growth(device, monkeypatch):
    work = engines_work.Long(800, device)
    clock, lengths = [0.0], []

    def engine(power):
        def ends(batch):
            lengths.append(int(batch.query_lengths[0]))
            clock[0] += (lengths[-1] / 100) ** power

        return SimpleNamespace(ends=ends)

    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    assert work.estimate(engine(2), 100) == pytest.approx(64)
    assert work.estimate(engine(1), 100) == pytest.approx(8)
    assert work.estimate(engine(0.5), 100) == pytest.approx(2**0.5 * 4)
    assert lengths == 3 * [100, 100, 200, 200]
    assert work.estimate(engine(2), 7) == pytest.approx(8)


def test_estimates_from_parts(monkeypatch):
    clock, sizes = [0.0], []

    def part(cells):
        def run():
            sizes.append(cells)
            clock[0] += 1 + cells / 1e9

        return run, min(10**9, int(cells))

    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    first = 10**9 / 4096
    assert engines_work.estimated(part, 10**9, 1e9) == pytest.approx(4096, rel=0.01)
    assert engines_work.estimated(part, 10**9, 100) == pytest.approx(64, rel=0.05)
    assert sizes == [first] * 4 + [first * 8] * 2 + [first * 64] * 2
    assert engines_work.estimated(part, 10**9, 1) == pytest.approx(4096, rel=0.01)


def test_clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    clock = engines.Clock(10, 5)
    assert clock.share() == 2
    now[0] = 6.0
    assert clock.share() == 1
    now[0] = 20.0
    assert clock.share() == 2 * engines.LEAST


def test_without_compute_shaders(run_under, tmp_path):
    output = tmp_path / "out.json"
    words = ["--output", str(output), "--size", "tiny", "--budget", "0.3"]
    words += ["--workloads", "long,three", "--engines", "blocked,fragment,subtable"]
    run_under("gl33", f"from bench import engines; assert engines.main({words}) == 0")
    document = json.loads(output.read_text())
    assert rows(document, "long")["blocked"]["refused"] == "needs OpenGL 4.3, the device has 3.3"
    assert rows(document, "three")["subtable"]["refused"].startswith("needs OpenGL 4.3")
    check_timed(rows(document, "long")["fragment"])


def test_numpy_judges_where_nothing_else_can(device, monkeypatch):
    work = engines_work.Long(60, SimpleNamespace(info=SimpleNamespace(compute=False)))
    monkeypatch.setattr(pairs, "BY_REFERENCE", 0)
    work.prepare()
    assert work.judge.name == "rows of NumPy"
    assert work.check("fragment", work.run(Fragment(work.scoring, device))).passed


def test_size_of_a_device(device, monkeypatch):
    assert engines.size_for(device) in ("tiny", "small" if device.info.software else "large")
    monkeypatch.setattr(engines, "SLOW", float("inf"))
    assert engines.size_for(device) == "tiny"
    monkeypatch.setattr(engines, "SLOW", 0)
    card = SimpleNamespace(info=SimpleNamespace(software=False))
    monkeypatch.setattr(engines, "Auto", lambda scoring, _: Fragment(scoring, device))
    monkeypatch.setattr(engines, "LENGTH", 8)
    for fast, size in ((float("inf"), "small"), (0, "large")):
        monkeypatch.setattr(engines, "FAST", fast)
        assert engines.size_for(card) == size


def test_bad_input_is_one_line(capsys):
    assert engines.main(["--device", "no such device"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("bench.engines: ")
    assert error.count("\n") == 1
    for words in (["--engines", "nope"], ["--workloads", "four"], ["--size", "huge"]):
        with pytest.raises(SystemExit) as stopped:
            engines.main(words)
        assert stopped.value.code == 2


# other programs


@pytest.mark.parametrize(
    ("scoring", "cores"),
    [
        (AFFINE_DNA, 1),
        (AFFINE_DNA, 2),
        (Scoring.match_mismatch(1, -1, 2, 2), 1),
        (Scoring.named("PAM30", 9, 2), 1),
    ],
    ids=["affine", "affine, 2 cores", "linear", "PAM30"],
)
def test_peers_equal_the_reference(scoring, cores):
    some = workloads.dna if scoring.alphabet.name == "DNA" else workloads.proteins
    made = some([90, 60, 60, 33, 9, 70])
    one = Batch.one_to_many(made[0], [made[k] for k in range(1, 6)]).select([4, 0, 2])
    two = Batch.pairwise([made[0], made[5]], [made[1], made[2]])
    database, of_pairs = (
        competitors.on_cores(scoring, cores, slow=True),
        competitors.of_pairs(scoring, cores),
    )
    assert [peer.name for peer in of_pairs] == ["parasail", "Biopython"]
    assert {"pyopal", "Biopython"} <= {peer.name for peer in database}
    for batch, found in ((one, database), (two, of_pairs)):
        expected = Reference(scoring).scores(batch)
        for peer in found:
            with peer.prepared(batch) as work:
                assert peer.scores(work).tolist() == peer.listed(expected).tolist()


def test_shares_have_as_many_cells():
    batch = Batch.one_to_many(np.zeros(3, np.uint8), workloads.dna([50, 10, 10, 10, 10, 10]))
    assert workloads.shares(batch, 2) == [range(0, 1), range(1, 6)]
    assert workloads.shares(batch, 100)[-1] == range(5, 6)
    assert workloads.shares(batch, 1) == [range(0, 6)]


def test_beside_scales_what_is_too_long():
    batch = Batch.one_to_many(workloads.dna([50])[0], workloads.dna([50] * 200))
    asked = []

    def cut(cells):
        asked.append(cells)
        part = batch.select(competitors.portion(batch, cells))
        return part, Reference(AFFINE_DNA).scores(part)

    peer = programs.Biopython(AFFINE_DNA)
    beside = partial(competitors.measured, peer, batch.cells, cut, judge="reference", trial=1000)
    result = beside(budget=1e-4, rate=0.15)
    assert asked == [pytest.approx(5000)]
    check_timed(result)
    assert result["scaled"]
    assert result["pairs"] == 2
    assert result["seconds"] == pytest.approx(100 * result["wall"]["median"])
    assert not beside(budget=30)["scaled"]
    assert asked[1] == 1000
    beside(budget=0, rate=0.15)
    assert asked[-1] == 1000


# energy


def test_joules():
    flat = [(0.1 * k, 50.0) for k in range(21)]
    assert power_meters.joules(flat, 0.35, 1.35) == pytest.approx(50)
    ramp = [(0.1 * k, 100.0 * k) for k in range(11)]
    assert power_meters.joules(ramp, 0.0, 1.0) == pytest.approx(500)
    assert power_meters.joules(ramp, 0.25, 0.75) == pytest.approx(250)
    assert power_meters.joules(flat, 1.81, 2.5) == pytest.approx(0.69 * 50)  # the last one holds
    for few in ([], [(0.5, 1.0)], [(-1.0, 1.0), (0.5, 1.0), (2.0, 1.0)]):
        assert power_meters.joules(few, 0.0, 1.0) is None


class Steady(power_meters.PowerMeter):
    """A hundred watts by the clock."""

    tool = "steady"

    def __init__(self, told=True):
        self.told = told

    def used(self, work):
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        return power_meters.Used(100 * seconds, seconds) if self.told else None


def test_meter(monkeypatch):
    runs = []
    now = [0.0]
    monkeypatch.setattr(energy.time, "perf_counter", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    monkeypatch.setattr(energy.time, "sleep", wait)
    found = energy.EnergyMeter(Steady()).measure(lambda: runs.append(wait(0.125)), 1.0)
    assert (found.watts, found.idle_watts) == (pytest.approx(100), pytest.approx(100))
    assert found.joules_per_run * len(runs) == pytest.approx(100 * found.seconds)
    assert len(runs) == 8
    assert found.seconds == 1.0
    fields = found.as_dict(1000)
    assert set(fields) == ENERGY
    assert fields["picojoules_per_cell"] == pytest.approx(found.joules_per_run * 1e9)
    assert energy.EnergyMeter(Steady(told=False)).measure(lambda: None, 0) is None


def test_energy_of_the_fastest(bench, monkeypatch, capsys):
    monkeypatch.setattr(engines, "meter_for", lambda device: energy.EnergyMeter(Steady()))
    words = ("--workloads", "pairs,three", "--engines", "diagonal,fragment,subtable,plane")
    status, document = bench(*words, "--energy")
    assert status == 0
    assert document["settings"]["meter"] == "steady"
    for name in ("pairs", "three"):
        found = list(rows(document, name).values())
        fastest = max(found, key=lambda each: each["gcups"])
        assert [each for each in found if each["energy"]] == [fastest]
        assert set(fastest["energy"]) == ENERGY
    assert "pJ per cell, 100 W (100 W before), by steady" in capsys.readouterr().out


def test_no_energy_of_wrong_runs(bench, monkeypatch):
    monkeypatch.setattr(engines, "meter_for", lambda device: energy.EnergyMeter(Steady()))
    monkeypatch.setitem(ENGINES, "fragment", WrongFragment)
    status, document = bench("--workloads", "pairs", "--engines", "fragment", "--energy")
    assert status == 1
    assert rows(document, "pairs")["fragment"]["energy"] is None


SMI = """\
import sys, time
from datetime import datetime
words = " ".join(sys.argv[1:])
if {refused!r} and {refused!r} in words:
    sys.exit('Field is not a valid field to query.')
if "-lms" in words:
    assert "-i 00000000:B3:00.0 " in words, words
    while True:
        now = datetime.now().strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]
        print(f"{{now}}, {{'[N/A]' if {silent} else '250.00'}}", flush=True)
        time.sleep(0.02)
print("00000000:65:00.0, NVIDIA X1, [N/A]")
print("00000000:B3:00.0, NVIDIA X2, 70.10")
"""


@pytest.fixture
def card(tmp_path, monkeypatch):
    """Make what stands for nvidia-smi, and a device that is one of its two cards."""

    def card(refused="", silent=False):
        script = tmp_path / "smi.py"
        script.write_text(SMI.format(refused=refused, silent=silent))
        tool = tmp_path / "nvidia-smi"
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        name = "NVIDIA X2/PCIe/SSE2"
        info = SimpleNamespace(index=99, name=name, vendor="NVIDIA Corporation", software=False)
        return SimpleNamespace(info=info)

    return card


def measured(meter, seconds):
    """Energy of runs that sleep, and how many there were.

    A busy machine may give a sampler too little time: then nothing is told, and it is asked again.
    """
    for _ in range(20):
        runs = []
        found = meter.measure(lambda runs=runs: runs.append(time.sleep(0.05)), seconds)
        if found and found.idle_watts:
            return found, len(runs)
    raise AssertionError("no samples")


def test_nvidia_smi(card):
    meter = energy.meter_for(card())
    assert meter.tool == "nvidia-smi"
    found, runs = measured(meter, 0.4)
    assert found.watts == found.idle_watts == pytest.approx(250)
    assert found.joules_per_run == pytest.approx(250 * found.seconds / runs)
    assert found.tool == "nvidia-smi"


def test_nvidia_smi_of_an_older_driver(card):
    power_meter = energy.nvidia(card(refused="power.draw.instant").info.name, None, None)
    assert "--query-gpu=timestamp,power.draw" in power_meter._command
    assert energy.nvidia(card(refused="power").info.name, None, None) is None


def test_nvidia_smi_without_watts(card, monkeypatch):
    monkeypatch.setattr(power_meters, "PATIENCE", 0.5)
    meter = energy.meter_for(card(silent=True))
    assert meter.measure(lambda: None, 0.01) is None


def test_no_nvidia_smi(card, monkeypatch, tmp_path):
    there = card()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert energy.meter_for(there) is None


def test_which_card():
    x, y = energy.Card("00000000:65:00.0", "NVIDIA X"), energy.Card("00000000:B3:00.0", "NVIDIA X")
    other = energy.Card("00000000:C0:00.0", "NVIDIA Y")
    assert energy.chosen([x], "what", None, 5) == x
    assert energy.chosen([None], "NVIDIA X", None, 0) is None
    assert energy.chosen([x, y], "NVIDIA X/PCIe", "0000:65:00.0", 1) == x
    assert energy.chosen([x, y], "NVIDIA X/PCIe", "0000:66:00.0", 1) is None
    assert energy.chosen([x, y], "NVIDIA X/PCIe", None, 1) == y
    assert energy.chosen([x, y], "NVIDIA X/PCIe", None, None) is None
    assert energy.chosen([x, y, other], "NVIDIA Y/PCIe", None, 0) == other
    assert energy.chosen([x, y, other], "NVIDIA X/PCIe", None, 0) is None


@pytest.fixture
def sys_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(power_meters, "SYS", tmp_path)

    def put(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
        return file

    return put


def test_pci_address(sys_folder, tmp_path):
    sys_folder("devices/pci0000:60/0000:65:00.0/vendor", "0x10de")
    (tmp_path / "class/drm/card3").mkdir(parents=True)
    (tmp_path / "class/drm/card3/device").symlink_to(tmp_path / "devices/pci0000:60/0000:65:00.0")
    assert energy._pci_address("/dev/dri/card3") == "0000:65:00.0"
    assert energy._pci_address("/dev/dri/card4") is None
    assert energy._pci_address("") is None


def test_rapl(sys_folder, device, monkeypatch):
    assert power_meters.rapl() is None
    counters = []
    for k, name in enumerate(("package-0", "package-1", "psys")):
        zone = f"class/powercap/intel-rapl:{k}"
        sys_folder(f"{zone}/name", name)
        sys_folder(f"{zone}/max_energy_range_uj", "262143328850")
        counters.append(sys_folder(f"{zone}/energy_uj", "262143000000"))
    sys_folder("class/powercap/intel-rapl:0:0/name", "core")

    def work():
        counters[0].write_text("1671149\n")  # began again
        counters[1].write_text("262144000000\n")
        counters[2].write_text("0\n")

    power_meter = power_meters.rapl()
    assert power_meter.used(work).joules == pytest.approx(2 + 1)
    assert energy.meter_for(None).tool == "RAPL"
    if device.info.software:
        assert energy.meter_for(device).tool == "RAPL"
    counters[0].write_text("unreadable")
    assert power_meter.used(work) is None
    counters[0].write_text("0")

    def failing():
        raise ValueError("of the engine")

    with pytest.raises(ValueError, match="of the engine"):
        power_meter.used(failing)
    counters[0].unlink()
    assert power_meters.rapl() is None


def test_sensors_of_a_card(sys_folder, monkeypatch):
    card = "class/drm/card0/device/hwmon/hwmon4"
    info = SimpleNamespace(index=0, name="AMD Radeon", vendor="AMD", software=False)
    monkeypatch.setattr(energy, "egl_devices", lambda: [SimpleNamespace(path="/dev/dri/card0")])
    amd = SimpleNamespace(info=info)
    assert energy.meter_for(amd) is None
    power = sys_folder(f"{card}/power1_average", "35000000")
    found, _ = measured(energy.meter_for(amd), 0.3)
    assert found.watts == pytest.approx(35)
    assert found.tool == "hwmon"
    power.unlink()
    counter = sys_folder(f"{card}/energy1_input", "1000000")
    found = energy.meter_for(amd).measure(lambda: counter.write_text("8000000"), 0)
    assert found.joules_per_run == pytest.approx(7)
    assert found.idle_watts == 0
    assert power_meters.hwmon("") is None
