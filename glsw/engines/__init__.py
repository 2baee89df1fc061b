"""Engines by name: each visits the cells in its own order, all give the same results."""

from __future__ import annotations

from glsw.engines.base import TIES, Engine, Progress, Ties
from glsw.engines.fragment import Fragment
from glsw.engines.reference import Reference

ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (Reference, Fragment)}

__all__ = ["ENGINES", "TIES", "Engine", "Fragment", "Progress", "Reference", "Ties"]
