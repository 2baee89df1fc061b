"""All pairs of two collections, or of one: cut into tiles, and their score matrix."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.engines.base import Engine, Proportion, ignore
from glsw.engines.tiles import ScanTile
from glsw.run.pool import Runner, task_count
from glsw.run.workers import Worker
from glsw.sequences.encoded import Sequences
from glsw.sequences.tiles import Tile, even

_MIN_STEPS, _MAX_STEPS, _CELLS_OF_STEP = 6, 16, 2**37
"""Steps of the diagonal of a symmetric table: each meets itself and what follows it."""
MAX_TARGETS = 2**18  # of a piece: they stay on the device while all queries meet them
_MAX_SCORES = 2**25  # of a tile
_PIECES_OF_WORKER = 16

_Scores = npt.NDArray[np.int32]


def pieces(
    queries: Sequences,
    targets: Sequences,
    residues: int,
    *,
    symmetric: bool,
    halves: bool = False,
    scores: int = _MAX_SCORES,
) -> Iterator[Tile]:
    """Yield pieces that have every pair, of symmetric ones every pair in one order at least.

    Parameters
    ----------
    queries, targets : Sequences
    residues : int
        Most of the targets of a piece, unless one alone has more.
    symmetric : bool
        Whether the queries are the targets too, and of two orders of a pair one is enough: that
        with the lesser number first. Near the diagonal a piece may have both.
    halves : bool
        Whether squares on the diagonal are computed once for each pair, see `ScanHints`: then
        these are larger, as a tile of scores.
    scores : int
        Of such a tile.

    Examples
    --------
    >>> four = Sequences.of([np.zeros(9, np.uint8)] * 4)
    >>> [(each.queries, each.targets.start) for each in pieces(four, four, 99, symmetric=True)][:2]
    [(slice(0, 1, None), 0), (slice(1, 2, None), 1)]
    """
    every = slice(0, len(queries))
    halves = halves and symmetric
    for part in targets.parts(max(1, residues)):
        most = isqrt(scores) if halves else MAX_TARGETS
        step = _equal_step(part.stop - part.start, most)
        for start in range(part.start, part.stop, step):
            some = slice(start, min(start + step, part.stop))
            if not symmetric:
                yield Tile(every, some)
                continue
            if start:
                yield Tile(slice(0, start), some)
            if halves:
                yield Tile(some, some)
                continue
            steps = even(targets.offsets, [1] * _steps(targets, some), some)
            for first, stop in pairwise(sorted({*steps})):
                yield Tile(slice(first, stop), slice(first, some.stop))


def tiles_of(piece: Tile, scores: int = _MAX_SCORES) -> Iterator[Tile]:
    """Yield the same in tiles of a bounded number of scores."""
    return piece.cut(max(1, scores // max(1, piece.shape[1])))


def _equal_step(count: int, most: int) -> int:
    """Return the size of as few parts of about equal size as have at most so many.

    >>> _equal_step(10, 4), _equal_step(0, 4)
    (4, 1)
    """
    return max(1, -(-count // max(1, -(-count // most))))


def _steps(sequences: Sequences, part: slice) -> int:
    """Return in how many steps to cut the diagonal of a part: each takes the device some time."""
    residues = int(sequences.offsets[part.stop] - sequences.offsets[part.start])
    return min(_MAX_STEPS, max(_MIN_STEPS, residues**2 // _CELLS_OF_STEP))


def pieces_of_workers(
    every: list[Tile], queries: Sequences, targets: Sequences, workers: list[Worker]
) -> list[Tile]:
    """Return the same in more pieces: several for each worker, of about equal cells."""
    cells = [cells_of(each, queries, targets) for each in every]
    most = sum(cells) / (_PIECES_OF_WORKER * task_count(workers))
    return [
        part
        for each, size in zip(every, cells, strict=True)
        for part in each.cut(max(1, int(each.shape[0] * most / max(1, size))))
    ]


def cells_of(
    piece: Tile, queries: Sequences, targets: Sequences, *, symmetric: bool = False
) -> int:
    """Return the cells of the tables of a piece; of symmetric ones see `cells_in_order`."""
    if symmetric:
        first = piece.queries.start - piece.targets.start
        return cells_in_order(queries.part(piece.queries), targets.part(piece.targets), first)
    return piece.cells(queries.offsets, targets.offsets)


def cells_in_order(queries: Sequences, targets: Sequences, first: int) -> int:
    """Return the cells of the pairs whose target is not before the query in one collection.

    ``first`` is the number of the first query, that of the first target being 0. Over all `pieces`
    of a symmetric table these are the cells of each pair once.

    >>> three = Sequences.of([np.zeros(n, np.uint8) for n in (1, 2, 3)])
    >>> cells_in_order(three, three, 0), cells_in_order(three, three, -9)
    (25, 36)
    """
    numbers = np.clip(np.arange(len(queries)) + first, 0, len(targets))
    return int(queries.lengths @ (targets.offsets[-1] - targets.offsets[numbers]))


def score_matrix(
    run: Runner,
    queries: Sequences,
    targets: Sequences | None = None,
    *,
    out: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any]:
    """Return the score of each query with each target, in units of the matrix.

    Besides the result, memory is needed for a tile of 2**25 scores, unless all go straight into it.

    Parameters
    ----------
    run : Runner
        Who computes; of pairs that are compared once the cells are reported once.
    queries, targets : Sequences
        N and M of them. Without targets the queries are compared with each other, each pair once
        if the scoring does not depend on the order of a pair.
    out : ndarray, shape (N, M), optional
        For the result; a memory map too.

    Returns
    -------
    ndarray of int32 or float64, shape (N, M)
        As `Scoring.in_matrix_units`; or ``out``.

    Raises
    ------
    ValueError
        As `Engine.scores`; for an ``out`` of another shape or of another kind of numbers.
    """
    engine = run.engine
    symmetric = targets is None and engine.scoring.symmetric
    others = queries if targets is None else targets
    shape = len(queries), len(others)
    kind = engine.scoring.in_matrix_units(np.empty(0, np.int32)).dtype
    found = np.empty(shape, kind) if out is None else out
    if found.shape != shape:
        raise ValueError(f"out has the shape {found.shape}, {shape} expected")
    if not np.can_cast(kind, found.dtype, "same_kind") or found.dtype.itemsize < 4:
        raise ValueError(f"out has numbers of {found.dtype}, {kind} expected")
    halves = engine.hints.halves and not run.workers
    cut = partial(pieces, queries, others, engine.hints.part, symmetric=symmetric, halves=halves)
    most, every = max(found.size, _MAX_SCORES), list[Tile]()
    into = found if found.dtype == np.int32 and not run.workers else None
    if into is not None:
        every = list(cut(scores=most))
    if len(every) != 1:  # it is not all in one tile
        most, every = _MAX_SCORES, list(cut(scores=_MAX_SCORES))
    if run.workers:
        every = pieces_of_workers(every, queries, others, run.workers)
    tiles = [tile for each in every for tile in tiles_of(each, most)]
    cells = [cells_of(tile, queries, others, symmetric=symmetric) for tile in tiles]
    for tile, scores in _scores_of(run, tiles, cells, queries, others, into):
        values = engine.scoring.in_matrix_units(scores)
        if not np.may_share_memory(values, found):
            found[tile.queries, tile.targets] = values
        if symmetric and tile.queries != tile.targets:
            found[tile.targets, tile.queries] = values.T
    return found


def _scores_of(
    run: Runner,
    tiles: list[Tile],
    cells: list[int],
    queries: Sequences,
    targets: Sequences,
    into: _Scores | None,
) -> Iterator[tuple[Tile, _Scores]]:
    """Yield each tile and its scores, in any order if there are workers.

    ``cells`` are to be reported of each tile; engines may put its scores ``into`` an array of all.
    """
    part = Parts(targets)
    if not run.workers:
        own = queries is targets  # then a square on the diagonal is of one object
        sides = (
            (each, part if own and each.queries == each.targets else Parts(queries))
            for each in tiles
        )
        asked = (
            ScanTile(
                of.of(each.queries),
                part.of(each.targets),
                into=None if into is None else into[each.queries, each.targets],
            )
            for each, of in sides
        )
        report = Proportion(run.progress or ignore)
        for tile, finished in zip(tiles, cells, strict=True):
            report.expect(cells_of(tile, queries, targets), finished)
        yield from zip(tiles, run.engine.answers(asked, progress=report), strict=True)
        return
    blocks = [partial(_scores, queries.part(each.queries), part.of(each.targets)) for each in tiles]
    whole = [cells_of(tile, queries, targets) for tile in tiles]
    for k, scores in run.results(blocks, whole, "matrix"):
        yield tiles[k], scores
        run.report(cells[k])


def _scores(queries: Sequences, targets: Sequences, engine: Engine) -> _Scores:
    found: _Scores
    (found,) = engine.answers([ScanTile(queries, targets)])
    return found


class Parts:
    """Parts of sequences: the same object as long as the same part is asked for."""

    def __init__(self, sequences: Sequences) -> None:
        self._sequences = sequences
        self._last: tuple[slice, Sequences] | None = None

    def of(self, part: slice) -> Sequences:
        """Return a part."""
        if self._last is None or self._last[0] != part:
            self._last = part, self._sequences.part(part)
        return self._last[1]
