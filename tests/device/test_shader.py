from __future__ import annotations

import shutil
import signal
import struct
import subprocess

import _moderngl
import moderngl
import numpy as np
import pytest
from cases import standing_in

import glsw.device.shader
from glsw.device.device import DeviceError, DeviceInfo
from glsw.device.egl import EglContext
from glsw.device.shader import ShaderError, assemble, begin, compute, explain, render
from glsw.engines.gl import Programs

VERTEX = """#version 330
void main() {
    gl_Position = vec4(0.0);
}
"""

CORNERS = """#version 330
void main() {
    gl_Position = vec4(2 * (gl_VertexID & 1) - 1, 2 * (gl_VertexID >> 1) - 1, 0, 1);
}
"""


@pytest.fixture
def folder(device, tmp_path, monkeypatch):
    """Return a function that writes a shader file into a folder that takes the place of root."""
    monkeypatch.setattr(glsw.device.shader, "root", lambda: tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "plain.vert").write_text(VERTEX)

    def write(name, text):
        (tmp_path / name).write_text(text)
        return name

    yield write
    # programs of these files must not be found under the same names by the next test
    for key in [key for key in device.programs if (tmp_path / key[0]).exists()]:
        del device.programs[key]


def numbered(source, origins):
    lines = source.splitlines()
    assert len(lines) == len(origins)
    return list(zip(lines, origins, strict=True))


# assembling


def test_root_holds_the_shaders():
    assert (glsw.device.shader.root() / "quad.vert").is_file()


def test_root_prefers_the_package(tmp_path, monkeypatch):
    package = tmp_path / "site" / "glsw"
    package.mkdir(parents=True)
    monkeypatch.setattr(glsw.device.shader, "__file__", str(package / "device" / "shader.py"))
    monkeypatch.setattr(glsw.device.shader, "root", glsw.device.shader.root.__wrapped__)
    with pytest.raises(ShaderError, match="no shader folder: neither"):
        glsw.device.shader.root()
    (tmp_path / "site" / "shaders").mkdir()
    assert glsw.device.shader.root() == tmp_path / "site" / "shaders"
    (package / "shaders").mkdir()
    assert glsw.device.shader.root() == package / "shaders"


def test_every_line_keeps_its_place(folder):
    folder("lib/inner.glsl", "int inner = TILE + AFFINE + BEST + NONE;  // not OTHER\n")
    folder("lib/outer.glsl", '// outer\n#include "lib/inner.glsl"\nint outer;\n')
    folder("a.frag", '#version 330\n# include "lib/outer.glsl" // why\nint a;')
    macros = {"TILE": 4, "AFFINE": True, "BEST": False, "NONE": None, "OTHER": 1, "BES": 1}
    source, origins = assemble("a.frag", macros)
    assert numbered(source, origins) == [
        ("#version 330", "a.frag:1"),
        ("#define TILE 4", "a.frag (#define TILE 4)"),
        ("#define AFFINE 1", "a.frag (#define AFFINE 1)"),
        ("#define BEST 0", "a.frag (#define BEST 0)"),
        ("// outer", "lib/outer.glsl:1"),
        ("int inner = TILE + AFFINE + BEST + NONE;  // not OTHER", "lib/inner.glsl:1"),
        ("int outer;", "lib/outer.glsl:3"),
        ("int a;", "a.frag:3"),
    ]


def test_each_file_once_and_cycles_end(folder):
    folder("lib/x.glsl", '#include "lib/y.glsl"\nint x;')
    folder("lib/y.glsl", '#include "lib/x.glsl"\n#include "a.frag"\nint y;')
    folder("a.frag", '#version 330\n#include "lib/x.glsl"\n#include "lib/y.glsl"\nint a;')
    source, _ = assemble("a.frag")
    assert source == "#version 330\nint y;\nint x;\nint a;\n"


def test_own_folder_comes_first(folder, device, tmp_path):
    folder("lib/x.glsl", "int x;")
    folder("lib/y.glsl", "int y;")
    own = tmp_path / "own"
    (own / "lib").mkdir(parents=True)
    (own / "lib" / "x.glsl").write_text("int own;")
    (own / "a.frag").write_text('#version 330\n#include "lib/x.glsl"\n#include "lib/y.glsl"')
    source, origins = assemble("a.frag", None, own)
    assert source == "#version 330\nint own;\nint y;\n"
    assert origins[1:] == ["lib/x.glsl:1", "lib/y.glsl:1"]
    with pytest.raises(ShaderError, match=r"no shader file a\.frag in "):
        assemble("a.frag")
    (own / "a.frag").write_text("#version 330\nout vec4 pixel;\nvoid main() { pixel = vec4(1); }")
    with pytest.raises(ShaderError, match=r"no shader file a\.frag in "):
        render(device, "plain.vert", "a.frag")
    assert render(device, "plain.vert", "a.frag", own)


def test_version_may_follow_a_comment(folder):
    folder("a.frag", "// a\n#version 330\nint X;")
    assert assemble("a.frag", {"X": 1})[0] == "// a\n#version 330\n#define X 1\nint X;\n"


def test_no_version(folder):
    folder("a.frag", "int a;")
    with pytest.raises(ShaderError, match=r"^a\.frag:1: no #version line$"):
        assemble("a.frag", {"X": 1})


def test_unknown_file_names_who_asked_and_the_nearest(folder):
    folder("lib/recurrence.glsl", "")
    folder("lib/x.glsl", '\n#include "lib/recurence.glsl"')
    folder("a.frag", '#version 330\n#include "lib/x.glsl"')
    with pytest.raises(ShaderError) as caught:
        assemble("a.frag")
    assert str(caught.value).startswith("lib/x.glsl:2: no shader file lib/recurence.glsl in ")
    assert str(caught.value).endswith("the nearest is lib/recurrence.glsl")
    with pytest.raises(ShaderError, match=r"^no shader file b\.frag in .* is a\.frag$"):
        assemble("b.frag")
    with pytest.raises(ShaderError, match=r"^no shader file lib in "):
        assemble("lib")


@pytest.mark.parametrize("wrong", ["#include <lib/x.glsl>", "#include", '#include "lib/x.glsl'])
def test_include_that_cannot_be_understood(folder, wrong):
    folder("a.frag", f"#version 330\n\n{wrong}")
    with pytest.raises(ShaderError, match=r'^a\.frag:3: expected #include "file", not #include'):
        assemble("a.frag")


def test_only_ascii(folder):
    folder("a.frag", "#version 330\n// d\xe9j\xe0 vu")
    with pytest.raises(ShaderError, match=r"^a\.frag:2: only ASCII"):
        assemble("a.frag")


def test_unreadable_file(folder, monkeypatch):
    folder("a.frag", '#version 330\n#include "lib/x.glsl"')
    path_type = type(glsw.device.shader.root())
    whole = path_type.read_text

    def read_text(path, **options):
        if path.name == "x.glsl":
            raise PermissionError(13, "Permission denied")
        return whole(path, **options)

    monkeypatch.setattr(path_type, "read_text", read_text)
    with pytest.raises(ShaderError, match=r"^a\.frag:2: lib/x\.glsl: Permission denied$"):
        assemble("a.frag")


@pytest.mark.parametrize("name", ["tile", "GL_TILE", "A__B", "4K", "A B", "_A", ""])
def test_macro_names(name):
    with pytest.raises(ValueError, match="must be UPPER_CASE"):
        assemble("quad.vert", {name: 1})


@pytest.mark.parametrize("value", ["1\n2", "1\\"])
def test_macro_values(value):
    with pytest.raises(ValueError, match="macro TILE must be one line"):
        assemble("quad.vert", {"TILE": value})


def test_glslang_reads_what_is_assembled():
    if not shutil.which("glslangValidator"):
        pytest.skip("no glslangValidator (Debian: glslang-tools)")
    source, _ = assemble("quad.vert", {"TILE": 4})
    done = subprocess.run(
        ["glslangValidator", "--stdin", "-S", "vert"], input=source, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stdout


# compiling


def failure(device, make, *arguments, **defines):
    with pytest.raises(ShaderError) as caught:
        make(device, *arguments, **defines)
    assert caught.value.__cause__ is None
    device.check("after a failed compilation")
    return str(caught.value)


def test_error_in_an_include(device, folder):
    folder("lib/x.glsl", "// x\nint twice(int v) {\n    return 2 * w;\n}\n")
    folder("a.frag", '#version 330\n\n#include "lib/x.glsl"\nout vec4 c;\nvoid main() {}\n')
    first = failure(device, render, "plain.vert", "a.frag", TILE=4).splitlines()[0]
    assert first.startswith("lib/x.glsl:3: ")
    assert "w" in first
    assert first.endswith(f"(compiling plain.vert + a.frag with TILE=4 on {device.info.name})")


def test_error_after_an_include(device, folder):
    folder("lib/x.glsl", "int x;\n\n\n\n")
    folder("a.frag", '#version 330\n#include "lib/x.glsl"\nout vec4 c;\nvoid main() { c = d; }\n')
    assert failure(device, render, "plain.vert", "a.frag").startswith("a.frag:4: ")


def test_error_in_the_vertex_shader(device, folder):
    folder("a.vert", "#version 330\nvoid main() {\n    gl_Position = nowhere;\n}\n")
    folder("a.frag", "#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0); }\n")
    assert failure(device, render, "a.vert", "a.frag", A=1, B=2).startswith("a.vert:3: ")


def test_error_in_a_macro(device, folder):
    folder("a.frag", "#version 330\nout vec4 c;\nvoid main() {\n    c = vec4(VALUE);\n}\n")
    assert failure(device, render, "plain.vert", "a.frag", VALUE="nowhere").startswith("a.frag:4: ")


def test_error_at_the_end(device, folder):
    folder("a.frag", "#version 330\nout vec4 c;\nvoid main() {\n    c = vec4(1.0);\n")
    # NVIDIA says no line here
    assert failure(device, render, "plain.vert", "a.frag").startswith(("a.frag:4: ", "a.frag: "))


def test_preprocessor_error(device, folder):
    folder("lib/x.glsl", "#ifndef TILE\n#error TILE is not there\n#endif\n")
    folder("a.frag", '#version 330\n#include "lib/x.glsl"\nvoid main() {}\n')
    first = failure(device, render, "plain.vert", "a.frag").splitlines()[0]
    assert first.startswith("lib/x.glsl:2: ")
    assert "TILE is not there" in first


def test_link_error(device, folder):
    folder("a.frag", "#version 330\nout vec4 c;\nvec4 f();\nvoid main() { c = f(); }\n")
    message = failure(device, render, "plain.vert", "a.frag")
    assert f"(linking plain.vert + a.frag on {device.info.name})" in message
    assert "f" in message


def test_programs_are_kept(device, folder):
    folder("a.frag", "#version 330\nout vec4 c;\nvoid main() { c = vec4(TILE); }\n")
    one = render(device, "plain.vert", "a.frag", TILE=1)
    assert isinstance(one, moderngl.Program)
    assert render(device, "plain.vert", "a.frag", TILE=1) is one
    assert render(device, "plain.vert", "a.frag", TILE=True, NONE=None, OTHER=1) is one
    assert render(device, "plain.vert", "a.frag", TILE=2) is not one


def test_draws_with_its_defines(device, folder):
    folder("lib/x.glsl", "vec4 rgba() { return vec4(VALUE) / 255.0; }\n")
    folder(
        "a.frag", '#version 330\n#include "lib/x.glsl"\nout vec4 c;\nvoid main() { c = rgba(); }'
    )
    folder("corners.vert", CORNERS)
    program = render(device, "corners.vert", "a.frag", VALUE="1, 2, 3, 4")
    target = device.ctx.simple_framebuffer((2, 2))
    target.use()
    device.ctx.vertex_array(program, []).render(moderngl.TRIANGLE_STRIP, vertices=4)
    device.check("drawing")
    assert target.read(components=4) == bytes([1, 2, 3, 4] * 4)


DOUBLE = """#version 430
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Values { int values[]; };
#include "lib/x.glsl"
void main() {
    values[gl_GlobalInvocationID.x] = scaled(values[gl_GlobalInvocationID.x]);
}
"""


def test_compute(device, folder):
    if not device.info.compute:
        pytest.skip(f"{device.info.name} has no compute shaders")
    folder("lib/x.glsl", "int scaled(int v) { return FACTOR * v; }\n")
    folder("double.comp", DOUBLE)
    program = compute(device, "double.comp", FACTOR=3)
    assert isinstance(program, moderngl.ComputeShader)
    assert compute(device, "double.comp", FACTOR=3) is program
    values = device.ctx.buffer(bytes([1, 0, 0, 0] * 4))
    values.bind_to_storage_buffer(0)
    program.run(1)
    device.check("running")
    assert values.read() == bytes([3, 0, 0, 0] * 4)


def test_programs_that_a_thread_compiles(device, folder, monkeypatch):
    if not isinstance(device.ctx.mglo._context, EglContext):
        pytest.skip("the context is not of EGL")
    monkeypatch.setattr(device, "begun", {})
    monkeypatch.setattr(device, "compiling", None)
    folder("double.comp", DOUBLE.replace('#include "lib/x.glsl"', "#define scaled(v) FACTOR * v"))
    folder("wrong.comp", DOUBLE)  # which includes an empty file
    folder("lib/x.glsl", "\n")
    begin(standing_in(device, vendor="Mesa"), "double.comp", FACTOR=5)
    assert not device.begun
    for name, factor in (("wrong.comp", 5), ("double.comp", 5), ("double.comp", 5)):
        begin(standing_in(device, vendor="NVIDIA Corporation"), name, FACTOR=factor)
    assert [name for name, _ in device.begun] == ["wrong.comp", "double.comp"]
    values = device.ctx.buffer(bytes([1, 0, 0, 0] * 4))
    values.bind_to_storage_buffer(0)
    for factor in (5, 7):  # of which one was not begun
        compute(device, "double.comp", FACTOR=factor).run(1)
    assert np.frombuffer(values.read(), np.int32).tolist() == [35] * 4
    with pytest.raises(ShaderError, match=r"wrong.comp:6: .*scaled"):
        compute(device, "wrong.comp", FACTOR=5)
    device.compiling.join()
    begin(standing_in(device, vendor="NVIDIA Corporation"), "double.comp", FACTOR=9)
    assert compute(device, "double.comp", FACTOR=9)
    device.compiling.join()
    assert all(each.done.is_set() for each in device.begun.values())


SCALED = """#version 430
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Values { ivec2 value; };
uniform ivec2 factors;
uniform int offset;
void main() { value = factors + offset; }
"""


def test_only_other_values_of_uniforms_are_written(device, folder, monkeypatch):
    if not device.info.compute:
        pytest.skip(f"{device.info.name} has no compute shaders")
    folder("scaled.comp", SCALED)
    program, values = compute(device, "scaled.comp"), device.ctx.buffer(bytes(8))
    values.bind_to_storage_buffer(0)
    write, written = moderngl.ComputeShader.__setitem__, []

    def noted(program, name, value):
        write(program, name, value)
        written.append(name)

    monkeypatch.setattr(moderngl.ComputeShader, "__setitem__", noted)
    assert "offset" in program
    assert "shift" not in program
    for factors, offset in (((0, 0), 0), ((3, 4), 0), ((3, 4), 0), ((3, 4), 5), ((4, 3), 5)):
        program["factors"], program["offset"] = factors, offset
        program.run(1)
        found = np.frombuffer(values.read(), np.int32)
        assert found.tolist() == [factor + offset for factor in factors]
    assert written == ["factors", "offset", "factors", "offset", "factors"]
    with pytest.raises(struct.error):
        program["offset"] = 2**40
    program["offset"] = 5
    with pytest.raises(struct.error):  # not remembered: it was not written
        program["offset"] = 2**40
    with pytest.raises(KeyError):
        program["shift"] = 1
    assert compute(device, "scaled.comp") is program


def test_uniforms_that_a_driver_drops_are_known_from_mistyped_ones(device, folder):
    if not device.info.compute:
        pytest.skip(f"{device.info.name} has no compute shaders")
    unused = "uniform int offset;\nuniform int first, second;\nuniform int third[2];"
    folder("unused.comp", SCALED.replace("uniform int offset;", unused))
    program = compute(device, "unused.comp")
    Programs.set(program, {"offset": 4, "first": 1, "second": 2, "third": (3, 4)})
    assert program.extra["offset"] == 4
    assert "first" not in program
    with pytest.raises(KeyError, match="the program declares no uniform 'ofset'"):
        Programs.set(program, {"offset": 4, "ofset": 5})


def test_compute_error(device, folder):
    if not device.info.compute:
        pytest.skip(f"{device.info.name} has no compute shaders")
    folder("lib/x.glsl", "int scaled(int v) {\n    return FACTOR * v;\n}\n")
    folder("double.comp", DOUBLE)
    message = failure(device, compute, "double.comp")
    assert message.startswith("lib/x.glsl:2: ")
    assert "(compiling double.comp on " in message


def test_compute_needs_43(device, monkeypatch):
    info = DeviceInfo(0, "Old", "ACME", (4, 1), "4.1", False, False, 0, False, {})
    monkeypatch.setattr(device, "info", info)
    with pytest.raises(DeviceError) as caught:
        compute(device, "double.comp")
    assert str(caught.value) == (
        "double.comp is a compute shader and needs OpenGL 4.3 or OpenGL ES 3.1; Old has GL 4.1"
    )


# logs of drivers that are not here

VERTEX_PLACES = [f"a.vert:{line}" for line in range(1, 5)]
PLACES = [
    *("a.frag:1", "a.frag (#define TILE 4)", "lib/x.glsl:1", "lib/x.glsl:2"),
    *("a.frag:3", "a.frag:4"),
]
ORIGINS = {"vertex": VERTEX_PLACES, "fragment": PLACES}


def heading(stage, log):
    return f"GLSL Compiler failed\n\n{stage}\n{'=' * len(stage)}\n{log}\n\n"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("0:4(13): error: `foo' undeclared", "lib/x.glsl:2: error: `foo' undeclared"),
        ("0:4(13): preprocessor error: no", "lib/x.glsl:2: preprocessor error: no"),
        ("0:0(0): error: no main", "a.frag: error: no main"),
        (
            '0(4) : error C1008: undefined variable "foo"',
            'lib/x.glsl:2: error C1008: undefined variable "foo"',
        ),
        (
            '0(5) : error C1038: declaration of "f" conflicts with previous declaration at 0(3)',
            'a.frag:3: error C1038: declaration of "f" conflicts with previous declaration '
            "at lib/x.glsl:1",
        ),
        ("0(70) : error C0000: syntax error", "a.frag:4: error C0000: syntax error"),
        ("(0) : error C0000: unexpected $end", "a.frag: error C0000: unexpected $end"),
        (
            "ERROR: 0:4: 'foo' : undeclared identifier",
            "lib/x.glsl:2: error: 'foo' : undeclared identifier",
        ),
        (
            "ERROR: 0:4: error(#143) Undeclared identifier: foo",
            "lib/x.glsl:2: error: error(#143) Undeclared identifier: foo",
        ),
        ("ERROR: 0:2: '' : no", "a.frag (#define TILE 4): error: '' : no"),
        ("something failed in 2:4", "something failed in 2:4"),
    ],
)
def test_log_formats(log, expected):
    assert explain(heading("fragment_shader", log), ORIGINS, "P") == f"{expected} (compiling P)"


def test_errors_come_before_warnings():
    log = "0(3) : warning C7050: may be uninitialized\n0(6) : error C1503: undefined\n"
    assert explain(heading("fragment_shader", log), ORIGINS, "P").splitlines() == [
        "a.frag:4: error C1503: undefined (compiling P)",
        "lib/x.glsl:1: warning C7050: may be uninitialized",
        "a.frag:4: error C1503: undefined",
    ]


def test_stage_decides_the_file():
    log = "ERROR: 0:2: 'x' : undeclared"
    message = explain(heading("vertex_shader", log), ORIGINS, "P")
    assert message == "a.vert:2: error: 'x' : undeclared (compiling P)"


def test_nvidia_link_log_names_its_stages():
    log = (
        "GLSL Linker failed\n\nProgram\n=======\nVertex info\n-----------\n"
        "0(2) : warning C7050: unset\n\nFragment info\n-------------\n"
        "0(4) : error C3001: no definition of f\n(0) : error C2003: incompatible options\n"
    )
    assert explain(log, ORIGINS, "P").splitlines() == [
        "lib/x.glsl:2: error C3001: no definition of f (linking P)",
        "a.vert:2: warning C7050: unset",
        "lib/x.glsl:2: error C3001: no definition of f",
        "a.frag: error C2003: incompatible options",
    ]


def test_empty_log():
    log = "GLSL Linker failed\n\nProgram\n=======\n\n\n"
    assert explain(log, ORIGINS, "P") == "the driver gives no reason (linking P)"


def test_an_interrupt_waits_until_a_program_is_made(device, folder, monkeypatch):
    """Where moderngl calls Python, it takes any exception for a uniform, and crashes."""
    make = _moderngl.make_uniform

    def interrupted(*words):
        signal.raise_signal(signal.SIGINT)
        return make(*words)

    monkeypatch.setattr(_moderngl, "make_uniform", interrupted)
    text = "#version 330\nuniform float x; out float y; void main() { y = x; }"
    name = folder("bright.frag", text)
    with pytest.raises(KeyboardInterrupt):
        render(device, "plain.vert", name)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
