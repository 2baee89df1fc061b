"""Engine ``subtable``: sub-tables in tiles of work groups (Sudo et al. 2012, section 6.4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.device import Device, DeviceMemoryError
from glsw.engines.base import Progress, ignore
from glsw.engines.three import gl
from glsw.engines.three.gl import Compute3, DeviceTriples, cut_by_memory
from glsw.engines.three.tiles import Chunk, TileForm, TileRange, TileShape
from glsw.paths import BestCells, Paths
from glsw.scoring.three import Scoring3

_TRACES_PER_GROUP = 32
_MANY_TRIPLES = 256  # whose tiles keep a large device busy
_TRACE = np.dtype([("at", np.int32, 3), ("column", np.int32), ("run", np.uint32),
                  ("runs", np.uint32), ("over", np.uint32), ("pad", np.uint32)])  # fmt: skip


class Subtable(Compute3):
    """Compute sub-tables in tiles, the tiles on a diagonal plane in a dispatch ("GPUI").

    An invocation computes sub-tables, of 4 x 4 x 4 cells in the paper and by default of one cell
    along the first sequence, one after the other along that sequence, in registers; the
    invocations of a work group move along a wavefront of sub-tables and hand their sides on in
    shared memory, work groups in global memory. Only sides are kept, in planes: memory is linear in
    the first sequence. Alignments need 3 bits per cell (16 with affine gaps). Where these exceed
    the memory, planes of the table are kept, and the cells after them are computed again.

    Parameters
    ----------
    memory : int
        Bytes of device memory for a chunk of triples, sequences not counted.
    shape : TileShape, optional
        By default what suits the device; that of the paper is ``TileShape(4, 8, 8, deep=4)``.
    depth : int, optional
        Sub-tables of an invocation in a tile, along the first sequence.
    packed : bool, optional
        Whether sides have two values in a word, which needs scores below 2^16; by default where
        that holds.
    spacing : int, optional
        Tiles between two kept planes when alignments are computed in parts; by default directions
        are kept as long as they fit the memory.
    """

    name = "subtable"

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
    ) -> None:
        super().__init__(scoring, device)
        if shape is not None:
            shape.check()
        if depth is not None and depth < 1:
            raise ValueError(f"depth {depth}: at least 1 sub-table expected")
        if spacing is not None and spacing < 1:
            raise ValueError(f"spacing {spacing}: at least 1 tile expected")
        self._forms = _TileForms(scoring, self.device, shape, depth, packed)
        self._spacing = spacing
        self._memory = memory
        self.memory_used = 0

    # scores and ends

    def best(self, triples: Batch, progress: Progress) -> BestCells:
        """Return the best cell of each triple, see `Engine3.best`."""
        data = self.device_triples(triples)
        found = BestCells.zeros(len(triples), 3)
        for chunk in self._chunks(data):
            self._prepare(chunk)
            self._fill(chunk, progress=progress)
            found.put(chunk.chosen, self._best(chunk))
        return found

    def tables(
        self, triples: Batch, *, progress: Progress | None = None
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the table of each triple, see `Engine3.tables`; slab by slab if it is large."""
        self.check(triples)
        return self._tables(triples, progress or ignore)

    def _tables(self, triples: Batch, progress: Progress) -> Iterator[npt.NDArray[np.int32]]:
        data = self.device_triples(triples)
        for t in range(len(triples)):
            table = np.empty(data.lengths[t], np.int32)
            if table.size:
                self.device.activate()
                chunk = self._chunk(data, np.array([t]))
                self._prepare(chunk)
                rows = chunk.form.rows
                tile = 4 * table[0].size * rows
                slab = max(1, min(self._memory - chunk.bytes, self._block) // tile)
                self.memory_used = max(self.memory_used, chunk.bytes + slab * tile)
                for first in range(0, chunk.tiles, slab):
                    slab_rows = table[first * rows : (first + slab) * rows]
                    self.reserve(gl.DIRECTIONS, slab_rows.nbytes)
                    part = TileRange(first, min(first + slab, chunk.tiles))
                    self._fill(chunk, part, TABLE=1, progress=progress)
                    self.download_into(gl.DIRECTIONS, slab_rows)
            yield table[(slice(data.before, None),) * 3] - data.origin

    # alignments

    def paths(self, triples: Batch, *, progress: Progress | None = None) -> Paths:
        """Return the best alignment of each triple, traced back on the device."""
        self.check(triples)
        data = self.device_triples(triples)
        found = BestCells.zeros(len(triples), 3)
        runs = [np.empty(0, np.uint32)] * len(triples)
        for chunk in self._chunks(data, trace=True):
            self._prepare(chunk)
            best, traced = self._traced(chunk, progress or ignore)
            found.put(chunk.chosen, best)
            for t, path in zip(chunk.chosen, traced, strict=True):
                runs[t] = path
        return Paths.of(self.ends_of(found), runs)

    def disjoint(
        self, triples: Batch, *, progress: Progress | None = None
    ) -> Iterator[tuple[int, Paths]]:
        """Yield the alignments of each triple that share no cell, see `Engine3.disjoint`."""
        self.check_disjoint(triples)
        return self._disjoint(triples, progress or ignore)

    def _disjoint(self, triples: Batch, progress: Progress) -> Iterator[tuple[int, Paths]]:
        data = self.device_triples(triples)
        for t in np.sort(data.ordered()).tolist():
            self.device.activate()
            chunk = self._chunk(data, np.array([t]), trace=True, masked=True)
            masks = self.device.ctx.buffer(bytes(4 * int(chunk.masks.sum())))
            while True:
                self.device.activate()
                self._prepare(chunk)
                masks.bind_to_storage_buffer(gl.MASKS.number)
                best, runs = self._traced(chunk, progress)
                if not best.score[0]:
                    break
                yield t, Paths.of(self.ends_of(best), runs)

    def _traced(
        self, chunk: Chunk, progress: Progress
    ) -> tuple[BestCells, list[npt.NDArray[np.uint32]]]:
        """Compute the tables of a chunk and trace back from the best cells."""
        masked = 1 if chunk.masked else None
        whole = chunk.spacing >= chunk.tiles
        self._fill(chunk, DIRECTIONS=1 if whole else None, MASKED=masked, progress=progress)
        best = self._best(chunk)
        traces = np.zeros(len(chunk.chosen), _TRACE)
        traces["at"] = best.cell + chunk.data.before
        traces["over"] = self.scoring.local & (best.score == 0)
        self.reserve(gl.PATHS, 4 * int(chunk.paths.sum()))
        while not traces["over"].all():
            first = 0
            if not whole:
                part = chunk.part_above(traces[0]["at"])
                first = part.first
                self._fill(chunk, part, DIRECTIONS=1, MASKED=masked, AGAIN=1, progress=ignore)
            traces = self._continue(chunk, traces, first)
        words = self.download(gl.PATHS, np.uint32, int(chunk.paths.sum()))
        starts, counts = chunk.records["path"].tolist(), traces["runs"].tolist()
        runs = [words[a : a + count] for a, count in zip(starts, counts, strict=True)]
        return best, runs

    def _continue(
        self, chunk: Chunk, traces: npt.NDArray[np.void], first_tile: int
    ) -> npt.NDArray[np.void]:
        """Continue the traces where there are directions."""
        self.upload(gl.TRACES, traces)
        self.reserve(gl.PATHS, 4 * int(chunk.paths.sum()))
        program = self.program(
            "traceback3.comp",
            DIRECTIONS=1,
            MASKED=int(chunk.masked),
            SCORES=None,
            **chunk.form.shape.defines,
        )
        program["triple_count"] = len(traces)
        program["first_sub_table"] = first_tile * chunk.form.depth
        program.run(-(-len(traces) // _TRACES_PER_GROUP))
        self.device.ctx.memory_barrier()
        self.device.check("tracing back")
        return self.download(gl.TRACES, _TRACE, len(traces)).copy()

    # what is computed together

    @property
    def _room(self) -> int:
        """Bytes that a chunk may keep, all in one buffer if need be."""
        return min(self._memory, self._block)

    @property
    def _block(self) -> int:
        """Bytes that a buffer may have."""
        return self.device.info.limits["max_storage_block"]

    def _chunks(self, data: DeviceTriples, *, trace: bool = False) -> Iterator[Chunk]:
        """Cut the triples into chunks that fit the memory, the largest tables first."""
        order = data.ordered()
        if not len(order):
            return
        if len(order) == 1:
            yield self._chunk(data, order, trace=trace)
            return
        form = self._forms.of(data, order, trace)
        everything = Chunk(data, order, form, trace)
        each = np.zeros(len(data.index), np.int64)
        each[order] = everything.each
        alone = each > self._room
        if trace and self._spacing:
            alone[:] = True
        large = order[alone[order]]
        for t in large:
            yield self._chunk(data, np.array([t]), trace=trace)
        for chosen in cut_by_memory(order[~alone[order]], each, self._room):
            yield self._chunk(data, chosen, form, trace=trace)

    def _chunk(
        self,
        data: DeviceTriples,
        chosen: npt.NDArray[np.intp],
        form: TileForm | None = None,
        *,
        trace: bool = False,
        masked: bool = False,
    ) -> Chunk:
        """Choose form and spacing; the table of a single triple may need parts."""
        form = form or self._forms.of(data, chosen, trace)
        chunk = Chunk(data, chosen, form, trace, masked)
        if self._spacing and trace:
            chunk = chunk.spaced(self._spacing)
        elif len(chosen) == 1 and not self._fits(chunk):
            tries = [chunk.spaced(spacing) for spacing in range(chunk.tiles - 1, 0, -1) if trace]
            found = next(filter(self._fits, tries), None)
            if found is None:
                lengths = ", ".join(map(str, (chunk.lengths[0] - data.before).tolist()))
                least = min([chunk, *tries], key=lambda each: each.bytes)
                raise DeviceMemoryError(
                    f"sequences of {lengths} letters need {least.bytes} bytes of device memory, "
                    f"{least.largest} of them in one buffer; {self._memory} may be used, and a "
                    f"buffer may have {self._block}"
                )
            chunk = found
        self.memory_used = max(self.memory_used, chunk.bytes)
        return chunk

    def _fits(self, chunk: Chunk) -> bool:
        return chunk.bytes <= self._memory and chunk.largest <= self._block

    def _prepare(self, chunk: Chunk) -> None:
        """Upload the triples of a chunk and reserve its buffers."""
        self.upload_triples(chunk.data)
        self.upload(gl.TRIPLES, chunk.records)
        self.reserve(gl.SIDES, chunk.form.side_bytes * int(chunk.sides.sum()))
        self.reserve(gl.BEST, 16 * int(chunk.patches.prod(axis=1).sum()))
        self.reserve(gl.KEPT, chunk.form.side_bytes * int(chunk.kept.sum()))
        self.reserve(gl.DIRECTIONS, 4 * int(chunk.directions.sum()))

    def _fill(
        self,
        chunk: Chunk,
        part: TileRange | None = None,
        *,
        progress: Progress,
        AGAIN: int = 0,  # noqa: N803
        **defines: int | None,
    ) -> None:
        """Compute a part of the tiles, or all of them."""
        defines |= {"AGAIN": AGAIN, **chunk.form.defines}
        program = self.triples_program("subtable.comp", chunk.data, **defines)
        part = part or chunk.everything
        patches, deep = chunk.most_patches(part), part.stop - part.first
        self.set(
            program,
            {
                "first_tile": part.first,
                "last_tile": part.stop - 1,
                "spacing": chunk.spacing,
            },
        )
        for binding in (gl.SIDES, gl.BEST, gl.DIRECTIONS):
            self.reserve(binding, 0)
        waves = chunk.waves(part)
        cells = chunk.cells * (part.stop - part.first) // chunk.tiles

        def step(wave: int) -> None:
            first = [max(0, wave + 2 - deep - other) for other in patches[::-1]]
            groups = [min(own, wave + 1) - low for own, low in zip(patches, first, strict=True)]
            program["wave"] = wave, *first
            program.run(groups[0], groups[1], len(chunk.chosen))
            self.barrier()

        self._throttle.run(waves, step, cells=cells, progress=progress)
        self.device.check("computing sub-tables")

    def _best(self, chunk: Chunk) -> BestCells:
        """Return the best cell of each triple of a chunk, see `Engine3.best`."""
        counts = chunk.patches.prod(axis=1)
        cells = self.download(gl.BEST, (np.int32, 4), int(counts.sum()))
        return chunk.data.best(chunk.chosen, cells, counts)


class _TileForms:
    """Choose the form of tiles for triples: as requested, else as suits device and scoring."""

    def __init__(
        self,
        scoring: Scoring3,
        device: Device,
        shape: TileShape | None,
        depth: int | None,
        packed: bool | None,
    ) -> None:
        self._scoring = scoring
        self._software = device.info.software
        self._shared = device.info.limits["max_shared_memory"]
        self._shape, self._depth, self._packed = shape, depth, packed
        self._name = device.info.name
        for trace in (False, True):
            self._form(trace, packed is not False, depth or 1)

    def of(self, data: DeviceTriples, chosen: npt.NDArray[np.intp], trace: bool) -> TileForm:
        """Return the form for some triples."""
        lengths = data.lengths[chosen]
        first = int(lengths[:, 0].max())
        bound = data.origin + int(self._scoring.bounds(lengths).max()) + self._scoring.costs.opens
        if self._packed and bound >= 2**16:
            raise ValueError(f"packed sides need scores below 65536, {bound} is possible")
        packed = bound < 2**16 and self._packed is not False
        many = len(chosen) >= _MANY_TRIPLES
        if self._depth:
            return self._form(trace, packed, self._depth, many)
        short, long = (16, 128) if self._software else (8, 32)
        form = self._form(trace, packed, 1, many)
        rows = min(long if first > 2 * short else short, self._most_rows(form))
        return form._replace(depth=max(1, rows // form.shape.deep))

    def _form(self, trace: bool, packed: bool, depth: int, many: bool = False) -> TileForm:
        """Return a form; ValueError if it does not fit the shared memory."""
        shape = self._shape_for(trace, packed, many)
        form = TileForm(shape, self._scoring.linear, packed, depth)
        deepest = self._most_rows(form) // form.shape.deep
        if depth > deepest:
            raise ValueError(
                f"depth {depth}: at most {max(0, deepest)} fit the shared memory of {self._name} "
                f"with {form.shape}"
            )
        return form

    def _most_rows(self, form: TileForm) -> int:
        return form.most_rows(self._scoring, self._shared)

    def _shape_for(self, trace: bool, packed: bool, many: bool) -> TileShape:
        """Return the requested shape, or the fastest of those measured, of ``many`` triples too."""
        if self._shape:
            return self._shape
        linear = self._scoring.linear
        deep = 2 if trace and linear else 1  # of which directions fill words
        if self._software:
            return TileShape(4 if linear else 2, 8, 8, deep)
        if many and linear and not trace and self._scoring.scheme == "identity":
            return TileShape(4, 16, 16, deep)
        return TileShape(4, 16 if linear or packed else 8, 8, deep)
