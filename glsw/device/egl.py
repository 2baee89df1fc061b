"""EGL: its devices, and contexts on them, which can be opened in advance.

A driver takes tenths of a second for the first context of a process. The calls here are made by
ctypes, which lets other threads run Python meanwhile: `prepare` opens contexts while another thread
imports modules.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from glsw.device.current import note_use_of_gl, uses_gl

#: Versions to request, best first. NVIDIA gives exactly the version requested, Mesa its highest.
VERSIONS = (460, 450, 430, 410, 330)
_COMPUTE, _ES = 430, 310  # OpenGL with compute shaders, and the OpenGL ES that has them

# moderngl reads the same variables.
_OTHER_LIBGL = os.environ.get("GLCONTEXT_LINUX_LIBGL")
LIBGL = (_OTHER_LIBGL,) if _OTHER_LIBGL else ("libGL.so.1", "libOpenGL.so.0", "libGLESv2.so.2")
LIBEGL = os.environ.get("GLCONTEXT_LINUX_LIBEGL") or "libEGL.so.1"
SOFTWARE = "EGL_MESA_device_software"
"""The extension of a device that is a software renderer."""

_EXTENSIONS = 0x3055
_DRM_DEVICE_FILE = 0x3233
_PLATFORM_DEVICE, _LISTS_DEVICES = 0x313F, "eglQueryDevicesEXT"
_DEFAULT = 0  # stands for the handle of the only device where EGL lists none
_NONE = 0x3038
_COMPUTE_SHADER, _LINK_STATUS = 0x91B9, 0x8B82
_THREADS = 8  # of the driver
_EMPTY = "layout(local_size_x = 1) in;\nvoid main() {}\n"
_DESKTOP_API, _ES_API = 0x30A2, 0x30A0
# a pbuffer surface, 8 bits of blue, green, red and depth, and the bit of each interface
_CONFIG = (0x3033, 1, 0x3022, 8, 0x3023, 8, 0x3024, 8, 0x3025, 8, 0x3040)
_DESKTOP_BIT, _ES_BIT = 8, 0x40
_RESET_STRATEGY, _LOSE_CONTEXT = 0x3138, 0x31BF
_MAJOR_VERSION, _MINOR_VERSION, _PROFILE_MASK, _CORE_PROFILE = 0x3098, 0x30FB, 0x30FD, 1

_DRM, _PCI_NUMBERS = Path("/sys/class/drm"), ("vendor", "device")
_READ_WRITE = os.R_OK | os.W_OK
_Handle, _Int, _UInt = ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint32
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    _LISTS_DEVICES: (_UInt, _Int, _Handle, _Handle),
    "eglQueryDeviceStringEXT": (ctypes.c_char_p, _Handle, _Int),
    "eglGetPlatformDisplayEXT": (_Handle, _UInt, _Handle, _Handle),
    "eglGetDisplay": (_Handle, _Handle),
    "eglGetError": (_Int,),
    "eglInitialize": (_UInt, _Handle, _Handle, _Handle),
    "eglQueryString": (ctypes.c_char_p, _Handle, _Int),
    "eglChooseConfig": (_UInt, _Handle, _Handle, _Handle, _Int, _Handle),
    "eglBindAPI": (_UInt, _UInt),
    "eglCreateContext": (_Handle, _Handle, _Handle, _Handle, _Handle),
    "eglMakeCurrent": (_UInt, _Handle, _Handle, _Handle, _Handle),
    "eglDestroyContext": (_UInt, _Handle, _Handle),
}


# moderngl calls these when it draws and reads pixels. OpenGL ES 3.1 lacks them; what they would set
# is the default anyway.
_NOT_IN_ES = ("glClampColor", "glColorMaski")
_no_operation = ctypes.CFUNCTYPE(None)(lambda: None)


class EglError(Exception):
    """EGL opens no such context."""


@dataclass(frozen=True)
class EglDevice:
    """A device in EGL's list, known without a context.

    Attributes
    ----------
    extensions : tuple of str
        `SOFTWARE` marks Mesa's software renderer.
    path : str
        Its DRM device file, "" if it has none.
    """

    extensions: tuple[str, ...]
    path: str = ""

    @property
    def software(self) -> bool:
        """Whether it is known to be a software renderer."""
        return SOFTWARE in self.extensions

    @property
    def model(self) -> str:
        """What tells the models of GPUs apart: the numbers of the PCI bus, if there are any."""
        with suppress(OSError):
            files = ((_DRM / Path(self.path).name / "device" / name) for name in _PCI_NUMBERS)
            return " ".join(file.read_text(encoding="ascii").strip() for file in files)
        return " ".join(self.extensions)

    @property
    def forbidden(self) -> str:
        """The device file that this user may not open, "" if there is none."""
        nodes = [self.path] if self.path else []
        beside = _DRM / Path(self.path).name / "device" / "drm"
        nodes = [f"/dev/dri/{node.name}" for node in sorted(beside.glob("renderD*"))] or nodes
        no = (node for node in nodes if os.path.exists(node) and not os.access(node, _READ_WRITE))
        return next(no, "")


@cache
def _loaded(library: str) -> ctypes.CDLL:
    """Return EGL with the types of its functions; OSError without the library or one of them.

    NVIDIA's driver keeps compiled programs on disk, but those of root only if it is told so.
    """
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        os.environ.setdefault("__GL_SHADER_DISK_CACHE", "1")
    egl = ctypes.CDLL(library)
    egl.eglGetProcAddress.restype, egl.eglGetProcAddress.argtypes = _Handle, [ctypes.c_char_p]
    for name, (result, *arguments) in _FUNCTIONS.items():
        address = egl.eglGetProcAddress(name.encode())
        if not address and name != _LISTS_DEVICES:
            raise OSError(f"{library} has no {name}")
        setattr(egl, name, address and ctypes.CFUNCTYPE(result, *arguments)(address))
    return egl


def _handles(egl: ctypes.CDLL) -> list[int]:
    """Return the handles of all devices, `_DEFAULT` where EGL cannot list them."""
    if not egl.eglQueryDevicesEXT:
        return [_DEFAULT]
    count = _Int()
    if not egl.eglQueryDevicesEXT(0, None, ctypes.byref(count)):
        return []
    handles = (_Handle * max(count.value, 1))()
    if not egl.eglQueryDevicesEXT(count.value, handles, ctypes.byref(count)):
        return []
    return [handle or 0 for handle in handles[: count.value]]


def egl_devices() -> list[EglDevice]:
    """List EGL's devices in the order of their indices; empty without EGL or without any."""
    try:
        egl = _loaded(LIBEGL)
    except (OSError, AttributeError):  # it may not be EGL at all
        return []
    listed = []
    for handle in _handles(egl):
        if handle == _DEFAULT:
            listed.append(EglDevice(()))
            continue
        query = egl.eglQueryDeviceStringEXT
        extensions = tuple((query(handle, _EXTENSIONS) or b"").decode().split())
        path = b""
        if "EGL_EXT_device_drm" in extensions:
            path = query(handle, _DRM_DEVICE_FILE) or b""
        listed.append(EglDevice(extensions, path.decode()))
    return listed


class EglContext:
    """A context without a surface, current in this thread, with the methods that moderngl calls.

    Parameters
    ----------
    index : int
        Of the device in EGL's list.
    versions : iterable of int
        Those to request, until one is granted; 330 is 3.3. Before those without compute shaders,
        OpenGL ES 3.1 is requested.

    Raises
    ------
    OSError
        If a library is missing.
    EglError
        If there is no such device, or no context of any of the versions.
    """

    def __init__(self, index: int, versions: Iterable[int]) -> None:
        note_use_of_gl()
        self._libgl = ctypes.CDLL(libgl())
        self._egl = egl = _loaded(LIBEGL)
        handles = _handles(egl)
        if index >= len(handles):
            raise EglError(f"device {index} of {len(handles)}")
        if (handle := handles[index]) == _DEFAULT:
            self._display = egl.eglGetDisplay(None)
        else:
            self._display = egl.eglGetPlatformDisplayEXT(_PLATFORM_DEVICE, handle, None)
        self._context: int | None = None
        asked = [each for v in versions for each in ([v] if v >= _COMPUTE else [_ES, v])]
        for action, done in (
            ("eglGetDisplay", lambda: self._display),
            ("eglInitialize", lambda: egl.eglInitialize(self._display, None, None)),
            ("eglCreateContext", lambda: any(map(self._create, asked))),
            ("eglMakeCurrent", self._make_current),
        ):
            if not done():
                raise EglError(f"{action} failed (0x{egl.eglGetError():x})")

    def _create(self, version: int) -> bool:
        """Create a context of a version, and tell whether there is one."""
        egl, display, es = self._egl, self._display, version == _ES
        config, count = _Handle(), _Int()
        chosen = _attributes(*_CONFIG, _ES_BIT if es else _DESKTOP_BIT)
        if not egl.eglBindAPI(_ES_API if es else _DESKTOP_API) or not egl.eglChooseConfig(
            display, chosen, ctypes.byref(config), 1, ctypes.byref(count)
        ):
            return False
        extensions = egl.eglQueryString(display, _EXTENSIONS) or b""
        # so that `Device.check` learns that the driver has lost a context
        reset = (_RESET_STRATEGY, _LOSE_CONTEXT)
        ways = [reset, ()] if b"EGL_EXT_create_context_robustness" in extensions.split() else [()]
        number = (_MAJOR_VERSION, version // 100, _MINOR_VERSION, version // 10 % 10)
        profile = () if es else (_PROFILE_MASK, _CORE_PROFILE)
        for way in ways:
            wanted, self.es = _attributes(*number, *profile, *way), es
            self._context = egl.eglCreateContext(display, config, None, wanted)
            if self._context:
                return True
        return False

    def _make_current(self) -> bool:
        return bool(self._egl.eglMakeCurrent(self._display, None, None, self._context))

    def __enter__(self) -> None:
        if not self._make_current():
            raise EglError(f"eglMakeCurrent failed (0x{self._egl.eglGetError():x})")

    def __exit__(self, *_: object) -> None:
        self._egl.eglMakeCurrent(self._display, None, None, None)

    def load(self, name: str) -> int:
        """Return the address of a GL function, 0 if there is none."""
        if self.es and name in _NOT_IN_ES:
            return ctypes.cast(_no_operation, _Handle).value or 0
        if address := self._egl.eglGetProcAddress(name.encode()):
            return int(address)
        with suppress(AttributeError):
            return ctypes.cast(getattr(self._libgl, name), _Handle).value or 0
        return 0

    load_opengl_function = load

    def release(self) -> None:
        """Destroy the context; safe to repeat."""
        if self._context:
            self._egl.eglDestroyContext(self._display, self._context)
            self._context = None


def _attributes(*values: int) -> ctypes.Array[ctypes.c_int32]:
    """Return a list of attributes as EGL takes it."""
    return (_Int * (len(values) + 1))(*values, _NONE)


def libgl() -> str:
    """Return the name of the first GL library that loads; OSError if none does."""
    for name in LIBGL:
        with suppress(OSError):
            ctypes.CDLL(name)
            return name
    raise OSError(f"{' and '.join(LIBGL)} not found")


def load_compiler(context: EglContext) -> None:
    """Compile an empty program, if the current context can: drivers load their compiler then."""
    compiler = Compiler(context)
    version = "310 es" if context.es else "430"
    compiler.finish(compiler.begin(f"#version {version}\n{_EMPTY}"))
    compiler.error()


class Compiler:
    """The functions of GL that compile programs: other threads run Python meanwhile."""

    def __init__(self, context: EglContext) -> None:
        number, pointer = ctypes.c_uint, ctypes.c_void_p

        def gl(name: str, *words: Any, result: Any = None) -> Any:
            return ctypes.CFUNCTYPE(result, *words)(context.load(name))

        self._stage = gl("glCreateShader", number, result=number)
        self._source = gl("glShaderSource", number, number, pointer, pointer)
        self._compile, self._delete = gl("glCompileShader", number), gl("glDeleteShader", number)
        self._program = gl("glCreateProgram", result=number)
        self._attach, self._link = gl("glAttachShader", number, number), gl("glLinkProgram", number)
        self._status = gl("glGetProgramiv", number, number, pointer)
        self.error = gl("glGetError", result=number)
        with suppress(Exception):
            gl("glMaxShaderCompilerThreadsKHR", number)(_THREADS)

    def begin(self, source: str) -> int:
        """Give a program to the driver, and return its number."""
        text = ctypes.c_char_p(source.encode("ascii"))
        stage, program = self._stage(_COMPUTE_SHADER), self._program()
        self._source(stage, 1, ctypes.byref(text), None)
        self._compile(stage)
        self._attach(program, stage)
        self._link(program)
        self._delete(stage)
        return int(program)

    def finish(self, program: int) -> None:
        """Wait until a program is compiled."""
        self._status(program, _LINK_STATUS, ctypes.byref(ctypes.c_int()))


class _Opening(threading.Thread):
    """Opens a context, or finds that it cannot be opened; perhaps in a thread."""

    def __init__(self, index: int, *, compiles: bool) -> None:
        super().__init__(name=f"EGL device {index}")
        self._index, self._compiles = index, compiles
        self.context: EglContext | None = None

    def run(self) -> None:
        with suppress(Exception):  # who needs the context tries again, and says the reason
            context = EglContext(self._index, VERSIONS)
            if self._compiles:
                load_compiler(context)
            context.__exit__()
            self.context = context


_openings: dict[int, _Opening] = {}


def prepare(*, index: int | None = None, software: bool = True, every: bool = False) -> None:
    """Open the device that is opened by default, for `prepared` to return; errors come there.

    In this thread: NVIDIA's driver takes 0.03 s to make a context current in another one. In a
    thread of its own if this one may have a context, which stays current. The driver also loads
    its compiler, for which programs would wait.

    Parameters
    ----------
    index : int, optional
        Open this one instead, if there is one.
    software : bool
        Whether it may be a software renderer.
    every : bool
        Begin to open all devices, in threads.
    """
    if not sys.platform.startswith("linux"):
        return
    indices = sorted(
        (found.software, k)
        for k, found in enumerate(egl_devices())
        if (software or not found.software) and index in (None, k)
    )
    for _, k in indices if every else indices[:1]:
        if k not in _openings:
            opening = _openings[k] = _Opening(k, compiles=not every)
            if every or uses_gl():
                opening.start()
            else:
                opening.run()


def prepared(index: int) -> EglContext | None:
    """Return the context of a device that `prepare` has opened, once; None if there is none."""
    opening = _openings.pop(index, None)
    if opening is None:
        return None
    if opening.is_alive():
        opening.join()
    if opening.context:
        opening.context.__enter__()
    return opening.context
