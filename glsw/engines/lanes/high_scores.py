"""Scores that engine ``lanes`` does not compute at first: too high for floats, long targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.engines.base import ignore
from glsw.engines.lanes.geometry import INT32, LIMIT
from glsw.engines.lanes.rows import group_of
from glsw.engines.lanes.targets import SortedTargets
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    from glsw.engines.base import Progress
    from glsw.engines.lanes.engine import Lanes

_MIN_LARGE_PAIR_CELLS = 2**22
_MAX_PAIRS_LEFT_TO_REST = 16  # per query and share

Query = npt.NDArray[np.uint8]
Scores = npt.NDArray[np.int32]


def repeat(engine: Lanes, rows: Sequence[tuple[Query, Scores]], targets: SortedTargets) -> None:
    """Compute scores again that are too high for floats, and put them in place.

    Pairs for `Engine.rest` are collected over all queries, so that it computes them together.
    """
    jobs, owners = [], []
    left: list[npt.NDArray[np.intp]] = []
    most = 0 if engine.rest is None else _MAX_PAIRS_LEFT_TO_REST
    limits = np.array([len(query) for query, _ in rows], np.int64) * engine.scoring.maximum
    rows = [rows[k] for k in np.flatnonzero(limits >= LIMIT).tolist()]
    for query, scores in rows:
        if scores.max(initial=0) < LIMIT:
            left.append(np.empty(0, np.intp))
            continue
        leaving = [np.empty(0, np.intp)]
        for share, long in targets.shares:
            high = np.flatnonzero(scores[share.positions] >= LIMIT)
            # A long pair alone would keep one lane busy, and the rest of the device idle.
            large = (len(query) * share.lengths[high] >= _MIN_LARGE_PAIR_CELLS).sum()
            kept = 0 if large > most else int(large)
            kept = len(high) if len(high) - kept <= most else kept
            leaving.append(share.order[high[:kept]])
            if kept < len(high):
                geometry = engine.geometries.of(len(query), INT32, 1, long)
                engine.targets.upload(targets.sequences)
                own = group_of([[(len(query), 0)]])
                some = share.only(high[kept:])
                jobs.append(engine.job(Sequences.of([query]), own, some, geometry))
                owners.append(scores)
        left.append(np.concatenate(leaving))
    for _ in engine.queue.slices_of(jobs, ignore) if jobs else ():  # none: nothing is waited for
        pass
    for job, scores, found in zip(jobs, owners, engine.scores_of(jobs), strict=True):
        scores[job.targets.positions] = found[0]
        engine.targets.forget(job.packed)
    leave(engine, rows, left, targets, ignore)


def leave(
    engine: Lanes,
    rows: Sequence[tuple[Query, Scores]],
    left: Sequence[npt.NDArray[np.intp]],
    targets: SortedTargets,
    progress: Progress,
) -> None:
    """Have `rest` compute some pairs of each query, and put their scores in place."""
    counts = [len(each) for each in left]
    if engine.rest is None or not sum(counts):
        return
    which = targets.which[np.concatenate(left)]
    # These sequences alone, so that no other engine uploads a whole part.
    batch = Batch.indexed(
        Sequences.of([query for query, _ in rows]),
        Sequences.of([targets.sequences[int(k)] for k in which]),
        np.repeat(np.arange(len(rows), dtype=np.int32), counts),
        np.arange(len(which), dtype=np.int32),
    )
    found = np.split(engine.rest(batch, progress), np.cumsum(counts)[:-1])
    for (_, scores), positions, part in zip(rows, left, found, strict=True):
        scores[positions] = part
