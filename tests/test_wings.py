"""Each wing can be closed: its folders go, all else stays and works."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from closing import ROOT, close, environment

import glsw
from glsw.wings import opened, registered

WINGS = sorted(opened())
OPTIONS = {  # those of a search, of each wing
    "cluster": {"--cluster"},
    "composition": {"--composition"},
    "profiles": {
        *("--profile", "--iterations", "--inclusion"),
        *("--profiles", "--positional-gaps", "--sums"),
    },
    "shards": {"--shard"},
}
# Quick tests of what the core does: commands, search, align, score, neighbors, formats.
# No module of the core imports a wing (tests/test_package.py): what is left to try is what the
# core looks up, and that does not depend on processes, devices and parts of a search.
CORE = " or ".join(
    [
        "test_empty.py",
        "test_summary.py",
        "test_verbs.py",
        "test_many_pairs.py",
        "test_results.py",
        "test_cli_neighbors.py",
        "test_output.py",
        "test_align.py",
        "test_without_the_wing_of_compositions_there_is_an_error",
        "test_cli.py",
        "test_programs_keep_within_their_budgets",
    ]
)
LOOK = """
import contextlib, importlib, io, json, pkgutil, re
import glsw
from glsw.cli import main

def said(*words):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main([*words])
    return out.getvalue()

modules = [name for _, name, _ in pkgutil.walk_packages(glsw.__path__, "glsw.")]
for name in modules:
    if not name.endswith("__main__"):
        importlib.import_module(name)
for name in glsw.__all__:
    getattr(glsw, name)
print(json.dumps({
    "home": glsw.__path__[0],
    "names": glsw.__all__,
    "modules": modules,
    "commands": re.findall(r"^    ([a-z0-9]+) ", said("--help"), re.M),
    "options": re.findall(r"^  (?:-\\w, )?(--[a-z-]+)", said("search", "--help"), re.M),
    "found": said(  # without an E-value limit, as no wing adjusts scores then
        "search", *["demo/query.fasta"] * 2, "--engine", "cpu", "--no-progress", "--evalue", "inf"
    ),
}))
"""


def look(folder: Path) -> dict[str, Any]:
    """Return what there is in a copy: modules, which can all be imported, names, and commands."""
    words = [sys.executable, "-c", LOOK]
    done = subprocess.run(words, cwd=folder, env=environment(folder), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert found.pop("home") == str(folder / "glsw")
    found["found"] = found["found"].splitlines()
    return {kind: {*each} for kind, each in found.items()}


whole = cache(lambda: look(ROOT))


def is_right(folder: Path, *words: str) -> None:
    """Run pytest in a copy."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True)
    assert done.returncode == 0, done.stdout.decode()[-4000:]


def lacks(folder: Path, closed: list[str]) -> None:
    """Check that a copy has all but what the closed wings have."""
    found, all_there = look(folder), whole()
    of_closed = tuple(f"glsw.wings.{name}" for name in closed)
    homes = vars(glsw)["_HOME"]
    modules = {name: module for name, (module, *_) in registered("COMMANDS").items()}
    commands = {name for name, module in modules.items() if module.startswith(of_closed)}
    assert commands <= all_there["commands"]
    assert found["commands"] == all_there["commands"] - commands
    assert found["found"] == all_there["found"]
    assert len(found["found"]) > 2
    options = {option for name in closed for option in OPTIONS.get(name, ())}
    assert options <= all_there["options"]
    assert found["options"] == all_there["options"] - options
    assert found["names"] == {n for n in glsw.__all__ if not homes[n].startswith(of_closed)}
    assert found["modules"] == {n for n in all_there["modules"] if not n.startswith(of_closed)}


@pytest.mark.parametrize("wing", WINGS)
def test_a_wing_can_be_closed(wing: str, tmp_path: Path) -> None:
    """Whether the core needs a wing is seen where all are closed; here, whether the others do."""
    folder = tmp_path / "project"
    lacks(folder, close(folder, [wing]))


def test_all_wings_can_be_closed(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    assert close(folder, WINGS) == WINGS
    lacks(folder, WINGS)
    # All tests are read, these are run.
    is_right(folder, "tests", "-k", f"({CORE}) and not process and not device")


def test_wings_need_wings() -> None:
    for name in WINGS:
        needs = getattr(importlib.import_module(f"glsw.wings.{name}"), "NEEDS", ())
        assert {*needs} <= {*WINGS} - {name}


@cache
def core() -> dict[str, str]:
    """Return the texts of the core's modules and shaders in lower case, by their names."""
    files = [*(ROOT / "glsw").rglob("*.py*"), *(ROOT / "shaders").rglob("*.*")]
    names = {path: path.relative_to(ROOT).as_posix() for path in files}
    of_wings = tuple(f"{home}/{name}/" for home in ("glsw/wings", "shaders") for name in WINGS)
    return {
        name: path.read_text(encoding="utf-8").lower()
        for path, name in names.items()
        if path.suffix != ".pyc" and not name.startswith(of_wings)
    }


@pytest.mark.parametrize("wing", WINGS)
def test_the_core_does_not_know_the_engines_of_a_wing(wing: str) -> None:
    """Neither its shaders nor its modules with self-tests, of names that the core lacks."""
    modules = [*getattr(opened()[wing], "TESTS", {}).values()]
    assert all(module.startswith(f"glsw.wings.{wing}.") for module in modules)
    assert all(callable(importlib.import_module(module).tested) for module in modules)
    own = {Path(name).stem for name in core()}
    stems = {module.rpartition(".")[2] for module in modules} - own
    words = [re.escape(path.name) for path in (ROOT / "shaders" / wing).glob("*.*")]
    words += [stem.replace("_", "[ _]?") for stem in stems]
    for word in words:
        assert [name for name, text in core().items() if re.search(word, text)] == [], word
    assert len(words) == {"dotplot": 2, "profiles": 2}.get(wing, len(words))
