"""The picture in ARCHITECTURE.md: packages of glsw on floors, drawn from the imports.

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
NOT_DRAWN = "_version", "arrays", "caller", "cores", "options", "rank", "statuses", "wings", "words"
"""Small helpers, the table of options, and the registry of the wings."""

_WIDTH, _HEIGHT, _ACROSS, _BETWEEN = 112, 32, 20, 24  # px of a box, and of the space around it


def imported_packages(path: Path) -> set[str]:
    """Return the packages that a module of glsw imports, anywhere in it: see `package_of`."""
    package = ("glsw", *path.relative_to(PACKAGE).parts[:-1])
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return {_package(name.split(".")[1:]) for name in names if name.startswith("glsw.")}


def package_of(path: Path) -> str:
    """Return the package of a module: its folder below glsw, or its own name."""
    return _package(path.relative_to(PACKAGE).with_suffix("").parts)


def _package(names: Sequence[str]) -> str:
    """Return the package of a module by its names below glsw; each wing is a package."""
    wing = names[0] == "wings" and (PACKAGE.joinpath(*names[:2])).is_dir()
    return "/".join(names[: 1 + wing])


def modules() -> list[Path]:
    """Return all modules that are in a package."""
    own = ("__init__.py", "__main__.py")
    return sorted(
        path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.name not in own
    )


def imports() -> dict[str, set[str]]:
    """Return the packages that each package imports, those that import none first; wings are one.

    Raises
    ------
    ValueError
        If packages import one another in a circle.
    """
    found: dict[str, set[str]] = {}
    for path in modules():
        package = "wings/" if package_of(path).startswith("wings/") else package_of(path)
        if package not in NOT_DRAWN:
            others = {each for each in imported_packages(path) if not each.startswith("wings/")}
            found.setdefault(package, set()).update(others - {package, *NOT_DRAWN})
    ordered: dict[str, set[str]] = {}
    while left := {*found} - {*ordered}:
        ready = [package for package in sorted(left) if found[package] <= {*ordered}]
        if not ready:
            raise ValueError(f"imports go in a circle among {sorted(left)}")
        ordered |= {package: found[package] for package in ready}
    return ordered


def direct(packages: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return pairs (imported, importing), without those that a longer way implies."""
    below: dict[str, set[str]] = {}
    for package, needed in packages.items():
        below[package] = needed.union(*(below[each] for each in needed))
    return [
        (needed, package)
        for package, every in packages.items()
        for needed in sorted(every)
        if not any(needed in below[other] for other in every)
    ]


def floors(packages: dict[str, set[str]]) -> list[list[str]]:
    """Return the packages of each floor, from the ground: each is above all that it imports."""
    level: dict[str, int] = {}
    for package, needed in packages.items():
        level[package] = 1 + max((level[each] for each in needed), default=-1)
    return [
        [package for package in packages if level[package] == k]
        for k in range(1 + max(level.values()))
    ]


def picture() -> str:
    """Return the picture as SVG, in the colours of the page."""
    packages = imports()
    stories = floors(packages)
    width = max(map(len, stories)) * (_WIDTH + _ACROSS) + _ACROSS
    height = len(stories) * (_HEIGHT + _BETWEEN) - _BETWEEN + 2
    places = {
        package: (
            round((width - len(story) * (_WIDTH + _ACROSS) + _ACROSS) / 2) + k * (_WIDTH + _ACROSS),
            height - 1 - _HEIGHT - number * (_HEIGHT + _BETWEEN),
        )
        for number, story in enumerate(stories)
        for k, package in enumerate(story)
    }
    lines = [f'<svg class="packages" viewBox="0 0 {width} {height}" role="img">']
    lines.append("<title>Packages of glsw: each imports packages below it</title>")
    middle = _WIDTH // 2
    for below, above in direct(packages):
        (x, y), (u, v) = places[above], places[below]
        ends = f'x1="{x + middle}" y1="{y + _HEIGHT}" x2="{u + middle}" y2="{v}"'
        lines.append(f"<line {ends}/>")
    for package, (x, y) in places.items():
        name = (
            package if package.endswith("/") or not (PACKAGE / package).is_dir() else f"{package}/"
        )
        lines.append(f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4"/>')
        text = f'<text x="{x + middle}" y="{y + _HEIGHT // 2}">{name}</text>'
        lines.append(text)
    return "\n".join([*lines, "</svg>"])


if __name__ == "__main__":
    for story in reversed(floors(imports())):
        sys.stdout.write(f"{'  '.join(story)}\n")
