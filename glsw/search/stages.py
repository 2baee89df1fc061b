"""The seam for stages of a search: a wing scores hits again, after their selection."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.scoring.scoring import Scoring
from glsw.search.limits import Limits
from glsw.search.select import Selection
from glsw.sequences.database import Database
from glsw.wings import registered


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


def stage_of(scoring: Scoring, settings: Mapping[str, Any]) -> Stage:
    """Return the stage that the settings ask for; ValueError if there is none, or it cannot be."""
    composition, module = settings["composition"], registered("STAGES").get("composition")
    if composition == 0 or (composition == "auto" and not (module and scoring.local)):
        return Stage()
    if module is None:
        raise ValueError(f"composition {composition}: 0 expected, this glsw has no other")
    stage: Stage = importlib.import_module(module).stage_of(scoring, settings)
    return stage
