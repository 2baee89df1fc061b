"""Sequences of a database file, whose residues are read when they are needed."""

from __future__ import annotations

import operator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glsw.arrays import Codes, Int64
from glsw.sequences.encoded import Sequences, bounds_of

if TYPE_CHECKING:
    from glsw.sequences.database_file import DatabaseFile


class StoredSequences(Sequences):
    """Sequences that follow one another in a database file.

    Parameters
    ----------
    file : DatabaseFile
    bounds : ndarray of int64, shape (count + 1,)
        Where each begins among all residues of the file, and where the last one ends.
    """

    _file: DatabaseFile
    first: int
    code_type: np.dtype[Any]

    def __init__(self, file: DatabaseFile, bounds: Int64) -> None:
        kind, first = np.dtype(file.alphabet.code_type), int(bounds[0])
        self.__dict__.update(_file=file, code_type=kind, first=first)
        self.__dict__.update(offsets=bounds - first if first else bounds)
        self.__dict__.update(code_bound=len(file.alphabet) - 1)

    @cached_property
    def residues(self) -> Codes:
        """The codes of all sequences, which are kept once they are read."""
        return self._file.codes(self.first, self.first + self.size)

    def fill(self, found: Codes, start: int) -> None:
        """Fill an array with residues from ``start`` on; several threads may do so."""
        if "residues" in self.__dict__:
            super().fill(found, start)
        else:
            self._file.fill(found, self.first + start)

    def __getitem__(self, k: int) -> Codes:
        """Return the codes of a sequence."""
        if "residues" in self.__dict__:
            return super().__getitem__(k)
        k = range(len(self))[operator.index(k)]
        start, stop = (self.first + self.offsets[k : k + 2]).tolist()
        return self._file.codes(start, stop)

    def part(self, part: slice) -> Sequences:
        """Return the sequences of a slice, see `Sequences.part`."""
        start, stop, _ = part.indices(len(self))
        if "residues" in self.__dict__ or (start, stop) == (0, len(self)):
            return super().part(part)
        made = StoredSequences(self._file, self.first + bounds_of(self.offsets, part))
        made.__dict__.update(origin=(self, start))
        return made

    def select(self, order: npt.ArrayLike) -> Sequences:
        """Return copies of these sequences, in this order."""
        if "residues" in self.__dict__:
            return super().select(order)
        return Sequences.of([self[k] for k in np.asarray(order, np.intp).tolist()])
