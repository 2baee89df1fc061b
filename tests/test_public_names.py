"""Public names stay where they are: ``tests/data/public_names.txt`` lists all since 0.1.0.

Public is what `glsw.__all__` names and ``docs/api`` describes, with the members of classes, what
``__all__`` of its packages names, and what examples of README.md and ``docs`` import.

``python tests/test_public_names.py`` adds new names to the file. A name that is removed stays in
it, and CHANGELOG.md says under "Removed" what replaces it.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import doc_examples
import pytest

import glsw
from glsw.wings import opened

ROOT = Path(__file__).resolve().parents[1]
LISTED = ROOT / "tests" / "data" / "public_names.txt"
WINGS = {*re.findall(r"glsw\.wings\.(\w+)", LISTED.read_text(encoding="utf-8"))}
pytestmark = pytest.mark.skipif(not {*opened()} >= WINGS, reason="pages describe all wings")
PACKAGES = ("device", "engines", "output", "statistics", "wings.three.engines")
_DESCRIBED = re.compile(r"^::: (\S+)\n((?: +.*\n|\n(?= ))*)", re.MULTILINE)
_IMPORTED = re.compile(r"from (glsw[\w.]*) import ([\w, ]+)")
_DOTTED = re.compile(r"\bglsw(?:\.[A-Za-z_]\w*)+")


def found(name: str) -> Any:
    """Return what a dotted name means; AttributeError if it means nothing.

    Of a function and a module of the same name, such as `glsw.align`, the name means the function.
    """
    words = name.split(".")
    for k in range(len(words) - 1, 0, -1):
        with suppress(AttributeError, ModuleNotFoundError):
            value: Any = importlib.import_module(".".join(words[:k]))
            for word in words[k:]:
                if word not in _members(value):
                    value = getattr(value, word)
            return value
    with suppress(ModuleNotFoundError):
        return importlib.import_module(name)
    raise AttributeError(f"there is no {name}")


def _members(value: Any) -> set[str]:
    """Return the public members of a class that glsw defines."""
    if not inspect.isclass(value):
        return set()
    named = {each.name for each in fields(value)} if is_dataclass(value) else set()
    named |= set(getattr(value, "_fields", ()))
    for base in value.__mro__:
        if base.__module__.split(".")[0] == "glsw":
            named |= {name for name in vars(base) if not name.startswith("_")}
    return named


def described() -> Iterator[str]:
    """Yield the names that ``docs/api`` describes."""
    for page in sorted((ROOT / "docs" / "api").glob("*.md")):
        for name, options in _DESCRIBED.findall(page.read_text(encoding="utf-8") + "\n"):
            value = found(name)
            if not inspect.ismodule(value):
                yield name
                continue
            named = re.search(r"members: \[(.*?)\]", options)
            members = named[1].split(", ") if named else _of_module(value, options)
            yield from (f"{name}.{member}" for member in members)


def _of_module(module: Any, options: str) -> list[str]:
    hidden = re.findall(r'"!(.+?)"', options)
    return [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__
        and not name.startswith("_")
        and not any(re.search(pattern, name) for pattern in hidden)
    ]


def in_examples() -> Iterator[str]:
    """Yield the names below ``glsw`` that examples import or use."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for block in doc_examples.blocks(page):
            if block.language == "python" and "not run" not in block.reason:
                for module, names in _IMPORTED.findall(block.code):
                    yield from (
                        f"{module}.{name.split(' as ')[0].strip()}" for name in names.split(",")
                    )
                yield from (name for name in _DOTTED.findall(block.code) if not _is_value(name))


def _is_value(name: str) -> bool:
    """Return whether a dotted name is of no module, class or function, but of a result."""
    try:
        value = found(name)
    except AttributeError:
        return True
    return inspect.ismodule(value)


def surface() -> set[str]:
    """Return the public names of today; members of classes by the shortest name of the class."""
    top = {f"glsw.{name}" for name in glsw.__all__}
    names = {*top, *described(), *in_examples()}
    classes = {id(found(name)): name for name in sorted(names, key=len, reverse=True)}
    names |= {f"{name}.{each}" for name in classes.values() for each in _members(found(name))}
    for package in PACKAGES:
        module = importlib.import_module(f"glsw.{package}")
        names |= {f"{module.__name__}.{name}" for name in module.__all__}
    return names


def listed() -> list[str]:
    return LISTED.read_text(encoding="utf-8").split()


def removed() -> str:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return "".join(re.findall(r"^### Removed\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL))


def _with_modules(name: str) -> Iterator[str]:
    """Yield a name, and what names all in each module around it: ``glsw.a.b``, ``glsw.a.*``."""
    yield name
    words = name.split(".")
    yield from (f"{'.'.join(words[:k])}.*" for k in range(2, len(words)))


def _means_something(name: str) -> bool:
    try:
        found(name)
    except AttributeError:
        return False
    return True


def test_public_names_stay() -> None:
    gone, top = [], {f"glsw.{name}" for name in glsw.__all__}
    for name in listed():
        # A module of the same name does not stand for a verb.
        there = name in top if name.count(".") == 1 else _means_something(name)
        if not there and not any(f"`{part}`" in removed() for part in _with_modules(name)):
            gone.append(name)
    assert not gone, f"CHANGELOG.md does not say under 'Removed' what replaces {gone}"


def test_public_names_are_listed() -> None:
    assert listed() == sorted(set(listed()))
    missing = sorted(surface() - set(listed()))
    assert not missing, f"tests/data/public_names.txt lacks {' '.join(missing)}"


def test_a_name_that_is_gone_is_noticed() -> None:
    for name in ("glsw.nothing", "glsw.device.nothing", "glsw.Aligner.nothing", "glsw.no.module"):
        with pytest.raises(AttributeError):
            found(name)
    assert {"glsw.search", "glsw.Aligner.search", "glsw.Hit.rank", "glsw.Ends.score"} <= surface()
    assert {"glsw.device.open_device", "glsw.scoring.gaps.EndGaps"} <= surface()


def test_names_of_devices_are_where_they_were() -> None:
    import glsw.device
    from glsw.device import device

    for name in glsw.device.__all__:
        assert getattr(glsw.device, name) is getattr(device, name)
    assert glsw.device.open_device is device.open_device


if __name__ == "__main__":
    LISTED.write_text("".join(f"{name}\n" for name in sorted({*listed(), *surface()})))
