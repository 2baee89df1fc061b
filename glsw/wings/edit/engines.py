"""Where edit distances are computed: on the host, or by devices and executors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw import caller
from glsw.alignment.batch import Batch
from glsw.device.device import DeviceError
from glsw.engines.base import Progress
from glsw.engines.spec import EngineSpec
from glsw.pairs.all_pairs import cells_of, pieces_of_workers, score_matrix
from glsw.pairs.many_pairs import computed
from glsw.run.pool import Devices, EnginePool, Runner
from glsw.sequences.alphabet import LARGEST
from glsw.sequences.encoded import Sequences
from glsw.sequences.tiles import Tile
from glsw.wings.edit.bit_integers import edit_distances
from glsw.wings.edit.bit_parallel import BitParallel, Distances
from glsw.wings.edit.items import code_alphabet
from glsw.wings.edit.unit_costs import is_infix, unit_costs

if TYPE_CHECKING:
    from concurrent.futures import Executor

EditEngine: TypeAlias = Literal["auto", "bit_parallel", "host"]

DistanceEngine: TypeAlias = "Host | OnDevices | BitParallel"
"""What has ``distances`` of pairs, shape (N,), and ``distances_of_each``, shape (M, N)."""

_QUICK = 2000  # letters of one pair
_LONG = 128  # letters: distances of fewer are computed faster than they are copied


def is_quick(batch: Batch) -> bool:
    """Tell whether the host has the distances of a batch before a device would begin."""
    return len(batch) == 1 and int(batch.extent[1].max()) <= _QUICK


@contextmanager
def distance_engine(
    engine: EditEngine,
    letters: int,
    infix: bool,
    device: Devices,
    executor: Executor | None,
    *,
    quick: bool = False,
) -> Iterator[DistanceEngine]:
    """Yield what computes edit distances for some options; its processes end with the block.

    ``letters`` are the different codes; a device takes as many as an alphabet has letters.
    ``quick`` says that the host has all distances before a device would begin.
    """
    if engine == "auto" and device is None and executor is None and (quick or letters > LARGEST):
        engine = "host"
    if engine == "host":
        if executor is not None:
            raise ValueError("engine 'host' does not support executors")
        yield Host(infix)
        return
    scoring = unit_costs(code_alphabet(max(2, letters)), infix=infix)
    spec = EngineSpec(BitParallel.name, scoring)
    try:
        pool = EnginePool(spec, device)
    except DeviceError as error:
        if engine != "auto" or device is not None or executor is not None:
            raise
        caller.warn(f"edit distances are computed in Python: {error}", RuntimeWarning)
        yield Host(infix)
        return
    with closing(pool):
        yield OnDevices(pool, executor)


@dataclass(frozen=True)
class Host:
    """Distances by Python's integers, one pair after the other."""

    infix: bool

    def distances(self, batch: Batch, *, progress: Progress | None = None) -> Distances:
        """Return the distances of N pairs, arrays of shape (N,)."""
        pairs = map(batch.pair, range(len(batch)))
        return Distances(*edit_distances(pairs, self.infix, progress=progress).T)

    def distances_of_each(
        self, queries: Sequences, targets: Sequences, *, progress: Progress | None = None
    ) -> Distances:
        """Return those of M queries with each of N targets, arrays of shape (M, N)."""
        pairs = ((query, target) for query in queries for target in targets)
        found = edit_distances(pairs, self.infix, progress=progress)
        return Distances(*found.T.reshape(2, len(queries), len(targets)))


@dataclass(frozen=True)
class OnDevices:
    """Distances by a device, by several, or by an executor."""

    pool: EnginePool
    executor: Executor | None

    def distances(self, batch: Batch, *, progress: Progress | None = None) -> Distances:
        """Return the distances of N pairs, arrays of shape (N,)."""
        found = Distances(*np.zeros((2, len(batch)), np.int32))
        with self.pool.running(progress, self.executor) as run:
            for chunk, part in computed(run, batch, lambda pairs, _: partial(_of_pairs, pairs)):
                found.distance[chunk], found.target_end[chunk] = part
        return found

    def distances_of_each(
        self, queries: Sequences, targets: Sequences, *, progress: Progress | None = None
    ) -> Distances:
        """Return those of M queries with each of N targets, arrays of shape (M, N)."""
        shape = len(queries), len(targets)
        with self.pool.running(progress, self.executor) as run:
            if not run.workers:
                return _of_each(queries, targets, run.engine, progress)
            found = Distances(*np.zeros((2, *shape), np.int32))
            whole = [Tile(slice(0, shape[0]), slice(0, shape[1]))]
            every = pieces_of_workers(whole, queries, targets, run.workers) if all(shape) else []
            tasks = [partial(_of_each, queries.part(each.queries), targets) for each in every]
            cells = [cells_of(each, queries, targets) for each in every]
            for k, part in run.results(tasks, cells, "distances"):
                rows = every[k].queries
                found.distance[rows], found.target_end[rows] = part
                run.report(cells[k])
        return found


def _of_pairs(pairs: Batch, engine: Any, progress: Progress | None = None) -> Distances:
    """Return the distances of pairs by the router of a worker."""
    if is_infix(engine.scoring):
        return _right(engine, pairs).distances(pairs, progress=progress)
    scores: npt.NDArray[np.int32] = engine.scores(pairs, progress=progress)
    return Distances(-scores, pairs.target_lengths.astype(np.int32))


def _of_each(
    queries: Sequences, targets: Sequences, engine: Any, progress: Progress | None = None
) -> Distances:
    """Return the distances of each query with each target, of one side each pair once."""
    long = int(queries.lengths.max(initial=0)) > _LONG
    if queries is targets and long and not is_infix(engine.scoring):
        scores: npt.NDArray[np.int32] = score_matrix(Runner(engine, progress=progress), queries)
        ends = np.broadcast_to(targets.lengths.astype(np.int32), scores.shape)
        return Distances(np.negative(scores, out=scores), ends)
    each = _right(engine, (queries, targets)).distances_of_each
    return each(queries, targets, progress=progress)


def _right(router: Any, pairs: Batch | tuple[Sequences, Sequences]) -> DistanceEngine:
    """Return what is right for such pairs: the engine of a device, or else the host."""
    found = router.proved_scanner(pairs)
    return found if isinstance(found, BitParallel) else Host(is_infix(router.scoring))
