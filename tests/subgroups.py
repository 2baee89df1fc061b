"""Emulated subgroups, for renderers that have none: of any width, and filled in any order.

GLSL does not say how the invocations of a work group fill subgroups, nor that the compiler chose
``gl_SubgroupSize`` lanes for a program. Here the text of a program gets built-in variables and
shuffles of our own, in shared memory.
"""

import re
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import glsw.device.shader

#: Where invocation ``L`` of ``WORKGROUP`` is, as (number of its subgroup, place in it), in GLSL.
ORDERS = {
    "in order": ("L / W", "L % W"),
    "strided": ("L % COUNT", "L / COUNT"),
    "neighbours exchanged": ("L / W", "(L % W) ^ 1u"),
    "backwards": ("L / W", "W - 1u - L % W"),
    "every other one first": ("L / W", "(L % W) / 2u + (L % 2u) * (W / 2u)"),
}
_KINDS = "int", "uint", "uvec2"
_SHUFFLE = """
shared {kind} exchanged_{kind}[WORKGROUP];
{kind} subgroupShuffle({kind} x, uint from) {{
    exchanged_{kind}[FIRST + PLACE] = x;
    barrier();
    {kind} found = exchanged_{kind}[FIRST + min(from, W - 1u)];
    barrier();
    return found;
}}
{kind} subgroupShuffleUp({kind} x, uint by) {{ return subgroupShuffle(x, max(PLACE, by) - by); }}
{kind} subgroupShuffleXor({kind} x, uint by) {{ return subgroupShuffle(x, PLACE ^ by); }}
"""


def emulated(source, width, size, order):
    """Return the text of a program with subgroups of our own."""
    number, place = ORDERS[order]
    head = f"""
        const uint W = min({width}u, uint(WORKGROUP)), COUNT = uint(WORKGROUP) / W;
        #define L gl_LocalInvocationIndex
        #define FIRST (({number}) * W)
        #define PLACE ({place})
        """
    head += "".join(_SHUFFLE.format(kind=kind) for kind in _KINDS)
    source = re.sub(r"#extension GL_KHR_shader_subgroup_basic.*", lambda _: head, source)
    source = re.sub(r"#extension GL_KHR_shader_subgroup.*", "", source)
    source = source.replace("gl_SubgroupInvocationID", "PLACE")
    source = source.replace("gl_SubgroupID", number).replace("gl_SubgroupSize", f"{size}u")
    # Barriers are not of a subgroup: all of a work group have to meet in them equally often.
    return re.sub(r"int first_in_step\(\) \{.*?\}", "int first_in_step() { return 0; }", source)


@contextmanager
def emulating(device, width, *, size=None, order="in order"):
    """In this block the device has subgroups: it says of ``size`` lanes, ``width`` by default."""
    real = glsw.device.shader.assemble

    def assemble(*asked, **version):
        source, origins = real(*asked, **version)
        return emulated(source, width, size or width, order), origins

    info = replace(device.info, subgroup_size=size or width)
    with (
        patch.object(glsw.device.shader, "assemble", assemble),
        patch.object(device, "programs", {}),
        patch.object(device, "info", info),
    ):
        yield
