"""Rectangles of the table of all pairs, cut by bounds or evenly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_Offsets = npt.NDArray[Any]
"""Where each of N things begins, and where the last one ends, shape (N + 1,)."""


class Tile(NamedTuple):
    """A rectangle of the table of all pairs: some queries and the targets that they meet."""

    queries: slice
    targets: slice

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of queries and targets."""
        return self.queries.stop - self.queries.start, self.targets.stop - self.targets.start

    def cells(self, queries: _Offsets, targets: _Offsets) -> int:
        """Return the cells of all pairs, given the offsets of all queries and all targets."""
        sides = (queries, self.queries), (targets, self.targets)
        rows, columns = (int(offsets[of.stop] - offsets[of.start]) for offsets, of in sides)
        return rows * columns

    def cut(self, queries: int) -> Iterator[Tile]:
        """Yield the same in tiles of at most so many queries."""
        start, stop = self.queries.start, self.queries.stop
        for first in range(start, stop, queries):
            yield Tile(slice(first, min(first + queries, stop)), self.targets)


def cut(
    offsets: Sequence[_Offsets], bounds: Sequence[float], within: slice = slice(None)
) -> Iterator[slice]:
    """Yield slices of things while the sums of their sizes are within bounds, or of one thing.

    Parameters
    ----------
    offsets : sequence of arrays, each of shape (N + 1,)
        Of the same things in each kind of size.
    bounds : sequence of number
        Of each kind.
    within : slice
        Of the things, of step 1.

    Examples
    --------
    >>> list(cut([np.array([0, 3, 4, 6, 15, 16])], [4]))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None), slice(4, 5, None)]
    """
    start, last, _ = within.indices(len(offsets[0]) - 1)
    while start < last:
        stop = last
        for each, bound in zip(offsets, bounds, strict=True):
            stop = min(stop, int(np.searchsorted(each, each[start] + bound, "right")) - 1)
        yield slice(start, stop := max(stop, start + 1))
        start = stop


def even(offsets: _Offsets, shares: npt.ArrayLike, within: slice = slice(None)) -> list[int]:
    """Return the bounds of slices of things whose sizes are about in proportion to some shares.

    Parameters
    ----------
    offsets : ndarray, shape (N + 1,)
    shares : array of int, shape (K,)
    within : slice
        Of the things, of step 1.

    Returns
    -------
    list of int
        K + 1 numbers of things, ascending; slices may be empty.

    Examples
    --------
    >>> even(np.array([0, 5, 9, 12, 14]), [1, 1])
    [0, 2, 4]
    """
    start, last, _ = within.indices(len(offsets) - 1)
    some = offsets[start : last + 1]
    total, sums = int(some[-1] - some[0]), np.cumsum(shares).tolist()
    wanted = np.array([int(some[0]) + total * each // sums[-1] for each in sums[:-1]], np.int64)
    after = np.searchsorted(some, wanted)
    before = np.maximum(after - 1, 0)
    nearer = np.where(wanted - some[before] < some[after] - wanted, before, after)
    return [start, *(start + nearer).tolist(), last]
