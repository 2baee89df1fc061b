"""Colours of scores and alignments: blue on the plus strand, vermilion on the minus strand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.wings.dotplot.mapper import Maps, Sign
from glsw.wings.dotplot.score_map import UNCAPPED

COLOURS: dict[Sign, tuple[int, int, int]] = {"+": (0, 84, 168), "-": (205, 70, 0)}
"""Blue and vermilion, distinct for any kind of colour vision."""
NAMES: dict[Sign, str] = {"+": "plus strand", "-": "minus strand"}
_ABOVE_CHANCE = 1.5

LINES: tuple[tuple[float, str, tuple[int, int, int]], ...] = (
    (0.9, "at least 90 % identical", (0, 0, 0)),
    (0.4, "40 to 90 % identical", (214, 39, 140)),
    (0.0, "less than 40 % identical", (255, 176, 0)),
)
"""Kinds of alignments: the least identity, the text of the legend, and the colour."""


def kind_of(identity: float) -> int:
    """Return the place of the kind of an alignment in `LINES`.

    >>> kind_of(1.0), kind_of(0.89), kind_of(0.25)
    (0, 1, 2)
    """
    return next(k for k, (least, _, _) in enumerate(LINES) if identity >= least)


class Scale(NamedTuple):
    """Which scores are white, and which have the full colour.

    Parameters
    ----------
    low, high : float
        In integer units.
    """

    low: float
    high: float

    @classmethod
    def of(cls, maps: Maps, cap: int = UNCAPPED) -> Scale:
        """Return the scale of maps: white is what most tiles reach by chance, full is the cap.

        Without a cap the best score has the full colour.

        >>> Scale.of({"+": np.array([[20, 20, 20, 20], [20, 20, 22, 90]], np.int32)})
        Scale(low=30.0, high=90.0)
        """
        values = [tiles for tiles in maps.values() if tiles.size]
        if not values:
            return cls(0.0, 1.0)
        high = float(max(1, *(int(tiles.max()) for tiles in values), cap if cap < UNCAPPED else 1))
        chance = float(np.median(np.concatenate([tiles.ravel() for tiles in values])))
        return cls(min(_ABOVE_CHANCE * chance, high / 2), high)

    def depth(self, scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return how deep the colour of scores is, from 0 to 1.

        >>> Scale(20, 100).depth([10, 20, 40, 100]).tolist()
        [0.0, 0.0, 0.5, 1.0]
        """
        share = (np.asarray(scores, np.float64) - self.low) / (self.high - self.low)
        depth: npt.NDArray[np.float64] = np.sqrt(np.clip(share, 0, 1))
        return depth

    def picture(self, maps: Mapping[Sign, npt.NDArray[Any]]) -> npt.NDArray[np.uint8]:
        """Return the colours of tiles, shape (rows, columns, 3), of 0 to 255.

        >>> Scale(0, 4).picture({"+": np.array([[0, 4]]), "-": np.array([[0, 0]])}).tolist()
        [[[255, 255, 255], [0, 84, 168]]]
        """
        shown: npt.NDArray[np.float64] = np.full(3, 255.0)
        for sign, tiles in maps.items():
            missing = 1 - np.array(COLOURS[sign]) / 255
            shown = shown * (1 - self.depth(tiles)[..., None] * missing)
        colours: npt.NDArray[np.uint8] = np.rint(shown).astype(np.uint8)
        return colours
