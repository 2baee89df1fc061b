from __future__ import annotations

import json
import os
import re
import struct
import sys
import tempfile
from pathlib import Path

import moderngl
import numpy as np
import pytest

from glsw.device import program_cache, program_file, shader
from glsw.device.context import read_integer
from glsw.device.shader import ShaderError

# A block, a buffer, and uniforms of every kind that is kept, one of them out of use.
SOURCE = """#version 430
layout(local_size_x = 4, local_size_y = 2) in;
uniform int rows;
uniform uint mask;
uniform float share;
uniform ivec2 pair;
uniform ivec3 three;
uniform int nowhere;
layout(binding = 3) uniform isampler2D signs;
layout(binding = 2) uniform usampler2D codes;
layout(binding = 1) uniform sampler2D weights;
layout(std140, binding = 1) uniform Table { ivec4 table[2]; };
layout(std430, binding = 2) buffer Values { int values[]; };
void main() {
    int k = int(gl_LocalInvocationIndex);
    values[k] = k * rows + int(mask & 6u) + int(share * 8.0) + table[k >> 2][k & 3]
        + 100 * texelFetch(signs, ivec2(0), 0).x + 1000 * int(texelFetch(codes, ivec2(0), 0).x)
        + 10000 * int(texelFetch(weights, ivec2(0), 0).x)
        + pair.x - 2 * pair.y + 100000 * (three.y - three.z);  // three.x is out of use
}
"""
EXPECTED = [
    -100 * 5 + 1000 * 3 + 10000 * 2 + (70 + 2 * 9) + 100000 * (8 - 6) + 3 * k + 2 + 4 + 10 * k
    for k in range(8)
]
# What a process prints that compiles a program of ours: where it came from, and scores.
SCORE = """
from itertools import product
import numpy as np
from glsw.device import program_cache
from glsw.aligner import Aligner
from glsw.wings.three.aligner import Aligner3
from glsw.device.context import read_integer
from glsw.device.device import open_device
from glsw.device.verdicts import RIGHT, Verdicts
from glsw.scoring.scoring import Scoring

Verdicts.get = lambda verdicts, family: RIGHT  # no programs of proofs, which are not repeated
program_cache.MIN_COMPILE_SECONDS = 0
restored = []
restore = program_cache.restore
program_cache.restore = lambda *given: restored.append(restore(*given)) or restored[-1]
device = open_device(quiet=True)
rng = np.random.default_rng(7)
text = lambda length: "".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), length))
letters = "".join(chr(code) for code in range(33, 33 + 70))
wide = Scoring.from_array(np.eye(70, dtype=int) * 5 - 2, letters, 4, 1)
wide_text = lambda length: "".join(rng.choice(list(letters), length))
for engine, mode in product(("diagonal", "scan", "blocked"), ("local", "global")):
    if (engine, mode) == ("scan", "global"):
        continue  # it aligns locally only
    aligner = Aligner(engine=engine, mode=mode)
    print(*aligner.score(text(150), [text(length) for length in (1, 40, 200)]))
    # its matrix is a texture
    aligner = Aligner(scoring=wide, engine=engine, mode=mode)
    print(*aligner.score(wide_text(150), [wide_text(length) for length in (1, 40, 200)]))
for mode in ("local", "global"):
    aligner = Aligner3(engine="subtable", mode=mode)
    found = aligner.align(*(text(length) for length in (30, 41, 52)))
    print(found.score, found)
formats = read_integer(device.ctx, 0x87FE)
print("formats", formats, "programs", len(device.programs), "restored", len(restored))
assert None not in restored
"""


@pytest.fixture
def offered(device):
    """Skip where the driver gives out no binaries."""
    if not device.info.compute:
        pytest.skip(f"{device.info.name} has no compute shaders")
    if not read_integer(device.ctx, 0x87FE):
        pytest.skip(f"{device.info.name} gives out no program binaries")


@pytest.fixture
def always(monkeypatch):
    """Keep programs however fast they compile."""
    monkeypatch.setattr(program_cache, "MIN_COMPILE_SECONDS", 0)


@pytest.fixture
def restored(monkeypatch):
    """Return the list of what the driver made of binaries: programs, and None if refused."""
    programs = []
    whole = program_cache.restore

    def restore(ctx, binary):
        programs.append(whole(ctx, binary))
        return programs[-1]

    monkeypatch.setattr(program_cache, "restore", restore)
    return programs


def run(device, program):
    """Return the values that a program of SOURCE computes."""
    ctx = device.ctx
    program["rows"], program["mask"], program["share"] = 3, 0xFFFFFFFB, 0.5
    program["pair"], program["three"] = (70, -9), (7, 8, 6)
    table = ctx.buffer((10 * np.arange(8, dtype=np.int32)).tobytes())
    values = ctx.buffer(reserve=32)
    signs = ctx.texture((1, 1), 1, np.int32([-5]).tobytes(), dtype="i4")
    codes = ctx.texture((1, 1), 1, np.uint32([3]).tobytes(), dtype="u4")
    weights = ctx.texture((1, 1), 1, np.float32([2]).tobytes(), dtype="f4")
    table.bind_to_uniform_block(1)
    values.bind_to_storage_buffer(2)
    signs.use(3), codes.use(2), weights.use(1)
    program.run(1)
    device.check("running")
    result = np.frombuffer(values.read(), np.int32).tolist()
    for thing in (table, values, signs, codes, weights):
        thing.release()
    return result


def names(folder):
    return sorted(file.name for file in folder.iterdir()) if folder.exists() else []


# with the driver


def test_loaded_program_is_the_compiled_one(device, offered, always, restored, tmp_path):
    cache = tmp_path / "glsw" / "programs"
    compiled = program_cache.compute_shader(device, SOURCE, cache=cache)
    assert not restored
    assert names(cache) == [program_cache.name(device, SOURCE)]
    assert run(device, compiled) == EXPECTED
    kept = program_file.read(cache / program_cache.name(device, SOURCE))
    assert kept.group == (4, 2, 1)
    assert sorted(block[1:] for block in kept.blocks) == [("Table", 1), ("Values", 2)]

    loaded = program_cache.compute_shader(device, SOURCE, cache=cache)
    assert restored == [loaded]
    assert isinstance(loaded, moderngl.ComputeShader)
    uniforms = [key for key in compiled if isinstance(compiled[key], moderngl.Uniform)]
    assert sorted(loaded) == sorted([*uniforms, "StandIn"])
    assert "nowhere" not in loaded
    assert [loaded[key].value for key in ("signs", "codes", "weights", "rows")] == [3, 2, 1, 0]
    assert [loaded[key].value for key in ("pair", "three")] == [(0, 0), (0, 0, 0)]
    assert run(device, loaded) == EXPECTED
    assert run(device, compiled) == EXPECTED


def test_program_without_uniforms(device, offered, always, restored, tmp_path):
    source = (
        "#version 430\nlayout(local_size_x = 1) in;\n"
        "layout(std430, binding = 5) buffer Values { int values[]; };\n"
        "void main() { values[gl_WorkGroupID.x] = 7 + int(gl_WorkGroupID.x); }\n"
    )
    for times in range(3):
        program = program_cache.compute_shader(device, source, cache=tmp_path)
        assert len(restored) == times
        values = device.ctx.buffer(reserve=8)
        values.bind_to_storage_buffer(5)
        program.run(2)
        assert np.frombuffer(values.read(), np.int32).tolist() == [7, 8]
        values.release()


@pytest.mark.parametrize("implementation", ["llvmpipe", "zink"])
def test_engines_score_the_same_in_the_next_process(
    run_under, implementation, tmp_path, monkeypatch
):
    # Mesa would take this variable for its own cache, without which it gives out no binaries.
    monkeypatch.setenv("MESA_SHADER_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    *first, counts = run_under(implementation, SCORE).splitlines()
    *again, counts_again = run_under(implementation, SCORE).splitlines()
    assert first == again
    formats, programs, restored = (int(word) for word in counts.split()[1::2])
    assert restored == 0
    if formats:
        assert len(names(tmp_path / "glsw" / "programs")) == programs > 2
        assert int(counts_again.split()[-1]) == programs
    else:
        assert not names(tmp_path / "glsw")


def test_shader_programs_are_kept(device, offered, always, restored, tmp_path, monkeypatch):
    monkeypatch.setattr(program_file, "folder", lambda: tmp_path / "programs")
    monkeypatch.setattr(shader, "root", lambda: tmp_path)
    monkeypatch.setattr(device, "programs", {})
    (tmp_path / "a.comp").write_text(SOURCE)
    assert run(device, shader.compute(device, "a.comp", TILE=4)) == EXPECTED
    device.programs.clear()
    program = shader.compute(device, "a.comp", TILE=4)
    assert restored == [program]
    assert shader.compute(device, "a.comp", TILE=4) is program
    shader.compute(device, "a.comp", TILE=5)
    assert len(restored) == 1

    (tmp_path / "b.comp").write_text(SOURCE.replace("int(mask", "int(musk"))
    with pytest.raises(ShaderError, match=r"^b\.comp:16: "):
        shader.compute(device, "b.comp")
    assert len(names(tmp_path / "programs")) == 2


# what is kept


def test_fast_programs_are_not_kept(device, offered, tmp_path, monkeypatch):
    monkeypatch.setattr(program_cache, "MIN_COMPILE_SECONDS", 1000)
    assert run(device, program_cache.compute_shader(device, SOURCE, cache=tmp_path)) == EXPECTED
    assert names(tmp_path) == []


def test_nothing_is_kept_without_a_folder(device, offered, always, restored):
    for _ in range(2):
        assert run(device, program_cache.compute_shader(device, SOURCE, cache=None)) == EXPECTED
    assert not restored


def test_nothing_is_kept_without_formats(device, offered, always, tmp_path, monkeypatch):
    monkeypatch.setattr(program_cache, "read_integer", lambda ctx, code: 0)
    assert run(device, program_cache.compute_shader(device, SOURCE, cache=tmp_path)) == EXPECTED
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("declared", "used"),
    [
        ("uniform int x[3];", "x[gl_WorkGroupID.x]"),
        ("uniform ivec2 x[2];", "x[gl_WorkGroupID.x].y"),
        ("uniform ivec4 x;", "x.x + x.w"),
        ("struct S { int a; int b; }; uniform S x;", "x.a + x.b"),
    ],
)
def test_programs_of_other_uniforms_are_not_kept(device, offered, always, tmp_path, declared, used):
    source = (
        f"#version 430\nlayout(local_size_x = 1) in;\n{declared}\n"
        "layout(std430, binding = 0) buffer Values { int values[]; };\n"
        f"void main() {{ values[0] = {used}; }}\n"
    )
    assert isinstance(
        program_cache.compute_shader(device, source, cache=tmp_path), moderngl.ComputeShader
    )
    assert names(tmp_path) == []


def test_all_uniforms_of_engines_can_be_stored():
    kinds = {kind for kind, _ in program_cache._KINDS.values()}
    for file in sorted(shader.root().glob("*.comp")):
        source, _ = shader.assemble(file.name)
        declared = re.findall(r"^(?:layout\(.*\) *)?uniform (\w+) ([^;{]+);", source, re.MULTILINE)
        assert declared or file.name == "compact.comp"
        for kind, name in declared:
            assert kind in kinds, (file.name, name)
            assert "[" not in name, (file.name, name)


def test_names_tell_texts_and_drivers_apart(device):
    info = device.info
    found = {program_cache.name(device, text) for text in ("a", "b")}

    class Other:
        pass

    for field in ("vendor", "name", "version_string"):
        other = Other()
        other.info = Other()
        other.info.__dict__.update(
            vendor=info.vendor, name=info.name, version_string=info.version_string
        )
        setattr(other.info, field, "something else")
        found.add(program_cache.name(other, "a"))
    assert len(found) == 5
    assert program_cache.name(device, "a") in found


# what goes wrong


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"GIF89a",
        lambda content: content[:20],
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: flipped(content, 0),
        lambda content: flipped(content, 30),
        lambda content: flipped(content, 50),
        lambda content: flipped(content, len(content) - 9),
    ],
)
def test_damaged_files_are_replaced(device, offered, always, restored, tmp_path, damage):
    program_cache.compute_shader(device, SOURCE, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    whole = program_file.read(file)
    file.write_bytes(damage(file.read_bytes()))
    assert program_file.read(file) is None
    assert run(device, program_cache.compute_shader(device, SOURCE, cache=tmp_path)) == EXPECTED
    assert not restored
    assert program_file.read(file).uniforms == whole.uniforms


def altered(binary, **values):
    return program_file.Binary(**(binary.__dict__ | values))


@pytest.mark.parametrize(
    "alter",
    [
        lambda binary: altered(binary, form=0xBAD),
        lambda binary: altered(binary, code=binary.code[:100]),
        lambda binary: altered(binary, code=bytes(len(binary.code))),
        lambda binary: altered(binary, group=(4, 4, 4)),
        lambda binary: altered(binary, blocks=(binary.blocks[0]._replace(binding=5),)),
        lambda binary: altered(binary, blocks=(binary.blocks[-1]._replace(name="Others"),)),
        lambda binary: altered(binary, uniforms=binary.uniforms[::-1][1:] + binary.uniforms[:1]),
        lambda binary: altered(
            binary, uniforms=tuple(each._replace(value=9) for each in binary.uniforms)
        ),
        lambda binary: altered(
            binary,
            uniforms=tuple(each._replace(location=40 + each.location) for each in binary.uniforms),
        ),
        lambda binary: altered(
            binary, uniforms=tuple(each._replace(name="_" + each.name) for each in binary.uniforms)
        ),
        lambda binary: altered(
            binary, uniforms=tuple(each._replace(name="if") for each in binary.uniforms)
        ),
    ],
)
def test_binaries_that_do_not_fit_are_replaced(device, offered, always, restored, tmp_path, alter):
    program_cache.compute_shader(device, SOURCE, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    whole = program_file.read(file)
    program_file.write(file, alter(whole))
    assert program_file.read(file) != whole
    assert run(device, program_cache.compute_shader(device, SOURCE, cache=tmp_path)) == EXPECTED
    assert restored == [None]
    assert run(device, program_cache.compute_shader(device, SOURCE, cache=tmp_path)) == EXPECTED
    assert restored[1:] != [None]


def test_driver_that_ignores_the_binary(device, offered, always, restored, tmp_path, monkeypatch):
    program_cache.compute_shader(device, SOURCE, cache=tmp_path)
    whole = program_cache.gl_function

    def function(ctx, symbol, *arguments, **options):
        if symbol == "glProgramBinary":
            return lambda *given: None
        return whole(ctx, symbol, *arguments, **options)

    monkeypatch.setattr(program_cache, "gl_function", function)
    assert run(device, program_cache.compute_shader(device, SOURCE, cache=tmp_path)) == EXPECTED
    assert restored == [None]


@pytest.mark.parametrize("symbol", ["glGetProgramBinary", "glGetProgramiv"])
def test_driver_that_gives_nothing(device, offered, always, tmp_path, monkeypatch, symbol):
    whole = program_cache.gl_function

    def function(ctx, wanted, *arguments, **options):
        return (lambda *given: None) if wanted == symbol else whole(ctx, wanted, *arguments)

    monkeypatch.setattr(program_cache, "gl_function", function)
    assert run(device, program_cache.compute_shader(device, SOURCE, cache=tmp_path)) == EXPECTED
    assert names(tmp_path) == []


def test_errors_of_the_driver_are_not_left_behind(device, offered):
    program = device.ctx.compute_shader(SOURCE)
    binary = program_cache.fetch(device.ctx, program)
    assert program_cache.restore(device.ctx, altered(binary, form=0xBAD)) is None
    device.check("after a refused binary")
    program.release()


# files


BINARY = program_file.Binary(
    form=5,
    group=(4, 2, 1),
    uniforms=(
        program_file.Uniform("rows", 0x1404, 3, 0),
        program_file.Uniform("pair", 0x8B53, 4, (0, 0)),
    ),
    blocks=(program_file.Block(0x92E6, "Values", 2),),
    code=b"code\0\xff" * 9,
)


def test_files_say_it_all(tmp_path):
    program_file.write(tmp_path / "new" / "a", BINARY)
    assert names(tmp_path / "new") == ["a"]
    assert program_file.read(tmp_path / "new" / "a") == BINARY
    program_file.write(tmp_path / "new" / "a", altered(BINARY, uniforms=(), code=b"other"))
    assert program_file.read(tmp_path / "new" / "a") == altered(BINARY, uniforms=(), code=b"other")
    assert program_file.read(tmp_path / "none") is None
    assert program_file.read(tmp_path) is None


def signed(body):
    return program_file._MAGIC + program_file.digest(body) + body


def described(**values):
    """Return a signed file whose description has other values."""
    header = {
        "form": 5,
        "group": [4, 2, 1],
        "uniforms": [["rows", 0x1404, 3, 0], ["pair", 0x8B53, 4, [0, 0]]],
        "blocks": [[0x92E6, "Values", 2]],
    }
    text = json.dumps({k: v for k, v in (header | values).items() if v != "missing"}).encode()
    return signed(struct.pack("<I", len(text)) + text + b"code")


@pytest.mark.parametrize(
    "content",
    [
        signed(b""),
        signed(b"\1\2"),
        signed(struct.pack("<I", 2**32 - 1) + b"{}"),
        signed(struct.pack("<I", 0)),
        signed(struct.pack("<I", 2) + b"[]"),
        signed(struct.pack("<I", 3) + b"\xff{}"),
        signed(struct.pack("<I", 10**5) + b"[" * 10**5),
        *(described(**{key: "missing"}) for key in ("form", "group", "uniforms", "blocks")),
        *(described(form=form) for form in ("5", None, 1.5, True, 2**40, [5])),
        *(described(group=group) for group in ([4, 2], 4, "421", [4, 2, "1"], [[4], 2, 1])),
        *(
            described(uniforms=[each])
            for each in ([], "rows", 1, None, ["rows", 5124, 3], [[]] * 4)
        ),
        described(uniforms=[["rows", 0x1404, 3, "0"]]),
        described(uniforms=[["rows", 0x8B53, 3, [0, "0"]]]),
        described(uniforms=[["rows", 0x8B53, 3, [0, [0]]]]),
        described(uniforms=[["rows; }", 0x1404, 3, 0]]),
        described(uniforms=[["rows", "int", 3, 0]]),
        described(uniforms=[["rows", 0x1404, 2**70, 0]]),
        described(uniforms=[[7, 0x1404, 3, 0]]),
        *(described(blocks=[each]) for each in ([], {}, [0x92E6, "\ud800", 2], ["", "Values", 2])),
        described(blocks=[[0x92E6, "Values", None]]),
    ],
)
def test_signed_files_that_describe_no_program(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(described())
    assert program_file.read(tmp_path / "a") == altered(BINARY, code=b"code")
    (tmp_path / "a").write_bytes(content)
    assert program_file.read(tmp_path / "a") is None


@pytest.mark.parametrize("kind", [0, 0x1406 + 2**16, -1])
def test_signed_files_with_unknown_uniforms(device, offered, tmp_path, kind):
    binary = altered(BINARY, uniforms=(program_file.Uniform("rows", kind, 3, 0),))
    assert program_cache.restore(device.ctx, binary) is None
    device.check("after a refused binary")


def in_its_place(file, kind, tmp_path):
    whole = file.read_bytes()
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        (tmp_path / "elsewhere").write_bytes(whole)
        file.symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        file.mkdir()
    elif kind == "huge":
        file.write_bytes(whole)
        os.truncate(file, program_file.MAX_FOLDER_BYTES + 1)


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "huge"])
def test_only_regular_files_are_read(device, offered, always, restored, tmp_path, kind):
    cache = tmp_path / "programs"
    program_cache.compute_shader(device, SOURCE, cache=cache)
    (file,) = cache.iterdir()
    in_its_place(file, kind, tmp_path)
    assert run(device, program_cache.compute_shader(device, SOURCE, cache=cache)) == EXPECTED
    assert not restored
    assert kind == "folder" or file.is_file()
    assert names(tmp_path) == ["elsewhere"] * (kind == "link") + ["programs"]


def test_files_of_other_users_are_not_read(tmp_path, monkeypatch):
    program_file.write(tmp_path / "a", BINARY)
    whole = os.fstat
    monkeypatch.setattr(
        os, "fstat", lambda handle: os.stat_result((*whole(handle)[:4], 12345, *whole(handle)[5:]))
    )
    assert program_file.read(tmp_path / "a") is None
    monkeypatch.undo()
    assert program_file.read(tmp_path / "a") == BINARY


@pytest.mark.parametrize("mode", [0o777, 0o750, 0o701, 0o1777])
def test_folders_open_to_others_are_not_used(device, offered, always, restored, tmp_path, mode):
    program_cache.compute_shader(device, SOURCE, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    before = file.read_bytes()
    tmp_path.chmod(mode)
    assert program_file.read(file) is None
    assert run(device, program_cache.compute_shader(device, SOURCE, cache=tmp_path)) == EXPECTED
    program_file.write(tmp_path / "b", BINARY)
    assert not restored
    assert names(tmp_path) == [file.name]
    assert file.read_bytes() == before
    tmp_path.chmod(0o700)
    assert program_file.read(file)


def test_folders_of_other_users_are_not_used(tmp_path, monkeypatch):
    program_file.write(tmp_path / "a", BINARY)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert program_file.read(tmp_path / "a") is None
    program_file.write(tmp_path / "b", BINARY)
    assert names(tmp_path) == ["a"]


def test_a_folder_is_made_for_this_user_alone(tmp_path):
    before = os.umask(0)
    try:
        program_file.write(tmp_path / "glsw" / "programs" / "a", BINARY)
    finally:
        os.umask(before)
    assert (tmp_path / "glsw" / "programs").stat().st_mode & 0o777 == 0o700
    assert program_file.read(tmp_path / "glsw" / "programs" / "a") == BINARY


def test_folder_that_cannot_be_written(device, offered, always, tmp_path):
    (tmp_path / "file").write_text("in the way")
    for cache in (tmp_path / "file", tmp_path / "file" / "programs"):
        assert run(device, program_cache.compute_shader(device, SOURCE, cache=cache)) == EXPECTED
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.parametrize("step", ["mkdir", "mkstemp", "fdopen", "replace"])
def test_full_disk(tmp_path, monkeypatch, step):
    def full(*given, **options):
        raise OSError(28, "No space left on device")

    place = {"mkdir": Path, "mkstemp": tempfile}.get(step, os)
    monkeypatch.setattr(place, step, full)
    program_file.write(tmp_path / "programs" / "a", BINARY)
    monkeypatch.undo()
    assert names(tmp_path / "programs") == []


def test_interrupted_writing_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        program_file.write(tmp_path / "a", BINARY)
    assert names(tmp_path) == []


def test_what_was_used_least_recently_goes(tmp_path):
    large = altered(BINARY, code=bytes(1000))
    for hours, each in enumerate("abcd"):
        program_file.write(tmp_path / each, large)
        os.utime(tmp_path / each, (1e9 + 3600 * hours, 1e9 + 3600 * hours))
    size = (tmp_path / "a").stat().st_size
    os.utime(tmp_path / "a")
    program_file.write(tmp_path / "e", large, limit=4 * size)
    assert names(tmp_path) == ["a", "c", "d", "e"]
    program_file.write(tmp_path / "f", large, limit=2 * size + 1)
    assert len(names(tmp_path)) == 2
    assert "f" in names(tmp_path)
    program_file.write(tmp_path / "g", large, limit=size - 1)
    assert "g" not in names(tmp_path)


def test_loading_marks_as_used(device, offered, always, tmp_path):
    program_cache.compute_shader(device, SOURCE, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    os.utime(file, (1e9, 1e9))
    program_cache.compute_shader(device, SOURCE, cache=tmp_path)
    assert file.stat().st_mtime > 1.1e9


def test_folders_of_the_platforms(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert program_file.folder() == tmp_path / "xdg" / "glsw" / "programs"
    for unusable in ("", "not/absolute"):
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        assert program_file.folder() == tmp_path / ".cache" / "glsw" / "programs"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert program_file.folder() == tmp_path / "Library" / "Caches" / "glsw" / "programs"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert program_file.folder() == tmp_path / "local" / "glsw" / "programs"
    monkeypatch.delenv("LOCALAPPDATA")
    assert program_file.folder() == tmp_path / "AppData" / "Local" / "glsw" / "programs"


def test_user_without_a_home(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    assert program_file.folder() is None
