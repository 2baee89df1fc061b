"""Engine ``wavefront``: plain anti-diagonals in global memory, as a baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from glsw.engines.many_groups import Chunk, ManyGroupsEngine, Sizes
from glsw.trust.provable import USUAL, Variant

_WORKGROUP = 256
_CELL = 16  # bytes


class Wavefront(ManyGroupsEngine):
    """Compute one anti-diagonal per dispatch and one cell per invocation.

    The baseline of the papers on row scans ("Optimizing Parallel Scan Smith Waterman Algorithm On
    GPU", 2014, section III): nothing is kept in registers or shared memory. Parameters
    as in `ManyGroupsEngine`.
    """

    name = "wavefront"
    variants = (USUAL, Variant("small work groups", {"workgroup": 2}))
    capabilities = replace(
        ManyGroupsEngine.capabilities, positional_gaps=True, workloads=("long pairs",)
    )

    def sizes(self, rows: int, columns: int) -> Sizes:
        """Return the bytes of three diagonals, one candidate per row, the cells of a diagonal."""
        return Sizes(3 * _CELL * rows, rows, min(rows, columns))

    def schedule(self, chunk: Chunk) -> tuple[int, Callable[[int], None]]:
        """Return the number of anti-diagonals, and what dispatches one."""
        workgroup = self._workgroup or _WORKGROUP
        program = self.program("wavefront.comp", WORKGROUP=workgroup, **chunk.defines)
        program["stride"] = chunk.rows
        ends = -np.maximum.accumulate((chunk.m + chunk.n)[::-1])[::-1]

        def step(d: int) -> None:
            first = max(0, d - chunk.columns + 1)
            program["diagonal"], program["first_row"] = d, first
            rows = min(d + 1, chunk.rows) - first
            self.dispatch(program, -(-rows // workgroup), int(np.searchsorted(ends, -d - 1)))

        return chunk.rows + chunk.columns - 1, step
