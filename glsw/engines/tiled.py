"""Tiles of a table or of regions of it, on block anti-diagonals (Scan 2014)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Masks
from glsw.alignment.paths import BestCells
from glsw.arrays import Int32, Int64
from glsw.device.device import Device
from glsw.engines import gl
from glsw.engines.base import Progress
from glsw.engines.gl import ROWS, Binding, Kernels
from glsw.engines.regions import Grid, Kept, Region, enclosing
from glsw.scoring.gaps import EndGaps, PositionalEndGaps
from glsw.scoring.scoring import Scoring

COLUMN_LEFT, KEPT = Binding("COLUMN_LEFT", 6), Binding("KEPT", 7)
_NEVER_BEATEN = 2**31 - 1
_SEQUENCES = gl.QUERIES, gl.TARGETS, gl.PAIRS
_MIN_PRUNED_RESIDUES = 2**18
_LOWEST_PACKED_GAP = 255  # below H, see kept.glsl
_MANY_ROWS = 2**17  # of which there are strips for all of a large device
_ROWS_OF_MANY, _SOFTWARE_ROWS = 12, 24  # of an invocation
_FEW_STRIPS = 128  # each on a multiprocessor of its own


class Tiled(Kernels):
    """Base of what computes tiles as engine ``blocked`` does: one pass over a table, or regions.

    Parameters as those of the engine.
    """

    bindings = (*Kernels.bindings, COLUMN_LEFT, KEPT)

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
        ahead: int | None = None,
    ) -> None:
        super().__init__(scoring, device, workgroup=workgroup)
        self._workgroup, self._tile_columns = workgroup, columns
        self._rows = self._defines["ROWS"] = rows
        self._memory = memory
        self._prune = prune
        self._ahead = ahead or (1 if self.device.info.software else 2**16 - 1)
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

    def _start(self, tables: Sequence[Region]) -> None:
        """Make room, and set the borders of whole tables."""
        whole = enclosing(tables)
        rows, _ = self._tiles(whole)
        height = rows * self._height + rows + 1
        left = np.empty((len(tables), height, 2), np.int32)
        left[:, :, 1] = self._uniforms["border_gap"]
        for own, table in zip(left, tables, strict=True):
            own[:, 0] = table.corner
            if ends := self._ends_of(table):
                own[: table.m, 0] += ends.left(np.arange(1, table.m + 1)).astype(np.int32)
        self.upload(gl.ROW_ABOVE, self._row_above(tables))
        self.upload(COLUMN_LEFT, left)
        self.reserve(KEPT, 16)
        extend = min(self.scoring.gap_extend, self.scoring.insertion[1])
        low = max(self.scoring.gap_open, self.scoring.insertion[0]) - extend
        if gaps := self.scoring.gaps:
            low = int((gaps.opens - gaps.extends).max())
        most = max(0, self.scoring.maximum)
        high = max(table.corner + most * min(table.m, table.n) for table in tables)
        self._packed = high < 2**24 and low <= _LOWEST_PACKED_GAP
        self._spare = max(self._memory - 8 * (whole.n + height) * len(tables), 2**10)

    def _row_above(self, tables: Sequence[Region], *, gap_next: bool = False) -> Int32:
        """Return H and F of the rows above tables, or F of their first rows, shape (N, n, 2)."""
        above = np.empty((len(tables), enclosing(tables).n, 2), np.int32)
        above[:, :, 0] = np.array([[table.corner] for table in tables])
        above[:, :, 1] = self._uniforms["border_gap"]
        columns = np.arange(1, above.shape[1] + 1)
        for own, table in zip(above, tables, strict=True):
            if ends := self._ends_of(table):
                own[:, 0] += ends.above(columns).astype(np.int32)
        if gap_next:
            above[:, :, 1] = np.maximum(above[:, :, 0] - self.scoring.insertion.open, 0)
        return above

    def _ends_of(self, region: Region) -> EndGaps | PositionalEndGaps | None:
        """Return the end gaps of a whole table."""
        query = self._uploaded[gl.QUERIES].residues[region.query : region.query + region.m]
        return self.scoring.ends_of(query)

    def _fill(
        self,
        regions: Sequence[Region],
        kept: Kept | None = None,
        *,
        ends: bool = False,
        prune: bool = False,
        to_reach: int = 0,
        directions: bool = False,
        best: bool = True,
        progress: Progress | None = None,
    ) -> None:
        """Compute all tiles of regions whose borders are on the device, and their best cells.

        Of each, what ``kept`` says is kept, or the directions. With ``prune`` tiles are left out
        that cannot reach the best score, or that of a path to the last cell, ``to_reach``.
        """
        whole = enclosing(regions)
        rows, columns = self._tiles(whole)
        grid = kept.grid if kept else Grid()
        places, words = self._masks_of(regions, 4 * (rows + 1) * len(regions))
        program = self.program(
            "blocked.comp",
            WORKGROUP=self._lanes,
            COLUMNS=self._columns,
            ENDS=1 if ends or kept or directions or len(words) else None,
            PRUNE=1 if prune else None,
            DIRECTIONS=1 if directions else None,
            MASKED=1 if len(words) else None,
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
        self._describe(regions, places)
        cells = np.zeros((len(regions), rows + 1, 4), np.int32)
        cells[:, rows, 0] = 0 if best else _NEVER_BEATEN
        self.upload(gl.BEST, np.append(cells, words))
        self.reserve(COLUMN_LEFT)
        self.reserve(kept_binding(grid.level))

        def dispatch(k: int) -> None:
            first = max(0, k - columns + 1)
            program["block_diagonal"], program["first_row"] = k, first
            program.run(min(rows, k + 1) - first, len(regions))

        cells_of_all = sum(region.m * region.n for region in regions)
        self._run(cells_of_all, rows + columns - 1, dispatch, progress)

    def _masks_of(self, regions: Sequence[Region], first: int) -> tuple[Int64, Int32]:
        """Return where masks of regions begin, and their words from ``first`` on.

        There are none if nothing is forbidden in these regions, which then are as without masks.
        """
        if any(region.mask is not None for region in regions):
            if self._rows * gl.STEP > 32:  # a word has the forbidden cells of a step
                raise ValueError(f"rows {self._rows}: at most {32 // gl.STEP} expected with masks")
            parts = [region.forbidden for region in regions]
            if any(len(part.columns) for part in parts):
                places, words = gl.mask_words(Masks.of(parts), first, self._rows)
                return places, np.append(words, np.zeros(-(first + len(words)) % 4, np.int32))
        return np.zeros(len(regions), np.int64), np.empty(0, np.int32)

    def _prunes(self, region: Region) -> bool:
        large = min(region.m, region.n) >= _MIN_PRUNED_RESIDUES
        return self.scoring.local and (large if self._prune is None else self._prune)

    def _lean(
        self,
        tables: Sequence[Region],
        letters: int,
        *,
        ends: bool,
        prune: bool,
        progress: Progress,
    ) -> BestCells:
        """Compute all leaning tiles of whole tables; see blocked_leaning.comp.

        Targets have codes below ``letters``. Returns the best cells.
        """
        whole = enclosing(tables)
        rows, lanes = self._rows_of_strips(whole.m), self._lanes
        strips = -(-whole.m // (lanes * rows))
        at_once = strips * len(tables)
        # The sweep wants parts that begin at multiples of its invocations.
        columns = self._tile_columns or self._columns * (1 if at_once <= _FEW_STRIPS else 2)
        step = self.columns_at_once()
        steps = max(1, -(-columns // (2 * step * lanes))) * lanes
        total, lag = -(-whole.n // step) + lanes - 1, steps + lanes
        program = self.program(
            "blocked_leaning.comp",
            WORKGROUP=lanes,
            ROWS=rows,
            STEPS=steps,
            ENDS=1 if ends else None,
            LINEAR=None,
            PRUNE=1 if prune else None,
            PROFILE=letters if self._profiled(at_once, rows, letters) else None,
        )
        program["tile_rows"], program["row_size"] = strips, whole.n
        if prune:
            program["gain"] = max(0, self.scoring.maximum)
        self._describe(tables)
        self.upload(gl.ROW_ABOVE, self._row_above(tables, gap_next=True))
        self.zero(gl.BEST, 16 * (strips + 1) * len(tables))
        self.reserve(COLUMN_LEFT, 8 * at_once * lanes * (rows + step + 1))

        def dispatch(k: int) -> None:
            first = max(0, (k * steps - total) // lag + 1)
            program["time"], program["first_row"] = k * steps, first
            last = min(strips, ((k + 1) * steps - 1) // lag + 1)
            program.run(last - first, len(tables))

        dispatches = -(-(total + (strips - 1) * lag) // steps)
        self._run(sum(each.m * each.n for each in tables), dispatches, dispatch, progress)
        return self._best_cells(strips, len(tables))

    def _rows_of_strips(self, m: int) -> int:
        """Return the rows of each invocation in leaning tiles."""
        if self._rows != ROWS:
            return self._rows
        if self.device.info.software:
            return _SOFTWARE_ROWS if m >= 4 * _SOFTWARE_ROWS * self._lanes else ROWS
        return ROWS if m < _MANY_ROWS else _ROWS_OF_MANY

    def _profiled(self, strips: int, rows: int, letters: int) -> bool:
        """Tell whether work groups put the scores of their rows into shared memory.

        On hardware, if so few run at once that none has to wait for that memory.
        """
        size = 4 * letters * rows * self._lanes
        fits = 3 * size <= self.device.info.limits["max_shared_memory"]
        return not self.device.info.software and fits and rows % 4 == 0 and strips <= _FEW_STRIPS

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

    def _describe(self, regions: Sequence[Region], masks: npt.ArrayLike = 0) -> None:
        """Tell the shaders which residues the regions have, and where their masks begin."""
        records = np.zeros(len(regions), gl.PAIR)
        for record, region in zip(records, regions, strict=True):
            record["query_length"], record["target_length"] = region.m, region.n
            record["query"] = region.query + max(region.i, 0)
            record["target"] = region.target + max(region.j, 0)
        records["mask"] = masks
        self.upload(gl.PAIRS, records)

    def _best_cells(self, rows: int, tables: int) -> BestCells:
        """Return the best cells of tables of so many tile rows."""
        stored = self.download(gl.BEST, (np.int32, 4), (rows + 1) * tables)
        each = stored.reshape(tables, rows + 1, 4)[:, :rows].reshape(-1, 4)
        score, diagonal, i, _ = each.T
        best_first = np.lexsort((i, -diagonal, -score, np.arange(len(each)) // rows))
        return gl.best_cells(each[best_first[::rows]])

    def _direction_bytes(self, region: Region) -> int:
        return 4 * self._tiles(region)[0] * self._lanes * (region.n + self._lanes - 1)


def kept_binding(level: int) -> Binding:
    """Return the buffer of kept rows and columns of a level: of the table, of regions in it."""
    return KEPT if level == 0 else KEPT._replace(name=f"KEPT at level {level}")
