"""The workloads, by the names that ``bench run`` takes."""

from __future__ import annotations

from collections.abc import Mapping

from bench.work import (
    accuracy,
    collections,
    edit,
    journeys,
    micro,
    pairs,
    scaling,
    search,
    sensitivity,
    three,
)
from bench.work.base import Workload

_MODULES = (
    *(micro, search, pairs, three, collections, edit),
    *(journeys, accuracy, sensitivity, scaling),
)
WORKLOADS: Mapping[str, type[Workload]] = {
    kind.name: kind for module in _MODULES for kind in module.WORKLOADS
}
"""In the order in which a suite runs them; those of weight 0 run only if they are asked for."""
