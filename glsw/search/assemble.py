"""From hits to results: the hits of several queries are aligned together, round by round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.mask import Mask
from glsw.results import Alignment, Hit, Hsp, SearchResult
from glsw.search.align_pairs import traced
from glsw.search.limits import Limits
from glsw.search.ranking import target_numbers
from glsw.search.selection import HitList
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.sequences.records import EncodedRecord

_MAX_PAIRS_PER_BATCH = 4096
_MAX_RESIDUES_PER_BATCH = 2**24  # of pairs, so that there is room for their masks

ItemT = TypeVar("ItemT")


def search_results(
    engine: Engine, hit_lists: Iterable[HitList], database: Database, limits: Limits, ties: Ties
) -> Iterator[SearchResult]:
    """Yield the results of queries, their hits aligned.

    Hits of several queries are aligned together: hardware takes no longer than for those of one.
    """

    def pairs(each: HitList) -> tuple[int]:
        per_hit = 1 if limits.max_hsps == 1 else len(each.query.contexts)
        return (len(each.hits) * per_hit,)

    for some in _groups(hit_lists, pairs, (_MAX_PAIRS_PER_BATCH,)):
        yield from _results(engine, some, database, limits, ties)


def _results(
    engine: Engine, hit_lists: Sequence[HitList], database: Database, limits: Limits, ties: Ties
) -> Iterator[SearchResult]:
    start = time.perf_counter()
    aligned = [list(_targets(each, database, limits)) for each in hit_lists]
    targets = [target for each in aligned for target in each]
    bounds = _MAX_PAIRS_PER_BATCH, _MAX_RESIDUES_PER_BATCH
    for some in _groups(targets, lambda each: each.size, bounds):
        _align(engine, some, database, limits, ties)
    seconds = (time.perf_counter() - start) / max(1, len(targets))
    for each, made in zip(hit_lists, aligned, strict=True):
        scans = each.scans
        yield SearchResult(
            query=each.query.record,
            hits=tuple(Hit(k, one.target, tuple(one.hsps)) for k, one in enumerate(made, start=1)),
            cells=sum(len(one.codes) for one in each.query.contexts) * database.residues,
            seconds=sum(scan.seconds for scan in scans) + seconds * len(made),
            engine=_joined(scan.engine for scan in scans) or engine.label,
            device=_joined(scan.device for scan in scans) or engine.where,
            sequences=len(database),
            residues=database.residues,
            memory=max([engine.memory_used, *(scan.memory for scan in scans)]),
            statistics=each.statistics,
        )


def _joined(names: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(filter(None, names)))


def _groups(
    items: Iterable[ItemT], size: Callable[[ItemT], tuple[int, ...]], bounds: tuple[int, ...]
) -> Iterator[list[ItemT]]:
    """Yield items in turn, together while the sums of their sizes are within the bounds.

    >>> list(_groups([3, 1, 2, 9, 1], lambda item: (item,), (4,)))
    [[3, 1], [2], [9], [1]]
    """
    some: list[ItemT] = []
    sums = [0] * len(bounds)
    for item in items:
        sizes = size(item)
        sums = [a + b for a, b in zip(sums, sizes, strict=True)]
        if some and any(a > b for a, b in zip(sums, bounds, strict=True)):
            yield some
            some, sums = [], list(sizes)
        some.append(item)
    if some:
        yield some


@dataclass(eq=False)
class _Target:
    """A target of a query with the alignments found so far.

    Parameters
    ----------
    hit_list : HitList
        Of the query.
    number : int
        The original number in the database.
    target : EncodedRecord
    contexts : list of int
        The contexts of the query that are aligned with it.
    bits, evalue : float or None
        Of the best alignment.
    hsps : list of Hsp
        The alignments so far, of all contexts.
    candidates : dict of int to Alignment
        By context, the best alignment that shares no pair with those so far.
    """

    hit_list: HitList
    number: int
    target: EncodedRecord
    contexts: list[int]
    bits: float | None
    evalue: float | None
    hsps: list[Hsp] = field(default_factory=list)
    candidates: dict[int, Alignment] = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int]:
        """Pairs that are aligned in the first round, and their residues."""
        prepared = self.hit_list.query.contexts
        residues = sum(len(prepared[k].codes) + len(self.target) for k in self.contexts)
        return len(self.contexts), residues

    def mask(self, context: int) -> Mask:
        """Return the aligned pairs of the alignments of a context so far."""
        prepared = self.hit_list.query.contexts[context]
        paths = [hsp.alignment.coordinates for hsp in self.hsps if hsp.context == prepared.context]
        mask = Mask.nothing(len(prepared.codes))
        return mask.with_alignment(_concatenated(paths)) if paths else mask

    def accept(self, limits: Limits) -> int | None:
        """Accept the best candidate; return its context if there may be another alignment."""
        while self.candidates:
            context = min(self.candidates, key=lambda k: (-self.candidates[k].units, k))
            alignment = self.candidates.pop(context)
            if not self.hsps:
                prepared = self.hit_list.query.contexts[context]
                hsp = Hsp(alignment, prepared.context, self.bits, self.evalue)
            elif alignment.units < limits.ranking.min_score:
                return None
            else:
                hsp = self._further_hsp(alignment, context)
                if limits.hsp_evalue is not None and (hsp.evalue or 0) > limits.hsp_evalue:
                    continue
            self.hsps.append(hsp)
            endless = limits.hsp_evalue is not None and not self.hit_list.statistics.available
            return None if endless or len(self.hsps) == limits.max_hsps else context
        return None

    def _further_hsp(self, alignment: Alignment, context: int) -> Hsp:
        statistics, prepared = self.hit_list.statistics, self.hit_list.query.contexts[context]
        if not statistics.available:
            return Hsp(alignment, prepared.context)
        length = len(alignment.target.codes)
        bits = statistics.bits(alignment.units, length)
        evalue = statistics.evalue(alignment.units, len(prepared.codes), length)
        return Hsp(alignment, prepared.context, bits, evalue)


def _targets(hit_list: HitList, database: Database, limits: Limits) -> Iterator[_Target]:
    every = list(range(len(hit_list.query.contexts)))
    numbers, best = target_numbers(hit_list.hits).tolist(), hit_list.contexts.tolist()
    for number, context, bits, evalue in zip(
        numbers, best, hit_list.bits, hit_list.evalues, strict=True
    ):
        contexts = [context] if limits.max_hsps == 1 else every
        yield _Target(hit_list, number, database[number], contexts, bits, evalue)


def _align(
    engine: Engine, targets: Sequence[_Target], database: Database, limits: Limits, ties: Ties
) -> None:
    """Find the alignments of targets: of all contexts first, then further ones in rounds."""
    first: dict[HitList, int] = {}  # the number of the first context of each query
    codes: list[npt.NDArray[np.uint8]] = []
    for each in dict.fromkeys(target.hit_list for target in targets):
        first[each] = len(codes)
        codes += [prepared.codes for prepared in each.query.contexts]
    queries = Sequences.of(codes)
    sequences = database.sequences.select(database.rank[[each.number for each in targets]])
    todo = [(k, context) for k, target in enumerate(targets) for context in target.contexts]
    masked = False
    while todo:
        batch = Batch.indexed(
            queries,
            sequences,
            np.array([first[targets[k].hit_list] + context for k, context in todo], np.int32),
            np.array([k for k, _ in todo], np.int32),
        )
        if masked:
            batch = batch.masked(targets[k].mask(context) for k, context in todo)
        for (k, context), (score, coordinates) in zip(
            todo, traced(engine, batch, ties), strict=True
        ):
            query = targets[k].hit_list.query.contexts[context].record
            targets[k].candidates[context] = Alignment(
                score, query, targets[k].target, coordinates, engine.scoring
            )
        accepted = ((k, targets[k].accept(limits)) for k in dict.fromkeys(k for k, _ in todo))
        todo = [(k, context) for k, context in accepted if context is not None]
        masked = True


def _concatenated(paths: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return one path through the aligned pairs of several, which gaps connect.

    >>> _concatenated([np.array([[0, 2], [5, 7]]), np.array([[3, 4], [1, 2]])]).tolist()
    [[0, 2, 2, 3, 4], [5, 7, 1, 1, 2]]
    """
    pieces = [paths[0]]
    for path in paths[1:]:
        pieces += [np.array([[pieces[-1][0, -1]], [path[1, 0]]]), path]
    return np.concatenate(pieces, axis=1)
