"""The picture in ARCHITECTURE.md: rooms of glsw on floors, drawn from the imports.

The site draws it (docs/hooks.py). ``python docs/imports.py`` prints the floors as text.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "glsw"
PAGE = ROOT / "docs" / "ARCHITECTURE.md"
PLACE = "<!-- the picture -->"
NOT_DRAWN = "_version", "arrays", "caller", "cores", "options", "rank", "wings", "words"
"""Small helpers, the table of options, and the registry of the wings."""

_WIDTH, _HEIGHT, _ACROSS, _BETWEEN = 112, 32, 20, 24  # px of a box, and of the space around it


def imported_rooms(path: Path) -> set[str]:
    """Return the rooms that a module of glsw imports, anywhere in it: see `room_of`."""
    package = ("glsw", *path.relative_to(PACKAGE).parts[:-1])
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return {_room(name.split(".")[1:]) for name in names if name.startswith("glsw.")}


def room_of(path: Path) -> str:
    """Return the room of a module: its folder below glsw, or its own name."""
    return _room(path.relative_to(PACKAGE).with_suffix("").parts)


def _room(names: Sequence[str]) -> str:
    """Return the room of a module by its names below glsw; each wing is a room."""
    wing = names[0] == "wings" and (PACKAGE.joinpath(*names[:2])).is_dir()
    return "/".join(names[: 1 + wing])


def modules() -> list[Path]:
    """Return all modules that are in a room."""
    own = ("__init__.py", "__main__.py")
    return sorted(
        path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.name not in own
    )


def imports() -> dict[str, set[str]]:
    """Return the rooms that each room imports, rooms that import none first; wings are one room.

    Raises
    ------
    ValueError
        If rooms import one another in a circle.
    """
    found: dict[str, set[str]] = {}
    for path in modules():
        room = "wings/" if room_of(path).startswith("wings/") else room_of(path)
        if room not in NOT_DRAWN:
            others = {each for each in imported_rooms(path) if not each.startswith("wings/")}
            found.setdefault(room, set()).update(others - {room, *NOT_DRAWN})
    ordered: dict[str, set[str]] = {}
    while left := {*found} - {*ordered}:
        ready = [room for room in sorted(left) if found[room] <= {*ordered}]
        if not ready:
            raise ValueError(f"imports go in a circle among {sorted(left)}")
        ordered |= {room: found[room] for room in ready}
    return ordered


def direct(rooms: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return pairs (imported, importing), without those that a longer way implies."""
    below: dict[str, set[str]] = {}
    for room, needed in rooms.items():
        below[room] = needed.union(*(below[each] for each in needed))
    return [
        (needed, room)
        for room, every in rooms.items()
        for needed in sorted(every)
        if not any(needed in below[other] for other in every)
    ]


def floors(rooms: dict[str, set[str]]) -> list[list[str]]:
    """Return the rooms of each floor, from the ground: a room is above all that it imports."""
    level: dict[str, int] = {}
    for room, needed in rooms.items():
        level[room] = 1 + max((level[each] for each in needed), default=-1)
    return [[room for room in rooms if level[room] == k] for k in range(1 + max(level.values()))]


def picture() -> str:
    """Return the picture as SVG, in the colours of the page."""
    rooms = imports()
    stories = floors(rooms)
    width = max(map(len, stories)) * (_WIDTH + _ACROSS) + _ACROSS
    height = len(stories) * (_HEIGHT + _BETWEEN) - _BETWEEN + 2
    places = {
        room: (
            round((width - len(story) * (_WIDTH + _ACROSS) + _ACROSS) / 2) + k * (_WIDTH + _ACROSS),
            height - 1 - _HEIGHT - number * (_HEIGHT + _BETWEEN),
        )
        for number, story in enumerate(stories)
        for k, room in enumerate(story)
    }
    lines = [f'<svg class="rooms" viewBox="0 0 {width} {height}" role="img">']
    lines.append("<title>Rooms of glsw: each imports rooms below it</title>")
    middle = _WIDTH // 2
    for below, above in direct(rooms):
        (x, y), (u, v) = places[above], places[below]
        ends = f'x1="{x + middle}" y1="{y + _HEIGHT}" x2="{u + middle}" y2="{v}"'
        lines.append(f"<line {ends}/>")
    for room, (x, y) in places.items():
        name = room if room.endswith("/") or not (PACKAGE / room).is_dir() else f"{room}/"
        lines.append(f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4"/>')
        text = f'<text x="{x + middle}" y="{y + _HEIGHT // 2}">{name}</text>'
        lines.append(text)
    return "\n".join([*lines, "</svg>"])


if __name__ == "__main__":
    for story in reversed(floors(imports())):
        sys.stdout.write(f"{'  '.join(story)}\n")
