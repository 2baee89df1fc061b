"""The engines of three sequences on other implementations of OpenGL, and their programs."""

from itertools import islice
from pathlib import Path

import cases3
import pytest
from permutations import listed
from programs3 import PERMUTATIONS

import glsw.device.shader
from glsw.device.shader import root, uniforms_of
from glsw.scoring.scoring import Scoring
from glsw.wings.three.engines import ENGINES3
from glsw.wings.three.engines.gl import Compute3
from glsw.wings.three.scoring import Scoring3

ON_DEVICES3 = sorted(name for name, kind in ENGINES3.items() if kind.capabilities.requires)
ON_DEVICES3.remove("auto")  # its programs are those of `subtable`
HERE = Path(__file__).parent
JUDGE3 = """
import sys
sys.path[:0] = {folders!r}
import cases3, used_memory
used_memory.fill_new_memory()
from glsw.device.device import open_device
print(*cases3.judge_device(open_device(quiet=True), {names!r}))
"""


@pytest.mark.parametrize("implementation", ["zink", "swiftshader"])
def test_engines_elsewhere(run_under, implementation, monkeypatch):
    monkeypatch.setenv("ZINK_INLINE_UNIFORMS", "0")
    code = JUDGE3.format(folders=[str(HERE), str(HERE.parents[1])], names=cases3.FEW)
    engines = run_under(implementation, code).split()
    assert set(engines) == set(ON_DEVICES3)


@pytest.mark.parametrize("name", ON_DEVICES3)
def test_permutations_are_those_of_the_engines(name, device, monkeypatch):
    programs = []
    compute = glsw.device.shader.compute

    def watched_compute(device, name, **defines):
        if name.startswith("three/"):
            programs.append((name, defines))
        program = compute(device, name, **defines)
        return program

    monkeypatch.setattr(glsw.device.shader, "compute", watched_compute)
    for case_name in cases3.FEW:
        case = cases3.CASES[case_name].part(slice(0, 3))
        for configuration in cases3.configurations():
            if configuration[0] == name:
                engine = cases3.build(configuration, case.scoring, device)
                engine.ends(case.triples)
                engine.paths(case.triples)
                list(islice(engine.tables(case.triples), 3))
                next(engine.disjoint(case.triples), None)
    listed(programs, PERMUTATIONS)


@pytest.mark.parametrize("name", ON_DEVICES3)
def test_what_programs_take_from_a_scoring_is_declared_somewhere(name, device):
    files = [file.read_text("ascii") for file in root().rglob("*.*")]
    declared = set(uniforms_of("\n".join(files)))
    for scoring in Scoring3.identity(), Scoring3.sum_of_pairs(Scoring.blast(), gap_gap=1):
        engine = ENGINES3[name](scoring, device)
        assert isinstance(engine, Compute3)
        assert set(engine._uniforms) <= declared
