"""Base class of the engines for three sequences: scores, ends or paths of a batch of triples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells, Ends, Paths
from glsw.arrays import Int32
from glsw.device.device import Device
from glsw.engines.base import AnyEngine, Progress, ignore
from glsw.wings.three.scoring import Scoring3


class Engine3(AnyEngine):
    """One schedule of the cells of three-dimensional tables.

    All engines give the same scores, ends, tables and paths; `Reference3` is the oracle.

    Among several best cells, alignments end in the one with the smallest i + j + k, then the
    smallest i, then the smallest j, so no column can be omitted. The traceback leaves H by the
    first of these columns that gives its score: three letters; first and second; first and third;
    second and third; first; second; third. It prefers closing a gap to changing into a neighbouring
    kind of gap (the one with the smaller code first), and that to extending it. It ends where H is
    0. Global and semi-global alignments end only in the cells of `Scoring3.in_mode`, and begin
    where one with their score may begin.

    Parameters
    ----------
    scoring : Scoring3
    device : Device or None
        Where to run; None for engines that need no OpenGL.
    """

    k = 3

    @property
    def polling(self) -> bool:
        """Whether work groups wait for others."""
        return False

    def __init__(self, scoring: Scoring3, device: Device | None = None) -> None:
        super().__init__(device)
        if not isinstance(scoring, Scoring3):
            raise TypeError(f"scoring must be a Scoring3, not {type(scoring).__name__}")
        self.scoring = scoring

    # What it proves: tasks. Scores are computed as ends are.

    @classmethod
    def tasks_of(cls, scoring: Scoring3) -> tuple[str, ...]:
        """Return the tasks to prove."""
        aligns = "alignment" in cls.capabilities.tasks
        paths = ("alignment", *["masked"] * scoring.local) if aligns else ()
        return "ends", *paths, "table"

    @classmethod
    def trial_scorings(cls) -> dict[str, Scoring3]:
        """Return scorings whose programs differ, see `AnyEngine.trial_scorings`."""
        from glsw.wings.three.engines.triples import trial_scorings  # it needs the reference

        return trial_scorings()

    def family(self, kind: str) -> str:
        """Return what distinguishes programs: the task, the scoring and options."""
        of = self.scoring
        gaps = "linear" if of.linear else "affine"
        more = f", two gaps {of.gap_gap}" if of.gap_gap else ""
        words = f"{of.scheme}, {gaps}{more}, {of.mode}, {len(of.alphabet)} letters"
        return f"three sequences, {kind}, {words}, {self.form}"

    def checks(self, kind: str) -> Iterator[tuple[Any, Any]]:
        """Yield what is computed of awkward triples, and what is right, see `Provable.checks`.

        Work groups must not have waited in vain for others, unless they are asked to wait long.
        """
        from glsw.wings.three.engines.triples import checks

        polling = self.polling
        yield from checks(self, kind)
        asked = "polling" in self.options and "most_polls" not in self.options
        yield asked or self.polling == polling, True

    def scores(self, triples: Batch, *, progress: Progress | None = None) -> Int32:
        """Return the best score of each triple.

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
        """Return the best score of each triple and where it ends; as `scores`."""
        self.check(triples)
        return self.ends_of(self.best(triples, progress or ignore))

    @abstractmethod
    def best(self, triples: Batch, progress: Progress) -> BestCells:
        """Return the best cell of each triple, in the memory of a chunk of them."""

    def tables(self, triples: Batch, *, progress: Progress | None = None) -> Iterator[Int32]:
        """Yield H of each triple, shape (l, m, n): entry (i, j, k) is the cell of letters i, j, k.

        Parameters and errors as in `scores`.
        """
        self.check(triples)
        return self.tables_of(triples, progress or ignore)

    def paths(self, triples: Batch, *, progress: Progress | None = None) -> Paths:
        """Return the best alignment of each triple; parameters and errors as in `scores`."""
        self.check(triples)
        return self.paths_of(triples, progress or ignore)

    def disjoint(
        self, triples: Batch, *, progress: Progress | None = None
    ) -> Iterator[tuple[int, Paths]]:
        """Yield local alignments of each triple until their score is 0: its number, one path.

        The first alignment of a triple is that of `paths`. After each, no column with two or
        three letters may end in a cell where one of an earlier alignment of the triple did; the
        next one is the best under that condition (after Waterman and Eggert 1987).
        """
        self.check(triples)
        if not self.scoring.local:
            raise ValueError(f"mode {self.scoring.mode!r}: disjoint alignments are local")
        return self.disjoint_of(triples, progress or ignore)

    @abstractmethod
    def tables_of(self, triples: Batch, progress: Progress) -> Iterator[Int32]:
        """Yield what `tables` does."""

    def paths_of(self, triples: Batch, progress: Progress) -> Paths:
        """Return what `paths` does."""
        raise self._aligns_not()

    def disjoint_of(self, triples: Batch, progress: Progress) -> Iterator[tuple[int, Paths]]:
        """Yield what `disjoint` does."""
        raise self._aligns_not()

    def _aligns_not(self) -> Exception:
        return ValueError(f"engine {self.name!r} computes scores, ends and tables only")

    def check(self, batch: Batch) -> None:
        """Raise ValueError if the score of a triple could be 2^23 or more."""
        super().check(batch)
        self.scoring.check(batch.lengths)

    def ends_of(self, best: BestCells) -> Ends:
        """Return the ends of the alignments that end in the best cells."""
        if not self.scoring.local:
            return Ends(best.score, best.cell)
        return Ends(best.score, np.where(best.score[:, None] > 0, best.cell, 0).astype(np.int32))
