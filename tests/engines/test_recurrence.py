"""Both forms of the recurrence in GLSL give the tables of its definition."""

from pathlib import Path

import numpy as np
import pytest

from glsw.device import shader
from glsw.engines import ENGINES
from glsw.engines.gl import Programs, recurrence_of
from glsw.engines.reference import fill
from glsw.scoring.scoring import Scoring

ROWS, COLUMNS = 12, 17
NUMBERS = {"int32": 0, "f32": 2}


@pytest.mark.parametrize("gaps", [(5, 1), (3, 3), (2, 0)])
@pytest.mark.parametrize("number", NUMBERS)
def test_forms_of_the_recurrence_are_equal(device, number, gaps):
    if not device.info.compute:
        pytest.skip("the column form is for compute shaders")
    scoring = Scoring.match_mismatch(4, -3, *gaps)
    macros, uniforms = recurrence_of(scoring)
    defines = {"NUMBER": NUMBERS[number], "ROWS": ROWS, "COLUMNS": COLUMNS, **macros}
    folder = Path(__file__).parent / "shaders"
    program = shader.compute(device, "tables.comp", folder, **defines)
    for name in uniforms.keys() & set(program):
        program[name] = uniforms[name]
    rng = np.random.default_rng(sum(gaps))
    for letters in (2, 4):
        query, target = (rng.integers(0, letters, n).astype(np.uint8) for n in (ROWS, COLUMNS))
        scores = scoring.matrix[query][:, target].astype(np.int32)
        buffers = [device.ctx.buffer(scores.tobytes()) for _ in range(3)]
        for binding, buffer in enumerate(buffers):
            buffer.bind_to_storage_buffer(binding)
        program.run()
        device.ctx.memory_barrier()
        expected = fill(query, target, scoring)[0][1:, 1:]
        for buffer in buffers[1:]:
            found = np.frombuffer(buffer.read(), np.int32).reshape(expected.shape)
            np.testing.assert_array_equal(found, expected)


PAIRS = Scoring.blast(), Scoring.match_mismatch(2, -1, 5, 1).in_mode("semiglobal")
KINDS = [kind for kind in ENGINES.values() if issubclass(kind, Programs)]


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_what_programs_take_from_a_scoring_is_declared_somewhere(device, kind):
    if not device.info.compute:
        pytest.skip("the engine is one of compute shaders")
    files = [file.read_text("ascii") for file in shader.root().rglob("*.*")]
    declared = set(shader.uniforms_of("\n".join(files)))
    for scoring in PAIRS:
        if not kind.capabilities.lacking(scoring):
            assert set(kind(scoring, device)._uniforms) <= declared
