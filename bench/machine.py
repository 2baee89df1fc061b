"""The machine of a run: its device, its graphics cards, its processor, its software, the commit."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import glsw
from glsw.device.device import Device

_ROOT = Path(__file__).parents[1]
_PACKAGES = ("moderngl", "numpy", "biopython", "parasail", "pyopal", "edlib", "stringzilla")


def device_facts(device: Device) -> dict[str, Any]:
    """Return renderer, vendor, versions of OpenGL and driver, traits and limits."""
    info = device.info
    return {
        "renderer": info.name,
        "vendor": info.vendor,
        "gl": ".".join(map(str, info.version)),
        "driver": info.version_string.partition(" ")[2],
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
    text = output("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits")
    rows = [line.split(", ") for line in (text or "").splitlines()]
    return [_card(*row) for row in rows if len(row) == 5]


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
        told = json.loads(output("rocm-smi", *words, "--json") or "{}")
    except ValueError:
        return None
    driver = next(iter(told.get("system", {}).values()), None)
    found = []
    for name, facts in sorted(told.items()):
        if name.startswith("card"):
            value = {
                key: next((facts[each] for each in facts if pattern.search(each)), None)
                for key, pattern in _AMD.items()
            }
            size = _number(value["memory"])
            mib = None if size is None else str(size / 2**20)
            found.append(_card(value["name"], driver, value["power"], value["clock"], mib))
    return found or None


def _card(name: str | None, driver: str | None, *numbers: str | None) -> dict[str, Any]:
    words = ("power_limit_w", "clock_mhz", "memory_mib")
    told = dict(zip(words, map(_number, numbers), strict=True))
    return {"name": name, "driver": driver, **told}


def _number(text: str | None) -> float | None:
    """Return the number a tool printed, None for words such as "[N/A]"."""
    try:
        return float(text or "")
    except ValueError:
        return None


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the packages that matter; None if not installed."""
    found: dict[str, str | None] = {"glsw": glsw.__version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


@cache
def cpu_model() -> str:
    """Return what the processor calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    if platform.system() == "Darwin":
        return output("sysctl", "-n", "machdep.cpu.brand_string") or platform.machine()
    return platform.processor() or platform.machine()


def cores() -> int:
    """Return how many logical processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
    return output("git", "-C", str(_ROOT), *arguments) if (_ROOT / ".git").exists() else None


def output(*command: str) -> str | None:
    """Return what a command prints, None if it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def slug(renderer: str) -> str:
    """Return a renderer's name for a file name.

    >>> slug("NVIDIA H100 80GB HBM3/PCIe/SSE2"), slug("llvmpipe (LLVM 15.0.6, 256 bits)")
    ('nvidia-h100-80gb-hbm3', 'llvmpipe')
    >>> slug("Mesa Intel(R) UHD Graphics 620 (KBL GT2)"), slug("zink Vulkan 1.3(llvmpipe (LLVM))")
    ('mesa-intel-uhd-graphics-620', 'zink-vulkan-1-3-llvmpipe')
    """
    name = re.sub(r"\((R|TM)\)", "", renderer)
    if not name.startswith("zink"):
        name = re.split(r"[(/]", name)[0]
    words = re.findall(r"[a-z0-9]+", re.sub(r"\(LLVM.*", "", name).lower())
    return "-".join(words) or "device"
