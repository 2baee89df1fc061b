"""Engines by name: each computes the cells in its own order; all give the same results.

The module of an engine is imported when the engine is first used.
"""

from __future__ import annotations

import importlib
from collections import UserDict
from collections.abc import Iterator, MutableMapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from glsw.device.info import DeviceInfo
from glsw.engines.base import TIES, Capabilities, Engine, Progress, Ties
from glsw.trust.provable import Provable
from glsw.wings import registered

if TYPE_CHECKING:
    from glsw.engines.auto import Auto, engine_of
    from glsw.engines.blocked import Blocked
    from glsw.engines.cpu import Cpu
    from glsw.engines.diagonal import Diagonal
    from glsw.engines.fragment import Fragment
    from glsw.engines.lanes.engine import Lanes
    from glsw.engines.reference import Reference
    from glsw.engines.scan import Scan
    from glsw.engines.wavefront import Wavefront

_HOMES = {
    "auto": ".auto.Auto",
    "reference": ".reference.Reference",
    "cpu": ".cpu.Cpu",
    "lanes": ".lanes.engine.Lanes",
    "fragment": ".fragment.Fragment",
    "diagonal": ".diagonal.Diagonal",
    "blocked": ".blocked.Blocked",
    "scan": ".scan.Scan",
    "wavefront": ".wavefront.Wavefront",
}
_BY_CLASS = {home.rpartition(".")[2]: home for home in (*_HOMES.values(), ".auto.engine_of")}


class _Engines(UserDict[str, Any]):
    """Engines by their names; the wings are opened when an engine is first looked for."""

    def __init__(self) -> None:
        """Leave `data` to the first use."""

    @cached_property
    def data(self) -> dict[str, Any]:  # type: ignore[override]
        """The engines of the core, then those of wings; places of those not used yet."""
        return _HOMES | {name: home for name, (home, _) in registered("ENGINES").items()}

    def __getitem__(self, name: str) -> Any:
        kind = self.data[name]
        if isinstance(kind, str):
            kind = self.data[name] = imported(kind)
        return kind


def imported(home: str) -> Any:
    """Import and return the object with a dotted name."""
    module, _, name = home.rpartition(".")
    return getattr(importlib.import_module(module, __name__), name)


def provable(info: DeviceInfo) -> Iterator[type[Provable]]:
    """Yield everything that computes on such a device: engines, and others of wings."""
    for name, kind in ENGINES.items():
        requires = kind.capabilities.requires
        if name != "auto" and requires and info.offers(requires):
            yield kind
    if info.compute:
        yield from map(imported, registered("TESTS").values())


def __getattr__(name: str) -> Any:
    if name not in _BY_CLASS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = imported(_BY_CLASS[name])
    return found


ENGINES: MutableMapping[str, type[Engine]] = _Engines()

__all__ = [
    "ENGINES",
    "TIES",
    "Auto",
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
