"""CONTRIBUTING.md: the engine that it adds step by step is right."""

from __future__ import annotations

import argparse
import ast
import re
import shutil

import cases
import pytest
from hypothesis import HealthCheck, settings
from program import ROOT
from subtests import with_subtests

import glsw.device.shader
from glsw.cli.command import Command, add_options, made
from glsw.engines.many_groups import ManyGroupsEngine

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def block(language: str, name: str = "") -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    (only,) = (each for each in found if name in each)
    return only


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """The class of the engine, whose shader lies among the others."""
    folder = tmp_path / "shaders"
    shutil.copytree(ROOT / "shaders", folder)
    (folder / "row_by_row.comp").write_text(block("glsl"))
    monkeypatch.setattr(glsw.device.shader, "root", lambda: folder)
    names: dict[str, type[ManyGroupsEngine]] = {}
    exec(block("python", "row_by_row"), names)
    return names["RowByRow"]


@with_subtests("case", [cases.CASES[name].part(slice(80, None, 2)) for name in cases.FEW])
def test_engine(engine, device, case):
    made = engine(case.scoring, device)
    assert f"shaders/{made.name}.comp" in TEXT
    cases.judge(made, case)


def test_command(capsys):
    names: dict[str, type[Command]] = {}
    exec(block("python", "glsw greet"), names)
    parser = argparse.ArgumentParser("glsw greet")
    add_options(parser, names["Greet"])
    made(names["Greet"], vars(parser.parse_args(["you", "--top", "2"])), "greet").run()
    assert capsys.readouterr().out == "hello hello you\n"


def test_lines_are_short():
    assert max(map(len, TEXT.splitlines())) <= 100


def test_property_tests_have_no_deadline():
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
    files = (ROOT / "tests").rglob("*.py")
    assert not [path for path in files if re.search(r"@settings\(.*deadline", path.read_text())]


def at_import(node: ast.AST) -> list[ast.Call]:
    """The calls that run when a test file is imported, those in decorators among them."""
    inside = (
        node.decorator_list if isinstance(node, ast.FunctionDef) else ast.iter_child_nodes(node)
    )
    found = [call for child in inside for call in at_import(child)]
    return [node, *found] if isinstance(node, ast.Call) else found


def test_names_of_tests_do_not_hold_the_time():
    """A gzip file has the time in it: workers a second apart would collect different names."""
    calls = [
        (path.name, call)
        for path in (ROOT / "tests").rglob("test_*.py")
        for call in at_import(ast.parse(path.read_text(encoding="utf-8")))
        if ast.unparse(call.func) == "gzip.compress"
    ]
    assert calls
    assert {file for file, call in calls if "mtime" not in [a.arg for a in call.keywords]} == set()


def test_system_packages_of_the_tests_are_named():
    tools = (ROOT / "tools" / "ensure-test-tools.sh").read_text(encoding="utf-8")
    packages = " ".join(re.findall(r'missing="\$missing (.*?)"', tools)).split()
    assert packages
    assert [name for name in packages if f"`{name}`" not in TEXT] == []
