"""Measure devices: a process before each driver does the tasks, and rows are made of its words."""

import hashlib
import importlib
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from tools.vendors.calls import calls
from tools.vendors.loop import innermost
from tools.vendors.rows import ASKED, ES, SAMPLE, Row, Rows, impersonal, spills

ROOT = Path(__file__).parents[2]
Macros: TypeAlias = Mapping[str, Any]
Task: TypeAlias = Any  # the name of a call, or a program and its macros
_LISTS = {
    "amd": "AMD_DEBUG=cs,asm",
    "intel": "INTEL_DEBUG=cs",
    "apple": "AGX_MESA_DEBUG=shaders",
}
"""What makes a driver list its code."""
_SPECIAL = {"OWN_QUERIES", "LINEAR", "TWO_TRACKS", "JOINED", "GLOBAL_MODE"}
_NOISE = "DRM_SHIM", "Unknown ", "unhandled"


@cache
def permutations() -> Mapping[str, Sequence[Macros]]:
    """Return every set of macros of each program: the list of the tests."""
    sys.path.insert(0, str(ROOT / "tests"))
    every = importlib.import_module("engines.test_implementations").PERMUTATIONS
    return {name: every[name] for name in every if not name.startswith(("micro/", "quad"))}


def sample(sets: Sequence[Macros], every: int) -> list[Macros]:
    """Return every N-th set of macros, and others until each macro is in one that is plain."""
    chosen = list(sets[::every])
    names = {name for each in chosen if _plain(each) for name in each}
    for each in sorted(sets, key=_plain, reverse=True):
        if each.keys() - names and each not in chosen:
            chosen.append(each)
            names |= each.keys()
    return chosen


def _plain(macros: Macros) -> bool:
    """Tell whether every device can do that."""
    return not macros.get("SUBGROUPS") and macros.get("NUMBER") != 1


def measure(path: Path, names: Sequence[str], every: int, jobs: int) -> dict[str, str]:
    """Measure devices and write their rows; return why some have failed."""
    some = [(name, each) for name, sets in permutations().items() for each in sample(sets, every)]
    asked: list[Task] = [*calls()]
    common: Row = {"commit": _git("rev-parse", "HEAD")[:9]}
    if _git("status", "--porcelain", "--", "glsw", "shaders", "tools/vendors/*.py"):
        common["dirty"] = True
    failed: dict[str, str] = {}

    def one(name: str) -> list[Row]:
        if name.endswith(ES):
            return [*_told(name, asked)]
        told = [*_told(name, [*asked, *some])]
        _count_loops(name, told)
        return told

    with ThreadPoolExecutor(jobs) as pool:
        started = {name: pool.submit(one, name) for name in names}
        for name, running in started.items():
            try:
                head, *told = running.result()
            except (RuntimeError, subprocess.SubprocessError) as error:
                failed[name] = str(error)
                continue
            rows = Rows.read(path)
            rows.devices[name] = impersonal(head["info"])
            mesa = head["version"].rpartition("Mesa ")[2].partition("-")[0]
            own = {"device": name, "mesa": mesa, **common}
            rows.rows[name] = [own | row for row in _rows(told, every)]
            rows.write(path)
            print(f"vendors: {name}: {len(told)} programs", file=sys.stderr)
    return failed


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def _told(name: str, tasks: Sequence[Task]) -> Iterator[Row]:
    """Yield what a process tells: its device, then rows. One that ends is followed by another."""
    left, begun = list(tasks), False
    words = ["nice", "tools/vendors/run.sh", name, "python3", "-m", "tools.vendors.child"]
    while left:
        with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as errors:
            given.writelines(json.dumps(task) + "\n" for task in left)
            given.seek(0)
            process = subprocess.Popen(
                words, cwd=ROOT, stdin=given, stdout=subprocess.PIPE, stderr=errors, text=True
            )
            assert process.stdout
            compiling: Row = {}
            for line in process.stdout:
                told, kind = json.loads(line), ASKED if isinstance(left[0], str) else SAMPLE
                if "starts" in told:
                    compiling = {"program": told["starts"], "macros": told["macros"]}
                elif "done" in told:
                    del left[0]
                elif "program" in told:
                    yield {"set": kind, **told}
                    compiling = {}
                elif not begun:
                    begun = True
                    yield told
            status = process.wait()
            errors.seek(0)
            last = [each for each in errors.read().splitlines() if not each.startswith(_NOISE)]
        if not begun:
            raise RuntimeError(last[-1] if last else f"status {status}")
        if left:
            reason = signal.Signals(-status).name if status < 0 else f"status {status}"
            if compiling:
                yield {"set": kind, **compiling, "error": f"the driver ended: {reason}"}
            del left[0]


def _count_loops(name: str, rows: Sequence[Row]) -> None:
    """Count what the loop of a usual search computes, where the driver lists its code."""
    variable = _LISTS.get(name.partition("-")[0])
    for row in rows if variable else ():
        if row.get("set") != ASKED or row["program"] != "lanes.comp" or "error" in row:
            continue
        macros = row["macros"]
        if macros["NUMBER"] or macros["LETTERS"] != 24 or _SPECIAL & macros.keys():
            continue
        words = ["tools/vendors/run.sh", name, "env", str(variable), "python3"]
        words += ["-m", "tools.vendors.one", row["program"]]
        words += [f"{key}={value}" for key, value in macros.items()]
        listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        if loops := [*innermost((listed.stderr + listed.stdout).splitlines())]:
            row["loop"] = max(loops).computing


def _rows(told: Sequence[Row], every: int) -> Iterator[Row]:
    """Yield rows of programs asked for, and one of the permutations of each program."""
    yield from (row for row in told if row["set"] == ASKED)
    sampled = [row for row in told if row["set"] == SAMPLE]
    for name, group in groupby(sampled, lambda row: row["program"]):
        group_rows = list(group)
        right = [row for row in group_rows if "error" not in row]
        times = [row["ms"] for row in right]
        texts = "".join(row.get("text", "") for row in group_rows)
        row: Row = {"set": SAMPLE, "program": name, "every": every, "programs": len(group_rows)}
        row["macros"] = sorted({macro for row in group_rows for macro in row["macros"]})
        row["text"] = hashlib.sha256(texts.encode()).hexdigest()[:10]
        row |= {"ms": max(times), "median_ms": median(times)} if times else {}
        row["failed"] = len(group_rows) - len(right)
        row["errors"] = sorted({row["error"] for row in group_rows if "error" in row})[:3]
        row["spilling"] = sum(map(spills, right))
        yield {key: value for key, value in row.items() if value not in (0, [])}
