"""Engine for short queries and long targets: windows of these, then the columns that matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch, Mask
from glsw.alignment.paths import BestCells, Ends, Paths
from glsw.alignment.traceback import trace
from glsw.engines.answers import check_traced
from glsw.engines.base import Engine, Progress, Ties, ignore
from glsw.engines.proportion import Proportion
from glsw.engines.windows import WindowScores, longest_spans, shortest_cut, window_groups
from glsw.sequences.encoded import Sequences

_MAX_SCORES_KEPT = 2**25


class _Kept(NamedTuple):
    """What is known of some queries and targets.

    Parameters
    ----------
    scores : dict
        By query and target: those of the windows, without masks.
    masked : dict
        By query, target and window: a digest of its last mask, and the score with it.
    """

    scores: dict[tuple[int, int], WindowScores]
    masked: dict[tuple[int, int, int], tuple[bytes, int]]


class Windowed(Engine):
    """Compute pairs of short queries and long targets by the windows of these, see `windows`.

    One engine scans the windows; another one gets those columns of each target that have the best
    alignment. Scores of windows are kept as long as their sequences exist: further alignments of a
    pair, whose masks touch few windows, cost little.

    Parameters
    ----------
    scanner : Engine
        Scans windows.
    aligner : Engine
        Computes ends and paths, and windows with masks.
    """

    name = "windows"

    def __init__(self, scanner: Engine, aligner: Engine) -> None:
        self.capabilities = aligner.capabilities
        super().__init__(aligner.scoring, aligner._device)
        self._scanner, self._aligner = scanner, aligner
        self._kept: WeakKeyDictionary[Sequences, WeakKeyDictionary[Sequences, _Kept]]
        self._kept = WeakKeyDictionary()
        self._count = 0

    def best(
        self, batch: Batch, ends: bool, progress: Progress, *, ties: Ties = "conventional"
    ) -> BestCells:
        """Return the best cell of each pair, see `Engine.best`."""
        windows = self._windows(batch, progress)
        if not ends:
            score = [each.score.max(initial=0) for each in windows]
            return BestCells(np.array(score, np.int32), np.zeros((len(batch), 2), np.int32))
        cropped, start = _cropped(batch, windows)
        best = self._aligner.best(cropped, True, ignore, ties=ties)
        return BestCells.of(best.score, best.i, best.j + start)

    def paths(
        self, batch: Batch, *, ties: Ties = "conventional", progress: Progress | None = None
    ) -> Paths:
        """Return the best alignment of each pair, see `Engine.paths`."""
        cropped, start = _cropped(batch, self._windows(batch, progress or ignore))
        paths = self._aligner.paths(cropped, ties=ties) or self._traced(cropped, ties)
        end = paths.ends.end.copy()
        end[:, 1] += start * (paths.ends.score > 0)
        return Paths(Ends(paths.ends.score, end), paths.runs, paths.offsets)

    def _traced(self, batch: Batch, ties: Ties) -> Paths:
        """Return the best alignments of pairs, traced back on the host."""
        ends = self._aligner.ends(batch, ties=ties)
        cells = enumerate(ends.end.tolist())
        found = [trace(*batch.pair(p), self.scoring, *end, mask=batch.mask(p)) for p, end in cells]
        check_traced(self, ends, [score for _, score in found])
        words = [(runs.lengths << 2 | runs.moves)[::-1].astype(np.uint32) for runs, _ in found]
        return Paths.of(ends, words)

    def _windows(self, batch: Batch, progress: Progress) -> list[WindowScores]:
        """Return the scores of the windows of each pair, masks considered."""
        pairs: list[tuple[int, int]] = [(q, t) for q, t in batch.index.tolist()]
        known = self._known(batch.queries, batch.targets).scores
        missing = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        if missing and self._count > _MAX_SCORES_KEPT:
            self._kept.clear()
            self._count, missing = 0, list(dict.fromkeys(pairs))
            known = self._known(batch.queries, batch.targets).scores
        by_target: dict[int, list[int]] = {}
        for q, t in missing:
            by_target.setdefault(t, []).append(q)
        alike: dict[tuple[int, ...], list[int]] = {}
        for t, own in by_target.items():
            alike.setdefault(tuple(own), []).append(t)
        m, n = batch.queries.lengths, batch.targets.lengths
        progress(batch.cells - sum(int(m[q] * n[t]) for q, t in missing))  # known, or asked twice
        for queries, targets in alike.items():
            part = batch.targets.select(targets)
            for q, t, each in self._scanned(batch.queries.select(queries), part, progress):
                known[queries[q], targets[t]] = each
                self._count += len(each.score)
        windows = [known[pair] for pair in pairs]
        if batch.masks is not None:
            windows = self._with_masks(batch, windows, batch.masks)
        return windows

    def keep_windows(
        self, queries: Sequences, targets: Sequences, found: Mapping[tuple[int, int], WindowScores]
    ) -> None:
        """Keep scores that a scan has found, see `Engine.keep_windows`."""
        self._known(queries, targets).scores.update(found)
        self._count += sum(len(each.score) for each in found.values())

    def _known(self, queries: Sequences, targets: Sequences) -> _Kept:
        """Return the scores that are kept of these sequences."""
        by_targets = self._kept.setdefault(queries, WeakKeyDictionary())
        return by_targets.setdefault(targets, _Kept({}, {}))

    def _scanned(
        self, queries: Sequences, targets: Sequences, progress: Progress
    ) -> Iterator[tuple[int, int, WindowScores]]:
        """Yield the scores of each query with the windows of each target."""
        spans = longest_spans(self.scoring, queries)
        for group, windows in window_groups(self._scanner, spans, targets, {}):
            some = queries.select(group.tolist())
            report = Proportion(progress)
            report.expect(*windows.cells(some, targets))
            [scores] = self._scanner.scan(some, [windows.sequences], progress=report)
            for t in range(len(targets)):
                for q, row in zip(group.tolist(), scores, strict=True):
                    yield q, t, windows.scores(row, t, int(spans[q]))

    def _with_masks(
        self, batch: Batch, windows: list[WindowScores], masks: tuple[Mask, ...]
    ) -> list[WindowScores]:
        """Return the scores with those windows computed again whose masks are new."""
        from hashlib import blake2b  # only for masks

        known = self._known(batch.queries, batch.targets).masked
        touched: list[tuple[int, int, bytes]] = []
        parts, pieces = [], []
        pairs: list[tuple[int, int]] = [(q, t) for q, t in batch.index.tolist()]
        for p, (each, mask) in enumerate(zip(windows, masks, strict=True)):
            windows[p] = each._replace(score=each.score.copy())
            columns = np.sort(mask.columns)
            first, end = np.searchsorted(columns, [each.start, each.stop])
            for w in np.flatnonzero(end > first).tolist():
                bound = slice(int(each.start[w]), int(each.stop[w]))
                part = mask.part(slice(None), bound)
                digest = blake2b(part.offsets.tobytes() + part.columns.tobytes()).digest()
                before, score = known.get((*pairs[p], w), (b"", 0))
                if before == digest:
                    windows[p].score[w] = score
                    continue
                touched.append((p, w, digest))
                pieces.append(batch.targets[int(batch.target_index[p])][bound])
                parts.append(part)
        if touched:
            owners = np.array([p for p, *_ in touched])
            every = np.arange(len(touched), dtype=np.int32)
            again = Batch.indexed(
                batch.queries, Sequences.of(pieces), batch.query_index[owners], every
            ).masked(parts)
            scores = self._aligner.best(again, False, ignore).score
            for (p, w, digest), score in zip(touched, scores.tolist(), strict=True):
                windows[p].score[w] = score
                known[(*pairs[p], w)] = digest, score
        return windows


def may_cut(batch: Batch) -> bool:
    """Tell whether a target could be long enough beside its query that `cuts` is worth asking."""
    shortest, longest = int(batch.extent[0, 0]), int(batch.extent[1, 1])
    return longest >= int(shortest_cut(np.array([shortest]))[0])  # no span is below m


def cuts(engine: Engine, batch: Batch) -> bool:
    """Tell whether the targets are so long beside the queries that windows can replace them."""
    if not engine.hints.targets_at_once or not engine.scoring.local or not len(batch):
        return False
    m, n = int(batch.extent[1, 0]), int(batch.extent[0, 1])
    if n < shortest_cut(np.array([m]))[0]:  # no span is below m
        return False
    spans = longest_spans(engine.scoring, batch.queries)[batch.query_index]
    return n >= int(shortest_cut(spans.max(keepdims=True))[0])


def _cropped(batch: Batch, windows: list[WindowScores]) -> tuple[Batch, npt.NDArray[np.int64]]:
    """Return the pairs with those columns that have the best alignment, and the first column."""
    bounds = np.zeros((len(batch), 2), np.int64)
    for p, each in enumerate(windows):
        if each.score.max(initial=0) > 0:
            last = len(each.score) - 1 - int(each.score[::-1].argmax())
            left = int(each.start[last]) + 1 - int(batch.query_lengths[p]) - each.span
            bounds[p] = max(0, left), each.stop[last]
    slices = [slice(*bound) for bound in bounds.tolist()]
    targets = Sequences.of(
        batch.targets[t][columns]
        for t, columns in zip(batch.target_index.tolist(), slices, strict=True)
    )
    every = np.arange(len(batch), dtype=np.int32)
    cropped = Batch.indexed(batch.queries, targets, batch.query_index, every)
    if batch.masks is not None:
        pairs = zip(batch.masks, slices, strict=True)
        cropped = cropped.masked(mask.part(slice(None), columns) for mask, columns in pairs)
    return cropped, bounds[:, 0]
