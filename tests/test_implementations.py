"""The engines on other implementations of OpenGL, and the shaders before another compiler."""

import os
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest
from cases import CASES, CORE, FEW, build, configurations, label

import glsw.shader
from glsw.engines import ENGINES
from glsw.shader import assemble, explain, root

TESTS = str(Path(__file__).parent)
JUDGE = """
import sys
sys.path.insert(0, {tests!r})
import cases
from glsw.device import open_device
device = open_device(quiet=True)
print(*device.info.version, *cases.judge_device(device, {names!r}))
"""


def judged(output):
    """Return the version of OpenGL and the engines judged there."""
    major, minor, *names = output.split()
    return (int(major), int(minor)), set(names)


def able(version):
    return {
        name for name, engine in ENGINES.items() if engine.requires and engine.requires <= version
    }


@pytest.mark.parametrize("implementation", ["llvmpipe", "zink", "gl41", "gl33", "softpipe"])
def test_engines_everywhere(run_under, implementation):
    names = FEW if implementation == "softpipe" else CORE
    version, engines = judged(run_under(implementation, JUDGE.format(tests=TESTS, names=names)))
    assert engines == able(version)
    assert "fragment" in engines


# glslangValidator

SWITCHES = ({"ENDS": ends, "LINEAR": linear} for ends, linear in product((None, 1), (None, 1)))
TILES = (1, 4, 8)
# Every set of defines that a program is compiled with.
PERMUTATIONS = {
    "quad.vert": [{}],
    "profile.frag": [{"TILE": tile, "LETTERS": 24} for tile in TILES],
    "fragment.frag": [
        {"TILE": tile, "LETTERS": 24, **switches} for switches, tile in product(SWITCHES, TILES)
    ],
}


def defined(defines):
    return "-".join(f"{key}{value}" for key, value in defines.items() if value is not None)


@pytest.fixture(scope="module")
def validator():
    found = shutil.which("glslangValidator")
    if found is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("glslangValidator is not installed (Debian: glslang-tools)")
    return found


def validate(validator, name, defines):
    source, origins = assemble(name, defines)
    stage = name.rpartition(".")[2]
    done = subprocess.run(
        [validator, "--stdin", "-S", stage], input=source, capture_output=True, text=True
    )
    assert done.returncode == 0, explain(f"\n{done.stdout}", {stage: origins}, name)
    assert "WARNING" not in done.stdout


@pytest.mark.parametrize(
    ("name", "defines"),
    [(name, defines) for name, all_of_it in PERMUTATIONS.items() for defines in all_of_it],
    ids=lambda value: value if isinstance(value, str) else defined(value),
)
def test_validator_reads_every_permutation(validator, name, defines):
    validate(validator, name, defines)


def test_permutations_are_of_every_shader_that_is_drawn():
    assert {path.name for kind in ("vert", "frag") for path in root().glob(f"*.{kind}")} == set(
        PERMUTATIONS
    )


@pytest.mark.parametrize("configuration", configurations(), ids=label)
def test_validator_reads_every_program_of_an_engine(configuration, device, validator, monkeypatch):
    programs = []

    def watched(name, defines=None):
        programs.append((name, dict(defines or {})))
        return assemble(name, defines)

    monkeypatch.setattr(glsw.shader, "assemble", watched)
    monkeypatch.setattr(device, "programs", {})
    for case in (CASES[name].part(slice(100, 103)) for name in FEW):
        engine = build(configuration, case.scoring, device)
        engine.scores(case.batch)
        engine.ends(case.batch)
    assert programs
    for name, defines in programs:
        validate(validator, name, defines)
