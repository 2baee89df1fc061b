"""What the program says of mistakes: words that are wrong, swapped, or missing."""

import os

import pytest

import glsw
from glsw.cli import main
from glsw.cli.messages import gcups

FASTA = ">a\nMKVLA\n>b\nMK-VL\n"


def test_bare_command_prints_help(capsys):
    assert main([]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("usage: glsw ")
    assert "rank the sequences of a database" in said.err


def test_swapped_arguments(tmp_path, capsys):
    query, database = tmp_path / "q.fasta", tmp_path / "db.glsw"
    query.write_text(">a\nMKVLA\n")
    glsw.makedb(query, database)
    assert main(["search", str(database), str(query)]) == 2
    says = f"{database} is a database of makedb: the query comes first, then the database\n"
    assert capsys.readouterr().err == f"glsw: {says}"
    assert main(["neighbors", str(database), "--cutoff", "1"]) == 2
    says = f"{database}: not FASTA or FASTQ, but a database of makedb\n"
    assert capsys.readouterr().err == f"glsw: {says}"


def test_a_bad_letter_has_a_line(tmp_path, capsys):
    query, target = tmp_path / "q.fasta", tmp_path / "t.fasta"
    query.write_text(">a\nMKVLA\n")
    target.write_text(FASTA)
    words = ["search", str(query), str(target), "--engine", "reference", "--protein"]
    assert main(words) == 2
    assert capsys.readouterr().err.startswith(f"glsw: {target}:4: b: letter '-' at position 3 is")


UNREADABLE = "/proc/self/mem"


@pytest.mark.skipif(not os.path.exists(UNREADABLE), reason="the system has no /proc")
@pytest.mark.parametrize(
    "words",
    [
        f"search q.fasta {UNREADABLE}",
        f"search {UNREADABLE} q.fasta",
        f"search --profile {UNREADABLE} q.fasta",
        f"align q.fasta {UNREADABLE}",
        f"align3 q.fasta q.fasta {UNREADABLE}",
        f"neighbors {UNREADABLE} --cutoff 1",
        f"makedb {UNREADABLE} out.glsw",
        f"motifs {UNREADABLE}",
    ],
)
def test_errors_of_reading_name_the_file(words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.fasta").write_text(">a\nMKVLA\n")
    engine = [] if words.startswith(("makedb", "motifs")) else ["--engine", "reference"]
    assert main([*words.split(), *engine]) == 2
    assert capsys.readouterr().err == f"glsw: {UNREADABLE}: Input/output error\n"


@pytest.mark.skipif(not os.path.exists(UNREADABLE), reason="the system has no /proc")
def test_folders_that_take_no_file_name_the_output(tmp_path, capsys):
    (tmp_path / "q.fasta").write_text(">a\nMKVLA\n")
    assert main(["makedb", str(tmp_path / "q.fasta"), "/proc/out.glsw"]) == 2
    assert capsys.readouterr().err.startswith("glsw: /proc/out.glsw: ")


@pytest.mark.parametrize("most", ["1e30", str(2**63)])
def test_more_alignments_than_there_can_be(most, tmp_path, capsys):
    query = tmp_path / "q.fasta"
    query.write_text(">a\nMKVLA\n")
    words = ["--max-alignments", most, "--engine", "reference"]
    assert main(["align", *[str(query)] * 2, *words]) == 0
    assert main(["align3", *[str(query)] * 3, *words]) == 0
    for given in (0, 2.5):
        with pytest.raises(ValueError, match=f"max_alignments {given}: at least 1, or None"):
            list(glsw.alignments("MKV", "MKV", max_alignments=given, engine="reference"))


def test_limits_differ_from_what_was_given(tmp_path, capsys):
    words = [*[str(tmp_path / "q.fasta")] * 2, "--gapopen"]
    for given in ("1000001", "1000000.5"):
        assert main(["align", *words, given]) == 2
        said = f"glsw: gapopen must be between 0 and 1000000, got {given}\n"
        assert capsys.readouterr().err == said


def test_small_numbers():
    assert [gcups(rate) for rate in (0, 5e5, 1.5e6, 7.4e10, 2.34567e12)] == [
        *["under 0.001 GCUPS"] * 2,
        *["0.0015 GCUPS", "74 GCUPS", "2,346 GCUPS"],
    ]


def test_mistyped_name_in_the_package():
    with pytest.raises(AttributeError) as caught:
        getattr(glsw, "serch")  # noqa: B009
    assert (caught.value.name, caught.value.obj) == ("serch", glsw)
    for verb in (glsw.search, glsw.iterate):
        with pytest.raises(TypeError, match=r"\(\) has no option 'evlaue', did you mean evalue\?"):
            verb("MKV", ["MKV"], evlaue=1, engine="reference")
    assert dir(glsw) == sorted(glsw.__all__)


def test_representations_fit_a_line():
    aligner = glsw.Aligner(engine="reference")
    assert repr(aligner) == "<Aligner BLOSUM62, gaps 12/1, local, engine reference on CPU>"
    with glsw.Aligner(mode="global", engine="reference") as whole:
        assert ", global, " in repr(whole)
    three = glsw.Aligner3(engine="reference")
    assert repr(three).startswith("<Aligner3 sum-of-pairs of BLOSUM62, gaps 12/1, local, engine re")
    target = glsw.Record("t" * 300, "description " * 30, "MKVLA" * 100)
    (hit,) = aligner.search("MKVLAMKVLA", [target])
    for found in (hit, hit.hsps[0], hit.alignment):
        assert len(repr(found)) <= 100
        assert "\n" not in repr(found)
    assert repr(hit).startswith(f"<Hit 1: {'t' * 24}, score {hit.score}")
