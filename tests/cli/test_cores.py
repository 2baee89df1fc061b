"""The number of threads: of engine ``cpu``, of work of the host, of software OpenGL."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import glsw.cores
from glsw import Aligner, Scoring, makedb
from glsw.cli import main, parsed
from glsw.cores import cores, limited
from glsw.device import egl
from glsw.engines.auto import Auto
from glsw.engines.cpu import Cpu
from glsw.engines.spec import EngineSpec
from glsw.sequences import sections

pytest.importorskip("pyopal")
PROTEINS = "".join(
    f">p{k}\n{''.join(np.random.default_rng(k).choice(list('ARNDCQEGHILKMFPSTWYV'), 40))}\n"
    for k in range(6)
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("all.fa").write_text(PROTEINS)
    Path("one.fa").write_text("".join(PROTEINS.splitlines(keepends=True)[:2]))


@pytest.mark.parametrize(
    "command",
    ["search all.fa all.fa", "align one.fa one.fa", "neighbors all.fa --cutoff 30"],
)
@pytest.mark.usefixtures("files")
def test_threads_of_commands(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    outputs, before = [], cores()
    for threads, said in (("1", "1 thread"), ("3", "3 threads")):
        words = [*command.split(), "--engine", "cpu", "--format", "tsv", "--threads", threads]
        assert main(words) == 0
        done = capfd.readouterr()
        assert re.search(rf"\b{said}, pyopal", done.err)
        outputs.append(done.out)
    assert outputs[0] == outputs[1] != ""
    assert cores() == before


def test_threads_of_the_library() -> None:
    query, targets = "MKVLAWHEAG", ["MKVLAW", "HEAGAWGHEE"]
    one, three = (Aligner(engine="cpu", threads=k) for k in (1, 3))
    for aligner, threads in ((one, 1), (three, 3)):
        assert isinstance(aligner.engine, Cpu)
        assert aligner.engine.threads == threads
    assert ", 1 thread," in glsw.search(query, targets, engine="cpu", threads=1).device
    assert one.score(query, targets).tolist() == three.score(query, targets).tolist()
    spec = EngineSpec("cpu", Scoring.blast(), threads=3)
    assert pickle.loads(pickle.dumps(spec)).make().threads == 3


def test_threads_of_the_engine_that_chooses(device) -> None:
    chooses = Auto(Scoring.blast(), device, scanner=Cpu, threads=3)
    assert isinstance(chooses.scanner, Cpu)
    assert chooses.scanner.threads == 3


@pytest.mark.parametrize(
    ("threads", "error"), [(0, ValueError), (True, TypeError), (1.5, TypeError)]
)
def test_numbers_that_are_none(threads: object, error: type[Exception]) -> None:
    for engine in ("cpu", "auto", "reference"):
        with pytest.raises(error, match="threads"):
            Aligner(engine=engine, threads=threads)


@pytest.mark.usefixtures("files")
def test_no_threads(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "all.fa", "all.fa", "--threads", "0"]) == 2
    assert "--threads: 0: a whole number of 1 or more expected" in capfd.readouterr().err


@pytest.mark.usefixtures("files")
def test_threads_of_the_checksums_of_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    makedb("all.fa", "db.glsw")
    asked = []

    def spy() -> int:
        asked.append(cores())
        return asked[-1]

    monkeypatch.setattr(glsw.cores, "cores", spy)
    monkeypatch.setattr(sections, "_MIN_SLABS_FOR_THREADS", 0)
    assert main(["verify", "db.glsw", "--threads", "3"]) == 0
    assert asked
    assert set(asked) == {3}


def test_threads_of_software_opengl(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[str | None] = []

    def prepare(**_: object) -> None:
        prepared.append(os.environ.get("LP_NUM_THREADS"))

    monkeypatch.setattr(egl, "prepare", prepare)
    for before, words, expected in (
        (None, ["--threads", "3"], "3"),
        (None, ["--threads=5"], "5"),
        (None, [], None),
        ("1", ["--threads", "3"], "1"),
    ):
        monkeypatch.setenv("LP_NUM_THREADS", "")
        monkeypatch.delenv("LP_NUM_THREADS")
        if before is not None:
            monkeypatch.setenv("LP_NUM_THREADS", before)
        parsed(["search", "q", "t", *words])
        assert prepared[-1] == expected


def test_limits_end() -> None:
    before = cores()
    with limited(1), limited(None), limited(2):
        assert cores() == 2
    assert cores() == before


@pytest.mark.parametrize(("given", "expected"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_the_program_starts_no_threads_for_products(given, expected):
    """NumPy's library reads the variable when it is imported, so that is not done before."""
    code = """
import os, sys
import glsw.cli
def main(**_):
    print(os.environ["OPENBLAS_NUM_THREADS"], "numpy" in sys.modules)
    return 0
glsw.cli.main = main
from glsw.__main__ import main
main()
"""
    names = {each: os.environ[each] for each in os.environ if each != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=names | given, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [expected, "False"]
