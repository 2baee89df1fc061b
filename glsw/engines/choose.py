"""Engine ``auto``: each pair goes to the engine that suits its size, the task and the device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines.base import Engine, Progress, Ties, check_ties
from glsw.engines.blocked import Blocked
from glsw.engines.diagonal import Diagonal
from glsw.engines.fragment import Fragment
from glsw.engines.gl import COMPUTE
from glsw.engines.lanes.engine import Lanes
from glsw.paths import Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

LONG = 2**27
"""Cells from which a pair alone keeps a device busy."""
MANY, SOFTWARE_MANY = 2048, 8
"""Targets of one query from which they fill the lanes of a device."""


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

    The scores of a query with many targets, 2048 or on software 8, are work for ``lanes``. A pair
    that exceeds the textures of ``fragment`` goes to ``diagonal`` where there is one; a masked
    pair does so in any case. Without compute shaders the host traces back. ``lanes`` is left out
    from end to end, and where insertions have costs of their own.

    Parameters
    ----------
    memory : int, optional
        Bytes of device memory that a chunk of pairs may take, sequences apart, or with ``lanes``
        parts of a database and what is kept beside them; by default what the engines have.
    """

    name = "auto"
    requires = (3, 3)
    global_modes = True
    separate_gaps = True

    def __init__(
        self, scoring: Scoring, device: Device | None = None, *, memory: int | None = None
    ) -> None:
        super().__init__(scoring, device)
        self._fragment = Fragment(scoring, device)
        self._compute = self.device.info.version >= COMPUTE
        if self._compute:
            self._diagonal = Diagonal(scoring, device, memory=memory or 2**30)
            self._blocked = Blocked(scoring, device, memory=memory or 2**30)
        self._lanes: Lanes | None = None
        if self._compute and scoring.local and not scoring.separate:
            self._lanes = Lanes(scoring, device, memory=memory or 2**32)
        self.masks = self._compute
        self._used: list[str] = []

    @property
    def label(self) -> str:
        """The engines that were used, in the order of their first pairs."""
        return f"auto: {', '.join(self._used)}" if self._used else self.name

    def check(self, batch: Batch) -> None:
        """Raise ValueError if a score could leave int32, or no engine takes a sequence."""
        super().check(batch)
        if not self._compute:
            self._fragment.check(batch)

    def best(
        self, batch: Batch, ends: bool, progress: Progress, *, ties: Ties = "conventional"
    ) -> npt.NDArray[np.int32]:
        """Return the best cell of each pair, see `Engine.best`."""
        found = np.zeros((len(batch), 3), dtype=np.int32)
        for engine, chosen in self._choices(batch, ends=ends, align=False):
            part = engine.best(batch.select(chosen), ends, progress, ties=ties)
            found[chosen, : part.shape[1]] = part[:, :3]
            self.memory_used = max(self.memory_used, engine.memory_used)
        return found

    @property
    def part(self) -> int:
        """Residues that a part of a database may have."""
        return self._lanes.part if self._lanes else super().part

    @property
    def queries_at_once(self) -> int:
        """Queries that `scan` wants to see together."""
        return self._lanes.queries_at_once if self._lanes else 1

    def scan(
        self,
        queries: Sequences,
        parts: Iterable[Sequences],
        *,
        progress: Progress | None = None,
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the best local score of each query with each target, see `Engine.scan`."""
        rest = iter(parts)
        first = next(rest, None)
        if first is None:
            return
        if not self._lanes or len(first) < self._many:
            yield from super().scan(queries, chain([first], rest), progress=progress)
            return
        self._use(self._lanes)
        for found in self._lanes.scan(queries, chain([first], rest), progress=progress):
            self.memory_used = max(self.memory_used, self._lanes.memory_used)
            yield found

    def paths(
        self, batch: Batch, *, ties: Ties = "conventional", progress: Progress | None = None
    ) -> Paths | None:
        """Return the best local alignment of each pair; None without compute shaders."""
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

    def _use(self, engine: Engine) -> None:
        if engine.name not in self._used:
            self._used.append(engine.name)

    def _choices(
        self, batch: Batch, *, ends: bool, align: bool
    ) -> list[tuple[Engine, npt.NDArray[np.intp]]]:
        """Return the engines to use, and the pairs of each."""
        if not self._compute:
            self._use(self._fragment)
            return [(self._fragment, np.arange(len(batch)))]
        m, n = batch.query_lengths, batch.target_lengths
        long = m * n >= LONG if batch.masks is None else np.zeros(len(batch), dtype=bool)
        drawn = np.zeros_like(long)
        if self.device.info.software and not align and batch.masks is None:
            drawn = ~long & (np.maximum(m, n) <= self._fragment.longest)
        scanned = np.zeros_like(long)
        if not ends and batch.masks is None and self._lanes:
            scanned = ~long & (np.bincount(batch.query_index) >= self._many)[batch.query_index]
        choices: list[tuple[Engine, npt.NDArray[np.intp]]] = [
            (self._lanes or self._diagonal, np.flatnonzero(scanned)),
            (self._fragment, np.flatnonzero(drawn & ~scanned)),
            (self._diagonal, np.flatnonzero(~long & ~drawn & ~scanned)),
            (self._blocked, np.flatnonzero(long)),
        ]
        choices = [(engine, chosen) for engine, chosen in choices if len(chosen)]
        for engine, _ in choices:
            self._use(engine)
        return choices
