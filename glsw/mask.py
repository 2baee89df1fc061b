"""Masks: pairs of residues that must not be aligned with each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glsw.sequences.encoded import _check_array


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
        """Return this mask with the aligned pairs of an alignment added.

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
