"""Arbitrary pairs in engine ``lanes``: each target has its own query, whose profile is a buffer.

The profiles are made on the device. Pairs are grouped by the rows and strips of their queries, and
sorted by the lengths of their targets, so that the lanes of a work group have equal work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.engines.base import ignore
from glsw.engines.lanes.geometry import INT32, LIMIT, Geometry
from glsw.engines.lanes.jobs import Job
from glsw.engines.lanes.query_profile import PADDING
from glsw.engines.lanes.targets import QUERY_LETTERS, QUERY_PROFILE, STRIPS, Targets

if TYPE_CHECKING:
    import moderngl

    from glsw.engines.base import Progress
    from glsw.engines.lanes.engine import Lanes

_MAX_PROFILE_BYTES = 2**29  # of queries that are computed together
_WORKGROUP = 64
_MAX_STRIPS_PER_DISPATCH = 65535

_Int64 = npt.NDArray[np.int64]


def scores_of_pairs(
    engine: Lanes, batch: Batch, number: int, progress: Progress
) -> npt.NDArray[np.int32]:
    """Return the best local score of each pair, shape (N,).

    Parameters
    ----------
    engine : Lanes
    batch : Batch
        Of pairs whose targets lanes can take.
    number : int
        Type of the scores: pairs that it does not hold are computed again in int32.
    progress : callable
        As in `Engine.best`.
    """
    found = np.zeros(len(batch), np.int32)
    some = np.flatnonzero(batch.lengths.min(axis=1))
    for chosen in _parts(engine, batch, some, number):
        part = batch.select(chosen).compact()
        found[chosen] = _scores(engine, part, number, progress)
    if number != INT32:
        high = np.flatnonzero(found >= LIMIT)
        if len(high):
            found[high] = scores_of_pairs(engine, batch.select(high), INT32, ignore)
    return found


def _parts(
    engine: Lanes, batch: Batch, some: npt.NDArray[np.intp], number: int
) -> Iterator[npt.NDArray[np.intp]]:
    """Yield pairs in parts whose profiles have room, as if no two had the same query."""
    lengths = np.unique(batch.query_lengths[some])
    sizes = np.array(
        [_profile_bytes(engine, engine.geometries.of_pairs(m, number), m) for m in lengths.tolist()]
    )
    limit = engine.device.info.limits["max_storage_block"]
    ends = np.cumsum(sizes[np.searchsorted(lengths, batch.query_lengths[some])])
    start = 0
    while start < len(some):
        before = ends[start - 1] if start else 0
        bound = before + min(_MAX_PROFILE_BYTES, limit)
        stop = max(start + 1, int(np.searchsorted(ends, bound, "right")))
        yield some[start:stop]
        start = stop


def _profile_bytes(engine: Lanes, geometry: Geometry, m: int) -> int:
    return geometry.size(len(engine.scoring.alphabet)) * geometry.strips(m)


def _scores(engine: Lanes, batch: Batch, number: int, progress: Progress) -> npt.NDArray[np.int32]:
    """Return the scores of pairs whose profiles have room, perhaps too high for the number."""
    engine.upload_letters(batch.targets)
    kinds: dict[tuple[Geometry, int], list[int]] = {}
    for m in np.unique(batch.query_lengths).tolist():
        geometry = engine.geometries.of_pairs(m, number)
        kinds.setdefault((geometry, geometry.strips(m)), []).append(m)
    jobs = []
    for (geometry, strips), lengths in kinds.items():
        chosen = np.flatnonzero(np.isin(batch.query_lengths, lengths))
        order = chosen[np.argsort(-batch.target_lengths[chosen], kind="stable")]
        jobs.append(_job(engine, batch, order, geometry, strips))
    found = np.zeros(len(batch), np.int32)
    for _ in engine.slices_of(jobs, progress):
        pass
    for job, scores in zip(jobs, engine.scores_of(jobs), strict=True):
        found[job.targets.order] = scores[0]
        engine.forget(job.packed)
    return found


def _job(
    engine: Lanes, batch: Batch, order: npt.NDArray[np.intp], geometry: Geometry, strips: int
) -> Job:
    """Pack the targets, make the profiles of the queries, and make room for the scores."""
    targets = Targets(
        order, batch.targets.offsets[batch.target_index[order]], batch.target_lengths[order]
    )
    packed = engine.pack(targets, geometry)
    used, query = np.unique(batch.query_index[order], return_inverse=True)
    stored = np.arange(len(packed.columns) * geometry.targets)
    if packed.order is not None:
        stored = packed.order
    own = (query * strips)[np.where(stored < len(order), stored, 0)].astype(np.int32)
    border_columns = packed.border_columns(geometry)
    return Job(
        queries=1,
        groups=1,
        targets=targets,
        geometry=geometry,
        packed=packed,
        strips=strips,
        strip_size=geometry.size(len(engine.scoring.alphabet)),
        border_columns=border_columns,
        cells=border_columns * geometry.targets * strips * geometry.strip,
        useful=int(batch.lengths[order].prod(axis=1).sum()),
        profile=_profiles(engine, batch, used, geometry, strips),
        borders=engine.buffer_of(border_columns.astype(np.uint32)),
        scores=engine.buffer(4 * packed.results(geometry)),
        own_queries=engine.buffer_of(own.view(np.uint32)),
    )


def _profiles(
    engine: Lanes, batch: Batch, used: npt.NDArray[np.int32], geometry: Geometry, strips: int
) -> moderngl.Buffer:
    """Have the device make the profiles of these queries, each of so many strips."""
    queries = batch.queries
    count = len(used) * strips
    heads = np.empty((count, 4), np.int32)
    heads[:, 0] = np.repeat(queries.offsets[used], strips)
    heads[:, 1] = np.repeat(queries.lengths[used], strips)
    heads[:, 2], heads[:, 3] = np.tile(np.arange(strips), len(used)), strips
    engine.upload(STRIPS, heads)
    engine.upload(QUERY_LETTERS, queries.residues)
    profile = engine.buffer(geometry.size(len(engine.scoring.alphabet)) * count)
    profile.bind_to_storage_buffer(QUERY_PROFILE.number)
    defines = geometry.defines | {"WORKGROUP": _WORKGROUP, "LEAST_SCORE": PADDING} | _NOT_READ
    program = engine.program("lanes_profiles.comp", **defines)
    for start in range(0, count, _MAX_STRIPS_PER_DISPATCH):
        program["first_strip"] = start
        program.run(min(_MAX_STRIPS_PER_DISPATCH, count - start))
    engine.device.check("making query profiles")
    return profile


_NOT_READ = dict.fromkeys(("LINEAR", "STEP", "SUBGROUPS", "QUERY_PROFILE"))
"""Macros that lanes_profiles.comp does not look at."""
