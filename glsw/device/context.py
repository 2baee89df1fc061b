"""Opens OpenGL contexts: the routes that are tried, and what to install if none works.

EGL is asked first, because it needs no display and knows every device by number. Where it
opens nothing, the platform's own interface is tried (WGL, CGL, GLX), then a hidden GLFW window.

>>> from glsw.device.context import routes
>>> routes()[-1].label
'hidden GLFW window'
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, cast

import moderngl

from glsw.device import egl
from glsw.device.current import DeviceError, check_fork, note_use_of_gl
from glsw.device.egl import egl_devices

#: A context, a function that releases it with everything made for it, and one that makes none
#: current in the calling thread.
Opened = tuple[moderngl.Context, Callable[[], None], Callable[[], object]]

# moderngl's stub has no room for the settings of a backend
create_context: Callable[..., moderngl.Context] = moderngl.create_context


@dataclass(frozen=True)
class Route:
    """One way to a context.

    Attributes
    ----------
    index : int
        Index of its device: the position in EGL's list, 0 for other routes.
    label : str
        For messages.
    attempt : callable
        Opens a context of a version (330 is 3.3) or raises any exception.
    software : bool
        Known to lead to a software renderer.
    fallback : bool
        To be tried only if no other route opens a device.
    model : str
        Equal for devices of which one is as good as the other.
    forbidden : str
        The device file that this user may not open.
    """

    index: int
    label: str
    attempt: Callable[[int], Opened]
    software: bool = False
    fallback: bool = False
    model: str = ""
    forbidden: str = ""

    def open(self) -> Opened:
        """Open a context of the highest version available.

        Raises
        ------
        DeviceError
            There is none; the message has the label and the last reason.
        """
        check_fork()
        note_use_of_gl()
        # CGL always gives 4.1, and each failed attempt would leave a context behind.
        versions = egl.VERSIONS[3:] if sys.platform == "darwin" else egl.VERSIONS
        reason: Exception | None = None
        for version in versions:
            try:
                return self.attempt(version)
            except (ImportError, OSError) as error:
                reason = error  # no library or no display: a lower version would not help
                break
            except Exception as error:  # backends raise plain Exception and ValueError
                reason = error
        raise DeviceError(f"{self.label}: {reason}{self._remedy(str(reason))}")

    def _remedy(self, reason: str) -> str:
        """Return what may help, given why no version opens."""
        if self.forbidden:
            return (
                f"; no permission for {self.forbidden}: add this user to the group of that file, "
                "as by `sudo usermod -aG render $USER`, and log in again"
            )
        if reason.startswith("eglInitialize"):
            return "; it has no driver here: install Mesa, or the EGL part of its vendor's driver"
        if reason.startswith("eglCreateContext"):
            return "; it is too old, or its driver: OpenGL 3.3 is needed"
        return ""


def routes() -> list[Route]:
    """Return all routes to try, with the window system last."""
    through_egl = [
        Route(
            index,
            f"EGL device {index} {found.path}".rstrip(),
            partial(_egl_context, index),
            software=found.software,
            model=found.model,
            forbidden=found.forbidden,
        )
        for index, found in enumerate(egl_devices() if sys.platform == "linux" else [])
    ]
    return [
        *through_egl,
        Route(0, "platform default", _platform_context, fallback=True),
        Route(0, "hidden GLFW window", _window_context, fallback=True),
    ]


def nothing_opened(refused: list[str]) -> DeviceError:
    """Return the error that lists what was tried, why it failed, and what to install."""
    tried = "; ".join(filter(None, [_egl_trouble(), *refused]))
    if sys.platform == "linux":
        import shutil

        if shutil.which("apt-get"):
            mesa = "apt-get install libegl1 libgl1 libgl1-mesa-dri"
        else:
            mesa = "install libEGL, libGL and Mesa's DRI drivers from your distribution"
        remedy = f"{mesa} (Mesa, with a software renderer), or your GPU's driver with its EGL part"
    else:
        remedy = "install your GPU's driver"
    first = "" if find_spec("pyopal") else "pip install 'glsw[cpu]' (engine 'cpu'), or "
    return DeviceError(f"no OpenGL 3.3 device: {first}{remedy}; tried {tried}")


def gl_function(
    ctx: moderngl.Context, symbol: str, *arguments: Any, result: Any = None
) -> Callable[..., Any]:
    """Return a GL function that moderngl lacks, loaded by moderngl.

    ``arguments`` and ``result`` are types of ctypes. The context must be current at each call.
    """
    known = ctx.extra = ctx.extra or {}
    if symbol not in known:
        known[symbol] = ctypes.CFUNCTYPE(result, *arguments)(ctx.mglo._context.load(symbol))
    return cast("Callable[..., Any]", known[symbol])


def read_integer(ctx: moderngl.Context, code: int, *place: int) -> int:
    """Read an integer of the current context, the first if GL has several; 0 if unknown.

    Those that GL numbers have a ``place``.
    """
    values = (ctypes.c_int64 * 4)()
    # moderngl's ctx.info lacks some of these
    symbol = "glGetInteger64i_v" if place else "glGetInteger64v"
    numbers = [ctypes.c_uint] * (1 + len(place))
    gl_function(ctx, symbol, *numbers, ctypes.POINTER(ctypes.c_int64))(code, *place, values)
    return values[0]


def _egl_trouble() -> str:
    """Return why EGL lists no devices, "" if it lists some or the platform has no EGL."""
    if sys.platform != "linux" or egl_devices():
        return ""
    try:
        ctypes.CDLL(egl.LIBEGL)
    except OSError:
        return f"EGL: {egl.LIBEGL} not found"
    return "EGL: it lists no devices"


def _egl_context(index: int, version: int) -> Opened:
    context = egl.prepared(index) or egl.EglContext(index, [version])
    ctx = create_context(require=300, standalone=True, context=context)  # also OpenGL ES
    return ctx, ctx.release, context.__exit__


def _platform_context(version: int) -> Opened:
    ctx = create_context(require=version, standalone=True, **_window_libraries())
    return ctx, ctx.release, _leave_platform_context


def _leave_platform_context() -> None:
    """Make no context current, by WGL, CGL or GLX."""
    if sys.platform == "win32":
        ctypes.WinDLL("opengl32").wglMakeCurrent(None, None)
    elif sys.platform == "darwin":
        ctypes.CDLL("/System/Library/Frameworks/OpenGL.framework/OpenGL").CGLSetCurrentContext(None)
    else:
        glx = ctypes.CDLL(egl.libgl())
        glx.glXGetCurrentDisplay.restype = ctypes.c_void_p
        if display := glx.glXGetCurrentDisplay():
            glx.glXMakeCurrent(ctypes.c_void_p(display), ctypes.c_ulong(0), None)


def open_window(version: int, width: int, height: int, title: str, *, visible: bool = True) -> Any:
    """Return a GLFW window whose context of OpenGL, in hundredths, is current.

    Raises
    ------
    OSError
        If there is no window system.
    RuntimeError
        If it has no such OpenGL.
    """
    import glfw

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # glfw warns and returns nothing; the error is read below
        if not glfw.init():
            raise OSError(_glfw_error("no window system"))
        glfw.default_window_hints()
        glfw.window_hint(glfw.VISIBLE, visible)
        glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, version // 100)
        glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, version // 10 % 10)
        glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
        glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, True)
        window = glfw.create_window(width, height, title, None, None)
        if not window:
            raise RuntimeError(_glfw_error("no window"))
        glfw.make_context_current(window)
    return window


def _window_context(version: int) -> Opened:
    import glfw

    window = open_window(version, 16, 16, "glsw", visible=False)
    try:
        ctx = create_context(require=version, **_window_libraries())
    except Exception:
        glfw.destroy_window(window)
        raise

    def release() -> None:
        ctx.release()
        glfw.destroy_window(window)

    return ctx, release, _leave_window


def _leave_window() -> None:
    import glfw

    nothing: Any = None
    glfw.make_context_current(nothing)


def _glfw_error(otherwise: str) -> str:
    import glfw

    text: str | bytes | None = glfw.get_error()[1]
    if isinstance(text, bytes):  # as it is, whatever its stub says
        text = text.decode("utf-8", "replace")
    return " ".join(text.split()) if text else otherwise


def _window_libraries() -> dict[str, str]:
    """Return settings for GLX; given any, moderngl makes a new context, not one it remembers."""
    return {"libgl": egl.libgl(), "libx11": "libX11.so.6"} if sys.platform == "linux" else {}
