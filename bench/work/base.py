"""What is measured: a workload yields cases; a case is who does the work, and becomes a row.

At the end parts of a work: those from which an engine's time is estimated, and those of other
programs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from bench import data
from bench.measure import Check, Measurement, compare, measure, second_run
from bench.programs import Competitor, Scores, mode_of
from glsw import Batch, Device, DeviceError, Scoring3, ShaderError
from glsw.engines import ENGINES, engine_of
from glsw.wings.three.engines import Engine3, engine3_of

PROBE, TRIAL = 2**20, 1e7
"""Cells up to which nothing is too long; that another program always does, to tell its speed."""
CANNOT = (ValueError, DeviceError, ShaderError, MemoryError)
"""What an engine raises when it cannot do some work."""

SIZES = ("tiny", "small", "medium", "large", "full")
"""Classes of sizes: for less than 10 million cells per second; llvmpipe and slow devices; a GPU of
a laptop; a card; the sizes of the papers."""


@dataclass
class Run:
    """Work that is ready to be timed, and what judges its result."""

    run: Callable[[], Any]
    check: Callable[[Any], Check]
    cells: int  # of what is timed
    estimate: Callable[[float], float] | None = None
    """Returns about how many seconds it takes, given the limit above which it is left out."""
    whole: int = 0  # cells of the whole work, if they are more
    facts: Callable[[], Mapping[str, Any]] = dict
    """Called after the runs: fields of the row that are known then, such as memory."""
    close: Callable[[], None] = lambda: None


Start: TypeAlias = Callable[[float], Run | Measurement]  # of what measures itself


@dataclass(frozen=True)
class Case:
    """Who does a work, and how: the fields that tell its row from others, and what starts it.

    ``start`` prepares the work for about this number of seconds. It raises what is in `CANNOT`,
    OSError or RuntimeError with the reason why it cannot be done.
    """

    program: str
    start: Start
    task: str = "scores"
    scoring: str | None = None
    number: str | None = None
    sizes: Sequence[int] = ()
    count: int | None = None
    options: str | None = None
    cores: int | None = None
    ours: bool = True
    version: str | None = None
    device: Device | None = None  # whose clock is read, and which is warmed up
    metered: bool = False  # its energy may be measured
    grace: float = 0.0  # seconds that it may take besides its share, for files and commands

    def fields(self) -> dict[str, Any]:
        names = ("program", "ours", "version", "task", "scoring", "number", "count", "options")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        found["sizes"] = [round(size) for size in self.sizes]
        return found | {"cores": self.cores}


@dataclass(frozen=True)
class Setup:
    device: Device
    size: str  # of `SIZES`
    engines: Sequence[str] | None  # those that were asked for
    rivals: Mapping[str, Any]  # the other programs that are here, see `bench.rivals`
    data: Path | None  # folder of real sequences
    devices: Sequence[int]  # to be compared with the first of them
    cores: int
    folder: Path

    @property
    def software(self) -> bool:
        return self.device.info.software

    def wants(self, engine: str) -> bool:
        return self.engines is None or engine in self.engines

    def file(self, name: str) -> Path:
        """Return a file of the folder of data, at any depth; raise ValueError without."""
        for path in sorted(self.data.rglob(name)) if self.data else ():
            return path
        raise ValueError(f"{name} is not in the folder of data (--data)")


def named(scoring: Any) -> str:
    """Return a scoring of pairs or triples as rows have it."""
    if isinstance(scoring, Scoring3):
        scheme = scoring.scheme if scoring.scheme == "identity" else "sum of pairs"
        return f"{scheme} {named(scoring.pairs).removeprefix('DNA ')}"
    kinds = scoring.match_and_mismatch
    name = f"DNA {kinds[0]}/{kinds[1]}" if kinds else scoring.name
    mode = "" if scoring.local else f", {mode_of(scoring)}"
    return f"{name}, gaps {scoring.gap_open}, {scoring.gap_extend}{mode}"


def require(device: Device, needs: Sequence[int] | None) -> None:
    """Raise ValueError where the device has an older OpenGL than this."""
    if needs is not None and not device.info.offers((needs[0], needs[1])):
        has = device.info.gl
        raise ValueError("needs OpenGL {}.{}, the device has {}".format(*needs, has))


TABLE: Mapping[str, Mapping[str, Any]] = data("work/workloads.json")
CLASSES: dict[str, type[Workload]] = {}


class Workload(ABC):
    """Work of some size, who can do it, and who says what is right.

    Its name is the one on the command line and in rows; workloads.json has the rest: what it is in
    about ten words, and for a stranger who looks at the picture of a report; its share of the
    seconds of a suite (0: only if it is asked for), the OpenGL that it needs, its sizes by class of
    sizes, or which other workload it is like.
    """

    name: ClassVar[str]
    text: ClassVar[str]
    weight: ClassVar[float]
    requires: ClassVar[Sequence[int]] = (3, 3)
    sizes: ClassVar[Mapping[str, Mapping[str, Any]]]

    def __init_subclass__(cls, called: str) -> None:
        cls.name, CLASSES[called] = called, cls
        for key, value in TABLE[called].items():
            setattr(cls, key, value)

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.device = setup.device

    @classmethod
    def described(cls) -> str:
        """Return what it is, with words instead of sizes."""
        return cls.text.replace("{count:,}", "many").replace("{0:,}", "M").replace("{1:,}", "N")

    def chosen(self, name: str) -> Any:
        """Return this one of its sizes; what the class lacks is as in the next smaller class."""
        smaller = SIZES[: SIZES.index(self.setup.size) + 1]
        return [self.sizes[name][size] for size in smaller if size in self.sizes[name]][-1]

    @abstractmethod
    def cases(self) -> Iterable[Case]:
        """Yield the cases; making data is left to `Case.start`."""


@dataclass(frozen=True)
class Entry:
    """An engine with its options; ``made_by`` is its class if `ENGINES` does not have it."""

    label: str  # begins with the name of the engine
    words: Mapping[str, Any] = field(default_factory=dict)
    options: str | None = None
    made_by: Any = None

    @property
    def engine(self) -> str:
        return self.label.partition(" ")[0].rstrip(",")

    @property
    def kind(self) -> Any:
        return self.made_by or ENGINES[self.engine]

    def made(self, scoring: Any, device: Device) -> Any:
        require(device, self.kind.capabilities.requires)
        make: Any = engine3_of if issubclass(self.kind, Engine3) else engine_of
        return make(self.kind, scoring, device, **self.words)

    def case(self, device: Device, start: Start, **fields: Any) -> Case:
        on = device if self.kind.capabilities.requires else None
        own: dict[str, Any] = {"number": self.words.get("number"), "options": self.options}
        return Case(self.label, start, device=on, metered=on is not None, **own | fields)


def lanes(number: str) -> Entry:
    return Entry(f"lanes {number}", {"number": number})


def engines_for(workload: Any, *without: str) -> list[Entry]:
    """Return the engines that declare a workload."""
    return [
        Entry(name)
        for name, kind in ENGINES.items()
        if workload in kind.capabilities.workloads and name not in without
    ]


def facts_of(engine: Any) -> Callable[[], dict[str, Any]]:
    """Return what tells the memory of an engine, and what it has chosen, after its runs."""
    return lambda: {
        "memory": engine.memory_used or None,
        "note": engine.label if engine.label.startswith("auto: ") else None,
    }


def portion(batch: Batch, cells: float) -> Any:
    """Return the indices of evenly spaced pairs, at least one, with about this number of cells."""
    step = max(1, -(-batch.cells // max(1, int(cells))))
    return np.arange(step // 2 if step < len(batch) else 0, len(batch), step)


def start_of(batch: Batch, cells: float) -> Batch:
    """Return the starts of the sequences of a pair or triple, of at most about so many cells."""
    if batch.cells <= cells:
        return batch
    length = max(1, int(cells ** (1 / batch.k)))
    return Batch.of([[sequence[:length] for sequence in batch[0]]])


def spread(count: int, some: int) -> list[int]:
    """Return ``some`` of ``count`` indices, evenly spaced from first to last; one: the middle."""
    if some == 1:
        return [count // 2]
    return sorted({round(k) for k in np.linspace(0, count - 1, min(some, count))})


def estimated(run: Callable[[Batch], object], batch: Batch) -> Callable[[float], float] | None:
    """Return what tells the seconds of a batch; None for few cells."""
    if batch.cells <= PROBE:
        return None
    return partial(_seconds_of_one if len(batch) == 1 else _seconds_of_many, run, batch)


def _seconds_of_many(run: Callable[[Batch], object], batch: Batch, limit: float) -> float:
    """Return about how many seconds a batch takes, from the time of some of its pairs.

    A small part cannot keep every engine busy, which then seems slower than it is. So larger ones
    are tried while the whole seems to exceed ``limit``, until a part takes more than an eighth of
    that.
    """
    cells = max(PROBE / 16, batch.cells / 4096)
    while True:
        part = batch.select(portion(batch, cells))
        seconds = second_run(partial(run, part))
        whole = seconds * batch.cells / max(1, part.cells)
        if part.cells >= batch.cells or whole <= limit or seconds > limit / 8:
            return whole
        cells *= 8


def _seconds_of_one(run: Callable[[Batch], object], batch: Batch, limit: float) -> float:
    """Return about how many seconds a pair or triple takes, from its first eighths and quarters."""
    most = float(2**batch.k)
    eighth = second_run(partial(run, start_of(batch, batch.cells / most**3)))
    if 8 * eighth > limit:
        return 8 * eighth
    quarter = second_run(partial(run, start_of(batch, batch.cells / most**2)))
    return quarter * min(most, max(2.0, quarter / eighth)) ** 2


class Part(NamedTuple):
    """Pairs for another program, their scores, who found these, and the cells of the whole work."""

    batch: Batch
    scores: Scores
    judge: str
    whole: int


Cut: TypeAlias = Callable[[float], Part]  # returns a part with about this number of cells


def rival_cases(
    programs: Iterable[tuple[Competitor, int]], cut: Cut, rates: dict[str, float], **fields: Any
) -> Iterator[Case]:
    """Yield a case for each program and number of cores.

    A program does what it can do three times in its seconds, at least a trial. ``rates`` keeps what
    a program did on one core, which tells what all cores can do.
    """
    for program, cores in programs:
        start = partial(_rival, program, cores, cut, rates)
        name = program.name + (f" {program.function}" if program.shown else "")
        yield Case(name, start, cores=cores or None, ours=False, version=program.version, **fields)


def _rival(
    program: Competitor, cores: int, cut: Cut, rates: dict[str, float], seconds: float
) -> Run:
    def start(cells: float) -> Run:
        part, stack = cut(cells), ExitStack()
        scores = stack.enter_context(program.prepared(part.batch))
        check = partial(compare, expected=program.listed(part.scores), judge=part.judge)
        run = Run(scores, check, part.batch.cells, whole=part.whole)
        run.facts = lambda: {"note": None if program.shown else program.function}
        run.close = stack.close
        return run

    few, name = TRIAL * (cores or 100), f"{program.name} {program.function}"
    if name not in rates:  # a GPU is fast with much work only
        with closing(start(few)) as trial:
            found = measure(trial.run, trial.check, cells=trial.cells, budget=0.0)
        rates[name] = (found.rate or 1.0) / max(1, cores)
    return start(max(few, rates[name] * max(1, cores) * seconds / 3))
