"""New buffers and textures as if they had been used before: full of large numbers.

Drivers mostly give zeros, and a mistake that reads what nobody wrote agrees with the reference on
them. Scores of this pattern are large in any type: integers of 16 and of 32 bits, floats of both;
directions of it are gaps.
"""

from __future__ import annotations

from typing import Any

import moderngl

BYTE = b"\x69"
MOST = 2**22
"""Bytes of each that are filled, the first ones: more than most tests use, and quickly written."""


def fill_new_memory() -> None:
    """Have moderngl fill what it makes without content, from now on."""
    new_buffer, new_texture = moderngl.Context.buffer, moderngl.Context.texture

    def buffer(ctx: moderngl.Context, data: Any = None, **options: Any) -> moderngl.Buffer:
        made = new_buffer(ctx, data, **options)
        if data is None:
            made.write(BYTE * min(made.size, MOST))
        return made

    def texture(
        ctx: moderngl.Context, size: Any, components: int, data: Any = None, **options: Any
    ) -> moderngl.Texture:
        made = new_texture(ctx, size, components, data, **options)
        if data is None:
            (width, height), each = size, 4 if options.get("dtype", "f1")[1:] == "4" else 1
            line = width * components * each
            lines = max(1, min(height, MOST // line))
            made.write(BYTE * line * lines, viewport=(0, 0, width, lines), alignment=1)
        return made

    moderngl.Context.buffer, moderngl.Context.texture = buffer, texture  # type: ignore[method-assign]
