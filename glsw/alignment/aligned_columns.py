"""What the columns of many alignments are, counted and spelled for all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glsw.alignment.operations import DELETED, DIFFERENT, EQUAL, INSERTED, Operations
from glsw.alignment.paths import DIAGONAL, LEFT, UP, Runs

if TYPE_CHECKING:
    from glsw.scoring.scoring import Scoring

_MAX_COLUMNS_TOGETHER = 2**20

_Int64 = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.uint8]


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

    def aligned_codes(self, rows: slice) -> list[_Codes]:
        """Return the codes of the aligned parts of the queries of rows, and of the targets."""
        raise NotImplementedError

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
        """Columns with two letters that score above 0, shape (N,)."""
        return self._counts(self._positive)

    def _positive_columns(self) -> npt.NDArray[np.bool_]:
        """Tell which columns have two letters that score above 0, of all rows in turn."""
        found = np.repeat(self.runs.moves == DIAGONAL, self.runs.lengths)
        found[found] = self._positive(*self._paired_codes(slice(None)))
        return found

    def _positive(self, query: _Codes, target: _Codes) -> npt.NDArray[np.bool_]:
        matrix = self.scoring.letters.matrix
        good, size = (matrix > 0).ravel(), len(matrix)
        found: npt.NDArray[np.bool_] = good[query.astype(np.intp) * size + target]
        return found

    def chunks(self) -> Iterator[slice]:
        """Yield slices of rows with a bounded number of columns, or one row each."""
        ends, start = np.cumsum(self.columns), 0
        while start < len(self):
            before = ends[start] - self.columns[start]
            stop = int(np.searchsorted(ends, before + _MAX_COLUMNS_TOGETHER, "right"))
            yield slice(start, stop := max(stop, start + 1))
            start = stop

    def operations(self, rows: slice) -> Operations:
        """Return what the columns of rows are."""
        return self._operations(rows, self._paired_codes(rows))

    def cigars(self) -> list[str]:
        """Return the CIGAR of each alignment, see `Alignment.cigar`."""
        return [text for rows in self.chunks() for text in self.operations(rows).cigars()]

    def _operations(self, rows: slice, paired: list[_Codes], width: int = 1) -> Operations:
        """Return operations, given the letters of columns without gaps, ``width`` per column."""
        runs = self.runs.part(rows)
        kinds = np.empty(4, np.uint8)
        kinds[[LEFT, UP, DIAGONAL]] = DELETED, INSERTED, DIFFERENT
        lengths = runs.lengths * width
        columns = np.repeat(kinds[runs.moves], lengths)
        columns[columns == DIFFERENT] = np.where(np.equal(*paired), EQUAL, DIFFERENT)
        return Operations.of(columns, runs.total(lengths))

    def _paired_codes(self, rows: slice) -> list[_Codes]:
        """Return the codes of queries and of targets in the columns of rows without gaps."""
        return self._paired(self.runs.part(rows), self.aligned_codes(rows))

    @staticmethod
    def _paired(runs: Runs, residues: list[_Codes], width: int = 1) -> list[_Codes]:
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

    def _counts(self, counted: Callable[[_Codes, _Codes], npt.NDArray[np.bool_]]) -> _Int64:
        """Return how many pairs of residues of each alignment are counted."""
        found = np.zeros(len(self), np.int64)
        for rows in self.chunks():
            sums = np.append(0, np.cumsum(counted(*self._paired_codes(rows)), dtype=np.int64))
            found[rows] = np.diff(sums[np.append(0, np.cumsum(self._pairs[rows]))])
        return found
