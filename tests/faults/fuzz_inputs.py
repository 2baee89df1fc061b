"""Random files and command lines: a result, one line and status 2, or 130 when interrupted."""

from __future__ import annotations

import contextlib
import gzip
import io
import random
import shlex
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from glsw.cli import main

SECONDS = 20  # until a command is interrupted, as by Ctrl-C
_COMMANDS = {
    "search": "search {a} {b} --engine {engine} --format {format} {option}",
    "database": "search {a} {c} --engine {engine} --format {format} {option}",
    "align": "align {a} {b} --engine {engine} {option}",
    "align3": "align3 {a} {b} {a} {option}",
    "makedb": "makedb {a} out.glsw --force {option}",
    "verify": "verify {c}",
    "words": "{word} {a} {b} {option}",
}
_ENGINES = ("reference", "cpu", "diagonal")
_FORMATS = ("table", "tsv", "blast-tab", "sam", "paf", "jsonl", "gff3", "html", "nonsense")
_VALUES = (
    "", "0", "1", "-1", "1e9", "1e-9", "-1e-4", "nan", "inf", "99999999999999999999", "x", ",",
    "é", "\x1b[31m", "../..", "/dev/null", "-", "--",
)  # fmt: skip
_PAIR_OPTIONS = {
    "--gapopen": "11", "--gapextend": "1", "--matrix": "PAM30", "--match": "2", "--mismatch": "-3",
    "--memory": "1G", "--device": "0", "--mode": "semiglobal", "--unknown": "X", "--dna": None,
    "--protein": None, "--strand": "both", "--no-progress": None, "--output": "out.txt",
    "--bogus": None,
}  # fmt: skip
_SEARCH_OPTIONS = _PAIR_OPTIONS | {
    "--top": "3", "--evalue": "10", "--max-hsps": "2", "--min-score": "5", "--translated": None,
    "--statistics": "fit", "--query-mask": "lower", "--resume": None, "--translated-target": None,
    "--target-strand": "minus", "--alignments": "3", "--threads": "1", "--read-group": "@RG\\tID:a",
}  # fmt: skip
_OPTIONS = {
    "search": _SEARCH_OPTIONS,
    "align": _PAIR_OPTIONS | {"--max-alignments": "3"},
    "align3": {"--matrix": "PAM30", "--max-alignments": "2", "--sum-of-pairs": None},
    "makedb": {"--alphabet": "dna", "--unknown": "X"},
}


def command(seed: int) -> tuple[str, dict[str, bytes]]:
    """Return a command line and the files that it reads, by name."""
    rng = random.Random(seed)
    kind = rng.choice(list(_COMMANDS))
    line = _COMMANDS[kind].format(
        a="a.fa",
        b="b.fa",
        c="db.glsw",
        engine=rng.choice(_ENGINES),
        format=rng.choice(_FORMATS),
        option=" ".join(_option(rng, kind) for _ in range(rng.choice((0, 0, 1, 1, 2)))),
        word=rng.choice(("search", "align", "motifs", "devices", "help", "", "align3")),
    )
    most = 1 if kind.startswith("align") else 6
    return line, {name: _file(rng, most) for name in ("a.fa", "b.fa")}


def _option(rng: random.Random, kind: str) -> str:
    options = _OPTIONS.get(kind, _SEARCH_OPTIONS)
    name = rng.choice(list(options))
    value = options[name] if rng.random() < 0.5 else rng.choice(_VALUES)
    return name if value is None else shlex.join((name, value))


def run(seed: int, folder: Path, database: bytes) -> str:
    """Run the command of a seed; return its words.

    Parameters
    ----------
    seed : int
    folder : Path
        The current folder, for the files.
    database : bytes
        A database, which the command may find damaged.

    Raises
    ------
    AssertionError
        If anything but a result, or one line and status 2, comes of it.
    """
    line, files = command(seed)
    rng = random.Random(seed + 1)
    damaged = database
    if rng.random() < 0.5:
        damaged = _damaged(rng, database)
    for name, content in (files | {"db.glsw": damaged}).items():
        (folder / name).write_bytes(content)
    status, out, err = _called(shlex.split(line))
    told = f"seed {seed}: glsw {line}: status {status}, {err[-600:]!r}"
    assert status in (0, 2, 130), told
    assert "Traceback" not in err, told
    lines = [text for text in err.splitlines() if text.startswith("glsw: ")]
    if status == 2:
        assert lines, told
        assert err.rstrip("\n").splitlines()[-1] == lines[-1], told
    elif status == 0 and "db.glsw" in line and damaged != database and "--output" not in line:
        (folder / "db.glsw").write_bytes(database)
        again = _called(shlex.split(line))
        assert (status, out) == again[:2], f"another result of a damaged database, {told}"
    return line


def _called(words: list[str]) -> tuple[int | str, str, str]:
    """Return the status, standard output and error of a command line."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    status: int | str
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
        _limited(),
    ):
        warnings.simplefilter("ignore")
        stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(b">s\nMKV\n"))
        try:
            status = main(words)
        except SystemExit as error:
            status = int(error.code or 0)
        except Exception as error:  # this is what must not be
            status = f"{type(error).__name__}: {error}"
        finally:
            sys.stdin = stdin
    texts = [each.buffer.getvalue().decode("utf-8", "replace") for each in (out, err)]
    return status, texts[0], texts[1]


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# files


def _file(rng: random.Random, most: int) -> bytes:
    content = rng.choice((*[_fasta] * 6, _fastq, _noise))(rng, most)
    for _ in range(rng.choice((0, 0, 0, 0, 1, 3))):
        content = _damaged(rng, content)
    if rng.random() < 0.15:
        content = gzip.compress(content)
        content = _damaged(rng, content) if rng.random() < 0.5 else content
    return content


def _fasta(rng: random.Random, most: int) -> bytes:
    letters = rng.choice(
        ("ACDEFGHIKLMNPQRSTVWY", "ACDEFGHIKLMNPQRSTVWYUOX", "ACGT", "acgtun", "ABC*-.")
    )
    end = rng.choice(("\n", "\n", "\r\n"))
    text = ""
    for k in range(rng.randrange(1, most + 1)):
        text += f">{rng.choice(('s', '#', 'é', ' ', ''))}{k} {rng.choice(('', 'one two', '>x'))}"
        sequence = "".join(rng.choices(letters, k=rng.choice((0, 1, 7, 60, 60, 150))))
        text += end + end.join(sequence[at : at + 60] for at in range(0, 150, 60)) + end
    return text.encode()


def _fastq(rng: random.Random, most: int) -> bytes:
    text = ""
    for k in range(rng.randrange(1, most + 1)):
        n = rng.randrange(60)
        text += f"@r{k}\n{''.join(rng.choices('ACGTN', k=n))}\n+\n{'I' * n}\n"
    return text.encode()


def _noise(rng: random.Random, most: int) -> bytes:
    return rng.randbytes(rng.choice((0, 1, 100 * most)))


def _damaged(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    kind = rng.randrange(5)
    if kind == 0:
        return content[:at]
    if kind == 1 and at < len(content):
        return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]
    if kind == 2:
        inserted = rng.choice((b"\0", b"\r", b"\xff\xfe", b"\x1b[2J", b">", b"@", b"\n\n", b"*"))
        return content[:at] + inserted + content[at:]
    if kind == 3:
        return content[:at] + content[rng.randrange(len(content) + 1) :]
    return content[:at] + rng.randbytes(8) + content[at + 8 :]
