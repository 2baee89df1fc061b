"""Base of engine ``auto``: what it leaves to the one engine for queries with many targets."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, groupby
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.engines.base import Engine, Progress, ScanHints
from glsw.engines.proof import ProofTask, UnprovedError
from glsw.engines.tiles import BoundedTile, Passing
from glsw.sequences.encoded import Sequences

MANY, SOFTWARE_MANY = 2048, 8
"""Pairs of a scan from which they fill the lanes of a device."""
_LANES = "lanes"
TaskT = TypeVar("TaskT")
ScanT = TypeVar("ScanT", bound="tuple[Sequences, Sequences] | BoundedTile")
FoundT = TypeVar("FoundT")


class ScanningRouter(Engine):
    """Forwards scans to an engine, if there is one, and arbitrary pairs in turn to ``lanes``."""

    _scanner: type[Engine] | None
    _scans_all: bool
    _engines: dict[type[Engine], Engine]

    @property
    def scanner(self) -> Engine | None:
        """The engine for scans, if there is one."""
        return self._engine(self._scanner) if self._scanner else None

    def _engine(self, kind: type[Engine]) -> Engine:
        """Return the one instance of an engine, made when it is first needed."""
        raise NotImplementedError

    def _use(self, kind: type[Engine]) -> Engine:
        """Return an engine, and note its name for the results."""
        raise NotImplementedError

    def _prove(
        self, engine: Engine, task: ProofTask, pairs: Batch | tuple[Sequences, Sequences]
    ) -> None:
        """Have an engine prove that it does a task with such pairs, or each with each."""
        raise NotImplementedError

    def _choices(
        self, batch: Batch, *, ends: bool, align: bool
    ) -> list[tuple[str, npt.NDArray[np.intp]]]:
        """Return the engines to use, and the pairs of each."""
        raise NotImplementedError

    def proved_scanner(self, pairs: Batch | tuple[Sequences, Sequences]) -> Engine | None:
        """Return the engine for scans that has proved itself for such pairs, if there is one."""
        while self._scanner:
            scanner = self._engine(self._scanner)
            try:
                self._prove(scanner, "score", pairs)
                return scanner
            except UnprovedError as fault:
                self._replace(fault)
        return None

    @property
    def hints(self) -> ScanHints:
        """Those of the engine for scans."""
        return self._engine(self._scanner).hints if self._scanner else super().hints

    def get_ready(self, queries: Sequences, residues: int) -> None:
        """Get ready for a large `scan` of so many residues."""
        if self._scanner:
            self._engine(self._scanner).get_ready(queries, residues)

    def scores_each(
        self, batches: Iterable[Batch], *, progress: Progress | None = None
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the scores of batches, see `Engine.scores_each`."""
        return self._computed(batches, partial(self._scores_each, progress=progress))

    def _scores_each(
        self, batches: Iterable[Batch], progress: Progress | None
    ) -> Iterator[npt.NDArray[np.int32]]:
        for lanes, some in groupby(batches, self._lanes_alone):
            scores_each = lanes.scores_each if lanes else super().scores_each
            for found in scores_each(some, progress=progress):
                self.memory_used = max(self.memory_used, lanes.memory_used if lanes else 0)
                yield found

    def prepare(self, batch: Batch) -> None:
        """Compute what the engine for scans, if it is there already, will need of a batch."""
        if self._scanner in self._engines:
            self._engines[self._scanner].prepare(batch)

    def _lanes_alone(self, batch: Batch) -> Engine | None:
        """Return engine ``lanes`` if it computes all pairs of a batch together."""
        scanner = self._scanner
        if self.device.info.software or scanner is None or batch.masks is not None:
            return None
        if scanner.name != _LANES:
            return None
        self.check(batch)
        choices = self._choices(batch, ends=False, align=False)
        return self._use(scanner) if [name for name, _ in choices] == [_LANES] else None

    def scan_each(
        self, tasks: Iterable[tuple[Sequences, Sequences]], *, progress: Progress | None = None
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the best local scores of each task, see `Engine.scan_each`."""
        return self._computed(tasks, partial(self._scan_each, progress=progress))

    def _scan_each(
        self, tasks: Iterable[tuple[Sequences, Sequences]], progress: Progress | None
    ) -> Iterator[npt.NDArray[np.int32]]:
        scanner, tasks = self._scanning(tasks)
        scan = scanner.scan_each if scanner else super().scan_each
        for found in scan(chain(tasks, self._when_busy()), progress=progress):
            self.memory_used = max(self.memory_used, scanner.memory_used if scanner else 0)
            yield found

    def _computed(
        self, tasks: Iterable[TaskT], compute: Callable[[Iterator[TaskT]], Iterator[FoundT]]
    ) -> Iterator[FoundT]:
        """Yield what ``compute`` finds of each task; those that an engine does wrong, once more."""
        remaining = iter(tasks)
        begun: deque[TaskT] = deque()

        def beginning(left: Iterator[TaskT]) -> Iterator[TaskT]:
            for task in left:
                begun.append(task)
                yield task

        while True:
            try:
                for found in compute(beginning(remaining)):
                    begun.popleft()
                    yield found
                return
            except UnprovedError as fault:
                self._replace(fault)
                remaining = chain(list(begun), remaining)
                begun.clear()

    def _replace(self, fault: UnprovedError) -> None:
        """Go on with another variant of an engine that is wrong here, or without it."""
        raise NotImplementedError

    def _when_busy(self) -> Iterator[tuple[Sequences, Sequences]]:
        """Yield no task: it is asked for one while the device is busy with the last one."""
        self.get_ready_to_align()
        yield from ()

    def get_ready_to_align(self) -> None:
        """Get ready to align what a scan finds, if `get_ready` was called before."""

    def passing(
        self, tiles: Iterable[BoundedTile], *, progress: Progress | None = None
    ) -> Iterator[Passing]:
        """Yield the pairs of each tile that pass, see `Engine.passing`."""
        return self._computed(tiles, partial(self._passing, progress=progress))

    def _passing(
        self, tiles: Iterable[BoundedTile], progress: Progress | None
    ) -> Iterator[Passing]:
        scanner, tiles = self._scanning(tiles)
        if scanner is None:
            yield from super().passing(tiles, progress=progress)
            return
        for found in scanner.passing(tiles, progress=progress):
            self.memory_used = max(self.memory_used, scanner.memory_used)
            yield found

    def _scanning(self, tasks: Iterable[ScanT]) -> tuple[Engine | None, Iterable[ScanT]]:
        """Return the engine for tasks with so many targets as the first, None for few; and all."""
        remaining = iter(tasks)
        first = next(remaining, None)
        if first is None:
            return None, ()
        queries, part, *_ = first
        together = 1 if self.weak else len(queries)
        few = len(part) * together < self._many
        if not self._scanner or (few and not self._scans_all):
            return None, chain([first], remaining)
        scanner = self._use(self._scanner)
        return scanner, self._proving(scanner, chain([first], remaining))

    def _proving(self, scanner: Engine, tasks: Iterable[ScanT]) -> Iterator[ScanT]:
        """Yield tasks that the engine for scans has proved to do right."""
        for task in tasks:
            self._prove(scanner, "score", (task[0], task[1]))
            yield task

    @property
    def _many(self) -> int:
        return SOFTWARE_MANY if self.weak else MANY

    @property
    def weak(self) -> bool:
        """Whether the processor is faster than the device, or is the device."""
        return self.device.info.software or (
            self._scanner is not None and self._scanner.capabilities.requires is None
        )
