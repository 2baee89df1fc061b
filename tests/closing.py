"""Copies of the project with closed wings: ``python tests/closing.py FOLDER [WING ...]``.

Without names all wings are closed. What is left is a whole project: its tests run in the copy.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from glsw.wings import opened

ROOT = Path(__file__).parents[1]
LEFT = [".*", "build", "dist", "bench-results"]


def standing_on(names: Iterable[str]) -> list[str]:
    """Return wings, and those that need them."""
    closed = {*names}
    while (
        more := {name for name, wing in opened().items() if {*getattr(wing, "NEEDS", ())} & closed}
        - closed
    ):
        closed |= more
    return sorted(closed)


def close(folder: Path, names: Iterable[str]) -> list[str]:
    """Copy the project into a new folder without some wings; return all that are closed there.

    Their shaders, tests, pages and rows of compilers go too.
    What Python has compiled is copied too, and is as old as its source.
    """
    closed = standing_on(names)
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT))
    for name in closed:
        shutil.rmtree(folder / "glsw" / "wings" / name)
        for part in ("shaders", "tests/wings"):
            shutil.rmtree(folder / part / name, ignore_errors=True)
        for page in (f"{name.upper()}.md", f"api/{name}.md"):
            (folder / "docs" / page).unlink(missing_ok=True)
    rows = folder / "tools" / "vendors" / "rows.ndjson"
    programs = [f'"program":"{name}/' for name in closed]
    lines = rows.read_text(encoding="utf-8").splitlines(keepends=True)
    left = [line for line in lines if not any(program in line for program in programs)]
    rows.write_text("".join(left), encoding="utf-8")
    shutil.rmtree(folder / "tests" / "wings" / "all", ignore_errors=True)
    return closed


def environment(folder: Path) -> dict[str, str]:
    """Return the variables under which Python finds the copy instead of the project."""
    return os.environ | {"PYTHONPATH": str(folder)}


if __name__ == "__main__":
    print("closed:", *close(Path(sys.argv[1]), sys.argv[2:] or opened()))
