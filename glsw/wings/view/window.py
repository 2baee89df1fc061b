"""The window: opened by GLFW, whose events it handles; it shows a picture."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import glfw
import moderngl

from glsw.device.context import open_window
from glsw.device.device import DeviceError
from glsw.wings.view.picture import picture
from glsw.wings.view.scene import Scene

_SECONDS_PER_FRAME = 1 / 30
_ZOOM = 1.5
_PAN = 80
_LEAST = 300, 200
"""Pixels of the smallest window."""


def press(scene: Scene, key: str) -> None:
    """Do what a key is for: its character, or left, right, up, down, space, home, end."""
    scene.message, scene.closed = "", scene.closed or key == "q"
    actions: dict[str, Callable[[], None]] = {
        "left": lambda: scene.move(0, _PAN),
        "right": lambda: scene.move(0, -_PAN),
        "up": lambda: scene.move(_PAN, 0),
        "down": lambda: scene.move(-_PAN, 0),
        "+": lambda: scene.zoom(_ZOOM),
        "=": lambda: scene.zoom(_ZOOM),
        "-": lambda: scene.zoom(1 / _ZOOM),
        "0": scene.whole,
        "1": scene.close_up,
        "a": lambda: scene.switch("paths"),
        "f": lambda: scene.switch("+"),
        "m": lambda: scene.switch("-"),
        "s": lambda: save(scene),
        "w": scene.switch_wavefront,
        "space": scene.run_or_stop,
        "n": lambda: scene.step(1),
        "p": lambda: scene.step(-1),
        "home": lambda: scene.step(-scene.passes),
        "end": lambda: scene.step(scene.passes),
    }
    actions.get(key, lambda: None)()


def save(scene: Scene) -> None:
    """Write what is shown to the first free file glsw-view-N.png here, and say its name."""
    number = 1
    while os.path.exists(name := f"glsw-view-{number}.png"):
        number += 1
    picture(scene).save(name)
    scene.message = f"saved {name}"


class Window:
    """A window on a scene, whose keys and mouse move it.

    Parameters
    ----------
    scene : Scene
    title : str

    Raises
    ------
    DeviceError
        If there is no display, or it has no OpenGL 3.3.
    """

    def __init__(self, scene: Scene, title: str) -> None:
        self.scene, self._drawn = scene, tuple[object, ...]()
        try:
            self._window = window = open_window(330, *scene.size, title)
        except (OSError, RuntimeError) as error:
            raise DeviceError(f"a window needs a display: {error}") from None
        self._ctx = moderngl.create_context(require=330)
        names = {
            getattr(glfw, f"KEY_{name.upper()}"): name
            for name in ("left", "right", "up", "down", "space", "home", "end")
        } | {glfw.KEY_ESCAPE: "q"}

        def pressed(_: Any, key: int, code: int, action: int, modifiers: int) -> None:
            if key in names and action != glfw.RELEASE:
                press(scene, names[key])

        def damaged(_: Any) -> None:
            self._drawn = ()

        glfw.set_window_size_limits(window, *_LEAST, glfw.DONT_CARE, glfw.DONT_CARE)
        glfw.set_key_callback(window, pressed)
        glfw.set_char_callback(window, lambda _, code: press(scene, chr(code).lower()))
        glfw.set_cursor_pos_callback(window, self._moved)
        glfw.set_scroll_callback(window, lambda _, x, y: scene.zoom(_ZOOM**y, scene.mouse))
        glfw.set_framebuffer_size_callback(window, lambda _, *size: scene.resize(*size))
        glfw.set_window_refresh_callback(window, damaged)
        scene.resize(*glfw.get_framebuffer_size(window))

    def _moved(self, window: Any, x: float, y: float) -> None:
        """Follow the pointer, and drag the map if the left button is held."""
        pixels, units = glfw.get_framebuffer_size(window), glfw.get_window_size(window)
        mouse = y * pixels[1] / max(1, units[1]), x * pixels[0] / max(1, units[0])
        before, self.scene.mouse = self.scene.mouse, mouse
        if before and glfw.get_mouse_button(window, glfw.MOUSE_BUTTON_LEFT) == glfw.PRESS:
            self.scene.move(mouse[0] - before[0], mouse[1] - before[1])

    def run(self) -> None:
        """Show the window until it is closed; raise errors of the scene."""
        try:
            while not (glfw.window_should_close(self._window) or self.scene.closed):
                self.scene.tick(time.monotonic())
                self.draw()
                glfw.wait_events_timeout(_SECONDS_PER_FRAME)
        finally:
            glfw.destroy_window(self._window)

    def draw(self) -> None:
        """Draw the scene, unless the window shows it already."""
        shown = self.scene.shown
        if shown == self._drawn:
            return
        image = picture(self.scene)
        texture = self._ctx.texture(image.size, 4, image.tobytes("raw", "RGBX", 0, -1))
        framebuffer = self._ctx.framebuffer(texture)
        self._ctx.copy_framebuffer(self._ctx.screen, framebuffer)
        glfw.swap_buffers(self._window)
        framebuffer.release()
        texture.release()
        self._drawn = shown
