"""What a suite runs: benchmarks, and command lines with sizes for this device and these seconds.

A faster device gets more work, not less time. A command line stands in the document of the suite
and can be repeated by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench import aymone2022, lin2015, liu2006, scan2014, sudo2012, workloads
from bench.measure import WARM_UP
from bench.pairs import SCAN_FORMS, engines_made_for
from glsw.device.device import DeviceInfo
from glsw.engines import ENGINES
from glsw.engines.three import ENGINES3

NAMES = ("micro", "engines", "liu2006", "aymone2022", "lin2015", "scan2014", "sudo2012", "search")
"""Benchmarks of a suite, in the order in which they run."""

COMPUTE = (4, 3)
"""OpenGL version that has compute shaders."""

KNOWN = (*ENGINES, *ENGINES3, *SCAN_FORMS, "gpui")
"""What ``--engines`` may name; "scan" means all its variants."""

REPEATS = 0.35
"""Seconds besides the warm-up that a measurement on hardware needs at least."""


class LeftOutError(Exception):
    """A step does not suit the device or the seconds; the text says why."""


@dataclass(frozen=True)
class Budget:
    """What a step may use.

    Attributes
    ----------
    seconds : float
        That it should take.
    speeds : mapping of float
        Cells per second of the engines that were tried, see `bench.speeds`.
    info : DeviceInfo
    engines : list of str
        Those of the step that were asked for.
    chosen : bool
        Not all were.
    full : bool
        All sizes of the papers, not some.
    devices : list of int
        To be compared with the first of them.
    """

    seconds: float
    speeds: Mapping[str, float]
    info: DeviceInfo
    engines: Sequence[str] = ()
    chosen: bool = False
    full: bool = False
    devices: Sequence[int] = ()

    def speed(self, engine: str) -> float:
        """Return cells per second of an engine, or those of ``fragment`` where it was not tried."""
        return self.speeds.get(engine, self.speeds["fragment"])

    def each(self, measurements: float) -> float:
        """Return the seconds of each of these measurements, enough for hardware to warm up."""
        least = 0.01 if self.info.software else WARM_UP + REPEATS
        return max(least, self.seconds / measurements)


@dataclass(frozen=True)
class Step:
    """A part of a suite.

    Attributes
    ----------
    name : str
        Unlike those of the other steps.
    benchmark : str
        Module of `bench`.
    weight : float
        Its share of the seconds, in any unit.
    arguments : callable
        Returns the command line for a `Budget`; raises `LeftOutError`.
    engines : tuple of str
        Of glsw, that it measures; empty if it measures none by name.
    requires : (int, int), optional
        OpenGL version.
    """

    name: str
    benchmark: str
    weight: float
    arguments: Callable[[Budget], list[str]]
    engines: tuple[str, ...] = ()
    requires: tuple[int, int] | None = None

    def wanted(self, engines: Iterable[str] | None) -> list[str]:
        """Return the engines of the step that were asked for, all for None."""
        if engines is None:
            return list(self.engines)
        asked = set(engines) | set(SCAN_FORMS if "scan" in engines else ())
        return [name for name in self.engines if name in asked]

    def refused(self, info: DeviceInfo, engines: Sequence[str] | None) -> str | None:
        """Return why the step is left out on a device, None if it is not."""
        if self.requires and info.version < self.requires:
            have, need = (".".join(map(str, each)) for each in (info.version, self.requires))
            return f"needs OpenGL {need}, the device has {have}"
        if self.engines and not self.wanted(engines):
            return f"has none of the engines {', '.join(engines or ())}"
        return None


def steps(names: Sequence[str], *, full: bool, devices: Sequence[int] = ()) -> list[Step]:
    """Return the steps of these benchmarks.

    >>> [step.name for step in steps(["lin2015"], full=False)]
    ['lin2015 200', 'lin2015 1000', 'lin2015 10000', 'lin2015 100000']
    """
    found: list[Step] = []
    for name in NAMES:
        if name in names:
            found += _STEPS[name](full)
    if len(devices) > 1 and "sudo2012" in names:
        sudo = Step("sudo2012 devices", "sudo2012", 20, _sudo_devices, ("subtable",), COMPUTE)
        found.append(sudo)
    if len(devices) > 1 and "search" in names:
        found.append(Step("search devices", "search", 20, _search_devices, ("lanes",), COMPUTE))
    return found


# command lines


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g}"


def _joined(words: Iterable[object]) -> str:
    return ",".join(map(str, words))


def _power(number: float, low: int, high: int) -> int:
    """Return the power of two that is not above a number, within bounds.

    >>> _power(700, 8, 512), _power(100, 8, 512), _power(0.1, 8, 512)
    (512, 64, 8)
    """
    return min(high, max(low, 1 << max(0, int(number)).bit_length() >> 1))


def _micro(budget: Budget) -> list[str]:
    return ["--budget", _seconds(budget.seconds)]


def _engines(workload: str, budget: Budget) -> list[str]:
    words = ["--workloads", workload, "--budget", _seconds(budget.seconds)]
    return words + (["--engines", _joined(budget.engines)] if budget.chosen else [])


def _liu2006(budget: Budget) -> list[str]:
    """Return as many entries as the first run, the judge and a few repeats leave time for."""
    if budget.info.software:
        cells = budget.speed("fragment") * budget.seconds / 10
    else:
        cells = budget.speed("fragment") * max(1, budget.seconds * 2 / 3 - 8 * WARM_UP) / 3
    most = ENTRIES if budget.full else 20_000
    lengths = [row.length for row in liu2006.PAPER]
    if not budget.full:
        lengths = lengths[1::2]
    while len(lengths) > 1 and cells / sum(lengths) / MEAN < 40:
        lengths.pop()
    entries = min(most, max(4, int(cells / sum(lengths) / MEAN)))
    words = ["--engine", budget.engines[0], "--lengths", _joined(lengths)]
    return [*words, "--sequences", str(entries), "--budget", _seconds(budget.seconds * 0.75)]


ENTRIES, MEAN = 176_469, 361
"""Sequences of the paper's Swiss-Prot, and their mean length."""


def _aymone2022(budget: Budget) -> list[str]:
    """Return the paper's 1000 pairs of 512, or fewer; each is done some eight times."""
    chosen = list(aymone2022.WORKLOADS) if budget.full else ["linear", "relatives"]
    runs = 8 * len(chosen) * len(aymone2022.TASKS)
    pairs = budget.speed("diagonal") * budget.seconds * 0.6 / runs / 512**2
    length = 512 if pairs >= 16 else 128
    pairs *= 512**2 / length**2
    words = ["--workloads", _joined(chosen), "--length", str(length)]
    words += ["--pairs", str(min(1000, max(4, int(pairs))))]
    least = 0.0 if budget.info.software else 5 * len(chosen) * (WARM_UP + REPEATS)
    return [*words, "--budget", _seconds(max(least, budget.seconds * 0.6))]


def _pair(length: int, times: int, budget: Budget) -> list[str]:
    """Return how long each method may take for a pair with ``times`` scorings."""
    judged = times * length**2 / budget.speed("diagonal")
    if judged > budget.seconds / 2:
        raise LeftOutError(f"about {judged:.0f} s to judge {length} x {length} letters")
    each = budget.each(times * (len(budget.engines) + 2))
    words = ["--lengths", str(length), "--methods", _joined(budget.engines)]
    return [*words, "--budget", _seconds(each)]


def _sudo_each(budget: Budget, measurements: int) -> list[str]:
    each = budget.each(1.6 * measurements)
    words = ["--budget", _seconds(each), "--longest", _seconds(1.5 * each)]
    return [*words, "--judge", _seconds(max(1, budget.seconds / 5))]


def _sudo_lengths(budget: Budget) -> list[str]:
    """Return those of the paper's lengths that the device does in time."""
    lengths = [512, 128, 16, 256, 8, 1024] if budget.full else [512, 128, 16, 256]
    cells = budget.speed("diagonal") * budget.seconds / 40
    lengths = [each for each in lengths if each**3 <= cells] or [8]
    if not budget.info.software:
        each = 2 * len(budget.engines) * (WARM_UP + REPEATS)
        lengths = lengths[: max(1, round(1.2 * budget.seconds / each))]
    lengths.sort()
    words = ["--parts", "lengths", "--engines", _joined(budget.engines), "--lengths"]
    words += [_joined(lengths)]
    return words + _sudo_each(budget, 2 * len(lengths) * (len(budget.engines) + 1))


def _sudo_aims(budget: Budget) -> list[str]:
    """Return tables of n x n x n to (2n)^3, and triples of words."""
    schemes = list(sudo2012.SCORINGS) if budget.full else ["identity"]
    share = budget.speed("diagonal") * budget.seconds / len(schemes)
    size = _power((share / 80) ** (1 / 3), 8, 512)
    word = _power((share / 8000) ** (1 / 3), 4, 128)
    words = ["--parts", "aims", "--engines", budget.engines[0], "--scorings", _joined(schemes)]
    words += ["--size", str(size), "--word", str(word)]
    return words + _sudo_each(budget, 6 * len(schemes))


def _sudo_devices(budget: Budget) -> list[str]:
    words = ["--parts", "devices", "--engines", budget.engines[0], "--lengths", "128,512"]
    return [*words, "--devices", _joined(budget.devices), *_sudo_each(budget, 10)]


def _search(kind: str, budget: Budget) -> list[str]:
    """Return queries and targets that are done some times over with each type of number."""
    fast = not budget.info.software
    count = 20 if fast and budget.seconds > 8 else 4
    numbers = 2 if budget.info.half else 1
    letters = sum(np.quantile(workloads.STANDARD, np.linspace(0, 1, count)))
    runs = (8 if kind == "uniform" else 14) * numbers
    left = max(1.0, budget.seconds * 0.7 - (2 * numbers if fast else 0))
    residues = budget.speed(budget.engines[0]) * left / runs / letters
    each = left / (numbers * (count + 2) + (8 if kind == "swissprot" else 0)) / 1.5
    words = ["--engines", _joined(budget.engines), "--queries-subset", str(count)]
    if kind == "uniform":
        lengths = [128, 512, 2048] if budget.full else [512]
        most = 1_000_000
        sequences = max(8, min(most, int(residues / sum(lengths))))
        words += ["--lengths", _joined(lengths), "--entries", "none"]
        words += ["--sequences", str(sequences), "--tasks", "each,together"]
    else:
        entries = max(8, min(500_000, int(residues / MEAN)))
        words += ["--lengths", "none", "--entries", str(entries), "--competitor-queries", "1"]
        words += ["--tasks", "each,together,peers,command"]
    sample = min(3e7, SAMPLE * budget.seconds)
    return [*words, "--sample", f"{sample:.2g}", "--budget", _seconds(each)]


SAMPLE = 2e6
"""Cells of a query's sample that are judged, for each second of the step."""


def _search_devices(budget: Budget) -> list[str]:
    residues = budget.speed(budget.engines[0]) * budget.seconds / 12 / sum(workloads.STANDARD)
    entries = max(8, min(500_000, int(residues / MEAN)))
    words = ["--engines", budget.engines[0], "--tasks", "devices", "--lengths", "none"]
    words += ["--entries", str(entries), "--devices", _joined(budget.devices)]
    return [*words, "--sample", "1e6", "--budget", _seconds(budget.seconds / 8)]


# what each benchmark is made of

_WORKLOADS = {
    "search": engines_made_for("search"),
    "pairs": engines_made_for("pairs"),
    "long": (*engines_made_for("long pairs"), *SCAN_FORMS),
    "three": ("subtable", "plane", "gpui"),
}
"""Of the benchmark ``engines``: what each can have."""


def _of_micro(full: bool) -> list[Step]:
    return [Step("micro", "micro", 30, _micro)]


def _of_engines(full: bool) -> list[Step]:
    return [
        Step(f"engines {name}", "engines", 14, partial(_engines, name), engines, None)
        for name, engines in _WORKLOADS.items()
    ]


def _of_liu2006(full: bool) -> list[Step]:
    return [Step("liu2006", "liu2006", 22, _liu2006, LIU_ENGINES)]


LIU_ENGINES = ("fragment", "lanes", "diagonal", "auto", "cpu", "reference")
"""The paper's method, and what takes its place if others are asked for."""


def _of_aymone2022(full: bool) -> list[Step]:
    return [Step("aymone2022", "aymone2022", 26, _aymone2022, ("diagonal",), COMPUTE)]


def _of_lin2015(full: bool) -> list[Step]:
    lengths = [n for n in lin2015.LENGTHS if full or n <= 100_000]
    return [
        Step(
            *(f"lin2015 {length}", "lin2015", 6 if length < 10_000 else 9),
            *(partial(_pair, length, 1), lin2015.METHODS, COMPUTE),
        )
        for length in lengths
    ]


def _of_scan2014(full: bool) -> list[Step]:
    lengths = [n for n in scan2014.LENGTHS if full or n in (512, 8000)]
    return [
        Step(
            *(f"scan2014 {length}", "scan2014", 9),
            *(partial(_pair, length, 2), scan2014.METHODS, COMPUTE),
        )
        for length in lengths
    ]


def _of_sudo2012(full: bool) -> list[Step]:
    methods = ("subtable", "gpui", "plane")
    return [
        Step("sudo2012 lengths", "sudo2012", 20, _sudo_lengths, methods, COMPUTE),
        Step("sudo2012 aims", "sudo2012", 14, _sudo_aims, methods, COMPUTE),
    ]


def _of_search(full: bool) -> list[Step]:
    return [
        Step("search uniform", "search", 16, partial(_search, "uniform"), ("lanes",), COMPUTE),
        Step("search swissprot", "search", 20, partial(_search, "swissprot"), ("lanes",), COMPUTE),
    ]


_STEPS: Mapping[str, Callable[[bool], list[Step]]] = {
    "micro": _of_micro,
    "engines": _of_engines,
    "liu2006": _of_liu2006,
    "aymone2022": _of_aymone2022,
    "lin2015": _of_lin2015,
    "scan2014": _of_scan2014,
    "sudo2012": _of_sudo2012,
    "search": _of_search,
}
