"""Energy: arithmetic, sensors, which card, and the row of the fastest."""

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
    assert (found["watts"], found["idle_watts"]) == (pytest.approx(100), pytest.approx(100))
    assert len(runs) == 8
    assert found["joules"] == pytest.approx(100 / 8)
    assert machine.energy(Steady(told=False), work, 0) is None


def test_energy_of_the_fastest(bench, monkeypatch, capsys):
    monkeypatch.setattr("bench.machine.meter_for", lambda device: Steady())
    status, file = bench("pairs", "--engines", "diagonal,fragment", "--energy")
    assert status == 0
    timed = [row for row in file.rows.values() if row["ours"]]
    fastest = max(timed, key=lambda row: row["rate"])
    assert [row for row in timed if "joules" in row] == [fastest]
    assert fastest["meter"] == "steady"
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

        found = machine.energy(meter, work, seconds)
        if found and found["idle_watts"]:
            return found, len(runs)
    raise AssertionError("no samples")


def test_nvidia_smi(card):
    meter = machine.meter_for(card())
    assert meter.tool == "nvidia-smi"
    found, runs = measured(meter, 0.4)
    assert found["watts"] == found["idle_watts"] == pytest.approx(250)
    assert found["joules"] > 250 * 0.05 * 0.9
    assert runs
    assert found["meter"] == "nvidia-smi"


def test_nvidia_smi_of_an_older_driver(card):
    there = card(refused="power.draw.instant")
    assert machine.nvidia(there.info.name, "").words[3] == "--query-gpu=timestamp,power.draw"
    assert machine.nvidia(card(refused="power").info.name, "") is None


def test_nvidia_smi_without_watts(card, monkeypatch):
    monkeypatch.setattr(machine, "PATIENCE", 0.5)
    meter = machine.meter_for(card(silent=True))
    assert machine.energy(meter, lambda: None, 0.01) is None


def test_no_nvidia_smi(card, monkeypatch, tmp_path):
    there = card()
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


def test_rapl(sys_folder, device, monkeypatch):
    assert machine.rapl() is None
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

    power_meter = machine.rapl()
    assert power_meter.used(work).joules == pytest.approx(2 + 1)
    assert machine.meter_for(None).tool == "RAPL"
    if device.info.software:
        assert machine.meter_for(device).tool == "RAPL"
    counters[0].write_text("unreadable")
    assert power_meter.used(work) is None
    counters[0].write_text("0")

    def failing():
        raise ValueError("of the engine")

    with pytest.raises(ValueError, match="of the engine"):
        power_meter.used(failing)
    counters[0].unlink()
    assert machine.rapl() is None


def test_sensors_of_a_card(sys_folder, monkeypatch):
    card = "class/drm/card0/device/hwmon/hwmon4"
    info = SimpleNamespace(index=0, name="AMD Radeon", vendor="AMD", software=False)
    monkeypatch.setattr(machine, "egl_devices", lambda: [SimpleNamespace(path="/dev/dri/card0")])
    amd = SimpleNamespace(info=info)
    assert machine.meter_for(amd) is None
    power = sys_folder(f"{card}/power1_average", "35000000")
    found, _ = measured(machine.meter_for(amd), 0.3)
    assert found["watts"] == pytest.approx(35)
    assert found["meter"] == "hwmon"
    power.unlink()
    counter = sys_folder(f"{card}/energy1_input", "1000000")
    meter = machine.meter_for(amd)
    found = machine.energy(meter, lambda: counter.write_text("8000000"), 0)
    assert found["joules"] == pytest.approx(7)
    assert found["idle_watts"] == 0
    assert machine.hwmon("") is None
