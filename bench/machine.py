"""The machine of a run: its device, its graphics cards, its processor, its software, the commit."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import glsw

ROOT = Path(__file__).parents[1]
_PACKAGES = ("moderngl", "numpy", "biopython", "parasail", "pyopal", "edlib", "stringzilla")


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
