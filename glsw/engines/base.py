"""Base class of the engines: what they can be asked, what they answer, and their capabilities."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from glsw.alignment.batch import Batch, Masks
from glsw.alignment.paths import BestCells, Ends, Paths
from glsw.arrays import Int32, Int64
from glsw.device.device import Device
from glsw.engines.answers import check_cells, check_highest, highest
from glsw.engines.sizes import SIZES, SMALLEST, Size, family_of
from glsw.engines.tiles import ScanTile
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.encoded import Sequences
from glsw.trust.provable import Provable, Trial

if TYPE_CHECKING:
    from typing_extensions import Self

    from glsw.engines.windows import LongTargets

Ties = Literal["conventional", "any"]
TIES: tuple[Ties, ...] = ("conventional", "any")
Progress = Callable[[int], None]
Task = Literal["score", "ends", "alignment"]
ProgramOf = tuple[str, dict[str, int | None]]
"""The file of a program, and its macros."""
Mode = Literal["local", "global", "semiglobal"]
Workload = Literal["pairs", "long pairs", "search"]
ALL_MODES: tuple[Mode, ...] = ("local", "global", "semiglobal")


@dataclass(frozen=True)
class Capabilities:
    """The features of an engine, for the router, the benchmarks and the tests.

    Parameters
    ----------
    requires : (int, int), optional
        The OpenGL version that the engine needs, None if it needs no OpenGL.
    tasks : tuple of str
        ``"score"``, ``"ends"``, and ``"alignment"`` if it traces back. For other tasks,
        the router of `glsw.engines.engine_of` selects another engine.
    modes : tuple of str
        ``"local"``, ``"global"``, ``"semiglobal"``.
    simple_ends : bool
        Whether end gap costs are limited, see `EndGaps.at_most`, to sequences of one track.
    masks : bool
        Whether pairs of residues may be forbidden, in local alignments.
    separate_gaps : bool
        Whether gaps in queries and in targets may have different costs.
    positional_gaps : bool
        Whether the gap costs of profiles may depend on the position.
    memory : bool
        Whether the engine accepts ``memory``, a limit in bytes.
    workloads : tuple of str
        Its work in the benchmark ``engines``: ``"pairs"``, ``"long pairs"`` (one pair fills a
        device), ``"search"`` (one query and many targets).
    """

    requires: tuple[int, int] | None = None
    tasks: tuple[Task, ...] = ("score", "ends")
    modes: tuple[Mode, ...] = ("local",)
    simple_ends: bool = False
    masks: bool = False
    separate_gaps: bool = False
    positional_gaps: bool = False
    memory: bool = False
    workloads: tuple[Workload, ...] = ("pairs",)

    def takes(self, scoring: Scoring) -> bool:
        """Tell whether the engine takes such a scoring."""
        return not self.lacking(scoring)

    def lacking(self, scoring: Scoring) -> str:
        """Return what the engine lacks for a scoring, as the end of a sentence, or ""."""
        if not scoring.local and len(self.modes) == 1:
            return "supports local alignment only"
        if scoring.gaps and not self.positional_gaps:
            return "does not support gap costs by position"
        if scoring.separate and not self.separate_gaps:
            return "does not support different gap costs in queries and targets"
        if scoring.end_gaps and self.simple_ends:
            simple = scoring.end_gaps.at_most(*scoring.largest_costs)
            if not simple or isinstance(scoring, TwoTrackScoring):
                return "does not support these end gap costs"
        return ""


class Pairs(NamedTuple):
    """A question to an engine about pairs.

    Parameters
    ----------
    batch : Batch
    task : str
        ``"score"``, ``"ends"`` or ``"alignment"``.
    ties : str
        Of ends: among cells of equal score ``"conventional"`` takes the one with the largest i + j,
        then the smallest i (Aymone 2022, section IV); ``"any"`` leaves the choice to the engine,
        which may take the same one. Alignments have conventional ends.
    """

    batch: Batch
    task: Task = "score"
    ties: Ties = "conventional"

    @property
    def ends(self) -> Ties | None:
        """Where alignments end among equal cells; None if only the scores count."""
        return None if self.task == "score" else self.ties


Best: TypeAlias = BestCells | Int32 | Paths | None
"""The best cells of pairs, or the scores as answered, or paths; None if the host traces back."""
Question: TypeAlias = Pairs | ScanTile
"""What an engine is asked: about pairs, or each query of a tile with each target."""


@dataclass(frozen=True)
class ScanHints:
    """Hints for the scans of an engine on its device."""

    part: int = 2**28  # residues that a part of a database may have, so that a tile fits the memory
    cells_at_once: int = 2**30  # of queries and a part that a tile should have, about
    rate: float | None = 0.0
    """Cells per second of a fast scan, about; 0 if it is slow, None if it is not known."""
    keeps_targets: bool = False
    """Whether a part costs less if it is a part of sequences that were computed before."""
    halves: bool = False  # whether a task whose queries are its targets costs half of another
    targets_at_once: int | None = None
    """Targets of all queries that keep it busy; None if it cuts no long ones."""
    targets_together: int = 1
    """Targets of one query that take as long as one of them. If 1, few targets keep it busy if many
    queries are compared with them."""
    cells_of_pair: int = 2**62  # that a window of a long target and a query may have at most


@dataclass(frozen=True, eq=False)
class ComingScan:
    """A scan that follows, whose hits are aligned."""

    lengths: Int64  # residues of the queries
    residues: int  # of all targets
    first: int = 0  # queries that are compared with these first, 0 if the scan is small


class AnyEngine(Provable):
    """Base of all engines: what each can do, and on which device."""

    k: ClassVar[Literal[2, 3]]
    """Sequences of an alignment."""
    capabilities: Capabilities = Capabilities()
    why: str = ""
    """Why this engine and this device were chosen."""
    memory_used: int = 0
    """Bytes that the largest chunk kept on the device besides the sequences, where counted."""

    def __init__(self, device: Device | None) -> None:
        if self.capabilities.requires and device is None:
            raise TypeError(f"engine {self.name!r} needs a device")
        self._device = device

    @property
    def device(self) -> Device:
        """The device of an engine that needs one."""
        assert self._device is not None
        return self._device

    @property
    def turn(self) -> AbstractContextManager[object]:
        """The device, for a ``with`` block in which this thread alone uses it; else nothing.

        Engines on a device may be used by several threads, each in such a block.
        """
        return self._device or nullcontext()

    @property
    def label(self) -> str:
        """The name of the engine, for results."""
        return self.name

    @property
    def where(self) -> str:
        """Where the engine runs, for results."""
        return self._device.info.name if self._device else "CPU"

    @classmethod
    @abstractmethod
    def trial_scorings(cls) -> Mapping[str, Any]:
        """Return scorings that it takes and whose programs differ, by what they are for."""

    @classmethod
    @abstractmethod
    def tasks_of(cls, scoring: Any) -> tuple[str, ...]:
        """Return what it proves before it is used by its name."""

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """Yield its tasks with several scorings, see `Provable.trials`."""
        for work, scoring in cls.trial_scorings().items():
            for task in cls.tasks_of(scoring):
                yield Trial(f"{work}: {task}", (scoring,), task)

    def check(self, batch: Batch) -> None:
        """Raise ValueError for a batch that the engine cannot compute; activate its device."""
        if batch.k != self.k:
            raise ValueError(f"engine {self.name!r} aligns {self.k} sequences, not {batch.k}")
        if self._device:
            self._device.activate()


class Engine(AnyEngine):
    """One schedule: the order in which the cells of the tables are visited.

    All engines give the same scores and ends; `glsw.engines.reference` is the oracle.

    An engine is asked questions, which are data, and `answers` them one after the other:

    ============================= ==================================================
    question                      answer
    ============================= ==================================================
    ``Pairs(batch)``              best scores, shape (N,), see `scores`
    ``Pairs(batch, "ends")``      `Ends`, see `ends`
    ``Pairs(batch, "alignment")`` `Paths`, see `paths`; None if the host traces back
    `ScanTile`                    best scores, shape (queries, targets)
    `BoundedTile`                 `Passing`, the pairs that score enough
    ============================= ==================================================

    It implements `best`; one that overlaps the work of several questions overrides `answers`, one
    that shares work between the queries of a tile `table`. A `ComingScan` tells it what follows;
    its `hints` say how large tiles should be.

    Parameters
    ----------
    scoring : Scoring
        Substitution matrix and gap costs.
    device : Device or None
        Where to run; None for engines that need no OpenGL.
    """

    k = 2
    rest: Callable[[Batch, Progress], Int32] | None = None
    """Computes the scores of pairs that suit another engine better; the router sets it."""

    def __init__(self, scoring: Scoring, device: Device | None = None) -> None:
        super().__init__(device)
        self.scoring = scoring
        if lacking := self.capabilities.lacking(scoring):
            raise ValueError(f"engine {self.name!r} {lacking}")

    # What it proves: tasks with pairs of certain sizes.

    @classmethod
    def trial_scorings(cls) -> Mapping[str, Scoring]:
        """Return scorings that it takes and whose programs differ, by what they are for."""
        from glsw.engines.awkward import trial_scorings  # it needs `reference`, an engine

        return {
            work: each for work, each in trial_scorings().items() if cls.capabilities.takes(each)
        }

    @classmethod
    def tasks_of(cls, scoring: Scoring) -> tuple[str, ...]:
        """Return what it proves before it is used by its name."""
        masked = ("masked",) if cls.capabilities.masks and scoring.local else ()
        return (*cls.capabilities.tasks, *masked)

    def kinds(
        self, task: str, pairs: Batch | tuple[Sequences, Sequences]
    ) -> Iterator[tuple[str, Size]]:
        """Yield what a task has to prove with pairs, or with sequences, each with each."""
        for size in Size.each_of(pairs):
            yield task, size

    def every(self, task: str) -> Iterable[Hashable]:
        """Return sizes in which all programs are used, and if it computes scores only, a scan."""
        scans = [("scan", SMALLEST)] if "ends" not in self.capabilities.tasks else []
        return [*((task, size) for size in SIZES), *scans]

    def family(self, kind: Any) -> str:
        """Return what distinguishes programs: the task, the scoring, the size, and options."""
        task, size = kind
        m, n = size.lengths
        return f"{task}, {family_of(self.scoring)}, about {m} x {n}, {self.form}"

    def fresh(self) -> Self:
        """Return one like it for a scoring by which the checks can be computed."""
        from glsw.engines.awkward import scoring_of_trials

        return type(self)(scoring_of_trials(self.scoring), *self.given[1:], **self.options)

    def checks(self, kind: Any) -> Iterator[tuple[Any, Any]]:
        """Yield what it computes of awkward pairs, and what `reference` does."""
        from glsw.engines.awkward import checks

        return checks(self, *kind)

    def scores(self, batch: Batch, *, progress: Progress | None = None) -> Int32:
        """Return the best score of each pair, in the mode of the scoring.

        Parameters
        ----------
        batch : Batch
            N pairs.
        progress : callable, optional
            Called now and then with the number of cells finished since the last call; the sum over
            a call is `Batch.cells`.

        Returns
        -------
        ndarray of int32, shape (N,)
            Global and semi-global scores may be negative.

        Raises
        ------
        ValueError
            If a score could leave int32, or a sequence is too long for this engine and device.
        """
        return cast("Int32", self.answer(Pairs(batch), progress))

    def is_table(self, batch: Batch) -> bool:
        """Tell whether scores of pairs are taken from those of all their queries and targets.

        Then pairs that are computed together cost less than the same in parts.
        """
        return False

    def prepare(self, batch: Batch) -> None:
        """Compute what `answers` will need of a batch: in any thread, without the device."""

    @property
    def hints(self) -> ScanHints:
        """What suits scans: `answers` to tiles."""
        return ScanHints()

    def get_ready(self, coming: ComingScan) -> None:
        """Get ready for a scan, or to align its hits."""

    def programs(self, coming: ComingScan) -> Iterator[ProgramOf]:
        """Yield programs for a scan that are not proved yet, or those that align its hits."""
        return iter(())

    def answers(
        self, questions: Iterable[Question], *, progress: Progress | None = None
    ) -> Iterator[Any]:
        """Yield the answer to each question.

        Parameters
        ----------
        questions : iterable of Pairs, ScanTile or BoundedTile
            All of one kind. The next one may be asked for while one is being computed.
        progress : callable, optional
            As in `scores`.

        Yields
        ------
        ndarray of int32, Ends, Paths, None or Passing
            See the table of `Engine`.

        Raises
        ------
        ValueError
            As in `scores`.
        """
        return (self.answer(asked, progress) for asked in questions)

    def answer(self, asked: Question, progress: Progress | None) -> Any:
        """Return the answer to one question, see `answers`."""
        if isinstance(asked, ScanTile):
            return asked.answer(self.table(asked, progress or ignore))
        if asked.task not in self.capabilities.tasks:
            if asked.task == "alignment":
                return None
            raise ValueError(f"engine {self.name!r} computes scores only")
        self.check(asked.batch)
        best = self.best(asked, progress or ignore)
        if not isinstance(best, BestCells):
            return best
        if asked.ends:
            return self.ends_of(asked.batch, best)
        return self.finished(asked.batch, best, cells=False).score

    def table(self, tile: ScanTile, progress: Progress) -> Int32:
        """Return the best score of each query of a tile with each target."""
        found = tile.room()
        for q, query in enumerate(tile.queries):
            batch = Batch.one_to_many(query, tile.targets)
            some = len(query) or not self.scoring.local
            found[q] = self.scores(batch, progress=progress) if some else 0
        return found

    def ends(
        self, batch: Batch, *, ties: Ties = "conventional", progress: Progress | None = None
    ) -> Ends:
        """Return the best score of each pair and where its alignment ends.

        In global and semi-global alignments that is the cell after which only a gap at the right
        end may follow. ``ties`` is as of `Pairs`, other parameters and errors as in `scores`.
        """
        check_ties(ties)
        return cast("Ends", self.answer(Pairs(batch, "ends", ties), progress))

    def paths(self, batch: Batch, *, progress: Progress | None = None) -> Paths | None:
        """Return the best alignment of each pair, as the engine traces it back.

        None for an engine that leaves this to the host. Gaps at the ends of global and semi-global
        alignments are not in it: see `Runs.with_end_gaps`. Parameters and errors as in `ends`.
        """
        return cast("Paths | None", self.answer(Pairs(batch, "alignment"), progress))

    def check(self, batch: Batch) -> None:
        """Raise ValueError for a batch that the engine cannot compute; activate its device."""
        super().check(batch)
        if batch.masks is not None and not (self.capabilities.masks and self.scoring.local):
            what = "" if self.scoring.local else " in global and semi-global alignments"
            raise ValueError(f"engine {self.name!r} does not support masks{what}")
        if len(batch):
            m, n = batch.extent[1].tolist()
            self.check_lengths(m, n, batch.masks)
            self.scoring.check_positions(batch.queries)

    def check_lengths(self, m: int, n: int, masks: Masks | None = None) -> None:
        """Raise ValueError if pairs up to these lengths could leave int32, or are too long."""
        self.scoring.check(m, n)

    @property
    def long_targets(self) -> LongTargets | None:
        """What cuts the targets of short queries and keeps scores of windows, if anything does."""
        return None

    def fits(self, asked: Pairs) -> bool:
        """Tell whether the device can compute pairs of these lengths, with such masks.

        ``"alignment"`` is asked only of engines that trace back.
        """
        return self.capabilities.masks or asked.batch.masks is None

    @abstractmethod
    def best(self, asked: Pairs, progress: Progress) -> Best:
        """Return the best cell of each pair, or its path.

        Without ``asked.ends`` only the scores count. Pairs may have empty sequences. Global and
        semi-global scores are higher by `Scoring.score_offset`, and cells before the first residue
        may be missing: see `finished`.
        """

    def finished(self, batch: Batch, best: BestCells, *, cells: bool = True) -> BestCells:
        """Return the best cells of `best` without the offset of global and semi-global scores.

        Without ``cells`` only the scores count.
        """
        check_highest(self, highest(best.score), *batch.extent[1].tolist())
        if self.scoring.local or not len(batch):
            return best
        m, n = batch.query_lengths, batch.target_lengths
        begin = batch.queries.offsets[batch.query_index]
        ends = self.scoring.ends_of(batch.queries.residues, begin, m)
        assert ends
        inside = np.where(
            (m == 0) | (n == 0), -(2**40), best.score - self.scoring.score_offset(m, n)
        )
        # All of the query and then all of the target opposite gaps, or the other way round.
        gaps = ends.left(m) + ends.behind(0, n), ends.above(n) + ends.behind(m, 0)
        if not cells:
            return BestCells(np.maximum(inside, np.maximum(*gaps)).astype(np.int32), best.cell)
        every = (inside, best.i, best.j), (gaps[0], m, 0 * m), (gaps[1], 0 * n, n)
        score, i, j = np.array(every, np.int64).transpose(1, 0, 2)
        first = np.lexsort((i, -(i + j), -score), axis=0)[0], np.arange(len(batch))
        return BestCells.of(score[first], i[first], j[first])

    def as_cells(self, batch: Batch, found: BestCells | Int32) -> BestCells:
        """Return scores as answered like other best cells."""
        if isinstance(found, BestCells):
            return found
        best = BestCells(found, np.zeros(batch.index.shape, np.int32))
        if not self.scoring.local:
            best.score[:] += self.scoring.score_offset(*batch.lengths.T).astype(np.int32)
            best.score[(batch.lengths == 0).any(axis=1)] = 0  # see `finished`
        return best

    def ends_of(self, batch: Batch, best: BestCells) -> Ends:
        """Return where the alignments end, given what `best` returned."""
        cells = check_cells(self, batch.lengths, self.finished(batch, best))
        found = (cells.score > 0) | (not self.scoring.local)
        return Ends(cells.score, cells.cell * found[:, None])


def check_ties(ties: str) -> None:
    """Raise ValueError for an unknown tie rule."""
    if ties not in TIES:
        raise ValueError(f"ties {ties!r}: {' or '.join(map(repr, TIES))} expected")


def ignore(cells: int) -> None:
    """Report no progress."""


class Proportion:
    """Progress of work that stands for other work: of windows that overlap, for the targets cut.

    It reports cells in proportion to the work that computes them, and exactly all in the end.

    Parameters
    ----------
    progress : callable
        Called with the number of cells finished since the last call.

    Examples
    --------
    >>> finished = []
    >>> heard = Proportion(finished.append)
    >>> heard.expect(24, 15)
    >>> heard.expect(10, 10)
    >>> for done in (10, 20, 4):
    ...     heard(done)
    >>> finished
    [6, 15, 4]
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._expected: deque[tuple[int, int]] = deque()

    def expect(self, work: int, cells: int) -> None:
        """Expect so much work, which stands for these cells, after all that was expected before."""
        self._expected.append((work, cells))

    def __call__(self, done: int) -> None:
        """Take note of work that is done."""
        finished = 0
        while done and self._expected:
            work, cells = self._expected.popleft()
            part = min(done, work)
            share = cells * part // max(1, work)
            if part < work:
                self._expected.appendleft((work - part, cells - share))
            finished += share
            done -= part
        self._progress(finished)
