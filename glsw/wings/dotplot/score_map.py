"""Scores of the tiles of a table, for dot plots: two passes over tiles as in ``blocked``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np

from glsw.arrays import Codes, Int32, Int64
from glsw.device.device import Device, DeviceError
from glsw.engines import gl
from glsw.engines.answers import check_highest, highest
from glsw.engines.awkward import work_for
from glsw.engines.base import Progress
from glsw.engines.gl import Binding
from glsw.engines.reference import fill
from glsw.engines.regions import Grid, Region
from glsw.engines.sizes import family_of
from glsw.engines.tiled import COLUMN_LEFT, KEPT, Tiled
from glsw.scoring.scoring import Scoring
from glsw.trust.proofs import UnprovedError
from glsw.trust.provable import Provable, Trial

Value = Literal["through", "end"]
VALUES: tuple[Value, ...] = ("through", "end")
UNCAPPED = 2**30
"""More than any score: a cap that does nothing."""
NARROW = 2**15 - 1
"""The highest cap with which borders have 16 bits."""

_ON_GPU, _ON_CPU = (32, 128, 2048), (8, 8, 1024)
"""Invocations that a device computes at once, the most of a tile of a pass, and its columns."""
_MOST_ROWS = 16  # of an invocation
_PROVED = 200  # residues of the work of a proof
_SIDES = 8, 64  # of tiles, in self-tests
_MANY_STRIPS_SIDE = 4096  # from which on a map of some hundred tiles has strips for a large device


class MapTile(NamedTuple):
    """A square tile of a map, and the tiles of a pass that it is made of."""

    side: int  # residues of both sequences
    lanes: int  # invocations of a tile of the pass; whole ones make a map's tile
    rows: int  # of each
    columns: int

    @classmethod
    def near(cls, side: int, *, software: bool = False) -> MapTile:
        """Return the tile of about that side, at least 1.

        >>> MapTile.near(5)
        MapTile(side=4, lanes=4, rows=1, columns=4)
        >>> MapTile.near(5000)
        MapTile(side=5120, lanes=128, rows=10, columns=1280)
        """
        at_once, most, widest = _ON_CPU if software else _ON_GPU
        lanes = min(at_once, 1 << side.bit_length() - 1)
        rows = min(gl.ROWS, side // lanes)
        while lanes < most and 2 * lanes * rows <= side:
            lanes *= 2
        side = round(side / (rows * lanes)) * rows * lanes
        if software or side >= _MANY_STRIPS_SIDE:
            rows = max(rows for rows in range(1, _MOST_ROWS + 1) if side % (rows * lanes) == 0)
        parts = -(-side // widest)
        while side % parts:
            parts += 1
        return cls(side, lanes, rows, side // parts)


class Bands(NamedTuple):
    """How the rows of tiles of a map are divided for what is kept of them."""

    band: int  # rows whose borders are in one buffer, behind those of the row before them
    part: int  # rows whose borders are kept at once: whole bands

    def of(self, rows: int) -> list[range]:
        """Return the rows of each band.

        >>> Bands(2, 4).of(5)
        [range(0, 2), range(2, 4), range(4, 5)]
        """
        return [range(k, min(k + self.band, rows)) for k in range(0, rows, self.band)]


class ScoreMap(Tiled, Provable):
    """The score of each tile of a table, see ``docs/DOTPLOT.md``.

    Parameters
    ----------
    scoring : Scoring
        Of local alignments.
    device : Device
    memory : int
        Bytes of device memory for the borders of tiles that are kept between the passes. If those
        of all tiles take more, there is one pass more, and then two over each part of the table.
    """

    name = label = "score_map"
    proves = True

    def __init__(self, scoring: Scoring, device: Device, *, memory: int = 2**31) -> None:
        if not scoring.local:
            raise ValueError("a score map supports local alignments only")
        super().__init__(scoring, device, memory=memory)
        self._defines["LETTERS"] += 1
        if self._defines["SCORES"] == 0:  # two numbers, with which padding would be aligned
            self._defines["SCORES"] = self._upload_scores()
        self._map_tile = MapTile.near(1)
        self._map_shape = 0, 0

    def _upload_scores(self) -> int:
        """Add a letter to the matrix, `padding`, which is aligned with nothing."""
        letters = len(self.scoring.matrix)
        matrix = np.full((letters + 1, letters + 1), -UNCAPPED, np.int32)
        matrix[:letters, :letters] = self.scoring.matrix
        place, self._substitution = gl.upload_scores(self.device, matrix, -(2**31))
        return place

    @property
    def where(self) -> str:
        """What computes it, for errors."""
        return self.device.info.name

    @property
    def padding(self) -> int:
        """The code of a letter that is aligned with nothing."""
        return len(self.scoring.alphabet)

    def tile(self, side: int) -> MapTile:
        """Return the tile of about ``side`` residues that suits the device."""
        return MapTile.near(side, software=self.device.info.software)

    def work(self, m: int, n: int, tile: MapTile, value: Value, cap: int = UNCAPPED) -> int:
        """Return the cells that `tiles` computes, of m x n residues."""
        if value == "end":
            return m * n
        return m * n * (2 if self.bands(m, n, tile, cap).part * tile.side >= m else 3)

    def tiles(
        self,
        query: Codes,
        target: Codes,
        tile: MapTile,
        *,
        value: Value = "through",
        cap: int = UNCAPPED,
        progress: Progress | None = None,
    ) -> Int32:
        """Return the score of each tile.

        Parameters
        ----------
        query, target : ndarray of uint8, shape (m,) and (n,)
            Codes; m and n are multiples of the side of a tile, filled up by `padding`.
        tile : MapTile
        value : {"through", "end"}
            "through": the best score of a local alignment that passes through a cell of the tile.
            "end": of one that ends there.
        cap : int
            No H is higher, before the tile and behind it.
        progress : callable, optional
            As of `Engine.scores`; the device has the scores so far, see `current`.

        Returns
        -------
        ndarray of int32, shape (m / side, n / side)
        """
        m, n = len(query), len(target)
        self.scoring.check(m, n)
        self.device.activate()
        self._map_tile, self._map_shape = tile, (m // tile.side, n // tile.side)
        self._lanes, self._columns = tile.lanes, tile.columns
        self._height = tile.lanes * tile.rows
        self._uniforms["cap"] = cap
        self._uploaded.clear()
        self.upload(gl.QUERIES, np.concatenate((query, query[::-1])))
        self.upload(gl.TARGETS, np.concatenate((target, target[::-1])))
        self.zero(gl.BEST, 4 * max(1, self._map_shape[0] * self._map_shape[1]))
        if not (m and n):
            return self.current()
        self._packed = self.is_narrow(cap)
        rows, bands = self._map_shape[0], self.bands(m, n, tile, cap)
        table = Region(0, 0, 0, 0, m, n)
        if value == "end":
            self._pass(table, self._border(n), progress=progress)
            return self.current()
        above = {0: self._border(n)}
        if bands.part < rows:
            above |= self._rows_above(table, bands, progress)
        below = self._border(n)
        corners = np.zeros(self._map_shape, np.int32)
        for first in reversed(range(0, rows, bands.part)):
            i = first * tile.side
            part = table._replace(i=i, m=min(bands.part * tile.side, m - i))
            self._keep(part, bands, above[first])
            self._pass(part, None, Grid(1, *self._spacing), bands, progress)
            self._repeat_borders(part, bands)
            behind = part._replace(query=2 * m - i - part.m, target=n)
            self._pass(behind, below, Grid(1), bands, progress, join=True)
            below = self.download(gl.ROW_ABOVE, (np.int32, 2), n)
            if first:
                corners[first - 1] = np.minimum(cap, self._corners(above.pop(first), below))
        found = np.maximum(self.current(), corners)
        check_highest(self, highest(found), m, n)
        return found

    def _corners(self, above: Int32, below: Int32) -> Int32:
        """Return what paths score that are in a gap along the row between two parts.

        Shape (columns of the map,): at the corners of tiles, which no part has as a whole.
        """
        cost, side = self.scoring.deletion, self._map_tile.side
        ahead, behind = (_gap_along(row[:, 0], *cost) for row in (above, below))
        joined = np.zeros(self._map_shape[1], np.int32)
        at = np.arange(side, len(ahead), side)
        joined[:-1] = ahead[at - 1] + behind[len(ahead) - at - 1] + cost.open - cost.extend
        return joined

    def current(self) -> Int32:
        """Return the scores so far of the tiles, as of `tiles`."""
        (rows, columns), side = self._map_shape, self._map_tile.side
        found = self.download(gl.BEST, np.int32, rows * columns)
        check_highest(self, highest(found), rows * side, columns * side)
        return found.reshape(rows, columns)

    @property
    def _spacing(self) -> tuple[int, int]:
        """Tile rows and tile columns of the pass in a tile of the map."""
        return self._map_tile.side // self._height, self._map_tile.side // self._columns

    def is_narrow(self, cap: int) -> bool:
        """Tell whether H, E and F fit 16 bits, in which they are kept then."""
        return max(cap, self.scoring.deletion.open, self.scoring.insertion.open) <= NARROW

    def bands(self, m: int, n: int, tile: MapTile, cap: int) -> Bands:
        """Return how many rows of tiles keep their borders in a buffer, and at once."""
        size = (4 if self.is_narrow(cap) else 8) * 2 * n
        band = max(1, min(m // tile.side, self._room // size - 1))
        return Bands(band, band * max(1, self._memory // (size * (band + 1))))

    def _border(self, length: int) -> Int32:
        """Return H and E or F of a border of the table."""
        return np.tile(np.array([0, -self.scoring.gap_open], np.int32), (length, 1))

    def _keep(self, part: Region, bands: Bands, above: Int32) -> None:
        """Make room for the borders of the tiles of a part; the row above it is the first."""
        self.upload(gl.ROW_ABOVE, above)
        size = self._word * 2 * part.n
        for k, rows in enumerate(bands.of(part.m // self._map_tile.side)):
            kept = self.reserve(_kept_of(k), size * (len(rows) + 1))
            if k == 0:
                kept.write(above[:, 0] << 16 | above[:, 1] & 0xFFFF if self._packed else above)

    def _repeat_borders(self, part: Region, bands: Bands) -> None:
        """Copy the borders of the last row of each band to the next band."""
        size = self._word * 2 * part.n
        for k in range(1, len(bands.of(part.m // self._map_tile.side))):
            source, copy = self._buffers[_kept_of(k - 1)], self._buffers[_kept_of(k)]
            self.device.ctx.copy_buffer(copy, source, size, read_offset=size * bands.band)

    def _rows_above(
        self, table: Region, bands: Bands, progress: Progress | None
    ) -> dict[int, Int32]:
        """Return the row above each part but the first, by its first row of tiles."""
        parts, n = -(-self._map_shape[0] // bands.part), table.n
        size = self._word * 2 * n
        kept = self.reserve(_kept_of(0), (parts + 1) * size)
        rows = Grid()._replace(rows=bands.part * self._spacing[0])
        self._pass(table, self._border(n), rows, progress=progress)
        found = {}
        for k in range(1, parts):
            words = self.device.readback.read(kept, self._word * n, k * size).view(np.int32)
            if self._packed:
                words = np.stack([words >> 16, words << 16 >> 16], axis=1)
            found[k * bands.part] = words.reshape(n, 2)
        return found

    def _pass(
        self,
        part: Region,
        above: Int32 | None,
        grid: Grid = Grid(),  # noqa: B008
        bands: Bands | None = None,
        progress: Progress | None = None,
        *,
        join: bool = False,
    ) -> None:
        """Compute a part of the table, or of the reversed table, whose kept borders it joins."""
        rows, columns = self._tiles(part)
        odd = {"STEP": 1} if self._columns % self.columns_at_once() else {}
        program = self.program(
            "dotplot/score_map.comp",
            WORKGROUP=self._lanes,
            ROWS=self._map_tile.rows,
            COLUMNS=self._columns,
            NARROW=1 if self._packed else None,
            JOIN=1 if join else None,
            **odd,
        )
        uniforms = {
            "tile_rows": rows,
            "row_spacing": grid.rows,
            "column_spacing": grid.columns,
            "map_row": part.i // self._map_tile.side,
            "map_columns": self._map_shape[1],
            "tile_height": self._map_tile.side,
            "tile_width": self._map_tile.side,
        }
        self.set(program, uniforms)
        self._describe([part._replace(i=0, j=0, query=part.query + (0 if join else part.i))])
        if above is not None:
            self.upload(gl.ROW_ABOVE, above)
        self.upload(COLUMN_LEFT, self._border(part.m + rows + 1))
        self.reserve(gl.BEST)
        spacing, height = self._spacing[0], part.m // self._map_tile.side
        parts = bands.of(height) if bands else [range(height)]

        def dispatch(k: int) -> None:
            program["block_diagonal"] = k
            for number, band in enumerate(parts):
                before = height - band.stop if join else band.start
                first = max(k - columns + 1, before * spacing)
                end = min(k + 1, (before + len(band)) * spacing)
                if first < end:
                    self.reserve(_kept_of(number), 16)
                    program["first_row"], program["kept_first"] = first, band.start
                    program.run(end - first)

        self._run(part.m * part.n, rows + columns - 1, dispatch, progress)

    # What it proves: tiles and what they have, with borders of 16 bits or 32.

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """Yield tiles of DNA of a few sizes, see `Provable.trials`."""
        for value, side in product(VALUES, _SIDES):
            yield Trial(f"DNA, tiles of {side}: {value}", (Scoring.nucleotide(),), (side, value))

    def every(self, task: tuple[int, Value]) -> Iterable[Hashable]:
        """Return a tile of about that side."""
        return [(self.tile(task[0]), task[1], True)]

    def family(self, kind: tuple[MapTile, Value, bool]) -> str:
        """Return what distinguishes programs: tiles, bits, and features of the scoring."""
        tile, value, narrow = kind
        form = f"{tile.side} of {tile.lanes} x {tile.rows} x {tile.columns}"
        bits = 16 if narrow else 32
        return f"{value}, tiles {form}, {bits} bits, {family_of(self.scoring)}"

    def prove(self, kinds: Iterable[Hashable]) -> None:
        """Prove tiles, see `Provable.prove`; DeviceError if one is wrong."""
        try:
            super().prove(kinds)
        except UnprovedError as fault:
            raise DeviceError(
                f"{self.where}: {fault}; nothing else computes score maps (please report what "
                "`glsw devices --test` prints)"
            ) from None

    def checks(self, kind: tuple[MapTile, Value, bool]) -> Iterator[tuple[Any, Any]]:
        """Yield maps of related residues around the corner of four tiles."""
        tile, value, narrow = kind
        scoring, side, cap = self.scoring, tile.side, NARROW if narrow else UNCAPPED
        length = min(_PROVED, cap // max(1, scoring.maximum) - 1)  # no score reaches the cap
        some = [query[:length].astype(np.uint8) for query in work_for(scoring).queries]
        before = -(length // 2) % side  # less than a tile
        places = (before + np.arange(-1, length)) // side  # of what is behind each residue
        behind = (int(places[-1]) + 1) * side - before - length
        first = int(before == 0)
        for query, target in (some[::-1], some):  # others first: a device may go on with those
            rows, columns = (
                np.pad(codes, (before, behind), constant_values=self.padding)
                for codes in (query, target)
            )
            found = self.tiles(rows, columns, tile, value=value, cap=cap)
            expected = np.zeros_like(found)
            cells = _of_cells(query, target, scoring, value)[first:, first:]
            tiles = tuple(np.ix_(places[first:], places[first:]))
            np.maximum.at(expected, tiles, cells.astype(np.int32))
            yield found, expected


def _kept_of(band: int) -> Binding:
    """Return the buffer of the borders of a band."""
    return KEPT._replace(name=f"KEPT of band {band}")


def _gap_along(h: Int32, gap_open: int, gap_extend: int) -> Int64:
    """Return E of a row, shape (n,), from its H.

    >>> _gap_along(np.array([9, 0, 0, 0], np.int32), 5, 1)
    array([-5,  4,  3,  2])
    """
    costs = gap_extend * np.arange(len(h))
    before = np.concatenate(([0], h[:-1].astype(np.int64)))
    gaps: Int64 = np.maximum.accumulate(before + costs) - costs - gap_open
    return gaps


def _of_cells(query: Codes, target: Codes, scoring: Scoring, value: Value) -> Int64:
    """Return what the best alignment scores that ends in each cell, or goes through it.

    Shape (m + 1, n + 1): cell (i, j) is behind i residues of the query and j of the target.
    """
    h, e, f = fill(query, target, scoring)
    if value == "through":
        behind = fill(query[::-1], target[::-1], scoring)
        h_behind, e_behind, f_behind = (each[::-1, ::-1] for each in behind)
        deletion, insertion = scoring.deletion, scoring.insertion
        in_deletion = e + e_behind + deletion.open - deletion.extend
        in_insertion = f + f_behind + insertion.open - insertion.extend
        h = np.maximum(h + h_behind, np.maximum(in_deletion, in_insertion))
    return h
