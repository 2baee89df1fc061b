"""Many pairs in one call: scores and alignments, computed in chunks of bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise, repeat
from math import prod
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.alignment.paths import Runs
from glsw.cores import ahead
from glsw.engines.base import Engine, Pairs, Progress, Ties
from glsw.pairs.align_pairs import OwnScores, aligned
from glsw.run.pool import Runner, task_count
from glsw.sequences.encoded import offsets_of
from glsw.sequences.tiles import cut, even

_MAX_PAIRS, _MAX_RESIDUES, _MAX_CELLS = 2**18, 2**26, 2**37  # of a chunk
_MAX_TABLE = 2**28  # scores of all queries with all targets, 1 GiB on the host
_MAX_RANGE_PER_PAIR = 2  # sequences of a chunk from the first to the last that are kept together
Index: TypeAlias = npt.ArrayLike
"""Numbers of the sequences of pairs, see `index_of`."""

_Found = tuple[npt.NDArray[np.int32], Runs]
FoundT = TypeVar("FoundT")


def score_pairs(run: Runner, batch: Batch, own: OwnScores | None = None) -> npt.NDArray[np.int32]:
    """Return the score of each pair in integer units, shape (N,).

    Parameters
    ----------
    run : Runner
        Who computes.
    batch : Batch
        Of pairs; it may be larger than the memory of a device.
    own : OwnScores, optional
        Of these pairs: the host computes them, or the workers.
    """
    found = np.empty(len(batch), np.int32)
    if run.workers or own:

        def task(pairs: Batch, some: slice) -> Callable[..., npt.NDArray[np.int32]]:
            return partial(_own_scores, own.part(some)) if own else partial(_scores, pairs)

        for chunk, scores in computed(run, batch, task):
            found[chunk] = scores
        return found
    run.engine.check(batch)
    residues = sum(len(each.residues) for each in {*batch.sequences})
    fits = residues <= _MAX_RESIDUES and prod(batch.distinct) <= _MAX_TABLE
    whole = len(batch) > 0 and fits and run.engine.is_table(batch)
    every = [slice(0, len(batch))] if whole else list(chunks(batch))
    some = map(Pairs, ahead(_prepared(run.engine, zip(repeat(batch), every))))
    answers = run.engine.answers(some, progress=run.progress)
    for chunk, scores in zip(every, answers, strict=True):
        found[chunk] = scores
    return found


def score_parts(run: Runner, parts: Iterable[Batch]) -> npt.NDArray[np.int32]:
    """Return the scores of pairs in parts, as `score_pairs`.

    The engine of this process computes while a thread asks for the next part and lays it out.
    """
    every = ((part, chunk) for part in parts for chunk in chunks(part))
    some = map(Pairs, ahead(_prepared(run.engine, every)))
    answers = run.engine.answers(some, progress=run.progress)
    return np.concatenate([np.empty(0, np.int32), *answers])


def align_pairs(run: Runner, batch: Batch, own: OwnScores | None = None) -> _Found:
    """Return the score of each pair in integer units, and the columns of its best alignment.

    Parameters as of `score_pairs`.
    """
    scores = np.empty(len(batch), np.int32)
    parts: dict[int, Runs] = {}

    def task(pairs: Batch, some: slice) -> Callable[..., _Found]:
        do = partial(_own_runs, own.part(some)) if own else partial(_runs, pairs)
        return partial(do, run.ties)

    for chunk, (units, runs) in computed(run, batch, task):
        scores[chunk] = units
        parts[chunk.start] = runs
    ordered = [parts[start] for start in sorted(parts)]
    return scores, Runs.concatenated(ordered)


def index_of(pairs: Index | None, queries: int, targets: int) -> npt.NDArray[np.int32]:
    """Return the numbers of the sequences of each pair, shape (N, 2).

    Parameters
    ----------
    pairs : array of int, shape (N, 2), or two of shape (N,), optional
        Without it the first query and the first target, and so on; one sequence with all others.
    queries, targets : int
        How many there are.

    Raises
    ------
    TypeError
        If the numbers are not integers.
    ValueError
        For another shape, numbers of sequences that do not exist, and sides that do not pair up.

    Examples
    --------
    >>> index_of(None, 1, 3).tolist(), index_of(([0, 1], [1, 1]), 2, 2).tolist()
    ([[0, 0], [0, 1], [0, 2]], [[0, 1], [1, 1]])
    """
    if pairs is None:
        if queries != targets and 1 not in (queries, targets):
            raise ValueError(
                f"{queries} queries and {targets} targets do not pair up: equal numbers, or one "
                "sequence, or pairs, are needed"
            )
        count = 0 if 0 in (queries, targets) else max(queries, targets)
        each = np.arange(count, dtype=np.int32)
        if queries == targets:
            return np.broadcast_to(each[:, None], (count, 2))  # not copied
        none = np.zeros_like(each)
        return np.stack([each if queries > 1 else none, each if targets > 1 else none], axis=1)
    index = np.asarray(pairs)
    if isinstance(pairs, tuple) and index.ndim == 2 and len(index) == 2:
        index = index.T
    if not index.size:
        index = np.empty((0, 2), np.int32)
    if index.dtype.kind not in "iu":
        raise TypeError(f"pairs must be integers, got {index.dtype}")
    if index.ndim != 2 or index.shape[1] != 2:
        raise ValueError(f"pairs must have the shape (N, 2), or be two of (N,), got {index.shape}")
    for column, count, what in zip(index.T, (queries, targets), ("query", "target"), strict=True):
        if len(column) and not 0 <= column.min() <= column.max() < count:
            wrong = column.min() if column.min() < 0 else column.max()
            raise ValueError(f"pairs name {what} {wrong}, there are 0 to {count - 1}")
    return index.astype(np.int32)


def chunks(batch: Batch, count: int = 1) -> Iterator[slice]:
    """Yield slices of pairs with bounded numbers of pairs, residues and cells, or of one pair.

    Parameters
    ----------
    batch : Batch
    count : int
        About so many, of about equal cells, if there are as many pairs.

    Examples
    --------
    >>> word = np.zeros(10, np.uint8)
    >>> [(each.start, each.stop) for each in chunks(Batch.of([(word, word)] * 5), 2)]
    [(0, 3), (3, 5)]
    """
    if not len(batch):
        return
    (longest, other), most = batch.extent[1].tolist(), min(len(batch), _MAX_PAIRS)
    few = most * (longest + other) <= _MAX_RESIDUES and most * longest * other <= _MAX_CELLS
    if (few and count == 1) or (batch.extent[0] == batch.extent[1]).all():
        yield from _equal_chunks(len(batch), longest, other, count)
        return
    m, n = batch.query_lengths, batch.target_lengths
    sizes = np.arange(len(batch) + 1), offsets_of(m + n), offsets_of(m * n)
    for share in pairwise(even(sizes[-1], [1] * count)):
        yield from cut(sizes, (_MAX_PAIRS, _MAX_RESIDUES, _MAX_CELLS), slice(*share))


def _equal_chunks(pairs: int, m: int, n: int, count: int) -> Iterator[slice]:
    """Yield `chunks` of pairs of m and n letters, or of fewer that all fit."""
    within = min(_MAX_RESIDUES // max(1, m + n), _MAX_CELLS // max(1, m * n))
    step = max(1, min(_MAX_PAIRS, within, -(-pairs // count)))
    for start in range(0, pairs, step):
        yield slice(start, min(start + step, pairs))


def _scores(
    pairs: Batch, engine: Engine, progress: Progress | None = None
) -> npt.NDArray[np.int32]:
    return engine.scores(pairs, progress=progress)


def _runs(pairs: Batch, ties: Ties, engine: Engine, progress: Progress | None = None) -> _Found:
    return aligned(engine, pairs, ties, progress)


def _own_scores(
    own: OwnScores, engine: Engine, progress: Progress | None = None
) -> npt.NDArray[np.int32]:
    parts = [host.scores(pairs, progress=progress) for host, pairs in own.engines()]
    return np.concatenate(parts)


def _own_runs(
    own: OwnScores, ties: Ties, engine: Engine, progress: Progress | None = None
) -> _Found:
    parts = [aligned(host, pairs, ties, progress) for host, pairs in own.engines()]
    scores, runs = zip(*parts, strict=True)
    return np.concatenate(scores), Runs.concatenated(runs)


def computed(
    run: Runner, batch: Batch, task: Callable[[Batch, slice], Callable[..., FoundT]]
) -> Iterator[tuple[slice, FoundT]]:
    """Yield chunks and what a task finds of each; in any order if there are workers.

    Parameters as of `score_pairs`; ``task`` makes what computes a chunk, given its pairs and the
    slice that they are of all.
    """
    run.engine.check(batch)
    if not run.workers:
        for chunk in chunks(batch):
            yield chunk, task(_compact(batch, chunk), chunk)(run.engine, run.progress)
        return
    parts = list(chunks(batch, task_count(run.workers)))
    tasks: list[Any] = [task(_compact(batch, part), part) for part in parts]
    cells = [batch.select(part).cells for part in parts]
    for k, found in run.results(tasks, cells, "pairs"):
        yield parts[k], found
        run.report(cells[k])


def _prepared(engine: Engine, every: Iterable[tuple[Batch, slice]]) -> Iterator[Batch]:
    """Yield chunks of pairs, laid out for an engine."""
    for batch, chunk in every:
        some = _compact(batch, chunk)
        _ = some.distinct, some.extent  # which it keeps
        engine.prepare(some)
        yield some


def _ends(run: slice | npt.NDArray[np.int32], chunk: slice) -> tuple[int, int]:
    """Return the least and the largest number of a part of a column, see `Batch.runs`."""
    if isinstance(run, slice):
        return run.start + chunk.start, run.start + chunk.stop - 1
    return int(run[chunk].min()), int(run[chunk].max())


def _compact(batch: Batch, chunk: slice) -> Batch:
    """Return some pairs, and few other sequences; neighbours are not copied."""
    if (chunk.start, chunk.stop) == (0, len(batch)):
        return batch
    some = batch.index[chunk]
    first, last = np.array([_ends(run, chunk) for run in batch.runs]).T
    if batch.sequences[0] is batch.sequences[1]:
        first, last = np.full(2, first.min()), np.full(2, last.max())
    if (last - first >= _MAX_RANGE_PER_PAIR * len(some)).any():
        return batch.select(chunk).compact()
    parts = {
        sequences: sequences.part(slice(a, b + 1))
        for sequences, a, b in zip(batch.sequences, first.tolist(), last.tolist(), strict=True)
    }
    same = some.strides[1] == 0  # see `index_of`
    index = some[:, : 2 - same] - first[: 2 - same].astype(np.int32)
    index = np.broadcast_to(index, some.shape) if same else index
    return Batch(tuple(parts[each] for each in batch.sequences), index)
