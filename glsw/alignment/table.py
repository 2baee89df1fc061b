"""Alignments of many pairs as arrays: the hits of a search, or the pairs of a call."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from glsw.alignment.alignment import Alignment, alignment_of_row
from glsw.alignment.operations import AlignedColumns, Operations
from glsw.alignment.paths import Runs
from glsw.arrays import Codes
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import offsets_of, ranges
from glsw.sequences.named import NamedSequences
from glsw.sequences.query import Context, Shown
from glsw.sequences.records import EncodedRecord
from glsw.words import numbered, package

if TYPE_CHECKING:
    import Bio.Align
    from typing_extensions import Self

ValueT = TypeVar("ValueT")
TableT = TypeVar("TableT", bound="HitTable")

_MOST_TO_JOIN = 4  # times the aligned letters: sequences of this size are joined as a whole

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


def compete(first: Any, last: Any, other_first: Any, other_last: Any) -> Any:
    """Tell whether places on a query share more than half of the shorter: numbers, or arrays.

    >>> [bool(compete(1, 10, first, 15)) for first in (6, 5)]
    [False, True]
    """
    common = np.minimum(last, other_last) - np.maximum(first, other_first) + 1
    return 2 * common > np.minimum(last - first, other_last - other_first) + 1


@dataclass(frozen=True, eq=False)
class HitTable(AlignedColumns):
    """The hits of one query or of several and their alignments, a row each.

    A search makes a row for each hit, with its best score; then it has bits and E-values, then the
    alignment, and rows of further ones. The rows of a query follow each other, and those of a hit.

    Parameters
    ----------
    scoring : Scoring
    queries, targets : Shown
        The contexts of all queries, and the targets. Those that were translated have a frame.
    query, target : ndarray of int64, shape (N,)
        Their numbers.
    units : ndarray of int, shape (N,)
        The score in integer units of the scoring.
    bits, evalues : ndarray of float64, shape (N,)
        NaN if no statistics are known.
    rank : ndarray of int64, shape (N,)
        Of the hit, 1 for the best of the query.
    number : ndarray of int64, shape (N,)
        Of the alignment among those of its hit, 1 for the best.
    runs : Runs
        The columns of the alignments, N of them; none until they are aligned.
    hidden : ndarray of float64, shape (N,), optional
        The most bits that an alignment of the query can have that limits of the score or E-value
        keep from the table, NaN if nothing is known of them.
    beyond : ndarray of float64, shape (N,), optional
        The most bits that one can have beyond the number of hits or of alignments of a hit that is
        listed, minus infinity if there is none.
    further : ndarray of int8, shape (N,), optional
        Whether the hit has alignments that the table lacks, as good as the best one or with
        E-values up to 0.001: 1 if it has, 0 if not, -1 if nobody looked.
    """

    scoring: Scoring
    queries: Shown
    targets: Shown
    query: _Int64
    target: _Int64
    units: npt.NDArray[np.integer]
    bits: npt.NDArray[np.float64]
    evalues: npt.NDArray[np.float64]
    rank: _Int64
    number: _Int64
    runs: Runs
    hidden: npt.NDArray[np.float64] | None = None
    beyond: npt.NDArray[np.float64] | None = None
    further: npt.NDArray[np.int8] | None = None

    @staticmethod
    def of_scores(
        scoring: Scoring,
        queries: Shown,
        targets: Shown,
        query: _Int64,
        target: _Int64,
        units: npt.NDArray[np.integer],
    ) -> HitTable:
        """Return hits of which only the best scores are known; all have rank 1."""
        nothing, one = np.full(len(query), np.nan), np.ones(len(query), np.int64)
        given = scoring, queries, targets, query, target, units
        return HitTable(*given, nothing, nothing, one, one, Runs.nothing(len(query)))

    def select(self, rows: slice | _Int64 | npt.NDArray[np.bool_]) -> Self:
        """Return these rows: a slice of step 1, their numbers in any order, or which."""
        columns: dict[str, Any] = {name: each[rows] for name, each in self._columns.items()}
        return replace(self, **columns)

    _select = select

    @staticmethod
    def concatenated(parts: Sequence[TableT]) -> TableT:
        """Return the rows of all parts, one or more, which are of the same queries and targets."""
        columns: dict[str, Any] = {
            name: np.concatenate([part._columns[name] for part in parts])
            for name in parts[0]._columns
            if name != "runs"
        }
        return replace(parts[0], **columns, runs=Runs.concatenated([part.runs for part in parts]))

    @property
    def _columns(self) -> dict[str, Any]:
        """What has a value for each row, by name."""
        columns = {each.name: getattr(self, each.name) for each in fields(self)[3:]}
        return {name: column for name, column in columns.items() if column is not None}

    def made(self, make: Callable[[HitTable], ValueT]) -> ValueT:
        """Return the result of a function of all rows, which is called once."""
        if make not in self._made:
            self._made[make] = make(self)
        made: ValueT = self._made[make]
        return made

    @cached_property
    def _made(self) -> dict[Callable[[HitTable], Any], Any]:
        return {}

    def alignment(self, row: int) -> Alignment:
        """Return the alignment of a row."""
        query, target = self.queries[int(self.query[row])], self.targets[int(self.target[row])]
        records = query.record, target.record
        return alignment_of_row(self, row, int(self.units[row]), *records)

    # places

    @property
    def ends(self) -> _Int64:
        """Residues of query and target up to the last column, that included, shape (N, 2)."""
        return self._end

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

    @cached_property
    def sequence_lengths(self) -> _Int64:
        """Residues of the query, as it is searched, and the target of each row, shape (N, 2)."""
        sides = (self.queries, self.query), (self.targets, self.target)
        lengths = [[len(of[k].record.codes) for k in which.tolist()] for of, which in sides]
        return np.array(lengths, np.int64).T

    # letters

    def operations(self, rows: slice, *, of_letters: bool = False) -> Operations:
        """Return what the columns of rows are; ``of_letters`` compares each letter of a codon."""
        width = self.scoring.alphabet.width if of_letters else 1
        if width == 1:
            return super().operations(rows)
        decode = self.scoring.alphabet.decode
        texts = (decode(codes).encode("ascii") for codes in self.aligned_codes(rows))
        letters = [np.frombuffer(text, np.uint8) for text in texts]
        letters = self._paired(self.runs[rows], letters, width)
        return self._operations(rows, letters, width)

    def cigars(self, *, of_letters: bool = False) -> list[str]:
        """Return the CIGAR of each row, see `Alignment.cigar`."""
        chunks = (self.operations(rows, of_letters=of_letters) for rows in self.chunks())
        return [text for chunk in chunks for text in chunk.cigars()]

    def texts(self) -> list[tuple[str, str, str]]:
        """Return the rows of each alignment, see `Alignment.rows`."""
        return [some._texts[k] for some, k in map(self._block, range(len(self)))]

    def target_letters(self, rows: slice) -> npt.NDArray[np.uint8]:
        """Return the aligned letters of the targets of rows, one after the other: upper ASCII.

        A letter that is not ASCII is ``?``.
        """
        text = self._shown(rows)[1].upper().encode("ascii", "replace")
        return np.frombuffer(text, np.uint8)

    def _shown(self, rows: slice) -> list[str]:
        pieces: list[list[str]] = [[], []]
        for side, record, start, end in self._parts(rows):
            pieces[side].append(record.part(start, end))
        return ["".join(each) for each in pieces]

    def aligned_codes(self, rows: slice) -> list[Codes]:
        """Return the codes of the aligned parts of the queries of rows, and of the targets."""
        return [self._aligned(rows, side) for side in (0, 1)]

    def _aligned(self, rows: slice, side: int) -> Codes:
        """Return the codes of the aligned parts of the sequences of one side."""
        shown, numbers = ((self.queries, self.query), (self.targets, self.target))[side]
        start, stop = self.runs.start[rows, side], self.ends[rows, side]
        some, which = np.unique(numbers[rows], return_inverse=True)
        nothing = np.empty(0, np.uint8)
        codes = [nothing, *(shown[k].record.compared for k in some.tolist())]
        offsets = offsets_of([len(each) for each in codes[1:]])
        if offsets[-1] <= _MOST_TO_JOIN * (stop - start).sum():
            return np.concatenate(codes)[ranges(offsets[which] + start, stop - start)]
        parts = zip(which.tolist(), start.tolist(), stop.tolist(), strict=True)
        return np.concatenate([nothing, *(codes[1 + k][first:last] for k, first, last in parts)])

    def _parts(self, rows: slice) -> Iterator[tuple[int, EncodedRecord, int, int]]:
        """Yield for each row the aligned part of the query (0) and of the target (1)."""
        bounds = np.concatenate([self.runs.start[rows], self.ends[rows]], axis=1).tolist()
        which = zip(self.query[rows].tolist(), self.target[rows].tolist(), bounds, strict=True)
        for query, target, (first, start, last, end) in which:
            yield 0, self.queries[query].record, first, last
            yield 1, self.targets[target].record, start, end


class PairAlignments(AlignedColumns):
    """The best alignment of each of N pairs, as arrays; item ``k`` is an `Alignment`.

    Returned by `glsw.align_pairs`. Positions count residues from 0, ends are exclusive; an empty
    alignment, with score 0, ends where it starts.

    Parameters
    ----------
    scoring : Scoring
    queries, targets : NamedSequences
        The sequences as given.
    index : ndarray of int32, shape (N, 2)
        The query and the target of each pair.
    units : ndarray of int32, shape (N,)
        Scores in integer units of the scoring.
    runs : Runs
        The columns of the alignments: where each starts, and runs of ``moves`` (1 gap in the query,
        2 gap in the target, 3 aligned pair) with their ``lengths``; those of pair k are from
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
        queries: NamedSequences,
        targets: NamedSequences,
        index: npt.NDArray[np.int32],
        units: npt.NDArray[np.int32],
        runs: Runs,
    ) -> None:
        self.scoring, self.queries, self.targets = scoring, queries, targets
        self.index, self.units, self.runs = index, units, runs

    @cached_property
    def score(self) -> npt.NDArray[np.int32] | npt.NDArray[np.float64]:
        """Scores in units of the matrix, int32, or float64 with decimals; shape (N,)."""
        return self.scoring.in_matrix_units(self.units)

    @property
    def query_start(self) -> _Int64:
        """First aligned residue of each query, counted from 0, shape (N,)."""
        return self.runs.start[:, 0]

    @property
    def target_start(self) -> _Int64:
        """First aligned residue of each target, counted from 0, shape (N,)."""
        return self.runs.start[:, 1]

    @property
    def query_end(self) -> _Int64:
        """End of the aligned part of each query, exclusive, counted from 0, shape (N,)."""
        return self._end[:, 0]

    @property
    def target_end(self) -> _Int64:
        """End of the aligned part of each target, exclusive, counted from 0, shape (N,)."""
        return self._end[:, 1]

    @property
    def identity(self) -> npt.NDArray[np.float64]:
        """Fraction of columns with equal letters; 0 for an empty alignment."""
        share: npt.NDArray[np.float64] = self.identities / np.maximum(1, self.columns)
        return share

    @property
    def sequence_lengths(self) -> _Int64:
        """Residues of the query and the target of each pair, shape (N, 2)."""
        sides = zip(self.index.T, (self.queries, self.targets), strict=True)
        return np.stack([given.sequences.lengths[k] for k, given in sides], axis=1)

    def cigar(self, k: int) -> str:
        """Return the CIGAR of alignment k, see `Alignment.cigar`."""
        some, row = self._block(self._row(k))
        return some._cigars[row]

    def alignment(self, k: int) -> Bio.Align.Alignment:
        """Return alignment k as a Biopython alignment: the target is row 0, the query row 1."""
        return self[k].to_biopython()

    def __getitem__(self, k: int) -> Alignment:
        k = self._row(k)
        query, target = self.index[k].tolist()
        records = self.queries.record(query), self.targets.record(target)
        return alignment_of_row(self, k, int(self.units[k]), *records)

    def __iter__(self) -> Iterator[Alignment]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<{numbered(len(self), 'alignment')} of pairs>"

    def to_dataframe(self) -> Any:
        """Return a `pandas.DataFrame` with a row per pair.

        Columns: query, target (names), score, query_start, query_end, target_start, target_end,
        columns, identities, gaps, cigar.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        return package("pandas", "to_dataframe").DataFrame(self._table())

    def to_arrow(self) -> Any:
        """Return the columns of `to_dataframe` as a `pyarrow.Table`.

        Raises
        ------
        ModuleNotFoundError
            If pyarrow is not installed.
        """
        return package("pyarrow", "to_arrow").table(self._table())

    def _select(self, rows: slice) -> PairAlignments:
        chosen = self.index[rows], self.units[rows], self.runs[rows]
        return PairAlignments(self.scoring, self.queries, self.targets, *chosen)

    def _shown(self, rows: slice) -> list[str]:
        sides = zip((self.queries, self.targets), self.index[rows].T, strict=True)
        bounds = zip(self.runs.start[rows].T, self._end[rows].T, strict=True)
        return [
            "".join(
                given.record(k).part(start, end)
                for k, start, end in zip(*map(np.ndarray.tolist, (which, *of_side)), strict=True)
            )
            for (given, which), of_side in zip(sides, bounds, strict=True)
        ]

    def aligned_codes(self, rows: slice) -> list[Codes]:
        """Return the codes of the aligned parts of the queries of rows, and of the targets."""
        start, counts = self.runs.start[rows], self._end[rows] - self.runs.start[rows]
        codes = []
        for side, given in enumerate((self.queries, self.targets)):
            first = given.sequences.offsets[self.index[rows, side]] + start[:, side]
            codes.append(given.compared[ranges(first, counts[:, side])])
        return codes

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
