"""Check, warm up, time: in that order, so that no number comes from a wrong engine.

>>> import numpy as np
>>> work = np.arange(10)
>>> result = measure(lambda: work.cumsum(), lambda found: compare(found[-1:], [45]), cells=10)
>>> result.check.wrong, result.wall.repeats >= 3, result.gcups > 0
(0, True, True)
>>> measure(lambda: work.cumsum(), lambda found: compare(found[-1:], [46]), cells=10).wall is None
True
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import glsw
from glsw.device.device import Device

SCHEMA = 2
"""Of the JSON files: schema.json says what is in them, README.md what it means."""

WARM_UP = 1.0
"""Seconds of work before hardware is timed: an idle card clocks low and takes that long to rise."""

ENOUGH = 0.02
"""Repeats end when the spread is this small."""

LEAST = 0.3
"""Seconds of repeats: what comes and goes within less is to be seen in the spread."""

FEWEST, MOST = 3, 200
"""Repeats, unless the budget ends them earlier."""

SHORT = 0.25
"""Seconds of a run up to which the budget does not end the repeats before there are `FEWEST`."""

_ROOT = Path(__file__).parents[1]
_PACKAGES = ("moderngl", "numpy", "biopython", "parasail")

Result = TypeVar("Result")


@dataclass(frozen=True)
class Check:
    """How many of the pairs that were compared had another result than ``judge`` gave."""

    judge: str
    pairs: int
    wrong: int
    first: str | None = None

    @property
    def passed(self) -> bool:
        """Something was compared, and all of it was right."""
        return self.pairs > 0 and self.wrong == 0


@dataclass(frozen=True)
class Spread:
    """Seconds of the repeats; ``spread`` is their interquartile range over their median."""

    median: float
    minimum: float
    maximum: float
    spread: float | None
    repeats: int

    @classmethod
    def of(cls, seconds: list[float]) -> Spread:
        """Summarise these times; a single one has no spread."""
        low, median, high = (float(x) for x in np.percentile(seconds, [25, 50, 75]))
        spread = (high - low) / median if len(seconds) > 1 else None
        return cls(median, min(seconds), max(seconds), spread, len(seconds))


@dataclass(frozen=True)
class Measurement:
    """What one engine needed for ``cells`` cells; without times when a result was wrong.

    ``device`` is by the device's own clock, from the first command to the last one, and None where
    it has none or a run was too long for it. ``wall`` includes upload, download and Python.
    """

    check: Check
    cells: int
    wall: Spread | None = None
    device: Spread | None = None

    @property
    def gcups(self) -> float | None:
        """Billions of cells a second of wall time, None if not timed."""
        return self.cells / self.wall.median / 1e9 if self.wall else None

    def as_dict(self) -> dict[str, Any]:
        """Return what stands in the JSON."""
        return {**asdict(self), "gcups": self.gcups}


def compare(found: npt.ArrayLike, expected: npt.ArrayLike, judge: str = "reference") -> Check:
    """Compare results, shape (N,) or (N, K), pair by pair."""
    got, want = np.asarray(found), np.asarray(expected)
    if got.shape != want.shape:
        return Check(judge, len(want), len(want), f"shape {got.shape}, expected {want.shape}")
    different = got != want
    if different.ndim > 1:
        different = different.any(axis=1)
    first = None
    if different.any():
        at = int(different.argmax())
        first = f"pair {at}: {got[at].tolist()}, expected {want[at].tolist()}"
    return Check(judge, len(want), int(different.sum()), first)


def measure(
    run: Callable[[], Result],
    check: Callable[[Result], Check],
    *,
    cells: int,
    device: Device | None = None,
    budget: float = 10.0,
    warm_up: float | None = None,
) -> Measurement:
    """Run, check what came out, warm up, and repeat until the spread is small.

    Parameters
    ----------
    run : callable
        The work; returns when it is done.
    check : callable
        Judges the result of the first run and of each timed one. If the first is wrong, nothing is
        timed; if a later one is, no time is reported.
    cells : int
        Cells of the tables, for GCUPS.
    device : Device, optional
        The device that the work runs on; None for work of the CPU.
    budget : float
        Seconds after which no further repeat begins, the first run and the warm-up included; one
        repeat is always timed, and of short runs `FEWEST`.
    warm_up : float, optional
        Seconds of work before timing, after the first run was checked; by default `WARM_UP` on
        hardware.
    """
    if warm_up is None:
        warm_up = 0.0 if device is None or device.info.software else WARM_UP
    start = time.perf_counter()
    checked = check(run())
    if not checked.passed:
        return Measurement(checked, cells)
    checked_at = time.perf_counter()
    while time.perf_counter() - checked_at < warm_up:
        run()
    wall: list[float] = []
    clock: list[float] = []
    while not _settled(wall, time.perf_counter() - start, budget):
        result = _timed(run, device, wall, clock)
        checked = check(result)
        if not checked.passed:
            return Measurement(checked, cells)
    return Measurement(
        checked, cells, Spread.of(wall), Spread.of(clock) if len(clock) == len(wall) else None
    )


def _settled(wall: list[float], elapsed: float, budget: float) -> bool:
    if not wall:
        return False
    few = len(wall) < FEWEST and wall[-1] <= SHORT
    if len(wall) >= MOST or (elapsed + wall[-1] > budget and not few):
        return True
    spread = Spread.of(wall).spread
    long = sum(wall) >= LEAST
    return long and len(wall) >= FEWEST and spread is not None and spread <= ENOUGH


def _timed(
    run: Callable[[], Result], device: Device | None, wall: list[float], clock: list[float]
) -> Result:
    """Run once; append its seconds."""
    if device is None:
        start = time.perf_counter()
        result = run()
        wall.append(time.perf_counter() - start)
        return result
    with device.timer() as timer:
        result = run()
    wall.append(timer.wall)
    if timer.measured:
        clock.append(timer.seconds)
    return result


def report(
    benchmark: str,
    device: Device | None,
    settings: Mapping[str, Any],
    results: list[Any],
    *,
    commit: str | None = None,
) -> dict[str, Any]:
    """Return the whole document: what was measured, where, with which versions.

    Parameters
    ----------
    benchmark : str
        Name of the module.
    device : Device or None
        What the engine ran on, None for the CPU alone.
    settings : mapping
        Sizes, scoring and options.
    results : list
        What the benchmark found, in its own form.
    commit : str, optional
        The commit, for a copy of the checkout without its history.
    """
    return {
        "schema": SCHEMA,
        "benchmark": benchmark,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": commit or _git("rev-parse", "HEAD"),
        "dirty": _dirty(commit),
        "device": None if device is None else device_facts(device),
        "cpu": {"model": cpu_model(), "cores": cores()},
        "os": {"system": platform.system(), "machine": platform.machine()},
        "versions": versions(),
        "settings": dict(settings),
        "results": results,
    }


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write a report as JSON; whoever reads the file sees the old one or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".part")
    draft.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)


def device_facts(device: Device) -> dict[str, Any]:
    """Return renderer, vendor, versions of OpenGL and driver, traits and limits."""
    info = device.info
    _, _, driver = info.version_string.partition(" ")
    return {
        "renderer": info.name,
        "vendor": info.vendor,
        "gl": ".".join(map(str, info.version)),
        "driver": driver,
        "software": info.software,
        "compute": info.compute,
        "subgroup_size": info.subgroup_size,
        "half": info.half,
        "limits": dict(info.limits),
        "extensions": sorted(device.ctx.extensions),
        "cards": None if info.software else cards(),
    }


@cache
def cards() -> list[dict[str, Any]] | None:
    """Return what the vendor's tool says of the cards of this machine, None where there is none.

    A card is ``name``, ``driver``, ``power_limit_w`` (watts), ``clock_mhz`` (the highest of its
    processors) and ``memory_mib``, each None if not told. Serial numbers are not asked for.
    """
    return _nvidia_cards() or _amd_cards()


def _nvidia_cards() -> list[dict[str, Any]] | None:
    fields = "name,driver_version,power.limit,clocks.max.sm,memory.total"
    text = _output("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits")
    rows = [line.split(", ") for line in (text or "").splitlines()]
    return [
        _card(name, driver, *numbers)
        for name, driver, *numbers in (row for row in rows if len(row) == 5)
    ]


_AMD = {
    "name": re.compile("card series|product name", re.IGNORECASE),
    "power": re.compile("max.*power", re.IGNORECASE),
    "clock": re.compile("sclk.*(max|range)", re.IGNORECASE),
    "memory": re.compile("vram total memory", re.IGNORECASE),
}
"""What rocm-smi calls them; the words differ from version to version."""


def _amd_cards() -> list[dict[str, Any]] | None:
    words = ("--showproductname", "--showdriverversion", "--showmaxpower", "--showmeminfo", "vram")
    try:
        told = json.loads(_output("rocm-smi", *words, "--json") or "{}")
    except ValueError:
        return None
    driver = next(iter(told.get("system", {}).values()), None)
    found = []
    for name, facts in sorted(told.items()):
        if name.startswith("card"):
            values = {
                key: next((facts[each] for each in facts if pattern.search(each)), None)
                for key, pattern in _AMD.items()
            }
            size = _number(values["memory"])
            mib = None if size is None else str(size / 2**20)
            found.append(_card(values["name"], driver, values["power"], values["clock"], mib))
    return found or None


def _card(
    name: str | None, driver: str | None, power: str | None, clock: str | None, memory: str | None
) -> dict[str, Any]:
    return {
        "name": name,
        "driver": driver,
        "power_limit_w": _number(power),
        "clock_mhz": _number(clock),
        "memory_mib": _number(memory),
    }


def _number(text: str | None) -> float | None:
    """Return the number a tool printed, None for words such as "[N/A]"."""
    try:
        return float(text or "")
    except ValueError:
        return None


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the packages that matter; None if not installed."""
    found: dict[str, str | None] = {
        "glsw": glsw.__version__,
        "python": platform.python_version(),
    }
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def cpu_model() -> str:
    """Return what the processor calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    if platform.system() == "Darwin":
        return _output("sysctl", "-n", "machdep.cpu.brand_string") or platform.machine()
    return platform.processor() or platform.machine()


def cores() -> int:
    """Return how many logical processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _dirty(commit: str | None) -> bool | None:
    """Tell whether what is measured differs from the commit; None if git does not have that one."""
    if commit is not None and commit != _git("rev-parse", "HEAD"):
        return None
    what = ("glsw", "shaders", "bench", ":!bench/results")
    # A copy on another machine may have other file modes.
    changed = _git("-c", "core.fileMode=false", "status", "--porcelain", "--", *what)
    return None if changed is None else bool(changed)


def _git(*arguments: str) -> str | None:
    # In a copy without history git would answer for a repository around it.
    return _output("git", "-C", str(_ROOT), *arguments) if (_ROOT / ".git").exists() else None


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
