"""Engine ``scan``: a row at a time, gaps along the row by a prefix maximum (Lin et al. 2015)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from glsw.device.device import Device
from glsw.engines.gl import Binding
from glsw.engines.many_groups import Chunk, ManyGroupsEngine, Sizes
from glsw.scoring.scoring import Scoring

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

    F and what H is without E depend on the row above only; E, the gap along the row, is then a
    prefix maximum of the row. The forms differ in how they scan:

    ``"blocks"``
        UP and DOWN sweeps over blocks in shared memory, adjustment between blocks, fine
        adjustment: two dispatches a row (Lin, Zhong and Lin 2015).
    ``"single-stage"``
        log2(n) steps over global memory, a dispatch each ("Optimizing Parallel Scan Smith
        Waterman Algorithm On GPU", 2014).
    ``"fused"``
        Rows in registers, scans of subgroups or in shared memory, many rows of a block in a
        dispatch. A block of columns is so many rows behind its left neighbour.

    Memory is linear in the lengths: per pair, 36 bytes a column in the first two forms, in the
    last about 8 a column and 8 a row.

    Parameters
    ----------
    form : str
    workgroup : int, optional
        Invocations in a work group, a power of two: 256 columns are a block in the paper. In the
        fused form by default a subgroup.
    columns : int, optional
        Columns of an invocation at most, in the fused form.
    rows : int, optional
        Rows of a dispatch, in the fused form.
    memory : int
        Bytes of device memory for a chunk of pairs, sequences not counted; a single pair takes
        what it needs.

    Attributes
    ----------
    memory_used : int
        Bytes that the largest chunk took so far.
    """

    name = "scan"
    capabilities = replace(ManyGroupsEngine.capabilities, workloads=("long pairs",))
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
        self._uniforms["farthest"] = _LARGEST // max(1, scoring.gap_extend)
        if form == "fused":
            self._group = workgroup or info.subgroup_size or (8 if info.software else 32)
            # from_left.glsl: a gap across a whole block must stay inside int32.
            farthest = (_LARGEST - scoring.gap_open) // max(1, scoring.gap_extend)
            columns = columns or (_SOFTWARE_COLUMNS if info.software else _HARDWARE_COLUMNS)
            self._columns = max(1, min(columns, farthest // self._group))
            self._rows = rows
            self._subgroups = 1 if self._group == info.subgroup_size else None
        else:
            self._group = workgroup or min(_BLOCK, info.limits["max_work_group_invocations"])

    def sizes(self, rows: int, columns: int) -> Sizes:
        """Return bytes for rows, candidates (one per column or block), cells of a step."""
        if self._form != "fused":
            return Sizes(5 * 4 * columns, columns, columns)
        shape = self._block_shape(columns)
        above = shape.blocks * self._group * (shape.columns + 1)
        return Sizes(8 * (above + rows), shape.blocks, min(rows, shape.rows) * columns)

    def schedule(self, chunk: Chunk) -> tuple[int, Callable[[int], None]]:
        """Return the number of steps, and what dispatches one; see the forms."""
        if self._form == "blocks":
            return self._rows_in_blocks(chunk)
        if self._form == "single-stage":
            return self._rows_in_steps(chunk)
        return self._strips(chunk)

    def _block_shape(self, columns: int) -> _BlockShape:
        """Return how the fused form cuts tables of so many columns."""
        each = min(self._columns, max(_FEWEST_COLUMNS, _power(-(-columns // self._group))))
        blocks = -(-columns // (self._group * each))
        several = _SOFTWARE_ROWS if self.device.info.software else _HARDWARE_ROWS
        return _BlockShape(each, blocks, self._rows or (several if blocks > 1 else _ROWS_ALONE))

    def _rows_in_blocks(self, chunk: Chunk) -> tuple[int, Callable[[int], None]]:
        blocks = -(-chunk.columns // self._group)
        self.reserve(_CARRIES, 8 * len(chunk.batch) * blocks)
        block = self._group
        sweep = self.program("scan_blocks.comp", WORKGROUP=block, **chunk.defines)
        carry = self.program("scan_carries.comp", WORKGROUP=min(block, _power(blocks)), BLOCK=block)
        sweep["stride"] = chunk.columns
        sweep["blocks"] = carry["blocks"] = blocks

        def step(row: int) -> None:
            pairs = _longer(chunk, row)
            sweep["row"] = row
            self.dispatch(sweep, blocks, pairs)
            self.dispatch(carry, 1, pairs)

        return chunk.rows, step

    def _rows_in_steps(self, chunk: Chunk) -> tuple[int, Callable[[int], None]]:
        groups = -(-chunk.columns // self._group)
        begin = self.program("scan_single.comp", WORKGROUP=self._group, **chunk.defines)
        double = self.program("scan_step.comp", WORKGROUP=self._group)
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
            self.dispatch(begin, groups, pairs)
            for reach in reaches:
                turn += 1
                double["turn"], double["reach"] = turn, reach
                self.dispatch(double, groups, pairs)

        return chunk.rows, step

    def _strips(self, chunk: Chunk) -> tuple[int, Callable[[int], None]]:
        shape = self._block_shape(chunk.columns)
        program = self.program(
            "scan.comp",
            WORKGROUP=self._group,
            COLUMNS=shape.columns,
            NEAR=min(4, self._group - 1),
            SUBGROUPS=self._subgroups,
            **chunk.defines,
        )
        stride = self.sizes(chunk.rows, chunk.columns).bytes // 8
        strips = -(-chunk.rows // shape.rows)
        program["rows"], program["blocks"] = shape.rows, shape.blocks
        program["stride"], program["column_left"] = stride, stride - chunk.rows

        def step(k: int) -> None:
            first = max(0, k - strips + 1)
            program["next_strip"], program["first_block"] = k, first
            pairs = _longer(chunk, (k - shape.blocks + 1) * shape.rows)
            self.dispatch(program, min(k + 1, shape.blocks) - first, pairs)

        return strips + shape.blocks - 1, step


class _BlockShape(NamedTuple):
    """How the fused form cuts tables: columns of an invocation, blocks, rows of a dispatch."""

    columns: int
    blocks: int
    rows: int


def _power(count: int) -> int:
    """Return the smallest power of two that is not below ``count``."""
    return 1 << (count - 1).bit_length()


def _longer(chunk: Chunk, row: int) -> int:
    """Return how many pairs have this row; the longest queries are the first."""
    return int(np.searchsorted(-chunk.m, -row))
