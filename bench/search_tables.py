"""The tables that `bench.search` prints."""

from __future__ import annotations

import sys
from typing import Any

from glsw.device.device import Device

CUDASW = {"DPX": 5000.0, "half2": 4200.0}
"""GCUPS of CUDASW++4.0 (Schmidt et al. 2024) on an H100 SXM, driver 580.159.

Measured with a million targets of 512 and queries of the same 20 lengths, by its option.
"""


def described(facts: dict[str, Any]) -> str:
    return (
        f"{facts['name']}: {facts['sequences']:,} sequences, {facts['residues']:,} residues, "
        f"longest {facts['longest']:,}"
    )


def progress(label: str, result: dict[str, Any]) -> None:
    """Say on a terminal how far it is."""
    if sys.stderr.isatty():
        rate = "WRONG" if result["kernel_gcups"] is None else f"{result['gcups']:.2f} GCUPS"
        print(f"  {label}, {result['length']}: {rate}", file=sys.stderr)


WIDTH = 26


def print_table(result: dict[str, Any]) -> None:
    """Print a line per query: GCUPS by the device, percent of the best, GCUPS by wall time."""
    runs = [run for run in result["runs"] if not run["refused"]]
    for run in result["runs"]:
        if run["refused"]:
            print(f"  {run['label']}: {run['refused']}")
    if not any(run["queries"] for run in runs):
        return
    print(f"{'':>8}" + "".join(f"{run['label']:>{WIDTH}}" for run in runs))
    print(f"{'length':>8}" + f"{'GCUPS':>12}{'of best':>8}{'wall':>6}"[:WIDTH] * len(runs))
    best = [max((each["kernel_gcups"] or 0 for each in run["queries"]), default=0) for run in runs]
    for row in zip(*(run["queries"] for run in runs), strict=False):
        cells = (
            f"{'WRONG':>{WIDTH}}"
            if each["kernel_gcups"] is None
            else _cell(
                each["kernel_gcups"], f"{100 * each['kernel_gcups'] / most:.0f}%", each["gcups"]
            )
            for each, most in zip(row, best, strict=True)
        )
        print(f"{row[0]['length']:>8}" + "".join(cells))
    print(
        f"{'all':>8}"
        + "".join(_cell(run.get("kernel_gcups"), "", run.get("gcups")) for run in runs)
    )
    if any(run["together"] for run in runs):
        together = [run["together"] or {"kernel_gcups": None, "gcups": None} for run in runs]
        cells = (_cell(each["kernel_gcups"], "", each["gcups"]) for each in together)
        print(f"{'at once':>8}" + "".join(cells))
    memory = (f"{run['memory'] / 2**20:,.1f} MiB" for run in runs)
    print(f"{'memory':>8}" + "".join(f"{text:>{WIDTH}}" for text in memory), flush=True)
    for run in runs:
        if run["parts"] > 1:
            print(f"  {run['label']}: {run['parts']} parts, uploaded again for each query")


def _cell(rate: float | None, middle: str, wall: float | None) -> str:
    return f"{_text(rate):>12}{middle:>6}{_text(wall):>8}"


def _text(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.3g}" if rate < 100 else f"{rate:.0f}"


def print_competitors(results: list[dict[str, Any]]) -> None:
    for each in results:
        where = "one core" if each["cores"] == 1 else f"{each['cores']} cores"
        rate = "WRONG" if each["gcups"] is None else f"{each['gcups']:.2f} GCUPS"
        print(f"  {each['peer']}, {where}, {each['length']}: {rate}", flush=True)


def print_command(result: dict[str, Any]) -> None:
    if result["check"]["wrong"]:
        print(f"  glsw search, engine {result['engine']}: WRONG", flush=True)
        return
    database = "indexed" if result["indexed"] else "FASTA"
    indexed = f"; indexed in {result['makedb']:.2f} s" if result["indexed"] else ""
    seconds = ", ".join(f"{each:.2f}" for each in result["seconds"])
    kernel = result["kernel"]
    beside = f", kernels {kernel:.2f} s" if kernel else ""
    print(f"  glsw search, {database}, engine {result['engine']}: {seconds} s{beside}{indexed}")
    if kernel:
        kept = "within" if min(result["seconds"]) <= result["allowed"] else "beyond"
        print(f"  that is {kept} 1.5 x kernels + 2 s = {result['allowed']:.2f} s", flush=True)


def print_devices(result: dict[str, Any]) -> None:
    names = ",".join(map(str, result["devices"]))
    if result["refused"] or result["ratio"] is None:
        print(f"  devices {names}: {result['refused'] or 'WRONG'}")
        return
    one, many = (result[key]["wall"]["median"] for key in ("one", "all"))
    print(
        f"  devices {names}: {one:.2f} s on one, {many:.2f} s on all: {result['ratio']:.2f} times,"
    )
    print(f"  the same {result['bytes']} bytes", flush=True)


def print_notes(results: list[dict[str, Any]], device: Device | None) -> None:
    """Print what the rates mean, and compare those of equal targets of 512."""
    print("\nGCUPS by the device's clock if it has one, else the wall's; wall: from call to scores")
    rates: dict[str, dict[str, float]] = {}
    for result in results:
        name = f"{result['database']['name']}, {result['database']['sequences']:,}"
        if result["database"]["kind"] != "uniform" or result["database"]["longest"] == 512:
            for run in result["runs"]:
                if run.get("kernel_gcups"):
                    rates.setdefault(run["label"], {})[name] = run["kernel_gcups"]
    for label, each in rates.items():
        (name, base), *others = each.items()
        for other, rate in others:
            print(f"{label}: {other}: {100 * rate / base:.0f}% of the rate with {name}")
    theirs = ", ".join(f"{rate:.0f} ({name})" for name, rate in CUDASW.items())
    print(f"CUDASW++4.0 on an H100 SXM, 1,000,000 targets of 512, these 20 lengths: {theirs}")
    if device is None or device.info.software:
        return
    for label, each in rates.items():
        for name, base in each.items():
            ratios = (f"{base / rate:.2f} of it with {option}" for option, rate in CUDASW.items())
            print(f"{label} on {device.info.name}, {name}: {_text(base)}, {', '.join(ratios)}")
