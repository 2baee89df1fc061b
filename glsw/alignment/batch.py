"""Batches: pairs or triples of encoded sequences that an engine aligns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain, combinations, pairwise
from math import prod
from typing import Literal

import numpy as np
import numpy.typing as npt

from glsw.alignment.paths import Runs
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.encoded import Sequences, _check_array, distinct, offsets_of, ranges, run_or_all
from glsw.sequences.tiles import even

_MANY = 2**13  # pairs or triples whose lengths just fit a cache
_FEW = 64  # sequences for each pair, of which it takes longer to mark those that are used
_GOLDEN = (5**0.5 - 1) / 2  # of which multiples are spread evenly, in no period
_OF_PAIR = np.zeros((1, 2), np.int32)
_OF_PAIR.setflags(write=False)


@dataclass(frozen=True, eq=False)
class Batch:
    """N pairs, or N triples, of encoded sequences to align.

    Alignment ``p`` aligns the k sequences ``sequences[r][index[p, r]]``: for pairs (k = 2) a query
    and a target, for triples (k = 3) the first, second and third sequence. `pairwise`,
    `one_to_many`, `of_pair` and `indexed` create pairs, `of` and `combinations` pairs or triples.

    Parameters
    ----------
    sequences : tuple of k Sequences
        For pairs, the queries and the targets; all k may be the same object. A sequence may occur
        in any number of pairs or triples.
    index : ndarray of int32, shape (N, k)
        Which of them are aligned with each other.
    masks : Masks, optional
        Residues of each pair that may not be aligned with each other; for pairs only.

    Raises
    ------
    TypeError
        If ``index`` is not an array of int32.
    ValueError
        If the shape of ``index`` is wrong, an index is out of range, or masks do not fit.

    Notes
    -----
    Engines compute the pairs of a batch together, which on a GPU is much faster than one by one. A
    batch contains codes, i.e. the positions of letters in an alphabet such as ``glsw.DNA.letters``.

    To score N pairs from two NumPy arrays:

    1. Choose a scoring; ``scoring.alphabet`` defines the codes of letters.
    2. Encode the sequences. Arrays of uint8 codes, shape (N, m) and (N, n), can be used directly.
       Encode arrays of text, dtype ``S`` or ``U``, with ``scoring.alphabet.encode``, one sequence
       at a time.
    3. Put each side into `glsw.Sequences`, and both into a batch.
    4. Pass the batch to `glsw.Aligner.score`, or to `glsw.Aligner.ends` to find where alignments
       end.

    >>> import numpy as np
    >>> import glsw
    >>> scoring = glsw.Scoring.match_mismatch(2, -3, gap_open=5, gap_extend=2)
    >>> rng = np.random.default_rng(1)
    >>> queries = rng.integers(0, 4, (100, 24), np.uint8)  # of A, C, G, T; or 10_000
    >>> targets = queries.copy()
    >>> targets[:, 12] = (targets[:, 12] + 1) % 4  # another letter in the middle of each
    >>> sides = glsw.Sequences.of(queries), glsw.Sequences.of(targets)
    >>> batch = glsw.Batch.pairwise(*sides)
    >>> aligner = glsw.Aligner(scoring, engine="reference")
    >>> scores = aligner.score(batch)  # shape (100,), int32
    >>> scores.min(), scores.shape, scores.dtype
    (np.int32(43), (100,), dtype('int32'))
    >>> aligner.ends(batch).query_end[:3]
    array([24, 24, 24], dtype=int32)

    The same from arrays of text:

    >>> words = np.array([b"ACGTT", b"GGATC"]), np.array([b"ACTT", b"GATC"])
    >>> encode = scoring.alphabet.encode
    >>> batch = glsw.Batch.pairwise(*([encode(word) for word in side.tolist()] for side in words))
    >>> aligner.score(batch)
    array([4, 8], dtype=int32)

    Sequences of different lengths are stored in one `glsw.Sequences`: all codes in one array, and
    where each sequence begins. ``index`` lists the pairs, here the first query with both targets
    and the second with the first:

    >>> queries = glsw.Sequences(np.array([0, 1, 2, 3, 2, 2, 0], np.uint8), np.array([0, 4, 7]))
    >>> targets = glsw.Sequences.of([encode("ACG"), encode("GGA")])
    >>> pairs = np.array([[0, 0], [0, 1], [1, 0]], np.int32)
    >>> aligner.score(glsw.Batch((queries, targets), pairs)).tolist()
    [6, 2, 2]

    Examples
    --------
    >>> import numpy as np
    >>> query = np.array([0, 1, 2], np.uint8)
    >>> batch = Batch.one_to_many(query, [query[:2], query[1:], query])
    >>> len(batch), batch.cells, batch.lengths.tolist()
    (3, 21, [[3, 2], [3, 2], [3, 3]])
    >>> batch.select([2]).cells
    9
    """

    sequences: tuple[Sequences, ...]
    index: npt.NDArray[np.int32]
    masks: Masks | None = None

    def __post_init__(self) -> None:
        index, k = self.index, len(self.sequences)
        if not isinstance(index, np.ndarray) or index.dtype != np.int32:
            kind = index.dtype if isinstance(index, np.ndarray) else type(index).__name__
            raise TypeError(f"index must be an array of int32, got {kind}")
        if index.ndim != 2 or index.shape[1] != k:
            raise ValueError(f"index must have the shape (N, {k}), got {index.shape}")
        for r, (column, sequences) in enumerate(zip(index.T, self.sequences, strict=True)):
            if not len(column):
                continue
            least = most = int(column[0])
            if len(column) > 1:
                least, most = column.min(), column.max()
            if not 0 <= least <= most < len(sequences):
                name = ("query_index", "target_index")[r] if k == 2 else f"column {r} of index"
                raise ValueError(
                    f"{name} has {least} to {most}, there are {len(sequences)} sequences"
                )
        if self.masks is not None:
            self._check_masks(self.masks)

    @classmethod
    def indexed(
        cls,
        queries: Sequences,
        targets: Sequences,
        query_index: npt.NDArray[np.int32],
        target_index: npt.NDArray[np.int32],
    ) -> Batch:
        """Return the pairs of ``queries[query_index[p]]`` and ``targets[target_index[p]]``.

        Parameters
        ----------
        queries, targets : Sequences
        query_index, target_index : ndarray of int32, shape (N,)

        Raises
        ------
        TypeError, ValueError
            As `Batch`; if there are not as many of both indices.
        """
        if len(query_index) != len(target_index):
            raise ValueError(
                f"query_index has {len(query_index)} pairs, target_index {len(target_index)}"
            )
        return cls((queries, targets), np.array([query_index, target_index]).T)

    @classmethod
    def pairwise(
        cls,
        queries: Sequences | Iterable[npt.NDArray[np.uint8]],
        targets: Sequences | Iterable[npt.NDArray[np.uint8]],
    ) -> Batch:
        """Return the pairs of the first query and the first target, the second and the second ...

        Raises
        ------
        ValueError
            If there are not as many queries as targets.
        """
        queries, targets = _sequences(queries), _sequences(targets)
        if len(queries) != len(targets):
            raise ValueError(
                f"{len(queries)} queries and {len(targets)} targets do not pair up: equal numbers "
                "are needed; score_pairs compares one with all, score_matrix all with all"
            )
        each = np.arange(len(queries), dtype=np.int32)
        return cls.indexed(queries, targets, each, each)

    @classmethod
    def one_to_many(
        cls,
        query: Sequences | npt.NDArray[np.uint8],
        targets: Sequences | Iterable[npt.NDArray[np.uint8]],
    ) -> Batch:
        """Return the pairs of one query, shape (m,), and each of the targets."""
        queries = query if isinstance(query, Sequences) else Sequences.of([query])
        if len(queries) != 1:
            raise ValueError(f"one query is needed, got {len(queries)}")
        targets = _sequences(targets)
        each = np.arange(len(targets), dtype=np.int32)
        return cls.indexed(queries, targets, 0 * each, each)

    @classmethod
    def of_pair(cls, query: Sequences, target: Sequences) -> Batch:
        """Return the pair of one query and one target, whose sizes are known in no time."""
        made = cls((query, target), _OF_PAIR)
        m, n = len(query.residues), len(target.residues)
        lengths = np.array([[m, n], [m, n]], np.int64)
        made.__dict__.update(lengths=lengths[:1], extent=lengths, cells=m * n)
        return made

    @classmethod
    def of(
        cls, tuples: Iterable[Iterable[npt.NDArray[np.uint8]]], k: Literal[2, 3] | None = None
    ) -> Batch:
        """Return pairs or triples of arrays of codes, each of shape (length,).

        Parameters
        ----------
        tuples : iterable of N iterables of k ndarrays of uint8
        k : {2, 3}, optional
            Sequences per tuple; by default as in the first, required if there are no tuples.

        Raises
        ------
        ValueError
            If the tuples do not have k sequences each.

        Examples
        --------
        >>> word = np.array([0, 1, 2], np.uint8)
        >>> Batch.of([(word, word, word[:2]), (word, word[1:], word)]).lengths.tolist()
        [[3, 3, 2], [3, 2, 3]]
        """
        parts = [tuple(each) for each in tuples]
        if k is None and not parts:
            raise ValueError("an empty batch needs the number of sequences, k")
        size: int = k or len(parts[0])
        for p, each in enumerate(parts):
            if len(each) != size or size not in (2, 3):
                raise ValueError(f"tuple {p + 1} has {len(each)} sequences, {k or '2 or 3'} needed")
        sequences = Sequences.of([part for each in parts for part in each])
        index = np.arange(size * len(parts), dtype=np.int32).reshape(-1, size)
        return cls((sequences,) * size, index)

    @classmethod
    def combinations(
        cls, sequences: Sequences | Iterable[npt.NDArray[np.uint8]], k: Literal[2, 3]
    ) -> Batch:
        """Return every choice of k different sequences, in lexicographic order.

        >>> words = [np.zeros(n, np.uint8) for n in (4, 5, 6, 7)]
        >>> Batch.combinations(words, 3).index.tolist()
        [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
        """
        sequences = _sequences(sequences)
        chosen = chain.from_iterable(combinations(range(len(sequences)), k))
        return cls((sequences,) * k, np.fromiter(chosen, np.int32).reshape(-1, k))

    @property
    def k(self) -> int:
        """Number of sequences in each alignment: 2 for pairs, 3 for triples."""
        return len(self.sequences)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Residues of the sequences of each pair or triple, shape (N, k)."""
        if len({*map(id, self.sequences)}) == 1:
            return self.sequences[0].lengths.take(self.index.T).T
        columns = zip(self.sequences, self.runs, strict=True)
        return np.stack([sequences.lengths[column] for sequences, column in columns]).T

    @cached_property
    def runs(self) -> tuple[slice | npt.NDArray[np.int32], ...]:
        """The columns of the index, those as slices that are ascending and without gaps."""
        if self.index.strides[1] == 0:  # all the same
            return (run_or_all(self.index[:, 0]),) * self.k
        return tuple(map(run_or_all, self.index.T))

    @cached_property
    def table(self) -> tuple[slice, slice] | None:
        """The queries and targets, if the pairs are all combinations of them, row by row."""
        if self.k != 2 or not len(self):
            return None
        (first, left), (last, right) = self.index[0].tolist(), self.index[-1].tolist()
        rows, columns = last - first + 1, right - left + 1
        if rows < 1 or columns < 1 or rows * columns != len(self):
            return None
        pairs = self.index.reshape(rows, columns, 2)
        query = np.arange(first, last + 1, dtype=np.int32)[:, None]
        target = np.arange(left, right + 1, dtype=np.int32)
        step = max(1, _MANY // columns)
        for row in range(0, rows, step):
            some = slice(row, row + step)
            if (pairs[some, :, 0] != query[some]).any() or (pairs[some, :, 1] != target).any():
                return None
        return slice(first, last + 1), slice(left, right + 1)

    @cached_property
    def used(self) -> tuple[npt.NDArray[np.bool_], ...]:
        """Which sequences are in each column of the index."""
        found = tuple(np.zeros(len(sequences), np.bool_) for sequences in self.sequences)
        for each, run in zip(found, self.table or self.runs, strict=True):
            each[run] = True
        return found

    @cached_property
    def distinct(self) -> tuple[int, ...]:
        """Number of different sequences in each column of the index."""
        found = []
        for c, run in enumerate(self.table or self.runs):
            if isinstance(run, slice):
                found.append(run.stop - run.start)
            elif len(run) * _FEW < len(self.sequences[c]):
                found.append(len(distinct(run)))
            else:
                found.append(int(np.count_nonzero(self.used[c])))
        return tuple(found)

    @cached_property
    def extent(self) -> npt.NDArray[np.int64]:
        """Shortest and longest lengths in each column of the index, shape (2, k), 0 of none."""
        if not len(self):
            return np.zeros((2, self.k), np.int64)
        if len(self) == 1:  # in no time
            return self.lengths.repeat(2, axis=0)
        if self._has_lengths:
            columns = self.lengths.T
            return np.array([columns.min(axis=1), columns.max(axis=1)])
        found = []
        for c, run in enumerate(self.table or self.runs):
            chosen = run if isinstance(run, slice) else self.used[c]
            lengths = self.sequences[c].lengths[chosen]
            found.append((lengths.min(), lengths.max()))
        return np.array(found).T

    @cached_property
    def cells(self) -> int:
        """Cells of all tables: the sum of the products of the lengths."""
        if self._has_lengths:
            first, *rest = self.lengths.T
            return int(first @ reduce(np.multiply, rest))
        if self.table:
            sides = zip(self.sequences, self.table, strict=True)
            return prod(int(each.lengths[part].sum()) for each, part in sides)
        parts = range(0, len(self), _MANY)
        return sum(self.select(slice(start, start + _MANY)).cells for start in parts)

    @property
    def _has_lengths(self) -> bool:
        """Whether the lengths of all are there, or made in no time."""
        return len(self) <= _MANY or "lengths" in self.__dict__

    @cached_property
    def usual(self) -> tuple[float, float]:
        """The size of an average pair: mean letters of a query, and of a target for mean cells.

        Of many pairs some thousands count, from all over the index.
        """
        if self._has_lengths:
            m = float(self.query_lengths.mean())
            return m, self.cells / (m * len(self)) if m else float(self.target_lengths.mean())
        some = np.arange(_MANY / 2) * _GOLDEN % 1 * len(self)
        return self.select(some.astype(np.intp)).usual

    @cached_property
    def pool(self) -> tuple[Sequences, npt.NDArray[np.int32]]:
        """All sequences as one object, and the index into it, shape (N, k)."""
        distinct = list(dict.fromkeys(self.sequences))
        if len(distinct) == 1:
            return distinct[0], self.index
        starts = np.cumsum([0, *map(len, distinct)], dtype=np.int32)
        shifts = starts[[distinct.index(each) for each in self.sequences]]
        return Sequences.concatenated(distinct), self.index + shifts

    # pairs only

    @property
    def queries(self) -> Sequences:
        """The queries of pairs."""
        return self.sequences[0]

    @property
    def targets(self) -> Sequences:
        """The targets of pairs."""
        return self.sequences[1]

    @property
    def query_index(self) -> npt.NDArray[np.int32]:
        """Index of the query of each pair, shape (N,)."""
        return self.index[:, 0]

    @property
    def target_index(self) -> npt.NDArray[np.int32]:
        """Index of the target of each pair, shape (N,)."""
        return self.index[:, 1]

    @property
    def query_lengths(self) -> npt.NDArray[np.int64]:
        """Length m of the query of each pair, shape (N,)."""
        return self.lengths[:, 0]

    @property
    def target_lengths(self) -> npt.NDArray[np.int64]:
        """Length n of the target of each pair, shape (N,)."""
        return self.lengths[:, 1]

    def pair(self, p: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Return the codes of the query, shape (m,), and of the target, shape (n,), of pair p."""
        query, target = self[p]
        return query, target

    def masked(self, masks: Masks | Iterable[Mask]) -> Batch:
        """Return the same pairs with these masks, one per pair."""
        return replace(self, masks=masks if isinstance(masks, Masks) else Masks.of(masks))

    def mask(self, p: int) -> Mask | None:
        """Return the mask of pair p."""
        return self.masks[p] if self.masks is not None else None

    # parts

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, p: int) -> tuple[npt.NDArray[np.uint8], ...]:
        """Return the codes of the k sequences of pair or triple p."""
        return tuple(
            sequences[r]
            for sequences, r in zip(self.sequences, self.index[p].tolist(), strict=True)
        )

    def select(self, chosen: npt.ArrayLike | slice) -> Batch:
        """Return these pairs or triples, in this order.

        ``chosen`` has their numbers, or is a slice or an array of bool, as in NumPy.
        """
        if not isinstance(chosen, slice):
            chosen = np.asarray(chosen)
            if chosen.size == 0:
                chosen = slice(0)
        masks = None if self.masks is None else self.masks.select(np.arange(len(self))[chosen])
        return Batch(self.sequences, self.index[chosen], masks)

    def compact(self) -> Batch:
        """Return the same pairs or triples, without unused sequences."""
        index, kept = np.empty_like(self.index), {}
        for sequences in dict.fromkeys(self.sequences):
            columns = [each is sequences for each in self.sequences]
            used, compact = np.unique(self.index[:, columns], return_inverse=True)
            kept[sequences] = sequences.select(used)
            index[:, columns] = compact.reshape(len(self), sum(columns))
        return Batch(tuple(kept[each] for each in self.sequences), index, self.masks)

    def parts(self, count: int) -> list[slice]:
        """Return slices for `select`: at most ``count`` parts of about equal cells.

        >>> words = [np.zeros(n, np.uint8) for n in (2, 2, 4, 8)]
        >>> Batch.combinations(words, 3).parts(3)  # of 16, 32, 64 and 64 cells
        [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
        """
        bounds = even(offsets_of(self.lengths.prod(axis=1)), [1] * max(1, count))
        return [slice(first, last) for first, last in pairwise(bounds) if first < last]

    def check_codes(self, alphabet: Alphabet) -> None:
        """Raise ValueError if a sequence contains a code outside the alphabet."""
        for sequences in dict.fromkeys(self.sequences):
            sequences.checked(alphabet, "sequence")

    def _check_masks(self, masks: Masks) -> None:
        if self.k != 2:
            raise ValueError("only pairs may have masks")
        if len(masks) != len(self):
            raise ValueError(f"{len(masks)} masks for {len(self)} pairs")
        m, n = self.lengths.T
        for p in np.flatnonzero(masks.lengths != m)[:1].tolist():
            raise ValueError(f"a mask of {masks.lengths[p]} rows for a query of {m[p]} residues")
        for k in np.flatnonzero(masks.columns >= np.repeat(n, masks.counts))[:1].tolist():
            p = int(np.searchsorted(masks.offsets, k, "right")) - 1
            raise ValueError(
                f"a mask forbids column {masks[p].columns.max()}, the target has {n[p]} residues"
            )


def _sequences(source: Sequences | Iterable[npt.NDArray[np.uint8]]) -> Sequences:
    return source if isinstance(source, Sequences) else Sequences.of(source)


@dataclass(frozen=True, eq=False)
class Mask:
    """Pairs of residues of a query and a target that an alignment must not align with each other.

    A gap may still pass there: only M(i, j) is minus infinity (Waterman and Eggert 1987).

    Parameters
    ----------
    columns : ndarray of int32, shape (count,)
        Residues of the target, counted from 0.
    offsets : ndarray of int64, shape (m + 1,)
        Residue i of the query may not be aligned with ``columns[offsets[i]:offsets[i + 1]]``,
        which ascend.

    Examples
    --------
    >>> import numpy as np
    >>> runs = Runs.of_coordinates([np.array([[0, 2, 3, 4], [1, 3, 3, 4]])])
    >>> mask = Mask.nothing(4).with_runs(runs)
    >>> [mask[i].tolist() for i in range(4)]
    [[], [0], [1], [3]]
    """

    columns: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        _check_array("columns", self.columns, np.int32)
        _check_array("offsets", self.offsets, np.int64)
        bounds = self.offsets
        if not len(bounds) or bounds[0] != 0 or bounds[-1] != len(self.columns):
            raise ValueError(f"offsets must go from 0 to the {len(self.columns)} columns")
        if (np.diff(bounds) < 0).any():
            raise ValueError("offsets must not decrease")
        may_fall = np.zeros(len(self.columns) + 1, bool)
        may_fall[bounds] = True
        falls = np.diff(self.columns, prepend=-1) <= 0
        if (falls & ~may_fall[:-1]).any() or (self.columns < 0).any():
            raise ValueError("columns must ascend in each row, from 0 or more")

    @staticmethod
    def nothing(m: int) -> Mask:
        """Return the mask of a query of m residues that forbids nothing."""
        return Mask(np.empty(0, np.int32), np.zeros(m + 1, np.int64))

    @staticmethod
    def of(rows: npt.ArrayLike, columns: npt.ArrayLike, m: int) -> Mask:
        """Return the mask of the pairs (rows[k], columns[k]), in any order, of m rows."""
        keys = np.unique(np.asarray(rows, np.int64) << 32 | np.asarray(columns, np.int64))
        offsets = np.searchsorted(keys, np.arange(m + 1) << 32)
        return Mask((keys & 0x7FFFFFFF).astype(np.int32), offsets.astype(np.int64))

    def with_runs(self, runs: Runs) -> Mask:
        """Return this mask with the aligned pairs of alignments of the two sequences added."""
        i, j = runs.pairs()
        return Mask.of(np.append(self.rows, i), np.append(self.columns, j), len(self))

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The residue of the query of each forbidden pair, shape (count,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def part(self, rows: slice, columns: slice) -> Mask:
        """Return the mask of these residues of the query and of the target (slices of step 1)."""
        first, end, _ = rows.indices(len(self))
        left, right, _ = columns.indices(np.iinfo(np.int32).max)
        offsets = self.offsets[first : max(first, end) + 1]
        j = self.columns[offsets[0] : offsets[-1]]
        inside = (j >= left) & (j < right)
        before = np.append(0, np.cumsum(inside))
        return Mask(j[inside] - np.int32(left), before[offsets - offsets[0]])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> npt.NDArray[np.int32]:
        return self.columns[self.offsets[i] : self.offsets[i + 1]]


@dataclass(frozen=True, eq=False)
class Masks:
    """The masks of N pairs of sequences, see `Mask`, as arrays over all of them.

    Parameters
    ----------
    rows : ndarray of int64, shape (count,)
        Residues of the queries that are forbidden, of one pair after the other; they ascend.
    columns : ndarray of int32, shape (count,)
        Those of the targets, which ascend in each row.
    offsets : ndarray of int64, shape (N + 1,)
        Where those of each pair begin, and where all end.
    lengths : ndarray of int64, shape (N,)
        Residues of the queries.

    Examples
    --------
    >>> masks = Masks.of_pairs(np.array([1, 0, 1]), *np.array([[3, 1, 0], [2, 5, 7]]), [2, 4])
    >>> [(each.rows.tolist(), each.columns.tolist()) for each in masks]
    [([1], [5]), ([0, 3], [7, 2])]
    """

    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]

    @staticmethod
    def of(masks: Iterable[Mask]) -> Masks:
        """Return these masks."""
        every = list(masks)
        rows, columns = [each.rows for each in every], [each.columns for each in every]
        return Masks(
            np.concatenate([np.empty(0, np.int64), *rows]),
            np.concatenate([np.empty(0, np.int32), *columns]),
            offsets_of([len(each) for each in columns]),
            np.array([len(each) for each in every], np.int64),
        )

    @staticmethod
    def of_pairs(
        which: npt.NDArray[np.int64],
        rows: npt.NDArray[np.int64],
        columns: npt.NDArray[np.int64],
        lengths: npt.ArrayLike,
    ) -> Masks:
        """Return the masks of queries of these lengths, given all pairs and the mask of each."""
        order = np.lexsort((columns, rows, which))
        which, rows, columns = which[order], rows[order], columns[order]
        new = np.ones(len(which), bool)
        new[1:] = (np.diff(which) != 0) | (np.diff(rows) != 0) | (np.diff(columns) != 0)
        m = np.asarray(lengths, np.int64)
        offsets = offsets_of(np.bincount(which[new], minlength=len(m)))
        return Masks(rows[new], columns[new].astype(np.int32), offsets, m)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Forbidden pairs of each, shape (N,)."""
        return np.diff(self.offsets)

    def select(self, chosen: npt.NDArray[np.integer]) -> Masks:
        """Return these masks, in this order."""
        counts = self.counts[chosen]
        some = ranges(self.offsets[:-1][chosen], counts)
        return Masks(self.rows[some], self.columns[some], offsets_of(counts), self.lengths[chosen])

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, p: int) -> Mask:
        some = slice(self.offsets[p], self.offsets[p + 1])
        offsets = np.searchsorted(self.rows[some], np.arange(self.lengths[p] + 1))
        return Mask(self.columns[some], offsets.astype(np.int64))

    def __iter__(self) -> Iterator[Mask]:
        return map(self.__getitem__, range(len(self)))
