"""Engines by name: each visits the cells in its own order; all give the same results."""

from __future__ import annotations

from glsw.engines.base import TIES, Capabilities, Engine, Progress, Ties
from glsw.engines.bit_parallel import BitParallel
from glsw.engines.blocked import Blocked
from glsw.engines.choose import Auto, engine_of
from glsw.engines.cpu import Cpu
from glsw.engines.diagonal import Diagonal
from glsw.engines.fragment import Fragment
from glsw.engines.lanes.engine import Lanes
from glsw.engines.reference import Reference
from glsw.engines.scan import Scan
from glsw.engines.wavefront import Wavefront

ENGINES: dict[str, type[Engine]] = {
    engine.name: engine
    for engine in (
        Auto,
        Reference,
        Cpu,
        Lanes,
        Fragment,
        Diagonal,
        Blocked,
        Scan,
        Wavefront,
        BitParallel,
    )
}

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
