"""The interface for stages of a search, in which a wing rescores the hits selected."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from glsw.engines import Engine
from glsw.engines.base import Ties
from glsw.scoring.scoring import Scoring
from glsw.search.limits import Limits
from glsw.search.select import Selection
from glsw.wings import registered


class Stage:
    """A stage between the selection of hits and their alignment; this one changes nothing.

    Wings register others by the name of the option that asks for one, ``STAGES``: each a module
    with ``stage_of(scoring, settings)``, which raises ValueError if it cannot be.

    Attributes
    ----------
    one_place : str
        Why its scores find no second place of a query, "" if they may.
    """

    one_place = ""

    def first(self, limits: Limits) -> Limits:
        """Return the limits of what the stage gets, given those of the search."""
        return limits

    def rescored(self, engine: Engine, pairs: Selection, limits: Limits, ties: Ties) -> Selection:
        """Return pairs that the scan has found, scored again, with the limits of the search.

        These are in the units of the new scores. A stage that takes long calls `glsw.caller.stage`,
        by which a progress bar names it.
        """
        return pairs


def stage_of(scoring: Scoring, settings: Mapping[str, Any]) -> Stage:
    """Return the stage that the settings ask for; ValueError if there is none, or it cannot be."""
    composition, module = settings["composition"], registered("STAGES").get("composition")
    if composition == 0 or (composition == "auto" and not (module and scoring.local)):
        return Stage()
    if module is None:
        raise ValueError(f"composition {composition}: 0 expected, this glsw has no other")
    stage: Stage = importlib.import_module(module).stage_of(scoring, settings)
    return stage
