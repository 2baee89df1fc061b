"""Encoded sequences side by side, and the pairs of them that an engine aligns, perhaps masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from glsw.sequences.encoded import Sequences, _check_array


@dataclass(frozen=True, eq=False)
class Mask:
    """Pairs of residues of two sequences that no alignment may have, row by row.

    Gaps may pass where a pair may not: only M(i, j) is minus infinity there (Waterman and
    Eggert 1987).

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
    >>> mask = Mask.nothing(4).with_alignment(np.array([[0, 2, 3, 4], [1, 3, 3, 4]]))
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
        falls = np.flatnonzero(np.diff(self.columns) <= 0) + 1
        if not np.isin(falls, bounds).all() or (self.columns < 0).any():
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

    def with_alignment(self, coordinates: npt.NDArray[np.int64]) -> Mask:
        """Return a mask that forbids the aligned pairs of an alignment too.

        ``coordinates``, shape (2, K), are those of a `glsw.Alignment`: row 0 in the target.
        """
        target, query = np.diff(coordinates)
        aligned = (target > 0) & (query > 0)
        runs = query[aligned]
        step = np.arange(runs.sum()) - np.repeat(np.cumsum(runs) - runs, runs)
        j, i = (np.repeat(first, runs) + step for first in coordinates[:, :-1][:, aligned])
        return Mask.of(np.append(self.rows, i), np.append(self.columns, j), len(self))

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The residue of the query of each forbidden pair, shape (count,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def part(self, rows: slice, columns: slice) -> Mask:
        """Return the mask of these residues of the query and of the target (slices of step 1)."""
        first, end, _ = rows.indices(len(self))
        left, right, _ = columns.indices(np.iinfo(np.int32).max)
        chosen = slice(self.offsets[first], self.offsets[end])
        i, j = self.rows[chosen], self.columns[chosen]
        inside = (j >= left) & (j < right)
        return Mask.of(i[inside] - first, j[inside] - left, end - first)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> npt.NDArray[np.int32]:
        return self.columns[self.offsets[i] : self.offsets[i + 1]]


@dataclass(frozen=True, eq=False)
class Batch:
    """N pairs to align: pair ``p`` is ``queries[query_index[p]]``, ``targets[target_index[p]]``.

    Parameters
    ----------
    queries, targets : Sequences
        What the pairs are made of; a sequence may be in any number of pairs.
    query_index, target_index : ndarray of int32, shape (N,)
        The two sequences of each pair.
    masks : tuple of N Mask, optional
        What may not be aligned in each pair; nothing is forbidden without.

    Examples
    --------
    >>> import numpy as np
    >>> query = np.array([0, 1, 2], np.uint8)
    >>> batch = Batch.one_to_many(query, [query[:2], query[1:], query])
    >>> len(batch), batch.cells, batch.target_lengths.tolist()
    (3, 21, [2, 2, 3])
    >>> batch.select([2]).cells
    9
    """

    queries: Sequences
    targets: Sequences
    query_index: npt.NDArray[np.int32]
    target_index: npt.NDArray[np.int32]
    masks: tuple[Mask, ...] | None = None

    def __post_init__(self) -> None:
        for name, index, sequences in (
            ("query_index", self.query_index, self.queries),
            ("target_index", self.target_index, self.targets),
        ):
            _check_array(name, index, np.int32)
            if len(index) and not 0 <= index.min() <= index.max() < len(sequences):
                raise ValueError(
                    f"{name} has {index.min()} to {index.max()}, "
                    f"there are {len(sequences)} sequences"
                )
        if len(self.query_index) != len(self.target_index):
            raise ValueError(
                f"query_index has {len(self.query_index)} pairs, "
                f"target_index {len(self.target_index)}"
            )
        if self.masks is not None:
            self._check_masks(self.masks)

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
                f"{len(queries)} queries and {len(targets)} targets do not pair up: "
                "equal numbers are needed"
            )
        each = np.arange(len(queries), dtype=np.int32)
        return cls(queries, targets, each, each)

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
        return cls(queries, targets, np.zeros_like(each), each)

    @cached_property
    def query_lengths(self) -> npt.NDArray[np.int64]:
        """Length m of the query of each pair, shape (N,)."""
        return self.queries.lengths[self.query_index]

    @cached_property
    def target_lengths(self) -> npt.NDArray[np.int64]:
        """Length n of the target of each pair, shape (N,)."""
        return self.targets.lengths[self.target_index]

    @property
    def cells(self) -> int:
        """Cells of all tables: the sum of m * n over the pairs."""
        return int(self.query_lengths @ self.target_lengths)

    def __len__(self) -> int:
        return len(self.query_index)

    def pair(self, p: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Return the codes of the query, shape (m,), and of the target, shape (n,), of pair p."""
        return self.queries[self.query_index[p]], self.targets[self.target_index[p]]

    def select(self, indices: npt.ArrayLike | slice) -> Batch:
        """Return these pairs, in this order; ``indices`` as NumPy takes them (also masks)."""
        chosen = indices if isinstance(indices, slice) else np.asarray(indices)
        if isinstance(chosen, np.ndarray) and chosen.size == 0:
            chosen = slice(0)
        masks = self.masks
        if masks is not None:
            masks = tuple(masks[p] for p in np.arange(len(self))[chosen])
        return Batch(
            self.queries, self.targets, self.query_index[chosen], self.target_index[chosen], masks
        )

    def masked(self, masks: Iterable[Mask]) -> Batch:
        """Return the same pairs with these masks, one for each pair."""
        return replace(self, masks=tuple(masks))

    def mask(self, p: int) -> Mask | None:
        """Return the mask of pair p."""
        return self.masks[p] if self.masks is not None else None

    def _check_masks(self, masks: tuple[Mask, ...]) -> None:
        if len(masks) != len(self):
            raise ValueError(f"{len(masks)} masks for {len(self)} pairs")
        for mask, m, n in zip(masks, self.query_lengths, self.target_lengths, strict=True):
            if len(mask) != m:
                raise ValueError(f"a mask of {len(mask)} rows for a query of {m} residues")
            if len(mask.columns) and mask.columns.max() >= n:
                raise ValueError(
                    f"a mask forbids column {mask.columns.max()}, the target has {n} residues"
                )


def chunks(
    batch: Batch, *, area: int, pairs: int, queries: int, waste: float = 0.25
) -> Iterator[npt.NDArray[np.intp]]:
    """Cut the pairs into chunks of similar lengths; yield the indices of each chunk.

    A chunk of N pairs fills N tables as large as its largest one.

    Parameters
    ----------
    batch : Batch
        Pairs; none with an empty sequence.
    area : int
        Longest query of a chunk times its pairs, at most (but one pair is always taken).
    pairs, queries : int
        Pairs, and distinct queries, in a chunk at most.
    waste : float
        Padding as a fraction of the cells, at most, but for chunks that are small: less than a
        sixteenth of ``area``, and tables of 16 times ``area`` in all.

    Examples
    --------
    >>> import numpy as np
    >>> letters = np.zeros(9, np.uint8)
    >>> batch = Batch.one_to_many(letters[:3], [letters[:k] for k in (9, 2, 8, 2)])
    >>> [chunk.tolist() for chunk in chunks(batch, area=6, pairs=8, queries=1)]
    [[1, 3], [2, 0]]
    """
    m, n = batch.query_lengths, batch.target_lengths
    # Queries within a quarter of each other's length share a bin; targets are sorted inside it.
    order = np.lexsort((n, np.floor(np.log(m) / np.log(1.25))))
    filled = np.concatenate([[0], np.cumsum((m * n)[order])])
    start = 0
    while start < len(order):
        stop = min(start + pairs, len(order))
        longest = np.maximum.accumulate(m[order[start:stop]])
        widest = np.maximum.accumulate(n[order[start:stop]])
        count = np.arange(1, len(longest) + 1)
        full = longest * widest * count > (1 + waste) * (
            filled[start + 1 : stop + 1] - filled[start]
        )
        full &= (longest * count > area // 16) | (longest * widest * count > 16 * area)
        full |= longest * count > area
        first = np.unique(batch.query_index[order[start:stop]], return_index=True)[1]
        if len(first) > queries:
            full[np.sort(first)[queries] :] = True
        stop = start + max(1, int(full.argmax()) if full.any() else len(full))
        yield order[start:stop]
        start = stop


def _sequences(source: Sequences | Iterable[npt.NDArray[np.uint8]]) -> Sequences:
    return source if isinstance(source, Sequences) else Sequences.of(source)


@dataclass(frozen=True, eq=False)
class Triples:
    """N triples of encoded sequences: i runs over the first, j the second, k the third.

    Parameters
    ----------
    sequences : Sequences
        Each is there once, in however many triples it is.
    index : ndarray of int32, shape (N, 3)
        Triple t aligns ``sequences[index[t, 0]]``, ``[index[t, 1]]`` and ``[index[t, 2]]``.

    Examples
    --------
    >>> words = Sequences.of([np.zeros(n, np.uint8) for n in (4, 5, 6, 7)])
    >>> triples = Triples.all_of(words)
    >>> triples.index.tolist()
    [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    >>> triples.lengths[0].tolist(), triples.cells
    ([4, 5, 6], 638)
    """

    sequences: Sequences
    index: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        if self.index.ndim != 2 or self.index.shape[1] != 3 or self.index.dtype != np.int32:
            kind = f"{self.index.dtype} of shape {self.index.shape}"
            raise ValueError(f"index must be int32 of shape (N, 3), got {kind}")
        if self.index.size and not 0 <= self.index.min() <= self.index.max() < len(self.sequences):
            raise ValueError(f"index must be from 0 to {len(self.sequences) - 1}")

    @staticmethod
    def of(triples: Iterable[Sequence[npt.NDArray[np.uint8]]]) -> Triples:
        """Return triples of arrays of codes, each of shape (length,)."""
        parts = [tuple(each) for each in triples]
        for t, each in enumerate(parts):
            if len(each) != 3:
                raise ValueError(f"triple {t + 1} has {len(each)} sequences")
        sequences = Sequences.of([part for each in parts for part in each])
        return Triples(sequences, np.arange(3 * len(parts), dtype=np.int32).reshape(-1, 3))

    @staticmethod
    def all_of(sequences: Sequences) -> Triples:
        """Return every choice of three different sequences, in lexicographic order."""
        chosen = list(combinations(range(len(sequences)), 3))
        return Triples(sequences, np.array(chosen, np.int32).reshape(-1, 3))

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Residues of the three, shape (N, 3)."""
        return self.sequences.lengths[self.index]

    @property
    def cells(self) -> int:
        """Sum of the products of the lengths."""
        return int(self.lengths.prod(axis=1).sum())

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, t: int) -> tuple[npt.NDArray[np.uint8], ...]:
        return tuple(self.sequences[k] for k in self.index[t].tolist())

    def select(self, chosen: npt.NDArray[np.intp] | slice) -> Triples:
        """Return some of the triples."""
        return replace(self, index=self.index[chosen])
