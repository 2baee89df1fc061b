"""The best alignments of pairs: from the device, or traced back on the host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.alignment import Alignment
from glsw.alignment.batch import Batch, Mask
from glsw.alignment.paths import Ends, Runs
from glsw.alignment.rows import best_end, table_of_scores
from glsw.alignment.traceback import best_local, trace
from glsw.engines import Engine
from glsw.engines.answers import check_masks, check_runs, check_traced
from glsw.engines.base import Progress, Ties, ignore
from glsw.run.pool import Runner
from glsw.scoring.matrices import MAX_DECIMALS, MAX_UNITS
from glsw.scoring.scoring import Scoring
from glsw.sequences.records import EncodedRecord


def aligned(
    engine: Engine, batch: Batch, ties: Ties, progress: Progress | None = None
) -> tuple[npt.NDArray[np.int32], Runs]:
    """Return the score of each pair, in integer units, and the columns of its best alignment.

    Parameters as of `Engine.ends`. This thread alone uses the device.
    """
    with engine.turn:
        return _aligned(engine, batch, ties, progress)


def _aligned(
    engine: Engine, batch: Batch, ties: Ties, progress: Progress | None
) -> tuple[npt.NDArray[np.int32], Runs]:
    scoring = engine.scoring
    paths = None
    if batch.masks is not None and not engine.takes_masks(batch):
        ends = _ends_on_host(batch, scoring, progress)
    elif paths := engine.paths(batch, ties=ties, progress=progress):
        ends = paths.ends
    else:
        ends = engine.ends(batch, ties=ties, progress=progress)
    if paths:
        runs = paths.forwards()
    else:
        cells = zip(ends.query_end.tolist(), ends.target_end.tolist(), strict=True)
        traces = (
            trace(*batch.pair(p), scoring, *end, mask=batch.mask(p)) for p, end in enumerate(cells)
        )
        found = list(traces)
        check_traced(engine, ends, [score for _, score in found])
        runs = Runs.concatenated([runs for runs, _ in found])
    check_runs(engine, ends, runs)
    check_masks(engine, batch, ends)
    if not scoring.local:
        runs = runs.from_end_to_end(batch.lengths)
    return ends.score.astype(np.int32), runs


def _ends_on_host(batch: Batch, scoring: Scoring, progress: Progress | None) -> Ends:
    found = np.empty((len(batch), 3), np.int32)
    for p in range(len(batch)):
        query, target = batch.pair(p)
        found[p] = best_end(query, target, scoring, batch.mask(p))
        if progress:
            progress(len(query) * len(target))
    return Ends(found[:, 0], found[:, 1:])


class OwnScores(NamedTuple):
    """Scores of each letter of a query with each of a target, and a scoring with their units."""

    units: npt.NDArray[np.signedinteger]
    scoring: Scoring


def disjoint(
    run: Runner,
    batch: Batch,
    records: tuple[EncodedRecord, EncodedRecord],
    min_score: float | None = None,
    own: OwnScores | None = None,
) -> Iterator[Alignment]:
    """Yield the best alignment of one pair, forbid its aligned pairs, and repeat.

    That of a pair with scores of its own is computed on the host.
    """
    scoring = own.scoring if own else run.engine.scoring
    mask = Mask.nothing(int(batch.query_lengths[0]))
    while True:
        if own:
            table = table_of_scores(own.units, scoring.insertion, scoring.deletion, mask)
            units, runs = best_local(table)
            (run.progress or ignore)(own.units.size)
        else:
            (units,), runs = aligned(run.engine, batch, run.ties, run.progress)
        alignment = Alignment(int(units), *records, runs, scoring.shown)
        if min_score is not None and alignment.score < min_score:
            return
        if scoring.local and alignment.score <= 0:
            return
        yield alignment
        mask = mask.with_runs(runs)
        batch = batch.masked([mask])


def own_scores(scores: npt.ArrayLike, scoring: Scoring, shape: tuple[int, int]) -> OwnScores:
    """Return the scores of a pair; parameters and errors as of `glsw.Aligner.alignments`."""
    given = np.asarray(scores)
    if not scoring.local or type(scoring) is not Scoring:
        raise ValueError("scores: a query of letters and mode 'local' expected")
    if given.dtype.kind not in "iuf":
        raise TypeError(f"scores must be numbers, got {given.dtype}")
    if given.shape != shape:
        raise ValueError(f"scores have shape {given.shape}, the sequences need {shape}")
    largest = float(np.abs(given.astype(np.float64)).max(initial=0))
    if not largest <= MAX_UNITS:
        raise ValueError(f"scores: finite numbers up to {MAX_UNITS} expected, got {largest:g}")
    if given.dtype.kind == "f":
        factor = 10**MAX_DECIMALS // scoring.scale
        names = "matrix", "gap_open", "gap_extend", "insertion_open", "insertion_extend", "scale"
        values = ((name, getattr(scoring, name)) for name in names)
        scoring = replace(scoring, **{k: v * factor for k, v in values if v is not None})
    units = np.rint(given.astype(np.float64) * scoring.scale)
    costs = sum(scoring.insertion + scoring.deletion)
    most = (largest * scoring.scale + costs) * (sum(shape) + 1)
    return OwnScores(units.astype(np.int32 if most < 2**31 else np.int64), scoring)
