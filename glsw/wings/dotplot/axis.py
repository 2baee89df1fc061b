"""The sequences along one side of a dot plot, cut into tiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.sequences.encoded import offsets_of
from glsw.sequences.named import NamedSequences

_Codes = npt.NDArray[np.uint8]
_Int64 = npt.NDArray[np.int64]


class Segment(NamedTuple):
    """Residues ``start`` up to before ``end`` of a sequence.

    Parameters
    ----------
    record : int
        Its number.
    name : str
    start, end : int
    """

    record: int
    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Axis:
    """Segments of sequences, one after the other; each begins at a tile of its own.

    Parameters
    ----------
    segments : tuple of Segment
        None is empty.
    side : int
        Residues of a tile.

    Examples
    --------
    >>> axis = Axis((Segment(0, "a", 0, 25), Segment(1, "b", 100, 110)), 10)
    >>> axis.tiles, axis.starts.tolist(), axis.place(3.5), axis.tile(1, 105)
    (4, [0, 3], (1, 105), 3.5)
    """

    segments: tuple[Segment, ...]
    side: int

    @cached_property
    def starts(self) -> _Int64:
        """The first tile of each segment, shape (segments,)."""
        return offsets_of(self._filled())[:-1]

    @property
    def tiles(self) -> int:
        """The number of tiles."""
        return sum(self._filled())

    def length(self, between: int) -> int:
        """Return the number of `codes` with the padding ``between`` segments."""
        return sum(self._filled(between)) * self.side

    def _filled(self, between: int = 0) -> list[int]:
        """Return the tiles of each segment, with the padding before the next one."""
        last = len(self.segments) - 1
        return [
            -(-(each.end - each.start + between * (k < last)) // self.side)
            for k, each in enumerate(self.segments)
        ]

    def tile(self, segment: int, position: float) -> float:
        """Return where a position of a sequence lies, in tiles from the start of the axis."""
        return float(self.starts[segment] + (position - self.segments[segment].start) / self.side)

    def place(self, tile: float) -> tuple[int, int]:
        """Return the segment and the residue of its sequence there; the nearest one.

        ``tile`` counts from the start of the axis.
        """
        k = max(0, int(np.searchsorted(self.starts, tile, "right")) - 1)
        at = self.segments[k]
        position = at.start + int((tile - self.starts[k]) * self.side)
        return k, min(max(position, at.start), at.end - 1)

    def codes(
        self, collection: NamedSequences, padding: int, between: int
    ) -> tuple[_Codes, npt.NDArray[np.intp]]:
        """Return the codes, and which of their tiles are those of the axis.

        Parameters
        ----------
        collection : NamedSequences
            The sequences of the segments.
        padding : int
            The code that fills tiles up.
        between : int
            The least number of these between two segments.
        """
        parts: list[_Codes] = []
        kept: list[npt.NDArray[np.intp]] = []
        filled = 0
        counts = zip(self.segments, self._filled(), self._filled(between), strict=True)
        for each, count, tiles in counts:
            codes = collection.sequences[each.record][each.start : each.end]
            parts += [codes, np.full(tiles * self.side - len(codes), padding, np.uint8)]
            kept.append(np.arange(filled, filled + count, dtype=np.intp))
            filled += tiles
        nothing = np.empty(0, np.uint8), np.empty(0, np.intp)
        return np.concatenate([nothing[0], *parts]), np.concatenate([nothing[1], *kept])


def segments_of(
    collection: NamedSequences, start: int = 0, end: int | None = None
) -> tuple[Segment, ...]:
    """Return the sequences from residue ``start`` up to before ``end`` of all, taken as one."""
    found: list[Segment] = []
    offsets = collection.sequences.offsets
    for k, (first, last) in enumerate(pairwise(offsets.tolist())):
        begin, stop = max(start, first), last if end is None else min(end, last)
        if begin < stop:
            found.append(Segment(k, collection.name(k), begin - first, stop - first))
    return tuple(found)
