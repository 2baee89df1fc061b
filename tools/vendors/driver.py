"""The compiler of a device: what it makes of a program, and what it tells about that."""

import ctypes
import hashlib
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from glsw.device import shader
from glsw.device.context import gl_function
from glsw.device.device import Device, open_device

Macros: TypeAlias = Mapping[str, Any]

_GL_DEBUG_OUTPUT, _GL_DEBUG_OUTPUT_SYNCHRONOUS, _GL_DONT_CARE = 0x92E0, 0x8242, 0x1100
_SAID = ctypes.CFUNCTYPE(None, *[ctypes.c_uint] * 4, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
_WHERE = re.compile(r" \((compiling|linking) .*")
_FIRST = "#version {}\nlayout(local_size_x = 1) in;\nvoid main() {{}}\n"
_NUMBERS = {
    # radeonsi
    "registers": (r"VGPRS: (\d+)", r"(\d+) gprs", r"gpr: (\d+)", r" (\d+) full"),
    "waves": (r"Max Waves: (\d+)", r"(\d+) waves"),
    "threads": (r"(\d+) threads",),  # of Apple's group of cores
    "bytes": (r"Code Size: (\d+)", r"to (\d+) bytes", r"(\d+) code size", r"bytes: (\d+)"),
    "instructions": (r"shader: (\d+) inst", r"inst: (\d+)"),
    "shared": (r"LDS: (\d+)", r"shared: (\d+)"),
    "spills": (r"(\d+):\d+ spills:fills", r"Spilled VGPRs: (\d+)", r"(\d+) stp"),
    "fills": (r"\d+:(\d+) spills:fills", r"(\d+) ldp"),
    "scratch": (r"Scratch: (\d+)", r"(\d+) scratch", r"local: (\d+)"),
    "width": (r"SIMD(\d+) shader", r"S, W(\d+)\)"),
}
"""Fields of a row, and where their numbers are in the message of some driver."""


class Driver:
    """Compiles programs."""

    def __init__(self) -> None:
        self._compute, self._render = shader.compute, shader.render
        self.messages: list[str] = []
        self._said = _SAID(lambda *said: self.messages.append(said[5].decode(errors="replace")))
        self._listens_to: object = None
        self.listen(open_device(0, quiet=True))

    def listen(self, device: Device) -> None:
        """Let the driver tell what it does in this context, from the second program on."""
        if self._listens_to is device:
            return
        self._listens_to, ctx = device, device.ctx
        for switch in (_GL_DEBUG_OUTPUT, _GL_DEBUG_OUTPUT_SYNCHRONOUS):
            gl_function(ctx, "glEnable", ctypes.c_uint)(switch)
        gl_function(ctx, "glDebugMessageCallback", _SAID, ctypes.c_void_p)(self._said, None)
        kinds = [ctypes.c_uint] * 3, [ctypes.c_int, ctypes.c_void_p, ctypes.c_ubyte]
        control = gl_function(ctx, "glDebugMessageControl", *kinds[0], *kinds[1])
        control(*[_GL_DONT_CARE] * 3, 0, None, 1)
        # The compiler makes its own tables for the first one.
        ctx.compute_shader(_FIRST.format("310 es" if device.info.es else 430))

    def compile(self, device: Device, name: str, macros: Macros) -> tuple[Any, dict[str, Any]]:
        """Compile a program; return it, or the error, and the fields of its row."""
        self.listen(device)
        self.messages.clear()
        row: dict[str, Any] = {"program": name, "macros": shown(macros)}
        with suppress(shader.ShaderError):
            row["text"] = digest(name, macros)
        made: Any
        start = time.process_time()
        try:
            if name.endswith(".frag"):
                made = self._render(device, "quad.vert", name, **macros)
            else:
                made = self._compute(device, name, **macros)
        except Exception as error:
            made = error
            row["error"] = _WHERE.sub("", str(made).partition("\n")[0])
        row["ms"] = round(1000 * (time.process_time() - start), 1)
        return made, row | statistics(self.messages)


def statistics(messages: Iterable[str]) -> dict[str, int]:
    """Return what is told of a program; of several parts, the last compiled is the one that counts.

    Registers are those of a lane: 32-bit ones of AMD, NVIDIA, 16-bit ones of Apple, vectors of four
    of Adreno. ``waves`` are those that a SIMD, or a core, holds at once; ``scratch`` are bytes of
    memory that a lane has for what finds no register.
    """
    found: dict[str, int] = {}
    for message in messages:
        told = {name: _first(forms, message) for name, forms in _NUMBERS.items()}
        found |= {name: value for name, value in told.items() if value is not None}
    return found


def _first(forms: Iterable[str], message: str) -> int | None:
    return next((int(found[1]) for form in forms if (found := re.search(form, message))), None)


def shown(macros: Macros) -> dict[str, Any]:
    """Return the macros of a row: those of the numbers of buffers are always the same."""
    return {
        name: value
        for name, value in sorted(macros.items())
        if value is not None and not name.endswith("_BINDING")
    }


def digest(name: str, macros: Macros) -> str:
    """Return a hash of the code of a program: another one means that a row is of older code."""
    source, _ = shader.assemble(name, shown(macros))
    lines = (line.partition("//")[0].strip() for line in source.splitlines())
    return hashlib.sha256("\n".join(filter(None, lines)).encode()).hexdigest()[:10]


def bindings() -> dict[str, int]:
    """Return the macros of the numbers of all buffers."""
    from glsw.engines import ENGINES
    from glsw.engines.gl import binding_macros
    from glsw.wings.three.engines import ENGINES3

    kinds: list[Any] = [*ENGINES3.values(), *ENGINES.values()]
    return binding_macros(each for kind in kinds for each in getattr(kind, "bindings", ()))
