"""OpenGL devices: contexts, shaders and compiled programs.

The public names of `glsw.device.device` are here too; it is imported when one of them is used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glsw.device.device import (
        Device,
        DeviceError,
        DeviceInfo,
        DeviceMemoryError,
        SoftwareRendererWarning,
        devices,
        open_device,
    )

__all__ = [
    "Device",
    "DeviceError",
    "DeviceInfo",
    "DeviceMemoryError",
    "SoftwareRendererWarning",
    "devices",
    "open_device",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from glsw.device import device

        return getattr(device, name)
    text = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(text, name=name, obj=sys.modules[__name__])
