"""Shards on the command line: killed, repeated, in random order, of other searches, missing."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from program import process, refused, wait_until

from glsw import DNA, Database, makedb, read
from glsw.output import FORMATS
from glsw.search.ranking import Ranking
from glsw.wings.shards.file import ShardFile
from glsw.wings.shards.verbs import Description, description_bytes

Run = Callable[..., SimpleNamespace]
COUNT = 16
PROTEINS, BASES = "ARNDCQEGHILKMFPSTVWY", "ACGT"
COLUMNS = "blast-tab qseqid sseqid btop qcovs"
SEARCHES = {
    "fit": "proteins.fasta db.glsw --engine cpu --statistics fit --evalue 100 --top 5",
    "hsps": "proteins.fasta db.fasta --engine cpu --max-hsps 5 --top 4 --lower-case-mask",
    "translated": "reads.fasta db.glsw --engine cpu --translated --max-hsps 2 --top 5",
    "strands": "reads.fasta genomes.fasta --engine cpu --dna --max-hsps 5 --match 1 --mismatch -1",
    "windows": "reads.fasta genome.fasta --engine cpu --top 3",
}
KILL = (
    "import os; from glsw.wings.shards import verbs as shards\n"
    "def kill(*_): os.kill(os.getpid(), signal.SIGKILL)\n"
)
MOMENTS = ("shards.hits_block", "shards.last_block", "os.fsync")


def fasta(name: str, lengths: list[int], letters: str, seed: int) -> str:
    draw = random.Random(seed)
    return "".join(
        f">{name}{k} the number {k}\n{''.join(draw.choices(letters, k=length))}\n"
        for k, length in enumerate(lengths)
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    draw = random.Random(3)
    lengths = [draw.randint(20, 90) for _ in range(300)]
    # One query is masked as a whole: it has no contexts.
    proteins = fasta("q", [40, 25, 60, 30], PROTEINS, 1) + ">soft\nacdef\n"
    genome = fasta("chromosome", [30_000], BASES, 4)
    letters = genome.splitlines()[1]
    reads = "".join(f">r{k}\n{letters[700 * k : 700 * k + 60]}\n" for k in range(6))
    for name, text in (
        ("proteins", proteins),
        ("db", fasta("t", lengths, PROTEINS, 2)),
        ("reads", reads),
        ("genomes", fasta("g", [900, 800, 300], BASES, 5) + f">part\n{letters[600:1500]}\n"),
        ("genome", genome),
    ):
        (tmp_path / f"{name}.fasta").write_text(text)
    makedb(tmp_path / "db.fasta", tmp_path / "db.glsw")
    return tmp_path


def shard(search: str, number: int, count: int = COUNT) -> str:
    return f"search {search} --shard {number}/{count} --output run"


def scan(run: Run, search: str, count: int = COUNT) -> None:
    for number in range(1, count + 1):
        assert run(shard(search, number, count)).status == 0


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SEARCHES)
def test_killed_and_repeated_shards_in_any_order(
    name: str, every: bool, run: Run, files: Path
) -> None:
    search = SEARCHES[name]
    every = every or name == "fit"
    moments = MOMENTS if every else MOMENTS[1:2]
    order = random.Random(name).sample(range(1, COUNT + 1), COUNT)
    for number, moment in zip(order, moments, strict=False):
        with process(shard(search, number), files, code=f"{KILL}{moment} = kill") as started:
            started.communicate()
        assert started.returncode == -signal.SIGKILL
    assert not list(files.glob("run/*.shard"))
    assert run("merge run").status == 2
    for k, number in enumerate(reversed(order)):
        done = run(shard(search, number) + " --resume" * (k % 2))
        assert done.status == 0
        assert "complete" not in done.err
    assert not list(files.glob("run/*.part"))
    for form in [*FORMATS, COLUMNS] if every else ["jsonl", COLUMNS]:
        words = f"--format {shlex.quote(form)} --output hits"
        one = run(f"search {search} {words}")
        assert one.status == 0
        whole = (files / "hits").read_bytes()
        merged = run(f"merge run --engine {search.split()[3]} {words}")
        assert merged.status == 0
        assert _without_command((files / "hits").read_bytes()) == _without_command(whole)
    assert len(whole) > 100


@pytest.mark.parametrize("name", ["0001-of-0002.shard", "0001-of-0002.shard.part", "search.json"])
@pytest.mark.parametrize("resume", ["", " --resume"])
def test_pipes_in_the_place_of_files(name: str, resume: str, run: Run, files: Path) -> None:
    search = SEARCHES["fit"]
    scan(run, search, 2)
    for each in {"0001-of-0002.shard", name}:
        (files / "run" / each).unlink(missing_ok=True)
    os.mkfifo(files / "run" / name)
    message = f"run/{name}: not a regular file"
    refused(run, shard(search, 1, 2) + resume, message, files)
    if not name.endswith(".part"):
        refused(run, "merge run", message, files)


@pytest.mark.parametrize("words", [None, [], ["merge"], ["search", "--help"], ["search", 7, None]])
def test_forged_command_lines(words: list[object] | None, run: Run, files: Path) -> None:
    scan(run, SEARCHES["windows"], 2)
    path = files / "run" / "search.json"
    known = json.loads(path.read_text())
    notes = {**known["notes"], "words": words}
    path.write_bytes(description_bytes(Description(known["fingerprint"], known["shards"], notes)))
    refused(run, "merge run", "", files)


def test_forged_plans_print_no_files(run: Run, files: Path) -> None:
    """Neither those of sequences nor matrices; the user may name them."""
    scan(run, SEARCHES["hsps"], 2)
    path, folder = files / "run" / "search.json", files.resolve()
    known = json.loads(path.read_text())
    for words, text in (
        ("search secret db.fasta", "secret:x:0:0\n"),
        ("search secret db.fasta", ">secret\nMKV!\n"),
        ("search proteins.fasta secret", ">secret\nMKV!\n"),
        ("search proteins.fasta secret", "\x89GLSW secret"),
        ("search proteins.fasta db.fasta --matrix secret", "secret secret\n"),
    ):
        (files / "secret").write_text(text)
        notes = {"words": words.split(), "folder": str(folder)}
        path.write_bytes(description_bytes(Description(known["fingerprint"], 2, notes)))
        done = run("merge run --engine reference")
        assert done.status == 2
        assert done.err.startswith("glsw: run was not made from ")
        assert done.err.replace(", secret", "").replace("from secret", "").count("secret") == 0
    done = run("merge run --query secret --target secret --engine reference")
    assert "secret" in done.err.replace("from secret", "")


def test_a_link_in_the_place_of_an_unfinished_file(run: Run, files: Path) -> None:
    (files / "run").mkdir()
    (files / "precious").write_text("old")
    part = "run/0001-of-0002.shard.part"
    (files / part).symlink_to(files / "precious")
    refused(run, shard(SEARCHES["fit"], 1, 2), f"{part}: not a regular file", files)


def test_places_in_long_targets_are_kept(run: Run, files: Path) -> None:
    scan(run, SEARCHES["windows"], 2)
    ranking = Ranking(3, 1)
    database = Database.of(read(files / "genome.fasta"), DNA)
    file = ShardFile(files / "run" / "0001-of-0002.shard")
    found = file.results(ranking, database, slice(0, 1))
    assert any(each.found.columns is not None for each in found)


COMMANDS = b"@PG", b'<pre class="command">'


def _without_command(output: bytes) -> bytes:
    return b"\n".join(line for line in output.split(b"\n") if not line.startswith(COMMANDS))


def test_the_command_line_in_a_file_is_that_of_one_process(run: Run, files: Path) -> None:
    search = f"{SEARCHES['hsps']} --format sam"
    scan(run, search, 2)

    def output(words: str) -> bytes:
        with process(words, files) as started:
            out, _ = started.communicate()
        assert started.returncode == 0
        return out

    one = output(f"search {search}")
    assert output("merge run --engine cpu") == one
    assert f"CL:glsw search {search}".encode() in one


def test_a_shard_that_is_complete_or_computed_now(run: Run, files: Path) -> None:
    first = shard(SEARCHES["fit"], 1)
    code = (
        "import time; from glsw.wings.shards import verbs as shards\n"
        "def stay(*_):\n"
        "    open('begun', 'w').close()\n"
        "    time.sleep(10**6)\n"
        "shards.hits_block = stay"
    )
    with process(first, files, code=code) as started:
        wait_until(lambda: (files / "begun").exists(), started)
        done = run(first)
        assert (done.status, done.err) == (
            2,
            "glsw: run/0001-of-0016.shard: another process is computing this shard\n",
        )
        started.kill()
        started.communicate()
    assert run(first).status == 0
    before = (files / "run" / "0001-of-0016.shard").stat().st_mtime_ns
    for words in (first, f"{first} --resume"):
        done = run(words)
        assert (done.status, done.err) == (0, "glsw: run/0001-of-0016.shard is complete\n")
    assert (files / "run" / "0001-of-0016.shard").stat().st_mtime_ns == before


def test_missing_shards_are_listed(run: Run) -> None:
    scan(run, SEARCHES["hsps"])
    for number in (3, 5, 6, 7):
        Path(f"run/{number:04}-of-0016.shard").unlink()
    done = run("merge run --output hits")
    assert (done.status, done.err) == (2, "glsw: run: shards 3, 5-7 of 16 are missing\n")
    assert not Path("hits").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("--top 5", "top changed from 4 to 5"),
        ("--gapopen 12", "scoring changed from BLOSUM62"),
        ("--statistics none", "statistics changed from auto to none"),
    ],
)
def test_another_search_is_refused(change: str, message: str, run: Run) -> None:
    search = SEARCHES["hsps"]
    scan(run, search, 2)
    done = run(shard(f"{search} {change}", 1, 2))
    assert done.status == 2
    assert f"\nglsw: run has shards of another search: {message}" in done.err
    assert done.err.count("\n") == 2  # the first one is of the query that is masked
    assert "shards changed from 2 to 3" in run(shard(search, 1, 3)).err


def test_other_files_are_refused_and_moved_ones_found(run: Run, files: Path) -> None:
    scan(run, SEARCHES["hsps"], 2)
    merge = "merge run --engine cpu --format tsv"
    wanted = run(merge).out
    (files / "moved").mkdir()
    (files / "db.fasta").rename(files / "moved" / "targets")
    assert run(merge).status == 2
    assert run(f"{merge} --target moved/targets").out == wanted
    done = run(f"{merge} --target proteins.fasta")
    assert done.status == 2
    assert "shards of another search: database changed from 300 sequences" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("db.fasta --shard 3/2 --output run", "3/2: a number from 1 to 2 expected"),
        ("db.fasta --shard 0/2 --output run", "0/2: a number from 1 to 2 expected"),
        ("db.fasta --shard 2 --output run", "'2': two numbers such as 3/16 expected"),
        ("db.fasta --shard 1/2", "--shard is for --output DIR, a folder"),
        ("db.fasta --shard 1/2 --output db.glsw", "db.glsw: it is not a folder"),
        ("- --shard 1/2 --output run", "standard input ('-') cannot be read again"),
    ],
)
def test_words_that_make_no_shard(words: str, message: str, run: Run, files: Path) -> None:
    done = run(f"search proteins.fasta {words}")
    assert done.status == 2
    assert message in done.err
    assert not (files / "run").exists()


def test_a_folder_of_no_shards(run: Run, files: Path) -> None:
    assert run("merge .").err == "glsw: search.json: No such file or directory\n"
    (files / "search.json").write_text("{}")
    assert run("merge .").err == "glsw: search.json: damaged\n"
