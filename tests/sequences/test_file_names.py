"""Names of files given as text, where sequences are expected."""

from pathlib import Path

import pytest
from wing import of_wing

import glsw
from glsw.sequences.alphabet import UnknownLetterError
from glsw.sequences.file_names import FileNameError

VERBS = {
    "search": lambda name: glsw.search(name, ["MKV"], engine="reference"),
    "search in": lambda name: glsw.search("MKV", name, engine="reference"),
    "search translated": lambda name: glsw.search(
        name, ["MKV"], genetic_code=1, engine="reference"
    ),
    "score": lambda name: glsw.score(name, ["MKV"], engine="reference"),
    "score in": lambda name: glsw.score("MKV", name, engine="reference"),
    "align": lambda name: glsw.align("MKV", name, engine="reference"),
    "alignments": lambda name: next(glsw.alignments("MKV", name, engine="reference")),
    "score_pairs": lambda name: glsw.score_pairs(name, ["MKV"], engine="reference"),
    "align_pairs": lambda name: glsw.align_pairs(["MKV"], name, engine="reference"),
    "score_matrix": lambda name: glsw.score_matrix(name, engine="reference"),
    "neighbors": lambda name: glsw.neighbors(name, cutoff=1, engine="reference"),
}
VERBS |= of_wing(
    "three", {"align3": lambda name: glsw.align3("MKV", "MKV", name, engine="reference")}
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("queries.fasta", "reads", "MKV", "reads_1"):
        Path(name).write_text(">a\nMKV\n")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", ["queries.fasta", "missing.fq.gz", "data/missing", "reads_1"])
def test_the_name_of_a_file_is_no_sequence(verb, name):
    with pytest.raises(FileNameError) as caught:
        VERBS[verb](name)
    said = f'{name!r} is not a sequence; Path("{name}") reads the file of that name'
    assert str(caught.value).endswith(said)


@pytest.mark.parametrize("verb", sorted(VERBS.keys() - {"search translated"}))
def test_letters_that_are_also_a_file_have_two_readings(verb):
    with pytest.raises(FileNameError, match=r'Path\("reads"\) reads the file, b\'reads\' is the'):
        VERBS[verb]("reads")


@pytest.mark.parametrize("unknown", [None, "X"])
def test_names_in_lists(unknown):
    options = {"engine": "reference", "unknown": unknown}
    for names in (["queries.fasta"], ["MKV", "other.faa"]):
        for verb in (glsw.score_matrix, lambda *a, **k: glsw.search("MKV", *a, **k)):
            with pytest.raises(FileNameError, match=rf'Path\("{names[-1]}"\)'):
                verb(names, **options)


def test_sequences_stay_sequences():
    assert glsw.score("MKV", "MKV", engine="reference") == 14  # a file of that name exists
    assert glsw.score(b"reads", ["MKV"], engine="reference") == 2
    assert glsw.score(["reads"], ["MKV"], engine="reference") == 2
    assert glsw.score("mkv", "writes", engine="reference") == glsw.score("MKV", "WRITES")
    with pytest.raises(UnknownLetterError):
        glsw.score("MK.V", "MKV", engine="reference")
    assert glsw.score("MK.V", "MKV", unknown="X", engine="reference") > 0
    assert glsw.score(Path("queries.fasta"), ["MKV"], engine="reference") == 14
