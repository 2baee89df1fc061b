"""The workloads of `bench.engines`: engines that can do them, judges, other programs.

Four of them: the scores of a protein with a database, scores and ends of many short pairs of DNA,
of one long pair, and of three sequences.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench import competitors, pairs, search_work, triples, workloads
from bench.machine import cores
from bench.measure import Check, compare, estimate, second_run
from bench.pairs import Found, cells_of, engines_made_for
from bench.programs import Competitor, Method, ParasailPairs
from bench.search_work import ScoreJudge, Targets
from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines import ENGINES, Engine, engine_of
from glsw.engines.base import Workload as WorkloadName
from glsw.engines.three import ENGINES3, Engine3
from glsw.rows import best_end
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

QUERY, LENGTH = 375, 512
"""Residues of the query of `Search`, and letters of each sequence of `Pairs`."""

PROBE = 2**20
"""Cells up to which nothing is too long."""

SAMPLE = {"search": 3e7, "pairs": 1.5e6}
"""Cells that are judged by others than engines."""


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
    """Another program, and what measures it.

    ``measured`` gets the first engine that was right and a budget in seconds.
    """

    label: str
    cores: int
    measured: Callable[[Entry | None, float], dict[str, Any]]


class PairJudge(ScoreJudge):
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
    def competitors(self) -> list[CompetitorRun]:
        """Return the other programs that can do it."""

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
    judge: PairJudge | ScoreJudge

    def __init__(self, device: Device, batch: Batch, lengths: list[int]) -> None:
        super().__init__(device)
        self.batch, self.lengths = batch, lengths
        self.count, self.cells = len(batch), batch.cells

    def run(self, engine: Engine) -> Found:
        """Return the scores, or scores and ends."""
        return self.of(engine, self.batch)

    def of(self, engine: Engine, batch: Batch) -> Found:
        """Do so for other pairs."""
        return cells_of(engine.ends(batch)).astype(np.int32)

    def check(self, label: str, found: Found) -> Check:
        """Judge what `run` returned."""
        return self.judge.judge(found, label)

    def estimate(self, engine: Engine, limit: float) -> float:
        """Tell from evenly spaced pairs."""

        def part(cells: float) -> tuple[Callable[[], object], int]:
            some = self.batch.select(competitors.portion(self.batch, cells))
            return partial(self.of, engine, some), some.cells

        return estimated(part, self.cells, limit)

    def competitors(self) -> list[CompetitorRun]:
        """Return the programs here that know the scoring, on one core and on all."""
        rates: dict[str, float] = {}
        return [
            CompetitorRun(peer.name, count, partial(self._measured, peer, count, rates))
            for count in sorted({1, cores()})
            for peer in self.programs(count)
        ]

    def programs(self, count: int) -> list[Competitor]:
        """Return other programs on this number of cores."""
        return competitors.of_pairs(self.scoring, count)

    def _measured(
        self,
        peer: Competitor,
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
        """Return pairs of about this number of cells, and their scores."""
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
        self.query = search_work.Query(f"generated {QUERY}", workloads.queries([QUERY])[0])
        made = workloads.many(workloads.swissprot_lengths(proteins))
        planted = workloads.plant(made, Sequences.of([self.query.codes]))
        self.targets = Targets("lengths of Swiss-Prot", "swissprot", made, planted)
        super().__init__(device, Batch.one_to_many(self.query.codes, made), [QUERY])

    def entries(self) -> list[Entry]:
        """Return the engines, `lanes` in each of its numbers."""
        numbers = ["int32", "f16"] if self.device.info.half else ["int32"]
        lanes = [
            Entry(f"lanes {each}", ("lanes",), ENGINES["lanes"], {"number": each})
            for each in numbers
        ]
        return lanes + _entries("search", without="lanes")

    def prepare(self) -> None:
        """Have a sample judged by parasail or the reference."""
        self.judge = ScoreJudge(self.query, self.targets, SAMPLE["search"])

    def run(self, engine: Engine) -> Found:
        """Return all scores; the database stays on the device from one run to the next."""
        query = Sequences.of([self.query.codes])
        found = list(engine.scan(query, self.targets.parts(engine.part)))
        scores: Found = np.concatenate(found, axis=1)[0]
        return scores

    def of(self, engine: Engine, batch: Batch) -> Found:
        """Return scores."""
        return engine.scores(batch)

    def programs(self, count: int) -> list[Competitor]:
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
        return _entries("pairs")

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
        super().__init__(device, workloads.unrelated_pair(length), [length, length])

    def entries(self) -> list[Entry]:
        """Return the engines, `scan` in each of its forms."""
        scans = [
            Entry(f"scan {form}", ("scan", form), ENGINES["scan"], {"form": form})
            for form in pairs.SCAN_FORMS
        ]
        return [*_entries("long pairs", without="scan"), *scans]

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
            seconds.append(second_run(partial(engine.ends, part)))
            if 8 * seconds[0] > limit:
                return 8 * seconds[0]
        return seconds[1] * min(4.0, max(2.0, seconds[1] / seconds[0])) ** 2

    def competitors(self) -> list[CompetitorRun]:
        """Return parasail on one core, a cell at a time and with SIMD: a pair is not divided."""
        if not ParasailPairs.available(self.scoring):
            return []
        methods: tuple[Method, ...] = ("plain", "simd")
        rates: dict[str, float] = {}
        return [
            CompetitorRun(f"{peer.name} {method}", 1, run)
            for method in methods
            for peer in [ParasailPairs(self.scoring, method)]
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


NAMES = tuple(dict.fromkeys((*ENGINES, *ENGINES3, *pairs.SCAN_FORMS, triples.GPUI)))


def _entries(workload: WorkloadName, without: str = "") -> list[Entry]:
    """Return the engines that are made for a workload."""
    made = engines_made_for(workload)
    return [Entry(name, (name,), ENGINES[name]) for name in made if name != without]


def _scores(found: Found) -> npt.NDArray[np.int32]:
    """Return the scores of results, shape (N,) or (N, 3)."""
    return found if found.ndim == 1 else found[:, 0]


def estimated(
    part: Callable[[float], tuple[Callable[[], object], int]], cells: int, limit: float
) -> float:
    """Return about how many seconds all cells take, see `bench.measure.estimate`."""
    return estimate(part, cells, limit, first=max(PROBE / 16, cells / 4096), growth=8)
