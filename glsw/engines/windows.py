"""Windows: long targets cut into overlapping parts, for queries that are much shorter.

A best alignment can be cut at each of its gaps: what comes before a gap pays for all gaps up to it
and more, as the alignment would be better without both, and what comes behind it pays for all from
it on. So the residues of the target that stand opposite gaps are bounded by what the aligned pairs
can pay for: let T be the sum, over the residues of the query, of the best score that each can have
with any letter (or 0 if that is negative), less 1, and C the costs of the k gaps in the query, c of
the dearest, which is paid for on both sides:

    C + c <= T,  and as c >= C / k,  C <= T - T / (k + 1)

Of these C, k times d = gap_open - gap_extend are not for the D residues in the gaps:

    D * gap_extend <= T - T / (k + 1) - k * d <= (sqrt(T) - sqrt(d))**2

which is the maximum over k. There is no gap if T < 2 * gap_open. The alignment spans at most m + D
residues of the target, m of which stand opposite the query.

Let windows overlap by this span minus 1: then every best alignment lies in a window as a whole, and
in it has the same score. No window has more, as each alignment in it is one of the target. So

- the best score is the maximum over the windows, and the same cells reach it;
- the best cell of the conventional end, with the largest i + j, then the smallest i, is in the
  columns behind s + 1 - m, s being where the last window with the best score begins: some best cell
  has j > s there, so the sum is at least s + 2, and i is at most m;
- every best alignment that ends there begins less than a span before, so that a cut-out of the
  target from s + 1 - m - span to the end of that window has it. The path traced back is the same:
  in a cell of a best path the values are those of the whole table, as every alignment up to there,
  continued along the path, is a best one too, and elsewhere they can only be lower.

Pairs that masks forbid take alignments away and add none, so all of this holds with masks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from glsw.alignment.batch import Batch, Masks
from glsw.alignment.paths import BestCells, Ends, Paths
from glsw.arrays import Int32, Int64, Intp
from glsw.engines.base import Best, Engine, Pairs, Progress, Proportion, ignore
from glsw.engines.tiles import ScanTile
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences, offsets_of, ranges

_SHORTEST_WINDOW, _USUAL_WINDOW = 256, 2**12
LONGEST_WINDOW = 2**18  # four spans of a protein of 9,000 residues
_LEAST_SPANS, _MOST_SPANS = 4, 32  # of a window: its overlap is a quarter of it, or less
_SPANS_ON_CPU = 6  # where the alignment in a window takes as long as the scan of very many
_MIN_TARGET_WINDOWS = 3  # a shorter target stays whole
_MIN_SHARE = 4  # a part is cut if at least one in so many residues is in long targets
_SPANS_ALIKE = 1.5  # of the queries that share windows
_FEW_ROUNDS = 16  # with more of them it does not matter if the last one is not full
_ENDLESS = 2**62
_MAX_SCORES, _MAX_SCORES_KEPT = 2**26, 2**25  # of queries and windows


def longest_spans(scoring: Scoring, queries: Sequences) -> Int64:
    """Return how many residues of a target a best alignment of each query spans at most.

    It is 2**62 if extending a gap costs nothing.

    Examples
    --------
    >>> scoring = Scoring.match_mismatch(2, -3, gap_open=7, gap_extend=2)
    >>> queries = Sequences.of([np.zeros(length, np.uint8) for length in (20, 3)])
    >>> longest_spans(scoring, queries).tolist()
    [29, 3]
    """
    best = np.maximum(scoring.matrix.max(axis=1), 0).astype(np.int64)
    sums = offsets_of(best[queries.residues])[queries.offsets]
    total, costs = np.maximum(np.diff(sums) - 1, 0), scoring.deletion
    if not costs.extend:
        gaps = np.full(len(total), _ENDLESS)
    else:
        most = np.sqrt(total) - np.sqrt(costs.open - costs.extend)
        gaps = np.ceil(most**2 / costs.extend).astype(np.int64)
    gaps[total < 2 * costs.open] = 0
    spans: Int64 = np.minimum(queries.lengths + gaps, _ENDLESS)
    return spans


def window_length(
    span: int,
    residues: int,
    windows: int,
    together: int = 1,
    targets: int = 1,
    most: int = LONGEST_WINDOW,
) -> int:
    """Return how long windows should be: at least so many, if they are long enough for that.

    Parameters
    ----------
    span : int
        The longest span of the queries.
    residues : int
        Of all targets, times the queries that are compared with them at the same time.
    windows : int
        Windows that keep the device busy.
    together : int
        Windows that cost as much as one, so that there should be a multiple of them, or fewer.
    targets : int
        That are cut, each of which has windows of its own.
    most : int
        Residues that a window may have.

    Returns
    -------
    int
        0 if no window is long enough for the span.

    Examples
    --------
    >>> window_length(198, 2 * 48502, 2**16), window_length(198, 2 * 48502, 64)
    (792, 1713)
    >>> window_length(198, 48502, 64, 32)  # so that they are 64, not 82
    952
    >>> window_length(198, 6 * 48502, 64, 32, 6)  # so that they are 60, not 66
    5110
    >>> window_length(2 * 10**5, 10**9, 64)
    0
    """
    wanted = span + residues // windows
    spans = _MOST_SPANS if together == 1 else _SPANS_ON_CPU
    length = min(max(wanted, _LEAST_SPANS * span), max(spans * span, _USUAL_WINDOW))
    length = min(max(length, _SHORTEST_WINDOW), most)
    starts, step = max(1, residues - targets * (span - 1)), length - span + 1
    rounds = max(1, round(starts / (max(1, step) * together)))
    if together > 1 and 2 * targets <= rounds * together <= _FEW_ROUNDS * together:
        even = span - 1 - (-starts // (rounds * together - targets + 1))
        length = min(even, most) if even >= max(2 * span, _SHORTEST_WINDOW) else length
    return length if length >= 2 * span else 0


def shortest_cut(spans: Int64) -> Int64:
    """Return the length from which targets are worth cutting for queries of these spans."""
    length = np.clip(_LEAST_SPANS * np.minimum(spans, LONGEST_WINDOW), _SHORTEST_WINDOW, None)
    never = spans * 2 > LONGEST_WINDOW
    shortest = np.minimum(_MIN_TARGET_WINDOWS * length, LONGEST_WINDOW)
    return np.where(never, _ENDLESS, shortest + 1)


def window_bounds(lengths: Int64, length: int, overlap: int) -> tuple[Int64, Int64, Int64]:
    """Cut targets into windows of this length, of which neighbours overlap.

    Targets that would have fewer than three windows stay whole, but for those that are longer than
    `LONGEST_WINDOW`.

    Returned are the first window of each target, and behind all the number of windows; and the
    columns of each window, where it starts and stops.

    Examples
    --------
    >>> [each.tolist() for each in window_bounds(np.array([9, 4]), 4, 1)]
    [[0, 3, 4], [0, 3, 6, 0], [4, 7, 9, 4]]
    """
    step = length - overlap
    counts = 1 + np.maximum(0, -(-(lengths - length) // step))
    counts[(counts < _MIN_TARGET_WINDOWS) & (lengths <= LONGEST_WINDOW)] = 1
    first = offsets_of(counts)
    start = ranges(np.zeros_like(counts), counts) * step
    stop = start + length
    stop[first[1:] - 1] = lengths
    return first, start, stop


class WindowScores(NamedTuple):
    """The best scores of a query with the windows of a target."""

    score: Int32
    start: Int64  # the first column of each
    stop: Int64
    span: int  # the longest of an alignment of the query

    def columns(self, m: int) -> tuple[int, int]:
        """Return the columns that have the best alignment, of a query of m letters.

        See the top of this module; none if no window scores.
        """
        last = len(self.score) - 1 - int(self.score[::-1].argmax())
        if self.score[last] <= 0:
            return 0, 0
        return max(0, int(self.start[last]) + 1 - m - self.span), int(self.stop[last])


class Places(NamedTuple):
    """Where in long targets the best alignments are."""

    targets: Int64  # those that were cut
    windows: Callable[[int, int], WindowScores]  # of a query and a target, by their numbers


@dataclass(frozen=True, eq=False)
class Windows:
    """Targets, the long ones of which are cut.

    Examples
    --------
    >>> targets = Sequences.of([np.arange(9, dtype=np.uint8), np.arange(4, dtype=np.uint8)])
    >>> windows = Windows.of(targets, length=4, overlap=1)
    >>> [window.tolist() for window in windows.sequences]
    [[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8], [0, 1, 2, 3]]
    >>> windows.best(np.array([[5, 9, 9, 2]], np.int32)).tolist()
    [[9, 2]]
    """

    sequences: Sequences  # the windows of the first target, of the second, and so on; copies
    first: Int64  # the windows of target t are first[t] to first[t + 1] - 1
    start: Int64  # where in its target each begins

    @classmethod
    def of(cls, targets: Sequences, length: int, overlap: int) -> Windows:
        """Cut the targets, see `window_bounds`."""
        first, start, stop = window_bounds(targets.lengths, length, overlap)
        counts = np.diff(first)
        offsets = offsets_of(stop - start)
        residues = np.empty(offsets[-1], targets.code_type)
        done = 0  # targets; the whole ones before a cut one are copied together
        for cut in [*np.flatnonzero(counts > 1).tolist(), len(targets)]:
            part = targets.part(slice(done, cut)).residues
            at = int(offsets[first[done]])
            residues[at : at + len(part)] = part
            done = cut + 1
            if cut == len(targets):
                break
            whole = targets[cut]
            windows = sliding_window_view(whole, length)[:: length - overlap][: counts[cut] - 1]
            at = int(offsets[first[cut]])
            residues[at : at + windows.size].reshape(windows.shape)[:] = windows
            last = whole[int(start[first[done] - 1]) :]
            residues[at + windows.size : at + windows.size + len(last)] = last
        return cls(Sequences(residues, offsets), first, start)

    def cells(self, queries: Sequences, targets: Sequences) -> tuple[int, int]:
        """Return the cells of queries with these windows, and with the targets that were cut."""
        m, scanned, n = (int(each.lengths.sum()) for each in (queries, self.sequences, targets))
        return m * scanned, m * n

    def best(self, scores: Int32) -> Int32:
        """Return the best scores of the targets, shape (queries, targets), given those of windows.

        ``scores`` has the shape (queries, windows).
        """
        if len(self.start) == len(self.first) - 1:
            return scores
        found: Int32 = np.maximum.reduceat(scores, self.first[:-1], axis=1)
        return found

    def scores(self, scores: Int32, target: int, span: int) -> WindowScores:
        """Return the scores of a query with the windows of a target, given those with all."""
        own = slice(int(self.first[target]), int(self.first[target + 1]))
        start = self.start[own]
        return WindowScores(scores[own].copy(), start, start + self.sequences.lengths[own], span)


def long_enough(part: Sequences, length: int) -> bool:
    """Tell whether enough residues are in targets that such windows would cut."""
    long = part.lengths > min(_MIN_TARGET_WINDOWS * length, LONGEST_WINDOW)
    return int(part.lengths[long].sum()) * _MIN_SHARE >= max(1, part.size)


def window_groups(
    engine: Engine,
    queries: Sequences,
    spans: Int64,
    part: Sequences,
    made: dict[tuple[int, int], Windows],
) -> Iterator[tuple[Intp, Windows]]:
    """Yield the queries that share windows, and these; whole targets where windows do not pay.

    Spans are rounded up, so that windows can be used again: ``made`` has those of these targets by
    length and overlap, and new ones are added.
    """
    order = np.argsort(spans, kind="stable")
    fill = engine.hints.targets_at_once or 1
    while len(order):
        alike = int(np.searchsorted(spans[order], spans[order[0]] * _SPANS_ALIKE, "right"))
        group, span = order[:alike], _rounded(int(spans[order[alike - 1]]))
        residues, targets, together = part.size, fill, engine.hints.targets_together
        if together == 1:
            residues *= len(group)
        else:  # several queries keep it busy if they fill the lanes
            targets = max(fill // len(group), together)
        most = _longest_window(engine, int(queries.lengths[group].max()))
        length = window_length(span, residues, targets, together, len(part), most)
        key = length, span - 1
        if not length or not long_enough(part, length):
            yield group, Windows(part, np.arange(len(part) + 1), np.zeros(len(part), np.int64))
        else:
            windows = made[key] = made.get(key) or Windows.of(part, *key)
            most = max(1, _MAX_SCORES // max(1, len(windows.start)))
            for start in range(0, len(group), most):
                yield group[start : start + most], windows
        order = order[alike:]


def _longest_window(engine: Engine, m: int) -> int:
    """Return the residues that windows may have for queries of up to m letters."""
    return min(LONGEST_WINDOW, engine.hints.cells_of_pair // max(1, m))


def _rounded(span: int) -> int:
    """Return a number that is not below, with three digits other than 0 in base 2.

    >>> [_rounded(span) for span in (5, 148, 198, 299)]
    [5, 160, 224, 320]
    """
    low = max(0, span.bit_length() - 3)
    return -(-span >> low) << low if span < _ENDLESS else span


def scan_windows(
    engine: Engine, tiles: Iterable[ScanTile], *, progress: Progress | None = None
) -> Iterator[tuple[Int32, Places | None]]:
    """Yield the scores of each tile, and where in long targets; these are cut if that pays.

    Parameters as of `Engine.answers`. Queries of similar spans share windows.
    """
    for to_cut, some in groupby(tiles, key=lambda tile: pays(engine, tile)):
        if not to_cut:
            for scores in engine.answers(some, progress=progress):
                yield scores, None
            continue
        yield from _scan_cut(engine, some, progress or ignore)


def pays(engine: Engine, tile: ScanTile) -> bool:
    """Tell whether some of the queries should meet windows of the targets."""
    queries, part = tile.queries, tile.targets
    fill, longest = engine.hints.targets_at_once, part.longest
    if fill is None or not engine.scoring.local or not len(queries):
        return False
    if longest < shortest_cut(queries.lengths.min(keepdims=True))[0]:
        return False
    span = int(longest_spans(engine.scoring, queries).min())
    most = _longest_window(engine, int(queries.lengths.min()))
    length = window_length(span, part.size, fill, most=most)
    return length > 0 and long_enough(part, length)


def _scan_cut(
    engine: Engine, tiles: Iterable[ScanTile], progress: Progress
) -> Iterator[tuple[Int32, Places]]:
    """Yield the scores of tiles whose targets are cut; the next one is prepared meanwhile."""
    plans: deque[_Plan] = deque()
    made: dict[tuple[int, int], Windows] = {}
    report = Proportion(progress)

    def scans() -> Iterator[ScanTile]:
        last = None
        for tile in tiles:
            queries, part = tile.queries, tile.targets
            if part is not last:
                made.clear()
                last = part
            spans = longest_spans(engine.scoring, queries)
            groups = list(window_groups(engine, queries, spans, part, made))
            plans.append(_Plan(queries, part, spans, groups))
            for group, windows in groups:
                some = queries.select(group.tolist())
                report.expect(*windows.cells(some, part))
                yield ScanTile(some, windows.sequences)

    found = engine.answers(scans(), progress=report)
    for scores in found:
        plan = plans[0]
        every = [scores, *(next(found) for _ in plan.groups[1:])]
        yield plan.result(every)
        plans.popleft()


class _Plan(NamedTuple):
    """A tile, the longest spans of its queries, and the groups of these that share windows."""

    queries: Sequences
    part: Sequences
    spans: Int64
    groups: list[tuple[Intp, Windows]]

    def result(self, scores: list[Int32]) -> tuple[Int32, Places]:
        """Return the best scores, and where, given the scores of the windows of each group."""
        found = np.zeros((len(self.queries), len(self.part)), np.int32)
        cut = np.zeros(len(self.part), bool)
        row_of: dict[int, tuple[Windows, Int32]] = {}
        for (group, windows), each in zip(self.groups, scores, strict=True):
            found[group] = windows.best(each)
            cut |= np.diff(windows.first) > 1
            row_of |= {query: (windows, each[k]) for k, query in enumerate(group.tolist())}

        def of_windows(query: int, target: int) -> WindowScores:
            windows, row = row_of[query]
            return windows.scores(row, target, int(self.spans[query]))

        return found, Places(np.flatnonzero(cut), of_windows)


def may_cut(batch: Batch) -> bool:
    """Tell whether a target could be long enough beside its query that `cuts` is worth asking."""
    shortest, longest = int(batch.extent[0, 0]), int(batch.extent[1, 1])
    if longest <= _MIN_TARGET_WINDOWS * _SHORTEST_WINDOW:
        return False
    return longest >= int(shortest_cut(np.array([shortest]))[0])  # no span is below m


def cuts(engine: Engine, batch: Batch) -> bool:
    """Tell whether targets are so much longer than the queries that windows can replace them."""
    m, n = int(batch.extent[1, 0]), int(batch.extent[0, 1])
    if n <= _MIN_TARGET_WINDOWS * _SHORTEST_WINDOW or not engine.scoring.local:
        return False
    if n < shortest_cut(np.array([m]))[0] or not engine.hints.targets_at_once:  # no span is below m
        return False
    used = batch.queries.select(np.unique(batch.query_index))  # a part of a batch has all of them
    spans = longest_spans(engine.scoring, used)
    return n >= int(shortest_cut(spans.max(keepdims=True))[0])


class _KnownScores(NamedTuple):
    """What is known of some queries and targets."""

    scores: dict[tuple[int, int], WindowScores]  # by query and target: without masks
    masked: dict[tuple[int, int, int], tuple[bytes, int]]
    """By query, target and window: a digest of its last mask, and the score with it."""


class LongTargets:
    """Cut the targets of pairs whose queries are short beside them.

    Scores of windows are kept as long as their sequences exist: further alignments of a pair, whose
    masks touch few windows, cost little.

    Parameters
    ----------
    scanner : Engine
        Scans windows.
    best : callable
        Returns what is asked of parts of targets, as `Engine.best`, and does not cut them again.
    """

    def __init__(self, scanner: Engine, best: Callable[[Pairs, Progress], Best]) -> None:
        self._scanner, self._best = scanner, best
        self._kept: WeakKeyDictionary[Sequences, WeakKeyDictionary[Sequences, _KnownScores]]
        self._kept = WeakKeyDictionary()
        self._count = 0

    def best(self, asked: Pairs, progress: Progress) -> Best:
        """Return the best cells or paths of pairs, see `Engine.best`."""
        batch = asked.batch
        windows = self._windows(batch, progress)
        if batch.masks is not None:
            windows = self._with_masks(batch, windows, batch.masks)
        if not asked.ends:
            score = np.array([each.score.max(initial=0) for each in windows], np.int32)
            return BestCells(score, np.zeros((len(batch), 2), np.int32))
        m = batch.query_lengths.tolist()
        columns = [each.columns(own) for each, own in zip(windows, m, strict=True)]
        found = self._best(asked._replace(batch=_with_columns(batch, columns)), ignore)
        start = np.array([first for first, _ in columns], np.int64)
        if isinstance(found, BestCells):
            return BestCells.of(found.score, found.i, found.j + start)
        if not isinstance(found, Paths):
            return None
        end = found.ends.end.copy()
        end[:, 1] += start * (found.ends.score > 0)
        return Paths(Ends(found.ends.score, end), found.runs, found.offsets)

    def keep(
        self, queries: Sequences, targets: Sequences, found: Mapping[tuple[int, int], WindowScores]
    ) -> None:
        """Keep scores that a scan has found, by the numbers of queries and targets, for masks."""
        self._known(queries, targets).scores.update(found)
        self._count += sum(len(each.score) for each in found.values())

    def _windows(self, batch: Batch, progress: Progress) -> list[WindowScores]:
        """Return the scores of the windows of each pair, without masks."""
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
            some = batch.queries.select(queries)
            ((_, places),) = _scan_cut(self._scanner, [ScanTile(some, part)], progress)
            for c, t in enumerate(targets):
                for row, q in enumerate(queries):
                    known[q, t] = each = places.windows(row, c)
                    self._count += len(each.score)
        return [known[pair] for pair in pairs]

    def _known(self, queries: Sequences, targets: Sequences) -> _KnownScores:
        """Return the scores that are kept of these sequences."""
        by_targets = self._kept.setdefault(queries, WeakKeyDictionary())
        return by_targets.setdefault(targets, _KnownScores({}, {}))

    def _with_masks(
        self, batch: Batch, windows: list[WindowScores], masks: Masks
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
            best = self._best(Pairs(again), ignore)
            assert isinstance(best, BestCells)
            for (p, w, digest), score in zip(touched, best.score.tolist(), strict=True):
                windows[p].score[w] = score
                known[(*pairs[p], w)] = digest, score
        return windows


def _with_columns(batch: Batch, columns: Sequence[tuple[int, int]]) -> Batch:
    """Return the pairs with some columns of their targets alone."""
    slices = [slice(*bounds) for bounds in columns]
    numbers = batch.target_index.tolist()
    targets = Sequences.of(batch.targets[t][own] for t, own in zip(numbers, slices, strict=True))
    every = np.arange(len(batch), dtype=np.int32)
    pairs = Batch.indexed(batch.queries, targets, batch.query_index, every)
    if batch.masks is None:
        return pairs
    masks = zip(batch.masks, slices, strict=True)
    return pairs.masked(mask.part(slice(None), own) for mask, own in masks)
