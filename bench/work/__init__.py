"""The workloads, by the names that ``bench run`` takes: the classes in these modules."""

from collections.abc import Mapping
from importlib import import_module

from bench.work.base import CLASSES, TABLE, Workload

_MODULES = "accuracy collections journeys micro options pairs search three"
for _name in _MODULES.split():
    import_module(f"{__name__}.{_name}")
for _name, _words in TABLE.items():
    if "like" in _words:
        type(_name, (CLASSES[_words["like"]],), {"__module__": __name__}, called=_name)

WORKLOADS: Mapping[str, type[Workload]] = {name: CLASSES[name] for name in TABLE}
"""In the order in which a suite runs them; those of weight 0 run only if they are asked for."""
