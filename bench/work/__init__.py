"""The workloads, by the names that ``bench run`` takes."""

from __future__ import annotations

from collections.abc import Mapping

from bench.work import search, search_real
from bench.work.base import Workload

WORKLOADS: Mapping[str, type[Workload]] = {
    kind.name: kind for kind in (*search.WORKLOADS, *search_real.WORKLOADS)
}
"""In the order in which a suite runs them; those of weight 0 run only if they are asked for."""
