"""Drivers with faults: texts of programs are changed before they are compiled, or calls of GL."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from subgroups import emulated
from wing import of_wing, wing

import glsw
import glsw.device.shader
from glsw.device.device import Device
from glsw.trust.proofs import DeviceFaultWarning, Proofs
from glsw.trust.verdicts import Verdicts

LINE = re.compile(
    r"(?P<device>[^\n]+): engine '(?P<engine>\w+)': "
    r"(?P<wrong>wrong results(?: that do not repeat)?|did not end|fails: [^\n]+); "
    r"(?P<instead>the variant with [^\n]+|another engine|engine '\w+') is used instead "
    r"\(please report what `glsw devices --test` prints\)"
)
"""What a warning says."""
Macros = Mapping[str, object]
Edit = Callable[[str, Macros, str], str]
"""From the file, macros and text of a program to another text."""

LETTERS = np.array(list("ARNDCQEGHILKMFPSTWYV"))


def _words(seed: int, lengths: Any, count: int = 240) -> list[str]:
    """Return mutated parts of one protein."""
    rng = np.random.default_rng(seed)
    common = rng.choice(LETTERS, count)
    words = []
    for length in lengths:
        start = rng.integers(0, count - min(length, count) + 1)
        word = common[start : start + length].copy()
        changed = rng.random(len(word)) < 0.25
        word[changed] = rng.choice(LETTERS, int(changed.sum()))
        if len(word) > 40:
            word = np.delete(word, slice(17, 24))
        words.append("".join(word))
    return words


QUERIES = _words(1, [210, 90, 60, 33, 20, 9] + [120] * 14)
TARGETS = _words(1, [*range(10, 90, 4), *range(90, 210, 6)])

THREE = QUERIES[3], TARGETS[7], TARGETS[9]


def _search(engine: str, device: Device | None, query: Any = None) -> Any:
    result = glsw.search(
        query or QUERIES[0], TARGETS, engine=engine, device=device, top=None, composition=0
    )
    return [(hit.target.id, hit.score) for hit in result]


def _searches(engine: str, device: Device | None) -> Any:
    found = glsw.search(QUERIES, TARGETS, engine=engine, device=device, top=None, composition=0)
    return [[(hit.target.id, hit.score) for hit in result] for result in found]


def _score_twice(engine: str, device: Device | None) -> Any:
    with glsw.Aligner(engine=engine, device=device) as aligner:
        return [aligner.score(query, TARGETS).tolist() for query in QUERIES[:2]]


def _profile_search(engine: str, device: Device | None) -> Any:
    profile = glsw.Profile.from_alignment([QUERIES[1], QUERIES[1]])
    return _search(engine, device, profile)


def _aligned(found: Any) -> Any:
    return found.cigars(), found.score.tolist()


def _near(found: Any) -> Any:
    pairs = found.tocoo()
    return pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist()


CALLS: dict[str, Callable[[str, Device | None], Any]] = {
    "search": _search,
    "searches": _searches,
    "score": lambda e, d: glsw.score(QUERIES[0], TARGETS, engine=e, device=d).tolist(),
    "score twice": lambda e, d: _score_twice(e, d),
    "score of one pair": lambda e, d: glsw.score(QUERIES[0], TARGETS[-1], engine=e, device=d),
    "score_pairs": lambda e, d: glsw.score_pairs(
        QUERIES * 2, TARGETS[: 2 * len(QUERIES)], engine=e, device=d
    ).tolist(),
    "align": lambda e, d: str(glsw.align(QUERIES[0], TARGETS[-1], engine=e, device=d)),
    "alignments": lambda e, d: [
        str(found)
        for found in glsw.alignments(QUERIES[0], TARGETS[-1], max_alignments=3, engine=e, device=d)
    ],
    "align_pairs": lambda e, d: _aligned(
        glsw.align_pairs(QUERIES, TARGETS[-len(QUERIES) :], engine=e, device=d)
    ),
    "neighbors": lambda e, d: _near(
        glsw.neighbors(QUERIES, TARGETS, cutoff=60, engine=e, device=d)
    ),
}
CALLS |= of_wing("profiles", {"search by a profile": _profile_search})
CALLS |= of_wing(
    "edit",
    {
        "edit_distance, infix": lambda e, d: [
            each.tolist()
            for each in glsw.edit_distance(
                QUERIES[1],
                TARGETS,
                engine="host" if e == "reference" else "auto",  # type: ignore[arg-type]
                device=d,
                mode="infix",
                ends=True,
            )
        ],
        "edit_distance": lambda e, d: glsw.edit_distance(
            QUERIES[0],
            TARGETS,
            engine="host" if e == "reference" else "auto",  # type: ignore[arg-type]
            device=d,
        ).tolist(),
    },
)
CALLS |= of_wing(
    "three",
    {
        "alignments3": lambda e, d: [
            [found[row] for row in range(3)]
            for found in islice(wing("three.aligner").alignments3(*THREE, engine=e, device=d), 3)
        ],
        "align3": lambda e, d: [
            found[row] for found in [glsw.align3(*THREE, engine=e, device=d)] for row in range(3)
        ],
    },
)
"""Public calls by an engine on a device."""


@dataclass(frozen=True)
class Fault:
    """A fault of a driver, and the call that shows it.

    Parameters
    ----------
    call : str
        A key of `CALLS`.
    edit : callable, optional
        Changes the texts of programs.
    engine : str
        That is asked for.
    blamed : str
        The engines that warnings name, in turn.
    instead : str
        What the last of them says is used.
    hardware : bool
        Whether llvmpipe says that it is hardware.
    subgroups : (int, int), optional
        Emulated ones: their width, and what the device says.
    order : str
        Of `subgroups.ORDERS`.
    half : bool
        Whether the device says that it has 16-bit floats.
    version : (int, int)
        Of OpenGL; from 4.5 on it takes shaders of OpenGL ES.
    patches : callable, optional
        Returns what replaces host functions, as context managers.
    harmless : bool
        Results are right without proofs, or it takes for ever.
    """

    call: str
    edit: Edit | None = None
    engine: str = "auto"
    blamed: str = ""
    instead: str = "another engine"
    hardware: bool = False
    subgroups: tuple[int, int] | None = None
    order: str = "in order"
    half: bool = False
    version: tuple[int, int] = 4, 3
    patches: Callable[[], list[Any]] = list
    harmless: bool = False


@contextmanager
def driver(device: Device, fault: Fault, folder: Path | None) -> Iterator[None]:
    """In this block the device has a fault, and keeps its verdicts in a folder."""
    real = glsw.device.shader.assemble

    def assemble(
        name: str, defines: Any = None, own: Any = None, **version: bool
    ) -> tuple[str, list[str]]:
        source, origins = real(name, defines, own, **version)
        if fault.subgroups and (defines or {}).get("SUBGROUPS"):
            source = emulated(source, fault.subgroups[0], fault.subgroups[1], fault.order)
        return fault.edit(name, defines or {}, source) if fault.edit else source, origins

    info = replace(
        device.info,
        software=not fault.hardware,
        half=fault.half,
        version=fault.version,
        subgroup_size=fault.subgroups[1] if fault.subgroups else 0,
    )
    with ExitStack() as stack:
        put = stack.enter_context
        put(patch.object(glsw.device.shader, "assemble", assemble))
        put(patch.object(device, "programs", {}))
        put(patch.object(device, "info", info))
        put(patch.object(device, "proofs", Proofs(device, Verdicts(info, folder))))
        put(patch.object(device, "trouble", ""))
        for each in fault.patches():
            put(each)
        yield


def called(fault: Fault, device: Device | None) -> tuple[Any, list[str]]:
    """Return what a call returns, and what warnings of faults say."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        engine = fault.engine if device else "reference"
        found = CALLS[fault.call](engine, device)
    return found, [str(w.message) for w in caught if w.category is DeviceFaultWarning]


@contextmanager
def believing() -> Iterator[None]:
    """In this block engines are believed without proof."""
    with patch.object(Verdicts, "get", lambda *_: "right"):
        yield


def replaced(old: str, new: str, programs: str = "", when: Callable[[Macros], bool] = bool) -> Edit:
    """Return an edit: another text in programs of this name, or all, that have it."""

    def edit(name: str, macros: Macros, source: str) -> str:
        return source.replace(old, new) if programs in name and when(macros) else source

    return edit


def every(*edits: Edit) -> Edit:
    """Return all of some edits, one after the other."""

    def edit(name: str, macros: Macros, source: str) -> str:
        for each in edits:
            source = each(name, macros, source)
        return source

    return edit


def refused(when: Callable[[str, Macros], bool]) -> Edit:
    """Return an edit: programs of this kind do not compile."""

    def edit(name: str, macros: Macros, source: str) -> str:
        return source + "\n#error no\n" if when(name, macros) else source

    return edit
