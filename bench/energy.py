"""Energy of a run, by what the vendor's tool or the kernel tells of a card or of the processor.

NVIDIA: ``nvidia-smi``, which prints the watts of the card about 20 times a second; AMD, Intel and
whatever has sensors in Linux (``hwmon``): joules, else watts of the card; software renderers and
programs of the CPU: joules of all processor packages (RAPL, the ``powercap`` of Linux), which often
only the administrator may read. Joules include what the idle device takes.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from glsw.device.device import Device
from glsw.device.egl import egl_devices

INTERVAL, PATIENCE = 0.05, 10.0
"""Seconds between two samples of the power; in which a tool has to begin."""

SYS = Path("/sys")
Samples: TypeAlias = Sequence[tuple[float, float]]
"""Seconds and watts."""

_FIELDS = ("power.draw.instant", "power.draw")  # the second of older drivers, a mean on newer ones
_EGL_CUDA_DEVICE = 0x323A  # of EGL_NV_device_cuda


class Used(NamedTuple):
    """Energy of some time."""

    joules: float
    seconds: float


class PowerMeter(Protocol):
    """What tells energy: ``used`` does the work, and returns None if that is not told."""

    tool: str

    def used(self, work: Callable[[], None]) -> Used | None: ...


class Counter:
    """Files in which microjoules are counted, and the highest value after which each is 0 again."""

    def __init__(self, tool: str, files: Iterable[tuple[Path, int | None]]) -> None:
        self.tool, self._files = tool, list(files)

    def read(self) -> list[int] | None:
        try:
            return [int(path.read_text()) for path, _ in self._files]
        except (OSError, ValueError):
            return None

    def used(self, work: Callable[[], None]) -> Used | None:
        start, before = time.perf_counter(), self.read()
        work()
        seconds, after = time.perf_counter() - start, self.read()
        if before is None or after is None:
            return None
        most = [limit for _, limit in self._files]
        steps = [counted(*each) for each in zip(before, after, most, strict=True)]
        told = [step for step in steps if step is not None]
        return Used(sum(told) / 1e6, seconds) if len(told) == len(steps) else None


def counted(before: int, after: int, most: int | None) -> int | None:
    """Return how far a counter went on that begins again at 0 after ``most``.

    >>> counted(90, 110, 100), counted(90, 10, 100), counted(90, 10, None)
    (20, 21, None)
    """
    if after >= before:
        return after - before
    return None if most is None else after + most + 1 - before


class Sampler:
    """Samples of the power, taken in the background: ``watch`` appends them until it is stopped."""

    tool: str

    def watch(self, samples: list[tuple[float, float]], stop: threading.Event) -> None:
        raise NotImplementedError

    def used(self, work: Callable[[], None]) -> Used | None:
        samples: list[tuple[float, float]] = []
        stop = threading.Event()
        thread = threading.Thread(target=self.watch, args=(samples, stop), daemon=True)
        thread.start()
        try:
            _wait(lambda: bool(samples) or not thread.is_alive())
            start = time.time()
            work()
            end = time.time()
            _wait(lambda: not thread.is_alive() or (bool(samples) and samples[-1][0] >= end))
        finally:
            stop.set()
            thread.join(PATIENCE)
        energy = joules(list(samples), start, end)
        return None if energy is None else Used(energy, end - start)


def joules(samples: Samples, start: float, end: float) -> float | None:
    """Return the energy of a time, watts changing evenly; None with fewer than two samples in it.

    >>> joules([(0.0, 100.0), (1.0, 300.0)], 0.0, 1.0)
    200.0
    """
    seconds, watts = np.array(samples, float).reshape(-1, 2).T
    inside = (seconds > start) & (seconds < end)
    if len(seconds) < 2 or np.count_nonzero((seconds >= start) & (seconds <= end)) < 2:
        return None
    at = np.concatenate([[start], seconds[inside], [end]])
    power = np.interp(at, seconds, watts)
    return float((np.diff(at) * (power[1:] + power[:-1]) / 2).sum())


class Sensor(Sampler):
    """A file that says microwatts."""

    def __init__(self, tool: str, path: Path) -> None:
        self.tool, self._path = tool, path

    def watch(self, samples: list[tuple[float, float]], stop: threading.Event) -> None:
        with suppress(OSError, ValueError):
            while not stop.wait(INTERVAL):
                samples.append((time.time(), int(self._path.read_text()) / 1e6))


class NvidiaSmi(Sampler):
    """``nvidia-smi`` of a card by its PCI address, which prints lines until it is ended."""

    tool = "nvidia-smi"

    def __init__(self, card: str, field: str) -> None:
        words = [f"--query-gpu=timestamp,{field}", "--format=csv,noheader,nounits"]
        self._command = ["nvidia-smi", "-i", card, *words, "-lms", str(int(INTERVAL * 1000))]

    def watch(self, samples: list[tuple[float, float]], stop: threading.Event) -> None:
        pipes: Any = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "text": True}
        with (
            suppress(OSError),
            subprocess.Popen(self._command, stdout=subprocess.PIPE, **pipes) as process,
        ):
            ended = threading.Thread(target=_end, args=(process, stop), daemon=True)
            ended.start()
            for line in process.stdout or ():
                sample = sample_of(line)
                if sample is not None:
                    samples.append(sample)
            stop.set()
            ended.join()


def _end(process: subprocess.Popen[str], stop: threading.Event) -> None:
    stop.wait()
    process.terminate()


def sample_of(line: str) -> tuple[float, float] | None:
    """Read seconds and watts of a line of nvidia-smi, None from one without.

    >>> sample_of("2026/11/21 10:45:20.250, [N/A]") is None
    True
    >>> one, other = (sample_of(f"2026/11/21 10:45:20.{ms}, 71.30") for ms in (250, 300))
    >>> round(other[0] - one[0], 3), other[1]
    (0.05, 71.3)
    """
    stamp, _, watts = line.partition(", ")
    try:
        return datetime.strptime(stamp.strip(), "%Y/%m/%d %H:%M:%S.%f").timestamp(), float(watts)
    except ValueError:
        return None


def _wait(ready: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not ready() and time.monotonic() < limit:
        time.sleep(INTERVAL / 10)


# which meter


def rapl() -> Counter | None:
    """Return the counters of the processor packages, None where they cannot be read."""
    files: list[tuple[Path, int | None]] = []
    for zone in sorted((SYS / "class/powercap").glob("intel-rapl:*")):
        with suppress(OSError, ValueError):
            if (zone / "name").read_text().startswith("package"):
                most = int((zone / "max_energy_range_uj").read_text())
                files.append((zone / "energy_uj", most))
    return _readable(Counter("RAPL", files))


def hwmon(drm: str) -> PowerMeter | None:
    """Return the sensors of a card by its device file, such as /dev/dri/card0; None without."""
    folder = SYS / "class/drm" / Path(drm).name / "device/hwmon"
    for sensor in sorted(folder.glob("hwmon*")) if drm else []:
        if counter := _readable(Counter("hwmon", [(sensor / "energy1_input", None)])):
            return counter
        for name in ("power1_average", "power1_input"):
            with suppress(OSError, ValueError):
                int((sensor / name).read_text())
                return Sensor("hwmon", sensor / name)
    return None


def _readable(counter: Counter) -> Counter | None:
    return counter if counter.read() else None


def meter_for(device: Device | None) -> PowerMeter | None:
    """Return what tells the energy of a device, of the processor without one; None if nothing.

    Of several NVIDIA cards it is the one with the PCI address of EGL's device; where EGL names no
    file of the device, the one with its CUDA number, if all cards are of the same kind (others
    CUDA sorts by speed), else the only one with the renderer's name.
    """
    if device is None or device.info.software:
        return rapl()
    listed = egl_devices()
    drm = listed[device.info.index].path if device.info.index < len(listed) else ""
    found: PowerMeter | None = None
    if "nvidia" in f"{device.info.name} {device.info.vendor}".casefold():
        found = nvidia(device.info.name, _pci_address(drm), _cuda_number(device.info.index))
    return found or hwmon(drm)


class Card(NamedTuple):
    """A line of nvidia-smi."""

    address: str
    name: str


def nvidia(renderer: str, address: str | None, number: int | None) -> NvidiaSmi | None:
    """Return what samples a card, see `chosen`; None if there is no tool or it tells no power."""
    for field in _FIELDS if shutil.which("nvidia-smi") else ():
        words = f"--query-gpu=pci.bus_id,name,{field}", "--format=csv,noheader,nounits"
        command = ["nvidia-smi", *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        except (OSError, subprocess.SubprocessError):
            return None
        if done.returncode:
            continue
        if card := chosen(cards(done.stdout), renderer, address, number):
            return NvidiaSmi(card.address, field)
    return None


def cards(text: str) -> list[Card | None]:
    r"""Read the cards that nvidia-smi lists, None in the place of one that tells no power.

    >>> cards("00000000:65:00.0, NVIDIA H100, 71.30\n00000000:B3:00.0, Tesla K20, [N/A]\n")
    [Card(address='00000000:65:00.0', name='NVIDIA H100'), None]
    """
    lines = ([word.strip() for word in line.split(",")] for line in text.splitlines())
    return [
        Card(address, name) if re.fullmatch(r"[\d.]+", watts) else None
        for address, name, watts in lines
    ]


def chosen(
    listed: Sequence[Card | None], renderer: str, address: str | None, number: int | None
) -> Card | None:
    """Return the card of a renderer, see `meter_for`; None if that cannot be told.

    >>> two = [Card("00000000:65:00.0", "NVIDIA H100"), Card("00000000:B3:00.0", "NVIDIA H100")]
    >>> chosen(two, "NVIDIA H100/PCIe/SSE2", "0000:b3:00.0", None) == two[1]
    True
    """
    if len(listed) == 1:
        return listed[0]
    there = [card for card in listed if card]
    if address is not None:
        same = [card for card in there if card.address.casefold().endswith(address.casefold())]
        return same[0] if same else None
    alike = len({card and card.name for card in listed}) == 1
    if number is not None and number < len(listed) and alike:
        return listed[number]
    named = [card for card in there if card.name in renderer]
    return named[0] if len(named) == 1 else None


def _pci_address(drm: str) -> str | None:
    """Return the PCI address of a device file, such as 0000:65:00.0; None if it is not known."""
    name = (SYS / "class/drm" / Path(drm).name / "device").resolve().name if drm else ""
    return name if re.fullmatch(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.\d", name) else None


def _cuda_number(index: int) -> int | None:
    """Return the CUDA number of EGL's device of that index, None if it has none."""
    try:
        egl = ctypes.CDLL("libEGL.so.1")
    except OSError:
        return None
    pointer, number = ctypes.c_void_p, ctypes.c_int32
    find = ctypes.CFUNCTYPE(pointer, ctypes.c_char_p)(("eglGetProcAddress", egl))
    query, attribute = find(b"eglQueryDevicesEXT"), find(b"eglQueryDeviceAttribEXT")
    if not query or not attribute:
        return None
    handles, count, value = (pointer * 64)(), number(), ctypes.c_ssize_t()
    found = ctypes.CFUNCTYPE(ctypes.c_uint, number, pointer, pointer)(query)(
        64, ctypes.addressof(handles), ctypes.addressof(count)
    )
    if not found or index >= count.value:
        return None
    read = ctypes.CFUNCTYPE(ctypes.c_uint, pointer, number, pointer)(attribute)
    told = read(handles[index], _EGL_CUDA_DEVICE, ctypes.addressof(value))
    return value.value if told else None


def measured(meter: PowerMeter, run: Callable[[], object], seconds: float) -> dict[str, Any] | None:
    """Rest for half that long, then run again and again for about that long; return a row's fields.

    None if the meter told nothing. The result of the run has to be known to be right.
    """
    idle = meter.used(lambda: time.sleep(seconds / 2))
    runs = 0

    def work() -> None:
        nonlocal runs
        start = time.perf_counter()
        while not runs or time.perf_counter() - start < seconds:
            run()
            runs += 1

    busy = meter.used(work)
    if busy is None:
        return None
    found = {"joules": busy.joules / runs, "watts": busy.joules / busy.seconds, "meter": meter.tool}
    return found | {"idle_watts": idle and idle.joules / idle.seconds}
