"""The window itself: GLFW gives it and its events, moderngl draws."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.device.current import signals_held
from glsw.device.device import DeviceError
from glsw.device.shader import assemble
from glsw.wings.dotplot.colours import COLOURS
from glsw.wings.view import scene
from glsw.wings.view.computer import Computed, Computer, ThreadedWorker
from glsw.wings.view.viewer import MARGINS, Viewer

_BLANK = (0.91, 0.91, 0.91)
_SECONDS_PER_FRAME = 1 / 30


@contextmanager
def glfw_window(width: int, height: int, title: str) -> Iterator[Any]:
    """Open a window with a context of OpenGL 3.3, for a ``with`` block.

    Raises
    ------
    DeviceError
        If there is no display, or it has no OpenGL 3.3.
    """
    import glfw

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # glfw warns and returns nothing; the error is read below
        if not glfw.init():
            raise _no_window(glfw)
        glfw.default_window_hints()
        glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, 3)
        glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, 3)
        glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
        glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, True)
        window = glfw.create_window(width, height, title, None, None)
        if not window:
            raise _no_window(glfw)
    try:
        glfw.make_context_current(window)
        yield window
    finally:
        glfw.destroy_window(window)


def _no_window(glfw: Any) -> DeviceError:
    text = glfw.get_error()[1]
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    reason = " ".join((text or "no window system").split())
    return DeviceError(f"a window needs a display: {reason}")


class Painter:
    """Draws a viewer with the context that is current.

    Parameters
    ----------
    ctx : moderngl.Context
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        vertex = assemble("quad.vert")[0]
        with signals_held():
            self._map, self._overlay = (
                ctx.program(vertex_shader=vertex, fragment_shader=assemble(name)[0])
                for name in ("view/map.frag", "view/overlay.frag")
            )
        self._map_quad, self._overlay_quad = (
            ctx.vertex_array(program, []) for program in (self._map, self._overlay)
        )
        self._textures: dict[str, moderngl.Texture] = {}
        self._uploaded: Computed | None = None
        self._texture: moderngl.Texture | None = None
        nothing = ctx.texture((1, 1), 1, b"\0\0\0\0", dtype="i4")
        self._nothing = nothing

    def draw(self, viewer: Viewer) -> None:
        """Draw all, into the framebuffer of the window."""
        ctx = self._ctx
        size = viewer.width, viewer.height
        ctx.screen.use()
        ctx.scissor = None
        ctx.viewport = (0, 0, *size)
        ctx.clear(*_BLANK)
        if viewer.computed is not None and viewer.computed.maps:
            self._draw_map(viewer, viewer.computed)
        ctx.scissor = None
        ctx.enable(moderngl.BLEND)
        ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        pixels = scene.overlay(viewer).pixels
        if self._texture is None or self._texture.size != size:
            if self._texture:
                self._texture.release()
            self._texture = ctx.texture(size, 4)
        self._texture.write(pixels)
        self._texture.use(0)
        self._overlay["overlay"], self._overlay["height"] = 0, viewer.height
        self._overlay_quad.render(moderngl.TRIANGLE_STRIP, vertices=4)
        ctx.disable(moderngl.BLEND)

    def pixels(self, viewer: Viewer) -> npt.NDArray[np.uint8]:
        """Return what was drawn, shape (height, width, 3)."""
        size = viewer.width, viewer.height
        data = self._ctx.screen.read((0, 0, *size), components=3, alignment=1)
        return np.frombuffer(data, np.uint8).reshape(viewer.height, viewer.width, 3)[::-1]

    def _draw_map(self, viewer: Viewer, found: Computed) -> None:
        """Draw the blocks of tiles, each where its residues are."""
        self._upload(found)
        program, height = self._map, viewer.height
        for k, (name, sign) in enumerate((("plus", "+"), ("minus", "-"))):
            self._textures.get(sign, self._nothing).use(k)
            program[name] = k
        program["shown"] = tuple(
            int(sign in found.maps and sign not in viewer.hidden) for sign in ("+", "-")
        )
        program["scale"] = tuple(found.scale)
        program["inks"] = [tuple(c / 255 for c in COLOURS[sign]) for sign in ("+", "-")]
        program["height"] = float(height)
        right, bottom = viewer.width - MARGINS.right, height - MARGINS.bottom
        for block in scene.blocks(viewer):
            x0, y0 = (
                max(low, round(at)) for low, at in ((MARGINS.left, block.x), (MARGINS.top, block.y))
            )
            x1 = min(right, round(block.x + block.width))
            y1 = min(bottom, round(block.y + block.height))
            if x0 >= x1 or y0 >= y1:
                continue
            self._ctx.scissor = x0, height - y1, x1 - x0, y1 - y0
            program["origin"], program["tile_size"] = (block.x, block.y), block.tile
            program["first"] = block.first_column, block.first_row
            self._map_quad.render(moderngl.TRIANGLE_STRIP, vertices=4)

    def _upload(self, found: Computed) -> None:
        """Put the scores into textures, unless they are there."""
        if found is self._uploaded:
            return
        for texture in self._textures.values():
            texture.release()
        self._textures = {
            sign: self._ctx.texture(
                (tiles.shape[1], tiles.shape[0]), 1, np.ascontiguousarray(tiles), dtype="i4"
            )
            for sign, tiles in found.maps.items()
            if tiles.size
        }
        self._uploaded = found


def show(computer: Computer, width: int, height: int, title: str) -> None:
    """Show a window until it is closed; errors as of `glfw_window`."""
    import glfw

    with glfw_window(width, height, title) as window:
        ctx = moderngl.create_context(require=330)
        worker = ThreadedWorker(computer)
        try:
            viewer = Viewer(computer, worker, *glfw.get_framebuffer_size(window))
            painter = Painter(ctx)
            _listen(glfw, window, viewer)
            while not (glfw.window_should_close(window) or viewer.closed):
                viewer.tick(time.monotonic())
                painter.draw(viewer)
                if viewer.wants_picture:
                    viewer.wants_picture = False
                    viewer.message = f"saved {save(painter, viewer)}"
                glfw.swap_buffers(window)
                glfw.wait_events_timeout(_SECONDS_PER_FRAME)
        finally:
            worker.close()


def save(painter: Painter, viewer: Viewer) -> str:
    """Write what is shown to the first free file glsw-view-N.png here; return its name."""
    number = 1
    while os.path.exists(name := f"glsw-view-{number}.png"):
        number += 1
    from PIL import Image

    Image.fromarray(painter.pixels(viewer)).save(name)
    return name


def _listen(glfw: Any, window: Any, viewer: Viewer) -> None:
    """Hand the events of the window to the viewer."""
    names = {
        getattr(glfw, f"KEY_{name.upper()}"): name
        for name in ("left", "right", "up", "down", "space", "home", "end")
    } | {glfw.KEY_ESCAPE: "q", glfw.KEY_KP_ADD: "+", glfw.KEY_KP_SUBTRACT: "-"}

    def ratio() -> tuple[float, float]:
        """Return pixels of the framebuffer per unit of the screen."""
        pixels, units = glfw.get_framebuffer_size(window), glfw.get_window_size(window)
        return pixels[0] / max(1, units[0]), pixels[1] / max(1, units[1])

    def pressed(_: Any, key: int, code: int, action: int, modifiers: int) -> None:
        if key in names and action != glfw.RELEASE:
            viewer.key(names[key], time.monotonic())

    def typed(_: Any, character: int) -> None:
        if chr(character) != " ":
            viewer.key(chr(character).lower(), time.monotonic())

    def moved(_: Any, x: float, y: float) -> None:
        across, down = ratio()
        viewer.move(x * across, y * down, time.monotonic())

    def clicked(_: Any, button: int, action: int, modifiers: int) -> None:
        if button == glfw.MOUSE_BUTTON_LEFT:
            viewer.hold(action == glfw.PRESS)

    glfw.set_key_callback(window, pressed)
    glfw.set_char_callback(window, typed)
    glfw.set_cursor_pos_callback(window, moved)
    glfw.set_mouse_button_callback(window, clicked)
    glfw.set_scroll_callback(window, lambda _, x, y: viewer.scroll(y, time.monotonic()))
    glfw.set_framebuffer_size_callback(
        window, lambda _, width, height: viewer.resize(width, height, time.monotonic())
    )
