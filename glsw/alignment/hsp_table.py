"""High-scoring pairs of many queries as arrays: results are views of them, writers read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.aligned_columns import AlignedColumns
from glsw.alignment.alignment import Alignment
from glsw.alignment.operations import Operations
from glsw.alignment.paths import Runs
from glsw.scoring.scoring import Scoring
from glsw.sequences.query import Context, Shown
from glsw.sequences.records import EncodedRecord

_Int64 = npt.NDArray[np.int64]
_Places = tuple[_Int64, _Int64]


class Contexts(NamedTuple):
    """The contexts of sequences as arrays of int64, shape (N,), see `Context`."""

    strands: _Int64
    frames: _Int64
    lengths: _Int64

    @classmethod
    def of(cls, contexts: Mapping[int, Context], rows: _Int64) -> Contexts:
        """Return the arrays of the contexts that the rows name, each perhaps several times."""
        names = sorted(contexts)
        each = [(one.strand, one.frame, one.length) for one in map(contexts.__getitem__, names)]
        found = np.array(each, np.int64).reshape(-1, 3)
        return cls(*found[np.searchsorted(np.array(names, np.int64), rows)].T)


@dataclass(frozen=True, eq=False)
class HspTable(AlignedColumns):
    """The high-scoring pairs of one query or of several, a row each.

    The rows of a query follow each other, and those of a hit.

    Parameters
    ----------
    scoring : Scoring
    queries, targets : Shown
        The contexts of all queries, and the targets. Those that were translated have a frame.
    query, target : ndarray of int64, shape (N,)
        Their numbers.
    rank : ndarray of int64, shape (N,)
        Of the hit, 1 for the best of the query.
    number : ndarray of int64, shape (N,)
        Of the pair among those of its hit, 1 for the best.
    units : ndarray of int, shape (N,)
        The score in integer units of the scoring.
    bits, evalues : ndarray of float64, shape (N,)
        NaN if no statistics are known.
    runs : Runs
        The columns of the alignments, N of them.
    hidden : ndarray of float64, shape (N,), optional
        The most bits that an alignment of the query can have that limits of the score or E-value
        keep from the table, NaN if nothing is known of them.
    beyond : ndarray of float64, shape (N,), optional
        The most bits that one can have beyond the number of hits or of alignments of a hit that is
        listed, minus infinity if there is none.
    """

    scoring: Scoring
    queries: Shown
    targets: Shown
    query: _Int64
    target: _Int64
    rank: _Int64
    number: _Int64
    units: npt.NDArray[np.integer]
    bits: npt.NDArray[np.float64]
    evalues: npt.NDArray[np.float64]
    runs: Runs
    hidden: npt.NDArray[np.float64] | None = None
    beyond: npt.NDArray[np.float64] | None = None

    def part(self, rows: slice) -> HspTable:
        """Return a table of these rows."""
        return HspTable(
            self.scoring,
            self.queries,
            self.targets,
            self.query[rows],
            self.target[rows],
            self.rank[rows],
            self.number[rows],
            self.units[rows],
            self.bits[rows],
            self.evalues[rows],
            self.runs.part(rows),
            None if self.hidden is None else self.hidden[rows],
            None if self.beyond is None else self.beyond[rows],
        )

    def alignment(self, row: int) -> Alignment:
        """Return the alignment of a row."""
        query, target = self.queries[int(self.query[row])], self.targets[int(self.target[row])]
        runs = self.runs.part(slice(row, row + 1))
        return Alignment(int(self.units[row]), query.record, target.record, runs, self.scoring)

    # places

    @cached_property
    def ends(self) -> _Int64:
        """Residues of query and target up to the last column, that included, shape (N, 2)."""
        return self.runs.end

    @cached_property
    def query_places(self) -> _Places:
        """First and last letter of the query as given, counted from 1, see `Context.place`."""
        return self._places(0, self.query_contexts)

    @cached_property
    def target_places(self) -> _Places:
        """First and last letter of the target as given, likewise."""
        return self._places(1, self.target_contexts)

    @cached_property
    def query_contexts(self) -> Contexts:
        """Strand, frame and length of the query of each row."""
        return Contexts.of(
            {k: self.queries[k].context for k in set(self.query.tolist())}, self.query
        )

    @cached_property
    def target_contexts(self) -> Contexts:
        """Strand, frame and length of the target of each row."""
        some = set(self.target.tolist())
        return Contexts.of({k: self.targets[k].context for k in some}, self.target)

    def _places(self, side: int, contexts: Contexts) -> _Places:
        start, end = self.runs.start[:, side], self.ends[:, side]
        shift, step = np.maximum(abs(contexts.frames) - 1, 0), np.where(contexts.frames, 3, 1)
        start, end, length = shift + step * start, shift + step * end, contexts.lengths
        minus = contexts.strands < 0
        return np.where(minus, length - start, start + 1), np.where(minus, length - end + 1, end)

    # letters

    def operations(self, rows: slice, *, of_letters: bool = False) -> Operations:
        """Return what the columns of rows are; ``of_letters`` compares each letter of a codon."""
        width = self.scoring.alphabet.width if of_letters else 1
        if width == 1:
            return super().operations(rows)
        letters = self._paired(self.runs.part(rows), self._letters(rows), width)
        return self._operations(rows, letters, width)

    def cigars(self, *, of_letters: bool = False) -> list[str]:
        """Return the CIGAR of each row, see `Alignment.cigar`."""
        chunks = (self.operations(rows, of_letters=of_letters) for rows in self.chunks())
        return [text for chunk in chunks for text in chunk.cigars()]

    def target_letters(self, rows: slice) -> npt.NDArray[np.uint8]:
        """Return the aligned letters of the targets of rows, one after the other: upper ASCII.

        A letter that is not ASCII is ``?``.
        """
        return self._letters(rows)[1]

    def _letters(self, rows: slice) -> list[npt.NDArray[np.uint8]]:
        pieces: list[list[str]] = [[], []]
        for side, record, start, end in self._parts(rows):
            pieces[side].append(record.part(start, end))
        texts = ("".join(each).upper().encode("ascii", "replace") for each in pieces)
        return [np.frombuffer(text, np.uint8) for text in texts]

    def aligned_codes(self, rows: slice) -> list[npt.NDArray[np.uint8]]:
        """Return the codes of the aligned parts of the queries of rows, and of the targets."""
        pieces: list[list[npt.NDArray[np.uint8]]] = [[], []]
        for side, record, start, end in self._parts(rows):
            pieces[side].append(record.codes[start:end])
        return [np.concatenate([*each, np.empty(0, np.uint8)]) for each in pieces]

    def _parts(self, rows: slice) -> Iterator[tuple[int, EncodedRecord, int, int]]:
        """Yield for each row the aligned part of the query (0) and of the target (1)."""
        bounds = np.concatenate([self.runs.start[rows], self.ends[rows]], axis=1).tolist()
        which = zip(self.query[rows].tolist(), self.target[rows].tolist(), bounds, strict=True)
        for query, target, (first, start, last, end) in which:
            yield 0, self.queries[query].record, first, last
            yield 1, self.targets[target].record, start, end
