"""Engine ``blocked``: tiles on block anti-diagonals, for pairs of any length (Scan 2014)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import moderngl
import numpy as np

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells, Paths
from glsw.arrays import Intp, UInt32
from glsw.engines import gl
from glsw.engines.answers import check_cells, check_highest, check_range, highest, impossible
from glsw.engines.base import ComingScan, Pairs, ProgramOf, Progress
from glsw.engines.chunks import runs
from glsw.engines.gl import Binding, ComputeEngine, Uniform
from glsw.engines.regions import Band, Grid, Kept, Region, Trace, enclosing
from glsw.engines.tiled import COLUMN_LEFT, Tiled, kept_binding
from glsw.trust.provable import USUAL, Variant

_ONE_KEPT = Binding("ONE_KEPT", gl.PATHS.number)  # for the host; PATHS is bound before its next use
_STOP, _OVER = 0, 3
"""The gaps of a trace in H, and of one that has ended: see directions.glsl."""
_LONG = 2**11  # residues of queries whose hits it aligns, rather than `diagonal`
_TRACERS = 64  # invocations of blocked_trace.comp
_WINDOW = 8, 64  # words and columns of it
_MAX_WINDOWS = 400  # of a dispatch: 137 rounds of loops each, see MAX_ROUNDS
_MAX_TOGETHER, _BORDERS = 2**10, 32  # pairs computed at once; bytes of a residue for borders
_ROWS_TOGETHER = 2**18  # of them: a dispatch has up to 2**10 columns, which ends well in a second
_CELLS_OF_MEMORY = 64  # of pairs aligned at once, a byte: so that enough is kept of each
_SHARES = 2, 4, 16, 32  # parts of the memory for what is kept of the table, of regions in it ...
_DIRECTIONS_SHARE = 8
_WORTHWHILE = 6  # regions at once, for which more is computed again than for one at a time


_Runs = list[UInt32]


class Blocked(Tiled, ComputeEngine):
    """Cut a table into tiles and compute all tiles of a block anti-diagonal in a dispatch.

    Only tile borders leave the work groups, so memory is linear in the lengths; a pair of any
    length keeps the whole device busy, and several are computed at once. For alignments, rows and
    columns of tiles are stored, as many as the memory allows; the regions between them that the
    path crosses are recomputed, from the last to the first, until the directions of a region fit
    the memory. The regions that the path will enter if it follows the diagonal are computed at
    once, see band.glsl. Paths of several pairs are traced back one after the other.

    Parameters
    ----------
    workgroup : int, optional
        Invocations of a work group, a power of two.
    rows : int
        Rows of a tile per invocation, up to 8. With 8, score and end may use more rows.
    columns : int, optional
        Columns of a tile.
    memory : int
        Bytes of device memory for borders, stored rows and columns, and directions; at least
        32 (m + n), for the borders of the pair and two stored rows and columns.
    prune : bool, optional
        Skip tiles that cannot reach the best score so far; the result is the same. By default only
        if both sequences have at least 2**18 residues.
    ahead : int, optional
        Maximum number of regions computed at once during the traceback. By default as many as the
        memory allows; 1 on software renderers, which have no idle cores for them.
    """

    name = "blocked"
    variants = (USUAL, Variant("small tiles", {"workgroup": 1, "columns": 8}))
    capabilities = replace(ComputeEngine.capabilities, workloads=("pairs", "long pairs"))

    def best(self, asked: Pairs, progress: Progress) -> BestCells | Paths:
        """Return the best cell or the path of each pair, see `Engine.best`."""
        batch = asked.batch
        if asked.task == "alignment":
            return self._paths(batch, progress)
        found = BestCells.zeros(len(batch))
        for pairs, tables in self._tables(batch):
            whole = enclosing(tables)
            options: Any = {"ends": bool(asked.ends), "prune": self._prunes(whole)}
            if batch.masks or not gl.leans(self.scoring):
                self._start(tables)
                self._fill(tables, progress=progress, **options)
                found.put(pairs, self._best_cells(self._tiles(whole)[0], len(tables)))
            else:
                letters = batch.targets.code_bound + 1
                found.put(pairs, self._lean(tables, letters, progress=progress, **options))
        return found

    def _paths(self, batch: Batch, progress: Progress) -> Paths:
        """Return the best alignment of each pair, in memory linear in its lengths."""
        cells = BestCells.zeros(len(batch))
        runs = [np.empty(0, np.uint32)] * len(batch)
        for pairs, tables in self._tables(batch, cells=_CELLS_OF_MEMORY * self._memory):
            self._start(tables)
            whole, count = enclosing(tables), len(tables)
            grid = self._grid(whole, 0, count)
            kept = None if grid.empty else self._keep_borders(whole, grid, count)
            self._fill(
                tables,
                kept,
                ends=True,
                prune=self._prunes(whole) and kept is not None,
                directions=kept is None,
                progress=progress,
            )
            best = self._best_cells(self._tiles(whole)[0], count)
            check_highest(self, highest(best.score), whole.m, whole.n)
            check_cells(self, batch.lengths[pairs], best)
            cells.put(pairs, best)
            for k in np.flatnonzero(best.score).tolist():
                table, p = tables[k], int(pairs[k])
                trace = Trace(int(best.i[k]), int(best.j[k]), _STOP)
                found = [runs[p]]
                if kept is None:
                    band = Band(table, (table.m, table.n), table.m, table.n, 1)
                    self._follow(band, trace, found, k, whole)
                else:
                    own = kept._replace(region=table, start=k * kept.size)
                    self._cross(own, trace, int(best.score[k]), found)
                runs[p] = np.concatenate(found)
        ends = self.ends_of(batch, cells)
        for without in np.flatnonzero(np.minimum(ends.query_end, ends.target_end) == 0).tolist():
            runs[without] = runs[without][:0]  # gaps alone
        return Paths.of(ends, runs)

    def programs(self, coming: ComingScan) -> Iterator[ProgramOf]:
        """Yield the programs that align long queries, see `Engine.programs`."""
        for m in coming.lengths.tolist() if (coming.lengths >= _LONG).any() else ():
            self._shape(m)
            own: dict[str, int | None] = {"WORKGROUP": self._lanes}
            options = {"PRUNE": None, "DIRECTIONS": 1, "MASKED": None, "PACKED": None}
            yield "blocked.comp", {**own, "COLUMNS": self._columns, "ENDS": 1, **options}
            yield "blocked_trace.comp", own | {"TRACERS": _TRACERS}

    def fits(self, asked: Pairs) -> bool:
        """Tell whether the borders of a table fit a buffer; kept rows and columns may be fewer."""
        m, n = asked.batch.extent[1].tolist()
        return bool(max(8 * n, 2 * 8 * m) <= self._buffer_limit)

    def _tables(self, batch: Batch, cells: float = math.inf) -> Iterator[tuple[Intp, list[Region]]]:
        """Upload the sequences; yield pairs that have cells, and their whole tables.

        Computed together are as many as the memory allows, of so many cells or one alone.
        """
        self.upload_sequences(batch)
        todo = np.flatnonzero((batch.query_lengths > 0) & (batch.target_lengths > 0))

        for run in runs(
            batch.lengths[todo],
            lambda _, count, m, n: (
                (count * m > _ROWS_TOGETHER)
                | (count * _BORDERS * (m + n) > self._room)
                | (1.0 * count * m * n > cells)
            ),
            _MAX_TOGETHER,
        ):
            tables = [self._table(batch, p) for p in todo[run].tolist()]
            self._shape(max(table.m for table in tables))
            yield todo[run], tables

    def _table(self, batch: Batch, p: int) -> Region:
        """Return the whole table of a pair."""
        m, n = batch.lengths[p].tolist()
        query = int(batch.queries.offsets[batch.query_index[p]])
        target = int(batch.targets.offsets[batch.target_index[p]])
        corner = int(self.scoring.score_offset(m, n))
        return Region(query, target, 0, 0, m, n, corner, batch.mask(p))

    # From the best cell back to the start, region by region.

    def _cross(self, kept: Kept, trace: Trace, score: int, runs: _Runs) -> Trace:
        """Walk through the regions between the kept rows and columns of a region.

        A path to where the trace is scores ``score`` or more; 0 if that is not known.
        """
        around = kept.region
        while trace.gap != _OVER and trace.i > around.i and trace.j > around.j:
            band, grid = self._next_band(kept, trace)
            regions = band.regions()
            inner = self._keep_borders(enclosing(regions), grid, band.size)
            self._take_borders(kept, band, regions)
            if alone := band.size == 1 and inner is not None and self.scoring.local:
                score = self._score_at(kept, trace, score)
            self._fill(
                regions,
                inner,
                prune=alone and score > 0 and self._prune is not False,
                to_reach=score,
                directions=inner is None,
                best=False,
            )
            if inner is None:
                trace = self._follow(band, trace, runs)
                continue
            while trace.gap != _OVER and (region := band.find(trace.i, trace.j)) is not None:
                one = inner._replace(region=regions[region], start=region * inner.size)
                trace = self._cross(one, trace, score if alone else 0, runs)
        return trace

    def _score_at(self, kept: Kept, trace: Trace, known: int) -> int:
        """Return a score that a path to where the trace is has, `known` off kept rows and columns.

        In a gap it is lower than H there by no more than two gaps and an aligned pair; it is not
        known, 0, with gap costs by position, as a gap along the row above may cost more.
        """
        (i, j), (height, width) = kept.inside(trace), kept.cell
        if i % height and j % width:
            return known
        row, column = kept.first_row + i // height * kept.region.n, kept.first_column
        at = column + j // width * kept.height + i - 1 if i % height else row + j - 1
        # After a read of the large buffer itself, copies out of it take 5 ms on an H100.
        self.device.ctx.copy_buffer(
            self.reserve(_ONE_KEPT, self._word),
            self._buffers[kept_binding(kept.grid.level)],
            size=self._word,
            read_offset=self._word * at,
        )
        word = int(self.download(_ONE_KEPT, np.uint32, 1)[0])
        scoring = self.scoring
        if trace.gap != _STOP and scoring.gaps:
            return 0
        gap = max(scoring.deletion[0], scoring.insertion[0])
        lower = 0 if trace.gap == _STOP else 2 * gap + max(0, scoring.maximum)
        score = word >> 8 if self._packed else word
        check_range(self, "a kept score of", score, 0, scoring.bound(trace.i, trace.j))
        return score - lower

    def _next_band(self, kept: Kept, trace: Trace) -> tuple[Band, Grid]:
        """Return the regions that the path is expected to enter, and what to keep of them."""
        i, j = kept.inside(trace)
        band = Band(kept.region, kept.cell, i, j, self._ahead)
        largest = kept.region._replace(m=min(kept.cell[0], i), n=min(kept.cell[1], j))
        grid = self._grid(largest, kept.grid.level + 1)
        borders = 8 * (largest.m + largest.n)
        if grid.empty:
            fitting = self._room_of_directions // (self._direction_bytes(largest) + borders)
        else:
            share = min(self._spare // _share(grid.level), self._buffer_limit)
            fitting = share // (self._word * self._kept(largest, grid).size + borders)
        steps = min(min(fitting, self._ahead) // 3, min(band.last) + 1)
        if steps:
            return band._replace(size=3 * steps), grid
        band = band._replace(size=1)
        return band, self._grid(band.regions()[0], grid.level)

    def _follow(
        self, band: Band, trace: Trace, runs: _Runs, first: int = 0, widest: Region | None = None
    ) -> Trace:
        """Walk along the directions of regions; see blocked_trace.comp.

        Those of the first one are where number ``first`` of regions like the widest has them.
        """
        program = self.program("blocked_trace.comp", WORKGROUP=self._lanes, TRACERS=_TRACERS)
        around = band.around
        self._describe_band(program, band)
        widest = widest or enclosing(band.regions())
        program["region_words"], program["first_region"] = self._direction_bytes(widest) // 4, first
        program["windows"] = _MAX_WINDOWS
        start = np.array([trace.i - around.i, trace.j - around.j, trace.gap, 0], np.int32)
        self.upload(gl.TRACES, start)
        m, n = band.extent
        # A window ends where the path leaves it or its region.
        windows = m // ((_WINDOW[0] - 1) * self._rows + 1) + n // _WINDOW[1] + 2 * band.size + 2
        dispatches = -(-windows // _MAX_WINDOWS)
        self.reserve(gl.PATHS, 4 * (2 * min(m, n) + 1 + dispatches))
        self.reserve(gl.DIRECTIONS)
        for _ in range(dispatches):
            program.run(1)
            self.device.ctx.memory_barrier()
        self.device.check("tracing back")
        i, j, gap, count = map(int, self.download(gl.TRACES, np.int32, 4))
        most = *start[:2], _OVER, self._buffers[gl.PATHS].size // 4
        check_range(
            self, "for a path, where it is, its gap and its runs:", (i, j, gap, count), 0, most
        )
        if gap != _OVER and i + j == start[0] + start[1]:
            raise impossible(self, "a path that goes nowhere")
        runs.append(self.download(gl.PATHS, np.uint32, count))
        return Trace(around.i + i, around.j + j, gap)

    # Rows and columns that are kept.

    def _grid(self, region: Region, level: int, count: int = 1) -> Grid:
        """Return how far apart rows and columns of tiles are to be kept; empty if none need be.

        There are ``count`` such regions.
        """
        rows, columns = self._tiles(region)
        wanted = min(self._ahead, _WORTHWHILE) if level else count
        room, needed = self._room_of_directions, self._direction_bytes(region)
        if (rows == columns == 1 and count == 1) or needed * wanted <= room:
            return Grid()
        share = min(self._spare // _share(level), self._buffer_limit)
        side = self._side(region, share // wanted)
        if level and side * side // 2 * wanted > room:
            side = self._side(region, share)
        spacing = -(-side // self._height), -(-side // self._columns)
        if spacing[0] >= rows and spacing[1] >= columns:
            spacing = max(1, rows // 2), max(1, columns // 2)
        return Grid(level, *spacing)

    def _side(self, region: Region, share: int) -> int:
        """Return the least sides of regions whose kept borders have so many bytes."""
        m, n = region.m, region.n
        room = share // self._word - (m + n + self._height + 1)
        side = -(-2 * m * n // room) if room > 0 else m + n
        return min(max(side, 2 * max(self._height, self._columns)), -(-max(m, n) // 2))

    @property
    def _room_of_directions(self) -> int:
        return min(self._spare // _DIRECTIONS_SHARE, self._buffer_limit)

    def _kept(self, region: Region, grid: Grid) -> Kept:
        """Return where the rows and columns are that are kept of a region."""
        rows, columns = self._tiles(region)
        counts = rows // grid.rows + 1, columns // grid.columns + 1
        cell = grid.rows * self._height, grid.columns * self._columns
        return Kept(region, grid, cell, *counts, rows * self._height)

    def _keep_borders(self, region: Region, grid: Grid, count: int) -> Kept | None:
        """Make room for what is kept of so many regions, if anything is."""
        if grid.empty:
            return None
        kept = self._kept(region, grid)
        self.reserve(kept_binding(grid.level), self._word * kept.size * count)
        return kept

    def _take_borders(self, kept: Kept, band: Band, regions: list[Region]) -> None:
        """Put the kept borders of regions where tiles read them; see region_borders.comp."""
        whole = enclosing(regions)
        rows = self._tiles(whole)[0]
        corner = rows * self._height
        program = self.program(
            "region_borders.comp", WORKGROUP=self._lanes, PACKED=1 if self._packed else None
        )
        self._describe(regions)
        self._describe_band(program, band)
        uniforms = {
            "row_size": whole.n,
            "column_size": corner + rows + 1,
            "corner_at": corner,
            "kept_row": kept.first_row,
            "kept_column": kept.first_column,
            "kept_corner": kept.start,
            "kept_width": kept.region.n,
            "kept_height": kept.height,
        }
        self.set(program, uniforms)
        self.reserve(gl.ROW_ABOVE, 8 * whole.n * len(regions))
        self.reserve(COLUMN_LEFT, 8 * (corner + rows + 1) * len(regions))
        self.reserve(kept_binding(kept.grid.level))
        program.run(-(-max(whole.m, whole.n) // self._lanes), len(regions))
        self.device.ctx.memory_barrier()

    def _describe_band(self, program: moderngl.ComputeShader, band: Band) -> None:
        uniforms: dict[str, Uniform] = {
            "last_region": band.last,
            "region_size": band.cell,
            "region_count": band.size,
        }
        self.set(program, uniforms)


def _share(level: int) -> int:
    return _SHARES[min(level, len(_SHARES) - 1)]
