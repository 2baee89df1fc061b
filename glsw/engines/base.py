"""What every engine is: a batch of pairs in, scores or ends out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.device import Device
from glsw.paths import Ends, Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

Ties = Literal["conventional", "any"]
TIES: tuple[Ties, ...] = ("conventional", "any")
Progress = Callable[[int], None]
PART = 2**28
"""Residues that a part of a database may have, unless an engine knows better."""


class Engine(ABC):
    """One schedule: the order in which the cells of the tables are visited.

    All engines give the same scores and ends; `glsw.engines.reference` is the judge.

    Parameters
    ----------
    scoring : Scoring
        Substitution matrix and gap costs.
    device : Device or None
        Where to run; None for engines that need no OpenGL.
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[int, int] | None] = None
    """The OpenGL version needed, None without OpenGL."""
    memory_used: int = 0
    """Bytes that the largest chunk kept on the device beside the sequences, where counted."""
    masks: bool = False
    """Whether pairs may have masks; elsewhere `check` refuses them."""
    global_modes: ClassVar[bool] = False
    """Whether alignments may be global and semi-global, see `Scoring.end_gaps`."""
    separate_gaps: ClassVar[bool] = False
    """Whether gaps in queries may cost something else than gaps in targets."""

    def __init__(self, scoring: Scoring, device: Device | None = None) -> None:
        self.scoring = scoring
        if self.requires and device is None:
            raise TypeError(f"engine {self.name!r} needs a device")
        if not scoring.local and not self.global_modes:
            raise ValueError(f"engine {self.name!r} aligns locally only")
        if scoring.separate and not self.separate_gaps:
            raise ValueError(f"engine {self.name!r} has one cost for gaps in queries and targets")
        self._device = device

    @property
    def device(self) -> Device:
        """The device of an engine that needs one."""
        assert self._device is not None
        return self._device

    @property
    def label(self) -> str:
        """Which engine it was, for results."""
        return self.name

    @property
    def where(self) -> str:
        """What runs the engine, for results."""
        return self._device.info.name if self._device else "CPU"

    def scores(self, batch: Batch, *, progress: Progress | None = None) -> npt.NDArray[np.int32]:
        """Return the best score of each pair: local, or from end to end, see `Scoring.end_gaps`.

        Parameters
        ----------
        batch : Batch
            N pairs.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call.

        Returns
        -------
        ndarray of int32, shape (N,)

        Raises
        ------
        ValueError
            If a score could leave int32, or a sequence is too long for this engine and device.

        Notes
        -----
        From end to end a score may be negative.
        """
        self.check(batch)
        return self.finished(batch, self.best(batch, False, progress or ignore))[:, 0]

    @property
    def part(self) -> int:
        """Residues that a part of a database may have, so that `scan` fits the memory."""
        return PART

    @property
    def queries_at_once(self) -> int:
        """Queries that `scan` wants to see together, such as to pair those of similar length."""
        return 1

    def scan(
        self,
        queries: Sequences,
        parts: Iterable[Sequences],
        *,
        progress: Progress | None = None,
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the best local score of each query with each target, part by part.

        Parameters
        ----------
        queries : Sequences
        parts : iterable of Sequences
            The targets; a part is asked for when the one before it is being computed.
        progress : callable, optional
            As in `scores`.

        Yields
        ------
        ndarray of int32, shape (queries, targets of the part)

        Raises
        ------
        ValueError
            As in `scores`.
        """
        for part in parts:
            found = np.zeros((len(queries), len(part)), np.int32)
            for q, query in enumerate(queries):
                found[q] = self.scores(Batch.one_to_many(query, part), progress=progress)
            yield found

    def ends(
        self, batch: Batch, *, ties: Ties = "conventional", progress: Progress | None = None
    ) -> Ends:
        """Return the best score of each pair and where its alignment ends.

        From end to end that is the cell behind which only a gap at the right end may follow.
        Among cells of equal score ``ties="conventional"`` takes the one with the largest i + j,
        then the smallest i (Aymone 2022, section IV); ``"any"`` leaves the choice to the engine.
        Other parameters and errors as in `scores`.
        """
        check_ties(ties)
        self.check(batch)
        return self.ends_of(batch, self.best(batch, True, progress or ignore, ties=ties))

    def paths(
        self, batch: Batch, *, ties: Ties = "conventional", progress: Progress | None = None
    ) -> Paths | None:
        """Return the best alignment of each pair, traced back on the device.

        None for an engine that leaves this to the host. From end to end, gaps at the ends are not
        in it: see `glsw.traceback.global_coordinates`. Parameters and errors as in `ends`.
        """
        return None

    def check(self, batch: Batch) -> None:
        """Raise ValueError if the score of a pair could leave int32, or masks are not known."""
        if batch.k != 2:
            raise ValueError(f"engine {self.name!r} aligns two sequences, not {batch.k}")
        if batch.masks is not None and not (self.masks and self.scoring.local):
            what = "" if self.scoring.local else " for alignments from end to end"
            raise ValueError(f"engine {self.name!r} takes no masks{what}")
        if self._device:
            self._device.activate()
        if len(batch):
            self.scoring.check(int(batch.query_lengths.max()), int(batch.target_lengths.max()))

    @abstractmethod
    def best(
        self, batch: Batch, ends: bool, progress: Progress, *, ties: Ties = "conventional"
    ) -> npt.NDArray[np.int32]:
        """Return the best cell of each pair, shape (N, 3): score, and if ``ends`` i + j and i.

        The cell counts from 0; a score of 0 has no cell. Pairs may have empty sequences. Global and
        semi-global scores are higher by `Scoring.score_offset`, and cells of row 0 and column 0,
        before the first letter, may be missing: `finished` looks at these.
        """

    def finished(self, batch: Batch, best: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the best cells with their scores, given what `best` returned."""
        ends = self.scoring.end_gaps
        if ends is None or not len(batch):
            return best
        m, n = batch.query_lengths, batch.target_lengths
        inside = np.zeros((len(batch), 3), np.int64)
        inside[:, : best.shape[1]] = best[:, :3]
        inside[:, 0] -= self.scoring.score_offset(m, n)
        # All of the query and then all of the target opposite gaps, or the other way round.
        query_first = np.stack([ends.left(m) + ends.behind(0, n), m - 2, m - 1], axis=1)
        target_first = np.stack([ends.above(n) + ends.behind(m, 0), n - 2, 0 * n - 1], axis=1)
        cells = np.stack([inside, query_first, target_first])
        cells[0, (m == 0) | (n == 0), 0] = -(2**40)
        first = np.lexsort((cells[..., 2], -cells[..., 1], -cells[..., 0]), axis=0)[0]
        chosen: npt.NDArray[np.int32] = cells[first, np.arange(len(batch))].astype(np.int32)
        return chosen

    def ends_of(self, batch: Batch, best: npt.NDArray[np.int32]) -> Ends:
        """Return the ends after what `best` returned, shape (N, 3) or more."""
        score, d, i = self.finished(batch, best)[:, :3].T
        found = (score > 0) | (not self.scoring.local)
        return Ends(score, np.where(found, [i + 1, d - i + 1], 0).astype(np.int32).T)


def check_ties(ties: str) -> None:
    """Raise ValueError if there is no such rule."""
    if ties not in TIES:
        raise ValueError(f"ties {ties!r}: {' or '.join(map(repr, TIES))} expected")


def ignore(cells: int) -> None:
    """Report no progress."""
