"""Energy: arithmetic, nvidia-smi, which card, and the row of the fastest."""

import sys
import time
from types import SimpleNamespace

import pytest

from bench import machine


def test_joules():
    flat = [(0.1 * k, 50.0) for k in range(21)]
    assert machine.joules(flat, 0.35, 1.35) == pytest.approx(50)
    ramp = [(0.1 * k, 100.0 * k) for k in range(11)]
    assert machine.joules(ramp, 0.0, 1.0) == pytest.approx(500)
    assert machine.joules(ramp, 0.25, 0.75) == pytest.approx(250)
    assert machine.joules(flat, 1.81, 2.5) == pytest.approx(0.69 * 50)  # the last one holds
    for few in ([], [(0.5, 1.0)], [(-1.0, 1.0), (0.5, 1.0), (2.0, 1.0)]):
        assert machine.joules(few, 0.0, 1.0) is None


class Steady:
    """A hundred watts by the clock."""

    tool = "steady"

    def __init__(self, told=True):
        self.told = told

    def used(self, work):
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        return machine.Used(100 * seconds, seconds) if self.told else None


def test_energy_of_runs(monkeypatch):
    runs, now = [], [0.0]
    monkeypatch.setattr(machine.time, "perf_counter", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    monkeypatch.setattr(machine.time, "sleep", wait)

    def work():
        runs.append(wait(0.125))

    found = machine.energy(Steady(), work, 1.0)
    assert found["watts"] == machine.idle_watts(Steady()) == pytest.approx(100)
    assert len(runs) == 8
    assert found["joules"] == pytest.approx(100 / 8)
    assert machine.energy(Steady(told=False), work, 0) is None
    assert machine.idle_watts(Steady(told=False)) is None


def test_energy_of_the_fastest(bench, monkeypatch, capsys):
    monkeypatch.setattr("bench.machine.meter_for", lambda device: Steady())
    status, file = bench("pairs", "--engines", "diagonal,fragment")
    assert status == 0
    timed = [row for row in file.rows.values() if row["ours"]]
    fastest = max(timed, key=lambda row: row["rate"])
    assert [row for row in timed if "joules" in row] == [fastest]
    assert (fastest["meter"], fastest["idle_watts"]) == ("steady", pytest.approx(100))
    assert "pJ per cell" in capsys.readouterr().out


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

        def work(runs=runs):
            runs.append(time.sleep(0.05))

        if found := machine.energy(meter, work, seconds):
            return found, len(runs)
    raise AssertionError("no samples")


def test_nvidia_smi(card):
    meter = machine.meter_for(card())
    assert meter.tool == "nvidia-smi"
    found, runs = measured(meter, 0.4)
    assert found["watts"] == machine.idle_watts(meter) == pytest.approx(250)
    assert found["joules"] > 250 * 0.05 * 0.9
    assert runs
    assert found["meter"] == "nvidia-smi"


def test_nvidia_smi_of_an_older_driver(card):
    meter = machine.meter_for(card(refused="power.draw.instant"))
    assert meter.words[3] == "--query-gpu=timestamp,power.draw"
    assert machine.meter_for(card(refused="power")) is None


def test_nvidia_smi_without_watts(card, monkeypatch):
    monkeypatch.setattr(machine, "PATIENCE", 0.5)
    meter = machine.meter_for(card(silent=True))
    assert machine.energy(meter, lambda: None, 0.01) is None


def test_no_nvidia_smi(card, monkeypatch, tmp_path):
    there, info = card(), SimpleNamespace(index=99, name="Radeon", vendor="AMD")
    assert machine.meter_for(SimpleNamespace(info=info)) is None
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert machine.meter_for(there) is None


@pytest.fixture
def sys_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "SYS", tmp_path)

    def put(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
        return file

    return put


def test_which_card(sys_folder, tmp_path):
    x, y, other = (
        machine.Card(f"00000000:{address}:00.0", f"NVIDIA {name}", "70")
        for address, name in (("65", "X"), ("B3", "X"), ("C0", "Y"))
    )
    assert machine.chosen([x], "what", "") == x
    for card, address in ((3, "65"), (4, "b3"), (5, "66")):
        folder = tmp_path / f"class/drm/card{card}"
        sys_folder(f"devices/pci0000:60/0000:{address}:00.0/vendor", "0x10de")
        folder.mkdir(parents=True)
        (folder / "device").symlink_to(tmp_path / f"devices/pci0000:60/0000:{address}:00.0")
    found = [machine.chosen([x, y], "NVIDIA X", f"/dev/dri/card{card}") for card in (3, 4, 5)]
    assert found == [x, y, None]
    assert machine.chosen([x, y, other], "NVIDIA Y/PCIe", "") == other
    assert machine.chosen([x, y, other], "NVIDIA X/PCIe", "") is None
