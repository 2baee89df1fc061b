"""How a search is cut into shards: by its inputs alone, with about as many cells each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count as numbers_from, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.sequences.tiles import Tile, even

MAX_SHARDS = 2**16
"""The most shards of a search."""
_Int64 = npt.NDArray[np.int64]
_NEARLY_EVEN = 1.1  # the largest shard compared with the mean


class Shard(NamedTuple):
    """A part of a search: these contexts of queries with these sorted sequences of the database."""

    number: int
    contexts: slice
    targets: slice

    def cells(self, contexts: Sequences, database: Database) -> int:
        """Return the cells of all pairs."""
        return Tile(self.contexts, self.targets).cells(contexts.offsets, database.offsets)


def plan(contexts: Sequences, database: Database, count: int) -> list[Shard]:
    """Cut a search into shards with about as many cells each.

    The database is cut into as many parts as it can be cut evenly, at most ``count``, and the
    contexts into groups for each part: a few long targets are shared by groups of queries.

    Parameters
    ----------
    contexts : Sequences
    database : Database
    count : int
        The number of shards; there may be empty ones.

    Returns
    -------
    list of Shard
        Each context meets each sequence in exactly one of them. It depends on lengths only.

    Examples
    --------
    >>> from glsw import PROTEIN, Record
    >>> queries = Sequences.of([np.zeros(10, np.uint8)] * 4)
    >>> some = Database.of([Record(str(k), "", "MKV") for k in range(6)], PROTEIN)
    >>> [(each.contexts, each.targets) for each in plan(queries, some, 2)]
    [(slice(0, 4, None), slice(0, 3, None)), (slice(0, 4, None), slice(3, 6, None))]
    >>> genome = Database.of([Record("chromosome", "", "MKV" * 100)], PROTEIN)
    >>> [(each.contexts, each.targets) for each in plan(queries, genome, 2)]
    [(slice(0, 2, None), slice(0, 1, None)), (slice(2, 4, None), slice(0, 1, None))]
    """
    if not 1 <= count <= MAX_SHARDS:
        raise ValueError(f"{count} shards: 1 to {MAX_SHARDS} expected")
    whole = len(contexts.residues) * database.residues
    offsets = contexts.offsets, database.offsets
    chosen, least = None, 0
    for parts in sorted({count // k for k in range(1, count + 1)}, reverse=True):
        grid = _Grid.of(*offsets, count, parts)
        most = grid.most(*offsets)
        if chosen is None or most * _NEARLY_EVEN < least:
            chosen, least = grid, most
        if least * count <= _NEARLY_EVEN * whole:
            break
    assert chosen
    return list(chosen.shards())


class _Grid(NamedTuple):
    """Targets cut into parts, and contexts into groups for each part, by their numbers.

    Parameters
    ----------
    sizes : ndarray of int64, shape (parts,)
        How many groups each part has.
    targets : ndarray of int64, shape (parts + 1,)
        Bounds of the parts.
    contexts : dict of int to ndarray of int64, shape (size + 1,)
        Bounds of so many groups.
    """

    sizes: _Int64
    targets: _Int64
    contexts: dict[int, _Int64]

    @classmethod
    def of(cls, contexts: _Int64, targets: _Int64, count: int, parts: int) -> _Grid:
        """Cut sequences of these offsets."""
        sizes = np.diff(count * np.arange(parts + 1) // parts)
        groups = {size: np.array(even(contexts, [1] * size)) for size in set(sizes.tolist())}
        return cls(sizes, np.array(even(targets, sizes)), groups)

    def most(self, contexts: _Int64, targets: _Int64) -> int:
        """Return the cells of the largest shard."""
        columns = np.diff(targets[self.targets])
        return max(
            int(np.diff(contexts[bounds]).max()) * int(columns[self.sizes == size].max())
            for size, bounds in self.contexts.items()
        )

    def shards(self) -> Iterator[Shard]:
        """Yield the shards."""
        numbers = numbers_from(1)
        for size, part in zip(self.sizes.tolist(), pairwise(self.targets.tolist()), strict=True):
            for group in pairwise(self.contexts[size].tolist()):
                yield Shard(next(numbers), slice(*group), slice(*part))
