"""Search: which sequences of a database score best, part by part, and how pairs are aligned."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.engines import Engine
from glsw.engines.base import Progress
from glsw.search.ranking import Keys, Ranking
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.statistics import ScoreHistogram

_SCORES = 2**26  # of several queries with a part, until the best of them are known
_COUNTED = 64  # queries that may have a histogram, or the keys of all sequences


class Part(NamedTuple):
    """Sequences of a database, sorted, and their original numbers."""

    targets: Sequences
    numbers: npt.NDArray[np.int64]

    @classmethod
    def of(cls, database: Database, chosen: slice) -> Part:
        """Return a slice of the sorted sequences; all of them are always the same object."""
        whole = (chosen.start, chosen.stop) == (0, len(database))
        targets = database.sequences if whole else database.part(chosen)
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
        engine.check(Batch.one_to_many(longest, database.part(slice(1))))


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
        some = queries.part(slice(first, first + at_once))
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


def shares(seconds: float, queries: Sequences) -> list[float]:
    """Divide a time among queries by their lengths."""
    parts: list[float] = (seconds / max(1, len(queries.residues)) * queries.lengths).tolist()
    return parts
