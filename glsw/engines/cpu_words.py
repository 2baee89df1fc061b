"""Pairs that probably overflow the 8 bits of engine ``cpu``: those that share many k-mers."""

from __future__ import annotations

import numpy as np

from glsw.arrays import Bool, Int64
from glsw.sequences.encoded import Sequences

_WORDS = 2**18  # that there may be
_RARE = 2**6  # a letter that is one of more is in no words
_NEVER = -(2**40)  # as a digit, which makes a number negative
_MANY = 8  # words in common


class Words:
    """The first and the last target that contains each k-mer.

    Words are so long that few sequences have many in common by chance.

    Examples
    --------
    >>> targets = np.random.default_rng(1).integers(0, 4, (3, 100)).astype(np.uint8)
    >>> queries = Sequences.of([targets[1][20:50], targets[2][::-1]])
    >>> Words(Sequences.of(targets)).alike(queries).tolist()
    [[False, True, False], [False, False, False]]
    """

    def __init__(self, targets: Sequences) -> None:
        self._lengths = targets.lengths
        counts = np.bincount(targets.residues, minlength=1)
        usual = np.flatnonzero(counts * _RARE > len(targets.residues))
        self._letters = max(2, len(usual))
        self._digits = np.full(2**8, _NEVER)
        self._digits[usual] = np.arange(len(usual))
        self._length = 1
        while self._letters ** (self._length + 1) <= _WORDS:
            self._length += 1
        owners, words = self._of(targets)
        self._first, self._last = np.full((2, _WORDS), -1, np.int32)
        self._first[words[::-1]], self._last[words] = owners[::-1], owners

    def _of(self, sequences: Sequences) -> tuple[Int64, Int64]:
        """Return where each word begins, and its number; some go on in the next sequence."""
        digits = self._digits[sequences.residues]
        words = np.zeros(max(0, len(digits) - self._length + 1), np.int64)
        for k in range(self._length):
            words *= self._letters
            words += digits[k : k + len(words)]
        owners = np.repeat(np.arange(len(sequences)), sequences.lengths)[: len(words)]
        return owners[words >= 0], words[words >= 0]

    def alike(self, queries: Sequences) -> Bool:
        """Tell which pairs share many k-mers, shape (queries, targets)."""
        owners, words = self._of(queries)
        first, last = self._first[words], self._last[words]
        shape = len(queries), len(self._lengths)
        counts = np.zeros(shape[0] * shape[1], np.int64)
        for targets, counted in ((first, first >= 0), (last, last > first)):
            pairs = owners[counted] * shape[1] + targets[counted]
            counts += np.bincount(pairs, minlength=len(counts))
        by_chance = np.outer(queries.lengths, self._lengths) / self._letters**self._length
        alike: Bool = counts.reshape(shape) > _MANY + 2 * by_chance
        return alike
