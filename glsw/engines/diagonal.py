"""Engine ``diagonal``: one work group per pair, anti-diagonals in shared memory (Aymone 2022)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import moderngl
import numpy as np

from glsw.alignment.batch import Batch, Masks
from glsw.alignment.paths import BestCells, Paths
from glsw.arrays import Int32, Int64, Intp, Structured
from glsw.device.device import Device
from glsw.engines import gl
from glsw.engines.base import ComingScan, Pairs, ProgramOf, Progress
from glsw.engines.chunks import Layout
from glsw.engines.gl import MAX_ROUNDS, ROWS, STEP, Binding, ComputeEngine
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import distinct, offsets_of
from glsw.trust.provable import USUAL, Variant

_NO_CHECKPOINTS = 2**30  # as a spacing: the directions of all strips are kept
_WORKGROUPS = 16, 32, 64
_SOFTWARE_WORKGROUP = 8
_PAIRS_PER_DISPATCH, _SOFTWARE_PAIRS_PER_DISPATCH = 4096, 32
_MASKS = Binding("MASKS", gl.PATHS.number)  # traceback.comp needs no masks


class Diagonal(ComputeEngine):
    """Compute each pair in a work group, whose invocations move along its anti-diagonals together.

    An invocation computes 8 rows of the table; three anti-diagonals rotate through registers and
    shared memory. Longer queries are computed strip by strip. For alignments the directions are
    stored or, if they exceed the memory, a row of the table every few strips, from which the
    directions below it are recomputed during the traceback.

    Parameters
    ----------
    workgroup : int, optional
        Invocations of a work group: a power of two. By default as few as the queries of a chunk
        need, up to 64, or 8 on a software renderer.
    memory : int
        Bytes of device memory for a chunk of pairs: border rows, directions and paths.
    spacing : int, optional
        Strips between two stored rows; by default all directions are stored if they fit the memory,
        or else as few rows as it allows.
    """

    name = "diagonal"
    variants = (
        USUAL,
        Variant("small work groups", {"workgroup": 8}, lambda info: not info.software),
        Variant("single invocations", {"workgroup": 1}),
    )
    capabilities = replace(ComputeEngine.capabilities, workloads=("search", "pairs", "long pairs"))
    bindings = (*ComputeEngine.bindings, _MASKS)

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
        if spacing is not None and spacing < 1:
            raise ValueError(f"spacing {spacing}: at least 1 strip expected")
        self._spacing = spacing
        self._masks: moderngl.Buffer | None = None

    @property
    def longest(self) -> int:
        """Residues of the longest target: an invocation passes all columns in one loop."""
        return STEP * MAX_ROUNDS if self.device.info.software else 2**31 - 1

    def check_lengths(self, m: int, n: int, masks: Masks | None = None) -> None:
        """Raise ValueError as of `Engine.check_lengths`, and for targets that are too long."""
        super().check_lengths(m, n)
        if n > (most := self._longest_with(masks)):
            what = f"engine 'diagonal' takes at most {most} on {self.device.info.name}"
            raise ValueError(f"target of {n} residues: {what}")

    def fits(self, asked: Pairs) -> bool:
        """Tell whether targets, and the row between strips or directions of one, fit the device."""
        m, n = asked.batch.extent[1].tolist()
        group = int(self._workgroups(np.array([m]))[0])
        size = 4 * group * (n + group - 1) if asked.task == "alignment" else 8 * n
        return bool(size <= self._buffer_limit and n <= self._longest_with(asked.batch.masks))

    def _longest_with(self, masks: Masks | None) -> int:
        """Return `longest` of pairs: masks take a round a step, and one a forbidden pair."""
        if not masks or not self.device.info.software:
            return self.longest
        height = ROWS * int(self._workgroups(np.ones(1, np.int64))[0])
        strips = offsets_of(-(-masks.lengths // height))
        of_pair = np.repeat(strips[:-1], masks.counts)
        in_strip = np.bincount(of_pair + masks.rows // height)
        return self.longest // 2 - int(in_strip.max(initial=0))

    def best(self, asked: Pairs, progress: Progress) -> BestCells | Paths:
        """Return the best cell or the path of each pair, see `Engine.best`."""
        batch = asked.batch
        if asked.task == "alignment":
            return self._paths(batch, progress)
        found = BestCells.zeros(len(batch))
        for chunk in self._chunks(batch, trace=False):
            self._prepare(chunk)
            if self._masks or not gl.leans(self.scoring):
                self._fill(chunk, bool(asked.ends), directions=False, progress=progress)
            else:
                self._lean(chunk, bool(asked.ends), progress)
            found.put(chunk.chosen, self._best_cells(chunk))
        return found

    def _paths(self, batch: Batch, progress: Progress) -> Paths:
        """Return the best alignment of each pair, traced back on the device."""
        parts = []
        if not self.scoring.local:
            empty = np.flatnonzero((batch.lengths == 0).any(axis=1))
            ends = self.ends_of(batch.select(empty), BestCells.zeros(len(empty)))
            parts.append((empty, Paths.empty(ends, np.zeros(len(empty), np.int64))))
        for chunk in self._chunks(batch, trace=True):
            self._prepare(chunk)
            at_once = chunk.spacing >= chunk.strips
            self._fill(chunk, True, directions=at_once, progress=progress)
            again = partial(self._fill, chunk, True, directions=True, again=True)
            self.trace_back(
                len(chunk.chosen),
                -(-chunk.strips // chunk.spacing),
                chunk.spacing,
                chunk.traces,
                None if at_once else again,
                WORKGROUP=chunk.workgroup,
            )
            cells, some = self._best_cells(chunk), batch.select(chunk.chosen)
            size = chunk.layout.totals["path"]
            paths = self.download_paths(some, cells, chunk.pairs["path"], size)
            parts.append((chunk.chosen, paths))
        return Paths.merged(batch.index.shape, parts)

    def programs(self, coming: ComingScan) -> Iterator[ProgramOf]:
        """Yield the programs that align such queries, see `Engine.programs`.

        The first is that of scores which 16-bit floats do not hold.
        """
        for size in distinct(self._workgroups(coming.lengths)).tolist():
            own: dict[str, int | None] = {"WORKGROUP": size}
            if gl.leans(self.scoring):
                yield "diagonal_leaning.comp", own | {"ENDS": None, "LINEAR": None}
            yield "diagonal.comp", own | {"ENDS": 1, "DIRECTIONS": 1, "MASKED": None, "AGAIN": 0}
            yield from (("traceback.comp", {"ENDS": 1, "TURN": turn, **own}) for turn in (0, 1))

    def _chunks(self, batch: Batch, *, trace: bool) -> Iterator[_Chunk]:
        """Cut the pairs into chunks that fit the memory, the largest pairs of a kind first."""
        m, n = batch.query_lengths, batch.target_lengths
        todo = np.flatnonzero((m > 0) & (n > 0))
        todo = todo[np.argsort(-(m * n)[todo], kind="stable")]
        workgroup = self._workgroups(m[todo])
        usual = (self._spacing if trace else None) or _NO_CHECKPOINTS
        for size in distinct(workgroup).tolist():
            every = _Chunk(batch, todo[workgroup == size], size, usual, trace)
            spacing = np.full(len(every.chosen), usual)
            if trace and not self._spacing:
                for k in np.flatnonzero(every.layout.each > self._room):
                    spacing[k] = self._affordable(every.part([k]))
            for own in distinct(spacing).tolist():
                alike = every.part(spacing == own, own)
                for run in alike.layout.cut(self._room):
                    chunk = alike.part(run)
                    self.memory_used = max(self.memory_used, chunk.layout.bytes)
                    yield chunk

    def _workgroups(self, m: Int64) -> Int64:
        """Return the size of the work group for queries of these lengths."""
        if self._workgroup:
            return np.full(len(m), self._workgroup)
        if self.device.info.software:
            return np.full(len(m), _SOFTWARE_WORKGROUP)
        sizes = np.array(_WORKGROUPS)
        return sizes[np.minimum(np.searchsorted(sizes * ROWS, m), len(sizes) - 1)]

    def _affordable(self, chunk: _Chunk) -> int:
        """Return the largest spacing with which a chunk of one pair fits, or the smallest one."""
        low, high = 1, max(1, chunk.strips - 1)
        while low < high:
            middle = (low + high + 1) // 2
            fits = replace(chunk, spacing=middle).layout.bytes <= self._room
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def _prepare(self, chunk: _Chunk) -> None:
        """Upload the sequences and the pairs, and make room for what the chunk keeps."""
        self.upload_sequences(chunk.batch)
        self.upload(gl.PAIRS, chunk.pairs)
        self.reserve(gl.ROW_ABOVE, chunk.layout.size("row_above"))
        self.zero(gl.BEST, 16 * len(chunk.chosen))
        self.reserve(gl.TRACES, 16 * len(chunk.chosen))
        if chunk.trace:
            self.reserve(gl.DIRECTIONS, chunk.layout.size("directions"))
            self.reserve(gl.PATHS, chunk.layout.size("path"))
        if self._masks:
            self._masks.release()
            self._masks = None
        if chunk.layout.totals["mask"]:
            self._masks = self.device.ctx.buffer(chunk.mask_words().tobytes())
            self.device.check("uploading masks")

    def _fill(
        self,
        chunk: _Chunk,
        ends: bool,
        *,
        directions: bool,
        again: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Compute all strips of the tables, or with ``again`` those of the block of each trace."""
        program = self.program(
            "diagonal.comp",
            WORKGROUP=chunk.workgroup,
            ENDS=1 if ends else None,
            DIRECTIONS=1 if directions else None,
            MASKED=1 if self._masks else None,
            AGAIN=int(again),
        )
        if self._masks:
            self._masks.bind_to_storage_buffer(_MASKS.number)
        program["spacing"] = chunk.spacing
        strips = min(chunk.strips, chunk.spacing) if again else chunk.strips
        self._run(program, chunk, strips, progress)

    def _lean(self, chunk: _Chunk, ends: bool, progress: Progress) -> None:
        """Compute all strips of the tables for score and ends alone."""
        program = self.program(
            "diagonal_leaning.comp",
            WORKGROUP=chunk.workgroup,
            ENDS=1 if ends else None,
            LINEAR=None,
        )
        self._run(program, chunk, chunk.strips, progress)

    def _run(
        self,
        program: moderngl.ComputeShader,
        chunk: _Chunk,
        strips: int,
        progress: Progress | None,
    ) -> None:
        """Dispatch some pairs after others, one strip after the other."""
        block = _SOFTWARE_PAIRS_PER_DISPATCH if self.device.info.software else _PAIRS_PER_DISPATCH
        blocks = -(-len(chunk.chosen) // block)
        cells = int((chunk.m * chunk.n).sum())

        def step(k: int) -> None:
            first = k // strips * block
            program["first_pair"], program["next_strip"] = first, k % strips
            program.run(min(block, len(chunk.chosen) - first))
            self.device.ctx.memory_barrier()

        self._throttle.run(blocks * strips, step, cells=cells, progress=progress)
        self.device.check("computing anti-diagonals")

    def _best_cells(self, chunk: _Chunk) -> BestCells:
        return gl.best_cells(self.download(gl.BEST, (np.int32, 4), len(chunk.chosen)))


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Pairs that are computed together, and what they keep on the device."""

    batch: Batch
    chosen: Intp
    workgroup: int
    spacing: int
    trace: bool

    def part(self, some: Any, spacing: int | None = None) -> _Chunk:
        """Return some of the pairs, by a slice, a mask or one place; itself if these are all."""
        chosen, spacing = self.chosen[some], spacing or self.spacing
        if len(chosen) == len(self.chosen) and spacing == self.spacing:
            return self  # with the layout that it has
        return replace(self, chosen=chosen, spacing=spacing)

    @cached_property
    def m(self) -> Int64:
        return self.batch.query_lengths[self.chosen]

    @cached_property
    def n(self) -> Int64:
        return self.batch.target_lengths[self.chosen]

    @cached_property
    def strips(self) -> int:
        """Strips of the longest query."""
        return -(-int(self.m.max()) // (self.workgroup * ROWS))

    @property
    def traces(self) -> int:
        """Dispatches that trace back any path, if loops end after so many rounds."""
        return 1 + int((self.m + self.n).max(initial=0)) // MAX_ROUNDS

    @cached_property
    def layout(self) -> Layout:
        """Rows above strips, one that rolls and the checkpoints; what paths and masks take."""
        m, n, trace = self.m, self.n, self.trace
        strips = -(-m // (self.workgroup * ROWS))
        kept, blocks = np.minimum(strips, self.spacing), -(-strips // self.spacing)
        words = np.zeros(len(m), np.int64)
        if masks := self.batch.masks:
            words += gl.mask_sizes(m, masks.counts[self.chosen])
        units = {
            "row_above": n * (1 + strips // self.spacing),
            "directions": trace * self.workgroup * kept * (n + self.workgroup - 1),
            "path": trace * (2 * np.minimum(m, n) + 1 + blocks * self.traces),
            "mask": words,
        }
        unit_bytes = {"row_above": 8, "directions": 4, "path": 4, "mask": 4}
        return Layout(units, unit_bytes, fixed=gl.PAIR.itemsize + 16 + 16)

    @cached_property
    def pairs(self) -> Structured:
        """Return what pair.glsl has, shape (N,): lengths and where the parts begin."""
        return self.layout.put(gl.pair_records(self.batch.select(self.chosen)))

    def mask_words(self) -> Int32:
        """Return what upright.glsl reads."""
        masks = self.batch.masks
        assert masks
        return gl.mask_words(masks.select(self.chosen), 0)[1]
