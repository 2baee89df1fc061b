"""The command ``glsw align3``: what it prints, and that bad input is one line and status 2."""

from __future__ import annotations

import gzip
import io
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import Bio.Align
import pytest
from Bio import AlignIO
from program import (
    SUMMARY,
    output_without_reader,
    process,
    refused,
    rows,
    standard_error_of_terminal,
    wait_until,
)

import glsw.wings.three.command
from glsw.cli import main
from glsw.device.device import Device
from glsw.engines.spec import EngineSpec
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA
from glsw.wings.three import formats as three
from glsw.wings.three.aligner import Aligner3, align3
from glsw.wings.three.engines import ENGINES3
from glsw.wings.three.engines.reference import Reference3
from glsw.wings.three.formats import FORMATS3
from glsw.wings.three.scoring import Scoring3

WORDS = {"a": "HEAGAWGHEE", "b": "PAWHEAE", "c": "GAWHEE"}
ALIGN = "align3 a.fasta b.fasta c.fasta --engine reference"
DNA_FILES = "align3 x.fasta y.fasta z.fasta --engine reference"
TEXT = """\
a a first
b b
c c and last
score 65, identities 4/7 (57.1%), gaps 1/7 (14.3%)

a  4 GAWGHEE 10
b  1 PAW-HEA 6
c  1 GAW-HEE 6
     .** **.

"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of small inputs, good and bad."""
    contents = {
        "a.fasta": f">a first\n{WORDS['a']}\n",
        "b.fasta": f">b\n{WORDS['b']}\n",
        "c.fasta": f">c and last\n{WORDS['c']}\n",
        "x.fasta": ">x\nTTACGTACGACCT\n",
        "y.fasta": ">y\nACGACGACC\n",
        "z.fasta": ">z\nGGACGTTACGACG\n",
        "two.fasta": ">one\nMKV\n>two\nMKV\n",
        "letter.fasta": ">bad one\nMKVL-AW\n",
        "empty.fasta": "",
        "nothing.fasta": ">nothing\n\n",
        "half.fastq": "@r\nACGT\n+\nII\n",
        "read.fastq": "@c\nGAWHEE\n+\nIIIIII\n",
        "name.fasta": f">{'long' * 12} with  a\ttab\n{WORDS['a'] * 9}\n",
    }
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "b.fasta.gz").write_bytes(gzip.compress(contents["b.fasta"].encode()))
    (tmp_path / "folder").mkdir()
    return tmp_path


# results


def test_text(run: Callable[..., SimpleNamespace]) -> None:
    done = run(ALIGN)
    assert (done.status, done.out) == (0, TEXT)
    summary = SUMMARY.fullmatch(done.err)
    assert summary
    assert int(summary[1]) == 10 * 7 * 6


@pytest.mark.parametrize("engine", ENGINES3)
def test_engines_print_the_same(
    engine: str, run: Callable[..., SimpleNamespace], device: Device
) -> None:
    where = f" --device {device.info.index}" if ENGINES3[engine].capabilities.requires else ""
    done = run(f"align3 a.fasta b.fasta c.fasta --engine {engine}{where}")
    assert (done.status, done.out) == (0, TEXT)
    assert "420 cells in " in done.err
    ran = "auto: subtable" if engine == "auto" else engine
    assert f"engine {ran} on " in done.err


@pytest.mark.parametrize("polling", ["auto", "on", "off"])
def test_polling_changes_no_alignment(
    polling: str,
    run: Callable[..., SimpleNamespace],
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []
    spec = EngineSpec.make

    def make(self: EngineSpec, **options: Any) -> Any:
        seen.append(self.polling)
        return spec(self, **options)

    monkeypatch.setattr(EngineSpec, "make", make)
    done = run(f"align3 a.fasta b.fasta c.fasta --device {device.info.index} --polling {polling}")
    assert (done.status, done.out) == (0, TEXT)
    assert seen == [{"auto": None, "on": True, "off": False}[polling]]


@pytest.mark.parametrize("count", [1, 3, 0])
def test_rows_are_what_the_library_finds(count: int, run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"{ALIGN} --format tsv --max-alignments {count}")
    aligner = Aligner3(engine="reference")
    expected = list(aligner.alignments(*WORDS.values(), max_alignments=count or None))
    found = rows(done.out)
    assert len(found) == len(expected) >= max(count, 1)
    for rank, (row, alignment) in enumerate(zip(found, expected, strict=True), start=1):
        assert tuple(row) == three.COLUMNS
        assert None not in row.values()
        assert (row["rank"], row["score"]) == (str(rank), str(alignment.score))
        columns = list(zip(*(row[f"{name}_row"] for name in WORDS), strict=True))
        identities = sum(len(set(column)) == 1 for column in columns)
        assert int(row["columns"]) == len(columns) == alignment.shape[1]
        assert int(row["identities"]) == identities
        assert float(row["identity"]) == pytest.approx(identities / len(columns), abs=5e-5)
        assert int(row["gaps"]) == sum("-" in column for column in columns)
        for k, (name, word) in enumerate(WORDS.items()):
            start, end = int(row[f"{name}_start"]), int(row[f"{name}_end"])
            assert (row[name], row[f"{name}_row"]) == (name, alignment[k])
            assert word[start:end] == alignment[k].replace("-", "")
            assert int(row[f"{name}_length"]) == len(word)
    summary = SUMMARY.fullmatch(done.err)
    assert summary
    assert int(summary[1]) == 420 * len(expected)


@pytest.mark.parametrize(
    ("options", "scores"),
    [
        ("", ["65"]),
        ("--max-alignments 3", ["65", "41", "34"]),
        ("--max-alignments 0 --min-score 34", ["65", "41", "34"]),
        ("--max-alignments 0 --min-score 40.5", ["65", "41"]),
        ("--min-score 65", ["65"]),
        ("--max-alignments 0 --min-score 66", []),
    ],
)
def test_alignments_are_limited(
    options: str, scores: list[str], run: Callable[..., SimpleNamespace]
) -> None:
    done = run(f"{ALIGN} --format tsv {options}")
    assert [row["score"] for row in rows(done.out)] == scores
    assert SUMMARY.fullmatch(done.err)


@pytest.mark.parametrize("form", FORMATS3)
@pytest.mark.parametrize("third", ["nothing.fasta", "c.fasta --min-score 99"])
def test_nothing_found(form: str, third: str, run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"align3 a.fasta b.fasta {third} --engine reference --gapextend 11 --format {form}")
    name = "nothing" if "nothing" in third else "c"
    expected = {"text": f"a, b, {name}: no alignment\n\n", "tsv": FORMATS3["tsv"].header}
    assert (done.status, done.out) == (0, expected.get(form, ""))
    named = f"glsw: {third}: 1 sequence without letters: nothing\n" if name == "nothing" else ""
    assert done.err.startswith(named)
    assert SUMMARY.fullmatch(done.err.removeprefix(named))


def test_several_texts_follow_one_another(run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"{ALIGN} --max-alignments 2")
    assert done.out.startswith(TEXT)
    second = "\n\na 1 HEA 3\nb 4 HEA 6\nc 4 HEE 6\n    **.\n\n"
    assert done.out.endswith(f"score 41, identities 2/3 (66.7%), gaps 0/3 (0.0%){second}")


@pytest.mark.parametrize("names", ["a.fasta b.fasta c.fasta", "name.fasta name.fasta b.fasta"])
def test_biopython_reads_clustal_and_fasta(names: str, run: Callable[..., SimpleNamespace]) -> None:
    words = f"align3 {names} --engine reference --max-alignments 2 --format"
    table = rows(run(f"{words} tsv").out)
    clustal, fasta = run(f"{words} clustal").out, run(f"{words} fasta").out
    assert len(table) == 2
    both = (
        list(AlignIO.parse(io.StringIO(clustal), "clustal")),
        list(AlignIO.parse(io.StringIO(fasta), "fasta", seq_count=3)),
    )
    for found in both:
        for alignment, row in zip(found, table, strict=True):
            for record, name in zip(alignment, "abc", strict=True):
                place = f"/{int(row[f'{name}_start']) + 1}-{row[f'{name}_end']}"
                assert str(record.seq) == row[f"{name}_row"]
                assert record.id.endswith(place)
                assert row[name].startswith(record.id.removesuffix(place))
    one = Bio.Align.read(io.StringIO(run(f"{words} clustal --max-alignments 1").out), "clustal")
    marks = one.column_annotations["clustal_consensus"]
    assert marks.count("*") == int(table[0]["identities"])
    if names.startswith("a"):
        assert marks == ".** **."
        assert ">c/1-6 and last\nGAW-HEE\n" in fasta


def test_long_rows_are_broken(run: Callable[..., SimpleNamespace]) -> None:
    done = run("align3 name.fasta name.fasta name.fasta --engine reference --format text")
    lines = done.out.splitlines()
    word = WORDS["a"] * 9
    assert lines[0] == f"a {'long' * 12} with  a\ttab"
    assert lines[5:10] == [
        *(f"{name}  1 {word[:60]} 60" for name in "abc"),
        f"{'':5}{'*' * 60}",
        "",
    ]
    assert lines[10:14] == [*(f"{name} 61 {word[60:]} 90" for name in "abc"), f"{'':5}{'*' * 30}"]


def test_codons_are_counted(run: Callable[..., SimpleNamespace], files: Path) -> None:
    for name, word in (("x", "ATGGCCAAATTTGGG"), ("y", "GCCAAATTT"), ("z", "GCCAAATTTGGG")):
        (files / f"{name}.fasta").write_text(f">{name}\n{word}\n")
    words = f"{DNA_FILES} --matrix SCHNEIDER --gapopen 20 --gapextend 3 --format"
    (row,) = rows(run(f"{words} tsv").out)
    assert [row[f"{name}_length"] for name in "abc"] == ["5", "3", "4"]
    assert (row["a_start"], row["a_end"], row["columns"], row["identities"]) == ("1", "4", "3", "3")
    done = run(f"{words} text")
    assert "identities 3/3 (100.0%), gaps 0/3 (0.0%)\n" in done.out
    assert "a 2 GCCAAATTT 4\nb 1 GCCAAATTT 3\nc 1 GCCAAATTT 3\n    *********\n" in done.out


def test_modes(run: Callable[..., SimpleNamespace], files: Path) -> None:
    done = run(f"{ALIGN} --mode global")
    expected = align3(*WORDS.values(), mode="global", engine="reference")
    assert done.out.splitlines()[3].startswith(f"score {expected.score}, identities ")
    assert [line.split()[2] for line in done.out.splitlines()[5:8]] == list(expected)
    # Nothing is similar: a local alignment has no score, a global one a score below 0.
    (files / "y.fasta").write_text(">y\nCCCC\n")
    (files / "z.fasta").write_text(">z\nGG\n")
    (row,) = rows(run(f"{DNA_FILES} --scheme identity --mode global --format tsv").out)
    assert (row["score"], row["columns"]) == ("-13", "13")
    assert run(f"{DNA_FILES} --mode global --max-alignments 2").status == 2
    (files / "y.fasta").write_text(">y\n\n")
    (files / "z.fasta").write_text(">z\n\n")
    assert run(f"{DNA_FILES} --mode semiglobal").out == "x, y, z: no alignment\n\n"


# scoring


def captured_scoring(words: str, monkeypatch: pytest.MonkeyPatch) -> Scoring3:
    kept: list[Scoring3] = []

    def aligner(scoring: Scoring3, **_: object) -> None:
        kept.append(scoring)
        raise ValueError("enough")

    monkeypatch.setattr(glsw.wings.three.command, "Aligner3", aligner)
    assert main(words.split()) == 2
    return kept[0]


@pytest.mark.parametrize(
    ("options", "scheme", "name", "gaps"),
    [
        ("", "sum-of-pairs", "DNA 2/-3", (7, 2)),
        ("--dna", "sum-of-pairs", "DNA 2/-3", (7, 2)),
        ("--protein", "sum-of-pairs", "BLOSUM62", (12, 1)),
        ("--matrix pam250 --gapopen 10 --gapextend 2", "sum-of-pairs", "PAM250", (12, 2)),
        ("--match 2 --mismatch -3", "sum-of-pairs", "match 2 mismatch -3", (7, 2)),
        ("--scheme sum-of-pairs --gapopen 0", "sum-of-pairs", "DNA 2/-3", (2, 2)),
        ("--scheme identity", "identity", "match 1 mismatch -1", (1, 1)),
        ("--scheme identity --match 5 --mismatch -4", "identity", "match 5 mismatch -4", (1, 1)),
        ("--scheme identity --gapopen 3", "identity", "match 1 mismatch -1", (4, 1)),
        ("--scheme identity --gapextend 2", "identity", "match 1 mismatch -1", (2, 2)),
    ],
)
@pytest.mark.usefixtures("run")
def test_scoring(
    options: str,
    scheme: str,
    name: str,
    gaps: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scoring = captured_scoring(f"align3 x.fasta y.fasta z.fasta {options}", monkeypatch)
    assert (scoring.scheme, scoring.pairs.name) == (scheme, name)
    assert (scoring.pairs.gap_open, scoring.pairs.gap_extend) == gaps
    assert (scoring.alphabet == DNA) == ("match" in name or "DNA" in name)


@pytest.mark.parametrize(
    ("options", "scoring"),
    [
        ("--scheme identity", Scoring3.identity()),
        (
            "--match 2 --mismatch -1 --gapopen 1 --gapextend 1",
            Scoring3.sum_of_pairs(Scoring.match_mismatch(2, -1, 2, 1)),
        ),
        ("--scheme identity --match 1.5 --mismatch -0.5", Scoring3.identity(1.5, -0.5, 1)),
    ],
)
def test_dna(
    options: str, scoring: Scoring3, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    (row,) = rows(run(f"{DNA_FILES} {options} --format tsv").out)
    paths = [files / f"{name}.fasta" for name in "xyz"]
    expected = Aligner3(scoring, engine="reference").align(*paths)
    assert row["score"] == str(expected.score)
    assert [row[f"{name}_row"] for name in "abc"] == [expected[k] for k in range(3)]
    assert expected.score > 5


# input and output


@pytest.mark.parametrize("k", range(3))
def test_standard_input_is_read(k: int, files: Path) -> None:
    names = ["a.fasta", "b.fasta", "c.fasta"]
    piped = (files / names[k]).read_bytes()
    names[k] = "-"
    words = f"align3 {' '.join(names)} --engine reference"
    with process(words, files, stdin=subprocess.PIPE) as started:
        out, err = started.communicate(piped)
    assert started.returncode == 0, err
    assert out.decode() == TEXT


def test_fastq_and_gzip_are_read(run: Callable[..., SimpleNamespace]) -> None:
    done = run("align3 a.fasta b.fasta.gz read.fastq --engine reference")
    assert (done.status, done.out) == (0, TEXT.replace("c c and last", "c c"))


def test_output_file_holds_what_would_be_printed(
    run: Callable[..., SimpleNamespace], files: Path
) -> None:
    done = run(f"{ALIGN} --output folder/höhe.txt")
    assert (done.status, done.out) == (0, "")
    assert (files / "folder" / "höhe.txt").read_text(encoding="utf-8") == TEXT


def test_alignments_are_written_before_the_next_is_computed(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.chdir(files)
    disjoint = Reference3.disjoint

    def text() -> str:
        return Path("out.part").read_text() if Path("out.part").exists() else ""

    def watched(self: Reference3, *arguments: Any, **options: Any) -> Any:
        for found in disjoint(self, *arguments, **options):
            if seen:
                wait_until(lambda: len(text()) > len(seen[-1]))  # a thread writes
            seen.append(text())
            yield found

    monkeypatch.setattr(Reference3, "disjoint", watched)
    assert main(f"{ALIGN} --output out --max-alignments 3".split()) == 0
    whole = Path("out").read_text()
    assert seen[:2] == ["", TEXT]
    assert len(seen) == 3
    assert whole.startswith(seen[2])
    assert len(whole) > len(seen[2]) > len(TEXT)


@pytest.mark.parametrize("silenced", [False, True])
def test_progress_bar_is_shown_on_a_terminal(silenced: bool, files: Path) -> None:
    words = ALIGN + " --no-progress" * silenced
    shown = standard_error_of_terminal(words, files)
    assert ("cell/s" in shown) is not silenced
    assert shown.splitlines()[-1].lstrip("\r ").startswith("glsw: 420 cells in ")


def test_interrupt_keeps_what_is_written(files: Path) -> None:
    (files / "long.fasta").write_text(f">long\n{WORDS['a'] * 15}\n")
    words = "align3 long.fasta long.fasta long.fasta --engine reference --max-alignments 0"
    with process(f"{words} --format tsv --output out", files) as started:
        written = files / "out.part"
        wait_until(lambda: written.exists() and "\n1\t" in written.read_text(), started)
        started.send_signal(signal.SIGINT)
        out, err = started.communicate()
    assert (started.returncode, out, err) == (
        130,
        b"",
        b"glsw: interrupted; out.part has the results so far\n",
    )
    found = rows(written.read_text())
    assert [row["rank"] for row in found] == [str(k + 1) for k in range(len(found))]
    assert written.read_text().endswith("\n")


@pytest.mark.parametrize("form", FORMATS3)
def test_a_reader_that_is_gone_is_no_error(form: str, files: Path) -> None:
    assert output_without_reader(f"{ALIGN} --format {form}", files) == (141, b"")


# bad input

BAD = {
    "missing file": ("align3 none.fasta b.fasta c.fasta", "none.fasta: No such file or directory"),
    "missing third file": ("align3 a.fasta b.fasta none", "none: No such file or directory"),
    "folder": ("align3 a.fasta folder c.fasta", "folder: Is a directory"),
    "empty file": ("align3 a.fasta b.fasta empty.fasta", "empty.fasta: empty file"),
    "malformed FASTQ": ("align3 a.fasta half.fastq c.fasta", "half.fastq: truncated or malformed"),
    "several sequences": (
        "align3 a.fasta two.fasta c.fasta",
        "two.fasta: one sequence expected, 2 found",
    ),
    "standard input twice": ("align3 - b.fasta -", "standard input ('-') can be read only once"),
    "standard input thrice": ("align3 - - -", "standard input ('-') can be read only once"),
    "only two files": ("align3 a.fasta b.fasta", "required: C (see glsw align3 --help)"),
    "four files": (f"{ALIGN} a.fasta", "unrecognized arguments: a.fasta"),
    "letter": (
        "align3 a.fasta b.fasta letter.fasta --engine reference",
        "bad: letter '-' at position 5 is not in the protein alphabet",
    ),
    "protein as DNA": (
        f"{ALIGN} --scheme identity",
        "a: letter 'E' at position 2 is not in the DNA alphabet",
    ),
    "unknown not in the alphabet": (f"{ALIGN} --unknown J", "unknown letter 'J' is not in"),
    "unknown scheme": (f"{ALIGN} --scheme pairs", "argument --scheme: invalid choice: 'pairs'"),
    "matrix and identity": (
        f"{ALIGN} --scheme identity --matrix PAM30",
        "--matrix PAM30 and --scheme identity cannot be combined",
    ),
    "match without mismatch": (f"{ALIGN} --match 2", "give both --match and --mismatch"),
    "mismatch without match": (
        f"{ALIGN} --scheme identity --mismatch -2",
        "give both --match and --mismatch, or neither",
    ),
    "match with matrix": (f"{ALIGN} --match 2 --mismatch -3 --matrix PAM30", "cannot be combined"),
    "unknown matrix": (f"{ALIGN} --matrix BLOSUM26", "did you mean BLOSUM62?"),
    "negative penalty": (f"{ALIGN} --gapopen -11", "--gapopen: -11: a number from 0 to 1000000"),
    "absurd penalty": (
        f"{ALIGN} --gapopen 1e12",
        "--gapopen: 1e12: a number from 0 to",
    ),
    "first residue of a gap": (
        f"{ALIGN} --scheme identity --gapopen 1e6",
        "gapopen 1000000 plus 1 for each position: the first position of a gap costs more than",
    ),
    "unknown engine": ("align3 a.fasta b.fasta c.fasta --engine best", "unknown engine 'best'; th"),
    "unknown device": ("align3 a.fasta b.fasta c.fasta --device voodoo", "no device 'voodoo'"),
    "several devices": ("align3 a.fasta b.fasta c.fasta --device 0,0", "no device '0,0'"),
    "device of an engine without": (f"{ALIGN} --device 0", "engine 'reference' runs on the CPU"),
    "memory of an engine without": (f"{ALIGN} --memory 1G", "'reference' has no memory limit"),
    "polling of an engine without": (
        f"{ALIGN} --polling off",
        "'reference' does not support polling",
    ),
    "other polling": (f"{ALIGN} --polling often", "invalid choice: 'often'"),
    "ties": (f"{ALIGN} --ties any", "unrecognized arguments: --ties any"),
    "unknown format": (f"{ALIGN} --format pairwise", "argument --format: invalid choice"),
    "half an alignment": (f"{ALIGN} --max-alignments 1.5", "argument --max-alignments: 1.5: a wh"),
    "score that is no number": (f"{ALIGN} --min-score nan", "'nan' is not a number"),
    "output folder missing": (f"{ALIGN} --output no/out", "--output no/out: there is no folder"),
    "output is an input": (f"{ALIGN} --output c.fasta", "--output c.fasta: it is an input"),
    "abbreviated option": (f"{ALIGN} --max 9", "unrecognized arguments: --max 9"),
}


@pytest.mark.parametrize(("words", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line_and_status_2(
    words: str, message: str, run: Callable[..., SimpleNamespace], files: Path
) -> None:
    refused(run, words if "--output" in words else f"{words} --output out", message, files)


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["align3", "--help"])
    out = " ".join(capsys.readouterr().out.split())
    for words in (
        "gap costs are per column",
        "for DNA or RNA; with --mismatch; with identity 1",
        "15 with BLOSUM80; 5 with --match, with identity 0)",
        "2 with --match, with identity 1)",
        f"{', '.join(ENGINES3)} (subtable)",
        "--polling {auto,on,off} on: compute all parts of a table at once",
        "exit status: 0 on success",
    ):
        assert words in out
    with pytest.raises(SystemExit, match="0"):
        main(["align", "--help"])
    assert "identity" not in capsys.readouterr().out


@pytest.mark.parametrize("form", FORMATS3)
def test_rare_letters_are_shown_as_written(form, tmp_path, capsys):
    paths = [tmp_path / f"{name}.fasta" for name in "abc"]
    words = ["align3", *map(str, paths), "--engine", "reference", "--format", form]
    for path in paths:
        path.write_text(f">{path.stem}\nMKWUWOWJWHE\n")
    assert main(words) == 0
    out, err = capsys.readouterr()
    said = "glsw: 3 letters U scored as C, 3 letters O as X, 3 letters J as X\n"
    assert (err.startswith(said), err.count("\n")) == (True, 2)
    assert form == "tsv" or out.count("MKWUWOWJWHE") == 3
    for path in paths:
        path.write_text(f">{path.stem}\nMKWCWXWXWHE\n")
    assert main(words) == 0
    assert capsys.readouterr().out == out.replace("MKWUWOWJWHE", "MKWCWXWXWHE")
    paths[1].write_text(">b\nMKWUWXWXWHE\n")
    assert main([*words[:-1], "clustal"]) == 0
    assert "***:*******\n" in capsys.readouterr().out


def test_dna_is_known_by_its_letters(run):
    note = "; DNA scoring, as the query is nucleic acid\n"
    done, asked = run(DNA_FILES), run(f"{DNA_FILES} --dna")
    assert (done.status, done.err.endswith(note), asked.err.endswith(note)) == (0, True, False)
    assert done.out == asked.out != run(f"{DNA_FILES} --protein").out
    done = run("align3 x.fasta y.fasta c.fasta --engine reference")
    assert (done.status, done.err) == (
        2,
        "glsw: c.fasta has proteins, but the query is scored as DNA: give --protein if it is a "
        "protein; glsw search --translated searches proteins with DNA\n",
    )


def test_identity_of_proteins(tmp_path, capsys):
    paths = []
    for name, letters in zip("abc", ("HEAGAWGHEE", "PAWHEAE", "GAWHEE"), strict=True):
        paths.append(tmp_path / f"{name}.fasta")
        paths[-1].write_text(f">{name}\n{letters}\n")
    files = [str(path) for path in paths]
    identity = ["--scheme", "identity", "--engine", "reference", "--format", "tsv"]
    assert main(["align3", *files, *identity]) == 2
    message = capsys.readouterr().err
    assert "is not in the DNA alphabet" in message
    assert "; --alphabet protein scores proteins; --unknown" in message
    assert main(["align3", *files, *identity, "--protein"]) == 2
    message = capsys.readouterr().err
    assert "--protein is for --scheme sum-of-pairs, --alphabet protein for identity" in message
    assert main(["align3", *files, *identity, "--alphabet", "protein"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("1\t3\t")
    assert main(["align3", *files, "--alphabet", "protein"]) == 2
    assert "--alphabet is for --scheme identity" in capsys.readouterr().err
