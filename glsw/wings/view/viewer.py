"""The state of a window on a dot plot: what its keys and its mouse do, and what it has to show."""

from __future__ import annotations

from typing import NamedTuple

from glsw.wings.view.computer import Computed, Computer, Worker
from glsw.wings.view.viewport import Request, Viewport
from glsw.wings.view.wavefront import MAX_RESIDUES, Wavefront

KEYS = (
    "wheel, +, -: zoom   drag, arrows: move   0: all   1: letters   A: paths   "
    "F, M: strands   S: save picture   Q: close",
    "W: wavefront of Liu et al. 2006   space: run or stop   N, P: next, previous pass   "
    "Home, End: first, last",
)
"""The key bindings, as the window shows them."""
_ZOOM = 1.5
_PAN = 80
_SETTLED_SECONDS = 0.15
"""A view that has not moved for so long is computed."""
_PASSES_PER_SECOND = 12.0


class Margins(NamedTuple):
    """Pixels around the map: coordinates and letters left and above, read-out and keys below."""

    left: int = 92
    top: int = 40
    right: int = 8
    bottom: int = 62


MARGINS = Margins()


class Viewer:
    """Which part is shown, which map is computed, what the wavefront does.

    Parameters
    ----------
    computer : Computer
    worker : Worker
    width, height : int
        Pixels of the window.

    Attributes
    ----------
    viewport : Viewport
    computed : Computed or None
        The map to show.
    wavefront : Wavefront or None
    mouse : (float, float) or None
        Pixel under the pointer.
    """

    def __init__(self, computer: Computer, worker: Worker, width: int, height: int) -> None:
        self.computer, self.worker = computer, worker
        self.width, self.height = width, height
        self.viewport = Viewport(*computer.lengths, *self._inner()).whole()
        self.computed: Computed | None = None
        self.wavefront: Wavefront | None = None
        self.mouse: tuple[float, float] | None = None
        self.message = ""
        self.shows_paths, self.running, self.closed, self.wants_picture = True, False, False, False
        self.hidden: set[str] = set()
        self._held = False
        self._moved_at: float | None = None
        self._submitted: Request | None = None
        self._stepped_at = 0.0

    def tick(self, now: float) -> None:
        """Take what was computed, and ask for what is missing; ``now`` in seconds."""
        latest = self.worker.latest()
        if latest is not None and latest.maps:
            self.computed = latest
        if self._moved_at is None:
            self._moved_at = now
        pixels, settled = self.computer.pixels_per_tile, now - self._moved_at >= _SETTLED_SECONDS
        if self.viewport.needs(self._submitted, pixels) and (settled or not self._submitted):
            self._submitted = self.viewport.request(pixels)
            self.worker.submit(self._submitted)
        if self.wavefront and self.running:
            steps = int((now - self._stepped_at) * _PASSES_PER_SECOND)
            if steps:
                self._stepped_at = now
                self.wavefront = self.wavefront.stepped(steps)
                self.running = self.wavefront.k + 1 < self.wavefront.passes

    def key(self, name: str, now: float = 0.0) -> None:
        """Do what a key is for: its character, or left, right, up, down, space, home, end."""
        view, self.message = self.viewport, ""
        moves = {"left": (_PAN, 0), "right": (-_PAN, 0), "up": (0, _PAN), "down": (0, -_PAN)}
        zooms = {"+": _ZOOM, "=": _ZOOM, "-": 1 / _ZOOM}
        steps = {"n": 1, "p": -1, "home": -(2**30), "end": 2**30}
        if name in moves:
            self._show(view.moved(*moves[name]), now)
        elif name in zooms:
            self._show(view.zoomed(zooms[name], view.width / 2, view.height / 2), now)
        elif name == "0":
            self._show(view.whole(), now)
        elif name == "1":
            self._show(view.close(), now)
        elif name == "w":
            self._switch_wavefront(now)
        elif name == "space" and self.wavefront:
            self.running, self._stepped_at = not self.running, now
        elif name in steps and self.wavefront:
            self.running = False
            self.wavefront = self.wavefront.stepped(steps[name])
        elif name == "a":
            self.shows_paths = not self.shows_paths
        elif name in ("f", "m"):
            self.hidden ^= {"+" if name == "f" else "-"}
        elif name == "s":
            self.wants_picture = True
        elif name == "q":
            self.closed = True

    def scroll(self, amount: float, now: float = 0.0) -> None:
        """Zoom at the pointer."""
        x, y = self._in_map(self.mouse) if self.mouse else (0.0, 0.0)
        self._show(self.viewport.zoomed(_ZOOM**amount, x, y), now)

    def hold(self, held: bool) -> None:
        """Begin or end to drag."""
        self._held = held

    def move(self, x: float, y: float, now: float = 0.0) -> None:
        """Follow the pointer, and drag the map if it is held."""
        if self._held and self.mouse:
            self._show(self.viewport.moved(x - self.mouse[0], y - self.mouse[1]), now)
        self.mouse = x, y

    def resize(self, width: int, height: int, now: float = 0.0) -> None:
        """Keep the place in a window of another size."""
        self.width, self.height = width, height
        self._show(self.viewport.sized(*self._inner()), now)

    def pointed(self) -> tuple[int, int] | None:
        """Return the query's and the target's residue under the pointer, None beside the map."""
        return self.viewport.at(*self._in_map(self.mouse)) if self.mouse else None

    def _inner(self) -> tuple[int, int]:
        return (
            max(1, self.width - MARGINS.left - MARGINS.right),
            max(1, self.height - MARGINS.top - MARGINS.bottom),
        )

    def _in_map(self, place: tuple[float, float]) -> tuple[float, float]:
        return place[0] - MARGINS.left, place[1] - MARGINS.top

    def _show(self, view: Viewport, now: float) -> None:
        if view != self.viewport:
            self.viewport, self._moved_at = view, now

    def _switch_wavefront(self, now: float) -> None:
        if self.wavefront:
            self.wavefront, self.running = None, False
            return
        part = self.viewport.visible()
        longest = max(part.query_end - part.query_start, part.target_end - part.target_start)
        if longest > MAX_RESIDUES:
            self.message = f"zoom in: the wavefront is for at most {MAX_RESIDUES} residues"
            return
        codes = self.computer.codes(part)
        self.wavefront = Wavefront.of(part, *codes, self.computer.mapper.scoring)
        self.running, self._stepped_at = True, now
