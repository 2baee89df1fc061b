"""Jobs of engine ``lanes``: groups of queries against targets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.engines.lanes.geometry import BLOCK, COMPARE, Geometry
from glsw.engines.lanes.rows import ALIGNMENT, Rows
from glsw.engines.lanes.targets import (
    GROUPS,
    QUERY_PROFILE,
    SCORES,
    PackedTargets,
    Targets,
)


@dataclass(frozen=True, eq=False)
class WorkGroups:
    """Work groups of lanes that a dispatch can compute, with one geometry.

    Parameters
    ----------
    geometry : Geometry
    groups : int
        Groups of queries, in work groups along y.
    strips : int
    border_columns, cells : ndarray of int64, shape (groups + 1,)
        Places of borders, and cells with their padding, before each work group.
    useful : int
        Cells without padding.
    """

    geometry: Geometry
    groups: int
    strips: int
    border_columns: npt.NDArray[np.int64]
    cells: npt.NDArray[np.int64]
    useful: int

    @property
    def uniforms(self) -> dict[str, int]:
        """What it sets besides the usual."""
        return {}

    def bind(self) -> None:
        """Bind its buffers, but for those of strips."""
        raise NotImplementedError

    def bind_strip(self, strip: int) -> None:
        """Bind what a strip needs besides, or all strips if they are computed at once."""

    @cached_property
    def border_bytes(self) -> npt.NDArray[np.int64]:
        """Bytes of borders before each work group, of all groups of queries."""
        size = self.groups * self.geometry.border if self.strips > 1 else 0
        return self.border_columns.astype(np.int64) * size

    def useful_before(self, group: int) -> int:
        """Return the cells without padding before a work group."""
        return self.useful * int(self.cells[group]) // int(self.cells[-1])


@dataclass(frozen=True, eq=False)
class Job(WorkGroups):
    """Groups of queries against targets with chains of one length.

    Parameters
    ----------
    rows : Rows
        The queries of all groups.
    targets : Targets
    packed : PackedTargets
    strip_size : int
        Bytes of the profile of a strip.
    profile, borders, scores : moderngl.Buffer
    """

    rows: Rows
    targets: Targets
    packed: PackedTargets
    strip_size: int
    profile: moderngl.Buffer
    borders: moderngl.Buffer
    scores: moderngl.Buffer

    @property
    def buffers(self) -> tuple[moderngl.Buffer, ...]:
        """What it alone takes on the device."""
        return self.profile, self.borders, self.scores

    @property
    def uniforms(self) -> dict[str, int]:
        """How many scores a row has."""
        return {"row_size": self.packed.row_size}

    def bind(self) -> None:
        """Bind its buffers, but for the profile."""
        self.packed.bind()
        self.borders.bind_to_storage_buffer(GROUPS.number)
        self.scores.bind_to_storage_buffer(SCORES.number)

    def bind_strip(self, strip: int) -> None:
        """Bind the profile of a strip, or of all of them."""
        if self.geometry.at_once:
            self.profile.bind_to_storage_buffer(QUERY_PROFILE.number)
            return
        in_block = self.geometry.profile_memory in (COMPARE, BLOCK)
        buffer = self.profile
        bind = buffer.bind_to_uniform_block if in_block else buffer.bind_to_storage_buffer
        step = -(-self.strip_size // (4 * ALIGNMENT)) * 4 * ALIGNMENT
        bind(QUERY_PROFILE.number, strip * step, self.strip_size)

    @property
    def score_bytes(self) -> int:
        """Bytes of its scores, of padding too."""
        return 4 * self.packed.row_size * len(self.rows)

    def scores_of(self, content: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
        """Return the scores in what was read, shape (queries, targets)."""
        return content.view(np.int32).reshape(len(self.rows), -1)[:, :-1]
