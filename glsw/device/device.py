"""OpenGL devices: list and open them, check their errors, measure their time.

>>> from glsw.device.device import open_device
>>> with open_device(quiet=True) as device:
...     device.info.version >= (3, 3)
True
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import moderngl

from glsw import caller
from glsw.device.context import Route, gl_function, nothing_opened, routes
from glsw.device.current import (
    DeviceError,
    DeviceMemoryError,
    ThreadSafeContext,
    check_fork,
    forked_after_gl,
    restore_current,
)
from glsw.device.info import DeviceInfo, dotted, read_info

if TYPE_CHECKING:
    import numpy.typing as npt

    from glsw.device.compiling import Begun, Compiling
    from glsw.device.transfer import Fence, Fill, Readback, Staging

__all__ = [
    "Device",
    "DeviceError",
    "DeviceInfo",
    "DeviceMemoryError",
    "EndlessError",
    "SoftwareRendererWarning",
    "Timer",
    "devices",
    "open_device",
]

# The driver's clock counts 32 bits of nanoseconds, which wrap after 4.29 s.
_MAX_MEASURED_SECONDS = 4.0


class EndlessError(DeviceError):
    """The device does not finish its work."""


_GUILTY = 0x8253
_RESETS = {
    _GUILTY: "which its own work has reset",
    0x8254: "which other work has reset",
    0x8255: "which was reset",
}


class SoftwareRendererWarning(UserWarning):
    """No GPU is used: the OpenGL device is a software renderer, such as Mesa's llvmpipe.

    Results are the same as those of a GPU. ``pip install 'glsw[cpu]'`` makes searches and the
    comparison of pairs faster.
    """


def without_gpu(info: DeviceInfo) -> str:
    """Return the text of the warning about a software renderer."""
    return f"no GPU is used: {info.name} is a software renderer on the CPU"


@dataclass
class Timer:
    """The time that the ``with`` block of `Device.timer` took, set when the block ends.

    Attributes
    ----------
    seconds : float
        Device time if the device measures it, otherwise the same as `wall`.
    wall : float
        Wall time, from an idle device until it is idle again.
    measured : bool
        ``seconds`` comes from the device's own clock.
    """

    seconds: float = 0.0
    wall: float = 0.0
    measured: bool = False


class Device(ThreadSafeContext):
    """An open device: its context, its limits, and the programs compiled on it.

    Returned by `open_device`, always the same object in a process. Threads may use it one at a
    time: in a ``with`` block the context is current in this thread, and other threads wait, see
    `glsw.device.current`. The device stays open until `close`.

    Attributes
    ----------
    info : DeviceInfo
    ctx : moderngl.Context
        Objects dropped without ``release()`` are freed when the context is next activated.
    programs : dict
        Cache of compiled programs, kept by `glsw.device.shader`.
    begun, compiling : dict, Compiling or None
        Programs that a thread compiles, and the thread, likewise.
    patience : float or None
        Maximum seconds that `finish` waits, None for no limit.
    opened : int
        How often the context was opened: what was made in an earlier one is gone.
    guilty : bool
        Whether a context was lost by the device's own work here.
    trouble : str
        Why no engine uses the device any more, "" if they do.
    proofs : object
        Results of the self-tests of its engines, kept by `glsw.trust.proofs`.
    """

    def __init__(
        self,
        index: int,
        ctx: moderngl.Context,
        release: Callable[[], None],
        leave: Callable[[], object] = bool,
    ) -> None:
        self.info = read_info(index, ctx)
        super().__init__(ctx, leave, f"device {index} ({self.info.name})")
        self.opened, self.guilty = 1, False
        self.programs: dict[Any, Any] = {}
        self.begun: dict[Any, Begun] = {}
        self.compiling: Compiling | None = None
        self._release = release
        self._query: Any = None
        self._timing = False
        self._staging: Staging | None = None
        self._readback: Readback | None = None
        self.patience: float | None = None
        self.trouble: str = ""
        self.proofs: Any = None

    def __repr__(self) -> str:
        return f"<Device {self.info}>"

    def __exit__(self, *exception: object) -> None:
        try:
            if isinstance(error := exception[1], moderngl.Error):
                self._fail("computing", str(error), self._ctx.error == "GL_OUT_OF_MEMORY")
        finally:
            super().__exit__(*exception)

    def check(self, action: str) -> None:
        """Raise `DeviceError` if GL has reported an error since the last check.

        GL errors are silent: call this after every allocation, dispatch and draw.

        Parameters
        ----------
        action : str
            The action, for the message.
        """
        error = self.ctx.error
        if error != "GL_NO_ERROR":
            self._fail(action, f"GL error {error}", error == "GL_OUT_OF_MEMORY")

    @contextmanager
    def checked(self, action: str) -> Iterator[None]:
        """Raise `DeviceError` if the ``with`` block fails on the device, as `check` does."""
        try:
            yield
        except moderngl.Error as error:
            self._fail(action, str(error), self._ctx.error == "GL_OUT_OF_MEMORY")
        self.check(action)

    def _fail(self, action: str, error: str, out_of_memory: bool) -> NoReturn:
        """Raise the error of an action; if the driver has lost the context, close the device."""
        if reset := _RESETS.get(status := self._reset_status()):
            self.closed, self.guilty = True, status == _GUILTY
            self._end = "has lost its context"
            if open_now.get(self.info.index) is self:
                del open_now[self.info.index]
            raise DeviceError(
                f"{action}: {self.info.name} has lost its context, {reset}; the device can be "
                "opened again"
            ) from None
        self._ctx.clear_errors()
        kind = DeviceMemoryError if out_of_memory else DeviceError
        raise kind(f"{action}: {error} on {self.info.name}") from None

    def _reset_status(self) -> int:
        """Return why the context was lost, 0 if it was not or the driver does not tell."""
        names = {"GL_KHR_robustness": "", "GL_ARB_robustness": "ARB", "GL_EXT_robustness": "EXT"}
        suffixes = [end for name, end in names.items() if name in self._ctx.extensions]
        if self.info.version >= (4, 5):
            suffixes.insert(0, "")
        if not suffixes:
            return 0
        symbol = f"glGetGraphicsResetStatus{suffixes[0]}"
        return int(gl_function(self._ctx, symbol, result=ctypes.c_uint)())

    def limit(self, name: str) -> int:
        """Return a limit by name, see `DeviceInfo.limits`; ValueError if unknown."""
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
        if self._query is None and not self.info.es:  # which has no clock
            self._query = self.ctx.query(time=True)
        timer = Timer()
        self._timing = True
        start = time.perf_counter()
        if self._query:
            self._query.__enter__()
        try:
            yield timer
        finally:
            self._timing = False
            self.activate()
            if self._query:
                self._query.__exit__(None, None, None)
            self.ctx.finish()
            timer.wall = time.perf_counter() - start
            elapsed = self._query.elapsed * 1e-9 if self._query else 0.0
            # Software renderers report 0 for compute, and for draws the time to queue them.
            timer.measured = (
                elapsed > 0 and timer.wall < _MAX_MEASURED_SECONDS and not self.info.software
            )
            timer.seconds = elapsed if timer.measured else timer.wall

    def finish(self) -> None:
        """Wait until the device has finished all queued work.

        Raises
        ------
        EndlessError
            If it has not finished after `patience` seconds; the device is then unusable.
        """
        if self.patience is not None and not self.fence().wait(self.patience):
            if self._reset_status():
                self._fail("waiting", "no end", out_of_memory=False)
            raise EndlessError(f"{self.info.name} has not finished after {self.patience:g} s")
        self.ctx.finish()

    def wait(self) -> None:
        """Wait as `finish` does if `patience` is set, before something waits without a limit."""
        if self.patience is not None:
            self.finish()

    def fence(self) -> Fence:
        """Return a fence behind all commands queued so far."""
        from glsw.device.transfer import Fence  # imports numpy

        self.activate()
        return Fence(self.ctx)

    def write(self, buffer: moderngl.Buffer, array: npt.NDArray[Any]) -> None:
        """Write a contiguous array to the start of a buffer."""
        if self.info.software:
            buffer.write(array)
        else:
            self._stage.write(buffer, array)

    def uploads(
        self, buffer: moderngl.Buffer, size: int, fill: Fill, first: int = 0
    ) -> Iterator[None]:
        """Write bytes to the start of a buffer in some steps, see `Staging.uploads`."""
        from glsw.device.transfer import uploads

        if self.info.software:
            return uploads(buffer, size, fill)
        return self._stage.uploads(buffer, size, fill, first)

    @property
    def _stage(self) -> Staging:
        if self._staging is None:
            from glsw.device.transfer import Staging

            self._staging = Staging(self.ctx, self.check)
        return self._staging

    @property
    def readback(self) -> Readback:
        """The reader of buffers, which has its own memory."""
        if self._readback is None:
            from glsw.device.transfer import Readback

            self._readback = Readback(self)
        return self._readback

    def reopen(self) -> None:
        """Open a context anew that was lost; DeviceError if that fails, as of `open_device`."""
        for way in routes():
            if way.index == self.info.index:
                with suppress(DeviceError):
                    self._ctx, self._release, self._leave = way.open()
                    break
        else:
            self._check()
        self._ctx.gc_mode, self._end = "context_gc", "is closed"
        self.programs.clear()
        self.begun.clear()
        if self._staging:
            self._staging.close()
        self.compiling = self._query = self._staging = self._readback = None
        self.closed, self.opened = False, self.opened + 1
        open_now[self.info.index] = self
        self._leave()
        if self._before:
            self._make_current()
        else:
            restore_current()

    def since(self, opened: int) -> Device:
        """Return the device if its context is still the one in which something was made."""
        if self.opened != opened:
            raise DeviceError(f"{self._name} has lost the context in which an engine was made")
        return self

    def close(self) -> None:
        """Release the context, for all users of the device; safe to repeat."""
        if self.closed:
            return
        if forked_after_gl():  # the parent's driver keeps it
            self.closed = True
            return
        with self:
            self.closed = True
            self.programs.clear()
            self._query = None
            if self._staging:
                self._staging.close()
            self._give_up()
            self._release()
        if open_now.get(self.info.index) is self:
            del open_now[self.info.index]


open_now: dict[int, Device] = {}
_opening = threading.RLock()


def devices() -> list[DeviceInfo]:
    """List the OpenGL devices that can be opened, by index.

    Raises
    ------
    DeviceError
        There is none; the message lists what was tried and what to install.
    """
    return devices_and_refusals()[0]


def devices_and_refusals() -> tuple[list[DeviceInfo], list[str]]:
    """List the devices that can be opened, and why others cannot; DeviceError if there is none."""
    check_fork()
    listed, refused = [], list[str]()
    with _opening:
        for device in _opened_in_turn(routes(), refused):
            listed.append(device.info)
            _close_if_new(device)
    return listed, refused


def by_kind(one: DeviceInfo, other: DeviceInfo) -> bool:
    """Tell whether a device is probably faster than another one."""
    return one.rank > other.rank


def open_device(
    device: int | str | None = None,
    *,
    require: tuple[int, int] = (3, 3),
    quiet: bool = False,
    faster: Callable[[DeviceInfo, DeviceInfo], bool] = by_kind,
) -> Device:
    """Open a device, or return it if this process has it open.

    Parameters
    ----------
    device : int or str, optional
        Index, or part of the renderer's or vendor's name in any case (the first match).
        By default the fastest device, by ``faster``; of equal ones the first.
    require : (int, int), optional
        Lowest OpenGL version.
    quiet : bool, optional
        Do not warn if the device is a software renderer.
    faster : callable, optional
        Tells whether a device is faster than another one; by default by their kinds.

    Raises
    ------
    TypeError
        ``device`` is neither a number nor a str.
    DeviceError
        There is no such device (the message lists the others), none at all (it lists what was
        tried and what to install), or its OpenGL is older than ``require``.

    Warns
    -----
    SoftwareRendererWarning
        The device is a software renderer, on the CPU.
    """
    check_fork()
    ways = routes()
    if device is None:
        ways.sort(key=lambda way: way.software)
    elif isinstance(device, bool) or not isinstance(device, int | str):
        raise TypeError(f"device must be an index or part of a name, not {device!r}")
    elif isinstance(device, str) and device.strip().isdecimal():
        device = int(device)
    if isinstance(device, int):
        ways.sort(key=lambda way: way.index != device)

    with _opening:
        chosen = _choose(ways, device, require, faster)
        open_now[chosen.info.index] = chosen
    if chosen.info.software and not quiet:
        caller.warn(without_gpu(chosen.info), SoftwareRendererWarning)
    return chosen


def _choose(
    ways: list[Route],
    wanted: int | str | None,
    require: tuple[int, int],
    faster: Callable[[DeviceInfo, DeviceInfo], bool],
) -> Device:
    """Return the first matching device; if none is named, the fastest, one of each model opened."""
    chosen: Device | None = None
    seen: list[DeviceInfo] = []
    models = {way.index: way.model for way in ways}

    def no_faster(way: Route) -> bool:
        opened = {models[info.index] for info in seen if not info.software}
        return bool(chosen and opened and (way.software or way.model in opened))

    for candidate in _opened_in_turn(ways, skip=no_faster):
        info = candidate.info
        seen.append(info)
        fits = _matches(info, wanted) and info.offers(require)
        if not fits or (chosen is not None and not faster(info, chosen.info)):
            _close_if_new(candidate)
            continue
        if chosen is not None:
            _close_if_new(chosen)
        chosen = candidate
        if wanted is not None:
            break
    if chosen is None:
        raise DeviceError(_no_match(wanted, require, sorted(seen, key=lambda info: info.index)))
    return chosen


def _opened_in_turn(
    ways: list[Route],
    refused: list[str] | None = None,
    skip: Callable[[Route], bool] = lambda way: False,
) -> Iterator[Device]:
    """Yield the devices one after the other, opened unless they are open or to be skipped.

    Fallbacks are tried only if nothing else opens; `DeviceError` if they do not open either. What
    did not open is added to ``refused``.
    """
    refused = [] if refused is None else refused
    found = False
    for way in sorted(ways, key=lambda way: way.fallback):
        if way.fallback and found:
            break
        if skip(way):
            continue
        try:
            device = open_now.get(way.index) or Device(way.index, *way.open())
        except DeviceError as error:
            refused.append(str(error))
            restore_current()
            continue
        found = True
        yield device
    if not found:
        raise nothing_opened(refused)


def _close_if_new(device: Device) -> None:
    """Close a device that was opened only to look at it."""
    if open_now.get(device.info.index) is not device:
        device.close()


def _matches(info: DeviceInfo, wanted: int | str | None) -> bool:
    if isinstance(wanted, int):
        return info.index == wanted
    return wanted is None or wanted.casefold() in f"{info.name} {info.vendor}".casefold()


def _no_match(wanted: int | str | None, require: tuple[int, int], seen: list[DeviceInfo]) -> str:
    there = "; ".join(f"device {info.index}: {info.name}, {info.gl}" for info in seen)
    if any(_matches(info, wanted) for info in seen):
        which = "no device has" if wanted is None else f"device {wanted!r} does not have"
        return f"{which} OpenGL {dotted(require)}, which was asked for; found {there}"
    return f"no device {wanted!r}; found {there}"
