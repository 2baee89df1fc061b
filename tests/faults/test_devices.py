"""Devices that fail: a lost context, too little memory, and memory that must not grow."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import moderngl
import pytest
from cases import GENERAL

import glsw
import glsw.device.device
from glsw.device.context import routes
from glsw.device.device import Device, DeviceError, DeviceMemoryError, open_device

ROOT = Path(__file__).parents[2]
HANGS_AFTER = 3600  # seconds
random.seed(15)
TARGETS = ["".join(random.choices("ACDEFGHIKLMNPQRSTVWY", k=300)) for _ in range(20)]


@pytest.fixture
def mortal(device: Device) -> Iterator[Device]:
    """Another context on the device under test."""
    route = next(route for route in routes() if route.index == device.info.index)
    other = Device(route.index, *route.open())
    yield other
    other.close()


# a driver that loses its context


REASONS = {0x8253: "which its own work has reset", 0x8254: "which other work has reset"}


@pytest.mark.parametrize("status", REASONS)
def test_a_lost_context_is_one_error(
    mortal: Device, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    aligner = glsw.Aligner(engine="diagonal", device=mortal)
    assert aligner.score("HEAGAWGHEE", "PAWHEAE") == 17
    monkeypatch.setattr(mortal, "_reset_status", lambda: status)
    with mortal:
        mortal.ctx.texture((10 * mortal.limit("max_texture_size"), 1), 4)  # an error of GL
        with pytest.raises(DeviceError) as caught:
            mortal.check("computing")
    said = f"computing: {mortal.info.name} has lost its context, {REASONS[status]}; the device can "
    assert str(caught.value) == f"{said}be opened again"
    with pytest.raises(DeviceError, match=r"^device \d+ \(.*\) has lost its context$"):
        aligner.score("HEAGAWGHEE", "PAWHEAE")


def test_a_lost_device_is_opened_again(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glsw.device.device, "open_now", {})
    first = open_device(device.info.index, quiet=True)
    monkeypatch.setattr(first, "_reset_status", lambda: 0x8255)
    with (
        pytest.raises(DeviceError, match=r"computing: .* has lost its context, which was reset; "),
        first.checked("computing"),
    ):
        raise moderngl.Error("cannot create buffer")
    second = open_device(device.info.index, quiet=True)
    assert second is not first
    assert glsw.score("HEAGAWGHEE", "PAWHEAE", device=device.info.index) == 17
    second.close()
    first._release()


def test_a_context_that_is_not_lost(device: Device) -> None:
    with device:
        assert device._reset_status() == 0
    with pytest.raises(DeviceError, match=r"^computing: no on "), device.checked("computing"):
        raise moderngl.Error("no")
    device.check("it goes on")
    device.deactivate()


# too little memory


def test_out_of_memory_of_gl(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        error = "GL_OUT_OF_MEMORY"
        extensions = frozenset[str]()
        objects = ()

        def __enter__(self) -> None: ...

        def clear_errors(self) -> None: ...

    monkeypatch.setattr(device, "_reset_status", lambda: 0)
    with device, monkeypatch.context() as patched:
        patched.setattr(device, "_ctx", Full())
        with pytest.raises(DeviceMemoryError, match=r"^allocating: GL error GL_OUT_OF_MEMORY on "):
            device.check("allocating")
        failing = device.checked("allocating")
        with pytest.raises(DeviceMemoryError, match=r"^allocating: none left on "), failing:
            raise moderngl.Error("none left")


def test_errors_of_moderngl_do_not_leave_a_block(device: Device) -> None:
    with pytest.raises(DeviceError, match=r"^computing: cannot create buffer on "), device:
        raise moderngl.Error("cannot create buffer")
    with pytest.raises(KeyError), device:
        raise KeyError
    device.check("it goes on")


@pytest.mark.parametrize("limit", [2**12, 64])
@pytest.mark.parametrize("engine", [name for name in GENERAL if name != "reference"])
def test_a_device_of_little_memory(
    device: Device, engine: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = glsw.score(TARGETS[0], TARGETS, engine="diagonal", device=device).tolist()
    monkeypatch.setitem(device.info.limits, "max_storage_block", limit)
    aligner = glsw.Aligner(engine=engine, device=None if engine == "cpu" else device)
    if engine in ("cpu", "fragment"):
        assert aligner.score(TARGETS[0], TARGETS).tolist() == expected
    else:
        with pytest.raises(DeviceMemoryError) as caught:
            aligner.score(TARGETS[0], TARGETS)
        said = f"bytes is needed, {device.info.name} binds {limit}"
        assert str(caught.value).endswith(said)
    monkeypatch.undo()
    assert aligner.score(TARGETS[0], TARGETS).tolist() == expected


# memory that is flat


REPEAT = """
import gc, warnings
warnings.simplefilter("ignore")
import glsw, moderngl
from glsw.device.device import open_device

def megabytes():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20

def one_device(number):
    with open_device(quiet=True) as device:
        glsw.score(*PAIR, device=device)
    device.close()

PAIR = "HEAGAWGHEE" * 4, "PAWHEAE" * 9
aligner = glsw.Aligner()
WORK = {{
    "calls": lambda k: glsw.score(*PAIR) + aligner.align(*PAIR).score,
    "aligners": lambda k: [glsw.Aligner(engine=name).score(*PAIR) for name in ("lanes", "scan")],
    "devices": one_device,
}}["{kind}"]
for k in range({count} // 5 + 4):
    WORK(k)
before = megabytes()
for k in range({count}):
    WORK(k)
grown = megabytes() - before
with open_device(quiet=True) as device:  # which frees what was dropped
    assert not device.ctx.objects
buffers = sum(isinstance(each, moderngl.Buffer) for each in gc.get_objects())
print(round(grown), buffers)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read as on Linux")
@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("calls", 60),
        ("aligners", 20),
        ("devices", 5),
        pytest.param("calls", 10_000, marks=pytest.mark.slow),
        pytest.param("aligners", 2_000, marks=pytest.mark.slow),
        pytest.param("devices", 100, marks=pytest.mark.slow),
    ],
)
def test_memory_is_flat(kind: str, count: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", REPEAT.format(kind=kind, count=count)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER,
    )
    assert done.returncode == 0, done.stderr
    grown, buffers = map(int, done.stdout.split())
    assert grown < 24, f"{grown} MiB more after {count} {kind}"
    assert buffers < 40, f"{buffers} buffers after {count} {kind}"
