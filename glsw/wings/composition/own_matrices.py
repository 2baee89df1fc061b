"""Scores and alignments of pairs that each have their own matrix or profile.

On a device they are pairs of queries by position, for which each letter of each pair is a position,
and each position of each pair with a profile.
On the host scores are computed in NumPy, row by row of many pairs together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch, Masks
from glsw.alignment.paths import Ends, Paths, Runs
from glsw.alignment.table import HitTable
from glsw.alignment.traceback import Table, TableRow, best_end, trace
from glsw.engines import Engine
from glsw.engines.base import Progress, Ties
from glsw.engines.cpu_letters import text_of
from glsw.engines.cpu_local import Walked, walked
from glsw.engines.cpu_pairs import SinglePairs, fits, own_scores as own_scores_16, takes_tables
from glsw.engines.spec import EngineSpec
from glsw.pairs.align_pairs import aligned
from glsw.scoring.gaps import GapCost, PositionalGaps
from glsw.scoring.positional import MAX_POSITIONS, PositionalScoring
from glsw.scoring.scoring import Scoring
from glsw.search.select import PairScores, pair_numbers
from glsw.sequences.encoded import Sequences, distinct, offsets_of
from glsw.sequences.tiles import cut
from glsw.wings.composition.adjustment import rounded, scaled_profiles

if TYPE_CHECKING:
    from typing_extensions import Self

_MAX_COLUMNS_TOGETHER = 2**15  # of all pairs of a group, which a cache should hold
_MAX_SCORES_TOGETHER = 2**24  # of the matrices of pairs
_PADDING = -(2**20)

_Codes = npt.NDArray[Any]
_Int32 = npt.NDArray[np.int32]
_Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OwnScores(PairScores, ABC):
    """The matrix or profile of each pair, and the targets, whose letters may be masked.

    Parameters
    ----------
    targets : Sequences
        Of N pairs.
    scale : int
        Units of scores per unit of the matrix as it is.
    pairs : ndarray of int64, shape (N,)
        Their numbers, ascending, see `glsw.search.select.pair_numbers`.
    """

    targets: Sequences
    scale: int
    pairs: _Int64

    @abstractmethod
    def height(self, scoring: Scoring, query: _Codes) -> int:
        """Return how many rows R the matrix of a pair has."""

    @abstractmethod
    def of(
        self, scoring: Scoring, query: _Codes, numbers: _Int64
    ) -> tuple[_Codes, npt.NDArray[np.integer]]:
        """Return the rows that a query has in its matrices, and those of some pairs, (n, R, A)."""

    def stacked(
        self, scoring: Scoring, queries: Sequences, numbers: _Int64
    ) -> tuple[_Codes, npt.NDArray[np.integer]]:
        """Return the rows of pairs with their queries, and their matrices below each other."""
        each = [self.of(scoring, q, numbers[p : p + 1]) for p, q in enumerate(queries)]
        rows, matrices = zip(*each, strict=True)
        return np.concatenate(rows), np.concatenate([matrix for (matrix,) in matrices])

    def known(self, pairs: _Int64) -> npt.NDArray[np.bool_]:
        """Return which pairs have scores of their own."""
        return np.isin(pairs, self.pairs)

    def of_contexts(self, contexts: slice) -> Self:
        """Return those of the pairs of a slice of the contexts, of step 1."""
        bounds = pair_numbers(np.array([contexts.start, contexts.stop]), np.zeros(2, np.int64))
        own = self._rows(np.arange(*np.searchsorted(self.pairs, bounds)))
        return replace(own, pairs=own.pairs - bounds[0])

    def of_hits(self, keys: _Int64, hits: _Int64) -> Self:
        """Return those of the pairs whose keys are those of some hits, given by rows."""
        return self._rows(np.flatnonzero(np.isin(keys, keys[hits])))

    @classmethod
    def concatenated(cls, parts: Sequence[Any]) -> Self:
        """Return those of all parts, one or more, whose numbers ascend."""
        first = parts[0]
        arrays = ([getattr(each, name) for each in parts] for name in ("pairs", *first._arrays))
        targets = Sequences.concatenated([each.targets for each in parts])
        return cls(targets, first.scale, *map(np.concatenate, arrays))

    def _rows(self, some: _Int64) -> Self:
        """Return some of them, in their order."""
        arrays = [getattr(self, name)[some] for name in ("pairs", *self._arrays)]
        return type(self)(self.targets.select(some), self.scale, *arrays)

    @property
    def _arrays(self) -> list[str]:
        """The names of what each pair has besides."""
        return [each.name for each in fields(self)[3:]]

    def scores(
        self, engine: Engine, queries: Sequences, owners: _Int64, progress: Progress
    ) -> _Int32:
        """Return the best score of each pair, in scaled units.

        ``owners`` says which query a pair has: pairs of a query are neighbours. ``progress`` counts
        the pairs.
        """
        found = [np.empty(0, np.int32)]

        def add(scores: _Int32) -> None:
            found.append(scores)
            progress(len(scores))

        if scores_on_device(engine):
            numbers = np.arange(len(owners))
            for each, batch in self._groups(engine, queries, owners, numbers):
                add(each.scores(batch))
            return np.concatenate(found)
        scaled = self._scaled(engine.scoring.letters)
        if _by_library(engine):
            add(self._scores_by_library(engine, scaled, queries, owners))
            return np.concatenate(found)
        bounds = np.searchsorted(owners, np.arange(len(queries) + 1)).tolist()
        for query, (first, stop) in zip(queries, pairwise(bounds), strict=True):
            each = self.height(engine.scoring, query) * engine.scoring.matrix.shape[1]
            gaps = self._gaps(engine.scoring, query)
            step = max(1, _MAX_SCORES_TOGETHER // max(1, each))
            for start in range(first, stop, step):
                some = slice(start, min(stop, start + step))
                rows, matrices = self.of(engine.scoring, query, np.arange(some.start, some.stop))
                add(own_scores(rows, self.targets.part(some), matrices, gaps or scaled.deletion))
        return np.concatenate(found)

    def _scores_by_library(
        self, engine: Engine, scaled: Scoring, queries: Sequences, owners: _Int64
    ) -> _Int32:
        """Return the best score of each pair, most in 16 bits."""
        texts = {query: text_of(queries[query]) for query in distinct(owners).tolist()}
        targets, bounds = text_of(self.targets.residues), self.targets.offsets.tolist()
        pairs = [
            (texts[query], targets[first:stop])
            for query, first, stop in zip(owners.tolist(), bounds, bounds[1:], strict=False)
        ]
        _, matrices = self.of(scaled, queries.residues[:0], np.arange(len(pairs)))
        found = own_scores_16(pairs, matrices, (scaled.gap_open, scaled.gap_extend))
        for k in np.flatnonzero(found < 0).tolist():
            pair, scoring = self._pair(engine, scaled, queries[int(owners[k])], k)
            wide = _fits(pair, scoring)
            found[k] = SinglePairs(scoring).score(*pair) if wide else best_end(*pair, scoring)[0]
        return found.astype(np.int32)

    def _aligned(
        self, engine: Engine, batch: Batch, pairs: _Int64, ties: Ties, progress: Progress
    ) -> tuple[_Int32, Runs]:
        """Return the score of each pair, in scaled units, and the columns of its best alignment.

        ``batch`` has the queries and masks, ``pairs`` says which scores and target a pair has.
        """
        queries, owners = batch.queries, batch.index[:, 0].astype(np.int64)
        hits = np.searchsorted(self.pairs, pairs)
        if on_device(engine):
            groups = self._groups(engine, queries, owners, hits, batch.masks)
            found = [aligned(each, some, ties, progress) for each, some in groups]
            units = np.concatenate([np.empty(0, np.int32), *(each[0] for each in found)])
            return units, Runs.concatenated([each[1] for each in found])
        each, scaled = list[Walked](), self._scaled(engine.scoring.letters)
        for p, number in enumerate(hits.tolist()):
            pair, own = self._pair(engine, scaled, queries[int(owners[p])], number)
            mask = batch.mask(p)
            if _by_library(engine) and _fits(pair, own):
                each.append(SinglePairs(own).path(*pair, mask))
            else:
                score, i, j = best_end(*pair, own, mask)
                traced, _ = trace(*pair, own, i, j, mask=mask)
                each.append(((score, i, j), walked(traced)))
            progress(len(pair[0]) * len(pair[1]))
        cells = np.array([cell for cell, _ in each], np.int32).reshape(-1, 3)
        paths = Paths.of(Ends(cells[:, 0], cells[:, 1:]), [runs for _, runs in each])
        return cells[:, 0], paths.forwards()

    def _pair(
        self, engine: Engine, scaled: Scoring, query: _Codes, number: int
    ) -> tuple[tuple[_Codes, _Codes], Scoring]:
        """Return a pair and its scoring."""
        rows, (matrix,) = self.of(engine.scoring, query, np.array([number]))
        matrix = matrix.astype(np.int32)
        if engine.scoring.wide_queries:
            own: Scoring = PositionalScoring.of(matrix, scaled, self._gaps(engine.scoring, query))
        else:
            own = replace(scaled, matrix=matrix)
        return (rows, self.targets[number]), own

    def listed(self, table: HitTable) -> HitTable:
        """Return alignments with rounded scores; what is not listed is not known in these."""
        units = rounded(table.units / self.scale)
        return replace(table, units=units, hidden=None, beyond=None)

    def _groups(
        self,
        engine: Engine,
        queries: Sequences,
        owners: _Int64,
        numbers: _Int64,
        masks: Masks | None = None,
    ) -> Iterator[tuple[Engine, Batch]]:
        """Yield pairs with an engine for them: each row of each pair's matrix is a position."""
        scaled = self._scaled(engine.scoring.letters)
        of_each = [self.height(engine.scoring, query) for query in queries]
        heights = np.array(of_each, np.int64)[owners]
        for some in cut([offsets_of(heights)], [MAX_POSITIONS]):
            chosen = queries.select(owners[some])
            rows, matrix = self.stacked(engine.scoring, chosen, numbers[some])
            before = np.cumsum(heights[some]) - heights[some]
            positions = rows + np.repeat(before, chosen.lengths).astype(np.uint16)
            batch = Batch.pairwise(
                Sequences(positions, chosen.offsets), self.targets.select(numbers[some])
            )
            if masks is not None:
                batch = batch.masked(masks.select(np.arange(some.start, some.stop)))
            gaps = None
            if engine.scoring.wide_queries:
                costs = [each for query in chosen if (each := self._gaps(engine.scoring, query))]
                gaps = PositionalGaps.joined(costs) if costs else None
            made = PositionalScoring.of(matrix.astype(np.int32), scaled, gaps)
            yield EngineSpec(engine.name, made, engine.device).make(), batch

    def _gaps(self, scoring: Scoring, query: _Codes) -> PositionalGaps | None:
        """Return the gap costs of the rows of a query, in units of the own scores.

        None if they are those of letters.
        """
        gaps = scoring.gaps_at(query) if isinstance(scoring, PositionalScoring) else None
        return gaps and PositionalGaps(self.scale * gaps.opens, self.scale * gaps.extends)

    def _scaled(self, scoring: Scoring) -> Scoring:
        """Return a scoring whose gap costs are in units of the own scores."""
        opening, extension = self.scale * scoring.gap_open, self.scale * scoring.gap_extend
        return replace(scoring, gap_open=opening, gap_extend=extension)


@dataclass(frozen=True, eq=False)
class OwnMatrices(OwnScores):
    """The matrices of pairs.

    Parameters
    ----------
    targets, scale
        As of `OwnScores`.
    matrices : ndarray of int16, shape (N, A, A)
        Rows are of the query's letter.
    """

    matrices: npt.NDArray[np.int16]

    def height(self, scoring: Scoring, query: _Codes) -> int:
        """Return the letters of the alphabet."""
        return len(scoring.matrix)

    def of(
        self, scoring: Scoring, query: _Codes, numbers: _Int64
    ) -> tuple[_Codes, npt.NDArray[np.integer]]:
        """Return the letters of the query, and the matrices."""
        return query, self.matrices[numbers]

    def stacked(
        self, scoring: Scoring, queries: Sequences, numbers: _Int64
    ) -> tuple[_Codes, npt.NDArray[np.integer]]:
        """Return the letters of all queries, and the matrices below each other."""
        rows = queries.residues.astype(np.uint16)
        return rows, self.matrices[numbers].reshape(-1, self.matrices.shape[2])


@dataclass(frozen=True, eq=False)
class OwnProfiles(OwnScores):
    """The profiles of pairs: their scores are the query's, multiplied.

    Parameters
    ----------
    targets, scale
        As of `OwnScores`.
    rates : ndarray of float64, shape (N,)
        Factors of scores, see `glsw.wings.composition.adjustment.profile_rates`.
    frequencies : ndarray of float64, shape (N, 20)
        Of the amino acids of the targets.
    """

    rates: npt.NDArray[np.float64]
    frequencies: npt.NDArray[np.float64]

    def height(self, scoring: Scoring, query: _Codes) -> int:
        """Return the positions of the query."""
        return len(query)

    def of(
        self, scoring: Scoring, query: _Codes, numbers: _Int64
    ) -> tuple[_Codes, npt.NDArray[np.integer]]:
        """Return the positions, counted from 0, and the scores of each."""
        rows, given = np.arange(len(query)).astype(np.uint16), scoring.matrix[query]
        letters, rates = scoring.letters, self.rates[numbers]
        return rows, scaled_profiles(letters, given, rates, self.frequencies[numbers])


def _by_library(engine: Engine) -> bool:
    """Tell whether parasail computes pairs on the host; engine `reference` does without it."""
    letters = engine.scoring.letters
    return engine.name != "reference" and not engine.scoring.wide_queries and takes_tables(letters)


def _fits(pair: tuple[_Codes, _Codes], own: Scoring) -> bool:
    return fits(own, sum(map(len, pair)))


def on_device(engine: Engine) -> bool:
    """Return whether an engine uses hardware other than this processor."""
    return engine.capabilities.requires is not None and not engine.device.info.software


def scores_on_device(engine: Engine) -> bool:
    """Return whether scores are computed there, not by this processor, where it is faster."""
    return on_device(engine) and not _by_library(engine)


def own_scores(
    query: npt.NDArray[np.uint8],
    targets: Sequences,
    matrices: npt.NDArray[np.integer],
    costs: GapCost | PositionalGaps,
) -> _Int32:
    """Return the best local score of each pair, row by row of many pairs together.

    Parameters
    ----------
    query : ndarray of uint8, shape (m,)
    targets : Sequences
        Of N pairs.
    matrices : ndarray of int, shape (N, R, A)
        The matrix of each pair; codes of the query are its rows.
    costs : GapCost or PositionalGaps
        Of gaps, in all rows of the matrices or in each.

    Returns
    -------
    ndarray of int32, shape (N,)

    Examples
    --------
    >>> codes = np.array([0, 1, 1, 0], np.uint8)
    >>> same = np.where(np.eye(2), 5, -4).astype(np.int32)
    >>> targets = Sequences.of([codes, codes[1:]])
    >>> own_scores(codes, targets, np.stack([same, 2 * same]), GapCost(6, 1))
    array([20, 30], dtype=int32)
    """
    found = np.zeros(len(targets), np.int32)
    order = np.argsort(-targets.lengths, kind="stable")
    start = 0
    while start < len(order) and targets.lengths[order[start]]:
        width = int(targets.lengths[order[start]])
        some = order[start : start + max(1, _MAX_COLUMNS_TOGETHER // width)]
        found[some] = _together(query, targets.select(some), matrices[some], costs)
        start += len(some)
    return found


def _together(
    query: npt.NDArray[np.uint8],
    targets: Sequences,
    matrices: npt.NDArray[np.integer],
    costs: GapCost | PositionalGaps,
) -> _Int32:
    """Return the scores of pairs, the longest target first, whose columns are arrays."""
    pairs, rows, letters = matrices.shape
    width = int(targets.lengths[0])
    columns = np.full((pairs, width), letters)  # one letter more, behind the end
    columns[np.arange(width) < targets.lengths[:, np.newaxis]] = targets.residues
    scores = np.full((rows, pairs, letters + 1), _PADDING, np.int32)
    scores[:, :, :letters] = matrices.swapaxes(0, 1)
    cost, gaps = (costs, None) if isinstance(costs, GapCost) else (costs.most, costs)
    wide = rows > letters  # positions of a profile, which are not met again
    table = Table(scores, query.astype(np.intp), columns, cost, cost, None, None, gaps, wide)
    row = TableRow(table)
    best = np.zeros(pairs, np.int32)
    for _ in query:
        row.next()
        np.maximum(best, row.aligned.max(axis=1), out=best)
    return best
