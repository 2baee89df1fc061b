"""Other programs on one core or on all cores: they judge scores and are measured."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bench.measure import Measurement, compare, measure
from bench.processes import Processes
from bench.programs import Biopython, Competitor, Parasail, ParasailPairs, Pyopal, Scores, Ssearch36
from glsw.batch import Batch
from glsw.engines import Reference
from glsw.scoring.scoring import Scoring

TRIAL = 1e7
"""Cells that are always done, from which the speed of a program is estimated."""


def on_cores(scoring: Scoring, cores: int, *, slow: bool = False) -> list[Competitor]:
    """Return the programs here that search a database with these scores, on this number of cores.

    ``slow`` is to have Biopython too, which is no program for databases.
    """
    found: list[Competitor] = []
    if Pyopal.available(scoring):
        found.append(Pyopal(scoring, cores))
    if Parasail.available(scoring):
        found.append(_on(partial(Parasail, scoring), cores))
    if Ssearch36.available(scoring):
        found.append(Ssearch36(scoring, cores))
    if slow and Biopython.available(scoring):
        found.append(_on(partial(Biopython, scoring), cores))
    return found


def of_pairs(scoring: Scoring, cores: int) -> list[Competitor]:
    """Return the programs here that compute pairs with these scores, on this number of cores."""
    found: list[Competitor] = []
    if ParasailPairs.available(scoring):
        found.append(_on(partial(ParasailPairs, scoring), cores))
    if Biopython.available(scoring):
        found.append(_on(partial(Biopython, scoring), cores))
    return found


def _on(make: Callable[[], Competitor], cores: int) -> Competitor:
    return make() if cores == 1 else Processes(make, cores)


Cut: TypeAlias = Callable[[float], tuple[Batch, Scores]]


def measured(
    competitor: Competitor,
    cells: int,
    cut: Cut,
    *,
    judge: str,
    budget: float,
    rate: float | None = None,
    trial: float = TRIAL,
) -> dict[str, Any]:
    """Measure a program on what it can do three times in ``budget`` seconds, or on a trial.

    Parameters
    ----------
    competitor : Competitor
    cells : int
        Of the whole work.
    cut : callable
        Given a number of cells, returns a part of the work with about that many, and its scores.
    judge : str
        Whose scores these are.
    budget : float
        Seconds, without those in which the pairs are prepared.
    rate : float, optional
        Billions of cells per second that are expected; by default found by a trial.
    trial : float
        Cells of the trial, and of the part at least.

    Returns
    -------
    dict
        A measurement with ``version``, ``function``, ``pairs``, ``scaled`` (it had a part) and
        ``seconds`` (of the whole, by the rate of the part; None if a score was wrong).
    """

    def on(part: Batch, scores: Scores, budget: float) -> Measurement:
        with competitor.prepared(part) as work:
            return measure(
                lambda: competitor.scores(work),
                lambda found: compare(found, competitor.listed(scores), judge),
                cells=part.cells,
                budget=budget,
            )

    if rate is None:
        part, scores = cut(trial)
        found = on(part, scores, 0.0)
        rate = found.gcups
    if rate is not None:
        part, scores = cut(max(trial, rate * 1e9 * budget / 3))
        found = on(part, scores, budget)
    return {
        **found.as_dict(),
        "version": competitor.version,
        "function": competitor.function,
        "pairs": len(part),
        "scaled": part.cells < cells,
        "seconds": found.gcups and cells / found.gcups / 1e9,
    }


def judge(
    scoring: Scoring, batch: Batch, *, in_32_bits: bool = False
) -> tuple[str, npt.NDArray[np.int32]]:
    """Return who judges these pairs of one query, parasail or the reference, and its scores.

    With ``in_32_bits`` parasail is slower, but has no narrow numbers that overflow.
    """
    if Parasail.available(scoring):
        program = Parasail(scoring, in_32_bits=in_32_bits)
        return program.name, program.scores_of(batch)
    return Reference.name, Reference(scoring).scores(batch)


def portion(batch: Batch, cells: float) -> npt.NDArray[np.intp]:
    """Return the indices of evenly spaced pairs, at least one, with about this number of cells."""
    step = max(1, -(-batch.cells // max(1, int(cells))))
    return np.arange(step // 2 if step < len(batch) else 0, len(batch), step)
