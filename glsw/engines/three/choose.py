"""Engine ``auto`` of three sequences: each task goes to an engine that can do it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.device import Device
from glsw.device.info import COMPUTE
from glsw.engines.base import Capabilities, Progress
from glsw.engines.three.base import Engine3
from glsw.engines.three.subtable import Subtable
from glsw.paths import BestCells, Paths
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
    ) -> None:
        super().__init__(scoring, device)
        options: dict[str, Any] = {} if memory is None else {"memory": memory}
        self._tracer = Subtable(scoring, device, polling=polling, **options)
        self._cells = cells_by(scoring, device, **options) if cells_by else self._tracer
        self._label = cells_by.name if cells_by else f"auto: {Subtable.name}"

    @property
    def label(self) -> str:
        """The engine that computes the cells."""
        return self._label

    @property
    def memory_used(self) -> int:  # type: ignore[override]
        """The most that one of the engines kept, see `Engine3.memory_used`."""
        return max(self._cells.memory_used, self._tracer.memory_used)

    def best(self, triples: Batch, progress: Progress) -> BestCells:
        """Return the best cell of each triple, see `Engine3.best`."""
        return self._cells.best(triples, progress)

    def tables(
        self, triples: Batch, *, progress: Progress | None = None
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the table of each triple, see `Engine3.tables`."""
        return self._cells.tables(triples, progress=progress)

    def paths(self, triples: Batch, *, progress: Progress | None = None) -> Paths:
        """Return the best alignment of each triple, see `Engine3.paths`."""
        return self._tracer.paths(triples, progress=progress)

    def disjoint(
        self, triples: Batch, *, progress: Progress | None = None
    ) -> Iterator[tuple[int, Paths]]:
        """Yield the alignments of each triple that share no cell, see `Engine3.disjoint`."""
        return self._tracer.disjoint(triples, progress=progress)


def engine3_of(
    kind: type[Engine3], scoring: Scoring3, device: Device | None = None, **options: Any
) -> Engine3:
    """Return an engine that does all tasks: a router around one that does not align.

    Parameters as of `glsw.engines.engine_of`; ``polling`` is for engines on a device.
    """
    if not kind.capabilities.requires:
        device = None
    if "alignment" in kind.capabilities.tasks:
        return kind(scoring, device, **options)
    return Auto3(scoring, device, cells_by=kind, **options)
