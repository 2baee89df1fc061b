"""What every engine of three sequences is: a batch of triples in, scores, ends or paths out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines.base import Capabilities, Progress, ignore
from glsw.paths import Ends, Paths
from glsw.scoring.three import Scoring3


class Engine3(ABC):
    """One schedule of the cells of three-dimensional tables.

    All engines give the same scores, ends, tables and paths; `Reference3` is the judge.

    Of several best cells the one with the smallest i + j + k counts, of these the one with the
    smallest i, then j: no column before it could be left out. On the way back H is left by the
    first of these columns that gives its score: three letters, first and second, first and third,
    second and third, first, second, third; a gap is closed rather than turned into one of the
    neighbouring kinds (the one with the smaller code first), and that rather than extended. The
    way ends where H is 0.

    Parameters
    ----------
    scoring : Scoring3
    device : Device or None
        Where to run; None for engines that need no OpenGL.
    """

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities] = Capabilities()
    memory_used: int = 0
    """Bytes that the largest chunk kept on the device beside the sequences, where counted."""

    def __init__(self, scoring: Scoring3, device: Device | None = None) -> None:
        if not isinstance(scoring, Scoring3):
            raise TypeError(f"scoring must be a Scoring3, not {type(scoring).__name__}")
        self.scoring = scoring
        if self.capabilities.requires and device is None:
            raise TypeError(f"engine {self.name!r} needs a device")
        self._device = device

    @property
    def device(self) -> Device:
        """The device of an engine that needs one."""
        assert self._device is not None
        return self._device

    @property
    def where(self) -> str:
        """What runs the engine, for results."""
        return self._device.info.name if self._device else "CPU"

    def scores(self, triples: Batch, *, progress: Progress | None = None) -> npt.NDArray[np.int32]:
        """Return the best local score of each triple.

        Parameters
        ----------
        triples : Batch
            N triples, also of empty sequences: two sequences and an empty one are aligned as
            columns with a gap in the third.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.

        Returns
        -------
        ndarray of int32, shape (N,)

        Raises
        ------
        ValueError
            If a score could be 2^23 or more.
        DeviceMemoryError
            If a triple does not fit the memory of the device, or what of it may be used.
        """
        return self.ends(triples, progress=progress).score.astype(np.int32, copy=False)

    def ends(self, triples: Batch, *, progress: Progress | None = None) -> Ends:
        """Return the best local score of each triple and where it ends; as `scores`."""
        self.check(triples)
        return ends_of(self.best(triples, progress or ignore))

    @abstractmethod
    def best(self, triples: Batch, progress: Progress) -> npt.NDArray[np.int32]:
        """Return the best cell of each triple, shape (N, 4): score, and i, j, k from 1."""

    @abstractmethod
    def tables(
        self, triples: Batch, *, progress: Progress | None = None
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield H of each triple, shape (l, m, n): entry (i, j, k) is the cell of letters i, j, k.

        Parameters and errors as in `scores`.
        """

    @abstractmethod
    def paths(self, triples: Batch, *, progress: Progress | None = None) -> Paths:
        """Return the best local alignment of each triple; parameters and errors as in `scores`."""

    @abstractmethod
    def disjoint(
        self, triples: Batch, *, progress: Progress | None = None
    ) -> Iterator[tuple[int, Paths]]:
        """Yield local alignments of each triple until their score is 0: its number, one path.

        The first alignment of a triple is that of `paths`. After each, no column with two or
        three letters may end in a cell where one of an earlier alignment of the triple did; the
        next one is the best under that condition (after Waterman and Eggert 1987).
        """

    def check(self, triples: Batch) -> None:
        """Raise ValueError if the score of a triple could be 2^23 or more."""
        if triples.k != 3:
            raise ValueError(f"engine {self.name!r} aligns three sequences, not {triples.k}")
        if self._device:
            self._device.activate()
        self.scoring.check(triples.lengths)


def ends_of(best: npt.NDArray[np.int32]) -> Ends:
    """Return the ends of best cells, shape (N, 4): score, i, j, k from 1."""
    found = best[:, 0] > 0
    return Ends(best[:, 0].copy(), np.where(found[:, None], best[:, 1:], 0).astype(np.int32))
