"""Files of results under faults: killed, refused and resumed runs, full disks, links and pipes."""

from __future__ import annotations

import errno
import os
import random
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from damage import accepted, cuts, flips
from program import ROOT, process, refused
from smaller import smaller

from glsw import DNA, makedb
from glsw.output import FORMATS
from glsw.output.part_file import PartFile
from glsw.output.result_file import ResultFile, is_replaced
from glsw.sequences.database import Database
from glsw.sequences.fasta import read_all

LETTERS = "ARNDCQEGHILKMFPSTVWY"
SEARCH = "search queries.fasta db.fasta --engine reference --output out"
COLUMNS = "blast-tab qseqid sseqid btop qcovs"
FORMS = [*FORMATS, COLUMNS]


def fasta(name: str, count: int, seed: int) -> str:
    draw = random.Random(seed)
    return "".join(
        f">{name}{k} the number {k}\n{''.join(draw.choices(LETTERS, k=draw.randint(5, 15)))}\n"
        for k in range(count)
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    # One query is masked as a whole: an error if it were the only one, else a warning.
    (tmp_path / "queries.fasta").write_text(fasta("q", 5, 1) + ">soft\nacdef\n")
    (tmp_path / "db.fasta").write_text(fasta("t", 8, 2))
    return tmp_path


@pytest.fixture
def moments(monkeypatch: pytest.MonkeyPatch, files: Path) -> list[tuple[bytes, bytes]]:
    """Results and journal as they are on the disk after each write, in small pieces."""
    seen: list[tuple[bytes, bytes]] = []
    write = PartFile.write

    def content(name: str) -> bytes:
        return Path(name).read_bytes() if Path(name).exists() else b""

    def watched(self: PartFile, data: memoryview) -> int:
        count = write(self, memoryview(data)[:100])
        seen.append((content("out.part"), content("out.part.journal")))
        return count

    monkeypatch.setattr(PartFile, "write", watched)
    smaller(monkeypatch, marks=0)
    return seen


def left(results: bytes, journal: bytes) -> None:
    """Leave what a killed run has left."""
    Path("out").unlink(missing_ok=True)
    Path("out.part").write_bytes(results)
    Path("out.part.journal").write_bytes(journal)


def only_output(folder: Path) -> bool:
    return not [path for path in folder.iterdir() if ".part" in path.name]


@pytest.mark.parametrize("count", [1, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", FORMS)
def test_a_run_killed_at_any_moment_goes_on_to_the_same_bytes(
    form: str,
    count: int,
    run: Callable[..., SimpleNamespace],
    files: Path,
    moments: list[tuple[bytes, bytes]],
) -> None:
    words = f"{SEARCH} --lower-case-mask --format {shlex.quote(form)}"
    assert run(words).status == 0
    whole = Path("out").read_bytes()
    some = random.Random(5).sample(moments, min(count, len(moments)))
    killed = [moments[len(moments) // 2], *some, moments[-1]]
    resumed = set()
    for results, journal in killed:
        for damaged in (results, results[:-3], results + b"torn"):
            left(damaged, journal)
            done = run(f"{words} --resume")
            assert (done.status, Path("out").read_bytes()) == (0, whole)
            resumed.add(done.err.rpartition("; ")[2].partition(" ")[0])
            assert only_output(files)
    assert len(resumed - {"DNA"}) > 1  # some went on, from different queries


def test_a_journal_cut_anywhere(
    run: Callable[..., SimpleNamespace], files: Path, moments: list[tuple[bytes, bytes]]
) -> None:
    run(f"{SEARCH} --format tsv")
    whole = Path("out").read_bytes()
    results, journal = moments[-1]
    for size in sorted(random.Random(7).sample(range(len(journal)), 12)):
        left(results, journal[:size])
        assert run(f"{SEARCH} --format tsv --resume").status == 0
        assert Path("out").read_bytes() == whole


def test_damaged_journals_and_results_lead_nowhere_else(tmp_path: Path) -> None:
    """Of a damaged line or result no number is believed, but that of lines before it."""
    path, points = tmp_path / "out", {0: 0}
    with suppress(KeyboardInterrupt), ResultFile(path, lambda: {"top": "10"}) as file:
        for k in range(1, 9):
            file.stream.write(f"result {k}\n")
            file.mark(k)
            points[k] = file.part.stat().st_size
        raise KeyboardInterrupt

    def resumed(_: Path) -> tuple[int, int]:
        again = ResultFile(path, lambda: {"top": "10"})
        return again.resume(), again._point.size

    journal = tmp_path / "out.part.journal"
    assert resumed(journal) == (8, points[8])
    for each in (journal, file.part):
        found = accepted(each, resumed, flips(each.read_bytes(), 700))
        found += accepted(each, resumed, cuts(each.read_bytes(), 300))
        assert {*found} <= {*points.items()} - {(8, points[8])}


def test_a_file_that_takes_nothing_leaves_nothing(
    run: Callable[..., SimpleNamespace], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.EFBIG, "File too large")

    monkeypatch.setattr(PartFile, "write", full)
    refused(run, f"{SEARCH} --format tsv", "File too large", files)
    assert only_output(files)


@pytest.mark.parametrize(
    "forged",
    [
        *(first + b"\n" for first in (b"[]", b"7", b"{", b"\xff", b"[" * 100_000)),
        *(b"FIRST\n%b\n" % line for line in (b"-1 0 0", b"1 -1 0", b"1 %d 0" % 2**62)),
        b"FIRST\n1000 0 0\n",
        b"FIRST\n1 " + b"9" * 10_000 + b" 0\n",
    ],
)
def test_forged_journals(
    forged: bytes, run: Callable[..., SimpleNamespace], files: Path, moments: list[Any]
) -> None:
    run(f"{SEARCH} --format tsv")
    whole = Path("out").read_bytes()
    results, journal = moments[-1]
    left(results, forged.replace(b"FIRST", journal.partition(b"\n")[0]))
    done = run(f"{SEARCH} --format tsv --resume")
    if done.status == 2:
        assert done.err.count("\n") == 1
    else:
        assert (done.status, Path("out").read_bytes()) == (0, whole)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
@pytest.mark.parametrize("indexed", [False, True])
def test_a_killed_process_is_resumed(
    indexed: bool, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    makedb(files / "db.fasta", files / "db")
    words = SEARCH.replace("db.fasta", "db") if indexed else SEARCH
    run(words)
    whole = (files / "out").read_bytes()
    code = (
        "import os; from glsw.output import result_file\n"
        "mark, result_file._SECONDS_BETWEEN_MARKS = result_file.ResultFile.mark, 0\n"
        "def killed(self, results):\n"
        "    mark(self, results)\n"
        "    if results > 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        "result_file.ResultFile.mark = killed"
    )
    (files / "out").write_text("old")
    with process(words, files, code=code) as started:
        started.communicate()
    assert started.returncode == -signal.SIGKILL
    assert (files / "out").read_text() == "old"
    done = run(f"{words} --resume")
    assert done.status == 0
    assert "; 3 results of an earlier run" in done.err
    assert (files / "out").read_bytes() == whole


@pytest.mark.parametrize(
    ("words", "changed", "named"),
    [
        ("--top 3", "", "--top changed from not given to 3"),
        ("--format table", "", "--format changed from pairwise to table"),
        ("--gapopen 9", "", "scoring changed from BLOSUM62"),
        ("", "queries.fasta", "queries changed from 6 sequences"),
        ("", "db.fasta", "database changed from 8 sequences"),
        ("", "version", "glsw changed from "),
    ],
)
def test_the_results_of_another_run_are_refused(
    words: str,
    changed: str,
    named: str,
    run: Callable[..., SimpleNamespace],
    files: Path,
    moments: list[tuple[bytes, bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(SEARCH)
    whole = Path("out").read_bytes()
    left(*moments[-1])
    if changed == "version":
        monkeypatch.setattr("glsw._version.__version__", "99")
    elif changed:
        with Path(changed).open("a") as file:
            file.write("W\n")
    done = run(f"{SEARCH} {words} --resume")
    assert (done.status, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert done.err.startswith(f"glsw: out.part is of another run: {named}")
    assert done.err.endswith("; without --resume it is overwritten\n")
    assert (Path("out.part").read_bytes(), Path("out").exists()) == (moments[-1][0], False)
    if changed not in ("queries.fasta", "db.fasta"):
        assert run(SEARCH).status == 0
        assert Path("out").read_bytes() == whole
        assert only_output(files)


@pytest.mark.parametrize("output", ["-", "/dev/null"])
def test_only_a_file_is_resumed(output: str, run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"search queries.fasta db.fasta --engine reference --output {output} --resume")
    assert (done.status, done.err) == (2, "glsw: --resume requires --output FILE\n")


def test_a_journal_waits_until_the_fingerprint_is_worth_its_time(tmp_path: Path) -> None:
    asked = []

    def fingerprint() -> dict[str, str]:
        asked.append(True)
        return {}

    for patience in (3600.0, 0.0):
        with ResultFile(tmp_path / "out", fingerprint, patience) as file:
            file.stream.write("x")
            file.mark(1)
            assert len(asked) == (patience == 0)


@pytest.mark.parametrize("length", [238, 239, 245, 250, 251, 255])
@pytest.mark.parametrize("letter", ["a", "é"])
def test_long_names_are_written_and_resumed(length: int, letter: str, tmp_path: Path) -> None:
    name = letter * (length // len(letter.encode()))
    for results in (0, 1, 2):
        file = ResultFile(tmp_path / name, lambda: {"search": "this one"})
        assert file.resume() == results
        if results == 2:
            break
        file.__enter__()
        file.stream.write(f"result {results}\n")
        file.mark(results + 1)
        file.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
        assert len(list(tmp_path.iterdir())) == 2
    with file:
        file.stream.write("the last one\n")
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "result 0\nresult 1\nthe last one\n"


def test_long_names_of_databases(files: Path) -> None:
    name = "d" * 255
    makedb(files / "db.fasta", files / name)
    assert sorted(os.listdir(files)) == ["db.fasta", name, "queries.fasta"]


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with ResultFile(tmp_path / "out") as file:
        file.stream.write("first")
        with pytest.raises(ValueError, match=r"out\.part: another run is writing it"):
            ResultFile(tmp_path / "out").__enter__()
    assert (tmp_path / "out").read_text() == "first"


def test_a_full_disk_leaves_the_old_file_and_what_was_written(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    resource = pytest.importorskip("resource")
    run(SEARCH)
    whole = (files / "out").read_bytes()
    (files / "out").write_text("old")
    code = (
        "import resource; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(whole) // 2}, {resource.RLIM_INFINITY}))"
    )
    with process(SEARCH, files, code=code) as started:
        _, err = started.communicate()
    shown = err.decode().splitlines()[-1]
    assert (started.returncode, (files / "out").read_text()) == (2, "old")
    assert shown.startswith("glsw: out.part: File too large; out.part has the results so far")
    assert run(f"{SEARCH} --resume").status == 0
    assert (files / "out").read_bytes() == whole


def test_a_name_that_cannot_be_encoded_harms_nothing(
    run: Callable[..., SimpleNamespace], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = f"{SEARCH} --format sam"
    monkeypatch.setattr(sys, "argv", ["glsw", "search", "\udcff.fasta"])
    assert run(words).status == 0
    assert b"glsw search '\\udcff.fasta'" in (files / "out").read_bytes()


def test_permissions_remain_and_links_are_followed(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    target = files / "target"
    target.write_text("old")
    target.chmod(0o640)
    (files / "out").symlink_to("target")
    assert run(SEARCH).status == 0
    assert (files / "out").is_symlink()
    assert target.read_text().startswith("Query=")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_pipes_and_devices_are_written_in_place(
    run: Callable[..., SimpleNamespace], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = run(SEARCH.removesuffix(" --output out")).out
    os.mkfifo(files / "out")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((files / "out").read_text()))
    reader.start()
    assert run(SEARCH).status == 0
    reader.join()
    assert read == [printed]
    assert not any(is_replaced(Path(name)) for name in ("/dev/stdout", "/dev/null", "/dev/fd/9"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert not is_replaced(files / "queries.fasta")


def test_standard_input_is_not_overwritten(files: Path) -> None:
    before = (files / "queries.fasta").read_bytes()
    for output, reason in (("queries.fasta", "it is an input"), ("q", "q.part, where results")):
        shutil.copy(files / "queries.fasta", files / "q.part")
        name = "q.part" if output == "q" else output
        words = f"search - db.fasta --engine reference --output {output}"
        with (
            (files / name).open() as source,
            process(words, files, stdin=source.fileno()) as started,
        ):
            _, err = started.communicate()
        assert started.returncode == 2
        assert reason in err.decode()
        assert (files / name).read_bytes() == before


@pytest.mark.parametrize("words", ["makedb - {}", "makedb db.fasta {} --second-track -"])
def test_a_database_does_not_overwrite_standard_input(words: str, files: Path) -> None:
    name = "queries.fasta"
    before = (files / name).read_bytes()
    with (
        (files / name).open() as source,
        process(f"{words.format(name)} --force", files, stdin=source.fileno()) as started,
    ):
        _, err = started.communicate()
    assert started.returncode == 2
    assert err == b"glsw: queries.fasta: it is an input, and would be overwritten\n"
    assert (files / name).read_bytes() == before


@pytest.mark.parametrize("resume", ["", " --resume"])
@pytest.mark.parametrize("name", ["out.part", "out.part.journal"])
def test_links_and_pipes_in_the_place_of_unfinished_files(
    name: str, resume: str, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (files / "precious").write_text("old")
    (files / name).symlink_to("precious")
    message = f"{name}: not a regular file"
    refused(run, SEARCH + resume, message, files)
    (files / name).unlink()
    os.mkfifo(files / name)
    refused(run, SEARCH + resume, message, files)


def test_a_link_in_the_place_of_a_new_journal_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("old")
    (tmp_path / "out.part.journal.new").symlink_to("precious")
    with ResultFile(tmp_path / "out", dict) as file:
        file.mark(0)
    assert (tmp_path / "precious").read_text() == "old"


@pytest.mark.parametrize("words", ["", "--no-progress"])
@pytest.mark.parametrize("closed", ["2>&-", "2>&- <&-"])
@pytest.mark.parametrize("output", ["", " --output out"])
def test_closed_standard_error(
    words: str, closed: str, output: str, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    search = "search queries.fasta db.fasta --engine reference --format tsv"
    expected = run(search).out
    program = f"{sys.executable} -m glsw {search} {words}{output} {closed}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(program, shell=True, cwd=files, env=environment, stdout=subprocess.PIPE)
    assert done.returncode == 0
    found = (files / "out").read_bytes() if output else done.stdout
    assert found.decode() == expected


def test_identity_of_a_database(tmp_path: Path) -> None:
    (tmp_path / "a.fasta").write_text(">a\nACGT\n")
    assert Database.of(read_all(tmp_path / "a.fasta"), DNA).stamp is None
    makedb(tmp_path / "a.fasta", tmp_path / "a", alphabet=DNA)
    stamp = Database.open(tmp_path / "a").stamp
    assert stamp is not None
    assert stamp == Database.open(tmp_path / "a").stamp
