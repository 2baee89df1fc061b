"""Columns of many alignments at once: counts, CIGAR strings, and SAM's MD tags."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from glsw.alignment.paths import DIAGONAL, LEFT, UP, Runs
from glsw.arrays import Codes
from glsw.sequences.encoded import offsets_of
from glsw.sequences.tiles import cut
from glsw.words import one_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from glsw.scoring.scoring import Scoring

EQUAL, DIFFERENT, INSERTED, DELETED = range(4)
Over = Literal["columns", "inner", "pairs", "shorter", "longer", "query", "target"]
"""What identical columns are divided by."""
Covered = Literal["query", "target", "both"]
"""What an alignment covers a part of."""

LETTERS = "=XID"
"""The letter of each kind of column in a CIGAR: equal, different, only in the query (``I``), only
in the target (``D``)."""

_MAX_LENGTH_KEPT = 2**10
_LETTER_BITS = 7
_MAX_COLUMNS_TOGETHER = 2**20
_COLUMNS_OF_BLOCK = 2**15
_MARKS = np.frombuffer(b"|.  ", np.uint8)
"""The mark between the letters of each kind of column."""

_Int64 = npt.NDArray[np.int64]
Counted = Callable[[Codes, Codes], npt.NDArray[np.bool_]]
"""Tells which pairs of residues, of queries and of targets, are counted."""


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
        """Return SAM's MD tags: mismatched target letters, and the numbers of matches between them.

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


class AlignedColumns:
    """Base of tables of N alignments: their columns, counted.

    Attributes
    ----------
    scoring : Scoring
    runs : Runs
        The columns of the alignments, N of them.
    """

    scoring: Scoring
    runs: Runs

    def __len__(self) -> int:
        return len(self.runs)

    def __getstate__(self) -> dict[str, Any]:
        return given(self)

    def aligned_codes(self, rows: slice) -> list[Codes]:
        """Return the codes of the aligned parts of the queries of rows, and of the targets.

        They are equal where letters are, see `Alphabet.compared`.
        """
        raise NotImplementedError

    def _shown(self, rows: slice) -> list[str]:
        """Return the letters of the aligned parts of the queries of rows, and of the targets."""
        raise NotImplementedError

    def _select(self, rows: slice) -> Self:
        """Return the rows of a slice of step 1."""
        raise NotImplementedError

    def _block(self, row: int) -> tuple[Self, int]:
        """Return some rows with a bounded number of columns, or one, and which of them is a row.

        What is counted and spelled of all of them at once is shared by alignments that are objects.
        """
        number = bisect_right(self._bounds, row) - 1
        if number not in self._blocks:
            self._blocks[number] = self._select(slice(*self._bounds[number : number + 2]))
        return self._blocks[number], row - self._bounds[number]

    @cached_property
    def _bounds(self) -> list[int]:
        blocks = cut([offsets_of(self.columns)], [_COLUMNS_OF_BLOCK])
        return [*(rows.start for rows in blocks), len(self)]

    @cached_property
    def _blocks(self) -> dict[int, Self]:
        return {}

    @cached_property
    def _end(self) -> _Int64:
        return self.runs.end

    @cached_property
    def columns(self) -> _Int64:
        """Aligned pairs and residues opposite gaps, shape (N,)."""
        return self.runs.columns

    @cached_property
    def gaps(self) -> _Int64:
        """Columns with a gap, shape (N,)."""
        return self.columns - self._pairs

    @cached_property
    def gap_opens(self) -> _Int64:
        """Gaps of any length, shape (N,)."""
        return self.runs.total(self.runs.moves != DIAGONAL)

    @cached_property
    def identities(self) -> _Int64:
        """Columns with equal letters, see `Alignment.identities`, shape (N,)."""
        return self._counts(np.equal)

    @cached_property
    def positives(self) -> _Int64:
        """Columns with two letters that score above 0, masked or not, shape (N,)."""
        return self._counts(self._positive)

    @property
    def sequence_lengths(self) -> _Int64:
        """Residues of the query and the target of each alignment, shape (N, 2)."""
        raise NotImplementedError

    def identity_over(self, over: Over = "columns") -> npt.NDArray[np.float64]:
        """Return the identity by a definition, see `Alignment.identity_over`, shape (N,)."""
        one_of("over", over, get_args(Over))
        if over == "pairs":
            length = self._pairs
        elif over in ("columns", "inner"):
            length = (self._inner if over == "inner" else self.runs).columns
        elif over in ("query", "target"):
            length = self.sequence_lengths[:, int(over == "target")]
        else:
            length = (np.min if over == "shorter" else np.max)(self.sequence_lengths, axis=1)
        share: npt.NDArray[np.float64] = self.identities / np.maximum(1, length)
        return share

    def coverage(self, of: Covered = "query") -> npt.NDArray[np.float64]:
        """Return the part that is covered, see `Alignment.coverage`, shape (N,)."""
        one_of("of", of, get_args(Covered))
        share = self._inner.residues / np.maximum(1, self.sequence_lengths)
        found: npt.NDArray[np.float64]
        found = share.min(axis=1) if of == "both" else share[:, int(of == "target")]
        return found

    @cached_property
    def _inner(self) -> Runs:
        return self.runs.without_end_gaps()

    def _positive_columns(self) -> npt.NDArray[np.bool_]:
        """Tell which columns have two letters that score above 0, of all rows in turn."""
        found = np.repeat(self.runs.moves == DIAGONAL, self.runs.lengths)
        found[found] = self._positive(*self._paired_codes(slice(None)))
        return found

    def _positive(self, query: Codes, target: Codes) -> npt.NDArray[np.bool_]:
        scored = self.scoring.alphabet.scored
        good = (self.scoring.letters.matrix > 0)[np.ix_(scored, scored)]
        found: npt.NDArray[np.bool_] = good.ravel()[query.astype(np.intp) * len(good) + target]
        return found

    def chunks(self) -> Iterator[slice]:
        """Yield slices of rows with a bounded number of columns, or one row each."""
        return cut([offsets_of(self.columns)], [_MAX_COLUMNS_TOGETHER])

    def operations(self, rows: slice) -> Operations:
        """Return what the columns of rows are."""
        return self._operations(rows, self._paired_codes(rows))

    def cigars(self) -> list[str]:
        """Return the CIGAR of each alignment, see `Alignment.cigar`."""
        return [text for rows in self.chunks() for text in self.operations(rows).cigars()]

    @cached_property
    def _cigars(self) -> list[str]:
        return self.cigars()

    @cached_property
    def _texts(self) -> list[tuple[str, str, str]]:
        """The rows of each alignment, see `Alignment.rows`."""
        width, every = self.scoring.alphabet.width, slice(None)
        marks = _MARKS[self.operations(every).columns]
        marks[(marks == ord(".")) & self._positive_columns()] = ord(":")
        between, shown = marks.repeat(width).tobytes().decode("ascii"), []
        for letters, gap in zip(self._shown(every), (LEFT, UP), strict=True):
            row = np.full(len(between), ord("-"), "<u4")
            inside = np.repeat(self.runs.moves != gap, width * self.runs.lengths)
            row[inside] = np.frombuffer(letters.encode("utf-32-le", "surrogatepass"), "<u4")
            shown.append(row.tobytes().decode("utf-32-le", "surrogatepass"))
        query, target = shown
        bounds = (width * offsets_of(self.columns)).tolist()
        return [(query[a:b], between[a:b], target[a:b]) for a, b in pairwise(bounds)]

    def _operations(self, rows: slice, paired: list[Codes], width: int = 1) -> Operations:
        """Return operations, given the letters of columns without gaps, ``width`` per column."""
        runs = self.runs[rows]
        kinds = np.empty(4, np.uint8)
        kinds[[LEFT, UP, DIAGONAL]] = DELETED, INSERTED, DIFFERENT
        lengths = runs.lengths * width
        columns = np.repeat(kinds[runs.moves], lengths)
        columns[columns == DIFFERENT] = np.where(np.equal(*paired), EQUAL, DIFFERENT)
        return Operations.of(columns, runs.total(lengths))

    def _paired_codes(self, rows: slice) -> list[Codes]:
        """Return the codes of queries and of targets in the columns of rows without gaps."""
        return self._paired(self.runs[rows], self.aligned_codes(rows))

    @staticmethod
    def _paired(runs: Runs, residues: list[Codes], width: int = 1) -> list[Codes]:
        """Return the residues that are not opposite a gap, of queries and of targets."""
        paired = runs.moves == DIAGONAL
        kept = []
        for letters, gap in zip(residues, (LEFT, UP), strict=True):
            inside = runs.moves != gap
            kept.append(letters[np.repeat(paired[inside], width * runs.lengths[inside])])
        return kept

    @cached_property
    def _pairs(self) -> _Int64:
        """Columns without a gap."""
        return self.runs.total(self.runs.lengths * (self.runs.moves == DIAGONAL))

    def _counts(self, counted: Counted) -> _Int64:
        """Return how many pairs of residues of each alignment are counted."""
        found = np.zeros(len(self), np.int64)
        for rows in self.chunks():
            paired = self._paired_codes(rows)
            sums = np.append(0, np.cumsum(counted(*paired), dtype=np.int64))
            found[rows] = np.diff(sums[np.append(0, np.cumsum(self._pairs[rows]))])
        return found


def given(made: object) -> dict[str, Any]:
    """Return the attributes of an object to pickle: those it was made of, none cached."""
    attributes = vars(made).items()
    return {
        k: v for k, v in attributes if not isinstance(getattr(type(made), k, 0), cached_property)
    }
