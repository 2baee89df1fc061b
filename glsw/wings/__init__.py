"""Wings extend the core, each from its own folder; deleting the folder removes the wing.

A wing imports the core; the core imports no wing, but asks here what the wings register, each by
constants of its ``__init__``:

``NEEDS``
    Names of the wings it stands on itself. Without these it is closed too.
``COMMANDS``
    Commands of glsw: the class of each, a `glsw.cli.command.Command`, and its help.
``ENGINES``
    Engines of certain scorings, by name: the places of the class and of a function that tells
    whether a scoring is one of these; ``auto`` then leaves all scores to that engine.
``STAGES``
    Options of a search that score hits again: a module with ``stage_of(scoring, settings)``, see
    `glsw.search.stages`.
``OPTIONS``
    Options of commands: a module, and the places of its options, each the name of a command and the
    title of a group with a field ``wings``, such as ``"search hits"``. The module has the class
    ``Options``, a `glsw.cli.command.Group`: its options stand in that group or, if it has a title
    of its own, behind it. ``apply(command)`` is called once the words are read: it raises the
    errors of its options and, if these are given, changes what the command does by setting

    * ``command.instead``: what is done in the place of ``run``;
    * ``command.running.executor``: who computes, a context manager;
    * ``read_queries``, ``results`` or ``rounds`` of a `glsw.cli.search.Search`, which say what is
      searched with, how results are found, and how often that goes through the database.
``BLAST``
    What BLAST+ calls what the wing has: the option, or the command of a program.
``TESTS``
    What else computes with compute shaders: the place of each `glsw.trust.provable.Provable`, which
    ``glsw devices --test`` tries as it does `ENGINES`.
``NAMES``
    Public names of glsw, each with its module; ``glsw/__init__.pyi`` lists those of the wings here.

Other packages add wings by entry points of the group ``glsw.wings``, each a module with such
constants. They are only looked for when a command, an option or a name is not known here, and for
help: that takes 50 ms.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from types import ModuleType
from typing import Any

_of_others = dict[str, ModuleType]()


@cache
def opened() -> dict[str, ModuleType]:
    """Return the wings of this folder that are there, by their names in alphabetical order."""
    found = {
        name: importlib.import_module(f"{__name__}.{name}")
        for name in sorted(os.listdir(__path__[0]))
        if os.path.isfile(os.path.join(__path__[0], name, "__init__.py"))
    }
    while closed := [name for name, wing in found.items() if {*_of(wing, "NEEDS")} - {*found}]:
        for name in closed:
            del found[name]
    return found


def registered(kind: str) -> dict[str, Any]:
    """Return what all wings register of a kind, such as ``COMMANDS``."""
    wings = *opened().values(), *_of_others.values()
    return {key: value for wing in wings for key, value in _of(wing, kind).items()}


@cache
def widened() -> bool:
    """Open the wings of other packages; return whether there are any."""
    from importlib.metadata import entry_points

    _of_others.update({each.name: each.load() for each in entry_points(group="glsw.wings")})
    return bool(_of_others)


def _of(wing: ModuleType, kind: str) -> Any:
    return getattr(wing, kind, {})
