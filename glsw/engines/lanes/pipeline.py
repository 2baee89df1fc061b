"""The order of work of scans by engine ``lanes``: the device is busy while the host prepares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.engines.lanes.jobs import Round
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    from glsw.engines.base import Progress
    from glsw.engines.lanes.engine import Lanes

_MAX_SCORE_BYTES = 2**28
_MAX_QUERY_GROUPS = 1024


class _Work(NamedTuple):
    """Queries of a task that are computed together.

    Parameters
    ----------
    queries, part : Sequences
        Of the task.
    groups : list of list of int
        The numbers of one or two queries each.
    stacked : int
        About how many groups one dispatch takes: the same for all tasks with one part, so that its
        targets are packed once.
    found : ndarray of int32, shape (queries, targets)
        For the scores of the task.
    last : bool
        Whether these are the last queries of the task.
    """

    queries: Sequences
    part: Sequences
    groups: list[list[int]]
    stacked: int
    found: npt.NDArray[np.int32]
    last: bool


class Pipeline:
    """Computes tasks one after the other, and prepares the next one meanwhile.

    While a round of queries is being computed, the jobs of the next one are made, or its targets
    are uploaded; its first slice of work is queued before the scores of the last one are yielded.
    """

    def __init__(
        self, engine: Lanes, tasks: Iterable[tuple[Sequences, Sequences]], progress: Progress
    ) -> None:
        self._engine, self._progress = engine, progress
        self._works = self._work_of(tasks)
        self._next: tuple[_Work | None, Round | None] = None, None

    def run(self) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the scores of each task."""
        engine = self._engine
        work = next(self._works, None)
        current = self._begin(work) if work else None
        while work and current:
            part = work.part
            engine.meanwhile = lambda part=part: self._look_ahead(part)
            for _ in current.slices:
                engine.do_meanwhile()
            engine.do_meanwhile()  # unless something was computed
            for numbers, scores in zip(work.groups, engine.finish(current), strict=True):
                work.found[numbers] = scores
            following, current = self._next
            if following and not current:
                current = self._begin(following)
            if current:
                engine.queue_ahead(current)
            packings = engine.packings
            if work.last:
                yield work.found
            if following and packings != engine.packings:  # the caller has used the engine
                current = self._begin(following)
            work = following

    def _look_ahead(self, part: Sequences) -> None:
        """Prepare the next queries, or upload the residues of their targets."""
        following = next(self._works, None)
        prepared = None
        if following and following.part is part:
            prepared = self._begin(following)
        elif following:
            self._engine.prefetch(following.part)
        self._next = following, prepared

    def _begin(self, work: _Work) -> Round:
        """Make the jobs of some queries; nothing is queued yet but the packing of targets."""
        engine = self._engine
        engine.device.activate()
        every = np.arange(len(work.part), dtype=np.int32)
        targets = engine.targets_of(work.part, every, work.stacked)
        return engine.round_of(_codes(work.queries, work.groups), targets, self._progress)

    def _work_of(self, tasks: Iterable[tuple[Sequences, Sequences]]) -> Iterator[_Work]:
        last, stacked = None, 1
        for queries, part in tasks:
            self._engine.check_lengths(queries, part)
            found = np.zeros((len(queries), len(part)), np.int32)
            groups = list(self._engine.geometries.together(queries.lengths))
            most = min(_MAX_SCORE_BYTES // (8 * max(1, len(part))), _MAX_QUERY_GROUPS)
            most = 1 if self._engine.on_software else max(1, most)
            if part is not last:
                stacked = self._engine.geometries.stacked(_codes(queries, groups[:most]))
                last = part
            starts = range(0, max(1, len(groups)), most)
            for start in starts:
                some = groups[start : start + most]
                yield _Work(queries, part, some, stacked, found, start == starts[-1])


def _codes(queries: Sequences, groups: list[list[int]]) -> list[list[npt.NDArray[np.uint8]]]:
    return [[queries[q] for q in numbers] for numbers in groups]
