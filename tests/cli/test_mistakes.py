"""What the program says of mistakes: words that are wrong, swapped, or missing."""

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
