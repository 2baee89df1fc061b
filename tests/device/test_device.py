from __future__ import annotations

import re
import warnings
from collections import deque
from dataclasses import replace
from types import SimpleNamespace

import pytest

import glsw.device.device
import glsw.device.info
from glsw.device.context import Route, routes
from glsw.device.current import current_device
from glsw.device.device import (
    Device,
    DeviceError,
    DeviceInfo,
    SoftwareRendererWarning,
    devices,
    open_device,
)


@pytest.fixture
def opened(device):
    device.activate()
    return device


@pytest.fixture
def second(opened):
    """Another context on the same device, as a second device would have."""
    route = next(route for route in routes() if route.index == opened.info.index)
    device = Device(route.index, *route.open())
    opened.activate()
    yield device
    device.close()


# the real device


def test_lists_what_there_is(opened, capfd):
    listed = devices()
    assert opened.info in listed
    assert [info.index for info in listed] == sorted({info.index for info in listed})
    assert capfd.readouterr() == ("", "")


def test_info(opened):
    info = opened.info
    assert info.name == opened.ctx.info["GL_RENDERER"]
    assert info.version >= (3, 3)
    assert info.compute == info.offers((4, 3))
    assert info.limits["max_texture_size"] >= 1024
    assert info.limits["max_draw_buffers"] >= 8
    floors = {"max_work_group_invocations": 1024, "max_shared_memory": 32 << 10}
    floors |= {"max_storage_block": 128 << 20, "max_storage_bindings": 8, "max_work_groups": 65535}
    for name, floor in floors.items():
        assert info.limits[name] >= (floor if info.compute else 0), name
        assert info.compute or info.limits[name] == 0, name


def test_info_is_one_line(opened):
    text = str(opened.info)
    assert text.startswith(f"{opened.info.index}: {opened.info.name}")
    assert "\n" not in text
    assert ("software" in text) == opened.info.software


def test_opens_once_a_process(opened):
    index = opened.info.index
    assert open_device(index, quiet=True) is opened
    assert open_device(f" {index}", quiet=True) is opened


def test_limit(opened):
    assert opened.limit("max_texture_size") == opened.ctx.info["GL_MAX_TEXTURE_SIZE"]
    with pytest.raises(ValueError, match=r"unknown limit 'max_size'; there are max_texture_size,"):
        opened.limit("max_size")


def test_check_names_action_error_and_renderer(opened):
    opened.check("nothing")
    opened.ctx.texture((10 * opened.limit("max_texture_size"), 1), 4)
    with pytest.raises(DeviceError) as caught:
        opened.check("allocating a texture")
    assert str(caught.value).startswith("allocating a texture: GL error GL_INVALID_VALUE on ")
    assert str(caught.value).endswith(opened.info.name)
    opened.check("nothing")


def test_each_device_has_its_own_errors(opened, second):
    second.activate()
    second.ctx.texture((10 * second.limit("max_texture_size"), 1), 4)
    opened.check("the other device")
    with pytest.raises(DeviceError, match="this one: GL error"):
        second.check("this one")


def test_activate_sends_calls_to_its_own_context(opened, second):
    mine = opened.ctx.buffer(b"mine")
    second.activate()
    theirs = second.ctx.buffer(b"them")
    assert theirs.glo == mine.glo or theirs.read() == b"them"
    opened.activate()
    assert mine.read() == b"mine"
    second.activate()
    assert theirs.read() == b"them"


def test_with_gives_back_the_device_before(opened, second):
    buffer = opened.ctx.buffer(b"mine")
    with second:
        assert current_device() is second
        with opened:
            assert buffer.read() == b"mine"
        assert current_device() is second
    assert current_device() is opened
    assert buffer.read() == b"mine"


def test_listing_gives_back_the_device_before(opened, second):
    second.activate()
    buffer = second.ctx.buffer(b"them")
    devices()
    assert current_device() is second
    assert buffer.read() == b"them"


def test_dropped_objects_are_freed_in_their_own_context(opened, second):
    dropped = opened.ctx.buffer(b"dropped")
    released = opened.ctx.buffer(b"released")
    second.activate()
    kept = [second.ctx.buffer(b"kept") for _ in range(4)]
    released.release()
    del dropped, released
    second.activate()
    assert [buffer.read() for buffer in kept] == [b"kept"] * 4
    opened.activate()
    assert not opened.ctx.objects


def test_closed_device_is_not_used(opened, second):
    second.activate()
    second.close()
    second.close()
    with pytest.raises(DeviceError, match=r"device \d+ \(.*\) is closed"):
        second.activate()
    assert current_device() is None
    opened.check("still there")


def test_timer(opened):
    target = opened.ctx.simple_framebuffer((64, 64))
    for _ in range(2):
        with opened.timer() as timer:
            target.clear(1.0, 0.0, 0.0, 1.0)
        assert 0 < timer.seconds <= timer.wall * 1.5
        assert timer.measured != opened.info.software
        assert timer.measured or timer.seconds == timer.wall
    opened.check("timing")


def test_timers_do_not_nest(opened):
    with opened.timer(), pytest.raises(RuntimeError, match="one timer at a time"):
        opened.timer().__enter__()
    with opened.timer():
        pass
    opened.check("timing")


def test_timer_ends_with_an_exception(opened):
    with pytest.raises(KeyError), opened.timer():
        raise KeyError
    with opened.timer() as timer:
        pass
    assert timer.seconds > 0


# asking for what is not there


def test_unknown_device_lists_those_there_are(opened):
    for wanted in (99, -1, "99", "Voodoo"):
        with pytest.raises(DeviceError) as caught:
            open_device(wanted)
        message = str(caught.value)
        assert message.startswith("no device ")
        assert opened.info.name in message
        assert "\n" not in message
    assert open_device(opened.info.index, quiet=True) is opened


def test_version_not_met_says_asked_and_found(opened):
    major, minor = opened.info.version
    with pytest.raises(DeviceError, match=rf"OpenGL 9\.9, .* found .*GL {major}\.{minor}"):
        open_device(require=(9, 9))
    with pytest.raises(DeviceError, match=r"device \d+ does not have OpenGL 9\.9"):
        open_device(opened.info.index, require=(9, 9))


@pytest.mark.parametrize("wanted", [1.0, True, b"llvmpipe", ["0"]])
def test_wrong_kind_of_device(wanted):
    with pytest.raises(TypeError, match="device must be an index or part of a name"):
        open_device(wanted)


# other machines, simulated


class FakeContext:
    gc_mode = None
    error = "GL_NO_ERROR"

    def __init__(self, name, version):
        self.name, self.version = name, version
        self.objects = deque()
        self.released = False

    def __enter__(self):
        assert not self.released

    def release(self):
        self.released = True


@pytest.fixture
def machine(monkeypatch):
    """Return a function that puts devices, (name, highest version, EGL software), in place."""
    monkeypatch.setattr(glsw.device.device, "open_now", {})
    made = []

    def read_info(index, ctx):
        version = (ctx.version // 100, ctx.version // 10 % 10)
        software = "llvmpipe" in ctx.name
        return DeviceInfo(index, ctx.name, "ACME", version, "", software, False, 0, False, {})

    def build(*listed):
        def opener(name, highest):
            def attempt(version):
                if version > highest:
                    raise Exception("eglCreateContext failed (0x3009)")
                made.append(FakeContext(name, version))
                return made[-1], made[-1].release, lambda: None

            return attempt

        monkeypatch.setattr(
            glsw.device.device,
            "routes",
            lambda: [
                Route(index, f"EGL device {index}", opener(name, highest), software)
                for index, (name, highest, software) in enumerate(listed)
            ],
        )
        return made

    monkeypatch.setattr(glsw.device.device, "read_info", read_info)
    return build


def test_hardware_is_preferred(machine):
    made = machine(("llvmpipe", 450, True), ("llvmpipe (a node)", 450, False), ("GPU", 460, False))
    device = open_device()
    assert (device.info.index, device.info.name) == (2, "GPU")
    assert [context.released for context in made] == [True, False]
    assert open_device() is device


def test_software_will_do(machine):
    made = machine(("broken", 0, False), ("llvmpipe", 450, True), ("llvmpipe 2", 450, True))
    text = "^no GPU is used: llvmpipe is a software renderer on the CPU$"
    with pytest.warns(SoftwareRendererWarning, match=text) as warned:
        assert open_device().info.index == 1
    assert warned[0].filename == __file__
    assert [context.released for context in made] == [False, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_device(quiet=True).info.index == 1


def test_listing_closes_what_it_opened(machine):
    made = machine(("a", 330, False), ("b", 460, False), ("c", 410, False))
    b = open_device(1)
    b.activate()
    assert [info.version for info in devices()] == [(3, 3), (4, 6), (4, 1)]
    assert [context.released for context in made] == [False, True, True]
    assert open_device(1) is b
    assert current_device() is b


def test_default_is_one_that_meets_the_version(machine):
    machine(("old", 330, False), ("new", 460, False))
    assert open_device(require=(4, 3)).info.name == "new"
    assert open_device().info.name == "old"
    with pytest.raises(DeviceError) as caught:
        open_device("OLD", require=(4, 3))
    assert str(caught.value) == (
        "device 'OLD' does not have OpenGL 4.3, which was asked for; "
        "found device 0: old, GL 3.3; device 1: new, GL 4.6"
    )


def test_an_index_opens_no_other_device(machine):
    made = machine(("a", 460, False), ("b", 460, False), ("c", 460, False))
    assert open_device(2).info.name == "c"
    assert len(made) == 1
    assert open_device("B").info.name == "b"


@pytest.mark.parametrize("wanted", [None, 1, "1", "GPU", "g", "acme"])
def test_names_in_any_case(machine, wanted):
    machine(("llvmpipe", 450, True), ("The GPU", 460, False))
    device = open_device("gpu")
    assert open_device(1) is device
    assert open_device(wanted).info.name == ("llvmpipe" if wanted == "acme" else "The GPU")


def test_device_that_does_not_open_leaves_a_gap(machine):
    machine(("a", 460, False), ("broken", 0, False), ("c", 460, False))
    assert [info.index for info in devices()] == [0, 2]
    with pytest.raises(DeviceError, match=r"no device 1; found device 0: a, GL 4\.6; device 2: c"):
        open_device(1)


def test_closing_leaves_the_others(machine):
    machine(("a", 460, False), ("b", 460, False))
    a, b = open_device(0), open_device(1)
    with a:
        b.close()
        assert current_device() is a
    assert open_device(0) is a
    assert open_device(1) is not b


# other GL implementations, in processes of their own

REPORT = """
import sys
from glsw.device.device import devices, open_device
sys.stderr = sys.stdout
device = open_device(quiet=True)
info = device.info
with device.timer() as timer:
    device.ctx.buffer(reserve=4).clear()
device.check("clearing")
assert timer.seconds > 0 and info in devices()
assert info.compute == info.offers((4, 3)) == (info.limits["max_work_group_invocations"] > 0)
print(f"software {info.software}, compute {info.compute}")
device.close()
"""


def test_every_implementation(implementation, run_under):
    compute = implementation in ("llvmpipe", "zink", "swiftshader", "es", "angle")
    assert run_under(implementation, REPORT) == f"software True, compute {compute}\n"


def test_users_are_warned_of_software_once(run_under):
    code = """
import sys
from glsw.device.device import devices, open_device
sys.stderr = sys.stdout
devices()
open_device("llvmpipe", quiet=True)
for _ in range(2):
    open_device("llvmpipe").close()
"""
    said = run_under("llvmpipe", code)
    text = "SoftwareRendererWarning: no GPU is used: llvmpipe .* is a software renderer on the CPU"
    assert re.search(rf"^\S+ {text}", said)
    assert said.count("software renderer") == 1


GL_FEATURES = {"GL_KHR_shader_subgroup"}
ALL_OF_SUBGROUPS, WITHOUT_SHUFFLES = 0xFF, 0x0F
COMPUTE_STAGE, FRAGMENT_STAGE = 0x20, 0x02


@pytest.mark.parametrize(
    ("extensions", "features", "stages", "size"),
    [
        (GL_FEATURES, ALL_OF_SUBGROUPS, 0x3F, 32),
        (GL_FEATURES, 0x33, COMPUTE_STAGE, 32),  # no arithmetic, as on Ice Lake to DG2
        (GL_FEATURES, WITHOUT_SHUFFLES, 0x3F, 0),
        (GL_FEATURES, ALL_OF_SUBGROUPS, FRAGMENT_STAGE, 0),
        (GL_FEATURES, 0, 0, 0),
        (set(), ALL_OF_SUBGROUPS, 0x3F, 0),
    ],
)
def test_subgroups_need_shuffles_in_compute_shaders(
    monkeypatch, extensions, features, stages, size
):
    values = {0x9532: 32, 0x9533: stages, 0x9534: features}
    monkeypatch.setattr(glsw.device.info, "read_integer", lambda ctx, code: values[code])
    assert glsw.device.info._subgroup_size(SimpleNamespace(extensions=extensions)) == size


@pytest.mark.parametrize(
    ("vendor", "name", "registers"),
    [
        ("NVIDIA Corporation", "NVIDIA H100 80GB HBM3/PCIe/SSE2", 255),
        ("AMD", "AMD Radeon RX 7900 XTX (radeonsi, navi31, ACO, DRM 3.54)", 255),
        ("Mesa", "NV120", 255),
        ("Mesa", "NVE0", 63),
        ("Mesa", "NVC0", 63),
        ("Intel", "Mesa Intel(R) Iris(R) Xe Graphics (TGL GT2)", 128),
        ("Mesa", "Apple M1 (G13G A0)", 128),
        ("freedreno", "FD730", 128),
    ],
)
def test_registers_follow_the_vendor(opened, vendor, name, registers):
    info = replace(opened.info, vendor=vendor, name=name, software=False)
    assert info.registers == registers
