"""Filling the tiles of chunks of the engine ``subtable``, which may wait for one another."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from glsw import caller
from glsw.alignment.paths import BestCells
from glsw.device.device import Device
from glsw.engines.base import Progress
from glsw.engines.recurrence import Uniform
from glsw.engines.three import gl
from glsw.engines.three.forms import TileForms
from glsw.engines.three.gl import Compute3, WaitedInVainError
from glsw.engines.three.tiles import Chunk, RowRange
from glsw.scoring.three import Scoring3

_T = TypeVar("_T")

_EMPTYING_GROUPS = 1024
_NOTHING_KEPT = {"TABLE": 0, "DIRECTIONS": 0, "MASKED": 0}
_CELLS_OF_UNIT = 2**24  # of which the throttle counts how many there is time for


class Filling(Compute3):
    """Base of `Subtable`: computes some rows of the tables of a chunk, tile by tile.

    Parameters
    ----------
    most_polls : int
        How often a tile asks for the same sides, before it has waited in vain.
    """

    _forms: TileForms

    def __init__(self, scoring: Scoring3, device: Device | None, most_polls: int) -> None:
        super().__init__(scoring, device)
        self._most_polls = most_polls
        self.memory_used = 0
        self._placed: npt.NDArray[np.void] | None = None

    def _prepare(self, chunk: Chunk, residues: npt.NDArray[np.uint8]) -> None:
        """Upload the triples of a chunk, if they are not there."""
        self.memory_used = max(self.memory_used, chunk.bytes)
        self.upload_residues(residues)
        if self._placed is chunk.records:
            self.reserve(gl.TRIPLES)
        else:
            self._placed = None
            self.upload(gl.TRIPLES, chunk.records)
            self._placed = chunk.records

    def _fill(
        self,
        chunk: Chunk,
        part: RowRange | None = None,
        *,
        progress: Progress,
        AGAIN: int = 0,  # noqa: N803
        **defines: int,
    ) -> None:
        """Compute some rows, or all of them."""
        part = part or chunk.everything
        polling = chunk.form.polling
        name = "subtable_waiting.comp" if polling else "subtable.comp"
        program = self.program(
            name, **{"AGAIN": AGAIN} | _NOTHING_KEPT | chunk.form.defines | defines
        )
        emptying = self.program("empty_sides.comp", **chunk.form.defines) if polling else None
        self.set_scores(program)
        self.set_origin(program, chunk.layout)
        for binding, size in chunk.sizes.items():
            self.reserve(binding, size)
        patches = chunk.most_patches(part)
        for rows in part.parts(chunk.rows_at_once):
            again = part.first // chunk.spacing - 1 if AGAIN else -1
            keeps = not AGAIN and rows.stop % chunk.spacing == 0
            known: dict[str, Uniform] = {
                "first_kept": part.first,
                "kept_number": (again, rows.stop // chunk.spacing - 1 if keeps else -1),
            }
            self.set(program, {name: known[name] for name in known if name in program})
            cells = chunk.cells_before(rows.stop) - chunk.cells_before(rows.first)
            compute = partial(self._poll, emptying) if emptying else self._wave
            compute(program, chunk, rows, patches, cells=cells, progress=progress)
        self.device.check("computing sub-tables")

    def _poll(
        self,
        emptying: Any,
        program: Any,
        chunk: Chunk,
        rows: RowRange,
        patches: tuple[int, int],
        **reported: Any,
    ) -> None:
        """Compute rows with all tiles in a dispatch, or as many of them as there is time for."""
        unit = chunk.rows_of(_CELLS_OF_UNIT)
        self.reserve(gl.TICKETS)
        program["patches_at_once"] = patches
        program["most_polls"] = self._most_polls

        def queue(units: range) -> None:
            self.set(emptying, chunk.empty_words)
            emptying.run(_EMPTYING_GROUPS)
            self.barrier()
            first, stop = (min(rows.first + unit * k, rows.stop) for k in (units.start, units.stop))
            program["first_row"], program["last_row"] = first, stop
            program.run(*patches, len(chunk.chosen))
            self.barrier()

        self._throttle.run_slices(-(-(rows.stop - rows.first) // unit), queue, **reported)

    def _wave(
        self,
        program: Any,
        chunk: Chunk,
        rows: RowRange,
        patches: tuple[int, int],
        **reported: Any,
    ) -> None:
        """Compute rows in tiles, those on a diagonal plane in a dispatch."""
        tile = chunk.form.tile_rows
        program["first_row"], program["last_row"] = rows.first, rows.stop
        tiles = -(-(rows.stop - rows.first) // tile)

        def step(wave: int) -> None:
            first = [max(0, wave + 2 - tiles - other) for other in patches[::-1]]
            groups = [min(own, wave + 1) - low for own, low in zip(patches, first, strict=True)]
            program["wave"] = wave, *first
            program.run(groups[0], groups[1], len(chunk.chosen))
            self.barrier()

        self._throttle.run(tiles + sum(patches) - 2, step, **reported)

    def _best(self, chunk: Chunk) -> BestCells:
        """Return the best cell of each triple of a chunk, see `Engine3.best`."""
        cells = self.download(gl.BEST, (np.int32, 4), chunk.sizes[gl.BEST] // 16)
        best = chunk.layout.best(cells, chunk.counts)
        return self.check_cells(chunk.layout, chunk.chosen, best)

    # tiles that wait for one another

    def _surely(self, compute: Callable[[Progress], _T], progress: Progress) -> _T:
        """Return what is computed; where tiles wait in vain, once more without any that wait."""
        reported = 0

        def first(cells: int) -> None:
            nonlocal reported
            reported += cells
            progress(cells)

        def rest(cells: int) -> None:
            nonlocal reported
            again = min(cells, reported)
            reported -= again
            progress(cells - again)

        try:
            return compute(first)
        except WaitedInVainError as error:
            self._wait_no_more(error)
        return compute(rest)

    def _wait_no_more(self, error: WaitedInVainError) -> None:
        """From now on compute the tiles on a diagonal plane in a dispatch."""
        if not self._forms.polling:
            raise error
        self._forms.polling = False
        caller.warn(
            f"{self.device.info.name}: {error}; they are computed again, one plane of tiles after "
            "another, and so are all from now on (polling off)",
            RuntimeWarning,
        )

    def _check(self, chunk: Chunk) -> None:
        """Raise `WaitedInVainError` if a tile of a chunk has."""
        if chunk.form.polling:
            self._best(chunk)
