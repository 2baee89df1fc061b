"""The pages of the documentation: their examples run, their figures and links are right."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import doc_examples
import pytest
import yaml
from program import ROOT

import glsw
from glsw.cli import main, with_all_options
from glsw.engines import ENGINES
from glsw.wings.three.engines import ENGINES3
from glsw.wings.view.scene import Scene

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
WITH_EXAMPLES = [path for path in PAGES if doc_examples.blocks(path)]
OTHERS = [ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small files of the names that the examples use."""
    protein, dna = ">a\nMKVLAWGCQR\n>b\nMKVLAWGQR\n", ">a\nACGTACGTTACGGATTACAGGATCCA\n"
    for name in ("queries.fasta", "proteins.fasta", "ecoli.fasta", "yeast.fasta", "globins.fasta"):
        (tmp_path / name).write_text(protein)
    for name in ("a.fasta", "b.fasta", "c.fasta"):
        (tmp_path / name).write_text(protein[:14])
    names = "reads.fq genome.fa genes.fa contigs.fasta genome1.fa genome2.fa chr1.fa chr2.fa"
    for name in names.split():
        (tmp_path / name).write_text(dna)
    for name in ("pssm", "hmm"):
        made_up = ROOT / "tests" / "wings" / "profiles" / f"made_up.{name}"
        shutil.copy(made_up, tmp_path / f"family.{name}")
    for name in ("queries", "proteins"):
        (tmp_path / f"{name}_3di.fasta").write_text(">a\nDVPVVLVVQD\n>b\nDVPVVLVVD\n")
    shutil.copy(ROOT / "tests" / "data" / "made_up.mat", tmp_path / "3di.mat")
    (tmp_path / "family.afa").write_text(">a\nMKVLAWGCQR\n>b\nMKVLAWG-QR\n")
    for name in ("database", "uniprot_sprot"):
        (tmp_path / f"{name}.fasta.gz").write_bytes(gzip.compress(protein.encode()))
    shutil.copytree(ROOT / "demo", tmp_path / "demo")
    shutil.copy(ROOT / "demo" / "recording.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["makedb", "database.fasta.gz", "sprot.glsw"]) == 0
    return tmp_path


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=named)
def test_examples(page: Path, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}

    def run(words: list[str]) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main(words)
        except SystemExit as end:  # of --version
            status = int(end.code or 0)
        return status, *capsys.readouterr()

    for block in doc_examples.blocks(page):
        if not block.reason:
            doc_examples.run_block(block, names, run)


def examples_of_help() -> dict[str, list[str]]:
    """Return the command lines that the help of each command ends with."""
    _, commands = with_all_options()
    return {name: (each.epilog or "").split("\n  glsw ")[1:] for name, each in commands.items()}


class ClosedWindow:
    """A window that is closed once its scene is there."""

    def __init__(self, scene: Scene, title: str) -> None:
        self.scene = scene

    def run(self) -> None:
        self.scene.tick(0.0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("command", "examples"), examples_of_help().items())
def test_examples_of_help(
    command: str,
    examples: list[str],
    files: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("glsw.wings.view.window.Window", ClosedWindow)
    monkeypatch.setattr("glsw.engines.provable", lambda info: [])  # all take minutes
    monkeypatch.setattr("glsw.engines.speeds.measured", lambda device: {"cpu": 1e9})
    if command == "merge":
        for shard in ("1/2", "2/2"):
            words = ["search", "queries.fasta", "sprot.glsw", "--output", "run", "--shard", shard]
            assert main(words) == 0
    if command == "motifs":  # five channels, one sample a second
        head, *lines = Path("recording.csv").read_text().splitlines()
        kept = [",".join(line.split(",")[:6]) + "\n" for line in (head, *lines[::5])]
        Path("recording.csv").write_text("".join(kept))
    assert 2 <= len(examples) <= 4
    for example in examples:
        assert len(f"  glsw {example}") <= 80
        words = shlex.split(example, comments=True)
        assert words[0] == command
        assert main(words) == 0, f"glsw {example}: {capsys.readouterr().err}"


def test_examples_that_are_wrong_are_found(files: Path) -> None:
    def block(language: str, code: str) -> doc_examples.Block:
        return doc_examples.Block(language, code, "", 1)

    def run(words: list[str]) -> tuple[int, str, str]:
        return 0, "one\ntwo\nthree\n", ""

    for wrong in ("1 + 1  # -> 3", "1 + 1  # the sum -> 3", ">>> 1 + 1\n3\n", "1 / 0"):
        with pytest.raises((AssertionError, ZeroDivisionError)):
            doc_examples.run_block(block("python", wrong), {}, run)
    doc_examples.run_block(block("console", "$ glsw x\none\n...\nthree\n"), {}, run)
    with pytest.raises(AssertionError):
        doc_examples.run_block(block("console", "$ glsw x\none\nthree\n"), {}, run)


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", text):
        if target.startswith(("http:", "https:")):
            continue
        path = (page.parent / target) if target else page
        assert path.exists(), f"{target} does not exist"
        if anchor and path.suffix == ".md":
            heads = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
            assert anchor[1:] in slugs, f"{target}{anchor}: no such heading"


def test_all_pages_are_in_the_navigation_or_below_a_page_that_is() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    config = yaml.safe_load(text)
    groups = [(name, pages) for group in config["nav"] for name, pages in group.items()]
    entries = [page for _, pages in groups for page in pages]
    below = [page for pages in config["extra"]["below"].values() for page in pages]
    assert len(groups) == 5
    assert len(entries) <= 20
    assert {*config["extra"]["below"]} <= {*entries}
    pages = [page.relative_to(DOCS).as_posix() for page in PAGES[1:]]
    notebooks = [f"notebooks/{path.stem}.md" for path in (DOCS / "notebooks").glob("*.ipynb")]
    others = [path.name for path in OTHERS]
    assert sorted(entries + below) == sorted(pages + notebooks + others)


def test_figures_are_those_of_their_script() -> None:
    spec = importlib.util.spec_from_file_location("figures", DOCS / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main(["--check"]) == 0


def test_each_engine_has_its_paper_and_its_shader() -> None:
    text = (DOCS / "ENGINES.md").read_text(encoding="utf-8")
    papers = text[text.index("## Papers") :]
    engines = set(re.findall(r"^\| `(\w+)`", papers, re.MULTILINE))
    assert engines == {*ENGINES, *ENGINES3} - {"auto"}
    files = set(re.findall(r"`([\w/]+\.(?:comp|frag|glsl))`", papers))
    assert [name for name in files if not (ROOT / "shaders" / name).exists()] == []
    years = set(re.findall(r"\b(?:19|20)\d\d\b", papers))
    cited = papers[papers.index("\n- ") :]
    for year in years:
        assert papers.count(year) > cited.count(year) > 0, f"{year}: in one of table and list"


@pytest.mark.parametrize("path", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=named)
def test_notebooks_run(path: Path, files: Path) -> None:
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [each for each in outputs if each.output_type == "error"]
    assert len(outputs) >= 5


def test_site_builds_without_warnings(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    home = (tmp_path / "index.html").read_text("utf-8")
    assert 'src="local.js"' in home[: home.index("</head>")], "the theme's scripts come first"
    index = (tmp_path / "search" / "search_index.js").read_text("utf-8")
    assert json.loads(index.removeprefix("var __index = "))["docs"]
    api = "".join(path.read_text("utf-8") for path in (tmp_path / "api").glob("*.html"))
    for name in {*glsw.__all__} - {"__version__"}:
        assert re.search(rf'id="glsw\.[\w.]*\b{name}"', api), f"{name} is not in the API"
