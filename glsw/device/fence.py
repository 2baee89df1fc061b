"""Fences: places in the command queue of a device that can be waited for."""

from __future__ import annotations

import ctypes
import math
import time

import moderngl

from glsw.device.context import gl_function

_GL_SYNC_GPU_COMMANDS_COMPLETE, _GL_SYNC_FLUSH_COMMANDS_BIT = 0x9117, 1
_GL_TIMEOUT_EXPIRED = 0x911B


class Fence:
    """A fence in the command queue of a device, which moderngl lacks."""

    def __init__(self, ctx: moderngl.Context) -> None:
        queue = gl_function(
            ctx, "glFenceSync", ctypes.c_uint, ctypes.c_uint, result=ctypes.c_void_p
        )
        words = ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint64
        self._wait = gl_function(ctx, "glClientWaitSync", *words, result=ctypes.c_uint)
        self._delete = gl_function(ctx, "glDeleteSync", ctypes.c_void_p)
        self._sync = queue(_GL_SYNC_GPU_COMMANDS_COMPLETE, 0)

    def passed(self) -> bool:
        """Tell whether the device has reached the fence, without waiting."""
        return self._passes(0)

    def wait(self, seconds: float = math.inf) -> bool:
        """Wait until the device has reached the fence, and tell whether it has; only once."""
        end = time.monotonic() + seconds
        while not (passed := self._passes(10**8)) and time.monotonic() < end:
            pass  # now and then, so that Python can be interrupted
        self._delete(self._sync)
        return passed

    def _passes(self, nanoseconds: int) -> bool:
        state = self._wait(self._sync, _GL_SYNC_FLUSH_COMMANDS_BIT, nanoseconds)
        return bool(state != _GL_TIMEOUT_EXPIRED)
