"""The scan of a database whose long targets are cut into windows where that pays."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.engines.base import Engine, Progress, ignore
from glsw.engines.proportion import Proportion
from glsw.engines.windows import (
    Places,
    Windows,
    WindowScores,
    long_enough,
    longest_spans,
    shortest_cut,
    window_groups,
    window_length,
)
from glsw.sequences.encoded import Sequences

_Int64 = npt.NDArray[np.int64]


def scan_windows(
    engine: Engine,
    tasks: Iterable[tuple[Sequences, Sequences]],
    *,
    progress: Progress | None = None,
) -> Iterator[tuple[npt.NDArray[np.int32], Places | None]]:
    """Yield what `Engine.scan_each` yields, and where in long targets; these are cut if that pays.

    Parameters as of `Engine.scan_each`. Queries of similar spans share windows.
    """
    for to_cut, some in groupby(tasks, key=lambda task: _pays(engine, *task)):
        if not to_cut:
            for scores in engine.scan_each(some, progress=progress):
                yield scores, None
            continue
        yield from _scan_cut(engine, some, progress or ignore)


def _pays(engine: Engine, queries: Sequences, part: Sequences) -> bool:
    """Tell whether some of the queries should meet windows of the targets."""
    fill, longest = engine.hints.targets_at_once, part.lengths.max(initial=0)
    if fill is None or not engine.scoring.local or not len(queries):
        return False
    if longest < shortest_cut(queries.lengths.min(keepdims=True))[0]:
        return False
    span = int(longest_spans(engine.scoring, queries).min())
    length = window_length(span, len(part.residues), fill)
    return length > 0 and long_enough(part, length)


def _scan_cut(
    engine: Engine, tasks: Iterable[tuple[Sequences, Sequences]], progress: Progress
) -> Iterator[tuple[npt.NDArray[np.int32], Places]]:
    """Yield the scores of tasks whose targets are cut; the next one is prepared meanwhile."""
    plans: deque[_Plan] = deque()
    made: dict[tuple[int, int], Windows] = {}
    report = Proportion(progress)

    def scans() -> Iterator[tuple[Sequences, Sequences]]:
        last = None
        for queries, part in tasks:
            if part is not last:
                made.clear()
                last = part
            spans = longest_spans(engine.scoring, queries)
            groups = list(window_groups(engine, spans, part, made))
            plans.append(_Plan(queries, part, spans, groups))
            for group, windows in groups:
                some = queries.select(group.tolist())
                report.expect(*windows.cells(some, part))
                yield some, windows.sequences

    found = engine.scan_each(scans(), progress=report)
    for scores in found:
        plan = plans[0]
        every = [scores, *(next(found) for _ in plan.groups[1:])]
        yield plan.result(every)
        plans.popleft()


class _Plan(NamedTuple):
    """A task, the longest spans of its queries, and the groups of these that share windows."""

    queries: Sequences
    part: Sequences
    spans: _Int64
    groups: list[tuple[npt.NDArray[np.intp], Windows]]

    def result(self, scores: list[npt.NDArray[np.int32]]) -> tuple[npt.NDArray[np.int32], Places]:
        """Return the best scores, and where, given the scores of the windows of each group."""
        found = np.zeros((len(self.queries), len(self.part)), np.int32)
        start = np.zeros(found.shape, np.int64)
        stop = np.broadcast_to(self.part.lengths, found.shape).copy()
        cut = np.zeros(len(self.part), bool)
        for (group, windows), each in zip(self.groups, scores, strict=True):
            found[group] = windows.best(each)
            places = windows.places(each, self.queries.lengths[group], self.spans[group])
            cut[places.targets] = True
            at = np.ix_(group, places.targets)
            start[at], stop[at] = places.start, places.stop
        every = np.flatnonzero(cut)

        def of_windows(query: int, target: int) -> WindowScores:
            for (group, windows), each in zip(self.groups, scores, strict=True):
                for row in np.flatnonzero(group == query).tolist():
                    return windows.scores(each[row], target, int(self.spans[query]))
            raise IndexError(query)

        return found, Places(every, start[:, every], stop[:, every], of_windows)
