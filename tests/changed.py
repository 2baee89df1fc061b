"""``make check``: run the tests of what changed since a commit, by default since ``main``.

``python tests/changed.py [COMMIT] [-- WORDS OF PYTEST]``. A test runs if it changed, or what it
imports of ``tests``; if it is that of a module of glsw that changed, by its name, or else imports
it. A shader, or a module of an engine, brings the comparisons of the engines that use it, as does
what all of them share. If nothing changed, what breaks most often runs.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from smaller import LIMITS

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = (
    "tests/test_package.py",
    "tests/cli/test_cli.py::test_search_prints_what_the_library_finds",
    "tests/engines/test_engines.py::test_first_look",
)
USUAL = (
    *(
        *ALWAYS,
        "tests/sequences",
        "tests/scoring",
        "tests/output",
        "tests/engines/test_reference.py",
    ),
    *(f"tests/test_{name}.py" for name in ("batch", "results", "traceback", "contributing")),
    *("tests/wings/all/test_readme.py", "tests/wings/three/test_engines3.py::test_first_look"),
    "tests/cli/test_cli.py::test_bad_input_is_one_line_and_status_2",
)
COMPARISONS = tuple(f"tests/engines/test_{name}.py" for name in ("engines", "ends", "paths"))
OTHERS = {
    "README.md": ["tests/wings/all/test_readme.py", "tests/wings/all/test_docs.py"],
    "CHANGELOG.md": ["tests/wings/all/test_readme.py", "tests/test_public_names.py"],
    "CONTRIBUTING.md": ["tests/test_contributing.py"],
    "docs/": ["tests/wings/all/test_docs.py", "tests/wings/all/test_pages.py"],
    "bench/": ["tests/wings/all/bench", "tests/wings/all/test_readme.py"],
    "tools/vendors/": ["tests/wings/all/test_vendors.py"],
    "packaging/": ["tests/wings/all/test_packaging.py"],
    "pyproject.toml": ["tests/test_package.py"],
    "glsw/trust/": ["tests/faults/test_driver_faults.py"],
}
"""Tests of files that no test imports, by how their names begin."""


_ALSO_THOROUGH = "not slow and not clients"


def git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split()


def changed(commit: str) -> list[str]:
    """Return the files that differ from a commit, and those that git does not know."""
    return [*git("diff", "--name-only", commit), *git("ls-files", "--others", "--exclude-standard")]


@cache
def imported(path: Path) -> frozenset[str]:
    """Return what a file imports, anywhere: modules and names in them; or makes `smaller`."""
    names = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "smaller":
            places = (LIMITS[word.arg] for word in node.keywords if word.arg)
            names |= {f"glsw.{place.rpartition('.')[0]}" for place in places}
    return frozenset(names)


@cache
def tests() -> list[Path]:
    return sorted(ROOT.joinpath("tests").rglob("test_*.py"))


def of_helper(path: Path) -> set[str]:
    """Return the tests that import a module of ``tests``, also through others."""
    reached, helpers = {path.stem}, list(path.parent.rglob("*.py"))
    while more := {each.stem for each in helpers if imported(each) & reached} - reached:
        reached |= more
    return {str(each.relative_to(ROOT)) for each in tests() if each.stem in reached}


def of_module(path: Path) -> set[str]:
    """Return the tests of a module of glsw: those of its name, of its package, or that import it.

    Without any, those that fail most often. Those of an engine are the comparisons.
    """
    parts = path.relative_to(ROOT / "glsw").with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    folder = ROOT.joinpath("tests", *parts[: 2 if parts[:1] == ("wings",) else 1])
    stems = {f"test_{'_'.join(parts[-k:])}" for k in (1, 2)} if parts else {"test_package"}
    near = folder if folder.is_dir() else folder.parent
    own = [
        each
        for each in (near if parts else ROOT / "tests").glob("test_*.py")
        if any(f"{each.stem}_".startswith(f"{stem}_") for stem in stems)
    ]
    if own or (folder.is_dir() and parts[:1] != ("engines",)):
        found = own if own and parts[:1] != ("wings",) else [folder]
    else:
        name = ".".join(("glsw", *parts))
        found = [each for each in tests() if name in imported(each)]
    if not own and parts[:1] == ("engines",):
        return set()
    return {str(each.relative_to(ROOT)) for each in found} or {*USUAL}


def modules_of(module: str, package: str = "glsw.engines") -> set[str]:
    """Return the files of a module and of what it imports of the engines, and they import."""
    found, left = set[str](), [module]
    while left:
        path = ROOT.joinpath(*left.pop().split(".")).with_suffix(".py")
        name = str(path.relative_to(ROOT))
        if name not in found and path.exists():
            found.add(name)
            left += [each for each in imported(path) if each.startswith(f"{package}.")]
    return found


def programs_with(files: set[str]) -> set[str]:
    """Return the programs of which a file is a part."""
    from glsw.device.shader import assemble, root

    found = set[str]()
    for path in (each for kind in ("comp", "frag", "vert") for each in root().rglob(f"*.{kind}")):
        name = path.relative_to(root()).as_posix()
        _, origins = assemble(name)
        if {f"shaders/{origin.partition(':')[0]}" for origin in (name, *origins)} & files:
            found.add(name)
    return found


def engines_with(files: set[str], programs: set[str]) -> set[str]:
    """Return the engines of which a file is a module, or that use a program."""
    from glsw.engines import ENGINES

    found = set[str]()
    for name, kind in ENGINES.items():
        own = modules_of(kind.__module__)
        text = "".join(ROOT.joinpath(each).read_text(encoding="utf-8") for each in own)
        if own & files or any(f'"{program}"' in text for program in programs):
            found.add(name)
    return found


def runs(files: Iterable[str]) -> list[list[str]]:
    """Return the words of pytest for the tests of some files, none if there are none."""
    existing = {each for each in files if ROOT.joinpath(each).exists()}
    chosen, shaders = set[str](), {each for each in existing if each.startswith("shaders/")}
    for name in existing:
        path = ROOT / name
        if path.match("tests/**/test_*.py"):
            chosen.add(name)
        elif name.startswith("tests/") and path.suffix == ".py":
            chosen |= of_helper(path)
        elif name.startswith("glsw/") and path.suffix == ".py":
            chosen |= of_module(path)
        chosen.update(*(some for start, some in OTHERS.items() if name.startswith(start)))
    programs = programs_with(shaders) if shaders else set[str]()
    inside = any(each.startswith(("glsw/engines", "glsw/wings")) for each in existing)
    engines = engines_with(existing, programs) if programs or inside else set[str]()
    wings = {program.partition("/")[0] for program in programs if "/" in program}
    chosen |= {f"tests/wings/{wing}" for wing in wings}
    found = [[*ALWAYS, *sorted(chosen - {*ALWAYS})]] if chosen or engines else []
    if engines:
        # One pattern for all configurations of an engine: its name in the brackets.
        names = " or ".join(f"[{name}" for name in sorted(engines))
        found.append([*COMPARISONS, "-k", names])
    if programs:
        names = " or ".join(f"[{name}]" for name in sorted(programs))
        words = f"budgets or (validator and ({names}))"
        found.append(["tests/engines/test_implementations.py", "-k", words])
    return found


def main(words: list[str]) -> int:
    """Run the tests; return the status of those that failed first."""
    split = words.index("--") if "--" in words else len(words)
    branch = git(
        "for-each-ref", "--format=%(refname)", "refs/heads/main", "refs/remotes/origin/main"
    )
    base = git("merge-base", "HEAD", branch[-1]) if branch else ["HEAD"]
    for some in runs(changed((words[:split] or base)[0])) or [[*USUAL]]:
        print("tests:", *some, flush=True)
        if status := subprocess.run(
            [sys.executable, "-m", "pytest", "-m", _ALSO_THOROUGH, *words[split + 1 :], *some],
            cwd=ROOT,
        ).returncode:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
