"""Shader programs from files: includes, defines, compilation, and errors with file and line.

A shader file is plain GLSL with one addition, ``#include "lib/x.glsl"``: the path is relative to
the shader folder, includes may be nested, and each file is included once, so that cycles end.
Includes are textual and not subject to ``#if``. A caller may name a folder of other shaders, which
is searched first.

The assembled program has no ``#line``: drivers disagree on its meaning, and some lose the source
number. Instead, drivers count the lines of one plain text, and the origin of each line is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import moderngl

from glsw.device.current import signals_held
from glsw.device.device import Device, DeviceError
from glsw.device.egl import EglContext

_INCLUDE = re.compile(r"\s*#\s*include\b\s*(.*)")
_QUOTED = re.compile(r'"([^"]+)"\s*(?://.*|/\*.*)?$')
_VERSION = re.compile(r"\s*#\s*version\b")
_UNIFORMS = re.compile(r"uniform \w+ ([^;]+);")
_WORDS = re.compile(r"\w+")
_WORD = re.compile(r"\b[A-Z][A-Z0-9_]*\b")
_MACRO = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")

# Mesa "0:7(13): error: ...", NVIDIA "0(7) : error C1008: ...", the others "ERROR: 0:7: ..."
_LOCATION = re.compile(
    r"^\s*(?:(?P<level>ERROR|WARNING|NOTE):\s*)?"
    r"(?:\d+:(?P<line>\d+)(?:\(\d+\))?|\d*\((?P<nvidia>\d+)\))\s*:\s*"
)
# NVIDIA names a second location inside a message: "... previous declaration at 0(5)".
_MENTION = re.compile(r"\b\d+\((\d+)\)")
# moderngl's heading of a compile log, NVIDIA's of each part of a link log
_STAGE = re.compile(r"(vertex|fragment|compute)(?:_shader| info)", re.IGNORECASE)
_RULE = re.compile(r"[=-]+")

_VENDOR = "NVIDIA"

# The OpenGL ES in place of each #version, and the precision that OpenGL always has. Compute shaders
# have it too, but for samplers, and nothing may come before their extensions.
_FOR_ES = {
    "430": ["#version 310 es"],
    "330": [
        "#version 300 es",
        "precision highp float; precision highp int;"
        " precision highp isampler2D; precision highp usampler2D;",
    ],
}

Program = TypeVar("Program", moderngl.ComputeShader, moderngl.Program)


class ShaderError(Exception):
    """A shader file is missing or invalid, or a program does not compile or link.

    The first line of the message names file and line if they are known; the full log of the driver
    follows, with file and line instead of its line numbers.
    """


class ComputeProgram(moderngl.ComputeShader):
    """A compute program that remembers its uniforms, and only writes those that change.

    Attributes
    ----------
    extra : dict
        The last values of all uniforms that its text declares, None at first. Drivers drop some.
    """

    extra: dict[str, object]

    @classmethod
    def of(cls, made: moderngl.ComputeShader, text: str) -> ComputeProgram:
        """Return the same object as one of this class: moderngl makes its objects itself."""
        made.__class__, made.extra = cls, dict.fromkeys(uniforms_of(text))
        assert isinstance(made, cls)
        return made

    def __contains__(self, name: str) -> bool:
        return self.get(name, None) is not None

    def __setitem__(self, name: str, value: Any) -> None:
        if self.extra.get(name) != value:
            super().__setitem__(name, value)
            self.extra[name] = value


def uniforms_of(text: str) -> list[str]:
    """Return the names of the uniforms that a shader declares, under any condition.

    >>> uniforms_of("uniform int row, strip;  // of a query")
    ['row', 'strip']
    """
    return _WORDS.findall(" ".join(_UNIFORMS.findall(text)))


class _Text(NamedTuple):
    """A shader with its includes, as text before and behind its macros.

    Parameters
    ----------
    head, tail : str
    after : int
        The lines of the head.
    origins : list of str
        Of all lines.
    words : set of str
        All that may be macros.
    """

    head: str
    tail: str
    after: int
    origins: list[str]
    words: set[str]

    @classmethod
    def of(cls, name: str, folder: Path | None) -> _Text:
        """Read a shader; errors as of `assemble`."""
        lines, origins = map(list, zip(*_expanded(name, "", {name}, folder), strict=True))
        after = next((k for k, line in enumerate(lines, start=1) if _VERSION.match(line)), 0)
        if not after:
            raise ShaderError(f"{name}:1: no #version line")
        head, tail = ("\n".join(some) for some in (lines[:after], [*lines[after:], ""]))
        return cls(head, tail, after, origins, _words(lines))


@cache
def _in_root(name: str, _: Path) -> _Text:
    return _Text.of(name, None)


@cache
def root() -> Path:
    """Return the folder of the shaders: in the package, or next to it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    candidates = (package / "shaders", package.parent / "shaders")
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise ShaderError(f"no shader folder: neither {candidates[0]} nor {candidates[1]} is there")


def assemble(
    name: str,
    defines: Mapping[str, object] | None = None,
    folder: Path | None = None,
    *,
    es: bool = False,
) -> tuple[str, list[str]]:
    """Return the text of a shader with its includes and defines, and the origins of its lines.

    Parameters
    ----------
    name : str
        File of the shader, relative to `root`.
    defines : mapping, optional
        Macros by their UPPER_CASE names; those that the text mentions are put after ``#version``.
        True and False become 1 and 0; None leaves the macro undefined.
    folder : Path, optional
        Searched before `root`, for the shader and for what it includes.
    es : bool, optional
        For OpenGL ES 3.1.

    Returns
    -------
    source : str
    origins : list of str
        ``file:line`` of every line of ``source``.

    Raises
    ------
    ShaderError
        A file cannot be read, an include is invalid, or there is no ``#version``.
    ValueError
        The name or value of a macro is invalid in GLSL.

    Examples
    --------
    >>> source, origins = assemble("wavefront.comp", {"LINEAR": True, "ROWS": 8})
    >>> source.splitlines()[:2]
    ['#version 430', '#define LINEAR 1']
    >>> origins[:3]
    ['wavefront.comp:1', 'wavefront.comp (#define LINEAR 1)', 'wavefront.comp:2']
    """
    rendered = _rendered(defines or {})
    text = _in_root(name, root()) if folder is None else _Text.of(name, folder)
    macros = [f"#define {key} {value}".rstrip() for key, value in rendered if key in text.words]
    own = [f"{name} ({macro})" for macro in macros]
    first, rest = text.origins[: text.after], text.origins[text.after :]
    *head, version = text.head.splitlines()
    for_es = _FOR_ES[version.split()[1]] if es else [version]
    lines = [*head, *for_es, *macros, text.tail]
    return "\n".join(lines), [*first, *first[-1:] * (len(for_es) - 1), *own, *rest]


def compute(
    device: Device, name: str, folder: Path | None = None, /, **defines: object
) -> moderngl.ComputeShader:
    """Return the compute program of a shader file, compiled once per device and text.

    Macros that the text does not mention make no other program.

    Files are looked for in ``folder``, if there is one, and in `root`.

    Raises
    ------
    ShaderError
        It cannot be assembled, compiled or linked.
    DeviceError
        The device has no compute shaders.
    """
    if not device.info.compute:
        raise DeviceError(
            f"{name} is a compute shader and needs OpenGL 4.3 or OpenGL ES 3.1; "
            f"{device.info.name} has {device.info.gl}"
        )
    return _program(device, {"compute": name}, defines, folder, moderngl.ComputeShader)


def begin(device: Device, name: str, folder: Path | None = None, /, **defines: object) -> None:
    """Have a thread compile a program that `compute` will ask for, see `glsw.device.compiling`.

    Only with NVIDIA's driver on Linux; elsewhere nothing happens.
    """
    context = device.ctx.mglo._context
    if _VENDOR not in device.info.vendor or device.info.es or not isinstance(context, EglContext):
        return
    from glsw.device.compiling import Begun, Compiling

    source, _ = assemble(name, defines, folder)
    key = (name, source)
    if key not in device.programs and key not in device.begun:
        device.begun[key] = program = Begun(source)
        if device.compiling is None or not device.compiling.takes(program):
            device.compiling = Compiling(device.info.index, program)


def render(
    device: Device, vertex: str, fragment: str, folder: Path | None = None, /, **defines: object
) -> moderngl.Program:
    """Return the program of a vertex and a fragment shader, both with the same defines.

    It is compiled once per device and text; files are found as in `compute`.

    Raises
    ------
    ShaderError
        It cannot be assembled, compiled or linked.
    """
    stages = {"vertex": vertex, "fragment": fragment}
    return _program(device, stages, defines, folder, moderngl.Program)


def _program(
    device: Device,
    stages: dict[str, str],
    defines: Mapping[str, object],
    folder: Path | None,
    kind: type[Program],
) -> Program:
    es = device.info.es or bool(defines.get("MEDIUMP"))  # elsewhere this has no effect
    assembled = {stage: assemble(name, defines, folder, es=es) for stage, name in stages.items()}
    sources: dict[str, str] = {stage: source for stage, (source, _) in assembled.items()}
    key = (*stages.values(), *sources.values())
    device.activate()  # also for a program that is there, whose uniforms are written next
    cached = device.programs.get(key)
    if isinstance(cached, kind):
        return cached

    origins = {stage: places for stage, (_, places) in assembled.items()}
    if device.compiling and key in device.begun:
        device.compiling.wait_for(device.begun[key])
    try:
        with signals_held():
            if kind is moderngl.ComputeShader:
                text = sources["compute"]
                made: object = ComputeProgram.of(device.ctx.compute_shader(text), text)
            else:
                made = device.ctx.program(
                    vertex_shader=sources["vertex"], fragment_shader=sources["fragment"]
                )
    except moderngl.Error as error:
        device.ctx.clear_errors()
        what = " + ".join(stages.values())
        if macros := sorted(_rendered(defines)):
            what += " with " + ", ".join(f"{key}={value}" for key, value in macros)
        raise ShaderError(explain(str(error), origins, f"{what} on {device.info.name}")) from None
    device.check(f"compiling {' + '.join(stages.values())}")
    assert isinstance(made, kind)
    device.programs[key] = made
    return made


def explain(log: str, origins: Mapping[str, list[str]], what: str) -> str:
    r"""Return the log of a driver with the files and lines of shaders.

    Parameters
    ----------
    log : str
        The report of moderngl: a heading, the name of the stage, the log of the driver.
    origins : mapping
        Per stage (vertex, fragment or compute), the origins from `assemble`.
    what : str
        The program and the device, for the end of the first line.

    Returns
    -------
    str
        The first error, or the first line, then the log.

    Examples
    --------
    >>> log = "GLSL Compiler failed\n\ncompute_shader\n======\n0(2) : error C1008: no x\n"
    >>> print(explain(log, {"compute": ["a.comp:1", "lib/b.glsl:1"]}, "a.comp on GPU"))
    lib/b.glsl:1: error C1008: no x (compiling a.comp on GPU)
    """
    action = "linking" if "Linker" in log.split("\n", 1)[0] else "compiling"
    places = next(iter(origins.values()))
    said = []
    for line in log.splitlines()[1:]:
        heading = _STAGE.fullmatch(line.strip())
        if heading and heading[1].lower() in origins:
            places = origins[heading[1].lower()]
        elif line.strip() and not heading and not _RULE.fullmatch(line.strip()):
            said.append(_located(line.rstrip(), places))
    if said[:1] == ["Program"]:  # moderngl's heading of a link log
        del said[0]
    if not said:
        said = ["the driver gives no reason"]
    first = next((line for line in said if "error" in line.lower()), said[0])
    others = said if len(said) > 1 else []
    return "\n".join([f"{first} ({action} {what})", *others])


def _located(line: str, origins: list[str]) -> str:
    """Replace the location at the start of a log line, and NVIDIA's inside it, by its origin."""

    def origin(number: int) -> str:
        # Line 0 is the whole program; a missing brace may be reported one line past the end.
        return origins[min(number, len(origins)) - 1] if number > 0 else origins[0].split(":")[0]

    found = _LOCATION.match(line)
    if not found:
        return line
    message = line[found.end() :]
    if found["nvidia"]:
        message = _MENTION.sub(lambda mention: origin(int(mention[1])), message)
    place = origin(int(found["line"] or found["nvidia"]))
    level = f"{found['level'].lower()}: " if found["level"] else ""
    return f"{place}: {level}{message}"


def _words(lines: Iterable[str]) -> set[str]:
    """Return the words of a text that may be macros, without those of comments."""
    return set(_WORD.findall("\n".join(line.partition("//")[0] for line in lines)))


def _rendered(defines: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return macros and their values as GLSL text, without values of None."""
    rendered = []
    for key, value in defines.items():
        if not _MACRO.fullmatch(key) or key.startswith("GL_"):
            raise ValueError(f"macro {key!r} must be UPPER_CASE, without GL_ or double underscores")
        if value is None:
            continue
        text = str(int(value)) if isinstance(value, bool) else str(value)
        if "\n" in text or text.endswith("\\"):
            raise ValueError(f"macro {key} must be one line, not {text!r}")
        rendered.append((key, text))
    return rendered


def _expanded(
    name: str, asked_at: str, seen: set[str], folder: Path | None
) -> Iterator[tuple[str, str]]:
    """Yield each line of a file and of its includes, with its ``file:line``."""
    for number, line in enumerate(_read(name, asked_at, folder).splitlines(), start=1):
        origin = f"{name}:{number}"
        if "#" not in line or not (include := _INCLUDE.match(line)):
            yield line, origin
            continue
        quoted = _QUOTED.match(include[1])
        if not quoted:
            raise ShaderError(f'{origin}: expected #include "file", not {line.strip()}')
        if quoted[1] not in seen:
            seen.add(quoted[1])
            yield from _expanded(quoted[1], f"{origin}: ", seen, folder)


def _read(name: str, asked_at: str, own: Path | None) -> str:
    folder = own if own is not None and (own / name).exists() else root()
    try:
        return _kept(folder / name) if folder != own else _text(folder / name)
    except (FileNotFoundError, IsADirectoryError):
        there = [file.relative_to(folder).as_posix() for file in folder.rglob("*.*")]
        import difflib

        nearest = difflib.get_close_matches(name, there, n=1, cutoff=0)
        hint = f"; the nearest is {nearest[0]}" if nearest else ""
        raise ShaderError(f"{asked_at}no shader file {name} in {folder}{hint}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ShaderError(f"{name}:{line}: only ASCII is portable GLSL") from None
    except OSError as error:
        raise ShaderError(f"{asked_at}{name}: {error.strerror or error}") from None


def _text(path: Path) -> str:
    return path.read_text(encoding="ascii")


_kept = cache(_text)
