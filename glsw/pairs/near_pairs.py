"""All pairs of sequences within a cutoff, as a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.alignment.table import PairAlignments
from glsw.engines.base import Engine, Progress, Proportion, Ties, ignore
from glsw.engines.tiles import BoundedTile, Passing
from glsw.pairs.align_pairs import aligned
from glsw.pairs.all_pairs import (
    MAX_TARGETS,
    Parts,
    cells_in_order,
    cells_of,
    pieces,
    pieces_of_workers,
    tiles_of,
)
from glsw.pairs.distances import Rule, ScoredPairs, Values
from glsw.run.pool import Runner
from glsw.scoring.gaps import EndGaps
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.sequences.named import NamedSequences
from glsw.sequences.tiles import Tile, cut, even

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_PENDING = 2**22  # pairs that may wait until all but the k best of each row are dropped
_PAIRS_ALIGNED = 2**16  # together
_MAX_SCORES = 2**26  # of a tile, where the engine does not keep them
_QUERIES_AS_LONG = 2**8, 2**13  # of a piece of about the same length, least and most

_Int32 = npt.NDArray[np.int32]
_Int64 = npt.NDArray[np.int64]


def near_pairs(
    run: Runner,
    queries: Sequences,
    targets: Sequences | None,
    rule: Rule,
    *,
    k: int | None = None,
    reciprocal: bool = False,
) -> csr_array:
    """Return the pairs that pass, as a sparse matrix, see `Aligner.neighbors`.

    Parameters
    ----------
    run : Runner
        Who computes.
    queries, targets : Sequences
        Without targets the queries are compared with each other, each pair once if the scoring does
        not depend on the order of a pair.
    rule : Rule
        Which pairs pass, and the value of each.
    k : int, optional
        Only so many of each row.
    reciprocal : bool
        Only those that are also among so many of their column.
    """
    sparse = scipy_sparse()
    others = queries if targets is None else targets
    symmetric = targets is None and run.engine.scoring.symmetric
    kept = _PassingPairs(rule, k, reciprocal, diagonal=targets is None)
    for found in _found(run, queries, others, rule, symmetric):
        kept.add(found)
        if symmetric:
            off = found.query != found.target
            turned = found.target[off], found.query[off], found.score[off]
            kept.add(ScoredPairs(*turned, found.identity[off[: len(found.identity)]]))
    rows, columns, values = kept.all()
    shape = len(queries), len(others)
    made: csr_array = sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
    made.sort_indices()
    return made


def scipy_sparse() -> Any:
    """Import SciPy's sparse matrices; ModuleNotFoundError that says what to install."""
    try:
        import scipy.sparse
        import scipy.sparse.csgraph
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "sparse matrices need scipy: pip install 'glsw[sparse]'", name="scipy"
        ) from None
    return scipy.sparse


def _found(
    run: Runner, queries: Sequences, targets: Sequences, rule: Rule, symmetric: bool
) -> Iterator[ScoredPairs]:
    """Yield the pairs that reach the bounds of a rule; of symmetric ones each in one order.

    If their order does not matter, sequences are sorted by length where that excludes pairs.
    """
    sides, bounds = (queries, targets), rule.bounds
    most = None if rule.letters else most_difference(run.engine.scoring, sides, bounds)
    if most is None:
        every = list(pieces(*sides, run.engine.hints.part, symmetric=symmetric))
        yield from _found_in(run, every, sides, bounds, rule, symmetric)
        return
    numbers = [np.argsort(each.lengths, kind="stable").astype(np.int32) for each in sides]
    sides = queries.select(numbers[0]), targets.select(numbers[1])
    bounds = bounds[0][numbers[0]], bounds[1][numbers[1]]
    every = list(_about_as_long(*sides, most, run.engine.hints.part, symmetric=symmetric))
    whole = Tile(*(slice(0, len(each)) for each in sides))
    cells = [cells_of(each, *sides, symmetric=symmetric) for each in (whole, *every)]
    run.report(cells[0] - sum(cells[1:]))
    for found in _found_in(run, every, sides, bounds, rule, symmetric):
        query, target = numbers[0][found.query], numbers[1][found.target]
        yield found._replace(query=query, target=target)


def most_difference(
    scoring: Scoring, sides: tuple[Sequences, Sequences], bounds: tuple[_Int32, _Int32]
) -> int | None:
    """Return the largest difference in length of pairs that pass; None if it is not bounded.

    In a global alignment of sequences that differ by d letters gaps cost at least as much as one
    of d positions, and aligned letters score no more than the best ones of each do.

    >>> scoring = Scoring.named("BLOSUM62", 11, 11).in_mode("global")
    >>> some = Sequences.of([scoring.alphabet.encode(word) for word in ("CASSF", "CASSYF", "CAW")])
    >>> bound = np.array([27, 34, 24], np.int32) - 10  # scores with themselves, and a cutoff
    >>> most_difference(scoring, (some, some), (bound, bound))
    0
    """
    costs = scoring.insertion, scoring.deletion
    if scoring.end_gaps != EndGaps.for_mode("global", *costs) or not all(map(len, sides)):
        return None
    slack = 0
    for k, (each, least) in enumerate(zip(sides, bounds, strict=True)):
        best = np.maximum(scoring.matrix.max(axis=1 - k), 0)
        sums = np.append(0, np.cumsum(best[each.residues], dtype=np.int64))[each.offsets]
        slack = max(slack, int((np.diff(sums) - least).max()))
    opening, extending = (min(each) for each in zip(*costs, strict=True))
    most = 0 if slack < opening else 1 + (slack - opening) // max(1, extending)
    shortest = min(int(each.lengths.min()) for each in sides)
    longest = max(int(each.lengths.max()) for each in sides)
    endless = slack >= opening and not extending
    return None if endless or most >= longest - shortest else most


def _about_as_long(
    queries: Sequences, targets: Sequences, most: int, residues: int, *, symmetric: bool
) -> Iterator[Tile]:
    """Yield pieces, as `pieces` does, with all pairs that differ by so many letters at most.

    The sequences ascend by length.
    """
    (least, many), lengths = _QUERIES_AS_LONG, queries.lengths
    bounds = [0]
    for end in (*(np.flatnonzero(np.diff(lengths)) + 1).tolist(), len(lengths)):
        if end - bounds[-1] >= least or end == len(lengths):
            parts = -(-(end - bounds[-1]) // many)
            bounds += even(queries.offsets, [1] * parts, slice(bounds[-1], end))[1:]
    sizes = targets.offsets, np.arange(len(targets) + 1)
    for start, stop in pairwise(sorted({*bounds})):
        shortest, longest = lengths[start] - most, lengths[stop - 1] + most
        first = start if symmetric else int(np.searchsorted(targets.lengths, shortest))
        last = int(np.searchsorted(targets.lengths, longest, "right"))
        for part in cut(sizes, [max(1, residues), MAX_TARGETS], slice(first, last)):
            yield Tile(slice(start, stop), part)


def _found_in(
    run: Runner,
    every: list[Tile],
    sides: tuple[Sequences, Sequences],
    bounds: tuple[_Int32, _Int32],
    rule: Rule,
    symmetric: bool,
) -> Iterator[ScoredPairs]:
    """Yield the pairs of some pieces that reach the bounds; of symmetric ones those of i <= j."""
    queries, targets = sides
    if run.workers:
        every = pieces_of_workers(every, queries, targets, run.workers)
    part = Parts(targets)
    works = (
        _Work(
            queries.part(each.queries),
            part.of(each.targets),
            bounds[0][each.queries],
            bounds[1][each.targets],
            each.queries.start,
            each.targets.start,
            symmetric,
            run.ties,
            rule.letters and _parts(rule.letters, each.queries, each.targets),
        )
        for each in every
    )
    if not run.workers:
        yield from _computed(run.engine, works, run.progress)
        return
    cells = [cells_of(each, queries, targets) for each in every]
    for k, found in run.results(list(works), cells, "pairs"):
        yield from found
        run.report(cells_of(every[k], queries, targets, symmetric=symmetric))


@dataclass(frozen=True)
class _Work:
    """A piece of the table of all pairs; as a task it returns the pairs that score enough.

    Parameters
    ----------
    queries, targets : Sequences
    query_bounds, target_bounds : ndarray of int32
        See `BoundedTile`.
    first_query, first_target : int
        Their numbers in the table.
    symmetric : bool
        Whether only pairs count whose query has the lesser number, or the same.
    ties : str
    letters : two Sequences, optional
        With them the pairs are aligned, for their identities, see `Rule`.
    """

    queries: Sequences
    targets: Sequences
    query_bounds: _Int32
    target_bounds: _Int32
    first_query: int
    first_target: int
    symmetric: bool
    ties: Ties
    letters: tuple[Sequences, Sequences] | None

    def __call__(self, engine: Any) -> list[ScoredPairs]:
        return list(_computed(engine, [self], None))

    def tiles(self) -> Iterator[tuple[BoundedTile, int]]:
        """Yield tiles of a bounded number of pairs, and the number of their first query."""
        whole = Tile(slice(0, len(self.queries)), slice(0, len(self.targets)))
        for each in tiles_of(whole, _MAX_SCORES):
            some, of = self.queries.part(each.queries), self.query_bounds[each.queries]
            yield BoundedTile(some, self.targets, of, self.target_bounds), each.queries.start

    def cells(self, tile: BoundedTile, start: int) -> tuple[int, int]:
        """Return the cells of a tile, and those of pairs that count."""
        every = len(tile.queries.residues) * len(tile.targets.residues)
        if not self.symmetric:
            return every, every
        first = self.first_query + start - self.first_target
        return every, cells_in_order(tile.queries, tile.targets, first)

    def found(self, engine: Engine, tile: BoundedTile, start: int, passing: Passing) -> ScoredPairs:
        """Return the pairs of a tile that pass, by their numbers in the table."""
        query, target, score = passing
        query = query + np.int32(self.first_query + start)
        target = target + np.int32(self.first_target)
        if self.symmetric and self.first_target < self.first_query + start + len(tile.queries):
            upper = query <= target
            query, target, score = query[upper], target[upper], score[upper]
            passing = Passing(*(each[upper] for each in passing))
        identity = np.empty(0)
        if self.letters:
            letters = _parts(self.letters, slice(start, start + len(tile.queries)))
            identity = identities(engine, (tile.queries, tile.targets), letters, passing, self.ties)
        return ScoredPairs(query, target, score, identity)


def _computed(
    engine: Engine, works: Iterator[_Work] | list[_Work], progress: Progress | None
) -> Iterator[ScoredPairs]:
    begun: list[tuple[_Work, BoundedTile, int]] = []
    report = Proportion(progress or ignore)

    def tiles() -> Iterator[BoundedTile]:
        for work in works:
            for tile, start in work.tiles():
                begun.append((work, tile, start))
                report.expect(*work.cells(tile, start))
                yield tile

    for passing in engine.answers(tiles(), progress=report):
        work, tile, start = begun.pop(0)
        yield work.found(engine, tile, start, passing)


def identities(
    engine: Engine,
    sides: tuple[Sequences, Sequences],
    letters: tuple[Sequences, Sequences],
    pairs: Passing,
    ties: Ties,
) -> npt.NDArray[np.float64]:
    """Return the fraction of equal columns of the best alignment of each pair, 0 of none."""
    first, second = (NamedSequences(each, engine.scoring.alphabet) for each in letters)
    found = np.zeros(len(pairs.query))
    for start in range(0, len(found), _PAIRS_ALIGNED):
        some = slice(start, start + _PAIRS_ALIGNED)
        index = np.stack([pairs.query[some], pairs.target[some]], axis=1)
        units, runs = aligned(engine, Batch.indexed(*sides, *index.T).compact(), ties)
        made = PairAlignments(engine.scoring, first, second, index, units, runs)
        found[some] = made.identity
    return found


def _parts(
    sides: tuple[Sequences, Sequences], queries: slice, targets: slice = slice(None)
) -> tuple[Sequences, Sequences]:
    return sides[0].part(queries), sides[1].part(targets)


class _PassingPairs:
    """The pairs that pass, of which perhaps only the k best of each row are kept."""

    def __init__(self, rule: Rule, k: int | None, reciprocal: bool, *, diagonal: bool) -> None:
        self._rule, self._k, self._reciprocal, self._diagonal = rule, k, reciprocal, diagonal
        self._parts: list[tuple[_Int32, _Int32, Values]] = []
        self._size, self._limit = 0, _PENDING

    def add(self, found: ScoredPairs) -> None:
        """Add those of some pairs that pass."""
        values = self._rule.values(found)
        passes = (values >= self._rule.least) & (values <= self._rule.most)
        self._parts.append((found.query[passes], found.target[passes], values[passes]))
        self._size += int(passes.sum())
        if self._k is not None and self._size > self._limit:
            self._parts = [self._best()]
            self._size = len(self._parts[0][0])
            self._limit = max(_PENDING, 2 * self._size)

    def all(self) -> tuple[_Int32, _Int32, Values]:
        """Return rows, columns and values of all that are kept, in any order."""
        return self._joined() if self._k is None else self._best(sides=1 + self._reciprocal)

    def _joined(self) -> tuple[_Int32, _Int32, Values]:
        nothing = np.empty(0, np.int32)
        empty = ScoredPairs(nothing, nothing, nothing, np.empty(0))
        parts = [(nothing, nothing, self._rule.values(empty)), *self._parts]
        rows, columns, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        return rows, columns, values

    def _best(self, sides: int = 1) -> tuple[_Int32, _Int32, Values]:
        """Return the k best of each row, or of one side at least, or of both; ties by number."""
        assert self._k is not None
        rows, columns, values = self._joined()
        keys = values if self._rule.ascending else -values
        chosen = np.where(self._diagonal & (rows == columns), sides, 0)
        others = np.flatnonzero(chosen == 0)
        for first, second in ((rows, columns), (columns, rows))[: 1 + self._reciprocal]:
            order = others[np.lexsort((second[others], keys[others], first[others]))]
            ordered = first[order]
            rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
            chosen[order[rank < self._k]] += 1
        kept = chosen >= sides
        return rows[kept], columns[kept], values[kept]


def listed(matrix: csr_array, *, ascending: bool, both: bool, own: bool) -> csr_array:
    """Return the entries of a square matrix that a list of its pairs has.

    Parameters
    ----------
    matrix : csr_array, shape (N, N)
    ascending : bool
        Whether lower values are better.
    both : bool
        Whether a pair is listed in both orders; otherwise the better of its two entries is kept,
        of equal ones that of the lower row.
    own : bool
        Whether the pair of a sequence with itself is.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> found = csr_array([[9, 5, 0], [5, 9, 2], [0, 3, 9]])
    >>> listed(found, ascending=False, both=False, own=False).toarray()
    array([[0, 5, 0],
           [0, 0, 0],
           [0, 3, 0]])
    """
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    columns, values = matrix.indices.astype(np.int64), matrix.data
    kept = np.ones(len(rows), bool) if own else rows != columns
    if not both:
        pair = np.minimum(rows, columns) * matrix.shape[0] + np.maximum(rows, columns)
        order = np.argsort(pair, kind="stable")
        same = np.flatnonzero(np.diff(pair[order]) == 0)
        first, second = order[same], order[same + 1]
        second_is_better = (
            values[second] < values[first] if ascending else values[second] > values[first]
        )
        kept[np.where(second_is_better, first, second)] = False
    made = values[kept], (rows[kept], columns[kept])
    return scipy_sparse().csr_array(made, shape=matrix.shape)
