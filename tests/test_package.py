"""The package as a whole: where shaders are found, which way imports go, what stands only once."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import importlib.util
import pickle
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from subtests import with_subtests

ROOT = Path(__file__).parents[1]
SHADERS = sorted(
    path
    for folder in (ROOT / "shaders", ROOT / "bench" / "shaders")
    for path in folder.rglob("*")
    if path.is_file()
)
# Each package may import those before it; wings import all of these, and what they need.
ORDER = [
    "_version",
    "caller",
    "words",
    "cores",
    "rank",
    "statuses",
    "arrays",
    "wings",
    "sequences",
    "scoring",
    "statistics",
    "alignment",
    "device",
    "trust",
    "engines",
    "run",
    "pairs",
    "options",
    "search",
    "inputs",
    "aligner",
    "verbs",
    "output",
    "cli",
]
FIND_SHADERS = """
import site, sys
before = list(sys.path)
site.addsitedir(sys.argv[1])
sys.path[:] = [entry for entry in sys.path if entry not in before] + before
sys.path.insert(0, sys.argv[1])
import glsw
from glsw.device import shader
print(glsw.__file__, shader.root(), sep="\\n")
"""


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain copy of the project, with nothing installed from it."""
    copy = tmp_path_factory.mktemp("checkout") / "project"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for name in ("glsw", "shaders", "bench", "packaging"):
        left = ["__pycache__", *["results"] * (name == "bench")]
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns(*left))
    return copy


def python(code: str, argument: Path, folder: Path) -> list[str]:
    """Run code with one argument in a folder; return the lines that it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code, argument],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def build(checkout: Path, hook: str, folder: Path) -> Path:
    """Call one hook of the build backend; return the archive that it made."""
    code = f"import sys, hatchling.build as backend; print(backend.{hook}(sys.argv[1]))"
    return folder / python(code, folder, checkout)[-1]


def unpack(wheel: Path) -> Path:
    folder = wheel.parent / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def found_from(folder: Path, elsewhere: Path) -> tuple[Path, Path]:
    """Return the package and the shader folder that Python finds with ``folder`` in its path."""
    package, shaders = python(FIND_SHADERS, folder, elsewhere)
    return Path(package).parent, Path(shaders)


def files_below(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.parametrize("installation", ["wheel", "editable", "checkout"])
def test_shaders_are_found(installation: str, checkout: Path, tmp_path: Path) -> None:
    if installation == "checkout":
        site, owner = checkout, checkout
    elif installation == "editable":
        site, owner = unpack(build(checkout, "build_editable", tmp_path)), checkout
    else:
        site = owner = unpack(build(checkout, "build_wheel", tmp_path))
        assert not list(site.rglob("micro*")), "shaders of the benchmarks are not for users"
    package, shaders = found_from(site, tmp_path)
    assert package == owner / "glsw"
    assert shaders.resolve().is_relative_to(owner.resolve())
    assert files_below(shaders) == files_below(checkout / "shaders")
    assert files_below(shaders)


def test_source_archive_holds_shaders(checkout: Path, tmp_path: Path) -> None:
    path = build(checkout, "build_sdist", tmp_path)
    with tarfile.open(path) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    folders = ("shaders", "bench/shaders")
    shaders = {f"{folder}/{name}" for folder in folders for name in files_below(checkout / folder)}
    assert packed >= shaders | {"glsw/py.typed", "README.md", "LICENSE"}


def test_an_index_can_follow_the_links_of_the_description(checkout: Path, tmp_path: Path) -> None:
    (metadata,) = unpack(build(checkout, "build_wheel", tmp_path)).glob("*.dist-info/METADATA")
    head, _, text = metadata.read_text(encoding="utf-8").partition("\n\n")
    assert "Description-Content-Type: text/markdown" in head
    assert text.startswith("# glsw\n")
    assert "glsw demo" in text
    links = r"\]\((?!https?:)"
    assert not re.search(links, text)
    assert re.search(links, (checkout / "README.md").read_text(encoding="utf-8"))
    failed, tried = doctest.testmod(load("description", ROOT / "packaging"))
    assert tried
    assert not failed


def load(name: str, folder: Path = ROOT / "docs") -> ModuleType:
    """Return a module of a folder that is no package."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


IMPORTS = load("imports")


@with_subtests("path", IMPORTS.modules())
def test_imports_go_one_way(path: Path) -> None:
    package = IMPORTS.package_of(path)
    found = IMPORTS.imported_packages(path) - {package}
    if package.startswith("wings/"):
        name = package.replace("/", ".")
        needs = getattr(importlib.import_module(f"glsw.{name}"), "NEEDS", ())
        allowed = {*ORDER, *(f"wings/{each}" for each in needs)}
    else:
        assert package in ORDER, f"{package} has no place in the order of packages"
        allowed = {*ORDER[: ORDER.index(package)]}
    assert found <= allowed


def test_the_picture_of_the_packages_fits_on_a_page() -> None:
    stories = IMPORTS.floors(IMPORTS.imports())
    packages = [package for story in stories for package in story]
    assert len(packages) <= 16
    picture = IMPORTS.picture()
    assert all(f">{package}" in picture for package in packages)
    assert IMPORTS.PLACE in IMPORTS.PAGE.read_text(encoding="utf-8")


def test_names_on_the_page_exist() -> None:
    """Names such as `search.scan.scan` are of modules below glsw."""
    page = IMPORTS.PAGE.read_text(encoding="utf-8")
    names = re.findall(r"`([a-z_0-9]+(?:\.[A-Za-z_0-9]+)+)`", page)
    packages = {path.stem for path in (ROOT / "glsw").iterdir()}
    packages -= {"__init__"}
    of_glsw = [name.split(".") for name in names if name.split(".")[0] in packages]
    assert len(of_glsw) > 25
    for words in of_glsw:
        for k in range(len(words), 0, -1):
            with contextlib.suppress(ModuleNotFoundError):
                found: object = importlib.import_module(".".join(["glsw", *words[:k]]))
                break
        for word in words[k:]:
            found = getattr(found, word)


def test_every_package_is_on_the_page() -> None:
    page = IMPORTS.PAGE.read_text(encoding="utf-8")
    for package in IMPORTS.imports():
        assert re.search(rf"`{package.rstrip('/')}/?`", page), f"{package} is not described"


def test_recurrence_is_written_once() -> None:
    spelled = re.compile(r"max\(.*-\s*gap_open")
    strays = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SHADERS
        if path.parent.name != "lib"
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if spelled.search(line)
    ]
    assert strays == []


def test_functions_that_use_the_package_are_sent_to_workers() -> None:
    """As joblib and Dask send those of notebooks: with what their globals hold."""
    import glsw

    cloudpickle = pytest.importorskip("cloudpickle", reason="the extra dask is not installed")
    assert pickle.loads(pickle.dumps(glsw)) is glsw
    names = {"glsw": glsw}
    exec("def scored(): return glsw.score('HEAE', 'HEAE', engine='reference')", names)
    assert pickle.loads(cloudpickle.dumps(names["scored"]))() == 22


LATE = [
    "Bio.Align",
    "Bio.Data.CodonTable",
    "Bio.Seq",
    "Bio.SeqIO",
    "Bio.SeqRecord",
    "concurrent.futures",
    "difflib",
    "glfw",
    "hashlib",
    "html",
    "importlib.metadata",
    "matplotlib",
    "mne",
    "multiprocessing",
    "numpy.ma",
    "numpy.random",
    "pandas",
    "platform",
    "scipy",
    "secrets",
    "tempfile",
    "tqdm",
    "glsw.cli",
    "glsw.wings.series",
]
ADDED = """
import sys, numpy, moderngl
before = set(sys.modules)
import glsw
own = {"PairwiseAligner", "Recording", "motifs"}  # they are Biopython's, and of a wing
[getattr(glsw, name) for name in glsw.__all__ if name not in own]
print(*sys.modules.keys() - before)
"""


def test_what_takes_long_is_imported_when_it_is_needed() -> None:
    (added,) = python(ADDED, ROOT, ROOT)
    assert set(added.split()) & set(LATE) == set()


def test_verbs_come_before_modules_of_the_same_name() -> None:
    code = "import glsw.search.scan; from glsw.run import pool"
    code += "; print(pool.__name__, callable(glsw.search))"
    assert python(code, ROOT, ROOT) == ["glsw.run.pool True"]


def test_each_public_name_has_its_home() -> None:
    import glsw

    assert {*glsw.__all__} <= {*dir(glsw)}
    for name in glsw.__all__:
        assert getattr(glsw, name) is getattr(
            importlib.import_module(vars(glsw)["_HOME"][name]), name
        )
    with pytest.raises(AttributeError, match="module 'glsw' has no attribute 'nothing'"):
        glsw.nothing  # type: ignore[attr-defined]  # noqa: B018


STARTED = """
import io, sys
before = set(sys.modules)
from glsw.cli import main
sys.stdout = io.StringIO()
try:
    main(sys.argv[1].rpartition("/")[2].split())
except SystemExit:
    pass
sys.stdout = sys.__stdout__
print(*sys.modules.keys() - before)
"""


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("--version", set()),
        ("--help", {"importlib.metadata"}),  # for wings of other packages
        ("devices --help", {"importlib.metadata", "moderngl"}),
        ("devices", {"moderngl"}),
        ("makedb --help", {"importlib.metadata", "numpy"}),
    ],
)
def test_a_command_imports_its_own_modules_only(command: str, needed: set[str]) -> None:
    (loaded,) = python(STARTED, Path(command), ROOT)
    heavy = {"glsw.engines", "importlib.metadata", "moderngl", "numpy", "tqdm"}
    assert {*loaded.split()} & heavy == needed


def test_version_is_the_installed_one() -> None:
    from importlib.metadata import version

    import glsw

    assert glsw.__version__ == version("glsw")


def test_the_version_to_cite_is_this_one() -> None:
    import glsw

    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {glsw.__version__}\n" in cited
    (date,) = re.findall(r'^date-released: "(.*)"$', cited, re.MULTILINE)
    assert f"\n## {glsw.__version__} - {date}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    for page in ("README.md", "docs/index.md"):
        text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        assert re.search(rf"To cite.{{,60}}\b{re.escape(glsw.__version__)}, {date[:4]}\b", text)
