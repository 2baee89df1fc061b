"""The best alignments of many pairs, as arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glsw.alignment.aligned_columns import AlignedColumns
from glsw.alignment.alignment import Alignment
from glsw.alignment.optional import package
from glsw.alignment.paths import Runs
from glsw.scoring.scoring import Scoring
from glsw.sequences.collections import Collection
from glsw.sequences.encoded import ranges

if TYPE_CHECKING:
    import Bio.Align

_Int64 = npt.NDArray[np.int64]


class PairAlignments(AlignedColumns):
    """The best alignment of each of N pairs, as arrays; item ``k`` is an `Alignment`.

    Made by `glsw.align_pairs`. Positions count residues from 0, half-open; those of an empty
    alignment, with a score of 0, are equal.

    Parameters
    ----------
    scoring : Scoring
    queries, targets : Collection
        The sequences that were given.
    index : ndarray of int32, shape (N, 2)
        The query and the target of each pair.
    units : ndarray of int32, shape (N,)
        Scores in integer units of the scoring.
    runs : Runs
        The columns: per alignment where it starts, then runs of ``moves`` (1 a gap in the query, 2
        one in the target, 3 an aligned pair) and their ``lengths``, those of pair k from
        ``offsets[k]`` to ``offsets[k + 1]``.

    Examples
    --------
    >>> import glsw
    >>> found = glsw.align_pairs(["HEAGAWGHEE", "ACDEFG"], ["PAWHEAE", "ACDFG"])
    >>> found.score.tolist(), found.query_start.tolist(), found.query_end.tolist()
    ([17, 19], [4, 0], [10, 6])
    """

    def __init__(
        self,
        scoring: Scoring,
        queries: Collection,
        targets: Collection,
        index: npt.NDArray[np.int32],
        units: npt.NDArray[np.int32],
        runs: Runs,
    ) -> None:
        self.scoring, self.queries, self.targets = scoring, queries, targets
        self.index, self.units, self.runs = index, units, runs

    @cached_property
    def score(self) -> npt.NDArray[np.int32] | npt.NDArray[np.float64]:
        """In units of the matrix, float64 if it or the gap costs have decimals; shape (N,)."""
        return self.scoring.in_matrix_units(self.units)

    @property
    def query_start(self) -> _Int64:
        """First residue of each query, shape (N,)."""
        return self.runs.start[:, 0]

    @property
    def target_start(self) -> _Int64:
        """First residue of each target, shape (N,)."""
        return self.runs.start[:, 1]

    @property
    def query_end(self) -> _Int64:
        """Residue after the last of each query, shape (N,)."""
        return self._end[:, 0]

    @property
    def target_end(self) -> _Int64:
        """Residue after the last of each target, shape (N,)."""
        return self._end[:, 1]

    @property
    def identity(self) -> npt.NDArray[np.float64]:
        """Fraction of the columns that have equal letters; 0 for an empty alignment."""
        share: npt.NDArray[np.float64] = self.identities / np.maximum(1, self.columns)
        return share

    def cigar(self, k: int) -> str:
        """Return the CIGAR of alignment k, see `Alignment.cigar`."""
        k = self._row(k)
        return self.operations(slice(k, k + 1)).cigars()[0]

    def alignment(self, k: int) -> Bio.Align.Alignment:
        """Return alignment k as Biopython has it: the target is row 0, the query row 1."""
        return self[k].to_biopython()

    def __getitem__(self, k: int) -> Alignment:
        k = self._row(k)
        query, target = self.index[k].tolist()
        return Alignment(
            int(self.units[k]),
            self.queries.record(query),
            self.targets.record(target),
            self.runs.part(slice(k, k + 1)),
            self.scoring,
        )

    def __iter__(self) -> Iterator[Alignment]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} alignments of pairs>"

    def to_dataframe(self) -> Any:
        """Return a :class:`pandas.DataFrame` with a row per pair.

        Columns: query, target (names), score, query_start, query_end, target_start, target_end,
        columns, identities, gaps, cigar.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        return package("pandas", "to_dataframe").DataFrame(self._table())

    def to_arrow(self) -> Any:
        """Return the columns of `to_dataframe` as a :class:`pyarrow.Table`.

        Raises
        ------
        ModuleNotFoundError
            If pyarrow is not installed.
        """
        return package("pyarrow", "to_arrow").table(self._table())

    def aligned_codes(self, rows: slice) -> list[npt.NDArray[np.uint8]]:
        """Return the codes of the aligned parts of the queries of rows, and of the targets."""
        start, counts = self.runs.start[rows], self._end[rows] - self.runs.start[rows]
        codes = []
        for side, given in enumerate((self.queries.sequences, self.targets.sequences)):
            first = given.offsets[self.index[rows, side]] + start[:, side]
            codes.append(given.residues[ranges(first, counts[:, side])])
        return codes

    @cached_property
    def _end(self) -> _Int64:
        return self.runs.end

    def _row(self, k: int) -> int:
        k = operator.index(k)
        if not -len(self) <= k < len(self):
            raise IndexError(f"alignment {k} of {len(self)}")
        return k % len(self)

    def _table(self) -> dict[str, Any]:
        sides = zip(self.index.T.tolist(), (self.queries, self.targets), strict=True)
        query, target = ([given.name(k) for k in numbers] for numbers, given in sides)
        return {
            "query": query,
            "target": target,
            "score": self.score,
            "query_start": self.query_start,
            "query_end": self.query_end,
            "target_start": self.target_start,
            "target_end": self.target_end,
            "columns": self.columns,
            "identities": self.identities,
            "gaps": self.gaps,
            "cigar": self.cigars(),
        }
