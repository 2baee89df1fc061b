"""The seam for stages of a search: a wing scores hits again, after their selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.alignment.paths import Runs
from glsw.alignment.table import HitTable
from glsw.caller import stage
from glsw.engines import Engine
from glsw.engines.base import Progress, Ties
from glsw.pairs.align_pairs import aligned

if TYPE_CHECKING:
    from glsw.search.limits import Limits
    from glsw.search.select import Selection
    from glsw.sequences.database import Database


class Stage:
    """A stage between the selection of hits and their alignment; this one changes nothing.

    Wings register others by the name of the option that asks for one, ``STAGES``: each a module
    with ``stage_of(scoring, settings)``, which raises ValueError if it cannot be.

    Attributes
    ----------
    every_context : bool
        Whether it gets each context of a query and each frame of a target as a hit of its own; it
        returns the best of each target.
    one_place : str
        Why its scores find no second place of a query, "" if they may.
    """

    every_context = False
    one_place = ""

    def first(self, limits: Limits) -> Limits:
        """Return the limits of the hits that the stage gets, given those of the search."""
        return limits

    def rescored(
        self, engine: Engine, hits: Selection, database: Database, limits: Limits, ties: Ties
    ) -> Selection:
        """Return those hits that are within the limits of the search, scored again.

        A stage that takes long calls `glsw.caller.stage`, by which a progress bar names it.
        """
        return hits

    def last(self, limits: Limits) -> Limits:
        """Return the limits of alignments, in the units of the new scores."""
        return limits


class PairScores:
    """How pairs of hits are scored when they are aligned: as the scan did.

    A stage gives hits others, such as a matrix for each pair. Scores of hits are in their units.
    """

    def known(self, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which pairs of hits have scores; the others have none that counts."""
        return np.ones(len(pairs), bool)

    def part(self, hits: slice) -> PairScores:
        """Return those of a slice of the hits, of step 1."""
        return self

    def select(self, hits: npt.NDArray[np.int64]) -> PairScores:
        """Return those of some hits, in this order."""
        return self

    def concatenated(self, parts: Sequence[PairScores]) -> PairScores:
        """Return those of the hits of all parts, of which this is one and which are of its kind."""
        return self

    def aligned(
        self, engine: Engine, batch: Batch, pairs: npt.NDArray[np.int64], ties: Ties
    ) -> tuple[npt.NDArray[np.int32], Runs]:
        """Return the score of each pair and the columns of its best alignment.

        ``batch`` has the queries, the targets and the masks, ``pairs`` the number of each pair, see
        `pair_numbers`.
        """
        with stage(
            "further alignments" if batch.masks is not None else "alignments", batch.cells
        ) as progress:
            return self._aligned(engine, batch, pairs, ties, progress)

    def _aligned(
        self,
        engine: Engine,
        batch: Batch,
        pairs: npt.NDArray[np.int64],
        ties: Ties,
        progress: Progress,
    ) -> tuple[npt.NDArray[np.int32], Runs]:
        """Return what `aligned` does; progress is in cells."""
        return aligned(engine, batch, ties, progress)

    def listed(self, table: HitTable) -> HitTable:
        """Return alignments with scores in integer units of the scoring, as results list them."""
        return table


AS_SCANNED = PairScores()
"""The scores of hits that no stage has scored again."""


def pair_numbers(
    hits: npt.NDArray[np.int64],
    contexts: npt.NDArray[np.int64] | int = 0,
    frames: npt.NDArray[np.int64] | int = 0,
) -> npt.NDArray[np.int64]:
    """Return numbers of pairs, by hit, context of its query and frame of its target, from 0 each.

    >>> pair_numbers(np.array([0, 1]), 2, 3).tolist()
    [35, 291]
    """
    return hits << 8 | contexts << 4 | frames
