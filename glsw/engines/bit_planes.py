"""Letters as words for engine ``bit_parallel``: bit planes of queries, targets in whole words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.sequences.encoded import Sequences, ranges

BITS = 32
"""Rows of a word."""


class Strips(NamedTuple):
    """How queries are cut: ``strips`` strips of ``words`` words each."""

    strips: int
    words: int


def bit_planes(
    queries: Sequences, which: npt.NDArray[np.integer], cut: Strips, planes: int, matching: int
) -> npt.NDArray[np.uint32]:
    """Return the letters of queries as bits: of each query, word and bit of a code, 32 rows.

    Words of no row come first; they, and letters that match none, have a further bit, if there are
    any.

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
    inside = (place >= before[:, None]) & (place < (before + lengths)[:, None])
    rows[inside] = queries.residues[ranges(queries.offsets[which], lengths)]
    bits: list[npt.NDArray[Any]] = [rows >> p & 1 for p in range(planes)]
    if before.any() or int(queries.residues.max(initial=0)) >= matching:
        bits.append((place < before[:, None]) | (rows >= matching))
    packed = [np.packbits(each, axis=1, bitorder="little").view("<u4") for each in bits]
    return np.stack(packed, axis=2).astype(np.uint32, copy=False)


def first_words(targets: Sequences) -> npt.NDArray[np.int64]:
    """Return where each target begins, and the last one ends, in words of four letters."""
    words = np.zeros(len(targets) + 1, np.int64)
    np.cumsum(-(-targets.lengths // 4), out=words[1:])
    return words


def in_whole_words(targets: Sequences) -> npt.NDArray[np.uint8]:
    """Return the letters of targets, each of which begins a word of four letters.

    >>> in_whole_words(Sequences.of([np.array([7], np.uint8), np.array([8, 9], np.uint8)])).tolist()
    [7, 0, 0, 0, 8, 9, 0, 0]
    """
    if not (targets.lengths % 4).any():
        return targets.residues
    words = first_words(targets)
    letters = np.zeros(4 * int(words[-1]), np.uint8)
    letters[ranges(4 * words[:-1], targets.lengths)] = targets.residues
    return letters
