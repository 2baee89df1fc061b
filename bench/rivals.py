"""Which other programs are measured in the same run: each optional, each told when it is missing.

`find` looks for all of them; ``--competitor NAME=PATH`` says where others are.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from bench.commands import Ssearch36, Swipe
from bench.programs import (
    Biopython,
    Competitor,
    Method,
    Parasail,
    ParasailPairs,
    Processes,
    Pyopal,
    StringZilla,
    stringzilla_scope,
)
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN

MODULES = {"parasail": "parasail", "pyopal": "pyopal", "Biopython": "Bio", "edlib": "edlib"}
MODULES |= {"StringZilla": "stringzillas"}
COMMANDS = {"ssearch36": "ssearch36", "SWIPE": "swipe", "CUDASW++4.0": "align"}
COMMANDS |= {name: name for name in ("blastn", "blastp", "diamond", "mmseqs")}
NAMES = (*MODULES, *COMMANDS)
WORDS = {name.lower().replace("++4.0", "4"): name for name in NAMES}
"""Names on the command line: ``cudasw4``, ``swipe`` ..."""

Programs: TypeAlias = list[tuple[Competitor, int]]
"""Programs and the cores that they use, 0 on a GPU."""


def find(paths: Mapping[str, str]) -> dict[str, str]:
    """Return the programs that are here: by name, the path of a command or the name of a module.

    ``paths`` are those that were named; one of these that is not there is an error.
    """
    found = {name: module for name, module in MODULES.items() if importlib.util.find_spec(module)}
    for name, command in COMMANDS.items():
        path = shutil.which(command)
        if path and name != "CUDASW++4.0":  # many programs are called align
            found[name] = path
    for name, named in paths.items():
        place = Path(named, COMMANDS.get(name, "")) if Path(named).is_dir() else Path(named)
        if not place.is_file():
            raise ValueError(f"{name}: there is no file {place.name}")
        found[name] = str(place.resolve())
    return found


def missing(found: Mapping[str, str]) -> list[str]:
    """Return the names of those that are not here."""
    return [name for name in NAMES if name not in found]


def searching(
    found: Mapping[str, str], scoring: Scoring, cores: int, *, slow: bool = False
) -> Programs:
    """Return the programs that search a database with these scores, on one core and on all.

    ``slow`` is to have Biopython too, which is no program for databases.
    """
    chosen: list[Callable[[int], Competitor]] = []
    if "pyopal" in found and Pyopal.available(scoring):
        chosen.append(partial(Pyopal, scoring))
    if "parasail" in found and Parasail.available(scoring):
        chosen.append(partial(_on, partial(Parasail, scoring)))
    for kind in (Ssearch36, Swipe):
        if kind.name in found and kind.available(scoring):
            chosen.append(partial(kind, scoring, found[kind.name]))
    if slow and "Biopython" in found and Biopython.available(scoring):
        chosen.append(partial(_on, partial(Biopython, scoring)))
    made = _by_cores(chosen, cores)
    if "StringZilla" in found and not scoring.linear and scoring.alphabet is PROTEIN:
        made.append((StringZilla(scoring), 0 if stringzilla_scope()[1] else 1))
    return made


def aligning(
    found: Mapping[str, str], scoring: Scoring, cores: int, methods: Sequence[Method] = ("simd",)
) -> Programs:
    """Return the programs that compute pairs with these scores, on one core and on all.

    ``methods`` are those of `ParasailPairs`; a name of a row has its function if there are several.
    """
    makers = []
    if "parasail" in found and ParasailPairs.available(scoring):
        makers += [partial(_on, partial(ParasailPairs, scoring, method)) for method in methods]
    if "Biopython" in found and Biopython.available(scoring) and methods == ("simd",):
        makers.append(partial(_on, partial(Biopython, scoring)))
    made = _by_cores(makers, cores)
    for program, _ in made:
        program.shown = len(methods) > 1
    return made


def _by_cores(makers: Iterable[Callable[[int], Competitor]], cores: int) -> Programs:
    makers = list(makers)
    return [(make(count), count) for count in sorted({1, cores}) for make in makers]


def _on(make: Callable[[], Competitor], cores: int) -> Competitor:
    return make() if cores == 1 else Processes(make, cores)
