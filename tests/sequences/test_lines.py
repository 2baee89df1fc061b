"""The lines of letters that no alphabet has."""

import gzip
import pickle

import pytest

import glsw
from glsw.sequences.alphabet import UnknownLetterError
from glsw.sequences.lines import line_of

FASTA = b">a one\nMKV\n\n>b two\nMK\nV?K\n>\nM!\n"
FASTQ = b"@a\nACGT\n+\nIIII\n@b\nAC?T\n+\n@@@@\n"


@pytest.mark.parametrize(
    ("text", "name", "letter", "position", "line"),
    [
        (FASTA, "b", "?", 4, 6),
        (FASTA, "record 3", "!", 2, 8),
        (FASTA.replace(b"\n", b"\r\n"), "b", "?", 4, 6),
        (b"\n\n" + FASTA, "b", "?", 4, 8),
        (gzip.compress(FASTA, mtime=0), "b", "?", 4, 6),
        (FASTQ, "b", "?", 3, 6),
        (FASTA, "b", "?", 3, None),
        (FASTA, "c", "?", 4, None),
        (FASTA, "b", "?", 40, None),
        (gzip.compress(FASTA, mtime=0)[:20], "b", "?", 4, None),
        (b"\x89GLSW\r\n", "b", "?", 4, None),
        (b"", "b", "?", 4, None),
    ],
)
def test_lines(text, name, letter, position, line, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(text)
    assert line_of(path, name, letter, position) == line


@pytest.mark.parametrize(
    "verb",
    [
        lambda path: glsw.search(path, ["MKV"], engine="reference"),
        lambda path: glsw.search("MKV", path, engine="reference"),
        lambda path: glsw.score(["MKV", "MKV", "MKV"], [path], engine="reference"),
        lambda path: glsw.score_matrix(path, engine="reference"),
        lambda path: glsw.makedb(path, path.with_suffix(".glsw")),
        lambda path: glsw.makedb([str(path)], path.with_suffix(".glsw")),
    ],
)
def test_errors_name_file_and_line(verb, tmp_path):
    path = tmp_path / "file.fasta"
    path.write_bytes(FASTA)
    with pytest.raises(UnknownLetterError) as caught:
        verb(path)
    assert str(caught.value).startswith(f"{path}:6: b: letter '?' at position 4 is not in")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_sequences_in_memory_have_no_line():
    with pytest.raises(UnknownLetterError, match=r"^query: letter"):
        glsw.score("M?", ["MKV"], engine="reference")
