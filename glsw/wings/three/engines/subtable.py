"""Engine ``subtable``: sub-tables in tiles of work groups (Sudo et al. 2012, section 6.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from glsw import caller
from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells, Paths
from glsw.arrays import Int32, Intp, Structured, UInt8, UInt32
from glsw.device.device import Device, DeviceMemoryError
from glsw.device.info import DeviceInfo
from glsw.engines.base import Progress, ignore
from glsw.engines.gl import Uniform
from glsw.trust.provable import USUAL, Variant
from glsw.wings.three.engines import gl
from glsw.wings.three.engines.gl import Compute3, Extents, WaitedInVainError
from glsw.wings.three.engines.tiles import (
    NEVER,
    Chunk,
    CubeSizes,
    RowRange,
    TileForm,
    TileForms,
    TileShape,
)
from glsw.wings.three.scoring import Scoring3

_EMPTYING_GROUPS = 1024
_TRACES_PER_GROUP = 32
_NOTHING_KEPT = {"TABLE": 0, "DIRECTIONS": 0, "MASKED": 0}
_CELLS_OF_UNIT = 2**24  # of which the throttle counts how many there is time for
_TRACE = np.dtype([("at", np.int32, 3), ("column", np.int32), ("run", np.uint32),
                  ("runs", np.uint32), ("over", np.uint32), ("pad", np.uint32)])  # fmt: skip

_T = TypeVar("_T")


def _may_poll(info: DeviceInfo) -> bool:
    """Tell whether tiles may wait for one another, if that is proved.

    AMD promises nothing, but its drivers let work groups that have begun go on. Elsewhere that is
    not known, and on Intel such programs would spill registers.
    """
    return info.vendor.startswith(("AMD", "ATI")) and not info.software


class Subtable(Compute3):
    """Compute sub-tables, in tiles of work groups ("GPUI").

    An invocation computes sub-tables (4 x 4 x 4 cells in the paper; by default one cell along the
    first sequence) in registers, one after the other along the first sequence. The invocations of a
    work group move along a wavefront of sub-tables and pass sides on in shared memory, work groups
    in global memory. A dispatch computes the tiles of a diagonal plane, or all tiles, which then
    wait for one another. OpenGL does not guarantee that this ends: if a tile has waited too long,
    it is recomputed the other way. Only sides are stored, in planes, for as many rows at once as
    fit the memory. Alignments need 3 bits per cell (16 with affine gaps). If these exceed the
    memory, planes of the table are stored, and the cells after them are recomputed.

    Parameters
    ----------
    memory : int
        Bytes of device memory for a chunk of triples, sequences not counted.
    shape : TileShape, optional
        By default chosen for the device; the paper's is ``TileShape(4, 8, 8, deep=4)``.
    depth : int, optional
        Sub-tables per invocation and tile, along the first sequence; on hardware, by default all,
        or as many as time and memory allow.
    packed : bool, optional
        Whether sides store several values per word, which requires scores below 2^16, or affine
        gaps that cost less than 1023 to open; by default if possible.
    spacing : int, optional
        Sub-tables between two stored planes when alignments are computed in parts; by default all
        directions are stored if they fit the memory.
    polling : bool, optional
        Whether tiles wait for the sides of others; by default with NVIDIA's driver, and with AMD's
        once it has passed its self-test.
    most_polls : int
        How often a tile polls for the same sides before it gives up; by default for some seconds.
    limits : CubeSizes

    Warns
    -----
    RuntimeWarning
        If a tile has waited in vain: from then on none waits; the results are correct.
    """

    name = "subtable"
    variants = (
        Variant("polling", {"polling": True, "most_polls": 2**16}, _may_poll, optional=True),
        USUAL,
        Variant("no polling", {"polling": False}),
        Variant("small tiles", {"polling": False, "shape": TileShape(2, 4, 4, deep=1)}),
    )

    def __init__(
        self,
        scoring: Scoring3,
        device: Device | None = None,
        *,
        memory: int = 2**30,
        shape: TileShape | None = None,
        depth: int | None = None,
        packed: bool | None = None,
        spacing: int | None = None,
        polling: bool | None = None,
        most_polls: int = 2**22,
        limits: CubeSizes = CubeSizes(),  # noqa: B008
    ) -> None:
        super().__init__(scoring, device)
        if shape is not None:
            shape.check()
        if depth is not None and depth < 1:
            raise ValueError(f"depth {depth}: at least 1 sub-table expected")
        if spacing is not None and spacing < 1:
            raise ValueError(f"spacing {spacing}: at least 1 sub-table expected")
        self.forms = TileForms(scoring, self.device.info, shape, depth, packed, polling, limits)
        self._limits, self._memory = limits, memory
        self._spacing, self._most_polls = spacing, most_polls
        self._placed: Structured | None = None
        self._plans: dict[tuple[bytes, bool, bool], list[Chunk]] = {}

    @property
    def polling(self) -> bool:
        """Whether tiles wait for others, and none has waited in vain."""
        return self.forms.polling

    # scores and ends

    def best(self, triples: Batch, progress: Progress) -> BestCells:
        """Return the best cell of each triple, see `Engine3.best`."""
        residues, extents = self.device_triples(triples)

        def computed(progress: Progress) -> BestCells:
            found = BestCells.zeros(len(triples), 3)
            for chunk in self._planned(extents):
                self._prepare(chunk, residues)
                self._fill(chunk, progress=progress)
                found.put(chunk.chosen, self._best(chunk))
            return found

        return self._surely(computed, progress)

    def tables_of(self, triples: Batch, progress: Progress) -> Iterator[Int32]:
        """Yield the table of each triple, see `Engine3.tables`; slab by slab if it is large."""
        residues, extents = self.device_triples(triples)
        for t in range(len(triples)):
            table = np.empty(extents.lengths[t], np.int32)
            if table.size:
                self.device.activate()
                fill = partial(self._fill_table, table, extents, np.array([t]), residues)
                self._surely(fill, progress)
            yield table[(slice(extents.before, None),) * 3] - extents.origin

    def _fill_table(
        self,
        table: Int32,
        extents: Extents,
        chosen: Intp,
        residues: UInt8,
        progress: Progress,
    ) -> None:
        chunk = self._chunk(extents, chosen)
        self._prepare(chunk, residues)
        deep = chunk.form.shape.deep
        row = 4 * deep * table[0].size
        rows = max(1, min(self._memory - chunk.bytes, self._buffer_limit) // row) * deep
        rows = min(rows, chunk.rows)
        self.memory_used = max(self.memory_used, chunk.bytes + rows * row // deep)
        for part in RowRange(0, chunk.rows).parts(rows):
            slab = table[part.first : part.stop]
            self.reserve(gl.DIRECTIONS, slab.nbytes)
            self._fill(chunk, part, TABLE=1, progress=progress)
            self._check(chunk)
            self.download_into(gl.DIRECTIONS, slab)
            self.check_table(extents, int(chosen[0]), slab)

    # alignments

    def paths_of(self, triples: Batch, progress: Progress) -> Paths:
        """Return the best alignment of each triple, traced back on the device."""
        residues, extents = self.device_triples(triples)

        def computed(progress: Progress) -> Paths:
            found = BestCells.zeros(len(triples), 3)
            runs = [np.empty(0, np.uint32)] * len(triples)
            for chunk in self._planned(extents, trace=True):
                self._prepare(chunk, residues)
                best, traced = self._traced(chunk, progress)
                found.put(chunk.chosen, best)
                for t, path in zip(chunk.chosen, traced, strict=True):
                    runs[t] = path
            return self.checked(Paths.of(self.ends_of(found), runs))

        return self._surely(computed, progress)

    def disjoint_of(self, triples: Batch, progress: Progress) -> Iterator[tuple[int, Paths]]:
        """Yield the alignments of each triple that share no cell, see `Engine3.disjoint`."""
        residues, extents = self.device_triples(triples)
        for t in np.sort(extents.ordered()).tolist():
            found, over = 0, False
            while not over:
                again = self._disjoint_of_one(extents, np.array([t]), residues, progress)
                try:
                    for paths in islice(again, found, None):
                        found += 1
                        yield t, paths
                    over = True
                except WaitedInVainError as error:  # some cells may be forbidden already
                    self._wait_no_more(error)

    def _disjoint_of_one(
        self,
        extents: Extents,
        chosen: Intp,
        residues: UInt8,
        progress: Progress,
    ) -> Iterator[Paths]:
        """Yield the alignments of one triple."""
        self.device.activate()
        chunk = self._chunk(extents, chosen, trace=True, masked=True)
        masks = self.device.ctx.buffer(bytes(chunk.layout.size("mask")))
        known: set[bytes] = set()
        while True:
            self.device.activate()
            self._prepare(chunk, residues)
            masks.bind_to_storage_buffer(gl.MASKS.number)
            best, runs = self._traced(chunk, progress)
            if not best.score[0]:
                break
            yield self.checked(Paths.of(self.ends_of(best), runs), known)

    def _traced(self, chunk: Chunk, progress: Progress) -> tuple[BestCells, list[UInt32]]:
        """Compute the tables of a chunk and trace back from the best cells."""
        masked = int(chunk.masked)
        whole = chunk.spacing >= chunk.rows
        self._fill(chunk, DIRECTIONS=int(whole), MASKED=masked, progress=progress)
        best = self._best(chunk)
        traces = np.zeros(len(chunk.chosen), _TRACE)
        traces["at"] = best.cell + chunk.extents.before
        traces["over"] = self.scoring.local & (best.score == 0)
        self.reserve(gl.PATHS, chunk.layout.size("path"))
        while not traces["over"].all():
            first = 0
            if not whole:
                part = chunk.part_above(traces[0]["at"])
                first = part.first
                self._fill(chunk, part, DIRECTIONS=1, MASKED=masked, AGAIN=1, progress=ignore)
                self._check(chunk)
            traces = self._continue(chunk, traces, first)
        words = self.download(gl.PATHS, np.uint32, chunk.layout.totals["path"])
        starts, counts = chunk.records["path"].tolist(), traces["runs"].tolist()
        runs = [words[a : a + count] for a, count in zip(starts, counts, strict=True)]
        return best, runs

    def _continue(self, chunk: Chunk, traces: Structured, first_row: int) -> Structured:
        """Continue the traces where there are directions."""
        self.upload(gl.TRACES, traces)
        self.reserve(gl.PATHS, chunk.layout.size("path"))
        masked = int(chunk.masked)
        program = self.program("three/traceback3.comp", MASKED=masked, **chunk.form.shape.defines)
        program["triple_count"] = len(traces)
        program["first_sub_table"] = first_row // chunk.form.shape.deep
        program.run(-(-len(traces) // _TRACES_PER_GROUP))
        self.device.ctx.memory_barrier()
        self.device.check("tracing back")
        found = self.download(gl.TRACES, _TRACE, len(traces)).copy()
        return self.check_traces(traces, found, chunk.layout.units["path"])

    # what is computed together

    def _planned(self, extents: Extents, *, trace: bool = False) -> Iterable[Chunk]:
        """Return `_chunks`, those of the last few layouts again if they are the same."""
        if len(extents.lengths) > self._limits.planned_triples:
            return self._chunks(extents, trace=trace)
        key = extents.key, trace, self.forms.polling
        chunks = self._plans.pop(key, None) or list(self._chunks(extents, trace=trace))
        while len(self._plans) >= self._limits.plans:
            del self._plans[next(iter(self._plans))]
        self._plans[key] = chunks
        return chunks

    def _chunks(self, extents: Extents, *, trace: bool = False) -> Iterator[Chunk]:
        """Cut the triples into chunks that fit the memory, the largest tables first."""
        order = extents.ordered()
        if not len(order):
            return
        if len(order) == 1:
            yield self._chunk(extents, order, trace=trace)
            return
        form = self.forms.of(extents, order, trace)
        everything = self._chunk(extents, order, form, trace=trace)
        alone = everything.layout.each > self._room
        if trace and self._spacing:
            alone[:] = True
        for t in order[alone]:
            yield self._chunk(extents, np.array([t]), trace=trace)
        others = order[~alone]
        for run in everything.layout.cut(self._room, ~alone):
            chosen = others[run]
            whole = len(chosen) == len(order)
            yield everything if whole else self._chunk(extents, chosen, form, trace=trace)

    def _chunk(
        self,
        extents: Extents,
        chosen: Intp,
        form: TileForm | None = None,
        *,
        trace: bool = False,
        masked: bool = False,
    ) -> Chunk:
        """Choose form and spacing; the table of a single triple may need parts."""
        form = form or self.forms.of(extents, chosen, trace)
        most = form.tile_rows if form.polling else NEVER
        chunk = Chunk(extents, chosen, form, trace, masked, most_rows=most)
        if self._spacing and trace:
            chunk = replace(chunk, spacing=self._spacing * form.shape.deep)
        if len(chosen) == 1:
            tries = chunk.smaller(trace and not self._spacing)
            found = next(filter(self._fits, tries), None)
            if found is None and not self._spacing:
                lengths = ", ".join(map(str, (chunk.lengths[0] - extents.before).tolist()))
                least = min(chunk.smaller(trace), key=lambda each: each.bytes)
                raise DeviceMemoryError(
                    f"sequences of {lengths} letters need {least.bytes} bytes of device memory, "
                    f"{least.largest} of them in one buffer; {self._memory} may be used, and a "
                    f"buffer may have {self._buffer_limit}"
                )
            chunk = found or chunk
        return chunk

    def _fits(self, chunk: Chunk) -> bool:
        return chunk.bytes <= self._memory and chunk.largest <= self._buffer_limit

    # filling the tables of a chunk

    def _prepare(self, chunk: Chunk, residues: UInt8) -> None:
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
        part = part or RowRange(0, chunk.rows)
        polling = chunk.form.polling
        name = "three/subtable_waiting.comp" if polling else "three/subtable.comp"
        program = self.program(
            name, **{"AGAIN": AGAIN} | _NOTHING_KEPT | chunk.form.defines | defines
        )
        emptying = self.program("three/empty_sides.comp", **chunk.form.defines) if polling else None
        for binding, size in chunk.sizes.items():
            self.reserve(binding, size)
        patches = tuple(np.minimum(chunk.patches.max(axis=0), part.patches).tolist())
        for rows in part.parts(chunk.rows_at_once):
            again = part.first // chunk.spacing - 1 if AGAIN else -1
            keeps = not AGAIN and rows.stop % chunk.spacing == 0
            known: dict[str, Uniform] = {
                "origin": chunk.extents.origin,
                "first_kept": part.first,
                "kept_number": (again, rows.stop // chunk.spacing - 1 if keeps else -1),
            }
            self.set(program, known)
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
        best = chunk.extents.best(cells, chunk.layout.units["best"])
        return self.check_cells(chunk.extents, chunk.chosen, best)

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
        if not self.forms.polling:
            raise error
        self.forms.polling = False
        caller.warn(
            f"{self.device.info.name}: {error}; they are computed again, one plane of tiles after "
            "another, and so are all from now on (polling off)",
            RuntimeWarning,
        )

    def _check(self, chunk: Chunk) -> None:
        """Raise `WaitedInVainError` if a tile of a chunk has."""
        if chunk.form.polling:
            self._best(chunk)
