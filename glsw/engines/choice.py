"""How ``auto`` chooses: which engines compute which pairs of a batch.

It depends on the pairs, the kind of the device, and what is said of the engines; nothing is
computed here, and nothing is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from glsw.alignment.batch import Batch
from glsw.arrays import Intp
from glsw.engines.base import Pairs
from glsw.engines.costs import Kind, Shape, seconds
from glsw.engines.windows import may_cut

_NEARLY = 1.1
"""Costs of pairs of any sizes in those of pairs of their mean size, which are nearly as low."""
_LANES = "lanes"
WINDOWS = "windows"
"""Name of the choice to cut long targets: other engines compute the parts."""

Chosen: TypeAlias = tuple[str, Intp | slice]
"""The name of an engine and its pairs: their numbers, or the slice of all."""


class Choice(NamedTuple):
    """How the engines for pairs are chosen, given what is known of the device and the engines.

    Parameters
    ----------
    device : Kind
    able : callable
        Returns the engines that can compute some pairs, at least one, by name, each with its key
        in the table of costs. Its second argument tells whether windows can.
    fits : callable
        Tells whether an engine, by its name, has the memory for some pairs.
    cuts : callable
        Tells whether windows can replace the targets of some pairs.
    """

    device: Kind
    able: Callable[[Pairs, bool], Mapping[str, str]]
    fits: Callable[[str, Pairs], bool] = lambda name, asked: True
    cuts: Callable[[Batch], bool] = lambda batch: False

    def of(self, asked: Pairs, *, whole: bool = False) -> list[Chosen]:
        """Return the engines to use, and the pairs of each, if so only by whole targets."""
        batch, every = asked.batch, slice(None)
        if not len(batch):
            return []
        cutting = not whole and may_cut(batch)
        least, most = batch.extent
        if (2 * least > most).all():  # all lengths are similar
            windows = cutting and self.cuts(batch)
            return [(self.cheapest(asked, windows=windows)[1], every)]
        together, name = np.inf, ""
        if not cutting:
            together, name, enough = self.mixed(asked)
            if together <= enough:
                return [(name, every)]
        chosen: dict[str, list[Intp]] = {}
        apart = 0.0
        for pairs in _of_similar_size(batch):
            some = batch.select(pairs)
            windows = cutting and self.cuts(some)
            cost, best = self.cheapest(asked._replace(batch=some), windows=windows)
            chosen.setdefault(best, []).append(pairs)
            apart += cost
            if together <= apart:
                return [(name, every)]
        # Of alignments `blocked` traces one by one: if none is cut, one engine may do all sooner.
        if cutting and asked.task == "alignment" and len(chosen) > 1 and WINDOWS not in chosen:
            together, name, _ = self.mixed(asked)
            if together <= apart:
                return [(name, every)]
        return [
            (name, np.sort(np.concatenate(parts)) if len(chosen) > 1 else every)
            for name, parts in chosen.items()
        ]

    def mixed(self, asked: Pairs) -> tuple[float, str, float]:
        """Return the seconds and the name of the engine that costs least for pairs of any sizes.

        The third is what groups of pairs by size cost at least, or nearly so: the longest pair, and
        to begin once more. Small pairs join larger ones in ``lanes``, where they take nearly no
        time; so that many are not grouped only in order to see this.

        Examples
        --------
        A pair of 60 joins 20,000 of 100 letters, one of 3,000 does not:

        >>> keys = {"lanes": "lanes, own queries", "blocked": "blocked"}
        >>> choice = Choice("hardware", lambda asked, windows: keys)
        >>> for longest in (60, 3000):
        ...     letters = [np.zeros(n, np.uint8) for n in [100] * 20_000 + [longest]]
        ...     asked = Pairs(Batch.pairwise(letters, letters))
        ...     together, name, least = choice.mixed(asked)
        ...     print(f"{name} {together:.4f} s, in groups at least {least:.4f} s")
        lanes 0.0040 s, in groups at least 0.0044 s
        lanes 0.0306 s, in groups at least 0.0044 s
        >>> choice.of(asked)[0]
        ('blocked', array([20000]))
        """
        keys = self.able(asked, False)
        if len(keys) == 1:
            return 0, next(iter(keys)), 0
        (m, n), shape = asked.batch.extent[1].tolist(), Shape.of(asked.batch)
        alike = self._costs(keys, shape)
        usual, longest, none = (
            self._costs(keys, Shape(rows, columns, 1, 1, 1))
            for rows, columns in ((shape.m, shape.n), (m, n), (1, 1))
        )
        costs = {name: alike[name] + max(0, longest[name] - usual[name]) for name in keys}
        name = self._fitting(costs, asked)
        least = min(longest.values()) + min(none.values())
        if name == _LANES:
            least = max(least, _NEARLY * min(alike.values()))
        return costs[name], name, least

    def cheapest(self, asked: Pairs, *, windows: bool = False) -> tuple[float, str]:
        """Return the seconds and the name of the engine that costs least for similar pairs."""
        keys = self.able(asked, windows)
        if len(keys) == 1:
            return 0, next(iter(keys))
        costs = self._costs(keys, Shape.of(asked.batch))
        name = self._fitting(costs, asked)
        return costs[name], name

    def _costs(self, keys: Mapping[str, str], shape: Shape) -> dict[str, float]:
        """Return the seconds of each engine, given its key in the table of costs."""
        return {name: seconds(key, shape, self.device) for name, key in keys.items()}

    def _fitting(self, costs: Mapping[str, float], asked: Pairs) -> str:
        """Return the engine that costs least among those that the pairs fit."""
        names = sorted(costs, key=lambda name: costs[name])
        fit = (name for name in names if name == WINDOWS or self.fits(name, asked))
        return next(fit, names[0])  # it says what it lacks


def _of_similar_size(batch: Batch) -> list[Intp]:
    """Return the pairs in groups whose lengths differ by a factor of two at most."""
    longest = batch.extent[1]
    halvings = -np.frexp(batch.lengths / (longest + 1))[1].astype(np.int16)
    kind = halvings[:, 0] << 6 | halvings[:, 1]
    order = np.argsort(kind, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(kind[order])) + 1)
