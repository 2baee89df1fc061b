"""Exact Smith-Waterman alignment on any OpenGL device.

>>> import glsw
>>> glsw.score("HEAGAWGHEE", "PAWHEAE")
17
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from types import ModuleType
from typing import Any

from glsw._version import __version__ as __version__

_IMPORT = re.compile(r"^from (\S+) import (\([^)]*\)|.*)", re.MULTILINE)


def _homes() -> dict[str, str]:
    """Return the module of each public name, as ``__init__.pyi`` lists them.

    Those of wings that are closed are left out.
    """
    folder = os.path.dirname(__file__)
    with open(os.path.join(folder, "__init__.pyi"), encoding="utf-8") as file:
        listed = _IMPORT.findall(file.read())
    return {
        name: module
        for module, names in listed
        if os.path.isdir(os.path.join(folder, *module.split(".")[1:-1]))
        for name in re.findall(r"as (\w+)", names)
    }


_HOME = _homes()
"""A module is imported when one of its names is first used."""

__all__ = sorted(_HOME)


class _Package(ModuleType):
    """A package whose public names come before modules of the same name, such as ``search``."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOME or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:  # cloudpickle knows no subclasses of modules
        return importlib.import_module, (self.__name__,)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        globals()[name] = getattr(importlib.import_module(_HOME[name]), name)
        return globals()[name]
    if not name.startswith("_"):
        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
        from glsw.wings import registered, widened

        if widened() and (module := registered("NAMES").get(name)):
            return getattr(importlib.import_module(module), name)
    text = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(text, name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return __all__


sys.modules[__name__].__class__ = _Package
