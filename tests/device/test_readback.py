"""Downloads through mapped memory."""

from dataclasses import replace

import numpy as np
import pytest

from glsw.device import readback
from glsw.device.readback import Readback


@pytest.fixture
def hardware(device, monkeypatch):
    """Return the device, which says that it is no software renderer."""
    monkeypatch.setattr(device, "info", replace(device.info, software=False))
    monkeypatch.setattr(readback, "_LEAST_BYTES", 16)
    monkeypatch.setattr(readback, "_MOST_BYTES", 4000)
    return device


@pytest.mark.parametrize("version", [(4, 5), (4, 3)], ids=["mapped", "not mapped"])
def test_what_is_read_is_what_was_there_then(hardware, monkeypatch, version):
    usable = min(version, hardware.info.version)
    monkeypatch.setattr(hardware, "info", replace(hardware.info, version=usable))
    back, rng = Readback(hardware), np.random.default_rng(1)
    for sizes in ([16], [8, 4], [400, 0, 40], [4], [4000, 4], [1000, 2000]):
        arrays = [rng.integers(0, 256, size, np.uint8) for size in sizes]
        buffers = [hardware.ctx.buffer(array.tobytes() + bytes(8)) for array in arrays]
        taken = back.begin([(buffer, size) for buffer, size in zip(buffers, sizes, strict=True)])
        for buffer in buffers:
            buffer.write(bytes(buffer.size))
        found = taken()
        assert [each.tolist() for each in found] == [each.tolist() for each in arrays]
    hardware.check("tests")


def test_software_renderers_are_read_at_once(device, monkeypatch):
    monkeypatch.setattr(device, "info", replace(device.info, software=True))
    monkeypatch.setattr(readback, "_LEAST_BYTES", 1)
    monkeypatch.setattr(readback, "mapped", None)
    buffer = device.ctx.buffer(b"12345678")
    (found,) = device.readback.begin([(buffer, 4)])()
    assert found.tobytes() == b"1234"
