"""Engines for three sequences by name, which all give the same results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells, Paths
from glsw.arrays import Int32
from glsw.device.device import Device
from glsw.device.info import COMPUTE
from glsw.engines.base import Capabilities, Progress
from glsw.engines.spec import EngineSpec
from glsw.trust.provable import first_right
from glsw.wings.three.engines.base import Engine3
from glsw.wings.three.engines.plane import Plane
from glsw.wings.three.engines.reference import Reference3
from glsw.wings.three.engines.subtable import Subtable
from glsw.wings.three.scoring import Scoring3

__all__ = ["ENGINES3", "Auto3", "Engine3", "Plane", "Reference3", "Spec3", "Subtable", "engine3_of"]


class Auto3(Engine3):
    """Compute scores, ends and tables with one engine, and alignments with `Subtable`.

    Parameters
    ----------
    cells_by : type of Engine3, optional
        Computes scores, ends and tables; by default `Subtable`. Results name this engine.
    proves : bool
        Whether engines have to pass their self-test on this device, see `glsw.trust`.
    polling : bool, optional
        As of `Subtable`.
    **options
        Of both engines.
    """

    name = "auto"
    capabilities = Capabilities(requires=COMPUTE, tasks=("score", "ends", "alignment"), memory=True)

    def __init__(
        self,
        scoring: Scoring3,
        device: Device | None = None,
        *,
        cells_by: type[Engine3] | None = None,
        proves: bool = False,
        polling: bool | None = None,
        **options: Any,
    ) -> None:
        super().__init__(scoring, device)
        self._options, self._polling, self._proves = options, polling, proves
        self._kind: type[Engine3] = cells_by or Subtable
        self._label = cells_by.name if cells_by else f"auto: {Subtable.name}"
        self._made: dict[tuple[str, int], Engine3] = {}  # by the context, too
        self._engines: dict[tuple[str, str, int], Engine3] = {}  # that tasks share
        if not proves:  # errors of options are raised here
            for task in ("ends", "alignment"):
                self.engine_for(task)

    def engine_for(self, task: str) -> Engine3:
        """Return the engine that does a task, once it has proved that; else the reference."""
        if (task, self.device.opened) not in self._made:
            kind = Subtable if task in ("alignment", "masked") else self._kind
            options = self._options
            if kind is Subtable and self._polling is not None:
                options = options | {"polling": self._polling}
            found: Engine3 | None
            if self._proves:
                given = [task], "engine 'reference'", self.scoring, self.device
                found = first_right(kind, *given, **options)
            else:
                found = kind(self.scoring, self.device, **options)
            if found is None and kind is self._kind:
                self._label = f"auto: {Reference3.name}"
            found = found or Reference3(self.scoring)
            alike = found.name, found.form, self.device.opened
            self._made[task, self.device.opened] = self._engines.setdefault(alike, found)
        return self._made[task, self.device.opened]

    @property
    def label(self) -> str:
        """The engine that computes the cells."""
        return self._label

    @property
    def memory_used(self) -> int:  # type: ignore[override]
        """The most that one of the engines kept, see `Engine3.memory_used`."""
        return max((engine.memory_used for engine in self._made.values()), default=0)

    def best(self, triples: Batch, progress: Progress) -> BestCells:
        """Return the best cell of each triple, see `Engine3.best`."""
        return self.engine_for("ends").best(triples, progress)

    def tables_of(self, triples: Batch, progress: Progress) -> Iterator[Int32]:
        """Yield the table of each triple, see `Engine3.tables`."""
        return self.engine_for("table").tables_of(triples, progress)

    def paths_of(self, triples: Batch, progress: Progress) -> Paths:
        """Return the best alignment of each triple, see `Engine3.paths`."""
        return self.engine_for("alignment").paths_of(triples, progress)

    def disjoint_of(self, triples: Batch, progress: Progress) -> Iterator[tuple[int, Paths]]:
        """Yield the alignments of each triple that share no cell, see `Engine3.disjoint`."""
        return self.engine_for("masked").disjoint_of(triples, progress)


ENGINES3: dict[str, type[Engine3]] = {
    engine.name: engine for engine in (Auto3, Subtable, Plane, Reference3)
}


def engine3_of(
    kind: type[Engine3],
    scoring: Scoring3,
    device: Device | None = None,
    *,
    proves: bool = False,
    **options: Any,
) -> Engine3:
    """Return an engine that supports all tasks: a router around one that does not align.

    Parameters as for `glsw.engines.engine_of`; ``polling`` is for engines on a device.
    """
    if not kind.capabilities.requires:
        return kind(scoring, None, **options)
    if issubclass(kind, Auto3):
        return kind(scoring, device, proves=proves, **options)
    if "alignment" in kind.capabilities.tasks and not proves:
        return kind(scoring, device, **options)
    return Auto3(scoring, device, cells_by=kind, proves=proves, **options)


@dataclass(frozen=True)
class Spec3(EngineSpec):
    """Specification of an engine of three sequences, a name in `ENGINES3`.

    Parameters
    ----------
    scoring : Scoring3
    polling : bool or None
        Whether tiles wait for one another, see `Subtable`.
    """

    scoring: Scoring3  # type: ignore[assignment]
    polling: bool | None = None

    @property
    def engines(self) -> Mapping[str, Any]:
        """The engines that may be named."""
        return ENGINES3

    @property
    def requires(self) -> tuple[int, int] | None:
        """The OpenGL version that the engine needs; ValueError if it cannot be made like this."""
        requires = super().requires
        if self.polling is not None and not requires:
            raise ValueError(f"engine {self.name!r} does not support polling")
        return requires

    def engine_of(self, kind: Any, device: Device | None, **options: Any) -> Any:
        """Return an engine on an open device, see `engine3_of`."""
        if self.polling is not None:
            options["polling"] = self.polling
        return engine3_of(kind, self.scoring, device, proves=True, **options)
