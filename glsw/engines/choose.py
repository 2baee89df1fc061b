"""Engine ``auto``: the router, which gives each pair to the engine that suits it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines.base import ALL_MODES, Capabilities, Engine, Progress, Ties, check_ties
from glsw.engines.blocked import Blocked
from glsw.engines.diagonal import Diagonal
from glsw.engines.fragment import Fragment
from glsw.engines.gl import COMPUTE
from glsw.engines.lanes.engine import Lanes
from glsw.engines.lanes.targets import MAX_TARGET_LENGTH
from glsw.engines.windowed import Windowed
from glsw.engines.windows import longest_spans, shortest_cut
from glsw.paths import BestCells, Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

LONG = 2**27
"""Cells from which a pair alone keeps a device busy."""
MANY, SOFTWARE_MANY = 2048, 8
"""Targets of one query from which they fill the lanes of a device."""
WINDOWS, SOFTWARE_WINDOWS = 2**24, 2**20
"""Cells of the pairs of a long target from which its windows pay."""
LARGE_REST = 2**22
"""Cells from which ``blocked`` computes a pair that another engine leaves."""


class Auto(Engine):
    """Choose for every pair; the results are the same, whatever is chosen.

    ================================ ======================= ==========================
    device                           pairs below 2**27 cells pairs of 2**27 cells and more
    ================================ ======================= ==========================
    hardware, OpenGL 4.3             ``diagonal``            ``blocked``
    software, scores and ends        ``fragment``            ``blocked``
    software, alignments             ``diagonal``            ``blocked``
    no compute shaders (macOS)       ``fragment``            ``fragment``
    ================================ ======================= ==========================

    ``lanes``, or another ``scanner``, computes the scores of a query with many targets: 2048, or 8
    on a software renderer.
    Pairs that it leaves go to ``diagonal``, large ones to ``blocked``. A pair that exceeds the
    textures of ``fragment`` goes to ``diagonal`` where that runs; a masked pair always does.
    Without compute shaders the host traces back. ``lanes`` aligns locally only and with one cost
    for gaps in queries and targets.

    Parameters
    ----------
    memory : int, optional
        Bytes of device memory for a chunk of pairs, sequences not counted, or with ``lanes`` for
        parts of a database and the rows between strips; by default each engine's own.
    scores_by : type of Engine, optional
        An engine that computes all scores, except those of masked pairs and of pairs that it
        leaves; the results carry its name.
    scanner : type of Engine
        The engine for queries with many targets, unless ``scores_by`` is given.
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
        scanner: type[Engine] = Lanes,
        **options: Any,
    ) -> None:
        super().__init__(scoring, device)
        self._memory = {} if memory is None else {"memory": memory}
        self._compute = self.device.info.version >= COMPUTE
        self.capabilities = replace(self.capabilities, masks=self._compute)
        self._engines: dict[type[Engine], Engine] = {}
        self._used: list[str] = []
        self._cutting: Windowed | None = None
        self._scanner: type[Engine] | None = scores_by
        if scores_by is not None:
            if scores_by.capabilities.memory:
                options |= self._memory
            self._engines[scores_by] = scores_by(scoring, device, **options)
            self._engines[scores_by].rest = self._rest
        elif self.device.info.version >= (scanner.capabilities.requires or (0, 0)):
            self._scanner = scanner if scanner.capabilities.takes(scoring) else None
        self._scans_all = scores_by is not None

    @property
    def label(self) -> str:
        """The engines that were used, in the order of their first pairs."""
        if self._scanner and self._scans_all:
            return self._scanner.name
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
            self._engine(Fragment).check(batch)

    def best(
        self, batch: Batch, ends: bool, progress: Progress, *, ties: Ties = "conventional"
    ) -> BestCells:
        """Return the best cell of each pair, see `Engine.best`."""
        found = BestCells.zeros(len(batch))
        for engine, chosen in self._choices(batch, ends=ends, align=False):
            found.put(chosen, engine.best(batch.select(chosen), ends, progress, ties=ties))
            self.memory_used = max(self.memory_used, engine.memory_used)
        return found

    @property
    def part(self) -> int:
        """Residues that a part of a database may have."""
        return self._engine(self._scanner).part if self._scanner else super().part

    @property
    def cells_at_once(self) -> int:
        """Cells that `scan` should compute before it yields."""
        scanner = self._scanner
        return self._engine(scanner).cells_at_once if scanner else super().cells_at_once

    @property
    def targets_at_once(self) -> int | None:
        """Targets of all queries of a `scan` that keep it busy."""
        return self._engine(self._scanner).targets_at_once if self._scanner else None

    def scan(
        self,
        queries: Sequences,
        parts: Iterable[Sequences],
        *,
        progress: Progress | None = None,
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the best local score of each query with each target, see `Engine.scan`."""
        remaining = iter(parts)
        first = next(remaining, None)
        if first is None:
            return
        parts = chain([first], remaining)
        together = 1 if self.device.info.software else len(queries)
        few = len(first) * together < self._many
        if not self._scanner or (few and not self._scans_all):
            yield from super().scan(queries, parts, progress=progress)
            return
        scanner = self._use(self._scanner)
        for found in scanner.scan(queries, parts, progress=progress):
            self.memory_used = max(self.memory_used, scanner.memory_used)
            yield found

    def paths(
        self, batch: Batch, *, ties: Ties = "conventional", progress: Progress | None = None
    ) -> Paths | None:
        """Return the best alignment of each pair; None without compute shaders."""
        if not self._compute:
            return None
        check_ties(ties)
        self.check(batch)
        parts = []
        for engine, chosen in self._choices(batch, ends=True, align=True):
            if part := engine.paths(batch.select(chosen), ties=ties, progress=progress):
                parts.append((chosen, part))
            self.memory_used = max(self.memory_used, engine.memory_used)
        return Paths.merged(batch.index.shape, parts)

    @property
    def _many(self) -> int:
        return SOFTWARE_MANY if self.device.info.software else MANY

    @property
    def _windowed(self) -> Engine:
        """The engine for short queries and long targets, which uses this one and the scanner."""
        if self._cutting is None:
            assert self._scanner is not None
            self._cutting = Windowed(self._use(self._scanner), self)
        return self._cutting

    def _engine(self, kind: type[Engine]) -> Engine:
        """Return the one instance of an engine, made when it is first needed."""
        if kind not in self._engines:
            options = self._memory if kind.capabilities.memory else {}
            made = kind(self.scoring, self.device, **options)
            made.rest = self._rest
            for other in self._engines.values():
                if isinstance(made, (Diagonal, Blocked)) and isinstance(other, (Diagonal, Blocked)):
                    made.share_buffers(other)
            self._engines[kind] = made
        return self._engines[kind]

    def _use(self, kind: type[Engine]) -> Engine:
        """Return an engine, and note its name for the results."""
        if kind.name not in self._used:
            self._used.append(kind.name)
        return self._engine(kind)

    def _rest(self, batch: Batch, progress: Progress) -> npt.NDArray[np.int32]:
        """Return the scores of pairs that another engine leaves."""
        n = batch.target_lengths
        large = (batch.query_lengths * n >= LARGE_REST) | (n > MAX_TARGET_LENGTH)
        found = np.zeros(len(batch), np.int32)
        for kind, chosen in ((Blocked, large), (Diagonal, ~large)):
            if chosen.any():
                pairs = batch.select(np.flatnonzero(chosen))
                found[chosen] = self._engine(kind).best(pairs, False, progress).score
        return found

    def _choices(
        self, batch: Batch, *, ends: bool, align: bool
    ) -> list[tuple[Engine, npt.NDArray[np.intp]]]:
        """Return the engines to use, and the pairs of each."""
        if not self._compute:
            return [(self._use(Fragment), np.arange(len(batch)))]
        m, n = batch.query_lengths, batch.target_lengths
        long, drawn, scanned = np.zeros((3, len(batch)), bool)
        cut = self._cut(batch)
        if cut.any():
            rest = np.flatnonzero(~cut)
            others = self._choices(batch.select(rest), ends=ends, align=align) if len(rest) else []
            return [
                (self._windowed, np.flatnonzero(cut)),
                *((engine, rest[chosen]) for engine, chosen in others),
            ]
        if batch.masks is None:
            long = m * n >= LONG
            if self.device.info.software and not align:
                drawn = ~long & (np.maximum(m, n) <= self._longest_drawn)
            if not ends and self._scanner:
                targets = np.bincount(batch.query_index)[batch.query_index]
                scanned = (~long & (targets >= self._many)) | self._scans_all
        choices: list[tuple[type[Engine], npt.NDArray[np.bool_]]] = [
            (self._scanner or Lanes, scanned),
            (Fragment, drawn & ~scanned),
            (Diagonal, ~long & ~drawn & ~scanned),
            (Blocked, long & ~scanned),
        ]
        return [
            (self._use(kind), np.flatnonzero(chosen)) for kind, chosen in choices if chosen.any()
        ]

    def _cut(self, batch: Batch) -> npt.NDArray[np.bool_]:
        """Return the pairs whose targets are so long that windows pay."""
        cut = np.zeros(len(batch), bool)
        if not self.targets_at_once or not self.scoring.local or not self._compute:
            return cut
        spans = longest_spans(self.scoring, batch.queries)[batch.query_index]
        long = np.flatnonzero(batch.target_lengths >= shortest_cut(spans))
        targets = batch.target_index[long]
        cells = np.bincount(targets, (batch.query_lengths * batch.target_lengths)[long])
        least = SOFTWARE_WINDOWS if self.device.info.software else WINDOWS
        cut[long] = cells[targets] >= least
        return cut

    @property
    def _longest_drawn(self) -> int:
        fragment = self._engine(Fragment)
        assert isinstance(fragment, Fragment)
        return fragment.longest


def engine_of(
    kind: type[Engine], scoring: Scoring, device: Device | None = None, **options: Any
) -> Engine:
    """Return an engine that does all tasks: a router around one that computes scores only.

    Parameters
    ----------
    kind : type of Engine
        One of `glsw.engines.ENGINES`.
    scoring : Scoring
    device : Device, optional
        For engines that need OpenGL.
    **options
        Of the engine.
    """
    if not kind.capabilities.requires:
        device = None
    if "ends" in kind.capabilities.tasks:
        return kind(scoring, device, **options)
    return Auto(scoring, device, scores_by=kind, **options)
