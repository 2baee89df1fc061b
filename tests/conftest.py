"""What all tests share: one device, real data, and other OpenGL implementations.

The folders are those of ``glsw``: ``sequences``, ``scoring``, ``device``, ``engines``, ``search``,
``statistics``, ``output`` and ``cli``, and in ``wings`` one for each wing, and ``all`` for what
stands on all of them; ``test_NAME.py`` in this folder tests the module or the package of that name.
``wing`` names cases of wings in other tests, ``closing`` closes wings. ``cases`` has the pairs that
every engine is judged by, ``naive`` the definitions that the references are judged by,
``permutations`` the macros of programs, ``changed`` chooses tests by what changed, ``program``
starts the command line in a process of its own, ``subtests`` makes one test of many near-equal
cases, ``failing`` has devices that fail, ``garbage`` devices that return other bytes,
``driver_faults`` drivers with faults, ``used_memory`` has memory that is not zero, ``thorough``
lists what `make test` leaves out, and ``doc_examples`` runs the examples of pages.
"""

from __future__ import annotations

import gc
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tqdm
from hypothesis import HealthCheck, settings
from thorough import is_thorough
from used_memory import fill_new_memory

from glsw.cli import main
from glsw.device import device as device_module, shader
from glsw.device.current import current_device
from glsw.device.device import Device, open_device
from glsw.engines import opal
from glsw.trust.proofs import Proofs
from glsw.trust.verdicts import RIGHT
from glsw.verbs import _kept

pytest.register_assert_rewrite("cases", "cases3", "garbage", "judge", "program")
# How long an example takes says nothing: other work may run on the machine.
settings.register_profile("glsw", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("glsw")
MESA_VENDOR = Path("/usr/share/glvnd/egl_vendor.d/50_mesa.json")
KNOWN = Proofs.verdict
MOST_PROGRAMS = 384
PROVED = (
    "device",
    "faults",
    "trust",
    "test_forward_sums.py",
    "test_garbage3.py",
    "test_score_map_faults.py",
)
TESTS = Path(__file__).parent
WITHOUT_COMPUTE = " ".join(
    f"-GL_ARB_{name}"
    for name in (
        "compute_shader",
        "shader_storage_buffer_object",
        "shader_image_load_store",
        "shading_language_420pack",
    )
)
WITH_COMPUTE = " ".join(
    f"+GL_{name}"
    for name in (
        "ARB_compute_shader",
        "ARB_shader_storage_buffer_object",
        "ARB_shader_image_load_store",
        "EXT_transform_feedback",
    )
)
SOFTWARE = {"LIBGL_ALWAYS_SOFTWARE": "1"} | (
    {"__EGL_VENDOR_LIBRARY_FILENAMES": str(MESA_VENDOR)} if MESA_VENDOR.exists() else {}
)
SWIFTSHADER = Path(sys.prefix) / "swiftshader" / "vk_swiftshader_icd.json"
ANGLE = Path(sys.prefix) / "angle"
WITHOUT_ES = {"MESA_GLES_VERSION_OVERRIDE": "3.0"}  # or OpenGL ES 3.1 would be opened
# Environment variables of Mesa for each implementation, and what its device must look like.
IMPLEMENTATIONS = {
    "llvmpipe": ({}, r"llvmpipe .* GL 4\.[5-6]"),
    "zink": ({"GALLIUM_DRIVER": "zink"}, r"zink .* GL 4\.[5-6]"),
    "gl41": (
        {
            "MESA_GL_VERSION_OVERRIDE": "4.1",
            "MESA_GLSL_VERSION_OVERRIDE": "410",
            "MESA_EXTENSION_OVERRIDE": WITHOUT_COMPUTE,
            **WITHOUT_ES,
        },
        r"llvmpipe .* GL 4\.1",
    ),
    "gl33": (
        {
            "MESA_GL_VERSION_OVERRIDE": "3.3",
            "MESA_GLSL_VERSION_OVERRIDE": "330",
            **WITHOUT_ES,
        },
        r"llvmpipe .* GL 3\.3",
    ),
    "softpipe": ({"GALLIUM_DRIVER": "softpipe", **WITHOUT_ES}, r"softpipe.* GL 3\.3"),
    "es": (
        {"MESA_GL_VERSION_OVERRIDE": "3.3", "MESA_GLSL_VERSION_OVERRIDE": "330"},
        r"llvmpipe .* GL ES 3\.2",
    ),
    "angle": (
        {
            "ANGLE_DEFAULT_PLATFORM": "swiftshader",
            "GLCONTEXT_LINUX_LIBEGL": str(ANGLE / "libEGL.so"),
            "GLCONTEXT_LINUX_LIBGL": str(ANGLE / "libGLESv2.so"),
        },
        r"ANGLE \(.*SwiftShader .* GL ES 3\.1",
    ),
    # It can do more than the version that Mesa gives it for want of geometry shaders.
    "swiftshader": (
        {
            "GALLIUM_DRIVER": "zink",
            "VK_ICD_FILENAMES": str(SWIFTSHADER),
            "MESA_GL_VERSION_OVERRIDE": "4.5",
            "MESA_EXTENSION_OVERRIDE": WITH_COMPUTE,
        },
        r"zink \(SwiftShader .* GL 4\.5",
    ),
}
DESCRIBE = (
    "from glsw.device.device import open_device; info = open_device().info;"
    "print(info.name, info.gl)"
)


def believed(proofs: Proofs, engine: str, family: str) -> str | None:
    """Return what is known of programs; without that, llvmpipe's are right."""
    unknown = RIGHT if proofs.device.info.name.startswith("llvmpipe") else None
    return KNOWN(proofs, engine, family) or unknown


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", help="index or part of the name of the OpenGL device to test")
    parser.addoption(
        "--seeds", default="1000:1020", help="FIRST:LAST seeds of slow tests of faults"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that is marked ``seeds(N)`` a ``seed``, N times, and more if it is slow."""
    if mark := metafunc.definition.get_closest_marker("seeds"):
        first, last = map(int, metafunc.config.getoption("--seeds").split(":"))
        slow = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(first, last)]
        metafunc.parametrize("seed", [*range(*mark.args), *slow])


def pytest_configure(config: pytest.Config) -> None:
    """Keep what is found of devices out of the user's cache, and drivers' programs where they are.

    Workers share both: a program that one has proved, no other proves again. Hundreds of tests
    start Python, which compiles each module once. To compile a program takes drivers longer than
    all that the tests do with it: the cache has room for those of other checkouts.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", "")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    fill_new_memory()
    if hasattr(config, "workerinput"):
        return
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    os.environ.setdefault("MESA_SHADER_CACHE_DIR", str(cache))
    os.environ.setdefault("MESA_SHADER_CACHE_MAX_SIZE", "4G")
    if Path("/dev/nvidiactl").exists():  # its driver does not make the folder
        (cache / "nvidia").mkdir(parents=True, exist_ok=True)
        os.environ.setdefault("__GL_SHADER_DISK_CACHE_PATH", str(cache / "nvidia"))
    folder = tempfile.TemporaryDirectory(prefix="glsw-")
    config.add_cleanup(folder.cleanup)
    os.environ["XDG_CACHE_HOME"] = os.environ["LOCALAPPDATA"] = folder.name


@pytest.hookimpl(tryfirst=True)  # before tests are left out by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is thorough; begin with what takes a minute, or workers would wait at the end."""
    for item in items:
        path = item.path.relative_to(TESTS.parent).as_posix()
        if is_thorough(path.removeprefix("tests/"), item.name):
            item.add_marker("thorough")
    items.sort(key=lambda item: item.path.stem not in ("test_golden", "test_wings", "test_pages"))


@pytest.hookimpl(tryfirst=True)  # before fixtures of modules
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Believe programs, as `thorough.py` says, but in tests of devices and of faults."""
    some = "not thorough" in item.config.option.markexpr
    proved = {*PROVED} & {*item.path.relative_to(TESTS.parent).parts}
    Proofs.verdict = believed if some and not proved else KNOWN  # type: ignore[method-assign]


def pytest_collection_finish() -> None:
    """Leave the thousands of tests and their modules out of each collection of garbage."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)  # after the fixtures
def pytest_runtest_teardown() -> None:
    """Leave no device current, and drop compiled programs when there are many.

    A device that stands in for another is an object of its own, which the other cannot give up.
    A software renderer takes a megabyte for each program.
    """
    if current := current_device():
        current.deactivate()
    for opened in device_module.open_now.values():
        if len(opened.programs) > MOST_PROGRAMS:
            opened.programs.clear()


@pytest.fixture(scope="session", autouse=True)
def first_caller_of_opal() -> None:
    """Engine `cpu` calls Opal before tests that call it themselves, see `glsw.engines.opal`."""
    if opal.is_installed():
        for mode in ("nw", "hw", "ov"):
            opal.is_exact(mode)


@pytest.fixture(autouse=True)
def no_aligner_is_kept() -> None:
    """A test may replace what an aligner consists of: none is left of an earlier test."""
    _kept.cache_clear()


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    """The device under test; without any, the tests fail."""
    chosen = request.config.getoption("--device")
    opened = open_device(int(chosen) if chosen and chosen.isdigit() else chosen)
    yield opened
    opened.close()


@pytest.fixture
def free(device: Device) -> Iterator[Device]:
    """The device, which no thread has at the beginning, nor at the end."""
    device.deactivate()
    yield device
    assert current_device() is None
    device.check("after threads")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data, for tests marked ``realdata``."""
    folder = os.environ.get("GLSW_DATA")
    if not folder:
        pytest.skip("GLSW_DATA names no folder of real data")
    if not Path(folder).is_dir():
        pytest.skip(f"GLSW_DATA={folder} is not a folder")
    return Path(folder)


def _run(implementation: str, code: str) -> str:
    variables, _ = IMPLEMENTATIONS[implementation]
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | SOFTWARE | variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{implementation}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def run_under() -> Callable[..., str]:
    """``run_under(implementation, code)``: standard output of Python code in a process of its own.

    ``implementation`` is a key of ``IMPLEMENTATIONS``. Code that fails fails the test. So does a
    missing implementation in continuous integration (``CI`` is set); elsewhere it is a skip.
    """
    checked: set[str] = set()

    def run_under(implementation: str, code: str) -> str:
        if implementation not in checked:
            _, expected = IMPLEMENTATIONS[implementation]
            try:
                found = _run(implementation, DESCRIBE).strip()
            except AssertionError as error:
                found = str(error)
            if not re.match(expected, found):
                missing = pytest.fail if os.environ.get("CI") else pytest.skip
                missing(f"no {implementation} here: {found}")
            checked.add(implementation)
        return _run(implementation, code)

    return run_under


@pytest.fixture(params=IMPLEMENTATIONS)
def implementation(request: pytest.FixtureRequest) -> str:
    """Each OpenGL implementation in turn, for ``run_under``."""
    return request.param


@pytest.fixture
def run(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., SimpleNamespace]:
    """``run(words)``: status, standard output and error of a command line in that folder."""
    monkeypatch.chdir(files)

    def run(words: str) -> SimpleNamespace:
        status = main(shlex.split(words))
        out, err = capsys.readouterr()
        lines = [line for line in err.splitlines() if "software renderer" not in line]
        return SimpleNamespace(status=status, out=out, err="".join(f"{line}\n" for line in lines))

    return run


@pytest.fixture
def bar(
    run: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[float, float]]:
    """``bar(words)``: what the bar of a command line showed in the end, and its total."""
    shown: list[Any] = []

    class Watched(tqdm.tqdm):  # type: ignore[type-arg]
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            shown.append(self)

        def update(self, n: float | None = 1) -> bool | None:
            updated = super().update(n)
            assert self.n <= self.total
            return updated

    monkeypatch.setattr(tqdm, "tqdm", Watched)

    def bar(words: str, status: int = 0) -> tuple[float, float]:
        shown.clear()
        with monkeypatch.context() as patch:
            patch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
            assert run(words).status == status
        (only,) = shown
        return only.n, only.total

    return bar


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """The programs that engines have loaded, with their macros."""
    programs, compute = list[tuple[str, dict[str, Any]]](), shader.compute

    def noted(device: Device, name: str, *folder: Path, **macros: Any) -> Any:
        programs.append((name, macros))
        return compute(device, name, *folder, **macros)

    monkeypatch.setattr(shader, "compute", noted)
    return programs


@pytest.fixture
def bench(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, Any]]:
    """Run ``bench run`` with tiny sizes: exit status and the file that it wrote."""
    from bench import __main__, machine, measure
    from bench.row import File
    from bench.work import alignments, collections

    monkeypatch.setattr(measure, "MOST", 1)
    monkeypatch.setattr(alignments, "BY_REFERENCE", 1e5)
    monkeypatch.setattr(collections, "_SAMPLE_CELLS", 1e6)
    monkeypatch.setattr(machine, "dirty", lambda commit: False)

    def bench(
        *words: str, path: Path = tmp_path / "out.ndjson", passes: int = 1, seconds: float = 2
    ) -> tuple[int, Any]:
        common = ["--device", str(device.info.index), "--size", "tiny", "--output", str(path)]
        common += ["--budget", str(seconds), "--passes", str(passes)]
        status = __main__.main(["run", *words, *common])
        return status, File.read(path) if path.exists() else None

    return bench
