"""Pairs of similar lengths in chunks, for engines that pad the tables of a chunk."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch


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
