"""Edit distances by several devices or an executor: the work in parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.device.current import DeviceError
from glsw.engines.base import Progress
from glsw.engines.bit_parallel import BitParallel, Distances
from glsw.pairs.all_pairs import Piece, cells_of, pieces_of_workers
from glsw.pairs.many_pairs import computed
from glsw.run.pool import AnyExecutor, EnginePool
from glsw.run.tasks import in_order, run_tasks
from glsw.sequences.encoded import Sequences


def by_workers(
    pool: EnginePool,
    batch: Batch,
    infix: bool,
    executor: AnyExecutor | None,
    progress: Progress | None,
) -> Distances:
    """Return the edit distances of pairs, arrays of shape (N,), see `glsw.edit_distance`.

    Parameters
    ----------
    pool : EnginePool
        Of engine ``bit_parallel``.
    batch : Batch
    infix : bool
        Whether the scoring has free ends of the target.
    executor : Executor, optional
        Instead of the processes of the pool.
    progress : callable, optional
    """
    found = Distances(*np.zeros((2, len(batch)), np.int32))
    task = partial(_Pairs, infix=infix)
    with pool.engine.turn:
        workers = pool.workers(executor)
        for chunk, part in computed(pool.engine, batch, workers, progress, task):
            found.distance[chunk], found.target_end[chunk] = part
    return found


def each_by_workers(
    pool: EnginePool,
    left: Sequences,
    right: Sequences,
    executor: AnyExecutor | None,
    progress: Progress | None,
) -> Distances:
    """Return the edit distances of each query with each target, arrays of shape (M, N).

    Other parameters as of `by_workers`.
    """
    shape = len(left), len(right)
    found = Distances(np.zeros(shape, np.int32), np.zeros(shape, np.int32))
    whole = [Piece(slice(0, shape[0]), slice(0, shape[1]))]
    with pool.engine.turn:
        workers = pool.workers(executor)
        if not workers:
            return _Each(left, right)(pool.engine, progress)
        every = pieces_of_workers(whole, left, right, workers) if all(shape) else []
        tasks = [_Each(left.part(each.queries), right) for each in every]
        for k, worker, answer in run_tasks(
            in_order(tasks), workers, pool.engine, "distances", len(tasks)
        ):
            cells = cells_of(every[k], left, right)
            worker.measured(cells, answer)
            rows = every[k].queries
            found.distance[rows], found.target_end[rows] = answer.value
            if progress:
                progress(cells)
    return found


@dataclass(frozen=True)
class _Pairs:
    """The distances of pairs, by the engine of a worker."""

    pairs: Batch
    infix: bool

    def __call__(self, engine: Any, progress: Progress | None = None) -> Distances:
        if self.infix:
            return _bit_parallel(engine, self.pairs).distances(self.pairs, progress=progress)
        scores: npt.NDArray[np.int32] = engine.scores(self.pairs, progress=progress)
        return Distances(-scores, self.pairs.target_lengths.astype(np.int32))


@dataclass(frozen=True)
class _Each:
    """The distances of each query with each target, by the engine of a worker."""

    queries: Sequences
    targets: Sequences

    def __call__(self, engine: Any, progress: Progress | None = None) -> Distances:
        each = _bit_parallel(engine, (self.queries, self.targets)).distances_of_each
        found = each(self.queries, self.targets, progress=progress)
        return Distances(found.distance, np.ascontiguousarray(found.target_end))


def _bit_parallel(router: Any, pairs: Batch | tuple[Sequences, Sequences]) -> BitParallel:
    found = router.proved_scanner(pairs)
    if not isinstance(found, BitParallel):
        what = "computes wrong edit distances; engine='host' computes them"
        raise DeviceError(f"{router.device.info.name} {what}")
    return found
