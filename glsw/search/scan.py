"""The scan of a database: the best targets of each query by score, nothing aligned yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import tee
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.engines import Engine
from glsw.engines.base import Progress
from glsw.engines.tiles import ScanTile
from glsw.engines.windows import WindowScores, scan_windows
from glsw.search.ranking import RankedHits, Ranking, target_numbers
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.statistics import ScoreHistogram

_MAX_PENDING_SCORES = 2**26  # of queries with one part of a database
FEW_QUERIES = 64
"""Queries that may share a second of the device."""
_SECONDS_AT_ONCE = 1.5
_FIRST_CELLS = 2**43  # of few queries while the rate of a GPU is not known
_LARGE_CELLS, _LARGE_RESIDUES = 2**40, 2**25
_MAX_PENDING_QUERIES = 64  # if each has a histogram, or keeps the hits of all targets
_FEW_HITS = 32  # times as many, if few targets are expected to be hits


class Part(NamedTuple):
    """Sequences of a database, sorted.

    Parameters
    ----------
    load : callable
        Returns them; reads those of a file.
    numbers, lengths : ndarray of int64, shape (sequences,)
        Their original numbers, and their residues.
    """

    load: Callable[[], Sequences]
    numbers: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]

    @classmethod
    def of(cls, database: Database, chosen: slice, *, loads_all: bool = False) -> Part:
        """Return a slice of the sorted sequences; all of them are always the same object.

        If it ``loads_all`` sequences, they stay in memory, and the slice is a part of them.
        """

        def load() -> Sequences:
            if loads_all or (chosen.start, chosen.stop) == (0, len(database)):
                return database.sequences.part(chosen)
            return database.part(chosen)

        return cls(load, database.order[chosen], database.lengths[chosen])

    def kept(self) -> Part:
        """Return this part, which loads its sequences once."""
        return self._replace(load=cache(self.load))

    def ahead(self) -> Part:
        """Return this part, whose sequences a thread loads from now on."""
        from concurrent.futures import ThreadPoolExecutor  # only for large work

        with_one = ThreadPoolExecutor(1, "glsw-load")
        found = with_one.submit(self.load)
        with_one.shutdown(wait=False)
        return self._replace(load=found.result)

    def loaded(self) -> Part:
        """Return this part with its sequences, which other processes can have."""
        return self._replace(load=partial(self.load().part, slice(None)))


class ScanResult(NamedTuple):
    """The hits of one query, and what it took to find them.

    Parameters
    ----------
    hits : ndarray of int64, shape (hits,)
        See `RankedHits`.
    seconds : float
        Wall time.
    engine, device : str
        What found them, if it was not the engine of this process.
    memory : int
        Bytes of device memory, likewise.
    histogram : ScoreHistogram, optional
        The scores of all sequences, if they are needed.
    places : dict of int to (int, int), optional
        Of long targets among the hits, by their original numbers: the columns, from 0 and
        half-open, that have the best alignment with the conventional end.
    following : int
        The results behind this one that are ready too.
    windows : dict of int to WindowScores, optional
        Of these targets, if the ranking wants them: the scores of all windows.
    """

    hits: RankedHits
    seconds: float
    engine: str = ""
    device: str = ""
    memory: int = 0
    histogram: ScoreHistogram | None = None
    places: dict[int, tuple[int, int]] | None = None
    following: int = 0
    windows: dict[int, WindowScores] | None = None


def check_longest(engine: Engine, queries: Sequences, database: Database) -> None:
    """Raise ValueError if the longest query and target are too long together for the engine."""
    if len(queries) and len(database):
        longest = queries[int(queries.lengths.argmax())]
        target = np.zeros(int(database.lengths[0]), longest.dtype)
        engine.check(Batch.one_to_many(longest, [target]))


def scan(
    engine: Engine,
    queries: Sequences,
    parts: Sequence[Part],
    ranking: Ranking,
    progress: Progress | None = None,
) -> Iterator[ScanResult]:
    """Yield the hits of each query.

    If there is one part, it takes as many queries at a time as the engine computes together. If
    there are several, all queries meet a part before the next part is loaded, or as many queries as
    there is room for the scores of.
    """
    residues = sum(int(part.lengths.sum()) for part in parts)
    room = _MAX_PENDING_SCORES // max([1, *(len(part.numbers) for part in parts)])

    def groups() -> Iterator[Sequences]:
        first = 0
        while first < len(queries):
            at_once = queries_at_once(engine, queries.offsets[first:], residues)
            if len(parts) > 1:
                at_once = max_pending(ranking, max(at_once, room))
            at_once = max(1, min(at_once, room))
            yield queries.part(slice(first, first + at_once))
            first += at_once

    ours, theirs = tee(groups())  # a group is cut when the engine is ready for it
    tiles = (ScanTile(some, part.load()) for some in theirs for part in parts)
    scores_of_tiles = scan_windows(engine, tiles, progress=progress)
    for some in ours:
        start = time.perf_counter()
        hits = [np.empty(0, np.int64)] * len(some)
        histograms = [ranking.histogram() for _ in some]
        known: list[dict[int, tuple[int, int]]] = [{} for _ in some]
        windows: list[dict[int, WindowScores]] = [{} for _ in some]
        for part in parts:
            scores, places = next(scores_of_tiles)
            cut = None if places is None else part.numbers[places.targets].tolist()
            best_of_each = ranking.best_of_each(scores, part.numbers, some.lengths)
            for q, (row, best) in enumerate(zip(scores, best_of_each, strict=True)):
                hits[q] = ranking.merged(hits[q], best) if len(hits[q]) else best
                if (histogram := histograms[q]) is not None:
                    histogram.add(row, part.lengths)
                if places is not None and cut and len(best):
                    among = _cut_among(cut, best)
                    own = {t: places.windows(q, int(places.targets[c])) for c, t in among}
                    known[q] |= {t: each.columns(int(some.lengths[q])) for t, each in own.items()}
                    windows[q] |= own if ranking.keeps_windows else {}
        seconds = shares(time.perf_counter() - start, some)
        following = range(len(some) - 1, -1, -1)
        of_each = zip(hits, seconds, histograms, known, windows, following, strict=True)
        for each, share, histogram, place, scores_of_windows, k in of_each:
            yield ScanResult(
                each,
                share,
                histogram=histogram,
                places=place or None,
                following=k,
                windows=scores_of_windows or None,
            )


def queries_at_once(engine: Engine, offsets: npt.NDArray[np.int64], residues: int) -> int:
    """Return how many of the next queries the engine should see together.

    Few queries may take it a second: they share its lanes best if their lengths are similar.

    Parameters
    ----------
    engine : Engine
    offsets : ndarray of int64, shape (queries + 1,)
        Of queries in their residues.
    residues : int
        Of all targets.
    """
    cells = (offsets[1:] - offsets[0]) * residues
    many = int(np.searchsorted(cells, engine.hints.cells_at_once, "right"))
    rate = engine.hints.rate
    most = _FIRST_CELLS if rate is None else rate * _SECONDS_AT_ONCE
    return max(1, many, int(np.searchsorted(cells[:FEW_QUERIES], most, "right")))


def large_first(engine: Engine, queries: Sequences, residues: int) -> bool:
    """Tell whether a scan is the first of an engine that may be fast, and large, or to read."""
    large = residues >= _LARGE_RESIDUES or len(queries.residues) * residues >= _LARGE_CELLS
    return engine.hints.rate is None and large


def _cut_among(cut: list[int], hits: RankedHits) -> list[tuple[int, int]]:
    """Return which of the targets that were cut are hits: their places in the list, and they."""
    among = {*target_numbers(hits).tolist()}
    return [(c, target) for c, target in enumerate(cut) if target in among]


def max_pending(ranking: Ranking, queries: int) -> int:
    """Return how many of these queries may be scanned before the first results are taken."""
    if ranking.bin_width is None and ranking.top is not None:
        return queries
    return min(queries, _MAX_PENDING_QUERIES * (_FEW_HITS if ranking.keeps_few else 1))


def added(one: ScoreHistogram | None, other: ScoreHistogram | None) -> ScoreHistogram | None:
    """Return the sum of two histograms, of which either may be missing."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def shares(seconds: float, queries: Sequences) -> list[float]:
    """Divide a time among queries by their lengths."""
    parts: list[float] = (seconds / max(1, len(queries.residues)) * queries.lengths).tolist()
    return parts
