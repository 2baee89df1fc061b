"""Each wing can be closed: its folders go, all else stays and works."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import Field, fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from closing import ROOT, close, environment

import glsw
from glsw.cli.command import Group, flag_of
from glsw.engines import imported
from glsw.trust.provable import Provable
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
CORE_COMMANDS = ["search", "align", "neighbors", "makedb", "verify", "devices", "demo"]
TITLES = "scoring", "map"
"""Titles of groups that are names of options too."""
WORDS = {"edit": "bit_parallel unit_costs", "three": "Aligner3 Engine3 Scoring3 subtable"}
"""Words for what wings have, which the core does not know."""
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
        "test_search_prints_what_the_library_finds",
        "test_align_prints_one_alignment",
        "test_makedb",
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


def test_the_core_does_not_know_what_wings_have() -> None:
    files = [*(ROOT / "glsw").rglob("*.py"), *(ROOT / "shaders").rglob("*.*")]
    for wing, own in WORDS.items():
        shaders = [path.name for path in (ROOT / "shaders" / wing).rglob("*.*")]
        words = [f"wings.{wing}", *own.split(), *shaders]
        known = re.compile(rf"\b({'|'.join(map(re.escape, words))})\b")
        for path in files:
            part = path.relative_to(ROOT).parts
            if part[1] != "wings" and part[:2] != ("shaders", wing):
                assert not known.search(path.read_text(encoding="utf-8")), (wing, path)


def options_of(kind: type[Group]) -> Iterator[Field[Any]]:
    """Yield the options of a group, and of those in it."""
    for each in fields(kind):
        if "help" in each.metadata:
            yield each
        elif isinstance(inner := each.default_factory, type) and issubclass(inner, Group):
            yield from options_of(inner)


def nodes(path: Path) -> list[ast.AST]:
    """Return the nodes of a module without its documentation."""
    found = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    documentation = {id(node.value) for node in found if isinstance(node, ast.Expr)}
    return [node for node in found if id(node) not in documentation]


CORE_FILES = [
    path
    for path in sorted((ROOT / "glsw").rglob("*.py"))
    if path.relative_to(ROOT / "glsw").parts[0] != "wings"
]


def test_the_core_names_no_option_of_a_wing() -> None:
    """Neither in code nor in help and messages: options of wings come as groups of a command."""
    core = [getattr(importlib.import_module(f"glsw.cli.{k}"), k.title()) for k in CORE_COMMANDS]
    known = {each.name for kind in core for each in options_of(kind)}
    kinds = [importlib.import_module(name).Options for name in registered("OPTIONS")]
    for place, _ in registered("COMMANDS").values():
        module, _, name = place.partition(":")
        kinds.append(getattr(importlib.import_module(module), name))
    found = [each for kind in kinds for each in options_of(kind) if each.name not in known]
    names = {each.name: flag_of(each) for each in found if flag_of(each)}
    for wing, option in {"shards": "shard", "three": "scheme", "dotplot": "cap"}.items():
        assert wing not in WINGS or option in names
    for path in CORE_FILES:
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert {*re.findall(r"--[\w-]+", node.value)}.isdisjoint(names.values()), path
                if path.parent.name == "cli" and node.value not in TITLES:
                    assert node.value not in names, path


def test_commands_read_no_attribute_by_a_string() -> None:
    """What argparse finds is a dataclass at once; a field is named by itself."""
    named = "getattr", "hasattr", "setattr"
    of_modules = "signal", "importlib.import_module(module)"
    files = [path for path in CORE_FILES if path.parent.name == "cli"]
    for path in [*files, *(ROOT / "glsw" / "wings").rglob("*.py")]:
        found = {node.attr for node in nodes(path) if isinstance(node, ast.Attribute)}
        assert "Namespace" not in found, path
    calls = [node for path in files for node in nodes(path) if isinstance(node, ast.Call)]
    for node in calls:
        if ast.unparse(node.func) in named and ast.unparse(node.args[0]) not in of_modules:
            assert ast.unparse(node.args[1]) == "each.name", ast.unparse(node)


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


WING = '''"""A wing of another package."""
COMMANDS = {"greet": ("hall_command:Greet", "greet somebody")}
OPTIONS = {"hall_options": ("search hits",)}
BLAST = {"threefold": "--twice"}
NAMES = {"greeting": __name__}
greeting = "hello"
'''
COMMAND = """
from glsw.cli.command import Command, argument, option
import hall
class Greet(Command):
    whom: str = argument("WHOM: a name")
    often: int = option("N: how often", 1)
    def run(self):
        print(*[hall.greeting] * self.often, self.whom)
"""
HALL_OPTIONS = """
from glsw.cli.command import Group, option
class Options(Group):
    twice: bool = option("search twice")
    def apply(self, command):
        if self.twice:
            command.results = lambda aligner, given, bar, done, options: 2 * [*aligner.search(
                given.queries, given.targets)]
"""


def test_another_package_adds_a_wing(tmp_path: Path) -> None:
    """It is found by its entry point: its command, option and name; mistakes stay mistakes."""
    (tmp_path / "hall.py").write_text(WING)
    (tmp_path / "hall_command.py").write_text(COMMAND)
    (tmp_path / "hall_options.py").write_text(HALL_OPTIONS)
    (tmp_path / "hall-1.dist-info").mkdir()
    (tmp_path / "hall-1.dist-info" / "METADATA").write_text("Name: hall\nVersion: 1\n")
    (tmp_path / "hall-1.dist-info" / "entry_points.txt").write_text("[glsw.wings]\nhall = hall\n")
    env = {**environment(ROOT), "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}

    def said(*words: str) -> tuple[int, str]:
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    assert said("-m", "glsw", "greet", "you", "--often", "2") == (0, "hello hello you\n")
    assert said("-c", "import glsw; print(glsw.greeting)") == (0, "hello\n")
    files = "demo/query.fasta", "demo/query.fasta"
    search = "-m", "glsw", "search", *files, "--engine", "cpu", "--no-progress"
    assert said(*search)[1].count("Query=") == 2
    assert said(*search, "--twice")[1].count("Query=") == 4
    assert "did you mean --twice?" in said(*search, "--threefold")[1]
    assert "--twice" in said("-m", "glsw", "search", "--help")[1]
    assert "greet somebody" in said("-m", "glsw", "--help")[1]
    assert said(*search, "--thrice")[0] == said("-m", "glsw", "meet")[0] == 2
    assert said("-c", "import glsw; glsw.farewell")[0] == 1


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
    """Neither its shaders nor its modules with what proves itself, of names that the core lacks."""
    registry = vars(opened()[wing])
    homes = [*registry.get("TESTS", {}).values()]
    homes += [home for home, _ in registry.get("ENGINES", {}).values()]
    assert all(home.startswith(f"glsw.wings.{wing}.") for home in homes)
    assert all(issubclass(imported(home), Provable) for home in homes)
    own = {Path(name).stem for name in core()}
    stems = {home.split(".")[-2] for home in homes} - own - {"plane"}  # which is a word
    words = [re.escape(path.name) for path in (ROOT / "shaders" / wing).glob("*.*")]
    words += [stem.replace("_", "[ _]?") for stem in stems]
    for word in words:
        assert [name for name, text in core().items() if re.search(word, text)] == [], word
    assert len(words) == {"dotplot": 2, "profiles": 2}.get(wing, len(words))
