"""Engine ``auto``: routes each batch to the engines that `glsw.engines.choice` selects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, groupby, product
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from glsw.alignment.batch import Batch, Masks
from glsw.alignment.paths import BestCells, Paths
from glsw.arrays import Int32
from glsw.device.current import UnreliableError
from glsw.device.device import Device
from glsw.engines import ENGINES, imported
from glsw.engines.base import (
    ALL_MODES,
    Best,
    Capabilities,
    ComingScan,
    Engine,
    Pairs,
    ProgramOf,
    Progress,
    Question,
    ScanHints,
    Task,
)
from glsw.engines.choice import WINDOWS, Choice, Chosen
from glsw.engines.costs import SINGLE_PAIRS, TABLES, Kind
from glsw.engines.cpu import Cpu, computes_single, is_small
from glsw.engines.roster import Roster, repeated
from glsw.engines.sizes import SIDES, Size, sides_of
from glsw.engines.tiles import ScanTile
from glsw.engines.windows import LongTargets, cuts
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences, distinct
from glsw.trust.proofs import UnprovedError
from glsw.trust.provable import first_right
from glsw.wings import registered

if TYPE_CHECKING:
    from glsw.engines.gl import ComputeEngine
    from glsw.engines.lanes.engine import Lanes
    from glsw.engines.lanes.geometry import LaneSizes

MANY, SOFTWARE_MANY = 2048, 8
"""Pairs of a scan from which they fill the lanes of a device."""
_LARGEST_TABLE = 2**18
"""Cells of a pair of which the processor has the global alignment sooner than a device."""
_DIAGONAL, _BLOCKED, _SCAN, _FRAGMENT, _LANES = "diagonal", "blocked", "scan", "fragment", "lanes"
EngineT = TypeVar("EngineT", bound=Engine)
ResultT = TypeVar("ResultT")


class Auto(Engine):
    """Select an engine for every pair; results do not depend on the choice.

    Pairs of similar size go to the engine that `glsw.engines.costs` predicts to be the fastest for
    their lengths and number, among those that support the task:

    =============== ==================================================================
    task            engines
    =============== ==================================================================
    scores          ``lanes``, ``windows``, ``scan``, ``diagonal``, ``blocked``
    ends            ``windows``, ``scan``, ``diagonal``, ``blocked``
    alignments      ``windows``, ``diagonal``, ``blocked``
    with masks      ``windows``, ``diagonal``, ``blocked``
    =============== ==================================================================

    and whose buffers fit the device. ``windows`` means the windows of long targets, see
    `glsw.engines.windows`. On software renderers, ``fragment`` also computes scores and ends, and
    ``cpu``, if installed, scores and, if not too large, ends, alignments and masks. Without compute
    shaders (macOS) ``fragment`` computes everything, and the host traces back. ``scan`` and
    ``windows`` are for local alignment; ``lanes`` and ``scan`` need equal costs for gaps in queries
    and targets, and ``lanes`` the usual end gap costs, see `glsw.scoring.gaps.EndGaps.at_most`.
    All scores of a scoring that the engine of a wing takes are computed by that.

    Parameters
    ----------
    memory : int, optional
        Bytes of device memory for a chunk of pairs, sequences not counted, or with ``lanes`` for
        parts of a database and the rows between strips; by default each engine's own.
    scores_by : type of Engine, optional
        An engine that computes all scores, except for masked pairs and pairs that it leaves to
        others; results name this engine.
    scanner : type of Engine
        The engine for queries with many targets, unless ``scores_by`` is given; by default
        ``lanes``.
    threads : int, optional
        Of engine ``cpu``.
    with_host : bool
        Whether ``cpu`` computes single pairs in less time than a device takes to begin.
    proves, faulty
        As of `Roster`.
    **options
        Of the engine ``scores_by``, or else ``scanner``.
    """

    name = "auto"
    capabilities = Capabilities(
        requires=(3, 3),
        tasks=("score", "ends", "alignment"),
        modes=ALL_MODES,
        masks=True,
        separate_gaps=True,
        positional_gaps=True,
        memory=True,
        workloads=("search", "pairs"),
    )

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        memory: int | None = None,
        scores_by: type[Engine] | None = None,
        scanner: type[Engine] | None = None,
        threads: int | None = None,
        with_host: bool = False,
        proves: bool = False,
        faulty: Iterable[str] = (),
        **options: Any,
    ) -> None:
        super().__init__(scoring, device)
        self._with_host = with_host
        self._compute = self.device.info.compute
        self.capabilities = replace(self.capabilities, masks=self._compute)
        self._roster = Roster(scoring, self.device, memory, proves, faulty, self._rest)
        self._roster.options[Cpu] = {"threads": threads}
        self.threads = threads
        self._used: list[str] = []
        self._long: LongTargets | None = None
        self._coming: ComingScan | None = None
        self._scanner: type[Engine] | None = scores_by
        self._scans_all = scores_by is not None
        self._given = scores_by.name if scores_by else ""
        if scores_by is not None:
            if scores_by.capabilities.memory:
                options |= self._roster.memory
            self._roster.options[scores_by] = options
            self.engine(scores_by)
        elif self._compute and (kind := _engine_of_wings(scoring)):
            self._scanner, self._scans_all = kind, True
        else:
            scanner = scanner or ENGINES[_LANES]
            able = self.device.info.offers(scanner.capabilities.requires or (0, 0))
            self._scanner = scanner if able and scanner.capabilities.takes(scoring) else None
            if options:
                self._roster.options[scanner] = self._roster.options_of(scanner) | options

    @property
    def label(self) -> str:
        """The engines that were used, in the order of their first pairs; or that for all scores."""
        if self._given:
            return self._given
        return f"auto: {', '.join(self._used)}" if self._used else self.name

    @property
    def where(self) -> str:
        """What runs the engines that were used."""
        made = self._roster.made.values()
        used = [engine.where for engine in made if engine.name in self._used]
        return " and ".join(dict.fromkeys(used)) or super().where

    def check_lengths(self, m: int, n: int, masks: Masks | None = None) -> None:
        """Raise ValueError as of `Engine.check_lengths`, and if no engine takes a sequence."""
        super().check_lengths(m, n)
        if not self._compute:
            self.engine(ENGINES[self._roster.usable(_FRAGMENT)]).check_lengths(m, n)

    def fits(self, asked: Pairs) -> bool:
        """Tell whether one of the engines can compute such pairs."""
        batch = asked.batch
        if not self._compute:
            return super().fits(asked)
        names = {_DIAGONAL, _BLOCKED} - self._roster.faulty or {self._roster.usable(_DIAGONAL)}
        return (
            self._keeps_tables(batch)
            or self._cuts(batch)
            or any(self.engine(ENGINES[name]).fits(asked) for name in names)
        )

    def engine(self, kind: type[EngineT]) -> EngineT:
        """Return the one instance of an engine, made when it is first needed."""
        return self._roster.engine(kind)

    @property
    def scanner(self) -> Engine | None:
        """The engine for scans, if there is one."""
        return self.engine(self._scanner) if self._scanner else None

    @property
    def hints(self) -> ScanHints:
        """Those of the engine for scans."""
        return self.scanner.hints if self.scanner else super().hints

    @property
    def weak(self) -> bool:
        """Whether the processor is faster than the device, or is the device."""
        return self.device.info.software or (
            self._scanner is not None and self._scanner.capabilities.requires is None
        )

    def proved_scanner(self, pairs: Batch | tuple[Sequences, Sequences]) -> Engine | None:
        """Return the engine for scans that has proved itself for such pairs, if there is one."""

        def proved() -> Engine | None:
            if self.scanner:
                self.scanner.prove(self.scanner.kinds("score", pairs))
            return self.scanner

        return self._done(proved)

    def _use(self, name: str) -> Engine:
        """Return an engine, and note its name for the results."""
        if name not in self._used:
            self._used.append(name)
        return self.engine(self._type(name))

    def _type(self, name: str) -> type[Engine]:
        scanner = self._scanner
        return scanner if scanner and name == scanner.name else ENGINES[name]

    def _done(self, do: Callable[[], ResultT]) -> ResultT:
        """Return what a function returns, once no engine that it uses is wrong on this device."""
        while True:
            try:
                return do()
            except (UnprovedError, UnreliableError) as fault:
                self._replace(fault)

    def _replace(self, fault: UnprovedError | UnreliableError) -> None:
        """Go on with another variant of an engine that is wrong here, or without it."""
        self._roster.replace(fault)
        self._long = None
        if self._scanner and self._scanner.name in self._roster.faulty:
            self._scanner, self._scans_all, self._given = None, False, ""

    # Pairs.

    def best(self, asked: Pairs, progress: Progress) -> Best:
        """Return the best cell or the path of each pair; without compute shaders by `cpu`."""
        if asked.task == "alignment" and not self._compute and not self._traces(asked.batch):
            return None
        return self._done(lambda: self._best(asked, progress))

    def _best(
        self, asked: Pairs, progress: Progress, *, whole: bool = False, cropped: bool = False
    ) -> Best:
        """Return the same, if so by whole targets, or of pairs that are `_cropped`."""
        batch, parts = asked.batch, []
        cells = BestCells.zeros(len(batch))
        task = asked.task if batch.masks is None else "masked"
        some = asked
        for name, chosen in self.choices(asked, whole=whole):
            if not isinstance(chosen, slice):
                some = asked._replace(batch=batch.select(chosen))
            if name == WINDOWS:
                assert self.long_targets
                found = self.long_targets.best(some, progress)
            elif name != Cpu.name and not cropped and self._crops(some):
                found = self._cropped(some, progress)
            else:
                engine = self._use(name)
                engine.check(some.batch)
                engine.prove(engine.kinds(task, some.batch))
                traces = asked.task in engine.capabilities.tasks
                found = engine.best(some, progress) if traces else None
                self.memory_used = max(self.memory_used, engine.memory_used)
            if found is None or some.batch is batch:
                return found
            if isinstance(found, Paths):
                parts.append((chosen, found))
            else:
                cells.put(chosen, self.as_cells(some.batch, found))
        return Paths.merged(batch.index.shape, parts) if asked.task == "alignment" else cells

    def _crops(self, asked: Pairs) -> bool:
        """Tell whether the processor finds the parts of tables that have the alignments."""
        batch, host = asked.batch, self._scanner is Cpu and not self._scans_all
        plain = asked.task == "alignment" and self.scoring.local and batch.masks is None
        return host and plain and self.engine(Cpu).traces(batch)

    def _cropped(self, asked: Pairs, progress: Progress) -> Best:
        """Return the paths of pairs by these parts: those of unrelated sequences are small."""
        batch, first = self.engine(Cpu).crops(asked.batch)
        progress(asked.batch.cells - batch.cells)
        found = self._best(asked._replace(batch=batch), progress, whole=True, cropped=True)
        if isinstance(found, Paths):
            found.ends.end[:] += first
        return found

    @property
    def long_targets(self) -> LongTargets | None:
        """What cuts the targets of short queries.

        It has its own scanner: alignments are computed while a scan keeps its targets packed.
        """
        if self._long is None and self._scanner and self._compute:
            self._use(self._scanner.name)
            best = partial(self._best, whole=True)
            self._long = LongTargets(self._roster.another(self._scanner), best)
        return self._long

    def _rest(self, batch: Batch, progress: Progress) -> Int32:
        """Return the scores of pairs that another engine leaves."""
        limits, n = self._limits, batch.target_lengths
        large = (batch.query_lengths * n >= limits.large_pair) | (n > limits.longest)
        found = np.zeros(len(batch), np.int32)
        for name, chosen in ((_BLOCKED, large), (_DIAGONAL, ~large)):
            if chosen.any():
                pairs = batch.select(np.flatnonzero(chosen))
                engine = self._use(self._roster.usable(name))
                if not engine.capabilities.requires:  # one that leaves nothing to this again
                    engine = type(engine)(self.scoring)
                engine.prove(engine.kinds("score", pairs))
                found[chosen] = engine.scores(pairs, progress=progress)
        return found

    # What can be chosen.

    def choices(self, asked: Pairs, *, whole: bool = False) -> list[Chosen]:
        """Return the engines to use, and the pairs of each, if so only by whole targets."""
        batch = asked.batch
        if self._with_host and is_small(batch) and self._belongs_to_host(batch, asked.task):
            return [(Cpu.name, slice(None))]
        if not self._compute:
            host = asked.task != "score" and self._traces(batch)
            return [(Cpu.name if host else self._roster.usable(_FRAGMENT), slice(None))]
        kind: Kind = "software" if self.weak else "hardware"
        return Choice(kind, self._keys, self._takes, self._cuts).of(asked, whole=whole)

    def _belongs_to_host(self, batch: Batch, task: Task) -> bool:
        """Tell whether the processor computes a small pair before a device would begin."""
        if self._scans_all:
            return False
        if task == "score":
            return computes_single(self.scoring, 1, 1)
        return (self.scoring.local or batch.cells <= _LARGEST_TABLE) and self._traces(batch)

    def _traces(self, batch: Batch) -> bool:
        """Tell whether the processor may align such pairs by tables, and can."""
        return self._with_host and self.engine(Cpu).traces(batch)

    def _takes(self, name: str, asked: Pairs) -> bool:
        """Tell whether some pairs fit an engine."""
        return self.engine(self._type(name)).fits(asked)

    def _keys(self, asked: Pairs, windows: bool) -> dict[str, str]:
        """Return the engines to choose from, at least one, each with its key in the table."""
        batch, task, scanner = asked.batch, asked.task, self._scanner
        plain = batch.masks is None
        if scanner and self._scans_all and task == "score" and plain:
            name = WINDOWS if windows else scanner.name
            return {name: name}
        if windows and not plain:  # what is known of windows stays so but where masks are
            return {WINDOWS: WINDOWS}
        able = {WINDOWS: WINDOWS} if windows else {}
        able |= {_DIAGONAL: _DIAGONAL, _BLOCKED: _BLOCKED}
        if plain and task != "alignment":
            if ENGINES[_SCAN].capabilities.takes(self.scoring):
                able[_SCAN] = _SCAN
            if self.weak and (self.scoring.local or not self.scoring.gaps):  # numbers of `fragment`
                able[_FRAGMENT] = _FRAGMENT
        if task != "score" or not plain:
            if self._keeps_tables(batch):
                able[Cpu.name] = TABLES
        elif scanner and (scanner.name != _LANES or batch.extent[1, 1] <= self._limits.longest):
            able[scanner.name] = scanner.name
            if scanner is Cpu and computes_single(self.scoring, len(batch), batch.distinct[0]):
                able[Cpu.name] = SINGLE_PAIRS
            if scanner.name == _LANES:
                able[_LANES] = cast("Lanes", self.scanner).way(batch)
        task_of_key, faulty = " alignment" * (task == "alignment"), self._roster.faulty
        keys = {name: key + task_of_key for name, key in able.items() if name not in faulty}
        return keys or {self._roster.usable(_DIAGONAL): _DIAGONAL}

    @cached_property
    def _limits(self) -> LaneSizes:
        """Those of engine ``lanes``."""
        from glsw.engines.lanes.geometry import LaneSizes

        limits: LaneSizes = self._roster.options_of(ENGINES[_LANES]).get("limits") or LaneSizes()
        return limits.used(self.scoring, self.device.info)

    def _keeps_tables(self, batch: Batch) -> bool:
        """Tell whether the processor aligns such pairs by tables."""
        keeps = self._scanner is Cpu and not self._scans_all
        return keeps and self.engine(Cpu).traces(batch, soon=True)

    def _cuts(self, batch: Batch) -> bool:
        """Tell whether the targets are so long beside the queries that windows can replace them."""
        return bool(self._compute and self._scanner and cuts(self, batch))

    # Scans, by one engine.

    def get_ready(self, coming: ComingScan) -> None:
        """Get ready for a scan, and have the driver begin to compile what is not proved yet."""
        self._coming = coming

        def ready() -> None:
            if scanner := cast("ComputeEngine | None", self.scanner):
                for name, macros in scanner.programs(coming):
                    scanner.begin(name, **macros)
                for engine, (name, macros) in self._programs_to_align(proved=False):
                    engine.begin(name, **macros)
                scanner.get_ready(coming)

        if coming.first:
            self._done(ready)

    def _programs_to_align(self, *, proved: bool) -> Iterator[tuple[ComputeEngine, ProgramOf]]:
        """Yield what aligns the hits of a scan: programs of engines that are proved, or are not."""
        if self._coming and self._compute and not self.weak:
            lengths = distinct(self._coming.lengths[self._coming.lengths > 0])
            sides = sides_of(lengths)
            for name, side in product({_DIAGONAL, _BLOCKED} - self._roster.faulty, distinct(sides)):
                engine, some = self.engine(ENGINES[name]), lengths[sides == side]
                if engine.has_proved(("alignment", Size(int(side), n)) for n in SIDES) == proved:
                    if not proved:
                        some = distinct(np.append(some, Size(int(side), 0).lengths[0]))  # its proof
                    for program in engine.programs(replace(self._coming, lengths=some)):
                        yield cast("ComputeEngine", engine), program

    def prepare(self, batch: Batch) -> None:
        """Compute what the engine for scans, if it is there already, will need of a batch."""
        if self._scanner in self._roster.made:
            self._roster.made[self._scanner].prepare(batch)

    def is_table(self, batch: Batch) -> bool:
        """Tell whether all queries are computed with all targets, see `Engine.is_table`."""
        lanes = self._lanes_alone(Pairs(batch))
        return lanes is not None and lanes.is_table(batch)

    def _lanes_alone(self, asked: Pairs) -> Engine | None:
        """Return engine ``lanes`` if it computes all pairs of a batch together."""
        batch, scanner = asked.batch, self._scanner
        own = scanner is not None and scanner.name == _LANES and not self.device.info.software
        if not own or batch.masks is not None or asked.ends:
            return None
        self.check(batch)
        alone = [name for name, _ in self.choices(Pairs(batch))] == [_LANES]
        return self._use(_LANES) if alone else None

    def answers(
        self, questions: Iterable[Question], *, progress: Progress | None = None
    ) -> Iterator[Any]:
        """Yield the answer to each question, see `Engine.answers`."""

        def answers(some: Iterator[Question]) -> Iterator[Any]:
            for engine, alike in self._by_engine(some):
                of_engine = engine.answers if engine else super(Auto, self).answers
                for each in of_engine(alike, progress=progress):
                    self.memory_used = max(self.memory_used, engine.memory_used if engine else 0)
                    yield each

        return repeated(questions, answers, self._replace)

    def _by_engine(
        self, questions: Iterator[Question]
    ) -> Iterator[tuple[Engine | None, Iterable[Question]]]:
        """Yield questions and the engine that answers them together, None if pair by pair.

        All tiles go where the first one does.
        """
        first = next(questions, None)
        every: Iterator[Any] = chain([first], questions)
        if isinstance(first, Pairs):
            yield from groupby(every, self._lanes_alone)
        elif first:
            together = 1 if self.weak else len(first.queries)
            few = len(first.targets) * together < (SOFTWARE_MANY if self.weak else MANY)
            if not self._scanner or (few and not self._scans_all):
                yield None, every
            else:
                scanner = self._use(self._scanner.name)
                yield scanner, self._proving(scanner, every)

    def _proving(self, scanner: Engine, tiles: Iterable[ScanTile]) -> Iterator[ScanTile]:
        """Yield tiles that the engine for scans has proved to do right."""
        for tile in tiles:
            scanner.prove(scanner.kinds("score", (tile.queries, tile.targets)))
            yield tile
        for engine, (name, macros) in self._programs_to_align(proved=True):
            engine.program(name, **macros)  # while the device is busy with the last one
        self._coming = None


def _engine_of_wings(scoring: Scoring) -> type[Engine] | None:
    """Return the engine of a wing that takes such a scoring, if there is one."""
    places = registered("ENGINES").items()
    return next((ENGINES[name] for name, (_, takes) in places if imported(takes)(scoring)), None)


def engine_of(
    kind: type[Engine],
    scoring: Scoring,
    device: Device | None = None,
    *,
    proves: bool = False,
    **options: Any,
) -> Engine:
    """Return an engine that supports all tasks: if needed, a router around one that does not.

    Parameters
    ----------
    kind : type of Engine
        One of `glsw.engines.ENGINES`.
    scoring : Scoring
    device : Device, optional
        For engines that need OpenGL.
    proves : bool
        Whether the engine has to pass its self-test on this device; otherwise another is returned.
    **options
        Of the engine.
    """
    if not kind.capabilities.requires or device is None:
        return kind(scoring, None, **options)
    if "ends" not in kind.capabilities.tasks:
        return Auto(scoring, device, scores_by=kind, proves=proves, **options)
    if issubclass(kind, Auto):
        return kind(scoring, device, proves=proves, **options)
    if not proves:
        return kind(scoring, device, **options)
    tasks, other = kind.tasks_of(scoring), "another engine"
    return first_right(kind, tasks, other, scoring, device, **options) or Auto(
        scoring, device, memory=options.get("memory"), proves=True, faulty=[kind.name]
    )
