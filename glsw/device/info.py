"""Name, version and limits of an OpenGL device, read from its context."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

import moderngl

from glsw.device.context import read_integer

COMPUTE = (4, 3)
"""The OpenGL version that has compute shaders."""

_ES = "OpenGL ES"  # of which version 3.1 and newer, with compute shaders, are opened

_GL_SUBGROUP_SIZE, _GL_SUBGROUP_STAGES, _GL_SUBGROUP_FEATURES = 0x9532, 0x9533, 0x9534
_COMPUTE_STAGE = 0x20
_BASIC_AND_SHUFFLES = 0x01 | 0x10 | 0x20  # shuffles, and those by a distance

_SOFTWARE = re.compile(
    "llvmpipe|softpipe|swrast|lavapipe|swiftshader"
    "|microsoft basic render|gdi generic|software renderer|software rasterizer",
    re.IGNORECASE,
)

# GPUs that share the memory of the processor: what Intel's others are called, and the names of
# AMD's and of systems on a chip.
_ARC = re.compile(r"\bArc(\(tm\))? (Pro )?[AB]\d|\bDG1\b|Xe MAX|\bFlex\b|\bMax \d", re.IGNORECASE)
_INTEGRATED = re.compile(
    r"radeon(\(tm\))?( vega( \d+)?| r\d| \d{3}m)? graphics|radeon(\(tm\))? \d{3}M\b|custom gpu"
    r"|\b(tegra|orin|thor|apple|adreno|mali|v3d|videocore|vc4|powervr|panfrost|nv(ea|12b|13b))\b",
    re.IGNORECASE,
)

# Names that nouveau gives: of all cards, of Fermi's and of the first of Kepler's.
_NOUVEAU, _FIRST_KEPLERS = re.compile(r"^NV[0-9A-F]{2,3}$"), re.compile(r"^NV(C|D|E[0-7])")

_LIMITS = {
    "max_texture_size": 0x0D33,
    "max_array_texture_layers": 0x88FF,
    "max_texture_buffer_size": 0x8C2B,
    "max_viewport_size": 0x0D3A,
    "max_draw_buffers": 0x8824,
    "max_uniform_block_size": 0x8A30,
}
_COMPUTE_LIMITS = {
    "max_work_group_invocations": 0x90EB,
    "max_shared_memory": 0x8262,
    "max_storage_block": 0x90DE,
    "max_storage_bindings": 0x90DB,
}
_GROUPS = 0x91BE  # of a dispatch, in each dimension


@dataclass(frozen=True)
class DeviceInfo:
    """Name, version and limits of an OpenGL device.

    Attributes
    ----------
    index : int
        Number to open it by: the position in EGL's list, 0 for a device found otherwise.
    name, vendor, version_string : str
        ``GL_RENDERER``, ``GL_VENDOR`` and ``GL_VERSION``.
    version : (int, int)
        OpenGL version of the context, or its OpenGL ES version, see `es`.
    software : bool
        The renderer runs on the CPU.
    compute : bool
        Has compute shaders and storage buffers: GL 4.3 or newer, or GL ES 3.1.
    subgroup_size : int
        Lanes of a subgroup by ``GL_KHR_shader_subgroup``, 0 if compute shaders have no shuffles. A
        compiler may choose fewer lanes for a program.
    half : bool
        16-bit floats in shaders: ``GL_NV_gpu_shader5`` or ``GL_AMD_gpu_shader_half_float``.
    limits : dict of int
        Texels, bytes or counts; limits of compute shaders are 0 without them.
        ``max_work_groups`` and ``max_viewport_size`` are for the first dimension,
        ``max_storage_bindings`` is the number of storage buffers per compute shader.
    """

    index: int
    name: str
    vendor: str
    version: tuple[int, int]
    version_string: str
    software: bool
    compute: bool
    subgroup_size: int
    half: bool
    limits: dict[str, int] = field(repr=False)

    @property
    def es(self) -> bool:
        """The context is one of OpenGL ES."""
        return self.version_string.startswith(_ES)

    @property
    def gl(self) -> str:
        """Name of the version, such as GL 4.6 or GL ES 3.1."""
        return f"GL {'ES ' * self.es}{dotted(self.version)}"

    @property
    def mediump(self) -> bool:
        """A GPU that takes compute shaders of OpenGL ES, whose floats may have 16 bits."""
        return self.compute and not self.software and (self.es or self.version >= (4, 5))

    def offers(self, version: tuple[int, int]) -> bool:
        """Tell whether it can do all that engines need of an OpenGL version."""
        return (COMPUTE if self.es else self.version) >= version

    @property
    def kind(self) -> Literal["software", "integrated", "discrete"]:
        """What it is, as far as its name tells: a renderer on the CPU, or one of two GPUs."""
        if self.software:
            return "software"
        name = f"{self.name} {self.vendor}"
        intel = "intel" in name.casefold() and not _ARC.search(name)
        return "integrated" if intel or _INTEGRATED.search(name) else "discrete"

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """What tells which of two devices is probably faster: the larger one."""
        return not self.software, self.compute, self.kind == "discrete"

    @property
    def registers(self) -> int:
        """32-bit registers of an invocation, about: with more values a compiler spills."""
        if self.software or self.vendor.startswith(("NVIDIA", "AMD", "ATI")):
            return 255
        if _NOUVEAU.search(self.name):
            return 63 if _FIRST_KEPLERS.search(self.name) else 255
        return 128

    def __str__(self) -> str:
        traits = [
            self.gl,
            "software" if self.software else "hardware",
            "compute" if self.compute else "no compute",
            f"subgroups of {self.subgroup_size}" if self.subgroup_size else "no subgroups",
            "half" if self.half else "no half",
            f"textures {self.limits['max_texture_size']}",
        ]
        if self.compute:
            traits.append(f"groups of {self.limits['max_work_group_invocations']}")
            traits.append(f"shared {self.limits['max_shared_memory'] >> 10} KiB")
            traits.append(f"buffers {self.limits['max_storage_block'] >> 20} MiB")
        return f"{self.index}: {self.name} ({self.vendor}); {', '.join(traits)}"


def read_info(index: int, ctx: moderngl.Context) -> DeviceInfo:
    """Read name, version and limits of the device from the current context."""
    told = ctx.info  # reads all of them each time
    name = told["GL_RENDERER"]
    version = (ctx.version_code // 100, ctx.version_code // 10 % 10)
    compute = version >= COMPUTE or told["GL_VERSION"].startswith(_ES)
    limits = {key: read_integer(ctx, code) for key, code in _LIMITS.items()}
    limits |= {
        key: read_integer(ctx, code) if compute else 0 for key, code in _COMPUTE_LIMITS.items()
    }
    limits["max_work_groups"] = read_integer(ctx, _GROUPS, 0) if compute else 0
    ctx.clear_errors()
    return DeviceInfo(
        index=index,
        name=name,
        vendor=told["GL_VENDOR"],
        version=version,
        version_string=told["GL_VERSION"],
        software=bool(_SOFTWARE.search(name)),
        compute=compute,
        subgroup_size=_subgroup_size(ctx),
        half=bool({"GL_NV_gpu_shader5", "GL_AMD_gpu_shader_half_float"} & ctx.extensions),
        limits=limits,
    )


def _subgroup_size(ctx: moderngl.Context) -> int:
    """Return the lanes of a subgroup, 0 if compute shaders cannot shuffle values among them."""
    if "GL_KHR_shader_subgroup" not in ctx.extensions:
        return 0
    features = read_integer(ctx, _GL_SUBGROUP_FEATURES)
    able = features & _BASIC_AND_SHUFFLES == _BASIC_AND_SHUFFLES
    in_compute = read_integer(ctx, _GL_SUBGROUP_STAGES) & _COMPUTE_STAGE
    return read_integer(ctx, _GL_SUBGROUP_SIZE) if able and in_compute else 0


def dotted(version: tuple[int, int]) -> str:
    """Return a version as text, such as 4.3."""
    return f"{version[0]}.{version[1]}"
