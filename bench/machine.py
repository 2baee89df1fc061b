"""The machine of a run: its device, cards, processor, software and commit, and its energy.

Energy is what ``nvidia-smi`` tells of a card, whose watts it prints about 20 times a second. Joules
include what the idle card takes. Of other vendors' cards and of processors nothing is told.
"""

import os
import platform
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import glsw
from glsw.device.device import Device
from glsw.device.egl import egl_devices

ROOT = Path(__file__).parents[1]
_PACKAGES = ("moderngl", "numpy", "biopython", "parasail", "pyopal", "edlib", "stringzilla")
INTERVAL, PATIENCE = 0.05, 10.0  # seconds between two samples; in which a tool has to begin
REST = 1.0  # seconds without work before the watts of an idle card are read, and for these
SYS = Path("/sys")
Sample: TypeAlias = tuple[float, float]  # seconds and watts
QUIET: Any = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
_FIELDS = ("power.draw.instant", "power.draw")  # the second of older drivers, a mean on newer ones


def cards() -> list[dict[str, Any]]:
    """Return what nvidia-smi says of each card: watts, MHz and MiB, None if not told."""
    names = ("name", "driver", "power_limit_w", "clock_mhz", "memory_mib")
    found = []
    for row in nvidia_smi("name", "driver_version", "power.limit", "clocks.max.sm", "memory.total"):
        told = [float(x) if re.fullmatch(r"[\d.]+", x) else None for x in row[2:]]
        found.append(dict(zip(names, [*row[:2], *told], strict=True)))
    return found


def nvidia_smi(*fields: str) -> list[list[str]]:
    """Return what nvidia-smi says of each card; empty without it, or if it does not know these."""
    words = f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"
    rows = [line.split(", ") for line in (output("nvidia-smi", *words) or "").splitlines()]
    return [row for row in rows if len(row) == len(fields)]


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the packages that matter; None if not installed."""
    installed = {each.name: each.version for each in distributions()}
    own = {"glsw": glsw.__version__, "python": platform.python_version()}
    return {**own, **{name: installed.get(name) for name in _PACKAGES}}


@cache
def cpu_model() -> str:
    """Return what the processor calls itself."""
    listed = Path("/proc/cpuinfo")
    text = listed.read_text(encoding="utf-8") if listed.exists() else ""
    if found := re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE):
        return found[1].strip()
    told = output("sysctl", "-n", "machdep.cpu.brand_string")  # of macOS
    return told or platform.processor() or platform.machine()


def cores() -> int:
    """Return how many logical processors this process may use."""
    own = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if own else os.cpu_count() or 1


def dirty(commit: str | None) -> bool | None:
    """Tell whether what is measured differs from the commit; None if git does not have that one."""
    if commit is not None and commit != git("rev-parse", "HEAD"):
        return None
    what = ("glsw", "shaders", "bench", ":!bench/results")
    # A copy on another machine may have other file modes.
    changed = git("-c", "core.fileMode=false", "status", "--porcelain", "--", *what)
    return None if changed is None else bool(changed)


def git(*arguments: str) -> str | None:
    """Return what git prints about this checkout, None where it has no history."""
    # In a copy without history git would answer for a repository around it.
    return output("git", "-C", str(ROOT), *arguments) if (ROOT / ".git").exists() else None


def output(*command: str) -> str | None:
    """Return what a command prints, None if it fails or is not there."""
    try:
        return run(command, limit=30).strip()
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return None


def run(words: Sequence[str], folder: Path | None = None, limit: float | None = None) -> str:
    """Return what a command prints; raise RuntimeError with its last words if it fails."""
    told = subprocess.run(
        words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=limit
    )
    if told.returncode:  # ssearch36 has been seen to end by a signal, with many threads
        last = (told.stderr.strip().splitlines() or [f"status {told.returncode}"])[-1]
        raise RuntimeError(f"{Path(words[0]).name}: {last}")
    return told.stdout


def environment() -> dict[str, str]:
    """Return the variables with which Python finds the glsw of this checkout."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


def slug(renderer: str) -> str:
    """Return a renderer's name for a file name."""
    name = re.sub(r"\((R|TM)\)", "", renderer)
    if not name.startswith("zink"):
        name = re.split(r"[(/]", name)[0]
    words = re.findall(r"[a-z0-9]+", re.sub(r"\(LLVM.*", "", name).lower())
    return "-".join(words) or "device"


class Used(NamedTuple):
    joules: float
    seconds: float


@dataclass
class Sampler:
    """Watts of a card; ``words`` are a command that prints a time and watts, line by line."""

    tool: str
    words: Sequence[str]

    def used(self, work: Callable[[], None]) -> Used | None:
        with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
            path = Path(folder, "samples")
            with path.open("w") as told, subprocess.Popen(self.words, stdout=told, **QUIET) as tool:
                try:
                    samples_until(0.0, path, tool)
                    start = time.time()
                    work()
                    end = time.time()
                    samples = samples_until(end, path, tool)
                finally:
                    tool.terminate()
        energy = joules(samples, start, end)
        return None if energy is None else Used(energy, end - start)


def samples_until(least: float, path: Path, tool: subprocess.Popen[bytes]) -> list[Sample]:
    """Wait for a sample that is as late as this; return all that the tool has printed."""
    limit = time.monotonic() + PATIENCE
    while True:
        lines = path.read_text().splitlines(keepends=True)
        found = [sample for sample in map(sample_of, lines) if sample]
        late = time.monotonic() > limit or tool.poll() is not None
        if late or (found and found[-1][0] >= least):
            return found
        time.sleep(INTERVAL / 10)


def sample_of(line: str) -> Sample | None:
    """Read the date and the watts of a whole line; None from another."""
    stamp, _, watts = line.partition(", ")
    try:
        date = datetime.strptime(stamp, "%Y/%m/%d %H:%M:%S.%f")
        return (date.timestamp(), float(watts)) if line.endswith("\n") else None
    except ValueError:
        return None


def joules(samples: Sequence[Sample], start: float, end: float) -> float | None:
    """Return the energy of a time, watts changing evenly; None with fewer than two samples."""
    seconds, watts = np.array(samples, float).reshape(-1, 2).T
    if np.count_nonzero((seconds >= start) & (seconds <= end)) < 2:
        return None
    at = np.concatenate([[start], seconds[(seconds > start) & (seconds < end)], [end]])
    return float(np.trapezoid(np.interp(at, seconds, watts), at))


class Card(NamedTuple):
    address: str
    name: str
    watts: str


def meter_for(device: Device) -> Sampler | None:
    """Return what samples the card of a device; None if there is no tool, or it tells no power."""
    info, listed = device.info, egl_devices()
    drm = listed[info.index].path if info.index < len(listed) else ""
    nvidia = "nvidia" in f"{info.name} {info.vendor}".casefold()
    for field in _FIELDS if nvidia else ():
        told = nvidia_smi("pci.bus_id", "name", field)
        card = chosen([Card(*each) for each in told], info.name, drm)
        if card and card.watts.replace(".", "").isdigit():
            words = ["nvidia-smi", "-i", card.address, f"--query-gpu=timestamp,{field}"]
            words += ["--format=csv,noheader,nounits", "-lms", str(int(INTERVAL * 1000))]
            return Sampler("nvidia-smi", words)
    return None


def chosen(cards: Sequence[Card], renderer: str, drm: str) -> Card | None:
    """Return the card of a renderer, None if that cannot be told.

    Of several it is the one with the PCI address of EGL's device, or where EGL names no file of
    the device, the only one with the renderer's name.
    """
    if len(cards) < 2:
        return next(iter(cards), None)
    address = (SYS / "class/drm" / Path(drm).name / "device").resolve().name if drm else ""
    if ":" in address:  # such as 0000:65:00.0
        found = [card for card in cards if card.address.casefold().endswith(address)]
    else:
        found = [card for card in cards if card.name in renderer]
    return found[0] if len(found) == 1 else None


def idle_watts(meter: Sampler) -> float | None:
    """Return the watts of a card that does nothing, after `REST`; None if they are not told."""
    time.sleep(REST)
    idle = meter.used(lambda: time.sleep(REST))
    return idle and idle.joules / idle.seconds


def energy(meter: Sampler, run: Callable[[], object], seconds: float) -> dict[str, Any] | None:
    """Run for about that long; return fields of a row, None if no energy was told."""
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
    joules, watts = busy.joules / runs, busy.joules / busy.seconds
    return {"joules": joules, "watts": watts, "meter": meter.tool}
