"""Encoded sequences side by side, and the pairs of them that an engine aligns, perhaps masked."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Sequences:
    """Encoded sequences, one after the other in one array.

    Parameters
    ----------
    residues : ndarray of uint8, shape (total,)
        The codes of all sequences.
    offsets : ndarray of int64, shape (count + 1,)
        Sequence ``k`` is ``residues[offsets[k]:offsets[k + 1]]``.

    Examples
    --------
    >>> import numpy as np
    >>> sequences = Sequences.of([np.array([0, 1, 2], np.uint8), np.array([3], np.uint8)])
    >>> len(sequences), sequences.lengths.tolist(), sequences[1].tolist()
    (2, [3, 1], [3])
    """

    residues: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        _check_array("residues", self.residues, np.uint8)
        _check_array("offsets", self.offsets, np.int64)
        bounds = self.offsets
        if not len(bounds) or bounds[0] != 0 or bounds[-1] != len(self.residues):
            raise ValueError(f"offsets must go from 0 to the {len(self.residues)} residues")
        if (np.diff(bounds) < 0).any():
            raise ValueError("offsets must not decrease")

    @staticmethod
    def of(arrays: Iterable[npt.NDArray[np.uint8]]) -> Sequences:
        """Return copies of these arrays of codes, each of shape (length,)."""
        parts = list(arrays)
        for k, part in enumerate(parts):
            _check_array(f"sequence {k + 1}", part, np.uint8)
        offsets = np.zeros(len(parts) + 1, dtype=np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        residues = np.concatenate(parts) if parts else np.empty(0, dtype=np.uint8)
        return Sequences(residues, offsets)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Residues in each sequence, shape (count,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, k: int) -> npt.NDArray[np.uint8]:
        k = operator.index(k)
        if not -len(self) <= k < len(self):
            raise IndexError(f"sequence {k} of {len(self)}")
        k %= len(self)
        return self.residues[self.offsets[k] : self.offsets[k + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[np.uint8]]:
        return (self[k] for k in range(len(self)))

    def between(self, start: int, stop: int) -> Sequences:
        """Return the sequences from ``start`` up to ``stop``, without copying residues."""
        bounds = self.offsets[start : stop + 1]
        return Sequences(self.residues[bounds[0] : bounds[-1]], bounds - bounds[0])


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


def padded(
    sequences: Sequences, which: npt.ArrayLike, width: int, fill: int
) -> npt.NDArray[np.uint8]:
    """Return the sequences ``which`` as the rows of one array, shape (len(which), width).

    ``fill`` stands behind the end of each; none may be longer than ``width``.
    """
    chosen = np.asarray(which, dtype=np.intp)
    lengths = sequences.lengths[chosen]
    rows = np.full((len(chosen), width), fill, dtype=np.uint8)
    inside = np.arange(width) < lengths[:, None]
    rows[inside] = sequences.residues[ranges(sequences.offsets[chosen], lengths)]
    return rows


def ranges(starts: npt.ArrayLike, counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return the whole numbers of many ranges, one range after the other.

    >>> ranges([5, 0], [3, 2]).tolist()
    [5, 6, 7, 0, 1]
    """
    first, lengths = np.asarray(starts, np.int64), np.asarray(counts, np.int64)
    shifts = np.repeat(first - np.cumsum(lengths) + lengths, lengths)
    return shifts + np.arange(len(shifts))


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


def _check_array(name: str, array: object, dtype: type[np.generic]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name} must be an array of {np.dtype(dtype)}, got {kind}")
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {array.shape}")
