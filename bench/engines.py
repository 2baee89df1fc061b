"""All engines on the same work, so that devices and engines compare, beside programs of others.

    python -m bench.engines --output bench/results/engines-llvmpipe.json

Four workloads: the scores of a protein with a database, scores and ends of many short pairs of DNA,
of one long pair, and of three sequences. Sizes are fixed (``--size``), so that the same size is
the same work on every device. The programs of others get the same cells and the same scoring, or a
part of them, on one core and on all. Exit status 1 if a result was wrong: it has no time.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bench import competitors, cpu3, options, pairs, search, triples, workloads
from bench.energy import EnergyMeter, meter_for
from bench.measure import Check, compare, cores, measure, report, write
from glsw.batch import Batch
from glsw.device.device import Device, DeviceError, open_device
from glsw.device.shader import ShaderError
from glsw.engines import ENGINES, Auto, Engine, engine_of
from glsw.engines.three import ENGINES3, Engine3, Subtable
from glsw.engines.three.tiles import Shape
from glsw.paths import Ends
from glsw.scoring.scoring import Scoring
from glsw.scoring.three import Scoring3
from glsw.sequences.encoded import Sequences
from glsw.traceback import best_end

SIZES: Mapping[str, Mapping[str, int]] = {
    "tiny": {"search": 3, "pairs": 2, "long": 500, "three": 32},
    "small": {"search": 1000, "pairs": 100, "long": 4096, "three": 256},
    "large": {"search": 200_000, "pairs": 4096, "long": 32_768, "three": 512},
}
"""Proteins of the database, pairs, letters of each of two and of each of three sequences.

Tiny is for renderers with less than a million cells a second, small for llvmpipe and slow cards,
large for cards.
"""

WORDS = {
    "search": "proteins with Swiss-Prot's lengths, a query of 375",
    "pairs": "pairs of DNA of 512",
    "long": "letters of DNA, twice",
    "three": "letters of a generated recording, three times",
}
"""What `SIZES` counts."""

QUERY, LENGTH = 375, 512

FORMS = ("fused", "blocks", "single-stage")
"""Of the engine `scan`."""

PROBE = 2**20
"""Cells up to which nothing is too long."""

SAMPLE = {"search": 3e7, "pairs": 1.5e6}
"""Cells that are judged by others than engines."""

AGAIN = 0.25
"""Seconds of warm-up after the first engine, which keeps a card's clocks up."""

SLOW, FAST = 1e7, 5e9
"""Cells a second: below the first a device gets the tiny size, from the second on the large."""

ENERGY = 2.0
"""Seconds of runs whose energy is measured, at most."""

PATIENCE = 1.5
"""An engine is left out if a run takes so many times its share of the budget."""

SHORT = 0.6
"""Seconds up to which an engine is run in any case."""


LEAST = 1 / 4
"""Of an equal share of the budget, which everything has, whatever the others took."""

_FAILURES = (ValueError, DeviceError, ShaderError, MemoryError)
"""What an engine raises when it cannot do the work, which is then refused with the reason."""

Found: TypeAlias = npt.NDArray[np.int32]


class Entry(NamedTuple):
    """An engine with its options; ``names`` are those to ask for it by."""

    label: str
    names: tuple[str, ...]
    kind: type[Engine] | type[Engine3]
    words: Mapping[str, Any] = {}

    def asked(self, engines: Collection[str]) -> bool:
        """Tell whether it is among these, by one of its names."""
        return not set(self.names).isdisjoint(engines)

    def refused(self, device: Device) -> str | None:
        """Return why the device cannot run it, None if it can."""
        needs, there = self.kind.capabilities.requires, device.info.version
        if needs is None or there >= needs:
            return None
        return f"needs OpenGL {needs[0]}.{needs[1]}, the device has {there[0]}.{there[1]}"

    def made(self, scoring: Any, device: Device) -> Any:
        """Return the engine."""
        if issubclass(self.kind, Engine):
            return engine_of(self.kind, scoring, device, **self.words)
        return self.kind(scoring, device if self.kind.capabilities.requires else None, **self.words)


class CompetitorRun(NamedTuple):
    """A program of others, and what measures it.

    ``measured`` gets the first engine that was right and a budget in seconds.
    """

    label: str
    cores: int
    measured: Callable[[Entry | None, float], dict[str, Any]]


class PairJudge(search.ScoreJudge):
    """Judges results of pairs as in a search: a sample is known, the first engine has the rest."""

    def __init__(self, name: str, chosen: npt.NDArray[np.intp], expected: Found) -> None:
        self.name, self.chosen, self.expected = name, chosen, expected
        self.scores = None
        self._first = ""

    def judge(self, scores: Found, engine: str) -> Check:
        """Compare all results; where the sample is all of them no other judge is needed."""
        if len(self.chosen) < len(scores):
            return super().judge(scores, engine)
        checked = compare(scores, self.expected, self.name)
        if checked.passed:
            self.scores = scores
        return checked


# workloads


class Workload(ABC):
    """Work of some size for a device, the engines that can do it, and who says what is right."""

    name: str
    task: str
    scoring: Any
    scoring_name: str
    lengths: list[int]
    count: int
    cells: int

    def __init__(self, device: Device) -> None:
        self.device = device

    @abstractmethod
    def entries(self) -> list[Entry]:
        """Return the engines for this work."""

    @abstractmethod
    def prepare(self) -> None:
        """Find out what is right; errors are those of engines."""

    @abstractmethod
    def run(self, engine: Any) -> Any:
        """Do all of it."""

    @abstractmethod
    def check(self, label: str, found: Any) -> Check:
        """Judge what `run` returned."""

    @abstractmethod
    def estimate(self, engine: Any, limit: float) -> float:
        """Return about how many seconds a run takes; it may be less if that is above ``limit``."""

    @abstractmethod
    def beside(self) -> list[CompetitorRun]:
        """Return the programs of others that can do it."""

    @property
    def facts(self) -> dict[str, Any]:
        """What stands in the JSON."""
        return {
            "workload": self.name,
            "task": self.task,
            "scoring": self.scoring_name,
            "lengths": self.lengths,
            "count": self.count,
        }


class OfPairs(Workload):
    """Work that is a batch of pairs."""

    scoring: Scoring
    judge: PairJudge | search.ScoreJudge

    def __init__(self, device: Device, batch: Batch, lengths: list[int]) -> None:
        super().__init__(device)
        self.batch, self.lengths = batch, lengths
        self.count, self.cells = len(batch), batch.cells

    def run(self, engine: Engine) -> Found:
        """Return the scores, or scores and ends."""
        return self.of(engine, self.batch)

    def of(self, engine: Engine, batch: Batch) -> Found:
        """Do so for other pairs."""
        return _cells(engine.ends(batch))

    def check(self, label: str, found: Found) -> Check:
        """Judge what `run` returned."""
        return self.judge.judge(found, label)

    def estimate(self, engine: Engine, limit: float) -> float:
        """Tell from evenly spaced pairs."""

        def part(cells: float) -> tuple[Callable[[], object], int]:
            some = self.batch.select(competitors.portion(self.batch, cells))
            return partial(self.of, engine, some), some.cells

        return _estimate(part, self.cells, limit)

    def beside(self) -> list[CompetitorRun]:
        """Return the programs here that know the scoring, on one core and on all."""
        rates: dict[str, float] = {}
        return [
            CompetitorRun(peer.name, count, partial(self._measured, peer, count, rates))
            for count in sorted({1, cores()})
            for peer in self.programs(count)
        ]

    def programs(self, count: int) -> list[competitors.Competitor]:
        """Return programs of others on so many cores."""
        return competitors.of_pairs(self.scoring, count)

    def _measured(
        self,
        peer: competitors.Competitor,
        count: int,
        rates: dict[str, float],
        passed: Entry | None,
        budget: float,
    ) -> dict[str, Any]:
        """Measure a program; the rate of one core tells what all can do."""
        key = f"{peer.name} {peer.function}"
        rate = rates[key] * count if key in rates else None
        result = competitors.measured(
            peer,
            self.cells,
            partial(self.cut, passed),
            judge=passed.label if passed else self.judge.name,
            budget=budget,
            rate=rate,
        )
        if count == 1 and result["gcups"]:
            rates[key] = result["gcups"]
        return result

    def cut(self, passed: Entry | None, cells: float) -> tuple[Batch, npt.NDArray[np.int32]]:
        """Return pairs of about so many cells, and their scores."""
        known = self.judge.scores
        if known is None:
            return self.batch.select(self.judge.chosen), _scores(self.judge.expected)
        chosen = competitors.portion(self.batch, cells)
        return self.batch.select(chosen), _scores(known[chosen])


class Search(OfPairs):
    """A protein and a database: scores."""

    name, task = "search", "scores"
    scoring = Scoring.named("BLOSUM62", 12, 1)
    scoring_name = "BLOSUM62, gaps 12, 1"

    def __init__(self, proteins: int, device: Device) -> None:
        self.query = search.Query(f"generated {QUERY}", workloads.queries([QUERY])[0])
        made = workloads.many(workloads.swissprot_lengths(proteins))
        planted = workloads.plant(made, Sequences.of([self.query.codes]))
        self.subjects = search.Subjects("lengths of Swiss-Prot", "swissprot", made, planted)
        super().__init__(device, Batch.one_to_many(self.query.codes, made), [QUERY])

    def entries(self) -> list[Entry]:
        """Return the engines, `lanes` in each of its numbers."""
        numbers = ["int32", "f16"] if self.device.info.half else ["int32"]
        lanes = [
            Entry(f"lanes {each}", ("lanes",), ENGINES["lanes"], {"number": each})
            for each in numbers
        ]
        return lanes + _entries("fragment", "diagonal", "auto", "cpu")

    def prepare(self) -> None:
        """Have a sample judged by parasail or the reference."""
        self.judge = search.ScoreJudge(self.query, self.subjects, SAMPLE["search"])

    def run(self, engine: Engine) -> Found:
        """Return all scores; the database stays on the device from one run to the next."""
        query = Sequences.of([self.query.codes])
        found = list(engine.scan(query, self.subjects.parts(engine.part)))
        scores: Found = np.concatenate(found, axis=1)[0]
        return scores

    def of(self, engine: Engine, batch: Batch) -> Found:
        """Return scores."""
        return engine.scores(batch)

    def programs(self, count: int) -> list[competitors.Competitor]:
        """Return the programs that search databases, and Biopython."""
        return competitors.on_cores(self.scoring, count, slow=True)


class Pairs(OfPairs):
    """Short pairs of unrelated DNA: scores and ends."""

    name, task = "pairs", "ends"
    scoring = Scoring.match_mismatch(1, -1, 2, 2)
    scoring_name = "DNA 1/-1, linear gaps 2"

    def __init__(self, count: int, device: Device) -> None:
        queries, targets = (workloads.dna([LENGTH] * count, seed) for seed in (LENGTH, LENGTH + 1))
        super().__init__(device, Batch.pairwise(queries, targets), [LENGTH, LENGTH])

    def entries(self) -> list[Entry]:
        """Return the engines."""
        return _entries("diagonal", "fragment", "blocked", "auto")

    def prepare(self) -> None:
        """Have a sample judged by the reference."""
        chosen = competitors.portion(self.batch, SAMPLE["pairs"])
        reference = ENGINES["reference"](self.scoring)
        self.judge = PairJudge("reference", chosen, self.of(reference, self.batch.select(chosen)))


class Long(OfPairs):
    """One long pair of unrelated DNA: score and end."""

    name, task = "long", "ends"
    scoring = Scoring.match_mismatch(5, -4, 11, 1)
    scoring_name = "DNA 5/-4, gaps 11, 1"

    def __init__(self, length: int, device: Device) -> None:
        query, target = workloads.dna([length, length], length)
        super().__init__(device, Batch.pairwise([query], [target]), [length, length])

    def entries(self) -> list[Entry]:
        """Return the engines, `scan` in each of its forms."""
        scans = [
            Entry(f"scan {form}", ("scan", form), ENGINES["scan"], {"form": form}) for form in FORMS
        ]
        return [*_entries("blocked", "diagonal", "fragment", "wavefront"), *scans]

    def prepare(self) -> None:
        """Have it judged as in the other benchmarks of pairs; without compute shaders by NumPy."""
        if self.cells <= pairs.BY_REFERENCE or self.device.info.compute:
            name, cell = pairs.expected_cell(self.scoring, self.batch, self.device, 1.0)
        else:
            name, cell = "rows of NumPy", np.array([best_end(*self.batch.pair(0), self.scoring)])
        self.judge = PairJudge(name, np.zeros(1, np.intp), cell.astype(np.int32))

    def estimate(self, engine: Engine, limit: float) -> float:
        """Tell from how the time grows between the first eighths and the first quarters.

        With twice the letters it is between twice, where dispatches count, and four times.
        """
        seconds: list[float] = []
        for part in (pairs.square(self.batch, self.cells / some) for some in (64, 16)):
            engine.ends(part)  # compiles
            start = time.perf_counter()
            engine.ends(part)
            seconds.append(time.perf_counter() - start)
            if 8 * seconds[0] > limit:
                return 8 * seconds[0]
        return seconds[1] * min(4.0, max(2.0, seconds[1] / seconds[0])) ** 2

    def beside(self) -> list[CompetitorRun]:
        """Return parasail on one core, a cell at a time and with SIMD: a pair is not divided."""
        if not competitors.ParasailPairs.available(self.scoring):
            return []
        methods: tuple[competitors.Method, ...] = ("plain", "simd")
        rates: dict[str, float] = {}
        return [
            CompetitorRun(f"{peer.name} {method}", 1, run)
            for method in methods
            for peer in [competitors.ParasailPairs(self.scoring, method)]
            for run in [partial(self._measured, peer, 1, rates)]
        ]

    def cut(self, passed: Entry | None, cells: float) -> tuple[Batch, npt.NDArray[np.int32]]:
        """Return the starts of both sequences, and their score."""
        part = pairs.square(self.batch, cells)
        if passed is None or part is self.batch:
            known = self.judge.expected if self.judge.scores is None else self.judge.scores
            return self.batch, _scores(known)
        scores: npt.NDArray[np.int32] = passed.made(self.scoring, self.device).scores(part)
        return part, scores


class Gpui(Subtable):
    """`Subtable` with the sub-tables of Sudo et al. 2012."""

    name = triples.GPUI

    def __init__(self, scoring: Scoring3, device: Device | None = None) -> None:
        super().__init__(scoring, device, shape=Shape(4, 8, 8, deep=4))


class Three(Workload):
    """Three sequences: score and end."""

    name, task = "three", "ends"
    scoring_name = "identity 1/-1, linear gaps 1"

    def __init__(self, length: int, device: Device) -> None:
        super().__init__(device)
        self._length = length
        self.lengths, self.count, self.cells = [length] * 3, 1, length**3
        self.data = triples.Data.of(None, 8)
        self.scoring = self.data.scorings["identity"]
        self._found: Ends | None = None

    def entries(self) -> list[Entry]:
        """Return the engines."""
        kinds = {name: ENGINES3[name] for name in ("subtable", "plane")} | {triples.GPUI: Gpui}
        return [Entry(name, (name,), kind) for name, kind in kinds.items()]

    def prepare(self) -> None:
        """Build the C code, which is judged by the reference; it, or that, judges the engines."""
        self.judges = triples.Judges.of(self.device, self.data, 10.0)
        lengths = [self._length] * 3
        self.work = triples.Work.single(self.data, self.judges, "identity", lengths)

    def run(self, engine: Engine3) -> Ends:
        """Return score and end."""
        return engine.ends(self.work.triples)

    def check(self, label: str, found: Ends) -> Check:
        """Judge what `run` returned."""
        checked = self.work.check(label, "ends", found)
        if checked.passed and self._found is None:
            self._found = found
        return checked

    def estimate(self, engine: Engine3, limit: float) -> float:
        """Tell from the first letters."""

        def part(cells: float) -> tuple[Callable[[], object], int]:
            length = min(self._length, max(1, round(cells ** (1 / 3))))
            some = Batch.of([[word[:length] for word in self.work.triples[0]]])
            return partial(engine.ends, some), some.cells

        return _estimate(part, self.cells, limit)

    def beside(self) -> list[CompetitorRun]:
        """Return the C code on one core: a triple is not divided."""
        if self.judges.refused:
            return []
        return [CompetitorRun(cpu3.NAME, 1, self._code)]

    def _code(self, passed: Entry | None, budget: float) -> dict[str, Any]:
        """Measure it, judged by an engine, or if none was right by the reference as it was."""
        judged = Check(**(self.judges.check or {}))

        def check(found: npt.NDArray[np.int32]) -> Check:
            if passed is None or self._found is None:
                return judged
            expected = triples.cells_of(self._found)
            return pairs.both(compare(found, expected, passed.label), judged)

        timed = measure(
            lambda: cpu3.best(self.scoring, self.work.triples),
            check,
            cells=self.cells,
            budget=budget,
        )
        seconds = timed.wall and timed.wall.median
        more = {"version": cpu3.compiler(), "function": None, "pairs": 1, "scaled": False}
        return {**timed.as_dict(), **more, "seconds": seconds}


WORKLOADS: Mapping[str, Callable[[int, Device], Workload]] = {
    "search": Search,
    "pairs": Pairs,
    "long": Long,
    "three": Three,
}

NAMES = tuple(dict.fromkeys((*ENGINES, *ENGINES3, *FORMS, triples.GPUI)))


def _entries(*names: str) -> list[Entry]:
    return [Entry(name, (name,), ENGINES[name]) for name in names]


def _cells(ends: Ends) -> Found:
    return pairs.cells_of(ends).astype(np.int32)


def _scores(found: Found) -> npt.NDArray[np.int32]:
    """Return the scores of results, shape (N,) or (N, 3)."""
    return found if found.ndim == 1 else found[:, 0]


def _estimate(
    part: Callable[[float], tuple[Callable[[], object], int]], cells: int, limit: float
) -> float:
    """Return about how many seconds all cells take, from those of parts.

    A small part keeps no device busy, and is thought to be slower than it is; so a larger one is
    tried while it seems to exceed ``limit``, until it takes more than an eighth of that.
    """
    size = max(PROBE / 16, cells / 4096)
    while True:
        run, there = part(size)
        run()  # compiles
        start = time.perf_counter()
        run()
        seconds = time.perf_counter() - start
        whole = seconds * cells / max(1, there)
        if there >= cells or whole <= limit or seconds > limit / 8:
            return whole
        size *= 8


# runs


@dataclass
class Clock:
    """Divides what is left of the budget among what is left to do."""

    end: float
    left: int

    def __post_init__(self) -> None:
        self.least = LEAST * self._equal()

    def _equal(self) -> float:
        return max(0.0, self.end - time.perf_counter()) / max(1, self.left)

    def share(self) -> float:
        """Return the seconds of the next one."""
        share = max(self.least, self._equal())
        self.left -= 1
        return share


@dataclass
class Runner:
    """Measures the engines and the programs of others on workloads, and keeps the results."""

    device: Device
    engines: Sequence[str]
    meter: EnergyMeter | None
    keep: Callable[[dict[str, Any]], None]
    warm: bool = field(default=False)

    def measured(self, work: Workload, end: float, energy: float) -> None:
        """Measure all on one workload until about ``end``."""
        entries = [each for each in work.entries() if each.asked(self.engines)]
        if not entries:
            print(f"\n{work.name}: none of these engines")
            return
        refused: str | None = None
        try:
            work.prepare()
        except _FAILURES as error:
            refused = f"not judged: {_reason(error)}"
        print(f"\n{_described(work)}\n{HEADING}", flush=True)
        others = [] if refused else work.beside()
        clock = Clock(end - (1.5 * energy if self.meter else 0), len(entries) + len(others))
        passed: list[tuple[float, Entry, dict[str, Any]]] = []
        self.warm = False
        for entry in entries:
            result = self._row(work, entry.label)
            why = refused or entry.refused(self.device)
            share = clock.share()
            result |= _not_run(work, why) if why else self._engine(work, entry, share)
            gc.collect()  # the next engine needs the buffers of this one
            if result["gcups"]:
                passed.append((result["gcups"], entry, result))
            self._done(result)
        first = passed[0][1] if passed else None
        metered = [
            each
            for each in passed
            if each[1].kind.capabilities.requires or self.device.info.software
        ]
        if metered and self.meter:
            _, entry, result = max(metered, key=lambda each: each[0])
            result["energy"] = self._energy(work, entry, energy)
            _print_energy(result)
        for other in others:
            result = self._row(work, other.label, other.cores)
            try:
                result |= other.measured(first, clock.share())
            except (*_FAILURES, OSError, RuntimeError) as error:
                result |= _not_run(work, _reason(error))
            self._done(result)

    def _engine(self, work: Workload, entry: Entry, share: float) -> dict[str, Any]:
        """Measure an engine, or say why not."""
        on = self.device if entry.kind.capabilities.requires else None
        seconds = None
        try:
            engine = entry.made(work.scoring, self.device)
            if work.cells <= PROBE:
                work.run(engine)  # compiles
            else:
                longest = max(PATIENCE * share, SHORT)
                seconds = work.estimate(engine, longest)
                if seconds > longest:
                    return _not_run(work, f"about {seconds:.2g} s", seconds)
            timed = measure(
                partial(work.run, engine),
                partial(work.check, entry.label),
                cells=work.cells,
                device=on,
                budget=share,
                warm_up=AGAIN if self.warm and on and not on.info.software else None,
            )
        except _FAILURES as error:
            return _not_run(work, _reason(error), seconds)
        self.warm |= on is not None
        memory, used = engine.memory_used or None, getattr(engine, "label", entry.kind.name)
        return {**timed.as_dict(), "memory": memory, "used": used, "estimate": seconds}

    def _energy(self, work: Workload, entry: Entry, seconds: float) -> dict[str, Any] | None:
        """Measure the energy of an engine whose result was right."""
        assert self.meter
        try:
            engine = entry.made(work.scoring, self.device)
            if not work.check(entry.label, work.run(engine)).passed:
                return None
            found = self.meter.measure(partial(work.run, engine), seconds)
        except _FAILURES:
            return None
        return found.as_dict(work.cells) if found else None

    def _row(self, work: Workload, label: str, cores: int | None = None) -> dict[str, Any]:
        who = {"engine": label, "peer": cores is not None, "cores": cores, "refused": None}
        return {**work.facts, **who, "memory": None, "energy": None}

    def _done(self, result: dict[str, Any]) -> None:
        _print_row(result)
        self.keep(result)


def _not_run(work: Workload, why: str, estimate: float | None = None) -> dict[str, Any]:
    nothing = dict.fromkeys(("check", "wall", "device", "gcups"))
    return {**nothing, "cells": work.cells, "refused": why, "estimate": estimate}


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 2 if the input cannot be used."""
    arguments = _parser().parse_args(argv)
    try:
        return _run(arguments)
    except (OSError, ValueError, ImportError, DeviceError, ShaderError) as error:
        print(f"bench.engines: {error}", file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace) -> int:
    start = time.perf_counter()
    device = open_device(arguments.device, require=(3, 3))
    size = size_for(device) if arguments.size == "auto" else arguments.size
    energy = not device.info.software if arguments.energy is None else arguments.energy
    meter = meter_for(device) if energy else None
    settings = {
        "size": size,
        "asked": arguments.size,
        "sizes": {name: SIZES[size][name] for name in arguments.workloads},
        "words": {name: WORDS[name] for name in arguments.workloads},
        "workloads": arguments.workloads,
        "engines": arguments.engines,
        "budget": arguments.budget,
        "energy": energy,
        "meter": meter and meter.tool,
    }
    print(f"all engines on {device.info.name}, size {size}")
    results: list[dict[str, Any]] = []

    def save() -> None:
        if arguments.output:
            document = report("engines", device, settings, results, commit=arguments.commit)
            write(arguments.output, document)

    def keep(result: dict[str, Any]) -> None:
        results.append(result)
        save()

    save()
    runner = Runner(device, arguments.engines, meter, keep)
    count = len(arguments.workloads)
    for k, name in enumerate(arguments.workloads, 1):
        end = start + arguments.budget * k / count
        runner.measured(
            WORKLOADS[name](SIZES[size][name], device),
            end,
            min(ENERGY, arguments.budget / count / 8),
        )
        save()
    print("\n~: by its rate on a part; device: by the device's own clock, with the gaps between")
    return tell_wrong(results)


def size_for(device: Device) -> str:
    """Return the size for a device, from the rate of the engine `auto` with a few pairs."""
    software = device.info.software
    for count, length, least, size in ((16, 128, SLOW, "tiny"), (256, LENGTH, FAST, "small")):
        if size == "small" and software:
            return "small"
        batch = Batch.pairwise(*(workloads.dna([length] * count, seed) for seed in (1, 2)))
        engine = Auto(Pairs.scoring, device)
        engine.ends(batch)  # compiles
        start = time.perf_counter()
        engine.ends(batch)
        if batch.cells / (time.perf_counter() - start) < least:
            return size
    return "large"


def tell_wrong(results: Sequence[Mapping[str, Any]]) -> int:
    """Say on stderr what was wrong; return the exit status."""
    status = 0
    for result in results:
        check = result["check"]
        if check and result["wall"] is None:
            status = 1
            print(
                f"WRONG: {result['workload']}, {_named(result)}: {check['wrong']} of "
                f"{check['pairs']} differ from {check['judge']}; {check['first']}",
                file=sys.stderr,
            )
    return status


# tables

HEADING = f"{'':<26}{'wall ms':>12}{'device ms':>12}{'GCUPS':>10}{'spread':>8}{'MiB':>9}"


def _described(work: Workload) -> str:
    what = {
        "search": f"{QUERY} x {work.count:,} proteins",
        "pairs": f"{work.count:,} pairs of {LENGTH} x {LENGTH}",
        "long": " x ".join(f"{length:,}" for length in work.lengths),
        "three": " x ".join(map(str, work.lengths)),
    }[work.name]
    asked = {"scores": "scores", "ends": "scores and ends"}[work.task]
    return f"{work.name}: {what}, {work.scoring_name}: {asked}, {work.cells:,} cells"


def _named(result: Mapping[str, Any]) -> str:
    if not result["peer"]:
        return str(result["engine"])
    count = result["cores"]
    return f"{result['engine']}, {count} core{'s' if count > 1 else ''}"


def _print_row(result: Mapping[str, Any]) -> None:
    name, wall = _named(result), result["wall"]
    if result["refused"]:
        print(f"{name:<26}  -: {result['refused']}", flush=True)
        return
    if wall is None:
        print(f"{name:<26}{'WRONG':>12}", flush=True)
        return
    seconds, mark = wall["median"], ""
    if result.get("scaled"):
        seconds, mark = result["seconds"], "~"
    clock, spread, memory = result["device"], wall["spread"], result["memory"]
    print(
        f"{name:<26}{mark + format(seconds * 1e3, '.4g'):>12}"
        + (f"{clock['median'] * 1e3:>12.4g}" if clock else f"{'-':>12}")
        + f"{result['gcups']:>10.3g}"
        + (f"{'-':>8}" if spread is None else f"{spread * 100:>7.1f}%")
        + (f"{memory / 2**20:>9.1f}" if memory else f"{'-':>9}"),
        flush=True,
    )


def _print_energy(result: Mapping[str, Any]) -> None:
    found = result["energy"]
    if found:
        idle = "" if found["idle_watts"] is None else f" ({found['idle_watts']:.0f} W before)"
        print(
            f"  {result['engine']}: {found['picojoules_per_cell']:.3g} pJ a cell, "
            f"{found['watts']:.0f} W{idle}, by {found['tool']}",
            flush=True,
        )


def _parser() -> argparse.ArgumentParser:
    parser = options.parser(
        "engines",
        (__doc__ or "").splitlines()[0],
        60,
        "about this long in all (default 60); what is run is run twice at least, what would take "
        "too long is left out",
    )
    parser.add_argument(
        "--workloads",
        type=options.choices(WORKLOADS),
        default=list(WORKLOADS),
        metavar="NAME,...",
        help=f"of {', '.join(WORKLOADS)} (default all)",
    )
    parser.add_argument(
        "--engines",
        type=options.choices(NAMES),
        default=list(NAMES),
        metavar="NAME,...",
        help=f"of {', '.join(NAMES)} (default all)",
    )
    parser.add_argument(
        "--size",
        choices=[*SIZES, "auto"],
        default="auto",
        help="of the work; auto: by what the device does with a few pairs (default)",
    )
    parser.add_argument(
        "--energy",
        action=argparse.BooleanOptionalAction,
        help="measure the energy of the fastest engine of each workload where a tool tells it "
        "(default: with hardware)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
