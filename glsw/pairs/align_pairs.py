"""The best alignments of pairs: from the device, or traced back on the host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.alignment import Alignment
from glsw.alignment.batch import Batch, Mask
from glsw.alignment.paths import Ends, Runs
from glsw.alignment.traceback import best_end, trace
from glsw.engines import Engine
from glsw.engines.answers import check_masks, check_runs, check_traced
from glsw.engines.base import Pairs, Progress, Ties
from glsw.engines.reference import Reference, best_cell
from glsw.run.pool import Runner
from glsw.scoring.gaps import EndGaps, GapCost
from glsw.scoring.matrices import MAX_DECIMALS, MAX_UNITS
from glsw.scoring.positional import MAX_POSITIONS
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.records import EncodedRecord
from glsw.sequences.tiles import cut

_POSITIONS_TOGETHER = 2**12  # of queries with scores of their own


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
    if batch.masks is not None and not (scoring.local and engine.fits(Pairs(batch))):
        ends = _ends_on_host(batch, scoring, progress)
    elif paths := engine.paths(batch, progress=progress):
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
    if scoring.end_gaps:
        runs = runs.with_end_gaps(batch.lengths, scoring.end_gaps)
    return ends.score.astype(np.int32), runs


def best_scores(engine: Engine, batch: Batch) -> npt.NDArray[np.int32]:
    """Return the score of each pair, in integer units, without its alignment."""
    with engine.turn:
        if batch.masks is not None and not engine.fits(Pairs(batch)):
            return _ends_on_host(batch, engine.scoring, None).score.astype(np.int32)
        return engine.scores(batch)


def _ends_on_host(batch: Batch, scoring: Scoring, progress: Progress | None) -> Ends:
    found = np.empty((len(batch), 3), np.int32)
    for p in range(len(batch)):
        query, target = batch.pair(p)
        ending = best_end if scoring.local else best_cell
        found[p] = ending(query, target, scoring, batch.mask(p))
        if progress:
            progress(len(query) * len(target))
    return Ends(found[:, 0], found[:, 1:])


def disjoint(
    run: Runner,
    batch: Batch,
    records: tuple[EncodedRecord, EncodedRecord],
    scoring: Scoring,
    min_score: float | None = None,
) -> Iterator[Alignment]:
    """Yield the best alignment of one pair, forbid its aligned pairs, and repeat.

    The scoring is that of the alignments, see `OwnScores`.
    """
    mask = Mask.nothing(int(batch.query_lengths[0]))
    while True:
        (units,), runs = aligned(run.engine, batch, run.ties, run.progress)
        alignment = Alignment(int(units), *records, runs, scoring.shown)
        if min_score is not None and alignment.score < min_score:
            return
        further = bool(mask.columns.size)
        if not alignment.columns or ((scoring.local or further) and alignment.score <= 0):
            return
        yield alignment
        if not scoring.several or not runs.pairs()[0].size:
            return
        mask = mask.with_runs(runs)
        batch = batch.masked([mask])


class OwnScores(NamedTuple):
    """Substitution scores of each pair: every query letter with every target letter.

    Parameters
    ----------
    units : list of ndarray of int, shapes (m, n)
    scoring : Scoring
        That of the alignments: mode, letters, and gap costs in the same units.
    """

    units: list[npt.NDArray[Any]]
    scoring: Scoring

    def part(self, some: slice) -> OwnScores:
        """Return those of some pairs."""
        return self._replace(units=self.units[some])

    def engines(self) -> Iterator[tuple[Engine, Batch]]:
        """Yield engines of the host and the pairs that each computes, all of them in order.

        The codes of sequences are positions: rows and columns of the matrix of the engine, in which
        the scores of a pair are below those of the pair before.
        """
        rows = offsets_of([len(each) for each in self.units])
        for some in cut((rows,), (_POSITIONS_TOGETHER,), slice(0, len(self.units))):
            units, offsets = self.units[some], rows[some.start : some.stop + 1] - rows[some.start]
            width = max(each.shape[1] for each in units)
            kind = np.result_type(*units)
            matrix = np.zeros((max(1, int(offsets[-1])), max(1, width)), kind)
            for first, each in zip(offsets, units, strict=False):
                matrix[first : first + len(each), : each.shape[1]] = each
            positions = np.arange(matrix.shape[0]), np.arange(matrix.shape[1])
            codes: Any = [each.astype(np.uint16) for each in positions]
            queries, columns = codes
            targets = [columns[: each.shape[1]] for each in units]
            sides = Sequences(queries[: offsets[-1]], offsets), Sequences.of(targets)
            scoring = {each.name: getattr(self.scoring, each.name) for each in fields(Scoring)}
            made = _ScoringOfPositions(**scoring | {"matrix": matrix})
            yield Reference(made), Batch.pairwise(*sides)


class _ScoringOfPositions(Scoring):
    """The scoring of an engine of `OwnScores`."""

    wide_queries: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check nothing: the numbers of the matrix may be larger than those of letters."""


def own_scores(
    scores: Iterable[npt.ArrayLike], scoring: Scoring, lengths: npt.NDArray[np.int64]
) -> OwnScores:
    """Return the scores of pairs of these lengths, shape (N, 2).

    Other parameters and errors are those of `glsw.Aligner.score_pairs`.
    """
    if type(scoring) is not Scoring:
        raise ValueError("scores: sequences of letters expected, not profiles or two tracks")
    given = [np.asarray(each) for each in scores]
    if len(given) != len(lengths):
        raise ValueError(f"scores: {len(given)} matrices for {len(lengths)} pairs")
    largest = 0.0
    for each, shape in zip(given, lengths.tolist(), strict=True):
        if each.dtype.kind not in "iuf":
            raise TypeError(f"scores must be numbers, got {each.dtype}")
        if each.shape != tuple(shape):
            raise ValueError(f"scores have shape {each.shape}, the sequences need {tuple(shape)}")
        if max(shape) > MAX_POSITIONS:
            raise ValueError(f"scores of {max(shape)} letters: at most {MAX_POSITIONS} expected")
        sizes = np.abs(each.astype(np.float64))
        if not (top := float(sizes.max(initial=0))) <= MAX_UNITS:
            wanted = f"finite numbers from {-MAX_UNITS} to {MAX_UNITS}"
            raise ValueError(f"scores: {wanted} expected, got {each.flat[sizes.argmax()]:.15g}")
        largest = max(largest, top)
    if any(each.dtype.kind == "f" for each in given):
        scoring = _in_finer_units(scoring, 10**MAX_DECIMALS // scoring.scale)
    kind = np.int32 if largest * scoring.scale < 2**31 else np.int64
    units = [np.rint(each.astype(np.float64) * scoring.scale).astype(kind) for each in given]
    return OwnScores(units, scoring)


def _in_finer_units(scoring: Scoring, factor: int) -> Scoring:
    """Return a scoring with gap costs in smaller units; of its matrix, signs count."""
    names = "gap_open", "gap_extend", "insertion_open", "insertion_extend", "scale"
    numbers = {name: getattr(scoring, name) for name in names}
    ends = scoring.end_gaps and EndGaps(
        *(GapCost(cost.open * factor, cost.extend * factor) for cost in scoring.end_gaps)
    )
    finer: dict[str, Any] = {k: v * factor for k, v in numbers.items() if v is not None}
    return replace(scoring, matrix=np.sign(scoring.matrix), end_gaps=ends, **finer)
