"""Letters as words for engine ``bit_parallel``: bit planes of queries, targets in whole words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.arrays import Int64, Intp, Structured, UInt32
from glsw.cores import in_threads
from glsw.engines.windows import window_bounds
from glsw.sequences.encoded import Sequences, copy_ranges

BITS = 32
"""Rows of a word."""
SLOT = np.dtype([("query", np.uint32), ("target", np.uint32), ("columns", np.int32)])
"""A target, or a window of one, and its query."""
_CACHED = 2**20  # letters whose bit planes are computed at once


class Strips(NamedTuple):
    """How queries are cut: ``strips`` strips, at most, of ``words`` words each."""

    strips: int
    words: int

    def strips_of(self, lengths: Int64) -> Int64:
        """Return the strips of queries of these lengths."""
        strips: Int64 = -(-lengths // (BITS * self.words))
        return strips


def bit_planes(
    queries: Sequences, which: npt.NDArray[np.integer], cut: Strips, planes: int, matching: int
) -> UInt32:
    """Return the letters of queries as bits: of each query, word and bit of a code, 32 rows.

    Words of no row come first, whole strips too; they, and letters that match none, have a further
    bit, if there are any.

    Codes have ``planes`` bits; those from ``matching`` on match no letter, not even themselves. The
    shape is (N, strips * words, planes or planes + 1).

    Examples
    --------
    >>> queries = Sequences.of([np.array([2, 1, 3, 0], np.uint8)])
    >>> [[f"{word:b}" for word in bit_planes(queries, np.array([0]), Strips(1, 1), 2, 4)[0, 0]]]
    [['110', '101']]
    """
    words = cut.strips * cut.words
    before = BITS * (words - -(-queries.lengths[which] // BITS))
    further = before.any() or queries.code_bound >= matching
    found = np.empty((len(which), words, planes + further), np.uint32)
    place = np.arange(BITS * words)

    def put(part: slice) -> None:
        some, above = which[part], before[part]
        rows = np.zeros((len(some), len(place)), np.uint8)
        at = len(place) * np.arange(len(some)) + above
        first, lengths = queries.offsets[some], queries.lengths[some]
        copy_ranges(queries.residues, first, lengths, rows.reshape(-1), at)
        for p in range(planes + further):
            bits = rows & 1 << p if p < planes else (place < above[:, None]) | (rows >= matching)
            packed = np.packbits(bits.reshape(-1), bitorder="little")
            found[part, :, p] = packed.view("<u4").reshape(-1, words)

    step = max(1, _CACHED // len(place))
    in_threads(put, [slice(at, at + step) for at in range(0, len(which), step)])
    return found


class Windows(NamedTuple):
    """Parts of targets, or whole ones."""

    owner: Intp  # the target of each
    start: Int64  # where it begins, a multiple of 4
    columns: Int64  # its letters
    fresh: Int64  # of these, the letters that the window before does not have

    def part(self, part: slice | Intp) -> Windows:
        """Return some of them, or in another order."""
        return Windows(*(each[part] for each in self))


def cut_windows(
    targets: Intp,
    lengths: Int64,
    longest: int,
    least: int,
    similar: int = 0,
) -> Windows:
    """Return the windows of targets, the longest first.

    Parameters
    ----------
    targets : ndarray of int, shape (N,)
    lengths : ndarray of int64, shape (N,)
        Theirs, none 0.
    longest : int
        Letters of the longest query that is aligned with a part of them, 0 if targets are aligned
        as a whole. A part nearest to m letters has at most 2m: fewer than m edits are needed, for m
        suffice with no letter. So windows that overlap by 2m have all of them.
    least : int
        Letters of a window without its overlap, a multiple of 4.
    similar : int
        If no target has more letters than these, they stay in order.

    Examples
    --------
    >>> windows = cut_windows(np.array([5, 7]), np.array([3, 5000]), 10, 2048)
    >>> windows.owner.tolist(), windows.start.tolist(), windows.columns.tolist()
    ([7, 7, 7, 5], [0, 2048, 4096, 0], [2068, 2068, 904, 3])
    """
    if int(lengths.max(initial=0)) <= similar:
        return Windows(targets, np.zeros_like(lengths), lengths, lengths)
    overlap = -(-2 * longest // 4) * 4
    length = least + overlap if longest else int(lengths.max())
    first, start, stop = window_bounds(lengths, length, overlap)
    fresh = stop - start - np.where(start > 0, overlap, 0)
    windows = Windows(np.repeat(targets, np.diff(first)), start, stop - start, fresh)
    return windows.part(np.argsort(start - stop, kind="stable"))


@dataclass(frozen=True, eq=False)
class SlotTile:
    """Pairs that are computed together: each of some queries with each slot, or slots alone."""

    cut: Strips
    queries: npt.NDArray[np.integer]
    """Numbers of the queries; of rows, those with the most strips first."""
    slots: Structured
    """`SLOT`, the longest targets first; of slots alone, those whose queries have the most strips.
    Their queries count from the first one of a row."""
    rows: int  # the number of queries, or 1 if each slot has its own query
    fresh: Int64  # see `Windows`


def slots_of(windows: Windows, first: Int64, queries: npt.ArrayLike) -> Structured:
    """Return slots of windows of targets that begin at these words, and of queries of a tile."""
    slots = np.zeros(len(windows.columns), SLOT)
    slots["query"] = queries
    slots["target"] = first + windows.start // 4
    slots["columns"] = windows.columns
    return slots
