"""Three sequences: words of a recording and proteins, engines on them, and who judges these."""

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import cpu3, generated
from bench.machine import cores
from bench.measure import Check, both, compare
from bench.row import digest
from bench.work.alignments import Right, Work, cells_of
from bench.work.base import Case, Entry, Run, Setup, Workload, estimated
from glsw import PROTEIN, Aligner3, Batch, Ends, Scoring, Scoring3, Sequences
from glsw.device.device import Device
from glsw.wings.series import readers, sax
from glsw.wings.three.engines import ENGINES3, Reference3, Subtable
from glsw.wings.three.engines.tiles import TileShape

LETTERS, TRIPLES = 8, 2024  # different ones in words of a recording; triples of 24 channels
TRIED = 60  # small triples of each scoring on which the C code is judged
RATES = {True: 2e7, False: 0.8e7}
"""Cells per second of the reference, with linear gaps or not; a core of the C code has 10 times."""


class Gpui(Subtable):
    """The engine `subtable` with the sub-tables of Sudo et al. 2012."""

    name = "gpui"

    def __init__(self, scoring: Scoring3, device: Device | None = None) -> None:
        super().__init__(scoring, device, shape=TileShape(4, 8, 8, deep=4))


def entry(name: str) -> Entry:
    """Return an engine of three sequences."""
    return Entry(name, made_by=Gpui if name == Gpui.name else ENGINES3[name])


SCORINGS = {
    "identity": Scoring3.identity(1, -1, 1, alphabet=sax.alphabet(LETTERS)),
    "identity, affine": Scoring3.identity(1, -1, 2, 1, alphabet=sax.alphabet(LETTERS)),
    "sum of pairs": Scoring3.sum_of_pairs(Scoring.named("BLOSUM62", 8, 8)),
    "sum of pairs, affine": Scoring3.sum_of_pairs(Scoring.blast("BLOSUM62", 11, 1)),
}


def made(setup: Setup, scoring: Scoring3, lengths: Sequence[int], *, every: bool) -> Batch:
    """Return one triple of these lengths, or all of the channels as words of the first length.

    A word has the first samples of a channel, a letter each as in the paper; proteins are
    relatives. Without a recording in the folder of data one is generated.
    """
    found = sorted(setup.data.rglob("fnirsr*24Ch*.csv")) if setup.data else []
    values = readers.read(found[0]).values if found else recording()
    if not every and (values.shape[1] < max(lengths) or len(values) < 3):
        values = recording(samples=max(lengths))
    sizes = [lengths[0]] * len(values) if every else lengths
    if scoring.alphabet is PROTEIN:
        (protein,) = generated.proteins([max(sizes)])
        words = generated.relatives(Sequences.of(protein[:size] for size in sizes), 20)
    else:
        channels = zip(values, sizes, strict=False)
        words = Sequences.of(sax.sax_codes(v[:size], size, LETTERS) for v, size in channels)
    return Batch.combinations(words, 3) if every else Batch.of([[*words]])


def recording(channels: int = 24, samples: int = 4096, seed: int = 2012) -> npt.NDArray[np.float64]:
    """Return walks, waves and noise like blood flow at 10 Hz, shape (channels, samples)."""
    random = np.random.default_rng(seed)
    width = 20  # two seconds
    steps = random.standard_normal((channels + 1, samples + width - 1))
    smooth = np.stack([np.convolve(each, np.full(width, 1 / width), "valid") for each in steps])
    walks = smooth.cumsum(axis=1)
    seconds = np.arange(samples) / 10
    phases = random.uniform(0, 2 * np.pi, (channels, 1))
    waves = np.sin(2 * np.pi * random.uniform(0.08, 0.12, (channels, 1)) * seconds + phases)
    values: npt.NDArray[np.float64] = (
        walks[0] + walks[1:] + waves + 0.1 * random.standard_normal((channels, samples))
    )
    return values


@cache
def tried() -> tuple[str | None, Check]:
    """Return why there is no C code, None if there is, and how it did on small triples."""
    random, checks = np.random.default_rng(3), []
    if why := cpu3.refused():
        return why, Check("nobody", 0, 0)
    for scoring in SCORINGS.values():
        letters = 2, min(20, len(scoring.alphabet))
        triples = Batch.of(
            [random.integers(0, letters[t % 2], n, np.uint8) for n in random.integers(0, 16, 3)]
            for t in range(TRIED)
        )
        found, expected = cpu3.best(scoring, triples), Reference3(scoring).ends(triples)
        checks.append(compare(found, cells_of(expected), Reference3.name))
    check = reduce(both, checks)
    return None if check.passed else f"the C code is wrong: {check.first}", check


class TripleWork(Work):
    """One triple, or all of a recording; judged by the C code, the reference or another engine."""

    def __init__(
        self, setup: Setup, scheme: str, lengths: Sequence[int], *, every: bool = False
    ) -> None:
        scoring = SCORINGS[scheme]
        make = partial(made, setup, scoring, lengths, every=every)
        super().__init__(setup, scoring, make, sizes=lengths, count=TRIPLES if every else 1)
        self._seconds = 30.0 if setup.size == "full" else 6.0
        self._cells, self._planes = cache(self._find_cells), cache(self._find_planes)

    def code_case(self, task: str) -> Case:
        """Return the case of the C code on one core, judged by the reference on small triples."""
        start = partial(self._code, task)
        return Case(cpu3.NAME, start, task, cores=1, ours=False, **self.fields)

    def _code(self, task: str, seconds: float) -> Run:
        why, check = tried()
        if why:
            raise ValueError(why)
        room: list[Any] = []

        def run(triples: Batch) -> Any:
            if task != "table":
                cells = cpu3.best(self.scoring, triples)
                return Ends(cells[:, 0], cells[:, 1:])
            if not room or room[0].size < (triples.lengths[0] + 1).prod():
                room[:] = [np.empty(triples.lengths[0] + 1, np.int32)]
            return cpu3.table(self.scoring, triples, out=room[0])

        batch = self.batch
        return Run(
            *(partial(run, batch), lambda found: both(self.check("", "", found), check)),
            *(batch.cells, estimated(run, batch)),
            facts=lambda: {"note": cpu3.compiler()},
        )

    def _start(self, entry: Entry, task: str, words: Mapping[str, Any], seconds: float) -> Run:
        if task == "table":
            require_memory(self.batch.cells)
        return super()._start(entry, task, words, seconds)

    def call(self, engine: Any, task: str, batch: Batch, **words: Any) -> Any:
        return filled(engine, task, batch)

    def check(self, name: str, ties: str, found: Any) -> Check:
        if isinstance(found, np.ndarray) and found.ndim == 3:
            judge, expected = self._planes(name == "plane")
            return compare(checksums(found), expected, judge)
        return super().check(name, "conventional", found)

    def right(self, name: str) -> Right:
        return self._cells(name == "plane")

    def _find_cells(self, of_plane: bool) -> Right:
        rate, some = RATES[self.scoring.linear], min(cores(), len(self.batch))
        chosen = self._portion(10 * some * rate)
        if tried()[0] is None and len(chosen):
            part = self.batch.select(chosen)
            return cpu3.NAME, chosen, cpu3.best(self.scoring, part, threads=some)
        chosen, judge = self._portion(rate), "reference"
        if not len(chosen):
            chosen, judge = np.arange(len(self.batch)), "subtable" if of_plane else "plane"
        engine = entry(judge).made(self.scoring, self.setup.device)
        return judge, chosen, cells_of(engine.ends(self.batch.select(chosen)))

    def _find_planes(self, of_plane: bool) -> tuple[str, Any]:
        """Return who judges an engine's table, and the checksum of each plane of it."""
        if tried()[0] is None:
            return cpu3.NAME, checksums(cpu3.table(self.scoring, self.batch))
        judge = "subtable" if of_plane else "plane"
        if self.batch.cells <= self._seconds * RATES[True]:
            judge = "reference"
        engine = entry(judge).made(self.scoring, self.setup.device)
        return judge, checksums(self.call(engine, "table", self.batch))

    def _portion(self, rate: float) -> npt.NDArray[np.intp]:
        """Return evenly spaced triples that can be judged at this rate, none if one is too long."""
        most = len(self.batch)
        count = int(most * min(1.0, self._seconds * rate / max(1, self.batch.cells)))
        return np.unique(np.linspace(0, most - 1, count).round()).astype(np.intp)


def filled(engine: Any, task: str, batch: Batch) -> Any:
    """Return what an engine finds, of task ``table`` the whole table of a triple."""
    return next(iter(engine.tables(batch))) if task == "table" else getattr(engine, task)(batch)


def require_memory(cells: int) -> None:
    """Raise ValueError where a table does not fit the memory of the host several times over."""
    path = Path("/proc/meminfo")
    found = re.search(r"MemAvailable: *(\d+)", path.read_text() if path.exists() else "")
    free = int(found[1]) << 10 if found else 0
    if cells > 512**3 and 24 * cells > free:
        raise ValueError(f"the table needs {-(-24 * cells >> 30)} GiB, {free >> 30} are free")


def checksums(table: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the CRC-32 of each plane of a table, shape (l,), so that no second one is kept."""
    planes = (zlib.crc32(plane.tobytes()) for plane in table)
    return np.fromiter(planes, np.int64, len(table))


ENGINES = ("subtable", Gpui.name, "plane")


class Three(Workload, called="three"):
    """Three sequences: score and end, by all engines."""

    tasks: Sequence[str] = ("ends",)

    def cases(self) -> Iterator[Case]:
        for length in self.chosen("length"):
            work = TripleWork(self.setup, "identity", [length] * 3)
            for task in self.tasks:
                for name in filter(self.setup.wants, ENGINES):
                    yield work.case(entry(name), task)
                yield work.code_case(task)


class Sudo2012(Three, called="sudo2012"):
    """Sudo et al. 2012, figures 12 and 13: tables and ends by length; two devices."""

    tasks = ("table", "ends")

    def cases(self) -> Iterator[Case]:
        yield from super().cases()
        devices, lengths = self.setup.devices, [self.chosen("length")[-1] // 4] * 3
        for some in (devices[:1], devices) if len(devices) > 1 else ():
            work = TripleWork(self.setup, "identity", lengths, every=True)
            words = f"all triples of 24 channels on devices {','.join(map(str, some))}"
            fields = {**work.fields, "count": len(some), "options": words, "grace": 60.0}
            yield Case("subtable", partial(self._shared, some, work), "ends, devices", **fields)

    def _shared(self, devices: Sequence[int], work: TripleWork, seconds: float) -> Run:
        """Return the triples, which devices share; each has its process, as for users."""
        aligner = Aligner3(work.scoring, engine="subtable", device=list(devices))
        check, facts = partial(work.check, "subtable", ""), {"shaders": {"*": digest("*")}}
        run, cells = partial(aligner.ends, work.batch), work.batch.cells
        return Run(run, check, cells, facts=lambda: facts, close=aligner.close)


class ThreeLarge(Workload, called="three-large"):
    """Beyond the paper: large tables, alignments, all triples of 24 channels, other scorings."""

    def cases(self) -> Iterator[Case]:
        n, word = self.chosen("length")
        full, engine = self.setup.size == "full", entry("subtable")
        alone = Entry("subtable, no polling", {"polling": False}, made_by=ENGINES3["subtable"])
        for scheme in SCORINGS if full else ("identity", "sum of pairs, affine"):
            for lengths in ((n, n, n), (2 * n, 2 * n, 2 * n), (8 * n, n, n)):
                work = TripleWork(self.setup, scheme, lengths)
                yield work.case(engine, "ends")
                if lengths == (n, n, n) and not self.device.info.software:
                    yield work.case(alone, "ends")
                if n in lengths:
                    yield work.case(engine, "paths")
            yield TripleWork(self.setup, scheme, [word] * 3, every=True).case(engine, "ends")
