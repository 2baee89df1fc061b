"""Engine ``auto`` of three sequences: each task goes to an engine that can do it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells, Paths
from glsw.device.device import Device
from glsw.device.info import COMPUTE
from glsw.engines.base import Capabilities, Progress
from glsw.engines.proof import ProofTask
from glsw.engines.three.base import Engine3
from glsw.engines.three.proof import proved3
from glsw.engines.three.reference import Reference3
from glsw.engines.three.subtable import Subtable
from glsw.scoring.three import Scoring3


class Auto3(Engine3):
    """Compute cells with one engine, and alignments with `Subtable`.

    Parameters
    ----------
    memory : int, optional
        Bytes of device memory for a chunk of triples; by default each engine's own.
    cells_by : type of Engine3, optional
        Computes scores, ends and tables; `Subtable` unless given. The results carry its name.
    polling : bool, optional
        As of `Subtable`.
    proves : bool
        Whether engines have to prove themselves on this device, see `glsw.engines.proof`.
    """

    name = "auto"
    capabilities = Capabilities(requires=COMPUTE, tasks=("score", "ends", "alignment"), memory=True)

    def __init__(
        self,
        scoring: Scoring3,
        device: Device | None = None,
        *,
        memory: int | None = None,
        cells_by: type[Engine3] | None = None,
        polling: bool | None = None,
        proves: bool = False,
    ) -> None:
        super().__init__(scoring, device)
        self._options: dict[str, Any] = {} if memory is None else {"memory": memory}
        self._polling = {} if polling is None else {"polling": polling}
        self._kind: type[Engine3] = cells_by or Subtable
        self._label = cells_by.name if cells_by else f"auto: {Subtable.name}"
        self._proves = proves
        self._engines: dict[tuple[type[Engine3], ProofTask], Engine3] = {}
        if not proves:  # errors of options are raised here
            self._cells, self._tracer  # noqa: B018

    @property
    def _cells(self) -> Engine3:
        return self._engine(self._kind, "ends")

    @property
    def _tracer(self) -> Engine3:
        return self._engine(Subtable, "alignment")

    def _engine(self, kind: type[Engine3], task: ProofTask) -> Engine3:
        """Return the engine that does a task, once it has proved that; else the reference."""
        if (kind, task) not in self._engines:
            same = [made for (each, _), made in self._engines.items() if each is kind]
            options = self._options | (self._polling if kind is Subtable else {})
            if self._proves:
                known = same[-1] if same else None
                made = proved3(kind, task, self.scoring, self.device, known, **options)
                self._engines[kind, task] = made or Reference3(self.scoring)
                if made is None and kind is self._kind:
                    self._label = f"auto: {Reference3.name}"
            else:
                self._engines[kind, task] = (
                    same[0] if same else kind(self.scoring, self.device, **options)
                )
        return self._engines[kind, task]

    @property
    def label(self) -> str:
        """The engine that computes the cells."""
        return self._label

    @property
    def memory_used(self) -> int:  # type: ignore[override]
        """The most that one of the engines kept, see `Engine3.memory_used`."""
        return max((engine.memory_used for engine in self._engines.values()), default=0)

    def best(self, triples: Batch, progress: Progress) -> BestCells:
        """Return the best cell of each triple, see `Engine3.best`."""
        return self._cells.best(triples, progress)

    def tables(
        self, triples: Batch, *, progress: Progress | None = None
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the table of each triple, see `Engine3.tables`."""
        return self._engine(self._kind, "table").tables(triples, progress=progress)

    def paths(self, triples: Batch, *, progress: Progress | None = None) -> Paths:
        """Return the best alignment of each triple, see `Engine3.paths`."""
        return self._tracer.paths(triples, progress=progress)

    def disjoint(
        self, triples: Batch, *, progress: Progress | None = None
    ) -> Iterator[tuple[int, Paths]]:
        """Yield the alignments of each triple that share no cell, see `Engine3.disjoint`."""
        self.check_disjoint(triples)
        return self._engine(Subtable, "masked").disjoint(triples, progress=progress)


def engine3_of(
    kind: type[Engine3],
    scoring: Scoring3,
    device: Device | None = None,
    *,
    proves: bool = False,
    **options: Any,
) -> Engine3:
    """Return an engine that does all tasks: a router around one that does not align.

    Parameters as of `glsw.engines.engine_of`; ``polling`` is for engines on a device.
    """
    if not kind.capabilities.requires:
        return kind(scoring, None, **options)
    if issubclass(kind, Auto3):
        return kind(scoring, device, proves=proves, **options)
    if "alignment" in kind.capabilities.tasks and not proves:
        return kind(scoring, device, **options)
    return Auto3(scoring, device, cells_by=kind, proves=proves, **options)
