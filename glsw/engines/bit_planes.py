"""Letters as words for engine ``bit_parallel``: bit planes of queries, targets in whole words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.sequences.encoded import Sequences, ranges

BITS = 32
"""Rows of a word."""
_LEAST_WINDOW, _LONGEST_QUERIES = 2**11, 16  # letters, and lengths of the longest query


class Strips(NamedTuple):
    """How queries are cut: ``strips`` strips, at most, of ``words`` words each."""

    strips: int
    words: int

    def strips_of(self, lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the strips of queries of these lengths."""
        strips: npt.NDArray[np.int64] = -(-lengths // (BITS * self.words))
        return strips


def bit_planes(
    queries: Sequences, which: npt.NDArray[np.integer], cut: Strips, planes: int, matching: int
) -> npt.NDArray[np.uint32]:
    """Return the letters of queries as bits: of each query, word and bit of a code, 32 rows.

    Words of no row come first, whole strips too; they, and letters that match none, have a further
    bit, if there are any.

    Parameters
    ----------
    queries : Sequences
    which : ndarray of int, shape (N,)
    cut : Strips
        Into which each of these is cut.
    planes : int
        Bits of a code.
    matching : int
        Codes from this one on match no letter, not even themselves.

    Returns
    -------
    ndarray of uint32, shape (N, strips * words, planes or planes + 1)

    Examples
    --------
    >>> queries = Sequences.of([np.array([2, 1, 3, 0], np.uint8)])
    >>> [[f"{word:b}" for word in bit_planes(queries, np.array([0]), Strips(1, 1), 2, 4)[0, 0]]]
    [['110', '101']]
    """
    lengths = queries.lengths[which]
    before = BITS * (cut.strips * cut.words - -(-lengths // BITS))
    rows = np.zeros((len(which), BITS * cut.strips * cut.words), np.uint8)
    place = np.arange(rows.shape[1])
    places = (each.tolist() for each in (before, queries.offsets[which], lengths))
    for row, at, first, length in zip(rows, *places, strict=True):
        row[at : at + length] = queries.residues[first : first + length]
    bits: list[npt.NDArray[Any]] = [rows >> p & 1 for p in range(planes)]
    if before.any() or int(queries.residues.max(initial=0)) >= matching:
        bits.append((place < before[:, None]) | (rows >= matching))
    packed = [np.packbits(each, axis=1, bitorder="little").view("<u4") for each in bits]
    return np.stack(packed, axis=2).astype(np.uint32, copy=False)


def first_words(targets: Sequences) -> npt.NDArray[np.int64]:
    """Return where each target begins, in words of four letters."""
    words = -(-targets.lengths // 4)
    first: npt.NDArray[np.int64] = np.cumsum(words) - words
    return first


def in_whole_words(targets: Sequences) -> npt.NDArray[np.uint8]:
    """Return the letters of targets, each of which begins a word of four letters.

    >>> in_whole_words(Sequences.of([np.array([7], np.uint8), np.array([8, 9], np.uint8)])).tolist()
    [7, 0, 0, 0, 8, 9, 0, 0]
    """
    if not (targets.lengths % 4).any():
        return targets.residues
    letters = np.zeros(4 * int((-(-targets.lengths // 4)).sum()), np.uint8)
    for at, target in zip((4 * first_words(targets)).tolist(), targets, strict=True):
        letters[at : at + len(target)] = target
    return letters


class Windows(NamedTuple):
    """Parts of targets, or whole ones.

    Attributes
    ----------
    owner : ndarray of int
        The target of each.
    start, columns : ndarray of int64
        Where it begins, a multiple of 4, and its letters.
    """

    owner: npt.NDArray[np.intp]
    start: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]

    def part(self, part: slice | npt.NDArray[np.intp]) -> Windows:
        """Return some of them, or in another order."""
        return Windows(*(each[part] for each in self))


def cut_windows(
    targets: npt.NDArray[np.intp], lengths: npt.NDArray[np.int64], longest: int = 0
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

    Examples
    --------
    >>> windows = cut_windows(np.array([5, 7]), np.array([3, 5000]), 10)
    >>> windows.owner.tolist(), windows.start.tolist(), windows.columns.tolist()
    ([7, 7, 5], [2028, 0, 0], [2972, 2048, 3])
    """
    step = max(_LEAST_WINDOW, _LONGEST_QUERIES * -(-longest // 4) * 4)
    overlap = -(-2 * longest // 4) * 4
    counts = np.where((lengths > 2 * step) & (longest > 0), lengths // step, 1)
    number, count = ranges(np.zeros_like(counts), counts), np.repeat(counts, counts)
    ends = np.repeat(lengths, counts)
    start = np.maximum(0, number * step - overlap)
    stop = np.where(number == count - 1, ends, (number + 1) * step)
    order = np.argsort(-(stop - start), kind="stable")
    return Windows(np.repeat(targets, counts)[order], start[order], (stop - start)[order])
