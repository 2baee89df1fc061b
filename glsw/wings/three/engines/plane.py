"""Engine ``plane``: plain diagonal planes over global memory (Sudo et al. 2012, "GPUN")."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells
from glsw.arrays import Int32, Intp
from glsw.device.device import Device, DeviceMemoryError
from glsw.device.info import COMPUTE
from glsw.engines.base import Capabilities, Progress
from glsw.engines.chunks import Layout
from glsw.wings.three.engines import gl
from glsw.wings.three.engines.gl import Compute3, DeviceTriples, Extents
from glsw.wings.three.scoring import Scoring3

_HARDWARE_LANES, _SOFTWARE_LANES = 8, 4  # of a work group along j and along k


class Plane(Compute3):
    """Compute one diagonal plane of cells per dispatch and one cell per invocation ("GPUN").

    The paper's baseline without sub-tables. It does not align: `engine3_of` leaves alignments to
    `Subtable`.

    Parameters
    ----------
    memory : int
        Bytes of device memory for a chunk of triples.
    """

    name = "plane"
    capabilities = Capabilities(requires=COMPUTE, tasks=("score", "ends"), memory=True)

    def __init__(
        self, scoring: Scoring3, device: Device | None = None, *, memory: int = 2**30
    ) -> None:
        super().__init__(scoring, device)
        software = self.device.info.software
        self._lanes = _SOFTWARE_LANES if software else _HARDWARE_LANES
        self._defines |= {"LANES": self._lanes, "WORKGROUP": self._lanes**2}
        self._memory = memory

    def best(self, triples: Batch, progress: Progress) -> BestCells:
        """Return the best cell of each triple, see `Engine3.best`."""
        data = self.device_triples(triples)
        extents = data.extents
        found = BestCells.zeros(len(triples), 3)
        order = extents.ordered()
        for run in self._layout(extents, order).cut(self._room):
            chosen = order[run]
            layout = self._layout(extents, chosen)
            self._fill(data, chosen, progress)
            cells = self.download(gl.BEST, (np.int32, 2), layout.totals["best"])
            of_each = np.split(cells, np.cumsum(layout.units["best"])[:-1])
            for t, own in zip(chosen.tolist(), of_each, strict=True):
                best, one = self._best(extents, t, own), np.array([t])
                found.put(one, self.check_cells(extents, one, best))
        return found

    @staticmethod
    def _best(extents: Extents, t: int, cells: Int32) -> BestCells:
        """Return the best of the cells of a triple: H and i for each j and k."""
        at = np.flatnonzero(cells[:, 0] == cells[:, 0].max())
        score, i = cells[at].T
        j, k = np.divmod(at, extents.lengths[t, 2])
        candidates = np.stack([score, i + j + k, i, j], axis=1)
        return extents.best(candidates, np.array([len(at)]))

    def tables_of(self, triples: Batch, progress: Progress) -> Iterator[Int32]:
        """Yield the table of each triple, see `Engine3.tables`."""
        data = self.device_triples(triples)
        extents = data.extents
        for t, (l, m, n) in enumerate(extents.lengths.tolist()):  # noqa: E741
            table = np.empty((l, m, n), np.int32)
            if table.size:
                self.device.activate()
                self.reserve(gl.DIRECTIONS, table.nbytes)
                self._fill(data, np.array([t]), progress, TABLE=1)
                self.download_into(gl.DIRECTIONS, table)
                self.check_table(extents, t, table)
            yield table[(slice(extents.before, None),) * 3] - extents.origin

    def _layout(self, extents: Extents, chosen: Intp) -> Layout:
        """Four planes, and the best cell for each j and k."""
        sizes = extents.lengths[chosen, 1:].prod(axis=1)
        cell = 4 if self.scoring.linear else 32  # bytes
        return Layout({"best": sizes, "i_sides": 4 * sizes}, {"best": 8, "i_sides": cell})

    def _fill(
        self,
        data: DeviceTriples,
        chosen: Intp,
        progress: Progress,
        **defines: int | None,
    ) -> None:
        """Compute all planes of some triples, the largest tables first."""
        residues, extents = data
        lengths = extents.lengths[chosen]
        layout = self._layout(extents, chosen)
        needed = layout.bytes
        if "TABLE" in defines:
            needed += 4 * int(lengths.prod(axis=1).sum())
        if needed > self._memory:
            shown = ", ".join(map(str, (lengths[0] - extents.before).tolist()))
            raise DeviceMemoryError(
                f"sequences of {shown} letters need {needed} bytes of device memory, "
                f"{self._memory} may be used"
            )
        self.memory_used = max(self.memory_used, needed)
        self.upload_residues(residues)
        self.upload(gl.TRIPLES, layout.put(extents.records(chosen)))
        self.reserve(gl.SIDES, layout.size("i_sides"))
        self.reserve(gl.BEST, layout.size("best"))
        program = self.program("three/plane.comp", **defines)
        self.set(program, {"origin": extents.origin})
        l, m, n = lengths.max(axis=0).tolist()  # noqa: E741
        planes = l + m + n - 2
        cells = int((lengths - extents.before).prod(axis=1).sum())

        def step(d: int) -> None:
            first = max(0, d - (l - 1) - (n - 1)), max(0, d - (l - 1) - (m - 1))
            count = min(m, d + 1) - first[0], min(n, d + 1) - first[1]
            program["diagonal"], program["first_cell"] = d, first
            groups = [-(-each // self._lanes) for each in count]
            program.run(groups[1], groups[0], len(chosen))
            self.barrier()

        self._throttle.run(planes, step, cells=cells, progress=progress)
        self.device.check("computing planes")
