"""From the best sequences of a search to its results: aligned, and how significant they are."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch, Mask, Sequences
from glsw.database import Database
from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.result import Alignment, Hit, Hsp, SearchResult
from glsw.scoring import Scoring
from glsw.search import Found, Keys, Ranking, added, numbers_of, scores_of, traced
from glsw.sequences import Record
from glsw.statistics import (
    Method,
    Statistics,
    Unavailable,
    for_search,
    histogram_for,
)
from glsw.views import Searched

_TOGETHER = 4096  # pairs of several queries that are aligned at once


class Limits(NamedTuple):
    """What of the hits a result lists.

    Parameters
    ----------
    ranking : Ranking
        How many hits, and the least score of them and of their further alignments.
    evalue : float, optional
        The largest E-value of these.
    max_hsps : int or None
        Alignments of a hit at most, None for all.
    statistics : str
        The method, see `glsw.statistics.for_search`.
    """

    ranking: Ranking
    evalue: float | None = None
    max_hsps: int | None = 1
    statistics: Method = "auto"


def limits_for(
    scoring: Scoring,
    top: int | None,
    min_score: float,
    evalue: float | None,
    max_hsps: int | None,
    statistics: Method,
) -> Limits:
    """Return limits from numbers in units of the matrix.

    Raises
    ------
    ValueError
        If one of them cannot be, or is in vain: E-values where there are none for the scoring.
    """
    for name, number in (("top", top), ("max_hsps", max_hsps)):
        if number is not None and number < 1:
            raise ValueError(f"{name} {number}: at least 1, or None for all, expected")
    if evalue is not None and not evalue > 0:
        raise ValueError(f"evalue {evalue}: more than 0 expected")
    counted = histogram_for(scoring, statistics)
    if not scoring.local:
        if max_hsps != 1:
            raise ValueError(f"max_hsps {max_hsps}: from end to end there is 1 alignment of a hit")
        if evalue is not None or statistics not in ("auto", "none"):
            raise ValueError("E-values are for local alignments, not for those from end to end")
        counted, statistics = None, "none"
    if evalue is not None:
        if statistics == "none":
            raise ValueError(f"evalue {evalue:g}: no statistics are asked for")
        histogram_for(scoring, "fit")  # an error if there are none
    if statistics == "karlin-altschul":
        for_search(scoring, 1, 1, 1, method=statistics)
    width = None if counted is None else counted.width
    ranking = Ranking(top, max(1, min_score * scoring.scale), width)
    return Limits(ranking, evalue, max_hsps, statistics)


class Query(NamedTuple):
    """A query as given, and its views: what is searched."""

    record: Record
    views: list[Searched]


def best_views(keys: Sequence[Keys]) -> tuple[Keys, npt.NDArray[np.int64]]:
    """Return the hits of any view of a query, each sequence once, and which view finds it best.

    Among views that score equally the first one is the best. If each list has the ``top`` best
    hits of a view, the first ``top`` of those returned are the best of all: what is ahead of a
    sequence in the list of its best view is ahead of it here.

    Examples
    --------
    >>> ranking = Ranking(top=None, least=1)
    >>> rows = [np.array(row, np.int32) for row in ([5, 7, 0], [6, 7, 1])]
    >>> keys, views = best_views([ranking.best(row, np.arange(3)) for row in rows])
    >>> numbers_of(keys).tolist(), scores_of(keys).tolist(), views.tolist()
    ([1, 0, 2], [7, 6, 1], [0, 1, 1])
    """
    joined = np.concatenate(keys)
    views = np.repeat(np.arange(len(keys)), [len(each) for each in keys])
    order = np.lexsort((views, joined))
    _, first = np.unique(numbers_of(joined[order]), return_index=True)
    chosen = order[np.sort(first)]
    return joined[chosen], views[chosen]


def search_results(
    engine: Engine,
    answered: Sequence[tuple[Query, list[Found]]],
    database: Database,
    limits: Limits,
    ties: Ties,
    unknown: str | None,
) -> Iterator[SearchResult]:
    """Yield the results of queries, given with what was found for each of their views.

    Hits of several queries are aligned together, which takes hardware no longer than those of one.

    Raises
    ------
    ValueError
        If E-values are asked for, and there are no statistics for the scoring or the scores.
    """
    some: list[_Listed] = []
    pairs = 0
    for query, found in answered:
        listed = _Listed.of(query, found, database, limits, engine.scoring)
        if some and pairs + listed.pairs > _TOGETHER:
            yield from _aligned(engine, some, database, limits, ties, unknown)
            some, pairs = [], 0
        some.append(listed)
        pairs += listed.pairs
    if some:
        yield from _aligned(engine, some, database, limits, ties, unknown)


@dataclass(eq=False)
class _Listed:
    """A query with the sequences that its result lists.

    Parameters
    ----------
    query : Query
    found : list of Found
        For each view.
    keys : ndarray of int64, shape (hits,)
    views : ndarray of int64, shape (hits,)
        Which view found each hit best.
    bits, evalues : list of float or None
        Of each hit.
    statistics : Statistics
    pairs : int
        How many are aligned at first.
    """

    query: Query
    found: list[Found]
    keys: Keys
    views: npt.NDArray[np.int64]
    bits: Sequence[float | None]
    evalues: Sequence[float | None]
    statistics: Statistics
    pairs: int

    @classmethod
    def of(
        cls, query: Query, found: list[Found], database: Database, limits: Limits, scoring: Scoring
    ) -> _Listed:
        """Choose what is listed before anything is aligned."""
        keys, views = (each[: limits.ranking.top] for each in best_views([f.keys for f in found]))
        statistics = _statistics(query, found, database, limits, scoring)
        bits: Sequence[float | None] = [None] * len(keys)
        evalues = bits
        if statistics.available:
            scores = scores_of(keys)
            targets = database.sequences.lengths[database.rank[numbers_of(keys)]]
            queries = np.array([len(each.codes) for each in query.views])[views]
            expected = statistics.evalue(scores, queries, targets)
            limit = np.inf if limits.evalue is None else limits.evalue
            chosen = expected <= limit
            keys, views = keys[chosen], views[chosen]
            bits = statistics.bits(scores, targets)[chosen].tolist()
            evalues = expected[chosen].tolist()
        pairs = len(keys) * (1 if limits.max_hsps == 1 else len(query.views))
        return cls(query, found, keys, views, bits, evalues, statistics, pairs)

    def hsp(self, alignment: Alignment, view: int) -> Hsp:
        """Return a further alignment of a hit with its statistics."""
        searched = self.query.views[view]
        if not self.statistics.available:
            return Hsp(alignment, searched.view)
        score = _units(alignment)
        target = len(alignment.target) // alignment.scoring.alphabet.width
        bits = self.statistics.bits(score, target)
        evalue = self.statistics.evalue(score, len(searched.codes), target)
        return Hsp(alignment, searched.view, bits, evalue)


def _statistics(
    query: Query, found: Sequence[Found], database: Database, limits: Limits, scoring: Scoring
) -> Statistics:
    """Return what E-values come from; ValueError if they are asked for and there are none.

    The scores of all views are counted together: there is one fit for a query.
    """
    histogram = None
    for each in found:
        histogram = added(histogram, each.histogram)
    longest = max(len(each.codes) for each in query.views)
    size = len(database), database.residues
    try:
        made = for_search(scoring, longest, *size, histogram=histogram, method=limits.statistics)
    except ValueError as error:
        raise ValueError(f"query {query.record.id}: {error}") from None
    if limits.evalue is not None and isinstance(made, Unavailable):
        raise ValueError(f"query {query.record.id}: no E-values: {made.reason}")
    return made


@dataclass(eq=False)
class _Subject:
    """A hit in the making.

    Parameters
    ----------
    of : _Listed
        The query.
    number : int
        The original number in the database.
    target : Record
    views : list of int
        Which views of the query are aligned with it.
    bits, evalue : float or None
        Of the best alignment.
    next : dict of int to Alignment
        For some of the views the best alignment that shares no pair with those before it.
    masks : dict of int to Mask
        For a view what those before it align.
    hsps : list of Hsp
        Those before it, of all views.
    """

    of: _Listed
    number: int
    target: Record
    views: list[int]
    bits: float | None
    evalue: float | None
    next: dict[int, Alignment] = field(default_factory=dict)
    masks: dict[int, Mask] = field(default_factory=dict)
    hsps: list[Hsp] = field(default_factory=list)

    def take(self, limits: Limits) -> int | None:
        """Add the best of the next alignments; return its view if there may be another."""
        while self.next:
            view = min(self.next, key=lambda v: (-self.next[v].score, v))
            alignment, searched = self.next.pop(view), self.of.query.views[view]
            if not self.hsps:
                hsp = Hsp(alignment, searched.view, self.bits, self.evalue)
            elif _units(alignment) < limits.ranking.least:
                return None
            else:
                hsp = self.of.hsp(alignment, view)
                if limits.evalue is not None and (hsp.evalue or 0) > limits.evalue:
                    continue
            self.hsps.append(hsp)
            if len(self.hsps) == limits.max_hsps:
                return None
            before = self.masks[view] if view in self.masks else Mask.nothing(len(searched.codes))
            self.masks[view] = before.with_alignment(alignment.coordinates)
            return view
        return None


def _aligned(
    engine: Engine,
    listed: Sequence[_Listed],
    database: Database,
    limits: Limits,
    ties: Ties,
    unknown: str | None,
) -> Iterator[SearchResult]:
    """Align round by round: at first all hits, then again the views of those that want more."""
    start = time.perf_counter()
    hits = [list(_subjects(each, database, limits)) for each in listed]
    subjects = [subject for each in hits for subject in each]
    rounds = _Rounds(engine, listed, subjects, database, ties, unknown)
    todo = [(k, view) for k, subject in enumerate(subjects) for view in subject.views]
    masked = False
    while todo:
        rounds.align(todo, masked=masked)
        taken = ((k, subjects[k].take(limits)) for k in dict.fromkeys(k for k, _ in todo))
        todo = [(k, view) for k, view in taken if view is not None]
        masked = True
    seconds = (time.perf_counter() - start) / max(1, len(subjects))
    for each, made in zip(listed, hits, strict=True):
        cells = sum(len(view.codes) for view in each.query.views) * database.residues
        yield SearchResult(
            query=each.query.record,
            hits=tuple(Hit(k, hit.target, tuple(hit.hsps)) for k, hit in enumerate(made, start=1)),
            cells=cells,
            seconds=sum(found.seconds for found in each.found) + seconds * len(made),
            engine=_joined(found.engine for found in each.found) or engine.label,
            device=_joined(found.device for found in each.found) or engine.where,
            sequences=len(database),
            residues=database.residues,
            memory=max(engine.memory_used, *(found.memory for found in each.found)),
            statistics=each.statistics,
        )


def _subjects(listed: _Listed, database: Database, limits: Limits) -> Iterator[_Subject]:
    every = list(range(len(listed.query.views)))
    numbers, best = numbers_of(listed.keys).tolist(), listed.views.tolist()
    for number, view, bits, evalue in zip(numbers, best, listed.bits, listed.evalues, strict=True):
        views = [view] if limits.max_hsps == 1 else every
        yield _Subject(listed, number, database[number], views, bits, evalue)


class _Rounds:
    """The sequences of queries and hits side by side, of which some pairs are aligned at a time."""

    def __init__(
        self,
        engine: Engine,
        listed: Sequence[_Listed],
        subjects: Sequence[_Subject],
        database: Database,
        ties: Ties,
        unknown: str | None,
    ) -> None:
        self._engine, self._subjects, self._ties, self._unknown = engine, subjects, ties, unknown
        self._first: dict[_Listed, int] = {}
        codes: list[npt.NDArray[np.uint8]] = []
        for each in listed:
            self._first[each] = len(codes)
            codes += [view.codes for view in each.query.views]
        self._queries = Sequences.of(codes)
        places = database.rank[np.array([each.number for each in subjects], np.int64)].tolist()
        self._targets = Sequences.of([database.view(slice(k, k + 1)).residues for k in places])

    def align(self, todo: Sequence[tuple[int, int]], *, masked: bool) -> None:
        """Find the next alignments of subjects, given by number, and views."""
        pairs = [(self._subjects[k], view) for k, view in todo]
        batch = Batch(
            self._queries,
            self._targets,
            np.array([self._first[each.of] + view for each, view in pairs], np.int32),
            np.array([k for k, _ in todo], np.int32),
            tuple(each.masks[view] for each, view in pairs) if masked else None,
        )
        records = [(each.of.query.views[view].record, each.target) for each, view in pairs]
        found = traced(self._engine, batch, records, self._ties, self._unknown)
        for (each, view), alignment in zip(pairs, found, strict=True):
            each.next[view] = alignment


def _units(alignment: Alignment) -> int:
    """Return a score in integer units."""
    return round(alignment.score * alignment.scoring.scale)


def _joined(names: Iterator[str]) -> str:
    return " and ".join(dict.fromkeys(filter(None, names)))
