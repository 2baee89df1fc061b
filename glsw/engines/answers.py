"""Checks of values read from a device, before they are used as an index, a size or a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from glsw.alignment.paths import BestCells, Ends, Runs
from glsw.arrays import Bool, Int32, Int64
from glsw.device.device import DeviceError

if TYPE_CHECKING:
    from glsw.alignment.batch import Batch
    from glsw.engines.base import Engine
    from glsw.scoring.scoring import Scoring


class Judged(Protocol):
    """An engine: which it is, and where it runs."""

    @property
    def label(self) -> str:
        """The name of the engine, for results."""

    @property
    def where(self) -> str:
        """Where the engine runs, for results."""


class Scored(Judged, Protocol):
    """One of two sequences."""

    scoring: Scoring


def impossible(engine: Judged, what: str) -> DeviceError:
    """Return the error for impossible values returned by a device."""
    return DeviceError(
        f"engine {engine.label!r} on {engine.where} returned {what}: the device or its driver "
        "computes wrong results; 'glsw devices --test' tests it"
    )


def check_range(
    engine: Judged, what: str, values: npt.ArrayLike, least: npt.ArrayLike, most: npt.ArrayLike
) -> None:
    """Raise `DeviceError` if one of the values is not from ``least`` to ``most``.

    The three are numbers, or arrays whose shapes fit together.
    """
    found = np.asarray(values)
    wrong = (found < least) | (found > most)
    if wrong.any():
        at = np.unravel_index(int(wrong.argmax()), wrong.shape)
        value, low, high = (int(np.broadcast_to(x, wrong.shape)[at]) for x in (found, least, most))
        raise impossible(engine, f"{what} {value} where {low} to {high} are possible")


def highest(scores: Int32) -> int:
    """Return the highest score, one below 0 counting as 2**31 and more."""
    if scores.size == 1:  # quicker
        return int(scores.item()) % 2**32
    return int(scores.view(np.uint32).max(initial=0))


def check_highest(engine: Scored, score: int, m: int, n: int) -> None:
    """Raise `DeviceError` if sequences of up to m and n residues cannot have this score.

    It is one as in `Engine.best`.
    """
    most = engine.scoring.bound(m, n) + int(engine.scoring.score_offset(m, n))
    if not 0 <= score <= most:
        check_range(engine, "a score of", score, 0, most)


def check_found(engine: Scored, scores: Int32, m: int, n: int, *, all_there: bool = True) -> None:
    """Raise `DeviceError` if sequences of up to m and n residues cannot have such scores.

    If not all of them are there, only the highest counts.
    """
    if scores.size and not engine.scoring.local:
        least, most = -int(engine.scoring.score_offset(m, n)), engine.scoring.bound(m, n)
        if all_there:
            check_range(engine, "a score of", int(scores.min()), least, most)
            check_range(engine, "a score of", int(scores.max()), least, most)
        elif scores.max() > most:
            raise impossible(engine, f"a score of {scores.max()} where {most} is possible")
    else:
        check_highest(engine, highest(scores), m, n)


def check_cells(engine: Engine, lengths: Int64, cells: BestCells) -> BestCells:
    """Return best cells; raise `DeviceError` if they are outside of tables of these lengths.

    A local alignment that ends there must be able to have the score, too.
    """
    local = engine.scoring.local
    wrong = (cells.cell < int(local)) | (cells.cell > lengths)
    outside = (wrong[:, 0] | wrong[:, 1]) & ((cells.score > 0) | (not local))
    if outside.any():
        p = int(outside.argmax())
        cell, size = (" x ".join(map(str, x[p].tolist())) for x in (cells.cell, lengths))
        raise impossible(engine, f"cell {cell} of a table of {size} as the best one")
    if local:
        gain = max(0, engine.scoring.maximum) * np.minimum(cells.i, cells.j).astype(np.int64)
        check_range(engine, "a score of", cells.score, 0, np.where(cells.score > 0, gain, 0))
    return cells


def check_runs(engine: Engine, ends: Ends, runs: Runs) -> None:
    """Raise `DeviceError` if pairs cannot have these paths from the device; see `check_starts`."""
    if not runs.moves.all():
        raise impossible(engine, "a path with a column of no residues")
    borders = int(not engine.scoring.local)
    check_starts(engine, runs.start, np.diff(runs.offsets) > 0, ends.score > 0, borders)


def check_starts(engine: Judged, start: Int64, some: Bool, wanted: Bool, borders: int) -> None:
    """Raise `DeviceError` if paths leave the table or begin where they may not.

    ``start`` has the residues before each path, shape (N, k); ``some`` and ``wanted`` whether it
    has columns, and a score above 0. So many of its sequences begin with it, at least, as
    ``borders`` says: 0 for local alignments.
    """
    check_range(engine, "a path that begins at", start, 0, 2**31 - 1)
    if not borders and (some != wanted).any():
        raise impossible(engine, "a path of no columns, or one of a score of 0")
    if borders and ((start == 0).sum(axis=1) < borders).any():
        raise impossible(engine, "a path that begins inside of the table")


def check_masks(engine: Engine, batch: Batch, ends: Ends) -> None:
    """Raise `DeviceError` if a pair is aligned that a mask forbids, at the end of an alignment.

    From end to end the last column need not be a pair.
    """
    if batch.masks is None or not engine.scoring.local:
        return
    masks = batch.masks
    last = np.where(ends.score > 0, ends.end.T - 1, -1)
    i, j = np.repeat(last, masks.counts, axis=1)
    for k in np.flatnonzero((masks.rows == i) & (masks.columns == j))[:1].tolist():
        cell = f"{masks.rows[k] + 1}, {masks.columns[k] + 1}"
        raise impossible(engine, f"an alignment that ends with the forbidden pair {cell}")


def check_traced(engine: Engine, ends: Ends, scores: list[int]) -> None:
    """Raise `DeviceError` if local alignments that end there do not have the scores.

    ``scores`` are those that the host finds when it traces back.
    """
    if engine.scoring.local:
        what = "where the host finds another score: a score of"
        check_range(engine, what, ends.score, np.array(scores, np.int64), scores)
