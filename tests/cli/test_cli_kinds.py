"""What was typed, what came: DNA and proteins on either side of every command."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from program import process
from subtests import with_subtests
from wing import of_wing

import glsw
from glsw.device.device import Device

PROTEIN = "MKVLAWHEAGAWGHEEPLQNRSTV"
DNA = "ACGTTGCATGCAAGCTTACGGATC"
LETTERS = {
    "protein": PROTEIN,
    "dna": DNA,
    "rna": DNA.lower().replace("t", "u"),
    "iupac": f"{DNA[:20]}RYKM",
    "short": "GATTACA",
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a file of each kind, and two databases."""
    for name, letters in LETTERS.items():
        (tmp_path / f"{name}.fa").write_text(f">{name}\n{letters}\n")
    glsw.makedb(tmp_path / "protein.fa", tmp_path / "protein.db", alphabet=glsw.PROTEIN)
    glsw.makedb(tmp_path / "dna.fa", tmp_path / "dna.db", alphabet=glsw.DNA)
    return tmp_path


COMMANDS = [
    "search {} {} --engine reference",
    "align {} {} --engine reference",
    "neighbors {} {} --cutoff 1 --engine reference",
    *of_wing("three", ["align3 {0} {0} {1} --engine reference"]),
    *of_wing("dotplot", ["dotplot {} {} --side 20 --output o.npz --max-alignments 0"]),
]
AS_DNA = "; DNA scoring, as the query is nucleic acid\n"
HAS_DNA = ".fa has DNA, but the query is scored as protein: give "
OFFER = "--translated-target to search DNA with proteins, or "
OWN = "--protein if it has proteins\n"
FEW = "short.fa has fewer than 10 letters, too few to tell DNA from protein: scored as protein\n"
LOOKS = "dna.fa looks like DNA, but is scored as protein\n"
TABLE = (
    ("dna", "dna", "", AS_DNA),
    ("rna", "dna", "", AS_DNA),
    ("iupac", "dna", "", AS_DNA),
    ("dna", "iupac", "", AS_DNA),
    ("short", "dna", "", AS_DNA),
    ("dna", "short", "", AS_DNA),
    ("short", "short", "", AS_DNA),
    ("dna", "dna", "--dna", ""),
    ("protein", "protein", "", ""),
    ("protein", "protein", "--protein", ""),
    ("short", "protein", "", FEW),
    ("protein", "short", "", FEW),
    ("protein", "dna", "--protein", LOOKS),
    ("dna", "dna", "--protein", LOOKS),
    ("dna", "dna", "--matrix BLOSUM50", LOOKS),
)
ERRORS = (
    ("protein", "dna", "", f"dna{HAS_DNA}"),
    ("protein", "rna", "", f"rna{HAS_DNA}"),
    ("protein", "iupac", "", f"iupac{HAS_DNA}"),
    ("protein", "dna", "--matrix BLOSUM50", f"dna{HAS_DNA}"),
    ("dna", "protein", "", "protein.fa has proteins, but the query is scored as DNA: give "),
    ("iupac", "protein", "", "protein.fa has proteins, but the query is scored as DNA: give "),
    ("dna", "protein", "--matrix BLOSUM50", "protein.fa has proteins, but the query has DNA: give"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words.split()[0])
@with_subtests("query, target, options, said", TABLE)
def test_what_is_scored(
    command: str,
    query: str,
    target: str,
    options: str,
    said: str,
    run: Callable[..., SimpleNamespace],
    device: Device,
) -> None:
    words = f"{command.format(f'{query}.fa', f'{target}.fa')} {options}"
    done = run(words)
    assert done.status == 0, done.err
    if said:
        assert done.err.endswith(said)
        assert done.err.count(said.strip()) == 1
    else:
        assert "DNA" not in done.err
    option = "" if options else " --dna" if said == AS_DNA else " --protein"
    if "dotplot" not in words:
        assert done.out == run(words + option).out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words.split()[0])
@with_subtests("query, target, options, message", ERRORS)
def test_what_is_refused(
    command: str,
    query: str,
    target: str,
    options: str,
    message: str,
    run: Callable[..., SimpleNamespace],
) -> None:
    done = run(f"{command.format(f'{query}.fa', f'{target}.fa')} {options}")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"glsw: {message}")
    searches = "; glsw search --translated searches proteins with DNA\n"
    of_targets = "; glsw search --translated-target searches DNA with proteins\n"
    assert ("; glsw search --translated" in done.err) == (not command.startswith("search"))
    kept = done.err.replace(searches, "\n").replace(of_targets, "\n")
    assert kept.endswith(("--protein if it is a protein\n", OWN))
    offers = command.startswith("search")
    assert (
        OFFER in done.err or "--translated to search proteins with DNA, or" in done.err
    ) == offers


@with_subtests(
    "words, said",
    [
        ("dna.fa protein.fa --translated", ""),
        ("dna.fa short.fa --translated", FEW),
        ("dna.fa dna.fa --translated", "dna.fa has DNA, but the query is scored as protein: --tr"),
        ("dna.fa iupac.fa --translated", "iupac.fa has DNA, but the query is scored as protein: "),
        ("protein.fa protein.db", ""),
        ("short.fa protein.db", FEW),
        ("dna.fa dna.db", AS_DNA),
        ("short.fa dna.db", AS_DNA),
        ("protein.fa dna.db", "dna.db has DNA, but the query is scored as protein: give --tran"),
        ("dna.fa protein.db", "protein.db has proteins, but the query is scored as DNA: give --tr"),
        (
            "dna.fa dna.db --translated-target",
            "dna.fa has DNA: give --translated too, to translate",
        ),
        ("protein.fa protein.db --translated-target", "protein.db has proteins: --translated-ta"),
        *of_wing(
            "profiles",
            [
                ("protein.fa dna.fa --iterations 2", f"dna{HAS_DNA}{OWN.strip()}; glsw sea"),
                ("dna.fa dna.fa --iterations 2 --strand plus", AS_DNA),
            ],
        ),
    ],
)
def test_searches(words: str, said: str, run: Callable[..., SimpleNamespace]) -> None:
    done = run(f"search {words} --engine reference")
    if said.startswith(";") or said in ("", FEW):
        assert (done.status, done.err.endswith(said), "DNA scoring" in done.err) == (
            0,
            True,
            said == AS_DNA,
        )
    else:
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert done.err.startswith(f"glsw: {said}")


def test_targets_of_standard_input_are_looked_at(files: Path) -> None:
    words = "search protein.fa - --engine reference"
    started = process(words, files, stdin=subprocess.PIPE)
    out, err = started.communicate((files / "dna.fa").read_bytes())
    assert (started.returncode, out) == (2, b"")
    assert err.decode() == f"glsw: -{HAS_DNA.removeprefix('.fa')}{OFFER}{OWN}"


@with_subtests(
    "name, alphabet",
    [("dna", "DNA"), ("rna", "DNA"), ("iupac", "DNA"), ("short", "DNA"), ("protein", "protein")],
)
def test_an_index_of_a_file_and_of_standard_input(name: str, alphabet: str, files: Path) -> None:
    for source, given in ((f"{name}.fa", b""), ("-", (files / f"{name}.fa").read_bytes())):
        started = process(f"makedb {source} out", files, stdin=subprocess.PIPE)
        _, err = started.communicate(given)
        assert started.returncode == 0, err
        assert f" {alphabet} alphabet, in ".encode() in err
        assert glsw.Database.open(files / "out")[0].letters == LETTERS[name].upper().replace(
            "U", "T"
        )


def test_an_index_is_of_one_kind(run: Callable[..., SimpleNamespace]) -> None:
    for order in ("dna.fa protein.fa", "protein.fa dna.fa"):
        done = run(f"makedb {order} out")
        assert (done.status, done.err) == (
            2,
            "glsw: dna.fa looks like nucleic acid, but protein.fa like protein: give the alphabet, "
            "or make two databases\n",
        )
    assert run("makedb protein.fa dna.fa out --alphabet protein").status == 0
    assert run("makedb protein.fa short.fa out").status == 0
