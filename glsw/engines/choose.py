"""Engine ``auto``: the router, which gives each pair to the engine that suits it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells, Paths
from glsw.device.device import Device
from glsw.device.info import COMPUTE
from glsw.engines import ENGINES
from glsw.engines.answers import check_scores
from glsw.engines.base import (
    ALL_MODES,
    Capabilities,
    Engine,
    Progress,
    Ties,
    Variant,
    check_ties,
    ignore,
)
from glsw.engines.chunks import of_similar_size
from glsw.engines.costs import OWN_QUERIES, SINGLE_PAIRS, TABLES, Kind, Shape, seconds
from glsw.engines.cpu import Cpu, computes_single, is_installed, takes
from glsw.engines.proof import (
    SIZES,
    ProofTask,
    Size,
    UnprovedError,
    proofs_of,
    tasks_of,
    warn_of,
)
from glsw.engines.reference import Reference
from glsw.engines.scanning import ScanningRouter
from glsw.engines.windows import LongTargets, WindowScores, cuts, may_cut
from glsw.scoring.scoring import Scoring
from glsw.scoring.unit_costs import has_unit_costs
from glsw.sequences.encoded import Sequences

LARGE_REST = 2**22
"""Cells from which ``blocked`` computes a pair that another engine leaves."""
_DIAGONAL, _BLOCKED, _SCAN, _FRAGMENT, _LANES = "diagonal", "blocked", "scan", "fragment", "lanes"
_WINDOWS = "windows"  # of long targets, whose parts other engines compute
EngineT = TypeVar("EngineT", bound=Engine)


class Auto(ScanningRouter):
    """Choose for every pair; the results are the same, whatever is chosen.

    Pairs of similar size go to the engine that `glsw.engines.costs` expects to be the fastest for
    their lengths and their number, of those that can do the task:

    =============== ==================================================================
    task            engines
    =============== ==================================================================
    scores          ``lanes``, ``windows``, ``scan``, ``diagonal``, ``blocked``
    ends            ``windows``, ``scan``, ``diagonal``, ``blocked``
    alignments      ``windows``, ``diagonal``, ``blocked``
    with masks      ``windows``, ``diagonal``
    =============== ==================================================================

    and of those none whose buffers exceed the device. ``windows`` are those of long targets, see
    `glsw.engines.windows`. Software
    renderers also have ``fragment`` for scores and ends, and where it is installed ``cpu`` for
    scores and, if not too large, ends, alignments and masks. Without compute shaders (macOS)
    ``fragment`` does all, and the host traces back. ``lanes``, ``scan`` and ``windows`` align
    locally only; the first two have one cost for gaps in queries and targets. Scores that are
    negative edit distances are computed by ``bit_parallel``.

    Parameters
    ----------
    memory : int, optional
        Bytes of device memory for a chunk of pairs, sequences not counted, or with ``lanes`` for
        parts of a database and the rows between strips; by default each engine's own.
    scores_by : type of Engine, optional
        An engine that computes all scores, except those of masked pairs and of pairs that it
        leaves; the results carry its name.
    scanner : type of Engine
        The engine for queries with many targets, unless ``scores_by`` is given; ``lanes`` unless
        given.
    threads : int, optional
        Of engine ``cpu``.
    proves : bool
        Whether engines have to prove themselves on this device, see `glsw.engines.proof`.
    faulty : iterable of str
        Engines that are wrong on this device in all of their variants, and are not used.
    **options
        Of the engine ``scores_by``.
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
        proves: bool = False,
        faulty: Iterable[str] = (),
        **options: Any,
    ) -> None:
        super().__init__(scoring, device)
        self._memory = {} if memory is None else {"memory": memory}
        self._compute = self.device.info.version >= COMPUTE
        self.capabilities = replace(self.capabilities, masks=self._compute)
        self._engines: dict[type[Engine], Engine] = {}
        self.threads = threads
        self._options: dict[type[Engine], dict[str, Any]] = {Cpu: {"threads": threads}}
        self._turns: dict[type[Engine], int] = {}  # which variant of each
        self._proved: set[tuple[type[Engine], ProofTask, Size]] = set()
        self.proves, self.faulty = proves, set(faulty)
        self._used: list[str] = []
        self._long: LongTargets | None = None
        self._aligns_soon = False
        self._scanner: type[Engine] | None = scores_by
        self._scans_all = scores_by is not None
        self._given = scores_by.name if scores_by else ""
        if scores_by is not None:
            if scores_by.capabilities.memory:
                options |= self._memory
            self._options[scores_by] = options
            self._engine(scores_by)
        elif self._compute and has_unit_costs(scoring):
            self._scanner, self._scans_all = ENGINES["bit_parallel"], True
        else:
            scanner = scanner or ENGINES[_LANES]
            able = self.device.info.version >= (scanner.capabilities.requires or (0, 0))
            self._scanner = scanner if able and scanner.capabilities.takes(scoring) else None

    def get_ready(self, queries: Sequences, residues: int) -> None:
        """Get ready for a large `scan` of so many residues."""
        while self._scanner:
            try:
                super().get_ready(queries, residues)
                break
            except UnprovedError as fault:
                self._replace(fault)
        self._aligns_soon = True

    def get_ready_to_align(self) -> None:
        """Make the engines that align pairs, which takes some milliseconds."""
        if self._aligns_soon and self._compute:
            for name in {_DIAGONAL, _BLOCKED} - self.faulty:
                self._engine(ENGINES[name])

    @property
    def label(self) -> str:
        """The engines that were used, in the order of their first pairs; or that for all scores."""
        if self._given:
            return self._given
        return f"auto: {', '.join(self._used)}" if self._used else self.name

    @property
    def where(self) -> str:
        """What runs the engines that were used."""
        used = [engine.where for kind, engine in self._engines.items() if kind.name in self._used]
        return " and ".join(dict.fromkeys(used)) or super().where

    def check(self, batch: Batch) -> None:
        """Raise ValueError if a score could leave int32, or no engine takes a sequence."""
        super().check(batch)
        if not self._compute:
            self._engine(ENGINES[self._usable(_FRAGMENT)]).check(batch)

    def takes_masks(self, batch: Batch) -> bool:
        """Tell whether the device computes such pairs with masks."""
        longest = int(batch.target_lengths.max(initial=0))
        if self._keeps_tables(batch) or self._cuts(batch):
            return True
        engine = self._engine(ENGINES[self._usable(_DIAGONAL)])
        return self._compute and engine.largest_buffer(1, longest) < 2**62

    def keep_windows(
        self, queries: Sequences, targets: Sequences, found: Mapping[tuple[int, int], WindowScores]
    ) -> None:
        """Take scores of windows of a scan, see `Engine.keep_windows`."""
        if found and self._scanner and self._compute:
            self._long_targets.keep(queries, targets, found)

    def best(
        self, batch: Batch, ends: bool, progress: Progress, *, ties: Ties = "conventional"
    ) -> BestCells:
        """Return the best cell of each pair, see `Engine.best`."""
        while True:
            try:
                return self._best(batch, ends, progress, ties)
            except UnprovedError as fault:
                self._replace(fault)

    def _best(
        self, batch: Batch, ends: bool, progress: Progress, ties: Ties, *, whole: bool = False
    ) -> BestCells:
        """Return the best cell of each pair, if so by whole targets."""
        found = BestCells.zeros(len(batch))
        for name, chosen in self._choices(batch, ends=ends, align=False, whole=whole):
            some = _some(batch, chosen)
            if name == _WINDOWS:
                cut = self._long_targets.cut(some, progress)
                if ends:
                    best = self._best(cut.pairs, True, ignore, ties, whole=True)
                found.put(chosen, cut.best(best) if ends else cut.scores)
                continue
            engine = self._use(self._type(name))
            engine.check(some)
            task: ProofTask = "ends" if ends else "score"
            self._prove(engine, task if batch.masks is None else "masked", some)
            found.put(chosen, engine.best(some, ends, progress, ties=ties))
            self.memory_used = max(self.memory_used, engine.memory_used)
        return found

    def paths(
        self, batch: Batch, *, ties: Ties = "conventional", progress: Progress | None = None
    ) -> Paths | None:
        """Return the best alignment of each pair; None without compute shaders."""
        if not self._compute:
            return None
        check_ties(ties)
        self.check(batch)
        while True:
            try:
                return self._paths(batch, ties, progress or ignore)
            except UnprovedError as fault:
                self._replace(fault)

    def _paths(
        self, batch: Batch, ties: Ties, progress: Progress, *, whole: bool = False
    ) -> Paths | None:
        """Return the best alignments, if so by whole targets; None if the host traces back."""
        parts = []
        for name, chosen in self._choices(batch, ends=True, align=True, whole=whole):
            some = _some(batch, chosen)
            if name == _WINDOWS:
                cut = self._long_targets.cut(some, progress)
                part = self._paths(cut.pairs, ties, ignore, whole=True)
                part = part and cut.paths(part)
            else:
                engine = self._use(self._type(name))
                self._prove(engine, "alignment" if batch.masks is None else "masked", some)
                part = engine.paths(some, ties=ties, progress=progress)
                self.memory_used = max(self.memory_used, engine.memory_used)
            if part is None:
                return None
            parts.append((chosen, part))
        return Paths.merged(batch.index.shape, parts)

    @property
    def _long_targets(self) -> LongTargets:
        """What cuts the targets of short queries.

        It has its own scanner: alignments are computed while a scan keeps its targets packed.
        """
        if self._long is None:
            assert self._scanner is not None
            self._use(self._scanner)
            best = partial(self._best, ties="conventional", whole=True)
            self._long = LongTargets(self._made(self._scanner), best)
        return self._long

    def _engine(self, kind: type[Engine]) -> Engine:
        """Return the one instance of an engine, made when it is first needed."""
        if kind not in self._engines:
            made = self._made(kind)
            for other in self._engines.values():
                if {kind.name, other.name} == {_DIAGONAL, _BLOCKED}:
                    made.share_buffers(other)  # type: ignore[attr-defined]
            self._engines[kind] = made
        return self._engines[kind]

    def _made(self, kind: type[Engine]) -> Engine:
        made = self._like(kind)
        made.rest = self._rest
        if self.proves and kind.capabilities.requires:
            made.proofs = proofs_of(self.device)
        return made

    def _like(self, kind: type[Engine]) -> Engine:
        """Return an engine in the variant that is right on this device, as far as that is known."""
        options = self._options.get(kind, self._memory if kind.capabilities.memory else {})
        return kind(self.scoring, self.device, **(options | self._variant(kind).options))

    def _variant(self, kind: type[Engine]) -> Variant:
        return kind.variants_on(self.device.info)[self._turns.get(kind, 0)]

    def _prove(
        self, engine: Engine, task: ProofTask, pairs: Batch | tuple[Sequences, Sequences]
    ) -> None:
        """Have an engine prove that it does a task with such pairs, or raise UnprovedError."""
        kind = type(engine)
        if engine.proofs is None or engine.proves_programs:
            return
        for size in Size.each_of(pairs):
            if (kind, task, size) not in self._proved:
                variant = self._variant(kind)
                engine.proofs.require_task(engine, task, size, variant, lambda: self._like(kind))
                self._proved.add((kind, task, size))

    def _replace(self, fault: UnprovedError) -> None:
        """Go on with the next variant of an engine that is wrong here, or else without it."""
        kind = ENGINES[fault.engine]
        turn = self._turns.get(kind, 0) + 1
        self._proved.clear()
        self._long = None
        self._engines.pop(kind, None)
        variants = kind.variants_on(self.device.info)
        if turn < len(variants) and not self.device.endless:
            self._turns[kind] = turn
            warn_of(self.device, fault, f"the variant with {variants[turn].name}")
            return
        unusable = [kind.name]
        if self.device.endless:
            unusable = [name for name, each in ENGINES.items() if each.capabilities.requires]
        self.faulty.update(unusable)
        if self._scanner and self._scanner.name in self.faulty:
            self._scanner, self._scans_all, self._given = None, False, ""
        warn_of(self.device, fault, "another engine")

    def _use(self, kind: type[Engine]) -> Engine:
        """Return an engine, and note its name for the results."""
        if kind.name not in self._used:
            self._used.append(kind.name)
        return self._engine(kind)

    def _rest(self, batch: Batch, progress: Progress) -> npt.NDArray[np.int32]:
        """Return the scores of pairs that another engine leaves."""
        from glsw.engines.lanes.targets import MAX_TARGET_LENGTH

        n = batch.target_lengths
        large = (batch.query_lengths * n >= LARGE_REST) | (n > MAX_TARGET_LENGTH)
        found = np.zeros(len(batch), np.int32)
        for name, chosen in ((_BLOCKED, large), (_DIAGONAL, ~large)):
            if chosen.any():
                pairs = batch.select(np.flatnonzero(chosen))
                kind = ENGINES[self._usable(name)]
                engine = self._use(kind)
                if not kind.capabilities.requires:  # one that leaves nothing to this again
                    engine = kind(self.scoring)
                self._prove(engine, "score", pairs)
                found[chosen] = score = engine.best(pairs, False, progress).score
                check_scores(engine, pairs, score)
        return found

    def _choices(
        self, batch: Batch, *, ends: bool, align: bool, whole: bool = False
    ) -> list[tuple[str, npt.NDArray[np.intp]]]:
        """Return the engines to use, and the pairs of each, if so only by whole targets."""
        every = np.arange(len(batch))
        if not self._compute:
            return [(self._usable(_FRAGMENT), every)]
        if self._scanner and not ends and self._scans_together(batch):
            return [(self._scanner.name, every)]
        chosen: dict[str, list[npt.NDArray[np.intp]]] = {}
        for pairs in of_similar_size(batch):
            some = _some(batch, pairs)
            windows = not whole and self._cuts(some)
            name = self._cheapest(some, ends=ends, align=align, windows=windows)
            chosen.setdefault(name, []).append(pairs)
        return [
            (name, np.sort(np.concatenate(parts)) if len(chosen) > 1 else every)
            for name, parts in chosen.items()
        ]

    def _scans_together(self, batch: Batch) -> bool:
        """Tell whether the scanner computes all scores at once, without a call for each size.

        Small pairs join larger ones in ``lanes``, where they take nearly no time.
        """
        if not len(batch) or batch.masks is not None or may_cut(batch):
            return False
        if self._scans_all or not self._has_own_queries(batch):
            return self._scans_all
        bits = np.frexp(batch.extent[1].astype(np.float64))[1]
        largest = np.flatnonzero((batch.lengths >= np.ldexp(0.5, bits)).all(axis=1))
        some = _some(batch, largest)
        if not len(some):
            return False
        return self._cheapest(some, ends=False, align=False, windows=False) == _LANES

    def _has_own_queries(self, batch: Batch) -> bool:
        """Tell whether ``lanes`` would compute such pairs together, without query profiles."""
        if self.device.info.software or self.scoring.wide_queries:
            return False
        from glsw.engines.lanes.own_queries import computes_own_queries

        longest = int(batch.extent[1, 1])
        return self._takes_length(longest) and computes_own_queries(len(batch), batch.distinct[0])

    def _type(self, name: str) -> type[Engine]:
        scanner = self._scanner
        return scanner if scanner and name == scanner.name else ENGINES[name]

    def _cheapest(self, batch: Batch, *, ends: bool, align: bool, windows: bool) -> str:
        """Return the engine that costs least for pairs of about one size."""
        m, n = batch.extent[1].tolist()
        if self._scanner and self._scans_all and not ends and batch.masks is None:
            return _WINDOWS if windows else self._scanner.name
        names = [*[_WINDOWS] * windows, _DIAGONAL]
        if batch.masks is None:
            names.append(_BLOCKED)
            if not align and ENGINES[_SCAN].capabilities.takes(self.scoring):
                names.append(_SCAN)
            if not align and self.weak:
                names.append(_FRAGMENT)
        tables = align or ends or batch.masks is not None
        if tables:
            names += [Cpu.name] * self._keeps_tables(batch)
        elif self._scanner and self._takes_length(n):
            names.append(self._scanner.name)
        names = [name for name in names if name not in self.faulty]
        if len(names) <= 1:
            return names[0] if names else self._usable(_DIAGONAL)
        (mean_m, mean_n), (queries, targets) = batch.lengths.mean(axis=0).tolist(), batch.distinct
        shape = Shape(mean_m, mean_n, len(batch), queries, targets)
        task = " alignment" if align else ""
        keys = {name: name for name in names}
        if tables:
            keys[Cpu.name] = TABLES
        elif computes_single(shape.pairs, queries) or not self.scoring.local:
            keys[Cpu.name] = SINGLE_PAIRS
        if _LANES in names and self._has_own_queries(batch):
            keys[_LANES] = OWN_QUERIES
        names.sort(key=lambda name: seconds(keys[name] + task, shape, self._kind))
        limit = self.device.info.limits["max_storage_block"]
        for name in names:
            if name == _WINDOWS or (
                self._engine(self._type(name)).largest_buffer(m, n, alignment=align) <= limit
            ):
                return name
        return names[0]  # it says what it lacks

    def _usable(self, name: str) -> str:
        """Return an engine, or else one of the processor."""
        if name not in self.faulty:
            return name
        return Cpu.name if is_installed() and takes(self.scoring) else Reference.name

    def _takes_length(self, n: int) -> bool:
        """Tell whether the scanner takes targets of this length."""
        if not self._scanner or self._scanner.name != _LANES:
            return True
        from glsw.engines.lanes.targets import MAX_TARGET_LENGTH

        return n <= MAX_TARGET_LENGTH

    def _keeps_tables(self, batch: Batch) -> bool:
        """Tell whether the processor aligns such pairs by tables."""
        if self._scanner is not Cpu or self._scans_all:
            return False
        engine = self._engine(Cpu)
        assert isinstance(engine, Cpu)
        return engine.traces(batch)

    @property
    def _kind(self) -> Kind:
        if not self.weak:
            return "hardware"
        return "software, equal letters" if self.scoring.match_and_mismatch else "software"

    def _cuts(self, batch: Batch) -> bool:
        """Tell whether the targets are so long beside the queries that windows can replace them."""
        return bool(self._compute and self._scanner and cuts(self, batch))


def _some(batch: Batch, chosen: npt.NDArray[np.intp]) -> Batch:
    """Return some pairs, in order; the batch itself if these are all."""
    return batch if len(chosen) == len(batch) else batch.select(chosen)


def engine_of(
    kind: type[Engine],
    scoring: Scoring,
    device: Device | None = None,
    *,
    proves: bool = False,
    **options: Any,
) -> Engine:
    """Return an engine that does all tasks: a router around one that computes scores only.

    Parameters
    ----------
    kind : type of Engine
        One of `glsw.engines.ENGINES`.
    scoring : Scoring
    device : Device, optional
        For engines that need OpenGL.
    proves : bool
        Whether the engine has to prove itself on this device, else another one is returned.
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
    return proved(kind, scoring, device, **options) or Auto(
        scoring, device, memory=options.get("memory"), proves=True, faulty=[kind.name]
    )


def proved(kind: type[EngineT], scoring: Scoring, device: Device, **options: Any) -> EngineT | None:
    """Return an engine in the first variant that does all tasks right on a device, if one does."""
    variants = kind.variants_on(device.info)
    for number, variant in enumerate(variants):
        every = options | variant.options
        made = kind(scoring, device, **every)
        try:
            for task in tasks_of(kind, scoring):
                for size in SIZES:
                    proofs_of(device).require_task(
                        made, task, size, variant, partial(kind, scoring, device, **every)
                    )
            return made
        except UnprovedError as fault:
            rest = variants[number + 1 :]
            instead = f"the variant with {rest[0].name}" if rest else "another engine"
            warn_of(device, fault, instead)
    return None
