"""OpenGL devices: listing and opening them, what each can do, its errors and its clock.

>>> from glsw.device.device import open_device
>>> with open_device(quiet=True) as device:
...     device.info.version >= (3, 3)
True
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import moderngl

from glsw.device.context import (
    DeviceError,
    DeviceMemoryError,
    Route,
    gl_function,
    nothing_opened,
    read_integer,
    routes,
)

__all__ = [
    "Device",
    "DeviceError",
    "DeviceInfo",
    "DeviceMemoryError",
    "Timer",
    "devices",
    "open_device",
]

# The driver's clock counts 32 bits of nanoseconds, which wrap after 4.29 s.
_LONGEST = 4.0

_GL_SYNC_GPU_COMMANDS_COMPLETE, _GL_SYNC_FLUSH_COMMANDS_BIT = 0x9117, 1
_GL_TIMEOUT_EXPIRED = 0x911B
_GL_SUBGROUP_SIZE = 0x9532

_SOFTWARE = re.compile(
    "llvmpipe|softpipe|swrast|lavapipe|swiftshader"
    "|microsoft basic render|gdi generic|software renderer|software rasterizer",
    re.IGNORECASE,
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


@dataclass
class Timer:
    """What the ``with`` block of `Device.timer` took, known when it has ended.

    Attributes
    ----------
    seconds : float
        Device time where the device measures it, otherwise the same as `wall`.
    wall : float
        Time on the wall clock, from an idle device until it was idle again.
    measured : bool
        ``seconds`` comes from the device's own clock.
    """

    seconds: float = 0.0
    wall: float = 0.0
    measured: bool = False


class Fence:
    """A point in the queue of a device; moderngl has none."""

    def __init__(self, ctx: moderngl.Context) -> None:
        queue = gl_function(
            ctx, "glFenceSync", ctypes.c_uint, ctypes.c_uint, result=ctypes.c_void_p
        )
        words = ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint64
        self._wait = gl_function(ctx, "glClientWaitSync", *words, result=ctypes.c_uint)
        self._delete = gl_function(ctx, "glDeleteSync", ctypes.c_void_p)
        self._sync = queue(_GL_SYNC_GPU_COMMANDS_COMPLETE, 0)

    def wait(self) -> None:
        """Return when the device has got there; once only."""
        while self._wait(self._sync, _GL_SYNC_FLUSH_COMMANDS_BIT, 10**8) == _GL_TIMEOUT_EXPIRED:
            pass  # now and then, so that Python can be interrupted
        self._delete(self._sync)


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
        Cache of compiled programs, kept by `glsw.device.shader`.
    """

    def __init__(self, index: int, ctx: moderngl.Context, release: Callable[[], None]) -> None:
        global _opening_process
        _opening_process = _opening_process or os.getpid()
        self.ctx = ctx
        self.info = _read_info(index, ctx)
        self.programs: dict[Any, Any] = {}
        self.closed = False
        self._release = release
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

    @contextmanager
    def checked(self, action: str) -> Iterator[None]:
        """Raise `DeviceError` if the ``with`` block fails on the device, as `check` does."""
        try:
            yield
        except moderngl.Error as error:
            self.ctx.clear_errors()
            raise DeviceError(f"{action}: {error} on {self.info.name}") from None
        self.check(action)

    def limit(self, name: str) -> int:
        """Return the limit of that name, see `DeviceInfo.limits`; ValueError if unknown."""
        try:
            return self.info.limits[name]
        except KeyError:
            known = ", ".join(self.info.limits)
            raise ValueError(f"unknown limit {name!r}; there are {known}") from None

    @contextmanager
    def timer(self) -> Iterator[Timer]:
        """Measure a ``with`` block; one at a time.

        Examples
        --------
        >>> with open_device(quiet=True) as device, device.timer() as timer:
        ...     device.ctx.finish()
        >>> timer.seconds > 0
        True
        """
        if self._timing:
            raise RuntimeError("a device runs one timer at a time")
        self.activate()
        self.ctx.finish()
        if self._query is None:
            self._query = self.ctx.query(time=True)
        timer = Timer()
        self._timing = True
        start = time.perf_counter()
        self._query.__enter__()
        try:
            yield timer
        finally:
            self._timing = False
            self.activate()
            self._query.__exit__(None, None, None)
            self.ctx.finish()
            timer.wall = time.perf_counter() - start
            elapsed = self._query.elapsed * 1e-9
            # Software renderers report 0 for compute, and for draws the time to queue them.
            timer.measured = elapsed > 0 and timer.wall < _LONGEST and not self.info.software
            timer.seconds = elapsed if timer.measured else timer.wall

    def fence(self) -> Fence:
        """Return what can be waited for until all that was queued before is done."""
        self.activate()
        return Fence(self.ctx)

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
        self._release()
        if _opened.get(self.info.index) is self:
            del _opened[self.info.index]
        _current = None
        if _opened:
            next(reversed(_opened.values())).activate()


_opened: dict[int, Device] = {}
_opening_process: int | None = None
_current: Device | None = None
_said_software = False


def opened_before_fork() -> bool:
    """Return whether this process was forked from one that had opened a device.

    Such a process cannot use OpenGL: it has the state of its parent's driver, but not its threads.
    """
    return _opening_process not in (None, os.getpid())


def devices() -> list[DeviceInfo]:
    """List the OpenGL devices that can be opened, by index.

    Raises
    ------
    DeviceError
        There is none: says what was tried and what to install.
    """
    previous = _current
    listed = []
    for device in _each(routes()):
        listed.append(device.info)
        _put_back(device)
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
    ways = routes()
    if device is None:
        ways.sort(key=lambda way: way.software)
    elif isinstance(device, bool) or not isinstance(device, int | str):
        raise TypeError(f"device must be an index or part of a name, not {device!r}")
    elif isinstance(device, str) and device.strip().isdecimal():
        device = int(device)
    if isinstance(device, int):
        ways.sort(key=lambda way: way.index != device)

    chosen = _choose(ways, device, require)
    _opened[chosen.info.index] = chosen
    chosen.activate()
    if chosen.info.software and not quiet:
        _say_software(chosen.info.name)
    return chosen


def _choose(ways: list[Route], wanted: int | str | None, require: tuple[int, int]) -> Device:
    """Return the first device that fits; if none is named, the first with hardware."""
    chosen: Device | None = None
    seen = []
    for candidate in _each(ways):
        info = candidate.info
        seen.append(info)
        fits = _matches(info, wanted) and info.version >= require
        if not fits or (chosen is not None and info.software):
            _put_back(candidate)
            continue
        if chosen is not None:
            _put_back(chosen)
        chosen = candidate
        if wanted is not None or not info.software:
            break
    if chosen is None:
        raise DeviceError(_no_match(wanted, require, sorted(seen, key=lambda info: info.index)))
    return chosen


def _each(ways: list[Route]) -> Iterator[Device]:
    """Open the devices one after the other, or take them from those that are open.

    Fallbacks are tried only while nothing has opened. Raises `DeviceError` after the last if
    nothing has.
    """
    refused = []
    found = False
    for way in sorted(ways, key=lambda way: way.fallback):
        if way.fallback and found:
            break
        try:
            device = _opened.get(way.index) or Device(way.index, *way.open())
        except DeviceError as error:
            refused.append(str(error))
            continue
        found = True
        yield device
    if not found:
        raise nothing_opened(refused)


def _put_back(device: Device) -> None:
    """Close a device that was opened only to look at it."""
    if _opened.get(device.info.index) is not device:
        device.close()


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


def _read_info(index: int, ctx: moderngl.Context) -> DeviceInfo:
    name = ctx.info["GL_RENDERER"]
    version = (ctx.version_code // 100, ctx.version_code // 10 % 10)
    compute = version >= (4, 3)
    limits = {key: read_integer(ctx, code) for key, code in _LIMITS.items()}
    limits |= {
        key: read_integer(ctx, code) if compute else 0 for key, code in _COMPUTE_LIMITS.items()
    }
    groups = ctx.info["GL_MAX_COMPUTE_WORK_GROUP_COUNT"] if compute else (0,)
    limits["max_work_groups"] = groups[0]
    subgroups = "GL_KHR_shader_subgroup" in ctx.extensions
    subgroup_size = read_integer(ctx, _GL_SUBGROUP_SIZE) if subgroups else 0
    ctx.clear_errors()
    return DeviceInfo(
        index=index,
        name=name,
        vendor=ctx.info["GL_VENDOR"],
        version=version,
        version_string=ctx.info["GL_VERSION"],
        software=bool(_SOFTWARE.search(name)),
        compute=compute,
        subgroup_size=subgroup_size,
        half=bool({"GL_NV_gpu_shader5", "GL_AMD_gpu_shader_half_float"} & ctx.extensions),
        limits=limits,
    )
