"""Cuts batches into chunks that fit the device memory and its largest buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from glsw.arrays import Bool, Int64, Structured
from glsw.engines.gl import MAX_PAIRS_PER_DISPATCH
from glsw.sequences.encoded import offsets_of
from glsw.sequences.tiles import cut


@dataclass(frozen=True, eq=False)
class Layout:
    """What each of N pairs or triples has of each buffer, and where.

    Parameters
    ----------
    units : mapping of ndarray of int64, shape (N,), or int
        Units of each, by the field of its record that says where the first one is. Numbers are
        those of one of many that are alike.
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
    >>> Layout({"row": 10, "best": 1}, {"row": 8, "best": 16}).fitting(memory=500, block=300)
    3
    """

    units: Mapping[str, Any]
    unit_bytes: Mapping[str, int]
    fixed: int = 0

    @cached_property
    def totals(self) -> dict[str, int]:
        """Units of all."""
        each = self.units.items()
        return {name: units if isinstance(units, int) else int(units.sum()) for name, units in each}

    @cached_property
    def each(self) -> Int64:
        """Bytes of each, shape (N,)."""
        parts = [self.unit_bytes[name] * units for name, units in self.units.items()]
        total: Int64 = np.sum(parts, axis=0) + self.fixed
        return total

    @property
    def bytes(self) -> int:
        """Bytes of all."""
        count = np.size(next(iter(self.units.values())))
        return sum(map(self.size, self.units)) + self.fixed * count

    def size(self, name: str) -> int:
        """Return the bytes of all in a buffer."""
        return self.unit_bytes[name] * self.totals[name]

    def fitting(self, memory: int, block: int) -> int:
        """Return how many like all of these together fit, each buffer in a block: at least 1."""
        largest = max(map(self.size, self.units))
        return max(1, min(memory // self.bytes, block // largest))

    def put(self, records: Structured) -> Structured:
        """Return the records with the places of the first units: all lie one after the other."""
        for name, units in self.units.items():
            records[name] = np.cumsum(units) - units
        return records

    def cut(self, room: int, some: slice | Bool = slice(None)) -> Iterator[slice]:
        """Cut ``some`` of them, in this order, into runs of at most ``room`` bytes, or of one."""
        ends = offsets_of(self.each[some])
        return cut([ends, np.arange(len(ends))], [room, MAX_PAIRS_PER_DISPATCH])


def runs(
    lengths: Int64,
    too_much: Callable[..., Bool],
    most: int = MAX_PAIRS_PER_DISPATCH,
) -> Iterator[slice]:
    """Cut pairs, in this order, into runs whose tables are all as large as the largest one.

    Parameters
    ----------
    lengths : ndarray of int64, shape (N, 2)
        Of queries and targets.
    too_much : callable
        Is given a slice, and of each run from its start to one of its places the number of pairs
        and the two longest lengths; tells which are too much. One pair is always taken.
    most : int
        Pairs of a run.

    Examples
    --------
    >>> list(runs(np.array([[3, 2], [1, 2], [9, 9]]), lambda _, count, m, n: count * m * n > 12))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    start = 0
    while start < len(lengths):
        size, more = 8, True
        while more:
            size = min(8 * size, most, len(lengths) - start)
            some = slice(start, start + size)
            longest = np.maximum.accumulate(lengths[some])
            full = too_much(some, np.arange(1, size + 1), *longest.T)
            more = not full.any() and size < min(most, len(lengths) - start)
        stop = start + max(1, int(full.argmax()) if full.any() else size)
        yield slice(start, stop)
        start = stop
