"""What drivers of Mesa tell of a program that they have compiled, each in its own words."""

import re
from collections.abc import Iterable

_NUMBERS = {
    # radeonsi
    "registers": (r"VGPRS: (\d+)", r"(\d+) gprs", r"gpr: (\d+)", r" (\d+) full"),
    "waves": (r"Max Waves: (\d+)", r"(\d+) waves"),
    "threads": (r"(\d+) threads",),  # of Apple's group of cores
    "bytes": (r"Code Size: (\d+)", r"to (\d+) bytes", r"(\d+) code size", r"bytes: (\d+)"),
    "instructions": (r"shader: (\d+) inst", r"inst: (\d+)"),
    "shared": (r"LDS: (\d+)", r"shared: (\d+)"),
    "spills": (r"(\d+):\d+ spills:fills", r"Spilled VGPRs: (\d+)", r"(\d+) stp"),
    "fills": (r"\d+:(\d+) spills:fills", r"(\d+) ldp"),
    "scratch": (r"Scratch: (\d+)", r"(\d+) scratch", r"local: (\d+)"),
    "width": (r"SIMD(\d+) shader", r"S, W(\d+)\)"),
}
"""Fields of a row, and where their numbers are in the message of some driver."""


def read(messages: Iterable[str]) -> dict[str, int]:
    """Return what is told of a program; of several parts, the last compiled is the one that counts.

    Registers are those of a lane: 32-bit ones of AMD, NVIDIA, 16-bit ones of Apple, vectors of four
    of Adreno. ``waves`` are those that a SIMD, or a core, holds at once; ``scratch`` are bytes of
    memory that a lane has for what finds no register.
    """
    found: dict[str, int] = {}
    for message in messages:
        told = {name: _first(forms, message) for name, forms in _NUMBERS.items()}
        found |= {name: value for name, value in told.items() if value is not None}
    return found


def _first(forms: Iterable[str], message: str) -> int | None:
    return next((int(found[1]) for form in forms if (found := re.search(form, message))), None)
