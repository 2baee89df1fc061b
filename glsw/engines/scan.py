"""Engine ``scan``: a row at a time, gaps along the row by a prefix maximum (Lin et al. 2015)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from glsw.alignment.paths import Paths
from glsw.device.device import Device
from glsw.engines import gl
from glsw.engines.base import Best, Pairs, Progress
from glsw.engines.gl import MAX_ROUNDS, Binding
from glsw.engines.many_groups import CANDIDATES, Chunk, ManyGroupsEngine, Sizes
from glsw.scoring.scoring import Scoring
from glsw.trust.provable import USUAL, Variant

Form = Literal["fused", "blocks", "single-stage"]
FORMS: tuple[Form, ...] = ("fused", "blocks", "single-stage")
_CARRIES = Binding("CARRIES", 6)
_BLOCK = 256
"""Columns of a block in the paper."""
_LARGEST = 2**31 - 1
# Of the fused form: as many columns as stay in registers, and so many rows that a dispatch costs
# little, but blocks need not wait long for their left neighbours.
_FEWEST_COLUMNS, _HARDWARE_COLUMNS, _SOFTWARE_COLUMNS = 4, 16, 32
_HARDWARE_ROWS, _SOFTWARE_ROWS, _ROWS_ALONE = 64, 256, 512


class Scan(ManyGroupsEngine):
    """Compute a row of the table for all columns at once.

    F, and H without E, depend only on the row above; E, the gap along the row, is then a prefix
    maximum of the row. The forms differ in how they scan:

    ``"blocks"``
        UP and DOWN sweeps over blocks in shared memory, adjustment between blocks, fine
        adjustment: two dispatches a row (Lin, Zhong and Lin 2015).
    ``"single-stage"``
        log2(n) steps over global memory, a dispatch each ("Optimizing Parallel Scan Smith
        Waterman Algorithm On GPU", 2014).
    ``"fused"``
        Rows in registers, scans by subgroups or in shared memory, many rows of a block per
        dispatch. Each block of columns is that many rows behind its left neighbour.

    Memory is linear in the lengths: 36 bytes per pair and column in the first two forms, about 8
    per column and 8 per row in the last.

    Alignments always use the fused form: directions are stored, and the traceback runs on the
    device, so only the alignment is read back. If they exceed the memory, the row above each strip
    is stored, and directions are recomputed, some strips at a time, from the end.

    Parameters
    ----------
    form : str
    workgroup : int, optional
        Invocations of a work group, a power of two: 256 columns are a block in the paper. In the
        fused form, a subgroup by default.
    columns : int, optional
        Maximum columns per invocation, in the fused form.
    rows : int, optional
        Rows per dispatch, in the fused form.
    subgroups : bool
        Whether the fused form may scan by shuffles, if a program proves their order.
    memory : int
        Bytes of device memory for a chunk of pairs, sequences not counted; a single pair takes
        what it needs.
    """

    name = "scan"
    variants = (
        USUAL,
        Variant("no subgroups", {"subgroups": False}, lambda info: info.subgroup_size > 0),
        Variant("small work groups", {"subgroups": False, "workgroup": 8}),
    )
    capabilities = replace(
        ManyGroupsEngine.capabilities,
        positional_gaps=True,
        tasks=("score", "ends", "alignment"),
        workloads=("long pairs",),
    )
    order_binding = CANDIDATES
    bindings = (*ManyGroupsEngine.bindings, _CARRIES)

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        form: Form = "fused",
        workgroup: int | None = None,
        columns: int | None = None,
        rows: int | None = None,
        subgroups: bool = True,
        memory: int = 2**30,
    ) -> None:
        super().__init__(scoring, device, workgroup=workgroup, memory=memory)
        if form not in FORMS:
            raise ValueError(f"form {form!r}: {', '.join(map(repr, FORMS))} expected")
        for what, value in (("columns", columns), ("rows", rows)):
            if value is not None and value < 1:
                raise ValueError(f"{what} {value}: 1 or more expected")
        info = self.device.info
        self._form = form
        gaps = scoring.gaps
        opening, extension = gaps.most if gaps else scoring.deletion
        self._uniforms["farthest"] = _LARGEST // max(1, extension)
        self._block = workgroup or min(_BLOCK, info.limits["max_work_group_invocations"])
        self._group = workgroup or info.subgroup_size or (8 if info.software else 32)
        # from_left.glsl: a gap across a whole block must stay inside int32.
        farthest = (_LARGEST - opening) // max(1, extension)
        columns = columns or (_SOFTWARE_COLUMNS if info.software else _HARDWARE_COLUMNS)
        self._columns = max(1, min(columns, farthest // self._group))
        self._rows = rows
        self._subgroups = 1 if subgroups and self._group == info.subgroup_size else None
        self._traces = False  # whether alignments are computed

    def sizes(self, rows: int, columns: int) -> Sizes:
        """Return bytes for rows, candidates (one per column or block), cells of a step."""
        if self._form != "fused" and not self._traces:
            return Sizes(5 * 4 * columns, columns, columns)
        shape = self._shape(rows, columns)
        kept = shape.row * (shape.strips(rows) if shape.again(rows) else 1)
        directions = self._traces * _bytes_of_directions(shape.rows * shape.spacing, columns)
        cells = min(rows, shape.rows) * columns
        return Sizes(8 * (kept + rows), shape.blocks, cells, directions)

    def schedule(self, chunk: Chunk) -> tuple[int, Callable[[int], None]]:
        """Return the number of steps, and what dispatches one; see the forms."""
        if self._traces:
            return self._strips(chunk)
        forms = {"blocks": self._rows_in_blocks, "single-stage": self._rows_in_steps}
        return forms.get(self._form, self._strips)(chunk)

    def best(self, asked: Pairs, progress: Progress) -> Best:
        """Return the best cell or the path of each pair, see `Engine.best`."""
        if asked.task != "alignment":
            return super().best(asked, progress)
        batch = asked.batch
        parts = []
        self._traces = True
        try:
            for chosen in self._chunks(batch):
                chunk = Chunk(batch.select(chosen), {"ENDS": 1})
                parts.append((chosen, self._paths_of(chunk, progress)))
        finally:
            self._traces = False
        return Paths.merged((len(batch), 2), parts)

    def _paths_of(self, chunk: Chunk, progress: Progress | None) -> Paths:
        """Compute, trace back and read a chunk."""
        shape = self._shape(chunk.rows, chunk.columns)
        strips, again = shape.strips(chunk.rows), shape.again(chunk.rows)
        blocks = -(-strips // shape.spacing)
        loops = 1 + int((chunk.m + chunk.n).max()) // MAX_ROUNDS
        records = gl.pair_records(chunk.batch)
        directions = self.sizes(chunk.rows, chunk.columns).directions
        records["directions"] = np.arange(len(records)) * (directions // 4)
        runs = 2 * np.minimum(chunk.m, chunk.n) + 1 + blocks * loops
        records["path"] = np.cumsum(runs) - runs
        self._prepare(chunk)
        self.upload(gl.PAIRS, records)
        self.reserve(gl.DIRECTIONS, len(records) * directions)
        self.reserve(gl.TRACES, 16 * len(records))
        total, step = self._strips(chunk, DIRECTIONS=None if again else 1)
        self._throttle.run(total, step, cells=chunk.batch.cells, progress=progress)
        cells = self._collect(chunk)
        self.reserve(gl.PATHS, 4 * int(runs.sum()))
        self.trace_back(
            len(records),
            blocks,
            shape.spacing,
            loops,
            self._directions_again(chunk) if again else None,
            WORKGROUP=shape.rows // gl.ROWS,
            ROW_MAJOR=1,
        )
        return self.download_paths(chunk.batch, cells, records["path"], int(runs.sum()))

    def _directions_again(self, chunk: Chunk) -> Callable[[], None]:
        """Return what computes the directions of the strips that traces wait for."""
        return lambda: self._throttle.run(*self._strips(chunk, DIRECTIONS=1, AGAIN=1))

    def _shape(self, rows: int, columns: int) -> _Shape:
        """Return how the fused form cuts tables of so many rows and columns."""
        each = min(self._columns, max(_FEWEST_COLUMNS, _power(-(-columns // self._group))))
        blocks = -(-columns // (self._group * each))
        several = _SOFTWARE_ROWS if self.device.info.software else _HARDWARE_ROWS
        shape = _Shape(each, blocks, self._rows or (several if blocks > 1 else _ROWS_ALONE))
        shape = shape._replace(row=blocks * self._group * (each + 1))
        if not self._traces:
            return shape
        shape = shape._replace(rows=-(-shape.rows // gl.ROWS) * gl.ROWS)
        if _bytes_of_directions(shape.rows * shape.strips(rows), columns) <= self._room // 2:
            return shape._replace(spacing=shape.strips(rows))
        most = min(rows, MAX_ROUNDS) if self.device.info.software else rows
        while 8 * shape.row * shape.strips(rows) > self._room // 4 and 2 * shape.rows < most:
            shape = shape._replace(rows=2 * shape.rows)
        spacing = self._room // 4 // _bytes_of_directions(shape.rows, columns)
        return shape._replace(spacing=max(1, spacing))

    def _rows_in_blocks(self, chunk: Chunk) -> tuple[int, Callable[[int], None]]:
        block = self._block
        blocks = -(-chunk.columns // block)
        self.reserve(_CARRIES, 8 * len(chunk.batch) * blocks)
        sweep = self.program("scan_blocks.comp", WORKGROUP=block, **chunk.defines)
        carry = self.program("scan_carries.comp", WORKGROUP=min(block, _power(blocks)), BLOCK=block)
        sweep["stride"] = chunk.columns
        sweep["blocks"] = carry["blocks"] = blocks

        def step(row: int) -> None:
            pairs = _longer(chunk, row)
            sweep["row"] = row
            self.set(carry, {"row": row})
            self.dispatch(sweep, blocks, pairs)
            self.dispatch(carry, 1, pairs)

        return chunk.rows, step

    def _rows_in_steps(self, chunk: Chunk) -> tuple[int, Callable[[int], None]]:
        groups = -(-chunk.columns // self._block)
        begin = self.program("scan_single.comp", WORKGROUP=self._block, **chunk.defines)
        double = self.program("scan_step.comp", WORKGROUP=self._block)
        begin["stride"] = double["stride"] = chunk.columns
        farthest = chunk.columns - 1
        if self.scoring.gap_extend:  # a longer gap costs more than any score
            bound = self.scoring.bound(chunk.rows, chunk.columns)
            farthest = min(farthest, bound // self.scoring.gap_extend)
        reaches = [2**k for k in range(farthest.bit_length())]

        def step(row: int) -> None:
            pairs = _longer(chunk, row)
            turn = row * (len(reaches) + 1)
            begin["row"], begin["turn"] = row, turn
            self.set(double, {"row": row})
            self.dispatch(begin, groups, pairs)
            for reach in reaches:
                turn += 1
                double["turn"], double["reach"] = turn, reach
                self.dispatch(double, groups, pairs)

        return chunk.rows, step

    def _strips(self, chunk: Chunk, **traced: int | None) -> tuple[int, Callable[[int], None]]:
        """Return the steps of the fused form; with ``AGAIN`` of the strips that traces wait for."""
        shape = self._shape(chunk.rows, chunk.columns)
        again = traced.get("AGAIN", 0)
        program = self.program(
            "scan.comp",
            WORKGROUP=self._group,
            COLUMNS=shape.columns,
            NEAR=min(4, self._group - 1),
            SUBGROUPS=self._subgroups,
            **{"AGAIN": 0, **chunk.defines, **traced},
        )
        stride = self.sizes(chunk.rows, chunk.columns).bytes // 8
        strips = shape.strips(chunk.rows)
        strips = min(strips, shape.spacing) if again else strips
        kept_row = shape.row if self._traces and shape.again(chunk.rows) else 0
        program["rows"], program["kept_row"] = shape.rows, kept_row
        program["stride"], program["column_left"] = stride, stride - chunk.rows
        if again:
            program["spacing"] = shape.spacing
        else:
            program["blocks"] = shape.blocks

        def step(k: int) -> None:
            first = max(0, k - strips + 1)
            program["next_strip"], program["first_block"] = k, first
            row = 0 if again else (k - shape.blocks + 1) * shape.rows
            self.dispatch(program, min(k + 1, shape.blocks) - first, _longer(chunk, row))

        return strips + shape.blocks - 1, step


class _Shape(NamedTuple):
    """How the fused form cuts tables.

    Columns of an invocation, blocks, rows of a strip, which is a dispatch; strips whose directions
    are kept at a time, and words of 8 bytes of the row above a strip.
    """

    columns: int
    blocks: int
    rows: int
    spacing: int = 0
    row: int = 0

    def strips(self, rows: int) -> int:
        """Return the strips of so many rows."""
        return -(-rows // self.rows)

    def again(self, rows: int) -> bool:
        """Whether directions are computed after the table, and rows are kept for them."""
        return 0 < self.spacing < self.strips(rows)


def _bytes_of_directions(rows: int, columns: int) -> int:
    """Return the bytes of the directions of so many rows, a multiple of 8."""
    return 4 * (rows // gl.ROWS) * columns


def _power(count: int) -> int:
    """Return the smallest power of two that is not below ``count``."""
    return 1 << (count - 1).bit_length()


def _longer(chunk: Chunk, row: int) -> int:
    """Return how many pairs have this row; the longest queries are the first."""
    return int(np.searchsorted(-chunk.m, -row))
