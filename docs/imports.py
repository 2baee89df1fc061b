"""The picture in ARCHITECTURE.md, made from the imports of glsw.

python docs/imports.py          # writes it
python docs/imports.py --check  # exit status 1 if ARCHITECTURE.md has another
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "glsw"
PAGE = ROOT / "docs" / "ARCHITECTURE.md"
BEGIN = "<!-- made by `python docs/imports.py` from the imports: do not edit -->"
END = "<!-- end of the picture -->"


def imported_rooms(path: Path) -> set[str]:
    """Return the rooms that a module of glsw imports: the first name below ``glsw``."""
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
    """Return the rooms that each room imports, rooms that import none first."""
    found: dict[str, set[str]] = {}
    for path in modules():
        room = room_of(path)
        found.setdefault(room, set()).update(imported_rooms(path) - {room})
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


def picture() -> str:
    """Return the picture as a block of Mermaid."""
    rooms = imports()
    lines = ["```mermaid", "flowchart TD"]
    for room in rooms:
        slash = "/" if (PACKAGE / room).is_dir() else ".py"
        lines.append(f'    {room}["{room}{slash}"]')
    lines += [f"    {needed} --> {room}" for needed, room in direct(rooms)]
    return "\n".join([*lines, "```"])


def main(words: list[str]) -> int:
    """Write the picture, or compare it; return the exit status."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(f"{BEGIN}\n")
    old, after = rest.split(f"{END}\n")
    new = f"\n{picture()}\n\n"
    if "--check" not in words:
        PAGE.write_text(f"{before}{BEGIN}\n{new}{END}\n{after}", encoding="utf-8")
    elif new != old:
        print("docs/ARCHITECTURE.md: run python docs/imports.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
