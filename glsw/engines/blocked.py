"""Engine ``blocked``: tiles on block anti-diagonals, for pairs of any length (Scan 2014)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines import gl
from glsw.engines.base import ALL_MODES, Capabilities, Progress, Ties, check_ties
from glsw.engines.gl import COMPUTE, MAX_ROUNDS, ROWS, Binding, ComputeEngine
from glsw.engines.regions import Grid, Region, Trace
from glsw.paths import BestCells, Paths
from glsw.scoring.scoring import Scoring

_COLUMN_LEFT, _KEPT = Binding("COLUMN_LEFT", 6), Binding("KEPT", 7)
_CORNER = Binding("CORNER", gl.PATHS.number)  # for the host; PATHS is bound before its next use
_NEVER_BEATEN = 2**31 - 1
_SEQUENCES = gl.QUERIES, gl.TARGETS, gl.PAIRS
_MIN_PRUNED_RESIDUES = 2**18
_STOP, _OVER = 0, 3
"""The gaps of a trace in H, and of one that has ended: see trace.glsl."""


_Runs = list[npt.NDArray[np.uint32]]


class Blocked(ComputeEngine):
    """Cut a table into tiles and compute all tiles of a block anti-diagonal in a dispatch.

    Only borders of tiles leave the work groups, so memory is linear in the lengths; a pair of any
    length keeps the whole device busy. For alignments rows and columns of tiles are kept, as many
    as the memory allows; the regions between them that the path crosses are computed again, from
    the last to the first, until the directions of a region fit the memory.

    Parameters
    ----------
    workgroup : int, optional
        Invocations of a work group, a power of two.
    rows : int
        Rows of a tile that each invocation has, up to 8.
    columns : int, optional
        Columns of a tile.
    memory : int
        Bytes of device memory for borders, kept rows and columns, and directions. The borders of
        the pair and two kept rows and columns are the least that is needed, 32 (m + n) bytes.
    prune : bool, optional
        Leave out tiles that cannot reach the best score so far; the result is the same. By default
        only where both sequences have 2**18 residues and more: below, leaning tiles, which are
        not pruned, keep more of the device busy.

    Attributes
    ----------
    memory_used : int
        Bytes that the largest pair took so far, sequences apart.
    """

    name = "blocked"
    capabilities = Capabilities(
        requires=COMPUTE,
        tasks=("score", "ends", "alignment"),
        modes=ALL_MODES,
        separate_gaps=True,
        memory=True,
        workloads=("pairs", "long pairs"),
    )
    bindings = (*ComputeEngine.bindings, _COLUMN_LEFT, _KEPT)

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
        self.memory_used = 0

    def best(
        self, batch: Batch, ends: bool, progress: Progress, *, ties: Ties = "conventional"
    ) -> BestCells:
        """Return the best cell of each pair, see `Engine.best`."""
        found = BestCells.zeros(len(batch))
        for p, region in self._regions(batch):
            self._start(region)
            if self._prunes(region):
                self._fill(region, Grid(), ends=ends, ties=ties, prune=True, progress=progress)
            else:
                self._lean(region, ends, ties, progress)
            found.put(p, self._best_cell(region))
        return found

    def paths(
        self, batch: Batch, *, ties: Ties = "conventional", progress: Progress | None = None
    ) -> Paths:
        """Return the best local alignment of each pair, in memory linear in its lengths."""
        check_ties(ties)
        self.check(batch)
        cells = BestCells.zeros(len(batch))
        runs = [np.empty(0, np.uint32)] * len(batch)
        for p, region in self._regions(batch):
            self._start(region)
            grid = self._grid(region, level=0)
            directions = grid.empty
            if not directions:
                self._keep_borders(region, grid)
            self._fill(
                region,
                grid,
                ends=True,
                ties=ties,
                prune=self._prunes(region) and not directions,
                directions=directions,
                progress=progress,
            )
            best = self._best_cell(region)
            cells.put(p, best)
            if best.score[0]:
                trace = Trace(int(best.i[0]), int(best.j[0]), _STOP)
                found: list[npt.NDArray[np.uint32]] = []
                if directions:
                    self._follow(region, trace, found)
                else:
                    self._cross(region, grid, trace, found)
                runs[int(p[0])] = np.concatenate(found)
        ends = self.ends_of(batch, cells)
        for without in np.flatnonzero(np.minimum(ends.query_end, ends.target_end) == 0).tolist():
            runs[without] = runs[without][:0]  # gaps alone
        return Paths.of(ends, runs)

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

    def largest_buffer(self, m: int, n: int, *, alignment: bool = False) -> int:
        """Return the bytes of the borders of a table; kept rows and columns may be fewer."""
        return max(8 * n, 2 * 8 * m)

    def _regions(self, batch: Batch) -> Iterator[tuple[npt.NDArray[np.intp], Region]]:
        """Upload the sequences; yield each pair that has cells, and its whole table."""
        self.upload_sequences(batch)
        for p in np.flatnonzero((batch.query_lengths > 0) & (batch.target_lengths > 0)).tolist():
            query = int(batch.queries.offsets[batch.query_index[p]])
            target = int(batch.targets.offsets[batch.target_index[p]])
            m, n = int(batch.query_lengths[p]), int(batch.target_lengths[p])
            self._shape(m)
            yield (
                np.array([p]),
                Region(query, target, 0, 0, m, n, int(self.scoring.score_offset(m, n))),
            )

    # One region: its borders on the device, its tiles, its best cell.

    def _tiles(self, region: Region) -> tuple[int, int]:
        """Return the number of tile rows and of tile columns."""
        return -(-region.m // self._height), -(-region.n // self._columns)

    def _start(self, region: Region) -> None:
        """Make room, and set the borders of the whole table."""
        rows, _ = self._tiles(region)
        height = rows * self._height + rows + 1
        above, left = (np.empty((size, 2), np.int32) for size in (region.n, height))
        above[:, 1] = left[:, 1] = -self.scoring.gap_open
        above[:, 0] = left[:, 0] = region.corner
        if ends := self.scoring.end_gaps:
            above[:, 0] += ends.above(np.arange(1, region.n + 1)).astype(np.int32)
            left[: region.m, 0] += ends.left(np.arange(1, region.m + 1)).astype(np.int32)
        self.upload(gl.ROW_ABOVE, above)
        self.upload(_COLUMN_LEFT, left)
        self.reserve(_KEPT, 16)
        self._spare = max(self._memory - 8 * (region.n + height), 2**10)

    def _fill(
        self,
        region: Region,
        grid: Grid,
        *,
        ends: bool = False,
        ties: Ties = "conventional",
        prune: bool = False,
        directions: bool = False,
        best: bool = True,
        progress: Progress | None = None,
    ) -> None:
        """Compute all tiles of a region whose borders are on the device, and the best cell."""
        rows, columns = self._tiles(region)
        program = self.program(
            "blocked.comp",
            WORKGROUP=self._lanes,
            COLUMNS=self._columns,
            ENDS=1 if ends else None,
            TIES_ANY=1 if ends and ties == "any" else None,
            PRUNE=1 if prune else None,
            DIRECTIONS=1 if directions else None,
        )
        program["tile_rows"], program["corner"] = rows, region.corner
        program["row_spacing"], program["column_spacing"] = grid.rows, grid.columns
        if prune:
            program["gain"] = max(0, self.scoring.maximum)
        self._describe(region)
        cells = np.zeros((rows + 1, 4), np.int32)
        cells[rows, 0] = 0 if best else _NEVER_BEATEN
        self.upload(gl.BEST, cells)
        if directions:
            self.reserve(gl.DIRECTIONS, self._direction_bytes(region))
        self.reserve(_COLUMN_LEFT)
        self.reserve(_kept(grid.level))

        def dispatch(k: int) -> None:
            first = max(0, k - columns + 1)
            program["block_diagonal"], program["first_row"] = k, first
            program.run(min(rows, k + 1) - first)

        self._run(region, rows + columns - 1, dispatch, progress)

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
        self._describe(region)
        self.zero(gl.BEST, 16 * (rows + 1))
        self.reserve(_COLUMN_LEFT, 8 * rows * self._lanes * (self._rows + gl.STEP + 1))
        columns = -(-(-(-region.n // gl.STEP) + self._lanes - 1) // steps)

        def dispatch(k: int) -> None:
            first = max(0, (k - columns + 2) // 2)
            program["block_diagonal"], program["first_row"] = k, first
            program.run(min(rows - 1, k // 2) - first + 1)

        self._run(region, columns + 2 * (rows - 1), dispatch, progress)

    def _run(
        self, region: Region, steps: int, step: Callable[[int], None], progress: Progress | None
    ) -> None:
        """Dispatch one block anti-diagonal after the other."""

        def ordered(k: int) -> None:
            step(k)
            self.device.ctx.memory_barrier(moderngl.SHADER_STORAGE_BARRIER_BIT)

        self._throttle.run(steps, ordered, cells=region.m * region.n, progress=progress)
        self.device.check("computing blocks")
        held = sum(self._buffers[each].size for each in self._buffers if each not in _SEQUENCES)
        self.memory_used = max(self.memory_used, held)

    def _describe(self, region: Region) -> None:
        """Tell the shaders which residues the region has."""
        pair = (region.m, region.n, region.query + region.i, region.target + region.j, 0, 0, 0, 0)
        self.upload(gl.PAIRS, np.array([pair], gl.PAIR))

    def _best_cell(self, region: Region) -> BestCells:
        """Return the best of the best cells of the tile rows."""
        stored = self.download(gl.BEST, (np.int32, 4), self._tiles(region)[0])
        score, diagonal, i, _ = stored.T
        return gl.best_cells(stored[np.lexsort((i, -diagonal, -score))[:1]])

    # From the best cell back to the start, region by region.

    def _trace(self, region: Region, trace: Trace, level: int, runs: _Runs) -> Trace:
        """Walk through a region whose borders are on the device; return where it is left."""
        grid = self._grid(region, level)
        if grid.empty:
            self._fill(region, grid, directions=True, best=False)
            return self._follow(region, trace, runs)
        self._keep_borders(region, grid)
        self._fill(region, grid, best=False)
        return self._cross(region, grid, trace, runs)

    def _cross(self, region: Region, grid: Grid, trace: Trace, runs: _Runs) -> Trace:
        """Walk through the smaller regions between the kept rows and columns of a region."""
        height, width = grid.rows * self._height, grid.columns * self._columns
        while trace.gap != _OVER and trace.i > region.i and trace.j > region.j:
            row, column = (trace.i - 1 - region.i) // height, (trace.j - 1 - region.j) // width
            i, j = row * height, column * width
            smaller = region._replace(
                i=region.i + i, j=region.j + j, m=trace.i - region.i - i, n=trace.j - region.j - j
            )
            corner = self._take_borders(region, grid, smaller, row, column)
            trace = self._trace(smaller._replace(corner=corner), trace, grid.level + 1, runs)
        return trace

    def _follow(self, region: Region, trace: Trace, runs: _Runs) -> Trace:
        """Walk along the directions of a region; see traceback.comp."""
        program = self.program(
            "traceback.comp", WORKGROUP=self._lanes, ENDS=1, DIRECTIONS=1, RESTART=0
        )
        program["pair_count"], program["spacing"] = 1, Grid().rows
        start = np.array([trace.i - region.i, trace.j - region.j, trace.gap, 0], np.int32)
        self.upload(gl.TRACES, start)
        dispatches = 1 + (region.m + region.n) // MAX_ROUNDS
        self.reserve(gl.PATHS, 4 * (2 * min(region.m, region.n) + 1 + dispatches))
        for _ in range(dispatches):
            program.run(1)
            self.device.ctx.memory_barrier()
        self.device.check("tracing back")
        i, j, gap, count = map(int, self.download(gl.TRACES, np.int32, 4))
        runs.append(self.download(gl.PATHS, np.uint32, count))
        return Trace(region.i + i, region.j + j, gap)

    # Rows and columns that are kept.

    def _grid(self, region: Region, level: int) -> Grid:
        """Return how far apart rows and columns of tiles are to be kept; empty if none need be."""
        limit = self.device.info.limits["max_storage_block"]
        share = min(self._spare // (2 if level == 0 else 8), limit)
        excess = self._direction_bytes(region) / min(self._spare // 8, limit)
        rows, columns = self._tiles(region)
        if excess <= 1 or rows == columns == 1:
            return Grid()
        affordable = share // (8 * (region.m + region.n + self._height)) - 2
        parts = max(2, min(math.ceil(math.sqrt(excess)), affordable))
        return Grid(level, max(1, rows // parts), max(1, columns // parts))

    def _direction_bytes(self, region: Region) -> int:
        return 4 * self._tiles(region)[0] * self._lanes * (region.n + self._lanes - 1)

    def _keep_borders(self, region: Region, grid: Grid) -> None:
        """Make room for the kept rows and columns; the borders of the region are the first."""
        rows, columns = self._tiles(region)
        height = rows * self._height
        side = (rows // grid.rows + 1) * region.n
        kept = self.reserve(_kept(grid.level), 8 * (side + (columns // grid.columns + 1) * height))
        ctx = self.device.ctx
        ctx.copy_buffer(kept, self.reserve(gl.ROW_ABOVE, 8 * region.n), size=8 * region.n)
        ctx.copy_buffer(kept, self._buffers[_COLUMN_LEFT], size=8 * region.m, write_offset=8 * side)

    def _take_borders(
        self, region: Region, grid: Grid, smaller: Region, row: int, column: int
    ) -> int:
        """Put the kept borders of a smaller region where tiles read them; return its corner."""
        rows = self._tiles(region)[0]
        height = rows * self._height
        side = (rows // grid.rows + 1) * region.n + column * height
        i, j = smaller.i - region.i, smaller.j - region.j
        kept, ctx = self._buffers[_kept(grid.level)], self.device.ctx
        ctx.copy_buffer(
            self.reserve(gl.ROW_ABOVE, 8 * smaller.n),
            kept,
            size=8 * smaller.n,
            read_offset=8 * (row * region.n + j),
        )
        ctx.copy_buffer(
            self._buffers[_COLUMN_LEFT], kept, size=8 * smaller.m, read_offset=8 * (side + i)
        )
        if not i and not j:
            return region.corner
        at = row * region.n + j - 1 if j else side + i - 1
        # After a read of the large buffer itself, copies out of it take 5 ms on an H100.
        ctx.copy_buffer(self.reserve(_CORNER, 4), kept, size=4, read_offset=8 * at)
        return int(self.download(_CORNER, np.int32, 1)[0])


def _kept(level: int) -> Binding:
    """Return the buffer of kept rows and columns of a level: of the table, of regions in it."""
    return _KEPT if level == 0 else _KEPT._replace(name=f"KEPT at level {level}")
