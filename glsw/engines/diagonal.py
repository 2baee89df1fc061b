"""Engine ``diagonal``: a work group a pair, anti-diagonals in shared memory (Aymone 2022)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines import gl
from glsw.engines.base import Progress, Ties, check_ties
from glsw.engines.gl import ROWS, ComputeEngine
from glsw.paths import Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import ranges

_EVERYTHING = 2**30
"""A spacing without checkpoints: the directions of all strips are kept."""
_WORKGROUPS = 16, 32, 64
_SOFTWARE_WORKGROUP = 8
_MOST_PAIRS = 65535
_HARDWARE_PAIRS, _SOFTWARE_PAIRS = 4096, 32  # in a dispatch
_TRACERS = 32  # invocations in a work group of traceback.comp
_MASKS = gl.PATHS
"""Storage buffer of diagonal.comp; traceback.comp, which needs no masks, has the paths there."""
_NO_COLUMN = 2**31 - 1


class Diagonal(ComputeEngine):
    """Give each pair a work group, whose invocations move along its anti-diagonals together.

    An invocation has 8 rows of the table; three anti-diagonals roll through registers and shared
    memory. Rows beyond the work group follow strip by strip, any number of them. For alignments
    the directions are kept, or, where they exceed the memory, every so many strips a row of the
    table, from which the directions below it are computed again on the way back.

    Parameters
    ----------
    workgroup : int, optional
        Invocations of a work group: a power of two. By default as few as the queries of a chunk
        need, up to 64, or 8 on a software renderer.
    memory : int
        Bytes of device memory for what a chunk of pairs keeps: border rows, directions, paths.
    traceback : {"directions", "checkpoints"}, optional
        Keep the directions of all cells, or rows of the table; by default directions as long as
        they fit the memory.
    spacing : int, optional
        Strips between two kept rows; by default as many as the memory allows.

    Attributes
    ----------
    memory_used : int
        Bytes that the largest chunk kept so far.
    """

    name = "diagonal"
    masks = True
    global_modes = True
    separate_gaps = True

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        workgroup: int | None = None,
        memory: int = 2**30,
        traceback: Literal["directions", "checkpoints"] | None = None,
        spacing: int | None = None,
    ) -> None:
        super().__init__(scoring, device, workgroup=workgroup)
        self._memory = memory
        if traceback not in (None, "directions", "checkpoints"):
            raise ValueError(f"traceback {traceback!r}: 'directions' or 'checkpoints' expected")
        if spacing is not None and spacing < 1:
            raise ValueError(f"spacing {spacing}: at least 1 strip expected")
        self._spacing = _EVERYTHING if traceback == "directions" else spacing
        self._checkpoints = traceback == "checkpoints"
        self._masks: moderngl.Buffer | None = None
        self.memory_used = 0

    def best(
        self, batch: Batch, ends: bool, progress: Progress, *, ties: Ties = "conventional"
    ) -> npt.NDArray[np.int32]:
        """Return the best cell of each pair, see `Engine.best`."""
        found = np.zeros((len(batch), 4), dtype=np.int32)
        for plan in self._plans(batch, trace=False):
            self._prepare(plan)
            self._fill(plan, ends, ties, directions=False, progress=progress)
            found[plan.chosen] = self.download(gl.BEST, (np.int32, 4), len(plan.chosen))
        return found[:, :3]

    def paths(
        self,
        batch: Batch,
        *,
        ties: Ties = "conventional",
        progress: Progress | None = None,
    ) -> Paths:
        """Return the best local alignment of each pair, traced back on the device.

        Parameters and errors as in `Engine.ends`.
        """
        check_ties(ties)
        self.check(batch)
        cells = np.zeros((len(batch), 4), dtype=np.int32)
        counts = np.zeros(len(batch), dtype=np.int64)
        parts = []
        for plan in self._plans(batch, trace=True):
            self._prepare(plan)
            at_once = plan.spacing >= plan.strips
            self._fill(plan, True, ties, directions=at_once, progress=progress)
            self._trace(plan, at_once, ties)
            cells[plan.chosen] = self.download(gl.BEST, (np.int32, 4), len(plan.chosen))
            counts[plan.chosen], runs = self._download_paths(plan)
            parts.append((plan.chosen, runs))
        ends = self.ends_of(batch, cells)
        # Only from end to end can there be a path of gaps alone, which the device does not know.
        some = np.minimum(ends.query_end, ends.target_end) > 0
        paths = Paths.empty(ends, counts * some)
        for chosen, runs in parts:
            kept = runs[np.repeat(some[chosen], counts[chosen])]
            paths.runs[ranges(paths.offsets[chosen], (counts * some)[chosen])] = kept
        return paths

    def _plans(self, batch: Batch, *, trace: bool) -> Iterator[_Plan]:
        """Cut the pairs into chunks that fit the memory, the largest pairs of a kind first."""
        m, n = batch.query_lengths, batch.target_lengths
        todo = np.flatnonzero((m > 0) & (n > 0))
        workgroup = self._workgroups(m)
        spacing = np.full(len(batch), (self._spacing if trace else None) or _EVERYTHING)
        if trace and not self._spacing:
            for size in np.unique(workgroup):
                plan = _Plan(batch, todo[workgroup[todo] == size], int(size), _EVERYTHING, trace)
                for p in plan.chosen[(plan.each > self._room) | self._checkpoints]:
                    spacing[p] = self._affordable(replace(plan, chosen=np.array([p])))
        order = todo[np.lexsort((-(m * n)[todo], spacing[todo], workgroup[todo]))]
        kinds = np.stack([workgroup, spacing])[:, order]
        for part in np.split(order, np.flatnonzero(np.diff(kinds).any(axis=0)) + 1):
            while len(part):
                plan = _Plan(batch, part, int(workgroup[part[0]]), int(spacing[part[0]]), trace)
                while len(plan.chosen) > 1 and not self._fits(plan):
                    plan = replace(plan, chosen=plan.chosen[: len(plan.chosen) // 2])
                self.memory_used = max(self.memory_used, plan.bytes)
                yield plan
                part = part[len(plan.chosen) :]

    def _workgroups(self, m: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the size of the work group for queries of these lengths."""
        if self._workgroup:
            return np.full(len(m), self._workgroup)
        if self.device.info.software:
            return np.full(len(m), _SOFTWARE_WORKGROUP)
        sizes = np.array(_WORKGROUPS)
        return sizes[np.minimum(np.searchsorted(sizes * ROWS, m), len(sizes) - 1)]

    @property
    def _room(self) -> int:
        """Bytes that a chunk may keep, all in one buffer if need be."""
        return min(self._memory, self.device.info.limits["max_storage_block"])

    def _fits(self, plan: _Plan) -> bool:
        return len(plan.chosen) <= _MOST_PAIRS and plan.bytes <= self._room

    def _affordable(self, plan: _Plan) -> int:
        """Return the largest spacing with which a plan of one pair fits, or the smallest one."""
        low, high = 1, max(1, plan.strips - 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high) if self._fits(replace(plan, spacing=middle)) else (low, middle - 1)
            )
        return low

    def _prepare(self, plan: _Plan) -> None:
        """Upload the sequences and the pairs, and make room for what the plan keeps."""
        self.upload_sequences(plan.batch)
        self.upload(gl.PAIRS, plan.pairs)
        self.reserve(gl.ROW_ABOVE, int(plan.row_above.sum()))
        self.zero(gl.BEST, 16 * len(plan.chosen))
        self.reserve(gl.TRACES, 16 * len(plan.chosen))
        if plan.trace:
            self.reserve(gl.DIRECTIONS, int(plan.directions.sum()))
            self.reserve(gl.PATHS, int(plan.paths.sum()))
        if self._masks:
            self._masks.release()
            self._masks = None
        if plan.masks.any():
            self._masks = self.device.ctx.buffer(plan.mask_words().tobytes())
            self.device.check("uploading masks")

    def _fill(
        self,
        plan: _Plan,
        ends: bool,
        ties: Ties,
        *,
        directions: bool,
        again: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Compute all strips of the tables, or with ``again`` those of the block of each trace."""
        program = self.program(
            "diagonal.comp",
            WORKGROUP=plan.workgroup,
            ENDS=1 if ends else None,
            TIES_ANY=1 if ends and ties == "any" else None,
            DIRECTIONS=1 if directions else None,
            MASKED=1 if self._masks else None,
            AGAIN=int(again),
        )
        if self._masks:
            self._masks.bind_to_storage_buffer(_MASKS)
        program["spacing"] = plan.spacing
        block = _SOFTWARE_PAIRS if self.device.info.software else _HARDWARE_PAIRS
        strips = min(plan.strips, plan.spacing) if again else plan.strips
        blocks = -(-len(plan.chosen) // block)
        cells = plan.batch.select(plan.chosen).cells
        reported = 0
        for part in self._throttle.slices(blocks * strips):
            for k in part:
                first = k // strips * block
                program["first_pair"], program["next_strip"] = first, k % strips
                program.run(min(block, len(plan.chosen) - first))
                self.device.ctx.memory_barrier()
            done = cells * part.stop // (blocks * strips)
            if progress:
                progress(done - reported)
            reported = done
        self.device.check("computing anti-diagonals")

    def _trace(self, plan: _Plan, at_once: bool, ties: Ties) -> None:
        """Trace back from the best cells; without all directions block by block."""
        for block in range(-(-plan.strips // plan.spacing) + 1):
            if block and not at_once:
                self._fill(plan, True, ties, directions=True, again=True)
            self.reserve(gl.PATHS, 0)
            # RESTART, as AGAIN, is no uniform: zink 22.3 keeps the old value of one that decides a
            # branch by itself.
            program = self.program(
                "traceback.comp",
                WORKGROUP=plan.workgroup,
                ENDS=1,
                DIRECTIONS=1,
                RESTART=int(block == 0),
            )
            program["pair_count"] = len(plan.chosen)
            if block:
                program["spacing"] = plan.spacing
            program.run(-(-len(plan.chosen) // _TRACERS))
            self.device.ctx.memory_barrier()
        self.device.check("tracing back")

    def _download_paths(self, plan: _Plan) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """Return how many runs each path has, shape (N,), and the runs of all in turn."""
        counts = self.download(gl.TRACES, (np.uint32, 4), len(plan.chosen))[:, 3]
        words = self.download(gl.PATHS, np.uint32, int(plan.paths.sum()) // 4)
        return counts.astype(np.int64), words[ranges(plan.pairs["path"], counts)]


@dataclass(frozen=True)
class _Plan:
    """Pairs that are computed together, and what they keep on the device; sizes in bytes."""

    batch: Batch
    chosen: npt.NDArray[np.intp]
    workgroup: int
    spacing: int
    trace: bool

    @cached_property
    def m(self) -> npt.NDArray[np.int64]:
        return self.batch.query_lengths[self.chosen]

    @cached_property
    def n(self) -> npt.NDArray[np.int64]:
        return self.batch.target_lengths[self.chosen]

    @property
    def strips(self) -> int:
        """Strips of the longest query."""
        return int(self._strips.max())

    @cached_property
    def _strips(self) -> npt.NDArray[np.int64]:
        return -(-self.m // (self.workgroup * ROWS))

    @property
    def row_above(self) -> npt.NDArray[np.int64]:
        """Rows above strips: one that rolls, and the checkpoints."""
        return 8 * self.n * (1 + self._strips // self.spacing)

    @property
    def directions(self) -> npt.NDArray[np.int64]:
        strips = np.minimum(self._strips, self.spacing)
        return self.trace * 4 * self.workgroup * strips * (self.n + self.workgroup - 1)

    @property
    def paths(self) -> npt.NDArray[np.int64]:
        blocks = -(-self._strips // self.spacing)
        return self.trace * 4 * (2 * np.minimum(self.m, self.n) + 1 + blocks)

    @property
    def masks(self) -> npt.NDArray[np.int64]:
        masks = self.batch.masks
        if masks is None:
            return 0 * self.m
        forbidden = np.array([len(masks[p].columns) for p in self.chosen], np.int64)
        words: npt.NDArray[np.int64] = 2 * (self.m + 1) + forbidden
        return 4 * words

    @cached_property
    def each(self) -> npt.NDArray[np.int64]:
        """Everything but the sequences, pair by pair."""
        fixed = gl.PAIR.itemsize + 16 + 16
        total: npt.NDArray[np.int64] = (
            self.row_above + self.directions + self.paths + self.masks + fixed
        )
        return total

    @property
    def bytes(self) -> int:
        return int(self.each.sum())

    @cached_property
    def pairs(self) -> npt.NDArray[np.void]:
        """Return what pairs.glsl reads, shape (N,): lengths and where the parts begin."""
        pairs = np.zeros(len(self.chosen), gl.PAIR)
        pairs["query_length"], pairs["target_length"] = self.m, self.n
        pairs["query"] = self.batch.queries.offsets[self.batch.query_index[self.chosen]]
        pairs["target"] = self.batch.targets.offsets[self.batch.target_index[self.chosen]]
        for name, sizes, unit in (
            ("row_above", self.row_above, 8),
            ("directions", self.directions, 4),
            ("path", self.paths, 4),
            ("mask", self.masks, 4),
        ):
            pairs[name] = (np.cumsum(sizes) - sizes) // unit
        return pairs

    def mask_words(self) -> npt.NDArray[np.int32]:
        """Return what mask.glsl reads."""
        masks = self.batch.masks or ()
        words = np.full(int(self.masks.sum()) // 4, _NO_COLUMN, np.int32)
        for p, first in zip(self.chosen, self.pairs["mask"].tolist(), strict=True):
            mask = masks[p]
            rows = np.arange(len(mask) + 1)
            columns = first + len(rows)
            words[first:columns] = columns + mask.offsets + rows
            words[columns + np.arange(len(mask.columns)) + mask.rows] = mask.columns
        return words
