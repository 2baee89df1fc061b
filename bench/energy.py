"""Energy of a run, by what the vendor's tool or the kernel tells of a card or of the processor.

What it is read from, by device:

- NVIDIA: ``nvidia-smi``, which prints the watts of the card about 20 times a second;
- AMD, Intel, whatever has sensors in Linux (``hwmon``): joules, else watts of the card;
- software renderers and programs of the CPU: joules of all processor packages (RAPL, the
  ``powercap`` of Linux), which often only the administrator may read.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench import power_meters
from bench.power_meters import NvidiaSmi, PowerMeter, hwmon, rapl
from glsw.device.device import Device
from glsw.device.egl import egl_devices

_FIELDS = ("power.draw.instant", "power.draw")
"""The second is that of older drivers; on newer ones it is the mean of a second."""
_EGL_CUDA_DEVICE = 0x323A  # of EGL_NV_device_cuda


@dataclass(frozen=True)
class Energy:
    """What runs took, with all that the card or the processor needs while idle.

    Attributes
    ----------
    joules_per_run, watts : float
    idle_watts : float or None
        Just before, with the device open.
    seconds : float
        For how long it was looked at.
    tool : str
        Who told.
    """

    joules_per_run: float
    watts: float
    idle_watts: float | None
    seconds: float
    tool: str

    def as_dict(self, cells: int) -> dict[str, Any]:
        """Return what stands in the JSON for runs of this number of cells."""
        return vars(self) | {"picojoules_per_cell": self.joules_per_run / cells * 1e12}


class EnergyMeter:
    """Measures the energy of runs with a power meter."""

    def __init__(self, power_meter: PowerMeter) -> None:
        self._power_meter = power_meter
        self.tool = power_meter.tool

    def measure(self, run: Callable[[], object], seconds: float = 2.0) -> Energy | None:
        """Rest for half that long, then run again and again for about that long.

        None if the power meter told nothing. The result of the run has to be known to be right.
        """
        idle = self._power_meter.used(lambda: time.sleep(seconds / 2))
        runs = 0

        def work() -> None:
            nonlocal runs
            start = time.perf_counter()
            while not runs or time.perf_counter() - start < seconds:
                run()
                runs += 1

        busy = self._power_meter.used(work)
        if busy is None:
            return None
        return Energy(
            joules_per_run=busy.joules / runs,
            watts=busy.joules / busy.seconds,
            idle_watts=idle and idle.joules / idle.seconds,
            seconds=busy.seconds,
            tool=self.tool,
        )


def meter_for(device: Device | None) -> EnergyMeter | None:
    """Return what measures the energy of a device, of the processor without one; None if nothing.

    Of several NVIDIA cards it is the one with the PCI address of EGL's device; where EGL names no
    file of the device, the one with its CUDA number, if all cards are of the same kind (others
    CUDA sorts by speed), else the only one with the renderer's name.
    """
    if device is None or device.info.software:
        power_meter: PowerMeter | None = rapl()
    else:
        path = _drm_file(device)
        if "nvidia" in f"{device.info.name} {device.info.vendor}".casefold():
            address = _pci_address(path)
            power_meter = nvidia(device.info.name, address, _cuda_number(device.info.index))
        else:
            power_meter = None
        power_meter = power_meter or hwmon(path)
    return EnergyMeter(power_meter) if power_meter else None


# which card


class Card(NamedTuple):
    """A line of nvidia-smi."""

    address: str
    name: str


def nvidia(renderer: str, address: str | None, number: int | None) -> NvidiaSmi | None:
    """Return what samples a card, see `chosen`; None if there is no tool or it tells no power."""
    if not shutil.which("nvidia-smi"):
        return None
    for field in _FIELDS:
        words = f"--query-gpu=pci.bus_id,name,{field}", "--format=csv,noheader,nounits"
        try:
            done = subprocess.run(
                ["nvidia-smi", *words],
                capture_output=True,
                text=True,
                timeout=power_meters.PATIENCE,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        if done.returncode == 0:
            card = chosen(cards(done.stdout), renderer, address, number)
            if card:
                return NvidiaSmi(card.address, field)
    return None


def cards(text: str) -> list[Card | None]:
    r"""Read the cards that nvidia-smi lists, None in the place of one that tells no power.

    >>> cards("00000000:65:00.0, NVIDIA H100, 71.30\n00000000:B3:00.0, Tesla K20, [N/A]\n")
    [Card(address='00000000:65:00.0', name='NVIDIA H100'), None]
    """
    found: list[Card | None] = []
    for line in text.splitlines():
        address, name, watts = (word.strip() for word in line.split(","))
        told = re.fullmatch(r"[\d.]+", watts)
        found.append(Card(address, name) if told else None)
    return found


def chosen(
    listed: Sequence[Card | None], renderer: str, address: str | None, number: int | None
) -> Card | None:
    """Return the card of a renderer, see `meter_for`; None if that cannot be told.

    >>> two = [Card("00000000:65:00.0", "NVIDIA H100"), Card("00000000:B3:00.0", "NVIDIA H100")]
    >>> chosen(two, "NVIDIA H100/PCIe/SSE2", "0000:b3:00.0", None) == two[1]
    True
    """
    if len(listed) == 1:
        return listed[0]
    there = [card for card in listed if card]
    if address is not None:
        same = [card for card in there if card.address.casefold().endswith(address.casefold())]
        return same[0] if same else None
    if (
        number is not None
        and number < len(listed)
        and len({card and card.name for card in listed}) == 1
    ):
        return listed[number]
    named = [card for card in there if card.name in renderer]
    return named[0] if len(named) == 1 else None


def _drm_file(device: Device) -> str:
    """Return the device file that EGL names, "" without."""
    listed = egl_devices()
    return listed[device.info.index].path if device.info.index < len(listed) else ""


def _pci_address(drm: str) -> str | None:
    """Return the PCI address of a device file, such as 0000:65:00.0; None if it is not known."""
    if not drm:
        return None
    name = (power_meters.SYS / "class/drm" / Path(drm).name / "device").resolve().name
    return name if re.fullmatch(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.\d", name) else None


def _cuda_number(index: int) -> int | None:
    """Return the CUDA number of EGL's device of that index, None if it has none."""
    try:
        egl = ctypes.CDLL("libEGL.so.1")
    except OSError:
        return None
    pointer, number = ctypes.c_void_p, ctypes.c_int32
    find = ctypes.CFUNCTYPE(pointer, ctypes.c_char_p)(("eglGetProcAddress", egl))
    query, attribute = find(b"eglQueryDevicesEXT"), find(b"eglQueryDeviceAttribEXT")
    if not query or not attribute:
        return None
    handles, count, value = (pointer * 64)(), number(), ctypes.c_ssize_t()
    found = ctypes.CFUNCTYPE(ctypes.c_uint, number, pointer, pointer)(query)(
        64, ctypes.addressof(handles), ctypes.addressof(count)
    )
    if not found or index >= count.value:
        return None
    read = ctypes.CFUNCTYPE(ctypes.c_uint, pointer, number, pointer)(attribute)
    told = read(handles[index], _EGL_CUDA_DEVICE, ctypes.addressof(value))
    return value.value if told else None
