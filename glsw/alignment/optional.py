"""Packages that only some results need."""

from __future__ import annotations

import importlib
from typing import Any


def package(name: str, method: str) -> Any:
    """Import a package for a method of a result.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed, with what to install.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"{method} needs {name}: pip install {name}") from None
