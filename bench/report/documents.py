"""Files of results, of one benchmark or of a suite, brought into one form.

>>> short("NVIDIA H100 80GB HBM3/PCIe/SSE2"), short("llvmpipe (LLVM 15.0.6, 256 bits)")
('H100 80GB HBM3', 'llvmpipe')
>>> short("zink Vulkan 1.3(llvmpipe (LLVM 15.0.6, 256 bits) (MESA_LLVMPIPE))")
'zink on llvmpipe'
>>> short("Mesa Intel(R) UHD Graphics 620 (KBL GT2)"), short("AMD Radeon RX 6800 (radeonsi)")
('Intel UHD Graphics 620', 'Radeon RX 6800')
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.schema import check_form

SCHEMAS = (1, 2)
"""Versions of documents that can be read."""

_FIELDS = ("benchmark", "date", "device", "cpu", "versions", "settings", "results")
_LONGEST = 34


class DocumentError(ValueError):
    """A file is no document; one line that names it."""


@dataclass(frozen=True)
class Part:
    """Results of one benchmark: all of a single document, or a step of a suite."""

    benchmark: str
    settings: Mapping[str, Any]
    results: list[Any]
    document: Document = field(repr=False)
    step: str | None = None


@dataclass(frozen=True)
class Step:
    """A step of a suite that has no results: what it is, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Document:
    """A file: where and when it was measured, and its parts."""

    file: str
    schema: int
    benchmark: str
    date: str
    commit: str | None
    dirty: bool | None
    device: Mapping[str, Any] | None
    cpu: Mapping[str, Any]
    versions: Mapping[str, Any]
    parts: list[Part] = field(default_factory=list)
    missing: list[Step] = field(default_factory=list)

    @property
    def renderer(self) -> str:
        """What the device calls itself; the processor where no device was used."""
        return str(self.device["renderer"] if self.device else self.cpu["model"])

    @property
    def software(self) -> bool:
        """The processor does the work."""
        return self.device is None or bool(self.device["software"])

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes two runs runs of one device: for software also the processor's cores."""
        if not self.software:
            return (self.renderer,)
        return (self.renderer, str(self.cpu["model"]), str(self.cpu["cores"]))

    @property
    def version(self) -> str:
        """The commit in short, with a + where the checkout differed from it."""
        return (self.commit or "?")[:10] + ("+" if self.dirty else "")


def load(path: Path) -> Document:
    """Read a document of version 1 or 2, of one benchmark or of a suite.

    Raises
    ------
    DocumentError
        It is not JSON, or no document; where jsonschema is installed, not as the schema says.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DocumentError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise DocumentError(f"{path}: not JSON: {error}") from None
    try:
        found = document(raw, path.name)
        with suppress(ModuleNotFoundError):
            check_form(raw)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DocumentError(f"{path}: {_problem(raw, error)}") from None
    return found


def document(raw: Mapping[str, Any], file: str) -> Document:
    """Bring what stands in a file into one form."""
    if raw["schema"] not in SCHEMAS:
        raise ValueError(f"schema {raw['schema']!r} is not known")
    found = Document(
        file,
        raw["schema"],
        str(raw["benchmark"]),
        str(raw["date"]),
        raw.get("commit"),
        raw.get("dirty"),
        raw["device"],
        raw["cpu"],
        raw["versions"],
    )
    for name in ("renderer", "software"):
        if found.device is not None:
            found.device[name]
    if found.benchmark != "suite":
        found.parts.append(Part(found.benchmark, raw["settings"], list(raw["results"]), found))
        return found
    for step in raw["results"]:
        if step.get("results"):
            found.parts.append(
                Part(
                    step["benchmark"],
                    step.get("settings") or {},
                    step["results"],
                    found,
                    step["step"],
                )
            )
        why = step.get("left_out") or (step.get("message") if step.get("status") else None)
        if why:
            found.missing.append(Step(step["step"], str(why)))
    return found


def _problem(raw: Any, error: Exception) -> str:
    missing = [name for name in _FIELDS if not isinstance(raw, dict) or name not in raw]
    if missing:
        return f"not a document of bench: {', '.join(missing)} missing"
    return f"not a document of bench: {' '.join(str(error).split())}"


class Collection:
    """Several documents; devices have names that tell them apart, in the order of the files."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = list(documents)
        self._names: dict[tuple[str, ...], str] = {}
        for each in self.documents:
            if each.identity not in self._names:
                self._names[each.identity] = self._new(each)

    def _new(self, document: Document) -> str:
        """Return a short name that no other device has."""
        name = short(document.renderer)
        taken = set(self._names.values())
        if name in taken:
            name = f"{name}, {document.cpu['model']}"
        number = 2
        plain = name
        while name in taken:
            name, number = f"{plain} ({number})", number + 1
        return name

    @property
    def devices(self) -> list[str]:
        """The names of all devices."""
        return list(self._names.values())

    def name(self, of: Part | Document) -> str:
        """Return the name of the device of a document."""
        found = of.document if isinstance(of, Part) else of
        return self._names[found.identity]

    def parts(self, *benchmarks: str) -> list[Part]:
        """Return the parts of these benchmarks, the newest last; without names all."""
        found = [part for document in self.documents for part in document.parts]
        chosen = [part for part in found if not benchmarks or part.benchmark in benchmarks]
        return sorted(chosen, key=lambda part: part.document.date)


def short(renderer: str) -> str:
    """Return a renderer without maker, bus and driver."""
    text = re.sub(r"\((R|TM|tm|r)\)", "", renderer)
    zink = re.match(r"zink\b.*?\((.*)\)\s*$", text)
    if zink:
        return f"zink on {short(zink[1])}"[:_LONGEST]
    text = re.sub(r"^(NVIDIA|AMD|ATI|Mesa)\s+", "", text)
    text = re.sub(r"^(Mesa|AMD|DRI)\s+", "", text.split("/")[0])
    text = (text.partition("(")[0].strip() or text).strip()
    return (text or renderer or "?")[:_LONGEST].strip()
