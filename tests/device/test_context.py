from __future__ import annotations

import os
import shutil
import sys

import pytest

import glsw.device.context
import glsw.device.device
import glsw.device.egl
from glsw.device.context import DeviceError, Route, routes
from glsw.device.device import devices, open_device
from glsw.device.egl import VERSIONS

# the ladder of versions


class Attempts:
    """A driver that gives versions up to one, and what it was asked for."""

    def __init__(self, highest, refusal=None):
        self.highest = highest
        self.refusal = refusal or Exception("eglCreateContext failed (0x3009)")
        self.asked = []

    def __call__(self, version):
        self.asked.append(version)
        if version > self.highest:
            raise self.refusal
        return f"GL {version}", lambda: None, lambda: None


@pytest.fixture
def linux(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")


@pytest.mark.usefixtures("linux")
@pytest.mark.parametrize(("highest", "given"), [(330, 330), (410, 410), (440, 430), (460, 460)])
def test_ladder_takes_the_highest(highest, given):
    attempts = Attempts(highest)
    ctx, *_ = Route(0, "EGL device 0", attempts).open()
    assert ctx == f"GL {given}"
    assert attempts.asked == [version for version in VERSIONS if version >= given]


def test_ladder_begins_at_41_on_macos(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    attempts = Attempts(460)
    Route(0, "platform default", attempts).open()
    assert attempts.asked == [410]


@pytest.mark.usefixtures("linux")
@pytest.mark.parametrize(
    ("refusal", "asked"),
    [
        (Exception("not this one"), list(VERSIONS)),
        (ValueError("not this one"), list(VERSIONS)),
        (OSError("no display"), [460]),
        (ImportError("no such library"), [460]),
    ],
)
def test_ladder_ends_with_the_reason(refusal, asked):
    attempts = Attempts(0, refusal)
    with pytest.raises(DeviceError) as caught:
        Route(3, "EGL device 3", attempts).open()
    assert str(caught.value) == f"EGL device 3: {refusal}"
    assert attempts.asked == asked


# machines without drivers, simulated


@pytest.fixture
def bare(monkeypatch):
    """A machine without any driver, display or window system."""
    monkeypatch.setattr(glsw.device.device, "open_now", {})
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(glsw.device.egl, "_openings", {})
    monkeypatch.setattr(glsw.device.egl, "LIBEGL", "libEGL.so.none")
    monkeypatch.setattr(glsw.device.egl, "LIBGL", ("libGL.so.none", "libOpenGL.so.none"))
    monkeypatch.setattr(glsw.device.context, "open_window", lambda *_, **__: 1 / 0)
    return monkeypatch


@pytest.mark.parametrize("ask", [devices, open_device, lambda: open_device(0)])
def test_no_device_at_all(bare, ask):
    bare.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(DeviceError) as caught:
        ask()
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("no OpenGL 3.3 device: ")
    assert "; tried EGL: libEGL.so.none not found; " in message
    assert "platform default: libGL.so.none and libOpenGL.so.none not found" in message
    assert "hidden GLFW window: division by zero" in message
    assert "apt-get install libegl1 libgl1 libgl1-mesa-dri" in message
    assert caught.value.__cause__ is None


def test_no_device_on_other_systems(bare):
    bare.setattr(shutil, "which", lambda name: None)
    with pytest.raises(DeviceError, match="install libEGL, libGL and Mesa's DRI drivers"):
        devices()
    bare.setattr(sys, "platform", "freebsd14")
    bare.setattr(glsw.device.context, "create_context", lambda **_: 1 / 0)
    with pytest.raises(DeviceError, match=r"install your GPU's driver; tried"):
        devices()


def test_egl_without_devices_is_said(bare):
    bare.setattr(glsw.device.context, "egl_devices", list)
    bare.setattr(glsw.device.egl, "LIBEGL", None)  # CDLL(None) is the process itself
    with pytest.raises(DeviceError, match="tried EGL: it lists no devices; platform default"):
        devices()


def test_window_systems_come_last(bare):
    bare.setattr(
        glsw.device.context,
        "egl_devices",
        lambda: [glsw.device.egl.EglDevice((), "/dev/dri/card0")],
    )
    assert [(route.index, route.label, route.fallback) for route in routes()] == [
        (0, "EGL device 0 /dev/dri/card0", False),
        (0, "platform default", True),
        (0, "hidden GLFW window", True),
    ]


# other ways and implementations, in processes of their own


PREPARE = """
from glsw.device import egl
egl.prepare({arguments})
opening = list(egl._openings.values())
from glsw.device.device import open_device
device = open_device(quiet=True)
early = device.ctx.mglo._context is getattr((opening or [None])[0], "context", None)
buffer = device.ctx.buffer(b"kept")
device.check("allocating")
assert buffer.read() == b"kept" and egl.prepared(device.info.index) is None
print(len(opening), early)
"""


@pytest.mark.parametrize(
    ("arguments", "early"),
    [
        *(("", "1 True"), ("index=0", "1 True"), ("every=True", "1 True")),
        *(("index=7", "0 False"), ("software=False", "0 False")),
    ],
)
def test_a_context_may_be_opened_in_advance(arguments, early, run_under):
    assert run_under("llvmpipe", PREPARE.format(arguments=arguments)) == f"{early}\n"


@pytest.mark.parametrize(("implementation", "linked"), [("llvmpipe", 1), ("softpipe", 0)])
def test_an_empty_program_is_compiled_in_advance_if_there_are_compute_shaders(
    implementation, linked, run_under
):
    code = """
import ctypes
from glsw.device.egl import VERSIONS, Compiler, EglContext, load_compiler
context = EglContext(0, VERSIONS)
load_compiler(context)
compiler, linked = Compiler(context), ctypes.c_int()
print(compiler.error())
for name in (1, 2):  # the shader has a number too
    compiler._status(name, 0x8B82, ctypes.byref(linked))
print(linked.value)
"""
    assert run_under(implementation, code) == f"0\n{linked}\n"


def test_a_context_that_is_current_stays_so(run_under):
    code = """
from glsw.device import egl
from glsw.device.device import open_device
device = open_device(quiet=True)
egl.prepare()
buffer = device.ctx.buffer(b"kept")
device.check("allocating")
print(buffer.read())
"""
    assert run_under("llvmpipe", code) == "b'kept'\n"


def test_what_does_not_open_in_advance_says_why_later(bare):
    bare.setattr(glsw.device.egl, "egl_devices", lambda: [glsw.device.egl.EglDevice(())])
    bare.setattr(glsw.device.context, "egl_devices", glsw.device.egl.egl_devices)
    glsw.device.egl.prepare()
    with pytest.raises(DeviceError, match=r"tried EGL device 0: libGL\.so\.none and"):
        open_device()


def test_egl_names_the_software_device(run_under):
    code = """
from glsw.device.egl import egl_devices
for device in egl_devices():
    assert all(name.startswith("EGL_") for name in device.extensions)
    print("EGL_MESA_device_software" in device.extensions)
"""
    assert run_under("llvmpipe", code).count("True") == 1


UNDER_A_DISPLAY = """
import subprocess, sys
subprocess.run(["xvfb-run", "-a", sys.executable, "-c", {code!r}], check=True)
"""
OPEN = """
import glsw.device.context
import glsw.device.egl
from glsw.device.device import devices, open_device
tried = []
def refuse(version):
    tried.append(version)
    raise RuntimeError("not this way")
glsw.device.context.egl_devices = list
if {refused!r}:
    glsw.device.context.{refused} = refuse
device = open_device(quiet=True)
buffer = device.ctx.buffer(b"kept")
device.check("allocating")
assert devices() == [device.info] and buffer.read() == b"kept"
device.close()
assert devices() == [device.info]
print(device.info.version >= (4, 5), device.info.software, len(set(tried)))
"""


@pytest.mark.parametrize(("refused", "tried"), [("_window_context", 0), ("_platform_context", 5)])
def test_contexts_through_a_display(run_under, refused, tried):
    if not shutil.which("xvfb-run"):
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("no xvfb-run (Debian: xvfb, xauth)")
    code = UNDER_A_DISPLAY.format(code=OPEN.format(refused=refused))
    assert run_under("llvmpipe", code) == f"True True {tried}\n"


@pytest.mark.parametrize("text", [b"X11:  no\ndisplay", "X11: no display"])
def test_errors_of_glfw_are_bytes_or_text(text, monkeypatch):
    import glfw

    monkeypatch.setattr(glfw, "init", lambda: False)
    for given, said in ((text, "X11: no display"), (None, "no window system")):
        monkeypatch.setattr(glfw, "get_error", lambda given=given: (65550, given))
        with pytest.raises(OSError, match=f"^{said}$"):
            glsw.device.context.open_window(330, 16, 16, "glsw")


def test_functions_that_only_egl_knows_are_loaded(device):
    context = device.ctx.mglo._context
    if isinstance(context, glsw.device.egl.EglContext):
        assert context.load("glGetError") != 0
        assert context.load("glGetGraphicsResetStatus") != 0  # not in the table of libGL
        assert context.load("not_a_function_of_gl") == 0
