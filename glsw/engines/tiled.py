"""Tiles of a table or of regions of it, on block anti-diagonals (Scan 2014)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import moderngl
import numpy as np

from glsw.device.device import Device
from glsw.engines import gl
from glsw.engines.base import Progress, Ties
from glsw.engines.gl import ROWS, Binding, ComputeEngine
from glsw.engines.regions import Grid, Kept, Region, enclosing
from glsw.paths import BestCells
from glsw.scoring.positional import gaps_by_position
from glsw.scoring.scoring import Scoring

COLUMN_LEFT, KEPT = Binding("COLUMN_LEFT", 6), Binding("KEPT", 7)
_NEVER_BEATEN = 2**31 - 1
_SEQUENCES = gl.QUERIES, gl.TARGETS, gl.PAIRS
_MIN_PRUNED_RESIDUES = 2**18
_LOWEST_PACKED_GAP = 255  # below H, see kept.glsl


class Tiled(ComputeEngine):
    """Base of engine ``blocked``: what it computes in one pass over a table, or over regions.

    Parameters and attributes as there.
    """

    bindings = (*ComputeEngine.bindings, COLUMN_LEFT, KEPT)

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        workgroup: int | None = None,
        columns: int | None = None,
        rows: int = ROWS,
        memory: int = 2**30,
        prune: bool | None = None,
    ) -> None:
        super().__init__(scoring, device, workgroup=workgroup)
        self._workgroup, self._tile_columns = workgroup, columns
        self._rows = self._defines["ROWS"] = rows
        self._memory = memory
        self._prune = prune
        self._lanes = self._height = self._columns = self._spare = 0
        self._packed = False
        self.memory_used = 0

    def _shape(self, m: int) -> None:
        """Choose tiles for queries of m residues."""
        if self.device.info.software:
            lanes, columns = 8, 1024
        else:
            lanes = 32 if m < 2**11 else 64 if m < 2**13 else 128
            columns = 4 * lanes
        self._lanes = self._workgroup or lanes
        self._height = self._lanes * self._rows
        self._columns = self._tile_columns or columns

    def _tiles(self, region: Region) -> tuple[int, int]:
        """Return the number of tile rows and of tile columns."""
        return -(-region.m // self._height), -(-region.n // self._columns)

    def _start(self, region: Region) -> None:
        """Make room, and set the borders of the whole table."""
        rows, _ = self._tiles(region)
        height = rows * self._height + rows + 1
        above, left = (np.empty((size, 2), np.int32) for size in (region.n, height))
        gaps = gaps_by_position(self.scoring)
        above[:, 1] = left[:, 1] = -(gaps.most.open if gaps else self.scoring.gap_open)
        above[:, 0] = left[:, 0] = region.corner
        if ends := self.scoring.end_gaps:
            above[:, 0] += ends.above(np.arange(1, region.n + 1)).astype(np.int32)
            left[: region.m, 0] += ends.left(np.arange(1, region.m + 1)).astype(np.int32)
        self.upload(gl.ROW_ABOVE, above)
        self.upload(COLUMN_LEFT, left)
        self.reserve(KEPT, 16)
        extend = min(self.scoring.gap_extend, self.scoring.insertion[1])
        low = max(self.scoring.gap_open, self.scoring.insertion[0]) - extend
        if gaps:
            low = int((gaps.opens - gaps.extends).max())
        high = region.corner + max(0, self.scoring.maximum) * min(region.m, region.n)
        self._packed = high < 2**24 and low <= _LOWEST_PACKED_GAP
        self._spare = max(self._memory - 8 * (region.n + height), 2**10)

    def _fill(
        self,
        regions: Sequence[Region],
        kept: Kept | None = None,
        *,
        ends: bool = False,
        ties: Ties = "conventional",
        prune: bool = False,
        to_reach: int = 0,
        directions: bool = False,
        best: bool = True,
        progress: Progress | None = None,
    ) -> None:
        """Compute all tiles of regions whose borders are on the device, and the best cell of one.

        Of each, what ``kept`` says is kept, or the directions. With ``prune`` tiles are left out
        that cannot reach the best score, or that of a path to the last cell, ``to_reach``.
        """
        whole = enclosing(regions)
        rows, columns = self._tiles(whole)
        grid = kept.grid if kept else Grid()
        program = self.program(
            "blocked.comp",
            WORKGROUP=self._lanes,
            COLUMNS=self._columns,
            ENDS=1 if ends else None,
            TIES_ANY=1 if ends and ties == "any" else None,
            PRUNE=1 if prune else None,
            DIRECTIONS=1 if directions else None,
            PACKED=1 if kept and self._packed else None,
        )
        program["tile_rows"], program["row_size"] = rows, whole.n
        program["row_spacing"], program["column_spacing"] = grid.rows, grid.columns
        program["kept_size"] = kept.size if kept else 0
        if directions:
            program["region_words"] = self._direction_bytes(whole) // 4
            self.reserve(gl.DIRECTIONS, self._direction_bytes(whole) * len(regions))
        if prune:
            program["gain"], program["to_reach"] = max(0, self.scoring.maximum), to_reach
        self._describe(regions)
        cells = np.zeros((rows + 1, 4), np.int32)
        cells[rows, 0] = 0 if best else _NEVER_BEATEN
        self.upload(gl.BEST, cells)
        self.reserve(COLUMN_LEFT)
        self.reserve(kept_binding(grid.level))

        def dispatch(k: int) -> None:
            first = max(0, k - columns + 1)
            program["block_diagonal"], program["first_row"] = k, first
            program.run(min(rows, k + 1) - first, len(regions))

        cells_of_all = sum(region.m * region.n for region in regions)
        self._run(cells_of_all, rows + columns - 1, dispatch, progress)

    def _prunes(self, region: Region) -> bool:
        large = min(region.m, region.n) >= _MIN_PRUNED_RESIDUES
        return self.scoring.local and (large if self._prune is None else self._prune)

    def _lean(self, region: Region, ends: bool, ties: Ties, progress: Progress) -> None:
        """Compute all leaning tiles of a whole table; see blocked_leaning.comp."""
        # The sweep wants parts that begin at multiples of its invocations.
        rows, steps = self._tiles(region)[0], self._columns // (2 * gl.STEP)
        steps = max(1, -(-steps // self._lanes)) * self._lanes
        program = self.program(
            "blocked_leaning.comp",
            WORKGROUP=self._lanes,
            STEPS=steps,
            ENDS=1 if ends else None,
            TIES_ANY=1 if ends and ties == "any" else None,
        )
        program["tile_rows"] = rows
        self._describe([region])
        self.zero(gl.BEST, 16 * (rows + 1))
        self.reserve(COLUMN_LEFT, 8 * rows * self._lanes * (self._rows + gl.STEP + 1))
        columns = -(-(-(-region.n // gl.STEP) + self._lanes - 1) // steps)

        def dispatch(k: int) -> None:
            first = max(0, (k - columns + 2) // 2)
            program["block_diagonal"], program["first_row"] = k, first
            program.run(min(rows - 1, k // 2) - first + 1)

        self._run(region.m * region.n, columns + 2 * (rows - 1), dispatch, progress)

    def _run(
        self, cells: int, steps: int, step: Callable[[int], None], progress: Progress | None
    ) -> None:
        """Dispatch one block anti-diagonal after the other."""

        def ordered(k: int) -> None:
            step(k)
            self.device.ctx.memory_barrier(moderngl.SHADER_STORAGE_BARRIER_BIT)

        self._throttle.run(steps, ordered, cells=cells, progress=progress)
        self.device.check("computing blocks")
        held = sum(self._buffers[each].size for each in self._buffers if each not in _SEQUENCES)
        self.memory_used = max(self.memory_used, held)

    @property
    def _word(self) -> int:
        """Bytes of a kept H and E or F."""
        return 4 if self._packed else 8

    def _describe(self, regions: Sequence[Region]) -> None:
        """Tell the shaders which residues the regions have."""
        records = np.zeros(len(regions), gl.PAIR)
        for record, region in zip(records, regions, strict=True):
            record["query_length"], record["target_length"] = region.m, region.n
            record["query"] = region.query + max(region.i, 0)
            record["target"] = region.target + max(region.j, 0)
        self.upload(gl.PAIRS, records)

    def _best_cell(self, region: Region) -> BestCells:
        """Return the best of the best cells of the tile rows."""
        stored = self.download(gl.BEST, (np.int32, 4), self._tiles(region)[0])
        score, diagonal, i, _ = stored.T
        return gl.best_cells(stored[np.lexsort((i, -diagonal, -score))[:1]])

    def _direction_bytes(self, region: Region) -> int:
        return 4 * self._tiles(region)[0] * self._lanes * (region.n + self._lanes - 1)


def kept_binding(level: int) -> Binding:
    """Return the buffer of kept rows and columns of a level: of the table, of regions in it."""
    return KEPT if level == 0 else KEPT._replace(name=f"KEPT at level {level}")
