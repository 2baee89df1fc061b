"""Power meters: counters of joules, and samples of watts, by the kernel or the vendor's tool.

>>> joules([(0.0, 100.0), (1.0, 300.0)], 0.0, 1.0)
200.0
"""

from __future__ import annotations

import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

INTERVAL = 0.05
"""Seconds between two samples of the power."""

PATIENCE = 10.0
"""Seconds in which a tool has to begin."""

SYS = Path("/sys")
Samples: TypeAlias = Sequence[tuple[float, float]]
"""Seconds and watts."""


class Used(NamedTuple):
    """Energy of some time."""

    joules: float
    seconds: float


class PowerMeter(ABC):
    """What tells energy."""

    tool: str

    @abstractmethod
    def used(self, work: Callable[[], None]) -> Used | None:
        """Do the work; return what was used meanwhile, None if that is not told."""


# arithmetic


def joules(samples: Samples, start: float, end: float) -> float | None:
    """Return the energy from ``start`` to ``end``, watts changing evenly from sample to sample.

    None with fewer than two samples in that time, which would say little.
    """
    seconds, watts = np.array(samples, float).reshape(-1, 2).T
    inside = (seconds > start) & (seconds < end)
    if len(seconds) < 2 or np.count_nonzero((seconds >= start) & (seconds <= end)) < 2:
        return None
    at = np.concatenate([[start], seconds[inside], [end]])
    power = np.interp(at, seconds, watts)
    return float((np.diff(at) * (power[1:] + power[:-1]) / 2).sum())


def counted(before: int, after: int, most: int | None) -> int | None:
    """Return how far a counter went on that begins again at 0 after ``most``.

    >>> counted(90, 110, 100), counted(90, 10, 100), counted(90, 10, None)
    (20, 21, None)
    """
    if after >= before:
        return after - before
    return None if most is None else after + most + 1 - before


# counters


class Counter(PowerMeter):
    """Files in which microjoules are counted.

    Parameters
    ----------
    tool : str
    files : iterable of (Path, int or None)
        And the highest value of each, after which it begins again.
    """

    def __init__(self, tool: str, files: Iterable[tuple[Path, int | None]]) -> None:
        self.tool = tool
        self._files = list(files)

    def read(self) -> list[int] | None:
        """Return what the files say, None if one does not."""
        try:
            return [int(path.read_text()) for path, _ in self._files]
        except (OSError, ValueError):
            return None

    def used(self, work: Callable[[], None]) -> Used | None:
        """Do the work; return what was counted."""
        start, before = time.perf_counter(), self.read()
        work()
        seconds, after = time.perf_counter() - start, self.read()
        if before is None or after is None:
            return None
        most = [limit for _, limit in self._files]
        steps = [counted(*each) for each in zip(before, after, most, strict=True)]
        told = [step for step in steps if step is not None]
        return Used(sum(told) / 1e6, seconds) if len(told) == len(steps) else None


def rapl() -> Counter | None:
    """Return the counters of the processor packages, None where they cannot be read."""
    files = []
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
        if power_meter := _readable(Counter("hwmon", [(sensor / "energy1_input", None)])):
            return power_meter
        for name in ("power1_average", "power1_input"):
            with suppress(OSError, ValueError):
                int((sensor / name).read_text())
                return Sensor("hwmon", sensor / name)
    return None


def _readable(counter: Counter) -> Counter | None:
    return counter if counter.read() else None


# samples


class Sampler(PowerMeter):
    """Samples of the power, taken in the background."""

    @abstractmethod
    def watch(self, samples: list[tuple[float, float]], stop: threading.Event) -> None:
        """Append seconds (as `time.time`) and watts until ``stop`` is set or nothing comes."""

    def used(self, work: Callable[[], None]) -> Used | None:
        """Do the work between two samples at least; return the energy between."""
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


class Sensor(Sampler):
    """A file that says microwatts."""

    def __init__(self, tool: str, path: Path) -> None:
        self.tool, self._path = tool, path

    def watch(self, samples: list[tuple[float, float]], stop: threading.Event) -> None:
        """Read it every 50 ms."""
        with suppress(OSError, ValueError):
            while not stop.wait(INTERVAL):
                samples.append((time.time(), int(self._path.read_text()) / 1e6))


class NvidiaSmi(Sampler):
    """``nvidia-smi``, which prints lines until it is ended.

    Parameters
    ----------
    card : str
        Its PCI address.
    field : str
        Which power.
    """

    tool = "nvidia-smi"

    def __init__(self, card: str, field: str) -> None:
        words = [f"--query-gpu=timestamp,{field}", "--format=csv,noheader,nounits"]
        self._command = ["nvidia-smi", "-i", card, *words, "-lms", str(int(INTERVAL * 1000))]

    def watch(self, samples: list[tuple[float, float]], stop: threading.Event) -> None:
        """Read its lines."""
        with suppress(OSError), _started(self._command) as process:
            ended = threading.Thread(target=_end, args=(process, stop), daemon=True)
            ended.start()
            for line in process.stdout or ():
                sample = sample_of(line)
                if sample is not None:
                    samples.append(sample)
            stop.set()
            ended.join()


def _started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _end(process: subprocess.Popen[str], stop: threading.Event) -> None:
    stop.wait()
    process.terminate()


def _wait(ready: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not ready() and time.monotonic() < limit:
        time.sleep(INTERVAL / 10)


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
