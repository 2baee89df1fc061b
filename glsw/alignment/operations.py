"""The columns of alignments as operations: those of CIGAR, and the letters of MD."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

EQUAL, DIFFERENT, INSERTED, DELETED = range(4)
LETTERS = "=XID"
"""The letter of each kind of column in a CIGAR: equal, different, only in the query (``I``), only
in the target (``D``)."""

_MAX_LENGTH_KEPT = 2**10
_LETTER_BITS = 7

_Int64 = npt.NDArray[np.int64]


class _Cigars(dict[int, str]):
    """The text of an operation by ``length << 2 | kind``; those of small lengths are kept."""

    def __missing__(self, key: int) -> str:
        text = f"{key >> 2}{LETTERS[key & 3]}"
        if key >> 2 < _MAX_LENGTH_KEPT:
            self[key] = text
        return text


class _Mismatches(dict[int, str]):
    """The text of a column of MD by ``equal << 9 | kind << 7 | letter``.

    ``equal`` columns are before it; its kind is 0 if two letters differ, 1 if a deletion begins
    there, 2 if one goes on.
    """

    def __missing__(self, key: int) -> str:
        kind, letter = key >> _LETTER_BITS & 3, chr(key & 0x7F)
        equal = key >> _LETTER_BITS + 2
        text = letter if kind == 2 else f"{equal}{'^' * kind}{letter}"
        if equal < _MAX_LENGTH_KEPT:
            self[key] = text
        return text


_CIGARS, _MISMATCHES = _Cigars(), _Mismatches()


@dataclass(frozen=True, eq=False)
class Operations:
    """The columns of N alignments: equal, different, inserted or deleted.

    Parameters
    ----------
    columns : ndarray of uint8, shape (total,)
        The kind of each column, one alignment after the other.
    offsets : ndarray of int64, shape (N + 1,)
        The columns of alignment ``p`` are those from ``offsets[p]`` to ``offsets[p + 1]``.

    Examples
    --------
    >>> kinds = np.array([EQUAL, EQUAL, INSERTED, DIFFERENT, EQUAL, EQUAL], np.uint8)
    >>> operations = Operations.of(kinds, np.array([5, 1]))
    >>> operations.cigars(), operations.equal.tolist()
    (['2=1I1X1=', '1='], [3, 1])
    >>> operations.mismatches(np.frombuffer(b"ACTGA", np.uint8))
    ['2T1', '1']
    """

    columns: npt.NDArray[np.uint8]
    offsets: _Int64

    @staticmethod
    def of(columns: npt.NDArray[np.uint8], counts: _Int64) -> Operations:
        """Return the operations of alignments with that many columns."""
        return Operations(columns, np.append(0, np.cumsum(counts)))

    @property
    def equal(self) -> _Int64:
        """Equal columns of each alignment, shape (N,)."""
        sums = np.append(0, np.cumsum(self.columns == EQUAL, dtype=np.int64))
        return np.diff(sums[self.offsets])

    def cigars(self) -> list[str]:
        """Return the CIGAR of each alignment."""
        at = np.flatnonzero(self._first)
        lengths = np.diff(np.append(at, len(self.columns)))
        keys = (lengths << 2 | self.columns[at]).tolist()
        texts = list(map(_CIGARS.__getitem__, keys))
        bounds = np.searchsorted(at, self.offsets).tolist()
        return ["".join(texts[start:stop]) for start, stop in pairwise(bounds)]

    def mismatches(self, target: npt.NDArray[np.uint8]) -> list[str]:
        """Return MD of SAM: letters of the target that differ, and the equal columns between.

        Parameters
        ----------
        target : ndarray of uint8
            The letters of the targets in all columns but inserted ones, ASCII.
        """
        in_target = self.columns != INSERTED
        columns = self.columns[in_target]
        offsets = np.append(0, np.cumsum(in_target))[self.offsets]
        events = np.flatnonzero(columns != EQUAL)
        bounds = np.searchsorted(events, offsets)
        before = np.append(-1, events)[:-1][: len(events)]
        some = np.diff(bounds) > 0
        before[bounds[:-1][some]] = offsets[:-1][some] - 1
        deleted = columns[events] == DELETED
        begins = self._first[in_target][events]
        kinds = np.where(deleted, np.where(begins, 1, 2), 0)
        equal = events - before - 1
        keys = (equal << 2 | kinds) << _LETTER_BITS | target[events]
        texts = list(map(_MISMATCHES.__getitem__, keys.tolist()))
        last = np.where(some, np.append(events, 0)[bounds[1:] - 1], offsets[:-1] - 1)
        ends = (offsets[1:] - last - 1).tolist()
        return [
            f"{''.join(texts[start:stop])}{end}"
            for (start, stop), end in zip(pairwise(bounds.tolist()), ends, strict=True)
        ]

    @cached_property
    def _first(self) -> npt.NDArray[np.bool_]:
        """The columns that are the first of their kind after others, or of an alignment."""
        first = np.append(True, self.columns[1:] != self.columns[:-1])[: len(self.columns)]
        first[self.offsets[:-1][np.diff(self.offsets) > 0]] = True
        return first
