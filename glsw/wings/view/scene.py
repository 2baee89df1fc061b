"""What a window shows: a dot plot while it is computed, or a wavefront step by step."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.aligner import Aligner
from glsw.engines.reference import fill
from glsw.wings.dotplot.axis import Axis, Segment, segments_of
from glsw.wings.dotplot.colours import Scale
from glsw.wings.dotplot.mapper import Mapper, Maps, Sign, complement
from glsw.wings.dotplot.score_map import UNCAPPED

KEYS = (
    "wheel, +, -: zoom   drag, arrows: move   0: all   1: letters   A: paths   "
    "F, M: strands   S: save picture   Q: close",
    "W: wavefront of Liu et al. 2006   space: run or stop   N, P: next, previous pass   "
    "Home, End: first, last",
)
"""The key bindings, as the window shows them."""
LEFT, TOP, RIGHT, BOTTOM = 92, 44, 8, 62
"""Pixels around the map: coordinates and letters left and above, read-out and keys below."""
LETTERS_FROM = 9.0
"""Pixels per residue from which on letters are shown."""
_MAX_PIXELS = 40.0
"""The closest that a window zooms in, in pixels per residue."""
_MARGIN, _MIN_MARGIN = 1 / 8, 128
"""What is computed on each side beyond the window: a share of it, or more residues."""
_MAX_RESIDUES = 256
"""Of each sequence of a wavefront, so that a step can be seen."""
_MAX_PATH_CELLS_ON_CPU, _MAX_PATH_CELLS = 2**22, 2**32
"""Cells of a part of the table of which the best alignments are shown too."""
_SETTLED_SECONDS = 0.15
"""A view that has not moved for so long is computed."""
_PASSES_PER_SECOND = 12.0

Part: TypeAlias = tuple[range, range]
"""Residues of all queries and of all targets, each taken as one sequence."""
Codes: TypeAlias = npt.NDArray[np.uint8]
Int64: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Map:
    """The map of a part, or what there is of it so far.

    Parameters
    ----------
    part : (range, range)
    axes : (Axis, Axis)
        Of the queries and of the targets.
    maps : dict
        As of `Mapper.maps`; strands that are not computed yet are missing.
    cap : int
        Of the scores, in integer units.
    paths : tuple of (strand, score, ndarray of int64, shape (2, K))
        The best alignment of each strand: the ends of its runs, positions of the queries and of the
        targets. None if the part is too large, or of several sequences.
    """

    part: Part
    axes: tuple[Axis, Axis]
    maps: Maps
    cap: int
    paths: tuple[tuple[Sign, int | float, Int64], ...] = ()

    @cached_property
    def scale(self) -> Scale:
        """The scale of its colours."""
        return Scale.of(self.maps, self.cap)

    def tiles(self, side: int, residues: npt.ArrayLike) -> Int64:
        """Return the tiles of residues of all queries (side 0) or targets (1); -1 beside the part.

        Shape and order are those of ``residues``.
        """
        axis, at = self.axes[side], np.asarray(residues)
        lengths = [each.end - each.start for each in axis.segments]
        bounds = self.part[side].start + np.cumsum([0, *lengths])
        k = np.clip(np.searchsorted(bounds, at, "right") - 1, 0, len(lengths) - 1)
        found = axis.starts[k] + (at - bounds[k]) // axis.side
        return np.where((at >= bounds[0]) & (at < bounds[-1]), found, -1)


class Scene:
    """Which part of a dot plot is shown, its map, and a wavefront.

    Places in the table and in the window are (row, column): of the queries, of the targets.

    Parameters
    ----------
    aligner : Aligner
        For the best alignments.
    mapper : Mapper
    width, height : int
        Pixels of the window.

    Attributes
    ----------
    corner : ndarray of float64, shape (2,)
        What is at the upper left corner of the map, in residues.
    pixels : float
        Pixels per residue.
    area : ndarray of int64, shape (2,)
        Pixels of the map, down and across.
    map : Map or None
        The last one, perhaps not complete. A thread computes it.
    wanted : (Part, int) or None
        The part of the last map to compute, and about how many residues a tile has.
    wavefront : Map or None
        H of a part, of which pass ``k`` computes anti-diagonal k.
    hidden : frozenset of {"+", "-", "paths"}
        Strands of the map and their alignments, or all alignments.
    mouse : (float, float) or None
        The pixel of the window under the pointer: row, column.
    """

    def __init__(self, aligner: Aligner, mapper: Mapper, width: int, height: int) -> None:
        self.mapper, self._aligner = mapper, aligner
        self.sides = mapper.queries, mapper.targets
        software = mapper.device.info.software
        self.pixels_per_tile = 3.0 if software else 1.5
        self._max_path_cells = _MAX_PATH_CELLS_ON_CPU if software else _MAX_PATH_CELLS
        self.lengths = np.array([int(each.sequences.offsets[-1]) for each in self.sides])
        self.corner, self.pixels, self.area = np.zeros(2), 0.0, np.ones(2, np.int64)
        self.resize(width, height)
        self.map: Map | None = None
        self.wavefront: Map | None = None
        self.k = 0
        self.mouse: tuple[float, float] | None = None
        self.message = ""
        self.running = self.closed = False
        self.hidden: frozenset[str] = frozenset()
        self._pool = ThreadPoolExecutor(1, "glsw view")
        self.wanted: tuple[Part, int] | None = None
        self._job: Future[None] | None = None
        self._seen: tuple[object, ...] = ()
        self._moved = self._stepped = 0.0

    def close(self) -> None:
        """End the thread."""
        self.wanted = None
        self._pool.shutdown()

    @property
    def busy(self) -> bool:
        """Whether a map is being computed."""
        return self._job is not None and not self._job.done()

    @property
    def shown(self) -> tuple[object, ...]:
        """All that the picture depends on."""
        maps = self.map, self.busy, self.wavefront, self.k
        return *self._place, *maps, self.hidden, self.mouse, self.message

    def tick(self, now: float) -> None:
        """Have computed what is missing, and let a wavefront run; ``now`` in seconds.

        Raises
        ------
        Exception
            Any error of the thread.
        """
        if self._job and self._job.done():
            self._job.result()
        if self._place != self._seen:
            self._seen, self._moved = self._place, now
        settled = now - self._moved >= _SETTLED_SECONDS or self.wanted is None
        if settled and not self._sharp():
            if self._job:
                self._job.cancel()
            self.wanted = self.part(_MARGIN, _MIN_MARGIN), self._side
            self._job = self._pool.submit(self.compute, self.wanted)
        if not self.running:
            self._stepped = now
        elif steps := int((now - self._stepped) * _PASSES_PER_SECOND):
            self._stepped = now
            self.step(steps)
            self.running = self.k + 1 < self.passes

    # What the window shows.

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the window in pixels."""
        height, width = self.area.tolist()
        return LEFT + width + RIGHT, TOP + height + BOTTOM

    @property
    def _place(self) -> tuple[object, ...]:
        return *self.corner.tolist(), self.pixels, *self.area.tolist()

    @property
    def least(self) -> float:
        """Pixels per residue at which the whole table fits."""
        return float(min(_MAX_PIXELS, *(self.area / np.maximum(1, self.lengths))))

    @property
    def letters(self) -> bool:
        """Whether residues are wide enough to show their letters."""
        return self.pixels >= LETTERS_FROM

    def resize(self, width: int, height: int) -> None:
        """Keep the place, or the whole, in a window of another size."""
        whole = self.pixels <= self.least
        self.area = np.maximum(1, (height - TOP - BOTTOM, width - LEFT - RIGHT))
        self._show(self.corner, self.least if whole else max(self.pixels, self.least))

    def whole(self) -> None:
        """Show the whole table, in the middle."""
        self._show(self.corner, self.least)

    def zoom(self, factor: float, place: tuple[float, float] | None = None) -> None:
        """Zoom in by a factor; what is at a pixel of the window, or in the middle, stays there."""
        at = self.area / 2 if place is None else np.subtract(place, (TOP, LEFT))
        pixels = min(max(self.pixels * factor, self.least), _MAX_PIXELS)
        self._show(self.corner + at * (1 / self.pixels - 1 / pixels), pixels)

    def close_up(self) -> None:
        """Zoom in around the middle until letters are shown."""
        self.zoom(max(1.0, 2 * LETTERS_FROM / self.pixels))

    def move(self, down: float, across: float) -> None:
        """Move what is shown, by pixels."""
        self._show(self.corner - np.array((down, across)) / self.pixels, self.pixels)

    def switch(self, what: str) -> None:
        """Hide a strand or the alignments, see `hidden`, or show them again."""
        self.hidden ^= {what}

    def part(self, share: float = 0.0, least: int = 0) -> Part:
        """Return what is visible and a margin: a share of it, or at least so many residues."""
        visible = self.area / self.pixels
        margin = np.maximum(share * visible, least)
        low = np.clip(np.floor(self.corner - margin), 0, self.lengths)
        high = np.clip(np.ceil(self.corner + visible + margin), 0, self.lengths)
        rows, columns = (range(int(a), int(b)) for a, b in zip(low, high, strict=True))
        return rows, columns

    def codes(self, part: Part) -> tuple[Codes, Codes]:
        """Return the codes of the queries and of the targets of a part."""
        query, target = (each.sequences.residues for each in self.sides)
        return query[part[0].start : part[0].stop], target[part[1].start : part[1].stop]

    def pixel(self, side: int, residue: float) -> float:
        """Return where a residue of all queries (side 0) or targets (1) begins in the map."""
        return float((residue - self.corner[side]) * self.pixels)

    def pointed(self) -> tuple[int, int] | None:
        """Return the query's and the target's residue under the pointer, None beside the map."""
        if self.mouse is None:
            return None
        at = np.subtract(self.mouse, (TOP, LEFT))
        i, j = np.floor(self.corner + at / self.pixels).astype(int).tolist()
        rows, columns = self.part()
        inside = bool(np.all((at >= 0) & (at < self.area)))
        return (i, j) if inside and i in rows and j in columns else None

    def _show(self, corner: npt.NDArray[np.float64], pixels: float) -> None:
        """Move there, but keep the table at the borders, or in the middle if it is smaller."""
        spare = self.lengths - self.area / pixels
        self.corner = np.clip(corner, np.minimum(0, spare / 2), np.maximum(spare, spare / 2))
        self.pixels = pixels

    # The map.

    @property
    def _side(self) -> int:
        """Residues of a tile, about, at full resolution."""
        return max(1, round(self.pixels_per_tile / self.pixels))

    def _sharp(self) -> bool:
        """Return whether the map that is there, or computed, has the visible part and its tiles."""
        if self.wanted is None:
            return False
        part, side = self.wanted
        covered = all(
            have.start <= need.start and need.stop <= have.stop
            for have, need in zip(part, self.part(), strict=True)
        )
        return covered and 0.5 < side / self._side < 2

    def compute(self, wanted: tuple[Part, int]) -> None:
        """Compute a map, and show what there is of it, until another one is wanted."""
        mapper, (part, side) = self.mapper, wanted
        tile = mapper.tile(side)
        rows, columns = (
            Axis(segments_of(collection, residues.start, residues.stop), tile.side)
            for collection, residues in zip(self.sides, part, strict=True)
        )
        found = Map(part, (rows, columns), {}, mapper.cap(tile.side))

        def show(maps: Maps) -> None:
            nonlocal found
            if self.wanted is not wanted:
                raise CancelledError
            found = replace(found, maps=found.maps | maps)
            self.map = found

        maps = mapper.maps(*found.axes, tile, partial=lambda sign, tiles: show({sign: tiles}))
        show(maps)
        if len(part[0]) * len(part[1]) <= self._max_path_cells:
            found = replace(found, paths=self._paths(found))
            show({})

    def _paths(self, found: Map) -> tuple[tuple[Sign, int | float, Int64], ...]:
        """Return the best alignment of each strand, if the part has one query and one target."""
        if any(len(axis.segments) > 1 for axis in found.axes):
            return ()
        scoring, (rows, columns), paths = self.mapper.scoring, found.part, []
        query, target = self.codes(found.part)
        for sign in found.maps:
            turned = target if sign == "+" else complement(target[::-1], scoring.alphabet)
            best = self._aligner.align(query, turned)
            if best.score < found.scale.low / scoring.scale or not best.columns:
                continue
            targets, queries = best.coordinates.astype(np.int64)
            if sign == "-":
                targets = len(target) - targets
            path = np.stack([queries + rows.start, targets + columns.start])
            paths.append((sign, best.score, path))
        return tuple(paths)

    # The wavefront of Liu et al. 2006 (section 3). Three buffers have an anti-diagonal each and
    # change roles cyclically: pass k writes diagonal k and reads k - 1 (E, F) and k - 2 (H of the
    # aligned pair).

    @property
    def passes(self) -> int:
        """The number of anti-diagonals, m + n - 1, 0 without a wavefront."""
        return sum(map(len, self.wavefront.part)) - 1 if self.wavefront else 0

    def switch_wavefront(self) -> None:
        """Start the wavefront of the visible part, or end it."""
        part = self.part()
        if self.wavefront:
            self.wavefront, self.running = None, False
        elif max(map(len, part)) > _MAX_RESIDUES:
            self.message = f"zoom in: the wavefront is for at most {_MAX_RESIDUES} residues"
        else:
            rows, columns = (Axis((Segment(0, "", at.start, at.stop),), 1) for at in part)
            h = fill(*self.codes(part), self.mapper.scoring)[0][1:, 1:].astype(np.int32)
            self.wavefront = Map(part, (rows, columns), {"+": h}, UNCAPPED)
            self.k, self.running = 0, True

    def step(self, passes: int) -> None:
        """Go on by some passes, or back, and stop there."""
        self.k, self.running = min(max(0, self.k + passes), max(0, self.passes - 1)), False

    def run_or_stop(self) -> None:
        """Let the wavefront run, or stop it."""
        self.running = bool(self.wavefront) and not self.running
