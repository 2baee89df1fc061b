"""Specification of an engine, from which another process can create the same one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from glsw import caller
from glsw.cores import check_threads
from glsw.device.current import forked_after_gl
from glsw.device.device import (
    Device,
    DeviceError,
    SoftwareRendererWarning,
    devices,
    open_device,
    without_gpu,
)
from glsw.device.info import dotted
from glsw.engines import ENGINES, Capabilities, Engine, cpu, speeds
from glsw.engines.auto import Auto, engine_of
from glsw.engines.base import AnyEngine
from glsw.rank import local_rank
from glsw.scoring.scoring import Scoring
from glsw.words import did_you_mean

MIN_MEMORY = 2**20


def device_for(
    *kinds: type[AnyEngine],
    device: int | str | Device | None = None,
    quiet: bool = False,
) -> Device | None:
    """Open a device that all these engines can use; None if none of them needs OpenGL.

    Other parameters and errors as in `glsw.device.device.open_device`.
    """
    needs = [needed for kind in kinds if (needed := kind.capabilities.requires)]
    if not needs:
        return None
    if isinstance(device, Device):
        return device
    opened = open_device(device, require=max(needs), quiet=True, faster=speeds.faster)
    if not quiet and opened.info.software:
        _warn_of_software(opened)
    return opened


def _warn_of_software(device: Device, advice: str = "") -> None:
    text = f"{without_gpu(device.info)}{advice}"
    caller.warn(text, SoftwareRendererWarning, once=device.info.name)


@dataclass(frozen=True)
class EngineSpec:
    """Name, scoring, device and memory of an engine; other processes get it instead of the engine.

    Parameters
    ----------
    name : str
        A name in `glsw.engines.ENGINES`.
    scoring : Scoring
    device : int, str, Device or None
        As for `glsw.device.device.open_device`.
    memory : int or None
        Bytes of device memory.
    threads : int or None
        Of engine ``cpu``, also where ``auto`` uses it.
    of_rank : bool
        If none is named, take the device of `device_of_rank`; ``auto`` where there is one.
    """

    name: str
    scoring: Scoring
    device: int | str | Device | None = None
    memory: int | None = None
    threads: int | None = None
    of_rank: bool = False

    @property
    def requires(self) -> tuple[int, int] | None:
        """The OpenGL version that the engine needs; ValueError if it cannot be made like this."""
        engines = self.engines
        if self.name not in engines:
            hint = did_you_mean(self.name, engines)
            raise ValueError(
                f"unknown engine {self.name!r}{f'{hint} There' if hint else '; there'} are "
                f"{', '.join(engines)}"
            )
        capabilities: Capabilities = engines[self.name].capabilities
        if self.memory is not None:
            if not capabilities.memory:
                raise ValueError(f"engine {self.name!r} has no memory limit")
            given: Any = self.memory
            if isinstance(given, bool) or not isinstance(given, Integral):
                kind = type(given).__name__
                raise TypeError(f"memory must be a whole number of bytes, not {kind}")
            if self.memory < MIN_MEMORY:
                raise ValueError(f"memory {self.memory}: at least 1 MiB expected")
        check_threads(self.threads)
        return capabilities.requires

    @property
    def engines(self) -> Mapping[str, Any]:
        """The engines by name."""
        return ENGINES

    def make(self, *, quiet: bool = False) -> Any:
        """Return the engine, its device opened; errors as `open_device` and `requires`.

        If no device is named, ``auto`` uses ``cpu`` where that is installed and faster than the
        device; device ``"auto"`` is that of `device_of_rank`, always a hardware one.
        """
        requires = self.requires
        ranked = self.device is None and self.of_rank
        if ranked and self.name == "auto":
            ranked = bool(_hardware(requires))
        if ranked or self.device == "auto":
            index = requires and device_of_rank(requires)
            return replace(self, device=index, of_rank=False).make(quiet=quiet)
        kind = self.engines[self.name]
        options: dict[str, Any] = {} if self.memory is None else {"memory": self.memory}
        if self.threads is not None and kind in (Auto, cpu.Cpu):
            options["threads"] = self.threads
        if kind is Auto and self.device is None:
            return _auto(self.scoring, quiet, **options)
        device = device_for(kind, device=self.device, quiet=quiet)
        with device or nullcontext():
            return self.engine_of(kind, device, **options)

    def engine_of(self, kind: Any, device: Device | None, **options: Any) -> Any:
        """Return an engine on an open device, see `glsw.engines.engine_of`."""
        return engine_of(kind, self.scoring, device, proves=True, **options)


def _auto(scoring: Scoring, quiet: bool, *, threads: int | None = None, **options: Any) -> Engine:
    """Return engine ``auto`` on the best device; ``cpu`` scores its searches where it is faster.

    There it is ``cpu`` itself without compute shaders: it traces back on the host as well.
    """
    installed = cpu.is_installed()
    able = installed and cpu.takes(scoring)
    try:
        least = Auto.capabilities.requires or (3, 3)
        device = open_device(require=least, quiet=True, faster=speeds.faster)
    except DeviceError as error:
        if not able or forked_after_gl():
            raise
        if not quiet:
            caller.warn(f"engine 'cpu' is used: {error}", RuntimeWarning)
        return _why(cpu.Cpu(scoring, threads=threads), "no OpenGL device")
    info = device.info
    if info.software and not quiet:
        use = "computes searches and pairs" if installed else "is faster: pip install 'glsw[cpu]'"
        _warn_of_software(device, f"; engine 'cpu' {use}" if able or not installed else "")
    rates = speeds.known(device)
    rate = rates.get(speeds.scanner_of(info), math.inf)
    slower = able and (info.software or rate < rates.get(cpu.Cpu.name, 0.0))
    reasons = [f"device {info.index}, {info.name}, {info.kind}, OpenGL {dotted(info.version)}"]
    reasons += [f"{name} measured: {value / 1e9:.3g} GCUPS" for name, value in rates.items()]
    reasons += [] if installed else ["engine 'cpu' is not installed"]
    reasons += ["searches by cpu"] * slower
    if slower and not info.compute:
        return _why(cpu.Cpu(scoring, threads=threads), *reasons)
    with device:
        options |= {"scanner": cpu.Cpu} if slower else {}
        made = Auto(scoring, device, threads=threads, with_host=able, proves=True, **options)
        return _why(made, *reasons)


def _why(engine: Engine, *reasons: str) -> Engine:
    """Return an engine that says why it was chosen."""
    engine.why = "; ".join(reasons)
    return engine


def device_of_rank(require: tuple[int, int]) -> int:
    """Return the index of the hardware device of this process: that of its number on the host.

    A process without a number takes the first device.

    Raises
    ------
    DeviceError
        If there is no hardware device with this version of OpenGL, or fewer than processes.
    """
    fit = _hardware(require)
    rank, source = local_rank() or (0, "")
    if not fit:
        names = ", ".join(info.name for info in devices())
        raise DeviceError(
            f"device 'auto': no hardware device, found {names}; name a software renderer as the "
            "device, or use engine 'cpu'"
        )
    if rank >= len(fit):
        raise DeviceError(
            f"device 'auto': {source} is number {rank} of its host, from 0, and there are "
            f"{len(fit)} hardware devices; start one process per device"
        )
    return fit[rank]


def _hardware(require: tuple[int, int] | None) -> list[int]:
    """Return the indices of the hardware devices with an OpenGL version, if one is needed."""
    if require is None:
        return []
    with suppress(DeviceError):  # there is none at all
        return [each.index for each in devices() if each.offers(require) and not each.software]
    return []
