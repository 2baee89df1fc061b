"""The engines on other implementations of OpenGL, and the shaders before another compiler."""

import os
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest
from cases import FEW

from glsw.engines import ENGINES
from glsw.shader import assemble, root

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


def test_engines_everywhere(run_under, implementation):
    version, names = judged(run_under(implementation, JUDGE.format(tests=TESTS, names=None)))
    assert names == able(version)
    assert "fragment" in names


def test_engines_on_softpipe(run_under):
    version, names = judged(run_under("softpipe", JUDGE.format(tests=TESTS, names=FEW)))
    assert version == (3, 3)
    assert "fragment" in names


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


@pytest.mark.parametrize(
    ("name", "defines"),
    [(name, defines) for name, all_of_it in PERMUTATIONS.items() for defines in all_of_it],
    ids=lambda value: value if isinstance(value, str) else defined(value),
)
def test_the_validator_reads_every_program(validator, name, defines):
    source, origins = assemble(name, defines)
    stage = name.rpartition(".")[2]
    done = subprocess.run(
        [validator, "--stdin", "-S", stage], input=source, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{origins}"
    assert "WARNING" not in done.stdout


def test_every_shader_is_read():
    shaders = {path.name for path in root().iterdir() if path.is_file()}
    assert shaders == set(PERMUTATIONS)
