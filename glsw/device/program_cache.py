"""A cache of compiled compute programs on disk, for drivers that return program binaries.

A driver may need seconds to compile a kernel with unrolled loops. A program that was slow to
compile is stored as the binary of the driver in the user's cache folder, under a hash of its text
and of the name and version of the driver; later runs load it. The driver rejects binaries of
another version or card. If anything fails, be it the folder, the file or the driver, the program is
compiled from its text. `glsw.device.program_file` says which files are read.

moderngl makes programs only from text, and then reads their uniforms. So the binary is loaded into
a small program that declares the same uniforms at the same locations. This supports uniforms that
are numbers, vectors of two or three integers, or 2D textures; programs with others are not stored.
"""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import suppress
from pathlib import Path

import moderngl

from glsw.device.context import gl_function, read_integer
from glsw.device.device import Device
from glsw.device.program_file import (
    FORMAT,
    Binary,
    Block,
    Uniform,
    digest,
    is_private,
    read,
    write,
)

MIN_COMPILE_SECONDS = 0.1
"""Compile time from which a program is stored."""

_GL_PROGRAM_BINARY_FORMATS = 0x87FE
_GL_PROGRAM_BINARY_LENGTH = 0x8741
_GL_LINK_STATUS = 0x8B82
_GL_COMPUTE_WORK_GROUP_SIZE = 0x8267
_GL_UNIFORM_BLOCK = 0x92E2
_GL_SHADER_STORAGE_BLOCK = 0x92E6
_GL_BUFFER_BINDING = 0x9302
_GL_INVALID_INDEX = 0xFFFFFFFF

# Per GL type the declaration of a uniform, and an expression that keeps it in the program.
_KINDS = {
    0x1404: ("int", "{}"),
    0x1405: ("uint", "int({})"),
    0x1406: ("float", "int({})"),
    0x8B53: ("ivec2", "{}.x"),
    0x8B54: ("ivec3", "{}.x"),
    0x8B5E: ("sampler2D", "int(texelFetch({}, ivec2(0), 0).x)"),
    0x8DCA: ("isampler2D", "texelFetch({}, ivec2(0), 0).x"),
    0x8DD2: ("usampler2D", "int(texelFetch({}, ivec2(0), 0).x)"),
}

_BLOCKS = {
    _GL_UNIFORM_BLOCK: moderngl.UniformBlock,
    _GL_SHADER_STORAGE_BLOCK: moderngl.StorageBlock,
}


def compute_shader(device: Device, source: str, *, cache: Path | None) -> moderngl.ComputeShader:
    """Return the program of a compute shader, loaded from the cache or compiled.

    Parameters
    ----------
    device : Device
        The current one.
    source : str
    cache : Path or None
        Folder of the binaries, created when needed; None disables the cache, and so does a folder
        that other users can open.

    Raises
    ------
    moderngl.Error
        It does not compile or link.
    """
    usable = cache is not None and is_private(cache)
    if not (cache and usable and read_integer(device.ctx, _GL_PROGRAM_BINARY_FORMATS)):
        return device.ctx.compute_shader(source)

    file = cache / name(device, source)
    program = _load(device.ctx, file)
    if program is not None:
        return program
    start = time.perf_counter()
    program = device.ctx.compute_shader(source)
    if time.perf_counter() - start > MIN_COMPILE_SECONDS:
        binary = fetch(device.ctx, program)
        if binary is not None:
            write(file, binary)
    return program


def name(device: Device, source: str) -> str:
    """Return the file name of a program, a hash of its text and its driver."""
    info = device.info
    parts = (str(FORMAT), info.vendor, info.name, info.version_string, source)
    return digest("\0".join(parts).encode()).hex()


def fetch(ctx: moderngl.Context, program: moderngl.ComputeShader) -> Binary | None:
    """Return the binary of a program just compiled; None if driver or uniforms do not allow it."""
    uniforms = _uniforms(program)
    if uniforms is None:
        return None
    size = _parameter(ctx, program, _GL_PROGRAM_BINARY_LENGTH)
    if size <= 0:
        return None
    code = ctypes.create_string_buffer(size)
    length, form = ctypes.c_int32(), ctypes.c_uint32()
    get = gl_function(
        ctx,
        "glGetProgramBinary",
        *(ctypes.c_uint32, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p),
    )
    get(program.glo, size, ctypes.byref(length), ctypes.byref(form), code)
    if ctx.error != "GL_NO_ERROR" or not 0 < length.value <= size:
        ctx.clear_errors()
        return None
    group = _parameters(ctx, program, _GL_COMPUTE_WORK_GROUP_SIZE)
    blocks = tuple(
        Block(interface, key, _binding(ctx, program, interface, key))
        for key in program
        for interface, kind in _BLOCKS.items()
        if isinstance(program[key], kind)
    )
    return Binary(form.value, group, uniforms, blocks, code.raw[: length.value])


def restore(ctx: moderngl.Context, binary: Binary) -> moderngl.ComputeShader | None:
    """Return the program of a binary; None if the driver does not restore it unchanged."""
    try:
        program = ctx.compute_shader(_stand_in(binary.uniforms))
    except (moderngl.Error, KeyError):  # another driver's uniforms, or none that there are
        ctx.clear_errors()
        return None
    load = gl_function(
        ctx,
        "glProgramBinary",
        *(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_int32),
    )
    load(program.glo, binary.form, binary.code, len(binary.code))
    taken = (
        ctx.error == "GL_NO_ERROR"
        and _parameter(ctx, program, _GL_LINK_STATUS) == 1
        and _parameters(ctx, program, _GL_COMPUTE_WORK_GROUP_SIZE) == binary.group
        and all(_location(ctx, program, uniform) == uniform.location for uniform in binary.uniforms)
        and sorted(_uniforms(program) or ()) == sorted(binary.uniforms)
        and all(
            _binding(ctx, program, block.interface, block.name) == block.binding
            for block in binary.blocks
        )
    )
    if not taken:
        ctx.clear_errors()
        program.release()
        return None
    return program


def _load(ctx: moderngl.Context, file: Path) -> moderngl.ComputeShader | None:
    """Return the program of a file and mark it as used; delete a file that does not load."""
    binary = read(file)
    program = None if binary is None else restore(ctx, binary)
    with suppress(OSError):
        if program is None:
            file.unlink(missing_ok=True)
        else:
            os.utime(file)
    return program


def _uniforms(program: moderngl.ComputeShader) -> tuple[Uniform, ...] | None:
    """Return the uniforms of a program with their values; None if some cannot be stored."""
    found = []
    for key in program:
        member = program[key]
        if not isinstance(member, moderngl.Uniform):
            continue  # a block, which the binary binds
        kind = member.mglo.gl_type
        if kind not in _KINDS or member.array_length != 1 or not key.isidentifier():
            return None
        found.append(Uniform(key, kind, member.location, member.value))
    return tuple(found)


def _stand_in(uniforms: tuple[Uniform, ...]) -> str:
    """Return a small shader with the same uniforms at the same locations.

    Examples
    --------
    >>> print(_stand_in((Uniform("rows", 0x1404, 3, 0),)))
    #version 430
    layout(local_size_x = 1) in;
    layout(std430, binding = 0) buffer StandIn { int stand_in[]; };
    layout(location = 3) uniform int rows;
    void main() {
        stand_in[0] = 0;
        stand_in[0] += rows;
    }
    """
    lines = [
        "#version 430",
        "layout(local_size_x = 1) in;",
        "layout(std430, binding = 0) buffer StandIn { int stand_in[]; };",
    ]
    for uniform in uniforms:
        kind, _ = _KINDS[uniform.kind]
        lines.append(f"layout(location = {uniform.location}) uniform {kind} {uniform.name};")
    lines += ["void main() {", "    stand_in[0] = 0;"]
    for uniform in uniforms:
        _, used = _KINDS[uniform.kind]
        lines.append(f"    stand_in[0] += {used.format(uniform.name)};")
    return "\n".join([*lines, "}"])


def _location(ctx: moderngl.Context, program: moderngl.ComputeShader, uniform: Uniform) -> int:
    get = gl_function(
        ctx, "glGetUniformLocation", ctypes.c_uint32, ctypes.c_char_p, result=ctypes.c_int32
    )
    return int(get(program.glo, uniform.name.encode()))


def _binding(
    ctx: moderngl.Context, program: moderngl.ComputeShader, interface: int, block: str
) -> int:
    """Return the binding of a block; -1 if the program has none of that name."""
    find = gl_function(
        ctx,
        "glGetProgramResourceIndex",
        *(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_char_p),
        result=ctypes.c_uint32,
    )
    index = find(program.glo, interface, block.encode())
    if index == _GL_INVALID_INDEX:
        return -1
    asked, binding = ctypes.c_uint32(_GL_BUFFER_BINDING), ctypes.c_int32(-1)
    get = gl_function(
        ctx,
        "glGetProgramResourceiv",
        *(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32),
        *(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p),
    )
    get(program.glo, interface, index, 1, ctypes.byref(asked), 1, None, ctypes.byref(binding))
    return binding.value


def _parameter(ctx: moderngl.Context, program: moderngl.ComputeShader, code: int) -> int:
    return _parameters(ctx, program, code)[0]


def _parameters(
    ctx: moderngl.Context, program: moderngl.ComputeShader, code: int
) -> tuple[int, ...]:
    """Read up to three integers of a program, 0 where there are fewer."""
    values = (ctypes.c_int32 * 3)()
    get = gl_function(ctx, "glGetProgramiv", ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)
    get(program.glo, code, values)
    return tuple(values)
