"""From the best sequences of a search to its results: aligned, and how significant they are."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.mask import Mask
from glsw.results import Alignment, Hit, Hsp, SearchResult
from glsw.scoring.scoring import Scoring
from glsw.search.align_pairs import traced
from glsw.search.limits import Limits, least_score
from glsw.search.ranking import RankedHits, scores_of, target_numbers
from glsw.search.scan import ScanResult, added
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.sequences.query import PreparedQuery
from glsw.sequences.records import EncodedRecord, Record
from glsw.statistics import Statistics, Unavailable, for_search

_MAX_PAIRS_PER_BATCH = 4096
_MAX_RESIDUES_PER_BATCH = 2**24  # so that there is room for the masks
_MIN_HITS_TO_PREFILTER = (
    2**14
)  # scores, from which the least that counts is found before their E-values


class Query(NamedTuple):
    """A query as given, and its contexts: what is searched, nothing if all of it is masked."""

    record: Record
    contexts: list[PreparedQuery]


def best_contexts(hits: Sequence[RankedHits]) -> tuple[RankedHits, npt.NDArray[np.int64]]:
    """Return the hits of a query, each sequence once, and the context that finds each one best.

    Among contexts that score equally the first one is the best. If each list has the ``top`` best
    hits of a context, the first ``top`` of those returned are the best of all: every hit ranked
    above a sequence in its best context is also ranked above it here.

    Examples
    --------
    >>> from glsw.search.ranking import Ranking
    >>> ranking = Ranking(top=None, min_score=1)
    >>> rows = [np.array(row, np.int32) for row in ([5, 7, 0], [6, 7, 1])]
    >>> hits, contexts = best_contexts([ranking.best(row, np.arange(3)) for row in rows])
    >>> target_numbers(hits).tolist(), scores_of(hits).tolist(), contexts.tolist()
    ([1, 0, 2], [7, 6, 1], [0, 1, 1])
    """
    joined = np.concatenate([np.empty(0, np.int64), *hits])
    contexts = np.repeat(np.arange(len(hits)), np.array([len(each) for each in hits], np.int64))
    order = np.lexsort((contexts, joined))
    _, first = np.unique(target_numbers(joined[order]), return_index=True)
    chosen = order[np.sort(first)]
    return joined[chosen], contexts[chosen]


def search_results(
    engine: Engine,
    answered: Sequence[tuple[Query, list[ScanResult]]],
    database: Database,
    limits: Limits,
    ties: Ties,
) -> Iterator[SearchResult]:
    """Yield the results of queries, given with what was found for each of their contexts.

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
        if some and pairs + listed.pairs > _MAX_PAIRS_PER_BATCH:
            yield from _aligned(engine, some, database, limits, ties)
            some, pairs = [], 0
        some.append(listed)
        pairs += listed.pairs
    if some:
        yield from _aligned(engine, some, database, limits, ties)


@dataclass(eq=False)
class _Listed:
    """A query with the sequences that its result lists.

    Parameters
    ----------
    query : Query
    found : list of ScanResult
        For each context.
    hits : ndarray of int64, shape (hits,)
    contexts : ndarray of int64, shape (hits,)
        Which context found each hit best.
    bits, evalues : list of float or None
        Of each hit.
    statistics : Statistics
    pairs : int
        How many are aligned at first.
    """

    query: Query
    found: list[ScanResult]
    hits: RankedHits
    contexts: npt.NDArray[np.int64]
    bits: Sequence[float | None]
    evalues: Sequence[float | None]
    statistics: Statistics
    pairs: int

    @classmethod
    def of(
        cls,
        query: Query,
        found: list[ScanResult],
        database: Database,
        limits: Limits,
        scoring: Scoring,
    ) -> _Listed:
        """Choose what is listed before anything is aligned."""
        statistics = _statistics(query, found, database, limits, scoring)
        lengths = np.array([len(each.codes) for each in query.contexts], np.int64)
        every, top = [each.hits for each in found], limits.ranking.top
        if limits.evalue is not None:
            top = None if statistics.available else 0
            if statistics.available and sum(map(len, every)) > _MIN_HITS_TO_PREFILTER:
                targets = database.sequences.lengths
                least = least_score(statistics, limits.evalue, lengths, targets, scoring)
                every = [each[scores_of(each) >= least] for each in every]
        hits, contexts = (each[:top] for each in best_contexts(every))
        bits: Sequence[float | None] = [None] * len(hits)
        evalues = bits
        if statistics.available:
            targets = database.sequences.lengths[database.rank[target_numbers(hits)]]
            expected = statistics.evalue(scores_of(hits), lengths[contexts], targets)
            limit = np.inf if limits.evalue is None else limits.evalue
            chosen = np.flatnonzero(expected <= limit)[: limits.ranking.top]
            hits, contexts = hits[chosen], contexts[chosen]
            bits = statistics.bits(scores_of(hits), targets[chosen]).tolist()
            evalues = expected[chosen].tolist()
        pairs = len(hits) * (1 if limits.max_hsps == 1 else len(query.contexts))
        return cls(query, found, hits, contexts, bits, evalues, statistics, pairs)

    def hsp(self, alignment: Alignment, context: int) -> Hsp:
        """Return a further alignment of a hit with its statistics."""
        prepared = self.query.contexts[context]
        if not self.statistics.available:
            return Hsp(alignment, prepared.context)
        score, target = alignment.units, len(alignment.target.codes)
        bits = self.statistics.bits(score, target)
        evalue = self.statistics.evalue(score, len(prepared.codes), target)
        return Hsp(alignment, prepared.context, bits, evalue)


def _statistics(
    query: Query, found: Sequence[ScanResult], database: Database, limits: Limits, scoring: Scoring
) -> Statistics:
    """Return what E-values come from; an error or warning if they are needed and there are none.

    The scores of all contexts are counted together: there is one fit for a query.
    """
    if not query.contexts:
        return Unavailable("all residues of the query are masked")
    histogram = None
    for each in found:
        histogram = added(histogram, each.histogram)
    longest = max(len(each.codes) for each in query.contexts)
    size = len(database), database.residues
    try:
        made = for_search(scoring, longest, *size, histogram=histogram, method=limits.statistics)
    except ValueError as error:
        made = Unavailable(str(error))
    if isinstance(made, Unavailable):
        if limits.evalue is not None or limits.statistics == "fit":
            limits.missing_statistics(query.record, f"no E-values: {made.reason}")
        elif limits.further is not None:
            limits.missing_statistics(
                query.record, f"max_hsps None without min_score or E-values: {made.reason}"
            )
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
    target : EncodedRecord
    contexts : list of int
        Which contexts of the query are aligned with it.
    bits, evalue : float or None
        Of the best alignment.
    next : dict of int to Alignment
        For some of the contexts the best alignment that shares no pair with those before it.
    hsps : list of Hsp
        Those before it, of all contexts.
    """

    of: _Listed
    number: int
    target: EncodedRecord
    contexts: list[int]
    bits: float | None
    evalue: float | None
    next: dict[int, Alignment] = field(default_factory=dict)
    hsps: list[Hsp] = field(default_factory=list)

    @property
    def residues(self) -> int:
        """Letters of all pairs that are aligned at first, both sides."""
        return sum(len(self.of.query.contexts[v].codes) + len(self.target) for v in self.contexts)

    def mask(self, context: int) -> Mask:
        """Return what the alignments of a context before the next one align."""
        codes, made = self.of.query.contexts[context].codes, self.of.query.contexts[context].context
        paths = [hsp.alignment.coordinates for hsp in self.hsps if hsp.context == made]
        mask = Mask.nothing(len(codes))
        return mask.with_alignment(_one_after_another(paths)) if paths else mask

    def take(self, limits: Limits) -> int | None:
        """Add the best of the next alignments; return its context if there may be another."""
        while self.next:
            context = min(self.next, key=lambda v: (-self.next[v].units, v))
            alignment, prepared = self.next.pop(context), self.of.query.contexts[context]
            if not self.hsps:
                hsp = Hsp(alignment, prepared.context, self.bits, self.evalue)
            elif alignment.units < limits.ranking.min_score:
                return None
            else:
                hsp = self.of.hsp(alignment, context)
                if limits.further is not None and (hsp.evalue or 0) > limits.further:
                    continue
            self.hsps.append(hsp)
            endless = limits.further is not None and not self.of.statistics.available
            return None if endless or len(self.hsps) == limits.max_hsps else context
        return None


def _one_after_another(paths: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return one path of the aligned pairs of several, which lead to each other by gaps.

    >>> _one_after_another([np.array([[0, 2], [5, 7]]), np.array([[3, 4], [1, 2]])]).tolist()
    [[0, 2, 2, 3, 4], [5, 7, 1, 1, 2]]
    """
    pieces = [paths[0]]
    for path in paths[1:]:
        pieces += [np.array([[pieces[-1][0, -1]], [path[1, 0]]]), path]
    return np.concatenate(pieces, axis=1)


def _aligned(
    engine: Engine,
    listed: Sequence[_Listed],
    database: Database,
    limits: Limits,
    ties: Ties,
) -> Iterator[SearchResult]:
    """Align some hits at a time, round by round: all, then the contexts of those that want more."""
    start = time.perf_counter()
    hits = [list(_subjects(each, database, limits)) for each in listed]
    every = [subject for each in hits for subject in each]
    for subjects in _slices(every):
        rounds = _Rounds(engine, subjects, database, ties)
        todo = [(k, context) for k, subject in enumerate(subjects) for context in subject.contexts]
        masked = False
        while todo:
            rounds.align(todo, masked=masked)
            taken = ((k, subjects[k].take(limits)) for k in dict.fromkeys(k for k, _ in todo))
            todo = [(k, context) for k, context in taken if context is not None]
            masked = True
    seconds = (time.perf_counter() - start) / max(1, len(every))
    for each, made in zip(listed, hits, strict=True):
        cells = sum(len(context.codes) for context in each.query.contexts) * database.residues
        yield SearchResult(
            query=each.query.record,
            hits=tuple(Hit(k, hit.target, tuple(hit.hsps)) for k, hit in enumerate(made, start=1)),
            cells=cells,
            seconds=sum(found.seconds for found in each.found) + seconds * len(made),
            engine=_joined(found.engine for found in each.found) or engine.label,
            device=_joined(found.device for found in each.found) or engine.where,
            sequences=len(database),
            residues=database.residues,
            memory=max([engine.memory_used, *(found.memory for found in each.found)]),
            statistics=each.statistics,
        )


def _subjects(listed: _Listed, database: Database, limits: Limits) -> Iterator[_Subject]:
    every = list(range(len(listed.query.contexts)))
    numbers, best = target_numbers(listed.hits).tolist(), listed.contexts.tolist()
    for number, context, bits, evalue in zip(
        numbers, best, listed.bits, listed.evalues, strict=True
    ):
        contexts = [context] if limits.max_hsps == 1 else every
        yield _Subject(listed, number, database[number], contexts, bits, evalue)


def _slices(subjects: Sequence[_Subject]) -> Iterator[list[_Subject]]:
    """Yield the subjects in turn, so many together that their pairs are few enough."""
    some: list[_Subject] = []
    pairs = residues = 0
    for each in subjects:
        pairs, residues = pairs + len(each.contexts), residues + each.residues
        if some and (pairs > _MAX_PAIRS_PER_BATCH or residues > _MAX_RESIDUES_PER_BATCH):
            yield some
            some, pairs, residues = [], len(each.contexts), each.residues
        some.append(each)
    if some:
        yield some


class _Rounds:
    """The sequences of queries and hits side by side, of which some pairs are aligned at a time."""

    def __init__(
        self,
        engine: Engine,
        subjects: Sequence[_Subject],
        database: Database,
        ties: Ties,
    ) -> None:
        self._engine, self._subjects, self._ties = engine, subjects, ties
        self._first: dict[_Listed, int] = {}
        codes: list[npt.NDArray[np.uint8]] = []
        for each in dict.fromkeys(subject.of for subject in subjects):
            self._first[each] = len(codes)
            codes += [context.codes for context in each.query.contexts]
        self._queries = Sequences.of(codes)
        places = database.rank[np.array([each.number for each in subjects], np.int64)].tolist()
        self._targets = Sequences.of([database.part(slice(k, k + 1)).residues for k in places])

    def align(self, todo: Sequence[tuple[int, int]], *, masked: bool) -> None:
        """Find the next alignments of subjects, given by number, and contexts."""
        pairs = [(self._subjects[k], context) for k, context in todo]
        batch = Batch.indexed(
            self._queries,
            self._targets,
            np.array([self._first[each.of] + context for each, context in pairs], np.int32),
            np.array([k for k, _ in todo], np.int32),
        )
        if masked:
            batch = batch.masked(each.mask(context) for each, context in pairs)
        found = traced(self._engine, batch, self._ties)
        scoring = self._engine.scoring
        for (each, context), (score, coordinates) in zip(pairs, found, strict=True):
            query = each.of.query.contexts[context].record
            each.next[context] = Alignment(score, query, each.target, coordinates, scoring)


def _joined(names: Iterator[str]) -> str:
    return " and ".join(dict.fromkeys(filter(None, names)))
