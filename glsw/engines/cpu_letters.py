"""Sequences and matrices in the encoding of the library parasail, for engine ``cpu``.

A residue is forbidden for another one by letters of its own for both.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from glsw.arrays import Codes, Int64
from glsw.engines.parasail_calls import Matrix
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import distinct

LETTERS = bytes(letter for letter in range(1, 256) if letter != ord("*"))
"""The library's letters of codes; its own is ``*``."""

NEVER, _NEVER_16 = -(2**29), -(2**14)
"""Scores of forbidden pairs in 32 and 16 bits; the other numbers are smaller."""

Places: TypeAlias = Int64
"""Rows and columns of pairs of residues, shape (2, pairs)."""

_LETTERS_OF_CODES = LETTERS.ljust(256)
_CODES_OF_LETTERS = np.array([max(0, LETTERS.find(each)) for each in range(256)])


def text_of(codes: Codes) -> bytes:
    """Return codes in the library's letters."""
    return codes.tobytes().translate(_LETTERS_OF_CODES)


class Matrices:
    """Scores of letters, as the library has them in 16 or 32 bits; made when they are needed.

    Parameters
    ----------
    scores : ndarray of int64, shape (letters, letters)
        Of letters of the query with those of the target; `NEVER` where they are forbidden.
    """

    def __init__(self, scores: Int64) -> None:
        self.scores = scores
        self._made: dict[tuple[int, int, bool], Matrix] = {}

    @cached_property
    def listed(self) -> list[list[int]]:
        """The scores of letters by their numbers as characters."""
        codes = _CODES_OF_LETTERS[: LETTERS[len(self.scores) - 1] + 1]
        listed: list[list[int]] = self.scores[np.ix_(codes, codes)].tolist()
        return listed

    def matrix(self, bits: int = 32, factor: int = 1, *, swapped: bool = False) -> Matrix:
        """Return the library's matrix; with a factor, all scores times it, and 2 more."""
        key = bits, factor, swapped
        if key not in self._made:
            scores = self.scores if factor == 1 else self.scores * factor + 2
            scores = np.where(self.scores == NEVER, _NEVER_16 if bits == 16 else NEVER, scores)
            self._made[key] = Matrix(LETTERS[: len(scores)], scores.T if swapped else scores)
        return self._made[key]


class Texts(NamedTuple):
    """A pair of sequences as the library's letters."""

    query: bytes
    target: bytes
    matrices: Matrices  # the scores of these letters


class Lettering:
    """How pairs become letters: those of one scoring."""

    def __init__(self, scoring: Scoring) -> None:
        self._scores = scoring.matrix.astype(np.int64)
        scores = np.tile(self._scores, (2, 2))  # a second letter for each, for a forbidden pair
        scores[len(self._scores) :, len(self._scores) :] = NEVER
        self.plain = Matrices(self._scores)
        self._twice = Matrices(scores)

    def texts(self, query: Codes, target: Codes, forbidden: Places | None = None) -> Texts:
        """Return a pair, of which some pairs of residues may be forbidden."""
        if forbidden is None or not forbidden.shape[1]:
            return Texts(text_of(query), text_of(target), self.plain)
        own = [distinct(each) for each in forbidden]  # residues that get a letter of their own
        if forbidden.shape[1] == 1 and 2 * len(self._scores) <= len(LETTERS):
            letters = [
                len(self._scores) + each[k] for each, k in zip((query, target), own, strict=True)
            ]
            matrices = self._twice
        else:
            letters = [len(self._scores) + np.arange(len(each)) for each in own]
            matrices = self._with_own(query, target, forbidden, own)
        query, target = query.copy(), target.copy()
        query[own[0]], target[own[1]] = letters
        return Texts(text_of(query), text_of(target), matrices)

    def can_forbid(self, forbidden: Places) -> bool:
        """Tell whether there are letters for these pairs."""
        own = max(len(distinct(each)) for each in forbidden)
        return len(self._scores) + own <= len(LETTERS)

    def _with_own(
        self, query: Codes, target: Codes, forbidden: Places, own: list[Int64]
    ) -> Matrices:
        first, last = len(self._scores), len(self._scores) + max(map(len, own))
        like = np.zeros((2, last), np.intp)  # the codes of letters
        like[:, :first] = np.arange(first)
        for side, codes, each in zip(like, (query, target), own, strict=True):
            side[first:][: len(each)] = codes[each]
        scores = self._scores[np.ix_(*like)]
        letters = [np.searchsorted(*each) for each in zip(own, forbidden, strict=True)]
        scores[first + letters[0], first + letters[1]] = NEVER
        return Matrices(scores)
