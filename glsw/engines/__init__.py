"""Engines by name: each visits the cells in its own order; all give the same results.

The module of an engine is imported when the engine is first used.
"""

from __future__ import annotations

import importlib
from collections import UserDict
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from glsw.engines.base import TIES, Capabilities, Engine, Progress, Ties

if TYPE_CHECKING:
    from glsw.engines.auto import Auto, engine_of
    from glsw.engines.bit_parallel import BitParallel
    from glsw.engines.blocked import Blocked
    from glsw.engines.cpu import Cpu
    from glsw.engines.diagonal import Diagonal
    from glsw.engines.fragment import Fragment
    from glsw.engines.lanes.engine import Lanes
    from glsw.engines.reference import Reference
    from glsw.engines.scan import Scan
    from glsw.engines.wavefront import Wavefront

_HOMES = {
    "auto": "auto.Auto",
    "reference": "reference.Reference",
    "cpu": "cpu.Cpu",
    "lanes": "lanes.engine.Lanes",
    "fragment": "fragment.Fragment",
    "diagonal": "diagonal.Diagonal",
    "blocked": "blocked.Blocked",
    "scan": "scan.Scan",
    "wavefront": "wavefront.Wavefront",
    "bit_parallel": "bit_parallel.BitParallel",
}
_BY_CLASS = {home.rpartition(".")[2]: home for home in (*_HOMES.values(), "auto.engine_of")}


class _Engines(UserDict[str, Any]):
    """Engines by their names."""

    def __getitem__(self, name: str) -> Any:
        kind = self.data[name]
        if isinstance(kind, str):
            kind = self.data[name] = _imported(kind)
        return kind


def _imported(home: str) -> Any:
    module, _, name = home.rpartition(".")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)


def __getattr__(name: str) -> Any:
    if name not in _BY_CLASS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = _imported(_BY_CLASS[name])
    return found


ENGINES: MutableMapping[str, type[Engine]] = _Engines(_HOMES)

__all__ = [
    "ENGINES",
    "TIES",
    "Auto",
    "BitParallel",
    "Blocked",
    "Capabilities",
    "Cpu",
    "Diagonal",
    "Engine",
    "Fragment",
    "Lanes",
    "Progress",
    "Reference",
    "Scan",
    "Ties",
    "Wavefront",
    "engine_of",
]
