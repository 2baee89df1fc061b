"""Search: which sequences of a database score best, part by part, and how pairs are aligned."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch, Sequences
from glsw.database import Database
from glsw.device import Device, open_device
from glsw.engines import ENGINES, Engine
from glsw.engines.base import Progress, Ties
from glsw.result import Alignment, Ends
from glsw.scoring import Scoring
from glsw.scoring3 import Scoring3
from glsw.sequences import Record
from glsw.statistics import ScoreHistogram
from glsw.traceback import best_end, coordinates_of_runs, from_end_to_end, trace

Keys = npt.NDArray[np.int64]

PROCESSES: set[int] = set()
"""Ids of processes that opened devices here: one that is forked finds its parent's."""

_SCORES = 2**26  # of several queries with a part, until the best of them are known
_COUNTED = 64  # queries that may have a histogram, or the keys of all sequences
_BLOCK = 64  # scores of which only the largest is looked at when there are many
_LARGEST = 2**31 - 1
_SHIFT = 32


class EngineChoice(NamedTuple):
    """What an engine is made of; other processes get it in place of the engine.

    Parameters
    ----------
    name : str
        A name in `engines`.
    scoring : Scoring or Scoring3
    device : int, str, Device or None
        As for `glsw.open_device`.
    memory : int or None
        Bytes of device memory.
    """

    name: str
    scoring: Scoring | Scoring3
    device: int | str | Device | None = None
    memory: int | None = None

    @property
    def engines(self) -> Mapping[str, Any]:
        """The engines that there are, by name."""
        return ENGINES

    @property
    def requires(self) -> tuple[int, int] | None:
        """The OpenGL version that the engine needs; ValueError if it cannot be made like this."""
        if self.name not in self.engines:
            raise ValueError(f"unknown engine {self.name!r}; there are {', '.join(self.engines)}")
        kind = self.engines[self.name]
        if self.memory is not None:
            if "memory" not in inspect.signature(kind).parameters:
                raise ValueError(f"engine {self.name!r} takes no memory limit")
            if self.memory < 2**20:
                raise ValueError(f"memory {self.memory}: at least 1 MiB expected")
        requires: tuple[int, int] | None = kind.requires
        return requires

    def make(self, *, quiet: bool = False) -> Engine:
        """Return the engine, its device opened; errors as `glsw.open_device` and `requires`."""
        requires, device, kind = self.requires, self.device, self.engines[self.name]
        if requires is None:
            engine: Engine = kind(self.scoring)
            return engine
        PROCESSES.add(os.getpid())
        if not isinstance(device, Device):
            device = open_device(device, require=requires, quiet=quiet)
        options = {} if self.memory is None else {"memory": self.memory}
        engine = kind(self.scoring, device, **options)
        return engine


class Ranking(NamedTuple):
    """Which hits are kept: those of at least a score, and of these the best.

    A hit is one number, its key: the larger the score the smaller the key, and among equal scores
    the order is that of the database. So the best hits are the same in whatever order and parts
    they are found.

    Parameters
    ----------
    top : int or None
        How many at most, None for all.
    least : int or float
        The least score, 1 or more, in integer units.
    counted : int, optional
        If the scores of all sequences are wanted too, for statistics: units in a cell of their
        `ScoreHistogram`.

    Examples
    --------
    >>> ranking = Ranking(top=2, least=1)
    >>> keys = ranking.best(np.array([7, 0, 9, 9], np.int32), np.array([3, 2, 1, 0]))
    >>> numbers_of(keys).tolist()
    [0, 1]
    """

    top: int | None
    least: float
    counted: int | None = None

    def best(self, scores: npt.NDArray[np.int32], numbers: npt.NDArray[np.int64]) -> Keys:
        """Return the keys to keep, ascending, of sequences with these scores and numbers."""
        chosen = np.flatnonzero(scores >= self._bound(scores))
        keys = (_LARGEST - scores[chosen].astype(np.int64)) << _SHIFT | numbers[chosen]
        return np.sort(keys)[: self.top]

    def merged(self, *keys: Keys) -> Keys:
        """Return the keys to keep of several lists of them."""
        return np.sort(np.concatenate(keys))[: self.top]

    def histogram(self) -> ScoreHistogram | None:
        """Return an empty histogram if one is wanted."""
        return None if self.counted is None else ScoreHistogram(self.counted)

    def _bound(self, scores: npt.NDArray[np.int32]) -> float:
        """Return a score that all hits to keep reach, and not many others."""
        if self.top is None or len(scores) <= self.top:
            return self.least
        blocks = len(scores) // _BLOCK
        if blocks >= self.top:
            scores = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
        return max(self.least, int(np.partition(scores, -self.top)[-self.top]))


def numbers_of(keys: Keys) -> npt.NDArray[np.int64]:
    """Return the original numbers in the database of hits."""
    return keys & ((1 << _SHIFT) - 1)


def scores_of(keys: Keys) -> npt.NDArray[np.int64]:
    """Return the scores of hits, in integer units."""
    return _LARGEST - (keys >> _SHIFT)


class Part(NamedTuple):
    """Sequences of a database, sorted, and their original numbers."""

    targets: Sequences
    numbers: npt.NDArray[np.int64]

    @classmethod
    def of(cls, database: Database, chosen: slice) -> Part:
        """Return a slice of the sorted sequences; all of them are always the same object."""
        whole = (chosen.start, chosen.stop) == (0, len(database))
        targets = database.sequences if whole else database.view(chosen)
        return cls(targets, database.order[chosen])


class Found(NamedTuple):
    """The hits to keep of a query, and what it took to find them.

    Parameters
    ----------
    keys : ndarray of int64, shape (hits,)
        See `Ranking`.
    seconds : float
        Wall time.
    engine, device : str
        What found them, where it was not the engine that aligns them.
    memory : int
        Bytes of device memory, likewise.
    histogram : ScoreHistogram, optional
        All scores, if they are wanted.
    """

    keys: Keys
    seconds: float
    engine: str = ""
    device: str = ""
    memory: int = 0
    histogram: ScoreHistogram | None = None


def check_longest(engine: Engine, queries: Sequences, database: Database) -> None:
    """Raise ValueError if a query and a sequence are too long together for the engine."""
    if len(queries) and len(database):
        longest = queries[int(queries.lengths.argmax())]
        engine.check(Batch.one_to_many(longest, database.view(slice(1))))


def scan(
    engine: Engine,
    queries: Sequences,
    parts: Sequence[Part],
    ranking: Ranking,
    progress: Progress | None = None,
) -> Iterator[Found]:
    """Yield the hits to keep of each query.

    With one part, queries are taken a few at a time, as many as the engine computes together. With
    several, each part meets all queries before the next part does, or as many as there is room
    for the scores of.
    """
    at_once = engine.queries_at_once
    if len(parts) > 1:
        at_once = max(at_once, _SCORES // max(len(part.numbers) for part in parts))
        at_once = most_at_once(ranking, at_once)
    for first in range(0, len(queries), at_once):
        start = time.perf_counter()
        some = block(queries, first, at_once)
        keys = [np.empty(0, np.int64)] * len(some)
        histograms = [ranking.histogram() for _ in some]
        found = engine.scan(some, [part.targets for part in parts], progress=progress)
        for part, scores in zip(parts, found, strict=True):
            for q, row in enumerate(scores):
                keys[q] = ranking.merged(keys[q], ranking.best(row, part.numbers))
                if (histogram := histograms[q]) is not None:
                    histogram.add(row, part.targets.lengths)
        seconds = shares(time.perf_counter() - start, some)
        for each, share, histogram in zip(keys, seconds, histograms, strict=True):
            yield Found(each, share, histogram=histogram)


def most_at_once(ranking: Ranking, queries: int) -> int:
    """Return how many queries may wait for their results, fewer if all scores are kept."""
    few = ranking.counted is not None or ranking.top is None
    return min(queries, _COUNTED) if few else queries


def added(one: ScoreHistogram | None, other: ScoreHistogram | None) -> ScoreHistogram | None:
    """Return the scores of both, of which either may be missing."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def block(queries: Sequences, first: int, count: int) -> Sequences:
    """Return some queries that follow one another."""
    return Sequences.of([queries[k] for k in range(first, min(first + count, len(queries)))])


def shares(seconds: float, queries: Sequences) -> list[float]:
    """Divide a time among queries by their lengths."""
    parts: list[float] = (seconds / max(1, len(queries.residues)) * queries.lengths).tolist()
    return parts


def traced(
    engine: Engine,
    batch: Batch,
    records: Sequence[tuple[Record, Record]],
    ties: Ties,
    unknown: str | None,
    progress: Progress | None = None,
) -> Iterator[Alignment]:
    """Yield the best alignment of each pair, of which ``records`` has query and target."""
    scoring = engine.scoring
    paths = None
    if batch.masks is not None and not engine.masks:
        ends = _ends_on_host(batch, scoring, progress)
    elif paths := engine.paths(batch, ties=ties, progress=progress):
        ends = paths.ends
    else:
        ends = engine.ends(batch, ties=ties, progress=progress)
    for p, (query, target) in enumerate(records):
        end = int(ends.query_end[p]), int(ends.target_end[p])
        if paths:
            coordinates = coordinates_of_runs(paths[p], *end)
        else:
            coordinates, _ = trace(*batch.pair(p), scoring, *end, mask=batch.mask(p))
        if not scoring.local:
            coordinates = from_end_to_end(coordinates, *map(len, batch.pair(p)))
        score = scoring.display(int(ends.score[p]))
        yield Alignment(score, query, target, coordinates, scoring, unknown)


def _ends_on_host(batch: Batch, scoring: Scoring, progress: Progress | None) -> Ends:
    found = np.empty((len(batch), 3), np.int32)
    for p in range(len(batch)):
        query, target = batch.pair(p)
        found[p] = best_end(query, target, scoring, batch.mask(p))
        if progress:
            progress(len(query) * len(target))
    return Ends(*found.T)
