"""Cases of wings in tables of the core's tests: where a wing is closed, they are left out."""

from __future__ import annotations

import importlib
from typing import Any, TypeVar

from glsw.wings import opened

CasesT = TypeVar("CasesT", dict[Any, Any], list[Any])


def of_wing(name: str, cases: CasesT) -> CasesT:
    """Return the cases of a wing, none of them if it is closed."""
    return cases if name in opened() else type(cases)()


def wing(path: str) -> Any:
    """Return a module of a wing, such as ``three.aligner``, when a case needs it."""
    return importlib.import_module(f"glsw.wings.{path}")
