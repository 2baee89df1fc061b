"""Base class of engines in which many work groups compute a table, one dispatch after another."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import moderngl
import numpy as np

from glsw.alignment.batch import Batch, Masks
from glsw.alignment.paths import BestCells
from glsw.arrays import Int64, Intp
from glsw.device.device import Device
from glsw.device.info import COMPUTE
from glsw.engines import gl
from glsw.engines.base import Best, Capabilities, Pairs, Progress
from glsw.engines.chunks import Layout
from glsw.engines.gl import MAX_PAIRS_PER_DISPATCH, MAX_ROUNDS, Binding, ComputeEngine
from glsw.scoring.scoring import Scoring

ROWS = Binding("ROWS", gl.ROW_ABOVE.number)
"""The storage buffer of rows or diagonals of the tables."""
CANDIDATES = Binding("CANDIDATES", gl.PATHS.number)
"""The storage buffer of candidates: the best cell of each row, column or block of a table."""
_COLLECTORS = 64  # invocations in a work group of best.comp
_MAX_CELLS_PER_STEP, _MAX_SOFTWARE_CELLS_PER_STEP = 2**28, 2**24


class Sizes(NamedTuple):
    """What a pair takes."""

    bytes: int  # in the buffer `ROWS`
    candidates: int  # rows, columns or blocks of its table, each of which keeps its best cell
    cells: int  # computed in a step
    directions: int = 0  # their bytes

    @property
    def layout(self) -> Layout:
        """Its share of each buffer."""
        units = {"rows": self.bytes, "candidates": self.candidates, "directions": self.directions}
        unit_bytes = {"rows": 1, "candidates": 16, "directions": 1}
        return Layout(units, unit_bytes, fixed=gl.PAIR.itemsize + 16)


@dataclass(frozen=True)
class Chunk:
    """Pairs that are computed together, the longest queries first."""

    batch: Batch  # the N pairs, none with an empty sequence
    defines: Mapping[str, int | None]  # what is compiled into the shaders: the task

    @property
    def m(self) -> Int64:
        """Lengths of the queries, shape (N,)."""
        return self.batch.query_lengths

    @property
    def n(self) -> Int64:
        """Lengths of the targets, shape (N,)."""
        return self.batch.target_lengths

    @property
    def rows(self) -> int:
        """Length of the longest query."""
        return int(self.m[0])

    @property
    def columns(self) -> int:
        """Length of the longest target."""
        return int(self.n.max())


class ManyGroupsEngine(ComputeEngine):
    """Base of engines whose work groups share tables and leave candidates for the best cell.

    Parameters
    ----------
    workgroup : int, optional
        Invocations in a work group: a power of two.
    memory : int
        Bytes of device memory for a chunk of pairs, sequences not counted; a single pair takes
        what it needs.
    """

    capabilities = Capabilities(requires=COMPUTE, memory=True)
    bindings = (*ComputeEngine.bindings, CANDIDATES, ROWS)

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        workgroup: int | None = None,
        memory: int = 2**30,
    ) -> None:
        super().__init__(scoring, device, workgroup=workgroup)
        most = self.device.info.limits["max_work_group_invocations"]
        if workgroup is not None and not (2 <= workgroup <= most and workgroup.bit_count() == 1):
            raise ValueError(f"workgroup {workgroup}: a power of two from 2 to {most} expected")
        self._memory = memory

    @abstractmethod
    def sizes(self, rows: int, columns: int) -> Sizes:
        """Return what each pair takes in a chunk of so many rows and columns at most."""

    def fits(self, asked: Pairs) -> bool:
        """Tell whether the rows and candidates of each pair fit a buffer."""
        sizes = self.sizes(*asked.batch.extent[1].tolist())
        most = self._buffer_limit
        fits = sizes.bytes <= most and 16 * sizes.candidates <= most and self._collects(sizes)
        return super().fits(asked) and fits

    def _collects(self, sizes: Sizes) -> bool:
        """Tell whether the loop over candidates ends before the device ends it."""
        software = self.device.info.software
        return not software or sizes.candidates <= _COLLECTORS * MAX_ROUNDS

    def check_lengths(self, m: int, n: int, masks: Masks | None = None) -> None:
        """Raise ValueError as of `Engine.check_lengths`, and for pairs too long for the device."""
        super().check_lengths(m, n)
        if not self._collects(self.sizes(m, n)):
            raise ValueError(
                f"{m} and {n} residues: too many for engine {self.name!r} on "
                f"{self.device.info.name}"
            )

    @abstractmethod
    def schedule(self, chunk: Chunk) -> tuple[int, Callable[[int], None]]:
        """Return the number of steps of a chunk, and what dispatches step k."""

    def best(self, asked: Pairs, progress: Progress) -> Best:
        """Return the best cell of each pair, see `Engine.best`."""
        batch, ends = asked.batch, asked.ends
        defines = {"ENDS": 1 if ends else None}
        found = BestCells.zeros(len(batch))
        for chosen in self._chunks(batch):
            chunk = Chunk(batch.select(chosen), defines)
            self._prepare(chunk)
            total, step = self.schedule(chunk)
            self._throttle.run(total, step, cells=chunk.batch.cells, progress=progress)
            found.put(chosen, self._collect(chunk))
        return found

    def _chunks(self, batch: Batch) -> Iterator[Intp]:
        """Cut the pairs into chunks of targets within a factor of 2, the longest queries first."""
        info = self.device.info
        cells = _MAX_SOFTWARE_CELLS_PER_STEP if info.software else _MAX_CELLS_PER_STEP
        m, n = batch.query_lengths, batch.target_lengths
        todo = np.flatnonzero((m > 0) & (n > 0))
        bins = np.frexp(n[todo].astype(np.float64))[1]
        order = todo[np.lexsort((-m[todo], -bins))]
        for part in np.split(order, np.flatnonzero(np.diff(-np.sort(-bins))) + 1):
            while len(part):
                each = self.sizes(int(m[part[0]]), int(n[part].max()))
                fitting = each.layout.fitting(self._memory, self._buffer_limit)
                count = max(1, min(fitting, cells // each.cells, MAX_PAIRS_PER_DISPATCH))
                yield part[:count]
                part = part[count:]

    def _prepare(self, chunk: Chunk) -> None:
        """Upload sequences and pairs, and make room."""
        batch = chunk.batch
        each = self.sizes(chunk.rows, chunk.columns).layout
        self.upload_sequences(batch)
        self.upload(gl.PAIRS, gl.pair_records(batch))
        self.reserve(ROWS, len(batch) * each.size("rows"))
        self.zero(CANDIDATES, len(batch) * each.size("candidates"))
        self.reserve(gl.BEST, len(batch) * 16)
        self.memory_used = max(self.memory_used, len(batch) * each.bytes)

    def dispatch(self, program: moderngl.ComputeShader, groups: int, pairs: int, /) -> None:
        """Run so many work groups for each of so many pairs, and let what follows see it."""
        program.run(groups, pairs)
        self.device.ctx.memory_barrier()

    def _collect(self, chunk: Chunk) -> BestCells:
        """Return the best cells of the pairs from their candidates."""
        program = self.program("best.comp", WORKGROUP=_COLLECTORS, **chunk.defines)
        program["candidate_count"] = self.sizes(chunk.rows, chunk.columns).candidates
        program.run(len(chunk.batch))
        self.device.ctx.memory_barrier()
        self.device.check(f"computing with engine {self.name!r}")
        return gl.best_cells(self.download(gl.BEST, (np.int32, 4), len(chunk.batch)))
