"""Engine ``auto``: each pair goes to the engine that suits its size, the task and the device."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device import Device
from glsw.engines.base import Engine, Progress, Ties, check_ties
from glsw.engines.blocked import Blocked
from glsw.engines.compute import COMPUTE
from glsw.engines.diagonal import Diagonal
from glsw.engines.fragment import Fragment
from glsw.result import Paths
from glsw.scoring import Scoring

LONG = 2**27
"""Cells from which a pair alone keeps a device busy."""


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

    A pair that exceeds the textures of ``fragment`` goes to ``diagonal`` where there is one; a
    masked pair does so in any case. Without compute shaders the host traces back.

    Parameters
    ----------
    memory : int
        Bytes of device memory that a chunk of pairs may take, sequences apart.
    """

    name = "auto"
    requires = (3, 3)

    def __init__(
        self, scoring: Scoring, device: Device | None = None, *, memory: int = 2**30
    ) -> None:
        super().__init__(scoring, device)
        self._fragment = Fragment(scoring, device)
        self._compute = self.device.info.version >= COMPUTE
        if self._compute:
            self._diagonal = Diagonal(scoring, device, memory=memory)
            self._blocked = Blocked(scoring, device, memory=memory)
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
        for engine, chosen in self._choices(batch, align=False):
            part = engine.best(batch.select(chosen), ends, progress, ties=ties)
            found[chosen, : part.shape[1]] = part[:, :3]
            self.memory_used = max(self.memory_used, engine.memory_used)
        return found

    def paths(
        self, batch: Batch, *, ties: Ties = "conventional", progress: Progress | None = None
    ) -> Paths | None:
        """Return the best local alignment of each pair; None without compute shaders."""
        if not self._compute:
            return None
        check_ties(ties)
        self.check(batch)
        parts = []
        for engine, chosen in self._choices(batch, align=True):
            if part := engine.paths(batch.select(chosen), ties=ties, progress=progress):
                parts.append((chosen, part))
            self.memory_used = max(self.memory_used, engine.memory_used)
        return Paths.merged(len(batch), parts)

    def _choices(self, batch: Batch, *, align: bool) -> list[tuple[Engine, npt.NDArray[np.intp]]]:
        """Return the engines to use, and the pairs of each."""
        if not self._compute:
            self._used = [self._fragment.name]
            return [(self._fragment, np.arange(len(batch)))]
        m, n = batch.query_lengths, batch.target_lengths
        long = m * n >= LONG if batch.masks is None else np.zeros(len(batch), dtype=bool)
        drawn = np.zeros_like(long)
        if self.device.info.software and not align and batch.masks is None:
            drawn = ~long & (np.maximum(m, n) <= self._fragment.longest)
        choices: list[tuple[Engine, npt.NDArray[np.intp]]] = [
            (self._fragment, np.flatnonzero(drawn)),
            (self._diagonal, np.flatnonzero(~long & ~drawn)),
            (self._blocked, np.flatnonzero(long)),
        ]
        choices = [(engine, chosen) for engine, chosen in choices if len(chosen)]
        self._used += [each.name for each, _ in choices if each.name not in self._used]
        return choices
