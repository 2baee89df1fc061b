"""Words of the command line that are nearly right, and text of files that is not harmless."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest
from program import process

from glsw import Aligner, Record, write
from glsw.device import egl
from glsw.output import FORMATS

CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
HOSTILE = "a\x1b]0;title\x07b\x08c\x9b2J\x7f\u202egnp\u2066\u200b\u061c.exe"
SHOWN = r"a\x1b]0;title\x07b\x08c\x9b2J\x7f\u202egnp\u2066\u200b\u061c.exe"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "q.fasta").write_text(">#q first\nHEAGAWGHEE\n")
    (tmp_path / "db.fasta").write_text(">t1 far\nPPPPPP\n>t2 near\nPAWHE\n")
    (tmp_path / "hostile.fasta").write_text(f">{HOSTILE} {HOSTILE}\nPAWHE\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--device ''", "argument --device: '' is not a name"),
        ("--device ,", "argument --device: '' is not a name"),
        ("--device 0,", "argument --device: '' is not a name"),
        ("--matrix ''", "argument --matrix: '' is not a name"),
        ("--engine ''", "argument --engine: '' is not a name"),
        ("--unknown ''", "argument --unknown: '' is not a name"),
        ("--output ''", "--output: it names no file"),
        ("--gapextend 1e-9", "1e-09 has more than 4 decimals, round it"),
        ("--match 1 --mismatch -1e-9", "-1e-09 has more than 4 decimals, round it"),
        ("--match 1 --mismatch -x", "argument --mismatch: expected one argument"),
        ("--memory -1", "argument --memory: '-1' is not a size such as 512M or 2G"),
        ("--memory M", "argument --memory: 'M' is not a size such as 512M or 2G"),
        ("--device nothing", "no device 'nothing'; found device 0: "),
    ],
)
def test_nearly_right_words(words: str, message: str, run: Callable[..., SimpleNamespace]) -> None:
    engine = "" if "--engine" in words or "nothing" in words else "--engine reference"
    done = run(f"search q.fasta db.fasta {engine} {words}")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("glsw: ")
    assert done.err.count("\n") == 1
    assert message in done.err


def test_negative_numbers_with_an_exponent(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (files / "dna.fasta").write_text(">d\nACGTACGTTT\n")
    words = "search dna.fasta dna.fasta --engine reference --format tsv --match 1"
    shown = {run(f"{words} --mismatch{each}").out for each in (" -1e-4", "=-1e-4", " -0.0001")}
    assert len(shown) == 1
    assert len(shown.pop().splitlines()) == 2


@pytest.mark.parametrize("form", [*FORMATS, "blast-tab stitle qseqid sseqid"])
def test_no_format_has_control_characters(
    form: str, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    words = f"search {{}} --engine reference --format '{form}'"
    for inputs in ("hostile.fasta db.fasta", "q.fasta hostile.fasta"):
        done = run(words.format(inputs))
        assert done.status == 0
        assert not CONTROL.search(done.out + done.err)
        if form == "jsonl":
            found = json.loads(done.out)
            assert HOSTILE in (found["query"]["id"], found["hits"][0]["target"]["id"])
        elif form != "sam":  # its names never had any
            assert SHOWN in (unquote(done.out) if form == "gff3" else done.out)


def test_errors_of_the_library_have_no_control_characters() -> None:
    with pytest.raises(ValueError, match="letter '!'") as error:
        Aligner(engine="reference").search([Record(HOSTILE, "", "MK!V")], ["MKV"])
    assert str(error.value).startswith(SHOWN)


def test_names_that_sam_does_not_have(run: Callable[..., SimpleNamespace], files: Path) -> None:
    (files / "t.fasta").write_text(">*\nPAWHE\n>=\nPAWHE\n>*a=\nPAWHE\n")
    done = run("search q.fasta t.fasta --engine reference --format sam")
    names = [line.split("\t")[1:3] for line in done.out.splitlines()]
    assert [name for name, _ in names[1:4]] == ["SN:_*", "SN:_=", "SN:_*a="]
    assert {name for _, name in names[5:]} == {"_*", "_=", "_*a="}


def test_messages_have_no_control_characters(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (files / "bad.fasta").write_text(f">{HOSTILE}\nMK!V\n", encoding="utf-8")
    done = run("search bad.fasta db.fasta --engine reference")
    assert done.status == 2
    assert done.err.startswith(f"glsw: bad.fasta:2: {SHOWN}: letter '!'")
    assert not CONTROL.search(done.err)


@pytest.mark.parametrize("columns", ["", " qseqid", " stitle qseqid"])
def test_no_line_of_blast_tab_is_a_comment(
    columns: str, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (files / "t.fasta").write_text(">t # one\nPAWHE\n")
    done = run(f"search q.fasta t.fasta --engine reference --format 'blast-tab{columns}'")
    assert done.out.startswith("\\x23")
    assert "#" not in done.out.partition("\t")[0]


def test_json_on_a_stream_that_is_not_unicode() -> None:
    target = Record("é", "→ \ud800", "PAWHE")
    result = Aligner(engine="reference").search("HEAGAWGHEE", [target])
    for encoding in ("ascii", "latin-1", "utf-8"):
        data = io.BytesIO()
        stream = io.TextIOWrapper(data, encoding, "backslashreplace")
        write(result, stream, "jsonl")
        stream.flush()
        (hit,) = json.loads(data.getvalue())["hits"]
        assert (hit["target"]["id"], hit["target"]["description"]) == ("é", "→ \ud800")


@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_output_is_utf_8_whatever_the_locale(form: str, files: Path) -> None:
    (files / "é.fasta").write_text(">é → β\nPAWHE\n", encoding="utf-8")
    words = f"search é.fasta q.fasta --engine reference --format {form}"
    with process(words, files, env={"PYTHONIOENCODING": "latin-1"}) as started:
        out, err = started.communicate()
    assert started.returncode == 0, err
    assert "é" in out.decode("utf-8")
    if form == "jsonl":
        assert json.loads(out)["query"]["id"] == "é"


@pytest.mark.parametrize(
    ("words", "begun"),
    [
        ("align a b", {"every": False}),
        ("align a b --engine auto", {"every": False}),
        ("align a b --engine=lanes", {"every": False}),
        ("align a b --engine cpu", None),
        ("align --engine=reference a b", None),
        ("align a b --device 0", {"index": 0}),
        ("align a b --device=1 --device=2", {"index": 2}),
        ("align a b --device nvidia", None),
        ("align a b --device 0 --engine cpu", None),
        ("devices", {"every": True}),
        ("convert a b", None),
    ],
)
def test_devices_are_opened_early_if_they_will_be_used(
    words: str,
    begun: dict[str, object] | None,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[..., SimpleNamespace],
) -> None:
    opened: list[dict[str, object]] = []
    monkeypatch.setattr(egl, "prepare", lambda **how: opened.append(how))
    run(words)
    assert opened == [how for how in [begun] if how is not None]
