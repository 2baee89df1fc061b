"""What the program says of mistakes: words that are wrong, swapped, or missing."""

import math
import os
import re
import warnings

import pytest
from wing import of_wing

import glsw
from glsw.cli import main, with_all_options
from glsw.cli.messages import gcups
from glsw.cli.words import number
from glsw.words import suggesting

NO_CONSTANTS = glsw.Scoring.named("BENNER22", 1, 1)
FASTA = ">a\nMKVLA\n>b\nMK-VL\n"


def test_bare_command_prints_help(capsys):
    assert main([]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("usage: glsw ")
    assert "rank the sequences of a database" in " ".join(said.err.split())  # in any width


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
        f"align q.fasta {UNREADABLE}",
        f"neighbors {UNREADABLE} --cutoff 1",
        f"makedb {UNREADABLE} out.glsw",
        *of_wing("profiles", [f"search --profile {UNREADABLE} q.fasta"]),
        *of_wing("three", [f"align3 q.fasta q.fasta {UNREADABLE}"]),
        *of_wing("series", [f"motifs {UNREADABLE}"]),
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
    for given in (0, 2.5):
        with pytest.raises(ValueError, match=f"max_alignments {given}: at least 1, or None"):
            list(glsw.alignments("MKV", "MKV", max_alignments=given, engine="reference"))


def test_all_alignments_without_a_limit(tmp_path, capsys):
    (tmp_path / "a.fa").write_text(">a\nHEAGAWGHEE\n")
    words = ["search", *[str(tmp_path / "a.fa")] * 2, "--max-hsps", "0", "--evalue", "inf"]
    assert main([*words, "--engine", "reference"]) == 2
    assert capsys.readouterr().err.startswith("glsw: max_hsps 0: evalue or min_score expected, ")


def test_limits_differ_from_what_was_given(tmp_path, capsys):
    words = [*[str(tmp_path / "q.fasta")] * 2, "--gapopen"]
    for more in ([], ["--match", "2", "--mismatch", "-3", "--gapextend", "1"]):
        assert main(["align", *words, "1000000", *more]) == 2
        assert capsys.readouterr().err == (
            "glsw: gapopen 1000000 plus 1 for each position: "
            "the first position of a gap costs more than 1000000\n"
        )
    assert main(["align", *words, "0.5", "--gapextend", "0.00001"]) == 2
    said = "glsw: gap costs: 1e-05 has more than 4 decimals, round it\n"
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
    for verb in (glsw.search, *of_wing("profiles", [lambda *a, **k: glsw.iterate(*a, **k)])):
        with pytest.raises(TypeError, match=r"\(\) has no option 'evlaue', did you mean evalue\?"):
            verb("MKV", ["MKV"], evlaue=1, engine="reference")
    assert dir(glsw) == sorted(glsw.__all__)


def test_representations_fit_a_line():
    aligner = glsw.Aligner(engine="reference")
    assert repr(aligner) == "<Aligner BLOSUM62, gaps 12/1, local, engine reference on CPU>"
    with glsw.Aligner(mode="global", engine="reference") as whole:
        assert ", global, " in repr(whole)
    target = glsw.Record("t" * 300, "description " * 30, "MKVLA" * 100)
    (hit,) = aligner.search("MKVLAMKVLA", [target])
    for found in (hit, hit.hsps[0], hit.alignment):
        assert len(repr(found)) <= 100
        assert "\n" not in repr(found)
    assert repr(hit).startswith(f"<Hit 1: {'t' * 24}, score {hit.score}")
    result = aligner.search(glsw.Record("q", "", "MKVLA" * 500), [target])
    assert repr(result) == f"<SearchResult of q: 1 hit, the best with score {result[0].score}>"
    assert repr(aligner.scoring) == "<Scoring BLOSUM62, gaps 12/1, local>"
    assert len(repr(result.query)) < 100


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("serch q db", "did you mean search? (see glsw --help)"),
        ("--verion", "--verion, did you mean --version? (see glsw --help)"),
        ("search q db --evlaue 1", "--evlaue 1, did you mean --evalue? (see"),
        ("search q db -evalue 1", "-evalue 1, did you mean --evalue? (see"),
        (
            "search q db -outfmt 6",
            "-outfmt 6, did you mean --format? 6 is blast-tab, 7 blast-tab-c",
        ),
        ("search q db --num_threads 2", "--num_threads 2, did you mean --threads? (see"),
        ("search q db -max_target_seqs 5", "-max_target_seqs 5, did you mean --top? (see"),
        (
            "search -query q -db db",
            ": files are given without an option, in the order QUERY DB (see",
        ),
        ("makedb -in q", ": files are given without an option, in the order FILE OUT (see"),
        ("neighbors q -num_threads 2", "--cutoff; -num_threads, did you mean --threads? (see"),
        ("tblastn q db", ", did you mean search --translated-target? (see glsw --help)"),
        ("help", ", did you mean --help? (see glsw --help)"),
        ("makedb new.glsw q", "new.glsw does not exist, and q is not a database: the sequence"),
        ("neighbors q --cutof 1", "required: --cutoff; --cutof, did you mean --cutoff? (see"),
        ("align q db --read-grup x", "did you mean --read-group? (see"),
        ("verify --threds 3 db", "did you mean --threads? (see"),
        (
            "search q db --engine lames",
            "unknown engine 'lames', did you mean lanes? There are auto",
        ),
    ],
)
def test_suggestions_of_commands(words, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("q", "db"):
        (tmp_path / name).write_text(">a\nMKVLA\n")
    assert main(words.split()) == 2
    assert says in capsys.readouterr().err


def test_suggestions_of_the_library():
    sequences = ["MKV"]
    for call, says in (
        (lambda: glsw.score("MKV", "MKV", engin="cpu"), "Aligner() has no option 'engin', did you"),
        (lambda: glsw.neighbors(sequences, cutoff=1, mod="local"), "did you mean mode?"),
        (
            lambda: glsw.score("MKV", "MKV", matrix="PAM30"),
            "option 'matrix': it is part of scoring",
        ),
        (lambda: glsw.search("MKV", "MKV", gap_open=1), "option 'gap_open': it is part of scoring"),
        (lambda: glsw.Aligner(memory="2G"), "memory must be a whole number of bytes, not str"),
        (lambda: glsw.makedb("a", "b", forse=True), "did you mean force?"),
        (
            lambda: glsw.Aligner(engine="reference").search("MKV", sequences, evlaue=1),
            "Aligner.search() has no option 'evlaue', did you mean evalue?",
        ),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert says in str(caught.value)


def test_an_error_inside_is_left_as_it_is():
    @suggesting
    def outer(one=1):
        return inner(othr=one)

    def inner(other=1):
        return other

    with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'othr'"):
        outer(one=1)
    with pytest.raises(TypeError, match=r"outer\(\) has no option 'on', did you mean one\?$"):
        outer(on=1)


def test_swapped_arguments_of_the_library(tmp_path):
    (tmp_path / "q.fasta").write_text(">a\nMKVLA\n")
    glsw.makedb(tmp_path / "q.fasta", tmp_path / "db.glsw")
    database = glsw.Database.open(tmp_path / "db.glsw")
    for query in (tmp_path / "db.glsw", database):
        with pytest.raises(
            ValueError, match=r"db\.glsw is a database of makedb: the query comes f"
        ):
            glsw.search(query, "MKVLA", engine="reference")


def test_a_bad_letter_has_a_line_in_every_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.fq").write_text(f"@a\n{'ACGT' * 9}\n+\n{'I' * 36}\n@b\nACGTA!T\n+\nIIIIIII\n")
    (tmp_path / "one.fa").write_text(">a\nACGTACGTACGT\n>")
    for words in (
        "search one.fa bad.fq",
        "neighbors bad.fq --cutoff 1",
        "makedb bad.fq db.glsw --alphabet dna",
        *of_wing("dotplot", ["dotplot one.fa bad.fq --output a.png"]),
    ):
        assert main(words.split()) == 2
        said = capsys.readouterr().err.splitlines()
        assert said[-1].startswith("glsw: bad.fq:6: b: letter '!' at position 6 is not in"), words


# warnings


def test_warnings_point_at_the_line_of_the_caller(tmp_path):
    path = tmp_path / "u.fa"
    path.write_text(">u\nMKVLU\n")
    aligner = glsw.Aligner(engine="reference", lower_case_mask=True)
    several = glsw.search(
        ["MKVLA"] * 2, ["MKV"], scoring=NO_CONSTANTS, statistics="fit", engine="reference"
    )
    for call in (
        lambda: glsw.score("MKVU", "MKV", engine="reference"),
        lambda: glsw.align_pairs(["MKVU"], ["MKV"], engine="reference"),
        lambda: glsw.neighbors(["MKVU"], cutoff=1, engine="reference"),
        lambda: glsw.makedb(path, tmp_path / "u.glsw"),
        lambda: aligner.search("MKVU", ["MKV"]),
        lambda: list(aligner.search(["mkv", "MKV"], ["MKV"])),
        lambda: next(several),
        *of_wing("profiles", [lambda: glsw.iterate("MKVU", ["MKVLAWHEAG"], engine="reference")]),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RuntimeWarning)
            call()
        assert caught
        lines = {(each.filename, each.lineno) for each in caught}
        assert lines == {(__file__, call.__code__.co_firstlineno)}


def test_warnings_of_one_line_and_of_a_software_renderer_come_once(run_under):
    wings = {"three": "glsw.Aligner3()", "edit": 'glsw.edit_distance("MKVLAW", "MKVLAW")'}
    others = "\n".join(call for name, call in wings.items() if of_wing(name, [call]))
    code = f"""
import sys, glsw
sys.stderr = sys.stdout
for _ in range(3):
    glsw.score("MKVU", "MKV", engine="reference")
for verb in (glsw.score, glsw.align):
    verb("MKVLAW", "MKVLAW", engine="scan")
glsw.Aligner()
{others}
"""
    said = run_under("llvmpipe", code)
    assert said.count("letter U scored as C") == said.count("software renderer") == 1


@pytest.mark.parametrize("words", ["--help", "--version", "search --help", "makedb --help"])
def test_help_and_version_are_status_0(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(words.split())
    assert end.value.code == 0
    said = capsys.readouterr()
    assert said.out
    assert not said.err


def test_no_hit_is_status_0(tmp_path, capsys):
    (tmp_path / "q.fa").write_text(">q\nWWWWWWWWWW\n")
    (tmp_path / "t.fa").write_text(">t\nPPPPPPPPPP\n")
    words = ["search", *(str(tmp_path / name) for name in ("q.fa", "t.fa")), "--format", "tsv"]
    assert main([*words, "--engine", "reference"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def numeric_options(name):
    """Yield the flag and the range of each option of a command that is a number."""
    for action in with_all_options()[1][name]._actions:
        assert action.type not in (int, float, number)  # which say nothing of a range
        if within := getattr(action.type, "keywords", {}).get("within"):
            yield action.option_strings[-1], within


def test_a_number_out_of_range_is_told_at_once_in_one_line(subtests, capsys):
    seen = set()
    for name in with_all_options()[1]:
        for flag, within in numeric_options(name):
            seen.add(flag)
            wrong = ["nan", "x", *["0.5"] * within.whole, *["inf"] * (within.also != "inf")]
            if within.least > -math.inf:
                wrong += [str(within.least - 1), str(within.least)][: 1 + within.above]
            wrong += [str(within.most + 1)] * (within.most < math.inf)
            with subtests.test(f"{name} {flag}"):
                for value in set(wrong) - {within.also}:
                    assert main([name, flag, value]) == 2
                    (line,) = capsys.readouterr().err.splitlines()
                    said = f"{value}: {within} expected" if _is_finite(value) else "not a number"
                    assert line.startswith(f"glsw: argument {flag}: ")
                    assert said in line
    assert {"--min-identity", "--gapopen", "--threads", "--cutoff", "--max-alignments"} < seen


def _is_finite(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


@pytest.mark.parametrize("words", ["search a b", "align a a", "neighbors b --cutoff 1"])
def test_the_library_takes_each_number_in_range(words, tmp_path, capsys, monkeypatch, subtests):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text(">a\nHEAGAWGHEE\n")
    (tmp_path / "b").write_text(">b\nPAWHEAE\n>c\nGAWGHEPAW\n")
    name = words.split()[0]
    for flag, within in numeric_options(name):
        some = filter(within.has, {within.least, within.most, 0, 3, 10**12})
        option = flag.strip("-").replace("-", "[-_]")
        for value in map(str, some):
            with subtests.test(f"{flag} {value}"):
                main([*words.split(), "--engine", "reference", "--no-progress", flag, value])
                assert not re.search(f"{option} {value}: .* expected", capsys.readouterr().err)
