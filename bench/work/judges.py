"""Judges of pairs: the end cell, the score of a path recomputed, one core of another program.

>>> from glsw.traceback import trace
>>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
>>> encode = scoring.alphabet.encode
>>> query, target = encode("ATCTCGTATGAT"), encode("GTCTATCAC")  # Liu et al. 2006, figure 2
>>> path_score(scoring, query, target, trace(query, target, scoring, 11, 8)[0])
10
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bench.measure import Check
from bench.programs import ParasailPairs
from bench.work.base import cells_of
from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines import Blocked, Engine, Reference
from glsw.paths import Paths
from glsw.rows import best_end
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import ranges

BY_REFERENCE = 2e6
"""Cells up to which the reference judges end cells."""

BY_PARASAIL = 2e10
"""Cells up to which parasail judges scores."""

Result = TypeVar("Result")


def path_score(
    scoring: Scoring,
    query: npt.NDArray[np.uint8],
    target: npt.NDArray[np.uint8],
    coordinates: npt.NDArray[np.int64],
) -> int:
    """Return what an alignment scores, letter by letter and gap by gap; -1 if it is none.

    ``coordinates``, shape (2, K): see `glsw.traceback.trace`.
    """
    along_target, along_query = np.diff(coordinates)
    aligned = (along_target > 0) & (along_query > 0)
    outside = (coordinates < 0).any() or (coordinates[:, -1] > [len(target), len(query)]).any()
    if outside or (along_target != along_query)[aligned].any():
        return -1
    runs = along_query[aligned]
    j, i = (ranges(first, runs) for first in coordinates[:, :-1][:, aligned])
    gaps = np.maximum(along_target, along_query)[~aligned]
    costs = scoring.gap_open * len(gaps) + scoring.gap_extend * (gaps - 1).sum()
    return int(scoring.matrix[query[i], target[j]].sum(dtype=np.int64) - costs)


def path_scores(scoring: Scoring, batch: Batch, paths: Paths) -> npt.NDArray[np.int64]:
    """Return the recomputed score of each alignment, shape (N,)."""
    return np.array(
        [path_score(scoring, *batch.pair(p), paths.coordinates(p)) for p in range(len(batch))],
        dtype=np.int64,
    )


def once(
    judge: Callable[[Result], Check], arrays: Callable[[Result], tuple[npt.NDArray[Any], ...]]
) -> Callable[[Result], Check]:
    """Return a check that judges in full only what differs from the last result that was right."""
    right: tuple[tuple[npt.NDArray[Any], ...], Check] | None = None

    def check(result: Result) -> Check:
        nonlocal right
        held = arrays(result)
        if right is None or not all(map(np.array_equal, held, right[0])):
            found = judge(result)
            if not found.passed:
                return found
            right = held, found
        return right[1]

    return check


def square(batch: Batch, cells: float) -> Batch:
    """Return the starts of both sequences of a pair, of at most about this number of cells."""
    query, target = batch.pair(0)
    length = max(1, int(cells**0.5))
    if batch.cells <= cells:
        return batch
    return Batch.one_to_many(query[:length], [target[:length]])


def expected_cell(scoring: Scoring, batch: Batch, device: Device) -> tuple[str, npt.NDArray[Any]]:
    """Return who judges a pair, and its score, query_end and target_end, shape (1, 3).

    Ends, and scores of pairs too large for parasail, are those of the reference, or else of the
    engine blocked with tiles of another shape than usual and all tiles computed; without compute
    shaders those of NumPy.
    """
    if batch.cells <= BY_REFERENCE:
        name = Reference.name
        engine: Engine = Reference(scoring)
    elif not device.info.compute:
        return "rows of NumPy", np.array([best_end(*batch.pair(0), scoring)]).astype(np.int32)
    else:
        name, other = "blocked in other tiles", 16 if device.info.software else 64
        engine = Blocked(scoring, device, workgroup=other, columns=384, prune=False)
    cell = cells_of(engine.ends(batch))
    if ParasailPairs.available(scoring) and batch.cells <= BY_PARASAIL:
        cell[:, 0] = ParasailPairs(scoring).scores_of(batch)
        name = f"parasail (score), {name} (end)"
    return name, cell
