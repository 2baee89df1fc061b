"""What ``glsw --version --verbose`` prints: versions, drivers and devices."""

from __future__ import annotations

from collections.abc import Iterator

from glsw.device.device import DeviceError, devices
from glsw.output.summary import versions
from glsw.words import visible


def lines() -> Iterator[str]:
    """Yield a line per package, and one per device with its driver, or why there is none."""
    for name, version in versions().items():
        yield f"{name} {version}"
    try:
        for info in devices():
            kind = "software" if info.software else "hardware"
            device = f"{info.index}: {info.name} ({info.vendor}), {kind}"
            yield visible(f"device {device}, driver {info.version_string}")
    except DeviceError as error:
        yield f"no device: {' '.join(str(error).split())}"
