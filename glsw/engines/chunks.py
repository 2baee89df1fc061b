"""Batches in chunks that fit the memory, or of similar lengths where tables are padded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.engines.gl import MAX_PAIRS_PER_DISPATCH


@dataclass(frozen=True, eq=False)
class Layout:
    """What each of N pairs or triples has of each buffer, and where.

    Parameters
    ----------
    units : mapping of ndarray of int64, shape (N,)
        Units of each, by the field of its record that says where the first one is.
    unit_bytes : mapping of int
        Bytes of a unit.
    fixed : int
        Bytes that each takes besides.

    Examples
    --------
    >>> layout = Layout({"path": np.array([2, 3, 1])}, {"path": 4})
    >>> layout.bytes, layout.size("path")
    (24, 24)
    >>> list(layout.cut(room=16))
    [slice(0, 1, None), slice(1, 3, None)]
    >>> layout.put(np.zeros(3, [("path", np.int32)]))["path"].tolist()
    [0, 2, 5]
    """

    units: Mapping[str, npt.NDArray[np.int64]]
    unit_bytes: Mapping[str, int]
    fixed: int = 0

    @cached_property
    def totals(self) -> dict[str, int]:
        """Units of all."""
        return {name: int(units.sum()) for name, units in self.units.items()}

    @cached_property
    def each(self) -> npt.NDArray[np.int64]:
        """Bytes of each, shape (N,)."""
        parts = [self.unit_bytes[name] * units for name, units in self.units.items()]
        total: npt.NDArray[np.int64] = np.sum(parts, axis=0) + self.fixed
        return total

    @property
    def bytes(self) -> int:
        """Bytes of all."""
        return int(self.each.sum())

    def size(self, name: str) -> int:
        """Return the bytes of all in a buffer."""
        return self.unit_bytes[name] * self.totals[name]

    def put(self, records: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
        """Return the records with the places of the first units: all lie one after the other."""
        for name, units in self.units.items():
            records[name] = np.cumsum(units) - units
        return records

    def cut(self, room: int, some: slice | npt.NDArray[np.bool_] = slice(None)) -> Iterator[slice]:
        """Cut ``some`` of them, in this order, into runs of at most ``room`` bytes, or of one."""
        total = np.cumsum(self.each[some])
        start = before = 0
        while start < len(total):
            stop = int(np.searchsorted(total, before + room, "right"))
            stop = min(max(stop, start + 1), start + MAX_PAIRS_PER_DISPATCH)
            yield slice(start, stop)
            start, before = stop, int(total[stop - 1])


def chunks(
    batch: Batch, *, area: int, pairs: int, queries: int, waste: float = 0.25
) -> Iterator[npt.NDArray[np.intp]]:
    """Cut the pairs into chunks of similar lengths; yield the indices of each chunk.

    A chunk of N pairs fills N tables as large as its largest one.

    Parameters
    ----------
    batch : Batch
        Pairs; none with an empty sequence.
    area : int
        Longest query of a chunk times its pairs, at most (but one pair is always taken).
    pairs, queries : int
        Pairs, and distinct queries, in a chunk at most.
    waste : float
        Padding as a fraction of the cells, at most, but for chunks that are small: less than a
        sixteenth of ``area``, and tables of 16 times ``area`` in all.

    Examples
    --------
    >>> letters = np.zeros(9, np.uint8)
    >>> batch = Batch.one_to_many(letters[:3], [letters[:k] for k in (9, 2, 8, 2)])
    >>> [chunk.tolist() for chunk in chunks(batch, area=6, pairs=8, queries=1)]
    [[1, 3], [2, 0]]
    """
    m, n = batch.query_lengths, batch.target_lengths
    # Queries within a quarter of each other's length share a bin; targets are sorted inside it.
    order = np.lexsort((n, np.floor(np.log(m) / np.log(1.25))))
    filled = np.concatenate([[0], np.cumsum((m * n)[order])])
    start = 0
    while start < len(order):
        stop = min(start + pairs, len(order))
        longest = np.maximum.accumulate(m[order[start:stop]])
        widest = np.maximum.accumulate(n[order[start:stop]])
        count = np.arange(1, len(longest) + 1)
        full = longest * widest * count > (1 + waste) * (
            filled[start + 1 : stop + 1] - filled[start]
        )
        full &= (longest * count > area // 16) | (longest * widest * count > 16 * area)
        full |= longest * count > area
        first = np.unique(batch.query_index[order[start:stop]], return_index=True)[1]
        if len(first) > queries:
            full[np.sort(first)[queries] :] = True
        stop = start + max(1, int(full.argmax()) if full.any() else len(full))
        yield order[start:stop]
        start = stop
