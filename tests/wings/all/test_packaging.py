"""Archives, recipes, manual pages and completions fit the project and its parsers."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pytest
from program import ROOT, process

import glsw
from glsw.cli import with_all_options

PACKAGING = ROOT / "packaging"
COMPLETIONS = sorted(path for path in (PACKAGING / "completions").rglob("*") if path.is_file())


def options() -> dict[str, list[str]]:
    """Return the long options of each command."""
    parser, commands = with_all_options()
    listed = {"glsw": parser} | {f"glsw-{name}": command for name, command in commands.items()}
    return {
        name: [
            word
            for action in each._actions
            for word in action.option_strings
            if word.startswith("--") and action.help != argparse.SUPPRESS and word != "--help"
        ]
        for name, each in listed.items()
    }


@pytest.mark.parametrize(("name", "words"), options().items())
def test_manual_pages_have_all_options(name: str, words: list[str]) -> None:
    page = (PACKAGING / "man" / f"{name}.1").read_text(encoding="utf-8").replace("\\-", "-")
    written = re.findall(r"^\\fB(--[a-z0-9-]+)", page, re.MULTILINE)
    assert sorted(written) == sorted(words), "run make pages"
    assert f"\n{name} - " in page
    assert f'"glsw {glsw.__version__}"' in page
    if name == "glsw":
        for other in options():
            assert other.replace("-", " ", 1) in page


def test_manual_pages_have_the_words_of_the_help() -> None:
    _, commands = with_all_options()
    for name, parser in commands.items():
        page = (PACKAGING / "man" / f"glsw-{name}.1").read_text(encoding="utf-8")
        said = " ".join(re.sub(r"\\&|\\(.)", r"\1", page).split())
        for action in parser._actions[1:]:  # after --help
            words = " ".join((action.help or "").replace("%%", "%").split())
            assert words in said, f"{name} {action.dest}: run make pages"
        for line in (parser.epilog or "").splitlines():
            assert " ".join(line.rstrip(":").split()).lower() in said.lower(), "run make pages"


def test_no_text_of_manual_pages_is_a_macro() -> None:
    """A line of text that begins as a macro is left out by troff."""
    for path in (PACKAGING / "man").iterdir():
        begins = re.findall(r"^(['.]\S*)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert not {*begins} - {".TH", ".SH", ".SS", ".TP", ".B", ".nf", ".fi"}, (
            f"{path.name}: run make pages"
        )


def test_manual_pages_are_of_commands() -> None:
    assert {path.stem for path in (PACKAGING / "man").iterdir()} == {*options()}


@pytest.mark.parametrize("path", COMPLETIONS, ids=lambda path: path.parent.name)
def test_completions_have_all_options(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for name, words in options().items():
        assert name.removeprefix("glsw-") in text, "run make pages"
        for word in words:
            found = rf"(-l {word[2:]}\b|{word}\b)" if path.suffix == ".fish" else rf"{word}\b"
            assert re.search(found, text), f"{name} {word}: run make pages"


def test_bash_completes() -> None:
    script = """
        source "$1"
        COMP_WORDS=(glsw search --format ht) COMP_CWORD=3
        _shtab_glsw glsw ht --format
        echo "${COMPREPLY[*]}"
    """
    path = PACKAGING / "completions" / "bash" / "glsw"
    done = subprocess.run(["bash", "-c", script, "bash", path], capture_output=True, text=True)
    assert done.stdout == "html\n", done.stderr


def dependencies() -> dict[str, str]:
    """Return those of the package and of its extra `cpu`."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = "".join(
        re.findall(r"^(?:dependencies|cpu) = \[(.*?)\]$", text, re.MULTILINE | re.DOTALL)
    )
    return dict(each.split(" >= ") for each in re.findall(r'"([^";]*)', listed) if " >= " in each)


def test_recipe_of_bioconda_is_that_of_the_project() -> None:
    recipe = (PACKAGING / "bioconda" / "meta.yaml").read_text(encoding="utf-8")
    assert f'set version = "{glsw.__version__}"' in recipe
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    found = dict(re.findall(r"- ([\w-]+) >=([\d.]+)", run))
    assert found.pop("python") == "3.10"
    assert "- libegl\n" in run
    assert float(found.pop("mesa-llvmpipe")) >= 26.1, "the first that has a driver of EGL"
    found["glfw"], found["parasail"] = found.pop("pyglfw"), found.pop("parasail-python")
    assert found == dependencies()


def test_recipe_of_an_archive_is_a_file_of_its_own(tmp_path: Path) -> None:
    recipe, archive = PACKAGING / "bioconda" / "meta.yaml", tmp_path / "glsw-1.2.3.tar.gz"
    before = recipe.read_bytes()
    archive.write_bytes(b"")
    words = [sys.executable, PACKAGING / "bioconda.py", archive, tmp_path / "made"]
    subprocess.run(words, check=True, capture_output=True)
    made = (tmp_path / "made" / "meta.yaml").read_text(encoding="utf-8")
    assert 'set version = "1.2.3"' in made
    assert 'set sha256 = "e3b0c44298fc1c' in made
    assert recipe.read_bytes() == before


def test_container_copies_what_there_is() -> None:
    text = (PACKAGING / "Containerfile").read_text(encoding="utf-8")
    copied = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY ")]
    files = [name for names in copied for name in names if not name.startswith(("--", "/"))]
    assert {"pyproject.toml", "glsw", "shaders", "packaging"} <= {*files}
    assert all((ROOT / name).exists() for name in files)
    assert {"bash", "procps"} <= {*text.split()}, "Nextflow needs both"
    assert "ENTRYPOINT" not in text, "programs that start a shell would start glsw"


def test_verbose_version_names_devices(tmp_path: Path) -> None:
    for words in ("--version --verbose", "--verbose --version"):
        with process(words, tmp_path) as started:
            out, err = started.communicate()
        assert (started.returncode, err) == (0, b"")
        lines = out.decode().splitlines()
        assert lines[0] == f"glsw {glsw.__version__}"
        assert f"python {sys.version.split()[0]}" in lines
        assert [line for line in lines if line.startswith("device 0: ") and ", driver " in line]


def test_verbose_version_without_a_device(tmp_path: Path) -> None:
    env = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nowhere", "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    with process("--version --verbose", tmp_path, env=env) as started:
        out, _ = started.communicate()
    assert started.returncode == 0
    assert "\nno device: " in out.decode()


@pytest.mark.slow  # a minute, most of it by pip, which needs the network
def test_archives_install_into_an_empty_environment(tmp_path: Path) -> None:
    python = sys.executable
    subprocess.run([python, "-m", "hatchling", "build", "-d", tmp_path], cwd=ROOT, check=True)
    subprocess.run([ROOT / "tools" / "check-dist.sh", python, *tmp_path.iterdir()], check=True)
