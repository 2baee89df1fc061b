"""Tiles of the engine ``subtable``: their shape, and what else of them is compiled into shaders."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.device.device import Device
from glsw.device.info import DeviceInfo
from glsw.engines.gl import LETTERS_IN_BLOCK
from glsw.engines.three.gl import Layout, letter_count
from glsw.scoring.three import Scoring3

NEVER = 2**30
NUMBERS = 256
"""Cells that cube.glsl can tell apart in a sub-table, by their distance from its corner."""

_MANY_TRIPLES = 256  # whose tiles keep a large device busy
_ENOUGH_ROWS = 16
_TILE_ROWS = {False: (8, 32), True: (16, 128)}  # of few and many rows, on software renderers or not
_PACKED_BOUND, _PACKED_COST = 2**16 - 1, 2**10 - 1
"""What scores, or with affine gaps the cost to open one, have to be less than for packed sides."""
BATCH = 4
"""Steps whose sides a tile gets at once."""
HELPERS = 32
"""Invocations that get sides; as many others leave them."""
_AHEAD = 2  # steps before the first of a batch, when tiles ask for it
_MOST_INVOCATIONS = 1024  # that OpenGL promises


class TileShape(NamedTuple):
    """The shape of tiles, compiled into the shaders.

    Parameters
    ----------
    side : int
        Cells of a sub-table along the second and the third sequence.
    lanes_j, lanes_k : int
        Columns of sub-tables in a work group along these.
    deep : int
        Cells of a sub-table along the first sequence.
    """

    side: int
    lanes_j: int
    lanes_k: int
    deep: int = 4

    def check(self) -> None:
        """Raise ValueError if there are no such tiles."""
        side, lanes_j, lanes_k, deep = self
        lanes, behind = lanes_j * lanes_k, ((deep + 2 * side - 3) * deep + deep - 1) * side + side
        if min(self) < 1 or lanes & (lanes - 1) or behind > NUMBERS:
            raise ValueError(
                f"{self}: numbers from 1 on, a power of two of lanes and sub-tables of not much "
                "more than 4 x 4 x 4 cells expected"
            )

    @property
    def width(self) -> tuple[int, int]:
        """Cells of a work group along j and k."""
        return self.side * self.lanes_j, self.side * self.lanes_k

    @property
    def lanes(self) -> int:
        """Invocations that compute, in a work group."""
        return self.lanes_j * self.lanes_k

    @property
    def defines(self) -> dict[str, int]:
        """The defines of the shaders."""
        return {
            "SIDE": self.side,
            "DEEP": self.deep,
            "LANES_J": self.lanes_j,
            "LANES_K": self.lanes_k,
        }

    @property
    def cells(self) -> int:
        """Cells of a sub-table."""
        return self.deep * self.side**2


class TileForm(NamedTuple):
    """The form of tiles, all of it compiled into the shaders.

    Parameters
    ----------
    shape : TileShape
    linear : bool
        Whether gaps are linear.
    packed : int
        How sides have several values in a word, see cube.glsl; 0: not at all.
    polling : bool
        Whether tiles wait for the sides of others, as all are computed in one dispatch.
    tile_rows : int
        Rows of a tile; with ``polling`` those of a dispatch.
    """

    shape: TileShape
    linear: bool
    packed: int
    polling: bool
    tile_rows: int

    @property
    def side_bytes(self) -> int:
        """Bytes of a side of a cell; with linear gaps and packed, of two."""
        return 4 if self.linear else 8 if self.packed else 16

    @property
    def words(self) -> tuple[int, int]:
        """Words of a row of a sub-table, across j and across k."""
        side = self.shape.side
        halves = self.packed == 1 and self.linear
        return ((side + 2) // 2, (side + 1) // 2) if halves else (side + 1, side)

    @property
    def defines(self) -> dict[str, int | None]:
        """The defines of the shaders."""
        defines = {"PACKED": self.packed or None, **self.shape.defines}
        if not self.polling:
            return defines | {"WORKGROUP": self.shape.lanes, "TILE_ROWS": self.tile_rows}
        return defines | {
            "WORKGROUP": self.shape.lanes + 2 * HELPERS,
            "HELPERS": HELPERS,
            "BATCH": BATCH,
            "AHEAD": _AHEAD,
            "HELD": self._held,
            "LETTERS_AT_ONCE": self._letters,
            "EMPTY": self._empty,
        }

    @property
    def _empty(self) -> int:
        """What no side has: no H is negative, and of values in a word one is below its highest."""
        return -1 if self.linear or self.packed else 1 - 2**31

    @property
    def _letters(self) -> int:
        """Letters of the first sequence in shared memory; where tiles wait, a power of two."""
        if not self.polling:
            return self.tile_rows
        steps = self.shape.lanes_j + self.shape.lanes_k + 2 * BATCH
        return 1 << (steps * self.shape.deep - 1).bit_length()

    @property
    def _coming(self) -> int:
        """Steps whose sides from tiles before are in shared memory: some, or all of a tile."""
        _, lanes_j, lanes_k, deep = self.shape
        return 2 * BATCH if self.polling else self.tile_rows // deep + max(lanes_j, lanes_k) - 1

    @property
    def _held(self) -> int:
        """Cells of a plane of a column and before it, or sides that a helper asks for."""
        rows = BATCH * self.shape.deep
        asked = sum(-(-rows * words // HELPERS) for words in self.row_words)
        return max((self.shape.side + 1) ** 2, asked)

    @property
    def row_words(self) -> tuple[int, int]:
        """Sides of a row that a tile hands on, along j and along k."""
        return self.words[0] * self.shape.lanes_k, self.words[1] * self.shape.lanes_j

    def shared_memory(self, scoring: Scoring3) -> int:
        """Return the bytes of shared memory that a work group takes."""
        (_, lanes_j, lanes_k, deep), (j_row, k_row) = self.shape, self.row_words
        coming = self._coming * (j_row + k_row)
        between = 2 * (j_row * lanes_j + (k_row + 32 // lanes_k) * lanes_k)
        count = letter_count(scoring)
        shared_scores = scoring.scheme != "identity" and count <= LETTERS_IN_BLOCK
        scores = 4 * count * (count + 1) if shared_scores else 0
        return (
            deep * (coming + between) * self.side_bytes
            + 16 * self.shape.lanes
            + scores
            + 4 * self._letters
            + 16
        )


_LINEAR = [TileShape(4, 16, 8, 1), TileShape(4, 8, 8, 1)]
_TRACED_LINEAR = [TileShape(3, *lanes, 1) for lanes in ((16, 16), (16, 8), (8, 8))]  # 27 bits
_AFFINE = [TileShape(2, *lanes, 1) for lanes in ((16, 16), (16, 8), (8, 8), (8, 4))]


def is_nvidia(info: DeviceInfo) -> bool:
    """Tell whether a device has NVIDIA's own driver.

    Work groups that have begun go on there, also while others wait for them. No vendor promises
    that; elsewhere it has to be proved, see `Subtable.variants_on`.
    """
    return info.vendor.startswith("NVIDIA") and not info.software


class TileForms:
    """Choose the form of tiles for triples: as requested, else as suits device and scoring.

    Attributes
    ----------
    polling : bool
        Whether tiles wait for one another, where they are not too large for that.
    """

    def __init__(
        self,
        scoring: Scoring3,
        device: Device,
        shape: TileShape | None,
        depth: int | None,
        packed: bool | None,
        polling: bool | None,
    ) -> None:
        self._scoring, self._info = scoring, device.info
        self._shape, self._depth, self._packed = shape, depth, packed
        self.polling = is_nvidia(device.info) if polling is None else polling
        for trace in (False, True):
            self._form(trace, int(packed is not False), 1)

    def of(self, layout: Layout, chosen: npt.NDArray[np.intp], trace: bool) -> TileForm:
        """Return the form for some triples."""
        lengths, opens = layout.lengths[chosen], self._scoring.costs.opens
        bound = layout.origin + int(self._scoring.bounds(lengths).max()) + opens
        by_cost = not self._scoring.linear and opens < _PACKED_COST
        packed = 1 if bound < _PACKED_BOUND else 2 if by_cost else 0
        if self._packed and not packed:
            raise ValueError(
                f"packed sides need scores below {_PACKED_BOUND}, {bound} is possible; or affine "
                f"gaps that cost less than {_PACKED_COST} to open, these cost {opens}"
            )
        packed *= self._packed is not False
        return self._form(trace, packed, int(lengths[:, 0].max()), len(chosen) >= _MANY_TRIPLES)

    def _form(self, trace: bool, packed: int, rows: int, many: bool = False) -> TileForm:
        """Return a form for so many rows; ValueError if none fits the shared memory."""
        limit, name = self._info.limits["max_shared_memory"], self._info.name
        low: TileForm | None = None
        for shape in self._shapes(trace, packed, many):
            form = self._form_of(shape, packed, rows)
            if (needed := form.shared_memory(self._scoring)) <= limit:
                if form.tile_rows >= self._enough(rows):
                    return form
                low = low or form
        if low:
            return low
        raise ValueError(f"{shape} takes {needed} bytes of shared memory, {name} has {limit}")

    def _usual(self, rows: int) -> int:
        """Return how many rows of so many tiles have that do not wait, if they fit."""
        short, long = _TILE_ROWS[self._info.software]
        return long if rows > 2 * short else short

    def _enough(self, rows: int) -> int:
        """Return the rows from which on a tile is not mostly its begin and end."""
        return 0 if self._depth or self._info.software else min(self._usual(rows), _ENOUGH_ROWS)

    def _form_of(self, shape: TileShape, packed: int, rows: int) -> TileForm:
        """Return the form of a shape, with fewer rows of a tile where they do not fit."""
        usual = NEVER if self.polling else self._usual(rows)
        tile = (self._depth or max(1, usual // shape.deep)) * shape.deep
        polling = self.polling and shape.lanes + 2 * HELPERS <= _MOST_INVOCATIONS
        form = TileForm(shape, self._scoring.linear, packed, polling, tile)
        limit = self._info.limits["max_shared_memory"]
        while form.shared_memory(self._scoring) > limit and not self._depth and tile > shape.deep:
            tile = max(1, tile // shape.deep * 3 // 4) * shape.deep
            form = form._replace(tile_rows=tile)
        return form

    def _shapes(self, trace: bool, packed: int, many: bool) -> list[TileShape]:
        """Return the requested shape, or several, the fastest of ``many`` triples first.

        Those for NVIDIA were measured. Elsewhere lanes have so few cells that they find room in 128
        registers: compilers for Intel take seconds to find none.
        """
        if self._shape:
            return [self._shape]
        linear, identity = self._scoring.linear, self._scoring.scheme == "identity"
        deep = 2 if trace and linear else 1  # of which directions fill words
        if self._info.software:
            return [TileShape(4 if linear else 2, 8, 8, deep)]
        small = _TRACED_LINEAR if trace and linear else _LINEAR if linear else _AFFINE
        if not is_nvidia(self._info):
            return small
        shapes = [TileShape(4, 16, 8, deep), TileShape(4, 8, 8, deep), *small]
        if many and not trace and linear and identity:
            return [TileShape(4, 16, 16, deep), *shapes]
        if many and not trace and packed and not linear and not identity:
            return [TileShape(3, 16, 16, deep), *shapes]
        return shapes if linear or packed else shapes[1:]
