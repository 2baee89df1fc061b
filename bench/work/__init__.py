"""The workloads, by the names that ``bench run`` takes: the classes in these modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from bench.work.base import Workload

_MODULES = "micro search pairs three collections edit journeys accuracy sensitivity scaling"


def _defined() -> Iterator[type[Workload]]:
    for name in _MODULES.split():
        module = import_module(f"{__name__}.{name}")
        for each in vars(module).values():
            own = getattr(each, "__module__", "") == module.__name__
            if own and isinstance(each, type) and issubclass(each, Workload):
                yield each


WORKLOADS: Mapping[str, type[Workload]] = {kind.name: kind for kind in _defined()}
"""In the order in which a suite runs them; those of weight 0 run only if they are asked for."""
