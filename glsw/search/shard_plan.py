"""The cut of a search into shards: by its inputs alone, into about as many cells each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences

MAX_SHARDS = 2**16
"""The most shards of a search."""
_NEARLY_EVEN = 1.1  # the largest shard compared with the mean


class Shard(NamedTuple):
    """A part of a search: these contexts of queries with these sorted sequences of the database."""

    number: int
    contexts: slice
    targets: slice

    def cells(self, contexts: Sequences, database: Database) -> int:
        """Return the cells of all pairs."""
        sides = (contexts.offsets, self.contexts), (database.offsets, self.targets)
        rows, columns = (int(offsets[part.stop] - offsets[part.start]) for offsets, part in sides)
        return rows * columns


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
    chosen: list[Shard] = []
    least = 0
    for parts in sorted({count // k for k in range(1, count + 1)}, reverse=True):
        made = _grid(contexts.offsets, database.offsets, count, parts)
        most = max(each.cells(contexts, database) for each in made)
        if not chosen or most * _NEARLY_EVEN < least:
            chosen, least = made, most
        if least * count <= _NEARLY_EVEN * whole:
            break
    return chosen


def _grid(
    contexts: npt.NDArray[np.int64], targets: npt.NDArray[np.int64], count: int, parts: int
) -> list[Shard]:
    """Cut sequences of these offsets: the targets into parts, the contexts into groups for each."""
    groups = [count * (k + 1) // parts - count * k // parts for k in range(parts)]
    made: list[Shard] = []
    for size, part in zip(groups, _even_slices(targets, groups), strict=True):
        for group in _even_slices(contexts, [1] * size):
            made.append(Shard(len(made) + 1, group, part))
    return made


def _even_slices(offsets: npt.NDArray[np.int64], weights: Sequence[int]) -> list[slice]:
    """Return slices of sequences whose residues are about in proportion to the weights.

    >>> _even_slices(np.array([0, 5, 9, 12, 14]), [1, 1])
    [slice(0, 2, None), slice(2, 4, None)]
    """
    sums = np.cumsum(weights[:-1]).tolist()
    total, all_weights = int(offsets[-1]), sum(weights)
    wanted = np.array([total * each // all_weights for each in sums], np.int64)
    after = np.searchsorted(offsets, wanted)
    before = np.maximum(after - 1, 0)
    nearer = np.where(wanted - offsets[before] < offsets[after] - wanted, before, after)
    bounds = [0, *nearer.tolist(), len(offsets) - 1]
    return [slice(start, stop) for start, stop in pairwise(bounds)]
