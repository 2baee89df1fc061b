"""The maps and the paths that a window shows, computed by a thread while it is drawn."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.aligner import Aligner
from glsw.wings.dotplot.axis import Axis, segments_of
from glsw.wings.dotplot.colours import Scale
from glsw.wings.dotplot.mapper import Mapper, Maps, Sign, complement
from glsw.wings.view.viewport import Part, Request

_MAX_PATH_CELLS_ON_CPU, _MAX_PATH_CELLS = 2**22, 2**32
"""Cells of a part of the table of which the best alignments are shown too."""

Path: TypeAlias = npt.NDArray[np.int64]
"""The ends of the runs of an alignment, shape (2, K): positions of the queries, of the targets."""


@dataclass(frozen=True, eq=False)
class Computed:
    """A map, or what there is of it so far.

    Parameters
    ----------
    request : Request
    rows, columns : Axis
    maps : dict
        As of `Mapper.maps`; strands that are not computed yet are missing.
    cap : int
        Of the scores, in integer units.
    complete : bool
    paths : tuple of (strand, score, Path)
        The best alignment of each strand in the part; empty if it is too large.
    """

    request: Request
    rows: Axis
    columns: Axis
    maps: Maps
    cap: int
    complete: bool = False
    paths: tuple[tuple[Sign, int | float, Path], ...] = ()

    @property
    def scale(self) -> Scale:
        """The scale of its colours."""
        return Scale.of(self.maps, self.cap)


class Cancelled(Exception):  # noqa: N818
    """The map is not wanted any more."""


class Computer:
    """Computes what a window shows.

    Parameters
    ----------
    aligner : Aligner
    mapper : Mapper
    """

    def __init__(self, aligner: Aligner, mapper: Mapper) -> None:
        self._aligner, self.mapper = aligner, mapper
        software = mapper.device.info.software
        self.pixels_per_tile = 3.0 if software else 1.5
        self._max_path_cells = _MAX_PATH_CELLS_ON_CPU if software else _MAX_PATH_CELLS

    @property
    def lengths(self) -> tuple[int, int]:
        """Residues of all queries, and of all targets."""
        queries, targets = self.mapper.queries, self.mapper.targets
        return int(queries.sequences.offsets[-1]), int(targets.sequences.offsets[-1])

    def codes(self, part: Part) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Return the codes of the queries and of the targets of a part."""
        query = self.mapper.queries.sequences.residues
        target = self.mapper.targets.sequences.residues
        return (
            query[part.query_start : part.query_end],
            target[part.target_start : part.target_end],
        )

    def compute(self, request: Request, show: Callable[[Computed], None]) -> Computed:
        """Return the map of a request; ``show`` gets what there is of it, and may raise."""
        part, mapper = request.part, self.mapper
        tile = mapper.tile(request.side)
        rows, columns = mapper.axes(
            segments_of(mapper.queries, part.query_start, part.query_end),
            segments_of(mapper.targets, part.target_start, part.target_end),
            tile,
        )
        found = Computed(request, rows, columns, {}, mapper.cap(tile.side))

        def partial(sign: Sign, tiles: npt.NDArray[np.int32]) -> None:
            nonlocal found
            found = replace(found, maps=found.maps | {sign: tiles})
            show(found)

        if rows.tiles and columns.tiles:
            maps = mapper.maps(rows, columns, tile, partial=partial)
            found = replace(found, maps=maps, complete=True)
            show(found)
            if part.cells <= self._max_path_cells:
                found = replace(found, paths=self._paths(found))
        return replace(found, complete=True)

    def _paths(self, found: Computed) -> tuple[tuple[Sign, int | float, Path], ...]:
        """Return the best alignment of each strand, if the part has one query and one target."""
        if len(found.rows.segments) != 1 or len(found.columns.segments) != 1:
            return ()
        part = found.request.part
        query, target = self.codes(part)
        paths = []
        for sign in found.maps:
            turned = complement(target[::-1], self.mapper.scoring.alphabet)
            best = self._aligner.align(query, target if sign == "+" else turned)
            if best.score < found.scale.low / self.mapper.scoring.scale or not best.columns:
                continue
            targets, queries = best.coordinates
            if sign == "-":
                targets = len(target) - targets
            at = np.stack([queries + part.query_start, targets + part.target_start])
            paths.append((sign, best.score, at.astype(np.int64)))
        return tuple(paths)


class Worker(Protocol):
    """What computes maps for a window."""

    def submit(self, request: Request) -> None:
        """Compute this map next; what is being computed is not wanted any more."""

    def latest(self) -> Computed | None:
        """Return the last map, perhaps not complete."""

    @property
    def busy(self) -> bool:
        """Whether a map is being computed."""


class ThreadedWorker:
    """A worker that computes in a thread of its own; an error of it is raised by `latest`.

    Parameters
    ----------
    computer : Computer
    """

    def __init__(self, computer: Computer) -> None:
        self._computer = computer
        self._condition = threading.Condition()
        self._next: Request | None = None
        self._running = self._closed = False
        self._latest: Computed | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="glsw view", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether a map is being computed, or waits for that."""
        with self._condition:
            return self._running or self._next is not None

    def submit(self, request: Request) -> None:
        """Compute this map next, instead of the one that is being computed."""
        with self._condition:
            self._next = request
            self._condition.notify()

    def latest(self) -> Computed | None:
        """Return the last map, perhaps not complete."""
        with self._condition:
            if self._error:
                raise self._error
            return self._latest

    def close(self) -> None:
        """End the thread."""
        with self._condition:
            self._closed = True
            self._condition.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._condition:
                self._running = False
                self._condition.wait_for(lambda: self._next is not None or self._closed)
                if self._closed:
                    return
                request, self._next = self._next, None
                self._running = True
            assert request is not None
            try:
                self._show(self._computer.compute(request, self._show))
            except Cancelled:
                pass
            except Exception as error:  # raised in the thread of the window
                with self._condition:
                    self._error = error

    def _show(self, found: Computed) -> None:
        with self._condition:
            if self._next is not None or self._closed:
                raise Cancelled
            self._latest = found
