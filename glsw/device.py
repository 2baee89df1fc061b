"""OpenGL devices: what there is, and the one place that opens a context.

EGL is asked first, because it needs no display and knows every device by number. Where it
opens nothing, the platform's own way is tried (WGL, CGL, GLX), then a hidden GLFW window.

>>> from glsw.device import open_device
>>> with open_device(quiet=True) as device:
...     device.info.version >= (3, 3)
True
"""

from __future__ import annotations

import ctypes
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import moderngl

#: Versions asked for, best first. NVIDIA gives exactly what is asked, Mesa the highest it has.
LADDER = (460, 450, 430, 410, 330)

_LINUX = sys.platform.startswith("linux")
_LIBGL = ("libGL.so.1", "libOpenGL.so.0")
_LIBEGL = "libEGL.so.1"

_EGL_EXTENSIONS = 0x3055
_EGL_DRM_DEVICE_FILE = 0x3233
_GL_SUBGROUP_SIZE = 0x9532

_SOFTWARE = (
    "llvmpipe",
    "softpipe",
    "swrast",
    "lavapipe",
    "swiftshader",
    "microsoft basic render",
    "gdi generic",
    "software renderer",
    "software rasterizer",
)

_LIMITS = {
    "max_texture_size": 0x0D33,
    "max_array_texture_layers": 0x88FF,
    "max_texture_buffer_size": 0x8C2B,
    "max_viewport_size": 0x0D3A,
    "max_draw_buffers": 0x8824,
    "max_uniform_block_size": 0x8A30,
}
_COMPUTE_LIMITS = {
    "max_work_group_invocations": 0x90EB,
    "max_shared_memory": 0x8262,
    "max_storage_block": 0x90DE,
    "max_storage_bindings": 0x90DB,
}


class DeviceError(Exception):
    """No device, not the device asked for, or a GL error on it."""


@dataclass(frozen=True)
class DeviceInfo:
    """What one OpenGL device is and can do.

    Attributes
    ----------
    index : int
        Number to open it by: the place in EGL's list, 0 for a device found otherwise.
    name, vendor, version_string : str
        ``GL_RENDERER``, ``GL_VENDOR`` and ``GL_VERSION``.
    version : (int, int)
        OpenGL version of the context.
    software : bool
        The renderer runs on the CPU.
    compute : bool
        Compute shaders and storage buffers: GL 4.3 or newer.
    subgroup_size : int
        Lanes of a subgroup by ``GL_KHR_shader_subgroup``, 0 without it.
    half : bool
        16-bit floats in shaders: ``GL_NV_gpu_shader5`` or ``GL_AMD_gpu_shader_half_float``.
    limits : dict of int
        Texels, bytes or counts; those of compute shaders are 0 without them.
        ``max_work_groups`` and ``max_viewport_size`` are those of the first dimension, and
        ``max_storage_bindings`` the storage buffers one compute shader can use.
    """

    index: int
    name: str
    vendor: str
    version: tuple[int, int]
    version_string: str
    software: bool
    compute: bool
    subgroup_size: int
    half: bool
    limits: dict[str, int] = field(repr=False)

    def __str__(self) -> str:
        traits = [
            f"GL {_dotted(self.version)}",
            "software" if self.software else "hardware",
            "compute" if self.compute else "no compute",
            f"subgroups of {self.subgroup_size}" if self.subgroup_size else "no subgroups",
            "half" if self.half else "no half",
            f"textures {self.limits['max_texture_size']}",
        ]
        if self.compute:
            traits.append(f"groups of {self.limits['max_work_group_invocations']}")
            traits.append(f"shared {self.limits['max_shared_memory'] >> 10} KiB")
            traits.append(f"buffers {self.limits['max_storage_block'] >> 20} MiB")
        return f"{self.index}: {self.name} ({self.vendor}); {', '.join(traits)}"


class Timer:
    """Seconds that a ``with`` block took on the device; made by `Device.timer`.

    Attributes
    ----------
    seconds : float
        Device time where the device measures it, otherwise the same as `wall`.
    wall : float
        Time on the wall clock, from an idle device until it was idle again.
    measured : bool
        ``seconds`` comes from the device's own clock.
    """

    # The driver counts 32 bits of nanoseconds, which wrap after 4.29 s.
    _LONGEST = 4.0

    def __init__(self, device: Device) -> None:
        self.seconds = 0.0
        self.wall = 0.0
        self.measured = False
        self._device = device

    def __enter__(self) -> Timer:
        device = self._device
        if device._timing:
            raise RuntimeError("a device runs one timer at a time")
        device.activate()
        device.ctx.finish()
        if device._query is None:
            device._query = device.ctx.query(time=True)
        device._timing = True
        self._start = time.perf_counter()
        device._query.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        device = self._device
        device.activate()
        device._query.__exit__(None, None, None)
        device.ctx.finish()
        self.wall = time.perf_counter() - self._start
        device._timing = False
        elapsed = device._query.elapsed * 1e-9
        # Software renderers report 0 for compute, and for draws the time to queue them.
        self.measured = elapsed > 0 and self.wall < self._LONGEST and not device.info.software
        self.seconds = elapsed if self.measured else self.wall


class Device:
    """An open device: its context, what it can do, and the programs compiled on it.

    Made by `open_device` and shared by all who open it in this process. Several devices may be
    open: GL calls go to the one that was activated last. In a ``with`` block it is this one, and
    after it the one from before; the device stays open until `close`.

    Attributes
    ----------
    info : DeviceInfo
    ctx : moderngl.Context
        Objects dropped without ``release()`` are freed at the next `activate`.
    programs : dict
        Cache of compiled programs, kept by `glsw.shader`.
    """

    def __init__(
        self, index: int, ctx: moderngl.Context, dispose: Callable[[], None] | None = None
    ) -> None:
        self.ctx = ctx
        self.info = _read_info(index, ctx)
        self.programs: dict[Any, Any] = {}
        self.closed = False
        self._dispose = dispose
        self._query: Any = None
        self._timing = False
        self._previous: list[Device | None] = []
        # Freeing at once would free in whichever context is current then.
        ctx.gc_mode = "context_gc"

    def __repr__(self) -> str:
        return f"<Device {self.info}>"

    def __enter__(self) -> Device:
        previous = _current
        self.activate()
        self._previous.append(previous)
        return self

    def __exit__(self, *exception: object) -> None:
        previous = self._previous.pop()
        if previous is not None and not previous.closed:
            previous.activate()

    def activate(self) -> None:
        """Make this device's context the current one; costs about a microsecond."""
        global _current
        if self.closed:
            raise DeviceError(f"device {self.info.index} ({self.info.name}) is closed")
        self.ctx.__enter__()  # type: ignore[no-untyped-call]
        dropped = self.ctx.objects
        while dropped:
            # ctx.gc() fails on objects that were released before they were dropped
            if not isinstance(item := dropped.popleft(), moderngl.InvalidObject):
                item.release()
        _current = self

    def check(self, action: str) -> None:
        """Raise `DeviceError` if GL reported an error since the last check.

        GL errors are silent: call this after every allocation, dispatch and draw.

        Parameters
        ----------
        action : str
            What was done, for the message.
        """
        self.activate()
        error = self.ctx.error
        if error != "GL_NO_ERROR":
            self.ctx.clear_errors()
            raise DeviceError(f"{action}: GL error {error} on {self.info.name}")

    def limit(self, name: str) -> int:
        """Return the limit of that name, see `DeviceInfo.limits`; ValueError if unknown."""
        try:
            return self.info.limits[name]
        except KeyError:
            known = ", ".join(self.info.limits)
            raise ValueError(f"unknown limit {name!r}; there are {known}") from None

    def timer(self) -> Timer:
        """Return a context manager that measures its block; see `Timer`.

        Examples
        --------
        >>> with open_device(quiet=True) as device, device.timer() as timer:
        ...     device.ctx.finish()
        >>> timer.seconds >= 0
        True
        """
        return Timer(self)

    def close(self) -> None:
        """Release the context, for all who share it; safe to repeat.

        The last opened of the other devices, if there is one, becomes current.
        """
        global _current
        if self.closed:
            return
        self.activate()
        self.closed = True
        self.programs.clear()
        self._query = None
        self.ctx.release()
        if self._dispose is not None:
            self._dispose()
        if _opened.get(self.info.index) is self:
            del _opened[self.info.index]
        _current = None
        if _opened:
            next(reversed(_opened.values())).activate()


_opened: dict[int, Device] = {}
_current: Device | None = None
_said_software = False


def devices() -> list[DeviceInfo]:
    """List the OpenGL devices that can be opened, by index.

    Raises
    ------
    DeviceError
        There is none: says what was tried and what to install.
    """
    previous = _current
    before = set(_opened)
    listed = [device.info for device in _each(_routes())]
    _close_all(set(_opened) - before)
    if previous is not None:
        previous.activate()
    return listed


def open_device(
    device: int | str | None = None,
    *,
    require: tuple[int, int] = (3, 3),
    quiet: bool = False,
) -> Device:
    """Open a device, or return it if this process has it open, and make it current.

    Parameters
    ----------
    device : int or str, optional
        Index, or part of the renderer's or vendor's name in any case (the first that has it).
        By default the first device with hardware, else the first.
    require : (int, int), optional
        Lowest OpenGL version that will do.
    quiet : bool, optional
        Do not say on stderr, once a process, that the renderer is a software one.

    Raises
    ------
    TypeError
        ``device`` is neither a number nor a text.
    DeviceError
        No such device (lists those there are), none at all (says what was tried and what to
        install), or one older than ``require``.
    """
    routes = _routes()
    if device is None:
        routes.sort(key=lambda route: route.software)
    elif isinstance(device, bool) or not isinstance(device, int | str):
        raise TypeError(f"device must be an index or part of a name, not {device!r}")
    elif isinstance(device, str) and device.strip().isdecimal():
        device = int(device)
    if isinstance(device, int):
        routes.sort(key=lambda route: route.index != device)

    chosen = _choose(routes, device, require)
    chosen.activate()
    if chosen.info.software and not quiet:
        _say_software(chosen.info.name)
    return chosen


def _choose(routes: list[_Route], wanted: int | str | None, require: tuple[int, int]) -> Device:
    """Return the first device that fits; if none is named, the first with hardware."""
    before = set(_opened)
    chosen: Device | None = None
    seen = []
    for candidate in _each(routes):
        info = candidate.info
        seen.append(info)
        if _matches(info, wanted) and info.version >= require:
            if wanted is not None or not info.software:
                chosen = candidate
                break
            chosen = chosen or candidate
    _close_all(set(_opened) - before, but=chosen)
    if chosen is None:
        raise DeviceError(_no_match(wanted, require, sorted(seen, key=lambda info: info.index)))
    return chosen


def _matches(info: DeviceInfo, wanted: int | str | None) -> bool:
    if isinstance(wanted, int):
        return info.index == wanted
    return wanted is None or wanted.casefold() in f"{info.name} {info.vendor}".casefold()


def _no_match(wanted: int | str | None, require: tuple[int, int], seen: list[DeviceInfo]) -> str:
    there = "; ".join(f"{info.index}: {info.name}, GL {_dotted(info.version)}" for info in seen)
    if any(_matches(info, wanted) for info in seen):
        which = "no device has" if wanted is None else f"device {wanted!r} does not have"
        return f"{which} OpenGL {_dotted(require)}, which was asked for; found {there}"
    return f"no device {wanted!r}; there are {there}"


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _say_software(name: str) -> None:
    global _said_software
    if not _said_software:
        _said_software = True
        print(f"glsw: {name} is a software renderer and runs on the CPU", file=sys.stderr)


@dataclass(frozen=True)
class _Route:
    """One way to a context: ``open(version code)`` gives it and what disposes of the rest."""

    index: int
    label: str
    open: Callable[[int], tuple[moderngl.Context, Callable[[], None] | None]]
    software: bool = False
    fallback: bool = False


def _routes() -> list[_Route]:
    """Return every way to try, those through the window system last."""
    routes: list[_Route] = []
    if _LINUX:
        routes = [
            _Route(
                index,
                f"EGL device {index} {found.path}".rstrip(),
                lambda version, index=index: (_egl_context(version, index), None),  # type: ignore[misc]
                software="EGL_MESA_device_software" in found.extensions,
            )
            for index, found in enumerate(egl_devices())
        ]
    return [
        *routes,
        _Route(0, "platform default", _platform_context, fallback=True),
        _Route(0, "hidden GLFW window", _window_context, fallback=True),
    ]


def _each(routes: list[_Route]) -> Iterator[Device]:
    """Open the devices one after the other, or take them from ``_opened``; all stay there.

    Fallback routes are gone only while nothing has opened. Raises `DeviceError` after the
    last if nothing has.
    """
    refused = []
    found = False
    for route in sorted(routes, key=lambda route: route.fallback):
        if route.fallback and found:
            break
        if route.index not in _opened:
            try:
                _opened[route.index] = _climb_down(route)
            except DeviceError as error:
                refused.append(str(error))
                continue
        found = True
        yield _opened[route.index]
    if not found:
        raise DeviceError(_nothing(refused))


def _close_all(indices: set[int], *, but: Device | None = None) -> None:
    for index in indices:
        if _opened[index] is not but:
            _opened[index].close()


def _climb_down(route: _Route) -> Device:
    """Open a route with the highest version of the ladder that it gives."""
    # CGL gives 4.1 whatever is asked, and each refused try would leave a context behind.
    ladder = LADDER[3:] if sys.platform == "darwin" else LADDER
    reason: Exception | None = None
    for version in ladder:
        try:
            ctx, dispose = route.open(version)
        except Exception as error:  # backends raise plain Exception, ImportError, ValueError
            reason = error
            if not _worth_asking_lower(error):
                break
            continue
        return Device(route.index, ctx, dispose)
    raise DeviceError(f"{route.label}: {reason}")


def _worth_asking_lower(error: Exception) -> bool:
    """Tell a refused version from a library or display that is not there at all."""
    return not isinstance(error, ImportError | OSError)


def _nothing(refused: list[str]) -> str:
    tried = "; ".join(filter(None, [_egl_trouble(), *refused]))
    if _LINUX:
        if shutil.which("apt-get"):
            remedy = "apt-get install libegl1 libgl1 libgl1-mesa-dri"
        else:
            remedy = "libEGL, libGL and Mesa's DRI drivers from your distribution"
        remedy += " (a software renderer comes with it), or your GPU's driver with its EGL part"
    else:
        remedy = "your GPU's driver"
    return f"no OpenGL 3.3 device; tried {tried}; install {remedy}"


# EGL


@dataclass(frozen=True)
class EglDevice:
    """A device as EGL lists it, known without a context.

    Attributes
    ----------
    extensions : tuple of str
        ``EGL_MESA_device_software`` among them marks Mesa's software renderer.
    path : str
        Its DRM device file, "" if it has none.
    """

    extensions: tuple[str, ...]
    path: str = ""


def egl_devices() -> list[EglDevice]:
    """List EGL's devices in the order of their indices; empty without EGL or without any."""
    try:
        egl = ctypes.CDLL(_LIBEGL)
    except OSError:
        return []
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    egl.eglGetProcAddress.argtypes = [ctypes.c_char_p]
    query_devices = egl.eglGetProcAddress(b"eglQueryDevicesEXT")
    query_string = egl.eglGetProcAddress(b"eglQueryDeviceStringEXT")
    if not query_devices or not query_string:
        return []

    handles_type = ctypes.POINTER(ctypes.c_void_p)
    count_type = ctypes.POINTER(ctypes.c_int32)
    query_devices = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int32, handles_type, count_type)(
        query_devices
    )
    query_string = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int32)(query_string)
    count = ctypes.c_int32()
    if not query_devices(0, None, ctypes.byref(count)):
        return []
    handles = (ctypes.c_void_p * max(count.value, 1))()
    if not query_devices(count.value, handles, ctypes.byref(count)):
        return []

    listed = []
    for handle in handles[: count.value]:
        extensions = tuple((query_string(handle, _EGL_EXTENSIONS) or b"").decode().split())
        path = b""
        if "EGL_EXT_device_drm" in extensions:
            path = query_string(handle, _EGL_DRM_DEVICE_FILE) or b""
        listed.append(EglDevice(extensions, path.decode()))
    return listed


def _egl_trouble() -> str:
    """Say why EGL gave no devices to try, "" if it did or is not of this platform."""
    if not _LINUX:
        return ""
    try:
        ctypes.CDLL(_LIBEGL)
    except OSError:
        return f"EGL: {_LIBEGL} not found"
    return "" if egl_devices() else "EGL: it lists no devices"


def _libgl() -> str:
    """Return the GL library that loads; glcontext wants one even for EGL."""
    for name in _LIBGL:
        with suppress(OSError):
            ctypes.CDLL(name)
            return name
    raise OSError(f"{' and '.join(_LIBGL)} not found")


# contexts

# moderngl's stub has no room for the settings of a backend
_create_context: Callable[..., moderngl.Context] = moderngl.create_context


def _egl_context(version: int, index: int) -> moderngl.Context:
    return _create_context(
        require=version,
        standalone=True,
        backend="egl",
        device_index=index,
        libgl=_libgl(),
        libegl=_LIBEGL,
    )


def _platform_context(version: int) -> tuple[moderngl.Context, None]:
    libraries = {}
    if _LINUX:
        libraries = {"libgl": _libgl(), "libx11": "libX11.so.6"}
    return _create_context(require=version, standalone=True, **libraries), None


def _window_context(version: int) -> tuple[moderngl.Context, Callable[[], None]]:
    import glfw

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # glfw warns and returns nothing; the error is read below
        if not glfw.init():
            raise OSError(_glfw_error("no window system"))
        glfw.default_window_hints()
        glfw.window_hint(glfw.VISIBLE, False)
        glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, version // 100)
        glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, version // 10 % 10)
        glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
        glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, True)
        window = glfw.create_window(16, 16, "glsw", None, None)
        if not window:
            raise RuntimeError(_glfw_error("no window"))
        glfw.make_context_current(window)
    # settings, so that moderngl does not hand out an older context it remembers
    try:
        ctx = _create_context(require=version, **_window_settings())
    except Exception:
        glfw.destroy_window(window)
        raise
    return ctx, lambda: glfw.destroy_window(window)


def _window_settings() -> dict[str, str]:
    if _LINUX:
        return {"libgl": _libgl(), "libx11": "libX11.so.6"}
    return {}


def _glfw_error(otherwise: str) -> str:
    import glfw

    _, text = glfw.get_error()
    return " ".join(text.split()) if text else otherwise


# what a context says of itself


def _read_info(index: int, ctx: moderngl.Context) -> DeviceInfo:
    name = ctx.info["GL_RENDERER"]
    version = (ctx.version_code // 100, ctx.version_code // 10 % 10)
    compute = version >= (4, 3)
    limits = {key: _integer(ctx, code) for key, code in _LIMITS.items()}
    limits |= {key: _integer(ctx, code) if compute else 0 for key, code in _COMPUTE_LIMITS.items()}
    groups = ctx.info["GL_MAX_COMPUTE_WORK_GROUP_COUNT"] if compute else (0,)
    limits["max_work_groups"] = groups[0]
    subgroups = "GL_KHR_shader_subgroup" in ctx.extensions
    subgroup_size = _integer(ctx, _GL_SUBGROUP_SIZE) if subgroups else 0
    ctx.clear_errors()
    return DeviceInfo(
        index=index,
        name=name,
        vendor=ctx.info["GL_VENDOR"],
        version=version,
        version_string=ctx.info["GL_VERSION"],
        software=any(part in name.casefold() for part in _SOFTWARE),
        compute=compute,
        subgroup_size=subgroup_size,
        half=bool({"GL_NV_gpu_shader5", "GL_AMD_gpu_shader_half_float"} & ctx.extensions),
        limits=limits,
    )


def _integer(ctx: moderngl.Context, code: int) -> int:
    """Read one integer of the current context, the first where GL has several; 0 if unknown."""
    values = (ctypes.c_int64 * 4)()
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.POINTER(ctypes.c_int64))
    # moderngl's ctx.info lacks some of these, and its loader is the one way to the function
    read = prototype(ctx.mglo._context.load("glGetInteger64v"))
    read(code, values)
    return values[0]
