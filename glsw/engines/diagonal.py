"""Engine ``diagonal``: a work group a pair, anti-diagonals in shared memory (Aymone 2022)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device import Device
from glsw.engines import compute
from glsw.engines.base import Progress, Ties, ends_of
from glsw.engines.compute import ROWS, ComputeEngine
from glsw.result import Paths
from glsw.scoring import Scoring

_EVERYTHING = 2**30
"""A spacing without checkpoints: the directions of all strips are kept."""
_WORKGROUPS = 16, 32, 64
_SOFTWARE_WORKGROUP = 8
_MOST_PAIRS = 65535
_HARDWARE_PAIRS, _SOFTWARE_PAIRS = 4096, 32  # in a dispatch
_TRACERS = 32  # invocations in a work group of traceback.comp


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
    spacing : int, optional
        Strips between two kept rows, for alignments; by default as many as the memory allows.

    Attributes
    ----------
    memory_used : int
        Bytes that the largest chunk kept so far.
    """

    name = "diagonal"

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        workgroup: int | None = None,
        memory: int = 2**30,
        spacing: int | None = None,
    ) -> None:
        super().__init__(scoring, device, workgroup=workgroup)
        self._memory = memory
        self._spacing = spacing
        self.memory_used = 0

    def best(
        self, batch: Batch, ends: bool, progress: Progress, *, ties: Ties = "conventional"
    ) -> npt.NDArray[np.int32]:
        """Return the best cell of each pair, see `Engine.best`."""
        found = np.zeros((len(batch), 4), dtype=np.int32)
        for plan in self._plans(batch, trace=False):
            self._prepare(plan)
            self._fill(plan, ends, ties, directions=False, progress=progress)
            found[plan.chosen] = self.download(compute.BEST, (np.int32, 4), len(plan.chosen))
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
        self.check(batch)
        cells = np.zeros((len(batch), 4), dtype=np.int32)
        runs: list[npt.NDArray[np.uint32]] = [np.empty(0, np.uint32)] * len(batch)
        for plan in self._plans(batch, trace=True):
            self._prepare(plan)
            at_once = plan.spacing >= plan.strips
            self._fill(plan, True, ties, directions=at_once, progress=progress)
            self._trace(plan, at_once)
            cells[plan.chosen] = self.download(compute.BEST, (np.int32, 4), len(plan.chosen))
            for p, path in zip(plan.chosen, self._paths(plan), strict=True):
                runs[p] = path
        return Paths.of(ends_of(cells), runs)

    def _plans(self, batch: Batch, *, trace: bool) -> Iterator[_Plan]:
        """Cut the pairs into chunks that fit the memory, the largest pairs of a kind first."""
        m, n = batch.query_lengths, batch.target_lengths
        todo = np.flatnonzero((m > 0) & (n > 0))
        workgroup = self._workgroups(m)
        spacing = np.full(len(batch), _EVERYTHING)
        if trace:
            for p in todo:
                spacing[p] = self._spacing or self._affordable(
                    _Plan(batch, np.array([p]), int(workgroup[p]), _EVERYTHING, trace)
                )
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

    def _fits(self, plan: _Plan) -> bool:
        return (
            len(plan.chosen) <= _MOST_PAIRS
            and plan.bytes <= self._memory
            and max(plan.tops.sum(), plan.directions.sum(), plan.paths.sum())
            <= self.device.info.limits["max_storage_block"]
        )

    def _affordable(self, plan: _Plan) -> int:
        """Return the largest spacing with which a plan of one pair fits, or the smallest one."""
        if self._fits(plan):
            return _EVERYTHING
        low, high = 1, plan.strips
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high) if self._fits(replace(plan, spacing=middle)) else (low, middle - 1)
            )
        return low

    def _prepare(self, plan: _Plan) -> None:
        """Upload the sequences and the pairs, and make room for what the plan keeps."""
        self.upload_sequences(plan.batch)
        self.upload(compute.PAIRS, plan.pairs())
        self.reserve(compute.TOPS, int(plan.tops.sum()))
        self.zero(compute.BEST, 16 * len(plan.chosen))
        self.reserve(compute.WALKS, 16 * len(plan.chosen))
        if plan.trace:
            self.reserve(compute.DIRECTIONS, int(plan.directions.sum()))
            self.reserve(compute.PATHS, int(plan.paths.sum()))

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
        """Compute all strips of the tables, or with ``again`` those of the block of each walk."""
        program = self.program(
            "diagonal.comp",
            WORKGROUP=plan.workgroup,
            ENDS=1 if ends else None,
            TIES_ANY=1 if ends and ties == "any" else None,
            DIRECTIONS=1 if directions else None,
        )
        program["spacing"], program["again"] = plan.spacing, int(again)
        block = _SOFTWARE_PAIRS if self.device.info.software else _HARDWARE_PAIRS
        strips = min(plan.strips, plan.spacing) if again else plan.strips
        blocks = -(-len(plan.chosen) // block)
        cells = plan.batch.select(plan.chosen).cells
        reported = 0
        for part in self._pace.slices(blocks * strips):
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

    def _trace(self, plan: _Plan, at_once: bool) -> None:
        """Walk back from the best cells; without all directions block by block."""
        program = self.program("traceback.comp", WORKGROUP=plan.workgroup, ENDS=1, DIRECTIONS=1)
        program["pair_count"], program["spacing"] = len(plan.chosen), plan.spacing
        for block in range(-(-plan.strips // plan.spacing) + 1):
            if block and not at_once:
                self._fill(plan, True, "conventional", directions=True, again=True)
            program["restart"] = int(block == 0)
            program.run(-(-len(plan.chosen) // _TRACERS))
            self.device.ctx.memory_barrier()
        self.device.check("tracing back")

    def _paths(self, plan: _Plan) -> Iterator[npt.NDArray[np.uint32]]:
        """Download the runs of each path."""
        counts = self.download(compute.WALKS, (np.uint32, 4), len(plan.chosen))[:, 3]
        words = self.download(compute.PATHS, np.uint32, int(plan.paths.sum()) // 4)
        for first, count in zip(plan.pairs()["path"], counts, strict=True):
            yield words[first : first + count]


@dataclass(frozen=True)
class _Plan:
    """Pairs that are computed together, and what they keep on the device; sizes in bytes."""

    batch: Batch
    chosen: npt.NDArray[np.intp]
    workgroup: int
    spacing: int
    trace: bool

    @property
    def m(self) -> npt.NDArray[np.int64]:
        return self.batch.query_lengths[self.chosen]

    @property
    def n(self) -> npt.NDArray[np.int64]:
        return self.batch.target_lengths[self.chosen]

    @property
    def strips(self) -> int:
        """Strips of the longest query."""
        return int(self._strips.max())

    @property
    def _strips(self) -> npt.NDArray[np.int64]:
        return -(-self.m // (self.workgroup * ROWS))

    @property
    def tops(self) -> npt.NDArray[np.int64]:
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
    def bytes(self) -> int:
        """Everything but the sequences."""
        each = self.tops + self.directions + self.paths
        return int(each.sum()) + len(self.chosen) * (compute.PAIR.itemsize + 16 + 16)

    def pairs(self) -> npt.NDArray[np.void]:
        """Return what pairs.glsl reads, shape (N,): lengths and where the parts begin."""
        pairs = np.zeros(len(self.chosen), compute.PAIR)
        pairs["query_length"], pairs["target_length"] = self.m, self.n
        pairs["query"] = self.batch.queries.offsets[self.batch.query_index[self.chosen]]
        pairs["target"] = self.batch.targets.offsets[self.batch.target_index[self.chosen]]
        for name, sizes, unit in (
            ("tops", self.tops, 8),
            ("directions", self.directions, 4),
            ("path", self.paths, 4),
        ):
            pairs[name] = (np.cumsum(sizes) - sizes) // unit
        return pairs
