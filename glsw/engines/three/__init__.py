"""Engines of three sequences by name: all give the same results."""

from __future__ import annotations

from glsw.engines.three.base import Engine3
from glsw.engines.three.choose import Auto3, engine3_of
from glsw.engines.three.plane import Plane
from glsw.engines.three.reference import Reference3
from glsw.engines.three.subtable import Subtable

ENGINES3: dict[str, type[Engine3]] = {
    engine.name: engine for engine in (Auto3, Subtable, Plane, Reference3)
}

__all__ = ["ENGINES3", "Auto3", "Engine3", "Plane", "Reference3", "Subtable", "engine3_of"]
