"""Engine ``subtable``: sub-tables in tiles of work groups (Sudo et al. 2012, section 6.4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.device import Device, DeviceMemoryError
from glsw.engines.base import Progress, ignore
from glsw.engines.three import compute
from glsw.engines.three.base import ends_of
from glsw.engines.three.compute import Compute3, Letters, chunks
from glsw.engines.three.tiles import Box, Form, Plan, Shape
from glsw.paths import BestCells, Paths
from glsw.scoring.three import Scoring3

_WALKERS = 32
_WALK = np.dtype([("at", np.int32, 3), ("column", np.int32), ("run", np.uint32),
                  ("runs", np.uint32), ("over", np.uint32), ("pad", np.uint32)])  # fmt: skip


class Subtable(Compute3):
    """Compute sub-tables in tiles, the tiles on a diagonal plane in a dispatch ("GPUI").

    An invocation computes sub-tables, of 4 x 4 x 4 cells in the paper and by default of one cell
    along the first sequence, one after the other along that sequence, in registers; the
    invocations of a work group move along a wavefront of sub-tables and hand their sides on in
    shared memory, and work groups theirs in global memory. Only sides
    are kept, in planes: memory is linear in the first sequence. Alignments need 3 bits a cell (16
    with affine gaps), or, where these exceed the memory, planes of the table from which the cells
    behind them are computed again.

    Parameters
    ----------
    memory : int
        Bytes of device memory for what a chunk of triples keeps.
    shape : Shape, optional
        By default what suits the device; that of the paper is ``Shape(4, 8, 8, deep=4)``.
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
        shape: Shape | None = None,
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
        self._forms = _Forms(scoring, self.device, shape, depth, packed)
        self._spacing = spacing
        self._memory = memory
        self.memory_used = 0

    # scores and ends

    def best(self, triples: Batch, progress: Progress) -> BestCells:
        """Return the best cell of each triple, see `Engine3.best`."""
        letters = self.letters_of(triples)
        found = BestCells.zeros(len(triples), 3)
        for plan in self._plans(letters):
            self._prepare(plan)
            self._fill(plan, progress=progress)
            found.put(plan.chosen, self._best(plan))
        return found

    def tables(
        self, triples: Batch, *, progress: Progress | None = None
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the table of each triple, see `Engine3.tables`; slab by slab if it is large."""
        self.check(triples)
        return self._tables(triples, progress or ignore)

    def _tables(self, triples: Batch, progress: Progress) -> Iterator[npt.NDArray[np.int32]]:
        letters = self.letters_of(triples)
        for t in range(len(triples)):
            table = np.empty(letters.lengths[t], np.int32)
            if table.size:
                self.device.activate()
                plan = self._plan(letters, np.array([t]))
                self._prepare(plan)
                rows = plan.form.rows
                tile = 4 * table[0].size * rows
                slab = max(1, min(self._memory - plan.bytes, self._block) // tile)
                self.memory_used = max(self.memory_used, plan.bytes + slab * tile)
                for first in range(0, plan.tiles, slab):
                    part = table[first * rows : (first + slab) * rows]
                    self.reserve(compute.DIRECTIONS, part.nbytes)
                    box = Box(first, min(first + slab, plan.tiles))
                    self._fill(plan, box, TABLE=1, progress=progress)
                    self.download_into(compute.DIRECTIONS, part)
            yield table[(slice(letters.before, None),) * 3]

    # alignments

    def paths(self, triples: Batch, *, progress: Progress | None = None) -> Paths:
        """Return the best local alignment of each triple, traced back on the device."""
        self.check(triples)
        letters = self.letters_of(triples)
        found = BestCells.zeros(len(triples), 3)
        runs = [np.empty(0, np.uint32)] * len(triples)
        for plan in self._plans(letters, trace=True):
            self._prepare(plan)
            best, traced = self._traced(plan, progress or ignore)
            found.put(plan.chosen, best)
            for t, path in zip(plan.chosen, traced, strict=True):
                runs[t] = path
        return Paths.of(ends_of(found), runs)

    def disjoint(
        self, triples: Batch, *, progress: Progress | None = None
    ) -> Iterator[tuple[int, Paths]]:
        """Yield the alignments of each triple that share no cell, see `Engine3.disjoint`."""
        self.check(triples)
        return self._disjoint(triples, progress or ignore)

    def _disjoint(self, triples: Batch, progress: Progress) -> Iterator[tuple[int, Paths]]:
        letters = self.letters_of(triples)
        for t in np.sort(letters.ordered()).tolist():
            self.device.activate()
            plan = self._plan(letters, np.array([t]), trace=True, masked=True)
            masks = self.device.ctx.buffer(bytes(4 * int(plan.masks.sum())))
            while True:
                self.device.activate()
                self._prepare(plan)
                masks.bind_to_storage_buffer(compute.MASKS.number)
                best, runs = self._traced(plan, progress)
                if not best.score[0]:
                    break
                yield t, Paths.of(ends_of(best), runs)

    def _traced(
        self, plan: Plan, progress: Progress
    ) -> tuple[BestCells, list[npt.NDArray[np.uint32]]]:
        """Compute the tables of a plan and walk back from the best cells."""
        masked = 1 if plan.masked else None
        whole = plan.spacing >= plan.tiles
        self._fill(plan, DIRECTIONS=1 if whole else None, MASKED=masked, progress=progress)
        best = self._best(plan)
        walks = np.zeros(len(plan.chosen), _WALK)
        walks["at"] = best.cell + plan.letters.before
        walks["over"] = best.score == 0
        self.reserve(compute.PATHS, 4 * int(plan.paths.sum()))
        while not walks["over"].all():
            first = 0
            if not whole:
                box = plan.box_above(walks[0]["at"])
                first = box.first
                self._fill(plan, box, DIRECTIONS=1, MASKED=masked, AGAIN=1, progress=ignore)
            walks = self._walk(plan, walks, first)
        words = self.download(compute.PATHS, np.uint32, int(plan.paths.sum()))
        starts, counts = plan.records["path"].tolist(), walks["runs"].tolist()
        runs = [words[a : a + count] for a, count in zip(starts, counts, strict=True)]
        return best, runs

    def _walk(
        self, plan: Plan, walks: npt.NDArray[np.void], first_tile: int
    ) -> npt.NDArray[np.void]:
        """Let the walks go on where there are directions."""
        self.upload(compute.WALKS, walks)
        self.reserve(compute.PATHS, 4 * int(plan.paths.sum()))
        program = self.program(
            "traceback3.comp",
            DIRECTIONS=1,
            MASKED=int(plan.masked),
            SCORES=None,
            **plan.form.shape.defines,
        )
        program["triple_count"] = len(walks)
        program["first_sub_table"] = first_tile * plan.form.depth
        program.run(-(-len(walks) // _WALKERS))
        self.device.ctx.memory_barrier()
        self.device.check("tracing back")
        return self.download(compute.WALKS, _WALK, len(walks)).copy()

    # what is computed together

    @property
    def _room(self) -> int:
        """Bytes that a chunk may keep, all in one buffer if need be."""
        return min(self._memory, self._block)

    @property
    def _block(self) -> int:
        """Bytes that a buffer may have."""
        return self.device.info.limits["max_storage_block"]

    def _plans(self, letters: Letters, *, trace: bool = False) -> Iterator[Plan]:
        """Cut the triples into chunks that fit the memory, the largest tables first."""
        order = letters.ordered()
        if not len(order):
            return
        if len(order) == 1:
            yield self._plan(letters, order, trace=trace)
            return
        form = self._forms.of(letters.lengths[order], trace)
        everything = Plan(letters, order, form, trace)
        each = np.zeros(len(letters.index), np.int64)
        each[order] = everything.each
        alone = each > self._room
        if trace and self._spacing:
            alone[:] = True
        large = order[alone[order]]
        for t in large:
            yield self._plan(letters, np.array([t]), trace=trace)
        for chosen in chunks(order[~alone[order]], each, self._room):
            yield self._plan(letters, chosen, form, trace=trace)

    def _plan(
        self,
        letters: Letters,
        chosen: npt.NDArray[np.intp],
        form: Form | None = None,
        *,
        trace: bool = False,
        masked: bool = False,
    ) -> Plan:
        """Choose form and spacing; a plan of one triple may need parts."""
        form = form or self._forms.of(letters.lengths[chosen], trace)
        plan = Plan(letters, chosen, form, trace, masked)
        if self._spacing and trace:
            plan = plan.spaced(self._spacing)
        elif len(chosen) == 1 and not self._fits(plan):
            tries = [plan.spaced(spacing) for spacing in range(plan.tiles - 1, 0, -1) if trace]
            found = next(filter(self._fits, tries), None)
            if found is None:
                lengths = ", ".join(map(str, (plan.lengths[0] - letters.before).tolist()))
                least = min([plan, *tries], key=lambda each: each.bytes)
                raise DeviceMemoryError(
                    f"sequences of {lengths} letters need {least.bytes} bytes of device memory, "
                    f"{least.largest} of them in one buffer; {self._memory} may be used, and a "
                    f"buffer may have {self._block}"
                )
            plan = found
        self.memory_used = max(self.memory_used, plan.bytes)
        return plan

    def _fits(self, plan: Plan) -> bool:
        return plan.bytes <= self._memory and plan.largest <= self._block

    def _prepare(self, plan: Plan) -> None:
        """Upload letters and triples, and make room for what the plan keeps."""
        self.upload_letters(plan.letters)
        self.upload(compute.TRIPLES, plan.records)
        self.reserve(compute.SIDES, plan.form.side_bytes * int(plan.sides.sum()))
        self.reserve(compute.BEST, 16 * int(plan.patches.prod(axis=1).sum()))
        self.reserve(compute.KEPT, plan.form.side_bytes * int(plan.kept.sum()))
        self.reserve(compute.DIRECTIONS, 4 * int(plan.directions.sum()))

    def _fill(
        self,
        plan: Plan,
        box: Box | None = None,
        *,
        progress: Progress,
        AGAIN: int = 0,  # noqa: N803
        **defines: int | None,
    ) -> None:
        """Compute the tiles of a box, or all of them."""
        program = self.program("subtable.comp", AGAIN=AGAIN, **plan.form.defines, **defines)
        box = box or plan.everything
        patches, deep = plan.most_patches(box), box.stop - box.first
        self.set(
            program,
            {
                "first_tile": box.first,
                "last_tile": box.stop - 1,
                "spacing": plan.spacing,
            },
        )
        for binding in (compute.SIDES, compute.BEST, compute.DIRECTIONS):
            self.reserve(binding, 0)
        waves = plan.waves(box)
        cells = plan.cells * (box.stop - box.first) // plan.tiles

        def step(wave: int) -> None:
            first = [max(0, wave + 2 - deep - other) for other in patches[::-1]]
            groups = [min(own, wave + 1) - low for own, low in zip(patches, first, strict=True)]
            program["wave"] = wave, *first
            program.run(groups[0], groups[1], len(plan.chosen))
            self.barrier()

        self._throttle.run(waves, step, cells=cells, progress=progress)
        self.device.check("computing sub-tables")

    def _best(self, plan: Plan) -> BestCells:
        """Return the best cell of each triple of a plan, see `Engine3.best`."""
        counts = plan.patches.prod(axis=1)
        cells = self.download(compute.BEST, (np.int32, 4), int(counts.sum()))
        return plan.letters.best(plan.chosen, cells, counts)


class _Forms:
    """The form of tiles for triples: what was asked for, else what suits device and scoring."""

    def __init__(
        self,
        scoring: Scoring3,
        device: Device,
        shape: Shape | None,
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

    def of(self, lengths: npt.NDArray[np.int64], trace: bool) -> Form:
        """Return the form for triples of these lengths, shape (N, 3)."""
        first = int(lengths[:, 0].max())
        bound = int(self._scoring.bounds(lengths).max()) + self._scoring.costs.opens
        if self._packed and bound >= 2**16:
            raise ValueError(f"packed sides need scores below 65536, {bound} is possible")
        packed = bound < 2**16 and self._packed is not False
        if self._depth:
            return self._form(trace, packed, self._depth)
        short, long = (16, 128) if self._software else (8, 32)
        form = self._form(trace, packed, 1)
        rows = min(long if first > 2 * short else short, self._most_rows(form))
        return form._replace(depth=max(1, rows // form.shape.deep))

    def _form(self, trace: bool, packed: bool, depth: int) -> Form:
        """Return a form; ValueError if it does not fit the shared memory."""
        form = Form(self._shape_for(trace, packed), self._scoring.linear, packed, depth)
        deepest = self._most_rows(form) // form.shape.deep
        if depth > deepest:
            raise ValueError(
                f"depth {depth}: at most {max(0, deepest)} fit the shared memory of {self._name} "
                f"with {form.shape}"
            )
        return form

    def _most_rows(self, form: Form) -> int:
        return form.most_rows(self._scoring, self._shared)

    def _shape_for(self, trace: bool, packed: bool) -> Shape:
        """Return the shape that was asked for, or what was fastest of those measured."""
        if self._shape:
            return self._shape
        linear = self._scoring.linear
        deep = 2 if trace and linear else 1  # of which directions fill words
        if self._software:
            return Shape(4 if linear else 2, 8, 8, deep)
        return Shape(4, 16 if linear or packed else 8, 8, deep)
