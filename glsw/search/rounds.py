"""The alignments of hits: the best ones, then rounds of further ones that share no pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Mask
from glsw.alignment.paths import Runs
from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.search.hit_pairs import HitPairs
from glsw.search.limits import Limits
from glsw.sequences.database import Database
from glsw.sequences.encoded import distinct
from glsw.statistics import Statistics

_Int64 = npt.NDArray[np.int64]
_Float64 = npt.NDArray[np.float64]
_Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class FoundAlignments:
    """Alignments of hits, in the order of the hits, of each the best first.

    Parameters
    ----------
    hit : ndarray of int64, shape (N,)
        The number of the hit.
    context : ndarray of int64, shape (N,)
        The number of the context in `HitPairs.contexts`.
    place : ndarray of int64, shape (N,)
        The place of the target among the sorted sequences of the database.
    units : ndarray of int, shape (N,)
        The score in integer units of the scoring.
    bits, evalues : ndarray of float64, shape (N,)
        NaN if there are no statistics.
    runs : Runs
        The columns of the alignments.
    """

    hit: _Int64
    context: _Int64
    place: _Int64
    units: npt.NDArray[np.integer]
    bits: _Float64
    evalues: _Float64
    runs: Runs

    @classmethod
    def concatenated(cls, parts: Sequence[FoundAlignments]) -> FoundAlignments:
        """Return the alignments of all parts."""
        return cls(
            np.concatenate([np.empty(0, np.int64), *(each.hit for each in parts)]),
            np.concatenate([np.empty(0, np.int64), *(each.context for each in parts)]),
            np.concatenate([np.empty(0, np.int64), *(each.place for each in parts)]),
            np.concatenate([np.empty(0, np.int64), *(each.units for each in parts)]),
            np.concatenate([np.empty(0), *(each.bits for each in parts)]),
            np.concatenate([np.empty(0), *(each.evalues for each in parts)]),
            Runs.concatenated([each.runs for each in parts]),
        )


def align_hits(
    engine: Engine, pairs: HitPairs, chosen: slice, limits: Limits, ties: Ties
) -> FoundAlignments:
    """Return the alignments of some hits: one each, or as many as the limits allow."""
    best_only = limits.max_hsps == 1
    hits, contexts, places = pairs.pairs(chosen, best_only=best_only)
    lists, first = pairs.hit_lists, 0
    if cut := pairs.cut(contexts, places):
        units, runs = lists.scores.aligned(engine, cut[0], hits, ties)
        runs = runs.shifted(np.stack([0 * cut[1], cut[1]], axis=1))
    else:
        whole = pairs.whole(places)
        batch = pairs.batch(contexts, places, whole)
        units, runs = lists.scores.aligned(engine, batch, hits, ties)
    if best_only:
        known = lists.bits[chosen], lists.evalues[chosen]
        return FoundAlignments(hits, contexts, places, units, *known, runs)
    first, stop, _ = chosen.indices(len(lists.hits))
    targets = [_Target.of(pairs, hit) for hit in range(first, stop)]
    if cut:
        whole = pairs.whole(places)
        engine.keep_windows(pairs.contexts, whole.sequences, pairs.known_windows(whole))
    while len(hits):
        each = zip(hits.tolist(), contexts.tolist(), places.tolist(), strict=True)
        for p, (hit, context, place) in enumerate(each):
            candidate = _Candidate(context, place, int(units[p]), runs.part(slice(p, p + 1)))
            targets[hit - first].candidates[candidate.pair] = candidate
        todo = [
            (hit, *pair)
            for hit in distinct(hits).tolist()
            for pair in targets[hit - first].accept(limits)
        ]
        hits, contexts, places = np.array(todo, np.int64).reshape(-1, 3).T
        if todo:
            masks = (targets[hit - first].mask(*pair) for hit, *pair in todo)
            batch = pairs.batch(contexts, places, whole).masked(masks)
            units, runs = lists.scores.aligned(engine, batch, hits, ties)
    return _found(targets)


class _Candidate(NamedTuple):
    """An alignment of a context and the target at a place: its score in units, its columns."""

    context: int
    place: int
    units: int
    runs: Runs
    bits: float = np.nan
    evalue: float = np.nan

    @property
    def pair(self) -> _Pair:
        return self.context, self.place


@dataclass(eq=False)
class _Target:
    """A target of a query, in all its frames, with the alignments found so far.

    Parameters
    ----------
    hit : int
        Its number.
    lengths : dict of int to int
        The residues of each context of the query.
    database : Database
    statistics : Statistics
    bits, evalue : float
        Of the best alignment.
    accepted : list
        The alignments so far, of all contexts.
    candidates : dict
        By context and place, the best alignment that shares no pair with those so far.
    """

    hit: int
    lengths: dict[int, int]
    database: Database
    statistics: Statistics
    bits: float
    evalue: float
    accepted: list[_Candidate] = field(default_factory=list)
    candidates: dict[_Pair, _Candidate] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: HitPairs, hit: int) -> _Target:
        """Return the target of a hit."""
        lists = pairs.hit_lists
        owner = int(np.searchsorted(lists.offsets, hit, "right")) - 1
        first = int(pairs.first[hit])
        contexts = range(first, first + int(pairs.counts[hit]))
        return cls(
            hit,
            {context: int(pairs.contexts.lengths[context]) for context in contexts},
            pairs.database,
            lists.statistics[owner],
            float(lists.bits[hit]),
            float(lists.evalues[hit]),
        )

    def mask(self, context: int, place: int) -> Mask:
        """Return the aligned pairs of the alignments of a context and a place so far."""
        pair = context, place
        found = Runs.concatenated([each.runs for each in self.accepted if each.pair == pair])
        return Mask.nothing(self.lengths[context]).with_runs(found)

    def accept(self, limits: Limits) -> list[_Pair]:
        """Accept the best candidate; return its pair if there may be another alignment.

        If no number limits the alignments, those of one pair do not depend on those of others: all
        candidates within the limits are accepted at once.
        """
        todo: list[_Pair] = []
        while self.candidates:
            pair = min(self.candidates, key=lambda pair: self._rank(self.candidates[pair]))
            found = self.candidates.pop(pair)
            if not self.accepted:
                found = found._replace(bits=self.bits, evalue=self.evalue)
            elif found.units < limits.ranking.min_score:
                self.candidates.clear()
                break
            else:
                found = self._with_statistics(found)
                if limits.evalue is not None and found.evalue > limits.evalue:
                    continue
            self.accepted.append(found)
            endless = limits.endless and not self.statistics.available
            if endless or len(self.accepted) == limits.max_hsps:
                return []
            todo.append(pair)
            if limits.max_hsps is not None:
                break
        return todo

    def ranked(self) -> list[_Candidate]:
        """Return what was accepted, the best first; that of a pair is in order."""
        return sorted(self.accepted, key=self._rank)

    def _rank(self, found: _Candidate) -> tuple[int, int, int]:
        """Return what sorts alignments: the best first, of equal ones as in `best_contexts`."""
        return -found.units, int(self.database.order[found.place]), found.context

    def _with_statistics(self, found: _Candidate) -> _Candidate:
        if not self.statistics.available:
            return found
        length = int(self.database.lengths[found.place])
        bits = self.statistics.bits(found.units, length)
        evalue = self.statistics.evalue(found.units, self.lengths[found.context], length)
        return found._replace(bits=bits, evalue=evalue)


def _found(targets: Sequence[_Target]) -> FoundAlignments:
    every = list(chain.from_iterable(each.ranked() for each in targets))
    return FoundAlignments(
        np.repeat([each.hit for each in targets], [len(each.accepted) for each in targets]),
        np.array([each.context for each in every], np.int64),
        np.array([each.place for each in every], np.int64),
        np.array([each.units for each in every], np.int64),
        np.array([each.bits for each in every]),
        np.array([each.evalue for each in every]),
        Runs.concatenated([each.runs for each in every]),
    )
