"""What is measured: a workload yields cases; a case is who does the work, and becomes a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from bench.measure import Check, Measurement, compare, estimate, measure
from bench.programs import Competitor, Scores
from glsw.batch import Batch
from glsw.device.device import Device, DeviceError
from glsw.device.shader import ShaderError
from glsw.engines import ENGINES, Engine, engine_of
from glsw.paths import Ends

CANNOT = (ValueError, DeviceError, ShaderError, MemoryError)
"""What an engine raises when it cannot do some work."""

SIZES = ("tiny", "small", "medium", "large", "full")
"""Classes of sizes: for less than 10 million cells per second; llvmpipe and slow devices; a GPU of
a laptop; a card; the sizes of the papers."""

PROBE = 2**20
"""Cells up to which nothing is too long."""

TRIAL = 1e7
"""Cells that are always done, from which the speed of another program is estimated."""


@dataclass
class Run:
    """Work that is ready to be timed.

    Attributes
    ----------
    run, check : callable
        The work, and what judges its result.
    cells : int
        Of what is timed.
    estimate : callable, optional
        Returns about how many seconds it takes, given the limit above which it is left out.
    part : float, optional
        Share of the whole work, if it is less.
    facts : callable
        Called after the runs: fields of the row that are known then, such as memory.
    close : callable
    """

    run: Callable[[], Any]
    check: Callable[[Any], Check]
    cells: int
    estimate: Callable[[float], float] | None = None
    part: float | None = None
    facts: Callable[[], Mapping[str, Any]] = dict
    close: Callable[[], None] = lambda: None


@dataclass
class Told:
    """What a program that measures itself has found: the fields of the row."""

    measured: Measurement | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


Start: TypeAlias = Callable[[float], Run | Told]


@dataclass(frozen=True)
class Case:
    """Who does a work, and how: the fields that tell its row from others, and what starts it.

    Attributes
    ----------
    start : callable
        Prepares the work for about this number of seconds. Raises what is in `CANNOT`, OSError or
        RuntimeError with the reason why it cannot be done.
    device : Device, optional
        Whose clock is read, and which is warmed up.
    metered : bool
        Whether its energy may be measured.
    grace : float
        Seconds that it may take besides its share, for files and commands.
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
    device: Device | None = None
    metered: bool = False
    grace: float = 0.0

    def fields(self) -> dict[str, Any]:
        names = ("program", "ours", "version", "task", "scoring", "number", "count", "options")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        found["sizes"] = [round(size) for size in self.sizes]
        return found | {"cores": self.cores}


@dataclass(frozen=True)
class Setup:
    """Where a suite runs.

    Attributes
    ----------
    size : str
        Of `SIZES`.
    engines : list of str or None
        Those that were asked for.
    rivals : mapping
        The other programs that are here, see `bench.rivals`.
    data : Path or None
        Folder of real sequences.
    devices : list of int
        To be compared with the first of them.
    cores : int
    """

    device: Device
    size: str
    engines: Sequence[str] | None
    rivals: Mapping[str, Any]
    data: Path | None
    devices: Sequence[int]
    cores: int
    folder: Path

    @property
    def software(self) -> bool:
        return self.device.info.software

    def chosen(self, sizes: Mapping[str, Any]) -> Any:
        """Return what a table has for this class of sizes, else what the next smaller one has."""
        for name in reversed(SIZES[: SIZES.index(self.size) + 1]):
            if name in sizes:
                return sizes[name]
        return next(iter(sizes.values()))

    def wants(self, *names: str) -> bool:
        return self.engines is None or not set(names).isdisjoint(self.engines)


class Workload(ABC):
    """Work of some size, who can do it, and who says what is right.

    Attributes
    ----------
    name : str
        The word for it on the command line and in rows.
    text : str
        What it is, for tables: about ten words.
    weight : float
        Its share of the seconds of a suite; 0: only if it is asked for.
    requires : (int, int)
        OpenGL version.
    """

    name: ClassVar[str]
    text: ClassVar[str]
    weight: ClassVar[float] = 1.0
    requires: ClassVar[tuple[int, int]] = (3, 3)

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.device = setup.device

    @abstractmethod
    def cases(self) -> Iterable[Case]:
        """Yield the cases; making data is left to `Case.start`."""


@dataclass(frozen=True)
class Entry:
    """An engine with its options."""

    label: str
    engine: str
    words: Mapping[str, Any] = field(default_factory=dict)
    number: str | None = None
    options: str | None = None

    def refused(self, device: Device) -> str | None:
        needs, there = ENGINES[self.engine].capabilities.requires, device.info.version
        if needs is None or there >= needs:
            return None
        return f"needs OpenGL {needs[0]}.{needs[1]}, the device has {there[0]}.{there[1]}"

    def made(self, scoring: Any, device: Device) -> Engine:
        if why := self.refused(device):
            raise ValueError(why)
        words = dict(self.words) | ({"number": self.number} if self.number else {})
        return engine_of(ENGINES[self.engine], scoring, device, **words)

    def case(self, device: Device, start: Start, **fields: Any) -> Case:
        on = device if ENGINES[self.engine].capabilities.requires else None
        own = {"number": self.number, "options": self.options, "metered": on is not None}
        return Case(self.label, start, device=on, **{**own, **fields})


def numbers_of(device: Device, engine: str = "lanes") -> list[Entry]:
    """Return an engine in each of the number types that a device has."""
    numbers = ["f16", "int32"] if device.info.half else ["int32"]
    return [Entry(f"{engine} {number}", engine, number=number) for number in numbers]


def engines_for(workload: Any, *without: str) -> list[Entry]:
    """Return the engines that declare a workload."""
    return [
        Entry(name, name)
        for name, kind in ENGINES.items()
        if workload in kind.capabilities.workloads and name not in without
    ]


def facts_of(engine: Any) -> Callable[[], dict[str, Any]]:
    """Return what tells the memory of an engine, and what it has chosen, after its runs."""
    return lambda: {
        "memory": engine.memory_used or None,
        "note": engine.label if engine.label.startswith("auto: ") else None,
    }


def cells_of(ends: Ends) -> Any:
    """Return score, query_end and target_end of each pair, shape (N, 3)."""
    return np.stack([ends.score, ends.query_end, ends.target_end], axis=1).astype(np.int32)


def estimated(
    part: Callable[[float], tuple[Callable[[], object], int]], cells: int
) -> Callable[[float], float] | None:
    """Return what tells the seconds of all cells, see `bench.measure.estimate`; None for few."""
    if cells <= PROBE:
        return None
    first = max(PROBE / 16, cells / 4096)
    return lambda limit: estimate(part, cells, limit, first)


# other programs

Cut: TypeAlias = Callable[[float], tuple[Batch, Scores]]
"""Given a number of cells, returns a part of the work with about that many, and its scores."""


def rival_cases(
    programs: Iterable[tuple[Competitor, int]],
    cut: Cut,
    cells: Callable[[], int],
    judge: Callable[[], str],
    rates: dict[str, float],
    **fields: Any,
) -> Iterator[Case]:
    """Yield a case for each program and number of cores.

    A program does what it can do three times in its seconds, at least a trial. ``rates`` keeps what
    a program did on one core, which tells what all cores can do.
    """
    for program, cores in programs:
        start = partial(_rival, program, cores, cut, cells, judge, rates)
        name = program.name + (f" {program.function}" if program.shown else "")
        yield Case(name, start, cores=cores or None, ours=False, version=program.version, **fields)


def _rival(
    program: Competitor,
    cores: int,
    cut: Cut,
    cells: Callable[[], int],
    judge: Callable[[], str],
    rates: dict[str, float],
    seconds: float,
) -> Run:
    named = f"{program.name} {program.function}"
    rate = rates.get(named, 0.0) * max(1, cores)
    few = TRIAL * (cores or 100)  # a GPU is fast with much work only
    if not rate:
        batch, scores = cut(few)
        with program.prepared(batch) as work:
            check = partial(compare, expected=program.listed(scores), judge=judge())
            trial = measure(lambda: program.scores(work), check, cells=batch.cells, budget=0.0)
        rate = trial.rate or 1.0
        rates[named] = rate / max(1, cores)
    batch, scores = cut(max(few, rate * seconds / 3))
    manager = program.prepared(batch)
    work = manager.__enter__()
    return Run(
        lambda: program.scores(work),
        partial(compare, expected=program.listed(scores), judge=judge()),
        batch.cells,
        part=batch.cells / cells() if batch.cells < cells() else None,
        facts=lambda: {"note": program.function if not program.shown else None},
        close=partial(_left, manager),
    )


def _left(manager: AbstractContextManager[Any]) -> None:
    manager.__exit__(None, None, None)


def portion(batch: Batch, cells: float) -> Any:
    """Return the indices of evenly spaced pairs, at least one, with about this number of cells."""
    step = max(1, -(-batch.cells // max(1, int(cells))))
    return np.arange(step // 2 if step < len(batch) else 0, len(batch), step)


def spread(count: int, some: int) -> list[int]:
    """Return ``some`` of ``count`` indices, evenly spaced from first to last; one: the middle.

    >>> spread(20, 3), spread(2, 5), spread(20, 1)
    ([0, 10, 19], [0, 1], [10])
    """
    if some == 1:
        return [count // 2]
    return sorted({round(k) for k in np.linspace(0, count - 1, min(some, count))})
