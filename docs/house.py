"""Measures of the house: what a reader of glsw has to understand, one column per checkout.

python docs/house.py                    # of this checkout
python docs/house.py ../before ../after # of others, side by side

Each number is computed; the docstring of the function that does it says how. The outer half is
glsw without ``engines``, ``device`` and ``trust``; it has wings, and the core is the rest of it.
The inner half is these three, and for `Inner` the shaders and the tests.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

from traced import CALLS, ENGINES, LANES, SAM, Counted, in_process

ROOT = Path(__file__).resolve().parents[1]
DRAWN = "dotplot", "view"
"""Wings that are left out where arrays and inputs are counted."""
CUTTING = "chunks pieces parts cut cuts slices groups grouped even equal shares"
"""Words in names of functions that cut by a bound: what the review found, ``cut`` and ``even``."""
PAIRS = "batch paths rows traceback mask"
"""Modules of pairs and their alignments that the review of the inner half counts with it."""
IMPORTS = ast.Import, ast.ImportFrom
DEFINITIONS = ast.FunctionDef, ast.ClassDef
LIST = """
import runpy, sys
for name, defines in runpy.run_path(sys.argv[1])["PERMUTATIONS"].items():
    if not name.startswith("micro/"):
        print(name, len(defines))
"""
"""Prints how many sets of macros the tests of a checkout compile each shader with."""
FEW = 60
OPTION = "max_hsps"


class Module:
    """A module of glsw, of a name such as search/limits."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.kinds: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        """All nodes, by their types."""
        for node in ast.walk(ast.parse(text)):
            self.kinds[type(node)].append(node)

    @property
    def part(self) -> str:
        """A package of `ENGINES`, a wing, or ``core``."""
        first, *rest = self.name.split("/")
        if first in ENGINES:
            return first
        if first == "wings" and len(rest) > 1:
            return rest[0]
        return "core"

    def nodes(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        """Yield all nodes of some kinds."""
        return (node for kind in kinds for node in self.kinds.get(kind, ()))

    def documentation(self) -> set[int]:
        """Return the lines of docstrings: strings that are statements, also those of constants."""
        lines: set[int] = set()
        for node in self.nodes(ast.Expr):
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                lines.update(range(node.lineno, node.end_lineno + 1))
        return lines

    def code(self) -> int:
        """Return the number of lines that are not blank, a comment, or of a docstring."""
        lines = enumerate(map(str.strip, self.text.splitlines()), start=1)
        kept = {number for number, line in lines if line and not line.startswith("#")}
        return len(kept - self.documentation())


class House:
    """The modules of a checkout."""

    def __init__(self, checkout: Path) -> None:
        package = checkout / "glsw"
        self.checkout, self.modules = checkout, list[Module]()
        for path in sorted(package.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            name = path.relative_to(package).with_suffix("").as_posix()
            self.modules.append(Module(name, text))
        self.outer = [module for module in self.modules if module.part not in ENGINES]
        self.plain = [module for module in self.outer if module.part not in DRAWN]

    @cached_property
    def sizes(self) -> Counter[str]:
        """Code lines of each part, see `Module.code`."""
        sizes: Counter[str] = Counter()
        for module in self.modules:
            sizes[module.part] += module.code()
        return sizes

    def imports(self) -> dict[str, set[str]]:
        """Return which modules each one imports, also in functions and for types only.

        ``from a import b`` imports the module ``a.b``, or if there is none the module ``a``.
        """
        names = {_dotted(module.name): module for module in self.modules}
        found: dict[str, set[str]] = {}
        for name, module in names.items():
            wanted = {alias.name for node in module.nodes(ast.Import) for alias in node.names}
            for node in module.nodes(ast.ImportFrom):  # none of them is relative
                full = [f"{node.module}.{alias.name}" for alias in node.names]
                wanted.update(each if each in names else node.module for each in full)
            found[name] = (wanted & names.keys()) - {name}
        return found

    def circle(self) -> int:
        """Return how many modules the largest circle of `imports` has; 1 if there is none."""
        imports = self.imports()
        reached = {name: _reached(imports, name) for name in imports}
        return max(sum(name in reached[other] for other in reached[name]) or 1 for name in imports)

    def upward(self) -> int:
        """Return how many modules of the core have imports, see `imports`, of a wing."""
        parts = {_dotted(module.name): module.part for module in self.modules}
        return sum(
            parts[name] == "core"
            and any(parts[other] not in ("core", *ENGINES) for other in others)
            for name, others in self.imports().items()
        )

    def small(self) -> int:
        """Return how many modules of the outer half have code, but fewer than `FEW` lines."""
        return sum(0 < module.code() < FEW for module in self.outer)

    def options(self) -> int:
        """Return how many places declare the option `OPTION` of a search, in the outer half.

        These are parameters and annotated names of a class of that name; keywords that pass on a
        value of the same name; the string as a key or an element of a table, or with hyphens as a
        word of the command line; and its entry in a list of parameters in a docstring.
        """
        entry, flag = (
            re.compile(rf"^ *{OPTION}( :|$)", re.MULTILINE),
            f"--{OPTION}".replace("_", "-"),
        )
        places = sum(_declared(module, OPTION) for module in self.outer)
        kinds = ast.keyword, ast.Dict, ast.Tuple, ast.List, ast.Set, ast.Constant
        for node in (node for module in self.outer for node in module.nodes(*kinds)):
            if isinstance(node, ast.keyword):
                value = getattr(node.value, "id", getattr(node.value, "attr", ""))
                places += node.arg == OPTION == value
            elif isinstance(node, (ast.Dict, ast.Tuple, ast.List, ast.Set)):
                table = node.keys if isinstance(node, ast.Dict) else node.elts
                places += sum(isinstance(e, ast.Constant) and e.value == OPTION for e in table)
            elif isinstance(node.value, str):
                places += node.value == flag or len(entry.findall(node.value))
        return places

    def progress(self) -> int:
        """Return how many parameters and annotated names of a class are called ``progress``."""
        return sum(_declared(module, "progress") for module in self.outer)

    def isinstance_tests(self) -> int:
        """Return how many calls of ``isinstance`` the outer half without `DRAWN` has."""
        calls = (node.func for module in self.plain for node in module.nodes(ast.Call))
        return sum(getattr(function, "id", "") == "isinstance" for function in calls)

    def cutting(self) -> int:
        """Return how many functions of the outer half without `DRAWN` have a name of `CUTTING`."""
        functions = (node for module in self.plain for node in module.nodes(ast.FunctionDef))
        return sum(bool({*CUTTING.split()} & {*node.name.split("_")}) for node in functions)

    def aliases(self) -> str:
        """Return how many names the outer half has for types of arrays, and for how many types.

        These are assignments, with or without ``TypeAlias``, of ``NDArray[...]``, also in a union.
        """
        values = [
            ast.unparse(node.value)
            for module in self.outer
            for node in module.nodes(ast.Assign, ast.AnnAssign)
            if isinstance(node.value, (ast.Subscript, ast.BinOp))
        ]
        types = [re.sub(r"\bnpt?\.", "", value) for value in values if "NDArray[" in value]
        return f"{len(types)}; {len({*types})}"

    def classes(self) -> int:
        """Return how many classes the outer half has, those within classes included."""
        return sum(1 for module in self.outer for _ in module.nodes(ast.ClassDef))

    def documentation(self) -> int:
        """Return how many lines of docstrings the outer half has, see `Module.documentation`."""
        return sum(len(module.documentation()) for module in self.outer)

    def calls(self) -> dict[str, Counted]:
        """Return what `traced` counts in each of its calls, each in a process of its own."""
        in_process(LANES, self.checkout)  # what engines prove of a device is kept for later ones
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            counted = threads.map(lambda name: in_process(name, self.checkout), CALLS)
            return dict(zip(CALLS, counted, strict=True))

    def rows(self) -> dict[str, str]:
        """Return all measures, by their names."""
        calls, sizes = self.calls(), self.sizes
        rows: dict[str, object] = {
            **{
                f"modules in {name}: outer half; engines": f"{call.outer}; {call.engines}"
                for name, call in calls.items()
            },
            **{
                f"functions in {name}: before an engine; all; calls": (
                    f"{call.before}; {call.functions}; {call.calls}"
                )
                for name, call in calls.items()
            },
            f"functions between engine and CIGAR in {SAM}": calls[SAM].after,
            f"places that declare {OPTION}": self.options(),
            "declarations of progress": self.progress(),
            "isinstance tests without dotplot, view": self.isinstance_tests(),
            "functions that cut by a bound": self.cutting(),
            "modules of the outer half": len(self.outer),
            f"- with fewer than {FEW} code lines": self.small(),
            "classes": self.classes(),
            "names of array types; types": self.aliases(),
            "modules in the largest circle of imports": self.circle(),
            "modules of the core that import a wing": self.upward(),
            "docstring lines": self.documentation(),
            "code lines": sizes.total(),
            "- core": sizes["core"],
            "- wings": sizes.total() - sum(sizes[part] for part in ("core", *ENGINES)),
            **{f"- wing {wing}": sizes[wing] for wing in sorted({*sizes} - {"core", *ENGINES})},
            **{f"- {room}": sizes[room] for room in ENGINES},
            **Inner(self).rows(),
        }
        return {name: str(value) for name, value in rows.items()}


class Inner:
    """Measures of the inner half of a checkout."""

    def __init__(self, house: House) -> None:
        self.checkout = house.checkout
        self.engines = [module for module in house.modules if module.part == "engines"]
        self.lanes = [module for module in self.engines if module.name.startswith("engines/lanes/")]
        folder = self.checkout / "shaders"
        self.shaders = {
            path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(folder.rglob("*.*"))
        }
        self.modules, self.tests = house.modules, _modules(self.checkout / "tests")

    def programs(self) -> dict[str, set[str]]:
        """Return the files that each shader is made of: itself, and all that it includes."""
        include = re.compile(r'^\s*#\s*include\s+"(.+?)"', re.MULTILINE)
        included = {name: {*include.findall(text)} for name, text in self.shaders.items()}
        roots = (name for name in included if not name.endswith(".glsl"))
        return {name: {name} | _reached(included, name) for name in roots}

    def conditional(self, files: set[str]) -> set[str]:
        """Return the macros that an ``#if`` of some files asks for, extensions left out."""
        line = re.compile(r"^\s*#\s*(?:el)?if(?:n?def)?\b(.*)", re.MULTILINE)
        asked = " ".join(part for name in files for part in line.findall(self.shaders[name]))
        return {*re.findall(r"\b(?!GL_)[A-Z][A-Z0-9_]*\b", asked)}

    def permutations(self) -> dict[str, int]:
        """Return how many permutations of each shader there are, by the list of the tests."""
        (path,) = (self.checkout / "tests").rglob("test_implementations.py")
        folders = str(self.checkout), str(self.checkout / "tests")
        done = subprocess.run(
            [sys.executable, "-c", LIST, str(path)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
            cwd=self.checkout,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"{path}: {done.stderr}")
        lines = map(str.split, done.stdout.splitlines())
        return {name: int(number) for name, number in lines}

    def private_names(self) -> list[str]:
        """Return each use by tests of a name with an underscore: of others, and as a string."""
        names = list[str]()
        for module in self.tests:
            for node in module.nodes(ast.Attribute):
                names += [node.attr] * (getattr(node.value, "id", "") not in ("self", "cls"))
            for node in module.nodes(ast.ImportFrom):
                names += [alias.name for alias in node.names]
            for node in module.nodes(ast.Call):
                if getattr(node.func, "attr", "") == "setattr":
                    names += [str(getattr(each, "value", "")) for each in node.args]
            for node in module.nodes(ast.Constant):  # with its module, also in a table
                names += re.findall(r"^[\w.]+\.(_[A-Za-z]\w*)$", str(node.value))
        documented = {"_replace", "_asdict", "_fields", "_make", "_repr_html_"}
        return [name for name in names if re.match("_[A-Za-z]", name) and name not in documented]

    def sizes(self) -> dict[str, str]:
        """Return files, lines, and code lines (see `Module.code`) of each part.

        ``cpu`` is what calls pyopal and parasail, ``pairs`` the modules `PAIRS`; a comment of a
        shader is one line that begins with ``//``.
        """
        parts = {
            "engines": self.engines,
            "- lanes": self.lanes,
            "- three": [m for m in self.modules if re.match("(engines|wings)/three/", m.name)],
            "- cpu": [m for m in self.engines if re.match("engines/(cpu|opal|parasail)", m.name)],
            "device": [m for m in self.modules if m.part == "device"],
            "pairs": [
                m
                for m in self.modules
                if m.name.rpartition("/")[2] in PAIRS.split() and m.part not in ENGINES
            ],
            "tests": self.tests,
            "bench": _modules(self.checkout / "bench"),
        }
        sizes = {
            part: (len(some), sum(m.text.count("\n") for m in some), sum(m.code() for m in some))
            for part, some in parts.items()
        }
        lines = [line.strip() for text in self.shaders.values() for line in text.splitlines()]
        code = [line for line in lines if line and not line.startswith("//")]
        sizes["shaders"] = len(self.shaders), len(lines), len(code)
        return {f"{part}: files; lines; code": "; ".join(map(str, n)) for part, n in sizes.items()}

    def rows(self) -> dict[str, object]:
        """Return all measures, by their names."""
        programs, permutations = self.programs(), self.permutations()
        includes = [len(files) - 1 for files in programs.values()]
        macros = [len(self.conditional(files)) for files in programs.values()]
        private = self.private_names()
        return {
            "imports in engines, lines; in lanes": "; ".join(
                str(sum(n.end_lineno - n.lineno + 1 for m in part for n in m.nodes(*IMPORTS)))
                for part in (self.engines, self.lanes)
            ),
            "definitions in lanes": sum(1 for m in self.lanes for _ in m.nodes(*DEFINITIONS)),
            **self.sizes(),
            "shaders that say what they need before them": (
                sum(bool(re.search(r"^// .*\bNeeds\b", t, re.M)) for t in self.shaders.values())
            ),
            "shader permutations; programs": f"{sum(permutations.values())}; {len(permutations)}",
            "includes of a program: most; mean": _most_and_mean(includes),
            "conditional macros of a program: most; mean": _most_and_mean(macros),
            "monkeypatches in tests": sum(m.text.count("monkeypatch.set") for m in self.tests),
            "private names in tests: uses; names": f"{len(private)}; {len({*private})}",
        }


def _modules(folder: Path) -> list[Module]:
    paths = sorted(folder.rglob("*.py"))
    return [Module(path.name, path.read_text(encoding="utf-8")) for path in paths]


def _most_and_mean(numbers: list[int]) -> str:
    return f"{max(numbers)}; {sum(numbers) / len(numbers):.1f}"


def _dotted(name: str) -> str:
    return ".".join(["glsw", *name.split("/")]).removesuffix(".__init__")


def _declared(module: Module, name: str) -> int:
    """Return how many parameters and annotated names of a class have a name."""
    fields = [each for node in module.nodes(ast.ClassDef) for each in node.body]
    targets = (each.target for each in fields if isinstance(each, ast.AnnAssign))
    parameters = (node.arg for node in module.nodes(ast.arg))
    return [*parameters, *(getattr(target, "id", "") for target in targets)].count(name)


def _reached(imports: dict[str, set[str]], name: str) -> set[str]:
    """Return the modules that a module imports, they import, and so on."""
    reached, left = set[str](), [name]
    while left:
        new = imports[left.pop()] - reached
        reached |= new
        left += new
    return reached


def table(checkouts: list[Path]) -> str:
    """Return the table in Markdown: a row per measure, a column per checkout."""
    columns = [House(checkout).rows() for checkout in checkouts]
    names = [checkout.name for checkout in checkouts]
    lines = [["measure", *names], ["---", *("---:" for _ in names)]]
    lines += [[name, *(column[name] for column in columns)] for name in columns[0]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(words: list[str]) -> int:
    """Print the table of checkouts, by default of this one."""
    print(table([Path(word).resolve() for word in words] or [ROOT]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
